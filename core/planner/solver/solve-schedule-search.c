/* SPDX-License-Identifier: Apache-2.0 */
/* Local search over schedules and moves together: a run is shifted, added or left out, a value moved to the host or not, for as long as
 * the planner's own prediction gets better; now and then what is a little worse is taken, ever less so (threshold accepting:
 * Dueck and Scheuer, Journal of Computational Physics 90(1), 1990). The same steps each time: its seed is fixed, its effort counted. */
#include "core/planner/solver/solve-schedule-private.h"
#include <math.h>
#include <string.h>

#define SEED 20261125u
#define FAR 6            /* works that a run is shifted over at once, mostly */
#define FIRST_WORSE 0.06 /* of its time: so much worse is taken in the beginning */
#define MOST_STARTS 4u

typedef struct
{
  const ScheduleModel *model;
  GRand *random;
  guint64 limit;
  GArray *schedule, *other; /* guint32: works of the model; now, and what is tried */
  guint8 *kinds, *other_kinds;
  double cost;
  guint8 *made;       /* by work */
  GArray *movable;    /* guint: items that may be offloaded */
  GArray *repeatable; /* guint32: works */
} Search;

static guint
below (Search *search, guint n)
{
  return (guint) g_rand_int_range (search->random, 0, (gint) n);
}

/* Is everything made before it is read, and nothing overwritten before? */
static gboolean
is_valid (Search *search)
{
  const ScheduleModel *model = search->model;
  const Program *program = model->problem->planner->program;

  memset (search->made, 0, model->works->len);
  for (guint i = 0; i < search->other->len; i++)
    {
      guint32 w = g_array_index (search->other, guint32, i);
      const ScheduleWork *work = SCHEDULE_WORK (model, w);

      for (guint32 k = 0; k < work->n_reads; k++)
        {
          guint32 maker = SCHEDULE_VALUE (model, SCHEDULE_READ (model, work, k))->maker;

          if (maker != NONE && !search->made[maker])
            return FALSE;
        }
      for (guint32 k = 0; k < work->n_after; k++)
        if (!search->made[g_array_index (model->afters, guint32, work->first_after + k)])
          return FALSE;
      for (guint32 k = program->first_before[work->work]; search->made[w] && k < program->first_before[work->work + 1]; k++)
        if (search->made[model->position[program->before[k]]])
          return FALSE;
      search->made[w] = TRUE;
    }
  return TRUE;
}

static void
shift (Search *search)
{
  guint n = search->other->len, from = below (search, n), far = 1 + below (search, below (search, 4) == 0 ? n : FAR), to;
  guint32 w = g_array_index (search->other, guint32, from);

  to = g_rand_boolean (search->random) ? from + MIN (far, n - 1 - from) : from - MIN (far, from);
  g_array_remove_index (search->other, from);
  g_array_insert_val (search->other, to, w);
}

static void
add_repeat (Search *search)
{
  guint32 w;
  guint at;

  if (search->repeatable->len == 0)
    return;
  w = g_array_index (search->repeatable, guint32, below (search, search->repeatable->len));
  at = below (search, search->other->len);
  g_array_insert_val (search->other, at, w);
}

static void
remove_repeat (Search *search)
{
  guint n_repeats = 0, chosen;

  memset (search->made, 0, search->model->works->len);
  for (guint i = 0; i < search->other->len; i++)
    {
      guint32 w = g_array_index (search->other, guint32, i);

      n_repeats += search->made[w];
      search->made[w] = TRUE;
    }
  if (n_repeats == 0)
    return;
  chosen = below (search, n_repeats);
  memset (search->made, 0, search->model->works->len);
  for (guint i = 0; i < search->other->len; i++)
    {
      guint32 w = g_array_index (search->other, guint32, i);

      if (search->made[w] && chosen-- == 0)
        {
          g_array_remove_index (search->other, i);
          return;
        }
      search->made[w] = TRUE;
    }
}

static void
change_place (Search *search)
{
  guint i;

  if (search->movable->len == 0)
    return;
  i = g_array_index (search->movable, guint, below (search, search->movable->len));
  search->other_kinds[i] = search->other_kinds[i] == GANTRY_PLACEMENT_OFFLOAD ? GANTRY_PLACEMENT_KEEP : GANTRY_PLACEMENT_OFFLOAD;
}

/* What an answer costs here: its time, and more where it does not fit. */
static double
cost_of (const Search *search, const SolveAnswer *answer)
{
  double over = answer->peak > search->limit ? (double) (answer->peak - search->limit) / (double) search->limit : 0;
  double host = answer->host > search->model->problem->host_limit ? 1 : 0;

  return answer->cost * (1 + host + (over > 0 ? 0.05 + 4 * over : 0));
}

static void
try_one (Search *search, double worse)
{
  const ScheduleModel *model = search->model;
  guint what = below (search, 100);
  const SolveAnswer *answer;
  double cost;

  g_array_set_size (search->other, 0);
  g_array_append_vals (search->other, search->schedule->data, search->schedule->len);
  memcpy (search->other_kinds, search->kinds, model->problem->items->len + 1);
  if (what < 45)
    shift (search);
  else if (what < 65)
    change_place (search);
  else if (what < 85)
    add_repeat (search);
  else
    remove_repeat (search);
  if (!is_valid (search))
    return;
  _gantry_schedule_leave_out_unread (model, search->other, search->other_kinds);
  if (search->other->len == search->schedule->len && memcmp (search->other_kinds, search->kinds, model->problem->items->len) == 0
      && memcmp (search->other->data, search->schedule->data, search->other->len * sizeof (guint32)) == 0)
    return;
  answer = _gantry_schedule_evaluate (model, search->other_kinds, (const guint32 *) (gpointer) search->other->data, search->other->len);
  cost = cost_of (search, answer);
  if (cost > search->cost * (1 + worse))
    return;
  search->cost = cost;
  g_array_set_size (search->schedule, 0);
  g_array_append_vals (search->schedule, search->other->data, search->other->len);
  memcpy (search->kinds, search->other_kinds, model->problem->items->len + 1);
}

/* The answer as the planner runs it: its line of works, and what it keeps in the host. */
static void
start_from (Search *search, const SolveAnswer *answer)
{
  const ScheduleModel *model = search->model;
  SolveProblem *problem = model->problem;
  GantryPlanner *planner = problem->planner;
  g_autoptr (GantryPlacements) placements = _gantry_solve_placements (problem, answer->kinds, answer->schedule);

  _gantry_planner_evaluate (planner, placements, answer->limit, problem->prediction);
  g_array_set_size (search->schedule, 0);
  for (guint32 i = 0; i < planner->line->len; i++)
    if (RUN (planner, i)->work != NONE)
      g_array_append_val (search->schedule, model->position[RUN (planner, i)->work]);
  for (guint i = 0; i < problem->items->len; i++)
    search->kinds[i] = answer->kinds[i] != GANTRY_PLACEMENT_RECOMPUTE ? answer->kinds[i] : GANTRY_PLACEMENT_KEEP;
  search->cost = cost_of (search, answer);
}

/* The best answers of the pool, none with the places of another one. */
static GPtrArray *
choose_starts (const Search *search)
{
  const GPtrArray *pool = search->model->problem->pool;
  GPtrArray *starts = g_ptr_array_new ();

  while (starts->len < MOST_STARTS)
    {
      const SolveAnswer *best = NULL;

      for (guint i = 0; i < pool->len; i++)
        {
          const SolveAnswer *answer = g_ptr_array_index (pool, i);
          gboolean known = FALSE;

          for (guint s = 0; s < starts->len && !known; s++)
            known = memcmp (((const SolveAnswer *) starts->pdata[s])->kinds, answer->kinds, search->model->problem->items->len) == 0;
          if (!known && (best == NULL || cost_of (search, answer) < cost_of (search, best)))
            best = answer;
        }
      if (best == NULL)
        break;
      g_ptr_array_add (starts, (gpointer) best);
    }
  return starts;
}

static void
find_moves (Search *search)
{
  const ScheduleModel *model = search->model;

  for (guint i = 0; i < model->problem->items->len; i++)
    if ((ITEM (model->problem, i)->allowed >> GANTRY_PLACEMENT_OFFLOAD & 1) != 0)
      g_array_append_val (search->movable, i);
  for (guint32 w = 0; w < model->works->len; w++)
    if (SCHEDULE_WORK (model, w)->repeats)
      g_array_append_val (search->repeatable, w);
}

void
_gantry_schedule_search (const ScheduleModel *model, guint64 limit, guint n_tries)
{
  guint n_items = model->problem->items->len + 1;
  g_autoptr (GRand) random = g_rand_new_with_seed (SEED);
  g_autoptr (GArray) schedule = g_array_new (FALSE, FALSE, sizeof (guint32)), other = g_array_new (FALSE, FALSE, sizeof (guint32)),
                     movable = g_array_new (FALSE, FALSE, sizeof (guint)), repeatable = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree guint8 *kinds = g_new0 (guint8, 2 * n_items), *made = g_new0 (guint8, model->works->len + 1);
  Search search = { .model = model,
                    .random = random,
                    .limit = limit,
                    .schedule = schedule,
                    .other = other,
                    .kinds = kinds,
                    .other_kinds = kinds + n_items,
                    .made = made,
                    .movable = movable,
                    .repeatable = repeatable };
  g_autoptr (GPtrArray) starts = choose_starts (&search);

  find_moves (&search);
  for (guint s = 0; s < starts->len; s++)
    {
      start_from (&search, g_ptr_array_index (starts, s));
      for (guint n = 0; n < n_tries && !_gantry_solve_is_over (model->problem); n++)
        try_one (&search, FIRST_WORSE * (1 - (double) n / n_tries));
    }
}
