/* SPDX-License-Identifier: Apache-2.0 */
/* core/passes: graph passes over core operations, one file each. The order in which they stand in the list is that in which
 * core/compiler runs them. */
#pragma once
#include "core/passes/pass-list.h"
#include "core/passes/pass.h"

G_BEGIN_DECLS

#define GANTRY_DECLARE_PASS(pass, name, when) extern const GantryPass gantry_pass_##pass;
#define GANTRY_DECLARE_NOTHING(...)
GANTRY_PASS_LIST (GANTRY_DECLARE_PASS, GANTRY_DECLARE_NOTHING)
#undef GANTRY_DECLARE_PASS
#undef GANTRY_DECLARE_NOTHING

/** What cannot be compiled. @why: "stablehlo.fft: complex numbers are not compiled"; @where: of the first of @count */
typedef struct
{
  char *why, *where;
  guint count;
} GantryRefusal;

void gantry_refusal_free (GantryRefusal *refusal);
/**
 * gantry_legalize_refusals:
 *
 * All that legalize refuses of @module. Nothing is compiled for it.
 *
 * Returns: (transfer full) (nullable): GantryRefusal, each reason once; empty where there are none
 */
GPtrArray *gantry_legalize_refusals (GantryModule *module, const GantryProgress *progress, GError **error);

G_END_DECLS
