/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX models as training steps: weights become parameters, and the gradients of two small models are those that JAX
 * computes, with the evaluator. Every model of the data folder with weights of its own becomes a sound step. */
#include "core/base/random.h"
#include "core/frontends/onnx/onnx.h"
#include "core/passes/passes.h"
#include "tests/core/autodiff/training-fixture.h"
#include "tests/test-files.h"
#include <math.h>

#define TOLERANCE 1e-4

static char *
model_path (const char *name)
{
  g_autofree char *file = g_strconcat (name, ".onnx", NULL);
  g_autofree char *own = test_source_file ("data/models", file);

  return g_file_test (own, G_FILE_TEST_EXISTS) ? g_steal_pointer (&own) : test_shared_file ("data/onnx", file);
}

/* Takes both; a pass that has nothing to do gives its module again. */
static GantryModule *
take (GantryModule *module, GantryModule *next, GError *error)
{
  g_autoptr (GError) unsound = NULL;

  g_assert_no_error (error);
  if (next != module)
    gantry_verify (next, module, &unsound);
  g_assert_no_error (unsound);
  gantry_module_unref (module);
  return next;
}

/* Imported, its weights parameters, in core operations. */
static GantryModule *
open_model (const char *path, const GantryOnnxDim *dims, guint n_dims)
{
  const GantryPass *passes[] = { &gantry_pass_legalize, &gantry_pass_simplify, &gantry_pass_inline, &gantry_pass_fold, &gantry_pass_cse, &gantry_pass_dce };
  g_autoptr (GantryContext) context = gantry_context_new ();
  GantryOnnxOptions options = { .dims = dims, .n_dims = n_dims };
  GantryPassOptions pass_options = GANTRY_PASS_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  GantryModule *module = gantry_onnx_import (context, path, &options, NULL, NULL, &error), *next;

  g_assert_no_error (error);
  next = gantry_parameterize (module, NULL, NULL, &error);
  module = take (module, next, error);
  for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
    {
      next = passes[i]->run (module, &pass_options, NULL, &error);
      module = take (module, next, error);
    }
  return module;
}

/* Parameters begin as the file has them; other inputs are those of --input hash:0. */
static TrainingValues *
arguments_of (const GantryModule *step)
{
  TrainingValues *arguments = training_arguments (step);
  const GantryFunction *entry = gantry_module_entry (step);

  for (guint i = 0; i < arguments->n; i++)
    {
      const GantryNode *node = &step->nodes[entry->first_node + i];
      const GantryAttr *initial = gantry_attrs_find (step->context, node->attrs, "initial");
      guint64 start = gantry_random_start (gantry_context_string (step->context, node->name), 0);
      gint64 n = gantry_type_elements (arguments->values[i]->type);
      guint8 *data;

      gantry_literal_unref (arguments->values[i]);
      if (initial != NULL)
        {
          arguments->values[i] = gantry_literal_ref (gantry_context_literal (step->context, initial->id));
          continue;
        }
      arguments->values[i] = gantry_literal_new_zeroed (gantry_node_type (step, node), &data);
      for (gint64 j = 0; j < n; j++)
        gantry_element_write_double (GANTRY_F32, data + 4 * j, gantry_random_at (start, (guint64) j));
    }
  return arguments;
}

static void
test_gradients (gconstpointer data)
{
  const char *name = data;
  g_autofree char *path = model_path (name);
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonObject *fixture = training_fixture_load (name, parser);
  GantryTrainingOptions options = training_fixture_options (fixture, FALSE);
  double loss = json_object_get_double_member (fixture, "loss_value");
  g_autoptr (GantryModule) module = NULL;
  g_autoptr (GantryModule) step = NULL;
  g_autoptr (TrainingValues) arguments = NULL;
  g_autoptr (TrainingValues) results = NULL;

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_test_skip ("the folder of models is not there (GANTRY_SHARED)");
      return;
    }
  module = open_model (path, NULL, 0);
  step = training_step (module, &options);
  arguments = arguments_of (step);
  results = training_run (step, arguments);
  training_fixture_compare (gantry_literal_get_double (results->values[0], 0), loss, fabs (loss), TOLERANCE, "loss");
  training_fixture_compare_all (step, results, 1, json_object_get_object_member (fixture, "gradients"), TOLERANCE);
}

static void
set_element (TrainingValues *arguments, guint argument, gint64 i, double value)
{
  GantryLiteral *changed = training_changed (arguments->values[argument], i, value);

  gantry_literal_unref (arguments->values[argument]);
  arguments->values[argument] = changed;
}

/* Scores of what a loss ignores are no numbers that anything reads: neither is their gradient, whatever they are. */
static void
test_ignored (void)
{
  static const char program[] = "module \"loss\" {\n"
                                "  func @main #1 (%1 \"scores\": f32[3,2] {role = \"parameter\"}, %2 \"targets\": i64[3]) -> (%3) {\n"
                                "    %3 = \"onnx.SoftmaxCrossEntropyLoss\"(%1, %2) {ignore_index = -1, opset = 17}: f32[]\n"
                                "  }\n}\n";
  static const float scores[] = { NAN, INFINITY, 2, 2, -INFINITY, INFINITY };
  g_autoptr (GantryModule) module = training_from_text (program), step = NULL;
  g_autoptr (TrainingValues) arguments = NULL, results = NULL;
  const GantryPassOptions pass_options = GANTRY_PASS_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  GantryTrainingOptions options;
  GantryModule *next;

  gantry_context_add_dialect (module->context, gantry_onnx_dialect ());
  next = gantry_pass_legalize.run (module, &pass_options, NULL, &error);
  module = take (module, next, error);
  gantry_training_options_init (&options);
  options.optimizer = GANTRY_OPTIMIZER_NONE;
  step = training_step (module, &options);
  gantry_training_options_clear (&options);
  arguments = training_arguments (step);
  for (gint64 i = 0; i < 6; i++)
    set_element (arguments, training_find (step, "scores"), i, (double) scores[i]);
  for (gint64 i = 0; i < 3; i++)
    set_element (arguments, training_find (step, "targets"), i, i == 1 ? 0 : -1);
  results = training_run (step, arguments);
  g_assert_cmpuint (results->n, ==, 2);
  g_assert_cmpfloat_with_epsilon (gantry_literal_get_double (results->values[0], 0), G_LN2, 1e-6);
  for (gint64 i = 0; i < 6; i++)
    g_assert_cmpfloat_with_epsilon (gantry_literal_get_double (results->values[1], i), i == 2 ? -0.5 : i == 3 ? 0.5 : 0, 1e-6);
}

typedef struct
{
  const char *name;
  guint n_trained;
  GantryOnnxDim dims[2];
} Known;

static const Known models[] = {
  { "fastestdet", 142 },
  { "fns_candy", 64, { { "None", 1 } } },
  { "gonnx_gru", 3, { { "batch_size", 1 }, { "seq_length", 4 } } },
  { "mnist", 6 },
  { "sample", 54 },
  { "squeezenet_fp16", 52 },
  { "super_resolution", 8, { { "batch_size", 1 } } },
  { "ultraface_rfb320", 139 },
};

/* A whole step of Adam: each weight with its two moments. */
static void
test_step (gconstpointer data)
{
  const Known *known = data;
  g_autofree char *path = model_path (known->name);
  g_autoptr (GantryModule) module = NULL;
  g_autoptr (GantryModule) step = NULL;
  GantryTrainingOptions options;
  guint n_dims = 0;

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_test_skip ("the folder of models is not there (GANTRY_SHARED)");
      return;
    }
  while (n_dims < 2 && known->dims[n_dims].name != NULL)
    n_dims++;
  module = open_model (path, known->dims, n_dims);
  gantry_training_options_init (&options);
  options.optimizer = GANTRY_OPTIMIZER_ADAM;
  options.clip_norm = 1;
  step = training_step (module, &options);
  g_assert_cmpuint (gantry_module_entry (step)->n_results, ==, 2 + 3 * known->n_trained);
  g_test_message ("%s: %u nodes, a step %u", known->name, gantry_module_entry (module)->n_nodes, gantry_module_entry (step)->n_nodes);
}

int
main (int argc, char **argv)
{
  static const char *const compared[] = { "sample", "mnist" };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (compared); i++)
    {
      g_autofree char *path = g_strconcat ("/training-models/gradients/", compared[i], NULL);

      g_test_add_data_func (path, compared[i], test_gradients);
    }
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autofree char *path = g_strconcat ("/training-models/step/", models[i].name, NULL);

      g_test_add_data_func (path, &models[i], test_step);
    }
  g_test_add_func ("/training-models/ignored", test_ignored);
  return g_test_run ();
}
