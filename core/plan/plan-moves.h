/* SPDX-License-Identifier: Apache-2.0 */
/* The copies between device and host memory that a plan makes, and what of each is hidden. */
#pragma once
#include "core/plan/plan.h"

G_BEGIN_DECLS

#define GANTRY_NO_STEP G_MAXUINT32

/**
 * GantryPlanMove: a plain value. Bytes and microseconds.
 *
 * @step: index of the copy; @node: whose value it is
 * @from, @to: GantryMemoryKind
 * @hidden_us: of @duration_us, while a step of the compute queue runs
 * @use: the first step behind it that reads the copy, %GANTRY_NO_STEP where none does: it is a result
 * @distance_us: from the end of the copy to the beginning of that step, not below 0; @distance_steps: steps of the compute queue that begin
 * between the two
 */
typedef struct
{
  guint32 step, node;
  guint8 from, to;
  guint64 bytes;
  double start_us, duration_us, hidden_us;
  guint32 use;
  double distance_us;
  guint distance_steps;
} GantryPlanMove;

/** In the order of the plan, without copies within one kind of memory and those within loops. Linear in steps and buffers, and for each
 * move in the steps that it runs beside. Returns: (transfer full) (element-type GantryPlanMove) */
GArray *gantry_plan_moves (const GantryPlan *plan);

G_END_DECLS
