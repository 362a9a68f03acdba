/* SPDX-License-Identifier: Apache-2.0 */
/* What the lowering rules have in common: reading arguments, and what the compositions of core/graph/builder-composite.h leave
 * to MindSpore. */
#include "core/frontends/mindspore/lower-private.h"

/* Arguments */

static guint32
operand_named (MindLower *l, const char *name)
{
  const GantryAttr *names = gantry_attrs_find (l->context, l->node->attrs, MIND_OPERAND_NAMES);

  for (guint i = 0; names != NULL && names->kind == GANTRY_ATTR_STRINGS && i < MIN (names->n, l->n_in); i++)
    if (strcmp (gantry_context_string (l->context, names->ids[i]), name) == 0)
      return l->in[i];
  return 0;
}

guint32
gantry_mind_in (MindLower *l, const char *name)
{
  const GantryAttr *attr = gantry_attrs_find (l->context, l->node->attrs, name);
  guint32 id = operand_named (l, name);

  if (id != 0 || attr == NULL || l->failed)
    return id;
  if (attr->kind == GANTRY_ATTR_INT)
    return gantry_builder_int_scalar (l->b, GANTRY_I64, attr->i);
  return attr->kind == GANTRY_ATTR_FLOAT ? gantry_builder_scalar (l->b, GANTRY_F32, attr->f) : 0;
}

guint32
gantry_mind_need (MindLower *l, const char *name)
{
  guint32 id = gantry_mind_in (l, name);

  if (id == 0)
    gantry_mind_refuse (l, "argument '%s' is missing, or no tensor", name);
  return id;
}

guint32
gantry_mind_in_list (MindLower *l, const char *name, guint i)
{
  g_autofree char *full = g_strdup_printf ("%s[%u]", name, i);

  return operand_named (l, full);
}

guint
gantry_mind_list_length (MindLower *l, const char *name)
{
  guint n = 0;

  while (n < l->n_in && gantry_mind_in_list (l, name, n) != 0)
    n++;
  return n;
}

gboolean
gantry_mind_has (MindLower *l, const char *name)
{
  return gantry_attrs_find (l->context, l->node->attrs, name) != NULL;
}

static GantryLiteral *
known_tensor (MindLower *l, const char *name)
{
  guint32 id = operand_named (l, name);

  return id != 0 ? gantry_builder_constant_of (l->b, id) : NULL;
}

gint64
gantry_mind_int (MindLower *l, const char *name, gint64 fallback)
{
  gint64 value = fallback;

  return gantry_mind_ints (l, name, &value, 1) == 1 ? value : fallback;
}

double
gantry_mind_number (MindLower *l, const char *name, double fallback)
{
  const GantryAttr *attr = gantry_attrs_find (l->context, l->node->attrs, name);
  GantryLiteral *literal = known_tensor (l, name);

  if (literal != NULL && gantry_type_elements (literal->type) == 1)
    return gantry_literal_get_double (literal, 0);
  if (attr != NULL && attr->kind == GANTRY_ATTR_INT)
    return (double) attr->i;
  return attr != NULL && attr->kind == GANTRY_ATTR_FLOAT ? attr->f : fallback;
}

const char *
gantry_mind_string (MindLower *l, const char *name, const char *fallback)
{
  return gantry_attrs_string (l->context, l->node->attrs, name, fallback);
}

gint
gantry_mind_ints (MindLower *l, const char *name, gint64 *values, guint most)
{
  const GantryAttr *attr = gantry_attrs_find (l->context, l->node->attrs, name);
  GantryLiteral *literal = known_tensor (l, name);
  gint64 n = -1;

  if (literal != NULL && gantry_element_is_integer ((GantryElementType) literal->type->element))
    n = gantry_type_elements (literal->type);
  else if (attr != NULL && attr->kind == GANTRY_ATTR_INT)
    n = 1;
  else if (attr != NULL && attr->kind == GANTRY_ATTR_INTS)
    n = (gint64) attr->n;
  else if (operand_named (l, name) != 0 || gantry_mind_list_length (l, name) > 0)
    gantry_mind_refuse (l, "argument '%s' is computed when it runs", name);
  if (n > (gint64) most)
    gantry_mind_refuse (l, "'%s' has %" G_GINT64_FORMAT " values where %u at most are needed", name, n, most);
  for (gint64 i = 0; i < n && !l->failed; i++)
    values[i] = literal != NULL ? gantry_literal_get_int (literal, i) : attr->kind == GANTRY_ATTR_INT ? attr->i : attr->ints[i];
  return l->failed ? -1 : (gint) n;
}

gint64
gantry_mind_axis (MindLower *l, gint64 axis, guint rank)
{
  gint64 n = MAX (rank, 1), normal = axis < 0 ? axis + n : axis;

  if (normal >= 0 && normal < n)
    return normal;
  gantry_mind_refuse (l, "axis %" G_GINT64_FORMAT " is out of range for %u dimensions", axis, rank);
  return 0;
}

guint
gantry_mind_axes (MindLower *l, const char *name, guint rank, gint64 *axes)
{
  gboolean chosen[GANTRY_MAX_RANK] = { FALSE };
  gint64 list[GANTRY_MAX_RANK];
  gint n = gantry_mind_ints (l, name, list, GANTRY_MAX_RANK);
  guint count = 0;

  for (gint i = 0; i < n && !l->failed; i++)
    chosen[gantry_mind_axis (l, list[i], rank)] = TRUE;
  for (guint i = 0; i < rank; i++)
    if (chosen[i] || n <= 0)
      axes[count++] = i;
  return count;
}

/* Types */

const GantryType *
gantry_mind_type (MindLower *l, guint32 id)
{
  return gantry_builder_get_type (l->b, id);
}

guint
gantry_mind_rank (MindLower *l, guint32 id)
{
  return id != 0 ? gantry_mind_type (l, id)->rank : 0;
}

GantryDim
gantry_mind_dim (MindLower *l, guint32 id, gint64 i)
{
  return i >= 0 && i < gantry_mind_rank (l, id) ? gantry_mind_type (l, id)->dims[i] : 0;
}

GantryElementType
gantry_mind_element_of (MindLower *l, guint32 id)
{
  return id != 0 ? (GantryElementType) gantry_mind_type (l, id)->element : GANTRY_F32;
}

const GantryType *
gantry_mind_declared_type (MindLower *l, guint i)
{
  guint32 id = l->node->type;

  if (gantry_context_type (l->context, id)->kind == GANTRY_TYPE_TUPLE)
    id = gantry_context_tuple_member (l->context, id, i);
  return gantry_context_type (l->context, id);
}

GantryElementType
gantry_mind_result_element (MindLower *l, guint32 fallback)
{
  const GantryType *type = gantry_mind_declared_type (l, 0);

  return type->kind == GANTRY_TYPE_TENSOR ? (GantryElementType) type->element : gantry_mind_element_of (l, fallback);
}

/* TypeId of MindSpore: numbers begin at 30. */
GantryElementType
gantry_mind_element_named (MindLower *l, const char *name)
{
  static const guint8 elements[] = { GANTRY_BOOL, GANTRY_I64, GANTRY_I8,  GANTRY_I16, GANTRY_I32, GANTRY_I64, GANTRY_U64, GANTRY_U8,
                                     GANTRY_U16,  GANTRY_U32, GANTRY_U64, GANTRY_F32, GANTRY_F16, GANTRY_F32, GANTRY_F64, GANTRY_BF16 };
  const char *text = gantry_mind_string (l, name, NULL);
  gint64 number;

  if (text != NULL)
    return gantry_element_from_name (text);
  if (!gantry_mind_has (l, name))
    return GANTRY_ELEMENT_NONE;
  number = gantry_mind_int (l, name, 0) - 30;
  return number >= 0 && number < (gint64) G_N_ELEMENTS (elements) ? (GantryElementType) elements[number] : GANTRY_ELEMENT_NONE;
}

/* Nodes */

guint32
gantry_mind_add (MindLower *l, GantryOp op, GantryAttrList *attrs, guint n, ...)
{
  va_list operands;
  guint32 id;

  va_start (operands, n);
  id = gantry_builder_add_operands (l->b, op, attrs, n, operands);
  va_end (operands);
  return id;
}

guint32
gantry_mind_splat (MindLower *l, GantryElementType element, double value, guint rank, const GantryDim *dims)
{
  return l->failed ? 0 : gantry_builder_splat (l->b, element, value, rank, dims);
}

static guint
order_of (GantryElementType element)
{
  static const guint8 orders[GANTRY_N_ELEMENT_TYPES] = {
    [GANTRY_BOOL] = 1, [GANTRY_U8] = 2,  [GANTRY_I8] = 3,    [GANTRY_U16] = 4,  [GANTRY_I16] = 5,  [GANTRY_U32] = 6,  [GANTRY_I32] = 7,
    [GANTRY_U64] = 8,  [GANTRY_I64] = 9, [GANTRY_BF16] = 10, [GANTRY_F16] = 11, [GANTRY_F32] = 12, [GANTRY_F64] = 13,
  };

  return orders[element];
}

void
gantry_mind_promote (MindLower *l, guint32 *x, guint32 *y)
{
  GantryElementType a = gantry_mind_element_of (l, *x), b = gantry_mind_element_of (l, *y), wider;

  if (*x == 0 || *y == 0 || a == b)
    return;
  wider = order_of (a) > order_of (b) ? a : b;
  /* A scalar that is written in the program takes the type of the tensor, where that is a float. */
  if (gantry_mind_rank (l, *x) > 0 && gantry_mind_rank (l, *y) == 0 && gantry_element_is_float (a))
    wider = a;
  else if (gantry_mind_rank (l, *y) > 0 && gantry_mind_rank (l, *x) == 0 && gantry_element_is_float (b))
    wider = b;
  *x = gantry_builder_convert (l->b, *x, wider);
  *y = gantry_builder_convert (l->b, *y, wider);
}

guint32
gantry_mind_position (MindLower *l, guint32 x, guint32 extreme, gint64 axis)
{
  const GantryType *type = gantry_mind_type (l, x);
  guint32 at, hit, last;

  if (x == 0 || extreme == 0)
    return 0;
  at = gantry_builder_iota (l->b, GANTRY_I64, type->rank, type->dims, axis);
  last = gantry_builder_int_scalar (l->b, GANTRY_I64, gantry_mind_dim (l, x, axis) - 1);
  hit = gantry_builder_compare (l->b, "EQ", x, extreme);
  return gantry_builder_reduce_axes (l->b, "min", gantry_builder_select (l->b, hit, at, last), &axis, 1, TRUE);
}
