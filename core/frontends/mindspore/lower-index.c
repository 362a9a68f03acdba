/* SPDX-License-Identifier: Apache-2.0 */
/* Elements at computed positions. */
#include "core/frontends/mindspore/lower-private.h"

/* A row of zeros stands for indices outside, as on the processor. */
static void
gather (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x"), indices = gantry_mind_need (l, "indices");
  gint64 axis = gantry_mind_axis (l, gantry_mind_int (l, "axis", 0), gantry_mind_rank (l, x));

  if (gantry_mind_int (l, "batch_dims", 0) != 0)
    gantry_mind_refuse (l, "dimensions that are batches are not supported");
  else
    l->out[0] = gantry_builder_take (l->b, x, axis, gantry_builder_wrap_indices (l->b, indices, gantry_mind_dim (l, x, axis)));
}

/* The last dimension of the indices is a place in the first dimensions of x. */
static void
gather_nd (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x"), indices = gantry_mind_need (l, "indices");
  guint rank = gantry_mind_rank (l, x), n = gantry_mind_rank (l, indices);
  gint64 k = gantry_mind_dim (l, indices, (gint64) n - 1), map[GANTRY_MAX_RANK], offsets[GANTRY_MAX_RANK], sizes[GANTRY_MAX_RANK];
  GantryAttrList *attrs;

  if (n < 1 || k > rank || n - 1 + rank - k > GANTRY_MAX_RANK)
    {
      gantry_mind_refuse (l, "places of %" G_GINT64_FORMAT " numbers in %u dimensions", k, rank);
      return;
    }
  for (gint64 i = 0; i < rank; i++)
    {
      map[i] = i;
      sizes[i] = i < k ? 1 : gantry_mind_dim (l, x, i);
      if (i >= k)
        offsets[i - k] = n - 1 + i - k;
    }
  attrs = gantry_attr_list_new (l->context);
  gantry_attr_list_set_ints (attrs, "offset_dims", offsets, rank - (gsize) k);
  gantry_attr_list_set_ints (attrs, "collapsed_slice_dims", map, (gsize) k);
  gantry_attr_list_set_ints (attrs, "start_index_map", map, (gsize) k);
  gantry_attr_list_set_int (attrs, "index_vector_dim", n - 1);
  gantry_attr_list_set_ints (attrs, "slice_sizes", sizes, rank);
  l->out[0] = gantry_mind_add (l, GANTRY_OP_GATHER, attrs, 2, x, gantry_builder_convert (l->b, indices, GANTRY_I64));
}

/* Of each position of the indices the element there, but for one axis: all places, one number of each a dimension. */
static void
gather_elements (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x"), indices = gantry_mind_need (l, "indices"), vectors[GANTRY_MAX_RANK], places;
  guint rank = gantry_mind_rank (l, x);
  const GantryType *type = gantry_mind_type (l, indices);
  gint64 axis = gantry_mind_axis (l, gantry_mind_int (l, "dim", 0), rank), map[GANTRY_MAX_RANK], sizes[GANTRY_MAX_RANK];
  GantryDim dims[GANTRY_MAX_RANK + 1];
  GantryAttrList *attrs;

  if (rank == 0 || type->rank != rank || rank >= GANTRY_MAX_RANK)
    {
      gantry_mind_refuse (l, "indices of %u dimensions in %u", type->rank, rank);
      return;
    }
  memcpy (dims, type->dims, sizeof *dims * rank);
  dims[rank] = 1;
  indices = gantry_builder_wrap_indices (l->b, indices, gantry_mind_dim (l, x, axis));
  for (guint i = 0; i < rank; i++)
    {
      map[i] = i;
      sizes[i] = 1;
      vectors[i] = gantry_builder_reshape (l->b, i == axis ? indices : gantry_builder_iota (l->b, GANTRY_I64, rank, dims, i), rank + 1, dims);
    }
  places = gantry_builder_concatenate (l->b, vectors, rank, rank);
  attrs = gantry_attr_list_new (l->context);
  gantry_attr_list_set_ints (attrs, "collapsed_slice_dims", map, rank);
  gantry_attr_list_set_ints (attrs, "start_index_map", map, rank);
  gantry_attr_list_set_int (attrs, "index_vector_dim", rank);
  gantry_attr_list_set_ints (attrs, "slice_sizes", sizes, rank);
  l->out[0] = gantry_mind_add (l, GANTRY_OP_GATHER, attrs, 2, x, places);
}

static void
one_hot (MindLower *l)
{
  guint32 indices = gantry_mind_need (l, "indices"), on = gantry_mind_in (l, "on"), off = gantry_mind_in (l, "off"), hit;
  guint rank = gantry_mind_rank (l, indices);
  gint64 axis = gantry_mind_axis (l, gantry_mind_int (l, "axis", -1), rank + 1), depth = gantry_mind_int (l, "depth", -1);
  GantryDim dims[GANTRY_MAX_RANK + 1], narrow[GANTRY_MAX_RANK + 1];
  GantryElementType element = gantry_mind_result_element (l, on);

  if (depth < 0 || rank >= GANTRY_MAX_RANK)
    {
      gantry_mind_refuse (l, "its depth is not known");
      return;
    }
  for (guint i = 0, k = 0; i <= rank; i++)
    {
      narrow[i] = i == axis ? 1 : gantry_mind_dim (l, indices, k++);
      dims[i] = i == axis ? depth : narrow[i];
    }
  indices = gantry_builder_reshape (l->b, gantry_builder_convert (l->b, indices, GANTRY_I64), rank + 1, narrow);
  hit = gantry_builder_compare (l->b, "EQ", gantry_builder_iota (l->b, GANTRY_I64, rank + 1, dims, axis), indices);
  on = on != 0 ? gantry_builder_convert (l->b, on, element) : gantry_builder_scalar (l->b, element, 1);
  off = off != 0 ? gantry_builder_convert (l->b, off, element) : gantry_builder_scalar (l->b, element, 0);
  l->out[0] = gantry_builder_select (l->b, hit, on, off);
}

/* The largest along an axis with their positions. */
static void
top (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x"), at, sorted;
  const GantryType *type = gantry_mind_type (l, x);
  gint64 axis = gantry_mind_axis (l, gantry_mind_int (l, "axis", -1), gantry_mind_rank (l, x)), n = gantry_mind_dim (l, x, axis),
         k = l->rule->arg == 'k' ? gantry_mind_int (l, "k", -1) : n;
  GantryAttrList *attrs;

  if (x == 0 || type->rank == 0 || k < 0 || k > n)
    {
      gantry_mind_refuse (l, "the number of elements is not known, or more than there are");
      return;
    }
  at = gantry_builder_iota (l->b, GANTRY_I32, type->rank, type->dims, axis);
  attrs = gantry_attr_list_new (l->context);
  gantry_attr_list_set_int (attrs, "dimension", axis);
  gantry_attr_list_set_int (attrs, "descending", l->rule->arg == 'k' ? gantry_mind_int (l, "largest", 1) : gantry_mind_int (l, "descending", 0));
  gantry_attr_list_set_int (attrs, "stable", 1);
  sorted = gantry_mind_add (l, GANTRY_OP_SORT, attrs, 2, x, at);
  for (guint i = 0; i < MIN (l->n_out, 2); i++)
    l->out[i] = gantry_builder_slice_axis (l->b, gantry_builder_result (l->b, sorted, i), axis, 0, k, 1);
}

/* clang-format off */
#define G(name, arguments, function, arg) { name, arguments, function, GANTRY_CLASS_MOVEMENT, arg, NULL }

const MindRule gantry_mind_index_rules[] = {
  G ("Gather", "x indices axis batch_dims", gather, 0), G ("GatherV2", "x indices axis", gather, 0),
  G ("IndexSelect", "x axis indices", gather, 0), G ("Embedding", "indices x", gather, 0),
  G ("EmbeddingLookup", "x indices", gather, 0), G ("GatherNd", "x indices", gather_nd, 0),
  G ("GatherD", "x dim indices", gather_elements, 0), G ("OneHot", "indices depth on off axis", one_hot, 0),
  { "TopK", "x k", top, GANTRY_CLASS_OTHER, 'k', NULL }, { "TopkExt", "x k axis largest sorted", top, GANTRY_CLASS_OTHER, 'k', NULL },
  { "Sort", "x axis descending", top, GANTRY_CLASS_OTHER, 's', NULL },
  { "SortExt", "x axis descending stable", top, GANTRY_CLASS_OTHER, 's', NULL },
  { NULL },
};
/* clang-format on */
