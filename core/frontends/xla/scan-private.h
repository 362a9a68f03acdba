/* SPDX-License-Identifier: Apache-2.0 */
/* Private to core/frontends/xla: walking over a file that somebody else wrote, most of it as text. It has a length and
 * no NUL; a line may be as long as the text. The first error sticks and moves to the end of the text, so that every loop ends;
 * what is read after it does not count. */
#pragma once
#include "core/base/base.h"
#include <errno.h>
#include <string.h>

G_BEGIN_DECLS

/** How deep brackets, regions, attributes and locations may be nested. */
#define GANTRY_XLA_MOST_DEPTH 256
#define GANTRY_XLA_MOST_BYTES (G_GUINT64_CONSTANT (1) << 30)

typedef struct
{
  const char *name; /* of the file, in messages */
  const char *text, *at, *end;
  guint line; /* of @at, from 1 */
  const char *line_start;
  const char *first; /* the first of its line that is no space */
  guint depth;
  gboolean binary; /* an error names the byte that @at is */
  GError *error;
} GantryXlaScan;

/** Where a line of the text begins and which it is: what an error needs besides the place itself. */
typedef struct
{
  const char *at;
  guint line;
  const char *line_start;
} GantryXlaPlace;

/** A piece of the text. */
typedef struct
{
  const char *at;
  gsize length;
} GantryXlaSpan;

void gantry_xla_scan_init (GantryXlaScan *s, const char *name, const char *text, gsize length);
void gantry_xla_scan_fail (GantryXlaScan *s, GantryError code, const char *format, ...) G_GNUC_PRINTF (3, 4);
/** Skips space and comments. Returns: the character that comes, 0 at the end */
char gantry_xla_scan_peek (GantryXlaScan *s);
/** The character @ahead behind @at, 0 past the end; skips nothing. */
char gantry_xla_scan_ahead (const GantryXlaScan *s, gsize ahead);
/** Skips space, then @token where it comes. A @token that ends in a letter has to end there. */
gboolean gantry_xla_scan_accept (GantryXlaScan *s, const char *token);
/** As accept, but fails where it does not come. */
gboolean gantry_xla_scan_expect (GantryXlaScan *s, const char *token);
/** Whether @token comes, which stays. */
gboolean gantry_xla_scan_sees (GantryXlaScan *s, const char *token);
/** [A-Za-z_][A-Za-z0-9_.$]*, with '-' too where @dash. An empty span where none comes. */
GantryXlaSpan gantry_xla_scan_word (GantryXlaScan *s, gboolean dash);
/** What follows % or @ or ^ or #: letters, digits and $._- or a string in quotes. Fails where none comes. */
GantryXlaSpan gantry_xla_scan_suffix (GantryXlaScan *s);
/** A string in quotes, with its escapes undone. Returns: (transfer full) (nullable): NULL after a failure */
char *gantry_xla_scan_string (GantryXlaScan *s);
/** A whole number, with sign. Fails where none comes or it does not fit. */
gint64 gantry_xla_scan_int (GantryXlaScan *s);
/** Skips a value: everything up to a comma, a closing bracket or, where @line, a line's end outside of all brackets. */
GantryXlaSpan gantry_xla_scan_value (GantryXlaScan *s, gboolean line);
/** Skips a bracket that comes and all in it. Returns: what is in it, without the brackets */
GantryXlaSpan gantry_xla_scan_bracket (GantryXlaScan *s);
guint gantry_xla_scan_column (const GantryXlaScan *s);
/** Skips space. Returns: the place of what comes */
GantryXlaPlace gantry_xla_scan_place (GantryXlaScan *s);
/** Goes to a place of the same text, before or behind. After a failure it stays at the end. */
void gantry_xla_scan_go (GantryXlaScan *s, const GantryXlaPlace *place);
/** Goes one deeper. Returns: FALSE after a failure; who got TRUE decrements @depth */
gboolean gantry_xla_scan_enter (GantryXlaScan *s);

/** Whether what comes is the first of its line. */
static inline gboolean
gantry_xla_scan_first (const GantryXlaScan *s)
{
  return s->at == s->first;
}
static inline gboolean
gantry_xla_span_is (GantryXlaSpan span, const char *text)
{
  return span.length == strlen (text) && memcmp (span.at, text, span.length) == 0;
}
static inline char *
gantry_xla_span_dup (GantryXlaSpan span)
{
  return g_strndup (span.at, span.length);
}

G_END_DECLS
