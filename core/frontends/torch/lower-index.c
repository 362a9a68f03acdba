/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing at computed indices. Indices below 0 count from the end; one outside is an error in torch and is
 * clamped here, as the core gather does. */
#include "core/frontends/torch/lower-private.h"

static void
index_select (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self"), indices = gantry_aten_need (l, "index");
  gint64 axis = gantry_aten_axis (l, gantry_aten_int (l, "dim", 0), gantry_aten_rank (l, x));
  const GantryType *type = gantry_aten_declared (l, 0);

  x = gantry_builder_take (l->b, x, axis, gantry_builder_wrap_indices (l->b, indices, gantry_aten_dim (l, x, axis)));
  l->out[0] = gantry_builder_reshape (l->b, x, type->rank, type->dims);
}

/* The row at @padding is not trained. */
static guint32
without_gradient_at (AtenLower *l, guint32 rows, guint32 indices, gint64 padding)
{
  const GantryType *type = gantry_builder_get_type (l->b, rows);
  guint32 is_padding = gantry_builder_compare (l->b, "EQ", indices, gantry_builder_like (l->b, indices, (double) padding));
  gint64 where[GANTRY_MAX_RANK];

  for (guint i = 0; i < gantry_aten_rank (l, indices); i++)
    where[i] = i;
  is_padding = gantry_builder_broadcast (l->b, is_padding, type->rank, type->dims, where);
  return gantry_builder_select (l->b, is_padding, gantry_aten_detached (l, rows), rows);
}

static void
embedding (AtenLower *l)
{
  gint64 padding = gantry_aten_int (l, "padding_idx", -1);
  guint32 indices = gantry_builder_convert (l->b, gantry_aten_need (l, "indices"), GANTRY_I64);

  if (gantry_aten_int (l, "scale_grad_by_freq", 0) != 0)
    gantry_aten_refuse (l, "gradients that are divided by how often a row is taken (scale_grad_by_freq)");
  l->out[0] = gantry_builder_take (l->b, gantry_aten_need (l, "weight"), 0, indices);
  if (padding >= 0 && !l->failed)
    l->out[0] = without_gradient_at (l, l->out[0], indices, padding);
}

/* Every other axis is a batching dimension. */
guint32
gantry_aten_gather (AtenLower *l, guint32 x, guint32 indices, gint64 axis)
{
  guint rank = gantry_aten_rank (l, x), n = 0;
  gint64 sizes[GANTRY_MAX_RANK], batch[GANTRY_MAX_RANK];
  GantryAttrList *attrs;

  if (rank == 0 || gantry_aten_rank (l, indices) != rank)
    {
      gantry_aten_refuse (l, "indices of %u dimensions for %u", gantry_aten_rank (l, indices), rank);
      return 0;
    }
  indices = gantry_builder_wrap_indices (l->b, indices, gantry_aten_dim (l, x, axis));
  for (guint i = 0; i < rank; i++)
    {
      sizes[i] = 1;
      if (i == axis)
        continue;
      batch[n++] = i;
      x = gantry_builder_slice_axis (l->b, x, i, 0, MIN (gantry_aten_dim (l, indices, i), gantry_aten_dim (l, x, i)), 1);
    }
  attrs = gantry_attr_list_new (l->context);
  gantry_attr_list_set_ints (attrs, "offset_dims", sizes, 0);
  gantry_attr_list_set_ints (attrs, "collapsed_slice_dims", &axis, 1);
  if (n > 0)
    {
      gantry_attr_list_set_ints (attrs, "operand_batching_dims", batch, n);
      gantry_attr_list_set_ints (attrs, "start_indices_batching_dims", batch, n);
    }
  gantry_attr_list_set_ints (attrs, "start_index_map", &axis, 1);
  gantry_attr_list_set_int (attrs, "index_vector_dim", rank);
  gantry_attr_list_set_ints (attrs, "slice_sizes", sizes, rank);
  return gantry_aten_add (l, GANTRY_OP_GATHER, attrs, 2, x, indices);
}

static void
gather (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self");

  l->out[0] = gantry_aten_gather (l, x, gantry_aten_need (l, "index"), gantry_aten_axis (l, gantry_aten_int (l, "dim", 0), gantry_aten_rank (l, x)));
}

/* Several axes indexed at once */

typedef struct
{
  guint n; /* indexed axes */
  gint64 axes[GANTRY_MAX_RANK];
  gboolean adjacent;
  guint rank; /* of the indices, broadcast */
  GantryDim dims[GANTRY_MAX_RANK + 1];
  guint32 vectors; /* i64[dims..., n] */
} Indices;

/* Broadcasts the index tensors of argument "indices" to one shape and stacks them. */
static gboolean
read_indices (AtenLower *l, guint32 x, Indices *s)
{
  guint n = gantry_aten_list_length (l, "indices"), rank = gantry_aten_rank (l, x);
  guint32 parts[GANTRY_MAX_RANK], sum = 0;

  *s = (Indices){ .adjacent = TRUE };
  for (guint i = 0; i < MIN (n, rank); i++)
    {
      guint32 indices = gantry_aten_in_list (l, "indices", i);

      if (indices == 0)
        continue;
      if (!gantry_element_is_integer (gantry_aten_element (l, indices)))
        {
          gantry_aten_refuse (l, "indexing by a mask: how many elements it gives is known when it runs");
          return FALSE;
        }
      s->adjacent = s->adjacent && (s->n == 0 || s->axes[s->n - 1] == (gint64) i - 1);
      s->axes[s->n] = i;
      parts[s->n] = gantry_builder_wrap_indices (l->b, indices, gantry_aten_dim (l, x, i));
      sum = s->n == 0 ? parts[0] : gantry_builder_binary_broadcast (l->b, GANTRY_OP_ADD, sum, parts[s->n]);
      s->n++;
    }
  s->rank = gantry_aten_rank (l, sum);
  if (s->n == 0 || n > rank || s->rank >= GANTRY_MAX_RANK)
    {
      gantry_aten_refuse (l, "the indices do not fit %u dimensions", rank);
      return FALSE;
    }
  for (guint i = 0; i < s->rank; i++)
    s->dims[i] = gantry_aten_dim (l, sum, i);
  for (guint i = 0; i < s->n && !l->failed; i++)
    {
      parts[i] = parts[i] != 0 ? gantry_builder_broadcast_to (l->b, parts[i], s->rank, s->dims) : 0;
      s->dims[s->rank] = 1;
      parts[i] = gantry_builder_reshape (l->b, parts[i], s->rank + 1, s->dims);
    }
  if (!l->failed)
    s->vectors = s->n == 1 ? parts[0] : gantry_builder_concatenate (l->b, parts, s->n, s->rank);
  return s->vectors != 0;
}

/* Indexed axes first, the others behind in their order. */
static void
indexed_first (const Indices *s, guint rank, gint64 *order)
{
  guint n = s->n;

  memcpy (order, s->axes, sizeof *order * s->n);
  for (guint i = 0; i < rank; i++)
    {
      gboolean indexed = FALSE;

      for (guint k = 0; k < s->n; k++)
        indexed = indexed || s->axes[k] == i;
      if (!indexed)
        order[n++] = i;
    }
}

/* Of adjacent indexed axes the dimensions of the indices stand where those were, else in front. */
static void
place_of_indices (const Indices *s, guint result_rank, gint64 *order)
{
  gint64 first = s->adjacent ? s->axes[0] : 0;

  for (gint64 i = 0; i < result_rank; i++)
    order[i] = i < first ? s->rank + i : i < first + s->rank ? i - first : i;
}

static void
index_tensor (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self");
  guint rank = gantry_aten_rank (l, x), result_rank;
  gint64 order[GANTRY_MAX_RANK], sizes[GANTRY_MAX_RANK], map[GANTRY_MAX_RANK], offsets[GANTRY_MAX_RANK];
  GantryAttrList *attrs;
  Indices s;

  if (!read_indices (l, x, &s))
    return;
  result_rank = s.rank + rank - s.n;
  if (result_rank > GANTRY_MAX_RANK)
    {
      gantry_aten_refuse (l, "a result of %u dimensions", result_rank);
      return;
    }
  indexed_first (&s, rank, order);
  x = gantry_builder_transpose (l->b, x, order);
  for (guint i = 0; i < rank; i++)
    {
      sizes[i] = i < s.n ? 1 : gantry_aten_dim (l, x, i);
      map[i] = i;
      offsets[i] = s.rank + i;
    }
  attrs = gantry_attr_list_new (l->context);
  gantry_attr_list_set_ints (attrs, "offset_dims", offsets, rank - s.n);
  gantry_attr_list_set_ints (attrs, "collapsed_slice_dims", map, s.n);
  gantry_attr_list_set_ints (attrs, "start_index_map", map, s.n);
  gantry_attr_list_set_int (attrs, "index_vector_dim", s.rank);
  gantry_attr_list_set_ints (attrs, "slice_sizes", sizes, rank);
  place_of_indices (&s, result_rank, order);
  l->out[0] = gantry_builder_transpose (l->b, gantry_aten_add (l, GANTRY_OP_GATHER, attrs, 2, x, s.vectors), order);
}

/* x[..., indices, ...] = values, or += */
static void
index_put (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self"), values = gantry_builder_convert (l->b, gantry_aten_need (l, "values"), gantry_aten_element (l, x));
  guint rank = gantry_aten_rank (l, x), n;
  gint64 order[GANTRY_MAX_RANK], back[GANTRY_MAX_RANK];
  GantryDim dims[GANTRY_MAX_RANK], placed[GANTRY_MAX_RANK];
  Indices s;

  if (values == 0 || !read_indices (l, x, &s))
    return;
  n = s.rank + rank - s.n;
  indexed_first (&s, rank, order);
  for (guint i = 0; i < rank; i++)
    back[order[i]] = i;
  x = gantry_builder_transpose (l->b, x, order);
  for (guint i = 0; i < n && n <= GANTRY_MAX_RANK; i++)
    dims[i] = i < s.rank ? s.dims[i] : gantry_aten_dim (l, x, s.n + i - s.rank);
  if (n > GANTRY_MAX_RANK || l->failed)
    return;
  place_of_indices (&s, n, order);
  for (guint i = 0; i < n; i++)
    placed[i] = dims[order[i]];
  values = gantry_builder_broadcast_to (l->b, values, n, placed);
  for (guint i = 0; i < n; i++)
    placed[order[i]] = i;
  values = gantry_builder_transpose (l->b, values, placed);
  x = gantry_builder_scatter_vectors (l->b, x, s.vectors, values, gantry_aten_int (l, "accumulate", 0) != 0 ? "add" : "set");
  l->out[0] = gantry_builder_transpose (l->b, x, back);
}

/* One number at the given positions of an axis. */
static void
index_fill (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self"), indices = gantry_aten_need (l, "index"), value = gantry_aten_in (l, "value"), hit;
  gint64 axis = gantry_aten_axis (l, gantry_aten_int (l, "dim", 0), gantry_aten_rank (l, x)), last = 1;
  GantryDim n = gantry_aten_dim (l, x, axis);

  indices = gantry_builder_wrap_indices (l->b, indices, n);
  hit = gantry_builder_compare (l->b, "EQ", gantry_builder_along (l->b, gantry_aten_iota (l, 1, &n, 0), 2, 0), gantry_builder_along (l->b, indices, 2, 1));
  hit = gantry_builder_along (l->b, gantry_builder_reduce_axes (l->b, "or", hit, &last, 1, FALSE), gantry_aten_rank (l, x), axis);
  value = value != 0 ? gantry_builder_convert (l->b, value, gantry_aten_element (l, x)) : gantry_builder_like (l->b, x, gantry_aten_number (l, "value", 0));
  l->out[0] = gantry_builder_select (l->b, hit, value, x);
}

/* Sorted values and their positions along an axis; of topk the first k. */
static void
sort (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self"), pair, parts[2];
  guint rank = gantry_aten_rank (l, x);
  gint64 axis = gantry_aten_axis (l, gantry_aten_int (l, "dim", strcmp (l->rule->name, "msort") == 0 ? 0 : -1), rank),
         k = gantry_aten_int (l, "k", gantry_aten_dim (l, x, axis));
  gboolean top = l->rule->text != NULL;
  GantryAttrList *attrs;

  if (rank == 0 || k < 0 || k > gantry_aten_dim (l, x, axis))
    {
      gantry_aten_refuse (l, "%" G_GINT64_FORMAT " elements of a tensor of %u dimensions", k, rank);
      return;
    }
  attrs = gantry_attr_list_new (l->context);
  gantry_attr_list_set_int (attrs, "dimension", axis);
  gantry_attr_list_set_int (attrs, "descending", top ? gantry_aten_int (l, "largest", 1) : gantry_aten_int (l, "descending", 0));
  gantry_attr_list_set_int (attrs, "stable", 1);
  pair = gantry_aten_add (l, GANTRY_OP_SORT, attrs, 2, x, gantry_aten_iota (l, rank, gantry_aten_type (l, x)->dims, axis));
  for (guint i = 0; i < 2 && pair != 0; i++)
    parts[i] = gantry_builder_slice_axis (l->b, gantry_builder_result (l->b, pair, i), axis, 0, k, 1);
  if (pair == 0)
    return;
  l->out[0] = l->rule->arg ? parts[1] : parts[0];
  if (l->n_out > 1)
    l->out[1] = parts[1];
}

/* clang-format off */
#define RULE(name, function) { name, function, GANTRY_CLASS_MOVEMENT, 0, NULL }

const AtenRule gantry_aten_index_rules[] = {
  RULE ("index_select", index_select), RULE ("embedding", embedding), RULE ("gather", gather), RULE ("index", index_tensor),
  RULE ("_unsafe_index", index_tensor), RULE ("index_put", index_put), RULE ("_unsafe_index_put", index_put),
  RULE ("index_fill", index_fill),
  { "sort", sort, GANTRY_CLASS_OTHER, 0, NULL }, { "topk", sort, GANTRY_CLASS_OTHER, 0, "top" },
  { "msort", sort, GANTRY_CLASS_OTHER, 0, NULL }, { "argsort", sort, GANTRY_CLASS_OTHER, TRUE, NULL },
  { NULL },
};
/* clang-format on */
