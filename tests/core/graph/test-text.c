/* SPDX-License-Identifier: Apache-2.0 */
/* The text form: what is printed parses back to an equal module and prints the same again, and what does
 * not parse says where and why. */
#include "core/graph/graph.h"
#include "core/plan/plan.h"
#include "tests/core/graph/random-module.h"
#include "tests/random-seed.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* Prints @module, parses that in a context of its own and compares both ways. */
static void
assert_round_trip (const GantryModule *module)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autofree char *text = gantry_module_to_text (module, NULL);
  g_autofree char *again = NULL;
  g_autofree char *why = NULL;
  g_autoptr (GantryModule) read = gantry_module_from_text (context, text, -1, "round-trip", &error);

  if (read == NULL)
    g_error ("%s\n%s", error->message, text);
  if (!gantry_module_equal (module, read, &why))
    g_error ("%s\n%s", why, text);
  again = gantry_module_to_text (read, NULL);
  g_assert_cmpstr (text, ==, again);
}

static GantryModule *
parse (GantryContext *context, const char *text)
{
  g_autoptr (GError) error = NULL;
  GantryModule *module = gantry_module_from_text (context, text, -1, "case", &error);

  g_assert_no_error (error);
  return module;
}

static void
test_random (void)
{
  gboolean used[GANTRY_N_OPS] = { FALSE };
  g_autoptr (GRand) rand = test_rand (1);

  for (guint i = 0; i < 300; i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = random_module (context, rand, used);

      gantry_verify (module, NULL, &error);
      g_assert_no_error (error);
      assert_round_trip (module);
    }
  for (guint op = GANTRY_OP_PARAMETER; op < GANTRY_N_OPS; op++)
    if (!used[op])
      g_error ("%s never came up", gantry_op_info (op)->name);
}

/* Every attribute kind, and text of all that the printer treats apart. */
static void
test_everything (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule)
    module = parse (context, "// a comment\nmodule \"m\" {\n"
                             "  func @main #7 (%3 \"x\": f32[\"a b\",?,n.1]@pinned_host {k = 1}, %2: (token, (), (?, i4[])) scope(\"s\"))"
                             " -> (%3, %9) {\n"
                             "    %9 \"\\x01\\xff\\n\\\"\" = \"onnx.Odd\"(%3, _) {a = -9223372036854775808, b = 0.1, c = \"\", d = [1, -2],"
                             " e = [1.0, inf, -inf, nan, nan(0xfff8000000000001), -0.0], f = [\"x\", \"\"], g = ints[], h = floats[],"
                             " i = strings[], j = type (f32[2], ?), k = @main #7, l = #9, \"not a word\" = 1,"
                             " m = splat<bf16[1000000,1000]: nan(0x7fff)>, n = dense<bool[2]: true, false>, o = hex<bool[1]: 07>,"
                             " p = splat_hex<bool[9]: 02>, q = dense<u64[1]: 18446744073709551615>, r = dense<i8[0,4]: >}: ?"
                             " scope(\"a/b\") from(%1, %2) loc(\"f\":0:3 \"words\")\n"
                             "    %10 = add(%3, %3): ? loc(none)\n"
                             "  }\n}\n");
  const GantryNode *node = gantry_module_node (module, 9);
  gsize n;

  assert_round_trip (module);
  g_assert_cmpstr (gantry_context_string (context, node->name), ==, "\x01\xff\n\"");
  g_assert_cmpint (gantry_attrs_int (context, node->attrs, "a", 0), ==, G_MININT64);
  g_assert_cmpfloat (gantry_attrs_float (context, node->attrs, "b", 0), ==, 0.1);
  g_assert_true (isnan (gantry_attrs_floats (context, node->attrs, "e", &n)[3]));
  g_assert_cmpuint (n, ==, 6);
  g_assert_nonnull (gantry_attrs_find (context, node->attrs, "g"));
  g_assert_cmpint (gantry_attrs_find (context, node->attrs, "g")->kind, ==, GANTRY_ATTR_INTS);
  g_assert_cmpint (gantry_attrs_find (context, node->attrs, "h")->kind, ==, GANTRY_ATTR_FLOATS);
  g_assert_cmpint (node->n_origins, ==, 2);
  g_assert_cmpint (gantry_context_get_location (context, node->location)->column, ==, 3);
  g_assert_null (gantry_context_get_location (context, gantry_module_node (module, 10)->location));
  g_assert_cmpint (gantry_node_type (module, &module->nodes[0])->memory, ==, GANTRY_MEMORY_PINNED_HOST);
  g_assert_cmpint (module->functions[0].n_params, ==, 2);
  g_assert_cmpuint (gantry_context_next_node_id (context), ==, 11);
}

/* What led to a node comes back, once for all that it led to, and reads as compilers say it. */
static void
test_chains (void)
{
  static const char text[] = "module \"m\" {\n"
                             "  loc #1 = (\"f.py\":30:5 in \"step\")\n"
                             "  loc #2 = (\"f.py\":20:9 in \"Net.construct\" gradient #1)\n"
                             "  loc #3 = (\"f.py\":21:13 in \"Net.construct\" trip 3 #2)\n"
                             "  func @main #1 (\n"
                             "    %1: f32[2] loc(\"f.py\":1)) -> (%3) {\n"
                             "    %2 = negate(%1): f32[2] loc(\"f.py\":10:5 in \"g\" called #3)\n"
                             "    %3 = negate(%2): f32[2] loc(\"f.py\":11:5 in \"g\" called #3)\n"
                             "  }\n}\n";
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = parse (context, text);
  g_autofree char *printed = gantry_module_to_text (module, NULL), *chain = NULL, *short_chain = NULL;
  g_autofree char *where = gantry_context_location_text (context, module->nodes[1].location);
  guint32 outside = gantry_context_location (context, &(GantryLocation){ .line = 7 });
  guint32 inlined = gantry_context_location_called (context, module->nodes[1].location, outside);
  g_autofree char *longer = gantry_context_location_chain (context, inlined, 10);

  assert_round_trip (module);
  g_assert_cmpstr (printed, ==, text);
  g_assert_cmpstr (where, ==, "f.py:10:5");
  chain = gantry_context_location_chain (context, module->nodes[1].location, 10);
  g_assert_cmpstr (chain, ==,
                   "f.py:21:13: called from here, in Net.construct\nf.py:20:9: trip 3 of this loop, in Net.construct\n"
                   "f.py:30:5: its gradient is taken here, in step");
  short_chain = gantry_context_location_chain (context, module->nodes[1].location, 1);
  g_assert_cmpstr (short_chain, ==, "f.py:21:13: called from here, in Net.construct\nand 2 more");
  g_assert_null (gantry_context_location_chain (context, module->nodes[0].location, 10));
  g_assert_true (g_str_has_prefix (longer, chain));
  g_assert_cmpstr (longer + strlen (chain), ==, "\n:7: called from here");
  for (guint i = 0; i < 1000; i++) /* of what calls itself for ever the outer end is left out */
    inlined = gantry_context_location_called (context, inlined, inlined);
  g_clear_pointer (&short_chain, g_free);
  short_chain = gantry_context_location_chain (context, inlined, 1);
  g_assert_true (g_str_has_prefix (short_chain, "f.py:21:13: called from here"));
}

/* "module" with a table of @n locations, each called by the one above; a node of @main was led to by the last. */
static char *
chain_text (guint n)
{
  GString *text = g_string_new ("module \"\" { loc #1 = (\"f.py\":1)\n");

  for (guint i = 2; i <= n; i++)
    g_string_append_printf (text, "loc #%u = (\"f.py\":%u called #%u)\n", i, i, i - 1);
  g_string_append_printf (text, "func @f #1 () -> () { %%1 = iota(): f32[2] loc(\"f.py\" called #%u) } }", n);
  return g_string_free (text, FALSE);
}

/* Longer than any that is made: of the table, and of a node by one. */
static void
test_long_chains (void)
{
  static const struct
  {
    guint n;
    const char *where; /* (nullable): NULL: it is none too many */
  } cases[] = {
    { GANTRY_LOCATION_MOST_STEPS - 1, NULL }, { GANTRY_LOCATION_MOST_STEPS, "case:257" }, { GANTRY_LOCATION_MOST_STEPS + 1, "case:257" }, { 100000, "case:257" }
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = chain_text (cases[i].n);
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryModule) module = gantry_module_from_text (context, text, -1, "case", &error);

      if (cases[i].where == NULL)
        {
          g_assert_no_error (error);
          assert_round_trip (module);
          continue;
        }
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE);
      g_assert_true (g_str_has_prefix (error->message, cases[i].where));
      g_assert_nonnull (strstr (error->message, "more than 256 locations"));
    }
}

/* A location whose chain somebody made too long keeps the inner end. */
static void
test_shortened (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  guint32 id = 0, most = 0, cut;
  guint n = 0;

  for (guint i = 1; i <= 1000; i++)
    {
      id = gantry_context_location (context, &(GantryLocation){ .line = i, .parent = id });
      most = i == GANTRY_LOCATION_MOST_STEPS ? id : most;
    }
  cut = gantry_context_location_shortened (context, id);
  g_assert_cmpuint (gantry_context_location_shortened (context, most), ==, most);
  g_assert_cmpuint (gantry_context_location_shortened (context, cut), ==, cut);
  for (const GantryLocation *l = gantry_context_get_location (context, cut); l != NULL; n++)
    {
      g_assert_cmpuint (l->line, ==, 1000 - n);
      l = gantry_context_get_location (context, l->parent);
    }
  g_assert_cmpuint (n, ==, GANTRY_LOCATION_MOST_STEPS);
}

/* A chain names what stands above it. */
static void
test_broken_chains (void)
{
  static const char *const texts[][2] = {
    { "module \"\" { loc #2 = (\"a\") }", "numbered in order: #1 comes next" },
    { "module \"\" { loc #1 = (\"a\" called #1) }", "no location #1 stands above" },
    { "module \"\" { loc #1 = (none) }", "has to be one" },
    { "module \"\" { loc #1 = (\"a\") loc #2 = (\"b\" trip #1) }", "expected a number" },
    { "module \"\" { func @f #1 () -> () { %1 = iota(): ? loc(\"a\" called #0) } }", "no location #0 stands above" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;

      g_assert_null (gantry_module_from_text (context, texts[i][0], -1, "case", &error));
      g_assert_nonnull (error);
      if (strstr (error->message, texts[i][1]) == NULL)
        g_assert_cmpstr (error->message, ==, texts[i][1]);
    }
}

static void
test_own_location (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = parse (context, "module \"\" {\n  func @f #1 () -> () {\n    %1 = iota(): ?\n  }\n}");
  g_autofree char *where = gantry_context_location_text (context, module->nodes[0].location);

  g_assert_cmpstr (where, ==, "case:3:5");
}

/* Random bits of every float type come back, be they numbers, infinities, NaN or denormal. */
static void
test_floats (void)
{
  static const GantryElementType types[] = { GANTRY_F16, GANTRY_BF16, GANTRY_F32, GANTRY_F64 };
  g_autoptr (GRand) rand = test_rand (1);

  for (guint t = 0; t < G_N_ELEMENTS (types); t++)
    for (guint i = 0; i < 200; i++)
      {
        g_autoptr (GantryContext) context = gantry_context_new ();
        g_autoptr (GantryLiteral) literal = random_literal (context, rand, types[t], 1, (const gint64[]){ 50 });
        g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "floats");
        g_autoptr (GantryModule) module = NULL;
        g_autofree char *text = NULL;
        guint32 id;

        gantry_builder_begin (builder, "main", 0);
        id = gantry_builder_literal (builder, literal);
        gantry_builder_end (builder, &id, 1);
        module = gantry_builder_finish (builder, NULL);
        assert_round_trip (module);
        text = gantry_module_to_text (module, NULL);
        g_assert_null (strstr (text, "hex<"));
      }
}

static void
test_short_floats (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule)
    module = parse (context, "module \"\" { func @f #1 () -> () { %1 = constant() {value = dense<f32[4]: 0.1, 1, 16777216, 1e10>}: f32[4]"
                             " %2 = constant() {value = dense<f16[2]: 0.1, 65504.0>}: f16[2] } }");
  g_autofree char *text = gantry_module_to_text (module, NULL);

  g_assert_nonnull (strstr (text, "0.1, 1.0, 16777216.0, 1e+10>"));
  g_assert_nonnull (strstr (text, "f16[2]: 0.1, "));
}

/* Literals that lie in a file */

static void
test_file (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("gantry-text-XXXXXX", &error);
  g_autofree char *path = g_build_filename (folder, "weights \"1\".bin", NULL);
  g_autofree char *escaped = g_strescape (path, NULL);
  g_autofree guint8 *bytes = g_malloc (5000);
  g_autofree char *text = NULL, *printed = NULL, *beyond = NULL, *wrong = NULL;
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = NULL;
  const GantryLiteral *literal;

  g_assert_no_error (error);
  for (guint i = 0; i < 5000; i++)
    bytes[i] = (guint8) (i * 7);
  g_file_set_contents (path, (const char *) bytes, 5000, &error);
  g_assert_no_error (error);
  text = g_strdup_printf ("module \"\" { func @f #1 () -> () { %%1 = constant() {value = file<f32[1000]: \"%s\", 3, 4000>}: f32[1000] } }", escaped);
  module = parse (context, text);
  literal = gantry_context_literal (context, gantry_attrs_find (context, module->nodes[0].attrs, "value")->id);
  g_assert_cmpmem (literal->data, literal->size, bytes + 3, 4000);
  g_assert_cmpstr (literal->source_path, ==, path);
  printed = gantry_module_to_text (module, NULL);
  g_assert_nonnull (strstr (printed, "\", 3, 4000>"));
  assert_round_trip (module);

  beyond = g_strdup_printf ("module \"\" { func @f #1 () -> () { %%1 = constant() {value = file<f32[1000]: \"%s\", 1001, 4000>}: f32[1000] } }", escaped);
  g_assert_null (gantry_module_from_text (context, beyond, -1, "t", &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_TRUNCATED);
  g_clear_error (&error);
  wrong = g_strdup_printf ("module \"\" { func @f #1 () -> () { %%1 = constant() {value = file<f32[1000]: \"%s\", 0, 3999>}: f32[1000] } }", escaped);
  g_assert_null (gantry_module_from_text (context, wrong, -1, "t", &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_null (gantry_module_from_text (context,
                                          "module \"\" { func @f #1 () -> () { %1 = constant() {value = "
                                          "file<f32[1]: \"/dev/zero\", 0, 4>}: f32[1] } }",
                                          -1, "t", &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_unlink (path);
  g_rmdir (folder);
}

static void
test_options (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule)
    module = parse (context, "module \"m\" { func @f #1 (%1 \"x\": f32[2]) -> (%2) { %2 \"w\" = constant() {value = dense<i8[17]: 0, 1, 2, 3, 4,"
                             " 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16>}: i8[17] scope(\"s\") loc(\"a\") from(%1) } }");
  GantryTextOptions options = { .elide_literals = TRUE, .locations = FALSE };
  g_autofree char *text = gantry_module_to_text (module, &options);
  g_autofree char *node = gantry_node_to_text (module, &module->nodes[1]);
  g_autofree char *parameter = gantry_node_to_text (module, &module->nodes[0]);

  g_assert_cmpstr (node, ==, "%2 \"w\" = constant() {value = dense<i8[17]: ...>}: i8[17] scope(\"s\")");
  g_assert_cmpstr (parameter, ==, "%1 \"x\": f32[2]");
  g_assert_nonnull (strstr (text, node));
  g_assert_null (strstr (text, "loc("));
  g_assert_null (strstr (text, "from("));
}

/* The example of the manual is what it says it is. */
static void
test_manual (void)
{
  const char *root = g_getenv ("GANTRY_SOURCE_ROOT");
  g_autofree char *path = root != NULL ? g_build_filename (root, "docs", "text-form.md", NULL) : NULL;
  g_autofree char *manual = NULL, *printed = NULL;
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = NULL;
  g_autoptr (GError) error = NULL;
  char *begin, *end;

  if (path == NULL || !g_file_get_contents (path, &manual, NULL, NULL))
    {
      g_test_skip ("GANTRY_SOURCE_ROOT does not lead to docs/text-form.md");
      return;
    }
  begin = strstr (manual, "```\nmodule") + 4;
  end = strstr (begin, "```");
  *end = '\0';
  module = parse (context, begin);
  gantry_verify (module, NULL, &error);
  g_assert_no_error (error);
  printed = gantry_module_to_text (module, NULL);
  g_assert_cmpstr (printed, ==, begin);
}

/* Errors */

typedef struct
{
  const char *path, *text, *message;
} Bad;

#define NODE(node) "module \"\" {\nfunc @f #1 () -> () {\n" node "\n} }"
#define VALUE(value) NODE ("%1 = \"o\"() {k = " value "}: ?")

static const Bad bad[] = {
  { "/empty", "", "bad:1:1: expected module, but the text ends" },
  { "/other", "graph {", "bad:1:1: expected module, not 'graph'" },
  { "/module-name", "module m {}", "bad:1:8: expected a string in double quotes, not 'm'" },
  { "/no-function", "module \"m\" {}", "bad: a module has to have a function" },
  { "/after", NODE ("") " x", "bad:4:5: expected the end of the text, not 'x'" },
  { "/unclosed", "module \"m\" {", "bad:1:13: expected func or '}', but the text ends" },
  { "/string/open", "module \"m", "expected the end of the string, '\"', but the text ends" },
  { "/string/line", "module \"m\n\"", "expected the end of the string, '\"', not 'byte 0x0a'" },
  { "/string/escape", "module \"\\q\"", "bad:1:9: expected one of the escapes" },
  { "/string/nul", "module \"\\x00\"", "expected \\x with two hexadecimal digits, not 00" },
  { "/function/id", "module \"\" { func @f () -> () { } }", "bad:1:21: expected '#' and the id of the function, not '()'" },
  { "/function/id-0", "module \"\" { func @f #0 () -> () { } }", "ids of functions begin with #1" },
  { "/function/arrow", "module \"\" { func @f #1 () () { } }", "expected '->' and the results" },
  { "/node/id", NODE ("1 = add(): ?"), "bad:3:1: expected a value, %id, not '1'" },
  { "/node/id-0", NODE ("%0 = add(): ?"), "bad:3:3: ids begin with %1" },
  { "/node/id-large", NODE ("%2147483647 = add(): ?"), "bad:3:2: expected an id from 0 to" },
  { "/node/id-large-for-its-text", NODE ("%20000000 = add(): ?"), "bad:3:2: expected an id from 0 to 1677" },
  { "/node/id-twice", NODE ("%1 = add(): ?\n%1 = add(): ?"), "node id %1 is used twice" },
  { "/node/operation", NODE ("%1 = adde(): ?"), "bad:3:6: expected a core operation, or the name of another one in quotes, not 'adde():'" },
  { "/node/parameter", NODE ("%1 = parameter(): ?"), "parameters stand in the head of their function" },
  { "/node/type", NODE ("%1 = add()"), "bad:4:1: expected ':' and the type of the value, not '}'" },
  { "/node/operands", NODE ("%1 = add(2): ?"), "expected a value, %id or _, not '2):'" },
  { "/type/element", NODE ("%1 = add(): f33[2]"), "bad:3:13: expected a type" },
  { "/type/dim", NODE ("%1 = add(): f32[-2]"), "expected a dimension: ?, a name or a number from 0 to" },
  { "/type/rank", NODE ("%1 = add(): f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"), "a tensor has at most 16 dimensions" },
  { "/type/memory", NODE ("%1 = add(): f32[2]@moon"), "expected device, pinned_host or unpinned_host" },
  { "/type/tuple", NODE ("%1 = add(): (f32[2]"), "expected ',' or ')' in a tuple type" },
  { "/value/none", VALUE (""), "expected the value of an attribute" },
  { "/value/int", VALUE ("9223372036854775808"), "expected a 64-bit integer, not '9223372036854775808'" },
  { "/value/mixed", VALUE ("[1, 2.5]"), "expected a 64-bit integer, not '2.5'" },
  { "/value/empty-list", VALUE ("[]"), "expected a number" },
  { "/value/word-before-list", VALUE ("ints[1]"), "a list that is not empty has no word before it" },
  { "/value/float", VALUE ("1.5.2"), "expected a number, inf, -inf or nan" },
  { "/value/nan", VALUE ("nan(0x7ff0000000000000)"), "expected the bits of a NaN" },
  { "/literal/count", VALUE ("dense<f32[2]: 1.0>"), "8 bytes, but 4 are given" },
  { "/literal/range", VALUE ("dense<i8[1]: 128>"), "expected a value of type i8, not '128'" },
  { "/literal/bool", VALUE ("dense<bool[1]: 1>"), "expected true or false" },
  { "/literal/type", VALUE ("dense<f32[n]: 1.0>"), "numbers as dimensions" },
  { "/literal/string", VALUE ("dense<string[1]: 1>"), "compiled element type" },
  { "/literal/huge", VALUE ("dense<f32[4611686018427387904,4]: 1.0>"), "more than any memory" },
  { "/literal/hex", VALUE ("hex<i8[1]: 012>"), "an even number" },
  { "/literal/file", VALUE ("file<i8[1]: \"/no/such/file\", 0, 1>"), "cannot be opened" },
};

static void
test_bad (gconstpointer data)
{
  const Bad *b = data;
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;

  g_assert_null (gantry_module_from_text (context, b->text, -1, "bad", &error));
  g_assert_nonnull (error);
  g_assert_true (g_str_has_prefix (error->message, "bad:"));
  if (strstr (error->message, b->message) == NULL)
    g_error ("'%s' is not in '%s'", b->message, error->message);
}

static void
test_nesting (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) text = g_string_new ("module \"\" { func @f #1 () -> () { %1 = add(): ");
  gsize start = text->len;
  g_autoptr (GantryModule) module = NULL;

  for (guint i = 0; i < 64; i++)
    g_string_append_c (text, '(');
  g_string_append (text, "i8[]");
  for (guint i = 0; i < 64; i++)
    g_string_append_c (text, ')');
  g_string_append (text, " } }");
  module = parse (context, text->str);
  assert_round_trip (module);
  for (guint i = 0; i < 100000; i++)
    g_string_insert_c (text, (gssize) start, '(');
  g_assert_null (gantry_module_from_text (context, text->str, -1, "t", &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE);
}

/* Cut off anywhere, or with any one byte changed, a text gives a module or one error. */
static void
test_damaged (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GRand) rand = test_rand (1);
  g_autoptr (GantryModule) module = random_module (context, rand, NULL);
  g_autofree char *text = gantry_module_to_text (module, NULL);
  gsize length = strlen (text);

  for (guint i = 0; i < 2000; i++)
    {
      g_autoptr (GantryContext) other = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autofree char *copy = g_memdup2 (text, length);
      gsize at = (gsize) g_rand_int_range (rand, 0, (gint32) length);
      g_autoptr (GantryModule) result = NULL;

      copy[at] = (char) g_rand_int_range (rand, 0, 256);
      result = gantry_module_from_text (other, copy, i % 2 == 0 ? (gssize) length : (gssize) at, "damaged", &error);
      g_assert_true ((result == NULL) == (error != NULL));
      if (result != NULL)
        gantry_verify (result, NULL, NULL);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/text/random", test_random);
  g_test_add_func ("/text/everything", test_everything);
  g_test_add_func ("/text/own-location", test_own_location);
  g_test_add_func ("/text/chains", test_chains);
  g_test_add_func ("/text/broken-chains", test_broken_chains);
  g_test_add_func ("/text/long-chains", test_long_chains);
  g_test_add_func ("/text/shortened", test_shortened);
  g_test_add_func ("/text/floats", test_floats);
  g_test_add_func ("/text/short-floats", test_short_floats);
  g_test_add_func ("/text/file", test_file);
  g_test_add_func ("/text/options", test_options);
  g_test_add_func ("/text/manual", test_manual);
  g_test_add_func ("/text/nesting", test_nesting);
  g_test_add_func ("/text/damaged", test_damaged);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree char *path = g_strconcat ("/text/bad", bad[i].path, NULL);

      g_test_add_data_func (path, &bad[i], test_bad);
    }
  return g_test_run ();
}
