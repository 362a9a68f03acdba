/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine's processor does, for commands that predict times. */
#pragma once
#include "app/cli/cli.h"

G_BEGIN_DECLS

/** Threads that a program of @options runs on; 0: all processors. */
guint gantry_cli_threads (const GantryCliOptions *options);

/**
 * gantry_cli_know_machine:
 *
 * Where a command of @options plans for this machine's processor, and nothing is kept of that (core/planner/machine.h): has it measured
 * once, by a child, and says so. Where that fails, for the machine is busy, plans are made by stated rates.
 */
void gantry_cli_know_machine (const GantryCliOptions *options);

G_END_DECLS
