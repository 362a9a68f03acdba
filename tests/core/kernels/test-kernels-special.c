/* SPDX-License-Identifier: Apache-2.0 */
/* Elementary functions as code for a GPU has them (core/kernels/emit/special.c), generated for the processor, where a model takes the
 * place of the unit for special functions: with the unit's results rounded correctly, and off by as much as the PTX ISA allows. In
 * units of the last place against the C library's in long double: of f32 over the whole range, of bf16 and f16 for every number.
 * `--verbose` prints the largest errors. */
#include "core/kernels/cpu/special-model.h"
#include "tests/core/kernels/compute-elements.h"
#include "tests/random-seed.h"
#include <math.h>
#include <string.h>

#define N 200000
#define N_SHORT 65536

typedef struct
{
  const char *name;
  GantryOp op;
  long double (*exact) (long double);
  double lo, hi;           /* of the arguments, f32 */
  gboolean by_exponent;    /* all magnitudes evenly, both signs when lo < 0 */
  double bound, bound_off; /* units in the last place of f32: with exact results of the unit, and with those that are off */
} Case;

static long double
logistic (long double x)
{
  return x >= 0 ? 1 / (1 + expl (-x)) : expl (x) / (1 + expl (x));
}

static long double
reciprocal_root (long double x)
{
  return 1 / sqrtl (x);
}

static const Case cases[] = {
  { "exp", GANTRY_OP_EXPONENTIAL, expl, -87.3, 88.7, FALSE, 1, 2.5 },
  { "exp/tiny", GANTRY_OP_EXPONENTIAL, expl, -104, -87.3, FALSE, 1, 2.5 },
  { "log1p", GANTRY_OP_LOG_PLUS_ONE, log1pl, -0.999, 10, FALSE, 3, 3 },
  { "log1p/all", GANTRY_OP_LOG_PLUS_ONE, log1pl, 0, 1e38, TRUE, 3, 3 },
  { "tanh", GANTRY_OP_TANH, tanhl, -10, 10, FALSE, 2, 3 },
  { "tanh/small", GANTRY_OP_TANH, tanhl, -1, 1, TRUE, 2, 3 },
  { "logistic", GANTRY_OP_LOGISTIC, logistic, -87, 30, FALSE, 3, 3 },
  { "logistic/tiny", GANTRY_OP_LOGISTIC, logistic, -103, -87, FALSE, 3, 3 },
  { "erf", GANTRY_OP_ERF, erfl, -4.5, 4.5, FALSE, 3, 3 },
  { "erf/small", GANTRY_OP_ERF, erfl, -1, 1, TRUE, 3, 3 },
  { "rsqrt", GANTRY_OP_RSQRT, reciprocal_root, 0, 1e38, TRUE, 1, 1 },
};

/* Of every number */
typedef struct
{
  const char *name;
  GantryOp op;
  long double (*exact) (long double);
  double bound_bf16, bound_f16; /* units in the last place, with results of the unit that are off */
} ShortCase;

static const ShortCase short_cases[] = {
  { "exp", GANTRY_OP_EXPONENTIAL, expl, 0.51, 0.52 },
  { "expm1", GANTRY_OP_EXPONENTIAL_MINUS_ONE, expm1l, 0.51, 0.51 },
  { "log", GANTRY_OP_LOG, logl, 0.51, 0.52 },
  { "log1p", GANTRY_OP_LOG_PLUS_ONE, log1pl, 0.51, 0.52 },
  { "tanh", GANTRY_OP_TANH, tanhl, 0.65, 0.6 },
  { "logistic", GANTRY_OP_LOGISTIC, logistic, 0.51, 0.51 },
  { "erf", GANTRY_OP_ERF, erfl, 0.52, 0.6 },
  { "sqrt", GANTRY_OP_SQRT, sqrtl, 0.51, 0.51 },
  { "rsqrt", GANTRY_OP_RSQRT, reciprocal_root, 0.51, 0.51 },
};

/* Numbers of any type, as bits */

typedef struct
{
  GantryElementType element;
  int digits, lowest; /* of the significand; the exponent of the smallest number */
  double largest;
} Format;

static const Format f32 = { GANTRY_F32, 24, -149, 0x1.fffffep127 }, bf16 = { GANTRY_BF16, 8, -133, 0x1.fep127 }, f16 = { GANTRY_F16, 11, -24, 65504 };

static double
bf16_value (guint16 bits)
{
  guint32 wide = (guint32) bits << 16;
  float x;

  memcpy (&x, &wide, sizeof x);
  return (double) x;
}

static double
f16_value (guint16 bits)
{
  int exponent = bits >> 10 & 31, rest = bits & 1023;
  double x = exponent == 0 ? ldexp (rest, -24) : exponent == 31 ? (rest != 0 ? NAN : INFINITY) : ldexp (1024 + rest, exponent - 25);

  return bits >> 15 ? -x : x;
}

static double
short_value (const Format *format, guint16 bits)
{
  return format->element == GANTRY_BF16 ? bf16_value (bits) : f16_value (bits);
}

/* Distance in units of the last place of the exact value; what rounds to infinity may be that. */
static double
units (const Format *format, double got, long double exact)
{
  int exponent;
  long double unit;

  if (isnan (exact) || isnan (got))
    return isnan (exact) && isnan (got) ? 0 : INFINITY;
  if (isinf (exact) || exact == 0)
    return (long double) got == exact ? 0 : INFINITY;
  exponent = MAX (ilogbl (exact) - format->digits + 1, format->lowest);
  unit = ldexpl (1, exponent);
  if (isinf (got))
    return fabsl (exact) >= (long double) format->largest + unit / 2 && !signbit (got) == !signbit (exact) ? 0 : INFINITY;
  return (double) (fabsl ((long double) got - exact) / unit);
}

/* f32 */

static double
worst_of (const Case *c, float *x, float *result, float *at)
{
  double worst = 0;

  compute_elements (GANTRY_SPECIAL_BY_MODEL, c->op, GANTRY_F32, 1, N, x, NULL, result);
  for (guint i = 0; i < N; i++)
    {
      double error = units (&f32, (double) result[i], c->exact ((long double) x[i]));

      if (!(error <= worst))
        worst = error, *at = x[i];
    }
  return worst;
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
test_float (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (GRand) rand = test_rand (1);
  g_autofree float *x = g_new (float, N);
  g_autofree float *result = g_new (float, N);
  double exact, off;
  float at = 0, at_off = 0;

  for (guint i = 0; i < N; i++)
    x[i] = argument (rand, c);
  exact = worst_of (c, x, result, &at);
  gantry_special_set_error (1);
  off = worst_of (c, x, result, &at_off);
  gantry_special_set_error (0);
  g_test_message ("%s on [%g, %g]: %.2f units at %.9g; with a unit that is off %.2f at %.9g", c->name, c->lo, c->hi, exact, (double) at, off, (double) at_off);
  g_assert_cmpfloat (exact, <=, c->bound);
  g_assert_cmpfloat (off, <=, c->bound_off);
}

/* What C states for the ends of the range, and signs of 0 */
static void
test_special (void)
{
  static const float values[] = { 0.0f, -0.0f,  1.0f,    -1.0f, 2.0f,   0.5f,  -0.5f,  INFINITY, -INFINITY,
                                  NAN,  1e-42f, -1e-42f, 1e38f, -1e38f, 88.8f, -88.8f, -110.0f,  16777217.0f };
  g_autofree float *x = g_new0 (float, N);
  g_autofree float *result = g_new0 (float, N);

  memcpy (x, values, sizeof values);
  for (guint k = 0; k < G_N_ELEMENTS (cases); k++)
    {
      compute_elements (GANTRY_SPECIAL_BY_MODEL, cases[k].op, GANTRY_F32, 1, N, x, NULL, result);
      for (guint i = 0; i < G_N_ELEMENTS (values); i++)
        {
          double want = (double) (float) cases[k].exact ((long double) x[i]);

          if (units (&f32, (double) result[i], (long double) want) > 3
              || (want == 0 && cases[k].op != GANTRY_OP_LOG_PLUS_ONE && !signbit (want) != !signbit (result[i])))
            g_error ("%s (%g): %g, expected %g", cases[k].name, (double) x[i], (double) result[i], want);
        }
    }
}

/* bf16 and f16 */

/* The unit has no subnormal results: of bf16, which has, 0 is right too. */
static gboolean
is_flushed (const Format *format, double got, long double exact)
{
  return format->element == GANTRY_BF16 && got == 0 && fabsl (exact) < 0x1p-126L;
}

static void
check_short (const ShortCase *c, const Format *format, double bound)
{
  g_autofree guint16 *x = g_new (guint16, N_SHORT);
  g_autofree guint16 *result = g_new (guint16, N_SHORT);
  double worst = 0, at = 0;

  for (guint i = 0; i < N_SHORT; i++)
    x[i] = (guint16) i;
  compute_elements (GANTRY_SPECIAL_BY_MODEL, c->op, format->element, 1, N_SHORT, x, NULL, result);
  for (guint i = 0; i < N_SHORT; i++)
    {
      double value = short_value (format, x[i]), got = short_value (format, result[i]);
      long double exact = c->exact ((long double) value);
      double error = is_flushed (format, got, exact) ? 0 : units (format, got, exact);

      if (!(error <= worst))
        worst = error, at = value;
    }
  g_test_message ("%s of %s: %.3f units at %g", c->name, gantry_element_name (format->element), worst, at);
  g_assert_cmpfloat (worst, <=, bound);
}

static void
test_short (gconstpointer data)
{
  const ShortCase *c = data;

  for (guint off = 0; off < 2; off++)
    {
      gantry_special_set_error (off);
      check_short (c, &bf16, c->bound_bf16);
      check_short (c, &f16, c->bound_f16);
    }
  gantry_special_set_error (0);
}

/* Quotients of numbers of all exponents, subnormal ones among them: those that are whole, and n / n, are exact. */
static void
check_quotients (const Format *format)
{
  g_autoptr (GRand) rand = test_rand (1);
  g_autofree guint16 *x = g_new (guint16, N);
  g_autofree guint16 *y = g_new (guint16, N);
  g_autofree guint16 *result = g_new (guint16, N);
  double worst = 0, at[2] = { 0 };

  for (guint i = 0; i < N; i++)
    {
      x[i] = (guint16) g_rand_int_range (rand, 0, 65536);
      y[i] = i % 4 == 0 ? x[i] : (guint16) g_rand_int_range (rand, 0, 65536);
    }
  compute_elements (GANTRY_SPECIAL_BY_MODEL, GANTRY_OP_DIVIDE, format->element, 2, N, x, y, result);
  for (guint i = 0; i < N; i++)
    {
      double a = short_value (format, x[i]), b = short_value (format, y[i]), got = short_value (format, result[i]);
      double error = units (format, got, (long double) a / (long double) b);

      if (isfinite (a) && a == b && a != 0)
        g_assert_cmpfloat (got, ==, 1);
      if (!(error <= worst))
        worst = error, at[0] = a, at[1] = b;
    }
  g_test_message ("quotients of %s: %.3f units at %g / %g", gantry_element_name (format->element), worst, at[0], at[1]);
  g_assert_cmpfloat (worst, <=, 0.51);
}

static void
test_quotients (void)
{
  for (guint off = 0; off < 2; off++)
    {
      gantry_special_set_error (off);
      check_quotients (&bf16);
      check_quotients (&f16);
    }
  gantry_special_set_error (0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases) && compute_has_fused (); i++)
    {
      g_autofree char *path = g_strdup_printf ("/kernels/special/f32/%s", cases[i].name);

      g_test_add_data_func (path, &cases[i], test_float);
    }
  for (guint i = 0; i < G_N_ELEMENTS (short_cases) && compute_has_fused (); i++)
    {
      g_autofree char *path = g_strdup_printf ("/kernels/special/short/%s", short_cases[i].name);

      g_test_add_data_func (path, &short_cases[i], test_short);
    }
  if (compute_has_fused ())
    {
      g_test_add_func ("/kernels/special/values", test_special);
      g_test_add_func ("/kernels/special/quotients", test_quotients);
    }
  return g_test_run ();
}
