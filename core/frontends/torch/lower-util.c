/* SPDX-License-Identifier: Apache-2.0 */
/* What the lowering rules have in common: reading arguments, and what the compositions of
 * core/graph/builder-composite.h leave to torch. */
#include "core/frontends/torch/lower-private.h"

/* Arguments */

const GantryAttr *
gantry_aten_argument (AtenLower *l, const char *name)
{
  g_hash_table_add (l->asked, gantry_arena_strdup (l->arena, name));
  return gantry_attrs_find (l->context, l->node->attrs, name);
}

guint32
gantry_aten_in (AtenLower *l, const char *name)
{
  const GantryAttr *names = gantry_attrs_find (l->context, l->node->attrs, TORCH_OPERAND_NAMES);

  gantry_aten_argument (l, name);
  for (guint i = 0; names != NULL && names->kind == GANTRY_ATTR_STRINGS && i < MIN (names->n, l->n_in); i++)
    if (strcmp (gantry_context_string (l->context, names->ids[i]), name) == 0)
      return l->in[i];
  return 0;
}

guint32
gantry_aten_need (AtenLower *l, const char *name)
{
  guint32 id = gantry_aten_in (l, name);

  if (id == 0)
    gantry_aten_refuse (l, "argument '%s' is missing, or no tensor", name);
  return id;
}

guint32
gantry_aten_in_list (AtenLower *l, const char *name, guint i)
{
  g_autofree char *full = g_strdup_printf ("%s[%u]", name, i);

  return gantry_aten_in (l, full);
}

guint
gantry_aten_list_length (AtenLower *l, const char *name)
{
  const GantryAttr *names = gantry_attrs_find (l->context, l->node->attrs, TORCH_OPERAND_NAMES);
  guint n = 0;

  for (guint i = 0; names != NULL && names->kind == GANTRY_ATTR_STRINGS && i < names->n; i++)
    {
      const char *text = gantry_context_string (l->context, names->ids[i]);

      if (g_str_has_prefix (text, name) && text[strlen (name)] == '[')
        n = MAX (n, (guint) g_ascii_strtoull (text + strlen (name) + 1, NULL, 10) + 1);
    }
  return n;
}

gboolean
gantry_aten_has (AtenLower *l, const char *name)
{
  return gantry_aten_argument (l, name) != NULL;
}

gint64
gantry_aten_int (AtenLower *l, const char *name, gint64 fallback)
{
  gantry_aten_argument (l, name);
  return gantry_attrs_int (l->context, l->node->attrs, name, fallback);
}

double
gantry_aten_number (AtenLower *l, const char *name, double fallback)
{
  const GantryAttr *attr = gantry_aten_argument (l, name);

  if (attr != NULL && attr->kind == GANTRY_ATTR_INT)
    return (double) attr->i;
  return attr != NULL && attr->kind == GANTRY_ATTR_FLOAT ? attr->f : fallback;
}

const char *
gantry_aten_string (AtenLower *l, const char *name, const char *fallback)
{
  gantry_aten_argument (l, name);
  return gantry_attrs_string (l->context, l->node->attrs, name, fallback);
}

const gint64 *
gantry_aten_ints (AtenLower *l, const char *name, gsize *n)
{
  gantry_aten_argument (l, name);
  return gantry_attrs_ints (l->context, l->node->attrs, name, n);
}

gboolean
gantry_aten_ints_of (AtenLower *l, const char *name, guint n, gint64 fallback, gint64 *values)
{
  gsize given = 0;
  const gint64 *list = gantry_aten_ints (l, name, &given);
  gint64 single = gantry_aten_int (l, name, given == 1 ? list[0] : fallback);

  if (given > 1 && given != n)
    {
      gantry_aten_refuse (l, "'%s' has %u values where %u are needed", name, (guint) given, n);
      return FALSE;
    }
  for (guint i = 0; i < n; i++)
    values[i] = given > 1 ? list[i] : single;
  return TRUE;
}

gint64
gantry_aten_axis (AtenLower *l, gint64 axis, guint rank)
{
  gint64 n = MAX (rank, 1), normal = axis < 0 ? axis + n : axis;

  if (normal >= 0 && normal < n)
    return normal;
  gantry_aten_refuse (l, "axis %" G_GINT64_FORMAT " is out of range for %u dimensions", axis, rank);
  return 0;
}

guint
gantry_aten_axes (AtenLower *l, const char *name, guint rank, gint64 *axes)
{
  gboolean chosen[GANTRY_MAX_RANK] = { FALSE };
  gsize n = 0;
  const gint64 *list = gantry_aten_ints (l, name, &n);
  gint64 single = gantry_aten_int (l, name, 0);
  gboolean is_single = list == NULL && gantry_aten_has (l, name);
  guint count = 0;

  for (gsize i = 0; i < (is_single ? 1 : n); i++)
    chosen[gantry_aten_axis (l, is_single ? single : list[i], rank)] = TRUE;
  for (guint i = 0; i < rank; i++)
    if (chosen[i] || (!is_single && n == 0))
      axes[count++] = i;
  return count;
}

/* Types */

const GantryType *
gantry_aten_type (AtenLower *l, guint32 id)
{
  return gantry_builder_get_type (l->b, id);
}

guint
gantry_aten_rank (AtenLower *l, guint32 id)
{
  return id != 0 ? gantry_aten_type (l, id)->rank : 0;
}

GantryDim
gantry_aten_dim (AtenLower *l, guint32 id, gint64 i)
{
  return i >= 0 && i < gantry_aten_rank (l, id) ? gantry_aten_type (l, id)->dims[i] : 0;
}

GantryElementType
gantry_aten_element (AtenLower *l, guint32 id)
{
  return id != 0 ? (GantryElementType) gantry_aten_type (l, id)->element : GANTRY_F32;
}

const GantryType *
gantry_aten_declared (AtenLower *l, guint i)
{
  guint32 id = l->node->type;

  if (gantry_context_type (l->context, id)->kind == GANTRY_TYPE_TUPLE)
    id = gantry_context_tuple_member (l->context, id, i);
  return gantry_context_type (l->context, id);
}

GantryElementType
gantry_aten_result_element (AtenLower *l)
{
  return (GantryElementType) gantry_aten_declared (l, 0)->element;
}

void
gantry_aten_give (AtenLower *l, guint i, guint32 x)
{
  const GantryType *type = i < l->n_out ? gantry_aten_declared (l, i) : NULL;

  if (type != NULL && type->kind == GANTRY_TYPE_TENSOR)
    l->out[i] = gantry_builder_reshape (l->b, x, type->rank, type->dims);
}

/* Nodes */

guint32
gantry_aten_add (AtenLower *l, GantryOp op, GantryAttrList *attrs, guint n, ...)
{
  va_list operands;
  guint32 id;

  va_start (operands, n);
  id = gantry_builder_add_operands (l->b, op, attrs, n, operands);
  va_end (operands);
  return id;
}

guint32
gantry_aten_splat (AtenLower *l, const GantryType *type, double value)
{
  return l->failed ? 0 : gantry_builder_splat (l->b, (GantryElementType) type->element, value, type->rank, type->dims);
}

guint32
gantry_aten_softmax (AtenLower *l, guint32 x, gint64 axis, gboolean logarithm)
{
  if (gantry_aten_rank (l, x) == 0)
    return gantry_builder_like (l->b, gantry_builder_widen (l->b, x), logarithm ? 0 : 1);
  return gantry_builder_softmax (l->b, x, &axis, 1, logarithm);
}

guint32
gantry_aten_iota (AtenLower *l, guint rank, const GantryDim *dims, gint64 axis)
{
  return l->failed ? 0 : gantry_builder_iota (l->b, GANTRY_I64, rank, dims, axis);
}

guint32
gantry_aten_floats_along (AtenLower *l, GantryElementType element, const double *values, gint64 n, guint rank, gint64 axis)
{
  return gantry_builder_along (l->b, gantry_builder_floats (l->b, element, values, n), rank, axis);
}

guint32
gantry_aten_detached (AtenLower *l, guint32 x)
{
  if (l->failed || !gantry_element_is_float (gantry_aten_element (l, x)))
    return x;
  return gantry_aten_add (l, GANTRY_OP_STOP_GRADIENT, NULL, 1, x);
}
