/* SPDX-License-Identifier: Apache-2.0 */
/* The builder's compositions: what the evaluator computes of them against numbers worked out by hand, where they add no
 * node, and what they do with an operand that is not there. */
#include "core/eval/eval.h"
#include "core/graph/builder-composite.h"
#include "core/graph/graph.h"
#include <math.h>

typedef struct
{
  const char *path;
  guint32 (*build) (GantryBuilder *b, guint32 x);
  GantryElementType from, to; /* of x and of the result */
  guint rank;
  GantryDim dims[4];
  double values[12];
} Case;

/* x = 1, 2, 3; 4, 5, 7 */
static const double x_values[] = { 1, 2, 3, 4, 5, 7 };
static const gint64 axis_0[] = { 0 }, both[] = { 1, 0 };

static guint32
build_scale (GantryBuilder *b, guint32 x)
{
  return gantry_builder_offset (b, gantry_builder_scale (b, x, 2), -1);
}

static guint32
build_like (GantryBuilder *b, guint32 x)
{
  return gantry_builder_like (b, x, 2.5);
}

static guint32
build_floats (GantryBuilder *b, guint32 x)
{
  return gantry_builder_binary_broadcast (b, GANTRY_OP_MULTIPLY, x, gantry_builder_floats (b, GANTRY_F32, (double[]){ 1, 10, 100 }, 3));
}

static guint32
build_swap (GantryBuilder *b, guint32 x)
{
  return gantry_builder_swap_axes (b, x, 1, 0);
}

static guint32
build_along (GantryBuilder *b, guint32 x)
{
  return gantry_builder_along (b, gantry_builder_slice_axis (b, x, 0, 1, 2, 1), 3, 1);
}

static guint32
build_slice (GantryBuilder *b, guint32 x)
{
  return gantry_builder_slice_axis (b, x, 1, 0, 3, 2);
}

static guint32
build_reverse (GantryBuilder *b, guint32 x)
{
  return gantry_builder_reverse (b, x, both + 1, 1);
}

static guint32
build_pad (GantryBuilder *b, guint32 x)
{
  return gantry_builder_pad_if_any (b, x, gantry_builder_like (b, x, 9), (gint64[]){ 0, 1 }, (gint64[]){ 0, 0 }, NULL);
}

/* -1 is the last of three. */
static guint32
build_take (GantryBuilder *b, guint32 x)
{
  guint32 indices = gantry_builder_wrap_indices (b, gantry_builder_ints (b, (gint64[]){ -1, 0 }, 2), 3);

  return gantry_builder_take (b, x, 1, indices);
}

/* The dimensions of the indices, none, take the place of the axis. */
static guint32
build_take_scalar (GantryBuilder *b, guint32 x)
{
  return gantry_builder_take (b, x, 0, gantry_builder_int_scalar (b, GANTRY_I64, 1));
}

/* 10 is added at 0, 1 and 20 at 1, 2. */
static guint32
build_scatter (GantryBuilder *b, guint32 x)
{
  guint32 vectors = gantry_builder_ints (b, (gint64[]){ 0, 1, 1, 2 }, 4);

  return gantry_builder_scatter_vectors (b, x, gantry_builder_reshape (b, vectors, 2, (GantryDim[]){ 2, 2 }),
                                         gantry_builder_floats (b, GANTRY_F32, (double[]){ 10, 20 }, 2), "add");
}

/* The second row: what one number leaves of the dimensions is a window. */
static guint32
build_scatter_row (GantryBuilder *b, guint32 x)
{
  return gantry_builder_scatter_vectors (b, x, gantry_builder_ints (b, (gint64[]){ 1 }, 1), gantry_builder_floats (b, GANTRY_F32, (double[]){ 7, 8, 9 }, 3),
                                         "set");
}

static guint32
build_reduce_keep (GantryBuilder *b, guint32 x)
{
  return gantry_builder_reduce_axes (b, "max", x, axis_0, 1, TRUE);
}

static guint32
build_reduce (GantryBuilder *b, guint32 x)
{
  return gantry_builder_reduce_axes (b, "add", x, both, 2, FALSE);
}

static guint32
build_mean (GantryBuilder *b, guint32 x)
{
  return gantry_builder_mean (b, x, axis_0, 1);
}

static guint32
build_softmax (GantryBuilder *b, guint32 x)
{
  return gantry_builder_softmax (b, x, axis_0, 1, FALSE);
}

static guint32
build_log_softmax (GantryBuilder *b, guint32 x)
{
  return gantry_builder_softmax (b, x, axis_0, 1, TRUE);
}

/* 1 / (1 + e^3) and the like are written with as many digits as f32 has. */
static const Case cases[] = {
  { "/scale", build_scale, GANTRY_F32, GANTRY_F32, 2, { 2, 3 }, { 1, 3, 5, 7, 9, 13 } },
  { "/like", build_like, GANTRY_F16, GANTRY_F16, 0, { 0 }, { 2.5 } },
  { "/floats", build_floats, GANTRY_F32, GANTRY_F32, 2, { 2, 3 }, { 1, 20, 300, 4, 50, 700 } },
  { "/swap-axes", build_swap, GANTRY_F32, GANTRY_F32, 2, { 3, 2 }, { 1, 4, 2, 5, 3, 7 } },
  { "/along", build_along, GANTRY_F32, GANTRY_F32, 3, { 1, 3, 1 }, { 4, 5, 7 } },
  { "/slice-axis", build_slice, GANTRY_F32, GANTRY_F32, 2, { 2, 2 }, { 1, 3, 4, 7 } },
  { "/reverse", build_reverse, GANTRY_F32, GANTRY_F32, 2, { 2, 3 }, { 4, 5, 7, 1, 2, 3 } },
  { "/pad", build_pad, GANTRY_F32, GANTRY_F32, 2, { 2, 4 }, { 9, 1, 2, 3, 9, 4, 5, 7 } },
  { "/take", build_take, GANTRY_F32, GANTRY_F32, 2, { 2, 2 }, { 3, 1, 7, 4 } },
  { "/take/scalar", build_take_scalar, GANTRY_F32, GANTRY_F32, 1, { 3 }, { 4, 5, 7 } },
  { "/scatter", build_scatter, GANTRY_F32, GANTRY_F32, 2, { 2, 3 }, { 1, 12, 3, 4, 5, 27 } },
  { "/scatter/row", build_scatter_row, GANTRY_F32, GANTRY_F32, 2, { 2, 3 }, { 1, 2, 3, 7, 8, 9 } },
  { "/reduce/keep", build_reduce_keep, GANTRY_F32, GANTRY_F32, 2, { 1, 3 }, { 4, 5, 7 } },
  { "/reduce/unsorted-axes", build_reduce, GANTRY_F32, GANTRY_F32, 0, { 0 }, { 22 } },
  { "/mean/wide", build_mean, GANTRY_F16, GANTRY_F32, 2, { 1, 3 }, { 2.5, 3.5, 5 } },
  { "/mean/f64", build_mean, GANTRY_F64, GANTRY_F64, 2, { 1, 3 }, { 2.5, 3.5, 5 } },
  { "/softmax", build_softmax, GANTRY_BF16, GANTRY_F32, 2, { 2, 3 }, { 0.0474258732, 0.0474258732, 0.0179862100, 0.952574127, 0.952574127, 0.982013790 } },
  { "/softmax/logarithm",
    build_log_softmax,
    GANTRY_F32,
    GANTRY_F32,
    2,
    { 2, 3 },
    { -3.04858735, -3.04858735, -4.01814993, -0.0485873516, -0.0485873516, -0.0181499279 } },
};

static guint32
begin (GantryBuilder *b, GantryElementType element)
{
  guint32 type = gantry_context_tensor (gantry_builder_context (b), element, 2, (GantryDim[]){ 2, 3 });

  gantry_builder_begin (b, "main", 0);
  return gantry_builder_parameter (b, type, "x");
}

static void
test_value (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryBuilder) b = gantry_builder_new (context, "test");
  guint32 x = begin (b, c->from), y = c->build (b, x);
  g_autoptr (GantryModule) module = NULL;
  g_autoptr (GantryLiteral) argument = NULL, result = NULL;
  g_autoptr (GError) error = NULL;
  guint8 *bytes = NULL;

  gantry_builder_end (b, &y, 1);
  argument = gantry_literal_new_zeroed (gantry_builder_get_type (b, x), &bytes);
  for (guint i = 0; i < G_N_ELEMENTS (x_values); i++)
    gantry_element_write_double (c->from, bytes + i * gantry_element_size (c->from), x_values[i]);
  module = gantry_builder_finish (b, &error);
  g_assert_no_error (error);
  gantry_evaluate (module, &module->functions[0], &argument, &result, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (result->type->element, ==, c->to);
  g_assert_cmpuint (result->type->rank, ==, c->rank);
  for (guint d = 0; d < c->rank; d++)
    g_assert_cmpint (result->type->dims[d], ==, c->dims[d]);
  for (gint64 i = 0; i < gantry_type_elements (result->type); i++)
    g_assert_cmpfloat_with_epsilon (gantry_literal_get_double (result, i), c->values[i], 1e-6 * fmax (fabs (c->values[i]), 1));
}

/* Nothing to do is no node. */
static void
test_same (void)
{
  static const gint64 zeros[2] = { 0, 0 };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryBuilder) b = gantry_builder_new (context, "test");
  guint32 x = begin (b, GANTRY_F32), plain = gantry_builder_ints (b, (gint64[]){ 2, 0 }, 2);

  g_assert_cmpuint (gantry_builder_scale (b, x, 1), ==, x);
  g_assert_cmpuint (gantry_builder_offset (b, x, 0), ==, x);
  g_assert_cmpuint (gantry_builder_widen (b, x), ==, x);
  g_assert_cmpuint (gantry_builder_swap_axes (b, x, 1, 1), ==, x);
  g_assert_cmpuint (gantry_builder_slice_axis (b, x, 1, 0, 3, 1), ==, x);
  g_assert_cmpuint (gantry_builder_reverse (b, x, NULL, 0), ==, x);
  g_assert_cmpuint (gantry_builder_pad_if_any (b, x, gantry_builder_like (b, x, 0), zeros, zeros, zeros), ==, x);
  g_assert_cmpuint (gantry_builder_reduce_axes (b, "add", x, NULL, 0, TRUE), ==, x);
  g_assert_cmpuint (gantry_builder_wrap_indices (b, plain, 3), ==, plain);
  g_assert_true (gantry_builder_check (b, NULL));
}

/* An operand that is not there is no error here: who wanted it says so. */
static void
test_absent (void)
{
  static const gint64 ones[2] = { 1, 1 };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryBuilder) b = gantry_builder_new (context, "test");
  guint32 x = begin (b, GANTRY_F32);

  g_assert_cmpuint (gantry_builder_like (b, 0, 1), ==, 0);
  g_assert_cmpuint (gantry_builder_scale (b, 0, 2), ==, 0);
  g_assert_cmpuint (gantry_builder_widen (b, 0), ==, 0);
  g_assert_cmpuint (gantry_builder_swap_axes (b, 0, 0, 1), ==, 0);
  g_assert_cmpuint (gantry_builder_along (b, 0, 2, 1), ==, 0);
  g_assert_cmpuint (gantry_builder_slice_axis (b, 0, 0, 0, 1, 1), ==, 0);
  g_assert_cmpuint (gantry_builder_reverse (b, 0, ones, 1), ==, 0);
  g_assert_cmpuint (gantry_builder_pad_if_any (b, x, 0, ones, ones, NULL), ==, 0);
  g_assert_cmpuint (gantry_builder_take (b, x, 0, 0), ==, 0);
  g_assert_cmpuint (gantry_builder_scatter_vectors (b, x, 0, x, "set"), ==, 0);
  g_assert_cmpuint (gantry_builder_wrap_indices (b, 0, 2), ==, 0);
  g_assert_cmpuint (gantry_builder_reduce_axes (b, "add", 0, ones, 1, TRUE), ==, 0);
  g_assert_cmpuint (gantry_builder_mean (b, 0, ones, 1), ==, 0);
  g_assert_cmpuint (gantry_builder_softmax (b, 0, ones, 1, FALSE), ==, 0);
  g_assert_cmpuint (gantry_builder_unary (b, GANTRY_OP_ABS, 0), ==, 0);
  g_assert_cmpuint (gantry_builder_binary_broadcast (b, GANTRY_OP_ADD, x, 0), ==, 0);
  g_assert_cmpuint (gantry_builder_concatenate (b, (guint32[]){ x, 0 }, 2, 0), ==, 0);
  g_assert_true (gantry_builder_check (b, NULL));
}

/* Places of three numbers in two dimensions. */
static void
test_places (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryBuilder) b = gantry_builder_new (context, "test");
  guint32 x = begin (b, GANTRY_F32);
  g_autoptr (GError) error = NULL;

  g_assert_cmpuint (gantry_builder_scatter_vectors (b, x, gantry_builder_ints (b, (gint64[]){ 0, 0, 0 }, 3), gantry_builder_like (b, x, 1), "set"), ==, 0);
  g_assert_false (gantry_builder_check (b, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
}

/* An axis that is not there is an error, whichever way it is out of range. */
static void
test_axis (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryBuilder) b = gantry_builder_new (context, "test");
  guint32 x = begin (b, GANTRY_F32);

  for (gint64 axis = -1; axis <= 2; axis += 3)
    {
      g_autoptr (GError) slice = NULL, take = NULL, reduce = NULL;

      g_assert_cmpuint (gantry_builder_slice_axis (b, x, axis, 0, 1, 1), ==, 0);
      g_assert_false (gantry_builder_check (b, &slice));
      g_assert_error (slice, GANTRY_ERROR, GANTRY_ERROR_INVALID);
      g_assert_cmpuint (gantry_builder_take (b, x, axis, gantry_builder_ints (b, &axis, 1)), ==, 0);
      g_assert_false (gantry_builder_check (b, &take));
      g_assert_error (take, GANTRY_ERROR, GANTRY_ERROR_INVALID);
      g_assert_cmpuint (gantry_builder_mean (b, x, &axis, 1), ==, 0);
      g_assert_false (gantry_builder_check (b, &reduce));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/composite", cases[i].path, NULL);

      g_test_add_data_func (path, &cases[i], test_value);
    }
  g_test_add_func ("/composite/same", test_same);
  g_test_add_func ("/composite/absent", test_absent);
  g_test_add_func ("/composite/axis", test_axis);
  g_test_add_func ("/composite/places", test_places);
  return g_test_run ();
}
