/* SPDX-License-Identifier: Apache-2.0 */
/* Writing MindIR: reductions, windows, sorting. */
#include "core/frontends/mindspore/export-private.h"
#include "core/graph/op-attributes.h"
#include <string.h>

#define ELEMENT(value) ((GantryElementType) (value)->type->element)

ExportValue *
gantry_mind_export_reduction (MindExport *e, ExportValue **in, guint n)
{
  static const char *const names[][2] = { { "add", "ReduceSum" }, { "mul", "ReduceProd" }, { "max", "ReduceMax" },
                                          { "min", "ReduceMin" }, { "and", "ReduceAll" },  { "or", "ReduceAny" } };
  const char *kind = gantry_attrs_string (e->context, e->node->attrs, "kind", ""), *no;
  const GantryType *type = gantry_node_type (e->module, e->node);
  gsize n_axes = 0;
  const gint64 *axes = gantry_attrs_ints (e->context, e->node->attrs, "dimensions", &n_axes);

  (void) n;
  if (n_axes == 0)
    return in[0];
  no = gantry_mind_export_bool (e, FALSE);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (names[i][0], kind) == 0 && (i < 4 || ELEMENT (in[0]) == GANTRY_BOOL))
      return gantry_mind_export_node (e, names[i][1], NULL, type, gantry_mind_export_use (e, in[0]), gantry_mind_export_ints (e, axes, (guint) n_axes), no,
                                      i == 0 ? no : NULL, NULL);
  gantry_mind_export_fail (e, "no primitive of MindSpore reduces %s by '%s'", gantry_element_name (ELEMENT (in[0])), kind);
  return e->nobody;
}

static ExportValue *
running (MindExport *e, ExportValue *x, gint axis, gboolean reverse, gboolean sum)
{
  GByteArray *attrs;

  if (sum)
    return gantry_mind_export_node (e, "CumSum", NULL, x->type, gantry_mind_export_use (e, x), gantry_mind_export_int (e, axis),
                                    gantry_mind_export_bool (e, FALSE), gantry_mind_export_bool (e, reverse), NULL);
  attrs = g_byte_array_new ();
  gantry_mind_attr_bool (attrs, "exclusive", FALSE);
  gantry_mind_attr_bool (attrs, "reverse", reverse);
  return gantry_mind_export_node (e, "CumProd", attrs, x->type, gantry_mind_export_use (e, x), gantry_mind_export_int (e, axis), NULL);
}

/* The two dimensions that windows lie in, of as many as there are. FALSE where there are more */
static gboolean
spatial_dims (const GantryWindow *windows, guint rank, guint *first)
{
  for (guint i = 0; i < rank; i++)
    if (windows[i].base_dilation != 1 || windows[i].window_dilation != 1
        || (i + 2 < rank && (windows[i].size != 1 || windows[i].stride != 1 || windows[i].low != 0 || windows[i].high != 0)))
      return FALSE;
  *first = rank >= 2 ? rank - 2 : 0;
  return rank > 0;
}

static ExportValue *
pool (MindExport *e, ExportValue *x, const GantryWindow *windows, gboolean sum)
{
  guint rank = x->type->rank, first = 0;
  gint64 low[GANTRY_MAX_RANK], high[GANTRY_MAX_RANK], size[4] = { 1, 1, 1, 1 }, stride[4] = { 1, 1, 1, 1 };
  const GantryType *type = gantry_node_type (e->module, e->node);
  GantryElementType element = ELEMENT (x);
  GantryDim dims[4] = { 1, 1, 1, 1 }, result[4];
  GByteArray *attrs;

  if (!spatial_dims (windows, rank, &first) || !gantry_element_is_float (element))
    {
      gantry_mind_export_fail (e, "windows of this form, or of whole numbers, have no primitive");
      return e->nobody;
    }
  for (guint i = 0; i < rank; i++)
    {
      low[i] = windows[i].low;
      high[i] = windows[i].high;
    }
  /* MaxPool pads by itself only as "same" does: what is padded is written out. */
  x = gantry_mind_export_pad (e, x, sum ? 0 : element == GANTRY_F16 ? -65504 : -3.4028234e38, low, high, NULL);
  for (guint i = 0; i < rank; i++)
    {
      guint at = i < first ? 1 : 4 - (rank - i);

      dims[at] *= x->type->dims[i];
      size[at] = i < first ? 1 : windows[i].size;
      stride[at] = i < first ? 1 : windows[i].stride;
    }
  for (guint i = 0; i < 4; i++)
    result[i] = i < 2 ? dims[i] : (dims[i] - size[i]) / stride[i] + 1;
  x = gantry_mind_export_reshape (e, x, 4, dims);
  if (sum)
    {
      x = gantry_mind_export_node (e, "AvgPool", NULL, gantry_mind_export_type (e, element, 4, result), gantry_mind_export_use (e, x),
                                   gantry_mind_export_ints (e, size + 2, 2), gantry_mind_export_ints (e, stride + 2, 2), gantry_mind_export_int (e, 2),
                                   gantry_mind_export_int (e, 0), NULL);
      x = gantry_mind_export_binary (e, "Mul", x, gantry_mind_export_scalar (e, element, (double) (size[2] * size[3])), element);
      return gantry_mind_export_reshape (e, x, type->rank, type->dims);
    }
  attrs = g_byte_array_new ();
  gantry_mind_attr_ints (attrs, "kernel_size", size, 4);
  gantry_mind_attr_ints (attrs, "strides", stride, 4);
  gantry_mind_attr_string (attrs, "pad_mode", "VALID");
  gantry_mind_attr_string (attrs, "format", "NCHW");
  x = gantry_mind_export_node (e, "MaxPool", attrs, gantry_mind_export_type (e, element, 4, result), gantry_mind_export_use (e, x), NULL);
  return gantry_mind_export_reshape (e, x, type->rank, type->dims);
}

ExportValue *
gantry_mind_export_window (MindExport *e, ExportValue **in, guint n)
{
  const char *kind = gantry_attrs_string (e->context, e->node->attrs, "kind", "");
  GantryWindow windows[GANTRY_MAX_RANK];
  guint rank = in[0]->type->rank;
  gboolean reverse = FALSE, sum = strcmp (kind, "add") == 0;
  gint axis;

  (void) n;
  gantry_op_windows (e->context, e->node->attrs, GANTRY_OP_REDUCE_WINDOW, rank, windows);
  axis = gantry_op_running_axis (windows, in[0]->type, &reverse);
  if (axis >= 0 && (sum || strcmp (kind, "mul") == 0))
    return running (e, in[0], axis, reverse, sum);
  if (sum || strcmp (kind, "max") == 0)
    return pool (e, in[0], windows, sum);
  gantry_mind_export_fail (e, "windows of '%s' have no primitive", kind);
  return e->nobody;
}

/* The key is sorted with its positions; what follows it is taken from there. */
ExportValue *
gantry_mind_export_sort (MindExport *e, ExportValue **in, guint n)
{
  gint64 axis = gantry_attrs_int (e->context, e->node->attrs, "dimension", 0);
  const GantryType *types[2] = { in[0]->type, gantry_mind_export_type (e, GANTRY_I32, in[0]->type->rank, in[0]->type->dims) };
  GByteArray *attrs = g_byte_array_new ();
  const char *key = gantry_mind_export_use (e, in[0]);
  g_autofree ExportValue **results = g_new0 (ExportValue *, n + 1);
  ExportValue *sorted;

  gantry_mind_attr_int (attrs, "axis", axis);
  gantry_mind_attr_bool (attrs, "descending", gantry_attrs_int (e->context, e->node->attrs, "descending", 0) != 0);
  sorted = gantry_mind_export_add (e, "Sort", attrs, &key, 1, types, 2, TRUE);
  if (sorted == e->nobody || n == 1)
    return sorted == e->nobody ? sorted : sorted->members[0];
  for (guint i = 0; i < n; i++)
    results[i] = i == 0 ? sorted->members[0]
                        : gantry_mind_export_node (e, "GatherD", NULL, in[i]->type, gantry_mind_export_use (e, in[i]), gantry_mind_export_int (e, axis),
                                                   gantry_mind_export_use (e, sorted->members[1]), NULL);
  return gantry_mind_export_tuple (e, results, n);
}
