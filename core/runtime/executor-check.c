/* SPDX-License-Identifier: Apache-2.0 */
/* An executable is checked once, when it is loaded, so that running it need not. What is wrong is wrong in its
 * maker, but it may have come from a file. */
#include "core/base/error.h"
#include "core/runtime/executor-private.h"

#define MOST_BYTES (G_GUINT64_CONSTANT (1) << 60)

static gboolean G_GNUC_PRINTF (2, 3) invalid (GError **error, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "executable: %s", what);
  return FALSE;
}

/* What shares a place lies in it: a view may begin inside. */
static gboolean
check_shared (const GantryExecutable *executable, guint32 i, GError **error)
{
  const GantryPlan *plan = executable->plan;
  const GantryPlanBuffer *buffer = &plan->buffers[i], *of;

  if (buffer->shares >= plan->n_buffers)
    return invalid (error, "buffer %u shares the place of one that does not exist", i);
  of = &plan->buffers[buffer->shares];
  if (of->region != buffer->region || of->memory != buffer->memory || of->offset > buffer->offset)
    return invalid (error, "buffer %u does not lie in the place of buffer %u, which it shares", i, buffer->shares);
  return TRUE;
}

/* Chains of sharing buffers end: every buffer is walked through once. */
static gboolean
check_chains (const GantryExecutable *executable, GError **error)
{
  const GantryPlan *plan = executable->plan;
  g_autofree guint32 *walk = g_new0 (guint32, plan->n_buffers + 1); /* 1 + buffer whose walk came by */

  for (guint32 i = 0; i < plan->n_buffers; i++)
    for (guint32 b = i; b != GANTRY_NO_BUFFER; b = plan->buffers[b].shares)
      {
        if (walk[b] == i + 1)
          return invalid (error, "buffer %u shares its place with itself", b);
        if (walk[b] != 0)
          break;
        walk[b] = i + 1;
      }
  return TRUE;
}

static gboolean
check_buffer (const GantryExecutable *executable, guint32 i, GError **error)
{
  const GantryPlan *plan = executable->plan;
  const GantryPlanBuffer *buffer = &plan->buffers[i];
  guint64 region = buffer->region == GANTRY_REGION_CONSTANT ? plan->constant_bytes : 0;
  const GantryLiteral *literal;

  if (buffer->memory >= GANTRY_N_MEMORY_KINDS || buffer->region > GANTRY_REGION_LITERAL || buffer->size > MOST_BYTES)
    return invalid (error, "buffer %u has no known kind of memory, region or size", i);
  if (buffer->shares != GANTRY_NO_BUFFER && !check_shared (executable, i, error))
    return FALSE;
  if (buffer->region == GANTRY_REGION_ARENA)
    region = plan->arena_bytes[buffer->memory];
  if (buffer->region != GANTRY_REGION_LITERAL)
    return buffer->size <= region && buffer->offset <= region - buffer->size
             ? TRUE
             : invalid (error, "buffer %u reaches beyond its region of %" G_GUINT64_FORMAT " bytes", i, region);
  literal = gantry_context_literal (executable->module->context, buffer->literal);
  if (literal == NULL || literal->size < buffer->size || buffer->offset > literal->size - buffer->size)
    return invalid (error, "buffer %u has no literal of its size", i);
  return TRUE;
}

/* A kernel has code for where it shall run. */
static gboolean
check_kernel (const GantryExecutable *executable, const GantryKernel *kernel, gboolean host, GError **error)
{
  if (host ? kernel->func != NULL : kernel->gpu != NULL)
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "executable: kernel '%s' has no code for %s; compile it for the device that it shall run on",
               kernel->name, host ? "the processor" : "a GPU");
  return FALSE;
}

/* What its launches on a GPU name is there. @n_buffers: those that it gets */
static gboolean
check_gpu (const GantryExecutable *executable, const GantryKernel *kernel, guint32 n_buffers, GError **error)
{
  const GantryExecutable *owner = executable->whole != NULL ? executable->whole : executable;

  for (guint32 i = 0; i < kernel->gpu->n_launches; i++)
    {
      const GantryGpuLaunch *launch = &kernel->gpu->launches[i];

      if (launch->image >= owner->n_images || launch->entry == NULL)
        return invalid (error, "launch %u of kernel '%s' names no code", i, kernel->name);
      for (guint d = 0; d < 3; d++)
        if (launch->grid[d] == 0 || launch->block[d] == 0)
          return invalid (error, "launch %u of kernel '%s' is empty", i, kernel->name);
      for (guint32 m = 0; m < launch->n_maps; m++)
        if (launch->maps[m].buffer >= n_buffers || launch->maps[m].rank < 1 || launch->maps[m].rank > 5)
          return invalid (error, "tensor map %u of kernel '%s' is of no buffer or has no known rank", m, kernel->name);
    }
  return TRUE;
}

static gboolean
check_launch (const GantryExecutable *executable, guint32 i, gboolean host, GError **error)
{
  const GantryInstruction *instruction = &executable->instructions[i];
  const GantryKernel *kernel = NULL;
  guint32 n_buffers = instruction->n_buffers;

  if (instruction->kernel < executable->n_kernels)
    kernel = &executable->kernels[instruction->kernel];
  if (kernel == NULL || (kernel->func == NULL && kernel->gpu == NULL))
    return invalid (error, "instruction %u launches a kernel that does not exist", i);
  n_buffers += kernel->packed_bytes > 0;
  return check_kernel (executable, kernel, host, error) && (host || check_gpu (executable, kernel, n_buffers, error));
}

static gboolean
check_copy (const GantryExecutable *executable, const GantryInstruction *instruction, guint32 i, GError **error)
{
  const guint32 *refs = executable->buffer_refs + instruction->buffers;
  gboolean fill = instruction->kind == GANTRY_INSTRUCTION_FILL;

  if (instruction->n_buffers < (fill ? 1 : 2))
    return invalid (error, "instruction %u names too few buffers", i);
  for (guint k = 0; k < (fill ? 1 : 2); k++)
    if (!fill && executable->plan->buffers[refs[k]].size < instruction->bytes)
      return invalid (error, "instruction %u copies more than buffer %u holds", i, refs[k]);
  if (executable->plan->buffers[refs[fill ? 0 : 1]].region == GANTRY_REGION_LITERAL)
    return invalid (error, "instruction %u writes into a literal", i);
  if (fill)
    {
      const GantryPlanBuffer *buffer = &executable->plan->buffers[refs[0]];
      const GantryLiteral *literal = gantry_context_literal (executable->module->context, buffer->literal);

      if (literal == NULL || gantry_type_bytes (literal->type) != (gint64) buffer->size)
        return invalid (error, "instruction %u fills buffer %u, which has no literal of its size", i, refs[0]);
    }
  return TRUE;
}

/* Its buffers are as many as it passes on, and its regions can run. */
static gboolean
check_control (const GantryExecutable *executable, guint32 i, gboolean host, GError **error)
{
  const GantryInstruction *instruction = &executable->instructions[i];
  const GantryControlCode *code = instruction->control < executable->n_controls ? &executable->controls[instruction->control] : NULL;

  if (code == NULL || instruction->init || code->pieces == NULL || instruction->n_buffers < code->workspace)
    return invalid (error, "instruction %u is no control that can run", i);
  for (guint r = 0; r < code->control.n_regions; r++)
    if (code->regions[r] == NULL || code->layouts[r] == NULL || code->regions[r]->n_inputs != code->layouts[r]->n_inputs
        || (code->layouts[r]->bytes > 0 && instruction->n_buffers <= code->workspace) || !_gantry_executor_check (code->regions[r], host, error))
      return error != NULL && *error != NULL ? FALSE : invalid (error, "a region of instruction %u cannot run", i);
  return TRUE;
}

static gboolean
check_instruction (const GantryExecutable *executable, guint32 i, gboolean host, GError **error)
{
  const GantryInstruction *instruction = &executable->instructions[i];

  if (instruction->queue >= GANTRY_N_QUEUES)
    return invalid (error, "instruction %u is on no known queue", i);
  if (instruction->buffers > executable->n_buffer_refs || instruction->n_buffers > executable->n_buffer_refs - instruction->buffers)
    return invalid (error, "instruction %u names buffers beyond the list", i);
  for (guint32 k = 0; k < instruction->n_buffers; k++)
    if (executable->buffer_refs[instruction->buffers + k] >= executable->plan->n_buffers)
      return invalid (error, "instruction %u names a buffer that does not exist", i);
  if (instruction->step >= executable->plan->n_steps && instruction->kind != GANTRY_INSTRUCTION_FILL && instruction->kind != GANTRY_INSTRUCTION_WAIT)
    return invalid (error, "instruction %u belongs to no step", i);
  switch ((GantryInstructionKind) instruction->kind)
    {
    case GANTRY_INSTRUCTION_LAUNCH: return check_launch (executable, i, host, error);
    case GANTRY_INSTRUCTION_COPY:
    case GANTRY_INSTRUCTION_FILL: return check_copy (executable, instruction, i, error);
    case GANTRY_INSTRUCTION_WAIT:
      /* Only for what comes earlier: then queues cannot wait for each other in a circle. */
      if (instruction->event >= i || executable->instructions[instruction->event].init != instruction->init)
        return invalid (error, "instruction %u waits for one that does not come before it", i);
      return TRUE;
    case GANTRY_INSTRUCTION_CONTROL: return check_control (executable, i, host, error);
    case GANTRY_INSTRUCTION_HOST_CALL: return !instruction->init || invalid (error, "instruction %u is a host call that is to be made at load", i);
    default:
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "executable: instruction %u is of a kind that this runtime does not know", i);
      return FALSE;
    }
}

static gboolean
check_ends (const GantryExecutable *executable, GError **error)
{
  const GantryPlan *plan = executable->plan;

  for (guint32 i = 0; i < executable->n_inputs; i++)
    if (executable->inputs[i] >= plan->n_buffers || plan->buffers[executable->inputs[i]].region != GANTRY_REGION_ARENA)
      return invalid (error, "input %u has no buffer in an arena", i);
  for (guint32 i = 0; i < executable->n_outputs; i++)
    if (executable->outputs[i] >= plan->n_buffers)
      return invalid (error, "output %u has no buffer", i);
  for (guint32 i = 0; i < executable->n_kernels; i++)
    if (executable->kernels[i].packed_bytes > 0 && (executable->packed_offsets == NULL || executable->packed_offsets[i] != G_MAXUINT64)
        && (executable->packed_offsets == NULL || executable->kernels[i].packed_bytes > executable->packed_bytes
            || executable->packed_offsets[i] > executable->packed_bytes - executable->kernels[i].packed_bytes))
      return invalid (error, "the packed weights of kernel %u reach beyond their region", i);
  return TRUE;
}

gboolean
_gantry_executor_check (const GantryExecutable *executable, gboolean host, GError **error)
{
  const GantryPlan *plan = executable->plan;

  if (plan->n_init_steps > plan->n_steps)
    return invalid (error, "more init steps than steps");
  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    if (plan->arena_bytes[kind] > MOST_BYTES)
      return invalid (error, "an arena larger than any memory");
  if (plan->constant_bytes > MOST_BYTES || executable->packed_bytes > MOST_BYTES)
    return invalid (error, "a constant region larger than any memory");
  for (guint32 i = 0; i < plan->n_buffers; i++)
    if (!check_buffer (executable, i, error))
      return FALSE;
  if (!check_chains (executable, error))
    return FALSE;
  for (guint32 i = 0; i < executable->n_instructions; i++)
    if (!check_instruction (executable, i, host, error))
      return FALSE;
  return check_ends (executable, error);
}
