/* SPDX-License-Identifier: Apache-2.0 */
/* From a goal to an answer: every combination where there are few, else the integer program, its answer as the
 * planner predicts it, and the search around it. The bound is the integer program's. */
#include "core/memory/solve-schedule-private.h"
#include <math.h>
#include <string.h>

#define MOST_ENUMERATED 6000u
#define MOST_FOR_PROGRAM 4000u /* values: above, the program itself takes too long */
#define MOST_FOR_MOVES 400u
#define MOST_WORK 400000u      /* works times changes of a schedule that are tried */
#define SECONDS 4.0            /* where the goal names none */
#define MOST_PLANNED 8u        /* answers that are planned until one fits as planned, too */
#define TRIES 5                /* of the integer program with a lower limit, when the planner needs more than it thinks */

const char *
gantry_proof_text (GantryProof proof)
{
  static const char *const texts[] = { [GANTRY_PROOF_NONE] = NULL,
                                       [GANTRY_PROOF_PLACEMENTS] = "the best of all placements in this order",
                                       [GANTRY_PROOF_SCHEDULES] = "the best of all schedules" };

  return texts[proof];
}

void
gantry_solution_free (GantrySolution *solution)
{
  if (solution == NULL)
    return;
  g_clear_pointer (&solution->placements, gantry_placements_unref);
  g_free (solution);
}

/* Answers of earlier goals, as placements: they begin the pool of the next. */

/* Works of a schedule. (transfer full) (nullable): it has none */
static GBytes *
schedule_of (const SolveProblem *problem, const GantryPlacements *placements)
{
  const Program *program = problem->planner->program;
  const GArray *nodes = placements->schedule;
  guint32 *works = nodes != NULL ? g_new (guint32, nodes->len + 1) : NULL;

  for (guint i = 0; nodes != NULL && i < nodes->len; i++)
    {
      const GantryNode *node = gantry_module_node (program->module, g_array_index (nodes, guint32, i));

      works[i] = problem->planner->work_at[gantry_module_position (program->module, node) - program->function->first_node];
    }
  return nodes != NULL ? g_bytes_new_take (works, nodes->len * sizeof *works) : NULL;
}

static void
take_earlier (SolveProblem *problem)
{
  GPtrArray *earlier = problem->planner->solved;
  g_autofree guint8 *kinds = g_new0 (guint8, problem->items->len + 1);
  guint64 limit = problem->limit;

  for (guint s = 0; earlier != NULL && s < earlier->len; s++)
    {
      const SolveEarlier *before = g_ptr_array_index (earlier, s);
      g_autoptr (GBytes) schedule = NULL;
      gboolean fits = TRUE;

      for (guint i = 0; i < problem->items->len; i++)
        {
          const SolveItem *item = ITEM (problem, i);

          kinds[i] = (guint8) gantry_placements_kind (before->placements, item->node);
          fits = fits && (item->allowed >> kinds[i] & 1) != 0;
        }
      schedule = schedule_of (problem, before->placements);
      if (!fits || (schedule != NULL && (problem->allowed >> GANTRY_PLACEMENT_RECOMPUTE & 1) == 0))
        continue;
      /* As it was answered then, and as it would be for this goal. */
      problem->limit = before->limit;
      _gantry_solve_ask_schedule (problem, kinds, schedule);
      problem->limit = limit;
      _gantry_solve_ask_schedule (problem, kinds, schedule);
    }
}

static void
earlier_free (gpointer data)
{
  gantry_placements_unref (((SolveEarlier *) data)->placements);
  g_free (data);
}

static void
remember (SolveProblem *problem, GantryPlacements *placements, guint64 limit)
{
  GPtrArray **earlier = &problem->planner->solved;
  SolveEarlier *entry;

  if (*earlier == NULL)
    *earlier = g_ptr_array_new_with_free_func (earlier_free);
  for (guint s = 0; s < (*earlier)->len; s++)
    {
      entry = g_ptr_array_index (*earlier, s);
      if (entry->limit == limit && gantry_placements_equal (entry->placements, placements))
        return;
    }
  entry = g_new0 (SolveEarlier, 1);
  entry->placements = gantry_placements_ref (placements);
  entry->limit = limit;
  g_ptr_array_add (*earlier, entry);
}

/* Fit into */

typedef struct
{
  SolveProblem *problem;
  const GantrySolveGoal *goal;
  const SolveAnswer *told;
  double bound;    /* of all placements */
  double least_us; /* of all schedules: the work alone, or what the exact search found; INFINITY: none fits */
  const char *method;
} Solve;

static void
tell (Solve *solve, const SolveAnswer *answer)
{
  g_autoptr (GantryPlacements) placements = NULL;

  if (answer == NULL || answer == solve->told || solve->goal->better == NULL)
    return;
  solve->told = answer;
  placements = _gantry_solve_placements (solve->problem, answer->kinds, answer->schedule);
  _gantry_planner_ask (solve->problem->planner, placements, answer->limit, solve->problem->prediction);
  solve->goal->better (placements, solve->problem->prediction, solve->bound, solve->goal->user_data);
}

static double
seconds_left (const SolveProblem *problem)
{
  return problem->deadline == 0 ? 3600 : (double) (problem->deadline - g_get_monotonic_time ()) / G_USEC_PER_SEC;
}

/* The search for a part of the time that is left. */
static void
search_for (Solve *solve, const guint8 *kinds, guint64 limit, double part)
{
  gint64 end = solve->problem->deadline;

  if (end != 0)
    solve->problem->deadline = g_get_monotonic_time () + (gint64) ((double) (end - g_get_monotonic_time ()) * part);
  if (!_gantry_solve_is_over (solve->problem))
    _gantry_solve_search (solve->problem, kinds, limit);
  solve->problem->deadline = end;
}

/* The integer program for @limit, and again for less while the planner's prediction says more than @limit. */
static void
solve_program (Solve *solve, guint64 limit, gboolean moves)
{
  SolveProblem *problem = solve->problem;
  gboolean exact = solve->goal->method == GANTRY_SOLVE_EXACT;
  double gap = exact ? 1e-7 : problem->items->len <= 60 ? 1e-5 : 1e-3;
  guint64 aim = limit;

  for (guint n = 0; n < TRIES && !_gantry_solve_is_over (problem); n++)
    {
      SolveRelaxed relaxed;
      const SolveAnswer *answer = NULL;
      double seconds = seconds_left (problem) * (exact ? 0.9 : 0.25);
      gboolean found = moves ? _gantry_solve_autotm (problem, aim, seconds, &relaxed)
                             : _gantry_solve_program (problem, aim, gap, seconds, &relaxed);

      if (n == 0)
        solve->bound = MAX (solve->bound, relaxed.bound);
      if (found)
        answer = _gantry_solve_ask (problem, relaxed.kinds);
      if (found && n == 0)
        search_for (solve, relaxed.kinds, limit, 0.25);
      _gantry_solve_relaxed_clear (&relaxed);
      tell (solve, _gantry_solve_fastest (problem, limit));
      if (answer == NULL || answer->peak <= limit || answer->peak - limit >= aim)
        break;
      aim -= answer->peak - limit;
    }
}

/* Only the integer programs alone know no schedules. */
static gboolean
finds_schedules (const Solve *solve)
{
  return solve->goal->method == GANTRY_SOLVE_AUTO || solve->goal->method == GANTRY_SOLVE_SEARCH;
}

/* Schedules into the pool. Returns: TRUE where nothing can be better: it was the best of all, and nothing could be offloaded */
static gboolean
fit_schedules (Solve *solve, guint64 limit)
{
  SolveProblem *problem = solve->problem;
  double us = INFINITY;
  ScheduleOutcome outcome = _gantry_solve_schedules (problem, limit, &us);
  const SolveAnswer *best = _gantry_solve_fastest (problem, limit);
  gboolean all = outcome != SCHEDULE_GIVEN_UP && (problem->allowed >> GANTRY_PLACEMENT_OFFLOAD & 1) == 0;

  /* The planner found room where the search's model has none: then the model proves nothing. */
  if (outcome == SCHEDULE_NONE && best != NULL)
    all = FALSE;
  if (all)
    {
      solve->least_us = us;
      solve->method = "every schedule";
    }
  if (all || (best != NULL && best->us <= problem->base_us * (1 + 1e-9)))
    tell (solve, best);
  return all && (best == NULL) == (outcome == SCHEDULE_NONE);
}

/* The search over schedules and moves together, where nothing is known to be the best. */
static void
improve_schedules (Solve *solve, guint64 limit)
{
  SolveProblem *problem = solve->problem;
  const SolveAnswer *best = _gantry_solve_fastest (problem, limit);
  g_autoptr (ScheduleModel) model = NULL;

  if (!finds_schedules (solve) || (best != NULL && best->us <= solve->least_us * (1 + 1e-9)) || _gantry_solve_is_over (problem))
    return;
  model = _gantry_schedule_model_new (problem);
  _gantry_schedule_search (model, limit, CLAMP (MOST_WORK / (problem->n_steps + 1), 100, 4000));
}

/* The fastest answer of the pool that the items allow as they are now; where none fits, the smallest. */
static const SolveAnswer *
best_allowed (const SolveProblem *problem, guint64 limit)
{
  const SolveAnswer *best = NULL;

  for (guint a = 0; a < problem->pool->len; a++)
    {
      const SolveAnswer *answer = g_ptr_array_index (problem->pool, a);
      gboolean allowed = answer->schedule == NULL;

      for (guint i = 0; i < problem->items->len && allowed; i++)
        allowed = (ITEM (problem, i)->allowed >> answer->kinds[i] & 1) != 0;
      if (!allowed || answer->host > problem->host_limit)
        continue;
      if (best == NULL || (answer->peak <= limit && (best->peak > limit || _gantry_solve_is_faster (answer, best)))
          || (answer->peak < best->peak && best->peak > limit))
        best = answer;
    }
  return best;
}

/* Schedules of a program that is too large for all of them, for a part of the time that is left. */
static void
evict_for (Solve *solve, guint64 limit, double part)
{
  gint64 end = solve->problem->deadline;
  double us;

  if (end != 0)
    solve->problem->deadline = g_get_monotonic_time () + (gint64) ((double) (end - g_get_monotonic_time ()) * part);
  if (!_gantry_solve_is_over (solve->problem))
    _gantry_solve_schedules (solve->problem, limit, &us);
  solve->problem->deadline = end;
}

/* What the search finds with fewer kinds of placement is an answer with all of them, and it may be one that the wider search passes
 * by. The bound is not that of all placements, and is not taken. */
static void
fit_restricted (Solve *solve, guint64 limit, GantryPlacementKind kind)
{
  SolveProblem *problem = solve->problem;
  g_autofree guint8 *allowed = g_new (guint8, problem->items->len + 1);
  const SolveAnswer *best;
  SolveRelaxed relaxed = { 0 };
  gboolean any = FALSE;

  for (guint i = 0; i < problem->items->len; i++)
    {
      allowed[i] = ITEM (problem, i)->allowed;
      ITEM (problem, i)->allowed &= (guint8) (1u << GANTRY_PLACEMENT_KEEP | 1u << kind);
      any |= ITEM (problem, i)->allowed != allowed[i];
    }
  if (any)
    {
      _gantry_solve_try_known (problem);
      if (problem->items->len <= MOST_FOR_PROGRAM
          && _gantry_solve_program (problem, limit, 1e-3, seconds_left (problem) * 0.2, &relaxed))
        _gantry_solve_ask (problem, relaxed.kinds);
      _gantry_solve_relaxed_clear (&relaxed);
      best = best_allowed (problem, limit);
      if (best != NULL)
        search_for (solve, best->kinds, limit, 0.3);
    }
  for (guint i = 0; i < problem->items->len; i++)
    ITEM (problem, i)->allowed = allowed[i];
}

/* Nothing can be faster than the work alone. */
static gboolean
is_best (const Solve *solve, guint64 limit)
{
  const SolveAnswer *best = _gantry_solve_fastest (solve->problem, limit);

  return best != NULL && best->us <= solve->problem->base_us * (1 + 1e-9);
}

/* Answers with a peak of at most @limit into the pool; the bound of their time. */
static void
fit (Solve *solve, guint64 limit)
{
  SolveProblem *problem = solve->problem;
  const SolveAnswer *best;
  double of_placements;

  problem->limit = limit;
  solve->bound = solve->least_us = problem->base_us;
  take_earlier (problem);
  if (finds_schedules (solve) && problem->n_steps <= SCHEDULE_MOST_EXACT && fit_schedules (solve, limit))
    return;
  if (solve->goal->method == GANTRY_SOLVE_AUTO && _gantry_solve_enumerate (problem, MOST_ENUMERATED))
    {
      best = _gantry_solve_fastest (problem, limit);
      of_placements = best != NULL && best->schedule == NULL ? best->us : problem->base_us;
      improve_schedules (solve, limit);
      best = _gantry_solve_fastest (problem, limit);
      solve->method = best != NULL && best->schedule != NULL ? "search" : "every combination";
      solve->bound = of_placements;
      tell (solve, best);
      return;
    }
  _gantry_solve_try_known (problem);
  tell (solve, _gantry_solve_fastest (problem, limit));
  if (solve->goal->method != GANTRY_SOLVE_SEARCH && problem->items->len <= MOST_FOR_PROGRAM)
    {
      solve->method = solve->goal->method == GANTRY_SOLVE_AUTOTM ? "AutoTM" : "integer program";
      solve_program (solve, limit, solve->goal->method == GANTRY_SOLVE_AUTOTM);
      /* Where copies wait, the program with moves knows the link better. */
      if (solve->goal->method == GANTRY_SOLVE_AUTO && !_gantry_solve_is_over (problem)
          && problem->items->len <= MOST_FOR_MOVES && !is_best (solve, limit))
        solve_program (solve, limit, TRUE);
    }
  if (finds_schedules (solve) && problem->n_steps > SCHEDULE_MOST_EXACT && !is_best (solve, limit))
    evict_for (solve, limit, 0.3);
  for (guint kind = GANTRY_PLACEMENT_RECOMPUTE; kind < GANTRY_N_PLACEMENTS; kind++)
    if (solve->goal->method == GANTRY_SOLVE_AUTO && !is_best (solve, limit) && !_gantry_solve_is_over (problem))
      fit_restricted (solve, limit, (GantryPlacementKind) kind);
  best = _gantry_solve_fastest (problem, limit);
  if (best == NULL)
    best = _gantry_solve_smallest (problem, INFINITY);
  if (best != NULL && !_gantry_solve_is_over (problem))
    _gantry_solve_search (problem, best->kinds, limit);
  improve_schedules (solve, limit);
  tell (solve, _gantry_solve_fastest (problem, limit));
}

/* "At most @us, smallest": the limit is halved in until the fastest answer for it is too slow. */
static void
shrink (Solve *solve)
{
  SolveProblem *problem = solve->problem;
  guint64 low = 0, high = problem->base_peak;
  double us = solve->goal->step_us;
  gint64 end = problem->deadline;

  for (guint n = 0; n < 10 && !_gantry_solve_is_over (problem) && high - low > high / 500; n++)
    {
      guint64 middle = low + (high - low) / 2;
      const SolveAnswer *best;

      if (end != 0)
        problem->deadline = g_get_monotonic_time () + (end - g_get_monotonic_time ()) / 4;
      fit (solve, middle);
      problem->deadline = end;
      best = _gantry_solve_smallest (problem, us);
      if (solve->bound > us)
        low = middle; /* no placement can */
      if (best != NULL && best->peak <= middle)
        high = best->peak;
      else
        low = middle;
    }
  solve->bound = (double) low;
}

/* What becomes an answer: placements whose plan was made. */
typedef struct
{
  const guint8 *kinds;
  GBytes *schedule;       /* (nullable) */
  guint64 limit, bytes; /* its plan is made within this, 0: none; and takes this */
  GantryPlanFigures figures;
} Planned;

static GantrySolution *
solution_new (Solve *solve, const Planned *planned, gint64 begin)
{
  GantrySolution *solution = g_new0 (GantrySolution, 1);
  double value = solve->goal->memory_bytes != 0 ? planned->figures.step_us : (double) planned->figures.peak_bytes;

  solution->placements = _gantry_solve_placements (solve->problem, planned->kinds, planned->schedule);
  solution->figures = planned->figures;
  solution->bound = MIN (solve->bound, value);
  solution->gap = value > 0 ? (value - solution->bound) / value : 0;
  solution->proof = solve->goal->memory_bytes != 0 && value <= solve->least_us * (1 + 1e-6) ? GANTRY_PROOF_SCHEDULES
                    : solution->gap <= 1e-6                                               ? GANTRY_PROOF_PLACEMENTS
                                                                                          : GANTRY_PROOF_NONE;
  if (solution->proof == GANTRY_PROOF_SCHEDULES)
    {
      solution->bound = value;
      solution->gap = 0;
    }
  solution->method = planned->schedule != NULL && solution->proof != GANTRY_PROOF_SCHEDULES ? "schedule search" : solve->method;
  solution->milliseconds = (double) (g_get_monotonic_time () - begin) / 1000;
  solution->n_predictions = solve->problem->n_predictions;
  solution->limit_bytes = planned->limit;
  remember (solve->problem, solution->placements, planned->limit);
  return solution;
}

/* The plan of @answer, as it was predicted, else squeezed further; a packing may stand higher than what is alive, and only what was
 * planned fits. @limit: 0: none. Returns: FALSE where it does not fit: what it needs in @planned. No progress: what was found is
 * wanted after cancelling too. */
static gboolean
plan_answer (const Solve *solve, const SolveAnswer *answer, guint64 limit, Planned *planned)
{
  GantryPlanner *planner = solve->problem->planner;
  g_autoptr (GantryPlacements) placements = _gantry_solve_placements (solve->problem, answer->kinds, answer->schedule);
  const guint64 limits[] = { answer->limit, limit };

  *planned = (Planned){ .kinds = answer->kinds, .schedule = answer->schedule, .bytes = G_MAXUINT64 };
  for (guint i = 0; i < (limit != 0 && limit != answer->limit ? 2 : 1); i++)
    {
      GantryMemoryParts need = { { 0 } };
      g_autoptr (GantryPlan) plan = _gantry_planner_plan_within (planner, placements, limits[i], &need, NULL);
      guint64 bytes = plan != NULL ? gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE) : gantry_memory_parts_total (&need);

      g_clear_pointer (&planner->refused, gantry_plan_unref);
      planned->bytes = MIN (planned->bytes, bytes);
      if (plan == NULL || (limit != 0 && bytes > limit) || gantry_plan_host_bytes (plan) > solve->problem->host_limit)
        continue;
      planned->limit = limits[i];
      gantry_plan_figures (plan, &planned->figures);
      return TRUE;
    }
  return FALSE;
}

/* What stays on the device only because the goal or a click says so: "parameters and inputs". (transfer full) (nullable): nothing */
static char *
kept_by_wish (const Solve *solve, const SolveLeast *least)
{
  static const char *const names[] = { [GANTRY_SUBJECT_RESIDUAL] = "values saved for the backward phase",
                                       [GANTRY_SUBJECT_PARAMETER] = "parameters", [GANTRY_SUBJECT_STATE] = "optimizer states",
                                       [GANTRY_SUBJECT_INPUT] = "inputs", [GANTRY_SUBJECT_OUTPUT] = "outputs" };
  const SolveProblem *problem = solve->problem;
  const GArray *candidates = problem->planner->candidates;
  g_autoptr (GantryPlacements) placements = _gantry_solve_placements (problem, least->kinds, least->schedule);
  gboolean kept[G_N_ELEMENTS (names)] = { FALSE };
  GString *text = g_string_new (NULL);
  guint n = 0;

  for (guint i = 0; i < candidates->len; i++)
    {
      const GantryCandidate *candidate = &g_array_index (candidates, GantryCandidate, i);
      const GantryPlacement *entry = gantry_placements_find (placements, candidate->node);
      gboolean by_wish = (problem->allowed & 1u << GANTRY_PLACEMENT_OFFLOAD) == 0
                         || (entry != NULL && entry->decider == GANTRY_DECIDED_BY_CLICK);

      if ((candidate->allowed & 1u << GANTRY_PLACEMENT_OFFLOAD) != 0 && candidate->subject < G_N_ELEMENTS (names)
          && (entry == NULL || entry->kind != GANTRY_PLACEMENT_OFFLOAD))
        kept[candidate->subject] |= by_wish;
    }
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    n += kept[i];
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (kept[i])
      {
        g_string_append_printf (text, "%s%s", text->len == 0 ? "" : n == 1 ? " and " : ", ", names[i]);
        n--;
      }
  return g_string_free (text, text->len == 0);
}

static void
refuse_memory (const Solve *solve, const SolveLeast *least, GError **error)
{
  g_autofree char *wanted = gantry_format_limit (solve->goal->memory_bytes), *reached = NULL, *host = NULL, *kept = NULL;

  if (least->kinds == NULL)
    {
      host = gantry_format_limit (solve->problem->host_limit);
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY,
                   "no placement was found that fits into the %s that the host has for what is offloaded; raise that limit", host);
      return;
    }
  reached = gantry_memory_peak_text (least->bytes, solve->goal->memory_bytes, least->figures.sizes_known);
  kept = kept_by_wish (solve, least);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY,
               "no placement was found that fits into %s: the least that could be reached is %s (%" G_GUINT64_FORMAT " bytes); "
               "a smaller batch%s%s%s would lower that", wanted, reached, least->bytes, kept != NULL ? ", or " : "",
               kept != NULL ? kept : "", kept != NULL ? " offloaded as well," : "");
}

static Planned
planned_least (const SolveLeast *least)
{
  return (Planned){ least->kinds, least->schedule, least->limit, least->bytes, least->figures };
}

/* "Fit into": refused where the least does not fit, and only there. */
static GantrySolution *
solve_memory (Solve *solve, guint64 limit, gint64 begin, GError **error)
{
  SolveProblem *problem = solve->problem;
  const SolveLeast *least = NULL;
  Planned planned;

  problem->limit = limit;
  _gantry_solve_try_known (problem);
  if (_gantry_solve_fastest (problem, limit) == NULL)
    {
      gint64 asked = g_get_monotonic_time ();

      least = _gantry_solve_least (problem);
      problem->deadline += g_get_monotonic_time () - asked;
    }
  if (least == NULL || least->bytes <= limit)
    fit (solve, limit);
  for (guint n = 0; n < MOST_PLANNED; n++)
    {
      const SolveAnswer *answer = least == NULL || least->bytes <= limit ? _gantry_solve_fastest (problem, limit) : NULL;

      if (answer == NULL)
        break;
      if (plan_answer (solve, answer, limit, &planned))
        return solution_new (solve, &planned, begin);
      ((SolveAnswer *) answer)->peak = MAX (planned.bytes, limit + 1); /* the pool is the problem's own */
    }
  if (least == NULL)
    least = _gantry_solve_least (problem);
  if (least == NULL)
    {
      gantry_progress_cancelled (problem->progress, error);
      return NULL;
    }
  if (least->kinds == NULL || least->bytes > limit)
    {
      refuse_memory (solve, least, error);
      return NULL;
    }
  planned = planned_least (least);
  return solution_new (solve, &planned, begin);
}

static GantrySolution *
solve_time (Solve *solve, gint64 begin, GError **error)
{
  const SolveAnswer *answer;
  Planned planned;

  shrink (solve);
  /* What was found for a limit may have no plan, or none in time: then the next smallest, at last that which keeps all. */
  for (guint n = 0; n <= solve->problem->pool->len; n++)
    {
      answer = _gantry_solve_smallest (solve->problem, solve->goal->step_us);
      if (answer == NULL)
        break;
      if (plan_answer (solve, answer, 0, &planned) && planned.figures.step_us <= solve->goal->step_us * (1 + 1e-6))
        return solution_new (solve, &planned, begin);
      ((SolveAnswer *) answer)->us = INFINITY; /* the pool is the problem's own */
    }
  if (!gantry_progress_cancelled (solve->problem->progress, error))
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY, "no placement takes at most %.3f ms: the work alone takes %.3f ms",
                 solve->goal->step_us / 1000, solve->problem->base_us / 1000);
  return NULL;
}

GantrySolution *
gantry_solve (GantryPlanner *planner, const GantrySolveGoal *goal, const GantryPlacements *base,
              const GantryProgress *progress, GError **error)
{
  gint64 begin = g_get_monotonic_time ();
  g_autoptr (SolveProblem) problem = NULL;
  Solve solve = { .goal = goal, .method = "search" };

  if ((goal->memory_bytes != 0) == (goal->step_us > 0))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                   "say what to search for: placements that fit into at least one byte, or that take a time above 0, not both");
      return NULL;
    }
  solve.problem = problem = _gantry_solve_problem_new (planner, base,
                                                       (goal->allowed != 0 ? goal->allowed : 7u)
                                                         & (goal->method == GANTRY_SOLVE_AUTOTM ? ~2u : ~0u), progress);
  solve.least_us = problem->base_us;
  problem->deadline = begin + (gint64) ((goal->seconds > 0 ? goal->seconds : SECONDS) * G_USEC_PER_SEC);
  return goal->memory_bytes != 0 ? solve_memory (&solve, goal->memory_bytes, begin, error) : solve_time (&solve, begin, error);
}

/* The front */

static int
compare_peak (gconstpointer a, gconstpointer b)
{
  const GantrySolution *x = *(GantrySolution *const *) a, *y = *(GantrySolution *const *) b;

  return x->figures.peak_bytes > y->figures.peak_bytes ? -1 : x->figures.peak_bytes < y->figures.peak_bytes;
}

/* What another point beats in both is left out. */
static GPtrArray *
keep_front (GPtrArray *points)
{
  GPtrArray *front = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_solution_free);

  g_ptr_array_sort (points, compare_peak);
  for (guint i = 0; i < points->len; i++)
    {
      GantrySolution *point = g_ptr_array_index (points, i);
      gboolean dominated = FALSE;

      for (guint j = 0; j < points->len && !dominated; j++)
        {
          const GantrySolution *other = g_ptr_array_index (points, j);

          if (j == i || other == NULL)
            continue;
          dominated = other->figures.peak_bytes <= point->figures.peak_bytes && other->figures.step_us <= point->figures.step_us
                      && (other->figures.peak_bytes < point->figures.peak_bytes || other->figures.step_us < point->figures.step_us || j < i);
        }
      if (!dominated)
        g_ptr_array_add (front, g_memdup2 (point, sizeof *point));
      if (!dominated)
        gantry_placements_ref (point->placements);
    }
  return front;
}

GPtrArray *
gantry_solve_front (GantryPlanner *planner, guint n_points, const GantryPlacements *base, double seconds,
                    const GantryProgress *progress, GError **error)
{
  g_autoptr (GPtrArray) points = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_solution_free);
  g_autoptr (SolveProblem) problem = _gantry_solve_problem_new (planner, base, 7u, progress);
  Solve solve = { .problem = problem, .goal = &(GantrySolveGoal) { .memory_bytes = 1 }, .method = "search",
                  .least_us = problem->base_us };
  const SolveLeast *least = _gantry_solve_least (problem);
  guint64 low, high = problem->base_peak;
  Planned planned;

  n_points = MAX (n_points, 2);
  if (gantry_progress_cancelled (progress, error) || least == NULL)
    return NULL;
  if (least->kinds == NULL)
    {
      refuse_memory (&solve, least, error);
      return NULL;
    }
  low = least->bytes;
  solve.bound = problem->base_us;
  planned = planned_least (least);
  g_ptr_array_add (points, solution_new (&solve, &planned, g_get_monotonic_time ()));
  /* From the smallest up: what fits into less is known when more is asked for. */
  for (guint k = 0; k < n_points; k++)
    {
      GantrySolveGoal goal = { .memory_bytes = low
                                               + (guint64) ((double) (high - low) * k / (n_points - 1)),
                               .seconds = MAX (seconds, 0.1) / n_points };
      GantrySolution *point = gantry_solve (planner, &goal, base, progress, NULL);

      if (gantry_progress_cancelled (progress, error))
        return NULL;
      gantry_progress_report (progress, (double) (k + 1) / n_points, "finding the front");
      if (point != NULL)
        g_ptr_array_add (points, point);
    }
  return keep_front (points);
}
