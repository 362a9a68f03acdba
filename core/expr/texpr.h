/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor expressions: the one meaning of an operation. An expression says, for each coordinate of
 * the result, a scalar over loads from the operands, with reductions over further axes. The
 * evaluator, the CPU code and the GPU code all read it.
 *
 * Nodes of the expression lie in one array in post order (an argument comes before its user), and
 * equal nodes are one node. Index arithmetic uses the same nodes, typed i64: INDEX 0..rank-1 are the
 * result coordinates, rank.. the reduction axes.
 *
 * Numbers: arithmetic on f16 and bf16 is done in f32; the result of the whole expression is rounded
 * once when stored (a fused group may therefore be more exact than its parts). Sums of f16, bf16
 * and f32 accumulate in f32 or better; sums of integers wrap. Integer division truncates; by zero it
 * gives -1 (unsigned: all ones), remainder gives the dividend; MIN/-1 wraps. Float to integer
 * conversion truncates and saturates, NaN gives 0. Shifts by the width or more give 0 (arithmetic
 * right: the sign). MAXIMUM and MINIMUM propagate NaN. */
#pragma once
#include "core/graph/module.h"
#include "core/expr/scalar.h"

G_BEGIN_DECLS

typedef enum
{
  GANTRY_TX_CONST,  /* f or i by type */
  GANTRY_TX_INDEX,  /* variable number a; type i64 */
  GANTRY_TX_LOAD,   /* input a at the indices pool[b .. b + c): one for each of its dimensions */
  GANTRY_TX_UNARY,  /* op (a); op is the GantryOp of an elementwise operation */
  GANTRY_TX_BINARY, /* op (a, b); COMPARE carries its direction in `direction` and has type bool; MULTIPLY has GANTRY_TX_UNROUNDED there
                       where the REDUCE that adds it up takes it so */
  GANTRY_TX_SELECT, /* a ? b : c; a load in the arm not taken is not performed */
  GANTRY_TX_CAST,   /* a converted to type, as `convert` */
  GANTRY_TX_BITCAST,
  GANTRY_TX_REDUCE, /* op over axes pool[b .. b + c) (index variables) of a, from the identity of op
                       (ADD 0, MULTIPLY 1, MAXIMUM lowest or -inf, MINIMUM, AND true, OR false) */
} GantryTxKind;

/* In `direction` of a MULTIPLY of floats: it and the sum that it is an addend of are one operation of the program, as in a product of
 * matrices, and it is not rounded before it is added where the target can do that: not beneath a SELECT, nor in the processor's long sums,
 * which go on in f64. Every other operation of f32 or f64 rounds, whatever kernel it is part of: else the bits of a result would depend on
 * what was fused. */
#define GANTRY_TX_UNROUNDED 1

/* What the nodes of both forms of expression have, this one and that of core/expr/kernel-expression.h; kind: of the form, GantryTxKind here;
 * type: GantryElementType of the value; op: GantryOp; direction: GantryDirection, or GANTRY_TX_UNROUNDED; what the others say tells kind. */
#define GANTRY_EXPRESSION_NODE \
  guint8 kind, type, op, direction; \
  guint32 a, b, c; \
  union \
  { \
    double f; \
    gint64 i; \
    guint64 u; \
  }

typedef struct
{
  GANTRY_EXPRESSION_NODE;
} GantryTx;

typedef struct _GantryTexpr GantryTexpr;
/** Read freely; built through the functions below. */
struct _GantryTexpr
{
  guint8 element; /* of the result */
  guint8 rank;
  guint8 n_axes;
  guint32 n_inputs;
  gint64 shape[GANTRY_MAX_RANK];
  gint64 axes[GANTRY_MAX_RANK]; /* extents of the reduction axes: index variables rank..; each is bound by one REDUCE */
  const GantryType **inputs;    /* types of the operands, n_inputs */
  guint32 n_nodes;
  GantryTx *nodes;
  guint32 n_pool;
  guint32 *pool;
  guint32 root;
};

void gantry_texpr_free (GantryTexpr *texpr);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryTexpr, gantry_texpr_free)

/**
 * gantry_texpr_of_node:
 *
 * Returns: (transfer full) (nullable): the meaning of a core node with static types whose operands are
 *  its inputs in order; NULL with %GANTRY_ERROR_UNSUPPORTED for EXTERN and STRUCTURE operations.
 *  A fusion's expressions are made by gantry_texpr_of_fusion().
 */
GantryTexpr *gantry_texpr_of_node (const GantryModule *module, const GantryNode *node, GError **error);
/** One expression per result of the fused body, over the fusion's operands, intermediate values inlined. */
GPtrArray *gantry_texpr_of_fusion (const GantryModule *module, const GantryNode *fusion, GError **error);
/** @inner's value put in place of every load of input @input of @outer; the inputs of the result are
 *  @outer's without @input followed by @inner's. Equal loads become one. (nullable) when @inner reduces
 *  and would be recomputed at more than one coordinate per result element. */
GantryTexpr *gantry_texpr_inline (const GantryTexpr *outer, guint input, const GantryTexpr *inner);

/** In TVM's manner: "C[i, j] = sum(A[i, k] * B[k, j], axis=[k])". An addend of a sum that is a product and not GANTRY_TX_UNROUNDED stands in
 *  brackets: "sum((A[k] * B[k]), axis=[k])". (transfer full); @names (nullable): of the inputs. */
char *gantry_texpr_to_text (const GantryTexpr *texpr, const char *const *names);

/* Building one. */
typedef struct _GantryTexprBuilder GantryTexprBuilder;
/** For a result of @element and @shape over @inputs, whose types must outlive the builder. (transfer full) */
GantryTexprBuilder *gantry_texpr_builder_new (GantryElementType element, guint rank, const gint64 *shape, guint n_inputs, const GantryType *const *inputs);
/** The value of a variable, i64: a dimension of the result, or what gantry_tx_axis() gave */
guint32 gantry_tx_index (GantryTexprBuilder *b, guint variable);
guint gantry_tx_axis (GantryTexprBuilder *b, gint64 extent); /* a new reduction axis: its index variable */
guint32 gantry_tx_int (GantryTexprBuilder *b, gint64 value); /* i64 */
/** A constant of any element type: as the operation convert makes it of a double */
guint32 gantry_tx_const (GantryTexprBuilder *b, GantryElementType element, double value);
/** A constant of any element type; integers wrap to it */
guint32 gantry_tx_const_int (GantryTexprBuilder *b, GantryElementType element, gint64 value);
/** The element of @input at @indices (i64 nodes, one a dimension; copied), which lie inside wherever the value is used */
guint32 gantry_tx_load (GantryTexprBuilder *b, guint input, const guint32 *indices);
/** @op of @x; constants are folded */
guint32 gantry_tx_unary (GantryTexprBuilder *b, GantryOp op, guint32 x);
guint32 gantry_tx_binary (GantryTexprBuilder *b, GantryOp op, guint32 x, guint32 y); /* simplifies index arithmetic */
/** @x times @y, an addend of the gantry_tx_reduce() that it is for: GANTRY_TX_UNROUNDED */
guint32 gantry_tx_addend (GantryTexprBuilder *b, guint32 x, guint32 y);
/** A bool: @x @direction @y, of one type; a constant where ranges of indices decide it */
guint32 gantry_tx_compare (GantryTexprBuilder *b, GantryDirection direction, guint32 x, guint32 y);
/** @x where @predicate (bool) holds, else @y */
guint32 gantry_tx_select (GantryTexprBuilder *b, guint32 predicate, guint32 x, guint32 y);
/** As the operation convert */
guint32 gantry_tx_cast (GantryTexprBuilder *b, guint32 x, GantryElementType element);
/** The same bits as @element, which has the size of the type of @x */
guint32 gantry_tx_bitcast (GantryTexprBuilder *b, guint32 x, GantryElementType element);
/** @x reduced by @op over @axes (variables; copied), from its identity on */
guint32 gantry_tx_reduce (GantryTexprBuilder *b, GantryOp op, guint32 x, const guint *axes, guint n_axes);
/** Frees @b. Returns: (nullable): NULL when the expression is too large: more than 2^17 nodes, or more than
 *  GANTRY_MAX_RANK axes that are needed. INDEX of an extent of 1 is the constant 0. */
GantryTexpr *gantry_texpr_builder_end (GantryTexprBuilder *b, guint32 root);

G_END_DECLS
