/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot as a file that other programs read, and such a file as part of a program. */
#pragma once
#include "core/compiler/compiler.h"

G_BEGIN_DECLS

typedef enum
{
  GANTRY_EXPORT_NONE,
  GANTRY_EXPORT_ONNX,
  GANTRY_EXPORT_STABLEHLO,
  GANTRY_EXPORT_MINDIR,
  GANTRY_EXPORT_TEXT, /* Gantry's own, .gir */
} GantryExportFormat;

/**
 * GantryExportOptions: all zero is the default.
 *
 * @snapshot: (nullable): the pass after which; NULL: the training step where one is made, the model as it was imported where
 *   that is in operations of the format, else its first snapshot in core operations
 * @external: ONNX: weights in a file of their own
 * @read: (nullable): files that are not replaced; NULL: those that the model was read from
 */
typedef struct
{
  const char *snapshot;
  gboolean external;
  GantryReadFiles *read;
} GantryExportOptions;

/** By the ending: .onnx, .mlir, .stablehlo, .mindir, .gir. */
GantryExportFormat gantry_export_format_of (const char *path);
/** "onnx", "stablehlo", "mindir", "gir"; NONE where it is none of them. */
GantryExportFormat gantry_export_format_named (const char *name);

/**
 * gantry_compilation_export:
 * @options: (nullable)
 * @notes: (nullable) (element-type utf8): gets sentences on what the format does not say
 *
 * Writes a snapshot as @path; a file that is there stays until all of the new one is written.
 *
 * Returns: the name of the snapshot that was written, (transfer none); NULL with %GANTRY_ERROR_INVALID where there is no such
 *   snapshot, %GANTRY_ERROR_UNSUPPORTED where the format cannot say what stands in it, %G_FILE_ERROR
 */
const char *gantry_compilation_export (const GantryCompilation *compilation, GantryExportFormat format, const char *path, const GantryExportOptions *options,
                                       GPtrArray *notes, GError **error);

/**
 * gantry_module_export:
 * @path: what it ends in says as what: ".mindir", else ONNX
 * @names: (nullable): of each parameter of the entry its name in the file, NULL for its own
 * @values: (nullable): of each parameter its value where it is a weight, NULL where it is an input
 *
 * Writes a module of core operations that was not opened as a file. Returns: FALSE as gantry_compilation_export()
 */
gboolean gantry_module_export (const GantryModule *module, const char *path, const char *const *names, GantryLiteral *const *values, GError **error);

/**
 * gantry_module_load:
 * @path: of a MindIR model
 * @weights: (nullable) (out) (transfer full): GantryLiteral: the values of the weights, which are then the last parameters; NULL: weights are constants
 * @draws: (out): whether it draws random numbers: the first of @weights is then the state that they are drawn from
 * @n_assigned: (out): how many of the last results are what parameters become; that of a weight has its number as the attribute `alias`
 *
 * Returns: (transfer full) (nullable): the model in core operations, in @context; NULL as gantry_mindspore_import(), and
 *  %GANTRY_ERROR_UNSUPPORTED for operations that are not compiled
 */
GantryModule *gantry_module_load (GantryContext *context, const char *path, GPtrArray **weights, gboolean *draws, guint *n_assigned, GError **error);

G_END_DECLS
