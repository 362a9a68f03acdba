/* SPDX-License-Identifier: Apache-2.0 */
/* The program: one process, a window for each opened file. */
#pragma once
#include <adwaita.h>

G_BEGIN_DECLS

#define GANTRY_TYPE_APPLICATION (gantry_application_get_type ())
G_DECLARE_FINAL_TYPE (GantryApplication, gantry_application, GANTRY, APPLICATION, AdwApplication)

/** @flags: G_APPLICATION_NON_UNIQUE for tests. */
GantryApplication *gantry_application_new (GApplicationFlags flags);

/**
 * gantry_application_find_cli:
 *
 * The program that runs generated code for us: $GANTRY_CLI, gantry-cli beside our own binary, then $PATH.
 *
 * Returns: (transfer full) (nullable): its path
 */
char *gantry_application_find_cli (void);

G_END_DECLS
