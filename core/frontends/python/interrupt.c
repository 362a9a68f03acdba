/* SPDX-License-Identifier: Apache-2.0 */
/* Signals that arrive while a graph runs. CPython notes them and calls their handlers between two of its own instructions, of which a
 * graph has none: one without an end could not be interrupted. CPython also writes the number of each into a pipe (signal.set_wakeup_fd),
 * and a thread that reads it cancels the run; the handler is called, and where it does not raise the graph runs once more, on a thread of
 * its own, beside which the handlers of further signals are called: inputs are unchanged until a run is complete. A program that has a
 * pipe of its own keeps it, and its graphs end before its handlers are called.
 *
 * Handlers are the main thread's. A graph that another thread runs leaves CPython to the others until it is complete. */
#include "core/frontends/python/trace.h"
#include <fcntl.h>
#include <glib-unix.h>
#include <string.h>
#include <unistd.h>

typedef struct
{
  GMutex lock;
  GCancellable *running; /* (nullable): of the graph that the main thread runs now */
  GMutex turn;           /* one graph at a time: a compiled one has one arena */
  GRecMutex step;        /* one graph that assigns Parameters at a time, from what it reads of them to what it makes of them */
  pid_t process;         /* whose thread this is: a fork has none */
  gboolean listening;
  int end; /* of the pipe, -1: none yet; a fork has its parent's */
} Interrupts;

static Interrupts interrupts = { .end = -1 };

static gpointer
listen (gpointer data)
{
  int end = GPOINTER_TO_INT (data);
  guint8 number;
  gssize n;

  while ((n = read (end, &number, 1)) > 0 || (n < 0 && errno == EINTR))
    {
      g_mutex_lock (&interrupts.lock);
      if (n > 0 && interrupts.running != NULL)
        g_cancellable_cancel (interrupts.running);
      g_mutex_unlock (&interrupts.lock);
    }
  return NULL;
}

/* Returns: FALSE with no exception where the program has a pipe of its own, or this is not the thread that handlers are called in */
static gboolean
tell_python (int end)
{
  PyObject *module = PyImport_ImportModule ("signal"), *before = NULL, *back = NULL;
  gboolean ours = FALSE;

  if (module != NULL)
    before = PyObject_CallMethod (module, "set_wakeup_fd", "i", end);
  if (before != NULL)
    ours = PyLong_AsLong (before) == interrupts.end;
  if (before != NULL && !ours)
    back = PyObject_CallMethod (module, "set_wakeup_fd", "O", before);
  PyErr_Clear ();
  Py_XDECREF (module);
  Py_XDECREF (before);
  Py_XDECREF (back);
  return ours;
}

/* Of the process, which is CPython's. */
static gboolean
is_main_thread (void)
{
  return getpid () == gettid ();
}

/* Once in each process, by the main thread: only that may ask CPython for it. */
static gboolean
start_listening (void)
{
  g_autoptr (GThread) thread = NULL;
  int ends[2];

  if (interrupts.process == getpid ())
    return interrupts.listening;
  /* A fork has locks of its own; in the first process they are as they began, and a thread may hold one. */
  if (interrupts.process != 0)
    {
      g_mutex_init (&interrupts.lock);
      g_mutex_init (&interrupts.turn);
      g_rec_mutex_init (&interrupts.step);
    }
  interrupts.process = getpid ();
  interrupts.listening = FALSE;
  if (!g_unix_open_pipe (ends, FD_CLOEXEC, NULL))
    return FALSE;
  g_unix_set_fd_nonblocking (ends[1], TRUE, NULL);
  if (tell_python (ends[1]))
    thread = g_thread_try_new ("signals", listen, GINT_TO_POINTER (ends[0]), NULL);
  interrupts.end = ends[1];
  interrupts.listening = thread != NULL;
  return interrupts.listening;
}

/* One run of a graph. */
typedef struct
{
  const GantryPythonBackend *backend;
  gpointer compiled;
  GantryLiteral *const *arguments;
  GantryLiteral **results;
  GCancellable *cancellable; /* (nullable) */
  GError *error;
  gboolean done;
  gint ended; /* atomic */
} Run;

static void
run_now (Run *run)
{
  g_mutex_lock (&interrupts.turn);
  run->done = run->backend->run (run->backend->self, run->compiled, run->arguments, run->results, run->cancellable, &run->error);
  g_mutex_unlock (&interrupts.turn);
}

static gpointer
run_on_thread (gpointer data)
{
  run_now (data);
  g_atomic_int_set (&((Run *) data)->ended, 1);
  return NULL;
}

static void
set_running (GCancellable *cancellable)
{
  g_mutex_lock (&interrupts.lock);
  interrupts.running = cancellable;
  g_mutex_unlock (&interrupts.lock);
}

/* On this thread, until a signal arrives. */
static void
run_until_signal (Run *run)
{
  set_running (run->cancellable);
  if (PyErr_CheckSignals () == 0)
    run_now (run);
  set_running (NULL);
}

#define BETWEEN_LOOKS 10000 /* microseconds */

/* On a thread of its own, while this one calls the handlers of signals. Returns: FALSE where there is no thread */
static gboolean
run_beside_signals (Run *run)
{
  GThread *thread = g_thread_try_new ("graph", run_on_thread, run, NULL);
  gboolean raised = FALSE;

  if (thread == NULL)
    return FALSE;
  while (!raised && !g_atomic_int_get (&run->ended))
    {
      Py_BEGIN_ALLOW_THREADS
      g_usleep (BETWEEN_LOOKS);
      Py_END_ALLOW_THREADS
      raised = PyErr_CheckSignals () < 0;
    }
  if (raised)
    g_cancellable_cancel (run->cancellable);
  Py_BEGIN_ALLOW_THREADS
  g_thread_join (thread);
  Py_END_ALLOW_THREADS
  return TRUE;
}

static void
run_for_main_thread (Run *run)
{
  run->cancellable = g_cancellable_new ();
  run_until_signal (run);
  if (PyErr_Occurred () == NULL && g_error_matches (run->error, G_IO_ERROR, G_IO_ERROR_CANCELLED) && PyErr_CheckSignals () == 0)
    {
      g_clear_error (&run->error);
      g_cancellable_reset (run->cancellable);
      if (!run_beside_signals (run))
        run_now (run);
    }
  g_clear_object (&run->cancellable);
}

#define BETWEEN_TRIES 50 /* microseconds */

gboolean
gantry_py_step_begin (void)
{
  gboolean main_thread = is_main_thread ();

  if (main_thread)
    start_listening (); /* a fork has locks of its own */
  while (!g_rec_mutex_trylock (&interrupts.step))
    {
      PyThreadState *thread = PyEval_SaveThread ();

      g_usleep (BETWEEN_TRIES);
      PyEval_RestoreThread (thread);
      if (main_thread && PyErr_CheckSignals () < 0)
        return FALSE;
    }
  return TRUE;
}

void
gantry_py_step_end (void)
{
  g_rec_mutex_unlock (&interrupts.step);
}

gboolean
gantry_py_run_compiled (GantryPyState *state, gpointer compiled, GantryLiteral *const *arguments, GantryLiteral **results)
{
  Run run = { .backend = state->backend, .compiled = compiled, .arguments = arguments, .results = results };

  if (!is_main_thread ())
    {
      Py_BEGIN_ALLOW_THREADS
      run_now (&run);
      Py_END_ALLOW_THREADS
    }
  else if (start_listening ())
    run_for_main_thread (&run);
  else
    run_now (&run);
  if (!run.done && PyErr_Occurred () == NULL)
    PyErr_SetString (PyExc_RuntimeError, run.error != NULL ? run.error->message : "the graph did not run");
  g_clear_error (&run.error);
  return run.done && PyErr_Occurred () == NULL;
}
