/* SPDX-License-Identifier: Apache-2.0 */
/* The processor as kinds of devices: for its own code, and for what is made for a GPU. */
#include "core/runtime/cpu/cpu.h"
#include "core/runtime/device-kind.h"

static GantryDeviceProbe *
probe (GError **error)
{
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (0);
  GantryDeviceProbe *found = g_new0 (GantryDeviceProbe, 1);

  found->n_devices = 1;
  found->devices = g_new0 (GantryDeviceInfo, 1);
  found->devices[0].name = g_strdup (gantry_device_name (device));
  return found;
}

static GantryDevice *
open_cpu (guint ordinal, guint n_threads, GError **error)
{
  return gantry_cpu_device_new (n_threads);
}

const GantryDeviceKind gantry_device_kind_cpu = {
  .name = "cpu",
  .takes = "cpu",
  .code = GANTRY_CODE_CPU,
  .probe = probe,
  .open = open_cpu,
};

const GantryDeviceKind gantry_device_kind_grid = {
  .name = "grid",
  .takes = "grid (what is made for a GPU, run on the processor)",
  .code = GANTRY_CODE_GRID_ON_CPU,
  .open = open_cpu,
};
