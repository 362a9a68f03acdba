/* SPDX-License-Identifier: Apache-2.0 */
/* A run whose memory is measured from outside: instruction by instruction, with the pages of the arenas looked at after each. Pages
 * under no value of the plan are given back as soon as that is so; what is there all the same was touched by somebody who
 * should not have. Pages of a place that was never touched are not there either. So what is counted is what is held, at the
 * precision of a page, and it can differ from the plan in both directions. */
#include "core/base/process-memory.h"
#include "core/plan/plan-alive.h"
#include "core/runtime/executor-private.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/** The pages of an arena and of the guards around it. */
typedef struct
{
  guint8 *memory;    /* of the first page: of the guard in front */
  gsize n, n_front;  /* pages: all, and before the arena begins */
  guint32 *alive;    /* by page: how many places lie on it now */
  guint8 *part;      /* by page: GantryMemoryPart of the one that came last */
  guint8 *there;     /* by page: what mincore() says */
  gsize held[GANTRY_N_MEMORY_PARTS]; /* pages that are there, by part, at the last look */
  gsize outside;     /* pages that are there where nothing is alive */
} Zone;

typedef struct
{
  GantryExecutor *executor;
  GantryMemoryMeasure *measure;
  Zone zones[GANTRY_N_MEMORY_KINDS];
  gsize page;
  guint8 *alive;         /* by place */
  guint8 *is_argument;   /* by buffer */
  GArray *spans;         /* GantryPlanSpan: which value a place holds when, by the step at which it begins */
  guint next_span;
  guint32 next;          /* first step whose places are not yet allocated */
  guint64 lent;          /* bytes of the caller's memory that are touched, of the device's kind */
  guint64 lent_host;
  guint64 steady;        /* ... of constants, packed weights and code */
  guint64 constants;     /* of that: constants, as far as they have been read */
  guint64 code;          /* ... and code, which a library may make when it first runs */
  gboolean peaks;        /* the process's peak can be reset */
  gint64 library_bytes;  /* kept by kernels of a library */
  GantryPageFacts facts;
  const char *missing;   /* (nullable): what the system does not tell, so that nothing is measured */
} Measuring;

/* Pages. */

/* As a plan counts it (gantry_plan_spans()): what was fetched of an argument that lives in the host's memory is temporary. */
static GantryMemoryPart
part_of (const Measuring *m, guint32 buffer)
{
  if (m->is_argument[buffer])
    return GANTRY_PART_ARGUMENTS;
  return m->executor->executable->plan->buffers[buffer].category == GANTRY_BUFFER_WORKSPACE ? GANTRY_PART_WORKSPACES
                                                                                            : GANTRY_PART_TEMPORARIES;
}

static void
zone_init (Measuring *m, GantryMemoryKind kind)
{
  Zone *zone = &m->zones[kind];
  gsize bytes = m->executor->arena_bytes[kind];

  if (bytes == 0)
    return;
  zone->memory = m->executor->arenas[kind] - GANTRY_ARENA_GUARD;
  zone->n_front = GANTRY_ARENA_GUARD / m->page;
  zone->n = 2 * zone->n_front + (bytes + m->page - 1) / m->page;
  zone->alive = g_new0 (guint32, zone->n);
  zone->part = g_new0 (guint8, zone->n);
  zone->there = g_new0 (guint8, zone->n);
  /* A huge page would be there for whoever touches a byte of it. */
  madvise (zone->memory, zone->n * m->page, MADV_NOHUGEPAGE);
}

static void
zone_clear (Measuring *m, GantryMemoryKind kind)
{
  Zone *zone = &m->zones[kind];

  if (zone->n > 0)
    madvise (m->executor->arenas[kind], m->executor->arena_bytes[kind], MADV_HUGEPAGE);
  g_free (zone->alive);
  g_free (zone->part);
  g_free (zone->there);
}

/* The pages that a place lies on. Returns: FALSE for none in the arena: it is empty, or where the caller has it */
static gboolean
pages_of (const Measuring *m, guint32 place, Zone **zone, gsize *first, gsize *end)
{
  const Place *p = &m->executor->places[place];
  const GantryPlanBuffer *buffer = &m->executor->executable->plan->buffers[p->owner];

  if (p->used == 0 || m->executor->lent[place])
    return FALSE;
  *zone = (Zone *) &m->zones[buffer->memory];
  *first = (*zone)->n_front + buffer->offset / m->page;
  *end = (*zone)->n_front + (buffer->offset + p->used + m->page - 1) / m->page;
  return TRUE;
}

static void
enter (Measuring *m, guint32 place)
{
  Zone *zone;
  gsize first, end;

  m->alive[place] = TRUE;
  if (!pages_of (m, place, &zone, &first, &end))
    return;
  for (gsize i = first; i < end; i++)
    zone->alive[i]++;
}

/* The place of @span holds another value from now on. */
static void
name_part (Measuring *m, const GantryPlanSpan *span)
{
  guint32 place = m->executor->place_of[span->buffer];
  Zone *zone;
  gsize first, end;

  if (place != G_MAXUINT32 && pages_of (m, place, &zone, &first, &end))
    memset (zone->part + first, part_of (m, span->buffer), end - first);
}

/* Gives back the pages from @first to @end that nothing lies on. */
static void
drop_dead (const Measuring *m, const Zone *zone, gsize first, gsize end)
{
  for (gsize i = first, next; i < end; i = next)
    {
      for (next = i; next < end && zone->alive[next] == 0; next++)
        ;
      if (next > i)
        madvise (zone->memory + i * m->page, (next - i) * m->page, MADV_DONTNEED);
      else
        next++;
    }
}

static void
leave (Measuring *m, guint32 place)
{
  Zone *zone;
  gsize first, end;

  m->alive[place] = FALSE;
  if (!pages_of (m, place, &zone, &first, &end))
    return;
  for (gsize i = first; i < end; i++)
    zone->alive[i]--;
  drop_dead (m, zone, first, end);
}

/* Returns: pages of the zone that are there */
static gsize
look (Measuring *m, Zone *zone)
{
  gsize n = 0;

  memset (zone->held, 0, sizeof zone->held);
  zone->outside = 0;
  if (zone->n == 0)
    return 0;
  if (mincore (zone->memory, zone->n * m->page, zone->there) != 0)
    {
      m->missing = "mincore";
      return 0;
    }
  for (gsize i = 0; i < zone->n; i++)
    {
      if ((zone->there[i] & 1) == 0)
        continue;
      n++;
      if (zone->alive[i] > 0)
        zone->held[zone->part[i]]++;
      else
        zone->outside++;
    }
  return n;
}

/* Memory outside of the arenas: what the caller has lent, constants that are read where they are mapped, the constant regions. Blocks of
 * the heap among them share pages, each of which is there once. */

typedef struct
{
  const guint8 *data;
  gsize size;
  GantryMemoryPart part;
} Range;

static int
compare_ranges (gconstpointer a, gconstpointer b)
{
  const Range *x = a, *y = b;

  return x->data != y->data ? (x->data > y->data) - (x->data < y->data) : (x->part > y->part) - (x->part < y->part);
}

/* Bytes of the pages under @ranges, a page that several share as the part of the first of them; what is found is added to @facts. */
static GantryMemoryParts
count_ranges (GArray *ranges, GantryPageFacts *facts)
{
  gsize page = (gsize) sysconf (_SC_PAGESIZE);
  GantryMemoryParts parts = { { 0 } };
  gsize done = 0; /* up to this address */

  g_array_sort (ranges, compare_ranges);
  for (guint i = 0; i < ranges->len; i++)
    {
      const Range *range = &g_array_index (ranges, Range, i);
      gsize begin = GPOINTER_TO_SIZE (range->data) / page * page;
      gsize end = (GPOINTER_TO_SIZE (range->data) + range->size + page - 1) / page * page;

      begin = MAX (begin, done);
      if (range->size == 0 || end <= begin)
        continue;
      parts.bytes[range->part] += gantry_pages_count (GSIZE_TO_POINTER (begin), end - begin, facts);
      done = end;
    }
  return parts;
}

static void
add_range (GArray *ranges, gconstpointer data, gsize size, GantryMemoryPart part)
{
  Range range = { data, size, part };

  g_array_append_val (ranges, range);
}

static gboolean
is_of_device (const GantryExecutor *executor, guint32 place)
{
  return executor->executable->plan->buffers[executor->places[place].owner].memory == GANTRY_MEMORY_DEVICE;
}

/* What the caller has lent of the device's memory, or of the host's. */
static void
add_lent (const GantryExecutor *executor, gboolean of_device, GArray *ranges)
{
  for (guint32 p = 0; p < executor->n_places; p++)
    if (executor->lent[p] && !is_of_device (executor, p) == !of_device)
      add_range (ranges, executor->base[p], executor->places[p].used, GANTRY_PART_ARGUMENTS);
}

/* Constants of the executor and of all its regions. */
static void
add_constants (const GantryExecutor *executor, GArray *ranges)
{
  const GantryPlan *plan = executor->executable->plan;
  gsize filled = MIN (whole_place (plan->constant_bytes), executor->constant_bytes);

  for (guint32 b = 0; b < plan->n_buffers; b++)
    if (plan->buffers[b].region == GANTRY_REGION_LITERAL)
      add_range (ranges, executor->addresses[b], plan->buffers[b].size, GANTRY_PART_CONSTANTS);
  if (executor->constant_bytes > 0)
    {
      add_range (ranges, executor->constants, filled, GANTRY_PART_CONSTANTS);
      add_range (ranges, executor->constants + filled, executor->constant_bytes - filled, GANTRY_PART_PACKED_WEIGHTS);
    }
  for (guint32 i = 0; i < executor->executable->n_controls; i++)
    for (guint r = 0; r < executor->executable->controls[i].control.n_regions; r++)
      add_constants (executor->controls[i].regions[r], ranges);
}

/* All of the device's memory that lies outside of the arenas. */
static GantryMemoryParts
count_outside (const GantryExecutor *executor, GantryPageFacts *facts)
{
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (Range));

  add_lent (executor, TRUE, ranges);
  add_constants (executor, ranges);
  return count_ranges (ranges, facts);
}

/* The host's. */
static guint64
count_lent_host (const GantryExecutor *executor, GantryPageFacts *facts)
{
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (Range));
  GantryMemoryParts parts;

  add_lent (executor, FALSE, ranges);
  parts = count_ranges (ranges, facts);
  return gantry_memory_parts_total (&parts);
}

/* What one instruction uses of it: pages of what is lent, and of constants that lie where they are mapped, come with the first use. */
static GantryMemoryParts
count_used (const GantryExecutor *executor, const GantryInstruction *instruction, GantryPageFacts *facts)
{
  const GantryExecutable *executable = executor->executable;
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (Range));

  for (guint32 k = 0; k < instruction->n_buffers; k++)
    {
      guint32 b = executable->buffer_refs[instruction->buffers + k], p = executor->place_of[b];

      if (executable->plan->buffers[b].region == GANTRY_REGION_LITERAL)
        add_range (ranges, executor->addresses[b], executable->plan->buffers[b].size, GANTRY_PART_CONSTANTS);
      else if (p != G_MAXUINT32 && executor->lent[p] && is_of_device (executor, p))
        add_range (ranges, executor->base[p], executor->places[p].used, GANTRY_PART_ARGUMENTS);
    }
  return count_ranges (ranges, facts);
}

/* Of the pages under @ranges, what is outside of them. */
static guint64
count_rest (GArray *ranges, gsize page)
{
  gsize pages = 0, bytes = 0; /* up to these addresses */
  guint64 rest = 0;

  g_array_sort (ranges, compare_ranges);
  for (guint i = 0; i < ranges->len; i++)
    {
      const Range *range = &g_array_index (ranges, Range, i);
      gsize begin = GPOINTER_TO_SIZE (range->data), end = begin + range->size;
      gsize first = begin / page * page, last = (end + page - 1) / page * page;

      if (range->size == 0)
        continue;
      rest += last > pages ? last - MAX (first, pages) : 0;
      rest -= end > bytes ? end - MAX (begin, bytes) : 0;
      pages = MAX (pages, last);
      bytes = MAX (bytes, end);
    }
  return rest;
}

/* How much of what is touched is no more than that memory comes in pages, at most: of all places of the device that are there by themselves. */
static void
count_rounding (Measuring *m)
{
  const GantryExecutor *executor = m->executor;
  const GantryPlan *plan = executor->executable->plan;
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (Range));

  for (guint32 p = 0; p < executor->n_places; p++)
    if (is_of_device (executor, p) && !executor->lent[p] && executor->arenas[GANTRY_MEMORY_DEVICE] != NULL)
      add_range (ranges, executor->arenas[GANTRY_MEMORY_DEVICE] + plan->buffers[executor->places[p].owner].offset,
                 executor->places[p].used, GANTRY_PART_TEMPORARIES);
  add_lent (executor, TRUE, ranges);
  add_constants (executor, ranges);
  m->measure->rounding_bytes = count_rest (ranges, m->page);
}

static guint64
count_code (Measuring *m)
{
  GantryProcessMappings mappings;

  if (!gantry_process_memory_map (&mappings))
    m->missing = "/proc/self/smaps";
  return mappings.code;
}

static void
count_steady (Measuring *m)
{
  GantryMemoryParts *touched = &m->measure->touched;

  *touched = count_outside (m->executor, &m->facts);
  m->code = touched->bytes[GANTRY_PART_CODE] = count_code (m);
  m->lent = touched->bytes[GANTRY_PART_ARGUMENTS];
  m->constants = touched->bytes[GANTRY_PART_CONSTANTS];
  m->steady = m->constants + touched->bytes[GANTRY_PART_PACKED_WEIGHTS] + m->code;
}

/* Steps. */

static int
compare_spans (gconstpointer a, gconstpointer b)
{
  const GantryPlanSpan *x = a, *y = b;

  return (x->begin > y->begin) - (x->begin < y->begin);
}

static void
list_spans (Measuring *m)
{
  const GantryPlan *plan = m->executor->executable->plan;

  m->is_argument = gantry_plan_find_arguments (plan);
  m->spans = g_array_new (FALSE, FALSE, sizeof (GantryPlanSpan));
  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    {
      g_autoptr (GArray) spans = gantry_plan_spans (plan, (GantryMemoryKind) kind);

      g_array_append_vals (m->spans, spans->data, spans->len);
    }
  g_array_sort (m->spans, compare_spans);
}

static void
enter_steps (Measuring *m, guint32 step)
{
  const GantryExecutor *executor = m->executor;

  for (; m->next <= step; m->next++)
    for (guint32 k = executor->allocated.first[m->next]; k < executor->allocated.first[m->next + 1]; k++)
      enter (m, executor->allocated.items[k]);
  for (; m->next_span < m->spans->len; m->next_span++)
    {
      const GantryPlanSpan *span = &g_array_index (m->spans, GantryPlanSpan, m->next_span);

      if (span->begin > step)
        break;
      name_part (m, span);
    }
}

static void
leave_step (Measuring *m, guint32 step)
{
  const GantryExecutor *executor = m->executor;

  for (guint32 k = executor->released.first[step]; k < executor->released.first[step + 1]; k++)
    /* Results are still to be read when the last step is over, and what stays is for the next run. */
    if (step + 1 < executor->executable->plan->n_steps && m->alive[executor->released.items[k]])
      leave (m, executor->released.items[k]);
}

static void
note (GantryUnplannedMemory *most, guint64 bytes, const GantryInstruction *instruction)
{
  if (bytes > most->bytes)
    *most = (GantryUnplannedMemory){ bytes, instruction->step, instruction->node };
}

static void
take_sample (Measuring *m, const GantryInstruction *instruction)
{
  GantryMemoryMeasure *measure = m->measure;
  const Zone *zone = &m->zones[GANTRY_MEMORY_DEVICE];
  guint64 bytes = m->steady + m->lent + zone->outside * m->page, host = m->lent_host;
  guint64 outside = zone->outside;

  for (guint part = 0; part < GANTRY_N_MEMORY_PARTS; part++)
    bytes += zone->held[part] * m->page;
  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    for (guint part = 0; kind != GANTRY_MEMORY_DEVICE && part <= GANTRY_N_MEMORY_PARTS; part++)
      host += (part < GANTRY_N_MEMORY_PARTS ? m->zones[kind].held[part] : m->zones[kind].outside) * m->page;
  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    outside += kind != GANTRY_MEMORY_DEVICE ? m->zones[kind].outside : 0;
  note (&measure->outside, outside * m->page, instruction);
  measure->host_bytes = MAX (measure->host_bytes, host);
  measure->curve[instruction->step] = MAX (measure->curve[instruction->step], bytes);
  if (bytes <= measure->peak_bytes)
    return;
  measure->peak_bytes = bytes;
  measure->peak_step = instruction->step;
  measure->touched.bytes[GANTRY_PART_CODE] = m->code;
  measure->touched.bytes[GANTRY_PART_CONSTANTS] = m->constants;
  measure->touched.bytes[GANTRY_PART_ARGUMENTS] = m->lent + zone->held[GANTRY_PART_ARGUMENTS] * m->page;
  measure->touched.bytes[GANTRY_PART_TEMPORARIES] = (zone->held[GANTRY_PART_TEMPORARIES] + zone->outside) * m->page;
  measure->touched.bytes[GANTRY_PART_WORKSPACES] = zone->held[GANTRY_PART_WORKSPACES] * m->page;
}

static gsize
look_at_all (Measuring *m)
{
  gsize pages = 0;

  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    pages += look (m, &m->zones[kind]);
  return pages;
}

static gboolean
calls_library (const Measuring *m, const GantryInstruction *instruction)
{
  return instruction->kind == GANTRY_INSTRUCTION_LAUNCH
         && m->executor->executable->kernels[instruction->kernel].kind == GANTRY_KERNEL_LIBRARY;
}

static gboolean
run_one (Measuring *m, guint32 i, GCancellable *cancellable, GError **error)
{
  GantryExecutor *executor = m->executor;
  const GantryInstruction *instruction = &executor->executable->instructions[i];
  gsize pages = look_at_all (m);
  GantryMemoryParts used = count_used (executor, instruction, &m->facts), used_after;
  guint64 lent, literals, code, known;
  GantryProcessMemory before, after;
  gboolean told; /* what the process has, before and after */

  if (m->peaks)
    gantry_process_memory_reset_peak ();
  told = gantry_process_memory_read (&before);
  if (!_gantry_executor_run_one (executor, i, cancellable, error))
    return FALSE;
  told = gantry_process_memory_read (&after) && told;
  used_after = count_used (executor, instruction, &m->facts);
  lent = used_after.bytes[GANTRY_PART_ARGUMENTS] - used.bytes[GANTRY_PART_ARGUMENTS];
  literals = used_after.bytes[GANTRY_PART_CONSTANTS] - used.bytes[GANTRY_PART_CONSTANTS];
  pages = look_at_all (m) - pages;
  m->lent += lent;
  m->steady += literals;
  m->constants += literals;
  code = calls_library (m, instruction) ? MAX (count_code (m), m->code) - m->code : 0;
  m->steady += code;
  m->code += code;
  take_sample (m, instruction);
  /* What it touched of what is planned, of files and of outside is known; the rest came from elsewhere. */
  known = before.resident + lent + code + pages * m->page + (after.file > before.file ? after.file - before.file : 0);
  if (told && m->peaks && after.peak > known)
    note (&m->measure->beside, after.peak - known, instruction);
  if (told && calls_library (m, instruction))
    m->library_bytes += (gint64) (after.resident - known);
  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    if (m->zones[kind].outside > 0)
      drop_dead (m, &m->zones[kind], 0, m->zones[kind].n);
  return TRUE;
}

/* Nothing is left of runs before but the inputs that are kept. */
static void
begin_anew (Measuring *m, const GantryRunInput *inputs)
{
  const GantryExecutable *executable = m->executor->executable;

  for (guint32 i = 0; i < executable->n_inputs; i++)
    if (inputs[i].data == NULL)
      enter (m, m->executor->place_of[executable->inputs[i]]);
  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    {
      drop_dead (m, &m->zones[kind], 0, m->zones[kind].n);
      if (m->zones[kind].n > 0)
        memset (m->zones[kind].alive, 0, m->zones[kind].n * sizeof (guint32));
    }
}

/* Instruction @i is next: told at each hundredth of them. */
static void
tell (const GantryExecutor *executor, guint32 i)
{
  const guint64 n = MAX (executor->executable->n_instructions, 1);

  if (i == 0 || i * (guint64) 100 / n != (i - 1) * (guint64) 100 / n)
    gantry_progress_report (executor->progress, (double) i / (double) n, "Measuring memory");
}

static gboolean
run_steps (Measuring *m, const GantryRunInput *inputs, GCancellable *cancellable, GError **error)
{
  const GantryExecutable *executable = m->executor->executable;
  guint32 n_steps = executable->plan->n_steps, step = executable->plan->n_init_steps;

  begin_anew (m, inputs);
  m->next = step;
  enter_steps (m, step);
  if (!_gantry_executor_upload (m->executor, inputs, error))
    return FALSE;
  for (guint32 i = 0; i < executable->n_instructions; i++)
    {
      const GantryInstruction *instruction = &executable->instructions[i];

      if (instruction->init || instruction->kind == GANTRY_INSTRUCTION_WAIT)
        continue;
      for (; step < MIN (instruction->step, n_steps); step++)
        leave_step (m, step);
      enter_steps (m, step);
      tell (m->executor, i);
      if (!run_one (m, i, cancellable, error))
        return FALSE;
    }
  return TRUE;
}

/* A step without work of its own (its value is made by another one) has what the one before has. */
static void
fill_curve (const Measuring *m)
{
  GantryMemoryMeasure *measure = m->measure;

  for (guint32 s = m->executor->executable->plan->n_init_steps + 1; s < measure->n_steps; s++)
    if (measure->curve[s] == 0)
      measure->curve[s] = measure->curve[s - 1];
}

/* A sum of which a part is not known is no measurement: none is kept then. */
static void
keep (Measuring *m)
{
  GantryExecutor *executor = m->executor;

  if (m->facts.unknown)
    m->missing = "/proc/self/pagemap";
  executor->missing = m->missing;
  g_clear_pointer (&executor->measure, gantry_memory_measure_unref);
  if (m->missing != NULL)
    return;
  fill_curve (m);
  m->measure->owners[GANTRY_OWNER_LIBRARY] = (guint64) MAX (m->library_bytes, 0);
  executor->measure = gantry_memory_measure_ref (m->measure);
}

gboolean
_gantry_executor_run_measured (GantryExecutor *executor, const GantryRunInput *inputs, GCancellable *cancellable, GError **error)
{
  Measuring m = { executor, gantry_memory_measure_new (executor->executable->plan->n_steps) };
  GantryProcessMemory process;
  gboolean done;

  m.page = (gsize) sysconf (_SC_PAGESIZE);
  m.alive = g_new0 (guint8, executor->n_places + 1);
  list_spans (&m);
  gantry_process_memory_trim ();
  gantry_process_memory_read (&process);
  executor->process_peak = MAX (executor->process_peak, process.peak);
  m.peaks = gantry_process_memory_reset_peak ();
  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    zone_init (&m, kind);
  count_steady (&m);
  m.lent_host = count_lent_host (executor, &m.facts);
  count_rounding (&m);
  done = run_steps (&m, inputs, cancellable, error);
  if (done)
    keep (&m);
  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    zone_clear (&m, kind);
  g_free (m.alive);
  g_free (m.is_argument);
  g_array_unref (m.spans);
  gantry_memory_measure_unref (m.measure);
  return done;
}

/* What later runs do not read is given back: in small pages they would be slower, and a result of before is nothing to keep. */
static void
drop_arenas (GantryExecutor *executor)
{
  const GantryExecutable *executable = executor->executable;

  for (guint32 i = 0; i < executable->n_inputs; i++)
    if (executable->plan->buffers[executable->inputs[i]].size > 0 && !executor->lent[executor->place_of[executable->inputs[i]]])
      return;
  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    if (executor->arena_bytes[kind] > 0)
      gantry_pages_drop (executor->arenas[kind], executor->arena_bytes[kind]);
}

gboolean
gantry_executor_measure (GantryExecutor *executor, const GantryRunInput *inputs, guint n_inputs, const GantryRunOutput *outputs,
                         guint n_outputs, const GantryProgress *progress, GError **error)
{
  gboolean done;

  executor->measuring = gantry_device_is_host (executor->device);
  executor->progress = progress;
  tell (executor, 0);
  done = gantry_executor_run (executor, inputs, n_inputs, outputs, n_outputs, NULL, progress != NULL ? progress->cancellable : NULL, error);
  executor->progress = NULL;
  if (executor->measuring)
    drop_arenas (executor);
  executor->measuring = FALSE;
  return done;
}

/* What the program holds now of all that the plan names. */
static guint64
count_now (const GantryExecutor *executor, GantryPageFacts *facts)
{
  GantryMemoryParts parts = count_outside (executor, facts);
  guint64 bytes = gantry_memory_parts_total (&parts) + count_lent_host (executor, facts);

  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    if (executor->arena_bytes[kind] > 0)
      bytes += gantry_pages_count (executor->arenas[kind], executor->arena_bytes[kind], facts);
  return bytes;
}

GantryMemoryMeasure *
gantry_executor_take_measure (GantryExecutor *executor, GError **error)
{
  GantryMemoryMeasure *measure = g_steal_pointer (&executor->measure);
  GantryProcessMappings mappings;
  GantryProcessMemory process;
  guint64 *owners, others, all, held;
  GantryPageFacts facts = { 0 };

  if (measure == NULL && executor->missing != NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
                 "the system does not say what is in memory: %s cannot be read; where it can the memory is measured", executor->missing);
  if (measure == NULL || measure->driver || !gantry_process_memory_read (&process) || !gantry_process_memory_map (&mappings))
    return measure;
  held = count_now (executor, &facts) + mappings.code;
  if (facts.unknown)
    return measure;
  owners = measure->owners;
  measure->held = held;
  all = mappings.programs + mappings.files + mappings.code + mappings.rest;
  owners[GANTRY_OWNER_PROGRAMS] = mappings.programs;
  owners[GANTRY_OWNER_FILES] = mappings.files > facts.files ? mappings.files - facts.files : 0;
  others = measure->held + owners[GANTRY_OWNER_PROGRAMS] + owners[GANTRY_OWNER_FILES];
  owners[GANTRY_OWNER_LIBRARY] = MIN (owners[GANTRY_OWNER_LIBRARY], all > others ? all - others : 0);
  others += owners[GANTRY_OWNER_LIBRARY];
  owners[GANTRY_OWNER_HEAP] = all > others ? all - others : 0;
  measure->process = all;
  measure->process_peak = MAX (MAX (executor->process_peak, process.peak), all);
  owners[GANTRY_OWNER_PASSING] = measure->process_peak - all;
  return measure;
}
