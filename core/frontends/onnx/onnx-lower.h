/* SPDX-License-Identifier: Apache-2.0 */
/* Private to core/frontends/onnx: what the lowering rules (lower-*.c) share. A rule reads the
 * foreign node through a GantryLower and writes core nodes with the builder. It never returns an
 * error: it records one with gantry_lower_fail() (the first sticks, everything after it is a no-op
 * on id 0), and the caller in dialect.c asks once. Accessors of dimensions are therefore safe on id
 * 0. */
#pragma once
#include "core/frontends/onnx/onnx-node.h"
#include "core/graph/builder-composite.h"
#include "core/graph/graph.h"
#include <math.h>
#include <string.h>

G_BEGIN_DECLS

typedef struct _GantryLower GantryLower;
typedef struct _GantryLowerRule GantryLowerRule;

typedef enum
{
  GANTRY_LOWER_ANY_SHAPE = 1 << 0, /* works while dimensions are symbols */
  GANTRY_LOWER_ANY_TYPE = 1 << 1,  /* checks operand types itself */
} GantryLowerFlags;

/** One row of a family's table; `arg` and `text` tell apart the operations that share a function. */
struct _GantryLowerRule
{
  const char *name;
  void (*lower) (GantryLower *l);
  GantryOpClass op_class;
  guint flags;
  int arg;
  const char *text;
};

/**
 * GantryLower: the node being lowered.
 *
 * @op: name without the dialect, "Conv"
 * @in: operand ids in the new module, 0 where absent: @n_in declared ones, then @n_captures captures
 * @out: result ids to fill
 * @arena: scratch of this one rule
 * @depth: nesting of subgraphs
 */
struct _GantryLower
{
  GantryBuilder *b;
  GantryContext *context;
  const GantryModule *source;
  const GantryNode *node;
  const GantryLowerRule *rule;
  const char *op;
  gint64 opset;
  guint n_in;
  guint n_captures;
  const guint32 *in;
  guint n_out;
  guint32 *out;
  GantryArena *arena;
  guint depth;
  gboolean failed;
};

/* The families, each ended by a row without a name. */
extern const GantryLowerRule gantry_lower_activation_rules[];
extern const GantryLowerRule gantry_lower_attention_rules[];
extern const GantryLowerRule gantry_lower_control_rules[];
extern const GantryLowerRule gantry_lower_conv_rules[];
extern const GantryLowerRule gantry_lower_cut_rules[];
extern const GantryLowerRule gantry_lower_einsum_rules[];
extern const GantryLowerRule gantry_lower_elementwise_rules[];
extern const GantryLowerRule gantry_lower_index_rules[];
extern const GantryLowerRule gantry_lower_loss_rules[];
extern const GantryLowerRule gantry_lower_matmul_rules[];
extern const GantryLowerRule gantry_lower_misc_rules[];
extern const GantryLowerRule gantry_lower_norm_rules[];
extern const GantryLowerRule gantry_lower_pool_rules[];
extern const GantryLowerRule gantry_lower_quantize_rules[];
extern const GantryLowerRule gantry_lower_recurrent_rules[];
extern const GantryLowerRule gantry_lower_reduce_rules[];
extern const GantryLowerRule gantry_lower_resize_rules[];
extern const GantryLowerRule gantry_lower_sample_rules[];
extern const GantryLowerRule gantry_lower_scan_rules[];
extern const GantryLowerRule gantry_lower_sequence_rules[];
extern const GantryLowerRule gantry_lower_shape_rules[];
extern const GantryLowerRule gantry_lower_signal_rules[];

/** dialect.c: lowers @node of @source into @b; used for the nodes of subgraphs too. */
gboolean gantry_lower_node (GantryBuilder *b, const GantryModule *source, const GantryNode *node, const guint32 *operands, guint32 *results, guint n_results,
                            guint depth, GError **error);

/** Loops of more trips than this are not unrolled. */
#define GANTRY_LOWER_MOST_TRIPS 256

/** The function id that attribute @key names; 0 after a failure. */
guint32 gantry_lower_function (GantryLower *l, const char *key);

/**
 * gantry_lower_inline:
 * @function: id of a function of the source (a subgraph)
 * @arguments: values in the new module for its parameters
 *
 * Lowers the nodes of the function in place. Returns: FALSE after a failure
 */
gboolean gantry_lower_inline (GantryLower *l, guint32 function, const guint32 *arguments, guint n_arguments, guint32 *results, guint n_results);

/* Errors: "<Operation>: <why>". */
/** As printf(). For what is not supported; the rule may go on, nothing it writes from here on counts. */
void gantry_lower_fail (GantryLower *l, const char *format, ...) G_GNUC_PRINTF (2, 3);
/** As fail, for a model that contradicts the specification. */
void gantry_lower_invalid (GantryLower *l, const char *format, ...) G_GNUC_PRINTF (2, 3);
/** @what, which is @value (0: follows from all operands), is computed at run time though the rule needs it now. Says which
 * inputs of the model could be given a value. */
void gantry_lower_needs_constant (GantryLower *l, guint32 value, const char *what);
/** "; it depends on 'rate': set the value of this input", "" where that is not known. Returns: (transfer full) */
char *gantry_lower_inputs_of (GantryLower *l, guint32 value);

/* Operands. */
/** Whether the node has a declared operand @i. */
static inline gboolean
gantry_lower_has (const GantryLower *l, guint i)
{
  return i < l->n_in && l->in[i] != 0;
}
/** Returns: the id of declared operand @i in the new module; 0 where it is absent */
static inline guint32
gantry_lower_operand (const GantryLower *l, guint i)
{
  return i < l->n_in ? l->in[i] : 0;
}
/** Whether the model gives result @result a name: others need not be made. */
static inline gboolean
gantry_lower_wants (const GantryLower *l, guint result)
{
  return result < l->n_out;
}

/* Types of values in the new module. Out of range, or of id 0: 0. */
/** Returns: (transfer none): never NULL: the unknown type of id 0 */
const GantryType *gantry_lower_type (GantryLower *l, guint32 id);
/** Dimensions of the value @id; 0 of id 0 and where the type is not known. */
static inline guint
gantry_lower_rank (GantryLower *l, guint32 id)
{
  return gantry_lower_type (l, id)->rank;
}
/** Dimension @i, from 0, of the value @id: a size, a symbol or unknown; 0 where there is none. */
static inline GantryDim
gantry_lower_dim (GantryLower *l, guint32 id, gint64 i)
{
  const GantryType *type = gantry_lower_type (l, id);

  return i >= 0 && i < type->rank ? type->dims[i] : 0;
}
/** Element type of the value @id; NONE of id 0 and where the type is not known. */
static inline GantryElementType
gantry_lower_element (GantryLower *l, guint32 id)
{
  return (GantryElementType) gantry_lower_type (l, id)->element;
}
/** Copies the dimensions into @dims (room for GANTRY_MAX_RANK) and returns the rank. */
guint gantry_lower_dims (GantryLower *l, guint32 id, GantryDim *dims);
/** The type that the source declares for result @i when it is a static tensor, else NULL (always
 * NULL at import,  where types are only being found). A model keeps what it declares, so a rule may
 * take from here an extent  that the specification makes depend on data. */
const GantryType *gantry_lower_declared (GantryLower *l, guint i);
/** @axis counted from the end when negative; fails and returns -1 when it is out of range. */
gint64 gantry_lower_axis (GantryLower *l, gint64 axis, guint rank);
/** Fails with "dimension 'batch' is not bound: set the size of it" when the type of @id has such a
 * dimension. */
gboolean gantry_lower_require_static (GantryLower *l, guint32 id);
/** Fails unless minimum <= rank <= maximum. */
gboolean gantry_lower_check_rank (GantryLower *l, guint i, guint minimum, guint maximum);

/* Attributes of the foreign node. */
/** Whether the node has an attribute @key, of whatever kind. */
gboolean gantry_lower_has_attr (GantryLower *l, const char *key);
/** As gantry_attrs_int(), and so the following ones. */
gint64 gantry_lower_int (GantryLower *l, const char *key, gint64 fallback);
/** Returns: @fallback where the node has no float of that name */
double gantry_lower_float (GantryLower *l, const char *key, double fallback);
/** Returns: (transfer none): @fallback where the node has no string of that name */
const char *gantry_lower_string (GantryLower *l, const char *key, const char *fallback);
/** Returns: (transfer none) (nullable): @n of them; NULL and 0 where the node has none of that name */
const gint64 *gantry_lower_ints (GantryLower *l, const char *key, gsize *n);
/** The attribute, or @n copies of @fallback when it is absent; fails when its length is not @n. */
const gint64 *gantry_lower_ints_or (GantryLower *l, const char *key, gsize n, gint64 fallback);

/* Constant operands; the arrays live in the arena. NULL when the value is not known now (no error).
 * */
/** Returns: (transfer none) (nullable): the value of @id where it is known now */
GantryLiteral *gantry_lower_literal (GantryLower *l, guint32 id);
/** Returns: (nullable): all elements in row-major order; NULL of floats too, and of more than 4 Mi elements */
gint64 *gantry_lower_known_ints (GantryLower *l, guint32 id, gsize *n);
/** Returns: (nullable): all elements in row-major order, integers converted; NULL of more than 4 Mi elements */
double *gantry_lower_known_doubles (GantryLower *l, guint32 id, gsize *n);
/** As known_ints of operand @i, but fails with needs_constant (@what). */
gint64 *gantry_lower_constant_ints (GantryLower *l, guint i, gsize *n, const char *what);
/** Axes from attribute "axes" or operand @i, normalised; NULL and n = 0 when neither is given (no
 * error). */
gint64 *gantry_lower_axes (GantryLower *l, guint i, guint rank, gsize *n);

/* Nodes, besides those of the builder and its compositions. */
/** @attrs: (transfer full) (nullable) */
guint32 gantry_lower_add (GantryLower *l, GantryOp op, GantryAttrList *attrs, guint n, ...);
/** Returns: (transfer full): an empty list, for gantry_lower_add() */
GantryAttrList *gantry_lower_attrs (GantryLower *l);
guint32 gantry_lower_lowest (GantryLower *l, guint32 x); /* scalar: -inf or the least integer of x's element type */
/** As gantry_builder_unary(), but an absent operand is an error of the model. */
guint32 gantry_lower_unary (GantryLower *l, GantryOp op, guint32 x);
/** Elements @indices along @axis by a gather with a literal; a run of indices becomes a slice. */
guint32 gantry_lower_take (GantryLower *l, guint32 x, gint64 axis, const gint64 *indices, gint64 n);
/** @n values of one shape, stacked along a new dimension @axis. */
guint32 gantry_lower_stack (GantryLower *l, const guint32 *values, gint64 n, gint64 axis);
/** gantry_builder_softmax() in @x's element type. */
guint32 gantry_lower_softmax (GantryLower *l, guint32 x, const gint64 *axes, gsize n, gboolean logarithm);
/** Index of the first (or last) "max" or "min" along @axis, kept as a dimension of 1; NaN counts as
 * the extreme. */
guint32 gantry_lower_arg_extreme (GantryLower *l, guint32 x, gint64 axis, const char *kind, gboolean last);
/** dot_general with these batching and contracting dimensions. */
guint32 gantry_lower_dot (GantryLower *l, guint32 x, guint32 y, const gint64 *x_batch, const gint64 *y_batch, gsize n_batch, const gint64 *x_sum,
                          const gint64 *y_sum, gsize n_sum, GantryElementType to);
/** numpy.matmul; @to: element type of the result, NONE as operands. */
guint32 gantry_lower_matmul (GantryLower *l, guint32 x, guint32 y, GantryElementType to);
/** ONNX GatherElements; negative indices count from the end. */
guint32 gantry_lower_gather_elements (GantryLower *l, guint32 x, guint32 indices, gint64 axis);
/** Batched gather: see lower-index.c. */
guint32 gantry_lower_gather_nd (GantryLower *l, guint32 x, guint32 indices, guint batch);

/** The element type of an ONNX TensorProto.DataType number; NONE when Gantry does not compile it. */
GantryElementType gantry_lower_data_type (gint64 data_type);

/** Window of convolution and pooling over the spatial dimensions, from kernel_shape, strides,
 * dilations, pads, auto_pad. */
typedef struct
{
  guint n; /* spatial dimensions */
  gint64 in[GANTRY_MAX_RANK], kernel[GANTRY_MAX_RANK], strides[GANTRY_MAX_RANK], dilations[GANTRY_MAX_RANK];
  gint64 low[GANTRY_MAX_RANK], high[GANTRY_MAX_RANK], out[GANTRY_MAX_RANK];
} GantryLowerWindow;
/** @kernel: (nullable): kernel extents when the attribute is absent (weights). Fills everything; FALSE after a failure. */
gboolean gantry_lower_window (GantryLower *l, guint32 x, const GantryDim *kernel, gboolean ceil_mode, GantryLowerWindow *w);
/** Convolution of @x with @weights (ONNX layout) and optional @bias over window @w. */
guint32 gantry_lower_convolution (GantryLower *l, guint32 x, guint32 weights, guint32 bias, const GantryLowerWindow *w, gint64 groups);

G_END_DECLS
