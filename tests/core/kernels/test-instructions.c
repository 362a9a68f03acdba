/* SPDX-License-Identifier: Apache-2.0 */
/* Code for less than the processor has, and blocks of either size: the numbers stay right. The library takes its limit once
 * in a process, so each limit is tried in a process of its own. */
#include "tests/core/kernels/kernel-test.h"
#include "tests/random-seed.h"
#include <string.h>

/* Values between the convolutions are blocked, those at the ends are not. All are positive: no sum cancels. */
static const char convolutions[] = "module \"m\" {\n"
                                   "  func @main #1 (%1: f32[2,3,9,9], %2: f32[32,3,3,3], %3: f32[16,32,1,1], %4: f32[32,16,3,3]) -> (%13) {\n"
                                   "    %5 = abs(%1): f32[2,3,9,9]\n"
                                   "    %6 = abs(%2): f32[32,3,3,3]\n"
                                   "    %7 = abs(%3): f32[16,32,1,1]\n"
                                   "    %8 = abs(%4): f32[32,16,3,3]\n"
                                   "    %9 = convolution(%5, %6) {padding = [1, 1, 1, 1]}: f32[2,32,9,9]\n"
                                   "    %10 = sqrt(%9): f32[2,32,9,9]\n"
                                   "    %11 = convolution(%10, %7): f32[2,16,9,9]\n"
                                   "    %12 = sqrt(%11): f32[2,16,9,9]\n"
                                   "    %13 = convolution(%12, %8) {padding = [1, 1, 1, 1], window_strides = [2, 2], post = \"relu\"}: f32[2,32,5,5]\n"
                                   "  }\n"
                                   "}\n";

/* Of positive sums of 27, 32 and 144 products: each product and each sum is rounded once. */
#define ROUNDING ((27 + 32 + 144 + 3) * 0x1p-23)

static GantryModule *
parse (GantryContext *context)
{
  g_autoptr (GError) error = NULL;
  GantryModule *module = gantry_module_from_text (context, convolutions, -1, "case", &error);

  g_assert_no_error (error);
  return module;
}

static void
run (const GantryKernelOptions *options)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = parse (context);
  g_autoptr (GRand) rand = test_rand (3);
  KernelTolerance tolerance = { .relative = ROUNDING };

  kernel_test_whole (module, options, &tolerance, rand);
}

static void
run_blocks (GantryInstructionSet set, gboolean use_library)
{
  static const guint blocks[] = { 0, 8, 16 };

  for (guint i = 0; i < G_N_ELEMENTS (blocks); i++)
    {
      GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;

      options.n_threads = 2;
      options.instructions = set;
      options.use_library = use_library;
      options.layout_block = blocks[i];
      run (&options);
    }
}

static void
test_names (void)
{
  g_autoptr (GError) error = NULL;
  GantryInstructionSet set;

  for (guint i = 0; i < GANTRY_N_INSTRUCTION_SETS; i++)
    {
      g_assert_true (gantry_instruction_set_parse (gantry_instruction_set_name (i), &set, &error));
      g_assert_no_error (error);
      g_assert_cmpuint (set, ==, i);
    }
  g_assert_false (gantry_instruction_set_parse ("mmx", &set, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "'mmx'"));
  /* Each contains those before it. */
  for (guint i = GANTRY_INSTRUCTIONS_AVX2; i < GANTRY_N_INSTRUCTION_SETS; i++)
    g_assert_true (!gantry_instruction_set_available (i) || gantry_instruction_set_available (i - 1));
}

static void
test_generated (gconstpointer data)
{
  static const char *const larger[] = { NULL, "%ymm", "%zmm", NULL };
  GantryInstructionSet set = GPOINTER_TO_UINT (data);
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = parse (context);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryKernelSet) kernels = NULL;
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;

  options.instructions = set;
  options.use_library = FALSE;
  options.keep_texts = TRUE;
  kernels = gantry_kernels_compile (module, &options, NULL, &error);
  if (!gantry_instruction_set_available (set))
    {
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
      g_test_skip ("the processor lacks it");
      return;
    }
  g_assert_no_error (error);
  for (guint32 i = 0; i < kernels->n_kernels && larger[set] != NULL; i++)
    g_assert_null (strstr (kernels->kernels[i].assembly, larger[set]));
  run_blocks (set, FALSE);
}

/* In a process of its own. */
static void
limited (GantryInstructionSet set)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = parse (context);
  g_autoptr (GError) error = NULL;
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;

  gantry_kernels_limit_library (set, &error);
  g_assert_no_error (error);
  run_blocks (set, TRUE);
  gantry_kernels_limit_library (set, &error);
  g_assert_no_error (error);
  if (set <= GANTRY_INSTRUCTIONS_SSE4)
    return;
  g_assert_false (gantry_kernels_limit_library (set - 1, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
  g_clear_error (&error);
  options.instructions = set - 1;
  g_assert_null (gantry_kernels_compile (module, &options, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "gantry_kernels_limit_library"));
}

static void
test_library (gconstpointer data)
{
  GantryInstructionSet set = GPOINTER_TO_UINT (data);

  if (!gantry_instruction_set_available (set))
    {
      g_test_skip ("the processor lacks it");
      return;
    }
  if (g_test_subprocess ())
    {
      limited (set);
      return;
    }
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
  g_test_trap_assert_passed ();
}

static void
test_block (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = parse (context);
  g_autoptr (GError) error = NULL;
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;

  options.layout_block = 12;
  g_assert_null (gantry_kernels_compile (module, &options, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  run_blocks (GANTRY_INSTRUCTIONS_NATIVE, TRUE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/instructions/names", test_names);
  for (guint i = GANTRY_INSTRUCTIONS_SSE4; i < GANTRY_N_INSTRUCTION_SETS; i++)
    {
      g_autofree char *generated = g_strconcat ("/kernels/instructions/generated/", gantry_instruction_set_name (i), NULL);
      g_autofree char *library = g_strconcat ("/kernels/instructions/library/", gantry_instruction_set_name (i), NULL);

      g_test_add_data_func (generated, GUINT_TO_POINTER (i), test_generated);
      g_test_add_data_func (library, GUINT_TO_POINTER (i), test_library);
    }
  g_test_add_func ("/kernels/instructions/block", test_block);
  return g_test_run ();
}
