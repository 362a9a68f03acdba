/* SPDX-License-Identifier: Apache-2.0 */
/* What soak programs share: their options, when they end, what they print. */
#pragma once
#include <glib.h>

/**
 * SoakOptions:
 * @seed: of the whole run
 * @until: monotonic time after which nothing new begins, 0: no limit
 * @count: how many cases, 0: no limit
 * @findings: (nullable): folder for what failed
 */
typedef struct
{
  guint64 seed;
  gint64 until;
  gint64 count;
  char *findings;
} SoakOptions;

/** Reads --seed, --minutes, --count and --findings. Returns: FALSE where they cannot be understood, which is said then */
gboolean soak_options_read (SoakOptions *options, int *argc, char ***argv, const char *what);
void soak_options_clear (SoakOptions *options);
/** Whether another case may begin after @done. */
gboolean soak_goes_on (const SoakOptions *options, guint64 done);
/** Seed of one case of the run. */
guint32 soak_case_seed (const SoakOptions *options, guint64 number);
/** Prints why, and writes @text to the folder for findings. */
void soak_report (const SoakOptions *options, guint64 number, const char *why, const char *text);
/** Prints the last line. Returns: the exit status */
int soak_end (guint64 passed, guint64 failed, guint64 skipped);
