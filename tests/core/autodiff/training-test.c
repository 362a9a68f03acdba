/* SPDX-License-Identifier: Apache-2.0 */
/* Sample programs, their inputs and runs of a step. */
#include "tests/core/autodiff/training-test.h"
#include "core/base/random.h"
#include "core/eval/eval.h"
#include <math.h>
#include <string.h>

GantryModule *
training_from_text (const char *text)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  GantryModule *module = gantry_module_from_text (context, text, -1, "test.gir", &error);

  g_assert_no_error (error);
  gantry_verify (module, NULL, &error);
  g_assert_no_error (error);
  return module;
}

GantryModule *
training_program (const char *name, gboolean f64)
{
  const char *root = g_getenv ("GANTRY_SOURCE_ROOT");
  g_autofree char *file = g_strconcat (name, ".gir", NULL);
  g_autofree char *path = g_build_filename (root != NULL ? root : ".", "data", "programs", file, NULL);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  for (char *p = text; f64 && (p = strstr (p, "f32[")) != NULL; p++)
    memcpy (p, "f64", 3);
  return training_from_text (text);
}

GantryModule *
training_step (GantryModule *module, const GantryTrainingOptions *options)
{
  g_autoptr (GError) error = NULL;
  GantryModule *step = gantry_training_step (module, options, NULL, &error);

  g_assert_no_error (error);
  gantry_verify (step, module, &error);
  g_assert_no_error (error);
  return step;
}

void
training_values_free (TrainingValues *values)
{
  if (values == NULL)
    return;
  for (guint i = 0; i < values->n; i++)
    g_clear_pointer (&values->values[i], gantry_literal_unref);
  g_free (values->values);
  g_free (values);
}

static TrainingValues *
values_new (guint n)
{
  TrainingValues *values = g_new0 (TrainingValues, 1);

  values->n = n;
  values->values = g_new0 (GantryLiteral *, n + 1);
  return values;
}

static GantryLiteral *
argument_for (const GantryModule *module, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (module, node);
  gboolean weight = gantry_parameter_role (module, node) == GANTRY_SUBJECT_PARAMETER;
  gint64 n = gantry_type_elements (type);
  double bound = type->rank > 1 ? sqrt (6.0 / ((double) n / (double) type->dims[0])) : 0;
  guint64 start = gantry_random_start (gantry_context_string (module->context, node->name), 0);
  gsize size = gantry_element_size ((GantryElementType) type->element);
  guint8 *data;
  GantryLiteral *literal = gantry_literal_new_zeroed (type, &data);

  for (gint64 i = 0; i < n; i++)
    {
      double u = gantry_random_at (start, (guint64) i);
      double value = !gantry_element_is_float ((GantryElementType) type->element) ? floor (5 * u)
                     : !weight                                                    ? 2 * u - 1
                     : type->rank > 1                                             ? (2 * u - 1) * bound
                                                                                  : 0.25 + u / 2;

      /* as weights of a model are: never more exact than f32 */
      gantry_element_write_double ((GantryElementType) type->element, data + (gsize) i * size, (float) value);
    }
  return literal;
}

TrainingValues *
training_arguments (const GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);
  TrainingValues *values = values_new (entry->n_params);

  for (guint i = 0; i < entry->n_params; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];
      const GantryAttr *initial = gantry_attrs_find (module->context, node->attrs, "initial");

      values->values[i] = gantry_parameter_role (module, node) == GANTRY_SUBJECT_STATE
                            ? gantry_literal_ref (gantry_context_literal (module->context, initial->id))
                            : argument_for (module, node);
    }
  return values;
}

TrainingValues *
training_run (const GantryModule *module, const TrainingValues *arguments)
{
  const GantryFunction *entry = gantry_module_entry (module);
  TrainingValues *results = values_new (entry->n_results);
  g_autoptr (GError) error = NULL;

  g_assert_cmpuint (arguments->n, ==, entry->n_params);
  gantry_evaluate (module, entry, arguments->values, results->values, NULL, &error);
  g_assert_no_error (error);
  return results;
}

void
training_feed_back (const GantryModule *step, TrainingValues *arguments, const TrainingValues *results)
{
  const GantryFunction *entry = gantry_module_entry (step);

  for (guint i = 0; i < entry->n_params; i++)
    {
      gint alias = gantry_parameter_alias (step, &step->nodes[entry->first_node + i]);

      if (alias < 0)
        continue;
      gantry_literal_unref (arguments->values[i]);
      arguments->values[i] = gantry_literal_ref (results->values[alias]);
    }
}

guint
training_find (const GantryModule *module, const char *name)
{
  const GantryFunction *entry = gantry_module_entry (module);

  for (guint i = 0; i < entry->n_params; i++)
    if (g_str_equal (gantry_context_string (module->context, module->nodes[entry->first_node + i].name), name))
      return i;
  g_error ("there is no parameter '%s'", name);
}

GantryLiteral *
training_changed (const GantryLiteral *literal, gint64 i, double value)
{
  guint8 *data;
  GantryLiteral *copy = gantry_literal_new_zeroed (literal->type, &data);
  GantryElementType element = (GantryElementType) literal->type->element;

  gantry_literal_copy_to (literal, data);
  gantry_element_write_double (element, data + (gsize) i * gantry_element_size (element), value);
  return copy;
}

double
training_distance (const GantryLiteral *found, const double *expected, gint64 n)
{
  double difference = 0, size = 0;

  for (gint64 j = 0; j < n; j++)
    {
      difference += pow (gantry_literal_get_double (found, j) - expected[j], 2);
      size += pow (expected[j], 2);
    }
  return sqrt (difference) / MAX (sqrt (size), 1e-300);
}
