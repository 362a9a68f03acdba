/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA GPUs as a kind of device. */
#include "core/runtime/cuda/cuda.h"

/* Code for a GPU runs on those of the same generation that came later. */
static const char *
arch_of (const GantryDevice *device)
{
  guint capability = gantry_cuda_device_capability (device);

  if (capability >= 100 && capability < 110)
    return "sm_100";
  if (capability >= 100)
    return "sm_90"; /* as text: the driver translates it */
  return capability >= 90 ? "sm_90a" : "sm_80";
}

static GantryDevice *
open_gpu (guint ordinal, guint n_threads, GError **error)
{
  return gantry_cuda_device_new ((int) ordinal, error);
}

const GantryDeviceKind gantry_device_kind_cuda = {
  .name = "cuda",
  .takes = "cuda, or cuda:N for the GPU N",
  .is_numbered = TRUE,
  .code = GANTRY_CODE_CUDA,
  .probe = gantry_cuda_probe,
  .open = open_gpu,
  .arch = arch_of,
};
