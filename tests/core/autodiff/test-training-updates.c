/* SPDX-License-Identifier: Apache-2.0 */
/* The updates of every optimizer against their formulas, over several steps. */
#include "tests/core/autodiff/training-test.h"
#include <math.h>

/* The formulas of optax 0.2, written out once more, on vectors of double. */

typedef struct
{
  guint n; /* parameters */
  gint64 *sizes;
  double **value, **m, **v;
  gint64 t;
} Reference;

static void
reference_update (Reference *r, const GantryTrainingOptions *o, const TrainingValues *gradients)
{
  double norm = 0, clip = 1;

  for (guint i = 0; i < r->n; i++)
    for (gint64 j = 0; j < r->sizes[i]; j++)
      norm += pow (gantry_literal_get_double (gradients->values[1 + i], j), 2);
  norm = sqrt (norm);
  if (o->clip_norm > 0 && norm >= o->clip_norm)
    clip = o->clip_norm / norm;
  r->t++;
  for (guint i = 0; i < r->n; i++)
    for (gint64 j = 0; j < r->sizes[i]; j++)
      {
        double g = clip * gantry_literal_get_double (gradients->values[1 + i], j);
        double *p = &r->value[i][j], *m = &r->m[i][j], *v = &r->v[i][j];

        if (o->optimizer == GANTRY_OPTIMIZER_SGD)
          *p -= o->learning_rate * g;
        else if (o->optimizer == GANTRY_OPTIMIZER_MOMENTUM)
          {
            *m = o->momentum * *m + g;
            *p -= o->learning_rate * *m;
          }
        else
          {
            double step, decay = o->optimizer == GANTRY_OPTIMIZER_ADAMW ? o->weight_decay * *p : 0;

            *m = o->beta1 * *m + (1 - o->beta1) * g;
            *v = o->beta2 * *v + (1 - o->beta2) * g * g;
            step = *m / (1 - pow (o->beta1, (double) r->t));
            step /= sqrt (*v / (1 - pow (o->beta2, (double) r->t))) + o->epsilon;
            *p -= o->learning_rate * (step + decay);
          }
      }
}

static Reference *
reference_new (const GantryModule *gradients, const TrainingValues *arguments)
{
  const GantryFunction *entry = gantry_module_entry (gradients);
  Reference *r = g_new0 (Reference, 1);

  r->sizes = g_new0 (gint64, arguments->n);
  r->value = g_new0 (double *, arguments->n);
  r->m = g_new0 (double *, arguments->n);
  r->v = g_new0 (double *, arguments->n);
  for (guint i = 0; i < entry->n_params; i++)
    if (gantry_parameter_role (gradients, &gradients->nodes[entry->first_node + i]) == GANTRY_SUBJECT_PARAMETER)
      {
        r->sizes[r->n] = gantry_type_elements (arguments->values[i]->type);
        r->value[r->n] = g_new0 (double, r->sizes[r->n]);
        r->m[r->n] = g_new0 (double, r->sizes[r->n]);
        r->v[r->n] = g_new0 (double, r->sizes[r->n]);
        for (gint64 j = 0; j < r->sizes[r->n]; j++)
          r->value[r->n][j] = gantry_literal_get_double (arguments->values[i], j);
        r->n++;
      }
  return r;
}

static void
reference_free (Reference *r)
{
  for (guint i = 0; i < r->n; i++)
    {
      g_free (r->value[i]);
      g_free (r->m[i]);
      g_free (r->v[i]);
    }
  g_free (r->value);
  g_free (r->m);
  g_free (r->v);
  g_free (r->sizes);
  g_free (r);
}

typedef struct
{
  GantryOptimizer optimizer;
  double clip_norm, l2;
  gboolean f32;
} UpdateCase;

static const UpdateCase update_cases[] = {
  { GANTRY_OPTIMIZER_SGD },
  { GANTRY_OPTIMIZER_SGD, 0.25 },
  { GANTRY_OPTIMIZER_MOMENTUM },
  { GANTRY_OPTIMIZER_MOMENTUM, 0, 0.1 },
  { GANTRY_OPTIMIZER_ADAM },
  { GANTRY_OPTIMIZER_ADAM, 0.5, 0.001 },
  { GANTRY_OPTIMIZER_ADAM, 1e6 },
  { GANTRY_OPTIMIZER_ADAMW },
  { GANTRY_OPTIMIZER_ADAMW, 0.5 },
  { GANTRY_OPTIMIZER_ADAM, 0.5, 0.001, TRUE },
  { GANTRY_OPTIMIZER_ADAMW, 0, 0, TRUE },
};

/* Each step of the reference takes the gradients that the step without an optimizer gives at the same values. */
static void
test_update (gconstpointer data)
{
  const UpdateCase *c = data;
  g_autoptr (GantryModule) module = training_program ("mlp", !c->f32);
  g_autoptr (GantryModule) step = NULL;
  g_autoptr (GantryModule) gradients = NULL;
  g_autoptr (TrainingValues) arguments = NULL;
  GantryTrainingOptions options;
  double tolerance = c->f32 ? 2e-6 : 1e-12;
  Reference *reference;
  guint n_states = c->optimizer == GANTRY_OPTIMIZER_SGD ? 0 : c->optimizer == GANTRY_OPTIMIZER_MOMENTUM ? 1 : 2;

  gantry_training_options_init (&options);
  options.loss = GANTRY_LOSS_SOFTMAX_CROSS_ENTROPY;
  options.l2 = c->l2;
  options.optimizer = GANTRY_OPTIMIZER_NONE;
  gradients = training_step (module, &options);
  options.optimizer = c->optimizer;
  options.clip_norm = c->clip_norm;
  options.learning_rate = 0.1;
  options.weight_decay = 0.2;
  step = training_step (module, &options);
  arguments = training_arguments (step);
  reference = reference_new (gradients, arguments);
  g_assert_cmpuint (reference->n, ==, 4);
  for (guint t = 0; t < 3; t++)
    {
      g_autoptr (TrainingValues) results = training_run (step, arguments);
      TrainingValues head = { .n = gantry_module_entry (gradients)->n_params, .values = arguments->values };
      g_autoptr (TrainingValues) expected = training_run (gradients, &head);

      g_assert_cmpuint (results->n, ==, 1 + 4 + 4 * n_states + (n_states > 1));
      g_assert_cmpfloat (gantry_literal_get_double (results->values[0], 0), ==, gantry_literal_get_double (expected->values[0], 0));
      reference_update (reference, &options, expected);
      for (guint i = 0; i < 4; i++)
        {
          g_assert_cmpfloat (training_distance (results->values[1 + i], reference->value[i], reference->sizes[i]), <, tolerance);
          if (n_states > 0)
            g_assert_cmpfloat (training_distance (results->values[5 + n_states * i], reference->m[i], reference->sizes[i]), <, 4 * tolerance);
          if (n_states > 1)
            g_assert_cmpfloat (training_distance (results->values[6 + n_states * i], reference->v[i], reference->sizes[i]), <, 4 * tolerance);
        }
      if (n_states > 1)
        g_assert_cmpint (gantry_literal_get_int (results->values[results->n - 1], 0), ==, (gint64) t + 1);
      training_feed_back (step, arguments, results);
    }
  reference_free (reference);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (update_cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/training/update/%u", i);

      g_test_add_data_func (path, &update_cases[i], test_update);
    }
  return g_test_run ();
}
