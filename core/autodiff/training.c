/* SPDX-License-Identifier: Apache-2.0 */
/* From a program whose parameters are marked to its training step: which parameters are trained, then loss,
 * differentiation and update in turn. */
#include "core/autodiff/training-private.h"

static void
trained_clear (gpointer data)
{
  g_free (((GantryTrained *) data)->name);
}

/* TRUE when a glob of the options names the parameter; each that does is noted in @used. */
static gboolean
is_wanted (const GantryTrainingOptions *options, const char *name, gboolean *used)
{
  gboolean wanted = options->with_respect_to == NULL;

  for (guint i = 0; options->with_respect_to != NULL && options->with_respect_to[i] != NULL; i++)
    if (g_pattern_match_simple (options->with_respect_to[i], name))
      used[i] = wanted = TRUE;
  return wanted;
}

static gboolean
fail_unused (const GantryTrainingOptions *options, const gboolean *used, GError **error)
{
  for (guint i = 0; options->with_respect_to != NULL && options->with_respect_to[i] != NULL; i++)
    if (!used[i])
      {
        g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "'%s' is the name of no parameter of floating point", options->with_respect_to[i]);
        return FALSE;
      }
  return TRUE;
}

static gboolean
add_trained (GantryTraining *training, guint index, const GantryNode *node, GError **error)
{
  const GantryType *type = gantry_node_type (training->module, node);
  GantryTrained trained = { .index = index, .node = node->id };

  if (!gantry_type_is_static (type))
    {
      g_autofree char *label = gantry_node_label (training->module, node);

      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "parameter '%s' has no static shape; bind its dimensions to train it", label);
      return FALSE;
    }
  trained.name = gantry_node_label (training->module, node);
  trained.element = gantry_training_element ((GantryElementType) type->element);
  g_array_append_val (training->trained, trained);
  return TRUE;
}

static gboolean
find_trained (GantryTraining *training, GError **error)
{
  const GantryModule *module = training->module;
  const GantryFunction *entry = gantry_module_entry (module);
  const GantryTrainingOptions *options = training->options;
  guint n_globs = options->with_respect_to != NULL ? g_strv_length (options->with_respect_to) : 0;
  g_autofree gboolean *used = g_new0 (gboolean, n_globs + 1);

  for (guint32 i = 0; i < entry->n_params; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];
      const GantryType *type = gantry_node_type (module, node);
      g_autofree char *label = gantry_node_label (module, node);

      if (gantry_parameter_role (module, node) != GANTRY_SUBJECT_PARAMETER || type->kind != GANTRY_TYPE_TENSOR || !gantry_element_is_float (type->element)
          || !gantry_element_is_compiled (type->element) || !is_wanted (options, label, used))
        continue;
      if (!add_trained (training, i, node, error))
        return FALSE;
    }
  if (!fail_unused (options, used, error))
    return FALSE;
  if (training->trained->len > 0)
    return TRUE;
  g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                       "the program has no parameter to train: its entry has no input of floating point with role "
                       "\"parameter\", and no weights that could become one; what Constant nodes make is trained where it is named");
  return FALSE;
}

static gboolean
check_options (const GantryTraining *training, GError **error)
{
  const GantryTrainingOptions *options = training->options;
  const struct
  {
    const char *name;
    double value;
    double below;
  } rates[] = {
    { "learning rate", options->learning_rate, G_MAXDOUBLE },
    { "momentum", options->momentum, G_MAXDOUBLE },
    { "beta1", options->beta1, 1 },
    { "beta2", options->beta2, 1 },
    { "epsilon", options->epsilon, G_MAXDOUBLE },
    { "weight decay", options->weight_decay, G_MAXDOUBLE },
    { "norm to clip at", options->clip_norm, G_MAXDOUBLE },
    { "L2 factor", options->l2, G_MAXDOUBLE },
  };

  if (gantry_module_is_training (training->module))
    {
      g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the program is a training step already; begin from its forward program");
      return FALSE;
    }
  if (options->microbatches > GANTRY_TRAINING_MOST_MICROBATCHES)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "a step takes at most %u microbatches, not %u", GANTRY_TRAINING_MOST_MICROBATCHES,
                   options->microbatches);
      return FALSE;
    }
  for (guint i = 0; i < G_N_ELEMENTS (rates); i++)
    if (!(rates[i].value >= 0 && rates[i].value < rates[i].below))
      {
        g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the %s is %g, but has to be 0 or more%s", rates[i].name, rates[i].value,
                     rates[i].below == 1 ? " and below 1" : "");
        return FALSE;
      }
  return TRUE;
}

static GantryModule *
differentiate (GantryTraining *training, const GantryProgress *progress, GError **error)
{
  guint n = training->trained->len;
  g_autofree guint *indices = g_new (guint, n);
  guint output = 0;
  GantryGradientOptions options = { .outputs = &output, .n_outputs = 1, .with_respect_to = indices, .n_with_respect_to = n, .keep_results = TRUE };
  GantryModule *differentiated;

  for (guint i = 0; i < n; i++)
    indices[i] = gantry_training_at (training, i)->index;
  differentiated = gantry_differentiate (training->with_loss, &options, progress, error);
  g_assert (differentiated == NULL || gantry_module_entry (differentiated)->n_results == 1 + n);
  return differentiated;
}

GantryModule *
gantry_training_step (GantryModule *module, const GantryTrainingOptions *options, const GantryProgress *progress, GError **error)
{
  GantryTraining training = { .module = module, .options = options };
  g_autoptr (GantryModule) differentiated = NULL;
  GantryModule *step = NULL;

  g_return_val_if_fail (module != NULL && module->n_functions > 0 && options != NULL, NULL);
  training.trained = g_array_new (FALSE, FALSE, sizeof (GantryTrained));
  g_array_set_clear_func (training.trained, trained_clear);
  if (check_options (&training, error) && find_trained (&training, error))
    training.with_loss = _gantry_training_add_loss (&training, progress, error);
  if (training.with_loss != NULL)
    differentiated = differentiate (&training, progress, error);
  if (differentiated != NULL && options->microbatches > 1)
    {
      GantryModule *accumulated = _gantry_training_accumulate (&training, differentiated, progress, error);

      gantry_module_unref (differentiated);
      differentiated = accumulated;
    }
  if (differentiated != NULL)
    step = _gantry_training_add_update (&training, differentiated, progress, error);
  g_clear_pointer (&training.with_loss, gantry_module_unref);
  g_array_unref (training.trained);
  return step;
}
