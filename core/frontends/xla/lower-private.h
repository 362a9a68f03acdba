/* SPDX-License-Identifier: Apache-2.0 */
/* Private to core/frontends/xla: what the lowering rules (lower-*.c) share. A rule reads the foreign node through an
 * XlaLower and writes core nodes with the builder. It returns no error: the first one is recorded with
 * gantry_xla_refuse() (or by the builder), everything after it is a no-op on id 0, and lower.c asks once. The same
 * rules serve every spelling of an operation: their attributes have the names of the StableHLO specification. */
#pragma once
#include "core/frontends/xla/xla-private.h"
#include "core/graph/builder-composite.h"
#include "core/graph/dialect.h"
#include "core/graph/graph.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

G_BEGIN_DECLS

typedef struct _XlaLower XlaLower;
typedef struct _XlaRule XlaRule;

typedef enum
{
  XLA_ANY_TYPE = 1 << 0, /* checks types itself */
  XLA_OR_MORE = 1 << 1,  /* operands beyond those that XLA_TAKES() says */
  XLA_COUNTED = 1 << 2,  /* by XLA_TAKES() */
} XlaRuleFlags;

/* Numbers of operands, without what regions use, and of results (0: any), which are checked before the rule runs. */
#define XLA_TAKES(n_in, n_out) (XLA_COUNTED | (guint) (n_in) << 8 | (guint) (n_out) << 16)

struct _XlaRule
{
  const char *name; /* without the dialect */
  void (*lower) (XlaLower *l);
  GantryOpClass op_class;
  guint flags;
  int arg;
};

/**
 * XlaLower: the node being lowered.
 *
 * @in: operands in the new module: @n_in declared ones, then @n_captures that its regions use
 * @lifted: the node stands in a region of scalars that is written for whole tensors: a scalar is broadcast where it
 *   meets one
 */
struct _XlaLower
{
  GantryBuilder *b;
  GantryContext *context;
  const GantryModule *source;
  const GantryNode *node;
  const XlaRule *rule;
  const char *op; /* "add" */
  guint n_in, n_captures;
  const guint32 *in;
  guint n_out;
  guint32 *out;
  GantryArena *arena;
  guint depth;
  gboolean lifted;
  gboolean failed;
};

#define XLA_NEW(l, type, n) ((type *) gantry_arena_alloc ((l)->arena, sizeof (type) * ((gsize) (n) + 1)))

extern const XlaRule gantry_xla_elementwise_rules[];
extern const XlaRule gantry_xla_movement_rules[];
extern const XlaRule gantry_xla_contraction_rules[];
extern const XlaRule gantry_xla_reduce_rules[];
extern const XlaRule gantry_xla_window_rules[];
extern const XlaRule gantry_xla_gather_rules[];
extern const XlaRule gantry_xla_sort_rules[];
extern const XlaRule gantry_xla_control_rules[];
extern const XlaRule gantry_xla_linear_rules[];
extern const XlaRule gantry_xla_special_rules[];
extern const XlaRule gantry_xla_misc_rules[];

/* lower.c */
const XlaRule *gantry_xla_find_rule (const char *name);
/** Lowers @node of @source into @b; for the nodes of regions too. */
gboolean gantry_xla_lower_node (GantryBuilder *b, const GantryModule *source, const GantryNode *node, const guint32 *operands, guint32 *results,
                                guint n_results, guint depth, gboolean lifted, GError **error);
/** Runs l->rule, once the numbers and types of operands and results are what it takes. */
void gantry_xla_run_rule (XlaLower *l);
void gantry_xla_refuse (XlaLower *l, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Reading */
static inline guint32
gantry_xla_in (const XlaLower *l, guint i)
{
  return i < l->n_in ? l->in[i] : 0;
}
const GantryType *gantry_xla_type (XlaLower *l, guint32 id);
GantryElementType gantry_xla_element (XlaLower *l, guint32 id);
/** The type that the text declares for result @i. */
const GantryType *gantry_xla_declared (XlaLower *l, guint i);
const gint64 *gantry_xla_ints (XlaLower *l, const char *key, gsize *n);
/** The attribute's @n values, or @n times @fallback where it is absent; refuses another number of them. */
const gint64 *gantry_xla_ints_or (XlaLower *l, const char *key, gsize n, gint64 fallback);
gint64 gantry_xla_int (XlaLower *l, const char *key, gint64 fallback);
double gantry_xla_float (XlaLower *l, const char *key, double fallback);
const char *gantry_xla_string (XlaLower *l, const char *key, const char *fallback);
/** Function id of region @i; 0 after a failure. */
guint32 gantry_xla_region (XlaLower *l, guint i);
/** The values of a constant operand; NULL where it is not known now (no failure). */
gint64 *gantry_xla_known_ints (XlaLower *l, guint32 id, gsize *n);

/* Writing, besides the builder and its compositions. Shapes have to be equal: only a scalar is broadcast. */
guint32 gantry_xla_add (XlaLower *l, GantryOp op, GantryAttrList *attrs, guint n, ...);
GantryAttrList *gantry_xla_attrs (XlaLower *l);
guint32 gantry_xla_like (XlaLower *l, guint32 x, double value); /* of x's element type and shape */
guint32 gantry_xla_unary (XlaLower *l, GantryOp op, guint32 x);
guint32 gantry_xla_binary (XlaLower *l, GantryOp op, guint32 x, guint32 y); /* a scalar is broadcast */
guint32 gantry_xla_scale (XlaLower *l, guint32 x, double factor);
guint32 gantry_xla_shift (XlaLower *l, guint32 x, double term);
guint32 gantry_xla_compare (XlaLower *l, const char *direction, guint32 x, guint32 y);
guint32 gantry_xla_select (XlaLower *l, guint32 p, guint32 x, guint32 y);
/** A scalar of the shape of @like; another value as it is. */
guint32 gantry_xla_spread (XlaLower *l, guint32 x, guint32 like);
guint32 gantry_xla_convert (XlaLower *l, guint32 x, GantryElementType element);
guint32 gantry_xla_bitcast (XlaLower *l, guint32 x, GantryElementType element);
/** Refuses unless the first @n operands have the dimensions of the first one. */
gboolean gantry_xla_same_dims (XlaLower *l, guint n);
guint32 gantry_xla_zero (XlaLower *l, GantryElementType element);
/** The bits of a float as integers in the order -NaN, -inf, ..., -0, 0, ..., inf, NaN. */
guint32 gantry_xla_total_order (XlaLower *l, guint32 x);
/** The integer type of the same width. */
GantryElementType gantry_xla_bits_of (GantryElementType element, gboolean with_sign);

/* lower-gather.c */
/** @kind: as that of the core operation; the numbers of dimensions are attributes of the node being lowered. */
guint32 gantry_xla_scatter (XlaLower *l, const char *kind, guint32 x, guint32 indices, guint32 updates);

/* lower-linear.c */
typedef struct
{
  gboolean left, lower, unit, transposed;
} XlaTriangular;

/** The factor of a positive definite matrix, NaN where it is none. */
guint32 gantry_xla_cholesky (XlaLower *l, guint32 a, gboolean is_lower);
/** a x = b, or x a = b. */
guint32 gantry_xla_solve_triangular (XlaLower *l, guint32 a, guint32 b, const XlaTriangular *how);
/* lower-lapack.c */
/** Runs what a custom call of JAX asks LAPACK for. Returns: FALSE where @target is none of those that are known. */
gboolean gantry_xla_lapack (XlaLower *l, const char *target);

/* lower-body.c */
/** "add" mul max min and or, "set" for a body that returns its second argument; NULL where the body is none of
 * these. Of a body of 2 n arguments result @i has to come of arguments i and n + i alone. Bools: add and max are
 * or, mul and min and. */
const char *gantry_xla_body_kind (XlaLower *l, guint32 function, guint i, guint n);
/** A core operation that combines two values as @kind says. */
guint32 gantry_xla_combine (XlaLower *l, const char *kind, guint32 x, guint32 y);
/** Whether @id is a constant that @kind leaves everything as it is with. */
gboolean gantry_xla_is_identity (XlaLower *l, const char *kind, guint32 id);
/** Writes the body of @function in place, captures behind @arguments. @lifted: its scalars may be tensors. */
gboolean gantry_xla_inline (XlaLower *l, guint32 function, const guint32 *arguments, guint n_arguments, guint32 *results, guint n_results, gboolean lifted);
/** As inline for a region of scalars, lifted: each result has the shape of argument @like. */
gboolean gantry_xla_apply (XlaLower *l, guint32 function, const guint32 *arguments, guint n_arguments, guint32 *results, guint n_results, guint32 like);

G_END_DECLS
