/* SPDX-License-Identifier: Apache-2.0 */
/* Models of the data folder, every one of them, as compiled gradient programs: loss and the gradient of every weight are
 * those that JAX computes in double precision (tests/fixtures/gradients), within 1e-4 of the gradient's norm; and as far as
 * the relus and max pools move it that rounding decides, which the fixture says of each gradient ("open": the sum over all
 * such decisions by open_decisions.py, of some models how far rounding was seen to move it, onnx_jax.py). That only rounding
 * does so is known from the same programs in f64, within 6e-9 of JAX (double.py). Where the last layers have no such decision
 * before the loss, it is nothing or 1e-5 and less. */
#include "core/autodiff/autodiff.h"
#include "core/compiler/compiler.h"
#include "tests/app/cli/cli-test.h"
#include "tests/core/autodiff/training-fixture.h"
#include <math.h>
#include <string.h>

#define TOLERANCE 1e-4
/* tests/fixtures/gradients/NAME.json, which names the model and its options. */
static const char *const own_weights[] = {
  "sample",
  "mnist",
  "super_resolution",
  "gonnx_gru",
  "nnfusion_gru_bidirectional",
  "silero_vad_16k_op15",
  "fastestdet",
  "ultraface_rfb320",
  "ultraface_rfb320-boxes",
  "fns_candy",
};

static const char *const made_up_weights[] = {
  "light_squeezenet", "light_shufflenet", "light_resnet50", "light_inception_v1", "light_bvlc_alexnet", "light_zfnet512", "light_vgg19",
};

/* Its softmax over 1000 gives elements of 1e-6 and less, below what f16 can hold (6e-8 is its least step): f16 gradients of
 * this loss are rounding alone. In f64 they are JAX's within 4e-9 (double.py). */
static const char *const not_compared[] = { "squeezenet_fp16" };

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

/* The value of option @name of the fixture. Returns: (transfer full): those of all its appearances */
static char **
options_of (JsonObject *fixture, const char *name)
{
  JsonArray *arguments = json_object_get_array_member (fixture, "arguments");
  g_autofree char *before = g_strconcat ("--", name, "=", NULL);
  GPtrArray *values = g_ptr_array_new ();

  for (guint i = 0; i < json_array_get_length (arguments); i++)
    if (g_str_has_prefix (json_array_get_string_element (arguments, i), before))
      g_ptr_array_add (values, g_strdup (json_array_get_string_element (arguments, i) + strlen (before)));
  g_ptr_array_add (values, NULL);
  return (char **) g_ptr_array_free (values, FALSE);
}

/* The weights in the order of the step's results: that in which the model becomes a program. */
static GPtrArray *
weights_of (JsonObject *fixture, const char *path)
{
  g_auto (GStrv) seeds = options_of (fixture, "random-weights"), trained = options_of (fixture, "train");
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModel) model = gantry_model_open (path, NULL, seeds[0] != NULL ? atoi (seeds[0]) : -1, NULL, &error);
  g_autoptr (GantryModule) module = NULL;
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);

  g_assert_no_error (error);
  module = gantry_parameterize (model->module, trained[0] != NULL ? trained : NULL, NULL, &error);
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

/* Of its norm. */
static double
allowed_of (JsonObject *gradients, const char *name)
{
  JsonObject *wanted = json_object_get_object_member (gradients, name);
  double open = json_object_has_member (wanted, "open") ? json_object_get_double_member (wanted, "open") : 0;

  return TOLERANCE + open;
}

static void
compare_outputs (JsonObject *fixture, const GPtrArray *names, const char *folder)
{
  JsonObject *gradients = json_object_get_object_member (fixture, "gradients");
  double loss = json_object_get_double_member (fixture, "loss_value"), farthest = 0;
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryLiteral) first = read_output (context, folder, 0);
  const char *which = "";

  training_fixture_compare (gantry_literal_get_double (first, 0), loss, fabs (loss), TOLERANCE, "loss");
  g_assert_cmpuint (names->len, ==, json_object_get_size (gradients));
  for (guint i = 0; i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);
      g_autoptr (GantryLiteral) got = read_output (context, folder, 1 + i);
      double distance, allowed;

      g_assert_true (json_object_has_member (gradients, name));
      distance = training_fixture_distance (got, gradients, name);
      allowed = allowed_of (gradients, name);
      if (!(distance <= allowed))
        g_test_message ("off by %.2g, where %.2g is allowed: %s", distance, allowed, name);
      if (!(distance / allowed <= farthest))
        which = name;
      farthest = isnan (distance) ? INFINITY : MAX (farthest, distance / allowed);
    }
  g_test_message ("%u gradients, the farthest by %.2g of what is allowed: %s", names->len, farthest, which);
  training_fixture_compare (farthest, 0, 1, 1, which);
}

static void
test_model (gconstpointer data)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonObject *fixture = training_fixture_load (data, parser);
  const char *file = json_object_get_string_member (fixture, "model");
  g_autofree char *path = g_str_equal (file, "sample.onnx") ? cli_own_file (file) : cli_shared_file ("onnx", file);
  g_autoptr (GPtrArray) names = NULL;
  g_autofree char *session = NULL;
  char *folder;

  if (path == NULL)
    return;
  folder = cli_temporary_folder ();
  session = g_build_filename (folder, "step.gantry", NULL);
  make_step (fixture, path, session);
  run_step (fixture, session, folder);
  names = weights_of (fixture, path);
  compare_outputs (fixture, names, folder);
  cli_remove_folder (folder);
}

static gboolean
is_case_of (const char *file, const char *const *cases, guint n)
{
  gsize length = strlen (file) - strlen (".onnx");

  for (guint i = 0; i < n; i++)
    if (strncmp (file, cases[i], length) == 0 && strchr ("-", cases[i][length]) != NULL)
      return TRUE;
  return FALSE;
}

/* A model that comes to the data folder is compared too. */
static void
test_all_there (void)
{
  g_autofree char *path = cli_shared_file ("onnx", "mnist.onnx"), *folder = path != NULL ? g_path_get_dirname (path) : NULL;
  g_autoptr (GDir) listing = folder != NULL ? g_dir_open (folder, 0, NULL) : NULL;
  const char *file;

  while (listing != NULL && (file = g_dir_read_name (listing)) != NULL)
    {
      gboolean named = !g_str_has_suffix (file, ".onnx") || is_case_of (file, own_weights, G_N_ELEMENTS (own_weights))
                       || is_case_of (file, made_up_weights, G_N_ELEMENTS (made_up_weights));

      for (guint i = 0; i < G_N_ELEMENTS (not_compared) && !named; i++)
        named = strncmp (file, not_compared[i], strlen (file) - strlen (".onnx")) == 0;
      if (!named)
        g_error ("no gradients of %s are compared", file);
    }
}

static void
add_cases (const char *folder, const char *const *cases, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *path = g_strconcat (folder, cases[i], NULL);

      g_test_add_data_func (path, cases[i], test_model);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/train-models/own/all-there", test_all_there);
  add_cases ("/cli/train-models/own/", own_weights, G_N_ELEMENTS (own_weights));
  add_cases ("/cli/train-models/made-up/", made_up_weights, G_N_ELEMENTS (made_up_weights));
  return g_test_run ();
}
