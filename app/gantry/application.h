/* SPDX-License-Identifier: Apache-2.0 */
/* The program: one process, a window for each opened file. */
#pragma once
#include <adwaita.h>

G_BEGIN_DECLS

#define GANTRY_TYPE_APPLICATION (gantry_application_get_type ())
G_DECLARE_FINAL_TYPE (GantryApplication, gantry_application, GANTRY, APPLICATION, AdwApplication)

/** @flags: G_APPLICATION_NON_UNIQUE for tests. */
GantryApplication *gantry_application_new (GApplicationFlags flags);
/** Of the process: @status of g_application_run(), or 1 where a signal or the session's end cost unsaved work. */
int gantry_application_status (GantryApplication *application, int status);

G_END_DECLS
