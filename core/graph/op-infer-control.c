/* SPDX-License-Identifier: Apache-2.0 */
/* Type rules of structure and control (constants, tuples, calls, branches, loops) and of the operations that no
 * expression says: sort, random bits and calls by name. */
#include "core/graph/operation-private.h"
#include <string.h>

guint32
_gantry_infer_parameter (const GantryTypeQuery *query, GError **error)
{
  return _gantry_infer_fail (query, error, "its type is given where its function begins, it cannot be inferred");
}

guint32
_gantry_infer_constant (const GantryTypeQuery *query, GError **error)
{
  const GantryAttr *attr = gantry_attrs_find (query->context, query->attrs, "value");
  const GantryLiteral *literal;

  if (attr == NULL)
    return _gantry_infer_fail (query, error, "attribute value is missing");
  if (attr->kind != GANTRY_ATTR_LITERAL || (literal = gantry_context_literal (query->context, attr->id)) == NULL)
    return _gantry_infer_fail (query, error, "attribute value must be a literal");
  return _gantry_infer_make (query, literal->type->element, literal->type->rank, literal->type->dims, error);
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
    return _gantry_infer_fail (query, error, "operand 0 must be a tuple, not %s", _gantry_infer_text (query, 0));
  if (!_gantry_infer_axis (query, "index", 0, type->rank, &index, error))
    return 0;
  /* Of an unknown operation with several results the members may be of unknown type, and so is this then. */
  return gantry_context_tuple_member (query->context, query->operand_types[0], (guint) index);
}

/* Checks the parameters of a function against operands first.. of the node, where the module is at hand. */
static gboolean
check_parameters (const GantryTypeQuery *query, const char *key, guint32 id, guint first, GError **error)
{
  const GantryFunction *function = query->module != NULL ? gantry_module_function (query->module, id) : NULL;
  guint n = query->n_operands - first;

  if (function == NULL)
    return TRUE;
  if (function->n_params != n)
    return _gantry_infer_fail (query, error, "%s takes %u values, but %u are given", key, function->n_params, n);
  for (guint i = 0; i < n; i++)
    {
      guint32 want = query->module->nodes[function->first_node + i].type;

      if (!gantry_type_fits (query->context, want, query->operand_types[first + i]))
        {
          g_autofree char *text = gantry_context_type_text (query->context, want);

          return _gantry_infer_fail (query, error, "operand %u is %s, but parameter %u of %s is %s", first + i, _gantry_infer_text (query, first + i), i, key,
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

  if (!_gantry_infer_function (query, "body", &body, &result, error) || !check_parameters (query, "body", body, 0, error))
    return 0;
  return result;
}

static gboolean
check_predicate (const GantryTypeQuery *query, const GantryType *type, const char *what, GError **error)
{
  return (type->kind == GANTRY_TYPE_TENSOR && type->element == GANTRY_BOOL && type->rank == 0) || _gantry_infer_fail (query, error, "%s must be bool[]", what);
}

guint32
_gantry_infer_if (const GantryTypeQuery *query, GError **error)
{
  guint32 then_body, then_result, else_body, else_result;

  if (_gantry_infer_tensor (query, 0, error) == NULL || !check_predicate (query, _gantry_infer_operand (query, 0), "the predicate (operand 0)", error)
      || !_gantry_infer_function (query, "then", &then_body, &then_result, error) || !check_parameters (query, "then", then_body, 1, error)
      || !_gantry_infer_function (query, "else", &else_body, &else_result, error) || !check_parameters (query, "else", else_body, 1, error))
    return 0;
  if (!gantry_type_fits (query->context, then_result, else_result))
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
  gint64 n_carries = query->n_operands;

  if (!_gantry_infer_function (query, "cond", &cond, &cond_result, error) || !check_parameters (query, "cond", cond, 0, error)
      || !check_predicate (query, gantry_context_type (query->context, cond_result), "the result of cond", error)
      || !_gantry_infer_function (query, "body", &body, &body_result, error) || !check_parameters (query, "body", body, 0, error)
      || (gantry_attrs_find (query->context, query->attrs, "n_carries") != NULL
          && !_gantry_infer_axis (query, "n_carries", 1, (gint64) query->n_operands + 1, &n_carries, error)))
    return 0;
  initial = n_carries == 1 ? query->operand_types[0] : gantry_context_tuple (query->context, (guint) n_carries, query->operand_types);
  if (!gantry_type_fits (query->context, initial, body_result))
    {
      g_autofree char *a = gantry_context_type_text (query->context, initial);
      g_autofree char *b = gantry_context_type_text (query->context, body_result);

      return _gantry_infer_fail (query, error, "the initial values are %s, but body returns %s", a, b);
    }
  return body_result;
}

/* Scan */

typedef struct
{
  gint64 length, n_carries, n_xs;
  const gint64 *axes, *y_axes;
  guint n_ys;
  guint32 body, result;        /* function and type of what it gives */
  const GantryFunction *found; /* (nullable) */
} ScanRule;

static guint32
scan_member (const GantryTypeQuery *query, const ScanRule *scan, guint i)
{
  return scan->n_carries + scan->n_ys == 1 ? scan->result : gantry_context_tuple_member (query->context, scan->result, i);
}

static gboolean
read_scan (const GantryTypeQuery *query, ScanRule *scan, GError **error)
{
  const GantryType *result;
  gint64 reverse, n_members;
  gsize n;

  if (!_gantry_infer_axis (query, "length", 0, GANTRY_MAX_DIM + 1, &scan->length, error)
      || !_gantry_infer_axis (query, "n_carries", 0, (gint64) query->n_operands + 1, &scan->n_carries, error)
      || !_gantry_infer_axis (query, "n_xs", 0, query->n_operands - scan->n_carries + 1, &scan->n_xs, error)
      || !_gantry_infer_ints (query, "axes", scan->n_xs, TRUE, &scan->axes, &n, error)
      || !_gantry_infer_function (query, "body", &scan->body, &scan->result, error))
    return FALSE;
  if (gantry_attrs_find (query->context, query->attrs, "reverse") != NULL && !_gantry_infer_axis (query, "reverse", 0, 2, &reverse, error))
    return FALSE;
  scan->found = query->module != NULL ? gantry_module_function (query->module, scan->body) : NULL;
  result = gantry_context_type (query->context, scan->result);
  n_members = scan->found != NULL ? scan->found->n_results : (result->kind == GANTRY_TYPE_TUPLE ? result->rank : 1);
  if (n_members < scan->n_carries)
    return _gantry_infer_fail (query, error, "body gives %" G_GINT64_FORMAT " values, fewer than the %" G_GINT64_FORMAT " carries", n_members, scan->n_carries);
  scan->n_ys = (guint) (n_members - scan->n_carries);
  return _gantry_infer_ints (query, "y_axes", scan->n_ys, TRUE, &scan->y_axes, &n, error);
}

/* Writes the type of one iteration's slice of x @i. */
static gboolean
slice_type (const GantryTypeQuery *query, const ScanRule *scan, guint i, guint32 *slice, GError **error)
{
  guint operand = (guint) scan->n_carries + i, rank = 0;
  const GantryType *type = _gantry_infer_tensor (query, operand, error);
  GantryDim dims[GANTRY_MAX_RANK], merged;
  gint64 axis = scan->axes[i];

  if (type == NULL)
    return FALSE;
  if (axis < 0 || axis >= type->rank)
    return _gantry_infer_fail (query, error, "axes names dimension %" G_GINT64_FORMAT " of operand %u, which is %s", axis, operand,
                               _gantry_infer_text (query, operand));
  if (!_gantry_dim_merge (type->dims[axis], scan->length, &merged))
    return _gantry_infer_fail (query, error, "dimension %" G_GINT64_FORMAT " of operand %u is %s, but the length is %" G_GINT64_FORMAT, axis, operand,
                               _gantry_dim_text (query->context, type->dims[axis]), scan->length);
  for (guint d = 0; d < type->rank; d++)
    if (d != axis)
      dims[rank++] = type->dims[d];
  *slice = gantry_context_tensor_in (query->context, type->element, rank, dims, type->memory);
  return TRUE;
}

/* Operands against the body's parameters, those of xs without the dimension that is walked along. */
static gboolean
check_scan_operands (const GantryTypeQuery *query, const ScanRule *scan, GError **error)
{
  g_autofree guint32 *types = g_new (guint32, query->n_operands + 1);
  GantryTypeQuery slices = *query;

  memcpy (types, query->operand_types, query->n_operands * sizeof (guint32));
  slices.operand_types = types;
  for (guint i = 0; i < scan->n_xs; i++)
    if (!slice_type (query, scan, i, &types[scan->n_carries + i], error))
      return FALSE;
  return check_parameters (&slices, "body", scan->body, 0, error);
}

/* The type of carry @i, of which the operand and what the body gives each know something. */
static guint32
carry_type (const GantryTypeQuery *query, const ScanRule *scan, guint i, GError **error)
{
  const GantryType *first = _gantry_infer_tensor (query, i, error), *next;
  guint32 member = scan_member (query, scan, i);
  GantryDim dims[GANTRY_MAX_RANK];
  g_autofree char *text = NULL;

  if (first == NULL)
    return 0;
  next = gantry_context_type (query->context, member);
  if (!gantry_type_fits (query->context, query->operand_types[i], member))
    {
      text = gantry_context_type_text (query->context, member);
      return _gantry_infer_fail (query, error, "carry %u is %s, but body returns %s for it", i, _gantry_infer_text (query, i), text);
    }
  for (guint d = 0; d < first->rank; d++)
    if (next->kind != GANTRY_TYPE_TENSOR || !_gantry_dim_merge (first->dims[d], next->dims[d], &dims[d]))
      dims[d] = first->dims[d];
  return _gantry_infer_make (query, first->element, first->rank, dims, error);
}

/* What body returns for y @i, with the dimension of all iterations put in; it is where the slices are. */
static guint32
stacked_type (const GantryTypeQuery *query, const ScanRule *scan, guint i, GError **error)
{
  guint32 member = scan_member (query, scan, (guint) scan->n_carries + i);
  const GantryType *type = gantry_context_type (query->context, member);
  GantryDim dims[GANTRY_MAX_RANK + 1];
  gint64 axis = scan->y_axes[i];
  g_autofree char *text = gantry_context_type_text (query->context, member);
  guint32 id;

  if (type->kind == GANTRY_TYPE_UNKNOWN)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "scan: the type of y %u is not known", i);
      return 0;
    }
  if (type->kind != GANTRY_TYPE_TENSOR)
    return _gantry_infer_fail (query, error, "y %u must be a tensor, not %s", i, text);
  if (axis < 0 || axis > type->rank)
    return _gantry_infer_fail (query, error, "y_axes puts y %u, which is %s, along dimension %" G_GINT64_FORMAT, i, text, axis);
  for (guint d = 0, from = 0; d <= type->rank; d++)
    dims[d] = d == axis ? scan->length : type->dims[from++];
  id = _gantry_infer_make (query, type->element, type->rank + 1, dims, error);
  if (id != 0 && type->memory != GANTRY_MEMORY_DEVICE)
    return gantry_context_tensor_in (query->context, type->element, type->rank + 1, dims, type->memory);
  return id;
}

guint32
_gantry_infer_scan (const GantryTypeQuery *query, GError **error)
{
  ScanRule scan = { 0 };
  g_autofree guint32 *members = NULL;
  guint n;

  if (!read_scan (query, &scan, error) || !check_scan_operands (query, &scan, error))
    return 0;
  n = (guint) scan.n_carries + scan.n_ys;
  members = g_new (guint32, n + 1);
  for (guint i = 0; i < n; i++)
    {
      members[i] = i < scan.n_carries ? carry_type (query, &scan, i, error) : stacked_type (query, &scan, i - (guint) scan.n_carries, error);
      if (members[i] == 0)
        return 0;
    }
  return n == 1 ? members[0] : gantry_context_tuple (query->context, n, members);
}

void
gantry_scan_of (const GantryModule *module, const GantryNode *node, GantryScan *scan)
{
  GantryContext *context = module->context;
  const GantryAttr *body = gantry_attrs_find (context, node->attrs, "body");
  gsize n_xs, n_ys;

  g_return_if_fail (node->op == GANTRY_OP_SCAN);
  *scan = (GantryScan){ .body = body != NULL ? body->id : 0,
                        .length = gantry_attrs_int (context, node->attrs, "length", 0),
                        .reverse = gantry_attrs_int (context, node->attrs, "reverse", 0) != 0,
                        .n_carries = (guint) gantry_attrs_int (context, node->attrs, "n_carries", 0),
                        .n_xs = (guint) gantry_attrs_int (context, node->attrs, "n_xs", 0) };
  scan->n_captures = node->n_operands - scan->n_carries - scan->n_xs;
  scan->axes = gantry_attrs_ints (context, node->attrs, "axes", &n_xs);
  scan->y_axes = gantry_attrs_ints (context, node->attrs, "y_axes", &n_ys);
  scan->n_ys = (guint) n_ys;
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
      members[i] = _gantry_infer_make (query, _gantry_infer_operand (query, i)->element, key->rank, dims, error);
      if (members[i] == 0)
        return 0;
    }
  return query->n_operands == 1 ? members[0] : gantry_context_tuple (query->context, query->n_operands, members);
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
  if (state->element != GANTRY_U64 || state->rank != 1 || (state->dims[0] != 2 && state->dims[0] >= 0))
    return _gantry_infer_fail (query, error, "the state (operand 0) must be u64[2], not %s", _gantry_infer_text (query, 0));
  if (gantry_attrs_find (query->context, query->attrs, "shape") == NULL)
    return _gantry_infer_fail (query, error, "attribute shape is missing");
  if (!_gantry_infer_ints (query, "shape", -1, TRUE, &shape, &rank, error) || !_gantry_infer_to (query, GANTRY_U32, &element, error))
    return 0;
  if (element != GANTRY_U32 && element != GANTRY_U64)
    return _gantry_infer_fail (query, error, "the bits must be u32 or u64, not %s", gantry_element_name (element));
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
