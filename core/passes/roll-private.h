/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the pass roll share: the entry's nodes in program order without its leaves (parameters and constants,
 * which any block may read), and runs of blocks in it. */
#pragma once
#include "core/graph/operation.h"
#include "core/graph/rewriter.h"

G_BEGIN_DECLS

#define GANTRY_ROLL_LEAF G_MAXUINT32

/** Blocks 0 .. n_blocks - 1 of @period nodes each, the first node at @base. */
typedef struct
{
  guint32 base, period, n_blocks;
} GantryRun;

typedef struct
{
  const GantryModule *module;
  const GantryFunction *function;
  guint32 n;
  guint32 *nodes;  /* n positions in the function: all that are not leaves */
  guint32 *places; /* by position in the function: index in nodes, or GANTRY_ROLL_LEAF */
} GantrySequence;

void _gantry_sequence_init (GantrySequence *sequence, const GantryModule *module, const GantryFunction *function);
void _gantry_sequence_clear (GantrySequence *sequence);
static inline const GantryNode *
_gantry_sequence_node (const GantrySequence *sequence, guint32 i)
{
  return &sequence->module->nodes[sequence->function->first_node + sequence->nodes[i]];
}
/** Index of node @id, GANTRY_ROLL_LEAF for a leaf. */
static inline guint32
_gantry_sequence_place (const GantrySequence *sequence, guint32 id)
{
  const GantryNode *node = gantry_module_node (sequence->module, id);

  return node != NULL ? sequence->places[gantry_module_position (sequence->module, node) - sequence->function->first_node] : GANTRY_ROLL_LEAF;
}

/**
 * _gantry_find_runs:
 *
 * Stretches whose nodes repeat with a period: same operations, attributes, types and types of operands; whether they are
 * wired alike is not looked at. The largest first; they may overlap. Linear in the nodes times a constant number of
 * periods. Returns: (transfer full): GArray of GantryRun
 */
GArray *_gantry_find_runs (const GantrySequence *sequence);

/** How an operand of a node in a block is wired. */
typedef enum
{
  GANTRY_WIRE_OUTSIDE,  /* of before the first block, or a leaf */
  GANTRY_WIRE_INSIDE,   /* node @at of the same block */
  GANTRY_WIRE_PREVIOUS, /* node @at of the block before */
  GANTRY_WIRE_ELSEWHERE,
} GantryWireKind;

typedef struct
{
  GantryWireKind kind;
  guint32 at;
} GantryWire;

/** Operand @slot of node @j of block @block of @run. */
GantryWire _gantry_run_wire (const GantrySequence *sequence, const GantryRun *run, guint32 block, guint32 j, guint slot);
/** Narrows @run to its first three or more blocks that are wired alike. @rest (out): what is left behind them. Returns:
 *  FALSE when there are none. */
gboolean _gantry_run_narrow (const GantrySequence *sequence, GantryRun *run, GantryRun *rest);

/* Plans: what a run becomes. */

typedef enum
{
  GANTRY_ROLL_FROM_NODE,
  GANTRY_ROLL_FROM_CARRY,
  GANTRY_ROLL_FROM_X,
  GANTRY_ROLL_FROM_CAPTURE,
  GANTRY_ROLL_FROM_CONSTANT,
} GantryRollSourceKind;

typedef struct
{
  GantryRollSourceKind kind;
  guint32 index;
} GantryRollSource;

typedef struct
{
  guint32 at;    /* node of the block that is carried */
  guint32 first; /* old id of what the first block takes */
} GantryRollCarry;

typedef struct
{
  GantryRun run;
  GArray *sources;     /* GantryRollSource, of each slot of each node of a block */
  GArray *carries;     /* GantryRollCarry */
  GPtrArray *xs;       /* GBytes: n_blocks old ids */
  GArray *captures;    /* guint32: old ids */
  GArray *constants;   /* guint32: old ids */
  GHashTable *x_index; /* GBytes -> 1 + index */
  GHashTable *index;   /* guint64 -> 1 + index, of carries, captures and constants */
  GArray *copied;      /* guint32: old ids of constants, for each slot that reads the body's copy */
  guint32 *carried;    /* by node of a block: 1 + index of its first carry */
  guint32 *ys;         /* by node of a block: 1 + index of the y, 0: nobody reads it later */
  GArray *y_nodes;     /* guint32: nodes of a block */
  guint32 *body;       /* new ids of the body's nodes */
  guint32 scope;       /* what the scopes of all blocks have in common */
  GantryPhase phase;   /* forward when any of the nodes is */
} GantryRollPlan;

typedef struct
{
  GantrySequence sequence;
  const GantryModule *module;
  GantryUses *uses;
  GPtrArray *plans;  /* GantryRollPlan */
  guint32 *plan_of;  /* by place in the sequence: 1 + index of the plan */
  guint32 *n_copied; /* by position in the module: uses of a constant that read a body's copy */
} GantryRoll;

static inline const GantryNode *
_gantry_roll_node (const GantryRoll *state, const GantryRun *run, guint32 block, guint32 j)
{
  return _gantry_sequence_node (&state->sequence, run->base + block * run->period + j);
}
/** Whether a node of a block is read behind the run. */
gboolean _gantry_roll_is_read_later (const GantryRoll *state, const GantryRun *run, guint32 block, guint32 j);
/** Writes the scan of @plan, and what is read of it later. */
void _gantry_roll_write (const GantryRoll *state, GantryRollPlan *plan, GantryRewriter *rewriter);

G_END_DECLS
