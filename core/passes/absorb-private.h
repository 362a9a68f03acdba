/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the pass absorb share: what of the entry function becomes part of the body of which loop. */
#pragma once
#include "core/graph/operation.h"
#include "core/graph/rewriter.h"

G_BEGIN_DECLS

/* A scan and what it takes in. Nodes of the entry function are meant by their index in it. */
typedef struct
{
  const GantryModule *module;
  const GantryFunction *entry, *body;
  const GantryNode *node;
  GantryScan scan;
  guint32 index;    /* of @node */
  guint8 *depends;  /* by index: it reads what the scan gives */
  guint8 *inside;   /* by index: it becomes part of the body */
  guint8 *kept;     /* by result of the scan: somebody else reads it */
  GArray *xs;       /* guint32: indices of what is walked along besides */
  GArray *captures; /* guint32: indices of what is broadcast in each trip */
  GArray *outputs;  /* guint32: indices of those inside that are results of the entry function, or whose slices are taken outside */
  guint8 *hoisted;  /* by index: it stands behind the scan, which needs it */
  guint32 new_id;   /* of the scan, once it has been written */
  guint n_kept;     /* results of it before the outputs */
} GantryAbsorbed;

static inline const GantryNode *
_gantry_absorb_node (const GantryAbsorbed *a, guint32 index)
{
  return &a->module->nodes[a->entry->first_node + index];
}

static inline guint32
_gantry_absorb_index (const GantryAbsorbed *a, const GantryNode *node)
{
  return gantry_module_position (a->module, node) - a->entry->first_node;
}

/** A trip takes a kernel for each part of what it takes in, which is some microseconds: of slices smaller than this the stack is as well. */
#define GANTRY_LEAST_ABSORBED_BYTES (16 << 10)

/** What each loop of the backward phase would take in. Returns: (transfer full) (element-type GantryAbsorbed) */
GPtrArray *_gantry_absorb_find (const GantryModule *module, const GantryUses *uses);
/** Whether @node takes one slice of its operand, of all that are along the first dimension. */
gboolean _gantry_absorb_takes_slice (const GantryModule *module, const GantryNode *node);
/** Which result of the scan @node shows, of those that are stacks. Returns: -1: none */
gint _gantry_absorb_stack_of (const GantryAbsorbed *a, const GantryNode *node);
/** Whether @node is the same for all trips: a broadcast to a stack, of what has not its first dimension. */
gboolean _gantry_absorb_is_fixed (const GantryAbsorbed *a, const GantryNode *node);
/** The next snapshot. @all: (element-type GantryAbsorbed). Returns: (transfer full) (nullable) */
GantryModule *_gantry_absorb_write (GantryModule *module, GPtrArray *all, const GantryProgress *progress, GError **error);

G_END_DECLS
