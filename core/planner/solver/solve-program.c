/* SPDX-License-Identifier: Apache-2.0 */
/* The placement question as an integer program, solved by CBC: for each value keep, recompute or offload; the works
 * that run again and what that costs; the bytes alive at the steps where it matters. Rows are made as they are
 * violated (most steps never bind), so that a program of thousands of steps has some dozens of rows.
 *
 * It is a relaxation of the planner's meaning: a second instance appears at its first use at the earliest where no pair says
 * otherwise, copies take no memory while under way, and need to fit into windows of time alone (solve-program-link.c). Each of
 * these only adds memory or time, so the optimum is a bound (the idea of lazy rows is that of cutting planes:
 * Dantzig, Fulkerson and Johnson, Operations Research 2(4), 1954). */
#include "core/planner/solver/solve-program-private.h"
#include "core/base/symbols.h"
#include <math.h>
#include <string.h>

#define LIBRARY "libCbcSolver.so.3"
#define MOST_ROUNDS 60
#define MOST_LOOSE 40 /* of them without what must be whole */
#define ROWS_A_ROUND 12
#define MOST_PRICED 8 /* steps whose bytes in the host have a price */
#define MIB 1048576.0

typedef struct
{
  SolveCbc functions;
  char *why; /* it cannot be used; else NULL */
} Loaded;

static const Loaded *
loaded_library (void)
{
#define NAMED(name) "Cbc_" #name,
  static const char *const names[] = { SOLVE_CBC_FUNCTIONS (NAMED) };
#undef NAMED
  static gsize ready;
  static Loaded loaded;

  G_STATIC_ASSERT (sizeof loaded.functions == G_N_ELEMENTS (names) * sizeof (gpointer));
  if (g_once_init_enter (&ready))
    {
      loaded.why = gantry_symbols_load (LIBRARY, names, G_N_ELEMENTS (names), (gpointer *) &loaded.functions);
      g_once_init_leave (&ready, 1);
    }
  return &loaded;
}

gboolean
_gantry_solve_load (GError **error)
{
  const Loaded *loaded = loaded_library ();

  if (loaded->why == NULL)
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "CBC cannot be used: %s (%s); install it", LIBRARY, loaded->why);
  return FALSE;
}

static const SolveCbc *
cbc (void)
{
  return &loaded_library ()->functions; /* loaded: solve_once() asks */
}

void
_gantry_solve_relaxed_clear (SolveRelaxed *relaxed)
{
  g_clear_pointer (&relaxed->kinds, g_free);
}

int
_gantry_integer_add_column (Integer *program, double cost, double upper, gboolean integer)
{
  const Column column = { cost, upper, integer != FALSE };

  g_array_append_val (program->columns, column);
  return program->n_columns++;
}

/* Column of "this work runs again", and of all works of values without a placement of their own that it needs: their
 * values are gone by then. As deep as such chains are, by a stack. */
static void
add_works (Integer *program, guint32 work, const guint8 *is_item)
{
  const GantryPlanner *planner = program->problem->planner;
  const Program *p = planner->program;
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (guint32));

  g_array_append_val (stack, work);
  while (stack->len > 0)
    {
      guint32 top = g_array_index (stack, guint32, stack->len - 1);
      const Work *w = WORK (p, top);

      g_array_set_size (stack, stack->len - 1);
      if (program->again[top] != NO_COLUMN)
        continue;
      program->again[top] = _gantry_integer_add_column (program, program->limit != 0 ? planner->cost_us[top] : 0, 1, FALSE);
      for (guint32 k = 0; k < w->n_uses; k++)
        {
          const Value *root = VALUE (p, VALUE (p, USE (p, w, k))->root);

          if (root->maker != NONE && !is_item[VALUE (p, USE (p, w, k))->root] && !WORK (p, root->maker)->init && root->kind == VALUE_COMPUTED
              && root->phase == GANTRY_PHASE_FORWARD && planner->candidate_of[VALUE (p, USE (p, w, k))->root] < 0)
            g_array_append_val (stack, root->maker);
        }
    }
}

/* What loops make again may have much in common: of all of it together they take at least as long as for the dearest, and that is no
 * less than the mean. */
static double
least_again_us (const SolveProblem *problem, const SolveItem *item)
{
  guint n = 0;

  for (guint i = 0; i < problem->items->len; i++)
    n += ITEM (problem, i)->in_loops && ITEM (problem, i)->maker == item->maker;
  return MAX (item->again_us, 0) / MAX (n, 1);
}

static void
add_columns (Integer *program)
{
  SolveProblem *problem = program->problem;
  const Program *p = problem->planner->program;
  g_autofree guint8 *is_item = g_new0 (guint8, p->values->len + 1);

  for (guint i = 0; i < problem->items->len; i++)
    is_item[ITEM (problem, i)->root] = 1;
  for (guint i = 0; i < problem->items->len; i++)
    {
      const SolveItem *item = ITEM (problem, i);

      program->recompute[i] = program->offload[i] = NO_COLUMN;
      if ((item->allowed >> GANTRY_PLACEMENT_RECOMPUTE & 1) != 0 && item->maker != NONE)
        {
          program->recompute[i] = _gantry_integer_add_column (program, item->in_loops && program->limit != 0 ? least_again_us (problem, item) : 0, 1, TRUE);
          if (!item->in_loops)
            add_works (program, item->maker, is_item);
        }
      /* A copy that hides is free; the smallest price keeps it from being chosen for nothing. */
      if ((item->allowed >> GANTRY_PLACEMENT_OFFLOAD & 1) != 0)
        program->offload[i] = _gantry_integer_add_column (program, program->limit != 0 ? item->copy_us * 1e-6 : 0, 1, TRUE);
      /* Converted at least once to and once fro. */
      for (guint f = 0; f < 2; f++)
        program->fewer[f][i] = program->moves == NULL && (item->allowed >> FEWER_KIND (f) & 1) != 0 && item->n_spans > 0 ? _gantry_integer_add_column (
                                 program, program->limit != 0 ? _gantry_solve_stored_us (problem, item, FEWER_KIND (f)) : 0, 1, TRUE)
                                                                                                                         : NO_COLUMN;
    }
  for (guint i = 0; i < problem->pairs->len; i++)
    program->pair[i] = NO_COLUMN;
  program->stall = _gantry_integer_add_column (program, program->limit != 0 ? 1 : 0, INFINITY, FALSE);
  program->host = program->limit != 0 && problem->host_price > 0 ? _gantry_integer_add_column (program, problem->host_price * MIB, INFINITY, FALSE) : NO_COLUMN;
  if (program->moves != NULL)
    _gantry_moves_add_columns (program);
  program->peak = program->limit == 0 ? _gantry_integer_add_column (program, 1, INFINITY, FALSE) : NO_COLUMN;
}

/* Rows */

void
_gantry_row_add (Row *row, int column, double factor)
{
  if (column == NO_COLUMN)
    return;
  g_array_append_val (row->columns, column);
  g_array_append_val (row->factors, factor);
}

void
_gantry_row_end (Cbc_Model *model, Row *row, char sense, double bound)
{
  cbc ()->addRow (model, "", (int) row->columns->len, (const int *) (gpointer) row->columns->data, (const double *) (gpointer) row->factors->data, sense,
                  bound);
  g_array_set_size (row->columns, 0);
  g_array_set_size (row->factors, 0);
}

static gboolean
is_gone_at (const SolveProblem *problem, const SolveItem *item, guint32 step)
{
  for (guint32 g = 0; g < item->n_gaps; g++)
    {
      const SolveGap *gap = SOLVE_GAP (problem, item->first_gap + g);

      if (gap->from > step)
        return FALSE;
      if (step <= gap->to)
        return TRUE;
    }
  return FALSE;
}

static gboolean
is_in_span (const SolveProblem *problem, const SolveItem *item, guint32 step)
{
  for (guint32 g = 0; g < item->n_spans; g++)
    if (SOLVE_GAP (problem, item->first_span + g)->from <= step && step <= SOLVE_GAP (problem, item->first_span + g)->to)
      return TRUE;
  return FALSE;
}

/* By how much less than all of it lies there where it is in fewer bits. */
static double
saved_bytes (const SolveProblem *problem, const SolveItem *item, guint f)
{
  return (double) (item->bytes - _gantry_solve_stored_bytes (problem, item, FEWER_KIND (f)));
}

/* At most one of the placements; what is recomputed runs again, and so does what it needs. */
static void
add_logic_rows (Integer *program, Cbc_Model *model, Row *row)
{
  SolveProblem *problem = program->problem;
  const GantryPlanner *planner = problem->planner;
  const Program *p = planner->program;

  for (guint i = 0; i < problem->items->len; i++)
    {
      const SolveItem *item = ITEM (problem, i);

      if ((program->recompute[i] != NO_COLUMN) + (program->offload[i] != NO_COLUMN) + (program->fewer[0][i] != NO_COLUMN) + (program->fewer[1][i] != NO_COLUMN)
          > 1)
        {
          _gantry_row_add (row, program->recompute[i], 1);
          _gantry_row_add (row, program->offload[i], 1);
          for (guint f = 0; f < 2; f++)
            _gantry_row_add (row, program->fewer[f][i], 1);
          _gantry_row_end (model, row, 'L', 1);
        }
      if (program->recompute[i] != NO_COLUMN && !item->in_loops)
        {
          _gantry_row_add (row, program->again[item->maker], 1);
          _gantry_row_add (row, program->recompute[i], -1);
          _gantry_row_end (model, row, 'G', 0);
        }
    }
  for (guint32 w = 0; w < p->works->len; w++)
    for (guint32 k = 0; program->again[w] != NO_COLUMN && k < WORK (p, w)->n_uses; k++)
      {
        guint32 root = VALUE (p, USE (p, WORK (p, w), k))->root;
        guint32 maker = VALUE (p, root)->maker;

        if (maker == NONE || maker == w || program->again[maker] == NO_COLUMN || planner->candidate_of[root] >= 0)
          continue;
        _gantry_row_add (row, program->again[maker], 1);
        _gantry_row_add (row, program->again[w], -1);
        _gantry_row_end (model, row, 'G', 0);
      }
}

/* All copies of one direction, end to end, fit beside the work: step >= sum of copies. */
static void
add_link_row (Integer *program, Cbc_Model *model, Row *row, gboolean to_host)
{
  SolveProblem *problem = program->problem;

  for (guint i = 0; i < problem->items->len; i++)
    {
      const SolveItem *item = ITEM (problem, i);

      _gantry_row_add (row, program->offload[i], -item->copy_us * (to_host ? item->n_out : item->n_in));
      for (guint f = 0; f < 2; f++)
        if (program->fewer[f][i] != NO_COLUMN)
          _gantry_row_add (row, program->fewer[f][i], _gantry_solve_stored_us (problem, item, FEWER_KIND (f)));
    }
  for (guint32 w = 0; w < problem->planner->program->works->len; w++)
    _gantry_row_add (row, program->again[w], problem->planner->cost_us[w]);
  _gantry_row_add (row, program->stall, 1);
  _gantry_row_end (model, row, 'G', -problem->base_us);
}

static int
pair_column (Integer *program, guint index)
{
  if (program->pair[index] == NO_COLUMN)
    program->pair[index] = _gantry_integer_add_column (program, 0, 1, FALSE);
  return program->pair[index];
}

/* Pairs whose span holds @step and whose two sides are what makes them count. */
static gboolean
pair_can_count (const Integer *program, const SolvePair *pair, guint32 step)
{
  return pair->gap.from <= step && step <= pair->gap.to && program->recompute[pair->by] != NO_COLUMN
         && (!pair->again || program->recompute[pair->needed] != NO_COLUMN);
}

static void
add_memory_row (Integer *program, Cbc_Model *model, Row *row, guint32 step)
{
  SolveProblem *problem = program->problem;

  for (guint i = 0; i < problem->items->len; i++)
    {
      const SolveItem *item = ITEM (problem, i);

      for (guint f = 0; f < 2; f++)
        if (program->fewer[f][i] != NO_COLUMN && is_in_span (problem, item, step))
          _gantry_row_add (row, program->fewer[f][i], -saved_bytes (problem, item, f) / MIB);
      if (!is_gone_at (problem, item, step))
        continue;
      _gantry_row_add (row, program->recompute[i], -(double) item->bytes / MIB);
      _gantry_row_add (row, program->offload[i], -(double) item->bytes / MIB);
    }
  for (guint i = 0; i < problem->pairs->len; i++)
    {
      const SolvePair *pair = &g_array_index (problem->pairs, SolvePair, i);

      if (pair_can_count (program, pair, step) && program->pair[i] != NO_COLUMN)
        _gantry_row_add (row, program->pair[i], (double) ITEM (problem, pair->needed)->bytes / MIB);
    }
  if (program->moves != NULL)
    _gantry_moves_add_bytes (program, row, step, 1 / MIB);
  _gantry_row_add (row, program->peak, -1);
  _gantry_row_end (model, row, 'L', ((double) program->limit - (double) problem->live[step]) / MIB);
}

/* The pair counts when both are made again, or when the one is and the other is kept. */
static void
add_pair_rows (Integer *program, Cbc_Model *model, Row *row)
{
  SolveProblem *problem = program->problem;

  for (guint i = 0; i < problem->pairs->len; i++)
    {
      const SolvePair *pair = &g_array_index (problem->pairs, SolvePair, i);

      if (program->pair[i] == NO_COLUMN)
        continue;
      _gantry_row_add (row, program->pair[i], 1);
      _gantry_row_add (row, program->recompute[pair->by], -1);
      _gantry_row_add (row, program->recompute[pair->needed], pair->again ? -1 : 1);
      if (!pair->again)
        _gantry_row_add (row, program->offload[pair->needed], 1);
      for (guint f = 0; !pair->again && f < 2; f++)
        _gantry_row_add (row, program->fewer[f][pair->needed], 1);
      _gantry_row_end (model, row, 'G', pair->again ? -1 : 0);
    }
}

/* What is offloaded lies in the host at least while it is gone from the device, what the caller gives or gets all the time. Those
 * less what @column has are at most @bound, in MiB. */
static void
add_host_row (Integer *program, Cbc_Model *model, Row *row, guint32 step, int column, double bound)
{
  SolveProblem *problem = program->problem;

  for (guint i = 0; i < problem->items->len; i++)
    if (ITEM (problem, i)->resident || is_gone_at (problem, ITEM (problem, i), step))
      _gantry_row_add (row, program->offload[i], (double) ITEM (problem, i)->bytes / MIB);
  _gantry_row_add (row, column, -1);
  _gantry_row_end (model, row, 'L', bound);
}

/* Rows for the steps at which most could be in the host: where that is more than may be, and a few where it has a price. */
static void
add_host_rows (Integer *program, Cbc_Model *model, Row *row)
{
  SolveProblem *problem = program->problem;
  g_autofree double *most = g_new0 (double, problem->n_steps + 2);
  guint32 apart = MAX (1, problem->n_steps / 64);
  double sum = 0;

  if ((problem->host_limit == G_MAXUINT64 && program->host == NO_COLUMN) || problem->n_steps == 0)
    return;
  for (guint i = 0; i < problem->items->len; i++)
    {
      const SolveItem *item = ITEM (problem, i);
      double bytes = program->offload[i] != NO_COLUMN ? (double) item->bytes : 0;

      for (guint32 g = 0; g < (item->resident ? 1 : item->n_gaps); g++)
        {
          const SolveGap *gap = SOLVE_GAP (problem, item->first_gap + g);

          most[item->resident ? 0 : gap->from] += bytes;
          most[item->resident ? problem->n_steps : gap->to + 1] -= bytes;
        }
    }
  for (guint32 s = 0; s < problem->n_steps; s++)
    most[s] = sum += most[s];
  for (guint n = 0; n < MOST_ROUNDS; n++)
    {
      guint32 worst = 0;

      for (guint32 s = 1; s < problem->n_steps; s++)
        if (most[s] > most[worst])
          worst = s;
      if (most[worst] > (double) problem->host_limit)
        add_host_row (program, model, row, worst, NO_COLUMN, (double) problem->host_limit / MIB);
      else if (program->host == NO_COLUMN || n >= MOST_PRICED || most[worst] <= 0)
        break;
      if (program->host != NO_COLUMN && n < MOST_PRICED)
        add_host_row (program, model, row, worst, program->host, 0);
      for (guint32 s = worst >= apart ? worst - apart : 0; s <= worst + apart && s < problem->n_steps; s++)
        most[s] = 0;
    }
}

/* Solving */

/* @whole: what must be whole is; else the program without that, whose rows are found faster. */
static Cbc_Model *
make_model (Integer *program, gboolean whole)
{
  Cbc_Model *model = cbc ()->newModel ();
  Row row = { g_array_new (FALSE, FALSE, sizeof (int)), g_array_new (FALSE, FALSE, sizeof (double)) };

  cbc ()->setLogLevel (model, 0);
  for (int c = 0; c < program->n_columns; c++)
    {
      const Column *column = &g_array_index (program->columns, Column, c);

      cbc ()->addCol (model, "", 0, column->upper, column->cost, whole && column->integer, 0, NULL, NULL);
    }
  add_logic_rows (program, model, &row);
  if (program->moves != NULL)
    _gantry_moves_add_rows (program, model, &row);
  else if (program->limit != 0)
    for (guint to_host = 0; to_host < 2; to_host++)
      add_link_row (program, model, &row, to_host != 0);
  if (program->link != NULL)
    _gantry_link_add_rows (program, model, &row);
  for (guint i = 0; i < program->rows->len; i++)
    add_memory_row (program, model, &row, g_array_index (program->rows, guint32, i));
  add_pair_rows (program, model, &row);
  add_host_rows (program, model, &row);
  g_array_unref (row.columns);
  g_array_unref (row.factors);
  return model;
}

static double
column_value (const Integer *program, int column)
{
  return column == NO_COLUMN ? 0 : program->value[column];
}

/* Bytes over the limit at each step under the answer; with the pairs that it makes count. */
static double *
find_excess (const Integer *program)
{
  SolveProblem *problem = program->problem;
  double *change = g_new0 (double, problem->n_steps + 2), sum = 0;
  double most = program->limit != 0 ? (double) program->limit : column_value (program, program->peak) * MIB;

  for (guint i = 0; i < problem->items->len; i++)
    {
      const SolveItem *item = ITEM (problem, i);
      double gone = column_value (program, program->recompute[i]) + column_value (program, program->offload[i]);

      for (guint32 g = 0; g < item->n_gaps && gone > 1e-9; g++)
        {
          change[SOLVE_GAP (problem, item->first_gap + g)->from] -= gone * (double) item->bytes;
          change[SOLVE_GAP (problem, item->first_gap + g)->to + 1] += gone * (double) item->bytes;
        }
      for (guint f = 0; f < 2; f++)
        for (guint32 g = 0; g < item->n_spans; g++)
          {
            double saved = column_value (program, program->fewer[f][i]) * saved_bytes (problem, item, f);

            change[SOLVE_GAP (problem, item->first_span + g)->from] -= saved;
            change[SOLVE_GAP (problem, item->first_span + g)->to + 1] += saved;
          }
    }
  for (guint i = 0; i < problem->pairs->len; i++)
    {
      const SolvePair *pair = &g_array_index (problem->pairs, SolvePair, i);
      double needed = column_value (program, program->recompute[pair->needed]);
      double kept = 1 - needed - column_value (program, program->offload[pair->needed]) - column_value (program, program->fewer[0][pair->needed])
                    - column_value (program, program->fewer[1][pair->needed]);
      double counts = column_value (program, program->recompute[pair->by]) + (pair->again ? needed : kept) - 1;

      if (counts < 1e-9)
        continue;
      change[pair->gap.from] += counts * (double) ITEM (problem, pair->needed)->bytes;
      change[pair->gap.to + 1] -= counts * (double) ITEM (problem, pair->needed)->bytes;
    }
  if (program->moves != NULL)
    _gantry_moves_count_bytes (program, change);
  for (guint32 s = 0; s < problem->n_steps; s++)
    {
      sum += change[s];
      change[s] = (double) problem->live[s] + sum - most;
    }
  return change;
}

/* Rows for the worst steps, far enough from each other not to say the same. Returns: how many */
static guint
add_violated_rows (Integer *program)
{
  SolveProblem *problem = program->problem;
  g_autofree double *excess = find_excess (program);
  guint n = 0;
  guint32 apart = MAX (1, problem->n_steps / 64);

  while (n < ROWS_A_ROUND)
    {
      guint32 worst = NONE;

      for (guint32 s = 0; s < problem->n_steps; s++)
        if (!program->has_row[s] && excess[s] > 64 && (worst == NONE || excess[s] > excess[worst]))
          worst = s;
      if (worst == NONE)
        break;
      program->has_row[worst] = 1;
      g_array_append_val (program->rows, worst);
      for (guint i = 0; i < problem->pairs->len; i++)
        if (pair_can_count (program, &g_array_index (problem->pairs, SolvePair, i), worst))
          pair_column (program, i);
      for (guint32 s = worst >= apart ? worst - apart : 0; s <= worst + apart && s < problem->n_steps; s++)
        excess[s] = 0;
      n++;
    }
  return n;
}

static void
take_answer (const Integer *program, SolveRelaxed *relaxed)
{
  SolveProblem *problem = program->problem;

  g_free (relaxed->kinds);
  relaxed->kinds = g_new0 (guint8, problem->items->len + 1);
  for (guint i = 0; i < problem->items->len; i++)
    relaxed->kinds[i] = column_value (program, program->recompute[i]) > 0.5  ? GANTRY_PLACEMENT_RECOMPUTE
                        : column_value (program, program->offload[i]) > 0.5  ? GANTRY_PLACEMENT_OFFLOAD
                        : column_value (program, program->fewer[0][i]) > 0.5 ? GANTRY_PLACEMENT_BF16
                        : column_value (program, program->fewer[1][i]) > 0.5 ? GANTRY_PLACEMENT_INT8
                                                                             : GANTRY_PLACEMENT_KEEP;
}

/* One solution of the program with the rows that it has. Returns: FALSE when there is none */
static gboolean
solve_once (Integer *program, double gap, gboolean whole, SolveRelaxed *relaxed)
{
  SolveProblem *problem = program->problem;
  Cbc_Model *model;
  const double *value;
  gboolean found;

  if (loaded_library ()->why != NULL)
    return FALSE;
  model = make_model (program, whole);
  cbc ()->setAllowableFractionGap (model, gap);
  /* The feasibility pump takes half of the time with moves, and finds none. */
  if (program->moves != NULL)
    cbc ()->setParameter (model, "feasibilityPump", "off");
  if (problem->deadline != 0)
    cbc ()->setMaximumSeconds (model, MAX (_gantry_solve_seconds_left (problem), 0.01));
  if (problem->most_nodes > 0)
    cbc ()->setMaximumNodes (model, problem->most_nodes);
  cbc ()->solve (model);
  relaxed->proven = cbc ()->isProvenOptimal (model) && (!whole || cbc ()->status (model) == 0);
  if (cbc ()->isProvenInfeasible (model))
    relaxed->bound = INFINITY;
  else if (whole || relaxed->proven)
    {
      double bound = whole ? cbc ()->getBestPossibleObjValue (model) : cbc ()->getObjValue (model);

      relaxed->bound = MAX (relaxed->bound, program->limit != 0 ? problem->base_us + bound : bound * MIB);
    }
  value = whole ? cbc ()->bestSolution (model) : relaxed->proven ? cbc ()->getColSolution (model) : NULL;
  found = !cbc ()->isProvenInfeasible (model) && value != NULL;
  if (found)
    {
      program->value = g_renew (double, program->value, (gsize) program->n_columns + 1);
      memcpy (program->value, value, sizeof (double) * (gsize) program->n_columns);
    }
  cbc ()->deleteModel (model);
  return found;
}

static gboolean
solve (SolveProblem *problem, guint64 limit, double gap, gboolean autotm, SolveRelaxed *relaxed)
{
  guint n_items = problem->items->len, n_works = problem->planner->program->works->len;
  Integer program = { .problem = problem, .limit = limit };
  gboolean settled = FALSE, whole = FALSE;

  *relaxed = (SolveRelaxed){ .bound = limit != 0 ? problem->base_us : 0 };
  program.recompute = g_new (int, n_items + 1);
  program.offload = g_new (int, n_items + 1);
  for (guint f = 0; f < 2; f++)
    program.fewer[f] = g_new (int, n_items + 1);
  program.pair = g_new (int, problem->pairs->len + 1);
  program.again = g_new (int, n_works + 1);
  for (guint w = 0; w < n_works; w++)
    program.again[w] = NO_COLUMN;
  program.columns = g_array_new (FALSE, FALSE, sizeof (Column));
  program.rows = g_array_new (FALSE, FALSE, sizeof (guint32));
  program.has_row = g_new0 (guint8, problem->n_steps + 1);
  program.moves = autotm ? _gantry_moves_new () : NULL;
  /* Conversions make windows longer, which the link's rows do not know. */
  program.link = limit != 0 && !autotm && !problem->compresses ? _gantry_link_new (problem) : NULL;
  add_columns (&program);
  program.value = g_new0 (double, (gsize) program.n_columns + 1); /* all kept */
  for (guint round = 0; round < MOST_ROUNDS && !settled && !_gantry_solve_is_over (problem); round++)
    {
      settled = add_violated_rows (&program) == 0;
      if (program.link != NULL && _gantry_link_add_violated (&program) > 0)
        settled = FALSE;
      if (settled && (whole || round == 0))
        {
          take_answer (&program, relaxed);
          relaxed->proven |= round == 0;
          break;
        }
      /* Most rows are found without what must be whole, in a part of the time. */
      whole = whole || settled || round >= MOST_LOOSE;
      settled = FALSE;
      if (!solve_once (&program, gap, whole, relaxed))
        break;
      if (whole)
        take_answer (&program, relaxed);
      /* One with moves takes long, and is no bound: the planner says what it needs. */
      if (whole && autotm)
        break;
    }
  relaxed->proven = relaxed->proven && settled;
  g_free (program.recompute);
  g_free (program.offload);
  for (guint f = 0; f < 2; f++)
    g_free (program.fewer[f]);
  g_free (program.pair);
  g_free (program.again);
  g_free (program.has_row);
  g_free (program.value);
  g_array_unref (program.columns);
  g_array_unref (program.rows);
  g_clear_pointer (&program.moves, _gantry_moves_free);
  g_clear_pointer (&program.link, _gantry_link_free);
  return relaxed->kinds != NULL;
}

gboolean
_gantry_solve_program (SolveProblem *problem, guint64 limit, double gap, SolveRelaxed *relaxed)
{
  return solve (problem, limit, gap, FALSE, relaxed);
}

gboolean
_gantry_solve_autotm (SolveProblem *problem, guint64 limit, SolveRelaxed *relaxed)
{
  gboolean found = solve (problem, limit, 2e-3, TRUE, relaxed);

  relaxed->bound = problem->base_us; /* moves are made near where they are needed: no bound */
  relaxed->proven = FALSE;
  return found;
}
