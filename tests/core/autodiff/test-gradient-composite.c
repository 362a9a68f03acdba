/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are put together of a part below 0 and one above: their derivative at 0, and far from it, where the part that is not
 * taken is infinite. */
#include "core/graph/builder-composite.h"
#include "tests/core/autodiff/gradient-test.h"
#include <math.h>

#define N 5

static const double points[N] = { -1000, -1, 0, 1, 1000 };

/* x above 0, else exp (x) - 1 */
static guint32
build_elu (GantryBuilder *b, guint32 x)
{
  guint32 low = gantry_builder_unary (b, GANTRY_OP_EXPONENTIAL_MINUS_ONE, gantry_builder_at_most_zero (b, x));

  return gantry_builder_select (b, gantry_builder_compare (b, "GT", x, gantry_builder_like (b, x, 0)), x, low);
}

static guint32
build_softplus (GantryBuilder *b, guint32 x)
{
  return gantry_builder_softplus (b, x);
}

/* Of x * x^2 with the square held fast */
static guint32
build_stopped (GantryBuilder *b, guint32 x)
{
  guint32 fast = gantry_builder_unary (b, GANTRY_OP_STOP_GRADIENT, gantry_builder_binary (b, GANTRY_OP_MULTIPLY, x, x));

  return gantry_builder_binary (b, GANTRY_OP_MULTIPLY, x, fast);
}

static void
check_slopes (guint32 (*build) (GantryBuilder *b, guint32 x), const double *slopes)
{
  static const guint zero = 0;
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryBuilder) b = gantry_builder_new (context, "test");
  guint32 x, y;
  g_autoptr (GantryModule) module = NULL, derived = NULL;
  g_autoptr (GantryLiteral) argument = NULL;
  g_autoptr (GError) error = NULL;
  GantryLiteral **results;
  guint8 *bytes;

  gantry_builder_begin (b, "main", 0);
  gantry_builder_set_place (b, 0, gantry_context_location (context, &(GantryLocation){ .line = 1 }));
  x = gantry_builder_parameter (b, gantry_context_tensor (context, GANTRY_F64, 1, (GantryDim[]){ N }), "x");
  y = gantry_builder_reduce (b, "add", build (b, x), (gint64[]){ 0 }, 1);
  gantry_builder_end (b, &y, 1);
  argument = gantry_literal_new_zeroed (gantry_builder_get_type (b, x), &bytes);
  memcpy (bytes, points, sizeof points);
  module = gantry_builder_finish (b, &error);
  g_assert_no_error (error);
  derived = gradient_of (module, &(GantryGradientOptions){ .outputs = &zero, .n_outputs = 1, .with_respect_to = &zero, .n_with_respect_to = 1 });
  results = gradient_evaluate (derived, &argument);
  for (guint i = 0; i < N; i++)
    g_assert_cmpfloat_with_epsilon (gantry_literal_get_double (results[0], i), slopes[i], 1e-15);
  gradient_free_literals (results, 1);
}

static void
test_softplus (void)
{
  check_slopes (build_softplus, (const double[]){ 0, 1 / (1 + exp (1)), 0.5, 1 / (1 + exp (-1)), 1 });
}

static void
test_elu (void)
{
  check_slopes (build_elu, (const double[]){ 0, exp (-1), 1, 1, 1 });
}

static void
test_stopped (void)
{
  check_slopes (build_stopped, (const double[]){ 1e6, 1, 0, 1, 1e6 });
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/gradient/composite/softplus", test_softplus);
  g_test_add_func ("/gradient/composite/elu", test_elu);
  g_test_add_func ("/gradient/composite/stopped", test_stopped);
  return g_test_run ();
}
