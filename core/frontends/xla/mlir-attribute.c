/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of MLIR. What Gantry can use becomes a number, a list, a string, a type or a literal; everything else
 * stays as the text that it is. A dictionary within a dictionary is kept as text, and its entries under
 * "outer.inner" too; dimension numbers (#stablehlo.gather<...>) become attributes of the operation. */
#include "core/frontends/xla/mlir-private.h"

/* Texts of attributes that nobody interprets are for reading. */
#define MOST_TEXT 4096

static void
set_text (GantryAttrList *list, const char *key, GantryXlaSpan span)
{
  g_autofree char *text = g_strndup (span.at, MIN (span.length, MOST_TEXT));
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  gantry_attr_list_set_string (list, key, valid);
}

static void
set_ints (GantryAttrList *list, const char *key, const GArray *ints)
{
  gantry_attr_list_set_ints (list, key, (const gint64 *) ints->data, ints->len);
}

/* Where the type of a number is said, it is not kept. */
static void
skip_type (Mlir *m)
{
  GantryXlaScan before = m->s;

  if (!gantry_xla_scan_accept (&m->s, ":"))
    return;
  /* The types of operands and results follow an attribute in the pretty form; a number is of a scalar type. */
  if (g_ascii_isalpha (gantry_xla_scan_peek (&m->s)) && !gantry_xla_scan_sees (&m->s, "tensor") && !gantry_xla_scan_sees (&m->s, "tuple"))
    gantry_mlir_type (m);
  else
    m->s = before;
}

gboolean
gantry_mlir_ints (Mlir *m, GArray *ints)
{
  GantryXlaScan before = m->s;

  if (!gantry_xla_scan_accept (&m->s, "["))
    return FALSE;
  while (!gantry_xla_scan_sees (&m->s, "]"))
    {
      char c = gantry_xla_scan_peek (&m->s);
      gint64 value;

      if (!g_ascii_isdigit (c) && c != '-')
        break;
      value = gantry_xla_scan_int (&m->s);
      g_array_append_val (ints, value);
      skip_type (m);
      if (!gantry_xla_scan_accept (&m->s, ","))
        break;
    }
  if (m->s.error == NULL && gantry_xla_scan_accept (&m->s, "]"))
    return TRUE;
  g_clear_error (&m->s.error);
  m->s = before;
  g_array_set_size (ints, 0);
  return FALSE;
}

static void
number (Mlir *m, GantryAttrList *list, const char *key)
{
  GantryXlaSpan span = { m->s.at, 0 };
  g_autofree char *text = NULL;
  char *end;

  while (m->s.at < m->s.end && (g_ascii_isalnum (*m->s.at) || strchr ("+-.", *m->s.at) != NULL) && *m->s.at != 0)
    m->s.at++;
  span.length = (gsize) (m->s.at - span.at);
  text = g_strndup (span.at, MIN (span.length, 64));
  if (strpbrk (text, ".eE") != NULL && !g_str_has_prefix (text, "0x"))
    gantry_attr_list_set_float (list, key, g_ascii_strtod (text, &end));
  else
    gantry_attr_list_set_int (list, key, g_ascii_strtoll (text, &end, g_str_has_prefix (text, "0x") ? 16 : 10));
  if (end == text)
    gantry_xla_scan_fail (&m->s, GANTRY_ERROR_INVALID, "a number is expected");
  skip_type (m);
}

/* array<i64: 1, 2> */
static void
array (Mlir *m, GantryAttrList *list, const char *key)
{
  g_autoptr (GArray) ints = g_array_new (FALSE, FALSE, sizeof (gint64));
  GantryXlaScan *s = &m->s;
  GantryXlaSpan span = gantry_xla_scan_bracket (s);
  GantryXlaScan inside = *s;
  const char *colon = memchr (span.at, ':', span.length);
  gboolean whole = TRUE;

  inside.error = NULL; /* each scan has an error of its own */
  inside.at = colon != NULL ? colon + 1 : span.at + span.length;
  inside.end = span.at + span.length;
  while (inside.error == NULL && gantry_xla_scan_peek (&inside) != 0)
    {
      gint64 value;

      if (gantry_xla_scan_accept (&inside, "true"))
        value = 1;
      else if (gantry_xla_scan_accept (&inside, "false"))
        value = 0;
      else
        value = gantry_xla_scan_int (&inside);
      whole = whole && inside.error == NULL && (inside.at == inside.end || strchr (", \n", *inside.at) != NULL);
      g_array_append_val (ints, value);
      if (!gantry_xla_scan_accept (&inside, ","))
        break;
    }
  g_clear_error (&inside.error);
  if (whole)
    set_ints (list, key, ints);
  else
    set_text (list, key, span);
}

/* Small whole numbers are what operations are described by. */
void
gantry_mlir_set_dense (Mlir *m, GantryAttrList *list, const char *key, guint32 id)
{
  const GantryLiteral *literal = gantry_context_literal (m->context, id);
  g_autoptr (GArray) ints = NULL;
  gint64 n = gantry_type_elements (literal->type);

  if (!(gantry_element_is_integer ((GantryElementType) literal->type->element) || literal->type->element == GANTRY_BOOL) || n > 4096 || literal->type->rank == 0
      || strcmp (key, "value") == 0)
    {
      gantry_attr_list_set_literal (list, key, id);
      return;
    }
  ints = g_array_new (FALSE, FALSE, sizeof (gint64));
  for (gint64 i = 0; i < n; i++)
    {
      gint64 value = gantry_literal_get_int (literal, i);

      g_array_append_val (ints, value);
    }
  set_ints (list, key, ints);
}

static void
dense (Mlir *m, GantryAttrList *list, const char *key, guint32 *literal)
{
  GantryXlaSpan content = gantry_xla_scan_bracket (&m->s);
  guint32 type, id;

  if (!gantry_xla_scan_expect (&m->s, ":"))
    return;
  type = gantry_mlir_type (m);
  if (literal != NULL)
    m->dense_type = type;
  id = gantry_xla_literal (&m->s, m->context, content, type);
  if (id == 0)
    {
      set_text (list, key, content);
      return;
    }
  if (literal != NULL)
    *literal = id;
  gantry_mlir_set_dense (m, list, key, id);
}

/* #stablehlo<comparison_direction LT>, #stablehlo.gather<offset_dims = [0]>, #stablehlo.conv<[b, f]x...>, #alias. */
static void
dialect_attribute (Mlir *m, GantryAttrList *list, const char *key)
{
  GantryXlaScan *s = &m->s;
  const char *start = s->at++;
  GantryXlaSpan name = gantry_xla_scan_suffix (s), inside, last;
  GantryXlaScan again;

  if (gantry_xla_scan_ahead (s, 0) != '<')
    {
      set_text (list, key, (GantryXlaSpan){ start, (gsize) (s->at - start) });
      return;
    }
  again = *s;
  inside = gantry_xla_scan_bracket (s);
  if (gantry_xla_span_is (name, "stablehlo.gather") || gantry_xla_span_is (name, "stablehlo.scatter") || gantry_xla_span_is (name, "stablehlo.dot")
      || gantry_xla_span_is (name, "mhlo.gather") || gantry_xla_span_is (name, "mhlo.scatter") || gantry_xla_span_is (name, "mhlo.dot"))
    {
      *s = again;
      s->at++;
      gantry_mlir_dictionary (m, list, NULL, '>', NULL);
      return;
    }
  if (g_str_has_suffix (key, "dimension_numbers") && inside.length > 0 && *inside.at == '[')
    {
      set_text (list, "dim_numbers", inside);
      return;
    }
  /* "comparison_direction LT" */
  last = inside;
  for (gsize i = 0; i < inside.length; i++)
    if (inside.at[i] == ' ')
      last = (GantryXlaSpan){ inside.at + i + 1, inside.length - i - 1 };
  if (gantry_xla_span_is (name, "stablehlo") || gantry_xla_span_is (name, "mhlo") || gantry_xla_span_is (name, "chlo"))
    set_text (list, key, last);
  else
    set_text (list, key, (GantryXlaSpan){ start, (gsize) (s->at - start) });
}

static void
nested (Mlir *m, GantryAttrList *list, const char *key)
{
  GantryXlaScan before = m->s;
  GantryXlaSpan span = gantry_xla_scan_bracket (&m->s);

  set_text (list, key, (GantryXlaSpan){ span.at - 1, span.length + 2 });
  if (m->s.error != NULL)
    return;
  m->s = before;
  gantry_xla_scan_expect (&m->s, "{");
  gantry_mlir_dictionary (m, list, key, '}', NULL);
}

static void
word (Mlir *m, GantryAttrList *list, const char *key, guint32 *literal)
{
  GantryXlaScan before = m->s;
  GantryXlaSpan name = gantry_xla_scan_word (&m->s, FALSE);
  guint32 type;

  if (gantry_xla_span_is (name, "true") || gantry_xla_span_is (name, "unit"))
    gantry_attr_list_set_int (list, key, 1);
  else if (gantry_xla_span_is (name, "false"))
    gantry_attr_list_set_int (list, key, 0);
  else if (gantry_xla_span_is (name, "array") && gantry_xla_scan_ahead (&m->s, 0) == '<')
    array (m, list, key);
  else if (gantry_xla_span_is (name, "dense") && gantry_xla_scan_ahead (&m->s, 0) == '<')
    dense (m, list, key, literal);
  else if (gantry_xla_span_is (name, "tensor"))
    {
      m->s = before;
      type = gantry_mlir_type (m);
      if (type != 0)
        gantry_attr_list_set_type (list, key, type);
    }
  else
    {
      if (gantry_xla_scan_ahead (&m->s, 0) == '<')
        gantry_xla_scan_bracket (&m->s);
      set_text (list, key, (GantryXlaSpan){ name.at, (gsize) (m->s.at - name.at) });
      skip_type (m);
    }
}

static void
attribute_inside (Mlir *m, GantryAttrList *list, const char *key, guint32 *literal)
{
  g_autoptr (GArray) ints = g_array_new (FALSE, FALSE, sizeof (gint64));
  char c = gantry_xla_scan_peek (&m->s);

  if (c == '"')
    {
      g_autofree char *text = gantry_xla_scan_string (&m->s);

      gantry_attr_list_set_string (list, key, text != NULL ? text : "");
      skip_type (m);
    }
  else if (g_ascii_isdigit (c) || (c == '-' && g_ascii_isdigit (gantry_xla_scan_ahead (&m->s, 1))))
    number (m, list, key);
  else if (c == '@')
    {
      m->s.at++;
      set_text (list, key, gantry_xla_scan_suffix (&m->s));
      while (gantry_xla_scan_accept (&m->s, "::@"))
        gantry_xla_scan_suffix (&m->s);
    }
  else if (c == '[' && gantry_mlir_ints (m, ints))
    set_ints (list, key, ints);
  else if (c == '[')
    {
      const char *start = m->s.at;

      gantry_xla_scan_bracket (&m->s);
      set_text (list, key, (GantryXlaSpan){ start, (gsize) (m->s.at - start) });
    }
  else if (c == '{')
    nested (m, list, key);
  else if (c == '#')
    dialect_attribute (m, list, key);
  else if (g_ascii_isalpha (c))
    word (m, list, key, literal);
  else
    {
      GantryXlaSpan span = gantry_xla_scan_value (&m->s, FALSE);

      if (span.length == 0)
        gantry_xla_scan_fail (&m->s, m->s.at < m->s.end ? GANTRY_ERROR_INVALID : GANTRY_ERROR_TRUNCATED, "the value of attribute '%s' is expected", key);
      set_text (list, key, span);
    }
}

void
gantry_mlir_attribute (Mlir *m, GantryAttrList *list, const char *key, guint32 *literal)
{
  if (strcmp (key, "n_captures") == 0)
    gantry_xla_scan_fail (&m->s, GANTRY_ERROR_INVALID, "attribute n_captures is no operation's: the reader counts captures");
  if (!gantry_xla_scan_enter (&m->s))
    return;
  attribute_inside (m, list, key, literal);
  m->s.depth--;
}

static char *
read_key (Mlir *m)
{
  GantryXlaSpan name;
  g_autofree char *text = NULL;

  if (gantry_xla_scan_peek (&m->s) == '"')
    return gantry_xla_scan_string (&m->s);
  name = gantry_xla_scan_word (&m->s, FALSE);
  if (name.length > 0)
    return gantry_xla_span_dup (name);
  gantry_xla_scan_fail (&m->s, m->s.at < m->s.end ? GANTRY_ERROR_INVALID : GANTRY_ERROR_TRUNCATED, "the name of an attribute is expected");
  return NULL;
}

void
gantry_mlir_dictionary (Mlir *m, GantryAttrList *list, const char *prefix, char close, guint32 *literal)
{
  const char end[2] = { close, 0 };

  while (m->s.error == NULL && !gantry_xla_scan_sees (&m->s, end))
    {
      g_autofree char *name = read_key (m);
      g_autofree char *key = name != NULL && prefix != NULL ? g_strconcat (prefix, ".", name, NULL) : g_strdup (name);

      if (key == NULL)
        return;
      if (gantry_xla_scan_accept (&m->s, "="))
        gantry_mlir_attribute (m, list, key, strcmp (key, "value") == 0 ? literal : NULL);
      else
        gantry_attr_list_set_int (list, key, 1); /* a unit: it is there */
      if (!gantry_xla_scan_accept (&m->s, ","))
        break;
    }
  gantry_xla_scan_expect (&m->s, end);
}
