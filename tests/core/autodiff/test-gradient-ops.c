/* SPDX-License-Identifier: Apache-2.0 */
/* gantry: table. Every operation that has a derivative against finite differences, with the
 * attributes that change it; and the derivative of the derivative. What needs bodies stands in
 * test-gradient-control.c, but each operation has a case here. */
#include "core/graph/operation.h"
#include "tests/core/autodiff/gradient-test.h"
#include "tests/random-seed.h"
#include <string.h>

typedef struct
{
  const char *path; /* "/operation/variant" */
  const char *parameters;
  const char *nodes;      /* the last one is %9 */
  double low, high;       /* of arguments; both 0: -2 to 2 */
  gboolean once;          /* the derivative of the derivative is not there */
  double step, tolerance; /* for f32 within */
  const char *functions;  /* (nullable): more functions */
} Case;

/* clang-format off */
#define U(name, low, high) { "/" name, "%1: f64[2,3]", "%9 = " name "(%1): f64[2,3]", low, high }
#define U0(name) { "/" name, "%1: f64[5]", "%2 = " name "(%1): f64[5] %9 = multiply(%1, %2): f64[5]", -2, 2 }
#define BIN(name, low, high) { "/" name, "%1: f64[2,3], %2: f64[2,3]", "%9 = " name "(%1, %2): f64[2,3]", low, high }
/* An operation on booleans or integers, whose result picks. */
#define PICK(name, nodes) { "/" name, "%1: f64[4], %2: f64[4]", nodes " %9 = select(%8, %1, %2): f64[4]", -2, 2 }
#define LESS "%3 = compare(%1, %2) {comparison_direction = \"LT\"}: bool[4] "
#define BITS LESS "%4 = convert(%3) {to = type i32[]}: i32[4] "
#define ODD(from) " %6 = constant() {value = dense<i32[4]: 1, 0, 1, 0>}: i32[4]" \
  " %8 = compare(" from ", %6) {comparison_direction = \"EQ\"}: bool[4]"
#define SCATTER "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1, "
#define POOL(kind, attrs, type) "%9 = reduce_window(%1) {kind = \"" kind "\", " attrs "}: " type

static const Case cases[] = {
  /* structure and control */
  { "/parameter", "%9: f64[2]", "" },
  { "/constant", "%1: f64[2]", "%2 = constant() {value = dense<f64[2]: 1.5, -2.0>}: f64[2] %9 = multiply(%1, %2): f64[2]" },
  { "/tuple", "%1: f64[2], %2: f64[3]",
    "%3 = multiply(%1, %1): f64[2] %4 = tuple(%3, %2, %1): (f64[2], f64[3], f64[2]) %5 = result(%4) {index = 0}: f64[2]"
    " %6 = result(%4) {index = 2}: f64[2] %9 = multiply(%5, %6): f64[2]" },
  { "/result", "%1: f64[2]",
    "%4 = tuple(%1): (f64[2]) %5 = result(%4) {index = 0}: f64[2] %9 = multiply(%5, %5): f64[2]" },
  { "/fusion", "%1: f64[2], %2: f64[2]", "%9 = fusion(%1, %2) {body = #2}: f64[2]",
    .functions = "func @body #2 (%11: f64[2], %12: f64[2]) -> (%14) { %13 = sine(%11): f64[2] %14 = multiply(%13, %12): f64[2] }" },
  { "/call", "%1: f64[2], %2: f64[2]",
    "%3 = call(%1, %2) {body = #2}: (f64[2], f64[2]) %4 = result(%3) {index = 0}: f64[2]"
    " %5 = result(%3) {index = 1}: f64[2] %9 = multiply(%4, %5): f64[2]",
    .functions = "func @body #2 (%11: f64[2], %12: f64[2]) -> (%13, %14) { %13 = call(%11) {body = #3}: f64[2]"
                 " %14 = multiply(%13, %12): f64[2] } func @inner #3 (%21: f64[2]) -> (%22) { %22 = sine(%21): f64[2] }" },
  { "/if", "%1: f64[], %2: f64[]",
    "%3 = constant() {value = dense<f64[]: 0.0>}: f64[] %4 = compare(%1, %3) {comparison_direction = \"LT\"}: bool[]"
    " %9 = if(%4, %1, %2) {then = #2, else = #3}: f64[]",
    .functions = "func @then #2 (%11: f64[], %12: f64[]) -> (%13) { %13 = multiply(%11, %12): f64[] }"
                 " func @else #3 (%21: f64[], %22: f64[]) -> (%23) { %23 = sine(%21): f64[] }" },
  { "/while", "%1: f64[]",
    "%2 = constant() {value = dense<i32[]: 0>}: i32[] %3 = while(%2, %1) {cond = #2, body = #3, most_trips = 4}: (i32[], f64[])"
    " %9 = result(%3) {index = 1}: f64[]",
    .functions = "func @cond #2 (%11: i32[], %12: f64[]) -> (%14) { %13 = constant() {value = dense<i32[]: 3>}: i32[]"
                 " %14 = compare(%11, %13) {comparison_direction = \"LT\"}: bool[] }"
                 " func @body #3 (%21: i32[], %22: f64[]) -> (%24, %25) { %23 = constant() {value = dense<i32[]: 1>}: i32[]"
                 " %24 = add(%21, %23): i32[] %25 = sine(%22): f64[] }" },
  { "/scan", "%1: f64[2], %2: f64[3,2], %3: f64[2]",
    "%4 = scan(%1, %2, %3) {body = #2, length = 3, n_carries = 1, n_xs = 1, axes = [0], y_axes = [1]}: (f64[2], f64[2,3])"
    " %5 = result(%4) {index = 0}: f64[2] %6 = result(%4) {index = 1}: f64[2,3]"
    " %7 = reduce(%6) {kind = \"add\", dimensions = [1]}: f64[2] %9 = multiply(%5, %7): f64[2]",
    .functions = "func @body #2 (%11: f64[2], %12: f64[2], %13: f64[2]) -> (%15, %16) { %14 = multiply(%11, %12): f64[2]"
                 " %15 = add(%14, %13): f64[2] %16 = sine(%14): f64[2] }" },
  { "/optimization_barrier", "%1: f64[2]", "%2 = optimization_barrier(%1): f64[2] %9 = multiply(%2, %2): f64[2]" },
  { "/checkpoint_name", "%1: f64[2]", "%2 = checkpoint_name(%1) {name = \"x\"}: f64[2] %9 = multiply(%2, %2): f64[2]" },
  { "/copy", "%1: f64[2]", "%2 = copy(%1): f64[2] %9 = multiply(%2, %2): f64[2]" },
  { "/copy/host", "%1: f64[2]@pinned_host",
    "%2 = copy(%1) {memory = \"device\"}: f64[2] %9 = multiply(%2, %2): f64[2]" },
  /* unary */
  U ("abs", 0.5, 2), U ("abs", -2, -0.5), U ("negate", -2, 2),
  { "/stop_gradient", "%1: f64[4], %2: f64[4]", "%3 = sign(%1): f64[4] %4 = stop_gradient(%3): f64[4] %9 = multiply(%4, %2): f64[4]" },
  U ("exponential", -2, 2),
  U ("exponential_minus_one", -1, 1), U ("log", 0.5, 3), U ("log_plus_one", -0.5, 3), U ("logistic", -3, 3),
  U ("tanh", -2, 2), U ("sqrt", 0.5, 3), U ("rsqrt", 0.5, 3), U ("cbrt", 0.5, 3), U ("cbrt", -3, -0.5),
  U ("sine", -3, 3), U ("cosine", -3, 3), U ("tan", -1, 1), U ("asin", -0.8, 0.8), U ("acos", -0.8, 0.8),
  U ("atan", -2, 2), U ("sinh", -2, 2), U ("cosh", -2, 2), U ("asinh", -2, 2), U ("acosh", 1.2, 3), U ("atanh", -0.8, 0.8),
  U ("erf", -2, 2),
  U0 ("sign"), U0 ("floor"), U0 ("ceil"), U0 ("round_nearest_even"), U0 ("round_nearest_afz"),
  { "/is_finite", "%1: f64[4], %2: f64[4]", "%8 = is_finite(%1): bool[4] %9 = select(%8, %1, %2): f64[4]" },
  { "/is_nan", "%1: f64[4], %2: f64[4]", "%8 = is_nan(%1): bool[4] %9 = select(%8, %1, %2): f64[4]" },
  PICK ("not", LESS "%8 = not(%3): bool[4]"),
  PICK ("popcnt", BITS "%5 = popcnt(%4): i32[4]" ODD ("%5")),
  PICK ("count_leading_zeros", BITS "%5 = count_leading_zeros(%4): i32[4]" ODD ("%5")),
  { "/convert", "%1: f64[4]", "%2 = convert(%1) {to = type f32[]}: f32[4] %3 = convert(%2) {to = type f64[]}: f64[4]"
    " %9 = add(%3, %1): f64[4]", .step = 1e-2, .tolerance = 1e-4 },
  { "/convert/integer", "%1: f64[4]", "%2 = convert(%1) {to = type i32[]}: i32[4] %3 = convert(%2) {to = type f64[]}: f64[4]"
    " %9 = multiply(%3, %1): f64[4]" },
  /* binary */
  BIN ("add", -2, 2), BIN ("subtract", -2, 2), BIN ("multiply", -2, 2), BIN ("divide", 0.5, 2), BIN ("remainder", 0.3, 3),
  BIN ("power", 0.5, 2), BIN ("maximum", -2, 2), BIN ("minimum", -2, 2), BIN ("atan2", 0.5, 2),
  { "/multiply/self", "%1: f64[3]", "%9 = multiply(%1, %1): f64[3]" },
  { "/power/two", "%1: f64[3]", "%2 = constant() {value = splat<f64[3]: 2.0>}: f64[3] %9 = power(%1, %2): f64[3]" },
  { "/power/three", "%1: f64[3]", "%2 = constant() {value = splat<f64[3]: 3.0>}: f64[3] %9 = power(%1, %2): f64[3]" },
  { "/power/zero", "%1: f64[3]", "%2 = constant() {value = splat<f64[3]: 0.0>}: f64[3] %3 = power(%1, %2): f64[3]"
    " %9 = add(%3, %1): f64[3]" },
  { "/power/half", "%1: f64[3]", "%2 = constant() {value = splat<f64[3]: 0.5>}: f64[3] %9 = power(%1, %2): f64[3]", 0.5, 2 },
  { "/maximum/constant", "%1: f64[8]", "%2 = constant() {value = splat<f64[8]: 0.0>}: f64[8] %9 = maximum(%1, %2): f64[8]" },
  { "/minimum/constant", "%1: f64[8]", "%2 = constant() {value = splat<f64[8]: 0.5>}: f64[8] %9 = minimum(%2, %1): f64[8]" },
  PICK ("compare", "%8 = compare(%1, %2) {comparison_direction = \"GE\"}: bool[4]"),
  PICK ("and", LESS "%8 = and(%3, %3): bool[4]"), PICK ("or", LESS "%8 = or(%3, %3): bool[4]"),
  PICK ("xor", LESS "%8 = xor(%3, %3): bool[4]"),
  PICK ("shift_left", BITS "%5 = shift_left(%4, %4): i32[4]" ODD ("%5")),
  PICK ("shift_right_arithmetic", BITS "%5 = shift_right_arithmetic(%4, %4): i32[4]" ODD ("%5")),
  PICK ("shift_right_logical", BITS "%5 = shift_right_logical(%4, %4): i32[4]" ODD ("%5")),
  { "/select", "%1: f64[4], %2: f64[4]", "%3 = constant() {value = dense<bool[4]: true, false, true, false>}: bool[4]"
    " %9 = select(%3, %1, %2): f64[4]" },
  { "/clamp", "%1: f64[9], %2: f64[9], %3: f64[9]", "%9 = clamp(%1, %2, %3): f64[9]" },
  { "/clamp/constant", "%1: f64[9]", "%2 = constant() {value = splat<f64[9]: -0.7>}: f64[9]"
    " %3 = constant() {value = splat<f64[9]: 0.6>}: f64[9] %9 = clamp(%2, %1, %3): f64[9]" },
  /* movement */
  { "/iota", "%1: f64[3]", "%2 = iota() {to = type f64[3], iota_dimension = 0}: f64[3] %9 = multiply(%1, %2): f64[3]" },
  { "/broadcast_in_dim", "%1: f64[3]", "%9 = broadcast_in_dim(%1) {shape = [2, 3, 2], broadcast_dimensions = [1]}: f64[2,3,2]" },
  { "/broadcast_in_dim/ones", "%1: f64[1,3]",
    "%9 = broadcast_in_dim(%1) {shape = [2, 2, 3], broadcast_dimensions = [1, 2]}: f64[2,2,3]" },
  { "/broadcast_in_dim/swapped", "%1: f64[3,1,2]",
    "%9 = broadcast_in_dim(%1) {shape = [2, 3, 4], broadcast_dimensions = [1, 2, 0]}: f64[2,3,4]" },
  { "/broadcast_in_dim/scalar", "%1: f64[]", "%9 = broadcast_in_dim(%1) {shape = [2, 2], broadcast_dimensions = ints[]}: f64[2,2]" },
  { "/reshape", "%1: f64[2,3]", "%9 = reshape(%1) {shape = [3, 2, 1]}: f64[3,2,1]" },
  { "/transpose", "%1: f64[2,3,2]", "%9 = transpose(%1) {permutation = [1, 2, 0]}: f64[3,2,2]" },
  { "/reverse", "%1: f64[2,3]", "%9 = reverse(%1) {dimensions = [0, 1]}: f64[2,3]" },
  { "/slice", "%1: f64[7,3]", "%9 = slice(%1) {start_indices = [1, 0], limit_indices = [6, 2], strides = [2, 1]}: f64[3,2]" },
  { "/slice/short", "%1: f64[7]", "%9 = slice(%1) {start_indices = [0], limit_indices = [6], strides = [4]}: f64[2]" },
  { "/slice/empty", "%1: f64[7]", "%2 = slice(%1) {start_indices = [2], limit_indices = [2], strides = [1]}: f64[0]"
    " %9 = concatenate(%2, %1) {dimension = 0}: f64[7]" },
  { "/pad", "%1: f64[2,3], %2: f64[]",
    "%9 = pad(%1, %2) {edge_padding_low = [1, 0], edge_padding_high = [0, 2], interior_padding = [1, 2]}: f64[4,9]" },
  { "/pad/negative", "%1: f64[5], %2: f64[]",
    "%9 = pad(%1, %2) {edge_padding_low = [-2], edge_padding_high = [-1], interior_padding = [1]}: f64[6]" },
  { "/pad/cropped", "%1: f64[5], %2: f64[]",
    "%9 = pad(%1, %2) {edge_padding_low = [2], edge_padding_high = [-2], interior_padding = [0]}: f64[5]" },
  { "/concatenate", "%1: f64[2,1], %2: f64[2,2], %3: f64[2,1]", "%9 = concatenate(%1, %2, %3, %1) {dimension = 1}: f64[2,5]" },
  { "/gather", "%1: f64[4,3]", "%2 = constant() {value = dense<i32[3,1]: 2, 0, 2>}: i32[3,1]"
    " %9 = gather(%1, %2) {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1,"
    " slice_sizes = [1, 3]}: f64[3,3]" },
  { "/gather/outside", "%1: f64[4,3]", "%2 = constant() {value = dense<i8[2,2]: 9, -5, 1, 2>}: i8[2,2]"
    " %9 = gather(%1, %2) {offset_dims = [1, 2], start_index_map = [1, 0], index_vector_dim = 1,"
    " slice_sizes = [2, 2]}: f64[2,2,2]" },
  { "/gather/batch", "%1: f64[2,4]", "%2 = constant() {value = dense<i64[2,3]: 0, 3, 3, 1, 1, 2>}: i64[2,3]"
    " %9 = gather(%1, %2) {collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0],"
    " start_index_map = [1], index_vector_dim = 2, slice_sizes = [1, 1]}: f64[2,3]" },
  { "/dynamic_slice", "%1: f64[5,2]", "%2 = constant() {value = dense<i32[]: 9>}: i32[] %3 = constant() {value = dense<i32[]: 0>}: i32[]"
    " %9 = dynamic_slice(%1, %2, %3) {slice_sizes = [2, 2]}: f64[2,2]" },
  { "/dynamic_update_slice", "%1: f64[5,2], %4: f64[2,1]",
    "%2 = constant() {value = dense<i32[]: 2>}: i32[] %3 = constant() {value = dense<i32[]: -7>}: i32[]"
    " %9 = dynamic_update_slice(%1, %4, %2, %3): f64[5,2]" },
  { "/scatter/add", "%1: f64[4], %2: f64[5]", "%3 = constant() {value = dense<i32[5,1]: 2, 0, 2, 7, -1>}: i32[5,1]"
    " %9 = scatter(%1, %3, %2) {" SCATTER "kind = \"add\"}: f64[4]" },
  { "/scatter/set", "%1: f64[4], %2: f64[5]", "%3 = constant() {value = dense<i32[5,1]: 2, 0, 2, 7, -1>}: i32[5,1]"
    " %9 = scatter(%1, %3, %2) {" SCATTER "kind = \"set\"}: f64[4]" },
  { "/scatter/max", "%1: f64[4], %2: f64[5]", "%3 = constant() {value = dense<i32[5,1]: 2, 0, 2, 7, -1>}: i32[5,1]"
    " %9 = scatter(%1, %3, %2) {" SCATTER "kind = \"max\"}: f64[4]" },
  { "/scatter/min", "%1: f64[4], %2: f64[5]", "%3 = constant() {value = dense<i32[5,1]: 2, 0, 2, 7, -1>}: i32[5,1]"
    " %9 = scatter(%1, %3, %2) {" SCATTER "kind = \"min\"}: f64[4]" },
  { "/scatter/mul", "%1: f64[4]", "%2 = constant() {value = dense<f64[3]: 2.0, 3.0, 0.5>}: f64[3]"
    " %3 = constant() {value = dense<i32[3,1]: 2, 0, 2>}: i32[3,1] %9 = scatter(%1, %3, %2) {" SCATTER "kind = \"mul\"}: f64[4]" },
  { "/scatter/window", "%1: f64[4,5], %2: f64[3,2,2]", /* the second window lies half outside */
    "%3 = constant() {value = dense<i32[3,2]: 0, 1, 3, 4, 1, 1>}: i32[3,2]"
    " %9 = scatter(%1, %3, %2) {update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1,"
    " kind = \"add\"}: f64[4,5]" },
  { "/scatter/window-set", "%1: f64[4,5], %2: f64[3,2,2]", "%3 = constant() {value = dense<i32[3,2]: 0, 1, 3, 4, 1, 1>}: i32[3,2]"
    " %9 = scatter(%1, %3, %2) {update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1,"
    " kind = \"set\"}: f64[4,5]" },
  { "/scatter/batch", "%1: f64[2,4], %2: f64[2,3]", "%3 = constant() {value = dense<i64[2,3]: 0, 3, 3, 1, 4, 2>}: i64[2,3]"
    " %9 = scatter(%1, %3, %2) {inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0],"
    " scatter_dims_to_operand_dims = [1], index_vector_dim = 2, kind = \"add\"}: f64[2,4]" },
  /* reductions */
  { "/reduce/add", "%1: f64[2,3,2]", "%9 = reduce(%1) {kind = \"add\", dimensions = [0, 2]}: f64[3]" },
  { "/reduce/mul", "%1: f64[2,3]", "%9 = reduce(%1) {kind = \"mul\", dimensions = [1]}: f64[2]" },
  { "/reduce/mul-zero", "%1: f64[2]", "%2 = constant() {value = dense<f64[1]: 0.0>}: f64[1]"
    " %3 = subtract(%1, %1): f64[2] %4 = slice(%3) {start_indices = [0], limit_indices = [1], strides = [1]}: f64[1]"
    " %5 = concatenate(%1, %2) {dimension = 0}: f64[3] %6 = reduce(%5) {kind = \"mul\", dimensions = [0]}: f64[]"
    " %9 = broadcast_in_dim(%6) {shape = [1], broadcast_dimensions = ints[]}: f64[1]", .once = TRUE },
  { "/reduce/max", "%1: f64[2,4]", "%9 = reduce(%1) {kind = \"max\", dimensions = [1]}: f64[2]" },
  { "/reduce/min", "%1: f64[2,4]", "%9 = reduce(%1) {kind = \"min\", dimensions = [0, 1]}: f64[]" },
  { "/reduce_window/add", "%1: f64[2,7]",
    POOL ("add", "window_dimensions = [1, 3], window_strides = [1, 2], padding = [0, 0, 1, 2]", "f64[2,4]") },
  { "/reduce_window/add-dilated", "%1: f64[5,4]",
    POOL ("add", "window_dimensions = [2, 3], window_strides = [2, 3], base_dilations = [2, 1], window_dilations = [3, 2], padding = [1, 3, 2, -1]",
          "f64[5,1]") },
  { "/reduce_window/add-cropped", "%1: f64[9]",
    POOL ("add", "window_dimensions = [2], window_strides = [3], padding = [-1, -1]", "f64[2]") },
  { "/reduce_window/max", "%1: f64[2,6,5]",
    POOL ("max", "window_dimensions = [1, 3, 2], window_strides = [1, 2, 1], padding = [0, 0, 1, 1, 0, 1]", "f64[2,3,5]") },
  { "/reduce_window/max-dilated", "%1: f64[5,4]",
    POOL ("max", "window_dimensions = [2, 2], window_strides = [1, 2], base_dilations = [2, 1], window_dilations = [3, 2], padding = [1, 1, 2, -1]",
          "f64[8,2]") },
  { "/reduce_window/min", "%1: f64[7]", POOL ("min", "window_dimensions = [3], window_strides = [2]", "f64[3]") },
  { "/reduce_window/max-one", "%1: f64[3]", POOL ("max", "window_dimensions = [1]", "f64[3]") },
  /* contractions */
  { "/dot_general", "%1: f64[2,3], %2: f64[3,4]",
    "%9 = dot_general(%1, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f64[2,4]" },
  { "/dot_general/transposed", "%1: f64[3,2], %2: f64[4,3]",
    "%9 = dot_general(%1, %2) {lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [1]}: f64[2,4]" },
  { "/dot_general/two", "%1: f64[3,2,5], %2: f64[5,4,3]",
    "%9 = dot_general(%1, %2) {lhs_contracting_dimensions = [0, 2], rhs_contracting_dimensions = [2, 0]}: f64[2,4]" },
  { "/dot_general/batch", "%1: f64[3,2,4,2], %2: f64[2,4,3,3]",
    "%9 = dot_general(%1, %2) {lhs_batching_dimensions = [3, 0], rhs_batching_dimensions = [0, 2],"
    " lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]}: f64[2,3,2,3]" },
  { "/dot_general/outer", "%1: f64[2], %2: f64[3]", "%9 = dot_general(%1, %2) {}: f64[2,3]" },
  { "/dot_general/all", "%1: f64[2,3], %2: f64[3,2]",
    "%9 = dot_general(%1, %2) {lhs_contracting_dimensions = [1, 0], rhs_contracting_dimensions = [0, 1]}: f64[]" },
  { "/dot_general/self", "%1: f64[3,3]",
    "%9 = dot_general(%1, %1) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f64[3,3]" },
  { "/dot_general/wider", "%1: f32[2,3], %2: f32[3,2]",
    "%9 = dot_general(%1, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0], to = type f64[]}: f64[2,2]",
    .step = 1e-2, .tolerance = 1e-4 },
  { "/convolution", "%1: f64[2,3,5], %2: f64[4,3,2]", "%9 = convolution(%1, %2) {}: f64[2,4,4]" },
  { "/convolution/strided", "%1: f64[2,2,6,5], %2: f64[3,2,3,2]",
    "%9 = convolution(%1, %2) {window_strides = [2, 2], padding = [1, 1, 0, 1]}: f64[2,3,3,3]" },
  { "/convolution/short", "%1: f64[1,1,8], %2: f64[1,1,2]", "%9 = convolution(%1, %2) {window_strides = [4]}: f64[1,1,2]" },
  { "/convolution/dilated", "%1: f64[1,2,4,7], %2: f64[2,2,2,3]",
    "%9 = convolution(%1, %2) {window_strides = [2, 1], padding = [2, 1, -1, 2], lhs_dilation = [3, 1], rhs_dilation = [2, 2]}: f64[1,2,6,4]" },
  { "/convolution/groups", "%1: f64[2,4,5], %2: f64[6,2,3]",
    "%9 = convolution(%1, %2) {feature_group_count = 2, padding = [1, 1], window_strides = [2]}: f64[2,6,3]" },
  { "/convolution/depthwise", "%1: f64[2,3,4], %2: f64[3,1,2]", "%9 = convolution(%1, %2) {feature_group_count = 3}: f64[2,3,3]" },
  { "/convolution/bias-relu", "%1: f64[2,2,4], %2: f64[3,2,2], %3: f64[3]",
    "%9 = convolution(%1, %2, %3) {post = \"relu\"}: f64[2,3,3]" },
  { "/convolution/pointwise", "%1: f64[2,3,4,5], %2: f64[2,3,1,1]", "%9 = convolution(%1, %2) {window_strides = [2, 3]}: f64[2,2,2,2]" },
  { "/convolution/pointwise-many", "%1: f64[2,4,2], %2: f64[5,4,1]", "%9 = convolution(%1, %2) {padding = [0, -1]}: f64[2,5,1]" },
  { "/convolution/pointwise-padded", "%1: f64[2,2,3], %2: f64[2,2,1]", "%9 = convolution(%1, %2) {padding = [1, 1]}: f64[2,2,5]" },
  { "/convolution/pointwise-right", "%1: f64[2,2,3], %2: f64[2,2,1]", "%9 = convolution(%1, %2) {padding = [0, 1]}: f64[2,2,4]" },
  { "/dot_general/batch-swapped", "%1: f64[2,3,4], %2: f64[2,3,5]",
    "%9 = dot_general(%1, %2) {lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1],"
    " rhs_contracting_dimensions = [1]}: f64[2,4,5]" },
  { "/convolution/point", "%1: f64[2,3], %2: f64[4,3]", "%9 = convolution(%1, %2) {}: f64[2,4]" },
  /* what no expression says */
  { "/sort", "%1: f64[2,5]", "%9 = sort(%1) {dimension = 1}: f64[2,5]" },
  { "/sort/follow", "%1: f64[4,2], %2: f64[4,2]",
    "%3 = sort(%1, %2) {dimension = 0, descending = 1}: (f64[4,2], f64[4,2]) %4 = result(%3) {index = 1}: f64[4,2]"
    " %5 = result(%3) {index = 0}: f64[4,2] %9 = multiply(%4, %5): f64[4,2]" },
  { "/rng_bit_generator", "%1: f64[3]", "%2 = constant() {value = dense<u64[2]: 1, 2>}: u64[2]"
    " %3 = rng_bit_generator(%2) {shape = [3]}: (u64[2], u32[3]) %4 = result(%3) {index = 1}: u32[3]"
    " %5 = convert(%4) {to = type f64[]}: f64[3] %6 = constant() {value = splat<f64[3]: 2.3283064365386963e-10>}: f64[3]"
    " %7 = multiply(%5, %6): f64[3] %9 = multiply(%7, %1): f64[3]" },
};

/* clang-format on */

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autofree char *text = g_strdup_printf ("module \"case\" { func @main #1 (%s) -> (%%9) { %s } %s }", c->parameters, c->nodes,
                                           c->functions != NULL ? c->functions : "");
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = gradient_parse (context, text), once = NULL;
  GradientCheck check = { .low = c->low, .high = c->high, .step = c->step, .tolerance = c->tolerance, .random = test_rand (7) };

  if (c->low == 0 && c->high == 0)
    {
      check.low = -2;
      check.high = 2;
    }
  if (c->once)
    once = gradient_check (module, &check);
  else
    gradient_check_twice (module, &check);
  g_rand_free (check.random);
}

/* A new operation needs a case, or a reason why it has no derivative. */
static void
test_every_operation (void)
{
  for (guint op = 1; op < GANTRY_N_OPS; op++)
    {
      const char *name = gantry_op_info (op)->name;
      gboolean found = FALSE;

      for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
        found |= g_str_has_prefix (cases[i].path + 1, name) && (cases[i].path[1 + strlen (name)] == '\0' || cases[i].path[1 + strlen (name)] == '/');
      if (gantry_op_is_differentiable (op) != found)
        g_error ("%s: differentiable is %d, but a case is %sthere", name, gantry_op_is_differentiable (op), found ? "" : "not ");
    }
  g_assert_false (gantry_op_is_differentiable (GANTRY_OP_NONE));
  g_assert_false (gantry_op_is_differentiable (GANTRY_N_OPS));
  g_assert_false (gantry_op_is_differentiable (GANTRY_OP_FOREIGN));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/gradient/every-operation", test_every_operation);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/gradient%s-%u", cases[i].path, i);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  return g_test_run ();
}
