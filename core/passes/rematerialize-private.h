/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the pass rematerialize share: which loops go back over which, and what their bodies get. */
#pragma once
#include "core/graph/operation.h"
#include "core/graph/rewriter.h"

G_BEGIN_DECLS

#define NOWHERE G_MAXUINT32

/* A parameter that the backward body gets: what the backward scan walks along, or is given as it is. */
typedef struct
{
  guint32 source;  /* parameter of the forward body */
  guint32 operand; /* node, or 0: the forward scan's result `result` */
  guint result;
  gint64 axis;
} GantryAdded;

/* A loop and the one that walks back over it. */
typedef struct
{
  const GantryNode *forward, *backward;
  const GantryFunction *from, *to; /* their bodies */
  GantryScan scan, back;
  guint32 *slot;         /* by node of `from`: the parameter of `to` that is its slice, or NOWHERE */
  guint32 *saved;        /* by parameter of `to`: the node of `from` that is computed there and whose slice it is, or NOWHERE */
  guint8 *again;         /* by node of `from`: it can be made again */
  guint8 *copied;        /* by node of `from`: it is made again, if the plan wants that */
  guint32 *value;        /* by node of `from`, while `to` is written: what stands for it there; 0: not yet */
  GArray *xs, *captures; /* GantryAdded */
} GantryLoopPair;

typedef struct
{
  const GantryModule *module;
  GHashTable *pairs;   /* backward scan -> GantryLoopPair */
  GHashTable *bodies;  /* function of a backward body -> GantryLoopPair */
  GHashTable *saved;   /* forward scan -> GArray of guint32: carries that become stacks */
  GHashTable *n_named; /* function id -> how many nodes name it */
} GantryRematerialize;

static inline const GantryNode *
_gantry_loop_node (const GantryModule *module, const GantryFunction *function, guint32 i)
{
  return &module->nodes[function->first_node + i];
}

static inline guint32
_gantry_loop_index (const GantryModule *module, const GantryFunction *function, guint32 id)
{
  const GantryNode *node = gantry_module_node (module, id);

  return node != NULL ? gantry_module_position (module, node) - function->first_node : NOWHERE;
}

/** The next snapshot, with the bodies of all pairs. Returns: (transfer full) (nullable) */
GantryModule *_gantry_rematerialize_write (GantryRematerialize *state, const GantryProgress *progress, GError **error);

G_END_DECLS
