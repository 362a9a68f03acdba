/* SPDX-License-Identifier: Apache-2.0 */
/* One program in one configuration, in a process of its own, which it may end. */
#include "core/base/error.h"
#include "tests/differential/differential.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_TEXT 4000
#define MOST_SECONDS 120

static DiffOutcome
attempt (GantryModule *module, guint64 seed, const DiffConfig *config, char *text)
{
  g_autoptr (DiffMachine) machine = NULL;
  g_autoptr (GPtrArray) inputs = diff_inputs (module, seed), expected = NULL, got = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *difference = NULL;
  DiffCount count = { 0 };

  expected = diff_oracle (module, inputs, &error);
  if (expected != NULL && (config->instructions == GANTRY_INSTRUCTIONS_NATIVE || gantry_kernels_limit_library (config->instructions, &error)))
    {
      machine = diff_machine_new ();
      got = diff_run (machine, module, inputs, config, &error);
    }
  difference = got != NULL ? diff_compare (expected, got, &count) : NULL;
  g_strlcpy (text, difference != NULL ? difference : error != NULL ? error->message : "", MOST_TEXT);
  if (expected == NULL || g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED))
    return DIFF_REFUSED;
  return got == NULL ? DIFF_BROKEN : difference != NULL ? DIFF_DIFFERS : DIFF_SAME;
}

gboolean
diff_may_refuse (const char *message)
{
  static const char *const rules[] = {
    "f16 needs a processor with F16C", "how often it runs depends on data", /* of a loop with copies to host memory, which has to be written out */
  };

  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    if (strstr (message, rules[i]) != NULL)
      return TRUE;
  return FALSE;
}

static DiffOutcome
outcome_of (int status, char *text)
{
  if (WIFEXITED (status) && WEXITSTATUS (status) <= DIFF_REFUSED)
    return (DiffOutcome) WEXITSTATUS (status);
  if (WIFSIGNALED (status) && WTERMSIG (status) == SIGALRM) /* too slow says nothing of its values */
    {
      g_snprintf (text, MOST_TEXT, "not finished after %d seconds", MOST_SECONDS);
      return DIFF_REFUSED;
    }
  g_snprintf (text, MOST_TEXT, "the process ended by signal %d", WIFSIGNALED (status) ? WTERMSIG (status) : 0);
  return DIFF_FELL;
}

DiffOutcome
diff_attempt (GantryModule *module, guint64 seed, const DiffConfig *config, char **text)
{
  char *shared = mmap (NULL, MOST_TEXT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  DiffOutcome outcome;
  pid_t child;
  int status;

  g_assert (shared != MAP_FAILED);
  fflush (stdout);
  child = fork ();
  if (child == 0)
    {
      alarm (MOST_SECONDS);
      _exit ((int) attempt (module, seed, config, shared));
    }
  g_assert (child > 0 && waitpid (child, &status, 0) == child);
  outcome = outcome_of (status, shared);
  if (text != NULL)
    *text = g_strdup (shared);
  munmap (shared, MOST_TEXT);
  return outcome;
}
