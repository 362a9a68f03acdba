/* SPDX-License-Identifier: Apache-2.0 */
/* Type rules of the operations that move elements without computing: shapes, slices, padding and concatenation. Those
 * that read positions from a tensor stand in op-infer-gather.c. */
#include "core/graph/operation-private.h"
#include <string.h>

/* Padding, strides and the like beyond this are refused, so that their sums and products cannot overflow. */
#define MAX_STEP (G_GINT64_CONSTANT (1) << 31)

/* Attribute `shape`: numbers (-1: unknown), or a type whose dimensions are meant, which may be symbols. */
static gboolean
read_shape (const GantryTypeQuery *query, guint *rank, GantryDim *dims, GError **error)
{
  const GantryAttr *attr = gantry_attrs_find (query->context, query->attrs, "shape");
  const GantryType *type;

  if (attr == NULL)
    return _gantry_infer_fail (query, error, "attribute shape is missing");
  if (attr->kind == GANTRY_ATTR_TYPE)
    {
      type = gantry_context_type (query->context, attr->id);
      if (type->kind != GANTRY_TYPE_TENSOR)
        return _gantry_infer_fail (query, error, "attribute shape must be the type of a tensor");
      *rank = type->rank;
      memcpy (dims, type->dims, sizeof (GantryDim) * type->rank);
      return TRUE;
    }
  if (attr->kind != GANTRY_ATTR_INTS)
    return _gantry_infer_fail (query, error, "attribute shape must be a list of integers or a type");
  if (attr->n > GANTRY_MAX_RANK)
    return _gantry_infer_fail (query, error, "shape has %" G_GUINT64_FORMAT " dimensions, the limit is %d", attr->n, GANTRY_MAX_RANK);
  for (guint i = 0; i < attr->n; i++)
    if (attr->ints[i] < GANTRY_DIM_UNKNOWN)
      return _gantry_infer_fail (query, error, "shape: dimension %u is %" G_GINT64_FORMAT "; a symbolic dimension needs shape as a type", i, attr->ints[i]);
    else
      dims[i] = attr->ints[i];
  *rank = (guint) attr->n;
  return TRUE;
}

guint32
_gantry_infer_iota (const GantryTypeQuery *query, GError **error)
{
  const GantryAttr *attr = gantry_attrs_find (query->context, query->attrs, "to");
  const GantryType *type;
  gint64 axis;

  if (attr == NULL || attr->kind != GANTRY_ATTR_TYPE)
    return _gantry_infer_fail (query, error, "attribute to must be the type of the result");
  type = gantry_context_type (query->context, attr->id);
  if (type->kind != GANTRY_TYPE_TENSOR)
    return _gantry_infer_fail (query, error, "attribute to must be the type of a tensor");
  if (!gantry_element_is_float (type->element) && !gantry_element_is_integer (type->element))
    return _gantry_infer_fail (query, error, "makes numbers, not %s", gantry_element_name (type->element));
  if (!_gantry_infer_axis (query, "iota_dimension", 0, type->rank, &axis, error))
    return 0;
  return _gantry_infer_make (query, type->element, type->rank, type->dims, error);
}

guint32
_gantry_infer_broadcast (const GantryTypeQuery *query, GError **error)
{
  const GantryType *type = _gantry_infer_tensor (query, 0, error);
  GantryDim dims[GANTRY_MAX_RANK];
  const gint64 *map;
  gsize n;
  guint rank;

  if (type == NULL || !read_shape (query, &rank, dims, error)
      || !_gantry_infer_dimensions (query, "broadcast_dimensions", rank, FALSE, type->rank > 0, &map, &n, error))
    return 0;
  if (n != type->rank)
    return _gantry_infer_fail (query, error, "broadcast_dimensions has %u entries for an operand of rank %u", (guint) n, type->rank);
  for (guint i = 0; i < n; i++)
    {
      GantryDim from = type->dims[i], *to = &dims[map[i]];

      if (from == 1)
        continue;
      /* An unknown or symbolic dimension may be 1, so it says nothing of the result unless that is unknown. */
      if (GANTRY_DIM_IS_STATIC (from) ? !_gantry_dim_merge (*to, from, to) : FALSE)
        return _gantry_infer_fail (query, error,
                                   "dimension %u of the operand is %s and cannot become dimension %" G_GINT64_FORMAT " of the result, which is %s", i,
                                   _gantry_dim_text (query->context, from), map[i], _gantry_dim_text (query->context, *to));
    }
  return _gantry_infer_make (query, type->element, rank, dims, error);
}

/* Finds the one unknown dimension of @dims from the number of elements of @type, where both are otherwise numbers. */
static void
complete_shape (const GantryType *type, guint rank, GantryDim *dims)
{
  gint64 elements = gantry_type_elements (type), known = 1;
  gint64 *unknown = NULL;

  for (guint i = 0; i < rank; i++)
    if (dims[i] == GANTRY_DIM_UNKNOWN && unknown == NULL)
      unknown = &dims[i];
    else if (dims[i] <= 0)
      return;
    else
      known = gantry_dim_multiply (known, dims[i]);
  if (unknown != NULL && elements >= 0 && elements % known == 0)
    *unknown = elements / known;
}

guint32
_gantry_infer_reshape (const GantryTypeQuery *query, GError **error)
{
  const GantryType *type = _gantry_infer_tensor (query, 0, error);
  GantryDim dims[GANTRY_MAX_RANK];
  const GantryType *result;
  guint rank;
  guint32 id;

  if (type == NULL || !read_shape (query, &rank, dims, error))
    return 0;
  complete_shape (type, rank, dims);
  id = _gantry_infer_make (query, type->element, rank, dims, error);
  if (id == 0)
    return 0;
  result = gantry_context_type (query->context, id);
  if (gantry_type_is_static (type) && gantry_type_is_static (result) && gantry_type_elements (type) != gantry_type_elements (result))
    {
      g_autofree char *text = gantry_context_type_text (query->context, id);

      return _gantry_infer_fail (query, error, "%s has %" G_GINT64_FORMAT " elements, %s has %" G_GINT64_FORMAT, _gantry_infer_text (query, 0),
                                 gantry_type_elements (type), text, gantry_type_elements (result));
    }
  if (type->memory != GANTRY_MEMORY_DEVICE)
    return gantry_context_tensor_in (query->context, type->element, rank, dims, type->memory);
  return id;
}

guint32
_gantry_infer_transpose (const GantryTypeQuery *query, GError **error)
{
  const GantryType *type = _gantry_infer_tensor (query, 0, error);
  GantryDim dims[GANTRY_MAX_RANK];
  const gint64 *permutation;
  gsize n;

  if (type == NULL || !_gantry_infer_dimensions (query, "permutation", type->rank, FALSE, type->rank > 0, &permutation, &n, error))
    return 0;
  if (n != type->rank)
    return _gantry_infer_fail (query, error, "permutation has %u entries for an operand of rank %u", (guint) n, type->rank);
  for (guint i = 0; i < n; i++)
    dims[i] = type->dims[permutation[i]];
  return _gantry_infer_make (query, type->element, type->rank, dims, error);
}

guint32
_gantry_infer_reverse (const GantryTypeQuery *query, GError **error)
{
  const GantryType *type = _gantry_infer_tensor (query, 0, error);
  const gint64 *dimensions;
  gsize n;

  if (type == NULL || !_gantry_infer_dimensions (query, "dimensions", type->rank, FALSE, TRUE, &dimensions, &n, error))
    return 0;
  return _gantry_infer_make (query, type->element, type->rank, type->dims, error);
}

guint32
_gantry_infer_slice (const GantryTypeQuery *query, GError **error)
{
  const GantryType *type = _gantry_infer_tensor (query, 0, error);
  GantryDim dims[GANTRY_MAX_RANK];
  const gint64 *start, *limit, *strides;
  gsize n;

  if (type == NULL || !_gantry_infer_ints (query, "start_indices", type->rank, TRUE, &start, &n, error)
      || !_gantry_infer_ints (query, "limit_indices", type->rank, TRUE, &limit, &n, error)
      || !_gantry_infer_ints (query, "strides", type->rank, FALSE, &strides, &n, error))
    return 0;
  for (guint i = 0; i < type->rank; i++)
    {
      gint64 stride = strides != NULL ? strides[i] : 1;

      if (start[i] < 0 || start[i] > limit[i])
        return _gantry_infer_fail (query, error, "dimension %u: start %" G_GINT64_FORMAT " and limit %" G_GINT64_FORMAT " must satisfy 0 <= start <= limit", i,
                                   start[i], limit[i]);
      if (GANTRY_DIM_IS_STATIC (type->dims[i]) && limit[i] > type->dims[i])
        return _gantry_infer_fail (query, error, "dimension %u: limit %" G_GINT64_FORMAT " is beyond its size %s", i, limit[i],
                                   _gantry_dim_text (query->context, type->dims[i]));
      if (stride < 1)
        return _gantry_infer_fail (query, error, "dimension %u: stride %" G_GINT64_FORMAT " must be at least 1", i, stride);
      dims[i] = limit[i] == start[i] ? 0 : (limit[i] - start[i] - 1) / stride + 1;
    }
  return _gantry_infer_make (query, type->element, type->rank, dims, error);
}

/* One dimension after padding. */
static gboolean
pad_dim (const GantryTypeQuery *query, guint i, GantryDim from, const gint64 *low, const gint64 *high, gint64 interior, GantryDim *to, GError **error)
{
  if (interior < 0 || interior >= MAX_STEP)
    return _gantry_infer_fail (query, error, "dimension %u: interior_padding %" G_GINT64_FORMAT " is out of range", i, interior);
  if (*low <= -MAX_STEP || *low >= MAX_STEP || *high <= -MAX_STEP || *high >= MAX_STEP)
    return _gantry_infer_fail (query, error, "dimension %u: edge padding is out of range", i);
  if (!GANTRY_DIM_IS_STATIC (from))
    {
      *to = *low == 0 && *high == 0 && interior == 0 ? from : GANTRY_DIM_UNKNOWN;
      return TRUE;
    }
  *to = gantry_dim_add (gantry_dim_multiply (MAX (from - 1, 0), interior), from);
  *to = gantry_dim_add (*to, *low + *high);
  return *to >= 0
         || _gantry_infer_fail (query, error, "dimension %u of size %s would become %" G_GINT64_FORMAT, i, _gantry_dim_text (query->context, from), *to);
}

guint32
_gantry_infer_pad (const GantryTypeQuery *query, GError **error)
{
  const GantryType *type = _gantry_infer_tensor (query, 0, error);
  const GantryType *value = type != NULL ? _gantry_infer_tensor (query, 1, error) : NULL;
  GantryDim dims[GANTRY_MAX_RANK];
  const gint64 *low, *high, *interior;
  gsize n;

  if (value == NULL)
    return 0;
  if (value->rank != 0 || value->element != type->element)
    return _gantry_infer_fail (query, error, "the padding value (operand 1) must be %s[], not %s", gantry_element_name (type->element),
                               _gantry_infer_text (query, 1));
  if (!_gantry_infer_ints (query, "edge_padding_low", type->rank, TRUE, &low, &n, error)
      || !_gantry_infer_ints (query, "edge_padding_high", type->rank, TRUE, &high, &n, error)
      || !_gantry_infer_ints (query, "interior_padding", type->rank, FALSE, &interior, &n, error))
    return 0;
  for (guint i = 0; i < type->rank; i++)
    if (!pad_dim (query, i, type->dims[i], &low[i], &high[i], interior != NULL ? interior[i] : 0, &dims[i], error))
      return 0;
  return _gantry_infer_make (query, type->element, type->rank, dims, error);
}

guint32
_gantry_infer_concatenate (const GantryTypeQuery *query, GError **error)
{
  const GantryType *first = _gantry_infer_tensor (query, 0, error);
  GantryDim dims[GANTRY_MAX_RANK], sum;
  gint64 axis;

  if (first == NULL || !_gantry_infer_axis (query, "dimension", 0, first->rank, &axis, error))
    return 0;
  memcpy (dims, first->dims, sizeof (GantryDim) * first->rank);
  sum = dims[axis];
  for (guint i = 1; i < query->n_operands; i++)
    {
      const GantryType *type = _gantry_infer_tensor (query, i, error);

      if (type == NULL)
        return 0;
      if (type->element != first->element)
        return _gantry_infer_fail (query, error, "operand 0 has elements of type %s, operand %u of %s", gantry_element_name (first->element), i,
                                   gantry_element_name (type->element));
      /* The joined dimension may differ: compare all but it. */
      dims[axis] = type->rank > axis ? type->dims[axis] : 0;
      if (!_gantry_infer_merge (query, 0, i, first->rank, dims, error))
        return 0;
      if (!GANTRY_DIM_IS_STATIC (sum) || !GANTRY_DIM_IS_STATIC (type->dims[axis]))
        sum = GANTRY_DIM_UNKNOWN;
      else
        sum = gantry_dim_add (sum, type->dims[axis]);
    }
  dims[axis] = sum;
  return _gantry_infer_make (query, first->element, first->rank, dims, error);
}
