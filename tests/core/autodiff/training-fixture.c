/* SPDX-License-Identifier: Apache-2.0 */
/* Reads tests/fixtures/gradients/NAME.json and holds a step to it. */
#include "tests/core/autodiff/training-fixture.h"
#include "core/base/random.h"
#include <math.h>

JsonObject *
training_fixture_load (const char *name, JsonParser *parser)
{
  const char *root = g_getenv ("GANTRY_SOURCE_ROOT");
  g_autofree char *file = g_strconcat (name, ".json", NULL);
  g_autofree char *path = g_build_filename (root != NULL ? root : ".", "tests", "fixtures", "gradients", file, NULL);
  g_autoptr (GError) error = NULL;

  json_parser_load_from_file (parser, path, &error);
  g_assert_no_error (error);
  return json_node_get_object (json_parser_get_root (parser));
}

GantryTrainingOptions
training_fixture_options (JsonObject *fixture, gboolean with_optimizer)
{
  static const char *const losses[] = { "output", "mean_squared_error", "softmax_cross_entropy" };
  static const char *const optimizers[] = { "none", "sgd", "momentum", "adam", "adamw" };
  JsonObject *given = json_object_get_object_member (fixture, "options");
  GantryTrainingOptions options;
  struct
  {
    const char *name;
    double *value;
  } numbers[] = {
    { "learning_rate", &options.learning_rate },
    { "momentum", &options.momentum },
    { "weight_decay", &options.weight_decay },
    { "clip_norm", &options.clip_norm },
    { "l2", &options.l2 },
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

void
training_fixture_compare (double found, double expected, double scale, double tolerance, const char *what)
{
  double error = fabs (found - expected);

  if (!(error <= tolerance * scale))
    g_error ("%s: %.15g where %.15g is expected: off by %.3g of %.3g", what, found, expected, error, scale);
}

/* What is no number is farthest of all. */
static double
farther (double worst, double difference)
{
  return isnan (difference) ? INFINITY : MAX (worst, fabs (difference));
}

static double
largest_norm (JsonObject *all)
{
  g_autoptr (GList) members = json_object_get_values (all);
  double largest = 0;

  for (GList *member = members; member != NULL; member = member->next)
    largest = MAX (largest, json_object_get_double_member (json_node_get_object (member->data), "norm"));
  return largest;
}

double
training_fixture_distance (const GantryLiteral *got, JsonObject *all, const char *name)
{
  JsonObject *wanted = json_object_get_object_member (all, name);
  JsonArray *shape = json_object_get_array_member (wanted, "shape");
  JsonArray *projections = json_object_get_array_member (wanted, "projections");
  JsonArray *values = json_object_get_array_member (wanted, "values");
  double norm = json_object_get_double_member (wanted, "norm"), worst = 0;
  gint64 n = gantry_type_elements (got->type);
  guint kept = json_array_get_length (values), n_vectors = json_array_get_length (projections);
  g_autofree guint64 *starts = g_new0 (guint64, n_vectors);
  g_autofree double *sums = g_new0 (double, n_vectors);

  g_assert_cmpuint (got->type->rank, ==, json_array_get_length (shape));
  for (guint i = 0; i < got->type->rank; i++)
    g_assert_cmpint (got->type->dims[i], ==, json_array_get_int_element (shape, i));
  /* A zero that is exact on one side is rounding on the other: a bias of keys moves no softmax. */
  norm = MAX (norm, 1e-3 * largest_norm (all));
  for (guint i = 0; i < n_vectors; i++)
    {
      g_autofree char *key = g_strdup_printf ("%s#%u", name, i);

      starts[i] = gantry_random_start (key, 0);
    }
  for (gint64 j = 0; j < n; j++)
    {
      double value = gantry_literal_get_double (got, j);

      for (guint i = 0; i < n_vectors && value != 0; i++)
        sums[i] += value * (2 * gantry_random_at (starts[i], (guint64) j) - 1);
    }
  for (guint i = 0; i < n_vectors; i++)
    worst = farther (worst, sums[i] - json_array_get_double_element (projections, i));
  for (guint k = 0; k < kept; k++)
    worst = farther (worst, gantry_literal_get_double (got, k * n / kept) - json_array_get_double_element (values, k));
  return worst == 0 ? 0 : worst / norm;
}

void
training_fixture_compare_tensor (const GantryLiteral *got, JsonObject *all, const char *name, double tolerance)
{
  training_fixture_compare (training_fixture_distance (got, all, name), 0, 1, tolerance, name);
}

/* Results first.. of @step against the members of @wanted, which has one for each trained parameter. */
void
training_fixture_compare_all (const GantryModule *step, const TrainingValues *results, guint first, JsonObject *wanted, double tolerance)
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
      training_fixture_compare_tensor (results->values[k++], wanted, name, tolerance);
    }
  g_assert_cmpuint (k - first, ==, json_object_get_size (wanted));
}
