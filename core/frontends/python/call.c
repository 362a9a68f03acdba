/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: whose code is it, and who walks it. The user's functions are interpreted; Gantry's own are called, for they are written
 * over operations that know variables; everything else is CPython's: at once where all arguments are known, at run
 * time where they are not. */
#include "core/frontends/python/program.h"
#include <string.h>

PyObject *
_gantry_py_hook (GantryPyState *state, const char *name)
{
  PyObject *hook = PyDict_GetItemString (state->hooks, name);

  g_assert (hook != NULL);
  return hook;
}

PyObject *
_gantry_py_call_hook (GantryPyState *state, const char *name, const char *format, ...)
{
  PyObject *hook = _gantry_py_hook (state, name), *args, *result;
  g_autofree char *tuple = g_strdup_printf ("(%s)", format);
  va_list list;

  va_start (list, format);
  args = Py_VaBuildValue (tuple, list);
  va_end (list);
  result = args != NULL ? PyObject_CallObject (hook, args) : NULL;
  Py_XDECREF (args);
  return result;
}

void
_gantry_py_refused (GantryPyState *state, const char *name, PyObject *args)
{
  PyObject *type, *value, *traceback, *refusal;

  if (!PyErr_ExceptionMatches (PyExc_Exception) || PyErr_ExceptionMatches (_gantry_py_hook (state, "NeedsData")))
    return;
  PyErr_Fetch (&type, &value, &traceback);
  PyErr_NormalizeException (&type, &value, &traceback);
  refusal = _gantry_py_call_hook (state, "refusal", "sOOO", name, args, value, gantry_py_trace (state)->strict ? Py_True : Py_False);
  PyErr_Clear ();
  if (refusal == NULL || refusal == value)
    PyErr_Restore (type, value, traceback);
  else
    {
      PyErr_SetObject ((PyObject *) Py_TYPE (refusal), refusal);
      Py_DECREF (type);
      Py_DECREF (value);
      Py_XDECREF (traceback);
    }
  Py_XDECREF (refusal);
}

/* Whose code */

static gboolean
is_listed (const char *variable, const char *module)
{
  const char *value = g_getenv (variable);
  g_auto (GStrv) names = value != NULL ? g_strsplit (value, ",", -1) : NULL;

  for (guint i = 0; names != NULL && names[i] != NULL; i++)
    {
      gsize length = strlen (g_strstrip (names[i]));

      if (length > 0 && strncmp (module, names[i], length) == 0 && (module[length] == '\0' || module[length] == '.'))
        return TRUE;
    }
  return FALSE;
}

static gboolean
is_ours (const char *module)
{
  static const char *const names[] = { "mindspore", "jax", "optax", "_gantry" };
  gsize length = strcspn (module, ".");

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strlen (names[i]) == length && strncmp (module, names[i], length) == 0)
      return TRUE;
  return FALSE;
}

static GantryPyAuthor
author_of_file (const char *file)
{
  if (g_str_has_prefix (file, "<gantry>"))
    return GANTRY_PY_OURS;
  if (strstr (file, "/site-packages/") != NULL || strstr (file, "/dist-packages/") != NULL || g_str_has_prefix (file, "<frozen")
      || strstr (file, "/lib/python3.") != NULL)
    return GANTRY_PY_THIRD_PARTY;
  return GANTRY_PY_USERS;
}

static GantryPyAuthor
author_of_module (PyObject *name)
{
  PyObject *modules = PyImport_GetModuleDict (), *module = PyDict_GetItem (modules, name), *file;
  GantryPyAuthor author = GANTRY_PY_THIRD_PARTY;

  if (strcmp (PyUnicode_AsUTF8 (name), "__main__") == 0)
    return GANTRY_PY_USERS;
  file = module != NULL ? PyObject_GetAttrString (module, "__file__") : NULL;
  if (file != NULL && PyUnicode_Check (file))
    author = author_of_file (PyUnicode_AsUTF8 (file));
  PyErr_Clear ();
  Py_XDECREF (file);
  return author;
}

/* What jit_ignore was given: CPython calls it. */
static gboolean
is_ignored (PyObject *function)
{
  PyObject *own = PyFunction_Check (function) ? ((PyFunctionObject *) function)->func_dict : NULL;

  return own != NULL && PyDict_GetItemString (own, "__jit_ignore__") != NULL;
}

GantryPyAuthor
_gantry_py_author (GantryPyState *state, PyObject *object)
{
  PyObject *module = PyFunction_Check (object) ? Py_XNewRef (PyFunction_GET_MODULE (object)) : PyObject_GetAttrString (object, "__module__");
  const char *name = module != NULL && PyUnicode_Check (module) ? PyUnicode_AsUTF8 (module) : "builtins";
  GantryPyAuthor author;

  PyErr_Clear ();
  if (is_ours (name))
    author = GANTRY_PY_OURS;
  else if (is_ignored (object))
    author = GANTRY_PY_THIRD_PARTY;
  else if (is_listed ("MS_JIT_IGNORE_MODULES", name))
    author = GANTRY_PY_THIRD_PARTY;
  else if (is_listed ("MS_JIT_MODULES", name))
    author = GANTRY_PY_USERS;
  else if (PyFunction_Check (object) && *PyUnicode_AsUTF8 (((PyCodeObject *) PyFunction_GET_CODE (object))->co_filename) != '<')
    author = author_of_file (PyUnicode_AsUTF8 (((PyCodeObject *) PyFunction_GET_CODE (object))->co_filename));
  else
    author = module != NULL && PyUnicode_Check (module) ? author_of_module (module) : GANTRY_PY_THIRD_PARTY;
  Py_XDECREF (module);
  return author;
}

gboolean
_gantry_py_is_graph_object (GantryPyState *state, PyObject *object)
{
  PyObject *marked;

  if (PyObject_IsInstance (object, state->cell) == 1 || PyObject_IsInstance (object, state->primitive) == 1)
    return TRUE;
  PyErr_Clear ();
  if (PyType_Check (object) || PyModule_Check (object))
    return FALSE;
  marked = PyObject_GetAttrString ((PyObject *) Py_TYPE (object), "__jit_class__");
  PyErr_Clear ();
  Py_XDECREF (marked);
  return marked != NULL;
}

/* Calls */

static PyObject *
prepend (PyObject *first, PyObject *args)
{
  Py_ssize_t n = PyTuple_GET_SIZE (args);
  PyObject *all = PyTuple_New (n + 1);

  PyTuple_SET_ITEM (all, 0, Py_NewRef (first));
  for (Py_ssize_t i = 0; i < n; i++)
    PyTuple_SET_ITEM (all, i + 1, Py_NewRef (PyTuple_GET_ITEM (args, i)));
  return all;
}

PyObject *
_gantry_py_call1 (GantryPyFrame *frame, PyObject *callable, PyObject *arg)
{
  PyObject *args = PyTuple_Pack (1, arg), *result = _gantry_py_call (frame, callable, args, NULL);

  Py_DECREF (args);
  return result;
}

static gboolean
any_handle (PyObject *args, PyObject *kwargs)
{
  return gantry_py_holds_handle (args) || (kwargs != NULL && gantry_py_holds_handle (kwargs));
}

gboolean
_gantry_py_needs_data (GantryPyState *state)
{
  if (gantry_py_trace (state)->root->record || !PyErr_ExceptionMatches (_gantry_py_hook (state, "NeedsData")))
    return FALSE;
  PyErr_Clear ();
  return TRUE;
}

/* Gantry's own code is called; with an object of the run among the arguments it runs then, eagerly. */
static PyObject *
call_ours (GantryPyFrame *frame, PyObject *callable, PyObject *args, PyObject *kwargs)
{
  if (any_handle (args, kwargs))
    return gantry_py_host_call (frame->state, callable, args, kwargs, GANTRY_PY_HANDLE);
  {
    PyObject *result = PyObject_Call (callable, args, kwargs);

    return result == NULL && _gantry_py_needs_data (frame->state) ? gantry_py_host_call (frame->state, callable, args, kwargs, GANTRY_PY_HANDLE) : result;
  }
}

static PyObject *
refuse (GantryPyFrame *frame, PyObject *callable)
{
  g_autofree char *text = gantry_py_trace (frame->state)->place != NULL ? gantry_py_node_text (gantry_py_trace (frame->state)->place) : g_strdup ("");
  const char *builtin = _gantry_py_builtin_name (callable);

  if (builtin != NULL)
    return PyErr_Format (PyExc_RuntimeError,
                         "The builtin function '%s' is not supported in graph mode at jit_syntax_level STRICT. "
                         "Try to set jit_syntax_level to LAX.",
                         builtin);
  return PyErr_Format (PyExc_RuntimeError,
                       "'%s' calls what is not part of a graph, which jit_syntax_level STRICT does not allow. "
                       "Try to set jit_syntax_level to LAX.",
                       text);
}

/* What the graph may have changed before. */
static gboolean
holds_parameter_or_record (GantryPyState *state, PyObject *args)
{
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE (args); i++)
    {
      PyObject *argument = PyTuple_GET_ITEM (args, i);

      if (gantry_py_value_check (argument) ? ((GantryPyValue *) argument)->is_parameter : _gantry_py_is_record (state, argument))
        return TRUE;
    }
  return FALSE;
}

/* What STRICT has of CPython's own: a method of a string that is known (those that it has none of are refused when they are read), and
 * dict.fromkeys; what is given variables is refused as any script is. */
static gboolean
is_of_strict (PyObject *callable, PyObject *args)
{
  PyObject *self = PyCFunction_Check (callable) ? ((PyCFunctionObject *) callable)->m_self : NULL;

  return gantry_py_holds_variable (args) || (self != NULL && (PyUnicode_Check (self) || self == (PyObject *) &PyDict_Type));
}

/* The code of others. */
static PyObject *
call_external (GantryPyFrame *frame, PyObject *callable, PyObject *args, PyObject *kwargs)
{
  static const char *const refused[] = { "eval", "exec", "compile", NULL };

  if (PyCFunction_Check (callable) && g_strv_contains (refused, ((PyCFunctionObject *) callable)->m_ml->ml_name)
      && ((PyCFunctionObject *) callable)->m_self != NULL && PyModule_Check (((PyCFunctionObject *) callable)->m_self))
    return PyErr_Format (PyExc_RuntimeError, "The builtin function '%s' is not supported in graph mode.", ((PyCFunctionObject *) callable)->m_ml->ml_name);
  if (gantry_py_trace (frame->state)->strict && !PyExceptionClass_Check (callable) && !is_of_strict (callable, args))
    return refuse (frame, callable);
  if (PyExceptionClass_Check (callable) && !gantry_py_holds_variable (args))
    return PyObject_Call (callable, args, kwargs);
  if (gantry_py_holds_variable (args) || (kwargs != NULL && gantry_py_holds_variable (kwargs)) || holds_parameter_or_record (frame->state, args))
    return gantry_py_host_call (frame->state, callable, args, kwargs, GANTRY_PY_HANDLE);
  return PyObject_Call (callable, args, kwargs);
}

static PyObject *
call_user_function (GantryPyFrame *frame, PyObject *function, PyObject *args, PyObject *kwargs)
{
  switch (_gantry_py_author (frame->state, function))
    {
    case GANTRY_PY_OURS: return call_ours (frame, function, args, kwargs);
    case GANTRY_PY_USERS: return _gantry_py_call_function (frame, function, args, kwargs);
    default: return call_external (frame, function, args, kwargs);
    }
}

/* A classmethod of a Cell gets no class: what the document says of it. */
static PyObject *
call_method (GantryPyFrame *frame, PyObject *method, PyObject *args, PyObject *kwargs)
{
  PyObject *self = PyMethod_GET_SELF (method), *function = PyMethod_GET_FUNCTION (method), *all, *result;

  if (PyType_Check (self) && PyFunction_Check (function) && PyType_IsSubtype ((PyTypeObject *) self, (PyTypeObject *) frame->state->cell)
      && _gantry_py_author (frame->state, function) == GANTRY_PY_USERS)
    return _gantry_py_call_function (frame, function, args, kwargs);
  all = prepend (self, args);
  result = PyFunction_Check (function) ? call_user_function (frame, function, all, kwargs) : _gantry_py_call (frame, function, all, kwargs);
  Py_DECREF (all);
  return result;
}

static const char *
ordinal (Py_ssize_t n)
{
  static const char *const words[] = { "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth" };

  return n < (Py_ssize_t) G_N_ELEMENTS (words) ? words[n] : "last";
}

static PyObject *
call_primitive (GantryPyFrame *frame, PyObject *object, PyObject *args, PyObject *kwargs)
{
  if (kwargs != NULL)
    return PyErr_Format (PyExc_ValueError,
                         "For '%s', the %s input type should be tensor or scalar, but got invalid abstract "
                         "type:AbstractKeywordArg.",
                         Py_TYPE (object)->tp_name, ordinal (PyTuple_GET_SIZE (args)));
  return call_ours (frame, object, args, kwargs);
}

static PyObject *
call_cell (GantryPyFrame *frame, PyObject *object, PyObject *args, PyObject *kwargs)
{
  PyObject *construct = PyObject_GetAttrString (object, "_graph_construct"), *result;

  if (construct == NULL)
    return NULL;
  result = _gantry_py_call_construct (frame, object, construct, args, kwargs);
  Py_DECREF (construct);
  if (result != NULL && gantry_py_trace (frame->state)->gradient != NULL && PyObject_HasAttrString (object, "bprop"))
    {
      PyObject *bprop = PyObject_GetAttrString (object, "bprop");

      Py_SETREF (result, gantry_py_custom_gradient (frame->state, bprop, args, 0, result));
      Py_DECREF (bprop);
    }
  return result;
}

/* Instances of the user's own classes. */
static PyObject *
call_object (GantryPyFrame *frame, PyObject *object, PyObject *args, PyObject *kwargs)
{
  PyObject *method = PyObject_GetAttrString ((PyObject *) Py_TYPE (object), "__call__"), *all, *result;

  if (method == NULL)
    return PyErr_Format (PyExc_ValueError, "The object is not callable. Please check code.");
  if (!PyFunction_Check (method) || _gantry_py_author (frame->state, method) != GANTRY_PY_USERS)
    {
      Py_DECREF (method);
      return call_external (frame, object, args, kwargs);
    }
  all = prepend (object, args);
  result = _gantry_py_call (frame, method, all, kwargs);
  Py_DECREF (all);
  Py_DECREF (method);
  return result;
}

static PyObject *
make_cell (GantryPyFrame *frame, PyObject *type, PyObject *args, PyObject *kwargs)
{
  GantryTrace *root = gantry_py_trace (frame->state)->root;
  PyObject *cell = PyObject_Call (type, args, kwargs);

  if (cell == NULL)
    return NULL;
  g_hash_table_add (root->made, cell);
  PyList_Append (root->kept, cell);
  return cell;
}

static PyObject *
make_record (GantryPyFrame *frame, PyObject *type, PyObject *args, PyObject *kwargs)
{
  PyObject *object = PyObject_Call (type, args, kwargs);

  if (object != NULL && !gantry_py_trace (frame->state)->strict)
    _gantry_py_add_record (frame->state, object);
  return object;
}

static PyObject *
call_type (GantryPyFrame *frame, PyObject *type, PyObject *args, PyObject *kwargs)
{
  GantryPyState *state = frame->state;
  GantryPyAuthor author = _gantry_py_author (state, type);
  PyObject *marked;

  if (strcmp (((PyTypeObject *) type)->tp_name, "functools.partial") == 0)
    return PyObject_Call (type, args, kwargs); /* it holds what it is given: call_partial() unpacks it */
  if (author == GANTRY_PY_OURS && !PyType_IsSubtype ((PyTypeObject *) type, (PyTypeObject *) state->cell) && !PyExceptionClass_Check (type))
    return any_handle (args, kwargs) ? gantry_py_host_call (state, type, args, kwargs, GANTRY_PY_HANDLE) : PyObject_Call (type, args, kwargs);
  if (PyType_IsSubtype ((PyTypeObject *) type, (PyTypeObject *) state->cell) || PyType_IsSubtype ((PyTypeObject *) type, (PyTypeObject *) state->primitive))
    return make_cell (frame, type, args, kwargs);
  marked = PyObject_GetAttrString (type, "__jit_class__");
  PyErr_Clear ();
  Py_XDECREF (marked);
  if (marked != NULL)
    return make_record (frame, type, args, kwargs);
  if (author == GANTRY_PY_USERS && !PyExceptionClass_Check (type))
    {
      if (gantry_py_trace (state)->strict)
        return PyErr_Format (PyExc_TypeError, "Do not support to convert %R object into graph node.", type);
      return any_handle (args, kwargs) ? call_external (frame, type, args, kwargs) : make_record (frame, type, args, kwargs);
    }
  return call_external (frame, type, args, kwargs);
}

static PyObject *
call_partial (GantryPyFrame *frame, PyObject *partial, PyObject *args, PyObject *kwargs)
{
  PyObject *function = PyObject_GetAttrString (partial, "func"), *first = PyObject_GetAttrString (partial, "args");
  PyObject *named = PyObject_GetAttrString (partial, "keywords"), *all = NULL, *merged = NULL, *result = NULL;

  if (named != NULL)
    {
      all = PySequence_Concat (first, args);
      merged = PyDict_Copy (named);
      if (kwargs != NULL)
        PyDict_Update (merged, kwargs);
      result = _gantry_py_call (frame, function, all, PyDict_GET_SIZE (merged) > 0 ? merged : NULL);
    }
  Py_XDECREF (function);
  Py_XDECREF (first);
  Py_XDECREF (named);
  Py_XDECREF (all);
  Py_XDECREF (merged);
  return result;
}

static gboolean
is_partial (PyObject *object)
{
  return strcmp (Py_TYPE (object)->tp_name, "functools.partial") == 0;
}

/* What `jit` and its like made of a function: the function is what is walked. Returns: a new reference (nullable) */
static PyObject *
unwrapped (PyObject *object)
{
  PyObject *inner;

  if (PyType_Check (object))
    return NULL;
  inner = PyObject_GetAttrString (object, "__gantry_function__");
  PyErr_Clear ();
  return inner;
}

PyObject *
_gantry_py_call (GantryPyFrame *frame, PyObject *callable, PyObject *args, PyObject *kwargs)
{
  GantryPyState *state = frame->state;
  gboolean known = FALSE;
  PyObject *result, *inner;

  if (_gantry_py_is_closure (state, callable))
    return _gantry_py_call_closure (frame, callable, args, kwargs);
  if (gantry_py_is_handle (callable))
    {
      PyObject *all = prepend (callable, args);

      result = gantry_py_host_call (state, _gantry_py_hook (state, "call_object"), all, kwargs, GANTRY_PY_HANDLE);
      Py_DECREF (all);
      return result;
    }
  if (!PyCallable_Check (callable))
    return PyErr_Format (PyExc_ValueError, "The object is not callable. Please check code.");
  result = _gantry_py_call_builtin (frame, callable, args, kwargs, &known);
  if (known)
    return result;
  if (PyFunction_Check (callable))
    return call_user_function (frame, callable, args, kwargs);
  if (PyMethod_Check (callable))
    return call_method (frame, callable, args, kwargs);
  if (PyType_Check (callable))
    return call_type (frame, callable, args, kwargs);
  if (PyObject_TypeCheck (callable, (PyTypeObject *) state->cell))
    return call_cell (frame, callable, args, kwargs);
  if (PyObject_TypeCheck (callable, (PyTypeObject *) state->primitive))
    return call_primitive (frame, callable, args, kwargs);
  if (is_partial (callable))
    return call_partial (frame, callable, args, kwargs);
  inner = unwrapped (callable);
  if (inner != NULL)
    {
      result = _gantry_py_call (frame, inner, args, kwargs);
      Py_DECREF (inner);
      return result;
    }
  if (PyCFunction_Check (callable) || Py_IS_TYPE (callable, &PyMethodDescr_Type) || Py_IS_TYPE (callable, &PyWrapperDescr_Type))
    return call_external (frame, callable, args, kwargs);
  if (_gantry_py_author (state, (PyObject *) Py_TYPE (callable)) == GANTRY_PY_OURS)
    return call_ours (frame, callable, args, kwargs);
  return call_object (frame, callable, args, kwargs);
}
