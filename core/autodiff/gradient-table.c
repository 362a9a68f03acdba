/* SPDX-License-Identifier: Apache-2.0 */
/* The table of derivatives: those of scalar operations from core/graph/scalar-ops.h, then a line for each other one. One that is not
 * listed is refused by name. */
#include "core/autodiff/gradient-private.h"
#include "core/graph/operation.h"

#define RULE_OF(OP, name) [GANTRY_OP_##OP] = { .rule = _gantry_gradient_##name }
#define NO_DERIVATIVE(OP) [GANTRY_OP_##OP] = { .is_zero = TRUE }
#define REFUSED(OP, reason) [GANTRY_OP_##OP] = { .why = reason }

/* The derivatives in the table of scalar operations. */
#define OPERAND(expression) \
  { \
    .rule = _gantry_gradient_unary \
  }
#define RESULT(expression) \
  { \
    .rule = _gantry_gradient_unary \
  }
#define RULE(name) \
  { \
    .rule = _gantry_gradient_##name \
  }
#define ZERO \
  { \
    .is_zero = TRUE \
  }
#define UNARY(with, NAME, name, short_name, elements, result, cost, float_value, integer_value, float_code, integer_code, derivative, ...) \
  [GANTRY_OP_##NAME] = derivative,
#define BINARY(with, NAME, name, short_name, elements, flags, cost, float_value, integer_value, float_code, integer_code, bool_code, derivative, ...) \
  [GANTRY_OP_##NAME] = derivative,

static const GantryGradient table[GANTRY_N_OPS] = {
  RULE_OF (TUPLE, tuple),
  RULE_OF (RESULT, result),
  RULE_OF (IF, if),
  RULE_OF (SCAN, scan),
  REFUSED (WHILE, "a loop of any number of trips cannot be walked back; attribute most_trips bounds it"),
  RULE_OF (OPTIMIZATION_BARRIER, pass),
  RULE_OF (CHECKPOINT_NAME, pass),
  RULE_OF (COPY, copy),
  GANTRY_UNARY_OPERATIONS (UNARY, ) RULE_OF (CONVERT, convert),
  REFUSED (BITCAST_CONVERT, "the bits of a number are no smooth function of it"),
  GANTRY_BINARY_OPERATIONS (BINARY, ) RULE_OF (SELECT, select),
  RULE_OF (CLAMP, clamp),
  RULE_OF (BROADCAST_IN_DIM, broadcast),
  RULE_OF (RESHAPE, reshape),
  RULE_OF (TRANSPOSE, transpose),
  RULE_OF (REVERSE, reverse),
  RULE_OF (SLICE, slice),
  RULE_OF (PAD, pad),
  RULE_OF (CONCATENATE, concatenate),
  RULE_OF (GATHER, gather),
  RULE_OF (DYNAMIC_SLICE, dynamic_slice),
  RULE_OF (DYNAMIC_UPDATE_SLICE, dynamic_update_slice),
  RULE_OF (SCATTER, scatter),
  RULE_OF (REDUCE, reduce),
  RULE_OF (REDUCE_WINDOW, reduce_window),
  RULE_OF (DOT_GENERAL, dot_general),
  RULE_OF (CONVOLUTION, convolution),
  RULE_OF (SORT, sort),
  REFUSED (CUSTOM_CALL, "what is called by name has no known derivative"),
  /* Before anything is differentiated, calls and fusions are inlined. */
  NO_DERIVATIVE (PARAMETER),
  NO_DERIVATIVE (CONSTANT),
  NO_DERIVATIVE (CALL),
  NO_DERIVATIVE (FUSION),
  NO_DERIVATIVE (COMPARE),
  NO_DERIVATIVE (IOTA),
  NO_DERIVATIVE (RNG_BIT_GENERATOR),
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
