/* SPDX-License-Identifier: Apache-2.0 */
/* Writing StableHLO: elementwise operations, movement, reductions, contractions. Core operations follow StableHLO, so most
 * are written under their own name; docs/operations.md says where they differ. */
#include "core/frontends/xla/stablehlo-export-private.h"
#include <math.h>
#include <string.h>

#define ELEMENT(name) ((GantryElementType) (name)->type->element)

static const GantryType *
own_type (MlirExport *m)
{
  return gantry_node_type (m->module, m->node);
}

static MlirName *
plain (MlirExport *m, const char *name, MlirName **in, guint n, const GantryType *type)
{
  MlirName *value = gantry_stablehlo_begin (m, name, in, n, &type, 1);

  gantry_stablehlo_end (m, in, n, &type, 1);
  return value;
}

/* Elementwise */

static gboolean
is_chlo (guint op)
{
  return (op >= GANTRY_OP_ASIN && op <= GANTRY_OP_ERF);
}

static MlirName *
compare (MlirExport *m, const char *direction, MlirName *a, MlirName *b, const GantryType *type)
{
  MlirName *in[2] = { a, b }, *value = gantry_stablehlo_begin (m, "stablehlo.compare", in, 2, &type, 1);

  gantry_stablehlo_attributes (m, "comparison_direction = #stablehlo<comparison_direction %s>", direction);
  gantry_stablehlo_end (m, in, 2, &type, 1);
  return value;
}

/* StableHLO has abs and sign of signed numbers alone. */
static MlirName *
of_unsigned (MlirExport *m, MlirName *x)
{
  return m->node->op == GANTRY_OP_ABS ? x : gantry_stablehlo_op (m, "stablehlo.minimum", x->type, 2, x, gantry_stablehlo_splat (m, x->type, 1));
}

/* StableHLO has no operation that stops a gradient, but none flows through integers. */
static MlirName *
stopped (MlirExport *m, MlirName *x)
{
  static const GantryElementType whole[] = { [2] = GANTRY_I16, [4] = GANTRY_I32, [8] = GANTRY_I64 };
  GantryElementType element = ELEMENT (x);

  if (!gantry_element_is_float (element))
    return x;
  x = gantry_stablehlo_op (m, "stablehlo.bitcast_convert", gantry_stablehlo_tensor (m, whole[gantry_element_size (element)], x->type->rank, x->type->dims), 1,
                           x);
  return gantry_stablehlo_op (m, "stablehlo.bitcast_convert", own_type (m), 1, x);
}

MlirName *
gantry_stablehlo_export_elementwise (MlirExport *m, MlirName **in, guint n)
{
  guint op = m->node->op;
  const char *name = gantry_node_op_name (m->module, m->node);
  g_autofree char *full = g_strconcat (is_chlo (op) ? "chlo." : "stablehlo.", name, NULL);

  if ((op == GANTRY_OP_ABS || op == GANTRY_OP_SIGN) && gantry_element_is_integer (ELEMENT (in[0])) && !gantry_element_is_signed (ELEMENT (in[0])))
    return of_unsigned (m, in[0]);
  switch (op)
    {
    case GANTRY_OP_STOP_GRADIENT: return stopped (m, in[0]);
    case GANTRY_OP_IS_NAN: return compare (m, "NE", in[0], in[0], own_type (m));
    case GANTRY_OP_COMPARE: return compare (m, gantry_attrs_string (m->context, m->node->attrs, "comparison_direction", "EQ"), in[0], in[1], own_type (m));
    default: return plain (m, full, in, n, own_type (m));
    }
}

/* Movement */

static MlirName *
with_attributes (MlirExport *m, MlirName **in, guint n, const char *attributes)
{
  const GantryType *type = own_type (m);
  g_autofree char *full = g_strconcat ("stablehlo.", gantry_node_op_name (m->module, m->node), NULL);
  MlirName *value = gantry_stablehlo_begin (m, full, in, n, &type, 1);

  gantry_stablehlo_attributes (m, "%s", attributes);
  gantry_stablehlo_end (m, in, n, &type, 1);
  return value;
}

static char *
gather_attributes (MlirExport *m)
{
  return g_strdup_printf ("dimension_numbers = #stablehlo.gather<offset_dims = %s, collapsed_slice_dims = %s, operand_batching_dims = %s, "
                          "start_indices_batching_dims = %s, start_index_map = %s, index_vector_dim = %" G_GINT64_FORMAT ">, indices_are_sorted = false, "
                          "slice_sizes = %s",
                          gantry_stablehlo_list (m, "offset_dims"), gantry_stablehlo_list (m, "collapsed_slice_dims"),
                          gantry_stablehlo_list (m, "operand_batching_dims"), gantry_stablehlo_list (m, "start_indices_batching_dims"),
                          gantry_stablehlo_list (m, "start_index_map"), gantry_attrs_int (m->context, m->node->attrs, "index_vector_dim", 0),
                          gantry_stablehlo_array (m, "slice_sizes", 0, 0));
}

static char *
movement_attributes (MlirExport *m, guint rank)
{
  GantryContext *context = m->context;
  guint32 attrs = m->node->attrs;

  switch (m->node->op)
    {
    case GANTRY_OP_IOTA: return g_strdup_printf ("iota_dimension = %" G_GINT64_FORMAT " : i64", gantry_attrs_int (context, attrs, "iota_dimension", 0));
    case GANTRY_OP_BROADCAST_IN_DIM: return g_strdup_printf ("broadcast_dimensions = %s", gantry_stablehlo_array (m, "broadcast_dimensions", 0, 0));
    case GANTRY_OP_TRANSPOSE: return g_strdup_printf ("permutation = %s", gantry_stablehlo_array (m, "permutation", 0, 0));
    case GANTRY_OP_REVERSE: return g_strdup_printf ("dimensions = %s", gantry_stablehlo_array (m, "dimensions", 0, 0));
    case GANTRY_OP_SLICE:
      return g_strdup_printf ("start_indices = %s, limit_indices = %s, strides = %s", gantry_stablehlo_array (m, "start_indices", rank, 0),
                              gantry_stablehlo_array (m, "limit_indices", rank, 0), gantry_stablehlo_array (m, "strides", rank, 1));
    case GANTRY_OP_PAD:
      return g_strdup_printf ("edge_padding_low = %s, edge_padding_high = %s, interior_padding = %s", gantry_stablehlo_array (m, "edge_padding_low", rank, 0),
                              gantry_stablehlo_array (m, "edge_padding_high", rank, 0), gantry_stablehlo_array (m, "interior_padding", rank, 0));
    case GANTRY_OP_CONCATENATE: return g_strdup_printf ("dimension = %" G_GINT64_FORMAT " : i64", gantry_attrs_int (context, attrs, "dimension", 0));
    case GANTRY_OP_DYNAMIC_SLICE: return g_strdup_printf ("slice_sizes = %s", gantry_stablehlo_array (m, "slice_sizes", 0, 0));
    case GANTRY_OP_GATHER: return gather_attributes (m);
    default: return NULL;
    }
}

MlirName *
gantry_stablehlo_export_movement (MlirExport *m, MlirName **in, guint n)
{
  g_autofree char *attributes = movement_attributes (m, own_type (m)->rank);
  g_autofree char *full = g_strconcat ("stablehlo.", gantry_node_op_name (m->module, m->node), NULL);

  return attributes != NULL ? with_attributes (m, in, n, attributes) : plain (m, full, in, n, own_type (m));
}

/* Reductions */

/* The element that leaves a reduction by @kind as it is. */
static MlirName *
identity (MlirExport *m, const char *kind, GantryElementType element)
{
  const GantryType *scalar = gantry_stablehlo_tensor (m, element, 0, NULL);
  guint bits = 8 * (guint) gantry_element_size (element);
  gboolean sign = gantry_element_is_signed (element), most = strcmp (kind, "min") == 0;

  if (strcmp (kind, "add") == 0 || strcmp (kind, "or") == 0)
    return gantry_stablehlo_splat (m, scalar, 0);
  if (strcmp (kind, "mul") == 0)
    return gantry_stablehlo_splat (m, scalar, 1);
  if (strcmp (kind, "and") == 0)
    return gantry_stablehlo_integer (m, element, element == GANTRY_BOOL ? 1 : -1);
  if (gantry_element_is_float (element))
    return gantry_stablehlo_splat (m, scalar, most ? INFINITY : -INFINITY);
  if (!most && !sign)
    return gantry_stablehlo_splat (m, scalar, 0);
  return gantry_stablehlo_integer (m, element, most ? (gint64) (G_MAXUINT64 >> (64 - bits + (sign ? 1 : 0))) : (gint64) (G_MAXUINT64 << (bits - 1)));
}

/* A region of two scalars that combines them. */
static void
combiner (MlirExport *m, const char *kind, GantryElementType element)
{
  static const struct
  {
    const char *kind, *name;
  } names[] = {
    { "add", "stablehlo.add" },     { "mul", "stablehlo.multiply" }, { "max", "stablehlo.maximum" },
    { "min", "stablehlo.minimum" }, { "and", "stablehlo.and" },      { "or", "stablehlo.or" },
  };
  const GantryType *scalar = gantry_stablehlo_tensor (m, element, 0, NULL), *types[2] = { scalar, scalar };
  MlirName *in[2], *value;

  gantry_stablehlo_open (m);
  gantry_stablehlo_block (m, types, 2, in);
  value = in[1]; /* "set" */
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (names[i].kind, kind) == 0)
      value = gantry_stablehlo_op (m, names[i].name, scalar, 2, in[0], in[1]);
  gantry_stablehlo_return (m, &value, 1);
  gantry_stablehlo_close (m);
}

/* "dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>" of a flat list of low and high. */
static char *
padding_text (MlirExport *m, guint n)
{
  gsize found;
  const gint64 *padding = gantry_attrs_ints (m->context, m->node->attrs, "padding", &found);
  g_autoptr (GString) text = g_string_new ("dense<");

  g_string_append (text, n > 0 ? "[" : "");
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%s[%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT "]", i > 0 ? ", " : "", 2 * i < found ? padding[2 * i] : 0,
                            2 * i + 1 < found ? padding[2 * i + 1] : 0);
  g_string_append_printf (text, "%s> : tensor<%ux2xi64>", n > 0 ? "]" : "", n);
  return gantry_arena_strdup (m->arena, text->str);
}

static MlirName *
reduction (MlirExport *m, MlirName *x)
{
  const char *kind = gantry_attrs_string (m->context, m->node->attrs, "kind", "add");
  const GantryType *type = own_type (m);
  MlirName *in[2] = { x, identity (m, kind, ELEMENT (x)) }, *value;
  guint rank = x->type->rank;

  if (m->node->op == GANTRY_OP_REDUCE)
    {
      value = gantry_stablehlo_begin (m, "stablehlo.reduce", in, 2, &type, 1);
      gantry_stablehlo_attributes (m, "dimensions = %s", gantry_stablehlo_array (m, "dimensions", 0, 0));
    }
  else
    {
      value = gantry_stablehlo_begin (m, "stablehlo.reduce_window", in, 2, &type, 1);
      gantry_stablehlo_attributes (m, "window_dimensions = %s, window_strides = %s, base_dilations = %s, window_dilations = %s, padding = %s",
                                   gantry_stablehlo_array (m, "window_dimensions", rank, 1), gantry_stablehlo_array (m, "window_strides", rank, 1),
                                   gantry_stablehlo_array (m, "base_dilations", rank, 1), gantry_stablehlo_array (m, "window_dilations", rank, 1),
                                   padding_text (m, rank));
    }
  combiner (m, kind, ELEMENT (x));
  gantry_stablehlo_end (m, in, 2, &type, 1);
  return value;
}

static MlirName *
scatter (MlirExport *m, MlirName **in)
{
  const GantryType *type = own_type (m);
  MlirName *value = gantry_stablehlo_begin (m, "stablehlo.scatter", in, 3, &type, 1);

  gantry_stablehlo_attributes (m,
                               "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = %s, inserted_window_dims = %s, input_batching_dims = %s, "
                               "scatter_indices_batching_dims = %s, scatter_dims_to_operand_dims = %s, index_vector_dim = %" G_GINT64_FORMAT
                               ">, indices_are_sorted = false, unique_indices = false",
                               gantry_stablehlo_list (m, "update_window_dims"), gantry_stablehlo_list (m, "inserted_window_dims"),
                               gantry_stablehlo_list (m, "input_batching_dims"), gantry_stablehlo_list (m, "scatter_indices_batching_dims"),
                               gantry_stablehlo_list (m, "scatter_dims_to_operand_dims"), gantry_attrs_int (m->context, m->node->attrs, "index_vector_dim", 0));
  combiner (m, gantry_attrs_string (m->context, m->node->attrs, "kind", "set"), ELEMENT (in[0]));
  gantry_stablehlo_end (m, in, 3, &type, 1);
  return value;
}

/* Contractions */

static MlirName *
dot (MlirExport *m, MlirName **in)
{
  const GantryType *type = own_type (m);
  MlirName *value = gantry_stablehlo_begin (m, "stablehlo.dot_general", in, 2, &type, 1);

  gantry_stablehlo_attributes (m,
                               "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = %s, rhs_batching_dimensions = %s, "
                               "lhs_contracting_dimensions = %s, rhs_contracting_dimensions = %s>",
                               gantry_stablehlo_list (m, "lhs_batching_dimensions"), gantry_stablehlo_list (m, "rhs_batching_dimensions"),
                               gantry_stablehlo_list (m, "lhs_contracting_dimensions"), gantry_stablehlo_list (m, "rhs_contracting_dimensions"));
  gantry_stablehlo_end (m, in, 2, &type, 1);
  return value;
}

/* Bias and what follows a convolution are ours. */
static MlirName *
finish_convolution (MlirExport *m, MlirName *value, MlirName *bias)
{
  const GantryType *type = value->type;

  if (bias != NULL)
    {
      MlirName *wide = gantry_stablehlo_begin (m, "stablehlo.broadcast_in_dim", &bias, 1, &type, 1);

      gantry_stablehlo_attributes (m, "broadcast_dimensions = array<i64: 1>");
      gantry_stablehlo_end (m, &bias, 1, &type, 1);
      value = gantry_stablehlo_op (m, "stablehlo.add", type, 2, value, wide);
    }
  if (g_strcmp0 (gantry_attrs_string (m->context, m->node->attrs, "post", NULL), "relu") == 0)
    value = gantry_stablehlo_op (m, "stablehlo.maximum", type, 2, value, gantry_stablehlo_splat (m, type, 0));
  return value;
}

static MlirName *
convolution (MlirExport *m, MlirName **in, guint n)
{
  const GantryType *type = own_type (m);
  MlirName *value = gantry_stablehlo_begin (m, "stablehlo.convolution", in, 2, &type, 1);
  g_autoptr (GString) space = g_string_new (NULL);
  guint spatial = type->rank - 2;

  for (guint i = 0; i < spatial; i++)
    g_string_append_printf (space, ", %u", i);
  gantry_stablehlo_attributes (m,
                               "batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f%s]x[o, i%s]->[b, f%s]>, "
                               "feature_group_count = %" G_GINT64_FORMAT " : i64, lhs_dilation = %s, rhs_dilation = %s, window_strides = %s, "
                               "padding = %s",
                               space->str, space->str, space->str, gantry_attrs_int (m->context, m->node->attrs, "feature_group_count", 1),
                               gantry_stablehlo_array (m, "lhs_dilation", spatial, 1), gantry_stablehlo_array (m, "rhs_dilation", spatial, 1),
                               gantry_stablehlo_array (m, "window_strides", spatial, 1), padding_text (m, spatial));
  gantry_stablehlo_end (m, in, 2, &type, 1);
  return finish_convolution (m, value, n > 2 ? in[2] : NULL);
}

MlirName *
gantry_stablehlo_export_sum (MlirExport *m, MlirName **in, guint n)
{
  switch (m->node->op)
    {
    case GANTRY_OP_SCATTER: return scatter (m, in);
    case GANTRY_OP_DOT_GENERAL: return dot (m, in);
    case GANTRY_OP_CONVOLUTION: return convolution (m, in, n);
    default: return reduction (m, in[0]);
    }
}
