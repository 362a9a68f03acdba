/* SPDX-License-Identifier: Apache-2.0 */
/* Primitives of optimizers. What they write over are their results: first as the model has them, then one for each such argument. */
#include "core/frontends/mindspore/lower-private.h"

#define ADD(x, y) BINARY (ADD, x, y)
#define SUB(x, y) BINARY (SUBTRACT, x, y)
#define MUL(x, y) BINARY (MULTIPLY, x, y)
#define DIV(x, y) BINARY (DIVIDE, x, y)

/* An argument in the type that is computed in, f32 at least; one element is a number. 0 where it is absent */
static guint32
argument (MindLower *l, const char *name)
{
  guint32 x = gantry_mind_need (l, name);

  if (x == 0)
    return 0;
  if (gantry_type_elements (gantry_mind_type (l, x)) == 1 && gantry_mind_rank (l, l->in[0]) == 0)
    x = gantry_builder_reshape (l->b, x, 0, NULL);
  return gantry_builder_convert (l->b, x, gantry_mind_element_of (l, l->in[0]) == GANTRY_F64 ? GANTRY_F64 : GANTRY_F32);
}

#define IN(name) argument (l, name)

/* b + weight (a - b) */
static guint32
blend (MindLower *l, guint32 weight, guint32 a, guint32 b)
{
  return ADD (MUL (weight, a), MUL (SUB (LIKE (weight, 1), weight), b));
}

static guint32
square (MindLower *l, guint32 x)
{
  return MUL (x, x);
}

/* The results of the primitive: @values, of the arguments that it writes over in their order. */
static void
give (MindLower *l, const guint32 *values, guint n)
{
  guint n_own;

  if (gantry_attrs_int (l->context, l->node->attrs, MIND_UPDATES, 0) != n)
    {
      gantry_mind_refuse (l, "what it writes over is no parameter of the model, or it stands in a branch or loop");
      return;
    }
  if (l->n_out < n)
    {
      gantry_mind_refuse (l, "it writes over %u values and has %u results", n, l->n_out);
      return;
    }
  n_own = l->n_out - n;
  for (guint i = 0; i < n_own; i++)
    l->out[i] = values[MIN (i, n - 1)];
  for (guint i = 0; i < n; i++)
    l->out[n_own + i] = values[i];
}

static void
momentum (MindLower *l)
{
  guint32 rate = IN ("learning_rate"), factor = IN ("momentum"),
          gradient = gantry_builder_scale (l->b, IN ("gradient"), gantry_mind_number (l, "gradient_scale", 1)),
          accumulation = ADD (MUL (IN ("accumulation"), factor), gradient), step = accumulation;

  if (gantry_mind_int (l, "use_nesterov", 0) != 0)
    step = ADD (gradient, MUL (accumulation, factor));
  give (l, (guint32[]){ SUB (IN ("variable"), MUL (rate, step)), accumulation }, 2);
}

/* stat: whether nothing was accumulated yet */
static void
sgd (MindLower *l)
{
  guint32 parameters = IN ("parameters"), gradient = IN ("gradient"), factor = IN ("momentum"), stat = IN ("stat"), accumulated = IN ("accum"), first, moves,
          next, step;

  gradient = ADD (gradient, gantry_builder_scale (l->b, parameters, gantry_mind_number (l, "weight_decay", 0)));
  first = gantry_builder_compare (l->b, "GT", stat, LIKE (stat, 0));
  moves = gantry_builder_compare (l->b, "GT", factor, LIKE (factor, 0));
  next = ADD (MUL (accumulated, factor), gantry_builder_scale (l->b, gradient, 1 - gantry_mind_number (l, "dampening", 0)));
  next = gantry_builder_select (l->b, moves, gantry_builder_select (l->b, first, gradient, next), accumulated);
  step = gantry_mind_int (l, "nesterov", 0) != 0 ? ADD (gradient, MUL (next, factor)) : next;
  step = gantry_builder_select (l->b, moves, step, gradient);
  stat = gantry_builder_select (l->b, moves, LIKE (stat, 0), stat);
  give (l, (guint32[]){ SUB (parameters, MUL (IN ("learning_rate"), step)), next, stat }, 3);
}

/* arg: 'a' Adam, 'w' with decay of weights and without correction, 'g' with the largest second moment (AMSGrad) */
static void
adam (MindLower *l)
{
  guint32 variable = IN ("var"), gradient = IN ("gradient"), rate = IN ("lr"), beta1 = IN ("beta1"), beta2 = IN ("beta2"), epsilon = IN ("epsilon"),
          m = blend (l, beta1, IN ("m"), gradient), v = blend (l, beta2, IN ("v"), square (l, gradient)), largest = v, moved = m, step, powers[2];

  if (l->rule->arg != 'w')
    {
      powers[0] = IN ("beta1_power");
      powers[1] = IN ("beta2_power");
      rate = DIV (MUL (rate, UNARY (SQRT, SUB (LIKE (powers[1], 1), powers[1]))), SUB (LIKE (powers[0], 1), powers[0]));
    }
  if (l->rule->arg == 'g')
    largest = BINARY (MAXIMUM, IN ("vhat"), v);
  if (gantry_mind_int (l, "use_nesterov", 0) != 0)
    moved = blend (l, beta1, m, gradient);
  step = DIV (moved, ADD (UNARY (SQRT, largest), epsilon));
  if (l->rule->arg == 'w')
    step = ADD (step, MUL (IN ("decay"), variable));
  give (l, (guint32[]){ SUB (variable, MUL (rate, step)), m, v, largest }, l->rule->arg == 'g' ? 4 : 3);
}

static void
ada_max (MindLower *l)
{
  guint32 gradient = IN ("grad"), power = IN ("beta1_power"), m = blend (l, IN ("beta1"), IN ("m"), gradient),
          v = BINARY (MAXIMUM, MUL (IN ("beta2"), IN ("v")), UNARY (ABS, gradient)), rate = DIV (IN ("lr"), SUB (LIKE (power, 1), power));

  give (l, (guint32[]){ SUB (IN ("var"), MUL (rate, DIV (m, ADD (v, IN ("epsilon"))))), m, v }, 3);
}

static void
ada_delta (MindLower *l)
{
  guint32 gradient = IN ("grad"), rho = IN ("rho"), epsilon = IN ("epsilon"), accumulated = blend (l, rho, IN ("accum"), square (l, gradient)),
          step = MUL (UNARY (SQRT, ADD (IN ("accum_update"), epsilon)), DIV (gradient, UNARY (SQRT, ADD (accumulated, epsilon))));

  give (l, (guint32[]){ SUB (IN ("var"), MUL (IN ("lr"), step)), accumulated, blend (l, rho, IN ("accum_update"), square (l, step)) }, 3);
}

/* arg: 2: epsilon beside the root */
static void
ada_grad (MindLower *l)
{
  guint32 gradient = IN ("grad"), accumulated = IN ("accum"), root;

  if (gantry_mind_int (l, "update_slots", 1) != 0)
    accumulated = ADD (accumulated, square (l, gradient));
  root = UNARY (SQRT, accumulated);
  if (l->rule->arg == 2)
    root = gantry_builder_offset (l->b, root, gantry_mind_number (l, "epsilon", 1e-6));
  give (l, (guint32[]){ SUB (IN ("var"), DIV (MUL (IN ("lr"), gradient), root)), accumulated }, 2);
}

/* arg: 'c' about the mean of the gradient */
static void
rms_prop (MindLower *l)
{
  gboolean centred = l->rule->arg == 'c';
  guint32 gradient = IN ("grad"), rho = IN ("rho"), squares = blend (l, rho, IN ("mean_square"), square (l, gradient)), within = squares, mean = 0, moment;

  if (centred)
    {
      mean = blend (l, rho, IN ("mean_gradient"), gradient);
      within = SUB (squares, square (l, mean));
    }
  moment = DIV (MUL (IN ("learning_rate"), gradient), UNARY (SQRT, ADD (within, IN ("epsilon"))));
  moment = ADD (MUL (IN ("momentum"), IN ("moment")), moment);
  if (centred)
    give (l, (guint32[]){ SUB (IN ("var"), moment), mean, squares, moment }, 4);
  else
    give (l, (guint32[]){ SUB (IN ("var"), moment), squares, moment }, 3);
}

static void
ftrl (MindLower *l)
{
  guint32 variable = IN ("var"), gradient = IN ("grad"), rate = IN ("lr"), l1 = IN ("l1"), power = UNARY (NEGATE, IN ("lr_power")), old = IN ("accum"),
          accumulated = ADD (old, square (l, gradient)), grown = BINARY (POWER, accumulated, power), linear, quadratic, moved;

  linear = SUB (ADD (IN ("linear"), gradient), MUL (DIV (SUB (grown, BINARY (POWER, old, power)), rate), variable));
  quadratic = ADD (DIV (grown, rate), gantry_builder_scale (l->b, IN ("l2"), 2));
  moved = DIV (SUB (MUL (UNARY (SIGN, linear), l1), linear), quadratic);
  moved = gantry_builder_select (l->b, gantry_builder_compare (l->b, "GT", UNARY (ABS, linear), l1), moved, LIKE (moved, 0));
  give (l, (guint32[]){ moved, accumulated, linear }, 3);
}

/* Towards 0 by @rate l1, and shrunk by @rate l2. */
static guint32
proximal (MindLower *l, guint32 x, guint32 rate)
{
  guint32 left = SUB (UNARY (ABS, x), MUL (rate, IN ("l1"))), shrunk = gantry_builder_offset (l->b, MUL (rate, IN ("l2")), 1);

  return DIV (MUL (UNARY (SIGN, x), BINARY (MAXIMUM, left, LIKE (left, 0))), shrunk);
}

/* arg: 'p' proximal, 'a' proximal with a rate of each element by its accumulated squares */
static void
descent (MindLower *l)
{
  gboolean adapts = l->rule->arg == 'a';
  guint32 rate = IN (adapts ? "lr" : "alpha"), gradient = IN (adapts ? "grad" : "delta"), accumulated = 0, moved;

  if (adapts)
    {
      accumulated = ADD (IN ("accum"), square (l, gradient));
      rate = DIV (rate, UNARY (SQRT, accumulated));
    }
  moved = SUB (IN ("var"), MUL (rate, gradient));
  if (l->rule->arg != 0)
    moved = proximal (l, moved, rate);
  give (l, (guint32[]){ moved, accumulated }, adapts ? 2 : 1);
}

/* arg: 'p' the step is a power of the base, else a sum */
static void
by_sign (MindLower *l)
{
  guint32 gradient = IN ("grad"), m = blend (l, IN ("beta"), IN ("m"), gradient),
          agree = MUL (IN ("sign_decay"), MUL (UNARY (SIGN, gradient), UNARY (SIGN, m))), factor;

  factor = l->rule->arg == 'p' ? UNARY (EXPONENTIAL, MUL (IN ("logbase"), agree)) : ADD (IN ("alpha"), agree);
  give (l, (guint32[]){ SUB (IN ("var"), MUL (IN ("lr"), MUL (factor, gradient))), m }, 2);
}

/* clang-format off */
#define U(name, arguments, function, arg) { name, arguments, function, GANTRY_CLASS_ELEMENTWISE, arg, NULL }

const MindRule gantry_mind_update_rules[] = {
  U ("ApplyMomentum", "*variable *accumulation learning_rate gradient momentum", momentum, 0),
  U ("SGD", "*parameters gradient learning_rate *accum momentum *stat", sgd, 0),
  U ("Adam", "*var *m *v beta1_power beta2_power lr beta1 beta2 epsilon gradient", adam, 'a'),
  U ("AdamWeightDecay", "*var *m *v lr beta1 beta2 epsilon decay gradient", adam, 'w'),
  U ("ApplyAdamWithAmsgradV2", "*var *m *v *vhat beta1_power beta2_power lr beta1 beta2 epsilon gradient", adam, 'g'),
  U ("ApplyAdamWithAmsgrad", "*var *m *v *vhat beta1_power beta2_power lr gradient", adam, 'g'),
  U ("ApplyAdaMax", "*var *m *v beta1_power lr beta1 beta2 epsilon grad", ada_max, 0),
  U ("ApplyAdadelta", "*var *accum *accum_update lr rho epsilon grad", ada_delta, 0),
  U ("ApplyAdagrad", "*var *accum lr grad", ada_grad, 1), U ("ApplyAdagradV2", "*var *accum lr grad", ada_grad, 2),
  U ("ApplyRMSProp", "*var *mean_square *moment learning_rate grad rho momentum epsilon", rms_prop, 0),
  U ("ApplyCenteredRMSProp", "*var *mean_gradient *mean_square *moment grad learning_rate rho momentum epsilon", rms_prop, 'c'),
  U ("ApplyFtrl", "*var *accum *linear grad lr l1 l2 lr_power", ftrl, 0),
  U ("ApplyGradientDescent", "*var alpha delta", descent, 0),
  U ("ApplyProximalGradientDescent", "*var alpha l1 l2 delta", descent, 'p'),
  U ("ApplyProximalAdagrad", "*var *accum lr l1 l2 grad", descent, 'a'),
  U ("ApplyAddSign", "*var *m lr alpha sign_decay beta grad", by_sign, 's'),
  U ("ApplyPowerSign", "*var *m lr logbase sign_decay beta grad", by_sign, 'p'),
  { NULL },
};
/* clang-format on */
