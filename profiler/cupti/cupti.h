/* SPDX-License-Identifier: Apache-2.0 */
/* profiler/cupti: records what an NVIDIA GPU does, by CUPTI, and ties it to a program's instructions. Depends on
 * core/plan and profiler's recording model; CUPTI's headers are used where they were found when this was built, and its
 * library is loaded when a recorder starts (GANTRY_LIBCUPTI names another file).
 *
 * To record, in the order that matters:
 * |[<!-- language="C" -->
 * gantry_cupti_prepare_environment ();                          // first thing in main(), while there is one thread
 * recorder = gantry_cupti_start (&options, &error);             // before the first call of the driver
 * device = gantry_cuda_device_new (...);
 * gantry_device_set_marks (device, &(GantryDeviceMarks){ gantry_cupti_push, gantry_cupti_pop, recorder });
 * ... runs, observed by a GantryCpuRecorder (for the runs, the plan's memory, and as a substitute) ...
 * gantry_device_set_marks (device, NULL);                       // and the device is idle
 * observed = gantry_cpu_recorder_take (cpu_recorder);
 * recording = gantry_cupti_stop (recorder, NULL, 0, executable, observed);
 * ]|
 * When gantry_cupti_start() fails the runs can go on, and what the observer was told is the recording. */
#pragma once
#include "profiler/cupti/convert.h"

G_BEGIN_DECLS

/** What is recorded. */
typedef enum
{
  GANTRY_CUPTI_TRACE_WORK = 1 << 0,    /* kernels, copies, sets, and the marks */
  GANTRY_CUPTI_TRACE_CALLS = 1 << 1,   /* of the driver */
  GANTRY_CUPTI_TRACE_RUNTIME = 1 << 2, /* calls of the CUDA runtime, where a library uses it */
  GANTRY_CUPTI_TRACE_SYNC = 1 << 3,
  GANTRY_CUPTI_TRACE_MEMORY = 1 << 4, /* allocations and pools */
  GANTRY_CUPTI_TRACE_OVERHEAD = 1 << 5,
  GANTRY_CUPTI_TRACE_RANGES = 1 << 6, /* NVTX */
  GANTRY_CUPTI_TRACE_GRAPHS = 1 << 7, /* graph launches as a whole instead of kernel by kernel: costs less */
} GantryCuptiTrace;
#define GANTRY_CUPTI_TRACE_DEFAULT \
  (GANTRY_CUPTI_TRACE_WORK | GANTRY_CUPTI_TRACE_CALLS | GANTRY_CUPTI_TRACE_SYNC | GANTRY_CUPTI_TRACE_MEMORY | GANTRY_CUPTI_TRACE_OVERHEAD \
   | GANTRY_CUPTI_TRACE_RANGES)

/** All zero is a good choice. */
typedef struct
{
  guint trace;               /* GantryCuptiTrace; 0: GANTRY_CUPTI_TRACE_DEFAULT */
  gboolean counters;         /* sample hardware counters too */
  guint device;              /* ordinal of the GPU whose counters are sampled */
  guint64 sampling_ns;       /* between samples; 0: 500,000 */
  gsize hardware_bytes;      /* of the counters' buffer on the GPU; 0: 64 MiB */
  gsize buffer_bytes;        /* of an activity buffer; 0: 4 MiB */
  gsize device_buffer_bytes; /* of CUPTI's buffers on the GPU; 0: as CUPTI has them (3.2 MB: 100,000 kernels) */
  guint64 most_bytes;        /* of all activity buffers; what comes then is dropped and counted; 0: 1 GiB */
  const char *raw_path;      /* (nullable): a .cupti file to write when the recording ends */
  GantryReadFiles *read;     /* (nullable): files that it is not to replace; asked when it is written */
} GantryCuptiOptions;

typedef struct _GantryCuptiRecorder GantryCuptiRecorder;

/** Was this built with CUPTI's headers? Without them gantry_cupti_start() always fails. */
gboolean gantry_cupti_is_built (void);
/**
 * gantry_cupti_prepare_environment:
 *
 * Lets CUPTI see the NVTX ranges of libraries, by setting NVTX_INJECTION64_PATH unless it is set. As with any change
 * of the environment: only while the process has one thread.
 */
void gantry_cupti_prepare_environment (void);
/**
 * gantry_cupti_start:
 * @options: (nullable): copied
 *
 * Starts to record. There is one recorder in a process at a time. Missing privileges do not make it fail: what cannot
 * be recorded is told in the recording's notes with the remedy.
 *
 * Returns: (transfer full) (nullable): %GANTRY_ERROR_UNSUPPORTED: built without CUPTI, or no library, no driver, no
 * GPU;
 *  %GANTRY_ERROR_FAILED: another tool holds CUPTI (the message names it), or a recorder is at work
 */
GantryCuptiRecorder *gantry_cupti_start (const GantryCuptiOptions *options, GError **error);
/** Are kernels of CUDA graphs tied to their instructions? Else what is recorded had better be launched one by one. */
gboolean gantry_cupti_ties_graphs (const GantryCuptiRecorder *recorder);
/** Marks what the calling thread asks of the driver until gantry_cupti_pop(): GantryDeviceMarks takes both. */
void gantry_cupti_push (gpointer recorder, guint32 instruction);
/** Ends the mark that this thread's last gantry_cupti_push() made. */
void gantry_cupti_pop (gpointer recorder);
/**
 * gantry_cupti_stop:
 * @recorder: (transfer full)
 * @runs: @executable: @observed: as for gantry_cupti_convert()
 *
 * Ends the recording. All work must be done before: synchronise the device first, or what is under way has no end.
 *
 * Returns: (transfer full): what went wrong is in its notes
 */
GantryRecording *
gantry_cupti_stop (GantryCuptiRecorder *recorder, const GantryCuptiRun *runs, guint n_runs, GantryExecutable *executable, const GantryRecording *observed);
/** Ends without a recording. */
void gantry_cupti_cancel (GantryCuptiRecorder *recorder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryCuptiRecorder, gantry_cupti_cancel)

/** Why counters or activities may not be read, and what to do: for error 35 of CUPTI. (transfer full) */
char *gantry_cupti_privileges_text (void);

/* One kernel looked at closely. */

/** Launches the kernel once, with the same inputs every time, and waits for it. */
typedef gboolean (*GantryCuptiLaunchFunc) (gpointer user_data, GError **error);

/** NaN where a chip does not count it. Busy and occupancy in %; of the time that the kernel ran alone. */
typedef struct
{
  guint n_passes;
  double duration_ns, clock_hz;
  double flops, tensor_flops; /* of the ordinary units; of the tensor cores */
  double dram_bytes, l2_bytes;
  double occupancy; /* warps there, of those that fit */
  double sm_busy, tensor_busy, dram_busy, l2_busy;
} GantryCuptiKernelProfile;

/**
 * gantry_cupti_profile_kernel:
 * @context: (nullable): a CUcontext; NULL: that of the calling thread
 * @device: ordinal of its GPU
 * @profile: (out)
 *
 * Counts what one kernel does, by launching it as often as the counters need passes (14 on GH100). Not while a recorder
 * samples counters.
 *
 * Returns: FALSE with %GANTRY_ERROR_UNSUPPORTED or %GANTRY_ERROR_FAILED; for missing privileges the message has the
 * remedy
 */
gboolean gantry_cupti_profile_kernel (gpointer context, guint device, GantryCuptiLaunchFunc launch, gpointer user_data, GantryCuptiKernelProfile *profile,
                                      GError **error);

G_END_DECLS
