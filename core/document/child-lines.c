/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a pipe to lines. */
#include "core/document/child-lines.h"
#include <math.h>
#include <string.h>

#define PROGRESS "progress "

struct _GantryChildLines
{
  GString *rest; /* of the line that has not ended, at most GANTRY_CHILD_MOST_BYTES */
};

void
_gantry_child_line_clear (GantryChildLine *line)
{
  g_clear_pointer (&line->text, g_free);
}

GantryChildLines *
_gantry_child_lines_new (void)
{
  GantryChildLines *lines = g_new0 (GantryChildLines, 1);

  lines->rest = g_string_new (NULL);
  return lines;
}

void
_gantry_child_lines_free (GantryChildLines *lines)
{
  if (lines == NULL)
    return;
  g_string_free (lines->rest, TRUE);
  g_free (lines);
}

/* A file's name may be anything, so that bytes need be no text. */
static void
read_line (const char *bytes, gsize n, GantryChildLine *line)
{
  g_autofree char *text = g_utf8_make_valid (bytes, (gssize) n);
  char *what;

  g_strchomp (text);
  *line = (GantryChildLine){ .fraction = -1 };
  if (!g_str_has_prefix (text, PROGRESS))
    {
      line->text = g_steal_pointer (&text);
      return;
    }
  line->is_progress = TRUE;
  line->fraction = g_ascii_strtod (text + strlen (PROGRESS), &what);
  if (!isfinite (line->fraction) || line->fraction < 0)
    line->fraction = -1;
  line->fraction = MIN (line->fraction, 1);
  line->text = g_strdup (g_strstrip (what));
}

static void
give (GantryChildLines *lines, void (*take) (const GantryChildLine *line, gpointer user_data), gpointer user_data)
{
  g_auto (GantryChildLine) line = { 0 };

  read_line (lines->rest->str, lines->rest->len, &line);
  g_string_truncate (lines->rest, 0);
  take (&line, user_data);
}

void
_gantry_child_lines_add (GantryChildLines *lines, gconstpointer bytes, gsize n, void (*take) (const GantryChildLine *line, gpointer user_data),
                         gpointer user_data)
{
  const char *at = bytes, *end = at + n;

  while (at < end)
    {
      const char *stop = memchr (at, '\n', (gsize) (end - at));
      gsize length = (gsize) ((stop != NULL ? stop : end) - at);

      g_string_append_len (lines->rest, at, (gssize) MIN (length, GANTRY_CHILD_MOST_BYTES - lines->rest->len));
      if (stop != NULL)
        give (lines, take, user_data);
      at += length + (stop != NULL);
    }
}

void
_gantry_child_lines_end (GantryChildLines *lines, void (*take) (const GantryChildLine *line, gpointer user_data), gpointer user_data)
{
  if (lines->rest->len > 0)
    give (lines, take, user_data);
}
