/* SPDX-License-Identifier: Apache-2.0 */
/* What core/graph/scalar-ops.h says of a scalar operation, for all that compute or generate code. */
#pragma once
#include "core/graph/operation.h"

G_BEGIN_DECLS

typedef enum
{
  GANTRY_EQ,
  GANTRY_NE,
  GANTRY_LT,
  GANTRY_LE,
  GANTRY_GT,
  GANTRY_GE
} GantryDirection;

/** A scalar: @f of an element type that is floating point, else @i: sign extended where the type is signed, else zero extended; bool 0 or 1 */
typedef struct
{
  double f;
  gint64 i;
} GantryScalar;

/**
 * gantry_scalar_identity:
 * @op: a core operation
 * @element: of what is reduced
 * @identity: (out): both members say the same value where both can
 *
 * What a reduction by @op starts from: op (identity, x) is x for every x.
 *
 * Returns: %FALSE where nothing reduces elements of this type by @op
 */
gboolean gantry_scalar_identity (GantryOp op, GantryElementType element, GantryScalar *identity);
/** How @op is called in printed expressions: as in numpy where that has it. Of a core operation */
const char *gantry_scalar_short_name (GantryOp op);

G_END_DECLS
