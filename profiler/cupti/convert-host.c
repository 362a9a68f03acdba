/* SPDX-License-Identifier: Apache-2.0 */
/* What the host did meanwhile: calls of the driver, waits, NVTX ranges, what measuring itself cost, and what memory the
 * driver gave out. */
#include "profiler/cupti/convert-private.h"

/* The event of a span; FALSE when its times cannot be (then it is counted). */
static gboolean
span (Converter *converter, const GantryCuptiRecord *record, GantryEvent *event)
{
  gint64 begin, end;

  if (record->begin == 0 || record->end == 0)
    {
      converter->n_without_time++;
      return FALSE;
    }
  if (!_gantry_cupti_time (converter, record->begin, &begin) || !_gantry_cupti_time (converter, record->end, &end) || end < begin)
    {
      converter->n_bad_time++;
      return FALSE;
    }
  *event = (GantryEvent){ .begin = begin - converter->origin, .end = end - converter->origin, .bytes = 0 };
  event->instruction = GANTRY_NO_INSTRUCTION;
  event->correlation = record->correlation;
  return TRUE;
}

static void
add (Converter *converter, GroupKind kind, guint32 a, guint32 b, GantryEvent *event, guint8 event_kind, const char *name)
{
  Group *group = _gantry_cupti_group (converter, kind, a, b);

  event->kind = event_kind;
  if (name != NULL)
    event->name = gantry_recording_builder_string (converter->builder, name);
  g_array_append_vals (group->events, event, 1);
}

static void
convert_call (Converter *converter, const GantryCuptiRecord *record)
{
  gpointer key = GUINT_TO_POINTER (record->call.cbid * 2 + record->call.is_driver);
  const char *known = g_hash_table_lookup (converter->call_names, key);
  g_autofree char *name = NULL;
  GantryEvent event;

  if (!span (converter, record, &event))
    return;
  event.thread = _gantry_cupti_thread (converter, record->thread);
  if (known == NULL)
    name = g_strdup_printf ("%s call %u", record->call.is_driver ? "driver" : "runtime", record->call.cbid);
  if (record->call.result != 0)
    {
      char *failed = g_strdup_printf ("%s (error %u)", known != NULL ? known : name, record->call.result);

      g_free (name);
      name = failed;
    }
  add (converter, GROUP_CALLS, record->thread, 0, &event, GANTRY_EVENT_CALL, name != NULL ? name : known);
}

static void
convert_sync (Converter *converter, const GantryCuptiRecord *record)
{
  g_autofree char *name = NULL;
  GantryEvent event;

  if (!span (converter, record, &event))
    return;
  switch (record->sync.type)
    {
    case 1: name = g_strdup ("wait for an event"); break;
    case 2: name = g_strdup_printf ("stream %u waits for an event", record->stream); break;
    case 3: name = g_strdup_printf ("wait for stream %u", record->stream); break;
    case 4: name = g_strdup ("wait for the device"); break;
    default: name = g_strdup ("synchronization");
    }
  add (converter, GROUP_SYNC, 0, 0, &event, GANTRY_EVENT_SYNC, name);
}

static const char *
overhead_name (guint32 kind)
{
  static const char *const of_cupti[] = {
    "flush activity buffer",         "instrument code",     "create or free CUPTI's resources", "load module for the runtime",
    "load function when first used", "command buffer full", "request activity buffer",          "start watching managed memory"
  };

  if (kind == 1)
    return "compile (driver)";
  if ((kind & 0xffff) == 0 && kind >> 16 >= 1 && kind >> 16 <= G_N_ELEMENTS (of_cupti))
    return of_cupti[(kind >> 16) - 1];
  return "overhead";
}

static void
convert_overhead (Converter *converter, const GantryCuptiRecord *record)
{
  GantryEvent event;

  if (!span (converter, record, &event))
    return;
  if (record->object == CUPTI_OBJECT_THREAD)
    event.thread = _gantry_cupti_thread (converter, record->thread);
  add (converter, GROUP_OVERHEAD, 0, 0, &event, GANTRY_EVENT_OVERHEAD, overhead_name (record->overhead.kind));
}

static void
convert_memory (Converter *converter, const GantryCuptiRecord *record)
{
  static const char *const kinds[] = { "unknown", "pageable", "pinned", "device", "array", "managed", "static device", "static managed" };
  guint32 kind = record->memory.kind < G_N_ELEMENTS (kinds) ? record->memory.kind : 0;
  gboolean release = record->memory.operation == 2;
  g_autofree char *name = g_strdup_printf ("%s %s memory", release ? "release" : "allocate", kinds[kind]);
  MemoryChange change = { .counter = kind };
  GantryEvent event;

  if (!span (converter, record, &event))
    return;
  event.bytes = record->bytes;
  add (converter, GROUP_MEMORY, 0, 0, &event, GANTRY_EVENT_MARK, name);
  if (record->bytes > (guint64) 1 << 56)
    return;
  change.time = event.begin;
  change.bytes = release ? -(gint64) record->bytes : (gint64) record->bytes;
  g_array_append_val (converter->changes, change);
}

static void
convert_pool (Converter *converter, const GantryCuptiRecord *record)
{
  static const char *const operations[] = { "memory pool", "memory pool made", "memory pool destroyed", "memory pool trimmed" };
  MemoryChange change = { .counter = POOL_COUNTER + (record->device & 0x3f) };
  GantryEvent event;

  if (!span (converter, record, &event))
    return;
  event.bytes = record->bytes;
  add (converter, GROUP_MEMORY, 0, 0, &event, GANTRY_EVENT_MARK, operations[record->pool.operation < 4 ? record->pool.operation : 0]);
  change.time = event.begin;
  change.bytes = (gint64) MIN (record->bytes, (guint64) 1 << 56);
  change.used = (gint64) MIN (record->pool.used, (guint64) 1 << 56);
  g_array_append_val (converter->changes, change);
}

/* NVTX. Buffers belong to threads, so the end of a range may be met before its begin: all begins are noted first. */

static guint32
domain_of (Converter *converter, guint64 address)
{
  const char *text = gantry_cupti_capture_name (converter->capture, converter->buffer, address);
  guint32 id = gantry_recording_builder_string (converter->builder, text);

  if (id != 0)
    g_hash_table_insert (converter->domains, GUINT_TO_POINTER (id), (gpointer) text);
  return id;
}

void
_gantry_cupti_note_range (Converter *converter, const GantryCuptiRecord *record)
{
  OpenRange *range;
  gint64 time;

  if ((record->marker.flags & CUPTI_MARKER_START) == 0 || !_gantry_cupti_time (converter, record->begin, &time))
    return;
  range = g_new0 (OpenRange, 1);
  range->begin = time - converter->origin;
  range->name = _gantry_cupti_name (converter, record->name);
  range->domain = domain_of (converter, record->domain);
  range->thread = record->thread;
  g_hash_table_insert (converter->ranges, GUINT_TO_POINTER (record->marker.id), range);
}

static void
add_range (Converter *converter, OpenRange *range, gint64 end)
{
  GantryEvent event = { .begin = range->begin, .end = end, .instruction = GANTRY_NO_INSTRUCTION, .name = range->name };

  range->ended = TRUE;
  event.thread = _gantry_cupti_thread (converter, range->thread);
  add (converter, GROUP_RANGES, range->thread, range->domain, &event, GANTRY_EVENT_RANGE, range->name == 0 ? "range without a name" : NULL);
}

static void
convert_marker (Converter *converter, const GantryCuptiRecord *record)
{
  OpenRange *range = g_hash_table_lookup (converter->ranges, GUINT_TO_POINTER (record->marker.id));
  GantryEvent event;

  if ((record->marker.flags & CUPTI_MARKER_START) != 0 || !span (converter, record, &event))
    return;
  if ((record->marker.flags & CUPTI_MARKER_INSTANT) != 0)
    {
      event.thread = _gantry_cupti_thread (converter, record->thread);
      event.name = _gantry_cupti_name (converter, record->name);
      add (converter, GROUP_RANGES, record->thread, domain_of (converter, record->domain), &event, GANTRY_EVENT_MARK, NULL);
    }
  else if ((record->marker.flags & CUPTI_MARKER_END) == 0)
    return;
  else if (range != NULL && !range->ended && range->begin <= event.begin)
    add_range (converter, range, event.begin);
  else
    converter->n_lost_ends++;
}

void
_gantry_cupti_end_open_ranges (Converter *converter)
{
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, converter->ranges);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      OpenRange *range = value;

      if (range->ended)
        continue;
      converter->n_open_ranges++;
      add_range (converter, range, MAX (range->begin, converter->last - converter->origin));
    }
}

void
_gantry_cupti_convert_host (Converter *converter, const GantryCuptiRecord *record)
{
  switch ((GantryCuptiRecordKind) record->kind)
    {
    case GANTRY_CUPTI_CALL: convert_call (converter, record); break;
    case GANTRY_CUPTI_SYNC: convert_sync (converter, record); break;
    case GANTRY_CUPTI_MARKER: convert_marker (converter, record); break;
    case GANTRY_CUPTI_OVERHEAD: convert_overhead (converter, record); break;
    case GANTRY_CUPTI_MEMORY: convert_memory (converter, record); break;
    case GANTRY_CUPTI_POOL: convert_pool (converter, record); break;
    default: break;
    }
}

/* Memory that the driver gave out, as counters: the recording's own memory events are those of the plan's buffers,
 * which lie in a few such pieces. */

static int
compare_changes (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const MemoryChange *x = a, *y = b;

  return (x->time > y->time) - (x->time < y->time);
}

static void
add_pool (Converter *converter, const MemoryChange *change)
{
  guint device = change->counter - POOL_COUNTER;
  g_autofree char *held = g_strdup_printf ("memory pool of GPU %u (bytes)", device);
  g_autofree char *used = g_strdup_printf ("memory pool of GPU %u, in use (bytes)", device);

  gantry_recording_builder_add_counter (converter->builder, held, change->time, (double) change->bytes);
  gantry_recording_builder_add_counter (converter->builder, used, change->time, (double) change->used);
}

void
_gantry_cupti_add_memory (Converter *converter)
{
  static const char *const names[] = {
    "driver: unknown memory (bytes)", "driver: pageable memory (bytes)", "driver: pinned memory (bytes)",        "driver: device memory (bytes)",
    "driver: arrays (bytes)",         "driver: managed memory (bytes)",  "driver: static device memory (bytes)", "driver: static managed memory (bytes)"
  };
  double held[G_N_ELEMENTS (names)] = { 0 };

  if (converter->changes->len > 1)
    g_qsort_with_data (converter->changes->data, (gint) converter->changes->len, sizeof (MemoryChange), compare_changes, NULL);
  for (guint i = 0; i < converter->changes->len; i++)
    {
      const MemoryChange *change = &g_array_index (converter->changes, MemoryChange, i);

      if (change->counter >= POOL_COUNTER)
        {
          add_pool (converter, change);
          continue;
        }
      /* What was allocated before the recording began may be released within it. */
      held[change->counter] = MAX (held[change->counter] + (double) change->bytes, 0);
      gantry_recording_builder_add_counter (converter->builder, names[change->counter], change->time, held[change->counter]);
    }
}
