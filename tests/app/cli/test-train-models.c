/* SPDX-License-Identifier: Apache-2.0 */
/* Models of the data folder as compiled gradient programs: loss and the gradient of every weight are those that JAX
 * computes in double precision (tests/fixtures/gradients), within 1e-4 of the gradient's norm. */
#include "core/autodiff/autodiff.h"
#include "core/compiler/compiler.h"
#include "tests/app/cli/cli-test.h"
#include "tests/core/autodiff/training-fixture.h"
#include <math.h>

#define TOLERANCE 1e-4

static const char *const models[] = { "sample", "mnist", "super_resolution", "light_squeezenet", "light_shufflenet",
                                      "light_resnet50" };

static void
add_strings (GPtrArray *arguments, JsonArray *array, const char *before)
{
  for (guint i = 0; i < json_array_get_length (array); i++)
    {
      if (before != NULL)
        g_ptr_array_add (arguments, (gpointer) before);
      g_ptr_array_add (arguments, (gpointer) json_array_get_string_element (array, i));
    }
}

static void
make_step (JsonObject *fixture, const char *model, const char *session)
{
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();
  g_autoptr (CliResult) result = NULL;

  g_ptr_array_add (arguments, (gpointer) "train");
  add_strings (arguments, json_object_get_array_member (fixture, "arguments"), NULL);
  g_ptr_array_add (arguments, (gpointer) "--loss=mse");
  g_ptr_array_add (arguments, (gpointer) "--gradients-only");
  g_ptr_array_add (arguments, (gpointer) "-o");
  g_ptr_array_add (arguments, (gpointer) session);
  g_ptr_array_add (arguments, (gpointer) model);
  result = cli_runv (arguments);
  cli_assert_status (result, 0);
}

static void
run_step (JsonObject *fixture, const char *session, const char *folder)
{
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();
  g_autoptr (CliResult) result = NULL;

  g_ptr_array_add (arguments, (gpointer) "run");
  add_strings (arguments, json_object_get_array_member (fixture, "inputs"), "--input");
  g_ptr_array_add (arguments, (gpointer) "--runs=1");
  g_ptr_array_add (arguments, (gpointer) "--warmup=0");
  g_ptr_array_add (arguments, (gpointer) "--output-dir");
  g_ptr_array_add (arguments, (gpointer) folder);
  g_ptr_array_add (arguments, (gpointer) "--session");
  g_ptr_array_add (arguments, (gpointer) session);
  result = cli_runv (arguments);
  cli_assert_status (result, 0);
}

/* The weights in the order of the step's results: that in which the model becomes a program. */
static GPtrArray *
weights_of (JsonObject *fixture, const char *path)
{
  JsonArray *arguments = json_object_get_array_member (fixture, "arguments");
  gboolean random = json_array_get_length (arguments) > 0 &&
                    g_str_has_prefix (json_array_get_string_element (arguments, 0), "--random-weights");
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModel) model = gantry_model_open (path, NULL, 0, random ? 7 : -1, NULL, &error);
  g_autoptr (GantryModule) module = NULL;
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);

  g_assert_no_error (error);
  module = gantry_parameterize (model->module, NULL, NULL, &error);
  g_assert_no_error (error);
  for (guint32 i = 0; i < gantry_module_entry (module)->n_params; i++)
    if (gantry_parameter_role (module, &module->nodes[i]) == GANTRY_SUBJECT_PARAMETER)
      g_ptr_array_add (names, gantry_node_label (module, &module->nodes[i]));
  return names;
}

static GantryLiteral *
read_output (GantryContext *context, const char *folder, guint i)
{
  g_autofree char *name = g_strdup_printf ("output_%u.npy", i);
  g_autofree char *file = g_build_filename (folder, name, NULL);
  g_autoptr (GError) error = NULL;
  GantryLiteral *literal = gantry_tensor_file_read (context, file, NULL, &error);

  g_assert_no_error (error);
  return literal;
}

static void
compare_outputs (JsonObject *fixture, const GPtrArray *names, const char *folder)
{
  JsonObject *gradients = json_object_get_object_member (fixture, "gradients");
  double loss = json_object_get_double_member (fixture, "loss_value");
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryLiteral) first = read_output (context, folder, 0);

  training_fixture_compare (gantry_literal_get_double (first, 0), loss, fabs (loss), TOLERANCE, "loss");
  g_assert_cmpuint (names->len, ==, json_object_get_size (gradients));
  for (guint i = 0; i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);
      g_autoptr (GantryLiteral) got = read_output (context, folder, 1 + i);

      g_assert_true (json_object_has_member (gradients, name));
      training_fixture_compare_tensor (got, gradients, name, TOLERANCE);
    }
}

static void
test_model (gconstpointer data)
{
  const char *name = data;
  g_autofree char *file = g_strconcat (name, ".onnx", NULL);
  g_autofree char *path = g_str_equal (name, "sample") ? cli_own_file (file) : cli_shared_file ("onnx", file);
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GPtrArray) names = NULL;
  g_autofree char *session = NULL;
  JsonObject *fixture;
  char *folder;

  if (path == NULL)
    return;
  fixture = training_fixture_load (name, parser);
  folder = cli_temporary_folder ();
  session = g_build_filename (folder, "step.gantry", NULL);
  make_step (fixture, path, session);
  run_step (fixture, session, folder);
  names = weights_of (fixture, path);
  compare_outputs (fixture, names, folder);
  cli_remove_folder (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autofree char *path = g_strconcat ("/cli/train-models/", models[i], NULL);

      g_test_add_data_func (path, models[i], test_model);
    }
  return g_test_run ();
}
