/* SPDX-License-Identifier: Apache-2.0 */
/* Planned beside measured in the window: the table of kernels, planning with measured times, notes, counters and calls of a
 * recording, the way from a bar to its code and back, and machine code by a disassembler. */
#include "tests/app/gantry/window-test.h"
#include <glib/gstdio.h>
#include <string.h>

#define ODD_NAME "a kernel with a very long name that goes on and on, (and on)<int, float>"

/* What a GPU's run would have: details, calls on a host thread, counters, a note, and a copy that is waited for. */
static GantryRunResult *
make_run (GantryDocument *document, double factor)
{
  GantryRunResult *run = gantry_run_result_new ();
  GantryPlan *plan = gantry_document_get_plan (document);
  GantryRecordingBuilder *builder = gantry_recording_builder_new ();
  const GantryLaunchDetail detail = { .grid = { 8, 1, 1 }, .block = { 128, 1, 1 }, .registers = 40, .local_bytes = 16 };
  guint32 launch = gantry_recording_builder_detail (builder, &detail), name = gantry_recording_builder_string (builder, ODD_NAME);
  gint64 at[GANTRY_N_QUEUES] = { 0 }, end = 0;

  for (guint32 i = plan->n_init_steps; i < plan->n_steps; i++)
    {
      const GantryPlanStep *step = &plan->steps[i];
      GantryEvent event = {
        .begin = at[step->queue], .lane = step->queue, .node = step->node, .name = name, .instruction = i, .detail = launch, .bytes = 4096, .correlation = i + 1
      };
      GantryEvent call = { .begin = at[step->queue], .lane = 4, .kind = GANTRY_EVENT_CALL, .correlation = i + 1 };

      event.kind = step->queue == GANTRY_QUEUE_COMPUTE ? GANTRY_EVENT_KERNEL : GANTRY_EVENT_COPY;
      event.end = at[step->queue] = event.begin + MAX ((gint64) (step->duration_us * factor * 1000), 1);
      call.end = call.begin + 1;
      end = MAX (end, event.end);
      gantry_recording_builder_add (builder, &event);
      gantry_recording_builder_add (builder, &call);
    }
  gantry_recording_builder_set_lane_name (builder, 4, "thread 7: calls");
  for (guint i = 0; i < 20; i++)
    gantry_recording_builder_add_counter (builder, "SM busy, %", end * i / 20, 5.0 * i);
  gantry_recording_builder_add_note (builder, "12 records were dropped");
  gantry_recording_builder_add_run (builder, &(GantryRecordedRun){ 0, end, plan->lower_bound });
  run->recording = gantry_recording_builder_end (builder);
  run->name = g_strdup ("made");
  run->device = g_strdup (plan->target); /* else what is planned is not for what ran */
  run->when = g_strdup ("2026-11-21T12:00:00Z");
  run->n_runs = 1;
  run->milliseconds = run->milliseconds_min = run->milliseconds_max = (double) end / 1e6;
  run->plan = gantry_plan_ref (plan);
  return run;
}

static GantryWindow *
window_with_run (void)
{
  GantryWindow *window = window_test_with ("data/programs/transformer-tiny.gir", TRUE);
  g_autoptr (GantryRunResult) run = NULL;

  if (window == NULL)
    return NULL;
  run = make_run (gantry_window_get_document (window), 2);
  gantry_document_add_run (gantry_window_get_document (window), run);
  window_test_wait (window);
  views_wait_until (gantry_kernels_panel_is_ready (gantry_window_get_kernels_panel (window)));
  return window;
}

static void
test_kernels (void)
{
  GantryWindow *window = window_with_run ();
  GantryKernelsPanel *panel;
  GantrySelection *selection;
  const GantryKernelItem *item;
  g_autofree char *folder = NULL, *path = NULL, *text = NULL;
  g_autoptr (GFile) file = NULL;
  g_autoptr (GError) error = NULL;
  guint n, last;
  guint32 node;

  if (window == NULL)
    return;
  panel = gantry_window_get_kernels_panel (window);
  selection = gantry_window_get_selection (window);
  last = gantry_document_get_compilation (gantry_window_get_document (window))->n_snapshots - 1;
  gtk_widget_activate_action (GTK_WIDGET (window), "win.bottom-page", "s", "kernels");
  n = gantry_kernels_panel_n_rows (panel);
  g_assert_cmpuint (n, >, 20);
  g_assert_nonnull (strstr (gantry_kernels_panel_get_summary (panel), "ratio 2.0"));
  {
    /* The time of the run is that of the status bar. */
    g_autofree char *time = gantry_format_ns ((gint64) (gantry_document_get_run (gantry_window_get_document (window))->milliseconds * 1e6));
    g_autofree char *of_run = g_strdup_printf (" of %s, planned", time);

    g_assert_nonnull (strstr (gantry_kernels_panel_get_summary (panel), of_run));
  }
  /* The longest is first. */
  for (guint i = 1; i < n; i++)
    g_assert_cmpfloat (gantry_kernels_panel_get_row (panel, i - 1)->row.measured_us, >=, gantry_kernels_panel_get_row (panel, i)->row.measured_us);
  /* A row selects its node, and a node its row. */
  gantry_kernels_panel_select_row (panel, 3);
  item = gantry_kernels_panel_get_row (panel, 3);
  g_assert_cmpuint (item->detail.registers, ==, 40);
  g_assert_cmpuint (gantry_selection_count (selection), ==, 1);
  g_assert_true (g_hash_table_contains (gantry_selection_in (selection, last), GUINT_TO_POINTER (item->row.node)));
  node = gantry_kernels_panel_get_row (panel, 5)->row.node;
  gantry_selection_set (selection, last, &node, 1);
  g_assert_cmpuint (gantry_kernels_panel_n_rows (panel), ==, n);
  /* All words have to be there. */
  gantry_kernels_panel_set_filter (panel, "Backward dot");
  g_assert_cmpuint (gantry_kernels_panel_n_rows (panel), <, n);
  g_assert_cmpuint (gantry_kernels_panel_n_rows (panel), >, 0);
  for (guint i = 0; i < gantry_kernels_panel_n_rows (panel); i++)
    g_assert_cmpstr (gantry_kernels_panel_get_row (panel, i)->phase, ==, "backward");
  g_assert_nonnull (strstr (gantry_kernels_panel_get_summary (panel), "matching"));
  gantry_kernels_panel_set_filter (panel, "no such thing");
  g_assert_cmpuint (gantry_kernels_panel_n_rows (panel), ==, 0);
  gantry_kernels_panel_set_filter (panel, "");
  folder = g_dir_make_tmp ("gantry-kernels-XXXXXX", NULL);
  path = g_build_filename (folder, "k.csv", NULL);
  file = g_file_new_for_path (path);
  g_assert_true (gantry_kernels_panel_write_csv (panel, file, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_true (g_str_has_prefix (text, "node,name,operation,phase"));
  g_unlink (path);
  g_rmdir (folder);
  window_test_free (window);
}

/* One action; the header says whose times they are and what they changed; another action brings back the model's. */
static void
test_replan (void)
{
  GantryWindow *window = window_with_run ();
  GantryDocument *document;
  GtkWidget *button;
  double before;

  if (window == NULL)
    return;
  document = gantry_window_get_document (window);
  before = gantry_document_get_plan (document)->total_us;
  button = window_test_find (GTK_WIDGET (window), "times");
  g_assert_false (gtk_widget_get_visible (button));
  window_test_act (window, "replan");
  gantry_document_wait (document);
  window_test_wait (window);
  g_assert_true (gtk_widget_get_visible (button));
  g_assert_true (window_test_has_text (button, "Times: run 1"));
  g_assert_cmpfloat (gantry_document_get_plan (document)->total_us, >, 1.5 * before);
  g_assert_true (window_test_has_text (GTK_WIDGET (gtk_menu_button_get_popover (GTK_MENU_BUTTON (button))), "in the same order"));
  g_assert_true (window_test_has_text (GTK_WIDGET (gtk_menu_button_get_popover (GTK_MENU_BUTTON (button))), "Largest differences"));
  gtk_menu_button_popdown (GTK_MENU_BUTTON (button));
  window_test_act (window, "model-times");
  gantry_document_wait (document);
  window_test_wait (window);
  g_assert_true (window_test_has_text (button, "Times: model"));
  g_assert_cmpfloat (gantry_document_get_plan (document)->total_us, ==, before);
  window_test_act (window, "undo");
  gantry_document_wait (document);
  window_test_wait (window);
  g_assert_true (window_test_has_text (button, "Times: run 1"));
  window_test_free (window);
}

/* A session that was planned with measured times says so when it is open again. */
static void
test_replan_kept (void)
{
  g_autofree char *folder = g_dir_make_tmp ("gantry-times-XXXXXX", NULL), *path = g_build_filename (folder, "s.gantry", NULL);
  GantryWindow *window = window_with_run ();
  g_autoptr (GError) error = NULL;

  if (window == NULL)
    return;
  window_test_act (window, "replan");
  gantry_document_wait (gantry_window_get_document (window));
  window_test_wait (window);
  gantry_document_save (gantry_window_get_document (window), path, &error);
  g_assert_no_error (error);
  window_test_free (window);
  window = window_test_new ();
  window_test_open (window, path);
  g_assert_cmpstr (gantry_window_get_error (window), ==, NULL);
  g_assert_true (window_test_has_text (window_test_find (GTK_WIDGET (window), "times"), "Times: run 1"));
  window_test_free (window);
  g_unlink (path);
  g_rmdir (folder);
}

/* Notes are told; calls and counters unfold; the selection is found again in the lanes. */
static void
test_lanes (void)
{
  GantryWindow *window = window_with_run ();
  GantryTimePanel *panel;
  GtkWidget *fold, *lanes;
  GantryTimeAxis *axis;
  gint64 t0, t1;
  int folded, unfolded, minimum;
  guint32 node;

  if (window == NULL)
    return;
  panel = gantry_window_get_time_panel (window);
  axis = gantry_time_panel_get_axis (panel);
  lanes = GTK_WIDGET (gantry_time_panel_get_canvas (panel, GANTRY_TIME_LANES));
  g_assert_true (window_test_has_text (GTK_WIDGET (panel), "12 records were dropped"));
  fold = window_test_button (GTK_WIDGET (panel), "Host");
  g_assert_nonnull (fold);
  g_assert_true (gtk_widget_get_visible (fold));
  gtk_widget_measure (lanes, GTK_ORIENTATION_VERTICAL, -1, &minimum, &folded, NULL, NULL);
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (fold), TRUE);
  window_test_wait (window);
  gtk_widget_measure (lanes, GTK_ORIENTATION_VERTICAL, -1, &minimum, &unfolded, NULL, NULL);
  g_assert_cmpint (unfolded, >=, folded + 50); /* a lane and a curve */
  g_assert_cmpuint (gantry_time_canvas_n_clipped (GANTRY_TIME_CANVAS (lanes)), ==, 0);
  node = gantry_kernels_panel_get_row (gantry_window_get_kernels_panel (window), 0)->row.node;
  gantry_time_axis_fit (axis);
  gantry_selection_set (gantry_window_get_selection (window), gantry_document_get_compilation (gantry_window_get_document (window))->n_snapshots - 1, &node, 1);
  window_test_act (window, "show-in-time");
  gantry_time_axis_get (axis, &t0, &t1);
  g_assert_cmpint (t1 - t0, <, gantry_time_axis_get_length (axis));
  window_test_free (window);
}

static void
make_disassembler (const char *path, const char *script)
{
  g_assert_true (g_file_set_contents (path, script, -1, NULL));
  g_assert_cmpint (g_chmod (path, 0755), ==, 0);
}

/* Code of a GPU has its schedule and its machine code; what is missing for that is said. */
static void
test_code (void)
{
  static const char words[] = "not really a cubin";
  GantryWindow *window = window_test_with ("data/programs/transformer-tiny.gir", TRUE);
  g_autofree char *folder = g_dir_make_tmp ("gantry-sass-XXXXXX", NULL), *program = g_build_filename (folder, "nvdisasm", NULL);
  g_autofree char *path = g_strdup (g_getenv ("PATH")), *with = g_strconcat (folder, ":", path, NULL), *text = NULL, *said = NULL;
  g_autoptr (GantryRunResult) run = NULL;
  g_autoptr (GBytes) cubin = g_bytes_new_static (words, sizeof words);
  GantryCode code = { .kernel = (char *) "k",
                      .kind = (char *) "generated",
                      .assembly = (char *) ".version 8.0",
                      .schedule = (char *) "grid (8), block (128)",
                      .arch = (char *) "sm_90a",
                      .cubin = cubin,
                      .is_measured = TRUE,
                      .registers = 40 };
  GantryCodeView *view;
  GantryDocument *document;

  if (window == NULL)
    return;
  document = gantry_window_get_document (window);
  make_disassembler (program, "#!/bin/sh\nprintf 'FFMA R1, R2, R3, R4 ;\\n'\n");
  g_setenv ("PATH", with, TRUE);
  run = make_run (document, 1);
  code.node = gantry_document_get_plan (document)->steps[gantry_document_get_plan (document)->n_init_steps].node;
  gantry_run_result_add_code (run, &code, NULL);
  gantry_document_add_run (document, run);
  gantry_selection_set (gantry_window_get_selection (window), gantry_document_get_compilation (document)->n_snapshots - 1, &code.node, 1);
  window_test_act (window, "show-code");
  view = gantry_inspector_get_code_view (gantry_window_get_inspector (window));
  text = gantry_inspector_to_text (gantry_window_get_inspector (window)); /* writes what is due */
  g_assert_true (window_test_has_text (GTK_WIDGET (view), "for sm_90a: 40 registers, no spills"));
  g_free (text);
  text = gantry_code_view_get_text (view, "schedule");
  g_assert_cmpstr (text, ==, code.schedule);
  views_wait_until ((g_free (said), said = gantry_code_view_get_text (view, "sass"), strstr (said, "Disassembling") == NULL));
  g_assert_nonnull (strstr (said, "FFMA R1, R2, R3, R4"));
  /* One that fails is heard. */
  make_disassembler (program, "#!/bin/sh\necho 'no good' >&2\nexit 1\n");
  gantry_selection_clear (gantry_window_get_selection (window));
  window_test_wait (window);
  gantry_selection_set (gantry_window_get_selection (window), gantry_document_get_compilation (document)->n_snapshots - 1, &code.node, 1);
  views_wait_until ((g_free (said), said = gantry_code_view_get_text (view, "sass"), strstr (said, "no good") != NULL));
  g_setenv ("PATH", path, TRUE);
  g_unlink (program);
  g_rmdir (folder);
  window_test_free (window);
}

static gboolean
is_enabled (GantryWindow *window, const char *name)
{
  return g_action_group_get_action_enabled (G_ACTION_GROUP (window), name);
}

/* The run of another program: time and kernels, and nothing that needs a program. A model after it has all again. */
static void
test_outside (void)
{
  GantryWindow *window = window_test_new ();
  const char *root = g_getenv ("GANTRY_SOURCE_ROOT");
  g_autofree char *path = g_build_filename (root != NULL ? root : ".", "tests", "fixtures", "recordings", "kineto.json.gz", NULL);
  g_autofree char *model = views_sample ("sample.onnx");
  static const char *const off[] = { "run", "replan", "train", "peak", "show-code" };
  GantryKernelsPanel *panel;
  GtkWidget *memory;

  if (window == NULL)
    return;
  panel = gantry_window_get_kernels_panel (window);
  memory = GTK_WIDGET (gantry_time_panel_get_canvas (gantry_window_get_time_panel (window), GANTRY_TIME_MEMORY));
  window_test_open (window, path);
  g_assert_cmpstr (gantry_window_get_error (window), ==, NULL);
  g_assert_null (gantry_document_get_undo_name (gantry_window_get_document (window)));
  for (guint i = 0; i < G_N_ELEMENTS (off); i++)
    g_assert_false (is_enabled (window, off[i]));
  g_assert_true (is_enabled (window, "export-kernels"));
  g_assert_false (gtk_widget_get_mapped (GTK_WIDGET (gantry_window_get_pass_view (window))));
  g_assert_false (gtk_widget_get_visible (memory));
  views_wait_until (gantry_kernels_panel_is_ready (panel));
  g_assert_cmpuint (gantry_kernels_panel_n_rows (panel), >, 2);
  g_assert_cmpfloat (gantry_kernels_panel_get_row (panel, 0)->row.planned_us, <, 0);
  window_test_open (window, model);
  g_assert_true (is_enabled (window, "run"));
  g_assert_true (gtk_widget_get_mapped (GTK_WIDGET (gantry_window_get_pass_view (window))));
  g_assert_true (gtk_widget_get_visible (memory));
  window_test_free (window);
}

int
main (int argc, char **argv)
{
  window_test_init (&argc, &argv);
  g_test_add_func ("/overlay/kernels", test_kernels);
  g_test_add_func ("/overlay/replan", test_replan);
  g_test_add_func ("/overlay/replan-kept", test_replan_kept);
  g_test_add_func ("/overlay/lanes", test_lanes);
  g_test_add_func ("/overlay/code", test_code);
  g_test_add_func ("/overlay/outside", test_outside);
  return window_test_run ();
}
