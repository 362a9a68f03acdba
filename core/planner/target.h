/* SPDX-License-Identifier: Apache-2.0 */
/* What the cost model knows of a machine: a few rates, which the user may edit, and the roofline
 * that turns work into predicted time. */
#pragma once
#include "core/plan/gpu.h"

G_BEGIN_DECLS

/**
 * GantryTarget: a plain value, copied freely.
 *
 * Rates are above 0 (gantry_target_parse() refuses others); the predictions take 0 as "costs nothing".
 */
typedef struct
{
  char name[64];
  double peak_flops;       /* floating point operations per second, all cores: f32, and what has no rate of its own */
  double memory_bandwidth; /* bytes per second between the processor and its memory */
  double launch_us;        /* overhead of starting one kernel */
  double link_bandwidth;   /* bytes per second between device and host memory, each way */
  guint64 memory_limit;    /* bytes of device memory that may be used, 0: no limit */
  double memory_part;      /* the limit was given as this part of the peak of keeping everything, and memory_limit is what that
                            * comes to, as far as the program is known; 0: it was given in bytes */
  char arch[16];           /* the GPU that kernels are for ("sm_90a"), "": the processor */
  guint64 host_limit;      /* bytes of host memory that what is offloaded may take, 0: no limit */
  double rates[GANTRY_N_UNITS]; /* operations per second of each unit; 0: as peak_flops */
} GantryTarget;

/**
 * gantry_target_init_cpu:
 * @n_threads: 0 for all processors
 *
 * Stated, not measured: 2.5 GHz, one 8-lane fused multiply-add each half cycle for each thread, 12 GB/s for
 * the first thread and 6 GB/s for each further one. Measured node times replace it (GantryPlanOptions).
 */
void gantry_target_init_cpu (GantryTarget *target, guint n_threads);

/**
 * gantry_target_init_gpu:
 *
 * As published of @model: stated, not measured. Limits are not set.
 */
void gantry_target_init_gpu (GantryTarget *target, const GantryGpuModel *model);

/** The target as a key file with the group [target], for people to edit. Returns: (transfer full) */
char *gantry_target_to_text (const GantryTarget *target);
/** Reads what gantry_target_to_text() writes; absent keys keep the value that @target has; but where the
 *  text names a GPU's architecture that is known, those of its gantry_gpu_model(). Units whose rates are absent beside a
 *  `peak_flops` are as that. A rate that is not above 0, or not
 *  finite, is refused: what it is the rate of would cost nothing. */
gboolean gantry_target_parse (GantryTarget *target, const char *text, gssize length, GError **error);

/**
 * gantry_target_predict_us:
 * @flops: -1 when not known
 * @bytes: -1 when not known
 *
 * Returns: max (flops / peak, bytes / bandwidth) plus the launch overhead, in microseconds: the roofline
 *  of Williams, Waterman and Patterson (CACM 52(4), 2009)
 */
double gantry_target_predict_us (const GantryTarget *target, gint64 flops, gint64 bytes);
/** As gantry_target_predict_us(), with each of the node's operations at the rate of its unit. */
double gantry_target_predict_node_us (const GantryTarget *target, const GantryModule *module, const GantryNode *node);
/** The time of one copy between device and host memory, in microseconds. */
double gantry_target_predict_copy_us (const GantryTarget *target, guint64 bytes);

G_END_DECLS
