/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that open a model share. */
#pragma once
#include "core/compiler/model.h"
#include "core/frontends/front-end.h"
#include "core/frontends/xla/xla.h"

G_BEGIN_DECLS

/** Adds a file that the model is read from: before it is read. */
void _gantry_model_add_file (GantryModel *model, const char *path);
/** Nodes of the entry function that do work, without parameters and constants: what stands in the body of a fusion is one node to the
 *  reader. What `info` says of a module and what the list of passes does are the same. */
/** Whether @node, of @module, is one of the entry function that does work: no parameter, constant or member of a tuple. */
gboolean _gantry_is_working (const GantryModule *module, const GantryNode *node);
guint _gantry_count_working (const GantryModule *module);
/** What a text of XLA says about itself, and its unknown operations, which take a walk. */
gboolean _gantry_model_take_xla_info (GantryModel *model, GantryModule *module, const GantryXlaInfo *info, const GantryProgress *progress, GError **error);
/** What a file says about itself, where it says more than its module does, and its unknown operations, which take a walk. */
gboolean _gantry_model_take_info (GantryModel *model, GantryModule *module, const GantryReadInfo *info, const GantryProgress *progress, GError **error);
/** What another compiler's passes made: a new list of GantryModelStage, each owned. */
GArray *_gantry_model_stages_new (void);
/** Whether a text that MindSpore writes of its graphs (.ir) lies in @folder. */
gboolean _gantry_model_has_texts (const char *folder);
/** Returns: (transfer full) (nullable): the last graph of a folder of such texts; @model gets the stages */
GantryModule *_gantry_model_open_texts (GantryModel *model, GantryContext *context, const GantryProgress *progress, GError **error);
/** Returns: (transfer full) (nullable): the last module of the compilation that the bindings name; @model gets the stages */
GantryModule *_gantry_model_open_dump (GantryModel *model, GantryContext *context, const GantryProgress *progress, GError **error);

G_END_DECLS
