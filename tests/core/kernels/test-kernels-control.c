/* SPDX-License-Identifier: Apache-2.0 */
/* Branches, loops, scans and host calls that run: what they give is what the evaluator gives, integers exactly and floats but for
 * the rounding of what was computed, by the processor's code and by the schedules for a GPU; an arm that is not taken does not run;
 * an endless loop ends when it is cancelled. */
#include "core/base/error.h"
#include "core/eval/evaluator.h"
#include "core/graph/graph.h"
#include "core/kernels/kernels.h"
#include "core/planner/memory-plan.h"
#include "core/runtime/runtime.h"
#include "tests/core/kernels/control-programs.h"
#include <math.h>
#include <string.h>

/* How far f32 of @control_programs may lie apart. All values are within 1, where a unit in the last place is at most 2^-24. A trip
 * has a tanh, whose slope is at most 1, so that it adds its own error alone: the kernel's of 3 units (test-kernels-math.c), the
 * evaluator's of half a unit; and before it one sum or difference, below 2, which either side rounds by at most 2^-24, or a product
 * with a factor within 1, which is rounded by less. No program has more than five trips. */
#define APART (5 * (3 + 0.5 + 2) / (1 << 24))

#define VERIFY_ALL (GANTRY_VERIFY_PLACES | GANTRY_VERIFY_POISON | GANTRY_VERIFY_WRITES)

typedef struct
{
  GantryContext *context;
  GantryModule *module;
  GantryExecutable *executable;
  GantryDevice *device;
  GantryExecutor *executor;
} Program;

static Program *
program_new (const char *text, GantryCodeTarget target, gboolean host_calls)
{
  Program *p = g_new0 (Program, 1);
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;
  g_autoptr (GantryKernelSizes) sizes = NULL;
  g_autoptr (GantryPlan) plan = NULL;
  g_autoptr (GError) error = NULL;
  GantryKernelSet *kernels;

  p->context = gantry_context_new ();
  p->module = gantry_module_from_text (p->context, text, -1, "test.gir", &error);
  g_assert_no_error (error);
  options.target = target;
  options.use_library = FALSE;
  options.host_calls = host_calls;
  kernels = gantry_kernels_compile (p->module, &options, NULL, &error);
  g_assert_no_error (error);
  sizes = gantry_kernel_set_sizes (kernels, p->module);
  plan = gantry_memory_plan (p->module, &(GantryPlanOptions){ .sizes = sizes, .flags = GANTRY_PLAN_RESIDENT }, NULL, &error);
  g_assert_no_error (error);
  p->executable = gantry_executable_new (p->module, plan, kernels, &error);
  g_assert_no_error (error);
  p->device = gantry_cpu_device_new (2);
  p->executor = gantry_executor_new (p->device, p->executable, NULL, &error);
  g_assert_no_error (error);
  return p;
}

static void
program_free (Program *p)
{
  gantry_executor_free (p->executor);
  gantry_device_unref (p->device);
  gantry_executable_unref (p->executable);
  gantry_module_unref (p->module);
  gantry_context_unref (p->context);
  g_free (p);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Program, program_free)

/* Numbers between -1 and 1 for floats; integers are @number, bools whether that is odd. */
static GPtrArray *
make_arguments (const Program *p, gint64 number)
{
  const GantryFunction *entry = gantry_module_entry (p->module);
  GPtrArray *arguments = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);

  for (guint i = 0; i < entry->n_params; i++)
    {
      const GantryType *type = gantry_node_type (p->module, &p->module->nodes[entry->first_node + i]);
      guint8 *data;
      GantryLiteral *literal = gantry_literal_new_zeroed (type, &data);

      for (gint64 k = 0; k < gantry_type_elements (type); k++)
        if (type->element == GANTRY_F32)
          ((float *) data)[k] = (float) ((k * 37 + 11 * i + 5) % 64 - 32) / 32;
        else if (type->element == GANTRY_I32)
          ((gint32 *) data)[k] = (gint32) number;
        else
          data[k] = number % 2 != 0;
      g_ptr_array_add (arguments, literal);
    }
  return arguments;
}

static GPtrArray *
new_results (const Program *p)
{
  GPtrArray *results = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);

  g_ptr_array_set_size (results, (gint) gantry_module_entry (p->module)->n_results);
  return results;
}

static void
check (Program *p, gint64 number)
{
  g_autoptr (GPtrArray) arguments = make_arguments (p, number), want = new_results (p);
  g_autoptr (GError) error = NULL;

  gantry_evaluate (p->module, gantry_module_entry (p->module), (GantryLiteral **) arguments->pdata, (GantryLiteral **) want->pdata, NULL, &error);
  g_assert_no_error (error);
  for (guint round = 0; round < 3; round++)
    {
      g_autoptr (GPtrArray) got = new_results (p);

      gantry_executor_set_verify (p->executor, round == 2 ? VERIFY_ALL : 0);
      gantry_executor_run_literals (p->executor, (GantryLiteral *const *) arguments->pdata, arguments->len, (GantryLiteral **) got->pdata, got->len, NULL, NULL,
                                    &error);
      g_assert_no_error (error);
      for (guint i = 0; i < got->len; i++)
        {
          const GantryLiteral *a = g_ptr_array_index (got, i), *b = g_ptr_array_index (want, i);

          double apart = gantry_element_is_float ((GantryElementType) a->type->element) ? APART : 0;

          for (gint64 k = 0; k < gantry_type_elements (a->type); k++)
            if (!(fabs (gantry_literal_get_double (a, k) - gantry_literal_get_double (b, k)) <= apart))
              g_error ("round %u, result %u, element %" G_GINT64_FORMAT ": %g, not %g", round, i, k, gantry_literal_get_double (a, k),
                       gantry_literal_get_double (b, k));
        }
    }
}

static void
test_same (void)
{
  static const GantryCodeTarget targets[] = { GANTRY_CODE_CPU, GANTRY_CODE_GRID_ON_CPU };

  for (guint t = 0; t < G_N_ELEMENTS (targets); t++)
    for (guint i = 0; i < G_N_ELEMENTS (control_programs); i++)
      {
        g_autoptr (Program) p = program_new (control_programs[i], targets[t], FALSE);

        for (gint64 number = 0; number < 6; number++)
          check (p, number);
      }
}

/* Dividing by zero ends the process where it is done: by the arm that is not taken it is not. The larger arm is what is planned. */
static void
test_untaken (void)
{
  static const char text[] = "module \"m\" {\n"
                             "  func @main #1 (%1: bool[], %2: i32[], %3: f32[256,256]) -> (%5, %6) {\n"
                             "    %4 = if(%1, %2, %3) {then = #2, else = #3}: (i32[], f32[256,256])\n"
                             "    %5 = result(%4) {index = 0}: i32[]\n"
                             "    %6 = result(%4) {index = 1}: f32[256,256]\n"
                             "  }\n"
                             "  func @quotient #2 (%11: i32[], %12: f32[256,256]) -> (%14, %16) {\n"
                             "    %13 = constant() {value = dense<i32[]: 100>}: i32[]\n"
                             "    %14 = divide(%13, %11): i32[]\n"
                             "    %15 = dot_general(%12, %12) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[256,256]\n"
                             "    %17 = dot_general(%15, %12) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[256,256]\n"
                             "    %16 = dot_general(%17, %15) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[256,256]\n"
                             "  }\n"
                             "  func @nothing #3 (%21: i32[], %22: f32[256,256]) -> (%21, %22) {\n"
                             "  }\n"
                             "}\n";
  g_autoptr (Program) p = program_new (text, GANTRY_CODE_CPU, FALSE);
  GantryMemoryParts parts;

  check (p, 0);
  gantry_plan_memory_parts (p->executable->plan, GANTRY_MEMORY_DEVICE, &parts);
  g_assert_cmpuint (parts.bytes[GANTRY_PART_WORKSPACES], ==, 2 * 256 * 256 * 4);
}

static void
keep_spans (gpointer self, const GantryRegionSpan *spans, guint n, guint64 left_out)
{
  g_assert_cmpuint (left_out, ==, 0);
  g_array_append_vals (self, spans, n);
}

static void
keep_region_events (gpointer self, const GantryRegionEvent *events, guint n, guint64 left_out)
{
  g_assert_cmpuint (left_out, ==, 0);
  g_array_append_vals (self, events, n);
}

/* Whoever asks for them has the kernels of each trip and arm, those of a run behind each other, with nodes of the bodies. */
static void
test_region_events (void)
{
  g_autoptr (Program) p = program_new (SCAN ("16", "0"), GANTRY_CODE_CPU, FALSE);
  g_autoptr (GPtrArray) arguments = make_arguments (p, 4), got = new_results (p);
  g_autoptr (GArray) events = g_array_new (FALSE, FALSE, sizeof (GantryRegionEvent));
  g_autoptr (GHashTable) nodes = g_hash_table_new (NULL, NULL);
  g_autoptr (GError) error = NULL;
  GantryObserver observer = { .self = events, .region_events = keep_region_events };

  gantry_executor_run_literals (p->executor, (GantryLiteral *const *) arguments->pdata, arguments->len, (GantryLiteral **) got->pdata, got->len, &observer,
                                NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (events->len, >, 0);
  g_assert_cmpuint (events->len % 5, ==, 0); /* trips */
  for (guint i = 0; i < events->len; i++)
    {
      const GantryRegionEvent *event = &g_array_index (events, GantryRegionEvent, i);
      const GantryInstruction *instruction = &event->executable->instructions[event->instruction];
      const GantryFunction *entry = gantry_module_entry (p->executable->module);
      guint32 position = gantry_module_position (p->executable->module, gantry_module_node (p->executable->module, instruction->node));

      g_assert_true (position < entry->first_node || position >= entry->first_node + entry->n_nodes);
      g_assert_cmpint (event->begin, <=, event->end);
      g_assert_cmpuint (instruction->kind, ==, GANTRY_INSTRUCTION_LAUNCH);
      g_hash_table_add (nodes, GUINT_TO_POINTER (instruction->node));
    }
  g_assert_cmpuint (5 * g_hash_table_size (nodes), ==, events->len);
}

/* Five trips of a scan, and in each the arm of a branch: each lies within its trip, and trips follow each other. Who does not ask for
 * them is told as before. */
static void
test_spans (void)
{
  for (gint64 number = 3; number < 5; number++)
    {
      g_autoptr (Program) p = program_new (SCAN ("16", "0"), GANTRY_CODE_CPU, FALSE);
      g_autoptr (GPtrArray) arguments = make_arguments (p, number);
      g_autoptr (GArray) spans = g_array_new (FALSE, FALSE, sizeof (GantryRegionSpan));
      g_autoptr (GError) error = NULL;
      const GantryRegionSpan *span;

      for (guint round = 0; round < 2; round++)
        {
          g_autoptr (GPtrArray) got = new_results (p);
          GantryObserver observer = { .self = spans, .spans = round == 0 ? NULL : keep_spans };

          gantry_executor_run_literals (p->executor, (GantryLiteral *const *) arguments->pdata, arguments->len, (GantryLiteral **) got->pdata, got->len,
                                        &observer, NULL, &error);
          g_assert_no_error (error);
        }
      g_assert_cmpuint (spans->len, ==, 10);
      span = (const GantryRegionSpan *) (gpointer) spans->data;
      for (guint i = 0; i < spans->len; i++)
        {
          g_assert_cmpuint (span[i].node, ==, i % 2 == 0 ? 4 : 16);
          g_assert_cmpuint (span[i].control, ==, i % 2 == 0 ? GANTRY_CONTROL_SCAN : GANTRY_CONTROL_BRANCH);
          g_assert_cmpuint (span[i].trip, ==, i % 2 == 0 ? i / 2 : 0);
          g_assert_cmpuint (span[i].region, ==, i % 2 == 0 ? GANTRY_CONTROL_BODY : number > 3 ? GANTRY_CONTROL_THEN : GANTRY_CONTROL_ELSE);
          g_assert_cmpint (span[i].begin, <=, span[i].end);
          g_assert_cmpint (span[i].begin, >=, i == 0 ? 0 : i % 2 == 0 ? span[i - 2].end : span[i - 1].begin);
          g_assert_cmpint (span[i].end, <=, i % 2 == 0 ? G_MAXINT64 : span[i - 1].end);
        }
    }
}

/* A loop that must make three trips and makes others gives nothing, by the processor's code, by the schedules for a GPU and by the
 * evaluator: the error says how many, where it is seen. */
static void
test_exact_trips (void)
{
  static const char *const expected[] = { "makes 0 trips", "makes 1 trips", "makes 2 trips", NULL, "makes more than 3 trips", "makes more than 3 trips" };
  g_autoptr (Program) cpu = program_new (EXACT_TRIPS, GANTRY_CODE_CPU, FALSE), grid = program_new (EXACT_TRIPS, GANTRY_CODE_GRID_ON_CPU, FALSE);

  for (gint64 number = 0; number < (gint64) G_N_ELEMENTS (expected); number++)
    for (guint i = 0; i < 3; i++)
      {
        Program *p = i == 1 ? grid : cpu;
        g_autoptr (GPtrArray) arguments = make_arguments (p, number), got = new_results (p);
        g_autoptr (GError) error = NULL;

        if (i == 2)
          gantry_evaluate (p->module, gantry_module_entry (p->module), (GantryLiteral **) arguments->pdata, (GantryLiteral **) got->pdata, NULL, &error);
        else
          gantry_executor_run_literals (p->executor, (GantryLiteral *const *) arguments->pdata, arguments->len, (GantryLiteral **) got->pdata, got->len, NULL,
                                        NULL, &error);
        if (expected[number] == NULL)
          {
            g_assert_no_error (error);
            continue;
          }
        g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
        g_assert_nonnull (strstr (error->message, "collects"));
        g_assert_nonnull (strstr (error->message, expected[number]));
        g_assert_nonnull (strstr (error->message, "declared with 3 rows"));
      }
  check (cpu, 3);
  check (grid, 3);
}

/* Cancelled in a trip, it makes no further one. */
static void
test_cancel (void)
{
  static const GantryCodeTarget targets[] = { GANTRY_CODE_CPU, GANTRY_CODE_GRID_ON_CPU };
  static const char *const texts[] = { ENDLESS, ENDLESS_WITHIN };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    for (guint t = 0; t < G_N_ELEMENTS (targets); t++)
      {
        g_autoptr (Program) p = program_new (texts[i], targets[t], TRUE);
        g_autoptr (GPtrArray) arguments = make_arguments (p, 0), got = new_results (p);
        g_autoptr (GCancellable) cancellable = g_cancellable_new ();
        ControlClock clock = { cancellable };
        g_autoptr (GError) error = NULL;

        gantry_executor_set_host_call (p->executor, control_clock_tick, &clock);
        gantry_executor_run_literals (p->executor, (GantryLiteral *const *) arguments->pdata, arguments->len, (GantryLiteral **) got->pdata, got->len, NULL,
                                      cancellable, &error);
        g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
        g_assert_cmpuint (clock.asked, ==, ENDLESS_TRIPS);
      }
}

/* Who answers: adds 1 to what it is given, as often as it is asked, and writes down in which order. */
static gboolean
answer (gpointer self, const GantryModule *module, const GantryNode *node, const char *target, const GantryHostTensor *operands, guint n_operands,
        const GantryHostTensor *results, guint n_results, GError **error)
{
  g_string_append_printf (self, "%s ", target);
  g_assert_cmpuint (n_operands, ==, 1);
  g_assert_cmpuint (n_results, ==, 1);
  g_assert_cmpuint (operands[0].size, ==, results[0].size);
  if (strcmp (target, "refuse") == 0)
    {
      g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "no");
      return FALSE;
    }
  for (gsize i = 0; i < operands[0].size / sizeof (float); i++)
    ((float *) results[0].data)[i] = ((const float *) operands[0].data)[i] + 1;
  return TRUE;
}

static void
test_host_calls (void)
{
  static const char *const texts[] = { HOST_CALLS ("last"), HOST_CALLS ("refuse"), HOST_CALLS ("last") };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (Program) p = program_new (texts[i], GANTRY_CODE_CPU, TRUE);
      g_autoptr (GPtrArray) arguments = make_arguments (p, 0), got = new_results (p);
      g_autoptr (GString) asked = g_string_new (NULL);
      g_autoptr (GError) error = NULL;

      if (i < 2)
        gantry_executor_set_host_call (p->executor, answer, asked);
      gantry_executor_run_literals (p->executor, (GantryLiteral *const *) arguments->pdata, arguments->len, (GantryLiteral **) got->pdata, got->len, NULL, NULL,
                                    &error);
      g_assert_cmpstr (asked->str, ==, i == 0 ? "first inner inner last " : i == 1 ? "first inner inner refuse " : "");
      if (i == 0)
        {
          g_assert_no_error (error);
          for (gint64 k = 0; k < 4; k++)
            g_assert_cmpfloat (gantry_literal_get_double (g_ptr_array_index (got, 0), k), ==,
                               -(gantry_literal_get_double (g_ptr_array_index (arguments, 0), k) + 1) + 3);
        }
      else if (i == 1)
        {
          g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED);
          g_assert_nonnull (strstr (error->message, "'the last' (refuse): no"));
        }
      else
        {
          g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
          g_assert_nonnull (strstr (error->message, "(first): nobody answers it"));
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/control/same", test_same);
  g_test_add_func ("/kernels/control/untaken", test_untaken);
  g_test_add_func ("/kernels/control/spans", test_spans);
  g_test_add_func ("/kernels/control/region-events", test_region_events);
  g_test_add_func ("/kernels/control/exact-trips", test_exact_trips);
  g_test_add_func ("/kernels/control/cancel", test_cancel);
  g_test_add_func ("/kernels/control/host-calls", test_host_calls);
  return g_test_run ();
}
