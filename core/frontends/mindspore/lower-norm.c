/* SPDX-License-Identifier: Apache-2.0 */
/* Normalizations. Statistics are computed in f32 at least. */
#include "core/frontends/mindspore/lower-private.h"

static void
give (MindLower *l, guint i, guint32 x)
{
  const GantryType *type = gantry_mind_declared_type (l, i);

  if (i < l->n_out && type->kind == GANTRY_TYPE_TENSOR && gantry_type_is_static (type))
    l->out[i] = gantry_builder_reshape (l->b, x, type->rank, type->dims);
  else if (i < l->n_out)
    l->out[i] = x;
}

/* (x - mean) / sqrt (variance + epsilon) over @axes. */
static guint32
standardize (MindLower *l, guint32 x, const gint64 *axes, guint n, double epsilon, guint32 *mean, guint32 *variance)
{
  guint32 centred;

  *mean = gantry_builder_mean (l->b, x, axes, n);
  centred = BINARY (SUBTRACT, x, *mean);
  *variance = gantry_builder_mean (l->b, BINARY (MULTIPLY, centred, centred), axes, n);
  return BINARY (MULTIPLY, centred, UNARY (RSQRT, gantry_builder_offset (l->b, *variance, epsilon)));
}

/* x * scale + bias, each along @axis where it is a vector. */
static guint32
affine (MindLower *l, guint32 x, const char *scale, const char *bias, gint64 axis)
{
  const struct
  {
    const char *name;
    GantryOp op;
  } steps[] = { { scale, GANTRY_OP_MULTIPLY }, { bias, GANTRY_OP_ADD } };

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      guint32 value = gantry_mind_in (l, steps[i].name);

      if (value == 0)
        continue;
      value = gantry_builder_convert (l->b, value, gantry_mind_element_of (l, x));
      if (axis >= 0)
        value = gantry_builder_along (l->b, value, gantry_mind_rank (l, x), axis);
      x = gantry_builder_binary_broadcast (l->b, steps[i].op, x, value);
    }
  return x;
}

/* Running statistics, or those of the batch while training. */
static void
batch_norm (MindLower *l)
{
  guint32 x = gantry_builder_widen (l->b, gantry_mind_need (l, "x")), mean = gantry_mind_in (l, "mean"), variance = gantry_mind_in (l, "variance"), y;
  guint rank = gantry_mind_rank (l, x), n = 0;
  double epsilon = gantry_mind_number (l, "epsilon", 1e-5);
  gint64 axes[GANTRY_MAX_RANK];

  for (guint i = 0; i < rank; i++)
    if (i != 1)
      axes[n++] = i;
  if (rank < 2 || strcmp (gantry_mind_string (l, "data_format", gantry_mind_string (l, "format", "NCHW")), "NHWC") == 0)
    {
      gantry_mind_refuse (l, "a value of %u dimensions, or whose channels are last", rank);
      return;
    }
  if (gantry_mind_int (l, "is_training", 0) != 0)
    y = standardize (l, x, axes, n, epsilon, &mean, &variance);
  else
    {
      GantryElementType element = gantry_mind_element_of (l, x);

      y = BINARY (SUBTRACT, x, gantry_builder_along (l->b, gantry_builder_convert (l->b, mean, element), rank, 1));
      y = BINARY (MULTIPLY, y,
                  UNARY (RSQRT, gantry_builder_offset (l->b, gantry_builder_along (l->b, gantry_builder_convert (l->b, variance, element), rank, 1), epsilon)));
    }
  give (l, 0, affine (l, y, "scale", "bias", 1));
  for (guint i = 1; i + 1 < l->n_out; i += 2)
    {
      give (l, i, mean);
      give (l, i + 1, variance);
    }
}

/* arg: 'l' layers from an axis on, 'e' of a shape, 'r' by the root of the mean square */
static void
layer_norm (MindLower *l)
{
  guint32 x = gantry_builder_widen (l->b, gantry_mind_need (l, "x")), y, mean = 0, variance = 0;
  guint rank = gantry_mind_rank (l, x);
  gint64 shape[GANTRY_MAX_RANK], axes[GANTRY_MAX_RANK];
  gint n_shape = l->rule->arg == 'e'   ? gantry_mind_ints (l, "normalized_shape", shape, GANTRY_MAX_RANK)
                 : l->rule->arg == 'r' ? (gint) gantry_mind_rank (l, gantry_mind_in (l, "scale"))
                                       : 0;
  gint64 first = l->rule->arg == 'l' ? gantry_mind_axis (l, gantry_mind_int (l, "begin_norm_axis", -1), rank) : (gint64) rank - MAX (n_shape, 1);
  double epsilon = gantry_mind_number (l, "epsilon", l->rule->arg == 'r' ? 1e-6 : 1e-7);
  guint n = 0;

  for (gint64 i = MAX (first, 0); i < rank; i++)
    axes[n++] = i;
  if (l->rule->arg == 'r')
    {
      variance = UNARY (RSQRT, gantry_builder_offset (l->b, gantry_builder_mean (l->b, BINARY (MULTIPLY, x, x), axes, n), epsilon));
      give (l, 0, affine (l, BINARY (MULTIPLY, x, variance), "scale", "bias", -1));
      give (l, 1, variance);
      return;
    }
  y = standardize (l, x, axes, n, epsilon, &mean, &variance);
  give (l, 0, affine (l, y, "scale", "bias", -1));
  if (l->n_out < 3)
    return;
  give (l, 1, mean);
  give (l, 2, l->rule->arg == 'e' ? UNARY (RSQRT, gantry_builder_offset (l->b, variance, epsilon)) : variance);
}

static void
group_norm (MindLower *l)
{
  static const gint64 last = 2;
  guint32 x = gantry_mind_need (l, "x"), y, mean = 0, variance = 0;
  const GantryType *type = gantry_mind_type (l, x);
  gint64 groups = gantry_mind_int (l, "num_groups", 1), n;
  double epsilon = gantry_mind_number (l, "epsilon", 1e-5);

  if (x == 0 || type->rank < 2 || groups < 1 || type->dims[1] % groups != 0)
    {
      gantry_mind_refuse (l, "%" G_GINT64_FORMAT " groups do not divide the channels", groups);
      return;
    }
  n = type->dims[0] * groups;
  y = gantry_builder_reshape (l->b, gantry_builder_widen (l->b, x), 3, (GantryDim[]){ type->dims[0], groups, n > 0 ? gantry_type_elements (type) / n : 0 });
  y = gantry_builder_reshape (l->b, standardize (l, y, &last, 1, epsilon, &mean, &variance), type->rank, type->dims);
  give (l, 0, affine (l, y, "scale", "bias", 1));
  give (l, 1, mean);
  if (l->n_out > 2)
    give (l, 2, UNARY (RSQRT, gantry_builder_offset (l->b, variance, epsilon)));
}

/* clang-format off */
#define N(name, arguments, function, arg) { name, arguments, function, GANTRY_CLASS_REDUCTION, arg, NULL }

const MindRule gantry_mind_norm_rules[] = {
  N ("BatchNorm", "x scale bias mean variance is_training epsilon momentum data_format", batch_norm, 0),
  N ("BatchNormExt", "x scale bias mean variance is_training momentum epsilon", batch_norm, 0),
  N ("LayerNorm", "x scale bias begin_norm_axis begin_params_axis epsilon", layer_norm, 'l'),
  N ("LayerNormExt", "x normalized_shape scale bias epsilon", layer_norm, 'e'),
  N ("LayerNormV3", "x scale bias begin_norm_axis begin_params_axis epsilon", layer_norm, 'l'),
  N ("RmsNorm", "x scale epsilon", layer_norm, 'r'), N ("GroupNorm", "x num_groups scale bias epsilon", group_norm, 0),
  { NULL },
};
/* clang-format on */
