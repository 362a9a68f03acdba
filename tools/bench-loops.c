/* SPDX-License-Identifier: Apache-2.0 */
/* What loops cost that are not written out: how long a training step of a recurrent network of many steps takes from its text to a
 * program that runs, and how long decoding with a stop that data decides takes, beside the same steps written out. Prints lines for
 * tools/bench. Usage: bench-loops [--steps N] [--width D] [--runs N] [--threads N] */
#include "core/build/build.h"
#include "core/graph/graph.h"
#include "core/runtime/cpu/cpu.h"
#include "core/runtime/runtime.h"
#include "tests/core/build/loop-programs.h"
#include "tools/bench-figure.h"
#include "tools/bench-main.h"

static int n_steps = 10000, width = 256, n_runs = 15, n_threads = 1;

static GOptionEntry entries[] = {
  { "steps", 0, 0, G_OPTION_ARG_INT, &n_steps, "Steps of the recurrent network (10000)", "N" },
  { "width", 0, 0, G_OPTION_ARG_INT, &width, "Width of the decoder, whose vocabulary is four times that (256)", "D" },
  { "runs", 0, 0, G_OPTION_ARG_INT, &n_runs, "Measured runs of each (15)", "N" },
  { "threads", 0, 0, G_OPTION_ARG_INT, &n_threads, "Threads of the compute queue (1; 0: all processors)", "N" },
  G_OPTION_ENTRY_NULL
};

static const BenchLimit limits[] = { { "threads", &n_threads, 0, 1024 },
                                     { "steps", &n_steps, 1, 1 << 20 },
                                     { "width", &width, 8, 8192 },
                                     { "runs", &n_runs, 1, 1000 },
                                     { NULL } };

typedef struct
{
  GantryProgram *program;
  GantryDevice *device;
  GantryExecutor *executor;
  GPtrArray *arguments;
  double build_ms;
} Loop;

static void
loop_free (Loop *loop)
{
  if (loop == NULL)
    return;
  gantry_executor_free (loop->executor);
  g_clear_pointer (&loop->device, gantry_device_unref);
  g_clear_pointer (&loop->program, gantry_program_free);
  g_clear_pointer (&loop->arguments, g_ptr_array_unref);
  g_free (loop);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Loop, loop_free)

static GPtrArray *
make_arguments (const GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);
  GPtrArray *arguments = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);

  for (guint i = 0; i < entry->n_params; i++)
    {
      const GantryType *type = gantry_node_type (module, &module->nodes[entry->first_node + i]);
      guint8 *data;
      GantryLiteral *literal = gantry_literal_new_zeroed (type, &data);

      for (gint64 k = 0; type->element == GANTRY_F32 && k < gantry_type_elements (type); k++)
        ((float *) (gpointer) data)[k] = (float) ((k * 37 + 11 * i + k * k % 29) % 64 - 32) / 512;
      g_ptr_array_add (arguments, literal);
    }
  return arguments;
}

static gboolean
compile (Loop *loop, GantryModel *model, GantryCompileSettings *settings, GError **error)
{
  const GantryBuildOptions options = { .threads = (guint) n_threads };
  g_autoptr (GantryCompilation) compilation = gantry_compile (model, settings, NULL, error);

  loop->program = compilation != NULL ? gantry_build (compilation, settings, &options, NULL, error) : NULL;
  return loop->program != NULL;
}

/* @text: taken. Kernels are made anew each time, for no cache is named. Returns: (transfer full) (nullable) */
static Loop *
build (char *text, gboolean train, GError **error)
{
  g_autofree char *owned = text;
  g_autoptr (Loop) loop = g_new0 (Loop, 1);
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_auto (GantryCompileSettings) settings;
  gint64 begin = g_get_monotonic_time ();
  g_autoptr (GantryModule) module = gantry_module_from_text (context, text, -1, "loop", error);
  g_autoptr (GantryModel) model = NULL;

  gantry_compile_settings_init (&settings);
  settings.train = train;
  settings.training.loss = GANTRY_LOSS_OUTPUT;
  settings.training.optimizer = GANTRY_OPTIMIZER_ADAM;
  if (module == NULL)
    return NULL;
  model = gantry_model_new (module, "loop");
  if (!compile (loop, model, &settings, error))
    return NULL;
  loop->build_ms = (double) (g_get_monotonic_time () - begin) / 1e3;
  loop->device = gantry_cpu_device_new ((guint) n_threads);
  loop->executor = gantry_executor_new (loop->device, loop->program->executable, NULL, error);
  if (loop->executor == NULL)
    return NULL;
  loop->arguments = make_arguments (loop->program->executable->module);
  return g_steal_pointer (&loop);
}

/* Returns: milliseconds, negative with @error */
static double
run (const Loop *loop, GError **error)
{
  g_autoptr (GPtrArray) results = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
  gint64 begin;

  g_ptr_array_set_size (results, (gint) loop->program->executable->n_outputs);
  begin = g_get_monotonic_time ();
  if (!gantry_executor_run_literals (loop->executor, (GantryLiteral *const *) loop->arguments->pdata, loop->arguments->len,
                                     (GantryLiteral **) results->pdata, results->len, NULL, NULL, error))
    {
      g_ptr_array_set_free_func (results, NULL);
      return -1;
    }
  return (double) (g_get_monotonic_time () - begin) / 1e3;
}

static gboolean
bench_recurrent (GError **error)
{
  g_autofree double *builds = g_new (double, 5), *steps = g_new (double, n_runs);
  g_autofree char *built = g_strdup_printf ("recurrent-%d-from-text-to-program", n_steps),
                  *ran = g_strdup_printf ("recurrent-%d-training-step", n_steps);
  g_autoptr (Loop) loop = NULL;

  for (guint i = 0; i < 5; i++)
    {
      g_clear_pointer (&loop, loop_free);
      loop = build (gru_program (n_steps, 4, 32), TRUE, error);
      if (loop == NULL)
        return FALSE;
      builds[i] = loop->build_ms;
    }
  for (int i = -1; i < n_runs; i++)
    if ((steps[MAX (i, 0)] = run (loop, error)) < 0)
      return FALSE;
  bench_print_figure (built, builds, 5, "ms", "not measured");
  bench_print_figure (ran, steps, (guint) n_runs, "ms", "not measured");
  return TRUE;
}

/* In turn, so that both see the same machine. */
static gboolean
bench_decoding (GError **error)
{
  g_autoptr (Loop) loop = build (decode_program (width, 4 * width, -1, TRUE), FALSE, error);
  g_autoptr (Loop) written = loop != NULL ? build (decode_program (width, 4 * width, -1, FALSE), FALSE, error) : NULL;
  g_autofree double *looped = g_new (double, n_runs), *straight = g_new (double, n_runs), *ratios = g_new (double, n_runs);

  if (written == NULL)
    return FALSE;
  for (int i = -1; i < n_runs; i++)
    {
      guint at = (guint) MAX (i, 0);

      if ((looped[at] = run (loop, error)) < 0 || (straight[at] = run (written, error)) < 0)
        return FALSE;
      ratios[at] = looped[at] / straight[at];
    }
  bench_print_figure ("decode-200-stopped-by-data", looped, (guint) n_runs, "ms", "not measured");
  bench_print_figure ("decode-200-written-out", straight, (guint) n_runs, "ms", "not measured");
  bench_print_figure ("decode-200-ratio", ratios, (guint) n_runs, "x", "not measured");
  return TRUE;
}

static gboolean
bench (GError **error)
{
  return bench_recurrent (error) && bench_decoding (error);
}

int
main (int argc, char **argv)
{
  return bench_main (argc, argv, "bench-loops", entries, limits, bench);
}
