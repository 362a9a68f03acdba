/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a file: mapping, telling what is no ONNX model from what is a broken one, scanning,
 * unpacking the skeleton, and mapping the files of external data. */
#include "core/frontends/onnx/onnx-reader-private.h"
#include "core/base/allocate.h"
#include <glib/gstdio.h>
#include <string.h>

GBytes *
gantry_onnx_map (const char *path, GError **error)
{
  g_autoptr (GMappedFile) mapped = gantry_file_map (path, error);

  return mapped != NULL ? g_mapped_file_get_bytes (mapped) : NULL;
}

/* Telling files apart */

typedef struct
{
  const char *start;
  gsize length;
  const char *what;
} Signature;

static const Signature signatures[] = {
  { "\x89PNG", 4, "a PNG picture" },
  { "\xff\xd8\xff", 3, "a JPEG picture" },
  { "PK\x03\x04", 4, "a ZIP archive (a damaged PyTorch file may be one; export it again with torch.export or torch.onnx)" },
  { "\x1f\x8b", 2, "compressed by gzip; unpack it first" },
  { "\x28\xb5\x2f\xfd", 4, "compressed by zstd; unpack it first" },
  { "BZh", 3, "compressed by bzip2; unpack it first" },
  { "\xfd"
    "7zXZ",
    5, "compressed by xz; unpack it first" },
  { "\x89HDF", 4, "an HDF5 file (a Keras model is one; export it with tf2onnx)" },
  { "\x80\x02", 2, "a Python pickle (an old PyTorch file is one; load it in Python and export the module by torch.export or torch.onnx)" },
  { "\x7f"
    "ELF",
    4, "a program" },
  { "%PDF", 4, "a PDF document" },
  { "SQLite format 3", 15, "an SQLite database" },
  { "GGUF", 4, "a GGUF model" },
  { "ML\xefR", 4, "MLIR bytecode" },
  { "version https://git-lfs", 23, "a pointer of Git LFS; run `git lfs pull` to get the model itself" },
  { "<!DOCTYPE", 9, "a web page, so the download went wrong" },
  { "<html", 5, "a web page, so the download went wrong" },
};

/* Returns: (nullable) (transfer none): what the file is, when it is plainly something else. */
static const char *
what_else (const guint8 *data, gsize size)
{
  gsize looked = MIN (size, 512), text = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (signatures); i++)
    if (size >= signatures[i].length && memcmp (data, signatures[i].start, signatures[i].length) == 0)
      return signatures[i].what;
  if (size >= 8 && memcmp (data + 4, "TFL3", 4) == 0)
    return "a TensorFlow Lite model";
  for (gsize i = 0; i < looked; i++)
    text += (data[i] >= ' ' && data[i] < 0x7f) || data[i] == '\n' || data[i] == '\t' || data[i] == '\r';
  /* A binary message of any use has its version, a small number, within the first bytes. */
  if (text == looked)
    return "text";
  return NULL;
}

/* A file whose very first field is none of an ONNX model is something else, not a damaged model. */
static gboolean
begins_well (const ProtobufCMessageDescriptor *root, const guint8 *data, gsize size)
{
  const ProtobufCFieldDescriptor *field;
  guint64 position = 0, tag;

  if (!gantry_wire_varint (data, size, &position, &tag) || tag >> 3 >= GANTRY_ONNX_FIRST_PRIVATE_FIELD)
    return FALSE;
  field = protobuf_c_message_descriptor_get_field (root, (unsigned) (tag >> 3));
  if (field == NULL)
    return FALSE;
  switch (tag & 7)
    {
    case 0: return field->type == PROTOBUF_C_TYPE_INT64 || field->type == PROTOBUF_C_TYPE_INT32;
    case 2: return field->type != PROTOBUF_C_TYPE_INT32;
    default: return FALSE;
    }
}

static const char *
kind_of_root (const ProtobufCMessageDescriptor *root)
{
  return root == &onnx__model_proto__descriptor ? "ONNX model" : "ONNX tensor";
}

static gboolean
check_kind (const ProtobufCMessageDescriptor *root, const guint8 *data, gsize size, GError **error)
{
  const char *else_what;

  if (size == 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TRUNCATED, "the file is empty, an %s has at least a version and a graph; copy or download it again",
                   kind_of_root (root));
      return FALSE;
    }
  else_what = what_else (data, size);
  if (else_what != NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "not an %s: it is %s", kind_of_root (root), else_what);
  else if (!begins_well (root, data, size))
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                 "not an %s: its first byte (0x%02x) begins no field of one; name a file that an "
                 "exporter wrote",
                 kind_of_root (root), data[0]);
  else
    return TRUE;
  return FALSE;
}

static gboolean
check_model (const Onnx__ModelProto *model, GError **error)
{
  if (model->graph == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "not an ONNX model: it has no graph; it is cut short, or no exporter wrote it");
      return FALSE;
    }
  return TRUE;
}

/* How large the messages are the file says. @error: the first failure */
static void *
allocate_message (void *error, size_t size)
{
  GError **first = error;

  return gantry_try_allocate (size, 1, "what the file holds", *first == NULL ? first : NULL);
}

static void
free_message (void *error, void *memory)
{
  g_free (memory);
}

static gboolean
read_message (GantryOnnxFile *file, const ProtobufCMessageDescriptor *root, const GantryProgress *progress, GError **error)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (file->bytes, &size);
  g_autoptr (GByteArray) skeleton = NULL;
  g_autoptr (GError) refused = NULL;
  ProtobufCAllocator allocator = { allocate_message, free_message, &refused };
  ProtobufCMessage *message;

  if (!check_kind (root, data, size, error))
    return FALSE;
  skeleton = gantry_onnx_wire_scan (root, data, size, progress, error);
  if (skeleton == NULL)
    return FALSE;
  message = protobuf_c_message_unpack (root, &allocator, skeleton->len, skeleton->data);
  if (message == NULL && refused != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&refused));
      return FALSE;
    }
  if (message == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "not an %s: its fields do not fit together; the file is damaged", kind_of_root (root));
      return FALSE;
    }
  if (root == &onnx__model_proto__descriptor)
    file->model = (Onnx__ModelProto *) message;
  else
    file->tensor = (Onnx__TensorProto *) message;
  return file->model == NULL || check_model (file->model, error);
}

GantryOnnxFile *
gantry_onnx_file_from_bytes (GBytes *bytes, const char *name, const ProtobufCMessageDescriptor *root, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryOnnxFile) file = g_new0 (GantryOnnxFile, 1);

  file->bytes = g_bytes_ref (bytes);
  file->name = g_utf8_make_valid (name, -1);
  file->external = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_bytes_unref);
  if (!read_message (file, root, progress, error))
    {
      gantry_error_prefix (error, "%s: ", file->name);
      return NULL;
    }
  return g_steal_pointer (&file);
}

GantryOnnxFile *
gantry_onnx_file_open (const char *path, const ProtobufCMessageDescriptor *root, const GantryProgress *progress, GError **error)
{
  g_autoptr (GBytes) bytes = NULL;
  g_autofree char *name = g_path_get_basename (path);
  GantryOnnxFile *file;

  bytes = gantry_onnx_map (path, error);
  if (bytes == NULL)
    return NULL;
  file = gantry_onnx_file_from_bytes (bytes, name, root, progress, error);
  if (file == NULL)
    return NULL;
  file->path = g_canonicalize_filename (path, NULL);
  file->folder = g_path_get_dirname (file->path);
  return file;
}

void
gantry_onnx_file_free (GantryOnnxFile *file)
{
  if (file == NULL)
    return;
  if (file->model != NULL)
    onnx__model_proto__free_unpacked (file->model, NULL);
  if (file->tensor != NULL)
    onnx__tensor_proto__free_unpacked (file->tensor, NULL);
  g_clear_pointer (&file->external, g_hash_table_unref);
  g_clear_pointer (&file->bytes, g_bytes_unref);
  g_free (file->path);
  g_free (file->folder);
  g_free (file->name);
  g_free (file);
}

/* External data */

/* A path that leaves the folder is asked for even where it comes back by a link. */
static gboolean
stays_inside (const char *location)
{
  g_auto (GStrv) parts = g_strsplit_set (location, "/\\", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    if (strcmp (parts[i], "..") == 0)
      return FALSE;
  return !g_path_is_absolute (location) && *location != '\\';
}

static gboolean
check_location (const GantryOnnxFile *file, const char *location, GError **error)
{
  if (*location == '\0')
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "its data file has no name; the model is damaged");
  else if (file->folder == NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
                 "its data are in the file '%s', but the model was not read from a folder; open the model file itself", location);
  else if (!file->anywhere && !stays_inside (location))
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_OUTSIDE,
                 "its data file '%s' lies outside the model's folder; put the data file beside the model and name it by a relative "
                 "path, or allow what lies outside",
                 location);
  else
    return TRUE;
  return FALSE;
}

char *
gantry_onnx_file_external_path (const GantryOnnxFile *file, const char *location)
{
  return g_path_is_absolute (location) ? g_strdup (location) : g_build_filename (file->folder, location, NULL);
}

GBytes *
gantry_onnx_file_external (GantryOnnxFile *file, const char *location, GError **error)
{
  g_autofree char *path = NULL;
  g_autoptr (GMappedFile) mapped = NULL;
  GBytes *bytes = g_hash_table_lookup (file->external, location);

  if (bytes != NULL)
    return bytes;
  if (!check_location (file, location, error))
    return NULL;
  path = gantry_onnx_file_external_path (file, location);
  mapped = gantry_file_map_beside (path, file->path, file->anywhere, error);
  if (mapped == NULL)
    {
      gantry_error_prefix (error, "its data file: ");
      return NULL;
    }
  bytes = g_mapped_file_get_bytes (mapped);
  g_hash_table_insert (file->external, g_strdup (location), bytes);
  return bytes;
}

char *
gantry_onnx_text (const ProtobufCBinaryData *bytes)
{
  return bytes->len > 0 ? g_utf8_make_valid ((const char *) bytes->data, (gssize) bytes->len) : g_strdup ("");
}
