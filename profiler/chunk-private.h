/* SPDX-License-Identifier: Apache-2.0 */
/* What writing and reading of chunks have in common; the layout is told in profiler/chunk.c. */
#pragma once
#include "profiler/recording-private.h"

#define HEAD_MAGIC "GNTH"
#define CHUNK_MAGIC "GNTC"
#define CHUNK_VERSION 2
#define CHUNK_HEAD 32u
#define DETAIL_WORDS 15u
#define SUMMARY_BYTES 34u

enum
{
  CONTENT_EVENTS,
  CONTENT_MEMORY,
  CONTENT_SAMPLES
};

typedef struct
{
  gint64 time;
  guint64 bits;
  guint32 counter;
} SampleRow;

/** Bytes of a row, over all its columns. */
static inline gsize
_gantry_row_bytes (guint content, guint version)
{
  static const guint8 bytes[] = { EVENT_BYTES_2, 34, 20 };

  return content == CONTENT_EVENTS && version == 1 ? EVENT_BYTES_1 : bytes[content];
}

static inline guint64
_gantry_chunks_of (guint64 n)
{
  return (n + GANTRY_CHUNK_EVENTS - 1) / GANTRY_CHUNK_EVENTS;
}

/** Between the order of bytes of the file and that of this machine. */
static inline void
_gantry_column_swap (gpointer column, guint32 n, guint width)
{
#if G_BYTE_ORDER == G_BIG_ENDIAN
  guint8 *bytes = column;

  for (guint32 i = 0; i < n; i++, bytes += width)
    for (guint k = 0; k < width / 2; k++)
      {
        guint8 byte = bytes[k];

        bytes[k] = bytes[width - 1 - k];
        bytes[width - 1 - k] = byte;
      }
#endif
}
