/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where on the top and bottom of its boxes each wire begins and ends.
 *
 * A value leaves a box in the middle. Values that enter spread out in the order of where they come
 * from; one that comes from straight above keeps its line, and the others make room for it.
 */
#include "drawing/layout/layout-private.h"

#include <stdlib.h>

/* A pin that may move along its side of the box. */
typedef struct
{
  gint64 key;    /* where the other end is */
  guint32 index; /* wire or link */
  gint32 wanted;
  gint32 weight;
  gint32 at;
} Pin;

/* A run of pins that touch: the pool of pool-adjacent-violators. */
typedef struct
{
  gint64 sum;
  gint64 weight;
  guint32 n;
} Pool;

typedef struct
{
  LayLevel *level;
  gint32 port_gap;
  Pin *pin; /* room for the pins of one vertex */
  Pool *pool;
} Porter;

enum
{
  STRAIGHT_WEIGHT = 10000,
  LEAST_GAP = 6,
  CORNER = 8, /* pins keep this far from the corners where there is room */
};

static gint32
corner_of (const LayVertex *vertex)
{
  return MIN (CORNER, vertex->w / 4);
}

static gboolean
is_over (const LayVertex *vertex, gint32 x)
{
  gint32 corner = corner_of (vertex);

  return x >= vertex->x + corner && x <= vertex->x + vertex->w - corner;
}

static gint
compare_pins (gconstpointer a, gconstpointer b)
{
  const Pin *p = a;
  const Pin *q = b;

  if (p->key != q->key)
    return p->key < q->key ? -1 : 1;
  return p->index < q->index ? -1 : p->index > q->index;
}

/* Least squares with the given distance kept (pool adjacent violators); returns the number of
 * pools. */
static guint32
pool_pins (Porter *porter, guint32 n, gint32 gap)
{
  const Pin *pin = porter->pin;
  Pool *pool = porter->pool;
  guint32 n_pools = 0;

  for (guint32 i = 0; i < n; i++)
    {
      gint64 wanted = pin[i].wanted - (gint64) i * gap;

      pool[n_pools++] = (Pool){ wanted * pin[i].weight, pin[i].weight, 1 };
      while (n_pools > 1 && pool[n_pools - 2].sum * pool[n_pools - 1].weight >= pool[n_pools - 1].sum * pool[n_pools - 2].weight)
        {
          pool[n_pools - 2].sum += pool[n_pools - 1].sum;
          pool[n_pools - 2].weight += pool[n_pools - 1].weight;
          pool[n_pools - 2].n += pool[n_pools - 1].n;
          n_pools--;
        }
    }
  return n_pools;
}

/* Places pins at a distance, within the box; FALSE if a straight one had to move. */
static gboolean
try_gap (Porter *porter, const LayVertex *vertex, guint32 n, gint32 gap)
{
  gint32 corner = corner_of (vertex);
  gint64 low = vertex->x + corner;
  gint64 high = vertex->x + vertex->w - corner - (gint64) gap * (n - 1);
  guint32 n_pools = pool_pins (porter, n, gap);
  gboolean ok = TRUE;

  for (guint32 p = 0, i = 0; p < n_pools; p++)
    for (guint32 k = 0; k < porter->pool[p].n; k++, i++)
      {
        gint64 sum = porter->pool[p].sum;
        gint64 weight = porter->pool[p].weight;
        /* Round to nearest, also below zero. */
        gint64 place = sum >= 0 ? (sum + weight / 2) / weight : -((-sum + weight / 2) / weight);

        porter->pin[i].at = (gint32) (CLAMP (place, low, MAX (low, high)) + (gint64) i * gap);
        ok = ok && (porter->pin[i].weight == 1 || porter->pin[i].at == porter->pin[i].wanted);
      }
  return ok;
}

/* Spreads pins as far as wanted; closer where that lets lines be straight; and as close as the box
 * needs. */
static void
spread_pins (Porter *porter, const LayVertex *vertex, guint32 n)
{
  gint32 room = vertex->w - 2 * corner_of (vertex);
  gint32 gap = n > 1 ? MIN (porter->port_gap, room / (gint32) (n - 1)) : 0;

  for (gint32 narrow = gap; narrow >= LEAST_GAP; narrow -= 2)
    if (try_gap (porter, vertex, n, narrow))
      return;
  try_gap (porter, vertex, n, gap);
}

static gint32
fixed_place (const LayVertex *vertex, gint32 pin)
{
  return vertex->kind == LAY_LANE || vertex->kind == LAY_BEND ? vertex->x : vertex->x + pin;
}

static gint64
mean_of_links (const LayLevel *level, const LayWire *wire)
{
  gint64 sum = 0;

  for (guint32 k = wire->first_link; k < wire->first_link + wire->n_links; k++)
    {
      const LayVertex *to = &level->vertex[level->link[k].to];

      sum += level->link[k].pin == LAY_FREE ? to->x + to->w / 2 : fixed_place (to, level->link[k].pin);
    }
  return sum / MAX (wire->n_links, 1);
}

/* A box with one value sends it from the middle, unless it goes to one fixed place below. */
static void
set_out_pins (Porter *porter, const LayVertex *vertex, const guint32 *wires, guint32 n)
{
  LayLevel *level = porter->level;
  gint32 middle = vertex->x + vertex->w / 2;

  for (guint32 i = 0; i < n; i++)
    {
      const LayWire *wire = &level->wire[wires[i]];

      porter->pin[i] = (Pin){ .key = mean_of_links (level, wire), .index = wires[i], .wanted = middle, .weight = 1 };
    }
  if (n == 1)
    {
      const LayWire *wire = &level->wire[wires[0]];

      if (wire->n_links == 1 && level->link[wire->first_link].pin != LAY_FREE && is_over (vertex, (gint32) porter->pin[0].key))
        porter->pin[0].wanted = (gint32) porter->pin[0].key;
    }
  else
    qsort (porter->pin, n, sizeof *porter->pin, compare_pins);
  spread_pins (porter, vertex, n);
  for (guint32 i = 0; i < n; i++)
    level->wire[porter->pin[i].index].at = porter->pin[i].at;
}

static void
set_in_pins (Porter *porter, const LayVertex *vertex, const guint32 *links, guint32 n)
{
  LayLevel *level = porter->level;
  gint32 middle = vertex->x + vertex->w / 2;

  for (guint32 i = 0; i < n; i++)
    {
      gint32 from = level->wire[level->link[links[i]].wire].at;
      gboolean straight = is_over (vertex, from);

      porter->pin[i] = (Pin){
        .key = from,
        .index = links[i],
        .wanted = straight ? from : middle,
        .weight = straight ? STRAIGHT_WEIGHT : 1,
      };
    }
  if (n > 1)
    qsort (porter->pin, n, sizeof *porter->pin, compare_pins);
  spread_pins (porter, vertex, n);
  for (guint32 i = 0; i < n; i++)
    level->link[porter->pin[i].index].at = porter->pin[i].at;
}

/* A box that sends one value to one place which lies over or under the box itself sends it
 * straight. */
static void
straighten (Porter *porter, const LayVertex *vertex, guint32 w)
{
  LayWire *wire = &porter->level->wire[w];

  if (wire->n_links == 1 && is_over (vertex, porter->level->link[wire->first_link].at))
    wire->at = porter->level->link[wire->first_link].at;
}

/* Lists free pins by vertex; gives the places of fixed ones. Returns the most pins that a vertex
 * has. */
static guint32
list_out_pins (LayLevel *level, guint32 *first, guint32 *list)
{
  guint32 most = 0;

  for (guint fill = 0; fill < 2; fill++)
    {
      for (guint32 w = 0; w < level->n_wires; w++)
        {
          LayWire *wire = &level->wire[w];

          if (wire->pin != LAY_FREE)
            wire->at = fixed_place (&level->vertex[wire->from], wire->pin);
          else if (fill)
            list[first[wire->from + 1]++] = w;
          else
            first[wire->from + 2]++;
        }
      for (guint32 v = 0; !fill && v < level->n_vertices; v++)
        {
          most = MAX (most, first[v + 2]);
          first[v + 2] += first[v + 1];
        }
    }
  return most;
}

static guint32
list_in_pins (LayLevel *level, guint32 *first, guint32 *list)
{
  guint32 most = 0;

  for (guint fill = 0; fill < 2; fill++)
    {
      for (guint32 k = 0; k < level->n_links; k++)
        {
          LayLink *link = &level->link[k];

          if (link->pin != LAY_FREE)
            link->at = fixed_place (&level->vertex[link->to], link->pin);
          else if (fill)
            list[first[link->to + 1]++] = k;
          else
            first[link->to + 2]++;
        }
      for (guint32 v = 0; !fill && v < level->n_vertices; v++)
        {
          most = MAX (most, first[v + 2]);
          first[v + 2] += first[v + 1];
        }
    }
  return most;
}

gboolean
lay_level_ports (LayLevel *level, LayJob *job)
{
  LayMark mark = lay_scratch_mark (&job->scratch);
  guint32 *out_first = LAY_NEW (&job->scratch, guint32, level->n_vertices + 2);
  guint32 *out = LAY_NEW (&job->scratch, guint32, level->n_wires);
  guint32 *in_first = LAY_NEW (&job->scratch, guint32, level->n_vertices + 2);
  guint32 *in = LAY_NEW (&job->scratch, guint32, level->n_links);
  guint32 most_out = list_out_pins (level, out_first, out);
  guint32 most_in = list_in_pins (level, in_first, in);
  guint32 most = MAX (most_out, most_in);
  Porter porter = {
    .level = level,
    .port_gap = job->port_gap,
    .pin = LAY_NEW (&job->scratch, Pin, most),
    .pool = LAY_NEW (&job->scratch, Pool, most),
  };

  for (guint32 v = 0; v < level->n_vertices; v++)
    if (out_first[v] < out_first[v + 1])
      set_out_pins (&porter, &level->vertex[v], out + out_first[v], out_first[v + 1] - out_first[v]);
  for (guint32 v = 0; v < level->n_vertices; v++)
    if (in_first[v] < in_first[v + 1])
      set_in_pins (&porter, &level->vertex[v], in + in_first[v], in_first[v + 1] - in_first[v]);
  for (guint32 v = 0; v < level->n_vertices; v++)
    if (out_first[v] + 1 == out_first[v + 1])
      straighten (&porter, &level->vertex[v], out[out_first[v]]);
  lay_scratch_release (&job->scratch, mark);
  return !lay_job_cancelled (job);
}
