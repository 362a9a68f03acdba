/* SPDX-License-Identifier: Apache-2.0 */
/* What --device names. */
#pragma once
#include "core/plan/gpu.h"
#include "core/runtime/device-kind.h"
#include "core/runtime/runtime.h"
#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/**
 * gantry_cli_device_new:
 * @spec: (nullable): as gantry_device_kind_find() takes it
 * @n_threads: of the processor; 0: all
 *
 * Returns: (transfer full) (nullable): NULL with %GANTRY_ERROR_INVALID for another @spec, or the errors of the kind, as
 *  gantry_cuda_device_new()
 */
GantryDevice *gantry_cli_device_new (const char *spec, guint n_threads, GError **error);

/** What is printed where a recording names no device. */
#define GANTRY_CLI_NOT_KNOWN "not known"
/** Returns: (transfer none) (nullable): @device; @otherwise where it is empty */
const char *gantry_cli_device_known (const char *device, const char *otherwise);

/** What is published of the GPU with that number. Returns: (nullable): NULL for the processor, and where there is none */
const GantryGpuModel *gantry_cli_device_model (const GantryDeviceKind *kind, guint ordinal);

/** What a GPU's driver has given for what was asked for, at the peak of both: members of the object, or a line. @device:
 *  (nullable): of none and of the processor nothing is told */
void gantry_cli_device_add_memory (GantryDevice *device, JsonBuilder *json);
/** The same as a line on standard output. */
void gantry_cli_device_print_memory (GantryDevice *device);

G_END_DECLS
