/* SPDX-License-Identifier: Apache-2.0 */
/* What a recorder brought home before anything is made of it: the raw activity buffers with the names that their
 * addresses meant, what the clocks were, samples of counters, and notes. It can be stored as a .cupti file
 * (docs/recordings.md has the layout) and read anywhere. */
#pragma once
#include "profiler/cupti/layout.h"
#include <gio/gio.h>

G_BEGIN_DECLS

#define GANTRY_CUPTI_MOST_COUNTERS 64u

/** The string that an address in a buffer stood for. */
typedef struct
{
  guint64 address;
  guint32 string;
} GantryCuptiAddress;

typedef struct
{
  GBytes *data;
  guint32 *index; /* (nullable): where records begin; see gantry_cupti_walk() */
  guint32 n_index;
  guint32 n_addresses;
  GantryCuptiAddress *addresses; /* by rising address */
} GantryCuptiBuffer;

/** The same moment on two clocks. */
typedef struct
{
  gint64 theirs, monotonic; /* nanoseconds; CLOCK_MONOTONIC */
} GantryCuptiMoment;

/** What a callback id of the driver or the runtime is called. */
typedef struct
{
  guint32 is_driver, cbid, string;
} GantryCuptiCallName;

/** The external id that was pushed when a graph's node was made. */
typedef struct
{
  guint64 graph_node, external;
} GantryCuptiGraphNode;

typedef struct
{
  gint64 begin, end; /* as the sampler gave them */
} GantryCuptiSample;

typedef struct
{
  guint32 version;       /* cuptiGetVersion() */
  gboolean is_monotonic; /* records' times are CLOCK_MONOTONIC; else `moments` relate them */
  guint64 dropped;       /* records that CUPTI or the recorder had no room for */
  char *chip, *device;   /* "GH100"; "NVIDIA H200" */
  GArray *moments;       /* GantryCuptiMoment, of the records' clock */
  GPtrArray *strings;    /* id - 1 */
  GHashTable *ids;       /* string -> id */
  GPtrArray *notes;
  GArray *calls;       /* GantryCuptiCallName */
  GArray *graph_nodes; /* GantryCuptiGraphNode */
  GPtrArray *buffers;  /* GantryCuptiBuffer */
  /* PM sampling */
  GPtrArray *counters;             /* names */
  gint64 sampled_from, sampled_to; /* CLOCK_MONOTONIC, around the sampling */
  gint64 realtime_ahead;           /* CLOCK_REALTIME - CLOCK_MONOTONIC then; 0: not known */
  GArray *newest;                  /* GantryCuptiMoment: the newest sample at each decoding, and when that was */
  GArray *samples;                 /* GantryCuptiSample */
  GArray *values;                  /* double: counters->len for each sample */
} GantryCuptiCapture;

/** The first 8 bytes of a file of it. */
#define GANTRY_CUPTI_MAGIC "GNTCUPTI"

/** @version: of CUPTI, whose records the buffers hold. Returns: (transfer full): an empty one */
GantryCuptiCapture *gantry_cupti_capture_new (guint32 version);
void gantry_cupti_capture_free (GantryCuptiCapture *capture);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryCuptiCapture, gantry_cupti_capture_free)
/** Returns: the id of @text; 0 for NULL */
guint32 gantry_cupti_capture_intern (GantryCuptiCapture *capture, const char *text);
/** Returns: (nullable): NULL where @id is 0 or unknown */
const char *gantry_cupti_capture_string (const GantryCuptiCapture *capture, guint32 id);
/** Adds a note once. */
void gantry_cupti_capture_note (GantryCuptiCapture *capture, const char *format, ...) G_GNUC_PRINTF (2, 3);
/** @data: (transfer full); @index: (transfer full) (nullable); @addresses: (transfer full): in any order */
void gantry_cupti_capture_add_buffer (GantryCuptiCapture *capture, GBytes *data, guint32 *index, guint32 n_index, GantryCuptiAddress *addresses,
                                      guint32 n_addresses);
/** Returns: (nullable): what @address in @buffer stood for */
const char *gantry_cupti_capture_name (const GantryCuptiCapture *capture, const GantryCuptiBuffer *buffer, guint64 address);

/** Writes the .cupti file. */
gboolean gantry_cupti_capture_write (const GantryCuptiCapture *capture, GOutputStream *stream, GCancellable *cancellable, GError **error);
/**
 * gantry_cupti_capture_read:
 * @bytes: a .cupti file; the buffers stay parts of it
 *
 * Returns: (transfer full) (nullable): NULL with %GANTRY_ERROR_INVALID, %GANTRY_ERROR_TRUNCATED or
 *  %GANTRY_ERROR_UNSUPPORTED and the byte at which it is wrong
 */
GantryCuptiCapture *gantry_cupti_capture_read (GBytes *bytes, GError **error);

G_END_DECLS
