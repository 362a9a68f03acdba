/* SPDX-License-Identifier: Apache-2.0 */
/* Quantisation and the operations on quantised tensors, for 8 and 16 bit integers. Products are
 * exact in i32; rescaling rounds half to even and saturates. */
#include "core/frontends/onnx/lower-words-private.h"

static gboolean
quantised_range (GantryElementType element, double *low, double *high)
{
  switch ((int) element)
    {
    case GANTRY_U8: *low = 0, *high = 255; return TRUE;
    case GANTRY_I8: *low = -128, *high = 127; return TRUE;
    case GANTRY_U16: *low = 0, *high = 65535; return TRUE;
    case GANTRY_I16: *low = -32768, *high = 32767; return TRUE;
    default: return FALSE;
    }
}

/* Rounds @x (a float), adds @zero (an integer or 0) and saturates to @element. */
static guint32
saturate (GantryLower *l, guint32 x, guint32 zero, GantryElementType element)
{
  double low, high;

  if (!quantised_range (element, &low, &high))
    {
      gantry_lower_fail (l, "quantisation to %s is not supported", gantry_element_name (element));
      return 0;
    }
  x = gantry_lower_unary (l, GANTRY_OP_ROUND_NEAREST_EVEN, gantry_builder_widen (l->b, x));
  if (zero != 0)
    x = ADD (x, gantry_builder_convert (l->b, zero, gantry_lower_element (l, x)));
  x = MINIMUM (MAXIMUM (x, gantry_builder_like (l->b, x, low)), gantry_builder_like (l->b, x, high));
  return gantry_builder_convert (l->b, x, element);
}

/* A scale or zero point shaped so that it broadcasts to @x: one number, one for each index of
 * `axis`, or blocks of block_size along it. */
static guint32
spread (GantryLower *l, guint32 parameter, guint32 x)
{
  guint rank = gantry_lower_rank (l, x);
  gint64 block = gantry_lower_int (l, "block_size", 0);
  gint64 axis;
  gint64 *indices;

  if (parameter == 0)
    return 0;
  if (gantry_type_elements (gantry_lower_type (l, parameter)) == 1 && gantry_lower_rank (l, parameter) <= 1)
    return gantry_builder_reshape (l->b, parameter, 0, NULL);
  axis = gantry_lower_axis (l, gantry_lower_int (l, "axis", 1), rank);
  if (axis < 0)
    return 0;
  if (gantry_lower_rank (l, parameter) == 1 && block == 0)
    return gantry_builder_along (l->b, parameter, rank, axis);
  if (block < 1 || block > (1 << 24) || gantry_lower_rank (l, parameter) != rank
      || gantry_lower_dim (l, parameter, axis) * block < gantry_lower_dim (l, x, axis))
    {
      gantry_lower_invalid (l, "the scale does not fit the data");
      return 0;
    }
  indices = gantry_arena_new0 (l->arena, gint64, gantry_lower_dim (l, x, axis) + 1);
  for (gint64 i = 0; i < gantry_lower_dim (l, x, axis); i++)
    indices[i] = i / block;
  return gantry_lower_take (l, parameter, axis, indices, gantry_lower_dim (l, x, axis));
}

static void
quantize_linear (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint32 scale = spread (l, gantry_lower_operand (l, 1), x);
  guint32 zero = spread (l, gantry_lower_operand (l, 2), x);
  GantryElementType to = GANTRY_U8;
  GantryElementType with;

  if (scale == 0)
    {
      gantry_lower_invalid (l, "the scale is missing");
      return;
    }
  if (zero != 0)
    to = gantry_lower_element (l, zero);
  else if (gantry_lower_int (l, "output_dtype", 0) != 0)
    to = gantry_lower_data_type (gantry_lower_int (l, "output_dtype", 0));
  with = gantry_lower_element (l, scale);
  if (gantry_lower_int (l, "precision", 0) != 0)
    with = gantry_lower_data_type (gantry_lower_int (l, "precision", 0));
  else if (gantry_lower_element (l, x) != with && gantry_lower_element (l, x) == GANTRY_F32)
    with = GANTRY_F32;
  if (!gantry_element_is_float (with))
    {
      gantry_lower_fail (l, "the scale is not a floating point number");
      return;
    }
  l->out[0] = saturate (l, DIVIDE (gantry_builder_convert (l->b, x, with), gantry_builder_convert (l->b, scale, with)), zero, to);
}

static void
dequantize_linear (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint32 scale = spread (l, gantry_lower_operand (l, 1), x);
  guint32 zero = spread (l, gantry_lower_operand (l, 2), x);
  GantryElementType to = gantry_lower_element (l, scale);

  if (scale == 0)
    {
      gantry_lower_invalid (l, "the scale is missing");
      return;
    }
  if (!gantry_element_is_integer (gantry_lower_element (l, x)))
    {
      gantry_lower_fail (l, "the data is not of an integer type");
      return;
    }
  if (gantry_lower_int (l, "output_dtype", 0) != 0)
    to = gantry_lower_data_type (gantry_lower_int (l, "output_dtype", 0));
  x = gantry_builder_convert (l->b, x, GANTRY_I32);
  if (zero != 0)
    x = SUBTRACT (x, gantry_builder_convert (l->b, zero, GANTRY_I32));
  if (to == GANTRY_ELEMENT_NONE || !gantry_element_is_float (to))
    gantry_lower_fail (l, "element type of the result is not compiled");
  else
    l->out[0] = gantry_builder_convert (l->b, MULTIPLY (gantry_builder_convert (l->b, x, GANTRY_F32), gantry_builder_convert (l->b, scale, GANTRY_F32)), to);
}

/* The scale spans the data and 0; the zero point is where 0 comes to lie. */
static void
dynamic_quantize_linear (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint rank = gantry_lower_rank (l, x);
  gint64 axes[GANTRY_MAX_RANK];
  guint32 low, high, scale, zero, one, empty;

  for (guint i = 0; i < rank; i++)
    axes[i] = i;
  low = MINIMUM (gantry_builder_reduce_axes (l->b, "min", x, axes, rank, FALSE), gantry_builder_like (l->b, x, 0));
  high = MAXIMUM (gantry_builder_reduce_axes (l->b, "max", x, axes, rank, FALSE), gantry_builder_like (l->b, x, 0));
  one = gantry_builder_like (l->b, x, 1);
  empty = gantry_builder_compare (l->b, "EQ", low, high);
  scale = gantry_builder_select (l->b, empty, one, SUBTRACT (high, low));
  scale = DIVIDE (scale, gantry_builder_like (l->b, x, 255));
  zero = saturate (l, gantry_lower_unary (l, GANTRY_OP_NEGATE, DIVIDE (low, scale)), 0, GANTRY_U8);
  l->out[0] = saturate (l, DIVIDE (x, scale), zero, GANTRY_U8);
  if (gantry_lower_wants (l, 1))
    l->out[1] = scale;
  if (gantry_lower_wants (l, 2))
    l->out[2] = zero;
}

/* A parameter of the left (rows) or right (columns) operand of a matrix product. */
static guint32
matrix_parameter (GantryLower *l, guint i, gboolean rows)
{
  guint32 parameter = gantry_lower_operand (l, i);

  if (parameter == 0)
    return 0;
  if (gantry_type_elements (gantry_lower_type (l, parameter)) == 1)
    return gantry_builder_reshape (l->b, parameter, 0, NULL);
  return gantry_lower_rank (l, parameter) == 1 && rows ? gantry_builder_along (l->b, parameter, 2, 0) : parameter;
}

/* Operand @i as i32 without its zero point. */
static guint32
centred (GantryLower *l, guint i, guint32 zero)
{
  guint32 x = gantry_lower_operand (l, i);

  if (!gantry_element_is_integer (gantry_lower_element (l, x)))
    {
      gantry_lower_invalid (l, "operand %u is not of an integer type", i);
      return 0;
    }
  x = gantry_builder_convert (l->b, x, GANTRY_I32);
  return zero != 0 ? SUBTRACT (x, gantry_builder_convert (l->b, zero, GANTRY_I32)) : x;
}

static void
mat_mul_integer (GantryLower *l)
{
  guint32 a = centred (l, 0, matrix_parameter (l, 2, TRUE));
  guint32 b = centred (l, 1, matrix_parameter (l, 3, FALSE));

  if (a != 0 && b != 0)
    l->out[0] = gantry_lower_matmul (l, a, b, GANTRY_ELEMENT_NONE);
}

/* i32 sums times a * b / y, with zero point. */
static guint32
rescale (GantryLower *l, guint32 sums, guint32 a_scale, guint32 b_scale, guint32 y_scale, guint32 zero, GantryElementType element)
{
  guint32 factor;

  if (a_scale == 0 || b_scale == 0 || y_scale == 0)
    {
      gantry_lower_invalid (l, "a scale is missing");
      return 0;
    }
  factor = DIVIDE (MULTIPLY (gantry_builder_widen (l->b, a_scale), gantry_builder_widen (l->b, b_scale)), gantry_builder_widen (l->b, y_scale));
  return saturate (l, MULTIPLY (gantry_builder_convert (l->b, sums, gantry_lower_element (l, factor)), factor), zero, element);
}

static void
q_linear_mat_mul (GantryLower *l)
{
  guint32 a = centred (l, 0, matrix_parameter (l, 2, TRUE));
  guint32 b = centred (l, 3, matrix_parameter (l, 5, FALSE));
  guint32 y = a != 0 && b != 0 ? gantry_lower_matmul (l, a, b, GANTRY_ELEMENT_NONE) : 0;
  guint32 zero = matrix_parameter (l, 7, TRUE);

  if (y != 0)
    l->out[0] = rescale (l, y, matrix_parameter (l, 1, TRUE), matrix_parameter (l, 4, FALSE), matrix_parameter (l, 6, TRUE), zero,
                         gantry_lower_element (l, zero != 0 ? zero : l->in[0]));
}

/* A parameter of the weights: one number or one for each output channel, along axis @axis of @rank.
 * */
static guint32
channel_parameter (GantryLower *l, guint i, guint rank, gint64 axis)
{
  guint32 parameter = gantry_lower_operand (l, i);

  if (parameter == 0)
    return 0;
  if (gantry_type_elements (gantry_lower_type (l, parameter)) == 1)
    return gantry_builder_reshape (l->b, parameter, 0, NULL);
  return gantry_builder_along (l->b, parameter, rank, axis);
}

/* The i32 convolution of operands @x_at and @w_at with zero points @x_zero and @w_zero (operand
 * numbers). */
static guint32
integer_convolution (GantryLower *l, guint x_zero, guint w_at, guint w_zero, guint32 bias)
{
  guint rank = gantry_lower_rank (l, gantry_lower_operand (l, 0));
  GantryLowerWindow window;
  GantryDim kernel[GANTRY_MAX_RANK];
  guint32 x, w;

  if (!gantry_lower_check_rank (l, 0, 3, GANTRY_MAX_RANK) || !gantry_lower_check_rank (l, w_at, rank, rank))
    return 0;
  gantry_lower_dims (l, l->in[w_at], kernel);
  if (!gantry_lower_window (l, l->in[0], kernel + 2, FALSE, &window))
    return 0;
  x = centred (l, 0, channel_parameter (l, x_zero, rank, 1));
  w = centred (l, w_at, channel_parameter (l, w_zero, rank, 0));
  return gantry_lower_convolution (l, x, w, bias, &window, gantry_lower_int (l, "group", 1));
}

static void
conv_integer (GantryLower *l)
{
  l->out[0] = integer_convolution (l, 2, 1, 3, 0);
}

static void
q_linear_conv (GantryLower *l)
{
  guint rank = gantry_lower_rank (l, gantry_lower_operand (l, 0));
  guint32 y = integer_convolution (l, 2, 3, 5, gantry_lower_operand (l, 8));
  guint32 zero = channel_parameter (l, 7, rank, 1);

  if (y != 0)
    l->out[0] = rescale (l, y, channel_parameter (l, 1, rank, 1), channel_parameter (l, 4, rank, 1), channel_parameter (l, 6, rank, 1), zero,
                         gantry_lower_element (l, zero != 0 ? zero : l->in[0]));
}

/* clang-format off */
#define RULE(name, function, class_) { name, function, GANTRY_CLASS_##class_, 0, 0, NULL }

const GantryLowerRule gantry_lower_quantize_rules[] = {
  RULE ("QuantizeLinear", quantize_linear, ELEMENTWISE), RULE ("DequantizeLinear", dequantize_linear, ELEMENTWISE),
  RULE ("DynamicQuantizeLinear", dynamic_quantize_linear, ELEMENTWISE), RULE ("MatMulInteger", mat_mul_integer, CONTRACTION),
  RULE ("QLinearMatMul", q_linear_mat_mul, CONTRACTION), RULE ("ConvInteger", conv_integer, CONTRACTION),
  RULE ("QLinearConv", q_linear_conv, CONTRACTION),
  { NULL },
};
/* clang-format on */
