/* SPDX-License-Identifier: Apache-2.0 */
/* Policies as text: what parses, where an error is, what each selector matches, which statement has the last word, and what
 * is reported of the others. */
#include "tests/core/planner/policy/policy-test.h"
#include "core/base/error.h"

static void
expect_error (const char *text, gssize length, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryPolicy) policy = gantry_policy_parse (text, length, &error);

  g_assert_null (policy);
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  if (!g_str_has_prefix (error->message, message))
    g_error ("expected '%s', not: %s", message, error->message);
}

static void
test_errors (void)
{
  static const struct
  {
    const char *text, *message;
  } cases[] = {
    { "op:dot", "policy:1:7: found the end: expected '&' and a selector, or keep, recompute, offload, bf16 or int8" },
    { "op:dot keep\n\n  name: keep", "policy:3:13: found the end: expected '&' and a selector, or keep" },
    { "op:dot keep name:x keep", "policy:1:13: found 'name:x': expected ';' or the end of the line" },
    { "keep", "policy:1:1: found 'keep': expected a selector" },
    { "*keep", "policy:1:1: found '*keep': expected a selector" },
    { "* keeps", "policy:1:3: found 'keeps': expected '&'" },
    { "op:dot & keep", "policy:1:10: found 'keep': expected a selector" },
    { "role:weights keep", "policy:1:6: found 'weights': expected one of residual, parameter" },
    { "class:big keep", "policy:1:7: found 'big': expected one of input, constant" },
    { "id:x keep", "policy:1:4: found 'x': expected the number of a node" },
    { "id:0 keep", "policy:1:4: found '0': expected the number of a node" },
    { "id:4294967296 keep", "policy:1:4: found '4294967296': expected the number of a node" },
    { "bytes 4 keep", "policy:1:7: found '4': expected '>=' after bytes" },
    { "bytes>=4XB keep", "policy:1:8: found '4XB': expected a size" },
    { "bytes>=nan keep", "policy:1:8: found 'nan': expected a size" },
    { "bytes>=-4 keep", "policy:1:8: found '-4': expected a size" },
    { "bytes>=1e300 keep", "policy:1:8: found '1e300': expected a size" },
    { "* offload to device", "policy:1:14: found 'device': expected pinned_host or unpinned_host" },
    { "name:\"a\nb\" keep", "policy:1:6: found '\"a': expected the closing \" of this text" },
    { "policy everything", "policy:1:8: there is no policy 'everything': expected one of everything_saveable, " },
    { "policy nothing_saveable in", "policy:1:27: found the end: expected a scope" },
    { "policy nothing_saveable(x)", "policy:1:25: this policy takes 0 arguments" },
    { "policy save_only_these_names", "policy:1:29: found the end: expected names in parentheses" },
    { "policy save_only_these_names(a", "policy:1:31: found the end: expected ',' or ')'" },
    { "policy save_only_these_names([a, b", "policy:1:35: found the end: expected ',' or ']'" },
    { "policy save_only_these_names(names=[a])", "policy:1:30: this policy takes no argument names" },
    { "policy save_and_offload_only_these_names([a])", "policy:1:8: found 'save_and_offload_only_these_names': expected two lists" },
    { "policy save_and_offload_only_these_names(a, b)", "policy:1:42: found 'a': expected names in brackets" },
    { "policy save_and_offload_only_these_names([a, b], [c, b])", "policy:1:8: 'b' is to be saved and to be offloaded" },
    { "policy save_and_offload_only_these_names([], [x], 'pinned_host', 'device')", "policy:1:51: found ''pinned_host': expected device" },
    { "policy save_and_offload_only_these_names([], [x], offload_src='device', 'pinned_host')", "policy:1:73: found ''pinned_host': expected a keyword" },
    { "policy save_and_offload_only_these_names([], [x], offload_dst='pinned_host', offload_dst='pinned_host')", "policy:1:78: offload_dst is given twice" },
    { "policy offload_dot_with_no_batch_dims(device, device)", "policy:1:47: found 'device': expected pinned_host" },
    { "policy save_from_both_policies(dots_saveable)", "policy:1:8: save_from_both_policies takes two policies" },
    { "policy save_from_both_policies(dots_saveable, save_and_offload_only_these_names([], [x]))",
      "policy:1:47: save_from_both_policies takes no policy that offloads" },
    { "* keep\n\xff", "policy:2:1: this is no UTF-8 text" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    expect_error (cases[i].text, -1, cases[i].message);
  expect_error ("* keep\0* keep", 13, "policy:1:7: this is no UTF-8 text");
}

static void
test_limits (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryPolicy) policy = NULL;

  for (guint i = 0; i < 4096; i++)
    g_string_append (text, "* keep;");
  policy = gantry_policy_parse (text->str, -1, &error);
  g_assert_no_error (error);
  g_string_append (text, "* keep");
  expect_error (text->str, -1, "policy:1:28673: more than 4096 statements");
  g_string_assign (text, "*");
  for (guint i = 0; i < 64; i++)
    g_string_append (text, " & *");
  expect_error (text->str, -1, "policy:1:257: a statement of more than 64 selectors");
  g_string_assign (text, "policy ");
  for (guint i = 0; i < 100000; i++)
    g_string_append (text, "save_from_both_policies(");
  g_assert_cmpuint (text->len, >, 1 << 20);
  expect_error (text->str, -1, "policy:1:1: a policy has at most 1048576 bytes");
  g_string_truncate (text, 7 + 24 * 20);
  expect_error (text->str, -1, "policy:1:392: policies stand more than 16 deep");
  g_string_assign (text, "name:");
  for (guint i = 0; i < 4097; i++)
    g_string_append_c (text, 'a');
  expect_error (text->str, -1, "policy:1:6: a name of more than 4096 bytes");
}

static void
test_forms (void)
{
  static const char *const fine[] = {
    "",
    "\n\n;;\n",
    "# nothing",
    "* keep",
    "*\tkeep;* offload",
    "  op:dot keep # why\n",
    "op:dot&scope:a/*&bytes>=1.5MiB offload to unpinned_host",
    "name:\"a b;c\" keep",
    "name:'it\\'s' keep",
    "id:%7 keep",
    "id:7 recompute",
    "role:state offload",
    "policy jax.checkpoint_policies.save_only_these_names('a', \"b\",)",
    "policy dots_saveable()",
    "policy save_only_these_names(names_which_can_be_saved=['a'])",
    "policy save_only_these_names(\n  a,\n  # two\n  b)\n* keep",
    "policy offload_dot_with_no_batch_dims(offload_src=device)",
    "policy nothing_saveable in scope:a/*;policy dots_saveable in b",
  };

  for (guint i = 0; i < G_N_ELEMENTS (fine); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryPolicy) policy = gantry_policy_parse (fine[i], -1, &error);
      g_assert_no_error (error);
    }
}

static void
test_names_of_policies (void)
{
  const char *const *names = gantry_policy_names ();
  guint n = 0;

  for (; names[n] != NULL; n++)
    {
      g_autofree char *text = g_strdup_printf ("policy %s%s", names[n],
                                               strstr (names[n], "and_offload") ? "([], [])"
                                               : strstr (names[n], "both")      ? "(dots_saveable, dots_saveable)"
                                               : strstr (names[n], "names")     ? "()"
                                                                                : "");
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryPolicy) policy = gantry_policy_parse (text, -1, &error);

      g_assert_no_error (error);
    }
  g_assert_cmpuint (n, ==, 12);
}

static void
test_selectors (void)
{
  g_auto (PolicyTest) test = policy_test (two_layers);

  expect_policy (&test, "* recompute", "4=recompute 5=recompute 7=recompute", NULL);
  g_assert_cmpuint (report_of (&test, 0)->n_decided, ==, 3);
  expect_policy (&test, "op:dot recompute", "4=recompute 7=recompute", NULL);
  expect_policy (&test, "op:dot_* keep", "4=keep 7=keep 11=keep(o) 15=keep(o)", NULL);
  expect_policy (&test, "op:s*e keep", "5=keep", NULL);
  expect_policy (&test, "class:elementwise recompute", "5=recompute", NULL);
  expect_policy (&test, "scope:net/one recompute", "4=recompute 5=recompute", NULL);
}

static void
test_terms (void)
{
  g_auto (PolicyTest) test = policy_test (two_layers);

  expect_policy (&test, "scope:net/* & op:dot & role:residual keep", "4=keep 7=keep", NULL);
  expect_policy (&test, "scope:n*/*o & op:dot keep", "7=keep 11=keep(o)", NULL);
  expect_policy (&test, "name:h offload", "5=offload", NULL);
  expect_policy (&test, "name:a? keep", "", "matches nothing");
  expect_policy (&test, "name:a* recompute", "4=recompute 7=recompute", NULL);
  expect_policy (&test, "name:\"a\\*\" recompute", "", "matches nothing");
  expect_policy (&test, "id:5 recompute", "5=recompute", NULL);
  expect_policy (&test, "id:6 recompute", "5=recompute", NULL); /* a view of it */
  expect_policy (&test, "role:parameter offload", "2=offload(p) 3=offload(p)", NULL);
  expect_policy (&test, "role:input offload to unpinned_host", "1=offload(i)@unpinned_host", NULL);
  expect_policy (&test, "role:output & bytes>=8 offload", "11=offload(o) 15=offload(o)", NULL);
  expect_policy (&test, "role:residual & bytes>=128B keep", "4=keep 5=keep 7=keep", NULL);
  expect_policy (&test, "bytes>=0.126KiB & role:parameter keep", "2=keep(p) 3=keep(p)", NULL);
  expect_policy (&test, "bytes>=1GiB keep", "", "matches nothing");
}

static void
test_last_word (void)
{
  g_auto (PolicyTest) test = policy_test (two_layers);

  expect_policy (&test, "op:dot & role:residual keep\n* recompute\nname:h offload", "4=recompute 5=offload 7=recompute",
                 "overridden by later statements (line 2)");
  g_assert_cmpuint (report_of (&test, 0)->n_matched, ==, 2);
  g_assert_cmpuint (report_of (&test, 0)->n_decided, ==, 0);
  g_assert_cmpuint (report_of (&test, 1)->n_decided, ==, 2);
  g_assert_null (report_of (&test, 1)->problem);
  g_assert_cmpuint (report_of (&test, 2)->n_decided, ==, 1);
  g_assert_cmpuint (report_of (&test, 2)->line, ==, 3);
  g_assert_cmpstr (report_of (&test, 2)->text, ==, "name:h offload");
  expect_policy (&test, "policy nothing_saveable # all\n; op:dot & role:residual keep", "4=keep 5=recompute 7=keep", NULL);
  g_assert_cmpstr (report_of (&test, 0)->text, ==, "policy nothing_saveable");
  expect_policy (&test, "policy nothing_saveable; policy everything_saveable", "4=keep 5=keep 7=keep", "overridden by later statements (line 1, statement 2)");
  /* Of several in a line it is said which one. */
  expect_policy (&test, "\nop:dot & role:residual keep; name:h offload; * recompute", "4=recompute 5=recompute 7=recompute",
                 "overridden by later statements (line 2, statement 3)");
  g_assert_cmpstr (report_of (&test, 0)->place, ==, "line 2, statement 1");
  g_assert_cmpstr (report_of (&test, 1)->problem, ==, "overridden by later statements (line 2, statement 3)");
}

/* A loop each trip of which goes forward and back: that a statement finds nothing in it is no matter of spelling. */
static void
test_step_in_loop (void)
{
  static const char text[] =
    "module \"m\" { func @main #1 (%1 \"x\": f32[3,4], %2 \"w\": f32[4] {role = \"parameter\"}) -> (%5) {"
    "%3 = constant() {value = splat<f32[4]: 0.0>}: f32[4]"
    "%4 = scan(%3, %1, %2) {axes = [0], body = @step #2, length = 3, n_carries = 1, n_xs = 1, y_axes = ints[]}: f32[4] scope(\"microbatches\")"
    "%5 = negate(%4): f32[4] phase(backward) }"
    "func @step #2 (%10: f32[4], %11: f32[4], %12: f32[4]) -> (%15) {"
    "%13 = sine(%12): f32[4] %14 = multiply(%13, %11): f32[4] phase(backward) %15 = add(%10, %14): f32[4] phase(backward) } }";
  static const char said[] = "what the loop 'microbatches' saves for its own backward phase is placed only where it is written out";
  g_auto (PolicyTest) test = policy_test (text);

  expect_policy (&test, "role:residual bf16", "", said);
  expect_policy (&test, "policy dots_saveable", "", said);
}

static void
test_problems (void)
{
  g_auto (PolicyTest) test = policy_test (two_layers);

  expect_policy (&test, "name:tyop keep", "", "matches nothing");
  expect_policy (&test, "op:reduce keep", "9=keep(o)", NULL);
  expect_policy (&test, "op:checkpoint_name offload", "", "matches only views (1)");
  expect_policy (&test, "op:cosine recompute", "", "matches 2 values, none is used by the backward pass");
  expect_policy (&test, "id:8 keep", "", "matches 1 value, none is used by the backward pass");
  expect_policy (&test, "name:w* recompute", "", "2 of 2 values cannot be recomputed: it is given, not computed");
  expect_policy (&test, "op:parameter recompute", "", "3 of 3 values cannot be recomputed");
  expect_policy (&test, "id:9 recompute", "", "a result of the program stays until its end");
  g_assert_nonnull (strstr (report_of (&test, 0)->problem, "(%9 reduce '%9')"));
}

/* A later word on a value that the backward pass does not read counts where it is made again. */
static void
test_start_of_recomputation (void)
{
  static const char module[] = "module \"m\" { func @main #1 (%1: f32[4]) -> (%6) { %2 = sine(%1): f32[4] %3 = exponential(%2): f32[4] %4 = tanh(%3): f32[4]"
                               "%5 = negate(%4): f32[4] phase(backward) %6 = negate(%5): f32[4] phase(backward) } }";
  g_auto (PolicyTest) test = policy_test (module);

  expect_policy (&test, "op:exponential keep", "", "none is used by the backward pass");
  expect_policy (&test, "op:exponential keep; op:tanh recompute", "3=keep(n) 4=recompute", NULL);
  expect_policy (&test, "op:sine keep; op:tanh recompute", "2=keep(n) 4=recompute", NULL);
  apply_policy (&test, "op:sine keep; op:exponential keep; op:tanh recompute");
  g_assert_cmpint (gantry_placements_find (test.table, 2) == NULL, ==, TRUE);
  g_assert_nonnull (report_of (&test, 0)->problem);
  apply_policy (&test, "op:exponential keep; op:tanh recompute; op:exponential recompute");
  g_assert_null (gantry_placements_find (test.table, 3));
}

/* What was chosen for single values stays, by hand (for a view here, %6 of %5) or by the solver; what an earlier text said
 * goes; the program's word is overridden. */
static void
test_base (void)
{
  g_auto (PolicyTest) test = policy_test (two_layers);
  static const GantryPlacement base[] = {
    { 1, GANTRY_PLACEMENT_OFFLOAD, GANTRY_DECIDED_BY_PROGRAM, GANTRY_MEMORY_PINNED_HOST, GANTRY_SUBJECT_INPUT },
    { 2, GANTRY_PLACEMENT_OFFLOAD, GANTRY_DECIDED_BY_RULE, GANTRY_MEMORY_PINNED_HOST, GANTRY_SUBJECT_PARAMETER },
    { 4, GANTRY_PLACEMENT_OFFLOAD, GANTRY_DECIDED_BY_CLICK, GANTRY_MEMORY_PINNED_HOST, GANTRY_SUBJECT_RESIDUAL },
    { 6, GANTRY_PLACEMENT_RECOMPUTE, GANTRY_DECIDED_BY_CLICK, 0, GANTRY_SUBJECT_RESIDUAL },
    { 7, GANTRY_PLACEMENT_RECOMPUTE, GANTRY_DECIDED_BY_SOLVER, 0, GANTRY_SUBJECT_RESIDUAL },
  };

  test.base = gantry_placements_new ();
  for (guint i = 0; i < G_N_ELEMENTS (base); i++)
    gantry_placements_set (test.base, &base[i]);
  expect_policy (&test, "", "1=offload(i) 4=offload 6=recompute 7=recompute", NULL);
  expect_policy (&test, "op:dot & role:residual keep", "1=offload(i) 4=offload 6=recompute 7=recompute", "placed one by one, by hand or by the solver");
  expect_policy (&test, "name:h keep", "1=offload(i) 4=offload 6=recompute 7=recompute", "placed one by one");
  expect_policy (&test, "role:input keep", "1=keep(i) 4=offload 6=recompute 7=recompute", NULL);
  g_assert_cmpuint (report_of (&test, 0)->n_decided, ==, 1);
  g_assert_cmpint (gantry_placements_find (test.table, 4)->decider, ==, GANTRY_DECIDED_BY_CLICK);
  /* The same again from its own answer. */
  g_clear_pointer (&test.base, gantry_placements_unref);
  test.base = gantry_placements_ref (test.table);
  expect_policy (&test, "role:input offload", "1=offload(i) 4=offload 6=recompute 7=recompute", NULL);
}

/* A fusion is what any node of its body is, by itself: not the operation of one and the scope of another. */
static void
test_fusion (void)
{
  static const char module[] =
    "module \"m\" { func @main #1 (%1: f32[4,4]) -> (%4) { %2 = fusion(%1) {body = @f #2, kind = \"epilogue\"}: f32[4,4] scope(\"top\")"
    "%3 = negate(%2): f32[4,4] phase(backward) %4 = negate(%3): f32[4,4] phase(backward) }"
    "func @f #2 (%5: f32[4,4]) -> (%8) { %6 = dot_general(%5, %5) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = "
    "[0]}: f32[4,4] scope(\"a\") %7 = checkpoint_name(%6) {name = \"y\"}: f32[4,4] scope(\"a\") %8 \"z\" = tanh(%7): f32[4,4] "
    "scope(\"b\") } }";
  g_auto (PolicyTest) test = policy_test (module);

  expect_policy (&test, "op:dot keep", "2=keep", NULL);
  expect_policy (&test, "class:contraction keep", "2=keep", NULL);
  expect_policy (&test, "op:tanh & scope:b keep", "2=keep", NULL);
  expect_policy (&test, "op:tanh & scope:a keep", "", "matches nothing");
  expect_policy (&test, "scope:top & op:fusion keep", "2=keep", NULL);
  expect_policy (&test, "name:y offload", "2=offload", NULL);
  expect_policy (&test, "name:z & op:dot offload", "2=offload", NULL);
  expect_policy (&test, "policy save_only_these_names(y)", "2=keep", NULL);
}

/* The example at the head of docs/policies.md. */
static void
test_documentation (void)
{
  const char *root = g_getenv ("GANTRY_SOURCE_ROOT");
  g_autofree char *path = root != NULL ? g_build_filename (root, "docs", "policies.md", NULL) : NULL;
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryPolicy) policy = NULL;
  char *begin, *end;

  if (path == NULL || !g_file_get_contents (path, &text, NULL, NULL))
    {
      g_test_skip ("GANTRY_SOURCE_ROOT does not lead to docs/policies.md");
      return;
    }
  begin = strstr (text, "```\n");
  g_assert_nonnull (begin);
  end = strstr (begin + 4, "```");
  policy = gantry_policy_parse (begin + 4, end - begin - 4, &error);
  g_assert_no_error (error);
  /* Every policy is in the table. */
  for (const char *const *name = gantry_policy_names (); *name != NULL; name++)
    {
      g_autofree char *quoted = g_strdup_printf ("`%s", *name);

      g_assert_nonnull (strstr (end, quoted));
    }
}

/* 100,000 nodes and a policy of several kinds of statements: every value is looked at, in one walk each. */
static void
test_large (void)
{
  g_autoptr (GString) text = g_string_new ("module \"m\" { func @main #1 (%1: f32[4]) -> (%2) {");
  guint n = 50000;
  gint64 start;

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%%%u %s= %s(%%%u): f32[4] scope(\"net/layer.%u/part.%u\")", 3 + i, i % 10 == 0 ? "\"named\" " : "", i % 2 ? "sine" : "tanh",
                            i == 0 ? 1 : 2 + i, i / 100, i % 100 / 10);
  for (guint i = n; i-- > 0;)
    g_string_append_printf (text, "%%%u = multiply(%%%u, %%%u): f32[4] phase(backward) scope(\"net/layer.%u/part.%u\")", 3 + 2 * n - 1 - i,
                            i == n - 1 ? 1 : 3 + 2 * n - 2 - i, 3 + i, i / 100, i % 100 / 10);
  g_string_append_printf (text, "%%2 = negate(%%%u): f32[4] phase(backward) } }", 3 + 2 * n - 1);
  g_auto (PolicyTest) test = policy_test (text->str);

  start = g_get_monotonic_time ();
  apply_policy (&test, "* keep; op:sine recompute; scope:net/*/part.3 offload; name:named keep; policy nothing_saveable in net/layer.*");
  g_test_message ("5 statements over %u nodes in %.1f ms", test.module->n_nodes, (double) (g_get_monotonic_time () - start) / 1e3);
  g_assert_cmpuint (report_of (&test, 1)->n_matched, ==, n / 2);
  g_assert_cmpuint (report_of (&test, 2)->n_matched, ==, n / 5); /* both passes */
  g_assert_cmpuint (report_of (&test, 3)->n_matched, ==, n / 10);
  g_assert_cmpuint (report_of (&test, 4)->n_decided, ==, n);
  /* Of each layer the last value goes into the next. */
  g_assert_cmpint (gantry_placements_kind (test.table, 3 + 99), ==, GANTRY_PLACEMENT_KEEP);
  g_assert_cmpint (gantry_placements_kind (test.table, 3 + 98), ==, GANTRY_PLACEMENT_RECOMPUTE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/planner/policy/errors", test_errors);
  g_test_add_func ("/planner/policy/limits", test_limits);
  g_test_add_func ("/planner/policy/forms", test_forms);
  g_test_add_func ("/planner/policy/names-of-policies", test_names_of_policies);
  g_test_add_func ("/planner/policy/selectors", test_selectors);
  g_test_add_func ("/planner/policy/terms", test_terms);
  g_test_add_func ("/planner/policy/last-word", test_last_word);
  g_test_add_func ("/planner/policy/problems", test_problems);
  g_test_add_func ("/planner/policy/step-in-loop", test_step_in_loop);
  g_test_add_func ("/planner/policy/start-of-recomputation", test_start_of_recomputation);
  g_test_add_func ("/planner/policy/base", test_base);
  g_test_add_func ("/planner/policy/fusion", test_fusion);
  g_test_add_func ("/planner/policy/documentation", test_documentation);
  g_test_add_func ("/planner/policy/large", test_large);
  return g_test_run ();
}
