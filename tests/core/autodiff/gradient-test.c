/* SPDX-License-Identifier: Apache-2.0 */
/* The comparison of gradients with finite differences that the tests share. */
#include "tests/core/autodiff/gradient-test.h"
#include "core/eval/eval.h"
#include "core/graph/verifier.h"
#include <math.h>

GantryModule *
gradient_parse (GantryContext *context, const char *text)
{
  g_autoptr (GError) error = NULL;
  GantryModule *module = gantry_module_from_text (context, text, -1, "gradient", &error);

  if (error != NULL)
    g_test_message ("%s", text);
  g_assert_no_error (error);
  gantry_verify (module, NULL, &error);
  g_assert_no_error (error);
  return module;
}

GantryLiteral *
gradient_random (const GradientCheck *check, const GantryType *type)
{
  guint8 *data;
  GantryLiteral *literal = gantry_literal_new_zeroed (type, &data);
  gsize size = gantry_element_size (type->element);
  gint64 n = gantry_type_elements (type);

  for (gint64 i = 0; i < n; i++)
    if (gantry_element_is_float (type->element))
      gantry_element_write_double (type->element, data + (gsize) i * size, g_rand_double_range (check->random, check->low, check->high));
    else
      gantry_element_write_int (type->element, data + (gsize) i * size, g_rand_int_range (check->random, 0, type->element == GANTRY_BOOL ? 2 : 4));
  return literal;
}

GantryLiteral **
gradient_evaluate (const GantryModule *module, GantryLiteral **arguments)
{
  const GantryFunction *entry = gantry_module_entry (module);
  GantryLiteral **results = g_new0 (GantryLiteral *, entry->n_results + 1);
  g_autoptr (GError) error = NULL;

  gantry_evaluate (module, entry, arguments, results, NULL, &error);
  if (error != NULL)
    {
      g_autofree char *text = gantry_module_to_text (module, &(GantryTextOptions){ .elide_literals = TRUE });

      g_test_message ("%s", text);
    }
  g_assert_no_error (error);
  return results;
}

void
gradient_free_literals (GantryLiteral **literals, guint n)
{
  for (guint i = 0; i < n; i++)
    gantry_literal_unref (literals[i]);
  g_free (literals);
}

guint
gradient_count (const GantryModule *module, guint op)
{
  guint n = 0;

  for (guint32 i = 0; i < module->n_nodes; i++)
    n += module->nodes[i].op == op;
  return n;
}

GantryModule *
gradient_of (GantryModule *module, const GantryGradientOptions *options)
{
  g_autoptr (GError) error = NULL;
  GantryModule *result = gantry_differentiate (module, options, NULL, &error);

  g_assert_no_error (error);
  g_assert_nonnull (result);
  gantry_verify (result, module, &error);
  if (error != NULL)
    {
      g_autofree char *text = gantry_module_to_text (result, &(GantryTextOptions){ .elide_literals = TRUE });

      g_test_message ("%s", text);
    }
  g_assert_no_error (error);
  return result;
}

static gboolean
is_float (const GantryModule *module, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (module, node);

  return gantry_type_is_tensor (type) && gantry_element_is_float (type->element);
}

static const GantryNode *
result_node (const GantryModule *module, guint i)
{
  return gantry_module_node (module, gantry_function_result_id (module, gantry_module_entry (module), i));
}

/* Every node is one that was there, or derives from nodes that were; what is new in the entry is
 * of the backward phase, but for scans that save more than they did, and what takes their members
 * out. */
static void
check_nodes (const GantryModule *before, const GantryModule *after)
{
  const GantryFunction *entry = gantry_module_entry (after);

  for (guint32 i = 0; i < after->n_nodes; i++)
    {
      const GantryNode *node = &after->nodes[i];
      const GantryNode *old = gantry_module_node (before, node->id);

      if (old != NULL)
        {
          g_assert_cmpuint (node->op, ==, old->op);
          g_assert_cmpuint (node->phase, ==, old->phase);
          g_assert_cmpuint (node->scope, ==, old->scope);
          continue;
        }
      g_assert_cmpuint (node->n_origins, >, 0);
      for (guint k = 0; k < node->n_origins; k++)
        g_assert_nonnull (gantry_module_node (before, after->origins[node->origins + k]));
      if (i < entry->n_nodes && node->op != GANTRY_OP_SCAN && node->op != GANTRY_OP_RESULT
          && gradient_count (before, GANTRY_OP_CALL) + gradient_count (before, GANTRY_OP_FUSION) == 0)
        g_assert_cmpuint (node->phase, ==, GANTRY_PHASE_BACKWARD);
    }
}

/* Which results and which parameters take part. */
typedef struct
{
  GArray *outputs, *by; /* guint */
} Parts;

static Parts
find_parts (const GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);
  Parts parts = { g_array_new (FALSE, FALSE, sizeof (guint)), g_array_new (FALSE, FALSE, sizeof (guint)) };

  for (guint i = 0; i < entry->n_results; i++)
    if (is_float (module, result_node (module, i)))
      g_array_append_val (parts.outputs, i);
  for (guint i = 0; i < entry->n_params; i++)
    if (is_float (module, &module->nodes[entry->first_node + i]))
      g_array_append_val (parts.by, i);
  return parts;
}

/* The sum over all outputs of cotangent times value. */
static double
product (const GantryModule *module, const Parts *parts, GantryLiteral **arguments, GantryLiteral **seeds)
{
  GantryLiteral **results = gradient_evaluate (module, arguments);
  double sum = 0;

  for (guint i = 0; i < parts->outputs->len; i++)
    {
      const GantryLiteral *value = results[g_array_index (parts->outputs, guint, i)];
      gint64 n = gantry_type_elements (value->type);

      for (gint64 k = 0; k < n; k++)
        sum += gantry_literal_get_double (value, k) * gantry_literal_get_double (seeds[i], k);
    }
  gradient_free_literals (results, gantry_module_entry (module)->n_results);
  return sum;
}

/* @arguments with argument @i replaced by x + step * direction, all of them where @i is
 * G_MAXUINT. */
static double
moved (const GantryModule *module, const Parts *parts, GantryLiteral **arguments, GantryLiteral **seeds, GantryLiteral **directions, double step)
{
  guint n = gantry_module_entry (module)->n_params;
  g_autofree GantryLiteral **at = g_memdup2 (arguments, (n + 1) * sizeof *arguments);
  double value;

  for (guint i = 0; i < parts->by->len; i++)
    {
      guint p = g_array_index (parts->by, guint, i);
      const GantryType *type = arguments[p]->type;
      gint64 elements = gantry_type_elements (type);
      gsize size = gantry_element_size (type->element);
      guint8 *data;

      at[p] = gantry_literal_new_zeroed (type, &data);
      for (gint64 k = 0; k < elements; k++)
        gantry_element_write_double (type->element, data + (gsize) k * size,
                                     gantry_literal_get_double (arguments[p], k) + step * gantry_literal_get_double (directions[i], k));
    }
  value = product (module, parts, at, seeds);
  for (guint i = 0; i < parts->by->len; i++)
    gantry_literal_unref (at[g_array_index (parts->by, guint, i)]);
  return value;
}

/* Along @directions: what the gradients say and what the differences say. */
static void
compare (const GantryModule *module, const GradientCheck *check, const Parts *parts, GantryLiteral **arguments, GantryLiteral **seeds,
         GantryLiteral **gradients, GantryLiteral **directions, double scale)
{
  double step = check->step > 0 ? check->step : 1e-5, tolerance = check->tolerance > 0 ? check->tolerance : 1e-6;
  double difference = (moved (module, parts, arguments, seeds, directions, step) - moved (module, parts, arguments, seeds, directions, -step)) / (2 * step);
  double gradient = 0;

  for (guint i = 0; i < parts->by->len; i++)
    {
      gint64 n = gantry_type_elements (gradients[i]->type);

      for (gint64 k = 0; k < n; k++)
        gradient += gantry_literal_get_double (gradients[i], k) * gantry_literal_get_double (directions[i], k);
    }
  if (!(fabs (gradient - difference) <= tolerance * MAX (1, scale)))
    {
      g_autofree char *text = gantry_module_to_text (module, &(GantryTextOptions){ .elide_literals = FALSE });

      g_test_message ("%s", text);
      g_error ("the gradient is %.12g, the difference %.12g", gradient, difference);
    }
}

/* A direction for each parameter: one element of one of them, or all at random. */
static GantryLiteral **
make_directions (const GantryModule *module, const GradientCheck *check, const Parts *parts, guint one, gint64 element)
{
  const GradientCheck unit = { .low = -1, .high = 1, .random = check->random };
  GantryLiteral **directions = g_new0 (GantryLiteral *, parts->by->len + 1);
  const GantryFunction *entry = gantry_module_entry (module);

  for (guint i = 0; i < parts->by->len; i++)
    {
      const GantryType *type = gantry_node_type (module, &module->nodes[entry->first_node + g_array_index (parts->by, guint, i)]);
      guint8 *data;

      if (one == G_MAXUINT)
        {
          directions[i] = gradient_random (&unit, type);
          continue;
        }
      directions[i] = gantry_literal_new_zeroed (type, &data);
      if (one == i)
        gantry_element_write_double (type->element, data + (gsize) element * gantry_element_size (type->element), 1);
    }
  return directions;
}

static void
compare_all (const GantryModule *module, const GradientCheck *check, const Parts *parts, GantryLiteral **arguments, GantryLiteral **seeds,
             GantryLiteral **gradients)
{
  GantryLiteral **directions;
  double scale = 0;

  for (guint i = 0; i < parts->by->len; i++)
    for (gint64 k = 0; k < gantry_type_elements (gradients[i]->type); k++)
      scale = MAX (scale, fabs (gantry_literal_get_double (gradients[i], k)));
  for (guint n = 0; n < check->directions; n++)
    {
      directions = make_directions (module, check, parts, G_MAXUINT, 0);
      compare (module, check, parts, arguments, seeds, gradients, directions, scale);
      gradient_free_literals (directions, parts->by->len);
    }
  for (guint i = 0; check->directions == 0 && i < parts->by->len; i++)
    for (gint64 k = 0; k < gantry_type_elements (gradients[i]->type); k++)
      {
        directions = make_directions (module, check, parts, i, k);
        compare (module, check, parts, arguments, seeds, gradients, directions, scale);
        gradient_free_literals (directions, parts->by->len);
      }
}

static void
check_kept (const GantryModule *module, GantryLiteral **arguments, GantryLiteral **results)
{
  GantryLiteral **own = gradient_evaluate (module, arguments);
  guint n = gantry_module_entry (module)->n_results;

  for (guint i = 0; i < n; i++)
    g_assert_true (gantry_literal_equal (own[i], results[i]));
  gradient_free_literals (own, n);
}

/* Draws arguments and cotangents, and compares. */
static void
check_values (const GantryModule *module, const GantryModule *derived, const GradientCheck *check, const Parts *parts)
{
  const GradientCheck unit = { .low = -1, .high = 1, .random = check->random };
  const GantryFunction *entry = gantry_module_entry (module), *with = gantry_module_entry (derived);
  guint n = entry->n_params + parts->outputs->len;
  GantryLiteral **arguments = g_new0 (GantryLiteral *, n + 1), **results;

  g_assert_cmpuint (with->n_params, ==, n);
  g_assert_cmpuint (with->n_results, ==, entry->n_results + parts->by->len);
  for (guint i = 0; i < n; i++)
    arguments[i] = gradient_random (i < entry->n_params ? check : &unit, gantry_node_type (derived, &derived->nodes[with->first_node + i]));
  results = gradient_evaluate (derived, arguments);
  check_kept (module, arguments, results);
  for (guint i = 0; i < parts->by->len; i++)
    g_assert_true (gantry_type_same_shape (results[entry->n_results + i]->type, arguments[g_array_index (parts->by, guint, i)]->type));
  compare_all (module, check, parts, arguments, arguments + entry->n_params, results + entry->n_results);
  gradient_free_literals (arguments, n);
  gradient_free_literals (results, with->n_results);
}

GantryModule *
gradient_check (GantryModule *module, const GradientCheck *check)
{
  Parts parts = find_parts (module);
  GantryGradientOptions options = { .outputs = (const guint *) (gpointer) parts.outputs->data,
                                    .n_outputs = parts.outputs->len,
                                    .with_respect_to = (const guint *) (gpointer) parts.by->data,
                                    .n_with_respect_to = parts.by->len,
                                    .seeds = TRUE,
                                    .keep_results = TRUE };
  g_autoptr (GantryModule) derived = gradient_of (module, &options);
  GantryModule *alone;

  check_nodes (module, derived);
  check_values (module, derived, check, &parts);
  options.keep_results = FALSE;
  alone = gradient_of (module, &options);
  g_array_unref (parts.outputs);
  g_array_unref (parts.by);
  return alone;
}

void
gradient_check_twice (GantryModule *module, const GradientCheck *check)
{
  g_autoptr (GantryModule) once = gradient_check (module, check);
  g_autoptr (GantryModule) twice = gradient_check (once, check);
}
