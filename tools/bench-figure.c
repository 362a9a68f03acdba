/* SPDX-License-Identifier: Apache-2.0 */
/* The one place where benchmarks print figures; tools/collect-figures.py makes JSON of them. */
#include "tools/bench-figure.h"
#include <stdlib.h>

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

void
bench_print_figure (const char *name, double *values, guint n, const char *unit, const char *peer)
{
  qsort (values, n, sizeof *values, compare_doubles);
  g_print ("%-40s %12.6g %-8s %.5g..%.5g  %s\n", name, values[n / 2], unit, values[0], values[n - 1], peer);
}
