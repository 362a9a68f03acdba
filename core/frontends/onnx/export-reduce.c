/* SPDX-License-Identifier: Apache-2.0 */
/* Writing ONNX: reductions, windows and sorting. */
#include "core/frontends/onnx/export-private.h"
#include <math.h>
#include <string.h>

#define ELEMENT(value) ((GantryElementType) (value)->type->element)

/* What ONNX's reductions are specified for; the rest is reduced in the next wider element, which wraps as the narrow one does. */
static GantryElementType
reduced_in (GantryElementType element)
{
  switch (element)
    {
    case GANTRY_BOOL:
    case GANTRY_I8:
    case GANTRY_I16:
    case GANTRY_U8:
    case GANTRY_U16: return GANTRY_I32;
    default: return element;
    }
}

static const char *
operation_of (const char *kind, GantryElementType element)
{
  static const struct
  {
    const char *kind, *name;
  } names[] = {
    { "add", "ReduceSum" },
    { "mul", "ReduceProd" },
    { "max", "ReduceMax" },
    { "min", "ReduceMin" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (names[i].kind, kind))
      return names[i].name;
  if (element == GANTRY_BOOL)
    return g_str_equal (kind, "and") ? "ReduceMin" : "ReduceMax";
  return NULL;
}

ExportValue *
gantry_export_reduce (GantryOnnxExport *e, const char *kind, ExportValue *x, const gint64 *axes, gsize n)
{
  GantryElementType element = ELEMENT (x);
  const char *operation = operation_of (kind, element);
  gint64 dims[GANTRY_MAX_RANK];
  guint rank = 0;
  ExportNode node;

  if (operation == NULL)
    {
      gantry_export_fail (e, "ONNX has no reduction by '%s' of %s", kind, gantry_element_name (element));
      return e->nobody;
    }
  if (n == 0)
    return x;
  for (guint i = 0; i < x->type->rank; i++)
    {
      gboolean gone = FALSE;

      for (gsize j = 0; j < n; j++)
        gone = gone || axes[j] == i;
      if (!gone)
        dims[rank++] = x->type->dims[i];
    }
  x = gantry_export_cast (e, x, reduced_in (element));
  gantry_export_begin (e, &node, operation);
  gantry_export_input (&node, x);
  gantry_export_input (&node, gantry_export_vector (e, axes, n));
  gantry_export_int (&node, "keepdims", 0);
  return gantry_export_cast (e, gantry_export_end (&node, gantry_export_type (e, ELEMENT (x), rank, dims)), element);
}

ExportValue *
gantry_export_reduction (GantryOnnxExport *e, ExportValue **in, G_GNUC_UNUSED guint count)
{
  gsize n;
  const gint64 *axes = gantry_attrs_ints (e->context, e->node->attrs, "dimensions", &n);

  return gantry_export_reduce (e, gantry_attrs_string (e->context, e->node->attrs, "kind", "add"), in[0], axes, n);
}

/* Windows */

typedef struct
{
  const char *kind;
  guint rank;
  gint64 size[GANTRY_MAX_RANK], stride[GANTRY_MAX_RANK], dilation[GANTRY_MAX_RANK], base[GANTRY_MAX_RANK];
  gint64 low[GANTRY_MAX_RANK], high[GANTRY_MAX_RANK];
} Window;

static void
read_window (GantryOnnxExport *e, Window *w)
{
  gint64 padding[2 * GANTRY_MAX_RANK];

  w->kind = gantry_attrs_string (e->context, e->node->attrs, "kind", "add");
  gantry_export_read (e, "window_dimensions", w->rank, 1, w->size);
  gantry_export_read (e, "window_strides", w->rank, 1, w->stride);
  gantry_export_read (e, "window_dilations", w->rank, 1, w->dilation);
  gantry_export_read (e, "base_dilations", w->rank, 1, w->base);
  gantry_export_read (e, "padding", 2 * w->rank, 0, padding);
  for (guint i = 0; i < w->rank; i++)
    {
      w->low[i] = padding[2 * i];
      w->high[i] = padding[2 * i + 1];
      w->base[i]--;
    }
}

/* The value that leaves a reduction as it is. */
static ExportValue *
identity_of (GantryOnnxExport *e, const char *kind, GantryElementType element)
{
  gboolean most = g_str_equal (kind, "min"), least = g_str_equal (kind, "max");
  guint bits = 8 * (guint) gantry_element_size (element);
  gboolean sign = gantry_element_is_signed (element);

  if (g_str_equal (kind, "mul") || g_str_equal (kind, "and"))
    return gantry_export_scalar (e, element, 1);
  if (!most && !least)
    return gantry_export_scalar (e, element, 0);
  if (gantry_element_is_float (element))
    return gantry_export_scalar (e, element, most ? INFINITY : -INFINITY);
  if (least && !sign)
    return gantry_export_scalar (e, element, 0);
  return gantry_export_integer (e, element, least ? (gint64) (G_MAXUINT64 << (bits - 1)) : (gint64) (G_MAXUINT64 >> (64 - bits + (sign ? 1 : 0))));
}

/* Each window as a dimension of its own, read by indices: for what no pooling of ONNX does. */
static ExportValue *
gather_windows (GantryOnnxExport *e, ExportValue *x, const Window *w, const GantryType *type)
{
  gint64 axes[GANTRY_MAX_RANK], dims[GANTRY_MAX_RANK];
  gsize n = 0;

  for (guint i = w->rank; i-- > 0;)
    {
      ExportValue *places;

      if (w->size[i] == 1 && w->stride[i] == 1)
        continue;
      places = gantry_export_binary (e, "Add", gantry_export_range (e, type->dims[i], w->stride[i], 2, 0),
                                     gantry_export_range (e, w->size[i], w->dilation[i], 2, 1));
      x = gantry_export_take (e, x, places, i);
      for (gsize j = 0; j < n; j++)
        axes[j]++;
      for (gsize j = n++; j > 0; j--)
        axes[j] = axes[j - 1];
      axes[0] = i + 1;
    }
  x = gantry_export_reduce (e, w->kind, x, axes, n);
  memcpy (dims, type->dims, sizeof *dims * type->rank);
  return gantry_export_reshape (e, x, type->rank, dims);
}

/* MaxPool over [all other dimensions, 1, window]: for windows over the last dimensions of an image and its like. */
static ExportValue *
max_pool (GantryOnnxExport *e, ExportValue *x, const Window *w, const GantryType *type)
{
  guint first = 0, spatial;
  gint64 dims[GANTRY_MAX_RANK + 2] = { 1, 1 }, out[GANTRY_MAX_RANK + 2] = { 1, 1 }, pads[2 * GANTRY_MAX_RANK];
  ExportNode node;

  while (first < w->rank && w->size[first] == 1 && w->stride[first] == 1 && w->low[first] == 0 && w->high[first] == 0)
    first++;
  spatial = w->rank - first;
  if (spatial == 0)
    return x;
  if (spatial + 2 > GANTRY_MAX_RANK)
    return gather_windows (e, x, w, type);
  for (guint i = 0; i < first; i++)
    dims[i == 1 && first == 2 ? 1 : 0] *= x->type->dims[i];
  for (guint i = 0; i < spatial; i++)
    {
      dims[2 + i] = x->type->dims[first + i];
      out[2 + i] = type->dims[first + i];
      pads[i] = w->low[first + i];
      pads[spatial + i] = w->high[first + i];
    }
  out[0] = dims[0];
  out[1] = dims[1];
  x = gantry_export_reshape (e, x, spatial + 2, dims);
  gantry_export_begin (e, &node, "MaxPool");
  gantry_export_input (&node, x);
  gantry_export_ints (&node, "kernel_shape", w->size + first, spatial);
  gantry_export_ints (&node, "strides", w->stride + first, spatial);
  gantry_export_ints (&node, "dilations", w->dilation + first, spatial);
  gantry_export_ints (&node, "pads", pads, 2 * spatial);
  x = gantry_export_end (&node, gantry_export_type (e, ELEMENT (x), spatial + 2, out));
  return gantry_export_reshape (e, x, type->rank, type->dims);
}

/* A window that lies in the padding altogether, or a pad as wide as the window, is none of MaxPool's. */
static gboolean
is_max_pool (const Window *w, const ExportValue *x)
{
  if (!g_str_equal (w->kind, "max") || !gantry_element_is_float (ELEMENT (x)) || ELEMENT (x) == GANTRY_BF16)
    return FALSE;
  for (guint i = 0; i < w->rank; i++)
    if (w->low[i] < 0 || w->high[i] < 0 || w->low[i] >= w->size[i] || w->high[i] >= w->size[i] || w->base[i] != 0)
      return FALSE;
  return TRUE;
}

ExportValue *
gantry_export_reduce_window (GantryOnnxExport *e, ExportValue **in, G_GNUC_UNUSED guint n)
{
  const GantryType *type = gantry_node_type (e->module, e->node);
  Window w = { .rank = type->rank };
  ExportValue *x = in[0];

  read_window (e, &w);
  if (is_max_pool (&w, x))
    return max_pool (e, x, &w, type);
  x = gantry_export_pad (e, x, identity_of (e, w.kind, ELEMENT (x)), w.low, w.high, w.base);
  return e->error == NULL ? gather_windows (e, x, &w, type) : e->nobody;
}

/* Sorting */

/* What onnxruntime sorts, with the same order */
static GantryElementType
sorted_as (GantryElementType element)
{
  switch (element)
    {
    case GANTRY_BOOL: return GANTRY_I32;
    case GANTRY_BF16: return GANTRY_F32;
    case GANTRY_I8:
    case GANTRY_U8:
    case GANTRY_I16:
    case GANTRY_U16:
    case GANTRY_U32: return GANTRY_I64;
    default: return element;
    }
}

/* The whole of a dimension is its "best" elements in order; equal ones stay in order, so it is stable. */
ExportValue *
gantry_export_sort (GantryOnnxExport *e, ExportValue **in, guint n)
{
  gint64 axis = gantry_attrs_int (e->context, e->node->attrs, "dimension", 0);
  ExportValue *key = gantry_export_cast (e, in[0], sorted_as (ELEMENT (in[0])));
  ExportValue **members = gantry_arena_new0 (e->arena, ExportValue *, n + 1), **top;
  const GantryType *types[2] = { key->type, gantry_export_with (e, key, GANTRY_I64) };
  ExportNode node;

  gantry_export_begin (e, &node, "TopK");
  gantry_export_input (&node, key);
  gantry_export_input (&node, gantry_export_vector (e, &key->type->dims[axis], 1));
  gantry_export_int (&node, "axis", axis);
  gantry_export_int (&node, "largest", gantry_attrs_int (e->context, e->node->attrs, "descending", 0));
  gantry_export_int (&node, "sorted", 1);
  top = gantry_export_end_many (&node, types, 2);
  members[0] = gantry_export_cast (e, top[0], ELEMENT (in[0]));
  for (guint i = 1; i < n; i++)
    {
      gantry_export_begin (e, &node, "GatherElements");
      gantry_export_input (&node, in[i]);
      gantry_export_input (&node, top[1]);
      gantry_export_int (&node, "axis", axis);
      members[i] = gantry_export_end (&node, in[i]->type);
    }
  return n == 1 ? members[0] : gantry_export_tuple (e, members, n);
}
