/* SPDX-License-Identifier: Apache-2.0 */
/* The tensor expressions of one kernel in the form that code is generated from: all results in one
 * graph of hash-consed nodes, and index arithmetic as sums of terms (factor times node), so that the
 * address of a load is one such sum. Every constructor simplifies under the ranges that the index
 * variables have at that time: a loop over a part of a range sees fewer selections and clamps. */
#pragma once
#include "core/expr/index-range.h"
#include "core/expr/texpr.h"

G_BEGIN_DECLS

#define GANTRY_KX_MAX_VARS 60
#define GANTRY_KX_MAX_NODES 400000
/* No node. */
#define GANTRY_NO_NODE G_MAXUINT32

typedef enum
{
  GANTRY_KX_CONST,  /* f, or i */
  GANTRY_KX_INDEX,  /* variable a */
  GANTRY_KX_LINEAR, /* i + sum of terms[b .. b + c), type i64 */
  GANTRY_KX_LOAD,   /* input a at element offset i + sum of terms[b .. b + c) */
  GANTRY_KX_UNARY,  /* op (a) */
  GANTRY_KX_BINARY, /* op (a, b) */
  GANTRY_KX_SELECT, /* a ? b : c; both may be evaluated: every load is within its input */
  GANTRY_KX_CAST,   /* a to type */
  GANTRY_KX_BITCAST,
  GANTRY_KX_REDUCE, /* op of a over the variables in the set u */
  GANTRY_KX_VALUE,  /* number a, defined by a statement of a bound program (grid-private.h) */
} GantryKxKind;

/* In GantryKxNode.vars, beside the variables: the node depends on a VALUE. */
#define GANTRY_KX_HAS_VALUE (G_GUINT64_CONSTANT (1) << 63)

typedef struct
{
  guint32 node;
  gint64 factor;
} GantryKxTerm;

typedef struct
{
  GANTRY_EXPRESSION_NODE; /* kind: GantryKxKind */
  guint64 vars;           /* set of index variables that the value depends on */
} GantryKxNode;

typedef struct
{
  guint32 node;
  GantryIndexRange range;
} GantryKxValue;

/** Where element [i0, i1, ...] of a buffer lies: the sum over pieces of ((i_dim / divisor) % modulus) * stride. */
typedef struct
{
  guint8 dim;
  gint64 divisor; /* 1: none */
  gint64 modulus; /* 0: none */
  gint64 stride;  /* elements */
} GantryKxPiece;

typedef struct
{
  guint n;
  GantryKxPiece pieces[2 * GANTRY_MAX_RANK];
} GantryKxLayout;

typedef struct
{
  const GantryType *type;
  GantryKxLayout layout;
  gboolean splat; /* every element is `value`: loads become constants */
  double value_f;
  gint64 value_i;
} GantryKxInput;

typedef struct
{
  guint32 value;   /* node */
  guint32 address; /* node: element offset in the result */
  guint8 element;
  guint32 output; /* which result of the kernel */
} GantryKxRoot;

typedef struct _GantryKx GantryKx;
struct _GantryKx
{
  guint n_inputs;
  GantryKxInput *inputs;
  guint n_vars;
  gint64 extents[GANTRY_KX_MAX_VARS];
  GantryIndexRange ranges[GANTRY_KX_MAX_VARS]; /* what is known of the variables now */
  guint64 result_vars;                         /* set of the variables that are coordinates of the results */
  GArray *nodes;                               /* GantryKxNode */
  GArray *terms;                               /* GantryKxTerm */
  GArray *known;                               /* GantryIndexRange per node, valid when its stamp is `epoch` */
  GArray *stamps;                              /* guint32 */
  guint32 epoch;
  GArray *values; /* GantryKxValue */
  GHashTable *unique;
  guint n_roots;
  GantryKxRoot *roots;
  gboolean overflow; /* a limit was met: the expression is not usable */
};

/** Node @id, until the next one is made: (transfer none) */
static inline const GantryKxNode *
gantry_kx_node (const GantryKx *kx, guint32 id)
{
  return &g_array_index (kx->nodes, GantryKxNode, id);
}
/** Whether node @id is a product that the sum that it is an addend of takes unrounded: GANTRY_TX_UNROUNDED */
static inline gboolean
gantry_kx_is_addend (const GantryKx *kx, guint32 id)
{
  const GantryKxNode *node = gantry_kx_node (kx, id);

  return node->kind == GANTRY_KX_BINARY && node->op == GANTRY_OP_MULTIPLY && node->direction == GANTRY_TX_UNROUNDED;
}
/** The terms of a LINEAR or LOAD node, node->c of them, until the next node is made. (transfer none) (nullable) */
static inline const GantryKxTerm *
gantry_kx_terms (const GantryKx *kx, const GantryKxNode *node)
{
  /* An address that is one constant has no terms: without any the array has no memory, and NULL + 0 is undefined. */
  return kx->terms->len > 0 ? &g_array_index (kx->terms, GantryKxTerm, node->b) : NULL;
}

/** The row-major layout of @type, without gaps */
void gantry_kx_layout_plain (GantryKxLayout *layout, const GantryType *type);
/** The layout nChw8c and its like: dimension @dim split by @block, the remainder innermost. */
void gantry_kx_layout_blocked (GantryKxLayout *layout, const GantryType *type, guint dim, guint block);

/**
 * gantry_kx_new:
 * @inputs: copied; types must outlive the expression
 */
GantryKx *gantry_kx_new (const GantryKxInput *inputs, guint n_inputs);
void gantry_kx_free (GantryKx *kx);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryKx, gantry_kx_free)
/** Adds @texpr as result @output stored in @layout; all results of one expression have one shape.
 *  Returns: FALSE and @error when it is too large. */
gboolean gantry_kx_add (GantryKx *kx, const GantryTexpr *texpr, guint output, const GantryKxLayout *layout, GError **error);
/** Splits variables at the divisors that addresses use, then joins neighbours that are always used as one. */
void gantry_kx_canonicalize (GantryKx *kx);

/* Constructors. */
/** @type: an integer type or bool. Returns: the node, the same for equal ones */
guint32 gantry_kx_const_int (GantryKx *kx, GantryElementType type, gint64 value);
/** A constant of a floating point type, rounded to it */
guint32 gantry_kx_const_float (GantryKx *kx, GantryElementType type, double value);
/** The value of a variable: i64, from 0 to its extent - 1 */
guint32 gantry_kx_index (GantryKx *kx, guint variable);
/** @constant + the sum of factor * node over @terms (copied), i64: sums within are taken apart, equal terms joined */
guint32 gantry_kx_linear (GantryKx *kx, gint64 constant, const GantryKxTerm *terms, guint n);
/** Element @address (i64 node, in elements, within the buffer whatever the variables are) of @input */
guint32 gantry_kx_load (GantryKx *kx, guint input, guint32 address);
/** @op of @a; @type: of the result */
guint32 gantry_kx_unary (GantryKx *kx, GantryElementType type, GantryOp op, guint32 a);
/** @op of @a and @b, of one type; @direction: of a COMPARE, whose @type is bool, or GANTRY_TX_UNROUNDED of a MULTIPLY. Index arithmetic is simplified by
 * what is known */
guint32 gantry_kx_binary (GantryKx *kx, GantryElementType type, GantryOp op, GantryDirection direction, guint32 a, guint32 b);
/** @a where @predicate (bool) holds, else @b: both are computed */
guint32 gantry_kx_select (GantryKx *kx, guint32 predicate, guint32 a, guint32 b);
/** As the operation convert; nothing where @a has the type */
guint32 gantry_kx_cast (GantryKx *kx, GantryElementType type, guint32 a);
/** The same bits as another type of that size */
guint32 gantry_kx_bitcast (GantryKx *kx, GantryElementType type, guint32 a);
/** @a reduced by @op over the variables in the set @axes, from gantry_kx_identity() on */
guint32 gantry_kx_reduce (GantryKx *kx, GantryOp op, guint32 a, guint64 axes);

/** A new VALUE of which nothing is known. */
guint32 gantry_kx_value (GantryKx *kx, GantryElementType type);
/** Says what is known of it. */
void gantry_kx_assume (GantryKx *kx, guint32 value, gint64 lo, gint64 hi);
/** A new index variable. Returns: its number; when there are too many, the last one, and the kx has overflown */
guint gantry_kx_add_variable (GantryKx *kx, gint64 extent);
/** The constant from which a reduction starts. */
guint32 gantry_kx_identity (GantryKx *kx, GantryOp op, GantryElementType type);

/** What is known of an i64 or bool node under the present ranges. */
GantryIndexRange gantry_kx_range (GantryKx *kx, guint32 id);
/** @id as a sum: constant and terms (a node that is none is one term). Terms are appended to @terms. */
gint64 gantry_kx_as_sum (const GantryKx *kx, guint32 id, gint64 factor, GArray *terms);
/** Sets the range of a variable; gantry_kx_rebuild() then simplifies under it. */
void gantry_kx_set_range (GantryKx *kx, guint variable, gint64 lo, gint64 hi);
/**
 * gantry_kx_rebuild:
 * @substitution: (nullable): per variable a node to put in its place, or G_MAXUINT32
 *
 * Makes @roots (n of them: value and address) anew under the present ranges.
 */
void gantry_kx_rebuild (GantryKx *kx, const guint32 *substitution, GantryKxRoot *roots, guint n);
/** The results of @kx in a graph of their own, with the variables that occur numbered anew: first those of the results,
 *  the one with the largest step in the first result first, then those of reductions. (transfer full) */
GantryKx *gantry_kx_compact (const GantryKx *kx);
/** Puts @with in the place of @node in all of @roots. */
void gantry_kx_replace_in (GantryKx *kx, guint32 node, guint32 with, GantryKxRoot *roots, guint n);
/** Puts @with in the place of @node in all results. */
void gantry_kx_replace (GantryKx *kx, guint32 node, guint32 with);
/** Marks what @roots need: (transfer full): one byte per node */
guint8 *gantry_kx_needed (const GantryKx *kx, const GantryKxRoot *roots, guint n);

/** The address of a LOAD node, as a node. */
guint32 gantry_kx_address (GantryKx *kx, guint32 load);
/** Factor of variable @v in the sum @node stands for; *@other is set when @v also occurs otherwise. */
gint64 gantry_kx_factor_of (const GantryKx *kx, const GantryKxNode *node, guint v, gboolean *other);

/* What expression.c and expression-index.c share. */

/** Adds @node, whose terms (if it has any) are the last ones of kx->terms; gives back the equal one that is there. */
guint32 _gantry_kx_intern (GantryKx *kx, GantryKxNode node);
/** A BINARY node as it is, not simplified */
guint32 _gantry_kx_raw_binary (GantryKx *kx, GantryElementType type, GantryOp op, GantryDirection direction, guint32 a, guint32 b);
/** An empty array of GantryKxTerm. (transfer full) */
GArray *_gantry_kx_new_terms (void);
/** Constant and terms (which this frees) as a node. */
guint32 _gantry_kx_sum (GantryKx *kx, gint64 constant, GArray *terms);
/** Is it @op (DIVIDE or REMAINDER) of something by a positive number? */
gboolean _gantry_kx_is_division (const GantryKx *kx, guint32 id, GantryOp op, guint32 *of, gint64 *by);
/** A comparison of i64 nodes: a constant where ranges decide it */
guint32 _gantry_kx_compare_index (GantryKx *kx, GantryDirection direction, guint32 x, guint32 y);
/** A binary operation of i64 nodes, simplified by what is known of them */
guint32 _gantry_kx_index_binary (GantryKx *kx, GantryOp op, guint32 x, guint32 y);

G_END_DECLS
