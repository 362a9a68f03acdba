/* SPDX-License-Identifier: Apache-2.0 */
/* A model file once opened: its mapping, its message without weights, and the files of external
 * data that it names; and how a tensor of it becomes a literal. */
#pragma once
#include "core/base/base.h"
#include "core/frontends/onnx/onnx-wire-private.h"
#include "core/graph/context.h"
#include "onnx.pb-c.h"

G_BEGIN_DECLS

/**
 * GantryOnnxFile:
 * @path: (nullable): absolute; NULL for a model in memory
 * @folder: (nullable): where external data lies
 * @anywhere: external data may lie outside of it; to be set before any is read
 * @model: (nullable): of a model file
 * @tensor: (nullable): of a file that is one TensorProto
 */
typedef struct
{
  GBytes *bytes;
  char *path;
  char *folder;
  gboolean anywhere;
  char *name;           /* for people: the last part of the path */
  GHashTable *external; /* location -> GBytes */
  Onnx__ModelProto *model;
  Onnx__TensorProto *tensor;
} GantryOnnxFile;

/** Maps @path and reads @root (the ModelProto or the TensorProto descriptor). Errors begin with the
 * path. */
GantryOnnxFile *gantry_onnx_file_open (const char *path, const ProtobufCMessageDescriptor *root, const GantryProgress *progress, GError **error);
GantryOnnxFile *
gantry_onnx_file_from_bytes (GBytes *bytes, const char *name, const ProtobufCMessageDescriptor *root, const GantryProgress *progress, GError **error);
void gantry_onnx_file_free (GantryOnnxFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryOnnxFile, gantry_onnx_file_free)

/** Returns: (transfer full): the mapping of @path, which must be an ordinary file */
GBytes *gantry_onnx_map (const char *path, GError **error);
/** Returns: (transfer full): the path that @location, of an external data file, means */
char *gantry_onnx_file_external_path (const GantryOnnxFile *file, const char *location);
/** Returns: (transfer none): the external data file @location, mapped once */
GBytes *gantry_onnx_file_external (GantryOnnxFile *file, const char *location, GError **error);

/** Element type of a TensorProto.DataType number: NONE for undefined and unknown numbers. */
GantryElementType gantry_onnx_element (gint64 data_type);

/**
 * gantry_onnx_tensor_type:
 * Returns: the type id of @tensor, 0 and @error when its dimensions or element type are malformed
 */
guint32 gantry_onnx_tensor_type (GantryContext *context, const Onnx__TensorProto *tensor, GError **error);

/**
 * gantry_onnx_tensor_literal:
 * @literal: (out) (transfer full): NULL where the element type is not compiled
 *
 * The value of @tensor: in the mapped file where it lies there as it is needed, else decoded.
 * Returns: FALSE and @error when the data do not fit the type
 */
gboolean gantry_onnx_tensor_literal (GantryOnnxFile *file, GantryContext *context, const Onnx__TensorProto *tensor, GantryLiteral **literal, GError **error);

/** Text of protobuf bytes: mended where it is no UTF-8. Returns: (transfer full) */
char *gantry_onnx_text (const ProtobufCBinaryData *bytes);

G_END_DECLS
