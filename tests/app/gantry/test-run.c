/* SPDX-License-Identifier: Apache-2.0 */
/* Run in the child: measured, of another program, killed, and without the program that runs it. */
#include "tests/app/gantry/window-test.h"
#include <signal.h>
#include <string.h>
#include <sys/types.h>

static void
test_run (void)
{
  GantryWindow *window;
  GantryDocument *document;
  const GantryRunResult *run;

  if (!window_test_has_cli ())
    return;
  window = window_test_sample ();
  if (window == NULL)
    return;
  document = gantry_window_get_document (window);
  g_assert_false (g_action_group_get_action_enabled (G_ACTION_GROUP (window), "delete-run"));
  window_test_act (window, "run");
  views_wait_until (window_test_is_idle (window));
  g_assert_cmpstr (gantry_window_get_error (window), ==, NULL);
  run = gantry_document_get_run (document);
  g_assert_nonnull (run);
  g_assert_true (g_action_group_get_action_enabled (G_ACTION_GROUP (window), "delete-run"));
  window_test_act (window, "run"); /* not while another one is made */
  g_assert_false (g_action_group_get_action_enabled (G_ACTION_GROUP (window), "delete-run"));
  window_test_act (window, "cancel");
  views_wait_until (window_test_is_idle (window));
  g_assert_true (g_action_group_get_action_enabled (G_ACTION_GROUP (window), "delete-run"));
  run = gantry_document_get_run (document);
  g_assert_cmpfloat (run->milliseconds, >, 0);
  /* A node with code shows it. */
  {
    GantryCompilation *compilation = gantry_document_get_compilation (document);
    GantryCodeView *code = gantry_inspector_get_code_view (gantry_window_get_inspector (window));
    gboolean found = FALSE;

    for (guint i = 0; i < run->codes->len && !found; i++)
      {
        const GantryCode *entry = g_ptr_array_index (run->codes, i);
        g_autofree char *details = NULL, *assembly = NULL;

        if (entry->assembly == NULL || entry->node == 0)
          continue;
        gantry_selection_set (gantry_window_get_selection (window), compilation->n_snapshots - 1, &entry->node, 1);
        details = gantry_inspector_to_text (gantry_window_get_inspector (window));
        assembly = gantry_code_view_get_text (code, "assembly");
        g_assert_nonnull (strstr (details, "Measured"));
        g_assert_cmpstr (assembly, ==, entry->assembly);
        found = TRUE;
      }
    g_assert_true (found);
  }
  window_test_free (window);
}

static const char *
summary_of_time (GantryWindow *window)
{
  static const char *const words[] = { "were of another program", "not measured yet", "measured" };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (window_test_has_text (GTK_WIDGET (gantry_window_get_time_panel (window)), words[i]))
      return words[i];
  return "";
}

/* A cell of the row that is called @name. (nullable): there is no such row */
static const char *
cell (GantryWindow *window, const char *name, guint column)
{
  GantryMemoryTable *table = gantry_memory_side_get_table (gantry_time_panel_get_side (gantry_window_get_time_panel (window)));

  for (guint row = 0; row < 40; row++)
    if (g_strcmp0 (gantry_memory_table_get_text (table, row, 0), name) == 0)
      return gantry_memory_table_get_text (table, row, column);
  return NULL;
}

/* @run again, by a kernel that writes where it should not, in a process that is too large. (transfer full) */
static GantryRunResult *
make_bad (const GantryRunResult *run)
{
  GantryRunResult *bad = gantry_run_result_new ();

  bad->device = g_strdup (run->device);
  bad->when = g_strdup (run->when);
  bad->n_runs = 1;
  bad->milliseconds = bad->milliseconds_min = bad->milliseconds_max = run->milliseconds;
  bad->plan = gantry_plan_ref (run->plan);
  bad->recording = gantry_recording_ref (run->recording);
  bad->memory = gantry_memory_measure_new (run->plan->n_steps);
  bad->memory->outside = (GantryUnplannedMemory){ 8192, run->plan->n_init_steps, 0 };
  bad->memory->process = bad->memory->process_peak = bad->memory->owners[GANTRY_OWNER_HEAP] = (guint64) 1 << 40;
  return bad;
}

/* What a run took is shown part by part; what is not as it should be is told above the lanes. */
static void
test_measured (void)
{
  GantryWindow *window;
  GtkWidget *panel;
  g_autoptr (GantryRunResult) bad = NULL;
  const GantryRunResult *run;
  g_autofree char *process = NULL;

  if (!window_test_has_cli ())
    return;
  window = window_test_sample ();
  if (window == NULL)
    return;
  panel = GTK_WIDGET (gantry_window_get_time_panel (window));
  g_assert_null (cell (window, "process, from loading on", 2));
  window_test_act (window, "run");
  views_wait_until (window_test_is_idle (window));
  run = gantry_document_get_run (gantry_window_get_document (window));
  g_assert_true (run != NULL && run->memory != NULL);
  process = gantry_format_bytes (run->memory->process_peak);
  g_assert_cmpstr (cell (window, "process, from loading on", 2), ==, process);
  g_assert_nonnull (cell (window, gantry_memory_owner_name (GANTRY_OWNER_PROGRAMS), 2));
  g_assert_nonnull (cell (window, gantry_memory_part_name (GANTRY_PART_CODE), 1));
  g_assert_false (window_test_has_text (panel, "outside of all places"));
  bad = make_bad (run);
  gantry_document_add_run (gantry_window_get_document (window), bad);
  window_test_wait (window);
  g_assert_true (window_test_has_text (panel, "8.00 KiB were touched outside of all places"));
  g_assert_true (window_test_has_text (panel, "The process took 1.00 TiB"));
  window_test_free (window);
}

/* The kernels of a run stand beside what they were planned for, and that is said once the plan is another one. */
static void
test_planned_then (void)
{
  GantryWindow *window;
  GtkWidget *panel;

  if (!window_test_has_cli ())
    return;
  window = window_test_sample ();
  if (window == NULL)
    return;
  panel = GTK_WIDGET (gantry_window_get_kernels_panel (window));
  gtk_widget_activate_action (GTK_WIDGET (window), "win.bottom-page", "s", "kernels");
  window_test_act (window, "run");
  views_wait_until (window_test_is_idle (window));
  views_wait_until (window_test_has_text (panel, ", planned "));
  g_assert_false (window_test_has_text (panel, "lanned then"));
  window_test_act (window, "replan");
  window_test_wait (window);
  views_wait_until (window_test_has_text (panel, ", planned then "));
  window_test_free (window);
}

/* What was measured of one program is not shown under the plan of another. */
static void
test_run_of_other_program (void)
{
  GantryWindow *window;
  GantryDocument *document;
  GantryTrainingOptions training;
  GantryRunResult *inference, *step;

  if (!window_test_has_cli ())
    return;
  window = window_test_with ("data/programs/layers-tiny.gir", FALSE);
  if (window == NULL)
    return;
  document = gantry_window_get_document (window);
  g_assert_cmpstr (summary_of_time (window), ==, "not measured yet");
  window_test_act (window, "run");
  views_wait_until (window_test_is_idle (window));
  inference = gantry_document_get_run (document);
  g_assert_nonnull (inference);
  g_assert_cmpstr (summary_of_time (window), ==, "measured");
  gantry_training_options_init (&training);
  gantry_document_set_training (document, &training);
  gantry_training_options_clear (&training);
  window_test_wait (window);
  g_assert_null (gantry_document_get_run (document));
  g_assert_cmpuint (gantry_document_get_runs (document)->len, ==, 1);
  g_assert_cmpstr (summary_of_time (window), ==, "were of another program");
  gtk_widget_activate_action (GTK_WIDGET (window), "win.bottom-page", "s", "kernels");
  g_assert_true (window_test_has_text (GTK_WIDGET (gantry_window_get_kernels_panel (window)), "the runs so far were of another one"));
  gtk_widget_activate_action (GTK_WIDGET (window), "win.bottom-page", "s", "time");
  window_test_act (window, "run");
  views_wait_until (window_test_is_idle (window));
  g_assert_cmpstr (gantry_window_get_error (window), ==, NULL);
  step = gantry_document_get_run (document);
  g_assert_true (step != NULL && step != inference);
  g_assert_cmpstr (summary_of_time (window), ==, "measured");
  /* An edit that only plans again keeps it. */
  gantry_document_set_limit (document, G_GUINT64_CONSTANT (1) << 40);
  window_test_wait (window);
  g_assert_true (gantry_document_get_run (document) == step);
  window_test_free (window);
}

/* The child dies in the middle: that is told, and nothing else has changed. */
static void
test_kill (void)
{
  GantryWindow *window;
  GantryDocument *document;
  GantryCompilation *compilation;
  guint n_runs;

  if (!window_test_has_cli ())
    return;
  window = window_test_sample ();
  if (window == NULL)
    return;
  document = gantry_window_get_document (window);
  compilation = gantry_compilation_ref (gantry_document_get_compilation (document));
  n_runs = gantry_document_get_runs (document)->len;
  window_test_act (window, "run");
  views_wait_until (gantry_document_child_id (document) != NULL);
  g_assert_cmpint (kill ((pid_t) g_ascii_strtoll (gantry_document_child_id (document), NULL, 10), SIGKILL), ==, 0);
  views_wait_until (window_test_is_idle (window));
  views_settle ();
  g_assert_nonnull (gantry_window_get_error (window));
  g_test_message ("%s", gantry_window_get_error (window));
  g_assert_true (gantry_document_get_compilation (document) == compilation);
  g_assert_cmpuint (gantry_document_get_runs (document)->len, ==, n_runs);
  g_assert_cmpstr (gantry_window_get_page (window), ==, "model");
  g_assert_true (g_action_group_get_action_enabled (G_ACTION_GROUP (window), "run"));
  gantry_compilation_unref (compilation);
  window_test_free (window);
}

static void
test_no_cli (void)
{
  g_autofree char *before = g_strdup (g_getenv ("GANTRY_CLI"));
  GantryWindow *window = window_test_sample ();

  if (window == NULL)
    return;
  g_setenv ("GANTRY_CLI", "/no/such/gantry-cli", TRUE);
  window_test_act (window, "run");
  views_wait_until (window_test_is_idle (window));
  g_assert_nonnull (gantry_window_get_error (window));
  g_assert_nonnull (strstr (gantry_window_get_error (window), "gantry-cli"));
  if (before != NULL)
    g_setenv ("GANTRY_CLI", before, TRUE);
  else
    g_unsetenv ("GANTRY_CLI");
  window_test_free (window);
}

int
main (int argc, char **argv)
{
  window_test_init (&argc, &argv);
  g_test_add_func ("/app/run/run", test_run);
  g_test_add_func ("/app/run/measured", test_measured);
  g_test_add_func ("/app/run/planned-then", test_planned_then);
  g_test_add_func ("/app/run/run-of-other-program", test_run_of_other_program);
  g_test_add_func ("/app/run/kill", test_kill);
  g_test_add_func ("/app/run/no-cli", test_no_cli);
  return window_test_run ();
}
