/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli: finds the subcommand. */
#include "app/cli/cli.h"
#include "core/base/cache.h"
#include "core/base/file.h"
#include "core/base/scratch.h"
#include "core/base/thread.h"
#include "core/planner/machine.h"
#include "gantry-config.h"
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static const GantryCommandInfo commands[] = {
  { "info", "MODEL", "what is in a model file and what cannot be compiled", gantry_cli_info },
  { "passes", "MODEL", "runs the passes and says what each changed", gantry_cli_passes },
  { "compile", "MODEL", "compiles for this machine, shows or writes code and plan", gantry_cli_compile },
  { "run", "MODEL", "compiles, runs and measures", gantry_cli_run },
  { "profile", "MODEL", "records runs, here or on another machine, and reports", gantry_cli_profile },
  { "train", "MODEL", "makes a training step of a program and plans it", gantry_cli_train },
  { "plan", "MODEL", "plans memory under a policy, a limit or a goal", gantry_cli_plan },
  { "solve", "MODEL", "searches for placements that reach a goal", gantry_cli_solve },
  { "pareto", "MODEL", "finds the front of memory and time", gantry_cli_pareto },
  { "python", "PROGRAM", "runs a Python program: what it jit-compiles runs here", gantry_cli_python },
  { "check", "PROGRAM", "says what of a Python program no graph can be made of", gantry_cli_check },
  { "render", "MODEL", "draws graph, timeline or memory as SVG, PNG or DOT", gantry_cli_render },
  { "export", "SESSION", "writes a recording for Perfetto or as a table", gantry_cli_export },
  { "runs", "SESSION", "lists the runs of a session, and deletes some", gantry_cli_runs },
  { "import", "TRACE", "takes over a trace of Nsight Systems or PyTorch", gantry_cli_import },
  { "verify", "DIR...", "runs ONNX backend test folders", gantry_cli_verify },
  { "devices", "", "lists what programs can run on, and says what is missing", gantry_cli_devices },
  { "calibrate", "", "measures a device, and writes it as a target file", gantry_cli_calibrate },
  { "serve", "", "answers another gantry-cli: see profile --host", gantry_cli_serve },
  { "pack", "FILE.csv", "gives the buffers of a table offsets in one arena", gantry_cli_pack },
};

static int
usage (FILE *out)
{
  fprintf (out, "Usage: gantry-cli COMMAND [OPTION...] ARGUMENT...\n\n");
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    fprintf (out, "  %-9s %-8s %s\n", commands[i].name, commands[i].arguments, commands[i].summary);
  fprintf (out, "\ngantry-cli COMMAND --help tells the options of a command.\n"
                "Exit status: 0 done, 1 error, 2 results differ from those expected, 3 not supported,\n"
                "4 more memory was touched than the limit.\n");
  return out == stdout ? GANTRY_EXIT_DONE : GANTRY_EXIT_ERROR;
}

/* oneDNN's threads are OpenMP's, which by default spin for a while after each product and so keep the processors from
 * the workers that run the kernel after it: a run on two threads takes several times as long. libgomp reads its setting while it is
 * loaded, with oneDNN. What the user has set is left alone. */
static void
keep_openmp_quiet (void)
{
  if (g_getenv ("OMP_WAIT_POLICY") == NULL && g_getenv ("GOMP_SPINCOUNT") == NULL)
    g_setenv ("OMP_WAIT_POLICY", "passive", TRUE);
}

/* A document works on one thread beside the main one, and GLib has one of its own, without which it ends the program: it is made here,
 * before others take what is left. */
static gboolean
can_make_threads (void)
{
  g_autoptr (GError) error = NULL;

  if (gantry_thread_check (2, &error))
    {
      g_type_ensure (G_TYPE_TASK);
      return TRUE;
    }
  gantry_cli_tell ("gantry-cli: %s\n", error->message);
  return FALSE;
}

static int
run_command (int argc, char **argv)
{
  if (argc < 2)
    return usage (stderr);
  if (strcmp (argv[1], "--help") == 0 || strcmp (argv[1], "-h") == 0 || strcmp (argv[1], "help") == 0)
    return usage (stdout);
  if (strcmp (argv[1], "--version") == 0)
    {
      gantry_cli_print ("gantry-cli %s\n", GANTRY_VERSION);
      return GANTRY_EXIT_DONE;
    }
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    if (strcmp (argv[1], commands[i].name) == 0)
      return can_make_threads () ? commands[i].run (argc - 1, argv + 1) : GANTRY_EXIT_ERROR;
  gantry_cli_tell ("gantry-cli: there is no command '%s'\n\n", argv[1]);
  return usage (stderr);
}

/* A file that is opened must not become standard output because that was closed. What is put in its place cannot be written
 * to, so that printing fails as it would have. */
static void
keep_descriptors (void)
{
  while (TRUE)
    {
      int file = open ("/dev/null", O_RDONLY | O_CLOEXEC);

      if (file < 0)
        return;
      if (file > STDERR_FILENO)
        {
          close (file);
          return;
        }
      fcntl (file, F_SETFD, 0);
    }
}

int
main (int argc, char **argv)
{
  keep_descriptors ();
  gantry_file_guard_end ("gantry-cli");
  signal (SIGXFSZ, SIG_IGN); /* a file that may not grow is a write that fails, and is told */
  keep_openmp_quiet ();
  setlocale (LC_ALL, "");
  setlocale (LC_NUMERIC, "C"); /* figures are read by programs */
  gantry_scratch_sweep ();
  gantry_cache_trim_sometimes ();
  gantry_machine_enable ();
  return gantry_cli_close_standard_output (run_command (argc, argv));
}
