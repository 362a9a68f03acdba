/* SPDX-License-Identifier: Apache-2.0 */
/* The model of a small program as sets of works and values, a bit each: what the exact searches ask of a state; and the heap of states
 * that they expand next. */
#include "core/planner/solver/solve-schedule-private.h"

guint64
_gantry_schedule_bytes (const ScheduleBits *bits, guint64 values)
{
  guint64 sum = 0;

  for (; values != 0; values &= values - 1)
    sum += SCHEDULE_VALUE (bits->model, (guint) __builtin_ctzll (values))->bytes;
  return sum;
}

static void
set_bits (guint64 *set, const GArray *list, guint32 first, guint32 n)
{
  for (guint32 k = 0; k < n; k++)
    *set |= G_GUINT64_CONSTANT (1) << g_array_index (list, guint32, first + k);
}

gboolean
_gantry_schedule_bits_init (ScheduleBits *bits, const ScheduleModel *model)
{
  *bits = (ScheduleBits){ .model = model, .n_works = model->works->len, .n_values = model->values->len };
  if (bits->n_works > SCHEDULE_MOST_EXACT || bits->n_values > SCHEDULE_MOST_EXACT || bits->n_works == 0)
    return FALSE;
  for (guint32 w = 0; w < bits->n_works; w++)
    {
      const ScheduleWork *work = SCHEDULE_WORK (model, w);

      set_bits (&bits->read[w], model->reads, work->first_read, work->n_reads);
      set_bits (&bits->make[w], model->makes, work->first_make, work->n_makes);
      set_bits (&bits->over[w], model->overs, work->first_over, work->n_over);
      set_bits (&bits->after[w], model->afters, work->first_after, work->n_after);
      if (work->repeats)
        bits->repeats |= G_GUINT64_CONSTANT (1) << w;
      for (guint64 made = bits->make[w], v; made != 0; made &= made - 1)
        {
          v = (guint64) __builtin_ctzll (made);
          for (guint64 reads = bits->read[w]; reads != 0; reads &= reads - 1)
            bits->ancestors[v] |= bits->ancestors[__builtin_ctzll (reads)] | (reads & -reads);
        }
    }
  for (guint32 w = 0; w < bits->n_works; w++)
    for (guint64 after = bits->after[w]; after != 0; after &= after - 1)
      bits->before[__builtin_ctzll (after)] |= G_GUINT64_CONSTANT (1) << w;
  for (guint32 v = 0; v < bits->n_values; v++)
    if (SCHEDULE_VALUE (model, v)->lasting)
      bits->lasting |= G_GUINT64_CONSTANT (1) << v;
  return TRUE;
}

/* What works that have not run read. */
static guint64
wanted_by_rest (const ScheduleBits *bits, guint64 done)
{
  guint64 wanted = 0;

  for (guint32 w = 0; w < bits->n_works; w++)
    if ((done >> w & 1) == 0)
      wanted |= bits->read[w];
  return wanted;
}

guint64
_gantry_schedule_without_dead (const ScheduleBits *bits, guint64 done, guint64 there)
{
  guint64 wanted = wanted_by_rest (bits, done), all = wanted;

  for (guint64 v = wanted; v != 0; v &= v - 1)
    all |= bits->ancestors[__builtin_ctzll (v)];
  return there & all;
}

/* What must run again at least: what the rest reads and is gone, and what making that reads and is gone. Infinite where it cannot. */
double
_gantry_schedule_least_again (const ScheduleBits *bits, guint64 done, guint64 there)
{
  guint64 wanted = wanted_by_rest (bits, done) & ~there, seen = 0, works = 0;
  double us = 0;

  while (wanted != 0)
    {
      guint v = (guint) __builtin_ctzll (wanted), w = SCHEDULE_VALUE (bits->model, v)->maker;

      wanted &= wanted - 1;
      seen |= G_GUINT64_CONSTANT (1) << v;
      if (w == NONE || (done >> w & 1) == 0 || (works >> w & 1) != 0)
        continue;
      if ((bits->repeats >> w & 1) == 0 || (bits->before[w] & done) != 0)
        return G_MAXDOUBLE;
      works |= G_GUINT64_CONSTANT (1) << w;
      us += SCHEDULE_WORK (bits->model, w)->us;
      wanted |= bits->read[w] & ~there & ~seen;
    }
  return us;
}

/* Of equal prices that with more works done comes first. */
static gboolean
is_before (const ScheduleOpen *a, const ScheduleOpen *b)
{
  return a->price != b->price ? a->price < b->price : a->n_done > b->n_done;
}

void
_gantry_schedule_push (GArray *array, ScheduleOpen entry)
{
  ScheduleOpen *heap;
  guint i = array->len;

  g_array_append_val (array, entry);
  heap = (ScheduleOpen *) (gpointer) array->data;
  for (; i > 0 && is_before (&entry, &heap[(i - 1) / 2]); i = (i - 1) / 2)
    heap[i] = heap[(i - 1) / 2];
  heap[i] = entry;
}

guint32
_gantry_schedule_pop (GArray *array)
{
  ScheduleOpen *heap = (ScheduleOpen *) (gpointer) array->data, top = heap[0], last = heap[array->len - 1];
  guint n = array->len - 1, i = 0;

  while (2 * i + 1 < n)
    {
      guint child = 2 * i + 1;

      if (child + 1 < n && is_before (&heap[child + 1], &heap[child]))
        child++;
      if (!is_before (&heap[child], &last))
        break;
      heap[i] = heap[child];
      i = child;
    }
  heap[i] = last;
  g_array_set_size (array, n);
  return top.state;
}
