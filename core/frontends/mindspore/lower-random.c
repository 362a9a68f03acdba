/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers: bits of a counter-based generator, whose state is the model's. The bits are Gantry's own, not MindSpore's. */
#include "core/frontends/mindspore/lower-private.h"

/* u32. @state: what is drawn from; moved on */
static guint32
draw_bits (MindLower *l, guint32 *state, guint rank, const GantryDim *dims)
{
  GantryAttrList *attrs = gantry_attr_list_new (l->context);
  guint32 drawn;

  gantry_attr_list_set_ints (attrs, "shape", dims, rank);
  gantry_attr_list_set_type (attrs, "to", gantry_context_scalar (l->context, GANTRY_U32));
  drawn = gantry_mind_add (l, GANTRY_OP_RNG_BIT_GENERATOR, attrs, 1, *state);
  if (drawn == 0)
    return 0;
  *state = gantry_builder_result (l->b, drawn, 0);
  return gantry_builder_result (l->b, drawn, 1);
}

/* Uniform in [0, 1), f32. */
static guint32
uniform (MindLower *l, guint32 *state, guint rank, const GantryDim *dims)
{
  guint32 bits = BINARY (SHIFT_RIGHT_LOGICAL, draw_bits (l, state, rank, dims), gantry_builder_int_scalar (l->b, GANTRY_U32, 8));

  return gantry_builder_scale (l->b, gantry_builder_convert (l->b, bits, GANTRY_F32), 0x1p-24);
}

/* Integers of [minval, maxval), f64: all 32 bits are scaled, so that each integer comes in any range of an i32. */
static guint32
uniform_integers (MindLower *l, guint32 *state, guint rank, const GantryDim *dims)
{
  guint32 low = gantry_builder_convert (l->b, gantry_mind_need (l, "minval"), GANTRY_F64),
          high = gantry_builder_convert (l->b, gantry_mind_need (l, "maxval"), GANTRY_F64),
          x = gantry_builder_scale (l->b, gantry_builder_convert (l->b, draw_bits (l, state, rank, dims), GANTRY_F64), 0x1p-32);

  return UNARY (FLOOR, BINARY (ADD, BINARY (MULTIPLY, x, BINARY (SUBTRACT, high, low)), low));
}

/* By Box and Muller. */
static guint32
normal (MindLower *l, guint32 *state, guint rank, const GantryDim *dims)
{
  guint32 radius = uniform (l, state, rank, dims), angle = uniform (l, state, rank, dims);

  radius = UNARY (SQRT, gantry_builder_scale (l->b, UNARY (LOG, BINARY (SUBTRACT, LIKE (radius, 1), radius)), -2));
  return BINARY (MULTIPLY, radius, UNARY (COSINE, gantry_builder_scale (l->b, angle, 2 * G_PI)));
}

/* Symmetric about 0, its size exponential. */
static guint32
laplace (MindLower *l, guint32 *state, guint rank, const GantryDim *dims)
{
  guint32 x = gantry_builder_offset (l->b, uniform (l, state, rank, dims), -0.5);
  guint32 inside = BINARY (SUBTRACT, LIKE (x, 1), gantry_builder_scale (l->b, UNARY (ABS, x), 2));

  inside = BINARY (MAXIMUM, inside, LIKE (inside, 0x1p-25));
  return UNARY (NEGATE, BINARY (MULTIPLY, UNARY (SIGN, x), UNARY (LOG, inside)));
}

/* 0 where there is none, which is refused. */
static guint32
begin (MindLower *l)
{
  guint32 state = gantry_mind_in (l, "random_state");

  if (state == 0)
    gantry_mind_refuse (l, "random numbers in a branch or loop");
  else if (l->n_out < 2)
    gantry_mind_refuse (l, "the state that it draws from is no result of it");
  return state;
}

/* arg: of what distribution */
static void
draw (MindLower *l)
{
  gint64 shape[GANTRY_MAX_RANK];
  gint rank = gantry_mind_ints (l, "shape", shape, GANTRY_MAX_RANK);
  guint32 state = begin (l), x = 0;

  if (rank < 0)
    gantry_mind_refuse (l, "its shape is not known");
  if (l->failed)
    return;
  switch (l->rule->arg)
    {
    case 'n': x = normal (l, &state, (guint) rank, shape); break;
    case 'l': x = laplace (l, &state, (guint) rank, shape); break;
    case 'i': x = uniform_integers (l, &state, (guint) rank, shape); break;
    default: x = uniform (l, &state, (guint) rank, shape); break;
    }
  l->out[0] = x;
  l->out[l->n_out - 1] = state;
}

/* Each element, or each of the first @arg dimensions' slices, is kept with a probability, and what is kept is scaled by its inverse. */
static void
dropout (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x"), state = begin (l), kept, y;
  const GantryType *type = gantry_mind_type (l, x);
  gboolean drops = gantry_mind_has (l, "p");
  double keep = drops ? 1 - gantry_mind_number (l, "p", 0.5) : gantry_mind_number (l, "keep_prob", 0.5);
  GantryDim dims[GANTRY_MAX_RANK];

  for (guint i = 0; i < type->rank; i++)
    dims[i] = l->rule->arg != 0 && (gint) i >= l->rule->arg ? 1 : type->dims[i];
  if (l->failed)
    return;
  kept = gantry_builder_compare (l->b, "LT", uniform (l, &state, type->rank, dims), gantry_builder_scalar (l->b, GANTRY_F32, keep));
  kept = gantry_builder_broadcast_to (l->b, kept, type->rank, type->dims);
  y = gantry_builder_scale (l->b, x, keep > 0 ? 1 / keep : 0);
  l->out[0] = gantry_builder_select (l->b, kept, y, LIKE (y, 0));
  if (l->n_out > 2)
    l->out[1] = kept;
  l->out[l->n_out - 1] = state;
}

static void
bernoulli (MindLower *l)
{
  guint32 x = gantry_mind_need (l, "x"), p = gantry_builder_convert (l->b, gantry_mind_need (l, "p"), GANTRY_F32), state = begin (l);
  const GantryType *type = gantry_mind_type (l, x);

  if (l->failed)
    return;
  l->out[0] = gantry_builder_compare (l->b, "LT", uniform (l, &state, type->rank, type->dims), p);
  l->out[l->n_out - 1] = state;
}

/* clang-format off */
#define R(name, arguments, function, arg) { name, arguments " *random_state", function, GANTRY_CLASS_OTHER, arg, NULL }

const MindRule gantry_mind_random_rules[] = {
  R ("StandardNormal", "shape seed seed2", draw, 'n'), R ("StandardLaplace", "shape seed seed2", draw, 'l'),
  R ("UniformReal", "shape seed seed2", draw, 'u'), R ("UniformInt", "shape minval maxval seed seed2", draw, 'i'),
  R ("Dropout", "x keep_prob Seed0 Seed1", dropout, 0), R ("Dropout2D", "x", dropout, 2), R ("Dropout3D", "x", dropout, 2),
  R ("Bernoulli", "x p", bernoulli, 0),
  { NULL },
};
/* clang-format on */
