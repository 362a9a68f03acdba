/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions and memory of bound programs as LLVM IR. Values are scalars, one for each lane of a statement; what lies
 * side by side in memory is loaded and stored in as wide pieces as the address is known to be aligned for. */
#include "core/kernels/emit/grid-emit.h"

#define B (g->e->builder)

typedef LLVMValueRef V;

static LLVMTypeRef
i32_type (GantryGridEmit *g)
{
  return LLVMInt32TypeInContext (g->e->context);
}

static LLVMTypeRef
i64_type (GantryGridEmit *g)
{
  return LLVMInt64TypeInContext (g->e->context);
}

/* What is kept */

static gboolean
of_lane (const GantryGridEmit *g, guint64 vars)
{
  return g->lane_variable != GANTRY_GRID_NONE && vars >> g->lane_variable & 1;
}

static guint32
place_of (GantryGridEmit *g, guint32 id, guint lane)
{
  if (id >= g->n_slot_of)
    {
      guint32 n = MAX (g->kx->nodes->len, id + 1);

      g->slot_of = g_renew (guint32, g->slot_of, n);
      for (guint32 i = g->n_slot_of; i < n; i++)
        g->slot_of[i] = 0;
      g->n_slot_of = n;
    }
  if (g->slot_of[id] == 0)
    {
      g_array_set_size (g->memo, g->memo->len + GANTRY_GRID_MAX_LANES);
      g->slot_of[id] = g->memo->len / GANTRY_GRID_MAX_LANES;
    }
  return (g->slot_of[id] - 1) * GANTRY_GRID_MAX_LANES + lane;
}

static V
remember (GantryGridEmit *g, guint32 id, guint lane, V value)
{
  guint32 pair[] = { place_of (g, id, lane), id };

  g_array_index (g->memo, V, pair[0]) = value;
  g_array_append_vals (g->trail, pair, 2);
  return value;
}

guint
gantry_grid_emit_mark (const GantryGridEmit *g)
{
  return g->trail->len;
}

void
gantry_grid_emit_forget (GantryGridEmit *g, guint mark, guint64 only)
{
  guint kept = mark;

  for (guint i = mark; i < g->trail->len; i += 2)
    {
      guint32 *pair = &g_array_index (g->trail, guint32, i);

      if (only != 0 && !(gantry_kx_node (g->kx, pair[1])->vars & (only | GANTRY_KX_HAS_VALUE)))
        {
          g_array_index (g->trail, guint32, kept) = pair[0];
          g_array_index (g->trail, guint32, kept + 1) = pair[1];
          kept += 2;
        }
      else
        g_array_index (g->memo, V, pair[0]) = NULL;
    }
  g_array_set_size (g->trail, kept);
}

/* Index arithmetic in 32 bits */

static gboolean
fits (GantryIndexRange r)
{
  return r.lo >= G_MININT32 && r.hi <= G_MAXINT32;
}

/* All partial sums, in whatever order, fit as well. */
static gboolean
sum_fits (GantryKx *kx, const GantryKxNode *node)
{
  __int128 most = node->i < 0 ? -(__int128) node->i : node->i;

  for (guint i = 0; i < node->c; i++)
    {
      GantryKxTerm term = gantry_kx_terms (kx, node)[i];
      GantryIndexRange r = gantry_kx_range (kx, term.node);

      if (!fits (r) || ABS (term.factor) > G_MAXINT32)
        return FALSE;
      most += (__int128) MAX (ABS (r.lo), ABS (r.hi)) * ABS (term.factor);
    }
  return most <= G_MAXINT32;
}

static gboolean
is_narrow (GantryGridEmit *g, guint32 id)
{
  GantryKxNode node = *gantry_kx_node (g->kx, id);

  if (node.type != GANTRY_I64 || !fits (gantry_kx_range (g->kx, id)))
    return FALSE;
  switch ((GantryKxKind) node.kind)
    {
    case GANTRY_KX_CONST:
    case GANTRY_KX_INDEX:
    case GANTRY_KX_VALUE: return TRUE;
    case GANTRY_KX_LINEAR: return sum_fits (g->kx, &node);
    case GANTRY_KX_BINARY:
      if (!fits (gantry_kx_range (g->kx, node.a)) || !fits (gantry_kx_range (g->kx, node.b)))
        return FALSE;
      if (node.op == GANTRY_OP_DIVIDE || node.op == GANTRY_OP_REMAINDER)
        return gantry_kx_range (g->kx, node.a).lo >= 0 && gantry_kx_range (g->kx, node.b).lo >= 1;
      return node.op == GANTRY_OP_MAXIMUM || node.op == GANTRY_OP_MINIMUM
             || (node.op == GANTRY_OP_MULTIPLY && gantry_kx_range (g->kx, node.a).lo >= 0 && gantry_kx_range (g->kx, node.b).lo >= 0);
    case GANTRY_KX_SELECT: return fits (gantry_kx_range (g->kx, node.b)) && fits (gantry_kx_range (g->kx, node.c));
    case GANTRY_KX_CAST:
      {
        GantryElementType from = gantry_kx_node (g->kx, node.a)->type;

        return !gantry_element_is_float (from) && from != GANTRY_U32 && from != GANTRY_U64;
      }
    default: return FALSE;
    }
}

static V
to_width (GantryGridEmit *g, V x, gboolean narrow)
{
  gboolean is = LLVMTypeOf (x) == i32_type (g);

  if (is == narrow)
    return x;
  return narrow ? LLVMBuildTrunc (B, x, i32_type (g), "") : LLVMBuildSExt (B, x, i64_type (g), "");
}

/* The terms of a sum whose values are not known numbers, added up; NULL: there are none. *@constant takes in the
 * others. */
static V
sum_of (GantryGridEmit *g, const GantryKxNode *node, guint lane, gboolean narrow, gint64 *constant)
{
  LLVMTypeRef type = narrow ? i32_type (g) : i64_type (g);
  V sum = NULL;

  *constant = node->i;
  for (guint i = 0; i < node->c; i++)
    {
      GantryKxTerm term = gantry_kx_terms (g->kx, node)[i];
      V x = to_width (g, gantry_grid_emit_index (g, term.node, lane), narrow), factor;

      if (LLVMIsAConstantInt (x) != NULL)
        {
          *constant = (gint64) ((guint64) *constant + (guint64) term.factor * (guint64) LLVMConstIntGetSExtValue (x));
          continue;
        }
      factor = LLVMConstInt (type, (guint64) term.factor, TRUE);
      if (term.factor != 1)
        x = narrow ? LLVMBuildNSWMul (B, x, factor, "") : LLVMBuildMul (B, x, factor, "");
      if (sum != NULL)
        x = narrow ? LLVMBuildNSWAdd (B, sum, x, "") : LLVMBuildAdd (B, sum, x, "");
      sum = x;
    }
  return sum;
}

static V
linear_value (GantryGridEmit *g, const GantryKxNode *node, guint lane, gboolean narrow)
{
  LLVMTypeRef type = narrow ? i32_type (g) : i64_type (g);
  gint64 constant;
  V sum = sum_of (g, node, lane, narrow, &constant), number = LLVMConstInt (type, (guint64) constant, TRUE);

  if (sum == NULL)
    return number;
  if (constant == 0)
    return sum;
  return narrow ? LLVMBuildNSWAdd (B, sum, number, "") : LLVMBuildAdd (B, sum, number, "");
}

static V
variable_value (GantryGridEmit *g, const GantryKxNode *node, guint lane, gboolean narrow)
{
  if (g->grid->axis[node->a] == GANTRY_AXIS_LANE)
    {
      g_assert (node->a == g->lane_variable);
      return LLVMConstInt (narrow ? i32_type (g) : i64_type (g), lane, FALSE);
    }
  g_assert (g->index[node->a] != NULL);
  return to_width (g, g->index[node->a], narrow);
}

static V
index_binary (GantryGridEmit *g, const GantryKxNode *node, guint lane, gboolean narrow)
{
  V x = to_width (g, gantry_grid_emit_index (g, node->a, lane), narrow);
  V y = to_width (g, gantry_grid_emit_index (g, node->b, lane), narrow);

  if ((node->op == GANTRY_OP_DIVIDE || node->op == GANTRY_OP_REMAINDER) && gantry_kx_range (g->kx, node->a).lo >= 0 && gantry_kx_range (g->kx, node->b).lo >= 1)
    return node->op == GANTRY_OP_DIVIDE ? LLVMBuildUDiv (B, x, y, "") : LLVMBuildURem (B, x, y, "");
  return gantry_emit_binary (g->e, node->op, narrow ? GANTRY_I32 : GANTRY_I64, x, y);
}

/* Memory */

static gint64
power_of_two_in (gint64 x)
{
  return x == 0 ? G_GINT64_CONSTANT (1) << 40 : x & -x;
}

/* How many of @lanes elements may be loaded or stored at once: the index of the first is a multiple of @multiple. */
static guint
piece_of (const GantryGridEmit *g, GantryGridSpace space, GantryElementType element, guint lanes, gint64 multiple)
{
  guint size = (guint) gantry_element_size (element);
  guint piece = MIN (lanes, g->machine->vector_bytes / size);

  if (space == GANTRY_SPACE_PRIVATE)
    return 1;
  return (guint) MIN ((gint64) MAX (piece, 1), power_of_two_in (multiple));
}

/* Shared and private memory are the program's own; what the others are aligned to the machine knows. */
static guint
alignment_of (const GantryGridEmit *g, GantryGridSpace space, GantryElementType element, guint piece)
{
  guint bytes = piece * (guint) gantry_element_size (element);

  return space == GANTRY_SPACE_SHARED || space == GANTRY_SPACE_PRIVATE ? bytes : MIN (bytes, g->machine->alignment);
}

/* The number apart, so that accesses with the same sum share it and differ by what the instruction holds. */
static V
pointer_at (GantryGridEmit *g, V base, GantryElementType element, guint32 index, guint lane)
{
  GantryKxNode node = *gantry_kx_node (g->kx, index);
  LLVMTypeRef type = gantry_emit_memory_type (g->e, element, 1);
  gint64 constant = 0;
  V sum, number;

  if (node.kind == GANTRY_KX_LINEAR || node.kind == GANTRY_KX_LOAD)
    sum = sum_of (g, &node, lane, node.kind == GANTRY_KX_LINEAR ? is_narrow (g, index) : sum_fits (g->kx, &node), &constant);
  else
    sum = gantry_grid_emit_index (g, index, lane);
  if (sum != NULL)
    {
      sum = to_width (g, sum, FALSE);
      base = LLVMBuildInBoundsGEP2 (B, type, base, &sum, 1, "");
    }
  number = LLVMConstInt (i64_type (g), (guint64) constant, TRUE);
  return constant != 0 ? LLVMBuildInBoundsGEP2 (B, type, base, &number, 1, "") : base;
}

V
gantry_grid_emit_pointer (GantryGridEmit *g, V base, GantryElementType element, guint32 index)
{
  return pointer_at (g, base, element, index, 0);
}

static V
advance (GantryGridEmit *g, V pointer, GantryElementType element, guint by)
{
  V number = LLVMConstInt (i64_type (g), by, FALSE);

  if (by == 0)
    return pointer;
  return LLVMBuildInBoundsGEP2 (B, gantry_emit_memory_type (g->e, element, 1), pointer, &number, 1, "");
}

/* bf16 are the upper halves of floats: two of them in a word are a shift and a mask. */
static gboolean
is_in_words (GantryElementType element, guint piece)
{
  return element == GANTRY_BF16 && piece % 2 == 0;
}

static void
halves_of_word (GantryGridEmit *g, V words, guint i, V *halves)
{
  LLVMTypeRef type = LLVMFloatTypeInContext (g->e->context);
  V word = words, low, high;

  if (LLVMTypeOf (words) != i32_type (g))
    word = LLVMBuildExtractElement (B, words, LLVMConstInt (i32_type (g), i, FALSE), "");
  low = LLVMBuildShl (B, word, LLVMConstInt (i32_type (g), 16, FALSE), "");
  high = LLVMBuildAnd (B, word, LLVMConstInt (i32_type (g), 0xffff0000, FALSE), "");
  halves[0] = LLVMBuildBitCast (B, low, type, "");
  halves[1] = LLVMBuildBitCast (B, high, type, "");
}

/* Loads @piece elements; @values: of each, as it is computed with. */
static void
load_piece (GantryGridEmit *g, GantryElementType element, V pointer, guint piece, guint alignment, gboolean of_input, V *values)
{
  gboolean in_words = is_in_words (element, piece);
  LLVMTypeRef type = in_words ? gantry_emit_with_lanes (i32_type (g), piece / 2) : gantry_emit_memory_type (g->e, element, piece);
  V x = LLVMBuildLoad2 (B, type, pointer, "");

  LLVMSetAlignment (x, alignment);
  if (of_input && g->machine->input_load != NULL)
    g->machine->input_load (g, x);
  if (in_words)
    {
      for (guint i = 0; i < piece / 2; i++)
        halves_of_word (g, x, i, values + 2 * i);
      return;
    }
  for (guint i = 0; i < piece; i++)
    {
      V one = piece == 1 ? x : LLVMBuildExtractElement (B, x, LLVMConstInt (i32_type (g), i, FALSE), "");

      values[i] = gantry_emit_from_memory (g->e, element, one);
    }
}

static void
store_piece (GantryGridEmit *g, GantryElementType element, V pointer, guint piece, guint alignment, const V *values)
{
  gboolean in_words = is_in_words (element, piece) && g->e->has_bf16;
  V x = NULL;

  if (in_words)
    piece /= 2;
  for (guint i = 0; i < piece; i++)
    {
      V one = in_words ? gantry_emit_bf16_pair (g->e, values[2 * i], values[2 * i + 1]) : gantry_emit_to_memory (g->e, element, values[i]);

      if (piece == 1)
        x = one;
      else
        x = LLVMBuildInsertElement (B, x != NULL ? x : LLVMGetPoison (LLVMVectorType (LLVMTypeOf (one), piece)), one, LLVMConstInt (i32_type (g), i, FALSE),
                                    "");
    }
  LLVMSetAlignment (LLVMBuildStore (B, x, pointer), alignment);
}

/* Does the address go on by one from lane to lane, and in no other way? */
static gboolean
is_consecutive (const GantryGridEmit *g, const GantryKxNode *load)
{
  gboolean other;

  return gantry_kx_factor_of (g->kx, load, g->lane_variable, &other) == 1 && !other;
}

static V
load_value (GantryGridEmit *g, guint32 id, guint lane)
{
  GantryKxNode node = *gantry_kx_node (g->kx, id);
  guint piece = 1, first = lane;
  V pointer, values[GANTRY_GRID_MAX_LANES];

  if (of_lane (g, node.vars) && is_consecutive (g, &node))
    {
      piece = piece_of (g, GANTRY_SPACE_RESULT, node.type, g->lanes, gantry_grid_multiple (g->grid, id));
      first = lane / piece * piece;
    }
  pointer = pointer_at (g, g->machine->input (g, node.a), node.type, id, first);
  load_piece (g, node.type, pointer, piece, alignment_of (g, GANTRY_SPACE_RESULT, node.type, piece), TRUE, values);
  for (guint i = 0; i < piece; i++)
    if (first + i != lane)
      remember (g, id, first + i, values[i]);
  return values[lane - first];
}

/* Expressions */

/* A sum or difference that takes a product unrounded. Returns: (nullable): %NULL where @node is none */
static V
sum_with_addend (GantryGridEmit *g, const GantryKxNode *node, guint lane)
{
  gboolean first = gantry_kx_is_addend (g->kx, node->a), second = !first && gantry_kx_is_addend (g->kx, node->b);
  GantryKxNode product;
  V x, y, other;

  if ((node->op != GANTRY_OP_ADD && node->op != GANTRY_OP_SUBTRACT) || (!first && !second))
    return NULL;
  product = *gantry_kx_node (g->kx, first ? node->a : node->b);
  x = gantry_grid_emit_value (g, product.a, lane);
  y = gantry_grid_emit_value (g, product.b, lane);
  other = gantry_grid_emit_value (g, first ? node->b : node->a, lane);
  if (node->op == GANTRY_OP_SUBTRACT && first)
    other = LLVMBuildFNeg (B, other, "");
  if (node->op == GANTRY_OP_SUBTRACT && second)
    x = LLVMBuildFNeg (B, x, "");
  return gantry_emit_fma (g->e, x, y, other);
}

static V
binary_value (GantryGridEmit *g, const GantryKxNode *node, guint lane)
{
  GantryElementType of = gantry_kx_node (g->kx, node->a)->type;
  V x = sum_with_addend (g, node, lane), y;

  if (x != NULL)
    return x;
  if (node->op == GANTRY_OP_COMPARE && of == GANTRY_I64)
    {
      gboolean narrow;

      x = gantry_grid_emit_index (g, node->a, lane);
      y = gantry_grid_emit_index (g, node->b, lane);
      narrow = LLVMTypeOf (x) == i32_type (g) && LLVMTypeOf (y) == i32_type (g);
      return gantry_emit_compare (g->e, node->direction, narrow ? GANTRY_I32 : GANTRY_I64, to_width (g, x, narrow), to_width (g, y, narrow));
    }
  x = gantry_grid_emit_value (g, node->a, lane);
  y = gantry_grid_emit_value (g, node->b, lane);
  if (node->op == GANTRY_OP_COMPARE)
    return gantry_emit_compare (g->e, node->direction, of, x, y);
  return gantry_emit_binary (g->e, node->op, node->type, x, y);
}

static V
cast_value (GantryGridEmit *g, const GantryKxNode *node, guint lane)
{
  GantryElementType of = gantry_kx_node (g->kx, node->a)->type;
  V x;

  if (of == GANTRY_I64 && node->kind == GANTRY_KX_CAST)
    {
      x = gantry_grid_emit_index (g, node->a, lane);
      return gantry_emit_cast (g->e, node->type, LLVMTypeOf (x) == i32_type (g) ? GANTRY_I32 : GANTRY_I64, x);
    }
  x = gantry_grid_emit_value (g, node->a, lane);
  return node->kind == GANTRY_KX_CAST ? gantry_emit_cast (g->e, node->type, of, x) : gantry_emit_bitcast (g->e, node->type, of, x);
}

static V
select_value (GantryGridEmit *g, const GantryKxNode *node, guint lane, gboolean narrow)
{
  V p = gantry_grid_emit_value (g, node->a, lane), x, y;

  if (node->type != GANTRY_I64)
    {
      x = gantry_grid_emit_value (g, node->b, lane);
      y = gantry_grid_emit_value (g, node->c, lane);
    }
  else
    {
      x = to_width (g, gantry_grid_emit_index (g, node->b, lane), narrow);
      y = to_width (g, gantry_grid_emit_index (g, node->c, lane), narrow);
    }
  return LLVMBuildSelect (B, p, x, y, "");
}

static V
constant_value (GantryGridEmit *g, const GantryKxNode *node, gboolean narrow)
{
  LLVMTypeRef type = narrow ? i32_type (g) : gantry_emit_scalar_type (g->e, node->type);

  return gantry_element_is_float (node->type) ? gantry_emit_real (type, node->f) : gantry_emit_integer (type, node->i);
}

static V
build_value (GantryGridEmit *g, guint32 id, guint lane)
{
  GantryKxNode node = *gantry_kx_node (g->kx, id);
  gboolean narrow = is_narrow (g, id);
  V x;

  switch ((GantryKxKind) node.kind)
    {
    case GANTRY_KX_CONST: return constant_value (g, &node, narrow);
    case GANTRY_KX_INDEX: return variable_value (g, &node, lane, narrow);
    case GANTRY_KX_LINEAR: return linear_value (g, &node, lane, narrow);
    case GANTRY_KX_LOAD: return load_value (g, id, lane);
    case GANTRY_KX_UNARY: x = gantry_grid_emit_value (g, node.a, lane); return gantry_emit_unary (g->e, node.op, gantry_kx_node (g->kx, node.a)->type, x);
    case GANTRY_KX_BINARY:
      return node.type == GANTRY_I64 && (narrow || node.op == GANTRY_OP_DIVIDE || node.op == GANTRY_OP_REMAINDER) ? index_binary (g, &node, lane, narrow)
                                                                                                                  : binary_value (g, &node, lane);
    case GANTRY_KX_SELECT: return select_value (g, &node, lane, narrow);
    case GANTRY_KX_CAST: x = cast_value (g, &node, lane); return node.type == GANTRY_I64 ? to_width (g, x, narrow) : x;
    case GANTRY_KX_BITCAST: return cast_value (g, &node, lane);
    case GANTRY_KX_VALUE: g_assert (g->keeps); return g->machine->kept (g, node.a, narrow ? i32_type (g) : gantry_emit_scalar_type (g->e, node.type));
    default: g_assert_not_reached ();
    }
}

V
gantry_grid_emit_index (GantryGridEmit *g, guint32 id, guint lane)
{
  guint32 place;
  V value;

  if (!of_lane (g, gantry_kx_node (g->kx, id)->vars))
    lane = 0;
  place = place_of (g, id, lane); /* may move the array */
  value = g_array_index (g->memo, V, place);
  return value != NULL ? value : remember (g, id, lane, build_value (g, id, lane));
}

V
gantry_grid_emit_value (GantryGridEmit *g, guint32 id, guint lane)
{
  V value = gantry_grid_emit_index (g, id, lane);

  return gantry_kx_node (g->kx, id)->type == GANTRY_I64 ? to_width (g, value, FALSE) : value;
}

void
gantry_grid_emit_define (GantryGridEmit *g, guint32 value, V x)
{
  guint32 node = g_array_index (g->kx->values, GantryKxValue, value).node;

  if (gantry_kx_node (g->kx, node)->type == GANTRY_I64)
    x = to_width (g, x, is_narrow (g, node));
  remember (g, node, 0, x);
  if (g->keeps)
    g->machine->keep (g, value, x);
}

/* Arrays */

/* A conversion to a short float is done by the store. */
static guint32
stored_value (const GantryGridEmit *g, guint32 id, GantryElementType element)
{
  const GantryKxNode *node = gantry_kx_node (g->kx, id);
  GantryElementType from;

  if (node->kind != GANTRY_KX_CAST || (element != GANTRY_F16 && element != GANTRY_BF16))
    return id;
  from = gantry_kx_node (g->kx, node->a)->type;
  return from == GANTRY_F32 ? node->a : id;
}

static void
store_values (GantryGridEmit *g, const GantryGridStatement *s, const V *values)
{
  const GantryGridArray *array = &g_array_index (g->grid->arrays, GantryGridArray, s->array);
  guint piece = piece_of (g, array->space, array->element, s->lanes, gantry_grid_multiple (g->grid, s->b));
  guint alignment = alignment_of (g, array->space, array->element, piece);
  V pointer = gantry_grid_emit_pointer (g, g->machine->array (g, s->array), array->element, s->b);

  if (g->machine->access != NULL)
    g->machine->access (g, s, pointer, s->lanes * (guint) gantry_element_size (array->element));
  for (guint l = 0; l < s->lanes; l += piece)
    store_piece (g, array->element, advance (g, pointer, array->element, l), piece, alignment, values + l);
}

void
gantry_grid_emit_sets (GantryGridEmit *g, const GantryGridStatement *statements, guint n)
{
  g_autofree V *values = g_new (V, n * GANTRY_GRID_MAX_LANES);

  for (guint i = 0; i < n; i++)
    {
      const GantryGridStatement *s = &statements[i];
      GantryElementType element = g_array_index (g->grid->arrays, GantryGridArray, s->array).element;
      guint32 expression = stored_value (g, s->a, element);

      g->lane_variable = s->c;
      g->lanes = s->lanes;
      for (guint l = 0; l < s->lanes; l++)
        values[i * GANTRY_GRID_MAX_LANES + l] = gantry_grid_emit_value (g, expression, l);
    }
  g->lane_variable = GANTRY_GRID_NONE;
  for (guint i = 0; i < n; i++)
    store_values (g, &statements[i], values + i * GANTRY_GRID_MAX_LANES);
}

void
gantry_grid_emit_get (GantryGridEmit *g, const GantryGridStatement *s)
{
  const GantryGridArray *array = &g_array_index (g->grid->arrays, GantryGridArray, s->array);
  guint piece = piece_of (g, array->space, array->element, s->lanes, gantry_grid_multiple (g->grid, s->b));
  guint alignment = alignment_of (g, array->space, array->element, piece);
  V pointer = gantry_grid_emit_pointer (g, g->machine->array (g, s->array), array->element, s->b);

  if (g->machine->access != NULL)
    g->machine->access (g, s, pointer, s->lanes * (guint) gantry_element_size (array->element));
  for (guint l = 0; l < s->lanes; l += piece)
    {
      V values[GANTRY_GRID_MAX_LANES];

      load_piece (g, array->element, advance (g, pointer, array->element, l), piece, alignment, FALSE, values);
      for (guint i = 0; i < piece; i++)
        gantry_grid_emit_define (g, s->value + l + i, values[i]);
    }
}
