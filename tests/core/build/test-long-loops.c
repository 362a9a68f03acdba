/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that are too long to be written out: a recurrent network of 10,000 steps trains, as a program whose size does not depend on the
 * steps; greedy decoding stops where its data says so, with its caches written where they lie. */
#include "core/build/build.h"
#include "core/eval/evaluator.h"
#include "core/graph/graph.h"
#include "core/planner/solver/solve.h"
#include "core/runtime/cpu/cpu.h"
#include "core/runtime/runtime.h"
#include "tests/core/build/loop-policies.h"
#include "tests/core/build/loop-programs.h"
#include "tests/test-files.h"

typedef struct
{
  GantryContext *context;
  GantryModule *module;
  GantryCompileSettings settings;
  GantryCompilation *compilation;
  GantryProgram *program;
  GantryDevice *device;
  GantryExecutor *executor;
} Built;

/* @text: taken; @policy: (nullable): statements that place values; loops of more than @most_unrolled nodes stay loops */
static void
build_with (Built *b, char *text, gboolean train, const char *policy, guint64 most_unrolled)
{
  const GantryBuildOptions options = { .threads = 1 };
  g_autofree char *owned = text;
  g_autoptr (GantryModel) model = NULL;
  g_autoptr (GError) error = NULL;

  b->context = gantry_context_new ();
  b->module = gantry_module_from_text (b->context, text, -1, "loop.gir", &error);
  g_assert_no_error (error);
  model = gantry_model_new (b->module, "loop");
  gantry_compile_settings_init (&b->settings);
  b->settings.train = train;
  b->settings.policy = g_strdup (policy);
  b->settings.most_unrolled = most_unrolled;
  b->settings.training.loss = GANTRY_LOSS_OUTPUT;
  b->settings.training.optimizer = GANTRY_OPTIMIZER_ADAM;
  b->compilation = gantry_compile (model, &b->settings, NULL, &error);
  g_assert_no_error (error);
  b->program = gantry_build (b->compilation, &b->settings, &options, NULL, &error);
  g_assert_no_error (error);
  b->device = gantry_cpu_device_new (1);
  b->executor = gantry_executor_new (b->device, b->program->executable, NULL, &error);
  g_assert_no_error (error);
}

static void
build_placed (Built *b, char *text, gboolean train, const char *policy)
{
  build_with (b, text, train, policy, 1);
}

static void
build (Built *b, char *text, gboolean train)
{
  build_placed (b, text, train, NULL);
}

static void
clear (Built *b)
{
  gantry_executor_free (b->executor);
  gantry_device_unref (b->device);
  gantry_program_free (b->program);
  gantry_compilation_unref (b->compilation);
  gantry_compile_settings_clear (&b->settings);
  gantry_module_unref (b->module);
  gantry_context_unref (b->context);
}

/* Numbers between -0.5 and 0.5; integers are 1. */
static GPtrArray *
make_arguments (const GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);
  GPtrArray *arguments = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);

  for (guint i = 0; i < entry->n_params; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];
      const GantryType *type = gantry_node_type (module, node);
      guint8 *data;
      GantryLiteral *literal = gantry_literal_new_zeroed (type, &data);

      for (gint64 k = 0; k < gantry_type_elements (type); k++)
        if (type->element == GANTRY_I32)
          ((gint32 *) (gpointer) data)[k] = gantry_parameter_role (module, node) == GANTRY_SUBJECT_INPUT;
        else if (gantry_parameter_role (module, node) != GANTRY_SUBJECT_STATE)
          ((float *) (gpointer) data)[k] = (float) ((k * 37 + 11 * i + k * k % 29 + 5) % 64 - 32) / 64;
      g_ptr_array_add (arguments, literal);
    }
  return arguments;
}

static GPtrArray *
run (const Built *b, const GPtrArray *arguments)
{
  GPtrArray *results = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
  g_autoptr (GError) error = NULL;

  g_ptr_array_set_size (results, (gint) b->program->executable->n_outputs);
  gantry_executor_run_literals (b->executor, (GantryLiteral *const *) arguments->pdata, arguments->len,
                                (GantryLiteral **) results->pdata, results->len, NULL, NULL, &error);
  g_assert_no_error (error);
  return results;
}

/* What a step gives for parameters and states is what the next one is given. */
static void
feed_back (const GantryModule *module, GPtrArray *arguments, const GPtrArray *results)
{
  const GantryFunction *entry = gantry_module_entry (module);

  for (guint i = 0; i < entry->n_params; i++)
    {
      gint64 result = gantry_parameter_alias (module, &module->nodes[entry->first_node + i]);

      if (result < 0)
        continue;
      gantry_literal_unref (arguments->pdata[i]);
      arguments->pdata[i] = gantry_literal_ref (results->pdata[result]);
    }
}

static void
test_recurrent (void)
{
  Built built, shorter;
  g_autoptr (GPtrArray) arguments = NULL;
  const GantryModule *module;
  double before = 1;

  build (&built, gru_program (10000, 2, 8), TRUE);
  build (&shorter, gru_program (9000, 2, 8), TRUE);
  module = built.program->executable->module;
  g_assert_cmpuint (module->n_nodes, <, 1000);
  g_assert_cmpuint (module->n_nodes, ==, shorter.program->executable->module->n_nodes);
  g_assert_cmpuint (built.program->executable->n_kernels, ==, shorter.program->executable->n_kernels);
  clear (&shorter);
  arguments = make_arguments (module);
  for (guint step = 0; step < 4; step++)
    {
      g_autoptr (GPtrArray) results = run (&built, arguments);
      double loss = gantry_literal_get_double (results->pdata[0], 0);

      g_test_message ("loss %g", loss);
      g_assert_cmpfloat (loss, <, before);
      before = loss;
      feed_back (module, arguments, results);
    }
  clear (&built);
}

/* What the forward loop saves for the backward one is in the host alone, and comes and goes by slices: the same bits, and on the device
 * less by all of it. (Of so large a batch no product is made behind the loop, which would read stacks as a whole.) */
static void
test_offloaded (void)
{
  static const int steps = 300, batch = 8, width = 16;
  Built kept, placed;
  g_autoptr (GPtrArray) arguments = NULL;
  const GantryPlan *a, *b;
  guint64 host;

  build (&kept, gru_program (steps, batch, width), TRUE);
  build_placed (&placed, gru_program (steps, batch, width), TRUE, "role:residual offload");
  a = kept.program->executable->plan;
  b = placed.program->executable->plan;
  host = b->arena_bytes[GANTRY_MEMORY_PINNED_HOST];
  g_assert_cmpuint (host, >=, (guint64) steps * (guint64) batch * (guint64) width * sizeof (float));
  g_assert_cmpuint (a->arena_bytes[GANTRY_MEMORY_PINNED_HOST], ==, 0);
  g_assert_cmpuint (b->arena_bytes[GANTRY_MEMORY_DEVICE] + host, <=, a->arena_bytes[GANTRY_MEMORY_DEVICE] + 8192);
  /* Out, and back again. */
  g_assert_cmpuint (b->copied_bytes, >=, 2 * (host - 4096));
  g_assert_cmpuint (b->copied_bytes, <=, 2 * host);
  g_assert_cmpfloat (b->total_us, >, a->total_us);
  arguments = make_arguments (kept.program->executable->module);
  for (guint round = 0; round < 2; round++)
    {
      g_autoptr (GPtrArray) want = run (&kept, arguments), got = NULL;

      gantry_executor_set_verify (placed.executor, round == 0 ? 0 : GANTRY_VERIFY_PLACES | GANTRY_VERIFY_POISON);
      got = run (&placed, arguments);
      for (guint i = 0; i < want->len; i++)
        {
          const GantryLiteral *x = want->pdata[i], *y = got->pdata[i];

          g_assert_cmpmem (x->data, x->size, y->data, y->size);
        }
      feed_back (kept.program->executable->module, arguments, want);
    }
  clear (&kept);
  clear (&placed);
}

/* x = x + gelu (x w[i]), twelve times. */
static const char layers[] =
  "module \"layers\" {\n"
  "  func @main #1 (%1 \"x\": f32[32,64], %2 \"w\": f32[12,64,64] {role = \"parameter\"}) -> (%4) {\n"
  "    %3 = scan(%1, %2) {axes = [0], body = #2, length = 12, n_carries = 1, n_xs = 1, y_axes = ints[]}: f32[32,64]\n"
  "    %4 = reduce(%3) {dimensions = [0, 1], kind = \"add\"}: f32[]\n"
  "  }\n"
  "  func @layer #2 (%10: f32[32,64], %11: f32[64,64]) -> (%30) {\n"
  "    %31 = dot_general(%10, %11) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[32,64]\n"
  "    %12 = checkpoint_name(%31) {name = \"p\"}: f32[32,64]\n"
  "    %13 = constant() {value = splat<f32[32,64]: 0.044715>}: f32[32,64]\n"
  "    %14 = multiply(%12, %12): f32[32,64]\n"
  "    %15 = multiply(%14, %12): f32[32,64]\n"
  "    %16 = multiply(%15, %13): f32[32,64]\n"
  "    %17 = add(%12, %16): f32[32,64]\n"
  "    %18 = constant() {value = splat<f32[32,64]: 0.797885>}: f32[32,64]\n"
  "    %19 = multiply(%17, %18): f32[32,64]\n"
  "    %20 = tanh(%19): f32[32,64]\n"
  "    %21 = constant() {value = splat<f32[32,64]: 1.0>}: f32[32,64]\n"
  "    %22 = add(%20, %21): f32[32,64]\n"
  "    %23 = multiply(%12, %22): f32[32,64]\n"
  "    %24 = constant() {value = splat<f32[32,64]: 0.5>}: f32[32,64]\n"
  "    %25 = multiply(%23, %24): f32[32,64]\n"
  "    %30 = add(%10, %25): f32[32,64]\n"
  "  }\n"
  "}\n";

/* x = tanh (x w) + tanh (x v), whose weights are given: of a trip two values are saved, and not what it begins with. */
static const char given[] =
  "module \"given\" {\n"
  "  func @main #1 (%1 \"x\": f32[16,32] {role = \"parameter\"}, %2 \"w\": f32[32,32], %5 \"v\": f32[32,32]) -> (%4) {\n"
  "    %3 = scan(%1, %2, %5) {axes = ints[], body = #2, length = 12, n_carries = 1, n_xs = 0, reverse = 1, y_axes = ints[]}: f32[16,32]\n"
  "    %4 = reduce(%3) {dimensions = [0, 1], kind = \"add\"}: f32[]\n"
  "  }\n"
  "  func @layer #2 (%10: f32[16,32], %11: f32[32,32], %12: f32[32,32]) -> (%17) {\n"
  "    %13 = dot_general(%10, %11) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[16,32]\n"
  "    %14 = dot_general(%10, %12) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[16,32]\n"
  "    %15 = tanh(%13): f32[16,32]\n"
  "    %16 = tanh(%14): f32[16,32]\n"
  "    %17 = add(%15, %16): f32[16,32]\n"
  "  }\n"
  "}\n";

/* x = x + tanh (x w) where fewer than three trips have been made, then x + tanh (x w)^2: which it is, is made again from how many. */
static const char counted[] =
  "module \"counted\" {\n"
  "  func @main #1 (%1 \"x\": f32[6,5], %2 \"w\": f32[5,5] {role = \"parameter\"}) -> (%5) {\n"
  "    %3 = constant() {value = dense<i32[]: 0>}: i32[]\n"
  "    %4 = scan(%1, %3, %2) {axes = ints[], body = #2, length = 7, n_carries = 2, n_xs = 0, y_axes = ints[]}: (f32[6,5], i32[])\n"
  "    %6 = result(%4) {index = 0}: f32[6,5]\n"
  "    %5 = reduce(%6) {dimensions = [0, 1], kind = \"add\"}: f32[]\n"
  "  }\n"
  "  func @trip #2 (%10: f32[6,5], %11: i32[], %12: f32[5,5]) -> (%21, %15) {\n"
  "    %13 = dot_general(%10, %12) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[6,5]\n"
  "    %14 = constant() {value = dense<i32[]: 1>}: i32[]\n"
  "    %15 = add(%11, %14): i32[]\n"
  "    %16 = constant() {value = dense<i32[]: 3>}: i32[]\n"
  "    %17 = compare(%11, %16) {comparison_direction = \"LT\"}: bool[]\n"
  "    %18 = broadcast_in_dim(%17) {broadcast_dimensions = ints[], shape = [6, 5]}: bool[6,5]\n"
  "    %30 = tanh(%13): f32[6,5]\n"
  "    %19 = multiply(%30, %30): f32[6,5]\n"
  "    %20 = select(%18, %30, %19): f32[6,5]\n"
  "    %21 = add(%10, %20): f32[6,5]\n"
  "  }\n"
  "}\n";

/* A loop of no trips hands on what it is given. */
static void
test_empty (void)
{
  static const char text[] =
    "module \"empty\" {\n"
    "  func @main #1 (%1: f32[8,8], %2: f32[0,8,8] {role = \"parameter\"}, %3: f32[8,8] {role = \"parameter\"}) -> (%11) {\n"
    "    %12 = multiply(%1, %3): f32[8,8]\n"
    "    %10 = scan(%12, %2) {axes = [0], body = #2, length = 0, n_carries = 1, n_xs = 1, y_axes = ints[]}: f32[8,8]\n"
    "    %11 = reduce(%10) {dimensions = [0, 1], kind = \"add\"}: f32[]\n"
    "  }\n"
    "  func @layer #2 (%4: f32[8,8], %5: f32[8,8]) -> (%9) {\n"
    "    %8 = add(%4, %5): f32[8,8]\n"
    "    %9 = tanh(%8): f32[8,8]\n"
    "  }\n"
    "}\n";
  Built rolled, unrolled;
  g_autoptr (GPtrArray) arguments = NULL, want = NULL, got = NULL;

  build (&rolled, g_strdup (text), TRUE);
  build_with (&unrolled, g_strdup (text), TRUE, NULL, 100000);
  g_assert_cmpuint (rolled.program->executable->n_controls, >, 0);
  arguments = make_arguments (rolled.program->executable->module);
  want = run (&unrolled, arguments);
  got = run (&rolled, arguments);
  for (guint i = 0; i < want->len; i++)
    {
      const GantryLiteral *x = want->pdata[i], *y = got->pdata[i];

      g_assert_cmpmem (x->data, x->size, y->data, y->size);
    }
  clear (&rolled);
  clear (&unrolled);
}

/* As a loop a program saves no more than written out (of a layer x and the product; all else is computed again of those), slices are used
 * where they lie in their stacks, and the numbers are the same. */
static void
test_rolled (void)
{
  Built rolled, unrolled;
  g_autoptr (GPtrArray) arguments = NULL, want = NULL, got = NULL;
  guint64 a, b;

  build (&rolled, g_strdup (layers), TRUE);
  build_with (&unrolled, g_strdup (layers), TRUE, NULL, 100000);
  a = gantry_plan_temp_bytes (rolled.program->executable->plan, GANTRY_MEMORY_DEVICE);
  b = gantry_plan_temp_bytes (unrolled.program->executable->plan, GANTRY_MEMORY_DEVICE);
  g_assert_cmpuint (rolled.program->executable->n_controls, ==, 2);
  g_assert_cmpuint (unrolled.program->executable->n_controls, ==, 0);
  g_test_message ("temporaries: %" G_GUINT64_FORMAT " bytes as a loop, %" G_GUINT64_FORMAT " written out", a, b);
  /* The body's own values, one of them the layer's, lie beside all stacks. */
  g_assert_cmpuint (a, <=, b + 5 * 32 * 64 * sizeof (float) + 4096);
  arguments = make_arguments (rolled.program->executable->module);
  want = run (&unrolled, arguments);
  got = run (&rolled, arguments);
  for (guint i = 0; i < want->len; i++)
    {
      const GantryLiteral *x = want->pdata[i], *y = got->pdata[i];

      g_assert_cmpmem (x->data, x->size, y->data, y->size);
    }
  clear (&rolled);
  clear (&unrolled);
}

static void
assert_equal_results (const GPtrArray *want, const GPtrArray *got)
{
  for (guint i = 0; i < want->len; i++)
    {
      const GantryLiteral *x = want->pdata[i], *y = got->pdata[i];

      g_assert_cmpmem (x->data, x->size, y->data, y->size);
    }
}

/* Whatever is placed how, within loops as well: the same bits; and nobody reads what is not there. */
static void
check_policies (const char *text)
{
  Built kept;
  g_autoptr (GPtrArray) arguments = NULL, want = NULL;
  guint64 all, least = G_MAXUINT64;

  build (&kept, g_strdup (text), TRUE);
  g_assert_cmpuint (kept.program->executable->n_controls, ==, 2);
  all = gantry_plan_temp_bytes (kept.program->executable->plan, GANTRY_MEMORY_DEVICE);
  arguments = make_arguments (kept.program->executable->module);
  want = run (&kept, arguments);
  for (guint p = 0; p < G_N_ELEMENTS (loop_policies); p++)
    {
      Built placed;
      g_autoptr (GPtrArray) got = NULL, verified = NULL;
      g_autofree char *policy = loop_policy (p, "p");
      const GantryPlan *plan;

      g_test_message ("%s", policy);
      build_placed (&placed, g_strdup (text), TRUE, policy);
      plan = placed.program->executable->plan;
      got = run (&placed, arguments);
      assert_equal_results (want, got);
      gantry_executor_set_verify (placed.executor, GANTRY_VERIFY_PLACES | GANTRY_VERIFY_POISON);
      verified = run (&placed, arguments);
      assert_equal_results (want, verified);
      if (plan->copied_bytes == 0)
        least = MIN (least, gantry_plan_temp_bytes (plan, GANTRY_MEMORY_DEVICE));
      clear (&placed);
    }
  g_test_message ("temporaries: %" G_GUINT64_FORMAT " bytes, at least %" G_GUINT64_FORMAT " by recomputing alone", all, least);
  g_assert_cmpuint (least, <, all);
  clear (&kept);
}

/* x = x + tanh (x w + b), whose weights are parameters of their own. */
static char *
separate_layers (guint n)
{
  GString *parameters = g_string_new (NULL), *nodes = g_string_new (NULL);
  g_autofree char *head = NULL;

  for (guint i = 0; i < n; i++)
    {
      guint w = 100 + 2 * i, id = 1000 + 10 * i, x = i == 0 ? 1 : id - 10;

      g_string_append_printf (parameters, ", %%%u \"w%u\": f32[64,64] {role = \"parameter\"}, %%%u \"b%u\": f32[64] {role = \"parameter\"}",
                              w, i, w + 1, i);
      g_string_append_printf (nodes,
                              "    %%%u = dot_general(%%%u, %%%u) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[32,64]\n"
                              "    %%%u = broadcast_in_dim(%%%u) {broadcast_dimensions = [1], shape = [32, 64]}: f32[32,64]\n"
                              "    %%%u = add(%%%u, %%%u): f32[32,64]\n"
                              "    %%%u = checkpoint_name(%%%u) {name = \"p\"}: f32[32,64]\n"
                              "    %%%u = tanh(%%%u): f32[32,64]\n"
                              "    %%%u = add(%%%u, %%%u): f32[32,64]\n",
                              id + 1, x, w, id + 2, w + 1, id + 3, id + 1, id + 2, id + 4, id + 3, id + 5, id + 4, id, x, id + 5);
    }
  head = g_strdup_printf ("module \"separate\" {\n  func @main #1 (%%1 \"x\": f32[32,64]%s) -> (%%4) {\n%s"
                          "    %%4 = reduce(%%%u) {dimensions = [0, 1], kind = \"add\"}: f32[]\n  }\n}\n",
                          parameters->str, nodes->str, 1000 + 10 * (n - 1));
  g_string_free (parameters, TRUE);
  g_string_free (nodes, TRUE);
  return g_steal_pointer (&head);
}

static void
check_separate (guint n, const char *rules)
{
  Built rolled, unrolled;
  g_autoptr (GPtrArray) arguments = NULL;
  guint64 a, b;

  build_with (&rolled, separate_layers (n), TRUE, rules, 1);
  build_with (&unrolled, separate_layers (n), TRUE, rules, 100000);
  a = gantry_plan_memory_bytes (rolled.program->executable->plan, GANTRY_MEMORY_DEVICE);
  b = gantry_plan_memory_bytes (unrolled.program->executable->plan, GANTRY_MEMORY_DEVICE);
  g_test_message ("%u layers, %s: %" G_GUINT64_FORMAT " bytes as a loop, %" G_GUINT64_FORMAT " written out", n, rules, a, b);
  /* Beside what both have: what the body needs while it runs, and slices on their way. */
  g_assert_cmpuint (a, <=, b + b / 4);
  g_assert_cmpuint (rolled.program->executable->n_controls, ==, 2);
  g_assert_cmpuint (unrolled.program->executable->n_controls, ==, 0);
  arguments = make_arguments (rolled.program->executable->module);
  for (guint round = 0; round < 3; round++)
    {
      g_autoptr (GPtrArray) want = run (&unrolled, arguments), got = NULL;

      gantry_executor_set_verify (rolled.executor, round == 0 ? 0 : GANTRY_VERIFY_PLACES | GANTRY_VERIFY_POISON);
      got = run (&rolled, arguments);
      assert_equal_results (want, got);
      feed_back (rolled.program->executable->module, arguments, want);
    }
  clear (&rolled);
  clear (&unrolled);
}

/* Layers whose weights are parameters of their own become loops: weights, states and what they become lie where they are given, not in stacks
 * beside; parameters are written over by the trip that makes their gradient. What is in the host comes and goes beside other trips, or, of
 * few trips, is fetched by each where it reads it. The bits are those of the program written out. */
static void
test_separate (void)
{
  static const char *const more[] = { "role:residual keep", "role:state offload; role:parameter offload",
                                      "role:residual offload; role:state offload; role:parameter offload" };

  for (guint p = 0; p < G_N_ELEMENTS (loop_policies) + G_N_ELEMENTS (more); p++)
    {
      g_autofree char *policy = p < G_N_ELEMENTS (loop_policies) ? loop_policy (p, "p") : g_strdup (more[p - G_N_ELEMENTS (loop_policies)]);

      if (strstr (policy, "offload") != NULL)
        check_separate (5, policy);
      if (p % 2 == 1 || strstr (policy, "offload") != NULL)
        check_separate (12, policy);
    }
}

/* An argument that is in the host, and that the program copies to the device. */
static const char hosted[] =
  "module \"hosted\" {\n"
  "  func @main #1 (%1 \"x\": f32[1024] {alias = 0}, %2 \"p\": f32[4,1024]@pinned_host) -> (%31, %33) {\n"
  "    %3 = copy(%2) {memory = \"device\"}: f32[4,1024] phase(backward)\n"
  "    %20 = scan(%1, %3) {body = #2, length = 4, n_carries = 1, n_xs = 1, axes = [0], y_axes = [0], reverse = 1}:"
  " (f32[1024], f32[4,1024]) phase(backward)\n"
  "    %31 = result(%20) {index = 0}: f32[1024] phase(backward)\n"
  "    %32 = result(%20) {index = 1}: f32[4,1024] phase(backward)\n"
  "    %33 = reduce(%32) {dimensions = [0], kind = \"add\"}: f32[1024] phase(backward)\n"
  "  }\n"
  "  func @trip #2 (%21: f32[1024] {alias = 0} phase(backward), %22: f32[1024] phase(backward)) -> (%24, %25) {\n"
  "    %23 = add(%21, %22): f32[1024] phase(backward)\n"
  "    %24 = tanh(%23): f32[1024] phase(backward)\n"
  "    %25 = multiply(%24, %22): f32[1024] phase(backward)\n"
  "  }\n"
  "}\n";

/* A loop whose body has another one, which walks along what the body fetches. */
static const char nested[] =
  "module \"nested\" {\n"
  "  func @main #1 (%1 \"x\": f32[4096], %2 \"p\": f32[2,4096] {alias = 1, role = \"parameter\"}) -> (%31, %32) {\n"
  "    %20 = scan(%1, %2) {body = #2, length = 2, n_carries = 1, n_xs = 1, axes = [0], y_axes = [0], reverse = 0}:"
  " (f32[4096], f32[2,4096]) phase(backward)\n"
  "    %31 = result(%20) {index = 0}: f32[4096] phase(backward)\n"
  "    %32 = result(%20) {index = 1}: f32[2,4096] phase(backward)\n"
  "  }\n"
  "  func @trip #2 (%21: f32[4096] {alias = 0} phase(backward), %22: f32[4096] phase(backward)) -> (%24, %25) {\n"
  "    %60 = reshape(%22) {shape = [4, 1024]}: f32[4,1024] phase(backward)\n"
  "    %61 = reduce(%60) {dimensions = [0], kind = \"add\"}: f32[1024] phase(backward)\n"
  "    %62 = scan(%61, %60) {body = #9, length = 4, n_carries = 1, n_xs = 1, axes = [0], y_axes = [0], reverse = 1}:"
  " (f32[1024], f32[4,1024]) phase(backward)\n"
  "    %63 = result(%62) {index = 1}: f32[4,1024] phase(backward)\n"
  "    %64 = reshape(%63) {shape = [4096]}: f32[4096] phase(backward)\n"
  "    %23 = add(%21, %64): f32[4096] phase(backward)\n"
  "    %24 = tanh(%23): f32[4096] phase(backward)\n"
  "    %25 = multiply(%24, %22): f32[4096] phase(backward)\n"
  "  }\n"
  "  func @inner #9 (%81: f32[1024] {alias = 0} phase(backward), %82: f32[1024] phase(backward)) -> (%83, %84) {\n"
  "    %83 = add(%81, %82): f32[1024] phase(backward)\n"
  "    %84 = tanh(%83): f32[1024] phase(backward)\n"
  "  }\n"
  "}\n";

/* @policy: (nullable): of the program as a loop */
static void
check_fetched (const char *text, const char *policy)
{
  Built rolled, unrolled;
  g_autoptr (GPtrArray) arguments = NULL, want = NULL, got = NULL;

  build_with (&rolled, g_strdup (text), FALSE, policy, 1);
  build_with (&unrolled, g_strdup (text), FALSE, NULL, 100000);
  g_assert_cmpuint (rolled.program->executable->n_controls, >, 0);
  g_assert_cmpuint (rolled.program->executable->plan->arena_bytes[GANTRY_MEMORY_PINNED_HOST]
                      + rolled.program->executable->plan->copied_bytes, >, 0);
  g_assert_cmpuint (unrolled.program->executable->n_controls, ==, 0);
  arguments = make_arguments (rolled.program->executable->module);
  want = run (&unrolled, arguments);
  got = run (&rolled, arguments);
  assert_equal_results (want, got);
  clear (&rolled);
  clear (&unrolled);
}

/* What a loop walks along is in the host and is fetched as a whole: its slices lie on the device, and need no stages. */
static void
test_fetched (void)
{
  check_fetched (hosted, NULL);
  check_fetched (nested, "role:parameter offload");
}

/* Programs as they are given: as loops and written out the same bits, whatever is placed. (Not of recurrent networks: a product that a trip
 * hands on is rounded, where written out it and the sum that takes it may be one operation of one kernel.) @text: (transfer full) */
static void
check_written_out (char *text)
{
  static const char *const policies[] = { "role:residual keep", "policy nothing_saveable", "role:residual offload", "* recompute" };
  g_autofree char *owned = text;

  for (guint p = 0; p < G_N_ELEMENTS (policies); p++)
    {
      Built rolled, unrolled;
      g_autoptr (GPtrArray) arguments = NULL, want = NULL, got = NULL;

      build_with (&rolled, g_strdup (text), TRUE, policies[p], 1);
      build_with (&unrolled, g_strdup (text), TRUE, policies[p], 100000);
      g_assert_cmpuint (unrolled.program->executable->n_controls, ==, 0);
      arguments = make_arguments (rolled.program->executable->module);
      want = run (&unrolled, arguments);
      got = run (&rolled, arguments);
      assert_equal_results (want, got);
      clear (&rolled);
      clear (&unrolled);
    }
}

static void
test_programs (void)
{
  static const char *const files[] = { "layers-tiny.gir", "layers-unrolled-tiny.gir", "transformer-tiny.gir" };

  for (guint f = 0; f < G_N_ELEMENTS (files); f++)
    {
      g_autofree char *path = test_source_file ("data/programs", files[f]);
      g_autoptr (GError) error = NULL;
      char *text = NULL;

      g_test_message ("%s", files[f]);
      g_file_get_contents (path, &text, NULL, &error);
      g_assert_no_error (error);
      check_written_out (text);
    }
}

/* Returns: (transfer full): rules for what the solver finds for @text within @percent of the temporaries of keeping all, without copies */
static char *
solve (const Built *kept, guint percent)
{
  GantryModule *module = kept->program->executable->module;
  const GantrySolveGoal none = { .memory_bytes = 1 };
  GantrySolveGoal goal = { .allowed = 1u << GANTRY_PLACEMENT_KEEP | 1u << GANTRY_PLACEMENT_RECOMPUTE };
  g_autoptr (GantryPlanner) planner = NULL;
  g_autoptr (GantryPrediction) all = gantry_prediction_new ();
  g_autoptr (GantrySolution) solution = NULL, impossible = NULL;
  g_autoptr (GError) error = NULL;
  GString *rules = g_string_new (NULL);

  planner = gantry_planner_new (module, NULL, NULL, &error);
  g_assert_no_error (error);
  gantry_planner_predict (planner, NULL, all);
  goal.memory_bytes = all->peak_bytes - all->temp_bytes + all->temp_bytes * percent / 100;
  solution = gantry_solve (planner, &goal, NULL, NULL, &error);
  g_assert_no_error (error);
  g_test_message ("%s: %.1f us where keeping all takes %.1f", solution->method, solution->figures.step_us, all->step_us);
  g_assert_cmpfloat (solution->bound, <=, solution->figures.step_us * (1 + 1e-9));
  g_assert_cmpint (solution->proof, !=, GANTRY_PROOF_SCHEDULES);
  impossible = gantry_solve (planner, &none, NULL, NULL, &error);
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
  for (guint i = 0; i < solution->placements->entries->len; i++)
    {
      const GantryPlacement *entry = &g_array_index (solution->placements->entries, GantryPlacement, i);

      if (entry->kind == GANTRY_PLACEMENT_RECOMPUTE)
        g_string_append_printf (rules, "%sid:%u recompute", rules->len > 0 ? "; " : "", entry->node);
    }
  return g_string_free (rules, FALSE);
}

/* What the solver finds for loops holds when it is run: the memory, and the bits. */
static void
test_solved (void)
{
  g_autofree char *gru = gru_program (40, 8, 16), *rules = NULL;
  Built kept, placed;
  g_autoptr (GPtrArray) arguments = NULL, want = NULL, got = NULL;

  build (&kept, g_strdup (gru), TRUE);
  rules = solve (&kept, 60);
  g_test_message ("%s", rules);
  build_placed (&placed, g_strdup (gru), TRUE, rules);
  g_assert_cmpuint (gantry_plan_temp_bytes (placed.program->executable->plan, GANTRY_MEMORY_DEVICE), <,
                    gantry_plan_temp_bytes (kept.program->executable->plan, GANTRY_MEMORY_DEVICE) * 7 / 10);
  g_assert_cmpuint (placed.program->executable->plan->copied_bytes, ==, 0);
  arguments = make_arguments (kept.program->executable->module);
  want = run (&kept, arguments);
  got = run (&placed, arguments);
  assert_equal_results (want, got);
  clear (&kept);
  clear (&placed);
}

static void
test_policies (void)
{
  g_autofree char *gru = gru_program (40, 4, 16);

  check_policies (layers);
  check_policies (given);
  check_policies (counted);
  check_policies (gru);
}

/* Nothing is copied from where the body makes a cache to where the next trip reads it. */
static void
assert_in_place (const GantryExecutable *executable)
{
  const GantryControlCode *code = &executable->controls[0];
  const GantryRegionLayout *layout = code->layouts[GANTRY_CONTROL_BODY];

  g_assert_cmpuint (executable->n_controls, ==, 1);
  g_assert_cmpint (code->control.kind, ==, GANTRY_CONTROL_WHILE);
  for (guint i = 0; i < layout->copies->len; i++)
    g_assert_cmpuint (g_array_index (layout->copies, GantryRegionCopy, i).bytes, <=, DECODE_TOKENS * sizeof (gint32));
}

/* The likeliest of two tokens may lie within a rounding of each other: the same are expected of the same code. */
static void
test_decoding (void)
{
  static const int width = 16, vocabulary = 32;
  Built all, some;
  g_autoptr (GPtrArray) arguments = NULL, written = NULL, stopped = NULL;
  gint64 end, first = 0;

  build (&all, decode_program (width, vocabulary, -1, TRUE), FALSE);
  assert_in_place (all.program->executable);
  arguments = make_arguments (all.program->executable->module);
  written = run (&all, arguments);
  g_assert_cmpint (gantry_literal_get_int (written->pdata[1], 0), ==, DECODE_TOKENS);
  /* The third token ends it, where it comes first. */
  end = gantry_literal_get_int (written->pdata[0], 2);
  while (gantry_literal_get_int (written->pdata[0], first) != end)
    first++;
  build (&some, decode_program (width, vocabulary, (int) end, TRUE), FALSE);
  stopped = run (&some, arguments);
  g_assert_cmpint (gantry_literal_get_int (stopped->pdata[1], 0), ==, first + 1);
  for (gint64 i = 0; i < DECODE_TOKENS; i++)
    g_assert_cmpint (gantry_literal_get_int (stopped->pdata[0], i), ==, i <= first ? gantry_literal_get_int (written->pdata[0], i) : 0);
  clear (&all);
  clear (&some);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/loops/recurrent", test_recurrent);
  g_test_add_func ("/loops/offloaded", test_offloaded);
  g_test_add_func ("/loops/decoding", test_decoding);
  g_test_add_func ("/loops/empty", test_empty);
  g_test_add_func ("/loops/rolled", test_rolled);
  g_test_add_func ("/loops/programs", test_programs);
  g_test_add_func ("/loops/separate", test_separate);
  g_test_add_func ("/loops/fetched", test_fetched);
  g_test_add_func ("/loops/policies", test_policies);
  g_test_add_func ("/loops/solved", test_solved);
  return g_test_run ();
}
