/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise pieces: functions on arguments within their domain, arithmetic with broadcasts, comparisons, integers. */
#include "tests/differential/generate.h"

static const guint16 everywhere[] = {
  GANTRY_OP_ABS,
  GANTRY_OP_NEGATE,
  GANTRY_OP_SIGN,
  GANTRY_OP_LOGISTIC,
  GANTRY_OP_TANH,
  GANTRY_OP_SINE,
  GANTRY_OP_COSINE,
  GANTRY_OP_ATAN,
  GANTRY_OP_ASINH,
  GANTRY_OP_ERF,
  GANTRY_OP_FLOOR,
  GANTRY_OP_CEIL,
  GANTRY_OP_ROUND_NEAREST_EVEN,
  GANTRY_OP_ROUND_NEAREST_AFZ,
  GANTRY_OP_CBRT,
  GANTRY_OP_OPTIMIZATION_BARRIER,
};
static const guint16 bounded[] = {
  /* arguments between -1 and 1 */
  GANTRY_OP_EXPONENTIAL, GANTRY_OP_EXPONENTIAL_MINUS_ONE, GANTRY_OP_SINH, GANTRY_OP_COSH, GANTRY_OP_TAN, GANTRY_OP_ASIN, GANTRY_OP_ACOS,
  GANTRY_OP_ATANH,       GANTRY_OP_LOG_PLUS_ONE,
};
static const guint16 positive[] = { GANTRY_OP_SQRT, GANTRY_OP_RSQRT, GANTRY_OP_LOG, GANTRY_OP_ACOSH };

static guint32
shifted (DiffMaker *m, guint32 x, double by)
{
  return _diff_binary (m, GANTRY_OP_ADD, x, _diff_splat_like (m, x, by));
}

static guint32
write_function (DiffMaker *m, guint32 x)
{
  switch (_diff_upto (m, 4))
    {
    case 0:
      x = _diff_binary (m, GANTRY_OP_MULTIPLY, _diff_unary (m, GANTRY_OP_TANH, x), _diff_splat_like (m, x, 0.75));
      return _diff_unary (m, bounded[_diff_upto (m, G_N_ELEMENTS (bounded))], x);
    case 1: x = shifted (m, _diff_unary (m, GANTRY_OP_ABS, x), 1.25); return _diff_unary (m, positive[_diff_upto (m, G_N_ELEMENTS (positive))], x);
    default: return _diff_unary (m, everywhere[_diff_upto (m, G_N_ELEMENTS (everywhere))], x);
    }
}

/* Another operand: a value of the same type, a constant, a vector along one dimension, a scalar. */
static guint32
other_operand (DiffMaker *m, guint32 x)
{
  static const double numbers[] = { 0, 1, -1, 2, 0.5, 0.3 };
  const GantryType *type = _diff_type_of (m, x);
  gint64 dimension;

  switch (_diff_upto (m, 5))
    {
    case 0: return _diff_splat_like (m, x, numbers[_diff_upto (m, G_N_ELEMENTS (numbers))]);
    case 1:
      if (type->rank == 0)
        return x;
      dimension = type->rank > 1 && _diff_chance (m, 70) ? 1 : _diff_upto (m, (gint) type->rank);
      return _diff_along (m, _diff_leaf (m, DIFF_LEAF_WEIGHT, (GantryElementType) type->element, 1, &type->dims[dimension]), dimension, x);
    default: return _diff_pick_like (m, x);
    }
}

static guint32
write_arithmetic (DiffMaker *m, guint32 x)
{
  static const guint16 ops[] = {
    GANTRY_OP_ADD, GANTRY_OP_ADD, GANTRY_OP_SUBTRACT, GANTRY_OP_MULTIPLY, GANTRY_OP_MULTIPLY, GANTRY_OP_MAXIMUM, GANTRY_OP_MINIMUM
  };
  guint32 y = other_operand (m, x);

  switch (_diff_upto (m, 8))
    {
    case 0: return _diff_binary (m, GANTRY_OP_DIVIDE, x, shifted (m, _diff_unary (m, GANTRY_OP_ABS, y), 1));
    case 1: return _diff_binary (m, GANTRY_OP_POWER, shifted (m, _diff_unary (m, GANTRY_OP_ABS, x), 0.5), _diff_unary (m, GANTRY_OP_TANH, y));
    case 2: return _diff_binary (m, GANTRY_OP_ATAN2, x, y);
    case 3:
      return _diff_chance (m, 50)
               ? _diff_binary (m, GANTRY_OP_REMAINDER, x, shifted (m, _diff_unary (m, GANTRY_OP_ABS, y), 0.7))
               : gantry_builder_add (m->b, GANTRY_OP_CLAMP,
                                     (guint32[]){ _diff_splat_like (m, x, -0.5), x, shifted (m, _diff_unary (m, GANTRY_OP_ABS, y), 0.2) }, 3, 0);
    default:
      return _diff_chance (m, 50) ? _diff_binary (m, ops[_diff_upto (m, G_N_ELEMENTS (ops))], x, y)
                                  : _diff_binary (m, ops[_diff_upto (m, G_N_ELEMENTS (ops))], y, x);
    }
}

static guint32
write_choice (DiffMaker *m, guint32 x)
{
  static const char *const directions[] = { "EQ", "NE", "LT", "LE", "GT", "GE" };
  guint32 y = other_operand (m, x);
  guint32 predicate = gantry_builder_compare (m->b, directions[_diff_upto (m, 6)], x, y);

  if (_diff_chance (m, 20))
    predicate = _diff_binary (m, _diff_chance (m, 50) ? GANTRY_OP_AND : GANTRY_OP_XOR, predicate,
                              _diff_unary (m, _diff_chance (m, 50) ? GANTRY_OP_IS_FINITE : GANTRY_OP_IS_NAN, x));
  if (_diff_chance (m, 20))
    predicate = _diff_unary (m, GANTRY_OP_NOT, predicate);
  if (_diff_chance (m, 20))
    return gantry_builder_convert (m->b, predicate, m->element);
  return gantry_builder_select (m->b, predicate, _diff_chance (m, 50) ? x : other_operand (m, x), y);
}

/* To integers, something there, and back. */
static guint32
write_integers (DiffMaker *m, guint32 x)
{
  static const GantryElementType elements[] = { GANTRY_I8, GANTRY_I16, GANTRY_I32, GANTRY_I64, GANTRY_U8, GANTRY_U16, GANTRY_U32, GANTRY_U64 };
  static const guint16 ops[] = { GANTRY_OP_ADD,
                                 GANTRY_OP_SUBTRACT,
                                 GANTRY_OP_MULTIPLY,
                                 GANTRY_OP_DIVIDE,
                                 GANTRY_OP_REMAINDER,
                                 GANTRY_OP_MAXIMUM,
                                 GANTRY_OP_MINIMUM,
                                 GANTRY_OP_AND,
                                 GANTRY_OP_OR,
                                 GANTRY_OP_XOR,
                                 GANTRY_OP_SHIFT_LEFT,
                                 GANTRY_OP_SHIFT_RIGHT_ARITHMETIC,
                                 GANTRY_OP_SHIFT_RIGHT_LOGICAL,
                                 GANTRY_OP_POWER };
  static const guint16 unary[] = { GANTRY_OP_ABS, GANTRY_OP_NEGATE, GANTRY_OP_SIGN, GANTRY_OP_NOT, GANTRY_OP_POPCNT, GANTRY_OP_COUNT_LEADING_ZEROS };
  GantryElementType element = elements[_diff_upto (m, G_N_ELEMENTS (elements))];
  guint32 scaled = _diff_binary (m, GANTRY_OP_MULTIPLY, x, _diff_splat_like (m, x, 37)), i, k;

  i = gantry_builder_convert (m->b, scaled, element);
  k = gantry_builder_convert (m->b, _diff_pick_like (m, x), element);
  if (_diff_chance (m, 70))
    i = _diff_binary (m, ops[_diff_upto (m, G_N_ELEMENTS (ops))], i, k);
  if (_diff_chance (m, 40))
    i = _diff_unary (m, unary[_diff_upto (m, G_N_ELEMENTS (unary))], i);
  if (_diff_chance (m, 30))
    return i;
  return gantry_builder_convert (m->b, i, m->element);
}

/* A name that policies know it by; what no gradient is taken of; a copy; through the host's memory and back. */
static guint32
write_marked (DiffMaker *m, guint32 x)
{
  guint op = _diff_chance (m, 50) ? GANTRY_OP_CHECKPOINT_NAME : _diff_chance (m, 30) ? GANTRY_OP_STOP_GRADIENT : GANTRY_OP_COPY;
  GantryAttrList *attrs = gantry_attr_list_new (m->context);

  if (op == GANTRY_OP_CHECKPOINT_NAME)
    gantry_attr_list_set_string (attrs, "name", _diff_chance (m, 50) ? "here" : "there");
  else if (op == GANTRY_OP_COPY && _diff_chance (m, 50))
    {
      gantry_attr_list_set_string (attrs, "memory", gantry_memory_kind_name (GANTRY_MEMORY_PINNED_HOST));
      x = gantry_builder_add (m->b, op, &x, 1, gantry_attr_list_end (attrs));
      attrs = gantry_attr_list_new (m->context);
      gantry_attr_list_set_string (attrs, "memory", gantry_memory_kind_name (GANTRY_MEMORY_DEVICE));
    }
  return gantry_builder_add (m->b, op, &x, 1, gantry_attr_list_end (attrs));
}

/* To another float type and back. */
static guint32
write_conversion (DiffMaker *m, guint32 x)
{
  static const GantryElementType elements[] = { GANTRY_F16, GANTRY_BF16, GANTRY_F32, GANTRY_F64 };
  guint32 y = gantry_builder_convert (m->b, x, elements[_diff_upto (m, G_N_ELEMENTS (elements))]);

  return gantry_builder_convert (m->b, y, m->element);
}

void
_diff_write_elementwise (DiffMaker *m)
{
  for (gint n = 1 + _diff_upto (m, 3); n > 0; n--)
    {
      guint32 x = _diff_pick_float (m);

      switch (_diff_upto (m, 15))
        {
        case 14: _diff_put (m, write_marked (m, x)); break;
        case 0: _diff_put (m, write_choice (m, x)); break;
        case 1: _diff_put (m, write_integers (m, x)); break;
        case 2: _diff_put (m, write_conversion (m, x)); break;
        case 3:
        case 4:
        case 5: _diff_put (m, write_function (m, x)); break;
        default: _diff_put (m, write_arithmetic (m, x)); break;
        }
    }
}
