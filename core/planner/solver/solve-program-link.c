/* SPDX-License-Identifier: Apache-2.0 */
/* What the link asks of an integer program: copies in one direction follow each other, so that of those that can only run within a
 * window of the step what is longer than the window is waited for. Windows are added as they are violated: energetic reasoning of
 * cumulative scheduling (Baptiste, Le Pape and Nuijten, Constraint-Based Scheduling, 2001), for one machine. */
#include "core/planner/solver/solve-program-private.h"
#include <stdlib.h>

#define MOST_A_ROUND 4u

/* One copy of an item that is offloaded: no earlier than its value is there, no later than it is needed, were nothing waited for. */
typedef struct
{
  guint item;
  double us, earliest, deadline;
  gboolean to_host;
} Job;

typedef struct
{
  double from, to;
  double excess;
  gboolean to_host;
} Window;

struct _Link
{
  GArray *jobs;    /* Job, by deadline */
  GArray *windows; /* Window */
};

static int
compare_jobs (gconstpointer a, gconstpointer b)
{
  const Job *x = a, *y = b;

  return x->deadline != y->deadline ? (x->deadline < y->deadline ? -1 : 1) : (x->item > y->item) - (x->item < y->item);
}

/* By base step, and at the end: when its work begins, were nothing waited for or made again. */
static double *
find_starts (const SolveProblem *problem)
{
  const GantryPlanner *planner = problem->planner;
  double *start_us = g_new0 (double, problem->n_steps + 1);

  for (guint32 s = 0; s < problem->n_steps; s++)
    start_us[s + 1] = start_us[s] + planner->cost_us[planner->order[s]];
  return start_us;
}

/* What the caller gives is fetched before its first use, in one piece where no slices of it are read. */
static void
add_argument (GArray *jobs, const SolveProblem *problem, guint i, const double *start_us, double late)
{
  const SolveItem *item = ITEM (problem, i);
  const SolveGap *gap = SOLVE_GAP (problem, item->first_gap);
  guint32 first = gap->from == 0 ? gap->to + 1 : 0;

  if (first < problem->n_steps)
    g_array_append_val (jobs, ((Job){ i, item->copy_us, 0, start_us[first] + late, FALSE }));
}

/* A residual leaves once it is made, and is back before its first use of a later phase. */
static void
add_residual (GArray *jobs, const SolveProblem *problem, guint i, double made, const double *start_us, double late)
{
  const SolveItem *item = ITEM (problem, i);
  double needed = start_us[item->first_backward] + late;

  g_array_append_val (jobs, ((Job){ i, item->copy_us, made, needed - item->copy_us, TRUE }));
  g_array_append_val (jobs, ((Job){ i, item->copy_us, made + item->copy_us, needed, FALSE }));
}

static void
add_jobs (GArray *jobs, const SolveProblem *problem)
{
  const GantryPlanner *planner = problem->planner;
  const Program *program = planner->program;
  g_autofree double *start_us = find_starts (problem), *made = g_new0 (double, program->works->len + 1);
  g_autofree guint8 *sliced = g_new0 (guint8, program->values->len + 1);
  /* What clicks have made again may come before anything. */
  double late = MAX (problem->base_us - start_us[problem->n_steps], 0);

  for (guint32 s = 0; s < problem->n_steps; s++)
    made[planner->order[s]] = start_us[s + 1];
  for (guint32 v = 0; v < program->values->len; v++)
    if (VALUE (program, v)->unit != VALUE (program, v)->root)
      sliced[VALUE (program, v)->root] = TRUE;
  for (guint i = 0; i < problem->items->len; i++)
    {
      const SolveItem *item = ITEM (problem, i);

      if ((item->allowed >> GANTRY_PLACEMENT_OFFLOAD & 1) == 0 || sliced[item->root] || planner->stack_of_slices[item->root] || item->n_gaps == 0)
        continue;
      if (item->maker == NONE)
        add_argument (jobs, problem, i, start_us, late);
      else if (item->first_backward != NONE)
        add_residual (jobs, problem, i, made[item->maker], start_us, late);
      else
        g_array_append_val (jobs, ((Job){ i, item->copy_us, made[item->maker], start_us[problem->n_steps] + late, TRUE }));
    }
  g_array_sort (jobs, compare_jobs);
}

Link *
_gantry_link_new (const SolveProblem *problem)
{
  Link *link = g_new0 (Link, 1);

  link->jobs = g_array_new (FALSE, FALSE, sizeof (Job));
  link->windows = g_array_new (FALSE, FALSE, sizeof (Window));
  add_jobs (link->jobs, problem);
  return link;
}

void
_gantry_link_free (Link *link)
{
  g_array_unref (link->jobs);
  g_array_unref (link->windows);
  g_free (link);
}

static double
value_of (const Integer *program, int column)
{
  return column == NO_COLUMN ? 0 : program->value[column];
}

/* What the answer lets every window be longer by. */
static double
allowance (const Integer *program)
{
  const SolveProblem *problem = program->problem;
  double us = value_of (program, program->stall);

  for (guint32 w = 0; w < problem->planner->program->works->len; w++)
    us += problem->planner->cost_us[w] * value_of (program, program->again[w]);
  return us;
}

/* The window from @from on that the answer passes most. Copies end one after the other, so its end is one of their deadlines. */
static Window
worst_window (const Integer *program, double from, gboolean to_host)
{
  const GArray *jobs = program->link->jobs;
  Window worst = { .from = from, .to_host = to_host };
  double us = 0;

  for (guint k = 0; k < jobs->len; k++)
    {
      const Job *job = &g_array_index (jobs, Job, k);
      double part = job->to_host == to_host && job->earliest >= from ? value_of (program, program->offload[job->item]) : 0;

      us += part * job->us;
      if (part > 0 && us - (job->deadline - from) > worst.excess)
        {
          worst.excess = us - (job->deadline - from);
          worst.to = job->deadline;
        }
    }
  return worst;
}

static int
compare_windows (gconstpointer a, gconstpointer b)
{
  const Window *x = a, *y = b;

  return x->excess != y->excess ? (x->excess > y->excess ? -1 : 1) : (x->from > y->from) - (x->from < y->from);
}

guint
_gantry_link_add_violated (Integer *program)
{
  const GArray *jobs = program->link->jobs;
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (Window));
  const double allowed = allowance (program), least = 1e-6 * program->problem->base_us;
  guint n;

  for (guint k = 0; k < jobs->len; k++)
    {
      const Job *job = &g_array_index (jobs, Job, k);
      Window window;

      if (value_of (program, program->offload[job->item]) < 1e-6)
        continue;
      window = worst_window (program, job->earliest, job->to_host);
      if (window.excess > allowed + least)
        g_array_append_val (found, window);
    }
  g_array_sort (found, compare_windows);
  n = MIN (found->len, MOST_A_ROUND);
  g_array_append_vals (program->link->windows, found->data, n);
  return n;
}

void
_gantry_link_add_rows (Integer *program, Cbc_Model *model, Row *row)
{
  const SolveProblem *problem = program->problem;
  const Link *link = program->link;

  for (guint i = 0; i < link->windows->len; i++)
    {
      const Window *window = &g_array_index (link->windows, Window, i);

      for (guint k = 0; k < link->jobs->len; k++)
        {
          const Job *job = &g_array_index (link->jobs, Job, k);

          if (job->to_host == window->to_host && job->earliest >= window->from && job->deadline <= window->to)
            _gantry_row_add (row, program->offload[job->item], -job->us);
        }
      for (guint32 w = 0; w < problem->planner->program->works->len; w++)
        _gantry_row_add (row, program->again[w], problem->planner->cost_us[w]);
      _gantry_row_add (row, program->stall, 1);
      _gantry_row_end (model, row, 'G', window->from - window->to);
    }
}
