/* SPDX-License-Identifier: Apache-2.0 */
/* The machine of the planner's tests. */
#include "tests/core/planner/plan-machine.h"
#include "core/eval/eval.h"
#include "core/expr/storage.h"
#include "core/plan/compression.h"
#include "core/plan/plan-alive.h"
#include <string.h>

static gboolean
in_arena (const GantryPlanBuffer *buffer)
{
  return buffer->region == GANTRY_REGION_ARENA && buffer->size > 0;
}

static gboolean
overlap (const GantryPlanBuffer *a, const GantryPlanBuffer *b)
{
  return a->region == b->region && a->region != GANTRY_REGION_LITERAL && (a->region != GANTRY_REGION_ARENA || a->memory == b->memory)
         && a->offset < b->offset + b->size && b->offset < a->offset + a->size;
}

/* A scan makes a stack over one that it walks along, which it is given once, or a slice over a slice. */
static void
check_stacks (const GantryModule *module, const GantryPlan *plan, const GantryPlanStep *step, guint32 operand, guint32 ref)
{
  const guint32 *refs = plan->refs + step->first_ref;
  const GantryNode *node = gantry_module_node (module, step->node);
  gboolean slice = operand >= node->n_operands;
  GantryScan scan;

  gantry_scan_of (module, node, &scan);
  g_assert_true (slice || (operand >= scan.n_carries && operand < scan.n_carries + scan.n_xs));
  g_assert_cmpuint (ref, >=, step->n_operands + scan.n_carries + (slice ? scan.n_ys : 0));
  g_assert_true (slice || ref < step->n_operands + scan.n_carries + scan.n_ys);
  g_assert_cmpuint (plan->buffers[refs[operand]].size, ==, plan->buffers[refs[ref]].size);
  for (guint32 k = 0; k < step->n_operands; k++)
    g_assert_true (k == operand || !overlap (&plan->buffers[refs[k]], &plan->buffers[refs[ref]]));
}

/* Operand @i of the step's node may be overwritten by its result only where the operation says so. */
static void
check_step (const GantryModule *module, const GantryPlan *plan, guint32 s)
{
  const GantryPlanStep *step = &plan->steps[s];
  const GantryNode *node = gantry_module_node (module, step->node);
  const guint32 *refs = plan->refs + step->first_ref;

  g_assert_nonnull (node);
  for (guint32 k = 0; k < step->n_refs; k++)
    {
      const GantryPlanBuffer *buffer = &plan->buffers[refs[k]];

      g_assert_cmpuint (refs[k], <, plan->n_buffers);
      if (!step->init && in_arena (buffer))
        {
          g_assert_cmpuint (buffer->begin, <=, s);
          g_assert_cmpuint (buffer->end, >=, s);
        }
      for (guint32 j = 0; k >= step->n_operands && j < k; j++)
        {
          const GantryPlanBuffer *other = &plan->buffers[refs[j]];

          if (!overlap (buffer, other) || buffer->size == 0 || other->size == 0)
            continue;
          g_assert_cmpuint (j, <, step->n_operands);
          g_assert_cmpint (step->kind, !=, GANTRY_STEP_COPY);
          g_assert_cmpint (step->kind, !=, GANTRY_STEP_CONVERT);
          g_assert_cmpuint (buffer->offset, ==, other->offset);
          if (node->op == GANTRY_OP_SCAN)
            {
              check_stacks (module, plan, step, j, k);
              continue;
            }
          g_assert_cmpuint (k, ==, step->n_operands); /* the first result */
          g_assert_true (gantry_node_may_alias (module, node, j));
        }
    }
  for (guint32 k = 0; k < step->n_waits; k++)
    {
      g_assert_cmpuint (plan->waits[step->first_wait + k], <, s);
      g_assert_cmpuint (plan->steps[plan->waits[step->first_wait + k]].queue, !=, step->queue);
    }
}

static void
check_places (const GantryPlan *plan)
{
  g_autofree guint32 *ends = g_new0 (guint32, plan->n_buffers + 1);

  for (guint32 b = 0; b < plan->n_buffers; b++)
    {
      const GantryPlanBuffer *buffer = &plan->buffers[b];
      const GantryPlanBuffer *place = &plan->buffers[gantry_plan_place_of (plan, b)];

      ends[place - plan->buffers] = MAX (ends[place - plan->buffers], buffer->end);
      g_assert_cmpuint (buffer->offset % GANTRY_PLACE_ALIGNMENT, ==, 0);
      if (!in_arena (buffer))
        continue;
      g_assert_cmpuint (buffer->offset, >=, place->offset);
      g_assert_cmpuint (buffer->offset + buffer->size, <=, place->offset + place->size);
      g_assert_cmpuint (buffer->offset + buffer->size, <=, plan->arena_bytes[buffer->memory]);
    }
  for (guint32 a = 0; a < plan->n_buffers; a++)
    for (guint32 b = 0; b < a; b++)
      {
        const GantryPlanBuffer *x = &plan->buffers[a], *y = &plan->buffers[b];

        if (in_arena (x) && in_arena (y) && x->shares == GANTRY_NO_BUFFER && y->shares == GANTRY_NO_BUFFER && x->begin <= ends[b] && y->begin <= ends[a])
          g_assert_false (overlap (x, y));
      }
}

static void
check_alive (const GantryPlan *plan)
{
  guint64 highest = 0;

  for (guint32 s = plan->n_init_steps; s < plan->n_steps; s++)
    {
      g_autoptr (GArray) alive = gantry_plan_alive_at (plan, s);
      guint64 sum = 0;

      for (guint i = 0; i < alive->len; i++)
        sum += g_array_index (alive, GantryPlanAlive, i).bytes;
      g_assert_cmpuint (sum, ==, plan->live_bytes[s]);
      highest = MAX (highest, sum);
    }
  if (plan->n_steps > plan->n_init_steps)
    {
      g_assert_cmpuint (highest, ==, plan->lower_bound);
      g_assert_cmpuint (plan->live_bytes[plan->peak_step], ==, highest);
    }
  g_assert_cmpuint (plan->arena_bytes[GANTRY_MEMORY_DEVICE], >=, plan->lower_bound);
}

void
plan_check (const GantryModule *module, const GantryPlan *plan)
{
  if (g_getenv ("PLAN_DUMP") != NULL)
    plan_print (module, plan);
  for (guint32 s = 0; s < plan->n_steps; s++)
    check_step (module, plan, s);
  check_places (plan);
  check_alive (plan);
}

/* Every value of the entry function, by position within it and member: what each step must find. */
typedef struct
{
  const GantryModule *module;
  GPtrArray **values;
} Oracle;

static void
oracle_add (Oracle *oracle, const GantryNode *node, GantryLiteral *const *arguments, guint32 i)
{
  const GantryModule *module = oracle->module;
  const GantryType *type = gantry_node_type (module, node);
  const GantryFunction *entry = gantry_module_entry (module);
  GPtrArray *own = oracle->values[i] = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
  const GantryNode *operand = gantry_node_operand (module, node, 0);
  GPtrArray *first = operand != NULL ? oracle->values[gantry_module_position (module, operand) - entry->first_node] : NULL;

  if (node->op == GANTRY_OP_PARAMETER)
    g_ptr_array_add (own, gantry_literal_ref (arguments[i]));
  else if (node->op == GANTRY_OP_CONSTANT)
    g_ptr_array_add (own, gantry_literal_ref (gantry_context_literal (module->context, gantry_attrs_find (module->context, node->attrs, "value")->id)));
  else if (node->op == GANTRY_OP_RESULT)
    g_ptr_array_add (own, gantry_literal_ref (g_ptr_array_index (first, (guint) gantry_attrs_int (module->context, node->attrs, "index", 0))));
  else
    {
      g_autofree GantryLiteral **operands = g_new0 (GantryLiteral *, node->n_operands + 1);
      GantryLiteral *results[8] = { NULL };
      guint n = type->kind == GANTRY_TYPE_TUPLE ? type->rank : 1;
      g_autoptr (GError) error = NULL;

      g_assert_cmpuint (n, <=, G_N_ELEMENTS (results));
      for (guint k = 0; k < node->n_operands; k++)
        operands[k] = g_ptr_array_index (oracle->values[gantry_module_position (module, gantry_node_operand (module, node, k)) - entry->first_node], 0);
      gantry_evaluate_node (module, node, operands, results, n, &error);
      g_assert_no_error (error);
      for (guint k = 0; k < n; k++)
        g_ptr_array_add (own, results[k]);
    }
}

static Oracle
oracle_new (const GantryModule *module, GantryLiteral *const *arguments)
{
  const GantryFunction *entry = gantry_module_entry (module);
  Oracle oracle = { module, g_new0 (GPtrArray *, entry->n_nodes + 1) };

  for (guint32 i = 0; i < entry->n_nodes; i++)
    oracle_add (&oracle, &module->nodes[entry->first_node + i], arguments, i);
  return oracle;
}

static void
oracle_free (Oracle *oracle)
{
  for (guint i = 0; oracle->values[i] != NULL; i++)
    g_ptr_array_unref (oracle->values[i]);
  g_free (oracle->values);
}

static gboolean
oracle_agrees (const Oracle *oracle, const GantryNode *node, guint member, const GantryLiteral *literal)
{
  const GantryModule *module = oracle->module;
  GPtrArray *own = oracle->values[gantry_module_position (module, node) - gantry_module_entry (module)->first_node];

  return gantry_literal_equal (literal, g_ptr_array_index (own, member));
}

typedef struct
{
  const GantryModule *module;
  const GantryPlan *plan;
  Oracle oracle;
  guint8 *arena[GANTRY_N_MEMORY_KINDS];
  guint8 *constants;
  guint8 *done;
} Machine;

static guint8 *
bytes_of (const Machine *machine, guint32 b)
{
  const GantryPlanBuffer *buffer = &machine->plan->buffers[b];

  g_assert_cmpint (buffer->region, !=, GANTRY_REGION_LITERAL);
  return buffer->region == GANTRY_REGION_CONSTANT ? machine->constants + buffer->offset : machine->arena[buffer->memory] + buffer->offset;
}

static GantryLiteral *
read_value (const Machine *machine, guint32 b, const GantryType *type)
{
  const GantryPlanBuffer *buffer = &machine->plan->buffers[b];
  guint8 *data;
  GantryLiteral *literal;

  g_assert_cmpuint (buffer->size, ==, (guint64) gantry_type_bytes (type));
  literal = gantry_literal_new_zeroed (type, &data);
  if (buffer->region == GANTRY_REGION_LITERAL)
    gantry_literal_copy_to (gantry_context_literal (machine->module->context, buffer->literal), data);
  else
    memcpy (data, bytes_of (machine, b), buffer->size);
  return literal;
}

/* A stack that a loop is not given, or does not keep. */
static gboolean
is_absent (const Machine *machine, const GantryNode *node, guint32 buffer, const GantryType *type)
{
  return node->op == GANTRY_OP_SCAN && machine->plan->buffers[buffer].size == 0 && gantry_type_bytes (type) > 0;
}

/* What operand @i of @node must be, whether it is there or not. */
static GantryLiteral *
read_operand (const Machine *machine, const GantryNode *node, guint i, guint32 buffer)
{
  const GantryModule *module = machine->module;
  const GantryNode *operand = gantry_node_operand (module, node, i);
  GPtrArray *values = machine->oracle.values[gantry_module_position (module, operand) - gantry_module_entry (module)->first_node];

  return is_absent (machine, node, buffer, gantry_node_operand_type (module, node, i))
           ? gantry_literal_ref (g_ptr_array_index (values, 0))
           : read_value (machine, buffer, gantry_node_operand_type (module, node, i));
}

/* Slices of operand @i, a stack that has no place. Those that are not there are as they must be. */
static GantryLiteral *
read_slices (const Machine *machine, const GantryNode *node, guint i, const guint32 *refs, guint n)
{
  const GantryModule *module = machine->module;
  const GantryNode *operand = gantry_node_operand (module, node, i);
  GPtrArray *values = machine->oracle.values[gantry_module_position (module, operand) - gantry_module_entry (module)->first_node];
  const GantryType *type = gantry_node_operand_type (module, node, i);
  gsize bytes = (gsize) gantry_type_bytes (type) / n;
  guint8 *data;
  GantryLiteral *literal = gantry_literal_new_zeroed (type, &data);

  gantry_literal_copy_to (g_ptr_array_index (values, 0), data);
  for (guint t = 0; t < n; t++)
    {
      const GantryPlanBuffer *buffer = &machine->plan->buffers[refs[t]];

      g_assert_true (buffer->size == bytes || buffer->size == 0);
      memcpy (data + t * bytes, bytes_of (machine, refs[t]), buffer->size);
    }
  return literal;
}

static void
write_slices (const Machine *machine, const GantryLiteral *value, const guint32 *refs, guint n)
{
  gsize bytes = (gsize) gantry_type_bytes (value->type) / n;
  g_autofree guint8 *data = g_malloc (n * bytes + 1);

  gantry_literal_copy_to (value, data);
  for (guint t = 0; t < n; t++)
    {
      g_assert_cmpuint (machine->plan->buffers[refs[t]].size, ==, bytes);
      memcpy (bytes_of (machine, refs[t]), data + t * bytes, bytes);
    }
}

static guint
trips_of (const Machine *machine, const GantryNode *node)
{
  GantryScan scan = { 0 };

  if (node->op == GANTRY_OP_SCAN)
    gantry_scan_of (machine->module, node, &scan);
  return (guint) scan.length;
}

static void
scribble (guint8 *bytes, gsize n)
{
  for (gsize i = 0; i < n; i++)
    bytes[i] = (guint8) (0xa5 ^ i * 31);
}

static void
run_work (Machine *machine, const GantryPlanStep *step)
{
  const GantryModule *module = machine->module;
  const GantryNode *node = gantry_module_node (module, step->node);
  const guint32 *refs = machine->plan->refs + step->first_ref;
  const GantryType *type = gantry_node_type (module, node);
  guint n_results = type->kind == GANTRY_TYPE_TUPLE ? type->rank : 1, n_trips = trips_of (machine, node);
  guint32 next = node->n_operands;
  g_autofree GantryLiteral **operands = g_new0 (GantryLiteral *, node->n_operands + 1);
  g_autofree GantryLiteral **results = g_new0 (GantryLiteral *, n_results);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < node->n_operands; i++)
    {
      gboolean pieces = refs[i] < machine->plan->n_buffers && machine->plan->buffers[refs[i]].pieces;

      operands[i] = pieces ? read_slices (machine, node, i, refs + next, n_trips) : read_operand (machine, node, i, refs[i]);
      next += pieces ? n_trips : 0;
      if (!oracle_agrees (&machine->oracle, gantry_node_operand (module, node, i), 0, operands[i]))
        g_error ("step %u, node %%%u (%s): operand %u in buffer %u is not what it should be", (guint) (step - machine->plan->steps), node->id,
                 gantry_node_op_name (module, node), i, refs[i]);
    }
  gantry_evaluate_node (module, node, operands, results, n_results, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (step->n_operands, ==, next);
  next += n_results;
  for (guint i = 0; i < n_results; i++)
    next += machine->plan->buffers[refs[step->n_operands + i]].pieces ? n_trips : 0;
  for (guint32 k = next; k < step->n_refs; k++)
    scribble (bytes_of (machine, refs[k]), machine->plan->buffers[refs[k]].size);
  next = step->n_operands + n_results;
  for (guint i = 0; i < n_results; i++)
    {
      if (machine->plan->buffers[refs[step->n_operands + i]].pieces)
        {
          write_slices (machine, results[i], refs + next, n_trips);
          next += n_trips;
        }
      else if (!is_absent (machine, node, refs[step->n_operands + i], results[i]->type))
        gantry_literal_copy_to (results[i], bytes_of (machine, refs[step->n_operands + i]));
      gantry_literal_unref (results[i]);
    }
  for (guint i = 0; i < node->n_operands; i++)
    gantry_literal_unref (operands[i]);
}

/* What is stored in fewer bits stands for the value: here bytes that say whose it is. */
static void
mark (guint8 *bytes, const GantryPlanBuffer *buffer)
{
  for (guint64 i = 0; i < buffer->size; i++)
    bytes[i] = (guint8) (buffer->node * 37 + buffer->member * 11 + buffer->stored + i * 7);
}

static void
run_conversion (Machine *machine, const GantryPlanStep *step)
{
  const GantryModule *module = machine->module;
  const GantryNode *node = gantry_module_node (module, step->node);
  const guint32 *refs = machine->plan->refs + step->first_ref;
  const GantryPlanBuffer *from = &machine->plan->buffers[refs[0]], *to = &machine->plan->buffers[refs[1]];
  const GantryPlanBuffer *exact = from->stored != GANTRY_PLACEMENT_KEEP ? to : from;
  const GantryPlanBuffer *stored = from->stored != GANTRY_PLACEMENT_KEEP ? from : to;
  const GPtrArray *values = machine->oracle.values[gantry_module_position (module, node) - gantry_module_entry (module)->first_node];
  const GantryLiteral *value = g_ptr_array_index (values, from->member);
  g_autofree guint8 *marks = g_malloc (stored->size);

  g_assert_cmpuint (step->n_refs, ==, 2);
  g_assert_cmpuint (from->node, ==, step->node);
  g_assert_cmpuint (to->node, ==, step->node);
  g_assert_cmpint (exact->stored, ==, GANTRY_PLACEMENT_KEEP);
  g_assert_cmpuint (stored->size, ==, gantry_compressed_bytes (stored->stored, gantry_type_elements (value->type)));
  mark (marks, stored);
  if (exact == from)
    {
      GantryLiteral *found = read_value (machine, refs[0], value->type);

      g_assert_true (oracle_agrees (&machine->oracle, node, from->member, found));
      gantry_literal_unref (found);
      memcpy (bytes_of (machine, refs[1]), marks, stored->size);
    }
  else
    {
      g_assert_cmpmem (bytes_of (machine, refs[0]), stored->size, marks, stored->size);
      gantry_literal_copy_to (value, bytes_of (machine, refs[1]));
    }
}

static void
run_step (Machine *machine, guint32 s)
{
  const GantryPlanStep *step = &machine->plan->steps[s];
  const guint32 *refs = machine->plan->refs + step->first_ref;

  if (step->kind == GANTRY_STEP_COPY)
    {
      g_assert_cmpuint (step->n_refs, ==, 2);
      g_assert_cmpuint (machine->plan->buffers[refs[0]].size, ==, machine->plan->buffers[refs[1]].size);
      if (machine->plan->buffers[refs[0]].region == GANTRY_REGION_LITERAL)
        gantry_literal_copy_to (gantry_context_literal (machine->module->context, machine->plan->buffers[refs[0]].literal), bytes_of (machine, refs[1]));
      else
        memmove (bytes_of (machine, refs[1]), bytes_of (machine, refs[0]), machine->plan->buffers[refs[0]].size);
    }
  else if (step->kind == GANTRY_STEP_CONVERT)
    run_conversion (machine, step);
  else
    run_work (machine, step);
  machine->done[s] = TRUE;
}

static gboolean
is_ready (const Machine *machine, guint32 s)
{
  const GantryPlanStep *step = &machine->plan->steps[s];

  for (guint32 k = 0; k < step->n_waits; k++)
    if (!machine->done[machine->plan->waits[step->first_wait + k]])
      return FALSE;
  return TRUE;
}

/* Next of each queue that waits for nothing more. */
static void
run_queues (Machine *machine, GRand *random, double compute)
{
  const GantryPlan *plan = machine->plan;
  guint32 next[GANTRY_N_QUEUES];

  for (guint q = 0; q < GANTRY_N_QUEUES; q++)
    next[q] = plan->n_init_steps;
  for (;;)
    {
      guint ready[GANTRY_N_QUEUES], n = 0, first = 0, chosen;

      for (guint q = 0; q < GANTRY_N_QUEUES; q++)
        {
          while (next[q] < plan->n_steps && plan->steps[next[q]].queue != q)
            next[q]++;
          if (next[q] < plan->n_steps && is_ready (machine, next[q]))
            ready[n++] = q;
        }
      if (n == 0)
        break;
      first = ready[0] == GANTRY_QUEUE_COMPUTE;
      if (first && (n == 1 || g_rand_double (random) < compute))
        chosen = GANTRY_QUEUE_COMPUTE;
      else
        chosen = ready[first + (n - first > 1 ? (guint) g_rand_int_range (random, 0, (gint) (n - first)) : 0)];
      run_step (machine, next[chosen]++);
    }
  for (guint32 s = plan->n_init_steps; s < plan->n_steps; s++)
    g_assert_true (machine->done[s]); /* else the queues wait for each other */
}

static void
write_arguments (Machine *machine, GantryLiteral *const *arguments)
{
  const GantryModule *module = machine->module;
  const GantryFunction *entry = gantry_module_entry (module);

  for (guint32 b = 0; b < machine->plan->n_buffers; b++)
    {
      const GantryPlanBuffer *buffer = &machine->plan->buffers[b];

      if (buffer->region == GANTRY_REGION_CONSTANT && buffer->literal != 0)
        gantry_literal_copy_to (gantry_context_literal (module->context, buffer->literal), bytes_of (machine, b));
    }
  for (guint32 i = 0; i < entry->n_params; i++)
    {
      guint32 b = gantry_plan_buffer_of (machine->plan, module->nodes[entry->first_node + i].id, 0);

      gantry_literal_copy_to (arguments[i], bytes_of (machine, b));
    }
}

/* A donation in vain. */
static gboolean
is_told (const GantryPlan *plan, guint32 node)
{
  for (guint32 i = 0; i < plan->n_problems; i++)
    if (plan->problems[i].node == node && strstr (plan->problems[i].reason, "cannot take its place") != NULL)
      return TRUE;
  return FALSE;
}

static void
check_results (const Machine *machine, GantryLiteral *const *expected)
{
  const GantryModule *module = machine->module;
  const GantryFunction *entry = gantry_module_entry (module);

  for (guint i = 0; i < entry->n_results; i++)
    {
      guint32 id = gantry_function_result_id (module, entry, i);
      guint32 b = gantry_plan_buffer_of (machine->plan, id, 0);
      GantryLiteral *got = read_value (machine, b, gantry_node_type (module, gantry_module_node (module, id)));

      if (!gantry_literal_equal (got, expected[i]))
        {
          gint64 k = 0;

          while (gantry_literal_get_double (got, k) == gantry_literal_get_double (expected[i], k))
            k++;
          g_error ("result %u, node %%%u, is not what it should be in buffer %u: element %d is %.17g, not %.17g", i, id, b, (int) k,
                   gantry_literal_get_double (got, k), gantry_literal_get_double (expected[i], k));
        }
      gantry_literal_unref (got);
    }
  /* What is donated lies where its argument lay. */
  for (guint32 i = 0; i < entry->n_params && machine->plan->resident; i++)
    {
      const GantryNode *parameter = &module->nodes[entry->first_node + i];
      gint alias = gantry_parameter_alias (module, parameter);
      const GantryPlanBuffer *from, *to;

      if (alias < 0)
        continue;
      from = &machine->plan->buffers[gantry_plan_buffer_of (machine->plan, parameter->id, 0)];
      to = &machine->plan->buffers[gantry_plan_buffer_of (machine->plan, gantry_function_result_id (module, entry, (guint) alias), 0)];
      if (from->size != to->size || to->category != GANTRY_BUFFER_OUTPUT || is_told (machine->plan, parameter->id))
        continue;
      g_assert_cmpint (from->memory, ==, to->memory);
      g_assert_cmpuint (from->offset, ==, to->offset);
    }
}

void
plan_print (const GantryModule *module, const GantryPlan *plan)
{
  for (guint32 b = 0; b < plan->n_buffers; b++)
    {
      const GantryPlanBuffer *buffer = &plan->buffers[b];

      g_printerr ("b%u %%%u.%u cat %u region %u mem %u inst %u%s shares %d at %" G_GUINT64_FORMAT "+%" G_GUINT64_FORMAT " [%u %u] role %u\n", b, buffer->node,
                  buffer->member, buffer->category, buffer->region, buffer->memory, buffer->instance, buffer->in_place ? " in-place" : "",
                  (gint32) buffer->shares, buffer->offset, buffer->size, buffer->begin, buffer->end, buffer->role);
    }
  for (guint32 s = 0; s < plan->n_steps; s++)
    {
      const GantryPlanStep *step = &plan->steps[s];

      g_printerr ("s%u q%u kind %u %%%u %s inst %u t %.2f+%.2f wait %.2f live %" G_GUINT64_FORMAT " refs", s, step->queue, step->kind, step->node,
                  gantry_node_op_name (module, gantry_module_node (module, step->node)), step->instance, step->start_us, step->duration_us, step->wait_us,
                  plan->live_bytes[s]);
      for (guint32 k = 0; k < step->n_refs; k++)
        g_printerr ("%s%u", k == step->n_operands ? " -> " : " ", plan->refs[step->first_ref + k]);
      g_printerr (" waits");
      for (guint32 k = 0; k < step->n_waits; k++)
        g_printerr (" %u", plan->waits[step->first_wait + k]);
      g_printerr ("\n");
    }
}

void
plan_run (const GantryModule *module, const GantryPlan *plan, GantryLiteral *const *arguments, GantryLiteral *const *expected, GRand *random, double compute)
{
  Machine machine = { module, plan };
  machine.done = g_new0 (guint8, plan->n_steps + 1);
  machine.constants = g_malloc (plan->constant_bytes + 1);
  scribble (machine.constants, plan->constant_bytes);
  for (guint m = 0; m < GANTRY_N_MEMORY_KINDS; m++)
    {
      machine.arena[m] = g_malloc (plan->arena_bytes[m] + 1);
      scribble (machine.arena[m], plan->arena_bytes[m]);
    }
  machine.oracle = oracle_new (module, arguments);
  write_arguments (&machine, arguments);
  for (guint32 s = 0; s < plan->n_init_steps; s++)
    run_step (&machine, s);
  run_queues (&machine, random, compute);
  check_results (&machine, expected);
  for (guint m = 0; m < GANTRY_N_MEMORY_KINDS; m++)
    g_free (machine.arena[m]);
  oracle_free (&machine.oracle);
  g_free (machine.constants);
  g_free (machine.done);
}

GantryLiteral **
plan_arguments (const GantryModule *module, GRand *random)
{
  const GantryFunction *entry = gantry_module_entry (module);
  GantryLiteral **arguments = g_new0 (GantryLiteral *, entry->n_params + 1);

  for (guint32 i = 0; i < entry->n_params; i++)
    {
      const GantryType *type = gantry_node_type (module, &module->nodes[entry->first_node + i]);
      gsize size = gantry_element_size (type->element);
      guint8 *data;

      arguments[i] = gantry_literal_new_zeroed (type, &data);
      for (gint64 k = 0; k < gantry_type_elements (type); k++)
        if (gantry_element_is_float (type->element))
          gantry_element_write_double (type->element, data + (gsize) k * size, g_rand_double_range (random, -1, 1));
        else
          gantry_element_write_int (type->element, data + (gsize) k * size, g_rand_int_range (random, 0, 1000));
    }
  return arguments;
}

GantryLiteral **
plan_expected (const GantryModule *module, GantryLiteral *const *arguments)
{
  const GantryFunction *entry = gantry_module_entry (module);
  GantryLiteral **results = g_new0 (GantryLiteral *, entry->n_results + 1);
  g_autoptr (GError) error = NULL;

  gantry_evaluate (module, entry, arguments, results, NULL, &error);
  g_assert_no_error (error);
  return results;
}

void
plan_free_literals (GantryLiteral **literals)
{
  for (guint i = 0; literals[i] != NULL; i++)
    gantry_literal_unref (literals[i]);
  g_free (literals);
}
