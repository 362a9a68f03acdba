/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions: loops over their axes with accumulators, one for each row and vector that is computed
 * at the time; or, where the result is one number for all lanes, vectors of partial results along the
 * innermost axis that are put together at the end. Accumulators are stack slots, which the pass mem2reg
 * turns into registers. */
#include "core/expr/scalar.h"
#include "core/kernels/cpu/nest-private.h"
#include "core/kernels/schedule/loop-schedule.h"

#define B (nest->e->builder)

/* From this many addends on a sum of f32 is kept in f64: one accumulator that takes 640,000 values one after the other,
 * as a blocked layout has it, loses three decimal digits in f32. */
#define LONG_SUM 2048

typedef LLVMValueRef V;

typedef struct
{
  GantryKxNode node;
  guint level;
  guint n_rows, n_vectors; /* values that the node has: n_vectors counts the outer vector variable's */
  guint n_axes;
  guint axes[GANTRY_KX_MAX_VARS];
  gboolean along;         /* vectors along the last axis */
  gboolean of_products;   /* a sum that takes products unrounded */
  GantryElementType type; /* of an accumulator */
  guint lanes;            /* of an accumulator */
  guint n_partial;        /* accumulators per value */
  V slots[GANTRY_MAX_ROWS][GANTRY_MAX_UNROLL];
  V tails[GANTRY_MAX_ROWS]; /* scalar accumulators of what is left over */
} Reduction;

static V
identity (GantryNest *nest, const Reduction *r, guint lanes)
{
  LLVMTypeRef type = gantry_emit_type (nest->e, r->type, lanes);
  GantryScalar value = { 0 };

  gantry_scalar_identity (r->node.op, r->node.type, &value);
  return gantry_element_is_float (r->node.type) ? gantry_emit_real (type, value.f) : gantry_emit_integer (type, value.i);
}

/* In the function's first block, where mem2reg looks. */
static V
stack_slot (GantryNest *nest, LLVMTypeRef type)
{
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock (nest->e->function);
  LLVMValueRef first = LLVMGetFirstInstruction (entry);

  if (first != NULL)
    LLVMPositionBuilderBefore (B, first);
  else
    LLVMPositionBuilderAtEnd (B, entry);
  return LLVMBuildAlloca (B, type, "");
}

static gboolean
is_long_sum (const GantryNest *nest, const Reduction *r)
{
  gint64 addends = 1;

  if (r->node.op != GANTRY_OP_ADD || r->node.type != GANTRY_F32)
    return FALSE;
  for (guint i = 0; i < r->n_axes && addends < LONG_SUM; i++)
    addends *= nest->kx->extents[r->axes[i]];
  return addends >= LONG_SUM;
}

static void
prepare (GantryNest *nest, Reduction *r, guint32 id, guint level)
{
  gboolean of_vector, of_row;
  GantryKxRoot body;

  r->node = *gantry_kx_node (nest->kx, id);
  r->level = level;
  of_vector = nest->vector_variable >= 0 && r->node.vars >> nest->vector_variable & 1;
  of_row = nest->row_variable >= 0 && r->node.vars >> nest->row_variable & 1;
  r->n_rows = of_row ? nest->rows : 1;
  r->n_vectors = of_vector ? nest->unroll : 1;
  r->n_axes = gantry_schedule_axes (nest->kx, id, r->axes);
  r->type = is_long_sum (nest, r) ? GANTRY_F64 : r->node.type;
  r->of_products = r->node.op == GANTRY_OP_ADD && r->type == r->node.type && gantry_kx_is_addend (nest->kx, r->node.a);
  r->lanes = of_vector ? nest->lanes : 1;
  r->n_partial = r->n_vectors;
  body = (GantryKxRoot){ .value = r->node.a, .address = r->node.a };
  if (!of_vector)
    {
      guint axis = r->axes[r->n_axes - 1], unit, strided;
      guint lanes = gantry_schedule_lanes (nest->kx, &body, 1, nest->e->vector_bytes);

      gantry_schedule_strides (nest->kx, &body, 1, axis, &unit, &strided);
      while (lanes > 1 && lanes > nest->kx->extents[axis])
        lanes /= 2;
      r->along = lanes > 1 && strided <= unit;
      if (r->along)
        {
          r->lanes = lanes;
          r->n_partial = nest->kx->extents[axis] >= 4 * lanes ? gantry_schedule_unroll (nest->kx, &body, 1) : 1;
          r->n_partial = MAX (r->n_partial, nest->kx->extents[axis] >= 4 * lanes && r->n_rows == 1 ? 2 : 1);
        }
    }
}

static void
make_accumulators (GantryNest *nest, Reduction *r)
{
  for (guint i = 0; i < r->n_rows; i++)
    {
      for (guint u = 0; u < r->n_partial; u++)
        {
          r->slots[i][u] = stack_slot (nest, gantry_emit_type (nest->e, r->type, r->lanes));
          gantry_nest_at (nest, r->level);
          LLVMBuildStore (B, identity (nest, r, r->lanes), r->slots[i][u]);
        }
      if (!r->along)
        continue;
      r->tails[i] = stack_slot (nest, gantry_emit_type (nest->e, r->type, 1));
      gantry_nest_at (nest, r->level);
      LLVMBuildStore (B, identity (nest, r, 1), r->tails[i]);
    }
}

static V
combine (GantryNest *nest, const Reduction *r, V x, V y)
{
  return gantry_emit_binary (nest->e, r->node.op, r->type, x, y);
}

/* What is put to an accumulator: @value, or the product of @value and @by where that is no NULL. */
typedef struct
{
  V value, by;
} Term;

static Term
term_of (GantryNest *nest, const Reduction *r, guint row, guint unroll)
{
  GantryKxNode body = *gantry_kx_node (nest->kx, r->node.a);

  if (!r->of_products)
    return (Term){ gantry_nest_value (nest, r->node.a, row, unroll), NULL };
  return (Term){ gantry_nest_value (nest, body.a, row, unroll), gantry_nest_value (nest, body.b, row, unroll) };
}

static void
accumulate (GantryNest *nest, const Reduction *r, V slot, Term term, guint lanes)
{
  LLVMTypeRef type = gantry_emit_type (nest->e, r->type, lanes);
  V so_far, value;

  gantry_nest_at (nest, gantry_nest_top (nest));
  so_far = LLVMBuildLoad2 (B, type, slot, "");
  value = gantry_emit_splat (nest->e, term.value, lanes);
  if (r->type != r->node.type)
    value = LLVMBuildFPExt (B, value, type, "");
  if (term.by != NULL)
    value = gantry_emit_fma (nest->e, value, gantry_emit_splat (nest->e, term.by, lanes), so_far);
  else
    value = combine (nest, r, so_far, value);
  LLVMBuildStore (B, value, slot);
}

/* All values of the body first, so that their loads come before the stores of the sums. */
static void
emit_body (GantryNest *nest, const Reduction *r, guint n_vectors, gboolean tail)
{
  Term terms[GANTRY_MAX_ROWS][GANTRY_MAX_UNROLL];

  for (guint i = 0; i < r->n_rows; i++)
    for (guint u = 0; u < n_vectors; u++)
      terms[i][u] = term_of (nest, r, i, u);
  for (guint i = 0; i < r->n_rows; i++)
    for (guint u = 0; u < n_vectors; u++)
      accumulate (nest, r, tail ? r->tails[i] : r->slots[i][u], terms[i][u], tail ? 1 : r->lanes);
}

static void
axis_loop (GantryNest *nest, const Reduction *r, guint parent, gint64 lo, gint64 hi, guint lanes, guint vectors)
{
  guint axis = r->axes[r->n_axes - 1];

  if (hi <= lo)
    return;
  gantry_nest_begin_loop (nest, parent, (int) axis, gantry_nest_const (nest, lo), gantry_nest_const (nest, hi), (gint64) lanes * vectors);
  if (r->along)
    {
      nest->vector_variable = lanes > 1 ? (int) axis : GANTRY_NO_VARIABLE;
      nest->lanes = lanes;
      nest->unroll = vectors;
      emit_body (nest, r, vectors, lanes == 1);
    }
  else
    emit_body (nest, r, r->n_vectors, FALSE);
  gantry_nest_end_loop (nest);
}

static void
last_axis (GantryNest *nest, const Reduction *r, guint parent)
{
  gint64 extent = nest->kx->extents[r->axes[r->n_axes - 1]];
  gint64 whole, wide;

  if (!r->along)
    {
      axis_loop (nest, r, parent, 0, extent, 1, 1);
      return;
    }
  wide = (gint64) r->lanes * r->n_partial;
  whole = extent / wide * wide;
  axis_loop (nest, r, parent, 0, whole, r->lanes, r->n_partial);
  if (r->n_partial > 1)
    {
      gint64 more = extent / r->lanes * r->lanes;

      axis_loop (nest, r, parent, whole, more, r->lanes, 1);
      whole = more;
    }
  axis_loop (nest, r, parent, whole, extent, 1, 1);
}

static void
all_axes (GantryNest *nest, const Reduction *r)
{
  guint parent = r->level, depth = 0;

  for (; depth + 1 < r->n_axes; depth++)
    {
      gantry_nest_begin_loop (nest, parent, (int) r->axes[depth], gantry_nest_const (nest, 0), gantry_nest_const (nest, nest->kx->extents[r->axes[depth]]), 1);
      parent = gantry_nest_top (nest);
    }
  last_axis (nest, r, parent);
  while (depth-- > 0)
    gantry_nest_end_loop (nest);
}

/* The halves of a vector onto each other until one lane is left. */
static V
across_lanes (GantryNest *nest, const Reduction *r, V x)
{
  LLVMTypeRef i32 = LLVMInt32TypeInContext (nest->e->context);
  V mask[64];

  for (guint lanes = r->lanes; lanes > 1; lanes /= 2)
    {
      V low, high;

      for (guint l = 0; l < lanes / 2; l++)
        mask[l] = LLVMConstInt (i32, l, FALSE);
      low = LLVMBuildShuffleVector (B, x, LLVMGetPoison (LLVMTypeOf (x)), LLVMConstVector (mask, lanes / 2), "");
      for (guint l = 0; l < lanes / 2; l++)
        mask[l] = LLVMConstInt (i32, lanes / 2 + l, FALSE);
      high = LLVMBuildShuffleVector (B, x, LLVMGetPoison (LLVMTypeOf (x)), LLVMConstVector (mask, lanes / 2), "");
      x = combine (nest, r, low, high);
    }
  return LLVMBuildExtractElement (B, x, LLVMConstInt (i32, 0, FALSE), "");
}

static V
finish_along (GantryNest *nest, const Reduction *r, guint row)
{
  LLVMTypeRef type = gantry_emit_type (nest->e, r->type, r->lanes);
  V x = LLVMBuildLoad2 (B, type, r->slots[row][0], "");

  for (guint u = 1; u < r->n_partial; u++)
    x = combine (nest, r, x, LLVMBuildLoad2 (B, type, r->slots[row][u], ""));
  x = across_lanes (nest, r, x);
  return combine (nest, r, x, LLVMBuildLoad2 (B, gantry_emit_type (nest->e, r->type, 1), r->tails[row], ""));
}

void
gantry_nest_reduce (GantryNest *nest, guint32 id, guint level)
{
  Reduction r = { 0 };
  int vector_variable = nest->vector_variable;
  guint lanes = nest->lanes, unroll = nest->unroll;

  prepare (nest, &r, id, level);
  make_accumulators (nest, &r);
  all_axes (nest, &r);
  nest->vector_variable = vector_variable;
  nest->lanes = lanes;
  nest->unroll = unroll;
  for (guint i = 0; i < r.n_rows; i++)
    for (guint u = 0; u < r.n_vectors; u++)
      {
        V x;

        gantry_nest_at (nest, level);
        x = r.along ? finish_along (nest, &r, i) : LLVMBuildLoad2 (B, gantry_emit_type (nest->e, r.type, r.lanes), r.slots[i][u], "");
        if (r.type != r.node.type)
          x = LLVMBuildFPTrunc (B, x, gantry_emit_type (nest->e, r.node.type, r.along ? 1 : r.lanes), "");
        gantry_nest_keep (nest, id, i * GANTRY_MAX_UNROLL + u, level, x);
      }
}
