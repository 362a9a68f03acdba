/* SPDX-License-Identifier: Apache-2.0 */
/* Static allocation, the frame: makes the problem uniform, knows the lower bound, tries the skyline in each of its
 * rules and then the searches, and checks packings. */
#include "core/planner/pack/pack.h"
#include "core/base/names.h"
#include "core/planner/pack/pack-private.h"
#include <string.h>

/* How much is done at the most. The exact search: in decisions, and in list entries looked at (some 8 ns each), half of
 * them for the target and half for what lies between; the repair: in list entries (3 ns); the climb: in neighbours
 * (10 ns). Beyond `many` items a packing is good enough when it is `near` its target. */
typedef struct
{
  guint64 nodes, exact_work;
  guint64 repair_work, repair_work_of_item;
  guint64 climb_work;
  double near;
} Effort;

/* For every day: some 50 ms for 2,000 items, a few tenths of a second for 100,000. */
static const Effort everyday = { 20000, 8u * 1000 * 1000, 3u * 1000 * 1000, 1000, 500u * 1000, 0.01 };
/* Where a number of nodes is given, each with that many list entries: a node costs some hundred of them, on hard problems many
 * more, and then it is they that end the search. The repair gets a second and more. */
#define WORK_OF_NODE 256u
/* Few nodes are asked for where little time is to be taken: from 18,000 on the repair has all of its work. */
#define REPAIR_WORK_OF_NODE 16384u
static const Effort thorough = { 0, 0, 300u * 1000 * 1000, 5000, 20u * 1000 * 1000, 0.005 };

/* Beyond, each skyline takes a tenth of a second and more. */
#define MANY_ITEMS 30000
/* Ceilings that the repair tries. */
#define MOST_REPAIRS 12

static inline guint64
round_up (guint64 size, guint64 alignment)
{
  return (size + alignment - 1) / alignment * alignment;
}

static int
compare_u32 (const void *a, const void *b)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return (x > y) - (x < y);
}

static int
compare_items (const void *a, const void *b, gpointer user_data)
{
  const GantryPackItem *items = user_data;
  guint32 i = *(const guint32 *) a, j = *(const guint32 *) b;
  const GantryPackItem *x = &items[i], *y = &items[j];

  if (x->begin != y->begin)
    return x->begin < y->begin ? -1 : 1;
  if (x->end != y->end)
    return x->end > y->end ? -1 : 1;
  if (x->size != y->size)
    return x->size > y->size ? -1 : 1;
  return (i > j) - (i < j);
}

/* Index of the last of @times that is at most @time. */
static guint32
time_index (const guint32 *times, guint32 n, guint32 time)
{
  guint32 low = 0, high = n;

  while (high - low > 1)
    {
      guint32 middle = low + (high - low) / 2;

      if (times[middle] <= time)
        low = middle;
      else
        high = middle;
    }
  return low;
}

/* What is alive can only grow where something begins: those are all the times that matter. */
static void
compress_times (PackProblem *problem, const GantryPackItem *items, guint32 **begins)
{
  guint32 *times = g_new (guint32, problem->n + 1);
  guint32 n = 0;

  for (guint32 i = 0; i < problem->n; i++)
    times[i] = items[problem->origin[i]].begin;
  qsort (times, problem->n, sizeof *times, compare_u32);
  for (guint32 i = 0; i < problem->n; i++)
    if (n == 0 || times[n - 1] != times[i])
      times[n++] = times[i];
  for (guint32 i = 0; i < problem->n; i++)
    {
      const GantryPackItem *from = &items[problem->origin[i]];

      problem->items[i].begin = time_index (times, n, from->begin);
      problem->items[i].end = time_index (times, n, from->end);
    }
  problem->n_times = n;
  *begins = times;
}

static void
measure_live (PackProblem *problem, guint32 *peak)
{
  guint64 live = 0;

  problem->live = g_new0 (guint64, problem->n_times + 1);
  /* Differences modulo 2^64 first, then their running sum. */
  for (guint32 i = 0; i < problem->n; i++)
    {
      problem->live[problem->items[i].begin] += problem->items[i].size;
      problem->live[problem->items[i].end + 1] -= problem->items[i].size;
    }
  for (guint32 t = 0; t < problem->n_times; t++)
    {
      live += problem->live[t];
      problem->live[t] = live;
      if (live > problem->lower_bound)
        {
          problem->lower_bound = live;
          *peak = t;
        }
    }
}

/* @peak_step: the first step with the largest sum. */
static PackProblem *
problem_new (const GantryPackItem *items, guint32 n, guint64 alignment, guint32 *peak_step)
{
  PackProblem *problem = g_new0 (PackProblem, 1);
  g_autofree guint32 *times = NULL;
  guint32 peak = 0;

  problem->origin = g_new (guint32, n);
  for (guint32 i = 0; i < n; i++)
    {
      g_assert (items[i].begin <= items[i].end);
      if (items[i].size > 0)
        problem->origin[problem->n++] = i;
    }
  if (problem->n > 0)
    g_qsort_with_data (problem->origin, (gint) problem->n, sizeof (guint32), compare_items, (gpointer) items);
  problem->items = g_new0 (PackItem, problem->n);
  for (guint32 i = 0; i < problem->n; i++)
    problem->items[i].size = round_up (items[problem->origin[i]].size, alignment);
  compress_times (problem, items, &times);
  measure_live (problem, &peak);
  *peak_step = problem->n > 0 ? times[peak] : 0;
  return problem;
}

static void
problem_free (PackProblem *problem)
{
  g_free (problem->items);
  g_free (problem->origin);
  g_free (problem->live);
  g_free (problem);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PackProblem, problem_free)

guint64
gantry_pack_lower_bound (const GantryPackItem *items, guint32 n, guint64 alignment, guint32 *step)
{
  guint32 peak_step;
  g_autoptr (PackProblem) problem = problem_new (items, n, MAX (alignment, 1), &peak_step);

  if (step != NULL)
    *step = peak_step;
  return problem->lower_bound;
}

static void
save_offsets (const PackProblem *problem, guint64 *offsets)
{
  for (guint32 i = 0; i < problem->n; i++)
    offsets[i] = problem->items[i].offset;
}

static void
restore_offsets (PackProblem *problem, const guint64 *offsets)
{
  for (guint32 i = 0; i < problem->n; i++)
    problem->items[i].offset = offsets[i];
}

/* A problem on its way to its best packing, whose offsets stand in the problem's items. */
typedef struct
{
  PackProblem *problem;
  PackExact *exact; /* (nullable) */
  const GantryProgress *progress;
  const Effort *effort;
  guint64 height;
  guint64 lower_bound; /* proved */
  guint64 nodes_left, work_left;
  guint64 repair_work;
} Solver;

static gboolean
wants_more (const Solver *solver)
{
  return solver->height > solver->problem->target && solver->height > solver->lower_bound && !gantry_progress_cancelled (solver->progress, NULL);
}

static gboolean
is_near (const Solver *solver)
{
  double target = (double) solver->problem->target;

  return solver->problem->n > MANY_ITEMS && (double) solver->height <= target + target * solver->effort->near;
}

static guint64
measure (const PackProblem *problem)
{
  guint64 height = 0;

  for (guint32 i = 0; i < problem->n; i++)
    height = MAX (height, problem->items[i].offset + problem->items[i].size);
  return height;
}

static void
try_skylines (Solver *solver)
{
  g_autofree guint64 *best = g_new (guint64, solver->problem->n);
  /* The first is the best for nearly all; the repair gains more in the time of another. */
  PackRule n_rules = solver->problem->n > MANY_ITEMS ? 1 : PACK_N_RULES;

  for (PackRule rule = 0; rule < n_rules; rule++)
    {
      guint64 reached = _gantry_pack_skyline (solver->problem, rule);

      if (reached < solver->height)
        {
          solver->height = reached;
          save_offsets (solver->problem, best);
        }
      if (!wants_more (solver))
        break;
    }
  restore_offsets (solver->problem, best);
}

/* A ceiling between @low and the best packing: of many items, at first what is near enough, for each try is dear. */
static guint64
next_ceiling (const Solver *solver, guint64 low)
{
  guint64 target = solver->problem->target, near = target + (guint64) ((double) target * solver->effort->near);

  if (solver->problem->n > MANY_ITEMS && low == target && solver->height > near)
    return near;
  return low + (solver->height - low) / 2;
}

/* Narrows down what lies between the target and the best packing, by repair. */
static void
repair (Solver *solver)
{
  PackProblem *problem = solver->problem;
  g_autofree guint64 *best = g_new (guint64, problem->n);
  guint64 work = solver->repair_work, low = problem->target, left = work;

  save_offsets (problem, best);
  for (guint k = 0; k < MOST_REPAIRS && left > 0 && wants_more (solver) && !is_near (solver); k++)
    {
      guint64 ceiling = next_ceiling (solver, low), share = MIN (left, work / 2), rest = share;

      if (solver->height - low <= low / 5000)
        break;
      if (_gantry_pack_repair (problem, ceiling, &rest, solver->progress))
        {
          solver->height = measure (problem);
          save_offsets (problem, best);
        }
      else
        {
          low = ceiling;
          restore_offsets (problem, best);
        }
      left -= share - rest;
    }
}

/* Asks the exact search for a packing within @capacity. */
static PackOutcome
search_within (Solver *solver, guint64 capacity, guint64 nodes, guint64 work)
{
  guint64 left = MIN (nodes, solver->nodes_left), given = left, unit = _gantry_pack_exact_unit (solver->exact);
  guint64 work_left = MIN (work, solver->work_left), work_given = work_left;
  PackOutcome outcome = _gantry_pack_exact_run (solver->exact, solver->problem, capacity, &left, &work_left, &solver->height, solver->progress);

  solver->nodes_left -= given - left;
  solver->work_left -= work_given - work_left;
  if (outcome == PACK_NONE)
    solver->lower_bound = MAX (solver->lower_bound, (capacity / unit + 1) * unit);
  return outcome;
}

/* Halves what lies between the target and the best packing. Where the search does not know, it goes on above. */
static void
climb_down (Solver *solver)
{
  guint64 unit = _gantry_pack_exact_unit (solver->exact);
  guint64 nodes = solver->nodes_left / 4 + 1, work = solver->work_left / 4 + 1;
  guint64 low = MAX (solver->problem->target, solver->lower_bound);

  while (wants_more (solver) && solver->nodes_left > 0 && solver->work_left > 0)
    {
      guint64 middle = low + (solver->height - low) / 2;
      PackOutcome outcome;

      if (low + unit > solver->height)
        break;
      outcome = search_within (solver, MIN (middle, solver->height - unit), nodes, work);
      if (outcome != PACK_FOUND)
        low = MAX (solver->lower_bound, (middle / unit + 1) * unit);
    }
}

/* No less than what is spent on every day. */
static guint64
repair_work (const Effort *effort, guint64 nodes, guint32 n)
{
  guint64 all = effort->repair_work + effort->repair_work_of_item * n;
  guint64 least = everyday.repair_work + everyday.repair_work_of_item * n;

  return MIN (all, MAX (least, MIN (nodes, all) * REPAIR_WORK_OF_NODE));
}

static void
solve (Solver *solver, guint rounds)
{
  try_skylines (solver);
  if (!wants_more (solver) || is_near (solver))
    return;
  solver->exact = _gantry_pack_exact_new (solver->problem);
  if (solver->exact != NULL)
    search_within (solver, solver->problem->target, solver->nodes_left / 2, solver->work_left / 2);
  if (!wants_more (solver))
    return;
  repair (solver);
  if (!wants_more (solver) || is_near (solver))
    return;
  solver->height = _gantry_pack_search (solver->problem, solver->height, rounds, solver->effort->climb_work, solver->progress);
  if (solver->exact != NULL && wants_more (solver))
    climb_down (solver);
}

static void
place (Solver *solver, const GantryPackOptions *options)
{
  switch (options != NULL ? options->allocator : GANTRY_ALLOCATOR_EXACT)
    {
    case GANTRY_ALLOCATOR_BEST_FIT: solver->height = _gantry_pack_best_fit (solver->problem, solver->progress); break;
    case GANTRY_ALLOCATOR_BFC: solver->height = _gantry_pack_pool (solver->problem); break;
    default: solve (solver, options != NULL ? options->rounds : 0);
    }
}

static const char *const allocator_names[GANTRY_N_ALLOCATORS] = {
  [GANTRY_ALLOCATOR_EXACT] = "exact",
  [GANTRY_ALLOCATOR_BEST_FIT] = "best-fit",
  [GANTRY_ALLOCATOR_BFC] = "bfc",
};

const char *
gantry_allocator_name (GantryAllocator allocator)
{
  return allocator_names[MIN (allocator, GANTRY_N_ALLOCATORS - 1)];
}

gboolean
gantry_allocator_parse (const char *name, GantryAllocator *allocator)
{
  guint found = gantry_find_name (allocator_names, GANTRY_N_ALLOCATORS, name);

  if (found == GANTRY_N_ALLOCATORS)
    return FALSE;
  *allocator = (GantryAllocator) found;
  return TRUE;
}

guint64
gantry_pack_solve (GantryPackItem *items, guint32 n, const GantryPackOptions *options, const GantryProgress *progress, GantryPackResult *result)
{
  guint64 alignment = options != NULL && options->alignment > 0 ? options->alignment : 1;
  const Effort *effort = options != NULL && options->nodes > 0 ? &thorough : &everyday;
  guint64 nodes = options != NULL && options->nodes > 0 ? options->nodes : effort->nodes;
  guint64 work = effort->exact_work > 0 ? effort->exact_work : MIN (nodes, G_MAXUINT64 / WORK_OF_NODE) * WORK_OF_NODE;
  guint32 peak_step;
  g_autoptr (PackProblem) problem = problem_new (items, n, alignment, &peak_step);
  Solver solver = { .problem = problem, .progress = progress, .effort = effort };

  solver.height = problem->n > 0 ? G_MAXUINT64 : 0;
  solver.lower_bound = problem->lower_bound;
  solver.nodes_left = nodes;
  solver.work_left = work;
  solver.repair_work = repair_work (effort, nodes, problem->n);
  for (guint32 i = 0; i < n; i++)
    items[i].offset = 0;
  problem->target = MAX (problem->lower_bound, options != NULL ? options->target : 0);
  if (problem->n > 0)
    place (&solver, options);
  for (guint32 i = 0; i < problem->n; i++)
    items[problem->origin[i]].offset = problem->items[i].offset;
  if (result != NULL)
    *result = (GantryPackResult){ solver.height, problem->lower_bound, solver.lower_bound, nodes - solver.nodes_left, work - solver.work_left };
  g_clear_pointer (&solver.exact, _gantry_pack_exact_free);
  return solver.height;
}

guint64
gantry_pack (GantryPackItem *items, guint32 n, const GantryPackOptions *options, const GantryProgress *progress)
{
  return gantry_pack_solve (items, n, options, progress, NULL);
}

/* The check: items alive now, in the order of offset; as long as they do not overlap, a newcomer can only overlap
 * the one below or the one above it. */

typedef struct
{
  const GantryPackItem *items;
  guint64 alignment;
} Check;

static int
compare_offsets (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const Check *check = user_data;
  guint32 i = GPOINTER_TO_UINT (a) - 1, j = GPOINTER_TO_UINT (b) - 1;
  guint64 x = check->items[i].offset, y = check->items[j].offset;

  return x != y ? (x < y ? -1 : 1) : (i > j) - (i < j);
}

static int
compare_ends (const void *a, const void *b, gpointer user_data)
{
  const GantryPackItem *items = user_data;
  guint32 i = *(const guint32 *) a, j = *(const guint32 *) b;

  if (items[i].end != items[j].end)
    return items[i].end < items[j].end ? -1 : 1;
  return (i > j) - (i < j);
}

static gboolean
meets (const Check *check, guint32 low, guint32 high)
{
  return check->items[low].offset + round_up (check->items[low].size, check->alignment) > check->items[high].offset;
}

/* Returns: the item that @i overlaps, or G_MAXUINT32; else it is among the living. */
static guint32
enter (GTree *alive, const Check *check, guint32 i)
{
  GTreeNode *node = g_tree_insert_node (alive, GUINT_TO_POINTER (i + 1), NULL);
  GTreeNode *below = g_tree_node_previous (node), *above = g_tree_node_next (node);

  if (below != NULL && meets (check, GPOINTER_TO_UINT (g_tree_node_key (below)) - 1, i))
    return GPOINTER_TO_UINT (g_tree_node_key (below)) - 1;
  if (above != NULL && meets (check, i, GPOINTER_TO_UINT (g_tree_node_key (above)) - 1))
    return GPOINTER_TO_UINT (g_tree_node_key (above)) - 1;
  return G_MAXUINT32;
}

gboolean
gantry_pack_check (const GantryPackItem *items, guint32 n, guint64 alignment, guint32 *a, guint32 *b)
{
  Check check = { items, MAX (alignment, 1) };
  g_autoptr (GTree) alive = g_tree_new_full (compare_offsets, &check, NULL, NULL);
  g_autofree guint32 *by_begin = g_new (guint32, n), *by_end = g_new (guint32, n);
  guint32 count = 0, gone = 0;

  for (guint32 i = 0; i < n; i++)
    if (items[i].size > 0)
      by_begin[count] = by_end[count] = i, count++;
  if (count == 0)
    return TRUE;
  g_qsort_with_data (by_begin, (gint) count, sizeof (guint32), compare_items, (gpointer) items);
  g_qsort_with_data (by_end, (gint) count, sizeof (guint32), compare_ends, (gpointer) items);
  for (guint32 k = 0; k < count; k++)
    {
      guint32 i = by_begin[k], other;

      for (; items[by_end[gone]].end < items[i].begin; gone++)
        g_tree_remove (alive, GUINT_TO_POINTER (by_end[gone] + 1));
      other = enter (alive, &check, i);
      if (other == G_MAXUINT32)
        continue;
      if (a != NULL)
        *a = other;
      if (b != NULL)
        *b = i;
      return FALSE;
    }
  return TRUE;
}
