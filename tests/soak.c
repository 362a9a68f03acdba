/* SPDX-License-Identifier: Apache-2.0 */
/* Options and counts of soak programs. */
#include "tests/soak.h"
#include <glib/gstdio.h>
#include <stdio.h>

gboolean
soak_options_read (SoakOptions *options, int *argc, char ***argv, const char *what)
{
  gint64 seed = 1;
  double minutes = 0;
  GOptionEntry entries[] = {
    { "seed", 's', 0, G_OPTION_ARG_INT64, &seed, "Seed of the run (1)", "N" },
    { "minutes", 'm', 0, G_OPTION_ARG_DOUBLE, &minutes, "Begin nothing after so long", "M" },
    { "count", 'n', 0, G_OPTION_ARG_INT64, &options->count, "End after so many", "N" },
    { "findings", 'o', 0, G_OPTION_ARG_FILENAME, &options->findings, "What failed is written there", "FOLDER" },
    { NULL },
  };
  g_autoptr (GOptionContext) context = g_option_context_new (what);
  g_autoptr (GError) error = NULL;

  *options = (SoakOptions){ 0 };
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, argc, argv, &error))
    {
      g_printerr ("%s\n", error->message);
      return FALSE;
    }
  options->seed = (guint64) seed;
  options->until = minutes > 0 ? g_get_monotonic_time () + (gint64) (minutes * 60e6) : 0;
  printf ("# seed %" G_GINT64_FORMAT "\n", seed);
  return TRUE;
}

void
soak_options_clear (SoakOptions *options)
{
  g_clear_pointer (&options->findings, g_free);
}

gboolean
soak_goes_on (const SoakOptions *options, guint64 done)
{
  return (options->count == 0 || done < (guint64) options->count) && (options->until == 0 || g_get_monotonic_time () < options->until);
}

/* splitmix64's finalizer: neighbouring cases have nothing in common. */
guint32
soak_case_seed (const SoakOptions *options, guint64 number)
{
  guint64 x = options->seed * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15) + number + 1;

  x = (x ^ x >> 30) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return (guint32) (x >> 32 ^ x);
}

void
soak_report (const SoakOptions *options, guint64 number, const char *why, const char *text)
{
  g_autofree char *name = NULL, *path = NULL;
  g_autoptr (GError) error = NULL;

  printf ("# FAILED: case %" G_GUINT64_FORMAT " of seed %" G_GUINT64_FORMAT ": %s\n", number, options->seed, why);
  if (options->findings != NULL)
    {
      name = g_strdup_printf ("%s-%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT ".txt", g_get_prgname (), options->seed, number);
      path = g_build_filename (options->findings, name, NULL);
      g_mkdir_with_parents (options->findings, 0777);
      printf ("# %s\n", g_file_set_contents (path, text, -1, &error) ? path : error->message);
    }
  fflush (stdout);
}

int
soak_end (guint64 passed, guint64 failed, guint64 skipped)
{
  printf ("%" G_GUINT64_FORMAT " passed, %" G_GUINT64_FORMAT " failed, %" G_GUINT64_FORMAT " skipped\n", passed, failed, skipped);
  return failed > 0;
}
