/* SPDX-License-Identifier: Apache-2.0 */
/* The operation scan: what it computes in all its forms, and the sugar that writes one. Which types it takes stands
 * in test-operation.c. */
#include "core/eval/eval.h"
#include "core/eval/evaluator.h"
#include "core/graph/graph.h"
#include "core/graph/text.h"
#include "core/graph/verifier.h"

static GantryModule *
parse (GantryContext *context, const char *text)
{
  g_autoptr (GError) error = NULL;
  GantryModule *module = gantry_module_from_text (context, text, -1, "scan", &error);

  g_assert_no_error (error);
  return module;
}

/* The results of a program without arguments, as numbers in brackets. */
static char *
run_to_text (const char *text)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = parse (context, text);
  const GantryFunction *entry = gantry_module_entry (module);
  g_autofree GantryLiteral **results = g_new0 (GantryLiteral *, entry->n_results + 1);
  GString *numbers = g_string_new (NULL);

  gantry_verify (module, NULL, &error);
  g_assert_no_error (error);
  gantry_evaluate (module, entry, NULL, results, NULL, &error);
  g_assert_no_error (error);
  for (guint r = 0; r < entry->n_results; r++)
    {
      gint64 n = gantry_type_elements (results[r]->type);

      g_string_append (numbers, r == 0 ? "[" : " [");
      for (gint64 i = 0; i < n; i++)
        g_string_append_printf (numbers, "%s%g", i == 0 ? "" : " ", gantry_literal_get_double (results[r], i));
      g_string_append_c (numbers, ']');
      gantry_literal_unref (results[r]);
    }
  return g_string_free (numbers, FALSE);
}

/* A scan over @xs with the sums so far as ys; the capture is a factor. */
#define SUMS(xs, type, attributes, stack) \
  "module \"scan\" { func @main #1 () -> (%5, %6) {" \
  " %1 = constant() {value = dense<i32[]: 100>}: i32[]" \
  " %2 = constant() {value = " xs "}: " type " %3 = constant() {value = dense<i32[]: 2>}: i32[]" \
  " %4 = scan(%1, %2, %3) {body = @step #2, n_carries = 1, n_xs = 1, " attributes "}: (i32[], " stack ")" \
  " %5 = result(%4) {index = 0}: i32[] %6 = result(%4) {index = 1}: " stack " }" \
  " func @step #2 (%11: i32[], %12: i32[], %13: i32[]) -> (%15, %15) {" \
  " %14 = multiply(%12, %13): i32[] %15 = add(%11, %14): i32[] } }"

static const struct
{
  const char *path;
  const char *text;
  const char *wanted;
} scans[] = {
  { "forward", SUMS ("dense<i32[3]: 1, 2, 3>", "i32[3]", "length = 3, axes = [0], y_axes = [0]", "i32[3]"), "[112] [102 106 112]" },
  { "reversed", SUMS ("dense<i32[3]: 1, 2, 3>", "i32[3]", "length = 3, axes = [0], y_axes = [0], reverse = 1", "i32[3]"), "[112] [112 110 106]" },
  { "one", SUMS ("dense<i32[1]: 4>", "i32[1]", "length = 1, axes = [0], y_axes = [0]", "i32[1]"), "[108] [108]" },
  { "none", SUMS ("dense<i32[0]: >", "i32[0]", "length = 0, axes = [0], y_axes = [0]", "i32[0]"), "[100] []" },
  { "splat", SUMS ("splat<i32[3]: 5>", "i32[3]", "length = 3, axes = [0], y_axes = [0]", "i32[3]"), "[130] [110 120 130]" },
  /* Columns go in, and come out as columns and as rows. */
  { "axes",
    "module \"scan\" { func @main #1 () -> (%3, %4, %5) {"
    " %1 = constant() {value = dense<i32[2,3]: 1, 2, 3, 10, 20, 30>}: i32[2,3]"
    " %2 = scan(%1) {body = #2, n_carries = 0, n_xs = 1, length = 3, axes = [1], y_axes = [1, 0, 0]}:"
    " (i32[2,3], i32[3,2], i32[3])"
    " %3 = result(%2) {index = 0}: i32[2,3] %4 = result(%2) {index = 1}: i32[3,2] %5 = result(%2) {index = 2}: i32[3] }"
    " func @f #2 (%11: i32[2]) -> (%12, %12, %13) { %12 = negate(%11): i32[2]"
    " %13 = reduce(%11) {kind = \"add\", dimensions = [0]}: i32[] } }",
    "[-1 -2 -3 -10 -20 -30] [-1 -10 -2 -20 -3 -30] [11 22 33]" },
  { "no-xs",
    "module \"scan\" { func @main #1 () -> (%2) { %1 = constant() {value = dense<i32[]: 1>}: i32[]"
    " %2 = scan(%1) {body = #2, n_carries = 1, n_xs = 0, length = 10, axes = ints[], y_axes = ints[]}: i32[] }"
    " func @f #2 (%11: i32[]) -> (%12) { %12 = add(%11, %11): i32[] } }",
    "[1024]" },
  /* The inner scan goes over what the outer one has cut, from the other end. */
  { "nested",
    "module \"scan\" { func @main #1 () -> (%4, %5) { %1 = constant() {value = dense<i32[]: 0>}: i32[]"
    " %2 = constant() {value = dense<i32[2,3]: 1, 2, 3, 4, 5, 6>}: i32[2,3]"
    " %3 = scan(%1, %2) {body = #2, n_carries = 1, n_xs = 1, length = 2, axes = [0], y_axes = [0]}: (i32[], i32[2,3])"
    " %4 = result(%3) {index = 0}: i32[] %5 = result(%3) {index = 1}: i32[2,3] }"
    " func @row #2 (%11: i32[], %12: i32[3]) -> (%14, %15) {"
    " %13 = scan(%11, %12) {body = #3, n_carries = 1, n_xs = 1, length = 3, axes = [0], y_axes = [0], reverse = 1}:"
    " (i32[], i32[3])"
    " %14 = result(%13) {index = 0}: i32[] %15 = result(%13) {index = 1}: i32[3] }"
    " func @cell #3 (%21: i32[], %22: i32[]) -> (%23, %23) { %23 = add(%21, %22): i32[] } }",
    "[21] [6 5 3 21 17 12]" },
};

static void
test_scan (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  g_autofree char *got = run_to_text (scans[i].text);

  g_assert_cmpstr (got, ==, scans[i].wanted);
}

/* The sugar writes the attributes that gantry_scan_of() reads. */
static void
test_scan_builder (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "built");
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = NULL;
  guint32 scalar = gantry_context_scalar (context, GANTRY_F32);
  guint32 row = gantry_context_tensor (context, GANTRY_F32, 1, (const GantryDim[]){ 4 });
  const gint64 zero = 0;
  GantryScan scan = { .length = 4, .reverse = TRUE, .n_carries = 1, .n_xs = 1, .n_captures = 1, .n_ys = 1, .axes = &zero, .y_axes = &zero }, back;
  guint32 operands[3], inner[3], both[2];

  gantry_builder_begin (builder, "main", 0);
  operands[0] = gantry_builder_parameter (builder, scalar, "c");
  operands[1] = gantry_builder_parameter (builder, row, "x");
  operands[2] = gantry_builder_parameter (builder, scalar, "k");
  scan.body = gantry_builder_begin (builder, "step", 0);
  for (guint i = 0; i < 3; i++)
    inner[i] = gantry_builder_parameter (builder, scalar, NULL);
  both[0] = gantry_builder_binary (builder, GANTRY_OP_ADD, inner[0], inner[1]);
  both[1] = gantry_builder_binary (builder, GANTRY_OP_MULTIPLY, both[0], inner[2]);
  gantry_builder_end (builder, both, 2);
  operands[0] = gantry_builder_scan (builder, &scan, operands);
  gantry_builder_end (builder, operands, 1);
  module = gantry_builder_finish (builder, &error);
  g_assert_no_error (error);
  gantry_scan_of (module, gantry_module_node (module, operands[0]), &back);
  g_assert_cmpuint (back.body, ==, scan.body);
  g_assert_cmpint (back.length, ==, 4);
  g_assert_true (back.reverse);
  g_assert_cmpuint (back.n_carries + 10 * back.n_xs + 100 * back.n_captures + 1000 * back.n_ys, ==, 1111);
  g_assert_cmpint (back.axes[0] + back.y_axes[0], ==, 0);
  g_assert_cmpuint (gantry_context_tuple_member (context, gantry_module_node (module, operands[0])->type, 1), ==, row);
}

/* A value that is not as long as the scan, and a loop that is cancelled, are errors. */
static void
test_errors (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  GantryProgress progress = { .cancellable = cancellable };
  GantryLiteral *result = NULL;
  g_autoptr (GantryModule) module = parse (context, "module \"scan\" { func @main #1 () -> (%2) { %1 = constant() {value = dense<i32[]: 1>}: i32[]"
                                                    " %2 = scan(%1) {body = #2, n_carries = 1, n_xs = 0, length = 1000000000000, axes = ints[],"
                                                    " y_axes = ints[]}: i32[] }"
                                                    " func @f #2 (%11: i32[]) -> (%12) { %12 = add(%11, %11): i32[] } }");
  g_autoptr (GantryModule) open = parse (context, "module \"scan\" { func @main #1 (%1: i32[n]) -> (%2) {"
                                                  " %2 = scan(%1) {body = #2, n_carries = 0, n_xs = 1, length = 4, axes = [0], y_axes = [0]}: i32[4] }"
                                                  " func @f #2 (%11: i32[]) -> (%11) { } }");
  g_autoptr (GantryLiteral)
    three = gantry_literal_new_zeroed (gantry_context_type (context, gantry_context_tensor (context, GANTRY_I32, 1, (const GantryDim[]){ 3 })), NULL);
  const GantryNode *scan = gantry_module_node (open, 2);

  g_cancellable_cancel (cancellable);
  g_assert_false (gantry_evaluate (module, gantry_module_entry (module), NULL, &result, &progress, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_false (gantry_evaluate_node (open, scan, &three, &result, 1, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "not as long as the scan"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (scans); i++)
    {
      g_autofree char *path = g_strconcat ("/scan/evaluate/", scans[i].path, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_scan);
    }
  g_test_add_func ("/scan/builder", test_scan_builder);
  g_test_add_func ("/scan/errors", test_errors);
  return g_test_run ();
}
