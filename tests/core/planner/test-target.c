/* SPDX-License-Identifier: Apache-2.0 */
/* The cost model: the roofline's corners, and targets as text. */
#include "core/base/error.h"
#include "core/graph/graph.h"
#include "core/planner/target.h"
#include <string.h>

static void
test_roofline (void)
{
  GantryTarget target = { "t", 1e12, 1e11, 5, 1e10, 0 };

  g_assert_cmpfloat_with_epsilon (gantry_target_predict_us (&target, 2000000000, 1000), 2005, 1e-6);
  g_assert_cmpfloat_with_epsilon (gantry_target_predict_us (&target, 1000, 100000000), 1005, 1e-6);
  g_assert_cmpfloat_with_epsilon (gantry_target_predict_us (&target, -1, -1), 5, 1e-9);
  g_assert_cmpfloat_with_epsilon (gantry_target_predict_copy_us (&target, 10000000), 1005, 1e-6);
  target.peak_flops = target.memory_bandwidth = target.link_bandwidth = target.launch_us = 0;
  g_assert_cmpfloat (gantry_target_predict_us (&target, 1000000, 1000000), ==, 0);
  g_assert_cmpfloat (gantry_target_predict_copy_us (&target, 1000000), ==, 0);
}

static void
test_round_trip (void)
{
  GantryTarget a, b = { "other", 1, 2, 3, 4, 5 };
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;

  gantry_target_init_cpu (&a, 3);
  a.memory_limit = G_GUINT64_CONSTANT (8) << 30;
  a.launch_us = 0.1;
  text = gantry_target_to_text (&a);
  g_assert_true (gantry_target_parse (&b, text, -1, &error));
  g_assert_no_error (error);
  g_assert_cmpstr (b.name, ==, "cpu, 3 threads");
  g_assert_cmpfloat (b.peak_flops, ==, a.peak_flops);
  g_assert_cmpfloat (b.memory_bandwidth, ==, a.memory_bandwidth);
  g_assert_cmpfloat (b.launch_us, ==, a.launch_us);
  g_assert_cmpfloat (b.link_bandwidth, ==, a.link_bandwidth);
  g_assert_cmpuint (b.memory_limit, ==, a.memory_limit);
}

static void
test_partial (void)
{
  GantryTarget target;
  double before;

  gantry_target_init_cpu (&target, 1);
  before = target.memory_bandwidth;
  g_assert_true (gantry_target_parse (&target, "[target]\npeak_flops=3e13\n", -1, NULL));
  g_assert_cmpfloat (target.peak_flops, ==, 3e13);
  g_assert_cmpfloat (target.memory_bandwidth, ==, before);
}

static void
test_errors (void)
{
  static const char *const wrong[] = {
    "",
    "peak_flops=1\n",
    "[other]\npeak_flops=1\n",
    "[target]\npeak_flops=fast\n",
    "[target]\nlaunch_us=nan\n",
    "[target]\nmemory_limit=-1\n",
    "[target",
    "\xff\xfe",
    /* Nothing is free. */
    "[target]\nlink_bandwidth=0\n",
    "[target]\nlink_bandwidth=-1e9\n",
    "[target]\nlink_bandwidth=inf\n",
    "[target]\nlink_bandwidth=nan\n",
    "[target]\npeak_flops=0\n",
    "[target]\npeak_flops=-1\n",
    "[target]\npeak_flops=inf\n",
    "[target]\nmemory_bandwidth=0\n",
    "[target]\nmemory_bandwidth=nan\n",
    "[target]\nlaunch_us=-1\n",
    "[target]\nhost_limit=many\n",
    /* What times and rates become infinite by. */
    "[target]\npeak_flops=1e308\n",
    "[target]\nlink_bandwidth=1e-300\n",
    "[target]\nlaunch_us=1e308\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      GantryTarget target, copy;
      g_autoptr (GError) error = NULL;

      gantry_target_init_cpu (&target, 1);
      copy = target;
      g_assert_false (gantry_target_parse (&target, wrong[i], -1, &error));
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
      g_assert_cmpmem (&target, sizeof target, &copy, sizeof copy);
    }
}

/* GPUs. */

/* Microseconds of a product of n^3 of two values of that type. */
static double
product_us (const GantryTarget *target, const char *element, guint n)
{
  g_autofree char *text = g_strdup_printf ("module \"m\" {\n  func @main #1 (%%1: %1$s[%2$u,%2$u], %%2: %1$s[%2$u,%2$u]) -> (%%3) {\n"
                                           "    %%3 = dot_general(%%1, %%2) {lhs_contracting_dimensions = [1], "
                                           "rhs_contracting_dimensions = [0]}: %1$s[%2$u,%2$u]\n  }\n}\n",
                                           element, n);
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, text, -1, NULL, &error);

  g_assert_no_error (error);
  return gantry_target_predict_node_us (target, module, gantry_module_node (module, 3));
}

/* What is published, with little room: tensor cores for 16 bits, and for f32 only where it may be rounded. */
static void
test_units (void)
{
  static const struct
  {
    const char *gpu, *element;
    double teraflops;
  } cases[] = {
    { "a100", "f32", 19.5 },     { "a100", "bf16", 312 },    { "h100", "f32", 67 },    { "h100", "f16", 989.5 },
    { "h200", "bf16", 989.5 },   { "b200", "bf16", 2250 },   { "h100", "f64", 34 },    { "rtx4090", "f16", 165.2 },
    { "sm_90a", "bf16", 989.5 }, { "sm_90", "bf16", 989.5 }, { "sm_80", "f32", 19.5 }, { "sm_100", "f16", 2250 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      GantryTarget target;
      double ideal = 2.0 * 8192 * 8192 * 8192 / cases[i].teraflops / 1e6;

      gantry_target_init_gpu (&target, gantry_gpu_model (cases[i].gpu));
      g_assert_cmpfloat_with_epsilon (product_us (&target, cases[i].element, 8192), ideal + GANTRY_GPU_LAUNCH_US, ideal / 1e6);
    }
}

/* An exponential is done by a sixteenth of what adds; the rates of a processor are one for all. */
static void
test_special (void)
{
  const char *text = "module \"m\" {\n  func @main #1 (%1: f32[1048576]) -> (%2) {\n"
                     "    %2 = fusion(%1) {body = @body #2}: f32[1048576]\n  }\n"
                     "  func @body #2 (%3: f32[1048576]) -> (%6) {\n    %4 = exponential(%3): f32[1048576]\n"
                     "    %5 = tanh(%4): f32[1048576]\n    %6 = add(%5, %4): f32[1048576]\n  }\n}\n";
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, text, -1, NULL, &error);
  const GantryNode *node;
  gint64 flops[GANTRY_N_UNITS], sum = 0;

  g_assert_no_error (error);
  node = gantry_module_node (module, 2);
  g_assert_true (gantry_node_flops_by_unit (module, node, flops));
  g_assert_cmpint (flops[GANTRY_UNIT_SPECIAL], ==, 2 << 20);
  g_assert_cmpint (flops[GANTRY_UNIT_VECTOR_F32], ==, 1 << 20);
  for (guint u = 0; u < GANTRY_N_UNITS; u++)
    sum += flops[u];
  g_assert_cmpint (sum, ==, gantry_node_flops (module, node));
  g_assert_cmpfloat_with_epsilon (gantry_node_seconds (module, node, 1e12, NULL), 3.0 * (1 << 20) / 1e12, 1e-12);
}

/* A text that names a GPU begins with what is published of it; rates of units stay where only others are changed, and a
 * `peak_flops` alone is that of all, as it was before units had any. */
static void
test_gpu_text (void)
{
  GantryTarget target;

  gantry_target_init_cpu (&target, 1);
  g_assert_true (gantry_target_parse (&target, "[target]\narch=sm_90a\nlink_bandwidth=2e10\n", -1, NULL));
  g_assert_cmpfloat (target.link_bandwidth, ==, 2e10);
  g_assert_cmpfloat (target.memory_bandwidth, ==, 3.35e12);
  g_assert_cmpfloat (target.rates[GANTRY_UNIT_PRODUCT_F16], ==, 989.5e12);
  g_assert_true (gantry_target_parse (&target, "[target]\nproduct_f16=5e14\n", -1, NULL));
  g_assert_cmpfloat (target.rates[GANTRY_UNIT_PRODUCT_F16], ==, 5e14);
  g_assert_cmpfloat (target.rates[GANTRY_UNIT_PRODUCT_F64], ==, 34e12);
  g_assert_true (gantry_target_parse (&target, "[target]\npeak_flops=1e14\n", -1, NULL));
  g_assert_cmpfloat_with_epsilon (product_us (&target, "f64", 4096), 2.0 * 4096 * 4096 * 4096 / 1e14 * 1e6 + GANTRY_GPU_LAUNCH_US, 1e-3);
  g_assert_false (gantry_target_parse (&target, "[target]\nproduct_f16=0\n", -1, NULL));
}

/* The files say what the table says. */
static void
test_files (void)
{
  g_autofree char *names = gantry_gpu_model_names ();
  g_auto (GStrv) all = g_strsplit (names, ", ", -1);

  for (guint i = 0; all[i] != NULL; i++)
    {
      g_autofree char *name = g_strconcat (all[i], ".target", NULL);
      g_autofree char *path = g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "data", "targets", name, NULL), *text = NULL;
      g_autofree char *written = NULL, *published = NULL;
      GantryTarget file, table;

      g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
      gantry_target_init_cpu (&file, 1);
      g_assert_true (gantry_target_parse (&file, text, -1, NULL));
      g_assert_cmpuint (file.memory_limit, ==, gantry_gpu_model (all[i])->memory_bytes);
      gantry_target_init_gpu (&table, gantry_gpu_model (all[i]));
      file.memory_limit = 0;
      g_strlcpy (file.name, table.name, sizeof file.name);
      written = gantry_target_to_text (&file);
      published = gantry_target_to_text (&table);
      g_assert_cmpstr (written, ==, published);
    }
}

static void
test_devices (void)
{
  g_assert_cmpstr (gantry_gpu_model_of_device ("NVIDIA H200", 90)->name, ==, "h200");
  g_assert_cmpstr (gantry_gpu_model_of_device ("NVIDIA H100 80GB HBM3", 90)->name, ==, "h100");
  g_assert_cmpstr (gantry_gpu_model_of_device ("NVIDIA GeForce RTX 4090", 89)->name, ==, "rtx4090");
  g_assert_cmpstr (gantry_gpu_model_of_device ("NVIDIA A100-SXM4-80GB", 80)->name, ==, "a100");
  g_assert_cmpstr (gantry_gpu_model_of_device ("Stand-in GPU 0", 90)->name, ==, "h100");
  g_assert_cmpstr (gantry_gpu_model_of_device ("another", 120)->name, ==, "b200");
  g_assert_null (gantry_gpu_model_of_device ("old", 75));
  g_assert_null (gantry_gpu_model ("sm_20"));
}

/* A curve goes through its points, straight between them and on as the last two; below the first what it costs to begin stays. */
static void
test_curve (void)
{
  GantryCurve curve = { 0 }, read = { 0 }, steep = { 0 };
  g_autofree char *text = NULL;

  g_assert_cmpfloat (gantry_curve_us (&curve, 100), ==, 0);
  gantry_curve_add (&curve, 100, 2);
  g_assert_cmpfloat_with_epsilon (gantry_curve_us (&curve, 50), 1, 1e-12);
  gantry_curve_add (&curve, 200, 3);
  gantry_curve_add (&curve, 200, 9);    /* no further than the last */
  gantry_curve_add (&curve, 1000, 2.5); /* more work takes no less time */
  g_assert_cmpuint (curve.n, ==, 3);
  g_assert_cmpfloat (gantry_curve_us (&curve, 0), ==, 0);
  g_assert_cmpfloat_with_epsilon (gantry_curve_us (&curve, 50), 1.5, 1e-12);
  g_assert_cmpfloat_with_epsilon (gantry_curve_us (&curve, 100), 2, 1e-12);
  g_assert_cmpfloat_with_epsilon (gantry_curve_us (&curve, 150), 2.5, 1e-12);
  g_assert_cmpfloat_with_epsilon (gantry_curve_us (&curve, 2000), 3, 1e-12);
  text = gantry_curve_to_text (&curve);
  g_assert_cmpstr (text, ==, "100:2;200:3;1000:3;");
  g_assert_true (gantry_curve_parse (&read, text));
  g_assert_cmpmem (&read, sizeof read, &curve, sizeof curve);
  g_assert_false (gantry_curve_parse (&read, "100:2;100:3;"));
  g_assert_false (gantry_curve_parse (&read, "100:2;200:1;"));
  g_assert_false (gantry_curve_parse (&read, "100:-2;"));
  g_assert_false (gantry_curve_parse (&read, "100:1e300;"));
  g_assert_false (gantry_curve_parse (&read, "1e-30:1;"));
  /* However steep it is, times stay numbers that sums and programs can take. */
  g_assert_true (gantry_curve_parse (&steep, "1:1e6;1.0000000001:1e12;"));
  g_assert_cmpfloat (gantry_curve_us (&steep, 1e9), ==, GANTRY_CURVE_MOST_US);
  g_assert_true (gantry_curve_parse (&steep, "100:1e24;200:1e24;"));
  g_assert_cmpfloat (gantry_curve_us (&steep, 50), ==, GANTRY_CURVE_MOST_US);
  g_assert_false (gantry_curve_parse (&read, "100:2"));
  g_assert_false (gantry_curve_parse (&read, "1:1;2:2;3:3;4:4;5:5;6:6;7:7;8:8;9:9;10:10;11:11;"));
  g_assert_cmpuint (read.n, ==, 3);
}

/* What was measured of a processor is in its text, and a text without it takes away what was there. */
static void
test_measured (void)
{
  GantryTarget a, b;
  g_autofree char *text = NULL, *again = NULL, *stated = NULL, *told = NULL;
  g_autoptr (GError) error = NULL;

  gantry_target_init_cpu (&a, 2);
  stated = gantry_target_rates_text (&a);
  g_assert_cmpstr (stated, ==, "stated rates, not measured here");
  g_strlcpy (a.measured, "2026-11-28T01:02:03Z", sizeof a.measured);
  a.run_us = 1.5;
  a.trip_us = 0.5;
  a.inner_us = 0.05;
  a.copy_us = 1.5;
  gantry_curve_add (&a.curves[GANTRY_WORK_BYTES], 1000, 0.5);
  gantry_curve_add (&a.curves[GANTRY_WORK_PRODUCT_F32], 4096, 0.25);
  told = gantry_target_rates_text (&a);
  g_assert_cmpstr (told, ==, "calibrated on this machine 2026-11-28");
  text = gantry_target_to_text (&a);
  gantry_target_init_cpu (&b, 2);
  g_assert_true (gantry_target_parse (&b, text, -1, &error));
  g_assert_no_error (error);
  g_assert_false (b.here); /* a file is no fact of this machine */
  again = gantry_target_to_text (&b);
  g_assert_cmpstr (again, ==, text);
  g_assert_true (gantry_target_parse (&b, "[target]\npeak_flops=1e9\n", -1, &error));
  g_assert_cmpuint (b.curves[GANTRY_WORK_BYTES].n, ==, 0);
  g_assert_cmpfloat (b.run_us, ==, 0);
  g_assert_cmpstr (b.measured, ==, "");
  g_assert_false (gantry_target_parse (&b, "[target]\ncurve_bytes=5:1;4:2;\n", -1, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
}

/* Of this machine's processor limits are given and nothing else, in texts from before that was written too. */
static void
test_here (void)
{
  GantryTarget a, b;
  g_autofree char *given = NULL, *old = NULL;

  gantry_target_init_cpu (&a, 1);
  gantry_curve_add (&a.curves[GANTRY_WORK_BYTES], 1000, 0.5);
  a.memory_limit = 12345;
  given = gantry_target_given_text (&a);
  g_assert_null (strstr (given, "peak_flops"));
  gantry_target_init_cpu (&b, 3);
  old = gantry_target_to_text (&b);
  g_assert_true (gantry_target_parse (&b, given, -1, NULL));
  g_assert_true (b.here);
  g_assert_cmpstr (b.name, ==, "cpu, 3 threads");
  g_assert_cmpuint (b.memory_limit, ==, 12345);
  g_assert_true (gantry_target_parse (&a, old, -1, NULL));
  g_assert_true (a.here);
  g_assert_cmpuint (a.curves[GANTRY_WORK_BYTES].n, ==, 1);
  g_assert_cmpuint (a.memory_limit, ==, 0);
}

static GantryModule *
module_of (const char *text)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  GantryModule *module = gantry_module_from_text (context, text, -1, "test", &error);

  g_assert_no_error (error);
  return module;
}

/* Each kind of work is counted as what it is; views and broadcasts are none. */
static void
test_work (void)
{
  static const struct
  {
    const char *parameters, *node;
    GantryWorkKind work;
    double n;
    double simple; /* beside it: what is moved */
  } cases[] = {
    { "%1: f32[8,16], %2: f32[16,4]", "dot_general(%1, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[8,4]",
      GANTRY_WORK_PRODUCT_F32, 1024 },
    { "%1: f32[1,16], %2: f32[16,64]", "dot_general(%1, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[1,64]",
      GANTRY_WORK_PRODUCT_THIN, 2048 },
    { "%1: f64[8,16], %2: f64[16,4]", "dot_general(%1, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f64[8,4]",
      GANTRY_WORK_PRODUCT_F64, 1024 },
    { "%1: f32[8,4], %2: f32[8,4]", "add(%1, %2): f32[8,4]", GANTRY_WORK_SIMPLE, 32 },
    { "%1: f64[8,4], %2: f64[8,4]", "divide(%1, %2): f64[8,4]", GANTRY_WORK_DIVISION, 64 },
    { "%1: f32[8,4]", "tanh(%1): f32[8,4]", GANTRY_WORK_FUNCTION, 32 },
    { "%1: f32[8,4]", "exponential(%1): f32[8,4]", GANTRY_WORK_EXPONENTIAL, 32 },
    { "%1: bf16[8,4], %2: bf16[8,4]", "add(%1, %2): bf16[8,4]", GANTRY_WORK_NARROW, 96, 32 },
    { "%1: f32[8,4]", "sqrt(%1): f32[8,4]", GANTRY_WORK_DIVISION, 32 },
    { "%1: f32[8,4]", "reduce(%1) {dimensions = [1], kind = \"add\"}: f32[8]", GANTRY_WORK_REDUCTION, 32 },
    { "%1: f32[8,4]", "reduce(%1) {dimensions = [0], kind = \"add\"}: f32[4]", GANTRY_WORK_REDUCTION_ACROSS, 32 },
    { "%1: f32[8,4]", "transpose(%1) {permutation = [1, 0]}: f32[4,8]", GANTRY_WORK_TRANSPOSITION, 32 },
    { "%1: f32[8,4,1,1]", "transpose(%1) {permutation = [1, 0, 2, 3]}: f32[4,8,1,1]", GANTRY_WORK_TRANSPOSITION, 32 },
    { "%1: f32[8,1,4]", "transpose(%1) {permutation = [1, 0, 2]}: f32[1,8,4]", GANTRY_WORK_ROWS, 1, 32 },
    { "%1: f32[8,4,2]", "transpose(%1) {permutation = [1, 0, 2]}: f32[4,8,2]", GANTRY_WORK_ROWS, 32, 64 },
    { "%1: f32[8,4,2]", "transpose(%1) {permutation = [0, 2, 1]}: f32[8,2,4]", GANTRY_WORK_TRANSPOSITION, 64 },
    { "%1: f32[8,4,2], %2: f32[8,2,2]", "concatenate(%1, %2) {dimension = 1}: f32[8,6,2]", GANTRY_WORK_ROWS, 12, 96 },
    { "%1: f32[8,4,2]", "slice(%1) {limit_indices = [8, 3, 2], start_indices = [0, 0, 0], strides = [1, 1, 1]}: f32[8,3,2]", GANTRY_WORK_ROWS, 8, 48 },
    /* In place: what is not written is not moved. */
    { "%1: f32[8,4], %2: f32[1,4], %3: i32[], %4: i32[]", "dynamic_update_slice(%1, %2, %3, %4): f32[8,4]", GANTRY_WORK_ROWS, 1, 4 },
    { "%1: f32[8,4], %2: f32[2,2], %3: i32[], %4: i32[]", "dynamic_update_slice(%1, %2, %3, %4): f32[8,4]", GANTRY_WORK_ROWS, 2, 4 },
    { "%1: f32[8,4]", "reverse(%1) {dimensions = [0]}: f32[8,4]", GANTRY_WORK_ROWS, 8, 32 },
    { "%1: f32[8,4]", "reverse(%1) {dimensions = [1]}: f32[8,4]", GANTRY_WORK_TRANSPOSITION, 32 },
    { "%1: f32[8,4]", "slice(%1) {limit_indices = [8, 4], start_indices = [0, 0], strides = [1, 2]}: f32[8,2]", GANTRY_WORK_STRIDED, 16 },
    { "%1: f32[1,16,4,4], %2: f32[32,16,1,1]", "convolution(%1, %2): f32[1,32,4,4]", GANTRY_WORK_CONVOLUTION_POINT_FREE, 16384 },
    { "%1: f32[1,16,4,4], %2: f32[32,16,3,3]", "convolution(%1, %2): f32[1,32,2,2]", GANTRY_WORK_CONVOLUTION_FREE, 36864 },
    { "%1: f32[16,2,8,8], %2: f32[32,2,8,8]", "convolution(%1, %2) {padding = [1, 1, 1, 1], window_strides = [1, 1]}: f32[16,32,3,3]",
      GANTRY_WORK_CONVOLUTION_WEIGHTS, 1179648 },
    { "%1: f32[1,4,4,4], %2: f32[32,4,1,1]", "convolution(%1, %2): f32[1,32,4,4]", GANTRY_WORK_CONVOLUTION_POINT_FREE_PLAIN, 4096 },
    { "%1: f32[1,16,4,4]", "convolution(%1, %8): f32[1,32,4,4]", GANTRY_WORK_CONVOLUTION_POINT, 16384 },
    { "%1: f32[1,16,4,4], %2: f32[16,1,1,1]", "convolution(%1, %2) {feature_group_count = 16}: f32[1,16,4,4]", GANTRY_WORK_CONVOLUTION_DEPTH_PLAIN, 512 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *type = g_strrstr (cases[i].node, ": ") + 2;
      g_autofree char *text = g_strdup_printf ("module \"m\" { func @main #1 (%s) -> (%%9) {\n"
                                               "%%6 = constant() {value = splat<f32[32,16,1,1]: 0.5>}: f32[32,16,1,1]\n"
                                               "%%8 = multiply(%%6, %%6): f32[32,16,1,1]\n"
                                               "%%9 = %s } }",
                                               cases[i].parameters, cases[i].node);
      g_autoptr (GantryModule) module = module_of (text);
      const GantryFunction *entry = gantry_module_entry (module);
      double work[GANTRY_N_WORKS];

      gantry_node_work (module, &module->nodes[entry->first_node + entry->n_nodes - 1], work);
      for (guint w = GANTRY_WORK_BYTES + 1; w < GANTRY_N_WORKS; w++)
        g_assert_cmpfloat (work[w], ==, w == cases[i].work ? cases[i].n : w == GANTRY_WORK_SIMPLE ? cases[i].simple : 0);
      g_assert_cmpfloat (work[GANTRY_WORK_BYTES], >, 0);
      g_test_message ("%s", type);
    }
}

/* By curves bytes take what they take where they lie, what is written twice that, work what it takes beside them, and a loop has a launch of its own. */
static void
test_predict_by_curves (void)
{
  g_autoptr (GantryModule) module = module_of ("module \"m\" { func @main #1 (%1: f32[1000]) -> (%2) { %2 = tanh(%1): f32[1000] } }");
  const GantryNode *node = gantry_module_node (module, 2);
  GantryTarget target;

  gantry_target_init_cpu (&target, 1);
  target.launch_us = 1;
  target.inner_us = 0.25;
  target.run_us = 3;
  target.trip_us = 2;
  gantry_curve_add (&target.curves[GANTRY_WORK_BYTES], 8000, 4);
  gantry_curve_add (&target.curves[GANTRY_WORK_FUNCTION], 1000, 6);
  g_assert_cmpfloat_with_epsilon (gantry_target_predict_node_us (&target, module, node), 13, 1e-9);
  g_assert_cmpfloat_with_epsilon (gantry_target_predict_kernel_us (&target, module, node, 14), 21, 1e-9);
  gantry_target_enter_loop (&target);
  g_assert_cmpfloat_with_epsilon (gantry_target_predict_node_us (&target, module, node), 12.25, 1e-9);
  g_assert_cmpfloat (target.run_us, ==, 2);
  target.curves[GANTRY_WORK_FUNCTION].us[0] = 1;
  g_assert_cmpfloat_with_epsilon (gantry_target_predict_node_us (&target, module, node), 7.25, 1e-9);
  target.link_bandwidth = 1e6;
  g_assert_cmpfloat_with_epsilon (gantry_target_predict_copy_us (&target, 7), 7.25, 1e-9);
  target.copy_us = 2;
  g_assert_cmpfloat_with_epsilon (gantry_target_predict_copy_us (&target, 7), 9, 1e-9);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/planner/target/roofline", test_roofline);
  g_test_add_func ("/planner/target/round-trip", test_round_trip);
  g_test_add_func ("/planner/target/partial", test_partial);
  g_test_add_func ("/planner/target/errors", test_errors);
  g_test_add_func ("/planner/target/units", test_units);
  g_test_add_func ("/planner/target/special", test_special);
  g_test_add_func ("/planner/target/gpu-text", test_gpu_text);
  g_test_add_func ("/planner/target/files", test_files);
  g_test_add_func ("/planner/target/devices", test_devices);
  g_test_add_func ("/planner/target/curve", test_curve);
  g_test_add_func ("/planner/target/measured", test_measured);
  g_test_add_func ("/planner/target/here", test_here);
  g_test_add_func ("/planner/target/work", test_work);
  g_test_add_func ("/planner/target/predict-by-curves", test_predict_by_curves);
  return g_test_run ();
}
