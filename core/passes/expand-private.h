/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of function bodies in the place of the nodes that name them: what inline and unroll share. A pass says which
 * nodes it expands and how; the engine walks functions, copies nodes, maps scopes and keeps values that are not nodes
 * (yet): the members of a tuple that nobody needs as one, and the stack of a scan's results, of which most often
 * only the slices are wanted. */
#pragma once
#include "core/graph/rewriter.h"
#include "core/passes/block-table-private.h"
#include "core/passes/effects-private.h"
#include "core/passes/pass.h"

G_BEGIN_DECLS

/** A node id of the new program, or a value that is no node yet. */
typedef guint32 GantryExpandValue;
#define GANTRY_EXPAND_SPECIAL 0x80000000u

typedef struct _GantryExpander GantryExpander;
typedef struct _GantryExpandFrame GantryExpandFrame;

/** What `roll` noted about the iterations of a scan. */
typedef struct
{
  GantryBlockTable scopes, names, locations;
} GantryExpandBlocks;

/** Where one copy of a body stands. */
struct _GantryExpandFrame
{
  const GantryExpandFrame *outer;   /* (nullable): the copy that the expanded node stands in */
  const GantryNode *node;           /* that is expanded */
  const char *part;                 /* (nullable): "iteration.3": what is put in between */
  GantryPhase phase;                /* of the expanded node: what forward nodes of the body become */
  const GantryExpandBlocks *blocks; /* (nullable) */
  gint64 iteration;
  GHashTable *scopes; /* scope of the source -> scope here; made when first needed */
};

struct _GantryExpander
{
  GantryModule *source;
  GantryRewriter *rewriter;
  GantryBuilder *b;
  const GantryProgress *progress;
  /** Whether the pass takes this node's place. */
  gboolean (*wants) (const GantryExpander *expander, const GantryNode *node);
  /** Gives the value of a node that the pass wants. @frame: (nullable): the copy that it stands in */
  gboolean (*expand) (GantryExpander *expander, const GantryNode *node, const GantryExpandValue *operands, const GantryExpandFrame *frame,
                      GantryExpandValue *value, GError **error);

  guint32 max_nodes;     /* the size beyond which nothing is expanded; 0: as many as a pass may make */
  guint32 most_unrolled; /* of unroll: the size beyond which a scan or a loop stays one */
  const guint8 *small;   /* (nullable): of unroll-small, by position in the source: a loop that is written out */
  gboolean defers;       /* what scans cut again is joined only where somebody wants it whole */

  /* The engine's own. */
  GPtrArray *specials;
  GHashTable *unit_stacks;   /* node id here -> whether it is a concatenate of pieces of size 1 */
  GantryExpandValue *values; /* by id of the source, what is special */
  guint8 *deferred;          /* by position in the source */
  guint8 *active;            /* by function index: being copied */
  guint8 *reached;           /* by function index: named by what is written */
  GArray *queue;             /* of guint: reached, not yet written */
  GantryUses *uses;
  GantryEffects *effects;
  GHashTable *surveys; /* (nullable): of unroll-keep.c, by function id */
  guint depth;
  guint64 n_made, n_expanded;
  gboolean fold; /* scalars are computed as they are copied */
};

/** Returns: (transfer full) (nullable): the next snapshot; the source itself where there is nothing to expand */
GantryModule *_gantry_expand (GantryModule *module, GantryExpander *expander, const GantryProgress *progress, GError **error);

/** The function that attribute @key of @node names. */
const GantryFunction *_gantry_expand_function_of (GantryExpander *e, const GantryNode *node, const char *key, GError **error);
/** Copies a body; @results takes one value per result of @function. */
gboolean _gantry_expand_body (GantryExpander *e, const GantryFunction *function, const GantryExpandValue *arguments, GantryExpandFrame *frame,
                              GantryExpandValue *results, GError **error);
/** Begins the frame of a copy for @node, which stands in @outer. */
void _gantry_expand_frame_init (GantryExpandFrame *frame, const GantryExpandFrame *outer, const GantryNode *node, const char *part);
void _gantry_expand_frame_clear (GantryExpandFrame *frame);
/** Where nodes stand that are made for @frame itself: its part of the expanded node's scope, and that node as origin. */
void _gantry_expand_set_place (GantryExpander *e, GantryExpandFrame *frame);
/** Where nodes stand that are made for @node, which stands in @frame (nullable). */
void _gantry_expand_set_place_of (GantryExpander *e, const GantryExpandFrame *frame, const GantryNode *node);

/** The scope of @node, which stands in @frame (nullable), in the new program. */
guint32 _gantry_expand_scope_of (GantryExpander *e, const GantryExpandFrame *frame, const GantryNode *node);

/** Several values as one. */
GantryExpandValue _gantry_expand_group (GantryExpander *e, const GantryExpandValue *members, guint n);
/** What @n values are together: the value itself where it is one. */
GantryExpandValue _gantry_expand_together (GantryExpander *e, const GantryExpandValue *members, guint n);
/** Slices put side by side along @axis; made of them is a value of @type. @node, in @frame, is where
 *  it stands. */
GantryExpandValue _gantry_expand_stack (GantryExpander *e, const GantryExpandValue *slices, gint64 n, gint64 axis, guint32 type, const GantryExpandFrame *frame,
                                        const GantryNode *node);
/** Slice @i of @value along @axis, without that dimension. The builder's place must be set. */
GantryExpandValue _gantry_expand_slice (GantryExpander *e, GantryExpandValue value, gint64 axis, gint64 i);
/** Member @i of a tuple value. */
GantryExpandValue _gantry_expand_member (GantryExpander *e, GantryExpandValue value, guint i);
/** The node that is this value; makes one where there is none yet, and changes the builder's place then. */
guint32 _gantry_expand_id (GantryExpander *e, GantryExpandValue value);
/** Members of a group, 0 for any other value. */
guint _gantry_expand_n_members (GantryExpander *e, GantryExpandValue value);
void _gantry_expand_set_fold (GantryExpander *e, gboolean fold);

/* expand-values.c, for expand.c alone */
void _gantry_expand_values_init (GantryExpander *e);
void _gantry_expand_values_clear (GantryExpander *e);
/** Marks what need not be written unless somebody wants it as a whole: stacks that scans only cut, and what they are
 *  made of. */
void _gantry_expand_mark_deferred (GantryExpander *e);
GantryExpandValue _gantry_expand_defer (GantryExpander *e, const GantryNode *node);
/** The value of a node of the source in the function being written. */
GantryExpandValue _gantry_expand_value_of (GantryExpander *e, guint32 old_id);
/** The slice that @node cuts out of the special value @operand, when it is one; else 0. */
GantryExpandValue _gantry_expand_cut (GantryExpander *e, const GantryNode *node, GantryExpandValue operand);

G_END_DECLS
