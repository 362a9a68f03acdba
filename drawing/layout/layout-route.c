/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which way each net goes: the wires in the channels, and what it occupies in the rows between
 * them.
 *
 * The classic way, a bend in every row that an edge passes, costs the square of the size of a
 * training graph. Here segments of one net that go about as far in the same direction are one
 * *run*: they share one bend a row, and branch from it. That goes as far as bends are affordable;
 * segments that pass more rows share a lane, whatever their length.
 */
#include "drawing/layout/layout-private.h"

#include <math.h>
#include <stdlib.h>

enum
{
  MOST_BENDS_A_SEGMENT = 32,
};

/* Segments that end in the channel that they begin in; all others are one of run_of_segment()'s. */
enum
{
  RUN_DIRECT = 0,
  RUN_LANE = 3, /* the last of four lengths */
  N_LENGTHS = 4,
  N_RUNS = 1 + 2 * 2 * N_LENGTHS,
};

/* A segment and how many channels below its tail's channel it ends; negative: above. */
typedef struct
{
  gint32 distance;
  guint32 run;
  guint32 segment;
} Reach;

/* The reaches of one net. */
typedef struct
{
  guint32 first;
  guint32 n;
} Span;

typedef struct
{
  LayLevel *level;
  Reach *reach;
  guint32 n_vertices; /* taken so far */
  guint32 n_wires;
  guint32 n_links;
} Router;

/* --- which run each segment belongs to ------------------------------------------------------- */

static gint
compare_reaches (gconstpointer a, gconstpointer b)
{
  const Reach *p = a;
  const Reach *q = b;

  if (p->run != q->run)
    return p->run < q->run ? -1 : 1;
  if (ABS (p->distance) != ABS (q->distance))
    return ABS (p->distance) < ABS (q->distance) ? -1 : 1;
  return p->segment < q->segment ? -1 : p->segment > q->segment;
}

/* Segments share a run if they go the same way, about as far, and both or neither to the other
 * column. */
static guint32
run_of_segment (const LayLevel *level, const LaySegment *segment, gint32 distance, gint32 limit)
{
  guint32 across = level->vertex[segment->from].side != level->vertex[segment->to].side;
  guint32 length = 0;

  if (distance == 0)
    return RUN_DIRECT;
  if (ABS (distance) > limit)
    {
      length = RUN_LANE;
      across = 0;
    }
  else if (ABS (distance) > 2)
    length = ABS (distance) <= 8 ? 1 : 2;
  return 1 + length * 4 + across * 2 + (distance < 0);
}

static gboolean
is_lane (guint32 run)
{
  return run > RUN_LANE * 4;
}

static void
measure_reaches (LayLevel *level, Reach *reach, Span *net)
{
  for (guint32 s = 0; s < level->n_segments; s++)
    {
      const LaySegment *segment = &level->segment[s];
      Span *mine = &net[segment->net];

      g_assert (segment->net < level->n_nets && (mine->n == 0 || mine->first + mine->n == s));
      reach[s].segment = s;
      reach[s].distance = lay_vertex_in_channel (&level->vertex[segment->to]) - lay_vertex_out_channel (&level->vertex[segment->from]);
      if (mine->n++ == 0)
        mine->first = s;
    }
}

/* Assigns runs; returns how many bends they need in all. */
static gsize
assign_runs (const LayLevel *level, Reach *reach, const Span *net, gint32 limit)
{
  gsize n_bends = 0;

  for (guint32 i = 0; i < level->n_nets; i++)
    {
      gint32 farthest[N_RUNS] = { 0 };

      for (guint32 k = net[i].first; k < net[i].first + net[i].n; k++)
        {
          Reach *mine = &reach[k];

          mine->run = run_of_segment (level, &level->segment[mine->segment], mine->distance, limit);
          farthest[mine->run] = MAX (farthest[mine->run], ABS (mine->distance));
        }
      for (guint32 run = 0; run < N_RUNS && !is_lane (run); run++)
        n_bends += (guint32) farthest[run];
    }
  return n_bends;
}

/* Counts lanes, and the wires that leave tails and lanes; every bend has one more. Reaches are
 * sorted by now. */
static void
count_lanes (const LayLevel *level, const Reach *reach, const Span *net, gsize *n_lanes, gsize *n_wires)
{
  *n_lanes = 0;
  *n_wires = level->n_nets;
  for (guint32 i = 0; i < level->n_nets; i++)
    for (guint32 k = net[i].first; k < net[i].first + net[i].n; k++)
      {
        gboolean begins = k == net[i].first || reach[k].run != reach[k - 1].run;

        if (!is_lane (reach[k].run))
          continue;
        *n_lanes += begins;
        *n_wires += begins || reach[k].distance != reach[k - 1].distance;
      }
}

/* --- building -------------------------------------------------------------------------------- */

static guint32
add_wire (Router *router, guint32 from, gint32 channel, guint8 face, gint32 pin)
{
  LayWire *wire = &router->level->wire[router->n_wires];

  wire->from = from;
  wire->channel = channel;
  wire->face = face;
  wire->pin = pin;
  wire->first_link = router->n_links;
  wire->track = -1;
  return router->n_wires++;
}

static guint32
add_link (Router *router, guint32 to, guint8 face, gint32 pin, guint8 klass)
{
  LayLink *link = &router->level->link[router->n_links];

  link->wire = router->n_wires - 1;
  link->to = to;
  link->face = face;
  link->pin = pin;
  link->klass = klass;
  router->level->wire[router->n_wires - 1].n_links++;
  return router->n_links++;
}

static guint32
add_vertex (Router *router, LayKind kind, gint32 row, guint8 side)
{
  LayVertex *vertex = &router->level->vertex[router->n_vertices];

  vertex->kind = kind;
  vertex->side = side;
  vertex->ref = LAY_NONE;
  vertex->row = row;
  vertex->hint = G_MAXUINT32;
  vertex->previous = NAN;
  return router->n_vertices++;
}

/* Ends segments at the wire that was added last. */
static void
end_segments (Router *router, guint32 first, guint32 past, guint32 first_wire, guint32 rest_first, guint32 n_rest)
{
  LayLevel *level = router->level;

  for (guint32 i = first; i < past; i++)
    {
      LaySegment *segment = &level->segment[router->reach[i].segment];
      guint8 face = level->vertex[segment->to].side == LAY_RIGHT ? LAY_BOTTOM : LAY_TOP;

      segment->wire = first_wire;
      segment->rest_first = rest_first;
      segment->n_rest = n_rest;
      segment->link = add_link (router, segment->to, face, segment->to_pin, segment->klass);
    }
}

/* The bends of a run and the wire that goes on from each. The first bend is there already. */
static void
add_bends (Router *router, guint32 first_wire, gint32 channel, guint32 bend, guint32 first, guint32 past)
{
  gint32 step = router->reach[first].distance > 0 ? 1 : -1;
  guint8 side = router->level->vertex[bend].side;
  guint8 klass = router->level->segment[router->reach[first].segment].klass;
  guint32 n_bends = (guint32) ABS (router->reach[past - 1].distance);
  guint32 rest_first = router->n_wires;
  guint32 end = first;

  for (guint32 k = 1; k <= n_bends; k++)
    {
      guint32 begin = end;

      channel += step;
      add_wire (router, bend, channel, step > 0 ? LAY_BOTTOM : LAY_TOP, 0);
      while (end < past && ABS (router->reach[end].distance) == (gint32) k)
        end++;
      end_segments (router, begin, end, first_wire, rest_first, k);
      if (k < n_bends)
        {
          bend = add_vertex (router, LAY_BEND, step > 0 ? channel : channel - 1, side);
          add_link (router, bend, step > 0 ? LAY_TOP : LAY_BOTTOM, 0, klass);
        }
    }
}

/* The wires that branch from a lane, one for each channel in which segments end. */
static void
add_branches (Router *router, guint32 first_wire, gint32 channel, guint32 lane, guint32 first, guint32 past)
{
  for (guint32 i = first; i < past;)
    {
      gint32 distance = router->reach[i].distance;
      guint32 begin = i;
      guint32 wire = add_wire (router, lane, channel + distance, distance > 0 ? LAY_BOTTOM : LAY_TOP, 0);

      while (i < past && router->reach[i].distance == distance)
        i++;
      end_segments (router, begin, i, first_wire, wire, 1);
    }
}

/* The first bend of a run, or its lane, with the link from the tail's wire. A lane passes all rows
 * between the tail's channel and the channel of its farthest segment: row to pos. A run that goes
 * to the other column passes between the columns. */
static guint32
begin_run (Router *router, guint32 from, gint32 channel, guint32 first, guint32 past)
{
  LayVertex *vertex = router->level->vertex;
  const LaySegment *any = &router->level->segment[router->reach[first].segment];
  gint32 farthest = router->reach[past - 1].distance;
  guint32 begin;

  if (is_lane (router->reach[first].run))
    {
      begin = add_vertex (router, LAY_LANE, MIN (channel, channel + farthest), LAY_LEFT);
      vertex[begin].pos = (guint32) MAX (channel, channel + farthest) - 1;
    }
  else
    begin = add_vertex (router, LAY_BEND, farthest > 0 ? channel : channel - 1, vertex[any->to].side != vertex[from].side ? LAY_MIDDLE : vertex[from].side);
  add_link (router, begin, farthest > 0 ? LAY_TOP : LAY_BOTTOM, 0, any->klass);
  return begin;
}

static void
route_net (Router *router, const Span *net)
{
  LayLevel *level = router->level;
  const Reach *reach = router->reach;
  const LaySegment *any = &level->segment[reach[net->first].segment];
  const LayVertex *tail = &level->vertex[any->from];
  gint32 channel = lay_vertex_out_channel (tail);
  guint32 past = net->first + net->n;
  guint32 begins[N_RUNS];
  guint32 wire = add_wire (router, any->from, channel, tail->side == LAY_RIGHT ? LAY_TOP : LAY_BOTTOM, any->from_pin);

  /* All links of the tail's wire first, for they lie together. */
  for (guint32 i = net->first, end; i < past; i = end)
    {
      for (end = i; end < past && reach[end].run == reach[i].run; end++)
        continue;
      if (reach[i].run == RUN_DIRECT)
        end_segments (router, i, end, wire, 0, 0);
      else
        begins[reach[i].run] = begin_run (router, any->from, channel, i, end);
    }
  for (guint32 i = net->first, end; i < past; i = end)
    {
      for (end = i; end < past && reach[end].run == reach[i].run; end++)
        continue;
      if (is_lane (reach[i].run))
        add_branches (router, wire, channel, begins[reach[i].run], i, end);
      else if (reach[i].run != RUN_DIRECT)
        add_bends (router, wire, channel, begins[reach[i].run], i, end);
    }
}

/* Lists each vertex's neighbours in the row above or below it. */
static void
list_neighbours (LayLevel *level, LayJob *job)
{
  guint32 n = level->n_vertices;

  level->up_first = LAY_NEW (&job->scratch, guint32, n + 2);
  level->down_first = LAY_NEW (&job->scratch, guint32, n + 2);
  level->up = LAY_NEW (&job->scratch, LayNeighbour, level->n_links);
  level->down = LAY_NEW (&job->scratch, LayNeighbour, level->n_links);
  for (guint fill = 0; fill < 2; fill++)
    {
      for (guint32 k = 0; k < level->n_links; k++)
        {
          const LayLink *link = &level->link[k];
          const LayWire *wire = &level->wire[link->wire];
          guint32 above = wire->face == LAY_BOTTOM ? wire->from : link->to;
          guint32 below = wire->face == LAY_BOTTOM ? link->to : wire->from;

          if (wire->face == link->face || level->vertex[above].kind == LAY_LANE || level->vertex[below].kind == LAY_LANE)
            continue;
          if (fill)
            {
              level->up[level->up_first[below + 1]++] = (LayNeighbour){ above, k };
              level->down[level->down_first[above + 1]++] = (LayNeighbour){ below, k };
            }
          else
            {
              level->up_first[below + 2]++;
              level->down_first[above + 2]++;
            }
        }
      if (!fill)
        for (guint32 v = 0; v < n; v++)
          {
            level->up_first[v + 2] += level->up_first[v + 1];
            level->down_first[v + 2] += level->down_first[v + 1];
          }
    }
}

gboolean
lay_level_route (LayLevel *level, LayJob *job)
{
  Reach *reach = LAY_NEW (&job->scratch, Reach, level->n_segments);
  Span *net = LAY_NEW (&job->scratch, Span, level->n_nets);
  gsize budget = 2 * ((gsize) level->n_base + level->n_segments) + 64;
  gint32 limit = MOST_BENDS_A_SEGMENT;
  gsize n_bends;
  gsize n_lanes;
  gsize n_wires;

  measure_reaches (level, reach, net);
  while ((n_bends = assign_runs (level, reach, net, limit)) > budget)
    limit /= 2;
  for (guint32 i = 0; i < level->n_nets; i++)
    if (net[i].n > 1)
      qsort (reach + net[i].first, net[i].n, sizeof *reach, compare_reaches);
  count_lanes (level, reach, net, &n_lanes, &n_wires);

  guint32 n_vertices = (guint32) (level->n_base + n_bends + n_lanes);
  LayVertex *vertex = LAY_NEW (&job->scratch, LayVertex, n_vertices);

  for (guint32 v = 0; v < level->n_base; v++)
    vertex[v] = level->vertex[v];
  level->vertex = vertex;
  level->n_vertices = n_vertices;
  level->n_wires = (guint32) (n_wires + n_bends);
  level->n_links = (guint32) (level->n_segments + n_bends + n_lanes);
  level->wire = LAY_NEW (&job->scratch, LayWire, level->n_wires);
  level->link = LAY_NEW (&job->scratch, LayLink, level->n_links);

  Router router = { .level = level, .reach = reach, .n_vertices = level->n_base };

  for (guint32 i = 0; i < level->n_nets; i++)
    route_net (&router, &net[i]);
  g_assert (router.n_vertices == level->n_vertices && router.n_wires == level->n_wires && router.n_links == level->n_links);
  list_neighbours (level, job);
  return !lay_job_cancelled (job);
}
