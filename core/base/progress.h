/* SPDX-License-Identifier: Apache-2.0 */
/* How long work says how far it is and learns that it is no longer wanted. */
#pragma once
#include <gio/gio.h>

G_BEGIN_DECLS

/**
 * GantryProgress:
 * @report: (nullable): called on the working thread; @fraction is 0..1 or negative for unknown
 * @cancellable: (nullable): checked often by the work
 *
 * Passed by pointer and never kept; NULL means that nobody listens.
 */
typedef struct
{
  void (*report) (double fraction, const char *what, gpointer user_data);
  gpointer user_data;
  GCancellable *cancellable;
} GantryProgress;

/**
 * gantry_progress_report:
 * @progress: (nullable): nobody listens, and nothing is done
 * @fraction: of the whole work, 0..1; negative where it is not known
 * @what: what is being done, for the user
 *
 * Calls the listener on this thread before it returns.
 */
void gantry_progress_report (const GantryProgress *progress, double fraction, const char *what);
/** Returns: TRUE and sets %G_IO_ERROR_CANCELLED when the work should stop. */
gboolean gantry_progress_cancelled (const GantryProgress *progress, GError **error);

G_END_DECLS
