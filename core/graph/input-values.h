/* SPDX-License-Identifier: Apache-2.0 */
/* Values that the user gives to inputs of a program before anything is compiled ("--set sr=16000"): such an input is a
 * constant from the imported program on, so that what depends on it alone is computed at compile time. */
#pragma once
#include "core/graph/module.h"

G_BEGIN_DECLS

/**
 * GantryDimSize: a size that the user gives to an open dimension, `--dim batch=8`.
 *
 * @name: the model's name of the dimension, or "input:axis" ("data:0") for one without a name
 * @value: 0 or more
 */
typedef struct
{
  const char *name;
  gint64 value;
} GantryDimSize;

/**
 * GantryInputValue:
 * @name: of the input
 * @value: as gantry_literal_from_text() reads it
 */
typedef struct
{
  const char *name;
  const char *value;
} GantryInputValue;

/**
 * gantry_literal_from_text:
 * @text: a literal of the text form ("dense<i64[2]: 1, 2>"), or short for one of @type: a number, "true", "false", or
 *   "[[1, 2], [3, 4]]". One number stands for as many as @type has
 * @type: of the value, dimensions that are no numbers free; the unknown type: any
 *
 * Returns: (transfer full): a value whose element type and dimensions are those of @type; NULL and INVALID, TOO_LARGE or
 * TRUNCATED that says what was wrong where
 */
GantryLiteral *gantry_literal_from_text (GantryContext *context, const char *text, const GantryType *type, GError **error);

/**
 * gantry_module_set_inputs:
 * @values: (array length=n): each name once
 *
 * Returns: (transfer full): @module with these parameters of its entry as constants, every other node and all ids as they
 * are; NULL and an error that names the input, when there is none of that name or the value is not of its type
 */
GantryModule *gantry_module_set_inputs (GantryModule *module, const GantryInputValue *values, guint n, GError **error);

/** Whether @node is the constant that an input was made: data, never a weight. */
gboolean gantry_node_is_set_input (const GantryModule *module, const GantryNode *node);

G_END_DECLS
