/* SPDX-License-Identifier: Apache-2.0 */
/* The one time axis that lanes and memory curve share: what is seen of it, where the pointer is, and which moment
 * was picked. Times are nanoseconds from the begin of the run. */
#pragma once
#include <glib-object.h>

G_BEGIN_DECLS

#define GANTRY_TYPE_TIME_AXIS (gantry_time_axis_get_type ())
G_DECLARE_FINAL_TYPE (GantryTimeAxis, gantry_time_axis, GANTRY, TIME_AXIS, GObject)

/** Signals: "changed" (the part seen), "cursor-changed", "moment-changed" (picked by the user). */
GantryTimeAxis *gantry_time_axis_new (void);
/** Shows all of it when the length differs much from the one before. */
void gantry_time_axis_set_length (GantryTimeAxis *axis, gint64 length);
/** Nanoseconds from 0 that can be seen in all. */
gint64 gantry_time_axis_get_length (GantryTimeAxis *axis);
/** @t0: @t1: (out): what is seen, in ns */
void gantry_time_axis_get (GantryTimeAxis *axis, gint64 *t0, gint64 *t1);
/** Shows [@t0, @t1], in ns, kept within the length and not below the least span; emits "changed" where it is another. */
void gantry_time_axis_set (GantryTimeAxis *axis, gint64 t0, gint64 t1);
/** Shows all of it. */
void gantry_time_axis_fit (GantryTimeAxis *axis);
/** @factor > 1 shows less; @time stays where it is. */
void gantry_time_axis_zoom (GantryTimeAxis *axis, double factor, gint64 time);
/** @share: of what is seen */
void gantry_time_axis_pan (GantryTimeAxis *axis, double share);
/** -1: the pointer is elsewhere. */
void gantry_time_axis_set_cursor (GantryTimeAxis *axis, gint64 time);
/** In ns; -1: the pointer is elsewhere. */
gint64 gantry_time_axis_get_cursor (GantryTimeAxis *axis);
/** The moment whose living values are listed, -1: none. */
void gantry_time_axis_set_moment (GantryTimeAxis *axis, gint64 time);
/** In ns; -1: none was picked. */
gint64 gantry_time_axis_get_moment (GantryTimeAxis *axis);

G_END_DECLS
