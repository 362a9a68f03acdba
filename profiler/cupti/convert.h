/* SPDX-License-Identifier: Apache-2.0 */
/* From a capture to a recording: records are laid on the queues and threads that they belong to and tied to
 * instructions and nodes. Nothing of CUPTI is needed for it. */
#pragma once
#include "profiler/cupti/capture.h"
#include "profiler/recording.h"

G_BEGIN_DECLS

/** When which executable ran: tells what an instruction's number means. CLOCK_MONOTONIC. */
typedef struct
{
  gint64 begin, end;
  GantryExecutable *executable;
} GantryCuptiRun;

/**
 * gantry_cupti_convert:
 * @runs: (array length=n_runs): by time; may be none: with no @observed either all of it is one run
 * @executable: (nullable): of what was marked outside of all runs, such as uploads at load
 * @observed: (nullable): what an observer was told of the same runs: its runs, its memory events and its waits come
 *  into the recording too; all of its events where the capture has no work of a device at all
 *
 * The three queues get the streams on which most instructions of each queue were done; other streams, each thread's
 * calls, NVTX ranges by thread and domain, synchronization, overhead and memory get lanes of their own. What could
 * not be read or laid out is told in notes.
 *
 * Returns: (transfer full)
 */
GantryRecording *gantry_cupti_convert (const GantryCuptiCapture *capture, const GantryCuptiRun *runs, guint n_runs, GantryExecutable *executable,
                                       const GantryRecording *observed);

/** Does the file begin as a .cupti file does? */
gboolean gantry_cupti_is_capture (const char *path);
/**
 * gantry_cupti_open:
 * @path: a .cupti file
 * @executable: (nullable): the program that it is a recording of, to find its nodes
 *
 * Returns: (transfer full) (nullable): errors as of gantry_cupti_capture_read(), with @path before them
 */
GantryRecording *gantry_cupti_open (const char *path, GantryExecutable *executable, GError **error);

G_END_DECLS
