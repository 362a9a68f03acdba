/* SPDX-License-Identifier: Apache-2.0 */
/* gantry-cli python: runs a program as `python program.py` would, with Gantry's modules importable. */
#include "app/cli/cli.h"
#include "app/cli/python-backend.h"
#include "core/base/process-limits.h"
#include <signal.h>
#include <unistd.h>
#include <string.h>

typedef struct
{
  char *interpreter;
  gboolean real;
  gint threads;
  const char *graphs; /* (nullable): a folder */
  const char *sha256; /* (nullable): of the program */
  gint parent;        /* 0: none that matters */
} Options;

static int
usage (FILE *out)
{
  fprintf (out, "Usage: gantry-cli python [OPTION...] PROGRAM [ARGUMENT...]\n\n"
                "Runs a Python program under CPython 3.11, with Gantry's own `mindspore`, `jax` and `optax`: what it makes a graph of is\n"
                "compiled and run here. Output and exit status are the program's.\n\n"
                "  --python INTERPRETER  the Python 3.11 whose packages are used (default: $VIRTUAL_ENV, else the system's)\n"
                "  --real                leave the user's own `mindspore`, `jax` and `optax` in place\n"
                "  --threads N           threads of compiled graphs\n"
                "  --graphs FOLDER       write the graphs that it makes, and what none could be made of, into FOLDER\n"
                "  --sha256 SUM          run the program only if this is its SHA-256\n"
                "  --parent PID          end when this process, which started it, ends; with --graphs all that the program started ends too\n");
  return out == stdout ? GANTRY_EXIT_DONE : GANTRY_EXIT_ERROR;
}

/* Options stand before the program: what follows it is the program's. Returns: its index, 0 after an error, -1 for help */
static int
parse (Options *options, int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    {
      if (strcmp (argv[i], "--help") == 0 || strcmp (argv[i], "-h") == 0)
        return -1;
      if (strcmp (argv[i], "--real") == 0)
        options->real = TRUE;
      else if (strcmp (argv[i], "--python") == 0 && i + 1 < argc)
        options->interpreter = argv[++i];
      else if (strcmp (argv[i], "--graphs") == 0 && i + 1 < argc)
        options->graphs = argv[++i];
      else if (strcmp (argv[i], "--sha256") == 0 && i + 1 < argc)
        options->sha256 = argv[++i];
      else if (strcmp (argv[i], "--parent") == 0 && i + 1 < argc)
        options->parent = atoi (argv[++i]);
      else if (strcmp (argv[i], "--threads") == 0 && i + 1 < argc)
        options->threads = atoi (argv[++i]);
      else if (argv[i][0] == '-')
        {
          gantry_cli_tell ("gantry-cli python: unknown option %s\n", argv[i]);
          return 0;
        }
      else
        return i;
    }
  gantry_cli_tell ("gantry-cli python: name a program\n");
  return 0;
}

/* Who wants the graphs does not want what the program started beside them: this process goes on in a child of its own, and ends with
 * that and what is left of it. */
static void
supervise (void)
{
  int status;

  if (!gantry_process_supervise (&status))
    gantry_process_end_as (status);
}

int
gantry_cli_python (int argc, char **argv)
{
  Options options = { 0 };
  int first = parse (&options, argc, argv);
  GantryPythonOptions python = { 0 };
  g_autoptr (GantryPythonBackend) backend = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  if (first <= 0)
    return first < 0 ? usage (stdout) : GANTRY_EXIT_ERROR;
  python.interpreter = options.interpreter;
  python.real = options.real;
  python.sha256 = options.sha256;
  python.argc = argc - first;
  python.argv = argv + first;
  if (options.parent != 0 && !gantry_process_end_with (options.parent, options.graphs != NULL ? SIGTERM : SIGKILL, &error))
    return gantry_cli_fail (error);
  if (options.graphs != NULL)
    supervise ();
  backend = gantry_python_backend_new ((guint) MAX (options.threads, 0));
  status = options.graphs != NULL ? gantry_cli_python_graphs (&python, backend, options.graphs, &error) : gantry_python_run (&python, backend, &error);
  if (error != NULL)
    status = gantry_cli_fail (error);
  /* What CPython does not free when it ends a sanitizer would take for a leak of ours. */
  if (GANTRY_SANITIZED && fflush (NULL) == 0)
    _exit (status);
  return status;
}
