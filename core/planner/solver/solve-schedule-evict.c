/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules by eviction: the base order within a limit, where the value that is needed last and made again most cheaply gives way
 * to what has no room, and is made again when it is read. */
#include "core/planner/solver/solve-schedule-private.h"
#include <math.h>
#include <string.h>

#define MOST_VISITED 64u /* works that making a value again may take, as far as is looked */
#define MOST_LONGER 24u  /* a schedule may be so many times as long as the base order */
#define MOST_DEPTH 4000u

typedef struct
{
  guint32 work;
  guint32 next; /* of its reads */
  guint32 n_locked;
} Frame;

typedef struct
{
  const ScheduleModel *model;
  const guint8 *kinds; /* (nullable): by item */
  const ScheduleTaste *taste;
  guint64 limit, live;
  GArray *schedule;
  guint first;               /* of the schedule that is appended to */
  guint32 now;               /* base position */
  double *start_us;          /* by base position */
  guint32 *first_use, *uses; /* by value: base positions that read it, ascending; n_values + 1 */
  guint32 *next_use;         /* by value: index in uses */
  guint8 *there, *offloaded;
  guint32 *locked;   /* by value */
  guint32 *alive;    /* values that are there, in no order */
  guint32 *alive_at; /* by value: its index there */
  guint32 n_alive;
  guint32 *seen; /* by work: mark */
  guint32 mark;
  GArray *stack;   /* Frame */
  GArray *pending; /* guint32 */
} Evict;

static void
find_uses (Evict *evict)
{
  const ScheduleModel *model = evict->model;
  guint n = model->values->len;
  double us = 0;

  evict->first_use = g_new0 (guint32, n + 2);
  evict->uses = g_new (guint32, model->reads->len + 1);
  for (guint i = 0; i < model->reads->len; i++)
    evict->first_use[g_array_index (model->reads, guint32, i) + 2]++;
  for (guint v = 0; v + 1 < n + 2; v++)
    evict->first_use[v + 1] += evict->first_use[v];
  for (guint32 w = 0; w < model->works->len; w++)
    {
      const ScheduleWork *work = SCHEDULE_WORK (model, w);

      evict->start_us[w] = us;
      us += work->us;
      for (guint32 k = 0; k < work->n_reads; k++)
        evict->uses[evict->first_use[SCHEDULE_READ (model, work, k) + 1]++] = w;
    }
  for (guint v = 0; v < n; v++)
    evict->next_use[v] = evict->first_use[v];
}

/* Base position of the next work that reads @v, the present one included as long as it has not run; or NONE. */
static guint32
next_use (Evict *evict, guint32 v)
{
  while (evict->next_use[v] < evict->first_use[v + 1] && evict->uses[evict->next_use[v]] < evict->now)
    evict->next_use[v]++;
  return evict->next_use[v] < evict->first_use[v + 1] ? evict->uses[evict->next_use[v]] : NONE;
}

static void
put (Evict *evict, guint32 v)
{
  evict->there[v] = TRUE;
  evict->alive_at[v] = evict->n_alive;
  evict->alive[evict->n_alive++] = v;
  evict->live += SCHEDULE_VALUE (evict->model, v)->bytes;
}

static void
drop (Evict *evict, guint32 v)
{
  guint32 last = evict->alive[--evict->n_alive];

  evict->there[v] = FALSE;
  evict->alive[evict->alive_at[v]] = last;
  evict->alive_at[last] = evict->alive_at[v];
  evict->live -= SCHEDULE_VALUE (evict->model, v)->bytes;
}

/* Is anything written over that @w reads, before base position @until? */
static gboolean
is_overwritten (const Evict *evict, guint32 w, guint32 until)
{
  const ScheduleModel *model = evict->model;
  const Program *program = model->problem->planner->program;
  guint32 work = SCHEDULE_WORK (model, w)->work;

  for (guint32 k = program->first_before[work]; k < program->first_before[work + 1]; k++)
    if (model->position[program->before[k]] <= until)
      return TRUE;
  return FALSE;
}

/* The time that making @v again for base position @until takes as things are; INFINITY where it cannot be, or takes too much. */
static double
again_us (Evict *evict, guint32 v, guint32 until)
{
  const ScheduleModel *model = evict->model;
  guint32 maker = SCHEDULE_VALUE (model, v)->maker;
  double us = 0;

  evict->mark++;
  g_array_set_size (evict->pending, 0);
  g_array_append_val (evict->pending, maker);
  for (guint i = 0; i < evict->pending->len; i++)
    {
      guint32 w = g_array_index (evict->pending, guint32, i);
      const ScheduleWork *work = w != NONE ? SCHEDULE_WORK (model, w) : NULL;

      if (work == NULL || i >= MOST_VISITED || !work->repeats || is_overwritten (evict, w, until))
        return INFINITY;
      us += work->us;
      for (guint32 k = 0; k < work->n_reads; k++)
        {
          guint32 read = SCHEDULE_READ (model, work, k), from = SCHEDULE_VALUE (model, read)->maker;

          if (evict->there[read] || evict->offloaded[read] || (from != NONE && evict->seen[from] == evict->mark))
            continue;
          if (from != NONE)
            evict->seen[from] = evict->mark;
          g_array_append_val (evict->pending, from);
        }
    }
  return us;
}

/* The one whose going costs least. Returns: NONE where nothing may go */
static guint32
choose_victim (Evict *evict)
{
  const ScheduleModel *model = evict->model;
  guint32 best = NONE;
  double most = 0;

  for (guint32 i = 0; i < evict->n_alive; i++)
    {
      guint32 v = evict->alive[i], use;
      guint64 bytes = SCHEDULE_VALUE (model, v)->bytes;
      double us, worth;

      if (evict->locked[v] > 0 || bytes == 0 || SCHEDULE_VALUE (model, v)->lasting || evict->offloaded[v])
        continue;
      use = next_use (evict, v);
      us = again_us (evict, v, use != NONE ? use : evict->now);
      if (isinf (us))
        continue;
      if (use == NONE)
        return v;
      worth = pow ((double) bytes, evict->taste->size_weight)
              * pow (MAX (evict->start_us[use] - evict->start_us[MIN (evict->now, use)], 1e-3), evict->taste->far_weight) / MAX (us, 1e-6);
      if (worth > most)
        {
          most = worth;
          best = v;
        }
    }
  return best;
}

static gboolean
make_room (Evict *evict, guint64 bytes)
{
  while (evict->live + bytes > evict->limit)
    {
      guint32 victim = choose_victim (evict);

      if (victim == NONE)
        return FALSE;
      drop (evict, victim);
    }
  return TRUE;
}

/* Is @v read by nothing that comes, but by base position @now? */
static gboolean
is_last_use (Evict *evict, guint32 v, guint32 now)
{
  guint32 use = next_use (evict, v), next = evict->next_use[v] + 1;

  return use == NONE || (use == now && next >= evict->first_use[v + 1]);
}

/* Bytes of something that @work reads for the last time and may write over. @base: it runs for the first time */
static guint64
written_over (Evict *evict, const ScheduleWork *work, gboolean base)
{
  for (guint32 k = 0; k < work->n_over; k++)
    {
      guint32 v = g_array_index (evict->model->overs, guint32, work->first_over + k);

      if (evict->locked[v] == 1 && is_last_use (evict, v, base ? evict->now : NONE))
        return SCHEDULE_VALUE (evict->model, v)->bytes;
    }
  return 0;
}

static void
free_if_dead (Evict *evict, guint32 v)
{
  if (evict->there[v] && evict->locked[v] == 0 && next_use (evict, v) == NONE)
    drop (evict, v);
}

/* An offloaded value has no place between its last use in its own phase and the first of a later one. */
static void
leave_if_offloaded (Evict *evict, guint32 v, guint32 by)
{
  const Program *program = evict->model->problem->planner->program;
  guint32 use = next_use (evict, v);

  if (evict->there[v] && evict->offloaded[v] && evict->locked[v] == 0 && use != NONE
      && WORK (program, SCHEDULE_WORK (evict->model, by)->work)->phase == GANTRY_PHASE_FORWARD
      && WORK (program, SCHEDULE_WORK (evict->model, use)->work)->phase != GANTRY_PHASE_FORWARD)
    drop (evict, v);
}

/* Everything that the work reads is there and locked. */
static gboolean
run (Evict *evict, guint32 w)
{
  const ScheduleModel *model = evict->model;
  const ScheduleWork *work = SCHEDULE_WORK (model, w);
  gboolean base = evict->stack->len == 0;
  guint64 bytes = work->workspace, over = written_over (evict, work, base);

  for (guint32 k = 0; k < work->n_makes; k++)
    if (!evict->there[SCHEDULE_MAKE (model, work, k)])
      bytes += SCHEDULE_VALUE (model, SCHEDULE_MAKE (model, work, k))->bytes;
  if (!make_room (evict, bytes - MIN (bytes, over)) || evict->schedule->len - evict->first > MOST_LONGER * model->works->len)
    return FALSE;
  g_array_append_val (evict->schedule, w);
  evict->now += base;
  for (guint32 k = 0; k < work->n_makes; k++)
    if (!evict->there[SCHEDULE_MAKE (model, work, k)])
      put (evict, SCHEDULE_MAKE (model, work, k));
  for (guint32 k = 0; k < work->n_reads; k++)
    evict->locked[SCHEDULE_READ (model, work, k)]--;
  for (guint32 k = 0; k < work->n_reads; k++)
    {
      free_if_dead (evict, SCHEDULE_READ (model, work, k));
      leave_if_offloaded (evict, SCHEDULE_READ (model, work, k), w);
    }
  return TRUE;
}

/* What a run has made stays for who asked for it: locked until that has run. */
static void
end_run (Evict *evict, guint32 w, gboolean asked)
{
  const ScheduleModel *model = evict->model;
  const ScheduleWork *work = SCHEDULE_WORK (model, w);

  for (guint32 k = 0; !asked && k < work->n_makes; k++)
    {
      free_if_dead (evict, SCHEDULE_MAKE (model, work, k));
      leave_if_offloaded (evict, SCHEDULE_MAKE (model, work, k), w);
    }
}

/* Runs @w, and before that what makes what it reads and is gone. */
static gboolean
run_all (Evict *evict, guint32 w)
{
  const ScheduleModel *model = evict->model;
  Frame frame = { .work = w };

  g_array_set_size (evict->stack, 0);
  g_array_append_val (evict->stack, frame);
  while (evict->stack->len > 0)
    {
      Frame *top = &g_array_index (evict->stack, Frame, evict->stack->len - 1);
      const ScheduleWork *work = SCHEDULE_WORK (model, top->work);

      if (top->next < work->n_reads)
        {
          guint32 v = SCHEDULE_READ (model, work, top->next), maker = SCHEDULE_VALUE (model, v)->maker;

          if (!evict->there[v] && evict->offloaded[v])
            {
              if (!make_room (evict, SCHEDULE_VALUE (model, v)->bytes))
                return FALSE;
              put (evict, v);
            }
          if (evict->there[v])
            {
              evict->locked[v]++;
              top->next++;
              continue;
            }
          if (maker == NONE || !SCHEDULE_WORK (model, maker)->repeats || evict->stack->len > MOST_DEPTH || is_overwritten (evict, maker, evict->now))
            return FALSE;
          frame = (Frame){ .work = maker };
          g_array_append_val (evict->stack, frame);
          continue;
        }
      frame = *top;
      g_array_set_size (evict->stack, evict->stack->len - 1);
      if (!run (evict, frame.work))
        return FALSE;
      end_run (evict, frame.work, evict->stack->len > 0);
    }
  return TRUE;
}

static void
read_kinds (Evict *evict)
{
  const ScheduleModel *model = evict->model;
  const Program *program = model->problem->planner->program;

  for (guint32 v = 0; evict->kinds != NULL && v < program->values->len; v++)
    if (model->value_of[v] != NONE && model->item_of[v] >= 0 && evict->kinds[model->item_of[v]] == GANTRY_PLACEMENT_OFFLOAD)
      evict->offloaded[model->value_of[v]] = TRUE;
}

gboolean
_gantry_schedule_evict (const ScheduleModel *model, guint64 limit, const guint8 *kinds, const ScheduleTaste *taste, GArray *schedule)
{
  guint n = model->values->len + 2, n_works = model->works->len + 1;
  g_autofree double *start_us = g_new0 (double, n_works);
  g_autofree guint32 *numbers = g_new0 (guint32, 4 * n + n_works);
  g_autofree guint8 *bytes = g_new0 (guint8, 2 * n);
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (Frame)), pending = g_array_new (FALSE, FALSE, sizeof (guint32));
  Evict evict = { .model = model,
                  .kinds = kinds,
                  .taste = taste,
                  .schedule = schedule,
                  .first = schedule->len,
                  .start_us = start_us,
                  .next_use = numbers,
                  .locked = numbers + n,
                  .alive = numbers + 2 * n,
                  .alive_at = numbers + 3 * n,
                  .seen = numbers + 4 * n,
                  .there = bytes,
                  .offloaded = bytes + n,
                  .stack = stack,
                  .pending = pending };
  gboolean found = TRUE;

  if (limit <= model->fixed)
    return FALSE;
  evict.limit = limit - model->fixed;
  find_uses (&evict);
  read_kinds (&evict);
  for (guint32 i = 0; i < model->works->len && found; i++)
    {
      evict.now = i;
      found = run_all (&evict, i) && ((i & 63) != 0 || !_gantry_solve_is_over (model->problem));
    }
  g_free (evict.first_use);
  g_free (evict.uses);
  return found;
}
