/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the CUDA device: loads the stand-in and turns executables of the processor into such for it. */
#pragma once
#include "core/runtime/runtime.h"
#include "tests/core/runtime/fake-libcuda.h"
#include <dlfcn.h>
#include <string.h>

typedef struct
{
  void *library;
  FakeCudaConfigure configure;
  FakeCudaCalls calls;
  FakeCudaAlive alive;
  FakeCudaLose lose;
} StandIn;

/** Before any device is made. */
static inline StandIn
stand_in_load (void)
{
  StandIn s = { dlopen (FAKE_LIBCUDA, RTLD_NOW | RTLD_LOCAL) };

  if (s.library == NULL)
    g_error ("%s", dlerror ());
  *(void **) &s.configure = dlsym (s.library, "fake_cuda_configure");
  *(void **) &s.calls = dlsym (s.library, "fake_cuda_calls");
  *(void **) &s.alive = dlsym (s.library, "fake_cuda_alive");
  *(void **) &s.lose = dlsym (s.library, "fake_cuda_lose");
  g_assert_true (s.configure != NULL && s.calls != NULL && s.alive != NULL && s.lose != NULL);
  g_setenv ("GANTRY_LIBCUDA", FAKE_LIBCUDA, TRUE);
  s.configure (NULL);
  return s;
}

/** How many parameters the kernel's launches have. */
static inline guint32
stand_in_n_params (const GantryExecutable *executable, guint32 kernel)
{
  for (guint32 i = 0; i < executable->n_instructions; i++)
    if (executable->instructions[i].kind == GANTRY_INSTRUCTION_LAUNCH && executable->instructions[i].kernel == kernel)
      return executable->instructions[i].n_buffers + (executable->kernels[kernel].packed_bytes > 0);
  for (guint32 i = 0; i < executable->n_controls; i++)
    for (guint r = 0; r < executable->controls[i].control.n_regions; r++)
      {
        guint32 n = stand_in_n_params (executable->controls[i].regions[r], kernel);

        if (n > 0)
          return n;
      }
  return 0;
}

/** Gives every kernel a launch of an image that carries its function, and takes the function away. */
static inline void
stand_in_convert (GantryExecutable *executable)
{
  gsize bytes = sizeof (FakeCudaImage) + executable->n_kernels * sizeof (FakeCudaEntry);
  FakeCudaImage *image = g_malloc0 (bytes);

  memcpy (image->magic, FAKE_CUDA_MAGIC, sizeof FAKE_CUDA_MAGIC);
  image->n = executable->n_kernels;
  for (guint32 k = 0; k < executable->n_kernels; k++)
    {
      GantryKernel *kernel = &executable->kernels[k];
      FakeCudaEntry *entry = &image->entries[k];
      GantryGpuLaunch *launch = g_new0 (GantryGpuLaunch, 1);

      g_snprintf (entry->entry, sizeof entry->entry, "entry_%u", k);
      entry->func = kernel->func;
      entry->state = kernel->state;
      entry->n_tasks = kernel->n_tasks;
      entry->n_params = stand_in_n_params (executable, k);
      launch->entry = g_strdup (entry->entry);
      for (guint d = 0; d < 3; d++)
        launch->grid[d] = launch->block[d] = 1;
      launch->block[0] = 256;
      kernel->gpu = g_new0 (GantryGpuKernel, 1);
      kernel->gpu->n_launches = 1;
      kernel->gpu->launches = launch;
      kernel->func = NULL;
    }
  executable->n_images = 1;
  executable->images = g_new0 (GantryGpuImage, 1);
  executable->images[0].code = g_bytes_new_take (image, bytes);
  executable->images[0].arch = g_strdup ("sm_90a");
}

/** The first device of the stand-in. */
static inline GantryDevice *
stand_in_device (void)
{
  g_autoptr (GError) error = NULL;
  GantryDevice *device = gantry_cuda_device_new (0, &error);

  g_assert_no_error (error);
  return device;
}

/** Gives the device back: nothing of the driver's is left. */
static inline void
stand_in_end_device (const StandIn *stand_in, GantryDevice *device)
{
  gantry_device_unref (device);
  g_assert_cmpuint (stand_in->alive (), ==, 0);
}

static inline GantryExecutor *
stand_in_executor (GantryDevice *device, GantryExecutable *executable)
{
  g_autoptr (GError) error = NULL;
  GantryExecutor *executor = gantry_executor_new (device, executable, NULL, &error);

  g_assert_no_error (error);
  return executor;
}
