/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of StableHLO and HLO: finds that of an operation, prepares what it reads, and refuses what no rule could do (element
 * types that are not compiled, sizes that are not known). */
#include "core/frontends/xla/lower-private.h"

static const XlaRule *const families[] = {
  gantry_xla_elementwise_rules, gantry_xla_movement_rules, gantry_xla_contraction_rules, gantry_xla_reduce_rules,
  gantry_xla_window_rules,      gantry_xla_gather_rules,   gantry_xla_sort_rules,        gantry_xla_control_rules,
  gantry_xla_linear_rules,      gantry_xla_special_rules,  gantry_xla_misc_rules,
};

/* HLO writes dashes where StableHLO writes underscores. */
static gboolean
same_name (const char *a, const char *b)
{
  for (; *a != 0 && (*a == *b || (*a == '_' && *b == '-')); a++, b++)
    ;
  return *a == 0 && *b == 0;
}

const XlaRule *
gantry_xla_find_rule (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (families); i++)
    for (const XlaRule *rule = families[i]; rule->name != NULL; rule++)
      if (same_name (rule->name, name))
        return rule;
  return NULL;
}

void
gantry_xla_refuse (XlaLower *l, const char *format, ...)
{
  g_autofree char *why = NULL;
  va_list arguments;

  va_start (arguments, format);
  why = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  l->failed = TRUE;
  gantry_builder_fail (l->b, GANTRY_ERROR_UNSUPPORTED, "%s", why);
}

static gboolean
check_type (XlaLower *l, const GantryType *type, const char *what, guint i)
{
  if (type->kind == GANTRY_TYPE_TOKEN)
    gantry_xla_refuse (l, "%s %u is a token", what, i);
  else if (type->kind != GANTRY_TYPE_TENSOR)
    gantry_xla_refuse (l, "the type of %s %u is not known", what, i);
  else if (!gantry_element_is_compiled ((GantryElementType) type->element))
    gantry_xla_refuse (l, "element type %s of %s %u is not compiled", gantry_element_name ((GantryElementType) type->element), what, i);
  return !l->failed;
}

static gboolean
check_types (XlaLower *l)
{
  for (guint i = 0; i < l->n_in; i++)
    {
      const GantryType *type = gantry_xla_type (l, l->in[i]);

      if (!check_type (l, type, "operand", i))
        return FALSE;
      if (!gantry_type_is_static (type))
        {
          gantry_xla_refuse (l, "a size of operand %u is not known", i);
          return FALSE;
        }
    }
  for (guint i = 0; i < l->n_out; i++)
    if (!check_type (l, gantry_xla_declared (l, i), "result", i))
      return FALSE;
  return TRUE;
}

/* A value in host memory is fetched where it is computed with. */
static void
fetch (XlaLower *l)
{
  guint32 *in = XLA_NEW (l, guint32, l->n_in + l->n_captures);

  memcpy (in, l->in, sizeof *in * (l->n_in + l->n_captures));
  l->in = in;
  for (guint i = 0; i < l->n_in + l->n_captures; i++)
    {
      const GantryType *type = gantry_xla_type (l, in[i]);

      if (type->kind == GANTRY_TYPE_TENSOR && type->memory != GANTRY_MEMORY_DEVICE)
        {
          GantryAttrList *attrs = gantry_xla_attrs (l);

          gantry_attr_list_set_string (attrs, "memory", gantry_memory_kind_name (GANTRY_MEMORY_DEVICE));
          in[i] = gantry_xla_add (l, GANTRY_OP_COPY, attrs, 1, in[i]);
        }
    }
}

static gboolean
check_counts (XlaLower *l)
{
  guint flags = l->rule->flags, n_in = flags >> 8 & 0xff, n_out = flags >> 16 & 0xff;

  if (!(flags & XLA_COUNTED))
    return TRUE;
  if (l->n_in < n_in || (l->n_in > n_in && !(flags & XLA_OR_MORE)))
    gantry_xla_refuse (l, "it has %u operands, and takes %u%s", l->n_in, n_in, flags & XLA_OR_MORE ? " or more" : "");
  else if (n_out > 0 && l->n_out != n_out)
    gantry_xla_refuse (l, "it has %u results, and gives %u", l->n_out, n_out);
  return !l->failed;
}

void
gantry_xla_run_rule (XlaLower *l)
{
  gboolean any = (l->rule->flags & XLA_ANY_TYPE) != 0;

  if (!check_counts (l) || (!any && !check_types (l)))
    return;
  if (!any)
    fetch (l);
  l->rule->lower (l);
}

/* Reading */

const GantryType *
gantry_xla_type (XlaLower *l, guint32 id)
{
  return gantry_builder_get_type (l->b, id);
}

GantryElementType
gantry_xla_element (XlaLower *l, guint32 id)
{
  return (GantryElementType) gantry_xla_type (l, id)->element;
}

const GantryType *
gantry_xla_declared (XlaLower *l, guint i)
{
  const GantryType *type = gantry_context_type (l->context, l->node->type);

  if (type->kind != GANTRY_TYPE_TUPLE)
    return type;
  return gantry_context_type (l->context, gantry_context_tuple_member (l->context, l->node->type, i));
}

const gint64 *
gantry_xla_ints (XlaLower *l, const char *key, gsize *n)
{
  return gantry_attrs_ints (l->context, l->node->attrs, key, n);
}

const gint64 *
gantry_xla_ints_or (XlaLower *l, const char *key, gsize n, gint64 fallback)
{
  gsize n_given;
  const gint64 *given = gantry_xla_ints (l, key, &n_given);
  gint64 *copy;

  if (given != NULL && n_given == n)
    return given;
  if (given != NULL && n_given > 0)
    gantry_xla_refuse (l, "attribute %s has %u values where %u are needed", key, (guint) n_given, (guint) n);
  copy = XLA_NEW (l, gint64, n);
  for (gsize i = 0; i < n; i++)
    copy[i] = fallback;
  return copy;
}

gint64
gantry_xla_int (XlaLower *l, const char *key, gint64 fallback)
{
  return gantry_attrs_int (l->context, l->node->attrs, key, fallback);
}

double
gantry_xla_float (XlaLower *l, const char *key, double fallback)
{
  return gantry_attrs_float (l->context, l->node->attrs, key, fallback);
}

const char *
gantry_xla_string (XlaLower *l, const char *key, const char *fallback)
{
  return gantry_attrs_string (l->context, l->node->attrs, key, fallback);
}

guint32
gantry_xla_region (XlaLower *l, guint i)
{
  g_autofree char *key = g_strdup_printf ("region_%u", i);
  const GantryAttr *attr = gantry_attrs_find (l->context, l->node->attrs, key);

  if (attr != NULL && attr->kind == GANTRY_ATTR_FUNCTION)
    return attr->id;
  gantry_xla_refuse (l, "region %u is missing", i);
  return 0;
}

gint64 *
gantry_xla_known_ints (XlaLower *l, guint32 id, gsize *n)
{
  GantryLiteral *literal = id != 0 ? gantry_builder_constant_of (l->b, id) : NULL;
  gint64 elements, *values;

  *n = 0;
  if (literal == NULL)
    return NULL;
  elements = gantry_type_elements (gantry_xla_type (l, id));
  if (elements < 0 || elements > 4096)
    return NULL;
  values = XLA_NEW (l, gint64, elements);
  for (gint64 i = 0; i < elements; i++)
    values[i] = gantry_literal_get_int (literal, literal->splat ? 0 : i);
  *n = (gsize) elements;
  return values;
}

/* Writing */

GantryAttrList *
gantry_xla_attrs (XlaLower *l)
{
  return gantry_attr_list_new (l->context);
}

guint32
gantry_xla_add (XlaLower *l, GantryOp op, GantryAttrList *attrs, guint n, ...)
{
  va_list operands;
  guint32 id;

  va_start (operands, n);
  id = gantry_builder_add_operands (l->b, op, attrs, n, operands);
  va_end (operands);
  if (id == 0 && !l->failed)
    gantry_xla_refuse (l, "an operand is missing"); /* unless the builder has an error, which came first */
  return id;
}

gboolean
gantry_xla_same_dims (XlaLower *l, guint n)
{
  const GantryType *first = gantry_xla_type (l, gantry_xla_in (l, 0));

  for (guint i = 1; i < n; i++)
    {
      const GantryType *type = gantry_xla_type (l, gantry_xla_in (l, i));

      if (type->rank != first->rank || memcmp (type->dims, first->dims, sizeof *type->dims * type->rank) != 0)
        {
          gantry_xla_refuse (l, "operand %u has other dimensions than the first one", i);
          return FALSE;
        }
    }
  return TRUE;
}

guint32
gantry_xla_zero (XlaLower *l, GantryElementType element)
{
  return gantry_builder_scalar (l->b, element, 0);
}

guint32
gantry_xla_spread (XlaLower *l, guint32 x, guint32 like)
{
  const GantryType *type = gantry_xla_type (l, like);

  if (x == 0 || gantry_xla_type (l, x)->rank != 0 || type->rank == 0)
    return x;
  return gantry_builder_broadcast (l->b, x, type->rank, type->dims, NULL);
}

guint32
gantry_xla_like (XlaLower *l, guint32 x, double value)
{
  return x != 0 ? gantry_xla_spread (l, gantry_builder_scalar (l->b, gantry_xla_element (l, x), value), x) : 0;
}

guint32
gantry_xla_unary (XlaLower *l, GantryOp op, guint32 x)
{
  return gantry_xla_add (l, op, NULL, 1, x);
}

guint32
gantry_xla_binary (XlaLower *l, GantryOp op, guint32 x, guint32 y)
{
  return gantry_xla_add (l, op, NULL, 2, gantry_xla_spread (l, x, y), gantry_xla_spread (l, y, x));
}

guint32
gantry_xla_scale (XlaLower *l, guint32 x, double factor)
{
  return gantry_xla_binary (l, GANTRY_OP_MULTIPLY, x, gantry_xla_like (l, x, factor));
}

guint32
gantry_xla_shift (XlaLower *l, guint32 x, double term)
{
  return gantry_xla_binary (l, GANTRY_OP_ADD, x, gantry_xla_like (l, x, term));
}

guint32
gantry_xla_compare (XlaLower *l, const char *direction, guint32 x, guint32 y)
{
  GantryAttrList *attrs = gantry_xla_attrs (l);

  gantry_attr_list_set_string (attrs, "comparison_direction", direction);
  return gantry_xla_add (l, GANTRY_OP_COMPARE, attrs, 2, gantry_xla_spread (l, x, y), gantry_xla_spread (l, y, x));
}

guint32
gantry_xla_select (XlaLower *l, guint32 p, guint32 x, guint32 y)
{
  guint32 like = gantry_xla_type (l, p)->rank > 0 ? p : gantry_xla_type (l, x)->rank > 0 ? x : y;

  return gantry_xla_add (l, GANTRY_OP_SELECT, NULL, 3, gantry_xla_spread (l, p, like), gantry_xla_spread (l, x, like), gantry_xla_spread (l, y, like));
}

/* What is not zero is true. */
guint32
gantry_xla_convert (XlaLower *l, guint32 x, GantryElementType element)
{
  if (x == 0)
    return 0;
  if (element == GANTRY_BOOL && gantry_xla_element (l, x) != GANTRY_BOOL)
    return gantry_xla_compare (l, "NE", x, gantry_xla_like (l, x, 0));
  return gantry_builder_convert (l->b, x, element);
}

guint32
gantry_xla_bitcast (XlaLower *l, guint32 x, GantryElementType element)
{
  GantryAttrList *attrs;

  if (gantry_xla_element (l, x) == element)
    return x;
  attrs = gantry_xla_attrs (l);
  gantry_attr_list_set_type (attrs, "to", gantry_context_scalar (l->context, element));
  return gantry_xla_add (l, GANTRY_OP_BITCAST_CONVERT, attrs, 1, x);
}

GantryElementType
gantry_xla_bits_of (GantryElementType element, gboolean with_sign)
{
  switch (gantry_element_size (element))
    {
    case 1: return with_sign ? GANTRY_I8 : GANTRY_U8;
    case 2: return with_sign ? GANTRY_I16 : GANTRY_U16;
    case 4: return with_sign ? GANTRY_I32 : GANTRY_U32;
    default: return with_sign ? GANTRY_I64 : GANTRY_U64;
    }
}
