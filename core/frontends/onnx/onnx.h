/* SPDX-License-Identifier: Apache-2.0 */
/* core/frontends/onnx: reads ONNX models. A file is scanned and mapped, its graph becomes a module
 * of foreign operations ("onnx.Conv") with every attribute, name, scope and place kept, and the
 * dialect "onnx" says what each means in core operations. An unknown operation opens like any
 * other; only compiling it is refused. Weights stay in the mapped file. */
#pragma once
#include "core/base/base.h"
#include "core/graph/dialect.h"
#include "core/graph/input-values.h"

G_BEGIN_DECLS

typedef GantryDimSize GantryOnnxDim;

/**
 * GantryOnnxOptions: all zero is the default.
 *
 * @values: inputs that are constants; also of one that an initializer gives a value
 * @outside: external data outside the model's folder may be read: the user says so
 * @max_nodes: what the module may have at most, functions inlined; 0 means four million
 */
typedef struct
{
  const GantryOnnxDim *dims;
  guint n_dims;
  const GantryInputValue *values;
  guint n_values;
  guint max_nodes;
  gboolean outside;
} GantryOnnxOptions;

typedef struct
{
  char *name;
  guint32 type;    /* type id of the context of the import */
  char *type_text; /* "f32[batch,3,224,224]" */
} GantryOnnxValue;

typedef struct
{
  char *domain; /* "" is ONNX itself */
  gint64 version;
} GantryOnnxOpset;

/** An operation that cannot be compiled: "Conv: why", once for each reason. */
typedef struct
{
  char *operation;
  char *why;
  char *first; /* where it stands first: "node 12 'conv1'" */
  guint count;
} GantryOnnxUnsupported;

/**
 * GantryOnnxInfo: what a model file says about itself and what Gantry cannot do with it.
 *
 * @n_nodes: NodeProto of the graph and of all nested subgraphs, not of function bodies
 * @n_initializers: likewise
 * @inputs: of the graph, without those that an initializer gives a value
 * @unbound: names of dimensions that nobody has bound, in order of appearance
 * @unsupported: while dimensions are unbound, only operations that no rule knows
 * @n_untyped: nodes whose type could not be found
 * @warnings: whole sentences for the user
 * @data_files: paths of the files of external data that were opened, in their order
 */
typedef struct
{
  gint64 ir_version;
  char *producer; /* "pytorch 2.0.0", "" when it does not say */
  char *graph_name;
  GantryOnnxOpset *opsets;
  guint n_opsets;
  guint n_nodes;
  guint n_initializers;
  guint n_functions;
  guint64 initializer_bytes;
  GantryOnnxValue *inputs;
  guint n_inputs;
  GantryOnnxValue *outputs;
  guint n_outputs;
  GantryOnnxUnsupported *unsupported;
  guint n_unsupported;
  guint n_untyped;
  char **unbound;
  char **warnings;
  char **data_files;
} GantryOnnxInfo;

void gantry_onnx_info_free (GantryOnnxInfo *info);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryOnnxInfo, gantry_onnx_info_free)

/**
 * gantry_onnx_import:
 * @context: gets the dialect "onnx", and everything interned
 * @path: of the model file; it stays mapped as long as @context lives
 * @options: (nullable): dimensions to bind, limits
 * @info: (out) (optional) (transfer full): what the file says about itself
 *
 * Returns: (transfer full): the imported module, in foreign operations; NULL and one error that names
 * the file and the place in it: %GANTRY_ERROR_INVALID (no ONNX model, cyclic, inconsistent),
 * TRUNCATED, TOO_LARGE, UNSUPPORTED, a %G_FILE_ERROR, or %G_IO_ERROR_CANCELLED
 */
GantryModule *gantry_onnx_import (GantryContext *context, const char *path, const GantryOnnxOptions *options, GantryOnnxInfo **info,
                                  const GantryProgress *progress, GError **error);

/**
 * gantry_onnx_import_bytes:
 * @name: of the model in messages and locations
 *
 * As gantry_onnx_import() for a model in memory. External data files are refused.
 */
GantryModule *gantry_onnx_import_bytes (GantryContext *context, GBytes *bytes, const char *name, const GantryOnnxOptions *options, GantryOnnxInfo **info,
                                        const GantryProgress *progress, GError **error);

/**
 * gantry_onnx_read_tensor:
 * @path: a file that holds one TensorProto, as the data of ONNX backend tests does
 * @name: (out) (optional) (transfer full): the tensor's name, "" when it has none
 *
 * Returns: (transfer full): its value, mapped; NULL and an error as gantry_onnx_import(), UNSUPPORTED
 * for an element type that is not compiled
 */
GantryLiteral *gantry_onnx_read_tensor (GantryContext *context, const char *path, char **name, GError **error);

/**
 * GantryOnnxWeight: what a parameter of the entry is in the file.
 *
 * @name: (nullable): in place of its own
 * @value: (nullable): it is an initializer and no input
 */
typedef struct
{
  const char *name;
  const GantryLiteral *value;
} GantryOnnxWeight;

/**
 * GantryOnnxExportOptions: all zero is the default.
 *
 * @snapshot: (nullable): what the module is called after, kept as the property "gantry.snapshot"
 * @weights: (nullable): one for each parameter of the entry
 * @external: weights lie in a file of their own beside the model, as they do where they are too large for one message
 * @read: (nullable): files that are not replaced
 */
typedef struct
{
  const char *snapshot;
  const GantryOnnxWeight *weights;
  gboolean external;
  GantryReadFiles *read;
} GantryOnnxExportOptions;

/**
 * gantry_onnx_export:
 * @module: core operations, which are written in operator set 18, or operations of ONNX, which are written as they came
 * @path: of the file
 * @options: (nullable)
 * @notes: (nullable) (element-type utf8): gets sentences on what the file does not say
 *
 * Names of inputs, outputs and values are kept, the initial values of parameters are their defaults. Fusions are what their
 * bodies say. Writes nothing where it fails.
 *
 * Returns: FALSE with %GANTRY_ERROR_UNSUPPORTED, and the node with its place, where ONNX cannot say it; %G_FILE_ERROR
 */
gboolean gantry_onnx_export (const GantryModule *module, const char *path, const GantryOnnxExportOptions *options, GPtrArray *notes, GError **error);

/** The dialect "onnx"; static, valid for ever. The import adds it to its context. */
const GantryDialect *gantry_onnx_dialect (void);

G_END_DECLS
