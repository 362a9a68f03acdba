/* SPDX-License-Identifier: Apache-2.0 */
/* Small random training steps, and an exact search over all their schedules: any order, any value made again as often as it
 * pays. It knows nothing of the planner and the solver. */
#pragma once
#include "core/graph/graph.h"
#include "core/planner/planner.h"

#define ORACLE_MOST 80u /* works that can be built; the searches take less */

typedef struct
{
  guint operands[16], n_operands; /* works whose values are read; none: the input */
  guint64 bytes;                  /* of what it makes: whole places */
  double us;
  gboolean backward;
  gboolean result; /* has a place of its own for the whole run */
} OracleWork;

typedef struct
{
  OracleWork works[ORACLE_MOST];
  guint n;
} OracleStep;

typedef enum
{
  ORACLE_CHAIN,
  ORACLE_IN_TREE,
  ORACLE_OUT_TREE,
  ORACLE_N_SHAPES
} OracleShape;

/** @most: values that take memory, both phases together */
void oracle_step_random (OracleStep *step, OracleShape shape, guint most, GRand *random);
/** A chain of @n equal values and its gradient. */
void oracle_step_uniform (OracleStep *step, guint n);
/** The step as a program. @us: (out): node -> double *: the times of its works, for GantryPlanOptions.measured_us */
GantryModule *oracle_step_build (const OracleStep *step, GantryContext *context, GHashTable *us);
/** The least time of any schedule whose values take at most @bytes at a time; INFINITY: there is none. Steps of at most 32 works. */
double oracle_fastest (const OracleStep *step, guint64 bytes);
/** The least bytes that any schedule takes. */
guint64 oracle_least_bytes (const OracleStep *step);
/** The same where residuals may be moved to the host and back besides, which takes @us_per_byte each way: the least time below @below,
 *  INFINITY: none; NAN: not found among @most labels. Steps of at most 15 works. */
double oracle_fastest_with_moves (const OracleStep *step, guint64 bytes, double us_per_byte, double below, guint most);
