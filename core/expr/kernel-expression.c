/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of kernel expressions: hash-consing and the constructors that simplify. Index
 * arithmetic is exact over the 64-bit integers that shapes allow; data arithmetic is left as it is. */
#include "core/expr/kernel-expression.h"
#include <math.h>
#include <string.h>

/* Hash-consing */

static guint
node_hash (const GantryKx *kx, const GantryKxNode *node)
{
  guint64 h = node->kind * 31u + node->type;

  h = h * 0x9e3779b97f4a7c15u + node->op * 8u + node->direction;
  h = (h ^ (h >> 29)) * 0x9e3779b97f4a7c15u + node->a;
  h = (h ^ (h >> 29)) * 0x9e3779b97f4a7c15u + (guint64) node->i;
  if (node->kind == GANTRY_KX_LINEAR || node->kind == GANTRY_KX_LOAD)
    for (guint i = 0; i < node->c; i++)
      {
        const GantryKxTerm *term = &gantry_kx_terms (kx, node)[i];

        h = (h ^ (h >> 29)) * 0x9e3779b97f4a7c15u + term->node;
        h = (h ^ (h >> 29)) * 0x9e3779b97f4a7c15u + (guint64) term->factor;
      }
  else
    h = (h ^ (h >> 29)) * 0x9e3779b97f4a7c15u + ((guint64) node->b << 32 | node->c);
  return (guint) (h ^ (h >> 32));
}

/* The table holds node ids; the graph they are of is the one that is asked. */
typedef struct
{
  const GantryKx *kx;
  guint32 id;
} Key;

static guint
key_hash (gconstpointer p)
{
  const Key *key = p;

  return node_hash (key->kx, gantry_kx_node (key->kx, key->id));
}

static gboolean
key_equal (gconstpointer p, gconstpointer q)
{
  const GantryKx *kx = ((const Key *) p)->kx;
  const GantryKxNode *x = gantry_kx_node (kx, ((const Key *) p)->id), *y = gantry_kx_node (kx, ((const Key *) q)->id);

  if (x->kind != y->kind || x->type != y->type || x->op != y->op || x->direction != y->direction || x->a != y->a || x->i != y->i || x->c != y->c)
    return FALSE;
  if (x->kind == GANTRY_KX_LINEAR || x->kind == GANTRY_KX_LOAD)
    {
      const GantryKxTerm *s = gantry_kx_terms (kx, x), *t = gantry_kx_terms (kx, y);

      for (guint i = 0; i < x->c; i++)
        if (s[i].node != t[i].node || s[i].factor != t[i].factor)
          return FALSE;
      return TRUE;
    }
  return x->b == y->b;
}

static guint64
node_vars (const GantryKx *kx, const GantryKxNode *node)
{
  guint64 vars = 0;

  switch (node->kind)
    {
    case GANTRY_KX_CONST: return 0;
    case GANTRY_KX_INDEX: return G_GUINT64_CONSTANT (1) << node->a;
    case GANTRY_KX_LINEAR:
    case GANTRY_KX_LOAD:
      for (guint i = 0; i < node->c; i++)
        vars |= gantry_kx_node (kx, gantry_kx_terms (kx, node)[i].node)->vars;
      return vars;
    case GANTRY_KX_SELECT: return gantry_kx_node (kx, node->a)->vars | gantry_kx_node (kx, node->b)->vars | gantry_kx_node (kx, node->c)->vars;
    case GANTRY_KX_BINARY: return gantry_kx_node (kx, node->a)->vars | gantry_kx_node (kx, node->b)->vars;
    case GANTRY_KX_REDUCE: return gantry_kx_node (kx, node->a)->vars & ~node->u;
    case GANTRY_KX_VALUE: return GANTRY_KX_HAS_VALUE;
    default: return gantry_kx_node (kx, node->a)->vars;
    }
}

/* Adds @node, whose terms (if it has any) are the last ones of kx->terms; gives back the equal one that is there. */
guint32
_gantry_kx_intern (GantryKx *kx, GantryKxNode node)
{
  gboolean sum = node.kind == GANTRY_KX_LINEAR || node.kind == GANTRY_KX_LOAD;
  guint32 id = kx->nodes->len;
  Key *key, probe = { kx, id };
  gpointer found;
  GantryIndexRange unknown = GANTRY_INDEX_ANY;
  guint32 never = 0;

  node.vars = 0;
  g_array_append_val (kx->nodes, node);
  if (g_hash_table_lookup_extended (kx->unique, &probe, &found, NULL))
    {
      g_array_set_size (kx->nodes, id);
      if (sum)
        g_array_set_size (kx->terms, node.b);
      return ((Key *) found)->id;
    }
  if (id >= GANTRY_KX_MAX_NODES)
    kx->overflow = TRUE;
  g_array_index (kx->nodes, GantryKxNode, id).vars = node_vars (kx, &node);
  g_array_append_val (kx->known, unknown);
  g_array_append_val (kx->stamps, never);
  key = g_new (Key, 1);
  *key = probe;
  g_hash_table_add (kx->unique, key);
  return id;
}

GantryKx *
gantry_kx_new (const GantryKxInput *inputs, guint n_inputs)
{
  GantryKx *kx = g_new0 (GantryKx, 1);

  kx->n_inputs = n_inputs;
  kx->inputs = g_memdup2 (inputs, n_inputs * sizeof *inputs);
  kx->nodes = g_array_new (FALSE, FALSE, sizeof (GantryKxNode));
  kx->terms = g_array_new (FALSE, FALSE, sizeof (GantryKxTerm));
  kx->known = g_array_new (FALSE, FALSE, sizeof (GantryIndexRange));
  kx->stamps = g_array_new (FALSE, FALSE, sizeof (guint32));
  kx->values = g_array_new (FALSE, FALSE, sizeof (GantryKxValue));
  kx->unique = g_hash_table_new_full (key_hash, key_equal, g_free, NULL);
  kx->epoch = 1;
  return kx;
}

void
gantry_kx_free (GantryKx *kx)
{
  g_free (kx->inputs);
  g_free (kx->roots);
  g_hash_table_unref (kx->unique);
  g_array_unref (kx->nodes);
  g_array_unref (kx->terms);
  g_array_unref (kx->known);
  g_array_unref (kx->stamps);
  g_array_unref (kx->values);
  g_free (kx);
}

void
gantry_kx_set_range (GantryKx *kx, guint variable, gint64 lo, gint64 hi)
{
  if (kx->ranges[variable].lo == lo && kx->ranges[variable].hi == hi)
    return;
  kx->ranges[variable] = (GantryIndexRange){ lo, hi };
  kx->epoch++;
}

/* Leaves */

guint32
gantry_kx_const_int (GantryKx *kx, GantryElementType type, gint64 value)
{
  return _gantry_kx_intern (kx, (GantryKxNode){ .kind = GANTRY_KX_CONST, .type = type, .i = value });
}

guint32
gantry_kx_const_float (GantryKx *kx, GantryElementType type, double value)
{
  GantryKxNode node = { .kind = GANTRY_KX_CONST, .type = type };

  node.f = value;
  return _gantry_kx_intern (kx, node);
}

guint32
gantry_kx_index (GantryKx *kx, guint variable)
{
  GantryIndexRange r = kx->ranges[variable];

  if (r.lo == r.hi)
    return gantry_kx_const_int (kx, GANTRY_I64, r.lo);
  return _gantry_kx_intern (kx, (GantryKxNode){ .kind = GANTRY_KX_INDEX, .type = GANTRY_I64, .a = variable });
}

guint32
gantry_kx_value (GantryKx *kx, GantryElementType type)
{
  GantryKxValue value = { .range = GANTRY_INDEX_ANY };

  value.node = _gantry_kx_intern (kx, (GantryKxNode){ .kind = GANTRY_KX_VALUE, .type = type, .a = kx->values->len });
  g_array_append_val (kx->values, value);
  return value.node;
}

void
gantry_kx_assume (GantryKx *kx, guint32 value, gint64 lo, gint64 hi)
{
  const GantryKxNode *node = gantry_kx_node (kx, value);

  /* A node that is simpler than a value is known without being told. */
  if (node->kind != GANTRY_KX_VALUE)
    return;
  g_array_index (kx->values, GantryKxValue, node->a).range = (GantryIndexRange){ lo, hi };
  kx->epoch++;
}

/* Sums */

gint64
gantry_kx_as_sum (const GantryKx *kx, guint32 id, gint64 factor, GArray *terms)
{
  const GantryKxNode *node = gantry_kx_node (kx, id);

  if (node->kind == GANTRY_KX_CONST)
    return (gint64) ((guint64) node->i * (guint64) factor);
  if (node->kind == GANTRY_KX_LINEAR)
    {
      for (guint i = 0; i < node->c; i++)
        {
          GantryKxTerm term = gantry_kx_terms (kx, node)[i];

          term.factor = (gint64) ((guint64) term.factor * (guint64) factor);
          g_array_append_val (terms, term);
        }
      return (gint64) ((guint64) node->i * (guint64) factor);
    }
  g_array_append_val (terms, ((GantryKxTerm){ id, factor }));
  return 0;
}

static int
compare_terms (gconstpointer p, gconstpointer q)
{
  guint32 x = ((const GantryKxTerm *) p)->node, y = ((const GantryKxTerm *) q)->node;

  return x < y ? -1 : x > y;
}

gboolean
_gantry_kx_is_division (const GantryKx *kx, guint32 id, GantryOp op, guint32 *of, gint64 *by)
{
  const GantryKxNode *node = gantry_kx_node (kx, id);

  if (node->kind != GANTRY_KX_BINARY || node->op != op || gantry_kx_node (kx, node->b)->kind != GANTRY_KX_CONST)
    return FALSE;
  *of = node->a;
  *by = gantry_kx_node (kx, node->b)->i;
  return *by > 0;
}

/* c * k * (x / k) + c * (x % k) is c * x. Returns TRUE when something was joined. */
static gboolean
join_divisions (GantryKx *kx, GArray *terms, gint64 *constant)
{
  for (guint i = 0; i < terms->len; i++)
    {
      GantryKxTerm rest = g_array_index (terms, GantryKxTerm, i);
      guint32 x, y;
      gint64 k, l;

      if (!_gantry_kx_is_division (kx, rest.node, GANTRY_OP_REMAINDER, &x, &k))
        continue;
      for (guint j = 0; j < terms->len; j++)
        {
          GantryKxTerm whole = g_array_index (terms, GantryKxTerm, j);

          if (!_gantry_kx_is_division (kx, whole.node, GANTRY_OP_DIVIDE, &y, &l) || x != y || k != l || whole.factor != rest.factor * k)
            continue;
          g_array_remove_index_fast (terms, MAX (i, j));
          g_array_remove_index_fast (terms, MIN (i, j));
          *constant += gantry_kx_as_sum (kx, x, rest.factor, terms);
          return TRUE;
        }
    }
  return FALSE;
}

static void
normalize_terms (GantryKx *kx, GArray *terms, gint64 *constant)
{
  do
    {
      guint n = 0;

      g_array_sort (terms, compare_terms);
      for (guint i = 0; i < terms->len; i++)
        {
          GantryKxTerm term = g_array_index (terms, GantryKxTerm, i);

          if (n > 0 && g_array_index (terms, GantryKxTerm, n - 1).node == term.node)
            g_array_index (terms, GantryKxTerm, n - 1).factor += term.factor;
          else
            g_array_index (terms, GantryKxTerm, n++) = term;
        }
      g_array_set_size (terms, n);
      for (guint i = terms->len; i-- > 0;)
        if (g_array_index (terms, GantryKxTerm, i).factor == 0)
          g_array_remove_index (terms, i);
    }
  while (join_divisions (kx, terms, constant));
}

/* Constant and terms (which this frees) as a node. */
guint32
_gantry_kx_sum (GantryKx *kx, gint64 constant, GArray *terms)
{
  GantryKxNode node = { .kind = GANTRY_KX_LINEAR, .type = GANTRY_I64, .b = kx->terms->len };
  guint32 id;

  normalize_terms (kx, terms, &constant);
  if (terms->len == 0)
    id = gantry_kx_const_int (kx, GANTRY_I64, constant);
  else if (terms->len == 1 && constant == 0 && g_array_index (terms, GantryKxTerm, 0).factor == 1)
    id = g_array_index (terms, GantryKxTerm, 0).node;
  else
    {
      node.c = terms->len;
      node.i = constant;
      g_array_append_vals (kx->terms, terms->data, terms->len);
      id = _gantry_kx_intern (kx, node);
    }
  g_array_unref (terms);
  return id;
}

GArray *
_gantry_kx_new_terms (void)
{
  return g_array_new (FALSE, FALSE, sizeof (GantryKxTerm));
}

guint32
gantry_kx_linear (GantryKx *kx, gint64 constant, const GantryKxTerm *terms, guint n)
{
  GArray *list = _gantry_kx_new_terms ();

  for (guint i = 0; i < n; i++)
    constant += gantry_kx_as_sum (kx, terms[i].node, terms[i].factor, list);
  return _gantry_kx_sum (kx, constant, list);
}

guint32
gantry_kx_load (GantryKx *kx, guint input, guint32 address)
{
  GantryElementType type = kx->inputs[input].type->element;
  GantryKxNode node = { .kind = GANTRY_KX_LOAD, .type = type, .a = input };
  GArray *terms;

  if (kx->inputs[input].splat)
    return gantry_element_is_float (type) ? gantry_kx_const_float (kx, type, kx->inputs[input].value_f)
                                          : gantry_kx_const_int (kx, type, kx->inputs[input].value_i);
  terms = _gantry_kx_new_terms ();
  node.i = gantry_kx_as_sum (kx, address, 1, terms);
  node.b = kx->terms->len;
  node.c = terms->len;
  g_array_append_vals (kx->terms, terms->data, terms->len);
  g_array_unref (terms);
  return _gantry_kx_intern (kx, node);
}

static gboolean
is_bool_const (const GantryKx *kx, guint32 id, gboolean value)
{
  const GantryKxNode *node = gantry_kx_node (kx, id);

  return node->kind == GANTRY_KX_CONST && node->type == GANTRY_BOOL && (node->i != 0) == value;
}

guint32
gantry_kx_binary (GantryKx *kx, GantryElementType type, GantryOp op, GantryDirection direction, guint32 a, guint32 b)
{
  GantryElementType from = gantry_kx_node (kx, a)->type;

  if (from == GANTRY_I64 && op == GANTRY_OP_COMPARE)
    return _gantry_kx_compare_index (kx, direction, a, b);
  if (from == GANTRY_I64 && type == GANTRY_I64)
    return _gantry_kx_index_binary (kx, op, a, b);
  if (type == GANTRY_BOOL && (op == GANTRY_OP_AND || op == GANTRY_OP_OR))
    {
      gboolean absorbing = op == GANTRY_OP_OR;

      if (is_bool_const (kx, a, absorbing) || is_bool_const (kx, b, !absorbing))
        return a;
      if (is_bool_const (kx, b, absorbing) || is_bool_const (kx, a, !absorbing))
        return b;
    }
  return _gantry_kx_raw_binary (kx, type, op, direction, a, b);
}

guint32
gantry_kx_unary (GantryKx *kx, GantryElementType type, GantryOp op, guint32 a)
{
  if (type == GANTRY_BOOL && op == GANTRY_OP_NOT && gantry_kx_node (kx, a)->kind == GANTRY_KX_CONST)
    return gantry_kx_const_int (kx, GANTRY_BOOL, gantry_kx_node (kx, a)->i == 0);
  return _gantry_kx_intern (kx, (GantryKxNode){ .kind = GANTRY_KX_UNARY, .type = type, .op = op, .a = a });
}

guint32
gantry_kx_select (GantryKx *kx, guint32 predicate, guint32 a, guint32 b)
{
  const GantryKxNode *node = gantry_kx_node (kx, predicate);

  if (node->kind == GANTRY_KX_CONST)
    return node->i != 0 ? a : b;
  if (a == b)
    return a;
  return _gantry_kx_intern (kx, (GantryKxNode){ .kind = GANTRY_KX_SELECT, .type = gantry_kx_node (kx, a)->type, .a = predicate, .b = a, .c = b });
}

guint32
gantry_kx_cast (GantryKx *kx, GantryElementType type, guint32 a)
{
  const GantryKxNode *node = gantry_kx_node (kx, a);

  if (node->type == type)
    return a;
  if (node->kind == GANTRY_KX_CONST && type == GANTRY_I64 && !gantry_element_is_float (node->type))
    return gantry_kx_const_int (kx, type, node->i);
  return _gantry_kx_intern (kx, (GantryKxNode){ .kind = GANTRY_KX_CAST, .type = type, .a = a });
}

guint32
gantry_kx_bitcast (GantryKx *kx, GantryElementType type, guint32 a)
{
  return _gantry_kx_intern (kx, (GantryKxNode){ .kind = GANTRY_KX_BITCAST, .type = type, .a = a });
}

guint32
gantry_kx_reduce (GantryKx *kx, GantryOp op, guint32 a, guint64 axes)
{
  GantryKxNode node = { .kind = GANTRY_KX_REDUCE, .type = gantry_kx_node (kx, a)->type, .op = op, .a = a };

  node.u = axes;
  return _gantry_kx_intern (kx, node);
}

guint32
gantry_kx_address (GantryKx *kx, guint32 load)
{
  GantryKxNode node = *gantry_kx_node (kx, load);
  g_autofree GantryKxTerm *terms = g_memdup2 (gantry_kx_terms (kx, &node), node.c * sizeof *terms);

  return gantry_kx_linear (kx, node.i, terms, node.c);
}

gint64
gantry_kx_factor_of (const GantryKx *kx, const GantryKxNode *node, guint v, gboolean *other)
{
  gint64 factor = 0;

  *other = FALSE;
  for (guint i = 0; i < node->c; i++)
    {
      const GantryKxTerm *term = &gantry_kx_terms (kx, node)[i];
      const GantryKxNode *of = gantry_kx_node (kx, term->node);

      if (of->kind == GANTRY_KX_INDEX && of->a == v)
        factor += term->factor;
      else if (of->vars >> v & 1)
        *other = TRUE;
    }
  return factor;
}
