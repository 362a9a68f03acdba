/* SPDX-License-Identifier: Apache-2.0 */
/* The first look at an ONNX file: a walk over its bytes that checks every length against the file
 * and writes a skeleton, the same message without its large data. Only the skeleton is ever
 * unpacked by protobuf-c, so weights are not read, let alone copied, at load. */
#pragma once
#include "core/base/base.h"
#include "core/base/wire.h"
#include <protobuf-c/protobuf-c.h>

G_BEGIN_DECLS

/* Fields from here on are the scanner's own; in a file they are unknown and dropped. */
#define GANTRY_ONNX_FIRST_PRIVATE_FIELD 100000000u

/** Packed numbers up to this many bytes stay in the skeleton; more become a DataSpan. */
#define GANTRY_ONNX_SMALL_DATA 1024u

/** Limits on what a file may ask for. */
#define GANTRY_ONNX_MAX_FILE (G_GUINT64_CONSTANT (64) << 30)
#define GANTRY_ONNX_MAX_DEPTH 100u
#define GANTRY_ONNX_MAX_MESSAGES (16u << 20)
#define GANTRY_ONNX_MAX_SKELETON (1u << 30)
#define GANTRY_ONNX_MAX_STRING (1u << 20)
#define GANTRY_ONNX_MAX_DOC (64u << 10) /* a longer doc_string is dropped */

/**
 * gantry_onnx_wire_scan:
 * @root: descriptor of the message that the whole of @data is
 * @progress: (nullable): asked whether to stop
 *
 * Returns: (transfer full): the skeleton; NULL and %GANTRY_ERROR_TRUNCATED, INVALID or TOO_LARGE
 * with field path and byte offset, "graph.initializer[12].raw_data: length 4096 at byte 123 ..."
 */
GByteArray *gantry_onnx_wire_scan (const ProtobufCMessageDescriptor *root, const guint8 *data, gsize size, const GantryProgress *progress, GError **error);

G_END_DECLS
