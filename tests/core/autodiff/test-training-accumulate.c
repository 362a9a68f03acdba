/* SPDX-License-Identifier: Apache-2.0 */
/* Gradient accumulation: a step of several microbatches is the step of one batch of all their examples, whose loss is a mean. */
#include "core/passes/passes.h"
#include "core/plan/placement.h"
#include "tests/core/autodiff/training-test.h"
#include <math.h>
#include <string.h>

#define MICROBATCHES 3

/* Two layers; a scale that all examples share, and one that each has. */
static const char layers[] = "module \"m\" { func @main #1 (%1 \"x\": f64[B,4], %2 \"scale\": f64[5], %3 \"weights\": f64[B], %4 \"rate\": f64[],"
                             " %5 \"w\": f64[4,5] {role = \"parameter\"}, %6 \"v\": f64[5,5] {role = \"parameter\"}) -> (%15) {"
                             " %7 = dot_general(%1, %5) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f64[B,5]"
                             " %8 = tanh(%7): f64[B,5]"
                             " %9 = broadcast_in_dim(%2) {broadcast_dimensions = [1], shape = [B, 5]}: f64[B,5]"
                             " %10 = multiply(%8, %9): f64[B,5]"
                             " %11 = broadcast_in_dim(%3) {broadcast_dimensions = [0], shape = [B, 5]}: f64[B,5]"
                             " %12 = multiply(%10, %11): f64[B,5]"
                             " %13 = broadcast_in_dim(%4) {shape = [B, 5]}: f64[B,5]"
                             " %14 = add(%12, %13): f64[B,5]"
                             " %15 = dot_general(%14, %6) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f64[B,5] } }";

static GantryModule *
program (const char *text, guint batch, const char *element)
{
  g_autofree char *size = g_strdup_printf ("%u", batch);
  g_autoptr (GString) made = g_string_new (text);

  g_string_replace (made, "B", size, 0);
  g_string_replace (made, "f64", element, 0);
  return training_from_text (made->str);
}

/* @context: (out): what the types of the results belong to */
static TrainingValues *
results_of (guint batch, guint microbatches, const GantryTrainingOptions *as, gboolean written_out, GantryContext **context)
{
  g_autoptr (GantryModule) module = program (layers, batch, "f64");
  g_autoptr (GantryModule) step = NULL;
  g_autoptr (TrainingValues) arguments = NULL;
  GantryTrainingOptions options = *as;

  options.microbatches = microbatches;
  step = training_step (module, &options);
  if (written_out)
    {
      GantryPassOptions pass_options = GANTRY_PASS_OPTIONS_INIT;
      g_autoptr (GError) error = NULL;
      GantryModule *next = gantry_pass_unroll.run (step, &pass_options, NULL, &error);

      g_assert_no_error (error);
      gantry_module_unref (step);
      step = next;
    }
  arguments = training_arguments (step);
  *context = gantry_context_ref (step->context);
  return training_run (step, arguments);
}

static void
test_same (void)
{
  for (guint optimizer = 0; optimizer <= GANTRY_OPTIMIZER_ADAMW; optimizer++)
    for (guint loss = GANTRY_LOSS_MEAN_SQUARED_ERROR; loss <= GANTRY_LOSS_SOFTMAX_CROSS_ENTROPY; loss++)
      for (guint extras = 0; extras < 4; extras++)
        {
          GantryTrainingOptions options;
          g_autoptr (GantryContext) one = NULL, several = NULL, third = NULL;
          g_autoptr (TrainingValues) whole = NULL, parts = NULL, written = NULL;

          gantry_training_options_init (&options);
          options.optimizer = (GantryOptimizer) optimizer;
          options.loss = (GantryLoss) loss;
          options.l2 = extras & 1 ? 0.1 : 0;
          options.clip_norm = extras & 2 ? 0.05 : 0;
          whole = results_of (2 * MICROBATCHES, 1, &options, FALSE, &one);
          parts = results_of (2, MICROBATCHES, &options, FALSE, &several);
          written = results_of (2, MICROBATCHES, &options, TRUE, &third);
          g_assert_cmpuint (parts->n, ==, whole->n);
          for (guint r = 0; r < whole->n; r++)
            for (gint64 k = 0; k < gantry_type_elements (whole->values[r]->type); k++)
              {
                double expected = gantry_literal_get_double (whole->values[r], k);

                g_assert_cmpfloat_with_epsilon (gantry_literal_get_double (parts->values[r], k), expected, 1e-12);
                g_assert_cmpfloat_with_epsilon (gantry_literal_get_double (written->values[r], k), expected, 1e-12);
              }
        }
}

/* What of the forward phase is read in the backward phase stays that where the microbatches are written out, and is as much for each. */
static void
test_phases (void)
{
  g_autoptr (GantryModule) module = program (layers, 2, "f64");
  g_autoptr (GantryModule) one = NULL, several = NULL, written = NULL;
  g_autoptr (GError) error = NULL;
  GantryPassOptions pass_options = GANTRY_PASS_OPTIONS_INIT;
  GantryTrainingOptions options;
  guint n[2] = { 0, 0 };

  gantry_training_options_init (&options);
  one = training_step (module, &options);
  options.microbatches = MICROBATCHES;
  several = training_step (module, &options);
  written = gantry_pass_unroll.run (several, &pass_options, NULL, &error);
  g_assert_no_error (error);
  for (guint32 i = 0; i < one->n_nodes; i++)
    n[0] += one->nodes[i].op == GANTRY_OP_TANH && one->nodes[i].phase == GANTRY_PHASE_FORWARD;
  for (guint32 i = 0; i < written->n_nodes; i++)
    n[1] += written->nodes[i].op == GANTRY_OP_TANH && written->nodes[i].phase == GANTRY_PHASE_FORWARD;
  g_assert_cmpuint (n[0], ==, 1);
  g_assert_cmpuint (n[1], ==, MICROBATCHES);
  /* Neither the loss nor the sums of gradients are residuals. */
  for (guint i = 0; i < 2; i++)
    {
      const GantryModule *checked = i == 0 ? several : written;
      g_autofree guint8 *subjects = gantry_placement_subjects (checked);

      for (guint32 k = 0; k < gantry_module_entry (checked)->n_nodes; k++)
        {
          guint32 at = gantry_module_entry (checked)->first_node + k;
          const char *scope = gantry_context_scope_path (checked->context, checked->nodes[at].scope);

          if (subjects[at] == GANTRY_SUBJECT_RESIDUAL && g_str_has_suffix (scope, "microbatches"))
            g_error ("%u, %s is a residual", checked->nodes[at].id, gantry_node_op_name (checked, &checked->nodes[at]));
        }
    }
}

/* Rows of the result are rows of target and labels, also where they are more than the examples of a batch; the state of a generator and
 * what has another first dimension are whole for each microbatch. */
static void
test_divided (void)
{
  static const char flat[] = "module \"m\" { func @main #1 (%1 \"key\": u32[2], %2 \"x\": f64[B,4,3], %3 \"w\": f64[3,5] {role = \"parameter\"}) -> (%5) {"
                             " %4 = reshape(%2) {shape = [ROWS, 3]}: f64[ROWS,3]"
                             " %5 = dot_general(%4, %3) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f64[ROWS,5] } }";
  TrainingValues *results[2];
  GantryModule *steps[2];

  for (guint i = 0; i < 2; i++)
    {
      guint batch = i == 0 ? 2 : 2 * MICROBATCHES;
      g_autofree char *rows = g_strdup_printf ("%u", 4 * batch);
      g_autoptr (GString) text = g_string_new (flat);
      g_autoptr (GantryModule) module = NULL;
      g_autoptr (TrainingValues) arguments = NULL;
      GantryTrainingOptions options;

      g_string_replace (text, "ROWS", rows, 0);
      module = program (text->str, batch, "f64");
      gantry_training_options_init (&options);
      options.loss = GANTRY_LOSS_MEAN_SQUARED_ERROR;
      options.microbatches = i == 0 ? MICROBATCHES : 1;
      steps[i] = training_step (module, &options);
      for (guint32 k = 0; k < gantry_module_entry (steps[i])->n_params; k++)
        {
          const GantryNode *node = &steps[i]->nodes[gantry_module_entry (steps[i])->first_node + k];
          gint64 expected = k == 0 ? 2 : k == 1 ? 2 * MICROBATCHES : k == 2 ? 3 : 8 * MICROBATCHES;

          g_assert_cmpint (gantry_node_type (steps[i], node)->dims[0], ==, expected);
        }
      arguments = training_arguments (steps[i]);
      results[i] = training_run (steps[i], arguments);
    }
  for (guint r = 0; r < results[0]->n; r++)
    for (gint64 k = 0; k < gantry_type_elements (results[0]->values[r]->type); k++)
      g_assert_cmpfloat_with_epsilon (gantry_literal_get_double (results[0]->values[r], k), gantry_literal_get_double (results[1]->values[r], k), 1e-12);
  for (guint i = 0; i < 2; i++)
    {
      training_values_free (results[i]);
      gantry_module_unref (steps[i]);
    }
}

/* Labels of unsigned integers are data, of two examples too, where they look like the state of a generator. */
static void
test_unsigned_labels (void)
{
  static const char text[] = "module \"m\" { func @main #1 (%1 \"x\": f64[B,4], %2 \"y\": u32[B], %3 \"w\": f64[4,5] {role = \"parameter\"}) -> (%8) {"
                             " %4 = dot_general(%1, %3) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f64[B,5]"
                             " %5 = convert(%2) {to = type f64[B]}: f64[B]"
                             " %6 = broadcast_in_dim(%5) {broadcast_dimensions = [0], shape = [B, 5]}: f64[B,5]"
                             " %7 = tanh(%4): f64[B,5]"
                             " %8 = multiply(%6, %7): f64[B,5] } }";
  static const guint batches[] = { 2, 3, 4 };

  for (guint b = 0; b < G_N_ELEMENTS (batches); b++)
    for (guint wide = 0; wide < 2; wide++)
      {
        g_autoptr (GString) typed = g_string_new (text);
        g_autoptr (GantryModule) module = NULL;
        g_autoptr (GantryModule) step = NULL;
        GantryTrainingOptions options;

        g_string_replace (typed, "u32", wide ? "u64" : "u32", 0);
        module = program (typed->str, batches[b], "f64");
        gantry_training_options_init (&options);
        options.microbatches = MICROBATCHES;
        step = training_step (module, &options);
        for (guint32 k = 0; k < 2; k++)
          g_assert_cmpint (gantry_node_type (step, &step->nodes[gantry_module_entry (step)->first_node + k])->dims[0], ==, batches[b] * MICROBATCHES);
      }
}

/* @value: (transfer full) */
static void
replace (TrainingValues *values, guint i, GantryLiteral *value)
{
  gantry_literal_unref (values->values[i]);
  values->values[i] = value;
}

/* The loss of a step is the mean of that of each microbatch, whose generators go on where those of the one before have ended. */
static void
test_random (void)
{
  static const char text[] = "module \"m\" { func @main #1 (%1 \"x\": f64[B,4], %2 \"state\": u64[2], %3 \"w\": f64[4,4] {role = \"parameter\"}) -> (%14) {"
                             " %4 = dot_general(%1, %3) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f64[B,4]"
                             " %5 = rng_bit_generator(%2) {shape = [B, 4], to = type u32[B,4]}: (u64[2], u32[B,4])"
                             " %6 = result(%5) {index = 0}: u64[2]"
                             " %7 = result(%5) {index = 1}: u32[B,4]"
                             " %8 = convert(%7) {to = type f64[B,4]}: f64[B,4]"
                             " %9 = rng_bit_generator(%6) {shape = [B, 4], to = type u32[B,4]}: (u64[2], u32[B,4])"
                             " %10 = result(%9) {index = 1}: u32[B,4]"
                             " %11 = convert(%10) {to = type f64[B,4]}: f64[B,4]"
                             " %12 = multiply(%8, %11): f64[B,4]"
                             " %14 = multiply(%12, %4): f64[B,4] } }";
  /* The same, drawn for all microbatches by themselves: what the state of a microbatch is where the one before has drawn twice. */
  static const char drawn[] = "module \"d\" { func @main #1 (%1: u64[2]) -> (%4) {"
                              " %2 = rng_bit_generator(%1) {shape = [2, 4], to = type u32[2,4]}: (u64[2], u32[2,4]) %3 = result(%2) {index = 0}: u64[2]"
                              " %5 = rng_bit_generator(%3) {shape = [2, 4], to = type u32[2,4]}: (u64[2], u32[2,4]) %4 = result(%5) {index = 0}: u64[2] } }";
  g_autoptr (GantryModule) module = program (text, 2, "f64");
  g_autoptr (GantryModule) next = training_from_text (drawn);
  g_autoptr (GantryModule) one = NULL;
  g_autoptr (GantryModule) many = NULL;
  g_autoptr (TrainingValues) all = NULL, arguments = NULL, results = NULL, states = NULL;
  GantryTrainingOptions options;
  double sum = 0;

  gantry_training_options_init (&options);
  options.optimizer = GANTRY_OPTIMIZER_NONE;
  one = training_step (module, &options);
  options.microbatches = MICROBATCHES;
  many = training_step (module, &options);
  all = training_arguments (many);
  arguments = training_arguments (one);
  states = training_arguments (next);
  results = training_run (many, all);
  replace (states, 0, gantry_literal_ref (all->values[1]));
  for (guint m = 0; m < MICROBATCHES; m++)
    {
      g_autoptr (TrainingValues) loss = NULL, left = NULL;

      for (gint64 k = 0; k < 8; k++)
        replace (arguments, 0, training_changed (arguments->values[0], k, gantry_literal_get_double (all->values[0], m * 8 + k)));
      replace (arguments, 1, gantry_literal_ref (states->values[0]));
      loss = training_run (one, arguments);
      sum += gantry_literal_get_double (loss->values[0], 0);
      left = training_run (next, states);
      replace (states, 0, gantry_literal_ref (left->values[0]));
    }
  g_assert_cmpfloat_with_epsilon (gantry_literal_get_double (results->values[0], 0) * MICROBATCHES / sum, 1, 1e-12);
}

/* Sums of half precision are kept in single precision, the parameters keep their type. */
static void
test_half (void)
{
  g_autoptr (GantryModule) module = program (layers, 2, "bf16");
  g_autoptr (GantryModule) step = NULL;
  g_autoptr (TrainingValues) arguments = NULL, results = NULL;
  GantryTrainingOptions options;
  gboolean found = FALSE;

  gantry_training_options_init (&options);
  options.microbatches = MICROBATCHES;
  step = training_step (module, &options);
  for (guint32 i = 0; i < step->n_nodes; i++)
    if (step->nodes[i].op == GANTRY_OP_SCAN)
      {
        found = TRUE;
        for (guint k = 0; k < 3; k++)
          g_assert_cmpint (gantry_node_operand_type (step, &step->nodes[i], k)->element, ==, GANTRY_F32);
      }
  g_assert_true (found);
  arguments = training_arguments (step);
  results = training_run (step, arguments);
  g_assert_cmpint (results->values[1]->type->element, ==, GANTRY_BF16);
}

static void
check_refused (const char *text, guint microbatches, const char *said)
{
  g_autoptr (GantryModule) module = training_from_text (text);
  g_autoptr (GantryModule) step = NULL;
  g_autoptr (GError) error = NULL;
  GantryTrainingOptions options;

  gantry_training_options_init (&options);
  options.microbatches = microbatches;
  step = gantry_training_step (module, &options, NULL, &error);
  g_assert_null (step);
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, said));
}

static void
test_refused (void)
{
  static const char alone[] = "module \"m\" { func @main #1 (%1 \"w\": f32[4] {role = \"parameter\"}, %2 \"x\": f32[]) -> (%4) {"
                              " %3 = broadcast_in_dim(%2) {shape = [4]}: f32[4] %4 = multiply(%1, %3): f32[4] } }";
  static const char open[] = "module \"m\" { func @main #1 (%1 \"w\": f32[4] {role = \"parameter\"}, %2 \"x\": f32[n]) -> (%3) {"
                             " %3 = multiply(%1, %1): f32[4] } }";
  static const char huge[] = "module \"m\" { func @main #1 (%1 \"w\": f32[4] {role = \"parameter\"}, %2 \"x\": f32[4294967296]) -> (%3) {"
                             " %3 = multiply(%1, %1): f32[4] } }";

  check_refused (alone, 2, "no input with a dimension");
  check_refused (open, 2, "'x', whose size is not known");
  check_refused (huge, 2, "'x', whose size is 4294967296: it is to be from 1 to 2147483647");
  check_refused (alone, 4097, "at most 4096 microbatches, not 4097");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/training/accumulate/same", test_same);
  g_test_add_func ("/training/accumulate/phases", test_phases);
  g_test_add_func ("/training/accumulate/divided", test_divided);
  g_test_add_func ("/training/accumulate/unsigned-labels", test_unsigned_labels);
  g_test_add_func ("/training/accumulate/random", test_random);
  g_test_add_func ("/training/accumulate/half", test_half);
  g_test_add_func ("/training/accumulate/refused", test_refused);
  return g_test_run ();
}
