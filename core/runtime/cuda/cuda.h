/* SPDX-License-Identifier: Apache-2.0 */
/* An NVIDIA GPU as a device: libcuda is loaded at run time, so that one program runs with and without a driver. Arenas
 * are device and pinned host memory, the three queues are streams that meet through events. */
#pragma once
#include "core/runtime/device-kind.h"

G_BEGIN_DECLS

/**
 * gantry_cuda_probe:
 *
 * Looks for GPUs. The environment variable GANTRY_LIBCUDA names the driver's library where it is not libcuda.so.1.
 *
 * Returns: (transfer full) (nullable): NULL with %GANTRY_ERROR_UNSUPPORTED (no driver, one that is too old, no GPU) or
 *  %GANTRY_ERROR_FAILED (a driver that does not work); the message says what is missing, where it was looked for and
 * what to do
 */
GantryDeviceProbe *gantry_cuda_probe (GError **error);

/**
 * gantry_cuda_device_new:
 * @ordinal: as gantry_cuda_probe() counts them
 *
 * Makes the device, which needs some hundred MiB of its memory for the driver itself.
 *
 * Returns: (transfer full) (nullable): NULL with the errors of gantry_cuda_probe(), or %GANTRY_ERROR_FAILED for a GPU
 * that is busy
 */
GantryDevice *gantry_cuda_device_new (int ordinal, GError **error);
/** Is @device one of these? */
gboolean gantry_device_is_cuda (const GantryDevice *device);

/** What it is, for a compiler: compute capability 9.0 gives 90. */
guint gantry_cuda_device_capability (const GantryDevice *device);
/** The driver's context (CUcontext), for measuring by CUPTI. */
gpointer gantry_cuda_device_context (const GantryDevice *device);

/** Device memory as the driver counts it, beside what gantry_device_get_memory() counts as asked for. */
typedef struct
{
  guint64 used, peak;  /* by how much the driver's free memory fell at the allocations that are alive; at most */
  guint64 free, total; /* now, of the whole GPU: others use it too */
  guint64 before;      /* what was taken of it before anything was allocated: the driver's context, and other programs */
} GantryCudaMemory;
/** Returns: FALSE when the driver does not say */
gboolean gantry_cuda_device_measure_memory (GantryDevice *device, GantryCudaMemory *memory);

/**
 * How far apart a stamp and CLOCK_MONOTONIC may be: half of the time that the fastest round trip took when the clocks
 * were compared, for the last batch with stamps, plus the driver's resolution. Nanoseconds; 0: no stamps yet
 */
gint64 gantry_cuda_device_clock_error (const GantryDevice *device);

/** Waits after every command, so that an error names the kernel that made it; slow. Off, but where the environment has
 *  GANTRY_CUDA_CHECK=1. Not while a batch is open. */
void gantry_cuda_device_set_checking (GantryDevice *device, gboolean checking);
/** Batches without stamps are recorded as a CUDA graph and replayed when the same commands come again. Off. */
void gantry_cuda_device_set_graphs (GantryDevice *device, gboolean graphs);
/**
 * gantry_cuda_device_get_notes:
 *
 * What the device does otherwise than it was asked to, in sentences that say why: batches that cannot become a graph.
 *
 * Returns: (transfer full): ends with %NULL
 */
char **gantry_cuda_device_get_notes (GantryDevice *device);
/** Nanoseconds that the batches since the last call took on the GPU, each between an event before it and one after it; 0 where one
 *  of them was not replayed as a graph. What the host does before and after a batch is not in them. */
gint64 gantry_cuda_device_take_replay_ns (GantryDevice *device);
/** How often a graph was made and how often one was replayed: each (out) (optional) */
void gantry_cuda_device_get_graphs (GantryDevice *device, guint *n_made, guint *n_replayed);
/**
 * gantry_cuda_device_set_library:
 * @folder: (nullable): where it is kept which products the library does, so that every process chooses alike; NULL: each load measures
 *
 * Programs loaded from now on have their plain matrix products done by cuBLASLt (GANTRY_LIBCUBLASLT names another file
 * than libcublasLt.so.13 or .12) where that is installed and measured to be faster by more than a tenth. A product that it then does not
 * run is done by the own kernel, of which gantry_cuda_device_get_notes() tells. It works in the kernel's workspace: kernels that were
 * compiled for it have some. Off: then every program gives the same bits however it is planned, wherever it is loaded.
 */
void gantry_cuda_device_set_library (GantryDevice *device, gboolean library, const char *folder);
/** How many commands of a queue that can be cancelled are handed over before the first of them is waited for; 256. */
void gantry_cuda_device_set_run_ahead (GantryDevice *device, guint n_commands);

G_END_DECLS
