/* SPDX-License-Identifier: Apache-2.0 */
/* core/frontends/torch: reads what torch.export saves (.pt2): a ZIP archive with the exported program as JSON and each
 * weight as a file. The program becomes a module of foreign operations ("aten.conv2d.default") with every argument, name,
 * scope and source line kept, weights stay mapped, and the dialect "aten" says what each means in core operations.
 * Operations that write in place, and views of what they write, are made functional. An unknown operation opens like any
 * other; only compiling it is refused. */
#pragma once
#include "core/base/base.h"
#include "core/graph/dialect.h"
#include "core/graph/input-values.h"

G_BEGIN_DECLS

/** By the program's symbol, "s77", or as "input:axis", "x:0". */
typedef GantryDimSize GantryTorchDim;

/**
 * GantryTorchOptions: all zero is the default.
 *
 * @max_nodes: what the module may have at most; 0 means four million
 */
typedef struct
{
  const GantryTorchDim *dims;
  guint n_dims;
  guint max_nodes;
} GantryTorchOptions;

/**
 * GantryTorchInfo: what an archive says about itself.
 *
 * @producer: "torch 2.9.0", "" when it does not say
 * @n_nodes: operations of the graph and of the graphs in it
 * @n_weights: parameters, buffers and constants, @weight_bytes theirs
 * @unknown: names of operations that no rule knows, each once
 * @unbound: symbols of dimensions that nobody has bound
 */
typedef struct
{
  char *producer;
  gint64 schema;
  guint n_nodes;
  guint n_weights;
  guint64 weight_bytes;
  GPtrArray *unknown;
  GPtrArray *unbound;
  GPtrArray *warnings;
} GantryTorchInfo;

void gantry_torch_info_free (GantryTorchInfo *info);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryTorchInfo, gantry_torch_info_free)

/** Whether that file is read here: .pt2, or a ZIP archive of another name that holds an exported program. */
gboolean gantry_torch_reads (const char *path);

/**
 * gantry_torch_import:
 * @context: gets the dialect "aten", and everything interned
 * @path: of the archive; it stays mapped as long as @context lives
 * @options: (nullable)
 * @info: (out) (optional) (transfer full)
 *
 * Returns: (transfer full): the imported module, in foreign operations; the results of the entry are the program's outputs
 *  and behind them what it writes to buffers and inputs. NULL and one error that names the file and the place in it:
 *  %GANTRY_ERROR_INVALID, TRUNCATED, TOO_LARGE, UNSUPPORTED (pickled weights), a %G_FILE_ERROR, or %G_IO_ERROR_CANCELLED
 */
GantryModule *gantry_torch_import (GantryContext *context, const char *path, const GantryTorchOptions *options, GantryTorchInfo **info,
                                   const GantryProgress *progress, GError **error);

/** As gantry_torch_import() for an archive in memory; @name stands for its path. */
GantryModule *gantry_torch_import_bytes (GantryContext *context, GBytes *bytes, const char *name, const GantryTorchOptions *options, GantryTorchInfo **info,
                                         const GantryProgress *progress, GError **error);

/** The dialect "aten"; static. The import adds it to its context. */
const GantryDialect *gantry_torch_dialect (void);

G_END_DECLS
