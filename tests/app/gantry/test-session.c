/* SPDX-License-Identifier: Apache-2.0 */
/* The session file of a window: what is open once it is saved, a model that it carries along, and what others write into it. */
#include "app/gantry/window-private.h"
#include "app/gantry/state.h"
#include "core/document/outside.h"
#include "tests/app/gantry/window-test.h"
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>

typedef struct
{
  char *folder, *model, *session;
  GantryWindow *window; /* NULL: no display */
} Place;

/* A window on a model of its own. */
static void
set_up (Place *place, gconstpointer data)
{
  g_autofree char *from = views_source_file ("data/programs/mlp.gir"), *text = NULL;
  gsize size;

  place->folder = g_dir_make_tmp ("gantry-session-XXXXXX", NULL);
  place->model = g_build_filename (place->folder, "m.gir", NULL);
  place->session = g_build_filename (place->folder, "s.gantry", NULL);
  g_assert_true (g_file_get_contents (from, &text, &size, NULL));
  g_assert_true (g_file_set_contents (place->model, text, (gssize) size, NULL));
  place->window = window_test_new ();
  if (place->window == NULL)
    return;
  window_test_open (place->window, place->model);
  g_assert_cmpstr (gantry_window_get_error (place->window), ==, NULL);
}

static void
tear_down (Place *place, gconstpointer data)
{
  if (place->window != NULL)
    window_test_free (place->window);
  g_unlink (place->model);
  g_unlink (place->session);
  g_rmdir (place->folder);
  g_free (place->folder);
  g_free (place->model);
  g_free (place->session);
}

static void
set_limit (GantryDocument *document, guint64 bytes)
{
  gantry_document_set_limit (document, bytes);
  gantry_document_wait (document);
}

static void
save (Place *place, const char *path)
{
  GantryDocument *document = gantry_window_get_document (place->window);

  gantry_window_save_to (place->window, path);
  views_wait_until (gantry_document_get_session_path (document) != NULL && !gantry_document_is_unsaved (document));
  window_test_wait (place->window);
}

static void
respond (const char *name, const char *response)
{
  GtkWidget *dialog;

  views_wait_until ((dialog = window_test_dialog (name)) != NULL);
  adw_message_dialog_response (ADW_MESSAGE_DIALOG (dialog), response);
  gtk_window_destroy (GTK_WINDOW (dialog)); /* as a button does */
  views_settle ();
}

static void
export_nodes (Place *place, const char *nodes, guint last)
{
  g_autofree char *text = g_strdup_printf ("module \"m\" {\n  func @main #1 (%%1 \"x\": f32[4]) -> (%%%u) {\n%s  }\n}\n", last, nodes);

  g_assert_true (g_file_set_contents (place->model, text, -1, NULL));
}

static void
reload (Place *place)
{
  GtkWidget *button = NULL;

  views_wait_until ((button = window_test_find (GTK_WIDGET (place->window), "reload")) != NULL);
  g_signal_emit_by_name (button, "clicked");
  views_wait_until (window_test_find (GTK_WIDGET (place->window), "reload") == NULL);
  window_test_wait (place->window);
}

/* What is selected is the same node after the model was loaded again, whatever its number is, and none where it is gone. */
static void
test_selected (Place *place, gconstpointer data)
{
  GantrySelection *selection;
  GantryModule *module;
  guint32 id;

  if (place->window == NULL)
    return;
  selection = gantry_window_get_selection (place->window);
  export_nodes (place, "    %2 = tanh(%1): f32[4]\n    %3 = exponential(%2): f32[4]\n", 3);
  window_test_open (place->window, place->model);
  module = gantry_document_get_model (gantry_window_get_document (place->window))->module;
  id = module->nodes[module->n_nodes - 1].id;
  g_assert_cmpstr (gantry_node_op_name (module, gantry_module_node (module, id)), ==, "exponential");
  gantry_selection_set (selection, 0, &id, 1);
  export_nodes (place, "    %2 = negate(%1): f32[4]\n    %3 = tanh(%2): f32[4]\n    %4 = exponential(%3): f32[4]\n", 4);
  reload (place);
  views_wait_until (gantry_selection_count (selection) == 1);
  module = gantry_document_get_model (gantry_window_get_document (place->window))->module;
  g_assert_cmpstr (gantry_node_op_name (module, gantry_module_node (module, gantry_selection_primary (selection))), ==, "exponential");
  export_nodes (place, "    %2 = negate(%1): f32[4]\n    %3 = tanh(%2): f32[4]\n    %4 = tanh(%3): f32[4]\n", 4);
  reload (place);
  g_assert_cmpuint (gantry_selection_count (selection), ==, 0);
}

/* What is selected while the model is loaded is selected afterwards, and not what was selected when that began. */
static void
test_selected_while_loading (Place *place, gconstpointer data)
{
  GantrySelection *selection;
  GantryModule *module;
  guint32 ids[2];

  if (place->window == NULL)
    return;
  selection = gantry_window_get_selection (place->window);
  export_nodes (place, "    %2 = tanh(%1): f32[4]\n    %3 = exponential(%2): f32[4]\n", 3);
  window_test_open (place->window, place->model);
  module = gantry_document_get_model (gantry_window_get_document (place->window))->module;
  for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
    ids[i] = module->nodes[module->n_nodes - 1 - i].id;
  gantry_selection_set (selection, 0, &ids[0], 1);
  export_nodes (place, "    %2 = negate(%1): f32[4]\n    %3 = tanh(%2): f32[4]\n    %4 = exponential(%3): f32[4]\n", 4);
  views_wait_until (window_test_find (GTK_WIDGET (place->window), "reload") != NULL);
  g_signal_emit_by_name (window_test_find (GTK_WIDGET (place->window), "reload"), "clicked");
  gantry_selection_set (selection, 0, &ids[1], 1);
  views_wait_until (window_test_find (GTK_WIDGET (place->window), "reload") == NULL);
  window_test_wait (place->window);
  views_wait_until (gantry_selection_count (selection) == 1);
  module = gantry_document_get_model (gantry_window_get_document (place->window))->module;
  g_assert_cmpstr (gantry_node_op_name (module, gantry_module_node (module, gantry_selection_primary (selection))), ==, "tanh");
}

/* A session whose model has changed: it opens with the model as it is now where the user says so, and is unsaved then, as it is where the
 * model is loaded again while it is open. */
static void
test_model_changed (Place *place, gconstpointer data)
{
  g_autofree char *text = NULL;
  g_autoptr (GString) changed = NULL;
  GantryDocument *document;

  if (place->window == NULL)
    return;
  document = gantry_window_get_document (place->window);
  set_limit (document, 1000000000);
  save (place, place->session);
  g_assert_true (g_file_get_contents (place->model, &text, NULL, NULL));
  changed = g_string_new (text);
  g_assert_cmpuint (g_string_replace (changed, "tanh", "exponential", 0), >, 0);
  g_assert_true (g_file_set_contents (place->model, changed->str, -1, NULL));
  reload (place);
  g_assert_true (gantry_document_is_unsaved (document));
  gtk_window_close (GTK_WINDOW (place->window));
  respond ("unsaved", "cancel");
  /* Not saved: the file is still of the model as it was. */
  gantry_window_open (place->window, place->session);
  respond ("unsaved", "discard");
  respond ("changed", "cancel");
  gantry_window_open (place->window, place->session);
  respond ("unsaved", "discard");
  respond ("changed", "allow");
  window_test_wait (place->window);
  g_assert_true (gantry_document_is_unsaved (document));
  save (place, place->session);
  window_test_open (place->window, place->session);
  g_assert_cmpstr (gantry_window_get_error (place->window), ==, NULL);
  g_assert_null (window_test_dialog ("changed"));
  g_assert_false (gantry_document_is_unsaved (document));
  g_assert_cmpuint (gantry_document_get_settings (document)->target.memory_limit, ==, 1000000000);
}

/* What did not fit when it was saved is looked at when it is open again: its peak is found. */
static void
test_unfit (Place *place, gconstpointer data)
{
  GantryDocument *document;

  if (place->window == NULL)
    return;
  document = gantry_window_get_document (place->window);
  set_limit (document, 64);
  save (place, place->session);
  window_test_open (place->window, place->session);
  gantry_document_wait (document);
  window_test_wait (place->window);
  g_assert_nonnull (gantry_document_get_plan_error (document));
  g_assert_true (window_test_has_text (GTK_WIDGET (place->window), "Time: does not fit"));
  window_test_act (place->window, "peak");
}

/* The title, the button of the model, the recent files and a later save are of the new file; nothing is asked again. */
static void
test_saved_as (Place *place, gconstpointer data)
{
  g_auto (GStrv) before = NULL, recent = NULL;
  GantryDocument *document;

  if (place->window == NULL)
    return;
  document = gantry_window_get_document (place->window);
  set_limit (document, 1000000000);
  before = gantry_state_get_recent ();
  g_assert_cmpstr (before[0], ==, place->model);
  save (place, place->session);
  g_assert_cmpstr (gtk_window_get_title (GTK_WINDOW (place->window)), ==, "s.gantry \342\200\223 Gantry");
  g_assert_true (window_test_has_text (GTK_WIDGET (place->window), "s.gantry"));
  g_assert_cmpstr (gantry_document_get_path (document), ==, place->session);
  recent = gantry_state_get_recent ();
  g_assert_cmpstr (recent[0], ==, place->session);
  g_assert_cmpstr (recent[1], ==, place->model);
  set_limit (document, 2000000000); /* the name stays when it is compiled again */
  g_assert_cmpstr (gantry_document_get_path (document), ==, place->session);
  save (place, NULL);
}

/* Another file is opened while the first one is saved: both are among the recent files. */
static void
test_opened_while_saving (Place *place, gconstpointer data)
{
  g_autofree char *other = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "data", "programs", "mlp.gir", NULL);
  g_auto (GStrv) recent = NULL;
  sqlite3 *lock = NULL;

  if (place->window == NULL)
    return;
  g_assert_cmpint (sqlite3_open (place->session, &lock), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (lock, "BEGIN IMMEDIATE", NULL, NULL, NULL), ==, SQLITE_OK);
  gantry_window_save_to (place->window, place->session);
  window_test_open (place->window, other);
  g_assert_cmpint (sqlite3_close (lock), ==, SQLITE_OK);
  views_wait_until (window_test_has_text (GTK_WIDGET (place->window), "Session saved"));
  recent = gantry_state_get_recent ();
  g_assert_true (g_strv_contains ((const char *const *) recent, place->session));
  g_assert_true (g_strv_contains ((const char *const *) recent, other));
  g_assert_cmpstr (gantry_document_get_path (gantry_window_get_document (place->window)), ==, other);
}

/* A trace is its run: there is nothing left of it without. */
static void
test_run_of_trace (Place *place, gconstpointer data)
{
  g_autofree char *trace = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "tests", "fixtures", "recordings", "chrome.json", NULL);

  if (place->window == NULL)
    return;
  window_test_open (place->window, trace);
  g_assert_nonnull (gantry_document_get_run (gantry_window_get_document (place->window)));
  g_assert_false (g_action_group_get_action_enabled (G_ACTION_GROUP (place->window), "delete-run"));
}

/* A save that fails is none: nothing gets its name. */
static void
test_not_saved (Place *place, gconstpointer data)
{
  g_autofree char *path = g_build_filename (place->folder, "no", "s.gantry", NULL);
  g_auto (GStrv) recent = NULL;

  if (place->window == NULL)
    return;
  gantry_window_save_to (place->window, path);
  views_wait_until (gantry_window_get_error (place->window) != NULL);
  recent = gantry_state_get_recent ();
  g_assert_false (g_strv_contains ((const char *const *) recent, path));
  g_assert_cmpstr (gantry_document_get_path (gantry_window_get_document (place->window)), ==, place->model);
  g_assert_false (g_file_test (path, G_FILE_TEST_EXISTS));
}

/* The session alone is opened where its model is gone. */
static void
test_embedded (Place *place, gconstpointer data)
{
  GantryDocument *document;
  guint n_nodes;

  if (place->window == NULL)
    return;
  document = gantry_window_get_document (place->window);
  n_nodes = gantry_compilation_module (gantry_document_get_compilation (document))->n_nodes;
  set_limit (document, 1000000007);
  gantry_document_set_embed (document, TRUE);
  save (place, place->session);
  window_test_free (place->window);
  g_assert_cmpint (g_unlink (place->model), ==, 0);
  place->window = window_test_new ();
  window_test_open (place->window, place->session);
  g_assert_cmpstr (gantry_window_get_error (place->window), ==, NULL);
  document = gantry_window_get_document (place->window);
  g_assert_cmpuint (gantry_document_get_settings (document)->target.memory_limit, ==, 1000000007);
  g_assert_cmpuint (gantry_compilation_module (gantry_document_get_compilation (document))->n_nodes, ==, n_nodes);
}

static void
add_run (GantryDocument *document)
{
  g_autoptr (GantryRunResult) result = gantry_run_result_new ();

  result->name = g_strdup ("a run of others");
  result->device = g_strdup ("none");
  result->when = g_strdup ("2026-01-01T00:00:00Z");
  result->n_runs = 1;
  result->plan = gantry_plan_ref (gantry_document_get_plan (document));
  result->recording = gantry_recording_from_plan (gantry_compilation_module (gantry_document_get_compilation (document)), result->plan);
  gantry_document_add_run (document, result);
}

/* What another program adds to the file comes by itself and is told; what it sets where something is set here too is told at the save. */
static void
test_others (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) other = gantry_document_new ();
  g_autoptr (GError) error = NULL;
  GantryDocument *document;

  if (place->window == NULL)
    return;
  document = gantry_window_get_document (place->window);
  save (place, place->session);
  gantry_document_open (other, place->session, NULL, NULL, &error);
  g_assert_no_error (error);
  add_run (other);
  gantry_document_save (other, NULL, &error);
  g_assert_no_error (error);
  views_wait_until (gantry_document_get_runs (document)->len == 1);
  views_wait_until (window_test_has_text (GTK_WIDGET (place->window), "1 run was added to the session file"));
  g_assert_false (gantry_document_is_unsaved (document));
  set_limit (other, 1000000001);
  gantry_document_save (other, NULL, &error);
  g_assert_no_error (error);
  set_limit (document, 1000000002);
  gantry_window_save_to (place->window, NULL);
  views_wait_until (gantry_window_get_error (place->window) != NULL);
  g_assert_nonnull (strstr (gantry_window_get_error (place->window), "changed by another program"));
  g_assert_true (gantry_document_is_unsaved (document));
}

/* Which run is shown is chosen in the menu of the model's name, and the one that is shown is marked. */
static void
test_runs (Place *place, gconstpointer data)
{
  GantryDocument *document;
  g_autoptr (GVariant) state = NULL;
  GPtrArray *runs;

  if (place->window == NULL)
    return;
  document = gantry_window_get_document (place->window);
  add_run (document);
  add_run (document);
  runs = gantry_document_get_runs (document);
  g_assert_true (gantry_document_get_run (document) == g_ptr_array_index (runs, 1));
  g_action_group_change_action_state (G_ACTION_GROUP (place->window), "show-run",
                                      g_variant_new_string (((GantryRunResult *) g_ptr_array_index (runs, 0))->uid));
  g_assert_true (gantry_document_get_run (document) == g_ptr_array_index (runs, 0));
  state = g_action_group_get_action_state (G_ACTION_GROUP (place->window), "show-run");
  g_assert_cmpstr (g_variant_get_string (state, NULL), ==, ((GantryRunResult *) g_ptr_array_index (runs, 0))->uid);
  gantry_document_set_run (document, g_ptr_array_index (runs, 1));
  g_clear_pointer (&state, g_variant_unref);
  state = g_action_group_get_action_state (G_ACTION_GROUP (place->window), "show-run");
  g_assert_cmpstr (g_variant_get_string (state, NULL), ==, ((GantryRunResult *) g_ptr_array_index (runs, 1))->uid);
  g_action_group_change_action_state (G_ACTION_GROUP (place->window), "show-run", g_variant_new_string ("none of them"));
  g_assert_true (gantry_document_get_run (document) == g_ptr_array_index (runs, 1));
}

/* The run that is shown goes after a question, from the file too, and the one before is shown. */
static void
test_run_deleted (Place *place, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) entries = NULL;
  g_autofree char *first = NULL, *path = NULL;
  GantryDocument *document;
  GPtrArray *runs;

  if (place->window == NULL)
    return;
  document = gantry_window_get_document (place->window);
  add_run (document);
  add_run (document);
  runs = gantry_document_get_runs (document);
  first = g_strdup (((GantryRunResult *) g_ptr_array_index (runs, 0))->uid);
  path = g_build_filename (place->folder, "deleted.gantry", NULL);
  g_assert_true (gantry_document_save (document, path, &error));
  g_assert_no_error (error);
  window_test_act (place->window, "delete-run");
  respond ("delete-run", "cancel");
  g_assert_cmpuint (runs->len, ==, 2);
  window_test_act (place->window, "delete-run");
  respond ("delete-run", "delete");
  views_wait_until (runs->len == 1);
  g_assert_true (gantry_document_get_run (document) == g_ptr_array_index (runs, 0));
  g_assert_false (gantry_document_is_unsaved (document));
  entries = gantry_runs_list (path, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (entries->len, ==, 1);
  g_assert_cmpstr (((GantryRunEntry *) g_ptr_array_index (entries, 0))->uid, ==, first);
  g_assert_true (gantry_document_save (document, path, &error)); /* it does not come back */
  g_clear_pointer (&entries, g_ptr_array_unref);
  entries = gantry_runs_list (path, NULL);
  g_assert_cmpuint (entries->len, ==, 1);
  g_assert_cmpint (g_unlink (path), ==, 0);
}

/* Runs of a file that does not tell them apart are chosen all the same; of many the newest are listed. */
static void
test_runs_of_strangers (Place *place, gconstpointer data)
{
  static const char *const uids[] = { "", "", "same", "same", "#0" };
  const guint n = 120;
  g_autoptr (GMenu) menu = g_menu_new ();
  g_autoptr (GMenuModel) section = NULL;
  g_autofree char *more = NULL;
  GantryDocument *document;
  GPtrArray *runs;

  if (place->window == NULL)
    return;
  document = gantry_window_get_document (place->window);
  for (guint i = 0; i < n; i++)
    add_run (document);
  runs = gantry_document_get_runs (document);
  for (guint i = 0; i < G_N_ELEMENTS (uids); i++)
    {
      GantryRunResult *run = g_ptr_array_index (runs, i);

      g_free (run->uid);
      run->uid = g_strdup (uids[i]);
    }
  for (guint i = 0; i < G_N_ELEMENTS (uids); i++)
    {
      g_autoptr (GVariant) state = NULL;

      gantry_document_set_run (document, g_ptr_array_index (runs, i));
      state = g_action_group_get_action_state (G_ACTION_GROUP (place->window), "show-run");
      gantry_document_set_run (document, g_ptr_array_index (runs, n - 1));
      g_action_group_change_action_state (G_ACTION_GROUP (place->window), "show-run", state);
      g_assert_true (gantry_document_get_run (document) == g_ptr_array_index (runs, i));
    }
  _gantry_window_append_runs (place->window, menu);
  section = g_menu_model_get_item_link (G_MENU_MODEL (menu), 0, G_MENU_LINK_SECTION);
  g_assert_cmpint (g_menu_model_get_n_items (section), ==, 101);
  g_menu_model_get_item_attribute (section, 100, G_MENU_ATTRIBUTE_LABEL, "s", &more);
  g_assert_cmpstr (more, ==, "20 older runs are not listed");
}

int
main (int argc, char **argv)
{
  g_autofree char *cache = g_dir_make_tmp ("gantry-cache-XXXXXX", NULL);

  g_setenv ("XDG_CACHE_HOME", cache, TRUE);
  window_test_init (&argc, &argv);
#define ADD(name, function) g_test_add ("/app/session/" name, Place, NULL, set_up, function, tear_down)
  ADD ("saved-as", test_saved_as);
  ADD ("unfit", test_unfit);
  ADD ("model-changed", test_model_changed);
  ADD ("selected", test_selected);
  ADD ("selected-while-loading", test_selected_while_loading);
  ADD ("opened-while-saving", test_opened_while_saving);
  ADD ("run-of-trace", test_run_of_trace);
  ADD ("not-saved", test_not_saved);
  ADD ("embedded", test_embedded);
  ADD ("others", test_others);
  ADD ("runs", test_runs);
  ADD ("run-deleted", test_run_deleted);
  ADD ("runs-of-strangers", test_runs_of_strangers);
#undef ADD
  return window_test_run ();
}
