/* SPDX-License-Identifier: Apache-2.0 */
/* The exact search over all schedules of a small program. A state is which works have run and which values are there; its price is
 * the time of what ran again. A value is given up only where a work that could run finds no room: giving it up earlier gives
 * nothing. What no work can need any more is given up at once. */
#include "core/planner/solver/solve-schedule-private.h"
#include <string.h>

typedef struct
{
  guint64 done, there;
  double paid;
  double left; /* at least so much more will run again */
  guint32 parent;
  guint32 move; /* work that ran, or NONE: something was given up */
  guint8 closed;
} State;

typedef struct
{
  ScheduleBits bits;
  guint64 limit;
  GArray *states; /* State */
  GArray *heap;   /* ScheduleOpen: a state stands there again when it is reached for less */
  guint32 *table; /* hash table of states, NONE: free */
  guint32 mask;
} Exact;

static State *
state_at (const Exact *exact, guint32 i)
{
  return &g_array_index (exact->states, State, i);
}

static guint32 *
slot_of (const Exact *exact, guint64 done, guint64 there)
{
  guint64 hash = (done ^ there * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  guint32 at = (guint32) (hash >> 32) & exact->mask;

  while (exact->table[at] != NONE && (state_at (exact, exact->table[at])->done != done || state_at (exact, exact->table[at])->there != there))
    at = (at + 1) & exact->mask;
  return &exact->table[at];
}

/* A state that is reached, for less than before. It is pushed again then: the older place in the heap is passed over. */
static void
reach (Exact *exact, guint32 parent, guint32 move, guint64 done, guint64 there, double paid)
{
  guint32 *slot;
  State state = { .done = done, .there = there = _gantry_schedule_without_dead (&exact->bits, done, there), .paid = paid, .parent = parent, .move = move };

  slot = slot_of (exact, done, there);
  if (*slot != NONE && state_at (exact, *slot)->paid <= paid)
    return;
  state.left = *slot != NONE ? state_at (exact, *slot)->left : _gantry_schedule_least_again (&exact->bits, done, there);
  if (state.left == G_MAXDOUBLE)
    return;
  if (*slot == NONE)
    {
      *slot = exact->states->len;
      g_array_append_val (exact->states, state);
    }
  else
    *state_at (exact, *slot) = state;
  _gantry_schedule_push (exact->heap, (ScheduleOpen){ state.paid + state.left, *slot, (guint32) __builtin_popcountll (done) });
}

/* Runs @w where there is room. Returns: FALSE where there is none */
static gboolean
run (Exact *exact, guint32 from, guint32 w)
{
  const State state = *state_at (exact, from);
  const ScheduleWork *work = SCHEDULE_WORK (exact->bits.model, w);
  guint64 there = state.there, made = exact->bits.make[w] & ~there, done = state.done | G_GUINT64_CONSTANT (1) << w;
  guint64 bytes = exact->bits.model->fixed + work->workspace + _gantry_schedule_bytes (&exact->bits, there | made);
  double paid = state.paid + ((state.done >> w & 1) != 0 ? work->us : 0);
  gboolean fits = bytes <= exact->limit;

  if (fits)
    reach (exact, from, w, done, there | made, paid);
  /* Written over what it reads, which is gone then. */
  for (guint64 over = fits ? 0 : exact->bits.over[w] & there & ~exact->bits.lasting; over != 0; over &= over - 1)
    if (bytes - _gantry_schedule_bytes (&exact->bits, over & -over) <= exact->limit)
      reach (exact, from, w, done, (there & ~(over & -over)) | made, paid);
  return fits;
}

static void
expand (Exact *exact, guint32 from)
{
  const State state = *state_at (exact, from);
  gboolean blocked = FALSE;

  for (guint32 w = 0; w < exact->bits.n_works; w++)
    {
      gboolean again = (state.done >> w & 1) != 0;

      if ((exact->bits.read[w] & ~state.there) != 0 || (exact->bits.after[w] & ~state.done) != 0)
        continue;
      if (again && ((exact->bits.repeats >> w & 1) == 0 || (exact->bits.make[w] & ~state.there) == 0 || (exact->bits.before[w] & state.done) != 0))
        continue;
      blocked |= !run (exact, from, w);
    }
  for (guint64 v = blocked ? state.there & ~exact->bits.lasting : 0; v != 0; v &= v - 1)
    reach (exact, from, NONE, state.done, state.there & ~(v & -v), state.paid);
}

static void
write_down (const Exact *exact, guint32 goal, GArray *schedule)
{
  guint first = schedule->len;

  for (guint32 s = goal; s != NONE; s = state_at (exact, s)->parent)
    if (state_at (exact, s)->move != NONE)
      g_array_append_val (schedule, state_at (exact, s)->move);
  _gantry_schedule_reverse (schedule, first);
}

static ScheduleOutcome
search (Exact *exact, guint most_states, GArray *schedule)
{
  guint64 all = exact->bits.n_works == SCHEDULE_MOST_EXACT ? G_MAXUINT64 : (G_GUINT64_CONSTANT (1) << exact->bits.n_works) - 1;

  reach (exact, NONE, NONE, 0, 0, 0);
  while (exact->heap->len > 0)
    {
      guint32 s = _gantry_schedule_pop (exact->heap);

      if (state_at (exact, s)->closed)
        continue;
      state_at (exact, s)->closed = TRUE;
      if (state_at (exact, s)->done == all)
        {
          write_down (exact, s, schedule);
          return SCHEDULE_FOUND;
        }
      if (exact->states->len > most_states || (exact->states->len % 64 == 0 && _gantry_solve_is_over (exact->bits.model->problem)))
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

  exact = g_new0 (Exact, 1);
  if (!_gantry_schedule_bits_init (&exact->bits, model))
    {
      g_free (exact);
      return SCHEDULE_GIVEN_UP;
    }
  exact->limit = limit;
  exact->states = g_array_new (FALSE, FALSE, sizeof (State));
  exact->heap = g_array_new (FALSE, FALSE, sizeof (ScheduleOpen));
  /* An expansion adds at most a state for each work and value, and one for each place that is written over. */
  while (n_slots < 2 * (most_states + 4 * SCHEDULE_MOST_EXACT * SCHEDULE_MOST_EXACT))
    n_slots *= 2;
  exact->mask = n_slots - 1;
  exact->table = g_new (guint32, n_slots);
  memset (exact->table, 0xff, n_slots * sizeof *exact->table);
  outcome = search (exact, most_states, schedule);
  g_array_unref (exact->states);
  g_array_unref (exact->heap);
  g_free (exact->table);
  g_free (exact);
  return outcome;
}
