/* SPDX-License-Identifier: Apache-2.0 */
/* Methods of lists and dicts by their graph semantics: none works in place; one that would change the object gives a new
 * one, which takes its name. */
#include "core/frontends/python/interpreter-private.h"
#include <string.h>

typedef struct
{
  GantryPyFrame *frame;
  PyObject *object, *args, *kwargs;
  PyObject *changed; /* what the object becomes */
} Method;

static PyObject *
argument (const Method *method, Py_ssize_t i)
{
  return i < PyTuple_GET_SIZE (method->args) ? PyTuple_GET_ITEM (method->args, i) : NULL;
}

static PyObject *
copy_list (const Method *method)
{
  return PyList_GetSlice (method->object, 0, PyList_GET_SIZE (method->object));
}

static gboolean
takes (const Method *method, const char *name, Py_ssize_t least, Py_ssize_t most)
{
  Py_ssize_t n = PyTuple_GET_SIZE (method->args);

  if (n >= least && n <= most)
    return TRUE;
  PyErr_Format (PyExc_TypeError, "%s() takes from %zd to %zd arguments (%zd given)", name, least, most, n);
  return FALSE;
}

/* The method of CPython on a copy. */
static PyObject *
on_copy (Method *method, const char *name)
{
  PyObject *copy = PyList_Check (method->object) ? copy_list (method) : PyDict_Copy (method->object);
  PyObject *function = copy != NULL ? PyObject_GetAttrString (copy, name) : NULL;
  PyObject *result = function != NULL ? PyObject_Call (function, method->args, method->kwargs) : NULL;

  Py_XDECREF (function);
  if (result != NULL)
    method->changed = copy;
  else
    Py_XDECREF (copy);
  return result;
}

static PyObject *
constant_index (Method *method, Py_ssize_t i, const char *what)
{
  PyObject *index = argument (method, i);

  if (index == NULL || (PyLong_Check (index) && !PyBool_Check (index)))
    return index;
  PyErr_Format (PyExc_TypeError, "For list.%s, the index has to be a constant integer.", what);
  return NULL;
}

static PyObject *
list_append (Method *method)
{
  return takes (method, "append", 1, 1) ? on_copy (method, "append") : NULL;
}

static PyObject *
list_clear (Method *method)
{
  return on_copy (method, "clear");
}

static PyObject *
list_insert (Method *method)
{
  return takes (method, "insert", 2, 2) && constant_index (method, 0, "insert") != NULL ? on_copy (method, "insert") : NULL;
}

static PyObject *
list_pop (Method *method)
{
  if (!takes (method, "pop", 0, 1) || (PyTuple_GET_SIZE (method->args) == 1 && constant_index (method, 0, "pop") == NULL))
    return NULL;
  return on_copy (method, "pop");
}

static PyObject *
list_reverse (Method *method)
{
  return on_copy (method, "reverse");
}

/* A tensor gives its slices of shape [1], as the document shows. */
static PyObject *
list_extend (Method *method)
{
  PyObject *elements, *target = argument (method, 0);
  gboolean fine;

  if (!takes (method, "extend", 1, 1))
    return NULL;
  if (PyDict_Check (target) || PyUnicode_Check (target))
    {
      PyErr_SetString (PyExc_TypeError, "list.extend takes a tuple, a list or a tensor.");
      return NULL;
    }
  elements = gantry_py_value_check (target) && !gantry_py_is_handle (target) ? _gantry_py_call_hook (method->frame->state, "extend_elements", "O", target)
                                                                             : _gantry_py_elements (method->frame, target);
  if (elements == NULL)
    return NULL;
  method->changed = copy_list (method);
  fine = method->changed != NULL && PyList_SetSlice (method->changed, PyList_GET_SIZE (method->changed), PyList_GET_SIZE (method->changed), elements) == 0;
  Py_DECREF (elements);
  return fine ? Py_NewRef (Py_None) : NULL;
}

/* Of lists and tuples: what is equal to the argument, structures and variables too. */
static PyObject *
sequence_count (Method *method)
{
  return takes (method, "count", 1, 1) ? _gantry_py_call_hook (method->frame->state, "sequence_count", "OO", method->object, argument (method, 0)) : NULL;
}

static PyObject *
sequence_index (Method *method)
{
  return takes (method, "index", 1, 3) ? _gantry_py_call_hook (method->frame->state, "sequence_index", "OO", method->object, method->args) : NULL;
}

static PyObject *
dict_keys (Method *method)
{
  PyObject *list = PyDict_Keys (method->object), *tuple = list != NULL ? PyList_AsTuple (list) : NULL;

  Py_XDECREF (list);
  return tuple;
}

static PyObject *
dict_values (Method *method)
{
  PyObject *list = PyDict_Values (method->object), *tuple = list != NULL ? PyList_AsTuple (list) : NULL;

  Py_XDECREF (list);
  return tuple;
}

static PyObject *
dict_items (Method *method)
{
  return PyDict_Items (method->object);
}

static PyObject *
dict_get (Method *method)
{
  PyObject *value;

  if (!takes (method, "get", 1, 2))
    return NULL;
  value = PyDict_GetItemWithError (method->object, argument (method, 0));
  if (value == NULL && PyErr_Occurred ())
    return NULL;
  if (value == NULL)
    value = argument (method, 1) != NULL ? argument (method, 1) : Py_None;
  return Py_NewRef (value);
}

static PyObject *
dict_has_key (Method *method)
{
  int has = takes (method, "has_key", 1, 1) ? PyDict_Contains (method->object, argument (method, 0)) : -1;

  return has >= 0 ? PyBool_FromLong (has) : NULL;
}

static PyObject *
dict_fromkeys (Method *method)
{
  PyObject *elements, *result;

  if (!takes (method, "fromkeys", 1, 2))
    return NULL;
  elements = _gantry_py_elements (method->frame, argument (method, 0));
  result = elements != NULL ? PyDict_New () : NULL;
  for (Py_ssize_t i = 0; result != NULL && i < PySequence_Fast_GET_SIZE (elements); i++)
    if (PyDict_SetItem (result, PySequence_Fast_GET_ITEM (elements, i), argument (method, 1) != NULL ? argument (method, 1) : Py_None) < 0)
      Py_CLEAR (result);
  Py_XDECREF (elements);
  return result;
}

static PyObject *
dict_clear (Method *method)
{
  return on_copy (method, "clear");
}

static PyObject *
dict_update (Method *method)
{
  return on_copy (method, "update");
}

static PyObject *
dict_pop (Method *method)
{
  return on_copy (method, "pop");
}

static PyObject *
dict_setdefault (Method *method)
{
  return on_copy (method, "setdefault");
}

/* In place on LAX: a list or dict from outside stays itself. */
static const struct
{
  const char *name;
  gboolean of_list, in_place;
  PyObject *(*call) (Method *method);
} methods[] = {
  { "append", TRUE, FALSE, list_append },    { "clear", TRUE, FALSE, list_clear },
  { "insert", TRUE, TRUE, list_insert },     { "pop", TRUE, TRUE, list_pop },
  { "reverse", TRUE, TRUE, list_reverse },   { "extend", TRUE, TRUE, list_extend },
  { "count", TRUE, FALSE, sequence_count },  { "index", TRUE, FALSE, sequence_index },
  { "keys", FALSE, FALSE, dict_keys },       { "values", FALSE, FALSE, dict_values },
  { "items", FALSE, FALSE, dict_items },     { "get", FALSE, FALSE, dict_get },
  { "has_key", FALSE, FALSE, dict_has_key }, { "fromkeys", FALSE, FALSE, dict_fromkeys },
  { "clear", FALSE, TRUE, dict_clear },      { "update", FALSE, TRUE, dict_update },
  { "pop", FALSE, TRUE, dict_pop },          { "setdefault", FALSE, TRUE, dict_setdefault },
};

static int
method_index (PyObject *object, const char *name)
{
  gboolean of_list = PyList_CheckExact (object) || (PyTuple_CheckExact (object) && (g_str_equal (name, "count") || g_str_equal (name, "index")));

  if (!of_list && !PyDict_CheckExact (object))
    return -1;
  for (guint i = 0; i < G_N_ELEMENTS (methods); i++)
    if (methods[i].of_list == of_list && strcmp (methods[i].name, name) == 0)
      return (int) i;
  return -1;
}

/* Returns: FALSE with an exception */
static gboolean rename_all (GantryPyFrame *frame, PyObject *old, PyObject *now);

static gboolean
keep_origin (GantryPyState *state, PyObject *object, PyObject *changed)
{
  PyObject *origin = gantry_py_trace (state)->strict ? NULL : _gantry_py_origin (state, object), *key;
  gboolean fine;

  if (origin == NULL)
    return TRUE;
  _gantry_py_note_origin (state, changed, origin);
  key = Py_BuildValue ("(sN)", "list", PyLong_FromVoidPtr (origin));
  fine = key != NULL && PyDict_SetItem (gantry_py_trace (state)->state, key, changed) == 0;
  Py_XDECREF (key);
  return fine;
}

PyObject *
_gantry_py_container_method (GantryPyFrame *frame, PyObject *object, const char *name, PyObject *args, PyObject *kwargs, PyObject **changed)
{
  Method method = { frame, object, args, kwargs, NULL };
  int index = method_index (object, name);
  PyObject *result;

  *changed = NULL;
  if (index < 0)
    return NULL;
  result = methods[index].call (&method);
  if (result != NULL && method.changed != NULL && methods[index].in_place && !keep_origin (frame->state, object, method.changed))
    Py_CLEAR (result);
  if (result == NULL)
    {
      g_autofree char *called = g_strdup_printf ("%s.%s", methods[index].of_list ? "list" : "dict", name);
      PyObject *self = PyTuple_Pack (1, object), *operands = PySequence_Concat (self, args);

      _gantry_py_refused (frame->state, called, operands);
      Py_DECREF (self);
      Py_DECREF (operands);
      Py_XDECREF (method.changed);
      return NULL;
    }
  *changed = method.changed;
  return result;
}

/* A list or dict that becomes another in place. Each container is walked once: lists may share what they hold. */
typedef struct
{
  PyObject *old, *now;
  GHashTable *known; /* container -> what it becomes, references of both; itself while it is walked: what it holds of itself stays */
} Change;

static PyObject *with_changed (Change *change, PyObject *value);

/* The @i-th item of @copy, or what @key has there, becomes @made. @copy: made from @value where it is the first that differs */
static gboolean
put_changed (PyObject **copy, PyObject *value, Py_ssize_t i, PyObject *key, PyObject *made)
{
  if (*copy == NULL)
    *copy = key != NULL ? PyDict_Copy (value) : PySequence_List (value);
  if (*copy == NULL)
    return FALSE;
  return (key != NULL ? PyDict_SetItem (*copy, key, made) : PyList_SetItem (*copy, i, Py_NewRef (made))) == 0;
}

static PyObject *
with_changed_items (Change *change, PyObject *value)
{
  gboolean is_dict = PyDict_CheckExact (value), fine = TRUE;
  PyObject *copy = NULL, *key = NULL, *item;
  Py_ssize_t at = 0;

  for (Py_ssize_t i = 0; fine; i++)
    {
      PyObject *made;

      if (is_dict ? !PyDict_Next (value, &at, &key, &item) : i >= PySequence_Fast_GET_SIZE (value))
        break;
      if (!is_dict)
        item = PySequence_Fast_GET_ITEM (value, i);
      made = with_changed (change, item);
      fine = made != NULL && (made == item || put_changed (&copy, value, i, key, made));
      Py_XDECREF (made);
    }
  if (!fine)
    Py_CLEAR (copy);
  else if (copy == NULL)
    copy = Py_NewRef (value);
  else if (PyTuple_CheckExact (value))
    Py_SETREF (copy, PyList_AsTuple (copy));
  return copy;
}

/* @value with what is now for the very object that it was, at any depth; the same object where there is none. Returns: a new
 * reference, NULL with an exception */
static PyObject *
with_changed (Change *change, PyObject *value)
{
  PyObject *result;

  if (value == change->old)
    return Py_NewRef (change->now);
  if (!PyTuple_CheckExact (value) && !PyList_CheckExact (value) && !PyDict_CheckExact (value))
    return Py_NewRef (value);
  result = g_hash_table_lookup (change->known, value);
  if (result != NULL)
    return Py_NewRef (result);
  if (Py_EnterRecursiveCall (" in a list that is changed in place") != 0)
    return NULL;
  g_hash_table_insert (change->known, Py_NewRef (value), Py_NewRef (value));
  result = with_changed_items (change, value);
  if (result != NULL && result != value)
    g_hash_table_insert (change->known, Py_NewRef (value), Py_NewRef (result));
  Py_LeaveRecursiveCall ();
  return result;
}

/* What is done in place shows under every name of the function that the list has, alone or inside of another. Returns: FALSE with
 * an exception */
static gboolean
rename_all (GantryPyFrame *frame, PyObject *old, PyObject *now)
{
  g_autoptr (GHashTable) known = g_hash_table_new_full (NULL, NULL, (GDestroyNotify) Py_DecRef, (GDestroyNotify) Py_DecRef);
  Change change = { old, now, known };
  PyObject *names = PyDict_Keys (frame->locals);
  gboolean fine = names != NULL;

  for (Py_ssize_t i = 0; fine && i < PyList_GET_SIZE (names); i++)
    {
      PyObject *name = PyList_GET_ITEM (names, i), *value = PyDict_GetItemWithError (frame->locals, name), *made;

      made = value != NULL ? with_changed (&change, value) : NULL;
      fine = made != NULL;
      if (fine && made != value)
        fine = (Py_TYPE (value) != Py_TYPE (made) || PyTuple_CheckExact (value) || keep_origin (frame->state, value, made))
               && PyDict_SetItem (frame->locals, name, made) == 0 && _gantry_py_rebound (frame->state, frame->locals, name, made) == 0;
      Py_XDECREF (made);
    }
  Py_XDECREF (names);
  return fine;
}

/* A dict from outside that an assignment to an element, or a method, makes another: it is that under each name. What has no name in the
 * function is found by what it is outside. */
int
_gantry_py_change_outside (GantryPyFrame *frame, const GantryPyNode *target, PyObject *object, PyObject *changed)
{
  if (!keep_origin (frame->state, object, changed) || !rename_all (frame, object, changed))
    return -1;
  return target->kind == GANTRY_PY_SUBSCRIPT ? _gantry_py_assign (frame, target, changed) : 0;
}

/* Whether more may have @object than the name that is called by and who asks. */
static gboolean
is_shared (PyObject *object, const GantryPyNode *target)
{
  return target->kind != GANTRY_PY_NAME || Py_REFCNT (object) > 2;
}

static gboolean
is_target (const GantryPyNode *node)
{
  return node->kind == GANTRY_PY_NAME || node->kind == GANTRY_PY_SUBSCRIPT;
}

static PyObject *
arguments_of (GantryPyFrame *frame, const GantryPyNode *node)
{
  PyObject *args = PyTuple_New (node->n_list);

  for (guint i = 0; args != NULL && i < node->n_list; i++)
    {
      PyObject *value = _gantry_py_eval (frame, node->list[i]);

      if (value == NULL)
        {
          Py_DECREF (args);
          return NULL;
        }
      PyTuple_SET_ITEM (args, i, value);
    }
  return args;
}

static PyObject *
keywords_of (GantryPyFrame *frame, const GantryPyNode *node)
{
  PyObject *kwargs = PyDict_New ();

  for (guint i = 0; kwargs != NULL && i < node->n_list2; i++)
    {
      PyObject *value = _gantry_py_eval (frame, node->list2[i]->a), *name = node->list2[i]->name;

      if (value == NULL || (name != NULL && PyDict_SetItem (kwargs, name, value) < 0))
        Py_CLEAR (kwargs);
      Py_XDECREF (value);
    }
  return kwargs;
}

static gboolean
has_star (const GantryPyNode *node)
{
  for (guint i = 0; i < node->n_list; i++)
    if (node->list[i]->kind == GANTRY_PY_STARRED)
      return TRUE;
  return FALSE;
}

PyObject *
_gantry_py_method_call (GantryPyFrame *frame, const GantryPyNode *node, PyObject **callable)
{
  const GantryPyNode *function = node->a;
  PyObject *object, *args, *kwargs, *changed = NULL, *result = NULL;

  *callable = NULL;
  if (function->kind != GANTRY_PY_ATTRIBUTE || has_star (node))
    {
      *callable = _gantry_py_eval (frame, function);
      return NULL;
    }
  object = _gantry_py_eval (frame, function->a);
  if (object == NULL)
    return NULL;
  if (method_index (object, PyUnicode_AsUTF8 (function->name)) < 0)
    {
      *callable = _gantry_py_getattr (frame, object, function->name);
      Py_DECREF (object);
      return NULL;
    }
  args = arguments_of (frame, node);
  kwargs = args != NULL ? keywords_of (frame, node) : NULL;
  if (kwargs != NULL)
    result = _gantry_py_container_method (frame, object, PyUnicode_AsUTF8 (function->name), args, kwargs, &changed);
  if (result != NULL && changed != NULL && !gantry_py_trace (frame->state)->strict && methods[method_index (object, PyUnicode_AsUTF8 (function->name))].in_place
      && is_shared (object, function->a) && !rename_all (frame, object, changed))
    Py_CLEAR (result);
  if (result != NULL && changed != NULL && PyDict_CheckExact (object) && !gantry_py_trace (frame->state)->strict
      && _gantry_py_origin (frame->state, object) != NULL)
    {
      if (_gantry_py_change_outside (frame, function->a, object, changed) < 0)
        Py_CLEAR (result);
    }
  else if (result != NULL && changed != NULL && is_target (function->a) && _gantry_py_assign (frame, function->a, changed) < 0)
    Py_CLEAR (result);
  else if (result != NULL && changed != NULL && function->a->kind == GANTRY_PY_ATTRIBUTE)
    {
      PyObject *owner = _gantry_py_eval (frame, function->a->a);

      if (owner == NULL
          || (!gantry_py_trace (frame->state)->strict && _gantry_py_origin (frame->state, changed) == NULL
              && _gantry_py_setattr (frame, owner, function->a->name, changed) < 0))
        Py_CLEAR (result);
      Py_XDECREF (owner);
    }
  Py_XDECREF (changed);
  Py_XDECREF (args);
  Py_XDECREF (kwargs);
  Py_DECREF (object);
  return result;
}
