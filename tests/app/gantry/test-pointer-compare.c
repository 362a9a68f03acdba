/* SPDX-License-Identifier: Apache-2.0 */
/* The mouse on the page that compares: the table of variants is sorted and loaded from, and points of the scatter are chosen. */
#include "drawing/painters.h"
#include "tests/app/gantry/pointer-step.h"
#include <math.h>
#include <string.h>

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

  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL && found == NULL; child = gtk_widget_get_next_sibling (child))
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

  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL && found == NULL; child = gtk_widget_get_next_sibling (child))
    found = label_with (child, text);
  return found;
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
        return time ? variant->figures.step_us : (double) variant->figures.peak_bytes;
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
      /* Its name is its figures. */
      gboolean is_front = g_ascii_isdigit (*name_at (labels, i)) || g_str_has_prefix (name_at (labels, i), "at least ");

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

      points[i] = (GantryScatterPoint){ (guint64) figure (f, name, FALSE), figure (f, name, TRUE), variant != NULL ? GANTRY_POINT_VARIANT : GANTRY_POINT_NOW,
                                        name };
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

int
main (int argc, char **argv)
{
  window_test_init (&argc, &argv);
  g_test_add_func ("/app/pointer-compare/sort", test_sort);
  g_test_add_func ("/app/pointer-compare/sort-unknown", test_sort_unknown);
  g_test_add_func ("/app/pointer-compare/row-clicks", test_row_clicks);
  g_test_add_func ("/app/pointer-compare/column-width", test_column_width);
  g_test_add_func ("/app/pointer-compare/scatter", test_scatter);
  return window_test_run ();
}
