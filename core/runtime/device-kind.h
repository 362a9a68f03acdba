/* SPDX-License-Identifier: Apache-2.0 */
/* A kind of device: what --device calls it, what code it runs, how those that are there are found and opened. */
#pragma once
#include "core/plan/code-target.h"
#include "core/runtime/device-kind-list.h"
#include "core/runtime/device.h"

G_BEGIN_DECLS

/**
 * GantryDeviceInfo: what is known of a device without using it.
 *
 * @ordinal: as the driver counts them
 * @name: "NVIDIA H200"
 * @major, @minor: of a GPU its compute capability; 0: it is none, and what follows is not known
 * @limited: (nullable): who may use it, where its administrator has limited that
 * @unusable: (nullable): why it cannot be used: "too old: ..."
 */
typedef struct
{
  int ordinal;
  char *name;
  char *pci; /* "0000:17:00.0" */
  int major, minor;
  guint64 bytes;      /* of memory */
  guint n_processors; /* SMs */
  guint n_copy_engines;
  const char *limited, *unusable;
} GantryDeviceInfo;

/** The devices of one kind that are there. */
typedef struct
{
  char *driver; /* (nullable): "CUDA 13.0, driver 580.65.06" */
  guint n_devices;
  GantryDeviceInfo *devices;
} GantryDeviceProbe;

void gantry_device_probe_free (GantryDeviceProbe *probe);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryDeviceProbe, gantry_device_probe_free)

/**
 * GantryDeviceKind: a kind of device, static.
 *
 * @name: what --device calls it
 * @takes: of the message that lists what --device takes: "cuda, or cuda:N for the GPU N"
 * @is_numbered: "cuda:N" is the one with ordinal N, "cuda" the one with 0
 * @code: what it runs
 * @probe: (nullable): what is there, with the errors that say what is missing; NULL: its devices are those of another kind
 * @open: @n_threads: of the processor; 0: all. With the errors of @probe
 * @arch: (nullable): "sm_90a" and the like, what code for a device of it is compiled for; NULL: that is not the device's to say
 */
typedef struct
{
  const char *name;
  const char *takes;
  gboolean is_numbered;
  GantryCodeTarget code;
  GantryDeviceProbe *(*probe) (GError **error);
  GantryDevice *(*open) (guint ordinal, guint n_threads, GError **error);
  const char *(*arch) (const GantryDevice *device);
} GantryDeviceKind;

#define GANTRY_DECLARE_DEVICE_KIND(folder, name) extern const GantryDeviceKind gantry_device_kind_##name;
GANTRY_DEVICE_KIND_LIST (GANTRY_DECLARE_DEVICE_KIND)
#undef GANTRY_DECLARE_DEVICE_KIND

/** All kinds, in the order of core/runtime/device-kind-list.h. (transfer none) (array length=n) */
const GantryDeviceKind *const *gantry_device_kinds (guint *n);

/**
 * gantry_device_kind_find:
 * @spec: (nullable): "cpu", "grid", "cuda", "cuda:1"; NULL: the first kind, the processor
 * @ordinal: (out): of the device that is meant
 *
 * Returns: (transfer none) (nullable): NULL with %GANTRY_ERROR_INVALID, which says what there is, of another @spec
 */
const GantryDeviceKind *gantry_device_kind_find (const char *spec, guint *ordinal, GError **error);

G_END_DECLS
