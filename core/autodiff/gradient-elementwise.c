/* SPDX-License-Identifier: Apache-2.0 */
/* Derivatives of the elementwise operations. Where the result itself says the derivative (tanh,
 * exponential, sqrt, ...) the rule reads the result and not the operand: one residual serves two
 * operations then. */
#include "core/autodiff/gradient-private.h"
#include "core/graph/operation.h"
#include <math.h>
#include <string.h>

#define B d->builder

static guint32
unary (GantryDiff *d, guint op, guint32 x)
{
  return gantry_builder_unary (B, op, x);
}

static guint32
binary (GantryDiff *d, guint op, guint32 x, guint32 y)
{
  return gantry_builder_binary (B, op, x, y);
}

static guint32
square (GantryDiff *d, guint32 x)
{
  return _gantry_diff_multiply (d, x, x);
}

/* 1 - x^2 */
static guint32
one_minus_square (GantryDiff *d, guint32 x)
{
  return binary (d, GANTRY_OP_SUBTRACT, _gantry_diff_splat_like (d, x, 1), square (d, x));
}

/* 1 + x^2 */
static guint32
one_plus_square (GantryDiff *d, guint32 x)
{
  return _gantry_diff_shift (d, square (d, x), 1);
}

/* At 0 nothing, as a sign is 0 there; the node may count 0 as positive, which is how JAX differentiates. */
static guint32
abs_back (GantryDiff *d, const GantryNode *node, guint32 x, guint32 g)
{
  const char *zero = gantry_attrs_string (d->context, node->attrs, "zero", NULL);

  if (g_strcmp0 (zero, "positive") != 0)
    return _gantry_diff_multiply (d, g, unary (d, GANTRY_OP_SIGN, x));
  return gantry_builder_select (B, gantry_builder_compare (B, "GE", x, _gantry_diff_splat_like (d, x, 0)), g,
                                unary (d, GANTRY_OP_NEGATE, g));
}

/* g times f'(x), of those whose derivative the operand says. */
static guint32
unary_from_operand (GantryDiff *d, const GantryNode *node, guint32 x, guint32 g)
{
  guint32 t;

  switch (node->op)
    {
    case GANTRY_OP_ABS: return abs_back (d, node, x, g);
    case GANTRY_OP_LOG: return binary (d, GANTRY_OP_DIVIDE, g, x);
    case GANTRY_OP_LOG_PLUS_ONE:
      return binary (d, GANTRY_OP_DIVIDE, g, _gantry_diff_shift (d, x, 1));
    case GANTRY_OP_SINE: return _gantry_diff_multiply (d, g, unary (d, GANTRY_OP_COSINE, x));
    case GANTRY_OP_COSINE:
      return _gantry_diff_multiply (d, unary (d, GANTRY_OP_NEGATE, g),
                                    unary (d, GANTRY_OP_SINE, x));
    case GANTRY_OP_ASIN:
      return _gantry_diff_multiply (d, g, unary (d, GANTRY_OP_RSQRT, one_minus_square (d, x)));
    case GANTRY_OP_ACOS:
      return _gantry_diff_multiply (d, unary (d, GANTRY_OP_NEGATE, g),
                                    unary (d, GANTRY_OP_RSQRT, one_minus_square (d, x)));
    case GANTRY_OP_ATAN: return binary (d, GANTRY_OP_DIVIDE, g, one_plus_square (d, x));
    case GANTRY_OP_SINH: return _gantry_diff_multiply (d, g, unary (d, GANTRY_OP_COSH, x));
    case GANTRY_OP_COSH: return _gantry_diff_multiply (d, g, unary (d, GANTRY_OP_SINH, x));
    case GANTRY_OP_ASINH:
      return _gantry_diff_multiply (d, g, unary (d, GANTRY_OP_RSQRT, one_plus_square (d, x)));
    case GANTRY_OP_ACOSH:
      /* (x - 1) (x + 1) keeps digits near 1 that x^2 - 1 loses. */
      t = _gantry_diff_multiply (d, _gantry_diff_shift (d, x, -1), _gantry_diff_shift (d, x, 1));
      return _gantry_diff_multiply (d, g, unary (d, GANTRY_OP_RSQRT, t));
    case GANTRY_OP_ATANH: return binary (d, GANTRY_OP_DIVIDE, g, one_minus_square (d, x));
    case GANTRY_OP_ERF:
      t = unary (d, GANTRY_OP_EXPONENTIAL, unary (d, GANTRY_OP_NEGATE, square (d, x)));
      return _gantry_diff_multiply (d, g, _gantry_diff_scale (d, t, M_2_SQRTPI));
    case GANTRY_OP_NEGATE: return unary (d, GANTRY_OP_NEGATE, g);
    default: g_assert_not_reached (); /* the table of derivatives gives this rule to those above alone */
    }
}

/* g times f'(x), of those whose derivative the result y says. */
static guint32
unary_from_result (GantryDiff *d, guint op, guint32 y, guint32 g)
{
  switch (op)
    {
    case GANTRY_OP_EXPONENTIAL: return _gantry_diff_multiply (d, g, y);
    case GANTRY_OP_EXPONENTIAL_MINUS_ONE:
      return _gantry_diff_multiply (d, g, _gantry_diff_shift (d, y, 1));
    case GANTRY_OP_LOGISTIC:
      return _gantry_diff_multiply (
        d, g,
        _gantry_diff_multiply (
          d, y, binary (d, GANTRY_OP_SUBTRACT, _gantry_diff_splat_like (d, y, 1), y)));
    case GANTRY_OP_TANH: return _gantry_diff_multiply (d, g, one_minus_square (d, y));
    case GANTRY_OP_TAN: return _gantry_diff_multiply (d, g, one_plus_square (d, y));
    case GANTRY_OP_SQRT: return binary (d, GANTRY_OP_DIVIDE, _gantry_diff_scale (d, g, 0.5), y);
    case GANTRY_OP_RSQRT:
      return _gantry_diff_multiply (d, _gantry_diff_scale (d, g, -0.5),
                                    _gantry_diff_multiply (d, y, square (d, y)));
    case GANTRY_OP_CBRT:
      return binary (d, GANTRY_OP_DIVIDE, _gantry_diff_scale (d, g, 1.0 / 3), square (d, y));
    default: g_assert_not_reached ();
    }
}

void
_gantry_gradient_unary (GantryDiff *d, const GantryNode *node, guint32 g)
{
  switch (node->op)
    {
    case GANTRY_OP_EXPONENTIAL:
    case GANTRY_OP_EXPONENTIAL_MINUS_ONE:
    case GANTRY_OP_LOGISTIC:
    case GANTRY_OP_TANH:
    case GANTRY_OP_TAN:
    case GANTRY_OP_SQRT:
    case GANTRY_OP_RSQRT:
    case GANTRY_OP_CBRT:
      _gantry_diff_give (d, node, 0,
                         unary_from_result (d, node->op, _gantry_diff_result (d, node), g));
      break;
    default:
      _gantry_diff_give (d, node, 0,
                         unary_from_operand (d, node, _gantry_diff_operand (d, node, 0), g));
      break;
    }
}

void
_gantry_gradient_convert (GantryDiff *d, const GantryNode *node, guint32 g)
{
  _gantry_diff_give (
    d, node, 0, gantry_builder_convert (B, g, _gantry_diff_operand_type (d, node, 0)->element));
}

/* Back to where the operand lies. */
void
_gantry_gradient_copy (GantryDiff *d, const GantryNode *node, guint32 g)
{
  GantryMemoryKind memory = _gantry_diff_operand_type (d, node, 0)->memory;
  GantryAttrList *attrs;

  if (gantry_builder_get_type (B, g)->memory != memory)
    {
      attrs = gantry_attr_list_new (d->context);
      gantry_attr_list_set_string (attrs, "memory", gantry_memory_kind_name (memory));
      g = gantry_builder_add (B, GANTRY_OP_COPY, &g, 1, gantry_attr_list_end (attrs));
    }
  _gantry_diff_give (d, node, 0, g);
}

void
_gantry_gradient_pass (GantryDiff *d, const GantryNode *node, guint32 g)
{
  _gantry_diff_give (d, node, 0, g);
}

void
_gantry_gradient_add (GantryDiff *d, const GantryNode *node, guint32 g)
{
  _gantry_diff_give (d, node, 0, g);
  _gantry_diff_give (d, node, 1, g);
}

void
_gantry_gradient_subtract (GantryDiff *d, const GantryNode *node, guint32 g)
{
  _gantry_diff_give (d, node, 0, g);
  if (_gantry_diff_wants (d, node, 1))
    _gantry_diff_give (d, node, 1, unary (d, GANTRY_OP_NEGATE, g));
}

void
_gantry_gradient_multiply (GantryDiff *d, const GantryNode *node, guint32 g)
{
  guint32 x = _gantry_diff_operand (d, node, 0), y = _gantry_diff_operand (d, node, 1);

  if (_gantry_diff_wants (d, node, 0))
    _gantry_diff_give (d, node, 0, _gantry_diff_multiply (d, g, y));
  if (_gantry_diff_wants (d, node, 1))
    _gantry_diff_give (d, node, 1, _gantry_diff_multiply (d, g, x));
}

/* z = x / y: dx = g / y, dy = -(g / y) z */
void
_gantry_gradient_divide (GantryDiff *d, const GantryNode *node, guint32 g)
{
  guint32 q = binary (d, GANTRY_OP_DIVIDE, g, _gantry_diff_operand (d, node, 1));

  _gantry_diff_give (d, node, 0, q);
  if (_gantry_diff_wants (d, node, 1))
    _gantry_diff_give (
      d, node, 1,
      unary (d, GANTRY_OP_NEGATE, _gantry_diff_multiply (d, q, _gantry_diff_result (d, node))));
}

/* x - y trunc (x / y) */
void
_gantry_gradient_remainder (GantryDiff *d, const GantryNode *node, guint32 g)
{
  guint32 q, t;

  _gantry_diff_give (d, node, 0, g);
  if (!_gantry_diff_wants (d, node, 1))
    return;
  q = binary (d, GANTRY_OP_DIVIDE, _gantry_diff_operand (d, node, 0),
              _gantry_diff_operand (d, node, 1));
  t = _gantry_diff_multiply (d, unary (d, GANTRY_OP_SIGN, q),
                             unary (d, GANTRY_OP_FLOOR, unary (d, GANTRY_OP_ABS, q)));
  _gantry_diff_give (d, node, 1, unary (d, GANTRY_OP_NEGATE, _gantry_diff_multiply (d, g, t)));
}

/* The number that a constant repeats. */
static gboolean
constant_number (GantryDiff *d, guint32 id, double *value)
{
  const GantryLiteral *literal = gantry_builder_constant_of (B, id);

  if (literal == NULL || (!literal->splat && gantry_type_elements (literal->type) != 1))
    return FALSE;
  *value = gantry_literal_get_double (literal, 0);
  return TRUE;
}

/* y x^(y - 1), 0 where y is 0 */
static guint32
power_by_base (GantryDiff *d, guint32 x, guint32 y)
{
  double number;
  guint32 zero, one, is_zero, exponent;

  if (constant_number (d, y, &number))
    {
      if (number == 2)
        return _gantry_diff_scale (d, x, 2);
      if (number == 3)
        return _gantry_diff_scale (d, square (d, x), 3);
      exponent = _gantry_diff_splat_like (d, x, number - 1);
      return number == 0 ? 0
                         : _gantry_diff_scale (d, binary (d, GANTRY_OP_POWER, x, exponent), number);
    }
  zero = _gantry_diff_splat_like (d, y, 0);
  one = _gantry_diff_splat_like (d, y, 1);
  is_zero = gantry_builder_compare (B, "EQ", y, zero);
  exponent = gantry_builder_select (B, is_zero, one, binary (d, GANTRY_OP_SUBTRACT, y, one));
  return _gantry_diff_multiply (d, y, binary (d, GANTRY_OP_POWER, x, exponent));
}

void
_gantry_gradient_power (GantryDiff *d, const GantryNode *node, guint32 g)
{
  guint32 x = _gantry_diff_operand (d, node, 0), y = _gantry_diff_operand (d, node, 1), t;

  if (_gantry_diff_wants (d, node, 0))
    {
      t = power_by_base (d, x, y);
      _gantry_diff_give (d, node, 0, t != 0 ? _gantry_diff_multiply (d, g, t) : 0);
    }
  if (_gantry_diff_wants (d, node, 1))
    {
      /* log (x) x^y; at x = 0 that is 0 for each y > 0 */
      t = gantry_builder_compare (B, "EQ", x, _gantry_diff_splat_like (d, x, 0));
      t = unary (d, GANTRY_OP_LOG,
                 gantry_builder_select (B, t, _gantry_diff_splat_like (d, x, 1), x));
      t = _gantry_diff_multiply (d, t, _gantry_diff_result (d, node));
      _gantry_diff_give (d, node, 1, _gantry_diff_multiply (d, g, t));
    }
}

/* maximum, minimum. Of two equal operands each takes half, as in JAX; but a constant takes all:
 * max (x, 0) has the derivative 0 at 0, which is what every framework's relu has. A node whose
 * attribute says so is no relu: there a constant takes half as well. */
void
_gantry_gradient_extremum (GantryDiff *d, const GantryNode *node, guint32 g)
{
  guint32 x = _gantry_diff_operand (d, node, 0), y = _gantry_diff_operand (d, node, 1);
  const char *wins = node->op == GANTRY_OP_MAXIMUM ? "GT" : "LT",
             *loses = node->op == GANTRY_OP_MAXIMUM ? "LT" : "GT";
  const char *wins_or_equals = node->op == GANTRY_OP_MAXIMUM ? "GE" : "LE";
  const char *loses_or_equals = node->op == GANTRY_OP_MAXIMUM ? "LE" : "GE";
  gboolean halves =
    g_strcmp0 (gantry_attrs_string (d->context, node->attrs, "ties", NULL), "half") == 0;
  guint32 shared;

  if (!halves && gantry_builder_constant_of (B, y) != NULL)
    {
      _gantry_diff_give (d, node, 0,
                         _gantry_diff_where (d, gantry_builder_compare (B, wins, x, y), g));
      return;
    }
  if (!halves && gantry_builder_constant_of (B, x) != NULL)
    {
      _gantry_diff_give (d, node, 1,
                         _gantry_diff_where (d, gantry_builder_compare (B, loses, x, y), g));
      return;
    }
  shared = gantry_builder_select (B, gantry_builder_compare (B, "EQ", x, y),
                                  _gantry_diff_scale (d, g, 0.5), g);
  if (_gantry_diff_wants (d, node, 0))
    _gantry_diff_give (
      d, node, 0, _gantry_diff_where (d, gantry_builder_compare (B, wins_or_equals, x, y), shared));
  if (_gantry_diff_wants (d, node, 1))
    _gantry_diff_give (
      d, node, 1,
      _gantry_diff_where (d, gantry_builder_compare (B, loses_or_equals, x, y), shared));
}

/* atan2 (x, y): dx = g y / (x^2 + y^2), dy = -g x / (x^2 + y^2) */
void
_gantry_gradient_atan2 (GantryDiff *d, const GantryNode *node, guint32 g)
{
  guint32 x = _gantry_diff_operand (d, node, 0), y = _gantry_diff_operand (d, node, 1);
  guint32 q = binary (d, GANTRY_OP_DIVIDE, g,
                      binary (d, GANTRY_OP_ADD, square (d, x), square (d, y)));

  if (_gantry_diff_wants (d, node, 0))
    _gantry_diff_give (d, node, 0, _gantry_diff_multiply (d, q, y));
  if (_gantry_diff_wants (d, node, 1))
    _gantry_diff_give (d, node, 1, unary (d, GANTRY_OP_NEGATE, _gantry_diff_multiply (d, q, x)));
}

void
_gantry_gradient_select (GantryDiff *d, const GantryNode *node, guint32 g)
{
  guint32 predicate = _gantry_diff_operand (d, node, 0);

  if (_gantry_diff_wants (d, node, 1))
    _gantry_diff_give (d, node, 1, _gantry_diff_where (d, predicate, g));
  if (_gantry_diff_wants (d, node, 2))
    _gantry_diff_give (d, node, 2,
                       gantry_builder_select (B, predicate, _gantry_diff_splat_like (d, g, 0), g));
}

/* x takes the cotangent strictly between the bounds, as in JAX, and a bound where it is what the
 * result is. */
void
_gantry_gradient_clamp (GantryDiff *d, const GantryNode *node, guint32 g)
{
  guint32 low = _gantry_diff_operand (d, node, 0), x = _gantry_diff_operand (d, node, 1),
          high = _gantry_diff_operand (d, node, 2), inside;

  if (_gantry_diff_wants (d, node, 1))
    {
      inside = binary (d, GANTRY_OP_AND, gantry_builder_compare (B, "GT", x, low),
                       gantry_builder_compare (B, "LT", x, high));
      _gantry_diff_give (d, node, 1, _gantry_diff_where (d, inside, g));
    }
  /* The bounds may cross: the result is min (max (x, low), high). */
  if (_gantry_diff_wants (d, node, 0))
    {
      inside = binary (d, GANTRY_OP_AND, gantry_builder_compare (B, "GT", low, x),
                       gantry_builder_compare (B, "LT", low, high));
      _gantry_diff_give (d, node, 0, _gantry_diff_where (d, inside, g));
    }
  if (_gantry_diff_wants (d, node, 2))
    _gantry_diff_give (
      d, node, 2,
      _gantry_diff_where (
        d, gantry_builder_compare (B, "LT", high, binary (d, GANTRY_OP_MAXIMUM, x, low)), g));
}
