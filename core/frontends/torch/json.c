/* SPDX-License-Identifier: Apache-2.0 */
/* JSON that a stranger wrote, as a tree: a value takes 24 bytes, values are counted, and names that come again and again are there
 * once. */
#include "core/base/json-stream.h"
#include "core/frontends/torch/torch-private.h"
#include <math.h>
#include <string.h>

#define LONGEST_SHARED_NAME 32u /* "as_tensor", but for longer ones, which hardly come twice, nobody looks */
#define FEW_MEMBERS 8u          /* of more the names are in order */

struct _TorchTree
{
  GantryArena *arena; /* values */
  GStringChunk *texts;
  const TorchJson *root;
};

/* An array or object that has begun. */
typedef struct
{
  guint first; /* of its values in Reader.values */
  const char *key;
} Open;

typedef struct
{
  TorchTree *tree;
  GantryJsonStream stream;
  GArray *values;  /* TorchJson, of all that is open: they move to the tree when it ends */
  GArray *open;    /* Open */
  const char *key; /* (nullable): of the value that comes */
  guint n;
} Reader;

void
gantry_torch_tree_free (gpointer data)
{
  TorchTree *tree = data;

  gantry_arena_free (tree->arena);
  g_string_chunk_free (tree->texts);
  g_free (tree);
}

/* Reading */

static int
compare_keys (gconstpointer a, gconstpointer b, gpointer data)
{
  return strcmp (((const TorchJson *) a)->key, ((const TorchJson *) b)->key);
}

static gboolean
add (Reader *reader, TorchJson value, GError **error)
{
  value.key = reader->key;
  reader->key = NULL;
  g_array_append_val (reader->values, value);
  if (++reader->n <= TORCH_MOST_JSON_VALUES)
    return TRUE;
  return gantry_fail (error, GANTRY_ERROR_TOO_LARGE,
                      "%s, byte %" G_GUINT64_FORMAT ": more than %u values, which are the most "
                      "that are read",
                      reader->stream.what, gantry_json_stream_offset (&reader->stream), TORCH_MOST_JSON_VALUES);
}

static void
begin (Reader *reader)
{
  Open open = { reader->values->len, reader->key };

  reader->key = NULL;
  g_array_append_val (reader->open, open);
}

static gboolean
end (Reader *reader, TorchJsonKind kind, GError **error)
{
  const Open open = g_array_index (reader->open, Open, reader->open->len - 1);
  const guint n = reader->values->len - open.first;
  TorchJson *own = NULL;

  if (n > 0)
    own = gantry_arena_copy (reader->tree->arena, &g_array_index (reader->values, TorchJson, open.first), n * sizeof *own);
  if (kind == TORCH_JSON_OBJECT && n > FEW_MEMBERS)
    g_qsort_with_data (own, (gint) n, sizeof *own, compare_keys, NULL); /* stable: of two members of a name the last counts */
  g_array_set_size (reader->values, open.first);
  g_array_set_size (reader->open, reader->open->len - 1);
  reader->key = open.key;
  return add (reader, (TorchJson){ .kind = kind, .n = n, .values = own }, error);
}

/* (nullable): too long */
static const char *
take_text (Reader *reader, gboolean is_key, GError **error)
{
  const GString *text = reader->stream.text;

  if (text->len >= GANTRY_JSON_MOST_TEXT)
    {
      gantry_fail (error, GANTRY_ERROR_TOO_LARGE, "%s, byte %" G_GUINT64_FORMAT ": a string of more than 1 MiB", reader->stream.what,
                   gantry_json_stream_offset (&reader->stream));
      return NULL;
    }
  return is_key && text->len <= LONGEST_SHARED_NAME ? g_string_chunk_insert_const (reader->tree->texts, text->str)
                                                    : g_string_chunk_insert_len (reader->tree->texts, text->str, (gssize) text->len);
}

static TorchJson
number_of (const char *text)
{
  gint64 integer;

  if (g_ascii_string_to_signed (text, 10, G_MININT64, G_MAXINT64, &integer, NULL))
    return (TorchJson){ .kind = TORCH_JSON_INT, .integer = integer };
  return (TorchJson){ .kind = TORCH_JSON_DOUBLE, .real = g_ascii_strtod (text, NULL) };
}

/* Returns: FALSE at the end and after an error */
static gboolean
read_token (Reader *reader, GError **error)
{
  GantryJsonStream *stream = &reader->stream;
  TorchJson value = { .kind = TORCH_JSON_NULL };

  switch (gantry_json_stream_next (stream))
    {
    case GANTRY_JSON_FAILED: g_propagate_error (error, g_steal_pointer (&stream->error)); return FALSE;
    case GANTRY_JSON_END: return FALSE;
    case GANTRY_JSON_BEGIN_OBJECT:
    case GANTRY_JSON_BEGIN_ARRAY: begin (reader); return TRUE;
    case GANTRY_JSON_END_OBJECT: return end (reader, TORCH_JSON_OBJECT, error);
    case GANTRY_JSON_END_ARRAY: return end (reader, TORCH_JSON_ARRAY, error);
    case GANTRY_JSON_KEY: reader->key = take_text (reader, TRUE, error); return reader->key != NULL;
    case GANTRY_JSON_STRING:
      value = (TorchJson){ .kind = TORCH_JSON_STRING, .text = take_text (reader, FALSE, error) };
      if (value.text == NULL)
        return FALSE;
      break;
    case GANTRY_JSON_NUMBER: value = number_of (stream->text->str); break;
    case GANTRY_JSON_WORD:
      if (strcmp (stream->text->str, "null") != 0)
        value = (TorchJson){ .kind = TORCH_JSON_BOOLEAN, .integer = strcmp (stream->text->str, "true") == 0 };
      break;
    }
  return add (reader, value, error);
}

/* (transfer full) (nullable) */
static TorchTree *
read_tree (GBytes *bytes, const char *name, GError **error)
{
  g_autoptr (GInputStream) memory = g_memory_input_stream_new_from_bytes (bytes);
  TorchTree *tree = g_new0 (TorchTree, 1);
  Reader reader = { .tree = tree, .values = g_array_new (FALSE, FALSE, sizeof (TorchJson)), .open = g_array_new (FALSE, FALSE, sizeof (Open)) };
  GError *failure = NULL;

  tree->arena = gantry_arena_new ();
  tree->texts = g_string_chunk_new (64 * 1024);
  gantry_json_stream_init (&reader.stream, memory, name, NULL);
  while (read_token (&reader, &failure))
    ;
  if (failure == NULL && g_array_index (reader.values, TorchJson, 0).kind != TORCH_JSON_OBJECT)
    gantry_fail (&failure, GANTRY_ERROR_INVALID, "%s: not a JSON object; the archive is damaged", name);
  if (failure == NULL)
    tree->root = gantry_arena_copy (tree->arena, reader.values->data, sizeof (TorchJson));
  else
    {
      g_clear_pointer (&tree, gantry_torch_tree_free);
      g_propagate_error (error, failure);
    }
  gantry_json_stream_clear (&reader.stream);
  g_array_unref (reader.values);
  g_array_unref (reader.open);
  return tree;
}

const TorchJson *
gantry_torch_json_parse (TorchImport *import, const char *entry, GError **error)
{
  g_autofree char *name = g_strconcat (import->prefix, entry, NULL);
  gint64 index = gantry_zip_find (import->zip, name);
  g_autoptr (GBytes) bytes = NULL;
  TorchTree *tree;

  if (index < 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the archive has no '%s'; it is damaged", name);
      return NULL;
    }
  bytes = gantry_zip_read (import->zip, (guint) index, TORCH_MOST_JSON, error);
  tree = bytes != NULL ? read_tree (bytes, name, error) : NULL;
  if (tree == NULL)
    return NULL;
  g_ptr_array_add (import->trees, tree);
  return tree->root;
}

/* Looking up */

static const TorchJson *
find_in_order (const TorchJson *object, const char *key)
{
  guint low = 0, high = object->n; /* the last of the name is below @high */

  while (low < high)
    {
      const guint middle = low + (high - low) / 2;

      if (strcmp (object->values[middle].key, key) <= 0)
        low = middle + 1;
      else
        high = middle;
    }
  return low > 0 && strcmp (object->values[low - 1].key, key) == 0 ? &object->values[low - 1] : NULL;
}

const TorchJson *
gantry_torch_json_member (const TorchJson *object, const char *key)
{
  if (object == NULL || object->kind != TORCH_JSON_OBJECT)
    return NULL;
  if (object->n > FEW_MEMBERS)
    return find_in_order (object, key);
  for (guint i = object->n; i > 0; i--)
    if (strcmp (object->values[i - 1].key, key) == 0)
      return &object->values[i - 1];
  return NULL;
}

/* NULL where it is of another kind. */
static const TorchJson *
member_of_kind (const TorchJson *object, const char *key, TorchJsonKind kind)
{
  const TorchJson *value = gantry_torch_json_member (object, key);

  return value != NULL && value->kind == kind ? value : NULL;
}

const TorchJson *
gantry_torch_json_object (const TorchJson *object, const char *key)
{
  return member_of_kind (object, key, TORCH_JSON_OBJECT);
}

const TorchJson *
gantry_torch_json_array (const TorchJson *object, const char *key)
{
  return member_of_kind (object, key, TORCH_JSON_ARRAY);
}

const char *
gantry_torch_json_string (const TorchJson *object, const char *key)
{
  const TorchJson *value = member_of_kind (object, key, TORCH_JSON_STRING);

  return value != NULL ? value->text : NULL;
}

gboolean
gantry_torch_json_int (const TorchJson *object, const char *key, gint64 *value)
{
  const TorchJson *found = member_of_kind (object, key, TORCH_JSON_INT);

  if (found == NULL)
    return FALSE;
  *value = found->integer;
  return TRUE;
}

gboolean
gantry_torch_json_is_scalar (const TorchJson *value)
{
  return value->kind != TORCH_JSON_NULL && value->kind != TORCH_JSON_ARRAY && value->kind != TORCH_JSON_OBJECT;
}

gint64
gantry_torch_json_number (const TorchJson *value)
{
  if (value->kind == TORCH_JSON_INT || value->kind == TORCH_JSON_BOOLEAN)
    return value->integer;
  return value->kind == TORCH_JSON_DOUBLE && fabs (value->real) < 9e18 ? (gint64) value->real : 0;
}

gboolean
gantry_torch_json_double (const TorchJson *value, double *real)
{
  *real = value->kind == TORCH_JSON_DOUBLE ? value->real : value->kind == TORCH_JSON_INT ? (double) value->integer : 0;
  if (value->kind == TORCH_JSON_DOUBLE || value->kind == TORCH_JSON_INT)
    return TRUE;
  if (value->kind != TORCH_JSON_STRING)
    return FALSE;
  if (strcmp (value->text, "NaN") == 0)
    *real = NAN;
  else if (strcmp (value->text, "Infinity") == 0 || strcmp (value->text, "-Infinity") == 0)
    *real = *value->text == '-' ? -INFINITY : INFINITY;
  else
    return FALSE;
  return TRUE;
}

const TorchJson *
gantry_torch_json_element (const TorchJson *array, guint i)
{
  return array != NULL && i < array->n && array->values[i].kind == TORCH_JSON_OBJECT ? &array->values[i] : NULL;
}

/* Older files write all members, those that do not hold as null. */
const char *
gantry_torch_json_union (const TorchJson *object, const TorchJson **value)
{
  const char *found = NULL;

  for (guint i = 0; object != NULL && i < object->n; i++)
    if (object->values[i].kind != TORCH_JSON_NULL)
      {
        if (found != NULL)
          return NULL;
        found = object->values[i].key;
        *value = &object->values[i];
      }
  return found;
}

/* Writing */

static void
write_string (const char *text, GString *out)
{
  g_string_append_c (out, '"');
  for (; *text != '\0'; text++)
    if ((guchar) *text < ' ')
      g_string_append_printf (out, "\\u%04x", (guint) *text);
    else
      {
        if (*text == '"' || *text == '\\')
          g_string_append_c (out, '\\');
        g_string_append_c (out, *text);
      }
  g_string_append_c (out, '"');
}

static void
write_scalar (const TorchJson *value, GString *out)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  if (value->kind == TORCH_JSON_STRING)
    write_string (value->text, out);
  else if (value->kind == TORCH_JSON_INT)
    g_string_append_printf (out, "%" G_GINT64_FORMAT, value->integer);
  else if (value->kind == TORCH_JSON_DOUBLE)
    g_string_append (out, g_ascii_dtostr (number, sizeof number, value->real));
  else
    g_string_append (out, value->kind == TORCH_JSON_NULL ? "null" : value->integer != 0 ? "true" : "false");
}

void
gantry_torch_json_write (const TorchJson *value, GString *out)
{
  const gboolean is_object = value->kind == TORCH_JSON_OBJECT;

  if (!is_object && value->kind != TORCH_JSON_ARRAY)
    {
      write_scalar (value, out);
      return;
    }
  g_string_append_c (out, is_object ? '{' : '[');
  for (guint i = 0; i < value->n; i++)
    {
      if (i > 0)
        g_string_append_c (out, ',');
      if (is_object)
        {
          write_string (value->values[i].key, out);
          g_string_append_c (out, ':');
        }
      gantry_torch_json_write (&value->values[i], out);
    }
  g_string_append_c (out, is_object ? '}' : ']');
}
