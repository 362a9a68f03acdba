/* SPDX-License-Identifier: Apache-2.0 */
/* Moves between device and host: what of them is hidden, and how far from their use they end. */
#include "core/plan/plan-moves.h"

/* Four steps of the compute queue from 0, 10, 20 and 40 us, of 10 us each; a value goes to the host from 15 to 23 us and is back from 25
 * to 45 us, after which the last step, which waits for it, begins in place of 40 at 45 us. */
static GantryPlan *
make_plan (void)
{
  static const struct
  {
    guint8 queue, kind;
    double start, duration;
    guint32 in, out;
  } steps[] = {
    { GANTRY_QUEUE_COMPUTE, GANTRY_STEP_RUN, 0, 10, 0, 1 },     { GANTRY_QUEUE_TO_HOST, GANTRY_STEP_COPY, 15, 8, 1, 2 },
    { GANTRY_QUEUE_COMPUTE, GANTRY_STEP_RUN, 10, 10, 0, 4 },    { GANTRY_QUEUE_COMPUTE, GANTRY_STEP_RUN, 20, 10, 4, 5 },
    { GANTRY_QUEUE_TO_DEVICE, GANTRY_STEP_COPY, 25, 20, 2, 3 }, { GANTRY_QUEUE_COMPUTE, GANTRY_STEP_RUN, 45, 10, 6, 5 },
  };
  GantryPlan *plan = gantry_plan_new (G_N_ELEMENTS (steps), 7);

  gantry_plan_set_pools (plan, 2 * G_N_ELEMENTS (steps), 0);
  for (guint32 b = 0; b < plan->n_buffers; b++)
    {
      plan->buffers[b].shares = GANTRY_NO_BUFFER;
      plan->buffers[b].size = 1024;
      plan->buffers[b].memory = b == 2 ? GANTRY_MEMORY_PINNED_HOST : GANTRY_MEMORY_DEVICE;
    }
  plan->buffers[6].shares = 3; /* a view of what came back */
  for (guint32 i = 0; i < plan->n_steps; i++)
    {
      GantryPlanStep *step = &plan->steps[i];

      *step = (GantryPlanStep){ .node = i + 1,
                                .queue = steps[i].queue,
                                .kind = steps[i].kind,
                                .first_ref = 2 * i,
                                .n_operands = 1,
                                .n_refs = 2,
                                .start_us = steps[i].start,
                                .duration_us = steps[i].duration };
      plan->refs[2 * i] = steps[i].in;
      plan->refs[2 * i + 1] = steps[i].out;
    }
  return plan;
}

static void
test_moves (void)
{
  g_autoptr (GantryPlan) plan = make_plan ();
  g_autoptr (GArray) moves = gantry_plan_moves (plan);
  const GantryPlanMove *out, *back;

  g_assert_cmpuint (moves->len, ==, 2);
  out = &g_array_index (moves, GantryPlanMove, 0);
  back = &g_array_index (moves, GantryPlanMove, 1);
  g_assert_cmpuint (out->step, ==, 1);
  g_assert_cmpuint (out->to, ==, GANTRY_MEMORY_PINNED_HOST);
  g_assert_cmpuint (out->bytes, ==, 1024);
  g_assert_cmpfloat_with_epsilon (out->hidden_us, 8, 1e-9);
  g_assert_cmpuint (out->use, ==, 4);
  g_assert_cmpfloat_with_epsilon (out->distance_us, 2, 1e-9);
  g_assert_cmpuint (out->distance_steps, ==, 0);
  g_assert_cmpuint (back->step, ==, 4);
  g_assert_cmpuint (back->from, ==, GANTRY_MEMORY_PINNED_HOST);
  g_assert_cmpfloat_with_epsilon (back->hidden_us, 5, 1e-9);
  g_assert_cmpuint (back->use, ==, 5);
  g_assert_cmpfloat_with_epsilon (back->distance_us, 0, 1e-9);
}

/* What no step reads any more is a result; a copy within the device is no move. */
static void
test_results (void)
{
  g_autoptr (GantryPlan) plan = make_plan ();
  g_autoptr (GArray) moves = NULL;

  plan->buffers[6].shares = GANTRY_NO_BUFFER;
  plan->buffers[2].memory = GANTRY_MEMORY_DEVICE;
  plan->buffers[3].memory = GANTRY_MEMORY_PINNED_HOST;
  moves = gantry_plan_moves (plan);
  g_assert_cmpuint (moves->len, ==, 1);
  g_assert_cmpuint (g_array_index (moves, GantryPlanMove, 0).use, ==, GANTRY_NO_STEP);
  g_assert_cmpfloat (g_array_index (moves, GantryPlanMove, 0).distance_us, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plan/moves/distances", test_moves);
  g_test_add_func ("/plan/moves/results", test_results);
  return g_test_run ();
}
