/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic on arrays of lanes: the scalar meaning of each elementwise operation for each element
 * type, as texpr.h states it. */
#include "core/eval/evaluator-private.h"
#include "core/expr/scalar.h"
#include "core/graph/literal.h"
#include <math.h>
#include <string.h>

#define EACH(member, expression) \
  for (guint l = 0; l < n; l++) \
    r[l].member = (expression); \
  break

static guint
bits_of (GantryElementType type)
{
  return (guint) gantry_element_size (type) * 8;
}

static guint64
mask_of (guint bits)
{
  return bits >= 64 ? G_MAXUINT64 : (G_GUINT64_CONSTANT (1) << bits) - 1;
}

static gboolean
is_unsigned_type (GantryElementType type)
{
  return type == GANTRY_BOOL || !gantry_element_is_signed (type);
}

void
_gantry_lanes_wrap (GantryElementType type, GantryLane *r, guint n)
{
  switch (type)
    {
    case GANTRY_BOOL: EACH (i, r[l].i != 0);
    case GANTRY_I8: EACH (i, (gint8) r[l].u);
    case GANTRY_I16: EACH (i, (gint16) r[l].u);
    case GANTRY_I32: EACH (i, (gint32) r[l].u);
    case GANTRY_U8: EACH (u, (guint8) r[l].u);
    case GANTRY_U16: EACH (u, (guint16) r[l].u);
    case GANTRY_U32: EACH (u, (guint32) r[l].u);
    default: break;
    }
}

void
_gantry_lanes_round (GantryElementType type, GantryLane *r, guint n)
{
  guint8 bytes[8];

  switch (type)
    {
    case GANTRY_F32: EACH (f, (double) (float) r[l].f);
    case GANTRY_F16:
    case GANTRY_BF16:
      for (guint l = 0; l < n; l++)
        {
          gantry_element_write_double (type, bytes, r[l].f);
          r[l].f = gantry_element_read_double (type, bytes);
        }
      break;
    default: break;
    }
}

static double
sign_of (double v)
{
  return v > 0 ? 1.0 : v < 0 ? -1.0 : v; /* keeps NaN and the sign of zero */
}

/* The values in the table of scalar operations, of which these macros make a loop over the lanes each. */
#define NO_VALUE return FALSE;
#define VALUE(expression) EACH_LANE (f, double, expression)
#define BOOLEAN(expression) EACH_LANE (i, gint64, (expression) != 0)

static gboolean
float_unary (GantryOp op, GantryLane *r, const GantryLane *xs, guint n)
{
#define EACH_LANE(member, Type, expression) \
  for (guint l = 0; l < n; l++) \
    { \
      const double x = xs[l].f; \
\
      r[l].member = (Type) (expression); \
    } \
  return TRUE;
#define ROW(with, NAME, name, short_name, elements, result, cost, float_value, ...) \
  case GANTRY_OP_##NAME: float_value
  switch (op)
    {
      GANTRY_UNARY_OPERATIONS (ROW, )
    default: return FALSE;
    }
#undef ROW
#undef EACH_LANE
}

static gint64
leading_zeros (guint64 v, guint bits)
{
  return v == 0 ? bits : __builtin_clzll (v) - (64 - (gint64) bits);
}

#undef VALUE
#define VALUE(expression) EACH_LANE (u, guint64, expression)

static gboolean
int_unary_value (GantryOp op, GantryElementType type, GantryLane *r, const GantryLane *xs, guint n)
{
  const guint bits = bits_of (type);
  const guint64 mask = mask_of (bits);
  const gboolean is_unsigned = is_unsigned_type (type);

#define EACH_LANE(member, Type, expression) \
  for (guint l = 0; l < n; l++) \
    { \
      const GantryLane x = xs[l]; \
\
      (void) x; \
      r[l].member = (Type) (expression); \
    } \
  return TRUE;
#define ROW(with, NAME, name, short_name, elements, result, cost, float_value, integer_value, ...) \
  case GANTRY_OP_##NAME: integer_value
  switch (op)
    {
      GANTRY_UNARY_OPERATIONS (ROW, )
    default: return FALSE;
    }
#undef ROW
#undef EACH_LANE
}

gboolean
_gantry_lanes_unary (GantryOp op, GantryElementType type, GantryLane *r, const GantryLane *x, guint n)
{
  if (op == GANTRY_OP_COPY || op == GANTRY_OP_OPTIMIZATION_BARRIER || op == GANTRY_OP_CHECKPOINT_NAME)
    {
      memcpy (r, x, n * sizeof *r);
      return TRUE;
    }
  if (_gantry_lanes_are_float (type))
    return float_unary (op, r, x, n);
  if (!int_unary_value (op, type, r, x, n))
    return FALSE;
  _gantry_lanes_wrap (type, r, n);
  return TRUE;
}

static double
max_of (double a, double b)
{
  return isnan (a) || isnan (b) ? NAN : a > b || (a == b && !signbit (a)) ? a : b;
}

static double
min_of (double a, double b)
{
  return isnan (a) || isnan (b) ? NAN : a < b || (a == b && signbit (a)) ? a : b;
}

#undef VALUE
#define VALUE(expression) EACH_LANE (f, double, expression)

static gboolean
float_binary (GantryOp op, GantryLane *r, const GantryLane *xs, const GantryLane *ys, guint n)
{
#define EACH_LANE(member, Type, expression) \
  for (guint l = 0; l < n; l++) \
    { \
      const double x = xs[l].f, y = ys[l].f; \
\
      r[l].member = (Type) (expression); \
    } \
  return TRUE;
#define ROW(with, NAME, name, short_name, elements, flags, cost, float_value, ...) \
  case GANTRY_OP_##NAME: float_value
  switch (op)
    {
      GANTRY_BINARY_OPERATIONS (ROW, )
    default: return FALSE;
    }
#undef ROW
#undef EACH_LANE
}

static GantryLane
quotient (GantryElementType type, GantryLane x, GantryLane y)
{
  if (y.u == 0)
    x.u = G_MAXUINT64; /* the caller wraps: -1, or all ones of the width */
  else if (is_unsigned_type (type))
    x.u /= y.u;
  else if (y.i == -1)
    x.u = -x.u; /* MIN / -1 would trap */
  else
    x.i /= y.i;
  return x;
}

static GantryLane
modulo (GantryElementType type, GantryLane x, GantryLane y)
{
  if (y.u == 0)
    return x;
  if (is_unsigned_type (type))
    x.u %= y.u;
  else if (y.i == -1)
    x.i = 0;
  else
    x.i %= y.i;
  return x;
}

/* Wraps; a negative exponent gives the integer part of the exact value, and 0 for base 0. */
static guint64
power (GantryElementType type, GantryLane x, GantryLane y)
{
  guint64 result = 1;
  guint64 base = x.u;

  if (!is_unsigned_type (type) && y.i < 0)
    return x.i == 1 ? 1 : x.i == -1 ? (y.i & 1 ? G_MAXUINT64 : 1) : 0;
  for (guint64 e = y.u; e != 0; e >>= 1, base *= base)
    if (e & 1)
      result *= base;
  return result;
}

static gint64
shifted_arithmetic (GantryLane x, guint64 by, guint bits)
{
  gint64 value = (gint64) (x.u << (64 - bits)) >> (64 - bits);

  return value >> MIN (by, 63);
}

static GantryLane
larger (GantryElementType type, GantryLane x, GantryLane y)
{
  return (is_unsigned_type (type) ? x.u > y.u : x.i > y.i) ? x : y;
}

static GantryLane
smaller (GantryElementType type, GantryLane x, GantryLane y)
{
  return (is_unsigned_type (type) ? x.u < y.u : x.i < y.i) ? x : y;
}

#undef VALUE
#define VALUE(expression) EACH_LANE (u, guint64, expression)

static gboolean
int_binary_value (GantryOp op, GantryElementType type, GantryLane *r, const GantryLane *xs, const GantryLane *ys, guint n)
{
  const guint bits = bits_of (type);
  const guint64 mask = mask_of (bits);

#define EACH_LANE(member, Type, expression) \
  for (guint l = 0; l < n; l++) \
    { \
      const GantryLane x = xs[l], y = ys[l]; \
      const guint64 by = y.u & mask; /* a negative amount is a large one */ \
\
      (void) by; \
      r[l].member = (Type) (expression); \
    } \
  return TRUE;
#define ROW(with, NAME, name, short_name, elements, flags, cost, float_value, integer_value, ...) \
  case GANTRY_OP_##NAME: integer_value
  switch (op)
    {
      GANTRY_BINARY_OPERATIONS (ROW, )
    default: return FALSE;
    }
#undef ROW
#undef EACH_LANE
}

gboolean
_gantry_lanes_binary (GantryOp op, GantryElementType type, GantryLane *r, const GantryLane *x, const GantryLane *y, guint n)
{
  if (_gantry_lanes_are_float (type))
    return float_binary (op, r, x, y, n);
  if (!int_binary_value (op, type, r, x, y, n))
    return FALSE;
  _gantry_lanes_wrap (type, r, n);
  return TRUE;
}

#define COMPARE(member) \
  switch (direction) \
    { \
    case GANTRY_EQ: EACH (i, x[l].member == y[l].member); \
    case GANTRY_NE: EACH (i, x[l].member != y[l].member); \
    case GANTRY_LT: EACH (i, x[l].member < y[l].member); \
    case GANTRY_LE: EACH (i, x[l].member <= y[l].member); \
    case GANTRY_GT: EACH (i, x[l].member > y[l].member); \
    case GANTRY_GE: EACH (i, x[l].member >= y[l].member); \
    }

void
_gantry_lanes_compare (GantryDirection direction, GantryElementType type, GantryLane *r, const GantryLane *x, const GantryLane *y, guint n)
{
  if (_gantry_lanes_are_float (type))
    COMPARE (f)
  else if (is_unsigned_type (type))
    COMPARE (u)
  else
    COMPARE (i)
}

/* Truncates and saturates; NaN gives 0. */
static gint64
float_to_int (GantryElementType to, double v)
{
  guint bits = bits_of (to);
  double limit = ldexp (1.0, (int) bits - (is_unsigned_type (to) ? 0 : 1)); /* first value too large */

  if (isnan (v))
    return 0;
  if (is_unsigned_type (to))
    {
      if (v >= limit)
        return (gint64) (bits >= 64 ? G_MAXUINT64 : (G_GUINT64_CONSTANT (1) << bits) - 1);
      return v <= 0 ? 0 : (gint64) (guint64) v;
    }
  if (v >= limit)
    return (gint64) ((G_GUINT64_CONSTANT (1) << (bits - 1)) - 1);
  if (v <= -limit)
    return -(gint64) ((G_GUINT64_CONSTANT (1) << (bits - 1)) - 1) - 1;
  return (gint64) v;
}

static void
int_to_float (GantryElementType to, GantryElementType from, GantryLane *r, const GantryLane *x, guint n)
{
  gboolean u = is_unsigned_type (from);

  if (to == GANTRY_F32) /* straight, so that it is rounded once */
    for (guint l = 0; l < n; l++)
      r[l].f = u ? (double) (float) x[l].u : (double) (float) x[l].i;
  else
    {
      for (guint l = 0; l < n; l++)
        r[l].f = u ? (double) x[l].u : (double) x[l].i;
      _gantry_lanes_round (to, r, n);
    }
}

void
_gantry_lanes_cast (GantryElementType to, GantryElementType from, GantryLane *r, const GantryLane *x, guint n)
{
  gboolean to_float = _gantry_lanes_are_float (to);

  if (_gantry_lanes_are_float (from))
    {
      if (to_float)
        {
          memmove (r, x, n * sizeof *r);
          _gantry_lanes_round (to, r, n);
        }
      else if (to == GANTRY_BOOL)
        for (guint l = 0; l < n; l++)
          r[l].i = x[l].f != 0;
      else
        for (guint l = 0; l < n; l++)
          r[l].i = float_to_int (to, x[l].f);
    }
  else if (to_float)
    int_to_float (to, from, r, x, n);
  else
    {
      memmove (r, x, n * sizeof *r);
      _gantry_lanes_wrap (to, r, n);
    }
}

void
_gantry_lanes_bitcast (GantryElementType to, GantryElementType from, GantryLane *r, const GantryLane *x, guint n)
{
  guint8 bytes[8] = { 0 };

  for (guint l = 0; l < n; l++)
    {
      _gantry_lanes_write (from, bytes, &x[l], 1);
      r[l] = _gantry_lane_read (to, bytes);
    }
}

gboolean
_gantry_lane_identity (GantryOp op, GantryElementType type, GantryLane *r)
{
  GantryScalar identity;

  if (!gantry_scalar_identity (op, type, &identity))
    return FALSE;
  if (_gantry_lanes_are_float (type))
    r->f = identity.f;
  else
    r->i = identity.i;
  return TRUE;
}

#define STORE(CType, expression) \
  for (guint l = 0; l < n; l++) \
    { \
      CType value = (CType) (expression); \
\
      memcpy (destination + l * sizeof value, &value, sizeof value); \
    } \
  break

void
_gantry_lanes_write (GantryElementType type, guint8 *destination, const GantryLane *x, guint n)
{
  switch (type)
    {
    case GANTRY_BOOL: STORE (guint8, x[l].u != 0);
    case GANTRY_I8:
    case GANTRY_U8: STORE (guint8, x[l].u);
    case GANTRY_I16:
    case GANTRY_U16: STORE (guint16, x[l].u);
    case GANTRY_I32:
    case GANTRY_U32: STORE (guint32, x[l].u);
    case GANTRY_I64:
    case GANTRY_U64: STORE (guint64, x[l].u);
    case GANTRY_F32: STORE (float, x[l].f);
    case GANTRY_F64: STORE (double, x[l].f);
    default:
      for (guint l = 0; l < n; l++)
        gantry_element_write_double (type, destination + 2 * l, x[l].f);
      break;
    }
}

/* One loop for every element type: `position` says which element a lane reads. */
#define LOAD(CType, member, expression) \
  for (guint l = 0; l < n; l++) \
    { \
      CType value; \
\
      memcpy (&value, data + (POSITION) * (gint64) sizeof value, sizeof value); \
      r[l].member = (expression); \
    } \
  break
#define LOADS \
  switch (type) \
    { \
    case GANTRY_BOOL: LOAD (guint8, i, value != 0); \
    case GANTRY_I8: LOAD (gint8, i, value); \
    case GANTRY_I16: LOAD (gint16, i, value); \
    case GANTRY_I32: LOAD (gint32, i, value); \
    case GANTRY_I64: LOAD (gint64, i, value); \
    case GANTRY_U8: LOAD (guint8, u, value); \
    case GANTRY_U16: LOAD (guint16, u, value); \
    case GANTRY_U32: LOAD (guint32, u, value); \
    case GANTRY_U64: LOAD (guint64, u, value); \
    case GANTRY_F32: LOAD (float, f, value); \
    case GANTRY_F64: LOAD (double, f, value); \
    case GANTRY_F16: LOAD (guint16, f, gantry_f16_to_f32 (value)); \
    case GANTRY_BF16: LOAD (guint16, f, gantry_bf16_to_f32 (value)); \
    default: g_assert_not_reached (); \
    }

void
_gantry_lanes_gather (GantryElementType type, GantryLane *r, const guint8 *data, const gint64 *offsets, gint64 delta, guint n)
{
#define POSITION offsets[l] + delta
  LOADS
#undef POSITION
}

void
_gantry_lanes_copy (GantryElementType type, GantryLane *r, const guint8 *data, gint64 first, guint n){
#define POSITION first + (gint64) l
  LOADS
#undef POSITION
}

GantryLane _gantry_lane_read (GantryElementType type, const guint8 *p)
{
  GantryLane r;

  _gantry_lanes_copy (type, &r, p, 0, 1);
  return r;
}
