/* SPDX-License-Identifier: Apache-2.0 */
/* Random training steps under random placements: whatever is kept, run again or moved, the results are those of the
 * evaluator bit for bit, however the queues run, and every promise of a plan holds. */
#include "core/base/error.h"
#include "core/plan/plan-alive.h"
#include "core/planner/planner.h"
#include "tests/core/planner/plan-machine.h"
#include "tests/random-seed.h"
#include <string.h>

#define ROWS 4
#define COLUMNS 16

typedef struct
{
  GRand *random;
  GantryContext *context;
  GantryBuilder *builder;
  GArray *forward;   /* f32[4,16] */
  GArray *weights;   /* f32[16,16]: parameters, or slices of a stacked one */
  GArray *gradients; /* f32[16,16]: of those */
  GArray *results;
  guint32 seed;  /* u64[2] */
  guint32 stack; /* f32[n,16,16] */
  guint n_layers;
} Maker;

static guint32
pick (Maker *maker, GArray *from)
{
  /* Late ones more often than early ones. */
  guint a = (guint) g_rand_int_range (maker->random, 0, (gint) from->len), b = (guint) g_rand_int_range (maker->random, 0, (gint) from->len);

  return g_array_index (from, guint32, g_rand_boolean (maker->random) ? a : MAX (a, b));
}

static gboolean
chance (Maker *maker, double p)
{
  return g_rand_double (maker->random) < p;
}

static guint32
parameter (Maker *maker, const char *role, gint alias, guint rank, const GantryDim *dims, gboolean host)
{
  GantryAttrList *attrs = gantry_attr_list_new (maker->context);
  guint32 type = gantry_context_tensor_in (maker->context, GANTRY_F32, rank, dims, host ? GANTRY_MEMORY_PINNED_HOST : GANTRY_MEMORY_DEVICE);

  if (role != NULL)
    gantry_attr_list_set_string (attrs, "role", role);
  if (alias >= 0)
    gantry_attr_list_set_int (attrs, "alias", alias);
  return gantry_builder_add_typed (maker->builder, GANTRY_OP_PARAMETER, NULL, 0, gantry_attr_list_end (attrs), type);
}

static guint32
copy_to (Maker *maker, guint32 x, const char *memory)
{
  GantryAttrList *attrs = gantry_attr_list_new (maker->context);

  gantry_attr_list_set_string (attrs, "memory", memory);
  return gantry_builder_add (maker->builder, GANTRY_OP_COPY, &x, 1, gantry_attr_list_end (attrs));
}

static guint32
dot (Maker *maker, guint32 x, guint32 y, gint64 left, gint64 right)
{
  GantryAttrList *attrs = gantry_attr_list_new (maker->context);
  guint32 operands[2] = { x, y };

  gantry_attr_list_set_ints (attrs, "lhs_contracting_dimensions", &left, 1);
  gantry_attr_list_set_ints (attrs, "rhs_contracting_dimensions", &right, 1);
  return gantry_builder_add (maker->builder, GANTRY_OP_DOT_GENERAL, operands, 2, gantry_attr_list_end (attrs));
}

static guint32
named (Maker *maker, guint32 x)
{
  GantryAttrList *attrs = gantry_attr_list_new (maker->context);

  gantry_attr_list_set_string (attrs, "name", "x");
  return gantry_builder_add (maker->builder, GANTRY_OP_CHECKPOINT_NAME, &x, 1, gantry_attr_list_end (attrs));
}

/* Random bits as numbers; the state goes on to the next. */
static guint32
noise (Maker *maker)
{
  GantryAttrList *attrs = gantry_attr_list_new (maker->context);
  const gint64 shape[2] = { ROWS, COLUMNS };
  guint32 both;

  gantry_attr_list_set_ints (attrs, "shape", shape, 2);
  gantry_attr_list_set_type (attrs, "to", gantry_context_scalar (maker->context, GANTRY_U32));
  both = gantry_builder_add (maker->builder, GANTRY_OP_RNG_BIT_GENERATOR, &maker->seed, 1, gantry_attr_list_end (attrs));
  maker->seed = gantry_builder_result (maker->builder, both, 0);
  return gantry_builder_convert (maker->builder, gantry_builder_result (maker->builder, both, 1), GANTRY_F32);
}

static guint32
halves (Maker *maker, guint32 x)
{
  static const gint64 start[2][2] = { { 0, 0 }, { 2, 0 } }, limit[2][2] = { { 2, COLUMNS }, { 4, COLUMNS } };
  static const gint64 stride[2] = { 1, 1 };
  guint32 parts[2];

  for (guint i = 0; i < 2; i++)
    parts[i] = gantry_builder_slice (maker->builder, x, start[i], limit[i], stride);
  if (chance (maker, 0.5))
    parts[0] = gantry_builder_unary (maker->builder, GANTRY_OP_NEGATE, parts[0]);
  if (chance (maker, 0.3))
    parts[1] = parts[0];
  return gantry_builder_concatenate (maker->builder, parts, 2, 0);
}

static guint32
forward_node (Maker *maker, GArray *from)
{
  static const guint unary[] = { GANTRY_OP_TANH, GANTRY_OP_NEGATE, GANTRY_OP_ABS }, binary[] = { GANTRY_OP_ADD, GANTRY_OP_MULTIPLY, GANTRY_OP_MAXIMUM };
  static const GantryDim flat[1] = { ROWS * COLUMNS }, shape[2] = { ROWS, COLUMNS };
  static const gint64 axis[1] = { 1 }, rows[1] = { 0 };
  GantryBuilder *builder = maker->builder;
  guint32 x = pick (maker, from), y = pick (maker, from);

  switch (g_rand_int_range (maker->random, 0, 12))
    {
    case 0:
    case 1: return gantry_builder_unary (builder, unary[g_rand_int_range (maker->random, 0, 3)], x);
    case 2:
    case 3: return gantry_builder_binary (builder, binary[g_rand_int_range (maker->random, 0, 3)], x, y);
    case 4:
    case 5:
    case 6: return dot (maker, x, pick (maker, maker->weights), 1, 0);
    case 7:
      x = gantry_builder_reshape (builder, x, 1, flat);
      x = gantry_builder_unary (builder, GANTRY_OP_TANH, x);
      return gantry_builder_reshape (builder, x, 2, shape);
    case 8: return halves (maker, x);
    case 9: return named (maker, x);
    case 10: y = gantry_builder_reduce (builder, "add", x, axis, 1); return gantry_builder_broadcast (builder, y, 2, shape, rows);
    default:
      return chance (maker, 0.4)   ? noise (maker)
             : chance (maker, 0.4) ? copy_to (maker, copy_to (maker, x, "pinned_host"), "device")
             : chance (maker, 0.3) ? copy_to (maker, copy_to (maker, copy_to (maker, x, "pinned_host"), "unpinned_host"), "device")
             : chance (maker, 0.2) ? copy_to (maker, x, "device")
                                   : gantry_builder_add (builder, GANTRY_OP_OPTIMIZATION_BARRIER, &x, 1, 0);
    }
}

static void
make_parameters (Maker *maker, guint n_single, gboolean host)
{
  const GantryDim x[2] = { ROWS, COLUMNS }, w[2] = { COLUMNS, COLUMNS }, stacked[3] = { maker->n_layers, COLUMNS, COLUMNS };
  const GantryDim two[1] = { 2 };
  guint32 id;

  id = parameter (maker, NULL, -1, 2, x, FALSE);
  g_array_append_val (maker->forward, id);
  maker->seed = gantry_builder_parameter (maker->builder, gantry_context_tensor (maker->context, GANTRY_U64, 1, two), "seed");
  /* Results 0 .. n_single - 1 are the new weights, then their states, then the stack. */
  for (guint i = 0; i < n_single; i++)
    {
      id = parameter (maker, "parameter", (gint) i, 2, w, host && chance (maker, 0.5));
      g_array_append_val (maker->weights, id);
    }
  for (guint i = 0; i < n_single; i++)
    parameter (maker, "state", (gint) (n_single + i), 2, w, host && chance (maker, 0.5));
  maker->stack = parameter (maker, "parameter", chance (maker, 0.7) ? (gint) (2 * n_single) : -1, 3, stacked, host && chance (maker, 0.5));
}

static void
slice_stack (Maker *maker)
{
  const GantryDim w[2] = { COLUMNS, COLUMNS };

  for (guint i = 0; i < maker->n_layers; i++)
    {
      const gint64 start[3] = { i, 0, 0 }, limit[3] = { i + 1, COLUMNS, COLUMNS }, stride[3] = { 1, 1, 1 };
      guint32 id = gantry_builder_slice (maker->builder, maker->stack, start, limit, stride);

      id = gantry_builder_reshape (maker->builder, id, 2, w);
      g_array_append_val (maker->weights, id);
    }
}

static void
make_backward (Maker *maker, guint n)
{
  GantryBuilder *builder = maker->builder;
  g_autoptr (GArray) pool = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint32 g = gantry_builder_unary (builder, GANTRY_OP_NEGATE, pick (maker, maker->forward));

  g_array_append_val (pool, g);
  for (guint i = 0; i < n; i++)
    {
      guint32 x = pick (maker, pool);

      x = chance (maker, 0.3)   ? dot (maker, x, pick (maker, maker->weights), 1, 1)
          : chance (maker, 0.3) ? forward_node (maker, pool)
                                : gantry_builder_binary (builder, GANTRY_OP_MULTIPLY, x, pick (maker, maker->forward));
      g_array_append_val (pool, x);
    }
  for (guint i = 0; i < maker->weights->len; i++)
    {
      guint32 x = dot (maker, pick (maker, maker->forward), pick (maker, pool), 0, 0);

      g_array_append_val (maker->gradients, x);
    }
}

static void
make_update (Maker *maker, guint n_single)
{
  GantryBuilder *builder = maker->builder;
  const GantryDim w[2] = { COLUMNS, COLUMNS }, one[3] = { 1, COLUMNS, COLUMNS };
  guint32 rate = gantry_builder_splat (builder, GANTRY_F32, 0.125, 2, w), states[8], parts[8];
  const GantryDim stacked[3] = { maker->n_layers, COLUMNS, COLUMNS };

  gantry_builder_set_phase (builder, GANTRY_PHASE_UPDATE);
  for (guint i = 0; i < n_single; i++)
    {
      guint32 weight = g_array_index (maker->weights, guint32, i), state = 0, fresh;

      /* Parameters stand in order; the states follow the weights. */
      state = weight + n_single;
      states[i] = gantry_builder_binary (builder, GANTRY_OP_ADD, gantry_builder_binary (builder, GANTRY_OP_MULTIPLY, state, rate),
                                         g_array_index (maker->gradients, guint32, i));
      fresh = gantry_builder_binary (builder, GANTRY_OP_SUBTRACT, weight, gantry_builder_binary (builder, GANTRY_OP_MULTIPLY, states[i], rate));
      if (chance (maker, 0.1)) /* what is donated is still read afterwards */
        fresh = gantry_builder_binary (builder, GANTRY_OP_ADD, dot (maker, fresh, weight, 1, 0), fresh);
      g_array_append_val (maker->results, fresh);
      /* As programs that offload write it; also to where the argument is not. */
      if (chance (maker, 0.2))
        states[i] = copy_to (maker, states[i], "pinned_host");
    }
  g_array_append_vals (maker->results, states, n_single);
  for (guint i = 0; i < maker->n_layers; i++)
    {
      parts[i] = g_array_index (maker->gradients, guint32, n_single + i);
      if (chance (maker, 0.8))
        parts[i] = gantry_builder_binary (builder, GANTRY_OP_SUBTRACT, g_array_index (maker->weights, guint32, n_single + i),
                                          gantry_builder_binary (builder, GANTRY_OP_MULTIPLY, parts[i], rate));
      parts[i] = gantry_builder_reshape (builder, parts[i], 3, one);
    }
  parts[0] = gantry_builder_concatenate (builder, parts, maker->n_layers, 0);
  if (chance (maker, 0.3))
    parts[0] = gantry_builder_binary (
      builder, GANTRY_OP_SUBTRACT, maker->stack,
      gantry_builder_binary (builder, GANTRY_OP_MULTIPLY, parts[0], gantry_builder_splat (builder, GANTRY_F32, 0.5, 3, stacked)));
  g_array_append_val (maker->results, parts[0]);
}

static GantryModule *
random_step (GRand *random)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "step");
  g_autoptr (GArray) forward = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) weights = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) gradients = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) results = g_array_new (FALSE, FALSE, sizeof (guint32));
  Maker maker = { random, context, builder, forward, weights, gradients, results };
  guint n_single = (guint) g_rand_int_range (random, 1, 4), n = (guint) g_rand_int_range (random, 2, 25);
  g_autoptr (GError) error = NULL;
  GantryModule *module;

  maker.n_layers = (guint) g_rand_int_range (random, 1, 4);
  gantry_builder_begin (builder, "main", 0);
  make_parameters (&maker, n_single, chance (&maker, 0.2));
  slice_stack (&maker);
  for (guint i = 0; i < n; i++)
    {
      guint32 id = forward_node (&maker, forward);

      g_array_append_val (forward, id);
    }
  gantry_builder_set_phase (builder, GANTRY_PHASE_BACKWARD);
  make_backward (&maker, n);
  make_update (&maker, n_single);
  for (guint i = 0; i < 2; i++)
    if (chance (&maker, 0.5))
      {
        guint32 id = pick (&maker, forward);

        if (chance (&maker, 0.3))
          id = copy_to (&maker, id, chance (&maker, 0.5) ? "pinned_host" : "unpinned_host");
        if (chance (&maker, 0.2))
          id = copy_to (&maker, id, chance (&maker, 0.5) ? "device" : "unpinned_host");
        g_array_append_val (results, id);
      }
  gantry_builder_end (builder, (const guint32 *) (const void *) results->data, results->len);
  module = gantry_builder_finish (builder, &error);
  g_assert_no_error (error);
  return module;
}

static GantryPlacements *
random_placements (GRand *random, const GantryPlanner *planner)
{
  GantryPlacements *placements = gantry_placements_new ();
  double keep = g_rand_double (random), offload = g_rand_double (random);
  double fewer = g_rand_boolean (random) ? g_rand_double (random) : 0;
  guint n;
  const GantryCandidate *candidates = gantry_planner_candidates (planner, &n);

  for (guint i = 0; i < n; i++)
    {
      GantryPlacement placement = { candidates[i].node, GANTRY_PLACEMENT_RECOMPUTE, GANTRY_DECIDED_BY_CLICK, GANTRY_MEMORY_PINNED_HOST, candidates[i].subject };

      if (g_rand_double (random) < keep)
        continue;
      if (g_rand_double (random) < offload || !(candidates[i].allowed & 1 << GANTRY_PLACEMENT_RECOMPUTE))
        placement.kind = GANTRY_PLACEMENT_OFFLOAD;
      if (g_rand_double (random) < fewer)
        {
          GantryPlacementKind kind = g_rand_boolean (random) ? GANTRY_PLACEMENT_BF16 : GANTRY_PLACEMENT_INT8;

          placement.kind = candidates[i].allowed >> kind & 1 ? kind : placement.kind;
        }
      if (g_rand_double (random) < 0.1)
        placement.memory = GANTRY_MEMORY_UNPINNED_HOST;
      gantry_placements_set (placements, &placement);
    }
  return placements;
}

static void
set_schedule (GantryPlacements *placements, const GArray *entries)
{
  gantry_placements_set_schedule (placements, (const GantryScheduleEntry *) (gpointer) entries->data, entries->len);
}

/* Adds a spill, a release and a prefetch of @node anywhere behind its work, where such a schedule can be followed. */
static void
add_copies (GRand *random, GantryPlanner *planner, guint32 node, GantryPlacements *placements, GArray *entries)
{
  g_autoptr (GantryPrediction) prediction = gantry_prediction_new ();
  guint n_problems;

  gantry_planner_predict (planner, placements, prediction);
  n_problems = prediction->n_problems;
  for (guint try = 0; try < 20; try++)
    {
      g_autoptr (GArray) with = g_array_copy (entries);
      guint at = 0;

      while (at < with->len && g_array_index (with, GantryScheduleEntry, at).node != node)
        at++;
      for (guint32 action = GANTRY_SCHEDULE_SPILL; action < GANTRY_N_SCHEDULE_ACTIONS && at < with->len; action++)
        {
          at = (guint) g_rand_int_range (random, (gint) at + 1, (gint) MIN (at + 6, with->len) + 1);
          g_array_insert_val (with, at, ((GantryScheduleEntry){ node, action }));
        }
      set_schedule (placements, with);
      gantry_planner_predict (planner, placements, prediction);
      if (at < with->len && prediction->n_problems == n_problems)
        {
          g_array_set_size (entries, 0);
          g_array_append_vals (entries, with->data, with->len);
          return;
        }
    }
  set_schedule (placements, entries);
}

/* Copies of some of what @placements offload. */
static void
add_some_copies (GRand *random, GantryPlanner *planner, GantryPlacements *placements, GArray *entries)
{
  guint n;
  const GantryCandidate *candidates = gantry_planner_candidates (planner, &n);

  for (guint c = 0; c < n; c++)
    if (candidates[c].subject == GANTRY_SUBJECT_RESIDUAL && g_rand_boolean (random)
        && gantry_placements_kind (placements, candidates[c].node) == GANTRY_PLACEMENT_OFFLOAD)
      add_copies (random, planner, candidates[c].node, placements, entries);
}

static guint
count_copies (const GantryPlacements *placements)
{
  guint n = 0;

  for (guint i = 0; i < placements->schedule->len; i++)
    n += g_array_index (placements->schedule, GantryScheduleEntry, i).action == GANTRY_SCHEDULE_PREFETCH;
  return n;
}

/* The works of @plan in its order, some of them once more somewhere later, and copies of what is offloaded. */
static void
add_schedule (GRand *random, GantryModule *module, GantryPlanner *planner, const GantryPlan *plan, GantryPlacements *placements)
{
  g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (GantryScheduleEntry));
  guint n_again = (guint) g_rand_int_range (random, 0, 6);

  for (guint32 i = 0; i < plan->n_steps; i++)
    {
      const GantryPlanStep *step = &plan->steps[i];
      gboolean copy = gantry_module_node (module, step->node)->op == GANTRY_OP_COPY;

      if (!step->init && step->instance == 0 && (copy || step->kind == GANTRY_STEP_RUN))
        g_array_append_val (entries, ((GantryScheduleEntry){ step->node, GANTRY_SCHEDULE_RUN }));
    }
  for (guint k = 0; k < n_again && entries->len > 0; k++)
    {
      guint from = (guint) g_rand_int_range (random, 0, (gint) entries->len);
      guint to = (guint) g_rand_int_range (random, (gint) from, (gint) entries->len);
      GantryScheduleEntry entry = g_array_index (entries, GantryScheduleEntry, from);

      if (g_rand_double (random) < 0.7)
        g_array_insert_val (entries, to + 1, entry);
    }
  set_schedule (placements, entries);
  add_some_copies (random, planner, placements, entries);
}

/* Scratch for every third product, constants packed for one in two of those, and some code. */
static GantryKernelSizes *
make_sizes (const GantryModule *module)
{
  GantryKernelSizes *sizes = gantry_kernel_sizes_new (NULL, NULL);
  const GantryFunction *entry = gantry_module_entry (module);

  for (guint32 i = 0; i < entry->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];

      if (node->op == GANTRY_OP_DOT_GENERAL && node->id % 3 == 0)
        gantry_kernel_sizes_add (sizes, i, 100, node->id % 2 * 72);
    }
  sizes->code_bytes = 4096;
  return sizes;
}

/* With less memory than the plan took: either it is held, or an error says so. Returns: whether it was */
static gboolean
try_limit (GRand *random, GantryModule *module, GantryPlanOptions options, GantryTarget target, const GantryPlacements *placements, guint64 arena_bytes)
{
  g_autoptr (GantryPlanner) planner = NULL;
  g_autoptr (GantryPlan) plan = NULL;
  g_autoptr (GError) error = NULL;
  GantryLiteral **arguments, **expected;

  options.target = &target;
  target.memory_limit = (guint64) ((double) arena_bytes * g_rand_double_range (random, 0.6, 1));
  planner = gantry_planner_new (module, &options, NULL, &error);
  g_assert_no_error (error);
  plan = gantry_planner_plan (planner, placements, NULL, &error);
  if (plan == NULL)
    {
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
      return FALSE;
    }
  g_assert_cmpuint (gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE), <=, target.memory_limit);
  plan_check (module, plan);
  arguments = plan_arguments (module, random);
  expected = plan_expected (module, arguments);
  plan_run (module, plan, arguments, expected, random, 0.98);
  plan_run (module, plan, arguments, expected, random, 0.02);
  plan_free_literals (arguments);
  plan_free_literals (expected);
  return TRUE;
}

/* What is predicted is what the plan takes, part by part, at the peak and while each work runs; and the largest sum of the curve is
 * the peak. */
static void
check_parts (const GantryPrediction *prediction, const GantryPlan *plan)
{
  GantryMemoryParts predicted, planned, at_peak;
  guint64 highest = 0;

  gantry_prediction_parts (prediction, &predicted);
  gantry_plan_memory_parts (plan, GANTRY_MEMORY_DEVICE, &at_peak);
  g_assert_cmpuint (gantry_memory_parts_total (&predicted), ==, prediction->peak_bytes);
  g_assert_cmpuint (prediction->peak_bytes, ==, gantry_plan_least_bytes (plan));
  g_assert_cmpuint (gantry_memory_parts_total (&at_peak), ==, gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE));
  g_assert_cmpuint (prediction->peak_bytes - gantry_memory_parts_total (&prediction->beside), ==,
                    prediction->temp_bytes + prediction->argument_bytes + prediction->output_bytes - prediction->alias_bytes);
  for (guint32 s = plan->n_init_steps; s < plan->n_steps; s++)
    {
      gantry_plan_memory_parts_at (plan, s, &planned);
      gantry_prediction_parts_at (prediction, s, &predicted);
      highest = MAX (highest, gantry_memory_parts_total (&planned));
      if (plan->steps[s].queue != GANTRY_QUEUE_COMPUTE)
        continue;
      predicted.bytes[GANTRY_PART_TEMPORARIES] += plan->arena_bytes[GANTRY_MEMORY_DEVICE] - plan->lower_bound;
      g_assert_cmpmem (predicted.bytes, sizeof predicted.bytes, planned.bytes, sizeof planned.bytes);
    }
  if (plan->n_steps > plan->n_init_steps)
    g_assert_cmpuint (highest, ==, gantry_memory_parts_total (&at_peak));
}

/* Whose space each was given lay there, and was needed no more. Returns: of how many there was one */
static guint
check_places_before (const GantryPlan *plan)
{
  guint n = 0;

  for (guint32 b = 0; b < plan->n_buffers; b++)
    {
      guint32 before = gantry_plan_place_before (plan, b);
      const GantryPlanBuffer *own = &plan->buffers[gantry_plan_place_of (plan, b)], *other;

      if (before == GANTRY_NO_BUFFER)
        continue;
      other = &plan->buffers[gantry_plan_place_of (plan, before)];
      g_assert_cmpuint (plan->buffers[before].begin, <, own->begin);
      g_assert_cmpuint (MAX (own->offset, other->offset), <, MIN (own->offset + own->size, other->offset + other->size));
      n++;
    }
  return n;
}

static guint64
try_placements (GRand *random, GantryModule *module, GantryPlanner *planner, const GantryPlacements *placements, GantryPrediction *prediction)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryPlan) plan = gantry_planner_plan (planner, placements, NULL, &error);
  GantryLiteral **arguments, **expected;

  g_assert_no_error (error);
  plan_check (module, plan);
  g_assert_true (check_places_before (plan) > 0 || plan->n_steps < 12);
  gantry_planner_predict (planner, placements, prediction);
  g_assert_cmpuint (prediction->n_steps, ==, plan->n_steps);
  check_parts (prediction, plan);
  g_assert_cmpfloat (prediction->step_us, ==, plan->total_us);
  g_assert_cmpuint (prediction->copied_bytes, ==, plan->copied_bytes);
  arguments = plan_arguments (module, random);
  expected = plan_expected (module, arguments);
  plan_run (module, plan, arguments, expected, random, 0.98);
  plan_run (module, plan, arguments, expected, random, 0.5);
  plan_run (module, plan, arguments, expected, random, 0.02);
  plan_free_literals (arguments);
  plan_free_literals (expected);
  return gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE);
}

static void
test_random (gconstpointer data)
{
  guint first = test_seed (GPOINTER_TO_UINT (data)), n_held = 0, n_repeated = 0, n_copies = 0;

  for (guint seed = first; seed != first + 250; seed++)
    {
      g_autoptr (GRand) random = g_rand_new_with_seed (seed);
      g_autoptr (GantryModule) module = random_step (random);
      g_autoptr (GError) error = NULL;
      GantryTarget target;
      g_autoptr (GantryKernelSizes) sizes = make_sizes (module);
      GantryPlanOptions options = { .target = &target, .sizes = sizes };
      g_autoptr (GantryPlanner) planner = NULL;
      g_autoptr (GantryPrediction) prediction = gantry_prediction_new ();

      gantry_target_init_cpu (&target, 1);
      /* From copies that take no time to copies that nothing hides. */
      target.link_bandwidth = g_rand_boolean (random) ? 1e6 : 1e9;
      target.launch_us = g_rand_boolean (random) ? 0.1 : 5;
      options.order = g_rand_boolean (random) ? GANTRY_ORDER_BEST : (GantryOrderPolicy) g_rand_int_range (random, 0, GANTRY_N_ORDERS);
      options.allocator = g_rand_boolean (random) ? GANTRY_ALLOCATOR_EXACT : (GantryAllocator) g_rand_int_range (random, 0, GANTRY_N_ALLOCATORS);
      options.flags = g_rand_double (random) < 0.1 ? GANTRY_PLAN_NO_IN_PLACE : 0;
      g_test_message ("seed %u", seed);
      planner = gantry_planner_new (module, &options, NULL, &error);
      g_assert_no_error (error);
      try_placements (random, module, planner, NULL, prediction);
      for (guint k = 0; k < 2; k++)
        {
          g_autoptr (GantryPlacements) placements = random_placements (random, planner);

          guint64 bytes;

          if (k == 1)
            {
              g_autoptr (GantryPlan) plan = gantry_planner_plan (planner, NULL, NULL, &error);

              g_clear_pointer (&placements, gantry_placements_unref);
              placements = g_rand_boolean (random) ? random_placements (random, planner) : gantry_placements_new ();
              add_schedule (random, module, planner, plan, placements);
              n_copies += count_copies (placements);
            }
          bytes = try_placements (random, module, planner, placements, prediction);
          n_repeated += k == 1 && prediction->recompute_us > 0;
          n_held += try_limit (random, module, options, target, placements, bytes);
        }
    }
  g_test_message ("%u limits held", n_held);
  g_assert_cmpuint (n_held, >, 20);
  g_test_message ("%u schedules with something made again", n_repeated);
  g_assert_cmpuint (n_repeated, >, 50);
  g_test_message ("%u values copied as a schedule says", n_copies);
  g_assert_cmpuint (n_copies, >, 50);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *path = g_strdup_printf ("/planner/random/%u", i + 1);

      g_test_add_data_func (path, GUINT_TO_POINTER (1 + i * 250), test_random);
    }
  /* Among these a value was written over under a limit before it had been copied out. */
  g_test_add_data_func ("/planner/random/copied-out", GUINT_TO_POINTER (1313749250), test_random);
  return g_test_run ();
}
