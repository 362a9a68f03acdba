/* SPDX-License-Identifier: Apache-2.0 */
/* Loading: memory is allocated, every address is computed, the command lists are written, and the constant
 * region is filled. */
#include "core/base/error.h"
#include "core/runtime/executor-private.h"
#include <string.h>

char *
_gantry_executor_describe (const GantryExecutable *executable, guint32 buffer)
{
  const GantryPlanBuffer *b = &executable->plan->buffers[buffer];
  const GantryNode *node = gantry_module_node (executable->module, b->node);
  g_autofree char *label = node != NULL ? gantry_node_label (executable->module, node) : g_strdup_printf ("%%%u", b->node);
  g_autofree char *size = gantry_format_bytes (b->size);

  return g_strdup_printf ("'%s'%s (%s)", label, b->category == GANTRY_BUFFER_WORKSPACE ? ", workspace" : "", size);
}

/* Memory. */

static int
compare_place_bytes (const void *a, const void *b)
{
  const Place *x = a, *y = b;

  if (x->bytes != y->bytes)
    return x->bytes > y->bytes ? -1 : 1;
  return (x->owner > y->owner) - (x->owner < y->owner);
}

/* "; the largest buffers at the peak: ..." for the message about an exhausted limit; the peak is that of the device's memory, and
 * of the host's all are told. (transfer full) */
static char *
describe_peak (const GantryExecutor *executor, GantryMemoryKind kind)
{
  const GantryPlan *plan = executor->executable->plan;
  g_autofree Place *alive = g_new (Place, executor->n_places + 1);
  GString *text = g_string_new (NULL);
  guint32 n = 0;

  for (guint32 i = 0; i < executor->n_places; i++)
    if (plan->buffers[executor->places[i].owner].memory == kind
        && (kind != GANTRY_MEMORY_DEVICE || (executor->places[i].begin <= plan->peak_step && plan->peak_step <= executor->places[i].end)))
      alive[n++] = executor->places[i];
  qsort (alive, n, sizeof *alive, compare_place_bytes);
  for (guint32 i = 0; i < MIN (n, 5); i++)
    {
      g_autofree char *one = _gantry_executor_describe (executor->executable, alive[i].owner);

      g_string_append_printf (text, "%s%s",
                              i > 0                          ? ", "
                              : kind == GANTRY_MEMORY_DEVICE ? "; the largest buffers at the peak: "
                                                             : "; the largest buffers there: ",
                              one);
    }
  return g_string_free (text, FALSE);
}

static const char *
advice (GantryMemoryKind kind)
{
  return kind == GANTRY_MEMORY_DEVICE ? "raise the limit, make the batch smaller, or recompute or offload some of them" : "raise the limit, or offload less";
}

/* What the plan says that it takes, and constants of programs within its control flow, which it does not know. */
static guint64
parts_needed (const GantryExecutor *executor, GantryMemoryKind kind, GantryMemoryParts *parts)
{
  gantry_plan_memory_parts (executor->executable->plan, kind, parts);
  if (kind == GANTRY_MEMORY_DEVICE)
    parts->bytes[GANTRY_PART_CONSTANTS] += _gantry_executor_region_bytes (executor, executor->executable);
  return gantry_memory_parts_total (parts);
}

/* Asked before anything is allocated, so that the message speaks of all that is needed. */
static gboolean
check_limit (const GantryExecutor *executor, GantryMemoryKind kind, GError **error)
{
  GantryMemoryParts of;
  guint64 need = parts_needed (executor, kind, &of), used, limit;
  g_autofree char *needed = NULL, *allowed = NULL, *over = NULL, *exactly = NULL, *peak = NULL, *parts = gantry_memory_parts_text (&of);

  gantry_device_get_memory (executor->device, kind, &used, NULL, &limit);
  if (limit == 0 || need + used <= limit)
    return TRUE;
  needed = gantry_format_bytes_within (need, limit);
  allowed = gantry_format_limit (limit);
  over = gantry_format_bytes (need + used - limit);
  exactly = gantry_format_bytes_exactly (need + used - limit);
  peak = describe_peak (executor, kind);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY,
               "the program needs %s of %s memory (%s) where the limit is %s: "
               "%s%s too much%s; %s",
               needed, gantry_memory_kind_name (kind), parts, allowed, over, exactly, peak, advice (kind));
  return FALSE;
}

void *
_gantry_executor_constant_address (const GantryExecutor *executor, guint32 b)
{
  const GantryPlanBuffer *buffer = &executor->executable->plan->buffers[b];
  guint8 *literal;

  if (buffer->region == GANTRY_REGION_CONSTANT)
    return executor->constants + buffer->offset;
  if (executor->literals != NULL)
    return executor->constants + executor->literals[b] + buffer->offset;
  /* Kernels take untyped addresses and never write through that of an operand. A literal without elements has no bytes. */
  literal = (guint8 *) gantry_context_literal (executor->executable->module->context, buffer->literal)->data;
  return literal != NULL ? literal + buffer->offset : NULL;
}

/* Literals that the device cannot read where they lie get a place behind the other constants, each once. */
static void
place_literals (GantryExecutor *executor)
{
  const GantryExecutable *executable = executor->executable;
  const GantryPlan *plan = executable->plan;
  g_autoptr (GHashTable) places = g_hash_table_new (NULL, NULL); /* index + 1 -> buffer + 1 that has it first */

  executor->literals = g_new (guint64, plan->n_buffers + 1);
  for (guint32 b = 0; b < plan->n_buffers; b++)
    {
      gpointer key = GUINT_TO_POINTER (plan->buffers[b].literal + 1);
      guint32 first = GPOINTER_TO_UINT (g_hash_table_lookup (places, key));

      executor->literals[b] = G_MAXUINT64;
      if (plan->buffers[b].region != GANTRY_REGION_LITERAL)
        continue;
      if (first != 0)
        {
          executor->literals[b] = executor->literals[first - 1];
          continue;
        }
      g_hash_table_insert (places, key, GUINT_TO_POINTER (b + 1));
      executor->literals[b] = whole_place (executor->constant_bytes);
      executor->constant_bytes = executor->literals[b] + gantry_context_literal (executable->module->context, plan->buffers[b].literal)->size;
    }
}

gboolean
_gantry_executor_upload_literals (GantryExecutor *executor, GError **error)
{
  const GantryPlan *plan = executor->executable->plan;
  guint64 end = 0; /* of what is there: places were given in the order of the buffers */

  for (guint32 b = 0; executor->literals != NULL && b < plan->n_buffers; b++)
    {
      const GantryLiteral *literal;

      if (executor->literals[b] == G_MAXUINT64 || executor->literals[b] < end)
        continue;
      literal = gantry_context_literal (executor->executable->module->context, plan->buffers[b].literal);
      if (!gantry_device_upload (executor->device, executor->constants + executor->literals[b], literal->data, literal->size, error))
        return FALSE;
      end = executor->literals[b] + MAX (literal->size, 1);
    }
  return TRUE;
}

/* Of the device that says no where no limit was set: the same as for a limit, what the program has at the peak. */
static void *
allocate_region (GantryExecutor *executor, GantryMemoryKind kind, gsize bytes, GError **error)
{
  GError *why = NULL;
  void *memory = gantry_device_allocate (executor->device, kind, bytes, &why);
  g_autofree char *peak = NULL;

  if (memory != NULL)
    return memory;
  if (g_error_matches (why, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY))
    {
      peak = describe_peak (executor, kind);
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY, "%s%s; %s", why->message, peak, advice (kind));
      g_error_free (why);
    }
  else
    g_propagate_error (error, why);
  return NULL;
}

static void
size_constants (GantryExecutor *executor)
{
  /* Packed weights begin at a multiple of 64 too. */
  executor->constant_bytes = whole_place (executor->executable->plan->constant_bytes) + executor->executable->packed_bytes;
  if (!gantry_device_is_host (executor->device))
    place_literals (executor);
}

gboolean
_gantry_executor_allocate_constants (GantryExecutor *executor, GError **error)
{
  size_constants (executor);
  executor->constants = allocate_region (executor, GANTRY_MEMORY_DEVICE, executor->constant_bytes, error);
  return executor->constants != NULL;
}

gboolean
_gantry_executor_allocate (GantryExecutor *executor, GError **error)
{
  const GantryExecutable *executable = executor->executable;
  const GantryPlan *plan = executable->plan;

  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    executor->arena_bytes[kind] = plan->arena_bytes[kind];
  size_constants (executor);
  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    if (!check_limit (executor, kind, error))
      return FALSE;
  executor->constants = allocate_region (executor, GANTRY_MEMORY_DEVICE, executor->constant_bytes, error);
  if (executor->constants == NULL)
    return FALSE;
  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    {
      executor->arenas[kind] = allocate_region (executor, kind, executor->arena_bytes[kind], error);
      if (executor->arenas[kind] == NULL)
        return FALSE;
    }
  executor->addresses = g_new (void *, plan->n_buffers + 1);
  for (guint32 b = 0; b < plan->n_buffers; b++)
    executor->addresses[b] = plan->buffers[b].region == GANTRY_REGION_ARENA ? executor->arenas[plan->buffers[b].memory] + plan->buffers[b].offset
                                                                            : _gantry_executor_constant_address (executor, b);
  return _gantry_executor_upload_literals (executor, error);
}

/* Places, by the step that allocates them and by the one that releases them. */

static void
group_by_step (const GantryExecutor *executor, gboolean by_end, PlacesByStep *out)
{
  guint32 n_steps = executor->executable->plan->n_steps + 1;
  g_autofree guint32 *next = NULL;

  out->first = g_new0 (guint32, n_steps + 1);
  out->items = g_new (guint32, executor->n_places + 1);
  for (guint32 i = 0; i < executor->n_places; i++)
    out->first[(by_end ? executor->places[i].end : executor->places[i].begin) + 1]++;
  for (guint32 s = 0; s < n_steps; s++)
    out->first[s + 1] += out->first[s];
  next = g_memdup2 (out->first, n_steps * sizeof (guint32));
  for (guint32 i = 0; i < executor->n_places; i++)
    out->items[next[by_end ? executor->places[i].end : executor->places[i].begin]++] = i;
}

/* The place of a buffer that shares one: most chains are settled after one link, since they go to earlier buffers. */
static guint32
place_of (const GantryExecutor *executor, guint32 buffer)
{
  while (executor->place_of[buffer] == G_MAXUINT32)
    buffer = executor->executable->plan->buffers[buffer].shares;
  return executor->place_of[buffer];
}

void
_gantry_executor_index_places (GantryExecutor *executor)
{
  const GantryPlan *plan = executor->executable->plan;

  executor->places = g_new0 (Place, plan->n_buffers + 1);
  executor->place_of = g_new (guint32, plan->n_buffers + 1);
  for (guint32 b = 0; b < plan->n_buffers; b++)
    {
      executor->place_of[b] = G_MAXUINT32;
      if (plan->buffers[b].region != GANTRY_REGION_ARENA || plan->buffers[b].shares != GANTRY_NO_BUFFER)
        continue;
      executor->place_of[b] = executor->n_places;
      executor->places[executor->n_places++] = (Place){ b, G_MAXUINT32 };
    }
  for (guint32 b = 0; b < plan->n_buffers; b++)
    {
      const GantryPlanBuffer *buffer = &plan->buffers[b];
      guint32 begin = MIN (buffer->begin, plan->n_steps), end = CLAMP (buffer->end, begin, plan->n_steps);
      Place *place;

      if (buffer->region != GANTRY_REGION_ARENA)
        continue;
      executor->place_of[b] = place_of (executor, b);
      place = &executor->places[executor->place_of[b]];
      place->begin = MIN (place->begin, begin);
      place->end = MAX (place->end, end);
      place->used = MAX (place->used, buffer->offset - plan->buffers[place->owner].offset + buffer->size);
      place->bytes = whole_place (place->used);
    }
  group_by_step (executor, FALSE, &executor->allocated);
  group_by_step (executor, TRUE, &executor->released);
}

/* Commands. */

static guint32
n_arguments (const GantryExecutable *executable, const GantryInstruction *launch)
{
  return launch->n_buffers + (executable->kernels[launch->kernel].packed_bytes > 0);
}

static gboolean
prepare_launches (GantryExecutor *executor, GError **error)
{
  const GantryExecutable *executable = executor->executable;

  executor->prepared = g_new0 (gpointer, executable->n_instructions + (gsize) 1);
  for (guint32 i = 0; i < executable->n_instructions; i++)
    {
      const GantryInstruction *launch = &executable->instructions[i];

      if (launch->kind == GANTRY_INSTRUCTION_LAUNCH
          && !gantry_device_prepare (executor->device, executor->loaded, &executable->kernels[launch->kernel],
                                     executor->arguments + executor->first_argument[i], n_arguments (executable, launch), &executor->prepared[i], error))
        return FALSE;
    }
  return TRUE;
}

static void
write_arguments (GantryExecutor *executor)
{
  const GantryExecutable *executable = executor->executable;
  guint32 n = 0;

  executor->first_argument = g_new0 (guint32, executable->n_instructions + 1);
  executor->arguments = g_new0 (void *, executable->n_buffer_refs + (gsize) executable->n_instructions + 1);
  for (guint32 i = 0; i < executable->n_instructions; i++)
    {
      const GantryInstruction *instruction = &executable->instructions[i];

      executor->first_argument[i] = n;
      if (instruction->kind != GANTRY_INSTRUCTION_LAUNCH)
        continue;
      for (guint32 k = 0; k < instruction->n_buffers; k++)
        executor->arguments[n++] = executor->addresses[executable->buffer_refs[instruction->buffers + k]];
      if (executable->kernels[instruction->kernel].packed_bytes > 0)
        executor->arguments[n++] = executor->constants + whole_place (executable->plan->constant_bytes) + executable->packed_offsets[instruction->kernel];
    }
}

GantryCommand
_gantry_executor_command (GantryExecutor *executor, guint32 i)
{
  const GantryExecutable *executable = executor->executable;
  const GantryInstruction *instruction = &executable->instructions[i];
  const guint32 *refs = executable->buffer_refs + instruction->buffers;
  GantryCommand command = { .instruction = i, .stamp = i };

  switch ((GantryInstructionKind) instruction->kind)
    {
    case GANTRY_INSTRUCTION_LAUNCH:
      command.kind = GANTRY_COMMAND_LAUNCH;
      command.launch.kernel = &executable->kernels[instruction->kernel];
      command.launch.buffers = executor->arguments + executor->first_argument[i];
      command.launch.prepared = executor->prepared[i];
      break;
    case GANTRY_INSTRUCTION_COPY:
      command.kind = GANTRY_COMMAND_COPY;
      command.copy.from = executor->addresses[refs[0]];
      command.copy.to = executor->addresses[refs[1]];
      command.copy.bytes = instruction->bytes;
      break;
    case GANTRY_INSTRUCTION_FILL:
      command.kind = GANTRY_COMMAND_FILL;
      command.fill.to = executor->addresses[refs[0]];
      command.fill.literal = gantry_context_literal (executable->module->context, executable->plan->buffers[refs[0]].literal);
      break;
    default:
      command.kind = GANTRY_COMMAND_WAIT;
      command.event = executor->event_of[instruction->event];
      break;
    }
  return command;
}

/* By instruction: how many of the host's stand before it. (transfer full) */
static guint32 *
number_segments (const GantryExecutable *executable)
{
  guint32 *segments = g_new (guint32, executable->n_instructions + (gsize) 1), n = 0;

  for (guint32 i = 0; i < executable->n_instructions; i++)
    {
      n += _gantry_instruction_is_of_host (&executable->instructions[i]);
      /* What the host does is done before anything that follows. */
      segments[i] = _gantry_instruction_is_of_host (&executable->instructions[i]) ? G_MAXUINT32 : n;
    }
  return segments;
}

static void
end_segment (GantryExecutor *executor, guint32 control)
{
  Segment segment = { .control = control };

  memcpy (segment.end, executor->n_commands, sizeof segment.end);
  g_array_append_val (executor->segments, segment);
}

static void
write_commands (GantryExecutor *executor)
{
  const GantryExecutable *executable = executor->executable;
  guint32 n = executable->n_instructions;
  g_autofree guint32 *segments = NULL;

  executor->segments = g_array_new (FALSE, FALSE, sizeof (Segment));
  executor->stamps = g_new0 (GantryStamp, n + 1);
  executor->event_of = g_new (guint32, n + 1);
  for (guint32 i = 0; i < n; i++)
    executor->event_of[i] = G_MAXUINT32;
  segments = number_segments (executable);
  for (guint32 i = 0; i < n; i++)
    {
      const GantryInstruction *instruction = &executable->instructions[i];

      if (instruction->kind == GANTRY_INSTRUCTION_WAIT && !instruction->init && segments[instruction->event] == segments[i]
          && executor->event_of[instruction->event] == G_MAXUINT32)
        executor->event_of[instruction->event] = executor->n_events++;
    }
  for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
    executor->commands[queue] = g_new0 (GantryCommand, 2 * (gsize) n + 1);
  for (guint32 i = 0; i < n; i++)
    {
      const GantryInstruction *instruction = &executable->instructions[i];
      GantryCommand *list = executor->commands[instruction->queue];

      if (_gantry_instruction_is_of_host (instruction))
        end_segment (executor, i);
      /* What came before the last control is done. */
      if (instruction->init || _gantry_instruction_is_of_host (instruction)
          || (instruction->kind == GANTRY_INSTRUCTION_WAIT && segments[instruction->event] != segments[i]))
        continue;
      list[executor->n_commands[instruction->queue]++] = _gantry_executor_command (executor, i);
      if (executor->event_of[i] != G_MAXUINT32)
        {
          GantryCommand record = { .kind = GANTRY_COMMAND_RECORD, .instruction = i, .stamp = GANTRY_NO_STAMP };

          record.event = executor->event_of[i];
          list[executor->n_commands[instruction->queue]++] = record;
        }
    }
  end_segment (executor, G_MAXUINT32);
}

gboolean
_gantry_executor_make_commands (GantryExecutor *executor, GError **error)
{
  write_arguments (executor);
  if (!prepare_launches (executor, error))
    return FALSE;
  write_commands (executor);
  return TRUE;
}

/* The constant region: one instruction after the other, weights packed before the first launch of their kernel. */

/* Packing reads constants and is done by the processor: copies of them where they lie on another device. */
static gboolean
pack_away (GantryExecutor *executor, const GantryInstruction *launch, void *const *arguments, GError **error)
{
  const GantryExecutable *executable = executor->executable;
  const GantryKernel *kernel = &executable->kernels[launch->kernel];
  g_autoptr (GPtrArray) copies = g_ptr_array_new_with_free_func (g_free);
  g_autofree void *packed = g_malloc0 (kernel->packed_bytes);

  for (guint32 k = 0; k < launch->n_buffers; k++)
    {
      const GantryPlanBuffer *buffer = &executable->plan->buffers[executable->buffer_refs[launch->buffers + k]];
      void *copy = NULL;

      if (buffer->region != GANTRY_REGION_ARENA)
        copy = g_malloc (MAX (buffer->size, 1));
      g_ptr_array_add (copies, copy);
      if (copy != NULL && !gantry_device_download (executor->device, copy, arguments[k], buffer->size, error))
        return FALSE;
    }
  kernel->pack (kernel->state, copies->pdata, packed);
  return gantry_device_upload (executor->device, arguments[launch->n_buffers], packed, kernel->packed_bytes, error);
}

/* What was written out or packed is not read where it came from any more; who reads it all the same gets it from the file again. */
static void
give_back_literals (const GantryExecutor *executor, const GantryInstruction *instruction)
{
  const GantryExecutable *executable = executor->executable;

  for (guint32 k = 0; k < instruction->n_buffers; k++)
    {
      const GantryPlanBuffer *buffer = &executable->plan->buffers[executable->buffer_refs[instruction->buffers + k]];

      if (buffer->literal != 0)
        gantry_literal_give_back (gantry_context_literal (executable->module->context, buffer->literal));
    }
}

static gboolean
pack (GantryExecutor *executor, guint32 instruction, guint8 *packed, GError **error)
{
  const GantryInstruction *launch = &executor->executable->instructions[instruction];
  const GantryKernel *kernel = &executor->executable->kernels[launch->kernel];
  void **arguments = executor->arguments + executor->first_argument[instruction];

  if (kernel->packed_bytes == 0 || kernel->pack == NULL || packed[launch->kernel])
    return TRUE;
  packed[launch->kernel] = TRUE;
  if (!gantry_device_is_host (executor->device))
    return pack_away (executor, launch, arguments, error);
  kernel->pack (kernel->state, arguments, arguments[launch->n_buffers]);
  give_back_literals (executor, launch);
  return TRUE;
}

gboolean
_gantry_executor_initialise (GantryExecutor *executor, GCancellable *cancellable, GError **error)
{
  const GantryExecutable *executable = executor->executable;
  g_autofree guint8 *packed = g_new0 (guint8, executable->n_kernels + 1);

  for (guint32 i = 0; i < executable->n_instructions; i++)
    {
      const GantryInstruction *instruction = &executable->instructions[i];
      GantryBatch *batch;
      GantryCommand command;

      if (!instruction->init || instruction->kind == GANTRY_INSTRUCTION_WAIT)
        continue;
      if (instruction->kind == GANTRY_INSTRUCTION_LAUNCH && !pack (executor, i, packed, error))
        return FALSE;
      command = _gantry_executor_command (executor, i);
      batch = gantry_device_begin (executor->device, 0, NULL, cancellable);
      gantry_batch_submit (executor->device, batch, GANTRY_QUEUE_COMPUTE, &command, 1);
      if (!gantry_device_finish (executor->device, batch, error))
        return FALSE;
      if (instruction->kind == GANTRY_INSTRUCTION_FILL)
        give_back_literals (executor, instruction);
    }
  for (guint32 i = 0; i < executable->n_instructions; i++)
    {
      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;
      if (executable->instructions[i].kind == GANTRY_INSTRUCTION_LAUNCH && !executable->instructions[i].init && !pack (executor, i, packed, error))
        return FALSE;
    }
  return TRUE;
}

/* Each may divide a mapping in three; a process may have some 65,000. */
#define MOST_APART 8192

/* Literals that runs read where they lie. */
static void
note_read (const GantryExecutor *executor, GHashTable *read)
{
  const GantryExecutable *executable = executor->executable;

  for (guint32 i = 0; i < executable->n_instructions; i++)
    {
      const GantryInstruction *instruction = &executable->instructions[i];

      if (instruction->init || (instruction->kind == GANTRY_INSTRUCTION_LAUNCH && executable->kernels[instruction->kernel].packed_bytes > 0))
        continue;
      for (guint32 k = 0; k < instruction->n_buffers; k++)
        {
          const GantryPlanBuffer *buffer = &executable->plan->buffers[executable->buffer_refs[instruction->buffers + k]];

          if (buffer->region == GANTRY_REGION_LITERAL)
            g_hash_table_add (read, GUINT_TO_POINTER (buffer->literal));
        }
    }
  for (guint32 i = 0; i < executable->n_controls; i++)
    for (guint r = 0; r < executable->controls[i].control.n_regions; r++)
      note_read (executor->controls[i].regions[r], read);
}

void
_gantry_executor_give_back (const GantryExecutor *executor)
{
  GantryContext *context = executor->executable->module->context;
  g_autoptr (GHashTable) read = g_hash_table_new (NULL, NULL);
  guint32 n = 0;

  note_read (executor, read);
  for (guint32 id = 1; id <= gantry_context_n_literals (context); id++)
    {
      const GantryLiteral *literal = gantry_context_literal (context, id);

      if (literal != NULL && !g_hash_table_contains (read, GUINT_TO_POINTER (id)))
        {
          gantry_literal_give_back (literal);
          if (literal->mapped && g_hash_table_size (read) > 0 && n++ < MOST_APART)
            gantry_pages_set_apart (literal->data, literal->size);
        }
    }
}
