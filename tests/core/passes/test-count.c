/* SPDX-License-Identifier: Apache-2.0 */
/* count: which loops become scans, and what of their arrays is walked along. That the value is the same and that the module
 * is sound is held by pass_case_new(). */
#include "core/graph/operation.h"
#include "tests/core/passes/pass-test.h"
#include <string.h>

#define I32(value) "constant() {value = dense<i32[]: " value ">}: i32[] "

/* A loop over (i, c, x, y): each trip reads row @read of x, adds it to c, and writes c as row @write of y. */
#define LOOP(start, until, next, index, read, write, rest) \
  "module \"test\" { func @main #1 (%1: f32[2], %2: f32[6,2], %3: f32[4,2], %4: i32[]) -> (%7, %8, %9, %10) { " \
  "%5 = " I32 (start) "%6 = while(%5, %1, %2, %3, %4) {cond = #2, body = #3" rest "}: (i32[], f32[2], f32[6,2], f32[4,2], i32[]) scope(\"loop\")" \
                      "%7 = result(%6) {index = 0}: i32[] %8 = result(%6) {index = 1}: f32[2] %9 = result(%6) {index = 2}: f32[6,2] " \
                      "%10 = result(%6) {index = 3}: f32[4,2] } " \
                      "func @more #2 (%11: i32[], %12: f32[2], %13: f32[6,2], %14: f32[4,2], %15: i32[]) -> (%17) { " until " } " \
                      "func @trip #3 (%21: i32[], %22: f32[2], %23: f32[6,2], %24: f32[4,2], %25: i32[]) -> (%41, %42, %23, %43, %25) { " \
                      "%31 = " I32 ("0") "%32 = " I32 ("1") "%33 = " I32 ("3") next index \
    " %36 = dynamic_slice(%23, " read ", %31) {slice_sizes = [1,2]}: f32[1,2] %37 = reshape(%36) {shape = [2]}: f32[2] " \
    "%42 = add(%22, %37): f32[2] %38 = reshape(%42) {shape = [1,2]}: f32[1,2] " \
    "%43 = dynamic_update_slice(%24, %38, " write ", %31): f32[4,2] } }"
#define UNTIL(n, direction) "%16 = " I32 (n) "%17 = compare(%11, %16) {comparison_direction = \"" direction "\"}: bool[]"
#define UP "%41 = add(%21, %32): i32[] "
#define DOWN "%41 = subtract(%21, %32): i32[] "
#define BY_THREE "%41 = add(%21, %33): i32[] "
#define FROM_END "%35 = subtract(%33, %21): i32[] "
#define NEGATIVE_FROM_END \
  "%50 = " I32 ("6") "%51 = compare(%21, %31) {comparison_direction = \"LT\"}: bool[] %52 = add(%21, %50): i32[] " \
                     "%35 = select(%51, %52, %21): i32[] "

static const struct
{
  const char *name, *text;
  gint length; /* -1: it stays a loop; 0: nothing is left of it */
  gboolean reverse;
  guint n_carries, n_xs, n_captures, n_ys;
} cases[] = {
  { "up", LOOP ("0", UNTIL ("4", "LT"), UP, "", "%21", "%21", ""), 4, FALSE, 1, 1, 0, 1 },
  { "down", LOOP ("3", UNTIL ("0", "GE"), DOWN, "", "%21", "%21", ""), 4, TRUE, 1, 1, 0, 1 },
  { "reversed", LOOP ("0", UNTIL ("4", "NE"), UP, FROM_END, "%35", "%35", ""), 4, TRUE, 1, 1, 0, 1 },
  { "both-ways", LOOP ("0", UNTIL ("3", "LE"), UP, FROM_END, "%21", "%35", ""), 4, FALSE, 3, 1, 0, 0 },
  { "negative-index", LOOP ("0", UNTIL ("4", "LT"), UP, NEGATIVE_FROM_END, "%35", "%21", ""), 4, FALSE, 1, 1, 0, 1 },
  { "part", LOOP ("1", UNTIL ("3", "LT"), UP, "", "%21", "%21", ""), 2, FALSE, 1, 1, 0, 1 },
  { "by-three", LOOP ("0", UNTIL ("4", "LT"), BY_THREE, "", "%21", "%21", ""), 2, FALSE, 3, 0, 1, 0 },
  { "one-place", LOOP ("0", UNTIL ("4", "LT"), UP, "", "%33", "%21", ""), 4, FALSE, 1, 0, 1, 1 },
  { "outside", LOOP ("-1", UNTIL ("4", "LT"), UP, "", "%21", "%31", ""), 5, FALSE, 3, 0, 1, 0 },
  { "data-index", LOOP ("0", UNTIL ("4", "LT"), UP, "", "%25", "%21", ""), 4, FALSE, 1, 0, 2, 1 },
  { "bounded", LOOP ("0", UNTIL ("4", "LT"), UP, "", "%21", "%21", ", most_trips = 9"), 4, FALSE, 1, 1, 0, 1 },
  { "once", LOOP ("2", UNTIL ("2", "LE"), UP, "", "%21", "%21", ""), 1, FALSE, 1, 1, 0, 1 },
  { "never", LOOP ("4", UNTIL ("4", "LT"), UP, "", "%21", "%21", ""), 0, FALSE, 0, 0, 0, 0 },
  { "by-data", LOOP ("0", "%17 = compare(%11, %15) {comparison_direction = \"LT\"}: bool[]", UP, "", "%21", "%21", ", most_trips = 3"), -1, FALSE, 0, 0, 0, 0 },
};

static const GantryNode *
find_scan (const GantryModule *module)
{
  for (guint32 i = 0; i < module->n_nodes; i++)
    if (module->nodes[i].op == GANTRY_OP_SCAN)
      return &module->nodes[i];
  return NULL;
}

static void
test_case (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_count, NULL, cases[i].text);
  const GantryNode *node = find_scan (c->after);
  GantryScan scan;

  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_WHILE), ==, cases[i].length < 0);
  g_assert_true ((node != NULL) == (cases[i].length > 0));
  if (cases[i].length < 0)
    pass_assert_unchanged (c);
  if (node == NULL)
    return;
  gantry_scan_of (c->after, node, &scan);
  g_assert_cmpint (scan.length, ==, cases[i].length);
  g_assert_cmpint (scan.reverse, ==, cases[i].reverse);
  g_assert_cmpuint (scan.n_carries, ==, cases[i].n_carries);
  g_assert_cmpuint (scan.n_xs, ==, cases[i].n_xs);
  g_assert_cmpuint (scan.n_captures, ==, cases[i].n_captures);
  g_assert_cmpuint (scan.n_ys, ==, cases[i].n_ys);
  g_assert_cmpuint (pass_result (c->after, 0)->op, ==, GANTRY_OP_CONSTANT);
}

/* Numbers of few bits go round, as the loop itself does. */
static void
test_wraps (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_count, NULL,
                                          "module \"test\" { func @main #1 (%1: f32[]) -> (%4) { %2 = constant() {value = dense<u8[]: 250>}: u8[] "
                                          "%3 = while(%2, %1) {cond = #2, body = #3}: (u8[], f32[]) %4 = result(%3) {index = 1}: f32[] } "
                                          "func @more #2 (%11: u8[], %12: f32[]) -> (%14) { %13 = constant() {value = dense<u8[]: 3>}: u8[] "
                                          "%14 = compare(%11, %13) {comparison_direction = \"NE\"}: bool[] } "
                                          "func @trip #3 (%21: u8[], %22: f32[]) -> (%24, %25) { %23 = constant() {value = dense<u8[]: 1>}: u8[] "
                                          "%24 = add(%21, %23): u8[] %25 = tanh(%22): f32[] } }");

  g_assert_cmpint (gantry_attrs_int (c->context, find_scan (c->after)->attrs, "length", 0), ==, 9);
}

/* A loop in a loop: both are scans; the outer counter is what the inner one's body reads. */
static void
test_nested (void)
{
  g_autoptr (PassCase) c = pass_case_new (
    &gantry_pass_count, NULL,
    "module \"test\" { func @main #1 (%1: f32[3]) -> (%4) { %2 = " I32 (
      "0") "%3 = while(%2, %1) {cond = #2, body = #3}: (i32[], f32[3]) %4 = result(%3) {index = 1}: f32[3] } "
           "func @more #2 (%11: i32[], %12: f32[3]) -> (%14) { %13 = " I32 (
             "3") "%14 = compare(%11, %13) {comparison_direction = \"LT\"}: bool[] } "
                  "func @trip #3 (%21: i32[], %22: f32[3]) -> (%25, %27) { %23 = " I32 ("1") "%24 = " I32 (
                    "0") "%25 = add(%21, %23): i32[] %26 = while(%24, %22, %21) {cond = #4, body = #5}: (i32[], f32[3], i32[]) "
                         "%27 = result(%26) {index = 1}: f32[3] } "
                         "func @less #4 (%31: i32[], %32: f32[3], %33: i32[]) -> (%35) { %34 = " I32 (
                           "2") "%35 = compare(%31, %34) {comparison_direction = \"LT\"}: bool[] } "
                                "func @step #5 (%41: i32[], %42: f32[3], %43: i32[]) -> (%45, %47, %43) { %44 = " I32 (
                                  "1") "%45 = add(%41, %44): i32[] %46 = dynamic_slice(%42, %43) {slice_sizes = [1]}: f32[1] "
                                       "%48 = broadcast_in_dim(%46) {shape = [3], broadcast_dimensions = [0]}: f32[3] %47 = add(%42, %48): f32[3] } }");

  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_SCAN), ==, 2);
  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_WHILE), ==, 0);
  g_assert_cmpuint (c->after->n_functions, ==, 3);
}

/* How often the inner loop runs is the outer counter: a number only where the outer loop is written out. */
static void
test_counter_as_bound (void)
{
  g_autoptr (PassCase) c = pass_case_new (
    &gantry_pass_count, NULL,
    "module \"test\" { func @main #1 (%1: f32[3]) -> (%4) { %2 = " I32 (
      "0") "%3 = while(%2, %1) {cond = #2, body = #3}: (i32[], f32[3]) %4 = result(%3) {index = 1}: f32[3] } "
           "func @more #2 (%11: i32[], %12: f32[3]) -> (%14) { %13 = " I32 (
             "3") "%14 = compare(%11, %13) {comparison_direction = \"LT\"}: bool[] } "
                  "func @trip #3 (%21: i32[], %22: f32[3]) -> (%25, %27) { %23 = " I32 ("1") "%24 = " I32 (
                    "0") "%25 = add(%21, %23): i32[] %26 = while(%24, %22, %21) {cond = #4, body = #5}: (i32[], f32[3], i32[]) "
                         "%27 = result(%26) {index = 1}: f32[3] } "
                         "func @less #4 (%31: i32[], %32: f32[3], %33: i32[]) -> (%35) { "
                         "%35 = compare(%31, %33) {comparison_direction = \"LT\"}: bool[] } "
                         "func @step #5 (%41: i32[], %42: f32[3], %43: i32[]) -> (%45, %47, %43) { %44 = " I32 (
                           "1") "%45 = add(%41, %44): i32[] %46 = dynamic_slice(%42, %43) {slice_sizes = [1]}: f32[1] "
                                "%48 = broadcast_in_dim(%46) {shape = [3], broadcast_dimensions = [0]}: f32[3] %47 = add(%42, %48): f32[3] } }");

  pass_assert_unchanged (c);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/count/%s", cases[i].name);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_case);
    }
  g_test_add_func ("/count/wraps", test_wraps);
  g_test_add_func ("/count/nested", test_nested);
  g_test_add_func ("/count/counter-as-bound", test_counter_as_bound);
  return g_test_run ();
}
