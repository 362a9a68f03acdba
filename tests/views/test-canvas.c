/* SPDX-License-Identifier: Apache-2.0 */
/* The graph canvas in a window: pictures, folds, walking, search, and the budget of a frame with 20,000 nodes. */
#include "tests/views/views-test.h"
#include "views/graph/graph-canvas-private.h"
#include "views/passes/pass-view.h"
#include <adwaita.h>

typedef struct
{
  GantryDocument *document;
  GantrySelection *selection;
  GtkWidget *window, *view;
  GantryGraphCanvas *canvas;
} Fixture;

static void
open_view (Fixture *f, GantryDocument *document)
{
  GantryCompilation *compilation = gantry_document_get_compilation (document);

  f->document = document;
  f->selection = gantry_selection_new ();
  gantry_selection_set_compilation (f->selection, compilation);
  f->view = gantry_pass_view_new (f->selection);
  f->window = gtk_window_new ();
  gtk_window_set_default_size (GTK_WINDOW (f->window), 1200, 800);
  gtk_window_set_child (GTK_WINDOW (f->window), f->view);
  gtk_window_present (GTK_WINDOW (f->window));
  views_wait_until (gtk_widget_get_width (f->view) > 100);
  gantry_pass_view_set (GANTRY_PASS_VIEW (f->view), compilation, 0);
  f->canvas = gantry_pass_view_get_canvas (GANTRY_PASS_VIEW (f->view));
}

static void
wait_picture (GantryGraphCanvas *canvas)
{
  views_wait_until (!gantry_graph_canvas_is_busy (canvas));
  g_assert_no_error (gantry_graph_canvas_get_error (canvas));
  g_assert_nonnull (gantry_graph_canvas_get_picture (canvas));
}

static void
close_view (Fixture *f)
{
  gtk_window_destroy (GTK_WINDOW (f->window));
  views_settle ();
  g_object_unref (f->selection);
  g_object_unref (f->document);
}

static const char scoped[] = "module \"m\" {\n"
                             "  func @main #1 (\n"
                             "    %1 \"x\": f32[8] loc(\"m.gir\" \"x\")) -> (%7) {\n"
                             "    %2 \"a\" = tanh(%1): f32[8] scope(\"first/one\") loc(\"m.gir\" \"a\")\n"
                             "    %3 \"b\" = negate(%2): f32[8] scope(\"first/one\") loc(\"m.gir\" \"b\")\n"
                             "    %4 \"c\" = abs(%3): f32[8] scope(\"first/two\") loc(\"m.gir\" \"c\")\n"
                             "    %5 \"d\" = exponential(%4): f32[8] scope(\"first/two\") loc(\"m.gir\" \"d\")\n"
                             "    %6 \"e\" = add(%5, %2): f32[8] scope(\"second\") loc(\"m.gir\" \"e\")\n"
                             "    %7 \"f\" = sqrt(%6): f32[8] scope(\"second\") loc(\"m.gir\" \"f\")\n"
                             "  }\n"
                             "}\n";

static void
test_fold (void)
{
  Fixture f;
  guint all, folded;

  if (!views_have_display ())
    return;
  open_view (&f, views_open_text (scoped));
  wait_picture (f.canvas);
  all = gantry_graph_picture_n_boxes (gantry_graph_canvas_get_picture (f.canvas));
  g_assert_cmpuint (all, ==, 8); /* the input, six nodes, the output */
  gantry_graph_canvas_fold_all (f.canvas);
  wait_picture (f.canvas);
  folded = gantry_graph_picture_n_boxes (gantry_graph_canvas_get_picture (f.canvas));
  g_assert_cmpuint (folded, <, all);
  gantry_graph_canvas_unfold_all (f.canvas);
  wait_picture (f.canvas);
  g_assert_cmpuint (gantry_graph_picture_n_boxes (gantry_graph_canvas_get_picture (f.canvas)), ==, all);
  /* Enter on a node folds the scope around it, and on the box of the scope unfolds it. */
  {
    guint32 node = gantry_graph_canvas_get_module (f.canvas)->nodes[1].id;

    gantry_selection_set (f.selection, 0, &node, 1);
    g_assert_true (gantry_graph_canvas_toggle_fold_selected (f.canvas));
    wait_picture (f.canvas);
    g_assert_cmpuint (gantry_graph_picture_n_boxes (gantry_graph_canvas_get_picture (f.canvas)), ==, all - 1);
    g_assert_true (gantry_graph_canvas_toggle_fold_selected (f.canvas));
    wait_picture (f.canvas);
    g_assert_cmpuint (gantry_graph_picture_n_boxes (gantry_graph_canvas_get_picture (f.canvas)), ==, all);
  }
  close_view (&f);
}

static gboolean
has_minimap (Fixture *f, const GantryGraphView *view)
{
  gantry_graph_canvas_set_view (f->canvas, view);
  gtk_widget_queue_draw (GTK_WIDGET (f->canvas));
  views_wait_frame (GTK_WIDGET (f->canvas));
  views_wait_until (f->canvas->cached != NULL);
  return f->canvas->minimap != NULL;
}

/* Where every box is in sight there is no map to lie over them, though the margin of the picture be cut; where one is not there is. */
static void
test_minimap (void)
{
  GantryGraphView all, view;
  GantryLayoutBox box;
  float left = G_MAXFLOAT;
  Fixture f;

  if (!views_have_display ())
    return;
  open_view (&f, views_open_text (scoped));
  wait_picture (f.canvas);
  gantry_graph_canvas_fit (f.canvas);
  gantry_graph_canvas_get_view (f.canvas, &all);
  for (guint32 i = 0; i < gantry_graph_picture_n_boxes (f.canvas->picture); i++)
    {
      gantry_graph_picture_box_rect (f.canvas->picture, i, &box);
      left = MIN (left, box.x);
    }
  g_assert_cmpfloat (left, >, 1);
  g_assert_false (has_minimap (&f, &all));
  view = (GantryGraphView){ left - 0.5f, all.y, all.scale };
  g_assert_false (has_minimap (&f, &view));
  view.x = left + 1;
  g_assert_true (has_minimap (&f, &view));
  g_assert_false (f.canvas->minimap_covers); /* beside the picture it is whole */
  gantry_graph_picture_box_rect (f.canvas->picture, 0, &box);
  view = (GantryGraphView){ 0, 0, 3 };
  view.x = box.x + box.width - ((float) gtk_widget_get_width (GTK_WIDGET (f.canvas)) - 20) / view.scale;
  view.y = box.y + box.height - ((float) gtk_widget_get_height (GTK_WIDGET (f.canvas)) - 20) / view.scale;
  f.canvas->minimap_open = FALSE;
  f.canvas->minimap_corner = 0;
  g_assert_true (has_minimap (&f, &view));
  g_assert_true (f.canvas->minimap_covers); /* above a box it lets that be seen */
  close_view (&f);
}

static void
test_walk (void)
{
  Fixture f;
  const GantryModule *module;

  if (!views_have_display ())
    return;
  open_view (&f, views_open_text (scoped));
  wait_picture (f.canvas);
  module = gantry_graph_canvas_get_module (f.canvas);
  g_assert_true (gantry_graph_canvas_walk (f.canvas, GANTRY_WALK_DOWN)); /* the first box */
  g_assert_cmpuint (gantry_selection_primary (f.selection), ==, module->nodes[0].id);
  g_assert_true (gantry_graph_canvas_walk (f.canvas, GANTRY_WALK_DOWN));
  g_assert_cmpuint (gantry_selection_primary (f.selection), ==, module->nodes[1].id);
  g_assert_true (gantry_graph_canvas_walk (f.canvas, GANTRY_WALK_UP));
  g_assert_cmpuint (gantry_selection_primary (f.selection), ==, module->nodes[0].id);
  g_assert_false (gantry_graph_canvas_walk (f.canvas, GANTRY_WALK_UP));
  close_view (&f);
}

static void
test_search (void)
{
  Fixture f;
  GantryPassView *view;

  if (!views_have_display ())
    return;
  open_view (&f, views_open_text (scoped));
  wait_picture (f.canvas);
  view = GANTRY_PASS_VIEW (f.view);
  g_assert_cmpuint (gantry_pass_view_search (view, "second"), ==, 2);
  g_assert_cmpuint (gantry_pass_view_step_match (view, 1), ==, 1);
  g_assert_cmpuint (gantry_selection_primary (f.selection), ==, gantry_graph_canvas_get_module (f.canvas)->nodes[5].id);
  g_assert_cmpuint (gantry_pass_view_step_match (view, 1), ==, 2);
  g_assert_cmpuint (gantry_pass_view_step_match (view, 1), ==, 1);
  g_assert_cmpuint (gantry_pass_view_step_match (view, -1), ==, 2);
  g_assert_cmpuint (gantry_pass_view_search (view, "no such thing"), ==, 0);
  g_assert_cmpuint (gantry_pass_view_step_match (view, 1), ==, 0);
  close_view (&f);
}

/* Asked for several pictures at once, the canvas shows the last one. */
static void
test_old_answers (void)
{
  Fixture f;

  if (!views_have_display ())
    return;
  open_view (&f, views_open_text (scoped));
  for (guint i = 0; i < 20; i++)
    {
      g_autoptr (GHashTable) folds = g_hash_table_new (NULL, NULL);

      if (i % 2 == 0)
        g_hash_table_add (folds, GUINT_TO_POINTER (gantry_graph_canvas_get_module (f.canvas)->nodes[1].scope));
      gantry_graph_canvas_set_folded (f.canvas, folds);
    }
  wait_picture (f.canvas);
  g_assert_true (gantry_graph_picture_folded (gantry_graph_canvas_get_picture (f.canvas)) == gantry_graph_canvas_get_folded (f.canvas));
  g_assert_cmpuint (g_hash_table_size (gantry_graph_canvas_get_folded (f.canvas)), ==, 0);
  close_view (&f);
}

/* Batches that a tree of render nodes costs GTK's GL renderer, which aborts above 32,767: each node that is no flat
 * colour, no text and no plain group costs one. */
static guint
count_nodes (GskRenderNode *node, guint *batches)
{
  guint n = 1;

  switch (gsk_render_node_get_node_type (node))
    {
    case GSK_CONTAINER_NODE:
      for (guint i = 0; i < gsk_container_node_get_n_children (node); i++)
        n += count_nodes (gsk_container_node_get_child (node, i), batches);
      break;
    case GSK_TRANSFORM_NODE:
      if (gsk_transform_get_category (gsk_transform_node_get_transform (node)) < GSK_TRANSFORM_CATEGORY_2D_TRANSLATE)
        ++*batches;
      n += count_nodes (gsk_transform_node_get_child (node), batches);
      break;
    case GSK_CLIP_NODE:
      ++*batches;
      n += count_nodes (gsk_clip_node_get_child (node), batches);
      break;
    case GSK_COLOR_NODE:
    case GSK_TEXT_NODE: break;
    default: ++*batches;
    }
  return n;
}

static void
check_frame (GantryGraphCanvas *canvas)
{
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  GskRenderNode *node;
  guint batches = 0;

  GTK_WIDGET_GET_CLASS (canvas)->snapshot (GTK_WIDGET (canvas), snapshot);
  node = gtk_snapshot_free_to_node (snapshot);
  g_assert_nonnull (node);
  count_nodes (node, &batches);
  g_assert_cmpuint (batches, <, 4000);
  g_assert_cmpuint (gantry_graph_canvas_n_clipped (canvas), ==, 0);
  g_assert_cmpuint (gantry_graph_canvas_n_marks (canvas), <=, GANTRY_SCENE_BUDGET);
  gsk_render_node_unref (node);
}

/* Everything unfolded, from the whole picture to one box, no frame is over its budget. */
static void
test_budget (void)
{
  g_autofree char *text = NULL;
  Fixture f;
  GantryGraphView view;
  guint most = 0;

  if (!views_have_display ())
    return;
  text = views_large_program (20000);
  open_view (&f, views_open_text (text));
  wait_picture (f.canvas);
  /* What opens is folded to what can be looked at. */
  g_assert_cmpuint (gantry_graph_picture_n_boxes (gantry_graph_canvas_get_picture (f.canvas)), <, 2000);
  gantry_graph_canvas_unfold_all (f.canvas);
  wait_picture (f.canvas);
  g_assert_cmpuint (gantry_graph_picture_n_boxes (gantry_graph_canvas_get_picture (f.canvas)), >, 20000);
  gantry_graph_canvas_fit (f.canvas);
  for (guint i = 0; i < 40; i++)
    {
      check_frame (f.canvas);
      most = MAX (most, gantry_graph_canvas_n_marks (f.canvas));
      gantry_graph_canvas_zoom (f.canvas, 1.25);
    }
  g_test_message ("most marks of a frame: %u", most);
  gantry_graph_canvas_get_view (f.canvas, &view);
  g_assert_cmpfloat (view.scale, >, 1);
  g_assert_cmpuint (most, >, 100);
  close_view (&f);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/views/canvas/fold", test_fold);
  g_test_add_func ("/views/canvas/minimap", test_minimap);
  g_test_add_func ("/views/canvas/walk", test_walk);
  g_test_add_func ("/views/canvas/search", test_search);
  g_test_add_func ("/views/canvas/old-answers", test_old_answers);
  g_test_add_func ("/views/canvas/budget", test_budget);
  return g_test_run ();
}
