/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions of residuals to fewer bits and back: what the formats say (core/plan/compression.h), by the processor's kernels and by
 * those for a GPU, lowered for the processor; of any number of elements, special values too. */
#include "core/graph/graph.h"
#include "core/kernels/kernels.h"
#include "tests/random-seed.h"
#include <math.h>
#include <string.h>

#define GUARD 64 /* bytes behind each buffer that nothing may write */

static const GantryElementType elements[] = { GANTRY_F32, GANTRY_F16, GANTRY_BF16 };
static const gint64 counts[] = { 1, 63, 64, 65, 128, 1000, 40000 };

static GantryKernelSet *
compile (GantryContext *context, const GantryCompression *compression, GantryCodeTarget target)
{
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (GantryCompression));
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (
    context, "module \"m\" {\n  func @main #1 (%1 \"x\": f32[4]) -> (%2) {\n    %2 = negate(%1): f32[4]\n  }\n}\n", -1, "m", &error);
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;
  GantryKernelSet *set;

  g_assert_no_error (error);
  g_array_append_val (list, *compression);
  options.compressions = list;
  options.use_library = FALSE;
  options.target = target;
  set = gantry_kernels_compile (module, &options, NULL, &error);
  g_assert_no_error (error);
  return set;
}

static guint8 *
convert (const GantryKernelSet *set, const GantryCompression *compression, gboolean back, guint8 *from, gsize bytes)
{
  const GantryKernel *kernel = gantry_kernel_set_find_compression (set, compression, back);
  guint8 *to = g_malloc (bytes + GUARD);
  void *buffers[2] = { from, to };

  g_assert_nonnull (kernel);
  memset (to, 0x5a, bytes + GUARD);
  for (gint64 t = 0; t < kernel->n_tasks; t++)
    kernel->func (kernel->state, buffers, t, t + 1);
  for (gsize i = bytes; i < bytes + GUARD; i++)
    g_assert_cmpint (to[i], ==, 0x5a);
  return to;
}

/* What @x is once it was stored, by the words of the format. @block: all of its block */
static double
expected (const GantryCompression *c, const double *block, gint64 n, double x)
{
  double most = 0;

  if (c->kind == GANTRY_PLACEMENT_BF16)
    return gantry_bf16_to_f32 (gantry_f32_to_bf16 ((float) x));
  for (gint64 i = 0; i < n; i++)
    {
      if (!isfinite (block[i]))
        return NAN;
      most = MAX (most, fabs (block[i]));
    }
  return most < GANTRY_COMPRESSED_LEAST ? 0 : rint (x / (most / 127)) * (most / 127);
}

/* An element may be rounded the other way where it lies between two: then it is off by one part of 127 of the largest, and no further from
 * the exact value than half of that. */
static void
check_block (const GantryCompression *c, const double *block, const double *got, gint64 n)
{
  double most = 0, unit = c->element == GANTRY_F16 ? 0x1p-10 : c->element == GANTRY_BF16 ? 0x1p-7 : 0x1p-22;

  for (gint64 i = 0; i < n; i++)
    most = MAX (most, fabs (block[i]));
  for (gint64 i = 0; i < n; i++)
    {
      double want = expected (c, block, n, block[i]);

      if (isnan (want))
        g_assert_true (isnan (got[i]));
      else if (c->kind == GANTRY_PLACEMENT_BF16)
        g_assert_cmpfloat (got[i], ==, want);
      else
        {
          g_assert_cmpfloat (fabs (got[i] - want), <=, most / 127 * 1.01 + unit * most);
          g_assert_cmpfloat (fabs (got[i] - block[i]), <=, most / 254 * 1.0001 + unit * most + GANTRY_COMPRESSED_LEAST);
        }
    }
}

static double
random_value (GRand *rand, guint kind, gint64 i)
{
  double x = g_rand_double_range (rand, -4, 4);

  switch (kind)
    {
    case 1: /* of very different sizes */ return ldexp (x, g_rand_int_range (rand, -10, 10));
    case 2: return i % 64 == 7 ? (i % 128 == 7 ? INFINITY : NAN) : i / 64 % 3 == 1 ? 0 : x;
    case 3: return i % 2 == 0 ? 1e-33 : -0.0;
    default: return x;
    }
}

static void
try_one (const GantryKernelSet *set, const GantryCompression *c, GRand *rand, guint values)
{
  const gsize size = gantry_element_size (c->element), n = (gsize) c->elements;
  g_autofree guint8 *exact = g_malloc (n * size + GUARD), *stored = NULL, *back = NULL;
  g_autofree double *before = g_new (double, n), *after = g_new (double, n);

  for (gsize i = 0; i < n; i++)
    {
      gantry_element_write_double (c->element, exact + i * size, random_value (rand, values, (gint64) i));
      before[i] = gantry_element_read_double (c->element, exact + i * size);
    }
  stored = convert (set, c, FALSE, exact, gantry_compressed_bytes (c->kind, c->elements));
  back = convert (set, c, TRUE, stored, n * size);
  for (gsize i = 0; i < n; i++)
    after[i] = gantry_element_read_double (c->element, back + i * size);
  for (gsize b = 0; b < n; b += GANTRY_COMPRESSED_BLOCK)
    check_block (c, before + b, after + b, (gint64) MIN (n - b, GANTRY_COMPRESSED_BLOCK));
}

static void
test_formats (gconstpointer target)
{
  g_autoptr (GRand) rand = test_rand (21);

  for (guint kind = GANTRY_PLACEMENT_BF16; kind <= GANTRY_PLACEMENT_INT8; kind++)
    for (guint e = 0; e < (kind == GANTRY_PLACEMENT_BF16 ? 1 : G_N_ELEMENTS (elements)); e++)
      for (guint k = 0; k < G_N_ELEMENTS (counts); k++)
        {
          const GantryCompression c = { (guint8) kind, (guint8) elements[e], counts[k] };
          g_autoptr (GantryContext) context = gantry_context_new ();
          g_autoptr (GantryKernelSet) set = compile (context, &c, (GantryCodeTarget) GPOINTER_TO_UINT (target));

          for (guint values = 0; values < 4; values++)
            try_one (set, &c, rand, values);
        }
}

/* They are assembled, where the assembler is there, and are counted as code. */
static void
test_ptx (void)
{
  const GantryCompression all[] = { { GANTRY_PLACEMENT_BF16, GANTRY_F32, 1000 }, { GANTRY_PLACEMENT_INT8, GANTRY_F16, 1000 } };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryKernelSet) set = compile (context, &all[i], GANTRY_CODE_CUDA);

      for (guint back = 0; back < 2; back++)
        {
          const GantryKernel *kernel = gantry_kernel_set_find_compression (set, &all[i], back != 0);

          g_assert_nonnull (kernel->gpu);
          g_assert_cmpuint (kernel->gpu->n_launches, ==, 1);
          g_assert_nonnull (set->images[kernel->gpu->launches[0].image].code);
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/kernels/compress/cpu", GUINT_TO_POINTER (GANTRY_CODE_CPU), test_formats);
  g_test_add_data_func ("/kernels/compress/grid", GUINT_TO_POINTER (GANTRY_CODE_GRID_ON_CPU), test_formats);
  g_test_add_func ("/kernels/compress/ptx", test_ptx);
  return g_test_run ();
}
