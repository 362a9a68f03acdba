/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of the device, and what users of other compilers complain about, each by what it is here:
 *
 * complaint                                                        test
 * offloading of parameters wants a scan (JAX, host-offloading.md)  /complaints/parameters, forms "unrolled" and "separate"
 * only axis 0 of a scan                                            /complaints/parameters, forms "scan-axis-1", "scan-axis-2"
 * offloaded optimizer state raises the temporary memory            /complaints/state
 * offloading slows down without a word (jax 28988)                 /complaints/state: the plan says its time
 * an offloaded carry stays silently (jax 23869, xla 17541)         /complaints/carry: it leaves, or the report says why not
 * equal outputs of a scan in two kinds of memory merged (xla 20373)  /complaints/two-kinds, forms "two-kinds"
 * wrong gradients from reversed residuals (xla 46231)              forms "reversed", "nested-inner-reversed", "nested-reversed"
 * offloading fails in nested scans (maxtext 4995)                  forms "nested"; /complaints/parameters
 * unrolling costs more memory than offloading saves (the same)     /complaints/unrolled
 * operations of several results (jax 25841)                        forms "sort", "random"
 * scatter to a value in the host crashes (xla 34565)               /complaints/host-compute: it is computed on the device
 * computing on values in the host, silently slow (xla 25767, jax 28319, maxtext 1824), a convert before a move is enough
 *                                                                  /complaints/host-compute, forms "converted"
 * transposes in the host for other layouts (xla 24248)             does not apply: the host holds the bytes of the device
 * the memory kind of outputs is lost, barriers bypassed (xla 36525, 40519)  /complaints/outputs, forms "barrier"
 * compute of the optimizer in the host slow and wrong (axlearn 867)  does not apply: nothing computes there; forms ".../adam"
 * no memories on the CPU, nothing to test with                     all of this
 * the pool of pinned memory has a limit and fragments (numpyro_forecast 99), or is taken as endless (PyTorch 86097)
 *                                                                  /limits/host: it is planned as a whole, and limited
 * pinned memory through dlpack (jax 22346)                         does not apply: there is no dlpack
 * analysis of memory says 0 or -1, or is wrong (jax 12848, 18954, 31292, marin 5394)  every run: measured is planned
 * "cannot reduce below", without what to do (Enzyme-JAX 1363)      /limits/refused
 * fusion costs memory (xla 27322, 17124)                           /complaints/fusion
 * recomputation differs between versions (jax 27748)               does not apply: placements are named, and kept in the session
 * recomputation makes collectives wait (xla 14397)                 does not apply: there are none
 * a lower budget gives a higher peak (PyTorch 197838, 197871)      /complaints/monotonic
 * a higher peak than without compiling (PyTorch 122512)            /complaints/fusion
 */
#include "core/base/error.h"
#include "core/base/random.h"
#include "core/graph/graph.h"
#include "core/plan/executable.h"
#include "core/plan/plan.h"
#include "tests/app/cli/cli-test.h"
#include "tests/app/cli/form-run.h"
#include "tests/app/cli/forms.h"
#include <string.h>

static double
value_of (const char *name, guint index, gpointer data)
{
  return gantry_random_at (gantry_random_start (name, 5), index) - 0.5;
}

static FormStep *
step_of (FormShape shape, FormFlavour flavour, GantryOptimizer optimizer, const char *without)
{
  g_autofree char *text = form_text (shape, flavour, "f32");

  return form_step_new (text, optimizer, without, value_of, NULL);
}

static guint64
height (const GantryPlan *plan)
{
  return plan->arena_bytes[GANTRY_MEMORY_DEVICE];
}

static GantryPlan *
plan_of (FormStep *step, const char *policy)
{
  g_autoptr (GError) error = NULL;
  GantryPlan *plan = form_step_plan (step, policy, 0, NULL, &error);

  g_assert_no_error (error);
  return plan;
}

/* Limits */

static void
assert_says_all (const GError *error)
{
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
  if (strstr (error->message, "too much") == NULL || strstr (error->message, "help") == NULL)
    g_error ("does not say by how much, or what would help: %s", error->message);
}

/* Under a limit of what is needed it runs; under one place less it is planned within that, or refused with all that there
 * is to say; and a limit below what is alive at once is refused. */
static void
test_limit (void)
{
  static const char *const policies[] = { "* keep", "policy nothing_saveable", "role:parameter offload", "role:state offload", "* offload" };
  guint n_refused = 0;

  for (FormShape shape = 0; shape < FORM_N_SHAPES; shape += 2)
    {
      g_autoptr (FormStep) step = step_of (shape, FORM_PLAIN, shape % 4 == 0 ? GANTRY_OPTIMIZER_ADAM : GANTRY_OPTIMIZER_NONE, NULL);
      g_autoptr (GPtrArray) want = form_step_run (step, step->kept, 2);

      for (guint i = 0; i < G_N_ELEMENTS (policies); i++)
        {
          g_autoptr (GantryPlan) free_plan = plan_of (step, policies[i]);
          guint64 needs = gantry_plan_memory_bytes (free_plan, GANTRY_MEMORY_DEVICE);

          for (guint less = 0; less < 3; less++)
            {
              g_autoptr (GError) error = NULL;
              guint64 limit = less == 0 ? needs : less == 1 ? needs - GANTRY_PLACE_ALIGNMENT : needs - height (free_plan) / 2;
              g_autoptr (GantryPlan) plan = form_step_plan (step, policies[i], limit, NULL, &error);
              g_autoptr (GantryExecutable) executable = NULL;
              g_autoptr (GPtrArray) got = NULL;

              if (plan == NULL)
                {
                  g_assert_cmpuint (less, >, 0);
                  assert_says_all (error);
                  n_refused++;
                  continue;
                }
              g_assert_cmpuint (gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE), <=, limit);
              g_assert_true (i > 0 || less == 0 || height (free_plan) > free_plan->lower_bound);
              executable = form_step_executable (step, plan);
              got = form_step_run (step, executable, 2);
              form_assert_same (got, want, policies[i]);
            }
        }
    }
  g_assert_cmpuint (n_refused, >, 20);
}

/* The device itself: one byte less than the plan takes is not given, of either kind of memory. */
static void
test_device (gconstpointer data)
{
  GantryMemoryKind kind = (GantryMemoryKind) GPOINTER_TO_INT (data);
  g_autoptr (FormStep) step = step_of (FORM_SCAN, FORM_PLAIN, GANTRY_OPTIMIZER_ADAM, NULL);
  g_autoptr (GantryPlan) plan = plan_of (step, "role:state offload");
  g_autoptr (GantryExecutable) executable = form_step_executable (step, plan);
  guint64 needs = gantry_plan_memory_bytes (plan, kind), most;

  g_assert_cmpuint (needs, >, 0);
  for (guint less = 0; less < 2; less++)
    {
      g_autoptr (GantryDevice) device = gantry_cpu_device_new (1);
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryExecutor) executor = NULL;

      gantry_device_set_limit (device, kind, needs - less);
      executor = gantry_executor_new (device, executable, NULL, &error);
      gantry_device_get_memory (device, kind, NULL, &most, NULL);
      g_assert_cmpuint (most, <=, needs - less);
      g_assert_true ((executor != NULL) == (less == 0));
      if (less > 0)
        g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
    }
}

/* The command line: `plan` and `run` under a limit that fits, and under one that does not; several steps in a row. */
static void
test_refused (void)
{
  char *folder = cli_temporary_folder ();
  g_autofree char *gir = g_build_filename (folder, "form.gir", NULL), *session = g_build_filename (folder, "form.gantry", NULL);
  g_autofree char *text = form_text (FORM_SCAN, FORM_PLAIN, "f32"), *fits = NULL, *less = NULL;
  g_autoptr (CliResult) made = NULL, ran = NULL, refused = NULL, planned = NULL;
  g_autoptr (JsonNode) node = NULL, run = NULL;
  JsonObject *object;
  gint64 needs;

  g_assert_true (g_file_set_contents (gir, text, -1, NULL));
  made = cli_run ("train", "--json", "--loss=output", "--optimizer=adam", "-o", session, gir, NULL);
  cli_assert_status (made, 0);
  ran = cli_run ("run", "--json", "--steps=3", session, NULL);
  cli_assert_status (ran, 0);
  node = cli_json (ran);
  object = json_node_get_object (node);
  needs = json_object_get_int_member (object, "planned_bytes");
  fits = g_strdup_printf ("--limit=%" G_GINT64_FORMAT, needs);
  less = g_strdup_printf ("--limit=%" G_GINT64_FORMAT, needs - GANTRY_PLACE_ALIGNMENT);
  g_clear_pointer (&ran, cli_result_free);
  ran = cli_run ("run", "--json", "--steps=3", fits, session, NULL);
  cli_assert_status (ran, 0);
  run = cli_json (ran);
  g_assert_cmpint (json_object_get_int_member (json_node_get_object (run), "planned_bytes"), <=, needs);
  refused = cli_run ("run", "--steps=3", less, session, NULL);
  cli_assert_status (refused, 1);
  cli_assert_one_error (refused, "64 B too much");
  g_assert_nonnull (strstr (refused->err, "help"));
  planned = cli_run ("plan", "--limit=1000", session, NULL);
  cli_assert_status (planned, 1);
  cli_assert_one_error (planned, "too much");
  g_assert_nonnull (strstr (planned->err, "help"));
  cli_remove_folder (folder);
}

/* Complaints */

/* The parameters leave the device in every form, and no more is brought back than is needed at a time. */
static void
test_parameters (void)
{
  for (FormShape shape = 0; shape < FORM_N_SHAPES; shape++)
    {
      g_autoptr (FormStep) step = step_of (shape, FORM_PLAIN, GANTRY_OPTIMIZER_NONE, NULL);
      g_autoptr (GantryPlan) kept = plan_of (step, NULL), plan = plan_of (step, "role:parameter offload");
      guint64 parameters = kept->argument_bytes[GANTRY_MEMORY_DEVICE] - plan->argument_bytes[GANTRY_MEMORY_DEVICE];

      g_assert_cmpuint (parameters, ==, plan->argument_bytes[GANTRY_MEMORY_PINNED_HOST]);
      g_assert_cmpuint (parameters, >=, (form_layers_size ("w") + form_layers_size ("b")) * sizeof (float));
      g_assert_cmpuint (plan->copied_bytes, >, 0);
      g_assert_cmpuint (plan->n_problems, ==, 0);
      /* Along axis 0 one layer at a time is there; along the others a whole parameter may be. */
      if (shape != FORM_SCAN_AXIS_1 && shape != FORM_SCAN_AXIS_2 && shape != FORM_WHILE)
        g_assert_cmpuint (height (plan), <, height (kept));
    }
}

static void
test_state (void)
{
  for (FormShape shape = 0; shape < FORM_N_SHAPES; shape++)
    {
      g_autoptr (FormStep) step = step_of (shape, FORM_PLAIN, GANTRY_OPTIMIZER_ADAM, NULL);
      g_autoptr (GantryPlan) kept = plan_of (step, NULL), plan = plan_of (step, "role:state offload");

      g_assert_cmpuint (height (plan), <, height (kept));
      g_assert_cmpfloat (plan->total_us, >=, kept->total_us);
    }
}

/* Named inside the body the carry leaves; named outside, that it stays is said. */
static void
test_carry (void)
{
  static const FormShape shapes[] = { FORM_SCAN, FORM_REVERSED, FORM_NESTED, FORM_SCAN_AXIS_1 };

  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    {
      g_autoptr (FormStep) step = step_of (shapes[i], FORM_PLAIN, GANTRY_OPTIMIZER_NONE, NULL);
      g_autoptr (GPtrArray) reports = NULL;
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryPlan) kept = plan_of (step, "policy save_only_these_names(h)");
      g_autoptr (GantryPlan) plan = form_step_plan (step,
                                                    "policy save_and_offload_only_these_names([], [h], 'device', 'pinned_host')"
                                                    "; name:nowhere offload",
                                                    0, &reports, &error);

      g_assert_no_error (error);
      g_assert_cmpuint (plan->copied_bytes, >=, 2 * (FORM_LAYERS - 1) * FORM_ROWS * FORM_WIDTH * sizeof (float));
      g_assert_cmpuint (kept->copied_bytes, ==, 0);
      g_assert_cmpuint (reports->len, ==, 2);
      g_assert_null (((GantryPolicyReport *) g_ptr_array_index (reports, 0))->problem);
      g_assert_nonnull (((GantryPolicyReport *) g_ptr_array_index (reports, 1))->problem);
    }
}

/* No more at the peak than what is written out by hand. */
static void
test_unrolled (void)
{
  g_autoptr (FormStep) unrolled = step_of (FORM_UNROLLED, FORM_PLAIN, GANTRY_OPTIMIZER_NONE, "roll");

  for (FormShape shape = FORM_SCAN; shape < FORM_SCAN_AXIS_1; shape++)
    {
      g_autoptr (FormStep) step = step_of (shape, FORM_PLAIN, GANTRY_OPTIMIZER_NONE, NULL);

      g_assert_cmpuint (height (step->kept->plan), <=, height (unrolled->kept->plan) * 11 / 10);
    }
}

/* The host's and the device's are two values until the end: one result lies in each memory. */
static void
test_outputs (gconstpointer data)
{
  const char *text = data;
  g_autoptr (GError) error = NULL;
  g_auto (GantryCompileSettings) settings;
  g_autoptr (GantryCompilation) compilation = NULL;
  GantryModule *module;
  const GantryFunction *entry;

  gantry_compile_settings_init (&settings);
  compilation = form_compile (text, &settings, &error);
  g_assert_no_error (error);
  g_assert_no_error (compilation->refusal);
  g_assert_no_error (compilation->plan_error);
  module = gantry_compilation_module (compilation);
  entry = gantry_module_entry (module);
  g_assert_cmpuint (entry->n_results, ==, 2);
  for (guint i = 0; i < 2; i++)
    {
      const GantryNode *node = gantry_module_node (module, gantry_function_result_id (module, entry, i));

      g_assert_cmpint (gantry_node_type (module, node)->memory, ==, i == 0 ? GANTRY_MEMORY_DEVICE : GANTRY_MEMORY_PINNED_HOST);
    }
}

#define TWO_OUTPUTS(axis, type) \
  "module \"m\" { func @main #1 (%1: f32[4,3,8]) -> (%3, %4) {" \
  " %2 = scan(%1) {axes = [0], body = #2, length = 4, n_carries = 0, n_xs = 1, y_axes = [" axis ", " axis "]}: (" type ", " type \
  "@pinned_host) %3 = result(%2) {index = 0}: " type " %4 = result(%2) {index = 1}: " type "@pinned_host }" \
  " func @b #2 (%11: f32[3,8]) -> (%12, %13) { %12 = negate(%11): f32[3,8]" \
  " %13 = copy(%12) {memory = \"pinned_host\"}: f32[3,8]@pinned_host } }"
#define NESTED_OUTPUTS \
  "module \"m\" { func @main #1 (%1: f32[2,2,3,8]) -> (%3, %4) {" \
  " %2 = scan(%1) {axes = [0], body = #2, length = 2, n_carries = 0, n_xs = 1, y_axes = [0, 0]}: (f32[2,2,3,8], " \
  "f32[2,2,3,8]@pinned_host) %3 = result(%2) {index = 0}: f32[2,2,3,8] %5 = result(%2) {index = 1}: f32[2,2,3,8]@pinned_host" \
  " %4 = reshape(%5) {shape = [4,3,8]}: f32[4,3,8]@pinned_host }" \
  " func @o #2 (%21: f32[2,3,8]) -> (%23, %24) {" \
  " %22 = scan(%21) {axes = [0], body = #3, length = 2, n_carries = 0, n_xs = 1, y_axes = [0, 0]}: (f32[2,3,8], " \
  "f32[2,3,8]@pinned_host) %23 = result(%22) {index = 0}: f32[2,3,8] %24 = result(%22) {index = 1}: f32[2,3,8]@pinned_host }" \
  " func @b #3 (%11: f32[3,8]) -> (%12, %13) { %12 = negate(%11): f32[3,8]" \
  " %13 = copy(%12) {memory = \"pinned_host\"}: f32[3,8]@pinned_host } }"
#define BARRIER_OUTPUTS \
  "module \"m\" { func @main #1 (%1: f32[4,8]) -> (%2, %4) { %2 = negate(%1): f32[4,8]" \
  " %3 = copy(%2) {memory = \"pinned_host\"}: f32[4,8]@pinned_host %4 = optimization_barrier(%3): f32[4,8]@pinned_host } }"

/* Values in the host are computed on after they were brought back: what computes runs on the device, or is refused by name. */
static void
test_host_compute (gconstpointer data)
{
  const char *text = data;
  g_autoptr (FormStep) step = form_step_new (text, GANTRY_OPTIMIZER_NONE, NULL, value_of, NULL);
  const GantryPlan *plan = step->kept->plan;
  g_autoptr (GPtrArray) outputs = form_step_run (step, step->kept, 1);
  guint n_copies = 0;

  for (guint32 s = 0; s < plan->n_steps; s++)
    {
      const GantryPlanStep *one = &plan->steps[s];

      n_copies += one->kind == GANTRY_STEP_COPY;
      for (guint32 r = 0; one->kind != GANTRY_STEP_COPY && r < one->n_refs; r++)
        g_assert_cmpint (plan->buffers[plan->refs[one->first_ref + r]].memory, ==, GANTRY_MEMORY_DEVICE);
    }
  g_assert_cmpuint (n_copies, >, 0);
  g_assert_cmpuint (outputs->len, >, 1);
}

#define HOST_COMPUTE(nodes) \
  "module \"m\" { func @main #1 (%1 \"x\": f32[4,8], %2 \"w\": f32[4,8]@pinned_host {role = \"parameter\"}) -> (%9) {" nodes \
  " %8 = multiply(%7, %1): f32[4,8] %9 = reduce(%8) {kind = \"add\", dimensions = [0,1]}: f32[] } }"

/* Fused and in the best order it takes no more than as written. */
static void
test_fusion (void)
{
  static const FormFlavour flavours[] = { FORM_PLAIN, FORM_SORT, FORM_COUNTER };

  for (guint i = 0; i < G_N_ELEMENTS (flavours); i++)
    {
      g_autoptr (FormStep) fused = step_of (FORM_SCAN, flavours[i], GANTRY_OPTIMIZER_ADAM, NULL);
      g_autoptr (FormStep) plain = step_of (FORM_SCAN, flavours[i], GANTRY_OPTIMIZER_ADAM, "fuse");

      g_assert_cmpuint (height (fused->kept->plan), <=, height (plain->kept->plan));
    }
}

/* Down the budgets: the peak holds each, what was refused stays refused, and the time does not fall. */
static void
test_monotonic (void)
{
  g_autoptr (FormStep) step = step_of (FORM_SCAN, FORM_PLAIN, GANTRY_OPTIMIZER_ADAM, NULL);
  double time = 0;
  gboolean refused = FALSE;

  for (guint percent = 100; percent >= 20; percent -= 20)
    {
      g_autoptr (GError) error = NULL;
      guint64 budget = gantry_plan_memory_bytes (step->kept->plan, GANTRY_MEMORY_DEVICE) - height (step->kept->plan) * (100 - percent) / 100;
      g_autoptr (GantryPlan) plan = form_step_solve (step, budget, &error);

      if (plan == NULL)
        {
          g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
          refused = TRUE;
          continue;
        }
      g_assert_false (refused);
      g_assert_cmpuint (gantry_plan_memory_bytes (plan, GANTRY_MEMORY_DEVICE), <=, budget);
      g_assert_cmpfloat (plan->total_us, >=, time * (1 - 1e-9));
      time = plan->total_us;
    }
  g_assert_cmpfloat (time, >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/forms-memory/limits/plan", test_limit);
  g_test_add_data_func ("/forms-memory/limits/device", GINT_TO_POINTER (GANTRY_MEMORY_DEVICE), test_device);
  g_test_add_data_func ("/forms-memory/limits/host", GINT_TO_POINTER (GANTRY_MEMORY_PINNED_HOST), test_device);
  g_test_add_func ("/forms-memory/limits/refused", test_refused);
  g_test_add_func ("/forms-memory/complaints/parameters", test_parameters);
  g_test_add_func ("/forms-memory/complaints/state", test_state);
  g_test_add_func ("/forms-memory/complaints/carry", test_carry);
  g_test_add_func ("/forms-memory/complaints/unrolled", test_unrolled);
  g_test_add_data_func ("/forms-memory/complaints/two-kinds", TWO_OUTPUTS ("0", "f32[4,3,8]"), test_outputs);
  g_test_add_data_func ("/forms-memory/complaints/outputs/axis-1", TWO_OUTPUTS ("1", "f32[3,4,8]"), test_outputs);
  g_test_add_data_func ("/forms-memory/complaints/outputs/nested", NESTED_OUTPUTS, test_outputs);
  g_test_add_data_func ("/forms-memory/complaints/outputs/barrier", BARRIER_OUTPUTS, test_outputs);
  g_test_add_data_func ("/forms-memory/complaints/host-compute/elementwise", HOST_COMPUTE ("%7 = tanh(%2): f32[4,8]"), test_host_compute);
  g_test_add_data_func ("/forms-memory/complaints/host-compute/convert",
                        HOST_COMPUTE ("%3 = convert(%2) {to = type f64[]}: f64[4,8] %4 = copy(%3) {memory = \"device\"}: f64[4,8]"
                                      " %7 = convert(%4) {to = type f32[]}: f32[4,8]"),
                        test_host_compute);
  g_test_add_data_func ("/forms-memory/complaints/host-compute/update",
                        HOST_COMPUTE ("%3 = constant() {value = dense<i32[]: 1>}: i32[] %4 = constant() {value = splat<f32[1,8]: 2.0>}:"
                                      " f32[1,8] %5 = dynamic_update_slice(%2, %4, %3, %3): f32[4,8] %7 = tanh(%5): f32[4,8]"),
                        test_host_compute);
  g_test_add_func ("/forms-memory/complaints/fusion", test_fusion);
  g_test_add_func ("/forms-memory/complaints/monotonic", test_monotonic);
  return g_test_run ();
}
