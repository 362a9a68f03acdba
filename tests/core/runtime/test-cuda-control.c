/* SPDX-License-Identifier: Apache-2.0 */
/* Branches, loops, scans and calls on the CUDA device over the stand-in: what the processor gives, with times and without, also where
 * runs become graphs; and each call of the driver that fails, those of host calls too, ends the run with an error, or leaves its
 * results as they are, and leaves nothing behind. */
#include "core/base/error.h"
#include "core/graph/graph.h"
#include "core/kernels/kernels.h"
#include "core/planner/memory-plan.h"
#include "core/planner/planner.h"
#include "core/runtime/runtime.h"
#include "tests/core/kernels/control-programs.h"
#include "tests/core/runtime/stand-in.h"
#include <string.h>

static StandIn stand_in;

/* @kind: of every residual that may have it */
static GantryExecutable *
build_placed (const char *text, GantryPlacementKind kind)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, text, -1, "test.gir", &error);
  g_autoptr (GantryKernelSizes) sizes = NULL;
  g_autoptr (GantryPlacements) placements = gantry_placements_new ();
  g_autoptr (GantryPlanner) planner = NULL;
  g_autoptr (GantryPlan) plan = NULL;
  const GantryCandidate *candidates;
  GantryKernelSet *kernels;
  GantryExecutable *executable;
  guint n;

  g_assert_no_error (error);
  options.use_library = FALSE;
  options.host_calls = TRUE;
  kernels = gantry_kernels_compile (module, &options, NULL, &error);
  g_assert_no_error (error);
  sizes = gantry_kernel_set_sizes (kernels, module);
  planner = gantry_planner_new (module, &(GantryPlanOptions){ .sizes = sizes, .flags = GANTRY_PLAN_RESIDENT }, NULL, &error);
  g_assert_no_error (error);
  candidates = gantry_planner_candidates (planner, &n);
  for (guint i = 0; i < n; i++)
    if (candidates[i].subject == GANTRY_SUBJECT_RESIDUAL && (candidates[i].allowed & 1u << kind) != 0)
      gantry_placements_set (placements,
                             &(GantryPlacement){ candidates[i].node, (guint8) kind, GANTRY_DECIDED_BY_RULE, GANTRY_MEMORY_PINNED_HOST, candidates[i].subject });
  plan = gantry_planner_plan (planner, placements, NULL, &error);
  g_assert_no_error (error);
  executable = gantry_executable_new (module, plan, kernels, &error);
  g_assert_no_error (error);
  return executable;
}

static GantryExecutable *
build (const char *text)
{
  return build_placed (text, GANTRY_PLACEMENT_KEEP);
}

/* All results, one after the other; NULL with @error. (transfer full) */
static GByteArray *
run (GantryExecutor *executor, GantryExecutable *executable, gint number, gboolean timed, GCancellable *cancellable, GError **error)
{
  g_autoptr (GPtrArray) memory = g_ptr_array_new_with_free_func (g_free);
  g_autofree GantryRunInput *inputs = g_new0 (GantryRunInput, executable->n_inputs + 1);
  g_autofree GantryRunOutput *outputs = g_new0 (GantryRunOutput, executable->n_outputs + 1);
  GantryObserver observer = { 0 };
  GByteArray *all = g_byte_array_new ();

  for (guint32 i = 0; i < executable->n_inputs; i++)
    {
      gsize n = executable->plan->buffers[executable->inputs[i]].size / 4;
      float *data = g_new (float, n);

      for (gsize k = 0; k < n; k++)
        data[k] = (float) ((k * 37 + 11 * i) % 64) / 64;
      if (n == 1)
        memcpy (data, &number, sizeof number);
      g_ptr_array_add (memory, data);
      inputs[i] = (GantryRunInput){ data, 4 * n };
    }
  for (guint32 i = 0; i < executable->n_outputs; i++)
    {
      outputs[i].size = executable->plan->buffers[executable->outputs[i]].size;
      outputs[i].data = g_malloc0 (outputs[i].size);
      g_ptr_array_add (memory, outputs[i].data);
    }
  if (!gantry_executor_run (executor, inputs, executable->n_inputs, outputs, executable->n_outputs, timed ? &observer : NULL, cancellable, error))
    {
      g_byte_array_unref (all);
      return NULL;
    }
  for (guint32 i = 0; i < executable->n_outputs; i++)
    g_byte_array_append (all, outputs[i].data, (guint) outputs[i].size);
  return all;
}

static GByteArray *
run_on_processor (const char *text, gint number)
{
  g_autoptr (GantryExecutable) executable = build (text);
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (1);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryExecutor) executor = gantry_executor_new (device, executable, NULL, &error);
  GByteArray *all;

  g_assert_no_error (error);
  all = run (executor, executable, number, FALSE, NULL, &error);
  g_assert_no_error (error);
  return all;
}

static void
test_same (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (control_programs); i++)
    for (gint number = 0; number < 6; number++)
      {
        g_autoptr (GByteArray) want = run_on_processor (control_programs[i], number);
        g_autoptr (GantryExecutable) executable = build (control_programs[i]);
        g_autoptr (GError) error = NULL;
        GantryDevice *device;
        GantryExecutor *executor;

        stand_in.configure ("jitter=1");
        stand_in_convert (executable);
        device = gantry_cuda_device_new (0, &error);
        g_assert_no_error (error);
        gantry_cuda_device_set_graphs (device, number % 2 == 0);
        executor = gantry_executor_new (device, executable, NULL, &error);
        g_assert_no_error (error);
        for (guint round = 0; round < 4; round++)
          {
            g_autoptr (GByteArray) got = run (executor, executable, number, round == 3, NULL, &error);

            g_assert_no_error (error);
            g_assert_cmpmem (got->data, got->len, want->data, want->len);
          }
        gantry_executor_free (executor);
        gantry_device_unref (device);
        g_assert_cmpuint (stand_in.alive (), ==, 0);
      }
}

/* A stack that is in the host alone, and what two loops copy of it slice by slice. */
static void
test_stacks (void)
{
  g_autoptr (GByteArray) want = run_on_processor (STACKING, 0);
  g_autoptr (GantryExecutable) executable = build_placed (STACKING, GANTRY_PLACEMENT_OFFLOAD);
  GantryDevice *device;
  GantryExecutor *executor;

  g_assert_cmpuint (executable->plan->arena_bytes[GANTRY_MEMORY_PINNED_HOST], ==, 5 * 16 * sizeof (float));
  g_assert_cmpuint (executable->plan->copied_bytes, ==, 2 * 5 * 16 * sizeof (float));
  stand_in.configure ("jitter=1");
  stand_in_convert (executable);
  device = stand_in_device ();
  executor = stand_in_executor (device, executable);
  for (guint round = 0; round < 3; round++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GByteArray) got = run (executor, executable, 0, round == 2, NULL, &error);

      g_assert_no_error (error);
      g_assert_cmpmem (got->data, got->len, want->data, want->len);
    }
  gantry_executor_free (executor);
  stand_in_end_device (&stand_in, device);
}

/* What a host call gives: 1 more than it is given. */
static gboolean
answer (gpointer self, const GantryModule *module, const GantryNode *node, const char *target, const GantryHostTensor *operands, guint n_operands,
        const GantryHostTensor *results, guint n_results, GError **error)
{
  for (gsize i = 0; i < operands[0].size / sizeof (float); i++)
    ((float *) results[0].data)[i] = ((const float *) operands[0].data)[i] + 1;
  return TRUE;
}

/* From loading to the results of the last run; the second becomes a graph.
 * Returns: (nullable): NULL where it failed */
static GByteArray *
go (GantryExecutable *executable, guint rounds)
{
  g_autoptr (GError) error = NULL;
  guint before = stand_in.alive ();
  GantryDevice *device = gantry_cuda_device_new (0, &error);
  GantryExecutor *executor = device != NULL ? gantry_executor_new (device, executable, NULL, &error) : NULL;
  GByteArray *got = NULL;

  if (executor != NULL)
    gantry_executor_set_host_call (executor, answer, NULL);
  for (guint round = 0; executor != NULL && round < rounds && error == NULL; round++)
    {
      g_clear_pointer (&got, g_byte_array_unref);
      got = run (executor, executable, 3, FALSE, NULL, &error);
    }
  g_assert_true ((got != NULL) == (error == NULL));
  gantry_executor_free (executor);
  if (device != NULL)
    gantry_device_unref (device);
  /* What failed may have been the freeing of one thing. */
  g_assert_cmpuint (stand_in.alive (), <=, before + 1);
  return got;
}

/* Each call in turn fails: @how is "lose", after which nothing works any more, or "fail", after which the device goes on with what
 * it was handed. Where the run goes on it gives what it would have given. */
static void
fail_each_call (const char *text, const char *how)
{
  g_autoptr (GantryExecutable) executable = build (text);
  g_autoptr (GByteArray) want = NULL;
  guint failed = 0, calls, rounds = strcmp (how, "lose") == 0 ? 1 : 2;

  stand_in_convert (executable);
  stand_in.configure (NULL);
  want = go (executable, rounds);
  g_assert_nonnull (want);
  calls = stand_in.calls (NULL);
  g_assert_cmpuint (calls, >, 50);
  g_test_message ("%u calls", calls);
  for (guint n = 1; n <= calls; n++)
    {
      g_autofree char *fault = g_strdup_printf ("%s=*:%u:719", how, n);
      g_autoptr (GByteArray) got = NULL;

      stand_in.configure (fault);
      got = go (executable, rounds);
      failed += got == NULL;
      if (got != NULL)
        g_assert_cmpmem (got->data, got->len, want->data, want->len);
    }
  /* What only asks or frees may fail without harm. */
  g_assert_cmpuint (failed, >, calls / 3);
}

static void
test_failures (gconstpointer how)
{
  fail_each_call (SWAPS, how);
  fail_each_call (SCAN ("3", "1"), how);
  fail_each_call (NESTED_CALLS, how);
  fail_each_call (HOST_CALLS ("last"), how);
}

/* Cancelled in a trip, it makes no further one. */
static void
test_cancel (void)
{
  static const char *const texts[] = { ENDLESS, ENDLESS_WITHIN };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GantryExecutable) executable = build (texts[i]);
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      ControlClock clock = { cancellable };
      g_autoptr (GError) error = NULL;
      GantryDevice *device;
      GantryExecutor *executor;

      stand_in.configure ("jitter=1");
      stand_in_convert (executable);
      device = stand_in_device ();
      executor = stand_in_executor (device, executable);
      gantry_executor_set_host_call (executor, control_clock_tick, &clock);
      g_assert_null (run (executor, executable, 0, FALSE, cancellable, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_cmpuint (clock.asked, ==, ENDLESS_TRIPS);
      gantry_executor_free (executor);
      stand_in_end_device (&stand_in, device);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  stand_in = stand_in_load ();
  g_test_add_func ("/runtime/cuda-control/same", test_same);
  g_test_add_func ("/runtime/cuda-control/stacks", test_stacks);
  g_test_add_func ("/runtime/cuda-control/cancel", test_cancel);
  g_test_add_data_func ("/runtime/cuda-control/lost", "lose", test_failures);
  g_test_add_data_func ("/runtime/cuda-control/failures", "fail", test_failures);
  return g_test_run ();
}
