/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a loss is the mean over examples that do not depend on each other: then it, and its gradients, are the means of those of parts
 * of the batch. The program is compared with itself for twice as many examples: dimensions that double are those of the batch. Each value
 * is nothing of the examples, a row for each example, or a mean over them (times a power of their number); what no rule shows to be one of
 * these is mixed, with the first node that mixes it. */
#include "core/autodiff/autodiff.h"
#include "core/graph/region.h"

typedef enum
{
  KIND_NONE, /* of no example; along a dimension of the batch it is the same everywhere */
  KIND_ROWS, /* a row for each example, made of that example alone */
  KIND_MEAN, /* the mean over all examples of what is made of one */
  KIND_MIXED,
} Kind;

typedef struct
{
  Kind kind;
  int degree;      /* it is multiplied by so high a power of the number of examples */
  guint dim;       /* of rows: the dimension that has the examples, */
  gint64 outer;    /* in which they lie within so many others: index = (outer, example, inner) */
  guint32 node;    /* of what is mixed: id of the node that mixes */
  const char *why; /* likewise */
} Value;

typedef struct
{
  const GantryModule *module, *twice;
  Value *values; /* by position in @module */
} Examples;

static Value
mixed (const GantryNode *node, const char *why)
{
  return (Value){ .kind = KIND_MIXED, .node = node->id, .why = why };
}

static const GantryNode *
other_of (const Examples *e, const GantryNode *node)
{
  return &e->twice->nodes[gantry_module_position (e->module, node)];
}

static const Value *
operand_value (const Examples *e, const GantryNode *node, guint i)
{
  return &e->values[gantry_module_position (e->module, gantry_node_operand (e->module, node, i))];
}

/* Returns: how many dimensions are of the batch, the last of them in @dim; -1: types differ otherwise */
static int
batch_dims (const Examples *e, const GantryNode *node, guint *dim)
{
  const GantryType *a = gantry_node_type (e->module, node), *b = gantry_node_type (e->twice, other_of (e, node));
  int n = 0;

  if (a->kind != b->kind || a->rank != b->rank || a->element != b->element)
    return -1;
  if (a->kind != GANTRY_TYPE_TENSOR)
    return 0;
  for (guint i = 0; i < a->rank; i++)
    {
      if (a->dims[i] == b->dims[i])
        continue;
      if (b->dims[i] != 2 * a->dims[i])
        return -1;
      *dim = i;
      n++;
    }
  return n;
}

/* What lies before dimension @dim, in the order of memory. */
static gint64
before (const GantryType *type, guint dim)
{
  gint64 n = 1;

  for (guint i = 0; i < dim; i++)
    n *= type->dims[i];
  return n;
}

static gboolean
same_rows (const Value *a, const Value *b)
{
  return a->dim == b->dim && a->outer == b->outer;
}

static const gint64 *
ints_of (const GantryModule *module, const GantryNode *node, const char *key, gsize *n)
{
  return gantry_attrs_ints (module->context, node->attrs, key, n);
}

static gboolean
has_int (const Examples *e, const GantryNode *node, const char *key, guint value)
{
  gsize n = 0;
  const gint64 *ints = ints_of (e->module, node, key, &n);

  for (gsize i = 0; i < n; i++)
    if (ints[i] == (gint64) value)
      return TRUE;
  return FALSE;
}

/* Element @i of the attribute in both programs; @fallback where there is none. */
static gboolean
int_is (const Examples *e, const GantryNode *node, const char *key, guint i, gint64 a, gint64 b, gint64 fallback)
{
  gsize n = 0, m = 0;
  const gint64 *ints = ints_of (e->module, node, key, &n), *others = ints_of (e->twice, other_of (e, node), key, &m);

  return (i < n ? ints[i] : fallback) == a && (i < m ? others[i] : fallback) == b;
}

/* Along dimension @dim all slices of both are the same. */
static gboolean
same_slices (const GantryLiteral *a, const GantryLiteral *b, guint dim)
{
  const gint64 outer = before (a->type, dim), n = a->type->dims[dim], all = before (a->type, a->type->rank);
  const gint64 inner = all > 0 ? all / (outer * n) : 0;

  for (gint64 o = 0; o < outer; o++)
    for (gint64 i = 0; i < inner; i++)
      for (gint64 k = 0; k < 2 * n; k++)
        {
          const double value = gantry_literal_get_double (a, o * n * inner + i);

          if (gantry_literal_get_double (b, (o * 2 * n + k) * inner + i) != value || (k < n && gantry_literal_get_double (a, (o * n + k) * inner + i) != value))
            return FALSE;
        }
  return TRUE;
}

static Value
constant (const Examples *e, const GantryNode *node, guint n_batch, guint dim)
{
  const GantryLiteral *a = gantry_node_literal (e->module, node), *b = gantry_node_literal (e->twice, other_of (e, node));
  double x, y;

  if (a == NULL || b == NULL)
    return mixed (node, "is a constant that is not known");
  if (n_batch > 0)
    return same_slices (a, b, dim) ? (Value){ 0 } : mixed (node, "is a constant that is another for each example, or for each size of the batch");
  if (gantry_literal_equal (a, b))
    return (Value){ 0 };
  x = gantry_literal_get_double (a, 0);
  y = gantry_literal_get_double (b, 0);
  if (a->size != b->size || (!a->splat && a->type->rank > 0 && before (a->type, a->type->rank) > 1))
    return mixed (node, "is a constant that depends on the number of examples");
  if (y == 2 * x || x == 2 * y)
    return (Value){ .degree = y == 2 * x ? 1 : -1 };
  return mixed (node, "is a constant that depends on the number of examples");
}

/* One number that all elements are, however it is written. */
static gboolean
get_splat (const GantryModule *module, const GantryNode *node, double *value)
{
  const GantryLiteral *literal;

  while (node != NULL && (node->op == GANTRY_OP_BROADCAST_IN_DIM || node->op == GANTRY_OP_RESHAPE))
    node = gantry_node_operand (module, node, 0);
  literal = node != NULL ? gantry_node_literal (module, node) : NULL;
  if (literal == NULL || (!literal->splat && before (literal->type, literal->type->rank) != 1))
    return FALSE;
  *value = gantry_literal_get_double (literal, 0);
  return TRUE;
}

/* A constant of few elements is written out, one of many is not. */
static gboolean
are_same_splats (const GantryModule *a, const GantryNode *one, const GantryModule *b, const GantryNode *other)
{
  double x, y;

  return get_splat (a, one, &x) && get_splat (b, other, &y) && x == y;
}

/* Operations through which a mean, and a power of the number of examples, stay what they are. */
static gboolean
is_linear (GantryOp op)
{
  return op == GANTRY_OP_ADD || op == GANTRY_OP_SUBTRACT || op == GANTRY_OP_NEGATE || op == GANTRY_OP_CONVERT || op == GANTRY_OP_COPY
         || op == GANTRY_OP_OPTIMIZATION_BARRIER || op == GANTRY_OP_CHECKPOINT_NAME;
}

/* All operands together, where each element is made of those at its place. */
static Value
elementwise (const Examples *e, const GantryNode *node)
{
  const GantryOp op = (GantryOp) node->op;
  const gboolean product = op == GANTRY_OP_MULTIPLY || op == GANTRY_OP_DIVIDE;
  Value value = *operand_value (e, node, 0);

  for (guint i = 1; i < node->n_operands; i++)
    {
      const Value *next = operand_value (e, node, i);

      if (value.kind != KIND_NONE && next->kind != KIND_NONE && (value.kind != next->kind || (value.kind == KIND_ROWS && !same_rows (&value, next))))
        return mixed (node, "meets single examples with a reduction over the batch, or in another order");
      if (value.kind == KIND_MEAN && (next->kind == KIND_MEAN ? op != GANTRY_OP_ADD && op != GANTRY_OP_SUBTRACT : !product && !is_linear (op)))
        return mixed (node, "is no linear function of a reduction over the batch");
      if (next->kind == KIND_MEAN && value.kind == KIND_NONE && op != GANTRY_OP_MULTIPLY && !is_linear (op))
        return mixed (node, "is no linear function of a reduction over the batch");
      if (!product && value.degree != next->degree)
        return mixed (node, "depends on the number of examples");
      if (product)
        value.degree += op == GANTRY_OP_MULTIPLY ? next->degree : -next->degree;
      if (value.kind == KIND_NONE && next->kind != KIND_NONE)
        {
          value.kind = next->kind;
          value.dim = next->dim;
          value.outer = next->outer;
        }
    }
  if (node->n_operands == 1 && value.kind == KIND_MEAN && !is_linear (op))
    return mixed (node, "is no linear function of a reduction over the batch");
  if (value.degree != 0 && !product && !is_linear (op))
    return mixed (node, "depends on the number of examples");
  return value;
}

/* Rows that a move or a product leaves rows, in the one dimension of the result that is of the batch. */
static Value
rows_in (const GantryNode *node, const Value *value, int n_batch, guint dim)
{
  Value moved = *value;

  if (n_batch != 1)
    return mixed (node, "takes single examples of the batch");
  moved.dim = dim;
  return moved;
}

static Value
dot (const Examples *e, const GantryNode *node, int n_batch, guint dim)
{
  static const char *const contracting[] = { "lhs_contracting_dimensions", "rhs_contracting_dimensions" };
  const Value *sides[] = { operand_value (e, node, 0), operand_value (e, node, 1) };
  Value value = *sides[0];

  for (guint i = 0; i < 2; i++)
    {
      guint own = 0;

      if (batch_dims (e, gantry_node_operand (e->module, node, i), &own) > 0 && has_int (e, node, contracting[i], own))
        return mixed (node, "is a product that sums over the batch");
    }
  if (sides[0]->kind != KIND_NONE && sides[1]->kind != KIND_NONE)
    {
      if (sides[0]->kind != KIND_ROWS || sides[1]->kind != KIND_ROWS || sides[0]->outer != sides[1]->outer
          || !has_int (e, node, "lhs_batching_dimensions", sides[0]->dim) || !has_int (e, node, "rhs_batching_dimensions", sides[1]->dim))
        return mixed (node, "multiplies examples by others");
    }
  else if (sides[1]->kind != KIND_NONE)
    value = *sides[1];
  value.degree = sides[0]->degree + sides[1]->degree;
  return value.kind == KIND_ROWS ? rows_in (node, &value, n_batch, dim) : value;
}

static Value
reduce (const Examples *e, const GantryNode *node, int n_batch, guint dim)
{
  const Value *value = operand_value (e, node, 0);
  const char *kind = gantry_attrs_string (e->module->context, node->attrs, "kind", "");
  const gboolean add = g_str_equal (kind, "add");
  guint own = 0;
  Value reduced = *value;

  if (!add && (value->degree != 0 || value->kind == KIND_MEAN))
    return mixed (node, "is no linear function of a reduction over the batch");
  if (batch_dims (e, gantry_node_operand (e->module, node, 0), &own) == 0 || !has_int (e, node, "dimensions", own))
    return value->kind == KIND_ROWS ? rows_in (node, value, n_batch, dim) : reduced;
  if (!add)
    return value->kind == KIND_NONE && !g_str_equal (kind, "mul") ? reduced : mixed (node, "is no sum over the batch");
  reduced.kind = value->kind == KIND_ROWS ? KIND_MEAN : value->kind;
  reduced.degree++;
  return reduced;
}

static Value
reshape (const Examples *e, const GantryNode *node, int n_batch, guint dim)
{
  Value value = *operand_value (e, node, 0);
  guint own = 0;
  gint64 outside, within;

  if (batch_dims (e, gantry_node_operand (e->module, node, 0), &own) == 0)
    return n_batch == 0 ? value : mixed (node, "makes a batch of what is none");
  if (value.kind == KIND_NONE) /* the same for each example, but not for each index of a dimension that has other things too */
    {
      value.kind = KIND_ROWS;
      value.dim = own;
      value.outer = 1;
    }
  outside = before (gantry_node_operand_type (e->module, node, 0), value.dim) * value.outer;
  value = rows_in (node, &value, n_batch, dim);
  within = value.kind == KIND_ROWS ? before (gantry_node_type (e->module, node), dim) : 1;
  if (value.kind != KIND_ROWS)
    return value;
  if (within < 1 || outside % within != 0)
    return mixed (node, "puts examples among others");
  value.outer = outside / within;
  return value;
}

/* Moves that may leave whole examples as they are along the dimension of the batch. */
static Value
move (const Examples *e, const GantryNode *node, int n_batch, guint dim)
{
  const GantryNode *operand = gantry_node_operand (e->module, node, 0);
  const Value *value = operand_value (e, node, 0);
  guint own = 0;
  int n_own = batch_dims (e, operand, &own);
  gint64 size = n_own > 0 ? gantry_node_type (e->module, operand)->dims[own] : 0;
  gboolean whole = TRUE;

  if (n_own == 0)
    return n_batch == 0 || node->op == GANTRY_OP_BROADCAST_IN_DIM ? *value : mixed (node, "makes a batch of what is none");
  switch (node->op)
    {
    case GANTRY_OP_REVERSE: whole = !has_int (e, node, "dimensions", own); break;
    case GANTRY_OP_SLICE:
      whole = int_is (e, node, "start_indices", own, 0, 0, -1) && int_is (e, node, "limit_indices", own, size, 2 * size, -1)
              && int_is (e, node, "strides", own, 1, 1, 1);
      break;
    case GANTRY_OP_DYNAMIC_SLICE: whole = int_is (e, node, "slice_sizes", own, size, 2 * size, -1); break;
    case GANTRY_OP_PAD:
      whole = int_is (e, node, "edge_padding_low", own, 0, 0, -1) && int_is (e, node, "edge_padding_high", own, 0, 0, -1)
              && int_is (e, node, "interior_padding", own, 0, 0, 0);
      break;
    case GANTRY_OP_REDUCE_WINDOW:
      whole = int_is (e, node, "window_dimensions", own, 1, 1, -1) && int_is (e, node, "window_strides", own, 1, 1, 1)
              && int_is (e, node, "padding", 2 * own, 0, 0, 0) && int_is (e, node, "padding", 2 * own + 1, 0, 0, 0)
              && int_is (e, node, "base_dilations", own, 1, 1, 1) && n_batch == 1 && dim == own;
      break;
    default: break;
    }
  if (!whole)
    return mixed (node, "moves or joins examples of the batch");
  return value->kind == KIND_ROWS ? rows_in (node, value, n_batch, dim) : *value;
}

/* Operands that are rows must be so alike, and nothing else but of no example. */
static gboolean
are_plain (const Examples *e, const GantryNode *node, const Value **rows)
{
  *rows = NULL;
  for (guint i = 0; i < node->n_operands; i++)
    {
      const Value *value = operand_value (e, node, i);

      if (value->kind == KIND_MEAN || value->degree != 0 || (value->kind == KIND_ROWS && *rows != NULL && !same_rows (value, *rows)))
        return FALSE;
      if (value->kind == KIND_ROWS)
        *rows = value;
    }
  return TRUE;
}

static Value
gather (const Examples *e, const GantryNode *node, int n_batch, guint dim)
{
  const Value *from = operand_value (e, node, 0), *indices = operand_value (e, node, 1);
  gint64 size;
  guint own = 0;

  if (from->kind == KIND_MEAN || indices->kind == KIND_MEAN || from->degree != 0 || indices->degree != 0)
    return mixed (node, "is no linear function of a reduction over the batch");
  if (batch_dims (e, gantry_node_operand (e->module, node, 0), &own) == 0)
    return indices->kind == KIND_ROWS ? rows_in (node, indices, n_batch, dim) : *from;
  size = gantry_node_operand_type (e->module, node, 0)->dims[own];
  if (has_int (e, node, "operand_batching_dims", own))
    return from->kind == KIND_ROWS && (indices->kind == KIND_NONE || indices->outer == from->outer) ? rows_in (node, from, n_batch, dim)
                                                                                                    : mixed (node, "gathers among examples");
  if (indices->kind != KIND_NONE || has_int (e, node, "start_index_map", own) || !int_is (e, node, "slice_sizes", own, size, 2 * size, -1))
    return mixed (node, "gathers among examples");
  return from->kind == KIND_ROWS ? rows_in (node, from, n_batch, dim) : *from;
}

static Value classify (Examples *e, const GantryNode *node);

/* What control runs is looked at by itself: its parameters are rows where they have a dimension of the batch. */
static gboolean
check_region (Examples *e, guint32 id, const GantryNode **where, const char **why)
{
  const GantryFunction *function = gantry_module_function (e->module, id);

  for (guint32 i = 0; i < function->n_nodes; i++)
    {
      const GantryNode *node = &e->module->nodes[function->first_node + i];
      Value value = e->values[function->first_node + i] = classify (e, node);

      *where = node;
      *why = value.why;
      if (value.kind == KIND_MIXED || value.kind == KIND_MEAN || value.degree != 0 || (value.kind == KIND_ROWS && value.outer != 1))
        {
          *why = value.kind == KIND_MIXED ? value.why : "reduces over the batch within a loop or branch";
          *where = value.kind == KIND_MIXED ? gantry_module_node (e->module, value.node) : node;
          return FALSE;
        }
    }
  return TRUE;
}

static Value
control (Examples *e, const GantryNode *node)
{
  GantryControl here, there;
  guint dim = 0;

  if (!gantry_control_of (e->module, node, &here) || !gantry_control_of (e->twice, other_of (e, node), &there))
    return mixed (node, "is control that is not known");
  if (here.trips != there.trips)
    return mixed (node, "is a loop along the batch");
  for (guint i = 0; i < node->n_operands; i++)
    {
      const Value *value = operand_value (e, node, i);

      if (value->kind == KIND_MEAN || value->degree != 0 || (value->kind == KIND_ROWS && value->outer != 1))
        return mixed (node, "is a loop or branch that takes a reduction over the batch");
    }
  for (guint i = 0; i < here.n_xs; i++)
    {
      gsize n = 0;
      const gint64 *axes = ints_of (e->module, node, "axes", &n);

      if (batch_dims (e, gantry_node_operand (e->module, node, here.first + here.n_carries + i), &dim) > 0 && i < n && axes[i] == (gint64) dim)
        return mixed (node, "is a loop along the batch");
    }
  for (guint i = 0; i < here.n_regions; i++)
    {
      const GantryNode *where;
      const char *why;

      if (!check_region (e, here.functions[i], &where, &why))
        return mixed (where, why);
    }
  /* Of a tuple its results say which of them have a dimension of the batch. */
  if (gantry_node_type (e->module, node)->kind == GANTRY_TYPE_TENSOR && batch_dims (e, node, &dim) == 0)
    return (Value){ 0 };
  return (Value){ .kind = KIND_ROWS, .dim = dim, .outer = 1 };
}

static Value
contraction_or_move (Examples *e, const GantryNode *node, int n_batch, guint dim)
{
  const Value *rows;

  switch (node->op)
    {
    case GANTRY_OP_DOT_GENERAL: return dot (e, node, n_batch, dim);
    case GANTRY_OP_REDUCE: return reduce (e, node, n_batch, dim);
    case GANTRY_OP_RESHAPE: return reshape (e, node, n_batch, dim);
    case GANTRY_OP_GATHER: return gather (e, node, n_batch, dim);
    case GANTRY_OP_TRANSPOSE: return move (e, node, n_batch, dim);
    case GANTRY_OP_BROADCAST_IN_DIM:
      if (n_batch > 0 && operand_value (e, node, 0)->kind == KIND_MEAN)
        return mixed (node, "gives single examples a reduction over the batch");
      return move (e, node, n_batch, dim);
    default: break;
    }
  if (!are_plain (e, node, &rows))
    return mixed (node, "takes a reduction over the batch, or examples in different orders");
  switch (node->op)
    {
    case GANTRY_OP_CONVOLUTION:
      if (rows == NULL && (n_batch == 0 || dim == 0))
        return (Value){ 0 };
      return rows != NULL && rows == operand_value (e, node, 0) && rows->dim == 0 && operand_value (e, node, 1)->kind == KIND_NONE
                 && (node->n_operands < 3 || operand_value (e, node, 2)->kind == KIND_NONE)
               ? rows_in (node, rows, n_batch, dim)
               : mixed (node, "is a convolution over the batch");
    case GANTRY_OP_CONCATENATE:
      if (n_batch > 0 && gantry_attrs_int (e->module->context, node->attrs, "dimension", -1) == (gint64) dim)
        return mixed (node, "puts batches one behind the other");
      return rows != NULL ? rows_in (node, rows, n_batch, dim) : (Value){ 0 };
    case GANTRY_OP_SORT:
      if (rows != NULL && gantry_attrs_int (e->module->context, node->attrs, "dimension", -1) == (gint64) rows->dim)
        return mixed (node, "sorts the examples");
      return rows != NULL ? *rows : (Value){ 0 };
    case GANTRY_OP_REVERSE:
    case GANTRY_OP_SLICE:
    case GANTRY_OP_DYNAMIC_SLICE:
    case GANTRY_OP_PAD:
    case GANTRY_OP_REDUCE_WINDOW:
      return rows == NULL || rows == operand_value (e, node, 0) ? move (e, node, n_batch, dim) : mixed (node, "moves by values of examples");
    case GANTRY_OP_RNG_BIT_GENERATOR: return rows == NULL ? (Value){ 0 } : mixed (node, "draws by values of examples");
    default: break;
    }
  for (guint i = 0; i < node->n_operands; i++)
    if (batch_dims (e, gantry_node_operand (e->module, node, i), &dim) != 0)
      return mixed (node, "is not seen through");
  return n_batch == 0 && node->op != GANTRY_OP_CUSTOM_CALL ? (Value){ 0 } : mixed (node, "is not seen through");
}

static Value
classify (Examples *e, const GantryNode *node)
{
  guint dim = 0;
  int n_batch = batch_dims (e, node, &dim);

  for (guint i = 0; i < node->n_operands; i++)
    if (gantry_node_operand (e->module, node, i) == NULL)
      return mixed (node, "is not seen through");
    else if (operand_value (e, node, i)->kind == KIND_MIXED)
      return *operand_value (e, node, i);
  if (n_batch < 0)
    return mixed (node, "has a size that does not grow as the batch does");
  if (n_batch > 1)
    return mixed (node, "has a value for each pair of examples");
  if (node->op != other_of (e, node)->op) /* the same splat, see are_alike() */
    return (Value){ 0 };
  switch (node->op)
    {
    case GANTRY_OP_PARAMETER: return (Value){ .kind = n_batch > 0 ? KIND_ROWS : KIND_NONE, .dim = dim, .outer = 1 };
    case GANTRY_OP_CONSTANT: return constant (e, node, (guint) n_batch, dim);
    case GANTRY_OP_IOTA:
      return n_batch > 0 && gantry_attrs_int (e->module->context, node->attrs, "iota_dimension", -1) == (gint64) dim ? mixed (node, "numbers the examples")
                                                                                                                     : (Value){ 0 };
    case GANTRY_OP_RESULT:
      {
        const Value *tuple = operand_value (e, node, 0);

        return n_batch > 0 && tuple->kind == KIND_ROWS ? (Value){ .kind = KIND_ROWS, .dim = dim, .outer = tuple->outer } : (Value){ 0 };
      }
    default: break;
    }
  if (gantry_node_is_control (node))
    return control (e, node);
  if (gantry_op_info (node->op) != NULL && (gantry_op_info (node->op)->flags & GANTRY_OP_ELEMENTWISE) != 0)
    return elementwise (e, node);
  return contraction_or_move (e, node, n_batch, dim);
}

/* The same nodes one by one, whatever their sizes. */
static gboolean
are_alike (const GantryModule *a, const GantryModule *b)
{
  if (a->n_functions != b->n_functions || a->n_nodes != b->n_nodes)
    return FALSE;
  for (guint i = 0; i < a->n_functions; i++)
    if (a->functions[i].first_node != b->functions[i].first_node || a->functions[i].n_nodes != b->functions[i].n_nodes
        || a->functions[i].n_params != b->functions[i].n_params)
      return FALSE;
  for (guint32 i = 0; i < a->n_nodes; i++)
    {
      if (a->nodes[i].op != b->nodes[i].op && are_same_splats (a, &a->nodes[i], b, &b->nodes[i]))
        continue;
      if (a->nodes[i].op != b->nodes[i].op || a->nodes[i].n_operands != b->nodes[i].n_operands)
        return FALSE;
      for (guint k = 0; k < a->nodes[i].n_operands; k++)
        {
          const GantryNode *one = gantry_node_operand (a, &a->nodes[i], k), *other = gantry_node_operand (b, &b->nodes[i], k);

          if ((one == NULL) != (other == NULL) || (one != NULL && gantry_module_position (a, one) != gantry_module_position (b, other)))
            return FALSE;
        }
    }
  return TRUE;
}

static gboolean G_GNUC_PRINTF (2, 3) refuse (GError **error, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_propagate_error (error, g_error_new_valist (GANTRY_ERROR, GANTRY_ERROR_INVALID, format, args));
  va_end (args);
  return FALSE;
}

/* Inputs have the examples in their first dimension, or none. */
static gboolean
check_inputs (const Examples *e, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (e->module);

  for (guint32 i = 0; i < entry->n_params; i++)
    {
      const GantryNode *node = &e->module->nodes[entry->first_node + i];
      guint dim = 0;
      int n = batch_dims (e, node, &dim);

      if (n < 0 || n > 1 || (n == 1 && dim != 0))
        {
          g_autofree char *label = gantry_node_label (e->module, node), *text = gantry_context_type_text (e->module->context, node->type);

          return refuse (error, "input '%s' (%s) does not have the examples in its first dimension alone, of which microbatches are slices", label, text);
        }
    }
  return TRUE;
}

static gboolean
check_loss (const Examples *e, const GantryTrainingOptions *options, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (e->module);
  const GantryNode *node;
  const Value *value;
  g_autofree char *label = NULL;

  if (options->output >= entry->n_results)
    return refuse (error, "there is no output %u", options->output);
  node = gantry_module_node (e->module, gantry_function_result_id (e->module, entry, options->output));
  value = &e->values[gantry_module_position (e->module, node)];
  label = gantry_node_label (e->module, node);
  if (value->kind == KIND_MIXED)
    {
      g_autofree char *where = gantry_node_where (e->module, gantry_module_node (e->module, value->node));

      return refuse (error, "its loss is not shown to be a mean over examples that do not depend on each other: %s %s", where, value->why);
    }
  if (value->degree != 0)
    return refuse (error, "its loss, of '%s', is %s over the examples, not a mean", label, value->degree == 1 ? "a sum" : "scaled by their number, no mean");
  if (options->loss != GANTRY_LOSS_OUTPUT && (value->kind != KIND_ROWS || value->dim != 0 || value->outer != 1))
    return refuse (error, "its output '%s' does not have the examples in its first dimension, of which microbatches of the loss are slices", label);
  return TRUE;
}

gboolean
gantry_training_check_examples (const GantryModule *module, const GantryModule *twice, const GantryTrainingOptions *options, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (module);
  Examples e = { .module = module, .twice = twice };
  g_autofree Value *values = e.values = g_new0 (Value, MAX (module->n_nodes, 1));

  if (!are_alike (module, twice))
    return refuse (error, "for twice as many examples the program has other operations, so that nothing shows that they do not depend on each other");
  if (!check_inputs (&e, error))
    return FALSE;
  for (guint32 i = 0; i < entry->n_nodes; i++)
    values[entry->first_node + i] = classify (&e, &module->nodes[entry->first_node + i]);
  return check_loss (&e, options, error);
}
