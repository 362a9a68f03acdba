/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what lies in a part of the drawing, or under the pointer.
 *
 * A packed R-tree: everything sorted along a Hilbert curve, sixteen entries to a leaf, sixteen
 * leaves to a node and so on (Kamel and Faloutsos 1993). Long edges are entered in pieces, so that
 * a lane down the whole page does not make every node of the tree as tall as the page. A query
 * touches little more than it finds.
 */
#include "drawing/layout/layout-result-private.h"

#include <math.h>

enum
{
  LONG_RUN = 600,   /* a straight run longer than this is a piece by itself */
  MOST_POINTS = 10, /* in one piece */
  CURVE_BITS = 16,
};

/* --- pieces of edges ------------------------------------------------------------------------- */

static gboolean
is_long (const GantryLayoutPoint *a, const GantryLayoutPoint *b)
{
  return fabsf (a->x - b->x) + fabsf (a->y - b->y) > LONG_RUN;
}

/* The last point of the piece of an edge that begins at a point; past is behind the edge's last. */
static guint32
end_of_piece (const GantryLayout *layout, guint32 begin, guint32 past)
{
  const GantryLayoutPoint *points = layout->points;
  guint32 end = begin + 1;

  if (is_long (&points[begin], &points[end]))
    return end;
  while (end + 1 < past && end - begin < MOST_POINTS && !is_long (&points[end], &points[end + 1]))
    end++;
  return end;
}

static LayBounds
bounds_of_box (const GantryLayoutBox *box)
{
  return (LayBounds){ box->x, box->y, box->x + box->width, box->y + box->height };
}

static LayBounds
join (LayBounds a, LayBounds b)
{
  return (LayBounds){ MIN (a.x0, b.x0), MIN (a.y0, b.y0), MAX (a.x1, b.x1), MAX (a.y1, b.y1) };
}

static LayBounds
bounds_of_points (const GantryLayoutPoint *points, guint32 first, guint32 last)
{
  LayBounds bounds = { points[first].x, points[first].y, points[first].x, points[first].y };

  for (guint32 i = first + 1; i <= last; i++)
    bounds = join (bounds, (LayBounds){ points[i].x, points[i].y, points[i].x, points[i].y });
  return bounds;
}

static gboolean
meet (const LayBounds *a, const LayBounds *b)
{
  return a->x0 <= b->x1 && b->x0 <= a->x1 && a->y0 <= b->y1 && b->y0 <= a->y1;
}

/* --- building -------------------------------------------------------------------------------- */

guint32
lay_index_count_entries (const GantryLayout *layout)
{
  guint32 n = layout->n_nodes + layout->n_groups;

  for (guint32 e = 0; e < layout->n_edges; e++)
    for (guint32 i = layout->edge_first[e]; i + 1 < layout->edge_first[e + 1]; i = end_of_piece (layout, i, layout->edge_first[e + 1]))
      n++;
  return n;
}

/* Sets the shape of the tree; returns how many bounds it has in all. */
guint32
lay_index_plan (LayIndex *index, guint32 n_entries)
{
  guint32 n = n_entries;
  guint32 sum = 0;

  index->n_entries = n_entries;
  index->n_levels = 0;
  index->level_first[0] = 0;
  while (n > 0)
    {
      sum += n;
      index->level_first[++index->n_levels] = sum;
      n = n > 1 ? (n + LAY_INDEX_FAN - 1) / LAY_INDEX_FAN : 0;
    }
  return sum;
}

static void
list_entries (LayIndex *index, const GantryLayout *layout, LayBounds *bounds)
{
  guint32 n = 0;

  for (guint32 v = 0; v < layout->n_nodes; v++, n++)
    {
      index->item[n] = n;
      bounds[n] = bounds_of_box (&layout->node[v]);
    }
  for (guint32 g = 0; g < layout->n_groups; g++, n++)
    {
      index->item[n] = n;
      bounds[n] = bounds_of_box (&layout->group[g]);
    }
  for (guint32 e = 0; e < layout->n_edges; e++)
    for (guint32 i = layout->edge_first[e]; i + 1 < layout->edge_first[e + 1]; n++)
      {
        guint32 end = end_of_piece (layout, i, layout->edge_first[e + 1]);

        index->item[n] = layout->n_nodes + layout->n_groups + e;
        index->point[n] = i;
        bounds[n] = bounds_of_points (layout->points, i, end);
        i = end;
      }
}

/* How far along the Hilbert curve a place lies. */
static guint32
place_on_curve (guint32 x, guint32 y)
{
  guint32 place = 0;

  for (guint32 s = 1u << (CURVE_BITS - 1); s > 0; s /= 2)
    {
      guint32 right = (x & s) != 0;
      guint32 upper = (y & s) != 0;

      place = place * 4 + ((3 * right) ^ upper);
      if (!upper)
        {
          guint32 swap = x;

          if (right)
            {
              x = ~x;
              y = ~y;
              swap = x;
            }
          x = y;
          y = swap;
        }
    }
  return place;
}

/* Orders entries by their keys, which are in the upper halves; radix sort, so nothing depends on a
 * library's taste. */
static guint64 *
sort_keys (guint64 *key, guint64 *other, guint32 n)
{
  for (guint shift = 32; shift < 64; shift += 8)
    {
      guint32 first[257] = { 0 };

      for (guint32 i = 0; i < n; i++)
        first[((key[i] >> shift) & 255) + 1]++;
      for (guint b = 0; b < 256; b++)
        first[b + 1] += first[b];
      for (guint32 i = 0; i < n; i++)
        other[first[(key[i] >> shift) & 255]++] = key[i];

      guint64 *swap = key;
      key = other;
      other = swap;
    }
  return key;
}

static void
sort_entries (LayIndex *index, const GantryLayout *layout, LayBounds *bounds, LayScratch *scratch)
{
  guint32 n = index->n_entries;
  guint64 *key = LAY_NEW (scratch, guint64, n);
  guint64 *other = LAY_NEW (scratch, guint64, n);
  guint32 *item = LAY_NEW (scratch, guint32, n);
  guint32 *point = LAY_NEW (scratch, guint32, n);
  float extent = MAX (MAX (layout->width, layout->height), 1.0f);
  float scale = ((1 << CURVE_BITS) - 1) / extent;

  for (guint32 i = 0; i < n; i++)
    {
      float x = CLAMP ((bounds[i].x0 + bounds[i].x1) / 2, 0.0f, extent) * scale;
      float y = CLAMP ((bounds[i].y0 + bounds[i].y1) / 2, 0.0f, extent) * scale;

      key[i] = (guint64) place_on_curve ((guint32) x, (guint32) y) << 32 | i;
      item[i] = index->item[i];
      point[i] = index->point[i];
    }
  key = sort_keys (key, other, n);
  for (guint32 i = 0; i < n; i++)
    {
      guint32 from = (guint32) key[i];

      index->bounds[i] = bounds[from];
      index->item[i] = item[from];
      index->point[i] = point[from];
    }
}

/* Fills an index that has been planned and whose arrays have been allocated. */
void
lay_index_build (LayIndex *index, const GantryLayout *layout, LayScratch *scratch)
{
  LayMark mark = lay_scratch_mark (scratch);
  LayBounds *bounds = LAY_NEW (scratch, LayBounds, index->n_entries);

  list_entries (index, layout, bounds);
  sort_entries (index, layout, bounds, scratch);
  for (guint32 level = 1; level < index->n_levels; level++)
    {
      const LayBounds *below = index->bounds + index->level_first[level - 1];
      guint32 n_below = index->level_first[level] - index->level_first[level - 1];
      LayBounds *mine = index->bounds + index->level_first[level];

      for (guint32 i = 0; i < n_below; i++)
        mine[i / LAY_INDEX_FAN] = i % LAY_INDEX_FAN == 0 ? below[i] : join (mine[i / LAY_INDEX_FAN], below[i]);
    }
  lay_scratch_release (scratch, mark);
}

/* --- asking ---------------------------------------------------------------------------------- */

/* Whether the piece of an edge that begins at a point is the first to run through the area: the
 * others keep quiet. */
static gboolean
is_first_through (const GantryLayout *layout, guint32 e, guint32 begin, const LayBounds *area)
{
  guint32 past = layout->edge_first[e + 1];
  guint32 end = end_of_piece (layout, begin, past);

  for (guint32 i = layout->edge_first[e]; i < end; i++)
    {
      LayBounds run = bounds_of_points (layout->points, i, i + 1);

      if (meet (&run, area))
        return i >= begin;
    }
  return FALSE;
}

static gboolean
visit_entry (const GantryLayout *layout, const LayIndex *index, guint32 entry, const LayBounds *area, GantryLayoutVisit visit, gpointer user_data)
{
  guint32 item = index->item[entry];

  if (item < layout->n_nodes)
    return visit (GANTRY_LAYOUT_ITEM_NODE, item, user_data);
  item -= layout->n_nodes;
  if (item < layout->n_groups)
    return visit (GANTRY_LAYOUT_ITEM_GROUP, item, user_data);
  item -= layout->n_groups;
  if (is_first_through (layout, item, index->point[entry], area))
    return visit (GANTRY_LAYOUT_ITEM_EDGE, item, user_data);
  return TRUE;
}

void
gantry_layout_query (const GantryLayout *layout, const GantryLayoutBox *area, GantryLayoutVisit visit, gpointer user_data)
{
  g_return_if_fail (layout != NULL && area != NULL && visit != NULL);

  const LayIndex *index = &((const LayResult *) layout)->index;
  LayBounds wanted = bounds_of_box (area);
  guint32 stack[LAY_INDEX_MOST_LEVELS * LAY_INDEX_FAN];
  guint8 level[LAY_INDEX_MOST_LEVELS * LAY_INDEX_FAN];
  guint depth = 0;

  if (index->n_entries == 0)
    return;
  stack[depth] = 0;
  level[depth++] = (guint8) (index->n_levels - 1);
  while (depth > 0)
    {
      guint32 at = stack[--depth];
      guint8 mine = level[depth];

      if (!meet (&index->bounds[index->level_first[mine] + at], &wanted))
        continue;
      if (mine == 0)
        {
          if (!visit_entry (layout, index, at, &wanted, visit, user_data))
            return;
          continue;
        }
      guint32 n_below = index->level_first[mine] - index->level_first[mine - 1];
      guint32 first = at * LAY_INDEX_FAN;

      for (guint32 i = MIN (first + LAY_INDEX_FAN, n_below); i-- > first;)
        {
          stack[depth] = i;
          level[depth++] = (guint8) (mine - 1);
        }
    }
}

typedef struct
{
  const GantryLayout *layout;
  float x;
  float y;
  GantryLayoutItemKind kind;
  guint32 index;
  float badness; /* distance to an edge, size of a group */
} Pick;

static float
distance_to_edge (const GantryLayout *layout, guint32 e, float x, float y)
{
  float nearest = G_MAXFLOAT;

  for (guint32 i = layout->edge_first[e]; i + 1 < layout->edge_first[e + 1]; i++)
    {
      LayBounds run = bounds_of_points (layout->points, i, i + 1);
      float dx = MAX (MAX (run.x0 - x, x - run.x1), 0.0f);
      float dy = MAX (MAX (run.y0 - y, y - run.y1), 0.0f);

      nearest = MIN (nearest, hypotf (dx, dy));
    }
  return nearest;
}

static gboolean
consider (GantryLayoutItemKind kind, guint32 index, gpointer user_data)
{
  /* Nodes lie over edges, edges over groups. */
  static const guint8 precedence[] = { 0, 3, 2, 1 };
  Pick *pick = user_data;
  float badness = 0;

  if (precedence[kind] < precedence[pick->kind])
    return TRUE;
  if (kind == GANTRY_LAYOUT_ITEM_EDGE)
    badness = distance_to_edge (pick->layout, index, pick->x, pick->y);
  else
    {
      const GantryLayoutBox *box = kind == GANTRY_LAYOUT_ITEM_NODE ? &pick->layout->node[index] : &pick->layout->group[index];

      if (pick->x < box->x || pick->x > box->x + box->width || pick->y < box->y || pick->y > box->y + box->height)
        return TRUE;
      badness = box->width * box->height;
    }
  if (kind == pick->kind && (badness > pick->badness || (badness == pick->badness && index > pick->index)))
    return TRUE;
  pick->kind = kind;
  pick->index = index;
  pick->badness = badness;
  return TRUE;
}

GantryLayoutItemKind
gantry_layout_pick (const GantryLayout *layout, float x, float y, float tolerance, guint32 *index)
{
  g_return_val_if_fail (layout != NULL && index != NULL, GANTRY_LAYOUT_ITEM_NONE);

  Pick pick = { .layout = layout, .x = x, .y = y };
  GantryLayoutBox area = { x - tolerance, y - tolerance, 2 * tolerance, 2 * tolerance };

  gantry_layout_query (layout, &area, consider, &pick);
  if (pick.kind != GANTRY_LAYOUT_ITEM_NONE)
    *index = pick.index;
  return pick.kind;
}
