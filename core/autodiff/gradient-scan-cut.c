/* SPDX-License-Identifier: Apache-2.0 */
/* Which values of an iteration a scan saves for its backward scan: those of the fewest bytes from which all that the backward body reads
 * can be computed again by cheap operations. They are a minimum cut of the forward body, between what cannot be computed again
 * (carries, products, sums) and what the backward body reads, where a value costs its bytes; xs and captures are there anyway and cost
 * nothing. The maximum flow is found by shortest augmenting paths of equal length at a time (Dinitz, Algorithm for solution of a problem
 * of maximum flow in networks with power estimation, 1970). Of several cuts the one nearest to the readers is taken: it computes least
 * again. */
#include "core/autodiff/gradient-private.h"
#include "core/graph/operation.h"
#include <string.h>

#define UNLIMITED (G_MAXUINT64 / 4)
#define NOWHERE G_MAXUINT32

/** An edge and, at the next index, its reverse. */
typedef struct
{
  guint32 to, next; /* next: edge of the same vertex, or NOWHERE */
  guint64 room;     /* capacity that is left */
} Edge;

typedef struct
{
  guint32 n; /* vertices: an entry (2 i) and an exit (2 i + 1) of each node, then source and sink */
  guint32 *first, *at, *level, *queue, *path;
  GArray *edges;
} Network;

static void
network_clear (Network *network)
{
  g_free (network->first);
  g_free (network->at);
  g_free (network->level);
  g_free (network->queue);
  g_free (network->path);
  g_clear_pointer (&network->edges, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Network, network_clear)

static Network
network_new (guint32 n)
{
  Network network = { .n = n,
                      .first = g_new (guint32, n),
                      .at = g_new (guint32, n),
                      .level = g_new (guint32, n),
                      .queue = g_new (guint32, n),
                      .path = g_new (guint32, n),
                      .edges = g_array_new (FALSE, FALSE, sizeof (Edge)) };

  memset (network.first, 0xff, n * sizeof *network.first);
  return network;
}

static Edge *
edge_at (const Network *network, guint32 index)
{
  return &g_array_index (network->edges, Edge, index);
}

static void
connect (Network *network, guint32 from, guint32 to, guint64 room)
{
  Edge edge = { to, network->first[from], room }, back = { from, network->first[to], 0 };

  network->first[from] = network->edges->len;
  g_array_append_val (network->edges, edge);
  network->first[to] = network->edges->len;
  g_array_append_val (network->edges, back);
}

/* Levels by distance from @source. Returns: is @sink reached? */
static gboolean
find_levels (Network *network, guint32 source, guint32 sink)
{
  guint32 n = 0;

  memset (network->level, 0xff, network->n * sizeof *network->level);
  network->level[source] = 0;
  network->queue[n++] = source;
  for (guint32 i = 0; i < n; i++)
    for (guint32 e = network->first[network->queue[i]]; e != NOWHERE; e = edge_at (network, e)->next)
      {
        const Edge *edge = edge_at (network, e);

        if (edge->room == 0 || network->level[edge->to] != NOWHERE)
          continue;
        network->level[edge->to] = network->level[network->queue[i]] + 1;
        network->queue[n++] = edge->to;
      }
  return network->level[sink] != NOWHERE;
}

/* Pushes what the path of @length edges has room for. Returns: edges of it before the first that is full now */
static guint32
push (Network *network, guint32 length)
{
  guint64 room = G_MAXUINT64;
  guint32 full = length;

  for (guint32 i = 0; i < length; i++)
    room = MIN (room, edge_at (network, network->path[i])->room);
  for (guint32 i = length; i-- > 0;)
    {
      Edge *edge = edge_at (network, network->path[i]);

      edge->room -= room;
      edge_at (network, network->path[i] ^ 1)->room += room;
      if (edge->room == 0)
        full = i;
    }
  return full;
}

/* All augmenting paths of the length that the levels say; walked without recursion, for a body may be one long chain. */
static void
push_level (Network *network, guint32 source, guint32 sink)
{
  guint32 length = 0, here = source;

  memcpy (network->at, network->first, network->n * sizeof *network->at);
  for (;;)
    {
      guint32 e = network->at[here];

      if (here == sink)
        {
          length = push (network, length);
          here = edge_at (network, network->path[length] ^ 1)->to;
        }
      else if (e == NOWHERE && length == 0)
        return;
      else if (e == NOWHERE)
        {
          here = edge_at (network, network->path[--length] ^ 1)->to;
          network->at[here] = edge_at (network, network->at[here])->next;
        }
      else if (edge_at (network, e)->room == 0 || network->level[edge_at (network, e)->to] != network->level[here] + 1)
        network->at[here] = edge_at (network, e)->next;
      else
        {
          network->path[length++] = e;
          here = edge_at (network, e)->to;
        }
    }
}

/* Marks in @level (0) the vertices from which @sink can still be reached. */
static void
find_sink_side (Network *network, guint32 sink)
{
  guint32 n = 0;

  memset (network->level, 0xff, network->n * sizeof *network->level);
  network->level[sink] = 0;
  network->queue[n++] = sink;
  for (guint32 i = 0; i < n; i++)
    for (guint32 e = network->first[network->queue[i]]; e != NOWHERE; e = edge_at (network, e)->next)
      {
        guint32 from = edge_at (network, e)->to;

        if (edge_at (network, e ^ 1)->room == 0 || network->level[from] != NOWHERE)
          continue;
        network->level[from] = 0;
        network->queue[n++] = from;
      }
}

/* Elementwise work, views and moves. What a name or a barrier stands at is what the user wants to see kept. */
static gboolean
is_cheap (const GantryNode *node)
{
  const GantryOpInfo *info = gantry_op_info (node->op);

  switch (node->op)
    {
    case GANTRY_OP_CONSTANT:
    case GANTRY_OP_IOTA: return TRUE;
    case GANTRY_OP_CHECKPOINT_NAME:
    case GANTRY_OP_OPTIMIZATION_BARRIER:
    case GANTRY_OP_COPY: return FALSE;
    default: return (info->flags & GANTRY_OP_EXTERN) == 0 && (info->op_class == GANTRY_CLASS_MOVEMENT || info->op_class == GANTRY_CLASS_ELEMENTWISE);
    }
}

/* Of equally large values what was computed is saved rather than another view of it. */
static guint64
cost_of (const GantryScanPlan *plan, const GantryNode *node)
{
  gboolean is_view = gantry_op_info (node->op)->op_class == GANTRY_CLASS_MOVEMENT;

  for (guint i = 0; i < plan->scan.n_ys; i++)
    if (plan->joint->results[plan->scan.n_carries + i] == node->id)
      return 1; /* the scan gives it anyway */
  if (gantry_node_type (plan->joint->module, node)->kind == GANTRY_TYPE_TUPLE)
    return UNLIMITED; /* its members are values */
  return 2 * (guint64) MAX (gantry_type_bytes (gantry_node_type (plan->joint->module, node)), 1) + is_view;
}

/* Node @i of the forward body. */
static void
connect_node (Network *network, const GantryScanPlan *plan, guint32 i, guint32 source, guint32 sink)
{
  const GantryModule *module = plan->joint->module;
  const GantryNode *node = &module->nodes[i];
  gboolean is_parameter = node->op == GANTRY_OP_PARAMETER;

  if (is_parameter && i >= plan->scan.n_carries)
    return; /* an x or a capture */
  connect (network, 2 * i, 2 * i + 1, cost_of (plan, node));
  if (plan->live[i])
    connect (network, 2 * i + 1, sink, UNLIMITED);
  if (is_parameter || !is_cheap (node))
    connect (network, source, 2 * i, UNLIMITED);
  else
    for (guint k = 0; k < node->n_operands; k++)
      connect (network, 2 * gantry_module_position (module, gantry_node_operand (module, node, k)) + 1, 2 * i, UNLIMITED);
}

guint8 *
_gantry_scan_choose_saved (const GantryScanPlan *plan)
{
  const GantryModule *module = plan->joint->module;
  guint32 n = gantry_module_entry (module)->n_nodes, source = 2 * n, sink = 2 * n + 1;
  g_auto (Network) network = network_new (2 * n + 2);
  guint8 *saved = g_new0 (guint8, n + 1);

  for (guint32 i = 0; i < n; i++)
    if (_gantry_scan_is_forward (plan, &module->nodes[i]))
      connect_node (&network, plan, i, source, sink);
  while (find_levels (&network, source, sink))
    push_level (&network, source, sink);
  find_sink_side (&network, sink);
  for (guint32 i = 0; i < n; i++)
    saved[i] = network.level[2 * i] == NOWHERE && network.level[2 * i + 1] == 0;
  return saved;
}
