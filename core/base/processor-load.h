/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a measurement of this process had the processors for itself. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/** What the system had counted at one moment, in ticks of all processors: time at work, with what a hypervisor took; of this process
 *  seconds. @n_processors: 0: the system does not say */
typedef struct
{
  double busy, own_seconds, time;
  guint n_processors;
} GantryProcessorLoad;

/** Reads /proc/stat and this process' times. */
void gantry_processor_load_read (GantryProcessorLoad *load);
/**
 * gantry_processor_load_of_others:
 *
 * Returns: how many processors' worth of time others had between @before and @after, other systems of the same machine (stolen time)
 *  too; negative where the system does not say, or counts processors that this process cannot use
 */
double gantry_processor_load_of_others (const GantryProcessorLoad *before, const GantryProcessorLoad *after);

G_END_DECLS
