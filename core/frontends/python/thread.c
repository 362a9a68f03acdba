/* SPDX-License-Identifier: Apache-2.0 */
/* What one thread is at. There is a record of it while there is something to say, so that none is left of a thread that has ended: CPython
 * tells nobody of that. */
#include "core/frontends/python/trace.h"

static GantryPyThread *
open_record (GantryPyState *state)
{
  GantryPyThread *thread = PyThread_tss_get (&state->thread);

  if (thread == NULL)
    {
      thread = g_new0 (GantryPyThread, 1);
      thread->precision.element = GANTRY_ELEMENT_NONE;
      PyThread_tss_set (&state->thread, thread);
    }
  return thread;
}

static void
close_record (GantryPyState *state, GantryPyThread *thread)
{
  if (thread->trace != NULL || thread->precision.element != GANTRY_ELEMENT_NONE || thread->failed != NULL)
    return;
  PyThread_tss_set (&state->thread, NULL);
  g_free (thread);
}

void
gantry_py_set_trace (GantryPyState *state, GantryTrace *trace)
{
  GantryPyThread *thread = open_record (state);

  thread->trace = trace;
  close_record (state, thread);
}

GantryPyPrecision
gantry_py_set_precision (GantryPyState *state, GantryPyPrecision precision)
{
  GantryPyThread *thread = open_record (state);
  GantryPyPrecision before = thread->precision;

  thread->precision = precision;
  close_record (state, thread);
  return before;
}

void
gantry_py_set_failed (GantryPyState *state, const GantryPyNode *failed, const char *calls)
{
  GantryPyThread *thread = open_record (state);

  thread->failed = failed;
  g_free (thread->calls);
  thread->calls = failed != NULL ? g_strdup (calls) : NULL;
  close_record (state, thread);
}
