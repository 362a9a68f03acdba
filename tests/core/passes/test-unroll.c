/* SPDX-License-Identifier: Apache-2.0 */
/* inline and unroll: control flow as straight-line code. That the value is the same, that the module is sound and that
 * every new node has an origin is held by pass_case_new(). */
#include "tests/core/passes/pass-test.h"
#include "tests/random-seed.h"
#include <string.h>

#define FUNCTION(name, id, parameters, results, body) "func @" name " #" id " (" parameters ") -> (" results ") {" body "}"
#define MODULE(main, functions) "module \"test\" { " main functions " }"
#define MAIN(parameters, results, body) FUNCTION ("main", "1", parameters, results, body)

static guint
count_control (const GantryModule *module)
{
  return pass_count (module, GANTRY_OP_SCAN) + pass_count (module, GANTRY_OP_WHILE) + pass_count (module, GANTRY_OP_IF) + pass_count (module, GANTRY_OP_CALL);
}

static const GantryNode *
find (const GantryModule *module, GantryOp op, guint nth)
{
  for (guint32 i = 0; i < module->n_nodes; i++)
    if (module->nodes[i].op == op && nth-- == 0)
      return &module->nodes[i];
  return NULL;
}

static const char *
scope_of (const GantryModule *module, const GantryNode *node)
{
  return gantry_context_scope_path (module->context, node->scope);
}

/* Scans */

#define STEP \
  FUNCTION ("step", "2", "%11: f32[2], %12: f32[2], %13: f32[2]", "%15, %14", \
            "%14 \"p\" = multiply(%12, %13): f32[2] scope(\"cell\") %15 \"s\" = add(%11, %14): f32[2] scope(\"rnn/sum\")")

/* A scan over rows or columns of x: f32[3,2] or f32[2,3]. */
#define SCAN(x, attributes, stack) \
  MODULE (MAIN ("%1 \"c\": f32[2], %2 \"x\": " x ", %3 \"k\": f32[2]", "%5, %6", \
                "%4 = scan(%1, %2, %3) {body = @step #2, length = 3, n_carries = 1, n_xs = 1, " attributes "}: (f32[2], " stack ") scope(\"rnn\")" \
                "%5 \"last\" = result(%4) {index = 0}: f32[2] %6 \"all\" = result(%4) {index = 1}: " stack), \
          STEP)

static const char *const scans[] = {
  SCAN ("f32[3,2]", "axes = [0], y_axes = [0]", "f32[3,2]"),
  SCAN ("f32[2,3]", "axes = [1], y_axes = [1]", "f32[2,3]"),
  SCAN ("f32[3,2]", "axes = [0], y_axes = [1], reverse = 1", "f32[2,3]"),
  SCAN ("f32[2,3]", "axes = [1], y_axes = [0], reverse = 1", "f32[3,2]"),
};

static void
test_scan (gconstpointer data)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_unroll, NULL, data);

  g_assert_cmpuint (count_control (c->after), ==, 0);
  g_assert_cmpuint (c->after->n_functions, ==, 1);
  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_MULTIPLY), ==, 3);
  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_SLICE), ==, 3);
  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_CONCATENATE), ==, 1);
  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_TUPLE) + pass_count (c->after, GANTRY_OP_RESULT), ==, 0);
}

/* Where the copies stand, what they are called, and what they came from. */
static void
test_places (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_unroll, NULL, scans[0]);
  const GantryNode *product = find (c->after, GANTRY_OP_MULTIPLY, 2), *sum = find (c->after, GANTRY_OP_ADD, 1);
  const GantryNode *slice = find (c->after, GANTRY_OP_SLICE, 1), *stack = find (c->after, GANTRY_OP_CONCATENATE, 0);

  g_assert_cmpstr (scope_of (c->after, product), ==, "rnn/iteration.2/cell");
  /* A body whose scopes repeat its caller's. */
  g_assert_cmpstr (scope_of (c->after, sum), ==, "rnn/iteration.1/sum");
  g_assert_cmpstr (scope_of (c->after, slice), ==, "rnn/iteration.1");
  g_assert_cmpstr (scope_of (c->after, stack), ==, "rnn");
  g_assert_cmpstr (gantry_context_string (c->context, product->name), ==, "p");
  g_assert_cmpstr (gantry_context_string (c->context, stack->name), ==, "all");
  g_assert_cmpuint (product->n_origins, ==, 1);
  g_assert_cmpuint (c->after->origins[product->origins], ==, 14);
  g_assert_cmpuint (c->after->origins[slice->origins], ==, 4);
  g_assert_cmpuint (gantry_module_successor (c->after, 5), ==, pass_result (c->after, 0)->id);
}

static void
test_length (void)
{
  g_autoptr (PassCase) none = pass_case_new (&gantry_pass_unroll, NULL,
                                             MODULE (MAIN ("%1: f32[2], %2: f32[0,2], %3: f32[2]", "%5, %6",
                                                           "%4 = scan(%1, %2, %3) {body = #2, length = 0, n_carries = 1, n_xs = 1, axes = [0], y_axes = [0]}:"
                                                           " (f32[2], f32[0,2]) %5 = result(%4) {index = 0}: f32[2] %6 = result(%4) {index = 1}: f32[0,2]"),
                                                     STEP));
  g_autoptr (PassCase) one = pass_case_new (&gantry_pass_unroll, NULL,
                                            MODULE (MAIN ("%1: f32[2], %2: f32[1,2], %3: f32[2]", "%5, %6",
                                                          "%4 = scan(%1, %2, %3) {body = #2, length = 1, n_carries = 1, n_xs = 1, axes = [0], y_axes = [0]}:"
                                                          " (f32[2], f32[1,2]) %5 = result(%4) {index = 0}: f32[2] %6 = result(%4) {index = 1}: f32[1,2]"),
                                                    STEP));

  g_assert_cmpuint (pass_result (none->after, 0)->id, ==, 1);
  g_assert_cmpuint (pass_count (one->after, GANTRY_OP_CONCATENATE), ==, 0);
}

/* No xs, no ys: the value of a scan that gives one thing is that thing. */
static void
test_single (void)
{
  g_autoptr (PassCase) c = pass_case_new (
    &gantry_pass_unroll, NULL,
    MODULE (MAIN ("%1: f32[2]", "%2", "%2 = scan(%1) {body = #2, length = 4, n_carries = 1, n_xs = 0, axes = ints[], y_axes = ints[]}: f32[2]"),
            FUNCTION ("f", "2", "%11: f32[2]", "%12", "%12 = tanh(%11): f32[2]")));

  g_assert_cmpuint (c->after->n_nodes, ==, 5);
}

/* What one scan stacks and another cuts: the values meet, and nothing is left of the stack; in each direction and along
 * each axis. The second scan is in phase backward, and one of its nodes in phase update. */
#define PAIR(axis, stack, attributes) \
  MODULE (MAIN ("%1: f32[2], %2: f32[3,2]", "%6", \
                "%3 = scan(%1, %2) {body = #2, length = 3, n_carries = 1, n_xs = 1, axes = [0], y_axes = [" axis "]}:" \
                " (f32[2], " stack ") %4 = result(%3) {index = 0}: f32[2] %5 = result(%3) {index = 1}: " stack \
                " %6 = scan(%4, %5) {body = #3, length = 3, n_carries = 1, n_xs = 1, axes = [" axis "], y_axes = ints[]" attributes \
                "}: f32[2] phase(backward)"), \
          FUNCTION ("forward", "2", "%11: f32[2], %12: f32[2]", "%13, %14", "%13 = add(%11, %12): f32[2] %14 = tanh(%13): f32[2]") \
            FUNCTION ("backward", "3", "%21: f32[2], %22: f32[2]", "%24", "%23 = multiply(%21, %22): f32[2] %24 = negate(%23): f32[2] phase(update)"))

static void
test_pair (void)
{
  static const char *const texts[] = {
    PAIR ("0", "f32[3,2]", ""),
    PAIR ("0", "f32[3,2]", ", reverse = 1"),
    PAIR ("1", "f32[2,3]", ""),
    PAIR ("1", "f32[2,3]", ", reverse = 1"),
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (PassCase) c = pass_case_new (&gantry_pass_unroll, NULL, texts[i]);
      const GantryNode *product = find (c->after, GANTRY_OP_MULTIPLY, 0), *saved;

      g_assert_cmpuint (pass_count (c->after, GANTRY_OP_CONCATENATE), ==, 0);
      /* Three slices of the one parameter and their reshapes, three times five nodes, two parameters. */
      g_assert_cmpuint (c->after->n_nodes, ==, 2 + 6 + 3 * 2 + 3 * 2);
      g_assert_cmpint (product->phase, ==, GANTRY_PHASE_BACKWARD);
      g_assert_cmpint (find (c->after, GANTRY_OP_NEGATE, 0)->phase, ==, GANTRY_PHASE_UPDATE);
      g_assert_cmpint (find (c->after, GANTRY_OP_ADD, 0)->phase, ==, GANTRY_PHASE_FORWARD);
      saved = gantry_node_operand (c->after, product, 1);
      g_assert_true (saved == find (c->after, GANTRY_OP_TANH, i % 2 == 0 ? 0 : 2));
    }
}

/* A stack of weights that only scans cut is never made; one that somebody else reads as well is. */
#define STACKED(extra, results) \
  MODULE (MAIN ("%1: f32[2], %2: f32[2], %3: f32[2], %9: f32[2]", results, \
                "%4 = reshape(%2) {shape = [2,1]}: f32[2,1] %5 = reshape(%3) {shape = [2,1]}: f32[2,1]" \
                " %6 = concatenate(%4, %5) {dimension = 1}: f32[2,2] " extra \
                " %7 = scan(%1, %6) {body = #2, length = 2, n_carries = 1, n_xs = 1, axes = [1], y_axes = ints[]}: f32[2]" \
                " %8 = scan(%9, %6) {body = #2, length = 2, n_carries = 1, n_xs = 1, axes = [1], y_axes = ints[]}: f32[2]"), \
          FUNCTION ("f", "2", "%11: f32[2], %12: f32[2]", "%13", "%13 = multiply(%11, %12): f32[2]"))

static void
test_stacked_weights (void)
{
  g_autoptr (PassCase) gone = pass_case_new (&gantry_pass_unroll, NULL, STACKED ("", "%7, %8"));
  g_autoptr (PassCase) read = pass_case_new (&gantry_pass_unroll, NULL, STACKED ("%20 = negate(%6): f32[2,2]", "%7, %8, %20"));
  g_autoptr (PassCase) result = pass_case_new (&gantry_pass_unroll, NULL, STACKED ("", "%7, %8, %6"));

  g_assert_cmpuint (gone->after->n_nodes, ==, 4 + 4);
  g_assert_cmpuint (pass_count (read->after, GANTRY_OP_CONCATENATE), ==, 1);
  g_assert_cmpuint (pass_count (read->after, GANTRY_OP_SLICE), ==, 0);
  g_assert_cmpuint (pass_count (result->after, GANTRY_OP_CONCATENATE), ==, 1);
  g_assert_cmpuint (pass_count (result->after, GANTRY_OP_SLICE), ==, 0);
}

/* Slices that the program itself takes of a stack. */
static void
test_cut_by_slices (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_unroll, NULL,
                                          MODULE (MAIN ("%1: f32[2]", "%3, %4",
                                                        "%2 = scan(%1) {body = #2, length = 3, n_carries = 1, n_xs = 0, axes = ints[], y_axes = [1]}:"
                                                        " (f32[2], f32[2,3]) %5 = result(%2) {index = 1}: f32[2,3]"
                                                        " %3 = slice(%5) {start_indices = [0,2], limit_indices = [2,3], strides = [1,1]}: f32[2,1]"
                                                        " %4 = slice(%5) {start_indices = [0,0], limit_indices = [2,1], strides = [1,1]}: f32[2,1]"),
                                                  FUNCTION ("f", "2", "%11: f32[2]", "%12, %12", "%12 = tanh(%11): f32[2]")));

  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_CONCATENATE) + pass_count (c->after, GANTRY_OP_SLICE), ==, 0);
}

static void
test_nested (void)
{
  g_autoptr (PassCase)
    c = pass_case_new (&gantry_pass_unroll, NULL,
                       MODULE (MAIN ("%1: f32[], %2: f32[2,3]", "%4, %5",
                                     "%3 = scan(%1, %2) {body = #2, length = 2, n_carries = 1, n_xs = 1, axes = [0], y_axes = [0]}:"
                                     " (f32[], f32[2,3]) scope(\"a\") %4 = result(%3) {index = 0}: f32[] %5 = result(%3) {index = 1}: f32[2,3]"),
                               FUNCTION ("row", "2", "%11: f32[], %12: f32[3]", "%14, %15",
                                         "%13 = scan(%11, %12) {body = #3, length = 3, n_carries = 1, n_xs = 1, axes = [0], y_axes = [0],"
                                         " reverse = 1}: (f32[], f32[3]) scope(\"b\")"
                                         " %14 = result(%13) {index = 0}: f32[] %15 = result(%13) {index = 1}: f32[3]")
                                 FUNCTION ("cell", "3", "%21: f32[], %22: f32[]", "%23, %23", "%23 = add(%21, %22): f32[] scope(\"c\")")));

  g_assert_cmpuint (count_control (c->after), ==, 0);
  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_ADD), ==, 6);
  g_assert_cmpstr (scope_of (c->after, find (c->after, GANTRY_OP_ADD, 3)), ==, "a/iteration.1/b/iteration.2/c");
}

/* Branches */

#define BRANCH(before, predicate) \
  MODULE (MAIN ("%1: f32[2], %2: f32[]", "%5, %6", \
                before " %4 = if(" predicate ", %1, %2) {then = #2, else = #3}: (f32[2], f32[]) scope(\"if\")" \
                       " %5 = result(%4) {index = 0}: f32[2] %6 = result(%4) {index = 1}: f32[]"), \
          FUNCTION ("yes", "2", "%11: f32[2], %12: f32[]", "%13, %12", "%13 = tanh(%11): f32[2]") \
            FUNCTION ("no", "3", "%21: f32[2], %22: f32[]", "%23, %24", "%23 = negate(%21): f32[2] %24 = abs(%22): f32[]"))

static void
test_branch (void)
{
  g_autoptr (PassCase)
    data = pass_case_new (&gantry_pass_unroll, NULL,
                          BRANCH ("%9 = constant() {value = splat<f32[]: 0.0>}: f32[] %3 = compare(%2, %9) {comparison_direction = \"LT\"}: bool[]", "%3"));
  g_autoptr (PassCase) constant = pass_case_new (&gantry_pass_unroll, NULL, BRANCH ("%3 = constant() {value = splat<bool[]: false>}: bool[]", "%3"));

  g_assert_cmpuint (count_control (data->after), ==, 0);
  g_assert_cmpuint (pass_count (data->after, GANTRY_OP_SELECT), ==, 2);
  g_assert_cmpstr (scope_of (data->after, find (data->after, GANTRY_OP_NEGATE, 0)), ==, "if/else");
  g_assert_cmpuint (pass_count (constant->after, GANTRY_OP_SELECT) + pass_count (constant->after, GANTRY_OP_TANH), ==, 0);
  g_assert_cmpuint (pass_count (constant->after, GANTRY_OP_NEGATE), ==, 1);
}

/* Loops */

#define LOOP(attributes, limit) \
  MODULE (MAIN ("%1: f32[2], %2: i32[]", "%6", \
                "%3 = constant() {value = dense<i32[]: 0>}: i32[] %4 = constant() {value = dense<i32[]: 5>}: i32[]" \
                " %5 = while(%3, %1, " limit ") {cond = #2, body = #3" attributes "}: (i32[], f32[2], i32[]) scope(\"loop\")" \
                " %6 = result(%5) {index = 1}: f32[2]"), \
          FUNCTION ("more", "2", "%11: i32[], %12: f32[2], %13: i32[]", "%14", "%14 = compare(%11, %13) {comparison_direction = \"LT\"}: bool[]") \
            FUNCTION ("trip", "3", "%21: i32[], %22: f32[2], %23: i32[]", "%25, %26, %23", \
                      "%24 = constant() {value = dense<i32[]: 1>}: i32[] %25 = add(%21, %24): i32[] %26 = tanh(%22): f32[2]"))

static void
test_counted_loop (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_unroll, NULL, LOOP ("", "%4"));
  g_autoptr (PassCase) bounded = pass_case_new (&gantry_pass_unroll, NULL, LOOP (", most_trips = 100", "%4"));

  g_assert_cmpuint (count_control (c->after), ==, 0);
  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_TANH), ==, 5);
  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_SELECT) + pass_count (c->after, GANTRY_OP_COMPARE), ==, 0);
  g_assert_cmpuint (pass_count (bounded->after, GANTRY_OP_TANH), ==, 5);
  g_assert_cmpstr (scope_of (c->after, find (c->after, GANTRY_OP_TANH, 4)), ==, "loop/iteration.4");
}

/* The limit is a parameter: arguments are from -9 to 9, so ten trips are enough whatever it is. */
static void
test_bounded_loop (void)
{
  guint32 base = test_seed (0);

  for (guint32 seed = 1; seed <= 20; seed++)
    {
      g_autoptr (PassCase) c = pass_case_new (&gantry_pass_unroll, NULL, LOOP (", most_trips = 10", "%2"));

      g_assert_cmpuint (count_control (c->after), ==, 0);
      g_assert_cmpuint (pass_count (c->after, GANTRY_OP_TANH), ==, 10);
      g_assert_cmpuint (pass_count (c->after, GANTRY_OP_COMPARE), ==, 10);
      pass_check_same (c->before, c->after, base + seed, 1e-6);
    }
}

/* What stays control */

static guint32
kept_attr (const PassCase *c, GantryOp op, const char *key)
{
  const GantryNode *node = find (c->after, op, 0);

  return (guint32) gantry_attrs_int (c->context, node->attrs, key, -1);
}

/* A loop whose end depends on data stays one, what it does not change is no result of it; so does a scan
 * beyond the limit, whose slices then lie along the first dimension. Each computes what it did. */
static void
test_kept_loops (void)
{
  GantryPassOptions few = GANTRY_PASS_OPTIONS_INIT;
  g_autoptr (PassCase) loop = pass_case_new (&gantry_pass_unroll, NULL, LOOP ("", "%2"));
  g_autoptr (PassCase) scan = NULL;

  few.most_unrolled = 1;
  scan = pass_case_new (&gantry_pass_unroll, &few,
                        MODULE (MAIN ("%1: f32[2], %2: f32[2,3], %9: f32[]", "%4, %5",
                                      "%3 = scan(%1, %2, %9) {body = #2, length = 3, n_carries = 1, n_xs = 1, axes = [1], y_axes = [1], reverse = 1}:"
                                      " (f32[2], f32[2,3]) %4 = result(%3) {index = 0}: f32[2] %5 = result(%3) {index = 1}: f32[2,3]"),
                                FUNCTION ("f", "2", "%11: f32[2], %12: f32[2], %13: f32[]", "%15, %16",
                                          "%14 = broadcast_in_dim(%13) {broadcast_dimensions = ints[], shape = [2]}: f32[2]"
                                          " %15 = add(%11, %12): f32[2] %16 = multiply(%15, %14): f32[2]")));
  g_assert_cmpuint (pass_count (loop->after, GANTRY_OP_WHILE), ==, 1);
  g_assert_cmpuint (kept_attr (loop, GANTRY_OP_WHILE, "n_carries"), ==, 2);
  pass_check_same (loop->before, loop->after, test_seed (1), 1e-6);
  g_assert_cmpuint (pass_count (scan->after, GANTRY_OP_SCAN), ==, 1);
  g_assert_cmpuint (pass_count (scan->after, GANTRY_OP_TRANSPOSE), ==, 2);
  pass_check_same (scan->before, scan->after, test_seed (2), 1e-6);
}

/* What repeats itself along the trips is given to all of them as one slice. */
static void
test_kept_repeated (void)
{
  GantryPassOptions few = GANTRY_PASS_OPTIONS_INIT;
  g_autoptr (PassCase) c = NULL;

  few.most_unrolled = 1;
  c = pass_case_new (
    &gantry_pass_unroll, &few,
    MODULE (MAIN ("%1: f32[2], %2: f32[2,3], %7: f32[5], %8: f32[2]", "%4, %5",
                  "%9 = broadcast_in_dim(%7) {broadcast_dimensions = [2], shape = [2,3,5]}: f32[2,3,5]"
                  "%10 = broadcast_in_dim(%8) {broadcast_dimensions = [0], shape = [2,3]}: f32[2,3]"
                  "%3 = scan(%1, %9, %2, %10, %1) {body = #2, length = 3, n_carries = 1, n_xs = 3, axes = [1, 1, 1], y_axes = [0]}: (f32[2], f32[3,2])"
                  " %4 = result(%3) {index = 0}: f32[2] %5 = result(%3) {index = 1}: f32[3,2]"),
            FUNCTION ("f", "2", "%11: f32[2], %12: f32[2,5], %13: f32[2], %14: f32[2], %15: f32[2]", "%19, %18",
                      "%16 = reduce(%12) {dimensions = [1], kind = \"add\"}: f32[2]"
                      " %17 = multiply(%13, %14): f32[2] %18 = add(%16, %17): f32[2] %20 = add(%11, %18): f32[2] %19 = multiply(%20, %15): f32[2]")));
  g_assert_cmpuint (kept_attr (c, GANTRY_OP_SCAN, "n_xs"), ==, 1);
  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_TRANSPOSE), ==, 1);
  pass_check_same (c->before, c->after, test_seed (3), 1e-6);
}

/* An arm that may fail, or that does something, runs only where it is taken. */
static void
test_kept_branch (void)
{
  g_autoptr (PassCase)
    c = pass_case_new (&gantry_pass_unroll, NULL,
                       MODULE (MAIN ("%1: bool[], %2: i32[]", "%3", "%3 = if(%1, %2) {then = #2, else = #3}: i32[]"),
                               FUNCTION ("yes", "2", "%11: i32[]", "%13", "%12 = constant() {value = dense<i32[]: 7>}: i32[] %13 = divide(%12, %11): i32[]")
                                 FUNCTION ("no", "3", "%21: i32[]", "%21", "")));

  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_IF), ==, 1);
  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_SELECT), ==, 0);
}

/* Refusals */

static void
assert_refused (const GantryPass *pass, const char *text, GantryError code, const char *part)
{
  const GantryPassOptions options = GANTRY_PASS_OPTIONS_INIT;
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, text, -1, "test.gir", &error);
  g_autoptr (GantryModule) after = NULL;

  g_assert_no_error (error);
  after = pass->run (module, &options, NULL, &error);
  g_assert_null (after);
  g_assert_error (error, GANTRY_ERROR, (gint) code);
  if (strstr (error->message, part) == NULL)
    g_error ("'%s' is not in '%s'", part, error->message);
}

#define COLLECTING(limit, exact) \
  MODULE (MAIN ("%1: f32[2], %2: i32[]", "%5", \
                "%3 = constant() {value = dense<i32[]: 0>}: i32[]" limit " %4 = while(%3, %1, %9) {cond = #2, body = #3, exact_trips = " exact \
                "}: (i32[], f32[2], i32[])" \
                " %5 = result(%4) {index = 1}: f32[2]"), \
          FUNCTION ("more", "2", "%11: i32[], %12: f32[2], %13: i32[]", "%14", "%14 = compare(%11, %13) {comparison_direction = \"LT\"}: bool[]") \
            FUNCTION ("trip", "3", "%21: i32[], %22: f32[2], %23: i32[]", "%25, %26, %23", \
                      "%24 = constant() {value = dense<i32[]: 1>}: i32[] %25 = add(%21, %24): i32[] %26 = tanh(%22): f32[2]"))

#define THREE " %8 = constant() {value = dense<i32[]: 3>}: i32[] %9 = clamp(%8, %2, %8): i32[]"

/* What follows the carries is given to each trip as it is: written out, bounded by a number, and kept. */
static void
test_captures (void)
{
#define CAPTURING(limit, more) \
  MODULE (MAIN ("%1: f32[2], %2: i32[]", "%5", \
                "%3 = constant() {value = dense<i32[]: 0>}: i32[]" limit " %4 = while(%3, %1, %9, %1) {cond = #2, body = #3, n_carries = 2" more \
                "}: (i32[], f32[2])" \
                " %5 = result(%4) {index = 1}: f32[2]"), \
          FUNCTION ("more", "2", "%11: i32[], %12: f32[2], %13: i32[], %15: f32[2]", "%14", "%14 = compare(%11, %13) {comparison_direction = \"LT\"}: bool[]") \
            FUNCTION ("trip", "3", "%21: i32[], %22: f32[2], %23: i32[], %28: f32[2]", "%25, %27", \
                      "%24 = constant() {value = dense<i32[]: 1>}: i32[] %25 = add(%21, %24): i32[] %26 = tanh(%22): f32[2]" \
                      " %27 = add(%26, %28): f32[2]"))
  static const struct
  {
    const char *text;
    guint loops, tanhs;
  } cases[] = {
    { CAPTURING (" %9 = constant() {value = dense<i32[]: 3>}: i32[]", ""), 0, 3 },
    { CAPTURING (THREE, ", most_trips = 4"), 0, 4 },
    { CAPTURING (THREE, ""), 1, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (PassCase) c = pass_case_new (&gantry_pass_unroll, NULL, cases[i].text);

      g_assert_cmpuint (pass_count (c->after, GANTRY_OP_WHILE), ==, cases[i].loops);
      g_assert_cmpuint (pass_count (c->after, GANTRY_OP_TANH), ==, cases[i].tanhs);
    }
}

/* What a loop collects has a row for each trip: as many as the file says, or it is not run. */
static void
test_exact_trips (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_unroll, NULL, COLLECTING (" %9 = constant() {value = dense<i32[]: 3>}: i32[]", "3"));

  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_TANH), ==, 3);
  assert_refused (&gantry_pass_unroll, COLLECTING (" %9 = constant() {value = dense<i32[]: 4>}: i32[]", "3"), GANTRY_ERROR_UNSUPPORTED,
                  "it makes 4 trips where its scan outputs are declared with 3 rows");
  /* What the run decides it counts, also where a bound is small enough to be written out. */
  for (guint i = 0; i < 2; i++)
    {
      static const char *const exact[] = { COLLECTING (THREE, "3"), COLLECTING (THREE, "3, most_trips = 4") };
      g_autoptr (PassCase) decided = pass_case_new (&gantry_pass_unroll, NULL, exact[i]);

      g_assert_cmpuint (pass_count (decided->after, GANTRY_OP_WHILE), ==, 1);
    }
}

static void
test_refused (void)
{
  /* Seen at the first trip: the condition reads only what each trip returns as it is. */
  assert_refused (&gantry_pass_unroll,
                  MODULE (MAIN ("%1: f32[]", "%4",
                                "%2 = constant() {value = dense<i32[]: 0>}: i32[]"
                                " %3 = while(%2, %1) {cond = #2, body = #3}: (i32[], f32[])"
                                " %4 = result(%3) {index = 1}: f32[]"),
                          FUNCTION ("more", "2", "%11: i32[], %12: f32[]", "%13", "%13 = compare(%11, %11) {comparison_direction = \"EQ\"}: bool[]")
                            FUNCTION ("trip", "3", "%21: i32[], %22: f32[]", "%21, %23", "%23 = tanh(%22): f32[]")),
                  GANTRY_ERROR_UNSUPPORTED, "it never ends");
  /* A loop that never ends. */
  assert_refused (&gantry_pass_unroll,
                  MODULE (MAIN ("", "%2",
                                "%1 = constant() {value = dense<i32[]: 0>}: i32[]"
                                " %2 = while(%1) {cond = #2, body = #3}: i32[]"),
                          FUNCTION ("more", "2", "%11: i32[]", "%12", "%12 = constant() {value = dense<bool[]: true>}: bool[]")
                            FUNCTION ("trip", "3", "%21: i32[]", "%21", "")),
                  GANTRY_ERROR_UNSUPPORTED, "it never ends");
  assert_refused (&gantry_pass_inline,
                  MODULE (MAIN ("%1: f32[]", "%2", "%2 = call(%1) {body = #2}: f32[]"),
                          FUNCTION ("f", "2", "%11: f32[]", "%12", "%12 = call(%11) {body = #3}: f32[]")
                            FUNCTION ("g", "3", "%21: f32[]", "%22", "%22 = call(%21) {body = #2}: f32[]")),
                  GANTRY_ERROR_UNSUPPORTED, "calls itself");
}

/* Inline */

static void
test_inline (void)
{
  g_autoptr (PassCase)
    c = pass_case_new (&gantry_pass_inline, NULL,
                       MODULE (MAIN ("%1: f32[2]", "%3, %4",
                                     "%2 = call(%1, %1) {body = #2}: (f32[2], f32[2]) scope(\"outer\") phase(update)"
                                     " %3 \"y\" = result(%2) {index = 1}: f32[2] %4 = call(%3) {body = #3}: f32[2] scope(\"again\")"),
                               FUNCTION ("f", "2", "%11: f32[2], %12: f32[2]", "%13, %14",
                                         "%13 = call(%11) {body = #3}: f32[2] scope(\"outer/mid\") %14 = add(%13, %12): f32[2] scope(\"tail\")")
                                 FUNCTION ("g", "3", "%21: f32[2]", "%22", "%22 = tanh(%21): f32[2] scope(\"leaf\") phase(backward)")));
  const GantryNode *inner = find (c->after, GANTRY_OP_TANH, 0), *sum = find (c->after, GANTRY_OP_ADD, 0);

  g_assert_cmpuint (c->after->n_functions, ==, 1);
  g_assert_cmpuint (c->after->n_nodes, ==, 4);
  g_assert_cmpstr (scope_of (c->after, inner), ==, "outer/mid/leaf");
  g_assert_cmpstr (scope_of (c->after, sum), ==, "outer/tail");
  g_assert_cmpstr (scope_of (c->after, find (c->after, GANTRY_OP_TANH, 1)), ==, "again/leaf");
  g_assert_cmpint (inner->phase, ==, GANTRY_PHASE_BACKWARD);
  g_assert_cmpint (sum->phase, ==, GANTRY_PHASE_UPDATE);
  g_assert_cmpstr (gantry_context_string (c->context, sum->name), ==, "y");
  g_assert_cmpuint (c->after->origins[inner->origins], ==, 22);
}

/* Calls in the body of a scan; the scan stays, and so does its body. */
static void
test_inline_in_body (void)
{
  g_autoptr (PassCase) c = pass_case_new (
    &gantry_pass_inline, NULL,
    MODULE (MAIN ("%1: f32[2]", "%2", "%2 = scan(%1) {body = #2, length = 3, n_carries = 1, n_xs = 0, axes = ints[], y_axes = ints[]}: f32[2]"),
            FUNCTION ("f", "2", "%11: f32[2]", "%12", "%12 = call(%11) {body = #3}: f32[2]")
              FUNCTION ("g", "3", "%21: f32[2]", "%22", "%22 = tanh(%21): f32[2]")));
  g_autoptr (PassCase) nothing = pass_case_new (&gantry_pass_inline, NULL, PROGRAM ("%1: f32[2]", "%1", ""));

  g_assert_cmpuint (c->after->n_functions, ==, 2);
  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_CALL), ==, 0);
  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_SCAN), ==, 1);
  pass_assert_unchanged (nothing);
}

/* A long scan: its time and size are linear, which a test of the count holds. */
static void
test_long (void)
{
  g_autoptr (PassCase)
    c = pass_case_new (&gantry_pass_unroll, NULL,
                       MODULE (MAIN ("%1: f32[], %2: f32[5000]", "%4, %5",
                                     "%3 = scan(%1, %2) {body = #2, length = 5000, n_carries = 1, n_xs = 1, axes = [0], y_axes = [0]}:"
                                     " (f32[], f32[5000]) %4 = result(%3) {index = 0}: f32[] %5 = result(%3) {index = 1}: f32[5000]"),
                               FUNCTION ("f", "2", "%11: f32[], %12: f32[]", "%13, %14", "%13 = add(%11, %12): f32[] %14 = tanh(%13): f32[]")));

  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_TANH), ==, 5000);
  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_CONCATENATE), ==, 5 + 1);
}

/* The condition of a loop that stays one is asked by the loop alone. */
static void
test_effect_in_condition (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  const GantryPassOptions options = GANTRY_PASS_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule)
    before = gantry_module_from_text (context,
                                      MODULE (MAIN ("%1: f32[4]", "%2", "%2 = while(%1) {cond = #2, body = #3}: f32[4]"),
                                              FUNCTION ("ask", "2", "%11: f32[4]", "%12", "%12 = custom_call(%11) {target = \"ask\", to = type bool[]}: bool[]")
                                                FUNCTION ("trip", "3", "%21: f32[4]", "%22", "%22 = tanh(%21): f32[4]")),
                                      -1, "t", &error);
  g_autoptr (GantryModule) after = before != NULL ? gantry_pass_unroll.run (before, &options, NULL, &error) : NULL;

  g_assert_no_error (error);
  g_assert_cmpuint (pass_count (after, GANTRY_OP_WHILE), ==, 1);
  g_assert_cmpuint (pass_count (after, GANTRY_OP_CUSTOM_CALL), ==, 1);
}

/* Both arms of a branch name the next function: each is looked at once, not 2^40 times. */
static void
test_shared_arms (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  GantryPassOptions options = GANTRY_PASS_OPTIONS_INIT;
  g_autoptr (GString) text = g_string_new ("module \"t\" { func @main #1 (%1: bool[], %2: i32[]) -> (%3) {"
                                           " %3 = if(%1, %1, %2) {then = #2, else = #2}: i32[] }");
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) before = NULL, after = NULL;

  for (guint f = 2; f < 42; f++)
    g_string_append_printf (text,
                            " func @f%u #%u (%%%u: bool[], %%%u: i32[]) -> (%%%u) {"
                            " %%%u = if(%%%u, %%%u, %%%u) {then = #%u, else = #%u}: i32[] }",
                            f, f, 10 * f, 10 * f + 1, 10 * f + 2, 10 * f + 2, 10 * f, 10 * f, 10 * f + 1, f + 1, f + 1);
  g_string_append (text, " func @last #42 (%420: bool[], %421: i32[]) -> (%422) { %422 = divide(%421, %421): i32[] } }");
  before = gantry_module_from_text (context, text->str, -1, "t", &error);
  g_assert_no_error (error);
  /* Copies of the bodies are limited like all nodes. */
  options.max_nodes = 10000;
  after = gantry_pass_unroll.run (before, &options, NULL, &error);
  g_assert_true ((after != NULL) != (error != NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (scans); i++)
    {
      g_autofree char *path = g_strdup_printf ("/passes/unroll/scan/%u", i);

      g_test_add_data_func (path, scans[i], test_scan);
    }
  g_test_add_func ("/passes/unroll/places", test_places);
  g_test_add_func ("/passes/unroll/length", test_length);
  g_test_add_func ("/passes/unroll/single", test_single);
  g_test_add_func ("/passes/unroll/pair", test_pair);
  g_test_add_func ("/passes/unroll/stacked-weights", test_stacked_weights);
  g_test_add_func ("/passes/unroll/cut-by-slices", test_cut_by_slices);
  g_test_add_func ("/passes/unroll/nested", test_nested);
  g_test_add_func ("/passes/unroll/branch", test_branch);
  g_test_add_func ("/passes/unroll/counted-loop", test_counted_loop);
  g_test_add_func ("/passes/unroll/bounded-loop", test_bounded_loop);
  g_test_add_func ("/passes/unroll/kept-loops", test_kept_loops);
  g_test_add_func ("/passes/unroll/kept-repeated", test_kept_repeated);
  g_test_add_func ("/passes/unroll/kept-branch", test_kept_branch);
  g_test_add_func ("/passes/unroll/effect-in-condition", test_effect_in_condition);
  g_test_add_func ("/passes/unroll/shared-arms", test_shared_arms);
  g_test_add_func ("/passes/unroll/exact-trips", test_exact_trips);
  g_test_add_func ("/passes/unroll/captures", test_captures);
  g_test_add_func ("/passes/unroll/refused", test_refused);
  g_test_add_func ("/passes/unroll/long", test_long);
  g_test_add_func ("/passes/inline/nested", test_inline);
  g_test_add_func ("/passes/inline/in-body", test_inline_in_body);
  return g_test_run ();
}
