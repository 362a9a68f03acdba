/* SPDX-License-Identifier: Apache-2.0 */
/* How long steps take when nobody looks: nothing is recorded, results are not read, and a GPU replays a graph between two of its
 * events. */
#include "app/cli/program.h"

typedef struct
{
  const GantryProgress *progress;
  GantryDevice *device;
  guint n_warmup, n_steps;
  GArray *host, *events; /* by the host's clock, between events: milliseconds, 0 where they were not taken */
  gint64 start;
} Timing;

void
gantry_program_times_clear (GantryProgramTimes *times)
{
  g_clear_pointer (&times->milliseconds, g_array_unref);
  g_clear_pointer (&times->notes, g_strfreev);
}

static gboolean
step_done (gpointer self, guint step, const GantryRunOutput *outputs)
{
  Timing *timing = self;
  double ms = (double) (gantry_time_ns () - timing->start) / 1e6;
  double on_device = gantry_device_is_cuda (timing->device) ? (double) gantry_cuda_device_take_replay_ns (timing->device) / 1e6 : 0;

  if (step >= timing->n_warmup)
    {
      g_array_append_val (timing->host, ms);
      g_array_append_val (timing->events, on_device);
    }
  gantry_progress_report (timing->progress, (double) (step + 1) / (timing->n_warmup + timing->n_steps), "Running");
  timing->start = gantry_time_ns ();
  return TRUE;
}

/* One clock for all steps. */
static void
take (const Timing *timing, GantryProgramTimes *times)
{
  times->between_events = timing->events->len > 0;
  for (guint i = 0; i < timing->events->len; i++)
    times->between_events = times->between_events && g_array_index (timing->events, double, i) > 0;
  times->milliseconds = g_array_ref (times->between_events ? timing->events : timing->host);
  times->notes = gantry_device_is_cuda (timing->device) ? gantry_cuda_device_get_notes (timing->device) : g_new0 (char *, 1);
}

gboolean
gantry_program_time_inputs (GantryProgram *program, const GantryProgramOptions *options, const GantryRunInput *inputs, guint n_warmup, guint n_steps,
                            GantryProgramTimes *times, const GantryProgress *progress, GError **error)
{
  const GantryExecutable *executable = program->executable;
  GCancellable *cancellable = progress != NULL ? progress->cancellable : NULL;
  g_autoptr (GantryDevice) device = options->device != NULL ? gantry_device_ref (options->device) : gantry_cpu_device_new (program->n_threads);
  g_autoptr (GantryExecutor) executor = NULL;
  g_autofree GantryRunOutput *out = g_new0 (GantryRunOutput, executable->n_outputs + 1);
  g_autoptr (GArray) host = g_array_new (FALSE, FALSE, sizeof (double)), events = g_array_new (FALSE, FALSE, sizeof (double));
  Timing timing = { .progress = progress, .device = device, .n_warmup = n_warmup, .n_steps = n_steps, .host = host, .events = events };
  const GantryRunHooks hooks = { .done = step_done, .self = &timing };

  *times = (GantryProgramTimes){ 0 };
  gantry_program_set_limits (options, device);
  if (gantry_device_is_cuda (device))
    gantry_cuda_device_set_graphs (device, TRUE);
  executor = gantry_executor_new (device, program->executable, cancellable, error);
  if (executor == NULL)
    return FALSE;
  if (gantry_device_is_cuda (device))
    gantry_cuda_device_take_replay_ns (device);
  timing.start = gantry_time_ns ();
  if (!gantry_executor_run_steps (executor, n_warmup + n_steps, inputs, executable->n_inputs, out, executable->n_outputs, &hooks, NULL, cancellable, error))
    return FALSE;
  take (&timing, times);
  return TRUE;
}

gboolean
gantry_program_time (GantryProgram *program, const GantryProgramOptions *options, GantryValues *values, guint n_warmup, guint n_steps,
                     GantryProgramTimes *times, const GantryProgress *progress, GError **error)
{
  gantry_values_write (values);
  return gantry_program_time_inputs (program, options, gantry_values_inputs (values), n_warmup, n_steps, times, progress, error);
}
