/* SPDX-License-Identifier: Apache-2.0 */
/* ThreadSanitizer sees what it compiled and pthread's functions; GLib is neither, and orders threads with futexes and
 * atomics of its own. These stand before GLib's functions of the same names, in a test program that is linked with this file (its
 * children are not), and tell the sanitizer what each of them orders: no more than that, or races would be hidden.
 * Only what the tested code uses is here. A call of GLib into another of its libraries comes by here too. */
#include <dlfcn.h>
#include <gio/gio.h>
#include <sanitizer/tsan_interface.h>

/* Relaxed: this look-up must not order threads that nothing else orders. */
static gpointer
next (gpointer *kept, const char *name)
{
  gpointer found = __atomic_load_n (kept, __ATOMIC_RELAXED);

  if (found == NULL)
    {
      found = dlsym (RTLD_NEXT, name);
      if (found == NULL)
        g_error ("GLib has no %s", name);
      __atomic_store_n (kept, found, __ATOMIC_RELAXED);
    }
  return found;
}

/* GLib's own function of that name. */
#define NEXT(name) \
  (G_GNUC_EXTENSION ({ \
    static gpointer kept_; \
    (__typeof__ (&name)) next (&kept_, #name); \
  }))

/* Locks. */

void
g_mutex_lock (GMutex *mutex)
{
  NEXT (g_mutex_lock) (mutex);
  __tsan_acquire (mutex);
}

gboolean
g_mutex_trylock (GMutex *mutex)
{
  gboolean locked = NEXT (g_mutex_trylock) (mutex);

  if (locked)
    __tsan_acquire (mutex);
  return locked;
}

void
g_mutex_unlock (GMutex *mutex)
{
  __tsan_release (mutex);
  NEXT (g_mutex_unlock) (mutex);
}

void
g_cond_wait (GCond *cond, GMutex *mutex)
{
  __tsan_release (mutex);
  NEXT (g_cond_wait) (cond, mutex);
  __tsan_acquire (mutex);
}

/* The macro of that name loads the location atomically, which the sanitizer sees. */
void (g_once_init_leave) (volatile void *location, gsize result)
{
  __tsan_release ((void *) location);
  NEXT (g_once_init_leave) (location, result);
}

/* References. The decrement is one atomic step that reads what the earlier ones released: whoever drops the last
 * reference, and so frees, comes after all who dropped theirs. */

void
g_object_unref (gpointer object)
{
  __tsan_release (object);
  __tsan_acquire (object);
  NEXT (g_object_unref) (object);
}

/* Tasks. */

static GQuark
thread_function_quark (void)
{
  return g_quark_from_static_string ("tsan-thread-function");
}

static void
run_task (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  GTaskThreadFunc function;

  __tsan_acquire (task);
  function = (GTaskThreadFunc) g_object_get_qdata (G_OBJECT (task), thread_function_quark ());
  function (task, source, data, cancellable);
  __tsan_release (task); /* it is handed back once its function has ended, also where that returned a result before */
}

void
g_task_run_in_thread (GTask *task, GTaskThreadFunc function)
{
  g_object_set_qdata (G_OBJECT (task), thread_function_quark (), (gpointer) function);
  __tsan_release (task);
  NEXT (g_task_run_in_thread) (task, run_task);
}

void
g_task_return_pointer (GTask *task, gpointer result, GDestroyNotify destroy)
{
  __tsan_release (task);
  NEXT (g_task_return_pointer) (task, result, destroy);
}

void
g_task_return_boolean (GTask *task, gboolean result)
{
  __tsan_release (task);
  NEXT (g_task_return_boolean) (task, result);
}

void
g_task_return_error (GTask *task, GError *error)
{
  __tsan_release (task);
  NEXT (g_task_return_error) (task, error);
}

void
g_task_return_new_error (GTask *task, GQuark domain, int code, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_task_return_error (task, g_error_new_valist (domain, code, format, args));
  va_end (args);
}

gpointer
g_task_propagate_pointer (GTask *task, GError **error)
{
  gpointer result = NEXT (g_task_propagate_pointer) (task, error);

  __tsan_acquire (task);
  return result;
}

gboolean
g_task_propagate_boolean (GTask *task, GError **error)
{
  gboolean result = NEXT (g_task_propagate_boolean) (task, error);

  __tsan_acquire (task);
  return result;
}

/* Idle sources and timeouts, whose callbacks are of one type: what was done before one is attached comes before its calls. */

typedef struct
{
  GSource *source; /* which holds this */
  GSourceFunc function;
  gpointer data;
  GDestroyNotify destroy;
} Callback;

static gboolean
callback_run (gpointer data)
{
  Callback *callback = data;

  __tsan_acquire (callback);
  __tsan_acquire (callback->source);
  return callback->function (callback->data);
}

static void
callback_free (gpointer data)
{
  Callback *callback = data;

  __tsan_acquire (callback);
  __tsan_acquire (callback->source);
  if (callback->destroy != NULL)
    callback->destroy (callback->data);
  g_free (callback);
}

void
g_source_set_callback (GSource *source, GSourceFunc function, gpointer data, GDestroyNotify destroy)
{
  Callback *callback;

  if (function == NULL || (source->source_funcs != &g_idle_funcs && source->source_funcs != &g_timeout_funcs))
    {
      NEXT (g_source_set_callback) (source, function, data, destroy);
      return;
    }
  callback = g_new (Callback, 1);
  *callback = (Callback){ source, function, data, destroy };
  __tsan_release (callback);
  NEXT (g_source_set_callback) (source, callback_run, callback, callback_free);
}

guint
g_source_attach (GSource *source, GMainContext *context)
{
  __tsan_release (source);
  return NEXT (g_source_attach) (source, context);
}

/* GLib's own would attach it without coming by here. */
guint
g_idle_add_full (int priority, GSourceFunc function, gpointer data, GDestroyNotify destroy)
{
  g_autoptr (GSource) source = g_idle_source_new ();

  if (priority != G_PRIORITY_DEFAULT_IDLE)
    g_source_set_priority (source, priority);
  g_source_set_callback (source, function, data, destroy);
  return g_source_attach (source, NULL);
}
