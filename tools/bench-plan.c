/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures how soon a prediction follows a placement: one value is toggled between keep, recompute and offload, and the new
 * peak, step time and whole curve are there. On training steps of a transformer with Adam, made up with 10,000 and 100,000
 * nodes.
 *
 *   bench-plan [--runs=N] [--nodes=N] [--peer=TEXT]    a line for each figure: name, median, unit, least..most, peer
 *
 * One toggle is a copy of the table with one entry changed, and the prediction; from everything kept, from everything run
 * again, and from a mix. TEXT is what another compiler took for the smaller step with other placements.
 */
#include "core/graph/builder.h"
#include "core/planner/planner.h"
#include "tools/bench-figure.h"
#include "tools/bench-main.h"

#include <stdlib.h>

static int n_runs = 51;
static int n_nodes;
static char *peer_text;

static const GOptionEntry options[] = {
  { "runs", 0, 0, G_OPTION_ARG_INT, &n_runs, "How many toggles to measure", "N" },
  { "nodes", 0, 0, G_OPTION_ARG_INT, &n_nodes, "Only this size", "N" },
  { "peer", 0, 0, G_OPTION_ARG_STRING, &peer_text, "What another compiler took for the smaller step", "TEXT" },
  { NULL },
};

/* --- the step -------------------------------------------------------------------------------- */

enum
{
  N_WEIGHTS = 6
};

typedef struct
{
  guint32 x, q, k, v, s, p, a, r, h, g; /* what the backward phase reads */
} Layer;

typedef struct
{
  GantryBuilder *b;
  GantryContext *context;
  guint32 *weights, *states; /* N_WEIGHTS, and twice as many, for each layer */
  Layer *layers;
  GantryDim dims[2];
} Step;

static guint32
dot (Step *step, guint32 x, guint32 y, gint64 left, gint64 right)
{
  GantryAttrList *attrs = gantry_attr_list_new (step->context);
  const guint32 operands[2] = { x, y };

  gantry_attr_list_set_ints (attrs, "lhs_contracting_dimensions", &left, 1);
  gantry_attr_list_set_ints (attrs, "rhs_contracting_dimensions", &right, 1);
  return gantry_builder_add (step->b, GANTRY_OP_DOT_GENERAL, operands, 2, gantry_attr_list_end (attrs));
}

static guint32
rows (Step *step, const char *kind, guint32 x)
{
  const gint64 last = 1, first = 0;

  return gantry_builder_broadcast (step->b, gantry_builder_reduce (step->b, kind, x, &last, 1), 2, step->dims, &first);
}

static guint32
binary (Step *step, guint op, guint32 x, guint32 y)
{
  return gantry_builder_binary (step->b, op, x, y);
}

static guint32
forward (Step *step, guint32 x, const guint32 *w, Layer *layer)
{
  guint32 e;

  layer->x = x;
  layer->q = dot (step, x, w[0], 1, 0);
  layer->k = dot (step, x, w[1], 1, 0);
  layer->v = dot (step, x, w[2], 1, 0);
  layer->s = dot (step, layer->q, layer->k, 1, 1);
  e = binary (step, GANTRY_OP_SUBTRACT, layer->s, rows (step, "max", layer->s));
  e = gantry_builder_unary (step->b, GANTRY_OP_EXPONENTIAL, e);
  layer->p = binary (step, GANTRY_OP_DIVIDE, e, rows (step, "add", e));
  layer->a = dot (step, layer->p, layer->v, 1, 0);
  layer->r = binary (step, GANTRY_OP_ADD, x, dot (step, layer->a, w[3], 1, 0));
  layer->h = dot (step, layer->r, w[4], 1, 0);
  layer->g = gantry_builder_unary (step->b, GANTRY_OP_TANH, layer->h);
  return binary (step, GANTRY_OP_ADD, layer->r, dot (step, layer->g, w[5], 1, 0));
}

static guint32
backward (Step *step, guint32 dy, const guint32 *w, const Layer *layer, guint32 *dw)
{
  guint32 dg = dot (step, dy, w[5], 1, 1), dh, dr, da, dp, ds, dq, dk, dv;

  dw[5] = dot (step, layer->g, dy, 0, 0);
  dh = binary (step, GANTRY_OP_MULTIPLY, dg, binary (step, GANTRY_OP_MULTIPLY, layer->g, layer->g));
  dh = binary (step, GANTRY_OP_SUBTRACT, dg, dh);
  dw[4] = dot (step, layer->r, dh, 0, 0);
  dr = binary (step, GANTRY_OP_ADD, dy, dot (step, dh, w[4], 1, 1));
  da = dot (step, dr, w[3], 1, 1);
  dw[3] = dot (step, layer->a, dr, 0, 0);
  dp = dot (step, da, layer->v, 1, 1);
  dv = dot (step, layer->p, da, 0, 0);
  ds = binary (step, GANTRY_OP_MULTIPLY, layer->p, binary (step, GANTRY_OP_SUBTRACT, dp, rows (step, "add", binary (step, GANTRY_OP_MULTIPLY, dp, layer->p))));
  dq = dot (step, ds, layer->k, 1, 0);
  dk = dot (step, ds, layer->q, 0, 0);
  dw[0] = dot (step, layer->x, dq, 0, 0);
  dw[1] = dot (step, layer->x, dk, 0, 0);
  dw[2] = dot (step, layer->x, dv, 0, 0);
  return binary (
    step, GANTRY_OP_ADD, dr,
    binary (step, GANTRY_OP_ADD, dot (step, dq, w[0], 1, 1), binary (step, GANTRY_OP_ADD, dot (step, dk, w[1], 1, 1), dot (step, dv, w[2], 1, 1))));
}

/* New weight, then the two new states. */
static void
update (Step *step, guint32 w, const guint32 *state, guint32 dw, guint32 *results)
{
  guint32 small = gantry_builder_splat (step->b, GANTRY_F32, 0.001, 2, step->dims);
  guint32 m = binary (step, GANTRY_OP_SUBTRACT, dw, state[0]);
  guint32 v = binary (step, GANTRY_OP_SUBTRACT, binary (step, GANTRY_OP_MULTIPLY, dw, dw), state[1]);

  m = binary (step, GANTRY_OP_ADD, state[0], binary (step, GANTRY_OP_MULTIPLY, m, small));
  v = binary (step, GANTRY_OP_ADD, state[1], binary (step, GANTRY_OP_MULTIPLY, v, small));
  results[0] = binary (step, GANTRY_OP_SUBTRACT, w, binary (step, GANTRY_OP_DIVIDE, m, gantry_builder_unary (step->b, GANTRY_OP_SQRT, v)));
  results[1] = m;
  results[2] = v;
}

static guint32
parameter (Step *step, const char *role, gint64 alias)
{
  GantryAttrList *attrs = gantry_attr_list_new (step->context);

  gantry_attr_list_set_string (attrs, "role", role);
  if (alias >= 0)
    gantry_attr_list_set_int (attrs, "alias", alias);
  return gantry_builder_add_typed (step->b, GANTRY_OP_PARAMETER, NULL, 0, gantry_attr_list_end (attrs),
                                   gantry_context_tensor (step->context, GANTRY_F32, 2, step->dims));
}

static GantryModule *
make_step (guint n_layers, GError **error)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryBuilder) b = gantry_builder_new (context, "transformer");
  guint n = n_layers * N_WEIGHTS;
  g_autofree guint32 *weights = g_new (guint32, n), *states = g_new (guint32, 2 * n), *results = g_new (guint32, 3 * n);
  g_autofree guint32 *dw = g_new (guint32, n);
  g_autofree Layer *layers = g_new (Layer, n_layers);
  Step step = { b, context, weights, states, layers, { 64, 64 } };
  guint32 x, first;

  gantry_builder_begin (b, "main", 0);
  first = x = parameter (&step, "input", -1);
  for (guint i = 0; i < n; i++)
    {
      weights[i] = parameter (&step, "parameter", 3 * i);
      states[2 * i] = parameter (&step, "state", 3 * i + 1);
      states[2 * i + 1] = parameter (&step, "state", 3 * i + 2);
    }
  for (guint l = 0; l < n_layers; l++)
    x = forward (&step, x, &weights[l * N_WEIGHTS], &layers[l]);
  gantry_builder_set_phase (b, GANTRY_PHASE_BACKWARD);
  x = binary (&step, GANTRY_OP_SUBTRACT, x, first);
  for (guint l = n_layers; l-- > 0;)
    x = backward (&step, x, &weights[l * N_WEIGHTS], &layers[l], &dw[l * N_WEIGHTS]);
  gantry_builder_set_phase (b, GANTRY_PHASE_UPDATE);
  for (guint i = 0; i < n; i++)
    update (&step, weights[i], &states[2 * i], dw[i], &results[3 * i]);
  gantry_builder_end (b, results, 3 * n);
  return gantry_builder_finish (b, error);
}

/* --- figures --------------------------------------------------------------------------------- */

static void
print_figure (guint32 nodes, const char *name, double *values, int n, const char *unit, const char *peer)
{
  g_autofree char *full = g_strdup_printf ("plan.%u.%s", nodes, name);

  bench_print_figure (full, values, (guint) n, unit, peer);
}

static double
milliseconds_since (gint64 start)
{
  return (double) (g_get_monotonic_time () - start) / 1000;
}

/* The table to start from: @mix 0 all kept, 1 all run again or offloaded, else each third of both. */
static GantryPlacements *
table (const GantryPlanner *planner, guint mix)
{
  GantryPlacements *placements = gantry_placements_new ();
  guint n;
  const GantryCandidate *candidates = gantry_planner_candidates (planner, &n);

  for (guint i = 0; mix > 0 && i < n; i++)
    {
      GantryPlacement entry = { candidates[i].node, GANTRY_PLACEMENT_RECOMPUTE, GANTRY_DECIDED_BY_RULE, GANTRY_MEMORY_PINNED_HOST, candidates[i].subject };

      if (!(candidates[i].allowed & 1 << GANTRY_PLACEMENT_RECOMPUTE) || (mix == 2 && i % 3 == 1))
        entry.kind = GANTRY_PLACEMENT_OFFLOAD;
      if (mix == 1 || i % 3 > 0)
        gantry_placements_set (placements, &entry);
    }
  return placements;
}

static void
measure (GantryPlanner *planner, guint32 nodes, guint mix, const char *name, const char *peer)
{
  g_autoptr (GantryPlacements) base = table (planner, mix);
  g_autoptr (GantryPrediction) prediction = gantry_prediction_new ();
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  g_autofree double *times = g_new (double, n_runs);
  guint n;
  const GantryCandidate *candidates = gantry_planner_candidates (planner, &n);

  for (int i = 0; i < n_runs; i++)
    {
      const GantryCandidate *candidate = &candidates[g_rand_int_range (random, 0, (gint32) n)];
      guint kind = (guint) (gantry_placements_kind (base, candidate->node) + 1) % GANTRY_N_PLACEMENTS;
      gint64 start = g_get_monotonic_time ();
      g_autoptr (GantryPlacements) placements = gantry_placements_copy (base);
      const GantryPlacement entry = { candidate->node, (guint8) kind, GANTRY_DECIDED_BY_CLICK, GANTRY_MEMORY_PINNED_HOST, candidate->subject };

      gantry_placements_set (placements, &entry);
      gantry_planner_predict (planner, placements, prediction);
      times[i] = milliseconds_since (start);
    }
  print_figure (nodes, name, times, n_runs, "ms", peer);
}

static gboolean
bench (guint n_layers, const char *peer, GError **error)
{
  g_autoptr (GantryModule) module = make_step (n_layers, error);
  g_autoptr (GantryPlanner) planner = NULL;
  g_autoptr (GantryPlan) plan = NULL;
  g_autoptr (GantryPlacements) mix = NULL;
  gint64 start = g_get_monotonic_time ();
  double ms;

  if (module == NULL)
    return FALSE;
  planner = gantry_planner_new (module, NULL, NULL, error);
  if (planner == NULL)
    return FALSE;
  ms = milliseconds_since (start);
  print_figure (module->n_nodes, "new", &ms, 1, "ms", "not measured");
  measure (planner, module->n_nodes, 0, "toggle.kept", peer);
  measure (planner, module->n_nodes, 1, "toggle.moved", peer);
  measure (planner, module->n_nodes, 2, "toggle.mixed", peer);
  mix = table (planner, 2);
  start = g_get_monotonic_time ();
  plan = gantry_planner_plan (planner, mix, NULL, error);
  ms = milliseconds_since (start);
  if (plan != NULL)
    print_figure (module->n_nodes, "plan.mixed", &ms, 1, "ms", "not measured");
  return plan != NULL;
}

static gboolean
bench_sizes (GError **error)
{
  enum
  {
    NODES_OF_LAYER = 152
  };

  if (n_nodes > 0)
    return bench (MAX ((guint) n_nodes / NODES_OF_LAYER, 1), "not measured", error);
  return bench (10000 / NODES_OF_LAYER, peer_text != NULL ? peer_text : "not measured", error) && bench (100000 / NODES_OF_LAYER, "not measured", error);
}

int
main (int argc, char **argv)
{
  static const BenchLimit limits[] = { { "runs", &n_runs, 1, 100000 }, { "nodes", &n_nodes, 0, 10000000 }, { NULL } };
  int status = bench_main (argc, argv, "bench-plan", options, limits, bench_sizes);

  g_free (peer_text);
  return status;
}
