/* SPDX-License-Identifier: Apache-2.0 */
/* What the type rules are made of: messages, reading and checking of attributes, and what can be known of a dimension
 * that is a number, a symbol or unknown. */
#include "core/graph/operation-private.h"
#include <string.h>

guint32
_gantry_infer_fail (const GantryTypeQuery *query, GError **error, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list arguments;

  va_start (arguments, format);
  what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: %s", gantry_op_info (query->op)->name, what);
  return 0;
}

const char *
_gantry_infer_text (const GantryTypeQuery *query, guint i)
{
  g_autofree char *text = gantry_context_type_text (query->context, query->operand_types[i]);

  return gantry_context_string (query->context, gantry_context_intern (query->context, text));
}

const char *
_gantry_dim_text (GantryContext *context, GantryDim dim)
{
  char number[32];

  if (GANTRY_DIM_IS_SYMBOL (dim))
    return gantry_context_string (context, GANTRY_DIM_SYMBOL_ID (dim));
  if (dim == GANTRY_DIM_UNKNOWN)
    return "?";
  g_snprintf (number, sizeof number, "%" G_GINT64_FORMAT, dim);
  return gantry_context_string (context, gantry_context_intern (context, number));
}

const GantryType *
_gantry_infer_tensor (const GantryTypeQuery *query, guint i, GError **error)
{
  const GantryType *type = _gantry_infer_operand (query, i);

  if (type->kind == GANTRY_TYPE_TENSOR)
    return type;
  if (type->kind == GANTRY_TYPE_UNKNOWN)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "%s: the type of operand %u is not known", gantry_op_info (query->op)->name, i);
  else
    _gantry_infer_fail (query, error, "operand %u must be a tensor, not %s", i, _gantry_infer_text (query, i));
  return NULL;
}

guint32
_gantry_infer_make (const GantryTypeQuery *query, GantryElementType element, guint rank, const GantryDim *dims, GError **error)
{
  guint which;

  if (rank > GANTRY_MAX_RANK)
    return _gantry_infer_fail (query, error, "the result would have %u dimensions, the limit is %d", rank, GANTRY_MAX_RANK);
  if (!gantry_dims_fit (rank, dims, &which))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "%s: the result is too large: dimension %u is %s%s", gantry_op_info (query->op)->name, which,
                   dims[which] == G_MAXINT64 ? "at least " : "", _gantry_dim_text (query->context, dims[which]));
      return 0;
    }
  return gantry_context_tensor (query->context, element, rank, dims);
}

gboolean
_gantry_dim_merge (GantryDim a, GantryDim b, GantryDim *merged)
{
  if (GANTRY_DIM_IS_STATIC (a) && GANTRY_DIM_IS_STATIC (b) && a != b)
    return FALSE;
  if (GANTRY_DIM_IS_STATIC (a) || b == GANTRY_DIM_UNKNOWN)
    *merged = a;
  else if (GANTRY_DIM_IS_STATIC (b) || a == GANTRY_DIM_UNKNOWN)
    *merged = b;
  else
    *merged = a; /* two symbols: they may be equal */
  return TRUE;
}

gboolean
gantry_type_fits (GantryContext *context, guint32 want, guint32 have)
{
  const GantryType *a = gantry_context_type (context, want), *b = gantry_context_type (context, have);
  GantryDim merged;

  if (want == have || a->kind == GANTRY_TYPE_UNKNOWN || b->kind == GANTRY_TYPE_UNKNOWN)
    return TRUE;
  if (a->kind != b->kind || a->element != b->element || a->rank != b->rank)
    return FALSE;
  for (guint i = 0; i < a->rank; i++)
    if (a->kind == GANTRY_TYPE_TUPLE ? !gantry_type_fits (context, (guint32) a->dims[i], (guint32) b->dims[i])
                                     : !_gantry_dim_merge (a->dims[i], b->dims[i], &merged))
      return FALSE;
  return TRUE;
}

gboolean
_gantry_infer_merge (const GantryTypeQuery *query, guint first, guint i, guint rank, GantryDim *dims, GError **error)
{
  const GantryType *type = _gantry_infer_tensor (query, i, error);

  if (type == NULL)
    return FALSE;
  if (type->rank != rank)
    return _gantry_infer_fail (query, error, "operand %u is %s, operand %u is %s: their ranks differ", first, _gantry_infer_text (query, first), i,
                               _gantry_infer_text (query, i));
  for (guint d = 0; d < rank; d++)
    if (!_gantry_dim_merge (dims[d], type->dims[d], &dims[d]))
      return _gantry_infer_fail (query, error, "dimension %u of operand %u is %s, of operand %u %s", d, first, _gantry_dim_text (query->context, dims[d]), i,
                                 _gantry_dim_text (query->context, type->dims[d]));
  return TRUE;
}

gboolean
_gantry_infer_ints (const GantryTypeQuery *query, const char *key, gssize n_wanted, gboolean required, const gint64 **values, gsize *n, GError **error)
{
  const GantryAttr *attr = gantry_attrs_find (query->context, query->attrs, key);

  *values = NULL;
  *n = 0;
  if (attr == NULL)
    {
      if (required && n_wanted != 0)
        return _gantry_infer_fail (query, error, "attribute %s is missing", key);
      return TRUE;
    }
  if (attr->kind != GANTRY_ATTR_INTS)
    return _gantry_infer_fail (query, error, "attribute %s must be a list of integers", key);
  if (n_wanted >= 0 && attr->n != (guint64) n_wanted)
    return _gantry_infer_fail (query, error, "attribute %s has %u entries where %u are needed", key, (guint) attr->n, (guint) n_wanted);
  *values = attr->ints;
  *n = attr->n;
  return TRUE;
}

gboolean
_gantry_infer_dimensions (const GantryTypeQuery *query, const char *key, guint rank, gboolean sorted, gboolean required, const gint64 **values, gsize *n,
                          GError **error)
{
  guint32 seen = 0;

  if (!_gantry_infer_ints (query, key, -1, required, values, n, error))
    return FALSE;
  for (gsize i = 0; i < *n; i++)
    {
      gint64 d = (*values)[i];

      if (d < 0 || d >= rank)
        return _gantry_infer_fail (query, error, "%s names dimension %" G_GINT64_FORMAT " of a rank of %u", key, d, rank);
      if (seen & (1u << d))
        return _gantry_infer_fail (query, error, "%s names dimension %" G_GINT64_FORMAT " twice", key, d);
      if (sorted && i > 0 && d < (*values)[i - 1])
        return _gantry_infer_fail (query, error, "%s must be in ascending order", key);
      seen |= 1u << d;
    }
  return TRUE;
}

gboolean
_gantry_infer_axis (const GantryTypeQuery *query, const char *key, gint64 low, gint64 high, gint64 *value, GError **error)
{
  const GantryAttr *attr = gantry_attrs_find (query->context, query->attrs, key);

  if (attr == NULL)
    return _gantry_infer_fail (query, error, "attribute %s is missing", key);
  if (attr->kind != GANTRY_ATTR_INT)
    return _gantry_infer_fail (query, error, "attribute %s must be an integer", key);
  if (attr->i < low || attr->i >= high)
    return _gantry_infer_fail (query, error, "%s is %" G_GINT64_FORMAT ", but must be at least %" G_GINT64_FORMAT " and less than %" G_GINT64_FORMAT, key,
                               attr->i, low, high);
  *value = attr->i;
  return TRUE;
}

gboolean
_gantry_infer_to (const GantryTypeQuery *query, GantryElementType fallback, GantryElementType *element, GError **error)
{
  const GantryAttr *attr = gantry_attrs_find (query->context, query->attrs, "to");
  const GantryType *type;

  *element = fallback;
  if (attr == NULL)
    return fallback != GANTRY_ELEMENT_NONE || _gantry_infer_fail (query, error, "attribute to is missing");
  if (attr->kind != GANTRY_ATTR_TYPE)
    return _gantry_infer_fail (query, error, "attribute to must be a type");
  type = gantry_context_type (query->context, attr->id);
  if (type->kind != GANTRY_TYPE_TENSOR)
    return _gantry_infer_fail (query, error, "attribute to must be the type of a tensor");
  *element = type->element;
  return TRUE;
}

GantryOp
gantry_reduction_op (const char *kind)
{
  static const struct
  {
    const char *name;
    GantryOp op;
  } kinds[] = {
    { "add", GANTRY_OP_ADD },     { "mul", GANTRY_OP_MULTIPLY }, { "max", GANTRY_OP_MAXIMUM },
    { "min", GANTRY_OP_MINIMUM }, { "and", GANTRY_OP_AND },      { "or", GANTRY_OP_OR },
  };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (strcmp (kind, kinds[i].name) == 0)
      return kinds[i].op;
  return GANTRY_OP_NONE;
}

gboolean
_gantry_infer_kind (const GantryTypeQuery *query, GantryElementType element, GantryOp *op, GError **error)
{
  const char *kind = gantry_attrs_string (query->context, query->attrs, "kind", NULL);
  gboolean number = gantry_element_is_float (element) || gantry_element_is_integer (element);
  gboolean bits = element == GANTRY_BOOL || gantry_element_is_integer (element);

  if (kind == NULL)
    return _gantry_infer_fail (query, error, "attribute kind is missing");
  *op = gantry_reduction_op (kind);
  if (*op == GANTRY_OP_NONE)
    return _gantry_infer_fail (query, error, "kind is \"%s\", but must be add, mul, max, min, and or or", kind);
  if (*op == GANTRY_OP_AND || *op == GANTRY_OP_OR ? !bits : !number)
    return _gantry_infer_fail (query, error, "kind \"%s\" does not fit elements of type %s", kind, gantry_element_name (element));
  return TRUE;
}

/* A function's result as the module tells it, where the query brings no function of its own. */
static guint32
result_in_module (const GantryTypeQuery *query, const GantryFunction *function)
{
  g_autofree guint32 *types = g_new (guint32, function->n_results + 1);

  for (guint i = 0; i < function->n_results; i++)
    {
      const GantryNode *node = gantry_module_node (query->module, gantry_function_result_id (query->module, function, i));

      types[i] = node != NULL ? node->type : 0;
    }
  return function->n_results == 1 ? types[0] : gantry_context_tuple (query->context, function->n_results, types);
}

gboolean
_gantry_infer_function (const GantryTypeQuery *query, const char *key, guint32 *function, guint32 *result, GError **error)
{
  const GantryAttr *attr = gantry_attrs_find (query->context, query->attrs, key);
  const GantryFunction *found = NULL;

  if (attr == NULL)
    return _gantry_infer_fail (query, error, "attribute %s is missing", key);
  if (attr->kind != GANTRY_ATTR_FUNCTION)
    return _gantry_infer_fail (query, error, "attribute %s must be a function", key);
  *function = attr->id;
  *result = 0;
  if (query->module != NULL)
    found = gantry_module_function (query->module, attr->id);
  if (query->function_result != NULL)
    *result = query->function_result (query->data, attr->id);
  else if (found != NULL)
    *result = result_in_module (query, found);
  if (*result == 0)
    return _gantry_infer_fail (query, error, "%s names function %u, which is not there or has no known result", key, attr->id);
  return TRUE;
}

void
gantry_op_ints (GantryContext *context, guint32 attrs, const char *key, guint n, gint64 fallback, gint64 *values)
{
  gsize have;
  const gint64 *list = gantry_attrs_ints (context, attrs, key, &have);

  for (guint i = 0; i < n; i++)
    values[i] = list != NULL && i < have ? list[i] : fallback;
}

guint32
gantry_op_mask (GantryContext *context, guint32 attrs, const char *key)
{
  gsize n;
  const gint64 *list = gantry_attrs_ints (context, attrs, key, &n);
  guint32 mask = 0;

  for (gsize i = 0; i < n; i++)
    mask |= 1u << (list[i] & 31);
  return mask;
}

void
gantry_op_windows (GantryContext *context, guint32 attrs, GantryOp operation, guint n, GantryWindow *windows)
{
  gboolean convolution = operation == GANTRY_OP_CONVOLUTION;
  gint64 size[GANTRY_MAX_RANK], stride[GANTRY_MAX_RANK], base[GANTRY_MAX_RANK], window[GANTRY_MAX_RANK];
  gint64 padding[2 * GANTRY_MAX_RANK];

  gantry_op_ints (context, attrs, "window_dimensions", n, 1, size);
  gantry_op_ints (context, attrs, "window_strides", n, 1, stride);
  gantry_op_ints (context, attrs, convolution ? "lhs_dilation" : "base_dilations", n, 1, base);
  gantry_op_ints (context, attrs, convolution ? "rhs_dilation" : "window_dilations", n, 1, window);
  gantry_op_ints (context, attrs, "padding", 2 * n, 0, padding);
  for (guint i = 0; i < n; i++)
    {
      if (!convolution)
        windows[i].size = size[i];
      windows[i].stride = stride[i];
      windows[i].low = padding[2 * i];
      windows[i].high = padding[2 * i + 1];
      windows[i].base_dilation = base[i];
      windows[i].window_dilation = window[i];
    }
}

gint
gantry_op_running_axis (const GantryWindow *windows, const GantryType *type, gboolean *reverse)
{
  gint axis = -1;

  for (guint i = 0; i < type->rank; i++)
    {
      const GantryWindow *w = &windows[i];

      if (w->stride != 1 || w->base_dilation != 1 || w->window_dilation != 1)
        return -1;
      if (w->size == 1 && w->low == 0 && w->high == 0)
        continue;
      if (axis >= 0 || w->size != type->dims[i] || w->low + w->high != w->size - 1 || (w->low != 0 && w->high != 0))
        return -1;
      axis = (gint) i;
      *reverse = w->high != 0;
    }
  return axis;
}
