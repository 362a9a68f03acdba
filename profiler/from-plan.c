/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as a recording of what it predicts: the same views draw both. */
#include "core/graph/operation.h"
#include "core/plan/plan-alive.h"
#include "profiler/names.h"
#include "profiler/recording-private.h"
#include <math.h>

static gint64
nanoseconds (double us)
{
  /* A prediction may be absurd; a time may not. */
  return us > 0 && us < 1e15 ? llround (us * 1e3) : us > 0 ? (gint64) 1e18 : 0;
}

static gint64
step_begin (const GantryPlan *plan, guint32 s)
{
  return nanoseconds (plan->steps[s].start_us);
}

static gint64
step_end (const GantryPlan *plan, guint32 s)
{
  return MAX (nanoseconds (plan->steps[s].start_us + plan->steps[s].duration_us), step_begin (plan, s));
}

static guint64
bytes_of (const GantryModule *module, const GantryPlan *plan, const GantryPlanStep *step)
{
  const GantryNode *node = gantry_module_node (module, step->node);
  gint64 bytes;

  if (step->kind == GANTRY_STEP_COPY && step->n_refs == 2 && plan->refs != NULL)
    return plan->buffers[plan->refs[step->first_ref + 1]].size;
  if (step->kind == GANTRY_STEP_CONVERT && step->n_refs == 2 && plan->refs != NULL)
    return plan->buffers[plan->refs[step->first_ref]].size + plan->buffers[plan->refs[step->first_ref + 1]].size;
  bytes = node != NULL ? gantry_node_bytes (module, node) : -1;
  return bytes > 0 ? (guint64) bytes : 0;
}

/* Of the steps that this one waits for the one that is done last. Returns: its index, or that of the step itself */
static guint32
last_waited (const GantryPlan *plan, guint32 s)
{
  const GantryPlanStep *step = &plan->steps[s];
  guint32 last = s;

  for (guint32 i = 0; i < step->n_waits; i++)
    {
      guint32 other = plan->waits[step->first_wait + i];

      if (other < plan->n_steps && (last == s || step_end (plan, other) > step_end (plan, last)))
        last = other;
    }
  return last;
}

/* The queue stands still until the step begins. */
static void
add_wait (GantryRecordingBuilder *builder, const GantryModule *module, const GantryPlan *plan, guint32 s)
{
  const GantryPlanStep *step = &plan->steps[s];
  guint32 other = last_waited (plan, s);
  g_autofree char *label = NULL, *of = NULL, *name = NULL;
  GantryEvent event = { MAX (step_begin (plan, s) - nanoseconds (step->wait_us), 0), step_begin (plan, s) };

  if (event.begin == event.end)
    return;
  label = gantry_label_of (module, plan->steps[other].node);
  of = gantry_step_name (&plan->steps[other], label);
  name = other == s ? g_strdup ("wait") : g_strconcat ("wait for ", of, NULL);
  event.instruction = GANTRY_NO_INSTRUCTION;
  event.node = step->node;
  event.kind = GANTRY_EVENT_WAIT;
  event.lane = step->queue;
  event.name = gantry_recording_builder_string (builder, name);
  gantry_recording_builder_add (builder, &event);
}

static void
add_step (GantryRecordingBuilder *builder, const GantryModule *module, const GantryPlan *plan, guint32 s)
{
  const GantryPlanStep *step = &plan->steps[s];
  GantryEvent event = { step_begin (plan, s), step_end (plan, s) };
  g_autofree char *label = gantry_label_of (module, step->node), *name = gantry_step_name (step, label);

  add_wait (builder, module, plan, s);
  event.bytes = bytes_of (module, plan, step);
  event.instruction = GANTRY_NO_INSTRUCTION;
  event.node = step->node;
  event.kind = step->kind == GANTRY_STEP_COPY ? GANTRY_EVENT_COPY : step->kind == GANTRY_STEP_CONVERT ? GANTRY_EVENT_CONVERT : GANTRY_EVENT_KERNEL;
  event.lane = step->queue;
  event.name = gantry_recording_builder_string (builder, name);
  gantry_recording_builder_add (builder, &event);
}

/* Places of the arenas: from when to when anything that shares one lives, and its size. */
typedef struct
{
  guint32 begin, end;
  guint64 bytes;
} Extent;

static Extent *
find_extents (const GantryPlan *plan)
{
  Extent *extents = g_new0 (Extent, plan->n_buffers + 1);
  g_autofree guint32 *owners = gantry_plan_places (plan);

  for (guint32 b = 0; b < plan->n_buffers; b++)
    extents[b].begin = G_MAXUINT32;
  for (guint32 b = 0; b < plan->n_buffers; b++)
    {
      const GantryPlanBuffer *buffer = &plan->buffers[b];
      guint32 owner = owners[b];
      guint64 reach = buffer->offset - plan->buffers[owner].offset + buffer->size;

      extents[owner].begin = MIN (extents[owner].begin, buffer->begin);
      extents[owner].end = MAX (extents[owner].end, buffer->end);
      extents[owner].bytes = MAX (extents[owner].bytes, (reach + GANTRY_PLACE_ALIGNMENT - 1) / GANTRY_PLACE_ALIGNMENT * GANTRY_PLACE_ALIGNMENT);
    }
  return extents;
}

typedef struct
{
  guint64 turn; /* step, then allocations before releases, then buffer */
  GantryMemoryEvent event;
} Turn;

static int
compare_turns (gconstpointer a, gconstpointer b)
{
  const Turn *x = a, *y = b;

  if (x->turn != y->turn)
    return x->turn < y->turn ? -1 : 1;
  return (x->event.buffer > y->event.buffer) - (x->event.buffer < y->event.buffer);
}

static void
add_place (GArray *turns, const GantryPlan *plan, guint32 b, const Extent *extent)
{
  const GantryPlanBuffer *buffer = &plan->buffers[b];
  guint32 first = MAX (extent->begin, plan->n_init_steps), last = MIN (extent->end, plan->n_steps - 1);
  Turn turn = { 2 * (guint64) first, { step_begin (plan, first), buffer->offset, extent->bytes, b, buffer->node, buffer->memory, FALSE } };

  if (first > last)
    return;
  g_array_append_val (turns, turn);
  turn.turn = 2 * (guint64) last + 1;
  turn.event.time = step_end (plan, last);
  turn.event.release = TRUE;
  g_array_append_val (turns, turn);
}

/* Queues run beside each other, places are told of in the order of steps: each allocation at a time between the
 * releases before it and those after it, so that as much is alive at a time as the plan counts at a step. */
static void
put_in_order (GArray *turns)
{
  gint64 latest = 0, next = G_MAXINT64;

  for (guint i = 0; i < turns->len; i++)
    {
      GantryMemoryEvent *event = &g_array_index (turns, Turn, i).event;

      event->time = MAX (event->time, latest);
      if (event->release)
        latest = event->time;
    }
  for (guint i = turns->len; i-- > 0;)
    {
      GantryMemoryEvent *event = &g_array_index (turns, Turn, i).event;

      event->time = MIN (event->time, next);
      if (event->release)
        next = event->time;
    }
}

/* What the device holds all the time beside the values: constants, packed weights and code, and what the arena leaves free between
 * places. */
static void
add_steady (GantryRecordingBuilder *builder, const GantryPlan *plan)
{
  guint32 first = plan->n_init_steps;
  guint64 bytes = gantry_plan_memory_bytes_at (plan, first) - plan->live_bytes[first];
  GantryMemoryEvent event = { step_begin (plan, first), 0, bytes, GANTRY_NO_BUFFER, 0, GANTRY_MEMORY_DEVICE, FALSE };

  if (bytes > 0)
    gantry_recording_builder_add_memory (builder, &event);
}

/* In the order of steps: what one releases is gone before the next allocates, though both may be at one time. */
static void
add_memory (GantryRecordingBuilder *builder, const GantryPlan *plan)
{
  g_autofree Extent *extents = find_extents (plan);
  g_autoptr (GArray) turns = g_array_new (FALSE, FALSE, sizeof (Turn));

  for (guint32 b = 0; b < plan->n_buffers; b++)
    if (plan->buffers[b].region == GANTRY_REGION_ARENA && plan->buffers[b].shares == GANTRY_NO_BUFFER && extents[b].bytes > 0)
      add_place (turns, plan, b, &extents[b]);
  g_array_sort (turns, compare_turns);
  put_in_order (turns);
  add_steady (builder, plan);
  for (guint i = 0; i < turns->len; i++)
    gantry_recording_builder_add_memory (builder, &g_array_index (turns, Turn, i).event);
}

GantryRecording *
gantry_recording_from_plan (const GantryModule *module, const GantryPlan *plan)
{
  GantryRecordingBuilder *builder = gantry_recording_builder_new ();
  GantryRecordedRun run = { 0, nanoseconds (plan->total_us), gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE) };

  gantry_recording_builder_set_device (builder, "plan");
  for (guint32 s = plan->n_init_steps; s < plan->n_steps; s++)
    {
      add_step (builder, module, plan, s);
      run.end = MAX (run.end, step_end (plan, s));
    }
  if (plan->n_steps > plan->n_init_steps)
    add_memory (builder, plan);
  gantry_recording_builder_add_run (builder, &run);
  return gantry_recording_builder_end (builder);
}
