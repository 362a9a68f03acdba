/* SPDX-License-Identifier: Apache-2.0 */
/* How exact the elementary functions of float are: over their whole range, in units of the last place
 * against the C library's in double. The bounds are what was measured, rounded up; `--verbose` prints the measured. */
#include "core/graph/graph.h"
#include "core/kernels/kernels.h"
#include "tests/random-seed.h"
#include <math.h>
#include <string.h>

#define N 200000

typedef struct
{
  guint op;
  double (*exact) (double);
  double lo, hi;        /* of the arguments */
  gboolean by_exponent; /* all magnitudes evenly, both signs when lo < 0 */
  double bound;         /* units in the last place */
} Case;

static double
logistic (double x)
{
  return x >= 0 ? 1 / (1 + exp (-x)) : exp (x) / (1 + exp (x));
}

static double
rsqrt (double x)
{
  return 1 / sqrt (x);
}

static const Case cases[] = {
  { GANTRY_OP_EXPONENTIAL, exp, -87, 88.7, FALSE, 2 },
  { GANTRY_OP_EXPONENTIAL, exp, -103.9, -87, FALSE, 2 },
  { GANTRY_OP_EXPONENTIAL_MINUS_ONE, expm1, -20, 88.7, FALSE, 2 },
  { GANTRY_OP_EXPONENTIAL_MINUS_ONE, expm1, -1, 1, TRUE, 2 },
  { GANTRY_OP_LOG, log, 0, 1e38, TRUE, 2 },
  { GANTRY_OP_LOG, log, 0.5, 2, FALSE, 2 },
  { GANTRY_OP_LOG_PLUS_ONE, log1p, -0.999, 10, FALSE, 3 },
  { GANTRY_OP_LOG_PLUS_ONE, log1p, 0, 1e38, TRUE, 3 },
  { GANTRY_OP_TANH, tanh, -10, 10, FALSE, 3 },
  { GANTRY_OP_TANH, tanh, -1, 1, TRUE, 3 },
  { GANTRY_OP_LOGISTIC, logistic, -87, 30, FALSE, 3 },
  { GANTRY_OP_ERF, erf, -4.5, 4.5, FALSE, 3 },
  { GANTRY_OP_ERF, erf, -1, 1, TRUE, 3 },
  { GANTRY_OP_SINE, sin, -100, 100, FALSE, 2 },
  { GANTRY_OP_SINE, sin, -99999, 99999, FALSE, 3 },
  { GANTRY_OP_SINE, sin, -1e38, 1e38, TRUE, 3 },
  { GANTRY_OP_COSINE, cos, -100, 100, FALSE, 2 },
  { GANTRY_OP_COSINE, cos, -99999, 99999, FALSE, 3 },
  { GANTRY_OP_TAN, tan, -100, 100, FALSE, 4 },
  { GANTRY_OP_SQRT, sqrt, 0, 1e38, TRUE, 0.5001 },
  { GANTRY_OP_RSQRT, rsqrt, 0, 1e38, TRUE, 1.5 },
};

static GantryModule *
module_of (GantryContext *context, guint op, guint n_operands)
{
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "math");
  g_autoptr (GError) error = NULL;
  const GantryDim n = N;
  guint32 ids[2], node;
  GantryModule *module;

  gantry_builder_begin (builder, "main", 0);
  gantry_builder_set_place (builder, 0, gantry_context_location (context, &(GantryLocation){ .line = 1 }));
  for (guint i = 0; i < n_operands; i++)
    ids[i] = gantry_builder_parameter (builder, gantry_context_tensor (context, GANTRY_F32, 1, &n), NULL);
  node = gantry_builder_add (builder, op, ids, n_operands, 0);
  gantry_builder_end (builder, &node, 1);
  module = gantry_builder_finish (builder, &error);
  g_assert_no_error (error);
  return module;
}

static void
run_module (GantryModule *module, guint n_operands, float *x, float *y, float *result)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryKernelSet) set = gantry_kernels_compile (module, NULL, NULL, &error);
  void *buffers[] = { x, n_operands == 2 ? y : result, result };

  g_assert_no_error (error);
  g_assert_cmpuint (set->n_kernels, ==, 1);
  set->kernels[0].func (set->kernels[0].state, buffers, 0, set->kernels[0].n_tasks);
}

static void
run (guint op, guint n_operands, float *x, float *y, float *result)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = module_of (context, op, n_operands);

  run_module (module, n_operands, x, y, result);
}

/* Distance in units of the last place of the exact value as float. */
static double
units (float got, double exact)
{
  float rounded = (float) exact;
  double unit;

  if (isnan (exact) || isnan (got))
    return isnan (exact) && isnan (got) ? 0 : INFINITY;
  if (isinf (rounded) || isinf (got))
    return rounded == got ? 0 : INFINITY;
  unit = fabs ((double) nextafterf (fabsf (rounded), INFINITY) - fabs ((double) rounded));
  return fabs ((double) got - exact) / unit;
}

static float
argument (GRand *rand, const Case *c)
{
  double x;

  if (!c->by_exponent)
    return (float) g_rand_double_range (rand, c->lo, c->hi);
  x = ldexp (g_rand_double_range (rand, 1, 2), g_rand_int_range (rand, -126, (int) log2 (c->hi) + 1));
  x = MIN (x, c->hi);
  return (float) (c->lo < 0 && g_rand_boolean (rand) ? -x : x);
}

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (GRand) rand = test_rand (1);
  g_autofree float *x = g_new (float, N);
  g_autofree float *result = g_new (float, N);
  double worst = 0;
  float at = 0;

  for (guint i = 0; i < N; i++)
    x[i] = argument (rand, c);
  run (c->op, 1, x, NULL, result);
  for (guint i = 0; i < N; i++)
    {
      double error = units (result[i], c->exact ((double) x[i]));

      if (error > worst)
        worst = error, at = x[i];
    }
  g_test_message ("%s on [%g, %g]: %.2f units at %.9g", gantry_op_info (c->op)->name, c->lo, c->hi, worst, (double) at);
  g_assert_cmpfloat (worst, <=, c->bound);
}

static void
test_power (void)
{
  g_autoptr (GRand) rand = test_rand (1);
  g_autofree float *x = g_new (float, N);
  g_autofree float *y = g_new (float, N);
  g_autofree float *result = g_new (float, N);
  double worst = 0;

  for (guint i = 0; i < N; i++)
    {
      x[i] = (float) ldexp (g_rand_double_range (rand, 1, 2), g_rand_int_range (rand, -40, 40));
      y[i] = (float) (g_rand_double_range (rand, -120, 120) / (fabs (log2 ((double) x[i])) + 0.1));
      if (i % 5 == 0)
        {
          x[i] = -x[i];
          y[i] = rintf (y[i]);
        }
    }
  run (GANTRY_OP_POWER, 2, x, y, result);
  for (guint i = 0; i < N; i++)
    worst = MAX (worst, units (result[i], pow ((double) x[i], (double) y[i])));
  g_test_message ("power: %.2f units", worst);
  g_assert_cmpfloat (worst, <=, 1);
}

/* The exponent as a constant of the module: small multiples of 1/4 are done by products and roots. */
static void
run_constant_power (float *x, double exponent, float *result)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "power");
  g_autoptr (GantryModule) module = NULL;
  g_autoptr (GError) error = NULL;
  float value = (float) exponent;
  g_autoptr (GBytes) bytes = g_bytes_new (&value, sizeof value);
  g_autoptr (GantryLiteral) literal = NULL;
  const GantryDim n = N;
  guint32 type = gantry_context_tensor (context, GANTRY_F32, 1, &n), ids[2], node;

  literal = gantry_literal_new (gantry_context_type (context, type), bytes, TRUE, &error);
  gantry_builder_begin (builder, "main", 0);
  gantry_builder_set_place (builder, 0, gantry_context_location (context, &(GantryLocation){ .line = 1 }));
  ids[0] = gantry_builder_parameter (builder, type, NULL);
  ids[1] = gantry_builder_literal (builder, literal);
  node = gantry_builder_add (builder, GANTRY_OP_POWER, ids, 2, 0);
  gantry_builder_end (builder, &node, 1);
  module = gantry_builder_finish (builder, &error);
  g_assert_no_error (error);
  run_module (module, 1, x, NULL, result);
}

/* How far a constant power may be off, in units of the last place: each root, product and reciprocal is off by 2^-24 of its
 * result, which is at most one unit of any number of that size; a root halves what its argument is off, factors add up. Other
 * exponents go through double. */
static double
units_of_power (double exponent)
{
  static const double of_roots[] = { 0, 1.5, 1, 3.5 }; /* x^(1/4), x^(1/2), and x^(3/4), the product of both */
  double quarters = fabs (exponent) * 4;
  guint whole = (guint) quarters / 4, rest = (guint) quarters % 4, negative = exponent < 0;

  if (quarters != floor (quarters) || quarters > 12)
    return 1;
  /* Of a negative one both parts are reciprocals first. What is left out is of second order. */
  return of_roots[rest] + (rest > 0 ? negative + whole : whole - (whole > 0)) + negative * whole + 0.01;
}

static void
test_constant_power (void)
{
  static const double exponents[] = { 0, 0.5, -0.5, 0.25, -0.25, 0.75, -0.75, 1, -1, 1.5, -1.75, 2, -2, 3, -3, 4, -4, 5, 0.3, -7.5 };
  static const float special[] = { 0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, 1e-42f, -1e-42f, 1e38f, -1e38f, -2.5f };
  g_autoptr (GRand) rand = test_rand (1);
  g_autofree float *x = g_new (float, N);
  g_autofree float *result = g_new (float, N);

  for (guint i = 0; i < N; i++)
    x[i] = i < G_N_ELEMENTS (special) ? special[i] : (float) ldexp (g_rand_double_range (rand, 1, 2), g_rand_int_range (rand, -30, 31));
  for (guint k = 0; k < G_N_ELEMENTS (exponents); k++)
    {
      double worst = 0;

      run_constant_power (x, exponents[k], result);
      for (guint i = 0; i < N; i++)
        {
          double want = pow ((double) x[i], (double) (float) exponents[k]);

          if (units (result[i], want) > units_of_power (exponents[k]))
            g_error ("power (%g, %g): %g, expected %g", (double) x[i], exponents[k], (double) result[i], want);
          worst = MAX (worst, units (result[i], want));
        }
      g_test_message ("power to %g: %.2f units of %.2f", exponents[k], worst, units_of_power (exponents[k]));
    }
}

/* All of C's special cases of pow, and of the functions of one argument. */
static void
test_special (void)
{
  static const float special[] = { 0.0f,     -0.0f,     1.0f, -1.0f,  2.0f,    -2.0f, 3.0f,   -3.0f,       0.5f,      -0.5f,
                                   INFINITY, -INFINITY, NAN,  1e-42f, -1e-42f, 1e38f, -1e38f, 16777217.0f, 8388607.5f };
  g_autofree float *x = g_new0 (float, N);
  g_autofree float *y = g_new0 (float, N);
  g_autofree float *result = g_new (float, N);
  guint n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (special); i++)
    for (guint j = 0; j < G_N_ELEMENTS (special); j++, n++)
      {
        x[n] = special[i];
        y[n] = special[j];
      }
  run (GANTRY_OP_POWER, 2, x, y, result);
  for (guint i = 0; i < n; i++)
    {
      float want = (float) pow ((double) x[i], (double) y[i]);

      if (units (result[i], (double) want) > 1 || (!isnan (want) && signbit (want) != signbit (result[i])))
        g_error ("power (%g, %g): %g, expected %g", (double) x[i], (double) y[i], (double) result[i], (double) want);
    }
  for (guint k = 0; k < G_N_ELEMENTS (cases); k++)
    {
      run (cases[k].op, 1, x, NULL, result);
      for (guint i = 0; i < n; i++)
        {
          double want = cases[k].exact ((double) x[i]);

          if (units (result[i], want) > 4)
            g_error ("%s (%g): %g, expected %g", gantry_op_info (cases[k].op)->name, (double) x[i], (double) result[i], want);
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/kernels/math/%s/%u", gantry_op_info (cases[i].op)->name, i);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  g_test_add_func ("/kernels/math/power", test_power);
  g_test_add_func ("/kernels/math/power/constant", test_constant_power);
  g_test_add_func ("/kernels/math/special", test_special);
  return g_test_run ();
}
