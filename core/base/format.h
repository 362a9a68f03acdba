/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, times and counts as people read them: in one place, so that window, command line, pictures and refusals say the
 * same. Three figures that count, of sizes one behind the point at least; a plain space before the unit: scripts split there. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/**
 * "12.4 MiB", "439.1 MiB", "640 B": binary units, rounded up, whatever it is that takes the bytes: planned and measured sizes keep their order, and
 * what has to fit is never shown smaller than it is. (transfer full)
 */
char *gantry_format_bytes (guint64 bytes);
/** " (1124991 bytes)" behind what gantry_format_bytes() rounds; "" where that is exact. (transfer full) */
char *gantry_format_bytes_exactly (guint64 bytes);
/** The same for what is free, rounded down. (transfer full) */
char *gantry_format_bytes_down (guint64 bytes);
/**
 * gantry_format_limit:
 *
 * A limit, the same wherever it is said: "8.00 GiB", "526.4 MiB". Of three to six figures the fewest that gantry_size_parse() reads
 * as exactly @bytes again; where six do not, six rounded down: what looks as if it fits does. (transfer full)
 */
char *gantry_format_limit (guint64 bytes);
/** @bytes, rounded up, beside gantry_format_limit() of @limit (0: none), with up to six figures: above it where they are, below where they
 *  are, and the same text where they are the same. Below it by less than six figures show, they read as the limit. (transfer full) */
char *gantry_format_bytes_within (guint64 bytes, guint64 limit);
/** @bound, below which @bytes cannot be, beside gantry_format_bytes_within() of @bytes and @limit: with as many figures, rounded down, and the same
 *  text where they are the same. (transfer full) */
char *gantry_format_bytes_bound (guint64 bound, guint64 bytes, guint64 limit);
/** Both as gantry_format_bytes_within() @limit (0: none), with up to six figures where they differ and three do not show it. The larger of
 *  the two never reads as the smaller. @text_a, @text_b: (out) */
void gantry_format_bytes_apart (guint64 a, guint64 b, guint64 limit, char **text_a, char **text_b);
/** "1.2 G", "640": a plain count, decimal units. (transfer full) */
char *gantry_format_count (double count);
/** "3.21 ms", "18.0 µs", "640 ns". (transfer full) */
char *gantry_format_ns (gint64 ns);
/** The same with @more digits behind the point than it has. (transfer full) */
char *gantry_format_ns_finely (gint64 ns, guint more);
/** "12,403". (transfer full) */
char *gantry_format_integer (guint64 n);
/**
 * gantry_format_text:
 * @text: a stranger's: a name, a path, a message that has some in it
 * @lines: line ends and tabs stay
 *
 * What a terminal would obey is written as "\\x1b", and so is what is no UTF-8 and what turns the direction of writing; all else stays, backslashes
 * too. (transfer full)
 */
char *gantry_format_text (const char *text, gboolean lines);
/** "1 node", "3 nodes". (transfer full) */
char *gantry_format_plural (guint64 n, const char *singular, const char *plural);

G_END_DECLS
