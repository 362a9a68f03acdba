/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, times and counts as people read them: in one place, so that window, command line, pictures and refusals say the
 * same. Three figures that count, a plain space before the unit: scripts split there. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/** "12.4 MiB", "640 B": binary units. (transfer full) */
char *gantry_format_bytes (guint64 bytes);
/** The same for what has to fit, rounded up, and for what it has to fit into, rounded down: what then looks as if it fits does. */
char *gantry_format_bytes_up (guint64 bytes);
char *gantry_format_bytes_down (guint64 bytes);
/** "1.2 G", "640": a plain count, decimal units. (transfer full) */
char *gantry_format_count (double count);
/** "3.21 ms", "18.0 µs", "640 ns". (transfer full) */
char *gantry_format_ns (gint64 ns);
/** "12,403". (transfer full) */
char *gantry_format_integer (guint64 n);
/** "1 node", "3 nodes". (transfer full) */
char *gantry_format_plural (guint64 n, const char *singular, const char *plural);

G_END_DECLS
