/* SPDX-License-Identifier: Apache-2.0 */
/* Training steps built by hand. */
#include "tests/core/planner/step-maker.h"
#include <string.h>

void
step_maker_begin (StepMaker *maker, const char *name)
{
  maker->context = gantry_context_new ();
  maker->builder = gantry_builder_new (maker->context, name);
  gantry_builder_begin (maker->builder, "main", 0);
}

guint32
step_maker_parameter (StepMaker *maker, const char *role, gint alias, guint rank, const GantryDim *dims, GantryMemoryKind memory)
{
  GantryAttrList *attrs = gantry_attr_list_new (maker->context);

  if (role != NULL)
    gantry_attr_list_set_string (attrs, "role", role);
  if (alias >= 0)
    gantry_attr_list_set_int (attrs, "alias", alias);
  return gantry_builder_add_typed (maker->builder, GANTRY_OP_PARAMETER, NULL, 0, gantry_attr_list_end (attrs),
                                   gantry_context_tensor_in (maker->context, GANTRY_F32, rank, dims, memory));
}

guint32
step_maker_dot (StepMaker *maker, guint32 x, guint32 y, gint64 left, gint64 right)
{
  GantryAttrList *attrs = gantry_attr_list_new (maker->context);
  guint32 operands[2] = { x, y };

  gantry_attr_list_set_ints (attrs, "lhs_contracting_dimensions", &left, 1);
  gantry_attr_list_set_ints (attrs, "rhs_contracting_dimensions", &right, 1);
  return gantry_builder_add (maker->builder, GANTRY_OP_DOT_GENERAL, operands, 2, gantry_attr_list_end (attrs));
}

guint32
step_maker_layer (StepMaker *maker, guint32 stack, gint64 i)
{
  const GantryType *type = gantry_builder_get_type (maker->builder, stack);
  gint64 start[3] = { i, 0, 0 }, limit[3] = { i + 1, type->dims[1], type->dims[2] }, stride[3] = { 1, 1, 1 };
  GantryDim dims[2] = { type->dims[1], type->dims[2] };

  return gantry_builder_reshape (maker->builder, gantry_builder_slice (maker->builder, stack, start, limit, stride), 2, dims);
}

guint32
step_maker_stack (StepMaker *maker, const guint32 *values, guint n)
{
  g_autofree guint32 *parts = g_new (guint32, n);

  for (guint i = 0; i < n; i++)
    {
      const GantryType *type = gantry_builder_get_type (maker->builder, values[i]);
      GantryDim dims[3] = { 1, type->dims[0], type->dims[1] };

      parts[i] = gantry_builder_reshape (maker->builder, values[i], 3, dims);
    }
  return gantry_builder_concatenate (maker->builder, parts, n, 0);
}

static guint32
body_of (GantryBuilder *builder, const char *kind, const guint32 *x)
{
  const GantryType *type = gantry_builder_get_type (builder, x[0]);
  guint32 a, b;

#define SPLAT(value) gantry_builder_splat (builder, GANTRY_F32, value, type->rank, type->dims)
#define BINARY(OP, p, q) gantry_builder_binary (builder, GANTRY_OP_##OP, p, q)
  if (strcmp (kind, "gelu") == 0)
    return BINARY (MULTIPLY, x[0], gantry_builder_unary (builder, GANTRY_OP_LOGISTIC, BINARY (MULTIPLY, x[0], SPLAT (1.702))));
  if (strcmp (kind, "gelu'") == 0)
    {
      a = gantry_builder_unary (builder, GANTRY_OP_LOGISTIC, BINARY (MULTIPLY, x[1], SPLAT (1.702)));
      b = BINARY (MULTIPLY, BINARY (MULTIPLY, x[1], SPLAT (1.702)), BINARY (MULTIPLY, a, BINARY (SUBTRACT, SPLAT (1), a)));
      return BINARY (MULTIPLY, x[0], BINARY (ADD, a, b));
    }
  if (strcmp (kind, "l2") == 0)
    return BINARY (ADD, x[0], BINARY (MULTIPLY, x[1], SPLAT (0.002)));
  if (strcmp (kind, "p") == 0)
    {
      a = BINARY (ADD, gantry_builder_unary (builder, GANTRY_OP_SQRT, x[2]), SPLAT (1e-8));
      return BINARY (SUBTRACT, x[0], BINARY (MULTIPLY, BINARY (DIVIDE, x[1], a), SPLAT (1e-3)));
    }
  a = BINARY (MULTIPLY, x[1], gantry_builder_broadcast_to (builder, x[2], type->rank, type->dims));
  if (strcmp (kind, "v") == 0)
    return BINARY (ADD, BINARY (MULTIPLY, x[0], SPLAT (0.999)), BINARY (MULTIPLY, BINARY (MULTIPLY, a, a), SPLAT (0.001)));
  g_assert_cmpstr (kind, ==, "m");
  return BINARY (ADD, BINARY (MULTIPLY, x[0], SPLAT (0.9)), BINARY (MULTIPLY, a, SPLAT (0.1)));
#undef BINARY
#undef SPLAT
}

guint32
step_maker_fuse (StepMaker *maker, const char *kind, const guint32 *operands, guint n)
{
  GantryBuilder *builder = maker->builder;
  guint32 inner[4], types[4], function, result;
  GantryAttrList *attrs = gantry_attr_list_new (maker->context);

  for (guint i = 0; i < n; i++)
    types[i] = gantry_builder_type (builder, operands[i]);
  function = gantry_builder_begin (builder, kind, 0);
  for (guint i = 0; i < n; i++)
    inner[i] = gantry_builder_parameter (builder, types[i], NULL);
  result = body_of (builder, kind, inner);
  gantry_builder_end (builder, &result, 1);
  gantry_attr_list_set_function (attrs, "body", function);
  gantry_attr_list_set_string (attrs, "kind", "elementwise");
  return gantry_builder_add (builder, GANTRY_OP_FUSION, operands, n, gantry_attr_list_end (attrs));
}

GantryModule *
step_maker_end (StepMaker *maker, const guint32 *results, guint n)
{
  g_autoptr (GError) error = NULL;
  GantryModule *module;

  gantry_builder_end (maker->builder, results, n);
  module = gantry_builder_finish (maker->builder, &error);
  g_assert_no_error (error);
  gantry_builder_free (maker->builder);
  gantry_context_unref (maker->context);
  return module;
}

GantryModule *
step_layers (guint n_layers, gint64 width, gint64 hidden, guint32 *ys, guint32 *xs)
{
  const GantryDim square[2] = { width, width }, up[3] = { n_layers, width, hidden }, down[3] = { n_layers, hidden, width };
  g_autofree guint32 *y = g_new (guint32, n_layers), *x = g_new (guint32, n_layers + 1), *d1 = g_new (guint32, n_layers), *d2 = g_new (guint32, n_layers),
                     *l1 = g_new (guint32, n_layers), *l2 = g_new (guint32, n_layers);
  StepMaker maker;
  guint32 w1, w2, g, results[2];

  step_maker_begin (&maker, "layers");
  x[0] = step_maker_parameter (&maker, NULL, -1, 2, square, GANTRY_MEMORY_DEVICE);
  w1 = step_maker_parameter (&maker, "parameter", -1, 3, up, GANTRY_MEMORY_DEVICE);
  w2 = step_maker_parameter (&maker, "parameter", -1, 3, down, GANTRY_MEMORY_DEVICE);
  for (guint i = 0; i < n_layers; i++)
    {
      l1[i] = step_maker_layer (&maker, w1, i);
      l2[i] = step_maker_layer (&maker, w2, i);
      y[i] = step_maker_dot (&maker, x[i], l1[i], 1, 0);
      x[i + 1] = step_maker_dot (&maker, y[i], l2[i], 1, 0);
    }
  gantry_builder_set_phase (maker.builder, GANTRY_PHASE_BACKWARD);
  g = gantry_builder_unary (maker.builder, GANTRY_OP_TANH, x[n_layers]);
  for (guint i = n_layers; i-- > 0;)
    {
      guint32 dy;

      d2[i] = step_maker_dot (&maker, y[i], g, 0, 0);
      dy = step_maker_dot (&maker, g, l2[i], 1, 1);
      d1[i] = step_maker_dot (&maker, x[i], dy, 0, 0);
      if (i > 0)
        g = step_maker_dot (&maker, dy, l1[i], 1, 1);
    }
  results[0] = step_maker_stack (&maker, d1, n_layers);
  results[1] = step_maker_stack (&maker, d2, n_layers);
  if (ys != NULL)
    memcpy (ys, y, n_layers * sizeof *y);
  if (xs != NULL)
    memcpy (xs, x, (n_layers + 1) * sizeof *x);
  return step_maker_end (&maker, results, 2);
}

/* One over the norm of all gradients. */
static guint32
clip (StepMaker *maker, const guint32 *gradients, guint n)
{
  static const gint64 axes[2] = { 0, 1 };
  guint32 sum = 0;

  for (guint i = 0; i < n; i++)
    {
      guint32 type = gantry_builder_type (maker->builder, gradients[i]), function, inner, result, square;
      GantryAttrList *attrs = gantry_attr_list_new (maker->context);

      /* Squared and summed in one kernel: the square itself is never there. */
      function = gantry_builder_begin (maker->builder, "norm", 0);
      inner = gantry_builder_parameter (maker->builder, type, NULL);
      result = gantry_builder_reduce (maker->builder, "add", gantry_builder_binary (maker->builder, GANTRY_OP_MULTIPLY, inner, inner), axes, 2);
      gantry_builder_end (maker->builder, &result, 1);
      gantry_attr_list_set_function (attrs, "body", function);
      gantry_attr_list_set_string (attrs, "kind", "reduction");
      square = gantry_builder_add (maker->builder, GANTRY_OP_FUSION, &gradients[i], 1, gantry_attr_list_end (attrs));
      sum = sum == 0 ? square : gantry_builder_binary (maker->builder, GANTRY_OP_ADD, sum, square);
    }
  return gantry_builder_unary (maker->builder, GANTRY_OP_RSQRT, sum);
}

GantryModule *
step_adam (guint n_layers, gint64 width, guint32 *zs, guint32 *gelus)
{
  const GantryDim square[2] = { width, width };
  g_autofree guint32 *w = g_new (guint32, 4 * n_layers);
  guint32 *m = w + n_layers, *v = m + n_layers, *d = v + n_layers;
  g_autofree guint32 *z = g_new (guint32, n_layers), *x = g_new (guint32, n_layers + 1), *results = g_new (guint32, 3 * n_layers);
  StepMaker maker;
  guint32 g, scale;

  step_maker_begin (&maker, "adam");
  for (guint i = 0; i < n_layers; i++)
    w[i] = step_maker_parameter (&maker, "parameter", (gint) i, 2, square, GANTRY_MEMORY_DEVICE);
  for (guint i = 0; i < 2 * n_layers; i++)
    m[i] = step_maker_parameter (&maker, "state", (gint) (n_layers + i), 2, square, GANTRY_MEMORY_DEVICE);
  x[0] = step_maker_parameter (&maker, NULL, -1, 2, square, GANTRY_MEMORY_DEVICE);
  for (guint i = 0; i < n_layers; i++)
    {
      z[i] = step_maker_dot (&maker, x[i], w[i], 1, 0);
      x[i + 1] = step_maker_fuse (&maker, "gelu", &z[i], 1);
    }
  gantry_builder_set_phase (maker.builder, GANTRY_PHASE_BACKWARD);
  g = gantry_builder_unary (maker.builder, GANTRY_OP_NEGATE, x[n_layers]);
  for (guint i = n_layers; i-- > 0;)
    {
      g = step_maker_fuse (&maker, "gelu'", (guint32[]){ g, z[i] }, 2);
      d[i] = step_maker_dot (&maker, x[i], g, 0, 0);
      d[i] = step_maker_fuse (&maker, "l2", (guint32[]){ d[i], w[i] }, 2);
      if (i > 0)
        g = step_maker_dot (&maker, g, w[i], 1, 1);
    }
  gantry_builder_set_phase (maker.builder, GANTRY_PHASE_UPDATE);
  scale = clip (&maker, d, n_layers);
  for (guint i = 0; i < n_layers; i++)
    {
      results[n_layers + i] = step_maker_fuse (&maker, "m", (guint32[]){ m[i], d[i], scale }, 3);
      results[2 * n_layers + i] = step_maker_fuse (&maker, "v", (guint32[]){ v[i], d[i], scale }, 3);
      results[i] = step_maker_fuse (&maker, "p", (guint32[]){ w[i], results[n_layers + i], results[2 * n_layers + i] }, 3);
    }
  if (zs != NULL)
    memcpy (zs, z, n_layers * sizeof *z);
  if (gelus != NULL)
    memcpy (gelus, x, (n_layers + 1) * sizeof *x);
  return step_maker_end (&maker, results, 3 * n_layers);
}
