/* SPDX-License-Identifier: Apache-2.0 */
/* Private to core/frontends/mindspore: what the lowering rules (lower-*.c) share. A rule reads the arguments of a primitive by their
 * names, which the rules' tables give, and writes core nodes. It never returns an error: it records one by
 * gantry_mind_refuse() (the first sticks, everything after it gives 0), and lower.c asks once. Shapes are those of the
 * operands; what the model declares is compared with what a rule gives, and results get its element types. */
#pragma once
#include "core/frontends/mindspore/mindir-private.h"
#include "core/graph/builder-composite.h"
#include <math.h>
#include <string.h>

G_BEGIN_DECLS

typedef struct _MindLower MindLower;
typedef struct _MindRule MindRule;

/** One row of a family's table; `arg` and `text` tell apart the primitives that share a function. */
struct _MindRule
{
  const char *name;      /* "Conv2D" */
  const char *arguments; /* "x weight": names of the inputs, in their order; "*var" is written over: a result of its own */
  void (*lower) (MindLower *l);
  GantryOpClass op_class;
  int arg;
  const char *text;
};

struct _MindLower
{
  GantryBuilder *b;
  GantryContext *context;
  const GantryNode *node;
  const MindRule *rule;
  const guint32 *in;
  guint n_in;
  guint32 *out;
  guint n_out;
  gboolean failed;
};

/* The families, each ended by a row without a name. */
extern const MindRule gantry_mind_elementwise_rules[];
extern const MindRule gantry_mind_activation_rules[];
extern const MindRule gantry_mind_movement_rules[];
extern const MindRule gantry_mind_index_rules[];
extern const MindRule gantry_mind_contraction_rules[];
extern const MindRule gantry_mind_reduce_rules[];
extern const MindRule gantry_mind_norm_rules[];
extern const MindRule gantry_mind_pool_rules[];
extern const MindRule gantry_mind_recurrent_rules[];
extern const MindRule gantry_mind_update_rules[];
extern const MindRule gantry_mind_random_rules[];
extern const MindRule gantry_mind_gradient_rules[];

/** Numbers are those of MindSpore's PadMode. */
typedef enum
{
  MIND_PADDING_GIVEN,
  MIND_PADDING_SAME,
  MIND_PADDING_VALID,
  MIND_N_PADDINGS,
} MindPadding;

void gantry_mind_refuse (MindLower *l, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Arguments. */
/** The tensor of that name, or the number as a constant of @element (NONE: as it is); 0 where it is absent. */
guint32 gantry_mind_in (MindLower *l, const char *name);
/** The same, but its absence is an error. */
guint32 gantry_mind_need (MindLower *l, const char *name);
/** Tensor @i of a tuple, 0 where there is none. */
guint32 gantry_mind_in_list (MindLower *l, const char *name, guint i);
guint gantry_mind_list_length (MindLower *l, const char *name);
gboolean gantry_mind_has (MindLower *l, const char *name); /* as an attribute */
/** Also of a tensor that is known. */
gint64 gantry_mind_int (MindLower *l, const char *name, gint64 fallback);
double gantry_mind_number (MindLower *l, const char *name, double fallback); /* written as integer or not */
const char *gantry_mind_string (MindLower *l, const char *name, const char *fallback);
/** @most places at @values get the numbers of a list, of a single number, or of a tensor that is known. Returns: how many; -1 where
 *  there is none; more than @most are refused */
gint gantry_mind_ints (MindLower *l, const char *name, gint64 *values, guint most);
/** Attribute pad_mode, by name or by MindSpore's number: padding is given, or follows from sizes, or is 0; refuses others. @absent: without one */
MindPadding gantry_mind_padding (MindLower *l, MindPadding absent);
/** An axis among @rank (at least one), counted from the end when negative; refuses others and gives 0. */
gint64 gantry_mind_axis (MindLower *l, gint64 axis, guint rank);
/** Axes by that name (a number or a list), in order; all of them where none is given. Returns: how many */
guint gantry_mind_axes (MindLower *l, const char *name, guint rank, gint64 *axes);

/* Types. */
const GantryType *gantry_mind_type (MindLower *l, guint32 id);
guint gantry_mind_rank (MindLower *l, guint32 id);
GantryDim gantry_mind_dim (MindLower *l, guint32 id, gint64 i); /* 0 out of range */
GantryElementType gantry_mind_element_of (MindLower *l, guint32 id);
/** What the model says of result @i; of unknown kind where it says nothing. */
const GantryType *gantry_mind_declared_type (MindLower *l, guint i);
/** The declared element type, or that of @fallback. */
GantryElementType gantry_mind_result_element (MindLower *l, guint32 fallback);
/** A type that an argument names: "f32", or a number of TypeId; NONE where it is absent */
GantryElementType gantry_mind_element_named (MindLower *l, const char *name);

/* Nodes, besides those of the builder and its compositions. Each gives 0 where an operand is 0. */
/** @attrs: (transfer full) (nullable) */
guint32 gantry_mind_add (MindLower *l, GantryOp op, GantryAttrList *attrs, guint n, ...);
guint32 gantry_mind_splat (MindLower *l, GantryElementType element, double value, guint rank, const GantryDim *dims);
/** Product of the last two dimensions, those before broadcast; either may be transposed. */
guint32 gantry_mind_matmul (MindLower *l, guint32 x, guint32 y, gboolean transpose_x, gboolean transpose_y);
/** Two operands in one element type: the wider. */
void gantry_mind_promote (MindLower *l, guint32 *x, guint32 *y);
/** First position of an extreme along @axis, the axis kept. i64. */
guint32 gantry_mind_position (MindLower *l, guint32 x, guint32 extreme, gint64 axis);

/* Short words for the arithmetic of rules, in which @l is the MindLower. Operands broadcast. */
#define BINARY(op, x, y) gantry_builder_binary_broadcast (l->b, GANTRY_OP_##op, x, y)
#define UNARY(op, x) gantry_builder_unary (l->b, GANTRY_OP_##op, x)
#define LIKE(x, value) gantry_builder_like (l->b, x, value)

G_END_DECLS
