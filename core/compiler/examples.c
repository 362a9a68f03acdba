/* SPDX-License-Identifier: Apache-2.0 */
/* Whether examples of a batch depend on each other: the model is read for two sizes of the batch. */
#include "core/autodiff/autodiff.h"
#include "core/compiler/compiler.h"
#include "core/passes/passes.h"

/* The program for batches of that size, in core operations, as it is before it is differentiated. (transfer full) (nullable) */
static GantryModule *
core_of (const char *path, const GantryBindings *bindings, gint64 random_weights, const char *dim, gint64 batch, const GantryTrainingOptions *training,
         const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryBindings) sized = gantry_bindings_copy (bindings);
  g_autoptr (GantryModel) model = NULL;
  g_autoptr (GantryModule) weights = NULL;

  gantry_bindings_set_dim (sized, dim, batch);
  model = gantry_model_open (path, sized, random_weights, progress, error);
  weights = model != NULL ? gantry_parameterize (model->module, training->with_respect_to, progress, error) : NULL;
  return weights != NULL ? gantry_pass_legalize.run (weights, NULL, progress, error) : NULL;
}

gboolean
gantry_compiler_check_examples (const char *path, const GantryBindings *bindings, gint64 random_weights, const char *dim, gint64 batch,
                                const GantryTrainingOptions *training, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryModule) module = core_of (path, bindings, random_weights, dim, batch, training, progress, error);
  g_autoptr (GantryModule) twice = module != NULL ? core_of (path, bindings, random_weights, dim, 2 * batch, training, progress, error) : NULL;

  if (twice != NULL)
    return gantry_training_check_examples (module, twice, training, error);
  gantry_error_prefix (error, "whether its examples depend on each other is not known: ");
  return FALSE;
}
