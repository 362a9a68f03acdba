/* SPDX-License-Identifier: Apache-2.0 */
/* What imports have in common: lanes that are found as they come, counters, notes on what was left out, and the end,
 * where lanes are put in order and time is made to begin at 0. */
#pragma once
#include "profiler/import.h"
#include "profiler/recording-private.h"

/** A lane of an import. */
typedef struct
{
  gboolean device; /* something ran there that a device does: those lanes come first */
  gint64 group;    /* device or process */
  gint64 sort;     /* as the trace wants them sorted */
  gint64 member;   /* stream or thread */
  char *name;      /* (nullable): @group and @member tell it */
} ImportLane;

typedef struct
{
  GantryRecordingBuilder *builder;
  GHashTable *ids;      /* key -> index of the lane + 1 */
  GArray *lanes;        /* ImportLane */
  gboolean too_many;    /* what came after the last lane is in it */
  GHashTable *counters; /* names */
  guint64 n_events;
  guint64 n_bad_times, n_passed_over, n_bad_counters;
} Import;

void _gantry_import_init (Import *import);
void _gantry_import_clear (Import *import);
/** The lane of @key, made when it is new. Valid until the next call. @lane: (out): its number */
ImportLane *_gantry_import_lane (Import *import, const char *key, guint8 *lane);
/** Adds @event unless its times cannot be; @event->lane from _gantry_import_lane(), or a lane up to the runs'. */
void _gantry_import_event (Import *import, const GantryEvent *event);
void _gantry_import_sample (Import *import, const char *counter, gint64 time, double value);
/**
 * Orders and names the lanes, adds the notes. @keep_times: time is not moved. A trace that tells of no runs is one run.
 * Ends @import's builder. Returns: (transfer full) (nullable): NULL with @error when nothing was found
 */
GantryRecording *_gantry_import_end (Import *import, const char *what, gboolean keep_times, gboolean has_runs, GError **error);

/* nsys-import.c */
gboolean _gantry_nsys_is (const char *path);
GantryRecording *_gantry_nsys_import_file (const char *path, const GantryProgress *progress, GError **error);
