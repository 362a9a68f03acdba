/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of one kernel: a schedule says in which order the results are computed and in what units,
 * and the nest emits it. Every value is put at the deepest loop that it depends on, at the time it is
 * first asked for, so that what does not change in a loop is computed before it. */
#pragma once
#include "core/kernels/emit/emit.h"
#include "core/kernels/schedule/loop-schedule.h"

G_BEGIN_DECLS

#define GANTRY_NO_VARIABLE (-1)

/** A loop, or the inside of a condition, that is being emitted. */
typedef struct
{
  int variable; /* bound here, or GANTRY_NO_VARIABLE */
  LLVMValueRef value;
  LLVMValueRef limit; /* of a loop */
  gint64 step;
  LLVMBasicBlockRef head;    /* of a loop; NULL for a condition */
  LLVMBasicBlockRef content; /* where it begins: entered from the parent's `open` when it ends */
  LLVMBasicBlockRef open;    /* values of this level are appended here */
  LLVMBasicBlockRef join;    /* of a condition */
  guint parent;
  int outer_level; /* what the variable was bound to before */
  LLVMValueRef outer_value;
  GArray *trail; /* memo slots to forget when the level ends */
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
  GArray *memo;                        /* LLVMValueRef, GANTRY_SLOTS per node */
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
LLVMValueRef gantry_nest_pointer (GantryNest *nest, LLVMValueRef base, GantryElementType element, guint32 address, guint32 keep, guint row, guint unroll,
                                  gint64 *stride, LLVMValueRef *offsets);
/** The value of a load, read at @level. What else it reads of other rows is kept for them. */
LLVMValueRef gantry_nest_load (GantryNest *nest, guint32 id, guint row, guint unroll, guint level);
void gantry_nest_keep (GantryNest *nest, guint32 id, guint slot, guint level, LLVMValueRef value);
void gantry_nest_reduce (GantryNest *nest, guint32 id, guint level);

/** Emits the loop over the tasks [@begin, @end) of @kx as scheduled, at the end of the builder's block, which is in e->function.
 *  @inputs, @outputs: addresses. */
void gantry_nest_emit (GantryEmit *e, GantryKx *kx, const GantrySchedule *schedule, const LLVMValueRef *inputs, const LLVMValueRef *outputs, LLVMValueRef begin,
                       LLVMValueRef end);

G_END_DECLS
