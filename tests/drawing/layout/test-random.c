/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random graphs of all kinds: whatever is thrown at it, a layout keeps its promises, and is the
 * same each time.
 */
#include "tests/drawing/layout/layout-check.h"
#include "tests/random-seed.h"

#include <math.h>
#include <string.h>

enum
{
  N_GRAPHS = 500,
  N_QUERIES = 6,
};

/* A random graph, and the arrays it consists of. */
typedef struct
{
  GantryLayoutInput input;
  float *width;
  float *height;
  guint32 *tail;
  guint32 *head;
  guint8 *edge_class;
  guint32 *edge_value;
  guint32 *group;
  guint32 *parent;
  float *min_width;
  guint32 *hint;
  float *previous;
} Graph;

static void
graph_clear (Graph *graph)
{
  g_free (graph->width);
  g_free (graph->height);
  g_free (graph->tail);
  g_free (graph->head);
  g_free (graph->edge_class);
  g_free (graph->edge_value);
  g_free (graph->group);
  g_free (graph->parent);
  g_free (graph->min_width);
  g_free (graph->hint);
  g_free (graph->previous);
}

static guint32
below (GRand *rand, guint32 n)
{
  return n > 0 ? (guint32) g_rand_int_range (rand, 0, (gint32) n) : 0;
}

static float
random_size (GRand *rand)
{
  switch (below (rand, 12))
    {
    case 0: return 0;
    case 1: return 1;
    case 2: return (float) g_rand_double_range (rand, 0, 2000);
    default: return (float) g_rand_double_range (rand, 10, 160);
    }
}

/* The ends of an edge, in one of several styles. */
static void
random_edge (GRand *rand, guint style, guint32 n, guint32 *tail, guint32 *head)
{
  guint32 a = below (rand, n);
  guint32 b = below (rand, n);

  switch (style)
    {
    case 0: /* anything, with cycles and loops */ break;
    case 1: /* program order */
      *tail = MIN (a, b);
      *head = MAX (a, b);
      return;
    case 2: /* mostly to near ones, as in a model */
      b = a + 1 + below (rand, below (rand, 8) == 0 ? n : 3);
      b = MIN (b, n - 1);
      break;
    case 3: /* a few hubs */ a = below (rand, n < 3 ? n : 3); break;
    default: /* forward, then mirrored back, as in training */
      a = below (rand, (n + 1) / 2);
      b = below (rand, 3) > 0 ? a + (a + 1 < n) : n - 1 - a;
      break;
    }
  *tail = a;
  *head = b;
}

static void
add_edges (Graph *graph, GRand *rand, guint32 n_edges)
{
  guint style = below (rand, 5);

  graph->tail = g_new (guint32, MAX (n_edges, 1));
  graph->head = g_new (guint32, MAX (n_edges, 1));
  graph->edge_class = g_new (guint8, MAX (n_edges, 1));
  graph->edge_value = g_new (guint32, MAX (n_edges, 1));
  for (guint32 e = 0; e < n_edges; e++)
    {
      random_edge (rand, style, graph->input.n_nodes, &graph->tail[e], &graph->head[e]);
      graph->edge_class[e] = below (rand, 5) == 0;
      graph->edge_value[e] = below (rand, 3);
    }
  graph->input.n_edges = n_edges;
  graph->input.tail = graph->tail;
  graph->input.head = graph->head;
  if (below (rand, 2))
    graph->input.edge_class = graph->edge_class;
  if (below (rand, 2))
    graph->input.edge_value = graph->edge_value;
}

static void
add_groups (Graph *graph, GRand *rand, guint32 n_groups)
{
  guint32 n = graph->input.n_nodes;
  gboolean in_runs = below (rand, 2);

  graph->parent = g_new (guint32, MAX (n_groups, 1));
  graph->min_width = g_new (float, MAX (n_groups, 1));
  graph->group = g_new (guint32, MAX (n, 1));
  for (guint32 g = 0; g < n_groups; g++)
    {
      graph->parent[g] = g > 0 && below (rand, 3) ? below (rand, g) : GANTRY_LAYOUT_NO_GROUP;
      graph->min_width[g] = (float) below (rand, 300);
    }
  for (guint32 v = 0; v < n; v++)
    {
      graph->group[v] = in_runs ? v * n_groups / n : below (rand, n_groups);
      if (below (rand, 5) == 0)
        graph->group[v] = GANTRY_LAYOUT_NO_GROUP;
    }
  graph->input.n_groups = n_groups;
  graph->input.group = graph->group;
  if (below (rand, 4))
    graph->input.group_parent = graph->parent;
  if (below (rand, 2))
    graph->input.group_min_width = graph->min_width;
}

static void
add_hints (Graph *graph, GRand *rand)
{
  guint32 n = graph->input.n_nodes;

  graph->hint = g_new (guint32, MAX (n, 1));
  graph->previous = g_new (float, MAX (n, 1));
  for (guint32 v = 0; v < n; v++)
    {
      graph->hint[v] = below (rand, n);
      graph->previous[v] = below (rand, 3) ? (float) below (rand, 1000) : NAN;
    }
  if (below (rand, 3) == 0)
    graph->input.order_hint = graph->hint;
  if (below (rand, 3) == 0)
    graph->input.previous_x = graph->previous;
}

static void
make_graph (Graph *graph, GRand *rand)
{
  guint32 n = below (rand, 8) == 0 ? below (rand, 400) : below (rand, 50);

  *graph = (Graph){ 0 };
  graph->width = g_new (float, MAX (n, 1));
  graph->height = g_new (float, MAX (n, 1));
  for (guint32 v = 0; v < n; v++)
    {
      graph->width[v] = random_size (rand);
      graph->height[v] = random_size (rand);
    }
  graph->input.n_nodes = n;
  graph->input.width = graph->width;
  graph->input.height = graph->height;
  add_edges (graph, rand, n > 0 ? below (rand, 3 * n) : 0);
  if (below (rand, 2))
    add_groups (graph, rand, below (rand, 12));
  add_hints (graph, rand);
  if (graph->input.n_groups == 0)
    graph->input.group = NULL;
}

static void
random_params (GRand *rand, GantryLayoutParams *params)
{
  gantry_layout_params_init (params);
  if (below (rand, 3))
    return;
  params->node_gap = (float) below (rand, 60);
  params->rank_gap = (float) below (rand, 60);
  params->lane_gap = (float) below (rand, 12);
  params->port_gap = (float) below (rand, 20);
  params->group_padding = (float) below (rand, 30);
  params->group_title = (float) below (rand, 30);
  params->fold = below (rand, 2) ? GANTRY_LAYOUT_FOLD_AUTO : GANTRY_LAYOUT_FOLD_NEVER;
}

/* What a query says it found. */
typedef struct
{
  guint8 *node;
  guint8 *group;
  guint8 *edge;
} Found;

static gboolean
note (GantryLayoutItemKind kind, guint32 index, gpointer user_data)
{
  Found *found = user_data;
  guint8 *mark = kind == GANTRY_LAYOUT_ITEM_NODE ? found->node : kind == GANTRY_LAYOUT_ITEM_GROUP ? found->group : found->edge;

  g_assert_cmpuint (mark[index], ==, 0);
  mark[index] = 1;
  return TRUE;
}

static gboolean
touches (const GantryLayoutBox *a, const GantryLayoutBox *b)
{
  return a->x <= b->x + b->width && b->x <= a->x + a->width && a->y <= b->y + b->height && b->y <= a->y + a->height;
}

static gboolean
edge_touches (const GantryLayout *layout, guint32 e, const GantryLayoutBox *area)
{
  for (guint32 i = layout->edge_first[e]; i + 1 < layout->edge_first[e + 1]; i++)
    {
      const GantryLayoutPoint *a = &layout->points[i];
      const GantryLayoutPoint *b = &layout->points[i + 1];
      GantryLayoutBox run = { MIN (a->x, b->x), MIN (a->y, b->y), fabsf (a->x - b->x), fabsf (a->y - b->y) };

      if (touches (&run, area))
        return TRUE;
    }
  return FALSE;
}

/* A query finds exactly what looking at everything finds, each once. */
static void
check_query (const GantryLayout *layout, GRand *rand)
{
  g_autofree guint8 *node = g_new0 (guint8, layout->n_nodes + 1);
  g_autofree guint8 *group = g_new0 (guint8, layout->n_groups + 1);
  g_autofree guint8 *edge = g_new0 (guint8, layout->n_edges + 1);
  Found found = { node, group, edge };
  GantryLayoutBox area = {
    (float) g_rand_double_range (rand, -50, layout->width + 50),
    (float) g_rand_double_range (rand, -50, layout->height + 50),
    (float) g_rand_double_range (rand, 0, 600),
    (float) g_rand_double_range (rand, 0, 600),
  };

  gantry_layout_query (layout, &area, note, &found);
  for (guint32 v = 0; v < layout->n_nodes; v++)
    g_assert_cmpint (node[v], ==, touches (&layout->node[v], &area));
  for (guint32 g = 0; g < layout->n_groups; g++)
    g_assert_cmpint (group[g], ==, touches (&layout->group[g], &area));
  for (guint32 e = 0; e < layout->n_edges; e++)
    g_assert_cmpint (edge[e], ==, edge_touches (layout, e, &area));
}

static void
check_pick (const GantryLayout *layout, GRand *rand)
{
  guint32 v = below (rand, layout->n_nodes);
  guint32 found = 0;

  if (layout->n_nodes == 0)
    return;
  const GantryLayoutBox *box = &layout->node[v];

  g_assert_cmpint (gantry_layout_pick (layout, box->x + box->width / 2, box->y + box->height / 2, 3, &found), ==, GANTRY_LAYOUT_ITEM_NODE);
  if (box->width > 0 && box->height > 0)
    g_assert_cmpuint (found, ==, v);
}

static void
test_random (gconstpointer data)
{
  guint32 begin = GPOINTER_TO_UINT (data), base = test_seed (0);

  for (guint32 seed = begin; seed < begin + N_GRAPHS / 10; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (base + seed);
      g_autoptr (GError) error = NULL;
      GantryLayoutParams params;
      Graph graph;

      g_test_message ("seed %u", seed);
      make_graph (&graph, rand);
      random_params (rand, &params);
      g_autoptr (GantryLayout) layout = gantry_layout_compute (&graph.input, &params, NULL, &error);
      g_autoptr (GantryLayout) again = gantry_layout_compute (&graph.input, &params, NULL, NULL);
      g_assert_no_error (error);
      layout_check (&graph.input, layout);
      layout_check_same (layout, again);
      for (guint i = 0; i < N_QUERIES; i++)
        check_query (layout, rand);
      check_pick (layout, rand);
      graph_clear (&graph);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < 10; i++)
    {
      g_autofree char *path = g_strdup_printf ("/layout/random/%u", i * N_GRAPHS / 10);

      g_test_add_data_func (path, GUINT_TO_POINTER (i * N_GRAPHS / 10), test_random);
    }
  return g_test_run ();
}
