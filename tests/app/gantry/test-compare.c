/* SPDX-License-Identifier: Apache-2.0 */
/* The page that compares variants: its figures are those of the program as it is, or said to be of before. */
#include "app/gantry/window-private.h"
#include "tests/app/gantry/window-test.h"

static void
place (GantryWindow *window, const char *policy, guint64 limit)
{
  GantryDocument *document = gantry_window_get_document (window);

  g_assert_true (gantry_document_set_policy (document, policy, NULL));
  gantry_document_set_limit (document, limit);
  gantry_document_wait (document);
  window_test_wait (window);
}

static const GantryVariant *
row (GantryWindow *window, guint index)
{
  return gantry_compare_panel_get_row (gantry_window_get_compare_panel (window), index);
}

static gboolean
is_current (GantryWindow *window, guint index)
{
  return gantry_document_is_current (gantry_window_get_document (window), row (window, index));
}

static void
show (GantryWindow *window, const char *page)
{
  g_action_group_activate_action (G_ACTION_GROUP (window), "bottom-page", g_variant_new_string (page));
  window_test_wait (window);
}

/* Figures of before are said to be that while nobody looks, and predicted anew where somebody does. */
static void
test_passes (void)
{
  GantryWindow *window = window_test_with ("data/programs/transformer-tiny.gir", TRUE);
  GantryDocument *document;
  guint64 before;

  if (window == NULL)
    return;
  document = gantry_window_get_document (window);
  gantry_compare_panel_save_variant (gantry_window_get_compare_panel (window), "keep all");
  place (window, "policy nothing_saveable", 0);
  before = row (window, 1)->figures.peak_bytes;
  g_assert_true (is_current (window, 1));
  gantry_document_set_pass_enabled (document, "fuse", FALSE);
  gantry_document_wait (document);
  window_test_wait (window);
  g_assert_false (is_current (window, 1));
  g_assert_cmpuint (row (window, 1)->figures.peak_bytes, ==, before);
  show (window, "compare");
  views_wait_until (is_current (window, 1));
  g_assert_cmpuint (row (window, 1)->figures.peak_bytes, !=, before);
  g_assert_false (window_test_has_text (GTK_WIDGET (window), "figures of before"));
  gantry_compare_panel_load_row (gantry_window_get_compare_panel (window), 1);
  gantry_document_wait (document);
  window_test_wait (window);
  g_assert_cmpuint (row (window, 1)->figures.peak_bytes, ==, gantry_document_get_prediction (document)->prediction->peak_bytes);
  window_test_free (window);
}

/* What exceeds its limit has no time, neither in a row nor as a point. */
static void
test_unfit (void)
{
  GantryWindow *window = window_test_with ("data/programs/transformer-tiny.gir", TRUE);

  if (window == NULL)
    return;
  gantry_compare_panel_save_variant (gantry_window_get_compare_panel (window), "keep all");
  show (window, "compare");
  g_assert_false (window_test_has_text (GTK_WIDGET (window), "does not fit"));
  place (window, NULL, 1 << 12);
  g_assert_true (window_test_has_text (GTK_WIDGET (gantry_window_get_compare_panel (window)), "does not fit"));
  place (window, NULL, 0);
  g_assert_false (window_test_has_text (GTK_WIDGET (gantry_window_get_compare_panel (window)), "does not fit"));
  window_test_free (window);
}

int
main (int argc, char **argv)
{
  window_test_init (&argc, &argv);
  g_test_add_func ("/app/compare/passes", test_passes);
  g_test_add_func ("/app/compare/unfit", test_unfit);
  return window_test_run ();
}
