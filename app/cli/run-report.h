/* SPDX-License-Identifier: Apache-2.0 */
/* What a run measured beside what its plan said, as text or as the one JSON object. */
#pragma once
#include "app/cli/cli.h"
#include "core/runtime/runtime.h"
#include "core/document/plan-changes.h"

G_BEGIN_DECLS

/** @losses: (nullable) (element-type double): of steps in a row */
typedef struct
{
  GantryRunResult *result;
  GantryModule *module;
  guint64 limit; /* of device memory, 0: none */
  gboolean compared;
  double worst; /* relative difference, when compared */
  GArray *losses;
  gboolean replanned;
  double predicted_before_ms, measured_before_ms;
  const GantryPlanChanges *changes; /* (nullable): by planning again */
  GantryTarget target;
  const char *elsewhere; /* (nullable): what times are predicted for where that is not what ran (gantry_document_predicted_elsewhere()) */
  guint n_slowest;       /* how many operations to list with their times */
  GantryDevice *device;  /* (nullable) (unowned) */
  void (*add) (JsonBuilder *json, gpointer add_data); /* (nullable): more members of the JSON object */
  gpointer add_data;
} GantryRunReport;

/** Prints the one object on standard output. */
void gantry_run_report_json (const GantryRunReport *report);
/** Prints lines: time, memory by parts, what the plan had said, and what was asked for besides. */
void gantry_run_report_text (const GantryRunReport *report);
/** What who reads times of @recording has to know: runs and kernels that are left out, and why. */
void gantry_run_report_notes_text (const GantryRecording *recording);
/** The table of all kernels and copies as CSV. */
gboolean gantry_run_report_write_kernels (const GantryRunReport *report, const char *path, GantryReadFiles *read, GError **error);

G_END_DECLS
