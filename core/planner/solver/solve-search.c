/* SPDX-License-Identifier: Apache-2.0 */
/* The search: well-known answers to begin with, then one or two values changed at a time for as long as the
 * planner's own prediction gets better. It knows nothing of how the planner works, so whatever that does is counted. */
#include "core/planner/solver/solve-problem-private.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static gboolean
is_allowed (const SolveItem *item, guint kind)
{
  return (item->allowed >> kind & 1) != 0;
}

static guint8 *
kinds_new (const SolveProblem *problem)
{
  return g_new0 (guint8, problem->items->len + 1);
}

/* In the base order one without a gap is kept. */
static gboolean
is_enumerated (const SolveItem *item, guint kind)
{
  return is_allowed (item, kind) && _gantry_solve_could_be_gone (item, kind);
}

gboolean
_gantry_solve_enumerate (SolveProblem *problem, guint64 most)
{
  guint n = problem->items->len;
  g_autofree guint8 *kinds = kinds_new (problem);
  guint64 n_answers = 1;
  guint i = 0;

  for (guint k = 0; k < n; k++)
    {
      guint n_kinds = 1;

      for (guint kind = GANTRY_PLACEMENT_RECOMPUTE; kind < GANTRY_N_PLACEMENTS; kind++)
        n_kinds += is_enumerated (ITEM (problem, k), kind);
      n_answers *= n_kinds;
      if (n_answers > most)
        return FALSE;
    }
  for (;;)
    {
      _gantry_solve_evaluate (problem, kinds);
      if (_gantry_solve_is_over (problem))
        return FALSE;
      /* The next number in a system whose digits are the allowed placements. */
      for (i = 0; i < n; i++)
        {
          do
            kinds[i]++;
          while (kinds[i] < GANTRY_N_PLACEMENTS && !is_enumerated (ITEM (problem, i), kinds[i]));
          if (kinds[i] < GANTRY_N_PLACEMENTS)
            break;
          kinds[i] = 0;
        }
      if (i == n)
        return TRUE;
    }
}

/* Every @keep-th residual kept, the others @kind; with what the caller gives offloaded too where @arguments. */
static void
try_every (SolveProblem *problem, guint kind, guint keep, gboolean arguments)
{
  g_autofree guint8 *kinds = kinds_new (problem);
  guint seen = 0;

  for (guint i = 0; i < problem->items->len; i++)
    {
      const SolveItem *item = ITEM (problem, i);

      if (item->maker == NONE)
        kinds[i] = arguments && is_allowed (item, GANTRY_PLACEMENT_OFFLOAD) ? GANTRY_PLACEMENT_OFFLOAD : 0;
      else if (is_allowed (item, kind) && (keep == 0 || seen++ % keep != 0))
        kinds[i] = (guint8) kind;
    }
  _gantry_solve_evaluate (problem, kinds);
}

/* What costs less than its bytes are worth is made again, the rest @others: for a few prices. */
static void
try_cheap (SolveProblem *problem, double us_per_byte, guint others)
{
  g_autofree guint8 *kinds = kinds_new (problem);

  for (guint i = 0; i < problem->items->len; i++)
    {
      const SolveItem *item = ITEM (problem, i);

      if (item->maker == NONE)
        continue;
      if (is_allowed (item, GANTRY_PLACEMENT_RECOMPUTE) && item->again_us <= us_per_byte * (double) item->bytes)
        kinds[i] = GANTRY_PLACEMENT_RECOMPUTE;
      else if (is_allowed (item, others))
        kinds[i] = (guint8) others;
    }
  _gantry_solve_evaluate (problem, kinds);
}

/* Of what is exact the well-known answers are always in the pool. */
static gboolean
is_tried (const SolveProblem *problem, guint kind)
{
  return (1u << kind & (GANTRY_EXACT_PLACEMENTS | problem->allowed)) != 0;
}

void
_gantry_solve_try_known (SolveProblem *problem)
{
  guint n = problem->items->len, root = (guint) lround (sqrt (n));
  const guint every[] = { 0, 2, 3, 4, MAX (root / 2, 5), MAX (root, 6), MAX (2 * root, 7) };

  {
    g_autofree guint8 *kinds = kinds_new (problem);

    _gantry_solve_evaluate (problem, kinds);
  }
  for (guint e = 0; e < G_N_ELEMENTS (every) && !_gantry_solve_is_over (problem); e++)
    {
      if (every[e] >= n && e > 0)
        break;
      for (guint kind = GANTRY_PLACEMENT_RECOMPUTE; kind < GANTRY_N_PLACEMENTS; kind++)
        if (is_tried (problem, kind))
          try_every (problem, kind, every[e], FALSE);
    }
  for (guint kind = GANTRY_PLACEMENT_RECOMPUTE; kind < GANTRY_N_PLACEMENTS; kind++)
    if (is_tried (problem, kind))
      try_every (problem, kind, 0, TRUE);
  for (double price = 1e-6; price < 1 && !_gantry_solve_is_over (problem); price *= 10)
    {
      try_cheap (problem, price, GANTRY_PLACEMENT_KEEP);
      for (guint kind = GANTRY_PLACEMENT_OFFLOAD; kind < GANTRY_N_PLACEMENTS; kind++)
        if (is_tried (problem, kind))
          try_cheap (problem, price, kind);
    }
}

/* Improving */

typedef struct
{
  SolveProblem *problem;
  guint8 *kinds;
  guint64 limit;
  const SolveAnswer *now;
} Climb;

/* Less over the limit is better, then less time, then fewer bytes. */
static gboolean
is_better (const SolveAnswer *a, const SolveAnswer *b, guint64 limit, guint64 host_limit)
{
  guint64 over_a = a->peak > limit ? a->peak - limit : 0, over_b = b->peak > limit ? b->peak - limit : 0;
  guint64 host_a = a->host > host_limit ? a->host - host_limit : 0, host_b = b->host > host_limit ? b->host - host_limit : 0;

  /* What does not fit into the host is no answer, however little it takes of the device. */
  if (host_a != host_b)
    return host_a < host_b;
  if (over_a != over_b)
    return over_a < over_b;
  /* Where the peak itself is minimized, every byte of it counts before time does. */
  return limit == 0 && a->peak != b->peak ? a->peak < b->peak : _gantry_solve_is_faster (a, b);
}

/* Changes item @i to @kind, and back when that is no better. */
static gboolean
try_change (Climb *climb, guint i, guint8 kind)
{
  guint8 before = climb->kinds[i];
  const SolveAnswer *answer;

  if (before == kind || !is_allowed (ITEM (climb->problem, i), kind))
    return FALSE;
  climb->kinds[i] = kind;
  answer = _gantry_solve_evaluate (climb->problem, climb->kinds);
  if (is_better (answer, climb->now, climb->limit, climb->problem->host_limit))
    {
      climb->now = answer;
      return TRUE;
    }
  climb->kinds[i] = before;
  return FALSE;
}

/* Items in the order of how much their placement costs, dearest first. */
static int
compare_cost (gconstpointer a, gconstpointer b, gpointer data)
{
  const SolveProblem *problem = data;
  double x = ITEM (problem, *(const guint *) a)->again_us, y = ITEM (problem, *(const guint *) b)->again_us;

  return x > y ? -1 : x < y ? 1 : (*(const guint *) a < *(const guint *) b ? -1 : 1);
}

static gboolean
change_one (Climb *climb, const guint *order)
{
  gboolean improved = FALSE;

  for (guint k = 0; k < climb->problem->items->len && !_gantry_solve_is_over (climb->problem); k++)
    for (guint8 kind = 0; kind < GANTRY_N_PLACEMENTS; kind++)
      improved |= try_change (climb, order[k], kind);
  return improved;
}

/* One value kept that was not, for another one of about as many bytes: what a single change cannot reach. */
static gboolean
change_two (Climb *climb, const guint *order)
{
  SolveProblem *problem = climb->problem;
  gboolean improved = FALSE;

  for (guint k = 0; k < problem->items->len && !_gantry_solve_is_over (problem); k++)
    {
      guint i = order[k];
      guint8 before = climb->kinds[i];

      if (before == GANTRY_PLACEMENT_KEEP || ITEM (problem, i)->again_us <= 0)
        continue;
      for (guint l = problem->items->len; l-- > 0 && climb->kinds[i] == before && !_gantry_solve_is_over (problem);)
        {
          guint j = order[l];
          guint8 old = climb->kinds[j];

          if (j == i || old != GANTRY_PLACEMENT_KEEP || ITEM (problem, j)->again_us >= ITEM (problem, i)->again_us
              || ITEM (problem, j)->bytes * 4 < ITEM (problem, i)->bytes)
            continue;
          climb->kinds[j] = before;
          if (is_allowed (ITEM (problem, j), before) && try_change (climb, i, GANTRY_PLACEMENT_KEEP))
            improved = TRUE;
          else
            climb->kinds[j] = old;
        }
    }
  return improved;
}

/* Classes: values that are alike but for the block that they stand in, in the order in which they are made. */

static guint64
class_of (const SolveProblem *problem, guint i)
{
  const SolveItem *item = ITEM (problem, i);
  const GantryNode *node = gantry_module_node (problem->planner->program->module, item->node);
  guint64 key = item->bytes * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  key ^= (guint64) (item->again_us * 1024) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  key ^= ((guint64) item->n_gaps << 32 | (guint64) item->n_in << 24 | (node != NULL ? node->op : 0)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return key;
}

typedef struct
{
  guint64 key;
  guint item;
} ClassEntry;

static int
compare_class (gconstpointer a, gconstpointer b)
{
  const ClassEntry *x = a, *y = b;

  if (x->key != y->key)
    return x->key < y->key ? -1 : 1;
  return x->item < y->item ? -1 : x->item > y->item;
}

/* Members from .. to - 1 of a class are placed as @kind together, and back when that is no better. */
static gboolean
try_members (Climb *climb, const ClassEntry *members, guint from, guint to, guint8 kind)
{
  g_autofree guint8 *before = g_memdup2 (climb->kinds, climb->problem->items->len + 1);
  gboolean changes = FALSE;
  const SolveAnswer *answer;

  for (guint m = from; m < to; m++)
    if (is_allowed (ITEM (climb->problem, members[m].item), kind) && climb->kinds[members[m].item] != kind)
      {
        climb->kinds[members[m].item] = kind;
        changes = TRUE;
      }
  if (!changes)
    return FALSE;
  answer = _gantry_solve_evaluate (climb->problem, climb->kinds);
  if (is_better (answer, climb->now, climb->limit, climb->problem->host_limit))
    {
      climb->now = answer;
      return TRUE;
    }
  memcpy (climb->kinds, before, climb->problem->items->len);
  return FALSE;
}

/* A whole class, then ever smaller parts from both of its ends: what is made first is needed last. */
static gboolean
change_class (Climb *climb, const ClassEntry *members, guint n)
{
  gboolean improved = FALSE;

  for (guint8 kind = 0; kind < GANTRY_N_PLACEMENTS; kind++)
    for (guint part = n; part >= 2; part /= 2)
      {
        if (_gantry_solve_is_over (climb->problem))
          return improved;
        improved |= try_members (climb, members, 0, part, kind);
        if (part < n)
          improved |= try_members (climb, members, n - part, n, kind);
      }
  return improved;
}

static void
change_classes (Climb *climb)
{
  guint n = climb->problem->items->len;
  g_autofree ClassEntry *entries = g_new (ClassEntry, n + 1);
  gboolean improved = TRUE;

  for (guint i = 0; i < n; i++)
    entries[i] = (ClassEntry){ class_of (climb->problem, i), i };
  qsort (entries, n, sizeof *entries, compare_class);
  for (guint round = 0; round < 3 && improved; round++)
    {
      improved = FALSE;
      for (guint first = 0, end; first < n && !_gantry_solve_is_over (climb->problem); first = end)
        {
          for (end = first + 1; end < n && entries[end].key == entries[first].key; end++)
            ;
          if (end - first >= 3)
            improved |= change_class (climb, entries + first, end - first);
        }
    }
}

void
_gantry_solve_search (SolveProblem *problem, const guint8 *start, guint64 limit)
{
  g_autofree guint8 *kinds = g_memdup2 (start, problem->items->len + 1);
  g_autofree guint *order = g_new (guint, problem->items->len + 1);
  Climb climb = { problem, kinds, limit, NULL };

  if (problem->items->len == 0)
    return;
  for (guint i = 0; i < problem->items->len; i++)
    order[i] = i;
  g_qsort_with_data (order, (gint) problem->items->len, sizeof *order, compare_cost, problem);
  climb.now = _gantry_solve_evaluate (problem, kinds);
  change_classes (&climb);
  do
    while (change_one (&climb, order) && !_gantry_solve_is_over (problem))
      ;
  while (problem->items->len <= 400 && !_gantry_solve_is_over (problem) && change_two (&climb, order));
}
