/* SPDX-License-Identifier: Apache-2.0 */
/* Training steps compiled once and run under random placements: whatever is kept, computed again or moved, and however
 * the queues run, the results are those of keeping all, bit for bit; the device holds what the plan says, and a limit holds. */
#include "core/autodiff/autodiff.h"
#include "core/base/error.h"
#include "core/graph/graph.h"
#include "core/kernels/kernels.h"
#include "core/planner/planner.h"
#include "core/plan/compression.h"
#include "core/plan/executable.h"
#include "core/plan/kernel-sizes.h"
#include "core/plan/placement.h"
#include "core/plan/plan.h"
#include "core/runtime/runtime.h"
#include "profiler/profiler.h"
#include "tests/core/kernels/kernel-test.h"
#include "tests/random-seed.h"
#include <math.h>
#include <string.h>

#define VERIFY_ALL (GANTRY_VERIFY_PLACES | GANTRY_VERIFY_POISON | GANTRY_VERIFY_WRITES)

static GantryModule *
train (GantryContext *context, const char *text, GantryOptimizer optimizer)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, text, -1, "step", &error);
  GantryTrainingOptions options;
  GantryModule *trained;

  g_assert_no_error (error);
  gantry_training_options_init (&options);
  options.optimizer = optimizer;
  trained = gantry_training_step (module, &options, NULL, &error);
  g_assert_no_error (error);
  gantry_training_options_clear (&options);
  return trained;
}

/* x -> tanh (x w + b) -> ..., some layers with a residual connection. */
static GantryModule *
make_step (GantryContext *context, guint n_layers, GantryOptimizer optimizer)
{
  g_autoptr (GString) text = g_string_new ("module \"m\" {\n  func @main #1 (%1 \"x\": f32[8,40]");
  guint x = 1, id = 100;

  for (guint i = 0; i < n_layers; i++)
    g_string_append_printf (text,
                            ", %%%u \"w%u\": f32[40,40] {role = \"parameter\"}, %%%u \"b%u\": f32[40] {role = "
                            "\"parameter\"}",
                            2 * i + 2, i, 2 * i + 3, i);
  g_string_append_printf (text, ") -> (%%99) {\n");
  for (guint i = 0; i < n_layers; i++)
    {
      g_string_append_printf (text,
                              "    %%%u = dot_general(%%%u, %%%u) {lhs_contracting_dimensions = [1], "
                              "rhs_contracting_dimensions = [0]}: f32[8,40]\n",
                              id, x, 2 * i + 2);
      g_string_append_printf (text,
                              "    %%%u = broadcast_in_dim(%%%u) {shape = [8,40], broadcast_dimensions = [1]}: "
                              "f32[8,40]\n",
                              id + 1, 2 * i + 3);
      g_string_append_printf (text, "    %%%u = add(%%%u, %%%u): f32[8,40]\n", id + 2, id, id + 1);
      g_string_append_printf (text, "    %%%u = tanh(%%%u): f32[8,40]\n", id + 3, id + 2);
      g_string_append_printf (text, i % 2 == 1 ? "    %%%u = add(%%%u, %%%u): f32[8,40]\n" : "    %%%u = multiply(%%%u, %%%u): f32[8,40]\n", id + 4, id + 3,
                              i % 2 == 1 ? x : id + 3);
      x = id + 4;
      id += 5;
    }
  g_string_append_printf (text, "    %%99 = negate(%%%u): f32[8,40]\n  }\n}\n", x);
  return train (context, text->str, optimizer);
}

/* A plan for @placements, run once with @inputs. Kernels are compiled each time: an executable owns them. */
typedef struct
{
  GantryModule *module;
  GantryLiteral **inputs;
  guint n_inputs, n_outputs;
  GantryKernelOptions options;
} Case;

static GantryExecutable *
build (const Case *c, const GantryPlacements *placements, guint64 limit, GError **error)
{
  g_autoptr (GArray) compressions = gantry_placements_compressions (placements, c->module);
  GantryKernelOptions compile = c->options;
  GantryKernelSet *kernels = (compile.compressions = compressions, gantry_kernels_compile (c->module, &compile, NULL, NULL));
  GantryTarget target;
  g_autoptr (GantryKernelSizes) sizes = gantry_kernel_set_sizes (kernels, c->module);
  GantryPlanOptions options = { .target = &target, .sizes = sizes };
  g_autoptr (GantryPlanner) planner = NULL;
  g_autoptr (GantryPlan) plan = NULL;

  gantry_target_init_cpu (&target, 2);
  target.memory_limit = limit;
  planner = gantry_planner_new (c->module, &options, NULL, error);
  plan = planner != NULL ? gantry_planner_plan (planner, placements, NULL, error) : NULL;
  if (plan == NULL)
    {
      gantry_kernel_set_free (kernels);
      return NULL;
    }
  return gantry_executable_new (c->module, plan, kernels, error);
}

static void
free_outputs (GantryLiteral **outputs, guint n)
{
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&outputs[i], gantry_literal_unref);
}

static GPtrArray *
run (const Case *c, GantryExecutable *executable, guint n_runs, GantryVerifyFlags verify, GantryRecording **recording)
{
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (2);
  g_autoptr (GantryCpuRecorder) recorder = gantry_cpu_recorder_new ("cpu");
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryExecutor) executor = NULL;
  GPtrArray *outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
  const GantryPlan *plan = executable->plan;
  GantryMemoryParts parts;
  guint64 most;

  /* As much as the plan says, code included, of which the device allocates arena, constants and packed weights. */
  gantry_plan_memory_parts (plan, GANTRY_MEMORY_DEVICE, &parts);
  gantry_device_set_limit (device, GANTRY_MEMORY_DEVICE, gantry_memory_parts_total (&parts));
  executor = gantry_executor_new (device, executable, NULL, &error);
  g_assert_no_error (error);
  gantry_executor_set_verify (executor, verify);
  g_ptr_array_set_size (outputs, (gint) c->n_outputs);
  for (guint i = 0; i < n_runs; i++)
    {
      free_outputs ((GantryLiteral **) outputs->pdata, c->n_outputs);
      gantry_executor_run_literals (executor, c->inputs, c->n_inputs, (GantryLiteral **) outputs->pdata, c->n_outputs,
                                    i + 1 == n_runs ? gantry_cpu_recorder_observer (recorder) : NULL, NULL, &error);
      g_assert_no_error (error);
    }
  gantry_device_get_memory (device, GANTRY_MEMORY_DEVICE, NULL, &most, NULL);
  g_assert_cmpuint (most, ==, plan->arena_bytes[GANTRY_MEMORY_DEVICE] + executable->packed_bytes + (plan->constant_bytes + 63) / 64 * 64);
  if (recording != NULL)
    *recording = gantry_cpu_recorder_take (recorder);
  return outputs;
}

static void
expect_equal (const Case *c, const GPtrArray *a, const GPtrArray *b)
{
  for (guint i = 0; i < c->n_outputs; i++)
    {
      const GantryLiteral *x = g_ptr_array_index (a, i), *y = g_ptr_array_index (b, i);

      g_assert_cmpmem (x->data, x->size, y->data, y->size);
    }
}

static GantryPlacements *
random_placements (const Case *c, GRand *rand, double share)
{
  GantryPlacements *placements = gantry_placements_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryPlanner) planner = gantry_planner_new (c->module, NULL, NULL, &error);
  const GantryCandidate *candidates;
  guint n;

  g_assert_no_error (error);
  candidates = gantry_planner_candidates (planner, &n);
  for (guint i = 0; i < n; i++)
    {
      guint kind = (guint) g_rand_int_range (rand, 1, GANTRY_N_PLACEMENTS);
      GantryPlacement placement = { candidates[i].node, (guint8) kind, GANTRY_DECIDED_BY_CLICK, GANTRY_MEMORY_PINNED_HOST, candidates[i].subject };

      if ((candidates[i].allowed & (1u << kind) & GANTRY_EXACT_PLACEMENTS) != 0 && g_rand_double (rand) < share)
        gantry_placements_set (placements, &placement);
    }
  return placements;
}

static void
begin_case_of (Case *c, GantryModule *module, GRand *rand)
{
  const GantryFunction *entry = gantry_module_entry (module);

  c->options = (GantryKernelOptions) GANTRY_KERNEL_OPTIONS_INIT;
  c->module = module;
  c->n_inputs = entry->n_params;
  c->n_outputs = entry->n_results;
  c->inputs = g_new0 (GantryLiteral *, c->n_inputs + 1);
  for (guint i = 0; i < c->n_inputs; i++)
    c->inputs[i] = kernel_test_literal (rand, gantry_node_type (c->module, &c->module->nodes[entry->first_node + i]), FALSE);
}

static void
begin_case (Case *c, GantryContext *context, GRand *rand, guint round)
{
  static const GantryOptimizer optimizers[] = { GANTRY_OPTIMIZER_NONE, GANTRY_OPTIMIZER_SGD, GANTRY_OPTIMIZER_MOMENTUM, GANTRY_OPTIMIZER_ADAM };

  begin_case_of (c, make_step (context, 2 + round % 5, optimizers[round % 4]), rand);
}

static void
end_case (Case *c)
{
  for (guint i = 0; i < c->n_inputs; i++)
    gantry_literal_unref (c->inputs[i]);
  g_free (c->inputs);
  gantry_module_unref (c->module);
}

/* The most that is alive in a recording of what @plan predicts; what is left at its end is no value. */
static guint64
most_alive (const GantryRecording *recording, const GantryPlan *plan)
{
  guint64 most = 0, alive = 0;

  for (guint64 i = 0; i < gantry_recording_n_memory_events (recording); i++)
    {
      GantryMemoryEvent event;

      gantry_recording_get_memory (recording, i, &event);
      if (event.memory != GANTRY_MEMORY_DEVICE)
        continue;
      alive = event.release ? alive - event.bytes : alive + event.bytes;
      most = MAX (most, alive);
    }
  g_assert_cmpuint (alive, ==, gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE) - plan->lower_bound);
  return most;
}

static void
test_random (void)
{
  g_autoptr (GRand) rand = test_rand (11);
  guint copies = 0, again = 0;

  for (guint round = 0; round < 12; round++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryExecutable) kept = NULL;
      g_autoptr (GPtrArray) want = NULL;
      g_autoptr (GError) error = NULL;
      Case c;

      begin_case (&c, context, rand, round);
      kept = build (&c, NULL, 0, &error);
      g_assert_no_error (error);
      want = run (&c, kept, 1, VERIFY_ALL, NULL);
      for (guint k = 0; k < 4; k++)
        {
          g_autoptr (GantryPlacements) placements = random_placements (&c, rand, k == 0 ? 1 : 0.5);
          g_autoptr (GantryExecutable) executable = build (&c, placements, 0, &error);
          g_autoptr (GantryRecording) recording = NULL, predicted = NULL;
          g_autoptr (GPtrArray) got = NULL;

          g_assert_no_error (error);
          got = run (&c, executable, 1, VERIFY_ALL, NULL);
          expect_equal (&c, got, want);
          g_ptr_array_unref (got);
          got = run (&c, executable, 8, 0, &recording);
          expect_equal (&c, got, want);
          predicted = gantry_recording_from_plan (executable->module, executable->plan);
          g_assert_cmpuint (most_alive (predicted, executable->plan), ==, gantry_plan_memory_bytes (executable->plan, GANTRY_MEMORY_DEVICE));
          for (guint32 s = 0; s < executable->plan->n_steps; s++)
            {
              copies += executable->plan->steps[s].kind == GANTRY_STEP_COPY;
              again += executable->plan->steps[s].kind == GANTRY_STEP_RECOMPUTE;
            }
        }
      end_case (&c);
    }
  g_test_message ("%u copies, %u recomputations", copies, again);
  g_assert_cmpuint (copies, >, 100);
  g_assert_cmpuint (again, >, 100);
}

/* Donated places: steps in a row, and single ones that are given what the one before left. */
static void
test_steps (void)
{
  g_autoptr (GRand) rand = test_rand (12);

  for (guint round = 0; round < 8; round++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryPlacements) placements = NULL;
      g_autoptr (GantryDevice) device = gantry_cpu_device_new (2);
      g_autoptr (GantryExecutable) executable = NULL;
      g_autoptr (GantryExecutor) executor = NULL;
      g_autofree GantryLiteral **single = NULL, **row = NULL, **none = NULL;
      g_autoptr (GError) error = NULL;
      guint n_kept = 0;
      Case c;

      begin_case (&c, context, rand, round % 3 + 1);
      placements = random_placements (&c, rand, round < 3 ? 0 : 0.7);
      executable = build (&c, placements, 0, &error);
      g_assert_no_error (error);
      executor = gantry_executor_new (device, executable, NULL, &error);
      g_assert_no_error (error);
      single = g_new0 (GantryLiteral *, c.n_outputs + 1);
      row = g_new0 (GantryLiteral *, c.n_outputs + 1);
      none = g_new0 (GantryLiteral *, c.n_inputs + 1);
      gantry_executor_set_verify (executor, round % 2 == 0 ? VERIFY_ALL : 0);
      /* Three times with nothing given but at the first. */
      for (guint step = 0; step < 3; step++)
        {
          free_outputs (row, c.n_outputs);
          gantry_executor_run_literals (executor, step == 0 ? c.inputs : none, c.n_inputs, row, c.n_outputs, NULL, NULL, &error);
          g_assert_no_error (error);
        }
      /* Three times with all given. */
      for (guint step = 0; step < 3; step++)
        {
          free_outputs (single, c.n_outputs);
          gantry_executor_run_literals (executor, c.inputs, c.n_inputs, single, c.n_outputs, NULL, NULL, &error);
          g_assert_no_error (error);
          for (guint i = 0; i < c.n_inputs; i++)
            {
              gint alias = gantry_executor_alias (executor, i);

              if (alias < 0)
                continue;
              n_kept++;
              gantry_literal_unref (c.inputs[i]);
              c.inputs[i] = gantry_literal_ref (single[alias]);
            }
        }
      g_assert_cmpuint (n_kept, >, 0);
      for (guint i = 0; i < c.n_outputs; i++)
        g_assert_cmpmem (row[i]->data, row[i]->size, single[i]->data, single[i]->size);
      free_outputs (row, c.n_outputs);
      free_outputs (single, c.n_outputs);
      end_case (&c);
    }
}

/* A limit given to planner and device: one of them refuses, or the step runs within it. */
static gboolean
fits (const GantryExecutable *executable, guint64 limit)
{
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (1);
  g_autoptr (GantryExecutor) executor = NULL;
  g_autoptr (GError) error = NULL;
  guint64 most;

  gantry_device_set_limit (device, GANTRY_MEMORY_DEVICE, limit);
  executor = gantry_executor_new (device, (GantryExecutable *) executable, NULL, &error);
  gantry_device_get_memory (device, GANTRY_MEMORY_DEVICE, NULL, &most, NULL);
  g_assert_cmpuint (most, <=, limit);
  if (executor == NULL)
    g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
  return executor != NULL;
}

static void
test_limit (void)
{
  g_autoptr (GRand) rand = test_rand (13);
  guint fitted = 0;

  for (guint round = 0; round < 4; round++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryPlacements) placements = NULL;
      g_autoptr (GantryExecutable) kept = NULL;
      g_autoptr (GPtrArray) want = NULL;
      g_autoptr (GError) error = NULL;
      Case c;

      begin_case (&c, context, rand, round);
      kept = build (&c, NULL, 0, &error);
      g_assert_no_error (error);
      want = run (&c, kept, 1, 0, NULL);
      placements = random_placements (&c, rand, 1);
      for (guint percent = 30; percent <= 100; percent += 10)
        {
          guint64 arena = kept->plan->arena_bytes[GANTRY_MEMORY_DEVICE];
          guint64 limit = gantry_plan_memory_bytes (kept->plan, GANTRY_MEMORY_DEVICE) - arena + arena * percent / 100;
          g_autoptr (GError) refused = NULL;
          g_autoptr (GantryExecutable) executable = build (&c, placements, limit, &refused);
          g_autoptr (GPtrArray) got = NULL;

          if (executable == NULL)
            {
              g_assert_error (refused, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
              continue;
            }
          if (!fits (executable, limit))
            continue;
          fitted++;
          got = run (&c, executable, 2, VERIFY_ALL, NULL);
          expect_equal (&c, got, want);
        }
      end_case (&c);
    }
  g_assert_cmpuint (fitted, >, 4);
}

/* All residuals that can be are stored as @kind says. */
static GantryPlacements *
fewer_bits (const Case *c, GantryPlacementKind kind)
{
  GantryPlacements *placements = gantry_placements_new ();
  g_autoptr (GantryPlanner) planner = gantry_planner_new (c->module, NULL, NULL, NULL);
  guint n;
  const GantryCandidate *candidates = gantry_planner_candidates (planner, &n);

  for (guint i = 0; i < n; i++)
    {
      GantryPlacement placement = { candidates[i].node, (guint8) kind, GANTRY_DECIDED_BY_CLICK, GANTRY_MEMORY_DEVICE, candidates[i].subject };

      if (candidates[i].allowed >> kind & 1)
        gantry_placements_set (placements, &placement);
    }
  return placements;
}

/* |a - b| / |b| over all results together. */
static double
relative_difference (const Case *c, const GPtrArray *a, const GPtrArray *b)
{
  double difference = 0, size = 0;

  for (guint i = 0; i < c->n_outputs; i++)
    {
      const GantryLiteral *x = g_ptr_array_index (a, i), *y = g_ptr_array_index (b, i);

      for (gint64 k = 0; k < gantry_type_elements (x->type); k++)
        {
          double v = gantry_literal_get_double (x, k), w = gantry_literal_get_double (y, k);

          difference += (v - w) * (v - w);
          size += w * w;
        }
    }
  return sqrt (difference / size);
}

/* Residuals in fewer bits: of u that rounding takes of y, the derivative of tanh, 1 - y^2, loses 2 u, that of the square u, and the product
 * with x another u; where tanh is half saturated twice as much of what is left. So n layers lose less than 8 n u together. Places and
 * waits are right; library, own code and the schedules for a GPU agree. */
static void
test_approximate (void)
{
  static const struct
  {
    GantryPlacementKind kind;
    double rounding;
  } formats[] = { { GANTRY_PLACEMENT_BF16, 0x1p-8 }, { GANTRY_PLACEMENT_INT8, 1 / 127.0 } };
  g_autoptr (GRand) rand = test_rand (14);

  for (guint round = 0; round < 2; round++)
    for (guint f = 0; f < G_N_ELEMENTS (formats); f++)
      {
        const guint n_layers = 2 + 4 * round % 5;
        g_autoptr (GantryContext) context = gantry_context_new ();
        g_autoptr (GantryExecutable) kept = NULL;
        g_autoptr (GPtrArray) exact = NULL, first = NULL;
        g_autoptr (GantryPlacements) placements = NULL;
        g_autoptr (GError) error = NULL;
        Case c;

        begin_case (&c, context, rand, 4 * round); /* gradients alone */
        kept = build (&c, NULL, 0, &error);
        g_assert_no_error (error);
        exact = run (&c, kept, 1, 0, NULL);
        placements = fewer_bits (&c, formats[f].kind);
        g_assert_cmpuint (placements->entries->len, >, 0);
        for (guint how = 0; how < 3; how++)
          {
            g_autoptr (GantryExecutable) executable = NULL;
            g_autoptr (GPtrArray) got = NULL;
            g_autofree char *told = NULL;
            double lost;

            c.options.use_library = how == 0;
            c.options.target = how == 2 ? GANTRY_CODE_GRID_ON_CPU : GANTRY_CODE_CPU;
            executable = build (&c, placements, 0, &error);
            g_assert_no_error (error);
            told = gantry_plan_approximate_text (executable->plan);
            g_assert_true (g_str_has_prefix (told, "approximate: "));
            got = run (&c, executable, 2, VERIFY_ALL, NULL);
            lost = relative_difference (&c, got, exact);
            g_test_message ("%s, %u layers: %g", gantry_placement_kind_name (formats[f].kind), n_layers, lost);
            g_assert_cmpfloat (lost, >, 0);
            g_assert_cmpfloat (lost, <, 8 * n_layers * formats[f].rounding);
            if (first == NULL)
              first = g_ptr_array_ref (got);
            g_assert_cmpfloat (relative_difference (&c, got, first), <, formats[f].rounding / 16);
          }
        end_case (&c);
      }
}

/* The gradient of a maximum goes to whoever equals it, where all is stored in fewer bits that can be: h1, not h2 nor the maximum. */
static void
test_approximate_maximum (void)
{
  static const char text[] = "module \"m\" { func @main #1 (%1 \"x\": f32[8,40], %2 \"w\": f32[40,40] {role = \"parameter\"}, %3 \"u\": f32[40,40] "
                             "{role = \"parameter\"}) -> (%9) {"
                             "%10 = constant() {value = splat<f32[8,40]: 0.05>}: f32[8,40] %11 = multiply(%1, %10): f32[8,40]"
                             "%4 = dot_general(%11, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[8,40]"
                             "%5 \"h1\" = tanh(%4): f32[8,40]"
                             "%12 = multiply(%5, %10): f32[8,40]"
                             "%6 = dot_general(%12, %3) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[8,40]"
                             "%7 \"h2\" = tanh(%6): f32[8,40] %8 = reduce(%7) {kind = \"max\", dimensions = [1]}: f32[8] %9 = multiply(%8, %8): f32[8] } }";

  for (GantryPlacementKind kind = GANTRY_PLACEMENT_BF16; kind <= GANTRY_PLACEMENT_INT8; kind++)
    {
      g_autoptr (GRand) rand = test_rand (15);
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryExecutable) kept = NULL, executable = NULL;
      g_autoptr (GPtrArray) exact = NULL, got = NULL;
      g_autoptr (GantryPlacements) placements = NULL;
      g_autoptr (GError) error = NULL;
      Case c;

      begin_case_of (&c, train (context, text, GANTRY_OPTIMIZER_NONE), rand);
      kept = build (&c, NULL, 0, &error);
      g_assert_no_error (error);
      exact = run (&c, kept, 1, 0, NULL);
      placements = fewer_bits (&c, kind);
      g_assert_cmpuint (placements->entries->len, >, 0);
      executable = build (&c, placements, 0, &error);
      g_assert_no_error (error);
      got = run (&c, executable, 1, VERIFY_ALL, NULL);
      g_test_message ("%s: %g", gantry_placement_kind_name (kind), relative_difference (&c, got, exact));
      g_assert_cmpfloat (relative_difference (&c, got, exact), <, 0.05);
      end_case (&c);
    }
}

/* Products h of "w", 64 x 64 of 0.001, and of "x", of which a loss is made. */
#define LOSS_OF_PRODUCTS(results) \
  "module \"m\" { func @main #1 (%2 \"w\": f32[64,64] {role = \"parameter\"}, %3 \"x\": f32[64,64]) -> (%11) {" \
  "%8 \"h\" = dot_general(%2, %3) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[64,64]" \
  "%20 = constant() {value = splat<f32[64,64]: 0>}: f32[64,64] %21 = constant() {value = splat<f32[64,64]: 1>}: f32[64,64]" \
  "%22 = constant() {value = splat<i32[64,64]: 3>}: i32[64,64]" results "%11 = reduce(%10) {dimensions = [0, 1], kind = \"add\"}: f32[] } }"

/* h is @h, but for one column of 64 where it is @other. */
static void
set_products (Case *c, double h, double other)
{
  const GantryFunction *entry = gantry_module_entry (c->module);

  for (guint i = 0; i < c->n_inputs; i++)
    {
      const GantryNode *node = &c->module->nodes[entry->first_node + i];
      gboolean is_w = strcmp (gantry_context_string (c->module->context, node->name), "w") == 0;
      float *data = (float *) (gpointer) c->inputs[i]->data;

      for (gsize k = 0; k < c->inputs[i]->size / sizeof (float) && gantry_node_type (c->module, node)->rank == 2; k++)
        data[k] = is_w ? 0.001f : (float) ((k % 64 == 0 ? other : h) / 0.064);
    }
}

/* "h" is stored as @kind says if it can, and all that can be is made again from it. */
static GantryPlacements *
fewer_bits_of_products (const Case *c, GantryPlacementKind kind)
{
  GantryPlacements *placements = gantry_placements_new ();
  g_autoptr (GantryPlanner) planner = gantry_planner_new (c->module, NULL, NULL, NULL);
  guint n;
  const GantryCandidate *candidates = gantry_planner_candidates (planner, &n);

  for (guint i = 0; i < n; i++)
    {
      const char *name = gantry_context_string (c->module->context, gantry_module_node (c->module, candidates[i].node)->name);
      GantryPlacement placement = { candidates[i].node, (guint8) (strcmp (name, "h") == 0 ? kind : GANTRY_PLACEMENT_RECOMPUTE), GANTRY_DECIDED_BY_CLICK,
                                    GANTRY_MEMORY_DEVICE, candidates[i].subject };

      if (candidates[i].subject == GANTRY_SUBJECT_RESIDUAL && candidates[i].allowed >> placement.kind & 1)
        gantry_placements_set (placements, &placement);
    }
  return placements;
}

/* Where rounding would change which branch a gradient takes, or what it divides by: hinges, whole numbers, logarithms, relus. */
static void
test_approximate_branches (void)
{
  static const struct
  {
    const char *text;
    double h, other;
  } cases[] = {
    { LOSS_OF_PRODUCTS ("%9 = subtract(%21, %8): f32[64,64] %12 = maximum(%9, %20): f32[64,64] %10 = multiply(%12, %8): f32[64,64]"), 0.999, 0.999 },
    { LOSS_OF_PRODUCTS ("%9 = convert(%8) {to = type i32[]}: i32[64,64] %12 = compare(%9, %22) {comparison_direction = \"EQ\"}: bool[64,64]"
                        "%13 = select(%12, %8, %20): f32[64,64] %10 = multiply(%13, %8): f32[64,64]"),
      3.999, 3.999 },
    { LOSS_OF_PRODUCTS ("%10 = log(%8): f32[64,64]"), 1e-3, 1000 },
    { LOSS_OF_PRODUCTS ("%12 = maximum(%8, %20): f32[64,64] %10 = sine(%12): f32[64,64]"), 1e-3, 2 },
  };
  const GantryPlacementKind kinds[] = { GANTRY_PLACEMENT_BF16, GANTRY_PLACEMENT_INT8 };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (cases) * G_N_ELEMENTS (kinds); i++)
    {
      g_autoptr (GRand) rand = test_rand (16);
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryExecutable) kept = NULL, executable = NULL;
      g_autoptr (GPtrArray) exact = NULL, got = NULL;
      g_autoptr (GantryPlacements) placements = NULL;
      g_autoptr (GError) error = NULL;
      Case c;
      double lost;

      begin_case_of (&c, train (context, cases[i / 4].text, GANTRY_OPTIMIZER_NONE), rand);
      set_products (&c, cases[i / 4].h, cases[i / 4].other);
      kept = build (&c, NULL, 0, &error);
      g_assert_no_error (error);
      exact = run (&c, kept, 1, 0, NULL);
      placements = i / 2 % 2 == 0 ? fewer_bits (&c, kinds[i % 2]) : fewer_bits_of_products (&c, kinds[i % 2]);
      executable = build (&c, placements, 0, &error);
      g_assert_no_error (error);
      got = run (&c, executable, 1, VERIFY_ALL, NULL);
      lost = relative_difference (&c, got, exact);
      g_test_message ("%u, %s, %u placed%s: %g", i / 4, gantry_placement_kind_name (kinds[i % 2]), placements->entries->len,
                      i / 2 % 2 == 0 ? "" : ", all from h", lost);
      g_assert_true (lost < 0.02); /* not NaN */
      end_case (&c);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/placements/approximate", test_approximate);
  g_test_add_func ("/kernels/placements/approximate-maximum", test_approximate_maximum);
  g_test_add_func ("/kernels/placements/approximate-branches", test_approximate_branches);
  g_test_add_func ("/kernels/placements/random", test_random);
  g_test_add_func ("/kernels/placements/steps", test_steps);
  g_test_add_func ("/kernels/placements/limit", test_limit);
  return g_test_run ();
}
