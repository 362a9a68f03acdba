/* SPDX-License-Identifier: Apache-2.0 */
/* Training steps in which values between convolutions are parts of each other: joined and taken apart along channels, stacked
 * along images. Blocks of either size give what the evaluator computes; a plan under which a place would be read in
 * another layout than it was written in is refused. Convolutions for a GPU's tensor cores, which block f16 and bf16. */
#include "core/autodiff/autodiff.h"
#include "core/base/error.h"
#include "core/eval/eval.h"
#include "core/expr/storage.h"
#include "core/planner/planner.h"
#include "core/runtime/runtime.h"
#include "tests/core/kernels/kernel-test.h"
#include "tests/random-seed.h"
#include <math.h>
#include <string.h>

/* How two convolutions meet in a third. */
typedef enum
{
  JOINED,  /* concatenated along channels */
  SPLIT,   /* one is cut into the inputs of two others */
  STACKED, /* concatenated along images, and cut out again */
  N_KINDS
} Kind;

typedef struct
{
  Kind kind;
  guint batch, first, second, window;
} Model;

static void
add_convolution (GString *text, const Model *m, guint id, guint input, guint weights, guint batch, guint channels)
{
  guint pad = m->window / 2;

  g_string_append_printf (text, "    %%%u = convolution(%%%u, %%%u) {padding = [%u, %u, %u, %u]}: f32[%u,%u,6,6]\n", id, input, weights, pad, pad, pad, pad,
                          batch, channels);
}

static void
add_joined (GString *text, const Model *m)
{
  add_convolution (text, m, 10, 1, 2, m->batch, m->first);
  add_convolution (text, m, 11, 1, 3, m->batch, m->second);
  g_string_append_printf (text, "    %%12 = concatenate(%%10, %%11) {dimension = 1}: f32[%u,%u,6,6]\n", m->batch, m->first + m->second);
  add_convolution (text, m, 20, 12, 4, m->batch, 16);
}

static void
add_split (GString *text, const Model *m)
{
  guint all = m->first + m->second;

  add_convolution (text, m, 10, 1, 2, m->batch, all);
  g_string_append_printf (text,
                          "    %%11 = slice(%%10) {start_indices = [0, 0, 0, 0], limit_indices = [%u, %u, 6, 6], "
                          "strides = [1, 1, 1, 1]}: f32[%u,%u,6,6]\n",
                          m->batch, m->first, m->batch, m->first);
  g_string_append_printf (text,
                          "    %%12 = slice(%%10) {start_indices = [0, %u, 0, 0], limit_indices = [%u, %u, 6, 6], "
                          "strides = [1, 1, 1, 1]}: f32[%u,%u,6,6]\n",
                          m->first, m->batch, all, m->batch, m->second);
  add_convolution (text, m, 13, 11, 3, m->batch, 16);
  add_convolution (text, m, 14, 12, 4, m->batch, 16);
  g_string_append_printf (text, "    %%20 = add(%%13, %%14): f32[%u,16,6,6]\n", m->batch);
}

static void
add_stacked (GString *text, const Model *m)
{
  add_convolution (text, m, 10, 1, 2, m->batch, m->first);
  add_convolution (text, m, 11, 1, 3, m->batch, m->first);
  g_string_append_printf (text, "    %%12 = concatenate(%%10, %%11) {dimension = 0}: f32[%u,%u,6,6]\n", 2 * m->batch, m->first);
  add_convolution (text, m, 13, 12, 4, 2 * m->batch, 16);
  g_string_append_printf (text,
                          "    %%20 = slice(%%13) {start_indices = [%u, 0, 0, 0], limit_indices = [%u, 16, 6, 6], "
                          "strides = [1, 1, 1, 1]}: f32[%u,16,6,6]\n",
                          m->batch, 2 * m->batch, m->batch);
}

/* The shapes of the three weights: result and input channels. */
static void
weights_of (const Model *m, guint shapes[3][2])
{
  guint all = m->first + m->second;
  const guint of_kind[N_KINDS][3][2] = { [JOINED] = { { m->first, 8 }, { m->second, 8 }, { 16, all } },
                                         [SPLIT] = { { all, 8 }, { 16, m->first }, { 16, m->second } },
                                         [STACKED] = { { m->first, 8 }, { m->first, 8 }, { 16, m->first } } };

  memcpy (shapes, of_kind[m->kind], sizeof of_kind[m->kind]);
}

/* Its training step: loss and gradients. */
static GantryModule *
make_step (GantryContext *context, const Model *m)
{
  static void (*const adders[N_KINDS]) (GString *, const Model *) = { add_joined, add_split, add_stacked };
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GantryModule) module = NULL;
  g_autoptr (GError) error = NULL;
  GantryTrainingOptions options;
  GantryModule *step;
  guint shapes[3][2];

  weights_of (m, shapes);
  g_string_append_printf (text, "module \"m\" {\n  func @main #1 (%%1 \"x\": f32[%u,8,6,6]", m->batch);
  for (guint i = 0; i < 3; i++)
    g_string_append_printf (text, ", %%%u \"w%u\": f32[%u,%u,%u,%u] {role = \"parameter\"}", i + 2, i, shapes[i][0], shapes[i][1], m->window, m->window);
  g_string_append (text, ") -> (%20) {\n");
  adders[m->kind](text, m);
  g_string_append (text, "  }\n}\n");
  module = gantry_module_from_text (context, text->str, -1, "step", &error);
  g_assert_no_error (error);
  gantry_training_options_init (&options);
  options.optimizer = GANTRY_OPTIMIZER_NONE;
  step = gantry_training_step (module, &options, NULL, &error);
  g_assert_no_error (error);
  gantry_training_options_clear (&options);
  return step;
}

/* As if the kernel that writes a value had another opinion than those that read views of it. */
static void
tamper_with (const GantryModule *module, GantryKernelSet *kernels)
{
  const GantryFunction *entry = gantry_module_entry (module);
  guint64 offset;
  guint8 *whole;

  for (guint32 i = 0; i < entry->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];

      if (node->op != GANTRY_OP_SLICE || !gantry_slice_is_contiguous (module, node, &offset))
        continue;
      whole = &kernels->layout_blocks[gantry_node_operand_id (module, node, 0)];
      *whole = *whole != 0 ? 0 : 8;
      return;
    }
  g_assert_not_reached ();
}

/* @n_blocked: (inout): values that are blocked */
static GantryExecutable *
build_with (GantryModule *module, const GantryKernelOptions *options, gboolean tamper, guint *n_blocked, GError **error)
{
  GantryKernelSet *kernels;
  GantryPlanOptions plan_options = { 0 };
  g_autoptr (GantryKernelSizes) sizes = NULL;
  g_autoptr (GantryPlan) plan = NULL;

  kernels = gantry_kernels_compile (module, options, NULL, error);
  if (kernels == NULL)
    return NULL;
  for (guint32 i = 0; i < kernels->n_kernel_of; i++)
    *n_blocked += kernels->layout_blocks[i] != 0;
  plan_options.sizes = sizes = gantry_kernel_set_sizes (kernels, module);
  plan = gantry_memory_plan (module, &plan_options, NULL, error);
  g_assert_nonnull (plan);
  if (tamper)
    tamper_with (module, kernels);
  return gantry_executable_new (module, plan, kernels, error);
}

static GantryExecutable *
build (GantryModule *module, guint block, gboolean tamper, guint *n_blocked, GError **error)
{
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;

  options.layout_block = block;
  return build_with (module, &options, tamper, n_blocked, error);
}

static void
run (GantryExecutable *executable, GPtrArray *inputs, GantryLiteral **outputs)
{
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (2);
  g_autoptr (GantryExecutor) executor = NULL;
  g_autoptr (GError) error = NULL;

  executor = gantry_executor_new (device, executable, NULL, &error);
  g_assert_no_error (error);
  gantry_executor_set_verify (executor, GANTRY_VERIFY_PLACES | GANTRY_VERIFY_POISON | GANTRY_VERIFY_WRITES);
  gantry_executor_run_literals (executor, (GantryLiteral **) inputs->pdata, inputs->len, outputs, executable->n_outputs, NULL, NULL, &error);
  g_assert_no_error (error);
}

/* All inputs and weights are positive, and so is every term of every sum: of sums of n products in a row of five convolutions,
 * forward and backward, each is off by no more than n + 1 roundings. */
static double
bound_of (const Model *m)
{
  guint longest = MAX ((m->first + m->second) * m->window * m->window, m->batch * 2 * 36);

  return 5 * (longest + 4) * 0x1p-24;
}

static void
compare (const GantryModule *module, const Model *m, guint block, guint result, const GantryLiteral *got, const GantryLiteral *want)
{
  for (gint64 i = 0; i < gantry_type_elements (want->type); i++)
    {
      double x = gantry_literal_get_double (got, i), y = gantry_literal_get_double (want, i);

      if (!(fabs (x - y) <= bound_of (m) * fabs (y)))
        g_error ("kind %d, batch %u, %u and %u channels, window %u, blocks of %u: result %u, element %" G_GINT64_FORMAT " is %.9g, expected %.9g", m->kind,
                 m->batch, m->first, m->second, m->window, block, result, i, x, y);
    }
}

static GPtrArray *
positive_inputs (const GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);
  GPtrArray *inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);

  for (guint32 i = 0; i < entry->n_params; i++)
    {
      const GantryType *type = gantry_node_type (module, &module->nodes[entry->first_node + i]);
      guint8 *data;
      GantryLiteral *literal = gantry_literal_new_zeroed (type, &data);

      /* Distinct enough that a value in a wrong place is seen. */
      for (gint64 k = 0; k < gantry_type_elements (type); k++)
        ((float *) (gpointer) data)[k] = 0.25f + (float) ((k * 2654435761u + i * 40503u) % 1024) / 1024;
      g_ptr_array_add (inputs, literal);
    }
  return inputs;
}

static void
test_model (const Model *m, guint *n_blocked)
{
  static const guint blocks[] = { 8, 16 };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_step (context, m);
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GPtrArray) inputs = positive_inputs (module);
  g_autofree GantryLiteral **want = g_new0 (GantryLiteral *, entry->n_results);
  g_autoptr (GError) error = NULL;

  gantry_evaluate (module, entry, (GantryLiteral **) inputs->pdata, want, NULL, &error);
  g_assert_no_error (error);
  for (guint k = 0; k < G_N_ELEMENTS (blocks); k++)
    {
      g_autofree GantryLiteral **got = g_new0 (GantryLiteral *, entry->n_results);
      g_autoptr (GantryExecutable) executable = build (module, blocks[k], FALSE, n_blocked, &error);

      g_assert_no_error (error);
      run (executable, inputs, got);
      for (guint i = 0; i < entry->n_results; i++)
        {
          compare (module, m, blocks[k], i, got[i], want[i]);
          gantry_literal_unref (got[i]);
        }
    }
  for (guint i = 0; i < entry->n_results; i++)
    gantry_literal_unref (want[i]);
}

static void
test_models (gconstpointer data)
{
  static const guint channels[][2] = { { 8, 8 }, { 12, 4 }, { 16, 16 }, { 8, 16 }, { 64, 64 } };
  Kind kind = GPOINTER_TO_UINT (data);
  guint n_blocked = 0;

  for (guint batch = 1; batch <= 2; batch++)
    for (guint window = 1; window <= 3; window += 2)
      for (guint i = 0; i < G_N_ELEMENTS (channels); i++)
        {
          Model m = { kind, batch, channels[i][0], channels[i][1], window };

          test_model (&m, &n_blocked);
        }
  /* The question was asked. */
  g_assert_cmpuint (n_blocked, >, 0);
}

static void
test_refused (void)
{
  const Model m = { JOINED, 1, 16, 16, 1 };
  static const guint blocks[] = { 8, 16 };

  for (guint i = 0; i < G_N_ELEMENTS (blocks); i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryModule) module = make_step (context, &m);
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryExecutable) executable = NULL;
      guint n_blocked = 0;

      executable = build (module, blocks[i], TRUE, &n_blocked, &error);
      g_assert_null (executable);
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
      g_assert_nonnull (strstr (error->message, "layout"));
    }
}

/* For a GPU */

/* Padding on some sides and on none, strides, dilation, groups, a window of one row, channels that do not fill a step of the depth; a
 * first layer without blocks, a pool, and a sum of two blocked values. Two images have 544 places, so that weights are packed. */
static const char network[] =
  "module \"m\" {\n"
  "  func @main #1 (%1 \"x\": T[2,3,17,16], %2 \"a\": T[16,3,5,5] {role = \"parameter\"},\n"
  "    %3 \"b\": T[24,16,3,3] {role = \"parameter\"}, %4 \"c\": T[24,24,1,1] {role = \"parameter\"}, %5 \"d\": T[32,12,3,3] {role = \"parameter\"},\n"
  "    %6 \"e\": T[64,32,1,3] {role = \"parameter\"}, %7 \"f\": T[8,64,3,3] {role = \"parameter\"}) -> (%20) {\n"
  "    %10 = convolution(%1, %2) {padding = [2, 2, 2, 2]}: T[2,16,17,16]\n"
  "    %11 = convolution(%10, %3) {padding = [1, 1, 1, 1]}: T[2,24,17,16]\n"
  "    %12 = convolution(%11, %4) {padding = [0, 0, 0, 0]}: T[2,24,17,16]\n"
  "    %13 = add(%11, %12): T[2,24,17,16]\n"
  "    %14 = convolution(%13, %5) {padding = [2, 2, 2, 2], rhs_dilation = [2, 2], feature_group_count = 2}: T[2,32,17,16]\n"
  "    %15 = convolution(%14, %6) {padding = [0, 0, 2, -1]}: T[2,64,17,15]\n"
  "    %16 = reduce_window(%15) {kind = \"add\", window_dimensions = [1, 1, 2, 2], window_strides = [1, 1, 1, 1],"
  " padding = [0, 0, 0, 0, 0, 0, 0, 0]}: T[2,64,16,14]\n"
  "    %20 = convolution(%16, %7) {padding = [0, 1, 1, 0], window_strides = [2, 3]}: T[2,8,8,5]\n"
  "  }\n}\n";

/* A maximum, whose gradient asks windows; a look at it in a shape that has the same channels, and slices of rows within a fusion. */
static const char pool[] = "module \"m\" {\n"
                           "  func @main #1 (%1 \"x\": T[2,3,17,16], %2 \"a\": T[16,3,3,3] {role = \"parameter\"},\n"
                           "    %3 \"b\": T[24,16,1,1] {role = \"parameter\"}, %4 \"c\": T[24,16,1,1] {role = \"parameter\"}) -> (%20, %16, %18) {\n"
                           "    %10 = convolution(%1, %2) {padding = [1, 1, 1, 1]}: T[2,16,17,16]\n"
                           "    %11 = reduce_window(%10) {kind = \"max\", window_dimensions = [1, 1, 3, 3], window_strides = [1, 1, 2, 2],"
                           " padding = [0, 0, 0, 0, 1, 1, 1, 0]}: T[2,16,9,8]\n"
                           "    %12 = convolution(%11, %3) {padding = [0, 0, 0, 0]}: T[2,24,9,8]\n"
                           "    %13 = convolution(%11, %4) {padding = [0, 0, 0, 0]}: T[2,24,9,8]\n"
                           "    %14 = reshape(%11) {shape = [2, 16, 72]}: T[2,16,72]\n"
                           "    %15 = multiply(%14, %14): T[2,16,72]\n"
                           "    %16 = reduce(%15) {kind = \"max\", dimensions = [2]}: T[2,16]\n"
                           "    %17 = fusion(%11) {body = #2}: T[2,16,7,8]\n"
                           "    %18 = convolution(%17, %3) {padding = [0, 0, 0, 0]}: T[2,24,7,8]\n"
                           "    %20 = multiply(%12, %13): T[2,24,9,8]\n"
                           "  }\n"
                           "  func @body #2 (%30: T[2,16,9,8]) -> (%33) {\n"
                           "    %31 = slice(%30) {start_indices = [0, 0, 0, 0], limit_indices = [2, 16, 7, 8], strides = [1, 1, 1, 1]}: T[2,16,7,8]\n"
                           "    %32 = slice(%30) {start_indices = [0, 0, 2, 0], limit_indices = [2, 16, 9, 8], strides = [1, 1, 1, 1]}: T[2,16,7,8]\n"
                           "    %33 = add(%31, %32): T[2,16,7,8]\n"
                           "  }\n}\n";

/* A look in a shape of other channels: what lies side by side in a block does not there. */
static const char regrouped[] = "module \"m\" {\n"
                                "  func @main #1 (%1 \"x\": T[2,16,5,6], %2 \"a\": T[32,16,3,3]) -> (%13) {\n"
                                "    %10 = convolution(%1, %2) {padding = [1, 1, 1, 1]}: T[2,32,5,6]\n"
                                "    %11 = reshape(%10) {shape = [2, 8, 4, 30]}: T[2,8,4,30]\n"
                                "    %12 = multiply(%11, %11): T[2,8,4,30]\n"
                                "    %13 = reduce(%12) {kind = \"max\", dimensions = [2]}: T[2,8,30]\n"
                                "  }\n}\n";

static GantryModule *
make_network (GantryContext *context, const char *text, const char *element)
{
  g_autoptr (GString) typed = g_string_new (text);
  g_autoptr (GError) error = NULL;
  GantryModule *module;

  g_string_replace (typed, "T[", element, 0);
  module = gantry_module_from_text (context, typed->str, -1, "network", &error);
  g_assert_no_error (error);
  return module;
}

/* Weights keep the size of what goes through them, whose sign is either: what is read from a wrong place is off by about 1. */
static GPtrArray *
random_inputs (const GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);
  GPtrArray *inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
  g_autoptr (GRand) rand = g_rand_new_with_seed (test_seed (3));

  for (guint32 i = 0; i < entry->n_params; i++)
    {
      const GantryType *type = gantry_node_type (module, &module->nodes[entry->first_node + i]);
      gsize size = gantry_element_size (type->element);
      double scale = i == 0 ? 1 : sqrt (3.0 * (double) type->dims[0] / (double) gantry_type_elements (type));
      guint8 *data;
      GantryLiteral *literal = gantry_literal_new_zeroed (type, &data);

      for (gint64 k = 0; k < gantry_type_elements (type); k++)
        gantry_element_write_double (type->element, data + (gsize) k * size, scale * g_rand_double_range (rand, -1, 1));
      g_ptr_array_add (inputs, literal);
    }
  return inputs;
}

/* Some twenty values in a row are rounded to 8 bits (bf16) or 11; what is read from a wrong place is wrong by as much as there is. */
static void
compare_norms (const GantryLiteral *got, const GantryLiteral *want, guint result)
{
  double off = 0, norm = 0;

  for (gint64 i = 0; i < gantry_type_elements (want->type); i++)
    {
      double x = gantry_literal_get_double (got, i), y = gantry_literal_get_double (want, i);

      off += (x - y) * (x - y);
      norm += y * y;
    }
  if (!(off <= norm * 0x1p-10))
    g_error ("result %u is off by %g of its norm", result, sqrt (off / norm));
}

static void
check_on_gpu (GantryModule *module, const char *arch, guint blocked)
{
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GPtrArray) inputs = random_inputs (module);
  g_autofree GantryLiteral **want = g_new0 (GantryLiteral *, entry->n_results), **got = g_new0 (GantryLiteral *, entry->n_results);
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;
  g_autoptr (GantryExecutable) executable = NULL;
  g_autoptr (GError) error = NULL;
  guint n_blocked = 0;

  options.target = GANTRY_CODE_GRID_ON_CPU;
  options.arch = arch;
  executable = build_with (module, &options, FALSE, &n_blocked, &error);
  g_assert_no_error (error);
  g_test_message ("%s: %u results, %u values are blocked", arch, entry->n_results, n_blocked);
  g_assert_cmpuint (n_blocked, >=, blocked);
  gantry_evaluate (module, entry, (GantryLiteral **) inputs->pdata, want, NULL, &error);
  g_assert_no_error (error);
  run (executable, inputs, got);
  for (guint i = 0; i < entry->n_results; i++)
    {
      compare_norms (got[i], want[i], i);
      gantry_literal_unref (got[i]);
      gantry_literal_unref (want[i]);
    }
}

/* @blocked: at least so many values of the network, and of its training step, lie in blocks */
static void
check_network (const char *element, const char *text, guint blocked, guint blocked_step)
{
  const char *arch = g_str_has_prefix (element, "bf") ? "sm_90a" : "sm_80";
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_network (context, text, element), step = NULL;
  g_autoptr (GError) error = NULL;
  GantryTrainingOptions options;

  gantry_training_options_init (&options);
  options.optimizer = GANTRY_OPTIMIZER_NONE;
  step = gantry_training_step (module, &options, NULL, &error);
  g_assert_no_error (error);
  gantry_training_options_clear (&options);
  check_on_gpu (module, arch, blocked);
  check_on_gpu (step, arch, blocked_step);
}

static void
test_gpu (gconstpointer data)
{
  check_network (data, network, 7, 14); /* all but the image, the weights and the result; and as many cotangents */
}

static void
test_gpu_pool (gconstpointer data)
{
  check_network (data, pool, 5, 20);
}

static void
test_gpu_regrouped (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_network (context, regrouped, "bf16[");

  check_on_gpu (module, "sm_90a", 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/kernels/layouts/joined", GUINT_TO_POINTER (JOINED), test_models);
  g_test_add_data_func ("/kernels/layouts/split", GUINT_TO_POINTER (SPLIT), test_models);
  g_test_add_data_func ("/kernels/layouts/stacked", GUINT_TO_POINTER (STACKED), test_models);
  g_test_add_func ("/kernels/layouts/refused", test_refused);
  g_test_add_data_func ("/kernels/layouts/gpu/bf16", "bf16[", test_gpu);
  g_test_add_data_func ("/kernels/layouts/gpu/f16", "f16[", test_gpu);
  g_test_add_data_func ("/kernels/layouts/gpu-pool/bf16", "bf16[", test_gpu_pool);
  g_test_add_data_func ("/kernels/layouts/gpu-pool/f16", "f16[", test_gpu_pool);
  g_test_add_func ("/kernels/layouts/gpu-regrouped", test_gpu_regrouped);
  return g_test_run ();
}
