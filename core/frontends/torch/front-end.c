/* SPDX-License-Identifier: Apache-2.0 */
/* What torch.export saves, as one of the front ends. */
#include "core/frontends/front-end.h"
#include "core/frontends/torch/torch.h"

static GantryModule *
import (GantryContext *context, const char *path, const GantryReadOptions *options, GantryReadInfo *info, const GantryProgress *progress, GError **error)
{
  GantryTorchOptions own = { .dims = options->dims, .n_dims = options->n_dims };
  g_autoptr (GantryTorchInfo) said = NULL;
  GantryModule *module = gantry_torch_import (context, path, &own, &said, progress, error);

  if (module == NULL)
    return NULL;
  *info = (GantryReadInfo){
    .format = g_strdup ("torch.export"),
    .producer = g_strdup (said->producer),
    .is_counted = TRUE,
    .n_nodes = said->n_nodes,
    .n_weights = said->n_weights,
    .weight_bytes = said->weight_bytes,
    .unknown = g_ptr_array_ref (said->unknown),
    .unbound = g_ptr_array_ref (said->unbound),
  };
  return module;
}

static const GantryDialect *
dialects (guint *n)
{
  *n = 1;
  return gantry_torch_dialect ();
}

const GantryFrontEnd gantry_front_end_torch = {
  .patterns = "*.pt2", .formats = "torch.export (.pt2)", .reads = gantry_torch_reads, .dialects = dialects, .import = import
};
