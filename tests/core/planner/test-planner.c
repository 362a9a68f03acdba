/* SPDX-License-Identifier: Apache-2.0 */
/* Predictions and plans of well-known steps: the memory that they need at most, by hand and by search, under each placement. */
#include "core/base/error.h"
#include "core/planner/planner.h"
#include "tests/core/planner/plan-machine.h"
#include "tests/core/planner/step-maker.h"
#include "tests/random-seed.h"
#include <string.h>

#define MIB (1024.0 * 1024.0)
#define N_LAYERS 10

static void
place (GantryPlacements *placements, guint32 node, GantryPlacementKind kind)
{
  GantryPlacement placement = { node, (guint8) kind, GANTRY_DECIDED_BY_RULE, GANTRY_MEMORY_PINNED_HOST, GANTRY_SUBJECT_NONE };

  gantry_placements_set (placements, &placement);
}

static GantryPlanner *
new_planner (GantryModule *module, GantryTarget *target, guint64 limit)
{
  const GantryPlanOptions options = { .target = target };
  g_autoptr (GError) error = NULL;
  GantryPlanner *planner;

  gantry_target_init_cpu (target, 8);
  target->memory_limit = limit;
  planner = gantry_planner_new (module, &options, NULL, &error);
  g_assert_no_error (error);
  return planner;
}

static double
temp_of (const GantryPlan *plan)
{
  return (double) gantry_plan_temp_bytes (plan, GANTRY_MEMORY_DEVICE) / MIB;
}

/* Plans, checks the plan's promises, and tells. */
static GantryPlan *
plan_of (GantryModule *module, GantryPlanner *planner, const GantryPlacements *placements, const char *what)
{
  g_autoptr (GError) error = NULL;
  GantryPlan *plan = gantry_planner_plan (planner, placements, NULL, &error);

  g_assert_no_error (error);
  plan_check (module, plan);
  g_test_message ("%s: arguments %.2f, temp %.2f, arena %.2f (bound %.2f), host %.2f MiB; %.2f ms, waits %.2f, again %.2f, "
                  "copied %.2f MiB",
                  what, (double) plan->argument_bytes[0] / MIB, temp_of (plan), (double) plan->arena_bytes[0] / MIB, (double) plan->lower_bound / MIB,
                  (double) plan->arena_bytes[GANTRY_MEMORY_PINNED_HOST] / MIB, plan->total_us / 1000, plan->stall_us / 1000, plan->recompute_us / 1000,
                  (double) plan->copied_bytes / MIB);
  if (g_getenv ("PLAN_DUMP") != NULL)
    plan_print (module, plan);
  g_assert_cmpuint (plan->n_problems, ==, 0);
  return plan;
}

static void
test_layers (void)
{
  guint32 ys[N_LAYERS], xs[N_LAYERS + 1];
  g_autoptr (GantryModule) module = step_layers (N_LAYERS, 256, 1024, ys, xs);
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GantryPlacements) placements = gantry_placements_new ();
  GantryTarget target;
  g_autoptr (GantryPlanner) planner = new_planner (module, &target, 0);
  g_autoptr (GantryPlan) keep = plan_of (module, planner, NULL, "all kept"), again = NULL, offload = NULL, all = NULL;

  g_assert_cmpuint (keep->argument_bytes[0], ==, (guint64) (20.25 * MIB));
  g_assert_cmpuint (keep->output_bytes[0], ==, (guint64) (20 * MIB));
  g_assert_cmpfloat (temp_of (keep), <=, 12.75);
  for (guint i = 0; i < N_LAYERS; i++)
    place (placements, ys[i], GANTRY_PLACEMENT_RECOMPUTE);
  again = plan_of (module, planner, placements, "y recomputed");
  g_assert_cmpfloat (temp_of (again), <=, 3.75);
  for (guint i = 1; i < N_LAYERS; i++)
    place (placements, xs[i], GANTRY_PLACEMENT_OFFLOAD);
  offload = plan_of (module, planner, placements, "x offloaded too");
  g_assert_cmpfloat (temp_of (offload), <=, 2.0);
  g_assert_cmpfloat (offload->stall_us, <, 0.02 * offload->total_us);
  place (placements, module->nodes[entry->first_node + 1].id, GANTRY_PLACEMENT_OFFLOAD);
  place (placements, module->nodes[entry->first_node + 2].id, GANTRY_PLACEMENT_OFFLOAD);
  all = plan_of (module, planner, placements, "parameters offloaded too");
  g_assert_cmpfloat (temp_of (all), <=, 3.75);
  g_assert_cmpuint (all->argument_bytes[0], ==, (guint64) (0.25 * MIB));
  g_assert_cmpfloat (all->stall_us, <, 0.02 * all->total_us);
}

#define M (7168.0 * 7168.0 * 4)

static void
test_adam (void)
{
  guint32 zs[4], gelus[5];
  g_autoptr (GantryModule) module = step_adam (4, 7168, zs, gelus);
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GantryPlacements) placements = gantry_placements_new ();
  GantryTarget target;
  const double gib = MIB * 1024;
  g_autoptr (GantryPlanner) planner = new_planner (module, &target, 0), limited = NULL;
  g_autoptr (GantryPlan) keep = plan_of (module, planner, NULL, "all kept"), again = NULL, offload = NULL, ahead = NULL;

  g_assert_cmpuint (keep->argument_bytes[0], ==, (guint64) (13 * M));
  g_assert_cmpuint (keep->alias_bytes[0], ==, (guint64) (12 * M));
  for (guint i = 1; i < 4; i++)
    place (placements, gelus[i], GANTRY_PLACEMENT_RECOMPUTE);
  again = plan_of (module, planner, placements, "gelu recomputed");
  g_assert_cmpfloat (temp_of (again) / 1024, <=, 1.15);
  for (guint i = 0; i < 8; i++)
    place (placements, module->nodes[entry->first_node + 4 + i].id, GANTRY_PLACEMENT_OFFLOAD);
  /* Without a limit too: what is fetched ahead does not raise the peak for next to no time. */
  ahead = plan_of (module, planner, placements, "state offloaded, no limit");
  g_assert_cmpuint (ahead->arena_bytes[0], <=, (guint64) (2.11 * gib));
  g_assert_cmpfloat (ahead->stall_us, <, 1e-2 * ahead->total_us);
  limited = new_planner (module, &target, (guint64) (2.11 * gib));
  offload = plan_of (module, limited, placements, "state offloaded too");
  g_assert_cmpuint (offload->argument_bytes[0], ==, (guint64) (5 * M));
  g_assert_cmpfloat (temp_of (offload) / 1024, <=, 1.15);
  g_assert_cmpuint (offload->arena_bytes[0], <=, (guint64) (2.11 * gib));
}

/* Less and less memory: plans that hold the limit, slower and slower, until nothing can be done; then an error that helps. */
static void
test_limit (void)
{
  guint32 ys[N_LAYERS], xs[N_LAYERS + 1];
  g_autoptr (GantryModule) module = step_layers (N_LAYERS, 256, 1024, ys, xs);
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GantryPlacements) placements = gantry_placements_new ();
  GantryTarget target;
  double before = 0;
  guint n_fit = 0;

  for (guint i = 0; i < N_LAYERS; i++)
    place (placements, ys[i], GANTRY_PLACEMENT_OFFLOAD);
  for (guint i = 1; i < N_LAYERS; i++)
    place (placements, xs[i], GANTRY_PLACEMENT_OFFLOAD);
  place (placements, module->nodes[entry->first_node + 1].id, GANTRY_PLACEMENT_OFFLOAD);
  place (placements, module->nodes[entry->first_node + 2].id, GANTRY_PLACEMENT_OFFLOAD);
  for (double limit = 28; limit > 21; limit -= 0.25)
    {
      g_autoptr (GantryPlanner) planner = new_planner (module, &target, (guint64) (limit * MIB));
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryPlan) plan = NULL;

      target.link_bandwidth = 2e9; /* too slow to be hidden */
      g_clear_pointer (&planner, gantry_planner_free);
      planner = gantry_planner_new (module, &(GantryPlanOptions){ .target = &target }, NULL, &error);
      plan = gantry_planner_plan (planner, placements, NULL, &error);
      if (plan == NULL)
        {
          g_test_message ("%.2f MiB: %s", limit, error->message);
          g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
          g_assert_nonnull (strstr (error->message, "too much"));
          g_assert_nonnull (strstr (error->message, "alive at the peak"));
          continue;
        }
      plan_check (module, plan);
      n_fit++;
      g_test_message ("%.2f MiB: %.2f, %.2f ms, waits %.2f", limit, (double) plan->arena_bytes[0] / MIB, plan->total_us / 1000, plan->stall_us / 1000);
      g_assert_cmpuint (plan->arena_bytes[0], <=, target.memory_limit);
      g_assert_cmpfloat (plan->total_us, >=, before * 0.98);
      before = MAX (before, plan->total_us);
    }
  /* 20 MiB of results and 0.25 of x; one product of a layer holds 2.25 more. */
  g_assert_cmpuint (n_fit, >=, 21);
}

/* Without placements too little memory is an error that names the placements that help. */
static void
test_refusal (void)
{
  guint32 ys[N_LAYERS];
  g_autoptr (GantryModule) module = step_layers (N_LAYERS, 256, 1024, ys, NULL);
  GantryTarget target;
  g_autoptr (GantryPlanner) planner = new_planner (module, &target, (guint64) (50 * MIB));
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryPlan) plan = gantry_planner_plan (planner, NULL, NULL, &error);

  g_assert_null (plan);
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, "the program needs at least "));
  g_assert_nonnull (strstr (error->message, "2883584 bytes"));
  g_assert_nonnull (strstr (error->message, "most would help: offload"));
  /* It can be looked at, once: the bytes are those of which the message speaks, and all have a place. */
  plan = gantry_planner_take_refused (planner);
  g_assert_nonnull (plan);
  plan_check (module, plan);
  g_assert_cmpuint (plan->arena_bytes[0] + plan->constant_bytes, ==, target.memory_limit + 2883584);
  g_assert_null (gantry_planner_take_refused (planner));
  g_clear_pointer (&plan, gantry_plan_unref);
  g_clear_pointer (&planner, gantry_planner_free);
  planner = new_planner (module, &target, (guint64) (60 * MIB));
  plan = gantry_planner_plan (planner, NULL, NULL, NULL);
  g_assert_nonnull (plan);
  g_assert_null (gantry_planner_take_refused (planner));
}

/* The same programs, small, carried out. */
static void
test_run (void)
{
  guint32 ys[4], xs[5];
  g_autoptr (GRand) random = test_rand (1);

  for (guint which = 0; which < 2; which++)
    {
      g_autoptr (GantryModule) module = which == 0 ? step_layers (4, 16, 32, ys, xs) : step_adam (4, 16, ys, xs);
      const GantryFunction *entry = gantry_module_entry (module);
      GantryLiteral **arguments = plan_arguments (module, random), **expected = NULL;
      g_autoptr (GantryPlacements) placements = gantry_placements_new ();
      GantryTarget target;
      g_autoptr (GantryPlanner) planner = new_planner (module, &target, 0);

      expected = plan_expected (module, arguments);
      for (guint k = 0; k < 4; k++)
        {
          g_autoptr (GantryPlan) plan = NULL;

          for (guint i = 1; k == 1 && i < 4; i++)
            place (placements, which == 0 ? ys[i] : xs[i], GANTRY_PLACEMENT_RECOMPUTE);
          for (guint i = 1; k == 2 && i < 4; i++)
            place (placements, which == 0 ? xs[i] : ys[i], GANTRY_PLACEMENT_OFFLOAD);
          for (guint i = 0; k == 3 && i < entry->n_params; i++)
            place (placements, module->nodes[entry->first_node + i].id, GANTRY_PLACEMENT_OFFLOAD);
          plan = plan_of (module, planner, placements, which == 0 ? "layers" : "adam");
          for (guint j = 0; j < 10; j++)
            plan_run (module, plan, arguments, expected, random, j / 9.0);
        }
      plan_free_literals (arguments);
      plan_free_literals (expected);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/planner/layers", test_layers);
  g_test_add_func ("/planner/adam", test_adam);
  g_test_add_func ("/planner/run", test_run);
  g_test_add_func ("/planner/limit", test_limit);
  g_test_add_func ("/planner/refusal", test_refusal);
  return g_test_run ();
}
