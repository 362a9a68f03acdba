/* SPDX-License-Identifier: Apache-2.0 */
/* Index arithmetic: quotients and remainders of sums taken apart, comparisons and clamps decided by
 * what is known of the ranges. Everything is exact; where nothing is known the operation stays. */
#include "core/base/integers.h"
#include "core/expr/kernel-expression.h"

/* Division of index sums */

/* Parts the sum x into what @by divides and the rest. Constants go to the side where the rest stays in [0, by). */
static void
part_sum (GantryKx *kx, guint32 x, gint64 by, GArray *whole, gint64 *whole_constant, GArray *rest, gint64 *rest_constant)
{
  g_autoptr (GArray) terms = _gantry_kx_new_terms ();
  gint64 constant = gantry_kx_as_sum (kx, x, 1, terms);

  for (guint i = 0; i < terms->len; i++)
    {
      GantryKxTerm term = g_array_index (terms, GantryKxTerm, i);

      g_array_append_val (term.factor % by == 0 ? whole : rest, term);
    }
  *rest_constant = constant % by + (constant % by < 0 ? by : 0);
  *whole_constant = constant - *rest_constant;
}

guint32
_gantry_kx_raw_binary (GantryKx *kx, GantryElementType type, GantryOp op, GantryDirection direction, guint32 a, guint32 b)
{
  return _gantry_kx_intern (kx, (GantryKxNode){ .kind = GANTRY_KX_BINARY, .type = type, .op = op, .direction = direction, .a = a, .b = b });
}

/* x / by and x % by for x >= 0, by > 1, once the parts are known: whole is a multiple of @by. */
static guint32
finish_division (GantryKx *kx, GantryOp op, gint64 by, GArray *whole, gint64 whole_constant, guint32 rest)
{
  GantryIndexRange r = gantry_kx_range (kx, rest);
  gboolean small = r.lo >= 0 && r.hi < by;
  guint32 divisor = gantry_kx_const_int (kx, GANTRY_I64, by);
  guint32 of_rest;

  if (op == GANTRY_OP_REMAINDER)
    return small ? rest : _gantry_kx_raw_binary (kx, GANTRY_I64, op, 0, rest, divisor);
  of_rest = small ? gantry_kx_const_int (kx, GANTRY_I64, 0) : _gantry_kx_raw_binary (kx, GANTRY_I64, op, 0, rest, divisor);
  {
    GArray *terms = _gantry_kx_new_terms ();
    gint64 constant = whole_constant / by;

    for (guint i = 0; i < whole->len; i++)
      {
        GantryKxTerm term = g_array_index (whole, GantryKxTerm, i);

        term.factor /= by;
        g_array_append_val (terms, term);
      }
    constant += gantry_kx_as_sum (kx, of_rest, 1, terms);
    return _gantry_kx_sum (kx, constant, terms);
  }
}

/* (g * A + s) / (g * m) is A / m, and % is g * (A % m) + s, when 0 <= s < g. Returns 0 when no such g is found. */
static guint32
divide_by_common (GantryKx *kx, GantryOp op, guint32 x, gint64 by)
{
  g_autoptr (GArray) terms = _gantry_kx_new_terms ();

  gantry_kx_as_sum (kx, x, 1, terms);
  for (guint i = 0; i < terms->len; i++)
    {
      gint64 g = gantry_greatest_divisor (g_array_index (terms, GantryKxTerm, i).factor, by), whole_constant, rest_constant;
      g_autoptr (GArray) whole = NULL;
      GArray *rest;
      guint32 quotient, small;
      GantryIndexRange r;

      if (g <= 1 || g == by)
        continue;
      whole = _gantry_kx_new_terms ();
      rest = _gantry_kx_new_terms ();
      part_sum (kx, x, g, whole, &whole_constant, rest, &rest_constant);
      small = _gantry_kx_sum (kx, rest_constant, rest);
      r = gantry_kx_range (kx, small);
      if (r.lo < 0 || r.hi >= g)
        continue;
      quotient = finish_division (kx, GANTRY_OP_DIVIDE, g, whole, whole_constant, small);
      quotient = gantry_kx_binary (kx, GANTRY_I64, op, 0, quotient, gantry_kx_const_int (kx, GANTRY_I64, by / g));
      if (op == GANTRY_OP_DIVIDE)
        return quotient + 1;
      return gantry_kx_linear (kx, 0, (GantryKxTerm[]){ { quotient, g }, { small, 1 } }, 2) + 1;
    }
  return 0;
}

/* Divisions of divisions. Returns 0 when @x is none. */
static guint32
divide_division (GantryKx *kx, GantryOp op, guint32 x, gint64 by)
{
  guint32 of;
  gint64 k;

  if (_gantry_kx_is_division (kx, x, GANTRY_OP_DIVIDE, &of, &k) && op == GANTRY_OP_DIVIDE && gantry_kx_range (kx, of).lo >= 0 && k < G_MAXINT32
      && by < G_MAXINT32)
    return gantry_kx_binary (kx, GANTRY_I64, op, 0, of, gantry_kx_const_int (kx, GANTRY_I64, k * by)) + 1;
  if (_gantry_kx_is_division (kx, x, GANTRY_OP_REMAINDER, &of, &k) && k % by == 0 && gantry_kx_range (kx, of).lo >= 0)
    {
      guint32 divisor = gantry_kx_const_int (kx, GANTRY_I64, by);

      if (op == GANTRY_OP_REMAINDER)
        return gantry_kx_binary (kx, GANTRY_I64, op, 0, of, divisor) + 1;
      of = gantry_kx_binary (kx, GANTRY_I64, GANTRY_OP_DIVIDE, 0, of, divisor);
      return gantry_kx_binary (kx, GANTRY_I64, GANTRY_OP_REMAINDER, 0, of, gantry_kx_const_int (kx, GANTRY_I64, k / by)) + 1;
    }
  return 0;
}

/* Returns: 0 when nothing is known that makes it simpler, else 1 + node */
static guint32
divide_index (GantryKx *kx, GantryOp op, guint32 x, gint64 by)
{
  GantryIndexRange r = gantry_kx_range (kx, x);
  g_autoptr (GArray) whole = NULL;
  GArray *rest;
  gint64 whole_constant, rest_constant;
  guint32 found, small;

  if (by == 1)
    return (op == GANTRY_OP_DIVIDE ? x : gantry_kx_const_int (kx, GANTRY_I64, 0)) + 1;
  if (by < 1 || r.lo < 0)
    return 0;
  if (r.hi < by)
    return (op == GANTRY_OP_DIVIDE ? gantry_kx_const_int (kx, GANTRY_I64, 0) : x) + 1;
  found = divide_division (kx, op, x, by);
  if (found == 0)
    found = divide_by_common (kx, op, x, by);
  if (found != 0)
    return found;
  whole = _gantry_kx_new_terms ();
  rest = _gantry_kx_new_terms ();
  part_sum (kx, x, by, whole, &whole_constant, rest, &rest_constant);
  small = _gantry_kx_sum (kx, rest_constant, rest);
  if (small == x || gantry_kx_range (kx, small).lo < 0)
    return 0;
  return finish_division (kx, op, by, whole, whole_constant, small) + 1;
}

/* Binary operations of index values */

/* The range of x - y, seen as one sum so that equal terms cancel; but x and x + 1 of data may have wrapped. */
static GantryIndexRange
difference (GantryKx *kx, guint32 x, guint32 y)
{
  if (!gantry_index_range_is_known (gantry_kx_range (kx, x)) || !gantry_index_range_is_known (gantry_kx_range (kx, y)))
    return GANTRY_INDEX_ANY;
  return gantry_kx_range (kx, gantry_kx_linear (kx, 0, (GantryKxTerm[]){ { x, 1 }, { y, -1 } }, 2));
}

guint32
_gantry_kx_compare_index (GantryKx *kx, GantryDirection direction, guint32 x, guint32 y)
{
  int known = gantry_index_range_compare (direction, difference (kx, x, y));

  if (known >= 0)
    return gantry_kx_const_int (kx, GANTRY_BOOL, known);
  return _gantry_kx_raw_binary (kx, GANTRY_BOOL, GANTRY_OP_COMPARE, direction, x, y);
}

guint32
_gantry_kx_index_binary (GantryKx *kx, GantryOp op, guint32 x, guint32 y)
{
  const GantryKxNode *p = gantry_kx_node (kx, x), *q = gantry_kx_node (kx, y);
  guint32 found = 0;

  switch (op)
    {
    case GANTRY_OP_ADD: return gantry_kx_linear (kx, 0, (GantryKxTerm[]){ { x, 1 }, { y, 1 } }, 2);
    case GANTRY_OP_SUBTRACT: return gantry_kx_linear (kx, 0, (GantryKxTerm[]){ { x, 1 }, { y, -1 } }, 2);
    case GANTRY_OP_MULTIPLY:
      if (q->kind == GANTRY_KX_CONST)
        return gantry_kx_linear (kx, 0, (GantryKxTerm[]){ { x, q->i } }, 1);
      if (p->kind == GANTRY_KX_CONST)
        return gantry_kx_linear (kx, 0, (GantryKxTerm[]){ { y, p->i } }, 1);
      break;
    case GANTRY_OP_DIVIDE:
    case GANTRY_OP_REMAINDER:
      if (q->kind == GANTRY_KX_CONST)
        found = divide_index (kx, op, x, q->i);
      if (found != 0)
        return found - 1;
      break;
    case GANTRY_OP_MAXIMUM:
    case GANTRY_OP_MINIMUM:
      {
        GantryIndexRange d = difference (kx, x, y);

        if (d.lo >= 0)
          return op == GANTRY_OP_MAXIMUM ? x : y;
        if (d.hi <= 0)
          return op == GANTRY_OP_MAXIMUM ? y : x;
        break;
      }
    default: break;
    }
  return _gantry_kx_raw_binary (kx, GANTRY_I64, op, 0, x, y);
}
