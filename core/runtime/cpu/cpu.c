/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU device: memory from the system, kernels on the worker threads, and two copy queues with a thread each.
 * The compute queue is the submitting thread itself: a hand-over to another thread would cost more than a small
 * kernel takes. For the same reason it carries out small copies itself, and any copy that it would otherwise wait
 * for while that copy's thread still sleeps. */
#include "core/runtime/cpu/cpu.h"
#include "core/base/thread.h"
#include "core/runtime/cpu/pool-private.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE ((gsize) 2 << 20)
/* A copy of that many bytes takes as long as waking a thread. */
#define SMALL_COPY ((gsize) 64 << 10)
#define NO_EVENT G_MAXUINT32

typedef struct
{
  GantryDevice *device;
  GantryQueue queue;
  GThread *thread; /* started when it is first used */
  GMutex lock;
  GCond changed;
  _Atomic (GantryBatch *) batch; /* what to run now; NULL when there is nothing; written last */
  gboolean quit;
  GMutex driving; /* held by the thread that carries out its commands: its own, or the compute queue's */
  GCond event;    /* with the lock of the batch: what it waits for has happened */
  const GantryCommand *commands;
  guint32 n, next;
  gint64 blocked_since; /* the next command is a WAIT that was found not to have happened then; 0: it is not */
} CopyQueue;

typedef struct
{
  GantryDevice parent;
  guint n_threads;
  CpuPool *pool;
  GMutex running;                    /* held from begin to finish */
  GantryBatch *batch;                /* the one that runs then: a trip of a loop is one, and allocates nothing */
  CopyQueue copies[GANTRY_N_QUEUES]; /* that of compute is not used */
} CpuDevice;

struct _GantryBatch
{
  CpuDevice *cpu;
  GantryStamp *stamps;
  GCancellable *cancellable;
  guint32 room;           /* for events */
  _Atomic gint *happened; /* by event */
  GMutex lock;
  GCond event;
  gboolean submitted[GANTRY_N_QUEUES];
  _Atomic gint stopped; /* something was left out because of the cancellable */
  gboolean quiet;       /* an event of the compute queue has happened and those who sleep for it do not know */
};

/* Memory. */

static gsize
whole_pages (gsize bytes)
{
  gsize page = (gsize) sysconf (_SC_PAGESIZE);

  return (MAX (bytes, 1) + page - 1) / page * page;
}

static void *
cpu_allocate (GantryDevice *device, GantryMemoryKind kind, gsize bytes, GError **error)
{
  gsize whole = whole_pages (bytes), slack = bytes >= HUGE_PAGE ? HUGE_PAGE : 0, extra;
  guint8 *block = mmap (NULL, whole + 2 * GANTRY_ARENA_GUARD + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  guint8 *memory = block + GANTRY_ARENA_GUARD;

  if (block == MAP_FAILED)
    return NULL;
  if (slack == 0)
    return memory;
  /* Large ones begin at a huge page; what that leaves over in front and behind goes back. */
  extra = (HUGE_PAGE - GPOINTER_TO_SIZE (memory) % HUGE_PAGE) % HUGE_PAGE;
  if (extra > 0)
    munmap (block, extra);
  if (extra < slack)
    munmap (block + whole + 2 * GANTRY_ARENA_GUARD + extra, slack - extra);
  memory += extra;
  madvise (memory, whole, MADV_HUGEPAGE); /* a wish: fewer page faults and table walks */
  return memory;
}

static void
cpu_deallocate (GantryDevice *device, GantryMemoryKind kind, void *memory, gsize bytes)
{
  munmap ((guint8 *) memory - GANTRY_ARENA_GUARD, whole_pages (bytes) + 2 * GANTRY_ARENA_GUARD);
}

static gboolean
cpu_transfer (GantryDevice *device, void *to, const void *from, gsize bytes, GError **error)
{
  if (bytes > 0)
    memcpy (to, from, bytes);
  return TRUE;
}

/* Events. */

static gboolean
has_happened (GantryBatch *batch, guint32 event)
{
  return atomic_load_explicit (&batch->happened[event], memory_order_acquire);
}

/* Asked by the thread of the compute queue. */
static gboolean
has_copies (const GantryBatch *batch)
{
  return batch->submitted[GANTRY_QUEUE_TO_DEVICE] || batch->submitted[GANTRY_QUEUE_TO_HOST];
}

/* A call of the system for each of them. */
static void
wake_all (GantryBatch *batch)
{
  g_mutex_lock (&batch->lock);
  g_cond_broadcast (&batch->event);
  for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
    g_cond_broadcast (&batch->cpu->copies[queue].event);
  g_mutex_unlock (&batch->lock);
}

static void
sleep_for (GantryBatch *batch, GCond *cond, guint32 event)
{
  g_mutex_lock (&batch->lock);
  while (!has_happened (batch, event))
    g_cond_wait (cond, &batch->lock);
  g_mutex_unlock (&batch->lock);
}

/* Who sleeps looked at it under the lock, and the waking takes the lock later. The compute queue wakes nobody at once:
 * see break_silence(). */
static void
record (GantryBatch *batch, GantryQueue queue, guint32 event)
{
  atomic_store_explicit (&batch->happened[event], 1, memory_order_release);
  if (queue == GANTRY_QUEUE_COMPUTE)
    batch->quiet = TRUE;
  else
    wake_all (batch);
}

/* Commands. */

static void break_silence (gpointer data);
static void wait_for (GantryBatch *batch, guint32 event);

static void
launch (GantryBatch *batch, GantryQueue queue, const GantryKernel *kernel, void *const *buffers)
{
  /* The workers are those of the compute queue. */
  if (queue == GANTRY_QUEUE_COMPUTE)
    _gantry_cpu_pool_run (batch->cpu->pool, kernel, buffers, break_silence, batch);
  else if (kernel->n_tasks > 0)
    kernel->func (kernel->state, buffers, 0, kernel->n_tasks);
}

static void
execute (GantryBatch *batch, GantryQueue queue, const GantryCommand *command)
{
  switch ((GantryCommandKind) command->kind)
    {
    case GANTRY_COMMAND_LAUNCH: launch (batch, queue, command->launch.kernel, command->launch.buffers); break;
    case GANTRY_COMMAND_COPY: cpu_transfer (NULL, command->copy.to, command->copy.from, command->copy.bytes, NULL); break;
    case GANTRY_COMMAND_FILL: gantry_literal_copy_once_to (command->fill.literal, command->fill.to); break;
    case GANTRY_COMMAND_RECORD: record (batch, queue, command->event); break;
    case GANTRY_COMMAND_WAIT:
      if (queue == GANTRY_QUEUE_COMPUTE)
        wait_for (batch, command->event);
      break; /* that of a copy queue has happened when it comes to this */
    default: g_assert_not_reached ();
    }
}

static gboolean
left_out (GantryBatch *batch, const GantryCommand *command)
{
  /* Events still happen after a cancel, or another queue would wait for ever. */
  if (command->kind == GANTRY_COMMAND_RECORD)
    return FALSE;
  if (atomic_load_explicit (&batch->stopped, memory_order_relaxed))
    return TRUE;
  if (!g_cancellable_is_cancelled (batch->cancellable))
    return FALSE;
  atomic_store (&batch->stopped, 1);
  return TRUE;
}

/* @since: when it began, 0: now */
static void
run_command (GantryBatch *batch, GantryQueue queue, const GantryCommand *command, gint64 since)
{
  gint64 begin;

  if (left_out (batch, command))
    return;
  if (command->stamp == GANTRY_NO_STAMP || batch->stamps == NULL)
    {
      execute (batch, queue, command);
      return;
    }
  begin = since != 0 ? since : gantry_time_ns ();
  execute (batch, queue, command);
  batch->stamps[command->stamp].begin = begin;
  batch->stamps[command->stamp].end = gantry_time_ns ();
}

/* Copy queues. */

/* Carries out commands of the queue until one has to wait; with `driving` held. Another thread than the queue's own
 * (@own) leaves launches and copies beyond @largest bytes to that, and stops once event @until has happened.
 * Returns: TRUE when it got on */
static gboolean
drive (GantryBatch *batch, CopyQueue *queue, gboolean own, gsize largest, guint32 until)
{
  guint32 first = queue->next;

  for (; queue->next < queue->n; queue->next++)
    {
      const GantryCommand *command = &queue->commands[queue->next];

      if (!own
          && ((until != NO_EVENT && has_happened (batch, until)) || command->kind == GANTRY_COMMAND_LAUNCH
              || (command->kind == GANTRY_COMMAND_COPY && command->copy.bytes > largest)))
        break;
      if (command->kind == GANTRY_COMMAND_WAIT && !has_happened (batch, command->event))
        {
          if (queue->blocked_since == 0)
            queue->blocked_since = gantry_time_ns ();
          break;
        }
      run_command (batch, queue->queue, command, queue->blocked_since);
      queue->blocked_since = 0;
    }
  return queue->next > first;
}

static gboolean
has_work (GantryBatch *batch, const CopyQueue *queue)
{
  const GantryCommand *command = &queue->commands[queue->next];

  return queue->next < queue->n && (command->kind != GANTRY_COMMAND_WAIT || has_happened (batch, command->event));
}

/* By the thread of the compute queue: one step of all copy queues that nobody drives. @wake: wakes the threads of those
 * that then have more to do. Returns: TRUE when one got on */
static gboolean
drive_others (GantryBatch *batch, gsize largest, guint32 until, gboolean wake)
{
  gboolean on = FALSE;

  for (guint q = 0; q < GANTRY_N_QUEUES; q++)
    {
      CopyQueue *queue = &batch->cpu->copies[q];
      gboolean more;

      /* Who drives it sees by himself what has happened. */
      if (q == GANTRY_QUEUE_COMPUTE || !batch->submitted[q] || !g_mutex_trylock (&queue->driving))
        continue;
      on |= drive (batch, queue, FALSE, largest, until);
      more = wake && has_work (batch, queue);
      g_mutex_unlock (&queue->driving);
      if (!more)
        continue;
      g_mutex_lock (&batch->lock);
      g_cond_broadcast (&queue->event);
      g_mutex_unlock (&batch->lock);
    }
  return on;
}

/* Where copy threads have no processor of their own, one that is woken takes that of the thread that wakes it. When
 * this is the compute queue's, between two kernels, all of its workers stand still for the length of the copy. So it
 * wakes nobody until the next kernel is offered to the workers: then one of them is at work beside the copy. */
static void
break_silence (gpointer data)
{
  GantryBatch *batch = data;

  if (!batch->quiet)
    return;
  batch->quiet = FALSE;
  drive_others (batch, SMALL_COPY, NO_EVENT, TRUE);
}

static void
wait_for (GantryBatch *batch, guint32 event)
{
  for (guint i = 0; i < 256; i++)
    {
      if (has_happened (batch, event))
        return;
      cpu_relax ();
    }
  while (drive_others (batch, G_MAXSIZE, event, TRUE))
    if (has_happened (batch, event))
      return;
  sleep_for (batch, &batch->event, event);
}

static void
run_commands (GantryBatch *batch, const GantryCommand *commands, guint32 n)
{
  for (guint32 i = 0; i < n; i++)
    {
      if (commands[i].kind != GANTRY_COMMAND_LAUNCH && commands[i].kind != GANTRY_COMMAND_RECORD)
        break_silence (batch);
      run_command (batch, GANTRY_QUEUE_COMPUTE, &commands[i], 0);
    }
  batch->quiet = FALSE;
  if (has_copies (batch))
    wake_all (batch);
}

static void
run_copies (GantryBatch *batch, CopyQueue *queue)
{
  for (;;)
    {
      guint32 event = NO_EVENT;

      g_mutex_lock (&queue->driving);
      drive (batch, queue, TRUE, G_MAXSIZE, NO_EVENT);
      if (queue->next < queue->n)
        event = queue->commands[queue->next].event;
      g_mutex_unlock (&queue->driving);
      if (event == NO_EVENT)
        return;
      sleep_for (batch, &queue->event, event);
    }
}

static gpointer
copy_thread (gpointer user_data)
{
  CopyQueue *queue = user_data;

  g_mutex_lock (&queue->lock);
  for (;;)
    {
      GantryBatch *batch;

      while ((batch = atomic_load (&queue->batch)) == NULL && !queue->quit)
        g_cond_wait (&queue->changed, &queue->lock);
      if (batch == NULL)
        break;
      g_mutex_unlock (&queue->lock);
      run_copies (batch, queue);
      g_mutex_lock (&queue->lock);
      atomic_store (&queue->batch, NULL);
      g_cond_broadcast (&queue->changed);
    }
  g_mutex_unlock (&queue->lock);
  return NULL;
}

/* Also before there is anything for it to do; with the lock of @queue held. */
static gboolean
start_thread (CopyQueue *queue, GError **error)
{
  if (queue->thread == NULL)
    queue->thread = gantry_thread_try (queue->queue == GANTRY_QUEUE_TO_HOST ? "gantry-to-host" : "gantry-to-dev", copy_thread, queue, error);
  return queue->thread != NULL;
}

static void
start_copies (CopyQueue *queue, GantryBatch *batch, const GantryCommand *commands, guint32 n)
{
  g_mutex_lock (&queue->lock);
  g_assert (atomic_load (&queue->batch) == NULL);
  g_mutex_lock (&queue->driving);
  queue->commands = commands;
  queue->n = n;
  queue->next = 0;
  queue->blocked_since = 0;
  g_mutex_unlock (&queue->driving);
  atomic_store (&queue->batch, batch);
  if (!start_thread (queue, NULL)) /* where nothing was loaded that has copies */
    g_error ("no thread for copies");
  g_cond_broadcast (&queue->changed);
  g_mutex_unlock (&queue->lock);
}

static void
wait_for_copies (CopyQueue *queue)
{
  g_mutex_lock (&queue->lock);
  while (atomic_load (&queue->batch) != NULL)
    g_cond_wait (&queue->changed, &queue->lock);
  g_mutex_unlock (&queue->lock);
}

static void
stop_copies (CopyQueue *queue)
{
  if (queue->thread != NULL)
    {
      g_mutex_lock (&queue->lock);
      queue->quit = TRUE;
      g_cond_broadcast (&queue->changed);
      g_mutex_unlock (&queue->lock);
      g_thread_join (queue->thread);
    }
  g_mutex_clear (&queue->lock);
  g_mutex_clear (&queue->driving);
  g_cond_clear (&queue->changed);
  g_cond_clear (&queue->event);
}

/* Threads. */

/* Programs may be loaded by several threads at once: the queue gets one thread. */
static gboolean
have_thread (CopyQueue *queue, GError **error)
{
  gboolean there;

  g_mutex_lock (&queue->lock);
  there = start_thread (queue, error);
  g_mutex_unlock (&queue->lock);
  return there;
}

/* What a run of @executable needs: a run itself cannot fail for want of them. */
static gpointer
cpu_load (GantryDevice *device, const GantryExecutable *executable, GError **error)
{
  CpuDevice *cpu = (CpuDevice *) device;

  if (!_gantry_cpu_pool_check (cpu->pool, error))
    return NULL;
  for (guint32 i = 0; i < executable->n_instructions; i++)
    {
      GantryQueue queue = executable->instructions[i].queue;

      if (queue != GANTRY_QUEUE_COMPUTE && !have_thread (&cpu->copies[queue], error))
        return NULL;
    }
  return device;
}

static void
cpu_unload (GantryDevice *device, gpointer loaded)
{
  /* Threads are for all that is loaded. */
}

/* Batches. */

static GantryBatch *
batch_new (CpuDevice *cpu)
{
  GantryBatch *batch = g_new0 (GantryBatch, 1);

  batch->cpu = cpu;
  g_mutex_init (&batch->lock);
  g_cond_init (&batch->event);
  return batch;
}

static void
batch_free (GantryBatch *batch)
{
  g_mutex_clear (&batch->lock);
  g_cond_clear (&batch->event);
  g_free (batch->happened);
  g_free (batch);
}

static GantryBatch *
cpu_begin (GantryDevice *device, guint32 n_events, GantryStamp *stamps, GCancellable *cancellable)
{
  CpuDevice *cpu = (CpuDevice *) device;
  GantryBatch *batch = cpu->batch;

  g_mutex_lock (&cpu->running);
  batch->stamps = stamps;
  batch->cancellable = cancellable;
  if (n_events > batch->room)
    {
      g_free (batch->happened);
      batch->happened = g_new (_Atomic gint, n_events);
      batch->room = n_events;
    }
  for (guint32 e = 0; e < n_events; e++)
    atomic_init (&batch->happened[e], 0);
  memset (batch->submitted, 0, sizeof batch->submitted);
  atomic_store_explicit (&batch->stopped, 0, memory_order_relaxed);
  batch->quiet = FALSE;
  return batch;
}

static void
cpu_submit (GantryBatch *batch, GantryQueue queue, const GantryCommand *commands, guint32 n)
{
  g_return_if_fail (!batch->submitted[queue]);
  batch->submitted[queue] = TRUE;
  if (queue == GANTRY_QUEUE_COMPUTE)
    run_commands (batch, commands, n);
  else
    start_copies (&batch->cpu->copies[queue], batch, commands, n);
}

static gboolean
cpu_finish (GantryBatch *batch, GError **error)
{
  CpuDevice *cpu = batch->cpu;
  gboolean stopped;

  for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
    if (batch->submitted[queue] && queue != GANTRY_QUEUE_COMPUTE)
      wait_for_copies (&cpu->copies[queue]);
  stopped = atomic_load (&batch->stopped);
  g_mutex_unlock (&cpu->running);
  if (stopped)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "The run was cancelled");
  return !stopped;
}

static void
cpu_free (GantryDevice *device)
{
  CpuDevice *cpu = (CpuDevice *) device;

  for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
    stop_copies (&cpu->copies[queue]);
  _gantry_cpu_pool_free (cpu->pool);
  batch_free (cpu->batch);
  g_mutex_clear (&cpu->running);
  gantry_device_clear (device);
  g_free (cpu);
}

static const GantryDeviceClass cpu_class = {
  .kind = "cpu",
  .is_host = TRUE,
  .free = cpu_free,
  .allocate = cpu_allocate,
  .deallocate = cpu_deallocate,
  .upload = cpu_transfer,
  .download = cpu_transfer,
  .load = cpu_load,
  .unload = cpu_unload,
  .begin = cpu_begin,
  .submit = cpu_submit,
  .finish = cpu_finish,
};

GantryDevice *
gantry_cpu_device_new (guint n_threads)
{
  CpuDevice *cpu = g_new0 (CpuDevice, 1);

  cpu->n_threads = n_threads > 0 ? n_threads : g_get_num_processors ();
  gantry_device_init (&cpu->parent, &cpu_class, g_strdup_printf ("cpu, %u %s", cpu->n_threads, cpu->n_threads == 1 ? "thread" : "threads"));
  cpu->pool = _gantry_cpu_pool_new (cpu->n_threads);
  cpu->batch = batch_new (cpu);
  g_mutex_init (&cpu->running);
  for (guint queue = 0; queue < GANTRY_N_QUEUES; queue++)
    {
      cpu->copies[queue].device = &cpu->parent;
      cpu->copies[queue].queue = queue;
      g_mutex_init (&cpu->copies[queue].lock);
      g_mutex_init (&cpu->copies[queue].driving);
      g_cond_init (&cpu->copies[queue].event);
      g_cond_init (&cpu->copies[queue].changed);
    }
  return &cpu->parent;
}

guint
gantry_cpu_device_threads (const GantryDevice *device)
{
  g_return_val_if_fail (device->klass == &cpu_class, 1);
  return ((const CpuDevice *) device)->n_threads;
}
