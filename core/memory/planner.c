/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the plan: chooses the order, lays the places out and writes all of it down as a GantryPlan. */
#include "core/memory/memory.h"
#include "core/base/error.h"
#include "core/ir/plan-alive.h"
#include "core/memory/program-private.h"

/* The order with the lowest peak; of equals the earlier in this list. */
static Lifetimes *
choose_order (Program *program, const GantryPlanOptions *options, const GantryProgress *progress, GError **error)
{
  static guint32 *(*const makers[]) (const Program *) = { _gantry_order_program, _gantry_order_depth,
                                                          _gantry_order_greedy };
  gboolean as_written = options != NULL && options->order == GANTRY_ORDER_PROGRAM;
  GantryPlanFlags flags = options != NULL ? options->flags : 0;
  g_autoptr (Lifetimes) best = NULL;

  for (guint i = 0; i < (as_written ? 1 : G_N_ELEMENTS (makers)); i++)
    {
      g_autofree guint32 *order = makers[i](program);
      g_autoptr (Lifetimes) lifetimes = _gantry_lifetimes_new (program, order, flags);

      if (gantry_progress_cancelled (progress, error))
        return NULL;
      if (best != NULL && lifetimes->peak >= best->peak)
        continue;
      g_clear_pointer (&best, _gantry_lifetimes_free);
      best = g_steal_pointer (&lifetimes);
    }
  return g_steal_pointer (&best);
}

typedef struct
{
  Program *program;
  Lifetimes *lifetimes;
  const GantryPlanOptions *options;
  GantryPlan *plan;
  guint32 n_values;
} Planner;

static guint8
category_of (const Planner *planner, const Value *value)
{
  const Value *root = VALUE (planner->program, value->root);

  if (value_is_constant (root))
    return GANTRY_BUFFER_CONSTANT;
  if (value->returned && (value->kind != VALUE_INPUT || value->base != NONE))
    return GANTRY_BUFFER_OUTPUT;
  return root->kind == VALUE_INPUT ? GANTRY_BUFFER_INPUT : GANTRY_BUFFER_TEMPORARY;
}

/* One buffer for each value, under the value's index. */
static void
write_value (Planner *planner, guint32 v)
{
  const Value *value = VALUE (planner->program, v);
  const Lifetimes *lifetimes = planner->lifetimes;
  GantryPlanBuffer *buffer = &planner->plan->buffers[v];

  buffer->node = value->node;
  buffer->member = value->member;
  buffer->category = category_of (planner, value);
  buffer->memory = value->memory;
  buffer->size = value->bytes;
  /* A view of a filled place is not filled again. */
  buffer->literal = value->kind == VALUE_LITERAL || value->base == NONE ? value->literal : 0;
  buffer->region = value->kind == VALUE_LITERAL          ? GANTRY_REGION_LITERAL
                   : value_is_constant (value) ? GANTRY_REGION_CONSTANT
                                               : GANTRY_REGION_ARENA;
  buffer->begin = lifetimes->begin[value->root];
  buffer->end = lifetimes->end[value->root];
  buffer->shares = value->base;
  if (value->base == NONE && lifetimes->over[v] != NONE)
    {
      buffer->shares = lifetimes->over[v];
      buffer->in_place = TRUE;
    }
}

/* The scratch of a step lies in the region that is alive then: of an init step among the constants. */
static void
write_workspaces (Planner *planner)
{
  guint32 b = planner->n_values;

  for (guint32 s = 0; s < planner->lifetimes->n_steps; s++)
    {
      const Work *work = WORK (planner->program, planner->lifetimes->step_work[s]);
      GantryPlanBuffer *buffer = &planner->plan->buffers[b];

      if (work->workspace == 0)
        continue;
      b++;
      buffer->node = work_node (planner->program, work)->id;
      buffer->category = GANTRY_BUFFER_WORKSPACE;
      buffer->region = work->init ? GANTRY_REGION_CONSTANT : GANTRY_REGION_ARENA;
      buffer->memory = GANTRY_MEMORY_DEVICE;
      buffer->shares = GANTRY_NO_BUFFER;
      buffer->size = work->workspace;
      buffer->begin = buffer->end = s;
    }
}

/* Packs the places of one region and writes their offsets; constants of all kinds of memory together.
 * Returns: its height */
static guint64
pack_region (Planner *planner, GantryRegion region, GantryMemoryKind memory, const GantryProgress *progress)
{
  GantryPlan *plan = planner->plan;
  const GantryPackOptions options = { GANTRY_PLACE_ALIGNMENT };
  g_autofree GantryPackItem *items = g_new0 (GantryPackItem, plan->n_buffers + 1);
  g_autofree guint32 *buffers = g_new (guint32, plan->n_buffers + 1);
  guint32 n = 0;
  guint64 height;

  for (guint32 b = 0; b < plan->n_buffers; b++)
    {
      const GantryPlanBuffer *buffer = &plan->buffers[b];

      if (buffer->region != region || buffer->shares != GANTRY_NO_BUFFER
          || (region == GANTRY_REGION_ARENA && buffer->memory != memory))
        continue;
      items[n].begin = buffer->begin;
      items[n].end = b < planner->n_values ? planner->lifetimes->place_end[b] : buffer->end;
      items[n].size = buffer->size;
      buffers[n++] = b;
    }
  height = gantry_pack (items, n, &options, progress);
  for (guint32 i = 0; i < n; i++)
    plan->buffers[buffers[i]].offset = items[i].offset;
  return height;
}

/* The literals that are used where they are mapped, each once. */
static guint64
count_literals (const Planner *planner)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  guint64 bytes = 0;

  for (guint32 v = 0; v < planner->n_values; v++)
    {
      const GantryPlanBuffer *buffer = &planner->plan->buffers[v];

      if (buffer->region == GANTRY_REGION_LITERAL && g_hash_table_add (seen, GUINT_TO_POINTER (buffer->literal)))
        bytes += buffer->size;
    }
  return bytes;
}

static gboolean
lay_out (Planner *planner, const GantryProgress *progress, GError **error)
{
  GantryPlan *plan = planner->plan;

  for (guint32 v = 0; v < planner->n_values; v++)
    write_value (planner, v);
  write_workspaces (planner);
  for (guint memory = 0; memory < GANTRY_N_MEMORY_KINDS; memory++)
    plan->arena_bytes[memory] = pack_region (planner, GANTRY_REGION_ARENA, memory, progress);
  plan->constant_bytes = pack_region (planner, GANTRY_REGION_CONSTANT, GANTRY_MEMORY_DEVICE, progress);
  plan->literal_bytes = count_literals (planner);
  for (guint32 b = 0; b < plan->n_buffers; b++)
    plan->buffers[b].offset = plan->buffers[gantry_plan_place_of (plan, b)].offset;
  return !gantry_progress_cancelled (progress, error);
}

/* The buffer that step @node reads for operand @i: views without an offset are what they look at. */
static guint32
operand_ref (const Planner *planner, const GantryNode *node, guint i)
{
  const GantryNode *operand = gantry_node_operand (planner->program->module, node, i);
  guint32 v;

  if (operand == NULL || gantry_node_type (planner->program->module, operand)->kind == GANTRY_TYPE_TOKEN)
    return GANTRY_NO_BUFFER;
  v = planner->program->first_value[gantry_module_position (planner->program->module, operand)
                                    - planner->program->function->first_node];
  return VALUE (planner->program, v)->root;
}

/* What each step reads and writes: operands, results, workspace. One queue: nothing to wait for. */
static void
write_refs (Planner *planner)
{
  const Program *program = planner->program;
  GantryPlan *plan = planner->plan;
  guint32 n = 0, workspace = planner->n_values;

  for (guint32 s = 0; s < plan->n_steps; s++)
    {
      const Work *work = WORK (program, planner->lifetimes->step_work[s]);

      n += work_node (program, work)->n_operands + work->n_values + (work->workspace > 0);
    }
  gantry_plan_set_pools (plan, n, 0);
  n = 0;
  for (guint32 s = 0; s < plan->n_steps; s++)
    {
      const Work *work = WORK (program, planner->lifetimes->step_work[s]);
      const GantryNode *node = work_node (program, work);
      GantryPlanStep *step = &plan->steps[s];

      step->kind = node->op == GANTRY_OP_COPY ? GANTRY_STEP_COPY : GANTRY_STEP_RUN;
      step->first_ref = n;
      step->n_operands = node->n_operands;
      for (guint i = 0; i < node->n_operands; i++)
        plan->refs[n++] = operand_ref (planner, node, i);
      for (guint32 k = 0; k < work->n_values; k++)
        plan->refs[n++] = work->first_value + k;
      if (work->workspace > 0)
        plan->refs[n++] = workspace++;
      step->n_refs = n - step->first_ref;
    }
}

static double
predict (const Planner *planner, const GantryTarget *target, const Work *work)
{
  const GantryModule *module = planner->program->module;
  const GantryNode *node = work_node (planner->program, work);
  GHashTable *measured = planner->options != NULL ? planner->options->measured_us : NULL;
  const double *us = measured != NULL ? g_hash_table_lookup (measured, GUINT_TO_POINTER (node->id)) : NULL;

  if (us != NULL)
    return *us;
  return gantry_target_predict_us (target, gantry_node_flops (module, node), gantry_node_bytes (module, node));
}

static void
write_steps (Planner *planner)
{
  GantryPlan *plan = planner->plan;
  GantryTarget target;
  double now = 0;

  gantry_target_init_cpu (&target, 0);
  if (planner->options != NULL && planner->options->target != NULL)
    target = *planner->options->target;
  plan->n_init_steps = planner->lifetimes->n_init;
  for (guint32 s = 0; s < plan->n_steps; s++)
    {
      const Work *work = WORK (planner->program, planner->lifetimes->step_work[s]);
      GantryPlanStep *step = &plan->steps[s];

      if (s == plan->n_init_steps)
        now = 0;
      step->node = work_node (planner->program, work)->id;
      step->queue = GANTRY_QUEUE_COMPUTE;
      step->init = work->init;
      step->start_us = now;
      step->duration_us = predict (planner, &target, work);
      now += step->duration_us;
      plan->live_bytes[s] = planner->lifetimes->live[s];
      if (plan->live_bytes[s] > plan->live_bytes[plan->peak_step])
        plan->peak_step = s;
    }
  plan->total_us = plan->n_steps > plan->n_init_steps ? now : 0;
  plan->lower_bound = planner->lifetimes->peak;
}

GantryPlan *
gantry_memory_plan (GantryModule *module, const GantryPlanOptions *options, const GantryProgress *progress,
                    GError **error)
{
  g_autoptr (Program) program = _gantry_program_new (module, options, progress, error);
  g_autoptr (Lifetimes) lifetimes = NULL;
  g_autoptr (GantryPlan) plan = NULL;
  Planner planner = { program, NULL, options, NULL, 0 };
  guint32 n_workspaces = 0;

  if (program == NULL)
    return NULL;
  gantry_progress_report (progress, -1, "planning memory");
  planner.lifetimes = lifetimes = choose_order (program, options, progress, error);
  if (lifetimes == NULL)
    return NULL;
  for (guint32 w = 0; w < program->works->len; w++)
    n_workspaces += WORK (program, w)->workspace > 0;
  planner.n_values = program->values->len;
  planner.plan = plan = gantry_plan_new (lifetimes->n_steps, planner.n_values + n_workspaces);
  if (!lay_out (&planner, progress, error))
    return NULL;
  write_steps (&planner);
  write_refs (&planner);
  return g_steal_pointer (&plan);
}
