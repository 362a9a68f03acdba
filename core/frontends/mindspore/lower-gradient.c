/* SPDX-License-Identifier: Apache-2.0 */
/* Primitives that MindSpore differentiates others to, in training steps that it exports. */
#include "core/frontends/mindspore/lower-private.h"

/* arg: what is differentiated. "dy" is the derivative by its result; "y" its result, "x" its operand. */
static void
elementwise (MindLower *l)
{
  guint32 dy = gantry_mind_need (l, "dy"), known = gantry_mind_in (l, "y"), slope = 0;

  if (known == 0)
    known = gantry_mind_need (l, "x");
  switch (l->rule->arg)
    {
    case 'r': l->out[0] = gantry_builder_select (l->b, gantry_builder_compare (l->b, "GT", known, LIKE (known, 0)), dy, LIKE (dy, 0)); return;
    case 't': slope = BINARY (SUBTRACT, LIKE (known, 1), BINARY (MULTIPLY, known, known)); break;
    case 's': slope = BINARY (MULTIPLY, known, BINARY (SUBTRACT, LIKE (known, 1), known)); break;
    case 'q': slope = BINARY (DIVIDE, LIKE (known, 0.5), known); break;
    default: break;
    }
  l->out[0] = BINARY (MULTIPLY, dy, slope);
}

/* The sum of all but the channels. */
static void
bias (MindLower *l)
{
  guint32 dy = gantry_mind_need (l, "dy");
  guint rank = gantry_mind_rank (l, dy), n = 0;
  gint64 axes[GANTRY_MAX_RANK];

  if (strcmp (gantry_mind_string (l, "data_format", gantry_mind_string (l, "format", "NCHW")), "NHWC") == 0)
    gantry_mind_refuse (l, "channels that are last");
  for (guint i = 0; i < rank; i++)
    if (i != 1)
      axes[n++] = i;
  l->out[0] = gantry_builder_reduce_axes (l->b, "add", dy, axes, n, FALSE);
}

/* clang-format off */
#define G(name, arguments, function, arg, op_class) { name, arguments, function, GANTRY_CLASS_##op_class, arg, NULL }

const MindRule gantry_mind_gradient_rules[] = {
  G ("ReluGrad", "dy x", elementwise, 'r', ELEMENTWISE), G ("ReLUGrad", "dy x", elementwise, 'r', ELEMENTWISE),
  G ("TanhGrad", "y dy", elementwise, 't', ELEMENTWISE), G ("SigmoidGrad", "y dy", elementwise, 's', ELEMENTWISE),
  G ("SqrtGrad", "y dy", elementwise, 'q', ELEMENTWISE), G ("BiasAddGrad", "dy", bias, 0, REDUCTION),
  { NULL },
};
/* clang-format on */
