/* SPDX-License-Identifier: Apache-2.0 */
/* From tensor expressions to the kernel's form, and changes of variables: a variable is split where
 * addresses divide by it (a reshape between blocked shapes becomes plain strides), and neighbours that
 * every address uses as one number are joined (an elementwise kernel has one long loop). */
#include "core/expr/kernel-expression.h"
#include "core/expr/scalar.h"
#include "core/base/error.h"

void
gantry_kx_layout_plain (GantryKxLayout *layout, const GantryType *type)
{
  gint64 stride = 1;

  layout->n = type->rank;
  for (guint d = type->rank; d-- > 0;)
    {
      layout->pieces[d] = (GantryKxPiece){ .dim = d, .divisor = 1, .stride = stride };
      stride *= type->dims[d];
    }
}

void
gantry_kx_layout_blocked (GantryKxLayout *layout, const GantryType *type, guint dim, guint block)
{
  gint64 stride = block;

  gantry_kx_layout_plain (layout, type);
  for (guint d = type->rank; d-- > 0;)
    {
      layout->pieces[d].stride = stride;
      stride *= d == dim ? type->dims[d] / block : type->dims[d];
    }
  layout->pieces[dim].divisor = block;
  layout->pieces[layout->n++] = (GantryKxPiece){ .dim = dim, .divisor = 1, .modulus = block, .stride = 1 };
}

/* Element offset of the coordinates @indices. */
static guint32
address_of (GantryKx *kx, const GantryKxLayout *layout, const guint32 *indices)
{
  GantryKxTerm terms[2 * GANTRY_MAX_RANK];

  for (guint i = 0; i < layout->n; i++)
    {
      const GantryKxPiece *piece = &layout->pieces[i];
      guint32 index = indices[piece->dim];

      if (piece->divisor > 1)
        index = gantry_kx_binary (kx, GANTRY_I64, GANTRY_OP_DIVIDE, 0, index, gantry_kx_const_int (kx, GANTRY_I64, piece->divisor));
      if (piece->modulus > 0)
        index = gantry_kx_binary (kx, GANTRY_I64, GANTRY_OP_REMAINDER, 0, index, gantry_kx_const_int (kx, GANTRY_I64, piece->modulus));
      terms[i] = (GantryKxTerm){ index, piece->stride };
    }
  return gantry_kx_linear (kx, 0, terms, layout->n);
}

/* Indices that the ranges do not prove to be inside are clamped, so that a load may be done although its value is
 * not selected. */
static guint32
build_load (GantryKx *kx, guint input, const guint32 *indices)
{
  const GantryType *type = kx->inputs[input].type;
  guint32 inside[GANTRY_MAX_RANK];

  if (kx->inputs[input].splat)
    return gantry_kx_load (kx, input, 0);
  for (guint d = 0; d < type->rank; d++)
    {
      if (type->dims[d] == 0)
        return gantry_element_is_float (type->element) ? gantry_kx_const_float (kx, type->element, 0) : gantry_kx_const_int (kx, type->element, 0);
      inside[d] = gantry_kx_binary (kx, GANTRY_I64, GANTRY_OP_MINIMUM, 0, indices[d], gantry_kx_const_int (kx, GANTRY_I64, type->dims[d] - 1));
      inside[d] = gantry_kx_binary (kx, GANTRY_I64, GANTRY_OP_MAXIMUM, 0, inside[d], gantry_kx_const_int (kx, GANTRY_I64, 0));
    }
  return gantry_kx_load (kx, input, address_of (kx, &kx->inputs[input].layout, inside));
}

guint
gantry_kx_add_variable (GantryKx *kx, gint64 extent)
{
  guint v;

  if (kx->n_vars == GANTRY_KX_MAX_VARS)
    {
      kx->overflow = TRUE;
      return GANTRY_KX_MAX_VARS - 1;
    }
  v = kx->n_vars++;
  kx->extents[v] = extent;
  kx->epoch++;
  kx->ranges[v] = (GantryIndexRange){ 0, MAX (extent, 1) - 1 };
  return v;
}

guint32
gantry_kx_identity (GantryKx *kx, GantryOp op, GantryElementType type)
{
  GantryScalar identity = { 0 };

  gantry_scalar_identity (op, type, &identity);
  return gantry_element_is_float (type) ? gantry_kx_const_float (kx, type, identity.f) : gantry_kx_const_int (kx, type, identity.i);
}

static guint32
build_reduce (GantryKx *kx, const GantryTexpr *texpr, const GantryTx *tx, const guint *variables, guint32 body)
{
  guint64 axes = 0;

  for (guint i = 0; i < tx->c; i++)
    {
      guint v = texpr->pool[tx->b + i];

      if (texpr->axes[v - texpr->rank] == 0)
        return gantry_kx_identity (kx, tx->op, tx->type);
      if (kx->extents[variables[v]] > 1)
        axes |= G_GUINT64_CONSTANT (1) << variables[v];
    }
  return axes != 0 ? gantry_kx_reduce (kx, tx->op, body, axes) : body;
}

static guint32
build_node (GantryKx *kx, const GantryTexpr *texpr, const GantryTx *tx, const guint *variables, const guint32 *map)
{
  guint32 indices[GANTRY_MAX_RANK];

  switch ((GantryTxKind) tx->kind)
    {
    case GANTRY_TX_CONST: return gantry_element_is_float (tx->type) ? gantry_kx_const_float (kx, tx->type, tx->f) : gantry_kx_const_int (kx, tx->type, tx->i);
    case GANTRY_TX_INDEX: return gantry_kx_index (kx, variables[tx->a]);
    case GANTRY_TX_LOAD:
      for (guint d = 0; d < tx->c; d++)
        indices[d] = map[texpr->pool[tx->b + d]];
      return build_load (kx, tx->a, indices);
    case GANTRY_TX_UNARY: return gantry_kx_unary (kx, tx->type, tx->op, map[tx->a]);
    case GANTRY_TX_BINARY: return gantry_kx_binary (kx, tx->type, tx->op, tx->direction, map[tx->a], map[tx->b]);
    case GANTRY_TX_SELECT: return gantry_kx_select (kx, map[tx->a], map[tx->b], map[tx->c]);
    case GANTRY_TX_CAST: return gantry_kx_cast (kx, tx->type, map[tx->a]);
    case GANTRY_TX_BITCAST: return gantry_kx_bitcast (kx, tx->type, map[tx->a]);
    case GANTRY_TX_REDUCE: return build_reduce (kx, texpr, tx, variables, map[tx->a]);
    default: g_assert_not_reached ();
    }
}

static gboolean
add_variables (GantryKx *kx, const GantryTexpr *texpr, guint *variables, GError **error)
{
  if (kx->n_vars + texpr->rank + texpr->n_axes > GANTRY_KX_MAX_VARS / 2)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "the expression has more than %d index variables", GANTRY_KX_MAX_VARS / 2);
      return FALSE;
    }
  if (kx->n_roots == 0)
    for (guint d = 0; d < texpr->rank; d++)
      kx->result_vars |= G_GUINT64_CONSTANT (1) << gantry_kx_add_variable (kx, texpr->shape[d]);
  for (guint d = 0; d < texpr->rank; d++)
    {
      g_assert (kx->extents[d] == texpr->shape[d]);
      variables[d] = d;
    }
  for (guint i = 0; i < texpr->n_axes; i++)
    variables[texpr->rank + i] = gantry_kx_add_variable (kx, texpr->axes[i]);
  return TRUE;
}

gboolean
gantry_kx_add (GantryKx *kx, const GantryTexpr *texpr, guint output, const GantryKxLayout *layout, GError **error)
{
  g_autofree guint32 *map = g_new0 (guint32, texpr->n_nodes);
  guint variables[2 * GANTRY_MAX_RANK];
  guint32 indices[GANTRY_MAX_RANK];
  GantryKxRoot root = { .element = texpr->element, .output = output };

  if (!add_variables (kx, texpr, variables, error))
    return FALSE;
  for (guint32 i = 0; i < texpr->n_nodes && !kx->overflow; i++)
    map[i] = build_node (kx, texpr, &texpr->nodes[i], variables, map);
  if (kx->overflow)
    {
      g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "the expression is too large");
      return FALSE;
    }
  for (guint d = 0; d < texpr->rank; d++)
    indices[d] = gantry_kx_index (kx, d);
  root.value = map[texpr->root];
  root.address = address_of (kx, layout, indices);
  kx->roots = g_renew (GantryKxRoot, kx->roots, kx->n_roots + 1);
  kx->roots[kx->n_roots++] = root;
  return TRUE;
}

/* Making an expression anew */

guint8 *
gantry_kx_needed (const GantryKx *kx, const GantryKxRoot *roots, guint n)
{
  guint8 *needed = g_new0 (guint8, kx->nodes->len);

  for (guint i = 0; i < n; i++)
    needed[roots[i].value] = needed[roots[i].address] = 1;
  for (guint32 id = kx->nodes->len; id-- > 0;)
    {
      const GantryKxNode *node = gantry_kx_node (kx, id);

      if (!needed[id] || node->kind == GANTRY_KX_CONST || node->kind == GANTRY_KX_INDEX || node->kind == GANTRY_KX_VALUE)
        continue;
      if (node->kind == GANTRY_KX_LINEAR || node->kind == GANTRY_KX_LOAD)
        {
          for (guint i = 0; i < node->c; i++)
            needed[gantry_kx_terms (kx, node)[i].node] = 1;
          continue;
        }
      needed[node->a] = 1;
      if (node->kind == GANTRY_KX_BINARY || node->kind == GANTRY_KX_SELECT)
        needed[node->b] = 1;
      if (node->kind == GANTRY_KX_SELECT)
        needed[node->c] = 1;
    }
  return needed;
}

static guint32
rebuild_sum (GantryKx *kx, const GantryKxNode *node, const guint32 *map)
{
  g_autofree GantryKxTerm *terms = g_memdup2 (gantry_kx_terms (kx, node), node->c * sizeof *terms);

  for (guint i = 0; i < node->c; i++)
    terms[i].node = map[terms[i].node];
  return gantry_kx_linear (kx, node->i, terms, node->c);
}

static guint64
substitute_axes (const GantryKx *kx, guint64 axes, const guint32 *substitution)
{
  guint64 result = 0;

  for (guint v = 0; v < kx->n_vars; v++)
    if (axes >> v & 1)
      result |= substitution != NULL && substitution[v] != G_MAXUINT32 ? gantry_kx_node (kx, substitution[v])->vars : G_GUINT64_CONSTANT (1) << v;
  return result;
}

static guint32
rebuild_node (GantryKx *kx, guint32 id, const guint32 *substitution, const guint32 *map)
{
  GantryKxNode node = *gantry_kx_node (kx, id);

  switch ((GantryKxKind) node.kind)
    {
    case GANTRY_KX_CONST:
    case GANTRY_KX_VALUE: return id;
    case GANTRY_KX_INDEX: return substitution != NULL && substitution[node.a] != G_MAXUINT32 ? substitution[node.a] : gantry_kx_index (kx, node.a);
    case GANTRY_KX_LINEAR: return rebuild_sum (kx, &node, map);
    case GANTRY_KX_LOAD: return gantry_kx_load (kx, node.a, rebuild_sum (kx, &node, map));
    case GANTRY_KX_UNARY: return gantry_kx_unary (kx, node.type, node.op, map[node.a]);
    case GANTRY_KX_BINARY: return gantry_kx_binary (kx, node.type, node.op, node.direction, map[node.a], map[node.b]);
    case GANTRY_KX_SELECT: return gantry_kx_select (kx, map[node.a], map[node.b], map[node.c]);
    case GANTRY_KX_CAST: return gantry_kx_cast (kx, node.type, map[node.a]);
    case GANTRY_KX_BITCAST: return gantry_kx_bitcast (kx, node.type, map[node.a]);
    case GANTRY_KX_REDUCE: return gantry_kx_reduce (kx, node.op, map[node.a], substitute_axes (kx, node.u, substitution));
    default: g_assert_not_reached ();
    }
}

static void
rebuild (GantryKx *kx, const guint32 *substitution, guint32 replaced, guint32 with, GantryKxRoot *roots, guint n)
{
  g_autofree guint8 *needed = gantry_kx_needed (kx, roots, n);
  guint32 n_nodes = kx->nodes->len;
  g_autofree guint32 *map = g_new (guint32, n_nodes);

  for (guint32 id = 0; id < n_nodes; id++)
    if (needed[id])
      map[id] = id == replaced ? with : rebuild_node (kx, id, substitution, map);
  for (guint i = 0; i < n; i++)
    {
      roots[i].value = map[roots[i].value];
      roots[i].address = map[roots[i].address];
    }
}

void
gantry_kx_rebuild (GantryKx *kx, const guint32 *substitution, GantryKxRoot *roots, guint n)
{
  rebuild (kx, substitution, G_MAXUINT32, 0, roots, n);
}

void
gantry_kx_replace_in (GantryKx *kx, guint32 node, guint32 with, GantryKxRoot *roots, guint n)
{
  rebuild (kx, NULL, node, with, roots, n);
}

void
gantry_kx_replace (GantryKx *kx, guint32 node, guint32 with)
{
  rebuild (kx, NULL, node, with, kx->roots, kx->n_roots);
}

/* Splitting */

/* A variable and a divisor of it that index arithmetic divides it by. */
static gboolean
find_split (const GantryKx *kx, guint *variable, gint64 *divisor)
{
  g_autofree guint8 *needed = gantry_kx_needed (kx, kx->roots, kx->n_roots);

  *divisor = 0;
  for (guint32 id = 0; id < kx->nodes->len; id++)
    {
      const GantryKxNode *node = gantry_kx_node (kx, id), *of, *by;

      if (!needed[id] || node->kind != GANTRY_KX_BINARY || node->type != GANTRY_I64 || (node->op != GANTRY_OP_DIVIDE && node->op != GANTRY_OP_REMAINDER))
        continue;
      of = gantry_kx_node (kx, node->a);
      by = gantry_kx_node (kx, node->b);
      if (of->kind != GANTRY_KX_INDEX || by->kind != GANTRY_KX_CONST || by->i < 2 || kx->extents[of->a] % by->i != 0)
        continue;
      if (*divisor == 0 || (of->a == *variable && by->i < *divisor))
        {
          *variable = of->a;
          *divisor = by->i;
        }
    }
  return *divisor != 0;
}

/* What a variable was is now said with others. */
static void
replace (GantryKx *kx, const guint32 *substitution, GantryKxRoot *roots)
{
  gantry_kx_rebuild (kx, substitution, roots, kx->n_roots);
  for (guint v = 0; v < kx->n_vars; v++)
    if (substitution[v] != G_MAXUINT32 && kx->result_vars >> v & 1)
      kx->result_vars = (kx->result_vars & ~(G_GUINT64_CONSTANT (1) << v)) | gantry_kx_node (kx, substitution[v])->vars;
}

static void
no_substitution (guint32 *substitution)
{
  for (guint v = 0; v < GANTRY_KX_MAX_VARS; v++)
    substitution[v] = G_MAXUINT32;
}

static void
split_variables (GantryKx *kx)
{
  guint32 substitution[GANTRY_KX_MAX_VARS];
  guint v = 0;
  gint64 k;

  while (kx->n_vars + 2 <= GANTRY_KX_MAX_VARS - GANTRY_MAX_RANK && !kx->overflow && find_split (kx, &v, &k))
    {
      guint outer = gantry_kx_add_variable (kx, kx->extents[v] / k), inner = gantry_kx_add_variable (kx, k);

      no_substitution (substitution);
      substitution[v] = gantry_kx_linear (kx, 0, (GantryKxTerm[]){ { gantry_kx_index (kx, outer), k }, { gantry_kx_index (kx, inner), 1 } }, 2);
      replace (kx, substitution, kx->roots);
    }
}

/* Joining */

static gboolean
divides_by_variable (const GantryKx *kx, const GantryKxRoot *roots, guint v)
{
  g_autofree guint8 *needed = gantry_kx_needed (kx, roots, kx->n_roots);

  for (guint32 id = 0; id < kx->nodes->len; id++)
    {
      const GantryKxNode *node = gantry_kx_node (kx, id);

      if (needed[id] && node->kind == GANTRY_KX_BINARY && node->type == GANTRY_I64 && (node->op == GANTRY_OP_DIVIDE || node->op == GANTRY_OP_REMAINDER)
          && gantry_kx_node (kx, node->a)->vars >> v & 1)
        return TRUE;
    }
  return FALSE;
}

/* Puts outer and inner together as one variable where that leaves no division. */
static gboolean
try_join (GantryKx *kx, guint outer, guint inner)
{
  guint32 substitution[GANTRY_KX_MAX_VARS];
  g_autofree GantryKxRoot *roots = g_memdup2 (kx->roots, kx->n_roots * sizeof *roots);
  gint64 k = kx->extents[inner];
  guint64 result_vars = kx->result_vars;
  guint32 joined, by;
  guint m;

  if (kx->n_vars >= GANTRY_KX_MAX_VARS || kx->overflow)
    return FALSE;
  m = gantry_kx_add_variable (kx, kx->extents[outer] * k);
  joined = gantry_kx_index (kx, m);
  by = gantry_kx_const_int (kx, GANTRY_I64, k);
  no_substitution (substitution);
  substitution[outer] = gantry_kx_binary (kx, GANTRY_I64, GANTRY_OP_DIVIDE, 0, joined, by);
  substitution[inner] = gantry_kx_binary (kx, GANTRY_I64, GANTRY_OP_REMAINDER, 0, joined, by);
  replace (kx, substitution, roots);
  if (divides_by_variable (kx, roots, m))
    {
      kx->result_vars = result_vars;
      kx->n_vars--; /* nothing that is needed names it */
      kx->epoch++;
      return FALSE;
    }
  for (guint i = 0; i < kx->n_roots; i++)
    kx->roots[i] = roots[i];
  return TRUE;
}

/* TRUE when all results lie such that the two variables count through neighbouring places. */
static gboolean
adjacent_in_results (const GantryKx *kx, guint outer, guint inner)
{
  for (guint i = 0; i < kx->n_roots; i++)
    {
      GantryKxNode sum = *gantry_kx_node (kx, kx->roots[i].address);
      gint64 p, q;
      gboolean other;

      if (sum.kind == GANTRY_KX_INDEX)
        return FALSE; /* one variable only */
      p = gantry_kx_factor_of (kx, &sum, outer, &other);
      q = gantry_kx_factor_of (kx, &sum, inner, &other);
      if (p == 0 || p != q * kx->extents[inner])
        return FALSE;
    }
  return TRUE;
}

/* Variables of the results that occur, and sets of axes that are reduced together. */
static guint64
reduced_with (const GantryKx *kx, guint v, gboolean *same)
{
  g_autofree guint8 *needed = gantry_kx_needed (kx, kx->roots, kx->n_roots);
  guint64 set = 0;

  *same = TRUE;
  for (guint32 id = 0; id < kx->nodes->len; id++)
    {
      const GantryKxNode *node = gantry_kx_node (kx, id);

      if (!needed[id] || node->kind != GANTRY_KX_REDUCE || !(node->u >> v & 1))
        continue;
      if (set != 0 && set != node->u)
        *same = FALSE;
      set |= node->u;
    }
  return set;
}

static gboolean
join_some (GantryKx *kx)
{
  for (guint outer = 0; outer < kx->n_vars; outer++)
    {
      gboolean is_result = kx->result_vars >> outer & 1, same = TRUE;
      guint64 partners = is_result ? kx->result_vars : reduced_with (kx, outer, &same);

      for (guint inner = 0; inner < kx->n_vars && same && kx->extents[outer] > 1; inner++)
        {
          if (inner == outer || !(partners >> inner & 1) || kx->extents[inner] <= 1)
            continue;
          if (is_result && !adjacent_in_results (kx, outer, inner))
            continue;
          if (try_join (kx, outer, inner))
            return TRUE;
        }
    }
  return FALSE;
}

void
gantry_kx_canonicalize (GantryKx *kx)
{
  split_variables (kx);
  while (!kx->overflow && join_some (kx))
    ;
}
