/* SPDX-License-Identifier: Apache-2.0 */
/* gather, scatter and dynamic slices. */
#include "core/frontends/xla/lower-private.h"

static void
copy_ints (XlaLower *l, GantryAttrList *attrs, const char *key)
{
  gsize n;
  const gint64 *values = gantry_xla_ints (l, key, &n);

  if (values != NULL)
    gantry_attr_list_set_ints (attrs, key, values, n);
}

static void
gather (XlaLower *l)
{
  static const char *const keys[] = { "offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims", "start_index_map" };
  guint32 x = gantry_xla_in (l, 0), indices = gantry_xla_in (l, 1);
  guint rank = gantry_xla_type (l, x)->rank;
  GantryAttrList *attrs;
  const gint64 *sizes;
  gsize n;

  if (l->rule->arg != 0)
    {
      sizes = gantry_xla_known_ints (l, gantry_xla_in (l, 2), &n);
      if (sizes == NULL || n != rank)
        {
          gantry_xla_refuse (l, "the sizes of the slices depend on data");
          return;
        }
    }
  else
    sizes = gantry_xla_ints_or (l, "slice_sizes", rank, 1);
  if (l->failed)
    return;
  attrs = gantry_xla_attrs (l);
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    copy_ints (l, attrs, keys[i]);
  gantry_attr_list_set_int (attrs, "index_vector_dim", gantry_xla_int (l, "index_vector_dim", 0));
  gantry_attr_list_set_ints (attrs, "slice_sizes", sizes, rank);
  l->out[0] = gantry_xla_add (l, GANTRY_OP_GATHER, attrs, 2, x, indices);
}

guint32
gantry_xla_scatter (XlaLower *l, const char *kind, guint32 x, guint32 indices, guint32 updates)
{
  static const char *const keys[] = { "update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims",
                                      "scatter_dims_to_operand_dims" };
  gboolean bools = gantry_xla_element (l, x) == GANTRY_BOOL && strcmp (kind, "set") != 0;
  GantryAttrList *attrs = gantry_xla_attrs (l);

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    copy_ints (l, attrs, keys[i]);
  gantry_attr_list_set_int (attrs, "index_vector_dim", gantry_xla_int (l, "index_vector_dim", 0));
  if (bools)
    {
      kind = strcmp (kind, "and") == 0 ? "min" : "max";
      x = gantry_xla_convert (l, x, GANTRY_U8);
      updates = gantry_xla_convert (l, updates, GANTRY_U8);
    }
  gantry_attr_list_set_string (attrs, "kind", kind);
  x = gantry_xla_add (l, GANTRY_OP_SCATTER, attrs, 3, x, indices, updates);
  return bools ? gantry_xla_convert (l, x, GANTRY_BOOL) : x;
}

static void
scatter (XlaLower *l)
{
  guint32 body = gantry_xla_region (l, 0);
  guint n = (l->n_in - 1) / 2;

  for (guint i = 0; i < n && !l->failed && l->n_in == 2 * n + 1 && i < l->n_out; i++)
    {
      const char *kind = gantry_xla_body_kind (l, body, i, n);
      gboolean bools = gantry_xla_element (l, l->in[i]) == GANTRY_BOOL;

      if (kind == NULL || (!bools && (strcmp (kind, "and") == 0 || strcmp (kind, "or") == 0)))
        gantry_xla_refuse (l, "its update computation is no assignment, sum, product, maximum or minimum");
      else
        l->out[i] = gantry_xla_scatter (l, kind, l->in[i], l->in[n], l->in[n + 1 + i]);
    }
}

static void
dynamic_slice (XlaLower *l)
{
  guint rank = gantry_xla_type (l, gantry_xla_in (l, 0))->rank;
  GantryAttrList *attrs = gantry_xla_attrs (l);

  gantry_attr_list_set_ints (attrs, "slice_sizes", gantry_xla_ints_or (l, "slice_sizes", rank, 1), rank);
  l->out[0] = gantry_builder_add (l->b, GANTRY_OP_DYNAMIC_SLICE, l->in, l->n_in, gantry_attr_list_end (attrs));
}

static void
dynamic_update_slice (XlaLower *l)
{
  l->out[0] = gantry_builder_add (l->b, GANTRY_OP_DYNAMIC_UPDATE_SLICE, l->in, l->n_in, 0);
}

/* torch_index_select: along one dimension. */
static void
torch_index_select (XlaLower *l)
{
  if (gantry_xla_int (l, "batch_dims", 0) != 0)
    gantry_xla_refuse (l, "with batch dimensions");
  else
    l->out[0] = gantry_builder_take (l->b, gantry_xla_in (l, 0), gantry_xla_int (l, "dim", 0), gantry_xla_in (l, 1));
}

const XlaRule gantry_xla_gather_rules[] = {
  { "gather", gather, GANTRY_CLASS_MOVEMENT, XLA_TAKES (2, 1), 0 },
  { "dynamic_gather", gather, GANTRY_CLASS_MOVEMENT, XLA_TAKES (3, 1), 1 },
  { "scatter", scatter, GANTRY_CLASS_MOVEMENT, XLA_TAKES (3, 0) | XLA_OR_MORE, 0 },
  { "dynamic_slice", dynamic_slice, GANTRY_CLASS_MOVEMENT, XLA_TAKES (1, 1) | XLA_OR_MORE, 0 },
  { "dynamic_update_slice", dynamic_update_slice, GANTRY_CLASS_MOVEMENT, XLA_TAKES (2, 1) | XLA_OR_MORE, 0 },
  { "torch_index_select", torch_index_select, GANTRY_CLASS_MOVEMENT, XLA_TAKES (2, 1), 0 },
  { NULL, NULL, 0, 0, 0 },
};
