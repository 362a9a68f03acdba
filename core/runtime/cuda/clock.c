/* SPDX-License-Identifier: Apache-2.0 */
/* Time stamps: events with times, brought onto CLOCK_MONOTONIC by comparing the clocks on the idle device before a
 * batch and after it. Between the two the GPU's clock is taken to run evenly. */
#include "core/runtime/cuda/cuda-private.h"

#define ROUNDS 5
/* cuEventElapsedTime() tells half microseconds. */
#define RESOLUTION_NS 500
/* Over less than this the second comparison says more about itself than about the clocks' rates. */
#define LONG_NS 20000000

/* The shortest of some round trips: the event happened somewhere within. */
gboolean
_gantry_cuda_meet (CudaDevice *cuda, CudaMeeting *meeting, GError **error)
{
  CudaStream stream = cuda->streams[GANTRY_QUEUE_COMPUTE];
  gboolean done = TRUE;

  meeting->error = G_MAXINT64;
  for (guint i = 0; i < ROUNDS && done; i++)
    {
      CudaEvent event = _gantry_cuda_take_event (cuda, TRUE, error);
      gint64 before = gantry_time_ns (), after;

      if (event == NULL)
        return FALSE;
      done = _gantry_cuda_check (cuda, cuda->driver->event_record (event, stream), error, "recording a time")
             && _gantry_cuda_check (cuda, cuda->driver->event_synchronize (event), error, "waiting for a time");
      after = gantry_time_ns ();
      if (!done || (after - before) / 2 >= meeting->error)
        {
          _gantry_cuda_give_event (cuda, TRUE, event);
          continue;
        }
      _gantry_cuda_give_event (cuda, TRUE, meeting->event);
      meeting->event = event;
      meeting->time = before + (after - before) / 2;
      meeting->error = (after - before) / 2;
    }
  return done;
}

static gboolean
elapsed (CudaDevice *cuda, CudaEvent from, CudaEvent to, double *ns, GError **error)
{
  float milliseconds = 0;

  if (!_gantry_cuda_check (cuda, cuda->driver->event_elapsed (&milliseconds, from, to), error, "reading a time"))
    return FALSE;
  *ns = (double) milliseconds * 1e6;
  return TRUE;
}

/* Nanoseconds of ours for one of the GPU's. */
static gboolean
find_rate (GantryBatch *batch, double *rate, GError **error)
{
  double ns;

  *rate = 1;
  if (!elapsed (batch->cuda, batch->first.event, batch->last.event, &ns, error))
    return FALSE;
  if (batch->last.time - batch->first.time >= LONG_NS && ns > 0)
    *rate = (double) (batch->last.time - batch->first.time) / ns;
  /* No clock is that wrong: then the comparison was disturbed. */
  if (*rate < 0.999 || *rate > 1.001)
    *rate = 1;
  return TRUE;
}

gboolean
_gantry_cuda_read_clock (GantryBatch *batch, GError **error)
{
  CudaDevice *cuda = batch->cuda;
  gint64 latest[GANTRY_N_QUEUES], end = gantry_time_ns ();
  double rate;

  if (!_gantry_cuda_meet (cuda, &batch->last, error) || !find_rate (batch, &rate, error))
    return FALSE;
  for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
    latest[queue] = batch->begin;
  for (guint i = 0; i < batch->timings->len; i++)
    {
      const CudaTiming *timing = &g_array_index (batch->timings, CudaTiming, i);
      GantryStamp *stamp = &batch->stamps[timing->stamp];
      double begin_ns, end_ns;

      if (!elapsed (cuda, batch->first.event, timing->begin, &begin_ns, error) || !elapsed (cuda, batch->first.event, timing->end, &end_ns, error))
        return FALSE;
      /* Within the batch, and in the order of the queue, also where the clocks are not told that exactly. */
      stamp->begin = CLAMP (batch->first.time + (gint64) (begin_ns * rate), latest[timing->queue], end);
      stamp->end = CLAMP (batch->first.time + (gint64) (end_ns * rate), stamp->begin, end);
      latest[timing->queue] = stamp->end;
    }
  g_mutex_lock (&cuda->parent.lock);
  cuda->clock_error = batch->first.error + RESOLUTION_NS;
  g_mutex_unlock (&cuda->parent.lock);
  return TRUE;
}

gint64
gantry_cuda_device_clock_error (const GantryDevice *device)
{
  CudaDevice *cuda = (CudaDevice *) device;
  gint64 clock_error;

  g_return_val_if_fail (gantry_device_is_cuda (device), 0);
  g_mutex_lock (&cuda->parent.lock);
  clock_error = cuda->clock_error;
  g_mutex_unlock (&cuda->parent.lock);
  return clock_error;
}
