/* SPDX-License-Identifier: Apache-2.0 */
/* Type rules of structure and control (constants, tuples, calls, branches, loops) and of the operations that no
 * expression says: sort, random bits and calls by name. */
#include "core/ir/operation-private.h"
#include <string.h>

guint32
_gantry_infer_parameter (const GantryTypeQuery *query, GError **error)
{
  return _gantry_infer_fail (query, error,
                             "its type is given where its function begins, it cannot be inferred");
}

guint32
_gantry_infer_constant (const GantryTypeQuery *query, GError **error)
{
  const GantryAttr *attr = gantry_attrs_find (query->context, query->attrs, "value");
  const GantryLiteral *literal;

  if (attr == NULL)
    return _gantry_infer_fail (query, error, "attribute value is missing");
  if (attr->kind != GANTRY_ATTR_LITERAL
      || (literal = gantry_context_literal (query->context, attr->id)) == NULL)
    return _gantry_infer_fail (query, error, "attribute value must be a literal");
  return _gantry_infer_make (query, literal->type->element, literal->type->rank,
                             literal->type->dims, error);
}

guint32
_gantry_infer_tuple (const GantryTypeQuery *query, GError **error)
{
  return gantry_context_tuple (query->context, query->n_operands, query->operand_types);
}

guint32
_gantry_infer_result (const GantryTypeQuery *query, GError **error)
{
  const GantryType *type = _gantry_infer_operand (query, 0);
  gint64 index;

  if (type->kind == GANTRY_TYPE_UNKNOWN)
    return _gantry_infer_tensor (query, 0, error) != NULL;
  if (type->kind != GANTRY_TYPE_TUPLE)
    return _gantry_infer_fail (query, error, "operand 0 must be a tuple, not %s",
                               _gantry_infer_text (query, 0));
  if (!_gantry_infer_axis (query, "index", 0, type->rank, &index, error))
    return 0;
  /* Of an unknown operation with several results the members may be of unknown type, and so is this then. */
  return gantry_context_tuple_member (query->context, query->operand_types[0], (guint) index);
}

/* TRUE when nothing is surely wrong with a value of type @have where @want is declared. */
static gboolean
fits (GantryContext *context, guint32 want, guint32 have)
{
  const GantryType *a = gantry_context_type (context, want),
                   *b = gantry_context_type (context, have);
  GantryDim merged;

  if (want == have || a->kind == GANTRY_TYPE_UNKNOWN || b->kind == GANTRY_TYPE_UNKNOWN)
    return TRUE;
  if (a->kind != b->kind || a->element != b->element || a->rank != b->rank)
    return FALSE;
  for (guint i = 0; i < a->rank; i++)
    if (a->kind == GANTRY_TYPE_TUPLE ? !fits (context, (guint32) a->dims[i], (guint32) b->dims[i])
                                     : !_gantry_dim_merge (a->dims[i], b->dims[i], &merged))
      return FALSE;
  return TRUE;
}

/* Checks the parameters of a function against operands first.. of the node, where the module is at hand. */
static gboolean
check_parameters (const GantryTypeQuery *query, const char *key, guint32 id, guint first,
                  GError **error)
{
  const GantryFunction *function = query->module != NULL
                                     ? gantry_module_function (query->module, id)
                                     : NULL;
  guint n = query->n_operands - first;

  if (function == NULL)
    return TRUE;
  if (function->n_params != n)
    return _gantry_infer_fail (query, error, "%s takes %u values, but %u are given", key,
                               function->n_params, n);
  for (guint i = 0; i < n; i++)
    {
      guint32 want = query->module->nodes[function->first_node + i].type;

      if (!fits (query->context, want, query->operand_types[first + i]))
        {
          g_autofree char *text = gantry_context_type_text (query->context, want);

          return _gantry_infer_fail (query, error, "operand %u is %s, but parameter %u of %s is %s",
                                     first + i, _gantry_infer_text (query, first + i), i, key,
                                     text);
        }
    }
  return TRUE;
}

/* fusion and call */
guint32
_gantry_infer_body (const GantryTypeQuery *query, GError **error)
{
  guint32 body, result;

  if (!_gantry_infer_function (query, "body", &body, &result, error)
      || !check_parameters (query, "body", body, 0, error))
    return 0;
  return result;
}

static gboolean
check_predicate (const GantryTypeQuery *query, const GantryType *type, const char *what,
                 GError **error)
{
  return (type->kind == GANTRY_TYPE_TENSOR && type->element == GANTRY_BOOL && type->rank == 0)
         || _gantry_infer_fail (query, error, "%s must be bool[]", what);
}

guint32
_gantry_infer_if (const GantryTypeQuery *query, GError **error)
{
  guint32 then_body, then_result, else_body, else_result;

  if (_gantry_infer_tensor (query, 0, error) == NULL
      || !check_predicate (query, _gantry_infer_operand (query, 0), "the predicate (operand 0)",
                           error)
      || !_gantry_infer_function (query, "then", &then_body, &then_result, error)
      || !check_parameters (query, "then", then_body, 1, error)
      || !_gantry_infer_function (query, "else", &else_body, &else_result, error)
      || !check_parameters (query, "else", else_body, 1, error))
    return 0;
  if (!fits (query->context, then_result, else_result))
    {
      g_autofree char *a = gantry_context_type_text (query->context, then_result);
      g_autofree char *b = gantry_context_type_text (query->context, else_result);

      return _gantry_infer_fail (query, error, "then returns %s, but else returns %s", a, b);
    }
  return then_result;
}

guint32
_gantry_infer_while (const GantryTypeQuery *query, GError **error)
{
  guint32 cond, cond_result, body, body_result, initial;

  if (!_gantry_infer_function (query, "cond", &cond, &cond_result, error)
      || !check_parameters (query, "cond", cond, 0, error)
      || !check_predicate (query, gantry_context_type (query->context, cond_result),
                           "the result of cond", error)
      || !_gantry_infer_function (query, "body", &body, &body_result, error)
      || !check_parameters (query, "body", body, 0, error))
    return 0;
  initial = query->n_operands == 1
              ? query->operand_types[0]
              : gantry_context_tuple (query->context, query->n_operands, query->operand_types);
  if (!fits (query->context, initial, body_result))
    {
      g_autofree char *a = gantry_context_type_text (query->context, initial);
      g_autofree char *b = gantry_context_type_text (query->context, body_result);

      return _gantry_infer_fail (query, error, "the initial values are %s, but body returns %s", a,
                                 b);
    }
  return body_result;
}

guint32
_gantry_infer_sort (const GantryTypeQuery *query, GError **error)
{
  const GantryType *key = _gantry_infer_tensor (query, 0, error);
  GantryDim dims[GANTRY_MAX_RANK];
  g_autofree guint32 *members = g_new (guint32, query->n_operands);
  gint64 axis;

  if (key == NULL || !_gantry_infer_axis (query, "dimension", 0, key->rank, &axis, error))
    return 0;
  memcpy (dims, key->dims, sizeof (GantryDim) * key->rank);
  for (guint i = 1; i < query->n_operands; i++)
    if (!_gantry_infer_merge (query, 0, i, key->rank, dims, error))
      return 0;
  for (guint i = 0; i < query->n_operands; i++)
    {
      members[i] = _gantry_infer_make (query, _gantry_infer_operand (query, i)->element, key->rank,
                                       dims, error);
      if (members[i] == 0)
        return 0;
    }
  return query->n_operands == 1 ? members[0]
                                : gantry_context_tuple (query->context, query->n_operands, members);
}

guint32
_gantry_infer_rng (const GantryTypeQuery *query, GError **error)
{
  const GantryType *state = _gantry_infer_tensor (query, 0, error);
  GantryElementType element;
  const gint64 *shape;
  gsize rank;
  guint32 members[2];

  if (state == NULL)
    return 0;
  if (state->element != GANTRY_U64 || state->rank != 1
      || (state->dims[0] != 2 && state->dims[0] >= 0))
    return _gantry_infer_fail (query, error, "the state (operand 0) must be u64[2], not %s",
                               _gantry_infer_text (query, 0));
  if (gantry_attrs_find (query->context, query->attrs, "shape") == NULL)
    return _gantry_infer_fail (query, error, "attribute shape is missing");
  if (!_gantry_infer_ints (query, "shape", -1, TRUE, &shape, &rank, error)
      || !_gantry_infer_to (query, GANTRY_U32, &element, error))
    return 0;
  if (element != GANTRY_U32 && element != GANTRY_U64)
    return _gantry_infer_fail (query, error, "the bits must be u32 or u64, not %s",
                               gantry_element_name (element));
  for (gsize i = 0; i < rank; i++)
    if (shape[i] < 0)
      return _gantry_infer_fail (query, error, "shape must be of numbers >= 0");
  members[0] = gantry_context_tensor (query->context, GANTRY_U64, 1, (const GantryDim[]){ 2 });
  members[1] = _gantry_infer_make (query, element, (guint) MIN (rank, 255), shape, error);
  return members[1] != 0 ? gantry_context_tuple (query->context, 2, members) : 0;
}

guint32
_gantry_infer_custom_call (const GantryTypeQuery *query, GError **error)
{
  const GantryAttr *to = gantry_attrs_find (query->context, query->attrs, "to");

  if (gantry_attrs_string (query->context, query->attrs, "target", NULL) == NULL)
    return _gantry_infer_fail (query, error, "attribute target is missing");
  if (to == NULL || to->kind != GANTRY_ATTR_TYPE || to->id == 0)
    return _gantry_infer_fail (query, error, "attribute to must be the type of the result");
  return to->id;
}
