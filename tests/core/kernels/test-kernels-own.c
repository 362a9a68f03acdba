/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that take the place of the C library's where there is none (a GPU), generated for the processor
 * of this machine and compared with the C library's in long double (of float: in double): in units of the last place over
 * their whole range, and at the special values. `--verbose` prints the largest error of each. */
#include "tests/core/kernels/compute-elements.h"
#include "tests/random-seed.h"
#include <math.h>
#include <string.h>

#define N 60000

typedef struct
{
  const char *name;
  guint op;
  long double (*one) (long double);
  long double (*two) (long double, long double);
  double lo, hi;        /* of the arguments */
  gboolean by_exponent; /* all magnitudes evenly, both signs when lo < 0 */
  double bound;         /* units in the last place, of double */
  double bound_float;   /* of float */
} Case;

static long double
logistic (long double x)
{
  return 1 / (1 + expl (-x));
}

static const Case cases[] = {
  { "exp", GANTRY_OP_EXPONENTIAL, expl, NULL, -708, 709, FALSE, 2, 2 },
  { "exp/small", GANTRY_OP_EXPONENTIAL, expl, NULL, -745, -700, FALSE, 2, 2 },
  { "expm1", GANTRY_OP_EXPONENTIAL_MINUS_ONE, expm1l, NULL, -50, 709, FALSE, 2, 2 },
  { "expm1/small", GANTRY_OP_EXPONENTIAL_MINUS_ONE, expm1l, NULL, -1, 1, TRUE, 2, 2 },
  { "log", GANTRY_OP_LOG, logl, NULL, 0, 1e308, TRUE, 2, 2 },
  { "log/near", GANTRY_OP_LOG, logl, NULL, 0.5, 2, FALSE, 2, 2 },
  { "log1p", GANTRY_OP_LOG_PLUS_ONE, log1pl, NULL, -0.999, 10, FALSE, 3, 3 },
  { "log1p/all", GANTRY_OP_LOG_PLUS_ONE, log1pl, NULL, 0, 1e308, TRUE, 3, 3 },
  { "tanh", GANTRY_OP_TANH, tanhl, NULL, -25, 25, FALSE, 3, 3 },
  { "tanh/small", GANTRY_OP_TANH, tanhl, NULL, -1, 1, TRUE, 3, 3 },
  { "logistic", GANTRY_OP_LOGISTIC, logistic, NULL, -700, 50, FALSE, 4, 4 },
  { "erf", GANTRY_OP_ERF, erfl, NULL, -6.5, 6.5, FALSE, 4, 4 },
  { "erf/small", GANTRY_OP_ERF, erfl, NULL, -1, 1, TRUE, 3, 4 },
  { "sin", GANTRY_OP_SINE, sinl, NULL, -100, 100, FALSE, 2, 2 },
  { "sin/wide", GANTRY_OP_SINE, sinl, NULL, -99999, 99999, FALSE, 2, 3 },
  { "sin/all", GANTRY_OP_SINE, sinl, NULL, -1e300, 1e300, TRUE, 3, 3 },
  { "cos", GANTRY_OP_COSINE, cosl, NULL, -100, 100, FALSE, 2, 2 },
  { "cos/all", GANTRY_OP_COSINE, cosl, NULL, -1e300, 1e300, TRUE, 3, 3 },
  { "tan", GANTRY_OP_TAN, tanl, NULL, -100, 100, FALSE, 4, 4 },
  { "tan/all", GANTRY_OP_TAN, tanl, NULL, -1e300, 1e300, TRUE, 5, 5 },
  { "asin", GANTRY_OP_ASIN, asinl, NULL, -1, 1, FALSE, 3, 1 },
  { "asin/small", GANTRY_OP_ASIN, asinl, NULL, -1, 1, TRUE, 2, 1 },
  { "acos", GANTRY_OP_ACOS, acosl, NULL, -1, 1, FALSE, 3, 1 },
  { "atan", GANTRY_OP_ATAN, atanl, NULL, -5, 5, FALSE, 2, 1 },
  { "atan/all", GANTRY_OP_ATAN, atanl, NULL, -1e300, 1e300, TRUE, 2, 1 },
  { "sinh", GANTRY_OP_SINH, sinhl, NULL, -710, 710, FALSE, 4, 1 },
  { "sinh/small", GANTRY_OP_SINH, sinhl, NULL, -1, 1, TRUE, 4, 1 },
  { "cosh", GANTRY_OP_COSH, coshl, NULL, -710, 710, FALSE, 4, 1 },
  { "asinh", GANTRY_OP_ASINH, asinhl, NULL, -1e300, 1e300, TRUE, 4, 1 },
  { "acosh", GANTRY_OP_ACOSH, acoshl, NULL, 1, 1e300, TRUE, 4, 1 },
  { "acosh/near", GANTRY_OP_ACOSH, acoshl, NULL, 1, 3, FALSE, 4, 1 },
  { "atanh", GANTRY_OP_ATANH, atanhl, NULL, -1, 1, FALSE, 4, 1 },
  { "atanh/small", GANTRY_OP_ATANH, atanhl, NULL, -0.9, 0.9, TRUE, 4, 1 },
  { "cbrt", GANTRY_OP_CBRT, cbrtl, NULL, -1e300, 1e300, TRUE, 1.5, 1 },
  { "pow", GANTRY_OP_POWER, NULL, powl, 0, 0, FALSE, 32, 1 }, /* 4e-15, where |log| is 700 */
  { "atan2", GANTRY_OP_ATAN2, NULL, atan2l, -1e30, 1e30, TRUE, 3, 1 },
  { "remainder", GANTRY_OP_REMAINDER, NULL, fmodl, -1e30, 1e30, TRUE, 0, 0 },
};

/* Distance in units of the last place of the exact value. */
static double
units (double got, long double exact, gboolean is_float)
{
  double rounded = is_float ? (double) (float) exact : (double) exact;
  long double unit;

  if (isnan (exact) || isnan (got))
    return isnan (exact) && isnan (got) ? 0 : INFINITY;
  if (isinf (rounded) || isinf (got))
    return rounded == got ? 0 : INFINITY;
  if (rounded == 0 && got == 0)
    return is_float || signbit (rounded) == signbit (got) ? 0 : INFINITY; /* of float some lose it, everywhere */
  if (is_float)
    unit = (long double) nextafterf (fabsf ((float) rounded), INFINITY) - fabsl ((long double) rounded);
  else
    unit = (long double) nextafter (fabs (rounded), INFINITY) - fabsl ((long double) rounded);
  return (double) (fabsl ((long double) got - exact) / unit);
}

static double
random_argument (GRand *rand, const Case *c, gboolean is_float)
{
  double lo = is_float ? MAX (c->lo, -3e38) : c->lo, hi = is_float ? MIN (c->hi, 3e38) : c->hi, x;

  if (!c->by_exponent)
    {
      if (is_float && hi > 700) /* of exponential and its like */
        lo = MAX (lo, -87), hi = 88;
      x = g_rand_double_range (rand, lo, hi);
    }
  else
    {
      int lowest = lo >= 1 ? 0 : is_float ? -126 : -1022;

      x = ldexp (g_rand_double_range (rand, 1, 2), g_rand_int_range (rand, lowest, (int) log2 (hi) + 1));
      x = MIN (x, hi);
      x = lo < 0 && g_rand_boolean (rand) ? -x : x;
    }
  return is_float ? (double) (float) x : x;
}

static void
make_arguments (const Case *c, gboolean is_float, double *x, double *y)
{
  g_autoptr (GRand) rand = test_rand (1);

  for (guint i = 0; i < N; i++)
    {
      x[i] = random_argument (rand, c, is_float);
      y[i] = random_argument (rand, c, is_float);
      if (c->op == GANTRY_OP_POWER)
        {
          x[i] = ldexp (g_rand_double_range (rand, 1, 2), g_rand_int_range (rand, -40, 40));
          y[i] = g_rand_double_range (rand, -1000, 1000) / (fabs (log2 (x[i])) + 0.1) * (is_float ? 0.12 : 1);
          if (i % 5 == 0)
            x[i] = -x[i], y[i] = rint (y[i]);
        }
      if (is_float)
        x[i] = (double) (float) x[i], y[i] = (double) (float) y[i];
    }
}

/* Every case that C states for one or two arguments lies among these. */
static guint
add_special (double *x, double *y, guint n, gboolean is_float)
{
  static const double special[] = { 0.0, -0.0,  1.0,    -1.0, 2.0,   -2.0,       3.0,       -3.0, 0.5, -0.5, INFINITY, -INFINITY,
                                    NAN, 1e-42, -1e-42, 1e38, -1e38, 16777217.0, 8388607.5, 1e5,  22,  710,  -746 };
  guint used = 0;

  for (guint i = 0; i < G_N_ELEMENTS (special); i++)
    for (guint j = 0; j < G_N_ELEMENTS (special) && used < n; j++, used++)
      {
        x[used] = is_float ? (double) (float) special[i] : special[i];
        y[used] = is_float ? (double) (float) special[j] : special[j];
      }
  return used;
}

static void
run (const Case *c, gboolean is_float, double *x, double *y, double *result)
{
  g_autofree float *fx = g_new (float, N);
  g_autofree float *fy = g_new (float, N);
  g_autofree float *fr = g_new (float, N);

  if (!is_float)
    {
      compute_elements (GANTRY_SPECIAL_NONE, c->op, GANTRY_F64, c->two != NULL ? 2 : 1, N, x, y, result);
      return;
    }
  for (guint i = 0; i < N; i++)
    fx[i] = (float) x[i], fy[i] = (float) y[i];
  compute_elements (GANTRY_SPECIAL_NONE, c->op, GANTRY_F32, c->two != NULL ? 2 : 1, N, fx, fy, fr);
  for (guint i = 0; i < N; i++)
    result[i] = (double) fr[i];
}

static void
check (const Case *c, gboolean is_float)
{
  g_autofree double *x = g_new (double, N);
  g_autofree double *y = g_new (double, N);
  g_autofree double *result = g_new (double, N);
  double worst = 0, bound = is_float ? c->bound_float : c->bound, at[2] = { 0 };
  guint n_special;

  make_arguments (c, is_float, x, y);
  n_special = add_special (x, y, N, is_float);
  run (c, is_float, x, y, result);
  for (guint i = 0; i < N; i++)
    {
      long double exact = c->two != NULL ? c->two ((long double) x[i], (long double) y[i]) : c->one ((long double) x[i]);
      double error = units (result[i], exact, is_float);

      if (i < n_special && error > bound + 1)
        {
          g_test_message ("%s (%g, %g): %.17g, expected %.17Lg", c->name, x[i], y[i], result[i], exact);
          g_test_fail ();
        }
      if (i >= n_special && !(error <= worst))
        worst = error, at[0] = x[i], at[1] = y[i];
    }
  g_test_message ("%s of %s: %.3f units at %.17g, %.17g", c->name, is_float ? "float" : "double", worst, at[0], at[1]);
  if (!(worst <= bound))
    g_test_fail ();
}

static void
test_double (gconstpointer data)
{
  check (data, FALSE);
}

static void
test_float (gconstpointer data)
{
  check (data, TRUE);
}

static gint64
power (gint64 base, gint64 exponent)
{
  guint64 result = 1;

  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 != 0 ? -1 : 1) : 0;
  for (; exponent > 0; exponent--)
    result *= (guint64) base;
  return (gint64) result;
}

static void
test_integer_power (void)
{
  gint64 x[26 * 13], y[26 * 13], result[26 * 13];
  guint n = 0;

  for (gint64 base = -13; base < 13; base++)
    for (gint64 exponent = -3; exponent < 10; exponent++, n++)
      x[n] = base * (exponent == 3 ? G_GINT64_CONSTANT (1000003) : 1), y[n] = exponent == 9 ? 70 : exponent;
  compute_elements (GANTRY_SPECIAL_NONE, GANTRY_OP_POWER, GANTRY_I64, 2, n, x, y, result);
  for (guint i = 0; i < n; i++)
    g_assert_cmpint (result[i], ==, power (x[i], y[i]));
  compute_elements (GANTRY_SPECIAL_NONE, GANTRY_OP_POWER, GANTRY_U64, 2, n, x, y, result);
  for (guint i = 0; i < n; i++)
    if (y[i] >= 0)
      g_assert_cmpint (result[i], ==, power (x[i], y[i]));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/own/integer-power", test_integer_power);
  for (guint i = 0; i < G_N_ELEMENTS (cases) && compute_has_fused (); i++)
    {
      g_autofree char *of_double = g_strdup_printf ("/kernels/own/double/%s", cases[i].name);
      g_autofree char *of_float = g_strdup_printf ("/kernels/own/float/%s", cases[i].name);

      g_test_add_data_func (of_double, &cases[i], test_double);
      g_test_add_data_func (of_float, &cases[i], test_float);
    }
  return g_test_run ();
}
