/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU recorder: while a run is told, only numbers are noted down; names and places are looked up
 * when the recording is taken. */
#include "profiler/cpu/recorder.h"
#include "profiler/names.h"

/* Some three million events: what a session keeps of one run. */
#define DEFAULT_BUDGET ((gsize) 64 << 20)

/* What ran of branches and loops, each depth in a lane below. */
#define LANE_REGIONS (GANTRY_LANE_RUNS + 1)

typedef struct
{
  gint64 begin, end;
  guint32 instruction;
  guint32 wait;    /* it waited */
  guint32 control; /* 1 + index in the run's controls, 0: none */
} Noted;

/** How often the regions of control ran. */
typedef struct
{
  guint64 taken[2];
} NotedControl;

typedef struct
{
  gint64 time;
  guint64 bytes; /* that the device holds from then on */
  guint32 node;
} NotedMemory;

typedef struct
{
  GantryExecutable *executable;
  gint64 begin, end;
  GArray *queues[GANTRY_N_QUEUES]; /* Noted: calls for one queue come from one thread at a time */
  GArray *memory;                  /* NotedMemory */
  GArray *controls;                /* NotedControl */
  GArray *spans;                   /* GantryRegionSpan */
  GArray *region_events;           /* GantryRegionEvent */
  gboolean told;                   /* the last of them is of the instruction that is told next */
} Run;

struct _GantryCpuRecorder
{
  GantryObserver observer;
  char *device;
  GPtrArray *runs;
  Run *now;           /* the run being told, or NULL */
  gsize budget, held; /* bytes of what is noted of whole runs */
  guint dropped;
  guint64 spans_left_out, region_events_left_out;
  GPtrArray *notes; /* of others: what the recording shall say besides */
};

static void
run_free (gpointer data)
{
  Run *run = data;

  for (guint i = 0; i < GANTRY_N_QUEUES; i++)
    g_array_unref (run->queues[i]);
  g_array_unref (run->memory);
  g_array_unref (run->controls);
  g_array_unref (run->spans);
  g_array_unref (run->region_events);
  gantry_executable_unref (run->executable);
  g_free (run);
}

static void
begin_run (gpointer self, const GantryExecutable *executable, gint64 time)
{
  GantryCpuRecorder *recorder = self;
  Run *run = g_new0 (Run, 1);

  run->executable = gantry_executable_ref ((GantryExecutable *) executable);
  run->begin = run->end = time;
  for (guint i = 0; i < GANTRY_N_QUEUES; i++)
    run->queues[i] = g_array_new (FALSE, FALSE, sizeof (Noted));
  run->memory = g_array_new (FALSE, FALSE, sizeof (NotedMemory));
  run->controls = g_array_new (FALSE, FALSE, sizeof (NotedControl));
  run->spans = g_array_new (FALSE, FALSE, sizeof (GantryRegionSpan));
  run->region_events = g_array_new (FALSE, FALSE, sizeof (GantryRegionEvent));
  g_ptr_array_add (recorder->runs, run);
  recorder->now = run;
}

static void
note (gpointer self, guint32 instruction, gint64 begin, gint64 end, gboolean wait)
{
  Run *run = ((GantryCpuRecorder *) self)->now;
  Noted noted = { begin, end, instruction, wait };

  g_return_if_fail (run != NULL && instruction < run->executable->n_instructions);
  noted.control = run->told ? run->controls->len : 0;
  run->told = FALSE;
  g_array_append_val (run->queues[run->executable->instructions[instruction].queue], noted);
}

static void
note_control (gpointer self, guint32 instruction, const guint64 *taken, guint n_regions)
{
  Run *run = ((GantryCpuRecorder *) self)->now;
  NotedControl noted = { { taken[0], n_regions > 1 ? taken[1] : 0 } };

  g_return_if_fail (run != NULL);
  g_array_append_val (run->controls, noted);
  run->told = TRUE;
}

static void
note_spans (gpointer self, const GantryRegionSpan *spans, guint n, guint64 left_out)
{
  GantryCpuRecorder *recorder = self;

  g_return_if_fail (recorder->now != NULL);
  g_array_append_vals (recorder->now->spans, spans, n);
  recorder->spans_left_out += left_out;
}

static void
note_region_events (gpointer self, const GantryRegionEvent *events, guint n, guint64 left_out)
{
  GantryCpuRecorder *recorder = self;

  g_return_if_fail (recorder->now != NULL);
  g_array_append_vals (recorder->now->region_events, events, n);
  recorder->region_events_left_out += left_out;
}

static void
note_instruction (gpointer self, guint32 instruction, gint64 begin, gint64 end)
{
  note (self, instruction, begin, end, FALSE);
}

static void
note_wait (gpointer self, guint32 instruction, gint64 begin, gint64 end)
{
  note (self, instruction, begin, end, TRUE);
}

static void
note_memory (gpointer self, gint64 time, guint32 node, guint64 bytes)
{
  Run *run = ((GantryCpuRecorder *) self)->now;
  NotedMemory noted = { time, bytes, node };

  g_return_if_fail (run != NULL);
  g_array_append_val (run->memory, noted);
}

static gsize
bytes_of (const Run *run)
{
  gsize bytes = sizeof *run + (gsize) run->memory->len * sizeof (NotedMemory) + (gsize) run->controls->len * sizeof (NotedControl)
                + (gsize) run->spans->len * sizeof (GantryRegionSpan) + (gsize) run->region_events->len * sizeof (GantryRegionEvent);

  for (guint i = 0; i < GANTRY_N_QUEUES; i++)
    bytes += (gsize) run->queues[i]->len * sizeof (Noted);
  return bytes;
}

/* The oldest go, a quarter of the budget at once, so that a run costs no more the longer it goes on. */
static void
keep_within_budget (GantryCpuRecorder *recorder)
{
  gsize held = recorder->held;
  guint n = 0;

  if (held <= recorder->budget)
    return;
  while (n + 1 < recorder->runs->len && held > recorder->budget / 4 * 3)
    held -= bytes_of (g_ptr_array_index (recorder->runs, n++));
  if (n > 0)
    g_ptr_array_remove_range (recorder->runs, 0, n);
  recorder->held = held;
  recorder->dropped += n;
}

static void
end_run (gpointer self, gint64 time)
{
  GantryCpuRecorder *recorder = self;

  g_return_if_fail (recorder->now != NULL);
  recorder->now->end = MAX (time, recorder->now->begin);
  recorder->held += bytes_of (recorder->now);
  recorder->now = NULL;
  keep_within_budget (recorder);
}

GantryCpuRecorder *
gantry_cpu_recorder_new (const char *device)
{
  GantryCpuRecorder *recorder = g_new0 (GantryCpuRecorder, 1);

  recorder->observer = (GantryObserver){ begin_run, note_instruction, note_wait, note_memory, end_run, recorder, note_control, note_spans, note_region_events };
  recorder->device = g_strdup (device);
  recorder->budget = DEFAULT_BUDGET;
  recorder->runs = g_ptr_array_new_with_free_func (run_free);
  recorder->notes = g_ptr_array_new_with_free_func (g_free);
  return recorder;
}

void
gantry_cpu_recorder_set_budget (GantryCpuRecorder *recorder, gsize bytes)
{
  recorder->budget = bytes;
}

void
gantry_cpu_recorder_free (GantryCpuRecorder *recorder)
{
  if (recorder == NULL)
    return;
  g_ptr_array_unref (recorder->runs);
  g_ptr_array_unref (recorder->notes);
  g_free (recorder->device);
  g_free (recorder);
}

const GantryObserver *
gantry_cpu_recorder_observer (GantryCpuRecorder *recorder)
{
  return &recorder->observer;
}

void
gantry_cpu_recorder_add_note (GantryCpuRecorder *recorder, const char *note)
{
  g_ptr_array_add (recorder->notes, g_strdup (note));
}

/* Taking it. */

typedef struct
{
  GantryRecordingBuilder *builder;
  gint64 origin;
  GHashTable *names; /* executable -> guint32[], by instruction: string */
} Taking;

static char *
instruction_name (const GantryExecutable *executable, guint32 i)
{
  const GantryInstruction *instruction = &executable->instructions[i];
  GantryPlanStep step = { .kind = GANTRY_STEP_COPY, .queue = instruction->queue };
  g_autofree char *label = NULL;

  if (instruction->kind == GANTRY_INSTRUCTION_WAIT && instruction->event < i)
    {
      label = instruction_name (executable, instruction->event);
      return g_str_has_prefix (label, "wait for ") ? g_steal_pointer (&label) : g_strconcat ("wait for ", label, NULL);
    }
  if (instruction->kind == GANTRY_INSTRUCTION_LAUNCH)
    {
      if (instruction->step < executable->plan->n_steps)
        step = executable->plan->steps[instruction->step];
      label = gantry_label_of (executable->module, instruction->node);
      if (step.kind == GANTRY_STEP_CONVERT)
        return gantry_step_name (&step, label);
      return step.kind == GANTRY_STEP_RECOMPUTE ? gantry_step_name (&step, executable->kernels[instruction->kernel].name)
                                                : g_strdup (executable->kernels[instruction->kernel].name);
    }
  label = gantry_label_of (executable->module, instruction->node);
  if (instruction->kind == GANTRY_INSTRUCTION_FILL)
    return g_strconcat ("fill ", label, NULL);
  return instruction->kind == GANTRY_INSTRUCTION_COPY ? gantry_step_name (&step, label) : g_steal_pointer (&label);
}

/* Most recordings hold many runs of one executable: its names are looked up once. By instruction. (transfer none) */
static const guint32 *
names_of (const Taking *taking, const GantryExecutable *executable)
{
  guint32 *names = g_hash_table_lookup (taking->names, executable);

  if (names != NULL)
    return names;
  names = g_new (guint32, executable->n_instructions + 1);
  for (guint32 i = 0; i < executable->n_instructions; i++)
    {
      g_autofree char *name = instruction_name (executable, i);

      names[i] = gantry_recording_builder_string (taking->builder, name);
    }
  g_hash_table_insert (taking->names, (gpointer) executable, names);
  return names;
}

static GantryEventKind
kind_of (const GantryExecutable *executable, const GantryInstruction *instruction)
{
  if (instruction->kind == GANTRY_INSTRUCTION_LAUNCH && instruction->step < executable->plan->n_steps
      && executable->plan->steps[instruction->step].kind == GANTRY_STEP_CONVERT)
    return GANTRY_EVENT_CONVERT;
  switch ((GantryInstructionKind) instruction->kind)
    {
    case GANTRY_INSTRUCTION_COPY: return GANTRY_EVENT_COPY;
    case GANTRY_INSTRUCTION_FILL: return GANTRY_EVENT_FILL;
    case GANTRY_INSTRUCTION_WAIT: return GANTRY_EVENT_WAIT;
    case GANTRY_INSTRUCTION_HOST_CALL: return GANTRY_EVENT_HOST_CALL;
    default: return GANTRY_EVENT_KERNEL;
    }
}

/* The arm that was taken, or how many trips there were. */
static guint32
control_name (const Taking *taking, const GantryExecutable *executable, guint32 i, const NotedControl *ran)
{
  const GantryInstruction *instruction = &executable->instructions[i];
  const GantryControl *control = &executable->controls[instruction->control].control;
  g_autofree char *label = instruction_name (executable, i), *text = NULL;

  if (control->kind == GANTRY_CONTROL_BRANCH)
    text = g_strdup_printf ("%s: %s", label, ran->taken[GANTRY_CONTROL_THEN] > 0 ? "then" : "else");
  else if (control->kind == GANTRY_CONTROL_CALL)
    return names_of (taking, executable)[i];
  else
    text = g_strdup_printf ("%s: %" G_GUINT64_FORMAT " trip%s", label, ran->taken[GANTRY_CONTROL_BODY], ran->taken[GANTRY_CONTROL_BODY] == 1 ? "" : "s");
  return gantry_recording_builder_string (taking->builder, text);
}

/* All but where it stands: instruction @i of @executable. */
static GantryEvent
event_of (const Taking *taking, const GantryExecutable *executable, guint32 i, gint64 begin, gint64 end)
{
  const GantryInstruction *instruction = &executable->instructions[i];
  GantryEvent event = { begin - taking->origin, MAX (end, begin) - taking->origin };

  event.bytes = instruction->bytes;
  if (instruction->kind == GANTRY_INSTRUCTION_LAUNCH)
    event.bytes = (guint64) MAX (executable->kernels[instruction->kernel].bytes, 0);
  event.node = instruction->node;
  event.name = names_of (taking, executable)[i];
  event.kind = kind_of (executable, instruction);
  return event;
}

static void
take_event (const Taking *taking, const Run *run, const Noted *noted)
{
  const GantryExecutable *executable = run->executable;
  GantryEvent event = event_of (taking, executable, noted->instruction, noted->begin, noted->end);

  event.instruction = noted->instruction;
  if (noted->control > 0)
    event.name = control_name (taking, executable, noted->instruction, &g_array_index (run->controls, NotedControl, noted->control - 1));
  if (noted->wait)
    event.kind = GANTRY_EVENT_WAIT;
  event.lane = executable->instructions[noted->instruction].queue;
  gantry_recording_builder_add (taking->builder, &event);
}

/* Below the span that it lies in: instructions of regions are no instructions of the run's executable. */
static void
take_region_event (const Taking *taking, const GantryRegionEvent *noted)
{
  GantryEvent event = event_of (taking, noted->executable, noted->instruction, noted->begin, noted->end);

  event.instruction = GANTRY_NO_INSTRUCTION;
  event.lane = LANE_REGIONS;
  gantry_recording_builder_add (taking->builder, &event);
}

/* "trip 3 of decode", counted from 1; "then of choose": what tells them apart comes first, for most are narrow. */
static void
take_span (const Taking *taking, const Run *run, const GantryRegionSpan *span)
{
  g_autofree char *label = gantry_label_of (run->executable->module, span->node), *text = NULL;
  GantryEvent event = { span->begin - taking->origin, MAX (span->end, span->begin) - taking->origin };

  if (span->control == GANTRY_CONTROL_BRANCH)
    text = g_strdup_printf ("%s of %s", span->region == GANTRY_CONTROL_THEN ? "then" : "else", label);
  else if (span->control != GANTRY_CONTROL_CALL)
    text = g_strdup_printf ("trip %" G_GUINT64_FORMAT " of %s", span->trip + 1, label);
  event.name = gantry_recording_builder_string (taking->builder, text != NULL ? text : label);
  event.node = span->node;
  event.instruction = GANTRY_NO_INSTRUCTION;
  event.kind = GANTRY_EVENT_RANGE;
  event.lane = LANE_REGIONS;
  gantry_recording_builder_add (taking->builder, &event);
}

/* What is measured is a sum, so each event is the change of it; between runs nobody looks. Returns: the most */
static guint64
take_memory (const Taking *taking, const Run *run)
{
  guint64 now = 0, most = 0;

  for (guint i = 0; i <= run->memory->len && run->memory->len > 0; i++)
    {
      const NotedMemory *noted = &g_array_index (run->memory, NotedMemory, MIN (i, run->memory->len - 1));
      guint64 bytes = i < run->memory->len ? noted->bytes : 0;
      GantryMemoryEvent event = { (i < run->memory->len ? noted->time : run->end) - taking->origin };

      event.bytes = bytes > now ? bytes - now : now - bytes;
      event.release = bytes < now;
      event.buffer = GANTRY_NO_BUFFER;
      event.node = noted->node;
      event.memory = GANTRY_MEMORY_DEVICE;
      if (event.bytes > 0)
        gantry_recording_builder_add_memory (taking->builder, &event);
      now = bytes;
      most = MAX (most, now);
    }
  return most;
}

static void
take_run (Taking *taking, const Run *run, guint32 number)
{
  g_autofree char *name = g_strdup_printf ("run %u", number + 1);
  GantryRecordedRun recorded = { run->begin - taking->origin, run->end - taking->origin };
  GantryEvent event = { recorded.begin, recorded.end };

  event.instruction = number;
  event.name = gantry_recording_builder_string (taking->builder, name);
  event.kind = GANTRY_EVENT_RUN;
  event.lane = GANTRY_LANE_RUNS;
  gantry_recording_builder_add (taking->builder, &event);
  recorded.peak_bytes = take_memory (taking, run);
  gantry_recording_builder_add_run (taking->builder, &recorded);
  for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
    for (guint i = 0; i < run->queues[queue]->len; i++)
      take_event (taking, run, &g_array_index (run->queues[queue], Noted, i));
  if (run->spans->len > 0 || run->region_events->len > 0)
    gantry_recording_builder_set_lane_name (taking->builder, LANE_REGIONS, GANTRY_LANE_NAME_CONTROL);
  for (guint i = 0; i < run->spans->len; i++)
    take_span (taking, run, &g_array_index (run->spans, GantryRegionSpan, i));
  for (guint i = 0; i < run->region_events->len; i++)
    take_region_event (taking, &g_array_index (run->region_events, GantryRegionEvent, i));
}

static void
note_dropped (const GantryCpuRecorder *recorder, GantryRecordingBuilder *builder)
{
  g_autofree char *note = NULL;

  if (recorder->dropped == 0)
    return;
  note = g_strdup_printf ("The newest %u of %u runs are kept: all of them would be too much to record.", recorder->runs->len,
                          recorder->runs->len + recorder->dropped);
  gantry_recording_builder_add_note (builder, note);
}

static void
note_left_out (const GantryCpuRecorder *recorder, GantryRecordingBuilder *builder)
{
  g_autofree char *note = NULL, *events = NULL;

  if (recorder->region_events_left_out > 0)
    {
      events = g_strdup_printf ("%" G_GUINT64_FORMAT " kernels within loops, of later trips, are not recorded: there were too many. Times of kernels "
                                "within loops are of those before them.",
                                recorder->region_events_left_out);
      gantry_recording_builder_add_note (builder, events);
    }
  if (recorder->spans_left_out == 0)
    return;
  note = g_strdup_printf ("%" G_GUINT64_FORMAT " trips and arms are not shown by themselves: there were too many. The counts of "
                          "trips are of all.",
                          recorder->spans_left_out);
  gantry_recording_builder_add_note (builder, note);
}

GantryRecording *
gantry_cpu_recorder_take (GantryCpuRecorder *recorder)
{
  Taking taking = { gantry_recording_builder_new (), 0, g_hash_table_new_full (NULL, NULL, NULL, g_free) };

  g_return_val_if_fail (recorder->now == NULL, NULL);
  if (recorder->runs->len > 0)
    taking.origin = ((const Run *) g_ptr_array_index (recorder->runs, 0))->begin;
  gantry_recording_builder_set_origin (taking.builder, taking.origin);
  gantry_recording_builder_set_device (taking.builder, recorder->device);
  for (guint i = 0; i < recorder->runs->len; i++)
    take_run (&taking, g_ptr_array_index (recorder->runs, i), recorder->dropped + i);
  note_dropped (recorder, taking.builder);
  note_left_out (recorder, taking.builder);
  for (guint i = 0; i < recorder->notes->len; i++)
    gantry_recording_builder_add_note (taking.builder, g_ptr_array_index (recorder->notes, i));
  g_ptr_array_set_size (recorder->notes, 0);
  g_hash_table_unref (taking.names);
  g_ptr_array_set_size (recorder->runs, 0);
  recorder->held = recorder->dropped = 0;
  recorder->spans_left_out = recorder->region_events_left_out = 0;
  return gantry_recording_builder_end (taking.builder);
}
