/* SPDX-License-Identifier: Apache-2.0 */
/* Tells an observer what a run did, from the stamps that the device left. It happens after the run: what
 * is measured is not disturbed, and a device whose times are known late is told about in the same way.
 * The peak is counted here, place by place as they are allocated. */
#include "core/runtime/executor-private.h"

static gboolean
has_run (const GantryExecutor *executor, guint32 instruction)
{
  return executor->stamps[instruction].end != 0;
}

void
_gantry_executor_assume_stamps (GantryExecutor *executor, gint64 begin, gint64 end)
{
  for (guint32 i = 0; i < executor->executable->n_instructions; i++)
    if (!executor->executable->instructions[i].init)
      executor->stamps[i] = (GantryStamp){ begin, end };
}

/* A step lasts from the first of its instructions to the last. */
void
_gantry_executor_time_steps (GantryExecutor *executor)
{
  const GantryExecutable *executable = executor->executable;
  guint32 n_steps = executable->plan->n_steps;

  for (guint32 s = 0; s <= n_steps; s++)
    executor->step_begin[s] = executor->step_end[s] = 0;
  for (guint32 i = 0; i < executable->n_instructions; i++)
    {
      const GantryInstruction *instruction = &executable->instructions[i];
      const GantryStamp *stamp = &executor->stamps[i];
      guint32 s = instruction->step;

      if (instruction->init || instruction->kind == GANTRY_INSTRUCTION_WAIT || s >= n_steps || !has_run (executor, i))
        continue;
      if (executor->step_begin[s] == 0 || stamp->begin < executor->step_begin[s])
        executor->step_begin[s] = stamp->begin;
      executor->step_end[s] = MAX (executor->step_end[s], stamp->end);
    }
}

static void
tell_instructions (const GantryExecutor *executor, const GantryObserver *observer)
{
  const GantryExecutable *executable = executor->executable;

  for (guint32 i = 0; i < executable->n_instructions; i++)
    {
      const GantryInstruction *instruction = &executable->instructions[i];
      const GantryStamp *stamp = &executor->stamps[i];

      if (instruction->init || !has_run (executor, i))
        continue;
      if (instruction->kind == GANTRY_INSTRUCTION_WAIT)
        {
          if (observer->wait != NULL)
            observer->wait (observer->self, i, stamp->begin, stamp->end);
        }
      else if (observer->instruction != NULL)
        observer->instruction (observer->self, i, stamp->begin, stamp->end);
    }
}

static void
allocate (GantryExecutor *executor, const GantryObserver *observer, guint32 p, gint64 time)
{
  const Place *place = &executor->places[p];
  const GantryPlanBuffer *buffer = &executor->executable->plan->buffers[place->owner];

  if (place->bytes == 0)
    return;
  if (buffer->memory == GANTRY_MEMORY_DEVICE)
    executor->peak_bytes = MAX (executor->peak_bytes, buffer->offset + place->bytes);
  if (observer != NULL && observer->allocate != NULL)
    observer->allocate (observer->self, place->owner, time, buffer->offset, place->bytes);
}

static void
release (const GantryExecutor *executor, const GantryObserver *observer, guint32 p, gint64 time)
{
  const Place *place = &executor->places[p];

  if (place->bytes > 0 && observer != NULL && observer->release != NULL)
    observer->release (observer->self, place->owner, time);
}

/* The telling of places goes by the steps of the plan. Queues run beside each other, so that a step of one may begin
 * while an earlier step of another is still at work, or after a later one: places are told of in the order of the steps
 * all the same, each at a time that lies between the releases before it and those after it. So what is told to be
 * alive at a time is what the plan says is alive at a step. */
typedef struct
{
  GantryExecutor *executor;
  const GantryObserver *observer;
  gint64 begin, end;
  guint8 *alive;    /* by place */
  gint64 *released; /* by step: when its places are released, or the next ones' are when it has none */
} Telling;

static gboolean
is_last (const Telling *telling, guint32 s)
{
  return s + 1 >= telling->executor->executable->plan->n_steps;
}

static gboolean
releases (const Telling *telling, guint32 s)
{
  const GantryExecutor *executor = telling->executor;

  return executor->step_end[s] != 0 && executor->released.first[s] < executor->released.first[s + 1];
}

/* Releases one after the other. */
static void
time_releases (Telling *telling, guint32 first)
{
  const GantryExecutor *executor = telling->executor;
  guint32 n_steps = executor->executable->plan->n_steps;
  gint64 latest = telling->begin, next = telling->end;

  for (guint32 s = first; s <= n_steps; s++)
    if (releases (telling, s))
      {
        latest = is_last (telling, s) ? telling->end : CLAMP (executor->step_end[s], latest, telling->end);
        telling->released[s] = latest;
      }
  for (guint32 s = n_steps + 1; s-- > first;)
    {
      next = releases (telling, s) ? telling->released[s] : next;
      telling->released[s] = next;
    }
}

static void
tell_allocations (Telling *telling, guint32 s, gboolean at_begin, gint64 not_before)
{
  GantryExecutor *executor = telling->executor;
  gboolean has_run = executor->step_end[s] != 0;

  for (guint32 k = executor->allocated.first[s]; k < executor->allocated.first[s + 1]; k++)
    {
      guint32 p = executor->allocated.items[k];

      /* Inputs are there before the first step. */
      if (!has_run && executor->executable->plan->buffers[executor->places[p].owner].category != GANTRY_BUFFER_INPUT)
        continue;
      telling->alive[p] = TRUE;
      allocate (executor, telling->observer, p,
                at_begin ? telling->begin : CLAMP (executor->step_begin[s], not_before, telling->released[s]));
    }
}

static void
tell_releases (Telling *telling, guint32 s)
{
  const GantryExecutor *executor = telling->executor;

  for (guint32 k = executor->released.first[s]; k < executor->released.first[s + 1] && releases (telling, s); k++)
    {
      guint32 p = executor->released.items[k];

      if (!telling->alive[p])
        continue;
      telling->alive[p] = FALSE;
      release (executor, telling->observer, p, telling->released[s]);
    }
}

/* A step that did not run (the run was cancelled) allocates nothing; what is left is released when the run ends. */
static void
tell_memory (GantryExecutor *executor, const GantryObserver *observer, gint64 begin, gint64 end)
{
  guint32 first = executor->executable->plan->n_init_steps, n_steps = executor->executable->plan->n_steps;
  g_autofree guint8 *alive = g_new0 (guint8, executor->n_places + 1);
  g_autofree gint64 *released = g_new0 (gint64, n_steps + (gsize) 1);
  Telling telling = { executor, observer, begin, end, alive, released };
  gint64 latest = begin;

  time_releases (&telling, first);
  for (guint32 s = first; s <= n_steps; s++)
    {
      if (s != first && executor->step_end[s] == 0)
        continue;
      tell_allocations (&telling, s, s == first, latest);
      tell_releases (&telling, s);
      if (releases (&telling, s))
        latest = released[s];
    }
  for (guint32 p = 0; p < executor->n_places; p++)
    if (alive[p])
      release (executor, observer, p, end);
}

void
_gantry_executor_tell (GantryExecutor *executor, const GantryObserver *observer, gint64 begin, gint64 end)
{
  executor->peak_bytes = 0;
  _gantry_executor_time_steps (executor);
  if (observer != NULL && observer->begin_run != NULL)
    observer->begin_run (observer->self, executor->executable, begin);
  if (observer != NULL)
    tell_instructions (executor, observer);
  tell_memory (executor, observer, begin, end);
  if (observer != NULL && observer->end_run != NULL)
    observer->end_run (observer->self, end, executor->peak_bytes);
}
