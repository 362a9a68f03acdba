/* SPDX-License-Identifier: Apache-2.0 */
/* Many programs, one after another, in a child process that may fall. */
#include "core/base/error.h"
#include "tests/differential/differential.h"
#include "tests/differential/shrink.h"
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child leaves with it where a program failed, so that the parent makes it small. */
#define STATUS_FAILED 3
/* The next configuration wants another instruction set, since the library takes one in a process; or the time is over, and the rest
 * of the configurations is left. */
#define STATUS_OTHER_SET 4

/* What the parent still sees when the child is gone. */
typedef struct
{
  DiffTotal total;
  guint64 next;      /* the first program that is not over */
  guint next_config; /* of its configurations */
} Shared;

typedef struct
{
  const DiffSession *session;
  Shared *shared;
  DiffMachine *machine;
  GantryInstructionSet set;
  GantryModule *module;
  GPtrArray *inputs, *expected;
  guint64 number, seed;
} Run;

static void
tell (const Run *run, const char *what, const DiffConfig *config, const char *why)
{
  g_autofree char *text = diff_config_text (config);
  g_autofree char *line = g_strdelimit (g_strdup (why), "\n", ' ');

  printf ("# %s: program %" G_GUINT64_FORMAT " of seed %" G_GUINT64_FORMAT ", %s: %s\n", what, run->number, run->session->seed, text, line);
  fflush (stdout);
}

static gboolean
run_config (const Run *run, const DiffConfig *config)
{
  DiffTally *tally = &run->shared->total.back_ends[config->back_end];
  gint64 start = g_get_monotonic_time ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) got = NULL;
  g_autofree char *difference = NULL;
  DiffCount count = { 0 };

  got = diff_run (run->machine, run->module, run->inputs, config, &error);
  tally->us += g_get_monotonic_time () - start;
  if (got == NULL && g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED) && diff_may_refuse (error->message))
    {
      tally->skipped++;
      return TRUE;
    }
  difference = got != NULL ? diff_compare (run->expected, got, &count) : g_strdup (error->message);
  diff_count_add (&tally->count, &count);
  if (difference == NULL)
    tally->passed++;
  else
    {
      tally->failed++;
      tell (run, "FAILED", config, difference);
    }
  return difference == NULL;
}

/* (transfer full) (element-type DiffConfig) */
static GArray *
configs_of (const DiffSession *session, guint64 number)
{
  GArray *configs;

  if (session->config == NULL)
    return diff_rotation (number, session->product != 0 && number % session->product == 0);
  configs = g_array_new (FALSE, FALSE, sizeof (DiffConfig));
  g_array_append_val (configs, *session->config);
  return configs;
}

static gboolean
is_late (const DiffSession *session)
{
  return session->until != 0 && g_get_monotonic_time () > session->until;
}

/* Returns: 0, or what the child ends with */
static int
run_configs (const Run *run)
{
  g_autoptr (GArray) configs = configs_of (run->session, run->number);

  while (run->shared->next_config < configs->len)
    {
      const DiffConfig *config = &g_array_index (configs, DiffConfig, run->shared->next_config);

      if (config->instructions != run->set || (run->shared->next_config > 0 && is_late (run->session)))
        return STATUS_OTHER_SET;
      run->shared->next_config++;
      if (!run_config (run, config))
        return STATUS_FAILED;
    }
  return 0;
}

static void
clear_program (Run *run)
{
  g_clear_pointer (&run->expected, g_ptr_array_unref);
  g_clear_pointer (&run->inputs, g_ptr_array_unref);
  g_clear_pointer (&run->module, gantry_module_unref);
}

static int
run_program (Run *run)
{
  DiffTotal *total = &run->shared->total;
  gint64 start = g_get_monotonic_time (), made;
  g_autoptr (GError) error = NULL;
  int status;

  run->seed = diff_program_seed (run->session->seed, run->number);
  run->module = diff_generate (run->seed);
  run->inputs = diff_inputs (run->module, run->seed);
  made = g_get_monotonic_time ();
  run->expected = diff_oracle (run->module, run->inputs, &error);
  total->generate_us += made - start;
  total->oracle_us += g_get_monotonic_time () - made;
  if (run->expected == NULL)
    g_error ("program %" G_GUINT64_FORMAT " of seed %" G_GUINT64_FORMAT ", oracle: %s", run->number, run->session->seed, error->message);
  status = run_configs (run);
  if (status == 0)
    {
      total->programs++;
      total->nodes += gantry_module_entry (run->module)->n_nodes;
    }
  clear_program (run);
  return status;
}

static gboolean
is_over (const DiffSession *session, const Shared *shared)
{
  return shared->next >= session->first + session->count || is_late (session);
}

/* The configuration at hand, or the first of the next program. */
static DiffConfig
config_at (const DiffSession *session, const Shared *shared, guint index)
{
  g_autoptr (GArray) configs = configs_of (session, shared->next);

  return g_array_index (configs, DiffConfig, MIN (index, configs->len - 1));
}

static int
run_child (const DiffSession *session, Shared *shared)
{
  Run run = { .session = session, .shared = shared, .set = config_at (session, shared, shared->next_config).instructions };
  g_autoptr (GError) error = NULL;
  int status = 0;

  if (run.set != GANTRY_INSTRUCTIONS_NATIVE && !gantry_kernels_limit_library (run.set, &error))
    g_error ("%s", error->message);
  run.machine = diff_machine_new ();
  while (status == 0 && !is_over (session, shared))
    {
      run.number = shared->next;
      status = run_program (&run);
      if (status != 0)
        break;
      shared->next++;
      shared->next_config = 0;
    }
  diff_machine_free (run.machine);
  return status;
}

static void
write_finding (const Run *run, const DiffConfig *config)
{
  g_auto (DiffFinding) finding = { diff_generate (run->seed), run->seed, *config };
  g_autofree char *name = g_strdup_printf ("%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT "-%s.gir", run->session->seed, run->number,
                                           diff_back_end_name (config->back_end));
  g_autofree char *path = g_build_filename (run->session->findings, name, NULL);
  g_autofree char *difference = NULL, *smaller = NULL;
  g_autoptr (GError) error = NULL;
  guint n_attempts;

  difference = diff_shrink (&finding, &n_attempts);
  smaller = diff_config_text (&finding.config);
  g_mkdir_with_parents (run->session->findings, 0777);
  if (difference == NULL)
    printf ("# program %" G_GUINT64_FORMAT " does not fail again\n", run->number);
  else if (diff_finding_write (&finding, difference, path, &error))
    printf ("# %s: %u nodes after %u attempts, %s: %s\n", path, gantry_module_entry (finding.module)->n_nodes, n_attempts, smaller, difference);
  else
    printf ("# %s\n", error->message);
  fflush (stdout);
}

/* A configuration failed, or ended the child. */
static void
note_failure (const DiffSession *session, Shared *shared, int status)
{
  Run run = { .session = session, .shared = shared, .number = shared->next };
  gboolean fell = !WIFEXITED (status) || WEXITSTATUS (status) != STATUS_FAILED;
  DiffConfig config = config_at (session, shared, shared->next_config - 1);
  g_autofree char *why = WIFSIGNALED (status) ? g_strdup_printf ("ended by signal %d", WTERMSIG (status))
                                              : g_strdup_printf ("ended with status %d", WEXITSTATUS (status));

  run.seed = diff_program_seed (session->seed, run.number);
  if (fell && shared->next_config == 0) /* before it ran at all */
    shared->next++;
  if (fell)
    {
      shared->total.back_ends[config.back_end].failed++;
      tell (&run, "FAILED", &config, why);
    }
  if (session->findings != NULL)
    write_finding (&run, &config);
}

void
diff_session_run (const DiffSession *session, DiffTotal *total)
{
  Shared *shared = mmap (NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

  g_assert (shared != MAP_FAILED);
  shared->next = session->first;
  while (!is_over (session, shared))
    {
      pid_t child;
      int status;

      fflush (stdout);
      child = fork ();
      if (child == 0)
        {
          status = run_child (session, shared);
          fflush (stdout);
          _exit (status);
        }
      g_assert (child > 0 && waitpid (child, &status, 0) == child);
      if (!WIFEXITED (status) || (WEXITSTATUS (status) != 0 && WEXITSTATUS (status) != STATUS_OTHER_SET))
        note_failure (session, shared, status);
    }
  *total = shared->total;
  munmap (shared, sizeof *shared);
}
