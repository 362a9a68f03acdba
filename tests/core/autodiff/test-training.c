/* SPDX-License-Identifier: Apache-2.0 */
/* Training steps: gradients of the sample programs against finite differences of their loss, and what every step owes:
 * aliases, phases, origins, order. */
#include "core/passes/passes.h"
#include "tests/core/autodiff/training-test.h"
#include "tests/random-seed.h"
#include <math.h>
#include <string.h>

static const char *const programs[] = { "layers",         "layers-unrolled",
                                        "layers-tiny",    "layers-unrolled-tiny",
                                        "optimizer-8",    "optimizer-64",
                                        "optimizer-7168", "transformer-tiny",
                                        "transformer-4",  "transformer-12",
                                        "vgg19",          "mlp",
                                        "convnet",        "lstm" };

static void
test_programs (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (programs); i++)
    {
      g_autoptr (GantryModule) module = training_program (programs[i], FALSE);
      guint n = 0;

      for (guint32 j = 0; j < gantry_module_entry (module)->n_params; j++)
        n += gantry_parameter_role (module, &module->nodes[j]) == GANTRY_SUBJECT_PARAMETER;
      g_assert_cmpuint (n, >=, 2);
    }
}

static double
loss_of (const TrainingValues *results)
{
  g_assert_cmpuint (results->values[0]->type->rank, ==, 0);
  return gantry_literal_get_double (results->values[0], 0);
}

/* A direction for each parameter, and the derivative of the loss along it by the gradients that the step gives. */
static double
along_gradients (const GantryModule *step, const TrainingValues *arguments, const TrainingValues *results, GRand *random, double **directions)
{
  const GantryFunction *entry = gantry_module_entry (step);
  double sum = 0;
  guint k = 1;

  for (guint i = 0; i < entry->n_params; i++)
    {
      gint64 n = gantry_type_elements (arguments->values[i]->type);

      if (gantry_parameter_role (step, &step->nodes[entry->first_node + i]) != GANTRY_SUBJECT_PARAMETER)
        continue;
      g_assert_true (gantry_type_same_shape (results->values[k]->type, arguments->values[i]->type));
      directions[i] = g_new (double, n);
      for (gint64 j = 0; j < n; j++)
        {
          directions[i][j] = g_rand_double_range (random, -1, 1);
          sum += directions[i][j] * gantry_literal_get_double (results->values[k], j);
        }
      k++;
    }
  g_assert_cmpuint (k, ==, results->n);
  return sum;
}

static double
loss_at (const GantryModule *step, const TrainingValues *arguments, double *const *directions, double by)
{
  TrainingValues moved = { .n = arguments->n, .values = g_new0 (GantryLiteral *, arguments->n) };
  g_autoptr (TrainingValues) results = NULL;

  for (guint i = 0; i < arguments->n; i++)
    {
      gint64 n = gantry_type_elements (arguments->values[i]->type);
      guint8 *data;

      moved.values[i] = directions[i] == NULL ? gantry_literal_ref (arguments->values[i]) : gantry_literal_new_zeroed (arguments->values[i]->type, &data);
      for (gint64 j = 0; directions[i] != NULL && j < n; j++)
        gantry_element_write_double (GANTRY_F64, data + 8 * j, gantry_literal_get_double (arguments->values[i], j) + by * directions[i][j]);
    }
  results = training_run (step, &moved);
  for (guint i = 0; i < moved.n; i++)
    gantry_literal_unref (moved.values[i]);
  g_free (moved.values);
  return loss_of (results);
}

typedef struct
{
  const char *program;
  GantryLoss loss;
  double l2;
} GradientCase;

static const GradientCase gradient_cases[] = {
  { "layers-tiny", GANTRY_LOSS_OUTPUT, 0 },
  { "layers-unrolled-tiny", GANTRY_LOSS_OUTPUT, 0.01 },
  { "optimizer-8", GANTRY_LOSS_OUTPUT, 0.001 },
  { "mlp", GANTRY_LOSS_OUTPUT, 0 },
  { "mlp", GANTRY_LOSS_MEAN_SQUARED_ERROR, 0.1 },
  { "mlp", GANTRY_LOSS_SOFTMAX_CROSS_ENTROPY, 0 },
  { "convnet", GANTRY_LOSS_SOFTMAX_CROSS_ENTROPY, 0.01 },
  { "lstm", GANTRY_LOSS_SOFTMAX_CROSS_ENTROPY, 0 },
  { "lstm", GANTRY_LOSS_MEAN_SQUARED_ERROR, 0 },
  { "transformer-tiny", GANTRY_LOSS_SOFTMAX_CROSS_ENTROPY, 0 },
};

static void
test_gradients (gconstpointer data)
{
  const GradientCase *c = data;
  g_autoptr (GantryModule) module = training_program (c->program, TRUE);
  g_autoptr (TrainingValues) arguments = NULL;
  g_autoptr (TrainingValues) results = NULL;
  g_autoptr (GantryModule) step = NULL;
  g_autoptr (GRand) random = test_rand (7);
  GantryTrainingOptions options;

  gantry_training_options_init (&options);
  options.optimizer = GANTRY_OPTIMIZER_NONE;
  options.loss = c->loss;
  options.l2 = c->l2;
  step = training_step (module, &options);
  arguments = training_arguments (step);
  results = training_run (step, arguments);
  for (guint i = 0; i < 3; i++)
    {
      g_autofree double **directions = g_new0 (double *, arguments->n);
      double expected = along_gradients (step, arguments, results, random, directions);
      const double h = 1e-5;
      double found = (loss_at (step, arguments, directions, h) - loss_at (step, arguments, directions, -h)) / (2 * h);

      g_test_message ("%s: derivative %.12g, by differences %.12g", c->program, expected, found);
      g_assert_cmpfloat (fabs (expected), >, 1e-6);
      g_assert_cmpfloat (fabs (found - expected), <=, 1e-6 * (1 + fabs (expected)));
      for (guint j = 0; j < arguments->n; j++)
        g_free (directions[j]);
    }
}

/* Structure */

static gint64
last_use (const GantryModule *module, guint32 id)
{
  const GantryFunction *entry = gantry_module_entry (module);
  gint64 last = -1;

  for (guint32 i = 0; i < entry->n_nodes; i++)
    for (guint j = 0; j < module->nodes[entry->first_node + i].n_operands; j++)
      if (gantry_node_operand_id (module, &module->nodes[entry->first_node + i], j) == id)
        last = i;
  return last;
}

/* Each parameter and state is donated to a result of its type, that is named after it and made of its own scope, after
 * the last use of its old value by anything that is no part of its own update. */
static void
check_aliases (const GantryModule *step, guint n_inputs)
{
  const GantryFunction *entry = gantry_module_entry (step);
  g_autofree gboolean *taken = g_new0 (gboolean, entry->n_results);

  for (guint32 i = 0; i < entry->n_params; i++)
    {
      const GantryNode *node = &step->nodes[entry->first_node + i];
      const char *name = gantry_context_string (step->context, node->name);
      g_autofree char *expected = g_strconcat (name, "/new", NULL);
      const GantryNode *result;
      gint alias = gantry_parameter_alias (step, node);

      if (gantry_parameter_role (step, node) == GANTRY_SUBJECT_INPUT)
        {
          g_assert_cmpint (alias, ==, -1);
          n_inputs--;
          continue;
        }
      g_assert_cmpint (alias, >, 0);
      g_assert_false (taken[alias]);
      taken[alias] = TRUE;
      result = gantry_module_node (step, gantry_function_result_id (step, entry, (guint) alias));
      g_assert_cmpuint (result->type, ==, node->type);
      g_assert_cmpint (result->phase, ==, GANTRY_PHASE_UPDATE);
      g_assert_cmpstr (gantry_context_string (step->context, result->name), ==, expected);
      g_assert_cmpint (last_use (step, node->id), <=, (gint64) gantry_module_position (step, result) - entry->first_node);
    }
  g_assert_cmpuint (n_inputs, ==, 0);
}

static void
test_structure (void)
{
  g_autoptr (GantryModule) module = training_program ("transformer-tiny", FALSE);
  g_autoptr (GantryModule) step = NULL;
  GantryTrainingOptions options;
  guint phases[GANTRY_N_PHASES] = { 0 };
  gint64 first_use = -1, last = -1;
  const GantryFunction *entry;

  gantry_training_options_init (&options);
  options.loss = GANTRY_LOSS_SOFTMAX_CROSS_ENTROPY;
  options.optimizer = GANTRY_OPTIMIZER_ADAM;
  step = training_step (module, &options);
  check_aliases (step, 2);
  g_assert_true (gantry_module_is_training (step));
  entry = gantry_module_entry (step);
  for (guint32 i = 0; i < entry->n_nodes; i++)
    {
      const GantryNode *node = &step->nodes[entry->first_node + i];
      const char *scope = gantry_context_scope_path (step->context, node->scope);

      phases[node->phase]++;
      if (node->phase != GANTRY_PHASE_UPDATE)
        continue;
      g_assert_true (g_str_has_prefix (scope, "update"));
      if (strcmp (scope, "update/head/words/w") == 0)
        last = i;
      if (strcmp (scope, "update/embed/w") == 0 && first_use < 0)
        first_use = i;
    }
  for (guint i = 0; i < GANTRY_N_PHASES; i++)
    g_assert_cmpuint (phases[i], >, 50);
  /* Without clipping the last layer is updated before the first layer's gradient is known. */
  g_assert_cmpint (last, >, 0);
  g_assert_cmpint (last, <, first_use);
}

static GantryModule *
try_step (GantryModule *module, const GantryTrainingOptions *options, GError **error)
{
  GantryModule *step = gantry_training_step (module, options, NULL, error);

  g_assert_true (step != NULL || (error != NULL && *error != NULL));
  return step;
}

static void
test_chosen (void)
{
  g_autoptr (GantryModule) module = training_program ("mlp", FALSE);
  char *globs[] = { (char *) "fc2/*", NULL }, *wrong[] = { (char *) "fc2/*", (char *) "fc3/*", NULL };
  g_autoptr (GantryModule) step = NULL;
  g_autoptr (GError) error = NULL;
  GantryTrainingOptions options;

  gantry_training_options_init (&options);
  options.optimizer = GANTRY_OPTIMIZER_MOMENTUM;
  options.with_respect_to = globs;
  options.no_loss = TRUE;
  step = training_step (module, &options);
  g_assert_cmpuint (gantry_module_entry (step)->n_results, ==, 4);
  g_assert_cmpint (gantry_parameter_alias (step, &step->nodes[training_find (step, "fc1/w")]), ==, -1);
  g_assert_cmpint (gantry_parameter_alias (step, &step->nodes[training_find (step, "fc2/w")]), ==, 0);
  g_assert_cmpint (gantry_parameter_alias (step, &step->nodes[training_find (step, "fc2/w/m")]), ==, 2);
  options.with_respect_to = wrong;
  g_assert_null (try_step (module, &options, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "'fc3/*'"));
}

/* Exactly the arguments and results of the gradient of a function: 20.25 MiB in and 20 MiB out. */
static void
test_gradients_only (void)
{
  g_autoptr (GantryModule) module = training_program ("layers", FALSE);
  g_autoptr (GantryModule) step = NULL;
  GantryTrainingOptions options;
  const GantryFunction *entry;
  gint64 in = 0, out = 0;

  gantry_training_options_init (&options);
  options.optimizer = GANTRY_OPTIMIZER_NONE;
  options.no_loss = TRUE;
  step = training_step (module, &options);
  entry = gantry_module_entry (step);
  for (guint32 i = 0; i < entry->n_params; i++)
    in += gantry_type_bytes (gantry_node_type (step, &step->nodes[entry->first_node + i]));
  for (guint32 i = 0; i < entry->n_results; i++)
    out += gantry_type_bytes (gantry_node_type (step, gantry_module_node (step, gantry_function_result_id (step, entry, i))));
  g_assert_cmpint (in, ==, (20 << 20) + (1 << 18));
  g_assert_cmpint (out, ==, 20 << 20);
}

#define HALF \
  "module \"half\" { func @main #1 (%1 \"x\": bf16[4,8], %2 \"w\": bf16[8,3] {role = \"parameter\"}) -> (%3) { " \
  "%3 = dot_general(%1, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: bf16[4,3] } }"

static void
test_halves (void)
{
  g_autoptr (GantryModule) module = training_from_text (HALF);
  g_autoptr (GantryModule) step = NULL;
  g_autoptr (TrainingValues) arguments = NULL;
  g_autoptr (TrainingValues) results = NULL;
  const GantryFunction *entry;
  GantryTrainingOptions options;

  gantry_training_options_init (&options);
  options.loss = GANTRY_LOSS_MEAN_SQUARED_ERROR;
  options.optimizer = GANTRY_OPTIMIZER_ADAM;
  options.learning_rate = 0.25;
  options.clip_norm = 1;
  step = training_step (module, &options);
  entry = gantry_module_entry (step);
  for (guint32 i = 0; i < entry->n_params; i++)
    if (gantry_parameter_role (step, &step->nodes[i]) == GANTRY_SUBJECT_STATE && i + 1 < entry->n_params)
      g_assert_cmpint (gantry_node_type (step, &step->nodes[i])->element, ==, GANTRY_F32);
  arguments = training_arguments (step);
  results = training_run (step, arguments);
  g_assert_cmpint (results->values[0]->type->element, ==, GANTRY_F32);
  g_assert_cmpint (results->values[1]->type->element, ==, GANTRY_BF16);
  /* The first step of Adam moves every element by its rate, against the sign of its gradient. */
  for (gint64 i = 0; i < 24; i++)
    {
      double moved = gantry_literal_get_double (results->values[1], i) - gantry_literal_get_double (arguments->values[training_find (step, "w")], i);
      double m = gantry_literal_get_double (results->values[2], i);

      g_assert_cmpfloat (fabs (moved + copysign (0.25, m)), <, 0.004);
    }
}

typedef struct
{
  const char *program;
  const char *what;
  GantryTrainingOptions options;
} ErrorCase;

#define PARAMETER(type) "%1 \"w\": " type " {role = \"parameter\"}"
#define MODULE(parameters, results, body) "module \"m\" { func @main #1 (" parameters ") -> (" results ") { " body " } }"

static void
test_errors (void)
{
  const ErrorCase cases[] = {
    { MODULE ("%1 \"x\": f32[3]", "%1", ""), "no parameter to train", { .optimizer = GANTRY_OPTIMIZER_SGD } },
    { MODULE (PARAMETER ("i32[3]"), "%1", ""), "no parameter to train", { .optimizer = GANTRY_OPTIMIZER_SGD } },
    { MODULE (PARAMETER ("f32[n]"), "%1", ""), "bind its dimensions", { .optimizer = GANTRY_OPTIMIZER_SGD } },
    { MODULE (PARAMETER ("f32[3]"), "%1", ""), "count from 0", { .output = 1 } },
    { MODULE (PARAMETER ("f32[0]"), "%1", ""), "it is empty", { .output = 0 } },
    { MODULE (PARAMETER ("f32[]"), "%1", ""), "last dimension", { .loss = GANTRY_LOSS_SOFTMAX_CROSS_ENTROPY } },
    { MODULE (PARAMETER ("f32[3]") ", %2 \"x\": i32[3]", "%2", ""), "not of floating point", { .output = 0 } },
    { MODULE (PARAMETER ("f32[3]") ", %2 \"x\": f32[n]", "%2", ""), "bind the dimensions", { .output = 0 } },
    { MODULE (PARAMETER ("f32[3]"), "%1", ""), "learning rate", { .learning_rate = -1 } },
    { MODULE (PARAMETER ("f32[3]"), "%1", ""), "beta2", { .beta2 = 1 } },
    { MODULE (PARAMETER ("f32[3]"), "%1", ""), "norm to clip at", { .clip_norm = NAN } },
    { MODULE (PARAMETER ("f32[3]"), "%2", "%2 = negate(%1): f32[3] phase(backward)"), "training step already", { .output = 0 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = gantry_module_from_text (context, cases[i].program, -1, "error.gir", &error);

      g_assert_no_error (error);
      g_assert_null (try_step (module, &cases[i].options, &error));
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
      g_test_message ("%s", error->message);
      g_assert_nonnull (strstr (error->message, cases[i].what));
    }
}

static double
element (const GantryLiteral *literal, gint64 i)
{
  return gantry_element_read_double (literal->type->element, (const guint8 *) literal->data + (gsize) i * gantry_element_size (literal->type->element));
}

/* Rows whose label is no class are padding: they are in no mean, and have no gradient. With nothing but such rows the loss is 0. */
static void
test_padding (void)
{
  static const double labels[][4] = { { 0, 2, -100, 7 }, { -1, -1, 3, -100 } };
  g_autoptr (GantryModule) module = training_from_text (MODULE (PARAMETER ("f64[4,3]"), "%1", ""));
  g_autoptr (GantryModule) step = NULL;
  g_autoptr (TrainingValues) arguments = NULL;
  GantryTrainingOptions options;

  gantry_training_options_init (&options);
  options.optimizer = GANTRY_OPTIMIZER_NONE;
  options.loss = GANTRY_LOSS_SOFTMAX_CROSS_ENTROPY;
  step = training_step (module, &options);
  arguments = training_arguments (step);
  for (guint c = 0; c < G_N_ELEMENTS (labels); c++)
    {
      g_autoptr (TrainingValues) results = NULL;
      double expected = 0;
      guint n = 0;

      for (guint row = 0; row < 4; row++)
        {
          const guint at = training_find (step, "labels");
          GantryLiteral *changed = training_changed (arguments->values[at], row, labels[c][row]);

          gantry_literal_unref (arguments->values[at]);
          arguments->values[at] = changed;
        }
      for (guint row = 0; row < 4; row++)
        {
          double sum = 0;

          for (guint k = 0; k < 3; k++)
            sum += exp (element (arguments->values[0], 3 * row + k));
          if (labels[c][row] < 0 || labels[c][row] >= 3)
            continue;
          expected += log (sum) - element (arguments->values[0], 3 * row + (gint64) labels[c][row]);
          n++;
        }
      results = training_run (step, arguments);
      g_assert_cmpfloat_with_epsilon (element (results->values[0], 0), expected / MAX (n, 1), 1e-12);
      for (guint i = 0; i < 12; i++)
        if (labels[c][i / 3] < 0 || labels[c][i / 3] >= 3)
          g_assert_cmpfloat (element (results->values[1], i), ==, 0);
        else
          g_assert_cmpfloat (element (results->values[1], i), !=, 0);
    }
}

/* A program whose loss, gradient and parameter are as small and as strange as can be. */
static void
test_degenerate (void)
{
  static const char *const texts[] = {
    MODULE (PARAMETER ("f32[]"), "%1", ""), /* the loss is the parameter */
    MODULE (PARAMETER ("f32[3]"), "%1", ""),
    MODULE (PARAMETER ("f32[3]") ", %2 \"x\": f32[2]", "%2", ""),                                                /* the loss does not depend on it */
    MODULE (PARAMETER ("f32[3]") ", %2 \"v\": f32[3] {role = \"parameter\"}", "%3", "%3 = add(%1, %2): f32[3]"), /* one gradient */
    MODULE (PARAMETER ("f32[3]") ", %2 \"target\": f32[3]", "%3", "%3 = multiply(%1, %2): f32[3]"),              /* the name is taken */
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    for (guint optimizer = 0; optimizer <= GANTRY_OPTIMIZER_ADAMW; optimizer++)
      for (guint loss = 0; loss < 2; loss++)
        for (guint extras = 0; extras < 4; extras++)
          {
            g_autoptr (GantryModule) module = training_from_text (texts[i]);
            g_autoptr (GantryModule) step = NULL;
            g_autoptr (TrainingValues) arguments = NULL;
            g_autoptr (TrainingValues) results = NULL;
            GantryTrainingOptions options;

            gantry_training_options_init (&options);
            options.optimizer = (GantryOptimizer) optimizer;
            options.loss = (GantryLoss) loss;
            options.l2 = extras & 1 ? 0.5 : 0;
            options.clip_norm = extras & 2 ? 1 : 0;
            step = training_step (module, &options);
            arguments = training_arguments (step);
            results = training_run (step, arguments);
            for (guint j = 0; j < results->n; j++)
              g_assert_true (isfinite (gantry_literal_get_double (results->values[j], 0)));
            if (optimizer != GANTRY_OPTIMIZER_NONE)
              for (guint j = 0; j < arguments->n; j++)
                if (gantry_parameter_role (step, &step->nodes[j]) != GANTRY_SUBJECT_INPUT)
                  g_assert_cmpint (gantry_parameter_alias (step, &step->nodes[j]), >, 0);
          }
}

/* What follows the differentiation in a compilation keeps the values of a step, and its structure sound. */
static void
test_passes (gconstpointer data)
{
  const GantryPass *passes[] = { &gantry_pass_inline, &gantry_pass_unroll, &gantry_pass_simplify, &gantry_pass_epilogue, &gantry_pass_fold,
                                 &gantry_pass_cse,    &gantry_pass_dce,    &gantry_pass_fuse,     &gantry_pass_dce };
  g_autoptr (GantryModule) module = training_program (data, TRUE);
  g_autoptr (GantryModule) step = NULL;
  g_autoptr (TrainingValues) arguments = NULL;
  g_autoptr (TrainingValues) expected = NULL;
  g_autoptr (TrainingValues) found = NULL;
  GantryPassOptions pass_options = GANTRY_PASS_OPTIONS_INIT;
  GantryTrainingOptions options;

  gantry_training_options_init (&options);
  options.loss = GANTRY_LOSS_MEAN_SQUARED_ERROR;
  options.optimizer = GANTRY_OPTIMIZER_ADAMW;
  options.clip_norm = 0.1;
  options.l2 = 0.01;
  step = training_step (module, &options);
  arguments = training_arguments (step);
  expected = training_run (step, arguments);
  for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
    {
      g_autoptr (GError) error = NULL;
      GantryModule *next = passes[i]->run (step, &pass_options, NULL, &error);

      g_assert_no_error (error);
      if (next != step)
        gantry_verify (next, step, &error);
      g_assert_no_error (error);
      gantry_module_unref (step);
      step = next;
    }
  found = training_run (step, arguments);
  g_assert_cmpuint (found->n, ==, expected->n);
  for (guint i = 0; i < found->n; i++)
    {
      gint64 n = gantry_type_elements (expected->values[i]->type);
      g_autofree double *values = g_new (double, n);

      for (gint64 j = 0; j < n; j++)
        values[j] = gantry_literal_get_double (expected->values[i], j);
      g_assert_cmpfloat (training_distance (found->values[i], values, n), <, 1e-12);
    }
}

static void
test_options (void)
{
  char *globs[] = { (char *) "a", (char *) "b", NULL };
  GantryTrainingOptions options, copy;

  gantry_training_options_init (&options);
  g_assert_cmpfloat (options.learning_rate, ==, 0.01);
  g_assert_cmpfloat (options.beta2, ==, 0.999);
  options.with_respect_to = globs;
  gantry_training_options_copy (&copy, &options);
  g_assert_true (copy.with_respect_to != options.with_respect_to);
  g_assert_true (g_strv_equal ((const char *const *) copy.with_respect_to, (const char *const *) globs));
  gantry_training_options_clear (&copy);
  g_assert_null (copy.with_respect_to);
}

int
main (int argc, char **argv)
{
  static const char *const passed[] = { "layers-tiny", "optimizer-8", "mlp", "convnet", "lstm", "transformer-tiny" };

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/training/options", test_options);
  g_test_add_func ("/training/programs", test_programs);
  for (guint i = 0; i < G_N_ELEMENTS (gradient_cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/training/gradients/%s-%u", gradient_cases[i].program, i);

      g_test_add_data_func (path, &gradient_cases[i], test_gradients);
    }
  g_test_add_func ("/training/structure", test_structure);
  g_test_add_func ("/training/chosen-parameters", test_chosen);
  g_test_add_func ("/training/gradients-only", test_gradients_only);
  g_test_add_func ("/training/halves", test_halves);
  g_test_add_func ("/training/errors", test_errors);
  g_test_add_func ("/training/padding", test_padding);
  g_test_add_func ("/training/degenerate", test_degenerate);
  for (guint i = 0; i < G_N_ELEMENTS (passed); i++)
    {
      g_autofree char *path = g_strconcat ("/training/passes/", passed[i], NULL);

      g_test_add_data_func (path, passed[i], test_passes);
    }
  return g_test_run ();
}
