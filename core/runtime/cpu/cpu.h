/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU as a device: kernels are split over worker threads, the two copy queues are threads of
 * their own, and memory is counted against a limit like that of any other device. */
#pragma once
#include "core/runtime/device.h"

G_BEGIN_DECLS

/**
 * gantry_cpu_device_new:
 * @n_threads: how many work on one kernel, the submitting one included; 0 for one for each processor
 *
 * Returns: (transfer full)
 */
GantryDevice *gantry_cpu_device_new (guint n_threads);
/** How many threads work on one kernel of @device, which is of gantry_cpu_device_new(); the submitting one counts. */
guint gantry_cpu_device_threads (const GantryDevice *device);

G_END_DECLS
