/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of one kernel: a schedule says in which order the results are computed and in what units,
 * and the nest emits it. Every value is put at the deepest loop that it depends on, at the time it is
 * first asked for, so that what does not change in a loop is computed before it. */
#pragma once
#include "core/kernels/emit-private.h"

G_BEGIN_DECLS

#define GANTRY_MAX_ROWS 8
#define GANTRY_MAX_UNROLL 4
#define GANTRY_NO_VARIABLE (-1)

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
/** Lanes for the values that @roots need; @bytes: of a register. */
guint gantry_schedule_lanes (const GantryKx *kx, const GantryKxRoot *roots, guint n, guint bytes);
/** How many vectors at a time: few for long computations. */
guint gantry_schedule_unroll (const GantryKx *kx, const GantryKxRoot *roots, guint n);
/** How many loads of @roots step by one, and by more than one, with @variable. */
void gantry_schedule_strides (const GantryKx *kx, const GantryKxRoot *roots, guint n, guint variable, guint *unit,
                              guint *strided);
/** Variables of a reduction in the order of its loops, the one with the smallest steps last. */
guint gantry_schedule_axes (const GantryKx *kx, guint32 reduce, guint *axes);
/** Values of @variable at which a comparison or clamp within @roots becomes known; at most @max of them, ascending. */
guint gantry_schedule_breaks (GantryKx *kx, const GantryKxRoot *roots, guint n, guint variable, gint64 *breaks,
                              guint max);

/* What the files of the nest share. */

/** A loop, or the inside of a condition, that is being emitted. */
typedef struct
{
  int variable;               /* bound here, or GANTRY_NO_VARIABLE */
  LLVMValueRef value;
  LLVMValueRef limit;         /* of a loop */
  gint64 step;
  LLVMBasicBlockRef head;     /* of a loop; NULL for a condition */
  LLVMBasicBlockRef content;  /* where it begins: entered from the parent's `open` when it ends */
  LLVMBasicBlockRef open;     /* values of this level are appended here */
  LLVMBasicBlockRef join;     /* of a condition */
  guint parent;
  int outer_level;            /* what the variable was bound to before */
  LLVMValueRef outer_value;
  GArray *trail;              /* memo slots to forget when the level ends */
} GantryLevel;

#define GANTRY_MAX_LEVELS 128
/* Per node one value for each row and unrolled vector, and the address of a load. */
#define GANTRY_SLOTS (GANTRY_MAX_ROWS * GANTRY_MAX_UNROLL + 1)

typedef struct
{
  GantryEmit *e;
  GantryKx *kx;
  const GantrySchedule *schedule;
  const LLVMValueRef *inputs, *outputs;
  LLVMTypeRef i64;
  GantryLevel levels[GANTRY_MAX_LEVELS];
  guint n_levels;
  int level_of[GANTRY_KX_MAX_VARS];
  int vector_variable, row_variable;
  guint lanes, unroll, rows;
  GArray *memo; /* LLVMValueRef, GANTRY_SLOTS per node */
  LLVMValueRef block_begin, block_end; /* of the task, when tasks are blocks of a variable */
  guint leaves;
} GantryNest;

void gantry_nest_begin_loop (GantryNest *nest, guint parent, int variable, LLVMValueRef lo, LLVMValueRef hi, gint64 step);
void gantry_nest_end_loop (GantryNest *nest);
/** @condition: a value of the parent level. @variable: rebound inside, so that what depends on it stays inside. */
void gantry_nest_begin_if (GantryNest *nest, guint parent, int variable, LLVMValueRef condition);
void gantry_nest_end_if (GantryNest *nest);
/** Moves the builder to where values of that level are appended. */
void gantry_nest_at (GantryNest *nest, guint level);
guint gantry_nest_level (const GantryNest *nest, guint64 vars);
static inline guint
gantry_nest_top (const GantryNest *nest)
{
  return nest->n_levels - 1;
}

/** Whether @variable, which may be negative for none, is one of @vars. */
static inline gboolean
gantry_nest_depends (guint64 vars, int variable)
{
  return variable >= 0 && vars >> variable & 1;
}
/** Of a value of one row and one of the unrolled vectors. */
static inline guint
gantry_nest_slot (guint row, guint unroll)
{
  return row * GANTRY_MAX_UNROLL + unroll;
}

/** The value of a node for one row and one of the unrolled vectors: lanes, or a scalar when all lanes are equal. */
LLVMValueRef gantry_nest_value (GantryNest *nest, guint32 id, guint row, guint unroll);
LLVMValueRef gantry_nest_const (GantryNest *nest, gint64 value);
/** The address of the sum @address of @element at @base; *@stride: between lanes, in elements; *@offsets: (nullable)
 *  instead of a stride, one offset for each lane. @keep: node in whose memo it may be kept, or GANTRY_NO_NODE. */
LLVMValueRef gantry_nest_pointer (GantryNest *nest, LLVMValueRef base, GantryElementType element, guint32 address,
                                  guint32 keep, guint row, guint unroll, gint64 *stride, LLVMValueRef *offsets);
#define GANTRY_NO_NODE G_MAXUINT32
/** The value of a load, read at @level. What else it reads of other rows is kept for them. */
LLVMValueRef gantry_nest_load (GantryNest *nest, guint32 id, guint row, guint unroll, guint level);
void gantry_nest_keep (GantryNest *nest, guint32 id, guint slot, guint level, LLVMValueRef value);
void gantry_nest_reduce (GantryNest *nest, guint32 id, guint level);

/** Emits the loop over the tasks [@begin, @end) of @kx as scheduled, at the end of the builder's block, which is in e->function.
 *  @inputs, @outputs: addresses. */
void gantry_nest_emit (GantryEmit *e, GantryKx *kx, const GantrySchedule *schedule, const LLVMValueRef *inputs,
                       const LLVMValueRef *outputs, LLVMValueRef begin, LLVMValueRef end);

G_END_DECLS
