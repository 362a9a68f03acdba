/* SPDX-License-Identifier: Apache-2.0 */
/* Worker threads that share the tasks of one kernel at a time. */
#pragma once
#include "core/plan/executable.h"

typedef struct _CpuPool CpuPool;

CpuPool *_gantry_cpu_pool_new (guint n_threads);
/** Whether all its threads could be made: with fewer it works as well, but takes longer than what asked for them expects. */
gboolean _gantry_cpu_pool_check (const CpuPool *pool, GError **error);
void _gantry_cpu_pool_free (CpuPool *pool);

/**
 * Runs all tasks of @kernel and returns when they are done. From one thread at a time.
 *
 * @offered: (nullable): called with @data once the others have been offered the work, before this thread takes its part:
 *  for what may cost this thread its processor for a while
 */
void _gantry_cpu_pool_run (CpuPool *pool, const GantryKernel *kernel, void *const *buffers, void (*offered) (gpointer data), gpointer data);

/** A short pause within a loop that waits for another thread. */
static inline void
cpu_relax (void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause ();
#endif
}
