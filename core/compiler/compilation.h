/* SPDX-License-Identifier: Apache-2.0 */
/* What one run of the driver gives: the program after each pass, what is placed where, and the plan. */
#pragma once
#include "core/compiler/model.h"
#include "core/compiler/pipeline.h"
#include "core/compiler/settings.h"
#include "core/graph/module.h"
#include "core/plan/plan.h"

G_BEGIN_DECLS

/**
 * GantrySnapshot: the program after one pass.
 *
 * @pass: "import" of the first one
 * @enabled: FALSE: switched off, @module is the one before
 * @nodes_before, @nodes_after: nodes of the entry function that do work (no parameters, constants, members of tuples)
 * @n_made: of these, that were not there before; @n_removed: that are no longer there: @nodes_before + @n_made - @n_removed is
 *  @nodes_after
 * @changed: any node at all is new or gone, constants and nodes within functions included
 * @milliseconds: wall-clock time of the pass, without verification
 * @properties: #GantryProperties that hold for @module, by what the passes so far give and keep
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
  gboolean changed;
  double milliseconds;
  guint properties;
} GantrySnapshot;

/** What holds for the program of @snapshot, for people: "core operations only, no dead nodes". (transfer full) */
char *gantry_snapshot_properties_text (const GantrySnapshot *snapshot);

/**
 * GantryCompilation: what one run of the driver gives. Of what another compiler has dumped its passes (GantryModelStage) come first, then
 * those of this one.
 *
 * A pass that does not apply (of training, where none is asked for; of control flow, where there is none) has no snapshot.
 *
 * @imported: index of the snapshot that is the model as it was imported: 0, or that of the other compiler's last pass
 * @refusal: (nullable): why the passes stopped: the snapshots up to there are valid
 * @unreached: passes that would have run after a refusal
 * @plan: (nullable): of the last snapshot, with @placements; NULL after a refusal and where it does not fit
 * @plan_error: (nullable): why there is no plan, where the passes all ran: %GANTRY_ERROR_NO_MEMORY when it does not fit
 * @refused_plan: (nullable): what the plan would be that does not fit, to be looked at only
 * @keys: (nullable): gantry_module_keys() of the last snapshot; like the rest below NULL after a refusal
 * @placements: what policy and choices decide
 * @reports: (element-type GantryPolicyReport): what became of each statement of the policy
 * @measured_us: (nullable) (element-type guint double*): the times of the settings, by node id
 * @sizes: (nullable) (transfer none): of the settings, where they are those of the last snapshot
 * @planned_target: the target with the link that was measured, where one was
 * @first_id: the node ids that passes gave are above it; the same again with the same settings and the same @first_id
 */
typedef struct
{
  gatomicrefcount ref_count;
  GantryModel *model;
  GantryCompileSettings settings;
  guint n_snapshots;
  GantrySnapshot *snapshots;
  guint imported;
  GError *refusal;
  guint n_unreached;
  const GantryPassInfo **unreached;
  GantryPlan *plan;
  GError *plan_error;
  GantryPlan *refused_plan;
  guint64 *keys;
  GantryPlacements *placements;
  GPtrArray *reports;
  GHashTable *measured_us;
  const GantryKernelSizes *sizes;
  GantryTarget planned_target;
  guint32 first_id;
  struct _GantryPlannerPool *planners;
} GantryCompilation;

GantryCompilation *gantry_compilation_ref (GantryCompilation *compilation);
void gantry_compilation_unref (GantryCompilation *compilation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryCompilation, gantry_compilation_unref)
/** The module before the first pass: that of the model. */
static inline GantryModule *
gantry_compilation_imported (const GantryCompilation *compilation)
{
  return compilation->snapshots[compilation->imported].module;
}

/** The module after the last pass. */
static inline GantryModule *
gantry_compilation_module (const GantryCompilation *compilation)
{
  return compilation->snapshots[compilation->n_snapshots - 1].module;
}

/**
 * gantry_compilation_follow:
 * @from, @to: indices of snapshots, in either direction
 *
 * Follows a node through the passes. Returns: (transfer full) (element-type guint32): ids of the nodes of snapshot
 *  @to that node @id of snapshot @from became or was made of; empty when there is none
 */
GArray *gantry_compilation_follow (const GantryCompilation *compilation, guint from, guint32 id, guint to);
/** The same of several nodes: what they became together. */
GArray *gantry_compilation_follow_all (const GantryCompilation *compilation, guint from, const guint32 *nodes, guint n, guint to);

/**
 * gantry_compilation_changes:
 *
 * Returns: (transfer full): a set (GUINT_TO_POINTER (id)) of the nodes of snapshot @index that were not in the one before;
 *  with @removed those of the one before that are not in it.
 */
GHashTable *gantry_compilation_changes (const GantryCompilation *compilation, guint index, gboolean removed);

G_END_DECLS
