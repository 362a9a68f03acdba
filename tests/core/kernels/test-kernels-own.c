/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that take the place of the C library's where there is none (a GPU), generated for the processor
 * of this machine and compared with the C library's in long double (of float: in double): in units of the last place over
 * their whole range, and at the special values. `--verbose` prints the largest error of each. */
#include "core/kernels/cpu/generate.h"
#include "core/kernels/cpu/jit.h"
#include "core/plan/executable.h"
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

/* A compiler without C calls, the linker, and one element-wise function in it. */
typedef struct
{
  GantryCompiler *compiler;
  GantryJit *jit;
} Fixture;

static Fixture *
fixture_new (void)
{
  g_autoptr (GError) error = NULL;
  Fixture *fixture = g_new0 (Fixture, 1);

  fixture->compiler = gantry_compiler_new (NULL, 2, &error);
  g_assert_no_error (error);
  fixture->compiler->no_calls = TRUE;
  fixture->jit = gantry_jit_new (&error);
  g_assert_no_error (error);
  return fixture;
}

static void
fixture_free (Fixture *fixture)
{
  gantry_jit_free (fixture->jit);
  gantry_compiler_free (fixture->compiler);
  g_free (fixture);
}

static void
compute (GantryOp op, GantryElementType element, guint n_operands, gsize n, void *x, void *y, void *result)
{
  Fixture *fixture = fixture_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryContext) context = gantry_context_new ();
  const GantryDim extent = (GantryDim) n;
  const gint64 shape = (gint64) n;
  const GantryType *type = gantry_context_type (context, gantry_context_tensor (context, element, 1, &extent));
  const GantryType *types[] = { type, type };
  GantryTexprBuilder *b = gantry_texpr_builder_new (element, 1, &shape, n_operands, types);
  GantryKxInput inputs[2] = { { .type = type }, { .type = type } };
  GantryKxLayout layout;
  GantryKernelSource source = { .n_inputs = n_operands, .inputs = inputs, .layouts = &layout };
  guint32 index = gantry_tx_index (b, 0), left = gantry_tx_load (b, 0, &index), root;
  void *buffers[3] = { x, y, result };
  g_autofree char *ir = NULL;
  GantryKernelFunc function;
  LLVMMemoryBufferRef object;
  gint64 n_tasks;

  root = n_operands == 2 ? gantry_tx_binary (b, op, left, gantry_tx_load (b, 1, &index)) : gantry_tx_unary (b, op, left);
  source.results = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_texpr_free);
  g_ptr_array_add (source.results, gantry_texpr_builder_end (b, root));
  gantry_kx_layout_plain (&layout, type);
  for (guint i = 0; i < n_operands; i++)
    inputs[i].layout = layout;
  buffers[n_operands] = result;
  object = gantry_generate (fixture->compiler, &source, "own", &n_tasks, &ir, NULL, &error);
  g_assert_no_error (error);
  /* No call leaves the module. */
  for (const char *at = strstr (ir, "\ndeclare "); at != NULL; at = strstr (at + 1, "\ndeclare "))
    g_assert_nonnull (g_strstr_len (at, strcspn (at + 1, "\n") + 1, "@llvm."));
  g_assert_true (gantry_jit_add (fixture->jit, object, &error));
  function = (GantryKernelFunc) gantry_jit_find (fixture->jit, "own", &error);
  g_assert_no_error (error);
  function (NULL, buffers, 0, n_tasks);
  g_ptr_array_unref (source.results);
  fixture_free (fixture);
}

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
  static const double special[] = { 0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, INFINITY, -INFINITY, NAN,
                                    1e-42, -1e-42, 1e38, -1e38, 16777217.0, 8388607.5, 1e5, 22, 710, -746 };
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
      compute (c->op, GANTRY_F64, c->two != NULL ? 2 : 1, N, x, y, result);
      return;
    }
  for (guint i = 0; i < N; i++)
    fx[i] = (float) x[i], fy[i] = (float) y[i];
  compute (c->op, GANTRY_F32, c->two != NULL ? 2 : 1, N, fx, fy, fr);
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
  compute (GANTRY_OP_POWER, GANTRY_I64, 2, n, x, y, result);
  for (guint i = 0; i < n; i++)
    g_assert_cmpint (result[i], ==, power (x[i], y[i]));
  compute (GANTRY_OP_POWER, GANTRY_U64, 2, n, x, y, result);
  for (guint i = 0; i < n; i++)
    if (y[i] >= 0)
      g_assert_cmpint (result[i], ==, power (x[i], y[i]));
}

static gboolean
has_fused (void)
{
  g_autoptr (GantryCompiler) compiler = gantry_compiler_new (NULL, 2, NULL);

  return compiler != NULL && compiler->has_fma;
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/own/integer-power", test_integer_power);
  for (guint i = 0; i < G_N_ELEMENTS (cases) && has_fused (); i++)
    {
      g_autofree char *of_double = g_strdup_printf ("/kernels/own/double/%s", cases[i].name);
      g_autofree char *of_float = g_strdup_printf ("/kernels/own/float/%s", cases[i].name);

      g_test_add_data_func (of_double, &cases[i], test_double);
      g_test_add_data_func (of_float, &cases[i], test_float);
    }
  return g_test_run ();
}
