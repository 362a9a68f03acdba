/* SPDX-License-Identifier: Apache-2.0 */
/* What the panels say beside sizes, times and counts (core/base/format.h): differences, types, places. */
#pragma once
#include "core/base/format.h"
#include "core/graph/module.h"

G_BEGIN_DECLS

/** " (−2.3 MiB)", " (+4.0 ms)", " (±0)": after a value. (transfer full) */
char *gantry_format_delta_bytes (gint64 bytes);
/** @ns: nanoseconds. The same of a time. */
char *gantry_format_delta_ns (gint64 ns);
/** "1 May 2026 10:15:30": a point in time, ISO 8601, as the people here write it, in their zone; as it is where it is none. (transfer full)
 *  (nullable): of NULL */
char *gantry_format_when (const char *iso);
/** Bytes of a static tensor, else NULL. (transfer full) (nullable) */
char *gantry_format_type_bytes (const GantryType *type);
/** @text, with dots in its middle where it has more than @most signs: for menus, which are as wide as what is in them. (transfer full) */
char *gantry_format_short (const char *text, guint most);
/** What a click has done, to be told: @why (nullable) some could not have it, else of how many. @kind: as gantry_document_set_placement().
 *  (transfer full) (nullable): one value, which says it for itself */
char *gantry_format_placed (int kind, guint n, const char *why);
/**
 * gantry_format_location:
 * @location: that begins with the path of a file
 * @beside: (nullable): path of the model
 *
 * Returns: (transfer full): without the folder of the model, or with "~" for the user's
 */
char *gantry_format_location (const char *location, const char *beside);

G_END_DECLS
