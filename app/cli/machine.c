/* SPDX-License-Identifier: Apache-2.0 */
/* The processor is measured by a process of its own, before this one has started threads that would be in its way. */
#include "app/cli/machine.h"
#include "core/base/child-program.h"
#include "core/planner/machine.h"
#include <string.h>

guint
gantry_cli_threads (const GantryCliOptions *options)
{
  return options->threads != NULL ? options->threads (options->how) : 0;
}

/* Why a measurement was not kept, of all that calibrate says: its last line, without its name. */
static const char *
reason (char *said)
{
  static const char name[] = "gantry-cli calibrate: ";
  const char *line = strrchr (g_strchomp (said), '\n');

  line = line != NULL ? line + 1 : said;
  return g_str_has_prefix (line, name) ? line + strlen (name) : line;
}

/* What it says is told as a note: the command goes on whatever comes of it. */
static void
measure (guint n_threads)
{
  g_autofree char *cli = gantry_child_program (), *threads = g_strdup_printf ("--threads=%u", n_threads);
  const char *const command[] = { cli, "calibrate", "--keep", "--seconds=8", threads, NULL };
  g_autofree char *said = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  if (cli == NULL)
    return;
  gantry_cli_tell ("%s: note: this processor is measured once, so that predictions of time are of it; that takes some seconds\n", g_get_prgname ());
  if (!g_spawn_sync (NULL, (char **) command, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, &said, &status, &error))
    gantry_cli_tell ("%s: note: %s\n", g_get_prgname (), error->message);
  else if (status != 0)
    gantry_cli_tell ("%s: note: predictions of time are by stated rates: %s\n", g_get_prgname (), reason (said));
}

void
gantry_cli_know_machine (const GantryCliOptions *options)
{
  guint n_threads = gantry_cli_threads (options);

  /* The window, whose child this is with --progress, has it measured while nobody waits. */
  if (options->places && !options->progress && options->gpu == NULL && options->resolved.machine == NULL && options->resolved.arch == NULL
      && gantry_machine_is_due (n_threads))
    measure (n_threads);
}
