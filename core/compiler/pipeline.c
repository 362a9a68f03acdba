/* SPDX-License-Identifier: Apache-2.0 */
/* The list of passes as the driver walks it: which of them a program and its settings ask for, and what each needs. */
#include "core/compiler/pipeline-private.h"
#include "core/autodiff/autodiff.h"
#include "core/graph/operation.h"
#include "core/passes/passes.h"
#include "core/passes/properties.h"
#include <string.h>

/* When a pass is part of a compilation. */
typedef enum
{
  ALWAYS,
  TRAINING, /* a training step is made of a program that is none */
  CONTROL,  /* there are calls, branches or loops */
  PRODUCTS, /* products are generated */
} When;

static GantryModule *
parameterize (GantryModule *module, const GantryCompileSettings *settings, const GantryProgress *progress, GError **error)
{
  return gantry_parameterize (module, settings->training.with_respect_to, progress, error);
}

static GantryModule *
train (GantryModule *module, const GantryCompileSettings *settings, const GantryProgress *progress, GError **error)
{
  return gantry_training_step (module, &settings->training, progress, error);
}

typedef GantryModule *(*Run) (GantryModule *module, const GantryCompileSettings *settings, const GantryProgress *progress, GError **error);

/* The contracts of what is no GantryPass: a step is made of core operations, parameters of what the front end wrote. */
static const GantryPass parameterize_contract = { .name = "parameterize" };
static const GantryPass train_contract = { .name = "train", .needs = GANTRY_PROPERTY_CORE, .keeps = GANTRY_PROPERTY_CORE };

#define PASS(pass, name, when) { { name }, &gantry_pass_##pass, NULL, when },
#define STEP(step, name, when, title, description) { { name, title, description, TRUE, TRUE }, NULL, step, when },
static const struct
{
  GantryPassInfo info; /* title and description from @pass where there is one */
  const GantryPass *pass;
  Run run;
  When when;
} pipeline[] = { GANTRY_PASS_LIST (PASS, STEP) };
#define N_PASSES G_N_ELEMENTS (pipeline)

const GantryPassInfo *
gantry_compiler_passes (guint *n)
{
  static GantryPassInfo list[N_PASSES];
  static gsize ready = 0;

  if (g_once_init_enter (&ready))
    {
      for (guint i = 0; i < N_PASSES; i++)
        {
          const GantryPass *pass = pipeline[i].pass;

          list[i] = pipeline[i].info;
          list[i].training = pipeline[i].when == TRAINING;
          if (pass != NULL)
            list[i] = (GantryPassInfo){ list[i].name, pass->title, pass->description, pass->required, list[i].training };
        }
      g_once_init_leave (&ready, 1);
    }
  *n = N_PASSES;
  return list;
}

const GantryPassInfo *
_gantry_pipeline_info (guint index)
{
  guint n;

  return &gantry_compiler_passes (&n)[index];
}

/* Calls and loops name functions, and before fusion nothing else does. */
static gboolean
has_control (const GantryModule *module)
{
  for (guint32 i = 0; module->n_functions > 1 && i < module->n_nodes; i++)
    switch (module->nodes[i].op)
      {
      case GANTRY_OP_CALL:
      case GANTRY_OP_IF:
      case GANTRY_OP_WHILE:
      case GANTRY_OP_SCAN: return TRUE;
      default: break;
      }
  return FALSE;
}

gboolean
_gantry_pipeline_applies (guint index, const GantryModule *module, const GantryCompileSettings *settings)
{
  switch (pipeline[index].when)
    {
    case ALWAYS: return TRUE;
    case TRAINING: return settings->train;
    case CONTROL: return has_control (module);
    case PRODUCTS: return settings->fuse_products;
    }
  return TRUE;
}

static const GantryPass *
contract_of (guint index)
{
  if (pipeline[index].pass != NULL)
    return pipeline[index].pass;
  return pipeline[index].run == train ? &train_contract : &parameterize_contract;
}

GantryProperties
_gantry_pipeline_needs (guint index)
{
  return contract_of (index)->needs;
}

GantryProperties
_gantry_pipeline_after (guint index, GantryProperties held, gboolean changed)
{
  return gantry_properties_after (held, contract_of (index), changed);
}

gboolean
_gantry_pipeline_takes_memory (const char *name)
{
  for (guint i = 0; i < N_PASSES; i++)
    if (strcmp (pipeline[i].info.name, name) == 0)
      return pipeline[i].pass != NULL && pipeline[i].pass->takes_memory;
  return FALSE;
}

gboolean
_gantry_pipeline_is_wish (guint index)
{
  return pipeline[index].run != NULL;
}

static gboolean
precedes_training (guint index)
{
  while (index < N_PASSES && pipeline[index].run != train)
    index++;
  return index < N_PASSES;
}

GantryModule *
_gantry_pipeline_run (guint index, GantryModule *module, const GantryCompileSettings *settings, const GantryProgress *progress, GError **error)
{
  GantryPassOptions options = GANTRY_PASS_OPTIONS_INIT;

  options.finite_math = settings->finite_math;
  options.fuse_rows = settings->fuse_rows;
  options.fuse_products = settings->fuse_products;
  options.max_nodes = settings->max_nodes;
  options.gradients_follow = settings->train && precedes_training (index);
  options.fold_flops = settings->fold_flops;
  options.most_unrolled = settings->most_unrolled;
  if (pipeline[index].run != NULL)
    return pipeline[index].run (module, settings, progress, error);
  return pipeline[index].pass->run (module, &options, progress, error);
}
