/* SPDX-License-Identifier: Apache-2.0 */
/* The cost model: the roofline's corners, and targets as text. */
#include "core/base/error.h"
#include "core/memory/target.h"

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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/memory/target/roofline", test_roofline);
  g_test_add_func ("/memory/target/round-trip", test_round_trip);
  g_test_add_func ("/memory/target/partial", test_partial);
  g_test_add_func ("/memory/target/errors", test_errors);
  return g_test_run ();
}
