/* SPDX-License-Identifier: Apache-2.0 */
/* The exact search over all schedules of a small program with copies between the memories: any order, any value made again or copied as
 * often as it pays. Work and copies stand in one line, as in a plan: a place is taken and given back between two works, a copy begins
 * when its queue is free and the work before it in the line has ended, a work waits for what it reads and for places that it is given.
 * A label is a state of all three queues; of those with the same values in the same places one that is nowhere later dominates the
 * others. Labels are expanded by what they take at least (A*). */
#include "core/planner/solver/solve-schedule-private.h"
#include <math.h>
#include <string.h>

#define MOST_COPIED 24u /* values that may be copied: of a program with more not all schedules are looked at */

/** Moves: GantryScheduleAction, or that a value is given up that can be made again or fetched. */
#define DROP GANTRY_N_SCHEDULE_ACTIONS

typedef struct
{
  guint64 done;                           /* works */
  guint64 there, leaving, arriving, host; /* values; what leaves or arrives is there too */
} Place;

typedef struct
{
  Place place;
  double compute, out, in;   /* until then each queue is busy */
  double until[MOST_COPIED]; /* by copied value: the end of the copy under way */
  guint32 parent, next;      /* label before it; in its slot of the table */
  guint8 action, of;         /* how it was reached */
  guint8 dead;
} Label;

typedef struct
{
  ScheduleBits bits;
  guint64 limit;
  double below;
  guint64 copied;                      /* values that may be copied */
  guint8 slot_of[SCHEDULE_MOST_EXACT]; /* by value: index in until */
  double copy_us[MOST_COPIED];
  guint n_copied;
  GArray *labels; /* Label */
  GArray *heap;   /* ScheduleOpen */
  guint32 *table; /* first label of each slot, or NONE */
  guint32 mask;
} Exact;

static Label *
label_at (const Exact *exact, guint32 i)
{
  return &g_array_index (exact->labels, Label, i);
}

static guint64
bit (guint i)
{
  return G_GUINT64_CONSTANT (1) << i;
}

static gboolean
may_copy (const ScheduleModel *model, guint32 v)
{
  const SolveProblem *problem = model->problem;
  gint32 i = SCHEDULE_VALUE (model, v)->item;
  const SolveItem *item = i >= 0 ? ITEM (problem, i) : NULL;

  return item != NULL && item->maker != NONE && item->first_backward != NONE && (item->allowed >> GANTRY_PLACEMENT_OFFLOAD & 1) != 0
         && SCHEDULE_VALUE (model, v)->bytes > 0 && !problem->planner->stack_of_slices[item->root];
}

gboolean
_gantry_schedule_copies_all (const ScheduleModel *model)
{
  const SolveProblem *problem = model->problem;
  const GantryPlanner *planner = problem->planner;
  guint n_copied = 0, n_allowed = 0;

  for (guint32 v = 0; v < model->values->len; v++)
    n_copied += may_copy (model, v);
  for (guint c = 0; c < planner->candidates->len; c++)
    {
      const GantryCandidate *candidate = &g_array_index (planner->candidates, GantryCandidate, c);
      const GantryPlacement *entry = problem->base != NULL ? gantry_placements_find (problem->base, candidate->node) : NULL;

      n_allowed += (candidate->allowed & problem->allowed & 1u << GANTRY_PLACEMENT_OFFLOAD) != 0
                   && (entry == NULL || entry->decider != GANTRY_DECIDED_BY_CLICK);
    }
  return n_copied == n_allowed;
}

/* Returns: FALSE where the program is too large */
static gboolean
find_copied (Exact *exact)
{
  const ScheduleModel *model = exact->bits.model;

  for (guint32 v = 0; v < exact->bits.n_values; v++)
    {
      if (!may_copy (model, v))
        continue;
      if (exact->n_copied == MOST_COPIED)
        return FALSE;
      exact->copied |= bit (v);
      exact->slot_of[v] = (guint8) exact->n_copied;
      exact->copy_us[exact->n_copied++] = ITEM (model->problem, SCHEDULE_VALUE (model, v)->item)->copy_us;
    }
  return exact->n_copied > 0;
}

/* Labels */

static guint32
slot_of (const Exact *exact, const Place *place)
{
  const guint64 words[] = { place->done, place->there, place->leaving, place->arriving, place->host };
  guint64 hash = G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    hash = (hash ^ words[i] ^ hash >> 29) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  return (guint32) (hash >> 32) & exact->mask;
}

static gboolean
same_place (const Place *a, const Place *b)
{
  return a->done == b->done && a->there == b->there && a->leaving == b->leaving && a->arriving == b->arriving && a->host == b->host;
}

/* Both are in the same place. */
static gboolean
dominates (const Exact *exact, const Label *a, const Label *b)
{
  if (a->compute > b->compute + 1e-9 || a->out > b->out + 1e-9 || a->in > b->in + 1e-9)
    return FALSE;
  for (guint64 v = (a->place.leaving | a->place.arriving | a->place.host) & exact->copied; v != 0; v &= v - 1)
    {
      guint s = exact->slot_of[__builtin_ctzll (v)];

      if (a->until[s] > b->until[s] + 1e-9)
        return FALSE;
    }
  return TRUE;
}

/* A copy that has ended is under way no more, and times before the present do not matter. */
static void
normalize (const Exact *exact, Label *label)
{
  Place *place = &label->place;

  label->out = MAX (label->out, label->compute);
  label->in = MAX (label->in, label->compute);
  for (guint64 v = exact->copied; v != 0; v &= v - 1)
    {
      guint i = (guint) __builtin_ctzll (v), s = exact->slot_of[i];

      label->until[s] = MAX (label->until[s], label->compute);
      if (label->until[s] <= label->compute)
        place->arriving &= ~bit (i);
    }
  place->there = _gantry_schedule_without_dead (&exact->bits, place->done, place->there) | place->leaving | place->arriving;
  place->host = _gantry_schedule_without_dead (&exact->bits, place->done, place->host);
}

/* What it takes at least: the works that have not run, and what must run again since it is nowhere. */
static double
price_of (const Exact *exact, const Label *label)
{
  const Place *place = &label->place;
  double us = label->compute + _gantry_schedule_least_again (&exact->bits, place->done, place->there | place->host);

  for (guint32 w = 0; w < exact->bits.n_works; w++)
    if ((place->done >> w & 1) == 0)
      us += SCHEDULE_WORK (exact->bits.model, w)->us;
  return us;
}

static void
reach (Exact *exact, Label label, guint32 parent, guint8 action, guint of)
{
  guint32 *slot, i = exact->labels->len;
  double price;

  normalize (exact, &label);
  price = price_of (exact, &label);
  if (price >= exact->below)
    return;
  slot = &exact->table[slot_of (exact, &label.place)];
  for (guint32 l = *slot; l != NONE; l = label_at (exact, l)->next)
    if (same_place (&label_at (exact, l)->place, &label.place))
      {
        if (!label_at (exact, l)->dead && dominates (exact, label_at (exact, l), &label))
          return;
        if (dominates (exact, &label, label_at (exact, l)))
          label_at (exact, l)->dead = TRUE;
      }
  label.parent = parent;
  label.action = action;
  label.of = (guint8) of;
  label.dead = FALSE;
  label.next = *slot;
  *slot = i;
  g_array_append_val (exact->labels, label);
  _gantry_schedule_push (exact->heap, (ScheduleOpen){ price, i, (guint32) __builtin_popcountll (label.place.done) });
}

/* Moves */

static gboolean
can_run (const Exact *exact, const Place *place, guint32 w)
{
  const ScheduleBits *bits = &exact->bits;

  if ((bits->read[w] & ~place->there) != 0 || (bits->after[w] & ~place->done) != 0)
    return FALSE;
  if ((place->done >> w & 1) == 0)
    return TRUE;
  return (bits->repeats >> w & 1) != 0 && (bits->make[w] & ~place->there) != 0 && (bits->make[w] & place->leaving) == 0 && (bits->before[w] & place->done) == 0;
}

/* Runs @w where there is room. Returns: FALSE where there is none */
static gboolean
run (Exact *exact, guint32 from, guint32 w)
{
  const ScheduleBits *bits = &exact->bits;
  const ScheduleWork *work = SCHEDULE_WORK (bits->model, w);
  Label label = *label_at (exact, from);
  const guint64 made = bits->make[w] & ~label.place.there;
  const guint64 bytes = bits->model->fixed + work->workspace + _gantry_schedule_bytes (bits, label.place.there | made);
  guint64 over = bytes <= exact->limit ? 0 : bits->over[w] & label.place.there & ~bits->lasting & ~label.place.leaving & ~label.place.arriving;

  for (guint64 v = bits->read[w] & label.place.arriving; v != 0; v &= v - 1)
    label.compute = MAX (label.compute, label.until[exact->slot_of[__builtin_ctzll (v)]]);
  label.compute += work->us;
  label.place.done |= bit (w);
  label.place.there |= made;
  if (bytes <= exact->limit)
    reach (exact, label, from, GANTRY_SCHEDULE_RUN, w);
  /* Written over what it reads, which is gone then. */
  for (; over != 0; over &= over - 1)
    if (bytes - _gantry_schedule_bytes (bits, over & -over) <= exact->limit)
      {
        Label without = label;

        without.place.there &= ~(over & -over) | made;
        reach (exact, without, from, GANTRY_SCHEDULE_RUN, w);
      }
  return bytes <= exact->limit;
}

static void
spill (Exact *exact, guint32 from, guint v)
{
  Label label = *label_at (exact, from);
  guint s = exact->slot_of[v];

  label.until[s] = label.out = MAX (label.out, label.compute) + exact->copy_us[s];
  label.place.leaving |= bit (v);
  reach (exact, label, from, GANTRY_SCHEDULE_SPILL, v);
}

static void
prefetch (Exact *exact, guint32 from, guint v)
{
  Label label = *label_at (exact, from);
  guint s = exact->slot_of[v];

  label.until[s] = label.in = MAX (MAX (label.in, label.compute), label.until[s]) + exact->copy_us[s];
  label.place.arriving |= bit (v);
  label.place.there |= bit (v);
  reach (exact, label, from, GANTRY_SCHEDULE_PREFETCH, v);
}

/* The place of @v is given up: who takes it waits for the copy of what leaves. */
static void
give_up (Exact *exact, guint32 from, guint v)
{
  Label label = *label_at (exact, from);
  gboolean leaving = (label.place.leaving >> v & 1) != 0;

  if (!leaving && (exact->bits.lasting & ~label.place.host & bit (v)) != 0)
    return;
  if (leaving)
    {
      label.compute = MAX (label.compute, label.until[exact->slot_of[v]]);
      label.place.leaving &= ~bit (v);
      label.place.host |= bit (v);
    }
  label.place.there &= ~bit (v);
  reach (exact, label, from, leaving ? GANTRY_SCHEDULE_RELEASE : DROP, v);
}

static void
expand (Exact *exact, guint32 from)
{
  const Place place = label_at (exact, from)->place;
  gboolean blocked = FALSE;

  for (guint32 w = 0; w < exact->bits.n_works; w++)
    if (can_run (exact, &place, w))
      blocked |= !run (exact, from, w);
  for (guint64 v = exact->copied & place.there & ~place.leaving & ~place.host; v != 0; v &= v - 1)
    spill (exact, from, (guint) __builtin_ctzll (v));
  for (guint64 v = place.host & ~place.there; v != 0; v &= v - 1)
    prefetch (exact, from, (guint) __builtin_ctzll (v));
  for (guint64 v = blocked ? place.there & ~place.arriving : 0; v != 0; v &= v - 1)
    give_up (exact, from, (guint) __builtin_ctzll (v));
}

/* Is the move to @label for anything? From the last one backwards: @read: what is read later and not made or fetched before that; @fetched:
 * what is fetched later. */
static gboolean
is_needed (const Exact *exact, const Label *label, guint64 *read, guint64 *fetched)
{
  const guint64 value = bit (label->of);
  gboolean needed = (*fetched & value) != 0;

  switch (label->action)
    {
    case GANTRY_SCHEDULE_RUN: *read = (*read & ~exact->bits.make[label->of]) | exact->bits.read[label->of]; return TRUE;
    case GANTRY_SCHEDULE_PREFETCH:
      needed = (*read & value) != 0;
      *read &= ~value;
      *fetched |= needed ? value : 0;
      return needed;
    case GANTRY_SCHEDULE_RELEASE: return needed;
    case GANTRY_SCHEDULE_SPILL: *fetched &= ~value; return needed;
    default: return FALSE;
    }
}

/* What leads to @goal, in order. */
static void
write_down (const Exact *exact, guint32 goal, GArray *entries)
{
  const ScheduleModel *model = exact->bits.model;
  const Program *program = model->problem->planner->program;
  guint64 read = 0, fetched = 0;
  guint first = entries->len;

  for (guint32 l = goal; label_at (exact, l)->parent != NONE; l = label_at (exact, l)->parent)
    {
      const Label *label = label_at (exact, l);
      GantryScheduleEntry entry = { .action = label->action };

      if (!is_needed (exact, label, &read, &fetched))
        continue;
      entry.node = label->action == GANTRY_SCHEDULE_RUN ? work_node (program, WORK (program, SCHEDULE_WORK (model, label->of)->work))->id
                                                        : ITEM (model->problem, SCHEDULE_VALUE (model, label->of)->item)->node;
      g_array_append_val (entries, entry);
    }
  _gantry_schedule_reverse (entries, first);
}

static ScheduleOutcome
search (Exact *exact, guint most_labels, GArray *entries)
{
  const guint64 all = exact->bits.n_works == 64 ? G_MAXUINT64 : bit (exact->bits.n_works) - 1;

  reach (exact, (Label){ .compute = 0 }, NONE, GANTRY_SCHEDULE_RUN, 0);
  while (exact->heap->len > 0)
    {
      guint32 l = _gantry_schedule_pop (exact->heap);

      if (label_at (exact, l)->dead)
        continue;
      if (label_at (exact, l)->place.done == all)
        {
          write_down (exact, l, entries);
          return SCHEDULE_FOUND;
        }
      if (exact->labels->len > most_labels || (exact->labels->len % 64 == 0 && _gantry_solve_is_over (exact->bits.model->problem)))
        return SCHEDULE_GIVEN_UP;
      expand (exact, l);
    }
  return SCHEDULE_NONE;
}

ScheduleOutcome
_gantry_schedule_exact_copies (const ScheduleModel *model, guint64 limit, double below, guint most_labels, GArray *entries)
{
  g_autofree Exact *exact = g_new0 (Exact, 1);
  ScheduleOutcome outcome;
  guint32 n_slots = 1024;

  exact->limit = limit;
  exact->below = below * (1 - 1e-9);
  if (!_gantry_schedule_bits_init (&exact->bits, model) || !find_copied (exact))
    return SCHEDULE_GIVEN_UP;
  while (n_slots < most_labels)
    n_slots *= 2;
  exact->mask = n_slots - 1;
  exact->table = g_new (guint32, n_slots);
  memset (exact->table, 0xff, n_slots * sizeof *exact->table);
  exact->labels = g_array_new (FALSE, FALSE, sizeof (Label));
  exact->heap = g_array_new (FALSE, FALSE, sizeof (ScheduleOpen));
  outcome = search (exact, most_labels, entries);
  g_array_unref (exact->labels);
  g_array_unref (exact->heap);
  g_free (exact->table);
  return outcome;
}
