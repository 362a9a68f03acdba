/* SPDX-License-Identifier: Apache-2.0 */
/* Reads tensors from TensorProto, numpy and plain files; writes numpy files (format 1.0). */
#include "core/compiler/tensor-file.h"
#include "core/base/output.h"
#include "core/frontends/onnx/onnx.h"
#include <math.h>
#include <string.h>

#define NPY_MAGIC "\x93NUMPY"
#define NPY_HEADER_LIMIT 65536u

static const struct
{
  const char *code;
  GantryElementType element;
} npy_types[] = {
  { "<f8", GANTRY_F64 }, { "<f4", GANTRY_F32 },  { "<f2", GANTRY_F16 },  { "<i8", GANTRY_I64 },  { "<i4", GANTRY_I32 },
  { "<i2", GANTRY_I16 }, { "|i1", GANTRY_I8 },   { "<u8", GANTRY_U64 },  { "<u4", GANTRY_U32 },  { "<u2", GANTRY_U16 },
  { "|u1", GANTRY_U8 },  { "|b1", GANTRY_BOOL }, { "|V2", GANTRY_BF16 }, { "<V2", GANTRY_BF16 },
};

static gboolean
bad (GError **error, const char *path, const char *why)
{
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: not a numpy file that can be read: %s", path, why);
  return FALSE;
}

/* The header is a Python dictionary; the three keys are found by name, whatever their order. */
static gboolean
parse_npy_header (const char *path, const char *header, GantryElementType *element, guint *rank, GantryDim *dims, GError **error)
{
  const char *descr = strstr (header, "'descr':");
  const char *shape = strstr (header, "'shape':");

  *element = GANTRY_ELEMENT_NONE;
  *rank = 0;
  if (descr == NULL || shape == NULL || strstr (header, "'fortran_order': False") == NULL)
    return bad (error, path, "it has to be in C order and say its type and shape");
  descr = strchr (descr + strlen ("'descr':"), '\'');
  for (guint i = 0; descr != NULL && i < G_N_ELEMENTS (npy_types); i++)
    if (strncmp (descr + 1, npy_types[i].code, strlen (npy_types[i].code)) == 0)
      *element = npy_types[i].element;
  if (*element == GANTRY_ELEMENT_NONE)
    return bad (error, path, "its element type is not known");
  shape = strchr (shape, '(');
  for (shape = shape != NULL ? shape + 1 : ""; *shape != '\0' && *shape != ')';)
    {
      char *end;
      gint64 size = g_ascii_strtoll (shape, &end, 10);

      if (end == shape || size < 0 || *rank == GANTRY_MAX_RANK)
        return bad (error, path, "its shape is damaged or has too many dimensions");
      dims[(*rank)++] = size;
      shape = end + strspn (end, ", ");
    }
  return gantry_dims_fit (*rank, dims, NULL) || bad (error, path, "its shape is larger than any memory");
}

/* @literal as bf16 where it is f32 and each of its values is one of bf16, else unchanged: numpy has no bf16, so that
 * such values are written as f32. (transfer full) */
static GantryLiteral *
as_bf16 (GantryContext *context, GantryLiteral *literal, GError **error)
{
  gint64 n = gantry_type_elements (literal->type);
  GantryLiteral *narrow;
  guint8 *data;

  if (literal->type->element != GANTRY_F32)
    return literal;
  narrow = gantry_literal_try_new_zeroed (gantry_context_type (context, gantry_context_tensor (context, GANTRY_BF16, literal->type->rank, literal->type->dims)),
                                          &data, error);
  for (gint64 i = 0; narrow != NULL && i < n; i++)
    {
      double value = gantry_literal_get_double (literal, i);

      gantry_element_write_double (GANTRY_BF16, data + 2 * i, value);
      if (gantry_element_read_double (GANTRY_BF16, data + 2 * i) == value || isnan (value))
        continue;
      gantry_literal_unref (narrow);
      return literal;
    }
  gantry_literal_unref (literal);
  return narrow;
}

static GantryLiteral *
read_npy (GantryContext *context, const char *path, GBytes *bytes, GError **error)
{
  gsize size, start, length;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  g_autofree char *header = NULL;
  g_autoptr (GBytes) values = NULL;
  GantryElementType element;
  GantryDim dims[GANTRY_MAX_RANK];
  GantryLiteral *literal;
  guint rank;

  if (size < 12)
    return bad (error, path, "it ends within the header"), NULL;
  start = data[6] == 1 ? 10 : 12;
  length = data[8] | (gsize) data[9] << 8;
  if (data[6] != 1)
    length |= (gsize) data[10] << 16 | (gsize) data[11] << 24;
  if (length > NPY_HEADER_LIMIT || start + length > size)
    return bad (error, path, "it ends within the header"), NULL;
  header = g_strndup ((const char *) data + start, length);
  if (!parse_npy_header (path, header, &element, &rank, dims, error))
    return NULL;
  values = g_bytes_new_from_bytes (bytes, start + length, size - start - length);
  literal = gantry_literal_new (gantry_context_type (context, gantry_context_tensor (context, element, rank, dims)), values, FALSE, error);
  if (literal == NULL)
    gantry_error_prefix (error, "%s: ", path);
  else
    literal->mapped = TRUE;
  return literal;
}

GantryLiteral *
gantry_tensor_file_read (GantryContext *context, const char *path, const GantryType *type, GError **error)
{
  g_autoptr (GMappedFile) file = NULL;
  g_autoptr (GBytes) bytes = NULL;
  GantryLiteral *literal;

  if (g_str_has_suffix (path, ".pb"))
    return gantry_onnx_read_tensor (context, path, NULL, error);
  file = gantry_file_map (path, error);
  if (file == NULL)
    return NULL;
  bytes = g_mapped_file_get_bytes (file);
  if (g_bytes_get_size (bytes) >= 6 && memcmp (g_bytes_get_data (bytes, NULL), NPY_MAGIC, 6) == 0)
    {
      literal = read_npy (context, path, bytes, error);
      return literal != NULL && type != NULL && type->element == GANTRY_BF16 ? as_bf16 (context, literal, error) : literal;
    }
  if (type == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: neither a TensorProto (.pb) nor a numpy file", path);
      return NULL;
    }
  literal = gantry_literal_new (type, bytes, FALSE, error);
  if (literal == NULL)
    gantry_error_prefix (error, "%s: ", path);
  else
    literal->mapped = TRUE;
  return literal;
}

/* (transfer full) */
static GString *
npy_header (const GantryType *type)
{
  /* numpy has no bf16; every value of it is one of f32. */
  GantryElementType element = type->element == GANTRY_BF16 ? GANTRY_F32 : (GantryElementType) type->element;
  const char *code = NULL;
  GString *out = g_string_new (NULL);
  guint8 start[10] = "\x93NUMPY\x01";

  for (guint i = 0; i < G_N_ELEMENTS (npy_types) && code == NULL; i++)
    if (npy_types[i].element == element)
      code = npy_types[i].code;
  g_assert (code != NULL);
  g_string_append_printf (out, "{'descr': '%s', 'fortran_order': False, 'shape': (", code);
  for (guint i = 0; i < type->rank; i++)
    g_string_append_printf (out, "%" G_GINT64_FORMAT ",", type->dims[i]);
  g_string_append (out, "), }");
  while ((sizeof start + out->len + 1) % 64 != 0)
    g_string_append_c (out, ' ');
  g_string_append_c (out, '\n');
  start[8] = (guint8) (out->len & 255);
  start[9] = (guint8) (out->len >> 8);
  return g_string_prepend_len (out, (const char *) start, sizeof start);
}

/* The values go from where they lie: a splat's one element over and over. */
/* bf16 as f32: the same bits with 16 zeros after them. */
static gboolean
write_widened (GOutputStream *stream, const GantryLiteral *literal, GError **error)
{
  gint64 n = gantry_type_elements (literal->type);
  float block[1024];

  for (gint64 done = 0; done < n; done += G_N_ELEMENTS (block))
    {
      gsize count = (gsize) MIN (n - done, (gint64) G_N_ELEMENTS (block));

      for (gsize i = 0; i < count; i++)
        block[i] = (float) gantry_literal_get_double (literal, done + (gint64) i);
      if (!g_output_stream_write_all (stream, block, count * sizeof *block, NULL, NULL, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
write_values (GOutputStream *stream, const GantryLiteral *literal, GError **error)
{
  gsize left = (gsize) gantry_type_bytes (literal->type);

  for (gsize n; left > 0; left -= n)
    {
      n = MIN (left, literal->size);
      if (!g_output_stream_write_all (stream, literal->data, n, NULL, NULL, error))
        return FALSE;
    }
  return TRUE;
}

GantryOutput *
gantry_tensor_file_begin_npy (const GantryLiteral *literal, const char *path, GantryReadFiles *read, GError **error)
{
  g_autoptr (GantryOutput) output = gantry_output_new (path, read, error);
  GOutputStream *stream;
  GString *header;
  gboolean written;

  if (output == NULL)
    return NULL;
  stream = gantry_output_stream (output);
  header = npy_header (literal->type);
  written = g_output_stream_write_all (stream, header->str, header->len, NULL, NULL, error)
            && (literal->type->element == GANTRY_BF16 ? write_widened (stream, literal, error) : write_values (stream, literal, error))
            && g_output_stream_flush (stream, NULL, error);
  g_string_free (header, TRUE);
  if (written)
    return g_steal_pointer (&output);
  gantry_output_finish (output, FALSE, error); /* names the file */
  return NULL;
}

gboolean
gantry_tensor_file_write_npy (const GantryLiteral *literal, const char *path, GError **error)
{
  g_autoptr (GantryOutput) output = gantry_tensor_file_begin_npy (literal, path, NULL, error);

  return output != NULL && gantry_output_finish (output, TRUE, error);
}
