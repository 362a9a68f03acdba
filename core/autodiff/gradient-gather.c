/* SPDX-License-Identifier: Apache-2.0 */
/* Derivatives of gather and scatter, which are each other's, and of sort. What differs is what
 * they do with an index that points outside: gather moves it inside, scatter drops what it would
 * write there. */
#include "core/autodiff/gradient-private.h"
#include "core/graph/operation.h"
#include <string.h>

#define B d->builder

/* The names of one list each, gather's and scatter's. */
static const char *const names[][2] = {
  { "offset_dims", "update_window_dims" },
  { "collapsed_slice_dims", "inserted_window_dims" },
  { "operand_batching_dims", "input_batching_dims" },
  { "start_indices_batching_dims", "scatter_indices_batching_dims" },
  { "start_index_map", "scatter_dims_to_operand_dims" },
};

/* The dimension numbers of @node, a gather or a scatter, in the other's names. */
static GantryAttrList *
translate (GantryDiff *d, const GantryNode *node)
{
  GantryAttrList *attrs = gantry_attr_list_new (d->context);
  guint from = node->op == GANTRY_OP_GATHER ? 0 : 1;
  const gint64 *list;
  gsize n;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      list = gantry_attrs_ints (d->context, node->attrs, names[i][from], &n);
      gantry_attr_list_set_ints (attrs, names[i][1 - from], list, n);
    }
  gantry_attr_list_set_int (attrs, "index_vector_dim", gantry_attrs_int (d->context, node->attrs, "index_vector_dim", 0));
  return attrs;
}

/* Literal of i64 along the vector dimension of @indices, broadcast to their shape. */
static guint32
along_vector (GantryDiff *d, const GantryNode *node, guint32 indices, const gint64 *values, gsize n)
{
  const GantryType *type = gantry_builder_get_type (B, indices);
  gint64 vector = gantry_attrs_int (d->context, node->attrs, "index_vector_dim", 0);
  guint32 id;

  if (vector == type->rank)
    return gantry_builder_broadcast (B, gantry_builder_int_scalar (B, GANTRY_I64, values[0]), type->rank, type->dims, NULL);
  id = gantry_builder_ints (B, values, n);
  return gantry_builder_broadcast (B, id, type->rank, type->dims, &vector);
}

static guint32
zeros_like_indices (GantryDiff *d, guint32 indices)
{
  return _gantry_diff_splat_like (d, indices, 0);
}

static guint32
clamp (GantryDiff *d, guint32 low, guint32 x, guint32 high)
{
  return gantry_builder_add (B, GANTRY_OP_CLAMP, (guint32[]){ low, x, high }, 3, 0);
}

/* Indices as gather reads them: moved inside. As i64: the bounds may not fit the indices' own
 * type. */
static guint32
clamped_indices (GantryDiff *d, const GantryNode *node)
{
  const GantryType *x = _gantry_diff_operand_type (d, node, 0);
  guint32 indices = gantry_builder_convert (B, _gantry_diff_operand (d, node, 1), GANTRY_I64);
  gsize n, n_sizes;
  const gint64 *map = gantry_attrs_ints (d->context, node->attrs, "start_index_map", &n);
  const gint64 *sizes = gantry_attrs_ints (d->context, node->attrs, "slice_sizes", &n_sizes);
  gint64 most[GANTRY_MAX_RANK];

  if (n == 0)
    return indices;
  for (gsize i = 0; i < n; i++)
    most[i] = x->dims[map[i]] - sizes[map[i]];
  return clamp (d, zeros_like_indices (d, indices), indices, along_vector (d, node, indices, most, n));
}

/* What is read outside is the nearest element, and its cotangent goes there; unless the node says
 * that such a read has none: then the scatter leaves out what lies outside. */
void
_gantry_gradient_gather (GantryDiff *d, const GantryNode *node, guint32 g)
{
  GantryAttrList *attrs = translate (d, node);
  gboolean drops = g_strcmp0 (gantry_attrs_string (d->context, node->attrs, "outside", NULL), "drop") == 0;
  guint32 operands[3];

  gantry_attr_list_set_string (attrs, "kind", "add");
  operands[0] = _gantry_diff_splat (d, _gantry_diff_operand_type (d, node, 0), 0);
  operands[1] = drops ? _gantry_diff_operand (d, node, 1) : clamped_indices (d, node);
  operands[2] = g;
  _gantry_diff_give (d, node, 0, gantry_builder_add (B, GANTRY_OP_SCATTER, operands, 3, gantry_attr_list_end (attrs)));
}

/* Scatter */

/* Sizes of the window that a scatter writes, by dimension of its input. */
static void
window_sizes (GantryDiff *d, const GantryNode *node, gint64 *sizes)
{
  const GantryType *x = _gantry_diff_operand_type (d, node, 0), *updates = _gantry_diff_operand_type (d, node, 2);
  gsize n_window, n_inserted, n_batching;
  const gint64 *window = gantry_attrs_ints (d->context, node->attrs, "update_window_dims", &n_window);
  const gint64 *inserted = gantry_attrs_ints (d->context, node->attrs, "inserted_window_dims", &n_inserted);
  const gint64 *batching = gantry_attrs_ints (d->context, node->attrs, "input_batching_dims", &n_batching);
  guint next = 0;

  for (guint i = 0; i < x->rank; i++)
    {
      gboolean removed = FALSE;

      for (gsize k = 0; k < n_inserted; k++)
        removed |= inserted[k] == i;
      for (gsize k = 0; k < n_batching; k++)
        removed |= batching[k] == i;
      sizes[i] = removed ? 1 : updates->dims[window[next++]];
    }
}

/* What stands in @x where the scatter writes, 0 where it writes outside: around @x comes a rim of
 * zeros as wide as a window, and indices far outside are moved to its edge. */
static guint32
gather_back (GantryDiff *d, const GantryNode *node, guint32 x)
{
  GantryAttrList *attrs = translate (d, node);
  GantryElementType element = gantry_builder_get_type (B, x)->element;
  const GantryType *type = _gantry_diff_operand_type (d, node, 0);
  guint32 indices = gantry_builder_convert (B, _gantry_diff_operand (d, node, 1), GANTRY_I64), padded;
  gint64 sizes[GANTRY_MAX_RANK], rim[GANTRY_MAX_RANK] = { 0 }, width[GANTRY_MAX_RANK], low[GANTRY_MAX_RANK];
  gint64 high[GANTRY_MAX_RANK];
  gsize n;
  const gint64 *map = gantry_attrs_ints (d->context, node->attrs, "scatter_dims_to_operand_dims", &n);

  window_sizes (d, node, sizes);
  for (gsize i = 0; i < n; i++)
    {
      width[i] = rim[map[i]] = sizes[map[i]];
      low[i] = -width[i];
      high[i] = type->dims[map[i]];
    }
  padded = gantry_builder_pad (B, x, gantry_builder_scalar (B, element, 0), rim, rim, NULL);
  if (n > 0)
    {
      indices = clamp (d, along_vector (d, node, indices, low, n), indices, along_vector (d, node, indices, high, n));
      indices = gantry_builder_binary (B, GANTRY_OP_ADD, indices, along_vector (d, node, indices, width, n));
    }
  gantry_attr_list_set_ints (attrs, "slice_sizes", sizes, type->rank);
  return gantry_builder_add (B, GANTRY_OP_GATHER, (guint32[]){ padded, indices }, 2, gantry_attr_list_end (attrs));
}

/* The same scatter with other values. */
static guint32
scatter_again (GantryDiff *d, const GantryNode *node, const char *kind, guint32 x, guint32 updates)
{
  GantryAttrList *attrs = gantry_attr_list_new (d->context);
  guint32 operands[3] = { x, _gantry_diff_operand (d, node, 1), updates };

  gantry_attr_list_set_all (attrs, node->attrs);
  gantry_attr_list_set_string (attrs, "kind", kind);
  return gantry_builder_add (B, GANTRY_OP_SCATTER, operands, 3, gantry_attr_list_end (attrs));
}

/* Of updates of one place the last stays: found by scattering their numbers in the same way. */
static void
scatter_set (GantryDiff *d, const GantryNode *node, guint32 g)
{
  const GantryType *x = _gantry_diff_operand_type (d, node, 0), *updates = _gantry_diff_operand_type (d, node, 2);
  guint32 zeros = _gantry_diff_splat (d, updates, 0), numbers, winners;
  gint64 n = gantry_type_elements (updates);

  if (_gantry_diff_wants (d, node, 0))
    _gantry_diff_give (d, node, 0, scatter_again (d, node, "set", g, zeros));
  if (!_gantry_diff_wants (d, node, 2))
    return;
  numbers = gantry_builder_iota (B, GANTRY_I64, 1, &n, 0);
  numbers = gantry_builder_binary (B, GANTRY_OP_ADD, numbers, gantry_builder_splat (B, GANTRY_I64, 1, 1, &n)); /* 0 is nobody's number */
  numbers = _gantry_diff_reshape (d, numbers, updates);
  winners = scatter_again (d, node, "set", gantry_builder_splat (B, GANTRY_I64, 0, x->rank, x->dims), numbers);
  _gantry_diff_give (d, node, 2, _gantry_diff_where (d, gantry_builder_compare (B, "EQ", gather_back (d, node, winners), numbers), gather_back (d, node, g)));
}

/* max, min: what equals the result takes its cotangent, in equal parts. */
static void
scatter_extremum (GantryDiff *d, const GantryNode *node, guint32 g)
{
  GantryElementType element = gantry_node_type (d->module, node)->element;
  guint32 x = _gantry_diff_operand (d, node, 0), u = _gantry_diff_operand (d, node, 2), y = _gantry_diff_result (d, node);
  guint32 x_wins = gantry_builder_compare (B, "EQ", x, y);
  guint32 u_wins = gantry_builder_compare (B, "EQ", u, gather_back (d, node, y));
  guint32 count = scatter_again (d, node, "add", gantry_builder_convert (B, x_wins, element), gantry_builder_convert (B, u_wins, element));
  guint32 share = gantry_builder_binary (B, GANTRY_OP_DIVIDE, g, count);

  _gantry_diff_give (d, node, 0, _gantry_diff_where (d, x_wins, share));
  if (_gantry_diff_wants (d, node, 2))
    _gantry_diff_give (d, node, 2, _gantry_diff_where (d, u_wins, gather_back (d, node, share)));
}

void
_gantry_gradient_scatter (GantryDiff *d, const GantryNode *node, guint32 g)
{
  const char *kind = gantry_attrs_string (d->context, node->attrs, "kind", "");

  if (strcmp (kind, "add") == 0)
    {
      _gantry_diff_give (d, node, 0, g);
      if (_gantry_diff_wants (d, node, 2))
        _gantry_diff_give (d, node, 2, gather_back (d, node, g));
    }
  else if (strcmp (kind, "set") == 0)
    scatter_set (d, node, g);
  else if (strcmp (kind, "max") == 0 || strcmp (kind, "min") == 0)
    scatter_extremum (d, node, g);
  else if (_gantry_diff_wants (d, node, 2))
    _gantry_diff_refuse (d, node, "of kind mul has no derivative by its updates: several may meet in one place");
  else
    _gantry_diff_give (d, node, 0, scatter_again (d, node, "mul", g, _gantry_diff_operand (d, node, 2)));
}

/* Sort: the keys are sorted with their numbers, which gives the order; sorting by that puts
 * cotangents back. */
void
_gantry_gradient_sort (GantryDiff *d, const GantryNode *node, guint32 g)
{
  const GantryType *type = _gantry_diff_operand_type (d, node, 0);
  gint64 dimension = gantry_attrs_int (d->context, node->attrs, "dimension", 0);
  g_autofree guint32 *operands = g_new (guint32, node->n_operands + 1);
  g_autofree guint *members = g_new (guint, node->n_operands + 1);
  GantryAttrList *attrs = gantry_attr_list_new (d->context);
  guint n = 0;
  guint32 back;

  operands[n++] = _gantry_diff_operand (d, node, 0);
  operands[n++] = gantry_builder_iota (B, GANTRY_I64, type->rank, type->dims, dimension);
  gantry_attr_list_set_all (attrs, node->attrs);
  gantry_attr_list_set_int (attrs, "stable", 1);
  back = gantry_builder_add (B, GANTRY_OP_SORT, operands, n, gantry_attr_list_end (attrs));
  n = 0;
  operands[n++] = gantry_builder_result (B, back, 1);
  for (guint i = 0; i < node->n_operands; i++)
    if (_gantry_diff_cotangent (d, node, i) != 0)
      {
        members[n] = i;
        operands[n++] = _gantry_diff_cotangent (d, node, i);
      }
  attrs = gantry_attr_list_new (d->context);
  gantry_attr_list_set_int (attrs, "dimension", dimension);
  back = gantry_builder_add (B, GANTRY_OP_SORT, operands, n, gantry_attr_list_end (attrs));
  for (guint i = 1; i < n; i++)
    _gantry_diff_give (d, node, members[i], gantry_builder_result (B, back, i));
}
