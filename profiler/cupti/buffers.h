/* SPDX-License-Identifier: Apache-2.0 */
/* Activity buffers on their way from CUPTI's threads into a capture. */
#pragma once
#include "profiler/cupti/capture.h"
#include "profiler/cupti/library.h"

G_BEGIN_DECLS

/** What is shared with CUPTI's threads. The lock is never held while CUPTI is called: its own locks come first
 *  there. */
typedef struct
{
  const GantryCuptiLibrary *library;
  GMutex lock;
  GantryCuptiCapture *capture; /* under the lock */
  gsize buffer_bytes;
  guint64 most_bytes;
  guint64 held;    /* bytes that the capture holds; under the lock */
  guint64 dropped; /* under the lock */
} GantryCuptiBuffers;

/**
 * _gantry_cupti_buffers_init:
 * @library: outlives @buffers
 * @buffer_bytes: of each buffer that CUPTI gets
 * @most_bytes: that the capture holds; what comes beyond is dropped and counted
 *
 * @buffers: (out caller-allocates): with an empty capture.
 */
void _gantry_cupti_buffers_init (GantryCuptiBuffers *buffers, const GantryCuptiLibrary *library, gsize buffer_bytes, guint64 most_bytes);
void _gantry_cupti_buffers_clear (GantryCuptiBuffers *buffers);
/** CUPTI wants a buffer. Returns: (nullable): NULL, so that records are dropped, only where CUPTI bears it */
guint8 *_gantry_cupti_buffers_request (GantryCuptiBuffers *buffers, gsize *size);
/** CUPTI gives one back; @buffer: (transfer full) */
void _gantry_cupti_buffers_complete (GantryCuptiBuffers *buffers, CUcontext context, guint32 stream, guint8 *buffer, gsize valid);

G_END_DECLS
