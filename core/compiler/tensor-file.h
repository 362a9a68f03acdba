/* SPDX-License-Identifier: Apache-2.0 */
/* Single tensors in files: what inputs and expected outputs of a run come as. */
#pragma once
#include "core/base/base.h"
#include "core/base/output.h"
#include "core/graph/context.h"

G_BEGIN_DECLS

/**
 * gantry_tensor_file_read:
 * @path: .pb (an ONNX TensorProto), .npy (numpy, C order, little endian), anything else: the plain bytes of @type
 * @type: (nullable): wanted for plain bytes; of bf16 also for an .npy of f32 whose values all are bf16
 *
 * Returns: (transfer full) (nullable)
 */
GantryLiteral *gantry_tensor_file_read (GantryContext *context, const char *path, const GantryType *type, GError **error);
/** Writes @literal as .npy, but does not put the file in its place yet: gantry_output_finish() does. @read: (nullable): as
 *  gantry_output_new(). (transfer full) (nullable) */
GantryOutput *gantry_tensor_file_begin_npy (const GantryLiteral *literal, const char *path, GantryReadFiles *read, GError **error);
/** Writes @literal as .npy; bf16, which numpy lacks, as f32, which gantry_tensor_file_read() takes for bf16 again. */
gboolean gantry_tensor_file_write_npy (const GantryLiteral *literal, const char *path, GError **error);

G_END_DECLS
