/* SPDX-License-Identifier: Apache-2.0 */
/* The mouse in the window, by real events of the X server: the table of variants is sorted and loaded from, points of the
 * scatter are chosen, the graph, its small map and the time axis are dragged, and so are the dividers of the panels. */
#include "drawing/painters.h"
#include "tests/app/gantry/window-test.h"
#include "tests/views/pointer.h"
#include <adwaita.h>
#include <math.h>
#include <string.h>

typedef struct
{
  GantryWindow *window;
  GantryDocument *document;
  GantryComparePanel *panel;
  ViewsPointer *pointer;
} Fixture;

/* Until all work is done and everything stands where it belongs. */
static void
settle (Fixture *f)
{
  window_test_wait (f->window);
  views_wait_frame (GTK_WIDGET (f->window));
}

static gboolean
open_step (Fixture *f)
{
  f->window = window_test_with ("data/programs/transformer-tiny.gir", TRUE);
  if (f->window == NULL)
    return FALSE;
  f->pointer = views_pointer_new (GTK_WIDGET (f->window));
  if (f->pointer == NULL)
    {
      window_test_free (f->window);
      return FALSE;
    }
  f->document = gantry_window_get_document (f->window);
  f->panel = gantry_window_get_compare_panel (f->window);
  settle (f);
  return TRUE;
}

static void
close_step (Fixture *f)
{
  views_pointer_free (f->pointer);
  window_test_free (f->window);
}

static void
show_page (Fixture *f, const char *page)
{
  g_action_group_activate_action (G_ACTION_GROUP (f->window), "bottom-page", g_variant_new_string (page));
  settle (f);
}

/* Three ways to place the step whose orders by name, by peak and by time all differ. */
static void
save_variants (Fixture *f)
{
  static const char *const policies[][2] = { { "b, kept", NULL },
                                             { "c, on the host", "role:state offload" },
                                             { "a, done again", "scope:encoder/* recompute" } };

  for (guint i = 0; i < G_N_ELEMENTS (policies); i++)
    {
      g_autoptr (GError) error = NULL;

      gantry_document_set_policy (f->document, policies[i][1], &error);
      g_assert_no_error (error);
      settle (f);
      gantry_compare_panel_save_variant (f->panel, policies[i][0]);
    }
  show_page (f, "compare");
  g_assert_cmpuint (gantry_compare_panel_n_rows (f->panel), ==, 4);
}

/* What the table shows */

static GtkWidget *
find_type (GtkWidget *widget, GType type)
{
  GtkWidget *found = g_type_is_a (G_OBJECT_TYPE (widget), type) ? widget : NULL;

  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL && found == NULL;
       child = gtk_widget_get_next_sibling (child))
    found = find_type (child, type);
  return found;
}

static GtkWidget *
table_of (Fixture *f)
{
  return find_type (GTK_WIDGET (f->panel), GTK_TYPE_COLUMN_VIEW);
}

static double
middle_y (GtkWidget *widget, GtkWidget *of)
{
  double x, y;

  g_assert_true (gtk_widget_translate_coordinates (widget, of, 0, gtk_widget_get_height (widget) / 2.0, &x, &y));
  return y;
}

static int
compare_height (gconstpointer a, gconstpointer b, gpointer table)
{
  double p = middle_y (*(GtkWidget **) a, table), q = middle_y (*(GtkWidget **) b, table);

  return (p > q) - (p < q);
}

/* The labels of the first column from the top to the bottom, as they stand on the screen. (transfer container) */
static GPtrArray *
name_labels (Fixture *f)
{
  GtkWidget *table = table_of (f), *list = gtk_widget_get_next_sibling (gtk_widget_get_first_child (table));
  GPtrArray *labels = g_ptr_array_new ();

  for (GtkWidget *row = gtk_widget_get_first_child (list); row != NULL; row = gtk_widget_get_next_sibling (row))
    if (gtk_widget_get_mapped (row))
      g_ptr_array_add (labels, find_type (row, GTK_TYPE_LABEL));
  g_ptr_array_sort_with_data (labels, compare_height, table);
  return labels;
}

static const char *
name_at (const GPtrArray *labels, guint i)
{
  return gtk_label_get_text (g_ptr_array_index (labels, i));
}

static GtkWidget *
row_of (Fixture *f, const char *name)
{
  g_autoptr (GPtrArray) labels = name_labels (f);

  for (guint i = 0; i < labels->len; i++)
    if (strcmp (name_at (labels, i), name) == 0)
      return g_ptr_array_index (labels, i);
  g_error ("the table shows no row %s", name);
}

static GtkWidget *
label_with (GtkWidget *widget, const char *text)
{
  GtkWidget *found = GTK_IS_LABEL (widget) && strcmp (gtk_label_get_text (GTK_LABEL (widget)), text) == 0 ? widget : NULL;

  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL && found == NULL;
       child = gtk_widget_get_next_sibling (child))
    found = label_with (child, text);
  return found;
}

static void
click_middle (Fixture *f, GtkWidget *widget, guint n_press)
{
  g_assert_nonnull (widget);
  g_assert_true (gtk_widget_get_mapped (widget));
  views_pointer_click (f->pointer, widget, MIN (gtk_widget_get_width (widget) / 2.0, 20), gtk_widget_get_height (widget) / 2.0,
                       n_press);
  settle (f);
}

static void
click_header (Fixture *f, const char *title)
{
  click_middle (f, label_with (gtk_widget_get_first_child (table_of (f)), title), 1);
}

/* A figure of the row called @name, from the document and not from the table. */
static double
figure (Fixture *f, const char *name, gboolean time)
{
  GPtrArray *variants = gantry_document_get_variants (f->document);
  const GantryPrediction *now = gantry_document_get_prediction (f->document)->prediction;

  for (guint i = 0; i < variants->len; i++)
    {
      const GantryVariant *variant = g_ptr_array_index (variants, i);

      if (strcmp (variant->name, name) == 0)
        return time ? variant->step_us : (double) variant->peak_bytes;
    }
  g_assert_cmpstr (name, ==, "as placed now");
  return time ? now->step_us : (double) now->peak_bytes;
}

static void
assert_order (Fixture *f, gboolean time, gboolean falling)
{
  g_autoptr (GPtrArray) labels = name_labels (f);

  g_assert_cmpuint (labels->len, ==, 4);
  for (guint i = 0; i + 1 < labels->len; i++)
    {
      double here = figure (f, name_at (labels, i), time), below = figure (f, name_at (labels, i + 1), time);

      if (falling)
        g_assert_cmpfloat (here, >=, below);
      else
        g_assert_cmpfloat (here, <=, below);
    }
  /* Were all equal, any order would be right. */
  g_assert_cmpfloat (figure (f, name_at (labels, 0), time), !=, figure (f, name_at (labels, labels->len - 1), time));
}

static void
assert_names (Fixture *f, const char *const *names)
{
  g_autoptr (GPtrArray) labels = name_labels (f);

  g_assert_cmpuint (labels->len, ==, g_strv_length ((char **) names));
  for (guint i = 0; i < labels->len; i++)
    g_assert_cmpstr (name_at (labels, i), ==, names[i]);
}

/* The table */

static void
test_sort (void)
{
  static const char *const as_made[] = { "as placed now", "b, kept", "c, on the host", "a, done again", NULL };
  static const char *const by_name[] = { "a, done again", "as placed now", "b, kept", "c, on the host", NULL };
  static const char *const from_z[] = { "c, on the host", "b, kept", "as placed now", "a, done again", NULL };
  Fixture f;

  if (!open_step (&f))
    return;
  save_variants (&f);
  assert_names (&f, as_made);
  click_header (&f, "Variant");
  assert_names (&f, by_name);
  click_header (&f, "Variant");
  assert_names (&f, from_z);
  click_header (&f, "Peak");
  assert_order (&f, FALSE, FALSE);
  click_header (&f, "Peak");
  assert_order (&f, FALSE, TRUE);
  click_header (&f, "Step");
  assert_order (&f, TRUE, FALSE);
  click_header (&f, "Step");
  assert_order (&f, TRUE, TRUE);
  /* Rows that come and change fall into their place. */
  gantry_document_set_policy (f.document, NULL, NULL);
  settle (&f);
  assert_order (&f, TRUE, TRUE);
  close_step (&f);
}

/* What has no figure comes after all that have one, and not before the best. */
static void
test_sort_unknown (void)
{
  g_autoptr (GPtrArray) labels = NULL;
  GtkWidget *column;
  Fixture f;

  if (!open_step (&f))
    return;
  save_variants (&f);
  gantry_compare_panel_find_front (f.panel, 3, 5);
  views_wait_until (!gantry_compare_panel_is_searching (f.panel));
  settle (&f);
  column = label_with (gtk_widget_get_first_child (table_of (&f)), "Gap");
  click_middle (&f, column, 1);
  labels = name_labels (&f);
  g_assert_cmpuint (labels->len, >, 4);
  for (guint i = 0; i < labels->len; i++)
    {
      gboolean is_front = g_ascii_isdigit (*name_at (labels, i)); /* its name is its figures */

      g_assert_true (is_front == (i < labels->len - 4));
    }
  close_step (&f);
}

static void
test_row_clicks (void)
{
  g_autoptr (GantryPlacements) before = NULL;
  Fixture f;

  if (!open_step (&f))
    return;
  save_variants (&f);
  click_header (&f, "Peak"); /* so that the places on the screen are not those in the list */
  before = gantry_placements_copy (gantry_document_get_placements (f.document));
  /* One click selects and changes nothing. */
  click_middle (&f, row_of (&f, "b, kept"), 1);
  g_assert_cmpstr (gantry_compare_panel_get_row (f.panel, gantry_compare_panel_get_selected (f.panel))->name, ==, "b, kept");
  g_assert_true (gantry_placements_equal (gantry_document_get_placements (f.document), before));
  g_assert_cmpfloat (figure (&f, "as placed now", FALSE), ==, figure (&f, "a, done again", FALSE));
  /* Two load it; it stays selected and the order is kept. */
  click_middle (&f, row_of (&f, "b, kept"), 2);
  g_assert_false (gantry_placements_equal (gantry_document_get_placements (f.document), before));
  g_assert_cmpfloat (figure (&f, "as placed now", FALSE), ==, figure (&f, "b, kept", FALSE));
  g_assert_cmpstr (gantry_compare_panel_get_row (f.panel, gantry_compare_panel_get_selected (f.panel))->name, ==, "b, kept");
  assert_order (&f, FALSE, FALSE);
  click_middle (&f, row_of (&f, "c, on the host"), 2);
  g_assert_cmpfloat (figure (&f, "as placed now", FALSE), ==, figure (&f, "c, on the host", FALSE));
  assert_order (&f, FALSE, FALSE);
  /* What is placed now is loaded already: nothing to undo comes of it. */
  click_middle (&f, row_of (&f, "as placed now"), 2);
  g_assert_cmpfloat (figure (&f, "as placed now", FALSE), ==, figure (&f, "c, on the host", FALSE));
  window_test_act (f.window, "undo");
  settle (&f);
  g_assert_cmpfloat (figure (&f, "as placed now", FALSE), ==, figure (&f, "b, kept", FALSE));
  window_test_act (f.window, "undo");
  settle (&f);
  g_assert_true (gantry_placements_equal (gantry_document_get_placements (f.document), before));
  close_step (&f);
}

static void
test_column_width (void)
{
  GtkWidget *header, *title;
  graphene_rect_t bounds;
  Fixture f;
  int width;

  if (!open_step (&f))
    return;
  save_variants (&f);
  header = gtk_widget_get_first_child (table_of (&f));
  title = gtk_widget_get_next_sibling (gtk_widget_get_first_child (header)); /* of the column Peak */
  width = gtk_widget_get_width (title);
  g_assert_true (gtk_widget_compute_bounds (title, header, &bounds));
  views_pointer_drag (f.pointer, header, bounds.origin.x + bounds.size.width, gtk_widget_get_height (title) / 2.0, 40, 0);
  views_pointer_release (f.pointer);
  settle (&f);
  g_assert_cmpint (gtk_widget_get_width (title), ==, width + 40);
  close_step (&f);
}

/* The scatter */

/* Some pixel that picks point @index. */
static void
find_point (Fixture *f, guint index, double *x, double *y)
{
  GtkWidget *scatter = GTK_WIDGET (gantry_compare_panel_get_scatter (f->panel));
  guint n = gantry_compare_panel_n_rows (f->panel);
  g_autofree GantryScatterPoint *points = g_new0 (GantryScatterPoint, n);
  int width = gtk_widget_get_width (scatter), height = gtk_widget_get_height (scatter);

  for (guint i = 0; i < n; i++)
    {
      const GantryVariant *variant = gantry_compare_panel_get_row (f->panel, i);
      const char *name = variant != NULL ? variant->name : "as placed now";

      points[i] = (GantryScatterPoint){ (guint64) figure (f, name, FALSE), figure (f, name, TRUE),
                                        variant != NULL ? GANTRY_POINT_VARIANT : GANTRY_POINT_NOW, name };
    }
  for (*y = 0; *y < height; *y += 1)
    for (*x = 0; *x < width; *x += 1)
      if (gantry_scatter_pick (points, n, 0, (float) width, (float) height, (float) *x, (float) *y) == index)
        return;
  g_error ("no pixel picks point %u", index);
}

static void
test_scatter (void)
{
  GtkWidget *scatter;
  double x, y;
  Fixture f;

  if (!open_step (&f))
    return;
  save_variants (&f);
  scatter = GTK_WIDGET (gantry_compare_panel_get_scatter (f.panel));
  find_point (&f, 1, &x, &y);
  views_pointer_click (f.pointer, scatter, x, y, 1);
  g_assert_cmpuint (gantry_compare_panel_get_selected (f.panel), ==, 1);
  g_assert_cmpfloat (figure (&f, "as placed now", FALSE), ==, figure (&f, "a, done again", FALSE));
  find_point (&f, 2, &x, &y);
  views_pointer_click (f.pointer, scatter, x, y, 2);
  settle (&f);
  g_assert_cmpfloat (figure (&f, "as placed now", FALSE), ==, figure (&f, "c, on the host", FALSE));
  g_assert_cmpuint (gantry_compare_panel_get_selected (f.panel), ==, 2);
  close_step (&f);
}

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

  gantry_selection_set (gantry_window_get_selection (f->window), gantry_graph_canvas_get_snapshot (GANTRY_GRAPH_CANVAS (canvas_of (f))),
                        &node, 1);
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
  int width, height;
  Fixture f;

  if (!open_step (&f))
    return;
  canvas = canvas_of (&f);
  width = gtk_widget_get_width (canvas);
  height = gtk_widget_get_height (canvas);
  view = zoom_in (&f);
  views_pointer_drag (f.pointer, canvas, width - 40, height - 60, 0, 30);
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
  for (x = gantry_time_axis_left ();
       (double) gantry_time_at (&view, (float) gtk_widget_get_width (lanes), (float) x)
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
  g_test_add_func ("/app/pointer/sort", test_sort);
  g_test_add_func ("/app/pointer/sort-unknown", test_sort_unknown);
  g_test_add_func ("/app/pointer/row-clicks", test_row_clicks);
  g_test_add_func ("/app/pointer/column-width", test_column_width);
  g_test_add_func ("/app/pointer/scatter", test_scatter);
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
