/* SPDX-License-Identifier: Apache-2.0 */
/* Strings, floating point numbers and types of the text form, printed and parsed. A float is written
 * with the fewest digits that the parser reads back to the same bits, NaN with its bits. */
#include "core/graph/text-private.h"
#include "core/base/error.h"
#include <math.h>
#include <string.h>

/* Strings */

void
_gantry_text_print_string (GString *out, const char *text)
{
  g_string_append_c (out, '"');
  for (const char *p = text; *p != '\0';)
    {
      gunichar c = g_utf8_get_char_validated (p, -1);

      if (*p == '"' || *p == '\\')
        g_string_append_printf (out, "\\%c", *p++);
      else if (*p == '\n' || *p == '\t')
        g_string_append (out, *p++ == '\n' ? "\\n" : "\\t");
      else if ((guint8) *p < 32 || *p == 127 || c == (gunichar) -1 || c == (gunichar) -2)
        g_string_append_printf (out, "\\x%02x", (guint8) *p++);
      else
        {
          g_string_append_len (out, p, g_utf8_next_char (p) - p);
          p = g_utf8_next_char (p);
        }
    }
  g_string_append_c (out, '"');
}

static gboolean
is_word (const char *text)
{
  if (!g_ascii_isalpha (*text) && *text != '_')
    return FALSE;
  while (g_ascii_isalnum (*text) || *text == '_' || *text == '.')
    text++;
  return *text == '\0';
}

void
_gantry_text_print_name (GString *out, const char *text)
{
  if (is_word (text))
    g_string_append (out, text);
  else
    _gantry_text_print_string (out, text);
}

/* Floats */

static guint64
bits_of (GantryElementType type, const guint8 *bytes)
{
  guint64 bits = 0;

  memcpy (&bits, bytes, gantry_element_size (type)); /* literals are little endian, as is every machine we run on */
  return bits;
}

static guint64
quiet_nan (GantryElementType type)
{
  switch (type)
    {
    case GANTRY_F16: return 0x7e00;
    case GANTRY_BF16: return 0x7fc0;
    case GANTRY_F32: return 0x7fc00000;
    default: return G_GUINT64_CONSTANT (0x7ff8000000000000);
    }
}

void
_gantry_text_print_float (GString *out, GantryElementType type, const guint8 *bytes)
{
  double value = gantry_element_read_double (type, bytes);
  guint64 bits = bits_of (type, bytes);
  int digits = type == GANTRY_F64 ? 15 : type == GANTRY_F32 ? 6 : 3;
  guint8 again[8] = { 0 };
  char format[8];
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (isnan (value) && bits == quiet_nan (type))
    g_string_append (out, "nan");
  else if (isnan (value))
    g_string_append_printf (out, "nan(0x%" G_GINT64_MODIFIER "x)", bits);
  else if (isinf (value))
    g_string_append (out, value > 0 ? "inf" : "-inf");
  else
    {
      do
        {
          g_snprintf (format, sizeof format, "%%.%dg", digits);
          g_ascii_formatd (text, sizeof text, format, value);
          gantry_element_write_double (type, again, g_ascii_strtod (text, NULL));
        }
      while (bits_of (type, again) != bits && ++digits <= 17);
      g_string_append (out, text);
      if (strpbrk (text, ".e") == NULL)
        g_string_append (out, ".0");
    }
}

void
_gantry_text_print_double (GString *out, double value)
{
  guint8 bytes[8];

  memcpy (bytes, &value, sizeof bytes);
  _gantry_text_print_float (out, GANTRY_F64, bytes);
}

static gboolean
read_nan (GantryTextReader *reader, GantryElementType type, guint8 *bytes)
{
  guint64 bits = quiet_nan (type);
  gsize size = gantry_element_size (type);
  guint64 limit = G_MAXUINT64 >> (64 - 8 * size);
  char buffer[64];

  if (reader->at < reader->end && *reader->at == '(')
    {
      reader->at++;
      if (!_gantry_text_number (reader, buffer, sizeof buffer))
        return FALSE;
      if (strncmp (buffer, "0x", 2) != 0 || !g_ascii_string_to_unsigned (buffer + 2, 16, 0, limit, &bits, NULL))
        return _gantry_text_fail (reader, GANTRY_ERROR_INVALID, "expected the bits of a NaN as 0x..., not '%s'", buffer);
      if (!_gantry_text_expect (reader, ')', "')' after the bits of a NaN"))
        return FALSE;
    }
  memcpy (bytes, &bits, size);
  if (!isnan (gantry_element_read_double (type, bytes)))
    return _gantry_text_fail (reader, GANTRY_ERROR_INVALID, "expected the bits of a NaN, not those of a number");
  return TRUE;
}

gboolean
_gantry_text_float_bits (GantryTextReader *reader, GantryElementType type, guint8 *bytes)
{
  char buffer[64];
  const char *start;
  char *end;
  double value;

  if (_gantry_text_accept_word (reader, "nan"))
    return read_nan (reader, type, bytes);
  _gantry_text_skip (reader);
  start = reader->at;
  if (!_gantry_text_number (reader, buffer, sizeof buffer))
    return FALSE;
  value = g_ascii_strtod (buffer, &end);
  if (*end != '\0' || isnan (value) || buffer[0] == '+' || strpbrk (buffer, "xXpP") != NULL)
    {
      reader->at = start;
      return _gantry_text_expected (reader, "a number, inf, -inf or nan");
    }
  gantry_element_write_double (type, bytes, value);
  return TRUE;
}

gboolean
_gantry_text_double (GantryTextReader *reader, double *value)
{
  guint8 bytes[8];

  if (!_gantry_text_float_bits (reader, GANTRY_F64, bytes))
    return FALSE;
  memcpy (value, bytes, sizeof *value);
  return TRUE;
}

/* Types */

static void
print_tensor (GString *out, GantryContext *context, const GantryType *type)
{
  g_string_append (out, gantry_element_name (type->element));
  for (guint i = 0; i < type->rank; i++)
    {
      g_string_append_c (out, i == 0 ? '[' : ',');
      if (GANTRY_DIM_IS_STATIC (type->dims[i]))
        g_string_append_printf (out, "%" G_GINT64_FORMAT, type->dims[i]);
      else if (type->dims[i] == GANTRY_DIM_UNKNOWN)
        g_string_append_c (out, '?');
      else
        _gantry_text_print_name (out, gantry_context_string (context, GANTRY_DIM_SYMBOL_ID (type->dims[i])));
    }
  g_string_append (out, type->rank == 0 ? "[]" : "]");
  if (type->memory != GANTRY_MEMORY_DEVICE)
    g_string_append_printf (out, "@%s", gantry_memory_kind_name (type->memory));
}

void
_gantry_text_print_type (GString *out, GantryContext *context, guint32 id)
{
  const GantryType *type = gantry_context_type (context, id);

  switch ((GantryTypeKind) type->kind)
    {
    case GANTRY_TYPE_UNKNOWN: g_string_append_c (out, '?'); break;
    case GANTRY_TYPE_TOKEN: g_string_append (out, "token"); break;
    case GANTRY_TYPE_TENSOR: print_tensor (out, context, type); break;
    case GANTRY_TYPE_TUPLE:
      g_string_append_c (out, '(');
      for (guint i = 0; i < type->rank; i++)
        {
          g_string_append (out, i > 0 ? ", " : "");
          _gantry_text_print_type (out, context, (guint32) type->dims[i]);
        }
      g_string_append_c (out, ')');
      break;
    }
}

static gboolean
read_dim (GantryTextReader *reader, GantryDim *dim)
{
  const char *word;
  gsize length;
  guint64 value;
  guint32 id;

  if (_gantry_text_accept (reader, '?'))
    *dim = GANTRY_DIM_UNKNOWN;
  else if (_gantry_text_peek (reader) == '"')
    {
      if (!_gantry_text_interned (reader, &id))
        return FALSE;
      *dim = GANTRY_DIM_SYMBOL (id);
    }
  else if ((length = _gantry_text_word (reader, &word)) > 0)
    *dim = GANTRY_DIM_SYMBOL (gantry_context_intern_len (reader->context, word, length));
  else if (_gantry_text_unsigned (reader, G_MAXINT64, "a dimension: ?, a name or a number", &value))
    *dim = (GantryDim) value;
  else
    return FALSE;
  return TRUE;
}

static gboolean
read_memory (GantryTextReader *reader, GantryMemoryKind *memory)
{
  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    if (_gantry_text_accept_word (reader, gantry_memory_kind_name (kind)))
      {
        *memory = kind;
        return TRUE;
      }
  return _gantry_text_expected (reader, "device, pinned_host or unpinned_host after '@'");
}

static gboolean
read_tensor (GantryTextReader *reader, guint32 *id)
{
  GantryDim dims[GANTRY_MAX_RANK];
  GantryMemoryKind memory = GANTRY_MEMORY_DEVICE;
  GantryElementType element = GANTRY_ELEMENT_NONE;
  guint rank = 0;

  for (guint i = 0; i < GANTRY_N_ELEMENT_TYPES; i++)
    if (_gantry_text_accept_word (reader, gantry_element_name (i)))
      {
        element = i;
        break;
      }
    else if (i == GANTRY_N_ELEMENT_TYPES - 1)
      return _gantry_text_expected (reader, "a type: an element type with [...], a tuple (...), token or ?");
  if (!_gantry_text_expect (reader, '[', "'[' after an element type"))
    return FALSE;
  if (!_gantry_text_accept (reader, ']'))
    {
      do
        {
          if (rank == GANTRY_MAX_RANK)
            return _gantry_text_fail (reader, GANTRY_ERROR_TOO_LARGE, "a tensor has at most %d dimensions", GANTRY_MAX_RANK);
          if (!read_dim (reader, &dims[rank++]))
            return FALSE;
        }
      while (_gantry_text_accept (reader, ','));
      if (!_gantry_text_expect (reader, ']', "',' or ']' after a dimension"))
        return FALSE;
    }
  if (!gantry_dims_fit (rank, dims, NULL))
    return _gantry_text_fail (reader, GANTRY_ERROR_TOO_LARGE,
                              "the dimensions of a tensor multiply to more than any memory"
                              " holds");
  if (_gantry_text_accept (reader, '@') && !read_memory (reader, &memory))
    return FALSE;
  *id = gantry_context_tensor_in (reader->context, element, rank, dims, memory);
  return TRUE;
}

/* Adds @id to the innermost open tuple and closes what ends here. Returns: FALSE on error; *@id is what is
 * complete and *@more whether a further member follows. */
static gboolean
close_tuples (GantryTextReader *reader, GPtrArray *stack, guint32 *id, gboolean *more)
{
  *more = FALSE;
  while (stack->len > 0)
    {
      GArray *members = g_ptr_array_index (stack, stack->len - 1);

      g_array_append_val (members, *id);
      if (_gantry_text_accept (reader, ','))
        {
          *more = TRUE;
          return TRUE;
        }
      if (!_gantry_text_expect (reader, ')', "',' or ')' in a tuple type"))
        return FALSE;
      *id = gantry_context_tuple (reader->context, members->len, (const guint32 *) (gpointer) members->data);
      g_ptr_array_set_size (stack, (gint) stack->len - 1);
    }
  return TRUE;
}

gboolean
_gantry_text_type (GantryTextReader *reader, guint32 *id)
{
  g_autoptr (GPtrArray) stack = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  gboolean more = TRUE;

  while (more)
    {
      if (_gantry_text_accept (reader, '('))
        {
          if (stack->len == GANTRY_TEXT_MAX_NESTING)
            return _gantry_text_fail (reader, GANTRY_ERROR_TOO_LARGE, "tuple types nest deeper than %d", GANTRY_TEXT_MAX_NESTING);
          if (!_gantry_text_accept (reader, ')'))
            {
              g_ptr_array_add (stack, g_array_new (FALSE, FALSE, sizeof (guint32)));
              continue;
            }
          *id = gantry_context_tuple (reader->context, 0, NULL);
        }
      else if (_gantry_text_accept (reader, '?'))
        *id = 0;
      else if (_gantry_text_accept_word (reader, "token"))
        *id = gantry_context_token (reader->context);
      else if (!read_tensor (reader, id))
        return FALSE;
      if (!close_tuples (reader, stack, id, &more))
        return FALSE;
    }
  return TRUE;
}
