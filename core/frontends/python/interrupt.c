/* SPDX-License-Identifier: Apache-2.0 */
/* Signals that arrive while a graph runs. CPython notes them and calls their handlers between two of its own instructions, of which a
 * graph has none: one without an end could not be interrupted. CPython also writes the number of each into a pipe (signal.set_wakeup_fd),
 * and a thread that reads it cancels the run; the handler is called, and where it does not raise the graph runs once more, which a
 * signal of that number then no longer disturbs: inputs are unchanged until a run is complete. A program that has a pipe of its own
 * keeps it, and its graphs end before its handlers are called. */
#include "core/frontends/python/trace.h"
#include <fcntl.h>
#include <glib-unix.h>
#include <string.h>
#include <unistd.h>

typedef struct
{
  GMutex lock;
  GCancellable *running; /* (nullable): of the graph that runs now */
  guint64 answered;      /* numbers of signals whose handlers this run has called */
  guint64 arrived;
  pid_t process; /* whose thread this is: a fork has none */
  gboolean listening;
  int end;         /* of the pipe, -1: none yet; a fork has its parent's */
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
      guint64 bit = n > 0 && number < 64 ? G_GUINT64_CONSTANT (1) << number : 0;

      g_mutex_lock (&interrupts.lock);
      interrupts.arrived |= bit;
      if (interrupts.running != NULL && (bit & ~interrupts.answered) != 0)
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

static gboolean
start_listening (void)
{
  g_autoptr (GThread) thread = NULL;
  int ends[2];

  if (interrupts.process == getpid ())
    return interrupts.listening;
  interrupts.process = getpid ();
  interrupts.listening = FALSE;
  g_mutex_init (&interrupts.lock);
  if (!g_unix_open_pipe (ends, FD_CLOEXEC, NULL))
    return FALSE;
  g_unix_set_fd_nonblocking (ends[1], TRUE, NULL);
  if (tell_python (ends[1]))
    thread = g_thread_try_new ("signals", listen, GINT_TO_POINTER (ends[0]), NULL);
  interrupts.end = ends[1];
  interrupts.listening = thread != NULL;
  return interrupts.listening;
}

static void
set_running (GCancellable *cancellable, guint64 answered)
{
  g_mutex_lock (&interrupts.lock);
  interrupts.running = cancellable;
  interrupts.answered = answered;
  interrupts.arrived = 0;
  g_mutex_unlock (&interrupts.lock);
}

/* Runs once. Returns: TRUE when it is complete; else the signals that arrived are in @answered, where it was for them */
static gboolean
run_once (const GantryPythonBackend *backend, gpointer compiled, GantryLiteral *const *arguments, GantryLiteral **results,
          guint64 *answered, GError **error)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  gboolean done;

  set_running (cancellable, *answered);
  done = PyErr_CheckSignals () == 0 && backend->run (backend->self, compiled, arguments, results, cancellable, error);
  g_mutex_lock (&interrupts.lock);
  interrupts.running = NULL;
  *answered |= interrupts.arrived;
  g_mutex_unlock (&interrupts.lock);
  return done;
}

gboolean
gantry_py_run_compiled (GantryPyState *state, gpointer compiled, GantryLiteral *const *arguments, GantryLiteral **results)
{
  const GantryPythonBackend *backend = state->backend;
  gboolean done, listening = start_listening ();
  guint64 answered = 0;

  for (;;)
    {
      g_autoptr (GError) error = NULL;

      done = listening ? run_once (backend, compiled, arguments, results, &answered, &error)
                       : backend->run (backend->self, compiled, arguments, results, NULL, &error);
      if (done || PyErr_Occurred () != NULL)
        break;
      if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) && PyErr_CheckSignals () == 0)
        continue;
      if (PyErr_Occurred () == NULL)
        PyErr_SetString (PyExc_RuntimeError, error->message);
      break;
    }
  return done;
}
