/* SPDX-License-Identifier: Apache-2.0 */
/* From a bound program to LLVM IR: what all lowerings have in common (grid-emit.c: statements and control flow;
 * grid-values.c: expressions, memory) and the table of what differs between them (GantryGridMachine).
 *
 * An expression is emitted where its statement stands and kept for the statements after it in the same scope; moving
 * what does not change out of loops is left to LLVM's passes. Index arithmetic is done in 32 bits where the ranges of
 * the variables say that it fits. Variables of private arrays are stack slots, which SROA makes registers. */
#pragma once
#include "core/kernels/emit/emit.h"
#include "core/kernels/program/grid.h"

G_BEGIN_DECLS

#define GANTRY_GRID_MAX_LANES 16

typedef struct _GantryGridEmit GantryGridEmit;

/**
 * GantryGridMachine: what a lowering says how to do. The builder of `emit->e` stands where the code belongs; a function
 * may leave it in another block.
 *
 * @alignment: of the addresses of operands, results and workspace, in bytes; 1: not known
 * @vector_bytes: of the widest load and store
 * @begin_threads: (nullable): set where the threads of a block are a loop: what lies between two collective statements
 *  stands between begin_threads() and end_threads(); outside them only what is equal for all threads is asked for
 */
typedef struct
{
  guint alignment;
  guint vector_bytes;
  LLVMValueRef (*axis) (GantryGridEmit *emit, GantryGridAxis axis); /* i32 */
  /** Pointers to the first element, of any address space. Asked for at each use. */
  LLVMValueRef (*array) (GantryGridEmit *emit, guint32 array);
  LLVMValueRef (*input) (GantryGridEmit *emit, guint32 input);
  void (*input_load) (GantryGridEmit *emit, LLVMValueRef load); /* (nullable): may mark it as never written */

  /** @predicate: (nullable): i1; zeros come instead where it is false, and nothing is read */
  void (*fetch) (GantryGridEmit *emit, const GantryGridStatement *statement, LLVMValueRef to, LLVMValueRef from, LLVMValueRef predicate, guint bytes);
  void (*commit) (GantryGridEmit *emit);
  void (*await) (GantryGridEmit *emit, guint groups);
  /** (nullable): told of each GET and SET before it happens. */
  void (*access) (GantryGridEmit *emit, const GantryGridStatement *statement, LLVMValueRef pointer, guint bytes);

  /* Without begin_threads: */
  void (*barrier) (GantryGridEmit *emit);
  /** @value: as it is computed with (f16 as float, bool as i1). Returns: the same type */
  LLVMValueRef (*shuffle) (GantryGridEmit *emit, GantryElementType element, LLVMValueRef value, guint32 mask);
  /** @to: the first element of the private fragment; @row: this thread's row in shared memory */
  void (*matrix_load) (GantryGridEmit *emit, const GantryGridStatement *statement, LLVMValueRef to, LLVMValueRef row);
  /** The first elements of the private fragments. */
  void (*mma) (GantryGridEmit *emit, const GantryGridStatement *statement, LLVMValueRef d, LLVMValueRef a, LLVMValueRef b);

  /** wgmma and its wait; @d: the first of the sums; @a, @b: the tiles. NULL where the program may have none. */
  void (*wgmma) (GantryGridEmit *emit, const GantryGridStatement *statement, LLVMValueRef d, LLVMValueRef a, LLVMValueRef b);
  void (*wgmma_await) (GantryGridEmit *emit, const GantryGridStatement *statement, LLVMValueRef d);
  void (*fence) (GantryGridEmit *emit); /* (nullable): there is nothing to order */

  /* With it: */
  void (*begin_threads) (GantryGridEmit *emit);
  void (*end_threads) (GantryGridEmit *emit);
  /** Within threads: puts down what this thread gives to a collective statement; and takes what thread @number xor
   *  @mask has put down. */
  void (*put) (GantryGridEmit *emit, LLVMValueRef x);
  LLVMValueRef (*take) (GantryGridEmit *emit, LLVMTypeRef type, guint32 mask);
  /** BARRIER, MATRIX_LOAD (the pointers to the rows have been put down), MMA, or WGMMA (a pair of pointers, to the
   *  tiles) and its AWAIT, of all threads; called outside threads. */
  void (*collective) (GantryGridEmit *emit, const GantryGridStatement *statement);
  /** Keeps a value for statements after the end of the threads' loop, and gives it back (outside: of any thread). */
  void (*keep) (GantryGridEmit *emit, guint32 value, LLVMValueRef x);
  LLVMValueRef (*kept) (GantryGridEmit *emit, guint32 value, LLVMTypeRef type);
} GantryGridMachine;

struct _GantryGridEmit
{
  GantryEmit *e;
  const GantryGrid *grid;
  GantryKx *kx;
  const GantryGridMachine *machine;
  gpointer data;                          /* the machine's */
  gboolean in_threads;                    /* always TRUE without begin_threads */
  gboolean keeps;                         /* the program is split: values are kept by the machine */
  LLVMValueRef index[GANTRY_KX_MAX_VARS]; /* i32 or i64; NULL: not bound now */
  guint lane_variable, lanes;             /* of the statement that is emitted; GANTRY_GRID_NONE: it has none */
  /* Kept values: GANTRY_GRID_MAX_LANES for each node that was asked for. */
  guint32 *slot_of; /* per node: 1 + slot */
  guint32 n_slot_of;
  GArray *memo;  /* LLVMValueRef */
  GArray *trail; /* guint32 pairs: place in memo, node; in the order they were made */
};

/* grid-emit.c */

/**
 * gantry_grid_emit:
 * @e: stands in the function, at the end of its entry block or later
 *
 * Emits the program for one block (and, without begin_threads, one thread) at the builder's place, and leaves the
 * builder behind it. @grid has passed gantry_grid_check().
 */
void gantry_grid_emit (GantryEmit *e, const GantryGrid *grid, const GantryGridMachine *machine, gpointer data);
/** A stack slot in the function's entry block. */
LLVMValueRef gantry_grid_emit_stack (GantryEmit *e, LLVMTypeRef type, guint alignment);
/** TRUE where all threads of a block take part at once: BARRIER, SHUFFLE, MATRIX_LOAD, MMA, WGMMA, and FOR, IF and ELSE
 * around them. */
gboolean gantry_grid_is_collective (const GantryGrid *grid, guint32 statement);

/* grid-values.c */

/** The value of a node for one lane (0 where the statement has none), as gantry_emit_scalar_type() says: i64 for
 * indices. */
LLVMValueRef gantry_grid_emit_value (GantryGridEmit *emit, guint32 node, guint lane);
/** An address: the element @index of @base. */
LLVMValueRef gantry_grid_emit_pointer (GantryGridEmit *emit, LLVMValueRef base, GantryElementType element, guint32 index);
/** The same, as i32 where what is known of the node says that it fits. */
LLVMValueRef gantry_grid_emit_index (GantryGridEmit *emit, guint32 node, guint lane);
/** @n statements that follow each other: all values, then all stores. */
void gantry_grid_emit_sets (GantryGridEmit *emit, const GantryGridStatement *statements, guint n);
/** A GET: reads its lanes in as wide pieces as alignment allows and defines their values, in the scope that is open. */
void gantry_grid_emit_get (GantryGridEmit *emit, const GantryGridStatement *statement);
/** Says what number @value stands for from here to the end of the scope. */
void gantry_grid_emit_define (GantryGridEmit *emit, guint32 value, LLVMValueRef x);
/** Scopes: what was computed after the mark is forgotten. @only: of an unrolled loop: what depends on no
 *  value and none of these variables is kept; 0: all is forgotten */
guint gantry_grid_emit_mark (const GantryGridEmit *emit);
/** @mark: of gantry_grid_emit_mark(), the last one that was not used for this yet. */
void gantry_grid_emit_forget (GantryGridEmit *emit, guint mark, guint64 only);

G_END_DECLS
