/* SPDX-License-Identifier: Apache-2.0 */
/* What code is made for: kernels are compiled for one of these, and each kind of device runs one. */
#pragma once

typedef enum
{
  GANTRY_CODE_CPU,         /* vector code for the processor, and oneDNN */
  GANTRY_CODE_GRID_ON_CPU, /* the schedules of the GPU `arch`, lowered for the processor: to test them without one */
  GANTRY_CODE_CUDA,        /* PTX, and a cubin where the assembler ptxas is installed */
} GantryCodeTarget;
