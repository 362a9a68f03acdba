/* SPDX-License-Identifier: Apache-2.0 */
/* core/frontends/xla: reads what JAX, XLA and their kin write: StableHLO (pretty and generic form) and HLO, as text,
 * as StableHLO bytecode and as HLO's protocol buffer, and jaxprs as JAX prints them. Each becomes a module of foreign operations ("stablehlo.add")
 * with every attribute, name and place kept, and the dialects say what each means in core operations. An unknown
 * operation opens like any other; only compiling it is refused. */
#pragma once
#include "core/base/base.h"
#include "core/graph/dialect.h"

G_BEGIN_DECLS

/** What a text compares when it is a test: the values of two results of the entry, which have to agree. */
typedef struct
{
  guint actual, expected; /* indices of results of the entry */
  gboolean exact;         /* bit by bit but for zeros' signs and NaNs; else within @tolerance or a few units in the last place */
  double tolerance;
  char *operation; /* "check.expect_eq" */
} GantryXlaCheck;

/**
 * GantryXlaOptions: all zero is the default.
 *
 * @entry: (nullable): name of the function that is the program; default: "main", else the first public one, else the
 *   first
 * @module: index of the module among those of the file that @entry is looked for in; -1: in all of them
 * @checks: results of the entry are what its checks (check.expect_eq and its like) compare, in pairs
 * @feed: constants of rank 1 or more in the entry, and all in a function named "inputs", become parameters of the entry:
 *   the values are not known while the program is compiled. 1: all of them, 2: but integers, 0: none
 * @max_nodes: what the module may have at most; 0 means four million
 * @like: (nullable): of HLO: functions have the ids that those of the same name have in this module of the same context
 */
typedef struct
{
  const char *entry;
  gint module;
  gboolean checks;
  guint feed;
  guint max_nodes;
  const GantryModule *like;
} GantryXlaOptions;

/**
 * GantryXlaInfo: what a text says about itself.
 *
 * @format: "StableHLO text", "StableHLO bytecode", "HLO text", "HLO protobuf", "jaxpr text"
 * @n_operations: as the text counts them, of all functions and regions, without functions, modules and terminators
 * @functions: names of the functions, in order; with @function_modules the index of the module that each stands in
 * @checks: array of GantryXlaCheck
 * @feeds: array of GantryLiteral: values of the parameters that GantryXlaOptions.feed made
 * @unknown: names of operations that no rule knows, each once
 */
typedef struct
{
  char *format;
  char *producer;
  guint n_operations;
  guint n_modules;
  GPtrArray *functions;
  GArray *function_modules;
  GArray *checks;
  GPtrArray *feeds;
  GPtrArray *unknown;
} GantryXlaInfo;

void gantry_xla_info_free (GantryXlaInfo *info);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryXlaInfo, gantry_xla_info_free)

/** Whether that file is read here: .mlir, .stablehlo, .hlo, .jaxpr, a .txt that begins as one of these does, and what its first
 * bytes say to be HLO as a protocol buffer, StableHLO bytecode or what jax.export serializes. */
gboolean gantry_xla_reads (const char *path);

/**
 * gantry_xla_import:
 * @context: gets the dialects, and everything interned
 * @path: of the text; it is not needed afterwards
 * @options: (nullable)
 * @info: (out) (optional) (transfer full)
 *
 * Returns: (transfer full): the imported module, in foreign operations; NULL and one error that names file, line and
 * column, of a binary file the byte: %GANTRY_ERROR_INVALID, TRUNCATED, TOO_LARGE, UNSUPPORTED, a %G_FILE_ERROR, or %G_IO_ERROR_CANCELLED
 */
GantryModule *gantry_xla_import (GantryContext *context, const char *path, const GantryXlaOptions *options, GantryXlaInfo **info,
                                 const GantryProgress *progress, GError **error);

/** As gantry_xla_import() for a file in memory, which need not end in a NUL; @name stands for its path. */
GantryModule *gantry_xla_import_text (GantryContext *context, const char *text, gsize length, const char *name, const GantryXlaOptions *options,
                                      GantryXlaInfo **info, const GantryProgress *progress, GError **error);

/**
 * gantry_stablehlo_export:
 * @module: core operations
 * @path: of the file
 * @read: (nullable): files that are not replaced
 * @notes: (nullable) (element-type utf8): gets sentences on what the file does not say
 *
 * Writes StableHLO as text. Fusions and calls are what their bodies say, a scan is a counted loop; memory kinds and donation are
 * said as JAX says them.
 *
 * Returns: FALSE with %GANTRY_ERROR_UNSUPPORTED, and the node with its place, where StableHLO cannot say it; %G_FILE_ERROR
 */
gboolean gantry_stablehlo_export (const GantryModule *module, const char *path, GantryReadFiles *read, GPtrArray *notes, GError **error);

/** The dialects "stablehlo", "mhlo", "chlo" and the like; static. The import adds them to its context. */
const GantryDialect *gantry_xla_dialects (guint *n);

G_END_DECLS
