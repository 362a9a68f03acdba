/* SPDX-License-Identifier: Apache-2.0 */
/* What the cost model knows of a machine: a few rates, which the user may edit, and the roofline
 * that turns work into predicted time; of a processor that was measured curves of time by work instead. */
#pragma once
#include "core/plan/gpu.h"
#include "core/planner/curve.h"
#include "core/planner/kernel-work.h"

G_BEGIN_DECLS

/**
 * GantryTarget: a plain value, copied freely.
 *
 * Rates are above 0 (gantry_target_parse() refuses others); the predictions take 0 as "costs nothing".
 */
typedef struct
{
  char name[64];
  double peak_flops;                  /* floating point operations per second, all cores: f32, and what has no rate of its own */
  double memory_bandwidth;            /* bytes per second between the processor and its memory */
  double launch_us;                   /* overhead of starting one kernel */
  double link_bandwidth;              /* bytes per second between device and host memory, each way */
  guint64 memory_limit;               /* bytes of device memory that may be used, 0: no limit */
  double memory_part;                 /* the limit was given as this part of the peak of keeping everything, and memory_limit is what that
                            * comes to, as far as the program is known; 0: it was given in bytes */
  char arch[16];                      /* the GPU that kernels are for ("sm_90a"), "": the processor */
  guint64 host_limit;                 /* bytes of host memory that what is offloaded may take, 0: no limit */
  double rates[GANTRY_N_UNITS];       /* operations per second of each unit; 0: as peak_flops */
  double run_us, trip_us;             /* of a run, and of a trip of a loop, beside its kernels */
  double inner_us;                    /* launch_us of a kernel in a loop, whose time nobody takes; 0: as launch_us */
  double copy_us;                     /* overhead of starting one copy; 0: as launch_us */
  GantryCurve curves[GANTRY_N_WORKS]; /* how long kinds of work take; of bytes none: rates say it */
  char measured[24];                  /* when that was measured (ISO 8601, UTC), "": it is stated */
  gboolean here;                      /* this machine's processor, whatever it does: nobody has said what it does */
} GantryTarget;

/**
 * gantry_target_init_cpu:
 * @n_threads: 0 for all processors
 *
 * Stated, not measured: 2.5 GHz, one 8-lane fused multiply-add each half cycle for each thread, 12 GB/s for
 * the first thread and 6 GB/s for each further one. What is kept of this machine (core/planner/machine.h), and measured node times
 * (GantryPlanOptions), replace it.
 */
void gantry_target_init_cpu (GantryTarget *target, guint n_threads);

/** "cpu, 2 threads": as the device calls itself. @n_threads: 0 for all processors */
void gantry_target_name_cpu (GantryTarget *target, guint n_threads);

/**
 * gantry_target_rates_text:
 *
 * Returns: (transfer full): where what is predicted comes from: "calibrated on this machine 2026-11-28", "stated rates, not measured here"
 */
char *gantry_target_rates_text (const GantryTarget *target);

/**
 * gantry_target_init_gpu:
 *
 * As published of @model: stated, not measured. Limits are not set.
 */
void gantry_target_init_gpu (GantryTarget *target, const GantryGpuModel *model);

/** The target as a key file with the group [target], for people to edit. Returns: (transfer full) */
char *gantry_target_to_text (const GantryTarget *target);
/** What of @target somebody has given: of this machine's processor the limits alone, else as gantry_target_to_text(). (transfer full) */
char *gantry_target_given_text (const GantryTarget *target);
/** Reads what both write. Of this machine's processor the rates stay those of @target, where that is it too, else they are as stated. Else
 *  absent keys keep the value that @target has, but for curves; but where the
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
/** As gantry_target_predict_us(), with each of the node's operations at the rate of its unit; where @target has curves, by these: the
 *  launch overhead, what its bytes take, and what its work takes beside them. */
double gantry_target_predict_node_us (const GantryTarget *target, const GantryModule *module, const GantryNode *node);
/** The same by curves, of a kernel whose bytes take @memory_us where they lie. */
double gantry_target_predict_kernel_us (const GantryTarget *target, const GantryModule *module, const GantryNode *node, double memory_us);
/** What is planned with @target from now on stands in a loop, branch or call. */
void gantry_target_enter_loop (GantryTarget *target);
/** The time of one copy between device and host memory, in microseconds. */
double gantry_target_predict_copy_us (const GantryTarget *target, guint64 bytes);

G_END_DECLS
