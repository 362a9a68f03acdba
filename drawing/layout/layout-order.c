/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of the vertices within each row: few crossings, and stable.
 *
 * Barycentre sweeps (Sugiyama, Tagawa, Toda 1981) from a depth-first start, the best order seen is
 * kept; then neighbours change places as long as that saves crossings. Crossings of a channel are
 * counted with a binary indexed tree (Barth, Juenger, Mutzel 2002), so a sweep costs O(links log
 * width).
 */
#include "drawing/layout/layout-private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
  MOST_SWEEPS = 12,
  MOST_IDLE_SWEEPS = 4, /* sweeps without gain before giving up */
  MOST_SWITCHES = 4,    /* rounds of neighbours changing places */
  MOST_DEGREE = 64,     /* vertices with more neighbours than this do not change places */
};

/* A vertex of a row being sorted. */
typedef struct
{
  double key;
  guint32 pos; /* before */
  guint32 vertex;
} Slot;

typedef struct
{
  LayLevel *level;
  LayJob *job;
  Slot *slot;
  double *key;
  guint32 *tree; /* binary indexed, as wide as the widest row */
  guint32 *twin; /* a vertex of its row that it hangs on, if it has no other neighbour */
  guint32 *best; /* the best order so far */
  guint32 widest;
} Sorter;

/* --- start ----------------------------------------------------------------------------------- */

static void
make_rows (LayLevel *level, LayJob *job)
{
  level->row_first = LAY_NEW (&job->scratch, guint32, (gsize) level->n_rows + 2);
  for (guint32 v = 0; v < level->n_vertices; v++)
    if (level->vertex[v].kind != LAY_LANE)
      level->row_first[level->vertex[v].row + 2]++;
  for (gint32 r = 0; r < level->n_rows; r++)
    level->row_first[r + 2] += level->row_first[r + 1];
  level->order = LAY_NEW (&job->scratch, guint32, level->row_first[level->n_rows + 1]);
}

static void
append (LayLevel *level, guint32 v)
{
  level->order[level->row_first[level->vertex[v].row + 1]++] = v;
}

static void
number_rows (LayLevel *level)
{
  for (gint32 r = 0; r < level->n_rows; r++)
    for (guint32 i = level->row_first[r]; i < level->row_first[r + 1]; i++)
      level->vertex[level->order[i]].pos = i - level->row_first[r];
}

/* Depth first over the links, down before up, so that what belongs together stands together and a
 * net that skips ranks stands to the right of what it skips. */
static void
walk_from (LayLevel *level, guint32 root, guint8 *seen, guint32 *stack, guint32 *next)
{
  guint32 depth = 0;

  stack[depth++] = root;
  seen[root] = TRUE;
  append (level, root);
  while (depth > 0)
    {
      guint32 v = stack[depth - 1];
      guint32 n_down = level->down_first[v + 1] - level->down_first[v];
      guint32 n_up = level->up_first[v + 1] - level->up_first[v];
      guint32 k = next[v]++;
      guint32 w;

      if (k < n_down)
        w = level->down[level->down_first[v] + k].vertex;
      else if (k < n_down + n_up)
        w = level->up[level->up_first[v] + k - n_down].vertex;
      else
        {
          depth--;
          continue;
        }
      if (!seen[w])
        {
          seen[w] = TRUE;
          append (level, w);
          stack[depth++] = w;
        }
    }
}

static gint
compare_roots (gconstpointer a, gconstpointer b, gpointer data)
{
  const LayVertex *vertex = data;
  const LayVertex *u = &vertex[*(const guint32 *) a];
  const LayVertex *v = &vertex[*(const guint32 *) b];

  if (u->row != v->row)
    return u->row < v->row ? -1 : 1;
  if (u->hint != v->hint)
    return u->hint < v->hint ? -1 : 1;
  return u < v ? -1 : u > v;
}

static void
start_order (LayLevel *level, LayJob *job)
{
  LayMark mark = lay_scratch_mark (&job->scratch);
  guint32 n = level->n_vertices;
  guint8 *seen = LAY_NEW (&job->scratch, guint8, n);
  guint32 *stack = LAY_NEW (&job->scratch, guint32, n);
  guint32 *next = LAY_NEW (&job->scratch, guint32, n);
  guint32 *root = LAY_NEW (&job->scratch, guint32, n);

  for (guint32 v = 0; v < n; v++)
    root[v] = v;
  g_qsort_with_data (root, (gint) n, sizeof *root, compare_roots, level->vertex);
  for (guint32 i = 0; i < n; i++)
    if (level->vertex[root[i]].kind != LAY_LANE && !seen[root[i]])
      walk_from (level, root[i], seen, stack, next);
  number_rows (level);
  lay_scratch_release (&job->scratch, mark);
}

/* --- sorting one row ------------------------------------------------------------------------- */

static gint
compare_slots (gconstpointer a, gconstpointer b)
{
  const Slot *p = a;
  const Slot *q = b;

  if (p->key != q->key)
    return p->key < q->key ? -1 : 1;
  return p->pos < q->pos ? -1 : p->pos > q->pos;
}

static void
sort_slots (Slot *slot, guint32 n)
{
  if (n > 24)
    {
      qsort (slot, n, sizeof *slot, compare_slots);
      return;
    }
  for (guint32 i = 1; i < n; i++)
    {
      Slot mine = slot[i];
      guint32 k = i;

      for (; k > 0 && compare_slots (&slot[k - 1], &mine) > 0; k--)
        slot[k] = slot[k - 1];
      slot[k] = mine;
    }
}

/* Where a link meets the far row: between the vertices, by the place of the pin where that is
 * fixed. */
static double
place_at (const LayLevel *level, const LayNeighbour *neighbour)
{
  const LayVertex *vertex = &level->vertex[neighbour->vertex];
  const LayLink *link = &level->link[neighbour->link];
  gint32 pin = link->to == neighbour->vertex ? link->pin : level->wire[link->wire].pin;
  double within = pin == LAY_FREE || vertex->w == 0 ? 0.5 : (double) pin / vertex->w;

  return vertex->pos + within;
}

static double
barycentre (const LayLevel *level, const LayNeighbour *neighbour, guint32 n)
{
  double sum = 0;

  for (guint32 i = 0; i < n; i++)
    sum += place_at (level, &neighbour[i]);
  return sum / n;
}

/* Sorts row[0 .. n - 1], one column of a row, by keys; what has no key stays where it is. */
static gboolean
sort_part (Sorter *sorter, guint32 *row, guint32 n, guint32 first_pos)
{
  LayVertex *vertex = sorter->level->vertex;
  guint32 n_keyed = 0;
  gboolean moved = FALSE;

  for (guint32 i = 0; i < n; i++)
    if (!isnan (sorter->key[row[i]]))
      sorter->slot[n_keyed++] = (Slot){ sorter->key[row[i]], i, row[i] };
  sort_slots (sorter->slot, n_keyed);
  for (guint32 i = 0, k = 0; i < n; i++)
    {
      if (!isnan (sorter->key[row[i]]))
        {
          moved = moved || row[i] != sorter->slot[k].vertex;
          row[i] = sorter->slot[k++].vertex;
        }
    }
  for (guint32 i = 0; i < n; i++)
    vertex[row[i]].pos = first_pos + i;
  return moved;
}

/* Sorts a row by keys, the columns of a folded drawing each by itself. */
static gboolean
sort_row (Sorter *sorter, gint32 r)
{
  LayLevel *level = sorter->level;
  guint32 *row = level->order + level->row_first[r];
  guint32 n = level->row_first[r + 1] - level->row_first[r];
  gboolean moved = FALSE;

  for (guint32 begin = 0, end; begin < n; begin = end)
    {
      for (end = begin + 1; end < n && level->vertex[row[end]].side == level->vertex[row[begin]].side; end++)
        continue;
      moved |= sort_part (sorter, row + begin, end - begin, begin);
    }
  return moved;
}

static void
key_row (Sorter *sorter, gint32 r, const guint32 *first, const LayNeighbour *list)
{
  LayLevel *level = sorter->level;

  for (guint32 i = level->row_first[r]; i < level->row_first[r + 1]; i++)
    {
      guint32 v = level->order[i];
      guint32 n = first[v + 1] - first[v];

      sorter->key[v] = n > 0 ? barycentre (level, list + first[v], n) : NAN;
    }
  for (guint32 i = level->row_first[r]; i < level->row_first[r + 1]; i++)
    if (sorter->twin[level->order[i]] != LAY_NONE)
      sorter->key[level->order[i]] = sorter->key[sorter->twin[level->order[i]]];
}

static gboolean
sweep (Sorter *sorter, gboolean down)
{
  LayLevel *level = sorter->level;
  gboolean moved = FALSE;

  for (gint32 i = 1; i < level->n_rows; i++)
    {
      gint32 r = down ? i : level->n_rows - 1 - i;

      key_row (sorter, r, down ? level->up_first : level->down_first, down ? level->up : level->down);
      moved |= sort_row (sorter, r);
    }
  return moved;
}

/* --- crossings ------------------------------------------------------------------------------- */

/* Crossings in the channel above row r + 1: pairs of links whose ends are in opposite order. */
static guint64
crossings_below (Sorter *sorter, gint32 r)
{
  const LayLevel *level = sorter->level;
  guint32 width = level->row_first[r + 2] - level->row_first[r + 1];
  guint32 *tree = sorter->tree;
  guint64 crossings = 0;
  guint32 inserted = 0;

  memset (tree, 0, (width + 1) * sizeof *tree);
  for (guint32 i = level->row_first[r]; i < level->row_first[r + 1]; i++)
    {
      guint32 v = level->order[i];

      for (guint32 k = level->down_first[v]; k < level->down_first[v + 1]; k++)
        {
          guint32 not_right = 0;

          for (guint32 p = level->vertex[level->down[k].vertex].pos + 1; p > 0; p &= p - 1)
            not_right += tree[p];
          crossings += inserted - not_right;
        }
      for (guint32 k = level->down_first[v]; k < level->down_first[v + 1]; k++)
        {
          for (guint32 p = level->vertex[level->down[k].vertex].pos + 1; p <= width; p += p & -p)
            tree[p]++;
          inserted++;
        }
    }
  return crossings;
}

static guint64
count_crossings (Sorter *sorter)
{
  guint64 crossings = 0;

  for (gint32 r = 0; r + 1 < sorter->level->n_rows; r++)
    crossings += crossings_below (sorter, r);
  return crossings;
}

/* Positions of the neighbours of v, ascending; FALSE if there are too many to bother. */
static gboolean
list_positions (const LayLevel *level, const guint32 *first, const LayNeighbour *list, guint32 v, guint32 *positions, guint32 *n)
{
  *n = first[v + 1] - first[v];
  if (*n > MOST_DEGREE)
    return FALSE;
  for (guint32 i = 0; i < *n; i++)
    {
      guint32 mine = level->vertex[list[first[v] + i].vertex].pos;
      guint32 k = i;

      for (; k > 0 && positions[k - 1] > mine; k--)
        positions[k] = positions[k - 1];
      positions[k] = mine;
    }
  return TRUE;
}

/* How many crossings fewer there are between the links of u and of v, u left of v, if they change
 * places. */
static gint64
gain_on_side (const LayLevel *level, const guint32 *first, const LayNeighbour *list, guint32 u, guint32 v)
{
  guint32 of_u[MOST_DEGREE];
  guint32 of_v[MOST_DEGREE];
  guint32 n_u;
  guint32 n_v;
  gint64 gain = 0;

  if (!list_positions (level, first, list, u, of_u, &n_u) || !list_positions (level, first, list, v, of_v, &n_v))
    return -G_MAXINT32;
  for (guint32 i = 0, less = 0, not_more = 0; i < n_u; i++)
    {
      while (less < n_v && of_v[less] < of_u[i])
        less++;
      while (not_more < n_v && of_v[not_more] <= of_u[i])
        not_more++;
      gain += less;           /* cross now */
      gain -= n_v - not_more; /* would cross then */
    }
  return gain;
}

/* Lets neighbours change places where that saves crossings. */
static void
switch_neighbours (Sorter *sorter)
{
  LayLevel *level = sorter->level;

  for (guint round = 0; round < MOST_SWITCHES; round++)
    {
      gboolean switched = FALSE;

      for (gint32 r = 0; r < level->n_rows; r++)
        for (guint32 i = level->row_first[r]; i + 1 < level->row_first[r + 1]; i++)
          {
            guint32 u = level->order[i];
            guint32 v = level->order[i + 1];

            if (level->vertex[u].side != level->vertex[v].side)
              continue;
            if (gain_on_side (level, level->up_first, level->up, u, v) + gain_on_side (level, level->down_first, level->down, u, v) <= 0)
              continue;
            level->order[i] = v;
            level->order[i + 1] = u;
            level->vertex[v].pos--;
            level->vertex[u].pos++;
            switched = TRUE;
          }
      if (!switched || lay_job_cancelled (sorter->job))
        break;
    }
}

/* --- the whole ------------------------------------------------------------------------------- */

static void
keep_order (Sorter *sorter)
{
  memcpy (sorter->best, sorter->level->order, sorter->level->row_first[sorter->level->n_rows] * sizeof (guint32));
}

static void
take_kept_order (Sorter *sorter)
{
  LayLevel *level = sorter->level;

  memcpy (level->order, sorter->best, level->row_first[level->n_rows] * sizeof (guint32));
  number_rows (level);
}

/* Sorts every row by column, and puts each twin behind the vertex that it hangs on: the walk saw to
 * neither. */
static void
tidy_start (Sorter *sorter)
{
  LayLevel *level = sorter->level;

  for (gint32 r = 0; r < level->n_rows; r++)
    {
      guint32 *row = level->order + level->row_first[r];
      guint32 n = level->row_first[r + 1] - level->row_first[r];

      for (guint32 i = 0; i < n; i++)
        {
          guint32 twin = sorter->twin[row[i]];
          double place = twin != LAY_NONE ? level->vertex[twin].pos + 0.5 : i;

          sorter->slot[i] = (Slot){ level->vertex[row[i]].side * (double) n + place, i, row[i] };
        }
      sort_slots (sorter->slot, n);
      for (guint32 i = 0; i < n; i++)
        row[i] = sorter->slot[i].vertex;
    }
  number_rows (level);
}

/* Puts the vertices that were in the picture before back into their order, at the places they hold
 * among the others. */
static gboolean
take_previous_order (Sorter *sorter)
{
  LayLevel *level = sorter->level;
  gboolean any = FALSE;

  for (gint32 r = 0; r < level->n_rows; r++)
    {
      for (guint32 i = level->row_first[r]; i < level->row_first[r + 1]; i++)
        {
          const LayVertex *vertex = &level->vertex[level->order[i]];
          gboolean known = lay_vertex_is_base (vertex) && !isnan (vertex->previous);

          sorter->key[level->order[i]] = known ? vertex->previous : NAN;
          any = any || known;
        }
      sort_row (sorter, r);
    }
  return any;
}

/* A vertex that turns within its channel only, like the bend of a self loop, stays with what it
 * hangs on. */
static void
find_twins (Sorter *sorter)
{
  LayLevel *level = sorter->level;

  for (guint32 v = 0; v < level->n_vertices; v++)
    sorter->twin[v] = LAY_NONE;
  for (guint32 k = 0; k < level->n_links; k++)
    {
      const LayLink *link = &level->link[k];
      const LayWire *wire = &level->wire[link->wire];
      guint32 a = wire->from;
      guint32 b = link->to;

      if (wire->face != link->face || level->vertex[a].kind == LAY_LANE || level->vertex[b].kind == LAY_LANE)
        continue;
      for (guint swap = 0; swap < 2; swap++)
        {
          guint32 v = swap ? a : b;

          if (level->up_first[v] == level->up_first[v + 1] && level->down_first[v] == level->down_first[v + 1])
            sorter->twin[v] = swap ? b : a;
        }
    }
}

static gboolean
improve (Sorter *sorter, gboolean keep_start)
{
  guint64 fewest = count_crossings (sorter);
  guint idle = 0;

  keep_order (sorter);
  if (!keep_start)
    fewest = G_MAXUINT64;
  for (guint i = 0; i < MOST_SWEEPS && idle < MOST_IDLE_SWEEPS && fewest > 0; i++)
    {
      gboolean moved = sweep (sorter, i % 2 == 0);
      guint64 crossings = count_crossings (sorter);

      if (lay_job_cancelled (sorter->job))
        return FALSE;
      idle++;
      if (crossings < fewest)
        {
          fewest = crossings;
          keep_order (sorter);
          idle = 0;
        }
      else if (!moved && i > 1)
        break;
    }
  take_kept_order (sorter);
  if (fewest > 0)
    switch_neighbours (sorter);
  return !lay_job_cancelled (sorter->job);
}

gboolean
lay_level_order (LayLevel *level, LayJob *job)
{
  gboolean done;

  make_rows (level, job);

  LayMark mark = lay_scratch_mark (&job->scratch);
  Sorter sorter = { .level = level, .job = job };

  start_order (level, job);
  for (gint32 r = 0; r < level->n_rows; r++)
    sorter.widest = MAX (sorter.widest, level->row_first[r + 1] - level->row_first[r]);
  sorter.slot = LAY_NEW (&job->scratch, Slot, sorter.widest);
  sorter.key = LAY_NEW (&job->scratch, double, level->n_vertices);
  sorter.tree = LAY_NEW (&job->scratch, guint32, sorter.widest + 1);
  sorter.twin = LAY_NEW (&job->scratch, guint32, level->n_vertices);
  sorter.best = LAY_NEW (&job->scratch, guint32, level->row_first[level->n_rows]);

  find_twins (&sorter);
  tidy_start (&sorter);
  done = improve (&sorter, take_previous_order (&sorter));
  lay_scratch_release (&job->scratch, mark);
  return done;
}
