/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the operation table share: the type rules by name, and what they are made of. */
#pragma once
#include "core/graph/op-attributes.h"

G_BEGIN_DECLS

/** One type rule. Returns: a type id, 0 and @error. */
typedef guint32 (*GantryTypeRule) (const GantryTypeQuery *query, GError **error);

guint32 _gantry_infer_same (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_rematerialize (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_copy (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_unary (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_convert (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_binary (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_compare (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_select (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_clamp (const GantryTypeQuery *query, GError **error);

guint32 _gantry_infer_constant (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_parameter (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_tuple (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_result (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_body (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_if (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_while (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_scan (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_sort (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_rng (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_custom_call (const GantryTypeQuery *query, GError **error);

guint32 _gantry_infer_iota (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_broadcast (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_reshape (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_transpose (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_reverse (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_slice (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_pad (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_concatenate (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_dynamic_slice (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_dynamic_update_slice (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_gather (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_scatter (const GantryTypeQuery *query, GError **error);

guint32 _gantry_infer_reduce (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_reduce_window (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_dot_general (const GantryTypeQuery *query, GError **error);
guint32 _gantry_infer_convolution (const GantryTypeQuery *query, GError **error);

/* What rules are made of. All that can fail set @error: "operation: what is wrong". */

/** Always returns 0. */
guint32 _gantry_infer_fail (const GantryTypeQuery *query, GError **error, const char *format, ...) G_GNUC_PRINTF (3, 4);
static inline const GantryType *
_gantry_infer_operand (const GantryTypeQuery *query, guint i)
{
  return gantry_context_type (query->context, query->operand_types[i]);
}
/** Returns: (nullable): the type of operand @i, when it is a tensor. */
const GantryType *_gantry_infer_tensor (const GantryTypeQuery *query, guint i, GError **error);
/** "f32[8,64]"; lives as long as the context. For messages. */
const char *_gantry_infer_text (const GantryTypeQuery *query, guint i);
/** "64", "batch" or "?"; lives as long as the context. For messages. */
const char *_gantry_dim_text (GantryContext *context, GantryDim dim);
/** Interns a tensor type; refuses a rank or a size beyond the limits. */
guint32 _gantry_infer_make (const GantryTypeQuery *query, GantryElementType element, guint rank, const GantryDim *dims, GError **error);
/** What is known of one dimension that @a and @b both describe. Returns: FALSE when they surely differ. */
gboolean _gantry_dim_merge (GantryDim a, GantryDim b, GantryDim *merged);
/** Merges the dimensions of operand @i into @dims (of @rank), which so far describe operand @first. */
gboolean _gantry_infer_merge (const GantryTypeQuery *query, guint first, guint i, guint rank, GantryDim *dims, GError **error);
/** A list attribute. @n_wanted: -1 for any length. An absent one has length 0 unless @required. */
gboolean
_gantry_infer_ints (const GantryTypeQuery *query, const char *key, gssize n_wanted, gboolean required, const gint64 **values, gsize *n, GError **error);
/** A list of different dimensions below @rank; @sorted: they must ascend. */
gboolean _gantry_infer_dimensions (const GantryTypeQuery *query, const char *key, guint rank, gboolean sorted, gboolean required, const gint64 **values,
                                   gsize *n, GError **error);
/** A number attribute that must lie in [low, high). */
gboolean _gantry_infer_axis (const GantryTypeQuery *query, const char *key, gint64 low, gint64 high, gint64 *value, GError **error);
/** Attribute `to`: the element type of the type that it names; @fallback where absent. */
gboolean _gantry_infer_to (const GantryTypeQuery *query, GantryElementType fallback, GantryElementType *element, GError **error);
/** Attribute `kind` of a reduction, checked against @element. */
gboolean _gantry_infer_kind (const GantryTypeQuery *query, GantryElementType element, GantryOp *op, GError **error);
/** The function that attribute @key names and the type of what it returns. */
gboolean _gantry_infer_function (const GantryTypeQuery *query, const char *key, guint32 *function, guint32 *result, GError **error);

G_END_DECLS
