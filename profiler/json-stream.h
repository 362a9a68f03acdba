/* SPDX-License-Identifier: Apache-2.0 */
/* JSON token by token from a stream: a trace of gigabytes is never in memory. Names and strings have a largest length,
 * nesting a largest depth. For the files of this room. */
#pragma once
#include <gio/gio.h>

G_BEGIN_DECLS

typedef enum
{
  JSON_FAILED, /* see @error */
  JSON_END,
  JSON_BEGIN_OBJECT,
  JSON_END_OBJECT,
  JSON_BEGIN_ARRAY,
  JSON_END_ARRAY,
  JSON_KEY,    /* in @text */
  JSON_STRING, /* in @text */
  JSON_NUMBER, /* in @text, as it stands there */
  JSON_WORD,   /* true, false, null: in @text */
} JsonToken;

#define JSON_MOST_DEPTH 64u
#define JSON_MOST_TEXT (1u << 20) /* bytes of a string: the rest is cut off */

typedef struct
{
  GInputStream *stream; /* (unowned) */
  GCancellable *cancellable;
  const char *what;     /* (unowned) */
  guint8 *buffer;
  gsize size, at;
  guint64 before;       /* bytes before the buffer */
  GString *text;
  guint depth;
  guint8 in_object[JSON_MOST_DEPTH];
  guint8 state;
  gboolean ended;       /* the stream has */
  GError *error;
} JsonStream;

void _gantry_json_init (JsonStream *json, GInputStream *stream, const char *what, GCancellable *cancellable);
void _gantry_json_clear (JsonStream *json);
JsonToken _gantry_json_next (JsonStream *json);
/** Passes over the value that comes next. FALSE: failed. */
gboolean _gantry_json_skip (JsonStream *json);
/** Passes over the rest of the value that began with @token. */
gboolean _gantry_json_skip_from (JsonStream *json, JsonToken token);
/** Bytes read so far. */
guint64 _gantry_json_offset (const JsonStream *json);
/** Decimal text times 1000, rounded: microseconds as nanoseconds, exactly where a double is not. FALSE: out of range. */
gboolean _gantry_json_thousandths (const char *text, gint64 *value);

G_END_DECLS
