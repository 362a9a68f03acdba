/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a module as generated code: passes, kernels, plan, executor; on the processor or on the schedules made for
 * GPUs. */
#pragma once
#include "core/graph/module.h"

typedef enum
{
  RUN_CPU,
  RUN_GRID,
  RUN_N_BACK_ENDS
} RunBackEnd;

/** Returns: (transfer full) (nullable): GantryLiteral for each result of the entry */
GPtrArray *run_case (GantryModule *module, const GPtrArray *inputs, RunBackEnd back_end, GError **error);

/** Whether two values agree: exactly (NaN equals NaN, zeros are equal), or within @tolerance relative to the larger
 * one, three units in the last place, or what rounding comes to where the largest values cancel. @why: (out)
 * (transfer full): the first difference */
gboolean run_agree (const GantryLiteral *actual, const GantryLiteral *expected, gboolean exact, double tolerance, char **why);
