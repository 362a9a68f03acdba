/* SPDX-License-Identifier: Apache-2.0 */
/* What gives way where room is short: status line, bars, fields and the source page in a small window, with long texts. */
#include "app/gantry/window-private.h"
#include "tests/app/gantry/window-test.h"
#include "views/format.h"
#include "views/notice.h"
#include <string.h>

static int
least (GtkWidget *widget, GtkOrientation orientation, int for_size)
{
  int minimum;

  gtk_widget_measure (widget, orientation, for_size, &minimum, NULL, NULL, NULL);
  return minimum;
}

/* Whatever is said there, the window does not become wider for it, and all of it can be read. */
static void
test_status (void)
{
  GantryWindow *window = window_test_with ("data/programs/mlp.gir", FALSE);
  g_autofree char *text = g_strnfill (2000, 'w');
  int width;

  if (window == NULL)
    return;
  width = least (GTK_WIDGET (window), GTK_ORIENTATION_HORIZONTAL, -1);
  g_assert_cmpint (width, <=, 900);
  _gantry_window_show_activity (window, text);
  gtk_label_set_text (window->status_peak, text);
  gtk_label_set_text (window->status_time, text);
  gtk_label_set_text (window->status_nodes, text);
  g_assert_cmpint (least (window->status_bar, GTK_ORIENTATION_HORIZONTAL, -1), <=, 300);
  g_assert_cmpint (least (GTK_WIDGET (window), GTK_ORIENTATION_HORIZONTAL, -1), ==, width);
  g_assert_cmpstr (gtk_widget_get_tooltip_text (GTK_WIDGET (window->status_button)), ==, text);
  _gantry_window_update_status (window);
  g_assert_cmpstr (gtk_widget_get_tooltip_text (GTK_WIDGET (window->status_peak)), ==, gtk_label_get_text (window->status_peak));
  window_test_free (window);
}

/* The whole limit is shown, with as many figures as it has. */
static void
test_limit (void)
{
  static const guint64 limits[] = { 551970406, 551954678, 1073731338, 1, G_GUINT64_CONSTANT (1) << 40 };
  GantryWindow *window = window_test_with ("data/programs/mlp.gir", TRUE);
  GtkWidget *entry, *text;

  if (window == NULL)
    return;
  entry = window_test_find (GTK_WIDGET (window), "limit");
  text = window_test_find_type (entry, "GtkText");
  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    {
      g_autofree char *said = gantry_format_limit (limits[i]);
      g_autoptr (PangoLayout) layout = NULL;
      int width;

      gantry_document_set_limit (gantry_window_get_document (window), limits[i]);
      window_test_wait (window);
      g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (entry)), ==, i == 0 ? "526.4 MiB" : said);
      layout = gtk_widget_create_pango_layout (text, said);
      pango_layout_get_pixel_size (layout, &width, NULL);
      g_assert_cmpint (gtk_widget_get_width (text), >=, width);
    }
  window_test_free (window);
}

/* A refusal is there to its end, in a window of any size, and names nothing that the window does not have. */
static void
test_refusal (void)
{
  static const int sizes[][2] = { { 1440, 900 }, { 900, 600 } };
  g_autofree char *path = views_sample ("rate.onnx");
  GantryWindow *window = window_test_new ();
  GtkWidget *notice;

  if (window == NULL)
    return;
  window_test_open (window, path);
  notice = window_test_find_type (GTK_WIDGET (window), "GantryNotice");
  g_assert_nonnull (notice);
  g_assert_nonnull (
    strstr (gantry_notice_get_text (GANTRY_NOTICE (notice)), gantry_document_get_compilation (gantry_window_get_document (window))->refusal->message));
  g_assert_null (strstr (gantry_notice_get_text (GANTRY_NOTICE (notice)), "--"));
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    g_assert_cmpint (least (GTK_WIDGET (window), GTK_ORIENTATION_VERTICAL, sizes[i][0]), <=, sizes[i][1]);
  g_assert_cmpint (gtk_widget_get_height (notice), >=, 30);
  window_test_free (window);
}

/* Of a bar with two buttons. @most: 0: as it is by itself */
static int
height_of (const char *text, int most, int width, gboolean minimum)
{
  g_autoptr (GtkWidget) notice = g_object_ref_sink (gantry_notice_new (text));
  int least_height, height;

  gantry_notice_add (GANTRY_NOTICE (notice), gtk_button_new_with_label ("A button with a long name"));
  gantry_notice_add (GANTRY_NOTICE (notice), gtk_button_new_with_label ("Another button"));
  if (most > 0)
    gantry_notice_set_most_height (GANTRY_NOTICE (notice), most);
  gtk_widget_measure (notice, GTK_ORIENTATION_VERTICAL, width, &least_height, &height, NULL, NULL);
  return minimum ? least_height : height;
}

/* Beside buttons a text keeps room for sentences; where it would not, they go below. What is long scrolls. */
static void
test_notice (void)
{
  g_autoptr (GString) words = g_string_new (NULL);

  if (!views_have_display ())
    return;
  for (guint i = 0; i < 400; i++)
    g_string_append_printf (words, "word%u ", i);
  g_assert_cmpint (height_of ("A few words.", 0, 400, FALSE), >, height_of ("A few words.", 0, 1000, FALSE));
  g_assert_cmpint (height_of (words->str, 0, 1000, FALSE), >, height_of ("A few words.", 0, 1000, FALSE));
  g_assert_cmpint (height_of (words->str, 0, 1000, FALSE), <=, 130);
  g_assert_cmpint (height_of (words->str, 0, 1000, TRUE), <, height_of (words->str, 0, 1000, FALSE));
  g_assert_cmpint (height_of (words->str, 60, 1000, FALSE), <=, 60);
}

/* Of a text that scrolls no line is cut in two, at whatever height, and its end can be reached. */
static void
test_notice_lines (void)
{
  static const int sizes[][2] = { { 1000, 60 }, { 700, 90 }, { 420, 110 }, { 420, 133 }, { 340, 100 } };
  g_autoptr (GString) words = g_string_new (NULL);
  GtkWidget *window, *notice, *fixed, *scroller, *label;

  if (!views_have_display ())
    return;
  for (guint i = 0; i < 400; i++)
    g_string_append_printf (words, "word%u ", i);
  window = gtk_window_new ();
  fixed = gtk_fixed_new ();
  notice = gantry_notice_new (words->str);
  gantry_notice_add (GANTRY_NOTICE (notice), gtk_button_new_with_label ("Details"));
  gtk_fixed_put (GTK_FIXED (fixed), notice, 0, 0);
  gtk_window_set_child (GTK_WINDOW (window), fixed);
  gtk_window_present (GTK_WINDOW (window));
  views_settle ();
  scroller = window_test_find_type (notice, "GtkScrolledWindow");
  label = window_test_find_type (notice, "GtkLabel");
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      GtkAdjustment *position = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (scroller));
      int height, end = 0, n = 0;
      PangoLayoutIter *iter;

      gtk_widget_size_allocate (notice, &(GtkAllocation){ 0, 0, sizes[i][0], sizes[i][1] }, -1);
      height = gtk_widget_get_height (scroller);
      iter = pango_layout_get_iter (gtk_label_get_layout (GTK_LABEL (label)));
      do
        {
          pango_layout_iter_get_line_yrange (iter, NULL, &end);
          n++;
        }
      while (PANGO_PIXELS_CEIL (end) < height && pango_layout_iter_next_line (iter));
      pango_layout_iter_free (iter);
      g_assert_cmpint (PANGO_PIXELS_CEIL (end), ==, height); /* what is seen ends where a line does */
      g_assert_cmpint (n, >, 0);
      g_assert_cmpfloat (gtk_adjustment_get_upper (position), >=, gtk_widget_get_height (label));
    }
  gtk_window_destroy (GTK_WINDOW (window));
}

/* The page of a model without source takes no more than its words need. */
static void
test_no_source (void)
{
  GantryWindow *window = window_test_new ();
  g_autofree char *path = views_sample ("rate.onnx");

  if (window == NULL)
    return;
  window_test_open (window, path);
  window_test_act (window, "show-source");
  window_test_wait (window);
  views_wait_frame (GTK_WIDGET (window));
  g_assert_true (gtk_widget_get_mapped (GTK_WIDGET (window->source_bin)));
  g_assert_nonnull (gantry_source_page_get_words (gantry_window_get_source_page (window)));
  g_assert_cmpint (gtk_widget_get_width (GTK_WIDGET (window->source_bin)), <=, 270);
  g_assert_cmpint (gtk_widget_get_width (GTK_WIDGET (window->graph_bin)), >, gtk_widget_get_width (GTK_WIDGET (window->source_bin)));
  window_test_free (window);
}

/* Calls @check with every label below @widget that is seen. */
static void
each_label (GtkWidget *widget, void (*check) (GtkWidget *label, gpointer data), gpointer data)
{
  if (GTK_IS_LABEL (widget) && gtk_widget_get_mapped (widget))
    check (widget, data);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL; child = gtk_widget_get_next_sibling (child))
    each_label (child, check, data);
}

static void
check_whole (GtkWidget *label, gpointer data)
{
  guint *n = data;

  g_test_message ("%s", gtk_label_get_text (GTK_LABEL (label)));
  g_assert_false (pango_layout_is_ellipsized (gtk_label_get_layout (GTK_LABEL (label))));
  *n += gtk_label_get_lines (GTK_LABEL (label)) == 2;
}

/* Names that differ in their middle alone, and until when they live, are there to the end in a window of the usual size. */
static void
test_alive (void)
{
  GantryWindow *window = window_test_with ("data/programs/transformer-12.gir", TRUE);
  GtkWidget *list;
  guint n = 0;

  if (window == NULL)
    return;
  gantry_document_set_policy (gantry_window_get_document (window), "policy nothing_saveable", NULL);
  window_test_wait (window);
  list = window_test_find_type (GTK_WIDGET (window), "GantryAliveList");
  g_assert_nonnull (list);
  views_wait_frame (list);
  each_label (list, check_whole, &n);
  g_assert_cmpuint (n, >, 10);
  window_test_free (window);
}

typedef struct
{
  GtkWidget *inspector;
  int x;
  guint n;
} Column;

static void
check_column (GtkWidget *label, gpointer data)
{
  Column *column = data;
  GtkWidget *cell = label, *grid;
  int place;
  double x;

  while (cell != column->inspector && !GTK_IS_GRID (gtk_widget_get_parent (cell)))
    cell = gtk_widget_get_parent (cell);
  if (cell == column->inspector)
    return;
  grid = gtk_widget_get_parent (cell);
  gtk_grid_query_child (GTK_GRID (grid), cell, &place, NULL, NULL, NULL);
  if (place != 1)
    return;
  gtk_widget_translate_coordinates (label, column->inspector, 0, 0, &x, NULL);
  column->x = column->n++ == 0 ? (int) x : column->x;
  g_test_message ("%s at %g", gtk_label_get_text (GTK_LABEL (label)), x);
  g_assert_cmpint (ABS ((int) x - column->x), <=, 2);
}

/* Values stand below each other whatever section of the inspector they are in, links too. */
static void
test_inspector (void)
{
  GantryWindow *window = window_test_sample ();
  Column column = { 0 };

  if (window == NULL)
    return;
  window_test_wait (window);
  column.inspector = GTK_WIDGET (gantry_window_get_inspector (window));
  views_wait_frame (column.inspector);
  each_label (column.inspector, check_column, &column);
  g_assert_cmpuint (column.n, >, 8);
  window_test_free (window);
}

int
main (int argc, char **argv)
{
  window_test_init (&argc, &argv);
  g_test_add_func ("/app/room/status", test_status);
  g_test_add_func ("/app/room/limit", test_limit);
  g_test_add_func ("/app/room/refusal", test_refusal);
  g_test_add_func ("/app/room/notice", test_notice);
  g_test_add_func ("/app/room/notice-lines", test_notice_lines);
  g_test_add_func ("/app/room/alive", test_alive);
  g_test_add_func ("/app/room/inspector", test_inspector);
  g_test_add_func ("/app/room/no-source", test_no_source);
  return window_test_run ();
}
