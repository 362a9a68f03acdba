/* SPDX-License-Identifier: Apache-2.0 */
/* Reads packing problems from comma-separated tables. */
#include "core/planner/pack/pack-csv.h"
#include "core/base/error.h"
#include <string.h>

#define MOST_BUFFERS 1000000u
#define MOST_COLUMNS 64u
#define MOST_BYTES (G_GUINT64_CONSTANT (1) << 62)
#define LONGEST_ID 256u

typedef enum
{
  COLUMN_OTHER,
  COLUMN_ID,
  COLUMN_LOWER,
  COLUMN_UPPER,
  COLUMN_END,
  COLUMN_SIZE,
  N_COLUMNS
} Column;

static const char *const column_names[N_COLUMNS] = { NULL, "id", "lower", "upper", "end", "size" };

typedef struct
{
  const char *at, *end; /* the rest of the text */
  const char *name;
  guint line;
  Column columns[MOST_COLUMNS];
  guint n_columns;
  gboolean has[N_COLUMNS];
} Reader;

typedef struct
{
  const char *text;
  gsize length;
} Field;

static void
fail (const Reader *reader, GError **error, const char *what, const char *help)
{
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s, line %u: %s; %s", reader->name, reader->line, what, help);
}

/* Returns: FALSE at the end of the text. Passes over empty lines and remarks. */
static gboolean
next_line (Reader *reader, Field *line)
{
  while (reader->at < reader->end)
    {
      const char *feed = memchr (reader->at, '\n', (gsize) (reader->end - reader->at));
      const char *stop = feed != NULL ? feed : reader->end;

      *line = (Field){ reader->at, (gsize) (stop - reader->at) };
      reader->at = feed != NULL ? feed + 1 : reader->end;
      reader->line++;
      if (line->length > 0 && line->text[line->length - 1] == '\r')
        line->length--;
      if (line->length > 0 && line->text[0] != '#')
        return TRUE;
    }
  return FALSE;
}

/* Takes the next field, without blanks around it, off the line. Returns: FALSE where there is none left */
static gboolean
next_field (Field *line, Field *field)
{
  const char *comma;

  if (line->text == NULL)
    return FALSE;
  comma = memchr (line->text, ',', line->length);
  *field = (Field){ line->text, comma != NULL ? (gsize) (comma - line->text) : line->length };
  if (comma != NULL)
    *line = (Field){ comma + 1, line->length - field->length - 1 };
  else
    line->text = NULL;
  while (field->length > 0 && g_ascii_isspace (field->text[0]))
    field->text++, field->length--;
  while (field->length > 0 && g_ascii_isspace (field->text[field->length - 1]))
    field->length--;
  return TRUE;
}

static gboolean
read_header (Reader *reader, GError **error)
{
  Field line, field;

  if (!next_line (reader, &line))
    {
      fail (reader, error, "no line with the names of the columns", "the first line says, for example, id,lower,upper,size");
      return FALSE;
    }
  while (next_field (&line, &field))
    {
      Column column = COLUMN_OTHER;

      if (reader->n_columns == MOST_COLUMNS)
        {
          fail (reader, error, "more than 64 columns", "leave out those that are not needed");
          return FALSE;
        }
      for (guint c = 1; c < N_COLUMNS; c++)
        if (strlen (column_names[c]) == field.length && memcmp (column_names[c], field.text, field.length) == 0)
          column = (Column) c;
      if (column != COLUMN_OTHER && reader->has[column])
        {
          fail (reader, error, "a column is there twice", "name each of id, lower, upper, end and size once");
          return FALSE;
        }
      reader->has[column] = TRUE;
      reader->columns[reader->n_columns++] = column;
    }
  if (reader->has[COLUMN_LOWER] && reader->has[COLUMN_SIZE] && reader->has[COLUMN_UPPER] != reader->has[COLUMN_END])
    return TRUE;
  fail (reader, error, "columns are missing", "lower, size and one of upper (excluded) and end (included) are needed");
  return FALSE;
}

static gboolean
read_number (const Reader *reader, const Field *field, Column column, guint64 *value, GError **error)
{
  g_autofree char *what = NULL;
  guint64 n = 0;
  gboolean ok = field->length > 0 && field->length <= 19;

  for (gsize k = 0; ok && k < field->length; k++)
    {
      ok = g_ascii_isdigit (field->text[k]);
      n = 10 * n + (guint64) (field->text[k] - '0');
    }
  *value = n;
  if (ok && n <= (column == COLUMN_SIZE ? MOST_BYTES : G_MAXUINT32 - 1))
    return TRUE;
  what = g_strdup_printf ("'%s' is no number that can stand there", column_names[column]);
  fail (reader, error, what, column == COLUMN_SIZE ? "write bytes in digits, below 2^62" : "write a step in digits, below 2^32 - 1");
  return FALSE;
}

/* One line as an item; @id is set where there is such a column. */
static gboolean
read_item (Reader *reader, Field line, GantryPackItem *item, Field *id, GError **error)
{
  guint64 values[N_COLUMNS] = { 0 };
  Field field;
  guint n = 0;

  for (; n < reader->n_columns && next_field (&line, &field); n++)
    {
      Column column = reader->columns[n];

      if (column == COLUMN_ID)
        *id = field;
      else if (column != COLUMN_OTHER && !read_number (reader, &field, column, &values[column], error))
        return FALSE;
    }
  if (n < reader->n_columns || line.text != NULL)
    {
      fail (reader, error, "not as many fields as there are columns", "write one field for each, separated by commas");
      return FALSE;
    }
  if (id->length > LONGEST_ID || !g_utf8_validate (id->text, (gssize) id->length, NULL))
    {
      fail (reader, error, "'id' is too long or no UTF-8", "write at most 256 bytes");
      return FALSE;
    }
  if (reader->has[COLUMN_END] ? values[COLUMN_END] < values[COLUMN_LOWER] : values[COLUMN_UPPER] <= values[COLUMN_LOWER])
    {
      fail (reader, error, "the lifetime is empty", "upper lies above lower, and end is not below it");
      return FALSE;
    }
  item->begin = (guint32) values[COLUMN_LOWER];
  item->end = (guint32) (reader->has[COLUMN_END] ? values[COLUMN_END] : values[COLUMN_UPPER] - 1);
  item->size = values[COLUMN_SIZE];
  return TRUE;
}

GantryPackTable *
gantry_pack_table_from_csv (const char *text, gsize length, const char *name, GError **error)
{
  Reader reader = { text, length > 0 ? text + length : text, name }; /* an empty text may be NULL */
  g_autoptr (GArray) items = g_array_new (FALSE, FALSE, sizeof (GantryPackItem));
  g_autoptr (GPtrArray) ids = g_ptr_array_new_with_free_func (g_free);
  GantryPackTable *table;
  guint64 sum = 0;
  Field line;

  if (!read_header (&reader, error))
    return NULL;
  while (next_line (&reader, &line))
    {
      GantryPackItem item = { 0 };
      Field id = { "", 0 };

      if (!read_item (&reader, line, &item, &id, error))
        return NULL;
      sum += item.size;
      if (items->len == MOST_BUFFERS || sum > MOST_BYTES)
        {
          fail (&reader, error, "too many buffers or bytes", "at most 1,000,000 buffers with 2^62 bytes together are packed");
          return NULL;
        }
      g_array_append_val (items, item);
      g_ptr_array_add (ids, reader.has[COLUMN_ID] ? g_strndup (id.text, id.length) : g_strdup_printf ("%u", items->len - 1));
    }
  g_ptr_array_add (ids, NULL);
  table = g_new0 (GantryPackTable, 1);
  table->n = items->len;
  table->items = (GantryPackItem *) (void *) g_array_free (g_steal_pointer (&items), FALSE);
  table->ids = (char **) g_ptr_array_free (g_steal_pointer (&ids), FALSE);
  return table;
}

void
gantry_pack_table_free (GantryPackTable *table)
{
  if (table == NULL)
    return;
  g_free (table->items);
  g_strfreev (table->ids);
  g_free (table);
}
