/* SPDX-License-Identifier: Apache-2.0 */
/* Type rules of the operations that read positions from a tensor: gather, scatter and the dynamic slices. Names and
 * constraints follow the StableHLO specification. */
#include "core/graph/operation-private.h"
#include "core/base/integers.h"
#include <string.h>

static gboolean
check_starts (const GantryTypeQuery *query, guint first, guint rank, GError **error)
{
  if (query->n_operands != first + rank)
    return _gantry_infer_fail (query, error, "an operand of rank %u needs %u starts, not %u", rank, rank, query->n_operands - MIN (first, query->n_operands));
  for (guint i = first; i < query->n_operands; i++)
    {
      const GantryType *type = _gantry_infer_tensor (query, i, error);

      if (type == NULL)
        return FALSE;
      if (type->rank != 0 || !gantry_element_is_integer (type->element))
        return _gantry_infer_fail (query, error, "the start (operand %u) must be an integer scalar, not %s", i, _gantry_infer_text (query, i));
    }
  return TRUE;
}

/* Checks slice_sizes against the operand. */
static gboolean
check_sizes (const GantryTypeQuery *query, const GantryType *type, const gint64 **sizes, GError **error)
{
  gsize n;

  if (!_gantry_infer_ints (query, "slice_sizes", type->rank, TRUE, sizes, &n, error))
    return FALSE;
  for (guint i = 0; i < type->rank; i++)
    if ((*sizes)[i] < 0 || (GANTRY_DIM_IS_STATIC (type->dims[i]) && (*sizes)[i] > type->dims[i]))
      return _gantry_infer_fail (query, error, "slice_sizes: %" G_GINT64_FORMAT " does not fit dimension %u of size %s", (*sizes)[i], i,
                                 _gantry_dim_text (query->context, type->dims[i]));
  return TRUE;
}

guint32
_gantry_infer_dynamic_slice (const GantryTypeQuery *query, GError **error)
{
  const GantryType *type = _gantry_infer_tensor (query, 0, error);
  const gint64 *sizes;

  if (type == NULL || !check_starts (query, 1, type->rank, error) || !check_sizes (query, type, &sizes, error))
    return 0;
  return _gantry_infer_make (query, type->element, type->rank, sizes, error);
}

guint32
_gantry_infer_dynamic_update_slice (const GantryTypeQuery *query, GError **error)
{
  const GantryType *type = _gantry_infer_tensor (query, 0, error);
  const GantryType *update = type != NULL ? _gantry_infer_tensor (query, 1, error) : NULL;

  if (update == NULL)
    return 0;
  if (update->element != type->element || update->rank != type->rank)
    return _gantry_infer_fail (query, error, "the update is %s, but must have the elements and rank of %s", _gantry_infer_text (query, 1),
                               _gantry_infer_text (query, 0));
  for (guint i = 0; i < type->rank; i++)
    if (GANTRY_DIM_IS_STATIC (type->dims[i]) && update->dims[i] > type->dims[i])
      return _gantry_infer_fail (query, error, "dimension %u of the update is %s, larger than that of the operand, %s", i,
                                 _gantry_dim_text (query->context, update->dims[i]), _gantry_dim_text (query->context, type->dims[i]));
  if (!check_starts (query, 2, type->rank, error))
    return 0;
  return _gantry_infer_make (query, type->element, type->rank, type->dims, error);
}

/* The names of one dimension list each in gather and in scatter, which is its transpose. */
typedef struct
{
  const char *window, *collapsed, *operand_batching, *indices_batching, *index_map;
} Names;

static const Names gather_names = { "offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims", "start_index_map" };
static const Names scatter_names = { "update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims",
                                     "scatter_dims_to_operand_dims" };

typedef struct
{
  const gint64 *window, *collapsed, *operand_batching, *indices_batching, *index_map;
  gsize n_window, n_collapsed, n_operand_batching, n_indices_batching, n_index_map;
  gint64 vector; /* index_vector_dim */
  guint n_batch; /* dimensions of the indices without that of the vector */
  GantryDim batch[GANTRY_MAX_RANK];
} Numbers;

static gboolean
read_lists (const GantryTypeQuery *query, const Names *names, guint rank, guint indices_rank, guint windowed_rank, Numbers *n, GError **error)
{
  return _gantry_infer_dimensions (query, names->window, windowed_rank, TRUE, FALSE, &n->window, &n->n_window, error)
         && _gantry_infer_dimensions (query, names->collapsed, rank, TRUE, FALSE, &n->collapsed, &n->n_collapsed, error)
         && _gantry_infer_dimensions (query, names->operand_batching, rank, TRUE, FALSE, &n->operand_batching, &n->n_operand_batching, error)
         && _gantry_infer_dimensions (query, names->indices_batching, indices_rank, FALSE, FALSE, &n->indices_batching, &n->n_indices_batching, error)
         && _gantry_infer_dimensions (query, names->index_map, rank, FALSE, FALSE, &n->index_map, &n->n_index_map, error);
}

/* The dimension numbers that gather and scatter share, checked against the operand and the indices. */
static gboolean
read_numbers (const GantryTypeQuery *query, const Names *names, const GantryType *type, const GantryType *indices, Numbers *n, GError **error)
{
  GantryDim length;
  guint32 removed = 0;

  if (!gantry_element_is_integer (indices->element))
    return _gantry_infer_fail (query, error, "the indices (operand 1) must be integers, not %s", gantry_element_name (indices->element));
  n->vector = gantry_attrs_int (query->context, query->attrs, "index_vector_dim", 0);
  if (n->vector < 0 || n->vector > indices->rank)
    return _gantry_infer_fail (query, error, "index_vector_dim is %" G_GINT64_FORMAT ", but the indices have rank %u", n->vector, indices->rank);
  length = n->vector == indices->rank ? 1 : indices->dims[n->vector];
  if (GANTRY_DIM_IS_STATIC (length) && (gsize) length != n->n_index_map)
    return _gantry_infer_fail (query, error, "%s has %u entries, but an index vector has %s", names->index_map, (guint) n->n_index_map,
                               _gantry_dim_text (query->context, length));
  if (n->n_operand_batching != n->n_indices_batching)
    return _gantry_infer_fail (query, error, "%s has %u entries, %s has %u", names->operand_batching, (guint) n->n_operand_batching, names->indices_batching,
                               (guint) n->n_indices_batching);
  for (guint i = 0; i < n->n_collapsed; i++)
    removed |= 1u << n->collapsed[i];
  for (guint i = 0; i < n->n_operand_batching; i++)
    {
      GantryDim merged;

      if (removed & (1u << n->operand_batching[i]))
        return _gantry_infer_fail (query, error, "%s and %s both name dimension %" G_GINT64_FORMAT, names->collapsed, names->operand_batching,
                                   n->operand_batching[i]);
      if (n->indices_batching[i] == n->vector)
        return _gantry_infer_fail (query, error, "%s names index_vector_dim", names->indices_batching);
      if (!_gantry_dim_merge (type->dims[n->operand_batching[i]], indices->dims[n->indices_batching[i]], &merged))
        return _gantry_infer_fail (query, error,
                                   "batching dimension %" G_GINT64_FORMAT " of the operand is %s, of the "
                                   "indices %s",
                                   n->operand_batching[i], _gantry_dim_text (query->context, type->dims[n->operand_batching[i]]),
                                   _gantry_dim_text (query->context, indices->dims[n->indices_batching[i]]));
    }
  for (guint i = 0; i < n->n_index_map; i++)
    for (guint j = 0; j < n->n_operand_batching; j++)
      if (n->index_map[i] == n->operand_batching[j])
        return _gantry_infer_fail (query, error, "%s and %s both name dimension %" G_GINT64_FORMAT, names->index_map, names->operand_batching, n->index_map[i]);
  n->n_batch = 0;
  for (guint i = 0; i < indices->rank; i++)
    if (i != n->vector)
      n->batch[n->n_batch++] = indices->dims[i];
  return TRUE;
}

/* Puts batch dimensions and window dimensions into their places. */
static void
interleave (const Numbers *n, guint rank, const GantryDim *window, GantryDim *dims)
{
  guint w = 0, b = 0;

  for (guint i = 0; i < rank; i++)
    dims[i] = gantry_ints_contain (n->window, n->n_window, i) ? window[w++] : n->batch[b++];
}

guint32
_gantry_infer_gather (const GantryTypeQuery *query, GError **error)
{
  const GantryType *type = _gantry_infer_tensor (query, 0, error);
  const GantryType *indices = type != NULL ? _gantry_infer_tensor (query, 1, error) : NULL;
  GantryDim dims[GANTRY_MAX_RANK], window[GANTRY_MAX_RANK];
  Numbers n;
  const gint64 *sizes;
  guint n_window = 0, rank;

  /* The rank of the result follows from the lists, so offset_dims is checked against the limit first. */
  if (indices == NULL || !read_lists (query, &gather_names, type->rank, indices->rank, GANTRY_MAX_RANK, &n, error)
      || !read_numbers (query, &gather_names, type, indices, &n, error) || !check_sizes (query, type, &sizes, error))
    return 0;
  for (guint i = 0; i < type->rank; i++)
    {
      gboolean removed = gantry_ints_contain (n.collapsed, n.n_collapsed, i) || gantry_ints_contain (n.operand_batching, n.n_operand_batching, i);

      if (removed && sizes[i] > 1)
        return _gantry_infer_fail (query, error, "dimension %u is removed, but its slice size is %" G_GINT64_FORMAT, i, sizes[i]);
      if (!removed)
        window[n_window++] = sizes[i];
    }
  if (n_window != n.n_window)
    return _gantry_infer_fail (query, error, "offset_dims has %u entries, but slices keep %u dimensions", (guint) n.n_window, n_window);
  rank = n_window + n.n_batch;
  if (rank > GANTRY_MAX_RANK || (n.n_window > 0 && n.window[n.n_window - 1] >= rank))
    return _gantry_infer_fail (query, error, "offset_dims do not fit a result of rank %u", rank);
  interleave (&n, rank, window, dims);
  return _gantry_infer_make (query, type->element, rank, dims, error);
}

guint32
_gantry_infer_scatter (const GantryTypeQuery *query, GError **error)
{
  const GantryType *type = _gantry_infer_tensor (query, 0, error);
  const GantryType *indices = type != NULL ? _gantry_infer_tensor (query, 1, error) : NULL;
  const GantryType *updates = indices != NULL ? _gantry_infer_tensor (query, 2, error) : NULL;
  static const char *const kinds[] = { "set", "add", "mul", "max", "min", NULL };
  const char *kind = gantry_attrs_string (query->context, query->attrs, "kind", NULL);
  GantryDim dims[GANTRY_MAX_RANK], window[GANTRY_MAX_RANK], merged;
  Numbers n;
  guint n_window = 0;

  if (updates == NULL || !read_lists (query, &scatter_names, type->rank, indices->rank, updates->rank, &n, error)
      || !read_numbers (query, &scatter_names, type, indices, &n, error))
    return 0;
  if (kind == NULL || !g_strv_contains (kinds, kind))
    return _gantry_infer_fail (query, error, "attribute kind must be set, add, mul, max or min");
  if (updates->element != type->element)
    return _gantry_infer_fail (query, error, "the updates have elements of type %s, the input of %s", gantry_element_name (updates->element),
                               gantry_element_name (type->element));
  for (guint i = 0; i < type->rank; i++)
    if (!gantry_ints_contain (n.collapsed, n.n_collapsed, i) && !gantry_ints_contain (n.operand_batching, n.n_operand_batching, i))
      window[n_window++] = type->dims[i];
  if (n_window != n.n_window || n_window + n.n_batch != updates->rank)
    return _gantry_infer_fail (query, error,
                               "updates of rank %u do not fit: update windows have %u dimensions, "
                               "update_window_dims names %u, indices give %u",
                               updates->rank, n_window, (guint) n.n_window, n.n_batch);
  interleave (&n, updates->rank, window, dims);
  for (guint i = 0; i < updates->rank; i++)
    {
      gboolean in_window = gantry_ints_contain (n.window, n.n_window, i);
      gboolean is_static = GANTRY_DIM_IS_STATIC (updates->dims[i]) && GANTRY_DIM_IS_STATIC (dims[i]);

      if (in_window ? is_static && updates->dims[i] > dims[i] : !_gantry_dim_merge (updates->dims[i], dims[i], &merged))
        return _gantry_infer_fail (query, error, "dimension %u of the updates is %s where %s %s is needed", i,
                                   _gantry_dim_text (query->context, updates->dims[i]), in_window ? "at most" : "just",
                                   _gantry_dim_text (query->context, dims[i]));
    }
  return _gantry_infer_make (query, type->element, type->rank, type->dims, error);
}
