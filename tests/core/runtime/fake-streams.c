/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-in's streams (a thread each), events and graphs. Once it is lost, work that is left is dropped, and events happen all
 * the same: as with the driver nothing waits for ever. */
#include "tests/core/runtime/fake-state.h"
#include <string.h>

typedef struct _Op Op;
typedef struct _Event Event;
typedef struct _Stream Stream;
typedef struct _Graph Graph;

struct _Op
{
  void (*run) (Op *op); /* NULL: the thread ends */
  Event *event;
  guint64 number; /* of the recording */
  guint8 *to;
  const guint8 *from;
  CudaAddress device_to, device_from;
  gsize bytes, size;
  guint32 value;
  FakeCudaEntry entry;
  guint64 values[64];
  CudaTensorMap maps[8];
  Graph *graph;
};

struct _Event
{
  gatomicrefcount ref_count; /* work that is left holds it, as with the driver */
  GMutex lock;
  GCond happened;
  gboolean timed;
  guint64 issued, done;
  gint64 time;
  Graph *capture; /* that the last recording belongs to */
  Stream *captured_on;
  guint captured_at;
};

struct _Stream
{
  GThread *thread;
  GAsyncQueue *ops;
  GMutex lock;
  GCond idle;
  guint64 issued, done;
  Graph *capture;
  guint n_captured, n_joined; /* ops in it of this stream; of those the origin waited for */
};

struct _Graph
{
  gatomicrefcount ref_count;
  GPtrArray *ops;
  Stream *origin;
  GPtrArray *streams; /* that joined */
  gboolean spoilt;
};

/* Life of what work that is left still needs. */

static void
event_unref (Event *event)
{
  if (!g_atomic_ref_count_dec (&event->ref_count))
    return;
  g_mutex_clear (&event->lock);
  g_cond_clear (&event->happened);
  g_free (event);
}

static Graph *
graph_new (void)
{
  Graph *graph = g_new0 (Graph, 1);

  g_atomic_ref_count_init (&graph->ref_count);
  graph->ops = g_ptr_array_new_with_free_func (g_free);
  graph->streams = g_ptr_array_new ();
  return graph;
}

static void
graph_unref (Graph *graph)
{
  if (!g_atomic_ref_count_dec (&graph->ref_count))
    return;
  g_ptr_array_unref (graph->ops);
  g_ptr_array_unref (graph->streams);
  g_free (graph);
}

static void
op_free (Op *op)
{
  if (op->event != NULL)
    event_unref (op->event);
  if (op->graph != NULL)
    graph_unref (op->graph);
  g_free (op);
}

/* What ops do. */

static void
nap (void)
{
  if (fake_state.config.jitter != 0)
    g_usleep ((gulong) g_random_int_range (0, 200));
}

static void
run_copy (Op *op)
{
  if (fake_is_valid (op->device_to, op->bytes) && fake_is_valid (op->device_from, op->bytes))
    memmove (op->to, op->from, op->bytes);
  else
    fake_lose (CUDA_ILLEGAL_ADDRESS);
}

static void
run_set (Op *op)
{
  if (!fake_is_valid (op->device_to, op->bytes * op->size))
    {
      fake_lose (CUDA_ILLEGAL_ADDRESS);
      return;
    }
  for (gsize i = 0; i < op->bytes; i++)
    memcpy (op->to + i * op->size, &op->value, op->size);
}

static void
run_kernel (Op *op)
{
  void *buffers[64 + 8];

  for (guint32 i = 0; i < op->entry.n_params; i++)
    {
      if (!fake_is_valid (op->values[i], 0))
        {
          fake_lose (CUDA_ILLEGAL_ADDRESS);
          return;
        }
      buffers[i] = fake_translate (op->values[i]);
    }
  for (guint32 m = 0; m < op->entry.n_maps; m++)
    {
      FakeCudaMap *map = (FakeCudaMap *) (void *) &op->maps[m];

      map->address = GPOINTER_TO_SIZE (fake_translate (map->address));
      buffers[op->entry.n_params + m] = map;
    }
  if (op->entry.n_tasks > 0)
    op->entry.func (op->entry.state, buffers, 0, op->entry.n_tasks);
  for (guint32 m = 0; m < op->entry.n_maps; m++)
    ((FakeCudaMap *) (void *) &op->maps[m])->address += FAKE_TAG;
}

static void
run_record (Op *op)
{
  g_mutex_lock (&op->event->lock);
  op->event->time = g_get_monotonic_time ();
  op->event->done = MAX (op->event->done, op->number);
  g_cond_broadcast (&op->event->happened);
  g_mutex_unlock (&op->event->lock);
}

static void
run_wait (Op *op)
{
  g_mutex_lock (&op->event->lock);
  while (op->event->done < op->number)
    g_cond_wait (&op->event->happened, &op->event->lock);
  g_mutex_unlock (&op->event->lock);
}

static void
run_graph (Op *op)
{
  for (guint i = 0; i < op->graph->ops->len && !fake_is_lost (); i++)
    {
      Op *one = g_ptr_array_index (op->graph->ops, i);

      nap ();
      one->run (one);
    }
}

static gpointer
stream_thread (gpointer data)
{
  Stream *stream = data;

  for (;;)
    {
      Op *op = g_async_queue_pop (stream->ops);
      gboolean end = op->run == NULL;

      if (!end)
        {
          nap ();
          if (op->run == run_record || op->run == run_wait || !fake_is_lost ())
            op->run (op);
        }
      op_free (op);
      if (end)
        return NULL;
      g_mutex_lock (&stream->lock);
      stream->done++;
      g_cond_broadcast (&stream->idle);
      g_mutex_unlock (&stream->lock);
    }
}

/* Events and waits order a captured list, which is kept in the order of its making. */
static CudaResult
put (CudaStream to, const Op *op)
{
  Stream *stream = (Stream *) (void *) to;

  if (stream->capture != NULL)
    {
      stream->n_captured++;
      if (op->run != run_record && op->run != run_wait)
        g_ptr_array_add (stream->capture->ops, g_memdup2 (op, sizeof *op));
      return 0;
    }
  if (op->event != NULL)
    g_atomic_ref_count_inc (&op->event->ref_count);
  if (op->graph != NULL)
    g_atomic_ref_count_inc (&op->graph->ref_count);
  g_mutex_lock (&stream->lock);
  stream->issued++;
  g_mutex_unlock (&stream->lock);
  g_async_queue_push (stream->ops, g_memdup2 (op, sizeof *op));
  return 0;
}

/* Streams. */

static void
wait_until_idle (Stream *stream)
{
  g_mutex_lock (&stream->lock);
  while (stream->done < stream->issued)
    g_cond_wait (&stream->idle, &stream->lock);
  g_mutex_unlock (&stream->lock);
}

/* As the driver does before it frees memory. */
void
fake_wait_for_streams (void)
{
  for (guint i = 0; fake_state.streams != NULL && i < fake_state.streams->len; i++)
    wait_until_idle (g_ptr_array_index (fake_state.streams, i));
}

FAKE_API (cuStreamCreate, (CudaStream * out, unsigned flags))
{
  Stream *stream;

  ENTER (TRUE);
  /* One that waits for the null stream would hide what is missing. */
  if (flags != CUDA_STREAM_NON_BLOCKING)
    return CUDA_INVALID_VALUE;
  stream = g_new0 (Stream, 1);
  stream->ops = g_async_queue_new ();
  g_mutex_init (&stream->lock);
  g_cond_init (&stream->idle);
  stream->thread = g_thread_new ("stand-in", stream_thread, stream);
  if (fake_state.streams == NULL)
    fake_state.streams = g_ptr_array_new ();
  g_ptr_array_add (fake_state.streams, stream);
  fake_count (1);
  *out = (CudaStream) (void *) stream;
  return 0;
}

FAKE_API (cuStreamDestroy_v2, (CudaStream from))
{
  CudaResult result = fake_enter (__func__, TRUE);
  Stream *stream = (Stream *) (void *) from;

  g_ptr_array_remove_fast (fake_state.streams, stream);
  if (fake_state.streams->len == 0)
    g_clear_pointer (&fake_state.streams, g_ptr_array_unref);
  g_async_queue_push (stream->ops, g_new0 (Op, 1));
  g_thread_join (stream->thread);
  g_async_queue_unref (stream->ops);
  g_mutex_clear (&stream->lock);
  g_cond_clear (&stream->idle);
  g_free (stream);
  fake_count (-1);
  return result;
}

FAKE_API (cuStreamSynchronize, (CudaStream of))
{
  Stream *stream = (Stream *) (void *) of;

  ENTER (TRUE);
  if (stream->capture != NULL)
    return CUDA_CAPTURE_UNSUPPORTED;
  wait_until_idle (stream);
  return fake_state.lost;
}

/* Copies and fills. */

FAKE_API (cuMemcpyAsync, (CudaAddress to, CudaAddress from, gsize bytes, CudaStream stream))
{
  Op op = { run_copy, .to = fake_translate (to), .from = fake_translate (from), .device_to = to, .device_from = from, .bytes = bytes };
  Graph *capture = ((Stream *) (void *) stream)->capture;

  ENTER (TRUE);
  /* What is pageable may have moved or gone when a graph is replayed: the driver takes none, and the graph is spoilt. */
  if (capture != NULL && (fake_is_pageable (to, bytes) || fake_is_pageable (from, bytes)))
    {
      capture->spoilt = TRUE;
      return CUDA_CAPTURE_UNSUPPORTED;
    }
  return put (stream, &op);
}

static CudaResult
set (CudaAddress to, guint32 value, gsize size, gsize n, CudaStream stream)
{
  Op op = { run_set, .to = fake_translate (to), .device_to = to, .bytes = n, .size = size, .value = value };

  return fake_is_device (to) && to % size == 0 ? put (stream, &op) : CUDA_INVALID_VALUE;
}

FAKE_API (cuMemsetD8Async, (CudaAddress to, unsigned char value, gsize n, CudaStream stream))
{
  ENTER (TRUE);
  return set (to, value, 1, n, stream);
}

FAKE_API (cuMemsetD16Async, (CudaAddress to, unsigned short value, gsize n, CudaStream stream))
{
  ENTER (TRUE);
  return set (to, value, 2, n, stream);
}

FAKE_API (cuMemsetD32Async, (CudaAddress to, unsigned value, gsize n, CudaStream stream))
{
  ENTER (TRUE);
  return set (to, value, 4, n, stream);
}

/* Kernels. */

FAKE_API (cuLaunchKernelEx, (const CudaLaunchConfig *config, CudaFunction function, void **parameters, void **extra))
{
  ENTER (TRUE);
  return fake_launch_entry (config, (const FakeCudaEntry *) (const void *) function, parameters);
}

CudaResult
fake_launch_entry (const CudaLaunchConfig *config, const FakeCudaEntry *entry, void **parameters)
{
  Op op = { run_kernel, .entry = *entry };
  guint64 threads = (guint64) config->block[0] * config->block[1] * config->block[2];

  if (threads == 0 || threads > 1024 || config->grid[0] == 0 || op.entry.n_params > G_N_ELEMENTS (op.values) || op.entry.n_maps > G_N_ELEMENTS (op.maps))
    return CUDA_INVALID_VALUE;
  for (guint32 i = 0; i < config->n_attributes; i++)
    if (config->attributes[i].id != CUDA_LAUNCH_CLUSTER || config->grid[0] % config->attributes[i].value.cluster[0] != 0)
      return CUDA_INVALID_VALUE;
  for (guint32 i = 0; i < op.entry.n_params; i++)
    memcpy (&op.values[i], parameters[i], 8);
  for (guint32 m = 0; m < op.entry.n_maps; m++)
    memcpy (&op.maps[m], parameters[op.entry.n_params + m], sizeof op.maps[m]);
  return put (config->stream, &op);
}

/* Events. */

FAKE_API (cuEventCreate, (CudaEvent * out, unsigned flags))
{
  Event *event;

  ENTER (TRUE);
  event = g_new0 (Event, 1);
  g_atomic_ref_count_init (&event->ref_count);
  event->timed = (flags & CUDA_EVENT_DISABLE_TIMING) == 0;
  g_mutex_init (&event->lock);
  g_cond_init (&event->happened);
  fake_count (1);
  *out = (CudaEvent) (void *) event;
  return 0;
}

FAKE_API (cuEventDestroy_v2, (CudaEvent of))
{
  CudaResult result = fake_enter (__func__, TRUE);

  event_unref ((Event *) (void *) of);
  fake_count (-1);
  return result;
}

FAKE_API (cuEventRecord, (CudaEvent of, CudaStream on))
{
  Event *event = (Event *) (void *) of;
  Stream *stream = (Stream *) (void *) on;
  Op op = { run_record, event };

  ENTER (TRUE);
  event->capture = stream->capture;
  event->captured_on = stream;
  if (stream->capture != NULL)
    {
      event->captured_at = stream->n_captured + 1;
      return put (on, &op);
    }
  g_mutex_lock (&event->lock);
  op.number = ++event->issued;
  g_mutex_unlock (&event->lock);
  return put (on, &op);
}

FAKE_API (cuStreamWaitEvent, (CudaStream waits, CudaEvent for_it, unsigned flags))
{
  Event *event = (Event *) (void *) for_it;
  Stream *stream = (Stream *) (void *) waits;
  Op op = { run_wait, event };

  ENTER (TRUE);
  if (event->capture != NULL)
    {
      if (stream->capture == NULL)
        {
          stream->capture = event->capture;
          stream->n_captured = stream->n_joined = 0;
          g_ptr_array_add (event->capture->streams, stream);
        }
      if (stream == event->capture->origin)
        event->captured_on->n_joined = MAX (event->captured_on->n_joined, event->captured_at);
      return put (waits, &op);
    }
  if (stream->capture != NULL)
    return 905; /* isolation: the event is not of the capture */
  /* Of an event that was never recorded nothing is to be waited for. */
  op.number = event->issued;
  return put (waits, &op);
}

FAKE_API (cuEventSynchronize, (CudaEvent of))
{
  Event *event = (Event *) (void *) of;

  ENTER (TRUE);
  if (event->capture != NULL)
    return 907;
  g_mutex_lock (&event->lock);
  while (event->done < event->issued)
    g_cond_wait (&event->happened, &event->lock);
  g_mutex_unlock (&event->lock);
  return fake_state.lost;
}

FAKE_API (cuEventElapsedTime, (float *milliseconds, CudaEvent from, CudaEvent to))
{
  Event *a = (Event *) (void *) from, *b = (Event *) (void *) to;

  ENTER (TRUE);
  if (!a->timed || !b->timed || a->issued == 0 || b->issued == 0)
    return CUDA_INVALID_HANDLE;
  if (a->done < a->issued || b->done < b->issued)
    return CUDA_NOT_READY;
  *milliseconds = (float) ((double) (b->time - a->time) / 1e3);
  return 0;
}

/* Graphs. */

FAKE_API (cuStreamBeginCapture_v2, (CudaStream on, int mode))
{
  Stream *stream = (Stream *) (void *) on;

  ENTER (TRUE);
  if (stream->capture != NULL)
    return CUDA_CAPTURE_UNSUPPORTED;
  stream->capture = graph_new ();
  stream->capture->origin = stream;
  stream->n_captured = stream->n_joined = 0;
  g_atomic_int_inc (&fake_state.capturing);
  fake_count (1);
  return 0;
}

static void
graph_free (Graph *graph)
{
  graph_unref (graph);
  fake_count (-1);
}

FAKE_API (cuStreamEndCapture, (CudaStream on, CudaGraph *out))
{
  CudaResult result = fake_enter (__func__, TRUE);
  Stream *stream = (Stream *) (void *) on;
  Graph *graph = stream->capture;

  *out = NULL;
  if (graph == NULL)
    return CUDA_INVALID_VALUE;
  stream->capture = NULL;
  g_atomic_int_add (&fake_state.capturing, -1);
  if (result == 0 && graph->spoilt)
    result = 901; /* invalidated */
  for (guint i = 0; i < graph->streams->len; i++)
    {
      Stream *other = g_ptr_array_index (graph->streams, i);

      other->capture = NULL;
      if (result == 0 && other->n_joined < other->n_captured)
        result = 904; /* unjoined */
    }
  if (result != 0)
    {
      graph_free (graph);
      return result;
    }
  *out = (CudaGraph) (void *) graph;
  return 0;
}

FAKE_API (cuGraphDestroy, (CudaGraph graph))
{
  CudaResult result = fake_enter (__func__, TRUE);

  graph_free ((Graph *) (void *) graph);
  return result;
}

FAKE_API (cuGraphInstantiateWithFlags, (CudaGraphExec * exec, CudaGraph from, guint64 flags))
{
  Graph *graph, *source = (Graph *) (void *) from;

  ENTER (TRUE);
  graph = graph_new ();
  for (guint i = 0; i < source->ops->len; i++)
    g_ptr_array_add (graph->ops, g_memdup2 (g_ptr_array_index (source->ops, i), sizeof (Op)));
  fake_count (1);
  *exec = (CudaGraphExec) (void *) graph;
  return 0;
}

FAKE_API (cuGraphLaunch, (CudaGraphExec exec, CudaStream stream))
{
  Op op = { run_graph, .graph = (Graph *) (void *) exec };

  ENTER (TRUE);
  return put (stream, &op);
}

FAKE_API (cuGraphExecDestroy, (CudaGraphExec exec))
{
  CudaResult result = fake_enter (__func__, TRUE);

  graph_free ((Graph *) (void *) exec);
  return result;
}
