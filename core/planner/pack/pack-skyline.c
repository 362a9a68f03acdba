/* SPDX-License-Identifier: Apache-2.0 */
/* Static allocation by a skyline, after the best-fit heuristic of Sekiyama et al., "Profile-guided
 * memory optimization for deep neural networks" (2018): over the axis of time stands a skyline; its
 * lowest segment is looked at; of the items whose whole life lies within that segment the best by a
 * rule is put there; where none fits, the segment is raised to its lower neighbour. The items not yet
 * placed stand in a tree over their begins, which finds the best one without asking all. */
#include "core/planner/pack/pack-private.h"
#include <stdlib.h>
#include <string.h>

#define NOTHING G_MAXUINT32

/* A segment of the skyline: times [begin, end). */
typedef struct
{
  guint32 begin, end;
  guint64 height;
  guint32 left, right; /* neighbours, NOTHING at the rims */
  guint32 version;     /* counts up when it changes: heap entries that name an older one are stale */
} Segment;

typedef struct
{
  guint64 height;
  guint32 segment;
  guint32 version;
} HeapEntry;

/* What is still to be placed below a node of the tree. */
typedef struct
{
  guint64 best; /* largest merit; 0 when there is nothing */
  guint32 first_end;
} TreeNode;

typedef struct
{
  PackProblem *problem;
  PackRule rule;
  guint32 leaves; /* a power of two */
  TreeNode *tree;
  GArray *segments;
  guint32 spare; /* segment that is free, linked by `right` */
  GArray *heap;
} Skyline;

/* Length, then size, or the other way round; @rank is that of the size among all sizes. One number, never 0. */
static guint64
merit (const Skyline *skyline, const PackItem *item, guint32 rank)
{
  guint64 length = (guint64) item->end - item->begin + 1;

  switch (skyline->rule)
    {
    case PACK_LARGEST: return (guint64) (rank + 1) << 32 | (length - 1);
    case PACK_AREA: return item->size > G_MAXUINT64 / length ? G_MAXUINT64 : item->size * length;
    case PACK_LONGEST:
    default: return length << 32 | rank;
    }
}

static int
compare_sizes (const void *a, const void *b)
{
  guint64 x = *(const guint64 *) a, y = *(const guint64 *) b;

  return (x > y) - (x < y);
}

static guint32
rank_of (const guint64 *sizes, guint32 n, guint64 size)
{
  guint32 low = 0, high = n;

  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;

      if (sizes[middle] < size)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* The largest load during the life of each item, by a tree of maxima over the times. */
static guint64 *
find_pressures (const PackProblem *problem)
{
  guint32 n = problem->n_times;
  g_autofree guint64 *most = g_new (guint64, 2 * (gsize) n);
  guint64 *pressures = g_new0 (guint64, problem->n);

  memcpy (most + n, problem->live, n * sizeof *most);
  for (guint32 k = n - 1; k > 0; k--)
    most[k] = MAX (most[2 * k], most[2 * k + 1]);
  for (guint32 i = 0; i < problem->n; i++)
    for (guint64 a = (guint64) problem->items[i].begin + n, b = (guint64) problem->items[i].end + n + 1; a < b; a /= 2, b /= 2)
      {
        if (a % 2 == 1)
          {
            pressures[i] = MAX (pressures[i], most[a]);
            a++;
          }
        if (b % 2 == 1)
          {
            b--;
            pressures[i] = MAX (pressures[i], most[b]);
          }
      }
  return pressures;
}

typedef struct
{
  const PackProblem *problem;
  const guint64 *pressures;
} Pressures;

/* Rising: what is worth less stands before. */
static int
compare_pressures (const void *a, const void *b, gpointer user_data)
{
  const Pressures *p = user_data;
  guint32 i = *(const guint32 *) a, j = *(const guint32 *) b;
  const PackItem *x = &p->problem->items[i], *y = &p->problem->items[j];

  if (p->pressures[i] != p->pressures[j])
    return p->pressures[i] < p->pressures[j] ? -1 : 1;
  if (x->end - x->begin != y->end - y->begin)
    return x->end - x->begin < y->end - y->begin ? -1 : 1;
  if (x->size != y->size)
    return x->size < y->size ? -1 : 1;
  return (i < j) - (i > j);
}

/* Returns: by item, its place among all in the order of pressure */
static guint32 *
rank_pressures (const PackProblem *problem)
{
  g_autofree guint64 *pressures = find_pressures (problem);
  g_autofree guint32 *sorted = g_new (guint32, problem->n);
  guint32 *rank = g_new (guint32, problem->n);
  Pressures p = { problem, pressures };

  for (guint32 i = 0; i < problem->n; i++)
    sorted[i] = i;
  g_qsort_with_data (sorted, (gint) problem->n, sizeof *sorted, compare_pressures, &p);
  for (guint32 k = 0; k < problem->n; k++)
    rank[sorted[k]] = k;
  return rank;
}

static void
tree_pull (Skyline *skyline, guint32 i)
{
  TreeNode *a = &skyline->tree[2 * i], *b = &skyline->tree[2 * i + 1];

  skyline->tree[i].best = MAX (a->best, b->best);
  skyline->tree[i].first_end = MIN (a->first_end, b->first_end);
}

static void
tree_build (Skyline *skyline)
{
  guint32 n = skyline->problem->n;
  const PackItem *items = skyline->problem->items;
  g_autofree guint64 *sizes = g_new (guint64, n);
  g_autofree guint32 *ranks = skyline->rule == PACK_PRESSURE ? rank_pressures (skyline->problem) : NULL;

  for (guint32 i = 0; i < n; i++)
    sizes[i] = items[i].size;
  qsort (sizes, n, sizeof *sizes, compare_sizes);
  for (skyline->leaves = 1; skyline->leaves < n;)
    skyline->leaves *= 2;
  skyline->tree = g_new0 (TreeNode, 2 * (gsize) skyline->leaves);
  for (guint32 i = 0; i < skyline->leaves; i++)
    {
      TreeNode *leaf = &skyline->tree[skyline->leaves + i];

      if (ranks != NULL)
        leaf->best = i < n ? (guint64) ranks[i] + 1 : 0;
      else
        leaf->best = i < n ? merit (skyline, &items[i], rank_of (sizes, n, items[i].size)) : 0;
      leaf->first_end = i < n ? items[i].end : NOTHING;
    }
  for (guint32 i = skyline->leaves - 1; i > 0; i--)
    tree_pull (skyline, i);
}

static void
tree_remove (Skyline *skyline, guint32 item)
{
  guint32 i = skyline->leaves + item;

  skyline->tree[i] = (TreeNode){ 0, NOTHING };
  for (i /= 2; i > 0; i /= 2)
    tree_pull (skyline, i);
}

/* First item that begins at @time or later. */
static guint32
first_from (const PackProblem *problem, guint32 time)
{
  guint32 low = 0, high = problem->n;

  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;

      if (problem->items[middle].begin < time)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

typedef struct
{
  guint32 from, to; /* items */
  guint32 end;      /* exclusive */
  guint64 best;
  guint32 found;
} Query;

/* Depth is the logarithm of the number of items. */
static void
tree_query (const Skyline *skyline, guint32 i, guint32 first, guint32 count, Query *query)
{
  const TreeNode *node = &skyline->tree[i];

  if (first >= query->to || first + count <= query->from || node->first_end >= query->end || node->best <= query->best)
    return;
  if (count > 1)
    {
      /* The better half first: then the other often need not be looked at. */
      gboolean right = skyline->tree[2 * i + 1].best > skyline->tree[2 * i].best;

      tree_query (skyline, 2 * i + right, first + right * (count / 2), count / 2, query);
      tree_query (skyline, 2 * i + !right, first + !right * (count / 2), count / 2, query);
      return;
    }
  query->best = node->best;
  query->found = first;
}

/* Returns: the best item that lives within [begin, end), NOTHING when there is none. */
static guint32
best_within (const Skyline *skyline, guint32 begin, guint32 end)
{
  Query query = { first_from (skyline->problem, begin), first_from (skyline->problem, end), end, 0, NOTHING };

  tree_query (skyline, 1, 0, skyline->leaves, &query);
  return query.found;
}

static inline Segment *
segment_at (Skyline *skyline, guint32 i)
{
  return &g_array_index (skyline->segments, Segment, i);
}

static gboolean
lower (const HeapEntry *a, const HeapEntry *b)
{
  return a->height != b->height ? a->height < b->height : a->segment < b->segment;
}

static void
heap_push (Skyline *skyline, guint32 segment)
{
  const Segment *s = segment_at (skyline, segment);
  HeapEntry entry = { s->height, segment, s->version }, *heap;
  guint i = skyline->heap->len;

  g_array_append_val (skyline->heap, entry);
  heap = (HeapEntry *) (void *) skyline->heap->data;
  for (; i > 0 && lower (&entry, &heap[(i - 1) / 2]); i = (i - 1) / 2)
    heap[i] = heap[(i - 1) / 2];
  heap[i] = entry;
}

static HeapEntry
heap_pop (Skyline *skyline)
{
  HeapEntry *heap = (HeapEntry *) (void *) skyline->heap->data;
  HeapEntry top = heap[0], last = heap[skyline->heap->len - 1];
  guint n = skyline->heap->len - 1, i = 0;

  while (2 * i + 1 < n)
    {
      guint child = 2 * i + 1;

      if (child + 1 < n && lower (&heap[child + 1], &heap[child]))
        child++;
      if (!lower (&heap[child], &last))
        break;
      heap[i] = heap[child];
      i = child;
    }
  heap[i] = last;
  g_array_set_size (skyline->heap, n);
  return top;
}

static guint32
segment_new (Skyline *skyline, guint32 begin, guint32 end, guint64 height)
{
  guint32 i = skyline->spare;
  Segment *s;

  if (i != NOTHING)
    skyline->spare = segment_at (skyline, i)->right;
  else
    {
      i = skyline->segments->len;
      g_array_set_size (skyline->segments, i + 1);
    }
  s = segment_at (skyline, i);
  s->begin = begin;
  s->end = end;
  s->height = height;
  s->left = s->right = NOTHING;
  s->version++;
  return i;
}

static void
link_segments (Skyline *skyline, guint32 a, guint32 b)
{
  if (a != NOTHING)
    segment_at (skyline, a)->right = b;
  if (b != NOTHING)
    segment_at (skyline, b)->left = a;
}

static void
segment_free (Skyline *skyline, guint32 i)
{
  Segment *s = segment_at (skyline, i);

  s->version++;
  s->right = skyline->spare;
  skyline->spare = i;
}

/* Nothing fits on segment @i: raise it to its lower neighbour and melt those that are as high. */
static void
raise_segment (Skyline *skyline, guint32 i)
{
  Segment *s = segment_at (skyline, i);
  guint32 left = s->left, right = s->right;
  guint64 a = left != NOTHING ? segment_at (skyline, left)->height : G_MAXUINT64;
  guint64 b = right != NOTHING ? segment_at (skyline, right)->height : G_MAXUINT64;

  s->height = MIN (a, b);
  s->version++;
  if (a == s->height)
    {
      s->begin = segment_at (skyline, left)->begin;
      link_segments (skyline, segment_at (skyline, left)->left, i);
      segment_free (skyline, left);
    }
  if (b == s->height)
    {
      s->end = segment_at (skyline, right)->end;
      link_segments (skyline, i, segment_at (skyline, right)->right);
      segment_free (skyline, right);
    }
  heap_push (skyline, i);
}

static void
place (Skyline *skyline, guint32 i, guint32 item)
{
  PackItem *placed = &skyline->problem->items[item];
  Segment old = *segment_at (skyline, i);
  guint32 begin = placed->begin, end = placed->end + 1;
  guint32 middle, rest;

  placed->offset = old.height;
  middle = segment_new (skyline, begin, end, old.height + placed->size);
  if (begin > old.begin)
    {
      rest = segment_new (skyline, old.begin, begin, old.height);
      link_segments (skyline, old.left, rest);
      link_segments (skyline, rest, middle);
      heap_push (skyline, rest);
    }
  else
    link_segments (skyline, old.left, middle);
  if (end < old.end)
    {
      rest = segment_new (skyline, end, old.end, old.height);
      link_segments (skyline, rest, old.right);
      link_segments (skyline, middle, rest);
      heap_push (skyline, rest);
    }
  else
    link_segments (skyline, middle, old.right);
  segment_free (skyline, i);
  heap_push (skyline, middle);
}

guint64
_gantry_pack_skyline (PackProblem *problem, PackRule rule)
{
  Skyline skyline = { problem, rule };
  guint64 height = 0;

  tree_build (&skyline);
  skyline.segments = g_array_new (FALSE, TRUE, sizeof (Segment));
  skyline.heap = g_array_new (FALSE, FALSE, sizeof (HeapEntry));
  skyline.spare = NOTHING;
  segment_new (&skyline, 0, problem->n_times, 0);
  heap_push (&skyline, 0);
  for (guint32 left = problem->n; left > 0;)
    {
      HeapEntry entry = heap_pop (&skyline);
      Segment *s = segment_at (&skyline, entry.segment);
      guint32 item;

      if (s->version != entry.version)
        continue;
      item = best_within (&skyline, s->begin, s->end);
      if (item == NOTHING)
        {
          raise_segment (&skyline, entry.segment);
          continue;
        }
      place (&skyline, entry.segment, item);
      tree_remove (&skyline, item);
      height = MAX (height, problem->items[item].offset + problem->items[item].size);
      left--;
    }
  g_array_unref (skyline.segments);
  g_array_unref (skyline.heap);
  g_free (skyline.tree);
  return height;
}
