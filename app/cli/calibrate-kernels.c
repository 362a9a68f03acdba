/* SPDX-License-Identifier: Apache-2.0 */
/* Curves of time by work: small programs of equal kernels in a row, each of a kind and a size, so that neither the start of a run nor a
 * single kernel has to be measured by itself. Times are the least of all runs: what else the machine does only makes them longer. */
#include "app/cli/calibrate-kernels.h"
#include "app/cli/calibrate-program.h"
#include "core/base/compare.h"
#include "core/graph/text.h"
#include <string.h>

#define MOST_SIZES 8
#define LINKS 8u       /* kernels in a row */
#define MANY_LINKS 64u /* of those that take next to nothing */
#define FEW_LINKS 2u   /* of those that take long */
#define SHORT_MS 0.02  /* of a run of LINKS */
#define LONG_MS 20.0
#define ROUND_MS 40.0  /* that all runs of a program take, about */
#define LEAST_RUNS 4u
#define TRIPS 64
#define TINY 16        /* elements of a kernel that has next to nothing to do */

/* @parameters, @link: text of a module (docs/text-form.md). $P: the value of the link before, first %1; $N: that of this one; $1 to $9:
 * others of it; $a, $b: the size, $b = 2 $a */
typedef struct
{
  GantryWorkKind work;
  const char *what;
  const char *parameters, *link;
  gint64 sizes[MOST_SIZES];
  gboolean single; /* its result is no operand of another */
} Kind;

#define BARRIER(type) "%$N = optimization_barrier(%$9): " type "\n"
#define COLUMNS "f32[$a,512]"
#define ROW "%$1 = broadcast_in_dim(%2) {broadcast_dimensions = [1], shape = [$a, 512]}: " COLUMNS "\n"
#define STEP(to, operation, from) "%$" to " = " operation "(%$" from ", %$1): " COLUMNS "\n"
#define FUNCTION(to, operation, from) "%$" to " = " operation "(%$" from "): " COLUMNS "\n"

static const Kind kinds[] = {
  { GANTRY_WORK_BYTES, "additions of two arrays of $a elements", "%1: f32[$a], %2: f32[$a]",
    "%$9 = add(%$P, %2): f32[$a]\n" BARRIER ("f32[$a]"), { 2048, 16384, 65536, 262144, 1048576, 4194304, 16777216 } },
  { GANTRY_WORK_SIMPLE, "8 additions and multiplications on each of $a rows of 512", "%1: " COLUMNS ", %2: f32[512]",
    ROW STEP ("2", "multiply", "P") STEP ("3", "add", "2") STEP ("4", "multiply", "3") STEP ("5", "add", "4") STEP ("6", "multiply", "5")
    STEP ("7", "add", "6") STEP ("8", "multiply", "7") STEP ("9", "add", "8") BARRIER (COLUMNS), { 2, 16, 128, 512 } },
  { GANTRY_WORK_DIVISION, "4 divisions on each of $a rows of 512", "%1: " COLUMNS ", %2: f32[512]",
    ROW STEP ("2", "divide", "P") STEP ("3", "divide", "2") STEP ("4", "divide", "3") STEP ("9", "divide", "4") BARRIER (COLUMNS),
    { 2, 16, 128, 512 } },
  { GANTRY_WORK_FUNCTION, "3 exponentials, logistics and tanhs on each of $a rows of 512", "%1: " COLUMNS,
    FUNCTION ("2", "tanh", "P") FUNCTION ("3", "exponential", "2") FUNCTION ("9", "logistic", "3") BARRIER (COLUMNS), { 2, 16, 128, 512 } },
  { GANTRY_WORK_REDUCTION, "sums of $a rows of 512", "%1: f32[$a], %2: " COLUMNS,
    "%$1 = broadcast_in_dim(%$P) {broadcast_dimensions = [0], shape = [$a, 512]}: " COLUMNS "\n" "%$2 = add(%2, %$1): " COLUMNS "\n"
    "%$9 = reduce(%$2) {dimensions = [1], kind = \"add\"}: f32[$a]\n" BARRIER ("f32[$a]"), { 4, 64, 1024 } },
  { GANTRY_WORK_REDUCTION_ACROSS, "sums across $a rows of 512", "%1: f32[512], %2: " COLUMNS,
    "%$1 = broadcast_in_dim(%$P) {broadcast_dimensions = [1], shape = [$a, 512]}: " COLUMNS "\n" "%$2 = add(%2, %$1): " COLUMNS "\n"
    "%$9 = reduce(%$2) {dimensions = [0], kind = \"add\"}: f32[512]\n" BARRIER ("f32[512]"), { 4, 64, 1024 } },
  { GANTRY_WORK_WINDOW, "maxima of windows of 3 x 3 on 64 images of 112 x 112, stride 2", "%1: f32[$a,64,113,113]",
    "%$0 = reduce_window(%$P) {kind = \"max\", window_dimensions = [1, 1, 3, 3], window_strides = [1, 1, 2, 2]}: f32[$a,64,56,56]\n",
    { 1 }, TRUE },
  { GANTRY_WORK_WINDOW_PADDED, "maxima of windows of 3 x 3 on 32 images $a x $a, which reach over their borders", "%1: f32[1,32,$a,$a]",
    "%$9 = reduce_window(%$P) {kind = \"max\", padding = [0, 0, 0, 0, 1, 1, 1, 1], window_dimensions = [1, 1, 3, 3], "
    "window_strides = [1, 1, 1, 1]}: f32[1,32,$a,$a]\n" BARRIER ("f32[1,32,$a,$a]"), { 8, 56 } },
  { GANTRY_WORK_TRANSPOSITION, "a matrix $a x $a transposed", "%1: f32[$a,$a]",
    "%$9 = transpose(%$P) {permutation = [1, 0]}: f32[$a,$a]\n" BARRIER ("f32[$a,$a]"), { 32, 256, 1024 } },
  { GANTRY_WORK_STRIDED, "sums of neighbours in $a rows of 1024", "%1: f32[$a,1024]",
    "%$1 = slice(%$P) {limit_indices = [$a, 1024], start_indices = [0, 0], strides = [1, 2]}: f32[$a,512]\n"
    "%$2 = slice(%$P) {limit_indices = [$a, 1024], start_indices = [0, 1], strides = [1, 2]}: f32[$a,512]\n"
    "%$0 = add(%$1, %$2): f32[$a,512]\n", { 128, 1024 }, TRUE },
  { GANTRY_WORK_ORDER, "$a rows of 1024 sorted", "%1: f32[$a,1024]",
    "%$9 = sort(%$P) {dimension = 1}: f32[$a,1024]\n" BARRIER ("f32[$a,1024]"), { 1, 16 } },
#define PRODUCT(element) "%$9 = dot_general(%$P, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: " element "[$a,$a]\n" \
  BARRIER (element "[$a,$a]")
  { GANTRY_WORK_PRODUCT_F32, "a product of two f32 matrices $a x $a", "%1: f32[$a,$a], %2: f32[$a,$a]", PRODUCT ("f32"),
    { 4, 16, 32, 64, 96, 160, 384, 1024 } },
  { GANTRY_WORK_PRODUCT_THIN, "a product of a vector and a matrix $a x $a", "%1: f32[1,$a], %2: f32[$a,$a]",
    "%$9 = dot_general(%$P, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]}: f32[1,$a]\n" BARRIER ("f32[1,$a]"),
    { 8, 64, 256, 1024, 4096 } },
  { GANTRY_WORK_PRODUCT_F16, "a product of two bf16 matrices $a x $a", "%1: bf16[$a,$a], %2: bf16[$a,$a]", PRODUCT ("bf16"), { 16, 64, 256 } },
  { GANTRY_WORK_PRODUCT_F64, "a product of two f64 matrices $a x $a", "%1: f64[$a,$a], %2: f64[$a,$a]", PRODUCT ("f64"), { 16, 64, 256 } },
  { GANTRY_WORK_PRODUCT_INT, "a product of two i32 matrices $a x $a", "%1: i32[$a,$a], %2: i32[$a,$a]", PRODUCT ("i32"), { 16, 64, 256 } },
  /* Without barriers, which nothing but rows of elements passes: convolutions keep values in blocks of channels. */
  { GANTRY_WORK_CONVOLUTION, "a convolution of 3 x 3 with 64 channels on an image $a x $a",
    "%1: f32[1,64,$a,$a]", "%$1 = constant() {value = splat<f32[64,64,3,3]: 0.01>}: f32[64,64,3,3]\n"
    "%$0 = convolution(%$P, %$1) {padding = [1, 1, 1, 1], window_strides = [1, 1]}: f32[1,64,$a,$a]\n",
    { 2, 7, 14, 28, 56 } },
  /* Beside others it is in their layout. */
  { GANTRY_WORK_CONVOLUTION_DEPTH, "a convolution of 3 x 3 for each of 64 channels on an image $a x $a, beside one of 1 x 1",
    "%1: f32[1,64,$a,$a]", "%$1 = constant() {value = splat<f32[64,1,3,3]: 0.1>}: f32[64,1,3,3]\n"
    "%$2 = constant() {value = splat<f32[64,64,1,1]: 0.01>}: f32[64,64,1,1]\n"
    "%$3 = convolution(%$P, %$2) {window_strides = [1, 1]}: f32[1,64,$a,$a]\n"
    "%$0 = convolution(%$3, %$1) {feature_group_count = 64, padding = [1, 1, 1, 1], window_strides = [1, 1]}: f32[1,64,$a,$a]\n",
    { 7, 28, 56 } },
  { GANTRY_WORK_CONVOLUTION_DEPTH_PLAIN, "a convolution of 3 x 3 for each of 24 channels on an image $a x $a",
    "%1: f32[1,24,$a,$a]", "%$1 = constant() {value = splat<f32[24,1,3,3]: 0.1>}: f32[24,1,3,3]\n"
    "%$0 = convolution(%$P, %$1) {feature_group_count = 24, padding = [1, 1, 1, 1], window_strides = [1, 1]}: f32[1,24,$a,$a]\n",
    { 7, 28, 56 } },
  { GANTRY_WORK_CONVOLUTION_FREE, "a convolution of 3 x 3 with 64 channels, whose weights change, on an image $a x $a",
    "%1: f32[1,64,$a,$a], %2: f32[64,64,3,3]",
    "%$0 = convolution(%$P, %2) {padding = [1, 1, 1, 1], window_strides = [1, 1]}: f32[1,64,$a,$a]\n", { 2, 7, 28, 56 } },
  { GANTRY_WORK_CONVOLUTION_FREE_PLAIN, "gradients of weights of 3 x 3 from 16 to 64 channels on an image $a x $a",
    "%1: f32[16,1,$a,$a], %2: f32[64,1,$a,$a]",
    "%$0 = convolution(%$P, %2) {padding = [1, 1, 1, 1], window_strides = [1, 1]}: f32[16,64,3,3]\n", { 1, 4, 14, 56 }, TRUE },
  { GANTRY_WORK_CONVOLUTION_PLAIN, "a convolution of 3 x 3 with 24 channels on an image $a x $a",
    "%1: f32[1,24,$a,$a]", "%$1 = constant() {value = splat<f32[24,24,3,3]: 0.01>}: f32[24,24,3,3]\n"
    "%$0 = convolution(%$P, %$1) {padding = [1, 1, 1, 1], window_strides = [1, 1]}: f32[1,24,$a,$a]\n",
    { 4, 14, 56 } },
};


/* (transfer full): @text with what it says of a link and of the size put in */
static void
expand (GString *into, const char *text, gint64 size, guint link)
{
  for (const char *at = text; *at != '\0'; at++)
    if (*at != '$')
      g_string_append_c (into, *at);
    else if (*++at == 'a')
      g_string_append_printf (into, "%" G_GINT64_FORMAT, size);
    else if (*at == 'P')
      g_string_append_printf (into, "%u", link == 0 ? 1 : 100 + (link - 1) * 10);
    else
      g_string_append_printf (into, "%u", 100 + link * 10 + (*at == 'N' ? 0 : (guint) (*at - '0')));
}

/* @links kernels of @kind in a row. (transfer full) (nullable) */
static GantryModule *
module_of (const Kind *kind, gint64 size, guint links, GError **error)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GString) text = g_string_new ("module \"calibrate\" { func @main #1 (");

  expand (text, kind->parameters, size, 0);
  g_string_append_printf (text, ") -> (%%%u) {\n", 100 + (links - 1) * 10);
  for (guint l = 0; l < links; l++)
    expand (text, kind->link, size, l);
  g_string_append (text, "} }\n");
  return gantry_module_from_text (context, text->str, (gssize) text->len, "calibrate", error);
}

typedef struct
{
  const GantryProgramOptions *how;
  const GantryProgress *progress;
  GantryTarget *target;
  GArray *spreads; /* (element-type double): of each program, the median of its runs over the least */
  GantryWorkKind own;   /* whose point is measured; of the program that was timed last: */
  guint n_kernels;  /* that it launches */
  guint n_own;      /* of them, that do such work */
  double own_work;  /* that they do */
  double others_us; /* what work of other kinds takes, as far as it was measured: it stands in the curves of those */
} Bench;

static gboolean
time_runs (const Bench *bench, GantryProgram *program, const GantryProbeInputs *inputs, guint warmup, guint runs, double *least, double *median,
           GError **error)
{
  GantryProgramTimes times = { 0 };
  gboolean done = gantry_program_time_inputs (program, bench->how, inputs->inputs, warmup, runs, &times, bench->progress, error);

  if (done)
    {
      g_array_sort (times.milliseconds, gantry_compare_doubles);
      *least = g_array_index (times.milliseconds, double, 0);
      *median = g_array_index (times.milliseconds, double, times.milliseconds->len / 2);
    }
  gantry_program_times_clear (&times);
  return done;
}

static void
count (Bench *bench, const GantryProgram *program)
{
  const GantryExecutable *executable = program->executable;
  const GantryModule *module = executable->module;
  const GantryFunction *entry = gantry_module_entry (module);
  double work[GANTRY_N_WORKS];

  bench->n_kernels = bench->n_own = 0;
  bench->own_work = bench->others_us = 0;
  for (guint32 i = 0; i < executable->n_instructions; i++)
    bench->n_kernels += executable->instructions[i].kind == GANTRY_INSTRUCTION_LAUNCH && !executable->instructions[i].init;
  for (guint32 i = 0; i < entry->n_nodes; i++)
    {
      gantry_node_work (module, &module->nodes[entry->first_node + i], work);
      bench->n_own += work[bench->own] > 0;
      bench->own_work += work[bench->own];
      for (guint w = GANTRY_WORK_BYTES + 1; w < GANTRY_N_WORKS; w++)
        if (w != bench->own)
          bench->others_us += gantry_curve_us (&bench->target->curves[w], work[w]);
    }
}

/* The least time of a run of @module (transfer full), in milliseconds; negative with @error */
static double
time_module (Bench *bench, GantryModule *module, GError **error)
{
  g_autoptr (GantryModule) owned = module;
  g_autoptr (GantryProgram) program = module != NULL ? gantry_probe_build (module, bench->how, bench->target, bench->progress, error) : NULL;
  g_auto (GantryProbeInputs) inputs = { 0 };
  double least, median, spread;

  if (program == NULL)
    return -1;
  count (bench, program);
  gantry_probe_inputs_init (&inputs, program->executable->module);
  if (!time_runs (bench, program, &inputs, 1, 2, &least, &median, error)
      || !time_runs (bench, program, &inputs, 2, (guint) CLAMP (ROUND_MS / MAX (least, 1e-3), LEAST_RUNS, GANTRY_CALIBRATION_MOST_RUNS), &least, &median, error))
    return -1;
  spread = median / MAX (least, 1e-6);
  g_array_append_val (bench->spreads, spread);
  return least;
}

/* A point of the curve of @kind. */
static gboolean
measure_point (Bench *bench, const Kind *kind, gint64 size, GError **error)
{
  double ms, us;

  bench->own = kind->work;
  ms = time_module (bench, module_of (kind, size, kind->single ? 1 : LINKS, error), error);
  if (ms >= 0 && !kind->single && (ms < SHORT_MS || ms > LONG_MS))
    ms = time_module (bench, module_of (kind, size, ms < SHORT_MS ? MANY_LINKS : FEW_LINKS, error), error);
  if (ms < 0)
    return FALSE;
  us = ms * 1e3 - bench->target->run_us - bench->n_kernels * bench->target->launch_us;
  /* What takes no time beside the others is told apart by larger ones. */
  if (bench->n_own > 0 && us - bench->others_us > 0.1 * us)
    gantry_curve_add (&bench->target->curves[kind->work], bench->own_work / bench->n_own, (us - bench->others_us) / bench->n_own);
  return TRUE;
}

/* A kernel that has next to nothing to do, and what a run takes beside its kernels. */
static gboolean
measure_overheads (Bench *bench, GError **error)
{
  double one, many;

  bench->own = GANTRY_WORK_BYTES;
  one = time_module (bench, module_of (&kinds[0], TINY, 1, error), error);
  if (one < 0 || (many = time_module (bench, module_of (&kinds[0], TINY, MANY_LINKS + 1, error), error)) < 0)
    return FALSE;
  bench->target->launch_us = MAX (many - one, 0) * 1e3 / MANY_LINKS;
  bench->target->run_us = MAX (one * 1e3 - bench->target->launch_us, 0);
  return TRUE;
}

/* The least time of a run that is recorded, as all are that people see. */
typedef struct
{
  gint64 begin, least;
} Recorded;

static void
begin_run (gpointer self, const GantryExecutable *executable, gint64 time)
{
  ((Recorded *) self)->begin = time;
}

static void
take_instruction (gpointer self, guint32 instruction, gint64 begin, gint64 end)
{
}

static void
end_run (gpointer self, gint64 time)
{
  Recorded *recorded = self;

  recorded->least = MIN (recorded->least, time - recorded->begin);
}

static gboolean
record (const Bench *bench, GantryProgram *program, const GantryProbeInputs *inputs, Recorded *recorded, GError **error)
{
  const GantryObserver observer = { .begin_run = begin_run, .instruction = take_instruction, .end_run = end_run, .self = recorded };
  g_autoptr (GantryExecutor) executor = gantry_executor_new (bench->how->device, program->executable, NULL, error);
  g_autofree GantryRunOutput *out = g_new0 (GantryRunOutput, program->executable->n_outputs + 1);

  *recorded = (Recorded){ .least = G_MAXINT64 };
  for (guint i = 0; executor != NULL && i < GANTRY_CALIBRATION_MOST_RUNS; i++)
    if (!gantry_executor_run (executor, inputs->inputs, program->executable->n_inputs, out, program->executable->n_outputs, &observer, NULL, error))
      return FALSE;
  return executor != NULL;
}

/* The same of runs that are recorded: these are what is predicted of whole programs. Of loops nothing is recorded but their begin and end. */
static gboolean
measure_recorded (Bench *bench, GError **error)
{
  Recorded recorded[2];

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GantryModule) module = module_of (&kinds[0], TINY, i == 0 ? 1 : MANY_LINKS + 1, error);
      g_autoptr (GantryProgram) program = module != NULL ? gantry_probe_build (module, bench->how, bench->target, bench->progress, error) : NULL;
      g_auto (GantryProbeInputs) inputs = { 0 };

      if (program == NULL)
        return FALSE;
      gantry_probe_inputs_init (&inputs, program->executable->module);
      if (!record (bench, program, &inputs, &recorded[i], error))
        return FALSE;
    }
  bench->target->inner_us = bench->target->launch_us;
  bench->target->launch_us = (double) MAX (recorded[1].least - recorded[0].least, 0) / 1e3 / MANY_LINKS;
  bench->target->run_us = MAX ((double) recorded[0].least / 1e3 - bench->target->launch_us, 0);
  return TRUE;
}

/* What a trip of a loop takes beside its kernels. */
static gboolean
measure_trip (Bench *bench, GError **error)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autofree char *text
    = g_strdup_printf ("module \"calibrate\" { func @main #1 (%%1: f32[%d], %%2: f32[%d]) -> (%%3) {\n"
                       "%%3 = scan(%%1, %%2) {axes = ints[], body = #2, length = %d, n_carries = 1, n_xs = 0, y_axes = ints[]}: f32[%d] }\n"
                       "func @body #2 (%%5: f32[%d], %%6: f32[%d]) -> (%%7) { %%7 = add(%%5, %%6): f32[%d] } }",
                       TINY, TINY, TRIPS, TINY, TINY, TINY, TINY);
  double ms = time_module (bench, gantry_module_from_text (context, text, -1, "calibrate", error), error);

  if (ms < 0)
    return FALSE;
  bench->target->trip_us = MAX ((ms * 1e3 - bench->target->run_us) / TRIPS - bench->target->launch_us, 0);
  return TRUE;
}

/* What is beside the curves is asked of a target too: rooflines, and work that no curve is of. */
static void
take_bandwidth (GantryTarget *target)
{
  const GantryCurve *curve = &target->curves[GANTRY_WORK_BYTES];
  guint n = curve->n;

  if (n > 1 && curve->us[n - 1] > curve->us[n - 2])
    target->memory_bandwidth = (curve->work[n - 1] - curve->work[n - 2]) / (curve->us[n - 1] - curve->us[n - 2]) * 1e6;
}

static double
median_of (GArray *values)
{
  g_array_sort (values, gantry_compare_doubles);
  return values->len > 0 ? g_array_index (values, double, values->len / 2) : 1;
}

gboolean
gantry_calibration_measure_kernels (GantryTarget *target, const GantryProgramOptions *how, double seconds, const GantryProgress *progress,
                                    double *spread, GError **error)
{
  g_autoptr (GArray) spreads = g_array_new (FALSE, FALSE, sizeof (double));
  Bench bench = { .how = how, .progress = progress, .target = target, .spreads = spreads };
  gint64 begin = g_get_monotonic_time ();

  memset (target->curves, 0, sizeof target->curves);
  target->launch_us = target->run_us = target->trip_us = 0;
  if (!measure_overheads (&bench, error) || !measure_trip (&bench, error))
    return FALSE;
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    {
      gantry_progress_report (progress, (double) k / G_N_ELEMENTS (kinds), "Measuring");
      for (guint s = 0; s < MOST_SIZES && kinds[k].sizes[s] > 0; s++)
        {
          if ((double) (g_get_monotonic_time () - begin) / 1e6 > seconds)
            break; /* the larger ones of each kind are left out; a curve goes on as it is */
          if (!measure_point (&bench, &kinds[k], kinds[k].sizes[s], error))
            return FALSE;
        }
    }
  take_bandwidth (target);
  if (!measure_recorded (&bench, error))
    return FALSE;
  *spread = median_of (spreads);
  return TRUE;
}
