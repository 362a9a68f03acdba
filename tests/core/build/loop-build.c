/* SPDX-License-Identifier: Apache-2.0 */
/* Building and running programs with loops for tests. */
#include "tests/core/build/loop-build.h"
#include "core/graph/graph.h"
#include "core/runtime/cpu/cpu.h"

/* @text: taken; b->settings are initialised, and what is given besides is put into them */
static void
build (LoopBuilt *b, char *text, gboolean train, guint32 most_unrolled)
{
  const GantryBuildOptions options = { .threads = 1 };
  g_autofree char *owned = text;
  g_autoptr (GantryModel) model = NULL;
  g_autoptr (GError) error = NULL;

  b->context = gantry_context_new ();
  b->module = gantry_module_from_text (b->context, text, -1, "loop.gir", &error);
  g_assert_no_error (error);
  model = gantry_model_new (b->module, "loop");
  b->settings.train = train;
  b->settings.most_unrolled = most_unrolled;
  if (most_unrolled == LOOP_ROLLED)
    gantry_compile_settings_keep_loops (&b->settings);
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

void
loop_build_with (LoopBuilt *b, char *text, gboolean train, const char *policy, guint32 most_unrolled)
{
  gantry_compile_settings_init (&b->settings);
  b->settings.policy = g_strdup (policy);
  build (b, text, train, most_unrolled);
}

void
loop_build_chosen (LoopBuilt *b, char *text, const GantryChoices *choices, guint32 most_unrolled)
{
  gantry_compile_settings_init (&b->settings);
  b->settings.choices = gantry_choices_copy (choices);
  build (b, text, TRUE, most_unrolled);
}

void
loop_build_limited (LoopBuilt *b, char *text, const char *policy, guint64 limit)
{
  gantry_compile_settings_init (&b->settings);
  b->settings.policy = g_strdup (policy);
  b->settings.target.memory_limit = limit;
  build (b, text, TRUE, LOOP_ROLLED);
}

void
loop_build_without (LoopBuilt *b, char *text, const char *pass, guint32 most_unrolled)
{
  gantry_compile_settings_init (&b->settings);
  g_assert_true (gantry_compile_settings_set_enabled (&b->settings, pass, FALSE));
  build (b, text, TRUE, most_unrolled);
}

void
loop_build_placed (LoopBuilt *b, char *text, gboolean train, const char *policy)
{
  loop_build_with (b, text, train, policy, LOOP_ROLLED);
}

void
loop_build (LoopBuilt *b, char *text, gboolean train)
{
  loop_build_placed (b, text, train, NULL);
}

void
loop_build_both (LoopBuilt *rolled, LoopBuilt *unrolled, char *text, gboolean train, const char *policy)
{
  loop_build_with (rolled, g_strdup (text), train, policy, LOOP_ROLLED);
  loop_build_with (unrolled, text, train, policy, LOOP_WRITTEN_OUT);
  g_assert_cmpuint (rolled->program->executable->n_controls, >, 0);
  g_assert_cmpuint (unrolled->program->executable->n_controls, ==, 0);
}

void
loop_clear (LoopBuilt *b)
{
  gantry_executor_free (b->executor);
  gantry_device_unref (b->device);
  gantry_program_free (b->program);
  gantry_compilation_unref (b->compilation);
  gantry_compile_settings_clear (&b->settings);
  gantry_module_unref (b->module);
  gantry_context_unref (b->context);
}

GPtrArray *
loop_arguments (const GantryModule *module)
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

GPtrArray *
loop_run (const LoopBuilt *b, const GPtrArray *arguments)
{
  GPtrArray *results = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
  g_autoptr (GError) error = NULL;

  g_ptr_array_set_size (results, (gint) b->program->executable->n_outputs);
  gantry_executor_run_literals (b->executor, (GantryLiteral *const *) arguments->pdata, arguments->len, (GantryLiteral **) results->pdata, results->len, NULL,
                                NULL, &error);
  g_assert_no_error (error);
  return results;
}

void
loop_feed_back (const GantryModule *module, GPtrArray *arguments, const GPtrArray *results)
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

void
loop_assert_equal (const GPtrArray *want, const GPtrArray *got)
{
  for (guint i = 0; i < want->len; i++)
    {
      const GantryLiteral *x = want->pdata[i], *y = got->pdata[i];

      g_assert_cmpmem (x->data, x->size, y->data, y->size);
    }
}

void
loop_check_equal (const LoopBuilt *want, const LoopBuilt *got, guint rounds)
{
  const GantryModule *module = want->program->executable->module;
  g_autoptr (GPtrArray) arguments = loop_arguments (module);

  for (guint round = 0; round < rounds; round++)
    {
      g_autoptr (GPtrArray) expected = loop_run (want, arguments), results = NULL;

      gantry_executor_set_verify (got->executor, round == 0 ? 0 : GANTRY_VERIFY_PLACES | GANTRY_VERIFY_POISON);
      results = loop_run (got, arguments);
      loop_assert_equal (expected, results);
      loop_feed_back (module, arguments, expected);
    }
}

const char loop_layers[] = "module \"layers\" {\n"
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

const char loop_given[] =
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

const char loop_counted[] = "module \"counted\" {\n"
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
