/* SPDX-License-Identifier: Apache-2.0 */
/* The cursor of the text form's parser: blanks, comments, words, strings and numbers, and messages that
 * say where they stand. */
#include "core/graph/text-private.h"
#include "core/base/error.h"
#include <string.h>

gboolean
_gantry_text_fail (GantryTextReader *reader, GantryError code, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  if (reader->error != NULL)
    return FALSE;
  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  reader->error = g_error_new (GANTRY_ERROR, (gint) code, "%s:%u:%u: %s", reader->file_name, reader->line, (guint) (reader->at - reader->line_begin) + 1,
                               message);
  return FALSE;
}

gboolean
_gantry_text_expected (GantryTextReader *reader, const char *what)
{
  g_autoptr (GString) found = g_string_new (NULL);
  gsize length = 0;

  if (reader->error != NULL)
    return FALSE;
  while (reader->at + length < reader->end && length < 16 && g_ascii_isgraph (reader->at[length]))
    length++;
  if (reader->at == reader->end)
    return _gantry_text_fail (reader, GANTRY_ERROR_TRUNCATED, "expected %s, but the text ends", what);
  g_string_append_len (found, reader->at, (gssize) length);
  if (length == 0)
    g_string_printf (found, "byte 0x%02x", (guint8) *reader->at);
  return _gantry_text_fail (reader, GANTRY_ERROR_INVALID, "expected %s, not '%s'", what, found->str);
}

void
_gantry_text_skip (GantryTextReader *reader)
{
  while (reader->at < reader->end)
    {
      char c = *reader->at;

      if (c == '\n')
        {
          reader->line++;
          reader->line_begin = reader->at + 1;
        }
      else if (c == '/' && reader->end - reader->at > 1 && reader->at[1] == '/')
        {
          const char *newline = memchr (reader->at, '\n', (gsize) (reader->end - reader->at));

          reader->at = newline != NULL ? newline : reader->end;
          continue;
        }
      else if (c != ' ' && c != '\t' && c != '\r')
        return;
      reader->at++;
    }
}

char
_gantry_text_peek (GantryTextReader *reader)
{
  _gantry_text_skip (reader);
  return reader->at < reader->end ? *reader->at : '\0';
}

gboolean
_gantry_text_accept (GantryTextReader *reader, char character)
{
  _gantry_text_skip (reader);
  if (reader->at == reader->end || *reader->at != character)
    return FALSE;
  reader->at++;
  return TRUE;
}

gboolean
_gantry_text_expect (GantryTextReader *reader, char character, const char *what)
{
  return _gantry_text_accept (reader, character) || _gantry_text_expected (reader, what);
}

static gboolean
is_word_char (char c)
{
  return g_ascii_isalnum (c) || c == '_' || c == '.';
}

gsize
_gantry_text_word (GantryTextReader *reader, const char **word)
{
  gsize length = 0;

  _gantry_text_skip (reader);
  *word = reader->at;
  if (reader->at == reader->end || !(g_ascii_isalpha (*reader->at) || *reader->at == '_'))
    return 0;
  while (reader->at < reader->end && is_word_char (*reader->at))
    {
      reader->at++;
      length++;
    }
  return length;
}

gboolean
_gantry_text_accept_word (GantryTextReader *reader, const char *word)
{
  gsize length = strlen (word);

  _gantry_text_skip (reader);
  if ((gsize) (reader->end - reader->at) < length || memcmp (reader->at, word, length) != 0
      || (reader->at + length < reader->end && is_word_char (reader->at[length])))
    return FALSE;
  reader->at += length;
  return TRUE;
}

static gboolean
read_escape (GantryTextReader *reader, GString *string)
{
  gsize left = (gsize) (reader->end - reader->at);
  char c = left > 1 ? reader->at[1] : '\0';
  int high, low;

  switch (c)
    {
    case 'n': g_string_append_c (string, '\n'); break;
    case 't': g_string_append_c (string, '\t'); break;
    case '"':
    case '\\': g_string_append_c (string, c); break;
    case 'x':
      high = left > 3 ? g_ascii_xdigit_value (reader->at[2]) : -1;
      low = left > 3 ? g_ascii_xdigit_value (reader->at[3]) : -1;
      if (high < 0 || low < 0 || high + low == 0)
        return _gantry_text_expected (reader, "\\x with two hexadecimal digits, not 00");
      g_string_append_c (string, (char) (high * 16 + low));
      reader->at += 2;
      break;
    default: return _gantry_text_expected (reader, "one of the escapes \\n \\t \\\" \\\\ \\xHH");
    }
  reader->at += 2;
  return TRUE;
}

gboolean
_gantry_text_string (GantryTextReader *reader, GString *string)
{
  g_string_truncate (string, 0);
  if (!_gantry_text_accept (reader, '"'))
    return _gantry_text_expected (reader, "a string in double quotes");
  while (reader->at < reader->end && *reader->at != '"')
    {
      const char *run = reader->at;

      if (*run == '\n' || *run == '\0')
        return _gantry_text_expected (reader, "the end of the string, '\"'");
      if (*run == '\\')
        {
          if (!read_escape (reader, string))
            return FALSE;
          continue;
        }
      while (reader->at < reader->end && strchr ("\"\\\n", *reader->at) == NULL)
        reader->at++; /* strchr also stops at NUL */
      g_string_append_len (string, run, reader->at - run);
    }
  if (reader->at == reader->end)
    return _gantry_text_expected (reader, "the end of the string, '\"'");
  reader->at++;
  return TRUE;
}

gboolean
_gantry_text_interned (GantryTextReader *reader, guint32 *id)
{
  g_autoptr (GString) string = g_string_new (NULL);

  if (!_gantry_text_string (reader, string))
    return FALSE;
  *id = gantry_context_intern_len (reader->context, string->str, string->len);
  return TRUE;
}

gboolean
_gantry_text_number (GantryTextReader *reader, char *buffer, gsize size)
{
  gsize length = 0;

  _gantry_text_skip (reader);
  while (reader->at + length < reader->end && length < size - 1
         && (g_ascii_isalnum (reader->at[length]) || (reader->at[length] != '\0' && strchr ("+-.", reader->at[length]))))
    {
      buffer[length] = reader->at[length];
      length++;
    }
  buffer[length] = '\0';
  if (length == 0 || length == size - 1)
    return _gantry_text_expected (reader, "a number");
  reader->at += length;
  return TRUE;
}

gboolean
_gantry_text_unsigned (GantryTextReader *reader, guint64 limit, const char *what, guint64 *value)
{
  char buffer[64];
  const char *start;

  _gantry_text_skip (reader);
  start = reader->at;
  if (!_gantry_text_number (reader, buffer, sizeof buffer))
    return FALSE;
  if (!g_ascii_string_to_unsigned (buffer, 10, 0, limit, value, NULL))
    {
      reader->at = start;
      return _gantry_text_fail (reader, GANTRY_ERROR_INVALID, "expected %s from 0 to %" G_GUINT64_FORMAT ", not '%s'", what, limit, buffer);
    }
  return TRUE;
}

gboolean
_gantry_text_int (GantryTextReader *reader, gint64 *value)
{
  char buffer[64];
  const char *start;

  _gantry_text_skip (reader);
  start = reader->at;
  if (!_gantry_text_number (reader, buffer, sizeof buffer))
    return FALSE;
  if (!g_ascii_string_to_signed (buffer, 10, G_MININT64, G_MAXINT64, value, NULL))
    {
      reader->at = start;
      return _gantry_text_fail (reader, GANTRY_ERROR_INVALID, "expected a 64-bit integer, not '%s'", buffer);
    }
  return TRUE;
}

gboolean
_gantry_text_id (GantryTextReader *reader, char mark, guint64 limit, const char *what, guint32 *id)
{
  guint64 value;

  if (!_gantry_text_expect (reader, mark, what) || !_gantry_text_unsigned (reader, limit, "an id", &value))
    return FALSE;
  *id = (guint32) value;
  return TRUE;
}

gboolean
_gantry_text_name (GantryTextReader *reader, const char *what, guint32 *id)
{
  const char *word;
  gsize length;

  if (_gantry_text_peek (reader) == '"')
    return _gantry_text_interned (reader, id);
  length = _gantry_text_word (reader, &word);
  if (length == 0)
    return _gantry_text_expected (reader, what);
  *id = gantry_context_intern_len (reader->context, word, length);
  return TRUE;
}
