/* SPDX-License-Identifier: Apache-2.0 */
/* Plan and kernels put together: the list of instructions that the runtime carries out. */
#include "core/kernels/assemble-private.h"
#include "core/kernels/kernel-private.h"
#include "core/base/error.h"
#include <string.h>

#define PLACE 64u

typedef struct
{
  GantryExecutable *executable;
  GArray *instructions;
  GArray *refs;
  guint32 *instruction_of;             /* by step of the plan */
  guint32 last[GANTRY_N_QUEUES];       /* 1 + last instruction of the queue in this phase, 0: none */
  guint32 reached;                     /* 1 + instruction of the compute step before the last one, 0: none */
  guint32 waited[GANTRY_N_QUEUES][GANTRY_N_QUEUES]; /* by the first for the second: up to that (as last) */
} Assembly;

static gboolean G_GNUC_PRINTF (4, 5)
refuse (const Assembly *a, const GantryNode *node, GError **error, const char *format, ...)
{
  g_autofree char *label = gantry_node_label (a->executable->module, node), *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "plan and kernels do not fit together at '%s' (%s): %s", label,
               gantry_node_op_name (a->executable->module, node), what);
  return FALSE;
}

static guint32
add_instruction (Assembly *a, GantryInstruction instruction)
{
  g_array_append_val (a->instructions, instruction);
  a->last[instruction.queue] = a->instructions->len;
  return a->instructions->len - 1;
}

/* Splat constants and constants that lie badly in their file are written out. */
static void
add_fills (Assembly *a)
{
  const GantryPlan *plan = a->executable->plan;

  for (guint32 i = 0; i < plan->n_buffers; i++)
    {
      const GantryPlanBuffer *buffer = &plan->buffers[i];
      GantryInstruction fill = { .kind = GANTRY_INSTRUCTION_FILL, .init = 1, .node = buffer->node,
                                 .buffers = a->refs->len, .n_buffers = 1, .bytes = buffer->size };

      if (buffer->region != GANTRY_REGION_CONSTANT || buffer->literal == 0 || buffer->shares != GANTRY_NO_BUFFER)
        continue;
      g_array_append_val (a->refs, i);
      add_instruction (a, fill);
    }
}

/* The plan says what each step reads and writes, and what it waits for. */

static void
wait_for (Assembly *a, const GantryPlanStep *step, guint32 index, guint32 event)
{
  guint32 *waited = &a->waited[step->queue][g_array_index (a->instructions, GantryInstruction, event).queue];

  if (*waited > event)
    return;
  *waited = event + 1;
  add_instruction (a, (GantryInstruction) { .kind = GANTRY_INSTRUCTION_WAIT, .queue = step->queue, .init = step->init,
                                            .node = step->node, .step = index, .event = event });
}

static gboolean
add_waits (Assembly *a, const GantryPlanStep *step, guint32 index, const GantryNode *node, GError **error)
{
  const GantryPlan *plan = a->executable->plan;

  if (step->n_waits > plan->n_waits || step->first_wait > plan->n_waits - step->n_waits)
    return refuse (a, node, error, "its waits lie beyond the list");
  if (step->init)
    return TRUE; /* one after the other */
  /* A copy begins once the compute queue has reached the step before it in the array: not earlier, or what it fetches
   * would take memory before its time. */
  if (step->queue != GANTRY_QUEUE_COMPUTE && a->reached != 0)
    wait_for (a, step, index, a->reached - 1);
  for (guint32 i = 0; i < step->n_waits; i++)
    {
      guint32 other = plan->waits[step->first_wait + i];

      if (other >= index || plan->steps[other].queue >= GANTRY_N_QUEUES)
        return refuse (a, node, error, "it waits for step %u, which does not come before it", other);
      if (!plan->steps[other].init && plan->steps[other].queue != step->queue)
        wait_for (a, step, index, a->instruction_of[other]);
    }
  return TRUE;
}

static guint64
bytes_of_result (const GantryModule *module, const GantryNode *node, guint i)
{
  return (guint64) gantry_type_bytes (gantry_node_result_type (module, node, i));
}

static gboolean
add_copy (Assembly *a, const GantryPlanStep *step, const GantryNode *node, GantryInstruction instruction,
          GError **error)
{
  const GantryPlan *plan = a->executable->plan;
  const guint32 *refs = plan->refs + step->first_ref;

  if (step->n_refs != 2)
    return refuse (a, node, error, "a copy has %u buffers, not 2", step->n_refs);
  if (plan->buffers[refs[0]].size != plan->buffers[refs[1]].size)
    return refuse (a, node, error, "a copy goes from %" G_GUINT64_FORMAT " bytes to %" G_GUINT64_FORMAT,
                   plan->buffers[refs[0]].size, plan->buffers[refs[1]].size);
  instruction.kind = GANTRY_INSTRUCTION_COPY;
  instruction.bytes = plan->buffers[refs[0]].size;
  add_instruction (a, instruction);
  return TRUE;
}

/* What the kernel takes for granted: as many buffers as it reads and writes, none of them too small. */
static gboolean
check_launch (Assembly *a, const GantryPlanStep *step, const GantryNode *node, const GantryKernel *kernel, GError **error)
{
  const GantryModule *module = a->executable->module;
  const GantryPlanBuffer *buffers = a->executable->plan->buffers;
  const guint32 *refs = a->executable->plan->refs + step->first_ref;
  guint n_results = gantry_node_n_results (module, node);
  guint32 n = node->n_operands + n_results + (kernel->workspace_bytes > 0);

  if (step->n_operands != node->n_operands || step->n_refs != n)
    return refuse (a, node, error, "the plan gives it %u buffers, %u of them operands, where it takes %u and %u",
                   step->n_refs, step->n_operands, n, node->n_operands);
  for (guint i = 0; i < node->n_operands; i++)
    if (buffers[refs[i]].size < (guint64) gantry_type_bytes (gantry_node_operand_type (module, node, i)))
      return refuse (a, node, error, "the buffer of operand %u is smaller than the operand", i);
  for (guint i = 0; i < n_results; i++)
    if (buffers[refs[node->n_operands + i]].size < bytes_of_result (module, node, i))
      return refuse (a, node, error, "the buffer of result %u is smaller than the result", i);
  if (kernel->workspace_bytes > 0 && buffers[refs[n - 1]].size < kernel->workspace_bytes)
    return refuse (a, node, error, "the plan has not the workspace of %" G_GUINT64_FORMAT " bytes that it needs",
                   kernel->workspace_bytes);
  return TRUE;
}

static gboolean
add_launch (Assembly *a, const GantryKernelSet *kernels, const GantryPlanStep *step, const GantryNode *node,
            GantryInstruction instruction, GError **error)
{
  const GantryKernel *kernel = gantry_kernel_set_find (kernels, step->node);

  if (kernel == NULL)
    return refuse (a, node, error, "there is no kernel for it");
  if (!check_launch (a, step, node, kernel, error))
    return FALSE;
  instruction.kind = GANTRY_INSTRUCTION_LAUNCH;
  instruction.kernel = (guint32) (kernel - a->executable->kernels);
  add_instruction (a, instruction);
  return TRUE;
}

static gboolean
check_step (Assembly *a, const GantryPlanStep *step, const GantryNode *node, GError **error)
{
  const GantryPlan *plan = a->executable->plan;

  if (step->queue >= GANTRY_N_QUEUES || step->n_refs > plan->n_refs || step->first_ref > plan->n_refs - step->n_refs)
    return refuse (a, node, error, "its buffers lie beyond the list");
  for (guint32 i = 0; i < step->n_refs; i++)
    if (plan->refs[step->first_ref + i] >= plan->n_buffers)
      return refuse (a, node, error, "the plan has no buffer for value %u that it takes or gives", i);
  return TRUE;
}

static gboolean
add_step (Assembly *a, const GantryKernelSet *kernels, guint32 index, GError **error)
{
  const GantryPlan *plan = a->executable->plan;
  const GantryPlanStep *step = &plan->steps[index];
  const GantryNode *node = gantry_module_node (a->executable->module, step->node);
  GantryInstruction instruction = { .queue = step->queue, .init = step->init, .node = step->node, .step = index,
                                    .n_buffers = step->n_refs };
  gboolean added;

  if (node == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "step %u of the plan names %%%u, which is not in the module",
                   index, step->node);
      return FALSE;
    }
  if (!check_step (a, step, node, error))
    return FALSE;
  if (step->queue == GANTRY_QUEUE_COMPUTE)
    a->reached = a->last[GANTRY_QUEUE_COMPUTE];
  if (!add_waits (a, step, index, node, error))
    return FALSE;
  instruction.buffers = a->refs->len;
  g_array_append_vals (a->refs, plan->refs + step->first_ref, step->n_refs);
  if (step->kind == GANTRY_STEP_COPY)
    added = add_copy (a, step, node, instruction, error);
  else
    added = add_launch (a, kernels, step, node, instruction, error);
  a->instruction_of[index] = a->instructions->len - 1;
  return added;
}

/* The buffers of the ends: of a parameter the place that it is given in, of a result the one that it is read from, which
 * may be a copy in other memory. A value may be both, then it has a buffer (a view) of each category. */
typedef struct
{
  guint32 n;
  guint32 *input, *output; /* by node id: 1 + buffer; 0: none */
} Ends;

static void
find_ends (const GantryPlan *plan, Ends *ends)
{
  for (guint32 b = 0; b < plan->n_buffers; b++)
    {
      const GantryPlanBuffer *buffer = &plan->buffers[b];
      guint32 *slot;

      if (buffer->node >= ends->n || buffer->member != 0
          || (buffer->category != GANTRY_BUFFER_INPUT && buffer->category != GANTRY_BUFFER_OUTPUT))
        continue;
      slot = buffer->category == GANTRY_BUFFER_INPUT ? &ends->input[buffer->node] : &ends->output[buffer->node];
      /* Of two the one that is outside the device: a copy that is made because the result is wanted there. */
      if (*slot == 0 || (buffer->memory != GANTRY_MEMORY_DEVICE
                         && plan->buffers[*slot - 1].memory == GANTRY_MEMORY_DEVICE))
        *slot = b + 1;
    }
}

static gboolean
take_end (Assembly *a, guint32 id, const guint32 *first, const guint32 *second, guint32 *buffer, GError **error)
{
  *buffer = first[id] != 0 ? first[id] - 1 : second[id] != 0 ? second[id] - 1
                                           : gantry_plan_buffer_of (a->executable->plan, id, 0);
  if (*buffer == GANTRY_NO_BUFFER)
    return refuse (a, gantry_module_node (a->executable->module, id), error, "the plan has no buffer for it");
  return TRUE;
}

/* Inputs and outputs are named as they are: the runtime copies in and out of them. */
static gboolean
list_ends (Assembly *a, GError **error)
{
  GantryExecutable *executable = a->executable;
  const GantryModule *module = executable->module;
  const GantryFunction *entry = gantry_module_entry (module);
  g_autofree guint32 *input = g_new0 (guint32, module->n_index + 1), *output = g_new0 (guint32, module->n_index + 1);
  Ends ends = { module->n_index, input, output };

  executable->n_inputs = entry->n_params;
  executable->n_outputs = entry->n_results;
  executable->inputs = g_new0 (guint32, entry->n_params + 1);
  executable->outputs = g_new0 (guint32, entry->n_results + 1);
  find_ends (executable->plan, &ends);
  for (guint32 i = 0; i < entry->n_params; i++)
    if (!take_end (a, module->nodes[entry->first_node + i].id, input, output, &executable->inputs[i], error))
      return FALSE;
  for (guint32 i = 0; i < entry->n_results; i++)
    if (!take_end (a, gantry_function_result_id (module, entry, i), output, input, &executable->outputs[i], error))
      return FALSE;
  return TRUE;
}

static void
place_packed (GantryExecutable *executable)
{
  executable->packed_offsets = g_new0 (guint64, executable->n_kernels + 1);
  for (guint32 i = 0; i < executable->n_kernels; i++)
    {
      executable->packed_offsets[i] = executable->packed_bytes;
      executable->packed_bytes += (executable->kernels[i].packed_bytes + PLACE - 1) / PLACE * PLACE;
    }
}

static gboolean
assemble (Assembly *a, const GantryKernelSet *kernels, GError **error)
{
  const GantryPlan *plan = a->executable->plan;

  if (plan->n_steps > 0 && plan->refs == NULL)
    {
      g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the plan does not say what its steps read and write");
      return FALSE;
    }
  add_fills (a);
  for (guint32 i = 0; i < plan->n_steps; i++)
    {
      if (i == plan->n_init_steps) /* init is over before the first run: nothing to wait for */
        {
          memset (a->last, 0, sizeof a->last);
          a->reached = 0;
        }
      if (!add_step (a, kernels, i, error))
        return FALSE;
    }
  return gantry_assembly_check_layouts (a->executable->module, plan, kernels, error) && list_ends (a, error);
}

/* What the set owns goes to the executable. */
static void
take_kernels (GantryExecutable *executable, GantryKernelSet *kernels)
{
  executable->n_kernels = kernels->n_kernels;
  executable->kernels = g_steal_pointer (&kernels->kernels);
  executable->n_images = kernels->n_images;
  executable->images = g_steal_pointer (&kernels->images);
  kernels->n_images = 0;
  executable->code = kernels->code;
  executable->free_code = g_steal_pointer (&kernels->free_code);
  kernels->n_kernels = 0;
}

GantryExecutable *
gantry_executable_new (GantryModule *module, GantryPlan *plan, GantryKernelSet *kernels, GError **error)
{
  g_autoptr (GantryKernelSet) set = kernels;
  g_autoptr (GantryExecutable) executable = g_new0 (GantryExecutable, 1);
  Assembly a = { .executable = executable };
  gboolean fits;

  g_atomic_ref_count_init (&executable->ref_count);
  executable->module = gantry_module_ref (module);
  executable->plan = gantry_plan_ref (plan);
  a.instructions = g_array_new (FALSE, FALSE, sizeof (GantryInstruction));
  a.refs = g_array_new (FALSE, FALSE, sizeof (guint32));
  a.instruction_of = g_new0 (guint32, plan->n_steps + 1);
  take_kernels (executable, set);
  set->kernels = executable->kernels; /* for looking up; they are not its own any more */
  set->n_kernels = executable->n_kernels;
  fits = assemble (&a, set, error);
  set->kernels = NULL;
  set->n_kernels = 0;
  g_free (a.instruction_of);
  executable->n_instructions = a.instructions->len;
  executable->instructions = (GantryInstruction *) g_array_free (a.instructions, FALSE);
  executable->n_buffer_refs = a.refs->len;
  executable->buffer_refs = (guint32 *) g_array_free (a.refs, FALSE);
  place_packed (executable);
  return fits ? g_steal_pointer (&executable) : NULL;
}
