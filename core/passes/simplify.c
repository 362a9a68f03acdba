/* SPDX-License-Identifier: Apache-2.0 */
/* simplify: arithmetic identities and movements that undo or absorb each other. Each rule looks at one
 * node whose operands are simplified already and answers with the value that takes its place.
 *
 * The rules of floating point: x * 1, x / 1, x - 0 and x + (-0) are exact; x + 0 differs in the sign of a
 * zero only and is done as well; x * 0 = 0 and log (exp (x) / y) = x - log (y) are not true of
 * infinities and NaN and are done for integers, or when the user says that values are finite. */
#include "core/passes/simplify-private.h"
#include "core/graph/rewriter.h"
#include "core/passes/passes.h"
#include <math.h>

typedef struct
{
  const GantryPassOptions *options;
  guint n_changed;
  GHashTable *offsets; /* id of a concatenate -> GArray of gint64: where its operands begin, and the end */
  GantryUses *uses;
} State;

typedef struct
{
  State *state;
  GantryRewriter *rewriter;
  GantryBuilder *b;
  GantryContext *context;
  const GantryModule *module;
  const GantryNode *node; /* of the snapshot before; its operands are: */
  const guint32 *x;       /* new ids */
  const GantryType *type;
} Match;

static gboolean
is_uniform (Match *m, guint32 id, double *value)
{
  return _gantry_simplify_is_uniform (m->b, id, value);
}

static gboolean
is_value (Match *m, guint32 id, double wanted)
{
  double value;

  return is_uniform (m, id, &value) && value == wanted;
}

static guint16
op_of (Match *m, guint32 id)
{
  const GantryNode *node = gantry_builder_node (m->b, id);

  return node != NULL ? node->op : GANTRY_OP_NONE;
}

static guint32
zero_like (Match *m)
{
  return gantry_builder_splat (m->b, m->type->element, 0, m->type->rank, m->type->dims);
}

static gboolean
exact_zero (Match *m)
{
  return !gantry_element_is_float (m->type->element) || m->state->options->finite_math;
}

static guint32
simplify_multiply (Match *m)
{
  for (guint i = 0; i < 2; i++)
    {
      if (is_value (m, m->x[i], 1))
        return m->x[1 - i];
      if (is_value (m, m->x[i], 0) && exact_zero (m) && gantry_type_is_static (m->type))
        return zero_like (m);
    }
  return _gantry_simplify_softmax (m->rewriter, m->module, m->node, m->x, m->state->uses);
}

static guint32
simplify_add (Match *m)
{
  for (guint i = 0; i < 2; i++)
    if (is_value (m, m->x[i], 0))
      return m->x[1 - i];
  return _gantry_simplify_add_in_place (m->b, m->module, m->node, m->x, m->state->uses);
}

static guint32
simplify_subtract (Match *m)
{
  if (is_value (m, m->x[1], 0))
    return m->x[0];
  if (m->x[0] == m->x[1] && exact_zero (m) && gantry_type_is_static (m->type))
    return zero_like (m);
  return 0;
}

static guint32
simplify_divide (Match *m)
{
  double value;
  int exponent;

  if (is_value (m, m->x[1], 1))
    return m->x[0];
  /* A power of two has an exact inverse, and a product is cheaper. */
  if (gantry_element_is_float (m->type->element) && is_uniform (m, m->x[1], &value) && value != 0
      && (frexp (value, &exponent) == 0.5 || frexp (value, &exponent) == -0.5) && ABS (exponent) < 14)
    return gantry_builder_binary (m->b, GANTRY_OP_MULTIPLY, m->x[0], gantry_builder_splat (m->b, m->type->element, 1 / value, m->type->rank, m->type->dims));
  return 0;
}

static guint32
simplify_power (Match *m)
{
  if (is_value (m, m->x[1], 1))
    return m->x[0];
  if (is_value (m, m->x[1], 2))
    return gantry_builder_binary (m->b, GANTRY_OP_MULTIPLY, m->x[0], m->x[0]);
  return 0;
}

/* log (exp (x) / y) = x - log (y), log (exp (x)) = x */
static guint32
simplify_log (Match *m)
{
  guint32 quotient = m->x[0];
  guint32 exponential = op_of (m, quotient) == GANTRY_OP_DIVIDE ? gantry_builder_operand_of (m->b, quotient, 0) : quotient;
  guint32 x;

  if (!m->state->options->finite_math || op_of (m, exponential) != GANTRY_OP_EXPONENTIAL)
    return 0;
  x = gantry_builder_operand_of (m->b, exponential, 0);
  if (exponential == quotient)
    return x;
  return gantry_builder_binary (m->b, GANTRY_OP_SUBTRACT, x, gantry_builder_unary (m->b, GANTRY_OP_LOG, gantry_builder_operand_of (m->b, quotient, 1)));
}

/* An operation that is its own inverse. */
static guint32
simplify_involution (Match *m)
{
  return op_of (m, m->x[0]) == m->node->op ? gantry_builder_operand_of (m->b, m->x[0], 0) : 0;
}

static guint32
simplify_stop_gradient (Match *m)
{
  return m->state->options->gradients_follow ? 0 : m->x[0];
}

static guint32
simplify_convert (Match *m)
{
  return gantry_builder_get_type (m->b, m->x[0])->element == m->type->element ? m->x[0] : 0;
}

static guint32
simplify_select (Match *m)
{
  double value;

  if (m->x[1] == m->x[2])
    return m->x[1];
  if (is_uniform (m, m->x[0], &value))
    return value != 0 ? m->x[1] : m->x[2];
  return 0;
}

/* Two sizes that are not known may differ; two symbols of one name may not. */
static gboolean
surely_same_shape (const GantryType *a, const GantryType *b)
{
  for (guint i = 0; a->kind == GANTRY_TYPE_TENSOR && i < a->rank; i++)
    if (a->dims[i] == GANTRY_DIM_UNKNOWN)
      return FALSE;
  return gantry_type_same_shape (a, b);
}

static guint32
simplify_reshape (Match *m)
{
  if (surely_same_shape (gantry_builder_get_type (m->b, m->x[0]), m->type))
    return m->x[0];
  if (op_of (m, m->x[0]) == GANTRY_OP_RESHAPE)
    return gantry_builder_reshape (m->b, gantry_builder_operand_of (m->b, m->x[0], 0), m->type->rank, m->type->dims);
  return 0;
}

static guint32
simplify_transpose (Match *m)
{
  gsize n, inner_n;
  const gint64 *outer = gantry_attrs_ints (m->context, m->node->attrs, "permutation", &n);
  const GantryNode *operand = gantry_builder_node (m->b, m->x[0]);
  const gint64 *inner;
  gint64 both[GANTRY_MAX_RANK];
  gboolean identity = TRUE;

  for (gsize i = 0; i < n; i++)
    identity = identity && outer[i] == (gint64) i;
  if (identity)
    return m->x[0];
  if (operand->op != GANTRY_OP_TRANSPOSE)
    return 0;
  inner = gantry_attrs_ints (m->context, operand->attrs, "permutation", &inner_n);
  for (gsize i = 0; i < n; i++)
    both[i] = inner[outer[i]];
  return gantry_builder_transpose (m->b, gantry_builder_operand_of (m->b, m->x[0], 0), both);
}

/* A broadcast of a broadcast is one broadcast. */
static guint32
simplify_broadcast (Match *m)
{
  gsize n, inner_n;
  const gint64 *outer = gantry_attrs_ints (m->context, m->node->attrs, "broadcast_dimensions", &n);
  const GantryNode *operand = gantry_builder_node (m->b, m->x[0]);
  const gint64 *inner;
  gint64 both[GANTRY_MAX_RANK];
  gboolean identity = surely_same_shape (gantry_builder_get_type (m->b, m->x[0]), m->type);

  for (gsize i = 0; i < n; i++)
    identity = identity && outer[i] == (gint64) i;
  if (identity)
    return m->x[0];
  if (operand->op != GANTRY_OP_BROADCAST_IN_DIM)
    return 0;
  inner = gantry_attrs_ints (m->context, operand->attrs, "broadcast_dimensions", &inner_n);
  for (gsize i = 0; i < inner_n; i++)
    both[i] = outer[inner[i]];
  return gantry_builder_broadcast (m->b, gantry_builder_operand_of (m->b, m->x[0], 0), m->type->rank, m->type->dims, both);
}

/* Slices of everything, pads of nothing, sums over no axis: the value itself. */
static guint32
simplify_same_shape (Match *m)
{
  const char *const keys[] = { "edge_padding_low", "edge_padding_high", "interior_padding" };

  if (!gantry_type_is_static (m->type) || !gantry_type_same_shape (gantry_builder_get_type (m->b, m->x[0]), m->type))
    return 0;
  for (guint k = 0; m->node->op == GANTRY_OP_PAD && k < G_N_ELEMENTS (keys); k++)
    {
      gsize n;
      const gint64 *values = gantry_attrs_ints (m->context, m->node->attrs, keys[k], &n);

      for (gsize i = 0; i < n; i++)
        if (values[i] != 0)
          return 0;
    }
  if (m->node->op == GANTRY_OP_REDUCE)
    {
      gsize n;

      gantry_attrs_ints (m->context, m->node->attrs, "dimensions", &n);
      if (n > 0)
        return 0;
    }
  return m->x[0];
}

/* A broadcast of x without the dimensions along which it repeats x and @dropped says so. */
static guint32
broadcast_without (Match *m, const GantryNode *broadcast, const gboolean *dropped, guint rank, const GantryDim *dims)
{
  guint32 x = gantry_builder_operand_of (m->b, m->x[0], 0);
  const GantryType *wide = gantry_builder_get_type (m->b, m->x[0]), *type = gantry_builder_get_type (m->b, x);
  GantryDim kept[GANTRY_MAX_RANK];
  gint64 where[GANTRY_MAX_RANK], place[GANTRY_MAX_RANK];
  guint n_kept = 0;
  gsize n;
  const gint64 *of = gantry_attrs_ints (m->context, broadcast->attrs, "broadcast_dimensions", &n);

  for (guint d = 0, next = 0; d < wide->rank; d++)
    place[d] = dropped[d] ? -1 : next++;
  for (gsize i = 0; i < n; i++)
    if (!dropped[of[i]])
      {
        kept[n_kept] = type->dims[i];
        where[n_kept++] = place[of[i]];
      }
  x = n_kept < n ? gantry_builder_reshape (m->b, x, n_kept, kept) : x;
  return gantry_builder_broadcast (m->b, x, rank, dims, where);
}

/* Whether the type of the result has @count; a float has all, rounded. */
static gboolean
is_number (Match *m, gint64 count)
{
  GantryElementType element = (GantryElementType) m->type->element;
  gsize size = gantry_element_size (element);

  return gantry_element_is_float (element) || (element != GANTRY_BOOL && count <= (size == 1 ? G_MAXINT8 : size == 2 ? G_MAXINT16 : G_MAXINT32));
}

/* @x as often as it was repeated, summed: at least in single precision, as sums are. */
static guint32
times (Match *m, guint32 x, gint64 count)
{
  GantryElementType element = (GantryElementType) m->type->element;
  gboolean half = gantry_element_is_float (element) && gantry_element_size (element) < 4;
  GantryElementType wide = half ? GANTRY_F32 : element;
  guint32 factor = gantry_builder_splat (m->b, wide, (double) count, m->type->rank, m->type->dims);

  x = gantry_builder_binary (m->b, GANTRY_OP_MULTIPLY, gantry_builder_convert (m->b, x, wide), factor);
  return gantry_builder_convert (m->b, x, element);
}

/* The same value many times: its sum is a product, its largest and smallest are itself. However often it is repeated (2^40 elements of a
 * broadcast are no more than one), that is no work. */
static guint32
simplify_reduce (Match *m)
{
  const GantryNode *broadcast = gantry_builder_node (m->b, m->x[0]);
  const char *kind = gantry_attrs_string (m->context, m->node->attrs, "kind", "add");
  const GantryType *wide = gantry_builder_get_type (m->b, m->x[0]), *type;
  gboolean sum = strcmp (kind, "add") == 0, dropped[GANTRY_MAX_RANK] = { FALSE };
  gint64 count = 1, rest[GANTRY_MAX_RANK];
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = 0;
  gsize n, n_of, n_rest = 0;
  const gint64 *axes = gantry_attrs_ints (m->context, m->node->attrs, "dimensions", &n), *of;
  guint32 x;

  if (n == 0 || broadcast == NULL || broadcast->op != GANTRY_OP_BROADCAST_IN_DIM || strcmp (kind, "mul") == 0 || !gantry_type_is_static (wide))
    return simplify_same_shape (m);
  type = gantry_builder_get_type (m->b, gantry_builder_operand_of (m->b, m->x[0], 0));
  of = gantry_attrs_ints (m->context, broadcast->attrs, "broadcast_dimensions", &n_of);
  for (gsize i = 0; i < n; i++)
    dropped[axes[i]] = wide->dims[axes[i]] > 1;
  for (gsize i = 0; i < n_of; i++)
    dropped[of[i]] = dropped[of[i]] && type->dims[i] == 1;
  for (guint d = 0, a = 0; d < wide->rank; d++)
    {
      gboolean reduced = a < n && axes[a] == d;

      a += reduced;
      count *= dropped[d] ? wide->dims[d] : 1;
      if (reduced && !dropped[d])
        rest[n_rest++] = rank;
      if (!dropped[d])
        dims[rank++] = wide->dims[d];
    }
  if (count == 1 || (sum && !is_number (m, count)))
    return 0;
  x = broadcast_without (m, broadcast, dropped, rank, dims);
  if (n_rest > 0)
    x = gantry_builder_reduce (m->b, kind, x, rest, n_rest);
  return sum ? times (m, x, count) : x;
}

/* Where the operands of a concatenate begin: made once for all slices of it. */
static const GArray *
offsets_of (Match *m, guint32 id, gint64 axis)
{
  GArray *offsets = g_hash_table_lookup (m->state->offsets, GUINT_TO_POINTER (id));
  guint n = gantry_builder_node (m->b, id)->n_operands;
  gint64 at = 0;

  if (offsets != NULL)
    return offsets;
  offsets = g_array_sized_new (FALSE, FALSE, sizeof at, n + 1);
  g_array_append_val (offsets, at);
  for (guint i = 0; i < n; i++)
    {
      at += gantry_builder_get_type (m->b, gantry_builder_operand_of (m->b, id, i))->dims[axis];
      g_array_append_val (offsets, at);
    }
  g_hash_table_insert (m->state->offsets, GUINT_TO_POINTER (id), offsets);
  return offsets;
}

/* The last operand that begins at or before @at. */
static guint
piece_at (const GArray *offsets, gint64 at)
{
  guint low = 0, high = offsets->len - 1;

  while (low + 1 < high)
    {
      guint middle = low + (high - low) / 2;

      if (g_array_index (offsets, gint64, middle) <= at)
        low = middle;
      else
        high = middle;
    }
  return low;
}

static gboolean
is_whole (const GantryType *type, const gint64 *start, const gint64 *limit, const gint64 *stride)
{
  for (guint d = 0; d < type->rank; d++)
    if (start[d] != 0 || limit[d] != type->dims[d] || stride[d] != 1)
      return FALSE;
  return TRUE;
}

/* A slice of one operand of a concatenate is a slice of that operand, or that operand. */
static guint32
slice_of_concatenate (Match *m, gint64 *start, gint64 *limit, const gint64 *stride)
{
  gint64 axis = gantry_attrs_int (m->context, gantry_builder_node (m->b, m->x[0])->attrs, "dimension", 0), offset;
  const GArray *offsets;
  guint32 piece;
  guint i;

  if (limit[axis] <= start[axis])
    return 0;
  offsets = offsets_of (m, m->x[0], axis);
  i = piece_at (offsets, start[axis]);
  offset = g_array_index (offsets, gint64, i);
  /* With a stride the last element read may lie before the limit. */
  if (start[axis] + (m->type->dims[axis] - 1) * stride[axis] >= g_array_index (offsets, gint64, i + 1))
    return 0;
  start[axis] -= offset;
  limit[axis] = MIN (limit[axis], g_array_index (offsets, gint64, i + 1)) - offset;
  piece = gantry_builder_operand_of (m->b, m->x[0], i);
  return is_whole (gantry_builder_get_type (m->b, piece), start, limit, stride) ? piece : gantry_builder_slice (m->b, piece, start, limit, stride);
}

static guint32
simplify_slice (Match *m)
{
  const GantryType *operand = gantry_builder_get_type (m->b, m->x[0]);
  gint64 start[GANTRY_MAX_RANK], limit[GANTRY_MAX_RANK], stride[GANTRY_MAX_RANK];
  const gint64 *starts, *limits, *strides;
  gsize n_starts, n_limits, n_strides;

  if (simplify_same_shape (m) != 0)
    return m->x[0];
  starts = gantry_attrs_ints (m->context, m->node->attrs, "start_indices", &n_starts);
  limits = gantry_attrs_ints (m->context, m->node->attrs, "limit_indices", &n_limits);
  strides = gantry_attrs_ints (m->context, m->node->attrs, "strides", &n_strides);
  if (op_of (m, m->x[0]) != GANTRY_OP_CONCATENATE || !gantry_type_is_static (operand) || !gantry_type_is_static (m->type) || n_starts != operand->rank
      || n_limits != operand->rank)
    return 0;
  for (guint d = 0; d < operand->rank; d++)
    {
      start[d] = starts[d];
      limit[d] = limits[d];
      stride[d] = d < n_strides ? strides[d] : 1;
    }
  return slice_of_concatenate (m, start, limit, stride);
}

/* At a place that is known: a slice. A start outside is moved inside. */
static guint32
simplify_dynamic_slice (Match *m)
{
  const GantryType *operand = gantry_builder_get_type (m->b, m->x[0]);
  gint64 start[GANTRY_MAX_RANK], limit[GANTRY_MAX_RANK], stride[GANTRY_MAX_RANK];

  if (!gantry_type_is_static (operand) || !gantry_type_is_static (m->type) || m->node->n_operands != 1 + operand->rank)
    return 0;
  for (guint d = 0; d < operand->rank; d++)
    {
      GantryLiteral *at = gantry_builder_constant_of (m->b, m->x[1 + d]);

      if (at == NULL)
        return 0;
      start[d] = CLAMP (gantry_literal_get_int (at, 0), 0, operand->dims[d] - m->type->dims[d]);
      limit[d] = start[d] + m->type->dims[d];
      stride[d] = 1;
    }
  return is_whole (operand, start, limit, stride) ? m->x[0] : gantry_builder_slice (m->b, m->x[0], start, limit, stride);
}

static guint32
simplify_result (Match *m)
{
  if (op_of (m, m->x[0]) != GANTRY_OP_TUPLE)
    return 0;
  return gantry_builder_operand_of (m->b, m->x[0], (guint) gantry_attrs_int (m->context, m->node->attrs, "index", 0));
}

static guint32
simplify_concatenate (Match *m)
{
  return m->node->n_operands == 1 ? m->x[0] : 0;
}

static guint32
simplify_scatter (Match *m)
{
  return _gantry_simplify_scatter (m->b, m->node, m->x);
}

static guint32
simplify_reduce_window (Match *m)
{
  return _gantry_simplify_running (m->b, m->node, m->x[0]);
}

typedef guint32 (*Rule) (Match *m);

static const Rule rules[GANTRY_N_OPS] = {
  [GANTRY_OP_MULTIPLY] = simplify_multiply,
  [GANTRY_OP_ADD] = simplify_add,
  [GANTRY_OP_SUBTRACT] = simplify_subtract,
  [GANTRY_OP_DIVIDE] = simplify_divide,
  [GANTRY_OP_POWER] = simplify_power,
  [GANTRY_OP_LOG] = simplify_log,
  [GANTRY_OP_NEGATE] = simplify_involution,
  [GANTRY_OP_NOT] = simplify_involution,
  [GANTRY_OP_STOP_GRADIENT] = simplify_stop_gradient,
  [GANTRY_OP_CONVERT] = simplify_convert,
  [GANTRY_OP_SELECT] = simplify_select,
  [GANTRY_OP_RESHAPE] = simplify_reshape,
  [GANTRY_OP_TRANSPOSE] = simplify_transpose,
  [GANTRY_OP_BROADCAST_IN_DIM] = simplify_broadcast,
  [GANTRY_OP_SLICE] = simplify_slice,
  [GANTRY_OP_DYNAMIC_SLICE] = simplify_dynamic_slice,
  [GANTRY_OP_RESULT] = simplify_result,
  [GANTRY_OP_PAD] = simplify_same_shape,
  [GANTRY_OP_REDUCE] = simplify_reduce,
  [GANTRY_OP_CONCATENATE] = simplify_concatenate,
  [GANTRY_OP_SCATTER] = simplify_scatter,
  [GANTRY_OP_REDUCE_WINDOW] = simplify_reduce_window,
};

static gboolean
visit (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, gpointer user_data, GError **error)
{
  State *state = user_data;
  guint32 ids[1 + GANTRY_MAX_RANK] = { 0 };
  Match match = { .state = state,
                  .rewriter = rewriter,
                  .b = gantry_rewriter_builder (rewriter),
                  .context = module->context,
                  .module = module,
                  .node = node,
                  .x = ids,
                  .type = gantry_node_type (module, node) };
  Rule rule = node->op < GANTRY_N_OPS ? rules[node->op] : NULL;
  guint32 simpler = 0;

  if (rule != NULL && match.type->kind == GANTRY_TYPE_TENSOR)
    {
      for (guint i = 0; i < MIN (node->n_operands, G_N_ELEMENTS (ids)); i++)
        ids[i] = gantry_rewriter_map (rewriter, gantry_node_operand_id (module, node, i));
      simpler = rule (&match);
    }
  /* A rule never changes a type; what it gives with another one (an operand that was itself narrower) is not taken. */
  if (simpler != 0 && gantry_builder_type (match.b, simpler) == node->type)
    {
      gantry_builder_name_node (match.b, simpler, node->name);
      gantry_rewriter_replace (rewriter, node, simpler);
      state->n_changed++;
    }
  else
    gantry_rewriter_keep (rewriter, node);
  return TRUE;
}

static GantryModule *
run (GantryModule *module, const GantryPassOptions *options, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryRewriter) rewriter = gantry_rewriter_new (module);
  State state = { .options = options };
  GantryModule *next = NULL;

  state.offsets = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_array_unref);
  state.uses = gantry_uses_new (module);
  if (gantry_rewriter_run (rewriter, visit, &state, progress, error))
    next = state.n_changed > 0 ? gantry_rewriter_finish (rewriter, error) : gantry_module_ref (module);
  g_hash_table_unref (state.offsets);
  gantry_uses_free (state.uses);
  return next;
}

const GantryPass gantry_pass_simplify = {
  .name = "simplify",
  .title = "Arithmetic simplification",
  .description = "Applies identities such as x * 1 = x and merges movements that follow each other.",
  .needs = GANTRY_PROPERTY_CORE,
  .keeps = GANTRY_PROPERTY_CORE | GANTRY_PROPERTY_FUSED,
  .run = run,
};
