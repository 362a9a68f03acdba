/* SPDX-License-Identifier: Apache-2.0 */
/* The mouse in the window, by real events of the X server: the graph, its small map and the time axis are dragged, and so are the
 * dividers of the panels; a limit is typed. */
#include "tests/app/gantry/pointer-step.h"
#include <math.h>
#include <string.h>

/* The graph */

static GtkWidget *
canvas_of (Fixture *f)
{
  return GTK_WIDGET (gantry_pass_view_get_canvas (gantry_window_get_pass_view (f->window)));
}

static void
select_first (Fixture *f)
{
  guint32 node = gantry_graph_canvas_get_module (GANTRY_GRAPH_CANVAS (canvas_of (f)))->nodes[0].id;

  gantry_selection_set (gantry_window_get_selection (f->window), gantry_graph_canvas_get_snapshot (GANTRY_GRAPH_CANVAS (canvas_of (f))), &node, 1);
  views_settle ();
}

/* A view with the picture on all sides, so that it can go anywhere. */
static GantryGraphView
zoom_in (Fixture *f)
{
  GantryGraphCanvas *canvas = GANTRY_GRAPH_CANVAS (canvas_of (f));
  GantryGraphView view;

  gantry_graph_canvas_fit (canvas);
  gantry_graph_canvas_zoom (canvas, 8);
  settle (f);
  gantry_graph_canvas_get_view (canvas, &view);
  return view;
}

static void
assert_moved (Fixture *f, const GantryGraphView *from, double dx, double dy)
{
  GantryGraphView view;

  gantry_graph_canvas_get_view (GANTRY_GRAPH_CANVAS (canvas_of (f)), &view);
  g_assert_cmpfloat_with_epsilon (view.scale, from->scale, 1e-6);
  g_assert_cmpfloat_with_epsilon ((from->x - view.x) * view.scale, dx, 1.5);
  g_assert_cmpfloat_with_epsilon ((from->y - view.y) * view.scale, dy, 1.5);
}

static void
test_pan (void)
{
  GantrySelection *selection;
  GantryGraphView view;
  GtkWidget *canvas;
  guint32 node;
  Fixture f;

  if (!open_step (&f))
    return;
  canvas = canvas_of (&f);
  selection = gantry_window_get_selection (f.window);
  select_first (&f);
  node = gantry_selection_primary (selection);
  g_assert_cmpuint (node, !=, 0);
  view = zoom_in (&f);
  views_pointer_drag (f.pointer, canvas, 200, 200, -80, 60);
  assert_moved (&f, &view, -80, 60);
  g_assert_nonnull (gtk_widget_get_cursor (canvas)); /* it holds the picture */
  views_pointer_release (f.pointer);
  assert_moved (&f, &view, -80, 60);
  g_assert_null (gtk_widget_get_cursor (canvas));
  g_assert_cmpuint (gantry_selection_primary (selection), ==, node); /* a drag is no click */
  /* The pointer alone moves nothing any more. */
  views_pointer_move (f.pointer, canvas, 150, 120);
  assert_moved (&f, &view, -80, 60);
  /* Shorter than a trembling hand: that is a click. */
  gantry_graph_canvas_get_view (GANTRY_GRAPH_CANVAS (canvas), &view);
  views_pointer_drag (f.pointer, canvas, 200, 200, 2, 1);
  views_pointer_release (f.pointer);
  assert_moved (&f, &view, 0, 0);
  close_step (&f);
}

/* Escape, and a grab that is taken away, end a drag where it began. */
static void
test_pan_cancelled (void)
{
  GantrySelection *selection;
  GantryGraphView view;
  GtkWidget *canvas;
  guint32 node;
  Fixture f;

  if (!open_step (&f))
    return;
  canvas = canvas_of (&f);
  selection = gantry_window_get_selection (f.window);
  select_first (&f);
  node = gantry_selection_primary (selection);
  view = zoom_in (&f);
  views_pointer_drag (f.pointer, canvas, 200, 200, 70, -50);
  assert_moved (&f, &view, 70, -50);
  views_pointer_key (f.pointer, GDK_KEY_Escape);
  assert_moved (&f, &view, 0, 0);
  g_assert_null (gtk_widget_get_cursor (canvas));
  g_assert_cmpuint (gantry_selection_primary (selection), ==, node); /* Escape was for the drag */
  views_pointer_move (f.pointer, canvas, 300, 300);
  views_pointer_release (f.pointer);
  assert_moved (&f, &view, 0, 0);
  g_assert_cmpuint (gantry_selection_primary (selection), ==, node);
  /* Without a drag it clears the selection, as ever. */
  views_pointer_key (f.pointer, GDK_KEY_Escape);
  g_assert_cmpuint (gantry_selection_primary (selection), ==, 0);
  /* And the next drag begins anew. */
  views_pointer_drag (f.pointer, canvas, 200, 200, 40, 40);
  assert_moved (&f, &view, 40, 40);
  views_pointer_release (f.pointer);
  assert_moved (&f, &view, 40, 40);
  close_step (&f);
}

static void
test_minimap (void)
{
  GantryGraphView view, moved;
  GtkWidget *canvas;
  graphene_rect_t map;
  Fixture f;

  if (!open_step (&f))
    return;
  canvas = canvas_of (&f);
  view = zoom_in (&f);
  g_assert_true (gantry_graph_canvas_get_minimap (GANTRY_GRAPH_CANVAS (canvas), &map));
  views_pointer_drag (f.pointer, canvas, map.origin.x + map.size.width / 2, map.origin.y + map.size.height - 48, 0, 30);
  views_pointer_release (f.pointer);
  gantry_graph_canvas_get_view (GANTRY_GRAPH_CANVAS (canvas), &moved);
  /* In the small map one goes where the pointer is, and a point of it is many of the picture. */
  g_assert_cmpfloat (moved.scale, ==, view.scale);
  g_assert_cmpfloat ((moved.y - view.y) * view.scale, >, 60);
  close_step (&f);
}

/* Time */

static void
test_time (void)
{
  GtkWidget *lanes, *memory;
  GantryTimeAxis *axis;
  gint64 length, t0, t1, from, to, moment, pixels;
  Fixture f;

  if (!open_step (&f))
    return;
  show_page (&f, "time");
  axis = gantry_time_panel_get_axis (gantry_window_get_time_panel (f.window));
  memory = GTK_WIDGET (gantry_time_panel_get_canvas (gantry_window_get_time_panel (f.window), GANTRY_TIME_MEMORY));
  lanes = GTK_WIDGET (gantry_time_panel_get_canvas (gantry_window_get_time_panel (f.window), GANTRY_TIME_LANES));
  length = gantry_time_axis_get_length (axis);
  gantry_time_axis_set (axis, length / 4, length / 2);
  gantry_time_axis_get (axis, &t0, &t1);
  gantry_time_axis_set_moment (axis, length / 3);
  moment = gantry_time_axis_get_moment (axis);
  pixels = gtk_widget_get_width (memory) - (gint64) gantry_time_axis_left ();
  /* To the left: later times come in, on the one axis of both pictures. */
  views_pointer_drag (f.pointer, memory, 400, 40, -120, 0);
  views_pointer_release (f.pointer);
  gantry_time_axis_get (axis, &from, &to);
  g_assert_cmpint (to - from, ==, t1 - t0);
  g_assert_cmpfloat_with_epsilon ((double) (from - t0) / (double) (t1 - t0) * (double) pixels, 120, 2);
  g_assert_cmpint (gantry_time_axis_get_moment (axis), ==, moment); /* a drag picks no moment */
  g_assert_null (gtk_widget_get_cursor (memory));
  /* Back in the lanes, and further than there is time: it stops at the begin. */
  views_pointer_drag (f.pointer, lanes, 300, 20, 120, 0);
  views_pointer_release (f.pointer);
  gantry_time_axis_get (axis, &from, &to);
  g_assert_cmpfloat_with_epsilon ((double) (from - t0) / (double) (t1 - t0) * (double) pixels, 0, 3);
  gantry_time_axis_set (axis, length / 64, length / 4 + length / 64);
  views_pointer_drag (f.pointer, lanes, 200, 20, 300, 0);
  views_pointer_release (f.pointer);
  gantry_time_axis_get (axis, &from, &to);
  g_assert_cmpint (from, ==, 0);
  /* A click picks the moment under it. */
  views_pointer_click (f.pointer, memory, gantry_time_axis_left () + (double) pixels / 2, 40, 1);
  g_assert_cmpfloat_with_epsilon ((double) gantry_time_axis_get_moment (axis) / (double) to, 0.5, 0.01);
  close_step (&f);
}

static void
test_time_cancelled (void)
{
  GtkWidget *memory;
  GantryTimeAxis *axis;
  gint64 length, t0, t1, from, to, moment;
  Fixture f;

  if (!open_step (&f))
    return;
  show_page (&f, "time");
  axis = gantry_time_panel_get_axis (gantry_window_get_time_panel (f.window));
  memory = GTK_WIDGET (gantry_time_panel_get_canvas (gantry_window_get_time_panel (f.window), GANTRY_TIME_MEMORY));
  length = gantry_time_axis_get_length (axis);
  gantry_time_axis_set (axis, length / 4, length / 2);
  gantry_time_axis_get (axis, &t0, &t1);
  views_pointer_click (f.pointer, memory, 500, 40, 1);
  moment = gantry_time_axis_get_moment (axis);
  g_assert_cmpint (moment, >, 0);
  views_pointer_drag (f.pointer, memory, 400, 40, 90, 0);
  gantry_time_axis_get (axis, &from, &to);
  g_assert_cmpint (from, <, t0);
  views_pointer_key (f.pointer, GDK_KEY_Escape);
  gantry_time_axis_get (axis, &from, &to);
  g_assert_cmpint (from, ==, t0);
  g_assert_cmpint (to, ==, t1);
  views_pointer_move (f.pointer, memory, 450, 30);
  views_pointer_release (f.pointer);
  gantry_time_axis_get (axis, &from, &to);
  g_assert_cmpint (from, ==, t0);
  g_assert_cmpint (gantry_time_axis_get_moment (axis), ==, moment);
  g_assert_null (gtk_widget_get_cursor (memory));
  views_pointer_key (f.pointer, GDK_KEY_Escape);
  g_assert_cmpint (gantry_time_axis_get_moment (axis), ==, -1);
  close_step (&f);
}

/* A double click in the lanes shows what was clicked, alone. */
static void
test_time_double_click (void)
{
  GantrySelection *selection;
  GtkWidget *lanes;
  GantryTimeAxis *axis;
  const GantryPlan *plan;
  gint64 length, t0, t1;
  guint32 longest;
  GantryTimeView view;
  double x;
  Fixture f;

  if (!open_step (&f))
    return;
  show_page (&f, "time");
  selection = gantry_window_get_selection (f.window);
  axis = gantry_time_panel_get_axis (gantry_window_get_time_panel (f.window));
  lanes = GTK_WIDGET (gantry_time_panel_get_canvas (gantry_window_get_time_panel (f.window), GANTRY_TIME_LANES));
  gantry_time_axis_fit (axis);
  length = gantry_time_axis_get_length (axis);
  plan = gantry_document_get_plan (f.document);
  longest = plan->n_init_steps;
  for (guint32 i = longest; i < plan->n_steps; i++)
    if (plan->steps[i].duration_us > plan->steps[longest].duration_us)
      longest = i;
  gantry_time_axis_get (axis, &view.t0, &view.t1);
  for (x = gantry_time_axis_left (); (double) gantry_time_at (&view, (float) gtk_widget_get_width (lanes), (float) x)
                                     < (plan->steps[longest].start_us + plan->steps[longest].duration_us / 2) * 1000;
       x++)
    ;
  gantry_selection_clear (selection);
  /* On a busy machine the second click comes late. */
  g_object_set (gtk_settings_get_default (), "gtk-double-click-time", 5000, NULL);
  for (int y = 2; y < gtk_widget_get_height (lanes) && gantry_selection_primary (selection) == 0; y += 6)
    views_pointer_click (f.pointer, lanes, x, y, 2);
  gtk_settings_reset_property (gtk_settings_get_default (), "gtk-double-click-time");
  g_assert_cmpuint (gantry_selection_primary (selection), ==, plan->steps[longest].node);
  gantry_time_axis_get (axis, &t0, &t1);
  g_assert_cmpint (t1 - t0, <, length);
  g_assert_cmpfloat ((double) t0, <=, plan->steps[longest].start_us * 1000 + 1);
  g_assert_cmpfloat ((double) t1, >=, (plan->steps[longest].start_us + plan->steps[longest].duration_us) * 1000 - 1);
  close_step (&f);
}

/* The limit */

static guint64
limit_of (Fixture *f)
{
  return gantry_document_get_settings (f->document)->target.memory_limit;
}

static void
type (Fixture *f, const char *digits)
{
  for (; *digits != '\0'; digits++)
    views_pointer_key (f->pointer, (guint) *digits);
}

/* Typed into its entry: nothing is changed before Return, then all at once, and one undo takes it back. */
static void
test_limit (void)
{
  GtkWidget *entry;
  Fixture f;

  if (!open_step (&f))
    return;
  entry = window_test_find (GTK_WIDGET (f.window), "limit");
  click_middle (&f, entry, 1);
  type (&f, "9000000");
  g_assert_cmpuint (limit_of (&f), ==, 0);
  views_pointer_key (f.pointer, GDK_KEY_Return);
  settle (&f);
  g_assert_cmpuint (limit_of (&f), ==, 9000000);
  click_middle (&f, entry, 2);
  type (&f, "77");
  views_pointer_key (f.pointer, GDK_KEY_Escape); /* not meant */
  settle (&f);
  g_assert_cmpuint (limit_of (&f), ==, 9000000);
  g_assert_null (strstr (gtk_editable_get_text (GTK_EDITABLE (entry)), "77"));
  window_test_act (f.window, "undo");
  settle (&f);
  g_assert_cmpuint (limit_of (&f), ==, 0);
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (entry)), ==, "");
  window_test_act (f.window, "redo");
  settle (&f);
  g_assert_cmpuint (limit_of (&f), ==, 9000000);
  close_step (&f);
}

/* Dividers */

/* The divider beside @child goes with the pointer. */
static void
drag_divider (Fixture *f, GtkWidget *child, int by)
{
  GtkWidget *paned = gtk_widget_get_ancestor (child, GTK_TYPE_PANED);
  gboolean across = gtk_orientable_get_orientation (GTK_ORIENTABLE (paned)) == GTK_ORIENTATION_HORIZONTAL;
  int position = gtk_paned_get_position (GTK_PANED (paned));
  double middle = across ? gtk_widget_get_height (paned) / 2.0 : gtk_widget_get_width (paned) / 2.0;

  views_pointer_drag (f->pointer, paned, across ? position : middle, across ? middle : position, across ? by : 0, across ? 0 : by);
  views_pointer_release (f->pointer);
  settle (f);
  /* GTK takes hold of it some points beside the line, and then puts the line under the pointer. */
  g_assert_cmpint (abs (gtk_paned_get_position (GTK_PANED (paned)) - position - by), <=, 6);
}

static void
test_dividers (void)
{
  GtkWidget *passes, *inspector, *bottom;
  int passes_width, inspector_width, bottom_height;
  Fixture f;

  if (!open_step (&f))
    return;
  passes = GTK_WIDGET (gantry_window_get_pass_list (f.window));
  inspector = GTK_WIDGET (gantry_window_get_inspector (f.window));
  bottom = GTK_WIDGET (gantry_window_get_time_panel (f.window));
  drag_divider (&f, passes, 50);
  drag_divider (&f, inspector, -40);
  drag_divider (&f, bottom, -60);
  passes_width = gtk_widget_get_width (passes);
  inspector_width = gtk_widget_get_width (inspector);
  bottom_height = gtk_widget_get_height (bottom);
  /* The next window has the panels as they were left. */
  views_pointer_free (f.pointer);
  gtk_window_close (GTK_WINDOW (f.window));
  views_settle ();
  if (!open_step (&f))
    g_error ("there was a pointer");
  g_assert_cmpint (gtk_widget_get_width (GTK_WIDGET (gantry_window_get_pass_list (f.window))), ==, passes_width);
  g_assert_cmpint (gtk_widget_get_width (GTK_WIDGET (gantry_window_get_inspector (f.window))), ==, inspector_width);
  g_assert_cmpint (gtk_widget_get_height (GTK_WIDGET (gantry_window_get_time_panel (f.window))), ==, bottom_height);
  close_step (&f);
}

int
main (int argc, char **argv)
{
  window_test_init (&argc, &argv);
  g_test_add_func ("/app/pointer/pan", test_pan);
  g_test_add_func ("/app/pointer/pan-cancelled", test_pan_cancelled);
  g_test_add_func ("/app/pointer/minimap", test_minimap);
  g_test_add_func ("/app/pointer/time", test_time);
  g_test_add_func ("/app/pointer/time-cancelled", test_time_cancelled);
  g_test_add_func ("/app/pointer/time-double-click", test_time_double_click);
  g_test_add_func ("/app/pointer/limit", test_limit);
  g_test_add_func ("/app/pointer/dividers", test_dividers);
  return window_test_run ();
}
