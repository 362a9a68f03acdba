/* SPDX-License-Identifier: Apache-2.0 */
/* Losses, gradients and three steps of each optimizer, as JAX and optax compute them for the same programs written in
 * JAX (tests/fixtures/gradients): both in double precision. */
#include "tests/core/autodiff/training-fixture.h"
#include <math.h>

#define TOLERANCE 1e-9

static const char *const programs[] = { "layers-tiny", "layers-unrolled-tiny", "optimizer-8", "mlp", "convnet", "lstm", "transformer-tiny" };

static void
test_gradients (JsonObject *fixture, const GantryModule *module)
{
  GantryTrainingOptions options = training_fixture_options (fixture, FALSE);
  g_autoptr (GantryModule) step = training_step ((GantryModule *) module, &options);
  g_autoptr (TrainingValues) arguments = training_arguments (step);
  g_autoptr (TrainingValues) results = training_run (step, arguments);
  double loss = json_object_get_double_member (fixture, "loss_value");

  training_fixture_compare (gantry_literal_get_double (results->values[0], 0), loss, fabs (loss), TOLERANCE, "loss");
  training_fixture_compare_all (step, results, 1, json_object_get_object_member (fixture, "gradients"), TOLERANCE);
}

static void
test_steps (JsonObject *fixture, const GantryModule *module)
{
  GantryTrainingOptions options = training_fixture_options (fixture, TRUE);
  g_autoptr (GantryModule) step = training_step ((GantryModule *) module, &options);
  g_autoptr (TrainingValues) arguments = training_arguments (step);
  JsonArray *losses = json_object_get_array_member (fixture, "losses");

  for (guint t = 0; t < json_array_get_length (losses); t++)
    {
      g_autoptr (TrainingValues) results = training_run (step, arguments);
      double loss = json_array_get_double_element (losses, t);

      training_fixture_compare (gantry_literal_get_double (results->values[0], 0), loss, fabs (loss), TOLERANCE, "loss");
      training_feed_back (step, arguments, results);
      if (t + 1 == json_array_get_length (losses))
        training_fixture_compare_all (step, results, 1, json_object_get_object_member (fixture, "new"), TOLERANCE);
    }
}

static void
test_program (gconstpointer data)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonObject *fixture = training_fixture_load (data, parser);
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
