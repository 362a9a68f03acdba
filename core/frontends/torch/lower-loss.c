/* SPDX-License-Identifier: Apache-2.0 */
/* Losses, as torch.nn.functional documents them. Those of f16 and bf16 are computed in f32. */
#include "core/frontends/torch/lower-words-private.h"

static guint32
input (AtenLower *l)
{
  return gantry_builder_widen (l->b, gantry_aten_need (l, gantry_aten_in (l, "self") != 0 ? "self" : "input"));
}

/* An operand in the elements of @x; 0 where it is absent. */
static guint32
operand (AtenLower *l, const char *name, guint32 x)
{
  guint32 y = gantry_aten_in (l, name);

  return y != 0 ? gantry_builder_convert (l->b, y, gantry_aten_element (l, x)) : 0;
}

static guint
all_axes (AtenLower *l, guint32 x, gint64 *axes)
{
  guint n = gantry_aten_rank (l, x);

  for (guint i = 0; i < n; i++)
    axes[i] = i;
  return n;
}

static guint32
total (AtenLower *l, guint32 x)
{
  gint64 axes[GANTRY_MAX_RANK];
  guint n = all_axes (l, x, axes);

  return gantry_builder_reduce_axes (l->b, "add", x, axes, n, TRUE);
}

/* @reduction: 0 none, 1 mean, 2 sum */
static void
give_loss (AtenLower *l, guint32 losses)
{
  gint64 axes[GANTRY_MAX_RANK], reduction = gantry_aten_int (l, "reduction", 1);
  guint n = all_axes (l, losses, axes);

  if (reduction == 1)
    losses = gantry_builder_mean (l->b, losses, axes, n);
  else if (reduction == 2)
    losses = total (l, losses);
  gantry_aten_give (l, 0, losses);
}

static void
difference_loss (AtenLower *l)
{
  guint32 x = input (l), d = BINARY (SUBTRACT, x, operand (l, "target", x));

  give_loss (l, l->rule->arg == 1 ? UNARY (ABS, d) : BINARY (MULTIPLY, d, d));
}

/* d^2 / 2 up to a distance, from there on a line; text: the argument with the distance, by which smooth_l1_loss divides. */
static void
bent_loss (AtenLower *l)
{
  guint32 x = input (l), d = UNARY (ABS, BINARY (SUBTRACT, x, operand (l, "target", x))), near, far;
  double bend = gantry_aten_number (l, l->rule->text, 1), scale = strcmp (l->rule->text, "beta") == 0 ? bend : 1;

  far = BINARY (MULTIPLY, BINARY (SUBTRACT, d, LIKE (d, bend / 2)), LIKE (d, bend > 0 ? bend / scale : 1));
  if (bend <= 0)
    {
      give_loss (l, d);
      return;
    }
  near = BINARY (MULTIPLY, BINARY (MULTIPLY, d, d), LIKE (d, 0.5 / scale));
  give_loss (l, gantry_builder_select (l->b, gantry_builder_compare (l->b, "LT", d, LIKE (d, bend)), near, far));
}

/* target (log target - input), 0 where the target is 0; with log_target e^target (target - input). */
static void
divergence (AtenLower *l)
{
  guint32 x = input (l), t = operand (l, "target", x), loss;

  if (gantry_aten_int (l, "log_target", 0) != 0)
    {
      give_loss (l, BINARY (MULTIPLY, UNARY (EXPONENTIAL, t), BINARY (SUBTRACT, t, x)));
      return;
    }
  loss = BINARY (MULTIPLY, t, BINARY (SUBTRACT, UNARY (LOG, t), x));
  give_loss (l, gantry_builder_select (l->b, gantry_builder_compare (l->b, "EQ", t, LIKE (t, 0)), LIKE (t, 0), loss));
}

static void
soft_margin (AtenLower *l)
{
  guint32 x = input (l);

  give_loss (l, gantry_builder_softplus (l->b, UNARY (NEGATE, BINARY (MULTIPLY, x, operand (l, "target", x)))));
}

/* Classes */

typedef struct
{
  guint32 logs;    /* log p (or what stands for it), widened */
  guint32 weights; /* of the classes, along the axis; 0: 1 each */
  gint64 axis;
  guint rank;
  double smoothing;
} Classes;

static double
n_classes (AtenLower *l, const Classes *c)
{
  return (double) MAX (gantry_aten_dim (l, c->logs, c->axis), 1);
}

/* The sum over the classes. */
static guint32
over_classes (AtenLower *l, const Classes *c, guint32 x)
{
  return gantry_builder_reduce_axes (l->b, "add", x, &c->axis, 1, TRUE);
}

static guint32
weighted (AtenLower *l, const Classes *c, guint32 x)
{
  return c->weights != 0 ? BINARY (MULTIPLY, x, c->weights) : x;
}

/* Targets that are probabilities: the mean is over the samples, whatever the weights are. */
static void
probability_loss (AtenLower *l, const Classes *c, guint32 target)
{
  guint32 losses;

  if (c->smoothing != 0)
    target = BINARY (ADD, BINARY (MULTIPLY, target, LIKE (target, 1 - c->smoothing)), LIKE (target, c->smoothing / n_classes (l, c)));
  losses = UNARY (NEGATE, over_classes (l, c, weighted (l, c, BINARY (MULTIPLY, target, c->logs))));
  give_loss (l, losses);
}

/* Targets that are numbers of classes: those of class ignore_index do not count, and the mean is over the weights of the others. */
static void
index_loss (AtenLower *l, const Classes *c, guint32 target)
{
  gint64 reduction = gantry_aten_int (l, "reduction", 1);
  GantryDim dims[GANTRY_MAX_RANK], kept[GANTRY_MAX_RANK];
  guint32 hit, counted, losses, smooth, zero = LIKE (c->logs, 0);

  for (guint i = 0; i < c->rank; i++)
    {
      dims[i] = gantry_aten_dim (l, c->logs, i);
      kept[i] = i == c->axis ? 1 : dims[i];
    }
  target = gantry_builder_reshape (l->b, gantry_builder_convert (l->b, target, GANTRY_I64), c->rank, kept);
  hit = gantry_builder_compare (l->b, "EQ", gantry_aten_iota (l, c->rank, dims, c->axis), target);
  losses = over_classes (l, c, gantry_builder_select (l->b, hit, UNARY (NEGATE, weighted (l, c, c->logs)), zero));
  counted = gantry_builder_compare (l->b, "NE", target, gantry_builder_int_scalar (l->b, GANTRY_I64, gantry_aten_int (l, "ignore_index", -100)));
  losses = gantry_builder_select (l->b, counted, losses, LIKE (losses, 0));
  if (c->smoothing != 0)
    {
      smooth = UNARY (NEGATE, over_classes (l, c, weighted (l, c, c->logs)));
      smooth = gantry_builder_select (l->b, counted, smooth, LIKE (smooth, 0));
      losses = BINARY (ADD, BINARY (MULTIPLY, losses, LIKE (losses, 1 - c->smoothing)),
                       BINARY (MULTIPLY, smooth, LIKE (smooth, c->smoothing / n_classes (l, c))));
    }
  counted = gantry_builder_convert (l->b, counted, gantry_aten_element (l, c->logs));
  if (c->weights != 0)
    counted = BINARY (MULTIPLY, counted, over_classes (l, c, gantry_builder_select (l->b, hit, weighted (l, c, LIKE (c->logs, 1)), zero)));
  counted = total (l, counted);
  if (reduction != 0)
    losses = total (l, losses);
  gantry_aten_give (l, 0, reduction == 1 ? BINARY (DIVIDE, losses, counted) : losses);
  gantry_aten_give (l, 1, counted);
}

/* Axis 1 has the classes (of a single sample axis 0). arg: the input is no logarithm of probabilities yet */
static void
class_loss (AtenLower *l)
{
  guint32 x = input (l), target = gantry_aten_need (l, "target"), weights = operand (l, "weight", x);
  Classes c = { .rank = gantry_aten_rank (l, x), .smoothing = gantry_aten_number (l, "label_smoothing", 0) };

  if (c.rank == 0)
    {
      gantry_aten_refuse (l, "a loss of no classes");
      return;
    }
  c.axis = c.rank > 1 ? 1 : 0;
  c.logs = l->rule->arg ? gantry_aten_softmax (l, x, c.axis, TRUE) : x;
  c.weights = weights != 0 ? gantry_builder_along (l->b, weights, c.rank, c.axis) : 0;
  if (gantry_element_is_integer (gantry_aten_element (l, target)))
    index_loss (l, &c, target);
  else if (gantry_aten_int (l, "ignore_index", -100) < 0) /* a class to ignore is of targets that are numbers */
    probability_loss (l, &c, gantry_builder_convert (l->b, target, gantry_aten_element (l, x)));
  else
    gantry_aten_refuse (l, "a class to ignore among targets that are probabilities");
}

/* Yes or no */

static guint32
with_weight (AtenLower *l, guint32 loss)
{
  guint32 weight = operand (l, "weight", loss);

  return weight != 0 ? BINARY (MULTIPLY, loss, weight) : loss;
}

/* (1 - y) x + (1 + (w - 1) y) log (1 + e^-x), w the weight of a yes */
static void
binary_loss_of_logits (AtenLower *l)
{
  guint32 x = input (l), y = operand (l, "target", x), yes = operand (l, "pos_weight", x), loss;

  if (yes == 0)
    loss = BINARY (SUBTRACT, gantry_builder_softplus (l->b, x), BINARY (MULTIPLY, x, y));
  else
    {
      yes = BINARY (ADD, BINARY (MULTIPLY, BINARY (SUBTRACT, yes, LIKE (yes, 1)), y), LIKE (y, 1));
      loss = BINARY (ADD, BINARY (MULTIPLY, BINARY (SUBTRACT, LIKE (y, 1), y), x), BINARY (MULTIPLY, yes, gantry_builder_softplus (l->b, UNARY (NEGATE, x))));
    }
  give_loss (l, with_weight (l, loss));
}

/* Logarithms below -100 are -100, as torch has it. */
static void
binary_loss (AtenLower *l)
{
  guint32 x = input (l), y = operand (l, "target", x), of_yes = BINARY (MAXIMUM, UNARY (LOG, x), LIKE (x, -100)),
          of_no = BINARY (MAXIMUM, UNARY (LOG_PLUS_ONE, UNARY (NEGATE, x)), LIKE (x, -100)), loss;

  loss = BINARY (ADD, BINARY (MULTIPLY, y, of_yes), BINARY (MULTIPLY, BINARY (SUBTRACT, LIKE (y, 1), y), of_no));
  give_loss (l, with_weight (l, UNARY (NEGATE, loss)));
}

/* clang-format off */
#define RULE(name, function, arg, text) { name, function, GANTRY_CLASS_REDUCTION, arg, text }

const AtenRule gantry_aten_loss_rules[] = {
  RULE ("mse_loss", difference_loss, 2, NULL), RULE ("l1_loss", difference_loss, 1, NULL), RULE ("huber_loss", bent_loss, 0, "delta"),
  RULE ("smooth_l1_loss", bent_loss, 0, "beta"), RULE ("kl_div", divergence, 0, NULL), RULE ("soft_margin_loss", soft_margin, 0, NULL),
  RULE ("nll_loss", class_loss, FALSE, NULL), RULE ("nll_loss_nd", class_loss, FALSE, NULL), RULE ("nll_loss_forward", class_loss, FALSE, NULL),
  RULE ("nll_loss2d_forward", class_loss, FALSE, NULL), RULE ("cross_entropy_loss", class_loss, TRUE, NULL),
  RULE ("binary_cross_entropy_with_logits", binary_loss_of_logits, 0, NULL), RULE ("binary_cross_entropy", binary_loss, 0, NULL),
  { NULL },
};
/* clang-format on */
