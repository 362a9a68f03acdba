/* SPDX-License-Identifier: Apache-2.0 */
/* Values of expression nodes within the nest: each is built once for each row and vector, at the
 * level that it depends on. */
#include "core/kernels/cpu/nest-private.h"

#define B (nest->e->builder)

typedef LLVMValueRef V;

V
gantry_nest_const (GantryNest *nest, gint64 value)
{
  return LLVMConstInt (nest->i64, (unsigned long long) value, TRUE);
}

guint
gantry_nest_level (const GantryNest *nest, guint64 vars)
{
  int level = 0;

  for (; vars != 0; vars &= vars - 1)
    {
      int of = nest->level_of[__builtin_ctzll (vars)];

      g_assert (of >= 0);
      level = MAX (level, of);
    }
  return (guint) level;
}

void
gantry_nest_at (GantryNest *nest, guint level)
{
  LLVMPositionBuilderAtEnd (B, nest->levels[level].open);
}

/* What is emitted may have branched: the level goes on where it ended. */
static void
done_at (GantryNest *nest, guint level)
{
  nest->levels[level].open = LLVMGetInsertBlock (B);
}

static gboolean
is_vector (V x)
{
  return LLVMGetTypeKind (LLVMTypeOf (x)) == LLVMVectorTypeKind;
}

static V *
memo_at (GantryNest *nest, guint32 id, guint slot)
{
  guint32 at = id * GANTRY_SLOTS + slot;

  if (nest->memo->len <= at)
    g_array_set_size (nest->memo, nest->kx->nodes->len * GANTRY_SLOTS);
  return &g_array_index (nest->memo, V, at);
}

void
gantry_nest_keep (GantryNest *nest, guint32 id, guint slot, guint level, V value)
{
  guint32 at = id * GANTRY_SLOTS + slot;

  *memo_at (nest, id, slot) = value;
  g_array_append_val (nest->levels[level].trail, at);
}

/* Index sums */

static gboolean
is_index_of (const GantryNest *nest, guint32 id, int variable)
{
  const GantryKxNode *node = gantry_kx_node (nest->kx, id);

  return node->kind == GANTRY_KX_INDEX && (int) node->a == variable;
}

/* The index variable's value in the first lane of the first row and vector. */
static V
variable_value (GantryNest *nest, guint32 id)
{
  return nest->levels[nest->level_of[gantry_kx_node (nest->kx, id)->a]].value;
}

static V
times (GantryNest *nest, V x, gint64 factor)
{
  if (factor == 1)
    return x;
  return LLVMBuildMul (B, x, gantry_emit_integer (LLVMTypeOf (x), factor), "");
}

/**
 * Parts of a sum: what is the same for all lanes, as a scalar; per-lane steps of the vector variable; the other terms
 * that differ between lanes.
 */
typedef struct
{
  gint64 constant; /* of this row and vector */
  gint64 step;
  GArray *uniform; /* GantryKxTerm */
  GArray *varying;
  gboolean rows; /* some uniform term depends on the row otherwise than by its index */
} Sum;

static Sum
sum_new (GantryNest *nest, guint32 id, guint row, guint unroll)
{
  g_autoptr (GArray) terms = g_array_new (FALSE, FALSE, sizeof (GantryKxTerm));
  Sum sum = { 0 };

  sum.uniform = g_array_new (FALSE, FALSE, sizeof (GantryKxTerm));
  sum.varying = g_array_new (FALSE, FALSE, sizeof (GantryKxTerm));
  sum.constant = gantry_kx_as_sum (nest->kx, id, 1, terms);
  for (guint i = 0; i < terms->len; i++)
    {
      GantryKxTerm term = g_array_index (terms, GantryKxTerm, i);
      guint64 vars = gantry_kx_node (nest->kx, term.node)->vars;

      if (is_index_of (nest, term.node, nest->vector_variable))
        {
          sum.step = term.factor;
          sum.constant += term.factor * (gint64) (unroll * nest->lanes);
        }
      else if (gantry_nest_depends (vars, nest->vector_variable) && nest->lanes > 1)
        {
          g_array_append_val (sum.varying, term);
          continue;
        }
      else if (is_index_of (nest, term.node, nest->row_variable))
        sum.constant += term.factor * (gint64) row;
      else if (gantry_nest_depends (vars, nest->row_variable) || gantry_nest_depends (vars, nest->vector_variable))
        sum.rows = TRUE;
      g_array_append_val (sum.uniform, term);
    }
  return sum;
}

static void
sum_clear (Sum *sum)
{
  g_array_unref (sum->uniform);
  g_array_unref (sum->varying);
}

/* The first lane of row 0 for INDEX nodes (their rows are in the constant), of @row for others. */
static V
uniform_term (GantryNest *nest, const GantryKxTerm *term, guint row, guint unroll)
{
  if (gantry_kx_node (nest->kx, term->node)->kind == GANTRY_KX_INDEX)
    return variable_value (nest, term->node);
  return gantry_nest_value (nest, term->node, row, unroll);
}

/* Calls @add for the sum of the uniform terms of each level, outermost first, with the builder there. */
static V
fold_levels (GantryNest *nest, const Sum *sum, guint row, guint unroll, V start, V (*add) (GantryNest *nest, V so_far, V x, gpointer data), gpointer data)
{
  g_autofree V *values = g_new (V, sum->uniform->len + 1);

  for (guint i = 0; i < sum->uniform->len; i++)
    values[i] = uniform_term (nest, &g_array_index (sum->uniform, GantryKxTerm, i), row, unroll);
  for (guint level = 0; level < nest->n_levels; level++)
    {
      V here = NULL;

      for (guint i = 0; i < sum->uniform->len; i++)
        {
          GantryKxTerm term = g_array_index (sum->uniform, GantryKxTerm, i);
          V x;

          if (gantry_nest_level (nest, gantry_kx_node (nest->kx, term.node)->vars) != level)
            continue;
          gantry_nest_at (nest, level);
          x = times (nest, values[i], term.factor);
          here = here == NULL ? x : LLVMBuildAdd (B, here, x, "");
        }
      if (here != NULL)
        start = add (nest, start, here, data);
    }
  return start;
}

static V
add_integers (GantryNest *nest, V so_far, V x, gpointer data)
{
  return LLVMBuildAdd (B, so_far, x, "");
}

static V
steps_vector (LLVMTypeRef scalar, guint lanes, gint64 step)
{
  V steps[64];

  g_assert (lanes <= G_N_ELEMENTS (steps));
  for (guint l = 0; l < lanes; l++)
    steps[l] = LLVMConstInt (scalar, (unsigned long long) (step * (gint64) l), TRUE);
  return LLVMConstVector (steps, lanes);
}

/* A sum as a value; in 32 bits when @narrow (the caller knows that it fits). */
static V
sum_value (GantryNest *nest, guint32 id, guint row, guint unroll, gboolean narrow)
{
  Sum sum = sum_new (nest, id, row, unroll);
  guint level = gantry_nest_level (nest, gantry_kx_node (nest->kx, id)->vars);
  LLVMTypeRef type = narrow ? LLVMInt32TypeInContext (nest->e->context) : nest->i64;
  V x = fold_levels (nest, &sum, row, unroll, gantry_nest_const (nest, sum.constant), add_integers, NULL);

  for (guint i = 0; i < sum.varying->len; i++)
    gantry_nest_value (nest, g_array_index (sum.varying, GantryKxTerm, i).node, row, unroll);
  gantry_nest_at (nest, level);
  if (narrow)
    x = LLVMBuildTrunc (B, x, type, "");
  if (nest->lanes > 1 && (sum.step != 0 || sum.varying->len > 0))
    {
      x = gantry_emit_splat (nest->e, x, nest->lanes);
      if (sum.step != 0)
        x = LLVMBuildAdd (B, x, steps_vector (type, nest->lanes, sum.step), "");
    }
  for (guint i = 0; i < sum.varying->len; i++)
    {
      GantryKxTerm term = g_array_index (sum.varying, GantryKxTerm, i);
      V y = gantry_nest_value (nest, term.node, row, unroll);

      gantry_nest_at (nest, level);
      x = LLVMBuildAdd (B, x, times (nest, gantry_emit_splat (nest->e, y, nest->lanes), term.factor), "");
    }
  sum_clear (&sum);
  return x;
}

/* TRUE when the node is a sum whose lanes differ by steps only and whose values fit into 32 bits. */
static gboolean
fits_narrow (GantryNest *nest, guint32 id)
{
  const GantryKxNode *node = gantry_kx_node (nest->kx, id);
  GantryIndexRange range;

  if (node->type != GANTRY_I64 || (node->kind != GANTRY_KX_INDEX && node->kind != GANTRY_KX_LINEAR) || !gantry_nest_depends (node->vars, nest->vector_variable))
    return FALSE;
  range = gantry_kx_range (nest->kx, id);
  if (range.lo < -G_MAXINT32 || range.hi > G_MAXINT32)
    return FALSE;
  if (gantry_kx_node (nest->kx, id)->kind == GANTRY_KX_LINEAR)
    for (guint i = 0; i < gantry_kx_node (nest->kx, id)->c; i++)
      {
        guint32 term = gantry_kx_terms (nest->kx, gantry_kx_node (nest->kx, id))[i].node;

        if (gantry_kx_node (nest->kx, term)->kind != GANTRY_KX_INDEX)
          return FALSE;
      }
  return TRUE;
}

/* Addresses */

typedef struct
{
  LLVMTypeRef type;
} Step;

static V
add_pointer (GantryNest *nest, V so_far, V x, gpointer data)
{
  return LLVMBuildGEP2 (B, ((Step *) data)->type, so_far, &x, 1, "");
}

static V
offset_lanes (GantryNest *nest, const Sum *sum, guint row, guint unroll, guint level)
{
  V x = NULL;

  for (guint i = 0; i < sum->varying->len; i++)
    {
      GantryKxTerm term = g_array_index (sum->varying, GantryKxTerm, i);
      V y = gantry_nest_value (nest, term.node, row, unroll);

      gantry_nest_at (nest, level);
      y = times (nest, gantry_emit_splat (nest->e, y, nest->lanes), term.factor);
      x = x == NULL ? y : LLVMBuildAdd (B, x, y, "");
    }
  if (sum->step != 0)
    x = LLVMBuildAdd (B, x, steps_vector (nest->i64, nest->lanes, sum->step), "");
  return x;
}

V
gantry_nest_pointer (GantryNest *nest, V base, GantryElementType element, guint32 address, guint32 keep, guint row, guint unroll, gint64 *stride, V *offsets)
{
  Sum sum = sum_new (nest, address, row, unroll);
  Step step = { gantry_emit_memory_type (nest->e, element, 1) };
  guint level = gantry_nest_level (nest, gantry_kx_node (nest->kx, address)->vars);
  guint slot = GANTRY_SLOTS - 1;
  V start = sum.rows || keep == GANTRY_NO_NODE ? NULL : *memo_at (nest, keep, slot), at;

  if (start == NULL)
    {
      start = fold_levels (nest, &sum, row, unroll, base, add_pointer, &step);
      /* The address of the first row and vector serves the others. */
      if (!sum.rows && keep != GANTRY_NO_NODE)
        gantry_nest_keep (nest, keep, slot, level, start);
    }
  *stride = sum.step;
  *offsets = NULL;
  if (sum.varying->len > 0)
    *offsets = offset_lanes (nest, &sum, row, unroll, level);
  gantry_nest_at (nest, level);
  at = gantry_nest_const (nest, sum.constant);
  if (sum.constant != 0)
    start = LLVMBuildGEP2 (B, step.type, start, &at, 1, "");
  sum_clear (&sum);
  return start;
}

/* The other nodes */

static V
constant_value (GantryNest *nest, const GantryKxNode *node)
{
  LLVMTypeRef type = gantry_emit_scalar_type (nest->e, node->type);

  if (node->type == GANTRY_F32)
    return LLVMConstReal (type, (double) (float) node->f);
  if (node->type == GANTRY_F16)
    return LLVMConstReal (type, gantry_f16_to_f32 (gantry_f32_to_f16 ((float) node->f)));
  if (node->type == GANTRY_BF16)
    return LLVMConstReal (type, gantry_bf16_to_f32 (gantry_f32_to_bf16 ((float) node->f)));
  if (node->type == GANTRY_F64)
    return LLVMConstReal (type, node->f);
  return LLVMConstInt (type, (unsigned long long) (node->type == GANTRY_BOOL ? node->i != 0 : node->i), TRUE);
}

/* Division of numbers that are not negative by a number: 32 bits where they suffice. */
static V
divide_index (GantryNest *nest, const GantryKxNode *node, V x, V y)
{
  GantryIndexRange r = gantry_kx_range (nest->kx, node->a), by = gantry_kx_range (nest->kx, node->b);
  LLVMTypeRef type = LLVMTypeOf (x);
  LLVMTypeRef narrow = gantry_emit_like (LLVMInt32TypeInContext (nest->e->context), type);
  gboolean small = r.hi <= G_MAXINT32 && by.hi <= G_MAXINT32;

  if (small)
    {
      x = LLVMBuildTrunc (B, x, narrow, "");
      y = LLVMBuildTrunc (B, y, narrow, "");
    }
  x = node->op == GANTRY_OP_DIVIDE ? LLVMBuildUDiv (B, x, y, "") : LLVMBuildURem (B, x, y, "");
  return small ? LLVMBuildZExt (B, x, type, "") : x;
}

/* Whether all lanes of the node are equal. */
static gboolean
is_uniform (const GantryNest *nest, guint32 id)
{
  return !gantry_nest_depends (gantry_kx_node (nest->kx, id)->vars, nest->vector_variable);
}

static V
binary_value (GantryNest *nest, guint32 id, guint row, guint unroll, guint level)
{
  GantryKxNode node = *gantry_kx_node (nest->kx, id);
  GantryElementType of = gantry_kx_node (nest->kx, node.a)->type;
  gboolean narrow = node.op == GANTRY_OP_COMPARE && nest->lanes > 1 && (fits_narrow (nest, node.a) || fits_narrow (nest, node.b))
                    && gantry_kx_range (nest->kx, node.a).lo >= -G_MAXINT32 && gantry_kx_range (nest->kx, node.a).hi <= G_MAXINT32
                    && gantry_kx_range (nest->kx, node.b).lo >= -G_MAXINT32 && gantry_kx_range (nest->kx, node.b).hi <= G_MAXINT32;
  V x, y;

  narrow = narrow && (fits_narrow (nest, node.a) || is_uniform (nest, node.a)) && (fits_narrow (nest, node.b) || is_uniform (nest, node.b));
  x = narrow ? sum_value (nest, node.a, row, unroll, TRUE) : gantry_nest_value (nest, node.a, row, unroll);
  y = narrow ? sum_value (nest, node.b, row, unroll, TRUE) : gantry_nest_value (nest, node.b, row, unroll);
  gantry_nest_at (nest, level);
  if (is_vector (x) || is_vector (y))
    {
      x = gantry_emit_splat (nest->e, x, nest->lanes);
      y = gantry_emit_splat (nest->e, y, nest->lanes);
    }
  if (node.op == GANTRY_OP_COMPARE)
    return gantry_emit_compare (nest->e, node.direction, narrow ? GANTRY_I32 : of, x, y);
  if (node.type == GANTRY_I64 && (node.op == GANTRY_OP_DIVIDE || node.op == GANTRY_OP_REMAINDER) && gantry_kx_range (nest->kx, node.a).lo >= 0
      && gantry_kx_range (nest->kx, node.b).lo >= 1)
    return divide_index (nest, &node, x, y);
  return gantry_emit_binary (nest->e, node.op, node.type, x, y);
}

static V
select_value (GantryNest *nest, const GantryKxNode *node, guint row, guint unroll, guint level)
{
  V p = gantry_nest_value (nest, node->a, row, unroll);
  V x = gantry_nest_value (nest, node->b, row, unroll);
  V y = gantry_nest_value (nest, node->c, row, unroll);

  gantry_nest_at (nest, level);
  if (is_vector (p) || is_vector (x) || is_vector (y))
    {
      x = gantry_emit_splat (nest->e, x, nest->lanes);
      y = gantry_emit_splat (nest->e, y, nest->lanes);
    }
  return LLVMBuildSelect (B, p, x, y, "");
}

static V
cast_value (GantryNest *nest, const GantryKxNode *node, guint row, guint unroll, guint level)
{
  GantryElementType of = gantry_kx_node (nest->kx, node->a)->type;
  gboolean narrow = nest->lanes > 1 && fits_narrow (nest, node->a);
  V x = narrow ? sum_value (nest, node->a, row, unroll, TRUE) : gantry_nest_value (nest, node->a, row, unroll);

  gantry_nest_at (nest, level);
  if (node->kind == GANTRY_KX_BITCAST)
    return gantry_emit_bitcast (nest->e, node->type, of, narrow ? gantry_emit_cast (nest->e, of, GANTRY_I32, x) : x);
  return gantry_emit_cast (nest->e, node->type, narrow ? GANTRY_I32 : of, x);
}

static V
build_value (GantryNest *nest, guint32 id, guint row, guint unroll, guint level)
{
  GantryKxNode node = *gantry_kx_node (nest->kx, id);
  V x;

  switch ((GantryKxKind) node.kind)
    {
    case GANTRY_KX_INDEX:
    case GANTRY_KX_LINEAR: return sum_value (nest, id, row, unroll, FALSE);
    case GANTRY_KX_LOAD: return gantry_nest_load (nest, id, row, unroll, level);
    case GANTRY_KX_UNARY:
      x = gantry_nest_value (nest, node.a, row, unroll);
      gantry_nest_at (nest, level);
      return gantry_emit_unary (nest->e, node.op, gantry_kx_node (nest->kx, node.a)->type, x);
    case GANTRY_KX_BINARY: return binary_value (nest, id, row, unroll, level);
    case GANTRY_KX_SELECT: return select_value (nest, &node, row, unroll, level);
    case GANTRY_KX_CAST:
    case GANTRY_KX_BITCAST: return cast_value (nest, &node, row, unroll, level);
    default: g_assert_not_reached ();
    }
}

V
gantry_nest_value (GantryNest *nest, guint32 id, guint row, guint unroll)
{
  guint64 vars = gantry_kx_node (nest->kx, id)->vars;
  guint level = gantry_nest_level (nest, vars), slot;
  V value;

  if (gantry_kx_node (nest->kx, id)->kind == GANTRY_KX_CONST)
    return constant_value (nest, gantry_kx_node (nest->kx, id));
  if (!gantry_nest_depends (vars, nest->row_variable))
    row = 0;
  if (!gantry_nest_depends (vars, nest->vector_variable))
    unroll = 0;
  slot = gantry_nest_slot (row, unroll);
  value = *memo_at (nest, id, slot);
  if (value != NULL)
    return value;
  if (gantry_kx_node (nest->kx, id)->kind == GANTRY_KX_REDUCE)
    {
      gantry_nest_reduce (nest, id, level); /* keeps the values of all rows and vectors */
      return *memo_at (nest, id, slot);
    }
  value = build_value (nest, id, row, unroll, level);
  done_at (nest, level);
  gantry_nest_keep (nest, id, slot, level, value);
  return value;
}
