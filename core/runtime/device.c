/* SPDX-License-Identifier: Apache-2.0 */
/* What all devices share: life, memory counted against limits, and the clock. */
#include "core/runtime/device.h"
#include <time.h>

void
gantry_device_init (GantryDevice *device, const GantryDeviceClass *klass, char *take_name)
{
  device->klass = klass;
  device->name = take_name;
  g_atomic_ref_count_init (&device->ref_count);
  g_mutex_init (&device->lock);
}

void
gantry_device_clear (GantryDevice *device)
{
  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    g_warn_if_fail (device->memory[kind].used == 0);
  g_mutex_clear (&device->lock);
  g_free (device->name);
}

GantryDevice *
gantry_device_ref (GantryDevice *device)
{
  g_atomic_ref_count_inc (&device->ref_count);
  return device;
}

void
gantry_device_unref (GantryDevice *device)
{
  if (device != NULL && g_atomic_ref_count_dec (&device->ref_count))
    device->klass->free (device);
}

const char *
gantry_device_name (const GantryDevice *device)
{
  return device->name;
}

void
gantry_device_set_limit (GantryDevice *device, GantryMemoryKind kind, guint64 bytes)
{
  g_return_if_fail (kind < GANTRY_N_MEMORY_KINDS);
  g_mutex_lock (&device->lock);
  device->memory[kind].limit = bytes;
  g_mutex_unlock (&device->lock);
}

void
gantry_device_get_memory (GantryDevice *device, GantryMemoryKind kind, guint64 *used, guint64 *peak, guint64 *limit)
{
  g_return_if_fail (kind < GANTRY_N_MEMORY_KINDS);
  g_mutex_lock (&device->lock);
  if (used != NULL)
    *used = device->memory[kind].used;
  if (peak != NULL)
    *peak = device->memory[kind].peak;
  if (limit != NULL)
    *limit = device->memory[kind].limit;
  g_mutex_unlock (&device->lock);
}

/* Counts @bytes as used. Returns: FALSE and @error when that is beyond the limit */
static gboolean
reserve (GantryDevice *device, GantryMemoryKind kind, gsize bytes, GError **error)
{
  guint64 used, limit;
  gboolean fits;

  g_mutex_lock (&device->lock);
  used = device->memory[kind].used;
  limit = device->memory[kind].limit;
  fits = limit == 0 || (bytes <= limit && used <= limit - bytes);
  if (fits)
    {
      device->memory[kind].used += bytes;
      device->memory[kind].peak = MAX (device->memory[kind].peak, device->memory[kind].used);
    }
  g_mutex_unlock (&device->lock);
  if (!fits)
    {
      g_autofree char *need = gantry_format_bytes_within (used + bytes, limit);
      g_autofree char *may = gantry_format_limit (limit);
      g_autofree char *over = gantry_format_bytes (used + bytes - limit), *exactly = gantry_format_bytes_exactly (used + bytes - limit);

      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY, "%s memory: %s needed where the limit is %s, %s%s too much", gantry_memory_kind_name (kind),
                   need, may, over, exactly);
    }
  return fits;
}

static void
give_back (GantryDevice *device, GantryMemoryKind kind, gsize bytes)
{
  g_mutex_lock (&device->lock);
  g_assert (device->memory[kind].used >= bytes);
  device->memory[kind].used -= bytes;
  g_mutex_unlock (&device->lock);
}

void *
gantry_device_allocate (GantryDevice *device, GantryMemoryKind kind, gsize bytes, GError **error)
{
  GError *why = NULL;
  void *memory;

  g_return_val_if_fail (kind < GANTRY_N_MEMORY_KINDS, NULL);
  if (!reserve (device, kind, bytes, error))
    return NULL;
  memory = device->klass->allocate (device, kind, bytes, &why);
  if (memory != NULL)
    return memory;
  give_back (device, kind, bytes);
  if (why != NULL)
    g_propagate_error (error, why);
  else
    {
      g_autofree char *size = gantry_format_bytes (bytes);

      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY, "%s memory: the system has no %s left", gantry_memory_kind_name (kind), size);
    }
  return NULL;
}

void
gantry_device_deallocate (GantryDevice *device, GantryMemoryKind kind, void *memory, gsize bytes)
{
  if (memory == NULL)
    return;
  device->klass->deallocate (device, kind, memory, bytes);
  give_back (device, kind, bytes);
}

gboolean
gantry_device_count_free (GantryDevice *device, guint64 *bytes)
{
  return device->klass->count_free != NULL && device->klass->count_free (device, bytes);
}

gboolean
gantry_device_count_taken (GantryDevice *device, const void *memory, guint64 *bytes)
{
  return device->klass->count_taken != NULL && device->klass->count_taken (device, memory, bytes);
}

gboolean
gantry_device_is_host (const GantryDevice *device)
{
  return device->klass->is_host;
}

gboolean
gantry_device_upload (GantryDevice *device, void *to, const void *from, gsize bytes, GError **error)
{
  return bytes == 0 || device->klass->upload (device, to, from, bytes, error);
}

gboolean
gantry_device_download (GantryDevice *device, void *to, const void *from, gsize bytes, GError **error)
{
  return bytes == 0 || device->klass->download (device, to, from, bytes, error);
}

gboolean
gantry_device_load (GantryDevice *device, const GantryExecutable *executable, gpointer *loaded, GError **error)
{
  *loaded = NULL;
  if (device->klass->load == NULL)
    return TRUE;
  *loaded = device->klass->load (device, executable, error);
  return *loaded != NULL;
}

void
gantry_device_unload (GantryDevice *device, gpointer loaded)
{
  if (loaded != NULL)
    device->klass->unload (device, loaded);
}

gboolean
gantry_device_prepare (GantryDevice *device, gpointer loaded, const GantryKernel *kernel, void *const *buffers, guint32 n, gpointer *prepared, GError **error)
{
  *prepared = NULL;
  if (device->klass->prepare == NULL)
    return TRUE;
  *prepared = device->klass->prepare (device, loaded, kernel, buffers, n, error);
  return *prepared != NULL;
}

GantryBatch *
gantry_device_begin (GantryDevice *device, guint32 n_events, GantryStamp *stamps, GCancellable *cancellable)
{
  return device->klass->begin (device, n_events, stamps, cancellable);
}

void
gantry_batch_submit (GantryDevice *device, GantryBatch *batch, GantryQueue queue, const GantryCommand *commands, guint32 n)
{
  g_return_if_fail (queue < GANTRY_N_QUEUES);
  device->klass->submit (batch, queue, commands, n);
}

gboolean
gantry_device_finish (GantryDevice *device, GantryBatch *batch, GError **error)
{
  return device->klass->finish (batch, error);
}

void
gantry_device_set_marks (GantryDevice *device, const GantryDeviceMarks *marks)
{
  device->marks = marks != NULL ? *marks : (GantryDeviceMarks){ 0 };
}

gint64
gantry_time_ns (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (gint64) now.tv_sec * 1000000000 + now.tv_nsec;
}
