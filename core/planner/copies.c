/* SPDX-License-Identifier: Apache-2.0 */
/* When copies begin. Evictions at once; fetches as late as hides them behind the compute queue, copies before them on their
 * queue included: the idea of XLA's latency hiding scheduler, from the last use backwards, in one pass since each
 * queue keeps its order. Where memory is short, later; then the queues are played against each other for the time. */
#include "core/planner/planner-private.h"

/* A copy out begins once its value is made; its place is needed until then, or the compute queue would wait. */
static void
hide_evictions (GantryPlanner *planner)
{
  guint32 n = planner->line->len, until = 0;
  double free_at = 0;

  for (guint32 i = 0; i < planner->evictions->len; i++)
    {
      Copy *copy = EVICTION (planner, i);
      LiveRange *from = RANGE (planner, copy->from);

      copy->begin = MAX (free_at, START_US (planner, copy->at));
      copy->end = free_at = copy->begin + copy->us;
      if (copy->scheduled)
        continue;
      while (until < n && START_US (planner, until) < copy->end)
        until++;
      /* The last index that begins before the copy ends. */
      if (until > 0)
        from->end = MAX (from->end, until - 1);
      from->end = MAX (from->end, copy->at < n ? copy->at : MAX (n, 1) - 1);
      /* Read after the last work: nothing may be written over it before. */
      from->kept = from->kept || copy->at >= n;
      if (from->inside != NONE)
        RANGE (planner, from->inside)->kept |= copy->at >= n;
      if (from->inside != NONE)
        RANGE (planner, from->inside)->end = MAX (RANGE (planner, from->inside)->end, from->end);
    }
}

static void
hide_fetches (GantryPlanner *planner)
{
  guint32 at = planner->line->len, earliest = 0;
  double next = START_US (planner, planner->line->len);

  for (guint32 i = planner->fetches->len; i-- > 0;)
    {
      Copy *copy = FETCH (planner, i);

      if (copy->scheduled)
        {
          next = MIN (next, START_US (planner, copy->at));
          at = MIN (at, copy->at);
          continue;
        }
      copy->end = MIN (START_US (planner, copy->ready), next);
      copy->begin = next = copy->end - copy->us;
      if (copy->after != NONE)
        copy->begin = MAX (copy->begin, EVICTION (planner, copy->after)->end);
      at = MIN (at, copy->ready);
      while (at > 0 && START_US (planner, at) > next)
        at--;
      copy->at = at;
      /* It cannot begin before its value is out. */
      if (copy->begin > next)
        copy->at = MIN (copy->ready, MAX (at, EVICTION (planner, copy->after)->at));
      while (copy->begin > next && copy->at < copy->ready && START_US (planner, copy->at + 1) <= copy->begin)
        copy->at++;
    }
  for (guint32 i = 0; i < planner->fetches->len; i++)
    {
      Copy *copy = FETCH (planner, i);

      copy->at = earliest = MIN (MAX (MAX (copy->at, copy->earliest), earliest), copy->ready);
      RANGE (planner, copy->to)->begin = copy->at;
    }
}

void
_gantry_planner_hide_copies (GantryPlanner *planner)
{
  hide_evictions (planner);
  hide_fetches (planner);
}

/* Delays one fetch until nothing above @limit lies between it and its use. Returns: where it is now */
static void
delay (GantryPlanner *planner, Copy *copy, guint32 earliest, guint64 limit)
{
  guint64 *live = (guint64 *) (void *) planner->live->data;
  guint64 size = gantry_place_bytes (copy->bytes);
  guint32 to = MIN (MAX (copy->at, earliest), copy->ready);

  if (copy->scheduled)
    return;
  for (guint32 k = to; k < copy->ready; k++)
    if (live[k] > limit)
      to = k + 1;
  for (guint32 k = copy->at; k < to; k++)
    live[k] -= MIN (live[k], size);
  copy->at = to;
  RANGE (planner, copy->to)->begin = to;
}

guint64
_gantry_planner_least_peak (const GantryPlanner *planner)
{
  const guint64 *live = (const guint64 *) (const void *) planner->live->data;
  g_autofree guint64 *early = g_new0 (guint64, planner->live->len + 1); /* bytes that begin (mod 2^64: end) to lie there early */
  guint64 peak = 0, lies = 0;

  for (guint32 i = 0; i < planner->fetches->len; i++)
    {
      const Copy *copy = FETCH (planner, i);

      if (copy->scheduled)
        continue;
      early[MIN (copy->at, planner->live->len)] += gantry_place_bytes (copy->bytes);
      early[MIN (copy->ready, planner->live->len)] -= gantry_place_bytes (copy->bytes);
    }
  for (guint32 k = 0; k < planner->live->len; k++)
    {
      lies += early[k];
      peak = MAX (peak, live[k] - MIN (live[k], lies));
    }
  return peak;
}

/* The compute queue then waits for the copy before it takes the place. */
static void
shorten (GantryPlanner *planner, const Copy *copy, guint64 limit)
{
  guint64 *live = (guint64 *) (void *) planner->live->data;
  LiveRange *from = RANGE (planner, copy->from);
  guint32 first = MAX (from->last_use, from->begin) + 1, cut = G_MAXUINT32;

  if (from->fixed || from->kept || from->inside != NONE || copy->scheduled)
    return;
  for (guint32 k = MAX (first, copy->at); k <= from->end && cut == G_MAXUINT32; k++)
    if (live[k] > limit)
      cut = k;
  if (cut > from->end)
    return;
  for (guint32 k = cut; k <= from->end; k++)
    live[k] -= MIN (live[k], gantry_place_bytes (from->bytes));
  from->end = cut - 1;
  /* The copy begins behind that index: whoever reads last there must not write over what is copied. */
  from->released |= from->end < copy->at;
}

void
_gantry_planner_squeeze (GantryPlanner *planner, guint64 limit, gboolean evictions)
{
  guint32 earliest = 0;

  for (guint32 i = 0; i < planner->fetches->len; i++)
    {
      delay (planner, FETCH (planner, i), earliest, limit);
      earliest = FETCH (planner, i)->at;
    }
  for (guint32 i = 0; evictions && i < planner->evictions->len; i++)
    shorten (planner, EVICTION (planner, i), limit);
}

/* The three queues */

typedef struct
{
  GantryPlanner *planner;
  GantryPrediction *prediction;
  double now[GANTRY_N_QUEUES]; /* when each is free */
  guint32 eviction, fetch;     /* next of each */
  guint32 needed;              /* fetches before this one have been waited for */
} Simulation;

static void
add_step (Simulation *s, guint32 node, GantryQueue queue, GantryStepKind kind, guint8 instance, double begin, double us, double wait,
          const GantryLiveBytes *live)
{
  GantryPlanStep step = { .node = node, .queue = queue, .kind = kind, .instance = instance, .start_us = begin, .duration_us = us, .wait_us = wait };

  g_array_append_val (s->prediction->steps, step);
  g_array_append_val (s->prediction->live, *live);
}

static void
run_copy (Simulation *s, Copy *copy, double after, const GantryLiveBytes *live)
{
  double ready = MAX (s->now[GANTRY_QUEUE_COMPUTE], after), *now = &s->now[copy->queue];

  copy->begin = MAX (*now, ready);
  add_step (s, VALUE (s->planner->program, copy->unit)->node, copy->queue, GANTRY_STEP_COPY, copy->queue == GANTRY_QUEUE_TO_DEVICE, copy->begin, copy->us,
            copy->begin - *now, live);
  copy->end = *now = copy->begin + copy->us;
  s->prediction->copied_bytes += copy->bytes;
}

static void
run_copies (Simulation *s, guint32 at, const GantryLiveBytes *live)
{
  GantryPlanner *planner = s->planner;

  for (; s->eviction < planner->evictions->len && EVICTION (planner, s->eviction)->at <= at; s->eviction++)
    {
      Copy *copy = EVICTION (planner, s->eviction);
      guint32 from = RANGE (planner, copy->from)->end + 1;

      run_copy (s, copy, 0, live);
      /* Whoever may take its source's place waits for it. */
      if (from < planner->release->len)
        {
          copy->next_release = g_array_index (planner->release, guint32, from);
          g_array_index (planner->release, guint32, from) = s->eviction;
        }
    }
  for (; s->fetch < planner->fetches->len && FETCH (planner, s->fetch)->at <= at; s->fetch++)
    {
      Copy *copy = FETCH (planner, s->fetch);

      run_copy (s, copy, copy->after != NONE ? EVICTION (planner, copy->after)->end : 0, live);
    }
}

/* Of a result that is copied over its argument at the end, the result; of a conversion, whose value it is. */
static const GantryNode *
node_of (const GantryPlanner *planner, const Run *run)
{
  const Program *program = planner->program;
  guint32 l;

  if (run->work != NONE)
    return work_node (program, WORK (program, run->work));
  l = g_array_index (planner->use_range, guint32, run->first_use);
  return gantry_module_node (program->module, VALUE (program, RANGE (planner, l)->unit)->node);
}

static void
run_work (Simulation *s, guint32 at, const GantryLiveBytes *live)
{
  GantryPlanner *planner = s->planner;
  const Run *run = RUN (planner, at);
  double ready = s->now[GANTRY_QUEUE_COMPUTE], us = START_US (planner, at + 1) - START_US (planner, at), wait;
  const GantryNode *node = node_of (planner, run);
  GantryStepKind kind = run->kind == RUN_CONVERT                                   ? GANTRY_STEP_CONVERT
                        : run->kind == RUN_LAST_COPY || node->op == GANTRY_OP_COPY ? GANTRY_STEP_COPY
                        : run->instance > 0                                        ? GANTRY_STEP_RECOMPUTE
                                                                                   : GANTRY_STEP_RUN;
  guint64 streamed = 0;

  /* One that is read later may stand before one that is read here. */
  for (guint32 f = s->needed; f < s->fetch; f++)
    if (FETCH (planner, f)->ready <= at)
      {
        ready = MAX (ready, FETCH (planner, f)->end);
        s->needed = f + 1;
      }
  for (guint32 e = g_array_index (planner->release, guint32, at); e != NONE; e = EVICTION (planner, e)->next_release)
    ready = MAX (ready, EVICTION (planner, e)->end);
  wait = ready - s->now[GANTRY_QUEUE_COMPUTE];
  s->prediction->stall_us += wait;
  if (run->instance > 0 && run->kind == RUN_WORK)
    s->prediction->recompute_us += us;
  else if (run->work != NONE)
    s->prediction->recompute_us += _gantry_planner_loop_us (planner, run->work);
  if (run->work != NONE)
    _gantry_planner_stream_us (planner, run->work, &streamed);
  s->prediction->copied_bytes += streamed;
  add_step (s, node->id, GANTRY_QUEUE_COMPUTE, kind, run->instance, ready, us, wait, live);
  s->now[GANTRY_QUEUE_COMPUTE] = ready + us;
}

static void
add_init (Simulation *s)
{
  GantryPlanner *planner = s->planner;
  const GantryLiveBytes none = { 0 };
  double now = 0;

  for (guint32 w = 0; w < planner->program->works->len; w++)
    {
      const Work *work = WORK (planner->program, w);

      if (!work->init)
        continue;
      add_step (s, work_node (planner->program, work)->id, GANTRY_QUEUE_COMPUTE, GANTRY_STEP_RUN, 0, now, planner->cost_us[w], 0, &none);
      g_array_index (s->prediction->steps, GantryPlanStep, s->prediction->steps->len - 1).init = TRUE;
      now += planner->cost_us[w];
    }
}

static GantryLiveBytes
live_at (const GantryPlanner *planner, guint32 at)
{
  guint32 n = planner->line->len, k = at < n ? at : MAX (n, 1) - 1, work = k < n ? RUN (planner, k)->work : NONE;
  guint64 held = planner->held[GANTRY_MEMORY_DEVICE];

  return (GantryLiveBytes){ held + g_array_index (planner->live, guint64, k),
                            held + (planner->live_arguments->len > 0 ? g_array_index (planner->live_arguments, guint64, k) : 0),
                            work != NONE ? gantry_place_bytes (_gantry_planner_workspace (planner, work)) : 0 };
}

void
_gantry_planner_simulate (GantryPlanner *planner, GantryPrediction *prediction)
{
  Simulation s = { planner, prediction };
  guint32 n = planner->line->len, none = NONE, peak = prediction->peak_step;

  prediction->copied_bytes = 0;
  prediction->stall_us = prediction->recompute_us = 0;
  g_array_set_size (prediction->steps, 0);
  g_array_set_size (prediction->live, 0);
  add_init (&s);
  g_array_set_size (planner->release, 0);
  for (guint32 at = 0; at <= n; at++)
    g_array_append_val (planner->release, none);
  for (guint32 at = 0; at <= n; at++)
    {
      const GantryLiveBytes live = live_at (planner, at);

      run_copies (&s, at, &live);
      if (at == peak)
        prediction->peak_step = prediction->steps->len;
      if (at < n)
        run_work (&s, at, &live);
    }
  prediction->step_us = MAX (s.now[GANTRY_QUEUE_COMPUTE], MAX (s.now[GANTRY_QUEUE_TO_HOST], s.now[GANTRY_QUEUE_TO_DEVICE]));
  prediction->stall_us += prediction->step_us - s.now[GANTRY_QUEUE_COMPUTE];
  prediction->step_us += MAX (planner->target.run_us, 0);
  prediction->n_steps = prediction->steps->len;
}
