/* SPDX-License-Identifier: Apache-2.0 */
/* Every model of the data folder runs and gives what it should: the outputs that its authors published, and
 * those that onnxruntime computed on random weights and inputs (tests/fixtures), with all passes and with each
 * one left out. */
#include "core/compiler/compiler.h"
#include "tests/app/cli/cli-test.h"
#include <math.h>

static const char *const models[] = {
  "fastestdet",  "fns_candy",      "gonnx_gru", "light_bvlc_alexnet",         "light_inception_v1",  "light_resnet50",  "light_shufflenet", "light_squeezenet",
  "light_vgg19", "light_zfnet512", "mnist",     "nnfusion_gru_bidirectional", "silero_vad_16k_op15", "squeezenet_fp16", "super_resolution", "ultraface_rfb320",
};

static JsonObject *
load_fixture (const char *model, JsonParser *parser)
{
  const char *root = g_getenv ("GANTRY_SOURCE_ROOT");
  g_autofree char *file = g_strconcat (model, ".json", NULL);
  g_autofree char *path = g_build_filename (root != NULL ? root : ".", "tests", "fixtures", "onnxruntime", file, NULL);
  g_autoptr (GError) error = NULL;

  json_parser_load_from_file (parser, path, &error);
  g_assert_no_error (error);
  return json_node_get_object (json_parser_get_root (parser));
}

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

/* Element k of the kept ones is element k * n / kept of the output. */
static void
compare_output (const GantryLiteral *got, JsonObject *wanted, double tolerance, const char *what)
{
  JsonArray *shape = json_object_get_array_member (wanted, "shape");
  JsonArray *values = json_object_get_array_member (wanted, "values");
  gint64 n = gantry_type_elements (got->type), kept = json_array_get_length (values);
  double largest = json_object_get_double_member (wanted, "largest"), worst = 0;

  g_assert_cmpuint (got->type->rank, ==, json_array_get_length (shape));
  for (guint i = 0; i < got->type->rank; i++)
    g_assert_cmpint (got->type->dims[i], ==, json_array_get_int_element (shape, i));
  g_assert_cmpint (kept, ==, MIN (n, 256));
  for (gint64 k = 0; k < kept; k++)
    {
      double difference = fabs (gantry_literal_get_double (got, k * n / kept) - json_array_get_double_element (values, (guint) k));

      worst = MAX (worst, isfinite (difference) ? difference : G_MAXDOUBLE);
    }
  if (worst > tolerance * largest)
    g_test_message ("%s: differs by %.3g of the largest value", what, worst / largest);
  g_assert_cmpfloat (worst, <=, tolerance * largest);
}

static void
run_and_compare (const char *model, JsonObject *fixture, const char *disabled)
{
  g_autofree char *path = cli_shared_file ("onnx", json_object_get_string_member (fixture, "model"));
  char *folder = cli_temporary_folder ();
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();
  g_autoptr (CliResult) result = NULL;
  g_autoptr (GantryContext) context = gantry_context_new ();
  JsonArray *outputs = json_object_get_array_member (fixture, "outputs");

  g_ptr_array_add (arguments, (gpointer) "run");
  add_strings (arguments, json_object_get_array_member (fixture, "arguments"), NULL);
  add_strings (arguments, json_object_get_array_member (fixture, "inputs"), "--input");
  if (disabled != NULL)
    {
      g_ptr_array_add (arguments, (gpointer) "--disable");
      g_ptr_array_add (arguments, (gpointer) disabled);
    }
  g_ptr_array_add (arguments, (gpointer) "--runs=1");
  g_ptr_array_add (arguments, (gpointer) "--warmup=0");
  g_ptr_array_add (arguments, (gpointer) "--output-dir");
  g_ptr_array_add (arguments, folder);
  g_ptr_array_add (arguments, path);
  result = cli_runv (arguments);
  cli_assert_status (result, 0);
  for (guint i = 0; i < json_array_get_length (outputs); i++)
    {
      g_autofree char *name = g_strdup_printf ("output_%u.npy", i);
      g_autofree char *file = g_build_filename (folder, name, NULL);
      g_autofree char *what = g_strdup_printf ("%s, output %u, without %s", model, i, disabled != NULL ? disabled : "nothing");
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryLiteral) got = gantry_tensor_file_read (context, file, NULL, &error);

      g_assert_no_error (error);
      compare_output (got, json_array_get_object_element (outputs, i), json_object_get_double_member (fixture, "tolerance"), what);
    }
  cli_remove_folder (folder);
}

static gboolean
is_there (const char *model)
{
  g_autofree char *file = g_strconcat (model, ".onnx", NULL);
  g_autofree char *path = cli_shared_file ("onnx", file);

  return path != NULL;
}

static void
test_onnxruntime (gconstpointer model)
{
  g_autoptr (JsonParser) parser = json_parser_new ();

  if (is_there (model))
    run_and_compare (model, load_fixture (model, parser), NULL);
}

static void
test_each_pass_off (gconstpointer model)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  guint n;
  const GantryPassInfo *passes = gantry_compiler_passes (&n);

  for (guint i = 0; i < n && is_there (model); i++)
    if (!passes[i].required)
      run_and_compare (model, load_fixture (model, parser), passes[i].name);
}

/* What the authors of a light model published for the input arange. */
static void
test_expected (gconstpointer model)
{
  g_autofree char *file = g_strconcat (model, ".onnx", NULL);
  g_autofree char *expected = g_strconcat (model, "_output_0.pb", NULL);
  g_autofree char *path = cli_shared_file ("onnx", file);
  g_autofree char *output = path != NULL ? cli_shared_file ("onnx", expected) : NULL;
  g_autoptr (CliResult) result = NULL;

  if (output == NULL)
    return;
  result = cli_run ("run", "--runs=1", "--warmup=0", "--input=arange", "--expect", output, path, NULL);
  cli_assert_status (result, 0);
}

static void
test_mnist (gconstpointer data)
{
  g_autofree char *path = cli_shared_file ("onnx", "mnist.onnx");

  for (guint i = 0; i < 3 && path != NULL; i++)
    {
      g_autofree char *input = g_strdup_printf ("mnist_data/set%u_input_0.pb", i);
      g_autofree char *output = g_strdup_printf ("mnist_data/set%u_output_0.pb", i);
      g_autofree char *input_path = cli_shared_file ("onnx", input);
      g_autofree char *output_path = cli_shared_file ("onnx", output);
      g_autoptr (CliResult) result = cli_run ("run", "--runs=1", "--warmup=0", "--input", input_path, "--expect", output_path, path, NULL);

      cli_assert_status (result, 0);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_set_nonfatal_assertions (); /* one model that differs does not hide the next */
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autofree char *reference = g_strconcat ("/cli/models/onnxruntime/", models[i], NULL);
      g_autofree char *off = g_strconcat ("/cli/models/each-pass-off/", models[i], NULL);
      g_autofree char *expected = g_strconcat ("/cli/models/expected/", models[i], NULL);

      g_test_add_data_func (reference, models[i], test_onnxruntime);
      g_test_add_data_func (off, models[i], test_each_pass_off);
      if (g_str_has_prefix (models[i], "light_"))
        g_test_add_data_func (expected, models[i], test_expected);
    }
  g_test_add_data_func ("/cli/models/expected/mnist", NULL, test_mnist);
  return g_test_run ();
}
