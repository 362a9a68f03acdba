/* SPDX-License-Identifier: Apache-2.0 */
/* core/frontends/mindspore: reads and writes MindIR (.mindir), the protocol buffer that mindspore.export writes. The main graph becomes a
 * module of foreign operations ("mindspore.Conv2D") with scopes, weights mapped; the functions that it calls are written out
 * in their places, and branches and loops on data are regions. The dialect "mindspore" says what each primitive means in core
 * operations. An unknown primitive opens like any other; only compiling it is refused. */
#pragma once
#include "core/base/base.h"
#include "core/graph/dialect.h"
#include "core/graph/input-values.h"

G_BEGIN_DECLS

/** By the symbol of the dimension, "x_0", or as "input:axis", "x:0". */
typedef GantryDimSize GantryMindsporeDim;

/**
 * GantryMindsporeOptions: all zero is the default.
 *
 * @anywhere: files of weights may lie outside of the model's folder
 * @max_nodes: what the module may have at most; 0 means four million
 * @open_weights: weights are parameters, behind the inputs, and their values are the info's
 */
typedef struct
{
  const GantryMindsporeDim *dims;
  guint n_dims;
  gboolean anywhere;
  guint max_nodes;
  gboolean open_weights;
} GantryMindsporeOptions;

/**
 * GantryMindsporeInfo: what a model says about itself.
 *
 * @producer: "MindSpore 2.7.0", "" when it does not say
 * @version: of the format
 * @n_nodes: nodes of the main graph and of all functions, constants left out
 * @n_weights: parameters of the main graph that have a value, @weight_bytes theirs
 * @unknown: names of operations that no rule knows, each once
 * @unbound: symbols of dimensions that nobody has bound
 * @files: paths of weights beside the model
 * @weights: GantryLiteral: of open weights, which are the last parameters, their values
 * @draws: random numbers: the state that they are drawn from is the first of @weights, and none of the file
 * @n_assigned: the last results are what so many parameters become, in the order of the first assignments to them
 */
typedef struct
{
  char *producer;
  gint64 version;
  guint n_nodes;
  guint n_weights;
  guint64 weight_bytes;
  GPtrArray *unknown;
  GPtrArray *unbound;
  GPtrArray *files;
  GPtrArray *weights;
  gboolean draws;
  guint n_assigned;
} GantryMindsporeInfo;

void gantry_mindspore_info_free (GantryMindsporeInfo *info);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryMindsporeInfo, gantry_mindspore_info_free)

/** Whether that file is read here: .mindir, and .ir, the texts that MindSpore writes for save_graphs. */
gboolean gantry_mindspore_reads (const char *path);

/**
 * gantry_mindspore_import:
 * @context: gets the dialect "mindspore", and everything interned
 * @path: of the model; it stays mapped as long as @context lives
 * @options: (nullable)
 * @info: (out) (optional) (transfer full)
 *
 * Returns: (transfer full): the imported module, in foreign operations; parameters with a value are constants. NULL and one error
 *  that names the file and the place in it: %GANTRY_ERROR_INVALID, TRUNCATED, TOO_LARGE, UNSUPPORTED, OUTSIDE, a
 *  %G_FILE_ERROR, or %G_IO_ERROR_CANCELLED
 */
GantryModule *gantry_mindspore_import (GantryContext *context, const char *path, const GantryMindsporeOptions *options, GantryMindsporeInfo **info,
                                       const GantryProgress *progress, GError **error);

/** As gantry_mindspore_import() for a model in memory; @name stands for its path, and no other file is opened. */
GantryModule *gantry_mindspore_import_bytes (GantryContext *context, GBytes *bytes, const char *name, const GantryMindsporeOptions *options,
                                             GantryMindsporeInfo **info, const GantryProgress *progress, GError **error);

/** A parameter of the entry: its name in the file, NULL for its own, and its value where it is a weight, NULL where it is an input. */
typedef struct
{
  const char *name;
  const GantryLiteral *value;
} GantryMindsporeWeight;

/**
 * gantry_mindspore_export:
 * @module: of core operations
 * @weights: (nullable): one for each parameter of the entry
 * @read: (nullable): files that are not replaced
 *
 * Writes the module as MindIR, in primitives of MindSpore 2.7; a file that is there stays until all of the new one is written. Weights,
 * and constants of floats with a name, are parameters. Tensors of at most 1 GiB together, for they stand in the file; a scan is written
 * out.
 *
 * Returns: FALSE with %GANTRY_ERROR_UNSUPPORTED and the place of what MindSpore has no primitive for, or of all calls of the host,
 *  %G_FILE_ERROR, or %GANTRY_ERROR_NO_MEMORY
 */
gboolean gantry_mindspore_export (const GantryModule *module, const char *path, const GantryMindsporeWeight *weights, GantryReadFiles *read, GError **error);

/** The dialect "mindspore"; static. The import adds it to its context. */
const GantryDialect *gantry_mindspore_dialect (void);

G_END_DECLS
