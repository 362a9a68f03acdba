/* SPDX-License-Identifier: Apache-2.0 */
/* The table of derivatives: a line for each operation. One that is not listed is refused by name. */
#include "core/autodiff/gradient-private.h"
#include "core/graph/operation.h"

#define RULE(OP, name) [GANTRY_OP_##OP] = { .rule = _gantry_gradient_##name }
#define ZERO(OP) [GANTRY_OP_##OP] = { .is_zero = TRUE }
#define REFUSED(OP, reason) [GANTRY_OP_##OP] = { .why = reason }

static const GantryGradient table[GANTRY_N_OPS] = {
  RULE (TUPLE, tuple),
  RULE (RESULT, result),
  RULE (IF, if),
  RULE (SCAN, scan),
  REFUSED (WHILE,
           "a loop of any number of trips cannot be walked back; attribute most_trips bounds it"),
  RULE (OPTIMIZATION_BARRIER, pass),
  RULE (CHECKPOINT_NAME, pass),
  RULE (COPY, copy),
  RULE (ABS, unary),
  RULE (NEGATE, unary),
  RULE (EXPONENTIAL, unary),
  RULE (EXPONENTIAL_MINUS_ONE, unary),
  RULE (LOG, unary),
  RULE (LOG_PLUS_ONE, unary),
  RULE (LOGISTIC, unary),
  RULE (TANH, unary),
  RULE (SQRT, unary),
  RULE (RSQRT, unary),
  RULE (CBRT, unary),
  RULE (SINE, unary),
  RULE (COSINE, unary),
  RULE (TAN, unary),
  RULE (ASIN, unary),
  RULE (ACOS, unary),
  RULE (ATAN, unary),
  RULE (SINH, unary),
  RULE (COSH, unary),
  RULE (ASINH, unary),
  RULE (ACOSH, unary),
  RULE (ATANH, unary),
  RULE (ERF, unary),
  RULE (CONVERT, convert),
  REFUSED (BITCAST_CONVERT, "the bits of a number are no smooth function of it"),
  RULE (ADD, add),
  RULE (SUBTRACT, subtract),
  RULE (MULTIPLY, multiply),
  RULE (DIVIDE, divide),
  RULE (REMAINDER, remainder),
  RULE (POWER, power),
  RULE (MAXIMUM, extremum),
  RULE (MINIMUM, extremum),
  RULE (ATAN2, atan2),
  RULE (SELECT, select),
  RULE (CLAMP, clamp),
  RULE (BROADCAST_IN_DIM, broadcast),
  RULE (RESHAPE, reshape),
  RULE (TRANSPOSE, transpose),
  RULE (REVERSE, reverse),
  RULE (SLICE, slice),
  RULE (PAD, pad),
  RULE (CONCATENATE, concatenate),
  RULE (GATHER, gather),
  RULE (DYNAMIC_SLICE, dynamic_slice),
  RULE (DYNAMIC_UPDATE_SLICE, dynamic_update_slice),
  RULE (SCATTER, scatter),
  RULE (REDUCE, reduce),
  RULE (REDUCE_WINDOW, reduce_window),
  RULE (DOT_GENERAL, dot_general),
  RULE (CONVOLUTION, convolution),
  RULE (SORT, sort),
  REFUSED (CUSTOM_CALL, "what is called by name has no known derivative"),
  /* Before anything is differentiated, calls and fusions are inlined. */
  ZERO (PARAMETER), ZERO (CONSTANT), ZERO (CALL), ZERO (FUSION),
  ZERO (SIGN), ZERO (FLOOR), ZERO (CEIL), ZERO (ROUND_NEAREST_EVEN), ZERO (ROUND_NEAREST_AFZ), ZERO (IS_FINITE), ZERO (IS_NAN),
  ZERO (NOT), ZERO (POPCNT), ZERO (COUNT_LEADING_ZEROS), ZERO (AND), ZERO (OR), ZERO (XOR), ZERO (SHIFT_LEFT),
  ZERO (SHIFT_RIGHT_ARITHMETIC), ZERO (SHIFT_RIGHT_LOGICAL), ZERO (COMPARE), ZERO (IOTA), ZERO (RNG_BIT_GENERATOR),
};

const GantryGradient *
_gantry_gradient_of (guint op)
{
  static const GantryGradient foreign = { .why = "an imported operation has a derivative only once it is legalized" };
  static const GantryGradient unlisted = { .why = "the table of derivatives does not list it" };

  if (op >= GANTRY_N_OPS)
    return &foreign;
  return table[op].rule != NULL || table[op].why != NULL || table[op].is_zero ? &table[op] : &unlisted;
}

/* Calls and fusions are inlined, bounded loops become scans. */
gboolean
gantry_op_is_differentiable (guint op)
{
  return gantry_op_info (op) != NULL && (_gantry_gradient_of (op)->why == NULL || op == GANTRY_OP_WHILE);
}
