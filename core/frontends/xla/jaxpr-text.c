/* SPDX-License-Identifier: Apache-2.0 */
/* Walking over a jaxpr: comments, names, types, and values of parameters, which are whatever Python prints. */
#include "core/frontends/xla/jaxpr-private.h"

static void
new_line (GantryXlaScan *s)
{
  s->line++;
  s->line_start = s->first = s->at + 1;
}

char
gantry_jaxpr_peek (Jaxpr *j)
{
  GantryXlaScan *s = &j->s;

  for (; s->at < s->end; s->at++)
    if (*s->at == '\n')
      new_line (s);
    else if (*s->at == '#')
      {
        const char *end = memchr (s->at, '\n', (gsize) (s->end - s->at));

        s->at = (end != NULL ? end : s->end) - 1;
      }
    else if (!g_ascii_isspace (*s->at))
      return *s->at;
    else if (s->first == s->at)
      s->first++;
  return 0;
}

static gboolean
is_name (char c)
{
  return g_ascii_isalnum (c) || c == '_';
}

GantryXlaSpan
gantry_jaxpr_name (Jaxpr *j, gboolean dash)
{
  GantryXlaScan *s = &j->s;
  char c = gantry_jaxpr_peek (j);
  GantryXlaSpan name = { s->at, 0 };

  if (!g_ascii_isalpha (c) && c != '_')
    return name;
  while (s->at < s->end && (is_name (*s->at) || (dash && (*s->at == '-' || *s->at == '.'))))
    s->at++;
  name.length = (gsize) (s->at - name.at);
  return name;
}

gboolean
gantry_jaxpr_sees (Jaxpr *j, const char *token)
{
  gantry_jaxpr_peek (j);
  return gantry_xla_scan_sees (&j->s, token);
}

gboolean
gantry_jaxpr_accept (Jaxpr *j, const char *token)
{
  gantry_jaxpr_peek (j);
  return gantry_xla_scan_accept (&j->s, token);
}

gboolean
gantry_jaxpr_expect (Jaxpr *j, const char *token)
{
  gantry_jaxpr_peek (j);
  return gantry_xla_scan_expect (&j->s, token);
}

gboolean
gantry_jaxpr_sees_end (Jaxpr *j)
{
  const char *at;

  if (!gantry_jaxpr_sees (j, "in"))
    return FALSE;
  for (at = j->s.at + 2; at < j->s.end && g_ascii_isspace (*at); at++)
    ;
  return at < j->s.end && *at == '(';
}

/* Types */

static GantryElementType
element_of (GantryXlaSpan name)
{
  static const struct
  {
    const char *name;
    GantryElementType element;
  } names[] = {
    { "bool", GANTRY_BOOL },
    { "i8", GANTRY_I8 },
    { "i16", GANTRY_I16 },
    { "i32", GANTRY_I32 },
    { "i64", GANTRY_I64 },
    { "u8", GANTRY_U8 },
    { "u16", GANTRY_U16 },
    { "u32", GANTRY_U32 },
    { "u64", GANTRY_U64 },
    { "f16", GANTRY_F16 },
    { "bf16", GANTRY_BF16 },
    { "f32", GANTRY_F32 },
    { "f64", GANTRY_F64 },
    { "c64", GANTRY_C64 },
    { "c128", GANTRY_C128 },
    { "i4", GANTRY_I4 },
    { "u4", GANTRY_U4 },
    { "int8", GANTRY_I8 },
    { "int16", GANTRY_I16 },
    { "int32", GANTRY_I32 },
    { "int64", GANTRY_I64 },
    { "uint8", GANTRY_U8 },
    { "uint16", GANTRY_U16 },
    { "uint32", GANTRY_U32 },
    { "uint64", GANTRY_U64 },
    { "float16", GANTRY_F16 },
    { "bfloat16", GANTRY_BF16 },
    { "float32", GANTRY_F32 },
    { "float64", GANTRY_F64 },
    { "complex64", GANTRY_C64 },
    { "complex128", GANTRY_C128 },
    { "f8_e4m3fn", GANTRY_F8E4M3FN },
    { "f8_e5m2", GANTRY_F8E5M2 },
    { "float8_e4m3fn", GANTRY_F8E4M3FN },
    { "float8_e5m2", GANTRY_F8E5M2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (gantry_xla_span_is (name, names[i].name))
      return names[i].element;
  return GANTRY_ELEMENT_OTHER;
}

/* "[8,4]"; a size with a mesh axis, "8@x", is the size, and a name is not known here. */
static gboolean
dimensions (Jaxpr *j, GantryDim *dims, guint *rank)
{
  GantryXlaScan *s = &j->s;

  for (*rank = 0; s->error == NULL && !gantry_jaxpr_accept (j, "]"); (*rank)++)
    {
      guint depth = 0;

      if (*rank == GANTRY_MAX_RANK)
        {
          gantry_xla_scan_fail (s, GANTRY_ERROR_TOO_LARGE, "a tensor has more than %d dimensions", GANTRY_MAX_RANK);
          return FALSE;
        }
      dims[*rank] = g_ascii_isdigit (gantry_jaxpr_peek (j)) ? gantry_xla_scan_int (s) : GANTRY_DIM_UNKNOWN;
      if (s->at < s->end && *s->at != ',' && *s->at != ']' && *s->at != '@')
        dims[*rank] = GANTRY_DIM_UNKNOWN; /* "2*b" */
      for (; s->at < s->end && *s->at != '\n' && (depth > 0 || (*s->at != ',' && *s->at != ']')); s->at++)
        depth += *s->at == '(' ? 1 : *s->at == ')' && depth > 0 ? -1u : 0;
      if (!gantry_jaxpr_sees (j, "]") && !gantry_jaxpr_expect (j, ","))
        return FALSE;
    }
  return s->error == NULL;
}

/* Behind "<". */
static void
type_argument (Jaxpr *j, gboolean *host, gboolean *other)
{
  const char *at = j->s.at, *end = memchr (at, '>', (gsize) (j->s.end - at));
  GantryXlaSpan space = { at, 0 };

  if (end == NULL)
    {
      gantry_xla_scan_fail (&j->s, GANTRY_ERROR_TRUNCATED, "'>' is expected, and the text ends");
      return;
    }
  space.length = (gsize) (end - at);
  *host = gantry_xla_span_is (space, "host") || gantry_xla_span_is (space, "pinned_host");
  *other = !*host && !gantry_xla_span_is (space, "device");
  j->s.at = end + 1;
}

guint32
gantry_jaxpr_type (Jaxpr *j)
{
  GantryXlaScan *s = &j->s;
  GantryDim dims[GANTRY_MAX_RANK];
  GantryXlaSpan name;
  GantryElementType element;
  gboolean host = FALSE, other = FALSE;
  guint rank = 0, which;
  guint32 type = 0;

  gantry_jaxpr_accept (j, "~"); /* of a weak type */
  name = gantry_jaxpr_name (j, FALSE);
  if (name.length == 0)
    {
      gantry_xla_scan_fail (s, s->at < s->end ? GANTRY_ERROR_INVALID : GANTRY_ERROR_TRUNCATED, "a type is expected");
      return 0;
    }
  element = element_of (name);
  if (gantry_xla_scan_ahead (s, 0) == '<')
    {
      s->at++;
      type_argument (j, &host, &other);
    }
  if (gantry_xla_scan_ahead (s, 0) == '[')
    {
      s->at++;
      if (!dimensions (j, dims, &rank))
        return 0;
      if (!gantry_dims_fit (rank, dims, &which))
        {
          gantry_xla_scan_fail (s, GANTRY_ERROR_TOO_LARGE, "dimension %u of a tensor is too large", which);
          return 0;
        }
      type = gantry_context_tensor_in (j->context, other ? GANTRY_ELEMENT_OTHER : element, rank, dims, host ? GANTRY_MEMORY_PINNED_HOST : GANTRY_MEMORY_DEVICE);
    }
  if (gantry_xla_scan_ahead (s, 0) == '{') /* of a reference: what it refers to; else axes that it varies over */
    gantry_jaxpr_skip (j);
  return type;
}

/* Values */

/* Whether "key=" or the ']' behind all parameters comes at @at. */
static gboolean
ends_value (const GantryXlaScan *s, const char *at)
{
  const char *from = at;

  if (at < s->end && *at == ']')
    return TRUE;
  while (at < s->end && is_name (*at))
    at++;
  return at > from && !g_ascii_isdigit (*from) && at < s->end && *at == '=' && at + 1 < s->end && at[1] != '=';
}

/* A string of Python, if that is what comes: it ends on its line, and begins where a value does. */
static const char *
end_of_string (const GantryXlaScan *s)
{
  char before = s->at > s->text ? s->at[-1] : '=';

  if ((*s->at != '\'' && *s->at != '"') || strchr ("([{=, ", before) == NULL)
    return NULL;
  for (const char *at = s->at + 1; at < s->end && *at != '\n'; at++)
    if (*at == '\\')
      at++;
    else if (*at == *s->at)
      return at;
  return NULL;
}

static void
step (GantryXlaScan *s, guint *depth)
{
  const char *string = end_of_string (s);

  if (string != NULL)
    s->at = string;
  else if (*s->at == '\n')
    new_line (s);
  else if (strchr ("([{", *s->at) != NULL && *s->at != 0)
    (*depth)++;
  else if (strchr (")]}", *s->at) != NULL && *s->at != 0 && *depth > 0)
    (*depth)--;
  s->at++;
}

GantryXlaSpan
gantry_jaxpr_value (Jaxpr *j)
{
  GantryXlaScan *s = &j->s;
  GantryXlaSpan span = { s->at, 0 };
  guint depth = 0;

  while (s->at < s->end)
    {
      if (depth == 0 && *s->at == ']')
        break;
      if (depth == 0 && g_ascii_isspace (*s->at))
        {
          const char *at = s->at;

          while (at < s->end && g_ascii_isspace (*at))
            at++;
          if (ends_value (s, at))
            break;
        }
      step (s, &depth);
    }
  if (s->at >= s->end)
    {
      s->at = s->end;
      gantry_xla_scan_fail (s, GANTRY_ERROR_TRUNCATED, "']' is expected behind parameters, and the text ends");
    }
  span.length = (gsize) (s->at - span.at);
  return span;
}

void
gantry_jaxpr_skip (Jaxpr *j)
{
  GantryXlaScan *s = &j->s;
  guint depth = 0;

  do
    step (s, &depth);
  while (s->at < s->end && depth > 0);
  if (depth > 0)
    {
      s->at = MIN (s->at, s->end);
      gantry_xla_scan_fail (s, GANTRY_ERROR_TRUNCATED, "a bracket is not closed");
    }
}

/* Comments */

#define MOST_COMMENT 4096 /* bytes that are read of a line of one */
#define MOST_COMMENT_LINES 8

/* "file.py:13:33" or, of older versions, "file.py:13" */
static void
take_place (Jaxpr *j, JaxprEquation *e, char *text)
{
  guint32 numbers[2] = { 0, 0 };
  guint n = 0;
  GantryLocation location = { 0 };
  char *colon;

  while (n < 2 && (colon = strrchr (text, ':')) != NULL && g_ascii_isdigit (colon[1]))
    {
      char *end;
      guint64 number = g_ascii_strtoull (colon + 1, &end, 10);

      if (*end != 0)
        break;
      numbers[n++] = (guint32) MIN (number, G_MAXINT32);
      *colon = 0;
    }
  if (n == 0 || *text == 0)
    return;
  location.file = gantry_context_intern (j->context, text);
  location.line = numbers[n - 1];
  location.column = n == 2 ? numbers[0] : 0;
  e->location = gantry_context_location (j->context, &location);
}

/* One line of it, without the '#'. */
static void
take_comment (Jaxpr *j, JaxprEquation *e, const char *at, const char *end)
{
  g_autofree char *raw = g_strndup (at, MIN ((gsize) (end - at), MOST_COMMENT));
  g_autofree char *line = g_strstrip (g_utf8_make_valid (raw, -1));
  char *names = *line == '[' ? line : strstr (line, " ["), *close = names != NULL ? strrchr (names, ']') : NULL;

  if (close != NULL)
    {
      char *path = strchr (names, '[') + 1;

      *close = 0;
      e->scope = *path != 0 ? gantry_context_scope (j->context, path) : e->scope;
      *names = 0;
    }
  if (strstr (line, " (") != NULL)
    *strstr (line, " (") = 0;
  take_place (j, e, line);
}

/* From its '#' on; @end: of its line. Lines below it that are nothing else go on with it. */
static void
take_comments (Jaxpr *j, JaxprEquation *e, const char *hash, const char *end)
{
  take_comment (j, e, hash + 1, end);
  for (guint lines = 1; lines < MOST_COMMENT_LINES && end < j->s.end; lines++)
    {
      const char *most = end + 1 + MIN (j->s.end - end - 1, MOST_COMMENT);

      for (hash = end + 1; hash < most && *hash == ' '; hash++)
        ;
      if (hash == most || *hash != '#')
        return;
      end = memchr (hash, '\n', (gsize) (most - hash));
      take_comment (j, e, hash + 1, end != NULL ? end : most);
      if (end == NULL)
        return;
    }
}

/* A line may have many equations: it is searched once, but for what is behind a '#' that was none of a comment. */
void
gantry_jaxpr_comment (Jaxpr *j, JaxprEquation *e)
{
  JaxprComment *c = &j->comment;
  const char *at = j->s.at, *end = c->end;

  if (end == NULL || at < c->from || at > end)
    {
      end = memchr (at, '\n', (gsize) (j->s.end - at));
      end = end != NULL ? end : j->s.end;
    }
  else if (at <= c->hash)
    {
      e->scope = c->scope;
      e->location = c->location;
      return;
    }
  *c = (JaxprComment){ .from = at, .hash = at, .end = end };
  while (c->hash < end && !(*c->hash == '#' && c->hash > at && c->hash[-1] == ' '))
    c->hash++;
  if (c->hash < end)
    take_comments (j, e, c->hash, end);
  c->scope = e->scope;
  c->location = e->location;
}
