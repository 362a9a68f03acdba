/* SPDX-License-Identifier: Apache-2.0 */
/* simplify: the table of identities, each in both orders, and where each must not be applied. */
#include "tests/core/passes/pass-test.h"
#include <math.h>

static const GantryPassOptions finite_values = { .finite_math = TRUE, .fold_bytes = 1 << 20 };

#define X "%1 \"x\": f32[2,3]"
#define SPLAT(id, scalar, number) \
  "%" scalar " = constant() {value = splat<f32[]: " number ">}: f32[] " \
  "%" id " = broadcast_in_dim(%" scalar ") {shape = [2,3], broadcast_dimensions = ints[]}: f32[2,3] "

/* The program's result is its parameter. */
static void
assert_is_x (const PassCase *c)
{
  g_assert_cmpint (pass_result (c->after, 0)->op, ==, GANTRY_OP_PARAMETER);
}

static const struct
{
  const char *name;
  const char *body; /* of a program from x: f32[2,3] to %9 */
} to_x[] = {
  { "multiply-one", SPLAT ("3", "2", "1.0") "%9 = multiply(%1, %3): f32[2,3]" },
  { "one-multiply", SPLAT ("3", "2", "1.0") "%9 = multiply(%3, %1): f32[2,3]" },
  { "add-zero", SPLAT ("3", "2", "0.0") "%9 = add(%1, %3): f32[2,3]" },
  { "zero-add", SPLAT ("3", "2", "0.0") "%9 = add(%3, %1): f32[2,3]" },
  { "subtract-zero", SPLAT ("3", "2", "0.0") "%9 = subtract(%1, %3): f32[2,3]" },
  { "divide-one", SPLAT ("3", "2", "1.0") "%9 = divide(%1, %3): f32[2,3]" },
  { "power-one", SPLAT ("3", "2", "1.0") "%9 = power(%1, %3): f32[2,3]" },
  { "dense-ones", "%3 = constant() {value = dense<f32[2,3]: 1.0, 1.0, 1.0, 1.0, 1.0, 1.0>}: f32[2,3] "
                  "%9 = multiply(%1, %3): f32[2,3]" },
  { "negate-twice", "%3 = negate(%1): f32[2,3] %9 = negate(%3): f32[2,3]" },
  { "transpose-twice", "%3 = transpose(%1) {permutation = [1,0]}: f32[3,2] "
                       "%9 = transpose(%3) {permutation = [1,0]}: f32[2,3]" },
  { "transpose-nothing", "%9 = transpose(%1) {permutation = [0,1]}: f32[2,3]" },
  { "reshape-back", "%3 = reshape(%1) {shape = [6]}: f32[6] %4 = reshape(%3) {shape = [3,2]}: f32[3,2] "
                    "%9 = reshape(%4) {shape = [2,3]}: f32[2,3]" },
  { "slice-all", "%9 = slice(%1) {start_indices = [0,0], limit_indices = [2,3], strides = [1,1]}: f32[2,3]" },
  { "concatenate-one", "%9 = concatenate(%1) {dimension = 0}: f32[2,3]" },
  { "convert-same", "%9 = convert(%1) {to = type f32[]}: f32[2,3]" },
  { "select-same", "%2 = constant() {value = splat<bool[2,3]: true>}: bool[2,3] %9 = select(%2, %1, %1): f32[2,3]" },
  { "broadcast-same", "%9 = broadcast_in_dim(%1) {shape = [2,3], broadcast_dimensions = [0,1]}: f32[2,3]" },
  { "piece-of-concatenate", "%3 = negate(%1): f32[2,3] %4 = concatenate(%3, %1, %3) {dimension = 1}: f32[2,9] "
                            "%9 = slice(%4) {start_indices = [0,3], limit_indices = [2,6], strides = [1,1]}: f32[2,3]" },
  { "result-of-tuple", "%3 = negate(%1): f32[2,3] %4 = tuple(%3, %1): (f32[2,3], f32[2,3]) "
                       "%9 = result(%4) {index = 1}: f32[2,3]" },
  { "dynamic-slice-whole", "%3 = constant() {value = splat<i32[]: 7>}: i32[] "
                           "%9 = dynamic_slice(%1, %3, %3) {slice_sizes = [2,3]}: f32[2,3]" },
  { "sum-over-nothing", "%9 = reduce(%1) {kind = \"add\", dimensions = ints[]}: f32[2,3]" },
};

static void
test_to_x (gconstpointer data)
{
  const char *body = data;
  g_autofree char *text = g_strconcat (HEAD (X, "%9"), body, TAIL, NULL);
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_simplify, NULL, text);

  g_assert_true (c->after != c->before);
  assert_is_x (c);
}

/* Programs that look like a rule's left side and are not. */
static const PassText unchanged[] = {
  /* NaN and infinities: 0 * x is not 0, unless the user says that there are none. */
  { "multiply-zero", PROGRAM (X, "%9", SPLAT ("3", "2", "0.0") "%9 = multiply(%1, %3): f32[2,3]") },
  { "subtract-self", PROGRAM (X, "%9", "%9 = subtract(%1, %1): f32[2,3]") },
  { "log-exp", PROGRAM (X, "%9", "%3 = exponential(%1): f32[2,3] %9 = log(%3): f32[2,3]") },
  { "nearly-one", PROGRAM (X, "%9", SPLAT ("3", "2", "1.0000001") "%9 = multiply(%1, %3): f32[2,3]") },
  { "not-all-ones", PROGRAM (X, "%9",
                             "%3 = constant() {value = dense<f32[2,3]: 1.0, 1.0, 1.0, 1.0, 1.0, 2.0>}: "
                             "f32[2,3] %9 = multiply(%1, %3): f32[2,3]") },
  { "one-minus-x", PROGRAM (X, "%9", SPLAT ("3", "2", "0.0") "%9 = subtract(%3, %1): f32[2,3]") },
  { "one-over-x", PROGRAM (X, "%9", SPLAT ("3", "2", "1.0") "%9 = divide(%3, %1): f32[2,3]") },
  { "third", PROGRAM (X, "%9", SPLAT ("3", "2", "3.0") "%9 = divide(%1, %3): f32[2,3]") },
  { "convert-there-and-back", PROGRAM (X, "%9", "%3 = convert(%1) {to = type f16[]}: f16[2,3] %9 = convert(%3) {to = type f32[]}: f32[2,3]") },
  { "slice-over-two-pieces", PROGRAM (X, "%9",
                                      "%2 = concatenate(%1, %1) {dimension = 1}: f32[2,6] %9 = slice(%2) {start_indices = [0,2], "
                                      "limit_indices = [2,4], strides = [1,1]}: f32[2,2]") },
  { "dynamic-slice-by-data", PROGRAM (X ", %2: i32[]", "%9", "%9 = dynamic_slice(%1, %2, %2) {slice_sizes = [1,3]}: f32[1,3]") },
  { "reverse-rotation", PROGRAM ("%1: f32[2,3,4]", "%9", "%9 = transpose(%1) {permutation = [1,2,0]}: f32[3,4,2]") },
  { "pad-that-moves", PROGRAM (X, "%9",
                               "%2 = constant() {value = splat<f32[]: 0.0>}: f32[] %9 = pad(%1, %2) {edge_padding_low = [1,0], "
                               "edge_padding_high = [-1,0], interior_padding = [0,0]}: f32[2,3]") },
};

/* x + 0 where the zeros are larger than x: the sum has the zeros' shape, so x itself cannot take its place. */
static void
test_enlarging (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_simplify, NULL,
                                          PROGRAM ("%1: f32[3]", "%9",
                                                   SPLAT ("3", "2", "0.0") "%4 = broadcast_in_dim(%1) {shape = [2,3], broadcast_dimensions = [1]}: f32[2,3] "
                                                                           "%9 = add(%4, %3): f32[2,3]"));
  const GantryType *type = gantry_node_type (c->after, pass_result (c->after, 0));

  g_assert_cmpint (pass_result (c->after, 0)->op, ==, GANTRY_OP_BROADCAST_IN_DIM);
  g_assert_cmpuint (type->rank, ==, 2);
}

/* X * 0 = 0 with the shape of X, for integers always, for floats with finite_math; both orders. */
static void
test_zero (void)
{
  const char *const orders[] = { "%1, %3", "%3, %1" };

  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *floats = g_strconcat (HEAD (X, "%9") SPLAT ("3", "2", "0.0") "%9 = multiply(", orders[i], "): f32[2,3]" TAIL, NULL);
      g_autofree char *ints = g_strconcat (HEAD ("%1: i32[2,3]", "%9") "%3 = constant() {value = splat<i32[2,3]: 0>}: "
                                                                       "i32[2,3] %9 = multiply(",
                                           orders[i], "): i32[2,3]" TAIL, NULL);
      g_autoptr (PassCase) a = pass_case_new (&gantry_pass_simplify, &finite_values, floats);
      g_autoptr (PassCase) b = pass_case_new (&gantry_pass_simplify, NULL, ints);

      g_assert_cmpuint (pass_count (a->after, GANTRY_OP_PARAMETER), ==, 1);
      g_assert_cmpint (pass_result (a->after, 0)->op, !=, GANTRY_OP_MULTIPLY);
      g_assert_cmpint (pass_result (b->after, 0)->op, !=, GANTRY_OP_MULTIPLY);
      g_assert_cmpuint (gantry_node_type (a->after, pass_result (a->after, 0))->rank, ==, 2);
    }
}

/* Log(Exp(X)/Y) = X - Log(Y) */
/* Sums over what a broadcast repeats are products, whatever else is reduced, and whatever shape the operand has. */
static void
test_reduce_of_broadcast (void)
{
  /* clang-format off */
  static const struct { const char *text; guint reduces; } cases[] = {
    { "%2 = broadcast_in_dim(%1) {shape = [2,5,3,4], broadcast_dimensions = [0,2]}: f32[2,5,3,4] "
      "%9 = reduce(%2) {kind = \"add\", dimensions = [1,3]}: f32[2,3]", 0 },
    { "%2 = broadcast_in_dim(%1) {shape = [2,5,3,4], broadcast_dimensions = [0,2]}: f32[2,5,3,4] "
      "%9 = reduce(%2) {kind = \"add\", dimensions = [0,1]}: f32[3,4]", 1 },
    { "%2 = broadcast_in_dim(%1) {shape = [2,5,3,4], broadcast_dimensions = [0,2]}: f32[2,5,3,4] "
      "%9 = reduce(%2) {kind = \"max\", dimensions = [0,1,2,3]}: f32[]", 1 },
    { "%3 = reshape(%1) {shape = [2,1,3]}: f32[2,1,3] "
      "%2 = broadcast_in_dim(%3) {shape = [2,7,3], broadcast_dimensions = [0,1,2]}: f32[2,7,3] "
      "%9 = reduce(%2) {kind = \"add\", dimensions = [1]}: f32[2,3]", 0 },
    { "%2 = broadcast_in_dim(%1) {shape = [2,3,4], broadcast_dimensions = [0,1]}: f32[2,3,4] "
      "%9 = reduce(%2) {kind = \"mul\", dimensions = [2]}: f32[2,3]", 1 },
    { "%3 = convert(%1) {to = type i8[]}: i8[2,3] %2 = broadcast_in_dim(%3) {shape = [2,3,200], broadcast_dimensions = [0,1]}: i8[2,3,200] "
      "%9 = reduce(%2) {kind = \"add\", dimensions = [2]}: i8[2,3]", 1 },
    { "%3 = convert(%1) {to = type i32[]}: i32[2,3] %2 = broadcast_in_dim(%3) {shape = [2,3,200], broadcast_dimensions = [0,1]}: "
      "i32[2,3,200] %9 = reduce(%2) {kind = \"add\", dimensions = [2]}: i32[2,3]", 0 },
  };
  /* clang-format on */

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strconcat (HEAD (X, "%9"), cases[i].text, TAIL, NULL);
      g_autoptr (PassCase) c = pass_case_new (&gantry_pass_simplify, NULL, text);

      g_assert_cmpuint (pass_count (c->after, GANTRY_OP_REDUCE), ==, cases[i].reduces);
      pass_check_same (c->before, c->after, 7 + i, 1e-6);
    }
}

static void
test_log (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_simplify, &finite_values,
                                          PROGRAM (X ", %2 \"y\": f32[2,3]", "%9",
                                                   "%3 = exponential(%1): f32[2,3] %4 = exponential(%2): f32[2,3] %5 = divide(%3, %4): f32[2,3] "
                                                   "%9 = log(%5): f32[2,3]"));
  const GantryNode *result = pass_result (c->after, 0);

  g_assert_cmpint (result->op, ==, GANTRY_OP_SUBTRACT);
  g_assert_cmpint (gantry_node_operand (c->after, result, 0)->op, ==, GANTRY_OP_PARAMETER);
}

static void
test_divide_by_power_of_two (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_simplify, NULL, PROGRAM (X, "%9", SPLAT ("3", "2", "-8.0") "%9 = divide(%1, %3): f32[2,3]"));
  g_autoptr (PassCase) ints = pass_case_new (
    &gantry_pass_simplify, NULL, PROGRAM ("%1: i32[2,3]", "%9", "%3 = constant() {value = splat<i32[2,3]: 8>}: i32[2,3] %9 = divide(%1, %3): i32[2,3]"));

  g_assert_cmpint (pass_result (c->after, 0)->op, ==, GANTRY_OP_MULTIPLY);
  pass_assert_unchanged (ints);
}

static void
test_square (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_simplify, NULL, PROGRAM (X, "%9", SPLAT ("3", "2", "2.0") "%9 = power(%1, %3): f32[2,3]"));
  const GantryNode *result = pass_result (c->after, 0);

  g_assert_cmpint (result->op, ==, GANTRY_OP_MULTIPLY);
  g_assert_true (gantry_node_operand (c->after, result, 0) == gantry_node_operand (c->after, result, 1));
}

static void
test_merged_movements (void)
{
  g_autoptr (PassCase)
    c = pass_case_new (&gantry_pass_simplify, NULL,
                       PROGRAM ("%1: f32[2,3,4]", "%3, %5",
                                "%2 = transpose(%1) {permutation = [1,2,0]}: f32[3,4,2] %3 = transpose(%2) {permutation = [0,2,1]}: f32[3,2,4] "
                                "%4 = broadcast_in_dim(%1) {shape = [5,2,3,4], broadcast_dimensions = [1,2,3]}: f32[5,2,3,4] "
                                "%5 = broadcast_in_dim(%4) {shape = [5,2,3,6,4], broadcast_dimensions = [0,1,2,4]}: f32[5,2,3,6,4]"));

  for (guint i = 0; i < 2; i++)
    g_assert_cmpint (gantry_node_operand (c->after, pass_result (c->after, i), 0)->op, ==, GANTRY_OP_PARAMETER);
}

/* Slices of parts of the pieces, empty pieces between them, strides, and a start that is moved inside. */
static void
test_slices (void)
{
  g_autoptr (PassCase)
    c = pass_case_new (&gantry_pass_simplify, NULL,
                       PROGRAM (X ", %2: f32[2,0], %3: f32[2,4]", "%6, %7, %8",
                                "%4 = concatenate(%2, %1, %2, %3, %2) {dimension = 1}: f32[2,7] %5 = constant() {value = splat<i32[]: 5>}: i32[] "
                                "%6 = slice(%4) {start_indices = [1,4], limit_indices = [2,6], strides = [1,1]}: f32[1,2] "
                                "%7 = slice(%4) {start_indices = [0,0], limit_indices = [2,4], strides = [1,2]}: f32[2,2] "
                                "%8 = dynamic_slice(%4, %5, %5) {slice_sizes = [1,3]}: f32[1,3]"));

  for (guint i = 0; i < 2; i++)
    {
      g_assert_cmpint (pass_result (c->after, i)->op, ==, GANTRY_OP_SLICE);
      g_assert_cmpuint (gantry_node_operand_id (c->after, pass_result (c->after, i), 0), ==, i == 0 ? 3 : 1);
    }
  g_assert_cmpint (pass_result (c->after, 2)->op, ==, GANTRY_OP_SLICE);
}

/* A chain of rules in one walk: each sees its operands simplified. */
static void
test_chain (void)
{
  g_autoptr (PassCase) c = pass_case_new (
    &gantry_pass_simplify, NULL,
    PROGRAM (X, "%9",
             SPLAT ("3", "2", "0.0") SPLAT ("5", "4", "1.0") "%6 = multiply(%5, %1): f32[2,3] %7 = add(%6, %3): f32[2,3] %8 = negate(%7): f32[2,3] "
                                                             "%9 = negate(%8): f32[2,3]"));

  assert_is_x (c);
  /* What the nodes became can be asked. */
  g_assert_cmpuint (gantry_module_successor (c->after, 7), ==, 1);
  g_assert_cmpuint (gantry_module_successor (c->after, 9), ==, 1);
}

#define PADDED(low, high) "{edge_padding_low = [" low ",0], edge_padding_high = [" high ",0], interior_padding = [0,0]}: f32[4,3]"

/* Gradients of slices are added where the sum lies; of the forward phase nothing, nor what another node reads too. */
static void
test_sums_in_place (void)
{
  static const struct
  {
    const char *text;
    guint n_updates;
  } cases[] = {
    { PROGRAM ("%1: f32[1,3], %2: f32[1,3], %3: f32[4,3]", "%9",
               "%4 = constant() {value = splat<f32[]: 0.0>}: f32[] %5 = pad(%1, %4) " PADDED (
                 "1", "2") " phase(backward) "
                           "%6 = pad(%2, %4) " PADDED ("1", "2") " phase(backward) %7 = add(%5, %6): f32[4,3] phase(backward) "
                                                                 "%8 = negate(%3): f32[4,3] phase(backward) %9 = add(%7, %8): f32[4,3] phase(backward)"),
      1 },
    { PROGRAM ("%1: f32[1,3], %2: i32[], %3: f32[4,3]", "%9",
               "%4 = constant() {value = splat<f32[]: 0.0>}: f32[] "
               "%5 = broadcast_in_dim(%4) {shape = [4,3], broadcast_dimensions = ints[]}: f32[4,3] "
               "%6 = dynamic_update_slice(%5, %1, %2, %2): f32[4,3] phase(backward) "
               "%9 = add(%6, %3): f32[4,3] phase(backward)"),
      2 /* the one that nobody reads now too */ },
    { PROGRAM ("%1: f32[1,3], %3: f32[4,3]", "%9",
               "%4 = constant() {value = splat<f32[]: 0.0>}: f32[] %5 = pad(%1, %4) " PADDED ("1", "2") " "
                                                                                                        "%9 = add(%3, %5): f32[4,3]"),
      0 },
    { PROGRAM ("%1: f32[1,3], %3: f32[4,3]", "%9, %5",
               "%4 = constant() {value = splat<f32[]: 0.0>}: f32[] %5 = pad(%1, %4) " PADDED ("1", "2") " phase(backward) "
                                                                                                        "%9 = add(%3, %5): f32[4,3] phase(backward)"),
      0 },
    { PROGRAM ("%1: f32[1,3], %3: f32[4,3]", "%9",
               "%4 = constant() {value = splat<f32[]: 1.0>}: f32[] %5 = pad(%1, %4) " PADDED ("1", "2") " phase(backward) "
                                                                                                        "%9 = add(%3, %5): f32[4,3] phase(backward)"),
      0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (PassCase) c = pass_case_new (&gantry_pass_simplify, NULL, cases[i].text);

      g_assert_cmpuint (pass_count (c->after, GANTRY_OP_DYNAMIC_UPDATE_SLICE), ==, cases[i].n_updates);
    }
}

#define FILLED(type, shape, number) \
  "%4 = constant() {value = splat<f32[]: " number ">}: f32[] " \
  "%5 = broadcast_in_dim(%4) {shape = " shape ", broadcast_dimensions = ints[]}: " type " "

/* One place in each row is a choice by the place; of several, of parts of windows and of other values nothing. Indices out of range
 * are among the arguments. */
static void
test_scatter (void)
{
  static const struct
  {
    const char *text;
    guint n_left;
  } cases[] = {
    { PROGRAM ("%1: i32[2,3,1], %2: f32[2,3]", "%9",
               FILLED ("f32[2,3,5]", "[2,3,5]", "0.0") "%9 = scatter(%5, %1, %2) {input_batching_dims = [0,1], "
                                                       "scatter_indices_batching_dims = [0,1], inserted_window_dims = [2], scatter_dims_to_operand_dims = [2], "
                                                       "index_vector_dim = 2, kind = \"add\"}: f32[2,3,5]"),
      0 },
    { PROGRAM ("%1: i64[2,1,1], %2: f32[2,1]", "%9",
               FILLED ("f32[4,2]", "[4,2]", "0.5") "%9 = scatter(%5, %1, %2) {input_batching_dims = [1], "
                                                   "scatter_indices_batching_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
                                                   "index_vector_dim = 2, kind = \"mul\"}: f32[4,2]"),
      0 },
    { PROGRAM ("%1: i32[1], %2: f32[2,3]", "%9",
               FILLED ("f32[2,9,3]", "[2,9,3]",
                       "0.25") "%9 = scatter(%5, %1, %2) {update_window_dims = [0,1], "
                               "inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 0, kind = \"max\"}: f32[2,9,3]"),
      0 },
    { PROGRAM ("%1: i32[], %2: f32[]", "%9",
               FILLED ("f32[12]", "[12]", "0.0") "%9 = scatter(%5, %1, %2) {inserted_window_dims = [0], "
                                                 "scatter_dims_to_operand_dims = [0], index_vector_dim = 0, kind = \"set\"}: f32[12]"),
      0 },
    { PROGRAM ("%1: i32[2,3,1], %2: f32[2,3]", "%9",
               FILLED ("f32[2,5]", "[2,5]", "0.0") "%9 = scatter(%5, %1, %2) {input_batching_dims = [0], "
                                                   "scatter_indices_batching_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], "
                                                   "index_vector_dim = 2, kind = \"add\"}: f32[2,5]"),
      1 },
    { PROGRAM (
        "%1: i32[1], %2: f32[2]", "%9",
        FILLED ("f32[9,3]", "[9,3]", "0.0") "%9 = scatter(%5, %1, %2) {update_window_dims = [0], "
                                            "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 0, kind = \"set\"}: f32[9,3]"),
      1 },
    { PROGRAM ("%1: i32[2,1], %2: f32[2], %5: f32[2,5]", "%9",
               "%9 = scatter(%5, %1, %2) {input_batching_dims = [0], scatter_indices_batching_dims = [0], "
               "inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1, kind = \"add\"}: f32[2,5]"),
      1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (PassCase) c = pass_case_new (&gantry_pass_simplify, NULL, cases[i].text);

      g_assert_cmpuint (pass_count (c->after, GANTRY_OP_SCATTER), ==, cases[i].n_left);
      for (guint32 seed = 1; seed < 20; seed++)
        pass_check_same (c->before, c->after, seed, 1e-6);
    }
}

#define SOFTMAX(end) \
  "%3 = exponential(%1): f32[4,5] %4 = reduce(%3) {kind = \"add\", dimensions = [1]}: f32[4] " \
  "%5 = broadcast_in_dim(%4) {shape = [4,5], broadcast_dimensions = [0]}: f32[4,5] %6 = divide(%3, %5): f32[4,5] " end
#define PRODUCT(of, to) "%" to " = dot_general(%2, %" of ") {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[3,5]"

/* The backward phase reads an exponential through its softmax, where that is there for a product. */
static void
test_softmax (void)
{
  static const struct
  {
    const char *text;
    guint n_readers; /* of the exponential */
  } cases[] = {
    { PROGRAM ("%1: f32[4,5], %2: f32[3,4], %7: f32[4,5]", "%8, %9",
               SOFTMAX (PRODUCT ("6", "8") " phase(backward) %9 = multiply(%7, %3): f32[4,5] phase(backward)")),
      2 },
    { PROGRAM ("%1: f32[4,5], %2: f32[3,4], %7: f32[4,5]", "%8, %9", SOFTMAX (PRODUCT ("6", "8") " %9 = multiply(%3, %7): f32[4,5] phase(backward)")), 3 },
    { PROGRAM ("%1: f32[4,5], %2: f32[3,4], %7: f32[4,5]", "%8, %9", SOFTMAX (PRODUCT ("6", "8") " phase(backward) %9 = multiply(%7, %3): f32[4,5]")), 3 },
    { PROGRAM ("%1: f32[4,5], %2: f32[3,4], %7: f32[4,5]", "%8, %9",
               "%3 = exponential(%1): f32[4,5] %6 = divide(%3, %7): f32[4,5] " PRODUCT ("6", "8") " phase(backward) "
                                                                                                  "%9 = multiply(%7, %3): f32[4,5] phase(backward)"),
      2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (PassCase) c = pass_case_new (&gantry_pass_simplify, NULL, cases[i].text);
      guint n = 0;

      for (guint32 p = 0; p < c->after->n_nodes; p++)
        for (guint j = 0; j < c->after->nodes[p].n_operands; j++)
          n += gantry_node_operand_id (c->after, &c->after->nodes[p], j) == 3;
      g_assert_cmpuint (n, ==, cases[i].n_readers);
    }
}

/* A program with a window of @size elements along axis 1 of [2,n,3], or with padding as given. */
static PassCase *
window_case (const char *type, const char *kind, guint n, guint size, guint low, guint high, guint stride)
{
  guint to = (n + low + high - size) / stride + 1;
  g_autofree char *text = g_strdup_printf (HEAD ("%%1: %s[2,%u,3]", "%%9") "%%9 = reduce_window(%%1) {kind = \"%s\", window_dimensions = [1,%u,1], "
                                                                           "window_strides = [1,%u,1], padding = [0,0,%u,%u,0,0]}: %s[2,%u,3]" TAIL,
                                           type, n, kind, size, stride, low, high, type, to);

  return pass_case_new (&gantry_pass_simplify, NULL, text);
}

/* The longest window of a module. */
static gint64
longest_window (const GantryModule *module)
{
  gint64 longest = 0;

  for (guint32 p = 0; p < module->n_nodes; p++)
    {
      gsize n = 0;
      const gint64 *sizes = module->nodes[p].op == GANTRY_OP_REDUCE_WINDOW
                              ? gantry_attrs_ints (module->context, module->nodes[p].attrs, "window_dimensions", &n)
                              : NULL;

      for (gsize i = 0; i < n; i++)
        longest = MAX (longest, sizes[i]);
    }
  return longest;
}

/* Running values of a long axis are made by blocks, once more by blocks where those are many. */
static void
test_running (void)
{
  static const char *const kinds[] = { "add", "mul", "max", "min" }, *const types[] = { "f32", "i32", "f16" };
  static const guint lengths[] = { 65, 97, 640, 2049 };

  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    for (guint t = 0; t < G_N_ELEMENTS (types); t++)
      for (guint i = 0; i < G_N_ELEMENTS (lengths); i++)
        for (guint reverse = 0; reverse < 2; reverse++)
          {
            guint n = lengths[i];
            g_autoptr (PassCase) c = window_case (types[t], kinds[k], n, n, reverse ? 0 : n - 1, reverse ? n - 1 : 0, 1);

            g_assert_cmpint (longest_window (c->after), <=, 64);
            g_assert_cmpuint (pass_count (c->after, GANTRY_OP_REDUCE_WINDOW), ==, n > 2048 ? 3 : 2);
          }
}

static void
test_not_running (void)
{
  /* short; shorter than the axis; around each element; every second one */
  static const struct
  {
    guint n, size, low, high, stride;
  } cases[] = { { 64, 64, 63, 0, 1 }, { 100, 99, 98, 0, 1 }, { 99, 99, 49, 49, 1 }, { 101, 101, 100, 0, 2 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (PassCase) c = window_case ("f32", "add", cases[i].n, cases[i].size, cases[i].low, cases[i].high, cases[i].stride);

      pass_assert_unchanged (c);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (to_x); i++)
    {
      g_autofree char *path = g_strconcat ("/passes/simplify/acts/", to_x[i].name, NULL);

      g_test_add_data_func (path, to_x[i].body, test_to_x);
    }
  pass_add_unchanged ("/passes/simplify/leaves", &gantry_pass_simplify, unchanged, G_N_ELEMENTS (unchanged));
  g_test_add_func ("/passes/simplify/enlarging", test_enlarging);
  g_test_add_func ("/passes/simplify/zero", test_zero);
  g_test_add_func ("/passes/simplify/reduce-of-broadcast", test_reduce_of_broadcast);
  g_test_add_func ("/passes/simplify/log", test_log);
  g_test_add_func ("/passes/simplify/divide-by-power-of-two", test_divide_by_power_of_two);
  g_test_add_func ("/passes/simplify/square", test_square);
  g_test_add_func ("/passes/simplify/merged-movements", test_merged_movements);
  g_test_add_func ("/passes/simplify/slices", test_slices);
  g_test_add_func ("/passes/simplify/sums-in-place", test_sums_in_place);
  g_test_add_func ("/passes/simplify/scatter", test_scatter);
  g_test_add_func ("/passes/simplify/softmax", test_softmax);
  g_test_add_func ("/passes/simplify/running", test_running);
  g_test_add_func ("/passes/simplify/not-running", test_not_running);
  g_test_add_func ("/passes/simplify/chain", test_chain);
  return g_test_run ();
}
