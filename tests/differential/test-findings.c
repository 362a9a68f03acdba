/* SPDX-License-Identifier: Apache-2.0 */
/* What once failed: each program of tests/fixtures/differential in the configuration that it failed in and on every
 * other back end. One point for each file, and one for each back end that compared most of what it was given. */
#include "tests/differential/differential.h"
#include <stdio.h>

typedef struct
{
  guint same, refused;
} Count;

/* Returns: (transfer full) (nullable): what is wrong */
static char *
run (const DiffFinding *finding, const DiffConfig *config, Count *counts)
{
  g_autofree char *text = diff_config_text (config), *why = NULL;
  DiffOutcome outcome = diff_attempt (finding->module, finding->seed, config, &why);

  if (outcome == DIFF_SAME)
    counts[config->back_end].same++;
  else if (outcome == DIFF_REFUSED && diff_may_refuse (why))
    counts[config->back_end].refused++;
  else
    return g_strdup_printf ("%s: %s", text, why);
  return NULL;
}

/* As it failed, then on each back end, then with each instruction set and block size on those that know them. */
static char *
check (const char *path, Count *counts)
{
  GantryInstructionSet sets[GANTRY_N_INSTRUCTION_SETS];
  guint n_sets = diff_instruction_sets (TRUE, sets);
  g_auto (DiffFinding) finding = { 0 };
  g_autoptr (GError) error = NULL;
  char *wrong;

  if (!diff_finding_read (&finding, path, &error))
    return g_strdup (error->message);
  wrong = run (&finding, &finding.config, counts);
  for (guint i = 0; wrong == NULL && i < DIFF_N_BACK_ENDS; i++)
    wrong = run (&finding, &(DiffConfig){ .back_end = (DiffBackEnd) i }, counts);
  for (guint i = 0; wrong == NULL && i < 4 * n_sets; i++)
    wrong = run (
      &finding,
      &(DiffConfig){
        .back_end = i % 2 == 0 ? DIFF_OWN : DIFF_LIBRARY, .instructions = sets[i / 4], .block = i / 2 % 2 == 0 ? 8 : 16, .threads = 1 + i % DIFF_MOST_THREADS },
      counts);
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
  Count counts[DIFF_N_BACK_ENDS] = { 0 };
  gboolean failed = FALSE;

  for (const char *name; dir != NULL && (name = g_dir_read_name (dir)) != NULL;)
    if (g_str_has_suffix (name, ".gir"))
      g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  printf ("1..%u\n", names->len + DIFF_N_BACK_ENDS);
  for (guint i = 0; i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);
      g_autofree char *path = g_build_filename (folder, name, NULL), *wrong = check (path, counts);

      if (wrong != NULL)
        printf ("# %s\n", g_strdelimit (wrong, "\n", ' '));
      printf ("%sok %u - %s\n", wrong != NULL ? "not " : "", i + 1, name);
      failed = failed || wrong != NULL;
    }
  for (guint i = 0; i < DIFF_N_BACK_ENDS; i++)
    {
      gboolean few = counts[i].same <= counts[i].refused;

      printf ("%sok %u - %s compared %u, refused %u\n", few ? "not " : "", names->len + i + 1, diff_back_end_name ((DiffBackEnd) i), counts[i].same,
              counts[i].refused);
      failed = failed || few;
    }
  return failed || names->len == 0;
}
