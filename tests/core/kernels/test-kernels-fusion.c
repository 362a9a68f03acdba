/* SPDX-License-Identifier: Apache-2.0 */
/* Fusions: random elementwise graphs with movements and reductions among them, several results at
 * once, and the shapes of well-known ones (softmax, normalization). */
#include "core/eval/eval.h"
#include "tests/core/kernels/kernel-test.h"
#include "tests/core/kernels/random-fusion.h"
#include "tests/random-seed.h"

/* Of each near jump a sample takes the other side with a probability of 1/2. */
#define N_SAMPLES 24u

/* Whether a jump that rounding decides moves the element. @data: GRand as it was before the module was drawn */
static gboolean
undecided (GantryLiteral *const *arguments, guint member, gint64 element, gpointer data)
{
  g_autoptr (GRand) jitter = g_rand_new_with_seed (1);
  double first = 0;

  for (guint i = 0; i <= N_SAMPLES; i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GRand) rand = g_rand_copy (data);
      g_autoptr (GantryModule) module = random_fusion_module_with_jitter (context, rand, i > 0 ? jitter : NULL);
      const GantryFunction *entry = gantry_module_entry (module);
      GantryLiteral *results[2] = { NULL, NULL };
      double value;

      g_assert_true (gantry_evaluate (module, entry, arguments, results, NULL, NULL));
      value = gantry_literal_get_double (results[member], element);
      for (guint r = 0; r < entry->n_results; r++)
        gantry_literal_unref (results[r]);
      if (i > 0 && value != first)
        return TRUE;
      first = value;
    }
  return FALSE;
}

static void
random_fusion (GRand *rand)
{
  g_autoptr (GRand) before = g_rand_copy (rand);
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = random_fusion_module (context, rand);
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;
  /* A step as floor or a comparison may jump for one unit in the last place; sine of a rounded argument is bounded. */
  KernelTolerance tolerance = { .relative = 2e-5, .absolute = 2e-5, .undecided = undecided, .data = before };

  options.n_threads = 1;
  kernel_test_module (module, NULL, &options, &tolerance, rand);
}

static void
test_random (void)
{
  guint32 seed = test_seed (1);

  for (guint i = 0; i < 500; i++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed + i);

      random_fusion (rand);
    }
}

/* Known ones, as text */

static void
test_text (gconstpointer data)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, data, -1, "case", &error);
  g_autoptr (GRand) rand = test_rand (1);
  KernelTolerance tolerance = { .relative = 1e-5, .absolute = 1e-5 };
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;

  g_assert_no_error (error);
  options.n_threads = 1;
  kernel_test_module (module, NULL, &options, &tolerance, rand);
}

static const char softmax[] = "module \"m\" {\n"
                              "  func @main #1 (%1: f32[37,101]) -> (%2) {\n"
                              "    %2 = fusion(%1) {body = @body #2}: f32[37,101]\n"
                              "  }\n"
                              "  func @body #2 (%3: f32[37,101]) -> (%9) {\n"
                              "    %4 = reduce(%3) {kind = \"max\", dimensions = [1]}: f32[37]\n"
                              "    %5 = broadcast_in_dim(%4) {shape = [37, 101], broadcast_dimensions = [0]}: f32[37,101]\n"
                              "    %6 = subtract(%3, %5): f32[37,101]\n"
                              "    %7 = exponential(%6): f32[37,101]\n"
                              "    %8 = reduce(%7) {kind = \"add\", dimensions = [1]}: f32[37]\n"
                              "    %10 = broadcast_in_dim(%8) {shape = [37, 101], broadcast_dimensions = [0]}: f32[37,101]\n"
                              "    %9 = divide(%7, %10): f32[37,101]\n"
                              "  }\n"
                              "}\n";

/* Over the first axis: columns in vectors, rows in the loop. */
static const char columns[] = "module \"m\" {\n"
                              "  func @main #1 (%1: f32[64,45], %11: f32[45]) -> (%2) {\n"
                              "    %2 = fusion(%1, %11) {body = @body #2}: f32[64,45]\n"
                              "  }\n"
                              "  func @body #2 (%3: f32[64,45], %12: f32[45]) -> (%9) {\n"
                              "    %4 = reduce(%3) {kind = \"add\", dimensions = [0]}: f32[45]\n"
                              "    %5 = multiply(%4, %12): f32[45]\n"
                              "    %6 = broadcast_in_dim(%5) {shape = [64, 45], broadcast_dimensions = [1]}: f32[64,45]\n"
                              "    %9 = subtract(%3, %6): f32[64,45]\n"
                              "  }\n"
                              "}\n";

/* Results of different shapes from one body. */
static const char two_shapes[] = "module \"m\" {\n"
                                 "  func @main #1 (%1: f32[20,33]) -> (%10, %11) {\n"
                                 "    %2 = fusion(%1) {body = @body #2}: (f32[20,33], f32[20])\n"
                                 "    %10 = result(%2) {index = 0}: f32[20,33]\n"
                                 "    %11 = result(%2) {index = 1}: f32[20]\n"
                                 "  }\n"
                                 "  func @body #2 (%3: f32[20,33]) -> (%4, %5) {\n"
                                 "    %4 = tanh(%3): f32[20,33]\n"
                                 "    %5 = reduce(%4) {kind = \"add\", dimensions = [1]}: f32[20]\n"
                                 "  }\n"
                                 "}\n";

/* Heads split: reshape and transposition between elementwise operations. */
static const char heads[] = "module \"m\" {\n"
                            "  func @main #1 (%1: f32[6,40]) -> (%2) {\n"
                            "    %2 = fusion(%1) {body = @body #2}: f32[5,6,8]\n"
                            "  }\n"
                            "  func @body #2 (%3: f32[6,40]) -> (%6) {\n"
                            "    %4 = reshape(%3) {shape = [6, 5, 8]}: f32[6,5,8]\n"
                            "    %5 = transpose(%4) {permutation = [1, 0, 2]}: f32[5,6,8]\n"
                            "    %6 = exponential(%5): f32[5,6,8]\n"
                            "  }\n"
                            "}\n";

/* A reshape that cuts across rows. */
static const char crooked[] = "module \"m\" {\n"
                              "  func @main #1 (%1: f32[10,21], %8: f32[14]) -> (%2) {\n"
                              "    %2 = fusion(%1, %8) {body = @body #2}: f32[15,14]\n"
                              "  }\n"
                              "  func @body #2 (%3: f32[10,21], %9: f32[14]) -> (%6) {\n"
                              "    %4 = transpose(%3) {permutation = [1, 0]}: f32[21,10]\n"
                              "    %5 = reshape(%4) {shape = [15, 14]}: f32[15,14]\n"
                              "    %7 = broadcast_in_dim(%9) {shape = [15, 14], broadcast_dimensions = [1]}: f32[15,14]\n"
                              "    %6 = add(%5, %7): f32[15,14]\n"
                              "  }\n"
                              "}\n";

/* A triangle: comparisons of one coordinate with another stay vectors of truth values. */
static const char triangle[] = "module \"m\" {\n"
                               "  func @main #1 (%1: f32[33,41]) -> (%2) {\n"
                               "    %2 = fusion(%1) {body = @body #2}: f32[33,41]\n"
                               "  }\n"
                               "  func @body #2 (%3: f32[33,41]) -> (%8) {\n"
                               "    %4 = iota() {to = type i32[33,41], iota_dimension = 0}: i32[33,41]\n"
                               "    %5 = iota() {to = type i32[33,41], iota_dimension = 1}: i32[33,41]\n"
                               "    %6 = compare(%4, %5) {comparison_direction = \"GE\"}: bool[33,41]\n"
                               "    %7 = negate(%3): f32[33,41]\n"
                               "    %8 = select(%6, %3, %7): f32[33,41]\n"
                               "  }\n"
                               "}\n";

/* Layouts: a small network whose values between convolutions may be blocked. */
static const char network[] = "module \"m\" {\n"
                              "  func @main #1 (%1: f32[2,3,30,30], %2: f32[16,3,3,3], %3: f32[16], %4: f32[24,16,3,3], %5: f32[16,24,1,1],"
                              " %6: f32[16,1,3,3]) -> (%20, %21) {\n"
                              "    %7 = convolution(%1, %2, %3) {window_strides = [2, 2], padding = [1, 1, 1, 1], post = \"relu\"}: f32[2,16,15,15]\n"
                              "    %8 = reduce_window(%7) {kind = \"max\", window_dimensions = [1, 1, 3, 3], window_strides = [1, 1, 2, 2],"
                              " padding = [0, 0, 0, 0, 1, 1, 1, 1]}: f32[2,16,8,8]\n"
                              "    %9 = convolution(%8, %4) {padding = [1, 1, 1, 1]}: f32[2,24,8,8]\n"
                              "    %10 = tanh(%9): f32[2,24,8,8]\n"
                              "    %11 = convolution(%10, %5): f32[2,16,8,8]\n"
                              "    %12 = add(%11, %8): f32[2,16,8,8]\n"
                              "    %13 = convolution(%12, %6) {padding = [1, 1, 1, 1], feature_group_count = 16}: f32[2,16,8,8]\n"
                              "    %14 = concatenate(%13, %10, %12) {dimension = 1}: f32[2,56,8,8]\n"
                              "    %15 = transpose(%14) {permutation = [0, 2, 3, 1]}: f32[2,8,8,56]\n"
                              "    %16 = reduce(%14) {kind = \"add\", dimensions = [2, 3]}: f32[2,56]\n"
                              "    %20 = negate(%16): f32[2,56]\n"
                              "    %21 = reshape(%15) {shape = [2, 3584]}: f32[2,3584]\n"
                              "  }\n"
                              "}\n";

/* Of the larger of a number and 0 only one end is known, and nothing of what it is taken from: the quotient is negative for most. */
static const char signed_quotient[] = "module \"m\" {\n"
                                      "  func @main #1 (%1: i64[37]) -> (%2) {\n"
                                      "    %2 = fusion(%1) {body = @body #2}: i64[37]\n"
                                      "  }\n"
                                      "  func @body #2 (%3: i64[37]) -> (%9) {\n"
                                      "    %4 = constant() {value = splat<i64[37]: 0>}: i64[37]\n"
                                      "    %5 = constant() {value = splat<i64[37]: 5>}: i64[37]\n"
                                      "    %6 = constant() {value = splat<i64[37]: 3>}: i64[37]\n"
                                      "    %7 = maximum(%3, %4): i64[37]\n"
                                      "    %8 = subtract(%5, %7): i64[37]\n"
                                      "    %9 = divide(%8, %6): i64[37]\n"
                                      "  }\n"
                                      "}\n";

static void
test_layouts (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, network, -1, "case", &error);
  g_autoptr (GRand) rand = test_rand (1);
  KernelTolerance tolerance = { .relative = 1e-5, .absolute = 2e-3 };
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;

  g_assert_no_error (error);
  kernel_test_whole (module, &options, &tolerance, rand);
  options.free_layouts = FALSE;
  kernel_test_whole (module, &options, &tolerance, rand);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/kernels/fusion/softmax", softmax, test_text);
  g_test_add_data_func ("/kernels/fusion/columns", columns, test_text);
  g_test_add_data_func ("/kernels/fusion/two-shapes", two_shapes, test_text);
  g_test_add_data_func ("/kernels/fusion/heads", heads, test_text);
  g_test_add_data_func ("/kernels/fusion/crooked", crooked, test_text);
  g_test_add_data_func ("/kernels/fusion/triangle", triangle, test_text);
  g_test_add_data_func ("/kernels/fusion/signed-quotient", signed_quotient, test_text);
  g_test_add_func ("/kernels/fusion/random", test_random);
  g_test_add_func ("/kernels/layouts", test_layouts);
  return g_test_run ();
}
