/* SPDX-License-Identifier: Apache-2.0 */
/* Special functions of chlo, and normalization over a batch. Half precision is computed in single precision. An arm that is not selected
 * has a derivative, too, that is multiplied by 0: it reads an argument for which that is finite. */
#include "core/frontends/xla/lower-private.h"

static guint32
widened (XlaLower *l, guint i)
{
  GantryElementType element = gantry_xla_element (l, gantry_xla_in (l, i));

  return gantry_xla_convert (l, gantry_xla_in (l, i), element == GANTRY_F64 ? GANTRY_F64 : GANTRY_F32);
}

static void
set_narrowed (XlaLower *l, guint32 x)
{
  l->out[0] = gantry_xla_convert (l, x, (GantryElementType) gantry_xla_declared (l, 0)->element);
}

static guint32
plus (XlaLower *l, guint32 x, guint32 y)
{
  return gantry_xla_binary (l, GANTRY_OP_ADD, x, y);
}

static guint32
minus (XlaLower *l, guint32 x, guint32 y)
{
  return gantry_xla_binary (l, GANTRY_OP_SUBTRACT, x, y);
}

static guint32
times (XlaLower *l, guint32 x, guint32 y)
{
  return gantry_xla_binary (l, GANTRY_OP_MULTIPLY, x, y);
}

static guint32
over (XlaLower *l, guint32 x, guint32 y)
{
  return gantry_xla_binary (l, GANTRY_OP_DIVIDE, x, y);
}

/* Lanczos' approximation with g = 7 and nine terms (Numerical Recipes, section 6.1). */
static const double lanczos[9] = { 0.99999999999980993227684700473478, 676.520368121885098567009190444019, -1259.13921672240287047156078755283,
                                   771.3234287776530788486528258894,   -176.61502916214059906584551354,    12.507343278686904814458936853,
                                   -0.13857109526572011689554707,      9.984369578019570859563e-6,         1.50563273514931155834e-7 };
#define LANCZOS_G 7.0

static guint32
below_half (XlaLower *l, guint32 x)
{
  return gantry_xla_compare (l, "LT", x, gantry_xla_like (l, x, 0.5));
}

/* log |gamma (x)|; below one half by reflection: log pi - log |sin pi x| - lgamma (1 - x). */
static guint32
lgamma_value (XlaLower *l, guint32 x)
{
  guint32 low = below_half (l, x), z, sum, t, log_t, value, fraction, sine, reflected, infinite;

  z = gantry_xla_select (l, low, gantry_xla_unary (l, GANTRY_OP_NEGATE, x), gantry_xla_shift (l, x, -1));
  sum = gantry_xla_like (l, z, lanczos[0]);
  for (guint i = 1; i < G_N_ELEMENTS (lanczos); i++)
    sum = plus (l, sum, over (l, gantry_xla_like (l, z, lanczos[i]), gantry_xla_shift (l, z, i)));
  t = gantry_xla_shift (l, z, LANCZOS_G + 0.5);
  /* log t = log (g + 1/2) + log1p (z / (g + 1/2)) keeps what a small z adds. */
  log_t = gantry_xla_shift (l, gantry_xla_unary (l, GANTRY_OP_LOG_PLUS_ONE, gantry_xla_scale (l, z, 1 / (LANCZOS_G + 0.5))), log (LANCZOS_G + 0.5));
  value = times (l, minus (l, gantry_xla_shift (l, z, 0.5), over (l, t, log_t)), log_t);
  value = gantry_xla_shift (l, plus (l, value, gantry_xla_unary (l, GANTRY_OP_LOG, sum)), 0.5 * log (2 * G_PI));
  fraction = gantry_xla_unary (l, GANTRY_OP_ABS, x);
  fraction = minus (l, fraction, gantry_xla_unary (l, GANTRY_OP_FLOOR, fraction));
  fraction = gantry_xla_select (l, gantry_xla_compare (l, "GT", fraction, gantry_xla_like (l, fraction, 0.5)),
                                minus (l, gantry_xla_like (l, fraction, 1), fraction), fraction);
  fraction = gantry_xla_select (l, low, fraction, gantry_xla_like (l, fraction, 0.5));
  sine = gantry_xla_unary (l, GANTRY_OP_LOG, gantry_xla_unary (l, GANTRY_OP_SINE, gantry_xla_scale (l, fraction, G_PI)));
  reflected = gantry_xla_select (l, gantry_xla_unary (l, GANTRY_OP_IS_FINITE, sine),
                                 minus (l, gantry_xla_shift (l, gantry_xla_unary (l, GANTRY_OP_NEGATE, sine), log (G_PI)), value),
                                 gantry_xla_unary (l, GANTRY_OP_NEGATE, sine));
  value = gantry_xla_select (l, low, reflected, value);
  infinite = gantry_xla_compare (l, "EQ", gantry_xla_unary (l, GANTRY_OP_ABS, x), gantry_xla_like (l, x, INFINITY));
  return gantry_xla_select (l, infinite, gantry_xla_like (l, x, INFINITY), value);
}

static void
lgamma_ (XlaLower *l)
{
  set_narrowed (l, lgamma_value (l, widened (l, 0)));
}

/* The derivative of the same series; below one half digamma (1 - x) - pi / tan pi x. */
static guint32
digamma_value (XlaLower *l, guint32 x)
{
  guint32 low = below_half (l, x), z, numerator, denominator, t, log_t, value, fraction, pole;

  z = gantry_xla_select (l, low, gantry_xla_unary (l, GANTRY_OP_NEGATE, x), gantry_xla_shift (l, x, -1));
  denominator = gantry_xla_like (l, z, lanczos[0]);
  numerator = gantry_xla_like (l, z, 0);
  for (guint i = 1; i < G_N_ELEMENTS (lanczos); i++)
    {
      guint32 term = gantry_xla_shift (l, z, i), part = over (l, gantry_xla_like (l, z, lanczos[i]), term);

      numerator = minus (l, numerator, over (l, part, term));
      denominator = plus (l, denominator, part);
    }
  t = gantry_xla_shift (l, z, LANCZOS_G + 0.5);
  log_t = gantry_xla_shift (l, gantry_xla_unary (l, GANTRY_OP_LOG_PLUS_ONE, gantry_xla_scale (l, z, 1 / (LANCZOS_G + 0.5))), log (LANCZOS_G + 0.5));
  value = minus (l, plus (l, log_t, over (l, numerator, denominator)), over (l, gantry_xla_like (l, t, LANCZOS_G), t));
  /* The fraction is what keeps pi x exact for large x. */
  fraction = plus (l, x, gantry_xla_unary (l, GANTRY_OP_ABS, gantry_xla_unary (l, GANTRY_OP_FLOOR, gantry_xla_shift (l, x, 0.5))));
  fraction = gantry_xla_scale (l, fraction, G_PI);
  fraction = over (l, gantry_xla_scale (l, gantry_xla_unary (l, GANTRY_OP_COSINE, fraction), G_PI), gantry_xla_unary (l, GANTRY_OP_SINE, fraction));
  pole = gantry_xla_binary (l, GANTRY_OP_AND, gantry_xla_compare (l, "LE", x, gantry_xla_like (l, x, 0)),
                            gantry_xla_compare (l, "EQ", x, gantry_xla_unary (l, GANTRY_OP_FLOOR, x)));
  value = gantry_xla_select (l, low, minus (l, value, fraction), value);
  return gantry_xla_select (l, pole, gantry_xla_like (l, x, NAN), value);
}

static void
digamma (XlaLower *l)
{
  set_narrowed (l, digamma_value (l, widened (l, 0)));
}

static guint32
polynomial (XlaLower *l, guint32 x, const double *coefficients, guint n)
{
  guint32 value = gantry_xla_like (l, x, coefficients[0]);

  for (guint i = 1; i < n; i++)
    value = gantry_xla_shift (l, times (l, value, x), coefficients[i]);
  return value;
}

/* 1 - erf (x) for |x| < 1; else a series in 1 / x^2 times exp (-x^2) / |x| (Cephes, erfcf). */
static void
erfc_ (XlaLower *l)
{
  static const double near_one[] = { 2.326819970068386E-2,  -1.387039388740657E-1, 3.687424674597105E-1,  -5.824733027278666E-1, 6.210004621745983E-1,
                                     -4.944515323274145E-1, 3.404879937665872E-1,  -2.741127028184656E-1, 5.638259427386472E-1 };
  static const double far[] = { -1.047766399936249E+1, 1.297719955372516E+1, -7.495518717768503E+0, 2.921019019210786E+0,
                                -1.015265279202700E+0, 4.218463358204948E-1, -2.820767439740514E-1, 5.641895067754075E-1 };
  guint32 x = widened (l, 0), one = gantry_xla_like (l, x, 1), near, size, square, q, series, value;

  size = gantry_xla_unary (l, GANTRY_OP_ABS, x);
  near = gantry_xla_compare (l, "LT", size, one);
  size = gantry_xla_select (l, near, one, size);
  square = times (l, size, size);
  q = over (l, gantry_xla_like (l, x, 1), square);
  series = gantry_xla_select (l, gantry_xla_compare (l, "LT", size, gantry_xla_like (l, x, 2)), polynomial (l, q, near_one, G_N_ELEMENTS (near_one)),
                              polynomial (l, q, far, G_N_ELEMENTS (far)));
  value = times (l, over (l, gantry_xla_unary (l, GANTRY_OP_EXPONENTIAL, gantry_xla_unary (l, GANTRY_OP_NEGATE, square)), size), series);
  value = gantry_xla_select (l, gantry_xla_compare (l, "LT", x, gantry_xla_like (l, x, 0)), minus (l, gantry_xla_like (l, x, 2), value), value);
  set_narrowed (l, gantry_xla_select (l, near, minus (l, one, gantry_xla_unary (l, GANTRY_OP_ERF, x)), value));
}

/* Giles, "Approximating the erfinv function"; in double precision two steps of Newton make it exact. */
static void
erf_inv (XlaLower *l)
{
  static const double central[] = { 2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                    -0.00125372503, -0.00417768164, 0.246640727,    1.50140941 };
  static const double tail[] = { -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                                 -0.0076224613,   0.00943887047,  1.00167406,    2.83297682 };
  guint32 given = widened (l, 0), one = gantry_xla_like (l, given, 1), end, x, w, value, close, tail_of;

  end = gantry_xla_compare (l, "EQ", gantry_xla_unary (l, GANTRY_OP_ABS, given), one);
  x = gantry_xla_select (l, end, gantry_xla_like (l, given, 0), given);
  w = gantry_xla_unary (l, GANTRY_OP_NEGATE, gantry_xla_unary (l, GANTRY_OP_LOG_PLUS_ONE, gantry_xla_unary (l, GANTRY_OP_NEGATE, times (l, x, x))));
  close = gantry_xla_compare (l, "LT", w, gantry_xla_like (l, w, 5));
  tail_of = gantry_xla_unary (l, GANTRY_OP_SQRT, gantry_xla_select (l, close, gantry_xla_like (l, w, 5), w));
  value = gantry_xla_select (l, close, polynomial (l, gantry_xla_shift (l, w, -2.5), central, G_N_ELEMENTS (central)),
                             polynomial (l, gantry_xla_shift (l, tail_of, -3), tail, G_N_ELEMENTS (tail)));
  value = times (l, value, x);
  for (guint i = 0; i < 2 && gantry_xla_element (l, x) == GANTRY_F64; i++)
    {
      guint32 slope = gantry_xla_scale (l, gantry_xla_unary (l, GANTRY_OP_EXPONENTIAL, gantry_xla_unary (l, GANTRY_OP_NEGATE, times (l, value, value))),
                                        2 / sqrt (G_PI));

      value = minus (l, value, over (l, minus (l, gantry_xla_unary (l, GANTRY_OP_ERF, value), x), slope));
    }
  /* Infinite at the ends, as its derivative is. */
  set_narrowed (l, gantry_xla_select (l, end, gantry_xla_scale (l, gantry_xla_select (l, end, given, one), INFINITY), value));
}

/* The next number towards the second operand, by its bits. */
static void
next_after (XlaLower *l)
{
  guint32 x = gantry_xla_in (l, 0), y = gantry_xla_in (l, 1), bits, step, towards_zero, from_zero, value, zero, nan;
  GantryElementType element = gantry_xla_element (l, x), whole = gantry_xla_bits_of (element, TRUE);

  zero = gantry_xla_like (l, x, 0);
  bits = gantry_xla_bitcast (l, x, whole);
  towards_zero = gantry_xla_binary (l, GANTRY_OP_XOR, gantry_xla_compare (l, "GT", x, y), gantry_xla_compare (l, "LT", x, zero));
  step = gantry_xla_select (l, towards_zero, gantry_xla_like (l, bits, -1), gantry_xla_like (l, bits, 1));
  value = gantry_xla_bitcast (l, plus (l, bits, step), element);
  from_zero = gantry_xla_bitcast (l, gantry_xla_like (l, bits, 1), element);
  from_zero = gantry_xla_select (l, gantry_xla_compare (l, "LT", y, zero), gantry_xla_unary (l, GANTRY_OP_NEGATE, from_zero), from_zero);
  value = gantry_xla_select (l, gantry_xla_compare (l, "EQ", x, zero), from_zero, value);
  nan = gantry_xla_binary (l, GANTRY_OP_OR, gantry_xla_unary (l, GANTRY_OP_IS_NAN, x), gantry_xla_unary (l, GANTRY_OP_IS_NAN, y));
  value = gantry_xla_select (l, gantry_xla_compare (l, "EQ", x, y), y, value);
  l->out[0] = gantry_xla_select (l, nan, gantry_xla_like (l, x, NAN), value);
}

/* Hurwitz' zeta function sum (q + n)^-x by Euler and Maclaurin: ten terms, the integral of the rest, and the first corrections
 * of the difference. */
static guint32
hurwitz (XlaLower *l, guint32 x, guint32 q)
{
  /* (2 k)! / B(2 k) */
  static const double corrections[] = {
    12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1.8924375803183791606e9, 7.47242496e10, -2.950130727918164224e12, 1.1646782814350067249e14
  };
  guint32 sum = 0, power = 0, a = q, factor, term;

  for (guint n = 0; n < 10; n++)
    {
      a = n == 0 ? q : gantry_xla_shift (l, q, n);
      power = gantry_xla_binary (l, GANTRY_OP_POWER, a, gantry_xla_unary (l, GANTRY_OP_NEGATE, x));
      sum = sum == 0 ? power : plus (l, sum, power);
    }
  sum = plus (l, sum, over (l, times (l, power, a), gantry_xla_shift (l, x, -1)));
  sum = minus (l, sum, gantry_xla_scale (l, power, 0.5));
  factor = x;
  term = over (l, power, a);
  for (guint k = 0; k < G_N_ELEMENTS (corrections); k++)
    {
      sum = plus (l, sum, gantry_xla_scale (l, times (l, factor, term), 1 / corrections[k]));
      factor = times (l, factor, times (l, gantry_xla_shift (l, x, 2.0 * k + 1), gantry_xla_shift (l, x, 2.0 * k + 2)));
      term = over (l, over (l, term, a), a);
    }
  return sum;
}

static guint32
whole_pole (XlaLower *l, guint32 q)
{
  return gantry_xla_binary (l, GANTRY_OP_AND, gantry_xla_compare (l, "LE", q, gantry_xla_like (l, q, 0)),
                            gantry_xla_compare (l, "EQ", q, gantry_xla_unary (l, GANTRY_OP_FLOOR, q)));
}

static guint32
zeta_value (XlaLower *l, guint32 x, guint32 q)
{
  guint32 one = gantry_xla_like (l, x, 1), value = hurwitz (l, x, q), negative, whole;

  negative = gantry_xla_compare (l, "LE", q, gantry_xla_like (l, q, 0));
  whole = gantry_xla_compare (l, "EQ", x, gantry_xla_unary (l, GANTRY_OP_FLOOR, x));
  value = gantry_xla_select (l, gantry_xla_binary (l, GANTRY_OP_AND, negative, gantry_xla_unary (l, GANTRY_OP_NOT, whole)), gantry_xla_like (l, x, NAN), value);
  value = gantry_xla_select (l, whole_pole (l, q), gantry_xla_like (l, x, INFINITY), value);
  value = gantry_xla_select (l, gantry_xla_compare (l, "LT", x, one), gantry_xla_like (l, x, NAN), value);
  return gantry_xla_select (l, gantry_xla_compare (l, "EQ", x, one), gantry_xla_like (l, x, INFINITY), value);
}

static void
zeta (XlaLower *l)
{
  set_narrowed (l, zeta_value (l, widened (l, 0), widened (l, 1)));
}

/* The derivative of order n of digamma: (-1)^(n + 1) n! zeta (n + 1, x). */
static void
polygamma (XlaLower *l)
{
  guint32 n = widened (l, 0), x = widened (l, 1), next = gantry_xla_shift (l, n, 1), value, odd, valid;

  value = times (l, gantry_xla_unary (l, GANTRY_OP_EXPONENTIAL, lgamma_value (l, next)), zeta_value (l, next, x));
  odd = gantry_xla_binary (l, GANTRY_OP_REMAINDER, n, gantry_xla_like (l, n, 2));
  value = gantry_xla_select (l, gantry_xla_compare (l, "EQ", odd, gantry_xla_like (l, n, 0)), gantry_xla_unary (l, GANTRY_OP_NEGATE, value), value);
  value = gantry_xla_select (l, gantry_xla_compare (l, "EQ", n, gantry_xla_like (l, n, 0)), digamma_value (l, x), value);
  valid = gantry_xla_binary (l, GANTRY_OP_AND, gantry_xla_compare (l, "GE", n, gantry_xla_like (l, n, 0)),
                             gantry_xla_compare (l, "EQ", n, gantry_xla_unary (l, GANTRY_OP_FLOOR, n)));
  set_narrowed (l, gantry_xla_select (l, valid, value, gantry_xla_like (l, n, NAN)));
}

/* I1 (x) exp (-|x|): the integral of exp (x cos t - |x|) cos t over half a period, by the midpoint rule, whose error falls
 * faster than any power there; for large |x| the asymptotic series. */
static void
bessel_i1e (XlaLower *l)
{
  static const guint n = 64;
  static const double series[] = { 1, -3.0 / 8, -15.0 / 128, -315.0 / 3072, -14175.0 / 98304, -1091475.0 / 3932160 };
  guint32 x = widened (l, 0), size = gantry_xla_unary (l, GANTRY_OP_ABS, x), sum = gantry_xla_like (l, x, 0), near, limit, far;

  near = gantry_xla_compare (l, "LT", size, gantry_xla_like (l, x, 60));

  for (guint k = 0; k < n; k++)
    {
      double c = cos ((k + 0.5) * G_PI / n);

      sum = plus (l, sum, gantry_xla_scale (l, gantry_xla_unary (l, GANTRY_OP_EXPONENTIAL, minus (l, gantry_xla_scale (l, x, c), size)), c / n));
    }
  limit = gantry_xla_select (l, near, gantry_xla_like (l, x, 60), size);
  far = gantry_xla_like (l, x, series[5]);
  for (guint i = 5; i-- > 0;)
    far = gantry_xla_shift (l, over (l, far, limit), series[i]);
  far = times (l, far, gantry_xla_unary (l, GANTRY_OP_RSQRT, gantry_xla_scale (l, limit, 2 * G_PI)));
  set_narrowed (l, gantry_xla_select (l, near, sum, times (l, far, gantry_xla_unary (l, GANTRY_OP_SIGN, x))));
}

/* Normalization over a batch */

static guint32
along (XlaLower *l, guint32 x, guint32 like)
{
  const GantryType *type = gantry_xla_type (l, like);
  gint64 feature = gantry_xla_int (l, "feature_index", 0);

  return gantry_builder_broadcast (l->b, x, type->rank, type->dims, &feature);
}

static guint32
sum_over_rest (XlaLower *l, guint32 x)
{
  guint rank = gantry_xla_type (l, x)->rank, n = 0;
  gint64 axes[GANTRY_MAX_RANK];

  for (guint i = 0; i < rank; i++)
    if (i != gantry_xla_int (l, "feature_index", 0))
      axes[n++] = i;
  return gantry_builder_reduce_axes (l->b, "add", x, axes, n, FALSE);
}

static double
rest_size (XlaLower *l, guint32 x)
{
  const GantryType *type = gantry_xla_type (l, x);
  gint64 feature = gantry_xla_int (l, "feature_index", 0);
  gint64 size = feature >= 0 && feature < type->rank ? type->dims[feature] : 1;

  return (double) gantry_type_elements (type) / (double) MAX (size, 1);
}

static guint32
normalize (XlaLower *l, guint32 x, guint32 mean, guint32 variance)
{
  guint32 deviation = gantry_xla_unary (l, GANTRY_OP_RSQRT, gantry_xla_shift (l, variance, gantry_xla_float (l, "epsilon", 0)));

  return times (l, minus (l, x, along (l, mean, x)), along (l, deviation, x));
}

static gboolean
good_feature (XlaLower *l)
{
  gint64 feature = gantry_xla_int (l, "feature_index", 0);

  if (feature >= 0 && feature < gantry_xla_type (l, gantry_xla_in (l, 0))->rank)
    return TRUE;
  gantry_xla_refuse (l, "feature_index %" G_GINT64_FORMAT, feature);
  return FALSE;
}

static void
batch_norm_inference (XlaLower *l)
{
  guint32 x = gantry_xla_in (l, 0);

  if (good_feature (l))
    l->out[0] = plus (l, times (l, normalize (l, x, gantry_xla_in (l, 3), gantry_xla_in (l, 4)), along (l, gantry_xla_in (l, 1), x)),
                      along (l, gantry_xla_in (l, 2), x));
}

static void
batch_norm_training (XlaLower *l)
{
  guint32 x = gantry_xla_in (l, 0), mean, variance, centred;

  if (!good_feature (l) || l->n_out != 3)
    return;
  mean = gantry_xla_scale (l, sum_over_rest (l, x), 1 / rest_size (l, x));
  centred = minus (l, x, along (l, mean, x));
  variance = gantry_xla_scale (l, sum_over_rest (l, times (l, centred, centred)), 1 / rest_size (l, x));
  l->out[0] = plus (l, times (l, normalize (l, x, mean, variance), along (l, gantry_xla_in (l, 1), x)), along (l, gantry_xla_in (l, 2), x));
  l->out[1] = mean;
  l->out[2] = variance;
}

/* Of x, scale, mean, variance and the gradient of the result: those of x, scale and offset. */
static void
batch_norm_grad (XlaLower *l)
{
  guint32 x = gantry_xla_in (l, 0), g = gantry_xla_in (l, 4), normal, sum, product, deviation, inner;
  double n;

  if (!good_feature (l) || l->n_out != 3)
    return;
  n = rest_size (l, x);
  normal = normalize (l, x, gantry_xla_in (l, 2), gantry_xla_in (l, 3));
  sum = sum_over_rest (l, g);
  product = sum_over_rest (l, times (l, g, normal));
  deviation = gantry_xla_unary (l, GANTRY_OP_RSQRT, gantry_xla_shift (l, gantry_xla_in (l, 3), gantry_xla_float (l, "epsilon", 0)));
  inner = minus (l, gantry_xla_scale (l, g, n), along (l, sum, x));
  inner = minus (l, inner, times (l, normal, along (l, product, x)));
  l->out[0] = gantry_xla_scale (l, times (l, inner, along (l, times (l, gantry_xla_in (l, 1), deviation), x)), 1 / n);
  l->out[1] = product;
  l->out[2] = sum;
}

const XlaRule gantry_xla_special_rules[] = {
  { "lgamma", lgamma_, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (1, 1), 0 },
  { "digamma", digamma, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (1, 1), 0 },
  { "zeta", zeta, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (2, 1), 0 },
  { "polygamma", polygamma, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (2, 1), 0 },
  { "bessel_i1e", bessel_i1e, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (1, 1), 0 },
  { "erfc", erfc_, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (1, 1), 0 },
  { "erf_inv", erf_inv, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (1, 1), 0 },
  { "next_after", next_after, GANTRY_CLASS_ELEMENTWISE, XLA_TAKES (2, 1), 0 },
  { "batch_norm_inference", batch_norm_inference, GANTRY_CLASS_REDUCTION, XLA_TAKES (5, 1), 0 },
  { "batch_norm_training", batch_norm_training, GANTRY_CLASS_REDUCTION, XLA_TAKES (3, 3), 0 },
  { "batch_norm_grad", batch_norm_grad, GANTRY_CLASS_REDUCTION, XLA_TAKES (5, 3), 0 },
  { NULL, NULL, 0, 0, 0 },
};
