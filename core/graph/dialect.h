/* SPDX-License-Identifier: Apache-2.0 */
/* How a front end tells the pass `legalize` what its own operations mean, without either room
 * knowing the other: one function that writes a foreign node in core operations. The importer uses
 * the same function on a scratch module to infer types, so there is one definition of both. */
#pragma once
#include "core/graph/builder.h"

G_BEGIN_DECLS

/**
 * GantryLowerFunc:
 * @builder: where core nodes are to be added; its scope, location, name and origin are set already
 * @source: the module of @node
 * @operands: for each operand of @node its id in the new module, 0 where absent
 * @results: (out): for each result of @node the id of its new value
 * @n_results: number of results: members of the tuple type, else 1
 *
 * Returns: FALSE and %GANTRY_ERROR_UNSUPPORTED "Operation: why" when the node cannot be expressed.
 */
typedef gboolean (*GantryLowerFunc) (GantryBuilder *builder, const GantryModule *source, const GantryNode *node, const guint32 *operands, guint32 *results,
                                     guint n_results, GError **error);

/** In each message of gantry_dialect_refuse_unknown(), and in no other. */
#define GANTRY_DIALECT_NO_LOWERING "no lowering"
/** Sets %GANTRY_ERROR_UNSUPPORTED: no front end knows what @operation computes, and what its user can do. */
void gantry_dialect_refuse_unknown (GError **error, const char *operation);

struct _GantryDialect
{
  const char *name; /* "onnx" */
  GantryLowerFunc lower;
  GantryOpClass (*classify) (const char *op_name); /* of "onnx.Conv" */
};

G_END_DECLS
