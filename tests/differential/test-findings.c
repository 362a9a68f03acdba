/* SPDX-License-Identifier: Apache-2.0 */
/* What once failed: each program of tests/fixtures/differential in the configuration that it failed in and on every
 * other back end. One point for each file. */
#include "tests/differential/differential.h"
#include <stdio.h>

/* Returns: (transfer full) (nullable): what is wrong */
static char *
run (const DiffFinding *finding, const DiffConfig *config)
{
  g_autofree char *text = diff_config_text (config), *why = NULL;
  DiffOutcome outcome = diff_attempt (finding->module, finding->seed, config, &why);

  return outcome == DIFF_SAME || outcome == DIFF_REFUSED ? NULL : g_strdup_printf ("%s: %s", text, why);
}

/* As it failed, then on each back end, then with each instruction set and block size on those that know them. */
static char *
check (const char *path)
{
  GantryInstructionSet sets[GANTRY_N_INSTRUCTION_SETS];
  guint n_sets = diff_instruction_sets (TRUE, sets);
  g_auto (DiffFinding) finding = { 0 };
  g_autoptr (GError) error = NULL;
  char *wrong;

  if (!diff_finding_read (&finding, path, &error))
    return g_strdup (error->message);
  wrong = run (&finding, &finding.config);
  for (guint i = 0; wrong == NULL && i < DIFF_N_BACK_ENDS; i++)
    wrong = run (&finding, &(DiffConfig){ .back_end = (DiffBackEnd) i });
  for (guint i = 0; wrong == NULL && i < 4 * n_sets; i++)
    wrong = run (&finding, &(DiffConfig){ .back_end = i % 2 == 0 ? DIFF_OWN : DIFF_LIBRARY,
                                          .instructions = sets[i / 4],
                                          .block = i / 2 % 2 == 0 ? 8 : 16 });
  return wrong;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return g_strcmp0 (*(char *const *) a, *(char *const *) b);
}

int
main (int argc, char **argv)
{
  const char *root = g_getenv ("GANTRY_SOURCE_ROOT");
  g_autofree char *folder = g_build_filename (root != NULL ? root : ".", "tests", "fixtures", "differential", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  gboolean failed = FALSE;

  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;)
    if (g_str_has_suffix (name, ".gir"))
      g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  printf ("1..%u\n", names->len);
  for (guint i = 0; i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);
      g_autofree char *path = g_build_filename (folder, name, NULL), *wrong = check (path);

      if (wrong != NULL)
        printf ("# %s\n", g_strdelimit (wrong, "\n", ' '));
      printf ("%sok %u - %s\n", wrong != NULL ? "not " : "", i + 1, name);
      failed = failed || wrong != NULL;
    }
  return failed || names->len == 0;
}
