/* SPDX-License-Identifier: Apache-2.0 */
/* Which run of a session an option means: all subcommands count as gantry-cli runs lists them. */
#pragma once
#include "core/document/outside.h"

G_BEGIN_DECLS

/**
 * gantry_cli_find_run:
 * @entries: (element-type GantryRunEntry): of gantry_runs_list()
 * @path: of the session, for the error
 * @option: that @name was given for, "--run"
 * @name: a number, from 1 on, or the first digits of an id: at least 4, which have to be of one run. Those may all be decimal: where
 *  that is the number of another run neither is taken
 *
 * Returns: (transfer none) (nullable): one of @entries
 */
const GantryRunEntry *gantry_cli_find_run (GPtrArray *entries, const char *path, const char *option, const char *name, GError **error);
/**
 * gantry_cli_choose_run:
 * @runs: (element-type GantryRunResult): those of @path that were read: too large and damaged ones are left out, but counted
 * @left_out: (nullable): what was said of runs that were not read
 * @path: a session, or the trace of another program, which is one run
 * @name: of --run, as gantry_cli_find_run()
 *
 * Returns: (transfer none) (nullable): one of @runs
 */
GantryRunResult *gantry_cli_choose_run (GPtrArray *runs, const GError *left_out, const char *path, const char *name, GError **error);

G_END_DECLS
