/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of what the child prints: however the bytes are cut into reads, the same lines come out, short enough and valid
 * text. */

#include "core/document/child-lines.h"
#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
take (const GantryChildLine *line, gpointer user_data)
{
  GString *all = user_data;

  g_assert (g_utf8_validate (line->text, -1, NULL));
  g_assert (strlen (line->text) <= 3 * GANTRY_CHILD_MOST_BYTES); /* a byte that is no text takes three */
  g_assert (isfinite (line->fraction) && line->fraction <= 1);
  g_string_append_printf (all, "%d %g %s\n", line->is_progress, line->fraction, line->text);
}

/* (transfer full) */
static char *
read_all (const guint8 *data, gsize size, gsize at_once)
{
  g_autoptr (GantryChildLines) lines = _gantry_child_lines_new ();
  GString *all = g_string_new (NULL);

  for (gsize at = 0; at < size; at += at_once)
    _gantry_child_lines_add (lines, data + at, MIN (at_once, size - at), take, all);
  _gantry_child_lines_end (lines, take, all);
  return g_string_free (all, FALSE);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *whole = read_all (data, size, MAX (size, 1)), *bytes = read_all (data, size, 1), *some = read_all (data, size, 7);

  g_assert_cmpstr (whole, ==, bytes);
  g_assert_cmpstr (whole, ==, some);
  return 0;
}
