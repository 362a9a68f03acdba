/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the pass fuse share. */
#pragma once
#include "core/graph/rewriter.h"
#include "core/passes/passes.h"

G_BEGIN_DECLS

#define GANTRY_FUSE_MOST_MEMBERS 96
#define GANTRY_FUSE_NO_GROUP G_MAXUINT32

/** GantryFuse: the groups of a module, each of which becomes a fusion. All arrays are by position of a node. */
typedef struct
{
  const GantryModule *module;
  GantryUses *uses;
  guint32 *group;      /* position of the root, or GANTRY_FUSE_NO_GROUP */
  guint8 *repeated;    /* the group reads an element of it more than once */
  guint32 *rows;       /* 1 + position of the reduction whose rows it is about, 0: none */
  guint8 *products;    /* (nullable): products may be fused; of a root: what its group has of them */
  guint32 *size;       /* of a root */
  guint8 *copied;      /* a node of no group that each group which reads it has a copy of */
  guint8 *kept;        /* a group that has copies reads it, so that it stays a value */
  guint8 *most;        /* of a root: members it may have */
  GArray **members;    /* of a root: positions, in program order, copies included */
  GHashTable **copies; /* (nullable), of a root: positions of nodes that it has copies of */
  guint8 *skip;        /* by function index: body of a fusion already */
  guint n_fused;
} GantryFuse;

gboolean _gantry_fuse_is_compiled (const GantryModule *module, const GantryNode *node);
gboolean _gantry_fuse_is_scalar_broadcast (const GantryModule *module, const GantryNode *node);
gboolean _gantry_fuse_is_splat_constant (const GantryModule *module, const GantryNode *node);
/** Has the node @times as many elements as its operand, without arithmetic? Who reads it may as well read the operand. */
gboolean _gantry_fuse_enlarges (const GantryModule *module, const GantryNode *node, gint64 times);
gboolean _gantry_fuse_is_elementwise (const GantryNode *node);
gboolean _gantry_fuse_is_joinable_movement (const GantryNode *node);
/** A sum of products, of whose operands each element is read many times. */
gboolean _gantry_fuse_is_product (const GantryNode *node);
gboolean _gantry_fuse_may_end_group (const GantryModule *module, const GantryNode *node);
int _gantry_fuse_compare_positions (gconstpointer a, gconstpointer b);

/** By position: 1 + position of the reduction over innermost dimensions that the node is (or computes with, one number for each
 *  row), where all of that ends in broadcasts to the whole; 0: none. (transfer full) */
guint32 *_gantry_fuse_find_rows (const GantryModule *module, const GantryUses *uses);
/** Notes in @fuse, for each group of the backward phase, which of the values that it reads it computes itself, from others of them,
 *  from what is hardly anything beside them, and from values that are kept instead of several. @inputs: by position of a root, ids
 *  (nullable) */
void _gantry_fuse_choose_copies (GantryFuse *fuse, GArray *const *inputs);
/** The same for values that groups of the backward phase alone read there, and that all of them can compute from what other
 *  instructions of the backward phase read no earlier. @inputs: what the groups read with the copies chosen before */
void _gantry_fuse_choose_residuals (GantryFuse *fuse, GArray *const *inputs);

G_END_DECLS
