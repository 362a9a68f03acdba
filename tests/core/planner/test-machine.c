/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of a machine: read by who says so and nobody else, in the place of stated rates alone, for each number of threads. The test
 * has a cache of its own. */
#include "core/base/scratch.h"
#include "core/graph/graph.h"
#include "core/planner/machine.h"
#include "core/planner/planner.h"
#include <string.h>

static void
measured (GantryTarget *target)
{
  gantry_target_init_cpu (target, 2);
  g_strlcpy (target->name, "whatever it is called", sizeof target->name);
  g_strlcpy (target->measured, "2026-11-28T01:02:03Z", sizeof target->measured);
  target->memory_bandwidth = 5e9;
  target->launch_us = 0.5;
  target->run_us = 100;
  target->memory_limit = 7;
  gantry_curve_add (&target->curves[GANTRY_WORK_BYTES], 1e6, 100);
  gantry_curve_add (&target->curves[GANTRY_WORK_BYTES], 2e6, 400);
}

/* Cuts off all files that are kept of machines. */
static void
spoil_kept (void)
{
  g_autofree char *folder = g_build_filename (g_get_user_cache_dir (), "gantry", "machine", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      g_assert_true (g_file_set_contents (path, "[target", -1, NULL));
    }
}

static void
test_kept (void)
{
  GantryTarget kept, target, given;
  g_autoptr (GError) error = NULL;

  measured (&kept);
  gantry_target_init_cpu (&target, 2);
  target.memory_limit = 12345;
  g_assert_false (gantry_machine_is_due (2)); /* of a process that did not say that it plans with it */
  g_assert_true (gantry_machine_keep (&kept, 2, &error));
  g_assert_no_error (error);
  g_assert_false (gantry_machine_take (&target, 2));
  g_setenv (GANTRY_MACHINE_ENVIRONMENT, "off", TRUE);
  gantry_machine_enable ();
  g_assert_false (gantry_machine_take (&target, 2));
  g_unsetenv (GANTRY_MACHINE_ENVIRONMENT);
  gantry_machine_enable ();
  g_assert_true (gantry_machine_take (&target, 2));
  g_assert_true (target.here);
  g_assert_cmpstr (target.name, ==, "cpu, 2 threads");
  g_assert_cmpfloat (target.memory_bandwidth, ==, 5e9);
  g_assert_cmpuint (target.curves[GANTRY_WORK_BYTES].n, ==, 2);
  g_assert_cmpuint (target.memory_limit, ==, 12345);
  g_assert_false (gantry_machine_is_due (2));
  /* A file that cannot be read is measured again. */
  spoil_kept ();
  g_assert_false (gantry_machine_take (&target, 2));
  g_assert_true (gantry_machine_is_due (2));
  /* Another number of threads was not measured, and what somebody has given stays. */
  g_assert_false (gantry_machine_take (&target, 1));
  g_assert_true (gantry_machine_is_due (1));
  gantry_machine_put_off (1);
  g_assert_false (gantry_machine_is_due (1));
  given = kept;
  given.here = FALSE;
  g_assert_true (gantry_machine_keep (&kept, 2, &error));
  g_assert_no_error (error);
  g_assert_false (gantry_machine_take (&given, 2));
}

/* A chain over arrays of 0.4 MB that one cache does not hold with all others: what was used long ago takes longer than what was used just
 * before. And what a run costs beside its kernels is part of what is predicted of it. */
static void
test_costs (void)
{
  static const char text[] = "module \"m\" { func @main #1 (%1: f32[100000], %2: f32[100000]) -> (%5) {\n"
                             "%3 = negate(%1): f32[100000]\n"
                             "%4 = add(%3, %3): f32[100000]\n"
                             "%5 = add(%4, %2): f32[100000] } }";
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, text, -1, "test", &error);
  g_autoptr (GHashTable) us = g_hash_table_new (NULL, NULL);
  GantryTarget target;
  GantryPlanOptions options = { .target = &target };
  g_autoptr (GantryPlan) plan = NULL, again = NULL;
  double took = 40;

  g_assert_no_error (error);
  measured (&target);
  target.memory_limit = 0;
  target.peak_flops = 1e15;
  plan = gantry_memory_plan (module, &options, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (plan->n_steps, ==, 3);
  /* 0.8 MB from what was just written: as near as can be; of the last one half was used a run ago. */
  g_assert_cmpfloat_with_epsilon (plan->steps[1].duration_us, 80 + 0.5, 1e-2);
  g_assert_cmpfloat (plan->steps[2].duration_us, >, 3 * 40 + target.launch_us + 1);
  g_assert_cmpfloat_with_epsilon (plan->total_us, plan->steps[0].duration_us + plan->steps[1].duration_us + plan->steps[2].duration_us + 100, 1e-6);
  /* Measured times have what lies between kernels, and nothing of what a run costs beside them. */
  for (guint32 node = 3; node <= 5; node++)
    g_hash_table_insert (us, GUINT_TO_POINTER (node), &took);
  options.measured_us = us;
  again = gantry_memory_plan (module, &options, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat_with_epsilon (again->total_us, 3 * 40 + 100, 1e-6);
}

/* How long the second kernel of @second takes, whose operand was just made. */
static double
second_us (const char *second)
{
  g_autofree char *text = g_strdup_printf ("module \"m\" { func @main #1 (%%1: f32[1000,100]) -> (%%4) {\n%%2 = negate(%%1): f32[1000,100]\n"
                                           "%%3 = %s: f32[1000,100]\n%%4 = negate(%%3): f32[1000,100] } }",
                                           second);
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, text, -1, "test", &error);
  g_autoptr (GantryPlan) plan = NULL;
  GantryTarget target;
  GantryPlanOptions options = { .target = &target };

  g_assert_no_error (error);
  measured (&target);
  target.memory_limit = 0;
  target.peak_flops = 1e15;
  plan = gantry_memory_plan (module, &options, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (plan->n_steps, ==, 3);
  return plan->steps[1].duration_us;
}

/* What is written over an operand is near; what has a place of its own, that was used long ago, is fetched from there before it is written. */
static void
test_writes (void)
{
  double over = second_us ("negate(%2)"), beside = second_us ("reverse(%2) {dimensions = [0]}");

  g_assert_cmpfloat_with_epsilon (over, 80 + 0.5, 1e-2);
  g_assert_cmpfloat (beside, >, 40 + GANTRY_WRITE_TRAFFIC * 40 + 0.5);
}

/* Weights that are made at load are used once in a run, as literals are: that the work which makes them stands beside their use brings
 * them no nearer. */
static void
test_made_at_load (void)
{
  static const char *const weights[] = { "%3 = constant() {value = splat<f32[100000]: 0.5>}: f32[100000]\n",
                                         "%9 = constant() {value = splat<f32[100000]: 0.5>}: f32[100000]\n%3 = negate(%9): f32[100000]\n" };
  double us[2] = { 0 };

  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *text = g_strdup_printf ("module \"m\" { func @main #1 (%%1: f32[100000]) -> (%%5) {\n"
                                               "%%2 = negate(%%1): f32[100000]\n%%4 = multiply(%%2, %%2): f32[100000]\n%s"
                                               "%%5 = add(%%4, %%3): f32[100000] } }",
                                               weights[i]);
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = gantry_module_from_text (context, text, -1, "test", &error);
      g_autoptr (GantryPlan) plan = NULL;
      GantryTarget target;
      const GantryPlanOptions options = { .target = &target };

      g_assert_no_error (error);
      measured (&target);
      target.memory_limit = 0;
      target.peak_flops = 1e15;
      plan = gantry_memory_plan (module, &options, NULL, &error);
      g_assert_no_error (error);
      for (guint32 s = 0; s < plan->n_steps; s++)
        us[i] = plan->steps[s].node == 5 ? plan->steps[s].duration_us : us[i];
    }
  g_assert_cmpfloat (us[0], >, 0);
  g_assert_cmpfloat_with_epsilon (us[1], us[0], 1e-9);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  GantryScratch *scratch = gantry_scratch_new (&error);
  g_autofree char *folder = NULL;
  int status;

  g_assert_no_error (error);
  folder = gantry_scratch_file (scratch, "cache");
  g_setenv ("XDG_CACHE_HOME", folder, TRUE);
  g_unsetenv (GANTRY_MACHINE_ENVIRONMENT);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/planner/machine/kept", test_kept);
  g_test_add_func ("/planner/machine/costs", test_costs);
  g_test_add_func ("/planner/machine/writes", test_writes);
  g_test_add_func ("/planner/machine/made-at-load", test_made_at_load);
  status = g_test_run ();
  gantry_scratch_free (scratch);
  return status;
}
