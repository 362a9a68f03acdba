/* SPDX-License-Identifier: Apache-2.0 */
/* Jaxprs: what is read of the texts of several versions of JAX, what the programs in them compute, and what is said of texts that
 * are wrong. */
#include "core/base/error.h"
#include "core/eval/evaluator.h"
#include "core/passes/passes.h"
#include "tests/core/frontends/xla/read-case.h"
#include <math.h>
#include <string.h>

static const char *const programs[] = { "mlp", "loops", "batches", "branches", "windows", "order", "places", "elements", "calls", "numbers" };

static char *
fixture (const char *name)
{
  return g_build_filename (g_getenv ("GANTRY_SOURCE_ROOT"), "tests", "fixtures", "jaxpr", name, NULL);
}

static GPtrArray *
list (const char *prefix)
{
  g_autofree char *folder = fixture (".");
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_prefix (name, prefix) && g_str_has_suffix (name, ".jaxpr"))
      g_ptr_array_add (names, g_strdup (name));
  return names;
}

static GantryModule *
open_fixture (GantryContext *context, const char *name, GantryXlaInfo **info)
{
  g_autofree char *path = fixture (name);
  g_autoptr (GError) error = NULL;
  GantryModule *module = gantry_xla_import (context, path, NULL, info, NULL, &error);

  g_assert_no_error (error);
  g_assert_true (gantry_xla_reads (path));
  g_assert_true (gantry_verify (module, NULL, &error));
  g_assert_no_error (error);
  return module;
}

static void
compare_values (const char *program, GantryLiteral *const *results, guint n)
{
  g_autofree char *name = g_strdup_printf ("%s.values", program), *path = fixture (name), *text = NULL;
  char *at;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  at = text;
  for (guint i = 0; i < n; i++)
    {
      gint64 elements = gantry_type_elements (results[i]->type);

      for (gint64 k = 0; k < elements; k++)
        {
          gint64 from = results[i]->splat ? 0 : k;
          gboolean is_float = gantry_element_is_float ((GantryElementType) results[i]->type->element);
          double actual = is_float ? gantry_literal_get_double (results[i], from) : (double) gantry_literal_get_int (results[i], from);
          double expected = g_ascii_strtod (at, &at);

          if (!(fabs (actual - expected) <= 2e-5 + 2e-5 * fabs (expected)))
            g_error ("%s: result %u, element %d: %g in place of %g", program, i, (int) k, actual, expected);
        }
    }
  g_assert_cmpint (strspn (at, "\n"), ==, strlen (at));
}

/* What JAX computes from the number 0.5. */
static void
test_values (void)
{
  for (guint p = 0; p < G_N_ELEMENTS (programs); p++)
    {
      g_autofree char *prefix = g_strconcat (programs[p], "-", NULL);
      g_autoptr (GPtrArray) names = list (prefix);

      g_assert_cmpuint (names->len, >, 0);
      for (guint i = 0; i < names->len; i++)
        {
          g_autoptr (GantryContext) context = gantry_context_new ();
          g_autoptr (GError) error = NULL;
          g_autoptr (GantryModule) module = open_fixture (context, g_ptr_array_index (names, i), NULL);
          g_autoptr (GantryModule) core = gantry_pass_legalize.run (module, NULL, NULL, &error);
          g_autoptr (GantryLiteral) input = NULL;
          g_autofree GantryLiteral **results = NULL;
          const float half = 0.5f;
          g_autoptr (GBytes) bytes = g_bytes_new (&half, sizeof half);
          guint n;

          g_test_message ("%s", (const char *) g_ptr_array_index (names, i));
          g_assert_no_error (error);
          n = gantry_module_entry (core)->n_results;
          results = g_new0 (GantryLiteral *, n);
          input = gantry_literal_new (gantry_context_type (context, gantry_context_scalar (context, GANTRY_F32)), bytes, FALSE, &error);
          gantry_evaluate (core, gantry_module_entry (core), &input, results, NULL, &error);
          g_assert_no_error (error);
          compare_values (programs[p], results, n);
          for (guint r = 0; r < n; r++)
            gantry_literal_unref (results[r]);
        }
    }
}

/* Everything opens, and what is not compiled is named. */
static void
test_unknown (void)
{
  g_autoptr (GPtrArray) names = list ("drawn-");

  g_assert_cmpuint (names->len, >, 0);
  for (guint i = 0; i < names->len; i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryXlaInfo) info = NULL;
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = open_fixture (context, g_ptr_array_index (names, i), &info);
      g_autoptr (GantryModule) core = NULL;

      g_assert_true (g_ptr_array_find_with_equal_func (info->unknown, "jax.fft", g_str_equal, NULL));
      g_assert_false (g_ptr_array_find_with_equal_func (info->unknown, "jax.cholesky", g_str_equal, NULL));
      g_assert_false (g_ptr_array_find_with_equal_func (info->unknown, "jax.mul", g_str_equal, NULL));
      core = gantry_pass_legalize.run (module, NULL, NULL, &error);
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
      g_assert_nonnull (strstr (error->message, "jax.random_bits: no lowering"));
    }
}

static const GantryNode *
find_node (const GantryModule *module, const char *op, const char *name)
{
  for (guint32 i = 0; i < module->n_nodes; i++)
    if (strcmp (gantry_node_op_name (module, &module->nodes[i]), op) == 0
        && (name == NULL || strcmp (gantry_context_string (module->context, module->nodes[i].name), name) == 0))
      return &module->nodes[i];
  return NULL;
}

/* Comments with places and names, which tell the phases too; of the older version names are empty. */
static void
test_comments (void)
{
  g_autoptr (GPtrArray) names = list ("shown-");

  g_assert_cmpuint (names->len, >, 0);
  for (guint i = 0; i < names->len; i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryModule) module = open_fixture (context, g_ptr_array_index (names, i), NULL);
      const GantryNode *sine = find_node (module, "jax.sin", NULL), *last = NULL;
      g_autofree char *where = gantry_context_location_text (context, sine->location);
      guint n_backward = 0;

      g_assert_true (g_str_has_prefix (where, "make-jaxprs.py:2"));
      for (guint32 k = 0; k < module->n_nodes; k++)
        if (module->nodes[k].phase == GANTRY_PHASE_BACKWARD)
          {
            last = &module->nodes[k];
            n_backward++;
          }
      g_test_message ("%s: %u nodes of the backward phase", (const char *) g_ptr_array_index (names, i), n_backward);
      if (strstr (g_ptr_array_index (names, i), "0.4") != NULL)
        continue;
      g_assert_cmpuint (n_backward, >, 5);
      g_assert_nonnull (strstr (gantry_context_scope_path (context, last->scope), "transpose(jvp("));
    }
}

static const char everything[] = "let relu = { lambda ; a:f32[2]. let b:f32[2] = max a 0.0:f32[] in (b,) } in\n"
                                 "{ lambda w:f32[2,2]; in:f32[2] let:i32[] k:key<fry>[] h:f32<host>[8@x,b]. let\n"
                                 "    c:f32[2] = jit[name=relu jaxpr=relu] in\n"
                                 "    d:f32[2] = jit[name=relu jaxpr=relu] c\n"
                                 "    e:f32[2] f:f32[3,2] = scan[\n"
                                 "      jaxpr={ lambda ; a:f32[2,2] b:f32[2]. let\n"
                                 "          c:f32[2] = dot_general[dimension_numbers=(([0], [1]), ([], []))] b a\n"
                                 "        in (c, c) }\n"
                                 "      length=3\n"
                                 "      linear=(False, False)\n"
                                 "      num_carry=1\n"
                                 "      num_consts=1\n"
                                 "      reverse=False\n"
                                 "    ] w d\n"
                                 "    in_1:f32[2] = pjit[name=g jaxpr={ lambda v:f32[2]; a:f32[2]. let b:f32[2] = add a v in (b,) }]\n"
                                 "      e\n"
                                 "    g:f32[2] = frob[\n"
                                 "      callback=<function f.<locals>.g at 0x7f00>\n"
                                 "      fmt=x {} = 1\n"
                                 "      sizes=(1, 2)\n"
                                 "      rate=0.5\n"
                                 "      deep=True\n"
                                 "    ] in_1 let True nan:f32[] -1.5e+2:f32[2]\n"
                                 "    effect[token=None] g\n"
                                 "    _:f32[2] r:Ref{f32[2]} = make g\n"
                                 "    r[let,:] <- g\n"
                                 "    r[...] += g\n"
                                 "    x:f32[2] <- r[0:1]\n"
                                 "    y:f32[2], r[0] <- r[0], g\n"
                                 "    z:f32[2] = copy x; zz:f32[2] = mul z 2.0\n"
                                 "  in (y, zz, 1.0:f32[], f) }\n";

static void
test_everything (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryXlaInfo) info = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = read_case (context, everything, "t.jaxpr", &info, &error);
  const GantryFunction *entry;
  const GantryNode *frob, *node;
  const gint64 *sizes;
  g_autofree char *where = NULL;
  gsize n;

  g_assert_no_error (error);
  g_assert_true (gantry_verify (module, NULL, &error));
  entry = gantry_module_entry (module);
  g_assert_cmpstr (info->format, ==, "jaxpr text");
  g_assert_cmpuint (entry->n_params, ==, 5);
  g_assert_cmpuint (entry->n_results, ==, 4);
  g_assert_cmpuint (module->n_functions, ==, 4);
  node = &module->nodes[entry->first_node + 4];
  g_assert_cmpuint (gantry_node_type (module, node)->memory, ==, GANTRY_MEMORY_PINNED_HOST);
  g_assert_cmpint (gantry_node_type (module, node)->dims[0], ==, 8);
  g_assert_cmpint (gantry_node_type (module, node)->dims[1], ==, GANTRY_DIM_UNKNOWN);

  frob = find_node (module, "jax.frob", "g");
  g_assert_nonnull (frob);
  where = gantry_context_location_text (context, frob->location);
  g_assert_cmpstr (where, ==, "t.jaxpr:17:5");
  g_assert_cmpuint (frob->n_operands, ==, 5);
  g_assert_cmpstr (gantry_attrs_string (context, frob->attrs, "callback", ""), ==, "<function f.<locals>.g at 0x7f00>");
  sizes = gantry_attrs_ints (context, frob->attrs, "sizes", &n);
  g_assert_cmpuint (n, ==, 2);
  g_assert_cmpint (sizes[1], ==, 2);
  g_assert_cmpfloat (gantry_attrs_float (context, frob->attrs, "rate", 0), ==, 0.5);
  g_assert_cmpint (gantry_attrs_int (context, frob->attrs, "deep", 0), ==, 1);

  node = find_node (module, "jax.swap", NULL);
  g_assert_cmpuint (node->n_operands, ==, 3);
  g_assert_cmpstr (gantry_attrs_string (context, node->attrs, "index", ""), ==, "let,:");
  g_assert_nonnull (find_node (module, "jax.addupdate", NULL));
  g_assert_nonnull (find_node (module, "jax.get", "x"));
  g_assert_nonnull (find_node (module, "jax.closed_over", "v"));
  node = find_node (module, "call", "d");
  g_assert_cmpstr (gantry_context_scope_path (context, node->scope), ==, "relu#2");
}

static void
test_errors (void)
{
#define LAMBDA "{ lambda ; a:f32[2]. let b:f32[2] = "
  static const ReadError cases[] = {
    { "{ lambda ; a:f32[2]", "t.jaxpr:1:20: '.' is expected, and the text ends", GANTRY_ERROR_TRUNCATED },
    { LAMBDA "sin c in (b,) }", "t.jaxpr:1:42: value c is not defined before", GANTRY_ERROR_INVALID },
    { LAMBDA "sin a in (b,) } {", "the jaxpr ends before this", GANTRY_ERROR_INVALID },
    { LAMBDA "f[x=(1 in (b,) }", "']' is expected behind parameters", GANTRY_ERROR_TRUNCATED },
    { LAMBDA "in (b,) }", "'a primitive' is expected, and '}' comes", GANTRY_ERROR_INVALID },
    { "{ lambda ; a:f32[99999999999,99999999999]. let in (a,) }", "too large", GANTRY_ERROR_TOO_LARGE },
    { "let f = { lambda ; . let jit[jaxpr=f] in () } in\n{ lambda ; . let jit[jaxpr=f] in () }", "f is a part of itself", GANTRY_ERROR_INVALID },
    { "{ lambda ; a:f32[2]. let b: = sin a in (b,) }", "t.jaxpr:1:29: a type is expected", GANTRY_ERROR_INVALID },
    { "hello", "'{' is expected, and 'hello' comes", GANTRY_ERROR_INVALID },
  };
  g_autoptr (GString) deep = g_string_new ("{ lambda ; . let ");

  read_case_errors ("t.jaxpr", cases, G_N_ELEMENTS (cases));
  for (guint i = 0; i < 300; i++)
    g_string_append (deep, "jit[jaxpr={ lambda ; . let ");
  read_case_errors ("t.jaxpr", &(ReadError){ deep->str, "nested more than 256 deep", GANTRY_ERROR_TOO_LARGE }, 1);
}

/* What is cut off anywhere ends in a module or an error. */
static void
test_cut (void)
{
  for (gsize n = 0; n <= strlen (everything); n++)
    {
      g_autofree char *text = g_strndup (everything, n);
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = read_case (context, text, "t.jaxpr", NULL, &error);

      g_assert_true ((module == NULL) == (error != NULL));
      g_assert_true (module == NULL || n + 2 >= strlen (everything));
    }
}

/* Many equations, each a line, and one of many operands: read in one walk. */
static void
test_many (void)
{
  g_autoptr (GString) text = g_string_new ("{ lambda ; a:f32[2]. let\n    b0:f32[2] = sin a\n");
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryXlaInfo) info = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = NULL;
  GantryXlaOptions few = { .module = -1, .max_nodes = 1000 };

  for (guint i = 1; i < 20000; i++)
    g_string_append_printf (text, "    b%u:f32[2] = mul b%u 0.5:f32[]\n", i, i - 1);
  g_string_append (text, "    c:f32[] = gathered");
  for (guint i = 0; i < 20000; i++)
    g_string_append_printf (text, i % 100 == 0 ? "\n      b%u" : " b%u", i);
  g_string_append (text, "\n  in (c,) }\n");
  module = read_case (context, text->str, "t.jaxpr", &info, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (info->n_operations, ==, 20001);
  g_assert_cmpuint (find_node (module, "jax.gathered", NULL)->n_operands, ==, 20000);
  g_clear_pointer (&module, gantry_module_unref);
  module = gantry_xla_import_text (context, text->str, text->len, "t.jaxpr", &few, NULL, NULL, &error);
  g_assert_null (module);
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE);
}

/* All equations on one line, in front of the '#' of a comment; what looks like one in brackets is passed. */
static void
test_one_line (void)
{
  g_autoptr (GString) text = g_string_new ("{ lambda ; a:f32[2]. let b0:f32[2] = sin a");
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryXlaInfo) info = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = NULL;

  for (guint i = 1; i < 60000; i++)
    g_string_append_printf (text, "; b%u:f32[2] = mul%s b%u 0.5:f32[]", i, i == 30000 ? "[name=' # x.py:3:4']" : "", i - 1);
  g_string_append (text, " # net.py:7:2 (f)\n  in (a,) }\n");
  module = read_case (context, text->str, "t.jaxpr", &info, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (info->n_operations, ==, 60000);
  for (guint i = 0; i < 2; i++)
    {
      const GantryNode *node = find_node (module, i == 0 ? "jax.sin" : "jax.mul", i == 0 ? NULL : "b40000");
      const GantryLocation *location = gantry_context_get_location (context, node->location);

      g_assert_cmpuint (location->line, ==, i == 0 ? 1 : 7);
    }
}

/* A value that only its own jaxpr reads has the name of those that nothing reads. */
static void
test_dropped (void)
{
  static const char *const texts[] = {
    "{ lambda ; a:f32[2]. let _:f32[2] = sin a; b:f32[2] = mul _ a in (b,) }",
    "{ lambda ; a:f32[2]. let _:f32[2] = sin a; b:f32[2] = mul _ a; _:f32[2] = cos a in (b,) }",
    "{ lambda ; a:f32[2]. let _:f32[2] = sin a; _:f32[2] = cos a; b:f32[2] = mul a a in (b,) }",
    "{ lambda ; a:f32[2]. let _:f32[2] = sin a; _:f32[2] = cos a; b:f32[2] = mul _ a in (b,) }",
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = read_case (context, texts[i], "t.jaxpr", NULL, &error);

      if (i == 3)
        {
          g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
          g_assert_nonnull (strstr (error->message, "several values before are named _"));
          continue;
        }
      g_assert_no_error (error);
      if (i < 2)
        g_assert_cmpstr (gantry_node_op_name (module, gantry_node_operand (module, find_node (module, "jax.mul", "b"), 0)), ==, "jax.sin");
    }
}

/* Many literals without a type in one equation. */
static void
test_literals (void)
{
  g_autoptr (GString) text = g_string_new ("{ lambda ; a:f32[2] i:i64[]. let c:f32[] = gathered");
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryXlaInfo) info = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = NULL;
  const guint n = 150000;

  for (guint i = 0; i < n; i++)
    g_string_append (text, i % 2 != 0 ? " 0.5" : " 3");
  g_string_append (text, " i a in (c,) }\n");
  module = read_case (context, text->str, "t.jaxpr", &info, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (find_node (module, "jax.gathered", NULL)->n_operands, ==, n + 2);
}

/* What is read no further is cancelled, not wrong. */
static void
test_cancelled (void)
{
  static const char text[] = "{ lambda ; a:f32[2]. let b:f32[2] = sin a in (b,) }";
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  const GantryXlaOptions options = { .module = -1 };
  const GantryProgress progress = { .cancellable = cancellable };

  g_cancellable_cancel (cancellable);
  g_assert_null (gantry_xla_import_text (context, text, strlen (text), "t.jaxpr", &options, NULL, &progress, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* No gradient flows through what JAX stops it at. */
static void
test_stopped (void)
{
  static const char text[] = "{ lambda ; a:f32[2]. let\n    b:f32[2] = stop_gradient a\n    c:f32[2] = mul a b\n  in (c,) }\n";
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = read_case (context, text, "t.jaxpr", NULL, &error), core = NULL;

  g_assert_no_error (error);
  core = gantry_pass_legalize.run (module, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (find_node (core, "stop_gradient", NULL));
}

/* A result that nobody reads has no name. */
static void
test_unread (void)
{
  static const char text[] =
    "{ lambda ; a:f32[2]. let\n    _:f32[] b:f32[2] = jit[\n      name=f\n      jaxpr={ lambda ; c:f32[2]. let d:f32[2] = sin c in (_, d) }\n    ] a\n"
    "  in (b,) }\n";
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = read_case (context, text, "t.jaxpr", NULL, &error);

  g_assert_no_error (error);
  g_assert_true (gantry_verify (module, NULL, &error));
  g_assert_no_error (error);
  g_assert_nonnull (find_node (module, "jax.sin", NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/xla/jaxpr/values", test_values);
  g_test_add_func ("/xla/jaxpr/stopped", test_stopped);
  g_test_add_func ("/xla/jaxpr/unread", test_unread);
  g_test_add_func ("/xla/jaxpr/unknown", test_unknown);
  g_test_add_func ("/xla/jaxpr/comments", test_comments);
  g_test_add_func ("/xla/jaxpr/everything", test_everything);
  g_test_add_func ("/xla/jaxpr/errors", test_errors);
  g_test_add_func ("/xla/jaxpr/cut", test_cut);
  g_test_add_func ("/xla/jaxpr/many", test_many);
  g_test_add_func ("/xla/jaxpr/one-line", test_one_line);
  g_test_add_func ("/xla/jaxpr/dropped", test_dropped);
  g_test_add_func ("/xla/jaxpr/literals", test_literals);
  g_test_add_func ("/xla/jaxpr/cancelled", test_cancelled);
  return g_test_run ();
}
