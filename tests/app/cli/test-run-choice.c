/* SPDX-License-Identifier: Apache-2.0 */
/* Why a run that the file lists is not among those that were read. */
#include "app/cli/run-choice.h"
#include "core/document/document.h"
#include <glib/gstdio.h>
#include <string.h>

static void
test_not_read (void)
{
  g_autofree char *folder = g_dir_make_tmp ("gantry-choice-XXXXXX", NULL), *path = g_build_filename (folder, "x.gantry", NULL);
  g_autofree char *model = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "data", "models", "linear.onnx", NULL);
  g_autoptr (GantryDocument) document = gantry_document_new ();
  g_autoptr (GantryRunResult) run = gantry_run_result_new ();
  g_autoptr (GPtrArray) none = g_ptr_array_new ();
  g_autoptr (GError) error = NULL, left_out = g_error_new (GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "run 1: more than fits");

  g_assert_true (gantry_document_open (document, model, NULL, NULL, &error));
  run->plan = gantry_plan_ref (gantry_document_get_plan (document));
  run->recording = gantry_recording_from_plan (gantry_compilation_module (gantry_document_get_compilation (document)), run->plan);
  gantry_document_add_run (document, run);
  g_assert_true (gantry_document_save (document, path, &error));
  g_assert_true (gantry_cli_choose_run (gantry_document_get_runs (document), NULL, path, "1", &error) == run);
  g_assert_null (gantry_cli_choose_run (none, left_out, path, "1", &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE);
  g_assert_nonnull (strstr (error->message, "run 1: more than fits"));
  g_clear_error (&error);
  g_assert_null (gantry_cli_choose_run (none, NULL, path, "1", &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED);
  g_assert_nonnull (strstr (error->message, "was added"));
  g_unlink (path);
  g_rmdir (folder);
}

/* A number may have as many digits as an id that begins so. */
static void
test_numbers (void)
{
  g_autoptr (GPtrArray) entries = g_ptr_array_new ();
  GantryRunEntry entry[1200] = { 0 };
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (entry); i++)
    {
      entry[i].uid = g_strdup (i == 1100 ? "1000c29c" : i == 1101 ? "1000" : "ffff");
      g_ptr_array_add (entries, &entry[i]);
    }
  g_assert_true (gantry_cli_find_run (entries, "x", "--run", "12", &error) == &entry[11]);
  g_assert_true (gantry_cli_find_run (entries, "x", "--run", "1150", &error) == &entry[1149]);
  g_assert_true (gantry_cli_find_run (entries, "x", "--run", "1000c", &error) == &entry[1100]);
  g_assert_null (gantry_cli_find_run (entries, "x", "--run", "1000", &error));
  g_assert_nonnull (strstr (error->message, "a run of this number and another"));
  for (guint i = 0; i < G_N_ELEMENTS (entry); i++)
    g_free (entry[i].uid);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/run-choice/not-read", test_not_read);
  g_test_add_func ("/cli/run-choice/numbers", test_numbers);
  return g_test_run ();
}
