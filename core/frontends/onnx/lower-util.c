/* SPDX-License-Identifier: Apache-2.0 */
/* What the lowering rules have in common: reading operands, attributes and constants of the foreign
 * node, recording why it cannot be expressed. The sugar that adds nodes is in lower-sugar.c. */
#include "core/frontends/onnx/onnx-lower.h"
#include "core/base/asks.h"

static void
fail_valist (GantryLower *l, GantryError code, const char *format, va_list args)
{
  g_autofree char *why = g_strdup_vprintf (format, args);

  l->failed = TRUE;
  gantry_builder_fail (l->b, code, "%s: %s", l->op, why);
}

void
gantry_lower_fail (GantryLower *l, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  fail_valist (l, GANTRY_ERROR_UNSUPPORTED, format, args);
  va_end (args);
}

void
gantry_lower_invalid (GantryLower *l, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  fail_valist (l, GANTRY_ERROR_INVALID, format, args);
  va_end (args);
}

/* Inputs of the model */

/* A value that depends on an input of more elements than this is data; one of up to that many may well be fixed. */
#define MOST_SET_ELEMENTS 16
#define MOST_VISITED 65536
#define MOST_NAMED 4

/* The inputs of the model that @stack (which it empties) is computed from. FALSE when that cannot be said. */
static gboolean
find_inputs (GantryLower *l, GArray *stack, GArray *inputs)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  while (stack->len > 0 && g_hash_table_size (seen) < MOST_VISITED)
    {
      guint32 id = g_array_index (stack, guint32, stack->len - 1);
      const GantryNode *node = gantry_builder_node (l->b, id);

      g_array_set_size (stack, stack->len - 1);
      if (node == NULL || !g_hash_table_add (seen, GUINT_TO_POINTER (id)))
        continue;
      /* A parameter without a name is one of a body, whose value is known outside only. */
      if (node->op >= GANTRY_OP_FOREIGN || (node->op == GANTRY_OP_PARAMETER && node->name == 0))
        return FALSE;
      if (node->op == GANTRY_OP_PARAMETER)
        g_array_append_val (inputs, id);
      for (guint i = 0; i < node->n_operands; i++)
        {
          guint32 operand = gantry_builder_operand_of (l->b, id, i);

          g_array_append_val (stack, operand);
        }
    }
  return stack->len == 0 && inputs->len > 0 && inputs->len <= MOST_NAMED;
}

char *
gantry_lower_inputs_of (GantryLower *l, guint32 value)
{
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) inputs = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GString) names = g_string_new (NULL);
  gboolean data = FALSE;

  if (value != 0)
    g_array_append_val (stack, value);
  else
    g_array_append_vals (stack, l->in, l->n_in);
  if (!find_inputs (l, stack, inputs))
    return g_strdup ("");
  for (guint i = 0; i < inputs->len; i++)
    {
      guint32 id = g_array_index (inputs, guint32, i);
      const char *name = gantry_context_string (l->context, gantry_builder_node (l->b, id)->name);
      gint64 n = gantry_type_elements (gantry_lower_type (l, id));

      data = data || n < 0 || n > MOST_SET_ELEMENTS;
      g_string_append_printf (names, "%s'%s'", i > 0 ? ", " : "", name);
    }
  return data ? g_strdup_printf ("; it depends on the data of %s", names->str)
              : g_strdup_printf ("; it depends on %s: " GANTRY_ASKS_VALUE " %s", names->str, inputs->len > 1 ? "each" : "this input");
}

void
gantry_lower_needs_constant (GantryLower *l, guint32 value, const char *what)
{
  g_autofree char *inputs = gantry_lower_inputs_of (l, value);

  gantry_lower_fail (l, "the %s is computed at run time%s", what, inputs);
}

const GantryType *
gantry_lower_type (GantryLower *l, guint32 id)
{
  return id != 0 ? gantry_builder_get_type (l->b, id) : gantry_context_type (l->context, 0);
}

guint
gantry_lower_dims (GantryLower *l, guint32 id, GantryDim *dims)
{
  const GantryType *type = gantry_lower_type (l, id);

  if (type->kind != GANTRY_TYPE_TENSOR)
    return 0;
  for (guint i = 0; i < type->rank; i++)
    dims[i] = type->dims[i];
  return type->rank;
}

const GantryType *
gantry_lower_declared (GantryLower *l, guint i)
{
  guint32 id = l->node->type;
  const GantryType *type;

  if (gantry_context_type (l->context, id)->kind == GANTRY_TYPE_TUPLE)
    id = gantry_context_tuple_member (l->context, id, i);
  else if (i > 0)
    return NULL;
  type = gantry_context_type (l->context, id);
  return gantry_type_is_static (type) ? type : NULL;
}

gint64
gantry_lower_axis (GantryLower *l, gint64 axis, guint rank)
{
  gint64 normal = axis < 0 ? axis + (gint64) rank : axis;

  if (normal >= 0 && normal < (gint64) rank)
    return normal;
  gantry_lower_invalid (l, "axis %" G_GINT64_FORMAT " is out of range for %u dimensions", axis, rank);
  return -1;
}

gboolean
gantry_lower_check_rank (GantryLower *l, guint i, guint minimum, guint maximum)
{
  guint rank = gantry_lower_rank (l, gantry_lower_operand (l, i));

  if (!gantry_lower_has (l, i))
    gantry_lower_invalid (l, "operand %u is missing", i);
  else if (rank < minimum || rank > maximum)
    gantry_lower_invalid (l, "operand %u has %u dimensions", i, rank);
  else
    return TRUE;
  return FALSE;
}

gboolean
gantry_lower_require_static (GantryLower *l, guint32 id)
{
  const GantryType *type = gantry_lower_type (l, id);

  if (gantry_type_is_static (type))
    return TRUE;
  for (guint i = 0; i < type->rank && type->kind == GANTRY_TYPE_TENSOR; i++)
    if (GANTRY_DIM_IS_SYMBOL (type->dims[i]))
      {
        const char *name = gantry_context_string (l->context, GANTRY_DIM_SYMBOL_ID (type->dims[i]));

        gantry_lower_fail (l, "dimension '%s' is not bound: " GANTRY_ASKS_SIZE " it", name);
        return FALSE;
      }
  gantry_lower_fail (l, "the shape of an operand is not known");
  return FALSE;
}

gboolean
gantry_lower_has_attr (GantryLower *l, const char *key)
{
  return gantry_attrs_find (l->context, l->node->attrs, key) != NULL;
}

gint64
gantry_lower_int (GantryLower *l, const char *key, gint64 fallback)
{
  return gantry_attrs_int (l->context, l->node->attrs, key, fallback);
}

double
gantry_lower_float (GantryLower *l, const char *key, double fallback)
{
  return gantry_attrs_float (l->context, l->node->attrs, key, fallback);
}

const char *
gantry_lower_string (GantryLower *l, const char *key, const char *fallback)
{
  return gantry_attrs_string (l->context, l->node->attrs, key, fallback);
}

const gint64 *
gantry_lower_ints (GantryLower *l, const char *key, gsize *n)
{
  return gantry_attrs_ints (l->context, l->node->attrs, key, n);
}

const gint64 *
gantry_lower_ints_or (GantryLower *l, const char *key, gsize n, gint64 fallback)
{
  gsize given = 0;
  const gint64 *values = gantry_lower_ints (l, key, &given);
  gint64 *filled;

  if (values != NULL && given == n)
    return values;
  filled = gantry_arena_new0 (l->arena, gint64, n + 1);
  for (gsize i = 0; i < n; i++)
    filled[i] = fallback;
  if (values != NULL && given != 0)
    gantry_lower_invalid (l, "attribute %s has %" G_GSIZE_FORMAT " values, not %" G_GSIZE_FORMAT, key, given, n);
  return filled;
}

GantryLiteral *
gantry_lower_literal (GantryLower *l, guint32 id)
{
  return id != 0 ? gantry_builder_constant_of (l->b, id) : NULL;
}

/* A "constant" of more elements than this is data, not a shape or a list of indices. */
#define MOST_ELEMENTS (1 << 22)

gint64 *
gantry_lower_known_ints (GantryLower *l, guint32 id, gsize *n)
{
  GantryLiteral *literal = gantry_lower_literal (l, id);
  const GantryType *type = gantry_lower_type (l, id);
  gint64 count = gantry_type_elements (type);
  gint64 *values;

  *n = 0;
  if (literal == NULL || count < 0 || count > MOST_ELEMENTS || gantry_element_is_float ((GantryElementType) type->element))
    return NULL;
  values = gantry_arena_new0 (l->arena, gint64, count + 1);
  for (gint64 i = 0; i < count; i++)
    values[i] = gantry_literal_get_int (literal, literal->splat ? 0 : i);
  *n = (gsize) count;
  return values;
}

double *
gantry_lower_known_doubles (GantryLower *l, guint32 id, gsize *n)
{
  GantryLiteral *literal = gantry_lower_literal (l, id);
  gint64 count = gantry_type_elements (gantry_lower_type (l, id));
  double *values;

  *n = 0;
  if (literal == NULL || count < 0 || count > MOST_ELEMENTS)
    return NULL;
  values = gantry_arena_new0 (l->arena, double, count + 1);
  for (gint64 i = 0; i < count; i++)
    values[i] = gantry_literal_get_double (literal, literal->splat ? 0 : i);
  *n = (gsize) count;
  return values;
}

gint64 *
gantry_lower_constant_ints (GantryLower *l, guint i, gsize *n, const char *what)
{
  gint64 *values = gantry_lower_known_ints (l, gantry_lower_operand (l, i), n);

  if (values == NULL)
    {
      if (!gantry_lower_has (l, i))
        gantry_lower_invalid (l, "operand %u is missing", i);
      else
        gantry_lower_needs_constant (l, l->in[i], what);
    }
  return values;
}

gint64 *
gantry_lower_axes (GantryLower *l, guint i, guint rank, gsize *n)
{
  const gint64 *given = gantry_lower_ints (l, "axes", n);
  gint64 *axes;

  if (given == NULL && gantry_lower_has (l, i))
    {
      given = gantry_lower_constant_ints (l, i, n, "list of axes");
      if (given == NULL)
        return NULL;
    }
  if (given == NULL)
    return NULL;
  axes = gantry_arena_new0 (l->arena, gint64, *n + 1);
  for (gsize k = 0; k < *n; k++)
    {
      axes[k] = gantry_lower_axis (l, given[k], rank);
      for (gsize j = 0; j < k; j++)
        if (axes[j] == axes[k] && axes[k] >= 0)
          gantry_lower_invalid (l, "axis %" G_GINT64_FORMAT " is named twice", axes[k]);
      if (l->failed)
        return NULL;
    }
  return axes;
}

/* Numbers of TensorProto.DataType in the published ONNX schema. */
GantryElementType
gantry_lower_data_type (gint64 data_type)
{
  static const guint8 elements[] = {
    [1] = GANTRY_F32,  [2] = GANTRY_U8,   [3] = GANTRY_I8,   [4] = GANTRY_U16,  [5] = GANTRY_I16,  [6] = GANTRY_I32,   [7] = GANTRY_I64,
    [9] = GANTRY_BOOL, [10] = GANTRY_F16, [11] = GANTRY_F64, [12] = GANTRY_U32, [13] = GANTRY_U64, [16] = GANTRY_BF16,
  };

  return data_type >= 0 && data_type < (gint64) G_N_ELEMENTS (elements) ? (GantryElementType) elements[data_type] : GANTRY_ELEMENT_NONE;
}
