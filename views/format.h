/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and places as people read them; one place, so that every panel says the same. */
#pragma once
#include "core/ir/module.h"

G_BEGIN_DECLS

/** "12.4 MiB", "640 B". (transfer full) */
char *gantry_format_bytes (guint64 bytes);
/** "1.2 G", "640": a plain count. (transfer full) */
char *gantry_format_count (double count);
/** "3.21 ms", "18 µs", "640 ns". (transfer full) */
char *gantry_format_ns (gint64 ns);
/** " (−2.3 MiB)", " (+4.0 ms)", " (±0)": after a value. (transfer full) */
char *gantry_format_delta_bytes (gint64 bytes);
char *gantry_format_delta_ns (gint64 ns);
/** "12,403". (transfer full) */
char *gantry_format_integer (guint64 n);
/** Bytes of a static tensor, else NULL. (transfer full) (nullable) */
char *gantry_format_type_bytes (const GantryType *type);
/**
 * gantry_format_location:
 * @location: that begins with the path of a file
 * @beside: (nullable): path of the model
 *
 * Returns: (transfer full): without the folder of the model, or with "~" for the user's
 */
char *gantry_format_location (const char *location, const char *beside);
/** "1 node", "3 nodes". (transfer full) */
char *gantry_format_plural (guint64 n, const char *singular, const char *plural);

G_END_DECLS
