/* SPDX-License-Identifier: Apache-2.0 */
/* What a device did: kernels, copies and sets become events of their stream, tied to the instruction that was marked
 * when the host asked for them. */
#include "profiler/cupti/convert-private.h"
#include "profiler/names.h"

/* The executable that ran at @time. */
static GantryExecutable *
executable_at (const Converter *converter, gint64 time)
{
  guint low = 0, high = converter->n_runs;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (converter->runs[middle].end < time)
        low = middle + 1;
      else
        high = middle;
    }
  if (low < converter->n_runs && converter->runs[low].begin <= time)
    return converter->runs[low].executable;
  return converter->executable;
}

/* The external id that was pushed is the instruction's number + 1: found by the call that asked for the work, or by the
 * graph's node, which was made when the graph was. */
static const GantryInstruction *
instruction_of (Converter *converter, const GantryCuptiRecord *record, gint64 time, GantryExecutable **executable)
{
  guint32 external = GPOINTER_TO_UINT (g_hash_table_lookup (converter->externals, GUINT_TO_POINTER (record->correlation)));

  if (record->graph_node != 0)
    {
      gpointer of_node = g_hash_table_lookup (converter->graph_nodes, &record->graph_node);

      external = of_node != NULL ? GPOINTER_TO_UINT (of_node) : external;
    }
  *executable = executable_at (converter, time);
  if (external == 0 || *executable == NULL)
    return NULL;
  if (external > (*executable)->n_instructions)
    {
      converter->n_unknown_mark++;
      return NULL;
    }
  return &(*executable)->instructions[external - 1];
}

static const char *
copy_name (guint8 direction)
{
  static const char *const names[] = { "copy",
                                       "copy to device",
                                       "copy to host",
                                       "copy to device array",
                                       "copy of array to host",
                                       "copy between arrays",
                                       "copy of array on device",
                                       "copy to array on device",
                                       "copy on device",
                                       "copy on host",
                                       "copy between devices" };

  return names[direction < G_N_ELEMENTS (names) ? direction : 0];
}

static guint32
name_of (Converter *converter, const GantryCuptiRecord *record, const GantryExecutable *executable, const GantryInstruction *instruction)
{
  g_autofree char *label = NULL, *name = NULL;

  if (record->kind == GANTRY_CUPTI_KERNEL)
    {
      guint32 id = _gantry_cupti_name (converter, record->name);

      return id != 0 ? id : gantry_recording_builder_string (converter->builder, "kernel without a name");
    }
  if (instruction == NULL)
    {
      const char *plain = record->kind == GANTRY_CUPTI_COPY  ? copy_name (record->copy.direction)
                          : record->kind == GANTRY_CUPTI_SET ? "set memory"
                                                             : "graph launch";

      return gantry_recording_builder_string (converter->builder, plain);
    }
  label = gantry_label_of (executable->module, instruction->node);
  if (instruction->kind == GANTRY_INSTRUCTION_FILL)
    name = g_strconcat ("fill ", label, NULL);
  else if (instruction->kind == GANTRY_INSTRUCTION_COPY)
    name = gantry_step_name (&(GantryPlanStep){ .kind = GANTRY_STEP_COPY, .queue = instruction->queue }, label);
  else
    name = g_strconcat (record->kind == GANTRY_CUPTI_COPY ? copy_name (record->copy.direction) : "set memory", " for ", label, NULL);
  return gantry_recording_builder_string (converter->builder, name);
}

/* What a kernel reads and writes is known of a whole instruction: of one that is several launches no part is. */
static guint64
kernel_bytes (const GantryExecutable *executable, const GantryInstruction *instruction)
{
  const GantryKernel *kernel;

  if (instruction == NULL || instruction->kind != GANTRY_INSTRUCTION_LAUNCH || instruction->kernel >= executable->n_kernels)
    return 0;
  kernel = &executable->kernels[instruction->kernel];
  if (kernel->gpu != NULL && kernel->gpu->n_launches != 1)
    return 0;
  return (guint64) MAX (kernel->bytes, 0);
}

static gboolean
is_conversion (const GantryExecutable *executable, const GantryInstruction *instruction)
{
  return instruction != NULL && instruction->step < executable->plan->n_steps && executable->plan->steps[instruction->step].kind == GANTRY_STEP_CONVERT;
}

static guint32
detail_of (Converter *converter, const GantryCuptiRecord *record)
{
  GantryLaunchDetail detail = { .device = record->device, .stream = record->stream };

  if (record->kind != GANTRY_CUPTI_KERNEL)
    return 0;
  for (guint i = 0; i < 3; i++)
    {
      detail.grid[i] = record->kernel.grid[i];
      detail.block[i] = record->kernel.block[i];
      detail.cluster[i] = record->kernel.cluster[i];
    }
  detail.registers = record->kernel.registers;
  detail.static_shared = record->kernel.static_shared;
  detail.dynamic_shared = record->kernel.dynamic_shared;
  detail.local_bytes = record->kernel.local_bytes;
  return gantry_recording_builder_detail (converter->builder, &detail);
}

void
_gantry_cupti_convert_work (Converter *converter, const GantryCuptiRecord *record)
{
  GantryEvent event = { .instruction = GANTRY_NO_INSTRUCTION, .correlation = record->correlation };
  const GantryInstruction *instruction;
  GantryExecutable *executable;
  gint64 begin, end;
  Group *group;

  /* CUPTI's own buffers on the device were full: it knows that the work was done, not when. */
  if (record->begin == 0 || record->end == 0)
    {
      converter->n_without_time++;
      return;
    }
  if (!_gantry_cupti_time (converter, record->begin, &begin) || !_gantry_cupti_time (converter, record->end, &end) || end < begin)
    {
      converter->n_bad_time++;
      return;
    }
  converter->n_device_work++;
  group = _gantry_cupti_group (converter, GROUP_STREAM, record->context, record->stream);
  group->device = record->device;
  instruction = instruction_of (converter, record, begin, &executable);
  event.begin = begin - converter->origin;
  event.end = end - converter->origin;
  event.bytes = record->kind == GANTRY_CUPTI_KERNEL ? kernel_bytes (executable, instruction) : record->kind == GANTRY_CUPTI_GRAPH ? 0 : record->bytes;
  if (instruction != NULL)
    {
      event.instruction = (guint32) (instruction - executable->instructions);
      event.node = instruction->node;
      if (instruction->queue < GANTRY_N_QUEUES)
        group->votes[instruction->queue]++;
    }
  event.name = name_of (converter, record, executable, instruction);
  event.kind = record->kind == GANTRY_CUPTI_KERNEL ? (is_conversion (executable, instruction) ? GANTRY_EVENT_CONVERT : GANTRY_EVENT_KERNEL)
               : record->kind == GANTRY_CUPTI_COPY ? GANTRY_EVENT_COPY
               : record->kind == GANTRY_CUPTI_SET  ? GANTRY_EVENT_FILL
                                                   : GANTRY_EVENT_MARK;
  event.detail = detail_of (converter, record);
  g_array_append_val (group->events, event);
  g_byte_array_append (group->ordered, &(guint8){ record->graph_node == 0 }, 1);
}

/* Late ends */

/* By begin. */
static int
compare_events (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const GArray *events = user_data;
  const GantryEvent *x = &g_array_index (events, GantryEvent, *(const guint32 *) a);
  const GantryEvent *y = &g_array_index (events, GantryEvent, *(const guint32 *) b);

  return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1) : (x->end > y->end) - (x->end < y->end);
}

/* A driver (580.159) gave a copy of 3 KiB an end 0.8 s late, long after kernels behind it in its stream: it counted as 0.8 s of
 * copying. When such work ended is not known. Nodes of a graph have no order by their stream and stay as they are. */
static void
cut_ends (Converter *converter, Group *group)
{
  guint n = group->events->len;
  g_autofree guint32 *order = g_new (guint32, n + 1);
  gint64 least_end = G_MAXINT64; /* of all that begin later */
  gboolean sorted = TRUE;

  for (guint i = 0; i < n; i++)
    {
      order[i] = i;
      sorted = sorted && (i == 0 || compare_events (&order[i - 1], &order[i], group->events) <= 0);
    }
  if (!sorted) /* as a rule it is: work of a stream is recorded as it ends */
    g_qsort_with_data (order, (gint) n, sizeof *order, compare_events, group->events);
  for (guint i = n; i-- > 0;)
    {
      GantryEvent *event = &g_array_index (group->events, GantryEvent, order[i]);

      if (group->ordered->data[order[i]] && event->end > least_end)
        {
          event->end = event->begin;
          converter->n_late_ends++;
        }
      least_end = MIN (least_end, event->end);
    }
}

void
_gantry_cupti_cut_ends (Converter *converter)
{
  GHashTableIter iter;
  gpointer group;

  g_hash_table_iter_init (&iter, converter->groups);
  while (g_hash_table_iter_next (&iter, &group, NULL))
    if (((Group *) group)->kind == GROUP_STREAM)
      cut_ends (converter, group);
}
