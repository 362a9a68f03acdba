/* SPDX-License-Identifier: Apache-2.0 */
/* Private to core/frontends/torch: what the lowering rules (lower-*.c) share. A rule reads the arguments of an ATen node by
 * the names of its schema and writes core nodes. It never returns an error: it records one by gantry_aten_refuse() (the first
 * sticks, everything after it gives 0), and lower.c asks once. The archive says the type of each result: rules take shapes from
 * there, and lower.c converts to its element type and compares the shape. */
#pragma once
#include "core/frontends/torch/torch-private.h"
#include "core/graph/builder-composite.h"
#include <math.h>
#include <string.h>

G_BEGIN_DECLS

typedef struct _AtenLower AtenLower;
typedef struct _AtenRule AtenRule;

/** One row of a family's table; `arg` and `text` tell apart the operations that share a function. */
struct _AtenRule
{
  const char *name; /* without dialect, overload and the underscore of what writes in place: "add" */
  void (*lower) (AtenLower *l);
  GantryOpClass op_class;
  int arg;
  const char *text;
};

struct _AtenLower
{
  GantryBuilder *b;
  GantryContext *context;
  const GantryNode *node;
  const AtenRule *rule;
  const char *op; /* "aten.add.Tensor" */
  const guint32 *in;
  guint n_in;
  guint32 *out;
  guint n_out;
  GantryArena *arena;
  GHashTable *asked; /* set of names: the arguments that the rule has asked for */
  gboolean failed;
};

/* The families, each ended by a row without a name. */
extern const AtenRule gantry_aten_elementwise_rules[];
extern const AtenRule gantry_aten_activation_rules[];
extern const AtenRule gantry_aten_movement_rules[];
extern const AtenRule gantry_aten_create_rules[];
extern const AtenRule gantry_aten_index_rules[];
extern const AtenRule gantry_aten_contraction_rules[];
extern const AtenRule gantry_aten_einsum_rules[];
extern const AtenRule gantry_aten_scatter_rules[];
extern const AtenRule gantry_aten_order_rules[];
extern const AtenRule gantry_aten_loss_rules[];
extern const AtenRule gantry_aten_reduce_rules[];
extern const AtenRule gantry_aten_norm_rules[];
extern const AtenRule gantry_aten_pool_rules[];
extern const AtenRule gantry_aten_resize_rules[];
extern const AtenRule gantry_aten_recurrent_rules[];
extern const AtenRule gantry_aten_arrange_rules[];
extern const AtenRule gantry_aten_special_rules[];
extern const AtenRule gantry_aten_pairs_rules[];

void gantry_aten_refuse (AtenLower *l, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Arguments. What a rule does not ask for is refused, since it could say that another thing is to be computed. */
/** The argument that is no tensor, of any kind. Returns: (nullable) (transfer none) */
const GantryAttr *gantry_aten_argument (AtenLower *l, const char *name);
/** The tensor of that name, 0 where it is absent or None. */
guint32 gantry_aten_in (AtenLower *l, const char *name);
/** The same, but its absence is an error. */
guint32 gantry_aten_need (AtenLower *l, const char *name);
/** Tensor @i of a list, 0 where it is None; @n: (out) (optional): one more than the last index that is there. */
guint32 gantry_aten_in_list (AtenLower *l, const char *name, guint i);
guint gantry_aten_list_length (AtenLower *l, const char *name);
gboolean gantry_aten_has (AtenLower *l, const char *name); /* as an attribute */
gint64 gantry_aten_int (AtenLower *l, const char *name, gint64 fallback);
double gantry_aten_number (AtenLower *l, const char *name, double fallback); /* written as integer or not */
const char *gantry_aten_string (AtenLower *l, const char *name, const char *fallback);
const gint64 *gantry_aten_ints (AtenLower *l, const char *name, gsize *n);
/** @n values: those given, one given for all of them, or @fallback. */
gboolean gantry_aten_ints_of (AtenLower *l, const char *name, guint n, gint64 fallback, gint64 *values);
/** An axis among @rank (at least one: a scalar has axis 0), counted from the end when negative; refuses others and gives 0. */
gint64 gantry_aten_axis (AtenLower *l, gint64 axis, guint rank);
/** Axes by that name (a number or a list), in order; all of them where none is given. Returns: how many */
guint gantry_aten_axes (AtenLower *l, const char *name, guint rank, gint64 *axes);

/* Types. */
const GantryType *gantry_aten_type (AtenLower *l, guint32 id);
guint gantry_aten_rank (AtenLower *l, guint32 id);
GantryDim gantry_aten_dim (AtenLower *l, guint32 id, gint64 i); /* 0 out of range */
GantryElementType gantry_aten_element (AtenLower *l, guint32 id);
/** What the archive says of result @i: a static tensor. */
const GantryType *gantry_aten_declared (AtenLower *l, guint i);
GantryElementType gantry_aten_result_element (AtenLower *l);

/** @x is result @i, where there is one, in the shape that the archive has: whether dimensions are kept is said there. */
void gantry_aten_give (AtenLower *l, guint i, guint32 x);

/* Nodes, besides those of the builder and its compositions. Each gives 0 where an operand is 0. */
/** @attrs: (transfer full) (nullable) */
guint32 gantry_aten_add (AtenLower *l, GantryOp op, GantryAttrList *attrs, guint n, ...);
guint32 gantry_aten_splat (AtenLower *l, const GantryType *type, double value);
guint32 gantry_aten_softmax (AtenLower *l, guint32 x, gint64 axis, gboolean logarithm);  /* a scalar is its own axis */
guint32 gantry_aten_iota (AtenLower *l, guint rank, const GantryDim *dims, gint64 axis); /* i64 */
/** @x, of which nothing is differentiated: its bits as whole numbers and back, which have no derivative. */
guint32 gantry_aten_detached (AtenLower *l, guint32 x);
/** @n numbers that broadcast along @axis of a value of @rank dimensions. */
guint32 gantry_aten_floats_along (AtenLower *l, GantryElementType element, const double *values, gint64 n, guint rank, gint64 axis);
/** result[i, j, k] = x[i, index[i, j, k], k] for axis 1; below 0 counts from the end. */
guint32 gantry_aten_gather (AtenLower *l, guint32 x, guint32 indices, gint64 axis);
/** First position along @axis at which @x is its extreme there, or no number where one is: i64, the axis kept. */
guint32 gantry_aten_position (AtenLower *l, guint32 x, guint32 extreme, gint64 axis);
/** The sum, product or extreme ("add", "mul", "max", "min") of each element and all before it; a scalar is its own. */
guint32 gantry_aten_running (AtenLower *l, const char *kind, guint32 x, gint64 axis);
/** Product of the last two dimensions, those before broadcast as torch.matmul does. */
guint32 gantry_aten_matmul (AtenLower *l, guint32 x, guint32 y);

G_END_DECLS
