/* SPDX-License-Identifier: Apache-2.0 */
/* Measures what the cost model states of a device: how fast its copy queues move bytes and what starting a kernel
 * costs. */
#pragma once
#include "core/runtime/device.h"

G_BEGIN_DECLS

/** Copies that each rate is the median of. */
#define GANTRY_DEVICE_MEASURED_COPIES 24u

/** The least and the most of what a median was taken of. */
typedef struct
{
  double least, most;
} GantryRateRange;

typedef struct
{
  double to_host; /* bytes per second of that queue alone */
  double to_device;
  double both;                                                /* of each when both are at work */
  double launch_us;                                           /* from one empty kernel to the next on the compute queue, as recorded */
  GantryRateRange to_host_range, to_device_range, both_range; /* of single copies */
  GantryRateRange launch_range;                               /* of single launches; of a device that is not the host of rounds of some hundred */
  guint n_launches;                                           /* launches, or rounds, that launch_us is the median of */
} GantryDeviceRates;

/**
 * gantry_device_measure:
 * @bytes: of one copy; 0: 4 MiB
 * @cancellable: (nullable)
 *
 * Copies some dozens of times between device and pinned memory, which takes some tens of milliseconds; each rate is a
 * median. `both` is what GantryTarget.link_bandwidth should be for a program that moves bytes both ways.
 *
 * Returns: FALSE with %GANTRY_ERROR_NO_MEMORY when two buffers of @bytes do not fit, or %G_IO_ERROR_CANCELLED
 */
gboolean gantry_device_measure (GantryDevice *device, gsize bytes, GantryDeviceRates *rates, GCancellable *cancellable, GError **error);

G_END_DECLS
