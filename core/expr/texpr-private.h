/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of tensor expressions share: the builder's insides, the range of values that it knows of every index,
 * and the composition of expressions. */
#pragma once
#include "core/expr/index-range.h"
#include "core/expr/texpr.h"

G_BEGIN_DECLS

#define GANTRY_TEXPR_MAX_NODES (1u << 17)
/* Axes while building: those that turn out not to be needed are dropped at the end. */
#define GANTRY_TEXPR_BUILD_AXES 128

struct _GantryTexprBuilder
{
  GantryElementType element;
  guint rank, n_inputs, n_axes;
  gint64 shape[GANTRY_MAX_RANK];
  gint64 axes[GANTRY_TEXPR_BUILD_AXES];
  const GantryType **inputs;
  GArray *nodes;  /* GantryTx; nodes[0] is the i64 constant 0, the answer once the expression is too large */
  GArray *ranges; /* GantryIndexRange */
  GArray *pool;   /* guint32 */
  guint32 *table; /* open addressing: 1 + node, 0 = free */
  guint table_size;
  guint depth; /* of simplifications inside simplifications */
  gboolean too_large;
};

static inline const GantryTx *
_gantry_tx_node (const GantryTexprBuilder *b, guint32 x)
{
  return &g_array_index (b->nodes, GantryTx, x);
}
static inline GantryIndexRange
_gantry_tx_range (const GantryTexprBuilder *b, guint32 x)
{
  return g_array_index (b->ranges, GantryIndexRange, x);
}
static inline gboolean
_gantry_tx_is_const (const GantryTexprBuilder *b, guint32 x)
{
  return _gantry_tx_node (b, x)->kind == GANTRY_TX_CONST;
}
/** Extent of index variable @variable. */
gint64 _gantry_tx_extent (const GantryTexprBuilder *b, guint variable);
/** The node equal to @node, made if need be: no simplification. */
guint32 _gantry_tx_make (GantryTexprBuilder *b, const GantryTx *node);
guint32 _gantry_tx_make_binary (GantryTexprBuilder *b, GantryOp op, GantryElementType type, guint32 x, guint32 y);

/* texpr-index.c: i64 arithmetic. */
guint32 _gantry_tx_index_binary (GantryTexprBuilder *b, GantryOp op, guint32 x, guint32 y);
/** Returns: 0 or 1 when the comparison of i64 nodes is known, else -1. */
int _gantry_tx_index_compare (GantryTexprBuilder *b, GantryDirection direction, guint32 x, guint32 y);
GantryIndexRange _gantry_tx_range_of (const GantryTexprBuilder *b, const GantryTx *node);

/* texpr-ops-*.c: the meaning of one operation, written with the builder. */
typedef struct
{
  const GantryModule *module;
  const GantryNode *node;
  GantryContext *context;
  GantryTexprBuilder *b;
  const GantryType *result;
} GantryTxOp;

static inline const GantryType *
_gantry_tx_operand (const GantryTxOp *o, guint i)
{
  return gantry_node_operand_type (o->module, o->node, i);
}
/** Operand @i at the result's own coordinates. */
guint32 _gantry_tx_load_same (GantryTxOp *o, guint i);
/** @low <= @x and @x < @high, joined to @condition; tests known to hold are left out. */
guint32 _gantry_tx_within (GantryTxOp *o, guint32 condition, guint32 x, gint64 low, gint64 high);
guint32 _gantry_tx_true (GantryTexprBuilder *b);
/** The value from which a reduction with @op starts. */
guint32 _gantry_tx_identity (GantryTexprBuilder *b, GantryOp op, GantryElementType element);
/** Sums of f16 and bf16 are made in f32. */
GantryElementType _gantry_tx_accumulator (GantryElementType operand, GantryElementType result);

guint32 _gantry_tx_broadcast (GantryTxOp *o);
guint32 _gantry_tx_reshape (GantryTxOp *o);
guint32 _gantry_tx_transpose (GantryTxOp *o);
guint32 _gantry_tx_reverse (GantryTxOp *o);
guint32 _gantry_tx_slice (GantryTxOp *o);
guint32 _gantry_tx_pad (GantryTxOp *o);
guint32 _gantry_tx_concatenate (GantryTxOp *o);
guint32 _gantry_tx_gather (GantryTxOp *o);
guint32 _gantry_tx_dynamic_slice (GantryTxOp *o);
guint32 _gantry_tx_dynamic_update_slice (GantryTxOp *o);
guint32 _gantry_tx_reduction (GantryTxOp *o);
guint32 _gantry_tx_reduce_window (GantryTxOp *o);
guint32 _gantry_tx_dot_general (GantryTxOp *o);
guint32 _gantry_tx_convolution (GantryTxOp *o);

/** As gantry_texpr_of_node(); @depth counts fusions within fusions. */
GantryTexpr *_gantry_texpr_of_node (const GantryModule *module, const GantryNode *node, guint depth, GError **error);
GPtrArray *_gantry_texpr_of_fusion (const GantryModule *module, const GantryNode *fusion, guint depth, GError **error);

G_END_DECLS
