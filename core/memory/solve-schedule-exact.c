/* SPDX-License-Identifier: Apache-2.0 */
/* The exact search over all schedules of a small program. A state is which works have run and which values are there; its price is
 * the time of what ran again. A value is given up only where a work that could run finds no room: giving it up earlier gives
 * nothing. What no work can need any more is given up at once. */
#include "core/memory/solve-schedule-private.h"
#include <string.h>

#define MOST_BITS SCHEDULE_MOST_EXACT

typedef struct
{
  guint64 done, there;
  double paid;
  double left;     /* at least so much more will run again */
  guint32 parent;
  guint32 move;    /* work that ran, or NONE: something was given up */
  guint8 closed;
} State;

typedef struct
{
  double price;
  guint32 state;
  guint32 n_done;
} Entry;

typedef struct
{
  const ScheduleModel *model;
  guint n_works, n_values;
  guint64 limit;
  guint64 read[MOST_BITS], make[MOST_BITS], over[MOST_BITS], after[MOST_BITS], before[MOST_BITS]; /* by work: bits */
  guint64 ancestors[MOST_BITS];  /* by value: what it may take to make it, bits */
  guint64 lasting;               /* values */
  guint64 repeats;               /* works */
  GArray *states;                /* State */
  GArray *heap;                  /* Entry: a state stands there again when it is reached for less */
  guint32 *table;                /* hash table of states, NONE: free */
  guint32 mask;
} Exact;

static State *
state_at (const Exact *exact, guint32 i)
{
  return &g_array_index (exact->states, State, i);
}

static guint64
bytes_of (const Exact *exact, guint64 values)
{
  guint64 sum = 0;

  for (; values != 0; values &= values - 1)
    sum += SCHEDULE_VALUE (exact->model, (guint) __builtin_ctzll (values))->bytes;
  return sum;
}

static void
set_bits (guint64 *bits, const GArray *list, guint32 first, guint32 n)
{
  for (guint32 k = 0; k < n; k++)
    *bits |= G_GUINT64_CONSTANT (1) << g_array_index (list, guint32, first + k);
}

static void
read_model (Exact *exact)
{
  const ScheduleModel *model = exact->model;

  for (guint32 w = 0; w < exact->n_works; w++)
    {
      const ScheduleWork *work = SCHEDULE_WORK (model, w);

      set_bits (&exact->read[w], model->reads, work->first_read, work->n_reads);
      set_bits (&exact->make[w], model->makes, work->first_make, work->n_makes);
      set_bits (&exact->over[w], model->overs, work->first_over, work->n_over);
      set_bits (&exact->after[w], model->afters, work->first_after, work->n_after);
      if (work->repeats)
        exact->repeats |= G_GUINT64_CONSTANT (1) << w;
      for (guint64 made = exact->make[w], v; made != 0; made &= made - 1)
        {
          v = (guint64) __builtin_ctzll (made);
          for (guint64 reads = exact->read[w]; reads != 0; reads &= reads - 1)
            exact->ancestors[v] |= exact->ancestors[__builtin_ctzll (reads)] | (reads & -reads);
        }
    }
  for (guint32 w = 0; w < exact->n_works; w++)
    for (guint64 after = exact->after[w]; after != 0; after &= after - 1)
      exact->before[__builtin_ctzll (after)] |= G_GUINT64_CONSTANT (1) << w;
  for (guint32 v = 0; v < exact->n_values; v++)
    if (SCHEDULE_VALUE (model, v)->lasting)
      exact->lasting |= G_GUINT64_CONSTANT (1) << v;
}

/* What works that have not run read. */
static guint64
wanted_by_rest (const Exact *exact, guint64 done)
{
  guint64 wanted = 0;

  for (guint32 w = 0; w < exact->n_works; w++)
    if ((done >> w & 1) == 0)
      wanted |= exact->read[w];
  return wanted;
}

static guint64
without_dead (const Exact *exact, guint64 done, guint64 there)
{
  guint64 wanted = wanted_by_rest (exact, done), all = wanted;

  for (guint64 v = wanted; v != 0; v &= v - 1)
    all |= exact->ancestors[__builtin_ctzll (v)];
  return there & all;
}

/* What must run again at least: what the rest reads and is gone, and what making that reads and is gone. Infinite where it cannot. */
static double
least_again (const Exact *exact, guint64 done, guint64 there)
{
  guint64 wanted = wanted_by_rest (exact, done) & ~there, seen = 0, works = 0;
  double us = 0;

  while (wanted != 0)
    {
      guint v = (guint) __builtin_ctzll (wanted), w = SCHEDULE_VALUE (exact->model, v)->maker;

      wanted &= wanted - 1;
      seen |= G_GUINT64_CONSTANT (1) << v;
      if (w == NONE || (done >> w & 1) == 0 || (works >> w & 1) != 0)
        continue;
      if ((exact->repeats >> w & 1) == 0 || (exact->before[w] & done) != 0)
        return G_MAXDOUBLE;
      works |= G_GUINT64_CONSTANT (1) << w;
      us += SCHEDULE_WORK (exact->model, w)->us;
      wanted |= exact->read[w] & ~there & ~seen;
    }
  return us;
}

static gboolean
is_before (const Entry *a, const Entry *b)
{
  return a->price != b->price ? a->price < b->price : a->n_done > b->n_done;
}

static void
push (Exact *exact, guint32 state)
{
  const State *s = state_at (exact, state);
  const Entry entry = { s->paid + s->left, state, (guint32) __builtin_popcountll (s->done) };
  Entry *heap;
  guint i = exact->heap->len;

  g_array_append_val (exact->heap, entry);
  heap = (Entry *) (gpointer) exact->heap->data;
  for (; i > 0 && is_before (&entry, &heap[(i - 1) / 2]); i = (i - 1) / 2)
    heap[i] = heap[(i - 1) / 2];
  heap[i] = entry;
}

static guint32
pop (Exact *exact)
{
  Entry *heap = (Entry *) (gpointer) exact->heap->data, top = heap[0], last = heap[exact->heap->len - 1];
  guint n = exact->heap->len - 1, i = 0;

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
  g_array_set_size (exact->heap, n);
  return top.state;
}

static guint32 *
slot_of (const Exact *exact, guint64 done, guint64 there)
{
  guint64 hash = (done ^ there * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  guint32 at = (guint32) (hash >> 32) & exact->mask;

  while (exact->table[at] != NONE
         && (state_at (exact, exact->table[at])->done != done || state_at (exact, exact->table[at])->there != there))
    at = (at + 1) & exact->mask;
  return &exact->table[at];
}

/* A state that is reached, for less than before. It is pushed again then: the older place in the heap is passed over. */
static void
reach (Exact *exact, guint32 parent, guint32 move, guint64 done, guint64 there, double paid)
{
  guint32 *slot;
  State state = { .done = done, .there = there = without_dead (exact, done, there), .paid = paid, .parent = parent, .move = move };

  slot = slot_of (exact, done, there);
  if (*slot != NONE && state_at (exact, *slot)->paid <= paid)
    return;
  state.left = *slot != NONE ? state_at (exact, *slot)->left : least_again (exact, done, there);
  if (state.left == G_MAXDOUBLE)
    return;
  if (*slot == NONE)
    {
      *slot = exact->states->len;
      g_array_append_val (exact->states, state);
    }
  else
    *state_at (exact, *slot) = state;
  push (exact, *slot);
}

/* Runs @w where there is room. Returns: FALSE where there is none */
static gboolean
run (Exact *exact, guint32 from, guint32 w)
{
  const State state = *state_at (exact, from);
  const ScheduleWork *work = SCHEDULE_WORK (exact->model, w);
  guint64 there = state.there, made = exact->make[w] & ~there, done = state.done | G_GUINT64_CONSTANT (1) << w;
  guint64 bytes = exact->model->fixed + work->workspace + bytes_of (exact, there | made);
  double paid = state.paid + ((state.done >> w & 1) != 0 ? work->us : 0);
  gboolean fits = bytes <= exact->limit;

  if (fits)
    reach (exact, from, w, done, there | made, paid);
  /* Written over what it reads, which is gone then. */
  for (guint64 over = fits ? 0 : exact->over[w] & there & ~exact->lasting; over != 0; over &= over - 1)
    if (bytes - bytes_of (exact, over & -over) <= exact->limit)
      reach (exact, from, w, done, (there & ~(over & -over)) | made, paid);
  return fits;
}

static void
expand (Exact *exact, guint32 from)
{
  const State state = *state_at (exact, from);
  gboolean blocked = FALSE;

  for (guint32 w = 0; w < exact->n_works; w++)
    {
      gboolean again = (state.done >> w & 1) != 0;

      if ((exact->read[w] & ~state.there) != 0 || (exact->after[w] & ~state.done) != 0)
        continue;
      if (again && ((exact->repeats >> w & 1) == 0 || (exact->make[w] & ~state.there) == 0 || (exact->before[w] & state.done) != 0))
        continue;
      blocked |= !run (exact, from, w);
    }
  for (guint64 v = blocked ? state.there & ~exact->lasting : 0; v != 0; v &= v - 1)
    reach (exact, from, NONE, state.done, state.there & ~(v & -v), state.paid);
}

static void
write_down (const Exact *exact, guint32 goal, GArray *schedule)
{
  guint first = schedule->len;

  for (guint32 s = goal; s != NONE; s = state_at (exact, s)->parent)
    if (state_at (exact, s)->move != NONE)
      g_array_append_val (schedule, state_at (exact, s)->move);
  for (guint a = first, b = schedule->len; b > a + 1; a++)
    {
      guint32 swap = g_array_index (schedule, guint32, a);

      b--;
      g_array_index (schedule, guint32, a) = g_array_index (schedule, guint32, b);
      g_array_index (schedule, guint32, b) = swap;
    }
}

static ScheduleOutcome
search (Exact *exact, guint most_states, GArray *schedule)
{
  guint64 all = exact->n_works == MOST_BITS ? G_MAXUINT64 : (G_GUINT64_CONSTANT (1) << exact->n_works) - 1;

  reach (exact, NONE, NONE, 0, 0, 0);
  while (exact->heap->len > 0)
    {
      guint32 s = pop (exact);

      if (state_at (exact, s)->closed)
        continue;
      state_at (exact, s)->closed = TRUE;
      if (state_at (exact, s)->done == all)
        {
          write_down (exact, s, schedule);
          return SCHEDULE_FOUND;
        }
      if (exact->states->len > most_states || (exact->states->len % 64 == 0 && _gantry_solve_is_over (exact->model->problem)))
        return SCHEDULE_GIVEN_UP;
      expand (exact, s);
    }
  return SCHEDULE_NONE;
}

ScheduleOutcome
_gantry_schedule_exact (const ScheduleModel *model, guint64 limit, guint most_states, GArray *schedule)
{
  Exact *exact;
  ScheduleOutcome outcome;
  guint32 n_slots = 1024;

  if (model->works->len > MOST_BITS || model->values->len > MOST_BITS || model->works->len == 0)
    return SCHEDULE_GIVEN_UP;
  exact = g_new0 (Exact, 1);
  exact->model = model;
  exact->limit = limit;
  exact->n_works = model->works->len;
  exact->n_values = model->values->len;
  exact->states = g_array_new (FALSE, FALSE, sizeof (State));
  exact->heap = g_array_new (FALSE, FALSE, sizeof (Entry));
  /* An expansion adds at most a state for each work and value, and one for each place that is written over. */
  while (n_slots < 2 * (most_states + 4 * MOST_BITS * MOST_BITS))
    n_slots *= 2;
  exact->mask = n_slots - 1;
  exact->table = g_new (guint32, n_slots);
  memset (exact->table, 0xff, n_slots * sizeof *exact->table);
  read_model (exact);
  outcome = search (exact, most_states, schedule);
  g_array_unref (exact->states);
  g_array_unref (exact->heap);
  g_free (exact->table);
  g_free (exact);
  return outcome;
}
