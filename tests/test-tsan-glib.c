/* SPDX-License-Identifier: Apache-2.0 */
/* What tests/tsan-glib.c says of GLib: a race is still found, and what GLib orders is none. Each case runs in a process
 * of its own, which ThreadSanitizer ends with a status of its own where it found something. */
#include <gio/gio.h>

typedef struct
{
  GMutex lock;
  gboolean late; /* the worker writes to what it has handed over as progress */
  int value, progress, seen;
  gboolean done;
  gboolean read; /* the progress was. Relaxed, so that it orders nothing */
} Shared;

static gboolean
on_progress (gpointer data)
{
  Shared *shared = data;

  shared->seen = shared->progress;
  __atomic_store_n (&shared->read, TRUE, __ATOMIC_RELAXED);
  return G_SOURCE_REMOVE;
}

static void
work (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Shared *shared = data;

  shared->progress = 1;
  g_idle_add (on_progress, shared);
  while (shared->late && !__atomic_load_n (&shared->read, __ATOMIC_RELAXED))
    g_usleep (1000);
  if (shared->late)
    shared->progress = 2;
  g_mutex_lock (&shared->lock);
  shared->value++;
  g_mutex_unlock (&shared->lock);
  g_task_return_boolean (task, TRUE);
  shared->value++; /* the task ends with its function */
}

static void
on_done (GObject *source, GAsyncResult *result, gpointer data)
{
  Shared *shared = data;

  g_task_propagate_boolean (G_TASK (result), NULL);
  shared->value++;
  shared->done = TRUE;
}

static void
run_work (gboolean early, gboolean late)
{
  Shared *shared = g_new0 (Shared, 1);
  GTask *task = g_task_new (NULL, NULL, on_done, shared);

  g_mutex_init (&shared->lock);
  shared->late = late;
  g_task_set_task_data (task, shared, NULL);
  g_task_run_in_thread (task, work);
  g_object_unref (task);
  if (early)
    shared->value++;
  while (!shared->done || shared->seen == 0)
    g_main_context_iteration (NULL, TRUE);
  g_mutex_clear (&shared->lock);
  g_free (shared);
}

static void
test_race (gconstpointer data)
{
  if (g_test_subprocess ())
    {
      run_work (g_str_equal (data, "early"), g_str_equal (data, "late"));
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_failed ();
  g_test_trap_assert_stderr ("*data race*");
}

/* The result, the progress, the lock and the task's end. */
static void
test_ordered (void)
{
  if (g_test_subprocess ())
    {
      for (int i = 0; i < 100; i++)
        run_work (FALSE, FALSE);
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stderr_unmatched ("*data race*");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/tsan-glib/race-before", "early", test_race);
  g_test_add_data_func ("/tsan-glib/race-after", "late", test_race);
  g_test_add_func ("/tsan-glib/ordered", test_ordered);
  return g_test_run ();
}
