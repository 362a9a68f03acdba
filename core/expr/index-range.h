/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of integer expressions: the least and the greatest value that they can have. Both graphs of expressions ask here, so that
 * they know the same. All of it is sound for 64-bit arithmetic that wraps: where a bound of the exact result leaves i64, nothing is known. */
#pragma once
#include "core/expr/scalar.h"

G_BEGIN_DECLS

/** Values of an integer expression, both bounds inclusive; a bound that is that of i64 says nothing. */
typedef struct
{
  gint64 lo, hi;
} GantryIndexRange;

#define GANTRY_INDEX_ANY ((GantryIndexRange){ G_MININT64, G_MAXINT64 })

/** Whether something is known of both ends. */
static inline gboolean
gantry_index_range_is_known (GantryIndexRange range)
{
  return range.lo != G_MININT64 && range.hi != G_MAXINT64;
}
/** The values of one or the other: of a select */
static inline GantryIndexRange
gantry_index_range_union (GantryIndexRange x, GantryIndexRange y)
{
  return (GantryIndexRange){ MIN (x.lo, y.lo), MAX (x.hi, y.hi) };
}
/** The values of an element type; anything of i64, u64 and what is no integer. */
GantryIndexRange gantry_index_range_of_type (GantryElementType type);
/** x + factor * y: terms of a sum are added one by one to the range of its constant. */
GantryIndexRange gantry_index_range_add (GantryIndexRange x, GantryIndexRange y, gint64 factor);
/** Of a binary operation of i64, as its row of core/graph/scalar-ops.h says. */
GantryIndexRange gantry_index_range_binary (GantryOp op, GantryIndexRange x, GantryIndexRange y);
/** Whether x @direction y holds, by the @difference x - y. Returns: 1, 0, or -1 where that is not known */
int gantry_index_range_compare (GantryDirection direction, GantryIndexRange difference);

G_END_DECLS
