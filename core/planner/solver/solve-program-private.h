/* SPDX-License-Identifier: Apache-2.0 */
/* An integer program on its way to CBC: columns and rows are noted here, since a model of CBC's cannot be
 * used again after it was solved. */
#pragma once
#include "core/planner/solver/solve-problem-private.h"
#include <coin/Cbc_C_Interface.h>

enum
{
  NO_COLUMN = -1
};

/* CBC's functions, without the "Cbc_" of their names: all that are called. It is loaded when a program is first solved. */
/* clang-format off */
#define SOLVE_CBC_FUNCTIONS(X) \
  X (addCol) X (addRow) X (bestSolution) X (deleteModel) X (getBestPossibleObjValue) X (getColSolution) X (getObjValue) \
  X (isProvenInfeasible) X (isProvenOptimal) X (newModel) X (setAllowableFractionGap) X (setLogLevel) X (setMaximumNodes) \
  X (setMaximumSeconds) X (setParameter) X (solve) X (status)
/* clang-format on */

typedef struct
{
#define SOLVE_CBC_MEMBER(name) __typeof__ (&Cbc_##name) name;
  SOLVE_CBC_FUNCTIONS (SOLVE_CBC_MEMBER)
#undef SOLVE_CBC_MEMBER
} SolveCbc;

typedef struct _Moves Moves;
typedef struct _Link Link;

typedef struct
{
  SolveProblem *problem;
  guint64 limit; /* 0: the peak is a column and minimized */
  int n_columns;
  int *recompute, *offload; /* by item: columns */
  int *fewer[2];            /* likewise: as bf16, in 8 bits */
  int *pair;                /* by pair: column, made as it is needed */
  int *again;               /* by work: column */
  int stall, peak;
  int host;        /* MiB of the host, where they have a price; else NO_COLUMN */
  GArray *columns; /* Column */
  GArray *rows;    /* guint32: base steps whose bytes are bounded */
  guint8 *has_row; /* by base step */
  double *value;   /* by column: the answer */
  Moves *moves;    /* (nullable): copies spread over the works beside which they run */
  Link *link;      /* (nullable): windows of time that copies have to fit into */
} Integer;

typedef struct
{
  double cost, upper;
  char integer;
} Column;

typedef struct
{
  GArray *columns; /* int */
  GArray *factors; /* double */
} Row;

int _gantry_integer_add_column (Integer *program, double cost, double upper, gboolean integer);
/** Placement that a column of Integer.fewer[@f] stands for. */
#define FEWER_KIND(f) ((f) == 0 ? GANTRY_PLACEMENT_BF16 : GANTRY_PLACEMENT_INT8)
/** @column may be NO_COLUMN. */
void _gantry_row_add (Row *row, int column, double factor);
/** Adds what was collected, and begins anew. @sense: 'L', 'G' or 'E' */
void _gantry_row_end (Cbc_Model *model, Row *row, char sense, double bound);

Link *_gantry_link_new (const SolveProblem *problem);
void _gantry_link_free (Link *link);
/** Windows that the answer passes become rows of the next one. Returns: how many */
guint _gantry_link_add_violated (Integer *program);
void _gantry_link_add_rows (Integer *program, Cbc_Model *model, Row *row);

Moves *_gantry_moves_new (void);
void _gantry_moves_free (Moves *moves);
void _gantry_moves_add_columns (Integer *program);
/** What is moved has its place while it moves: terms of the bytes at @step, times @factor; and the same of the answer, as changes
 *  from step to step. */
void _gantry_moves_add_bytes (Integer *program, Row *row, guint32 step, double factor);
void _gantry_moves_count_bytes (const Integer *program, double *change);
void _gantry_moves_add_rows (Integer *program, Cbc_Model *model, Row *row);
