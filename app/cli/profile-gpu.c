/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the CUPTI recorder around the runs of a program, and launches one kernel by itself for range profiling. */
#include "app/cli/profile-gpu.h"
#include "app/cli/kernel-inputs.h"
#include "core/base/allocate.h"
#include "core/base/error.h"

struct _GantryGpuProfiler
{
  GantryCuptiRecorder *recorder; /* (nullable): NULL: it did not start */
  GError *why;
  GantryDevice *device; /* that has our marks */
};

GantryGpuProfiler *
gantry_gpu_profiler_new (const GantryCuptiOptions *options)
{
  GantryGpuProfiler *profiler = g_new0 (GantryGpuProfiler, 1);

  profiler->recorder = gantry_cupti_start (options, &profiler->why);
  return profiler;
}

static void
take_marks (GantryGpuProfiler *profiler)
{
  if (profiler->device == NULL)
    return;
  gantry_device_set_marks (profiler->device, NULL);
  g_clear_pointer (&profiler->device, gantry_device_unref);
}

void
gantry_gpu_profiler_free (GantryGpuProfiler *profiler)
{
  if (profiler == NULL)
    return;
  take_marks (profiler);
  g_clear_pointer (&profiler->recorder, gantry_cupti_cancel);
  g_clear_error (&profiler->why);
  g_free (profiler);
}

/* Nothing but what the runs told, and the reason. */
static GantryRecording *
explain (const GantryGpuProfiler *profiler, GantryExecutable *executable, const GantryRecording *observed)
{
  g_autoptr (GantryCuptiCapture) capture = gantry_cupti_capture_new (0);

  capture->is_monotonic = TRUE;
  capture->device = g_strdup (gantry_recording_device (observed));
  gantry_cupti_capture_note (capture, "recorded without CUPTI, kernels and copies are as the program's own events timed them: %s", profiler->why->message);
  return gantry_cupti_convert (capture, NULL, 0, executable, observed);
}

static GantryRecording *
end_recording (gpointer self, GantryExecutable *executable, GantryRecording *observed)
{
  GantryGpuProfiler *profiler = self;
  GantryRecording *recording;

  take_marks (profiler);
  if (profiler->recorder != NULL)
    recording = gantry_cupti_stop (g_steal_pointer (&profiler->recorder), NULL, 0, executable, observed);
  else if (profiler->why != NULL)
    recording = explain (profiler, executable, observed);
  else
    return observed; /* of a run after the recorded one */
  gantry_recording_unref (observed);
  return recording;
}

void
gantry_gpu_profiler_attach (GantryGpuProfiler *profiler, GantryProgramOptions *how)
{
  const GantryDeviceMarks marks = { gantry_cupti_push, gantry_cupti_pop, profiler->recorder };

  how->end_recording = end_recording;
  how->recorder = profiler;
  if (profiler->recorder == NULL)
    return;
  profiler->device = gantry_device_ref (how->device);
  gantry_device_set_marks (how->device, &marks);
  if (gantry_device_is_cuda (how->device))
    gantry_cuda_device_set_graphs (how->device, gantry_cupti_ties_graphs (profiler->recorder));
}

/* One kernel. */

typedef struct
{
  GantryDevice *device;
  const GantryExecutable *executable;
  gpointer loaded;
  gpointer prepared;
  guint32 instruction, n;
  void **buffers;
  gsize *sizes;
} Alone;

static void
alone_clear (Alone *alone)
{
  if (alone->loaded != NULL)
    gantry_device_unload (alone->device, alone->loaded);
  for (guint32 i = 0; i < alone->n; i++)
    if (alone->buffers[i] != NULL)
      gantry_device_deallocate (alone->device, GANTRY_MEMORY_DEVICE, alone->buffers[i], alone->sizes[i]);
  g_free (alone->buffers);
  g_free (alone->sizes);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Alone, alone_clear)

static const GantryKernel *
kernel_of (const Alone *alone)
{
  return &alone->executable->kernels[alone->executable->instructions[alone->instruction].kernel];
}

static gboolean
find_launch (Alone *alone, guint32 node, GError **error)
{
  const GantryExecutable *executable = alone->executable;

  for (guint32 i = 0; i < executable->n_instructions; i++)
    if (executable->instructions[i].kind == GANTRY_INSTRUCTION_LAUNCH && executable->instructions[i].node == node)
      {
        alone->instruction = i;
        return TRUE;
      }
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "--kernel %u: no kernel does the work of that node; run with --slowest lists nodes with kernels",
               node);
  return FALSE;
}

/* The type of what the launch's buffer @i holds; NULL: a workspace, or packed weights. */
static const GantryType *
type_of (const Alone *alone, guint32 i)
{
  const GantryExecutable *executable = alone->executable;
  const GantryInstruction *launch = &executable->instructions[alone->instruction];
  const GantryPlanBuffer *buffer = i < launch->n_buffers ? &executable->plan->buffers[executable->buffer_refs[launch->buffers + i]] : NULL;
  const GantryNode *node = buffer != NULL && buffer->category != GANTRY_BUFFER_WORKSPACE ? gantry_module_node (executable->module, buffer->node) : NULL;
  const GantryType *type = node != NULL ? gantry_node_type (executable->module, node) : NULL;

  return type != NULL && gantry_type_bytes (type) == (gint64) buffer->size ? type : NULL;
}

static gint64
bound_of (const Alone *alone)
{
  g_autofree const GantryType **types = g_new0 (const GantryType *, alone->n + 1);

  for (guint32 i = 0; i < alone->n; i++)
    types[i] = type_of (alone, i);
  return gantry_kernel_input_bound (types, alone->n);
}

/* Results are filled too: which buffers are operands does not matter. What has no type is zero. */
static gboolean
fill (Alone *alone, guint32 i, gint64 below, GError **error)
{
  const GantryType *type = type_of (alone, i);
  g_autofree guint8 *data = gantry_try_allocate (MAX (alone->sizes[i], 1), 1, "an operand of the kernel", error);

  if (data == NULL)
    return FALSE;
  if (type != NULL)
    gantry_kernel_input_fill (type, below, i, data);
  return gantry_device_upload (alone->device, alone->buffers[i], data, alone->sizes[i], error);
}

static gboolean
allocate (Alone *alone, GError **error)
{
  const GantryInstruction *launch = &alone->executable->instructions[alone->instruction];
  const GantryKernel *kernel = kernel_of (alone);
  gint64 below;

  alone->n = launch->n_buffers + (kernel->packed_bytes > 0);
  alone->buffers = g_new0 (void *, alone->n + 1);
  alone->sizes = g_new0 (gsize, alone->n + 1);
  below = bound_of (alone);
  for (guint32 i = 0; i < alone->n; i++)
    {
      alone->sizes[i] = i < launch->n_buffers ? alone->executable->plan->buffers[alone->executable->buffer_refs[launch->buffers + i]].size
                                              : kernel->packed_bytes;
      alone->buffers[i] = gantry_device_allocate (alone->device, GANTRY_MEMORY_DEVICE, alone->sizes[i], error);
      if (alone->buffers[i] == NULL || !fill (alone, i, below, error))
        return FALSE;
    }
  return gantry_device_load (alone->device, alone->executable, &alone->loaded, error)
         && gantry_device_prepare (alone->device, alone->loaded, kernel, alone->buffers, alone->n, &alone->prepared, error);
}

static gboolean
launch_alone (gpointer user_data, GError **error)
{
  Alone *alone = user_data;
  GantryBatch *batch = gantry_device_begin (alone->device, 0, NULL, NULL);
  GantryCommand command = { .kind = GANTRY_COMMAND_LAUNCH, .instruction = alone->instruction, .stamp = GANTRY_NO_STAMP };

  command.launch.kernel = kernel_of (alone);
  command.launch.buffers = alone->buffers;
  command.launch.prepared = alone->prepared;
  gantry_batch_submit (alone->device, batch, GANTRY_QUEUE_COMPUTE, &command, 1);
  return gantry_device_finish (alone->device, batch, error);
}

gboolean
gantry_gpu_profile_node (GantryDevice *device, guint ordinal, GantryProgram *program, guint32 node, char **name, GantryCuptiKernelProfile *profile,
                         GError **error)
{
  g_auto (Alone) alone = { .device = device, .executable = program->executable };

  if (!gantry_device_is_cuda (device))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "--kernel %u: a kernel's hardware counters are those of a GPU: use --device cuda", node);
      return FALSE;
    }
  if (!find_launch (&alone, node, error) || !allocate (&alone, error))
    return FALSE;
  *name = g_strdup (kernel_of (&alone)->name);
  return gantry_cupti_profile_kernel (gantry_cuda_device_context (device), ordinal, launch_alone, &alone, profile, error);
}
