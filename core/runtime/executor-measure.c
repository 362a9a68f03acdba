/* SPDX-License-Identifier: Apache-2.0 */
/* A run whose memory is measured from outside: instruction by instruction, with the pages of the arenas looked at after each. Pages
 * under no value of the plan are given back as soon as that is so; what is there all the same was touched by somebody who
 * should not have. Pages of a place that was never touched are not there either. So what is counted is what is held, at the
 * precision of a page, and it can differ from the plan in both directions. */
#include "core/runtime/measure-private.h"
#include <string.h>
#include <unistd.h>

static guint64
count_code (Measuring *m)
{
  guint64 bytes;

  if (!gantry_process_memory_code (&bytes))
    m->missing = "/proc/self/maps";
  return bytes;
}

static void
count_steady (Measuring *m)
{
  GantryMemoryParts *touched = &m->measure->touched;

  *touched = _gantry_measure_outside (m->executor, &m->facts);
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
      _gantry_measure_enter (m, executor->allocated.items[k]);
  for (; m->next_span < m->spans->len; m->next_span++)
    {
      const GantryPlanSpan *span = &g_array_index (m->spans, GantryPlanSpan, m->next_span);

      if (span->begin > step)
        break;
      _gantry_measure_name_part (m, span);
    }
}

static void
leave_step (Measuring *m, guint32 step)
{
  const GantryExecutor *executor = m->executor;

  for (guint32 k = executor->released.first[step]; k < executor->released.first[step + 1]; k++)
    /* Results are still to be read when the last step is over, and what stays is for the next run. */
    if (step + 1 < executor->executable->plan->n_steps && m->alive[executor->released.items[k]])
      _gantry_measure_leave (m, executor->released.items[k]);
}

static void
note (GantryUnplannedMemory *most, guint64 bytes, const GantryInstruction *instruction)
{
  if (bytes <= most->bytes)
    return;
  *most = instruction != NULL ? (GantryUnplannedMemory){ bytes, instruction->step, instruction->node } : (GantryUnplannedMemory){ bytes, G_MAXUINT32, 0 };
}

/* What is there now. @instruction: (nullable): that has just run; %NULL: none has, and none will */
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
  if (instruction != NULL)
    measure->curve[instruction->step] = MAX (measure->curve[instruction->step], bytes);
  if (bytes <= measure->peak_bytes)
    return;
  measure->peak_bytes = bytes;
  measure->peak_step = instruction != NULL ? instruction->step : G_MAXUINT32;
  measure->touched.bytes[GANTRY_PART_CODE] = m->code;
  measure->touched.bytes[GANTRY_PART_CONSTANTS] = m->constants;
  measure->touched.bytes[GANTRY_PART_ARGUMENTS] = m->lent + zone->held[GANTRY_PART_ARGUMENTS] * m->page;
  measure->touched.bytes[GANTRY_PART_TEMPORARIES] = (zone->held[GANTRY_PART_TEMPORARIES] + zone->outside) * m->page;
  measure->touched.bytes[GANTRY_PART_WORKSPACES] = zone->held[GANTRY_PART_WORKSPACES] * m->page;
}

static gboolean
calls_library (const Measuring *m, const GantryInstruction *instruction)
{
  return instruction->kind == GANTRY_INSTRUCTION_LAUNCH && m->executor->executable->kernels[instruction->kernel].kind == GANTRY_KERNEL_LIBRARY;
}

/* Looks at code as a walk through all mappings that a run may ask for. */
#define MOST_CODE_LOOKS 512
/* More growth than the kernel's counters are off by: made by somebody, and perhaps code. */
#define UNEXPLAINED (1u << 20)

/* After each call of the library, or where there are very many after some, and after one that leaves what nothing else explains. */
static guint64
new_code (Measuring *m, const GantryInstruction *instruction, guint64 unexplained)
{
  guint32 n;

  if (!calls_library (m, instruction))
    return 0;
  n = m->n_calls++;
  return n % m->calls_between == 0 || unexplained > UNEXPLAINED ? MAX (count_code (m), m->code) - m->code : 0;
}

static gboolean
run_one (Measuring *m, guint32 i, GCancellable *cancellable, GError **error)
{
  GantryExecutor *executor = m->executor;
  const GantryInstruction *instruction = &executor->executable->instructions[i];
  gsize pages = _gantry_measure_pages (m);
  GantryMemoryParts used;
  guint64 lent, literals, code, known;
  GantryProcessMemory before, after;
  gboolean told; /* what the process has, before and after */

  if (m->peaks)
    gantry_process_memory_reset_peak ();
  told = gantry_process_memory_read (&before);
  if (!_gantry_executor_run_one (executor, i, cancellable, error))
    return FALSE;
  told = gantry_process_memory_read (&after) && told;
  used = _gantry_measure_used (m, instruction);
  lent = used.bytes[GANTRY_PART_ARGUMENTS];
  literals = used.bytes[GANTRY_PART_CONSTANTS];
  pages = _gantry_measure_look_after (m, i) - pages;
  m->lent += lent;
  m->steady += literals;
  m->constants += literals;
  /* What it touched of what is planned, of files and of outside is known; the rest came from elsewhere. */
  known = before.resident + lent + pages * m->page + (after.file > before.file ? after.file - before.file : 0);
  code = new_code (m, instruction, after.peak > known ? after.peak - known : 0);
  known += code;
  m->steady += code;
  m->code += code;
  take_sample (m, instruction);
  executor->process_peak = MAX (executor->process_peak, after.peak); /* what passes within an instruction too */
  if (told && m->peaks && after.peak > known)
    note (&m->measure->beside, after.peak - known, instruction);
  if (told && calls_library (m, instruction))
    m->library_bytes += (gint64) (after.resident - known);
  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    if (m->zones[kind].outside > 0)
      _gantry_measure_drop_dead (m, &m->zones[kind], 0, m->zones[kind].n);
  return TRUE;
}

/* Nothing is left of runs before but the inputs that are kept. */
static void
begin_anew (Measuring *m, const GantryRunInput *inputs)
{
  const GantryExecutable *executable = m->executor->executable;

  for (guint32 i = 0; i < executable->n_inputs; i++)
    if (inputs[i].data == NULL)
      _gantry_measure_enter (m, m->executor->place_of[executable->inputs[i]]);
  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    {
      _gantry_measure_drop_dead (m, &m->zones[kind], 0, m->zones[kind].n);
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
  const GantryInstruction *last = NULL;

  begin_anew (m, inputs);
  m->next = step;
  enter_steps (m, step);
  if (!_gantry_executor_upload (m->executor, inputs, error))
    return FALSE;
  _gantry_measure_look (m);
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
      last = instruction;
    }
  _gantry_measure_look (m);
  take_sample (m, last);
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
    _gantry_measure_zone_init (&m, kind);
  _gantry_measure_plan_looks (&m);
  m.calls_between = MAX (executor->executable->n_instructions / MOST_CODE_LOOKS, 1);
  count_steady (&m);
  _gantry_measure_list_ranges (&m);
  m.lent_host = _gantry_measure_lent_host (executor, &m.facts);
  m.measure->rounding_bytes = _gantry_measure_rounding (executor, m.page);
  done = run_steps (&m, inputs, cancellable, error);
  if (done)
    keep (&m);
  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    _gantry_measure_zone_clear (&m, kind);
  g_free (m.alive);
  g_array_unref (m.ranges);
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
gantry_executor_measure (GantryExecutor *executor, const GantryRunInput *inputs, guint n_inputs, const GantryRunOutput *outputs, guint n_outputs,
                         const GantryProgress *progress, GError **error)
{
  gboolean done;

  executor->measuring = gantry_device_is_host (executor->device);
  executor->progress = progress;
  tell (executor, 0);
  done = gantry_executor_run (executor, inputs, n_inputs, outputs, n_outputs, NULL, progress != NULL ? progress->cancellable : NULL, error);
  executor->progress = NULL;
  if (executor->measuring)
    drop_arenas (executor);
  else if (done)
    _gantry_executor_count_by_driver (executor);
  executor->measuring = FALSE;
  return done;
}

/* What the program holds now of all that the plan names. */
static guint64
count_now (const GantryExecutor *executor, GantryPageFacts *facts)
{
  GantryMemoryParts parts = _gantry_measure_outside (executor, facts);
  guint64 bytes = gantry_memory_parts_total (&parts) + _gantry_measure_lent_host (executor, facts);

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
