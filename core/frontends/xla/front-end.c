/* SPDX-License-Identifier: Apache-2.0 */
/* StableHLO, HLO and jaxprs, as one of the front ends. */
#include "core/frontends/front-end.h"
#include "core/frontends/xla/xla.h"

static GantryModule *
import (GantryContext *context, const char *path, const GantryReadOptions *options, GantryReadInfo *info, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryXlaInfo) said = NULL;
  GantryModule *module = gantry_xla_import (context, path, NULL, &said, progress, error);

  if (module != NULL)
    *info = (GantryReadInfo){ .format = g_strdup (said->format), .unknown = g_ptr_array_ref (said->unknown) };
  return module;
}

const GantryFrontEnd gantry_front_end_xla = { .patterns = "*.mlir *.stablehlo *.hlo *.hlo.pb *.mlirbc *.jaxpr",
                                              .formats = "StableHLO (.mlir, .mlirbc), HLO (.hlo, .pb), a folder of XLA's dumps",
                                              .reads = gantry_xla_reads,
                                              .dialects = gantry_xla_dialects,
                                              .import = import };
