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
square_of (GantryDiff *d, guint32 x)
{
  return _gantry_diff_multiply (d, x, x);
}

/* 1 - x^2 */
static guint32
one_minus_square_of (GantryDiff *d, guint32 x)
{
  return binary (d, GANTRY_OP_SUBTRACT, _gantry_diff_splat_like (d, x, 1), square_of (d, x));
}

/* 1 + x^2 */
static guint32
one_plus_square_of (GantryDiff *d, guint32 x)
{
  return _gantry_diff_shift (d, square_of (d, x), 1);
}

/* At 0 nothing, as a sign is 0 there; the node may count 0 as positive, which is how JAX differentiates. */
void
_gantry_gradient_abs (GantryDiff *d, const GantryNode *node, guint32 g)
{
  const char *zero = gantry_attrs_string (d->context, node->attrs, "zero", NULL);
  guint32 x = _gantry_diff_operand (d, node, 0), is_positive;

  if (g_strcmp0 (zero, "positive") != 0)
    {
      _gantry_diff_give (d, node, 0, _gantry_diff_multiply (d, g, unary (d, GANTRY_OP_SIGN, x)));
      return;
    }
  is_positive = gantry_builder_compare (B, "GE", x, _gantry_diff_splat_like (d, x, 0));
  _gantry_diff_give (d, node, 0, gantry_builder_select (B, is_positive, g, unary (d, GANTRY_OP_NEGATE, g)));
}

/* The words of the derivatives in the table of scalar operations. */
#define times(a, b) _gantry_diff_multiply (d, a, b)
#define over(a, b) binary (d, GANTRY_OP_DIVIDE, a, b)
#define minus(a, b) binary (d, GANTRY_OP_SUBTRACT, a, b)
#define negated(a) unary (d, GANTRY_OP_NEGATE, a)
#define scaled(a, number) _gantry_diff_scale (d, a, number)
#define shifted(a, number) _gantry_diff_shift (d, a, number)
#define square(a) square_of (d, a)
#define one_like(a) _gantry_diff_splat_like (d, a, 1)
#define one_minus_square(a) one_minus_square_of (d, a)
#define one_plus_square(a) one_plus_square_of (d, a)
#define of(NAME, a) unary (d, GANTRY_OP_##NAME, a)

#define ROW(with, NAME, name, short_name, elements, result, cost, float_value, integer_value, float_code, integer_code, derivative, ...) \
  case GANTRY_OP_##NAME: derivative

void
_gantry_gradient_unary (GantryDiff *d, const GantryNode *node, guint32 g)
{
#define OPERAND(expression) \
  { \
    const guint32 x = _gantry_diff_operand (d, node, 0); \
    (void) x; \
    dx = (expression); \
    break; \
  }
#define RESULT(expression) \
  { \
    const guint32 y = _gantry_diff_result (d, node); \
    dx = (expression); \
    break; \
  }
#define RULE(name) g_assert_not_reached ();
#define ZERO g_assert_not_reached ();
  guint32 dx;

  switch (node->op)
    {
      GANTRY_UNARY_OPERATIONS (ROW, )
    default: g_assert_not_reached (); /* the table of derivatives gives this rule to those above alone */
    }
  _gantry_diff_give (d, node, 0, dx);
}

#undef of
#undef square

void
_gantry_gradient_convert (GantryDiff *d, const GantryNode *node, guint32 g)
{
  _gantry_diff_give (d, node, 0, gantry_builder_convert (B, g, _gantry_diff_operand_type (d, node, 0)->element));
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
    _gantry_diff_give (d, node, 1, unary (d, GANTRY_OP_NEGATE, _gantry_diff_multiply (d, q, _gantry_diff_result (d, node))));
}

static gboolean
is_float (const GantryDiff *d, const GantryNode *node)
{
  return gantry_element_is_float (gantry_node_type (d->module, node)->element);
}

/* x - y trunc (x / y) */
void
_gantry_gradient_remainder (GantryDiff *d, const GantryNode *node, guint32 g)
{
  guint32 q, t;

  _gantry_diff_give (d, node, 0, g);
  if (!_gantry_diff_wants (d, node, 1))
    return;
  q = binary (d, GANTRY_OP_DIVIDE, _gantry_diff_operand (d, node, 0), _gantry_diff_operand (d, node, 1));
  t = is_float (d, node) ? _gantry_diff_multiply (d, unary (d, GANTRY_OP_SIGN, q), unary (d, GANTRY_OP_FLOOR, unary (d, GANTRY_OP_ABS, q))) : q;
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
        return _gantry_diff_scale (d, square_of (d, x), 3);
      exponent = _gantry_diff_splat_like (d, x, number - 1);
      return number == 0 ? 0 : _gantry_diff_scale (d, binary (d, GANTRY_OP_POWER, x, exponent), number);
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
  if (_gantry_diff_wants (d, node, 1) && is_float (d, node)) /* an integer has no logarithm */
    {
      /* log (x) x^y; at x = 0 that is 0 for each y > 0 */
      t = gantry_builder_compare (B, "EQ", x, _gantry_diff_splat_like (d, x, 0));
      t = unary (d, GANTRY_OP_LOG, gantry_builder_select (B, t, _gantry_diff_splat_like (d, x, 1), x));
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
  const char *wins = node->op == GANTRY_OP_MAXIMUM ? "GT" : "LT", *loses = node->op == GANTRY_OP_MAXIMUM ? "LT" : "GT";
  const char *wins_or_equals = node->op == GANTRY_OP_MAXIMUM ? "GE" : "LE";
  const char *loses_or_equals = node->op == GANTRY_OP_MAXIMUM ? "LE" : "GE";
  gboolean halves = g_strcmp0 (gantry_attrs_string (d->context, node->attrs, "ties", NULL), "half") == 0;
  guint32 shared;

  /* The result is beyond the constant where the operand is: it is what the next product saves anyway, the operand is not. */
  if (!halves && gantry_builder_constant_of (B, y) != NULL)
    {
      _gantry_diff_give (d, node, 0, _gantry_diff_where (d, gantry_builder_compare (B, wins, _gantry_diff_result (d, node), y), g));
      return;
    }
  if (!halves && gantry_builder_constant_of (B, x) != NULL)
    {
      _gantry_diff_give (d, node, 1, _gantry_diff_where (d, gantry_builder_compare (B, loses, x, _gantry_diff_result (d, node)), g));
      return;
    }
  shared = gantry_builder_select (B, gantry_builder_compare (B, "EQ", x, y), _gantry_diff_scale (d, g, 0.5), g);
  if (_gantry_diff_wants (d, node, 0))
    _gantry_diff_give (d, node, 0, _gantry_diff_where (d, gantry_builder_compare (B, wins_or_equals, x, y), shared));
  if (_gantry_diff_wants (d, node, 1))
    _gantry_diff_give (d, node, 1, _gantry_diff_where (d, gantry_builder_compare (B, loses_or_equals, x, y), shared));
}

/* atan2 (x, y): dx = g y / (x^2 + y^2), dy = -g x / (x^2 + y^2) */
void
_gantry_gradient_atan2 (GantryDiff *d, const GantryNode *node, guint32 g)
{
  guint32 x = _gantry_diff_operand (d, node, 0), y = _gantry_diff_operand (d, node, 1);
  guint32 q = binary (d, GANTRY_OP_DIVIDE, g, binary (d, GANTRY_OP_ADD, square_of (d, x), square_of (d, y)));

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
    _gantry_diff_give (d, node, 2, gantry_builder_select (B, predicate, _gantry_diff_splat_like (d, g, 0), g));
}

/* x takes the cotangent strictly between the bounds, as in JAX, and a bound where it is what the
 * result is. */
void
_gantry_gradient_clamp (GantryDiff *d, const GantryNode *node, guint32 g)
{
  guint32 low = _gantry_diff_operand (d, node, 0), x = _gantry_diff_operand (d, node, 1), high = _gantry_diff_operand (d, node, 2), inside;

  if (_gantry_diff_wants (d, node, 1))
    {
      inside = binary (d, GANTRY_OP_AND, gantry_builder_compare (B, "GT", x, low), gantry_builder_compare (B, "LT", x, high));
      _gantry_diff_give (d, node, 1, _gantry_diff_where (d, inside, g));
    }
  /* The bounds may cross: the result is min (max (x, low), high). */
  if (_gantry_diff_wants (d, node, 0))
    {
      inside = binary (d, GANTRY_OP_AND, gantry_builder_compare (B, "GT", low, x), gantry_builder_compare (B, "LT", low, high));
      _gantry_diff_give (d, node, 0, _gantry_diff_where (d, inside, g));
    }
  if (_gantry_diff_wants (d, node, 2))
    _gantry_diff_give (d, node, 2, _gantry_diff_where (d, gantry_builder_compare (B, "LT", high, binary (d, GANTRY_OP_MAXIMUM, x, low)), g));
}
