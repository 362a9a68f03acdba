/* SPDX-License-Identifier: Apache-2.0 */
/* A libcupti for tests: a library that is loaded in its place. What it answers is set, and what it was asked is told,
 * in a struct that the test finds by the function fake_cupti(). */
#pragma once
#include "profiler/cupti/library.h"

typedef struct
{
  /* What it answers. */
  guint32 version;
  CUptiResult subscribe, register_callbacks, register_timestamp, enable_kernels, enable_memory, pm_enable, range_enable;
  const char *old_subscriber;
  gboolean no_time_trigger; /* as GA100 */
  guint overflow_at;        /* the decoding that finds the GPU's buffer overflown; 0: none */
  guint samples_per_decode;
  guint n_passes; /* of the configuration that the host makes; a set of more than `most_metrics` takes two */
  guint most_metrics;
  const char *refused; /* a metric that the chip does not have */
  guint range_passes;
  gsize record_bytes; /* of a kernel's record: 0: as it is */

  /* What it was asked, in order: "subscribe register-timestamp enable:10 ..." */
  GString *log;

  /* What a program does. */
  void (*launch) (guint32 stream, const char *name, guint64 graph_node);
  void (*copy) (guint32 stream, gsize bytes);
  void (*range) (const char *name, gboolean begin, guint32 id);
  void (*make_node) (guint64 node, guint64 clone);
  void (*fail) (const char *message);
} FakeCupti;

FakeCupti *fake_cupti (void);
/** Everything as at the beginning. */
void fake_cupti_reset (void);
