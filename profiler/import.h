/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings that others made: the SQLite export of Nsight Systems, and traces in Chrome's trace event format, as PyTorch
 * (Kineto) and this program write them, also compressed by gzip. docs/recordings.md tells what is taken over. */
#pragma once
#include "core/base/base.h"
#include "profiler/recording.h"

G_BEGIN_DECLS

typedef enum
{
  GANTRY_TRACE_NONE,
  GANTRY_TRACE_CHROME,
  GANTRY_TRACE_NSYS,
} GantryTraceKind;

/** What a file seems to be by its first bytes, whatever its name; an SQLite file by its tables. */
GantryTraceKind gantry_trace_kind (const char *path);

/**
 * gantry_trace_import:
 *
 * Time 0 of the recording is the first event of the trace (traces of this program keep theirs). Lanes beyond the runs' are
 * the device's streams, then the threads of the host; the queues' lanes are empty. What is left out or doubtful is told
 * in notes. Blocking: for worker threads.
 *
 * Returns: (transfer full) (nullable): NULL with an error that names the file and where in it
 */
GantryRecording *gantry_trace_import (const char *path, const GantryProgress *progress, GError **error);

/** @what: how errors call the stream. */
GantryRecording *gantry_trace_import_chrome (GInputStream *stream, const char *what, const GantryProgress *progress, GError **error);
/** A database in memory; it is not changed. */
GantryRecording *gantry_trace_import_nsys (GBytes *database, const char *what, const GantryProgress *progress, GError **error);

G_END_DECLS
