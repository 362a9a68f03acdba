/* SPDX-License-Identifier: Apache-2.0 */
/* One row for each node of a recording: what was planned beside what was measured, and how near that is to what the machine
 * could do. What the page of kernels, `gantry-cli run --slowest` and its CSV show. */
#pragma once
#include "core/graph/operation.h"
#include "profiler/recording.h"

G_BEGIN_DECLS

/** Rates that the machine is said to reach; 0 or less: not known. */
typedef struct
{
  double flops;                 /* per second: of what has no rate of its own */
  double memory_bandwidth;      /* bytes per second */
  double link_bandwidth;        /* of copies between device and host */
  double units[GANTRY_N_UNITS]; /* operations per second of each unit; 0: as `flops` */
} GantryRates;

/**
 * GantryKernelRow: a node on one queue; of events without a node, those of one name and kind.
 *
 * Figures are those of one run: @measured_us is the median over the runs of what it took in a run, all executions together.
 */
typedef struct
{
  guint32 node;
  guint32 name;      /* string of the recording */
  guint8 kind;       /* GantryEventKind: kernel, copy, fill */
  guint8 lane;       /* of its first event */
  guint32 control;   /* node of the loop, branch or call that it ran in, whose row has its time too; 0: it ran by itself */
  guint32 detail;    /* as GantryEvent.detail, of the longest event that has one: a kernel of several launches does its work there */
  gint64 detail_ns;  /* that it took */
  guint64 n_events;  /* in all runs */
  gint64 total_ns;   /* of all events, exact */
  double count;      /* events in a run */
  double executions; /* in a run: a kernel of several launches has as many events for each */
  double planned_us; /* negative: not in the plan */
  double measured_us;
  guint64 bytes;    /* 0: not known */
  gint64 flops;     /* -1: not known */
  double reachable; /* bytes per second at best, by the roofline of @bytes and @flops; 0: not known, as where
                      * it was faster, which bytes of a cache are: of its rates nothing is known */
} GantryKernelRow;

typedef struct
{
  GArray *rows; /* GantryKernelRow: the largest measured time first */
  guint n_runs; /* 1 where the recording tells of none */
  guint64 n_events;
  gint64 total_ns;    /* of all rows, exact */
  double planned_us;  /* sum of the rows that have it */
  double measured_us; /* sum of the rows, what ran within others left out, as in the sums before */
} GantryKernelTable;

/**
 * gantry_kernel_table_new:
 * @module: (nullable): whose nodes the events name: for operations and, where an event has none, bytes
 * @plan: (nullable): what was planned; where it has steps, copies of arguments and results between the runs are left out, as run times leave them out
 * @rates: (nullable): what the machine reaches
 *
 * Linear in the events, times a logarithm. Returns: (transfer full)
 */
GantryKernelTable *gantry_kernel_table_new (const GantryRecording *recording, const GantryModule *module, const GantryPlan *plan, const GantryRates *rates);
void gantry_kernel_table_free (GantryKernelTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryKernelTable, gantry_kernel_table_free)

/** Bytes per second that were reached; 0: not known. */
double gantry_kernel_row_achieved (const GantryKernelRow *row);
/** What a row is called: of a node its label, else the name of its events. (transfer full) */
char *gantry_kernel_row_name (const GantryKernelRow *row, const GantryRecording *recording, const GantryModule *module);

/**
 * gantry_kernel_table_write_csv:
 * @module: (nullable)
 *
 * A line for each row in the order of the table, after one that names the columns; docs/recordings.md explains them.
 */
gboolean gantry_kernel_table_write_csv (const GantryKernelTable *table, const GantryRecording *recording, const GantryModule *module, GOutputStream *stream,
                                        GCancellable *cancellable, GError **error);

G_END_DECLS
