/* SPDX-License-Identifier: Apache-2.0 */
/* Plans against a simulated memory: every step finds the values that it reads whole and untouched where the plan says
 * that they lie, whatever was written over what. Small programs check each promise of memory.h by itself. */
#include "core/expr/expr.h"
#include "core/graph/graph.h"
#include "core/planner/planner.h"
#include "core/plan/kernel-sizes.h"
#include "core/plan/memory-parts.h"
#include "core/plan/plan-alive.h"
#include "core/plan/plan.h"
#include "tests/random-seed.h"
#include <string.h>

/* The memory of a machine in cells of 4 bytes: which value (buffer index + 1 of the one that was written) each holds. */
typedef struct
{
  const GantryModule *module;
  const GantryPlan *plan;
  guint32 *cells[2]; /* by region: arena (device), constants */
  guint64 n_cells[2];
} Machine;

/* The buffer whose content a view shows: follows views, not what is written over others. */
static guint32
content_of (const GantryPlan *plan, guint32 buffer)
{
  while (plan->buffers[buffer].shares != GANTRY_NO_BUFFER && !plan->buffers[buffer].in_place)
    buffer = plan->buffers[buffer].shares;
  return buffer;
}

static guint32 *
cells_of (const Machine *machine, guint32 b, guint64 *n)
{
  const GantryPlanBuffer *buffer = &machine->plan->buffers[b];
  guint64 first = buffer->offset / 4;

  g_assert_cmpuint (buffer->offset % 64, ==, 0);
  g_assert_cmpint (buffer->memory, ==, GANTRY_MEMORY_DEVICE);
  *n = (buffer->size + 3) / 4;
  g_assert_cmpuint (first + *n, <=, machine->n_cells[buffer->region]);
  return machine->cells[buffer->region] + first;
}

static void
write_value (Machine *machine, guint32 b)
{
  guint64 n;
  guint32 *cells;

  if (machine->plan->buffers[b].region == GANTRY_REGION_LITERAL)
    g_assert_not_reached ();
  cells = cells_of (machine, b, &n);
  for (guint64 i = 0; i < n; i++)
    cells[i] = content_of (machine->plan, b) + 1;
}

static void
expect_value (const Machine *machine, guint32 b)
{
  guint64 n;
  const guint32 *cells;

  g_assert_cmpuint (b, !=, GANTRY_NO_BUFFER);
  if (machine->plan->buffers[b].region == GANTRY_REGION_LITERAL)
    {
      GantryLiteral *literal = gantry_context_literal (machine->module->context, machine->plan->buffers[b].literal);

      g_assert_nonnull (literal);
      g_assert_cmpuint (literal->size, ==, machine->plan->buffers[b].size);
      return;
    }
  cells = cells_of (machine, b, &n);
  for (guint64 i = 0; i < n; i++)
    g_assert_cmpuint (cells[i], ==, content_of (machine->plan, b) + 1);
}

static guint
n_members (const GantryModule *module, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (module, node);

  return type->kind == GANTRY_TYPE_TUPLE ? type->rank : type->kind == GANTRY_TYPE_TENSOR ? 1 : 0;
}

static void
run_step (Machine *machine, guint32 s)
{
  const GantryModule *module = machine->module;
  const GantryPlan *plan = machine->plan;
  const GantryNode *node = gantry_module_node (module, plan->steps[s].node);
  guint64 n = 0;

  for (guint i = 0; i < node->n_operands; i++)
    {
      const GantryNode *operand = gantry_node_operand (module, node, i);

      for (guint m = 0; m < n_members (module, operand); m++)
        {
          guint32 b = gantry_plan_buffer_of (plan, operand->id, m);

          expect_value (machine, b);
          if (plan->buffers[b].region == GANTRY_REGION_ARENA)
            g_assert_true (plan->buffers[b].begin <= s && s <= plan->buffers[b].end);
        }
    }
  /* Scratch is written while operands are read: it lies over none of them. */
  for (guint32 b = 0; b < plan->n_buffers; b++)
    if (plan->buffers[b].category == GANTRY_BUFFER_WORKSPACE && plan->buffers[b].begin == s)
      {
        g_assert_cmpuint (plan->buffers[b].node, ==, node->id);
        g_assert_cmpuint (plan->buffers[b].end, ==, s);
        write_value (machine, b);
        for (guint i = 0; i < node->n_operands; i++)
          expect_value (machine, gantry_plan_buffer_of (plan, gantry_node_operand_id (module, node, i), 0));
        cells_of (machine, b, &n);
        g_assert_cmpuint (n, >, 0);
      }
  for (guint m = 0; m < n_members (module, node); m++)
    {
      guint32 b = gantry_plan_buffer_of (plan, node->id, m);

      g_assert_cmpuint (plan->buffers[b].begin, ==, s);
      if (!plan->buffers[b].in_place)
        for (guint i = 0; i < node->n_operands; i++)
          g_assert_cmpuint (gantry_plan_place_of (plan, b), !=,
                            gantry_plan_place_of (plan, gantry_plan_buffer_of (plan, gantry_node_operand_id (module, node, i), 0)));
      write_value (machine, b);
    }
  /* All results of one node live side by side. */
  for (guint m = 0; m < n_members (module, node); m++)
    expect_value (machine, gantry_plan_buffer_of (plan, node->id, m));
}

static void
check_in_place (const GantryModule *module, const GantryPlan *plan)
{
  for (guint32 b = 0; b < plan->n_buffers; b++)
    {
      const GantryPlanBuffer *buffer = &plan->buffers[b];
      const GantryNode *node = gantry_module_node (module, buffer->node);
      gboolean found = FALSE;

      if (!buffer->in_place)
        continue;
      g_assert_cmpuint (plan->buffers[buffer->shares].end, ==, buffer->begin);
      for (guint i = 0; i < node->n_operands; i++)
        {
          guint32 operand = gantry_plan_buffer_of (plan, gantry_node_operand_id (module, node, i), 0);

          if (content_of (plan, operand) != buffer->shares)
            continue;
          g_assert_true (gantry_node_may_alias (module, node, i));
          found = TRUE;
        }
      g_assert_true (found);
    }
}

/* live_bytes, the bound and the report say the same. */
static void
check_numbers (const GantryPlan *plan)
{
  guint64 peak = 0;

  for (guint32 s = 0; s < plan->n_steps; s++)
    {
      g_autoptr (GArray) alive = gantry_plan_alive_at (plan, s);
      guint64 sum = 0;

      for (guint i = 0; i < alive->len; i++)
        {
          const GantryPlanAlive *entry = &g_array_index (alive, GantryPlanAlive, i);

          sum += entry->bytes;
          g_assert_cmpuint (entry->until_step, >=, s);
          g_assert_true (i == 0 || entry->bytes <= g_array_index (alive, GantryPlanAlive, i - 1).bytes);
        }
      g_assert_cmpuint (sum, ==, plan->live_bytes[s]);
      peak = MAX (peak, sum);
    }
  if (plan->n_steps > plan->n_init_steps)
    {
      g_assert_cmpuint (plan->lower_bound, ==, peak);
      g_assert_cmpuint (plan->live_bytes[plan->peak_step], ==, peak);
    }
  g_assert_cmpuint (plan->arena_bytes[GANTRY_MEMORY_DEVICE], >=, plan->lower_bound);
}

static void
simulate (const GantryModule *module, const GantryPlan *plan)
{
  const GantryFunction *function = gantry_module_entry (module);
  Machine machine = { module, plan };

  machine.n_cells[GANTRY_REGION_ARENA] = plan->arena_bytes[GANTRY_MEMORY_DEVICE] / 4;
  machine.n_cells[GANTRY_REGION_CONSTANT] = plan->constant_bytes / 4;
  for (guint r = 0; r < 2; r++)
    machine.cells[r] = g_new0 (guint32, machine.n_cells[r] + 1);
  for (guint32 b = 0; b < plan->n_buffers; b++)
    if (plan->buffers[b].region == GANTRY_REGION_CONSTANT && plan->buffers[b].literal != 0)
      write_value (&machine, b);
  for (guint32 s = 0; s < plan->n_init_steps; s++)
    run_step (&machine, s);
  /* Twice: what is computed at load must outlive a run. */
  for (guint round = 0; round < 2; round++)
    {
      memset (machine.cells[0], 0, machine.n_cells[0] * sizeof (guint32));
      for (guint i = 0; i < function->n_params; i++)
        write_value (&machine, gantry_plan_buffer_of (plan, module->nodes[function->first_node + i].id, 0));
      for (guint32 s = plan->n_init_steps; s < plan->n_steps; s++)
        run_step (&machine, s);
      for (guint i = 0; i < function->n_results; i++)
        expect_value (&machine, gantry_plan_buffer_of (plan, gantry_function_result_id (module, function, i), 0));
    }
  check_in_place (module, plan);
  check_numbers (plan);
  g_free (machine.cells[0]);
  g_free (machine.cells[1]);
}

/* Random programs. */

typedef struct
{
  GantryBuilder *builder;
  GRand *random;
  GArray *values; /* ids of tensors */
} Maker;

static guint32
any_value (Maker *maker)
{
  /* Rather a late one: real programs are mostly chains. */
  gint32 n = (gint32) maker->values->len;
  gint32 from = g_rand_int_range (maker->random, 0, 4) > 0 ? MAX (n - 6, 0) : 0;

  return g_array_index (maker->values, guint32, g_rand_int_range (maker->random, from, n));
}

static guint32
random_splat (Maker *maker, const GantryType *type)
{
  return gantry_builder_splat (maker->builder, type->element, 2, type->rank, type->dims);
}

static guint32
one_node (Maker *maker)
{
  static const guint unary[] = { GANTRY_OP_EXPONENTIAL, GANTRY_OP_NEGATE, GANTRY_OP_COPY };
  guint32 x = any_value (maker), y = any_value (maker);
  const GantryType *type = gantry_builder_get_type (maker->builder, x);
  gint64 n = gantry_type_elements (type);
  GantryDim dims[2] = { n, g_rand_int_range (maker->random, 1, 5) };
  gint64 map[1] = { 0 }, start[1] = { 0 }, limit[1] = { (n + 1) / 2 }, stride[1] = { 1 };
  guint32 pair[2] = { x, y };

  switch (g_rand_int_range (maker->random, 0, 10))
    {
    case 0:
    case 1: return gantry_builder_unary (maker->builder, unary[g_rand_int_range (maker->random, 0, 3)], x);
    case 2: return gantry_builder_reshape (maker->builder, x, 1, dims);
    case 3:
      if (type->rank != 1 || n > 4096)
        return 0;
      return gantry_builder_broadcast (maker->builder, x, 2, dims, map);
    case 4: return gantry_builder_binary (maker->builder, GANTRY_OP_ADD, x, random_splat (maker, type));
    case 5:
      if (!gantry_type_same_shape (type, gantry_builder_get_type (maker->builder, y)))
        return gantry_builder_binary (maker->builder, GANTRY_OP_MULTIPLY, x, x);
      return gantry_builder_binary (maker->builder, GANTRY_OP_MULTIPLY, x, y);
    case 6: return type->rank == 1 ? gantry_builder_slice (maker->builder, x, start, limit, stride) : 0;
    case 7:
      if (type->rank != 1 || n > 4096 || gantry_builder_get_type (maker->builder, y)->rank != 1)
        return 0;
      return gantry_builder_concatenate (maker->builder, pair, 2, 0);
    case 8: return type->rank == 2 ? gantry_builder_reduce (maker->builder, "add", x, map, 1) : 0;
    default:
      x = gantry_builder_add (maker->builder, GANTRY_OP_TUPLE, pair, 2, 0);
      if (g_rand_boolean (maker->random))
        x = gantry_builder_add (maker->builder, GANTRY_OP_OPTIMIZATION_BARRIER, &x, 1, 0);
      return gantry_builder_result (maker->builder, x, (guint) g_rand_int_range (maker->random, 0, 2));
    }
}

/* The sum of every value that nobody uses, so that nothing is left out of the plan. */
static guint32
sum_of_unused (Maker *maker)
{
  GantryBuilder *builder = maker->builder;
  guint32 sum = gantry_builder_scalar (builder, GANTRY_F32, 0), last = sum; /* the highest id so far */
  g_autofree guint8 *used = g_new0 (guint8, last + 1);

  for (guint32 id = 1; id <= last; id++)
    {
      const GantryNode *node = gantry_builder_node (builder, id);

      for (guint i = 0; node != NULL && i < node->n_operands; i++)
        used[gantry_builder_operand_of (builder, id, i)] = TRUE;
    }
  for (guint i = 0; i < maker->values->len; i++)
    {
      guint32 id = g_array_index (maker->values, guint32, i);
      const gint64 all[2] = { 0, 1 };

      if (used[id])
        continue;
      id = gantry_builder_reduce (builder, "add", id, all, gantry_builder_get_type (builder, id)->rank);
      sum = gantry_builder_binary (builder, GANTRY_OP_ADD, sum, id);
    }
  return sum;
}

static GantryModule *
random_module (GantryContext *context, GRand *random, guint n_nodes, gboolean all)
{
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "random");
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GError) error = NULL;
  Maker maker = { builder, random, values };
  GantryModule *module;
  guint32 results[3], id;

  gantry_builder_begin (builder, "main", 0);
  for (gint32 i = g_rand_int_range (random, 1, 4); i > 0; i--)
    {
      GantryDim dims[1] = { g_rand_int_range (random, 1, 600) };

      id = gantry_builder_parameter (builder, gantry_context_tensor (context, GANTRY_F32, 1, dims), "x");
      g_array_append_val (values, id);
    }
  {
    GantryDim dims[1] = { 33 };

    id = gantry_builder_iota (builder, GANTRY_F32, 1, dims, 0);
    g_array_append_val (values, id);
    id = gantry_builder_splat (builder, GANTRY_F32, 0.5, 1, dims);
    g_array_append_val (values, id);
  }
  while (values->len < n_nodes)
    {
      id = one_node (&maker);
      if (id != 0)
        g_array_append_val (values, id);
    }
  for (guint i = 0; i < 3; i++)
    results[i] = g_rand_boolean (random) ? any_value (&maker) : g_array_index (values, guint32, values->len - 1);
  if (all)
    results[0] = sum_of_unused (&maker);
  gantry_builder_end (builder, results, (guint) g_rand_int_range (random, 1, 4));
  module = gantry_builder_finish (builder, &error);
  g_assert_no_error (error);
  return module;
}

/* What passes through is predicted as it is planned, part by part, while each work runs: parameters until their last use, results
 * from the step that makes them. */
static void
check_prediction (GantryModule *module, const GantryPlanOptions *options, const GantryPlan *plan)
{
  g_autoptr (GantryPlanner) planner = gantry_planner_new (module, options, NULL, NULL);
  g_autoptr (GantryPrediction) prediction = gantry_prediction_new ();
  GantryMemoryParts predicted, planned;

  gantry_planner_predict (planner, NULL, prediction);
  g_assert_cmpuint (prediction->peak_bytes, ==, gantry_plan_least_bytes (plan));
  g_assert_cmpuint (prediction->steps->len, ==, plan->n_steps);
  gantry_prediction_parts (prediction, &predicted);
  g_assert_cmpuint (gantry_memory_parts_total (&predicted), ==, prediction->peak_bytes);
  for (guint32 s = plan->n_init_steps; s < plan->n_steps; s++)
    {
      gantry_plan_memory_parts_at (plan, s, &planned);
      gantry_prediction_parts_at (prediction, s, &predicted);
      predicted.bytes[GANTRY_PART_TEMPORARIES] += plan->arena_bytes[GANTRY_MEMORY_DEVICE] - plan->lower_bound;
      g_assert_cmpmem (predicted.bytes, sizeof predicted.bytes, planned.bytes, sizeof planned.bytes);
    }
}

static GantryKernelSizes *
some_sizes (const GantryModule *module)
{
  GantryKernelSizes *sizes = gantry_kernel_sizes_new (NULL, NULL);
  const GantryFunction *entry = gantry_module_entry (module);

  for (guint32 i = 0; i < entry->n_nodes; i++)
    if (module->nodes[entry->first_node + i].id % 5 == 0)
      gantry_kernel_sizes_add (sizes, i, 1000 + module->nodes[entry->first_node + i].id, 0);
  return sizes;
}

static void
test_random (void)
{
  g_autoptr (GRand) random = test_rand (11);
  double worst = 1;
  guint in_place = 0, init = 0;

  for (guint round = 0; round < 150; round++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryModule) module = random_module (context, random, 10 + round, round % 2 == 0);
      g_autoptr (GantryKernelSizes) sizes = some_sizes (module);
      GantryPlanOptions options = { 0 };
      guint64 program_order = 0;

      for (guint variant = 0; variant < 4; variant++)
        {
          g_autoptr (GError) error = NULL;
          g_autoptr (GantryPlan) plan = NULL;

          options.order = variant == 0 ? GANTRY_ORDER_PROGRAM : GANTRY_ORDER_BEST;
          options.flags = variant == 2 ? GANTRY_PLAN_NO_IN_PLACE : 0;
          options.sizes = variant == 3 ? sizes : NULL;
          plan = gantry_memory_plan (module, &options, NULL, &error);
          g_assert_no_error (error);
          simulate (module, plan);
          check_prediction (module, &options, plan);
          if (variant == 0)
            program_order = plan->lower_bound;
          if (variant == 1)
            g_assert_cmpuint (plan->lower_bound, <=, program_order);
          if (plan->lower_bound > 0)
            worst = MAX (worst, (double) plan->arena_bytes[GANTRY_MEMORY_DEVICE] / (double) plan->lower_bound);
          for (guint32 b = 0; b < plan->n_buffers; b++)
            in_place += plan->buffers[b].in_place;
          if (variant == 2)
            for (guint32 b = 0; b < plan->n_buffers; b++)
              g_assert_false (plan->buffers[b].in_place);
          init += plan->n_init_steps;
        }
    }
  g_test_message ("worst arena over lower bound %.4f; %u values in place, %u init steps", worst, in_place, init);
  g_assert_cmpfloat (worst, <=, 1.10);
  g_assert_cmpuint (in_place, >, 100);
  g_assert_cmpuint (init, >, 100);
}

/* Small programs. */

typedef struct
{
  GantryContext *context;
  GantryModule *module;
  GantryPlan *plan;
} Planned;

static void
planned_clear (Planned *planned)
{
  g_clear_pointer (&planned->plan, gantry_plan_unref);
  g_clear_pointer (&planned->module, gantry_module_unref);
  g_clear_pointer (&planned->context, gantry_context_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Planned, planned_clear)

/* @body: parameters, results and nodes in the text form */
static Planned
plan_text (const char *head, const char *nodes, const GantryPlanOptions *options)
{
  g_autofree char *text = g_strdup_printf ("module \"m\" { func @main #1 %s { %s } }", head, nodes);
  g_autoptr (GError) error = NULL;
  Planned planned = { gantry_context_new () };

  planned.module = gantry_module_from_text (planned.context, text, -1, "test", &error);
  g_assert_no_error (error);
  gantry_verify (planned.module, NULL, &error);
  g_assert_no_error (error);
  planned.plan = gantry_memory_plan (planned.module, options, NULL, &error);
  g_assert_no_error (error);
  simulate (planned.module, planned.plan);
  return planned;
}

static const GantryPlanBuffer *
buffer_of (const Planned *planned, guint32 node)
{
  guint32 b = gantry_plan_buffer_of (planned->plan, node, 0);

  g_assert_cmpuint (b, !=, GANTRY_NO_BUFFER);
  return &planned->plan->buffers[b];
}

static void
test_chain (void)
{
  /* The input is not needed after its use: the whole chain lies in its place. */
  g_auto (Planned) planned = plan_text ("(%1: f32[100]) -> (%4)",
                                        "%2 = exponential(%1): f32[100] %3 = reshape(%2) {shape = [10, 10]}: f32[10,10] "
                                        "%4 = negate(%3): f32[10,10]",
                                        NULL);

  g_assert_cmpuint (planned.plan->n_steps, ==, 2);
  g_assert_cmpuint (planned.plan->n_init_steps, ==, 0);
  g_assert_cmpuint (planned.plan->arena_bytes[GANTRY_MEMORY_DEVICE], ==, 448);
  g_assert_cmpuint (planned.plan->lower_bound, ==, 448);
  g_assert_cmpint (buffer_of (&planned, 1)->category, ==, GANTRY_BUFFER_INPUT);
  g_assert_cmpint (buffer_of (&planned, 2)->category, ==, GANTRY_BUFFER_TEMPORARY);
  g_assert_true (buffer_of (&planned, 2)->in_place);
  g_assert_false (buffer_of (&planned, 3)->in_place);
  g_assert_cmpuint (buffer_of (&planned, 3)->shares, ==, gantry_plan_buffer_of (planned.plan, 2, 0));
  g_assert_cmpint (buffer_of (&planned, 4)->category, ==, GANTRY_BUFFER_OUTPUT);
  g_assert_cmpuint (gantry_plan_buffer_of (planned.plan, 5, 0), ==, GANTRY_NO_BUFFER);
  g_assert_cmpfloat (planned.plan->total_us, >, 0);
}

static void
test_kept_values (void)
{
  /* %1 is a result, %2 is used twice: neither may be overwritten, %4 may. */
  g_auto (Planned) planned = plan_text ("(%1: f32[64]) -> (%5, %1)",
                                        "%2 = exponential(%1): f32[64] %3 = negate(%2): f32[64] "
                                        "%4 = add(%2, %3): f32[64] %5 = add(%4, %4): f32[64]",
                                        NULL);

  g_assert_false (buffer_of (&planned, 2)->in_place);
  g_assert_false (buffer_of (&planned, 3)->in_place);
  g_assert_true (buffer_of (&planned, 4)->in_place);
  g_assert_true (buffer_of (&planned, 5)->in_place);
  g_assert_cmpuint (planned.plan->arena_bytes[GANTRY_MEMORY_DEVICE], ==, 3 * 256);
}

static void
test_read_twice (void)
{
  /* %2 may be written over its first operand, but reads the same bytes through the second at other places. */
  static const char nodes[] = "%%3 = dynamic_update_slice(%%1, %%%u, %%2): f32[64]";
  g_autofree char *same = g_strdup_printf (nodes, 1u), *other = g_strdup_printf (nodes, 4u);
  g_auto (Planned) twice = plan_text ("(%1: f32[64], %2: i64[], %4: f32[64]) -> (%3)", same, NULL);
  g_auto (Planned) once = plan_text ("(%1: f32[64], %2: i64[], %4: f32[64]) -> (%3)", other, NULL);

  g_assert_false (buffer_of (&twice, 3)->in_place);
  g_assert_true (buffer_of (&once, 3)->in_place);
}

static void
test_view_of_input (void)
{
  /* Results that are the input, a view of it, and a constant: the executor copies each out of its place. */
  g_auto (Planned) planned = plan_text ("(%1: f32[4,16]) -> (%2, %1, %4, %3)",
                                        "%2 = reshape(%1) {shape = [64]}: f32[64] "
                                        "%3 = constant() {value = splat<f32[64]: 1.5>}: f32[64] "
                                        "%4 = exponential(%2): f32[64]",
                                        NULL);

  g_assert_cmpuint (buffer_of (&planned, 2)->offset, ==, buffer_of (&planned, 1)->offset);
  g_assert_false (buffer_of (&planned, 4)->in_place);
  g_assert_cmpint (buffer_of (&planned, 3)->region, ==, GANTRY_REGION_CONSTANT);
  g_assert_cmpuint (buffer_of (&planned, 3)->literal, !=, 0);
}

static void
test_no_steps (void)
{
  g_auto (Planned) planned = plan_text ("(%1: f32[4,16], %2: i8[3]) -> (%3)", "%3 = reshape(%1) {shape = [64]}: f32[64]", NULL);

  g_assert_cmpuint (planned.plan->n_steps, ==, 0);
  g_assert_cmpuint (planned.plan->arena_bytes[GANTRY_MEMORY_DEVICE], ==, 256 + 64);
  g_assert_cmpfloat (planned.plan->total_us, ==, 0);
}

static void
test_constants (void)
{
  g_auto (Planned) planned = plan_text ("(%1: f32[8]) -> (%9)",
                                        "%2 = constant() {value = dense<f32[2]: 1.0, 2.0>}: f32[2] "
                                        "%3 = broadcast_in_dim(%2) {shape = [2, 500], broadcast_dimensions = [0]}: f32[2,500] "
                                        "%4 = exponential(%3): f32[2,500] %5 = reduce(%4) {kind = \"add\", dimensions = [0, 1]}: f32[] "
                                        "%6 = broadcast_in_dim(%5) {shape = [8], broadcast_dimensions = ints[]}: f32[8] "
                                        "%7 = constant() {value = splat<f32[8]: 3.0>}: f32[8] "
                                        "%8 = add(%1, %6): f32[8] %9 = multiply(%8, %7): f32[8]",
                                        NULL);

  g_assert_cmpuint (planned.plan->n_steps, ==, 6);
  g_assert_cmpuint (planned.plan->n_init_steps, ==, 4);
  g_assert_cmpint (buffer_of (&planned, 2)->region, ==, GANTRY_REGION_LITERAL);
  g_assert_cmpuint (planned.plan->literal_bytes, ==, 64); /* a whole place */
  g_assert_cmpuint (gantry_plan_memory_bytes (planned.plan, GANTRY_MEMORY_DEVICE), ==, 4032 + 64 + 64 + 64 + 64);
  g_assert_cmpint (buffer_of (&planned, 6)->category, ==, GANTRY_BUFFER_CONSTANT);
  /* %4 over %3, whose room is free again for %5 or %6; never in the arena. */
  g_assert_true (buffer_of (&planned, 4)->in_place);
  g_assert_cmpuint (planned.plan->constant_bytes, ==, 4032 + 64 + 64);
  g_assert_cmpuint (planned.plan->arena_bytes[GANTRY_MEMORY_DEVICE], ==, 64);
  for (guint32 s = 0; s < 4; s++)
    g_assert_cmpuint (planned.plan->live_bytes[s], ==, 0);
}

/* A literal that lies at an odd address cannot be used in place. */
static void
test_unaligned_literal (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "m");
  static const guint8 storage[64] __attribute__ ((aligned (16)));
  GantryDim dims[1] = { 4 };
  guint32 type = gantry_context_tensor (context, GANTRY_F32, 1, dims), ids[2], result;
  g_autoptr (GantryModule) module = NULL;
  g_autoptr (GantryPlan) plan = NULL;
  g_autoptr (GError) error = NULL;

  gantry_builder_begin (builder, "main", 0);
  result = gantry_builder_parameter (builder, type, "x");
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GBytes) bytes = g_bytes_new_static (storage + 16 * i + i, 16);
      g_autoptr (GantryLiteral) literal = gantry_literal_new (gantry_context_type (context, type), bytes, FALSE, &error);

      g_assert_no_error (error);
      ids[i] = gantry_builder_literal (builder, literal);
      result = gantry_builder_binary (builder, GANTRY_OP_ADD, result, ids[i]);
    }
  gantry_builder_end (builder, &result, 1);
  module = gantry_builder_finish (builder, &error);
  g_assert_no_error (error);
  plan = gantry_memory_plan (module, NULL, NULL, &error);
  g_assert_no_error (error);
  /* Equal small literals may have become one, at whichever address came first. */
  for (guint i = 0; i < 2; i++)
    {
      const GantryPlanBuffer *buffer = &plan->buffers[gantry_plan_buffer_of (plan, ids[i], 0)];
      const GantryLiteral *literal = gantry_context_literal (context, buffer->literal);

      g_assert_cmpint (buffer->region, ==, GPOINTER_TO_SIZE (literal->data) % 4 == 0 ? GANTRY_REGION_LITERAL : GANTRY_REGION_CONSTANT);
    }
}

static void
test_dead_code (void)
{
  g_auto (Planned) planned = plan_text ("(%1: f32[64]) -> (%3)", "%2 = exponential(%1): f32[64] %3 = negate(%1): f32[64]", NULL);

  g_assert_cmpuint (planned.plan->n_steps, ==, 1);
  g_assert_cmpuint (gantry_plan_buffer_of (planned.plan, 2, 0), ==, GANTRY_NO_BUFFER);
}

static void
test_order (void)
{
  /* As written, all four large values are made before the first is reduced. */
  static const char nodes[] = "%2 = broadcast_in_dim(%1) {shape = [1000], broadcast_dimensions = ints[]}: f32[1000] "
                              "%3 = exponential(%2): f32[1000] %4 = negate(%2): f32[1000] %5 = sine(%2): f32[1000] "
                              "%6 = cosine(%2): f32[1000] "
                              "%7 = reduce(%3) {kind = \"add\", dimensions = [0]}: f32[] %8 = reduce(%4) {kind = \"add\", dimensions = [0]}: f32[] "
                              "%9 = reduce(%5) {kind = \"add\", dimensions = [0]}: f32[] %10 = reduce(%6) {kind = \"add\", dimensions = [0]}: f32[] "
                              "%11 = add(%7, %8): f32[] %12 = add(%9, %10): f32[] %13 = add(%11, %12): f32[]";
  GantryPlanOptions as_written = { .order = GANTRY_ORDER_PROGRAM };
  g_auto (Planned) written = plan_text ("(%1: f32[]) -> (%13)", nodes, &as_written);
  g_auto (Planned) best = plan_text ("(%1: f32[]) -> (%13)", nodes, NULL);

  g_assert_cmpuint (written.plan->lower_bound, >=, 4 * 4032);
  g_assert_cmpuint (best.plan->lower_bound, <, 3 * 4032);
  for (guint32 s = 0; s < written.plan->n_steps; s++)
    g_assert_cmpuint (written.plan->steps[s].node, ==, s + 2);
}

static void
test_effects (void)
{
  g_auto (Planned) planned = plan_text ("(%1: f32[64]) -> (%1)",
                                        "%2 = custom_call(%1) {target = \"a\", to = type f32[64]}: f32[64] "
                                        "%3 = custom_call() {target = \"b\", to = type f32[64]}: f32[64] "
                                        "%4 = custom_call(%1) {target = \"c\", to = type f32[64]}: f32[64]",
                                        NULL);

  /* Neither left out, nor done at load, nor exchanged. */
  g_assert_cmpuint (planned.plan->n_steps, ==, 3);
  g_assert_cmpuint (planned.plan->n_init_steps, ==, 0);
  for (guint32 s = 0; s < 3; s++)
    g_assert_cmpuint (planned.plan->steps[s].node, ==, s + 2);
}

static void
test_alive_at (void)
{
  g_auto (Planned) planned = plan_text ("(%1: f32[64]) -> (%5)",
                                        "%2 = exponential(%1): f32[64] %3 = broadcast_in_dim(%1) {shape = [4, 64], "
                                        "broadcast_dimensions = [1]}: f32[4,64] "
                                        "%4 = reduce(%3) {kind = \"add\", dimensions = [0]}: f32[64] "
                                        "%5 = add(%4, %2): f32[64]",
                                        NULL);
  g_autoptr (GArray) alive = gantry_plan_alive_at (planned.plan, planned.plan->peak_step);
  const GantryPlanAlive *first = &g_array_index (alive, GantryPlanAlive, 0);

  g_assert_cmpuint (planned.plan->buffers[first->buffer].node, ==, 3);
  g_assert_cmpuint (first->bytes, ==, 1024);
  g_assert_cmpuint (first->until_node, ==, 4);
  g_assert_cmpuint (first->next, ==, GANTRY_NO_BUFFER);
  g_array_unref (g_steal_pointer (&alive));
  /* At the end: only the result, written over one of the sum's operands. */
  alive = gantry_plan_alive_at (planned.plan, planned.plan->n_steps - 1);
  first = &g_array_index (alive, GantryPlanAlive, 0);
  g_assert_cmpuint (alive->len, ==, 2);
  for (guint i = 0; i < alive->len; i++)
    {
      const GantryPlanAlive *entry = &g_array_index (alive, GantryPlanAlive, i);

      if (planned.plan->buffers[entry->buffer].node == 5)
        g_assert_cmpuint (entry->until_node, ==, 0);
      else
        g_assert_cmpuint (entry->until_node, ==, 5);
    }
}

static void
test_measured_times (void)
{
  g_autoptr (GHashTable) measured = g_hash_table_new (NULL, NULL);
  double us = 1234.5;
  GantryPlanOptions options = { .measured_us = measured };
  GantryTarget target = { "t", 1e9, 1e9, 2, 1e9, 0 };
  g_auto (Planned) planned = { NULL };

  options.target = &target;
  g_hash_table_insert (measured, GUINT_TO_POINTER (3), &us);
  planned = plan_text ("(%1: f32[1000]) -> (%3)", "%2 = exponential(%1): f32[1000] %3 = negate(%2): f32[1000]", &options);
  /* 8000 bytes at 1 GB/s and the launch; then what was measured. */
  g_assert_cmpfloat_with_epsilon (planned.plan->steps[0].duration_us, 10, 1e-9);
  g_assert_cmpfloat_with_epsilon (planned.plan->steps[1].start_us, 10, 1e-9);
  g_assert_cmpfloat_with_epsilon (planned.plan->steps[1].duration_us, 1234.5, 1e-9);
  g_assert_cmpfloat_with_epsilon (planned.plan->total_us, 1244.5, 1e-9);
}

static void
expect_error (const char *text, GantryError code, const char *part)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, text, -1, "test", &error);

  g_assert_no_error (error);
  g_assert_null (gantry_memory_plan (module, NULL, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, (int) code);
  g_assert_nonnull (strstr (error->message, part));
}

static void
test_errors (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  GantryProgress progress = { NULL, NULL, cancellable };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GRand) random = test_rand (1);
  g_autoptr (GantryModule) module = random_module (context, random, 20, FALSE);
  g_autoptr (GError) error = NULL;

  expect_error ("module \"m\" { func @main #1 (%1: f32[2]) -> (%2) { %2 \"blob\" = \"onnx.Strange\"(%1): f32[2] } }", GANTRY_ERROR_UNSUPPORTED,
                "'blob' (onnx.Strange)");
  expect_error ("module \"m\" { func @main #1 (%1: f32[batch]) -> (%2) { %2 = negate(%1): f32[batch] } }", GANTRY_ERROR_UNSUPPORTED, "dimensions");
  expect_error ("module \"m\" { func @main #1 (%1: c64[2]) -> (%1) { } }", GANTRY_ERROR_UNSUPPORTED, "element type");
  expect_error ("module \"m\" { func @main #1 (%1: f32[1000000000,400000000]) -> (%1) { } }", GANTRY_ERROR_TOO_LARGE, "larger than any memory");
  g_cancellable_cancel (cancellable);
  g_assert_null (gantry_memory_plan (module, NULL, &progress, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* Member by member: what lies between the members of a structure has no value. */
static void
assert_same_buffer (const GantryPlanBuffer *a, const GantryPlanBuffer *b)
{
  g_assert_cmpuint (a->node, ==, b->node);
  g_assert_cmpuint (a->member, ==, b->member);
  g_assert_cmpuint (a->category, ==, b->category);
  g_assert_cmpuint (a->region, ==, b->region);
  g_assert_cmpuint (a->memory, ==, b->memory);
  g_assert_cmpuint (a->in_place, ==, b->in_place);
  g_assert_cmpuint (a->role, ==, b->role);
  g_assert_cmpuint (a->instance, ==, b->instance);
  g_assert_cmpuint (a->shares, ==, b->shares);
  g_assert_cmpuint (a->offset, ==, b->offset);
  g_assert_cmpuint (a->size, ==, b->size);
  g_assert_cmpuint (a->begin, ==, b->begin);
  g_assert_cmpuint (a->end, ==, b->end);
  g_assert_cmpuint (a->literal, ==, b->literal);
}

static void
assert_same_step (const GantryPlanStep *a, const GantryPlanStep *b)
{
  g_assert_cmpuint (a->node, ==, b->node);
  g_assert_cmpuint (a->queue, ==, b->queue);
  g_assert_cmpuint (a->init, ==, b->init);
  g_assert_cmpuint (a->kind, ==, b->kind);
  g_assert_cmpuint (a->instance, ==, b->instance);
  g_assert_cmpuint (a->first_ref, ==, b->first_ref);
  g_assert_cmpuint (a->n_operands, ==, b->n_operands);
  g_assert_cmpuint (a->n_refs, ==, b->n_refs);
  g_assert_cmpuint (a->first_wait, ==, b->first_wait);
  g_assert_cmpuint (a->n_waits, ==, b->n_waits);
  g_assert_cmpfloat (a->start_us, ==, b->start_us);
  g_assert_cmpfloat (a->duration_us, ==, b->duration_us);
  g_assert_cmpfloat (a->wait_us, ==, b->wait_us);
}

/* The same plan each time. */
static void
test_deterministic (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GRand) random = test_rand (5);
  g_autoptr (GantryModule) module = random_module (context, random, 150, TRUE);
  g_autoptr (GantryPlan) a = gantry_memory_plan (module, NULL, NULL, NULL);
  g_autoptr (GantryPlan) b = gantry_memory_plan (module, NULL, NULL, NULL);

  g_assert_cmpuint (a->n_buffers, ==, b->n_buffers);
  g_assert_cmpuint (a->n_steps, ==, b->n_steps);
  for (guint32 i = 0; i < a->n_buffers; i++)
    assert_same_buffer (&a->buffers[i], &b->buffers[i]);
  for (guint32 i = 0; i < a->n_steps; i++)
    assert_same_step (&a->steps[i], &b->steps[i]);
}

static gpointer
ask_all (gpointer data)
{
  const GantryPlan *plan = data;

  for (guint32 b = 0; b < plan->n_buffers; b++)
    g_assert_cmpuint (gantry_plan_buffer_of (plan, plan->buffers[b].node, plan->buffers[b].member), ==, b);
  return NULL;
}

static void
test_table_from_threads (void)
{
  for (guint round = 0; round < 20; round++)
    {
      g_autoptr (GantryPlan) plan = gantry_plan_new (0, 3000);
      GThread *threads[4];

      for (guint32 b = 0; b < plan->n_buffers; b++)
        {
          plan->buffers[b].node = b / 3 * 1024;
          plan->buffers[b].member = b % 3;
        }
      for (guint i = 0; i < 4; i++)
        threads[i] = g_thread_new ("ask", ask_all, plan);
      for (guint i = 0; i < 4; i++)
        g_thread_join (threads[i]);
    }
}

/* A chain of 30,000 nodes with views and a fork now and then. */
static void
test_large (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GRand) random = test_rand (13);
  g_autoptr (GantryModule) module = random_module (context, random, 30000, TRUE);
  gint64 start = g_get_monotonic_time ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryPlan) plan = gantry_memory_plan (module, NULL, NULL, &error);

  g_assert_no_error (error);
  g_test_message ("%u nodes, %u steps planned in %.0f ms; arena over lower bound %.4f", module->n_nodes, plan->n_steps,
                  (double) (g_get_monotonic_time () - start) / 1e3, (double) plan->arena_bytes[GANTRY_MEMORY_DEVICE] / (double) MAX (plan->lower_bound, 1));
  g_assert_cmpfloat ((double) plan->arena_bytes[GANTRY_MEMORY_DEVICE], <=, 1.10 * (double) plan->lower_bound);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/planner/plan/chain", test_chain);
  g_test_add_func ("/planner/plan/kept-values", test_kept_values);
  g_test_add_func ("/planner/plan/read-twice", test_read_twice);
  g_test_add_func ("/planner/plan/view-of-input", test_view_of_input);
  g_test_add_func ("/planner/plan/no-steps", test_no_steps);
  g_test_add_func ("/planner/plan/constants", test_constants);
  g_test_add_func ("/planner/plan/unaligned-literal", test_unaligned_literal);
  g_test_add_func ("/planner/plan/dead-code", test_dead_code);
  g_test_add_func ("/planner/plan/order", test_order);
  g_test_add_func ("/planner/plan/effects", test_effects);
  g_test_add_func ("/planner/plan/alive-at", test_alive_at);
  g_test_add_func ("/planner/plan/measured-times", test_measured_times);
  g_test_add_func ("/planner/plan/errors", test_errors);
  g_test_add_func ("/planner/plan/deterministic", test_deterministic);
  g_test_add_func ("/planner/plan/table-from-threads", test_table_from_threads);
  g_test_add_func ("/planner/plan/random", test_random);
  g_test_add_func ("/planner/plan/large", test_large);
  return g_test_run ();
}
