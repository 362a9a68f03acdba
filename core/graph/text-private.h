/* SPDX-License-Identifier: Apache-2.0 */
/* What the printer and the parser of the text form share: the reader of tokens, and both directions of
 * values (strings, numbers, types, literals), which stand side by side so that they stay inverse. */
#pragma once
#include "core/graph/context.h"
#include "core/graph/text.h"

G_BEGIN_DECLS

#define GANTRY_TEXT_MAX_BYTES (G_GINT64_CONSTANT (1) << 30)
#define GANTRY_TEXT_MAX_NESTING 64
#define GANTRY_TEXT_MAX_ID (G_MAXINT32 - 1)
/** Longer literals than that many elements are not written as numbers. */
#define GANTRY_TEXT_INLINE_ELEMENTS 64

/* text-reader.c: a cursor over the text. Every function returns FALSE and sets @error once. */

typedef struct
{
  GantryContext *context;
  const char *file_name;
  const char *beside; /* (nullable): path of the text: files that it names lie in its folder */
  const char *begin, *at, *end;
  const char *line_begin;
  guint32 line;
  GHashTable *files; /* path -> GMappedFile */
  GError *error;
} GantryTextReader;

/** Always returns FALSE: "file:line:column: expected @what, not ...". */
gboolean _gantry_text_expected (GantryTextReader *reader, const char *what);
/** Always returns FALSE: "file:line:column: message". */
gboolean _gantry_text_fail (GantryTextReader *reader, GantryError code, const char *format, ...) G_GNUC_PRINTF (3, 4);
void _gantry_text_skip (GantryTextReader *reader);
/** The character that comes next, 0 at the end. */
char _gantry_text_peek (GantryTextReader *reader);
/** Takes @character when it comes next. */
gboolean _gantry_text_accept (GantryTextReader *reader, char character);
gboolean _gantry_text_expect (GantryTextReader *reader, char character, const char *what);
/** A name [A-Za-z_][A-Za-z0-9_.]*. Returns: its length, 0 when none comes next. */
gsize _gantry_text_word (GantryTextReader *reader, const char **word);
gboolean _gantry_text_accept_word (GantryTextReader *reader, const char *word);
gboolean _gantry_text_string (GantryTextReader *reader, GString *string);
/** A string as its id. */
gboolean _gantry_text_interned (GantryTextReader *reader, guint32 *id);
/** The characters of a number, NUL terminated. */
gboolean _gantry_text_number (GantryTextReader *reader, char *buffer, gsize size);
gboolean _gantry_text_unsigned (GantryTextReader *reader, guint64 limit, const char *what, guint64 *value);
gboolean _gantry_text_int (GantryTextReader *reader, gint64 *value);
/** @mark and a number from 0 to @limit: "%12". */
gboolean _gantry_text_id (GantryTextReader *reader, char mark, guint64 limit, const char *what, guint32 *id);
/** A word, or anything in quotes, as its id. */
gboolean _gantry_text_name (GantryTextReader *reader, const char *what, guint32 *id);

/* text-attribute.c */

/** Room for the lists of attributes, used again for each. */
typedef struct
{
  GArray *ints, *floats; /* gint64, double */
  GPtrArray *strings;
} GantryTextLists;

void _gantry_text_lists_init (GantryTextLists *lists);
void _gantry_text_lists_clear (GantryTextLists *lists);
/** Attributes in braces; none come next: @attrs is 0. */
gboolean _gantry_text_attributes (GantryTextReader *reader, GantryTextLists *lists, guint32 *attrs);

/* text-values.c */

void _gantry_text_print_string (GString *out, const char *text);
/** Quoted only when it is not a word. */
void _gantry_text_print_name (GString *out, const char *text);
void _gantry_text_print_double (GString *out, double value);
/** A number or inf, -inf, nan, nan(0xbits). */
gboolean _gantry_text_double (GantryTextReader *reader, double *value);
void _gantry_text_print_type (GString *out, GantryContext *context, guint32 id);
gboolean _gantry_text_type (GantryTextReader *reader, guint32 *id);

/* text-literal.c */

void _gantry_text_print_literal (GString *out, GantryContext *context, const GantryLiteral *literal, gboolean elide);
/** TRUE when one of the words that begin a literal comes next. */
gboolean _gantry_text_at_literal (GantryTextReader *reader);
gboolean _gantry_text_literal (GantryTextReader *reader, guint32 *id);
/** One number, or true and false. */
gboolean _gantry_text_element (GantryTextReader *reader, GantryElementType type, guint8 *bytes);
/** NaN of @type with its bits, infinity: what a number cannot write. */
gboolean _gantry_text_float_bits (GantryTextReader *reader, GantryElementType type, guint8 *bytes);
void _gantry_text_print_float (GString *out, GantryElementType type, const guint8 *bytes);

/* text-location.c */

/** Without braces around it. @numbers: (nullable): of the parents, by id; without it the chain is left out */
void _gantry_text_print_location (GString *out, GantryContext *context, const GantryLocation *location, GHashTable *numbers);
/** A line for each location that led to one of @module. Returns: (transfer full): id -> number */
GHashTable *_gantry_text_print_locations (GString *out, const GantryModule *module);
/** A location that led to others. @length: of its chain, itself included */
typedef struct
{
  guint32 id;
  guint length;
} GantryTextParent;

/** @parents: (element-type GantryTextParent): by number from 1; @read: @id is 0 for none. */
gboolean _gantry_text_location (GantryTextReader *reader, const GArray *parents, GantryTextParent *read);
/** The lines before the first function, to the end of @parents. */
gboolean _gantry_text_locations (GantryTextReader *reader, GArray *parents);

G_END_DECLS
