/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder on a real GPU with the real library: skipped, with the reason, where there is none. What it checks is
 * what the stand-in cannot know: that CUPTI's records have the lengths and clocks that are assumed. */
#include "profiler/cupti/cupti.h"
#include "profiler/cupti/decode.h"
#include "tests/profiler/cupti/make-executable.h"
#include <cuda.h>
#include <dlfcn.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define N (1u << 20)
#define STEPS 50u

/* Doubles N floats. */
static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry twice(.param .u64 p)\n{\n"
                          "  .reg .b64 %a, %o;\n  .reg .b32 %i, %b, %n;\n  .reg .f32 %x;\n"
                          "  mov.u32 %i, %tid.x;\n  mov.u32 %b, %ctaid.x;\n  mov.u32 %n, %ntid.x;\n"
                          "  mad.lo.u32 %i, %b, %n, %i;\n  ld.param.u64 %a, [p];\n  cvta.to.global.u64 %a, %a;\n"
                          "  mul.wide.u32 %o, %i, 4;\n  add.u64 %a, %a, %o;\n"
                          "  ld.global.f32 %x, [%a];\n  mul.f32 %x, %x, 0f40000000;\n  st.global.f32 [%a], %x;\n  ret;\n}\n";

#define DRIVER(X) \
  X (cuInit, cuInit) \
  X (cuDeviceGet, cuDeviceGet) \
  X (cuDeviceGetCount, cuDeviceGetCount) \
  X (cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain) \
  X (cuCtxSetCurrent, cuCtxSetCurrent) \
  X (cuCtxSynchronize, cuCtxSynchronize) \
  X (cuStreamCreate, cuStreamCreate) \
  X (mem_alloc, cuMemAlloc_v2) \
  X (mem_free, cuMemFree_v2) \
  X (host_alloc, cuMemAllocHost_v2) \
  X (host_free, cuMemFreeHost) \
  X (set_memory, cuMemsetD32Async) \
  X (copy_to_host, cuMemcpyDtoHAsync_v2) \
  X (cuModuleLoadData, cuModuleLoadData) \
  X (cuModuleGetFunction, cuModuleGetFunction) \
  X (cuLaunchKernel, cuLaunchKernel)

typedef struct
{
#define FIELD(field, name) __typeof__ (name) *field;
  DRIVER (FIELD)
#undef FIELD
  CUcontext context;
  CUstream streams[2];
  CUmodule module;
  CUfunction twice;
  CUdeviceptr memory;
  void *host;
} Gpu;

static gboolean
find_driver (Gpu *gpu)
{
  gpointer library = dlopen ("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  int n = 0;

  if (library == NULL)
    {
      g_test_skip ("there is no NVIDIA driver on this machine");
      return FALSE;
    }
#define FIND(field, name) gpu->field = (__typeof__ (name) *) dlsym (library, #name);
  DRIVER (FIND)
#undef FIND
  if (gpu->cuInit == NULL || gpu->cuInit (0) != CUDA_SUCCESS || gpu->cuDeviceGetCount (&n) != CUDA_SUCCESS || n == 0)
    {
      g_test_skip ("the NVIDIA driver finds no GPU");
      return FALSE;
    }
  return TRUE;
}

static void
open_gpu (Gpu *gpu)
{
  CUdevice device;

  g_assert_cmpint (gpu->cuDeviceGet (&device, 0), ==, CUDA_SUCCESS);
  g_assert_cmpint (gpu->cuDevicePrimaryCtxRetain (&gpu->context, device), ==, CUDA_SUCCESS);
  g_assert_cmpint (gpu->cuCtxSetCurrent (gpu->context), ==, CUDA_SUCCESS);
  for (guint i = 0; i < 2; i++)
    g_assert_cmpint (gpu->cuStreamCreate (&gpu->streams[i], CU_STREAM_NON_BLOCKING), ==, CUDA_SUCCESS);
  g_assert_cmpint (gpu->cuModuleLoadData (&gpu->module, ptx), ==, CUDA_SUCCESS);
  g_assert_cmpint (gpu->cuModuleGetFunction (&gpu->twice, gpu->module, "twice"), ==, CUDA_SUCCESS);
  g_assert_cmpint (gpu->mem_alloc (&gpu->memory, N * 4), ==, CUDA_SUCCESS);
  g_assert_cmpint (gpu->host_alloc (&gpu->host, N * 4), ==, CUDA_SUCCESS);
}

static gboolean
launch (gpointer user_data, GError **error)
{
  Gpu *gpu = user_data;
  void *parameters[] = { &gpu->memory };

  g_assert_cmpint (gpu->cuLaunchKernel (gpu->twice, N / 256, 1, 1, 256, 1, 1, 0, gpu->streams[0], parameters, NULL), ==, CUDA_SUCCESS);
  return TRUE;
}

static gboolean
launch_and_wait (gpointer user_data, GError **error)
{
  Gpu *gpu = user_data;

  launch (gpu, error);
  g_assert_cmpint (gpu->cuCtxSynchronize (), ==, CUDA_SUCCESS);
  return TRUE;
}

static void
work (Gpu *gpu, GantryCuptiRecorder *recorder)
{
  for (guint i = 0; i < STEPS; i++)
    {
      g_assert_cmpint (gpu->set_memory (gpu->memory, 0, N, gpu->streams[0]), ==, CUDA_SUCCESS);
      gantry_cupti_push (recorder, 0);
      launch (gpu, NULL);
      gantry_cupti_pop (recorder);
      g_assert_cmpint (gpu->cuCtxSynchronize (), ==, CUDA_SUCCESS);
      gantry_cupti_push (recorder, 1);
      g_assert_cmpint (gpu->copy_to_host (gpu->host, gpu->memory, N * 4, gpu->streams[1]), ==, CUDA_SUCCESS);
      gantry_cupti_pop (recorder);
      g_assert_cmpint (gpu->cuCtxSynchronize (), ==, CUDA_SUCCESS);
    }
}

static void
count (const GantryCuptiRecord *record, gpointer user_data)
{
}

/* Without the index of the library's own walk the same is found: so the table of lengths is right. */
static void
check_lengths (const char *path)
{
  g_autofree char *data = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GantryCuptiCapture) capture = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (path, &data, &size, &error));
  bytes = g_bytes_new (data, size);
  capture = gantry_cupti_capture_read (bytes, &error);
  g_assert_no_error (error);
  g_test_message ("CUPTI %u, clock of its own: %s", capture->version, capture->is_monotonic ? "no" : "yes");
  if (capture->version < CUPTI_VERSION_13_0 || capture->version >= CUPTI_VERSION_13_1)
    return;
  for (guint i = 0; i < capture->buffers->len; i++)
    {
      const GantryCuptiBuffer *buffer = g_ptr_array_index (capture->buffers, i);
      GantryCuptiWalk by_index = { 0 }, by_size = { 0 };
      const guint8 *at = g_bytes_get_data (buffer->data, &size);

      gantry_cupti_walk (capture->version, at, size, buffer->index, buffer->n_index, count, NULL, &by_index);
      gantry_cupti_walk (capture->version, at, size, NULL, 0, count, NULL, &by_size);
      g_test_message ("buffer %u: %" G_GUINT64_FORMAT " records, %" G_GUINT64_FORMAT " by size, stop %u at %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT ", kind %u",
                      i, by_index.n_records, by_size.n_records, by_size.stop, by_size.stop_at, size, by_size.stop_kind);
      g_assert_cmpuint (by_index.n_records, ==, by_size.n_records);
    }
}

static void
check_events (const GantryRecording *recording, gint64 before, gint64 after)
{
  GantryEventTotals totals[GANTRY_N_EVENT_KINDS];
  gint64 origin = gantry_recording_origin (recording);
  GantryEvent event;

  gantry_recording_totals (recording, totals);
  g_assert_cmpuint (totals[GANTRY_EVENT_KERNEL].count, ==, STEPS);
  g_assert_cmpuint (totals[GANTRY_EVENT_COPY].count, ==, STEPS);
  g_assert_cmpuint (totals[GANTRY_EVENT_FILL].count, ==, STEPS);
  g_assert_cmpuint (gantry_recording_n_events (recording, GANTRY_QUEUE_TO_HOST), ==, STEPS);
  for (guint64 i = 0; i < gantry_recording_n_events (recording, GANTRY_QUEUE_COMPUTE); i++)
    {
      gantry_recording_get (recording, GANTRY_QUEUE_COMPUTE, i, &event);
      /* The GPU's clock is laid on the host's by interpolation. */
      g_assert_cmpint (origin + event.begin, >, before - 1000000);
      g_assert_cmpint (origin + event.end, <, after + 1000000);
      if (event.kind != GANTRY_EVENT_KERNEL)
        continue;
      g_assert_cmpuint (event.instruction, ==, 0);
      g_assert_cmpuint (event.node, ==, 2);
      g_assert_cmpstr (gantry_recording_string (recording, event.name), ==, "twice");
      g_assert_cmpuint (gantry_recording_detail (recording, event.detail)->grid[0], ==, N / 256);
    }
  gantry_recording_get (recording, GANTRY_QUEUE_TO_HOST, 0, &event);
  g_assert_cmpuint (event.bytes, ==, N * 4);
  g_assert_cmpuint (event.instruction, ==, 1);
}

static void
test_record (void)
{
  g_autofree char *folder = g_dir_make_tmp ("gantry-cupti-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "raw.cupti", NULL);
  GantryCuptiOptions options = { .counters = TRUE, .raw_path = path };
  g_autoptr (GantryExecutable) executable = make_executable (1);
  g_autoptr (GantryRecording) recording = NULL;
  g_autoptr (GError) error = NULL;
  GantryCuptiRecorder *recorder;
  gboolean may = TRUE;
  gint64 before, after;
  Gpu gpu = { 0 };

  if (!find_driver (&gpu))
    return;
  recorder = gantry_cupti_start (&options, &error);
  g_assert_no_error (error);
  open_gpu (&gpu);
  before = g_get_monotonic_time () * 1000;
  work (&gpu, recorder);
  after = g_get_monotonic_time () * 1000;
  recording = gantry_cupti_stop (recorder, NULL, 0, executable, NULL);
  for (guint i = 0; i < gantry_recording_n_notes (recording); i++)
    {
      g_test_message ("note: %s", gantry_recording_note (recording, i));
      may = may && strstr (gantry_recording_note (recording, i), "No privilege to record what the GPU does") == NULL;
    }
  g_test_message ("%s: %u counters", gantry_recording_device (recording), gantry_recording_n_counters (recording));
  if (may)
    {
      check_lengths (path);
      check_events (recording, before, after);
    }
  else
    g_test_skip ("no privilege to profile on this machine");
  g_unlink (path);
  g_rmdir (folder);
}

static void
test_kernel_profile (void)
{
  GantryCuptiKernelProfile profile;
  g_autoptr (GError) error = NULL;
  Gpu gpu = { 0 };

  if (!find_driver (&gpu))
    return;
  open_gpu (&gpu);
  if (!gantry_cupti_profile_kernel (NULL, 0, launch_and_wait, &gpu, &profile, &error))
    {
      /* Privileges are missing on many machines; anything else is a fault. */
      g_assert_nonnull (strstr (error->message, "no privilege"));
      g_test_skip (error->message);
      return;
    }
  g_test_message ("%u passes, %.0f ns, %.0f flops, %.0f bytes DRAM, %.0f bytes L2, occupancy %.1f %%, DRAM %.1f %%", profile.n_passes, profile.duration_ns,
                  profile.flops, profile.dram_bytes, profile.l2_bytes, profile.occupancy, profile.dram_busy);
  g_assert_cmpfloat (profile.flops, ==, N);
  g_assert_cmpfloat (profile.duration_ns, >, 0);
  g_assert_cmpfloat (profile.occupancy, >, 0);
  g_assert_cmpfloat (profile.occupancy, <=, 100);
}

/* With the real library and no GPU the reason is the driver's, not CUPTI's unknown error. */
static void
test_no_gpu (void)
{
  g_autoptr (GantryCuptiRecorder) recorder = NULL;
  g_autoptr (GError) error = NULL;

  recorder = gantry_cupti_start (NULL, &error);
  if (recorder != NULL)
    {
      g_test_skip ("there is a GPU");
      return;
    }
  g_test_message ("%s", error->message);
  g_assert_true (strstr (error->message, "driver") != NULL || strstr (error->message, "no CUPTI") != NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/profiler/cupti/gpu/none", test_no_gpu);
  g_test_add_func ("/profiler/cupti/gpu/record", test_record);
  g_test_add_func ("/profiler/cupti/gpu/kernel-profile", test_kernel_profile);
  return g_test_run ();
}
