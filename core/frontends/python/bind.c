/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a function that is walked and what a call gives for them, with what MindSpore says where they do not fit: of the
 * function of a graph as Python's signatures do, of a function that a graph calls as its inference does. */
#include "core/frontends/python/interpreter-private.h"
#include <string.h>

typedef struct
{
  const GantryPyFrame *frame;
  const GantryPyNode *arguments;
  PyObject *args, *kwargs, *defaults, *kwdefaults;
  gboolean is_entry; /* of the graph */
} Binding;

static Py_ssize_t
n_defaults (const Binding *binding)
{
  return binding->defaults != NULL && binding->defaults != Py_None ? PyTuple_GET_SIZE (binding->defaults) : 0;
}

/* 1 where the first argument is the Cell or object that the function is a method of. */
static Py_ssize_t
n_self (const Binding *binding)
{
  const GantryPyNode *arguments = binding->arguments;

  return arguments->n_list > 0 && PyTuple_GET_SIZE (binding->args) > 0 && PyUnicode_CompareWithASCIIString (arguments->list[0]->name, "self") == 0;
}

/* Whether the function has more than parameters that a call has to give: MindSpore then makes a function for each form of call. */
static gboolean
is_generated (const Binding *binding)
{
  return n_defaults (binding) > 0 || binding->arguments->a != NULL || binding->arguments->b != NULL || binding->arguments->n_list2 > 0
         || binding->kwargs != NULL;
}

static const char *
short_name (const Binding *binding)
{
  const char *dot = strrchr (binding->frame->name, '.');

  return dot != NULL ? dot + 1 : binding->frame->name;
}

static gboolean
wrong_entry (const Binding *binding, Py_ssize_t given)
{
  Py_ssize_t self = n_self (binding), n = (Py_ssize_t) binding->arguments->n_list - self, needed = n - n_defaults (binding);
  gboolean of_cell = self > 0 && strcmp (short_name (binding), "construct") == 0;
  g_autofree char *who = of_cell ? g_strdup ("For 'Cell', the function construct requires") : g_strdup_printf ("Function %s needs", short_name (binding));

  given -= self;
  if (given > n)
    PyErr_Format (PyExc_TypeError, "%s %zd positional argument and %zd default argument, total %zd, but got %zd.", who, needed, n - needed, n, given);
  else
    PyErr_Format (PyExc_TypeError, "%s %zd positional argument, but got %zd.%s", who, needed, given,
                  of_cell ? " When using set_inputs, please make sure that all networks and loss functions are configured with set_inputs." : "");
  return FALSE;
}

/* @missing: (nullable): a parameter without an argument; else there are too many */
static gboolean
wrong_number (const Binding *binding, PyObject *missing)
{
  Py_ssize_t positional = PyTuple_GET_SIZE (binding->args), self = n_self (binding);
  Py_ssize_t n = (Py_ssize_t) (binding->arguments->n_list + binding->arguments->n_list2);

  if (binding->is_entry && binding->kwargs != NULL && missing != NULL)
    PyErr_Format (PyExc_TypeError, "missing a required argument: '%U'", missing);
  else if (binding->is_entry)
    return wrong_entry (binding, positional);
  else if (!is_generated (binding))
    PyErr_Format (PyExc_TypeError, "The parameters number of the function is %zd, but the number of provided arguments is %zd.", n - self, positional - self);
  else if (missing != NULL)
    PyErr_Format (PyExc_RuntimeError, "Miss argument input for parameter:%U", missing);
  else
    PyErr_Format (PyExc_RuntimeError, "Function:%s takes %zd positional arguments, but %zd were given.", short_name (binding), n - self, positional - self);
  return FALSE;
}

static gboolean
bind_positional (PyObject *locals, const Binding *binding)
{
  const GantryPyNode *arguments = binding->arguments;
  Py_ssize_t n = PyTuple_GET_SIZE (binding->args);

  for (guint i = 0; i < arguments->n_list && i < n; i++)
    PyDict_SetItem (locals, arguments->list[i]->name, PyTuple_GET_ITEM (binding->args, i));
  if (n > arguments->n_list && arguments->a == NULL)
    return wrong_number (binding, NULL);
  if (arguments->a != NULL)
    {
      PyObject *more = PyTuple_GetSlice (binding->args, arguments->n_list, n);

      PyDict_SetItem (locals, arguments->a->name, more);
      Py_DECREF (more);
    }
  return TRUE;
}

static gboolean
takes_keyword (const GantryPyNode *arguments, PyObject *name)
{
  for (guint i = 0; i < arguments->n_list; i++)
    if (PyUnicode_Compare (arguments->list[i]->name, name) == 0)
      return TRUE;
  for (guint i = 0; i < arguments->n_list2; i++)
    if (PyUnicode_Compare (arguments->list2[i]->name, name) == 0)
      return TRUE;
  return FALSE;
}

/* The first parameter that only a call gives, and this one does not; (nullable). */
static PyObject *
first_missing (PyObject *locals, const Binding *binding)
{
  Py_ssize_t needed = (Py_ssize_t) binding->arguments->n_list - n_defaults (binding);

  for (Py_ssize_t i = 0; i < needed; i++)
    {
      PyObject *name = binding->arguments->list[i]->name;

      if (PyDict_Contains (locals, name) != 1 && PyDict_Contains (binding->kwargs, name) != 1)
        return name;
    }
  return NULL;
}

static gboolean
bind_keyword (PyObject *locals, const Binding *binding, PyObject *name, PyObject *value)
{
  if (PyDict_Contains (locals, name) == 1)
    {
      PyErr_Format (PyExc_TypeError, binding->is_entry ? "multiple values for argument '%U'" : "Multiply values for specific argument: %U", name);
      return FALSE;
    }
  return PyDict_SetItem (locals, name, value) == 0;
}

static gboolean
bind_keywords (PyObject *locals, const Binding *binding)
{
  const GantryPyNode *arguments = binding->arguments;
  PyObject *name, *value, *more = arguments->b != NULL ? PyDict_New () : NULL, *missing;
  Py_ssize_t at = 0;
  gboolean fine = TRUE;

  while (fine && binding->kwargs != NULL && PyDict_Next (binding->kwargs, &at, &name, &value))
    if (takes_keyword (arguments, name))
      fine = bind_keyword (locals, binding, name, value);
    else if (more != NULL)
      fine = PyDict_SetItem (more, name, value) == 0;
    else
      {
        missing = binding->is_entry ? first_missing (locals, binding) : NULL;
        if (missing != NULL)
          return wrong_number (binding, missing);
        PyErr_Format (binding->is_entry ? PyExc_TypeError : PyExc_RuntimeError,
                      binding->is_entry ? "got an unexpected keyword argument '%U'" : "Got an unexpected keyword argument '%U'", name);
        fine = FALSE;
      }
  if (more != NULL)
    {
      PyDict_SetItem (locals, arguments->b->name, more);
      Py_DECREF (more);
    }
  return fine;
}

static gboolean
bind_defaults (PyObject *locals, const Binding *binding)
{
  const GantryPyNode *arguments = binding->arguments;
  PyObject *kwdefaults = binding->kwdefaults != Py_None ? binding->kwdefaults : NULL;

  for (guint i = 0; i < arguments->n_list; i++)
    {
      Py_ssize_t index = (Py_ssize_t) i - (Py_ssize_t) arguments->n_list + n_defaults (binding);

      if (PyDict_Contains (locals, arguments->list[i]->name))
        continue;
      if (index < 0)
        return wrong_number (binding, arguments->list[i]->name);
      PyDict_SetItem (locals, arguments->list[i]->name, PyTuple_GET_ITEM (binding->defaults, index));
    }
  for (guint i = 0; i < arguments->n_list2; i++)
    {
      PyObject *name = arguments->list2[i]->name;
      PyObject *value = kwdefaults != NULL ? PyDict_GetItem (kwdefaults, name) : NULL;

      if (PyDict_Contains (locals, name))
        continue;
      if (value == NULL)
        return wrong_number (binding, name);
      PyDict_SetItem (locals, name, value);
    }
  return TRUE;
}

gboolean
_gantry_py_bind (GantryPyFrame *frame, PyObject *args, PyObject *kwargs, PyObject *defaults, PyObject *kwdefaults)
{
  const GantryTrace *trace = gantry_py_trace (frame->state);
  const Binding binding = {
    frame, frame->node->a, args, kwargs != NULL && PyDict_GET_SIZE (kwargs) > 0 ? kwargs : NULL, defaults, kwdefaults, trace == trace->root && trace->depth == 1
  };

  return bind_positional (frame->locals, &binding) && bind_keywords (frame->locals, &binding) && bind_defaults (frame->locals, &binding);
}
