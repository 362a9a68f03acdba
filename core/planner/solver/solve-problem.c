/* SPDX-License-Identifier: Apache-2.0 */
/* The question as the solver sees it: which values may be gone when, what that costs, and the pool of answers
 * that the planner has predicted so far. */
#include "core/planner/solver/solve-problem-private.h"
#include <math.h>
#include <string.h>

static void
answer_free (gpointer data)
{
  SolveAnswer *answer = data;

  g_free (answer->kinds);
  g_clear_pointer (&answer->schedule, g_bytes_unref);
  g_free (answer);
}

void
_gantry_solve_least_free (SolveLeast *least)
{
  if (least == NULL)
    return;
  g_free (least->kinds);
  g_clear_pointer (&least->schedule, g_bytes_unref);
  g_free (least);
}

void
_gantry_solve_problem_free (SolveProblem *problem)
{
  if (problem == NULL)
    return;
  g_array_unref (problem->items);
  g_array_unref (problem->gaps);
  g_array_unref (problem->pairs);
  g_ptr_array_unref (problem->pool);
  g_hash_table_unref (problem->seen);
  gantry_prediction_free (problem->prediction);
  g_free (problem->live);
  g_clear_pointer (&problem->cut_least, _gantry_solve_least_free);
  g_free (problem);
}

/* What stands fast while the items are found. */
typedef struct
{
  SolveProblem *problem;
  guint32 *step_of;  /* by work */
  guint32 *roots;    /* by candidate */
  GHashTable *parts; /* root -> GArray of the values that are fetched by themselves */
  guint allowed;
} Finder;

/* Gaps */

/* Base steps at which the works that read @unit run, ascending; with where they belong. */
typedef struct
{
  guint32 step;
  guint8 phase;
} UseStep;

static int
compare_steps (gconstpointer a, gconstpointer b)
{
  const UseStep *x = a, *y = b;

  return x->step < y->step ? -1 : x->step > y->step;
}

static void
add_uses (const Program *program, guint32 unit, const guint32 *step_of, GArray *uses)
{
  for (guint32 u = program->first_user[unit]; u < program->first_user[unit + 1]; u++)
    {
      guint32 work = program->users[u];

      if (!WORK (program, work)->init)
        g_array_append_val (uses, ((UseStep){ step_of[work], WORK (program, work)->phase }));
    }
}

/* All uses of a root, those of its parts included. */
static GArray *
uses_of (const Finder *finder, guint32 root)
{
  const Program *program = finder->problem->planner->program;
  const GArray *parts = g_hash_table_lookup (finder->parts, GUINT_TO_POINTER (root));
  GArray *uses = g_array_new (FALSE, FALSE, sizeof (UseStep));

  add_uses (program, root, finder->step_of, uses);
  for (guint i = 0; parts != NULL && i < parts->len; i++)
    add_uses (program, g_array_index (parts, guint32, i), finder->step_of, uses);
  g_array_sort (uses, compare_steps);
  return uses;
}

static void
add_gap (SolveProblem *problem, SolveItem *item, guint32 from, guint32 to)
{
  const SolveGap gap = { from, to };

  if (from > to || to >= problem->n_steps)
    return;
  g_array_append_val (problem->gaps, gap);
  item->n_gaps++;
}

/* A residual can be gone between its last use in its own phase and its first one in a later phase. The step of that last
 * use counts where something may then be written over it. */
static void
find_gap (SolveProblem *problem, SolveItem *item, const GArray *uses, guint32 made, guint8 phase)
{
  guint32 last = made;

  item->first_backward = NONE;
  for (guint i = 0; i < uses->len && item->first_backward == NONE; i++)
    {
      const UseStep *use = &g_array_index (uses, UseStep, i);

      if (use->phase == phase)
        last = use->step;
      else
        item->first_backward = use->step;
    }
  item->last_use = uses->len > 0 ? g_array_index (uses, UseStep, uses->len - 1).step : made;
  if (item->first_backward != NONE && item->first_backward > 0)
    add_gap (problem, item, last > made ? last : last + 1, item->first_backward - 1);
}

/* One that loops make and walk along slice by slice is never there as a whole, where it is not kept. */
static void
find_gap_of_stack (SolveProblem *problem, SolveItem *item, guint32 from, guint32 to)
{
  g_array_set_size (problem->gaps, item->first_gap);
  item->n_gaps = 0;
  add_gap (problem, item, from, to);
}

/* In fewer bits it can be gone from its last use in its own phase on, but for the steps that read it. */
static void
find_spans (SolveProblem *problem, SolveItem *item, const GArray *uses, guint32 made, guint8 phase)
{
  guint32 from = made + 1;

  item->first_span = problem->gaps->len;
  for (guint i = 0; i < uses->len; i++)
    {
      const UseStep *use = &g_array_index (uses, UseStep, i);
      const SolveGap span = { from, use->step - 1 };

      if (use->phase == phase)
        {
          from = item->n_spans == 0 && use->step > made ? use->step : from;
          continue;
        }
      if (use->step > from)
        {
          g_array_append_val (problem->gaps, span);
          item->n_spans++;
        }
      from = use->step + 1;
    }
}

gboolean
_gantry_solve_could_be_gone (const SolveItem *item, guint kind)
{
  return gantry_placement_is_approximate (kind) ? item->n_spans > 0 : item->n_gaps > 0;
}

static gint64
elements_of (const SolveProblem *problem, const SolveItem *item)
{
  return _gantry_planner_elements (problem->planner, item->root);
}

guint64
_gantry_solve_stored_bytes (const SolveProblem *problem, const SolveItem *item, guint kind)
{
  return MIN (gantry_place_bytes (gantry_compressed_bytes (kind, elements_of (problem, item))), item->bytes);
}

double
_gantry_solve_stored_us (const SolveProblem *problem, const SolveItem *item, guint kind)
{
  return 2 * _gantry_planner_convert_us (problem->planner, item->root, kind);
}

/* What the caller gives can be gone whenever no work reads it. */
static void
find_gaps_of_argument (SolveProblem *problem, SolveItem *item, const GArray *uses)
{
  guint32 next = 0;

  item->first_backward = NONE;
  for (guint i = 0; i < uses->len; i++)
    {
      guint32 step = g_array_index (uses, UseStep, i).step;

      if (step > next)
        add_gap (problem, item, next, step - 1);
      next = step + 1;
    }
  if (next < problem->n_steps)
    add_gap (problem, item, next, problem->n_steps - 1);
  item->last_use = next > 0 ? next - 1 : 0;
}

/* A result is copied out as soon as it is made, and has no place before and after where it would be held for the whole run. */
static void
find_gaps_of_result (SolveProblem *problem, SolveItem *item, const GArray *uses, guint32 made)
{
  item->first_backward = NONE;
  item->last_use = made;
  for (guint i = 0; i < uses->len; i++)
    item->last_use = MAX (item->last_use, g_array_index (uses, UseStep, i).step);
  if (item->resident && made > 0)
    add_gap (problem, item, 0, made - 1);
  if (item->last_use + 1 < problem->n_steps)
    add_gap (problem, item, item->last_use + 1, problem->n_steps - 1);
}

static void
add_item (Finder *finder, guint index)
{
  SolveProblem *problem = finder->problem;
  GantryPlanner *planner = problem->planner;
  const Program *program = planner->program;
  const GantryCandidate *candidate = &g_array_index (planner->candidates, GantryCandidate, index);
  const GantryPlacement *entry = problem->base != NULL ? gantry_placements_find (problem->base, candidate->node) : NULL;
  SolveItem item = {
    .node = candidate->node, .root = finder->roots[index], .maker = NONE, .bytes = gantry_place_bytes (candidate->bytes), .first_gap = problem->gaps->len
  };
  g_autoptr (GArray) uses = NULL;

  item.allowed = (guint8) (candidate->allowed & (finder->allowed | 1u << GANTRY_PLACEMENT_KEEP));
  if ((entry != NULL && entry->decider == GANTRY_DECIDED_BY_CLICK) || (item.allowed & ~1u) == 0)
    return;
  uses = uses_of (finder, item.root);
  item.copy_us = gantry_target_predict_copy_us (&planner->target, candidate->bytes);
  if (VALUE (program, item.root)->kind == VALUE_INPUT)
    {
      item.resident = program->resident != FALSE;
      find_gaps_of_argument (problem, &item, uses);
      if (planner->stack_of_slices[item.root])
        find_gap_of_stack (problem, &item, 0, problem->n_steps - 1);
      item.n_in = item.n_gaps; /* about one for each time that it is used after it was not */
      item.n_out = VALUE (program, item.root)->donated != NONE;
    }
  else
    {
      item.maker = VALUE (program, item.root)->maker;
      if (item.maker == NONE)
        return;
      item.in_loops = planner->again_in_loops[item.root];
      item.again_us = item.in_loops ? candidate->make_us : planner->cost_us[item.maker];
      item.n_in = item.n_out = 1;
      if (candidate->subject == GANTRY_SUBJECT_OUTPUT)
        {
          item.resident = program->resident != FALSE;
          item.n_in = 0;
          find_gaps_of_result (problem, &item, uses, finder->step_of[item.maker]);
        }
      else
        find_gap (problem, &item, uses, finder->step_of[item.maker], WORK (program, item.maker)->phase);
      if (planner->stack_of_slices[item.root])
        find_gap_of_stack (problem, &item, finder->step_of[item.maker], item.last_use);
      if (candidate->subject != GANTRY_SUBJECT_OUTPUT && (item.allowed & GANTRY_APPROXIMATE_PLACEMENTS) != 0)
        find_spans (problem, &item, uses, finder->step_of[item.maker], WORK (program, item.maker)->phase);
    }
  problem->compresses |= item.n_spans > 0;
  if (item.n_gaps > 0 || item.n_spans > 0 || (candidate->subject == GANTRY_SUBJECT_RESIDUAL && problem->n_steps <= SCHEDULE_MOST_EXACT))
    g_array_append_val (problem->items, item);
}

/* Pairs */

/* What a value's maker reads directly: where that is not there by itself at the time, it has to be. */
static void
add_pairs (SolveProblem *problem, guint by, const gint32 *item_of)
{
  const Program *program = problem->planner->program;
  const SolveItem *item = ITEM (problem, by);
  const Work *work;

  if (item->maker == NONE || item->first_backward == NONE || item->in_loops)
    return;
  work = WORK (program, item->maker);
  for (guint32 k = 0; k < work->n_uses; k++)
    {
      gint32 needed = item_of[VALUE (program, USE (program, work, k))->root];
      const SolveItem *other = needed >= 0 ? ITEM (problem, needed) : NULL;

      if (other == NULL || other->maker == NONE || other->first_backward == NONE)
        continue;
      if (other->first_backward > item->first_backward)
        g_array_append_val (problem->pairs, ((SolvePair){ (guint32) needed, by, TRUE, { item->first_backward, other->first_backward - 1 } }));
      if (other->last_use < item->first_backward)
        g_array_append_val (problem->pairs, ((SolvePair){ (guint32) needed, by, FALSE, { other->last_use + 1, item->first_backward } }));
    }
}

static void
find_pairs (SolveProblem *problem)
{
  guint32 n = problem->planner->program->values->len;
  g_autofree gint32 *item_of = g_new (gint32, n + 1);

  for (guint32 v = 0; v < n; v++)
    item_of[v] = -1;
  for (guint i = 0; i < problem->items->len; i++)
    item_of[ITEM (problem, i)->root] = (gint32) i;
  for (guint i = 0; i < problem->items->len; i++)
    add_pairs (problem, i, item_of);
}

static void
find_roots_and_parts (Finder *finder)
{
  const GantryPlanner *planner = finder->problem->planner;
  const Program *program = planner->program;

  for (guint32 v = 0; v < program->values->len; v++)
    {
      const Value *value = VALUE (program, v);
      GArray *parts;

      if (value->root == v && planner->candidate_of[v] >= 0)
        finder->roots[planner->candidate_of[v]] = v;
      if (value->root == v || value->unit != v)
        continue;
      parts = g_hash_table_lookup (finder->parts, GUINT_TO_POINTER (value->root));
      if (parts == NULL)
        g_hash_table_insert (finder->parts, GUINT_TO_POINTER (value->root), parts = g_array_new (FALSE, FALSE, sizeof (guint32)));
      g_array_append_val (parts, v);
    }
}

static gboolean
reads (const GantryPlanner *planner, const Run *run, guint32 l)
{
  for (guint32 k = 0; k < WORK (planner->program, run->work)->n_uses; k++)
    if (g_array_index (planner->use_range, guint32, run->first_use + k) == l)
      return TRUE;
  return FALSE;
}

/* Of what is stored in fewer bits by a click or a rule: what was converted back may go between its uses where other placements make
 * them further apart, and then comes back once more. */
static void
loosen_base (SolveProblem *problem)
{
  GantryPlanner *planner = problem->planner;
  guint32 step = 0;
  g_autofree guint32 *n_converted = g_new0 (guint32, planner->program->values->len + 1);
  g_autofree guint32 *step_at = g_new (guint32, planner->line->len + 1);

  for (guint32 i = 0; i < planner->line->len; i++)
    {
      const Run *run = RUN (planner, i);
      guint32 v = run->kind == RUN_CONVERT ? RANGE (planner, run->first_range)->unit : NONE;

      if (v != NONE && n_converted[v]++ >= 2)
        problem->base_us -= START_US (planner, i + 1) - START_US (planner, i);
    }
  for (guint32 i = 0; i < planner->line->len; i++)
    step_at[i] = RUN (planner, i)->kind == RUN_WORK && RUN (planner, i)->instance == 0 ? step++ : NONE;
  for (guint32 l = 0; l < planner->ranges->len; l++)
    {
      const LiveRange *range = RANGE (planner, l);

      if (range->instance == 0 || range->stored != GANTRY_PLACEMENT_KEEP || !_gantry_planner_compresses (planner, range->unit))
        continue;
      for (guint32 i = range->begin + 1; i < range->end; i++)
        if (step_at[i] < problem->n_steps && !reads (planner, RUN (planner, i), l))
          problem->live[step_at[i]] -= MIN (problem->live[step_at[i]], gantry_place_bytes (range->bytes));
    }
}

/* The curve with everything kept but what a click decided: a second run of a work is no base step. */
static void
read_base (SolveProblem *problem)
{
  GantryPlanner *planner = problem->planner;
  guint32 step = 0;

  _gantry_planner_evaluate (planner, problem->base, 0, problem->prediction);
  problem->base_us = problem->prediction->step_us - problem->prediction->stall_us;
  problem->base_peak = problem->prediction->peak_bytes;
  for (guint32 i = 0; i < planner->line->len && step < problem->n_steps; i++)
    if (RUN (planner, i)->instance == 0 && RUN (planner, i)->kind == RUN_WORK)
      problem->live[step++] = g_array_index (planner->live, guint64, i) + planner->held[GANTRY_MEMORY_DEVICE] + planner->beside_bytes
                              + (guint64) planner->loop_bytes;
  problem->compresses = planner->compresses;
  if (planner->compresses)
    loosen_base (problem);
}

SolveProblem *
_gantry_solve_problem_new (GantryPlanner *planner, const GantryPlacements *base, guint allowed, const GantryProgress *progress)
{
  SolveProblem *problem = g_new0 (SolveProblem, 1);
  Finder finder = { problem, g_new0 (guint32, planner->program->works->len + 1), g_new0 (guint32, planner->candidates->len + 1),
                    g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_array_unref), allowed };

  problem->planner = planner;
  problem->base = base;
  problem->progress = progress;
  problem->method = "search";
  problem->allowed = allowed;
  problem->host_limit = planner->target.host_limit > 0 ? planner->target.host_limit : G_MAXUINT64;
  problem->items = g_array_new (FALSE, FALSE, sizeof (SolveItem));
  problem->gaps = g_array_new (FALSE, FALSE, sizeof (SolveGap));
  problem->pairs = g_array_new (FALSE, FALSE, sizeof (SolvePair));
  problem->pool = g_ptr_array_new_with_free_func (answer_free);
  problem->seen = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);
  problem->prediction = gantry_prediction_new ();
  problem->n_steps = planner->n_order;
  problem->live = g_new0 (guint64, planner->n_order + 1);
  for (guint32 s = 0; s < planner->n_order; s++)
    finder.step_of[planner->order[s]] = s;
  read_base (problem);
  find_roots_and_parts (&finder);
  for (guint c = 0; c < planner->candidates->len; c++)
    add_item (&finder, c);
  find_pairs (problem);
  g_free (finder.step_of);
  g_free (finder.roots);
  g_hash_table_unref (finder.parts);
  return problem;
}

/* The pool */

static void
set_schedule (GantryPlacements *placements, GBytes *schedule)
{
  gsize size;
  const GantryScheduleEntry *entries = g_bytes_get_data (schedule, &size);

  gantry_placements_set_schedule (placements, entries, (guint) (size / sizeof *entries));
}

GantryPlacements *
_gantry_solve_placements (const SolveProblem *problem, const guint8 *kinds, GBytes *schedule)
{
  GantryPlacements *placements = gantry_placements_new ();
  guint next = 0;

  /* Both lists ascend in nodes, or nearly so: setting is then cheap. */
  if (problem->base != NULL)
    for (; next < problem->base->entries->len; next++)
      gantry_placements_set (placements, &g_array_index (problem->base->entries, GantryPlacement, next));
  for (guint i = 0; i < problem->items->len; i++)
    {
      const SolveItem *item = ITEM (problem, i);
      const GantryPlacement *entry = gantry_placements_find (placements, item->node);
      GantryPlacement placement = { .node = item->node, .kind = kinds[i], .decider = GANTRY_DECIDED_BY_SOLVER, .memory = GANTRY_MEMORY_PINNED_HOST };

      if (entry == NULL && kinds[i] == GANTRY_PLACEMENT_KEEP)
        continue;
      if (entry != NULL)
        placement.subject = entry->subject;
      gantry_placements_set (placements, &placement);
    }
  if (schedule != NULL)
    set_schedule (placements, schedule);
  return placements;
}

static gboolean
uses_copies (const SolveProblem *problem, const guint8 *kinds)
{
  return memchr (kinds, GANTRY_PLACEMENT_OFFLOAD, problem->items->len) != NULL;
}

/* What tells answers from each other, as bytes. */
static GBytes *
key_of (const SolveProblem *problem, const guint8 *kinds, GBytes *schedule, guint64 limit)
{
  gsize n = problem->items->len, n_schedule = schedule != NULL ? g_bytes_get_size (schedule) : 0;
  guint8 *words = g_malloc (n + sizeof limit + n_schedule);

  if (n > 0)
    memcpy (words, kinds, n);
  memcpy (words + n, &limit, sizeof limit);
  if (n_schedule > 0)
    memcpy (words + n + sizeof limit, g_bytes_get_data (schedule, NULL), n_schedule);
  return g_bytes_new_take (words, n + sizeof limit + n_schedule);
}

/* An answer as predicted with copies delayed and shortened below @limit, 0: as they come. */
static const SolveAnswer *
evaluate_with (SolveProblem *problem, const guint8 *kinds, GBytes *schedule, guint64 limit)
{
  g_autoptr (GBytes) key = key_of (problem, kinds, schedule, limit);
  g_autoptr (GantryPlacements) placements = NULL;
  SolveAnswer *answer = g_hash_table_lookup (problem->seen, key);

  if (answer != NULL)
    return answer;
  placements = _gantry_solve_placements (problem, kinds, schedule);
  _gantry_planner_evaluate (problem->planner, placements, limit, problem->prediction);
  problem->n_predictions++;
  answer = g_new0 (SolveAnswer, 1);
  answer->kinds = g_memdup2 (kinds, problem->items->len + 1);
  answer->schedule = schedule != NULL ? g_bytes_ref (schedule) : NULL;
  answer->limit = limit;
  answer->peak = problem->prediction->peak_bytes;
  answer->host = problem->prediction->host_bytes;
  answer->copied = problem->prediction->copied_bytes;
  answer->us = problem->prediction->step_us;
  answer->cost = _gantry_solve_cost (problem, answer->us, answer->host);
  answer->method = problem->method;
  g_ptr_array_add (problem->pool, answer);
  g_hash_table_insert (problem->seen, g_steal_pointer (&key), answer);
  return answer;
}

/* Copies are delayed and shortened only as far as the limit asks for: a larger one then never makes an answer slower. */
const SolveAnswer *
_gantry_solve_evaluate_schedule (SolveProblem *problem, const guint8 *kinds, GBytes *schedule)
{
  return evaluate_with (problem, kinds, schedule, uses_copies (problem, kinds) ? problem->limit : 0);
}

const SolveAnswer *
_gantry_solve_evaluate (SolveProblem *problem, const guint8 *kinds)
{
  return _gantry_solve_evaluate_schedule (problem, kinds, NULL);
}

gboolean
_gantry_solve_is_over (SolveProblem *problem)
{
  problem->cut = problem->cut || (problem->deadline != 0 && g_get_monotonic_time () >= problem->deadline);
  return problem->cut || gantry_progress_cancelled (problem->progress, NULL)
         || (problem->most_predictions != 0 && problem->n_predictions >= problem->most_predictions);
}

double
_gantry_solve_seconds_left (const SolveProblem *problem)
{
  return (double) (problem->deadline - g_get_monotonic_time ()) / G_USEC_PER_SEC;
}

void
_gantry_solve_spend (SolveProblem *problem, guint64 n)
{
  problem->most_predictions = problem->n_predictions + MAX (n, 1);
}

double
_gantry_solve_cost (const SolveProblem *problem, double us, guint64 host)
{
  return us + problem->host_price * (double) host;
}

gboolean
_gantry_solve_is_faster (const SolveAnswer *a, const SolveAnswer *b)
{
  if (fabs (a->cost - b->cost) > 1e-9 * b->cost)
    return a->cost < b->cost;
  if (a->copied != b->copied)
    return a->copied < b->copied;
  return a->host != b->host ? a->host < b->host : a->peak < b->peak;
}

const SolveAnswer *
_gantry_solve_fastest (const SolveProblem *problem, guint64 limit)
{
  const SolveAnswer *best = NULL;

  for (guint i = 0; i < problem->pool->len; i++)
    {
      const SolveAnswer *answer = g_ptr_array_index (problem->pool, i);

      if (answer->peak <= limit && answer->host <= problem->host_limit && (best == NULL || _gantry_solve_is_faster (answer, best)))
        best = answer;
    }
  return best;
}

const SolveAnswer *
_gantry_solve_smallest (const SolveProblem *problem, double us)
{
  const SolveAnswer *best = NULL;

  for (guint i = 0; i < problem->pool->len; i++)
    {
      const SolveAnswer *answer = g_ptr_array_index (problem->pool, i);

      if (answer->us <= us && answer->host <= problem->host_limit
          && (best == NULL || answer->peak < best->peak || (answer->peak == best->peak && answer->us < best->us)))
        best = answer;
    }
  return best;
}
