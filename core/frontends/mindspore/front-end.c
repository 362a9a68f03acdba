/* SPDX-License-Identifier: Apache-2.0 */
/* MindIR, as one of the front ends. */
#include "core/frontends/front-end.h"
#include "core/frontends/mindspore/mindspore.h"

static GantryModule *
import (GantryContext *context, const char *path, const GantryReadOptions *options, GantryReadInfo *info, const GantryProgress *progress, GError **error)
{
  GantryMindsporeOptions own = { .dims = options->dims, .n_dims = options->n_dims, .anywhere = options->outside };
  g_autoptr (GantryMindsporeInfo) said = NULL;
  GantryModule *module = gantry_mindspore_import (context, path, &own, &said, progress, error);

  if (module == NULL)
    return NULL;
  *info = (GantryReadInfo){
    .format = g_strdup ("MindIR"),
    .producer = g_strdup (said->producer),
    .is_counted = TRUE,
    .n_nodes = said->n_nodes,
    .n_weights = said->n_weights,
    .weight_bytes = said->weight_bytes,
    .unknown = g_ptr_array_ref (said->unknown),
    .unbound = g_ptr_array_ref (said->unbound),
    .files = g_ptr_array_ref (said->files),
  };
  return module;
}

static const GantryDialect *
dialects (guint *n)
{
  *n = 1;
  return gantry_mindspore_dialect ();
}

const GantryFrontEnd gantry_front_end_mindspore = {
  .patterns = "*.mindir *.ir", .formats = "MindIR (.mindir)", .reads = gantry_mindspore_reads, .dialects = dialects, .import = import
};
