/* SPDX-License-Identifier: Apache-2.0 */
/* Literals of the text form: numbers for short ones, one number for a splat, a place in a file for
 * what is mapped from one, hexadecimal for the rest. */
#include "core/base/allocate.h"
#include "core/base/error.h"
#include "core/graph/text-private.h"
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

/* Of literals that are not to be read back, longer ones are written as "...". */
#define ELIDED_ELEMENTS 16

static void
print_element (GString *out, GantryElementType type, const guint8 *bytes)
{
  if (type == GANTRY_BOOL)
    g_string_append (out, *bytes != 0 ? "true" : "false");
  else if (gantry_element_is_float (type))
    _gantry_text_print_float (out, type, bytes);
  else if (type == GANTRY_U64)
    g_string_append_printf (out, "%" G_GUINT64_FORMAT, (guint64) gantry_element_read_int (type, bytes));
  else
    g_string_append_printf (out, "%" G_GINT64_FORMAT, gantry_element_read_int (type, bytes));
}

/* A bool that is neither 0 nor 1 has no number to be written as. */
static gboolean
has_numbers (const GantryLiteral *literal)
{
  if (literal->type->element == GANTRY_BOOL)
    for (gsize i = 0; i < literal->size; i++)
      if (literal->data[i] > 1)
        return FALSE;
  return TRUE;
}

static void
print_dense (GString *out, const GantryLiteral *literal)
{
  gsize step = gantry_element_size (literal->type->element);

  for (gsize i = 0; i < literal->size; i += step)
    {
      g_string_append (out, i > 0 ? ", " : "");
      print_element (out, literal->type->element, literal->data + i);
    }
}

static void
print_hex (GString *out, const GantryLiteral *literal)
{
  static const char digits[] = "0123456789abcdef";
  gsize start = out->len;

  g_string_set_size (out, start + 2 * literal->size);
  for (gsize i = 0; i < literal->size; i++)
    {
      out->str[start + 2 * i] = digits[literal->data[i] >> 4];
      out->str[start + 2 * i + 1] = digits[literal->data[i] & 15];
    }
}

void
_gantry_text_print_literal (GString *out, GantryContext *context, const GantryLiteral *literal, gboolean elide)
{
  gsize elements = literal->size / gantry_element_size (literal->type->element);
  gboolean elided = elide && elements > ELIDED_ELEMENTS;
  gboolean numbers = elided || (elements <= GANTRY_TEXT_INLINE_ELEMENTS && has_numbers (literal));
  gboolean file = !numbers && !literal->splat && literal->source_path != NULL;

  g_string_append (out, literal->splat ? "splat" : numbers ? "dense" : file ? "file" : "hex");
  g_string_append (out, literal->splat && !numbers ? "_hex<" : "<");
  _gantry_text_print_type (out, context, gantry_context_type_id (context, literal->type));
  g_string_append (out, ": ");
  if (elided)
    g_string_append (out, "...");
  else if (numbers)
    print_dense (out, literal);
  else if (file)
    {
      _gantry_text_print_string (out, literal->source_path);
      g_string_append_printf (out, ", %" G_GUINT64_FORMAT ", %" G_GSIZE_FORMAT, literal->source_offset, literal->size);
    }
  else
    print_hex (out, literal);
  g_string_append_c (out, '>');
}

char *
gantry_literal_to_text (GantryContext *context, const GantryLiteral *literal)
{
  GString *out = g_string_new (NULL);

  _gantry_text_print_literal (out, context, literal, FALSE);
  return g_string_free (out, FALSE);
}

/* Parsing */

static gboolean
read_int_element (GantryTextReader *reader, GantryElementType type, guint8 *bytes)
{
  guint bits = (guint) gantry_element_size (type) * 8;
  char buffer[64];
  const char *start;
  gint64 value = 0;
  guint64 magnitude = 0;
  gboolean good;

  _gantry_text_skip (reader);
  start = reader->at;
  if (!_gantry_text_number (reader, buffer, sizeof buffer))
    return FALSE;
  if (gantry_element_is_signed (type))
    good = g_ascii_string_to_signed (buffer, 10, G_MININT64 >> (64 - bits), G_MAXINT64 >> (64 - bits), &value, NULL);
  else
    {
      good = g_ascii_string_to_unsigned (buffer, 10, 0, G_MAXUINT64 >> (64 - bits), &magnitude, NULL);
      value = (gint64) magnitude;
    }
  if (!good)
    {
      reader->at = start;
      return _gantry_text_fail (reader, GANTRY_ERROR_INVALID, "expected a value of type %s, not '%s'", gantry_element_name (type), buffer);
    }
  gantry_element_write_int (type, bytes, value);
  return TRUE;
}

gboolean
_gantry_text_element (GantryTextReader *reader, GantryElementType type, guint8 *bytes)
{
  if (type != GANTRY_BOOL)
    return gantry_element_is_float (type) ? _gantry_text_float_bits (reader, type, bytes) : read_int_element (reader, type, bytes);
  *bytes = _gantry_text_accept_word (reader, "true");
  return *bytes != 0 || _gantry_text_accept_word (reader, "false") || _gantry_text_expected (reader, "true or false");
}

static GBytes *
read_dense (GantryTextReader *reader, const GantryType *type)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  gsize step = gantry_element_size (type->element);
  guint8 element[8];

  if (_gantry_text_peek (reader) == '>')
    return g_bytes_new (NULL, 0);
  do
    {
      if (bytes->len > G_MAXUINT / 2)
        {
          _gantry_text_fail (reader, GANTRY_ERROR_TOO_LARGE, "too many numbers in one literal: use hex or file");
          return NULL;
        }
      if (!_gantry_text_element (reader, type->element, element))
        return NULL;
      g_byte_array_append (bytes, element, (guint) step);
    }
  while (_gantry_text_accept (reader, ','));
  return g_byte_array_free_to_bytes (g_steal_pointer (&bytes));
}

static GBytes *
read_hex (GantryTextReader *reader)
{
  g_autoptr (GError) error = NULL;
  gsize length = 0;
  guint8 *bytes;

  _gantry_text_skip (reader);
  while (reader->at + length < reader->end && g_ascii_isxdigit (reader->at[length]))
    length++;
  if (length % 2 != 0)
    {
      _gantry_text_fail (reader, GANTRY_ERROR_INVALID, "expected an even number of hexadecimal digits");
      return NULL;
    }
  bytes = gantry_try_allocate (length / 2 + 1, 1, "the hexadecimal values of a constant", &error);
  if (bytes == NULL)
    {
      _gantry_text_fail (reader, GANTRY_ERROR_NO_MEMORY, "%s", error->message);
      return NULL;
    }
  for (gsize i = 0; i < length / 2; i++)
    bytes[i] = (guint8) (g_ascii_xdigit_value (reader->at[2 * i]) * 16 + g_ascii_xdigit_value (reader->at[2 * i + 1]));
  reader->at += length;
  return g_bytes_new_take (bytes, length / 2);
}

/* One mapping for each file; only of regular files, since opening others may block or have effects. */
static GMappedFile *
map_file (GantryTextReader *reader, const char *path)
{
  GMappedFile *file = g_hash_table_lookup (reader->files, path);
  g_autoptr (GError) error = NULL;

  if (file != NULL)
    return file;
  file = reader->beside != NULL ? gantry_file_map_beside (path, reader->beside, FALSE, &error) : gantry_file_map (path, &error);
  if (file == NULL)
    {
      gboolean outside = g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_OUTSIDE);

      _gantry_text_fail (reader, outside ? GANTRY_ERROR_OUTSIDE : GANTRY_ERROR_INVALID, "%s", error->message);
      return NULL;
    }
  g_hash_table_insert (reader->files, g_strdup (path), file);
  return file;
}

static GBytes *
read_file (GantryTextReader *reader, char **path, guint64 *offset)
{
  g_autoptr (GString) name = g_string_new (NULL);
  g_autoptr (GBytes) all = NULL;
  GMappedFile *file;
  guint64 length;

  if (!_gantry_text_string (reader, name) || !_gantry_text_expect (reader, ',', "',' and the offset")
      || !_gantry_text_unsigned (reader, G_MAXINT64, "an offset in bytes", offset) || !_gantry_text_expect (reader, ',', "',' and the length")
      || !_gantry_text_unsigned (reader, G_MAXINT64, "a length in bytes", &length))
    return NULL;
  file = map_file (reader, name->str);
  if (file == NULL)
    return NULL;
  if (*offset > g_mapped_file_get_length (file) || length > g_mapped_file_get_length (file) - *offset)
    {
      _gantry_text_fail (reader, GANTRY_ERROR_TRUNCATED, "the file '%s' has %" G_GSIZE_FORMAT " bytes, too few for %" G_GUINT64_FORMAT " at %" G_GUINT64_FORMAT,
                         name->str, g_mapped_file_get_length (file), length, *offset);
      return NULL;
    }
  *path = g_strdup (name->str);
  all = g_mapped_file_get_bytes (file);
  return g_bytes_new_from_bytes (all, *offset, length);
}

typedef enum
{
  FORM_DENSE,
  FORM_SPLAT,
  FORM_HEX,
  FORM_SPLAT_HEX,
  FORM_FILE,
  N_FORMS
} Form;

static const char *const form_names[N_FORMS] = { "dense", "splat", "hex", "splat_hex", "file" };

static Form
form_of (GantryTextReader *reader)
{
  guint form = 0;

  while (form < N_FORMS && !_gantry_text_accept_word (reader, form_names[form]))
    form++;
  return form;
}

gboolean
_gantry_text_at_literal (GantryTextReader *reader)
{
  const char *start;
  gboolean found;

  _gantry_text_skip (reader);
  start = reader->at;
  found = form_of (reader) != N_FORMS;
  reader->at = start;
  return found;
}

static GBytes *
read_bytes (GantryTextReader *reader, Form form, const GantryType *type, char **path, guint64 *offset)
{
  switch (form)
    {
    case FORM_FILE: return read_file (reader, path, offset);
    case FORM_HEX:
    case FORM_SPLAT_HEX: return read_hex (reader);
    default: return read_dense (reader, type);
    }
}

gboolean
_gantry_text_literal (GantryTextReader *reader, guint32 *id)
{
  Form form = form_of (reader);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GantryLiteral) literal = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  const GantryType *type;
  guint64 offset = 0;
  guint32 type_id;

  if (form == N_FORMS)
    return _gantry_text_expected (reader, "a literal: dense, splat, hex, splat_hex or file");
  if (!_gantry_text_expect (reader, '<', "'<' and the type of the literal") || !_gantry_text_type (reader, &type_id))
    return FALSE;
  type = gantry_context_type (reader->context, type_id);
  if (gantry_type_bytes (type) < 0)
    return _gantry_text_fail (reader, GANTRY_ERROR_INVALID, "a literal is a tensor of a compiled element type and numbers as dimensions");
  if (!_gantry_text_expect (reader, ':', "':' and the value") || (bytes = read_bytes (reader, form, type, &path, &offset)) == NULL
      || !_gantry_text_expect (reader, '>', "',' or '>' in a literal"))
    return FALSE;
  literal = gantry_literal_new (type, bytes, form == FORM_SPLAT || form == FORM_SPLAT_HEX, &error);
  if (literal == NULL)
    return _gantry_text_fail (reader, GANTRY_ERROR_INVALID, "%s", error->message);
  literal->mapped = path != NULL;
  literal->source_path = g_steal_pointer (&path);
  literal->source_offset = offset;
  *id = gantry_context_add_literal (reader->context, literal);
  return TRUE;
}
