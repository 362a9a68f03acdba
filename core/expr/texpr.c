/* SPDX-License-Identifier: Apache-2.0 */
/* The builder of tensor expressions. Every node goes through _gantry_tx_make(), which finds an equal one in a hash
 * table, so that what is computed twice is one node; arguments exist before their users, so the array is always in
 * post order. At the end nodes and axes that the root does not need are dropped. */
#include "core/expr/texpr-private.h"
#include <math.h>
#include <string.h>

GantryTexprBuilder *
gantry_texpr_builder_new (GantryElementType element, guint rank, const gint64 *shape, guint n_inputs, const GantryType *const *inputs)
{
  GantryTexprBuilder *b = g_new0 (GantryTexprBuilder, 1);

  g_assert (rank <= GANTRY_MAX_RANK);
  b->element = element;
  b->rank = rank;
  b->n_inputs = n_inputs;
  for (guint i = 0; i < rank; i++)
    b->shape[i] = shape[i];
  b->inputs = g_new0 (const GantryType *, n_inputs + 1);
  for (guint i = 0; i < n_inputs; i++)
    b->inputs[i] = inputs[i];
  b->nodes = g_array_new (FALSE, TRUE, sizeof (GantryTx));
  b->ranges = g_array_new (FALSE, TRUE, sizeof (GantryIndexRange));
  b->pool = g_array_new (FALSE, TRUE, sizeof (guint32));
  b->table_size = 64;
  b->table = g_new0 (guint32, b->table_size);
  gantry_tx_int (b, 0);
  return b;
}

static void
builder_free (GantryTexprBuilder *b)
{
  g_array_unref (b->nodes);
  g_array_unref (b->ranges);
  g_array_unref (b->pool);
  g_free (b->table);
  g_free (b->inputs);
  g_free (b);
}

void
gantry_texpr_free (GantryTexpr *texpr)
{
  if (texpr == NULL)
    return;
  g_free (texpr->inputs);
  g_free (texpr->nodes);
  g_free (texpr->pool);
  g_free (texpr);
}

gint64
_gantry_tx_extent (const GantryTexprBuilder *b, guint variable)
{
  return variable < b->rank ? b->shape[variable] : b->axes[variable - b->rank];
}

/* Hash-consing */

static gboolean
has_list (const GantryTx *node)
{
  return node->kind == GANTRY_TX_LOAD || node->kind == GANTRY_TX_REDUCE;
}

static guint32
mix (guint32 hash, guint64 value)
{
  guint64 h = (hash ^ value) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  return (guint32) (h ^ (h >> 32));
}

static guint32
hash_node (const GantryTexprBuilder *b, const GantryTx *node)
{
  guint32 h = mix (node->kind, ((guint32) node->type << 16) | ((guint32) node->op << 8) | node->direction);

  h = mix (h, node->a);
  h = mix (h, node->c);
  if (has_list (node))
    for (guint i = 0; i < node->c; i++)
      h = mix (h, g_array_index (b->pool, guint32, node->b + i));
  else
    h = mix (h, node->b);
  return mix (h, (guint64) node->i);
}

static gboolean
equal_nodes (const GantryTexprBuilder *b, const GantryTx *x, const GantryTx *y)
{
  if (x->kind != y->kind || x->type != y->type || x->op != y->op || x->direction != y->direction || x->a != y->a || x->c != y->c || x->i != y->i)
    return FALSE;
  if (!has_list (x))
    return x->b == y->b;
  for (guint i = 0; i < x->c; i++)
    if (g_array_index (b->pool, guint32, x->b + i) != g_array_index (b->pool, guint32, y->b + i))
      return FALSE;
  return TRUE;
}

static void
grow_table (GantryTexprBuilder *b)
{
  g_free (b->table);
  b->table_size *= 2;
  b->table = g_new0 (guint32, b->table_size);
  for (guint i = 0; i < b->nodes->len; i++)
    {
      guint32 at = hash_node (b, _gantry_tx_node (b, i)) & (b->table_size - 1);

      while (b->table[at] != 0)
        at = (at + 1) & (b->table_size - 1);
      b->table[at] = i + 1;
    }
}

guint32
_gantry_tx_make (GantryTexprBuilder *b, const GantryTx *node)
{
  guint32 at = hash_node (b, node) & (b->table_size - 1);
  GantryIndexRange range;

  for (; b->table[at] != 0; at = (at + 1) & (b->table_size - 1))
    if (equal_nodes (b, node, _gantry_tx_node (b, b->table[at] - 1)))
      return b->table[at] - 1;
  if (b->nodes->len >= GANTRY_TEXPR_MAX_NODES)
    b->too_large = TRUE;
  if (b->too_large)
    return 0;
  range = _gantry_tx_range_of (b, node);
  g_array_append_val (b->nodes, *node);
  g_array_append_val (b->ranges, range);
  b->table[at] = b->nodes->len;
  if (b->nodes->len * 2 > b->table_size)
    grow_table (b);
  return b->nodes->len - 1;
}

guint32
_gantry_tx_make_binary (GantryTexprBuilder *b, GantryOp op, GantryElementType type, guint32 x, guint32 y)
{
  return _gantry_tx_make (b, &(GantryTx){ .kind = GANTRY_TX_BINARY, .type = type, .op = op, .a = x, .b = y });
}

/* A node with a list in the pool: the list is taken back when there is such a node already. */
static guint32
make_with_list (GantryTexprBuilder *b, GantryTx *node, const guint32 *list, guint n)
{
  guint32 id;

  node->b = b->pool->len;
  node->c = n;
  g_array_append_vals (b->pool, list, n);
  id = _gantry_tx_make (b, node);
  if (_gantry_tx_node (b, id)->b != node->b)
    g_array_set_size (b->pool, node->b);
  return id;
}

/* Making nodes */

static GantryElementType
type_of (const GantryTexprBuilder *b, guint32 x)
{
  return _gantry_tx_node (b, x)->type;
}

guint32
gantry_tx_index (GantryTexprBuilder *b, guint variable)
{
  g_assert (variable < b->rank + b->n_axes);
  if (_gantry_tx_extent (b, variable) == 1)
    return gantry_tx_int (b, 0);
  return _gantry_tx_make (b, &(GantryTx){ .kind = GANTRY_TX_INDEX, .type = GANTRY_I64, .a = variable });
}

guint
gantry_tx_axis (GantryTexprBuilder *b, gint64 extent)
{
  if (b->n_axes == GANTRY_TEXPR_BUILD_AXES)
    b->too_large = TRUE;
  else
    b->axes[b->n_axes++] = extent;
  return b->rank + b->n_axes - 1;
}

guint32
gantry_tx_int (GantryTexprBuilder *b, gint64 value)
{
  return _gantry_tx_make (b, &(GantryTx){ .kind = GANTRY_TX_CONST, .type = GANTRY_I64, .i = value });
}

guint32
gantry_tx_const_int (GantryTexprBuilder *b, GantryElementType element, gint64 value)
{
  guint8 bytes[8];

  if (gantry_element_is_float (element))
    return gantry_tx_const (b, element, (double) value);
  if (element == GANTRY_BOOL)
    value = value != 0;
  else
    {
      gantry_element_write_int (element, bytes, value);
      value = gantry_element_read_int (element, bytes);
    }
  return _gantry_tx_make (b, &(GantryTx){ .kind = GANTRY_TX_CONST, .type = element, .i = value });
}

/* As `convert` turns a float into an integer or bool. */
static gint64
saturate (GantryElementType element, double value)
{
  guint bits = 8 * (guint) gantry_element_size (element);
  gboolean is_signed = gantry_element_is_signed (element);
  double limit = ldexp (1, (int) (is_signed ? bits - 1 : bits)); /* first value beyond */

  if (element == GANTRY_BOOL)
    return value != 0;
  if (isnan (value))
    return 0;
  if (value >= limit)
    return (gint64) (G_MAXUINT64 >> (is_signed ? 65 - bits : 64 - bits));
  if (value <= (is_signed ? -limit : 0))
    return is_signed ? (gint64) (G_MAXUINT64 << (bits - 1)) : 0;
  return value >= 0x1p63 ? (gint64) (guint64) value : (gint64) value;
}

guint32
gantry_tx_const (GantryTexprBuilder *b, GantryElementType element, double value)
{
  GantryTx node = { .kind = GANTRY_TX_CONST, .type = element };

  if (!gantry_element_is_float (element))
    return gantry_tx_const_int (b, element, saturate (element, value));
  node.f = value;
  return _gantry_tx_make (b, &node);
}

guint32
gantry_tx_load (GantryTexprBuilder *b, guint input, const guint32 *indices)
{
  const GantryType *type;
  guint32 at[GANTRY_MAX_RANK];

  g_assert (input < b->n_inputs);
  type = b->inputs[input];
  for (guint i = 0; i < type->rank; i++)
    {
      g_assert (b->too_large || type_of (b, indices[i]) == GANTRY_I64);
      at[i] = type->dims[i] == 1 ? gantry_tx_int (b, 0) : indices[i];
    }
  return make_with_list (b, &(GantryTx){ .kind = GANTRY_TX_LOAD, .type = type->element, .a = input }, at, type->rank);
}

guint32
gantry_tx_unary (GantryTexprBuilder *b, GantryOp op, guint32 x)
{
  const GantryTx *node = _gantry_tx_node (b, x);
  gboolean test = op == GANTRY_OP_IS_FINITE || op == GANTRY_OP_IS_NAN;

  if (op == GANTRY_OP_STOP_GRADIENT)
    return x;
  if (op == GANTRY_OP_NEGATE && node->type == GANTRY_I64)
    return gantry_tx_binary (b, GANTRY_OP_SUBTRACT, gantry_tx_int (b, 0), x);
  if (op == GANTRY_OP_NOT && node->type == GANTRY_BOOL && node->kind == GANTRY_TX_CONST)
    return gantry_tx_const_int (b, GANTRY_BOOL, !node->i);
  return _gantry_tx_make (b, &(GantryTx){ .kind = GANTRY_TX_UNARY, .type = test ? GANTRY_BOOL : node->type, .op = op, .a = x });
}

static guint32
logical (GantryTexprBuilder *b, GantryOp op, guint32 x, guint32 y)
{
  gboolean is_and = op == GANTRY_OP_AND;

  if (op == GANTRY_OP_AND || op == GANTRY_OP_OR)
    {
      if (x == y)
        return x;
      if (_gantry_tx_is_const (b, x))
        return (_gantry_tx_node (b, x)->i != 0) == is_and ? y : x;
      if (_gantry_tx_is_const (b, y))
        return (_gantry_tx_node (b, y)->i != 0) == is_and ? x : y;
    }
  return _gantry_tx_make_binary (b, op, GANTRY_BOOL, x, y);
}

guint32
gantry_tx_binary (GantryTexprBuilder *b, GantryOp op, guint32 x, guint32 y)
{
  GantryElementType type = type_of (b, x);

  g_assert (b->too_large || type == type_of (b, y));
  if (b->too_large)
    return 0;
  if (type == GANTRY_I64)
    return _gantry_tx_index_binary (b, op, x, y);
  if (type == GANTRY_BOOL)
    return logical (b, op, x, y);
  return _gantry_tx_make_binary (b, op, type, x, y);
}

guint32
gantry_tx_addend (GantryTexprBuilder *b, guint32 x, guint32 y)
{
  if (b->too_large || !gantry_element_is_float (type_of (b, x)))
    return gantry_tx_binary (b, GANTRY_OP_MULTIPLY, x, y);
  return _gantry_tx_make (
    b, &(GantryTx){ .kind = GANTRY_TX_BINARY, .type = type_of (b, x), .op = GANTRY_OP_MULTIPLY, .direction = GANTRY_TX_UNROUNDED, .a = x, .b = y });
}

guint32
gantry_tx_compare (GantryTexprBuilder *b, GantryDirection direction, guint32 x, guint32 y)
{
  int known = -1;

  g_assert (b->too_large || type_of (b, x) == type_of (b, y));
  if (b->too_large)
    return 0;
  if (type_of (b, x) == GANTRY_I64)
    known = _gantry_tx_index_compare (b, direction, x, y);
  if (known >= 0)
    return gantry_tx_const_int (b, GANTRY_BOOL, known);
  return _gantry_tx_make (b, &(GantryTx){ .kind = GANTRY_TX_BINARY, .type = GANTRY_BOOL, .op = GANTRY_OP_COMPARE, .direction = direction, .a = x, .b = y });
}

guint32
gantry_tx_select (GantryTexprBuilder *b, guint32 predicate, guint32 x, guint32 y)
{
  const GantryTx *p = _gantry_tx_node (b, predicate);

  g_assert (b->too_large || (p->type == GANTRY_BOOL && type_of (b, x) == type_of (b, y)));
  if (p->kind == GANTRY_TX_CONST)
    return p->i != 0 ? x : y;
  if (x == y)
    return x;
  return _gantry_tx_make (b, &(GantryTx){ .kind = GANTRY_TX_SELECT, .type = type_of (b, x), .a = predicate, .b = x, .c = y });
}

/* Integers up to 2^8 are exact in every floating point type. */
static gboolean
folds_to (const GantryTx *node, GantryElementType element)
{
  if (node->kind != GANTRY_TX_CONST || gantry_element_is_float (node->type))
    return FALSE;
  return !gantry_element_is_float (element) || (node->i >= -256 && node->i <= 256);
}

guint32
gantry_tx_cast (GantryTexprBuilder *b, guint32 x, GantryElementType element)
{
  const GantryTx *node = _gantry_tx_node (b, x);

  if (node->type == element || b->too_large)
    return x;
  if (folds_to (node, element))
    return gantry_tx_const_int (b, element, node->i);
  /* i64 to a narrower integer and back: nothing was lost when the range says so. */
  if (element == GANTRY_I64 && node->kind == GANTRY_TX_CAST && gantry_element_is_integer (node->type) && node->type != GANTRY_U64
      && type_of (b, node->a) == GANTRY_I64)
    {
      guint bits = 8 * (guint) gantry_element_size (node->type);
      gboolean is_signed = gantry_element_is_signed (node->type);
      gint64 max = (G_GINT64_CONSTANT (1) << (is_signed ? bits - 1 : bits)) - 1;
      GantryIndexRange range = _gantry_tx_range (b, node->a);

      if (range.lo >= (is_signed ? -max - 1 : 0) && range.hi <= max)
        return node->a;
    }
  return _gantry_tx_make (b, &(GantryTx){ .kind = GANTRY_TX_CAST, .type = element, .a = x });
}

guint32
gantry_tx_bitcast (GantryTexprBuilder *b, guint32 x, GantryElementType element)
{
  if (type_of (b, x) == element || b->too_large)
    return x;
  return _gantry_tx_make (b, &(GantryTx){ .kind = GANTRY_TX_BITCAST, .type = element, .a = x });
}

guint32
gantry_tx_reduce (GantryTexprBuilder *b, GantryOp op, guint32 x, const guint *axes, guint n_axes)
{
  guint32 kept[GANTRY_TEXPR_BUILD_AXES];
  GantryTx addend;
  guint n = 0;

  if (b->too_large)
    return 0;
  addend = *_gantry_tx_node (b, x);
  for (guint i = 0; i < n_axes; i++)
    if (_gantry_tx_extent (b, axes[i]) != 1)
      kept[n++] = axes[i];
  /* Where there is one addend, nothing is added to it. */
  if (n == 0 && addend.kind == GANTRY_TX_BINARY && addend.op == GANTRY_OP_MULTIPLY && addend.direction == GANTRY_TX_UNROUNDED)
    return gantry_tx_binary (b, GANTRY_OP_MULTIPLY, addend.a, addend.b);
  if (n == 0)
    return x;
  return make_with_list (b, &(GantryTx){ .kind = GANTRY_TX_REDUCE, .type = type_of (b, x), .op = op, .a = x }, kept, n);
}

/* The end: only what the root needs */

static void
mark_live (const GantryTexprBuilder *b, guint32 root, guint8 *live, guint8 *live_axes)
{
  live[root] = 1;
  for (guint32 i = root + 1; i-- > 0;)
    {
      const GantryTx *node = _gantry_tx_node (b, i);

      if (!live[i])
        continue;
      switch (node->kind)
        {
        case GANTRY_TX_SELECT: live[node->c] = 1; G_GNUC_FALLTHROUGH;
        case GANTRY_TX_BINARY: live[node->b] = 1; G_GNUC_FALLTHROUGH;
        case GANTRY_TX_UNARY:
        case GANTRY_TX_CAST:
        case GANTRY_TX_BITCAST: live[node->a] = 1; break;
        case GANTRY_TX_REDUCE:
          live[node->a] = 1;
          for (guint j = 0; j < node->c; j++)
            live_axes[g_array_index (b->pool, guint32, node->b + j) - b->rank] = 1;
          break;
        case GANTRY_TX_LOAD:
          for (guint j = 0; j < node->c; j++)
            live[g_array_index (b->pool, guint32, node->b + j)] = 1;
          break;
        default: break;
        }
    }
}

/* Copies @node with new numbers; @map: of nodes, @variables: of index variables. */
static GantryTx
renumber (const GantryTexprBuilder *b, const GantryTx *node, const guint32 *map, const guint32 *variables, GantryTexpr *texpr)
{
  GantryTx copy = *node;

  if (node->kind == GANTRY_TX_INDEX)
    copy.a = variables[node->a];
  else if (node->kind != GANTRY_TX_CONST && node->kind != GANTRY_TX_LOAD)
    copy.a = map[node->a];
  if (node->kind == GANTRY_TX_BINARY || node->kind == GANTRY_TX_SELECT)
    copy.b = map[node->b];
  if (node->kind == GANTRY_TX_SELECT)
    copy.c = map[node->c];
  if (has_list (node))
    {
      copy.b = texpr->n_pool;
      for (guint j = 0; j < node->c; j++)
        {
          guint32 entry = g_array_index (b->pool, guint32, node->b + j);

          texpr->pool[texpr->n_pool++] = node->kind == GANTRY_TX_LOAD ? map[entry] : variables[entry];
        }
    }
  return copy;
}

GantryTexpr *
gantry_texpr_builder_end (GantryTexprBuilder *b, guint32 root)
{
  g_autofree guint8 *live = g_new0 (guint8, b->nodes->len);
  g_autofree guint32 *map = g_new0 (guint32, b->nodes->len);
  guint8 live_axes[GANTRY_TEXPR_BUILD_AXES] = { 0 };
  guint32 variables[GANTRY_MAX_RANK + GANTRY_TEXPR_BUILD_AXES] = { 0 };
  guint n_axes = 0;
  GantryTexpr *texpr;

  mark_live (b, root, live, live_axes);
  for (guint i = 0; i < b->n_axes; i++)
    n_axes += live_axes[i];
  if (b->too_large || n_axes > GANTRY_MAX_RANK)
    {
      builder_free (b);
      return NULL;
    }
  g_assert (type_of (b, root) == b->element);
  texpr = g_new0 (GantryTexpr, 1);
  texpr->element = b->element;
  texpr->rank = (guint8) b->rank;
  memcpy (texpr->shape, b->shape, sizeof texpr->shape);
  for (guint i = 0; i < b->rank; i++)
    variables[i] = i;
  for (guint i = 0; i < b->n_axes; i++)
    if (live_axes[i])
      {
        variables[b->rank + i] = b->rank + texpr->n_axes;
        texpr->axes[texpr->n_axes++] = b->axes[i];
      }
  texpr->n_inputs = b->n_inputs;
  texpr->inputs = g_steal_pointer (&b->inputs);
  texpr->nodes = g_new (GantryTx, root + 1);
  texpr->pool = g_new (guint32, b->pool->len + 1);
  for (guint32 i = 0; i <= root; i++)
    if (live[i])
      {
        map[i] = texpr->n_nodes;
        texpr->nodes[texpr->n_nodes++] = renumber (b, _gantry_tx_node (b, i), map, variables, texpr);
      }
  texpr->root = map[root];
  builder_free (b);
  return texpr;
}
