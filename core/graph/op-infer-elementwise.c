/* SPDX-License-Identifier: Apache-2.0 */
/* Type rules of the operations whose result has the shape of their operands. Operands must have equal shapes: numpy's
 * broadcasting is written out by the front ends. */
#include "core/graph/operation-private.h"
#include <string.h>

static gboolean
check_element (const GantryTypeQuery *query, GantryElementType element, GError **error)
{
  gboolean is_float = gantry_element_is_float (element), is_integer = gantry_element_is_integer (element);

  switch (gantry_op_info (query->op)->flags & GANTRY_TAKES_MASK)
    {
    case GANTRY_TAKES_NUMBERS:
      if (element == GANTRY_BOOL)
        return _gantry_infer_fail (query, error, "takes numbers, not bool: use and, or, xor, or convert first");
      return is_float || is_integer || _gantry_infer_fail (query, error, "takes numbers, not %s", gantry_element_name (element));
    case GANTRY_TAKES_FLOATS: return is_float || _gantry_infer_fail (query, error, "takes floating point numbers, not %s", gantry_element_name (element));
    case GANTRY_TAKES_INTEGERS: return is_integer || _gantry_infer_fail (query, error, "takes integers, not %s", gantry_element_name (element));
    case GANTRY_TAKES_BITS:
      return is_integer || element == GANTRY_BOOL || _gantry_infer_fail (query, error, "takes bool or integers, not %s", gantry_element_name (element));
    default: return TRUE;
    }
}

/* optimization_barrier, checkpoint_name: any value, and it stays in its memory. */
guint32
_gantry_infer_same (const GantryTypeQuery *query, GError **error)
{
  if (_gantry_infer_operand (query, 0)->kind == GANTRY_TYPE_UNKNOWN)
    return _gantry_infer_tensor (query, 0, error) != NULL;
  if (query->op == GANTRY_OP_CHECKPOINT_NAME && gantry_attrs_string (query->context, query->attrs, "name", NULL) == NULL)
    return _gantry_infer_fail (query, error, "attribute name is missing");
  return query->operand_types[0];
}

guint32
_gantry_infer_rematerialize (const GantryTypeQuery *query, GError **error)
{
  if (_gantry_infer_tensor (query, 0, error) == NULL || _gantry_infer_tensor (query, 1, error) == NULL)
    return 0;
  if (query->operand_types[0] != query->operand_types[1])
    return _gantry_infer_fail (query, error, "what is made again must have the type of what is saved");
  return query->operand_types[0];
}

guint32
_gantry_infer_copy (const GantryTypeQuery *query, GError **error)
{
  const GantryAttr *attr = gantry_attrs_find (query->context, query->attrs, "memory");
  const GantryType *type = _gantry_infer_tensor (query, 0, error);
  const char *name;

  if (type == NULL)
    return 0;
  if (attr == NULL)
    return query->operand_types[0];
  if (attr->kind != GANTRY_ATTR_STRING)
    return _gantry_infer_fail (query, error, "attribute memory must be a string");
  name = gantry_context_string (query->context, attr->id);
  for (guint i = 0; i < GANTRY_N_MEMORY_KINDS; i++)
    if (strcmp (name, gantry_memory_kind_name (i)) == 0)
      return gantry_context_tensor_in (query->context, type->element, type->rank, type->dims, i);
  return _gantry_infer_fail (query, error, "memory is \"%s\", but must be device, pinned_host or unpinned_host", name);
}

guint32
_gantry_infer_unary (const GantryTypeQuery *query, GError **error)
{
  const GantryType *type = _gantry_infer_tensor (query, 0, error);
  gboolean test = (gantry_op_info (query->op)->flags & GANTRY_GIVES_BOOL) != 0;

  if (type == NULL || !check_element (query, type->element, error))
    return 0;
  return _gantry_infer_make (query, test ? GANTRY_BOOL : type->element, type->rank, type->dims, error);
}

guint32
_gantry_infer_convert (const GantryTypeQuery *query, GError **error)
{
  const GantryType *type = _gantry_infer_tensor (query, 0, error);
  GantryElementType to;

  if (type == NULL || !_gantry_infer_to (query, GANTRY_ELEMENT_NONE, &to, error))
    return 0;
  if (query->op == GANTRY_OP_BITCAST_CONVERT
      && (gantry_element_size (to) != gantry_element_size (type->element) || (to == GANTRY_BOOL) != (type->element == GANTRY_BOOL)))
    return _gantry_infer_fail (query, error, "%s and %s do not have the same width; convert changes values", gantry_element_name (type->element),
                               gantry_element_name (to));
  if (query->op == GANTRY_OP_CONVERT && (to == GANTRY_STRING) != (type->element == GANTRY_STRING))
    return _gantry_infer_fail (query, error, "cannot convert %s to %s", gantry_element_name (type->element), gantry_element_name (to));
  return _gantry_infer_make (query, to, type->rank, type->dims, error);
}

/* Merges the shapes of the operands from @first on and checks that their elements are equal. */
static const GantryType *
merge_equal (const GantryTypeQuery *query, guint first, GantryDim *dims, GError **error)
{
  const GantryType *type = _gantry_infer_tensor (query, first, error);

  if (type == NULL)
    return NULL;
  memcpy (dims, type->dims, sizeof (GantryDim) * type->rank);
  for (guint i = first + 1; i < query->n_operands; i++)
    {
      const GantryType *other = _gantry_infer_tensor (query, i, error);

      if (other == NULL || !_gantry_infer_merge (query, first, i, type->rank, dims, error))
        return NULL;
      if (other->element != type->element)
        {
          _gantry_infer_fail (query, error, "operand %u has elements of type %s, operand %u of %s", first, gantry_element_name (type->element), i,
                              gantry_element_name (other->element));
          return NULL;
        }
    }
  return type;
}

guint32
_gantry_infer_binary (const GantryTypeQuery *query, GError **error)
{
  GantryDim dims[GANTRY_MAX_RANK];
  const GantryType *type = merge_equal (query, 0, dims, error);

  if (type == NULL || !check_element (query, type->element, error))
    return 0;
  return _gantry_infer_make (query, type->element, type->rank, dims, error);
}

guint32
_gantry_infer_clamp (const GantryTypeQuery *query, GError **error)
{
  return _gantry_infer_binary (query, error);
}

guint32
_gantry_infer_compare (const GantryTypeQuery *query, GError **error)
{
  static const char *const directions[] = { "EQ", "NE", "LT", "LE", "GT", "GE", NULL };
  const char *direction = gantry_attrs_string (query->context, query->attrs, "comparison_direction", NULL);
  GantryDim dims[GANTRY_MAX_RANK];
  const GantryType *type = merge_equal (query, 0, dims, error);

  if (type == NULL)
    return 0;
  if (direction == NULL)
    return _gantry_infer_fail (query, error, "attribute comparison_direction is missing");
  if (!g_strv_contains (directions, direction))
    return _gantry_infer_fail (query, error, "comparison_direction is \"%s\", but must be EQ, NE, LT, LE, GT or GE", direction);
  if (type->element == GANTRY_STRING || type->element == GANTRY_ELEMENT_OTHER)
    return _gantry_infer_fail (query, error, "takes numbers or bool, not %s", gantry_element_name (type->element));
  return _gantry_infer_make (query, GANTRY_BOOL, type->rank, dims, error);
}

guint32
_gantry_infer_select (const GantryTypeQuery *query, GError **error)
{
  GantryDim dims[GANTRY_MAX_RANK];
  const GantryType *predicate = _gantry_infer_tensor (query, 0, error);
  const GantryType *type;

  if (predicate == NULL)
    return 0;
  if (predicate->element != GANTRY_BOOL)
    return _gantry_infer_fail (query, error, "the predicate (operand 0) must be bool, not %s", gantry_element_name (predicate->element));
  type = merge_equal (query, 1, dims, error);
  if (type == NULL || !_gantry_infer_merge (query, 1, 0, type->rank, dims, error))
    return 0;
  return _gantry_infer_make (query, type->element, type->rank, dims, error);
}
