/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and reads input values, compares outputs. */
#include "app/cli/inputs.h"
#include <math.h>
#include <string.h>

void
gantry_literals_free (GantryLiteral **literals, guint n)
{
  for (guint i = 0; literals != NULL && i < n; i++)
    gantry_literal_unref (literals[i]);
  g_free (literals);
}

static GantryLiteral *
fill (const GantryType *type, const char *how, GError **error)
{
  gsize size = gantry_element_size (type->element);
  gint64 n = gantry_type_elements (type);
  g_autoptr (GRand) random = NULL;
  guint8 *data;
  GantryLiteral *literal;

  if (gantry_type_bytes (type) < 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "an input without a static type cannot be made up");
      return NULL;
    }
  literal = gantry_literal_new_zeroed (type, &data);
  random = g_rand_new_with_seed (g_str_has_prefix (how, "random:") ? (guint32) g_ascii_strtoull (how + 7, NULL, 10) : 0);
  for (gint64 i = 0; i < n; i++)
    {
      double value = 0;

      if (strcmp (how, "arange") == 0)
        value = (double) i / (double) n;
      else if (strcmp (how, "ones") == 0)
        value = 1;
      else if (g_str_has_prefix (how, "random"))
        value = gantry_element_is_float (type->element) ? g_rand_double (random) : g_rand_int_range (random, 0, 2);
      gantry_element_write_double (type->element, data + (gsize) i * size, value);
    }
  return literal;
}

static gboolean
is_made_up (const char *text)
{
  return strcmp (text, "arange") == 0 || strcmp (text, "zeros") == 0 || strcmp (text, "ones") == 0 ||
         strcmp (text, "random") == 0 || g_str_has_prefix (text, "random:");
}

GantryLiteral *
gantry_input_read (GantryContext *context, const char *path, const GantryType *type, GError **error)
{
  g_autoptr (GantryLiteral) literal = gantry_tensor_file_read (context, path, type, error);

  if (literal == NULL)
    return NULL;
  if (type != NULL && !gantry_type_same_shape (literal->type, type))
    {
      g_autofree char *has = gantry_context_type_text (context, gantry_context_type_id (context, literal->type));
      g_autofree char *wants = gantry_context_type_text (context, gantry_context_type_id (context, type));

      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: holds %s where the model wants %s", path, has, wants);
      return NULL;
    }
  return g_steal_pointer (&literal);
}

static guint
index_of (const GantryModule *module, const char *name, gsize length)
{
  const GantryFunction *entry = gantry_module_entry (module);
  guint i;

  for (i = 0; i < entry->n_params; i++)
    {
      const char *own = gantry_context_string (module->context, module->nodes[entry->first_node + i].name);

      if (strlen (own) == length && strncmp (own, name, length) == 0)
        break;
    }
  return i;
}

/* Which text belongs to which input. */
static gboolean
assign (const GantryModule *module, char **given, const char **texts, GError **error)
{
  guint n = gantry_module_entry (module)->n_params;
  guint next = 0;

  for (guint i = 0; given != NULL && given[i] != NULL; i++)
    {
      const char *equals = strchr (given[i], '=');
      guint index = equals != NULL ? index_of (module, given[i], (gsize) (equals - given[i])) : n;

      if (index < n)
        texts[index] = equals + 1;
      else if (next < n)
        texts[next++] = given[i];
      else
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--input %s: the model has %u inputs and none of that name",
                       given[i], n);
          return FALSE;
        }
    }
  return TRUE;
}

GantryLiteral **
gantry_inputs_make (GantryModule *module, char **given, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (module);
  g_autofree const char **texts = g_new0 (const char *, entry->n_params + 1);
  GantryLiteral **literals = g_new0 (GantryLiteral *, entry->n_params + 1);

  if (!assign (module, given, texts, error))
    {
      g_free (literals);
      return NULL;
    }
  for (guint i = 0; i < entry->n_params; i++)
    {
      const GantryType *type = gantry_node_type (module, &module->nodes[entry->first_node + i]);
      const char *text = texts[i] != NULL ? texts[i] : "random:0";

      literals[i] = is_made_up (text) ? fill (type, text, error) : gantry_input_read (module->context, text, type, error);
      if (literals[i] == NULL)
        {
          gantry_literals_free (literals, i);
          return NULL;
        }
    }
  return literals;
}

/* Two values that count as the same; @difference gets |a - b| where that is a number. */
static gboolean
close_enough (double a, double b, double relative, double absolute, double *difference)
{
  *difference = 0;
  if (isnan (a) || isnan (b))
    return isnan (a) && isnan (b);
  if (isinf (a) || isinf (b))
    return a == b;
  *difference = fabs (a - b);
  return *difference <= absolute + relative * fabs (b);
}

void
gantry_compare (const GantryLiteral *got, const GantryLiteral *expected, double relative, double absolute,
                GantryComparison *comparison)
{
  gint64 n = gantry_type_elements (expected->type);
  double largest = 0;

  *comparison = (GantryComparison){ .equal = TRUE, .worst_index = -1 };
  if (!gantry_type_same_shape (got->type, expected->type))
    {
      comparison->equal = FALSE;
      comparison->why = g_strdup ("type or shape differ");
      return;
    }
  for (gint64 i = 0; i < n; i++)
    {
      double a = gantry_literal_get_double (got, i), b = gantry_literal_get_double (expected, i);
      double difference;
      gboolean same;

      if (!gantry_element_is_float (got->type->element))
        {
          same = gantry_literal_get_int (got, i) == gantry_literal_get_int (expected, i);
          difference = fabs (a - b);
        }
      else
        same = close_enough (a, b, relative, absolute, &difference);
      if (isfinite (b))
        largest = MAX (largest, fabs (b));
      if (!same && comparison->equal)
        comparison->why = g_strdup_printf ("element %" G_GINT64_FORMAT " is %.9g, expected %.9g", i, a, b);
      comparison->equal = comparison->equal && same;
      if (difference > comparison->worst_absolute)
        {
          comparison->worst_absolute = difference;
          comparison->worst_index = i;
        }
    }
  comparison->worst_relative = largest > 0 ? comparison->worst_absolute / largest : comparison->worst_absolute;
}
