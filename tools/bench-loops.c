/* SPDX-License-Identifier: Apache-2.0 */
/* What loops cost that are not written out: how long a training step of a recurrent network of many steps takes from its text to a
 * program that runs, how long decoding with a stop that data decides takes and how long training steps of layers, beside the same
 * written out, and how long it takes until a loop without an end has ended that was cancelled. Prints lines for tools/bench. Usage: bench-loops [--steps
 * N] [--width D] [--runs N] [--threads N] */
#include "core/build/build.h"
#include "core/graph/graph.h"
#include "core/runtime/cpu/cpu.h"
#include "core/runtime/runtime.h"
#include "tests/core/build/loop-programs.h"
#include "tools/bench-figure.h"
#include "tools/bench-main.h"

static int n_steps = 10000, width = 256, n_runs = 15, n_threads = 1;

static GOptionEntry entries[] = { { "steps", 0, 0, G_OPTION_ARG_INT, &n_steps, "Steps of the recurrent network (10000)", "N" },
                                  { "width", 0, 0, G_OPTION_ARG_INT, &width, "Width of the decoder, whose vocabulary is four times that (256)", "D" },
                                  { "runs", 0, 0, G_OPTION_ARG_INT, &n_runs, "Measured runs of each (15)", "N" },
                                  { "threads", 0, 0, G_OPTION_ARG_INT, &n_threads, "Threads of the compute queue (1; 0: all processors)", "N" },
                                  G_OPTION_ENTRY_NULL };

static const BenchLimit limits[] = {
  { "threads", &n_threads, 0, 1024 }, { "steps", &n_steps, 1, 1 << 20 }, { "width", &width, 8, 8192 }, { "runs", &n_runs, 1, 1000 }, { NULL }
};

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

/* @text: taken; @most_unrolled: as in GantryCompileSettings. Kernels are made anew each time, for no cache is named. Returns: (transfer full) (nullable) */
static Loop *
build (char *text, gboolean train, guint64 most_unrolled, GError **error)
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
  settings.most_unrolled = most_unrolled;
  if (most_unrolled == 1)
    gantry_compile_settings_keep_loops (&settings);
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
  if (!gantry_executor_run_literals (loop->executor, (GantryLiteral *const *) loop->arguments->pdata, loop->arguments->len, (GantryLiteral **) results->pdata,
                                     results->len, NULL, NULL, error))
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
  g_autofree char *built = g_strdup_printf ("recurrent-%d-from-text-to-program", n_steps), *ran = g_strdup_printf ("recurrent-%d-training-step", n_steps);
  g_autoptr (Loop) loop = NULL;

  for (guint i = 0; i < 5; i++)
    {
      g_clear_pointer (&loop, loop_free);
      loop = build (gru_program (n_steps, 4, 32), TRUE, 0, error);
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
compare (const Loop *loop, const Loop *written, const char *loop_name, const char *written_name, const char *ratio_name, GError **error)
{
  g_autofree double *looped = g_new (double, n_runs), *straight = g_new (double, n_runs), *ratios = g_new (double, n_runs);

  for (int i = -1; i < n_runs; i++)
    {
      guint at = (guint) MAX (i, 0);

      if ((looped[at] = run (loop, error)) < 0 || (straight[at] = run (written, error)) < 0)
        return FALSE;
      ratios[at] = looped[at] / straight[at];
    }
  bench_print_figure (loop_name, looped, (guint) n_runs, "ms", "not measured");
  bench_print_figure (written_name, straight, (guint) n_runs, "ms", "not measured");
  bench_print_figure (ratio_name, ratios, (guint) n_runs, "x", "not measured");
  return TRUE;
}

static gboolean
bench_decoding (GError **error)
{
  g_autoptr (Loop) loop = build (decode_program (width, 4 * width, -1, TRUE), FALSE, 0, error);
  g_autoptr (Loop) written = loop != NULL ? build (decode_program (width, 4 * width, -1, FALSE), FALSE, 0, error) : NULL;

  return written != NULL && compare (loop, written, "decode-200-stopped-by-data", "decode-200-written-out", "decode-200-ratio", error);
}

/* Twelve layers, x = x + tanh (x w[i]). (transfer full) */
static char *
layers_program (int d)
{
  return g_strdup_printf ("module \"layers\" {\n"
                          "  func @main #1 (%%1 \"x\": f32[%d,%d], %%2 \"w\": f32[12,%d,%d] {role = \"parameter\"}) -> (%%4) {\n"
                          "    %%3 = scan(%%1, %%2) {axes = [0], body = #2, length = 12, n_carries = 1, n_xs = 1, y_axes = ints[]}: f32[%d,%d]\n"
                          "    %%4 = reduce(%%3) {dimensions = [0, 1], kind = \"add\"}: f32[]\n"
                          "  }\n"
                          "  func @layer #2 (%%10: f32[%d,%d], %%11: f32[%d,%d]) -> (%%14) {\n"
                          "    %%12 = dot_general(%%10, %%11) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[%d,%d]\n"
                          "    %%13 = tanh(%%12): f32[%d,%d]\n"
                          "    %%14 = add(%%10, %%13): f32[%d,%d]\n"
                          "  }\n"
                          "}\n",
                          d, d, d, d, d, d, d, d, d, d, d, d, d, d, d, d);
}

static gboolean
bench_layers (GError **error)
{
  g_autoptr (Loop) loop = build (layers_program (width), TRUE, 1, error);
  g_autoptr (Loop) written = loop != NULL ? build (layers_program (width), TRUE, 0, error) : NULL;

  return written != NULL && compare (loop, written, "layers-12-as-a-loop", "layers-12-written-out", "layers-12-ratio", error);
}

static const char endless[] = "module \"endless\" {\n"
                              "  func @main #1 (%1 \"x\": f32[]) -> (%2) { %2 = while(%1) {body = #2, cond = #3}: f32[] }\n"
                              "  func @body #2 (%3: f32[]) -> (%4) { %4 = tanh(%3): f32[] }\n"
                              "  func @cond #3 (%6: f32[]) -> (%8) {\n"
                              "    %7 = constant() {value = dense<f32[]: 2.0>}: f32[]\n"
                              "    %8 = compare(%6, %7) {comparison_direction = \"LT\"}: bool[]\n"
                              "  }\n"
                              "}\n";

static gpointer
cancel_later (gpointer data)
{
  GCancellable *cancellable = data;
  gint64 *at = g_new (gint64, 1);

  g_usleep (50000);
  *at = g_get_monotonic_time ();
  g_cancellable_cancel (cancellable);
  return at;
}

/* From the Cancel to the run's end. */
static gboolean
bench_cancel (GError **error)
{
  g_autoptr (Loop) loop = build (g_strdup (endless), FALSE, 0, error);
  g_autofree double *taken = g_new (double, n_runs);

  for (int i = 0; loop != NULL && i < n_runs; i++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GError) stopped = NULL;
      GThread *thread = g_thread_new ("cancel", cancel_later, cancellable);
      GantryLiteral *result = NULL;
      gboolean ran = gantry_executor_run_literals (loop->executor, (GantryLiteral *const *) loop->arguments->pdata, loop->arguments->len, &result, 1, NULL,
                                                   cancellable, &stopped);
      gint64 end = g_get_monotonic_time ();
      g_autofree gint64 *at = g_thread_join (thread);

      g_clear_pointer (&result, gantry_literal_unref);
      if (ran || !g_error_matches (stopped, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        {
          g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "a loop without an end was not cancelled");
          return FALSE;
        }
      taken[i] = (double) (end - *at) / 1e3;
    }
  if (loop != NULL)
    bench_print_figure ("cancel-of-an-endless-loop", taken, (guint) n_runs, "ms", "not measured");
  return loop != NULL;
}

static gboolean
bench (GError **error)
{
  return bench_recurrent (error) && bench_decoding (error) && bench_layers (error) && bench_cancel (error);
}

int
main (int argc, char **argv)
{
  return bench_main (argc, argv, "bench-loops", entries, limits, bench);
}
