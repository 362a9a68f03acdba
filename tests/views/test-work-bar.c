/* SPDX-License-Identifier: Apache-2.0 */
/* The bar of work under way: it says how far that is, and moves where nobody can say. */
#include "tests/views/views-test.h"
#include "views/work-bar.h"

static gboolean
has_class (GtkWidget *widget, const char *class)
{
  if (gtk_widget_has_css_class (widget, class))
    return TRUE;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL; child = gtk_widget_get_next_sibling (child))
    if (has_class (child, class))
      return TRUE;
  return FALSE;
}

static void
test_moves (void)
{
  GtkWidget *bar;

  if (!views_have_display ())
    return;
  bar = g_object_ref_sink (gtk_progress_bar_new ());
  gantry_work_bar_set (GTK_PROGRESS_BAR (bar), TRUE, 0.5);
  g_assert_true (gtk_widget_get_visible (bar));
  g_assert_cmpfloat (gtk_progress_bar_get_fraction (GTK_PROGRESS_BAR (bar)), ==, 0.5);
  g_assert_false (has_class (bar, "pulse"));
  gantry_work_bar_set (GTK_PROGRESS_BAR (bar), TRUE, 0.5); /* told again: it has not gone on */
  views_wait_until (has_class (bar, "pulse"));
  gantry_work_bar_set (GTK_PROGRESS_BAR (bar), TRUE, 0.75);
  g_assert_false (has_class (bar, "pulse"));
  g_assert_cmpfloat (gtk_progress_bar_get_fraction (GTK_PROGRESS_BAR (bar)), ==, 0.75);
  gantry_work_bar_set (GTK_PROGRESS_BAR (bar), TRUE, -1);
  g_assert_true (has_class (bar, "pulse"));
  gantry_work_bar_set (GTK_PROGRESS_BAR (bar), FALSE, -1);
  g_assert_false (gtk_widget_get_visible (bar));
  g_object_unref (bar);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/views/work-bar/moves", test_moves);
  return g_test_run ();
}
