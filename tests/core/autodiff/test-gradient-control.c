/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients through scans, branches and loops in all the forms in which compilers got them
 * silently wrong: reversed, nested, over each axis, with carries that do not matter; what is
 * saved for the backward scan; and the errors. */
#include "core/graph/operation.h"
#include "tests/core/autodiff/gradient-test.h"
#include "tests/random-seed.h"
#include <string.h>

/* clang-format off */
#define MODULE(parameters, results, body, functions) \
  "module \"m\" { func @main #1 (" parameters ") -> (" results ") { " body " } " functions " }"

/* One step of a small recurrent net: h' = tanh (h w + x), y = h' * x. */
#define CELL \
  "func @cell #2 (%11: f64[2], %12: f64[2], %13: f64[2,2]) -> (%16, %17) {" \
  " %14 = dot_general(%11, %13) {lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]}: f64[2]" \
  " %15 = add(%14, %12): f64[2] %16 = tanh(%15): f64[2] %17 = multiply(%16, %12): f64[2] }"
#define CELL_MAIN(x, attributes, y) \
  MODULE ("%1: f64[2], %2: " x ", %3: f64[2,2]", "%5, %6", \
          "%4 = scan(%1, %2, %3) {body = #2, n_carries = 1, n_xs = 1, length = 3, " attributes "}: (f64[2], " y ")" \
          " %5 = result(%4) {index = 0}: f64[2] %6 = result(%4) {index = 1}: " y, CELL)

/* Inner scan over columns within an outer one over rows, each of its own direction. */
#define NESTED(outer, inner) \
  MODULE ("%1: f64[], %2: f64[3,2], %3: f64[]", "%5, %6", \
          "%4 = scan(%1, %2, %3) {body = #2, n_carries = 1, n_xs = 1, length = 3, axes = [0], y_axes = [0]" outer "}: (f64[], f64[3,2])" \
          " %5 = result(%4) {index = 0}: f64[] %6 = result(%4) {index = 1}: f64[3,2]", \
          "func @row #2 (%11: f64[], %12: f64[2], %13: f64[]) -> (%15, %17) {" \
          " %14 = scan(%11, %12, %13) {body = #3, n_carries = 1, n_xs = 1, length = 2, axes = [0], y_axes = [0]" inner "}: (f64[], f64[2])" \
          " %15 = result(%14) {index = 0}: f64[] %16 = result(%14) {index = 1}: f64[2] %17 = multiply(%16, %12): f64[2] }" \
          " func @element #3 (%21: f64[], %22: f64[], %23: f64[]) -> (%26, %27) { %24 = multiply(%21, %22): f64[]" \
          " %25 = sine(%24): f64[] %26 = add(%25, %23): f64[] %27 = multiply(%26, %21): f64[] }")

#define LOOP(bound) \
  MODULE ("%1: f64[2]", "%4", \
          "%2 = constant() {value = dense<i32[]: 0>}: i32[] %3 = while(%2, %1) {cond = #2, body = #3, most_trips = " bound "}:" \
          " (i32[], f64[2]) %4 = result(%3) {index = 1}: f64[2]", \
          /* three trips, and a NaN in any trip too many */ \
          "func @cond #2 (%11: i32[], %12: f64[2]) -> (%14) { %13 = constant() {value = dense<i32[]: 3>}: i32[]" \
          " %14 = compare(%11, %13) {comparison_direction = \"LT\"}: bool[] }" \
          " func @body #3 (%21: i32[], %22: f64[2]) -> (%24, %28) { %23 = constant() {value = dense<i32[]: 1>}: i32[]" \
          " %24 = add(%21, %23): i32[] %25 = sine(%22): f64[2] %26 = multiply(%25, %22): f64[2]" \
          " %27 = call(%21) {body = #4}: f64[2] %28 = multiply(%26, %27): f64[2] }" \
          " func @guard #4 (%31: i32[]) -> (%36) { %32 = constant() {value = dense<i32[]: 3>}: i32[]" \
          " %33 = subtract(%32, %31): i32[] %34 = convert(%33) {to = type f64[]}: f64[] %35 = sqrt(%34): f64[]" \
          " %36 = broadcast_in_dim(%35) {shape = [2], broadcast_dimensions = ints[]}: f64[2] }")

/* %2 is read by each trip and changed by none. */
#define CAPTURING \
  MODULE ("%1: f64[2], %2: f64[2]", "%5", \
          "%3 = constant() {value = dense<i32[]: 0>}: i32[] %4 = while(%3, %1, %2) {cond = #2, body = #3, n_carries = 2, most_trips = 4}:" \
          " (i32[], f64[2]) %5 = result(%4) {index = 1}: f64[2]", \
          "func @cond #2 (%11: i32[], %12: f64[2], %15: f64[2]) -> (%14) { %13 = constant() {value = dense<i32[]: 3>}: i32[]" \
          " %14 = compare(%11, %13) {comparison_direction = \"LT\"}: bool[] }" \
          " func @body #3 (%21: i32[], %22: f64[2], %27: f64[2]) -> (%24, %26) { %23 = constant() {value = dense<i32[]: 1>}: i32[]" \
          " %24 = add(%21, %23): i32[] %25 = sine(%22): f64[2] %26 = multiply(%25, %27): f64[2] }")

typedef struct
{
  const char *path, *text;
} Case;

static const Case cases[] = {
  { "/scan/axis-0", CELL_MAIN ("f64[3,2]", "axes = [0], y_axes = [0]", "f64[3,2]") },
  { "/scan/axis-1", CELL_MAIN ("f64[2,3]", "axes = [1], y_axes = [0]", "f64[3,2]") },
  { "/scan/y-axis-1", CELL_MAIN ("f64[3,2]", "axes = [0], y_axes = [1]", "f64[2,3]") },
  { "/scan/reversed", CELL_MAIN ("f64[3,2]", "axes = [0], y_axes = [0], reverse = 1", "f64[3,2]") },
  { "/scan/reversed-axes-1", CELL_MAIN ("f64[2,3]", "axes = [1], y_axes = [1], reverse = 1", "f64[2,3]") },
  { "/scan/nested", NESTED ("", "") },
  { "/scan/nested-outer-reversed", NESTED (", reverse = 1", "") },
  { "/scan/nested-inner-reversed", NESTED ("", ", reverse = 1") },
  { "/scan/nested-both-reversed", NESTED (", reverse = 1", ", reverse = 1") },
  { "/scan/middle-axis", /* slices of a tensor of three dimensions, stacked along the last */
    MODULE ("%1: f64[2,2], %2: f64[2,3,2]", "%4, %5",
            "%3 = scan(%1, %2) {body = #2, n_carries = 1, n_xs = 1, length = 3, axes = [1], y_axes = [2]}: (f64[2,2], f64[2,2,3])"
            " %4 = result(%3) {index = 0}: f64[2,2] %5 = result(%3) {index = 1}: f64[2,2,3]",
            "func @f #2 (%11: f64[2,2], %12: f64[2,2]) -> (%13, %14) { %13 = multiply(%11, %12): f64[2,2]"
            " %14 = sine(%13): f64[2,2] }") },
  { "/scan/no-carries",
    MODULE ("%1: f64[3,2], %2: f64[2]", "%3",
            "%3 = scan(%1, %2) {body = #2, n_carries = 0, n_xs = 1, length = 3, axes = [0], y_axes = [1]}: f64[2,3]",
            "func @f #2 (%11: f64[2], %12: f64[2]) -> (%14) { %13 = multiply(%11, %12): f64[2] %14 = tanh(%13): f64[2] }") },
  { "/scan/no-xs",
    MODULE ("%1: f64[2], %2: f64[2]", "%3",
            "%3 = scan(%1, %2) {body = #2, n_carries = 1, n_xs = 0, length = 4, axes = ints[], y_axes = ints[]}: f64[2]",
            "func @f #2 (%11: f64[2], %12: f64[2]) -> (%14) { %13 = multiply(%11, %12): f64[2] %14 = sine(%13): f64[2] }") },
  { "/scan/no-iterations",
    MODULE ("%1: f64[2], %2: f64[0,2], %3: f64[2]", "%5",
            "%4 = scan(%1, %2, %3) {body = #2, n_carries = 1, n_xs = 1, length = 0, axes = [0], y_axes = ints[]}: f64[2]"
            " %5 = multiply(%4, %4): f64[2]",
            "func @f #2 (%11: f64[2], %12: f64[2], %13: f64[2]) -> (%15) { %14 = multiply(%11, %12): f64[2]"
            " %15 = multiply(%14, %13): f64[2] }") },
  { "/scan/no-iterations-overwritten", /* what goes in comes out though the body does not read it */
    MODULE ("%1: f64[2]", "%5",
            "%4 = scan(%1) {body = #2, n_carries = 1, n_xs = 0, length = 0, axes = ints[], y_axes = ints[]}: f64[2]"
            " %5 = multiply(%4, %4): f64[2]",
            "func @f #2 (%11: f64[2]) -> (%12) { %12 = constant() {value = dense<f64[2]: 1.0, 2.0>}: f64[2] }") },
  { "/scan/integers", /* a counter goes round and picks, integers are scanned over and captured */
    MODULE ("%1: f64[2], %2: f64[4]", "%8, %9",
            "%3 = constant() {value = dense<i32[]: 0>}: i32[] %4 = constant() {value = dense<i32[3]: 2, 0, 1>}: i32[3]"
            " %5 = constant() {value = dense<i32[]: 1>}: i32[]"
            " %6 = scan(%3, %1, %4, %2, %5) {body = #2, n_carries = 2, n_xs = 1, length = 3, axes = [0], y_axes = [0, 0]}:"
            " (i32[], f64[2], i32[3], f64[3,2]) %8 = result(%6) {index = 1}: f64[2] %9 = result(%6) {index = 3}: f64[3,2]",
            "func @f #2 (%11: i32[], %12: f64[2], %13: i32[], %14: f64[4], %15: i32[]) -> (%16, %19, %11, %20) {"
            " %16 = add(%11, %15): i32[] %17 = add(%13, %11): i32[] %18 = dynamic_slice(%14, %13) {slice_sizes = [2]}: f64[2]"
            " %19 = multiply(%12, %18): f64[2] %20 = cosine(%19): f64[2] }") },
  { "/scan/unused-carries", /* one that nobody reads, one that is only handed on, one that is overwritten, two that change places */
    MODULE ("%1: f64[2], %2: f64[2], %3: f64[2], %4: f64[2], %5: f64[2], %6: f64[3,2]", "%8, %9, %10",
            "%7 = scan(%1, %2, %3, %4, %5, %6) {body = #2, n_carries = 5, n_xs = 1, length = 3, axes = [0], y_axes = ints[]}:"
            " (f64[2], f64[2], f64[2], f64[2], f64[2]) %8 = result(%7) {index = 1}: f64[2] %9 = result(%7) {index = 2}: f64[2]"
            " %10 = result(%7) {index = 3}: f64[2]",
            "func @f #2 (%11: f64[2], %12: f64[2], %13: f64[2], %14: f64[2], %15: f64[2], %16: f64[2])"
            " -> (%17, %12, %18, %15, %20) { %17 = multiply(%11, %11): f64[2] %18 = sine(%16): f64[2]"
            " %19 = multiply(%14, %16): f64[2] %20 = multiply(%19, %12): f64[2] }") },
  { "/scan/ys-of-everything", /* a slice, a carry as it came, a capture, and one value twice */
    MODULE ("%1: f64[], %2: f64[3], %3: f64[]", "%5, %6, %7, %8, %9",
            "%4 = scan(%1, %2, %3) {body = #2, n_carries = 1, n_xs = 1, length = 3, axes = [0], y_axes = [0, 0, 0, 0]}:"
            " (f64[], f64[3], f64[3], f64[3], f64[3]) %5 = result(%4) {index = 0}: f64[] %6 = result(%4) {index = 1}: f64[3]"
            " %7 = result(%4) {index = 2}: f64[3] %8 = result(%4) {index = 3}: f64[3] %9 = result(%4) {index = 4}: f64[3]",
            "func @f #2 (%11: f64[], %12: f64[], %13: f64[]) -> (%15, %12, %11, %13, %15) { %14 = multiply(%11, %12): f64[]"
            " %15 = multiply(%14, %13): f64[] }") },
  { "/scan/x-twice", /* the same tensor is scanned over on two axes and captured */
    MODULE ("%1: f64[], %2: f64[2,2]", "%3",
            "%3 = scan(%1, %2, %2, %2) {body = #2, n_carries = 1, n_xs = 2, length = 2, axes = [0, 1], y_axes = ints[]}: f64[]",
            "func @f #2 (%11: f64[], %12: f64[2], %13: f64[2], %14: f64[2,2]) -> (%19) {"
            " %15 = dot_general(%14, %12) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f64[2]"
            " %16 = multiply(%15, %13): f64[2] %17 = reduce(%16) {kind = \"add\", dimensions = [0]}: f64[]"
            " %18 = multiply(%17, %11): f64[] %19 = sine(%18): f64[] }") },
  { "/scan/invariant", /* work on captures that the backward body does again */
    MODULE ("%1: f64[2], %2: f64[2]", "%3",
            " %3 = scan(%1, %2) {body = #2, n_carries = 1, n_xs = 0, length = 3, axes = ints[], y_axes = ints[]}: f64[2]",
            "func @f #2 (%11: f64[2], %12: f64[2]) -> (%16) { %13 = cosine(%12): f64[2] %14 = exponential(%13): f64[2]"
            " %15 = multiply(%11, %14): f64[2] %16 = sine(%15): f64[2] }") },
  { "/if/both", /* several results, a capture of one branch only, an integer capture */
    MODULE ("%1: f64[2], %2: f64[2], %3: f64[]", "%8, %9",
            "%4 = constant() {value = dense<f64[]: 0.0>}: f64[] %5 = compare(%3, %4) {comparison_direction = \"LT\"}: bool[]"
            " %6 = constant() {value = dense<i32[]: 1>}: i32[]"
            " %7 = if(%5, %1, %6, %2) {then = #2, else = #3}: (f64[2], f64[1], i32[]) %8 = result(%7) {index = 0}: f64[2]"
            " %9 = result(%7) {index = 1}: f64[1]",
            "func @t #2 (%11: f64[2], %12: i32[], %13: f64[2]) -> (%14, %15, %12) { %14 = multiply(%11, %11): f64[2]"
            " %15 = dynamic_slice(%11, %12) {slice_sizes = [1]}: f64[1] }"
            " func @e #3 (%21: f64[2], %22: i32[], %23: f64[2]) -> (%24, %25, %22) { %24 = sine(%23): f64[2]"
            " %25 = dynamic_slice(%24, %22) {slice_sizes = [1]}: f64[1] }") },
  { "/if/in-scan",
    MODULE ("%1: f64[], %2: f64[4], %3: f64[]", "%5, %6",
            "%4 = scan(%1, %2, %3) {body = #2, n_carries = 1, n_xs = 1, length = 4, axes = [0], y_axes = [0], reverse = 1}: (f64[], f64[4])"
            " %5 = result(%4) {index = 0}: f64[] %6 = result(%4) {index = 1}: f64[4]",
            "func @f #2 (%11: f64[], %12: f64[], %13: f64[]) -> (%17, %18) { %14 = constant() {value = dense<f64[]: 0.0>}: f64[]"
            " %15 = compare(%12, %14) {comparison_direction = \"LT\"}: bool[] %16 = multiply(%11, %13): f64[]"
            " %17 = if(%15, %16, %12) {then = #3, else = #4}: f64[] %18 = multiply(%17, %11): f64[] }"
            " func @t #3 (%21: f64[], %22: f64[]) -> (%23) { %23 = multiply(%21, %22): f64[] }"
            " func @e #4 (%31: f64[], %32: f64[]) -> (%34) { %33 = sine(%31): f64[] %34 = add(%33, %32): f64[] }") },
  { "/if/scan-within",
    MODULE ("%1: f64[], %2: f64[3], %3: f64[]", "%6",
            "%4 = constant() {value = dense<f64[]: 0.0>}: f64[] %5 = compare(%3, %4) {comparison_direction = \"GT\"}: bool[]"
            " %6 = if(%5, %1, %2, %3) {then = #2, else = #2}: f64[]",
            "func @t #2 (%11: f64[], %12: f64[3], %13: f64[]) -> (%14) {"
            " %14 = scan(%11, %12, %13) {body = #3, n_carries = 1, n_xs = 1, length = 3, axes = [0], y_axes = ints[]}: f64[] }"
            " func @f #3 (%21: f64[], %22: f64[], %23: f64[]) -> (%25) { %24 = multiply(%21, %22): f64[]"
            " %25 = cosine(%24): f64[] }") },
  { "/while/as-many-as-bound", LOOP ("3") },
  { "/while/fewer-than-bound", LOOP ("6") },
  { "/while/captures", CAPTURING },
  { "/while/in-scan",
    MODULE ("%1: f64[], %2: f64[2]", "%3",
            "%3 = scan(%1, %2) {body = #2, n_carries = 1, n_xs = 1, length = 2, axes = [0], y_axes = ints[]}: f64[]",
            "func @f #2 (%11: f64[], %12: f64[]) -> (%15) { %13 = constant() {value = dense<i32[]: 0>}: i32[]"
            " %14 = while(%13, %11, %12) {cond = #3, body = #4, most_trips = 3}: (i32[], f64[], f64[])"
            " %15 = result(%14) {index = 1}: f64[] }"
            " func @c #3 (%21: i32[], %22: f64[], %23: f64[]) -> (%25) { %24 = constant() {value = dense<i32[]: 2>}: i32[]"
            " %25 = compare(%21, %24) {comparison_direction = \"LT\"}: bool[] }"
            " func @b #4 (%31: i32[], %32: f64[], %33: f64[]) -> (%35, %37, %33) { %34 = constant() {value = dense<i32[]: 1>}: i32[]"
            " %35 = add(%31, %34): i32[] %36 = multiply(%32, %33): f64[] %37 = sine(%36): f64[] }") },
};

/* clang-format on */

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = gradient_parse (context, c->text);
  GradientCheck check = { .low = -1.3, .high = 1.3, .random = test_rand (11) };

  /* Different arguments take different branches. */
  for (guint i = 0; i < 4; i++)
    gradient_check_twice (module, &check);
  g_rand_free (check.random);
}

/* What is saved */

static const GantryNode *
find_scan (const GantryModule *module, gboolean backward)
{
  const GantryFunction *entry = gantry_module_entry (module);

  for (guint32 i = 0; i < entry->n_nodes; i++)
    if (module->nodes[i].op == GANTRY_OP_SCAN && (module->nodes[i].phase == GANTRY_PHASE_BACKWARD) == backward)
      return &module->nodes[i];
  g_assert_not_reached ();
}

static void
test_saved (const char *text, guint n_ys, guint n_xs, guint n_captures, gboolean same_node)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = gradient_parse (context, text);
  GantryGradientOptions options = { .seeds = TRUE };
  g_autoptr (GantryModule) derived = gradient_of (module, &options);
  const GantryNode *forward = find_scan (derived, FALSE), *backward = find_scan (derived, TRUE);
  GantryScan before, after, back;

  gantry_scan_of (module, find_scan (module, FALSE), &before);
  gantry_scan_of (derived, forward, &after);
  gantry_scan_of (derived, backward, &back);
  g_assert_cmpuint (after.n_ys, ==, n_ys);
  g_assert_cmpuint (back.n_xs, ==, n_xs);
  g_assert_cmpuint (back.n_captures, ==, n_captures);
  g_assert_cmpint (back.reverse, ==, !before.reverse);
  g_assert_cmpint (gantry_module_node (module, forward->id) != NULL, ==, same_node);
  g_assert_cmpint (gradient_count (derived, GANTRY_OP_SCAN), ==, 2);
}

/* clang-format off */
static void
test_scan_saves_nothing (void)
{
  /* Linear in the carry: the backward scan reads the slices and nothing else; the forward scan is
   * the same node. */
  test_saved (MODULE ("%1: f64[], %2: f64[3]", "%3",
                      "%4 = optimization_barrier(%2): f64[3] %3 = scan(%1, %4) {body = #2, n_carries = 1, n_xs = 1, length = 3,"
                      " axes = [0], y_axes = ints[]}: f64[]",
                      "func @f #2 (%11: f64[], %12: f64[]) -> (%14) { %13 = sine(%12): f64[] %14 = add(%11, %13): f64[] }"),
              0, 1, 0, TRUE);
}

static void
test_scan_saves_carry (void)
{
  test_saved (MODULE ("%1: f64[], %2: f64[3]", "%3",
                      "%3 = scan(%1, %2) {body = #2, n_carries = 1, n_xs = 1, length = 3, axes = [0], y_axes = ints[]}: f64[]",
                      "func @f #2 (%11: f64[], %12: f64[]) -> (%13) { %13 = multiply(%11, %12): f64[] }"),
              1, 2, 0, FALSE);
}

static void
test_scan_reads_its_ys (void)
{
  /* tanh reads its result, which is a y already. */
  test_saved (MODULE ("%1: f64[], %2: f64[3]", "%5",
                      "%4 = scan(%1, %2) {body = #2, n_carries = 1, n_xs = 1, length = 3, axes = [0], y_axes = [0]}: (f64[], f64[3])"
                      " %5 = result(%4) {index = 0}: f64[]",
                      "func @f #2 (%11: f64[], %12: f64[]) -> (%14, %14) { %13 = add(%11, %12): f64[] %14 = tanh(%13): f64[] }"),
              1, 1, 0, TRUE);
}

static void
test_scan_does_again (void)
{
  /* exp (w) is of the capture alone: done again, not stacked three times. */
  test_saved (MODULE ("%1: f64[], %2: f64[]", "%3",
                      "%3 = scan(%1, %2) {body = #2, n_carries = 1, n_xs = 0, length = 3, axes = ints[], y_axes = ints[]}: f64[]",
                      "func @f #2 (%11: f64[], %12: f64[]) -> (%14) { %13 = exponential(%12): f64[] %14 = multiply(%11, %13): f64[] }"),
              1, 1, 1, FALSE);
}

static void
test_scan_converts_again (void)
{
  /* a stack of converted slices would be a second copy of what is scanned over */
  test_saved (MODULE ("%1: f64[2], %2: f32[3,2,2]", "%3",
                      "%3 = scan(%1, %2) {body = #2, n_carries = 1, n_xs = 1, length = 3, axes = [0], y_axes = ints[]}: f64[2]",
                      "func @f #2 (%11: f64[2], %12: f32[2,2]) -> (%15) { %13 = convert(%12) {to = type f64[]}: f64[2,2]"
                      " %14 = transpose(%13) {permutation = [1, 0]}: f64[2,2]"
                      " %15 = dot_general(%14, %11) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f64[2] }"),
              1, 2, 0, FALSE);
}

/* clang-format on */

/* The same program unrolled has the same gradients. */
static void
test_unrolled (void)
{
  static const char *const names[] = { "layers-tiny.gir", "layers-unrolled-tiny.gir" };
  const char *root = g_getenv ("GANTRY_SOURCE_ROOT");
  GantryLiteral **results[2] = { NULL };
  GantryContext *contexts[2] = { gantry_context_new (), gantry_context_new () };
  guint n = 0;

  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *path = g_build_filename (root != NULL ? root : ".", "data", "programs", names[i], NULL);
      g_autofree char *text = NULL;
      g_autoptr (GantryModule) module = NULL, derived = NULL;
      GantryGradientOptions options = { .keep_results = TRUE };
      GradientCheck check = { .low = -1, .high = 1, .random = test_rand (3) };
      GantryLiteral *arguments[3];

      if (!g_file_get_contents (path, &text, NULL, NULL))
        {
          g_test_skip ("data/programs is not there; GANTRY_SOURCE_ROOT says where the sources are");
          g_rand_free (check.random);
          break;
        }
      module = gradient_parse (contexts[i], text);
      derived = gradient_of (module, &options);
      for (guint k = 0; k < 3; k++)
        arguments[k] = gradient_random (&check, gantry_node_type (derived, &derived->nodes[k]));
      results[i] = gradient_evaluate (derived, arguments);
      n = gantry_module_entry (derived)->n_results;
      for (guint k = 0; k < 3; k++)
        gantry_literal_unref (arguments[k]);
      g_rand_free (check.random);
      if (i == 0)
        continue;
      g_assert_cmpuint (n, ==, 4);
      for (guint k = 0; k < n; k++)
        for (gint64 e = 0; e < gantry_type_elements (results[0][k]->type); e++)
          g_assert_cmpfloat_with_epsilon (gantry_literal_get_double (results[0][k], e), gantry_literal_get_double (results[1][k], e), 1e-4);
    }
  for (guint i = 0; i < 2; i++)
    {
      if (results[i] != NULL)
        gradient_free_literals (results[i], n);
      gantry_context_unref (contexts[i]);
    }
}

/* Errors and options */

static void
expect_error (const char *text, const GantryGradientOptions *options, GantryError code, const char *word)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = gradient_parse (context, text);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) derived = gantry_differentiate (module, options, NULL, &error);

  g_assert_null (derived);
  g_assert_error (error, GANTRY_ERROR, (gint) code);
  if (strstr (error->message, word) == NULL)
    g_error ("\"%s\" does not say \"%s\"", error->message, word);
}

#define COUNTED \
  "func @c #2 (%11: f32[2], %12: bool[]) -> (%12) { }" \
  " func @b #3 (%21: f32[2], %22: bool[]) -> (%23) { %23 = tanh(%21): f32[2] }"

/* clang-format off */
static void
test_refusals (void)
{
  const GantryGradientOptions seeds = { .seeds = TRUE };

  /* both are named, with where they stand */
  for (guint i = 0; i < 2; i++)
    expect_error (MODULE ("%1: f32[2]", "%4",
                          "%2 = custom_call(%1) {target = \"strange\", to = type f32[2]}: f32[2]"
                          " %3 = bitcast_convert(%2) {to = type f32[]}: f32[2] %4 = add(%3, %1): f32[2]", ""),
                  &seeds, GANTRY_ERROR_UNSUPPORTED, i == 0 ? "custom_call: " : "bitcast_convert: ");
  expect_error (MODULE ("%1: f32[2]", "%2", "%2 = custom_call(%1) {target = \"strange\", to = type f32[2]}: f32[2]", ""), &seeds,
                GANTRY_ERROR_UNSUPPORTED, "custom_call: what is called by name has no known derivative (%2, ");
  expect_error (MODULE ("%1: f32[2]", "%2", "%2 = while(%1) {cond = #2, body = #3}: f32[2]",
                        "func @c #2 (%11: f32[2]) -> (%12) { %12 = constant() {value = dense<bool[]: false>}: bool[] }"
                        " func @b #3 (%21: f32[2]) -> (%21) { }"),
                &seeds, GANTRY_ERROR_UNSUPPORTED, "most_trips");
  /* a scan of as many trips would give a gradient also where the loop makes others */
  for (guint i = 0; i < 2; i++)
    expect_error (i == 0 ? MODULE ("%1: f32[2], %2: bool[]", "%3", "%3 = while(%1, %2) {cond = #2, body = #3, n_carries = 1, exact_trips = 4}: f32[2]",
                                   COUNTED)
                         : MODULE ("%1: f32[2], %2: bool[]", "%3", "%3 = while(%1, %2) {cond = #2, body = #3, n_carries = 1, exact_trips = 4,"
                                   " most_trips = 5}: f32[2]", COUNTED),
                  &seeds, GANTRY_ERROR_UNSUPPORTED, "the run decides how many trips it makes");
  /* within the body of a scan, and of a branch within it */
  expect_error (MODULE ("%1: f32[2], %2: bool[]", "%3",
                        "%3 = scan(%1, %2) {body = #2, n_carries = 1, n_xs = 0, length = 3, axes = ints[], y_axes = ints[]}: f32[2]",
                        "func @f #2 (%11: f32[2], %12: bool[]) -> (%13) { %13 = if(%12, %11) {then = #3, else = #4}: f32[2] }"
                        " func @t #3 (%21: f32[2]) -> (%22) { %22 = custom_call(%21) {target = \"strange\", to = type f32[2]}: f32[2] }"
                        " func @e #4 (%31: f32[2]) -> (%31) { }"),
                &seeds, GANTRY_ERROR_UNSUPPORTED, "custom_call: ");
  expect_error (MODULE ("%1: f32[n]", "%2", "%2 = sine(%1): f32[n]", ""), &seeds, GANTRY_ERROR_UNSUPPORTED,
                "sine: its shape is not known");
  expect_error (MODULE ("%1: f32[2]", "%2", "%2 = \"onnx.Relu\"(%1): f32[2]", ""), &seeds, GANTRY_ERROR_UNSUPPORTED,
                "onnx.Relu: an imported operation");
  expect_error (MODULE ("%1: f32[2], %2: i32[1,1], %3: f32[1]", "%4",
                        "%4 = scatter(%1, %2, %3) {inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],"
                        " index_vector_dim = 1, kind = \"mul\"}: f32[2]", ""),
                &seeds, GANTRY_ERROR_UNSUPPORTED, "scatter: of kind mul");
  expect_error (MODULE ("%1: f32[4]", "%2", "%2 = reduce_window(%1) {kind = \"mul\", window_dimensions = [2]}: f32[3]", ""),
                &seeds, GANTRY_ERROR_UNSUPPORTED, "reduce_window: of kind mul");
}

static void
test_options (void)
{
  const guint one[] = { 1 }, zero[] = { 0 };
  static const char text[] = MODULE ("%1: f32[2], %2: i32[]", "%4, %2",
                                     "%3 = sine(%1): f32[2] %4 = reduce(%3) {kind = \"add\", dimensions = [0]}: f32[]", "");

  expect_error (text, &(GantryGradientOptions){ .outputs = one, .n_outputs = 1, .seeds = TRUE }, GANTRY_ERROR_INVALID,
                "result 1 is no tensor of floating point");
  expect_error (text, &(GantryGradientOptions){ .outputs = one, .n_outputs = 1 }, GANTRY_ERROR_INVALID, "result 1");
  expect_error (text, &(GantryGradientOptions){ .outputs = (const guint[]){ 2 }, .n_outputs = 1 }, GANTRY_ERROR_INVALID,
                "there is no result 2");
  expect_error (text, &(GantryGradientOptions){ .with_respect_to = one, .n_with_respect_to = 1 }, GANTRY_ERROR_INVALID,
                "parameter 1 is no tensor of floating point");
  expect_error (text, &(GantryGradientOptions){ .with_respect_to = (const guint[]){ 7 }, .n_with_respect_to = 1 },
                GANTRY_ERROR_INVALID, "there is no parameter 7");
  expect_error (MODULE ("%1: f32[2]", "%2", "%2 = sine(%1): f32[2]", ""),
                &(GantryGradientOptions){ .outputs = zero, .n_outputs = 1 }, GANTRY_ERROR_INVALID, "only a scalar");
}

/* What does not depend on a parameter has a gradient of zeros, and nothing else is made for it. */
static void
test_zero (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = gradient_parse (
    context, MODULE ("%1: f64[2], %2: f64[3]", "%4",
                     "%3 = floor(%1): f64[2] %4 = reduce(%3) {kind = \"add\", dimensions = [0]}: f64[]", ""));
  GantryGradientOptions options = { .keep_results = TRUE };
  g_autoptr (GantryModule) derived = gradient_of (module, &options);

  g_assert_cmpuint (gantry_module_entry (derived)->n_results, ==, 3);
  g_assert_cmpuint (derived->n_nodes, ==, module->n_nodes + 4); /* zeros: two scalars and their broadcasts */
}

/* Of a scan that was rolled from blocks both scans know which. */
static void
test_blocks (void)
{
  static const char text[] = MODULE ("%1: f64[], %2: f64[2]", "%3",
                                     "%3 = scan(%1, %2) {body = #2, n_carries = 1, n_xs = 1, length = 2, axes = [0], y_axes = ints[],"
                                     " block_scopes = [\"layer.0\", \"layer.1\"]}: f64[]",
                                     "func @f #2 (%11: f64[], %12: f64[]) -> (%13) { %13 = multiply(%11, %12): f64[] scope(\"layer.0\") }");
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = gradient_parse (context, text);
  g_autoptr (GantryModule) derived = gradient_of (module, &(GantryGradientOptions){ 0 });

  for (guint backward = 0; backward < 2; backward++)
    {
      const GantryNode *scan = find_scan (derived, (gboolean) backward);
      const GantryAttr *blocks = gantry_attrs_find (context, scan->attrs, "block_scopes");

      g_assert_nonnull (blocks);
      g_assert_cmpuint (blocks->n, ==, 2);
      g_assert_cmpint (gantry_attrs_int (context, scan->attrs, "length", 0), ==, 2);
    }
}

/* A parameter that is donated to a result stays so where the results are kept, and is donated to
 * none where they are not. */
static void
test_donated (void)
{
  for (guint keep = 0; keep < 2; keep++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryModule) module = gradient_parse (
        context, MODULE ("%1: f64[], %2: f64[] {alias = 1, role = \"state\"}", "%3, %4",
                         "%3 = multiply(%1, %2): f64[] %4 = sine(%2): f64[]", ""));
      GantryGradientOptions options = { .keep_results = (gboolean) keep };
      g_autoptr (GantryModule) derived = gradient_of (module, &options);

      g_assert_cmpint (gantry_parameter_alias (derived, &derived->nodes[1]), ==, keep ? 1 : -1);
      g_assert_cmpint (gantry_parameter_role (derived, &derived->nodes[1]), ==, GANTRY_SUBJECT_STATE);
      g_assert_cmpuint (gantry_module_entry (derived)->n_results, ==, keep ? 4 : 2);
    }
}

/* Equal operands share; a constant takes all, unless the node says that it takes half. A read outside goes to the nearest element, unless
 * the node says that it has no gradient; abs has none at 0 unless the node says that 0 counts as positive. */
static void
test_ties (void)
{
  static const struct
  {
    const char *nodes;
    double wanted[2];
  } ties[] = {
    { "%4 = maximum(%1, %2): f64[]", { 0.5, 0.5 } },
    { "%4 = minimum(%1, %2): f64[]", { 0.5, 0.5 } },
    { "%3 = constant() {value = dense<f64[]: 1.0>}: f64[] %4 = maximum(%1, %3): f64[]", { 0, 0 } },
    { "%3 = constant() {value = dense<f64[]: 1.0>}: f64[] %4 = maximum(%1, %3) {ties = \"half\"}: f64[]", { 0.5, 0 } },
    { "%3 = constant() {value = dense<f64[]: 1.0>}: f64[] %4 = minimum(%3, %2) {ties = \"half\"}: f64[]", { 0, 0.5 } },
    { "%3 = constant() {value = dense<f64[]: 2.0>}: f64[] %4 = clamp(%2, %1, %3): f64[]", { 0, 0 } },
    { "%3 = subtract(%1, %2): f64[] %4 = abs(%3): f64[]", { 0, 0 } },
    { "%3 = subtract(%1, %2): f64[] %4 = abs(%3) {zero = \"positive\"}: f64[]", { 1, -1 } },
    { "%3 = reshape(%1) {shape = [1]}: f64[1] %5 = reshape(%2) {shape = [1]}: f64[1] %6 = concatenate(%3, %5) {dimension = 0}: f64[2]"
      " %7 = constant() {value = dense<i32[1]: 5>}: i32[1]"
      " %4 = gather(%6, %7) {collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 0, slice_sizes = [1]}: f64[]", { 0, 1 } },
    { "%3 = reshape(%1) {shape = [1]}: f64[1] %5 = reshape(%2) {shape = [1]}: f64[1] %6 = concatenate(%3, %5) {dimension = 0}: f64[2]"
      " %7 = constant() {value = dense<i32[1]: 5>}: i32[1] %4 = gather(%6, %7) {collapsed_slice_dims = [0], start_index_map = [0],"
      " index_vector_dim = 0, slice_sizes = [1], outside = \"drop\"}: f64[]", { 0, 0 } },
    { "%3 = reshape(%1) {shape = [1]}: f64[1] %5 = reshape(%2) {shape = [1]}: f64[1] %6 = concatenate(%3, %5) {dimension = 0}: f64[2]"
      " %4 = reduce(%6) {kind = \"max\", dimensions = [0]}: f64[]", { 0.5, 0.5 } },
    { "%3 = reshape(%1) {shape = [1]}: f64[1] %5 = reshape(%2) {shape = [1]}: f64[1] %6 = concatenate(%3, %5) {dimension = 0}: f64[2]"
      " %7 = reduce_window(%6) {kind = \"max\", window_dimensions = [2]}: f64[1] %4 = reshape(%7) {shape = ints[]}: f64[]", { 1, 0 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (ties); i++)
    {
      g_autofree char *text = g_strdup_printf ("module \"m\" { func @main #1 (%%1: f64[], %%2: f64[]) -> (%%4) { %s } }", ties[i].nodes);
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryModule) module = gradient_parse (context, text);
      g_autoptr (GantryModule) derived = gradient_of (module, &(GantryGradientOptions){ 0 });
      GantryLiteral *arguments[2];
      GantryLiteral **results;
      guint8 *data;

      for (guint k = 0; k < 2; k++)
        {
          arguments[k] = gantry_literal_new_zeroed (gantry_node_type (derived, &derived->nodes[k]), &data);
          gantry_element_write_double (GANTRY_F64, data, 1);
        }
      results = gradient_evaluate (derived, arguments);
      for (guint k = 0; k < 2; k++)
        {
          g_assert_cmpfloat (gantry_literal_get_double (results[k], 0), ==, ties[i].wanted[k]);
          gantry_literal_unref (arguments[k]);
        }
      gradient_free_literals (results, 2);
    }
}

/* clang-format on */

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/gradient", cases[i].path, NULL);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  g_test_add_func ("/gradient/scan/saves-nothing", test_scan_saves_nothing);
  g_test_add_func ("/gradient/scan/saves-carry", test_scan_saves_carry);
  g_test_add_func ("/gradient/scan/reads-its-ys", test_scan_reads_its_ys);
  g_test_add_func ("/gradient/scan/does-again", test_scan_does_again);
  g_test_add_func ("/gradient/scan/converts-again", test_scan_converts_again);
  g_test_add_func ("/gradient/scan/blocks", test_blocks);
  g_test_add_func ("/gradient/donated", test_donated);
  g_test_add_func ("/gradient/scan/unrolled", test_unrolled);
  g_test_add_func ("/gradient/refusals", test_refusals);
  g_test_add_func ("/gradient/options", test_options);
  g_test_add_func ("/gradient/zero", test_zero);
  g_test_add_func ("/gradient/ties", test_ties);
  return g_test_run ();
}
