/* SPDX-License-Identifier: Apache-2.0 */
/* Which hardware counters are asked for, chip by chip: tables, checked against each chip's own list without a GPU by
 * tests/profiler/cupti/test-metrics.c. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  const char *metric; /* CUPTI's name */
  const char *label;  /* of the counter in the recording, with its unit */
  double scale;       /* the value times this */
} GantryCuptiSampled;

/** What PM sampling asks for on @chip ("GH100"): counted in one pass together; the most important first. */
const GantryCuptiSampled *_gantry_cupti_sampled (const char *chip, guint *n);

typedef enum
{
  GANTRY_CUPTI_TIME,         /* ns */
  GANTRY_CUPTI_FLOPS,        /* of the ordinary units */
  GANTRY_CUPTI_TENSOR_FLOPS, /* of the tensor cores, any type */
  GANTRY_CUPTI_DRAM_BYTES,
  GANTRY_CUPTI_L2_BYTES,
  GANTRY_CUPTI_OCCUPANCY, /* warps that are there, % of what fits, while an SM is at work */
  GANTRY_CUPTI_SM_BUSY,   /* % of the largest throughput of any part */
  GANTRY_CUPTI_DRAM_BUSY,
  GANTRY_CUPTI_L2_BUSY,
  GANTRY_CUPTI_TENSOR_BUSY,
  GANTRY_CUPTI_CLOCK, /* cycles of an SM per second */
  GANTRY_CUPTI_N_ROLES
} GantryCuptiRole;

typedef struct
{
  const char *metric;
  guint8 role;   /* GantryCuptiRole: values of one role are added up */
  double weight; /* 2 for a multiplication with an addition */
} GantryCuptiRanged;

/** What range profiling of one kernel asks for on @chip; several passes. (transfer container) (element-type
 *  GantryCuptiRanged) */
GArray *_gantry_cupti_ranged (const char *chip);

G_END_DECLS
