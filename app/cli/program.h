/* SPDX-License-Identifier: Apache-2.0 */
/* What the command line runs: options of a program (core/build makes it), the device, and measured runs. Used by compile, run, verify
 * and profile. */
#pragma once
#include "app/cli/cli.h"
#include "app/cli/values.h"
#include "core/build/build.h"
#include "core/runtime/runtime.h"

G_BEGIN_DECLS

typedef struct
{
  gint threads;
  gboolean no_library;
  gboolean allow_tf32;  /* of a GPU: as GantryKernelOptions */
  gboolean gpu_library; /* likewise; on the device cuBLASLt does products where it is faster */
  gboolean keep_texts;
  guint64 limit, host_limit; /* bytes of the device's memory and of the host's, 0: none */
  GantryCodeTarget code;
  GantryInstructionSet instructions;
  guint layout_block;
  gboolean quick_compile;   /* LLVM's lowest level of code generation */
  const char *arch;         /* (nullable): of a GPU: as GantryKernelOptions */
  const char *cache_folder; /* (nullable) */
  GantryDevice *device;     /* (nullable) (unowned): what runs it; NULL: the processor, for each run anew */
  /** (nullable): another recorder: gets what was observed (transfer full) when the device is idle, gives the recording */
  GantryRecording *(*end_recording) (gpointer recorder, GantryExecutable *executable, GantryRecording *observed);
  gpointer recorder;
} GantryProgramOptions;

/**
 * gantry_program_choose_device:
 * @device: (nullable): the option --device: "cpu", "grid" for the schedules of a GPU lowered for the processor, "cuda" or "cuda:N"
 * @common: what --target says code is for
 * @arch: (inout): keeps its name
 *
 * What code is made for, before any is: the instructions of --instructions become the limit of the library in this process.
 *
 * Returns: FALSE with what --device, --instructions or --layout-block takes in @error
 */
gboolean gantry_program_choose_device (GantryProgramOptions *options, const char *device, GantryCliOptions *common, char **arch, GError **error);

/** What of @options core/build needs; their texts stay those of @options. */
GantryBuildOptions gantry_program_build_options (const GantryProgramOptions *options);

/** What the kernels of @options are made with, as gantry_kernel_conditions_text(). (transfer full) */
char *gantry_program_conditions (const GantryProgramOptions *options);

/** Opens what --device names, and lets @options compile for it. (transfer full) (nullable) */
GantryDevice *gantry_program_open_device (GantryProgramOptions *options, const char *device, GError **error);

/** Takes from this process what generated code has no use for (confine.h), or says that this system cannot do that. Once. */
void gantry_program_confine (const GantryProgramOptions *options);
/** Nothing beyond the limits of @options is allocated on @device from now on. */
void gantry_program_set_limits (const GantryProgramOptions *options, GantryDevice *device);

/** As gantry_build(), with what to do about it in @error. */
GantryProgram *gantry_program_new (const GantryCompilation *compilation, const GantryCompileSettings *settings, const GantryProgramOptions *options,
                                   const GantryProgress *progress, GError **error);

/**
 * gantry_program_measure:
 * @values: what the runs read and write: afterwards the results of the last one
 *
 * Loads the program, runs it @n_warmup times unmeasured and @n_runs times measured, each time from the same inputs.
 * Returns: (transfer full) (nullable)
 */
GantryRunResult *gantry_program_measure (GantryProgram *program, const GantryProgramOptions *options, GantryValues *values, guint n_warmup, guint n_runs,
                                         const GantryProgress *progress, GError **error);

/**
 * gantry_program_measure_steps:
 * @losses: (element-type double): gets the first result of each step, where that is one number
 *
 * As gantry_program_measure(), but the runs are the steps of one training: each goes on with the parameters and the state that
 * the one before left on the device.
 */
GantryRunResult *gantry_program_measure_steps (GantryProgram *program, const GantryProgramOptions *options, GantryValues *values, guint n_steps, GArray *losses,
                                               const GantryProgress *progress, GError **error);

/** How long steps take when nobody looks. */
typedef struct
{
  GArray *milliseconds;    /* (element-type double): of each step after those for warming up */
  gboolean between_events; /* on the GPU, from an event before a step to one after it; else by the host's clock */
  char **notes;            /* what was done otherwise than asked for, and why */
} GantryProgramTimes;

void gantry_program_times_clear (GantryProgramTimes *times);

/**
 * gantry_program_time:
 * @times: (out): to be cleared, after an error too
 *
 * Runs @n_warmup and @n_steps steps in a row of which nothing is recorded and no result is read; a GPU replays them as a graph.
 * Of a training step the parameters stay on the device. What has no place of its own is brought there for each step: that counts
 * where the host's clock is read, and not where events of the GPU are.
 */
gboolean gantry_program_time (GantryProgram *program, const GantryProgramOptions *options, GantryValues *values, guint n_warmup, guint n_steps,
                              GantryProgramTimes *times, const GantryProgress *progress, GError **error);
/** The same from @inputs, one for each parameter, whose data must live until it returns. */
gboolean gantry_program_time_inputs (GantryProgram *program, const GantryProgramOptions *options, const GantryRunInput *inputs, guint n_warmup, guint n_steps,
                                     GantryProgramTimes *times, const GantryProgress *progress, GError **error);

G_END_DECLS
