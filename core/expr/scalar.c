/* SPDX-License-Identifier: Apache-2.0 */
/* Scalar operations: identities and short names. */
#include "core/expr/scalar.h"
#include <math.h>

static GantryScalar
number (gint64 value)
{
  return (GantryScalar){ (double) value, value };
}

/* The least value of a type, or the greatest one. */
static GantryScalar
extreme (GantryElementType element, gboolean greatest)
{
  guint bits = element == GANTRY_BOOL ? 1 : 8 * (guint) gantry_element_size (element);
  guint64 all = G_MAXUINT64 >> (64 - CLAMP (bits, 1, 64)); /* others than those have no such values */

  if (gantry_element_is_float (element))
    return (GantryScalar){ greatest ? INFINITY : -INFINITY, 0 };
  if (gantry_element_is_signed (element))
    return number (greatest ? (gint64) (all >> 1) : -(gint64) (all >> 1) - 1);
  return number (greatest ? (gint64) all : 0);
}

enum
{
  IDENTITY_NO_IDENTITY,
  IDENTITY_ZERO,
  IDENTITY_ONE,
  IDENTITY_ALL_ONES,
  IDENTITY_LOWEST,
  IDENTITY_HIGHEST
};

static const guint8 identities[GANTRY_N_OPS] = {
#define ROW(with, NAME, name, short_name, elements, flags, cost, float_value, integer_value, float_code, integer_code, bool_code, derivative, identity, ...) \
  [GANTRY_OP_##NAME] = IDENTITY_##identity,
  GANTRY_BINARY_OPERATIONS (ROW, )
#undef ROW
};

gboolean
gantry_scalar_identity (GantryOp op, GantryElementType element, GantryScalar *identity)
{
  if (gantry_element_is_float (element) && (gantry_op_info (op)->flags & GANTRY_TAKES_MASK) == GANTRY_TAKES_BITS)
    return FALSE;
  switch (identities[op])
    {
    case IDENTITY_ZERO: *identity = number (0); return TRUE;
    case IDENTITY_ONE: *identity = number (1); return TRUE;
    case IDENTITY_ALL_ONES: *identity = gantry_element_is_signed (element) ? number (-1) : extreme (element, TRUE); return TRUE;
    case IDENTITY_LOWEST: *identity = extreme (element, FALSE); return TRUE;
    case IDENTITY_HIGHEST: *identity = extreme (element, TRUE); return TRUE;
    default: return FALSE;
    }
}

const char *
gantry_scalar_short_name (GantryOp op)
{
  static const char *const names[GANTRY_N_OPS] = {
#define ROW(with, NAME, name, short_name, ...) [GANTRY_OP_##NAME] = short_name,
    GANTRY_UNARY_OPERATIONS (ROW, ) GANTRY_BINARY_OPERATIONS (ROW, )
#undef ROW
  };

  return names[op] != NULL ? names[op] : gantry_op_info (op)->name;
}
