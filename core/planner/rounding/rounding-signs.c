/* SPDX-License-Identifier: Apache-2.0 */
/* Which values are never negative, and which are far from zero as well: sums of such cannot cancel. */
#include "core/graph/region.h"
#include "core/planner/rounding/rounding-private.h"
#include <string.h>

/* What is added to keep a divisor from zero, such as 1e-5, does not keep it from being much too small. */
#define FAR_FROM_ZERO 0.1

gboolean
_gantry_rounding_constant (const GantryModule *module, const GantryNode *node, double *value)
{
  GantryLiteral *literal;

  while (node != NULL && (node->op == GANTRY_OP_BROADCAST_IN_DIM || node->op == GANTRY_OP_RESHAPE || node->op == GANTRY_OP_CONVERT))
    node = gantry_node_operand (module, node, 0);
  literal = node != NULL ? gantry_node_literal (module, node) : NULL;
  if (literal == NULL || (!literal->splat && gantry_type_elements (literal->type) != 1))
    return FALSE;
  *value = gantry_literal_get_double (literal, 0);
  return TRUE;
}

static Sign
sign_of_constant (const GantryModule *module, const GantryNode *node)
{
  double value;

  if (!_gantry_rounding_constant (module, node, &value) || !(value >= 0))
    return SIGN_ANY;
  return value == 0 ? SIGN_ZERO : value >= FAR_FROM_ZERO ? SIGN_POSITIVE : SIGN_NOT_NEGATIVE;
}

/* Of a sum or maximum of values of both signs. */
static Sign
sign_of_sum (Sign x, Sign y)
{
  if (x == SIGN_ANY || y == SIGN_ANY)
    return SIGN_ANY;
  return x == SIGN_POSITIVE || y == SIGN_POSITIVE ? SIGN_POSITIVE : x == y ? x : SIGN_NOT_NEGATIVE;
}

/* Of a value that is one of either. */
static Sign
sign_of_either (Sign x, Sign y)
{
  return x == y ? x : x == SIGN_ANY || y == SIGN_ANY ? SIGN_ANY : SIGN_NOT_NEGATIVE;
}

static Sign
sign_of_product (const GantryRounding *rounding, const GantryNode *node, Sign x, Sign y)
{
  if (x == SIGN_POSITIVE && y == SIGN_POSITIVE && node->op == GANTRY_OP_MULTIPLY)
    return SIGN_POSITIVE;
  return (x != SIGN_ANY && y != SIGN_ANY) || gantry_node_operand_id (rounding->module, node, 0) == gantry_node_operand_id (rounding->module, node, 1)
           ? SIGN_NOT_NEGATIVE
           : SIGN_ANY;
}

static Sign
sign_of_reduction (const GantryModule *module, const GantryNode *node, Sign x)
{
  const char *kind = gantry_attrs_string (module->context, node->attrs, "kind", "");

  return x != SIGN_ANY && (strcmp (kind, "add") == 0 || strcmp (kind, "max") == 0) && node->op == GANTRY_OP_REDUCE ? x
         : x != SIGN_ANY                                                                                           ? SIGN_NOT_NEGATIVE
                                                                                                                   : SIGN_ANY;
}

static Sign
sign_of_power (const GantryRounding *rounding, const GantryNode *node, Sign x, Sign y)
{
  const GantryModule *module = rounding->module;
  double exponent;

  return x != SIGN_ANY || (_gantry_rounding_constant (module, gantry_node_operand (module, node, 1), &exponent) && exponent == 2) ? SIGN_NOT_NEGATIVE
                                                                                                                                  : SIGN_ANY;
}

static Sign
sign_of_all (const GantryRounding *rounding, const GantryNode *node)
{
  Sign sign = rounding_sign (rounding, gantry_node_operand (rounding->module, node, 0));

  for (guint k = 1; k < node->n_operands; k++)
    sign = sign_of_either (sign, rounding_sign (rounding, gantry_node_operand (rounding->module, node, k)));
  return sign;
}

static Sign
sign_of_maximum (Sign x, Sign y)
{
  if (x == SIGN_POSITIVE || y == SIGN_POSITIVE)
    return SIGN_POSITIVE;
  return x != SIGN_ANY || y != SIGN_ANY ? SIGN_NOT_NEGATIVE : SIGN_ANY;
}

/* The column `sign` of core/graph/scalar-ops.h */
static Sign
sign_of_scalar (const GantryRounding *rounding, const GantryNode *node, Sign x, Sign y)
{
#define SIGN(expression) return expression;
#define RULE(name) return sign_of_##name (rounding, node, x, y);
#define ANY_SIGN return SIGN_ANY;
#define UNARY(with, NAME, name, short_name, elements, result, cost, float_value, integer_value, float_code, integer_code, derivative, asks, sign) \
  case GANTRY_OP_##NAME: \
    sign
#define BINARY(with, NAME, name, short_name, elements, flags, cost, float_value, integer_value, float_code, integer_code, bool_code, derivative, identity, \
               range, asks, sign) \
  case GANTRY_OP_##NAME: sign
  switch (node->op)
    {
      GANTRY_UNARY_OPERATIONS (UNARY, )
      GANTRY_BINARY_OPERATIONS (BINARY, )
    default: return SIGN_ANY;
    }
}

static Sign
sign_of (const GantryRounding *rounding, const GantryNode *node)
{
  const GantryModule *module = rounding->module;
  Sign x = rounding_sign (rounding, gantry_node_operand (module, node, 0)),
       y = node->n_operands > 1 ? rounding_sign (rounding, gantry_node_operand (module, node, 1)) : SIGN_ANY;

  switch (node->op)
    {
    case GANTRY_OP_CONSTANT: return sign_of_constant (module, node);
    case GANTRY_OP_PAD:
    case GANTRY_OP_CONCATENATE:
    case GANTRY_OP_REMATERIALIZE: return sign_of_all (rounding, node);
    case GANTRY_OP_SELECT: return sign_of_either (y, rounding_sign (rounding, gantry_node_operand (module, node, 2)));
    case GANTRY_OP_REDUCE:
    case GANTRY_OP_REDUCE_WINDOW: return sign_of_reduction (module, node, x);
    case GANTRY_OP_CONVERT:
    case GANTRY_OP_COPY:
    case GANTRY_OP_OPTIMIZATION_BARRIER:
    case GANTRY_OP_CHECKPOINT_NAME:
    case GANTRY_OP_BROADCAST_IN_DIM:
    case GANTRY_OP_RESHAPE:
    case GANTRY_OP_TRANSPOSE:
    case GANTRY_OP_REVERSE:
    case GANTRY_OP_SLICE:
    case GANTRY_OP_GATHER:
    case GANTRY_OP_DYNAMIC_SLICE: return x;
    default: return sign_of_scalar (rounding, node, x, y);
    }
}

/* The function that a fusion or a scan is made of. @n_carries: (out): results that need not have the sign of those of the function.
 * (nullable) */
static const GantryFunction *
body_of (const GantryModule *module, const GantryNode *node, guint *n_carries)
{
  const GantryFunction *body = gantry_node_fusion_body (module, node);
  GantryControl control;

  *n_carries = 0;
  if (body != NULL || node->op != GANTRY_OP_SCAN || !gantry_control_of (module, node, &control))
    return body;
  *n_carries = control.n_carries;
  return gantry_module_function (module, control.functions[GANTRY_CONTROL_BODY]);
}

void
_gantry_rounding_find_signs (GantryRounding *rounding, const GantryFunction *function, const GantryNode *node, guint first, guint n_unknown)
{
  const GantryModule *module = rounding->module;

  for (guint32 i = 0; i < function->n_nodes; i++)
    {
      const guint32 at = function->first_node + i;
      const GantryNode *inner = &module->nodes[at];
      guint n_carries;
      const GantryFunction *body = body_of (module, inner, &n_carries);

      if (body != NULL)
        _gantry_rounding_find_signs (rounding, body, inner, 0, n_carries);
      for (guint32 s = rounding->first[at]; s < rounding->first[at + 1]; s++)
        {
          const guint m = s - rounding->first[at];
          const GantryNode *result = body != NULL && m >= n_carries && m < body->n_results
                                       ? gantry_module_node (module, gantry_function_result_id (module, body, m))
                                       : NULL;

          if (rounding->shown[s] != s)
            continue;
          if (i < function->n_params)
            rounding->sign[s] = (guint8) (node != NULL && i >= n_unknown && first + i < node->n_operands
                                            ? rounding_sign (rounding, gantry_node_operand (module, node, first + i))
                                            : SIGN_ANY);
          else
            rounding->sign[s] = (guint8) (body != NULL ? rounding_sign (rounding, result) : m == 0 ? sign_of (rounding, inner) : SIGN_ANY);
        }
    }
}
