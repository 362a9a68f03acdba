/* SPDX-License-Identifier: Apache-2.0 */
/* StableHLO's interpreter tests and JAX's test data, which carry the expected values: through import, passes and
 * generated code, on both back ends. What is constant in them is fed as input, so that nothing is computed while
 * compiling. Files named on the command line are run alone. */
#include "core/base/error.h"
#include "core/frontends/xla/xla.h"
#include "tests/core/frontends/xla/run-case.h"
#include "tests/test-files.h"
#include <stdio.h>
#include <string.h>

typedef enum
{
  AGREES,
  DIFFERS,
  REFUSED,
  FAILS,
  EMPTY, /* nothing in it is compared */
  N_VERDICTS
} Verdict;
static const char *const verdict_names[N_VERDICTS] = { "agree", "differ", "unsupported", "error", "no case" };

typedef struct
{
  guint files[N_VERDICTS]; /* of static shapes, neither quantized nor complex */
  guint cases[N_VERDICTS]; /* of all files */
  guint left_out, left_out_agree;
} Counts;

static gboolean
compare (const GantryXlaInfo *info, const GPtrArray *results, GError **error)
{
  for (guint i = 0; i < info->checks->len; i++)
    {
      const GantryXlaCheck *check = &g_array_index (info->checks, GantryXlaCheck, i);
      g_autofree char *why = NULL;

      if (!run_agree (g_ptr_array_index (results, check->actual), g_ptr_array_index (results, check->expected), check->exact, check->tolerance, &why))
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_MISMATCH, "check %u: %s", i, why);
          return FALSE;
        }
    }
  return TRUE;
}

/* With its constants fed, or where they have to be known those that are no integers, or none. */
static gboolean
run_one (const char *path, const char *entry, guint module_index, guint feed, RunBackEnd back_end, gboolean *is_case, GError **error)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  GantryXlaOptions options = { .entry = entry, .module = (gint) module_index, .checks = TRUE, .feed = feed };
  g_autoptr (GantryXlaInfo) info = NULL;
  g_autoptr (GantryModule) module = gantry_xla_import (context, path, &options, &info, NULL, error);
  g_autoptr (GPtrArray) results = NULL;

  if (module == NULL)
    return FALSE;
  *is_case = info->checks->len > 0 && gantry_module_entry (module)->n_params == info->feeds->len;
  if (!*is_case)
    return TRUE;
  results = run_case (module, info->feeds, back_end, error);
  return results != NULL && compare (info, results, error);
}

static Verdict
verdict_of (const GError *error)
{
  return error == NULL                                                     ? AGREES
         : g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_MISMATCH)    ? DIFFERS
         : g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED) ? REFUSED
                                                                           : FAILS;
}

static Verdict
run_entry (const char *path, const char *entry, guint module_index, RunBackEnd back_end, gboolean *is_case)
{
  static const guint feeds[3] = { 1, 2, 0 };
  g_autoptr (GError) error = NULL;
  g_autofree char *name = g_path_get_basename (path);
  Verdict verdict = REFUSED;

  for (guint i = 0; i < 3 && verdict == REFUSED; i++)
    {
      g_clear_error (&error);
      run_one (path, entry, module_index, feeds[i], back_end, is_case, &error);
      verdict = verdict_of (error);
    }
  if (error != NULL)
    {
      *is_case = TRUE;
      g_strdelimit (error->message, "\n", ' ');
      g_test_message ("%s %s @%s: %s: %s", back_end == RUN_CPU ? "cpu" : "grid", name, entry, verdict_names[verdict], error->message);
    }
  return verdict;
}

/* The entries: @main where a module has one, else each function. */
static Verdict
run_file (const char *path, RunBackEnd back_end, Counts *counts)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryXlaInfo) info = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_xla_import (context, path, NULL, &info, NULL, &error);
  Verdict worst = AGREES;
  guint n_cases = 0;

  if (module == NULL)
    {
      g_test_message ("%s: %s", path, error->message);
      counts->cases[verdict_of (error)]++;
      return verdict_of (error);
    }
  for (guint i = 0; i < info->functions->len; i++)
    {
      const char *name = g_ptr_array_index (info->functions, i);
      guint in = g_array_index (info->function_modules, guint, i);
      gboolean has_main = FALSE, is_case = FALSE;
      Verdict verdict;

      for (guint j = 0; j < info->functions->len; j++)
        has_main = has_main || (g_array_index (info->function_modules, guint, j) == in && strcmp (g_ptr_array_index (info->functions, j), "main") == 0);
      if (has_main && strcmp (name, "main") != 0)
        continue;
      verdict = run_entry (path, name, in, back_end, &is_case);
      if (!is_case)
        continue;
      n_cases++;
      counts->cases[verdict]++;
      worst = MAX (worst, verdict);
    }
  return n_cases > 0 ? worst : EMPTY;
}

static gboolean
in_scope (const char *path)
{
  g_autofree char *text = NULL;

  return strstr (path, "/dynamic/") == NULL && strstr (path, "/quantized/") == NULL && g_file_get_contents (path, &text, NULL, NULL)
         && strstr (text, "complex<") == NULL && strstr (text, "!quant") == NULL && strstr (text, "<?x") == NULL && strstr (text, "x?x") == NULL;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

static void
run_all (const GPtrArray *files, RunBackEnd back_end, Counts *counts)
{
  for (guint i = 0; i < files->len; i++)
    {
      const char *path = g_ptr_array_index (files, i);
      gboolean counted = in_scope (path);
      Verdict verdict = run_file (path, back_end, counts);

      if (verdict == EMPTY)
        g_test_message ("%s: no case", path);
      if (counted)
        counts->files[verdict]++;
      else
        {
          counts->left_out++;
          counts->left_out_agree += verdict == AGREES;
        }
    }
  g_test_message ("%s: of %u files with static shapes, neither quantized nor complex, %u agree, %u differ, %u unsupported, %u error, "
                  "%u without a case; of %u others %u agree; %u cases: %u agree, %u differ, %u unsupported, %u error",
                  back_end == RUN_CPU ? "cpu" : "grid", files->len - counts->left_out, counts->files[AGREES], counts->files[DIFFERS], counts->files[REFUSED],
                  counts->files[FAILS], counts->files[EMPTY], counts->left_out, counts->left_out_agree,
                  counts->cases[0] + counts->cases[1] + counts->cases[2] + counts->cases[3], counts->cases[AGREES], counts->cases[DIFFERS],
                  counts->cases[REFUSED], counts->cases[FAILS]);
}

static char **arguments;

static void
test_suite (gconstpointer data)
{
  RunBackEnd back_end = (RunBackEnd) GPOINTER_TO_UINT (data);
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *folder = test_shared_file ("data", "stablehlo-conformance");
  Counts counts = { 0 };

  for (guint i = 0; arguments[i] != NULL; i++)
    test_find_files (files, arguments[i], ".mlir");
  if (arguments[0] == NULL)
    test_find_files (files, folder, ".mlir");
  if (files->len == 0)
    {
      g_test_skip ("no folder shared/data/stablehlo-conformance");
      return;
    }
  g_ptr_array_sort (files, compare_names);
  run_all (files, back_end, &counts);
  if (arguments[0] == NULL)
    {
      g_assert_cmpuint (20 * counts.files[AGREES], >=, 19 * (files->len - counts.left_out));
      g_assert_cmpuint (counts.cases[AGREES], >=, 750);
      g_assert_cmpuint (counts.files[EMPTY], <=, 1); /* its arguments stand on a command line */
    }
  g_assert_cmpuint (counts.cases[DIFFERS], ==, 0);
  g_assert_cmpuint (counts.cases[FAILS], ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  arguments = argv + 1;
  g_test_add_data_func ("/xla/conformance/cpu", GUINT_TO_POINTER (RUN_CPU), test_suite);
  g_test_add_data_func ("/xla/conformance/grid", GUINT_TO_POINTER (RUN_GRID), test_suite);
  return g_test_run ();
}
