/* SPDX-License-Identifier: Apache-2.0 */
/* Which GPUs there are: asked of the driver without making a context, which would take memory on each of them. */
#include "core/base/error.h"
#include "core/runtime/cuda/cuda.h"
#include "core/runtime/cuda/driver-private.h"

static void
look_at (const CudaDriver *driver, CudaOrdinal device, GantryDeviceInfo *info)
{
  char text[256] = "";
  gsize bytes = 0;
  int mode = _gantry_cuda_attribute (driver, device, CUDA_ATTRIBUTE_COMPUTE_MODE);

  info->name = g_strdup (driver->device_name (text, sizeof text, device) == 0 ? text : "unknown GPU");
  text[0] = '\0';
  info->pci = g_strdup (driver->device_pci (text, sizeof text, device) == 0 ? text : "");
  info->major = _gantry_cuda_attribute (driver, device, CUDA_ATTRIBUTE_MAJOR);
  info->minor = _gantry_cuda_attribute (driver, device, CUDA_ATTRIBUTE_MINOR);
  info->bytes = driver->device_memory (&bytes, device) == 0 ? bytes : 0;
  info->n_processors = (guint) _gantry_cuda_attribute (driver, device, CUDA_ATTRIBUTE_PROCESSORS);
  info->n_copy_engines = (guint) _gantry_cuda_attribute (driver, device, CUDA_ATTRIBUTE_COPY_ENGINES);
  if (info->major < 8)
    info->unusable = "too old: 8.0 (Ampere) or newer is needed";
  if (mode == CUDA_COMPUTE_PROHIBITED)
    info->limited = "closed for computing (compute mode prohibited)";
  else if (mode == CUDA_COMPUTE_EXCLUSIVE)
    info->limited = "for one process at a time (compute mode exclusive)";
}

GantryDeviceProbe *
gantry_cuda_probe (GError **error)
{
  CudaDriver *driver = _gantry_cuda_driver_new (error);
  GantryDeviceProbe *probe;
  CudaResult result;
  int n = 0;

  if (driver == NULL)
    return NULL;
  result = driver->device_count (&n);
  if (result != 0 || n <= 0)
    {
      _gantry_cuda_set_system_error (driver, result != 0 ? result : CUDA_NO_DEVICE, "counting GPUs", error);
      _gantry_cuda_driver_free (driver);
      return NULL;
    }
  probe = g_new0 (GantryDeviceProbe, 1);
  probe->driver = _gantry_cuda_driver_describe (driver);
  probe->devices = g_new0 (GantryDeviceInfo, (gsize) n);
  for (int i = 0; i < n; i++)
    {
      CudaOrdinal device;

      if (driver->device_get (&device, i) != 0)
        continue;
      probe->devices[probe->n_devices].ordinal = i;
      look_at (driver, device, &probe->devices[probe->n_devices++]);
    }
  _gantry_cuda_driver_free (driver);
  return probe;
}
