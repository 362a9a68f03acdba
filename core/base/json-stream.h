/* SPDX-License-Identifier: Apache-2.0 */
/* JSON token by token from a stream: a trace of gigabytes is never in memory. Names and strings have a largest length,
 * nesting a largest depth. */
#pragma once
#include <gio/gio.h>

G_BEGIN_DECLS

typedef enum
{
  GANTRY_JSON_FAILED, /* see @error */
  GANTRY_JSON_END,
  GANTRY_JSON_BEGIN_OBJECT,
  GANTRY_JSON_END_OBJECT,
  GANTRY_JSON_BEGIN_ARRAY,
  GANTRY_JSON_END_ARRAY,
  GANTRY_JSON_KEY,    /* in @text */
  GANTRY_JSON_STRING, /* in @text */
  GANTRY_JSON_NUMBER, /* in @text, as it stands there */
  GANTRY_JSON_WORD,   /* true, false, null: in @text */
} GantryJsonToken;

#define GANTRY_JSON_MOST_DEPTH 96
#define GANTRY_JSON_MOST_TEXT (1u << 20) /* bytes of a string: the rest is cut off, and who cannot do without looks at the length */

typedef struct
{
  GInputStream *stream; /* (unowned) */
  GCancellable *cancellable;
  const char *what; /* (unowned): begins the messages */
  guint8 *buffer;
  gsize size, at;
  guint64 before; /* bytes before the buffer */
  GString *text;
  guint depth;
  guint8 in_object[GANTRY_JSON_MOST_DEPTH];
  guint8 state;
  gboolean ended; /* the stream has */
  GError *error;
} GantryJsonStream;

/** @what: begins the messages of errors. Free with gantry_json_stream_clear(). */
void gantry_json_stream_init (GantryJsonStream *json, GInputStream *stream, const char *what, GCancellable *cancellable);
void gantry_json_stream_clear (GantryJsonStream *json);
/** The next token, its text in @text. After %GANTRY_JSON_FAILED the stream's error says what is wrong at which byte. */
GantryJsonToken gantry_json_stream_next (GantryJsonStream *json);
/** Passes over the value that comes next. FALSE: failed. */
gboolean gantry_json_stream_skip (GantryJsonStream *json);
/** Passes over the rest of the value that began with @token. */
gboolean gantry_json_stream_skip_from (GantryJsonStream *json, GantryJsonToken token);
/** Bytes read so far. */
guint64 gantry_json_stream_offset (const GantryJsonStream *json);
/** Decimal text times 1000, rounded: microseconds as nanoseconds, exactly where a double is not. FALSE: out of range. */
gboolean gantry_json_thousandths (const char *text, gint64 *value);

G_END_DECLS
