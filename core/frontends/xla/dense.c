/* SPDX-License-Identifier: Apache-2.0 */
/* Values of constants: nested lists, splats, and bytes in hexadecimal as MLIR writes large ones. */
#include "core/base/allocate.h"
#include "core/frontends/xla/xla-private.h"
#include <math.h>

typedef struct
{
  GantryElementType element;
  gsize size;
  guint8 *data;
  gint64 n, room;
} Values;

static gboolean
read_word (GantryXlaSpan word, double *value)
{
  if (gantry_xla_span_is (word, "true"))
    *value = 1;
  else if (gantry_xla_span_is (word, "false"))
    *value = 0;
  else if (gantry_xla_span_is (word, "inf"))
    *value = INFINITY;
  else if (gantry_xla_span_is (word, "-inf"))
    *value = -INFINITY;
  else if (gantry_xla_span_is (word, "nan") || gantry_xla_span_is (word, "-nan"))
    *value = NAN;
  else
    return FALSE;
  return TRUE;
}

static guint64
most_bits (GantryElementType element)
{
  return G_MAXUINT64 >> (64 - 8 * gantry_element_size (element));
}

/* In base 10 unless it begins with 0x. A type with sign takes what fits in its bits either way, as MLIR does: 255 of
 * eight bits is -1. */
static gboolean
read_integer (const char *text, gboolean hexadecimal, GantryElementType element, guint8 *at)
{
  gboolean negative = text[0] == '-', is_bool = element == GANTRY_BOOL;
  const char *digits = text + negative;
  guint64 most = is_bool ? 1 : most_bits (element), value;
  char *end;

  if (negative)
    most = is_bool ? 1 : gantry_element_is_signed (element) ? most / 2 + 1 : 0;
  if (!g_ascii_isdigit (*digits))
    return FALSE;
  value = g_ascii_strtoull (digits, &end, hexadecimal ? 16 : 10);
  if (*end != 0 || errno != 0 || value > most)
    return FALSE;
  gantry_element_write_int (element, at, (gint64) (negative ? 0 - value : value));
  return TRUE;
}

/* One number; "0x7F800000" is the bits of a float and the value of an integer. */
static gboolean
read_element (GantryXlaSpan word, GantryElementType element, guint8 *at)
{
  char text[72];
  char *end;
  double value;
  gboolean hexadecimal = word.length > 2 && word.at[0] == '0' && (word.at[1] == 'x' || word.at[1] == 'X');

  if (word.length == 0 || word.length >= sizeof text)
    return FALSE;
  if (read_word (word, &value))
    {
      gantry_element_write_double (element, at, value);
      return TRUE;
    }
  memcpy (text, word.at, word.length);
  text[word.length] = 0;
  errno = 0;
  if (hexadecimal && gantry_element_is_float (element))
    {
      guint64 bits = g_ascii_strtoull (text, &end, 16);

      if (errno != 0 || bits > most_bits (element))
        return FALSE;
      memcpy (at, &bits, gantry_element_size (element)); /* little endian */
    }
  else if (gantry_element_is_float (element))
    gantry_element_write_double (element, at, g_ascii_strtod (text, &end));
  else
    return read_integer (text, hexadecimal, element, at);
  return *end == 0 && end != text;
}

/* To a place before @at, which an error names. */
static void
go_back (GantryXlaScan *s, const char *to)
{
  if (s->error != NULL || to < s->text || to > s->at)
    return;
  for (; s->at > to; s->at--)
    s->line -= s->at[-1] == '\n';
  for (s->line_start = to; s->line_start > s->text && s->line_start[-1] != '\n'; s->line_start--)
    ;
}

static gboolean
read_list (GantryXlaScan *s, Values *v, GantryXlaSpan content)
{
  const char *at = content.at, *end = content.at + content.length;

  while (at < end)
    {
      GantryXlaSpan word = { at, 0 };

      if (g_ascii_isspace (*at) || strchr ("[]{},", *at) != NULL)
        {
          at++;
          continue;
        }
      if (*at == '/' && end - at > 1 && at[1] == '*')
        {
          const char *close = g_strstr_len (at, end - at, "*/");

          at = close != NULL ? close + 2 : end;
          continue;
        }
      while (at < end && !g_ascii_isspace (*at) && strchr ("[]{},", *at) == NULL)
        at++;
      word.length = (gsize) (at - word.at);
      if (v->n >= v->room)
        {
          gantry_xla_scan_fail (s, GANTRY_ERROR_INVALID, "a constant has more values than its type");
          return FALSE;
        }
      if (!read_element (word, v->element, v->data + (gsize) v->n * v->size))
        {
          g_autofree char *text = g_strndup (word.at, MIN (word.length, 40));
          g_autofree char *shown = g_utf8_make_valid (text, -1);

          go_back (s, word.at);
          gantry_xla_scan_fail (s, GANTRY_ERROR_INVALID, "'%s' is no value of a constant of %s", shown, gantry_element_name (v->element));
          return FALSE;
        }
      v->n++;
    }
  return TRUE;
}

/* Bools lie eight in a byte. One element alone stands for all. */
static gboolean
take_bytes (Values *v, const guint8 *bytes, gint64 n)
{
  gboolean bits = v->element == GANTRY_BOOL && n == (v->room + 7) / 8;
  gboolean all = v->element == GANTRY_BOOL && n == 1 && !bits;

  if (!bits && !all && n != v->room * (gint64) v->size && n != (gint64) v->size)
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    if (bits || all)
      for (gint64 j = 8 * i; j < MIN (8 * i + 8, v->room); j++)
        v->data[j] = bytes[i] >> (j % 8) & 1;
    else if (i < v->room * (gint64) v->size)
      v->data[i] = bytes[i];
  v->n = bits ? v->room : n / (gint64) v->size;
  return TRUE;
}

static gboolean
read_bytes (Values *v, GantryXlaSpan digits)
{
  gint64 n = (gint64) digits.length / 2;
  g_autofree guint8 *bytes = g_try_malloc ((gsize) n + 1);

  for (gint64 i = 0; bytes != NULL && i < n; i++)
    {
      int high = g_ascii_xdigit_value (digits.at[2 * i]), low = g_ascii_xdigit_value (digits.at[2 * i + 1]);

      if (high < 0 || low < 0)
        return FALSE;
      bytes[i] = (guint8) (high * 16 + low);
    }
  return bytes != NULL && take_bytes (v, bytes, n);
}

static GantryLiteral *
to_literal (GantryXlaScan *s, const Values *v, const GantryType *type)
{
  gboolean dense = gantry_type_elements (type) == v->n;
  g_autoptr (GBytes) owner = NULL;

  if (!dense && v->n != 1)
    {
      gantry_xla_scan_fail (s, GANTRY_ERROR_INVALID, "a constant has %" G_GINT64_FORMAT " values, and its type %" G_GINT64_FORMAT, v->n,
                            gantry_type_elements (type));
      return NULL;
    }
  owner = g_bytes_new (v->data, dense ? (gsize) gantry_type_bytes (type) : v->size);
  return gantry_literal_new (type, owner, !dense, &s->error);
}

static GantryLiteral *
read_content (GantryXlaScan *s, Values *v, GantryXlaSpan content, const GantryType *type)
{
  g_autofree guint8 *data = NULL;
  /* What has fewer values than the type is one that stands for all, and takes no more memory than that. */
  gboolean one = content.length > 0 && content.at[0] != '[' && content.at[0] != '{' && content.at[0] != '"';
  gboolean good;

  /* No text is shorter than a character for each value. */
  v->room = one ? 1 : gantry_type_elements (type);
  if (!one && content.length > 0 && content.at[0] == '"' && content.length / 2 < (gsize) v->room / 8)
    v->room = 1;
  else if (!one && content.at != NULL && content.length > 0 && content.at[0] != '"' && content.length < (gsize) v->room)
    {
      gantry_xla_scan_fail (s, GANTRY_ERROR_INVALID, "a constant has fewer values than its type");
      return NULL;
    }
  data = v->data = gantry_try_allocate ((gsize) MAX (v->room, 1), v->size, "the values of a constant", &s->error);
  if (data == NULL)
    {
      s->at = s->end;
      return NULL;
    }
  if (content.length > 3 && content.at[0] == '"' && content.at[1] == '0' && content.at[2] == 'x')
    good = read_bytes (v, (GantryXlaSpan){ content.at + 3, content.length - 4 });
  else
    good = read_list (s, v, content);
  if (!good)
    v->n = v->n == 1 ? 0 : v->n;
  return to_literal (s, v, type);
}

guint32
gantry_xla_literal (GantryXlaScan *s, GantryContext *context, GantryXlaSpan content, guint32 type)
{
  const GantryType *t = gantry_context_type (context, type);
  Values values = { .element = (GantryElementType) t->element };
  g_autoptr (GantryLiteral) literal = NULL;

  if (s->error != NULL || !gantry_type_is_static (t) || !gantry_element_is_compiled (values.element) || gantry_type_bytes (t) < 0)
    return 0;
  values.size = gantry_element_size (values.element);
  while (content.length > 0 && g_ascii_isspace (*content.at))
    content.at++, content.length--;
  literal = read_content (s, &values, content, t);
  return literal != NULL ? gantry_context_add_literal (context, literal) : 0;
}

guint32
gantry_xla_literal_bytes (GantryXlaScan *s, GantryContext *context, const guint8 *bytes, gsize length, guint32 type)
{
  const GantryType *t = gantry_context_type (context, type);
  Values v = { .element = (GantryElementType) t->element };
  g_autoptr (GantryLiteral) literal = NULL;
  g_autofree guint8 *data = NULL;

  if (s->error != NULL || t->kind != GANTRY_TYPE_TENSOR || !gantry_type_is_static (t) || !gantry_element_is_compiled (v.element) || gantry_type_bytes (t) < 0)
    return 0;
  v.size = gantry_element_size (v.element);
  v.room = gantry_type_elements (t);
  /* Fewer bytes than a bit for each are those of one that stands for all. */
  if (length < (gsize) v.room / 8)
    v.room = 1;
  data = v.data = gantry_try_allocate ((gsize) MAX (v.room, 1), v.size, "the values of a constant", &s->error);
  if (data == NULL)
    {
      s->at = s->end;
      return 0;
    }
  if (v.element == GANTRY_BOOL && v.room > 1 && length == (gsize) v.room)
    {
      for (gint64 i = 0; i < v.room; i++)
        v.data[i] = bytes[i] != 0; /* a byte each */
      v.n = v.room;
    }
  else if (v.element == GANTRY_BOOL && length == 1 && bytes[0] == 1)
    {
      v.data[0] = 1; /* not all bits: of a byte each, one that stands for all */
      v.n = 1;
    }
  else
    take_bytes (&v, bytes, (gint64) length);
  literal = to_literal (s, &v, t);
  if (s->error != NULL)
    s->at = s->end;
  return literal != NULL ? gantry_context_add_literal (context, literal) : 0;
}
