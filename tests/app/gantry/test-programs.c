/* SPDX-License-Identifier: Apache-2.0 */
/* Programs in MindSpore's style, opened as a user opens them: the question whether one may run, the question which graph is meant, the source
 * beside its graph; and what a training step saves for its gradient is placed by keys. */
#include "tests/app/gantry/window-test.h"
#include <adwaita.h>

#define FOLDER "tests/core/frontends/python/programs/"

static GtkWidget *
asked (const char *name)
{
  GtkWidget *dialog = NULL;

  views_wait_until ((dialog = window_test_dialog (name)) != NULL);
  return dialog;
}

static void
answer (GtkWidget *dialog, const char *response)
{
  adw_message_dialog_response (ADW_MESSAGE_DIALOG (dialog), response);
  gtk_window_destroy (GTK_WINDOW (dialog));
}

/* Of several graphs the first. */
static void
open_program (GantryWindow *window, const char *path)
{
  gantry_window_open (window, path);
  answer (asked ("program"), "allow");
  views_wait_until (window_test_dialog ("which-graph") != NULL || window_test_is_idle (window));
  if (window_test_dialog ("which-graph") != NULL)
    answer (window_test_dialog ("which-graph"), "open");
  window_test_wait (window);
  g_assert_cmpstr (gantry_window_get_error (window), ==, NULL);
}

static GantryModule *
module_of (GantryDocument *document)
{
  return gantry_compilation_module (gantry_document_get_compilation (document));
}

/* The largest residual that may be recomputed. */
static guint32
residual (GantryDocument *document)
{
  guint n;
  const GantryCandidate *list = gantry_planner_candidates (gantry_document_get_planner (document), &n), *best = NULL;

  for (guint i = 0; i < n; i++)
    if (list[i].subject == GANTRY_SUBJECT_RESIDUAL && (list[i].allowed >> GANTRY_PLACEMENT_RECOMPUTE & 1) != 0 && (best == NULL || list[i].bytes > best->bytes))
      best = &list[i];
  g_assert_nonnull (best);
  return best->node;
}

/* Weights and what the optimizer keeps are told apart, and what is assigned is written over what was there. */
static void
check_parameters (GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);
  guint n_weights = 0, n_states = 0, n_inputs = 0;

  for (guint32 i = 0; i < entry->n_params; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];
      GantryPlacementSubject role = gantry_parameter_role (module, node);

      n_weights += role == GANTRY_SUBJECT_PARAMETER && gantry_parameter_alias (module, node) >= 0;
      n_states += role == GANTRY_SUBJECT_STATE && gantry_parameter_alias (module, node) >= 0;
      n_inputs += role == GANTRY_SUBJECT_INPUT;
    }
  g_assert_cmpuint (n_weights, >, 3);
  g_assert_cmpuint (n_states, >, 3);
  g_assert_cmpuint (n_inputs, ==, 2);
}

static GantryPlacementKind
kind_by_key (GantryWindow *window, guint32 node, guint key)
{
  g_assert_true (window_test_key (GTK_WIDGET (gantry_pass_view_get_canvas (gantry_window_get_pass_view (window))), key, 0));
  return gantry_placements_kind (gantry_document_get_placements (gantry_window_get_document (window)), node);
}

static void
check_placing (GantryWindow *window, guint32 node)
{
  GantryDocument *document = gantry_window_get_document (window);

  g_assert_cmpint (kind_by_key (window, node, GDK_KEY_r), ==, GANTRY_PLACEMENT_RECOMPUTE);
  g_assert_cmpfloat (gantry_document_get_prediction (document)->prediction->recompute_us, >, 0);
  window_test_wait (window);
  g_assert_cmpint (kind_by_key (window, node, GDK_KEY_o), ==, GANTRY_PLACEMENT_OFFLOAD);
  g_assert_cmpuint (gantry_document_get_prediction (document)->prediction->copied_bytes, >, 0);
  window_test_wait (window);
  g_assert_cmpint (kind_by_key (window, node, GDK_KEY_k), ==, GANTRY_PLACEMENT_KEEP);
  window_test_wait (window);
}

/* The line that made the value is marked in the page of its file. */
static void
check_source (GantryWindow *window, const char *path, guint32 node)
{
  GantryModule *module = module_of (gantry_window_get_document (window));
  const GantryLocation *place = gantry_context_get_location (module->context, gantry_module_node (module, node)->location);
  GantrySourcePage *page = gantry_window_get_source_page (window);

  g_assert_cmpstr (gantry_source_page_get_path (page), ==, path);
  g_assert_cmpuint (place->line, >, 0);
  g_assert_true (gantry_source_view_is_marked (gantry_source_page_get_view (page), place->line));
}

static void
test_program (gconstpointer name)
{
  g_autofree char *file = g_strconcat (FOLDER, name, ".py", NULL), *path = views_source_file (file);
  GantryWindow *window;
  GantryDocument *document;
  guint32 node;

  if (!window_test_has_cli ())
    return;
  window = window_test_new ();
  if (window == NULL)
    return;
  open_program (window, path);
  document = gantry_window_get_document (window);
  g_assert_true (gantry_module_is_training (module_of (document)));
  if (g_strcmp0 (name, "transformer") != 0) /* its optimizer is a graph of its own */
    check_parameters (module_of (document));
  gantry_pass_list_select (gantry_window_get_pass_list (window), gantry_document_get_compilation (document)->n_snapshots - 1);
  window_test_wait (window);
  node = residual (document);
  gantry_selection_set (gantry_window_get_selection (window), gantry_document_get_compilation (document)->n_snapshots - 1, &node, 1);
  window_test_wait (window);
  check_source (window, path, node);
  check_placing (window, node);
  window_test_free (window);
}

int
main (int argc, char **argv)
{
  window_test_init (&argc, &argv);
  g_test_add_data_func ("/app/programs/lenet", "lenet", test_program);
  g_test_add_data_func ("/app/programs/resnet18", "resnet18", test_program);
  g_test_add_data_func ("/app/programs/lstm", "lstm", test_program);
  g_test_add_data_func ("/app/programs/transformer", "transformer", test_program);
  g_test_add_data_func ("/app/programs/gan", "gan", test_program);
  return window_test_run ();
}
