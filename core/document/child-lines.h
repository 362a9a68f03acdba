/* SPDX-License-Identifier: Apache-2.0 */
/* What a child process prints, line by line. It is not trusted: whatever it prints and however long its lines are, this holds a
 * few kilobytes, and what comes out is text that can be shown. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/** Most bytes of a line that are kept; the rest of it is dropped. */
#define GANTRY_CHILD_MOST_BYTES 4096u

/**
 * GantryChildLine:
 *
 * @is_progress: "progress FRACTION WHAT"
 * @fraction: of progress: 0..1, negative: unknown
 * @text: valid UTF-8: of progress what is done, else the whole line
 */
typedef struct
{
  gboolean is_progress;
  double fraction;
  char *text;
} GantryChildLine;

void _gantry_child_line_clear (GantryChildLine *line);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GantryChildLine, _gantry_child_line_clear)

typedef struct _GantryChildLines GantryChildLines;

/** Returns: (transfer full): a reader at the begin of a line */
GantryChildLines *_gantry_child_lines_new (void);
void _gantry_child_lines_free (GantryChildLines *lines); /* (nullable) */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryChildLines, _gantry_child_lines_free)
/**
 * _gantry_child_lines_add:
 * @bytes: (array length=n): what was read next
 * @take: called for each line that ends in them
 */
void _gantry_child_lines_add (GantryChildLines *lines, gconstpointer bytes, gsize n, void (*take) (const GantryChildLine *line, gpointer user_data),
                              gpointer user_data);
/** The child has closed its end: what stands there without a line end is a line. */
void _gantry_child_lines_end (GantryChildLines *lines, void (*take) (const GantryChildLine *line, gpointer user_data), gpointer user_data);

G_END_DECLS
