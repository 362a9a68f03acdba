/* SPDX-License-Identifier: Apache-2.0 */
/* sort and top_k. A comparator that compares two arguments by size becomes the core sort. Any other is asked about
 * every pair: the number of elements that come before one is its place, and sorting by that place moves all
 * operands. */
#include "core/frontends/xla/lower-private.h"

#define MOST_PAIRS (1 << 24)

/* Whether the body compares arguments 2 k and 2 k + 1 by size; @key is k. */
static gboolean
plain_comparator (XlaLower *l, guint32 body, guint *key, gboolean *descending)
{
  const GantryFunction *f = gantry_module_function (l->source, body);
  const GantryNode *node = f != NULL && f->n_results == 1 ? gantry_module_node (l->source, gantry_function_result_id (l->source, f, 0)) : NULL;
  const char *name = node != NULL ? gantry_node_op_name (l->source, node) : "", *direction;
  gboolean total;

  if (node == NULL || !g_str_has_suffix (name, ".compare") || node->n_operands != 2)
    return FALSE;
  direction = gantry_attrs_string (l->context, node->attrs, "comparison_direction", "");
  total = strcmp (gantry_attrs_string (l->context, node->attrs, "compare_type", ""), "TOTALORDER") == 0;
  for (guint i = 0; i + 1 < MIN (f->n_params, 2 * l->n_in); i++)
    {
      const GantryNode *a = &l->source->nodes[f->first_node + i];
      guint32 left = gantry_node_operand_id (l->source, node, 0), right = gantry_node_operand_id (l->source, node, 1);
      gboolean turned = left == a[1].id && right == a->id;

      if (i % 2 != 0 || !(turned || (left == a->id && right == a[1].id)))
        continue;
      *key = i / 2;
      *descending = (*direction == 'G') != turned;
      return (strcmp (direction, "LT") == 0 || strcmp (direction, "GT") == 0)
             && !(total && gantry_element_is_float (gantry_xla_element (l, gantry_xla_in (l, *key))));
    }
  return FALSE;
}

/* The core sort of all of @values by @key. */
static void
sort_by (XlaLower *l, guint32 key, const guint32 *values, guint n, gint64 dimension, gboolean descending, guint32 *results)
{
  guint32 *operands = XLA_NEW (l, guint32, n + 1), value;
  GantryAttrList *attrs = gantry_xla_attrs (l);

  operands[0] = key;
  memcpy (operands + 1, values, sizeof *values * n);
  gantry_attr_list_set_int (attrs, "dimension", dimension);
  gantry_attr_list_set_int (attrs, "descending", descending);
  gantry_attr_list_set_int (attrs, "stable", 1);
  value = gantry_builder_add (l->b, GANTRY_OP_SORT, operands, n + 1, gantry_attr_list_end (attrs));
  for (guint i = 0; i < n; i++)
    results[i] = value != 0 ? gantry_builder_result (l->b, value, i + 1) : 0;
}

/* @x with a dimension of size n put in behind (or before) dimension @d, which repeats it. */
static guint32
repeat (XlaLower *l, guint32 x, guint d, gboolean behind)
{
  const GantryType *type = gantry_xla_type (l, x);
  GantryDim dims[GANTRY_MAX_RANK + 1];
  gint64 where[GANTRY_MAX_RANK];

  for (guint i = 0; i < type->rank; i++)
    where[i] = i < d || (i == d && behind) ? i : i + 1;
  for (guint i = 0; i <= type->rank; i++)
    dims[i] = i <= d ? type->dims[i] : type->dims[i - 1];
  return gantry_builder_broadcast (l->b, x, type->rank + 1, dims, where);
}

/* The place of each element among those along dimension @d. */
static guint32
places (XlaLower *l, guint32 body, guint d)
{
  const GantryType *type = gantry_xla_type (l, gantry_xla_in (l, 0));
  guint32 *forth = XLA_NEW (l, guint32, 2 * l->n_in), *back = XLA_NEW (l, guint32, 2 * l->n_in);
  guint32 before, after, earlier, here, there;
  gint64 axis = d + 1;

  if (type->rank + 1 > GANTRY_MAX_RANK || gantry_dim_multiply (gantry_type_elements (type), type->dims[d]) > MOST_PAIRS)
    {
      gantry_xla_refuse (l, "a comparator that does more than compare by size, for so many elements");
      return 0;
    }
  for (guint i = 0; i < l->n_in; i++)
    {
      back[2 * i + 1] = forth[2 * i] = repeat (l, l->in[i], d, TRUE);
      back[2 * i] = forth[2 * i + 1] = repeat (l, l->in[i], d, FALSE);
    }
  /* Along d the element itself, along d + 1 the other. */
  if (!gantry_xla_apply (l, body, back, 2 * l->n_in, &before, 1, forth[0]) || !gantry_xla_apply (l, body, forth, 2 * l->n_in, &after, 1, forth[0]))
    return 0;
  here = gantry_builder_iota (l->b, GANTRY_I32, gantry_xla_type (l, forth[0])->rank, gantry_xla_type (l, forth[0])->dims, d);
  there = gantry_builder_iota (l->b, GANTRY_I32, gantry_xla_type (l, forth[0])->rank, gantry_xla_type (l, forth[0])->dims, axis);
  earlier = gantry_xla_binary (l, GANTRY_OP_AND, gantry_xla_unary (l, GANTRY_OP_NOT, after), gantry_xla_compare (l, "LT", there, here));
  before = gantry_xla_convert (l, gantry_xla_binary (l, GANTRY_OP_OR, before, earlier), GANTRY_I32);
  return gantry_builder_reduce (l->b, "add", before, &axis, 1);
}

static void
sort (XlaLower *l)
{
  guint32 body = gantry_xla_region (l, 0);
  guint rank = gantry_xla_type (l, gantry_xla_in (l, 0))->rank, key = 0;
  gint64 dimension = gantry_xla_int (l, "dimension", -1);
  gboolean descending = FALSE;

  if (dimension < 0)
    dimension += rank;
  if (l->failed || l->n_in == 0 || l->n_in != l->n_out || dimension < 0 || dimension >= rank)
    return;
  if (!gantry_xla_same_dims (l, l->n_in))
    return;
  if (plain_comparator (l, body, &key, &descending) && key < l->n_in)
    sort_by (l, l->in[key], l->in, l->n_in, dimension, descending, l->out);
  else
    {
      guint32 place = places (l, body, (guint) dimension);

      if (place != 0)
        sort_by (l, place, l->in, l->n_in, dimension, FALSE, l->out);
    }
}

/* The k largest along the last dimension, and where they were; of equal ones the first. Floats are compared by the total order, as
 * XLA does: NaN is the largest, the negative one the smallest, and 0 is larger than -0. */
static void
top_k (XlaLower *l)
{
  guint32 x = gantry_xla_in (l, 0), key = x, values[2], sorted[2];
  const GantryType *type = gantry_xla_type (l, x);
  const GantryType *declared = gantry_xla_declared (l, 0);
  gint64 k = gantry_xla_int (l, "k", declared->kind == GANTRY_TYPE_TENSOR && declared->rank > 0 ? declared->dims[declared->rank - 1] : 0);

  if (type->rank == 0 || gantry_xla_int (l, "largest", 1) == 0 || k < 0 || k > type->dims[type->rank - 1] || l->n_out != 2)
    {
      gantry_xla_refuse (l, "the %" G_GINT64_FORMAT " largest of a rank of %u", k, type->rank);
      return;
    }
  values[0] = x;
  values[1] = gantry_builder_iota (l->b, GANTRY_I32, type->rank, type->dims, type->rank - 1);
  if (gantry_element_is_float (type->element))
    key = gantry_xla_total_order (l, x);
  sort_by (l, key, values, 2, (gint64) type->rank - 1, TRUE, sorted);
  for (guint i = 0; i < 2; i++)
    l->out[i] = gantry_builder_slice_axis (l->b, sorted[i], type->rank - 1, 0, k, 1);
}

const XlaRule gantry_xla_sort_rules[] = {
  { "sort", sort, GANTRY_CLASS_OTHER, XLA_TAKES (1, 0) | XLA_OR_MORE, 0 },
  { "top_k", top_k, GANTRY_CLASS_OTHER, XLA_TAKES (1, 2) | XLA_OR_MORE, 0 },
  { "topk", top_k, GANTRY_CLASS_OTHER, XLA_TAKES (1, 2) | XLA_OR_MORE, 0 },
  { NULL, NULL, 0, 0, 0 },
};
