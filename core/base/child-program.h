/* SPDX-License-Identifier: Apache-2.0 */
/* Where the program is that works apart from the window: gantry-cli. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/**
 * gantry_child_program:
 *
 * $GANTRY_CLI, else the gantry-cli beside the running program, else the one in $PATH. Returns: (transfer full) (nullable)
 */
char *gantry_child_program (void);

/** A variable of the environment: set by a program that shows what gantry-cli says beside controls of its own; then its messages name no
 *  options. */
#define GANTRY_NO_OPTION_HINTS "GANTRY_NO_OPTION_HINTS"

G_END_DECLS
