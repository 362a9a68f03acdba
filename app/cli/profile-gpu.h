/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI around the runs of a program, and one of its kernels looked at closely. */
#pragma once
#include "app/cli/program.h"
#include "profiler/cupti/cupti.h"

G_BEGIN_DECLS

typedef struct _GantryGpuProfiler GantryGpuProfiler;

/**
 * gantry_gpu_profiler_new:
 * @options: as gantry_cupti_start()
 *
 * To be made before the device. Where CUPTI does not start, runs go on and the recording is what they told, with a note of why.
 *
 * Returns: (transfer full)
 */
GantryGpuProfiler *gantry_gpu_profiler_new (const GantryCuptiOptions *options);
void gantry_gpu_profiler_free (GantryGpuProfiler *profiler);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryGpuProfiler, gantry_gpu_profiler_free)
/** Lets the runs of @how, which has its device, be recorded: once. */
void gantry_gpu_profiler_attach (GantryGpuProfiler *profiler, GantryProgramOptions *how);

/**
 * gantry_gpu_profile_node:
 * @ordinal: of @device
 * @node: of the program: its kernel is launched by itself, on memory of zeros
 * @name: (out) (transfer full): of the kernel
 *
 * Returns: FALSE with %GANTRY_ERROR_INVALID for a node that no kernel does the work of, or as gantry_cupti_profile_kernel()
 */
gboolean gantry_gpu_profile_node (GantryDevice *device, guint ordinal, GantryProgram *program, guint32 node, char **name, GantryCuptiKernelProfile *profile,
                                  GError **error);

G_END_DECLS
