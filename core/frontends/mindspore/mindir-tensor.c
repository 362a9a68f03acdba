/* SPDX-License-Identifier: Apache-2.0 */
/* Types of tensors, and their bytes: in the model's file, or in one beside it. They stay mapped. */
#include "core/frontends/mindspore/mindir-private.h"
#include <string.h>

G_STATIC_ASSERT (G_BYTE_ORDER == G_LITTLE_ENDIAN);

/* TensorProto.DataType, which AttributeType agrees with as far as numbers go. */
GantryElementType
gantry_mind_element (guint64 data_type)
{
  static const guint8 elements[] = {
    [1] = GANTRY_F32,  [2] = GANTRY_U8,     [3] = GANTRY_I8,    [4] = GANTRY_U16,   [5] = GANTRY_I16,  [6] = GANTRY_I32,
    [7] = GANTRY_I64,  [8] = GANTRY_STRING, [9] = GANTRY_BOOL,  [10] = GANTRY_F16,  [11] = GANTRY_F64, [12] = GANTRY_U32,
    [13] = GANTRY_U64, [14] = GANTRY_C64,   [15] = GANTRY_C128, [16] = GANTRY_BF16, [17] = GANTRY_F64,
  };

  return data_type < G_N_ELEMENTS (elements) ? (GantryElementType) elements[data_type] : GANTRY_ELEMENT_OTHER;
}

/* An open dimension of an input has a name: that of the input and its axis, as it is bound. */
static GantryDim
open_dim (MindImport *import, const char *symbols, guint axis)
{
  g_autofree char *symbol = g_strdup_printf ("%s_%u", symbols, axis), *place = g_strdup_printf ("%s:%u", symbols, axis);
  const gint64 *size = g_hash_table_lookup (import->symbols, symbol);

  if (size == NULL)
    size = g_hash_table_lookup (import->symbols, place);
  if (size != NULL)
    return *size;
  g_ptr_array_add (import->info->unbound, g_strdup (symbol));
  return GANTRY_DIM_SYMBOL (gantry_context_intern (import->context, symbol));
}

guint32
gantry_mind_tensor_type (MindImport *import, const MindTensor *tensor, const char *symbols)
{
  GantryElementType element = gantry_mind_element (tensor->data_type);
  GantryDim dims[GANTRY_MAX_RANK];

  for (guint i = 0; i < tensor->rank; i++)
    {
      if (tensor->dims[i] == -2) /* the rank is not known */
        return 0;
      dims[i] = tensor->dims[i] >= 0 ? tensor->dims[i] : symbols != NULL ? open_dim (import, symbols, i) : GANTRY_DIM_UNKNOWN;
    }
  if (element == GANTRY_ELEMENT_NONE)
    element = GANTRY_ELEMENT_OTHER;
  if (gantry_dims_fit (tensor->rank, dims, NULL))
    return gantry_context_tensor (import->context, element, tensor->rank, dims);
  gantry_mind_fail (import, GANTRY_ERROR_TOO_LARGE, "tensor '%s': its sizes multiply to more than any memory holds; the file is damaged",
                    gantry_mind_text (import, tensor->name));
  return 0;
}

gboolean
gantry_mind_tensor_has_data (const MindTensor *tensor)
{
  return tensor->data.data != NULL || tensor->has_external;
}

/* The file of weights that a tensor names, from the folder of the model. */
static GBytes *
external_file (MindImport *import, const MindTensor *tensor, char **path)
{
  g_autofree char *location = g_strndup (tensor->location.length > 0 ? (const char *) tensor->location.data : "", tensor->location.length);
  g_autofree char *folder = import->path != NULL ? g_path_get_dirname (import->path) : NULL;
  g_autoptr (GMappedFile) file = NULL;
  GBytes *bytes;

  if (folder == NULL)
    {
      gantry_mind_fail (import, GANTRY_ERROR_UNSUPPORTED, "weights in the file '%s' belong to a model that is a file itself",
                        gantry_mind_text (import, tensor->location));
      return NULL;
    }
  *path = g_canonicalize_filename (location, folder);
  bytes = g_hash_table_lookup (import->external, location);
  if (bytes != NULL)
    return bytes;
  file = gantry_file_map_beside (*path, import->path, import->options->anywhere, &import->error);
  if (file == NULL)
    {
      gantry_error_prefix (&import->error, "weights of '%s': ", gantry_mind_text (import, tensor->name));
      return NULL;
    }
  bytes = g_mapped_file_get_bytes (file);
  g_hash_table_insert (import->external, g_steal_pointer (&location), bytes);
  g_ptr_array_add (import->info->files, g_strdup (*path));
  return bytes;
}

/* Its bytes, and where they stand in a file. */
static GBytes *
bytes_of (MindImport *import, const MindTensor *tensor, char **path, guint64 *offset)
{
  GBytes *whole;

  if (tensor->data.data != NULL)
    {
      *offset = (guint64) (tensor->data.data - import->begin);
      *path = g_strdup (import->path);
      return g_bytes_new_from_bytes (import->bytes, (gsize) *offset, tensor->data.length);
    }
  whole = external_file (import, tensor, path);
  if (whole == NULL)
    return NULL;
  if (tensor->offset < 0 || tensor->length < 0 || (guint64) tensor->offset > g_bytes_get_size (whole)
      || (guint64) tensor->length > g_bytes_get_size (whole) - (guint64) tensor->offset)
    {
      gantry_mind_fail (import, GANTRY_ERROR_TRUNCATED,
                        "'%s': bytes %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " lie outside of %s, which has %" G_GSIZE_FORMAT,
                        gantry_mind_text (import, tensor->name), tensor->offset, tensor->offset + tensor->length, *path, g_bytes_get_size (whole));
      return NULL;
    }
  *offset = (guint64) tensor->offset;
  return g_bytes_new_from_bytes (whole, (gsize) tensor->offset, (gsize) tensor->length);
}

/* Booleans are one byte, 0 or 1; a file may have others. */
static GantryLiteral *
clean_booleans (MindImport *import, GantryLiteral *literal)
{
  GantryLiteral *clean;
  guint8 *data;
  gboolean is_clean = TRUE;

  for (gsize i = 0; literal->type->element == GANTRY_BOOL && i < literal->size; i++)
    is_clean = is_clean && literal->data[i] <= 1;
  if (is_clean)
    return literal;
  clean = gantry_literal_try_new_zeroed (literal->type, &data, &import->error);
  for (gsize i = 0; clean != NULL && i < literal->size; i++)
    data[i] = literal->data[i] != 0;
  gantry_literal_unref (literal);
  return clean;
}

GantryLiteral *
gantry_mind_tensor_literal (MindImport *import, const MindTensor *tensor)
{
  const GantryType *type = gantry_context_type (import->context, gantry_mind_tensor_type (import, tensor, NULL));
  const char *name = gantry_mind_text (import, tensor->name);
  g_autoptr (GBytes) bytes = NULL;
  g_autofree char *path = NULL;
  guint64 offset = 0;
  GantryLiteral *literal;

  if (import->error != NULL || !gantry_mind_tensor_has_data (tensor))
    return NULL;
  if (tensor->compression != 0)
    gantry_mind_fail (import, GANTRY_ERROR_UNSUPPORTED, "'%s': its values are compressed (form %" G_GUINT64_FORMAT "), which is not read", name,
                      tensor->compression);
  else if (!gantry_type_is_static (type) || !gantry_element_is_compiled ((GantryElementType) type->element))
    gantry_mind_fail (import, GANTRY_ERROR_UNSUPPORTED, "'%s': a value of element type %s is not read", name,
                      gantry_element_name ((GantryElementType) type->element));
  else
    bytes = bytes_of (import, tensor, &path, &offset);
  if (bytes == NULL)
    return NULL;
  if ((gint64) g_bytes_get_size (bytes) != gantry_type_bytes (type))
    {
      gantry_mind_fail (import, GANTRY_ERROR_INVALID, "'%s' has %" G_GSIZE_FORMAT " bytes where its sizes say %" G_GINT64_FORMAT "; the file is damaged", name,
                        g_bytes_get_size (bytes), gantry_type_bytes (type));
      return NULL;
    }
  literal = gantry_literal_new (type, bytes, FALSE, &import->error);
  if (literal != NULL && path != NULL)
    {
      literal->source_path = g_steal_pointer (&path);
      literal->source_offset = offset;
      literal->mapped = TRUE;
    }
  return literal != NULL ? clean_booleans (import, literal) : NULL;
}
