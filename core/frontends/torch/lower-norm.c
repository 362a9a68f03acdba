/* SPDX-License-Identifier: Apache-2.0 */
/* Normalizations and softmax. Means and variances of f16 and bf16 are computed in f32. */
#include "core/frontends/torch/lower-words-private.h"

/* 1 / sqrt (variance + epsilon) */
static guint32
inverse_deviation (AtenLower *l, guint32 variance, double epsilon)
{
  guint32 deviation = UNARY (SQRT, gantry_builder_offset (l->b, variance, epsilon));

  return BINARY (DIVIDE, gantry_builder_like (l->b, deviation, 1), deviation);
}

/* x less its mean over the axes; the mean and the inverse deviation with their dimensions kept. */
static guint32
centre (AtenLower *l, guint32 x, const gint64 *axes, guint n, double epsilon, guint32 *mean, guint32 *inverse)
{
  guint32 centred;

  *mean = gantry_builder_mean (l->b, x, axes, n);
  centred = BINARY (SUBTRACT, x, *mean);
  *inverse = inverse_deviation (l, gantry_builder_mean (l->b, BINARY (MULTIPLY, centred, centred), axes, n), epsilon);
  return centred;
}

static void
give (AtenLower *l, guint i, guint32 x)
{
  const GantryType *type = i < l->n_out ? gantry_aten_declared (l, i) : NULL;

  if (type != NULL && type->kind == GANTRY_TYPE_TENSOR && gantry_type_elements (type) > 0)
    l->out[i] = gantry_builder_reshape (l->b, x, type->rank, type->dims);
}

/* y * weight + bias with one of each for every index of an axis. */
static guint32
affine (AtenLower *l, guint32 y, guint rank, gint64 axis)
{
  guint32 weight = gantry_aten_in (l, "weight"), bias = gantry_aten_in (l, "bias");

  if (weight != 0)
    y = BINARY (MULTIPLY, y, gantry_builder_convert (l->b, gantry_builder_along (l->b, weight, rank, axis), gantry_aten_element (l, y)));
  if (bias != 0)
    y = BINARY (ADD, y, gantry_builder_convert (l->b, gantry_builder_along (l->b, bias, rank, axis), gantry_aten_element (l, y)));
  return y;
}

/* With running statistics: x * s + t with s = weight / sqrt (var + eps) and t = bias - mean * s, one of each for a channel. */
static void
batch_norm_inference (AtenLower *l, guint32 x, double epsilon)
{
  guint rank = gantry_aten_rank (l, x);
  guint32 mean = gantry_builder_widen (l->b, gantry_aten_need (l, "running_mean"));
  guint32 s = inverse_deviation (l, gantry_builder_widen (l->b, gantry_aten_need (l, "running_var")), epsilon), t;
  guint32 weight = gantry_aten_in (l, "weight"), bias = gantry_aten_in (l, "bias");

  if (weight != 0)
    s = BINARY (MULTIPLY, gantry_builder_convert (l->b, weight, gantry_aten_element (l, s)), s);
  t = BINARY (MULTIPLY, mean, s);
  t = bias != 0 ? BINARY (SUBTRACT, gantry_builder_convert (l->b, bias, gantry_aten_element (l, t)), t) : UNARY (NEGATE, t);
  x = gantry_builder_convert (l->b, x, gantry_aten_element (l, s));
  x = BINARY (ADD, BINARY (MULTIPLY, x, gantry_builder_along (l->b, s, rank, 1)), gantry_builder_along (l->b, t, rank, 1));
  l->out[0] = x;
}

/* With the statistics of this batch; then also the running ones moved, where the node gives them (results 3 and 4). */
static void
batch_norm_training (AtenLower *l, guint32 x, double epsilon)
{
  guint rank = gantry_aten_rank (l, x), n = 0;
  gint64 axes[GANTRY_MAX_RANK];
  double momentum = gantry_aten_number (l, "momentum", 0.1), count = 1;
  guint32 wide = gantry_builder_widen (l->b, x), mean = 0, inverse = 0, centred;

  for (guint i = 0; i < rank; i++)
    if (i != 1)
      {
        count *= (double) gantry_aten_dim (l, x, i);
        axes[n++] = i;
      }
  centred = centre (l, wide, axes, n, epsilon, &mean, &inverse);
  l->out[0] = affine (l, BINARY (MULTIPLY, centred, inverse), rank, 1);
  give (l, 1, mean);
  give (l, 2, inverse);
  for (guint i = 3; i < 5 && i < l->n_out; i++)
    {
      guint32 running = gantry_aten_in (l, i == 3 ? "running_mean" : "running_var"), now = mean;
      GantryDim channels = gantry_aten_dim (l, x, 1);

      /* The running variance is that of a sample. */
      if (i == 4)
        now = gantry_builder_scale (l->b, gantry_builder_mean (l->b, BINARY (MULTIPLY, centred, centred), axes, n), count / MAX (count - 1, 1));
      now = gantry_builder_reshape (l->b, now, 1, &channels);
      if (running != 0)
        give (l, i,
              BINARY (ADD, gantry_builder_scale (l->b, gantry_builder_convert (l->b, running, gantry_aten_element (l, now)), 1 - momentum),
                      gantry_builder_scale (l->b, now, momentum)));
    }
}

/* arg: 'i' never of this batch */
static void
batch_norm (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "input");
  double epsilon = gantry_aten_number (l, "eps", 1e-5);

  if (gantry_aten_rank (l, x) < 2)
    gantry_aten_refuse (l, "an input of %u dimensions", gantry_aten_rank (l, x));
  else if (l->rule->arg != 'i' && gantry_aten_int (l, "training", l->rule->arg == 't') != 0)
    batch_norm_training (l, x, epsilon);
  else
    batch_norm_inference (l, x, epsilon);
}

/* Over the last dimensions, as many as normalized_shape has. */
static void
layer_norm (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "input"), weight = gantry_aten_in (l, "weight"), bias = gantry_aten_in (l, "bias"), y, mean = 0, inverse = 0;
  guint rank = gantry_aten_rank (l, x);
  gint64 axes[GANTRY_MAX_RANK];
  double epsilon = gantry_aten_number (l, "eps", l->rule->arg == 'r' ? 1.1920928955078125e-07 : 1e-5);
  gsize n;

  gantry_aten_ints (l, "normalized_shape", &n);
  if (n < 1 || n > rank)
    {
      gantry_aten_refuse (l, "a normalized shape of %u dimensions for %u", (guint) n, rank);
      return;
    }
  for (gsize i = 0; i < n; i++)
    axes[i] = (gint64) (rank - n + i);
  y = gantry_builder_widen (l->b, x);
  if (l->rule->arg == 'r')
    inverse = inverse_deviation (l, gantry_builder_mean (l->b, BINARY (MULTIPLY, y, y), axes, (guint) n), epsilon);
  else
    y = centre (l, y, axes, (guint) n, epsilon, &mean, &inverse);
  y = BINARY (MULTIPLY, y, inverse);
  if (weight != 0)
    y = BINARY (MULTIPLY, y, gantry_builder_convert (l->b, weight, gantry_aten_element (l, y)));
  if (bias != 0)
    y = BINARY (ADD, y, gantry_builder_convert (l->b, bias, gantry_aten_element (l, y)));
  l->out[0] = y;
  if (mean != 0)
    {
      give (l, 1, mean);
      give (l, 2, inverse);
    }
}

/* arg: 'c' each channel is a group */
static void
group_norm (AtenLower *l)
{
  static const gint64 last = 2;
  guint32 x = gantry_aten_need (l, "input"), y, mean = 0, inverse = 0;
  guint rank = gantry_aten_rank (l, x);
  gint64 groups = l->rule->arg == 'c' ? gantry_aten_dim (l, x, 1) : gantry_aten_int (l, gantry_aten_has (l, "num_groups") ? "num_groups" : "group", 1);
  gint64 n;
  const GantryType *type = gantry_aten_type (l, x);

  if (l->rule->arg == 'c' && gantry_aten_int (l, "use_input_stats", 1) == 0)
    {
      gantry_aten_refuse (l, "running statistics of instances are not supported");
      return;
    }
  if (rank < 2 || groups < 1 || type->dims[1] % groups != 0)
    {
      gantry_aten_refuse (l, "%" G_GINT64_FORMAT " groups do not divide the channels", groups);
      return;
    }
  n = type->dims[0] * groups;
  y = gantry_builder_reshape (l->b, gantry_builder_widen (l->b, x), 3, (GantryDim[]){ type->dims[0], groups, n > 0 ? gantry_type_elements (type) / n : 0 });
  y = centre (l, y, &last, 1, gantry_aten_number (l, "eps", 1e-5), &mean, &inverse);
  y = BINARY (MULTIPLY, y, inverse);
  l->out[0] = affine (l, gantry_builder_reshape (l->b, y, rank, type->dims), rank, 1);
  give (l, 1, mean);
  give (l, 2, inverse);
}

static void
softmax (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, gantry_aten_in (l, "self") != 0 ? "self" : "input");

  if (gantry_element_is_float (gantry_aten_result_element (l)) && gantry_aten_has (l, "dtype"))
    x = gantry_builder_convert (l->b, x, gantry_aten_result_element (l));
  l->out[0] = gantry_aten_softmax (l, x, gantry_aten_axis (l, gantry_aten_int (l, "dim", -1), gantry_aten_rank (l, x)), l->rule->arg);
}

/* Rows that are -infinity throughout give 0. */
static void
safe_softmax (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self"), y, top;
  gint64 axis = gantry_aten_axis (l, gantry_aten_int (l, "dim", -1), gantry_aten_rank (l, x));

  y = gantry_aten_softmax (l, x, axis, FALSE);
  top = gantry_builder_reduce_axes (l->b, "max", x, &axis, 1, TRUE);
  l->out[0] = gantry_builder_select (l->b, gantry_builder_compare (l->b, "EQ", top, gantry_builder_like (l->b, top, -INFINITY)),
                                     gantry_builder_like (l->b, y, 0), y);
}

/* clang-format off */
#define RULE(name, function, arg) { name, function, GANTRY_CLASS_REDUCTION, arg, NULL }

const AtenRule gantry_aten_norm_rules[] = {
  RULE ("batch_norm", batch_norm, 0), RULE ("_native_batch_norm_legit_no_training", batch_norm, 'i'), RULE ("native_batch_norm", batch_norm, 0),
  RULE ("_native_batch_norm_legit", batch_norm, 't'), RULE ("_native_batch_norm_legit_functional", batch_norm, 't'),
  RULE ("_batch_norm_no_update", batch_norm, 'i'), RULE ("cudnn_batch_norm", batch_norm, 0),
  RULE ("layer_norm", layer_norm, 'l'), RULE ("native_layer_norm", layer_norm, 'l'), RULE ("rms_norm", layer_norm, 'r'),
  RULE ("group_norm", group_norm, 0), RULE ("native_group_norm", group_norm, 0), RULE ("instance_norm", group_norm, 'c'), RULE ("softmax", softmax, FALSE),
  RULE ("_softmax", softmax, FALSE), RULE ("log_softmax", softmax, TRUE), RULE ("_log_softmax", softmax, TRUE),
  RULE ("_safe_softmax", safe_softmax, 0),
  { NULL },
};
/* clang-format on */
