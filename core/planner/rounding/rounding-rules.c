/* SPDX-License-Identifier: Apache-2.0 */
/* What operations ask of their operands. */
#include "core/planner/rounding/rounding-private.h"
#include <math.h>
#include <string.h>

/* What is asked of a sum, or of another function that may be zero where its operand is not, is asked of the operand like this. */
static guint8
of_sum (guint8 asked)
{
  guint8 kept = asked & (ASKED_EXACT | ASKED_CANCELS);

  kept |= asked & ASKED_SIGN ? ASKED_EXACT : 0;
  return kept | (asked & (ASKED_DIVISOR | ASKED_DOMAIN) ? ASKED_CANCELS : 0);
}

static void
ask_all (GantryRounding *rounding, const GantryNode *node, guint8 bits)
{
  for (guint k = 0; k < node->n_operands; k++)
    _gantry_rounding_ask (rounding, node, k, bits);
}

static Sign
sign_of_operand (const GantryRounding *rounding, const GantryNode *node, guint i)
{
  return rounding_sign (rounding, gantry_node_operand (rounding->module, node, i));
}

/* One with itself finds out NaN alone. */
static void
ask_compare (GantryRounding *rounding, const GantryNode *node)
{
  const gboolean same = gantry_node_operand_id (rounding->module, node, 0) == gantry_node_operand_id (rounding->module, node, 1);

  for (guint k = 0; k < 2; k++)
    _gantry_rounding_ask (rounding, node, k, same ? 0 : sign_of_operand (rounding, node, 1 - k) == SIGN_ZERO ? ASKED_SIGN : ASKED_EXACT);
}

static gboolean
is_float (const GantryType *type)
{
  return type->kind == GANTRY_TYPE_TENSOR && gantry_element_is_float (type->element);
}

static void
ask_convert (GantryRounding *rounding, const GantryNode *node, guint8 asked)
{
  const GantryModule *module = rounding->module;

  _gantry_rounding_ask (rounding, node, 0,
                        is_float (gantry_node_operand_type (module, node, 0)) && !is_float (gantry_node_type (module, node)) ? ASKED_EXACT : asked);
}

/* x^c is a product where c is 1, 2, ..., else a root, and a quotient where it may be negative. */
static void
ask_power (GantryRounding *rounding, const GantryNode *node, guint8 asked)
{
  double exponent;
  gboolean known = _gantry_rounding_constant (rounding->module, gantry_node_operand (rounding->module, node, 1), &exponent);

  if (!known || exponent < 0)
    asked |= ASKED_DIVISOR;
  if (!known || exponent != rint (exponent))
    asked |= ASKED_DOMAIN;
  _gantry_rounding_ask (rounding, node, 0, asked);
  _gantry_rounding_ask (rounding, node, 1, asked & (ASKED_EXACT | ASKED_CANCELS));
}

/* A sum of what is not negative is zero only where all of it is. */
static void
ask_add (GantryRounding *rounding, const GantryNode *node, guint8 asked)
{
  gboolean cancels = sign_of_operand (rounding, node, 0) == SIGN_ANY || sign_of_operand (rounding, node, 1) == SIGN_ANY;

  ask_all (rounding, node, cancels ? of_sum (asked) : asked);
}

/* A maximum is one of its operands; a sum of mixed signs errs no more than what a contraction gives, and differences do not all cancel
 * at once: a variance does not become zero. */
static void
ask_reduction (GantryRounding *rounding, const GantryNode *node, guint8 asked)
{
  const char *kind = gantry_attrs_string (rounding->module->context, node->attrs, "kind", "");

  if (strcmp (kind, "add") == 0)
    asked = sign_of_operand (rounding, node, 0) != SIGN_ANY && (asked & (ASKED_SIGN | ASKED_DIVISOR | ASKED_SOME)) ? ASKED_SOME : 0;
  _gantry_rounding_ask (rounding, node, 0, asked);
}

static void
ask_divide (GantryRounding *rounding, const GantryNode *node, guint8 asked)
{
  _gantry_rounding_ask (rounding, node, 0, asked);
  _gantry_rounding_ask (rounding, node, 1, asked | ASKED_DIVISOR);
}

/* The column `asks` of core/graph/scalar-ops.h. Returns: FALSE: @node is no scalar operation of it */
static gboolean
ask_scalar (GantryRounding *rounding, const GantryNode *node, guint8 asked)
{
#define ASKS(bits) \
  ask_all (rounding, node, bits); \
  return TRUE;
#define FACTOR ASKS (asked)
#define ADDEND ASKS (of_sum (asked))
#define RULE(name) \
  ask_##name (rounding, node, asked); \
  return TRUE;
#define UNARY(with, NAME, name, short_name, elements, result, cost, float_value, integer_value, float_code, integer_code, derivative, asks, ...) \
  case GANTRY_OP_##NAME: \
    asks
#define BINARY(with, NAME, name, short_name, elements, flags, cost, float_value, integer_value, float_code, integer_code, bool_code, derivative, identity, \
               range, asks, ...) \
  case GANTRY_OP_##NAME: asks
  const Sign x = sign_of_operand (rounding, node, 0);

  switch (node->op)
    {
      GANTRY_UNARY_OPERATIONS (UNARY, )
      GANTRY_BINARY_OPERATIONS (BINARY, )
    default: return FALSE;
    }
}

/* Zero where an operand is, and of a sign that follows from theirs; or made of elements of them. */
static gboolean
is_like_product (const GantryNode *node)
{
  switch (node->op)
    {
    case GANTRY_OP_CLAMP:
    case GANTRY_OP_SELECT:
    case GANTRY_OP_COPY:
    case GANTRY_OP_OPTIMIZATION_BARRIER:
    case GANTRY_OP_CHECKPOINT_NAME:
    case GANTRY_OP_REMATERIALIZE:
    case GANTRY_OP_TUPLE:
    case GANTRY_OP_RESULT: return TRUE;
    default: return gantry_op_info (node->op) != NULL && gantry_op_info (node->op)->op_class == GANTRY_CLASS_MOVEMENT && node->op != GANTRY_OP_SCATTER;
    }
}

void
_gantry_rounding_pass (GantryRounding *rounding, const GantryNode *node, guint8 asked)
{
  const GantryOpInfo *info = gantry_op_info (node->op);
  const Sign sign = rounding_sign (rounding, node);

  if (sign == SIGN_POSITIVE)
    asked &= ~ASKED_OF_FACTORS;
  else if (sign != SIGN_ANY)
    asked &= ~ASKED_DOMAIN;
  if (node->op == GANTRY_OP_COMPARE)
    ask_compare (rounding, node);
  else if (node->op == GANTRY_OP_CONVERT || node->op == GANTRY_OP_BITCAST_CONVERT)
    ask_convert (rounding, node, asked);
  else if (node->op == GANTRY_OP_REDUCE || node->op == GANTRY_OP_REDUCE_WINDOW)
    ask_reduction (rounding, node, asked);
  else if (node->op == GANTRY_OP_SORT)
    {
      ask_all (rounding, node, asked);
      _gantry_rounding_ask (rounding, node, 0, ASKED_EXACT);
    }
  else if (!ask_scalar (rounding, node, asked))
    ask_all (rounding, node, is_like_product (node) ? asked : info != NULL && (info->flags & GANTRY_OP_ELEMENTWISE) != 0 ? of_sum (asked) : 0);
}
