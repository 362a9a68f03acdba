/* SPDX-License-Identifier: Apache-2.0 */
/* Each rate: a program that the rate bounds is built, compiled and replayed as any other is, and what it does is counted as the cost
 * model counts it, so that the rate that is written predicts the time that was measured. */
#include "app/cli/calibrate-measure.h"
#include "app/cli/calibrate-kernels.h"
#include "app/cli/calibrate-program.h"
#include "core/base/compare.h"
#include "core/base/process-memory.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

#define RUNS 15u
#define LEAST_WARMUP 3u
#define MOST_WARMUP 50u
#define WARMUP_SECONDS 0.03 /* until clocks have risen */
#define MEMORY_SHARE 16     /* an array takes at most this part of the memory */
#define LINK_BYTES ((gsize) 16 << 20)

/* In the order of their worth: later ones are left out where time is up. */
static const struct
{
  GantryProbeKind kind;
  GantryElementType element;
  GantryUnit unit; /* of its operations: what is counted, and whose key it is */
  const char *beside;
  gboolean tf32;
} probes[] = {
  { GANTRY_PROBE_LAUNCHES, GANTRY_F32, GANTRY_N_UNITS, NULL, FALSE },
  { GANTRY_PROBE_PRODUCT, GANTRY_BF16, GANTRY_UNIT_PRODUCT_F16, NULL, FALSE },
  { GANTRY_PROBE_COPY, GANTRY_F32, GANTRY_N_UNITS, NULL, FALSE },
  { GANTRY_PROBE_VECTOR, GANTRY_F32, GANTRY_UNIT_VECTOR_F32, NULL, FALSE },
  { GANTRY_PROBE_SPECIAL, GANTRY_F32, GANTRY_UNIT_SPECIAL, NULL, FALSE },
  { GANTRY_PROBE_VECTOR, GANTRY_BF16, GANTRY_UNIT_VECTOR_F16, NULL, FALSE },
  { GANTRY_PROBE_SPECIAL, GANTRY_BF16, GANTRY_UNIT_SPECIAL, "bf16", FALSE },
  { GANTRY_PROBE_PRODUCT, GANTRY_F32, GANTRY_UNIT_PRODUCT_F32, NULL, FALSE },
  { GANTRY_PROBE_PRODUCT, GANTRY_F32, GANTRY_UNIT_PRODUCT_F32, "with --allow-tf32", TRUE },
  { GANTRY_PROBE_VECTOR, GANTRY_F64, GANTRY_UNIT_VECTOR_F64, NULL, FALSE },
  { GANTRY_PROBE_PRODUCT, GANTRY_F64, GANTRY_UNIT_PRODUCT_F64, NULL, FALSE },
  { GANTRY_PROBE_PRODUCT, GANTRY_I8, GANTRY_UNIT_PRODUCT_I8, NULL, FALSE },
  { GANTRY_PROBE_PRODUCT, GANTRY_F16, GANTRY_UNIT_PRODUCT_F16, "f16", FALSE },
  { GANTRY_PROBE_VECTOR, GANTRY_F16, GANTRY_UNIT_VECTOR_F16, "f16", FALSE },
  { GANTRY_PROBE_PRODUCT, GANTRY_F8E4M3FN, GANTRY_UNIT_PRODUCT_F8, NULL, FALSE },
};

typedef struct
{
  const GantryProgramOptions *how;
  const GantryProgress *progress;
  guint64 memory; /* bytes that there are */
  GantryCalibration *calibration;
} Bench;

static void
figure_clear (gpointer data)
{
  GantryCalibrationFigure *figure = data;

  g_free (figure->key);
  g_free (figure->beside);
  g_free (figure->of);
  g_free (figure->why);
}

void
gantry_calibration_clear (GantryCalibration *calibration)
{
  g_clear_pointer (&calibration->figures, g_array_unref);
}

/* Sizes. */

/* A processor's functions are some dozens of operations each; no rate is stated for them. */
#define OPERATIONS_OF_FUNCTION 64

static double
stated_rate (const GantryTarget *target, GantryUnit unit)
{
  return unit < GANTRY_N_UNITS && target->rates[unit] > 0 ? target->rates[unit] : target->peak_flops;
}

static double
expected_rate (const GantryTarget *target, GantryUnit unit)
{
  gboolean is_function = unit == GANTRY_UNIT_SPECIAL && target->rates[unit] <= 0;

  return stated_rate (target, unit) / (is_function ? OPERATIONS_OF_FUNCTION : 1);
}

static gint64
power_of_two (double n)
{
  return (gint64) exp2 (round (log2 (MAX (n, 1))));
}

/* What caches of a processor hold little of. */
static double
uncached_bytes (void)
{
  long cache = sysconf (_SC_LEVEL3_CACHE_SIZE);

  return CLAMP (2.0 * (double) cache, 32.0 * (1 << 20), 128.0 * (1 << 20));
}

/* Schedules of a GPU that the processor runs are for trying them out: the smallest sizes that are more than one tile. */
static gint64
size_on_grid (GantryProbeKind kind)
{
  return kind == GANTRY_PROBE_LAUNCHES ? 4 : kind == GANTRY_PROBE_PRODUCT ? 128 : 16384;
}

/* As many as take about a millisecond on a GPU, and some tenths of one on the processor, at the stated rate. */
static gint64
wanted_size (const Bench *bench, guint p)
{
  const GantryTarget *stated = &bench->calibration->stated;
  gboolean on_gpu = bench->how->code == GANTRY_CODE_CUDA;
  double rate = expected_rate (stated, probes[p].unit), size = (double) gantry_element_size (probes[p].element);

  if (bench->how->code == GANTRY_CODE_GRID_ON_CPU)
    return size_on_grid (probes[p].kind);
  switch (probes[p].kind)
    {
    case GANTRY_PROBE_LAUNCHES: return 64;
    case GANTRY_PROBE_PRODUCT: return power_of_two (cbrt (rate * (on_gpu ? 1e-3 : 1e-4)));
    case GANTRY_PROBE_COPY: return power_of_two ((on_gpu ? stated->memory_bandwidth * 0.1e-3 : uncached_bytes ()) / size);
    default: return power_of_two (rate * 0.5e-3 / gantry_probe_operations (probes[p].kind));
    }
}

static gint64
size_of (const Bench *bench, guint p)
{
  gint64 size = wanted_size (bench, p), most = (gint64) (bench->memory / MEMORY_SHARE / MAX (gantry_element_size (probes[p].element), 1));

  if (probes[p].kind != GANTRY_PROBE_PRODUCT && probes[p].kind != GANTRY_PROBE_COPY)
    return size; /* no array of theirs is in memory */
  while (size > 32 && (probes[p].kind == GANTRY_PROBE_PRODUCT ? size > most / size : size > most))
    size /= 2;
  return size;
}

/* One program. */

static GantryProgram *
make (const Bench *bench, const GantryProbe *probe, const GantryProgramOptions *how, GError **error)
{
  g_autoptr (GantryModule) module = gantry_probe_module (probe, error);

  return module != NULL ? gantry_probe_build (module, how, &bench->calibration->stated, bench->progress, error) : NULL;
}

static guint
launches_of (const GantryExecutable *executable)
{
  guint n = 0;

  for (guint32 i = 0; i < executable->n_instructions; i++)
    n += executable->instructions[i].kind == GANTRY_INSTRUCTION_LAUNCH && !executable->instructions[i].init;
  return n;
}

/* What one run does of that which the rate is of: operations of the unit, bytes that are moved, or launches. */
static double
work_of (const GantryProgram *program, guint p)
{
  const GantryExecutable *executable = program->executable;
  const GantryModule *module = executable->module;
  const GantryFunction *entry = gantry_module_entry (module);
  gint64 by_unit[GANTRY_N_UNITS];
  double work = 0;

  if (probes[p].kind == GANTRY_PROBE_LAUNCHES)
    return launches_of (executable);
  for (guint32 i = 0; i < entry->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];

      if (probes[p].kind == GANTRY_PROBE_COPY)
        work += (double) gantry_node_bytes (module, node);
      else if (gantry_node_flops_by_unit (module, node, by_unit))
        work += (double) by_unit[probes[p].unit];
    }
  return work;
}

static double
expected_seconds (const Bench *bench, guint p, double work)
{
  const GantryTarget *stated = &bench->calibration->stated;

  switch (probes[p].kind)
    {
    case GANTRY_PROBE_LAUNCHES: return work * stated->launch_us * 1e-6;
    case GANTRY_PROBE_COPY: return work / stated->memory_bandwidth;
    default: return work / expected_rate (stated, probes[p].unit);
    }
}

static guint
warmup_of (const Bench *bench, guint p, double work)
{
  double n = WARMUP_SECONDS / MAX (expected_seconds (bench, p, work), 1e-6);

  return bench->how->code == GANTRY_CODE_GRID_ON_CPU ? LEAST_WARMUP : (guint) CLAMP (n, LEAST_WARMUP, MOST_WARMUP);
}

/* Microseconds each of @work, or a second's work. */
static double
value_of (guint p, double work, double milliseconds)
{
  return probes[p].kind == GANTRY_PROBE_LAUNCHES ? milliseconds * 1e3 / work : work / (milliseconds / 1e3);
}

static gboolean
take_times (guint p, const GantryProgramTimes *times, double work, GantryCalibrationFigure *figure, GError **error)
{
  const double *ms;
  guint n = times->milliseconds->len;

  g_array_sort (times->milliseconds, gantry_compare_doubles);
  ms = (const double *) (gpointer) times->milliseconds->data;
  if (n == 0 || !(ms[0] > 0) || !(work > 0))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, work > 0 ? "by its clock it took no time" : "the program does nothing");
      return FALSE;
    }
  figure->n = n;
  figure->clock = times->between_events ? "events of the GPU" : "the host's clock";
  figure->milliseconds = ms[n / 2];
  figure->value = value_of (p, work, ms[n / 2]);
  figure->least = MIN (value_of (p, work, ms[0]), value_of (p, work, ms[n - 1]));
  figure->most = MAX (value_of (p, work, ms[0]), value_of (p, work, ms[n - 1]));
  return TRUE;
}

static gboolean
measure (const Bench *bench, guint p, const GantryProbe *probe, GantryCalibrationFigure *figure, GError **error)
{
  GantryProgramOptions how = *bench->how;
  g_autoptr (GantryProgram) program = NULL;
  g_auto (GantryProbeInputs) inputs = { 0 };
  GantryProgramTimes times = { 0 };
  double work;
  gboolean done;

  how.allow_tf32 = probes[p].tf32;
  program = make (bench, probe, &how, error);
  if (program == NULL)
    return FALSE;
  work = work_of (program, p);
  figure->n_kernels = launches_of (program->executable);
  gantry_probe_inputs_init (&inputs, program->executable->module);
  done = gantry_program_time_inputs (program, &how, inputs.inputs, warmup_of (bench, p, work), RUNS, &times, bench->progress, error)
         && take_times (p, &times, work, figure, error);
  gantry_program_times_clear (&times);
  return done;
}

/* Figures. */

static double *
place_of (GantryTarget *target, guint p)
{
  switch (probes[p].kind)
    {
    case GANTRY_PROBE_LAUNCHES: return &target->launch_us;
    case GANTRY_PROBE_COPY: return &target->memory_bandwidth;
    default: return probes[p].unit == GANTRY_UNIT_VECTOR_F32 ? &target->peak_flops : &target->rates[probes[p].unit];
    }
}

static const char *
key_of (guint p)
{
  switch (probes[p].kind)
    {
    case GANTRY_PROBE_LAUNCHES: return "launch_us";
    case GANTRY_PROBE_COPY: return "memory_bandwidth";
    default: return probes[p].unit == GANTRY_UNIT_VECTOR_F32 ? "peak_flops" : gantry_unit_name (probes[p].unit);
    }
}

static void
keep (Bench *bench, GantryCalibrationFigure *figure, GError *error)
{
  GantryCalibration *calibration = bench->calibration;

  if (error != NULL)
    {
      figure->why = g_strdup (error->message);
      figure->failed = !g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
    }
  calibration->n_measured += figure->why == NULL;
  calibration->n_failed += figure->failed;
  g_array_append_val (calibration->figures, *figure);
}

static void
measure_probe (Bench *bench, guint p, gboolean late)
{
  const GantryProbe probe = { probes[p].kind, probes[p].element, size_of (bench, p) };
  double *place = place_of (&bench->calibration->target, p);
  GantryCalibrationFigure figure = { .key = g_strdup (key_of (p)), .beside = g_strdup (probes[p].beside) };
  g_autoptr (GError) error = NULL;

  if (probes[p].beside == NULL)
    figure.value = figure.stated = *place > 0 ? *place : stated_rate (&bench->calibration->stated, probes[p].unit);
  figure.of = gantry_probe_text (&probe);
  if (late)
    figure.why = g_strdup ("no time was left");
  else
    measure (bench, p, &probe, &figure, &error);
  if (probes[p].beside == NULL)
    *place = figure.value;
  keep (bench, &figure, error);
}

static void
keep_range (Bench *bench, const char *key, const char *beside, double value, const GantryRateRange *range, guint n, const char *of, double stated)
{
  GantryCalibrationFigure figure = { .key = g_strdup (key),
                                     .beside = g_strdup (beside),
                                     .value = value,
                                     .least = range->least,
                                     .most = range->most,
                                     .stated = stated,
                                     .n = n,
                                     .of = g_strdup (of) };

  figure.clock = gantry_device_is_host (bench->how->device) || strcmp (key, "launch_us") == 0 ? "the host's clock" : "events of the GPU";
  keep (bench, &figure, NULL);
}

/* Copies between the memories, and an empty kernel. */
static void
measure_link (Bench *bench)
{
  GantryTarget *target = &bench->calibration->target;
  double stated = target->link_bandwidth;
  gsize bytes = CLAMP (bench->memory / MEMORY_SHARE / 4, 65536, LINK_BYTES);
  g_autofree char *size = gantry_format_bytes (bytes);
  g_autofree char *both = g_strdup_printf ("copies of %s both ways at once, each way", size);
  g_autofree char *alone = g_strdup_printf ("copies of %s", size);
  g_autoptr (GError) error = NULL;
  GantryDeviceRates rates;

  if (!gantry_device_measure (bench->how->device, bytes, &rates, bench->progress != NULL ? bench->progress->cancellable : NULL, &error))
    {
      GantryCalibrationFigure figure = { .key = g_strdup ("link_bandwidth"), .value = stated, .stated = stated, .of = g_strdup (both) };

      keep (bench, &figure, error);
      return;
    }
  target->link_bandwidth = rates.both;
  keep_range (bench, "link_bandwidth", NULL, rates.both, &rates.both_range, GANTRY_DEVICE_MEASURED_COPIES, both, stated);
  keep_range (bench, "link_bandwidth", "to the host alone", rates.to_host, &rates.to_host_range, GANTRY_DEVICE_MEASURED_COPIES, alone, 0);
  keep_range (bench, "link_bandwidth", "to the device alone", rates.to_device, &rates.to_device_range, GANTRY_DEVICE_MEASURED_COPIES, alone, 0);
  keep_range (bench, "launch_us", "an empty kernel", rates.launch_us, &rates.launch_range, rates.n_launches, "empty kernels in a row", 0);
}

static guint64
memory_of (const GantryProgramOptions *how)
{
  guint64 bytes;

  return gantry_device_count_free (how->device, &bytes) ? bytes : gantry_process_memory_of_machine ();
}

/* One number, which kernels of several sizes told together: a difference of times, which is nothing where they differ by chance alone. Such
 * a number is as stated, and says so. */
static void
keep_single (Bench *bench, const char *key, double *value, double stated, const char *of)
{
  const GantryRateRange range = { *value, *value };
  GantryCalibrationFigure figure = { .key = g_strdup (key), .value = stated, .stated = stated };

  if (*value > 0)
    {
      figure_clear (&figure);
      keep_range (bench, key, NULL, *value, &range, GANTRY_CALIBRATION_MOST_RUNS, of, stated);
      return;
    }
  *value = stated;
  figure.of = g_strdup (of);
  figure.why = g_strdup ("what it takes is lost in what equal runs differ by");
  keep (bench, &figure, NULL);
}

/* Of a processor: curves, and what they tell beside. */
static void
measure_kernels (Bench *bench, double seconds)
{
  GantryTarget *target = &bench->calibration->target;
  const GantryTarget *stated = &bench->calibration->stated;
  g_autoptr (GError) error = NULL;

  if (!gantry_calibration_measure_kernels (target, bench->how, seconds, bench->progress, &bench->calibration->spread, &error))
    {
      GantryCalibrationFigure figure = {
        .key = g_strdup ("launch_us"), .value = stated->launch_us, .stated = stated->launch_us, .of = g_strdup ("kernels of all kinds and sizes")
      };

      *target = *stated;
      keep (bench, &figure, error);
      return;
    }
  target->copy_us = stated->launch_us; /* nothing measures what handing a copy to another thread costs */
  keep_single (bench, "launch_us", &target->launch_us, stated->launch_us, "sums of 16 numbers in a row");
  keep_single (bench, "run_us", &target->run_us, 0, "a run of one of them, less that");
  keep_single (bench, "trip_us", &target->trip_us, 0, "a loop of one of them, less that");
  keep_single (bench, "memory_bandwidth", &target->memory_bandwidth, stated->memory_bandwidth, "sums of arrays that no cache holds");
}

static gboolean
is_left_out (const GantryProgramOptions *how, guint p)
{
  /* On a processor curves say it. */
  return how->code == GANTRY_CODE_CPU && (probes[p].tf32 || probes[p].kind == GANTRY_PROBE_LAUNCHES || probes[p].kind == GANTRY_PROBE_COPY);
}

void
gantry_calibration_run (const GantryProgramOptions *how, const GantryTarget *stated, double seconds, const GantryProgress *progress,
                        GantryCalibration *calibration)
{
  Bench bench = { how, progress, memory_of (how), calibration };
  gint64 begin = g_get_monotonic_time ();

  *calibration = (GantryCalibration){ .stated = *stated, .target = *stated };
  calibration->figures = g_array_new (FALSE, FALSE, sizeof (GantryCalibrationFigure));
  g_array_set_clear_func (calibration->figures, figure_clear);
  if (how->code == GANTRY_CODE_CPU)
    measure_kernels (&bench, seconds);
  measure_link (&bench);
  for (guint p = 0; p < G_N_ELEMENTS (probes); p++)
    {
      if (is_left_out (how, p))
        continue;
      gantry_progress_report (progress, (double) (p + 1) / (G_N_ELEMENTS (probes) + 1), "Measuring");
      measure_probe (&bench, p, (double) (g_get_monotonic_time () - begin) / 1e6 > seconds);
    }
}
