/* SPDX-License-Identifier: Apache-2.0 */
/* The cost model: the roofline's corners, and targets as text. */
#include "core/base/error.h"
#include "core/graph/graph.h"
#include "core/planner/target.h"

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
    "", "peak_flops=1\n", "[other]\npeak_flops=1\n", "[target]\npeak_flops=fast\n", "[target]\nlaunch_us=nan\n",
    "[target]\nmemory_limit=-1\n", "[target", "\xff\xfe",
    /* Nothing is free. */
    "[target]\nlink_bandwidth=0\n", "[target]\nlink_bandwidth=-1e9\n", "[target]\nlink_bandwidth=inf\n",
    "[target]\nlink_bandwidth=nan\n", "[target]\npeak_flops=0\n", "[target]\npeak_flops=-1\n", "[target]\npeak_flops=inf\n",
    "[target]\nmemory_bandwidth=0\n", "[target]\nmemory_bandwidth=nan\n", "[target]\nlaunch_us=-1\n",
    "[target]\nhost_limit=many\n",
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
  g_autofree char *text =
    g_strdup_printf ("module \"m\" {\n  func @main #1 (%%1: %1$s[%2$u,%2$u], %%2: %1$s[%2$u,%2$u]) -> (%%3) {\n"
                     "    %%3 = dot_general(%%1, %%2) {lhs_contracting_dimensions = [1], "
                     "rhs_contracting_dimensions = [0]}: %1$s[%2$u,%2$u]\n  }\n}\n", element, n);
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
    { "a100", "f32", 19.5 },  { "a100", "bf16", 312 },  { "h100", "f32", 67 },     { "h100", "f16", 989.5 },
    { "h200", "bf16", 989.5 },
    { "b200", "bf16", 2250 }, { "h100", "f64", 34 },    { "rtx4090", "f16", 165.2 }, { "sm_90a", "bf16", 989.5 },
    { "sm_90", "bf16", 989.5 }, { "sm_80", "f32", 19.5 }, { "sm_100", "f16", 2250 },
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
  return g_test_run ();
}
