/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA device: its context and streams, its memory, copies that the caller waits for, and what becomes of it when
 * it fails. */
#include "core/runtime/cuda/cuda-private.h"
#include "core/base/asks.h"
#include "core/base/error.h"
#include <stdlib.h>
#include <string.h>

/* What stands for memory of no bytes, which the driver does not give. */
#define NOTHING GSIZE_TO_POINTER (256)

static const GantryDeviceClass cuda_class;

/* Errors. */

gboolean
_gantry_cuda_is_lost (CudaDevice *cuda, GError **error)
{
  gboolean lost;

  g_mutex_lock (&cuda->parent.lock);
  lost = cuda->lost != NULL;
  if (lost)
    g_propagate_error (error, g_error_copy (cuda->lost));
  g_mutex_unlock (&cuda->parent.lock);
  return lost;
}

gboolean
_gantry_cuda_enter (CudaDevice *cuda, GError **error)
{
  if (_gantry_cuda_is_lost (cuda, error))
    return FALSE;
  return _gantry_cuda_check (cuda, cuda->driver->context_push (cuda->context), error, "making its context current");
}

gboolean
_gantry_cuda_enter_anyway (CudaDevice *cuda)
{
  return cuda->driver->context_push (cuda->context) == 0;
}

void
_gantry_cuda_leave (CudaDevice *cuda)
{
  CudaContext context;

  cuda->driver->context_pop (&context);
}

/* What to do when the device has gone. */
static const char *
advice (const CudaDevice *cuda, CudaResult result)
{
  switch (result)
    {
    case CUDA_ECC_UNCORRECTABLE:
    case CUDA_NVLINK_UNCORRECTABLE:
    case CUDA_CONTAINED: return "the hardware reports an error that it could not correct: look at nvidia-smi -q, and have the GPU reset";
    case CUDA_ILLEGAL_ADDRESS:
    case CUDA_ASSERT:
    case CUDA_HARDWARE_STACK:
    case CUDA_ILLEGAL_INSTRUCTION:
    case CUDA_MISALIGNED_ADDRESS:
    case CUDA_INVALID_ADDRESS_SPACE:
    case CUDA_INVALID_PC:
    case CUDA_LAUNCH_FAILED:
      return cuda->checking ? "that kernel is wrong: please report it with its program"
                            : "a kernel before it is wrong: set GANTRY_CUDA_CHECK=1 and run again to learn which";
    case CUDA_LAUNCH_TIMEOUT: return "a kernel took longer than the watchdog of the screen that the GPU drives allows: use another GPU, or end the screen";
    default: return "look at nvidia-smi and for lines with Xid in the system's log (dmesg)";
    }
}

void
_gantry_cuda_note (CudaDevice *cuda, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_mutex_lock (&cuda->parent.lock);
  if (!g_ptr_array_find_with_equal_func (cuda->notes, text, g_str_equal, NULL))
    g_ptr_array_add (cuda->notes, g_steal_pointer (&text));
  g_mutex_unlock (&cuda->parent.lock);
}

static void
set_lost (CudaDevice *cuda, CudaResult result, const char *what)
{
  g_autofree char *why = _gantry_cuda_explain (cuda->driver, result);

  g_mutex_lock (&cuda->parent.lock);
  if (cuda->lost == NULL)
    cuda->lost = g_error_new (GANTRY_ERROR, GANTRY_ERROR_FAILED,
                              "%s is lost: %s failed: %s; %s; nothing more runs on it until the program is started again, and "
                              "what ran before stays",
                              cuda->parent.name, what, why, advice (cuda, result));
  g_mutex_unlock (&cuda->parent.lock);
}

void
_gantry_cuda_set_checked (CudaDevice *cuda, const char *name)
{
  g_mutex_lock (&cuda->parent.lock);
  cuda->checked_kernel = name;
  g_mutex_unlock (&cuda->parent.lock);
}

/* "running kernel 'x'", where each is waited for and one is under way (transfer full) (nullable) */
static char *
describe_checked (CudaDevice *cuda)
{
  char *text = NULL;

  g_mutex_lock (&cuda->parent.lock);
  if (cuda->checked_kernel != NULL)
    text = g_strdup_printf ("running kernel '%s'", cuda->checked_kernel);
  g_mutex_unlock (&cuda->parent.lock);
  return text;
}

gboolean
_gantry_cuda_check (CudaDevice *cuda, CudaResult result, GError **error, const char *what, ...)
{
  g_autofree char *text = NULL, *why = NULL, *checked = NULL;
  va_list args;

  if (result == 0)
    return TRUE;
  va_start (args, what);
  text = g_strdup_vprintf (what, args);
  va_end (args);
  if (_gantry_cuda_is_sticky (result))
    {
      /* Whichever call hears of it first, it is that kernel's doing. */
      checked = describe_checked (cuda);
      set_lost (cuda, result, checked != NULL ? checked : text);
      _gantry_cuda_is_lost (cuda, error);
      return FALSE;
    }
  why = _gantry_cuda_explain (cuda->driver, result);
  g_set_error (error, GANTRY_ERROR, result == CUDA_OUT_OF_MEMORY ? GANTRY_ERROR_NO_MEMORY : GANTRY_ERROR_FAILED, "%s: %s failed: %s", cuda->parent.name, text,
               why);
  return FALSE;
}

/* A wait that fails says nothing about what the stream still does: it may go on writing to memory that is given back next. So it is
 * waited for once more; where that fails too nothing of the context runs any more. */
CudaResult
_gantry_cuda_wait_for_stream (CudaDevice *cuda, CudaStream stream)
{
  CudaResult result = cuda->driver->stream_synchronize (stream), again;

  if (result == 0)
    return 0;
  again = cuda->driver->stream_synchronize (stream);
  if (again != 0 && !_gantry_cuda_is_sticky (result))
    set_lost (cuda, again, "waiting for a stream");
  return result;
}

/* Memory. */

static void
set_exhausted (CudaDevice *cuda, GantryMemoryKind kind, gsize bytes, GError **error)
{
  g_autofree char *wanted = gantry_format_bytes (bytes);
  g_autofree char *has = NULL, *of = NULL, *own = NULL, *others = NULL;
  gsize left = 0, total = 0;
  guint64 fallen;

  if (kind != GANTRY_MEMORY_DEVICE || cuda->driver->memory_info (&left, &total) != 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY, "%s memory: the system has no %s left to pin", gantry_memory_kind_name (kind), wanted);
      return;
    }
  g_mutex_lock (&cuda->parent.lock);
  fallen = cuda->fallen;
  g_mutex_unlock (&cuda->parent.lock);
  has = gantry_format_bytes_down (left);
  of = gantry_format_bytes_down (total);
  own = gantry_format_bytes (fallen);
  others = gantry_format_bytes (total - left - MIN (fallen, total - left));
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY,
               "%s memory of %s: %s needed in one piece where %s of %s are free; this program holds %s, the driver and other programs "
               "%s (nvidia-smi lists them)",
               gantry_memory_kind_name (kind), cuda->parent.name, wanted, has, of, own, others);
}

/* How much the driver has taken for an allocation: it gives whole pages, and keeps some. */
static void
count_fallen (CudaDevice *cuda, CudaAddress address, gsize before)
{
  gsize after = 0, total;
  guint64 *fallen = g_new0 (guint64, 1);
  gboolean known = before > 0 && cuda->driver->memory_info (&after, &total) == 0;

  *fallen = known && after < before ? before - after : 0;
  g_mutex_lock (&cuda->parent.lock);
  cuda->fallen += *fallen;
  cuda->most_fallen = MAX (cuda->most_fallen, cuda->fallen);
  if (known)
    g_hash_table_insert (cuda->allocations, GSIZE_TO_POINTER (address), g_steal_pointer (&fallen));
  g_mutex_unlock (&cuda->parent.lock);
  g_free (fallen);
}

static void *
allocate_device (CudaDevice *cuda, gsize bytes, GError **error)
{
  CudaAddress address = 0;
  gsize before = 0, total;
  CudaResult result;

  if (cuda->driver->memory_info (&before, &total) != 0)
    before = 0;
  result = cuda->driver->memory_alloc (&address, bytes);
  if (result == CUDA_OUT_OF_MEMORY)
    set_exhausted (cuda, GANTRY_MEMORY_DEVICE, bytes, error);
  else if (_gantry_cuda_check (cuda, result, error, "allocating %" G_GSIZE_FORMAT " bytes of device memory", bytes))
    count_fallen (cuda, address, before);
  return result == 0 ? GSIZE_TO_POINTER (address) : NULL;
}

static void *
allocate_pinned (CudaDevice *cuda, gsize bytes, GError **error)
{
  void *memory = NULL;
  CudaResult result = cuda->driver->host_alloc (&memory, bytes, CUDA_HOST_PORTABLE | CUDA_HOST_DEVICE_MAP);

  if (result == CUDA_OUT_OF_MEMORY)
    set_exhausted (cuda, GANTRY_MEMORY_PINNED_HOST, bytes, error);
  else
    _gantry_cuda_check (cuda, result, error, "allocating %" G_GSIZE_FORMAT " bytes of pinned host memory", bytes);
  return result == 0 ? memory : NULL;
}

static void *
cuda_allocate (GantryDevice *device, GantryMemoryKind kind, gsize bytes, GError **error)
{
  CudaDevice *cuda = (CudaDevice *) device;
  void *memory = NULL;

  if (!_gantry_cuda_enter (cuda, error))
    return NULL;
  if (bytes == 0)
    memory = NOTHING;
  else if (kind == GANTRY_MEMORY_DEVICE)
    memory = allocate_device (cuda, bytes, error);
  else if (kind == GANTRY_MEMORY_PINNED_HOST)
    memory = allocate_pinned (cuda, bytes, error);
  else if (posix_memalign (&memory, 64, bytes) != 0)
    memory = NULL;
  _gantry_cuda_leave (cuda);
  return memory;
}

/* Also of a device that is lost: what the driver then says is of no use to anybody. */
static void
cuda_deallocate (GantryDevice *device, GantryMemoryKind kind, void *memory, gsize bytes)
{
  CudaDevice *cuda = (CudaDevice *) device;
  const guint64 *fallen;
  gboolean entered;

  if (bytes == 0)
    return;
  entered = _gantry_cuda_enter_anyway (cuda);
  if (kind == GANTRY_MEMORY_DEVICE)
    cuda->driver->memory_free (GPOINTER_TO_SIZE (memory));
  else if (kind == GANTRY_MEMORY_PINNED_HOST)
    cuda->driver->host_free (memory);
  else
    free (memory);
  if (entered)
    _gantry_cuda_leave (cuda);
  if (kind != GANTRY_MEMORY_DEVICE)
    return;
  g_mutex_lock (&cuda->parent.lock);
  fallen = g_hash_table_lookup (cuda->allocations, memory);
  cuda->fallen -= fallen != NULL ? *fallen : 0;
  g_hash_table_remove (cuda->allocations, memory);
  g_mutex_unlock (&cuda->parent.lock);
}

/* On a stream and waited for: a plain copy from pageable memory may still be under way when it returns, and our streams
 * do not wait for the one that it runs on. */
static gboolean
transfer (GantryDevice *device, void *to, const void *from, gsize bytes, const char *what, GError **error)
{
  CudaDevice *cuda = (CudaDevice *) device;
  gboolean done;

  if (!_gantry_cuda_enter (cuda, error))
    return FALSE;
  g_mutex_lock (&cuda->transferring);
  done = _gantry_cuda_check (cuda, cuda->driver->copy (GPOINTER_TO_SIZE (to), GPOINTER_TO_SIZE (from), bytes, cuda->transfer), error,
                             "copying %" G_GSIZE_FORMAT " bytes %s the device", bytes, what)
         && _gantry_cuda_check (cuda, _gantry_cuda_wait_for_stream (cuda, cuda->transfer), error, "waiting for %" G_GSIZE_FORMAT " bytes %s the device", bytes,
                                what);
  g_mutex_unlock (&cuda->transferring);
  _gantry_cuda_leave (cuda);
  return done;
}

static gboolean
cuda_upload (GantryDevice *device, void *to, const void *from, gsize bytes, GError **error)
{
  return transfer (device, to, from, bytes, "to", error);
}

static gboolean
cuda_download (GantryDevice *device, void *to, const void *from, gsize bytes, GError **error)
{
  return transfer (device, to, from, bytes, "from", error);
}

gboolean
gantry_cuda_device_measure_memory (GantryDevice *device, GantryCudaMemory *memory)
{
  CudaDevice *cuda = (CudaDevice *) device;
  gsize left = 0, total = 0;
  gboolean known;

  g_return_val_if_fail (gantry_device_is_cuda (device), FALSE);
  *memory = (GantryCudaMemory){ 0 };
  if (!_gantry_cuda_enter (cuda, NULL))
    return FALSE;
  known = cuda->driver->memory_info (&left, &total) == 0;
  _gantry_cuda_leave (cuda);
  g_mutex_lock (&device->lock);
  *memory = (GantryCudaMemory){ cuda->fallen, cuda->most_fallen, left, total, cuda->taken_before };
  g_mutex_unlock (&device->lock);
  return known;
}

static gboolean
cuda_count_free (GantryDevice *device, guint64 *bytes)
{
  GantryCudaMemory memory;
  gboolean known = gantry_cuda_device_measure_memory (device, &memory);

  *bytes = memory.free;
  return known;
}

static gboolean
cuda_count_taken (GantryDevice *device, const void *memory, guint64 *bytes)
{
  CudaDevice *cuda = (CudaDevice *) device;
  const guint64 *fallen;

  *bytes = 0;
  if (memory == NOTHING)
    return TRUE;
  g_mutex_lock (&device->lock);
  fallen = g_hash_table_lookup (cuda->allocations, memory);
  *bytes = fallen != NULL ? *fallen : 0;
  g_mutex_unlock (&device->lock);
  return fallen != NULL;
}

/* Life. */

static void
free_events (CudaDevice *cuda, GPtrArray *events)
{
  for (guint i = 0; i < events->len; i++)
    cuda->driver->event_free (g_ptr_array_index (events, i));
  g_ptr_array_unref (events);
}

static void
cuda_free (GantryDevice *device)
{
  CudaDevice *cuda = (CudaDevice *) device;

  if (cuda->context != NULL)
    {
      gboolean entered = _gantry_cuda_enter_anyway (cuda);

      _gantry_cuda_drop_graphs (cuda);
      _gantry_cuda_blas_free (cuda->blas);
      free_events (cuda, cuda->events);
      free_events (cuda, cuda->timed_events);
      for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
        if (cuda->streams[queue] != NULL)
          cuda->driver->stream_free (cuda->streams[queue]);
      if (cuda->transfer != NULL)
        cuda->driver->stream_free (cuda->transfer);
      if (entered)
        _gantry_cuda_leave (cuda);
      cuda->driver->context_release (cuda->ordinal);
    }
  _gantry_cuda_driver_free (cuda->driver);
  g_clear_error (&cuda->lost);
  g_hash_table_unref (cuda->allocations);
  g_ptr_array_unref (cuda->notes);
  g_free (cuda->choices_folder);
  g_mutex_clear (&cuda->running);
  g_mutex_clear (&cuda->transferring);
  gantry_device_clear (device);
  g_free (cuda);
}

static const GantryDeviceClass cuda_class = {
  .kind = "cuda",
  .is_host = FALSE,
  .free = cuda_free,
  .allocate = cuda_allocate,
  .deallocate = cuda_deallocate,
  .count_free = cuda_count_free,
  .count_taken = cuda_count_taken,
  .upload = cuda_upload,
  .download = cuda_download,
  .load = _gantry_cuda_load,
  .unload = _gantry_cuda_unload,
  .prepare = _gantry_cuda_prepare,
  .begin = _gantry_cuda_begin,
  .submit = _gantry_cuda_submit,
  .finish = _gantry_cuda_finish,
};

gboolean
gantry_device_is_cuda (const GantryDevice *device)
{
  return device->klass == &cuda_class;
}

static gboolean
find_ordinal (CudaDevice *cuda, int ordinal, GError **error)
{
  CudaResult result;
  int n = 0;

  result = cuda->driver->device_count (&n);
  if (result != 0 || n <= 0)
    {
      _gantry_cuda_set_system_error (cuda->driver, result != 0 ? result : CUDA_NO_DEVICE, "counting GPUs", error);
      return FALSE;
    }
  if (ordinal < 0 || ordinal >= n)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "there is no GPU %d: %s; gantry-cli devices lists them", ordinal,
                   n == 1 ? "the only one is 0" : "there are fewer");
      return FALSE;
    }
  result = cuda->driver->device_get (&cuda->ordinal, ordinal);
  if (result != 0)
    _gantry_cuda_set_system_error (cuda->driver, result, "opening the GPU", error);
  return result == 0;
}

static gboolean
look_at (CudaDevice *cuda, GError **error)
{
  CudaDriver *driver = cuda->driver;
  char name[256] = "";

  if (driver->device_name (name, sizeof name, cuda->ordinal) == 0 && *name != '\0')
    {
      g_free (cuda->parent.name);
      cuda->parent.name = g_strdup (name);
    }
  cuda->major = _gantry_cuda_attribute (driver, cuda->ordinal, CUDA_ATTRIBUTE_MAJOR);
  cuda->minor = _gantry_cuda_attribute (driver, cuda->ordinal, CUDA_ATTRIBUTE_MINOR);
  cuda->most_threads = _gantry_cuda_attribute (driver, cuda->ordinal, CUDA_ATTRIBUTE_THREADS_PER_BLOCK);
  cuda->most_shared = _gantry_cuda_attribute (driver, cuda->ordinal, CUDA_ATTRIBUTE_SHARED_OPTIN);
  if (_gantry_cuda_attribute (driver, cuda->ordinal, CUDA_ATTRIBUTE_UNIFIED_ADDRESSING) != 0 && cuda->major >= 8)
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
               "%s has compute capability %d.%d where 8.0 (Ampere) or newer is needed; " GANTRY_ASKS_OTHER_GPU ", or " GANTRY_ASKS_PROCESSOR, cuda->parent.name,
               cuda->major, cuda->minor);
  return FALSE;
}

static gboolean
make_context (CudaDevice *cuda, GError **error)
{
  CudaDriver *driver = cuda->driver;
  g_autofree char *what = g_strdup_printf ("making a context on %s", cuda->parent.name);
  CudaResult result = driver->context_retain (&cuda->context, cuda->ordinal);
  gsize left = 0, total = 0;

  if (result == CUDA_OUT_OF_MEMORY)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY,
                 "%s has no memory left for the driver itself: other programs hold it (nvidia-smi lists them); end one, or " GANTRY_ASKS_OTHER_GPU,
                 cuda->parent.name);
  else if (result != 0)
    _gantry_cuda_set_system_error (driver, result == CUDA_INVALID_DEVICE ? CUDA_DEVICE_UNAVAILABLE : result, what, error);
  if (result != 0)
    {
      cuda->context = NULL;
      return FALSE;
    }
  if (!_gantry_cuda_enter (cuda, error))
    return FALSE;
  for (guint queue = 0; queue <= GANTRY_N_QUEUES && result == 0; queue++)
    result = driver->stream_new (queue < GANTRY_N_QUEUES ? &cuda->streams[queue] : &cuda->transfer, CUDA_STREAM_NON_BLOCKING);
  if (result == 0 && driver->memory_info (&left, &total) == 0)
    cuda->taken_before = total - MIN (left, total);
  _gantry_cuda_leave (cuda);
  return _gantry_cuda_check (cuda, result, error, "making streams");
}

GantryDevice *
gantry_cuda_device_new (int ordinal, GError **error)
{
  CudaDriver *driver = _gantry_cuda_driver_new (error);
  const char *check = g_getenv ("GANTRY_CUDA_CHECK");
  CudaDevice *cuda;

  if (driver == NULL)
    return NULL;
  cuda = g_new0 (CudaDevice, 1);
  cuda->driver = driver;
  cuda->run_ahead = 256;
  cuda->checking = check != NULL && *check != '\0' && strcmp (check, "0") != 0;
  cuda->allocations = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  cuda->notes = g_ptr_array_new_with_free_func (g_free);
  cuda->events = g_ptr_array_new ();
  cuda->timed_events = g_ptr_array_new ();
  g_mutex_init (&cuda->running);
  g_mutex_init (&cuda->transferring);
  gantry_device_init (&cuda->parent, &cuda_class, g_strdup_printf ("GPU %d", ordinal));
  if (find_ordinal (cuda, ordinal, error) && look_at (cuda, error) && make_context (cuda, error))
    return &cuda->parent;
  if (cuda->context == NULL)
    {
      g_ptr_array_unref (cuda->events);
      g_ptr_array_unref (cuda->timed_events);
    }
  gantry_device_unref (&cuda->parent);
  return NULL;
}

/* What is asked of it and set. */

guint
gantry_cuda_device_capability (const GantryDevice *device)
{
  g_return_val_if_fail (gantry_device_is_cuda (device), 0);
  return (guint) (((const CudaDevice *) device)->major * 10 + ((const CudaDevice *) device)->minor);
}

gpointer
gantry_cuda_device_context (const GantryDevice *device)
{
  g_return_val_if_fail (gantry_device_is_cuda (device), NULL);
  return ((const CudaDevice *) device)->context;
}

void
gantry_cuda_device_set_checking (GantryDevice *device, gboolean checking)
{
  g_return_if_fail (gantry_device_is_cuda (device));
  ((CudaDevice *) device)->checking = checking;
}

void
gantry_cuda_device_set_graphs (GantryDevice *device, gboolean graphs)
{
  g_return_if_fail (gantry_device_is_cuda (device));
  ((CudaDevice *) device)->use_graphs = graphs;
}

void
gantry_cuda_device_set_library (GantryDevice *device, gboolean library, const char *folder)
{
  CudaDevice *cuda = (CudaDevice *) device;

  g_return_if_fail (gantry_device_is_cuda (device));
  cuda->use_library = library;
  g_free (cuda->choices_folder);
  cuda->choices_folder = g_strdup (folder);
}

char **
gantry_cuda_device_get_notes (GantryDevice *device)
{
  CudaDevice *cuda = (CudaDevice *) device;
  char **notes;

  g_return_val_if_fail (gantry_device_is_cuda (device), NULL);
  g_mutex_lock (&device->lock);
  notes = g_new0 (char *, cuda->notes->len + (gsize) 1);
  for (guint i = 0; i < cuda->notes->len; i++)
    notes[i] = g_strdup (g_ptr_array_index (cuda->notes, i));
  g_mutex_unlock (&device->lock);
  return notes;
}

gint64
gantry_cuda_device_take_replay_ns (GantryDevice *device)
{
  CudaDevice *cuda = (CudaDevice *) device;
  gint64 ns;

  g_return_val_if_fail (gantry_device_is_cuda (device), 0);
  g_mutex_lock (&device->lock);
  ns = cuda->replay_ns;
  cuda->replay_ns = 0;
  g_mutex_unlock (&device->lock);
  return MAX (ns, 0);
}

void
gantry_cuda_device_get_graphs (GantryDevice *device, guint *n_made, guint *n_replayed)
{
  g_return_if_fail (gantry_device_is_cuda (device));
  if (n_made != NULL)
    *n_made = ((CudaDevice *) device)->n_made;
  if (n_replayed != NULL)
    *n_replayed = ((CudaDevice *) device)->n_replayed;
}

void
gantry_cuda_device_set_run_ahead (GantryDevice *device, guint n_commands)
{
  g_return_if_fail (gantry_device_is_cuda (device));
  ((CudaDevice *) device)->run_ahead = n_commands;
}
