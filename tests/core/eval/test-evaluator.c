/* SPDX-License-Identifier: Apache-2.0 */
/* Small cases computed by hand for each kind of core operation, written in the text form: what a case computes is
 * compared bit by bit, or within a tolerance, with a constant of the same module. */
#include "core/eval/eval.h"
#include "core/eval/evaluator-private.h"
#include "core/expr/expr.h"
#include "core/graph/graph.h"
#include <math.h>
#include <string.h>

typedef struct
{
  const char *path;
  const char *nodes;    /* the last one is %9 */
  const char *type;     /* of %9 */
  const char *expected; /* numbers */
  double tolerance;
} Case;

#define C(id, type, values) "%" #id " = constant() {value = dense<" type ": " values ">}: " type "\n"
#define N(id, op, operands, attrs, type) "%" #id " = " op "(" operands ") {" attrs "}: " type "\n"

static const Case cases[] = {
  /* integers wrap in their width */
  { "/add/i8-wraps", C (1, "i8[3]", "127, -128, 5") C (2, "i8[3]", "1, -1, 6") N (9, "add", "%1, %2", "", "i8[3]"), "i8[3]", "-128, 127, 11" },
  { "/multiply/u8-wraps", C (1, "u8[2]", "200, 16") C (2, "u8[2]", "2, 16") N (9, "multiply", "%1, %2", "", "u8[2]"), "u8[2]", "144, 0" },
  { "/multiply/i64-exact", C (1, "i64[2]", "9007199254740993, 4611686018427387904") C (2, "i64[2]", "3, 2") N (9, "multiply", "%1, %2", "", "i64[2]"), "i64[2]",
    "27021597764222979, -9223372036854775808" },
  { "/add/u64-exact", C (1, "u64[2]", "18446744073709551615, 9007199254740993") C (2, "u64[2]", "2, 1") N (9, "add", "%1, %2", "", "u64[2]"), "u64[2]",
    "1, 9007199254740994" },
  { "/subtract/u16-wraps", C (1, "u16[1]", "0") C (2, "u16[1]", "1") N (9, "subtract", "%1, %2", "", "u16[1]"), "u16[1]", "65535" },
  { "/negate/i32-min", C (1, "i32[2]", "-2147483648, 7") N (9, "negate", "%1", "", "i32[2]"), "i32[2]", "-2147483648, -7" },
  { "/abs/i8-min", C (1, "i8[3]", "-128, -3, 4") N (9, "abs", "%1", "", "i8[3]"), "i8[3]", "-128, 3, 4" },
  { "/divide/i32", C (1, "i32[6]", "7, -7, 7, 5, 0, -2147483648") C (2, "i32[6]", "2, 2, -2, 0, 0, -1") N (9, "divide", "%1, %2", "", "i32[6]"), "i32[6]",
    "3, -3, -3, -1, -1, -2147483648" },
  { "/divide/u8-by-zero", C (1, "u8[2]", "7, 250") C (2, "u8[2]", "0, 7") N (9, "divide", "%1, %2", "", "u8[2]"), "u8[2]", "255, 35" },
  { "/divide/i64-min", C (1, "i64[2]", "-9223372036854775808, 3") C (2, "i64[2]", "-1, 0") N (9, "divide", "%1, %2", "", "i64[2]"), "i64[2]",
    "-9223372036854775808, -1" },
  { "/divide/u64", C (1, "u64[1]", "18446744073709551615") C (2, "u64[1]", "2") N (9, "divide", "%1, %2", "", "u64[1]"), "u64[1]", "9223372036854775807" },
  { "/remainder/i32", C (1, "i32[5]", "7, -7, 7, 5, -2147483648") C (2, "i32[5]", "3, 3, -3, 0, -1") N (9, "remainder", "%1, %2", "", "i32[5]"), "i32[5]",
    "1, -1, 1, 5, 0" },
  { "/remainder/f32", C (1, "f32[2]", "7.5, -7.5") C (2, "f32[2]", "2.0, 2.0") N (9, "remainder", "%1, %2", "", "f32[2]"), "f32[2]", "1.5, -1.5" },
  { "/power/i32", C (1, "i32[5]", "3, -1, -1, 2, 0") C (2, "i32[5]", "4, 3, -2, -1, 0") N (9, "power", "%1, %2", "", "i32[5]"), "i32[5]", "81, -1, 1, 0, 1" },
  { "/shift/left", C (1, "i8[4]", "1, 64, 1, 1") C (2, "i8[4]", "3, 2, 8, -1") N (9, "shift_left", "%1, %2", "", "i8[4]"), "i8[4]", "8, 0, 0, 0" },
  { "/shift/arithmetic", C (1, "i8[4]", "-128, -1, 64, -5") C (2, "i8[4]", "1, 9, 8, 7") N (9, "shift_right_arithmetic", "%1, %2", "", "i8[4]"), "i8[4]",
    "-64, -1, 0, -1" },
  { "/shift/logical", C (1, "i8[3]", "-128, -1, -1") C (2, "i8[3]", "1, 4, 8") N (9, "shift_right_logical", "%1, %2", "", "i8[3]"), "i8[3]", "64, 15, 0" },
  { "/popcnt", C (1, "i8[3]", "-1, 5, 0") N (9, "popcnt", "%1", "", "i8[3]"), "i8[3]", "8, 2, 0" },
  { "/count_leading_zeros", C (1, "i16[3]", "-1, 1, 0") N (9, "count_leading_zeros", "%1", "", "i16[3]"), "i16[3]", "0, 15, 16" },
  { "/not", C (1, "u8[2]", "0, 240") N (9, "not", "%1", "", "u8[2]"), "u8[2]", "255, 15" },
  { "/not/bool", C (1, "bool[2]", "true, false") N (9, "not", "%1", "", "bool[2]"), "bool[2]", "false, true" },
  { "/xor", C (1, "i32[2]", "12, -1") C (2, "i32[2]", "10, 1") N (9, "xor", "%1, %2", "", "i32[2]"), "i32[2]", "6, -2" },
  { "/sign/i32", C (1, "i32[3]", "-9, 0, 9") N (9, "sign", "%1", "", "i32[3]"), "i32[3]", "-1, 0, 1" },
  { "/maximum/u64", C (1, "u64[1]", "18446744073709551615") C (2, "u64[1]", "1") N (9, "maximum", "%1, %2", "", "u64[1]"), "u64[1]", "18446744073709551615" },
  /* floats */
  { "/maximum/nan", C (1, "f32[3]", "nan, 1.0, -0.0") C (2, "f32[3]", "1.0, nan, 0.0") N (9, "maximum", "%1, %2", "", "f32[3]"), "f32[3]", "nan, nan, 0.0" },
  { "/minimum/nan", C (1, "f32[3]", "nan, 1.0, -0.0") C (2, "f32[3]", "1.0, 0.5, 0.0") N (9, "minimum", "%1, %2", "", "f32[3]"), "f32[3]", "nan, 0.5, -0.0" },
  { "/sign/f32", C (1, "f32[4]", "-2.5, -0.0, 7.0, inf") N (9, "sign", "%1", "", "f32[4]"), "f32[4]", "-1.0, -0.0, 1.0, 1.0" },
  { "/divide/f32", C (1, "f32[3]", "1.0, -1.0, 1.0") C (2, "f32[3]", "0.0, 0.0, 3.0") N (9, "divide", "%1, %2", "", "f32[3]"), "f32[3]",
    "inf, -inf, 0.33333334" },
  { "/add/f16-rounds", C (1, "f16[2]", "2048.0, 65504.0") C (2, "f16[2]", "1.0, 32.0") N (9, "add", "%1, %2", "", "f16[2]"), "f16[2]", "2048.0, inf" },
  { "/add/bf16-rounds", C (1, "bf16[2]", "256.0, 1.0") C (2, "bf16[2]", "1.0, 0.0078125") N (9, "add", "%1, %2", "", "bf16[2]"), "bf16[2]",
    "256.0, 1.0078125" },
  { "/round/even", C (1, "f32[4]", "0.5, 1.5, 2.5, -0.5") N (9, "round_nearest_even", "%1", "", "f32[4]"), "f32[4]", "0.0, 2.0, 2.0, -0.0" },
  { "/round/afz", C (1, "f32[4]", "0.5, 1.5, 2.5, -0.5") N (9, "round_nearest_afz", "%1", "", "f32[4]"), "f32[4]", "1.0, 2.0, 3.0, -1.0" },
  { "/exponential", C (1, "f64[2]", "0.0, 1.0") N (9, "exponential", "%1", "", "f64[2]"), "f64[2]", "1.0, 2.718281828459045", 1e-15 },
  { "/logistic", C (1, "f32[3]", "0.0, 100.0, -100.0") N (9, "logistic", "%1", "", "f32[3]"), "f32[3]", "0.5, 1.0, 3.783506e-44", 1e-7 },
  { "/erf", C (1, "f32[2]", "0.5, -1.0") N (9, "erf", "%1", "", "f32[2]"), "f32[2]", "0.5204999, -0.8427008", 1e-6 },
  { "/rsqrt", C (1, "f32[3]", "4.0, 0.0, -1.0") N (9, "rsqrt", "%1", "", "f32[3]"), "f32[3]", "0.5, inf, nan(0xffc00000)" },
  { "/is_finite", C (1, "f32[4]", "1.0, inf, -inf, nan") N (9, "is_finite", "%1", "", "bool[4]"), "bool[4]", "true, false, false, false" },
  { "/compare/nan", C (1, "f32[3]", "nan, 1.0, 2.0") C (2, "f32[3]", "nan, 1.0, 1.0") N (9, "compare", "%1, %2", "comparison_direction = \"NE\"", "bool[3]"),
    "bool[3]", "true, false, true" },
  { "/compare/unsigned",
    C (1, "u64[2]", "18446744073709551615, 0") C (2, "u64[2]", "1, 1") N (9, "compare", "%1, %2", "comparison_direction = \"LT\"", "bool[2]"), "bool[2]",
    "false, true" },
  { "/select", C (1, "bool[3]", "true, false, true") C (2, "i32[3]", "1, 2, 3") C (3, "i32[3]", "4, 5, 6") N (9, "select", "%1, %2, %3", "", "i32[3]"),
    "i32[3]", "1, 5, 3" },
  { "/clamp", C (1, "f32[3]", "0.0, 0.0, 0.0") C (2, "f32[3]", "-1.0, 0.5, 7.0") C (3, "f32[3]", "1.0, 1.0, 1.0") N (9, "clamp", "%1, %2, %3", "", "f32[3]"),
    "f32[3]", "0.0, 0.5, 1.0" },
  { "/convert/f32-i8", C (1, "f32[5]", "300.0, -300.0, nan, -1.9, inf") N (9, "convert", "%1", "to = type i8[]", "i8[5]"), "i8[5]", "127, -128, 0, -1, 127" },
  { "/convert/f64-u64", C (1, "f64[3]", "1e+30, -5.0, 9223372036854775808.0") N (9, "convert", "%1", "to = type u64[]", "u64[3]"), "u64[3]",
    "18446744073709551615, 0, 9223372036854775808" },
  { "/convert/i64-f32", C (1, "i64[2]", "16777217, -9223372036854775808") N (9, "convert", "%1", "to = type f32[]", "f32[2]"), "f32[2]",
    "16777216.0, -9223372036854775808.0" },
  { "/convert/u64-f64", C (1, "u64[1]", "18446744073709551615") N (9, "convert", "%1", "to = type f64[]", "f64[1]"), "f64[1]", "18446744073709551616.0" },
  { "/convert/i32-i8", C (1, "i32[3]", "300, -129, 5") N (9, "convert", "%1", "to = type i8[]", "i8[3]"), "i8[3]", "44, 127, 5" },
  { "/convert/bool", C (1, "f32[4]", "0.0, -0.0, 0.5, nan") N (9, "convert", "%1", "to = type bool[]", "bool[4]"), "bool[4]", "false, false, true, true" },
  { "/convert/f64-f16-once", C (1, "f64[1]", "1.00048828125000001") N (9, "convert", "%1", "to = type f16[]", "f16[1]"), "f16[1]", "1.0" },
  { "/bitcast", C (1, "f32[2]", "1.0, -0.0") N (9, "bitcast_convert", "%1", "to = type u32[]", "u32[2]"), "u32[2]", "1065353216, 2147483648" },
  /* movement */
  { "/iota", N (9, "iota", "", "to = type i32[2,3], iota_dimension = 1", "i32[2,3]"), "i32[2,3]", "0, 1, 2, 0, 1, 2" },
  { "/broadcast", C (1, "i32[1,3]", "1, 2, 3") N (9, "broadcast_in_dim", "%1", "shape = [2, 3, 2], broadcast_dimensions = [0, 1]", "i32[2,3,2]"), "i32[2,3,2]",
    "1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3" },
  { "/broadcast/scalar", C (1, "i32[]", "7") N (9, "broadcast_in_dim", "%1", "shape = [2, 2], broadcast_dimensions = ints[]", "i32[2,2]"), "i32[2,2]",
    "7, 7, 7, 7" },
  { "/reshape", C (1, "i32[2,3]", "1, 2, 3, 4, 5, 6") N (9, "reshape", "%1", "shape = [3, 2]", "i32[3,2]"), "i32[3,2]", "1, 2, 3, 4, 5, 6" },
  { "/transpose", C (1, "i32[2,3]", "1, 2, 3, 4, 5, 6") N (9, "transpose", "%1", "permutation = [1, 0]", "i32[3,2]"), "i32[3,2]", "1, 4, 2, 5, 3, 6" },
  { "/reverse", C (1, "i32[2,3]", "1, 2, 3, 4, 5, 6") N (9, "reverse", "%1", "dimensions = [1]", "i32[2,3]"), "i32[2,3]", "3, 2, 1, 6, 5, 4" },
  { "/slice", C (1, "i32[6]", "0, 1, 2, 3, 4, 5") N (9, "slice", "%1", "start_indices = [1], limit_indices = [6], strides = [2]", "i32[3]"), "i32[3]",
    "1, 3, 5" },
  { "/pad",
    C (1, "i32[3]", "1, 2, 3") C (2, "i32[]", "0") N (9, "pad", "%1, %2", "edge_padding_low = [1], edge_padding_high = [2], interior_padding = [1]", "i32[8]"),
    "i32[8]", "0, 1, 0, 2, 0, 3, 0, 0" },
  { "/pad/negative",
    C (1, "i32[4]", "1, 2, 3, 4") C (2, "i32[]", "9")
      N (9, "pad", "%1, %2", "edge_padding_low = [-1], edge_padding_high = [-1], interior_padding = [1]", "i32[5]"),
    "i32[5]", "9, 2, 9, 3, 9" },
  { "/concatenate", C (1, "i32[2,1]", "1, 2") C (2, "i32[2,2]", "3, 4, 5, 6") N (9, "concatenate", "%1, %2", "dimension = 1", "i32[2,3]"), "i32[2,3]",
    "1, 3, 4, 2, 5, 6" },
  { "/dynamic_slice/clamped", C (1, "i32[5]", "0, 1, 2, 3, 4") C (2, "i64[]", "9") N (9, "dynamic_slice", "%1, %2", "slice_sizes = [2]", "i32[2]"), "i32[2]",
    "3, 4" },
  { "/dynamic_update_slice",
    C (1, "i32[5]", "0, 1, 2, 3, 4") C (2, "i32[2]", "7, 8") C (3, "i32[]", "-3") N (9, "dynamic_update_slice", "%1, %2, %3", "", "i32[5]"), "i32[5]",
    "7, 8, 2, 3, 4" },
  /* reductions */
  { "/reduce/add", C (1, "f32[2,3]", "1.0, 2.0, 3.0, 4.0, 5.0, 6.0") N (9, "reduce", "%1", "kind = \"add\", dimensions = [1]", "f32[2]"), "f32[2]",
    "6.0, 15.0" },
  { "/reduce/all", C (1, "i32[2,3]", "1, 2, 3, 4, 5, 6") N (9, "reduce", "%1", "kind = \"mul\", dimensions = [0, 1]", "i32[]"), "i32[]", "720" },
  { "/reduce/wraps", C (1, "u8[3]", "200, 100, 1") N (9, "reduce", "%1", "kind = \"add\", dimensions = [0]", "u8[]"), "u8[]", "45" },
  { "/reduce/max-empty", C (1, "f32[0,2]", "") N (9, "reduce", "%1", "kind = \"max\", dimensions = [0]", "f32[2]"), "f32[2]", "-inf, -inf" },
  { "/reduce/min-int-empty", C (1, "i16[0]", "") N (9, "reduce", "%1", "kind = \"min\", dimensions = [0]", "i16[]"), "i16[]", "32767" },
  { "/reduce/and", C (1, "bool[2,2]", "true, true, true, false") N (9, "reduce", "%1", "kind = \"and\", dimensions = [1]", "bool[2]"), "bool[2]",
    "true, false" },
  { "/reduce/f16-sums-in-more", /* 2048 + 1 is 2048 in f16 */
    C (1, "f16[3]", "2048.0, 1.0, 1.0") N (9, "reduce", "%1", "kind = \"add\", dimensions = [0]", "f16[]"), "f16[]", "2050.0" },
  { "/reduce_window",
    C (1, "f32[4]", "1.0, 2.0, 3.0, 4.0")
      N (9, "reduce_window", "%1",
         "kind = \"add\", window_dimensions = [3], window_strides = [2], base_dilations = [1], window_dilations = [1], padding = [1, 1]", "f32[2]"),
    "f32[2]", "3.0, 9.0" },
  { "/reduce_window/max-dilated",
    C (1, "i32[3]", "1, 5, 2")
      N (9, "reduce_window", "%1",
         "kind = \"max\", window_dimensions = [2], window_strides = [1], base_dilations = [2], window_dilations = [2], padding = [0, 0]", "i32[3]"),
    "i32[3]", "5, -2147483648, 5" },
  /* contractions */
  { "/dot_general",
    C (1, "f32[2,2]", "1.0, 2.0, 3.0, 4.0") C (2, "f32[2,2]", "5.0, 6.0, 7.0, 8.0")
      N (9, "dot_general", "%1, %2", "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]", "f32[2,2]"),
    "f32[2,2]", "19.0, 22.0, 43.0, 50.0" },
  { "/dot_general/batch",
    C (1, "i32[2,1,2]", "1, 2, 3, 4") C (2, "i32[2,2,1]", "5, 6, 7, 8")
      N (9, "dot_general", "%1, %2",
         "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]", "i32[2,1,1]"),
    "i32[2,1,1]", "17, 53" },
  { "/convolution/padded",
    C (1, "f32[1,1,3]", "1.0, 2.0, 3.0") C (2, "f32[1,1,3]", "1.0, 10.0, 100.0")
      N (9, "convolution", "%1, %2", "window_strides = [1], padding = [1, 1]", "f32[1,1,3]"),
    "f32[1,1,3]", "210.0, 321.0, 32.0" },
  { "/convolution/strided-dilated",
    C (1, "f32[1,1,5]", "1.0, 2.0, 3.0, 4.0, 5.0") C (2, "f32[1,1,2]", "1.0, 10.0")
      N (9, "convolution", "%1, %2", "window_strides = [2], padding = [0, 0], rhs_dilation = [2]", "f32[1,1,2]"),
    "f32[1,1,2]", "31.0, 53.0" },
  { "/convolution/base-dilated", /* 1 0 2 with 1 10 */
    C (1, "f32[1,1,2]", "1.0, 2.0") C (2, "f32[1,1,2]", "1.0, 10.0")
      N (9, "convolution", "%1, %2", "window_strides = [1], padding = [1, 1], lhs_dilation = [2]", "f32[1,1,4]"),
    "f32[1,1,4]", "10.0, 1.0, 20.0, 2.0" },
  { "/convolution/grouped-bias-relu",
    C (1, "f32[1,2,2]", "1.0, 2.0, 3.0, 4.0") C (2, "f32[2,1,1]", "2.0, -1.0") C (3, "f32[2]", "1.0, 3.5")
      N (9, "convolution", "%1, %2, %3", "window_strides = [1], padding = [0, 0], feature_group_count = 2, post = \"relu\"", "f32[1,2,2]"),
    "f32[1,2,2]", "3.0, 5.0, 0.5, 0.0" },
  /* the examples of the StableHLO specification */
  { "/gather/specification",
    C (1, "i32[2,3,4,2]",
       "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, "
       "27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48")
      C (2, "i64[2,2,3,2]", "0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 0, 9, 0, 0, 2, 1, 2, 2, 1, 2, 0, 1, 1, 0")
        N (9, "gather", "%1, %2",
           "offset_dims = [3, 4], collapsed_slice_dims = [1], operand_batching_dims = [0], "
           "start_indices_batching_dims = [1], start_index_map = [2, 1], index_vector_dim = 3, slice_sizes = [1, 1, 2, 2]",
           "i32[2,2,3,2,2]"),
    "i32[2,2,3,2,2]",
    "1, 2, 3, 4, 3, 4, 5, 6, 13, 14, 15, 16, 33, 34, 35, 36, 35, 36, 37, 38, 41, 42, 43, 44, "
    "1, 2, 3, 4, 13, 14, 15, 16, 21, 22, 23, 24, 43, 44, 45, 46, 33, 34, 35, 36, 27, 28, 29, 30" },
  { "/scatter/specification",
    C (1, "i64[2,3,4,2]",
       "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, "
       "27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48")
      C (2, "i64[2,2,3,2]",
         "0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 0, 9, 0, 0, 2, 1, 2, 2, 1, 2, 0, 1, 1, 0") "%3 = constant() {value = splat<i64[2,2,3,2,2]: "
                                                                                   "1>}: i64[2,2,3,2,2]\n" N (
                                                                                     9, "scatter", "%1, %2, %3",
                                                                                     "update_window_dims = [3, 4], inserted_window_dims = [1], "
                                                                                     "input_batching_dims = [0], "
                                                                                     "scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims "
                                                                                     "= [2, 1], index_vector_dim = 3, kind = \"add\"",
                                                                                     "i64[2,3,4,2]"),
    "i64[2,3,4,2]",
    "3, 4, 6, 7, 6, 7, 7, 8, 9, 10, 11, 12, 15, 16, 17, 18, 17, 18, 19, 20, 22, 23, 24, 25, "
    "25, 26, 28, 29, 30, 31, 31, 32, 35, 36, 38, 39, 38, 39, 39, 40, 41, 42, 44, 45, 46, 47, 47, 48" },
  { "/scatter/set-out-of-bounds",
    C (1, "i32[3]", "1, 2, 3") C (2, "i32[3,1]", "2, -1, 3") C (3, "i32[3]", "7, 8, 9")
      N (9, "scatter", "%1, %2, %3", "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1, kind = \"set\"", "i32[3]"),
    "i32[3]", "1, 2, 7" },
  { "/scatter/max-twice",
    C (1, "f32[2]", "0.0, 0.0") C (2, "i32[3,1]", "1, 1, 1") C (3, "f32[3]", "3.0, 5.0, 4.0")
      N (9, "scatter", "%1, %2, %3", "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1, kind = \"max\"", "f32[2]"),
    "f32[2]", "0.0, 5.0" },
  { "/sort", C (1, "f32[5]", "2.0, nan, -1.0, inf, 0.5") N (9, "sort", "%1", "dimension = 0, descending = 0", "f32[5]"), "f32[5]", "-1.0, 0.5, 2.0, inf, nan" },
  { "/sort/nan-down", C (1, "f32[6]", "2.0, nan, -0.0, 0.0, inf, 0.5") N (9, "sort", "%1", "dimension = 0, descending = 1", "f32[6]"), "f32[6]",
    "nan, inf, 2.0, 0.5, -0.0, 0.0" },
  { "/sort/descending-rows", C (1, "i32[2,3]", "1, 3, 2, 4, 6, 5") N (9, "sort", "%1", "dimension = 1, descending = 1", "i32[2,3]"), "i32[2,3]",
    "3, 2, 1, 6, 5, 4" },
  { "/sort/follows-and-is-stable",
    C (1, "i32[5]", "1, 0, 1, 0, 1") C (2, "f32[5]", "0.0, 1.0, 2.0, 3.0, 4.0")
      N (3, "sort", "%1, %2", "dimension = 0, descending = 0, stable = 1", "(i32[5], f32[5])") N (9, "result", "%3", "index = 1", "f32[5]"),
    "f32[5]", "1.0, 3.0, 0.0, 2.0, 4.0" },
  { "/sort/columns", C (1, "i32[3,2]", "3, 1, 1, 2, 2, 0") N (9, "sort", "%1", "dimension = 0", "i32[3,2]"), "i32[3,2]", "1, 0, 2, 1, 3, 2" },
  /* The known answer for Philox 4x32-10 with counter 0 and key 0 of the Random123 distribution. */
  { "/rng/philox",
    C (1, "u64[2]", "0, 0") N (2, "rng_bit_generator", "%1", "shape = [4], to = type u32[]", "(u64[2], u32[4])") N (9, "result", "%2", "index = 1", "u32[4]"),
    "u32[4]", "1713891541, 3781805453, 3159862348, 2600524760" },
  { "/rng/state",
    C (1, "u64[2]", "5, 7") N (2, "rng_bit_generator", "%1", "shape = [5], to = type u32[]", "(u64[2], u32[5])") N (9, "result", "%2", "index = 0", "u64[2]"),
    "u64[2]", "5, 9" },
  { "/rng/empty", C (1, "u64[2]", "5, 7") N (2, "rng_bit_generator", "%1", "shape = [0]", "(u64[2], u32[0])") N (9, "result", "%2", "index = 0", "u64[2]"),
    "u64[2]", "5, 7" },
  { "/empty", C (1, "f32[0,3]", "") N (9, "exponential", "%1", "", "f32[0,3]"), "f32[0,3]", "" },
};

static GantryModule *
parse (GantryContext *context, const char *text)
{
  g_autoptr (GError) error = NULL;
  GantryModule *module = gantry_module_from_text (context, text, -1, "case", &error);

  g_assert_no_error (error);
  g_assert_true (gantry_verify (module, NULL, &error));
  g_assert_no_error (error);
  return module;
}

static void
assert_near (const GantryLiteral *got, const GantryLiteral *expected, double tolerance)
{
  g_assert_true (gantry_type_same_shape (got->type, expected->type));
  for (gint64 i = 0; i < gantry_type_elements (expected->type); i++)
    {
      double a = gantry_literal_get_double (got, i);
      double b = gantry_literal_get_double (expected, i);

      if (fabs (a - b) > tolerance * MAX (1.0, fabs (b)))
        g_error ("element %" G_GINT64_FORMAT " is %.17g, not %.17g", i, a, b);
    }
}

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autofree char *text = g_strdup_printf ("module \"case\" { func @main #1 () -> (%%9, %%10) {\n%s"
                                           "%%10 = constant() {value = dense<%s: %s>}: %s } }",
                                           c->nodes, c->type, c->expected, c->type);
  g_autoptr (GantryModule) module = parse (context, text);
  GantryLiteral *results[2] = { NULL };

  gantry_evaluate (module, gantry_module_entry (module), NULL, results, NULL, &error);
  g_assert_no_error (error);
  if (c->tolerance > 0)
    assert_near (results[0], results[1], c->tolerance);
  else if (!gantry_literal_equal (results[0], results[1]))
    {
      gint64 n = gantry_type_elements (results[0]->type);

      for (gint64 i = 0; i < n; i++)
        g_printerr ("%s%.17g", i == 0 ? "got " : ", ", gantry_literal_get_double (results[0], i));
      g_error ("%s: not the expected value", c->path);
    }
  gantry_literal_unref (results[0]);
  gantry_literal_unref (results[1]);
}

/* Functions and control */

static gint64
run_on_int (GantryModule *module, gint64 argument)
{
  g_autoptr (GError) error = NULL;
  const GantryNode *parameter = &module->nodes[gantry_module_entry (module)->first_node];
  guint8 *data;
  g_autoptr (GantryLiteral) literal = gantry_literal_new_zeroed (gantry_node_type (module, parameter), &data);
  g_autoptr (GantryLiteral) result = NULL;

  gantry_element_write_int (GANTRY_I32, data, argument);
  gantry_evaluate (module, gantry_module_entry (module), &literal, &result, NULL, &error);
  g_assert_no_error (error);
  return gantry_literal_get_int (result, 0);
}

static const char loop_text[] = "module \"loop\" {\n"
                                "func @main #1 (%1: i32[]) -> (%5) {\n"
                                "  %2 = constant() {value = dense<i32[]: 1>}: i32[]\n"
                                "  %3 = while(%1, %2) {cond = @more #2, body = @step #3}: (i32[], i32[])\n"
                                "  %4 = result(%3) {index = 1}: i32[]\n"
                                "  %5 = call(%4) {body = @twice #4}: i32[]\n"
                                "}\n"
                                "func @more #2 (%11: i32[], %12: i32[]) -> (%14) {\n"
                                "  %13 = constant() {value = dense<i32[]: 0>}: i32[]\n"
                                "  %14 = compare(%11, %13) {comparison_direction = \"GT\"}: bool[]\n"
                                "}\n"
                                "func @step #3 (%21: i32[], %22: i32[]) -> (%24, %25) {\n"
                                "  %23 = constant() {value = dense<i32[]: 1>}: i32[]\n"
                                "  %24 = subtract(%21, %23): i32[]\n"
                                "  %25 = multiply(%22, %21): i32[]\n"
                                "}\n"
                                "func @twice #4 (%31: i32[]) -> (%32) { %32 = add(%31, %31): i32[] }\n"
                                "}\n";

static void
test_loop (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = parse (context, loop_text);

  g_assert_cmpint (run_on_int (module, 5), ==, 240);
  g_assert_cmpint (run_on_int (module, 0), ==, 2);
}

static void
test_branch (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = parse (context, "module \"branch\" {\n"
                                                    "func @main #1 (%1: i32[]) -> (%4) {\n"
                                                    "  %2 = constant() {value = dense<i32[]: 10>}: i32[]\n"
                                                    "  %3 = compare(%1, %2) {comparison_direction = \"LT\"}: bool[]\n"
                                                    "  %4 = if(%3, %1, %2) {then = #2, else = #3}: i32[]\n"
                                                    "}\n"
                                                    "func @small #2 (%11: i32[], %12: i32[]) -> (%13) { %13 = add(%11, %12): i32[] }\n"
                                                    "func @large #3 (%21: i32[], %22: i32[]) -> (%23) { %23 = subtract(%21, %22): i32[] }\n"
                                                    "}\n");

  g_assert_cmpint (run_on_int (module, 3), ==, 13);
  g_assert_cmpint (run_on_int (module, 30), ==, 20);
}

static void
test_fusion (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = parse (context, "module \"fusion\" {\n"
                                                    "func @main #1 (%1: i32[]) -> (%4) {\n"
                                                    "  %2 = fusion(%1, %1) {body = @body #2, kind = \"elementwise\"}: (i32[], i32[])\n"
                                                    "  %3 = result(%2) {index = 0}: i32[]\n"
                                                    "  %5 = result(%2) {index = 1}: i32[]\n"
                                                    "  %4 = subtract(%3, %5): i32[]\n"
                                                    "}\n"
                                                    "func @body #2 (%11: i32[], %12: i32[]) -> (%13, %14) {\n"
                                                    "  %13 = multiply(%11, %12): i32[]\n"
                                                    "  %14 = add(%13, %12): i32[]\n"
                                                    "}\n"
                                                    "}\n");

  g_assert_cmpint (run_on_int (module, 7), ==, -7);
}

static void
test_cancel (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  GantryProgress progress = { .cancellable = cancellable };
  GantryLiteral *result = NULL;
  g_autoptr (GantryModule) module = parse (context, "module \"forever\" {\n"
                                                    "func @main #1 () -> (%2) {\n"
                                                    "  %1 = constant() {value = dense<i32[]: 1>}: i32[]\n"
                                                    "  %2 = while(%1) {cond = #2, body = #3}: i32[]\n"
                                                    "}\n"
                                                    "func @more #2 (%11: i32[]) -> (%12) { %12 = constant() {value = dense<bool[]: true>}: bool[] }\n"
                                                    "func @step #3 (%21: i32[]) -> (%21) { }\n"
                                                    "}\n");

  g_cancellable_cancel (cancellable);
  g_assert_false (gantry_evaluate (module, gantry_module_entry (module), NULL, &result, &progress, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
test_errors (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = parse (context, "module \"custom\" {\n"
                                                    "func @main #1 (%1: f32[2]) -> (%2) { %2 = custom_call(%1) {target = \"x\", to = type f32[2]}: f32[2] }\n"
                                                    "}\n");
  const GantryType *types[2] = { gantry_node_type (module, &module->nodes[0]), gantry_context_type (context, gantry_context_scalar (context, GANTRY_F32)) };
  g_autoptr (GantryLiteral) good = gantry_literal_new_zeroed (types[0], NULL);
  g_autoptr (GantryLiteral) bad = gantry_literal_new_zeroed (types[1], NULL);
  GantryLiteral *result = NULL;

  g_assert_false (gantry_evaluate (module, gantry_module_entry (module), &good, &result, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "custom_call (%2"));
  g_clear_error (&error);
  g_assert_false (gantry_evaluate (module, gantry_module_entry (module), &bad, &result, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_assert_null (result);
}

/* A splat stays one element, however large it is said to be. */
/* 2^40 sums, one by one, would take a night: refused with what is so large. */
static void
test_too_much (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  GantryLiteral *result = NULL;
  g_autoptr (GantryModule) module = parse (context, "module \"expanded\" {\n"
                                                    "func @main #1 () -> (%2) {\n"
                                                    "  %1 = constant() {value = splat<f32[1048576,1048576]: 1.0>}: f32[1048576,1048576]\n"
                                                    "  %2 = reduce(%1) {kind = \"add\", dimensions = [0,1]}: f32[]\n"
                                                    "}\n"
                                                    "}\n");

  g_assert_false (gantry_evaluate (module, gantry_module_entry (module), NULL, &result, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE);
  g_assert_nonnull (strstr (error->message, "reduce (%2"));
  g_assert_nonnull (strstr (error->message, "f32[1048576,1048576]"));
}

static void
test_splat (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  GantryLiteral *result = NULL;
  g_autoptr (GantryModule) module = parse (context, "module \"splat\" { func @main #1 () -> (%6) {\n"
                                                    "%1 = constant() {value = splat<f32[100000,100000]: 1.5>}: f32[100000,100000]\n"
                                                    "%2 = constant() {value = dense<f32[]: 2.0>}: f32[]\n"
                                                    "%3 = broadcast_in_dim(%2) {shape = [100000, 100000], broadcast_dimensions = ints[]}: f32[100000,100000]\n"
                                                    "%4 = multiply(%1, %3): f32[100000,100000]\n"
                                                    "%5 = transpose(%4) {permutation = [1, 0]}: f32[100000,100000]\n"
                                                    "%6 = reshape(%5) {shape = [10000000000]}: f32[10000000000] } }\n");

  gantry_evaluate (module, gantry_module_entry (module), NULL, &result, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (result->splat);
  g_assert_cmpfloat (gantry_literal_get_double (result, 12345), ==, 3.0);
  gantry_literal_unref (result);
}

/* Expressions made by hand: nested sums, and what happens out of range. */

static GantryLiteral *
floats (GantryContext *context, guint rank, const gint64 *dims)
{
  const GantryType *type = gantry_context_type (context, gantry_context_tensor (context, GANTRY_F32, rank, dims));
  guint8 *data;
  GantryLiteral *literal = gantry_literal_new_zeroed (type, &data);

  for (gint64 i = 0; i < gantry_type_elements (type); i++)
    gantry_element_write_double (GANTRY_F32, data + 4 * i, (double) i);
  return literal;
}

static void
test_large_transpose (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryLiteral) x = floats (context, 3, (const gint64[]){ 5, 67, 83 });
  g_autoptr (GantryLiteral) y = NULL;
  g_autoptr (GantryModule) module = parse (context, "module \"t\" { func @main #1 (%1: f32[5,67,83]) -> (%2) {\n"
                                                    "%2 = transpose(%1) {permutation = [2, 0, 1]}: f32[83,5,67] } }\n");

  gantry_evaluate (module, gantry_module_entry (module), &x, &y, NULL, &error);
  g_assert_no_error (error);
  for (gint64 i = 0; i < 5; i++)
    for (gint64 j = 0; j < 67; j++)
      for (gint64 k = 0; k < 83; k++)
        g_assert_cmpfloat (gantry_literal_get_double (y, (k * 5 + i) * 67 + j), ==, (double) ((i * 67 + j) * 83 + k));
}

/* A convolution of many blocks against the sum written out. */
static void
test_large_convolution (void)
{
  enum
  {
    C_IN = 4,
    C_OUT = 6,
    H = 13,
    W = 11
  };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryLiteral) x = floats (context, 4, (const gint64[]){ 2, C_IN, H, W });
  g_autoptr (GantryLiteral) w = floats (context, 4, (const gint64[]){ C_OUT, C_IN / 2, 3, 3 });
  g_autoptr (GantryLiteral) y = NULL;
  g_autoptr (GantryModule) module = parse (context, "module \"c\" { func @main #1 (%1: f32[2,4,13,11], %2: f32[6,2,3,3]) -> (%3) {\n"
                                                    "%3 = convolution(%1, %2) {window_strides = [2, 1], padding = [1, 0, 2, 1], rhs_dilation = [1, 2],"
                                                    " feature_group_count = 2}: f32[2,6,6,10] } }\n");
  GantryLiteral *arguments[] = { x, w };

  gantry_evaluate (module, gantry_module_entry (module), arguments, &y, NULL, &error);
  g_assert_no_error (error);
  for (gint64 i = 0; i < gantry_type_elements (y->type); i++)
    {
      gint64 ow = i % 10, oh = i / 10 % 6, o = i / 60 % C_OUT, n = i / 60 / C_OUT;
      double sum = 0;

      for (gint64 c = 0; c < C_IN / 2; c++)
        for (gint64 kh = 0; kh < 3; kh++)
          for (gint64 kw = 0; kw < 3; kw++)
            {
              gint64 h = oh * 2 + kh - 1, v = ow + kw * 2 - 2;

              if (h >= 0 && h < H && v >= 0 && v < W)
                sum += (double) (((n * C_IN + o / 3 * 2 + c) * H + h) * W + v) * (double) (((o * 2 + c) * 3 + kh) * 3 + kw);
            }
      g_assert_cmpfloat (gantry_literal_get_double (y, i), ==, (double) (float) sum);
    }
}

/* y[i] = x[i + 1], of which the last element is not there; @guarded: it is 7 then. */
static GantryLiteral *
shifted (GantryContext *context, gboolean guarded, gboolean by_table, GError **error)
{
  const gint64 dims[] = { 300 };
  g_autoptr (GantryLiteral) x = floats (context, 1, dims);
  g_autoptr (GantryLiteral) table = gantry_literal_new_zeroed (gantry_context_type (context, gantry_context_tensor (context, GANTRY_I64, 1, dims)), NULL);
  const GantryType *inputs[2] = { x->type, table->type };
  GantryTexprBuilder *b = gantry_texpr_builder_new (GANTRY_F32, 1, dims, 2, inputs);
  GantryLiteral *literals[2] = { x, table };
  guint32 i = gantry_tx_index (b, 0);
  guint32 at = gantry_tx_binary (b, GANTRY_OP_ADD, i, gantry_tx_int (b, 1));
  guint32 y;

  if (by_table) /* an index that is loaded cannot be seen through */
    at = gantry_tx_binary (b, GANTRY_OP_ADD, at, gantry_tx_load (b, 1, &i));
  y = gantry_tx_load (b, 0, &at);
  if (guarded)
    y = gantry_tx_select (b, gantry_tx_compare (b, GANTRY_LT, i, gantry_tx_int (b, 299)), y, gantry_tx_const (b, GANTRY_F32, 7));
  g_autoptr (GantryTexpr) texpr = gantry_texpr_builder_end (b, y);
  return _gantry_texpr_evaluate (texpr, literals, x->type, NULL, error);
}

static void
test_out_of_range (void)
{
  for (guint by_table = 0; by_table < 2; by_table++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryLiteral) y = shifted (context, TRUE, by_table, &error);

      g_assert_no_error (error);
      g_assert_cmpfloat (gantry_literal_get_double (y, 298), ==, 299);
      g_assert_cmpfloat (gantry_literal_get_double (y, 299), ==, 7);
      g_assert_null (shifted (context, FALSE, by_table, &error));
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
      g_assert_nonnull (strstr (error->message, "element 299 "));
    }
}

/* y[i] = sum over j of x[i, j] * (max over k of x[k, j] - sum over k of x[i, k]): reductions within one. */
static void
test_nested_sums (void)
{
  enum
  {
    N = 5,
    M = 7
  };
  const gint64 dims[] = { N, M };
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryLiteral) x = floats (context, 2, dims);
  const GantryType *result = gantry_context_type (context, gantry_context_tensor (context, GANTRY_F32, 1, dims));
  GantryTexprBuilder *b = gantry_texpr_builder_new (GANTRY_F32, 1, dims, 1, &x->type);
  guint j = gantry_tx_axis (b, M), k = gantry_tx_axis (b, N), l = gantry_tx_axis (b, M);
  guint32 i = gantry_tx_index (b, 0), vj = gantry_tx_index (b, j), vk = gantry_tx_index (b, k), vl = gantry_tx_index (b, l);
  guint32 most = gantry_tx_reduce (b, GANTRY_OP_MAXIMUM, gantry_tx_load (b, 0, (guint32[]){ vk, vj }), &k, 1);
  guint32 row = gantry_tx_reduce (b, GANTRY_OP_ADD, gantry_tx_load (b, 0, (guint32[]){ i, vl }), &l, 1);
  guint32 term = gantry_tx_binary (b, GANTRY_OP_MULTIPLY, gantry_tx_load (b, 0, (guint32[]){ i, vj }), gantry_tx_binary (b, GANTRY_OP_SUBTRACT, most, row));
  g_autoptr (GantryTexpr) texpr = gantry_texpr_builder_end (b, gantry_tx_reduce (b, GANTRY_OP_ADD, term, &j, 1));
  g_autoptr (GantryLiteral) y = _gantry_texpr_evaluate (texpr, &x, result, NULL, &error);

  g_assert_no_error (error);
  for (gint64 r = 0; r < N; r++)
    {
      double sum = 0, line = 0;

      for (gint64 c = 0; c < M; c++)
        line += (double) (r * M + c);
      for (gint64 c = 0; c < M; c++)
        sum += (double) (r * M + c) * ((double) ((N - 1) * M + c) - line);
      g_assert_cmpfloat (gantry_literal_get_double (y, r), ==, sum);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/evaluator", cases[i].path, NULL);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  g_test_add_func ("/evaluator/control/loop", test_loop);
  g_test_add_func ("/evaluator/control/branch", test_branch);
  g_test_add_func ("/evaluator/control/fusion", test_fusion);
  g_test_add_func ("/evaluator/control/cancel", test_cancel);
  g_test_add_func ("/evaluator/errors", test_errors);
  g_test_add_func ("/evaluator/too-much", test_too_much);
  g_test_add_func ("/evaluator/splat", test_splat);
  g_test_add_func ("/evaluator/expression/out-of-range", test_out_of_range);
  g_test_add_func ("/evaluator/expression/nested-sums", test_nested_sums);
  g_test_add_func ("/evaluator/large/transpose", test_large_transpose);
  g_test_add_func ("/evaluator/large/convolution", test_large_convolution);
  return g_test_run ();
}
