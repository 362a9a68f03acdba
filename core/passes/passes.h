/* SPDX-License-Identifier: Apache-2.0 */
/* core/passes: graph passes over core operations, one file each. In which order they run is the
 * compiler's business (core/compiler). */
#pragma once
#include "core/passes/pass.h"

G_BEGIN_DECLS

extern const GantryPass gantry_pass_legalize;
extern const GantryPass gantry_pass_simplify;
extern const GantryPass gantry_pass_fold;
extern const GantryPass gantry_pass_cse;
extern const GantryPass gantry_pass_dce;
extern const GantryPass gantry_pass_epilogue;
extern const GantryPass gantry_pass_fuse;
extern const GantryPass gantry_pass_inline; /* calls become the bodies that they name */
extern const GantryPass gantry_pass_count;  /* loops that run a known number of times become scans */
extern const GantryPass gantry_pass_unroll; /* scans, bounded loops and branches become straight-line code */
extern const GantryPass gantry_pass_roll;   /* runs of equal blocks become scans */

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
