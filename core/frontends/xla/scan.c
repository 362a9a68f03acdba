/* SPDX-License-Identifier: Apache-2.0 */
/* Walking over a text: space, comments, words, strings, numbers, brackets. */
#include "core/frontends/xla/scan-private.h"

void
gantry_xla_scan_init (GantryXlaScan *s, const char *name, const char *text, gsize length)
{
  /* An empty file that is mapped lies nowhere. */
  text = length > 0 ? text : "";
  *s = (GantryXlaScan){ .name = name, .text = text, .at = text, .end = text + length, .line = 1, .line_start = text, .first = text };
}

guint
gantry_xla_scan_column (const GantryXlaScan *s)
{
  return (guint) (s->at - s->line_start) + 1;
}

GantryXlaPlace
gantry_xla_scan_place (GantryXlaScan *s)
{
  gantry_xla_scan_peek (s);
  return (GantryXlaPlace){ s->at, s->line, s->line_start };
}

void
gantry_xla_scan_go (GantryXlaScan *s, const GantryXlaPlace *place)
{
  if (s->error != NULL)
    return;
  s->at = place->at;
  s->line = place->line;
  s->line_start = place->line_start;
}

void
gantry_xla_scan_fail (GantryXlaScan *s, GantryError code, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list arguments;

  if (s->error != NULL)
    return;
  va_start (arguments, format);
  what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (s->binary)
    g_set_error (&s->error, GANTRY_ERROR, code, "%s: byte %" G_GSIZE_FORMAT ": %s", s->name, (gsize) (s->at - s->text), what);
  else
    g_set_error (&s->error, GANTRY_ERROR, code, "%s:%u:%u: %s", s->name, s->line, gantry_xla_scan_column (s), what);
  s->at = s->end;
}

gboolean
gantry_xla_scan_enter (GantryXlaScan *s)
{
  if (s->depth < GANTRY_XLA_MOST_DEPTH)
    {
      s->depth++;
      return TRUE;
    }
  gantry_xla_scan_fail (s, GANTRY_ERROR_TOO_LARGE, "nested more than %d deep", GANTRY_XLA_MOST_DEPTH);
  return FALSE;
}

char
gantry_xla_scan_ahead (const GantryXlaScan *s, gsize ahead)
{
  return ahead < (gsize) (s->end - s->at) ? s->at[ahead] : 0;
}

static void
new_line (GantryXlaScan *s)
{
  s->line++;
  s->line_start = s->at + 1;
  s->first = s->at + 1;
}

static void
skip_comment (GantryXlaScan *s)
{
  if (s->at[1] == '/')
    {
      const char *end = memchr (s->at, '\n', (gsize) (s->end - s->at));

      s->at = end != NULL ? end : s->end;
      return;
    }
  for (s->at += 2; s->at < s->end && !(s->at[0] == '*' && gantry_xla_scan_ahead (s, 1) == '/'); s->at++)
    if (*s->at == '\n')
      new_line (s);
  s->at = MIN (s->at + 2, s->end);
}

char
gantry_xla_scan_peek (GantryXlaScan *s)
{
  while (s->at < s->end)
    {
      char c = *s->at;

      if (c == '\n')
        new_line (s);
      else if (c == '/' && (gantry_xla_scan_ahead (s, 1) == '/' || gantry_xla_scan_ahead (s, 1) == '*'))
        {
          gboolean leads = s->first == s->at;

          skip_comment (s);
          if (leads)
            s->first = s->at;
          continue;
        }
      else if (c != ' ' && c != '\t' && c != '\r')
        return c;
      else if (s->first == s->at)
        s->first++;
      s->at++;
    }
  return 0;
}

static gboolean
is_word (char c)
{
  return g_ascii_isalnum (c) || c == '_';
}

gboolean
gantry_xla_scan_sees (GantryXlaScan *s, const char *token)
{
  gsize length = strlen (token);

  gantry_xla_scan_peek (s);
  return (gsize) (s->end - s->at) >= length && memcmp (s->at, token, length) == 0
         && !(is_word (token[length - 1]) && is_word (gantry_xla_scan_ahead (s, length)));
}

gboolean
gantry_xla_scan_accept (GantryXlaScan *s, const char *token)
{
  if (!gantry_xla_scan_sees (s, token))
    return FALSE;
  s->at += strlen (token);
  return TRUE;
}

gboolean
gantry_xla_scan_expect (GantryXlaScan *s, const char *token)
{
  if (gantry_xla_scan_accept (s, token))
    return TRUE;
  if (s->at < s->end)
    {
      const char *line_end = memchr (s->at, '\n', (gsize) (s->end - s->at));
      gsize left = (gsize) ((line_end != NULL ? line_end : s->end) - s->at);
      g_autofree char *there = g_strndup (s->at, MIN (16, left));
      g_autofree char *printable = g_utf8_make_valid (there, -1);

      gantry_xla_scan_fail (s, GANTRY_ERROR_INVALID, "'%s' is expected, and '%s' comes", token, printable);
    }
  else
    gantry_xla_scan_fail (s, GANTRY_ERROR_TRUNCATED, "'%s' is expected, and the text ends", token);
  return FALSE;
}

GantryXlaSpan
gantry_xla_scan_word (GantryXlaScan *s, gboolean dash)
{
  char c = gantry_xla_scan_peek (s);
  GantryXlaSpan word = { s->at, 0 };

  if (!g_ascii_isalpha (c) && c != '_')
    return word;
  while (s->at < s->end && (is_word (*s->at) || *s->at == '.' || *s->at == '$' || (dash && *s->at == '-')))
    s->at++;
  word.length = (gsize) (s->at - word.at);
  return word;
}

GantryXlaSpan
gantry_xla_scan_suffix (GantryXlaScan *s)
{
  GantryXlaSpan name = { s->at, 0 };

  if (gantry_xla_scan_ahead (s, 0) == '"')
    {
      const char *end = memchr (s->at + 1, '"', (gsize) (s->end - s->at - 1));

      if (end != NULL)
        {
          name = (GantryXlaSpan){ s->at + 1, (gsize) (end - s->at - 1) };
          s->at = end + 1;
          return name;
        }
    }
  while (s->at < s->end && (is_word (*s->at) || *s->at == '$' || *s->at == '.' || *s->at == '-') && !(*s->at == '-' && gantry_xla_scan_ahead (s, 1) == '>'))
    s->at++;
  name.length = (gsize) (s->at - name.at);
  if (name.length == 0)
    gantry_xla_scan_fail (s, s->at < s->end ? GANTRY_ERROR_INVALID : GANTRY_ERROR_TRUNCATED, "a name is expected");
  return name;
}

static void
append_escape (GantryXlaScan *s, GString *text)
{
  char c = *s->at;

  if (c == 'n')
    g_string_append_c (text, '\n');
  else if (c == 't')
    g_string_append_c (text, '\t');
  else if (g_ascii_isxdigit (c) && g_ascii_isxdigit (gantry_xla_scan_ahead (s, 1)))
    {
      int value = g_ascii_xdigit_value (c) * 16 + g_ascii_xdigit_value (s->at[1]);

      g_string_append_c (text, value != 0 ? (char) value : ' ');
      s->at++;
    }
  else
    g_string_append_c (text, c);
}

char *
gantry_xla_scan_string (GantryXlaScan *s)
{
  g_autoptr (GString) text = g_string_new (NULL);

  if (!gantry_xla_scan_expect (s, "\""))
    return NULL;
  for (; s->at < s->end && *s->at != '"'; s->at++)
    if (*s->at == '\\' && s->at + 1 < s->end)
      {
        s->at++;
        append_escape (s, text);
      }
    else
      {
        if (*s->at == '\n')
          new_line (s);
        if (*s->at != 0)
          g_string_append_c (text, *s->at);
      }
  if (s->at < s->end)
    {
      s->at++;
      return g_utf8_make_valid (text->str, (gssize) text->len); /* what is kept is text for people */
    }
  gantry_xla_scan_fail (s, GANTRY_ERROR_TRUNCATED, "a string has no end");
  return NULL;
}

gint64
gantry_xla_scan_int (GantryXlaScan *s)
{
  char digits[32];
  gsize n = 0;
  char c = gantry_xla_scan_peek (s);
  char *end;
  gint64 value;

  if (c == '-')
    {
      digits[n++] = c;
      s->at++;
    }
  while (n < sizeof digits - 1 && g_ascii_isdigit (gantry_xla_scan_ahead (s, 0)))
    digits[n++] = *s->at++;
  digits[n] = 0;
  errno = 0;
  value = g_ascii_strtoll (digits, &end, 10);
  if (n > (c == '-') && errno == 0 && *end == 0)
    return value;
  gantry_xla_scan_fail (s, s->at < s->end ? GANTRY_ERROR_INVALID : GANTRY_ERROR_TRUNCATED, "a whole number is expected");
  return 0;
}

static void
skip_string (GantryXlaScan *s)
{
  for (s->at++; s->at < s->end && *s->at != '"'; s->at++)
    if (*s->at == '\\' && s->at + 1 < s->end)
      s->at++;
    else if (*s->at == '\n')
      new_line (s);
  s->at = MIN (s->at + 1, s->end);
}

/* A string or a comment, in which brackets mean nothing. Returns: FALSE where none comes */
static gboolean
skip_quoted (GantryXlaScan *s)
{
  if (*s->at == '"')
    skip_string (s);
  else if (*s->at == '/' && (gantry_xla_scan_ahead (s, 1) == '/' || gantry_xla_scan_ahead (s, 1) == '*'))
    skip_comment (s);
  else
    return FALSE;
  return TRUE;
}

/* Stops before what ends the value. Angle brackets nest, the one of an arrow does not. */
GantryXlaSpan
gantry_xla_scan_value (GantryXlaScan *s, gboolean line)
{
  GantryXlaSpan span;
  guint depth = 0;

  gantry_xla_scan_peek (s);
  span.at = s->at;
  while (s->at < s->end)
    {
      char c = *s->at;
      gboolean arrow = c == '>' && s->at > s->text && (s->at[-1] == '-' || s->at[-1] == '=');

      if (depth == 0 && (strchr (",)]}", c) != NULL || (c == '>' && !arrow) || (line && c == '\n')) && c != 0)
        break;
      if (skip_quoted (s))
        continue;
      if (c == '\n')
        new_line (s);
      if (c != 0 && (strchr ("([{", c) != NULL || (c == '<' && gantry_xla_scan_ahead (s, 1) != '=')))
        depth++;
      else if (c != 0 && (strchr (")]}", c) != NULL || (c == '>' && !arrow)))
        depth--;
      s->at++;
    }
  if (depth > 0)
    gantry_xla_scan_fail (s, GANTRY_ERROR_TRUNCATED, "a bracket is not closed");
  span.length = (gsize) (s->at - span.at);
  while (span.length > 0 && g_ascii_isspace (span.at[span.length - 1]))
    span.length--;
  return span;
}

GantryXlaSpan
gantry_xla_scan_bracket (GantryXlaScan *s)
{
  GantryXlaSpan span = { s->at, 0 };
  guint depth = 0;

  gantry_xla_scan_peek (s);
  span.at = s->at + 1;
  while (s->at < s->end)
    {
      char c = *s->at;

      if (skip_quoted (s))
        continue;
      if (c == '\n')
        new_line (s);
      if (c == '(' || c == '[' || c == '{' || (c == '<' && gantry_xla_scan_ahead (s, 1) != '='))
        depth++;
      else if (c == ')' || c == ']' || c == '}' || (c == '>' && s->at[-1] != '-' && s->at[-1] != '='))
        depth--;
      s->at++;
      if (depth == 0)
        break;
    }
  if (depth > 0 || s->at == s->end)
    {
      if (depth > 0)
        gantry_xla_scan_fail (s, GANTRY_ERROR_TRUNCATED, "a bracket is not closed");
    }
  span.length = s->at > span.at ? (gsize) (s->at - 1 - span.at) : 0;
  return span;
}
