/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA graphs: a batch that comes again is captured from the three streams once and then launched as one, which saves
 * the driver's work for each command. */
#include "core/runtime/cuda/cuda-private.h"
#include "core/base/error.h"
#include <string.h>

struct _CudaGraphEntry
{
  guint64 hash;
  GantryCommand *commands[GANTRY_N_QUEUES];
  guint32 n[GANTRY_N_QUEUES];
  CudaGraphExec exec;
  guint8 *pinned; /* (nullable): that its copies read */
};

static void
entry_free (CudaDevice *cuda, CudaGraphEntry *entry)
{
  if (entry == NULL)
    return;
  if (entry->exec != NULL)
    cuda->driver->graph_exec_free (entry->exec);
  for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
    g_free (entry->commands[queue]);
  if (entry->pinned != NULL)
    cuda->driver->host_free (entry->pinned);
  g_free (entry);
}

void
_gantry_cuda_drop_graphs (CudaDevice *cuda)
{
  for (guint i = 0; i < CUDA_MOST_GRAPHS; i++)
    {
      entry_free (cuda, cuda->graphs[i]);
      cuda->graphs[i] = NULL;
    }
  memset (cuda->seen, 0, sizeof cuda->seen);
}

/* Equality of commands by what they do; padding is not looked at. */

static guint64
mix (guint64 h, guint64 value)
{
  h = (h ^ value) * G_GUINT64_CONSTANT (0x100000001b3);
  return h ^ h >> 29;
}

static guint64
hash_command (guint64 h, const GantryCommand *command)
{
  h = mix (h, command->kind);
  switch ((GantryCommandKind) command->kind)
    {
    case GANTRY_COMMAND_LAUNCH: return mix (h, GPOINTER_TO_SIZE (command->launch.prepared));
    case GANTRY_COMMAND_COPY: return mix (mix (mix (h, GPOINTER_TO_SIZE (command->copy.to)), GPOINTER_TO_SIZE (command->copy.from)), command->copy.bytes);
    case GANTRY_COMMAND_FILL: return mix (mix (h, GPOINTER_TO_SIZE (command->fill.to)), GPOINTER_TO_SIZE (command->fill.literal));
    default: return mix (h, command->event);
    }
}

static gboolean
same_command (const GantryCommand *a, const GantryCommand *b)
{
  if (a->kind != b->kind)
    return FALSE;
  switch ((GantryCommandKind) a->kind)
    {
    case GANTRY_COMMAND_LAUNCH: return a->launch.prepared == b->launch.prepared;
    case GANTRY_COMMAND_COPY: return a->copy.to == b->copy.to && a->copy.from == b->copy.from && a->copy.bytes == b->copy.bytes;
    case GANTRY_COMMAND_FILL: return a->fill.to == b->fill.to && a->fill.literal == b->fill.literal;
    default: return a->event == b->event;
    }
}

static guint64
hash_batch (const GantryBatch *batch)
{
  guint64 h = G_GUINT64_CONSTANT (0xcbf29ce484222325);

  for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
    {
      h = mix (h, batch->lists[queue].n);
      for (guint32 i = 0; i < batch->lists[queue].n; i++)
        h = hash_command (h, &batch->lists[queue].commands[i]);
    }
  return h | 1; /* never that of nothing */
}

static gboolean
same_batch (const CudaGraphEntry *entry, const GantryBatch *batch)
{
  for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
    {
      if (entry->n[queue] != batch->lists[queue].n)
        return FALSE;
      for (guint32 i = 0; i < entry->n[queue]; i++)
        if (!same_command (&entry->commands[queue][i], &batch->lists[queue].commands[i]))
          return FALSE;
    }
  return TRUE;
}

static CudaGraphEntry *
find (CudaDevice *cuda, const GantryBatch *batch, guint64 hash)
{
  for (guint i = 0; i < CUDA_MOST_GRAPHS; i++)
    if (cuda->graphs[i] != NULL && cuda->graphs[i]->hash == hash && same_batch (cuda->graphs[i], batch))
      return cuda->graphs[i];
  return NULL;
}

/* What comes for the first time may never come again, as the batches that fill the constants. */
static gboolean
came_by (CudaDevice *cuda, guint64 hash)
{
  for (guint i = 0; i < CUDA_MOST_SEEN; i++)
    if (cuda->seen[i] == hash)
      return TRUE;
  cuda->seen[cuda->next_seen++ % CUDA_MOST_SEEN] = hash;
  return FALSE;
}

/* One copy or fill by itself gains nothing: so are constants written. One kernel is timed without the host. */
static gboolean
is_worth_it (const GantryBatch *batch)
{
  gsize n = 0, n_launches = 0;

  for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
    for (guint32 i = 0; i < batch->lists[queue].n; i++, n++)
      n_launches += batch->lists[queue].commands[i].kind == GANTRY_COMMAND_LAUNCH;
  return n > 1 || n_launches > 0;
}

/* Capturing. */

/* Beforehand: while a graph is made the driver gives no memory. */
static gboolean
pin (GantryBatch *batch, GError **error)
{
  CudaDevice *cuda = batch->cuda;
  gsize bytes = 0;

  for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
    for (guint32 i = 0; i < batch->lists[queue].n; i++)
      if (batch->lists[queue].commands[i].kind == GANTRY_COMMAND_FILL)
        bytes += _gantry_cuda_staged_bytes (batch->lists[queue].commands[i].fill.literal);
  return bytes == 0
         || _gantry_cuda_check (cuda, cuda->driver->host_alloc ((void **) &batch->pinned, bytes, CUDA_HOST_PORTABLE | CUDA_HOST_DEVICE_MAP), error,
                                "pinning %" G_GSIZE_FORMAT " bytes of host memory for a graph", bytes);
}

static gboolean
join (GantryBatch *batch, CudaStream from, CudaStream to, GPtrArray *used, GError **error)
{
  CudaDevice *cuda = batch->cuda;
  CudaEvent event = _gantry_cuda_take_event (cuda, FALSE, error);

  if (event == NULL)
    return FALSE;
  g_ptr_array_add (used, event);
  return _gantry_cuda_check (cuda, cuda->driver->event_record (event, from), error, "recording into a graph")
         && _gantry_cuda_check (cuda, cuda->driver->stream_wait (to, event, 0), error, "waiting in a graph");
}

/* The other streams begin after the first and end before it, or they would not be part of its graph. */
static gboolean
capture (GantryBatch *batch, GPtrArray *used, GError **error)
{
  CudaDevice *cuda = batch->cuda;
  CudaStream first = cuda->streams[GANTRY_QUEUE_COMPUTE];

  for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
    if (batch->lists[queue].n > 0 && cuda->streams[queue] != first && !join (batch, first, cuda->streams[queue], used, error))
      return FALSE;
  if (!_gantry_cuda_enqueue_all (batch, error))
    return FALSE;
  for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
    if (batch->lists[queue].n > 0 && cuda->streams[queue] != first && !join (batch, cuda->streams[queue], first, used, error))
      return FALSE;
  return TRUE;
}

static gboolean
make_graph (GantryBatch *batch, CudaGraphExec *exec, GError **error)
{
  CudaDevice *cuda = batch->cuda;
  CudaStream first = cuda->streams[GANTRY_QUEUE_COMPUTE];
  g_autoptr (GPtrArray) used = g_ptr_array_new ();
  CudaGraph graph = NULL;
  gboolean done;

  if (!pin (batch, error) || !_gantry_cuda_check (cuda, cuda->driver->capture_begin (first, CUDA_CAPTURE_THREAD_LOCAL), error, "beginning a graph"))
    return FALSE;
  batch->capturing = TRUE;
  done = capture (batch, used, error);
  batch->capturing = FALSE;
  /* Ended in any case, or the stream would stay in it. */
  done = _gantry_cuda_check (cuda, cuda->driver->capture_end (first, &graph), done ? error : NULL, "ending a graph") && done;
  done = done && _gantry_cuda_check (cuda, cuda->driver->graph_instantiate (exec, graph, 0), error, "making a graph");
  if (graph != NULL)
    cuda->driver->graph_free (graph);
  for (guint i = 0; i < used->len; i++)
    _gantry_cuda_give_event (cuda, FALSE, g_ptr_array_index (used, i));
  return done;
}

static CudaGraphEntry *
remember (GantryBatch *batch, guint64 hash, GError **error)
{
  CudaDevice *cuda = batch->cuda;
  CudaGraphEntry *entry = g_new0 (CudaGraphEntry, 1);
  CudaGraphEntry **slot;
  gboolean made = make_graph (batch, &entry->exec, error);

  entry->pinned = g_steal_pointer (&batch->pinned);
  batch->n_pinned = 0;
  if (!made)
    {
      entry_free (cuda, entry);
      return NULL;
    }
  entry->hash = hash;
  for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
    {
      entry->n[queue] = batch->lists[queue].n;
      entry->commands[queue] = g_memdup2 (batch->lists[queue].commands, entry->n[queue] * sizeof (GantryCommand));
    }
  slot = &cuda->graphs[cuda->next_graph++ % CUDA_MOST_GRAPHS];
  entry_free (cuda, *slot);
  *slot = entry;
  cuda->n_made++;
  return entry;
}

/* A driver that cannot capture it still runs it, command by command. @why: (transfer full) */
static gboolean
go_without (GantryBatch *batch, GError *why, GError **error)
{
  CudaDevice *cuda = batch->cuda;

  if (_gantry_cuda_is_lost (cuda, NULL))
    {
      g_propagate_error (error, why);
      return FALSE;
    }
  _gantry_cuda_note (cuda, "Runs are handed to the GPU command by command, not as a CUDA graph: %s.", why->message);
  g_error_free (why);
  cuda->use_graphs = FALSE;
  for (guint32 i = 0; i < batch->n_events; i++)
    {
      _gantry_cuda_give_event (cuda, FALSE, batch->events[i]);
      batch->events[i] = NULL;
    }
  for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
    batch->lists[queue].next = 0;
  return TRUE;
}

void
_gantry_cuda_add_replay (CudaDevice *cuda, gint64 ns)
{
  g_mutex_lock (&cuda->parent.lock);
  cuda->replay_ns = ns < 0 || cuda->replay_ns < 0 ? -1 : cuda->replay_ns + ns;
  g_mutex_unlock (&cuda->parent.lock);
}

/* Between two events on its stream: what the driver takes to hand it over, and the host to wait for it, is no part of the time. */
static gboolean
replay (CudaDevice *cuda, CudaGraphExec exec, GError **error)
{
  CudaStream first = cuda->streams[GANTRY_QUEUE_COMPUTE];
  const GantryDeviceMarks *marks = &cuda->parent.marks;
  CudaEvent begin = _gantry_cuda_take_event (cuda, TRUE, error);
  CudaEvent end = begin != NULL ? _gantry_cuda_take_event (cuda, TRUE, error) : NULL;
  float milliseconds = 0;
  gboolean done = end != NULL;

  if (marks->push != NULL)
    marks->push (marks->self, G_MAXUINT32);
  done = done && _gantry_cuda_check (cuda, cuda->driver->event_record (begin, first), error, "recording a time")
         && _gantry_cuda_check (cuda, cuda->driver->graph_launch (exec, first), error, "launching a graph")
         && _gantry_cuda_check (cuda, cuda->driver->event_record (end, first), error, "recording a time");
  if (marks->pop != NULL)
    marks->pop (marks->self);
  /* In any case: nothing may still read what is freed next. */
  done = _gantry_cuda_check (cuda, _gantry_cuda_wait_for_stream (cuda, first), done ? error : NULL, "running a graph") && done
         && _gantry_cuda_check (cuda, cuda->driver->event_elapsed (&milliseconds, begin, end), error, "reading a time");
  _gantry_cuda_give_event (cuda, TRUE, begin);
  _gantry_cuda_give_event (cuda, TRUE, end);
  _gantry_cuda_add_replay (cuda, done ? MAX ((gint64) ((double) milliseconds * 1e6), 1) : -1);
  return done;
}

gboolean
_gantry_cuda_run_graph (GantryBatch *batch, gboolean *ran, GError **error)
{
  CudaDevice *cuda = batch->cuda;
  guint64 hash = hash_batch (batch);
  CudaGraphEntry *entry = find (cuda, batch, hash);
  GError *why = NULL;

  *ran = FALSE;
  if (!is_worth_it (batch) || (entry == NULL && !came_by (cuda, hash)))
    return TRUE;
  cuda->n_replayed += entry != NULL;
  if (entry == NULL)
    entry = remember (batch, hash, &why);
  if (entry == NULL)
    return go_without (batch, why, error);
  *ran = TRUE;
  return replay (cuda, entry->exec, error);
}
