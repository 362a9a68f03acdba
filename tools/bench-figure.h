/* SPDX-License-Identifier: Apache-2.0 */
/* One figure of a benchmark, in the form that tools/bench reads: NAME VALUE UNIT MIN..MAX PEER. */
#pragma once
#include <glib.h>

/** @name: without blanks; @values: (array length=n): sorted here, their median is the value;
 *  @peer: what stands beside it, or "not measured" */
void bench_print_figure (const char *name, double *values, guint n, const char *unit, const char *peer);
