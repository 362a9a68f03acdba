/* SPDX-License-Identifier: Apache-2.0 */
/* core/runtime: runs an executable on a device. It allocates the planned arenas, fills the constant
 * region once, runs the instruction list on the queues and tells an observer what was measured. It
 * knows nothing of how kernels or plans are made. */
#pragma once
#include "core/plan/executable.h"
#include "core/plan/memory-measure.h"
#include "core/runtime/calibrate.h"
#include "core/runtime/cpu/cpu.h"
#include "core/runtime/cuda/cuda.h"
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
GantryExecutor *gantry_executor_new (GantryDevice *device, GantryExecutable *executable, GCancellable *cancellable, GError **error);
void gantry_executor_free (GantryExecutor *executor);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryExecutor, gantry_executor_free)

typedef struct
{
  gconstpointer data; /* (nullable): NULL: what is there stays, see gantry_executor_run() */
  gsize size;         /* bytes: exactly those of the parameter */
  gboolean donated;   /* the memory at `data` may be written over: what is donated to the parameter then lies there afterwards */
} GantryRunInput;

typedef struct
{
  gpointer data; /* (nullable): NULL: the result is not read */
  gsize size;    /* bytes: exactly those of the result */
} GantryRunOutput;

/**
 * gantry_executor_run:
 * @inputs: one for each parameter
 * @outputs: one for each result: written
 * @observer: (nullable): called from this thread before the function returns, with what was measured, in the order
 *  of time for each queue. Memory is told where it was measured before: gantry_executor_measure()
 * @cancellable: (nullable): looked at between instructions
 *
 * Runs once. Not to be called from two threads at once for one executor. The time that @observer is told is that of the
 * queues: inputs are there before it begins, results are read after it ended.
 *
 * On a device that is the host (gantry_device_is_host()) inputs and results are used where they lie, and nothing is copied, if their
 * address is a multiple of %GANTRY_TENSOR_ALIGNMENT: an input that the program never writes over is read there, one that a result
 * is donated to is written over there if it is @donated, a result is written there if it has a place of its own. Such
 * inputs must live, unchanged, as long as runs use them: this one, and those that follow it without giving the input anew. What
 * overlaps memory that is written, is not aligned or shares its place with other values is copied:
 * gantry_executor_copied_bytes().
 *
 * An input without data keeps what its place holds: the result that the run before wrote over it (a donated
 * parameter: attribute `alias`), else what was given for it before. For that it must have a place of its own, as in a
 * plan that is resident.
 *
 * Returns: FALSE with %GANTRY_ERROR_INVALID when counts or sizes do not fit or an input without data has nothing to keep,
 *  %GANTRY_ERROR_UNSUPPORTED when it has no place of its own, or %G_IO_ERROR_CANCELLED
 */
gboolean gantry_executor_run (GantryExecutor *executor, const GantryRunInput *inputs, guint n_inputs, const GantryRunOutput *outputs, guint n_outputs,
                              const GantryObserver *observer, GCancellable *cancellable, GError **error);

/** GantryRunHooks: what happens between the steps of gantry_executor_run_steps(). Either may be NULL. */
typedef struct
{
  /** Before step @step: sets `data` of the inputs that are new (a batch); it must live until the step is over. */
  void (*feed) (gpointer self, guint step, GantryRunInput *inputs);
  /** After step @step: the results that no parameter is donated to are in their `data` (a loss). Returns: FALSE to stop */
  gboolean (*done) (gpointer self, guint step, const GantryRunOutput *outputs);
  gpointer self;
} GantryRunHooks;

/**
 * gantry_executor_run_steps:
 * @n_steps: how often
 * @inputs: of the first step; their data must live until the last one is over
 * @outputs: written after the last step; those that no parameter is donated to after each
 * @hooks: (nullable)
 *
 * A loop of training steps: parameters and state stay on the device, each step reads what the one before wrote. Only
 * what @hooks feeds is copied in. An input that is neither donated to nor fed keeps its value.
 *
 * Returns: the same errors as gantry_executor_run()
 */
gboolean gantry_executor_run_steps (GantryExecutor *executor, guint n_steps, const GantryRunInput *inputs, guint n_inputs, const GantryRunOutput *outputs,
                                    guint n_outputs, const GantryRunHooks *hooks, const GantryObserver *observer, GCancellable *cancellable, GError **error);

/** Who answers custom calls of the program; without it they are an error that names the first of them. */
void gantry_executor_set_host_call (GantryExecutor *executor, GantryHostCall call, gpointer self);

/** Bytes of inputs and results that the last run copied because they could not be used where they lie. */
guint64 gantry_executor_copied_bytes (const GantryExecutor *executor);

/** Whether a run can use input @input where the caller has it, in memory that is aligned: its place in the plan then takes nothing.
 *  @donated: as of GantryRunInput */
gboolean gantry_executor_binds_input (const GantryExecutor *executor, guint input, gboolean donated);
/** Whether it can write result @output where the caller wants it, likewise. */
gboolean gantry_executor_binds_output (const GantryExecutor *executor, guint output);

/** The result that is written over input @input between two steps, or -1. */
gint gantry_executor_alias (const GantryExecutor *executor, guint input);

/**
 * gantry_executor_run_literals:
 * @inputs: one for each parameter, of its type; NULL keeps what is there, see gantry_executor_run()
 * @outputs: (out): one for each result, (transfer full); untouched on error
 */
gboolean gantry_executor_run_literals (GantryExecutor *executor, GantryLiteral *const *inputs, guint n_inputs, GantryLiteral **outputs, guint n_outputs,
                                       const GantryObserver *observer, GCancellable *cancellable, GError **error);

/**
 * gantry_executor_measure:
 * @progress: (nullable): told "Measuring memory" with how much of the instructions is done, a hundred times at most
 *
 * One run more, as gantry_executor_run() without an observer, whose memory is measured from outside of the plan: see
 * #GantryMemoryMeasure. On a device that is the host instructions run one after the other, and after each the pages of the arenas
 * are looked at: where nothing of the plan is alive there are none, unless somebody touches them who should not. So it takes longer
 * than a run, and its times mean nothing. Runs that follow tell their observers the curve, with their own times. On another device
 * its driver is asked what is free, before the program was loaded and after this run, and what each allocation took of that.
 *
 * Seen is: a page of 4 KiB touched in an arena where no value lies at that time, or up to %GANTRY_ARENA_GUARD in front of one or behind;
 * memory of half a MiB or more that a kernel takes from the system, even if it gives it back at once. Not seen is what is written over
 * other values that are alive, or within a page that they share (gantry_executor_set_verify()), and a block that the heap
 * had left over.
 *
 * Returns: the same errors as gantry_executor_run()
 */
gboolean gantry_executor_measure (GantryExecutor *executor, const GantryRunInput *inputs, guint n_inputs, const GantryRunOutput *outputs, guint n_outputs,
                                  const GantryProgress *progress, GError **error);
/** Nanoseconds that the queues took for the last gantry_executor_run(), which its observer was told too: without copying arguments and
 *  results, and without what telling the observer takes. */
gint64 gantry_executor_run_ns (const GantryExecutor *executor);

/**
 * gantry_executor_take_measure:
 *
 * What was measured, with what the process takes now.
 *
 * Returns: (transfer full) (nullable): %NULL where nothing was measured: without an error where nobody asked for it or the device does
 *  not say, with %GANTRY_ERROR_UNSUPPORTED where the system did not tell a part of it
 */
GantryMemoryMeasure *gantry_executor_take_measure (GantryExecutor *executor, GError **error);

typedef enum
{
  GANTRY_VERIFY_PLACES = 1 << 0, /* no two places alive together overlap; an instruction uses only what is alive, and
                                  * waits for those of other queues that use the same bytes */
  GANTRY_VERIFY_POISON = 1 << 1, /* a place is overwritten with a pattern when it is allocated and when released */
  GANTRY_VERIFY_WRITES = 1 << 2, /* an instruction changes nothing but its results and its workspace (slow) */
} GantryVerifyFlags;

/** What runs from now on check, in the places of the arena (inputs and results are copied), each instruction by itself; a finding is %GANTRY_ERROR_FAILED
 * and names the buffers. */
void gantry_executor_set_verify (GantryExecutor *executor, GantryVerifyFlags flags);

G_END_DECLS
