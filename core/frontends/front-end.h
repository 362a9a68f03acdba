/* SPDX-License-Identifier: Apache-2.0 */
/* What a front end says of itself: which files it reads, and how one becomes a module. The folders of core/frontends that read files
 * define one each; core/frontends/front-end-list.h lists them. */
#pragma once
#include "core/base/base.h"
#include "core/frontends/front-end-list.h"
#include "core/graph/dialect.h"
#include "core/graph/input-values.h"

G_BEGIN_DECLS

/**
 * GantryReadOptions: what the user says of a file before it is read.
 *
 * @dims: sizes of open dimensions
 * @outside: files that it names may lie outside of its folder
 */
typedef struct
{
  const GantryDimSize *dims;
  guint n_dims;
  gboolean outside;
} GantryReadOptions;

/**
 * GantryReadInfo: what a file says about itself: empty before, cleared by gantry_read_info_clear().
 *
 * @format: "MindIR", "HLO text"
 * @producer: (nullable): "torch 2.9.0"; NULL: it does not say
 * @is_counted: @n_nodes, @n_weights and @weight_bytes are what the file has, rather than what the module has
 * @unknown: (nullable) (element-type utf8): names of operations that no rule knows, each once
 * @unbound: (nullable) (element-type utf8): symbols of dimensions that nobody has bound
 * @files: (nullable) (element-type utf8): paths of the files beside it that were read
 */
typedef struct
{
  char *format, *producer;
  gboolean is_counted;
  guint n_nodes, n_weights;
  guint64 weight_bytes;
  GPtrArray *unknown, *unbound, *files;
} GantryReadInfo;

void gantry_read_info_clear (GantryReadInfo *info);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GantryReadInfo, gantry_read_info_clear)

/**
 * GantryFrontEnd: static.
 *
 * @patterns: of the names of its files, separated by blanks, for dialogs: "*.pt2"
 * @formats: the same for people: "torch.export (.pt2)"
 * @reads: whether that file is one of its own, by name or first bytes
 * @dialects: of its operations: an array of n. Gantry's own text may hold them too
 * @import: the module in foreign operations, its dialect added to @context; NULL and one error that names the file and the place in it
 */
typedef struct
{
  const char *patterns, *formats;
  gboolean (*reads) (const char *path);
  const GantryDialect *(*dialects) (guint *n);
  GantryModule *(*import) (GantryContext *context, const char *path, const GantryReadOptions *options, GantryReadInfo *info, const GantryProgress *progress,
                           GError **error);
} GantryFrontEnd;

#define GANTRY_DECLARE_FRONT_END(folder) extern const GantryFrontEnd gantry_front_end_##folder;
GANTRY_FRONT_END_LIST (GANTRY_DECLARE_FRONT_END)
#undef GANTRY_DECLARE_FRONT_END

G_END_DECLS
