/* SPDX-License-Identifier: Apache-2.0 */
/* The exact search with moves: any order, any value made again or moved out and back as often as it pays. What runs stands in one
 * line with the copies, as in a plan: a place is taken and given back between two works, a copy begins when its queue is free
 * and the work before it in the line has ended, and a work waits for what it reads and for places that it is given. */
#include "tests/core/planner/solver/schedule-oracle.h"
#include <math.h>
#include <string.h>

typedef struct
{
  guint16 ran, there, leaving, arriving, host; /* bits by value; what leaves or arrives is there too */
} Place;

typedef struct
{
  Place place;
  gboolean dead;
  double compute, out, in; /* until then each queue is busy */
  double until[16];        /* by value: the end of the copy under way, and since when it is in the host */
} Label;

typedef struct
{
  const OracleStep *step;
  guint64 limit;
  double us_per_byte, below;
  guint16 reads[16], ancestors[16], movable;
  GPtrArray *labels;    /* owned */
  GHashTable *by_place; /* Place -> GPtrArray of Label, those that no other one dominates */
  GArray *heap;         /* Entry */
} Moves;

typedef struct
{
  double price;
  Label *label;
} Entry;

static guint
hash_place (gconstpointer data)
{
  const guint16 *p = data;
  guint hash = 17;

  for (guint i = 0; i < sizeof (Place) / sizeof *p; i++)
    hash = hash * 31013 + p[i];
  return hash ^ hash >> 13;
}

static gboolean
equal_place (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, sizeof (Place)) == 0;
}

static void
push (GArray *heap, Entry entry)
{
  guint i = heap->len;
  Entry *entries;

  g_array_append_val (heap, entry);
  entries = (Entry *) (gpointer) heap->data;
  for (; i > 0 && entry.price < entries[(i - 1) / 2].price; i = (i - 1) / 2)
    entries[i] = entries[(i - 1) / 2];
  entries[i] = entry;
}

static Label *
pop (GArray *heap)
{
  Entry *entries = (Entry *) (gpointer) heap->data, top = entries[0], last = entries[heap->len - 1];
  guint n = heap->len - 1, i = 0;

  while (2 * i + 1 < n)
    {
      guint child = 2 * i + 1;

      child += child + 1 < n && entries[child + 1].price < entries[child].price;
      if (entries[child].price >= last.price)
        break;
      entries[i] = entries[child];
      i = child;
    }
  entries[i] = last;
  g_array_set_size (heap, n);
  return top.label;
}

static guint64
bytes_of (const Moves *moves, guint16 there)
{
  guint64 bytes = 0;

  for (guint v = 0; v < moves->step->n; v++)
    if (there >> v & 1 && !moves->step->works[v].result)
      bytes += moves->step->works[v].bytes;
  return bytes;
}

static gboolean
dominates (const Moves *moves, const Label *a, const Label *b)
{
  guint16 counts = a->place.leaving | a->place.arriving | a->place.host;

  if (a->compute > b->compute + 1e-9 || a->out > b->out + 1e-9 || a->in > b->in + 1e-9)
    return FALSE;
  for (guint v = 0; v < moves->step->n; v++)
    if (counts >> v & 1 && a->until[v] > b->until[v] + 1e-9)
      return FALSE;
  return TRUE;
}

/* A copy that has ended is under way no more, and times before the present do not matter. */
static void
normalize (const Moves *moves, Label *label)
{
  guint16 wanted = 0;

  for (guint w = 0; w < moves->step->n; w++)
    if (!(label->place.ran >> w & 1))
      wanted |= moves->reads[w] | moves->ancestors[w];
  label->out = MAX (label->out, label->compute);
  label->in = MAX (label->in, label->compute);
  for (guint v = 0; v < moves->step->n; v++)
    {
      label->until[v] = MAX (label->until[v], label->compute);
      if (label->until[v] <= label->compute)
        label->place.arriving &= (guint16) ~(1u << v);
    }
  label->place.there &= wanted | label->place.leaving | label->place.arriving;
  label->place.host &= wanted;
}

static void
reach (Moves *moves, const Label *from)
{
  Label label = *from, *kept;
  GPtrArray *others;
  double rest = 0;

  normalize (moves, &label);
  for (guint w = 0; w < moves->step->n; w++)
    rest += label.place.ran >> w & 1 ? 0 : moves->step->works[w].us;
  if (label.compute + rest >= moves->below)
    return;
  others = g_hash_table_lookup (moves->by_place, &label.place);
  for (guint i = 0; others != NULL && i < others->len; i++)
    if (dominates (moves, others->pdata[i], &label))
      return;
  kept = g_memdup2 (&label, sizeof label);
  g_ptr_array_add (moves->labels, kept);
  if (others == NULL)
    g_hash_table_insert (moves->by_place, &kept->place, others = g_ptr_array_new ());
  for (guint i = others->len; i-- > 0;)
    if (dominates (moves, kept, others->pdata[i]))
      {
        ((Label *) others->pdata[i])->dead = TRUE;
        if (others->len == 1) /* the key of the table is the first one's */
          break;
        if (i > 0)
          g_ptr_array_remove_index_fast (others, i);
      }
  g_ptr_array_add (others, kept);
  push (moves->heap, (Entry){ label.compute + rest, kept });
}

static void
run (Moves *moves, const Label *from, guint w, gboolean *short_of_room)
{
  const OracleWork *work = &moves->step->works[w];
  guint16 bit = (guint16) (1u << w);
  Label label = *from;

  if ((moves->reads[w] & ~from->place.there) != 0 || (from->place.there & bit) != 0 || ((from->place.ran & bit) != 0 && work->result))
    return;
  if (bytes_of (moves, from->place.there | bit) > moves->limit)
    {
      *short_of_room = TRUE;
      return;
    }
  for (guint v = 0; v < moves->step->n; v++)
    if (moves->reads[w] & from->place.arriving & 1u << v)
      label.compute = MAX (label.compute, label.until[v]);
  label.compute += work->us;
  label.place.ran |= bit;
  label.place.there |= bit;
  reach (moves, &label);
}

static void
move (Moves *moves, const Label *from, guint v, gboolean short_of_room)
{
  guint16 bit = (guint16) (1u << v);
  Label label = *from;
  double us = (double) moves->step->works[v].bytes * moves->us_per_byte;
  gboolean there = (from->place.there & bit) != 0, leaving = (from->place.leaving & bit) != 0;

  if (there && !leaving && !(from->place.host & bit) && (moves->movable & bit)) /* out */
    {
      label.until[v] = label.out = MAX (label.out, label.compute) + us;
      label.place.leaving |= bit;
      reach (moves, &label);
    }
  label = *from;
  if (!there && (from->place.host & bit)) /* back */
    {
      label.until[v] = label.in = MAX (MAX (label.in, label.compute), label.until[v]) + us;
      label.place.arriving |= bit;
      label.place.there |= bit;
      reach (moves, &label);
    }
  label = *from;
  if (there && short_of_room && !(from->place.arriving & bit)) /* its place is given up */
    {
      if (leaving)
        {
          label.compute = MAX (label.compute, label.until[v]);
          label.place.leaving &= (guint16) ~bit;
          label.place.host |= bit;
        }
      label.place.there &= (guint16) ~bit;
      reach (moves, &label);
    }
}

static void
read_step (Moves *moves)
{
  const OracleStep *step = moves->step;

  for (guint w = 0; w < step->n; w++)
    for (guint k = 0; k < step->works[w].n_operands; k++)
      {
        guint v = step->works[w].operands[k];

        moves->reads[w] |= (guint16) (1u << v);
        moves->ancestors[w] |= moves->reads[w] | moves->ancestors[v];
        if (!step->works[v].backward && step->works[w].backward)
          moves->movable |= (guint16) (1u << v);
      }
}

double
oracle_fastest_with_moves (const OracleStep *step, guint64 bytes, double us_per_byte, double below, guint most)
{
  Moves moves = { .step = step,
                  .limit = bytes,
                  .us_per_byte = us_per_byte,
                  .below = below,
                  .labels = g_ptr_array_new_with_free_func (g_free),
                  .by_place = g_hash_table_new_full (hash_place, equal_place, NULL, (GDestroyNotify) g_ptr_array_unref),
                  .heap = g_array_new (FALSE, FALSE, sizeof (Entry)) };
  guint16 all = (guint16) ((1u << step->n) - 1);
  double least = INFINITY;
  Label label = { 0 };

  g_assert_cmpuint (step->n, <=, 15);
  read_step (&moves);
  reach (&moves, &label);
  while (moves.heap->len > 0)
    {
      gboolean short_of_room = FALSE;
      const Label *from = pop (moves.heap);

      if (from->dead)
        continue;
      if (from->place.ran == all)
        {
          /* Copies that nobody waits for are none: there is one without them that ends as early. */
          least = from->compute;
          break;
        }
      if (moves.labels->len > most)
        {
          least = NAN;
          break;
        }
      label = *from;
      for (guint w = 0; w < step->n; w++)
        run (&moves, &label, w, &short_of_room);
      for (guint v = 0; v < step->n; v++)
        move (&moves, &label, v, short_of_room);
    }
  g_hash_table_unref (moves.by_place);
  g_ptr_array_unref (moves.labels);
  g_array_unref (moves.heap);
  return least;
}
