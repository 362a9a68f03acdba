/* SPDX-License-Identifier: Apache-2.0 */
/* Training steps of one program in all forms, compiled and run on the CPU device: under every policy the results are
 * those of keeping all, bit for bit; forms that compute the same have equal gradients; and they are those that the
 * evaluator computes in f64. What others got wrong here, and limits, are in test-forms-memory.c. */
#include "core/autodiff/autodiff.h"
#include "core/base/error.h"
#include "core/base/random.h"
#include "core/eval/eval.h"
#include "core/graph/graph.h"
#include "core/plan/executable.h"
#include "core/plan/plan.h"
#include "tests/app/cli/form-run.h"
#include "tests/app/cli/forms.h"
#include <math.h>
#include <string.h>

typedef struct
{
  FormShape shape;
  FormFlavour flavour;
  GantryOptimizer optimizer;
} Form;

static const char *const policies[] = {
  "policy everything_saveable",
  "policy nothing_saveable",
  "policy dots_saveable",
  "policy dots_with_no_batch_dims_saveable",
  "policy offload_dot_with_no_batch_dims('device', 'pinned_host')",
  "policy save_only_these_names(h)",
  "policy save_any_names_but_these(h)",
  "policy save_anything_except_these_names(z, a)",
  "policy save_and_offload_only_these_names([a], [h], 'device', 'pinned_host')",
  "policy save_from_both_policies(dots_saveable, save_only_these_names(a))",
  "role:residual recompute",
  "role:residual offload",
  "role:parameter offload",
  "role:state offload",
  "role:output offload",
  "* offload",
  "* offload; op:dot recompute; name:h keep",
};

/* The same number for the same layer in every form. */
static double
value_of (const char *name, guint index, gpointer data)
{
  const Form *form = data;
  char first[2] = { name[0], 0 };

  if (name[0] == 'w' || name[0] == 'b')
    index = form_layer_element (form->shape, name, index);
  return gantry_random_at (gantry_random_start (first, 5), index) - 0.5;
}

static const char *
result_name (GantryModule *module, guint i)
{
  const GantryFunction *entry = gantry_module_entry (module);
  guint n = 0;

  for (guint k = 0; k < entry->n_params; k++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + k];

      if (gantry_parameter_role (module, node) == GANTRY_SUBJECT_PARAMETER && ++n == i)
        return gantry_context_string (module->context, node->name);
    }
  return NULL;
}

/* The loss, then the results for all layers' w and b in one order: 1 + 256 + 32 numbers. */
static double *
in_order (const Form *form, GantryModule *module, GantryLiteral **outputs)
{
  guint n_w = form_layers_size ("w");
  double *all = g_new0 (double, 1 + n_w + form_layers_size ("b"));
  const char *name;

  all[0] = gantry_literal_get_double (outputs[0], 0);
  for (guint i = 1; (name = result_name (module, i)) != NULL; i++)
    for (gint64 k = 0; k < gantry_type_elements (outputs[i]->type); k++)
      all[1 + (name[0] == 'w' ? 0 : n_w) + form_layer_element (form->shape, name, (guint) k)] = gantry_literal_get_double (outputs[i], k);
  return all;
}

static void
compare (const double *got, const double *want, double tolerance, const char *what)
{
  const guint begins[] = { 0, 1, 1 + form_layers_size ("w"), 1 + form_layers_size ("w") + form_layers_size ("b") };

  for (guint part = 0; part < 3; part++)
    {
      double largest = 0, worst = 0;

      for (guint i = begins[part]; i < begins[part + 1]; i++)
        {
          largest = MAX (largest, fabs (want[i]));
          worst = MAX (worst, fabs (got[i] - want[i]));
          g_assert_true (isfinite (got[i]));
        }
      g_assert_cmpfloat (largest, >, 0);
      if (worst > tolerance * largest)
        g_error ("%s: part %u differs by %g of %g", what, part, worst, largest);
    }
}

/* The gradients in f64, by the evaluator: no pass, no plan, no kernel. */
static double *
evaluate (const Form *form)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autofree char *text = form_text (form->shape, form->flavour, "f64");
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, text, -1, "form", &error), step = NULL;
  g_autofree GantryLiteral **in = NULL, **out = NULL;
  const GantryFunction *entry;
  GantryTrainingOptions options;
  double *all;

  g_assert_no_error (error);
  gantry_training_options_init (&options);
  options.optimizer = GANTRY_OPTIMIZER_NONE;
  options.loss = GANTRY_LOSS_OUTPUT;
  step = gantry_training_step (module, &options, NULL, &error);
  g_assert_no_error (error);
  gantry_training_options_clear (&options);
  entry = gantry_module_entry (step);
  in = g_new0 (GantryLiteral *, entry->n_params + 1);
  out = g_new0 (GantryLiteral *, entry->n_results + 1);
  for (guint i = 0; i < entry->n_params; i++)
    {
      const GantryNode *node = &step->nodes[entry->first_node + i];
      guint8 *bytes;

      in[i] = gantry_literal_new_zeroed (gantry_node_type (step, node), &bytes);
      for (gint64 k = 0; k < gantry_type_elements (in[i]->type); k++)
        ((double *) (gpointer) bytes)[k] = value_of (gantry_context_string (context, node->name), (guint) k, (gpointer) form);
    }
  gantry_evaluate (step, entry, in, out, NULL, &error);
  g_assert_no_error (error);
  all = in_order (form, step, out);
  for (guint i = 0; i < entry->n_params; i++)
    gantry_literal_unref (in[i]);
  for (guint i = 0; i < entry->n_results; i++)
    gantry_literal_unref (out[i]);
  return all;
}

/* The answer of the solver for 70 % of what keeping all takes, or for the least that there is where that is more. */
static void
check_solver (FormStep *step, GPtrArray *want, guint n_runs)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryPlan) plan = NULL;
  g_autoptr (GantryExecutable) executable = NULL;
  g_autoptr (GPtrArray) got = NULL;
  guint64 kept = step->kept->plan->arena_bytes[GANTRY_MEMORY_DEVICE];
  guint64 beside = gantry_plan_memory_bytes (step->kept->plan, GANTRY_MEMORY_DEVICE) - kept;

  for (guint percent = 70; plan == NULL && percent <= 100; percent += 10)
    {
      g_clear_error (&error);
      plan = form_step_solve (step, beside + kept * percent / 100, &error);
      if (plan == NULL)
        g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
    }
  g_assert_nonnull (plan);
  executable = form_step_executable (step, plan);
  got = form_step_run (step, executable, n_runs);
  form_assert_same (got, want, "solver");
}

static GPtrArray *
check_policies (FormStep *step, guint n_runs)
{
  GPtrArray *want = form_step_run (step, step->kept, n_runs);

  for (guint i = 0; i < G_N_ELEMENTS (policies); i++)
    {
      g_autoptr (GPtrArray) got = form_step_run_policy (step, policies[i], n_runs);

      form_assert_same (got, want, policies[i]);
    }
  check_solver (step, want, n_runs);
  return want;
}

/* What @form gives with everything kept and no pass that finds loops. */
static void
compare_without_roll (const Form *form, guint n_runs, const double *got, double tolerance)
{
  g_autofree char *text = form_text (form->shape, form->flavour, "f32");
  g_autoptr (FormStep) step = form_step_new (text, form->optimizer, "roll", value_of, (gpointer) form);
  g_autoptr (GPtrArray) results = form_step_run (step, step->kept, n_runs);
  g_autofree double *want = in_order (form, form_step_module (step), (GantryLiteral **) results->pdata);

  compare (got, want, tolerance, form_shape_name (form->shape));
}

/* Of the flavours the gradients are compared, of the plain one what three steps of training make of the parameters too. */
static void
test_form (gconstpointer data)
{
  const Form *form = data;
  Form like = { FORM_UNROLLED, form_flavour_is_neutral (form->flavour) ? FORM_PLAIN : form->flavour, form->optimizer };
  gboolean trains = form->optimizer != GANTRY_OPTIMIZER_NONE;
  g_autofree char *text = form_text (form->shape, form->flavour, "f32");
  g_autoptr (FormStep) step = form_step_new (text, form->optimizer, NULL, value_of, (gpointer) form);
  g_autoptr (GPtrArray) results = check_policies (step, trains ? 3 : 1);
  g_autofree double *got = in_order (form, form_step_module (step), (GantryLiteral **) results->pdata), *want = NULL;

  if (!trains || form->flavour == FORM_PLAIN)
    compare_without_roll (&like, trains ? 3 : 1, got, trains ? 1e-5 : 1e-6);
  if (trains)
    return;
  if (form->shape == FORM_SEPARATE || form->shape == FORM_CALLS)
    compare_without_roll (form, 1, got, 1e-6);
  want = evaluate (form);
  compare (got, want, 1e-5, "evaluator");
}

/* Compiled in f64 there is no rounding to speak of between forms, compiled code and evaluator. */
static void
test_double (void)
{
  for (FormShape shape = 0; shape < FORM_N_SHAPES; shape++)
    {
      Form form = { shape, FORM_PLAIN, GANTRY_OPTIMIZER_NONE };
      g_autofree char *text = form_text (shape, FORM_PLAIN, "f64");
      g_autoptr (FormStep) step = form_step_new (text, GANTRY_OPTIMIZER_NONE, NULL, value_of, &form);
      g_autoptr (GPtrArray) results = form_step_run (step, step->kept, 1);
      g_autofree double *got = in_order (&form, form_step_module (step), (GantryLiteral **) results->pdata);
      g_autofree double *want = evaluate (&form);

      compare (got, want, 1e-13, form_shape_name (shape));
    }
}

static void
add (FormShape shape, FormFlavour flavour, GantryOptimizer optimizer)
{
  Form *form = g_new (Form, 1);
  g_autofree char *path = g_strdup_printf ("/forms/%s/%s/%s", form_shape_name (shape), form_flavour_name (flavour),
                                           optimizer == GANTRY_OPTIMIZER_NONE ? "gradients" : "adam");

  *form = (Form){ shape, flavour, optimizer };
  g_test_add_data_func_full (path, form, test_form, g_free);
}

int
main (int argc, char **argv)
{
  static const FormShape all[] = { FORM_UNROLLED, FORM_SCAN, FORM_REVERSED, FORM_NESTED_INNER };

  g_test_init (&argc, &argv, NULL);
  for (FormShape shape = 0; shape < FORM_N_SHAPES; shape++)
    {
      add (shape, FORM_PLAIN, GANTRY_OPTIMIZER_NONE);
      add (shape, FORM_PLAIN, GANTRY_OPTIMIZER_ADAM);
    }
  for (FormFlavour flavour = FORM_PLAIN + 1; flavour < FORM_N_FLAVOURS; flavour++)
    for (guint i = 0; i < G_N_ELEMENTS (all); i++)
      add (all[i], flavour, i == 1 ? GANTRY_OPTIMIZER_ADAM : GANTRY_OPTIMIZER_NONE);
  add (FORM_SCAN_AXIS_1, FORM_HOST_PARAMETERS, GANTRY_OPTIMIZER_NONE);
  add (FORM_SCAN_AXIS_2, FORM_HOST_PARAMETERS, GANTRY_OPTIMIZER_ADAM);
  add (FORM_SCAN_AXIS_2, FORM_TWO_KINDS, GANTRY_OPTIMIZER_NONE);
  g_test_add_func ("/forms/double", test_double);
  return g_test_run ();
}
