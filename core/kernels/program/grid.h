/* SPDX-License-Identifier: Apache-2.0 */
/* The bound form of a kernel: programs for grids of blocks of threads, one for each launch. A program is a list of
 * statements over expressions (GantryKx); what is pure stays an expression, and only what has a place in time is a
 * statement: loops, conditions, barriers, memory that is written. The same program becomes PTX and, with a loop for
 * each dimension of grid and block that is split at the barriers, code for the CPU; so a GPU kernel's indexing and
 * staging are tested where there is no GPU.
 *
 * Expressions may use, beside the kernel's inputs (loads of the LOAD kind are of operands, which nobody writes):
 * index variables bound to the grid (gantry_grid_bind), to loops (FOR) and to the lane of a statement, and values
 * (GANTRY_KX_VALUE) that statements define. An index variable is i64; its extent is that of its range. */
#pragma once
#include "core/expr/kernel-expression.h"
#include "core/plan/gpu.h"

G_BEGIN_DECLS

/** What is known of a GPU when code is made for it. */
typedef struct
{
  char arch[16];               /* "sm_90a" */
  guint capability;            /* 80, 90, 100 */
  gboolean has_wgmma;          /* wgmma and TMA: sm_90a alone */
  guint n_multiprocessors;     /* to size grids by */
  guint64 shared_bytes;        /* most dynamic shared memory of a block */
  const GantryGpuModel *model; /* rates of the GPU that schedules are chosen for */
  double launch_us;            /* what a second launch costs; a test may take it for nothing */
  gboolean allow_tf32;         /* products of f32 may be rounded to 10 bits of mantissa, for tensor cores; FALSE unless
                               somebody chose it */
} GantryGpu;

/** @arch: "sm_80", "sm_90", "sm_90a" or "sm_100". Returns: FALSE and %GANTRY_ERROR_UNSUPPORTED that names those known
 */
gboolean gantry_gpu_init (GantryGpu *gpu, const char *arch, GError **error);

typedef enum
{
  GANTRY_AXIS_NONE,
  GANTRY_AXIS_BLOCK_X,
  GANTRY_AXIS_BLOCK_Y,
  GANTRY_AXIS_BLOCK_Z, /* blockIdx */
  GANTRY_AXIS_THREAD_X,
  GANTRY_AXIS_THREAD_Y,
  GANTRY_AXIS_THREAD_Z, /* threadIdx */
  GANTRY_AXIS_LOOP,
  GANTRY_AXIS_LANE, /* of one statement: element 0 .. lanes - 1 */
} GantryGridAxis;

typedef enum
{
  GANTRY_SPACE_RESULT,    /* result number `slot` of the kernel */
  GANTRY_SPACE_WORKSPACE, /* at byte offset `slot` of the kernel's workspace; kept from one launch to the next */
  GANTRY_SPACE_SHARED,    /* of the block */
  GANTRY_SPACE_PRIVATE,   /* of the thread: registers when every index is known after unrolling */
} GantryGridSpace;

typedef struct
{
  guint8 space;   /* GantryGridSpace */
  guint8 element; /* GantryElementType, as it lies in memory */
  guint64 count;
  guint64 slot;
  const char *name; /* static, for the text form */
} GantryGridArray;

typedef enum
{
  GANTRY_GRID_LET, /* value := expression, computed here and once */
  GANTRY_GRID_SET, /* array[index + lane] := expression, for each lane; of SETs of results that follow each other all
                          values are computed before the first is stored: a result may lie over an operand */
  GANTRY_GRID_GET, /* value + lane := array[index + lane] */
  GANTRY_GRID_FOR, /* variable from lo (known to all threads of a block when the body has a barrier) */
  GANTRY_GRID_IF,
  GANTRY_GRID_ELSE,
  GANTRY_GRID_END,         /* of FOR, IF or ELSE */
  GANTRY_GRID_BARRIER,     /* all threads of the block are here, and see what was written before */
  GANTRY_GRID_SHUFFLE,     /* value := the expression of the thread whose lane in the warp is this one's xor `mask` */
  GANTRY_GRID_FETCH,       /* array[index ...] := input[address ...], `lanes` elements (4, 8 or 16 bytes), asynchronously */
  GANTRY_GRID_COMMIT,      /* closes a group of fetches */
  GANTRY_GRID_AWAIT,       /* all but the newest `mask` groups of this thread's fetches are done (a BARRIER must follow) */
  GANTRY_GRID_MATRIX_LOAD, /* ldmatrix: fragments for MMA from shared memory; collective of the warp */
  GANTRY_GRID_MMA,         /* mma.sync: d += a * b over a warp's fragments; collective of the warp */
  GANTRY_GRID_FENCE,       /* what this thread has in shared memory is there for WGMMA after the next BARRIER */
  GANTRY_GRID_WGMMA,       /* wgmma: d += a * b, of tiles in shared memory; collective of four warps, asynchronous */
  GANTRY_GRID_WGMMA_AWAIT, /* d has what all WGMMA but the newest `mask` of this group of warps add */
  GANTRY_GRID_N_KINDS
} GantryGridKind;

#define GANTRY_GRID_NONE G_MAXUINT32

typedef struct
{
  guint8 kind;                /* GantryGridKind */
  guint8 lanes;               /* SET, GET, FETCH: consecutive elements, a power of two; the address of the first is a multiple */
  guint8 unroll;              /* FOR: the body is written out for each value; lo, hi and step are then constants */
  guint8 shape;               /* MMA: GantryMmaShape; MATRIX_LOAD: how many 8 x 8 matrices (1, 2, 4), | 0x80: transposed;
                      WGMMA: 1: a, 2: b transposed; FETCH: 1: from an array of the workspace, 2: through the first cache */
  guint8 element;             /* of the value that LET, GET or SHUFFLE define, as it is computed with */
  guint32 a;                  /* node: expression (LET, SET, SHUFFLE), condition (IF), lo (FOR), address in what is fetched from (FETCH) */
  guint32 b;                  /* node: index in the array, hi (FOR); of MMA the offset in d */
  guint32 c;                  /* FOR: the variable; SET: the lane variable or GANTRY_GRID_NONE; FETCH: the predicate or
                      GANTRY_GRID_NONE; MMA: array a | MATRIX_LOAD: array it fills */
  guint32 d;                  /* MMA: array b; FETCH: the input or the array */
  guint32 array;              /* of SET, GET, FETCH; of MMA: d; of MATRIX_LOAD: the shared one */
  guint32 value;              /* the first one defined */
  gint64 step;                /* FOR; WGMMA and its AWAIT: columns */
  guint32 mask;               /* SHUFFLE, AWAIT; WGMMA: so many may be under way after it */
  guint32 offset_a, offset_b; /* nodes: MMA, WGMMA: offsets in the arrays a and b; MATRIX_LOAD: offset_a in the array
                                 it fills */
  guint32 end;                /* FOR, IF, ELSE: index of the statement that ends it */
} GantryGridStatement;

/** The shapes of mma.sync that are used. Fragments lie in private arrays as the PTX ISA numbers them. */
typedef enum
{
  GANTRY_MMA_M16N8K16_F16, /* a: 8 f16, b: 4 f16, d: 4 f32, for each thread */
  GANTRY_MMA_M16N8K16_BF16,
  GANTRY_MMA_M16N8K8_TF32, /* a: 4, b: 2 f32 (rounded to tf32), d: 4 f32 */
} GantryMmaShape;

typedef struct _GantryGrid GantryGrid;
struct _GantryGrid
{
  GantryKx *kx; /* (not owned): shared by the launches of a kernel */
  guint32 grid[3], block[3];
  guint8 axis[GANTRY_KX_MAX_VARS];     /* GantryGridAxis per index variable */
  gint64 multiple[GANTRY_KX_MAX_VARS]; /* every value of the variable is a multiple of this; 0: of 1 */
  GArray *arrays;                      /* GantryGridArray */
  GArray *statements;                  /* GantryGridStatement */
  GArray *open;                        /* guint32: statements that are not ended yet */
  guint32 max_registers;               /* 0: no wish */
  guint32 min_blocks;                  /* per multiprocessor; 0: no wish */
};

/** All launches of one kernel. */
typedef struct
{
  GPtrArray *expressions; /* GantryKx: owned here */
  GPtrArray *grids;       /* GantryGrid, one for each launch, in order */
  guint64 workspace_bytes;
} GantryBound;

/** Returns: (transfer full): a kernel without launches */
GantryBound *gantry_bound_new (void);
void gantry_bound_free (GantryBound *bound);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryBound, gantry_bound_free)
/** Takes @kx when it is not there yet. A launch over grid x block threads is added: (transfer none). */
GantryGrid *gantry_bound_add (GantryBound *bound, GantryKx *kx, const guint32 grid[3], const guint32 block[3]);
/** Reserves workspace. Returns: its byte offset, a multiple of 256 */
guint64 gantry_bound_reserve (GantryBound *bound, guint64 bytes);

/* Building. Indices and expressions are nodes of the grid's kx. */

/** A new index variable of that many values, bound to @axis (LOOP and LANE too). Returns: the variable */
guint gantry_grid_variable (GantryGrid *grid, GantryGridAxis axis, gint64 extent);
/** The same, as a node. */
guint32 gantry_grid_index (GantryGrid *grid, GantryGridAxis axis, gint64 extent);

/**
 * gantry_grid_array:
 * @count: elements; of a private array those of each thread
 * @slot: of the workspace: byte offset (gantry_bound_reserve()); of a result: its number; else unused
 * @name: static, for the text form
 *
 * Returns: the number that statements name it by
 */
guint32 gantry_grid_array (GantryGrid *grid, GantryGridSpace space, GantryElementType element, guint64 count, guint64 slot, const char *name);

/** Returns: the value as a node; what is known of an i64 value may be said with gantry_grid_assume(). */
guint32 gantry_grid_let (GantryGrid *grid, guint32 expression);
/** Says that @value, an i64 of gantry_grid_let() or gantry_grid_get(), lies between @lo and @hi, both included */
void gantry_grid_assume (GantryGrid *grid, guint32 value, gint64 lo, gint64 hi);
/** Stores @expression in element @index (i64 node) of @array */
void gantry_grid_set (GantryGrid *grid, guint32 array, guint32 index, guint32 expression);
/** @lane: variable of axis LANE that @expression may use; @index is that of lane 0. */
void gantry_grid_set_lanes (GantryGrid *grid, guint32 array, guint32 index, guint32 expression, guint lane, guint lanes);
/** Element @index (i64 node) of @array, read here. Returns: the value as a node */
guint32 gantry_grid_get (GantryGrid *grid, guint32 array, guint32 index);
/** @type: of the value, computed with as the array's elements are: f16, bf16 and f32 are alike. */
guint32 gantry_grid_get_as (GantryGrid *grid, guint32 array, guint32 index, GantryElementType type);
/** @values: (out): @lanes nodes */
void gantry_grid_get_lanes (GantryGrid *grid, guint32 array, guint32 index, guint lanes, guint32 *values);
/** Returns: the variable as a node. */
guint32 gantry_grid_begin_for (GantryGrid *grid, guint32 lo, guint32 hi, gint64 step, gboolean unroll);
guint32 gantry_grid_begin_for_to (GantryGrid *grid, gint64 n, gboolean unroll); /* 0 .. n - 1 */
/** The same for a variable of the expression that is bound to nothing, an axis of a reduction: through all its values.
 */
void gantry_grid_begin_for_axis (GantryGrid *grid, guint variable, gboolean unroll);
/** What follows, up to gantry_grid_begin_else() or gantry_grid_end(), is done where @condition (bool node) holds */
void gantry_grid_begin_if (GantryGrid *grid, guint32 condition);
/** What follows is done where the condition of the IF that is open does not hold */
void gantry_grid_begin_else (GantryGrid *grid);
/** Closes the FOR or IF opened last */
void gantry_grid_end (GantryGrid *grid);
/** All threads of the block wait for each other, and see what the others stored in shared memory. Not where threads part ways */
void gantry_grid_barrier (GantryGrid *grid);

/**
 * gantry_grid_shuffle:
 * @expression: what each thread gives; @mask: below 32
 *
 * All threads of a warp exchange values: each gets that of the lane whose number is its own xor @mask. Not where threads part
 * ways. Returns: the value as a node
 */
guint32 gantry_grid_shuffle (GantryGrid *grid, guint32 expression, guint32 mask);
/** cp.async: @lanes elements of @input, 4, 8 or 16 bytes, into shared memory. @address: lies within the input whether or not
 * @predicate holds; @predicate: node, bool: where it is false zeros are written and nothing is read; GANTRY_GRID_NONE:
 * always true */
void gantry_grid_fetch (GantryGrid *grid, guint32 array, guint32 index, guint input, guint32 address, guint32 predicate, guint lanes);
/** The fetch that was added last leaves what it reads in the first cache: the block reads most of it again soon. */
void gantry_grid_fetch_cached (GantryGrid *grid);
/** gantry_grid_fetch() from element @at of the array @from of the workspace, which a launch before has written. */
void gantry_grid_fetch_workspace (GantryGrid *grid, guint32 array, guint32 index, guint32 from, guint32 at, guint lanes);
/** cp.async.commit_group: this thread's fetches since the last commit are one group. */
void gantry_grid_commit (GantryGrid *grid);
/** cp.async.wait_group: waits until at most the newest @groups groups of this thread are under way; a barrier shows them to others. */
void gantry_grid_await (GantryGrid *grid, guint32 groups);
/** Each thread names with @index the row (16 bytes) that it contributes, as ldmatrix wants it. */
void gantry_grid_matrix_load (GantryGrid *grid, guint32 to, guint32 offset, guint32 shared, guint32 index, guint matrices, gboolean transposed);

/**
 * gantry_grid_mma:
 * @d: private array of f32 with this thread's part of the sums, which are added to, from element @d_offset
 * @a: @b: private arrays with this thread's parts of the operands, as gantry_grid_matrix_load() leaves them
 *
 * mma.sync: all threads of a warp multiply and add one tile of @shape. Not where threads part ways.
 */
void gantry_grid_mma (GantryGrid *grid, GantryMmaShape shape, guint32 d, guint32 d_offset, guint32 a, guint32 a_offset, guint32 b, guint32 b_offset);

/* wgmma of sm_90a on tiles of f16 or bf16 in shared memory that are GANTRY_WGMMA_DEPTH deep, in the layout with
 * swizzles of 128 bytes. Row r of a tile that is not transposed has the depth along 128 bytes, at r * 128, and its 16
 * bytes number c stand at c xor (r % 8). A transposed one has its own elements along 128 bytes: 64 of them for each
 * depth k at k * 128, 16 bytes number c at c xor (k % 8); the next 64 follow after 64 * 128 bytes. Tiles begin at
 * multiples of 1024 bytes. */
#define GANTRY_WGMMA_ROWS 64
#define GANTRY_WGMMA_DEPTH 64
/** fence.proxy.async: what this thread wrote to shared memory before may be read by a wgmma after the next barrier. */
void gantry_grid_fence (GantryGrid *grid);
/**
 * gantry_grid_wgmma:
 * @d: private array of f32, @columns / 2 of each thread: element 4 j + 2 h + i is that of row 16 (warp % 4) + 8 h +
 * lane / 4, column 8 j + 2 (lane % 4) + i. From here to gantry_grid_wgmma_await() it belongs to the matrix unit
 * @columns: 8 to 256, a multiple of 8
 * @a_index: @b_index: where the tiles begin, the same for all threads of four warps
 * @left: so many products may be under way when the statement is done; tiles of the older ones may be written again
 */
void gantry_grid_wgmma (GantryGrid *grid, guint32 d, guint columns, guint32 a, guint32 a_index, gboolean a_transposed, guint32 b, guint32 b_index,
                        gboolean b_transposed, guint left);
/** All products are done. */
void gantry_grid_wgmma_await (GantryGrid *grid, guint32 d, guint columns);

/**
 * gantry_grid_check:
 *
 * What a lowering relies on: everything that was begun is ended, values are defined before they are used and where they
 * are used, axes that expressions use are bound, lanes divide what they address, a barrier stands in no condition or
 * loop that threads of a block take differently (judged by the variables and values that bounds and conditions depend
 * on), shared memory and block fit @gpu. Returns: FALSE with @error, a fault of whoever made the program
 */
gboolean gantry_grid_check (const GantryGrid *grid, const GantryGpu *gpu, GError **error);
/** A number that every value of an i64 node (of a LOAD: its address) is a multiple of; 0: it is 0. */
gint64 gantry_grid_multiple (const GantryGrid *grid, guint32 node);
/** Bytes of shared memory of a block: of all SHARED arrays, each at a multiple of 128. */
guint64 gantry_grid_shared_bytes (const GantryGrid *grid);
/**
 * gantry_grid_bank_conflicts:
 * @kind: GET, SET, FETCH or MATRIX_LOAD
 *
 * How many words the busiest bank of shared memory gives one after the other in the worst phase of the statements of that
 * kind, by their index expressions: 1 is without conflict; 0: there are none, or their indices depend on what is loaded.
 */
guint gantry_grid_bank_conflicts (const GantryGrid *grid, GantryGridKind kind);
/** For the code view and tests: one statement a line. (transfer full) */
char *gantry_grid_to_text (const GantryGrid *grid);

G_END_DECLS
