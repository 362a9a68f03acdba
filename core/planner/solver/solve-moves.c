/* SPDX-License-Identifier: Apache-2.0 */
/* The moves of AutoTM's formulation (Hildebrand, Khan, Trika, Lowe-Power and Akella, ASPLOS 2020): for each span in which a tensor
 * is in the host it leaves and comes back, each time while some of the nearest works run (those take as long as the copies
 * beside them, if that is longer) or while none does. A tensor that is only read later leaves once. */
#include "core/planner/solver/solve-program-private.h"
#include <math.h>

#define NEAREST 15u /* works beside which a move may run, as in the paper */

/* One move: columns of the parts that run beside works first .. first + n - 1, and of the part that runs alone. */
typedef struct
{
  guint item;
  guint32 first, n;
  int part, alone;
  gboolean back;
} Move;

struct _Moves
{
  GArray *moves; /* Move */
  int *longer;   /* by base step: column: by how much the work takes longer */
};

Moves *
_gantry_moves_new (void)
{
  Moves *moves = g_new0 (Moves, 1);

  moves->moves = g_array_new (FALSE, FALSE, sizeof (Move));
  return moves;
}

void
_gantry_moves_free (Moves *moves)
{
  g_array_unref (moves->moves);
  g_free (moves->longer);
  g_free (moves);
}

static void
add_move (Integer *program, guint item, guint32 first, guint32 n, gboolean back)
{
  Moves *moves = program->moves;
  double us = ITEM (program->problem, item)->copy_us;
  Move move = { item, first, n, program->n_columns, NO_COLUMN, back };

  for (guint32 k = 0; k < n; k++)
    {
      _gantry_integer_add_column (program, 0, 1, FALSE);
      moves->longer[first + k] = 0;
    }
  move.alone = _gantry_integer_add_column (program, program->limit != 0 ? us : 0, 1, FALSE);
  g_array_append_val (moves->moves, move);
}

void
_gantry_moves_add_columns (Integer *program)
{
  const SolveProblem *problem = program->problem;
  Moves *moves = program->moves;

  moves->longer = g_new (int, problem->n_steps + 1);
  for (guint32 s = 0; s < problem->n_steps; s++)
    moves->longer[s] = NO_COLUMN;
  for (guint i = 0; i < problem->items->len; i++)
    for (guint32 g = 0; program->offload[i] != NO_COLUMN && g < ITEM (problem, i)->n_gaps; g++)
      {
        const SolveGap *gap = SOLVE_GAP (problem, ITEM (problem, i)->first_gap + g);
        guint32 n = MIN (NEAREST, gap->to - gap->from + 1);

        /* What the caller gives lies in the host already, and comes for each use. */
        if (ITEM (problem, i)->n_out > 0 && (ITEM (problem, i)->n_in == 0 ? gap->to + 1 == problem->n_steps : g == 0))
          add_move (program, i, gap->from, n, FALSE);
        if (gap->to + 1 < problem->n_steps && ITEM (problem, i)->n_in > 0)
          add_move (program, i, gap->to + 1 - n, n, TRUE);
      }
  for (guint32 s = 0; s < problem->n_steps; s++)
    if (moves->longer[s] == 0)
      moves->longer[s] = _gantry_integer_add_column (program, program->limit != 0 ? 1 : 0, INFINITY, FALSE);
}

void
_gantry_moves_add_bytes (Integer *program, Row *row, guint32 step, double factor)
{
  const GArray *moves = program->moves->moves;

  for (guint m = 0; m < moves->len; m++)
    {
      const Move *move = &g_array_index (moves, Move, m);
      double bytes = (double) ITEM (program->problem, move->item)->bytes * factor;

      if (step < move->first || step >= move->first + move->n)
        continue;
      /* Coming: what has come up to here. Leaving: what leaves from here on. */
      for (guint32 k = move->back ? 0 : step - move->first; k < (move->back ? step - move->first + 1 : move->n); k++)
        _gantry_row_add (row, move->part + (int) k, bytes);
    }
}

void
_gantry_moves_count_bytes (const Integer *program, double *change)
{
  const GArray *moves = program->moves->moves;

  for (guint m = 0; m < moves->len; m++)
    {
      const Move *move = &g_array_index (moves, Move, m);
      double bytes = (double) ITEM (program->problem, move->item)->bytes;

      for (guint32 k = 0; k < move->n; k++)
        {
          double part = program->value[move->part + (int) k] * bytes;

          change[move->back ? move->first + k : move->first] += part;
          change[move->back ? move->first + move->n : move->first + k + 1] -= part;
        }
    }
}

/* Copies beside one work, in one direction. */
static void
add_work_row (Integer *program, Cbc_Model *model, Row *row, guint32 step, const GArray *beside, gboolean back)
{
  const SolveProblem *problem = program->problem;
  const GantryPlanner *planner = problem->planner;
  guint n = 0;

  for (guint k = 0; k < beside->len; k++)
    {
      const Move *move = &g_array_index (program->moves->moves, Move, g_array_index (beside, guint, k));

      if (move->back != back)
        continue;
      _gantry_row_add (row, move->part + (int) (step - move->first), -ITEM (problem, move->item)->copy_us);
      n++;
    }
  if (n == 0)
    return;
  _gantry_row_add (row, program->moves->longer[step], 1);
  _gantry_row_end (model, row, 'G', -planner->cost_us[planner->order[step]]);
}

void
_gantry_moves_add_rows (Integer *program, Cbc_Model *model, Row *row)
{
  const Moves *moves = program->moves;
  guint32 n_steps = program->problem->n_steps;
  g_autoptr (GPtrArray) beside = g_ptr_array_new_full (n_steps, NULL);

  for (guint32 s = 0; s < n_steps; s++)
    g_ptr_array_add (beside, NULL);
  for (guint m = 0; m < moves->moves->len; m++)
    {
      const Move *move = &g_array_index (moves->moves, Move, m);

      /* All of it moves when the tensor does. */
      for (guint32 k = 0; k < move->n; k++)
        {
          GArray **list = (GArray **) &beside->pdata[move->first + k];

          _gantry_row_add (row, move->part + (int) k, 1);
          if (*list == NULL)
            *list = g_array_new (FALSE, FALSE, sizeof (guint));
          g_array_append_val (*list, m);
        }
      _gantry_row_add (row, move->alone, 1);
      _gantry_row_add (row, program->offload[move->item], -1);
      _gantry_row_end (model, row, 'E', 0);
    }
  for (guint32 s = 0; s < n_steps; s++)
    if (beside->pdata[s] != NULL)
      {
        add_work_row (program, model, row, s, beside->pdata[s], FALSE);
        add_work_row (program, model, row, s, beside->pdata[s], TRUE);
        g_array_unref (beside->pdata[s]);
      }
}
