/* SPDX-License-Identifier: Apache-2.0 */
/* unroll-small: loops whose trips cost more than they are worth. Beside its kernels a trip costs what the loop itself does: kernels of one trip are
 * not one with those of the next, sums over trips are read and written in each, slices are found. Where that is a noticeable part of what a trip
 * computes and the program stays small, the loop is written out, whatever size is asked for otherwise; then it is the program that was never a loop.
 * Loops that walk along what others have stacked are decided together with these, inner ones before outer ones. What a machine was measured to do
 * plays no part: a session is the same program everywhere. */
#include "core/graph/operation.h"
#include "core/graph/region.h"
#include "core/passes/passes.h"
#include "core/passes/unroll-private.h"

/* What a trip costs beside its kernels, and the rates of one core that kernels' times are estimated by: orders of magnitude. */
#define TRIP_US 0.5
#define CORE_FLOPS 5e10
#define CORE_BANDWIDTH 1e10
/* Parts of the time that are noticed, and nodes that are few: a twentieth, and a tenth of what is written out without asking. */
#define LEAST_PART 0.05
#define MOST_NODES (GANTRY_PASS_MOST_UNROLLED / 10)
#define MANY (G_MAXINT64 >> 8)
#define MOST_DEPTH 64

/* What there is to know of a function: how long it takes, and how many nodes it is with its small loops written out. */
typedef struct
{
  double us;
  gint64 nodes;
  gboolean stays; /* something of it cannot be written out here */
} Weight;

/* A loop with what belongs to it. */
typedef struct
{
  guint32 position;
  guint32 group; /* index of the first loop that it belongs to */
  gint64 trips;
  Weight trip, all; /* @all: of the first one, over its group */
} Loop;

typedef struct
{
  const GantryModule *module;
  GHashTable *weights; /* by function id: Weight */
  guint8 *small;       /* by position: a loop that is written out */
  gint64 most;         /* nodes beyond which a loop would stay one */
  gboolean any;
} Search;

static void weigh (Search *search, guint32 function, guint depth, Weight *weight);

static gint64
times (gint64 n, gint64 trips)
{
  return trips > 0 && n > MANY / trips ? MANY : n * trips;
}

static double
estimate_us (const GantryModule *module, const GantryNode *node)
{
  const GantryOpInfo *info = gantry_op_info (node->op);

  if (info != NULL && (info->flags & (GANTRY_OP_STRUCTURE | GANTRY_OP_VIEW)) != 0)
    return 0;
  return 1e6 * MAX (gantry_node_seconds (module, node, CORE_FLOPS, NULL), (double) MAX (gantry_node_bytes (module, node), 0) / CORE_BANDWIDTH);
}

/* What the functions that @control names do in one trip, or all arms. */
static void
weigh_regions (Search *search, const GantryControl *control, guint depth, Weight *weight)
{
  for (guint r = 0; r < control->n_regions; r++)
    {
      Weight region;

      weigh (search, control->functions[r], depth + 1, &region);
      weight->us += region.us;
      weight->nodes = MIN (weight->nodes + region.nodes, MANY);
      weight->stays = weight->stays || region.stays;
    }
}

static gboolean
is_in_host (const GantryModule *module, const GantryNode *node)
{
  for (guint i = 0; i < node->n_operands; i++)
    if (gantry_node_operand_type (module, node, i)->memory != GANTRY_MEMORY_DEVICE)
      return TRUE;
  return FALSE;
}

/* The loop that operand @i of @node is a stack of. Returns: (nullable) */
static Loop *
maker_of (const Search *search, GArray *loops, const GantryNode *node, guint i)
{
  const GantryNode *operand = gantry_node_operand (search->module, node, i);
  guint32 position;

  if (operand->op == GANTRY_OP_RESULT)
    operand = gantry_node_operand (search->module, operand, 0);
  position = operand->op == GANTRY_OP_SCAN ? gantry_module_position (search->module, operand) : G_MAXUINT32;
  for (guint k = 0; position != G_MAXUINT32 && k < loops->len; k++)
    if (g_array_index (loops, Loop, k).position == position)
      return &g_array_index (loops, Loop, k);
  return NULL;
}

static void
join (GArray *loops, guint32 a, guint32 b)
{
  for (guint k = 0; k < loops->len; k++)
    if (g_array_index (loops, Loop, k).group == MAX (a, b))
      g_array_index (loops, Loop, k).group = MIN (a, b);
}

static void
add_loop (Search *search, const GantryNode *node, const GantryControl *control, guint depth, GArray *loops)
{
  Loop loop = { .position = gantry_module_position (search->module, node), .group = loops->len, .trips = MAX (control->trips, 0) };

  loop.trip.stays = is_in_host (search->module, node);
  weigh_regions (search, control, depth, &loop.trip);
  loop.trip.nodes += control->n_xs + control->n_ys;
  g_array_append_val (loops, loop);
  for (guint i = control->first + control->n_carries; i < control->first + control->n_carries + control->n_xs; i++)
    {
      const Loop *maker = maker_of (search, loops, node, i);

      if (maker != NULL && maker->trips == loop.trips)
        join (loops, maker->group, g_array_index (loops, Loop, loops->len - 1).group);
    }
}

/* Which of @loops, of one function, are small. */
static void
decide (Search *search, GArray *loops)
{
  for (guint k = 0; k < loops->len; k++)
    {
      const Loop *loop = &g_array_index (loops, Loop, k);
      Weight *all = &g_array_index (loops, Loop, loop->group).all;
      gint64 nodes = times (loop->trip.nodes, loop->trips);

      all->us += (double) loop->trips * (loop->trip.us - TRIP_US / LEAST_PART);
      all->nodes = MIN (all->nodes + nodes, MANY);
      all->stays = all->stays || loop->trip.stays;
    }
  for (guint k = 0; k < loops->len; k++)
    {
      const Loop *loop = &g_array_index (loops, Loop, k);
      const Weight *all = &g_array_index (loops, Loop, loop->group).all;
      gboolean small = !all->stays && all->us <= 0 && all->nodes <= MOST_NODES && all->nodes > search->most;

      search->small[loop->position] = small;
      search->any = search->any || small;
    }
}

static void
add_loops (const Search *search, GArray *loops, Weight *weight)
{
  for (guint k = 0; k < loops->len; k++)
    {
      const Loop *loop = &g_array_index (loops, Loop, k);
      gboolean small = search->small[loop->position];

      weight->us += (double) loop->trips * (loop->trip.us + (small ? 0 : TRIP_US));
      weight->nodes = MIN (weight->nodes + (small ? times (loop->trip.nodes, loop->trips) : 1), MANY);
      weight->stays = weight->stays || loop->trip.stays;
    }
}

static void
weigh_nodes (Search *search, const GantryFunction *function, guint depth, GArray *loops, Weight *weight)
{
  for (guint32 i = function->n_params; i < function->n_nodes; i++)
    {
      const GantryNode *node = &search->module->nodes[function->first_node + i];
      GantryControl control;

      weight->stays = weight->stays || gantry_node_type (search->module, node)->memory != GANTRY_MEMORY_DEVICE;
      if (gantry_node_is_control (node) && gantry_control_of (search->module, node, &control))
        {
          if (control.kind == GANTRY_CONTROL_SCAN)
            add_loop (search, node, &control, depth, loops);
          else
            weigh_regions (search, &control, depth, weight);
          weight->stays = weight->stays || control.kind == GANTRY_CONTROL_WHILE; /* it would be planned as often */
          continue;
        }
      weight->us += estimate_us (search->module, node);
      weight->nodes = MIN (weight->nodes + 1, MANY);
    }
}

static void
weigh (Search *search, guint32 function, guint depth, Weight *weight)
{
  const GantryFunction *of = gantry_module_function (search->module, function);
  const Weight *known = g_hash_table_lookup (search->weights, GUINT_TO_POINTER (function));
  g_autoptr (GArray) loops = NULL;

  *weight = known != NULL ? *known : (Weight){ .stays = depth >= MOST_DEPTH };
  if (known != NULL || depth >= MOST_DEPTH)
    return;
  loops = g_array_new (FALSE, TRUE, sizeof (Loop));
  weigh_nodes (search, of, depth, loops, weight);
  decide (search, loops);
  add_loops (search, loops, weight);
  g_hash_table_insert (search->weights, GUINT_TO_POINTER (function), g_memdup2 (weight, sizeof *weight));
}

static gboolean
wants (const GantryExpander *e, const GantryNode *node)
{
  return e->small[gantry_module_position (e->source, node)] != 0;
}

static GantryModule *
run (GantryModule *module, const GantryPassOptions *options, const GantryProgress *progress, GError **error)
{
  g_autofree guint8 *small = g_new0 (guint8, module->n_nodes + (gsize) 1);
  g_autoptr (GHashTable) weights = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  Search search = { .module = module, .weights = weights, .small = small };
  GantryExpander expander = { .wants = wants, .expand = _gantry_unroll_scan, .defers = TRUE, .max_nodes = options->max_nodes, .small = small };
  Weight whole;

  search.most = options->most_unrolled != 0 ? options->most_unrolled : GANTRY_PASS_MOST_UNROLLED;
  weigh (&search, gantry_module_entry (module)->id, 0, &whole);
  return search.any ? _gantry_expand (module, &expander, progress, error) : gantry_module_ref (module);
}

const GantryPass gantry_pass_unroll_small = {
  .name = "unroll-small",
  .title = "Unroll small loops",
  .description = "Writes loops out whose trips cost a noticeable part of the time that their kernels take, where the program stays small.",
  .needs = GANTRY_PROPERTY_CORE,
  .keeps = GANTRY_PROPERTY_CORE,
  .run = run,
};
