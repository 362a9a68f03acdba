/* SPDX-License-Identifier: Apache-2.0 */
/* Classification losses: the negated log probability of each target class, weighted by class, with
 * one class index that may be ignored; none, sum or weighted mean. And the optimizer steps of the
 * training domain. */
#include "core/frontends/onnx/lower-words-private.h"

static guint32
sum_all (GantryLower *l, guint32 x)
{
  gint64 axes[GANTRY_MAX_RANK];
  guint rank = gantry_lower_rank (l, x);

  for (guint i = 0; i < rank; i++)
    axes[i] = i;
  return gantry_builder_reduce_axes (l->b, "add", x, axes, rank, FALSE);
}

/* -x[n, target[n, d...], d...], as an array shaped like the targets. */
static guint32
target_losses (GantryLower *l, guint32 x, guint32 target)
{
  GantryDim dims[GANTRY_MAX_RANK], wide[GANTRY_MAX_RANK];
  guint rank = gantry_lower_dims (l, target, dims);

  wide[0] = dims[0];
  wide[1] = 1;
  for (guint i = 1; i < rank; i++)
    wide[i + 1] = dims[i];
  target = gantry_builder_reshape (l->b, target, rank + 1, wide);
  return UNARY (NEGATE, gantry_builder_reshape (l->b, gantry_lower_gather_elements (l, x, target, 1), rank, dims));
}

/* Operand 1 as i64; in @counts whether each target counts, 0 where all do (no ignore_index). */
static guint32
read_targets (GantryLower *l, guint32 *counts)
{
  guint rank = gantry_lower_rank (l, gantry_lower_operand (l, 0));
  guint32 target;

  *counts = 0;
  if (!gantry_lower_check_rank (l, 0, 2, GANTRY_MAX_RANK) || !gantry_lower_check_rank (l, 1, rank - 1, rank - 1))
    return 0;
  target = gantry_builder_convert (l->b, l->in[1], GANTRY_I64);
  if (!gantry_lower_has_attr (l, "ignore_index"))
    return target;
  *counts = gantry_builder_compare (l->b, "NE", target, gantry_builder_int_scalar (l->b, GANTRY_I64, gantry_lower_int (l, "ignore_index", 0)));
  /* What is ignored may be no class at all. */
  return gantry_builder_select (l->b, *counts, target, gantry_builder_int_scalar (l->b, GANTRY_I64, 0));
}

/* @x where @counts, else 0. A product with 0 would not do: what is ignored may be infinite or NaN. */
static guint32
where_counts (GantryLower *l, guint32 counts, guint32 x)
{
  return counts != 0 && x != 0 ? gantry_builder_select (l->b, counts, x, gantry_builder_like (l->b, x, 0)) : x;
}

/* The loss of log probabilities @x for the targets that count (operand 2: class weights). */
static guint32
loss_of (GantryLower *l, guint32 x, guint32 target, guint32 counts)
{
  const char *reduction = gantry_lower_string (l, "reduction", "mean");
  guint32 weights = 0, loss;

  if (target == 0)
    return 0;
  loss = target_losses (l, x, target);
  if (gantry_lower_has (l, 2))
    {
      weights = gantry_builder_take (l->b, gantry_builder_convert (l->b, l->in[2], gantry_lower_element (l, x)), 0, target);
      weights = where_counts (l, counts, weights);
      loss = MULTIPLY (loss, weights);
    }
  else if (counts != 0)
    weights = gantry_builder_convert (l->b, counts, gantry_lower_element (l, x));
  loss = where_counts (l, counts, loss);
  if (strcmp (reduction, "none") == 0)
    return loss;
  if (strcmp (reduction, "sum") == 0)
    return sum_all (l, loss);
  if (strcmp (reduction, "mean") != 0)
    {
      gantry_lower_invalid (l, "reduction '%s' is not known", reduction);
      return 0;
    }
  if (weights != 0)
    return DIVIDE (sum_all (l, loss), sum_all (l, weights));
  return DIVIDE (sum_all (l, loss), gantry_builder_like (l->b, loss, (double) gantry_type_elements (gantry_lower_type (l, loss))));
}

static void
negative_log_likelihood_loss (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0), counts;
  guint32 target = read_targets (l, &counts);

  l->out[0] = gantry_builder_convert (l->b, loss_of (l, gantry_builder_widen (l->b, x), target, counts), gantry_lower_element (l, x));
}

/* @x with the scores of what is ignored set to 0, so that neither they nor their gradients are more than numbers that
 * nothing reads: the derivative of a softmax multiplies by it. */
static guint32
clear_ignored (GantryLower *l, guint32 x, guint32 counts)
{
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = gantry_lower_dims (l, x, dims);

  if (counts == 0)
    return x;
  dims[1] = 1;
  return where_counts (l, gantry_builder_reshape (l->b, counts, rank, dims), x);
}

static void
softmax_cross_entropy_loss (GantryLower *l)
{
  static const gint64 classes = 1;
  guint32 x = gantry_lower_operand (l, 0);
  GantryElementType element = gantry_lower_element (l, x);
  guint32 counts, logs, target = read_targets (l, &counts);

  if (l->failed)
    return;
  logs = gantry_lower_softmax (l, clear_ignored (l, gantry_builder_widen (l->b, x), counts), &classes, 1, TRUE);
  l->out[0] = gantry_builder_convert (l->b, loss_of (l, logs, target, counts), element);
  /* The probabilities are of all scores. */
  if (gantry_lower_wants (l, 1) && counts != 0)
    logs = gantry_lower_softmax (l, gantry_builder_widen (l->b, x), &classes, 1, TRUE);
  if (gantry_lower_wants (l, 1))
    l->out[1] = gantry_builder_convert (l->b, logs, element);
}

/* The optimizers of ai.onnx.preview.training: operands rate, step count, then for each of n tensors
 * its value, its gradient and its states, kind by kind; results the new values and states likewise.
 * */
static gboolean
optimizer_tensors (GantryLower *l, guint kinds, guint *n)
{
  *n = l->n_in > 2 ? (l->n_in - 2) / kinds : 0;
  if (*n == 0 || l->n_in != 2 + *n * kinds || l->n_out != *n * (kinds - 1))
    {
      gantry_lower_invalid (l, "operands and results do not fit");
      return FALSE;
    }
  for (guint i = 0; i < l->n_in; i++)
    if (l->in[i] == 0)
      {
        gantry_lower_invalid (l, "operand %u is missing", i);
        return FALSE;
      }
  return TRUE;
}

/* The gradient plus the share of the regularisation. */
static guint32
regularised (GantryLower *l, guint32 x, guint32 gradient)
{
  double norm = gantry_lower_float (l, "norm_coefficient", 0);

  return norm != 0 ? ADD (gradient, gantry_builder_scale (l->b, x, norm)) : gradient;
}

static void
adagrad (GantryLower *l)
{
  guint n;
  guint32 decay, rate;

  if (!optimizer_tensors (l, 3, &n))
    return;
  rate = l->in[0];
  decay = gantry_builder_scale (l->b, gantry_builder_convert (l->b, l->in[1], gantry_lower_element (l, rate)), gantry_lower_float (l, "decay_factor", 0));
  rate = DIVIDE (rate, gantry_builder_offset (l->b, decay, 1));
  for (guint i = 0; i < n; i++)
    {
      guint32 x = l->in[2 + i];
      guint32 gradient = regularised (l, x, l->in[2 + n + i]);
      guint32 h = ADD (l->in[2 + 2 * n + i], MULTIPLY (gradient, gradient));
      guint32 step = DIVIDE (gradient, gantry_builder_offset (l->b, UNARY (SQRT, h), gantry_lower_float (l, "epsilon", 0)));

      l->out[i] = SUBTRACT (x, MULTIPLY (step, gantry_builder_convert (l->b, rate, gantry_lower_element (l, step))));
      l->out[n + i] = h;
    }
}

static void
adam (GantryLower *l)
{
  double alpha = gantry_lower_float (l, "alpha", 0.9f);
  double beta = gantry_lower_float (l, "beta", 0.999f);
  double post = gantry_lower_float (l, "norm_coefficient_post", 0);
  guint32 steps, rate, started;
  guint n;

  if (!optimizer_tensors (l, 4, &n))
    return;
  /* From the second step on the rate makes up for the states' start at zero. */
  steps = gantry_builder_convert (l->b, l->in[1], gantry_lower_element (l, l->in[0]));
  rate = UNARY (SQRT, SUBTRACT (gantry_builder_like (l->b, steps, 1),
                                gantry_builder_binary_broadcast (l->b, GANTRY_OP_POWER, gantry_builder_like (l->b, steps, beta), steps)));
  rate = DIVIDE (rate, SUBTRACT (gantry_builder_like (l->b, steps, 1),
                                 gantry_builder_binary_broadcast (l->b, GANTRY_OP_POWER, gantry_builder_like (l->b, steps, alpha), steps)));
  started = gantry_builder_compare (l->b, "GT", steps, gantry_builder_like (l->b, steps, 0));
  rate = gantry_builder_select (l->b, started, MULTIPLY (l->in[0], rate), l->in[0]);
  for (guint i = 0; i < n; i++)
    {
      guint32 x = l->in[2 + i];
      guint32 gradient = regularised (l, x, l->in[2 + n + i]);
      guint32 v = ADD (gantry_builder_scale (l->b, l->in[2 + 2 * n + i], alpha), gantry_builder_scale (l->b, gradient, 1 - alpha));
      guint32 h = ADD (gantry_builder_scale (l->b, l->in[2 + 3 * n + i], beta), gantry_builder_scale (l->b, MULTIPLY (gradient, gradient), 1 - beta));
      guint32 step = DIVIDE (v, gantry_builder_offset (l->b, UNARY (SQRT, h), gantry_lower_float (l, "epsilon", 0)));

      x = SUBTRACT (x, MULTIPLY (step, gantry_builder_convert (l->b, rate, gantry_lower_element (l, step))));
      l->out[i] = gantry_builder_scale (l->b, x, 1 - post);
      l->out[n + i] = v;
      l->out[2 * n + i] = h;
    }
}

static void
momentum (GantryLower *l)
{
  double alpha = gantry_lower_float (l, "alpha", 0);
  gboolean nesterov = strcmp (gantry_lower_string (l, "mode", "standard"), "nesterov") == 0;
  guint32 first, share;
  guint n;

  if (!optimizer_tensors (l, 3, &n))
    return;
  /* In the very first step the gradient counts whole. */
  first = gantry_builder_compare (l->b, "GT", l->in[1], gantry_builder_int_scalar (l->b, gantry_lower_element (l, l->in[1]), 0));
  share = gantry_builder_select (l->b, first, gantry_builder_like (l->b, l->in[0], gantry_lower_float (l, "beta", 0)), gantry_builder_like (l->b, l->in[0], 1));
  for (guint i = 0; i < n; i++)
    {
      guint32 x = l->in[2 + i];
      guint32 gradient = regularised (l, x, l->in[2 + n + i]);
      guint32 v = ADD (gantry_builder_scale (l->b, l->in[2 + 2 * n + i], alpha), MULTIPLY (gradient, share));
      guint32 step = nesterov ? ADD (gradient, gantry_builder_scale (l->b, v, alpha)) : v;

      l->out[i] = SUBTRACT (x, MULTIPLY (step, l->in[0]));
      l->out[n + i] = v;
    }
}

/* clang-format off */
#define RULE(name, function) { name, function, GANTRY_CLASS_REDUCTION, 0, 0, NULL }
#define TRAINING(name, function) { "ai.onnx.preview.training." name, function, GANTRY_CLASS_ELEMENTWISE, 0, 0, NULL }

const GantryLowerRule gantry_lower_loss_rules[] = {
  RULE ("NegativeLogLikelihoodLoss", negative_log_likelihood_loss),
  RULE ("SoftmaxCrossEntropyLoss", softmax_cross_entropy_loss),
  TRAINING ("Adagrad", adagrad), TRAINING ("Adam", adam), TRAINING ("Momentum", momentum),
  { NULL },
};
/* clang-format on */
