/* SPDX-License-Identifier: Apache-2.0 */
/* Types of tensors, and weights: each is a file of the archive that holds the bytes of a storage, and its config says
 * which elements of it. Those that stand there as they are used are mapped; others (transposed, say) are copied. */
#include "core/base/allocate.h"
#include "core/frontends/torch/torch-private.h"
#include <string.h>

G_STATIC_ASSERT (G_BYTE_ORDER == G_LITTLE_ENDIAN);

/* Numbers of ScalarType in torch/_export/serde/schema.py. */
GantryElementType
gantry_torch_element (gint64 scalar_type)
{
  static const guint8 elements[] = {
    [1] = GANTRY_U8,
    [2] = GANTRY_I8,
    [3] = GANTRY_I16,
    [4] = GANTRY_I32,
    [5] = GANTRY_I64,
    [6] = GANTRY_F16,
    [7] = GANTRY_F32,
    [8] = GANTRY_F64,
    [9] = GANTRY_ELEMENT_OTHER,
    [10] = GANTRY_C64,
    [11] = GANTRY_C128,
    [12] = GANTRY_BOOL,
    [13] = GANTRY_BF16,
    [28] = GANTRY_U16,
    [29] = GANTRY_F8E4M3FN,
    [30] = GANTRY_F8E5M2,
    [31] = GANTRY_ELEMENT_OTHER,
    [32] = GANTRY_ELEMENT_OTHER,
    [33] = GANTRY_ELEMENT_OTHER,
    [34] = GANTRY_U32,
    [35] = GANTRY_U64,
  };

  return scalar_type >= 0 && scalar_type < (gint64) G_N_ELEMENTS (elements) ? (GantryElementType) elements[scalar_type] : GANTRY_ELEMENT_NONE;
}

/* Sizes or strides: FALSE and @error where the list is missing or too long. */
static gboolean
read_sizes (TorchImport *import, const TorchJson *meta, const char *key, GantryDim *dims, guint *rank, GError **error)
{
  const TorchJson *sizes = gantry_torch_json_array (meta, key);

  *rank = sizes != NULL ? sizes->n : 0;
  if (sizes == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "a tensor has no %s; the archive is damaged", key);
      return FALSE;
    }
  if (*rank > GANTRY_MAX_RANK)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "a tensor has %u %s; Gantry takes up to %d dimensions", *rank, key, GANTRY_MAX_RANK);
      return FALSE;
    }
  for (guint i = 0; i < *rank; i++)
    dims[i] = gantry_torch_size (import, gantry_torch_json_element (sizes, i));
  return TRUE;
}

guint32
gantry_torch_type (TorchImport *import, const TorchJson *meta, GError **error)
{
  GantryDim dims[GANTRY_MAX_RANK];
  GantryElementType element;
  gint64 dtype = 0;
  guint rank;

  if (!read_sizes (import, meta, "sizes", dims, &rank, error))
    return 0;
  element = gantry_torch_json_int (meta, "dtype", &dtype) ? gantry_torch_element (dtype) : GANTRY_ELEMENT_NONE;
  if (element == GANTRY_ELEMENT_NONE)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "a tensor's dtype %" G_GINT64_FORMAT " is not known; the archive is damaged or of a newer version",
                 dtype);
  else if (!gantry_dims_fit (rank, dims, NULL))
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "a tensor's sizes multiply to more than any memory holds; the archive is damaged");
  else
    return gantry_context_tensor (import->context, element, rank, dims);
  return 0;
}

static gboolean
dense_strides (guint rank, const GantryDim *dims, const GantryDim *strides)
{
  gint64 dense = 1;

  for (gint i = (gint) rank - 1; i >= 0; i--)
    {
      if (dims[i] != 1 && strides[i] != dense)
        return FALSE;
      dense = gantry_dim_multiply (dense, dims[i]);
    }
  return TRUE;
}

gboolean
gantry_torch_is_contiguous (TorchImport *import, const TorchJson *meta)
{
  GantryDim dims[GANTRY_MAX_RANK], strides[GANTRY_MAX_RANK];
  guint rank, n_strides;

  if (!read_sizes (import, meta, "sizes", dims, &rank, NULL) || !read_sizes (import, meta, "strides", strides, &n_strides, NULL) || rank != n_strides)
    return TRUE;
  for (guint i = 0; i < rank; i++)
    if (dims[i] < 0 || strides[i] < 0)
      return TRUE;
  return dense_strides (rank, dims, strides);
}

/* The files of weights */

static void
free_payload (gpointer data)
{
  TorchPayload *payload = data;

  g_free (payload->entry);
  g_free (payload);
}

static gboolean
is_boolean (const TorchJson *node, gboolean value)
{
  return node != NULL && node->kind == TORCH_JSON_BOOLEAN && (node->integer != 0) == value;
}

static gboolean
read_config (TorchImport *import, const char *folder, const char *name, GError **error)
{
  g_autofree char *entry = g_strconcat (folder, name, NULL), *full = g_strconcat (import->prefix, entry, NULL);
  const TorchJson *config, *payloads;

  if (gantry_zip_find (import->zip, full) < 0)
    return TRUE;
  config = gantry_torch_json_parse (import, entry, error);
  payloads = gantry_torch_json_object (config, "config");
  if (config == NULL)
    return FALSE;
  if (payloads == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: no list of weights; the archive is damaged", full);
      return FALSE;
    }
  for (guint i = 0; i < payloads->n; i++)
    {
      const TorchJson *node = &payloads->values[i];
      const TorchJson *object = node->kind == TORCH_JSON_OBJECT ? node : NULL;
      const char *path = gantry_torch_json_string (object, "path_name");
      TorchPayload *payload;

      if (path == NULL)
        continue;
      payload = g_new0 (TorchPayload, 1);
      payload->entry = g_strconcat (import->prefix, folder, path, NULL);
      payload->meta = gantry_torch_json_object (object, "tensor_meta");
      payload->pickled = is_boolean (gantry_torch_json_member (object, "use_pickle"), TRUE);
      payload->frozen = is_boolean (gantry_torch_json_member (payload->meta, "requires_grad"), FALSE);
      g_hash_table_insert (import->payloads, g_strdup (node->key), payload);
    }
  return TRUE;
}

gboolean
gantry_torch_read_payloads (TorchImport *import, GError **error)
{
  import->payloads = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_payload);
  return read_config (import, "data/weights/", "model_weights_config.json", error)
         && read_config (import, "data/constants/", "model_constants_config.json", error);
}

/* Booleans are one byte, 0 or 1; a file may have others. */
static gboolean
are_booleans (const GantryType *type, GBytes *bytes)
{
  gsize n;
  const guint8 *data = g_bytes_get_data (bytes, &n);

  for (gsize i = 0; i < n && type->element == GANTRY_BOOL; i++)
    if (data[i] > 1)
      return FALSE;
  return TRUE;
}

/* A tensor may name elements of its storage many times: what little of a file does so is still not more than this. */
#define MOST_REPEATED_BYTES ((gint64) 256 << 20)

/* Elements of a storage in the order of their indices. */
static GantryLiteral *
gather (const GantryType *type, const GantryDim *strides, gint64 offset, GBytes *bytes, GError **error)
{
  gsize size = gantry_element_size (type->element);
  const guint8 *source = g_bytes_get_data (bytes, NULL);
  gint64 n = gantry_type_elements (type), index[GANTRY_MAX_RANK] = { 0 };
  guint8 *data;
  GantryLiteral *literal;

  if (gantry_type_bytes (type) > MAX ((gint64) g_bytes_get_size (bytes), MOST_REPEATED_BYTES))
    {
      gantry_fail (error, GANTRY_ERROR_TOO_LARGE,
                   "it repeats elements of its %" G_GSIZE_FORMAT " bytes to %" G_GINT64_FORMAT "; at most %" G_GINT64_FORMAT " are taken",
                   g_bytes_get_size (bytes), gantry_type_bytes (type), MOST_REPEATED_BYTES);
      return NULL;
    }
  literal = gantry_literal_try_new_zeroed (type, &data, error);
  for (gint64 i = 0; literal != NULL && i < n; i++)
    {
      gint64 at = offset;

      for (guint k = 0; k < type->rank; k++)
        at += index[k] * strides[k];
      memcpy (data + (gsize) i * size, source + (gsize) at * size, size);
      if (type->element == GANTRY_BOOL)
        data[i] = data[i] != 0;
      for (gint k = (gint) type->rank - 1; k >= 0 && ++index[k] == type->dims[k]; k--)
        index[k] = 0;
    }
  return literal;
}

/* The last element that is read, or -1 for none; G_MAXINT64 where that is nonsense. */
static gint64
last_element (const GantryType *type, const GantryDim *strides, gint64 offset)
{
  gint64 last = offset;

  if (gantry_type_elements (type) == 0)
    return -1;
  for (guint i = 0; i < type->rank; i++)
    {
      if (strides[i] < 0)
        return G_MAXINT64;
      last = gantry_dim_add (last, gantry_dim_multiply (type->dims[i] - 1, strides[i]));
    }
  return last;
}

static GantryLiteral *
make_literal (TorchImport *import, const TorchPayload *payload, guint32 type_id, const GantryDim *strides, gint64 offset, GError **error)
{
  const GantryType *type = gantry_context_type (import->context, type_id);
  gint64 index = gantry_zip_find (import->zip, payload->entry), last = last_element (type, strides, offset);
  gsize size = gantry_element_size (type->element);
  g_autoptr (GBytes) bytes = NULL, part = NULL;
  guint64 place = 0;
  GantryLiteral *literal;

  if (index < 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the archive has no '%s'; it is damaged", payload->entry);
      return NULL;
    }
  bytes = gantry_zip_map (import->zip, (guint) index, &place, NULL);
  if (bytes == NULL)
    bytes = gantry_zip_read (import->zip, (guint) index, G_MAXSSIZE, error);
  if (bytes == NULL)
    return NULL;
  if (last >= (gint64) (g_bytes_get_size (bytes) / size))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TRUNCATED, "'%s' has %" G_GSIZE_FORMAT " bytes, which are too few for its sizes; the archive is damaged",
                   payload->entry, g_bytes_get_size (bytes));
      return NULL;
    }
  if (last < 0)
    return gantry_literal_try_new_zeroed (type, &(guint8 *){ NULL }, error);
  part = g_bytes_new_from_bytes (bytes, (gsize) offset * size, (gsize) MIN (gantry_type_bytes (type), (last - offset + 1) * (gint64) size));
  if (!dense_strides (type->rank, type->dims, strides) || !are_booleans (type, part))
    return gather (type, strides, offset, bytes, error);
  literal = gantry_literal_new (type, part, FALSE, error);
  if (literal != NULL && place != 0 && import->path != NULL)
    {
      literal->source_path = g_strdup (import->path);
      literal->source_offset = place + (guint64) offset * size;
      literal->mapped = TRUE;
    }
  return literal;
}

/* What two weights have in common that are the same tensor under two names. */
static char *
literal_key (const TorchPayload *payload, guint32 type, const GantryDim *strides, guint rank, gint64 offset)
{
  GString *key = g_string_new (payload->entry);

  g_string_append_printf (key, " %u %" G_GINT64_FORMAT, type, offset);
  for (guint i = 0; i < rank; i++)
    g_string_append_printf (key, " %" G_GINT64_FORMAT, strides[i]);
  return g_string_free (key, FALSE);
}

static gboolean
check_payload (const TorchPayload *payload, const GantryType *type, guint n_strides, GError **error)
{
  if (payload->pickled)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "'%s' is pickled, which is not read: a pickle is a program", payload->entry);
  else if (!gantry_type_is_static (type) || n_strides != type->rank)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "its sizes and strides in the archive do not fit; it is damaged");
  else if (!gantry_element_is_compiled ((GantryElementType) type->element))
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "its element type %s is not read", gantry_element_name ((GantryElementType) type->element));
  else
    return TRUE;
  return FALSE;
}

static guint32
add_constant (TorchImport *import, const char *name, GantryLiteral *literal, guint32 type, gboolean is_buffer)
{
  GantryAttrList *list = gantry_attr_list_new (import->context);

  gantry_attr_list_set_literal (list, "value", gantry_context_add_literal (import->context, literal));
  if (is_buffer)
    gantry_attr_list_set_string (list, "role", "buffer");
  gantry_torch_set_plain_place (import, "weight", name);
  gantry_builder_set_name (import->b, gantry_context_intern (import->context, name));
  return gantry_builder_add_typed (import->b, GANTRY_OP_CONSTANT, NULL, 0, gantry_attr_list_end (list), type);
}

guint32
gantry_torch_weight (TorchImport *import, const char *name, gboolean is_buffer, GError **error)
{
  const TorchPayload *payload = g_hash_table_lookup (import->payloads, name);
  g_autoptr (GantryLiteral) literal = NULL;
  g_autofree char *key = NULL;
  GantryDim strides[GANTRY_MAX_RANK];
  gint64 offset = 0;
  guint32 type, id;
  guint rank;

  if (payload == NULL)
    {
      g_autofree char *pickled = g_strconcat (import->prefix, "data/weights/model.pt", NULL);

      if (gantry_zip_find (import->zip, pickled) >= 0)
        g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
                     "weight '%s': it is in '%s', which is pickled, as torch before 2.9 saved weights, and a pickle is a program, which is "
                     "not run; load it with torch.export.load and save it again by torch 2.9 or newer",
                     name, pickled);
      else
        g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "weight '%s' is not in the archive; it is damaged", name);
      return 0;
    }
  type = payload->pickled ? 0 : gantry_torch_type (import, payload->meta, error);
  if (!payload->pickled && (type == 0 || !read_sizes (import, payload->meta, "strides", strides, &rank, error)))
    return 0;
  offset = MAX (gantry_torch_size (import, gantry_torch_json_object (payload->meta, "storage_offset")), 0);
  if (!check_payload (payload, gantry_context_type (import->context, type), payload->pickled ? 0 : rank, error))
    {
      gantry_error_prefix (error, "weight '%s': ", name);
      return 0;
    }
  key = literal_key (payload, type, strides, rank, offset);
  id = GPOINTER_TO_UINT (g_hash_table_lookup (import->literals, key));
  if (id != 0)
    return id;
  literal = make_literal (import, payload, type, strides, offset, error);
  if (literal == NULL)
    {
      gantry_error_prefix (error, "weight '%s': ", name);
      return 0;
    }
  id = add_constant (import, name, literal, type, is_buffer || payload->frozen);
  g_hash_table_insert (import->literals, g_steal_pointer (&key), GUINT_TO_POINTER (id));
  return id;
}
