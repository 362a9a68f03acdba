/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine's processor does, for programs with a window: kept from one start to the next, and measured by gantry-cli while nobody
 * waits for it. */
#pragma once
#include <gio/gio.h>

G_BEGIN_DECLS

/** From now on documents are planned with what is kept (gantry_machine_enable()). Before there are other threads. */
void gantry_calibration_enable (void);
/**
 * gantry_calibration_start_async:
 * @cli: path of gantry-cli
 * @cancellable: (nullable): ends the child
 *
 * Where nothing is kept of this machine, has `gantry-cli calibrate --keep` measure it; where it is not due (gantry_machine_is_due()) nothing
 * happens, and that is no error.
 */
void gantry_calibration_start_async (const char *cli, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data);
/** Returns: TRUE where it was measured now, so that gantry_document_take_machine() changes plans; else with or without @error */
gboolean gantry_calibration_start_finish (GAsyncResult *result, GError **error);

G_END_DECLS
