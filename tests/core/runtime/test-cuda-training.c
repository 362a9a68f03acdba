/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled training steps on the CUDA device over the stand-in: kept, recomputed and offloaded, step after step on the device,
 * with times and without, as graphs: bit for bit what the CPU device gives. */
#include "core/base/random.h"
#include "tests/app/cli/form-run.h"
#include "tests/app/cli/forms.h"
#include "tests/core/runtime/stand-in.h"

static StandIn stand_in;

static const char *const policies[] = {
  "* keep",    "policy nothing_saveable", "policy offload_dot_with_no_batch_dims('device', 'pinned_host')", "role:parameter offload", "role:state offload",
  "* offload",
};

static double
value_of (const char *name, guint index, gpointer data)
{
  return gantry_random_at (gantry_random_start (name, 5), index) - 0.5;
}

typedef struct
{
  guint copies, launches, waits;
  gint64 last[GANTRY_N_QUEUES];
  const GantryExecutable *executable;
} Heard;

static void
hear (gpointer self, guint32 i, gint64 begin, gint64 end)
{
  Heard *heard = self;
  const GantryInstruction *instruction = &heard->executable->instructions[i];

  g_assert_cmpint (begin, >=, heard->last[instruction->queue]);
  g_assert_cmpint (end, >=, begin);
  heard->last[instruction->queue] = end;
  heard->copies += instruction->kind == GANTRY_INSTRUCTION_COPY;
  heard->launches += instruction->kind == GANTRY_INSTRUCTION_LAUNCH;
}

static void
hear_wait (gpointer self, guint32 i, gint64 begin, gint64 end)
{
  ((Heard *) self)->waits++;
}

enum
{
  PLAINLY,
  TIMED,
  AS_GRAPH,
  WATCHED,
  N_WAYS
};

static GPtrArray *
run_away (const FormStep *step, GantryExecutable *executable, guint way, guint n_runs, guint *copies)
{
  g_autoptr (GError) error = NULL;
  GantryDevice *device = gantry_cuda_device_new (0, &error);
  GPtrArray *outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
  g_autofree GantryLiteral **in = g_memdup2 (step->inputs, sizeof (GantryLiteral *) * (step->n_inputs + 1));
  GantryExecutor *executor;

  g_assert_no_error (error);
  gantry_cuda_device_set_graphs (device, way == AS_GRAPH);
  executor = gantry_executor_new (device, executable, NULL, &error);
  g_assert_no_error (error);
  if (way == WATCHED)
    gantry_executor_set_verify (executor, GANTRY_VERIFY_PLACES | GANTRY_VERIFY_POISON | GANTRY_VERIFY_WRITES);
  g_ptr_array_set_size (outputs, (gint) step->n_outputs);
  for (guint run = 0; run < n_runs; run++)
    {
      Heard heard = { .executable = executable };
      GantryObserver observer = { .instruction = hear, .wait = hear_wait, .self = &heard };

      for (guint i = 0; i < step->n_outputs; i++)
        g_clear_pointer ((GantryLiteral **) &outputs->pdata[i], gantry_literal_unref);
      gantry_executor_run_literals (executor, in, step->n_inputs, (GantryLiteral **) outputs->pdata, step->n_outputs, way == TIMED ? &observer : NULL, NULL,
                                    &error);
      g_assert_no_error (error);
      memset (in, 0, sizeof (GantryLiteral *) * step->n_inputs); /* the next goes on with what is there */
      if (way == TIMED)
        g_assert_cmpuint (heard.launches, >, 0);
      *copies += heard.copies;
    }
  gantry_executor_free (executor);
  gantry_device_unref (device);
  g_assert_cmpuint (stand_in.alive (), ==, 0);
  return outputs;
}

static void
test_steps (gconstpointer data)
{
  FormShape shape = (FormShape) GPOINTER_TO_INT (data);
  g_autofree char *text = form_text (shape, FORM_PLAIN, "f32");
  g_autoptr (FormStep) step = form_step_new (text, GANTRY_OPTIMIZER_ADAM, NULL, value_of, NULL);
  const guint n_runs = 4;
  guint copied = 0, calls;

  for (guint i = 0; i < G_N_ELEMENTS (policies); i++)
    {
      g_autoptr (GPtrArray) want = form_step_run_policy (step, policies[i], n_runs);
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryPlan) plan = form_step_plan (step, policies[i], 0, NULL, &error);
      g_autoptr (GantryExecutable) executable = NULL;

      g_assert_no_error (error);
      executable = form_step_executable (step, plan);
      stand_in_convert (executable);
      for (guint way = 0; way < N_WAYS; way++)
        {
          g_autoptr (GPtrArray) got = NULL;
          guint copies = 0;

          stand_in.configure ("jitter=1");
          got = run_away (step, executable, way, n_runs, &copies);
          form_assert_same (got, want, policies[i]);
          calls = stand_in.calls ("cuGraphLaunch");
          /* Where nothing is brought over between two steps all but the first are one graph. */
          g_assert_true (way == AS_GRAPH ? calls >= n_runs - 1 : calls == 0);
          copied += copies;
        }
    }
  g_assert_cmpuint (copied, >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  stand_in = stand_in_load ();
  g_test_add_data_func ("/runtime/cuda-training/unrolled", GINT_TO_POINTER (FORM_UNROLLED), test_steps);
  g_test_add_data_func ("/runtime/cuda-training/scan", GINT_TO_POINTER (FORM_SCAN), test_steps);
  g_test_add_data_func ("/runtime/cuda-training/separate", GINT_TO_POINTER (FORM_SEPARATE), test_steps);
  return g_test_run ();
}
