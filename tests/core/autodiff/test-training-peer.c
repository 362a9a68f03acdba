/* SPDX-License-Identifier: Apache-2.0 */
/* Losses, gradients and three steps of each optimizer, as JAX and optax compute them for the same programs written in
 * JAX (tests/fixtures/gradients): both in double precision. */
#include "core/base/random.h"
#include "training-test.h"
#include <json-glib/json-glib.h>
#include <math.h>

#define TOLERANCE 1e-9

static const char *const programs[] = { "layers-tiny", "layers-unrolled-tiny", "optimizer-8", "mlp", "convnet", "lstm",
                                        "transformer-tiny" };

static JsonObject *
load_fixture (const char *program, JsonParser *parser)
{
  const char *root = g_getenv ("GANTRY_SOURCE_ROOT");
  g_autofree char *file = g_strconcat (program, ".json", NULL);
  g_autofree char *path = g_build_filename (root != NULL ? root : ".", "tests", "fixtures", "gradients", file, NULL);
  g_autoptr (GError) error = NULL;

  json_parser_load_from_file (parser, path, &error);
  g_assert_no_error (error);
  return json_node_get_object (json_parser_get_root (parser));
}

static GantryTrainingOptions
options_of (JsonObject *fixture, gboolean with_optimizer)
{
  static const char *const losses[] = { "output", "mean_squared_error", "softmax_cross_entropy" };
  static const char *const optimizers[] = { "none", "sgd", "momentum", "adam", "adamw" };
  JsonObject *given = json_object_get_object_member (fixture, "options");
  GantryTrainingOptions options;
  struct { const char *name; double *value; } numbers[] = {
    { "learning_rate", &options.learning_rate }, { "momentum", &options.momentum }, { "weight_decay", &options.weight_decay },
    { "clip_norm", &options.clip_norm },         { "l2", &options.l2 },
  };
  guint n_taken = 0;

  gantry_training_options_init (&options);
  for (guint i = 0; i < G_N_ELEMENTS (losses); i++)
    if (g_str_equal (losses[i], json_object_get_string_member (fixture, "loss")))
      options.loss = (GantryLoss) i;
  for (guint i = 0; i < G_N_ELEMENTS (optimizers); i++)
    if (g_str_equal (optimizers[i], json_object_get_string_member (fixture, "optimizer")))
      options.optimizer = (GantryOptimizer) i;
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (json_object_has_member (given, numbers[i].name))
      {
        *numbers[i].value = json_object_get_double_member (given, numbers[i].name);
        n_taken++;
      }
  g_assert_cmpuint (n_taken, ==, json_object_get_size (given));
  if (!with_optimizer)
    {
      options.optimizer = GANTRY_OPTIMIZER_NONE;
      options.clip_norm = 0;
    }
  return options;
}

static void
assert_close (double found, double expected, double scale, const char *what)
{
  double error = fabs (found - expected);

  if (!(error <= TOLERANCE * scale))
    g_error ("%s: %.15g where %.15g is expected: off by %.3g of %.3g", what, found, expected, error, scale);
}

/* The norm, and the products with random vectors, which tell any difference of the whole. */
static void
compare (const GantryLiteral *got, JsonObject *wanted, const char *name)
{
  JsonArray *shape = json_object_get_array_member (wanted, "shape");
  JsonArray *projections = json_object_get_array_member (wanted, "projections");
  JsonArray *values = json_object_get_array_member (wanted, "values");
  double norm = json_object_get_double_member (wanted, "norm");
  gint64 n = gantry_type_elements (got->type);
  guint kept = json_array_get_length (values);

  g_assert_cmpuint (got->type->rank, ==, json_array_get_length (shape));
  for (guint i = 0; i < got->type->rank; i++)
    g_assert_cmpint (got->type->dims[i], ==, json_array_get_int_element (shape, i));
  /* A zero that is exact on one side is rounding on the other: a bias of keys moves no softmax. */
  norm = MAX (norm, 1e-6);
  for (guint i = 0; i < json_array_get_length (projections); i++)
    {
      g_autofree char *key = g_strdup_printf ("%s#%u", name, i);
      guint64 start = gantry_random_start (key, 0);
      double sum = 0;

      for (gint64 j = 0; j < n; j++)
        sum += gantry_literal_get_double (got, j) * (2 * gantry_random_at (start, (guint64) j) - 1);
      assert_close (sum, json_array_get_double_element (projections, i), norm, name);
    }
  for (guint k = 0; k < kept; k++)
    assert_close (gantry_literal_get_double (got, k * n / kept), json_array_get_double_element (values, k), norm, name);
}

/* Results first.. of @step against the members of @wanted, which has one for each trained parameter. */
static void
compare_all (const GantryModule *step, const TrainingValues *results, guint first, JsonObject *wanted)
{
  const GantryFunction *entry = gantry_module_entry (step);
  guint k = first;

  for (guint32 i = 0; i < entry->n_params; i++)
    {
      const GantryNode *node = &step->nodes[entry->first_node + i];
      const char *name = gantry_context_string (step->context, node->name);

      if (gantry_parameter_role (step, node) != GANTRY_SUBJECT_PARAMETER)
        continue;
      g_assert_true (json_object_has_member (wanted, name));
      compare (results->values[k++], json_object_get_object_member (wanted, name), name);
    }
  g_assert_cmpuint (k - first, ==, json_object_get_size (wanted));
}

static void
test_gradients (JsonObject *fixture, const GantryModule *module)
{
  GantryTrainingOptions options = options_of (fixture, FALSE);
  g_autoptr (GantryModule) step = training_step ((GantryModule *) module, &options);
  g_autoptr (TrainingValues) arguments = training_arguments (step);
  g_autoptr (TrainingValues) results = training_run (step, arguments);
  double loss = json_object_get_double_member (fixture, "loss_value");

  assert_close (gantry_literal_get_double (results->values[0], 0), loss, fabs (loss), "loss");
  compare_all (step, results, 1, json_object_get_object_member (fixture, "gradients"));
}

static void
test_steps (JsonObject *fixture, const GantryModule *module)
{
  GantryTrainingOptions options = options_of (fixture, TRUE);
  g_autoptr (GantryModule) step = training_step ((GantryModule *) module, &options);
  g_autoptr (TrainingValues) arguments = training_arguments (step);
  JsonArray *losses = json_object_get_array_member (fixture, "losses");

  for (guint t = 0; t < json_array_get_length (losses); t++)
    {
      g_autoptr (TrainingValues) results = training_run (step, arguments);
      double loss = json_array_get_double_element (losses, t);

      assert_close (gantry_literal_get_double (results->values[0], 0), loss, fabs (loss), "loss");
      training_feed_back (step, arguments, results);
      if (t + 1 == json_array_get_length (losses))
        compare_all (step, results, 1, json_object_get_object_member (fixture, "new"));
    }
}

static void
test_program (gconstpointer data)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonObject *fixture = load_fixture (data, parser);
  g_autoptr (GantryModule) module = training_program (data, TRUE);

  test_gradients (fixture, module);
  if (json_object_has_member (fixture, "new"))
    test_steps (fixture, module);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (programs); i++)
    {
      g_autofree char *path = g_strdup_printf ("/training-peer/%s", programs[i]);

      g_test_add_data_func (path, programs[i], test_program);
    }
  return g_test_run ();
}
