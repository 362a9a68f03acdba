/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the next snapshot from the one before: walk the old nodes in program order and keep, replace
 * or erase each; a node that is kept keeps its id, a node that is made lists its origins. */
#pragma once
#include "core/graph/builder.h"

G_BEGIN_DECLS

typedef struct _GantryRewriter GantryRewriter;

/** @source: kept by reference, never written. Returns: (transfer full): a rewriter that has visited nothing */
GantryRewriter *gantry_rewriter_new (GantryModule *source);
void gantry_rewriter_free (GantryRewriter *rewriter);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryRewriter, gantry_rewriter_free)
/** (transfer none): for adding nodes; set its origins first (visit does it: the node visited). */
GantryBuilder *gantry_rewriter_builder (GantryRewriter *rewriter);

/** The new id of an old node's value (0 for 0). It is a programmer error to ask for one not yet visited. */
guint32 gantry_rewriter_map (GantryRewriter *rewriter, guint32 old_id);
/** Copies @node with its operands mapped; keeps id, name, scope and location. Returns: its id. */
guint32 gantry_rewriter_keep (GantryRewriter *rewriter, const GantryNode *node);
/** Uses of @node become uses of @new_id. */
void gantry_rewriter_replace (GantryRewriter *rewriter, const GantryNode *node, guint32 new_id);
/** @node is gone; nothing kept may use it. */
void gantry_rewriter_erase (GantryRewriter *rewriter, const GantryNode *node);

/**
 * GantryVisitFunc: must keep, replace or erase @node. The builder's place is set to the node's scope and
 * location and its origins to the node.
 */
typedef gboolean (*GantryVisitFunc) (GantryRewriter *rewriter, const GantryModule *source, const GantryNode *node, gpointer user_data, GError **error);
/** Walks one function, for passes that drop or add functions; call it for the entry first. */
gboolean gantry_rewriter_run_function (GantryRewriter *rewriter, const GantryFunction *function, GantryVisitFunc visit, gpointer user_data,
                                       const GantryProgress *progress, GError **error);
/** Walks every function in order, parameters kept, results mapped. */
gboolean gantry_rewriter_run (GantryRewriter *rewriter, GantryVisitFunc visit, gpointer user_data, const GantryProgress *progress, GError **error);
/** Returns: (transfer full): the next snapshot */
GantryModule *gantry_rewriter_finish (GantryRewriter *rewriter, GError **error);

G_END_DECLS
