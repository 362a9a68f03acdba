/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of scopes, names and locations in the attributes of a rolled scan. */
#include "core/passes/block-table-private.h"
#include <string.h>

/* "line:column:length:file" and the text; where something led there, before all that "^length:" of the rest and, behind it, the
 * function, the step and the location that led there, in the same form. */
static void
append_location (GString *out, GantryContext *context, const GantryLocation *l)
{
  const char *file = gantry_context_string (context, l->file), *text = gantry_context_string (context, l->text);
  const char *function = gantry_context_string (context, l->function);
  g_autofree char *own = g_strdup_printf ("%u:%u:%zu:%s%s", l->line, l->column, strlen (file), file, text);

  if (l->parent != 0 || l->function != 0)
    g_string_append_printf (out, "^%zu:%s%zu:%s%u:%u:", strlen (own), own, strlen (function), function, l->step, l->number);
  else
    g_string_append (out, own);
}

const char *
_gantry_block_location_text (GantryContext *context, guint32 location)
{
  const GantryLocation *l = gantry_context_get_location (context, location);
  g_autoptr (GString) text = g_string_new (NULL);

  for (; l != NULL; l = gantry_context_get_location (context, l->parent))
    append_location (text, context, l);
  return gantry_context_string (context, gantry_context_intern (context, text->str));
}

/* Reads a number and the colon after it. */
static gboolean
read_number (const char **p, guint64 *value)
{
  char *end;

  if (!g_ascii_isdigit (**p))
    return FALSE;
  *value = g_ascii_strtoull (*p, &end, 10);
  if (*end != ':')
    return FALSE;
  *p = end + 1;
  return TRUE;
}

/* A number, a colon and so many bytes. */
static gboolean
read_bytes (const char **p, const char **bytes, guint64 *n)
{
  if (!read_number (p, n) || *n > strnlen (*p, *n))
    return FALSE;
  *bytes = *p;
  *p += *n;
  return TRUE;
}

static gboolean
read_own (GantryContext *context, const char *text, gsize size, GantryLocation *location)
{
  g_autofree char *own = g_strndup (text, size);
  const char *p = own, *file;
  guint64 line, column, n;

  if (!read_number (&p, &line) || !read_number (&p, &column) || !read_bytes (&p, &file, &n))
    return FALSE;
  location->line = (guint32) line;
  location->column = (guint32) column;
  location->file = gantry_context_intern_len (context, file, n);
  location->text = gantry_context_intern (context, p);
  return TRUE;
}

/* One of a chain. */
static gboolean
read_step (GantryContext *context, const char **p, GantryLocation *location)
{
  const char *own, *function;
  guint64 n, length, step, number;

  ++*p;
  if (!read_bytes (p, &own, &n) || !read_own (context, own, n, location) || !read_bytes (p, &function, &length) || !read_number (p, &step)
      || !read_number (p, &number) || step > GANTRY_STEP_GRADIENT)
    return FALSE;
  location->function = gantry_context_intern_len (context, function, length);
  location->step = (guint32) step;
  location->number = (guint32) number;
  return TRUE;
}

/* Returns: 0 for what is no location, or one of more steps than a chain has */
static guint32
location_of (GantryContext *context, const char *text)
{
  g_autoptr (GArray) chain = g_array_new (FALSE, TRUE, sizeof (GantryLocation));
  guint32 id = 0;

  do
    {
      GantryLocation location = { 0 };

      if (chain->len == GANTRY_LOCATION_MOST_STEPS)
        return 0;
      if (*text == '^' ? !read_step (context, &text, &location) : !read_own (context, text, strlen (text), &location))
        return 0;
      g_array_append_val (chain, location);
      if (location.step == GANTRY_STEP_NONE)
        break;
    }
  while (*text != '\0');
  for (guint i = chain->len; i-- > 0;)
    {
      g_array_index (chain, GantryLocation, i).parent = id;
      id = gantry_context_location (context, &g_array_index (chain, GantryLocation, i));
    }
  return id;
}

gboolean
_gantry_block_table_init (GantryBlockTable *table, GantryContext *context, guint32 attrs, const char *key, gint64 length)
{
  const GantryAttr *attr = gantry_attrs_find (context, attrs, key);
  gboolean locations = strcmp (key, GANTRY_BLOCK_LOCATIONS) == 0;

  *table = (GantryBlockTable){ 0 };
  if (attr == NULL || attr->kind != GANTRY_ATTR_STRINGS || length <= 0 || attr->n % (guint64) length != 0)
    return FALSE;
  table->places = g_hash_table_new (NULL, NULL);
  table->ids = g_new (guint32, attr->n + 1);
  table->n = attr->n / (guint64) length;
  for (gsize i = 0; i < attr->n; i++)
    {
      table->ids[i] = attr->ids[i];
      if (locations)
        table->ids[i] = location_of (context, gantry_context_string (context, attr->ids[i]));
      if (locations && table->ids[i] == 0) /* where it stands in the body */
        table->ids[i] = table->ids[i % table->n];
    }
  for (gsize i = table->n; i-- > 0;) /* of two places the first holds */
    g_hash_table_insert (table->places, GUINT_TO_POINTER (table->ids[i] + 1), GSIZE_TO_POINTER (i + 1));
  return TRUE;
}

void
_gantry_block_table_clear (GantryBlockTable *table)
{
  g_clear_pointer (&table->places, g_hash_table_unref);
  g_clear_pointer (&table->ids, g_free);
}

gboolean
_gantry_block_table_look_up (const GantryBlockTable *table, guint32 id, gint64 i, guint32 *found)
{
  gsize place = 0;

  if (table->places != NULL)
    place = GPOINTER_TO_SIZE (g_hash_table_lookup (table->places, GUINT_TO_POINTER (id + 1)));
  if (place == 0)
    return FALSE;
  *found = table->ids[(gsize) i * table->n + place - 1];
  return TRUE;
}
