/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sample graphs that other layout programs were measured with: large, deep, clustered,
 * mirrored.
 */
#include "tests/drawing/layout/layout-check.h"
#include "tests/test-files.h"
#include "tools/layout-sample.h"

enum
{
  MOST_BYTES_A_NODE = 2048,
  MOST_POINTS_AN_EDGE = 12,
};

static char *
find_sample (const char *name)
{
  g_autofree char *file = g_strconcat (name, ".dot.gz", NULL);

  return test_shared_file ("data/layout", file);
}

static void
test_sample (gconstpointer data)
{
  g_autofree char *path = find_sample (data);
  g_autoptr (GError) error = NULL;

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_test_skip ("the sample graphs are not here; GANTRY_SHARED names the folder that holds data/layout");
      return;
    }
  g_autoptr (LayoutSample) sample = layout_sample_load (path, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sample->input.n_nodes, >, 900);
  g_autoptr (GantryLayout) layout = gantry_layout_compute (&sample->input, NULL, NULL, &error);
  g_autoptr (GantryLayout) again = gantry_layout_compute (&sample->input, NULL, NULL, NULL);
  g_assert_no_error (error);
  layout_check (&sample->input, layout);
  layout_check_same (layout, again);
  g_assert_cmpuint (layout->peak_bytes, <=, (gsize) MOST_BYTES_A_NODE * sample->input.n_nodes);
  g_assert_cmpuint (layout->n_points, <=, MOST_POINTS_AN_EDGE * sample->input.n_edges);
}

/* The backward half of a training step runs up beside the forward half, and no saved value goes
 * far. */
static void
test_training_is_folded (void)
{
  g_autofree char *path = find_sample ("train_10000");
  g_autoptr (GError) error = NULL;
  guint32 n_far = 0;

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_test_skip ("the sample graphs are not here; GANTRY_SHARED names the folder that holds data/layout");
      return;
    }
  g_autoptr (LayoutSample) sample = layout_sample_load (path, &error);
  g_assert_no_error (error);
  g_autoptr (GantryLayout) layout = gantry_layout_compute (&sample->input, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (layout->n_folded, >, sample->input.n_nodes * 2 / 5);
  g_assert_cmpuint (layout->n_folded, <, sample->input.n_nodes * 3 / 5);
  for (guint32 e = 0; e < sample->input.n_edges; e++)
    {
      const GantryLayoutBox *a = &layout->node[sample->input.tail[e]];
      const GantryLayoutBox *b = &layout->node[sample->input.head[e]];

      n_far += ABS (a->y - b->y) > 3000;
    }
  g_assert_cmpuint (n_far, <, sample->input.n_edges / 100);
}

int
main (int argc, char **argv)
{
  static const char *const names[] = {
    "chain_1000", "chain_10000", "chain_50000", "layered_1000",   "layered_10000",
    "train_1000", "train_10000", "train_50000", "clustered_1000", "clustered_10000",
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_strconcat ("/layout/samples/", names[i], NULL);

      g_test_add_data_func (path, names[i], test_sample);
    }
  g_test_add_func ("/layout/samples/training-is-folded", test_training_is_folded);
  return g_test_run ();
}
