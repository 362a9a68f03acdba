/* SPDX-License-Identifier: Apache-2.0 */
/* A TensorProto as a literal. Data that lie in a file as they are needed (raw_data, packed floats
 * and doubles, external data) stay there, mapped; numbers in variable-length form are decoded.
 * Every length is checked against the shape, and the shape against the limits of a type. */
#include "core/base/fail.h"
#include "core/frontends/onnx/onnx-reader-private.h"
#include "core/frontends/onnx/onnx.h"
#include <string.h>

G_STATIC_ASSERT (G_BYTE_ORDER == G_LITTLE_ENDIAN); /* mapped data are used as they lie */

enum
{
  FIELD_FLOAT = 4,
  FIELD_INT32 = 5,
  FIELD_INT64 = 7,
  FIELD_RAW = 9,
  FIELD_DOUBLE = 10,
  FIELD_UINT64 = 11,
};

/* How an element type is written and which field holds it when raw_data does not. */
typedef struct
{
  GantryElementType element;
  guint field;
  gint64 low, high; /* what a number of that field may be */
} DataType;

#define TYPES 25
static const DataType data_types[TYPES] = {
  [1] = { GANTRY_F32, FIELD_FLOAT, 0, 0 },
  [2] = { GANTRY_U8, FIELD_INT32, 0, G_MAXUINT8 },
  [3] = { GANTRY_I8, FIELD_INT32, G_MININT8, G_MAXINT8 },
  [4] = { GANTRY_U16, FIELD_INT32, 0, G_MAXUINT16 },
  [5] = { GANTRY_I16, FIELD_INT32, G_MININT16, G_MAXINT16 },
  [6] = { GANTRY_I32, FIELD_INT32, G_MININT32, G_MAXINT32 },
  [7] = { GANTRY_I64, FIELD_INT64, G_MININT64, G_MAXINT64 },
  [8] = { GANTRY_STRING, 0, 0, 0 },
  [9] = { GANTRY_BOOL, FIELD_INT32, 0, 1 },
  [10] = { GANTRY_F16, FIELD_INT32, 0, G_MAXUINT16 }, /* the bits */
  [11] = { GANTRY_F64, FIELD_DOUBLE, 0, 0 },
  [12] = { GANTRY_U32, FIELD_UINT64, 0, G_MAXUINT32 },
  [13] = { GANTRY_U64, FIELD_UINT64, G_MININT64, G_MAXINT64 },
  [14] = { GANTRY_C64, 0, 0, 0 },
  [15] = { GANTRY_C128, 0, 0, 0 },
  [16] = { GANTRY_BF16, FIELD_INT32, 0, G_MAXUINT16 }, /* the bits */
  [17] = { GANTRY_F8E4M3FN, 0, 0, 0 },
  [18] = { GANTRY_ELEMENT_OTHER, 0, 0, 0 },
  [19] = { GANTRY_F8E5M2, 0, 0, 0 },
  [20] = { GANTRY_ELEMENT_OTHER, 0, 0, 0 },
  [21] = { GANTRY_U4, 0, 0, 0 },
  [22] = { GANTRY_I4, 0, 0, 0 },
  [23] = { GANTRY_ELEMENT_OTHER, 0, 0, 0 },
  [24] = { GANTRY_ELEMENT_OTHER, 0, 0, 0 },
};
#define NEWEST_KNOWN_TYPE 32 /* types of newer ONNX versions: opened, not compiled */

GantryElementType
gantry_onnx_element (gint64 data_type)
{
  if (data_type > 0 && data_type < TYPES)
    return data_types[data_type].element;
  return data_type >= TYPES && data_type <= NEWEST_KNOWN_TYPE ? GANTRY_ELEMENT_OTHER : GANTRY_ELEMENT_NONE;
}

guint32
gantry_onnx_tensor_type (GantryContext *context, const Onnx__TensorProto *tensor, GError **error)
{
  GantryElementType element = gantry_onnx_element (tensor->data_type);

  if (element == GANTRY_ELEMENT_NONE)
    {
      gantry_fail (error, GANTRY_ERROR_INVALID, "data_type %d is no element type of ONNX; the file is damaged", tensor->data_type);
      return 0;
    }
  if (tensor->n_dims > GANTRY_MAX_RANK)
    {
      gantry_fail (error, GANTRY_ERROR_TOO_LARGE, "it has %zu dimensions; Gantry takes up to %d", tensor->n_dims, GANTRY_MAX_RANK);
      return 0;
    }
  for (gsize i = 0; i < tensor->n_dims; i++)
    if (tensor->dims[i] < 0)
      {
        gantry_fail (error, GANTRY_ERROR_INVALID, "dimension %zu is %" G_GINT64_FORMAT "; a size is 0 or more", i, tensor->dims[i]);
        return 0;
      }
  if (!gantry_dims_fit ((guint) tensor->n_dims, tensor->dims, NULL))
    {
      gantry_fail (error, GANTRY_ERROR_TOO_LARGE, "its dimensions multiply to more than any memory holds; the file is damaged");
      return 0;
    }
  return gantry_context_tensor (context, element, (guint) tensor->n_dims, tensor->dims);
}

/* Finding the data */

typedef struct
{
  GBytes *owner;    /* (transfer full): the mapping that holds the data */
  const char *path; /* (nullable) */
  guint64 offset;
  guint64 length;
} Place;

static gboolean
find_span (const Onnx__TensorProto *tensor, guint field, const Onnx__DataSpan **span, GError **error)
{
  *span = NULL;
  for (gsize i = 0; i < tensor->n_spans; i++)
    if (tensor->spans[i]->field == field)
      {
        if (*span != NULL)
          return gantry_fail (error, GANTRY_ERROR_INVALID,
                              "its data lie in several pieces, at bytes %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT
                              "; save the model again with its data in one piece",
                              (*span)->offset, tensor->spans[i]->offset);
        *span = tensor->spans[i];
      }
  return TRUE;
}

static gboolean
parse_number (const char *key, const char *text, guint64 *value, GError **error)
{
  g_autoptr (GError) local = NULL;

  if (g_ascii_string_to_unsigned (text, 10, 0, G_MAXINT64, value, &local))
    return TRUE;
  return gantry_fail (error, GANTRY_ERROR_INVALID, "its external %s '%.64s' is not a number of bytes", key, text);
}

static gboolean
find_external (GantryOnnxFile *file, const Onnx__TensorProto *tensor, guint64 expected, Place *place, GError **error)
{
  const char *location = NULL;
  gboolean has_length = FALSE;
  GBytes *bytes;
  gsize size;

  *place = (Place){ 0 };
  for (gsize i = 0; i < tensor->n_external_data; i++)
    {
      const char *key = tensor->external_data[i]->key, *value = tensor->external_data[i]->value;

      if (key == NULL || value == NULL)
        continue;
      if (strcmp (key, "location") == 0)
        location = value;
      else if (strcmp (key, "offset") == 0 && !parse_number (key, value, &place->offset, error))
        return FALSE;
      else if (strcmp (key, "length") == 0)
        {
          if (!parse_number (key, value, &place->length, error))
            return FALSE;
          has_length = TRUE;
        }
    }
  if (location == NULL)
    return gantry_fail (error, GANTRY_ERROR_INVALID, "its data are external, but no file is named; the model is damaged");
  bytes = gantry_onnx_file_external (file, location, error);
  if (bytes == NULL)
    return FALSE;
  size = g_bytes_get_size (bytes);
  if (!has_length)
    place->length = expected;
  if (place->offset > size || place->length > size - place->offset)
    return gantry_fail (error, GANTRY_ERROR_TRUNCATED,
                        "its data are bytes %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT " of '%s', which has %" G_GSIZE_FORMAT
                        " bytes; the data file is cut short or belongs to another model",
                        place->offset, place->offset + place->length, location, size);
  place->owner = g_bytes_ref (bytes);
  place->path = location;
  return TRUE;
}

/* Making the literal */

static gboolean
check_length (GantryContext *context, guint32 type, guint64 expected, const char *field, guint64 length, GError **error)
{
  g_autofree char *text = NULL;

  if (length == expected)
    return TRUE;
  text = gantry_context_type_text (context, type);
  return gantry_fail (error, GANTRY_ERROR_INVALID, "%s has %" G_GUINT64_FORMAT " bytes, but its type %s needs %" G_GUINT64_FORMAT "; the file is damaged",
                      field, length, text, expected);
}

/* Booleans are one byte, 0 or 1; a file may have others, and then they are copied. */
static GantryLiteral *
mend_booleans (GantryLiteral *literal, GError **error)
{
  GantryLiteral *mended;
  guint8 *data;
  gsize i = 0;

  while (i < literal->size && literal->data[i] <= 1)
    i++;
  if (i == literal->size)
    return literal;
  mended = gantry_literal_try_new_zeroed (literal->type, &data, error);
  for (i = 0; mended != NULL && i < literal->size; i++)
    data[i] = literal->data[i] != 0;
  gantry_literal_unref (literal);
  return mended;
}

static GantryLiteral *
map_literal (GantryOnnxFile *file, GantryContext *context, guint32 type, const Place *place, GError **error)
{
  const GantryType *of = gantry_context_type (context, type);
  g_autoptr (GBytes) slice = g_bytes_new_from_bytes (place->owner, place->offset, place->length);
  GantryLiteral *literal = gantry_literal_new (of, slice, FALSE, error);

  if (literal == NULL)
    return NULL;
  if (place->path != NULL)
    literal->source_path = gantry_onnx_file_external_path (file, place->path);
  else
    literal->source_path = g_strdup (file->path);
  literal->source_offset = place->offset;
  literal->mapped = literal->source_path != NULL;
  return of->element == GANTRY_BOOL ? mend_booleans (literal, error) : literal;
}

/* The numbers of one typed field, wherever they are. */
typedef struct
{
  const Onnx__TensorProto *tensor;
  guint field;
  gsize n;              /* in the message */
  const guint8 *packed; /* (nullable): or in the file, each of variable length */
  guint64 packed_size;
} Numbers;

static gsize
count_in_message (const Onnx__TensorProto *tensor, guint field)
{
  switch (field)
    {
    case FIELD_FLOAT: return tensor->n_float_data;
    case FIELD_INT32: return tensor->n_int32_data;
    case FIELD_INT64: return tensor->n_int64_data;
    case FIELD_DOUBLE: return tensor->n_double_data;
    case FIELD_UINT64: return tensor->n_uint64_data;
    default: return 0;
    }
}

static const char *
field_name (guint field)
{
  const ProtobufCFieldDescriptor *descriptor = protobuf_c_message_descriptor_get_field (&onnx__tensor_proto__descriptor, field);

  return descriptor != NULL ? descriptor->name : "data";
}

static gboolean
next_number (const Numbers *numbers, gsize i, guint64 *position, gint64 *value)
{
  guint64 bits;

  if (numbers->packed != NULL)
    {
      if (!gantry_wire_varint (numbers->packed, numbers->packed_size, position, &bits))
        return FALSE;
      *value = numbers->field == FIELD_INT32 ? (gint32) bits : (gint64) bits;
      return TRUE;
    }
  if (i >= numbers->n)
    return FALSE;
  switch (numbers->field)
    {
    case FIELD_INT32: *value = numbers->tensor->int32_data[i]; break;
    case FIELD_INT64: *value = numbers->tensor->int64_data[i]; break;
    default: *value = (gint64) numbers->tensor->uint64_data[i]; break;
    }
  return TRUE;
}

static GantryLiteral *
decode_numbers (GantryContext *context, guint32 type, const DataType *how, const Numbers *numbers, GError **error)
{
  const GantryType *of = gantry_context_type (context, type);
  gsize n = (gsize) gantry_type_elements (of), size = gantry_element_size (of->element);
  g_autoptr (GantryLiteral) literal = NULL;
  guint64 position = 0;
  guint8 *data;
  gint64 value;

  /* Each number takes a byte at least: so the file bounds what is allocated. */
  if (n > MAX (numbers->n, numbers->packed_size))
    {
      check_length (context, type, n * size, field_name (numbers->field), MAX (numbers->n, numbers->packed_size) * size, error);
      return NULL;
    }
  literal = gantry_literal_try_new_zeroed (of, &data, error);
  if (literal == NULL)
    return NULL;
  for (gsize i = 0; i < n; i++)
    {
      if (!next_number (numbers, i, &position, &value))
        {
          gantry_fail (error, GANTRY_ERROR_INVALID, "%s ends after %zu of %zu numbers; the file is damaged", field_name (numbers->field), i, n);
          return NULL;
        }
      if (value < how->low || value > how->high)
        {
          gantry_fail (error, GANTRY_ERROR_INVALID, "%s[%zu] is %" G_GINT64_FORMAT ", which is no %s; the file is damaged", field_name (numbers->field), i,
                       value, gantry_element_name (of->element));
          return NULL;
        }
      memcpy (data + i * size, &value, size);
    }
  if (numbers->packed != NULL ? position != numbers->packed_size : numbers->n != n)
    {
      gantry_fail (error, GANTRY_ERROR_INVALID, "%s has more than the %zu numbers of its shape; the file is damaged", field_name (numbers->field), n);
      return NULL;
    }
  return g_steal_pointer (&literal);
}

/* Floats and doubles lie in the file as in memory. */
static GantryLiteral *
copy_floats (GantryContext *context, guint32 type, const Onnx__TensorProto *tensor, guint field, GError **error)
{
  const GantryType *of = gantry_context_type (context, type);
  gsize n = count_in_message (tensor, field), size = gantry_element_size (of->element);
  GantryLiteral *literal;
  guint8 *data;

  if (!check_length (context, type, (guint64) gantry_type_bytes (of), field_name (field), n * size, error))
    return NULL;
  literal = gantry_literal_try_new_zeroed (of, &data, error);
  if (literal != NULL && n > 0)
    memcpy (data, field == FIELD_FLOAT ? (gconstpointer) tensor->float_data : tensor->double_data, n * size);
  return literal;
}

static GantryLiteral *
typed_literal (GantryOnnxFile *file, GantryContext *context, guint32 type, const Onnx__TensorProto *tensor, GError **error)
{
  const DataType *how = &data_types[tensor->data_type];
  Numbers numbers = { .tensor = tensor, .field = how->field, .n = count_in_message (tensor, how->field) };
  guint64 expected = (guint64) gantry_type_bytes (gantry_context_type (context, type));
  const Onnx__DataSpan *span;

  if (!find_span (tensor, how->field, &span, error))
    return NULL;
  if (span != NULL && numbers.n > 0)
    {
      gantry_fail (error, GANTRY_ERROR_INVALID, "its %s lie in several pieces; save the model again with its data in one piece", field_name (how->field));
      return NULL;
    }
  if (how->field != FIELD_FLOAT && how->field != FIELD_DOUBLE)
    {
      if (span != NULL)
        {
          numbers.packed = (const guint8 *) g_bytes_get_data (file->bytes, NULL) + span->offset;
          numbers.packed_size = span->length;
        }
      return decode_numbers (context, type, how, &numbers, error);
    }
  if (span != NULL)
    {
      Place place = { .owner = file->bytes, .offset = span->offset, .length = span->length };

      if (!check_length (context, type, expected, field_name (how->field), span->length, error))
        return NULL;
      return map_literal (file, context, type, &place, error);
    }
  return copy_floats (context, type, tensor, how->field, error);
}

static GantryLiteral *
external_literal (GantryOnnxFile *file, GantryContext *context, guint32 type, const Onnx__TensorProto *tensor, GError **error)
{
  guint64 expected = (guint64) gantry_type_bytes (gantry_context_type (context, type));
  GantryLiteral *literal = NULL;
  Place place;

  if (!find_external (file, tensor, expected, &place, error))
    return NULL;
  if (check_length (context, type, expected, "its external data", place.length, error))
    literal = map_literal (file, context, type, &place, error);
  g_bytes_unref (place.owner);
  return literal;
}

gboolean
gantry_onnx_tensor_literal (GantryOnnxFile *file, GantryContext *context, const Onnx__TensorProto *tensor, GantryLiteral **literal, GError **error)
{
  guint32 type = gantry_onnx_tensor_type (context, tensor, error);
  const GantryType *of = gantry_context_type (context, type);
  const Onnx__DataSpan *raw;

  *literal = NULL;
  if (type == 0)
    return FALSE;
  if (tensor->segment != NULL)
    return gantry_fail (error, GANTRY_ERROR_UNSUPPORTED, "it is a segment of a larger tensor, which no exporter writes any more");
  if (!gantry_element_is_compiled (of->element))
    return TRUE;
  if (gantry_type_bytes (of) < 0)
    return gantry_fail (error, GANTRY_ERROR_TOO_LARGE, "its dimensions multiply to more than any memory holds; the file is damaged");
  if (tensor->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
    *literal = external_literal (file, context, type, tensor, error);
  else if (!find_span (tensor, FIELD_RAW, &raw, error))
    return FALSE;
  else if (raw == NULL)
    *literal = typed_literal (file, context, type, tensor, error);
  else if (check_length (context, type, (guint64) gantry_type_bytes (of), "raw_data", raw->length, error))
    {
      Place place = { .owner = file->bytes, .offset = raw->offset, .length = raw->length };

      *literal = map_literal (file, context, type, &place, error);
    }
  return *literal != NULL;
}

GantryLiteral *
gantry_onnx_read_tensor (GantryContext *context, const char *path, char **name, GError **error)
{
  g_autoptr (GantryOnnxFile) file = NULL;
  GantryLiteral *literal = NULL;

  file = gantry_onnx_file_open (path, &onnx__tensor_proto__descriptor, NULL, error);
  if (file == NULL)
    return NULL;
  if (gantry_onnx_tensor_literal (file, context, file->tensor, &literal, error) && literal == NULL)
    gantry_fail (error, GANTRY_ERROR_UNSUPPORTED, "element type %s is not compiled", gantry_element_name (gantry_onnx_element (file->tensor->data_type)));
  if (literal == NULL)
    {
      gantry_error_prefix (error, "%s: ", path);
      return NULL;
    }
  if (name != NULL)
    *name = g_strdup (file->tensor->name != NULL ? file->tensor->name : "");
  return literal;
}
