/* SPDX-License-Identifier: Apache-2.0 */
/* Parts: of all bytes of a plan, what stands beside its arena; and of a place, what may be a part of it. */
#include "core/graph/text.h"
#include "core/planner/planner.h"
#include "core/plan/memory-parts.h"

static GantryModule *
module_of (const char *text)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  GantryModule *module = gantry_module_from_text (context, text, -1, "parts", &error);

  g_assert_no_error (error);
  return module;
}

/* @sizes: (nullable) */
static GantryPlan *
plan_of (GantryModule *module, GantryKernelSizes *sizes)
{
  const GantryPlanOptions options = { .sizes = sizes };
  g_autoptr (GError) error = NULL;
  GantryPlan *plan = gantry_memory_plan (module, &options, NULL, &error);

  g_assert_no_error (error);
  return plan;
}

static const char chain[] = "module \"chain\" {\n"
                            "  func @main #1 (%1 \"x\": f32[64]) -> (%4) {\n"
                            "    %2 = exponential(%1): f32[64]\n"
                            "    %3 = constant() {value = splat<f32[64]: 1.5>}: f32[64]\n"
                            "    %4 = add(%2, %3): f32[64]\n"
                            "  }\n}\n";

/* What kernels take beside the values is part of the peak, of each step, of the bound and of what a prediction says. */
static void
test_beside (void)
{
  enum
  {
    PACKED = 4096,
    CODE = 1024
  };
  g_autoptr (GantryModule) module = module_of (chain);
  g_autofree char *program = gantry_module_content (module);
  g_autoptr (GantryKernelSizes) sizes = gantry_kernel_sizes_new (program, "a processor");
  g_autoptr (GantryPrediction) prediction = gantry_prediction_new ();
  const GantryPlanOptions options = { .sizes = sizes };
  g_autoptr (GantryPlanner) planner = NULL;
  g_autoptr (GantryPlan) bare = plan_of (module, NULL), plan = NULL;
  g_autoptr (GError) error = NULL;
  GantryMemoryParts parts;

  gantry_kernel_sizes_add (sizes, 3, 0, PACKED);
  sizes->code_bytes = CODE;
  plan = plan_of (module, sizes);
  gantry_plan_memory_parts (plan, GANTRY_MEMORY_DEVICE, &parts);
  g_assert_cmpuint (parts.bytes[GANTRY_PART_PACKED_WEIGHTS], ==, PACKED);
  g_assert_cmpuint (parts.bytes[GANTRY_PART_CODE], ==, CODE);
  g_assert_cmpuint (gantry_memory_parts_total (&parts), ==, gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE));
  g_assert_cmpuint (gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE), ==, gantry_plan_memory_bytes (bare, GANTRY_MEMORY_DEVICE) + PACKED + CODE);
  g_assert_cmpuint (gantry_plan_least_bytes (plan), ==, gantry_plan_least_bytes (bare) + PACKED + CODE);
  for (guint32 s = plan->n_init_steps; s < plan->n_steps; s++)
    {
      gantry_plan_memory_parts_at (plan, s, &parts);
      g_assert_cmpuint (parts.bytes[GANTRY_PART_PACKED_WEIGHTS], ==, PACKED);
      g_assert_cmpuint (gantry_plan_memory_bytes_at (plan, s), ==, gantry_plan_memory_bytes_at (bare, s) + PACKED + CODE);
    }
  planner = gantry_planner_new (module, &options, NULL, &error);
  g_assert_no_error (error);
  gantry_planner_predict_within (planner, NULL, 0, prediction);
  gantry_prediction_parts (prediction, &parts);
  g_assert_cmpuint (parts.bytes[GANTRY_PART_PACKED_WEIGHTS], ==, PACKED);
  g_assert_cmpuint (prediction->peak_bytes, ==, gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE));
}

/* Rows of @columns floats; the second is read where it lies only where places begin. */
static void
check_row (gint64 columns, gboolean in_place)
{
  g_autofree char *text = g_strdup_printf ("module \"rows\" {\n"
                                           "  func @main #1 (%%1 \"x\": f32[3,%" G_GINT64_FORMAT "]) -> (%%4) {\n"
                                           "    %%2 = exponential(%%1): f32[3,%" G_GINT64_FORMAT "] phase(backward)\n"
                                           "    %%3 = slice(%%2) {start_indices = [1, 0], limit_indices = [2, %" G_GINT64_FORMAT
                                           "], strides = [1, 1]}: f32[1,%" G_GINT64_FORMAT "] phase(backward)\n"
                                           "    %%4 = negate(%%3): f32[1,%" G_GINT64_FORMAT "] phase(backward)\n"
                                           "  }\n}\n",
                                           columns, columns, columns, columns, columns);
  g_autoptr (GantryModule) module = module_of (text);
  g_autoptr (GantryPlan) plan = plan_of (module, NULL);
  const guint32 whole = gantry_plan_buffer_of (plan, 2, 0), row = gantry_plan_buffer_of (plan, 3, 0);
  guint n = 0;

  g_assert_true (whole != GANTRY_NO_BUFFER && row != GANTRY_NO_BUFFER);
  for (guint32 s = 0; s < plan->n_steps; s++)
    n += plan->steps[s].node == 3;
  g_assert_cmpuint (n, ==, in_place ? 0 : 1);
  g_assert_cmpint (plan->buffers[row].shares == whole, ==, in_place);
  g_assert_cmpuint (plan->buffers[row].offset % GANTRY_PLACE_ALIGNMENT, ==, 0);
  if (in_place)
    g_assert_cmpuint (plan->buffers[row].offset, ==, plan->buffers[whole].offset + 4 * (guint64) columns);
}

static void
test_slices (void)
{
  check_row (16, TRUE);
  check_row (48, TRUE);
  check_row (15, FALSE);
  check_row (24, FALSE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/planner/parts/beside", test_beside);
  g_test_add_func ("/planner/parts/slices", test_slices);
  return g_test_run ();
}
