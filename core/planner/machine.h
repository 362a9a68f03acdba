/* SPDX-License-Identifier: Apache-2.0 */
/* What gantry-cli calibrate has measured of this machine's processor and keeps in the user's cache: a target for each number of threads,
 * by processor, instructions and version. Processes that plan say once that they plan with it; others plan with the stated rates, and
 * so depend on no file. */
#pragma once
#include "core/planner/target.h"

G_BEGIN_DECLS

/** In the environment, "off": nothing that is kept is read, and nothing is measured by itself. */
#define GANTRY_MACHINE_ENVIRONMENT "GANTRY_CALIBRATION"

/** From now on this process plans with what is kept, unless the environment says off. Before there are other threads. */
void gantry_machine_enable (void);

/**
 * gantry_machine_take:
 * @target: (inout): of this machine's processor (GantryTarget.here), else nothing happens
 * @n_threads: 0 for all processors
 *
 * Gives @target the rates that are kept; its limits stay. Any thread.
 *
 * Returns: FALSE where nothing is kept, or this process does not plan with it: @target is as it was
 */
gboolean gantry_machine_take (GantryTarget *target, guint n_threads);

/**
 * gantry_machine_keep:
 * @measured: rates and curves, with the time of their measurement
 *
 * From now on it is what gantry_machine_take() gives, in other processes too.
 */
gboolean gantry_machine_keep (const GantryTarget *measured, guint n_threads, GError **error);
/** Remembers that a measurement was of no use, for the machine was busy: it is tried again later, not at once. */
void gantry_machine_put_off (guint n_threads);

/**
 * gantry_machine_is_due:
 *
 * Whether it should be measured now: this process plans with what is kept, nothing is, the cache can be written, and no measurement was
 * put off within the last GANTRY_MACHINE_PAUSE_SECONDS.
 */
gboolean gantry_machine_is_due (guint n_threads);
#define GANTRY_MACHINE_PAUSE_SECONDS 600

G_END_DECLS
