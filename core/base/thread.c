/* SPDX-License-Identifier: Apache-2.0 */
/* Threads are made by g_thread_try_new() alone. */
#include "core/base/thread.h"
#include "core/base/error.h"
#include <sys/resource.h>
#include <unistd.h>

GThread *
gantry_thread_try (const char *name, GThreadFunc func, gpointer data, GError **error)
{
  g_autoptr (GError) own = NULL;
  GThread *thread = g_thread_try_new (name, func, data, &own);

  if (thread == NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED,
                 "the system lets no further thread be made: %s; end other programs, or raise the limit on processes (ulimit -u, pids.max of "
                 "a container) or on memory (ulimit -v)",
                 own->message);
  return thread;
}

/* Threads that wait until all are there. */
typedef struct
{
  GMutex lock;
  GCond changed;
  gboolean done;
} Gate;

static gpointer
wait_at (gpointer data)
{
  Gate *gate = data;

  g_mutex_lock (&gate->lock);
  while (!gate->done)
    g_cond_wait (&gate->changed, &gate->lock);
  g_mutex_unlock (&gate->lock);
  return NULL;
}

gboolean
gantry_thread_check (guint n, GError **error)
{
  g_autofree GThread **threads = g_new0 (GThread *, n + 1);
  Gate gate = { .done = FALSE };
  guint made = 0;

  g_mutex_init (&gate.lock);
  g_cond_init (&gate.changed);
  while (made < n && (threads[made] = gantry_thread_try ("check", wait_at, &gate, error)) != NULL)
    made++;
  g_mutex_lock (&gate.lock);
  gate.done = TRUE;
  g_cond_broadcast (&gate.changed);
  g_mutex_unlock (&gate.lock);
  for (guint i = 0; i < made; i++)
    g_thread_join (threads[i]);
  g_mutex_clear (&gate.lock);
  g_cond_clear (&gate.changed);
  return made == n;
}

typedef struct
{
  GTask *task;
  GTaskThreadFunc func;
} Work;

static gpointer
work (gpointer data)
{
  Work *work = data;

  work->func (work->task, g_task_get_source_object (work->task), g_task_get_task_data (work->task), g_task_get_cancellable (work->task));
  g_object_unref (work->task);
  g_free (work);
  return NULL;
}

void
gantry_task_run_in_thread (GTask *task, GTaskThreadFunc func)
{
  Work *job = g_new0 (Work, 1);
  GError *error = NULL;
  GThread *thread;

  job->task = g_object_ref (task);
  job->func = func;
  thread = gantry_thread_try ("task", work, job, &error);
  if (thread != NULL)
    {
      g_thread_unref (thread);
      return;
    }
  g_object_unref (job->task);
  g_free (job);
  g_task_return_error (task, error);
}

#define LOW_PRIORITY 15 /* of 19 */

void
gantry_thread_step_back (void)
{
  /* Linux has it of a thread, though it is called that of a process. */
  setpriority (PRIO_PROCESS, (id_t) gettid (), LOW_PRIORITY);
}
