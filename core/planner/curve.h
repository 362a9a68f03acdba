/* SPDX-License-Identifier: Apache-2.0 */
/* How long a kind of work takes, by how much of it there is: what is measured of small and large kernels, in and out of caches. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/** Points that a curve has at most. */
#define GANTRY_CURVE_POINTS 10u
/** No number of a curve or rate is more: beyond it sums and quotients would end being numbers. */
#define GANTRY_CURVE_MOST 1e24
/** No curve says more microseconds, however steep it is: sums of many and programs of the solver stay numbers. */
#define GANTRY_CURVE_MOST_US 1e15

/** GantryCurve: measured points by rising work, none: nothing is known. @us: microseconds, beside what starting a kernel costs */
typedef struct
{
  guint n;
  double work[GANTRY_CURVE_POINTS], us[GANTRY_CURVE_POINTS];
} GantryCurve;

/** Takes another point, which lies above those that there are. What takes less time than less work did takes as much as that. */
void gantry_curve_add (GantryCurve *curve, double work, double us);
/**
 * gantry_curve_us:
 *
 * Straight lines between the points, and on as the last of them. Below the first as the first of them, so that what it costs to begin
 * stays, but not less than in proportion.
 *
 * Returns: microseconds; 0 of no work, and where nothing is known
 */
double gantry_curve_us (const GantryCurve *curve, double work);
/** "4096:0.41;65536:5.2;" (transfer full) */
char *gantry_curve_to_text (const GantryCurve *curve);
/** Reads that. Returns: FALSE where it is none: numbers that do not rise or are above GANTRY_CURVE_MOST, work of less than 1, no time, or too many points */
gboolean gantry_curve_parse (GantryCurve *curve, const char *text);

G_END_DECLS
