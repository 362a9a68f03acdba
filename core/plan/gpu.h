/* SPDX-License-Identifier: Apache-2.0 */
/* What is published of GPUs: rates for each unit and element type. The cost model and the choice of schedules start from them. */
#pragma once
#include "core/graph/operation.h"

G_BEGIN_DECLS

/** A GPU as its maker states it. Stated, not measured. */
typedef struct
{
  const char *name;  /* "h100": of a target */
  const char *label; /* "H100 SXM" */
  const char *arch;  /* that code is made for */
  guint n_multiprocessors;
  double rates[GANTRY_N_UNITS]; /* operations per second, dense, sums of f16, bf16 and 8 bits in 32 bits; a multiply-add is two */
  double tf32;                  /* products of f32 rounded to 10 bits of mantissa */
  double memory_bandwidth;      /* bytes per second */
  double link_bandwidth;        /* bytes per second to the host and from it, each way: an x16 link less its protocol */
  guint64 memory_bytes;         /* as a driver counts the memory of one; of B200 as it is sold */
} GantryGpuModel;

/** Microseconds of starting one kernel after another: of the order that is published for H100; gantry-cli calibrate measures it. */
#define GANTRY_GPU_LAUNCH_US 3.0

/** @name: of a GPU ("h100") or an architecture ("sm_90a"), which stands for the first of its GPUs. Returns: (nullable) */
const GantryGpuModel *gantry_gpu_model (const char *name);
/**
 * gantry_gpu_model_of_device:
 * @name: as its driver names it: "NVIDIA H200"
 * @capability: 90
 *
 * Returns: (nullable): the one of that name, else one of the same generation
 */
const GantryGpuModel *gantry_gpu_model_of_device (const char *name, guint capability);
/** "a100, h100, h200, b200, rtx4090" (transfer full) */
char *gantry_gpu_model_names (void);

G_END_DECLS
