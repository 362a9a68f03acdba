/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, times and counts as people read them: in one place, so that window, command line, pictures and refusals say the
 * same. Three figures that count, a plain space before the unit: scripts split there. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/**
 * "12.4 MiB", "640 B": binary units, rounded up, whatever it is that takes the bytes: planned and measured sizes keep their order, and
 * what has to fit is never shown smaller than it is. (transfer full)
 */
char *gantry_format_bytes (guint64 bytes);
/** The same for what it has to fit into (a limit, what is free), rounded down: what then looks as if it fits does. For a text that is read
 *  again, and for refusals, where what is needed is the larger; not beside what keeps to it. (transfer full) */
char *gantry_format_bytes_down (guint64 bytes);
/** Both as gantry_format_bytes(), with up to six figures where they differ and three do not show it: a plan or a measurement and the
 *  limit beside it. The larger of the two never reads as the smaller. @text_a, @text_b: (out) */
void gantry_format_bytes_apart (guint64 a, guint64 b, char **text_a, char **text_b);
/** "1.2 G", "640": a plain count, decimal units. (transfer full) */
char *gantry_format_count (double count);
/** "3.21 ms", "18.0 µs", "640 ns". (transfer full) */
char *gantry_format_ns (gint64 ns);
/** "12,403". (transfer full) */
char *gantry_format_integer (guint64 n);
/** "1 node", "3 nodes". (transfer full) */
char *gantry_format_plural (guint64 n, const char *singular, const char *plural);

G_END_DECLS
