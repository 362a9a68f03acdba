/* SPDX-License-Identifier: Apache-2.0 */
/* Curves of time by work: programs of equal kernels, each of a kind and a size, recorded as any run is. Between two of them another kernel
 * empties the caches of each processor, for so kernels stand in programs that are larger than those: what they read was written by another
 * thread, or long ago. What their bytes take is told apart, by a curve of its own, which is measured first. */
#include "app/cli/calibrate-kernels.h"
#include "app/cli/calibrate-program.h"
#include "core/base/compare.h"
#include "core/graph/text.h"
#include <string.h>
#include <unistd.h>

#define MOST_SIZES 8
#define LINKS 4u       /* kernels in a row */
#define MANY_LINKS 64u /* of those that take next to nothing */
#define ROUND_MS 20.0  /* that all runs of a program take, about */
#define LEAST_RUNS 4u
#define LEAST_PART 0.01        /* of a kernel's time is what its own work takes, however little is left when bytes are told apart */
#define CACHE_BYTES (1l << 20) /* of a processor's own second cache, where the system does not say */
#define MOST_EVICTED (1 << 24) /* elements */
#define NEAR_BYTES 16384.0     /* kernels of fewer stand in programs that caches hold: nothing is emptied between them */
#define TRIPS 64
#define MOST_SECONDS 1e6
#define TINY 2 /* elements of a row of kernels that have next to nothing to do */

/* @parameters, @link: text of a module (docs/text-form.md). $P: the value of the link before, first %1; $0: that of this one; $1 to $9:
 * others of it; $a: the size */
typedef struct
{
  GantryWorkKind work;
  const char *what;
  const char *parameters, *link;
  gint64 sizes[MOST_SIZES];
  gboolean single; /* its result is no operand of another */
} Kind;

#define BARRIER(type) "%$0 = optimization_barrier(%$9): " type "\n"
#define COLUMNS "f32[$a,64]"
#define WIDE "f32[$a,512]"
#define ROW "%$1 = broadcast_in_dim(%2) {broadcast_dimensions = [1], shape = [$a, 64]}: " COLUMNS "\n"
#define STEP(to, operation, from) "%$" to " = " operation "(%$" from ", %$1): " COLUMNS "\n"
#define FUNCTION(to, operation, from) "%$" to " = " operation "(%$" from "): " COLUMNS "\n"

/* clang-format off */
static const Kind kinds[] = {
  /* Upside down, so that each thread reads what another has written. */
  { GANTRY_WORK_BYTES, "additions to 8 rows of $a elements, of which each becomes another", "%1: f32[8,$a], %2: f32[8,$a]",
    "%$1 = reverse(%$P) {dimensions = [0]}: f32[8,$a]\n" "%$9 = add(%$1, %2): f32[8,$a]\n" BARRIER ("f32[8,$a]"),
    { 256, 2048, 8192, 32768, 131072, 524288, 2097152 } },
  { GANTRY_WORK_SIMPLE, "8 additions and multiplications on each of $a rows of 64", "%1: " COLUMNS ", %2: f32[64]",
    ROW STEP ("2", "multiply", "P") STEP ("3", "add", "2") STEP ("4", "multiply", "3") STEP ("5", "add", "4") STEP ("6", "multiply", "5")
    STEP ("7", "add", "6") STEP ("8", "multiply", "7") STEP ("9", "add", "8") BARRIER (COLUMNS), { 1, 16, 128, 1024, 4096 } },
  { GANTRY_WORK_DIVISION, "4 divisions on each of $a rows of 64", "%1: " COLUMNS ", %2: f32[64]",
    ROW STEP ("2", "divide", "P") STEP ("3", "divide", "2") STEP ("4", "divide", "3") STEP ("9", "divide", "4") BARRIER (COLUMNS),
    { 1, 16, 128, 1024, 4096 } },
  { GANTRY_WORK_EXPONENTIAL, "3 exponentials on each of $a rows of 64", "%1: " COLUMNS,
    FUNCTION ("2", "exponential", "P") FUNCTION ("3", "exponential", "2") FUNCTION ("9", "exponential", "3") BARRIER (COLUMNS), { 1, 16, 128, 1024, 4096 } },
  { GANTRY_WORK_FUNCTION, "3 tanhs, logistics and error functions on each of $a rows of 64", "%1: " COLUMNS,
    FUNCTION ("2", "tanh", "P") FUNCTION ("3", "logistic", "2") FUNCTION ("9", "erf", "3") BARRIER (COLUMNS), { 1, 16, 128, 1024, 4096 } },
  { GANTRY_WORK_NARROW, "additions of two arrays of $a x 512 bf16", "%1: bf16[$a,512], %2: bf16[$a,512]",
    "%$9 = add(%$P, %2): bf16[$a,512]\n" BARRIER ("bf16[$a,512]"), { 2, 32, 512 } },
  { GANTRY_WORK_REDUCTION, "sums of $a rows of 128", "%1: f32[$a], %2: f32[$a,128]",
    "%$1 = broadcast_in_dim(%$P) {broadcast_dimensions = [0], shape = [$a, 128]}: " "f32[$a,128]" "\n" "%$2 = add(%2, %$1): " "f32[$a,128]" "\n"
    "%$9 = reduce(%$2) {dimensions = [1], kind = \"add\"}: f32[$a]\n" BARRIER ("f32[$a]"), { 8, 64, 1024, 8192 } },
  { GANTRY_WORK_REDUCTION_ACROSS, "sums across $a rows of 512", "%1: f32[512], %2: " WIDE,
    "%$1 = broadcast_in_dim(%$P) {broadcast_dimensions = [1], shape = [$a, 512]}: " WIDE "\n" "%$2 = add(%2, %$1): " WIDE "\n"
    "%$9 = reduce(%$2) {dimensions = [0], kind = \"add\"}: f32[512]\n" BARRIER ("f32[512]"), { 4, 64, 1024 } },
  { GANTRY_WORK_WINDOW, "maxima of windows of 3 x 3 on 64 images of 112 x 112, stride 2", "%1: f32[$a,64,113,113]",
    "%$0 = reduce_window(%$P) {kind = \"max\", window_dimensions = [1, 1, 3, 3], window_strides = [1, 1, 2, 2]}: f32[$a,64,56,56]\n",
    { 1 }, TRUE },
  { GANTRY_WORK_WINDOW_PADDED, "maxima of windows of 3 x 3 on 32 images $a x $a, which reach over their borders", "%1: f32[1,32,$a,$a]",
    "%$9 = reduce_window(%$P) {kind = \"max\", padding = [0, 0, 0, 0, 1, 1, 1, 1], window_dimensions = [1, 1, 3, 3], "
    "window_strides = [1, 1, 1, 1]}: f32[1,32,$a,$a]\n" BARRIER ("f32[1,32,$a,$a]"), { 8, 56 } },
  { GANTRY_WORK_ROWS, "$a x $a rows of 13 in another order", "%1: f32[$a,$a,13]",
    "%$9 = transpose(%$P) {permutation = [1, 0, 2]}: f32[$a,$a,13]\n" BARRIER ("f32[$a,$a,13]"), { 4, 16, 64 } },
  { GANTRY_WORK_TRANSPOSITION, "a matrix $a x $a transposed", "%1: f32[$a,$a]",
    "%$9 = transpose(%$P) {permutation = [1, 0]}: f32[$a,$a]\n" BARRIER ("f32[$a,$a]"), { 32, 256, 1024 } },
  { GANTRY_WORK_STRIDED, "sums of neighbours in $a rows of 1024", "%1: f32[$a,1024]",
    "%$1 = slice(%$P) {limit_indices = [$a, 1024], start_indices = [0, 0], strides = [1, 2]}: f32[$a,512]\n"
    "%$2 = slice(%$P) {limit_indices = [$a, 1024], start_indices = [0, 1], strides = [1, 2]}: f32[$a,512]\n"
    "%$0 = add(%$1, %$2): f32[$a,512]\n", { 128, 1024 }, TRUE },
  { GANTRY_WORK_ORDER, "$a rows of 64 sorted", "%1: f32[$a,64]",
    "%$9 = sort(%$P) {dimension = 1}: f32[$a,64]\n" BARRIER ("f32[$a,64]"), { 1, 16, 256 } },
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
#define WINDOW "padding = [1, 1, 1, 1], window_strides = [1, 1]"
#define POINT "window_strides = [1, 1]"
#define SQUARE(channels) "f32[1," channels ",$a,$a]"
#define CONSTANT(shape) "%$1 = constant() {value = splat<f32[" shape "]: 0.01>}: f32[" shape "]\n"
#define CONVOLUTION(weights, attributes, channels) "%$0 = convolution(%$P, " weights ") {" attributes "}: " SQUARE (channels) "\n"
  { GANTRY_WORK_CONVOLUTION, "a convolution of 3 x 3 with 64 channels on an image $a x $a", "%1: " SQUARE ("64"),
    CONSTANT ("64,64,3,3") CONVOLUTION ("%$1", WINDOW, "64"), { 2, 7, 14, 28, 56 } },
  { GANTRY_WORK_CONVOLUTION_PLAIN, "a convolution of 3 x 3 with 24 channels on an image $a x $a", "%1: " SQUARE ("24"),
    CONSTANT ("24,24,3,3") CONVOLUTION ("%$1", WINDOW, "24"), { 4, 14, 28, 56 } },
  { GANTRY_WORK_CONVOLUTION_POINT, "a convolution of 1 x 1 with 128 channels on an image $a x $a", "%1: " SQUARE ("128"),
    CONSTANT ("128,128,1,1") CONVOLUTION ("%$1", POINT, "128"), { 2, 7, 14, 28, 56 } },
  { GANTRY_WORK_CONVOLUTION_POINT_PLAIN, "a convolution of 1 x 1 with 72 channels on an image $a x $a", "%1: " SQUARE ("72"),
    CONSTANT ("72,72,1,1") CONVOLUTION ("%$1", POINT, "72"), { 4, 14, 28, 56 } },
  { GANTRY_WORK_CONVOLUTION_FREE, "a convolution of 3 x 3 with 64 channels, whose weights change, on an image $a x $a",
    "%1: " SQUARE ("64") ", %2: f32[64,64,3,3]", CONVOLUTION ("%2", WINDOW, "64"), { 2, 7, 14, 28, 56 } },
  { GANTRY_WORK_CONVOLUTION_FREE_PLAIN, "a convolution of 3 x 3 with 24 channels, whose weights change, on an image $a x $a",
    "%1: " SQUARE ("24") ", %2: f32[24,24,3,3]", CONVOLUTION ("%2", WINDOW, "24"), { 4, 14, 28, 56 } },
  { GANTRY_WORK_CONVOLUTION_WEIGHTS, "gradients of weights of 3 x 3 from 32 to 64 channels on 4 images $a x $a",
    "%1: f32[32,4,$a,$a], %2: f32[64,4,$a,$a]",
    "%$0 = convolution(%$P, %2) {padding = [1, 1, 1, 1], window_strides = [1, 1]}: f32[32,64,3,3]\n", { 7, 14, 28, 56 }, TRUE },
  { GANTRY_WORK_CONVOLUTION_POINT_FREE, "a convolution of 1 x 1 with 128 channels, whose weights change, on an image $a x $a",
    "%1: " SQUARE ("128") ", %2: f32[128,128,1,1]", CONVOLUTION ("%2", POINT, "128"), { 2, 7, 14, 28, 56 } },
  { GANTRY_WORK_CONVOLUTION_POINT_FREE_PLAIN, "a convolution of 1 x 1 with 72 channels, whose weights change, on an image $a x $a",
    "%1: " SQUARE ("72") ", %2: f32[72,72,1,1]", CONVOLUTION ("%2", POINT, "72"), { 4, 14, 28, 56 } },
  /* Beside others it is in their layout. */
  { GANTRY_WORK_CONVOLUTION_DEPTH, "a convolution of 3 x 3 for each of 64 channels on an image $a x $a, beside one of 1 x 1",
    "%1: " SQUARE ("64"), "%$1 = constant() {value = splat<f32[64,1,3,3]: 0.1>}: f32[64,1,3,3]\n"
    "%$2 = constant() {value = splat<f32[64,64,1,1]: 0.01>}: f32[64,64,1,1]\n"
    "%$3 = convolution(%$P, %$2) {" POINT "}: " SQUARE ("64") "\n"
    "%$0 = convolution(%$3, %$1) {feature_group_count = 64, " WINDOW "}: " SQUARE ("64") "\n", { 7, 28, 56 } },
  { GANTRY_WORK_CONVOLUTION_DEPTH_PLAIN, "a convolution of 3 x 3 for each of 24 channels on an image $a x $a", "%1: " SQUARE ("24"),
    CONSTANT ("24,1,3,3") CONVOLUTION ("%$1", "feature_group_count = 24, " WINDOW, "24"), { 7, 28, 56 } },
};
/* clang-format on */

/* @text with what it says of a link and of the size put in */
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
      g_string_append_printf (into, "%u", 100 + link * 10 + (guint) (*at - '0'));
}

/* The kernel behind link @link that empties the caches. */
static void
add_eviction (GString *into, guint link, gint64 n)
{
  g_string_append_printf (into, "%%%u = add(%%%u, %%4): u32[%" G_GINT64_FORMAT "]\n%%%u = optimization_barrier(%%%u): u32[%" G_GINT64_FORMAT "]\n",
                          5001 + 2 * link, link == 0 ? 3 : 5000 + 2 * link, n, 5002 + 2 * link, 5001 + 2 * link, n);
}

/* @links kernels of @kind in a row, @evicted: with others between them, that use twice as many elements of u32, 0: without. (transfer full) (nullable) */
static GantryModule *
module_of (const Kind *kind, gint64 size, guint links, gint64 evicted, GError **error)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GString) text = g_string_new ("module \"calibrate\" { func @main #1 (");

  expand (text, kind->parameters, size, 0);
  if (evicted > 0)
    g_string_append_printf (text, ", %%3: u32[%" G_GINT64_FORMAT "], %%4: u32[%" G_GINT64_FORMAT "]", evicted, evicted);
  g_string_append_printf (text, ") -> (%%%u", 100 + (links - 1) * 10);
  if (evicted > 0)
    g_string_append_printf (text, ", %%%u", 5000 + 2 * links);
  g_string_append (text, ") {\n");
  for (guint l = 0; l < links; l++)
    {
      expand (text, kind->link, size, l);
      if (evicted > 0)
        add_eviction (text, l, evicted);
    }
  g_string_append (text, "} }\n");
  return gantry_module_from_text (context, text->str, (gssize) text->len, "calibrate", error);
}

typedef struct
{
  const GantryProgramOptions *how;
  const GantryProgress *progress;
  GantryTarget *target;
  GArray *spreads; /* (element-type double): of each program, the median of its runs over the least */
  double start_us; /* of a kernel that has next to nothing to do, from its begin to its end: it is part of what starting one costs */
} Bench;

static gboolean
time_runs (const Bench *bench, GantryProgram *program, const GantryProbeInputs *inputs, guint warmup, guint runs, double *least, double *median, GError **error)
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
  gantry_probe_inputs_init (&inputs, program->executable->module);
  if (!time_runs (bench, program, &inputs, 1, 2, &least, &median, error)
      || !time_runs (bench, program, &inputs, 2, (guint) CLAMP (ROUND_MS / MAX (least, 1e-3), LEAST_RUNS, GANTRY_CALIBRATION_MOST_RUNS), &least, &median,
                     error))
    return -1;
  spread = median / MAX (least, 1e-6);
  g_array_append_val (bench->spreads, spread);
  return least;
}

/* A kernel that has next to nothing to do, and what a run takes beside its kernels. */
static gboolean
measure_overheads (Bench *bench, GError **error)
{
  double one, many;

  one = time_module (bench, module_of (&kinds[0], TINY, 1, 0, error), error);
  if (one < 0 || (many = time_module (bench, module_of (&kinds[0], TINY, MANY_LINKS + 1, 0, error), error)) < 0)
    return FALSE;
  bench->target->launch_us = MAX (many - one, 0) * 1e3 / MANY_LINKS;
  bench->target->run_us = MAX (one * 1e3 - bench->target->launch_us, 0);
  return TRUE;
}

/* Runs that are recorded, as all are that people see. */
typedef struct
{
  gint64 begin;
  GArray *runs;        /* (element-type double): microseconds of each */
  GArray *kernels;     /* (element-type double): of each execution of those that are asked for */
  const guint8 *asked; /* (nullable): by instruction */
} Recorded;

static void
begin_run (gpointer self, const GantryExecutable *executable, gint64 time)
{
  ((Recorded *) self)->begin = time;
}

static void
take_instruction (gpointer self, guint32 instruction, gint64 begin, gint64 end)
{
  Recorded *recorded = self;
  double us = (double) (end - begin) / 1e3;

  if (recorded->asked != NULL && recorded->asked[instruction])
    g_array_append_val (recorded->kernels, us);
}

static void
end_run (gpointer self, gint64 time)
{
  Recorded *recorded = self;
  double us = (double) (time - recorded->begin) / 1e3;

  g_array_append_val (recorded->runs, us);
}

static void
recorded_init (Recorded *recorded, const guint8 *asked)
{
  *recorded = (Recorded){ .runs = g_array_new (FALSE, FALSE, sizeof (double)), .kernels = g_array_new (FALSE, FALSE, sizeof (double)), .asked = asked };
}

static void
recorded_clear (Recorded *recorded)
{
  g_array_unref (recorded->runs);
  g_array_unref (recorded->kernels);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Recorded, recorded_clear)

/* Runs @program once, then as often as they take @ms. */
static gboolean
record (const Bench *bench, GantryProgram *program, const GantryProbeInputs *inputs, double ms, Recorded *recorded, GError **error)
{
  const GantryObserver observer = { .begin_run = begin_run, .instruction = take_instruction, .end_run = end_run, .self = recorded };
  g_autoptr (GantryExecutor) executor = gantry_executor_new (bench->how->device, program->executable, NULL, error);
  g_autofree GantryRunOutput *out = g_new0 (GantryRunOutput, program->executable->n_outputs + 1);
  guint runs = 2;

  for (guint i = 0; executor != NULL && i < runs; i++)
    {
      if (!gantry_executor_run (executor, inputs->inputs, program->executable->n_inputs, out, program->executable->n_outputs, &observer, NULL, error))
        return FALSE;
      if (i == 1)
        runs = (guint) CLAMP (ms * 1e3 / MAX (g_array_index (recorded->runs, double, 1), 1), LEAST_RUNS, GANTRY_CALIBRATION_MOST_RUNS) + 2;
      if (i < 2) /* caches are as before all others from then on */
        g_array_set_size (recorded->kernels, 0);
    }
  if (executor == NULL)
    return FALSE;
  g_array_remove_range (recorded->runs, 0, 2);
  g_array_sort (recorded->runs, gantry_compare_doubles);
  g_array_sort (recorded->kernels, gantry_compare_doubles);
  return TRUE;
}

static double
middle (const GArray *sorted)
{
  return sorted->len > 0 ? g_array_index (sorted, double, sorted->len / 2) : 0;
}

/* What stands between kernels that are measured. */
static gboolean
is_eviction (const GantryModule *module, const GantryNode *node)
{
  return gantry_node_type (module, node)->element == GANTRY_U32;
}

/* Marks kernels of @program that do work of @kind, which a node of theirs does @work of. (transfer full): by instruction */
static guint8 *
find_own (const GantryProgram *program, GantryWorkKind kind, double *work)
{
  const GantryExecutable *executable = program->executable;
  guint8 *own = g_new0 (guint8, executable->n_instructions + 1);
  double of_node[GANTRY_N_WORKS];

  for (guint32 i = 0; i < executable->n_instructions; i++)
    {
      const GantryInstruction *instruction = &executable->instructions[i];
      const GantryNode *node = gantry_module_node (executable->module, instruction->node);

      if (instruction->kind != GANTRY_INSTRUCTION_LAUNCH || instruction->init || node == NULL || is_eviction (executable->module, node))
        continue;
      gantry_node_work (executable->module, node, of_node);
      own[i] = of_node[kind] > 0;
      if (own[i])
        memcpy (work, of_node, sizeof of_node);
    }
  return own;
}

/* Of what kernels with @work take what stands in other curves: bytes, which were used so many bytes @ago, and other work. */
static double
others_us (const Bench *bench, GantryWorkKind kind, const double *work, double ago)
{
  const GantryCurve *bytes = &bench->target->curves[GANTRY_WORK_BYTES];
  double us = gantry_curve_us (bytes, ago) / ago * work[GANTRY_WORK_BYTES];

  for (guint w = GANTRY_WORK_BYTES + 1; w < GANTRY_N_WORKS; w++)
    if (w != kind)
      us += gantry_curve_us (&bench->target->curves[w], work[w]);
  return us;
}

/* Of a link, before anything is fused. */
static double
bytes_of_link (const GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);
  double bytes = 0;

  for (guint32 i = 0; i < entry->n_nodes; i++)
    bytes += (double) MAX (gantry_node_bytes (module, &module->nodes[entry->first_node + i]), 0);
  return bytes;
}

/* Elements of two arrays that fill the own caches of all processors twice. */
static gint64
elements_to_evict (void)
{
  long cache = sysconf (_SC_LEVEL2_CACHE_SIZE);

  return MIN ((gint64) MAX (cache, CACHE_BYTES) / 4 * g_get_num_processors (), MOST_EVICTED);
}

/* @evicted: (out): elements that are used between two kernels, 0: none. (transfer full) (nullable) */
static GantryModule *
point_module (const Kind *kind, gint64 size, gint64 *evicted, GError **error)
{
  g_autoptr (GantryModule) one = module_of (kind, size, 1, 0, error);

  if (one == NULL)
    return NULL;
  *evicted = kind->work != GANTRY_WORK_BYTES && bytes_of_link (one) > NEAR_BYTES ? elements_to_evict () : 0;
  return module_of (kind, size, kind->single ? 1 : LINKS, *evicted, error);
}

/* Whether caches are emptied between any two kernels of @own. */
static gboolean
is_interleaved (const GantryExecutable *executable, const guint8 *own)
{
  gboolean emptied = TRUE;

  for (guint32 i = 0; i < executable->n_instructions; i++)
    {
      const GantryInstruction *instruction = &executable->instructions[i];
      const GantryNode *node = gantry_module_node (executable->module, instruction->node);

      if (own[i] && !emptied)
        return FALSE;
      if (own[i])
        emptied = FALSE;
      else if (instruction->kind == GANTRY_INSTRUCTION_LAUNCH && node != NULL && is_eviction (executable->module, node))
        emptied = TRUE;
    }
  return TRUE;
}

typedef struct
{
  double work, us; /* of it alone */
} Point;

/* @point: (out): of the curve of @kind */
static gboolean
measure_point (Bench *bench, const Kind *kind, gint64 size, Point *point, GError **error)
{
  gint64 evicted = 0;
  g_autoptr (GantryModule) module = point_module (kind, size, &evicted, error);
  g_autoptr (GantryProgram) program = module != NULL ? gantry_probe_build (module, bench->how, bench->target, bench->progress, error) : NULL;
  g_auto (GantryProbeInputs) inputs = { 0 };
  g_autofree guint8 *own = NULL;
  g_auto (Recorded) recorded = { 0 };
  double work[GANTRY_N_WORKS] = { 0 }, us, spread;

  own = program != NULL ? find_own (program, kind->work, work) : NULL;
  recorded_init (&recorded, own);
  if (program == NULL)
    return FALSE;
  gantry_probe_inputs_init (&inputs, program->executable->module);
  if (evicted > 0 && !is_interleaved (program->executable, own))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "kernels of %s were put beside each other", gantry_work_name (kind->work));
      return FALSE;
    }
  if (!record (bench, program, &inputs, ROUND_MS, &recorded, error))
    return FALSE;
  spread = middle (recorded.runs) / MAX (g_array_index (recorded.runs, double, 0), 1e-3);
  g_array_append_val (bench->spreads, spread);
  us = middle (recorded.kernels) - bench->start_us;
  if (kind->work != GANTRY_WORK_BYTES)
    us -= others_us (bench, kind->work, work, evicted > 0 ? 3.0 * 4 * (double) evicted : work[GANTRY_WORK_BYTES]);
  /* What takes no time beside the others takes next to none: the curve goes on. */
  *point = (Point){ work[kind->work], MAX (us, LEAST_PART * middle (recorded.kernels)) };
  return TRUE;
}

/* What took longer than more work did was disturbed, for nothing makes kernels faster than they are: both are measured once more. */
static gboolean
measure_again (Bench *bench, const Kind *kind, guint n, Point *points, GError **error)
{
  for (guint i = n; i-- > 1;)
    if (points[i].us < points[i - 1].us)
      for (guint j = i - 1; j <= i; j++)
        {
          Point again;

          if (!measure_point (bench, kind, kind->sizes[j], &again, error))
            return FALSE;
          points[j].us = MIN (points[j].us, again.us);
        }
  return TRUE;
}

/* Points that are not begun at @end, by the monotonic clock, are left out: the larger ones; a curve goes on as it is. */
static gboolean
measure_curve (Bench *bench, const Kind *kind, gint64 end, GError **error)
{
  Point points[MOST_SIZES];
  guint n = 0;

  for (; n < MOST_SIZES && kind->sizes[n] > 0 && g_get_monotonic_time () < end; n++)
    if (!measure_point (bench, kind, kind->sizes[n], &points[n], error))
      return FALSE;
  if (!measure_again (bench, kind, n, points, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    gantry_curve_add (&bench->target->curves[kind->work], points[i].work, points[i].us);
  return TRUE;
}

/* The same of runs that are recorded: these are what is predicted of whole programs. Of loops nothing is recorded but their begin and end. */
static gboolean
measure_recorded (Bench *bench, GError **error)
{
  double least[2];

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GantryModule) module = module_of (&kinds[0], TINY, i == 0 ? 1 : MANY_LINKS + 1, 0, error);
      g_autoptr (GantryProgram) program = module != NULL ? gantry_probe_build (module, bench->how, bench->target, bench->progress, error) : NULL;
      g_auto (GantryProbeInputs) inputs = { 0 };
      g_autofree guint8 *own = NULL;
      g_auto (Recorded) recorded = { 0 };
      double work[GANTRY_N_WORKS];

      own = program != NULL ? find_own (program, GANTRY_WORK_BYTES, work) : NULL;
      recorded_init (&recorded, own);
      if (program == NULL)
        return FALSE;
      gantry_probe_inputs_init (&inputs, program->executable->module);
      if (!record (bench, program, &inputs, ROUND_MS, &recorded, error))
        return FALSE;
      least[i] = g_array_index (recorded.runs, double, 0);
      bench->start_us = middle (recorded.kernels);
    }
  bench->target->inner_us = bench->target->launch_us;
  bench->target->launch_us = MAX (least[1] - least[0], 0) / MANY_LINKS;
  bench->target->run_us = MAX (least[0] - bench->target->launch_us, 0);
  return TRUE;
}

/* What a trip of a loop takes beside its kernels. */
static gboolean
measure_trip (Bench *bench, GError **error)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autofree char *text = g_strdup_printf ("module \"calibrate\" { func @main #1 (%%1: f32[%d], %%2: f32[%d]) -> (%%3) {\n"
                                           "%%3 = scan(%%1, %%2) {axes = ints[], body = #2, length = %d, n_carries = 1, n_xs = 0, y_axes = ints[]}: f32[%d] }\n"
                                           "func @body #2 (%%5: f32[%d], %%6: f32[%d]) -> (%%7) { %%7 = add(%%5, %%6): f32[%d] } }",
                                           8 * TINY, 8 * TINY, TRIPS, 8 * TINY, 8 * TINY, 8 * TINY, 8 * TINY);
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
gantry_calibration_measure_kernels (GantryTarget *target, const GantryProgramOptions *how, double seconds, const GantryProgress *progress, double *spread,
                                    GError **error)
{
  g_autoptr (GArray) spreads = g_array_new (FALSE, FALSE, sizeof (double));
  Bench bench = { .how = how, .progress = progress, .target = target, .spreads = spreads };
  gint64 end = g_get_monotonic_time () + (gint64) (MIN (seconds, MOST_SECONDS) * G_USEC_PER_SEC);

  memset (target->curves, 0, sizeof target->curves);
  target->launch_us = target->run_us = target->trip_us = 0;
  if (!measure_overheads (&bench, error) || !measure_trip (&bench, error) || !measure_recorded (&bench, error))
    return FALSE;
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    {
      gantry_progress_report (progress, (double) k / G_N_ELEMENTS (kinds), "Measuring");
      if (!measure_curve (&bench, &kinds[k], end, error))
        return FALSE;
    }
  take_bandwidth (target);
  *spread = median_of (spreads);
  return TRUE;
}
