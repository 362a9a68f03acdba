/* SPDX-License-Identifier: Apache-2.0 */
/* core/compiler: the driver. A file and settings go in; the imported module, one snapshot for each pass
 * and a plan come out. It holds the one list of passes and chooses the front end of a file. What it gives
 * is immutable and may be read from any thread. */
#pragma once
#include "core/base/base.h"
#include "core/compiler/model.h"
#include "core/compiler/settings.h"
#include "core/compiler/tensor-file.h"
#include "core/ir/module.h"
#include "core/ir/plan.h"

G_BEGIN_DECLS

/** One entry of the list of passes, in the order in which they run. */
typedef struct
{
  const char *name; /* "cse-2": unique */
  const char *title;
  const char *description;
  gboolean required;
} GantryPassInfo;

/** Returns: (array length=n) (transfer none): static */
const GantryPassInfo *gantry_compiler_passes (guint *n);

/**
 * GantrySnapshot: the program after one pass.
 *
 * @pass: "import" of the first one
 * @enabled: FALSE: switched off, @module is the one before
 * @nodes_before, @nodes_after: nodes of the entry function that do work (no parameters, constants, members of tuples)
 * @n_made: nodes that were not there before; @n_removed: that are no longer there
 * @milliseconds: wall-clock time of the pass, without verification
 */
typedef struct
{
  char *pass;
  char *title;
  char *description;
  gboolean enabled;
  GantryModule *module;
  guint nodes_before, nodes_after;
  guint n_made, n_removed;
  double milliseconds;
} GantrySnapshot;

/** GantryCompilation: what one run of the driver gives; snapshots[0] is the import. */
typedef struct
{
  gatomicrefcount ref_count;
  GantryModel *model;
  guint n_snapshots;
  GantrySnapshot *snapshots;
  GError *refusal; /* (nullable): why the passes stopped: the snapshots up to there are valid */
  GantryPlan *plan; /* (nullable): of the last snapshot; NULL after a refusal */
} GantryCompilation;

GantryCompilation *gantry_compilation_ref (GantryCompilation *compilation);
void gantry_compilation_unref (GantryCompilation *compilation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryCompilation, gantry_compilation_unref)
/** The module after the last pass. */
static inline GantryModule *
gantry_compilation_module (const GantryCompilation *compilation)
{
  return compilation->snapshots[compilation->n_snapshots - 1].module;
}

/**
 * gantry_compile:
 * @settings: (nullable): which passes, for which target
 *
 * Runs the passes over an opened model, verifies after each, and plans. A program that cannot be compiled is no
 * error here: the refusal is kept beside the snapshots that were made, so that a view can show both.
 *
 * Returns: (transfer full) (nullable): NULL when cancelled, when the program contradicts itself (%GANTRY_ERROR_INVALID:
 *  types that do not fit), or when a pass broke it (a bug, said plainly)
 */
GantryCompilation *gantry_compile (GantryModel *model, const GantryCompileSettings *settings,
                                   const GantryProgress *progress, GError **error);

/** Plans the last snapshot again, with the workspaces that kernels asked for. @workspace: as GantryPlanOptions. */
GantryPlan *gantry_compilation_plan (const GantryCompilation *compilation, const GantryCompileSettings *settings,
                                     guint64 (*workspace) (const GantryModule *, const GantryNode *, gpointer),
                                     gpointer workspace_data, GHashTable *measured_us, const GantryProgress *progress,
                                     GError **error);

/**
 * gantry_snapshot_follow:
 * @from, @to: indices of snapshots, in either direction
 *
 * Follows a node through the passes. Returns: (transfer full) (element-type guint32): ids of the nodes of snapshot
 *  @to that node @id of snapshot @from became or was made of; empty when there is none
 */
GArray *gantry_compilation_follow (const GantryCompilation *compilation, guint from, guint32 id, guint to);

/**
 * gantry_snapshot_changes:
 *
 * Returns: (transfer full): a set (GUINT_TO_POINTER (id)) of the nodes of snapshot @index that were not in the one before;
 *  with @removed those of the one before that are not in it.
 */
GHashTable *gantry_compilation_changes (const GantryCompilation *compilation, guint index, gboolean removed);

G_END_DECLS
