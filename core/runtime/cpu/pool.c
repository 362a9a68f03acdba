/* SPDX-License-Identifier: Apache-2.0 */
/* The worker threads. A job is offered in one word of state: its number, whether it is open, and how many
 * workers are in it. A worker enters by compare-and-swap while the job is open; the submitting thread
 * works too, closes the job when no task is left and waits only for those who are in. So a worker
 * that sleeps or is late costs nothing, and the job's fields are never written while one reads them.
 * The tasks are in shares, one for each thread and the same part of each job: a thread finds what it wrote before in its own
 * cache. Who is done with its share takes from those of the others.
 * Workers look for the next job for some microseconds before they sleep. */
#include "core/runtime/cpu/pool-private.h"
#include "core/base/thread.h"
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#define OPEN ((guint64) 1 << 31)
#define COUNT (OPEN - 1)
#define NUMBER(state) ((guint32) ((state) >> 32))

/* How long a worker looks for work before it sleeps. */
#define SPIN_NS 50000
/* A kernel that one thread should do in less than this is not shared: waking others would cost as much. */
#define ALONE_NS 12000.0
/* Cautious rates of one thread, for that estimate: flops and bytes in a nanosecond. */
#define FLOPS_PER_NS 4.0
#define BYTES_PER_NS 8.0
#define CHUNKS_PER_THREAD 8

/* Tasks that lie beside each other, of which a thread begins with its own: what it wrote in one kernel it reads in the next, from its own cache. */
typedef struct
{
  _Alignas(64) _Atomic gint64 next; /* first task that nobody has taken */
  gint64 end;
} Share;

struct _CpuPool
{
  _Alignas(64) _Atomic guint64 state;
  _Atomic guint joined; /* workers that were ever started: each has a number of its own */
  Share *shares;        /* n_threads */
  /* The job: written while no worker is in one. */
  _Alignas(64) GantryKernelFunc func;
  gconstpointer data;
  void *const *buffers;
  gint64 chunk; /* of tasks that are taken at once */
  guint n_threads;
  GThread **threads; /* n_threads - 1 */
  guint n_made;      /* of them */
  GError *error;     /* (nullable): why there are no more */
  GMutex lock;
  GCond wake;
  _Atomic guint sleeping;
  _Atomic gboolean quit;
};

static gint64
now_ns (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (gint64) now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Thread @self takes its own share, then what is left of the others'. */
static void
take_tasks (CpuPool *pool, guint self)
{
  for (guint i = 0; i < pool->n_threads; i++)
    {
      Share *share = &pool->shares[(self + i) % pool->n_threads];

      for (;;)
        {
          gint64 begin;

          /* Of a share that is done the line stays with all who look at it. */
          if (atomic_load_explicit (&share->next, memory_order_relaxed) >= share->end)
            break;
          begin = atomic_fetch_add_explicit (&share->next, pool->chunk, memory_order_relaxed);
          if (begin >= share->end)
            break;
          pool->func (pool->data, pool->buffers, begin, MIN (begin + pool->chunk, share->end));
        }
    }
}

static inline gboolean
is_new (guint64 state, guint32 last)
{
  return (state & OPEN) != 0 && NUMBER (state) != last;
}

/* Returns: TRUE as soon as there is a job other than @last, FALSE after a while. */
static gboolean
look_for_job (CpuPool *pool, guint32 last)
{
  gint64 until = now_ns () + SPIN_NS;

  do
    for (guint i = 0; i < 64; i++)
      {
        if (is_new (atomic_load_explicit (&pool->state, memory_order_relaxed), last) || atomic_load_explicit (&pool->quit, memory_order_relaxed))
          return TRUE;
        cpu_relax ();
      }
  while (now_ns () < until);
  return FALSE;
}

static void
sleep_until_job (CpuPool *pool, guint32 last)
{
  g_mutex_lock (&pool->lock);
  /* Counted before the state is read, and the submitter reads the count after it wrote the state: one of the two sees
   * the other. */
  atomic_fetch_add (&pool->sleeping, 1);
  while (!is_new (atomic_load (&pool->state), last) && !atomic_load (&pool->quit))
    g_cond_wait (&pool->wake, &pool->lock);
  atomic_fetch_sub (&pool->sleeping, 1);
  g_mutex_unlock (&pool->lock);
}

static gpointer
worker (gpointer user_data)
{
  CpuPool *pool = user_data;
  guint32 last = 0;
  guint self = atomic_fetch_add (&pool->joined, 1) + 1;

  while (!atomic_load_explicit (&pool->quit, memory_order_relaxed))
    {
      guint64 state;

      if (!look_for_job (pool, last))
        sleep_until_job (pool, last);
      state = atomic_load_explicit (&pool->state, memory_order_relaxed);
      if (!is_new (state, last) || !atomic_compare_exchange_strong (&pool->state, &state, state + 1))
        continue;
      take_tasks (pool, self);
      last = NUMBER (state);
      atomic_fetch_sub_explicit (&pool->state, 1, memory_order_release);
    }
  return NULL;
}

CpuPool *
_gantry_cpu_pool_new (guint n_threads)
{
  CpuPool *pool = g_aligned_alloc0 (1, sizeof (CpuPool), 64);

  pool->n_threads = n_threads;
  g_mutex_init (&pool->lock);
  g_cond_init (&pool->wake);
  pool->shares = g_aligned_alloc0 (n_threads, sizeof (Share), 64);
  pool->threads = g_new0 (GThread *, n_threads);
  while (pool->n_made + 1 < n_threads && (pool->threads[pool->n_made] = gantry_thread_try ("gantry-worker", worker, pool, &pool->error)) != NULL)
    pool->n_made++;
  return pool;
}

gboolean
_gantry_cpu_pool_check (const CpuPool *pool, GError **error)
{
  if (pool->error == NULL)
    return TRUE;
  g_set_error (error, pool->error->domain, pool->error->code, "%u of %u threads are there (fewer are asked for by --threads): %s", pool->n_made + 1,
               pool->n_threads, pool->error->message);
  return FALSE;
}

void
_gantry_cpu_pool_free (CpuPool *pool)
{
  g_mutex_lock (&pool->lock);
  atomic_store (&pool->quit, TRUE);
  g_cond_broadcast (&pool->wake);
  g_mutex_unlock (&pool->lock);
  for (guint i = 0; i < pool->n_made; i++)
    g_thread_join (pool->threads[i]);
  g_free (pool->threads);
  g_aligned_free (pool->shares);
  g_clear_error (&pool->error);
  g_mutex_clear (&pool->lock);
  g_cond_clear (&pool->wake);
  g_aligned_free (pool);
}

static gboolean
is_small (const GantryKernel *kernel)
{
  double ns;

  if (kernel->flops < 0 || kernel->bytes < 0)
    return FALSE;
  ns = MAX ((double) kernel->flops / FLOPS_PER_NS, (double) kernel->bytes / BYTES_PER_NS);
  return ns < ALONE_NS;
}

static void
wait_for_others (CpuPool *pool)
{
  for (guint spins = 0; (atomic_load_explicit (&pool->state, memory_order_acquire) & COUNT) != 0; spins++)
    {
      /* With fewer processors than threads, the one waited for may need this one. */
      if (spins > 1000)
        sched_yield ();
      else
        cpu_relax ();
    }
}

void
_gantry_cpu_pool_run (CpuPool *pool, const GantryKernel *kernel, void *const *buffers, void (*offered) (gpointer data), gpointer data)
{
  guint64 number;

  if (pool->n_threads == 1 || kernel->whole || kernel->n_tasks <= 1 || is_small (kernel))
    {
      if (offered != NULL)
        offered (data);
      if (kernel->n_tasks > 0)
        kernel->func (kernel->state, buffers, 0, kernel->n_tasks);
      return;
    }
  pool->func = kernel->func;
  pool->data = kernel->state;
  pool->buffers = buffers;
  pool->chunk = MAX (kernel->n_tasks / ((gint64) pool->n_threads * CHUNKS_PER_THREAD), 1);
  for (guint i = 0; i < pool->n_threads; i++)
    {
      atomic_store_explicit (&pool->shares[i].next, kernel->n_tasks * i / pool->n_threads, memory_order_relaxed);
      pool->shares[i].end = kernel->n_tasks * (i + 1) / pool->n_threads;
    }
  number = (guint64) NUMBER (atomic_load_explicit (&pool->state, memory_order_relaxed)) + 1;
  atomic_store (&pool->state, (number << 32) | OPEN);
  if (atomic_load (&pool->sleeping) > 0)
    {
      g_mutex_lock (&pool->lock);
      g_cond_broadcast (&pool->wake);
      g_mutex_unlock (&pool->lock);
    }
  if (offered != NULL)
    offered (data);
  take_tasks (pool, 0);
  atomic_fetch_and (&pool->state, ~OPEN);
  wait_for_others (pool);
}
