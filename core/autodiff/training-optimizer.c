/* SPDX-License-Identifier: Apache-2.0 */
/* The formulas of the optimizers, as chains of elementwise operations that end in the new moments and the new value.
 *
 * They are written so that each can run in place: m' reads m and the gradient, v' reads v and the gradient, and
 * of an optimizer with moments the new value reads those but neither the gradient nor the old moments. So the last use of
 * an old value is the operation that makes the new one, and the gradient is dead before the new value is made. Everything that is
 * the same for all elements (bias correction, rate, clipping) is computed once, as a scalar. */
#include "core/autodiff/training-private.h"
#include <math.h>

guint
_gantry_optimizer_states (GantryOptimizer optimizer)
{
  switch (optimizer)
    {
    case GANTRY_OPTIMIZER_NONE:
    case GANTRY_OPTIMIZER_SGD: return 0;
    case GANTRY_OPTIMIZER_MOMENTUM: return 1;
    case GANTRY_OPTIMIZER_ADAM:
    case GANTRY_OPTIMIZER_ADAMW: return 2;
    }
  g_return_val_if_reached (0);
}

/* 1 - beta^t as -(exp (t log beta) - 1): in f32 the difference of the powers has lost four digits where beta is 0.999. */
static guint32
one_minus_power (GantryBuilder *builder, GantryElementType element, double beta, guint32 t)
{
  guint32 exponent = gantry_builder_binary (builder, GANTRY_OP_MULTIPLY, t, gantry_builder_scalar (builder, element, log (beta)));

  return gantry_builder_unary (builder, GANTRY_OP_NEGATE, gantry_builder_unary (builder, GANTRY_OP_EXPONENTIAL_MINUS_ONE, exponent));
}

void
_gantry_optimizer_begin (GantryBuilder *builder, const GantryTrainingOptions *options, guint32 step, gboolean f32, gboolean f64, GantryUpdateScalars *scalars)
{
  const gboolean wanted[2] = { f32, f64 };

  if (step == 0)
    return;
  scalars->new_step = gantry_builder_binary (builder, GANTRY_OP_ADD, step, gantry_builder_int_scalar (builder, GANTRY_I32, 1));
  for (guint i = 0; i < 2; i++)
    {
      GantryElementType element = i == 0 ? GANTRY_F32 : GANTRY_F64;
      guint32 t;

      if (!wanted[i])
        continue;
      t = gantry_builder_convert (builder, scalars->new_step, element);
      scalars->rate[i] = gantry_builder_binary (builder, GANTRY_OP_DIVIDE, gantry_builder_scalar (builder, element, options->learning_rate),
                                                one_minus_power (builder, element, options->beta1, t));
      scalars->correction[i] = gantry_builder_binary (builder, GANTRY_OP_DIVIDE, gantry_builder_scalar (builder, element, 1),
                                                      one_minus_power (builder, element, options->beta2, t));
    }
}

/* x * factor, a scalar value. */
static guint32
scale (GantryBuilder *builder, guint32 x, guint32 factor)
{
  const GantryType *type = gantry_builder_get_type (builder, x);
  guint32 all;

  if (type->kind != GANTRY_TYPE_TENSOR)
    return 0;
  all = type->rank == 0 ? factor : gantry_builder_broadcast (builder, factor, type->rank, type->dims, NULL);
  return gantry_builder_binary (builder, GANTRY_OP_MULTIPLY, x, all);
}

static guint32
scale_by (GantryBuilder *builder, guint32 x, double factor)
{
  GantryElementType element = (GantryElementType) gantry_builder_get_type (builder, x)->element;

  return scale (builder, x, gantry_builder_scalar (builder, element, factor));
}

/* x * clip * factor. Both factors become one before they meet x: a clipped gradient that moments and values shared
 * would be a tensor of its own. */
static guint32
scale_clipped (GantryBuilder *builder, guint32 x, guint32 clip, double factor)
{
  GantryElementType element = (GantryElementType) gantry_builder_get_type (builder, x)->element;

  if (clip == 0)
    return scale_by (builder, x, factor);
  return scale (builder, x, gantry_builder_binary (builder, GANTRY_OP_MULTIPLY, clip, gantry_builder_scalar (builder, element, factor)));
}

/* What Adam subtracts: rate m' / (sqrt (v' correction) + epsilon). The gradient is squared after it is clipped, since
 * the square of a small factor may be too small. */
static guint32
adam (GantryBuilder *builder, const GantryTrainingOptions *options, const GantryUpdateScalars *scalars, GantryTrained *trained, guint32 clip)
{
  const GantryType *type = gantry_builder_get_type (builder, trained->value);
  guint i = trained->element == GANTRY_F64;
  guint32 root, gradient;

  trained->new_m = gantry_builder_binary (builder, GANTRY_OP_ADD, scale_by (builder, trained->m, options->beta1),
                                          scale_clipped (builder, trained->value, clip, 1 - options->beta1));
  gradient = clip != 0 ? scale (builder, trained->value, clip) : trained->value;
  gradient = gantry_builder_binary (builder, GANTRY_OP_MULTIPLY, gradient, gradient);
  trained->new_v = gantry_builder_binary (builder, GANTRY_OP_ADD, scale_by (builder, trained->v, options->beta2),
                                          scale_by (builder, gradient, 1 - options->beta2));
  root = gantry_builder_unary (builder, GANTRY_OP_SQRT, scale (builder, trained->new_v, scalars->correction[i]));
  root = gantry_builder_binary (builder, GANTRY_OP_ADD, root, gantry_builder_splat (builder, trained->element, options->epsilon, type->rank, type->dims));
  return gantry_builder_binary (builder, GANTRY_OP_DIVIDE, scale (builder, trained->new_m, scalars->rate[i]), root);
}

void
_gantry_optimizer_update (GantryBuilder *builder, const GantryTrainingOptions *options, const GantryUpdateScalars *scalars, GantryTrained *trained)
{
  GantryElementType stored = (GantryElementType) gantry_builder_get_type (builder, trained->node)->element;
  guint32 value = gantry_builder_convert (builder, trained->node, trained->element);
  guint32 clip = scalars->clip[trained->element == GANTRY_F64];
  guint32 change = 0;

  switch (options->optimizer)
    {
    case GANTRY_OPTIMIZER_NONE: /* the gradient, clipped */
      change = clip != 0 ? scale (builder, trained->value, clip) : trained->value;
      trained->new_value = gantry_builder_convert (builder, change, stored);
      return;
    case GANTRY_OPTIMIZER_SGD: change = scale_clipped (builder, trained->value, clip, options->learning_rate); break;
    case GANTRY_OPTIMIZER_MOMENTUM:
      trained->new_m = gantry_builder_binary (builder, GANTRY_OP_ADD, scale_by (builder, trained->m, options->momentum),
                                              clip != 0 ? scale (builder, trained->value, clip) : trained->value);
      change = scale_by (builder, trained->new_m, options->learning_rate);
      break;
    case GANTRY_OPTIMIZER_ADAM:
    case GANTRY_OPTIMIZER_ADAMW: change = adam (builder, options, scalars, trained, clip); break;
    }
  if (options->optimizer == GANTRY_OPTIMIZER_ADAMW)
    value = scale_by (builder, value, 1 - options->learning_rate * options->weight_decay);
  value = gantry_builder_binary (builder, GANTRY_OP_SUBTRACT, value, change);
  trained->new_value = gantry_builder_convert (builder, value, stored);
}
