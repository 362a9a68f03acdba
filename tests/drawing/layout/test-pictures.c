/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What small graphs must look like.
 */
#include "tests/drawing/layout/layout-check.h"
#include "tools/layout-sample.h"

#include <math.h>
#include <string.h>

/* Lays out a graph written as in the samples, every box 72 by 36 points. */
static GantryLayout *
lay_out (LayoutSample **sample, const char *text)
{
  g_autoptr (GError) error = NULL;
  GantryLayout *layout;

  *sample = layout_sample_parse (text, strlen (text), &error);
  g_assert_no_error (error);
  for (guint i = 0; i < (*sample)->width->len; i++)
    g_array_index ((*sample)->width, float, i) = 72;
  layout = gantry_layout_compute (&(*sample)->input, NULL, NULL, &error);
  g_assert_no_error (error);
  layout_check (&(*sample)->input, layout);
  return layout;
}

static float
middle_of (const GantryLayout *layout, guint32 v)
{
  return layout->node[v].x + layout->node[v].width / 2;
}

static guint32
n_points_of (const GantryLayout *layout, guint32 e)
{
  return layout->edge_first[e + 1] - layout->edge_first[e];
}

/* --- pictures -------------------------------------------------------------------------------- */

static void
test_chain (void)
{
  g_autoptr (LayoutSample) sample = NULL;
  g_autoptr (GantryLayout) layout = lay_out (&sample, "n0 -> n1\nn1 -> n2\nn2 -> n3\nn3 -> n4\n");

  for (guint32 v = 1; v < 5; v++)
    {
      g_assert_cmpfloat (middle_of (layout, v), ==, middle_of (layout, 0));
      g_assert_cmpfloat (layout->node[v].y, >, layout->node[v - 1].y);
      g_assert_cmpuint (n_points_of (layout, v - 1), ==, 2);
    }
}

/* The main line stays straight, the residual edge runs beside it with two turns at each end. */
static void
test_residual (void)
{
  g_autoptr (LayoutSample) sample = NULL;
  g_autoptr (GantryLayout) layout = lay_out (&sample, "n0 -> n1\nn1 -> n2\nn2 -> n3\nn3 -> n4\nn0 -> n3\n");

  for (guint32 v = 1; v < 5; v++)
    g_assert_cmpfloat (middle_of (layout, v), ==, middle_of (layout, 0));
  g_assert_cmpuint (n_points_of (layout, 4), <=, 6);
}

/* Branches stand side by side, even or odd in number, and in the middle under the fork and over the
 * join. */
static void
test_branches (void)
{
  for (guint32 n = 2; n <= 6; n++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      g_autoptr (LayoutSample) sample = NULL;
      float sum = 0;

      for (guint32 i = 0; i < n; i++)
        g_string_append_printf (text, "n0 -> n%u\nn%u -> n%u\nn%u -> n1\n", 2 + 2 * i, 2 + 2 * i, 3 + 2 * i, 3 + 2 * i);
      g_autoptr (GantryLayout) layout = lay_out (&sample, text->str);
      for (guint32 i = 0; i < n; i++)
        {
          g_assert_cmpfloat (layout->node[2 + 2 * i].y, ==, layout->node[2].y);
          g_assert_cmpfloat (middle_of (layout, 2 + 2 * i), ==, middle_of (layout, 3 + 2 * i));
          sum += middle_of (layout, 2 + 2 * i);
        }
      g_assert_cmpfloat_with_epsilon (sum / n, middle_of (layout, 0), 1);
      g_assert_cmpfloat (middle_of (layout, 0), ==, middle_of (layout, 1));
    }
}

/* Whether a vertical run of one edge crosses a horizontal one of another. */
static gboolean
do_cross (const GantryLayoutPoint *a, const GantryLayoutPoint *b, const GantryLayoutPoint *c, const GantryLayoutPoint *d)
{
  if (a->x != b->x || c->y != d->y)
    return FALSE;
  return a->x > MIN (c->x, d->x) && a->x < MAX (c->x, d->x) && c->y > MIN (a->y, b->y) && c->y < MAX (a->y, b->y);
}

static guint
count_crossings (const GantryLayoutInput *input, const GantryLayout *layout)
{
  guint n = 0;

  for (guint32 e = 0; e < layout->n_edges; e++)
    for (guint32 f = 0; f < layout->n_edges; f++)
      for (guint32 i = layout->edge_first[e]; i + 1 < layout->edge_first[e + 1]; i++)
        for (guint32 k = layout->edge_first[f]; k + 1 < layout->edge_first[f + 1]; k++)
          if (input->tail[e] != input->tail[f])
            n += do_cross (&layout->points[i], &layout->points[i + 1], &layout->points[k], &layout->points[k + 1]);
  return n;
}

/* A tree, whose nodes come in any order, is drawn without a crossing; every parent in the middle
 * over its children. */
static void
test_tree (void)
{
  enum
  {
    N = 127
  };
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (LayoutSample) sample = NULL;
  guint32 name[N];

  for (guint32 v = 0; v < N; v++)
    name[v] = v * 37 % N;
  for (guint32 v = 1; v < N; v++)
    g_string_append_printf (text, "n%u -> n%u\n", name[(v - 1) / 2], name[v]);
  g_autoptr (GantryLayout) layout = lay_out (&sample, text->str);
  g_assert_cmpuint (count_crossings (&sample->input, layout), ==, 0);
  for (guint32 v = 0; 2 * v + 2 < N; v++)
    {
      float middle = (middle_of (layout, name[2 * v + 1]) + middle_of (layout, name[2 * v + 2])) / 2;

      g_assert_cmpfloat_with_epsilon (middle_of (layout, name[v]), middle, 16);
    }
}

/* Two rows linked in opposite order are turned round, not crossed. */
static void
test_opposite_order (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (LayoutSample) sample = NULL;

  for (guint32 i = 0; i < 10; i++)
    g_string_append_printf (text, "n%u -> n%u\nn%u -> n%u\n", i, 19 - i, i, 19 - MIN (i + 1, 9));
  g_autoptr (GantryLayout) layout = lay_out (&sample, text->str);
  g_assert_cmpuint (count_crossings (&sample->input, layout), ==, 0);
}

/* A constant stands right over what uses it, even if that is far down. */
static void
test_constant_is_near (void)
{
  g_autoptr (LayoutSample) sample = NULL;
  g_autoptr (GantryLayout) layout = lay_out (&sample, "n0 -> n1\nn1 -> n2\nn2 -> n3\nn3 -> n4\nn5 -> n6\nn6 -> n4\n");

  g_assert_cmpfloat (layout->node[6].y, ==, layout->node[3].y);
  g_assert_cmpfloat (layout->node[5].y, ==, layout->node[2].y);
}

/* Inputs enter at different places, in the order of where they come from. */
static void
test_ports (void)
{
  g_autoptr (LayoutSample) sample = NULL;
  g_autoptr (GantryLayout) layout = lay_out (&sample, "n0 -> n3\nn1 -> n3\nn2 -> n3\n");

  for (guint32 a = 0; a < 3; a++)
    for (guint32 b = 0; b < 3; b++)
      if (middle_of (layout, a) < middle_of (layout, b))
        g_assert_cmpfloat (layout->points[layout->edge_first[a + 1] - 1].x, <, layout->points[layout->edge_first[b + 1] - 1].x);
}

/* One value that goes to many far places has one trunk. */
static void
test_trunk_is_shared (void)
{
  g_autoptr (GString) text = g_string_new ("n0 -> n1\n");
  g_autoptr (LayoutSample) sample = NULL;
  float trunk = NAN;

  for (guint32 i = 1; i < 200; i++)
    g_string_append_printf (text, "n%u -> n%u\n", i, i + 1);
  for (guint32 i = 100; i < 200; i += 10)
    g_string_append_printf (text, "n0 -> n%u\n", i);
  g_autoptr (GantryLayout) layout = lay_out (&sample, text->str);
  for (guint32 e = 200; e < 210; e++)
    {
      float x = NAN;

      for (guint32 i = layout->edge_first[e]; i + 1 < layout->edge_first[e + 1]; i++)
        if (fabsf (layout->points[i + 1].y - layout->points[i].y) > 1000)
          x = layout->points[i].x;
      g_assert_false (isnan (x));
      if (!isnan (trunk))
        g_assert_cmpfloat (x, ==, trunk);
      trunk = x;
    }
}

/* Values of different outputs do not share one, even where they begin and end alike. */
static void
test_values_are_apart (void)
{
  static const guint32 values[] = { 0, 1, 0, 0 };
  g_autoptr (LayoutSample) sample = NULL;
  g_autoptr (GantryLayout) shared = lay_out (&sample, "n0 -> n2\nn0 -> n2\nn0 -> n1\nn1 -> n2\n");

  sample->input.edge_value = values;
  g_autoptr (GantryLayout) apart = gantry_layout_compute (&sample->input, NULL, NULL, NULL);
  layout_check (&sample->input, apart);
  g_assert_cmpfloat (shared->points[shared->edge_first[0]].x, ==, shared->points[shared->edge_first[1]].x);
  g_assert_cmpfloat (apart->points[apart->edge_first[0]].x, !=, apart->points[apart->edge_first[1]].x);
}

/* What closes a cycle still leaves at the bottom and enters at the top. */
static void
test_cycle (void)
{
  g_autoptr (LayoutSample) sample = NULL;
  g_autoptr (GantryLayout) layout = lay_out (&sample, "n0 -> n1\nn1 -> n2\nn2 -> n0\nn1 -> n1\n");

  g_assert_cmpfloat (layout->node[0].y, <, layout->node[1].y);
  g_assert_cmpfloat (layout->node[1].y, <, layout->node[2].y);
  g_assert_cmpfloat (layout->points[layout->edge_first[2]].y, ==, layout->node[2].y + layout->node[2].height);
  g_assert_cmpfloat (layout->points[layout->edge_first[3] - 1].y, ==, layout->node[0].y);
}

/* An edge of a saved value has no say in the ranks. */
static void
test_saved_edge (void)
{
  static const guint8 classes[] = { 0, 0, 1 };
  g_autoptr (LayoutSample) sample = NULL;
  g_autoptr (GantryLayout) flow = lay_out (&sample, "n0 -> n1\nn2 -> n3\nn1 -> n2\n");

  sample->input.edge_class = classes;
  g_autoptr (GantryLayout) saved = gantry_layout_compute (&sample->input, NULL, NULL, NULL);
  layout_check (&sample->input, saved);
  g_assert_cmpfloat (flow->node[2].y, >, flow->node[1].y);
  g_assert_cmpfloat (saved->node[2].y, ==, saved->node[0].y);
}

/* Loose nodes fill a page, not a line. */
static void
test_loose_nodes (void)
{
  g_autofree float *size = g_new (float, 1000);
  GantryLayoutInput input = { .n_nodes = 1000, .width = size, .height = size };

  for (guint i = 0; i < 1000; i++)
    size[i] = 50;
  g_autoptr (GantryLayout) layout = gantry_layout_compute (&input, NULL, NULL, NULL);
  layout_check (&input, layout);
  g_assert_cmpfloat (layout->width, <, layout->height * 4);
  g_assert_cmpfloat (layout->height, <, layout->width * 4);
}

/* --- groups and stability -------------------------------------------------------------------- */

static void
test_groups (void)
{
  g_autoptr (LayoutSample) sample = NULL;
  g_autoptr (GantryLayout) layout = lay_out (&sample, "subgraph cluster_a {\nn1 [width=1 height=1];\n"
                                                      "subgraph cluster_b {\nn2 [width=1 height=1];\n}\n}\n"
                                                      "subgraph cluster_c {\n}\n"
                                                      "n0 -> n1\nn1 -> n2\nn2 -> n3\nn0 -> n3\nn0 -> n2\n");

  g_assert_cmpuint (layout->n_groups, ==, 3);
  /* Room for the title over everything inside. */
  g_assert_cmpfloat (layout->node[1].y, >=, layout->group[0].y + 24);
  g_assert_cmpfloat (layout->group[1].y, >=, layout->group[0].y + 24);
  g_assert_cmpfloat (middle_of (layout, 1), ==, middle_of (layout, 2));
}

/* A group whose contraction closes a cycle: in, out and in again. */
static void
test_group_cycle (void)
{
  g_autoptr (LayoutSample) sample = NULL;
  g_autoptr (GantryLayout) layout = lay_out (&sample, "subgraph cluster_a {\nn0 [width=1 height=1];\nn2 [width=1 height=1];\n}\n"
                                                      "n0 -> n1\nn1 -> n2\n");

  g_assert_cmpuint (n_points_of (layout, 1), >, 2);
}

static void
test_deep_nesting (void)
{
  enum
  {
    DEPTH = GANTRY_LAYOUT_MAX_NESTING
  };
  float size[] = { 30, 30 };
  guint32 group[] = { DEPTH - 1, GANTRY_LAYOUT_NO_GROUP };
  guint32 tail[] = { 0, 1 };
  guint32 head[] = { 1, 0 };
  guint32 parent[DEPTH + 1];
  g_autoptr (GError) error = NULL;
  GantryLayoutInput input = {
    .n_nodes = 2,
    .width = size,
    .height = size,
    .n_edges = 2,
    .tail = tail,
    .head = head,
    .n_groups = DEPTH,
    .group = group,
    .group_parent = parent,
  };

  for (guint32 g = 0; g <= DEPTH; g++)
    parent[g] = g == 0 ? GANTRY_LAYOUT_NO_GROUP : g - 1;
  g_autoptr (GantryLayout) layout = gantry_layout_compute (&input, NULL, NULL, &error);
  g_assert_no_error (error);
  layout_check (&input, layout);

  input.n_groups = DEPTH + 1;
  g_assert_null (gantry_layout_compute (&input, NULL, NULL, &error));
  g_assert_error (error, GANTRY_LAYOUT_ERROR, GANTRY_LAYOUT_ERROR_INPUT);
  g_clear_error (&error);

  parent[3] = 5;
  input.n_groups = DEPTH;
  g_assert_null (gantry_layout_compute (&input, NULL, NULL, &error));
  g_assert_error (error, GANTRY_LAYOUT_ERROR, GANTRY_LAYOUT_ERROR_INPUT);
}

/* With its own positions as the previous ones, a picture stays what it is; mirrored, it stays
 * mirrored. */
static void
test_previous_order (void)
{
  g_autoptr (LayoutSample) sample = NULL;
  g_autoptr (GantryLayout) first = lay_out (&sample, "n0 -> n1\nn0 -> n2\nn0 -> n3\nn1 -> n4\nn2 -> n5\nn3 -> n6\n");
  float previous[7];

  for (guint32 v = 0; v < 7; v++)
    previous[v] = middle_of (first, v);
  sample->input.previous_x = previous;
  g_autoptr (GantryLayout) same = gantry_layout_compute (&sample->input, NULL, NULL, NULL);
  layout_check_same (first, same);

  for (guint32 v = 0; v < 7; v++)
    previous[v] = -middle_of (first, v);
  g_autoptr (GantryLayout) mirrored = gantry_layout_compute (&sample->input, NULL, NULL, NULL);
  layout_check (&sample->input, mirrored);
  for (guint32 a = 1; a < 4; a++)
    for (guint32 b = 1; b < 4; b++)
      g_assert_cmpint (middle_of (first, a) < middle_of (first, b), ==, middle_of (mirrored, a) > middle_of (mirrored, b));
}

/* Folding one scope of a chain of scopes moves what is below it, and nothing to the left or right.
 */
static void
test_folding_a_scope (void)
{
  const char *open = "n0 -> n1\nn1 -> n2\nn2 -> n3\nn0 -> n3\nn3 -> n4\nn4 -> n5\nn3 -> n5\n";
  const char *folded = "n0 -> n1\nn1 -> n2\nn0 -> n2\nn2 -> n3\n";
  g_autoptr (LayoutSample) sample_a = NULL;
  g_autoptr (LayoutSample) sample_b = NULL;
  g_autoptr (GantryLayout) a = lay_out (&sample_a, open);
  g_autoptr (GantryLayout) b = lay_out (&sample_b, folded);

  for (guint32 v = 0; v < 3; v++)
    {
      g_assert_cmpfloat (a->node[v].y, ==, b->node[v].y);
      g_assert_cmpfloat (middle_of (a, v) - middle_of (a, 0), ==, middle_of (b, v) - middle_of (b, 0));
    }
}

/* --- finding things ----------------------------------------------------------------------------
 */

static gboolean
stop (GantryLayoutItemKind kind, guint32 index, gpointer user_data)
{
  (*(guint *) user_data)++;
  return FALSE;
}

static void
test_pick (void)
{
  g_autoptr (LayoutSample) sample = NULL;
  g_autoptr (GantryLayout) layout = lay_out (&sample, "subgraph cluster_a {\nn1 [width=1 height=1];\n}\nn0 -> n1\n");
  const GantryLayoutPoint *a = &layout->points[0];
  const GantryLayoutBox *group = &layout->group[0];
  GantryLayoutBox all = { 0, 0, layout->width, layout->height };
  guint32 index = 9;
  guint n_visits = 0;

  g_assert_cmpint (gantry_layout_pick (layout, middle_of (layout, 1), layout->node[1].y + 5, 4, &index), ==, GANTRY_LAYOUT_ITEM_NODE);
  g_assert_cmpuint (index, ==, 1);
  g_assert_cmpint (gantry_layout_pick (layout, a->x + 3, a->y + 9, 4, &index), ==, GANTRY_LAYOUT_ITEM_EDGE);
  g_assert_cmpuint (index, ==, 0);
  g_assert_cmpint (gantry_layout_pick (layout, group->x + 2, group->y + 2, 4, &index), ==, GANTRY_LAYOUT_ITEM_GROUP);
  g_assert_cmpint (gantry_layout_pick (layout, -50, -50, 4, &index), ==, GANTRY_LAYOUT_ITEM_NONE);
  gantry_layout_query (layout, &all, stop, &n_visits);
  g_assert_cmpuint (n_visits, ==, 1);

  GantryLayout *other = gantry_layout_ref (layout);
  g_assert_true (other == layout);
  gantry_layout_unref (other);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/layout/pictures/chain", test_chain);
  g_test_add_func ("/layout/pictures/residual", test_residual);
  g_test_add_func ("/layout/pictures/branches", test_branches);
  g_test_add_func ("/layout/pictures/tree", test_tree);
  g_test_add_func ("/layout/pictures/opposite-order", test_opposite_order);
  g_test_add_func ("/layout/pictures/constant-is-near", test_constant_is_near);
  g_test_add_func ("/layout/pictures/ports", test_ports);
  g_test_add_func ("/layout/pictures/trunk-is-shared", test_trunk_is_shared);
  g_test_add_func ("/layout/pictures/values-are-apart", test_values_are_apart);
  g_test_add_func ("/layout/pictures/cycle", test_cycle);
  g_test_add_func ("/layout/pictures/saved-edge", test_saved_edge);
  g_test_add_func ("/layout/pictures/loose-nodes", test_loose_nodes);
  g_test_add_func ("/layout/pictures/groups", test_groups);
  g_test_add_func ("/layout/pictures/group-cycle", test_group_cycle);
  g_test_add_func ("/layout/pictures/deep-nesting", test_deep_nesting);
  g_test_add_func ("/layout/pictures/previous-order", test_previous_order);
  g_test_add_func ("/layout/pictures/folding-a-scope", test_folding_a_scope);
  g_test_add_func ("/layout/pictures/pick", test_pick);
  return g_test_run ();
}
