/* SPDX-License-Identifier: Apache-2.0 */
/* Finds, makes up and reads input values, compares outputs. */
#include "app/cli/inputs.h"
#include "core/base/random.h"
#include <math.h>
#include <string.h>

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
    case MAKE_HASH: u = gantry_random_at (maker->start, (guint64) i); return is_float ? u : floor (2 * u);
    default: return maker->value;
    }
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

#define MOST_NAMES 16

/* Returns: FALSE with an error that says which inputs there are */
static gboolean
refuse_name (const GantryModule *module, const char *given, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < entry->n_params && i < MOST_NAMES; i++)
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", gantry_context_string (module->context, module->nodes[entry->first_node + i].name));
  if (entry->n_params > MOST_NAMES)
    g_string_append_printf (names, " and %u more", entry->n_params - MOST_NAMES);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
               "--input %s: there is no such input, and no further one without a value; "
               "the inputs are: %s",
               given, names->len > 0 ? names->str : "none");
  return FALSE;
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
      if (next == n || (equals != NULL && !g_file_test (given[i], G_FILE_TEST_EXISTS)))
        return refuse_name (module, given[i], error);
      texts[next] = given[i];
    }
  return TRUE;
}

static void
source_clear (gpointer data)
{
  GantryInputSource *source = data;

  g_free (source->text);
  g_clear_pointer (&source->literal, gantry_literal_unref);
}

static gboolean
find (GantryModule *module, const GantryNode *parameter, const char *text, GantryReadFiles *read, GantryInputSource *source, GError **error)
{
  const GantryAttr *initial = gantry_attrs_find (module->context, parameter->attrs, "initial");
  Maker maker;

  source->type = gantry_node_type (module, parameter);
  source->name = gantry_context_string (module->context, parameter->name);
  source->text = g_strdup (text != NULL ? text : "random:0");
  if (gantry_type_bytes (source->type) < 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "an input without a static type cannot be made up");
      return FALSE;
    }
  /* What a training step begins with. */
  if (text == NULL && initial != NULL && initial->kind == GANTRY_ATTR_LITERAL)
    {
      source->literal = gantry_literal_ref (gantry_context_literal (module->context, initial->id));
      return TRUE;
    }
  if (!parse_maker (source->text, source->name, &maker, error))
    return FALSE;
  g_clear_pointer (&maker.random, g_rand_free);
  if (maker.kind == MAKE_NOTHING)
    {
      gantry_read_files_add (read, source->text);
      source->literal = gantry_input_read (module->context, source->text, source->type, error);
    }
  return maker.kind != MAKE_NOTHING || source->literal != NULL;
}

GArray *
gantry_inputs_find (GantryModule *module, char **given, GantryReadFiles *read, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (module);
  g_autofree const char **texts = g_new0 (const char *, entry->n_params + 1);
  g_autoptr (GArray) sources = g_array_new (FALSE, TRUE, sizeof (GantryInputSource));

  g_array_set_clear_func (sources, source_clear);
  if (!assign (module, given, texts, error))
    return NULL;
  for (guint i = 0; i < entry->n_params; i++)
    {
      g_array_set_size (sources, i + 1);
      if (!find (module, &module->nodes[entry->first_node + i], texts[i], read, &g_array_index (sources, GantryInputSource, i), error))
        return NULL;
    }
  return g_steal_pointer (&sources);
}

void
gantry_input_source_write (const GantryInputSource *source, guint8 *to)
{
  gint64 n = gantry_type_elements (source->type);
  gsize size = gantry_element_size (source->type->element);
  Maker maker;

  if (source->literal != NULL)
    {
      gantry_literal_copy_once_to (source->literal, to);
      return;
    }
  if (!parse_maker (source->text, source->name, &maker, NULL))
    g_return_if_reached (); /* it was parsed before */
  for (gint64 i = 0; i < n; i++)
    gantry_element_write_double (source->type->element, to + (gsize) i * size, make_element (&maker, source->type, i, n));
  g_clear_pointer (&maker.random, g_rand_free);
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
gantry_compare (const GantryLiteral *got, const GantryLiteral *expected, double relative, double absolute, GantryComparison *comparison)
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
