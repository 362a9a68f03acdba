/* SPDX-License-Identifier: Apache-2.0 */
/* core/runtime: runs an executable on a device. It allocates the planned arenas, fills the constant
 * region once, runs the instruction list on the queues and tells an observer what was measured. It
 * knows nothing of how kernels or plans are made. */
#pragma once
#include "core/ir/executable.h"
#include "core/runtime/cpu/cpu.h"
#include "core/runtime/device.h"

G_BEGIN_DECLS

typedef struct _GantryExecutor GantryExecutor;

/**
 * gantry_executor_new:
 * @device: (transfer none): kept
 * @executable: (transfer none): kept
 * @cancellable: (nullable)
 *
 * Loads: allocates the arenas and the constant region, runs the init instructions and the packing of weights.
 *
 * Returns: (transfer full) (nullable): NULL with %GANTRY_ERROR_NO_MEMORY (by how much the limit is exceeded, and the
 *  largest buffers at the peak), %GANTRY_ERROR_UNSUPPORTED (an instruction that this runtime does not know),
 *  %GANTRY_ERROR_INVALID (indices out of range) or %G_IO_ERROR_CANCELLED
 */
GantryExecutor *gantry_executor_new (GantryDevice *device, GantryExecutable *executable, GCancellable *cancellable,
                                     GError **error);
void gantry_executor_free (GantryExecutor *executor);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryExecutor, gantry_executor_free)

typedef struct
{
  gconstpointer data;
  gsize size; /* bytes: exactly those of the parameter */
} GantryRunInput;

typedef struct
{
  gpointer data;
  gsize size; /* bytes: exactly those of the result */
} GantryRunOutput;

/**
 * gantry_executor_run:
 * @inputs: one for each parameter
 * @outputs: one for each result: written
 * @observer: (nullable): called from this thread before the function returns, with what was measured, in the order
 *  of time for each queue. Places are told as they are allocated and released (the buffer is the one that owns the place).
 * @cancellable: (nullable): looked at between instructions
 *
 * Runs once. Not to be called from two threads at once for one executor.
 *
 * Returns: FALSE with %GANTRY_ERROR_INVALID when counts or sizes do not fit, or %G_IO_ERROR_CANCELLED
 */
gboolean gantry_executor_run (GantryExecutor *executor, const GantryRunInput *inputs, guint n_inputs,
                              const GantryRunOutput *outputs, guint n_outputs, const GantryObserver *observer,
                              GCancellable *cancellable, GError **error);

/**
 * gantry_executor_run_literals:
 * @inputs: one for each parameter, of its type
 * @outputs: (out): one for each result, (transfer full); untouched on error
 */
gboolean gantry_executor_run_literals (GantryExecutor *executor, GantryLiteral *const *inputs, guint n_inputs,
                                       GantryLiteral **outputs, guint n_outputs, const GantryObserver *observer,
                                       GCancellable *cancellable, GError **error);

/** Bytes of the device arena that the last run touched: the largest end of a place that was alive. 0 before a run. */
guint64 gantry_executor_peak_bytes (const GantryExecutor *executor);

typedef enum
{
  GANTRY_VERIFY_PLACES = 1 << 0, /* no two places alive together overlap; an instruction uses only what is alive */
  GANTRY_VERIFY_POISON = 1 << 1, /* a place is overwritten with a pattern when it is allocated and when released */
  GANTRY_VERIFY_WRITES = 1 << 2, /* an instruction changes nothing but its results and its workspace (slow) */
} GantryVerifyFlags;

/** What runs from now on check, each instruction by itself; a finding is %GANTRY_ERROR_FAILED and names the buffers. */
void gantry_executor_set_verify (GantryExecutor *executor, GantryVerifyFlags flags);

G_END_DECLS
