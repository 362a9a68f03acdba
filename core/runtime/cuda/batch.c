/* SPDX-License-Identifier: Apache-2.0 */
/* A batch on the GPU. The lists are handed over when the batch is finished, all three at once in the order of the
 * program: a stream that waits for an event which nobody has recorded yet would not wait at all, so every record is
 * handed over before the waits for it. */
#include "core/runtime/cuda/cuda-private.h"
#include "core/base/error.h"
#include <string.h>

/* Events. */

CudaEvent
_gantry_cuda_take_event (CudaDevice *cuda, gboolean timed, GError **error)
{
  GPtrArray *pool = timed ? cuda->timed_events : cuda->events;
  CudaEvent event = NULL;

  if (pool->len > 0)
    return g_ptr_array_steal_index_fast (pool, pool->len - 1);
  return _gantry_cuda_check (cuda, cuda->driver->event_new (&event, timed ? CUDA_EVENT_DEFAULT : CUDA_EVENT_DISABLE_TIMING), error, "making an event") ? event
                                                                                                                                                       : NULL;
}

void
_gantry_cuda_give_event (CudaDevice *cuda, gboolean timed, CudaEvent event)
{
  if (event != NULL)
    g_ptr_array_add (timed ? cuda->timed_events : cuda->events, event);
}

/* Commands. */

static const char *
queue_name (GantryQueue queue)
{
  static const char *const names[] = { "compute", "to-host", "to-device" };

  return names[queue];
}

static gboolean
launch (GantryBatch *batch, GantryQueue queue, const GantryCommand *command, GError **error)
{
  CudaDevice *cuda = batch->cuda;
  CudaPrepared *prepared = command->launch.prepared;

  if (prepared->product != NULL && !prepared->product_failed)
    {
      int status = _gantry_cuda_product_run (prepared->product, cuda->streams[queue]);

      if (status == 0)
        return TRUE;
      if (_gantry_cuda_is_lost (cuda, error))
        return FALSE;
      prepared->product_failed = TRUE;
      _gantry_cuda_note (cuda, "cuBLASLt does not run kernel '%s' (status %d): the program's own does.", prepared->kernel->name, status);
    }
  for (guint32 i = 0; i < prepared->n_launches; i++)
    {
      CudaLaunchConfig config = prepared->launches[i].config;

      config.stream = cuda->streams[queue];
      if (!_gantry_cuda_check (cuda, cuda->driver->launch (&config, prepared->launches[i].function, prepared->launches[i].parameters, NULL), error,
                               "launching kernel '%s'", prepared->kernel->name))
        return FALSE;
    }
  return TRUE;
}

static gboolean
copy (GantryBatch *batch, GantryQueue queue, void *to, const void *from, gsize bytes, GError **error)
{
  CudaDevice *cuda = batch->cuda;

  /* With unified addressing the driver sees from the addresses which way it goes. */
  return bytes == 0
         || _gantry_cuda_check (cuda, cuda->driver->copy (GPOINTER_TO_SIZE (to), GPOINTER_TO_SIZE (from), bytes, cuda->streams[queue]), error,
                                "copying %" G_GSIZE_FORMAT " bytes on the %s queue", bytes, queue_name (queue));
}

/* Of a literal that the GPU cannot write by itself. While a graph is made nothing is copied yet: the graph reads memory of
 * its own, which is pinned, for what is pageable cannot be part of one. */
static gboolean
fill_by_copy (GantryBatch *batch, GantryQueue queue, const GantryCommand *command, gsize bytes, GError **error)
{
  const GantryLiteral *literal = command->fill.literal;
  guint8 *dense;

  if (batch->capturing)
    {
      dense = batch->pinned + batch->n_pinned;
      batch->n_pinned += _gantry_cuda_staged_bytes (literal);
    }
  else if (!literal->splat)
    return copy (batch, queue, command->fill.to, literal->data, bytes, error);
  else
    {
      dense = g_malloc (bytes);
      g_ptr_array_add (batch->staging, dense);
    }
  gantry_literal_copy_to (literal, dense);
  return copy (batch, queue, command->fill.to, dense, bytes, error);
}

/* A repeated element of one, two or four bytes is written by the GPU alone, and one of eight whose halves are alike. */
gsize
_gantry_cuda_staged_bytes (const GantryLiteral *literal)
{
  gsize bytes = (gsize) gantry_type_bytes (literal->type);

  if (literal->splat
      && (literal->size == 1 || literal->size == 2 || literal->size == 4 || (literal->size == 8 && memcmp (literal->data, literal->data + 4, 4) == 0)))
    return 0;
  return (bytes + 63) / 64 * 64;
}

static gboolean
fill (GantryBatch *batch, GantryQueue queue, const GantryCommand *command, GError **error)
{
  CudaDevice *cuda = batch->cuda;
  const GantryLiteral *literal = command->fill.literal;
  CudaAddress to = GPOINTER_TO_SIZE (command->fill.to);
  CudaStream stream = cuda->streams[queue];
  gsize bytes = (gsize) gantry_type_bytes (literal->type);
  CudaResult result;
  guint32 value = 0;

  if (bytes == 0)
    return TRUE;
  if (_gantry_cuda_staged_bytes (literal) > 0)
    return fill_by_copy (batch, queue, command, bytes, error);
  memcpy (&value, literal->data, MIN (literal->size, sizeof value));
  if (literal->size == 1)
    result = cuda->driver->set8 (to, (guint8) value, bytes, stream);
  else if (literal->size == 2)
    result = cuda->driver->set16 (to, (guint16) value, bytes / 2, stream);
  else
    result = cuda->driver->set32 (to, value, bytes / 4, stream);
  return _gantry_cuda_check (cuda, result, error, "filling %" G_GSIZE_FORMAT " bytes", bytes);
}

static gboolean
record (GantryBatch *batch, GantryQueue queue, guint32 event, GError **error)
{
  CudaEvent on = _gantry_cuda_take_event (batch->cuda, FALSE, error);

  if (on == NULL)
    return FALSE;
  batch->events[event] = on;
  return _gantry_cuda_check (batch->cuda, batch->cuda->driver->event_record (on, batch->cuda->streams[queue]), error, "recording an event on the %s queue",
                             queue_name (queue));
}

static gboolean
execute (GantryBatch *batch, GantryQueue queue, const GantryCommand *command, GError **error)
{
  CudaDevice *cuda = batch->cuda;

  switch ((GantryCommandKind) command->kind)
    {
    case GANTRY_COMMAND_LAUNCH: return launch (batch, queue, command, error);
    case GANTRY_COMMAND_COPY: return copy (batch, queue, command->copy.to, command->copy.from, command->copy.bytes, error);
    case GANTRY_COMMAND_FILL: return fill (batch, queue, command, error);
    case GANTRY_COMMAND_RECORD: return record (batch, queue, command->event, error);
    case GANTRY_COMMAND_WAIT:
      return _gantry_cuda_check (cuda, cuda->driver->stream_wait (cuda->streams[queue], batch->events[command->event], 0), error, "letting the %s queue wait",
                                 queue_name (queue));
    default: g_assert_not_reached ();
    }
}

/* With the recorder's marks around what the driver will tell it of. */
static gboolean
execute_marked (GantryBatch *batch, GantryQueue queue, const GantryCommand *command, GError **error)
{
  const GantryDeviceMarks *marks = &batch->cuda->parent.marks;
  gboolean mark = marks->push != NULL && command->kind != GANTRY_COMMAND_RECORD && command->kind != GANTRY_COMMAND_WAIT;
  gboolean done;

  if (mark)
    marks->push (marks->self, command->instruction);
  done = execute (batch, queue, command, error);
  if (mark)
    marks->pop (marks->self);
  return done;
}

static gboolean
record_timed (GantryBatch *batch, GantryQueue queue, CudaEvent *event, GError **error)
{
  *event = _gantry_cuda_take_event (batch->cuda, TRUE, error);
  return *event != NULL
         && _gantry_cuda_check (batch->cuda, batch->cuda->driver->event_record (*event, batch->cuda->streams[queue]), error, "recording a time on the %s queue",
                                queue_name (queue));
}

static gboolean
is_stamped (const GantryBatch *batch, const GantryCommand *command)
{
  return batch->stamps != NULL && command->stamp != GANTRY_NO_STAMP && !batch->capturing && (batch->stamps_all || command->kind == GANTRY_COMMAND_WAIT);
}

/* Two events around each command cost a good part of a short one. Where a recorder has marks on them it is told of each by the driver,
 * but for waits, which a graph does not time; only its first batch is stamped whole, for what it is told to be of use where that turns
 * out to be nothing.
 * Returns: whether anything is stamped */
static gboolean
choose_stamps (GantryBatch *batch)
{
  CudaDevice *cuda = batch->cuda;
  gpointer recorder = cuda->parent.marks.push != NULL ? cuda->parent.marks.self : NULL;

  batch->stamps_all = recorder == NULL || recorder != cuda->stamped_for;
  if (batch->stamps != NULL)
    cuda->stamped_for = recorder;
  for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
    for (guint32 i = 0; i < batch->lists[queue].n; i++)
      if (is_stamped (batch, &batch->lists[queue].commands[i]))
        return TRUE;
  return FALSE;
}

static gboolean
execute_timed (GantryBatch *batch, GantryQueue queue, const GantryCommand *command, GError **error)
{
  CudaTiming timing = { command->stamp, queue };
  gboolean done;

  if (!is_stamped (batch, command))
    return execute_marked (batch, queue, command, error);
  done = record_timed (batch, queue, &timing.begin, error) && execute_marked (batch, queue, command, error) && record_timed (batch, queue, &timing.end, error);
  if (done)
    {
      g_array_append_val (batch->timings, timing);
      return TRUE;
    }
  _gantry_cuda_give_event (batch->cuda, TRUE, timing.begin);
  _gantry_cuda_give_event (batch->cuda, TRUE, timing.end);
  return FALSE;
}

/* Where every command is waited for, an error is that of the last one. */
static gboolean
wait_for (GantryBatch *batch, GantryQueue queue, const GantryCommand *command, GError **error)
{
  CudaDevice *cuda = batch->cuda;
  CudaResult result = _gantry_cuda_wait_for_stream (cuda, cuda->streams[queue]);

  if (command->kind == GANTRY_COMMAND_LAUNCH)
    return _gantry_cuda_check (cuda, result, error, "running kernel '%s'", ((const CudaPrepared *) command->launch.prepared)->kernel->name);
  if (command->kind == GANTRY_COMMAND_COPY)
    return _gantry_cuda_check (cuda, result, error, "copying %" G_GSIZE_FORMAT " bytes on the %s queue", command->copy.bytes, queue_name (queue));
  return _gantry_cuda_check (cuda, result, error, "running the %s queue", queue_name (queue));
}

/* Not too far ahead of the GPU: what it was handed cannot be taken back when the run is cancelled. */
static gboolean
keep_pace (GantryBatch *batch, GantryQueue queue, GError **error)
{
  CudaDevice *cuda = batch->cuda;
  CudaList *list = &batch->lists[queue];
  guint half = MAX (cuda->run_ahead / 2, 1);
  CudaEvent *pace;

  if (batch->cancellable == NULL || ++list->n_handed % half != 0)
    return TRUE;
  pace = &list->paces[list->n_handed / half % 2];
  if (*pace == NULL)
    *pace = _gantry_cuda_take_event (cuda, FALSE, error);
  else if (!_gantry_cuda_check (cuda, cuda->driver->event_synchronize (*pace), error, "running the %s queue", queue_name (queue)))
    return FALSE;
  return *pace != NULL
         && _gantry_cuda_check (cuda, cuda->driver->event_record (*pace, cuda->streams[queue]), error, "recording an event on the %s queue",
                                queue_name (queue));
}

static gboolean
enqueue (GantryBatch *batch, GantryQueue queue, const GantryCommand *command, GError **error)
{
  gboolean good;

  if (batch->cuda->checking && command->kind == GANTRY_COMMAND_LAUNCH)
    _gantry_cuda_set_checked (batch->cuda, ((const CudaPrepared *) command->launch.prepared)->kernel->name);
  good = execute_timed (batch, queue, command, error);
  if (good && !batch->capturing)
    good = batch->cuda->checking || (batch->cancellable != NULL && batch->cuda->run_ahead == 0) ? wait_for (batch, queue, command, error)
                                                                                                : keep_pace (batch, queue, error);
  if (batch->cuda->checking)
    _gantry_cuda_set_checked (batch->cuda, NULL);
  return good;
}

/* The queue whose next command comes first in the program and waits for nothing that is still to be recorded; -1: none.
 * A record belongs to the command before it. */
static int
next_queue (const GantryBatch *batch)
{
  int best = -1;
  guint32 first = 0;

  for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
    {
      const CudaList *list = &batch->lists[queue];
      const GantryCommand *command;

      if (list->next >= list->n)
        continue;
      command = &list->commands[list->next];
      if (command->kind == GANTRY_COMMAND_WAIT && batch->events[command->event] == NULL)
        continue;
      if (command->kind == GANTRY_COMMAND_RECORD)
        return (int) queue;
      if (best >= 0 && command->instruction >= first)
        continue;
      best = (int) queue;
      first = command->instruction;
    }
  return best;
}

static gboolean
is_done (const GantryBatch *batch)
{
  for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
    if (batch->lists[queue].next < batch->lists[queue].n)
      return FALSE;
  return TRUE;
}

gboolean
_gantry_cuda_enqueue_all (GantryBatch *batch, GError **error)
{
  while (!is_done (batch))
    {
      int queue = next_queue (batch);
      CudaList *list;

      if (!batch->capturing && g_cancellable_is_cancelled (batch->cancellable))
        {
          batch->stopped = TRUE;
          return TRUE;
        }
      if (queue < 0)
        {
          g_set_error_literal (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "executable: the queues wait for each other in a circle");
          return FALSE;
        }
      list = &batch->lists[queue];
      if (!enqueue (batch, (GantryQueue) queue, &list->commands[list->next], error))
        return FALSE;
      list->next++;
    }
  return TRUE;
}

/* Batches. */

GantryBatch *
_gantry_cuda_begin (GantryDevice *device, guint32 n_events, GantryStamp *stamps, GCancellable *cancellable)
{
  CudaDevice *cuda = (CudaDevice *) device;
  GantryBatch *batch = g_new0 (GantryBatch, 1);

  g_mutex_lock (&cuda->running);
  batch->cuda = cuda;
  batch->stamps = stamps;
  batch->cancellable = cancellable;
  batch->n_events = n_events;
  batch->events = g_new0 (CudaEvent, n_events + (gsize) 1);
  batch->staging = g_ptr_array_new_with_free_func (g_free);
  batch->timings = g_array_new (FALSE, FALSE, sizeof (CudaTiming));
  return batch;
}

void
_gantry_cuda_submit (GantryBatch *batch, GantryQueue queue, const GantryCommand *commands, guint32 n)
{
  g_return_if_fail (batch->lists[queue].commands == NULL);
  batch->lists[queue].commands = commands;
  batch->lists[queue].n = n;
}

/* Also after an error: nothing may still read what is freed next. A command of several launches may have begun where it failed. */
static gboolean
wait_for_all (GantryBatch *batch, GError **error)
{
  CudaDevice *cuda = batch->cuda;
  gboolean done = TRUE;

  for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
    if (batch->lists[queue].n > 0
        && !_gantry_cuda_check (cuda, _gantry_cuda_wait_for_stream (cuda, cuda->streams[queue]), done ? error : NULL, "running the %s queue",
                                queue_name (queue)))
      done = FALSE;
  return done;
}

/* Launches the lists of all queues, as a CUDA graph where that can be, and waits until the streams are idle. Returns: FALSE with @error;
 * TRUE also where it was cancelled: batch->stopped says so */
static gboolean
run_and_wait (GantryBatch *batch, GError **error)
{
  gboolean timed = choose_stamps (batch), ran = FALSE, done;

  if (g_cancellable_is_cancelled (batch->cancellable))
    {
      batch->stopped = TRUE;
      return TRUE;
    }
  batch->begin = gantry_time_ns ();
  if (batch->cuda->use_graphs && (batch->stamps == NULL || !batch->stamps_all) && !batch->cuda->checking)
    {
      done = _gantry_cuda_run_graph (batch, &ran, error);
      if (!done || ran)
        return done;
    }
  _gantry_cuda_add_replay (batch->cuda, -1);
  if (timed && !_gantry_cuda_meet (batch->cuda, &batch->first, error))
    return FALSE;
  done = _gantry_cuda_enqueue_all (batch, error);
  done = wait_for_all (batch, done ? error : NULL) && done;
  return done && (!timed || _gantry_cuda_read_clock (batch, error));
}

static void
batch_free (GantryBatch *batch)
{
  CudaDevice *cuda = batch->cuda;

  for (guint32 i = 0; i < batch->n_events; i++)
    _gantry_cuda_give_event (cuda, FALSE, batch->events[i]);
  for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
    for (guint k = 0; k < 2; k++)
      _gantry_cuda_give_event (cuda, FALSE, batch->lists[queue].paces[k]);
  for (guint i = 0; i < batch->timings->len; i++)
    {
      CudaTiming *timing = &g_array_index (batch->timings, CudaTiming, i);

      _gantry_cuda_give_event (cuda, TRUE, timing->begin);
      _gantry_cuda_give_event (cuda, TRUE, timing->end);
    }
  _gantry_cuda_give_event (cuda, TRUE, batch->first.event);
  _gantry_cuda_give_event (cuda, TRUE, batch->last.event);
  g_free (batch->events);
  g_ptr_array_unref (batch->staging);
  g_array_unref (batch->timings);
  g_free (batch);
}

gboolean
_gantry_cuda_finish (GantryBatch *batch, GError **error)
{
  CudaDevice *cuda = batch->cuda;
  gboolean done = FALSE, stopped;

  if (_gantry_cuda_enter (cuda, error))
    {
      done = run_and_wait (batch, error);
      _gantry_cuda_leave (cuda);
    }
  stopped = batch->stopped;
  batch_free (batch);
  g_mutex_unlock (&cuda->running);
  if (done && stopped)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "The run was cancelled");
  return done && !stopped;
}
