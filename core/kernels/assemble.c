/* SPDX-License-Identifier: Apache-2.0 */
/* Plan and kernels put together: the list of instructions that the runtime carries out. */
#include "core/kernels/kernel-private.h"
#include "core/base/error.h"
#include <string.h>

#define PLACE 64u

typedef struct
{
  GantryExecutable *executable;
  GArray *instructions;
  GArray *refs;
  GHashTable *workspaces;              /* node id -> 1 + buffer of its workspace */
  guint32 last[GANTRY_N_QUEUES];       /* 1 + last instruction of the queue in this phase, 0: none */
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

/* A view is the buffer that it looks at. */
static guint32
resolve (const GantryPlan *plan, guint32 buffer)
{
  while (plan->buffers[buffer].shares != GANTRY_NO_BUFFER && !plan->buffers[buffer].in_place)
    buffer = plan->buffers[buffer].shares;
  return buffer;
}

static gboolean
add_ref (Assembly *a, const GantryNode *node, guint32 of, guint32 member, GError **error)
{
  guint32 buffer = gantry_plan_buffer_of (a->executable->plan, of, member);

  if (buffer == GANTRY_NO_BUFFER)
    return refuse (a, node, error, "the plan has no buffer for %%%u", of);
  buffer = resolve (a->executable->plan, buffer);
  g_array_append_val (a->refs, buffer);
  return TRUE;
}

static guint32
add_instruction (Assembly *a, GantryInstruction instruction)
{
  g_array_append_val (a->instructions, instruction);
  a->last[instruction.queue] = a->instructions->len;
  return a->instructions->len - 1;
}

/* What is done on one queue may need, or write over, what an instruction before it in the plan's order does on another
 * one: it waits for the last of those, once. */
static void
add_waits (Assembly *a, const GantryPlanStep *step, guint32 index)
{
  for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
    {
      guint32 *waited = &a->waited[step->queue][queue];

      if (queue == step->queue || a->last[queue] <= *waited)
        continue;
      *waited = a->last[queue];
      add_instruction (a, (GantryInstruction) { .kind = GANTRY_INSTRUCTION_WAIT, .queue = step->queue, .init = step->init,
                                                .node = step->node, .step = index, .event = *waited - 1 });
    }
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

static gboolean
add_copy (Assembly *a, const GantryNode *node, GantryInstruction instruction, GError **error)
{
  const GantryModule *module = a->executable->module;

  instruction.kind = GANTRY_INSTRUCTION_COPY;
  instruction.n_buffers = 2;
  instruction.bytes = (guint64) gantry_type_bytes (gantry_node_type (module, node));
  if (!add_ref (a, node, gantry_node_operand_id (module, node, 0), 0, error) || !add_ref (a, node, node->id, 0, error))
    return FALSE;
  add_instruction (a, instruction);
  return TRUE;
}

static gboolean
add_workspace (Assembly *a, const GantryNode *node, const GantryKernel *kernel, GError **error)
{
  guint found = GPOINTER_TO_UINT (g_hash_table_lookup (a->workspaces, GUINT_TO_POINTER (node->id)));
  guint32 buffer = found - 1;

  if (kernel->workspace_bytes == 0)
    return TRUE;
  if (found == 0 || a->executable->plan->buffers[buffer].size < kernel->workspace_bytes)
    return refuse (a, node, error, "the plan has not the workspace of %" G_GUINT64_FORMAT " bytes that it needs",
                   kernel->workspace_bytes);
  g_array_append_val (a->refs, buffer);
  return TRUE;
}

static gboolean
add_launch (Assembly *a, const GantryNode *node, const GantryKernel *kernel, GantryInstruction instruction,
            GError **error)
{
  const GantryModule *module = a->executable->module;

  instruction.kind = GANTRY_INSTRUCTION_LAUNCH;
  instruction.kernel = (guint32) (kernel - a->executable->kernels);
  for (guint i = 0; i < node->n_operands; i++)
    if (!add_ref (a, node, gantry_node_operand_id (module, node, i), 0, error))
      return FALSE;
  for (guint i = 0; i < gantry_node_n_results (module, node); i++)
    if (!add_ref (a, node, node->id, i, error))
      return FALSE;
  if (!add_workspace (a, node, kernel, error))
    return FALSE;
  instruction.n_buffers = a->refs->len - instruction.buffers;
  add_instruction (a, instruction);
  return TRUE;
}

static gboolean
add_step (Assembly *a, const GantryKernelSet *kernels, guint32 index, GError **error)
{
  const GantryPlanStep *step = &a->executable->plan->steps[index];
  const GantryNode *node = gantry_module_node (a->executable->module, step->node);
  const GantryKernel *kernel = gantry_kernel_set_find (kernels, step->node);
  GantryInstruction instruction = { .queue = step->queue, .init = step->init, .node = step->node, .step = index };

  if (node == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "step %u of the plan names %%%u, which is not in the module",
                   index, step->node);
      return FALSE;
    }
  add_waits (a, step, index);
  instruction.buffers = a->refs->len;
  if (node->op == GANTRY_OP_COPY)
    return add_copy (a, node, instruction, error);
  if (kernel == NULL)
    return refuse (a, node, error, "there is no kernel for it");
  return add_launch (a, node, kernel, instruction, error);
}

/* Inputs and outputs are named as they are: the runtime copies in and out of them. */
static gboolean
list_ends (Assembly *a, GError **error)
{
  GantryExecutable *executable = a->executable;
  const GantryModule *module = executable->module;
  const GantryFunction *entry = gantry_module_entry (module);

  executable->n_inputs = entry->n_params;
  executable->n_outputs = entry->n_results;
  executable->inputs = g_new0 (guint32, entry->n_params + 1);
  executable->outputs = g_new0 (guint32, entry->n_results + 1);
  for (guint32 i = 0; i < entry->n_params; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];

      executable->inputs[i] = gantry_plan_buffer_of (executable->plan, node->id, 0);
      if (executable->inputs[i] == GANTRY_NO_BUFFER)
        return refuse (a, node, error, "the plan has no buffer for this parameter");
    }
  for (guint32 i = 0; i < entry->n_results; i++)
    {
      guint32 id = gantry_function_result_id (module, entry, i);

      executable->outputs[i] = gantry_plan_buffer_of (executable->plan, id, 0);
      if (executable->outputs[i] == GANTRY_NO_BUFFER)
        return refuse (a, gantry_module_node (module, id), error, "the plan has no buffer for this result");
      executable->outputs[i] = resolve (executable->plan, executable->outputs[i]);
    }
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

  for (guint32 i = 0; i < plan->n_buffers; i++)
    if (plan->buffers[i].category == GANTRY_BUFFER_WORKSPACE)
      g_hash_table_insert (a->workspaces, GUINT_TO_POINTER (plan->buffers[i].node), GUINT_TO_POINTER (i + 1));
  add_fills (a);
  for (guint32 i = 0; i < plan->n_steps; i++)
    {
      if (i == plan->n_init_steps) /* init is over before the first run: nothing to wait for */
        memset (a->last, 0, sizeof a->last);
      if (!add_step (a, kernels, i, error))
        return FALSE;
    }
  return list_ends (a, error);
}

/* What the set owns goes to the executable. */
static void
take_kernels (GantryExecutable *executable, GantryKernelSet *kernels)
{
  executable->n_kernels = kernels->n_kernels;
  executable->kernels = g_steal_pointer (&kernels->kernels);
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
  a.workspaces = g_hash_table_new (NULL, NULL);
  take_kernels (executable, set);
  set->kernels = executable->kernels; /* for looking up; they are not its own any more */
  set->n_kernels = executable->n_kernels;
  fits = assemble (&a, set, error);
  set->kernels = NULL;
  set->n_kernels = 0;
  g_hash_table_unref (a.workspaces);
  executable->n_instructions = a.instructions->len;
  executable->instructions = (GantryInstruction *) g_array_free (a.instructions, FALSE);
  executable->n_buffer_refs = a.refs->len;
  executable->buffer_refs = (guint32 *) g_array_free (a.refs, FALSE);
  place_packed (executable);
  return fits ? g_steal_pointer (&executable) : NULL;
}
