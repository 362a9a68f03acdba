/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the ONNX backend tests of the shared data through import, the lowering rules and the
 * evaluator. A test passes when each result has the expected type and shape and |a - b| <= 1e-7 +
 * 1e-3 |b|, NaN equal to NaN. None may give a wrong result; each other one says what is not
 * supported. A folder is run twice: as it is, and with small integer operands (shapes, axes) bound
 * to their given values. */
#include "core/eval/eval.h"
#include "core/frontends/onnx/onnx.h"
#include "tests/core/frontends/onnx/onnx-lowering.h"
#include "tests/test-files.h"
#include <math.h>

typedef enum
{
  PASS,
  MISMATCH,
  UNSUPPORTED,
  ERROR,
  N_OUTCOMES
} Outcome;

typedef struct
{
  const char *folder;
  gboolean bind;
  guint least; /* what passes at least: measured */
} Suite;

static const char *const outcome_names[] = { "pass", "mismatch", "unsupported", "error" };

static gboolean
values_agree (const GantryLiteral *a, const GantryLiteral *b, char **why)
{
  gint64 n = gantry_type_elements (b->type);

  if (!gantry_type_same_shape (a->type, b->type))
    {
      *why = g_strdup_printf ("type: %s rank %u", gantry_element_name (a->type->element), a->type->rank);
      return FALSE;
    }
  for (gint64 i = 0; i < n; i++)
    {
      double x = gantry_literal_get_double (a, i);
      double y = gantry_literal_get_double (b, i);

      if (gantry_element_is_integer (a->type->element) && gantry_literal_get_int (a, i) == gantry_literal_get_int (b, i))
        continue;
      if (x == y || (isnan (x) && isnan (y)) || fabs (x - y) <= 1e-7 + 1e-3 * fabs (y))
        continue;
      *why = g_strdup_printf ("element %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " is %g, not %g", i, n, x, y);
      return FALSE;
    }
  return TRUE;
}

/* The values of input_0.pb ..., NULL entries where a file holds no tensor that is compiled. */
static GPtrArray *
read_values (GantryContext *context, const char *folder, const char *kind, guint n, GError **error)
{
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *file = g_strdup_printf ("%s/test_data_set_0/%s_%u.pb", folder, kind, i);
      GantryLiteral *literal = gantry_onnx_read_tensor (context, file, NULL, error);

      if (literal == NULL)
        return NULL;
      g_ptr_array_add (values, literal);
    }
  return g_steal_pointer (&values);
}

/* Integer operands of up to 16 elements and at most one dimension, and scalars of any type, are
 * bound. */
static gboolean
is_bindable (const GantryLiteral *literal)
{
  return literal->type->rank <= 1 && gantry_type_elements (literal->type) <= 16
         && (literal->type->rank == 0 || literal->type->element == GANTRY_I64 || literal->type->element == GANTRY_I32
             || gantry_type_elements (literal->type) <= 8);
}

static Outcome
evaluate (GantryModule *lowered, GPtrArray *arguments, GPtrArray *expected, char **why)
{
  const GantryFunction *f = gantry_module_entry (lowered);
  g_autofree GantryLiteral **results = g_new0 (GantryLiteral *, f->n_results + 1);
  g_autoptr (GError) error = NULL;
  Outcome outcome = PASS;

  if (!gantry_verify (lowered, NULL, &error) || !gantry_evaluate (lowered, f, (GantryLiteral *const *) arguments->pdata, results, NULL, &error))
    {
      *why = g_strdup (error->message);
      return ERROR;
    }
  for (guint i = 0; i < f->n_results; i++)
    {
      if (outcome == PASS && !values_agree (results[i], g_ptr_array_index (expected, i), why))
        outcome = MISMATCH;
      gantry_literal_unref (results[i]);
    }
  return outcome;
}

static Outcome
run_folder (const char *folder, gboolean bind, char **why)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autofree char *model = g_build_filename (folder, "model.onnx", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) source = gantry_onnx_import (context, model, NULL, NULL, NULL, &error);
  g_autoptr (GantryModule) lowered = NULL;
  g_autoptr (GPtrArray) inputs = NULL, expected = NULL;
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();
  g_autofree GantryLiteral **bound = NULL;
  const GantryFunction *f;

  if (source == NULL)
    goto failed;
  f = gantry_module_entry (source);
  for (guint i = 0; i < f->n_params; i++)
    if (!gantry_type_is_tensor (gantry_context_type (context, source->nodes[f->first_node + i].type)))
      {
        *why = g_strdup_printf ("input %u is not a tensor", i);
        return UNSUPPORTED;
      }
  bound = g_new0 (GantryLiteral *, f->n_params + 1);
  inputs = read_values (context, folder, "input", f->n_params, &error);
  if (inputs == NULL)
    goto failed;
  for (guint i = 0; i < inputs->len; i++)
    if (bind && is_bindable (g_ptr_array_index (inputs, i)))
      bound[i] = g_ptr_array_index (inputs, i);
    else
      g_ptr_array_add (arguments, g_ptr_array_index (inputs, i));
  lowered = onnx_lowering_run (source, bound, &error);
  if (lowered == NULL)
    goto failed;
  expected = read_values (context, folder, "output", f->n_results, &error);
  if (expected == NULL)
    goto failed;
  return evaluate (lowered, arguments, expected, why);

failed:
  *why = g_strdup (error->message);
  return g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED) ? UNSUPPORTED : ERROR;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static GPtrArray *
list_folders (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  return names;
}

static void
test_suite (gconstpointer data)
{
  const Suite *suite = data;
  const char *only = g_getenv ("GANTRY_TEST_ONLY");
  g_autofree char *path = test_shared_file ("data/onnx-conformance", suite->folder);
  g_autoptr (GPtrArray) names = list_folders (path);
  guint counts[N_OUTCOMES] = { 0 };

  if (names->len == 0)
    {
      g_test_skip ("the folder of shared test data (GANTRY_SHARED) has no ONNX backend tests");
      return;
    }
  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *folder = g_build_filename (path, g_ptr_array_index (names, i), NULL);
      g_autofree char *why = NULL;
      Outcome outcome;

      if (only != NULL && strstr (folder, only) == NULL)
        continue;
      outcome = run_folder (folder, suite->bind, &why);
      counts[outcome]++;
      if (outcome != PASS)
        g_test_message ("%s: %s: %s", (const char *) g_ptr_array_index (names, i), outcome_names[outcome], why);
    }
  g_test_message ("%s%s: %u pass, %u mismatch, %u unsupported, %u error", suite->folder, suite->bind ? " (bound)" : "", counts[PASS], counts[MISMATCH],
                  counts[UNSUPPORTED], counts[ERROR]);
  if (only != NULL)
    return;
  g_assert_cmpuint (counts[MISMATCH], ==, 0);
  g_assert_cmpuint (counts[ERROR], ==, 0);
  g_assert_cmpuint (counts[PASS], >=, suite->least);
}

int
main (int argc, char **argv)
{
  static const Suite suites[] = {
    { "node", FALSE, 675 }, { "node", TRUE, 741 }, { "pytorch-converted", FALSE, 40 }, { "pytorch-operator", FALSE, 20 }, { "simple", FALSE, 2 },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (suites); i++)
    {
      g_autofree char *name = g_strdup_printf ("/frontends/onnx/conformance/%s%s", suites[i].folder, suites[i].bind ? "-bound" : "");

      g_test_add_data_func (name, &suites[i], test_suite);
    }
  return g_test_run ();
}
