/* SPDX-License-Identifier: Apache-2.0 */
/* Tells an observer what a run did, from the stamps that the device left. It happens after the run: what
 * is measured is not disturbed, and a device whose times are known late is told about in the same way.
 * Memory is told as it was measured in a run of its own. */
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
      else
        {
          if (instruction->kind == GANTRY_INSTRUCTION_CONTROL && observer->control != NULL)
            observer->control (observer->self, i, executor->controls[instruction->control].taken, executable->controls[instruction->control].control.n_regions);
          if (observer->instruction != NULL)
            observer->instruction (observer->self, i, stamp->begin, stamp->end);
        }
    }
}

/* The curve goes by the steps of the plan. Queues run beside each other, so that a step of one may begin while an earlier step of
 * another is still at work: samples are told in the order of the steps all the same, and none before the one before it. */
static void
tell_memory (const GantryExecutor *executor, const GantryObserver *observer, gint64 begin, gint64 end)
{
  const GantryMemoryMeasure *measure = executor->measure;
  const GantryPlan *plan = executor->executable->plan;
  gint64 latest = begin;
  guint64 told = 0;

  if (measure == NULL || measure->curve == NULL || observer->memory == NULL)
    return;
  for (guint32 s = plan->n_init_steps; s < measure->n_steps; s++)
    {
      if (executor->step_end[s] == 0 || measure->curve[s] == told)
        continue;
      if (told > 0)
        latest = CLAMP (executor->step_begin[s], latest, end);
      observer->memory (observer->self, latest, plan->steps[s].node, measure->curve[s]);
      told = measure->curve[s];
    }
}

void
_gantry_executor_tell (GantryExecutor *executor, const GantryObserver *observer, gint64 begin, gint64 end)
{
  _gantry_executor_time_steps (executor);
  if (observer == NULL)
    return;
  if (observer->begin_run != NULL)
    observer->begin_run (observer->self, executor->executable, begin);
  tell_instructions (executor, observer);
  if (executor->spans != NULL)
    observer->spans (observer->self, (const GantryRegionSpan *) (gpointer) executor->spans->data, executor->spans->len, executor->spans_left_out);
  if (executor->region_events != NULL)
    observer->region_events (observer->self, (const GantryRegionEvent *) (gpointer) executor->region_events->data, executor->region_events->len,
                             executor->region_events_left_out);
  tell_memory (executor, observer, begin, end);
  if (observer->end_run != NULL)
    observer->end_run (observer->self, end);
}
