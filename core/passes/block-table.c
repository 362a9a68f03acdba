/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of scopes, names and locations in the attributes of a rolled scan. */
#include "core/passes/block-table-private.h"
#include <string.h>

const char *
_gantry_block_location_text (GantryContext *context, guint32 location)
{
  const GantryLocation *l = gantry_context_get_location (context, location);
  g_autofree char *text = NULL;
  const char *file;

  if (l == NULL)
    return "";
  file = gantry_context_string (context, l->file);
  text = g_strdup_printf ("%u:%u:%zu:%s%s", l->line, l->column, strlen (file), file,
                          gantry_context_string (context, l->text));
  return gantry_context_string (context, gantry_context_intern (context, text));
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

/* Returns: 0 for what is no location */
static guint32
location_of (GantryContext *context, const char *text)
{
  GantryLocation location = { 0 };
  guint64 line, column, n;

  if (!read_number (&text, &line) || !read_number (&text, &column) || !read_number (&text, &n)
      || n > strlen (text))
    return 0;
  location.line = (guint32) line;
  location.column = (guint32) column;
  location.file = gantry_context_intern_len (context, text, n);
  location.text = gantry_context_intern (context, text + n);
  return gantry_context_location (context, &location);
}

gboolean
_gantry_block_table_init (GantryBlockTable *table, GantryContext *context, guint32 attrs,
                          const char *key, gint64 length)
{
  const GantryAttr *attr = gantry_attrs_find (context, attrs, key);
  gboolean locations = strcmp (key, GANTRY_BLOCK_LOCATIONS) == 0;

  *table = (GantryBlockTable){ 0 };
  if (attr == NULL || attr->kind != GANTRY_ATTR_STRINGS || length <= 0
      || attr->n % (guint64) length != 0)
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
    g_hash_table_insert (table->places, GUINT_TO_POINTER (table->ids[i] + 1),
                         GSIZE_TO_POINTER (i + 1));
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
