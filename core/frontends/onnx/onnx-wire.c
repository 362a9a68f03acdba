/* SPDX-License-Identifier: Apache-2.0 */
/* The scanner: one loop over the fields of nested messages with an explicit stack, guided by the
 * descriptors that protoc-c made from onnx.proto. A message that overruns the file is entered all
 * the same, so that the error names the innermost field that is cut. */
#include "core/frontends/onnx/onnx-wire-private.h"
#include "onnx.pb-c.h"
#include <string.h>

#define MAX_FIELDS 24
#define PADDED_LENGTH 5 /* bytes of a message's length in the skeleton: filled in when it ends */

typedef struct
{
  const ProtobufCMessageDescriptor *descriptor;
  guint64 end;                /* in the file; may lie behind the file's end */
  guint length_position;      /* in the skeleton, of the PADDED_LENGTH bytes; unused for the root */
  gint field;                 /* in the parent's descriptor */
  guint32 index;              /* which of the parent's repeated ones */
  guint32 counts[MAX_FIELDS]; /* how often each field was met */
} Frame;

typedef struct
{
  const guint8 *data;
  guint64 size;
  guint64 position;
  guint64 field_start;
  GByteArray *out;
  guint n_frames;
  guint32 n_messages;
  Frame frames[GANTRY_ONNX_MAX_DEPTH];
} Scan;

/* Writing */

static void
put_varint (GByteArray *out, guint64 value)
{
  guint8 bytes[10];
  guint n = 0;

  for (; value >= 0x80; value >>= 7)
    bytes[n++] = (guint8) (value | 0x80);
  bytes[n++] = (guint8) value;
  g_byte_array_append (out, bytes, n);
}

static void
put_tag (GByteArray *out, guint32 field, guint wire)
{
  put_varint (out, (guint64) field << 3 | wire);
}

static void
set_padded_length (GByteArray *out, guint position)
{
  guint32 length = out->len - position - PADDED_LENGTH;

  for (guint i = 0; i < PADDED_LENGTH; i++, length >>= 7)
    out->data[position + i] = (guint8) ((length & 0x7f) | (i + 1 < PADDED_LENGTH ? 0x80 : 0));
}

/* Errors */

/* "graph.node[3].attribute[0].t", for the frames below @n_frames and then @field of the last one.
 * */
static char *
field_path (const Scan *scan, const ProtobufCFieldDescriptor *field)
{
  GString *path = g_string_new (NULL);

  for (guint i = 1; i < scan->n_frames; i++)
    {
      const ProtobufCFieldDescriptor *of = &scan->frames[i - 1].descriptor->fields[scan->frames[i].field];

      g_string_append_printf (path, "%s%s", i > 1 ? "." : "", of->name);
      if (of->label == PROTOBUF_C_LABEL_REPEATED)
        g_string_append_printf (path, "[%u]", scan->frames[i].index);
    }
  if (field != NULL)
    {
      const Frame *frame = &scan->frames[scan->n_frames - 1];

      g_string_append_printf (path, "%s%s", path->len > 0 ? "." : "", field->name);
      if (field->label == PROTOBUF_C_LABEL_REPEATED)
        g_string_append_printf (path, "[%u]", frame->counts[field - frame->descriptor->fields]);
    }
  if (path->len == 0)
    g_string_append (path, "top level");
  return g_string_free (path, FALSE);
}

static gboolean fail (const Scan *scan, const ProtobufCFieldDescriptor *field, GError **error, GantryError code, const char *format, ...) G_GNUC_PRINTF (5, 6);

static gboolean
fail (const Scan *scan, const ProtobufCFieldDescriptor *field, GError **error, GantryError code, const char *format, ...)
{
  g_autofree char *path = field_path (scan, field);
  g_autofree char *what = NULL;
  va_list args;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, GANTRY_ERROR, code, "%s: %s", path, what);
  return FALSE;
}

static gboolean
fail_cut (const Scan *scan, const ProtobufCFieldDescriptor *field, GError **error)
{
  return fail (scan, field, error, GANTRY_ERROR_TRUNCATED,
               "the file ends at byte %" G_GUINT64_FORMAT " in the middle of a field that begins at byte %" G_GUINT64_FORMAT
               "; it is cut short, copy or download it again",
               scan->size, scan->field_start);
}

/* Reading */

/* Reads a number of the frame's message: what cannot be read is cut, damaged, or runs into the next
 * message. */
static gboolean
read_varint (Scan *scan, const ProtobufCFieldDescriptor *field, guint64 *value, GError **error)
{
  guint64 start = scan->position;

  if (gantry_wire_varint (scan->data, scan->size, &scan->position, value))
    return TRUE;
  if (scan->position >= scan->size && scan->size - start < 10)
    return fail_cut (scan, field, error);
  return fail (scan, field, error, GANTRY_ERROR_INVALID, "no number begins at byte %" G_GUINT64_FORMAT "; the file is damaged or is not an ONNX model", start);
}

/* @may_overrun: a message may reach past the end of the file: it is entered to find what is cut. */
static gboolean
read_length (Scan *scan, const ProtobufCFieldDescriptor *field, gboolean may_overrun, guint64 *length, GError **error)
{
  const Frame *frame = &scan->frames[scan->n_frames - 1];
  gboolean fits_message, fits_file;

  if (!read_varint (scan, field, length, error))
    return FALSE;
  fits_file = *length <= scan->size - scan->position;
  fits_message = scan->position <= frame->end && *length <= frame->end - scan->position;
  if (!fits_message && scan->n_frames > 1)
    return fail (scan, field, error, GANTRY_ERROR_INVALID,
                 "length %" G_GUINT64_FORMAT " at byte %" G_GUINT64_FORMAT " runs past the end of its message at byte %" G_GUINT64_FORMAT
                 "; the file is damaged",
                 *length, scan->field_start, frame->end);
  if (!fits_file && (!may_overrun || *length > G_MAXINT64 - scan->position))
    return fail (scan, field, error, GANTRY_ERROR_TRUNCATED,
                 "length %" G_GUINT64_FORMAT " at byte %" G_GUINT64_FORMAT " runs past the end of the file (%" G_GUINT64_FORMAT
                 " bytes); it is cut short or damaged, copy or download it again",
                 *length, scan->field_start, scan->size);
  return TRUE;
}

static guint
wire_of (ProtobufCType type)
{
  switch (type)
    {
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_FLOAT: return GANTRY_WIRE_FIXED32;
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE: return GANTRY_WIRE_FIXED64;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE: return GANTRY_WIRE_LENGTH;
    default: return GANTRY_WIRE_VARINT;
    }
}

/* Fields */

static gboolean
skip_value (Scan *scan, const ProtobufCFieldDescriptor *field, guint wire, GError **error)
{
  guint64 ignored;

  switch (wire)
    {
    case GANTRY_WIRE_VARINT: return read_varint (scan, field, &ignored, error);
    case GANTRY_WIRE_LENGTH:
      if (!read_length (scan, field, FALSE, &ignored, error))
        return FALSE;
      scan->position += ignored;
      return TRUE;
    case GANTRY_WIRE_FIXED64:
    case GANTRY_WIRE_FIXED32:
      if (scan->size - scan->position < (wire == GANTRY_WIRE_FIXED64 ? 8u : 4u))
        return fail_cut (scan, field, error);
      scan->position += wire == GANTRY_WIRE_FIXED64 ? 8 : 4;
      return TRUE;
    default:
      return fail (scan, field, error, GANTRY_ERROR_INVALID,
                   "byte %" G_GUINT64_FORMAT " begins a field of wire type %u, which no ONNX file has; the file is damaged "
                   "or is not an ONNX model",
                   scan->field_start, wire);
    }
}

/* A number, not packed: copied as it stands. */
static gboolean
scan_scalar (Scan *scan, const ProtobufCFieldDescriptor *field, guint wire, GError **error)
{
  guint64 start = scan->position;

  if (!skip_value (scan, field, wire, error))
    return FALSE;
  put_tag (scan->out, field->id, wire);
  g_byte_array_append (scan->out, scan->data + start, (guint) (scan->position - start));
  return TRUE;
}

static gboolean
check_string (Scan *scan, const ProtobufCFieldDescriptor *field, guint64 start, guint64 length, GError **error)
{
  if (length > GANTRY_ONNX_MAX_STRING)
    return fail (scan, field, error, GANTRY_ERROR_TOO_LARGE, "a string of %" G_GUINT64_FORMAT " bytes at byte %" G_GUINT64_FORMAT "; the limit is %u bytes",
                 length, scan->field_start, GANTRY_ONNX_MAX_STRING);
  if (!g_utf8_validate ((const char *) scan->data + start, (gssize) length, NULL))
    return fail (scan, field, error, GANTRY_ERROR_INVALID,
                 "the string at byte %" G_GUINT64_FORMAT " is not UTF-8 text; the file is damaged or is not an ONNX model", scan->field_start);
  return TRUE;
}

static gboolean
is_tensor_data (const Frame *frame, const ProtobufCFieldDescriptor *field)
{
  return frame->descriptor == &onnx__tensor_proto__descriptor && (strcmp (field->name, "raw_data") == 0 || (field->flags & PROTOBUF_C_FIELD_FLAG_PACKED) != 0);
}

static void
put_span (Scan *scan, const ProtobufCFieldDescriptor *field, guint64 length)
{
  g_autoptr (GByteArray) span = g_byte_array_new ();

  put_tag (span, 1, GANTRY_WIRE_VARINT);
  put_varint (span, field->id);
  put_tag (span, 2, GANTRY_WIRE_VARINT);
  put_varint (span, scan->position);
  put_tag (span, 3, GANTRY_WIRE_VARINT);
  put_varint (span, length);
  put_tag (scan->out, GANTRY_ONNX_FIRST_PRIVATE_FIELD + 1, GANTRY_WIRE_LENGTH);
  put_varint (scan->out, span->len);
  g_byte_array_append (scan->out, span->data, span->len);
}

static gboolean
check_packed (Scan *scan, const ProtobufCFieldDescriptor *field, guint64 length, GError **error)
{
  guint wire = wire_of (field->type);
  guint64 end = scan->position + length;
  guint64 ignored;

  if (wire != GANTRY_WIRE_VARINT)
    {
      guint64 size = wire == GANTRY_WIRE_FIXED32 ? 4 : 8;

      return length % size == 0
             || fail (scan, field, error, GANTRY_ERROR_INVALID,
                      "%" G_GUINT64_FORMAT " bytes at byte %" G_GUINT64_FORMAT " are no whole number of %" G_GUINT64_FORMAT
                      "-byte elements; the file is damaged",
                      length, scan->field_start, size);
    }
  for (guint64 p = scan->position; p < end;)
    if (!gantry_wire_varint (scan->data, end, &p, &ignored))
      return fail (scan, field, error, GANTRY_ERROR_INVALID, "the list of numbers at byte %" G_GUINT64_FORMAT " ends in the middle of one; the file is damaged",
                   scan->field_start);
  return TRUE;
}

/* Strings, bytes and packed numbers. */
static gboolean
scan_bytes (Scan *scan, const ProtobufCFieldDescriptor *field, GError **error)
{
  const Frame *frame = &scan->frames[scan->n_frames - 1];
  gboolean packed = wire_of (field->type) != GANTRY_WIRE_LENGTH;
  gboolean is_doc = strcmp (field->name, "doc_string") == 0;
  guint64 length;

  if (!read_length (scan, field, FALSE, &length, error))
    return FALSE;
  if (is_tensor_data (frame, field) && (!packed || length > GANTRY_ONNX_SMALL_DATA))
    {
      put_span (scan, field, length);
      scan->position += length;
      return TRUE;
    }
  if (is_doc && (length > GANTRY_ONNX_MAX_DOC || !g_utf8_validate ((const char *) scan->data + scan->position, (gssize) length, NULL)))
    {
      scan->position += length;
      return TRUE;
    }
  if (field->type == PROTOBUF_C_TYPE_STRING && !check_string (scan, field, scan->position, length, error))
    return FALSE;
  if (packed && !check_packed (scan, field, length, error))
    return FALSE;
  if (length > GANTRY_ONNX_MAX_SKELETON)
    return fail (scan, field, error, GANTRY_ERROR_TOO_LARGE, "%" G_GUINT64_FORMAT " bytes at byte %" G_GUINT64_FORMAT, length, scan->field_start);
  put_tag (scan->out, field->id, GANTRY_WIRE_LENGTH);
  put_varint (scan->out, length);
  g_byte_array_append (scan->out, scan->data + scan->position, (guint) length);
  scan->position += length;
  return TRUE;
}

static gboolean
enter_message (Scan *scan, const ProtobufCFieldDescriptor *field, GError **error)
{
  Frame *parent = &scan->frames[scan->n_frames - 1];
  Frame *frame;
  guint64 length;

  if (field->label != PROTOBUF_C_LABEL_REPEATED && parent->counts[field - parent->descriptor->fields] > 0)
    return fail (scan, field, error, GANTRY_ERROR_INVALID, "stands a second time at byte %" G_GUINT64_FORMAT "; the file is damaged", scan->field_start);
  if (!read_length (scan, field, TRUE, &length, error))
    return FALSE;
  if (scan->n_frames == GANTRY_ONNX_MAX_DEPTH)
    return fail (scan, NULL, error, GANTRY_ERROR_TOO_LARGE, "messages nest more than %u deep at byte %" G_GUINT64_FORMAT "; no exporter writes such a model",
                 GANTRY_ONNX_MAX_DEPTH, scan->field_start);
  if (++scan->n_messages > GANTRY_ONNX_MAX_MESSAGES)
    return fail (scan, NULL, error, GANTRY_ERROR_TOO_LARGE, "more than %u messages at byte %" G_GUINT64_FORMAT, GANTRY_ONNX_MAX_MESSAGES, scan->field_start);
  g_assert (field->descriptor != NULL && ((const ProtobufCMessageDescriptor *) field->descriptor)->n_fields <= MAX_FIELDS);
  put_tag (scan->out, field->id, GANTRY_WIRE_LENGTH);
  frame = &scan->frames[scan->n_frames++];
  memset (frame, 0, sizeof *frame);
  frame->descriptor = field->descriptor;
  frame->end = scan->position + length;
  frame->length_position = scan->out->len;
  frame->field = (gint) (field - parent->descriptor->fields);
  frame->index = parent->counts[frame->field];
  g_byte_array_set_size (scan->out, scan->out->len + PADDED_LENGTH);
  return TRUE;
}

static gboolean
scan_known_field (Scan *scan, const ProtobufCFieldDescriptor *field, guint wire, GError **error)
{
  guint own = wire_of (field->type);
  gboolean packed = wire == GANTRY_WIRE_LENGTH && own != GANTRY_WIRE_LENGTH && field->label == PROTOBUF_C_LABEL_REPEATED;

  if (wire != own && !packed)
    return fail (scan, field, error, GANTRY_ERROR_INVALID,
                 "the field at byte %" G_GUINT64_FORMAT " has wire type %u instead of %u; the file is damaged or is not an "
                 "ONNX model",
                 scan->field_start, wire, own);
  if (field->type == PROTOBUF_C_TYPE_MESSAGE)
    return enter_message (scan, field, error);
  if (wire == GANTRY_WIRE_LENGTH)
    return scan_bytes (scan, field, error);
  return scan_scalar (scan, field, wire, error);
}

static gboolean
scan_field (Scan *scan, GError **error)
{
  guint depth = scan->n_frames - 1;
  const ProtobufCMessageDescriptor *descriptor = scan->frames[depth].descriptor;
  const ProtobufCFieldDescriptor *field = NULL;
  guint64 tag;
  guint32 number;

  scan->field_start = scan->position;
  if (!read_varint (scan, NULL, &tag, error))
    return FALSE;
  number = tag >> 3 < 1u << 29 ? (guint32) (tag >> 3) : 0;
  if (number == 0)
    return fail (scan, NULL, error, GANTRY_ERROR_INVALID, "byte %" G_GUINT64_FORMAT " begins no field; the file is damaged or is not an ONNX model",
                 scan->field_start);
  if (number < GANTRY_ONNX_FIRST_PRIVATE_FIELD)
    field = protobuf_c_message_descriptor_get_field (descriptor, number);
  if (field == NULL)
    {
      if (!skip_value (scan, NULL, tag & 7, error))
        return FALSE;
    }
  else
    {
      if (!scan_known_field (scan, field, tag & 7, error))
        return FALSE;
      scan->frames[depth].counts[field - descriptor->fields]++;
    }
  /* The fields of a message that was entered come next; any other field is read and must fit. */
  if (scan->n_frames - 1 == depth && scan->position > scan->frames[depth].end)
    return fail (scan, field, error, GANTRY_ERROR_INVALID,
                 "the field at byte %" G_GUINT64_FORMAT " runs past the end of its message at byte %" G_GUINT64_FORMAT "; the file is damaged",
                 scan->field_start, scan->frames[depth].end);
  return TRUE;
}

/* Ends the messages that end here. Returns: FALSE when the file ends before them. */
static gboolean
leave_messages (Scan *scan, GError **error)
{
  while (scan->n_frames > 1 && scan->position == scan->frames[scan->n_frames - 1].end)
    set_padded_length (scan->out, scan->frames[--scan->n_frames].length_position);
  if (scan->position == scan->size && scan->n_frames > 1)
    return fail (scan, NULL, error, GANTRY_ERROR_TRUNCATED,
                 "the file ends at byte %" G_GUINT64_FORMAT ", but this part goes on to byte %" G_GUINT64_FORMAT "; it is cut short, copy or download it again",
                 scan->size, scan->frames[scan->n_frames - 1].end);
  if (scan->out->len > GANTRY_ONNX_MAX_SKELETON)
    return fail (scan, NULL, error, GANTRY_ERROR_TOO_LARGE, "more than %u bytes of graph without weights before byte %" G_GUINT64_FORMAT,
                 GANTRY_ONNX_MAX_SKELETON, scan->position);
  return TRUE;
}

GByteArray *
gantry_onnx_wire_scan (const ProtobufCMessageDescriptor *root, const guint8 *data, gsize size, const GantryProgress *progress, GError **error)
{
  g_autofree Scan *scan = g_new0 (Scan, 1);
  g_autoptr (GByteArray) out = g_byte_array_new ();
  guint n_fields = 0;

  if (size > GANTRY_ONNX_MAX_FILE)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "the file has %" G_GSIZE_FORMAT " bytes; the limit is %" G_GUINT64_FORMAT, size,
                   GANTRY_ONNX_MAX_FILE);
      return NULL;
    }
  scan->data = data;
  scan->size = size;
  scan->out = out;
  scan->n_frames = 1;
  scan->frames[0].descriptor = root;
  scan->frames[0].end = size;
  while (scan->position < size)
    {
      if (!scan_field (scan, error) || !leave_messages (scan, error))
        return NULL;
      if ((++n_fields & 0xffff) == 0 && gantry_progress_cancelled (progress, error))
        return NULL;
    }
  return g_steal_pointer (&out);
}
