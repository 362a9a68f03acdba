/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisation: over batches, instances, groups and layers. Means and variances of f16 and bf16
 * are computed in f32. */
#include "core/frontends/onnx/lower-words-private.h"

/* 1 / sqrt (variance + epsilon) */
static guint32
inverse_deviation (GantryLower *l, guint32 variance, double epsilon)
{
  guint32 deviation = UNARY (SQRT, gantry_builder_offset (l->b, variance, epsilon));

  return DIVIDE (gantry_builder_like (l->b, deviation, 1), deviation);
}

/* The mean of @x over @axes and 1 / deviation, kept as dimensions of 1; returns x - mean. */
static guint32
centre (GantryLower *l, guint32 x, const gint64 *axes, gsize n, double epsilon, guint32 *mean, guint32 *inverse)
{
  guint32 centred;

  *mean = gantry_builder_mean (l->b, x, axes, n);
  centred = SUBTRACT (x, *mean);
  *inverse = inverse_deviation (l, gantry_builder_mean (l->b, MULTIPLY (centred, centred), axes, n), epsilon);
  return centred;
}

/* Whether the node asks for the statistics of this batch instead of those given. */
static gboolean
is_training (GantryLower *l)
{
  if (l->opset >= 14)
    return gantry_lower_int (l, "training_mode", 0) != 0;
  if (l->opset < 7 && gantry_lower_int (l, "is_test", 0) == 0)
    return gantry_lower_wants (l, 1);
  return gantry_lower_wants (l, 1);
}

/* Statistics of this batch, and the running ones moved towards them. */
static void
batch_statistics (GantryLower *l, guint32 x, guint32 *mean, guint32 *variance)
{
  double momentum = gantry_lower_float (l, "momentum", 0.9f);
  guint rank = gantry_lower_rank (l, x);
  gint64 axes[GANTRY_MAX_RANK];
  GantryDim channels = gantry_lower_dim (l, x, 1);
  guint32 running[2] = { l->in[3], l->in[4] };
  guint32 current[2];
  guint n = 0;

  for (guint i = 0; i < rank; i++)
    if (i != 1)
      axes[n++] = i;
  current[0] = gantry_builder_mean (l->b, x, axes, n);
  current[1] = SUBTRACT (gantry_builder_widen (l->b, x), current[0]);
  current[1] = gantry_builder_mean (l->b, MULTIPLY (current[1], current[1]), axes, n);
  for (guint i = 0; i < 2; i++)
    {
      current[i] = gantry_builder_reshape (l->b, current[i], 1, &channels);
      if (gantry_lower_wants (l, i + 1))
        l->out[i + 1] = gantry_builder_convert (
          l->b, ADD (gantry_builder_scale (l->b, gantry_builder_widen (l->b, running[i]), momentum), gantry_builder_scale (l->b, current[i], 1 - momentum)),
          gantry_lower_element (l, running[i]));
    }
  *mean = current[0];
  *variance = current[1];
}

/* x * s + t with s = scale / sqrt (variance + epsilon) and t = b - mean * s, both one value for
 * each channel. */
static void
batch_normalization (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  GantryElementType element = gantry_lower_element (l, x);
  guint rank = gantry_lower_rank (l, x);
  double epsilon = gantry_lower_float (l, "epsilon", 1e-5f);
  guint32 mean, variance, s, t;

  if (!gantry_lower_check_rank (l, 0, 2, GANTRY_MAX_RANK))
    return;
  for (guint i = 1; i < 5; i++)
    if (!gantry_lower_check_rank (l, i, 1, 1) || !gantry_lower_require_static (l, l->in[i]))
      return;
  if (l->opset < 9 && gantry_lower_int (l, "spatial", 1) == 0)
    {
      gantry_lower_fail (l, "statistics for each position (spatial = 0) are not supported");
      return;
    }
  mean = gantry_builder_widen (l->b, l->in[3]);
  variance = gantry_builder_widen (l->b, l->in[4]);
  if (is_training (l))
    {
      if (l->opset < 14)
        {
          gantry_lower_fail (l, "training mode of versions before 14 is not supported");
          return;
        }
      if (!gantry_lower_require_static (l, x))
        return;
      batch_statistics (l, x, &mean, &variance);
    }
  s = MULTIPLY (gantry_builder_convert (l->b, l->in[1], gantry_lower_element (l, variance)), inverse_deviation (l, variance, epsilon));
  t = SUBTRACT (gantry_builder_convert (l->b, l->in[2], gantry_lower_element (l, s)), MULTIPLY (mean, s));
  s = gantry_builder_along (l->b, gantry_builder_convert (l->b, s, element), rank, 1);
  t = gantry_builder_along (l->b, gantry_builder_convert (l->b, t, element), rank, 1);
  l->out[0] = ADD (MULTIPLY (x, s), t);
}

static void
instance_normalization (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  GantryElementType element = gantry_lower_element (l, x);
  guint rank = gantry_lower_rank (l, x);
  guint32 wide = gantry_builder_widen (l->b, x);
  gint64 axes[GANTRY_MAX_RANK];
  guint32 centred, mean, inverse;

  if (!gantry_lower_check_rank (l, 0, 3, GANTRY_MAX_RANK) || !gantry_lower_check_rank (l, 1, 1, 1) || !gantry_lower_check_rank (l, 2, 1, 1))
    return;
  for (guint i = 2; i < rank; i++)
    axes[i - 2] = i;
  centred = centre (l, wide, axes, rank - 2, gantry_lower_float (l, "epsilon", 1e-5f), &mean, &inverse);
  inverse = MULTIPLY (inverse, gantry_builder_along (l->b, gantry_builder_widen (l->b, l->in[1]), rank, 1));
  centred = ADD (MULTIPLY (centred, inverse), gantry_builder_along (l->b, gantry_builder_widen (l->b, l->in[2]), rank, 1));
  l->out[0] = gantry_builder_convert (l->b, centred, element);
}

/* axis ... rank - 1 */
static gsize
axes_from (GantryLower *l, guint rank, gint64 *axes)
{
  gint64 axis = gantry_lower_axis (l, gantry_lower_int (l, "axis", -1), rank);
  gsize n = 0;

  for (gint64 i = axis; i >= 0 && i < rank; i++)
    axes[n++] = i;
  return n;
}

static void
layer_normalization (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  GantryElementType element = gantry_lower_element (l, x);
  GantryElementType stash = gantry_lower_data_type (gantry_lower_int (l, "stash_type", 1));
  gint64 axes[GANTRY_MAX_RANK];
  gsize n = axes_from (l, gantry_lower_rank (l, x), axes);
  guint32 centred, mean, inverse, y;

  if (l->failed || !gantry_lower_has (l, 1) || !gantry_element_is_float (stash))
    {
      gantry_lower_invalid (l, "the scale is missing or stash_type is no floating point type");
      return;
    }
  centred = centre (l, gantry_builder_widen (l->b, x), axes, n, gantry_lower_float (l, "epsilon", 1e-5f), &mean, &inverse);
  y = MULTIPLY (gantry_builder_convert (l->b, MULTIPLY (centred, inverse), element), l->in[1]);
  l->out[0] = gantry_lower_has (l, 2) ? ADD (y, l->in[2]) : y;
  if (gantry_lower_wants (l, 1))
    l->out[1] = gantry_builder_convert (l->b, mean, stash);
  if (gantry_lower_wants (l, 2))
    l->out[2] = gantry_builder_convert (l->b, inverse, stash);
}

static void
rms_normalization (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint32 wide = gantry_builder_widen (l->b, x);
  gint64 axes[GANTRY_MAX_RANK];
  gsize n = axes_from (l, gantry_lower_rank (l, x), axes);
  guint32 square;

  if (l->failed || !gantry_lower_has (l, 1))
    {
      gantry_lower_invalid (l, "the scale is missing");
      return;
    }
  square = gantry_builder_mean (l->b, MULTIPLY (wide, wide), axes, n);
  square = UNARY (SQRT, gantry_builder_offset (l->b, square, gantry_lower_float (l, "epsilon", 1e-5f)));
  l->out[0] = MULTIPLY (gantry_builder_convert (l->b, DIVIDE (wide, square), gantry_lower_element (l, x)), l->in[1]);
}

/* Scale and bias are one value for each group before version 21, for each channel from then on. */
static void
group_normalization (GantryLower *l)
{
  static const gint64 last[] = { 2 };
  guint32 x = gantry_lower_operand (l, 0);
  GantryElementType element = gantry_lower_element (l, x);
  gint64 groups = gantry_lower_int (l, "num_groups", 0);
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = gantry_lower_dims (l, x, dims);
  gboolean each_group = l->opset < 21;
  guint32 y, mean, inverse;
  gint64 rest = 1;

  if (!gantry_lower_check_rank (l, 0, 3, GANTRY_MAX_RANK) || !gantry_lower_check_rank (l, 1, 1, 1) || !gantry_lower_check_rank (l, 2, 1, 1))
    return;
  if (groups < 1 || dims[1] % groups != 0)
    {
      gantry_lower_invalid (l, "%" G_GINT64_FORMAT " groups do not divide the channels", groups);
      return;
    }
  for (guint i = 2; i < rank; i++)
    rest *= dims[i];
  y = gantry_builder_reshape (l->b, gantry_builder_widen (l->b, x), 3, (GantryDim[]){ dims[0], groups, dims[1] / groups * rest });
  y = centre (l, y, last, 1, gantry_lower_float (l, "epsilon", 1e-5f), &mean, &inverse);
  y = MULTIPLY (y, inverse);
  y = gantry_builder_convert (l->b, y, element);
  if (!each_group)
    y = gantry_builder_reshape (l->b, y, rank, dims);
  y = MULTIPLY (y, gantry_builder_along (l->b, l->in[1], each_group ? 3 : rank, 1));
  y = ADD (y, gantry_builder_along (l->b, l->in[2], each_group ? 3 : rank, 1));
  l->out[0] = gantry_builder_reshape (l->b, y, rank, dims);
}

/* (x - mean) / (deviation + 1e-9), as the specification's function body has it. */
static void
mean_variance_normalization (GantryLower *l)
{
  static const gint64 usual[] = { 0, 2, 3 };
  guint32 x = gantry_lower_operand (l, 0);
  guint rank = gantry_lower_rank (l, x);
  gsize n;
  const gint64 *axes = gantry_lower_axes (l, G_MAXUINT, rank, &n);
  guint32 centred, deviation;

  if (axes == NULL && !l->failed)
    {
      axes = usual;
      n = 3;
      if (rank != 4)
        gantry_lower_invalid (l, "axes are missing for %u dimensions", rank);
    }
  if (l->failed)
    return;
  centred = SUBTRACT (gantry_builder_widen (l->b, x), gantry_builder_mean (l->b, x, axes, n));
  deviation = UNARY (SQRT, gantry_builder_mean (l->b, MULTIPLY (centred, centred), axes, n));
  l->out[0] = gantry_builder_convert (l->b, DIVIDE (centred, gantry_builder_offset (l->b, deviation, 1e-9)), gantry_lower_element (l, x));
}

static void
lp_normalization (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  guint32 wide = gantry_builder_widen (l->b, x);
  gint64 axis = gantry_lower_axis (l, gantry_lower_int (l, "axis", -1), gantry_lower_rank (l, x));
  gint64 p = gantry_lower_int (l, "p", 2);
  guint32 norm, zero;

  if (axis < 0)
    return;
  if (p != 1 && p != 2)
    {
      gantry_lower_invalid (l, "p is %" G_GINT64_FORMAT ", not 1 or 2", p);
      return;
    }
  norm = p == 1 ? UNARY (ABS, wide) : MULTIPLY (wide, wide);
  norm = gantry_builder_reduce_axes (l->b, "add", norm, &axis, 1, TRUE);
  if (p == 2)
    norm = UNARY (SQRT, norm);
  zero = gantry_builder_like (l->b, norm, 0);
  l->out[0] = gantry_builder_convert (l->b, gantry_builder_select (l->b, gantry_builder_compare (l->b, "EQ", norm, zero), zero, DIVIDE (wide, norm)),
                                      gantry_lower_element (l, x));
}

/* Before version 13 the axes from `axis` (default 1) on were one; from then on it is one axis, by
 * default the last. */
static gsize
softmax_axes (GantryLower *l, guint32 x, gint64 *axes)
{
  guint rank = gantry_lower_rank (l, x);
  gboolean flat = l->opset < 13;
  gint64 axis = gantry_lower_int (l, "axis", flat ? 1 : -1);
  gsize n = 0;

  if (flat && axis == rank)
    return 0;
  axis = gantry_lower_axis (l, axis, rank);
  for (gint64 i = axis; i >= 0 && i < (flat ? (gint64) rank : axis + 1); i++)
    axes[n++] = i;
  return n;
}

static void
softmax (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  gint64 axes[GANTRY_MAX_RANK];
  gsize n = softmax_axes (l, x, axes);

  if (!l->failed)
    l->out[0] = gantry_lower_softmax (l, x, axes, n, l->rule->arg);
}

/* 1 at the first maximum, 0 elsewhere. */
static void
hardmax (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = gantry_lower_dims (l, x, dims);
  gint64 axes[GANTRY_MAX_RANK];
  gsize n = softmax_axes (l, x, axes);
  GantryDim flat[3] = { 1, 1, 1 };
  gint64 axis = 1;
  guint32 at, y;

  if (l->failed || n == 0)
    {
      gantry_lower_fail (l, "there is no axis to look along");
      return;
    }
  for (guint i = 0; i < rank; i++)
    flat[i < axes[0] ? 0 : i <= axes[n - 1] ? 1 : 2] *= dims[i];
  y = gantry_builder_reshape (l->b, x, 3, flat);
  at = gantry_lower_arg_extreme (l, y, axis, "max", FALSE);
  y = gantry_builder_compare (l->b, "EQ", gantry_builder_iota (l->b, GANTRY_I64, 3, flat, 1), at);
  l->out[0] = gantry_builder_reshape (l->b, gantry_builder_convert (l->b, y, gantry_lower_element (l, x)), rank, dims);
}

/* clang-format off */
#define RULE(name, function) { name, function, GANTRY_CLASS_REDUCTION, 0, 0, NULL }

const GantryLowerRule gantry_lower_norm_rules[] = {
  { "BatchNormalization", batch_normalization, GANTRY_CLASS_ELEMENTWISE, GANTRY_LOWER_ANY_SHAPE, 0, NULL },
  RULE ("InstanceNormalization", instance_normalization), RULE ("LayerNormalization", layer_normalization),
  RULE ("RMSNormalization", rms_normalization), RULE ("GroupNormalization", group_normalization),
  RULE ("MeanVarianceNormalization", mean_variance_normalization), RULE ("LpNormalization", lp_normalization),
  RULE ("Softmax", softmax), { "LogSoftmax", softmax, GANTRY_CLASS_REDUCTION, 0, TRUE, NULL },
  RULE ("Hardmax", hardmax),
  { NULL },
};
/* clang-format on */
