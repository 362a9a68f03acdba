/* SPDX-License-Identifier: Apache-2.0 */
/* The whole of the room: what is refused and how, sharing, texts, other processors, sizes that nobody
 * has memory for, and executables that run. */
#include "core/base/process-memory.h"
#include "core/eval/eval.h"
#include "core/graph/graph.h"
#include "core/kernels/kernels.h"
#include "core/planner/memory-plan.h"
#include "core/plan/executable.h"
#include "core/plan/kernel-sizes.h"
#include "core/plan/plan.h"
#include "core/runtime/cpu/cpu.h"
#include "core/runtime/runtime.h"
#include "tests/core/kernels/kernel-test.h"
#include "tests/random-seed.h"
#include <string.h>

static GantryModule *
parse (GantryContext *context, const char *text)
{
  g_autoptr (GError) error = NULL;
  GantryModule *module = gantry_module_from_text (context, text, -1, "case", &error);

  g_assert_no_error (error);
  return module;
}

static const char refused[] = "module \"m\" {\n"
                              "  func @main #1 (%1: f32[4], %2: bool[]) -> (%5) {\n"
                              "    %3 = \"onnx.Odd\"(%1): f32[4]\n"
                              "    %4 = \"onnx.Odd\"(%3): f32[4]\n"
                              "    %5 = if(%2, %4) {then = @t #2, else = @t #2}: f32[4]\n"
                              "  }\n"
                              "  func @t #2 (%6: f32[4]) -> (%6) {\n"
                              "  }\n"
                              "}\n";

static void
test_refused (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = parse (context, refused);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryKernelSet) set = gantry_kernels_compile (module, NULL, NULL, &error);

  g_assert_null (set);
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
  g_assert_cmpstr (error->message, ==, "onnx.Odd: not an operation that can be compiled");
}

static const char twins[] = "module \"m\" {\n"
                            "  func @main #1 (%1: f32[40,50]) -> (%5) {\n"
                            "    %2 = exponential(%1): f32[40,50]\n"
                            "    %3 = exponential(%2): f32[40,50]\n"
                            "    %4 = negate(%3): f32[40,50]\n"
                            "    %5 = exponential(%4): f32[40,50]\n"
                            "  }\n"
                            "}\n";

static void
test_sharing_and_texts (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = parse (context, twins);
  g_autoptr (GError) error = NULL;
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;
  g_autoptr (GantryKernelSet) set = NULL;

  options.keep_texts = TRUE;
  set = gantry_kernels_compile (module, &options, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (set->n_kernels, ==, 4);
  g_assert_cmpuint (set->n_distinct, ==, 2);
  g_assert_true (gantry_kernel_set_find (set, 2)->func == gantry_kernel_set_find (set, 5)->func);
  g_assert_true (gantry_kernel_set_find (set, 2)->func != gantry_kernel_set_find (set, 4)->func);
  g_assert_null (gantry_kernel_set_find (set, 1));
  for (guint32 i = 0; i < set->n_kernels; i++)
    {
      g_assert_nonnull (strchr (set->kernels[i].texpr, '='));
      g_assert_nonnull (strstr (set->kernels[i].llvm_ir, "define void @"));
      g_assert_nonnull (strstr (set->kernels[i].assembly, "ret"));
      g_assert_cmpint (set->kernels[i].flops, ==, 2000);
      g_assert_cmpint (set->kernels[i].bytes, ==, 16000);
    }
  g_assert_cmpstr (gantry_kernel_set_find (set, 4)->name, ==, "negate_4");
}

static void
test_cancelled (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = parse (context, twins);
  g_autoptr (GError) error = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  GantryProgress progress = { .cancellable = cancellable };

  g_cancellable_cancel (cancellable);
  g_assert_null (gantry_kernels_compile (module, NULL, &progress, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* Code for processors that this one is not: read, not run. */
static void
test_processors (void)
{
  static const struct
  {
    const char *cpu;
    const char *contains;
    const char *lacks;
  } cases[] = { { "sapphirerapids", "%zmm", NULL }, { "haswell", "%ymm", "%zmm" }, { "x86-64", "%xmm", "%ymm" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryModule) module = parse (context, twins);
      g_autoptr (GError) error = NULL;
      GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;
      g_autoptr (GantryKernelSet) set = NULL;

      options.keep_texts = TRUE;
      options.cpu = cases[i].cpu;
      set = gantry_kernels_compile (module, &options, NULL, &error);
      g_assert_no_error (error);
      g_assert_nonnull (strstr (set->target, cases[i].cpu));
      g_assert_nonnull (strstr (set->kernels[0].assembly, cases[i].contains));
      if (cases[i].lacks != NULL)
        g_assert_null (strstr (set->kernels[0].assembly, cases[i].lacks));
    }
}

/* 2^57 elements: compiled in no time, since nothing depends on the sizes but numbers. */
static const char huge[] = "module \"m\" {\n"
                           "  func @main #1 (%1: f32[524288,524288,524288], %8: f32[]) -> (%2, %3, %4, %5) {\n"
                           "    %2 = transpose(%1) {permutation = [2, 0, 1]}: f32[524288,524288,524288]\n"
                           "    %3 = reduce(%1) {kind = \"add\", dimensions = [0, 2]}: f32[524288]\n"
                           "    %4 = pad(%1, %8) {edge_padding_low = [1, 1, 1], edge_padding_high = [1, 1, 1], interior_padding = [0, 0, 0]}:"
                           " f32[524290,524290,524290]\n"
                           "    %5 = reduce_window(%1) {kind = \"max\", window_dimensions = [1, 300, 300], padding = [0, 0, 0, 299, 299, 0]}:"
                           " f32[524288,524288,524288]\n"
                           "  }\n"
                           "}\n";

static void
test_huge (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = parse (context, huge);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryKernelSet) set = gantry_kernels_compile (module, NULL, NULL, &error);

  g_assert_no_error (error);
  for (guint32 i = 0; i < set->n_kernels; i++)
    g_assert_cmpint (set->kernels[i].n_tasks, >, 1);
}

/* Deep and wide expressions end in an error or in code, never in a crash. */
static void
test_deep (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = NULL;
  g_autoptr (GString) text = g_string_new ("module \"m\" {\n  func @main #1 (%1: f32[100]) -> (%2) {\n"
                                           "    %2 = fusion(%1) {body = @b #2}: f32[100]\n  }\n"
                                           "  func @b #2 (%3: f32[100]) -> (%5003) {\n");
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;
  KernelTolerance tolerance = { .relative = 1e-5 };
  g_autoptr (GRand) rand = test_rand (1);

  options.n_threads = 1;
  for (guint i = 4; i <= 5003; i++)
    g_string_append_printf (text, "    %%%u = %s(%%%u, %%3): f32[100]\n", i, i % 2 ? "maximum" : "subtract", i - 1);
  g_string_append (text, "  }\n}\n");
  module = parse (context, text->str);
  kernel_test_module (module, NULL, &options, &tolerance, rand);
}

/* What runs once at load, splat constants, several results, views of inputs as results, weights that are packed. */
static const char program[] = "module \"m\" {\n"
                              "  func @main #1 (%1: f32[1,8,6,6], %2: i64[3]) -> (%20, %21, %22, %23, %14) {\n"
                              "    %3 = constant() {value = splat<f32[8,8,3,3]: 0.125>}: f32[8,8,3,3]\n"
                              "    %4 = constant() {value = dense<f32[8]: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0>}: f32[8]\n"
                              "    %5 = negate(%4): f32[8]\n"
                              "    %6 = broadcast_in_dim(%5) {shape = [8, 8, 3, 3], broadcast_dimensions = [0]}: f32[8,8,3,3]\n"
                              "    %7 = add(%3, %6): f32[8,8,3,3]\n"
                              "    %8 = convolution(%1, %7, %4) {padding = [1, 1, 1, 1], post = \"relu\"}: f32[1,8,6,6]\n"
                              "    %9 = tanh(%8): f32[1,8,6,6]\n"
                              "    %10 = reshape(%9) {shape = [8, 36]}: f32[8,36]\n"
                              "    %11 = dot_general(%10, %10) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]}: f32[8,8]\n"
                              "    %12 = sort(%11, %11) {dimension = 1}: (f32[8,8], f32[8,8])\n"
                              "    %20 = result(%12) {index = 1}: f32[8,8]\n"
                              "    %21 = reshape(%1) {shape = [288]}: f32[288]\n"
                              "    %13 = copy(%2): i64[3]\n"
                              "    %22 = add(%13, %13): i64[3]\n"
                              "    %23 = constant() {value = splat<u8[5]: 7>}: u8[5]\n"
                              "    %14 = exponential(%5): f32[8]\n"
                              "  }\n"
                              "}\n";

static void
compare_outputs (GantryModule *module, GantryLiteral *const *inputs, GantryLiteral *const *outputs)
{
  g_autoptr (GError) error = NULL;
  GantryLiteral *want[5] = { NULL };

  gantry_evaluate (module, gantry_module_entry (module), inputs, want, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < 5; i++)
    {
      g_assert_true (outputs[i]->type == want[i]->type);
      for (gint64 k = 0; k < gantry_type_elements (want[i]->type); k++)
        {
          double x = gantry_literal_get_double (outputs[i], k), y = gantry_literal_get_double (want[i], k);

          g_assert_cmpfloat_with_epsilon (x, y, 1e-4 + 1e-5 * ABS (y));
        }
      gantry_literal_unref (want[i]);
    }
}

static void
test_executable (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = parse (context, program);
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GRand) rand = test_rand (1);

  for (guint n_threads = 1; n_threads <= 3; n_threads++)
    {
      GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;
      GantryPlanOptions plan_options = { 0 };
      g_autoptr (GantryKernelSizes) sizes = NULL;
      g_autoptr (GError) error = NULL;
      GantryKernelSet *set;
      g_autoptr (GantryPlan) plan = NULL;
      g_autoptr (GantryExecutable) executable = NULL;
      g_autoptr (GantryDevice) device = gantry_cpu_device_new (n_threads);
      g_autoptr (GantryExecutor) executor = NULL;
      GantryLiteral *inputs[2], *outputs[5] = { NULL };

      options.n_threads = n_threads;
      set = gantry_kernels_compile (module, &options, NULL, &error);
      g_assert_no_error (error);
      plan_options.sizes = sizes = gantry_kernel_set_sizes (set, module);
      plan = gantry_memory_plan (module, &plan_options, NULL, &error);
      g_assert_no_error (error);
      executable = gantry_executable_new (module, plan, set, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (executable->n_inputs, ==, 2);
      g_assert_cmpuint (executable->n_outputs, ==, 5);
      executor = gantry_executor_new (device, executable, NULL, &error);
      g_assert_no_error (error);
      gantry_executor_set_verify (executor, GANTRY_VERIFY_PLACES | GANTRY_VERIFY_POISON | GANTRY_VERIFY_WRITES);
      for (guint i = 0; i < 2; i++)
        inputs[i] = kernel_test_literal (rand, gantry_node_type (module, &module->nodes[entry->first_node + i]), FALSE);
      for (guint run = 0; run < 2; run++)
        {
          gantry_executor_run_literals (executor, inputs, 2, outputs, 5, NULL, NULL, &error);
          g_assert_no_error (error);
          compare_outputs (module, inputs, outputs);
          for (guint i = 0; i < 5; i++)
            gantry_literal_unref (outputs[i]);
        }
      for (guint i = 0; i < 2; i++)
        gantry_literal_unref (inputs[i]);
    }
}

/* A network unrolled: what is generated, and what the library is asked for, is that of one layer. */

static GantryModule *
layers (GantryContext *context, guint n)
{
  g_autoptr (GString) text = g_string_new ("module \"m\" {\n  func @main #1 (%1: f32[64,128]");
  guint32 x = 1, id = n + 2;

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, ", %%%u: f32[128,128]", i + 2);
  g_string_append_printf (text, ") -> (%%%u) {\n", n + 1 + 4 * n);
  for (guint i = 0; i < n; i++, id += 4)
    {
      g_string_append_printf (text,
                              "    %%%u = dot_general(%%%u, %%%u) {lhs_contracting_dimensions = [1], "
                              "rhs_contracting_dimensions = [0]}: f32[64,128]\n",
                              id, x, i + 2);
      g_string_append_printf (text, "    %%%u = tanh(%%%u): f32[64,128]\n", id + 1, id);
      g_string_append_printf (text, "    %%%u = multiply(%%%u, %%%u): f32[64,128]\n", id + 2, id + 1, id);
      g_string_append_printf (text, "    %%%u = add(%%%u, %%%u): f32[64,128]\n", id + 3, id + 2, x);
      x = id + 3;
    }
  g_string_append (text, "  }\n}\n");
  return parse (context, text->str);
}

static guint
count_library_states (const GantryKernelSet *set)
{
  g_autoptr (GHashTable) states = g_hash_table_new (NULL, NULL);

  for (guint32 i = 0; i < set->n_kernels; i++)
    if (set->kernels[i].kind == GANTRY_KERNEL_LIBRARY)
      g_hash_table_add (states, set->kernels[i].state);
  return g_hash_table_size (states);
}

static void
test_layers (void)
{
  static const guint numbers[] = { 2, 300 };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryModule) module = layers (context, numbers[i]);
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryKernelSet) set = gantry_kernels_compile (module, NULL, NULL, &error);

      g_assert_no_error (error);
      g_assert_cmpuint (set->n_kernels, ==, 4 * numbers[i]);
      g_assert_cmpuint (set->n_distinct, ==, 3);
      g_assert_cmpuint (count_library_states (set), ==, 1);
      g_test_message ("%u layers: %.1f ms", numbers[i], set->compile_ms);
    }
}

static guint64
executable_bytes (void)
{
  GantryProcessMappings mappings;

  g_assert_true (gantry_process_memory_map (&mappings));
  return mappings.code;
}

/* What the library generates is counted, all of it, and of the same program always the same: also where the process has made it before. */
static void
test_library_code (void)
{
  guint64 first = 0;

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryModule) module = layers (context, 2);
      g_autoptr (GError) error = NULL;
      guint64 before = executable_bytes ();
      g_autoptr (GantryKernelSet) set = gantry_kernels_compile (module, NULL, NULL, &error);

      g_assert_no_error (error);
      g_assert_cmpuint (count_library_states (set), ==, 1);
      g_assert_false (set->code_at_least);
      g_assert_cmpuint (executable_bytes (), <=, before + set->code_bytes);
      first = i == 0 ? set->code_bytes : first;
      g_assert_cmpuint (set->code_bytes, ==, first);
    }
}

/* A plan that was made for no kernels lacks their workspaces: told, not run. */
static void
test_mismatch (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = parse (context, twins);
  g_autoptr (GantryModule) other = parse (context, program);
  g_autoptr (GError) error = NULL;
  GantryKernelSet *set = gantry_kernels_compile (module, NULL, NULL, &error);
  g_autoptr (GantryPlan) plan = gantry_memory_plan (other, NULL, NULL, &error);

  g_assert_no_error (error);
  g_assert_null (gantry_executable_new (other, plan, set, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
}

/* Sums of positive products of two factors that are each off by up to 2^-11 of itself; the accumulators are f32. */
#define TF32_ROUNDING (0x1p-10 + 0x1p-20)

static const char product_of_f32[] = "module \"product\" {\n"
                                     "  func @main #1 (%1: f32[72,130], %2: f32[130,88]) -> (%5) {\n"
                                     "    %3 = abs(%1): f32[72,130]\n"
                                     "    %4 = abs(%2): f32[130,88]\n"
                                     "    %5 = dot_general(%3, %4) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[72,88]\n"
                                     "  }\n"
                                     "}\n";

/* Tensor cores multiply f32 only where it was allowed. */
static void
test_tf32 (void)
{
  g_autoptr (GRand) rand = test_rand (17);

  for (guint allow = 0; allow < 2; allow++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryModule) module = parse (context, product_of_f32);
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryKernelSet) set = NULL;
      GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;
      KernelTolerance tolerance = { .relative = allow ? TF32_ROUNDING : 0x1p-20 };

      options.target = GANTRY_CODE_GRID_ON_CPU;
      options.keep_texts = TRUE;
      if (allow)
        options.allow_tf32 = TRUE;
      set = gantry_kernels_compile (module, &options, NULL, &error);
      g_assert_no_error (error);
      g_assert_true ((strstr (gantry_kernel_set_find (set, 5)->schedule, "mma") != NULL) == allow);
      kernel_test_whole (module, &options, &tolerance, rand);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/set/refused", test_refused);
  g_test_add_func ("/kernels/set/sharing-and-texts", test_sharing_and_texts);
  g_test_add_func ("/kernels/set/cancelled", test_cancelled);
  g_test_add_func ("/kernels/set/processors", test_processors);
  g_test_add_func ("/kernels/set/huge", test_huge);
  g_test_add_func ("/kernels/set/deep", test_deep);
  g_test_add_func ("/kernels/set/layers", test_layers);
  g_test_add_func ("/kernels/set/library-code", test_library_code);
  g_test_add_func ("/kernels/set/tf32", test_tf32);
  g_test_add_func ("/kernels/executable/runs", test_executable);
  g_test_add_func ("/kernels/executable/mismatch", test_mismatch);
  return g_test_run ();
}
