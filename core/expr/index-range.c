/* SPDX-License-Identifier: Apache-2.0 */
/* Interval arithmetic of indices. */
#include "core/expr/index-range.h"

GantryIndexRange
gantry_index_range_of_type (GantryElementType type)
{
  guint bits = 8 * (guint) gantry_element_size (type);

  if (type == GANTRY_BOOL)
    return (GantryIndexRange){ 0, 1 };
  if (!gantry_element_is_integer (type) || bits == 0 || bits >= 64)
    return GANTRY_INDEX_ANY;
  if (gantry_element_is_signed (type))
    return (GantryIndexRange){ -(G_GINT64_CONSTANT (1) << (bits - 1)), (G_GINT64_CONSTANT (1) << (bits - 1)) - 1 };
  return (GantryIndexRange){ 0, (G_GINT64_CONSTANT (1) << bits) - 1 };
}

static GantryIndexRange
range_add (GantryIndexRange x, GantryIndexRange y)
{
  GantryIndexRange r;

  if (!gantry_index_range_is_known (x) || !gantry_index_range_is_known (y) || __builtin_add_overflow (x.lo, y.lo, &r.lo)
      || __builtin_add_overflow (x.hi, y.hi, &r.hi))
    return GANTRY_INDEX_ANY;
  return r;
}

static GantryIndexRange
range_multiply (GantryIndexRange x, GantryIndexRange y)
{
  gint64 a, b, c, d;

  if (!gantry_index_range_is_known (x) || !gantry_index_range_is_known (y) || __builtin_mul_overflow (x.lo, y.lo, &a) || __builtin_mul_overflow (x.lo, y.hi, &b)
      || __builtin_mul_overflow (x.hi, y.lo, &c) || __builtin_mul_overflow (x.hi, y.hi, &d))
    return GANTRY_INDEX_ANY;
  return (GantryIndexRange){ MIN (MIN (a, b), MIN (c, d)), MAX (MAX (a, b), MAX (c, d)) };
}

static GantryIndexRange
range_subtract (GantryIndexRange x, GantryIndexRange y)
{
  return range_add (x, range_multiply (y, (GantryIndexRange){ -1, -1 }));
}

/* Towards zero, by what is positive. */
static GantryIndexRange
range_divide (GantryIndexRange x, GantryIndexRange y)
{
  if (y.lo < 1)
    return GANTRY_INDEX_ANY;
  return (GantryIndexRange){ x.lo == G_MININT64 ? G_MININT64 : x.lo / (x.lo < 0 ? y.lo : y.hi),
                             x.hi == G_MAXINT64 ? G_MAXINT64 : x.hi / (x.hi < 0 ? y.hi : y.lo) };
}

static GantryIndexRange
range_remainder (GantryIndexRange x, GantryIndexRange y)
{
  if (y.lo < 1 || y.hi == G_MAXINT64)
    return GANTRY_INDEX_ANY;
  return x.lo >= 0 ? (GantryIndexRange){ 0, MIN (x.hi, y.hi - 1) } : (GantryIndexRange){ 1 - y.hi, y.hi - 1 };
}

static GantryIndexRange
range_maximum (GantryIndexRange x, GantryIndexRange y)
{
  return (GantryIndexRange){ MAX (x.lo, y.lo), MAX (x.hi, y.hi) };
}

static GantryIndexRange
range_minimum (GantryIndexRange x, GantryIndexRange y)
{
  return (GantryIndexRange){ MIN (x.lo, y.lo), MIN (x.hi, y.hi) };
}

GantryIndexRange
gantry_index_range_add (GantryIndexRange x, GantryIndexRange y, gint64 factor)
{
  return range_add (x, range_multiply (y, (GantryIndexRange){ factor, factor }));
}

GantryIndexRange
gantry_index_range_binary (GantryOp op, GantryIndexRange x, GantryIndexRange y)
{
#define ANY_RANGE GANTRY_INDEX_ANY
#define RANGE(name) range_##name (x, y)
#define ROW(with, NAME, name, short_name, elements, flags, cost, float_value, integer_value, float_code, integer_code, bool_code, derivative, identity, range, \
            ...) \
  case GANTRY_OP_##NAME: return range;
  switch (op)
    {
      GANTRY_BINARY_OPERATIONS (ROW, )
    default: return GANTRY_INDEX_ANY;
    }
}

int
gantry_index_range_compare (GantryDirection direction, GantryIndexRange d)
{
  gboolean is_zero = d.lo == 0 && d.hi == 0, is_none = d.lo > 0 || d.hi < 0;

  switch (direction)
    {
    case GANTRY_EQ: return is_zero ? 1 : is_none ? 0 : -1;
    case GANTRY_NE: return is_zero ? 0 : is_none ? 1 : -1;
    case GANTRY_LT: return d.hi < 0 ? 1 : d.lo >= 0 ? 0 : -1;
    case GANTRY_LE: return d.hi <= 0 ? 1 : d.lo > 0 ? 0 : -1;
    case GANTRY_GT: return d.lo > 0 ? 1 : d.hi <= 0 ? 0 : -1;
    case GANTRY_GE: return d.lo >= 0 ? 1 : d.hi < 0 ? 0 : -1;
    }
  return -1;
}
