/* SPDX-License-Identifier: Apache-2.0 */
/* The window driven through its actions: open, fold, search, select, passes before and after, undo, run in the child,
 * a child that is killed, export, and files that cannot be opened. */
#include "app/gantry/application.h"
#include "app/gantry/window.h"
#include "tests/app/gantry/window-test.h"
#include <adwaita.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/types.h>

static GantryWindow *
window_with_sample (void)
{
  g_autofree char *path = views_sample ("sample.onnx");
  GantryWindow *window = window_test_new ();

  if (window == NULL)
    return NULL;
  window_test_open (window, path);
  g_assert_cmpstr (gantry_window_get_error (window), ==, NULL);
  g_assert_cmpstr (gantry_window_get_page (window), ==, "model");
  return window;
}

static char *
cli_path (void)
{
  const char *given = g_getenv ("GANTRY_CLI"), *root = g_getenv ("GANTRY_BUILD_ROOT");

  return given != NULL ? g_strdup (given) : g_build_filename (root != NULL ? root : ".", "app", "gantry-cli", NULL);
}

static gboolean
have_cli (void)
{
  g_autofree char *path = cli_path ();

  if (g_file_test (path, G_FILE_TEST_IS_EXECUTABLE))
    {
      g_setenv ("GANTRY_CLI", path, TRUE);
      return TRUE;
    }
  g_test_skip ("gantry-cli is not built");
  return FALSE;
}

/* Opening */

static void
test_open (void)
{
  GantryWindow *window = window_with_sample ();
  g_autofree char *text = NULL;

  if (window == NULL)
    return;
  g_assert_cmpuint (gantry_graph_picture_n_boxes (
                      gantry_graph_canvas_get_picture (gantry_pass_view_get_after (gantry_window_get_pass_view (window)))),
                    >, 3);
  text = gantry_inspector_to_text (gantry_window_get_inspector (window));
  g_assert_nonnull (strstr (text, "sample.onnx"));
  g_assert_nonnull (strstr (text, "ONNX"));
  g_assert_false (g_action_group_get_action_enabled (G_ACTION_GROUP (window), "undo"));
  g_assert_true (g_action_group_get_action_enabled (G_ACTION_GROUP (window), "run"));
  window_test_free (window);
}

/* The largest figures of a real model, where there is one. */
static void
test_open_real (void)
{
  g_autofree char *path = NULL, *text = NULL;
  GantryWindow *window = window_test_new ();

  if (window == NULL)
    return;
  path = views_shared_model ("mnist.onnx");
  if (path != NULL)
    {
      window_test_open (window, path);
      g_assert_cmpstr (gantry_window_get_page (window), ==, "model");
      g_assert_cmpuint (gantry_document_get_model (gantry_window_get_document (window))->n_nodes, ==, 12);
      text = gantry_inspector_to_text (gantry_window_get_inspector (window));
      g_assert_nonnull (strstr (text, "Input3"));
    }
  window_test_free (window);
}

/* What the command line says of a file. (transfer full) */
static char *
cli_message (const char *path)
{
  g_autofree char *cli = cli_path ();
  g_autoptr (GSubprocess) process = NULL;
  g_autoptr (GError) error = NULL;
  char *words = NULL;

  process = g_subprocess_new (G_SUBPROCESS_FLAGS_STDERR_PIPE | G_SUBPROCESS_FLAGS_STDOUT_SILENCE, &error, cli, "info", path, NULL);
  g_assert_no_error (error);
  g_subprocess_communicate_utf8 (process, NULL, NULL, NULL, &words, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_subprocess_get_exit_status (process), ==, 1);
  return words;
}

static void
test_broken (void)
{
  static const char *const files[] = { "cyclic.onnx", "not-onnx.onnx", "oversized.onnx", "truncated.onnx",
                                       "wrong-type.onnx", "no-such-file.onnx" };
  GantryWindow *window;

  if (!have_cli ())
    return;
  window = window_test_new ();
  if (window == NULL)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *name = g_build_filename ("broken", files[i], NULL), *path = views_sample (name);
      g_autofree char *canonical = g_canonicalize_filename (path, NULL), *words = cli_message (canonical);

      window_test_open (window, canonical);
      g_assert_cmpstr (gantry_window_get_page (window), ==, "error");
      g_assert_nonnull (gantry_window_get_error (window));
      g_test_message ("%s", gantry_window_get_error (window));
      g_assert_nonnull (strstr (words, gantry_window_get_error (window)));
    }
  /* And the window goes on. */
  {
    g_autofree char *path = views_sample ("sample.onnx");

    window_test_open (window, path);
    g_assert_cmpstr (gantry_window_get_page (window), ==, "model");
  }
  window_test_free (window);
}

/* A file that cannot be opened takes nothing away from the model that is open. */
static void
test_broken_beside_model (void)
{
  g_autofree char *path = views_sample ("broken/truncated.onnx");
  GantryWindow *window = window_with_sample ();

  if (window == NULL)
    return;
  window_test_open (window, path);
  g_assert_cmpstr (gantry_window_get_page (window), ==, "model");
  g_assert_nonnull (gantry_window_get_error (window));
  g_assert_nonnull (gantry_document_get_compilation (gantry_window_get_document (window)));
  window_test_free (window);
}

/* Passes */

static void
test_passes (void)
{
  GantryWindow *window = window_with_sample ();
  GantryDocument *document;
  GantryPassView *view;
  GantryCompilation *compilation;
  g_autoptr (GHashTable) made = NULL;
  g_autofree char *text = NULL;

  if (window == NULL)
    return;
  document = gantry_window_get_document (window);
  view = gantry_window_get_pass_view (window);
  compilation = gantry_document_get_compilation (document);
  g_assert_false (gtk_widget_get_mapped (GTK_WIDGET (gantry_pass_view_get_before (view))));
  window_test_act (window, "next-pass");
  views_wait_until (window_test_is_idle (window));
  views_settle ();
  g_assert_cmpuint (gantry_pass_list_get_selected (gantry_window_get_pass_list (window)), ==, 1);
  g_assert_true (gtk_widget_get_mapped (GTK_WIDGET (gantry_pass_view_get_before (view))));
  g_assert_cmpuint (gantry_graph_canvas_get_snapshot (gantry_pass_view_get_before (view)), ==, 0);
  g_assert_cmpuint (gantry_graph_canvas_get_snapshot (gantry_pass_view_get_after (view)), ==, 1);
  made = gantry_compilation_changes (compilation, 1, FALSE);
  g_assert_cmpuint (g_hash_table_size (made), ==, compilation->snapshots[1].n_made);
  /* Selecting before the pass selects what it became. */
  {
    const GantryModule *module = compilation->snapshots[0].module;
    guint32 node = module->nodes[gantry_module_entry (module)->first_node + gantry_module_entry (module)->n_nodes - 1].id;

    gantry_selection_set (gantry_window_get_selection (window), 0, &node, 1);
    g_assert_cmpuint (g_hash_table_size (gantry_selection_in (gantry_window_get_selection (window), 1)), >, 0);
    text = gantry_inspector_to_text (gantry_window_get_inspector (window));
    g_assert_nonnull (strstr (text, "Through the passes"));
    g_assert_nonnull (strstr (text, compilation->snapshots[1].title));
  }
  g_action_group_change_action_state (G_ACTION_GROUP (window), "single-pane", g_variant_new_boolean (TRUE));
  views_settle ();
  g_assert_false (gtk_widget_get_mapped (GTK_WIDGET (gantry_pass_view_get_before (view))));
  window_test_free (window);
}

static gboolean
pass_enabled (GantryWindow *window, const char *pass)
{
  return gantry_compile_settings_enabled (gantry_document_get_settings (gantry_window_get_document (window)), pass);
}

static const char *
optional_pass (void)
{
  guint n;
  const GantryPassInfo *passes = gantry_compiler_passes (&n);

  for (guint i = 0; i < n; i++)
    if (!passes[i].required)
      return passes[i].name;
  return NULL;
}

static void
test_undo (void)
{
  GantryWindow *window = window_with_sample ();
  const char *pass = optional_pass ();
  GantryCompilation *before;

  if (window == NULL)
    return;
  before = gantry_compilation_ref (gantry_document_get_compilation (gantry_window_get_document (window)));
  g_assert_true (pass_enabled (window, pass));
  gantry_document_set_pass_enabled (gantry_window_get_document (window), pass, FALSE);
  views_wait_until (window_test_is_idle (window));
  g_assert_true (gantry_document_get_compilation (gantry_window_get_document (window)) != before);
  g_assert_false (pass_enabled (window, pass));
  window_test_act (window, "undo");
  views_wait_until (window_test_is_idle (window));
  g_assert_true (pass_enabled (window, pass));
  window_test_act (window, "redo");
  views_wait_until (window_test_is_idle (window));
  g_assert_false (pass_enabled (window, pass));
  g_action_group_change_action_state (G_ACTION_GROUP (window), "finite-math", g_variant_new_boolean (TRUE));
  views_wait_until (window_test_is_idle (window));
  g_assert_true (gantry_document_get_settings (gantry_window_get_document (window))->finite_math);
  window_test_act (window, "undo");
  views_wait_until (window_test_is_idle (window));
  g_assert_false (gantry_document_get_settings (gantry_window_get_document (window))->finite_math);
  gantry_compilation_unref (before);
  window_test_free (window);
}

/* Looking */

static void
test_fold_and_search (void)
{
  GantryWindow *window = window_with_sample ();
  GantryPassView *view;
  GtkWidget *entry;

  if (window == NULL)
    return;
  view = gantry_window_get_pass_view (window);
  window_test_act (window, "fold-all");
  views_wait_until (window_test_is_idle (window));
  window_test_act (window, "unfold-all");
  views_wait_until (window_test_is_idle (window));
  window_test_act (window, "find");
  views_settle ();
  entry = GTK_WIDGET (gtk_root_get_focus (GTK_ROOT (window)));
  g_assert_nonnull (entry);
  g_assert_nonnull (gtk_widget_get_ancestor (entry, GTK_TYPE_SEARCH_ENTRY));
  gtk_editable_set_text (GTK_EDITABLE (gtk_widget_get_ancestor (entry, GTK_TYPE_SEARCH_ENTRY)), "f32");
  views_wait_until (gantry_pass_view_n_matches (view) > 0);
  window_test_act (window, "find-next");
  g_assert_cmpuint (gantry_selection_count (gantry_window_get_selection (window)), ==, 1);
  window_test_act (window, "find-previous");
  window_test_act (window, "clear-selection");
  g_assert_cmpuint (gantry_selection_count (gantry_window_get_selection (window)), ==, 0);
  window_test_act (window, "fit");
  window_test_act (window, "zoom-in");
  window_test_act (window, "zoom-out");
  window_test_free (window);
}

static void
test_panels (void)
{
  GantryWindow *window = window_with_sample ();
  GtkWidget *time;

  if (window == NULL)
    return;
  time = GTK_WIDGET (gantry_window_get_time_panel (window));
  g_assert_true (gtk_widget_get_mapped (time));
  window_test_act (window, "show-time");
  g_assert_false (gtk_widget_get_mapped (time));
  window_test_act (window, "show-time");
  g_assert_true (gtk_widget_get_mapped (time));
  window_test_act (window, "show-inspector");
  g_assert_false (gtk_widget_get_mapped (GTK_WIDGET (gantry_window_get_inspector (window))));
  window_test_act (window, "show-inspector");
  g_action_group_change_action_state (G_ACTION_GROUP (window), "maximize-time", g_variant_new_boolean (TRUE));
  g_assert_false (gtk_widget_get_mapped (GTK_WIDGET (gantry_window_get_pass_view (window))));
  g_assert_true (gtk_widget_get_mapped (time));
  g_action_group_change_action_state (G_ACTION_GROUP (window), "maximize-time", g_variant_new_boolean (FALSE));
  g_assert_true (gtk_widget_get_mapped (GTK_WIDGET (gantry_window_get_pass_view (window))));
  window_test_free (window);
}

/* Who is alive at the peak adds up to the peak. */
static void
test_peak (void)
{
  GantryWindow *window = window_with_sample ();
  GantryAliveList *alive;
  const GantryPlan *plan;
  GantryMemoryParts parts;

  if (window == NULL)
    return;
  plan = gantry_document_get_compilation (gantry_window_get_document (window))->plan;
  g_assert_nonnull (plan);
  window_test_act (window, "peak");
  alive = gantry_memory_side_get_alive (gantry_time_panel_get_side (gantry_window_get_time_panel (window)));
  g_assert_cmpuint (gantry_alive_list_bytes (alive), ==, gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE));
  g_assert_cmpuint (gantry_alive_list_count (alive), >, 0);
  /* The parts have the names that a measurement has for them. */
  gantry_plan_memory_parts (plan, GANTRY_MEMORY_DEVICE, &parts);
  for (guint i = 0; i < GANTRY_N_MEMORY_PARTS; i++)
    g_assert_true (window_test_has_text (GTK_WIDGET (alive), gantry_memory_part_name (i)) == (parts.bytes[i] > 0));
  window_test_free (window);
}

static void
test_export (void)
{
  static const struct
  {
    const char *name, *begin;
  } files[] = { { "graph.svg", "<?xml" }, { "graph.png", "\211PNG" }, { "graph.dot", "digraph" } };
  GantryWindow *window = window_with_sample ();

  if (window == NULL)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = g_build_filename (g_get_user_config_dir (), files[i].name, NULL), *content = NULL;
      g_autoptr (GError) error = NULL;
      gsize size;

      gantry_window_export (window, path, &error);
      g_assert_no_error (error);
      g_file_get_contents (path, &content, &size, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (size, >, 200);
      g_assert_nonnull (g_strstr_len (content, 64, files[i].begin));
      g_unlink (path);
    }
  {
    g_autoptr (GError) error = NULL;

    g_assert_false (gantry_window_export (window, "/no/such/folder/graph.png", &error));
    g_assert_nonnull (error);
  }
  window_test_free (window);
}

/* Running */

static void
test_run (void)
{
  GantryWindow *window;
  GantryDocument *document;
  const GantryRunResult *run;

  if (!have_cli ())
    return;
  window = window_with_sample ();
  if (window == NULL)
    return;
  document = gantry_window_get_document (window);
  window_test_act (window, "run");
  views_wait_until (window_test_is_idle (window));
  g_assert_cmpstr (gantry_window_get_error (window), ==, NULL);
  run = gantry_document_get_run (document);
  g_assert_nonnull (run);
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

  if (!have_cli ())
    return;
  window = window_with_sample ();
  if (window == NULL)
    return;
  panel = GTK_WIDGET (gantry_window_get_time_panel (window));
  g_assert_null (cell (window, "process at most", 2));
  window_test_act (window, "run");
  views_wait_until (window_test_is_idle (window));
  run = gantry_document_get_run (gantry_window_get_document (window));
  g_assert_true (run != NULL && run->memory != NULL);
  process = gantry_format_bytes (run->memory->process_peak);
  g_assert_cmpstr (cell (window, "process at most", 2), ==, process);
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

/* What was measured of one program is not shown under the plan of another. */
static void
test_run_of_other_program (void)
{
  GantryWindow *window;
  GantryDocument *document;
  GantryTrainingOptions training;
  GantryRunResult *inference, *step;

  if (!have_cli ())
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

  if (!have_cli ())
    return;
  window = window_with_sample ();
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
  GantryWindow *window = window_with_sample ();

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

/* Programs that open and cannot be compiled */

static void
test_refusal (void)
{
  g_autofree char *path = views_sample ("unknown-operation.onnx");
  GantryWindow *window = window_test_new ();

  if (window == NULL)
    return;
  window_test_open (window, path);
  g_assert_cmpstr (gantry_window_get_page (window), ==, "model");
  g_assert_nonnull (gantry_document_get_compilation (gantry_window_get_document (window))->refusal);
  g_assert_false (g_action_group_get_action_enabled (G_ACTION_GROUP (window), "run"));
  window_test_free (window);
}

/* All of it is seen: nothing of a bar is cut off. */
static gboolean
is_inside (GtkWidget *widget, GtkWidget *of)
{
  graphene_rect_t bounds;

  return gtk_widget_compute_bounds (widget, of, &bounds) && bounds.origin.x >= 0 && bounds.origin.y >= 0
         && bounds.origin.x + bounds.size.width <= (float) gtk_widget_get_width (of)
         && bounds.origin.y + bounds.size.height <= (float) gtk_widget_get_height (of);
}

static GtkWidget *
notice_of (GtkWidget *widget)
{
  while (widget != NULL && !gtk_widget_has_css_class (widget, "notice"))
    widget = gtk_widget_get_parent (widget);
  return widget;
}

static void
test_dims (void)
{
  g_autofree char *path = views_sample ("open-batch.onnx");
  GantryWindow *window = window_test_new ();
  GtkWidget *button;

  if (window == NULL)
    return;
  window_test_open (window, path);
  g_assert_nonnull (gantry_document_get_compilation (gantry_window_get_document (window))->refusal);
  button = window_test_find (GTK_WIDGET (window), "bind-dims");
  g_assert_nonnull (button);
  window_test_wait (window);
  views_wait_frame (button);
  g_assert_true (is_inside (button, notice_of (button)));
  g_signal_emit_by_name (button, "clicked");
  views_wait_until (window_test_is_idle (window));
  g_assert_null (gantry_document_get_compilation (gantry_window_get_document (window))->refusal);
  g_assert_true (g_action_group_get_action_enabled (G_ACTION_GROUP (window), "run"));
  g_assert_null (window_test_find (GTK_WIDGET (window), "bind-dims"));
  window_test_free (window);
}

/* A value for an input, where the refusal names it; one undo takes it back. */
static void
test_values (void)
{
  g_autofree char *path = views_sample ("rate.onnx");
  GantryWindow *window = window_test_new ();
  GantryDocument *document;
  GtkWidget *entry, *button;

  if (window == NULL)
    return;
  window_test_open (window, path);
  document = gantry_window_get_document (window);
  entry = window_test_find (GTK_WIDGET (window), "value-rate");
  button = window_test_find (GTK_WIDGET (window), "set-values");
  g_assert_nonnull (entry);
  g_assert_nonnull (button);
  gtk_editable_set_text (GTK_EDITABLE (entry), "16000");
  g_signal_emit_by_name (button, "clicked");
  views_wait_until (window_test_is_idle (window));
  g_assert_null (gantry_document_get_compilation (document)->refusal);
  g_assert_null (window_test_find (GTK_WIDGET (window), "set-values"));
  gantry_document_undo (document);
  views_wait_until (window_test_is_idle (window));
  g_assert_nonnull (window_test_find (GTK_WIDGET (window), "set-values"));
  window_test_free (window);
}

/* What a model reads outside its folder is asked for; the answer holds for this opening. */
static void
test_outside (void)
{
  g_autofree char *folder = g_dir_make_tmp ("gantry-outside-XXXXXX", NULL), *home = g_build_filename (folder, "home", NULL);
  g_autofree char *secret = g_build_filename (folder, "secret", NULL), *model = g_build_filename (home, "reader.gir", NULL);
  g_autofree char *text = g_strdup_printf ("module \"reader\" {\n  func @main #1 (%%1 \"x\": f32[4]) -> (%%3) {\n"
                                           "    %%2 = constant() {value = file<f32[4]: \"%s\", 0, 16>}: f32[4]\n"
                                           "    %%3 = add(%%1, %%2): f32[4]\n  }\n}\n", secret);
  GantryWindow *window = window_test_new ();
  GtkWidget *dialog;

  if (window == NULL)
    return;
  g_assert_cmpint (g_mkdir (home, 0700), ==, 0);
  g_assert_true (g_file_set_contents (secret, "secret of someone", -1, NULL));
  g_assert_true (g_file_set_contents (model, text, -1, NULL));
  for (guint i = 0; i < 2; i++)
    {
      window_test_open (window, model);
      g_assert_cmpstr (gantry_window_get_page (window), !=, "model");
      dialog = window_test_dialog ("outside");
      g_assert_nonnull (dialog);
      adw_message_dialog_response (ADW_MESSAGE_DIALOG (dialog), i == 0 ? "cancel" : "allow");
      gtk_window_close (GTK_WINDOW (dialog));
      views_settle ();
    }
  views_wait_until (window_test_is_idle (window));
  g_assert_cmpstr (gantry_window_get_page (window), ==, "model");
  window_test_free (window);
  g_unlink (model);
  g_unlink (secret);
  g_rmdir (home);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  window_test_init (&argc, &argv);
  g_test_add_func ("/app/window/open", test_open);
  g_test_add_func ("/app/window/open-real", test_open_real);
  g_test_add_func ("/app/window/broken", test_broken);
  g_test_add_func ("/app/window/broken-beside-model", test_broken_beside_model);
  g_test_add_func ("/app/window/passes", test_passes);
  g_test_add_func ("/app/window/undo", test_undo);
  g_test_add_func ("/app/window/fold-and-search", test_fold_and_search);
  g_test_add_func ("/app/window/panels", test_panels);
  g_test_add_func ("/app/window/peak", test_peak);
  g_test_add_func ("/app/window/export", test_export);
  g_test_add_func ("/app/window/run", test_run);
  g_test_add_func ("/app/window/measured", test_measured);
  g_test_add_func ("/app/window/run-of-other-program", test_run_of_other_program);
  g_test_add_func ("/app/window/kill", test_kill);
  g_test_add_func ("/app/window/no-cli", test_no_cli);
  g_test_add_func ("/app/window/refusal", test_refusal);
  g_test_add_func ("/app/window/dims", test_dims);
  g_test_add_func ("/app/window/values", test_values);
  g_test_add_func ("/app/window/outside", test_outside);
  return window_test_run ();
}
