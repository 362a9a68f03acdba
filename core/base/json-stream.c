/* SPDX-License-Identifier: Apache-2.0 */
/* A tokenizer for JSON (RFC 8259) over a stream, with what real traces need: NaN and Infinity count as numbers, bytes
 * that are no UTF-8 are replaced, and a stream that ends inside an array is told apart from one that is wrong. */
#include "core/base/json-stream.h"
#include "core/base/error.h"
#include <math.h>
#include <string.h>

#define BUFFER (256u * 1024)
#define MOST_WORD 64u
#define MOST_UNITS G_GUINT64_CONSTANT (9000000000000000) /* a thousand times that is a gint64 */

enum
{
  STATE_VALUE,       /* a value comes */
  STATE_FIRST_VALUE, /* or the end of the array that began */
  STATE_KEY,
  STATE_FIRST_KEY, /* or the end of the object that began */
  STATE_AFTER,     /* a comma comes, or an end */
};

void
gantry_json_stream_init (GantryJsonStream *json, GInputStream *stream, const char *what, GCancellable *cancellable)
{
  *json = (GantryJsonStream){ .stream = stream, .cancellable = cancellable, .what = what };
  json->buffer = g_malloc (BUFFER);
  json->text = g_string_sized_new (256);
}

void
gantry_json_stream_clear (GantryJsonStream *json)
{
  g_free (json->buffer);
  g_string_free (json->text, TRUE);
  g_clear_error (&json->error);
}

guint64
gantry_json_stream_offset (const GantryJsonStream *json)
{
  return json->before + json->at;
}

static GantryJsonToken
fail (GantryJsonStream *json, GantryError code, const char *why)
{
  if (json->error == NULL)
    g_set_error (&json->error, GANTRY_ERROR, code, "%s, byte %" G_GUINT64_FORMAT ": %s", json->what, gantry_json_stream_offset (json), why);
  return GANTRY_JSON_FAILED;
}

/* Returns: the next byte, which is not taken, -1 at the end or after an error */
static int
peek (GantryJsonStream *json)
{
  gssize got;

  if (G_LIKELY (json->at < json->size))
    return json->buffer[json->at];
  if (json->ended || json->error != NULL)
    return -1;
  json->before += json->size;
  json->size = json->at = 0;
  got = g_input_stream_read (json->stream, json->buffer, BUFFER, json->cancellable, &json->error);
  if (got < 0)
    {
      if (!g_error_matches (json->error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        g_prefix_error (&json->error, "%s, after byte %" G_GUINT64_FORMAT ": ", json->what, json->before);
      return -1;
    }
  json->size = (gsize) got;
  json->ended = got == 0;
  return got > 0 ? json->buffer[0] : -1;
}

static int
take (GantryJsonStream *json)
{
  int byte = peek (json);

  json->at += byte >= 0;
  return byte;
}

static int
peek_after_blanks (GantryJsonStream *json)
{
  int byte;

  while ((byte = peek (json)) == ' ' || byte == '\n' || byte == '\t' || byte == '\r')
    json->at++;
  return byte;
}

/* The stream ended, or failed before. */
static GantryJsonToken
ended (GantryJsonStream *json)
{
  return fail (json, GANTRY_ERROR_TRUNCATED, "the text ends here");
}

static gboolean
take_hex (GantryJsonStream *json, guint32 *unit)
{
  *unit = 0;
  for (guint i = 0; i < 4; i++)
    {
      int byte = take (json);

      if (byte < 0 || !g_ascii_isxdigit (byte))
        return FALSE;
      *unit = *unit << 4 | (guint32) g_ascii_xdigit_value ((char) byte);
    }
  return TRUE;
}

/* What follows a backslash. */
static gboolean
take_escape (GantryJsonStream *json)
{
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  guint32 unit, low;
  const char *place;
  int byte = take (json);

  if (byte > 0 && (place = strchr (from, byte)) != NULL)
    {
      g_string_append_c (json->text, to[place - from]);
      return TRUE;
    }
  if (byte != 'u' || !take_hex (json, &unit))
    return FALSE;
  if (unit >= 0xd800 && unit < 0xdc00 && peek (json) == '\\')
    {
      json->at++;
      if (take (json) != 'u' || !take_hex (json, &low))
        return FALSE;
      unit = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
    }
  if (unit == 0 || (unit >= 0xd800 && unit < 0xe000))
    unit = 0xfffd;
  g_string_append_unichar (json->text, unit);
  return TRUE;
}

/* Appends what stands in the buffer up to a quote or a backslash. */
static void
take_plain (GantryJsonStream *json)
{
  gsize from = json->at, length;

  while (json->at < json->size && json->buffer[json->at] != '"' && json->buffer[json->at] != '\\')
    json->at++;
  length = MIN (json->at - from, GANTRY_JSON_MOST_TEXT - MIN (json->text->len, GANTRY_JSON_MOST_TEXT));
  g_string_append_len (json->text, (const char *) json->buffer + from, (gssize) length);
}

static GantryJsonToken
take_string (GantryJsonStream *json, GantryJsonToken token)
{
  int byte;

  json->at++;
  g_string_truncate (json->text, 0);
  while ((byte = peek (json)) != '"')
    {
      if (byte < 0)
        return ended (json);
      if (byte != '\\')
        {
          take_plain (json);
          continue;
        }
      json->at++;
      if (!take_escape (json))
        return fail (json, GANTRY_ERROR_INVALID, "an escape that there is not");
      g_string_truncate (json->text, MIN (json->text->len, GANTRY_JSON_MOST_TEXT));
    }
  json->at++;
  if (!g_utf8_validate_len (json->text->str, json->text->len, NULL))
    {
      g_autofree char *valid = g_utf8_make_valid (json->text->str, (gssize) json->text->len);

      g_string_assign (json->text, valid);
    }
  return token;
}

static GantryJsonToken
take_word (GantryJsonStream *json)
{
  static const char *const words[] = { "true", "false", "null" };
  int byte;

  g_string_truncate (json->text, 0);
  while ((byte = peek (json)) >= 0 && (g_ascii_isalnum (byte) || byte == '-' || byte == '+' || byte == '.'))
    {
      if (json->text->len == MOST_WORD)
        return fail (json, GANTRY_ERROR_INVALID, "a number that is too long");
      g_string_append_c (json->text, (char) byte);
      json->at++;
    }
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (strcmp (json->text->str, words[i]) == 0)
      return GANTRY_JSON_WORD;
  byte = json->text->str[0];
  if (g_ascii_isdigit (byte) || byte == '-' || strcmp (json->text->str, "NaN") == 0 || strcmp (json->text->str, "Infinity") == 0)
    return GANTRY_JSON_NUMBER;
  return byte == 0 && peek (json) < 0 ? ended (json) : fail (json, GANTRY_ERROR_INVALID, "there should be a value here");
}

static GantryJsonToken
begin (GantryJsonStream *json, gboolean object)
{
  if (json->depth == GANTRY_JSON_MOST_DEPTH)
    return fail (json, GANTRY_ERROR_TOO_LARGE, "nested more than " G_STRINGIFY (GANTRY_JSON_MOST_DEPTH) " deep");
  json->at++;
  json->in_object[json->depth++] = object;
  json->state = object ? STATE_FIRST_KEY : STATE_FIRST_VALUE;
  return object ? GANTRY_JSON_BEGIN_OBJECT : GANTRY_JSON_BEGIN_ARRAY;
}

static GantryJsonToken
end (GantryJsonStream *json)
{
  json->at++;
  json->depth--;
  json->state = STATE_AFTER;
  return json->in_object[json->depth] ? GANTRY_JSON_END_OBJECT : GANTRY_JSON_END_ARRAY;
}

static GantryJsonToken
take_value (GantryJsonStream *json, int byte)
{
  if (byte == '{' || byte == '[')
    return begin (json, byte == '{');
  json->state = STATE_AFTER;
  return byte == '"' ? take_string (json, GANTRY_JSON_STRING) : take_word (json);
}

static GantryJsonToken
take_key (GantryJsonStream *json, int byte)
{
  if (byte != '"')
    return fail (json, GANTRY_ERROR_INVALID, "there should be a name here");
  if (take_string (json, GANTRY_JSON_KEY) == GANTRY_JSON_FAILED)
    return GANTRY_JSON_FAILED;
  if (peek_after_blanks (json) != ':')
    return fail (json, GANTRY_ERROR_INVALID, "there should be a colon here");
  json->at++;
  json->state = STATE_VALUE;
  return GANTRY_JSON_KEY;
}

GantryJsonToken
gantry_json_stream_next (GantryJsonStream *json)
{
  gboolean object = json->depth > 0 && json->in_object[json->depth - 1];
  int byte = peek_after_blanks (json);

  if (json->error != NULL)
    return GANTRY_JSON_FAILED;
  if (byte < 0)
    return json->depth == 0 && json->state == STATE_AFTER ? GANTRY_JSON_END : ended (json);
  if (json->state == STATE_AFTER)
    {
      if (json->depth == 0)
        return fail (json, GANTRY_ERROR_INVALID, "more text than there should be");
      if (byte == (object ? '}' : ']'))
        return end (json);
      if (byte != ',')
        return fail (json, GANTRY_ERROR_INVALID, "there should be a comma here");
      json->at++;
      byte = peek_after_blanks (json);
      if (byte < 0)
        return ended (json);
      json->state = object ? STATE_KEY : STATE_VALUE;
    }
  if ((json->state == STATE_FIRST_KEY && byte == '}') || (json->state == STATE_FIRST_VALUE && byte == ']'))
    return end (json);
  return json->state == STATE_KEY || json->state == STATE_FIRST_KEY ? take_key (json, byte) : take_value (json, byte);
}

gboolean
gantry_json_stream_skip_from (GantryJsonStream *json, GantryJsonToken token)
{
  guint outside = json->depth - 1;

  if (token != GANTRY_JSON_BEGIN_OBJECT && token != GANTRY_JSON_BEGIN_ARRAY)
    return token != GANTRY_JSON_FAILED;
  while (json->depth > outside)
    if (gantry_json_stream_next (json) == GANTRY_JSON_FAILED)
      return FALSE;
  return TRUE;
}

gboolean
gantry_json_stream_skip (GantryJsonStream *json)
{
  return gantry_json_stream_skip_from (json, gantry_json_stream_next (json));
}

gboolean
gantry_json_thousandths (const char *text, gint64 *value)
{
  gboolean negative = *text == '-';
  const char *p = text + negative;
  guint64 sum = 0;
  guint digits = 0;
  gboolean exact;

  for (; g_ascii_isdigit (*p) && digits < 17; p++, digits++)
    sum = sum * 10 + (guint64) (*p - '0');
  exact = digits > 0 && sum < MOST_UNITS && (*p == '\0' || *p == '.');
  if (exact)
    {
      p += *p == '.';
      for (guint i = 0; i < 3; i++)
        sum = sum * 10 + (g_ascii_isdigit (*p) ? (guint64) (*p++ - '0') : 0);
      sum += g_ascii_isdigit (*p) && *p >= '5';
      while (g_ascii_isdigit (*p))
        p++;
    }
  if (!exact || *p != '\0')
    {
      /* With an exponent, or absurd. */
      double number = g_ascii_strtod (text, NULL) * 1e3;

      if (!(fabs (number) < 4e18))
        return FALSE;
      *value = (gint64) llround (number);
      return TRUE;
    }
  *value = negative ? -(gint64) sum : (gint64) sum;
  return TRUE;
}
