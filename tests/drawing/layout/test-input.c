/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the layout says to input that is no graph, or too large a one, and how it ends early.
 */
#include "tests/drawing/layout/layout-check.h"

#include <math.h>
#include <string.h>

static void
expect_error (const GantryLayoutInput *input, const GantryLayoutParams *params, GantryLayoutError code)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (gantry_layout_compute (input, params, NULL, &error));
  g_assert_error (error, GANTRY_LAYOUT_ERROR, code);
  g_assert_nonnull (strstr (error->message, "layout: "));
}

static void
test_bad_sizes (void)
{
  const float bad[] = { NAN, INFINITY, -INFINITY, -1, 1e9f, 100001 };
  float size[] = { 10, 10 };
  GantryLayoutInput input = { .n_nodes = 2, .width = size, .height = size };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      GantryLayoutParams params;

      size[1] = bad[i];
      expect_error (&input, NULL, GANTRY_LAYOUT_ERROR_INPUT);
      size[1] = 10;
      gantry_layout_params_init (&params);
      params.rank_gap = bad[i];
      expect_error (&input, &params, GANTRY_LAYOUT_ERROR_INPUT);
      input.n_groups = 2;
      input.group_min_width = size;
      size[0] = bad[i];
      expect_error (&input, NULL, GANTRY_LAYOUT_ERROR_INPUT);
      size[0] = 10;
      input.n_groups = 0;
    }
}

static void
test_bad_indices (void)
{
  float size[] = { 10, 10 };
  guint32 tail[] = { 0 };
  guint32 head[] = { 1 };
  guint8 classes[] = { 0 };
  guint32 group[] = { 0, GANTRY_LAYOUT_NO_GROUP };
  guint32 parent[] = { GANTRY_LAYOUT_NO_GROUP };
  GantryLayoutInput input = {
    .n_nodes = 2,
    .width = size,
    .height = size,
    .n_edges = 1,
    .tail = tail,
    .head = head,
    .edge_class = classes,
    .n_groups = 1,
    .group = group,
    .group_parent = parent,
  };

  tail[0] = 2;
  expect_error (&input, NULL, GANTRY_LAYOUT_ERROR_INPUT);
  tail[0] = 0;
  head[0] = G_MAXUINT32;
  expect_error (&input, NULL, GANTRY_LAYOUT_ERROR_INPUT);
  head[0] = 1;
  classes[0] = 2;
  expect_error (&input, NULL, GANTRY_LAYOUT_ERROR_INPUT);
  classes[0] = 0;
  group[0] = 1;
  expect_error (&input, NULL, GANTRY_LAYOUT_ERROR_INPUT);
  group[0] = 0;
  parent[0] = 0;
  expect_error (&input, NULL, GANTRY_LAYOUT_ERROR_INPUT);
  parent[0] = 1;
  expect_error (&input, NULL, GANTRY_LAYOUT_ERROR_INPUT);
}

static void
test_too_large (void)
{
  guint32 n = 20000;
  g_autofree float *size = g_new (float, n);
  GantryLayoutInput input = { .n_nodes = n, .width = size, .height = size };

  for (guint32 v = 0; v < n; v++)
    size[v] = 100000;
  expect_error (&input, NULL, GANTRY_LAYOUT_ERROR_TOO_LARGE);
}

static gboolean
visit_none (GantryLayoutItemKind kind, guint32 index, gpointer user_data)
{
  g_assert_not_reached ();
}

static void
test_empty (void)
{
  GantryLayoutInput input = { 0 };
  GantryLayoutBox all = { -1e6f, -1e6f, 2e6f, 2e6f };
  guint32 found = 7;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryLayout) layout = gantry_layout_compute (&input, NULL, NULL, &error);

  g_assert_no_error (error);
  layout_check (&input, layout);
  gantry_layout_query (layout, &all, visit_none, NULL);
  g_assert_cmpint (gantry_layout_pick (layout, 0, 0, 5, &found), ==, GANTRY_LAYOUT_ITEM_NONE);
}

/* --- cancelling, sharing --------------------------------------------------------------------- */

static gpointer
cancel_soon (gpointer data)
{
  g_usleep (3000);
  g_cancellable_cancel (data);
  return NULL;
}

/* Cancelled before it begins, or in the middle of it. */
static void
test_cancel (void)
{
  guint32 n = 60000;
  g_autofree float *size = g_new (float, n);
  g_autofree guint32 *tail = g_new (guint32, 2 * n);
  g_autofree guint32 *head = g_new (guint32, 2 * n);
  GantryLayoutInput input = {
    .n_nodes = n,
    .width = size,
    .height = size,
    .n_edges = 2 * n,
    .tail = tail,
    .head = head,
  };
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  for (guint32 v = 0; v < n; v++)
    {
      size[v] = 40;
      tail[v] = v;
      head[v] = MIN (v + 1 + v % 7, n - 1);
      tail[n + v] = v;
      head[n + v] = MIN (v + 1, n - 1);
    }
  GThread *thread = g_thread_new ("cancel", cancel_soon, cancellable);
  g_assert_null (gantry_layout_compute (&input, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_thread_join (thread);
  g_clear_error (&error);
  g_assert_null (gantry_layout_compute (&input, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static gpointer
lay_out_again (gpointer data)
{
  return gantry_layout_compute (data, NULL, NULL, NULL);
}

/* Several threads lay out the same graph at once, and get the same picture. */
static void
test_threads (void)
{
  const float size[] = { 40, 50, 60, 70 };
  const guint32 tail[] = { 0, 0, 1, 2, 3 };
  const guint32 head[] = { 1, 2, 3, 3, 0 };
  GantryLayoutInput input = { .n_nodes = 4, .width = size, .height = size, .n_edges = 5, .tail = tail, .head = head };
  g_autoptr (GantryLayout) layout = gantry_layout_compute (&input, NULL, NULL, NULL);
  GThread *thread[4];

  for (guint i = 0; i < 4; i++)
    thread[i] = g_thread_new ("layout", lay_out_again, &input);
  for (guint i = 0; i < 4; i++)
    {
      g_autoptr (GantryLayout) other = g_thread_join (thread[i]);

      layout_check (&input, other);
      layout_check_same (layout, other);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/layout/input/bad-sizes", test_bad_sizes);
  g_test_add_func ("/layout/input/bad-indices", test_bad_indices);
  g_test_add_func ("/layout/input/too-large", test_too_large);
  g_test_add_func ("/layout/input/empty", test_empty);
  g_test_add_func ("/layout/input/cancel", test_cancel);
  g_test_add_func ("/layout/input/threads", test_threads);
  return g_test_run ();
}
