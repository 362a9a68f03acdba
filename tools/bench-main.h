/* SPDX-License-Identifier: Apache-2.0 */
/* What every benchmark program does around its work: options, their limits, and how it says that it failed. */
#pragma once
#include <glib.h>

/** A number of the command line that must lie between @least and @most. */
typedef struct
{
  const char *option; /* without the dashes */
  const int *value;   /* what the option sets; NULL ends a list */
  int least, most;
} BenchLimit;

/** The work itself; FALSE with @error set where it cannot be done. */
typedef gboolean (*BenchRun) (GError **error);

/** Reads @options, of which @limits (ended by one without value) are checked, and calls @run in the locale C.
 *  What goes wrong is printed to standard error after @name.
 *  Returns: the exit status: 0, or 1 where the options or @run failed */
int bench_main (int argc, char **argv, const char *name, const GOptionEntry *options, const BenchLimit *limits, BenchRun run);
