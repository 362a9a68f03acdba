/* SPDX-License-Identifier: Apache-2.0 */
/* Plan and kernels put together: the list of instructions that the runtime carries out. */
#include "core/kernels/assemble-private.h"
#include "core/base/error.h"
#include "core/graph/operation.h"
#include "core/kernels/program/node-kernel.h"
#include <string.h>

#define PLACE 64u

typedef struct
{
  GantryExecutable *executable;
  GArray *instructions;
  GArray *refs;
  guint32 *instruction_of;                          /* by step of the plan */
  guint32 last[GANTRY_N_QUEUES];                    /* 1 + last instruction of the queue in this phase, 0: none */
  guint32 reached;                                  /* 1 + instruction of the compute step before the last one, 0: none */
  guint32 waited[GANTRY_N_QUEUES][GANTRY_N_QUEUES]; /* by the first for the second: up to that (as last) */
} Assembly;

static gboolean G_GNUC_PRINTF (4, 5) refuse (const Assembly *a, const GantryNode *node, GError **error, const char *format, ...)
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
      GantryInstruction fill = {
        .kind = GANTRY_INSTRUCTION_FILL, .init = 1, .node = buffer->node, .buffers = a->refs->len, .n_buffers = 1, .bytes = buffer->size
      };

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
  add_instruction (
    a, (GantryInstruction){ .kind = GANTRY_INSTRUCTION_WAIT, .queue = step->queue, .init = step->init, .node = step->node, .step = index, .event = event });
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
add_copy (Assembly *a, const GantryPlanStep *step, const GantryNode *node, GantryInstruction instruction, GError **error)
{
  const GantryPlan *plan = a->executable->plan;
  const guint32 *refs = plan->refs + step->first_ref;

  if (step->n_refs != 2)
    return refuse (a, node, error, "a copy has %u buffers, not 2", step->n_refs);
  if (plan->buffers[refs[0]].size != plan->buffers[refs[1]].size)
    return refuse (a, node, error, "a copy goes from %" G_GUINT64_FORMAT " bytes to %" G_GUINT64_FORMAT, plan->buffers[refs[0]].size,
                   plan->buffers[refs[1]].size);
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
    return refuse (a, node, error, "the plan gives it %u buffers, %u of them operands, where it takes %u and %u", step->n_refs, step->n_operands, n,
                   node->n_operands);
  for (guint i = 0; i < node->n_operands; i++)
    if (buffers[refs[i]].size < (guint64) gantry_type_bytes (gantry_node_operand_type (module, node, i)))
      return refuse (a, node, error, "the buffer of operand %u is smaller than the operand", i);
  for (guint i = 0; i < n_results; i++)
    if (buffers[refs[node->n_operands + i]].size < bytes_of_result (module, node, i))
      return refuse (a, node, error, "the buffer of result %u is smaller than the result", i);
  if (kernel->workspace_bytes > 0 && buffers[refs[n - 1]].size < kernel->workspace_bytes)
    return refuse (a, node, error, "the plan has not the workspace of %" G_GUINT64_FORMAT " bytes that it needs", kernel->workspace_bytes);
  return TRUE;
}

/* Of the buffer at @ref of the step: where its slices stand, behind the @n that are given before them; 0: it has a place. */
static guint32
take_pieces (const Assembly *a, const GantryPlanStep *step, const GantryControl *control, guint32 ref, guint32 *n)
{
  const GantryPlan *plan = a->executable->plan;
  guint32 first = *n;

  if (control->kind != GANTRY_CONTROL_SCAN || ref >= step->n_refs || !plan->buffers[plan->refs[step->first_ref + ref]].pieces)
    return 0;
  *n += (guint32) control->trips;
  return first;
}

static void
find_pieces (const Assembly *a, const GantryPlanStep *step, GantryControlCode *code)
{
  const GantryControl *control = &code->control;
  guint32 n = control->n_operands;

  code->pieces = g_new0 (guint32, control->n_operands + control->n_results + (gsize) 1);
  for (guint i = 0; i < control->n_operands; i++)
    code->pieces[i] = take_pieces (a, step, control, i, &n);
  code->first_result = n;
  n += control->n_results;
  for (guint o = 0; o < control->n_results; o++)
    code->pieces[control->n_operands + o] = take_pieces (a, step, control, code->first_result + o, &n);
  code->workspace = n;
}

/* What control takes: operands, results, slices of both, and the workspace that its regions lie in. */
static gboolean
check_control (Assembly *a, const GantryPlanStep *step, const GantryNode *node, const GantryControlCode *code, GError **error)
{
  const GantryPlanBuffer *buffers = a->executable->plan->buffers;
  const guint32 *refs = a->executable->plan->refs + step->first_ref;
  guint64 workspace = 0;
  guint32 n;

  for (guint r = 0; r < code->control.n_regions; r++)
    workspace = MAX (workspace, code->layouts[r]->bytes);
  n = code->workspace + (workspace > 0);
  if (step->n_operands != code->first_result || step->n_refs != n)
    return refuse (a, node, error, "the plan gives it %u buffers, %u of them operands, where it takes %u and %u", step->n_refs, step->n_operands, n,
                   code->first_result);
  return workspace == 0 || buffers[refs[n - 1]].size >= workspace
           ? TRUE
           : refuse (a, node, error, "the plan has not the workspace of %" G_GUINT64_FORMAT " bytes that it needs", workspace);
}

/* Of one function, whose kernels are in @kernels. */
static GantryExecutable *assemble_function (GantryExecutable *whole, GantryModule *module, GantryPlan *plan, const GantryKernelSet *kernels, GError **error);

/* Bytes of the whole that ref @i of @step stands for. */
static gint64
slice_bytes (const Assembly *a, const GantryPlanStep *step, guint i)
{
  const GantryModule *module = a->executable->module;
  const GantryNode *node = gantry_module_node (module, step->node);

  return gantry_type_bytes (i < node->n_operands ? gantry_node_operand_type (module, node, i) : gantry_node_result_type (module, node, i - node->n_operands));
}

/* What becomes of slices in @buffer. @bytes: of the operand or result that they are of */
static guint8
slice_of (const GantryPlan *plan, const GantryPlanBuffer *buffer, gint64 bytes)
{
  guint8 slice = 0;

  if (plan->slices_staged || buffer->region == GANTRY_REGION_LITERAL || buffer->memory != GANTRY_MEMORY_DEVICE)
    slice = GANTRY_SLICE_STAGED;
  if (!plan->slices_staged && buffer->region == GANTRY_REGION_ARENA && buffer->memory != GANTRY_MEMORY_DEVICE)
    slice |= GANTRY_SLICE_STREAMED;
  if (buffer->size == 0 && bytes > 0)
    slice |= GANTRY_SLICE_ABSENT;
  return slice;
}

/* Which slices of a scan cannot be used where they lie in what the step reads and writes, and of what the plan has not. (transfer full) */
static guint8 *
find_slices (const Assembly *a, const GantryPlanStep *step, const GantryControlCode *code)
{
  const GantryPlan *plan = a->executable->plan;
  const GantryControl *control = &code->control;
  guint n = control->n_operands + control->n_results;
  guint8 *slices = g_new0 (guint8, n + (gsize) 1);

  for (guint i = control->first; i < n; i++)
    {
      guint32 ref = i < control->n_operands ? i : code->first_result + i - control->n_operands;
      guint32 first = code->pieces[i] != 0 ? code->pieces[i] : ref, end = code->pieces[i] != 0 ? first + (guint32) control->trips : first + 1;

      for (; first < end && end <= step->n_refs; first++)
        slices[i - control->first] |= slice_of (plan, &plan->buffers[plan->refs[step->first_ref + first]], slice_bytes (a, step, i));
    }
  return slices;
}

static gboolean
add_control (Assembly *a, const GantryKernelSet *kernels, const GantryPlanStep *step, const GantryNode *node, GantryInstruction instruction, GError **error)
{
  GantryExecutable *executable = a->executable, *whole = executable->whole != NULL ? executable->whole : executable;
  g_autofree guint8 *slices = NULL;
  GantryControlCode *code;

  executable->controls = g_renew (GantryControlCode, executable->controls, executable->n_controls + 1);
  code = &executable->controls[executable->n_controls++];
  *code = (GantryControlCode){ .node = node->id };
  if (!gantry_control_of (executable->module, node, &code->control))
    return refuse (a, node, error, "it names a function that is not in the module");
  find_pieces (a, step, code);
  slices = find_slices (a, step, code);
  for (guint r = 0; r < code->control.n_regions; r++)
    {
      guint32 function = code->control.functions[r];
      GantryPlan *plan = gantry_plan_region (executable->plan, node->id, function);
      g_autoptr (GantryModule) module = plan != NULL ? gantry_module_region (executable->module, function) : NULL;

      if (module == NULL)
        return refuse (a, node, error, "the plan has none for what it runs");
      code->layouts[r] = gantry_region_layout_new (&code->control, r, module, plan, slices, error);
      if (code->layouts[r] == NULL)
        return FALSE;
      code->regions[r] = assemble_function (whole, module, plan, kernels, error);
      if (code->regions[r] == NULL)
        return FALSE;
    }
  if (!check_control (a, step, node, code, error))
    return FALSE;
  instruction.kind = GANTRY_INSTRUCTION_CONTROL;
  instruction.control = executable->n_controls - 1;
  add_instruction (a, instruction);
  return TRUE;
}

static gboolean
add_launch (Assembly *a, const GantryKernelSet *kernels, const GantryPlanStep *step, const GantryNode *node, GantryInstruction instruction, GError **error)
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

/* To fewer bits or back from them: a kernel of no node. */
static gboolean
add_conversion (Assembly *a, const GantryKernelSet *kernels, const GantryPlanStep *step, const GantryNode *node, GantryInstruction instruction, GError **error)
{
  const GantryPlan *plan = a->executable->plan;
  const guint32 *refs = plan->refs + step->first_ref;
  GantryCompression compression;
  const GantryKernel *kernel;
  gboolean back;
  guint64 exact;

  if (!gantry_plan_step_compression (plan, step, a->executable->module, &compression, &back))
    return refuse (a, node, error, "its conversion is none that there is");
  exact = (guint64) compression.elements * gantry_element_size (compression.element);
  if (plan->buffers[refs[back]].size < exact || plan->buffers[refs[!back]].size < gantry_compressed_bytes (compression.kind, compression.elements))
    return refuse (a, node, error, "the buffers of its conversion are too small");
  kernel = gantry_kernel_set_find_compression (kernels, &compression, back);
  if (kernel == NULL)
    return refuse (a, node, error, "there is no kernel for its conversion");
  instruction.kind = GANTRY_INSTRUCTION_LAUNCH;
  instruction.kernel = (guint32) (kernel - kernels->kernels);
  add_instruction (a, instruction);
  return TRUE;
}

/* An operand without a value, which only says what comes first. */
static gboolean
is_token (const Assembly *a, const GantryPlanStep *step, const GantryNode *node, guint32 i)
{
  return step->kind != GANTRY_STEP_COPY && step->kind != GANTRY_STEP_CONVERT && i < step->n_operands
         && gantry_node_operand_type (a->executable->module, node, i)->kind == GANTRY_TYPE_TOKEN;
}

static gboolean
check_step (Assembly *a, const GantryPlanStep *step, const GantryNode *node, GError **error)
{
  const GantryPlan *plan = a->executable->plan;

  if (step->queue >= GANTRY_N_QUEUES || step->n_refs > plan->n_refs || step->first_ref > plan->n_refs - step->n_refs)
    return refuse (a, node, error, "its buffers lie beyond the list");
  for (guint32 i = 0; i < step->n_refs; i++)
    if (plan->refs[step->first_ref + i] >= plan->n_buffers && !is_token (a, step, node, i))
      return refuse (a, node, error, "the plan has no buffer for value %u that it takes or gives", i);
  return TRUE;
}

static gboolean
add_step (Assembly *a, const GantryKernelSet *kernels, guint32 index, GError **error)
{
  const GantryPlan *plan = a->executable->plan;
  const GantryPlanStep *step = &plan->steps[index];
  const GantryNode *node = gantry_module_node (a->executable->module, step->node);
  GantryInstruction instruction = { .queue = step->queue, .init = step->init, .node = step->node, .step = index, .n_buffers = step->n_refs };
  gboolean added;

  if (node == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "step %u of the plan names %%%u, which is not in the module", index, step->node);
      return FALSE;
    }
  if (!check_step (a, step, node, error))
    return FALSE;
  if (step->queue == GANTRY_QUEUE_COMPUTE)
    a->reached = a->last[GANTRY_QUEUE_COMPUTE];
  if (!add_waits (a, step, index, node, error))
    return FALSE;
  instruction.buffers = a->refs->len;
  instruction.n_buffers = 0;
  for (guint32 i = 0; i < step->n_refs; i++)
    if (!is_token (a, step, node, i))
      {
        g_array_append_val (a->refs, plan->refs[step->first_ref + i]);
        instruction.n_buffers++;
      }
  if (step->kind == GANTRY_STEP_COPY)
    added = add_copy (a, step, node, instruction, error);
  else if (step->kind == GANTRY_STEP_CONVERT)
    added = add_conversion (a, kernels, step, node, instruction, error);
  else if (gantry_node_is_control (node))
    added = add_control (a, kernels, step, node, instruction, error);
  else if (node->op == GANTRY_OP_CUSTOM_CALL && gantry_kernel_set_find (kernels, node->id) == NULL)
    {
      instruction.kind = GANTRY_INSTRUCTION_HOST_CALL;
      add_instruction (a, instruction);
      added = TRUE;
    }
  else
    added = add_launch (a, kernels, step, node, instruction, error);
  a->instruction_of[index] = a->instructions->len - 1;
  return added;
}

/* Inputs and outputs are named as they are: the runtime copies in and out of them. */
static gboolean
list_ends (Assembly *a, GError **error)
{
  GantryExecutable *executable = a->executable;
  const GantryFunction *entry = gantry_module_entry (executable->module);

  executable->n_inputs = entry->n_params;
  executable->n_outputs = entry->n_results;
  executable->inputs = g_new0 (guint32, entry->n_params + 1);
  executable->outputs = g_new0 (guint32, entry->n_results + 1);
  return gantry_plan_find_ends (executable->plan, executable->module, executable->inputs, executable->outputs, error);
}

static void
place_packed (GantryExecutable *executable)
{
  executable->packed_offsets = g_new (guint64, executable->n_kernels + 1);
  memset (executable->packed_offsets, 0xff, (executable->n_kernels + 1) * sizeof (guint64));
  for (guint32 i = 0; i < executable->n_instructions; i++)
    {
      const GantryInstruction *launch = &executable->instructions[i];

      if (launch->kind != GANTRY_INSTRUCTION_LAUNCH || executable->packed_offsets[launch->kernel] != G_MAXUINT64)
        continue;
      executable->packed_offsets[launch->kernel] = executable->packed_bytes;
      executable->packed_bytes += (executable->kernels[launch->kernel].packed_bytes + PLACE - 1) / PLACE * PLACE;
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

/* @executable: has its kernels */
static gboolean
assemble_into (GantryExecutable *executable, GantryModule *module, GantryPlan *plan, const GantryKernelSet *kernels, GError **error)
{
  Assembly a = { .executable = executable };
  gboolean fits;

  executable->module = gantry_module_ref (module);
  executable->plan = gantry_plan_ref (plan);
  a.instructions = g_array_new (FALSE, FALSE, sizeof (GantryInstruction));
  a.refs = g_array_new (FALSE, FALSE, sizeof (guint32));
  a.instruction_of = g_new0 (guint32, plan->n_steps + 1);
  fits = assemble (&a, kernels, error);
  g_free (a.instruction_of);
  executable->n_instructions = a.instructions->len;
  executable->instructions = (GantryInstruction *) g_array_free (a.instructions, FALSE);
  executable->n_buffer_refs = a.refs->len;
  executable->buffer_refs = (guint32 *) g_array_free (a.refs, FALSE);
  place_packed (executable);
  return fits;
}

static GantryExecutable *
assemble_function (GantryExecutable *whole, GantryModule *module, GantryPlan *plan, const GantryKernelSet *kernels, GError **error)
{
  g_autoptr (GantryExecutable) executable = g_new0 (GantryExecutable, 1);

  g_atomic_ref_count_init (&executable->ref_count);
  executable->whole = whole;
  executable->n_kernels = whole->n_kernels;
  executable->kernels = whole->kernels;
  return assemble_into (executable, module, plan, kernels, error) ? g_steal_pointer (&executable) : NULL;
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
  gboolean fits;

  g_atomic_ref_count_init (&executable->ref_count);
  take_kernels (executable, set);
  set->kernels = executable->kernels; /* for looking up; they are not its own any more */
  set->n_kernels = executable->n_kernels;
  fits = assemble_into (executable, module, plan, set, error);
  set->kernels = NULL;
  set->n_kernels = 0;
  return fits ? g_steal_pointer (&executable) : NULL;
}
