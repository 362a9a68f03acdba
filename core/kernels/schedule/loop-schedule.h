/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules for the processor: in which order the results of a kernel are computed and in what units. */
#pragma once
#include "core/expr/kernel-expression.h"

G_BEGIN_DECLS

#define GANTRY_MAX_ROWS 8
#define GANTRY_MAX_UNROLL 4

/**
 * GantrySchedule: @order holds the variables of the results, outermost first. Tasks count through the values of
 * order[0 .. n_task) and through blocks of `block` of order[n_task]; the rest are loops. The last variable is computed in
 * vectors of `lanes`, `unroll` of them at a time, for `rows` values of the one before.
 */
typedef struct
{
  guint n_order;
  guint order[GANTRY_KX_MAX_VARS];
  guint n_task;
  gint64 block;
  gint64 n_blocks;
  gint64 n_tasks;
  guint lanes;
  guint unroll;
  guint rows;
} GantrySchedule;

/** Replaces short reductions within @kx by their terms and chooses loops and tasks. */
void gantry_schedule_make (GantrySchedule *schedule, GantryKx *kx, guint vector_bytes);
/** Replaces short reductions within @kx that depend on the variable @innermost by their terms, in their order. */
void gantry_schedule_write_out (GantryKx *kx, guint innermost);
/** Lanes for the values that @roots need; @bytes: of a register. */
guint gantry_schedule_lanes (const GantryKx *kx, const GantryKxRoot *roots, guint n, guint bytes);
/** How many vectors at a time: few for long computations. */
guint gantry_schedule_unroll (const GantryKx *kx, const GantryKxRoot *roots, guint n);
/** How many loads of @roots step by one, and by more than one, with @variable. */
void gantry_schedule_strides (const GantryKx *kx, const GantryKxRoot *roots, guint n, guint variable, guint *unit, guint *strided);
/** Variables of a reduction in the order of its loops, the one with the smallest steps last. */
guint gantry_schedule_axes (const GantryKx *kx, guint32 reduce, guint *axes);
/** Values of @variable at which a comparison or clamp within @roots becomes known; at most @max of them, ascending. */
guint gantry_schedule_breaks (GantryKx *kx, const GantryKxRoot *roots, guint n, guint variable, gint64 *breaks, guint max);

G_END_DECLS
