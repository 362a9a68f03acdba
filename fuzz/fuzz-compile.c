/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of everything behind the readers: whatever program they let through, lowering, passes, gradients, planning and
 * placements end in a plan or in an error that says something. The first byte says what is done with it; if "module" follows it is
 * the text form, else an ONNX model. Limits are small, so that a run takes milliseconds. */

#include "core/compiler/compiler.h"
#include "core/frontends/onnx/onnx.h"
#include "core/graph/graph.h"
#include "core/plan/plan.h"
#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

#define MOST_NODES 400

static GantryModel *
read_model (const guint8 *data, gsize size)
{
  const GantryOnnxOptions options = { .max_nodes = MOST_NODES };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GBytes) bytes = g_bytes_new_static (data, size);
  g_autoptr (GantryOnnxInfo) info = NULL;
  g_autoptr (GantryModule) module = NULL;

  if (size > 6 && memcmp (data, "module", 6) == 0)
    {
      gantry_model_add_dialects (context);
      module = gantry_module_from_text (context, (const char *) data, (gssize) size, "fuzz.gir", NULL);
    }
  else
    module = gantry_onnx_import_bytes (context, bytes, "fuzz.onnx", &options, &info, NULL, NULL);
  if (module == NULL || module->n_nodes > MOST_NODES || !gantry_verify (module, NULL, NULL))
    return NULL;
  return gantry_model_new (module, "fuzz");
}

static void
choose (GantryCompileSettings *settings, guint8 how)
{
  static const char *const policies[] = { NULL, "policy nothing_saveable", "policy dots_saveable\nrole:state offload",
                                          "role:parameter offload\nrole:input offload" };

  gantry_compile_settings_init (settings);
  settings->max_nodes = 4 * MOST_NODES;
  settings->fold_flops = 20000;
  settings->train = (how & 1) != 0;
  settings->training.optimizer = (how & 2) != 0 ? GANTRY_OPTIMIZER_ADAM : GANTRY_OPTIMIZER_SGD;
  settings->training.loss = (how & 4) != 0 ? GANTRY_LOSS_OUTPUT : GANTRY_LOSS_MEAN_SQUARED_ERROR;
  settings->fuse_rows = (how & 8) != 0;
  settings->finite_math = (how & 16) != 0;
  settings->policy = g_strdup (policies[(how >> 5) & 3]);
  settings->order = (how & 128) != 0 ? GANTRY_ORDER_PROGRAM : GANTRY_ORDER_BEST;
}

static void
check_plan (const GantryCompilation *compilation)
{
  const GantryPlan *plan = compilation->plan;
  const GantryModule *module = gantry_compilation_module (compilation);

  for (guint32 i = 0; i < plan->n_buffers; i++)
    {
      const GantryPlanBuffer *buffer = &plan->buffers[i];

      g_assert (buffer->begin <= buffer->end && (plan->n_steps == 0 || buffer->end < plan->n_steps));
      g_assert (buffer->shares == GANTRY_NO_BUFFER || buffer->shares < plan->n_buffers);
      if (buffer->region == GANTRY_REGION_ARENA)
        g_assert (buffer->offset + buffer->size >= buffer->offset && buffer->offset + buffer->size <= plan->arena_bytes[buffer->memory]);
    }
  for (guint32 i = 0; i < plan->n_steps; i++)
    g_assert (plan->steps[i].node == 0 || gantry_module_node (module, plan->steps[i].node) != NULL);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GantryModel) model = size > 1 ? read_model (data + 1, size - 1) : NULL;
  g_autoptr (GantryCompilation) compilation = NULL;
  g_auto (GantryCompileSettings) settings = { 0 };
  g_autoptr (GError) error = NULL;

  if (model == NULL)
    return 0;
  choose (&settings, data[0]);
  compilation = gantry_compile (model, &settings, NULL, &error);
  g_assert ((compilation == NULL) == (error != NULL));
  if (compilation == NULL)
    {
      if (strstr (error->message, "please report this") != NULL)
        g_error ("a pass broke the program: %s", error->message);
      return 0;
    }
  if (compilation->refusal != NULL || compilation->plan == NULL)
    g_assert ((compilation->refusal != NULL ? compilation->refusal : compilation->plan_error)->message[0] != '\0');
  else
    check_plan (compilation);
  return 0;
}
