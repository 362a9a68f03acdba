/* SPDX-License-Identifier: Apache-2.0 */
/* Types that the file declares, with the dimensions that the user binds. A value that is no tensor,
 * or whose rank nobody says, has the unknown type. */
#include "core/frontends/onnx/onnx-import-private.h"
#include <string.h>

/* Dimensions */

static gboolean
bound_value (GantryOnnxImport *import, const char *name, gint64 *value)
{
  for (guint i = 0; i < import->options->n_dims; i++)
    if (strcmp (import->options->dims[i].name, name) == 0)
      {
        import->dim_used[i] = 1;
        *value = import->options->dims[i].value;
        return TRUE;
      }
  return FALSE;
}

static void
note_unbound (GantryOnnxImport *import, const char *name)
{
  if (g_hash_table_contains (import->symbols, name))
    return;
  g_ptr_array_add (import->unbound, g_strdup (name));
  g_hash_table_add (import->symbols, g_ptr_array_index (import->unbound, import->unbound->len - 1));
}

/* The name of a dimension; "" when it has none. Many writers say "?" of each that they know nothing of, so that is no
 * name: two of them need not be equal. */
static const char *
symbol_of (const Onnx__TensorShapeProto__Dimension *dim)
{
  if (dim->value_case != ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM || strcmp (dim->dim_param, "?") == 0)
    return "";
  return dim->dim_param;
}

static GantryDim
value_dim (GantryOnnxImport *import, const Onnx__TensorShapeProto__Dimension *dim, const char *input, gsize axis)
{
  const char *symbol = symbol_of (dim);
  g_autofree char *position = NULL;
  gint64 value;

  if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE && dim->dim_value >= 0)
    return dim->dim_value;
  if (*symbol != '\0' && bound_value (import, symbol, &value))
    return value;
  if (input != NULL)
    {
      position = g_strdup_printf ("%s:%zu", input, axis);
      if (bound_value (import, position, &value))
        return value;
      note_unbound (import, *symbol != '\0' ? symbol : position);
    }
  return *symbol != '\0' ? GANTRY_DIM_SYMBOL (gantry_context_intern (import->context, symbol)) : GANTRY_DIM_UNKNOWN;
}

gboolean
gantry_onnx_check_dims (GantryOnnxImport *import, GError **error)
{
  g_autofree char *known = NULL;

  for (guint i = 0; i < import->options->n_dims; i++)
    {
      const GantryOnnxDim *dim = &import->options->dims[i];

      if (dim->value < 0)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "dimension '%s' is to be %" G_GINT64_FORMAT "; a size is 0 or more", dim->name, dim->value);
          return FALSE;
        }
      if (import->dim_used[i])
        continue;
      g_ptr_array_add (import->unbound, NULL);
      known = g_strjoinv (", ", (char **) import->unbound->pdata);
      g_ptr_array_set_size (import->unbound, (gint) import->unbound->len - 1);
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "no input has a dimension '%s' to bind; the dimensions still free are: %s", dim->name,
                   *known != '\0' ? known : "none");
      return FALSE;
    }
  return TRUE;
}

/* Types */

guint32
gantry_onnx_value_type (GantryOnnxImport *import, const Onnx__TypeProto *type, const char *input)
{
  GantryDim dims[GANTRY_MAX_RANK];
  const Onnx__TypeProto__Tensor *tensor;
  GantryElementType element;

  if (type == NULL || type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE || type->tensor_type == NULL)
    return 0;
  tensor = type->tensor_type;
  element = gantry_onnx_element (tensor->elem_type);
  if (element == GANTRY_ELEMENT_NONE || tensor->shape == NULL || tensor->shape->n_dim > GANTRY_MAX_RANK)
    return 0;
  for (gsize i = 0; i < tensor->shape->n_dim; i++)
    dims[i] = value_dim (import, tensor->shape->dim[i], input, i);
  if (!gantry_dims_fit ((guint) tensor->shape->n_dim, dims, NULL))
    {
      if (input != NULL)
        gantry_onnx_warn (import, "Input '%s' has dimensions that multiply to more than any memory holds.", input);
      return 0;
    }
  return gantry_context_tensor (import->context, element, (guint) tensor->shape->n_dim, dims);
}

void
gantry_onnx_declare_types (GantryOnnxBody *body, Onnx__ValueInfoProto **values, gsize n)
{
  for (gsize i = 0; i < n; i++)
    {
      guint32 type = gantry_onnx_value_type (body->import, values[i]->type, NULL);

      /* Where a name is declared twice the first one counts. */
      if (type != 0 && values[i]->name != NULL && !g_hash_table_contains (body->types, values[i]->name))
        g_hash_table_insert (body->types, values[i]->name, GUINT_TO_POINTER (type));
    }
}

/* Text */

#define MAX_TEXT_DEPTH 8

static char *
proto_text (GantryOnnxImport *import, const Onnx__TypeProto *type, guint depth)
{
  g_autofree char *inner = NULL;

  if (type == NULL || depth > MAX_TEXT_DEPTH)
    return g_strdup ("?");
  switch (type->value_case)
    {
    case ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE:
      {
        guint32 id = gantry_onnx_value_type (import, type, NULL);

        if (id != 0)
          return gantry_context_type_text (import->context, id);
        /* An element type without a shape still says something. */
        if (type->tensor_type != NULL && gantry_onnx_element (type->tensor_type->elem_type) != GANTRY_ELEMENT_NONE)
          return g_strdup_printf ("%s[...]", gantry_element_name (gantry_onnx_element (type->tensor_type->elem_type)));
        return g_strdup ("?");
      }
    case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE:
      inner = proto_text (import, type->sequence_type != NULL ? type->sequence_type->elem_type : NULL, depth + 1);
      return g_strdup_printf ("sequence(%s)", inner);
    case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE:
      inner = proto_text (import, type->optional_type != NULL ? type->optional_type->elem_type : NULL, depth + 1);
      return g_strdup_printf ("optional(%s)", inner);
    case ONNX__TYPE_PROTO__VALUE_MAP_TYPE:
      inner = proto_text (import, type->map_type != NULL ? type->map_type->value_type : NULL, depth + 1);
      return g_strdup_printf ("map(%s, %s)", gantry_element_name (gantry_onnx_element (type->map_type != NULL ? type->map_type->key_type : 0)), inner);
    case ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE: return g_strdup ("sparse tensor");
    case ONNX__TYPE_PROTO__VALUE_OPAQUE_TYPE: return g_strdup ("opaque");
    default: return g_strdup ("?");
    }
}

char *
gantry_onnx_type_text (GantryOnnxImport *import, const Onnx__TypeProto *type, guint32 type_id)
{
  return type_id != 0 ? gantry_context_type_text (import->context, type_id) : proto_text (import, type, 0);
}
