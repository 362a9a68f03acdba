/* SPDX-License-Identifier: Apache-2.0 */
/* Adding core nodes from a lowering rule: what the compositions of core/graph/builder-composite.h leave to ONNX, its words for
 * an operand that is missing, and what several of its families share. */
#include "core/frontends/onnx/onnx-lower.h"

GantryAttrList *
gantry_lower_attrs (GantryLower *l)
{
  return gantry_attr_list_new (l->context);
}

guint32
gantry_lower_add (GantryLower *l, GantryOp op, GantryAttrList *attrs, guint n, ...)
{
  va_list operands;
  guint32 id;

  va_start (operands, n);
  id = gantry_builder_add_operands (l->b, op, attrs, n, operands);
  va_end (operands);
  if (id == 0 && !l->failed)
    gantry_lower_invalid (l, "an operand is missing"); /* unless the builder has an error, which came first */
  return id;
}

guint32
gantry_lower_lowest (GantryLower *l, guint32 x)
{
  GantryElementType element = gantry_lower_element (l, x);
  guint bits = 8 * gantry_element_size (element);

  if (gantry_element_is_float (element))
    return gantry_builder_like (l->b, x, -INFINITY);
  if (element == GANTRY_BOOL || !gantry_element_is_signed (element))
    return gantry_builder_like (l->b, x, 0);
  return gantry_builder_int_scalar (l->b, element, (gint64) (G_GUINT64_CONSTANT (0) - (G_GUINT64_CONSTANT (1) << (bits - 1))));
}

guint32
gantry_lower_unary (GantryLower *l, GantryOp op, guint32 x)
{
  return gantry_lower_add (l, op, NULL, 1, x);
}

/* Whether the indices are start, start + stride, ... with stride >= 1. */
static gboolean
indices_are_run (const gint64 *indices, gint64 n, gint64 *stride)
{
  *stride = n > 1 ? indices[1] - indices[0] : 1;
  for (gint64 i = 1; i < n; i++)
    if (indices[i] - indices[i - 1] != *stride)
      return FALSE;
  return *stride >= 1;
}

guint32
gantry_lower_take (GantryLower *l, guint32 x, gint64 axis, const gint64 *indices, gint64 n)
{
  gint64 stride;

  if (n > 0 && indices_are_run (indices, n, &stride))
    return gantry_builder_slice_axis (l->b, x, axis, indices[0], indices[n - 1] + 1, stride);
  return gantry_builder_take (l->b, x, axis, gantry_builder_ints (l->b, indices, (gsize) n));
}

guint32
gantry_lower_softmax (GantryLower *l, guint32 x, const gint64 *axes, gsize n, gboolean logarithm)
{
  GantryElementType element = gantry_lower_element (l, x);

  return gantry_builder_convert (l->b, gantry_builder_softmax (l->b, x, axes, n, logarithm), element);
}

guint32
gantry_lower_stack (GantryLower *l, const guint32 *values, gint64 n, gint64 axis)
{
  guint32 *parts = gantry_arena_new0 (l->arena, guint32, n + 1);

  for (gint64 i = 0; i < n; i++)
    {
      GantryDim dims[GANTRY_MAX_RANK + 1], wide[GANTRY_MAX_RANK + 1];
      guint rank = gantry_lower_dims (l, values[i], dims);

      if (rank >= GANTRY_MAX_RANK || axis < 0 || axis > rank || values[i] == 0)
        {
          gantry_lower_invalid (l, "values of this rank cannot be stacked");
          return 0;
        }
      for (guint k = 0; k <= rank; k++)
        wide[k] = k == axis ? 1 : dims[k < axis ? k : k - 1];
      parts[i] = gantry_builder_reshape (l->b, values[i], rank + 1, wide);
    }
  if (n < 1)
    {
      gantry_lower_fail (l, "a scan output of no trips has no known type");
      return 0;
    }
  return n == 1 ? parts[0] : gantry_builder_concatenate (l->b, parts, (guint) n, axis);
}
