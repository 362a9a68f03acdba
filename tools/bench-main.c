/* SPDX-License-Identifier: Apache-2.0 */
/* The main of the benchmark programs. */
#include "tools/bench-main.h"
#include <gio/gio.h>
#include <locale.h>

static gboolean
check_limits (const BenchLimit *limits, GError **error)
{
  for (const BenchLimit *limit = limits; limit->value != NULL; limit++)
    if (*limit->value < limit->least || *limit->value > limit->most)
      {
        g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "--%s must be %d to %d, not %d", limit->option, limit->least, limit->most, *limit->value);
        return FALSE;
      }
  return TRUE;
}

int
bench_main (int argc, char **argv, const char *name, const GOptionEntry *options, const BenchLimit *limits, BenchRun run)
{
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GError) error = NULL;

  setlocale (LC_ALL, "C");
  g_option_context_add_main_entries (context, options, NULL);
  if (g_option_context_parse (context, &argc, &argv, &error) && check_limits (limits, &error) && run (&error))
    return 0;
  g_printerr ("%s: %s\n", name, error->message);
  return 1;
}
