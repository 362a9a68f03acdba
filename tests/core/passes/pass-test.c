/* SPDX-License-Identifier: Apache-2.0 */
/* The checks that all tests of passes share. */
#include "tests/core/passes/pass-test.h"
#include "core/eval/eval.h"
#include "core/graph/text.h"
#include "core/graph/verifier.h"
#include <math.h>

static GantryLiteral *
random_argument (GRand *rand, const GantryType *type)
{
  guint8 *data;
  GantryLiteral *literal = gantry_literal_new_zeroed (type, &data);
  gsize size = gantry_element_size (type->element);
  gint64 n = gantry_type_elements (type);

  for (gint64 i = 0; i < n; i++)
    if (gantry_element_is_float (type->element))
      gantry_element_write_double (type->element, data + (gsize) i * size, g_rand_double_range (rand, -1, 1));
    else
      gantry_element_write_int (type->element, data + (gsize) i * size,
                                type->element == GANTRY_BOOL ? g_rand_int_range (rand, 0, 2) : g_rand_int_range (rand, -9, 10));
  return literal;
}

static GantryLiteral **
evaluate (const GantryModule *module, GantryLiteral **arguments)
{
  const GantryFunction *entry = gantry_module_entry (module);
  GantryLiteral **results = g_new0 (GantryLiteral *, entry->n_results + 1);
  g_autoptr (GError) error = NULL;

  if (!gantry_evaluate (module, entry, arguments, results, NULL, &error))
    {
      g_autofree char *text = gantry_module_to_text (module, NULL);

      g_test_message ("%s", text);
    }
  g_assert_no_error (error);
  return results;
}

static void
free_literals (GantryLiteral **literals, guint n)
{
  for (guint i = 0; i < n; i++)
    gantry_literal_unref (literals[i]);
  g_free (literals);
}

static void
compare (const GantryLiteral *a, const GantryLiteral *b, double tolerance)
{
  gint64 n = gantry_type_elements (a->type);
  double largest = 1e-30;

  g_assert_true (gantry_type_same_shape (a->type, b->type));
  for (gint64 i = 0; i < n; i++)
    if (isfinite (gantry_literal_get_double (b, i)))
      largest = MAX (largest, fabs (gantry_literal_get_double (b, i)));
  for (gint64 i = 0; i < n; i++)
    {
      double x = gantry_literal_get_double (a, i), y = gantry_literal_get_double (b, i);

      if ((isnan (x) && isnan (y)) || x == y)
        continue;
      g_assert_cmpfloat_with_epsilon (x, y, tolerance * largest);
    }
}

void
pass_check_same (const GantryModule *before, const GantryModule *after, guint32 seed, double tolerance)
{
  const GantryFunction *entry = gantry_module_entry (before);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  GantryLiteral **arguments = g_new0 (GantryLiteral *, entry->n_params + 1);
  GantryLiteral **wanted, **got;

  g_assert_cmpuint (gantry_module_entry (after)->n_params, ==, entry->n_params);
  g_assert_cmpuint (gantry_module_entry (after)->n_results, ==, entry->n_results);
  for (guint i = 0; i < entry->n_params; i++)
    arguments[i] = random_argument (rand, gantry_node_type (before, &before->nodes[entry->first_node + i]));
  wanted = evaluate (before, arguments);
  got = evaluate (after, arguments);
  for (guint i = 0; i < entry->n_results; i++)
    compare (got[i], wanted[i], tolerance);
  free_literals (arguments, entry->n_params);
  free_literals (wanted, entry->n_results);
  free_literals (got, entry->n_results);
}

/* A node that is new says of what it was made; what it says exists. */
static void
check_origins (const GantryModule *before, const GantryModule *after)
{
  for (guint32 i = 0; after != before && i < after->n_nodes; i++)
    {
      const GantryNode *node = &after->nodes[i];

      g_assert_true (node->n_origins > 0 || gantry_module_node (before, node->id) != NULL);
      for (guint j = 0; j < node->n_origins; j++)
        g_assert_nonnull (gantry_module_node (before, after->origins[node->origins + j]));
    }
}

PassCase *
pass_case_new (const GantryPass *pass, const GantryPassOptions *options, const char *text)
{
  const GantryPassOptions defaults = GANTRY_PASS_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  PassCase *c = g_new0 (PassCase, 1);

  c->context = gantry_context_new ();
  c->before = gantry_module_from_text (c->context, text, -1, "test.gir", &error);
  g_assert_no_error (error);
  gantry_verify (c->before, NULL, &error);
  g_assert_no_error (error);
  c->after = pass->run (c->before, options != NULL ? options : &defaults, NULL, &error);
  g_assert_no_error (error);
  gantry_verify (c->after, c->before, &error);
  g_assert_no_error (error);
  check_origins (c->before, c->after);
  if (c->after != c->before)
    pass_check_same (c->before, c->after, 1, 1e-5);
  return c;
}

void
pass_case_free (PassCase *c)
{
  if (c == NULL)
    return;
  gantry_module_unref (c->before);
  gantry_module_unref (c->after);
  gantry_context_unref (c->context);
  g_free (c);
}

guint
pass_count (const GantryModule *module, GantryOp op)
{
  guint n = 0;

  for (guint32 i = 0; i < module->n_nodes; i++)
    n += module->nodes[i].op == op;
  return n;
}

const GantryNode *
pass_result (const GantryModule *module, guint i)
{
  return gantry_module_node (module, gantry_function_result_id (module, gantry_module_entry (module), i));
}

void
pass_assert_unchanged (const PassCase *c)
{
  g_assert_true (c->after == c->before);
}

typedef struct
{
  const GantryPass *pass;
  const char *text;
} Unchanged;

static void
test_unchanged (gconstpointer data)
{
  const Unchanged *unchanged = data;
  g_autoptr (PassCase) c = pass_case_new (unchanged->pass, NULL, unchanged->text);

  pass_assert_unchanged (c);
}

void
pass_add_unchanged (const char *folder, const GantryPass *pass, const PassText *texts, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *path = g_strconcat (folder, "/", texts[i].name, NULL);
      Unchanged *unchanged = g_new (Unchanged, 1);

      *unchanged = (Unchanged){ pass, texts[i].text };
      g_test_add_data_func_full (path, unchanged, test_unchanged, g_free);
    }
}
