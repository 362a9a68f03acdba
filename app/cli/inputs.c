/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and reads input values, compares outputs. */
#include "app/cli/inputs.h"
#include "core/base/random.h"
#include <math.h>
#include <string.h>

void
gantry_literals_free (GantryLiteral **literals, guint n)
{
  for (guint i = 0; literals != NULL && i < n; i++)
    gantry_literal_unref (literals[i]);
  g_free (literals);
}

typedef enum
{
  MAKE_NOTHING, /* the text is the name of a file */
  MAKE_VALUE,
  MAKE_ARANGE,
  MAKE_RANDOM,
  MAKE_HASH,
} MakeKind;

/* How the elements of an input are made up. */
typedef struct
{
  MakeKind kind;
  double value;
  guint64 start; /* of a hash */
  GRand *random;
} Maker;

static gboolean
read_seed (const char *text, const char *digits, guint64 *seed, GError **error)
{
  if (g_ascii_string_to_unsigned (digits, 10, 0, G_MAXUINT32, seed, NULL))
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--input %s: the seed is a whole number from 0 on", text);
  return FALSE;
}

static gboolean
read_value (const char *text, const char *digits, double *value, GError **error)
{
  char *end;

  *value = g_ascii_strtod (digits, &end);
  if (end != digits && *end == '\0')
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--input %s: write a number after 'value:'", text);
  return FALSE;
}

/* What @text asks for; @name is that of the input. */
static gboolean
parse_maker (const char *text, const char *name, Maker *maker, GError **error)
{
  guint64 seed = 0;

  *maker = (Maker){ .kind = MAKE_NOTHING };
  if (strcmp (text, "zeros") == 0 || strcmp (text, "ones") == 0)
    *maker = (Maker){ .kind = MAKE_VALUE, .value = text[0] == 'o' };
  else if (strcmp (text, "arange") == 0)
    maker->kind = MAKE_ARANGE;
  else if (g_str_has_prefix (text, "value:"))
    {
      maker->kind = MAKE_VALUE;
      return read_value (text, text + strlen ("value:"), &maker->value, error);
    }
  else if (g_str_has_prefix (text, "hash:"))
    {
      maker->kind = MAKE_HASH;
      if (!read_seed (text, text + strlen ("hash:"), &seed, error))
        return FALSE;
      maker->start = gantry_random_start (name, (gint64) seed);
    }
  else if (strcmp (text, "random") == 0 || g_str_has_prefix (text, "random:"))
    {
      if (text[strlen ("random")] == ':' && !read_seed (text, text + strlen ("random:"), &seed, error))
        return FALSE;
      maker->kind = MAKE_RANDOM;
      maker->random = g_rand_new_with_seed ((guint32) seed);
    }
  return TRUE;
}

static double
make_element (const Maker *maker, const GantryType *type, gint64 i, gint64 n)
{
  gboolean is_float = gantry_element_is_float (type->element);
  double u;

  switch (maker->kind)
    {
    case MAKE_ARANGE: return (double) i / (double) n;
    case MAKE_RANDOM: return is_float ? g_rand_double (maker->random) : g_rand_int_range (maker->random, 0, 2);
    case MAKE_HASH:
      u = gantry_random_at (maker->start, (guint64) i);
      return is_float ? u : floor (2 * u);
    default: return maker->value;
    }
}

static GantryLiteral *
fill (const GantryType *type, const Maker *maker, GError **error)
{
  gsize size = gantry_element_size (type->element);
  guint8 *data;
  GantryLiteral *literal;
  gint64 n;

  if (gantry_type_bytes (type) < 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "an input without a static type cannot be made up");
      return NULL;
    }
  n = gantry_type_elements (type);
  literal = gantry_literal_new_zeroed (type, &data);
  for (gint64 i = 0; i < n; i++)
    gantry_element_write_double (type->element, data + (gsize) i * size, make_element (maker, type, i, n));
  return literal;
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
        {
          texts[index] = equals + 1;
          continue;
        }
      while (next < n && texts[next] != NULL)
        next++;
      if (next == n)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--input %s: the model has %u inputs and none of that name",
                       given[i], n);
          return FALSE;
        }
      texts[next] = given[i];
    }
  return TRUE;
}

static GantryLiteral *
make (const GantryModule *module, const GantryNode *parameter, const char *text, GError **error)
{
  const GantryType *type = gantry_node_type (module, parameter);
  const GantryAttr *initial = gantry_attrs_find (module->context, parameter->attrs, "initial");
  GantryLiteral *literal;
  Maker maker;

  /* What a training step begins with. */
  if (text == NULL && initial != NULL && initial->kind == GANTRY_ATTR_LITERAL)
    return gantry_literal_ref (gantry_context_literal (module->context, initial->id));
  if (text == NULL)
    text = "random:0";
  if (!parse_maker (text, gantry_context_string (module->context, parameter->name), &maker, error))
    return NULL;
  literal = maker.kind == MAKE_NOTHING ? gantry_input_read (module->context, text, type, error)
                                       : fill (type, &maker, error);
  g_clear_pointer (&maker.random, g_rand_free);
  return literal;
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
      literals[i] = make (module, &module->nodes[entry->first_node + i], texts[i], error);
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
