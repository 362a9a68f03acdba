/* SPDX-License-Identifier: Apache-2.0 */
/* What --target names: a GPU ("h100"), an architecture ("sm_90a"), or a file that describes a machine. */
#pragma once
#include "core/base/read-files.h"
#include "core/planner/target.h"
#include "core/plan/gpu.h"

G_BEGIN_DECLS

/** All members are 0 where there is no --target. */
typedef struct
{
  GantryTarget *machine;     /* (nullable): what is planned for; NULL: the architecture has no published rates */
  const GantryGpuModel *gpu; /* (nullable): the GPU that is named, or that the architecture stands for */
  char *arch;                /* (nullable): what code is for: "sm_90a"; NULL: the processor */
  gboolean is_file;          /* its rates are the file's own */
} GantryCliTarget;

/**
 * gantry_cli_target_resolve:
 * @name: (nullable): the argument of --target; a file of that name comes before a GPU
 * @read: gets the file
 * @target: (out): cleared by gantry_cli_target_clear() whatever is returned
 *
 * Returns: FALSE with %GANTRY_ERROR_INVALID, and the names that there are, where it is neither; or with what is wrong with the file
 */
gboolean gantry_cli_target_resolve (const char *name, GantryReadFiles *read, GantryCliTarget *target, GError **error);
/** Sets @error to that nothing is called @name. Returns: %FALSE */
gboolean gantry_cli_target_refuse (const char *name, GError **error);
void gantry_cli_target_clear (GantryCliTarget *target);

G_END_DECLS
