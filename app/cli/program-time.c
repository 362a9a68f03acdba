/* SPDX-License-Identifier: Apache-2.0 */
/* How long steps take when nobody looks: nothing is recorded, results are not read, and a GPU replays a graph. */
#include "app/cli/program.h"

typedef struct
{
  const GantryProgress *progress;
  guint n_warmup, n_steps;
  GArray *times;
  gint64 start;
} Timing;

static gboolean
step_done (gpointer self, guint step, const GantryRunOutput *outputs)
{
  Timing *timing = self;
  double ms = (double) (gantry_time_ns () - timing->start) / 1e6;

  if (step >= timing->n_warmup)
    g_array_append_val (timing->times, ms);
  gantry_progress_report (timing->progress, (double) (step + 1) / (timing->n_warmup + timing->n_steps), "Running");
  timing->start = gantry_time_ns ();
  return TRUE;
}

GArray *
gantry_program_time (GantryProgram *program, const GantryProgramOptions *options, GantryValues *values, guint n_warmup,
                     guint n_steps, const GantryProgress *progress, GError **error)
{
  const GantryExecutable *executable = program->executable;
  GCancellable *cancellable = progress != NULL ? progress->cancellable : NULL;
  g_autoptr (GantryDevice) device = options->device != NULL ? gantry_device_ref (options->device)
                                                            : gantry_cpu_device_new (program->n_threads);
  g_autoptr (GantryExecutor) executor = NULL;
  g_autofree GantryRunOutput *out = g_new0 (GantryRunOutput, executable->n_outputs + 1);
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (double));
  Timing timing = { .progress = progress, .n_warmup = n_warmup, .n_steps = n_steps, .times = times };
  const GantryRunHooks hooks = { .done = step_done, .self = &timing };

  gantry_program_set_limits (options, device);
  if (gantry_device_is_cuda (device))
    gantry_cuda_device_set_graphs (device, TRUE);
  executor = gantry_executor_new (device, program->executable, cancellable, error);
  if (executor == NULL)
    return NULL;
  gantry_values_write (values);
  timing.start = gantry_time_ns ();
  if (!gantry_executor_run_steps (executor, n_warmup + n_steps, gantry_values_inputs (values), executable->n_inputs, out,
                                  executable->n_outputs, &hooks, NULL, cancellable, error))
    return NULL;
  return g_steal_pointer (&times);
}
