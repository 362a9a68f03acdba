/* SPDX-License-Identifier: Apache-2.0 */
/* Answers: placements whose plan was made, and of what they are the best; or why there is none. */
#include "core/planner/solver/solve-fit-private.h"
#include <math.h>

GantrySolution *
_gantry_solution_new (Solve *solve, const Planned *planned, gint64 begin)
{
  GantrySolution *solution = g_new0 (GantrySolution, 1);
  SolveProblem *problem = solve->problem;
  const guint64 limit = solve->goal->memory_bytes;
  double value = limit != 0 ? _gantry_solve_cost (problem, planned->figures.step_us, planned->figures.host_bytes) : (double) planned->figures.peak_bytes;

  solution->placements = _gantry_solve_placements (problem, planned->kinds, planned->schedule);
  solution->figures = planned->figures;
  _gantry_store_note_answer (problem, solution->placements, planned);
  _gantry_solve_lower_least (problem, planned);
  solution->bound = MIN (value, limit != 0 ? _gantry_store_bound (problem, limit, GANTRY_PROOF_PLACEMENTS)
                                           : (double) _gantry_store_size_bound (problem, solve->goal->step_us));
  solution->gap = value > 0 ? (value - solution->bound) / value : 0;
  if (solution->bound <= 0 && value > 0)
    solution->gap = -1;
  solution->proof = limit != 0 && value <= _gantry_store_bound (problem, limit, GANTRY_PROOF_SCHEDULES) * (1 + 1e-6) ? GANTRY_PROOF_SCHEDULES
                    : solution->gap >= 0 && solution->gap <= 1e-6                                                    ? GANTRY_PROOF_PLACEMENTS
                                                                                                                     : GANTRY_PROOF_NONE;
  if (solution->proof == GANTRY_PROOF_SCHEDULES)
    {
      solution->bound = value;
      solution->gap = 0;
    }
  solution->method = planned->method;
  solution->cut = problem->cut;
  solution->milliseconds = (double) (g_get_monotonic_time () - begin) / 1000;
  solution->n_predictions = problem->n_predictions;
  solution->limit_bytes = planned->limit;
  return solution;
}

/* No progress: what was found is wanted after cancelling too. */
gboolean
_gantry_solve_plan (const Solve *solve, const SolveAnswer *answer, guint64 limit, Planned *planned)
{
  GantryPlanner *planner = solve->problem->planner;
  g_autoptr (GantryPlacements) placements = _gantry_solve_placements (solve->problem, answer->kinds, answer->schedule);
  const guint64 limits[] = { answer->limit, limit };

  *planned = (Planned){ .kinds = answer->kinds, .schedule = answer->schedule, .method = answer->method, .bytes = G_MAXUINT64 };
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
                                       [GANTRY_SUBJECT_PARAMETER] = "parameters",
                                       [GANTRY_SUBJECT_STATE] = "optimizer states",
                                       [GANTRY_SUBJECT_INPUT] = "inputs",
                                       [GANTRY_SUBJECT_OUTPUT] = "outputs" };
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
      gboolean by_wish = (problem->allowed & 1u << GANTRY_PLACEMENT_OFFLOAD) == 0 || (entry != NULL && entry->decider == GANTRY_DECIDED_BY_CLICK);

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

/* Whether something stays on the device that could be offloaded, and the host's limit may be why. */
static gboolean
host_is_short (const SolveProblem *problem, const SolveLeast *least)
{
  for (guint i = 0; problem->host_limit != G_MAXUINT64 && i < problem->items->len; i++)
    if ((ITEM (problem, i)->allowed >> GANTRY_PLACEMENT_OFFLOAD & 1) != 0 && least->kinds[i] != GANTRY_PLACEMENT_OFFLOAD
        && least->figures.host_bytes + ITEM (problem, i)->bytes > problem->host_limit
        && _gantry_solve_could_be_gone (ITEM (problem, i), GANTRY_PLACEMENT_OFFLOAD))
      return TRUE;
  return FALSE;
}

/* Whether something could be made again, and the goal does not allow it. */
static gboolean
is_made_once (const SolveProblem *problem)
{
  const GArray *candidates = problem->planner->candidates;

  for (guint i = 0; (problem->allowed >> GANTRY_PLACEMENT_RECOMPUTE & 1) == 0 && i < candidates->len; i++)
    if ((g_array_index (candidates, GantryCandidate, i).allowed >> GANTRY_PLACEMENT_RECOMPUTE & 1) != 0)
      return TRUE;
  return FALSE;
}

/* What would lower the least: "more than 64 MiB of host memory, or a smaller batch,". (transfer full) */
static char *
remedies_of (const Solve *solve, const SolveLeast *least)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *kept = kept_by_wish (solve, least), *host = gantry_format_limit (solve->problem->host_limit);
  GString *text = g_string_new (NULL);

  if (host_is_short (solve->problem, least))
    g_ptr_array_add (list, g_strdup_printf ("more than %s of host memory for what is offloaded", host));
  if (is_made_once (solve->problem))
    g_ptr_array_add (list, g_strdup ("recomputation"));
  if (solve->problem->cut)
    g_ptr_array_add (list, g_strdup ("more time to search"));
  g_ptr_array_add (list, g_strdup ("a smaller batch"));
  if (kept != NULL)
    g_ptr_array_add (list, g_strdup_printf ("%s offloaded as well", kept));
  for (guint i = 0; i < list->len; i++)
    g_string_append_printf (text, "%s%s", i == 0 ? "" : i + 1 < list->len ? ", " : ", or ", (const char *) g_ptr_array_index (list, i));
  if (list->len > 1)
    g_string_append_c (text, ',');
  return g_string_free (text, FALSE);
}

void
_gantry_solve_refuse (const Solve *solve, const SolveLeast *least, GError **error)
{
  g_autofree char *wanted = gantry_format_limit (solve->goal->memory_bytes), *reached = NULL, *host = NULL, *remedies = NULL, *code = NULL, *exactly = NULL;

  if (least->kinds == NULL)
    {
      host = gantry_format_limit (solve->problem->host_limit);
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY,
                   "no placement was found that fits into the %s that the host has for what is offloaded; raise that limit", host);
      return;
    }
  if (least->figures.parts.bytes[GANTRY_PART_CODE] > least->bytes / 2)
    code = gantry_format_bytes (least->figures.parts.bytes[GANTRY_PART_CODE]);
  reached = gantry_memory_peak_text (least->bytes, solve->goal->memory_bytes, least->figures.sizes_known);
  exactly = gantry_format_bytes_exactly (least->bytes);
  remedies = remedies_of (solve, least);
  if (code != NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY,
                 "no placement was found that fits into %s: the least found is %s%s; %s of that are context and code, which no "
                 "placement makes smaller",
                 wanted, reached, exactly, code);
  else
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY, "no placement was found that fits into %s: the least found is %s%s; %s %s lower that", wanted,
                 reached, exactly, remedies, solve->problem->cut ? "may" : "would");
}

Planned
_gantry_solve_planned_least (const SolveLeast *least)
{
  return (Planned){ least->kinds, least->schedule, least->limit, least->bytes, least->figures, "search" };
}
