/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of objects from outside, and global names, that graphs assign. What a graph reads of them is known while it is made, as
 * all from outside is; but what graphs assign is another thing at the next call. So what is read before it is assigned is a slot of
 * the graph: a tensor in it is an input, anything else is what the graph was made for (see variant.c). What is assigned is written
 * when the graph has run, or, where CPython does something in it, by a host call in the order of the program. */
#include "core/frontends/python/program.h"

PyObject *
_gantry_py_hold (PyObject *owner)
{
  /* An object that keeps its graphs is not kept by them. */
  return PyType_SUPPORTS_WEAKREFS (Py_TYPE (owner)) ? PyWeakref_NewRef (owner, NULL) : Py_NewRef (owner);
}

PyObject *
_gantry_py_held (PyObject *held)
{
  PyObject *owner = PyWeakref_CheckRef (held) ? PyWeakref_GetObject (held) : held;

  return owner != Py_None ? owner : NULL;
}

PyObject *
_gantry_py_outside_now (PyObject *held, PyObject *name)
{
  PyObject *owner = _gantry_py_held (held), *value;

  if (owner == NULL)
    return NULL;
  if (name == Py_None)
    return Py_NewRef (owner);
  if (PyDict_CheckExact (owner))
    return Py_XNewRef (PyDict_GetItem (owner, name));
  value = PyObject_GetAttr (owner, name);
  PyErr_Clear ();
  return value;
}

static const GantryPySlot *
find_slot (const GantryTrace *root, PyObject *key)
{
  for (guint i = 0; root->slots != NULL && i < root->slots->len; i++)
    {
      const GantryPySlot *slot = &g_array_index (root->slots, GantryPySlot, i);

      if (PyObject_RichCompareBool (slot->key, key, Py_EQ) == 1)
        return slot;
    }
  return NULL;
}

static void
note_stale (GantryTrace *root, PyObject *key, PyObject *held, PyObject *name)
{
  PyObject *entry;

  if (find_slot (root, key) != NULL)
    return;
  entry = PyTuple_Pack (3, key, held, name);
  PyList_Append (root->stale, entry);
  Py_DECREF (entry);
}

PyObject *
_gantry_py_outside_input (GantryPyState *state, PyObject *owner, PyObject *name)
{
  GantryTrace *root = gantry_py_trace (state)->root;
  PyObject *key, *found;

  if (root->inputs == NULL)
    return NULL;
  key = _gantry_py_attribute_key (owner, name);
  found = PyDict_GetItem (root->inputs, key);
  Py_DECREF (key);
  return Py_XNewRef (found);
}

void
_gantry_py_note_read (GantryPyState *state, PyObject *owner, PyObject *name, PyObject *value)
{
  GantryTrace *root = gantry_py_trace (state)->root;
  PyObject *key, *held;

  if (root->reads == NULL || PyMethod_Check (value) || PyCFunction_Check (value) || (gantry_py_value_check (value) && ((GantryPyValue *) value)->is_parameter))
    return;
  key = _gantry_py_attribute_key (owner, name);
  if (PyDict_GetItem (root->reads, key) == NULL)
    {
      held = _gantry_py_hold (owner);
      PyDict_SetItem (root->reads, key, held);
      Py_DECREF (held);
    }
  Py_DECREF (key);
}

PyObject *
_gantry_py_outside_before (GantryPyState *state, PyObject *key)
{
  GantryTrace *root = gantry_py_trace (state)->root;
  PyObject *owner, *name, *value, *held;

  if (root->reads == NULL || !PyTuple_Check (key) || !PyLong_Check (PyTuple_GET_ITEM (key, 0)))
    return NULL;
  owner = PyLong_AsVoidPtr (PyTuple_GET_ITEM (key, 0));
  name = PyTuple_GET_ITEM (key, 1);
  if (g_hash_table_contains (root->made, owner))
    return NULL;
  value = _gantry_py_outside_input (state, owner, name);
  if (value != NULL)
    return value;
  held = _gantry_py_hold (owner);
  value = _gantry_py_outside_now (held, name);
  note_stale (root, key, held, name);
  Py_DECREF (held);
  return value != NULL ? value : _gantry_py_undefined_new (state, "External object has no such attribute where a branch does not set it.");
}

/* By CPython, when the graph runs. Returns: FALSE with an exception */
static gboolean
write_by_host (GantryPyState *state, PyObject *owner, PyObject *name, PyObject *value)
{
  PyObject *done, *args;

  if (PyDict_CheckExact (owner))
    done = _gantry_py_call_hook (state, "set_global", "OOO", owner, name, value);
  else
    {
      args = PyTuple_Pack (3, owner, name, value);
      done = gantry_py_host_call (state, _gantry_py_hook (state, "set_attribute"), args, NULL, GANTRY_PY_BOOL);
      Py_DECREF (args);
    }
  Py_XDECREF (done);
  return done != NULL;
}

static void
write_at_end (GantryTrace *root, PyObject *key, PyObject *held, PyObject *name)
{
  PyObject *entry = PyTuple_Pack (2, held, name);

  PyDict_SetItem (root->written, key, entry);
  Py_DECREF (entry);
}

int
_gantry_py_outside_set (GantryPyState *state, PyObject *owner, PyObject *name, PyObject *value)
{
  GantryTrace *root = gantry_py_trace (state)->root;
  PyObject *key, *held;

  if (gantry_py_is_handle (owner))
    return write_by_host (state, owner, name, value) ? 0 : -1;
  key = _gantry_py_attribute_key (owner, name);
  held = _gantry_py_hold (owner);
  if (!root->writes_at_end && !write_by_host (state, owner, name, value))
    {
      Py_DECREF (key);
      Py_DECREF (held);
      return -1;
    }
  if (root->writes_at_end)
    write_at_end (root, key, held, name);
  if (root->reads != NULL && PyDict_GetItem (root->reads, key) != NULL)
    note_stale (root, key, held, name);
  if (PyDict_GetItem (state->written, key) == NULL)
    PyDict_SetItem (state->written, key, Py_None);
  PyDict_SetItem (gantry_py_trace (state)->state, key, value);
  PyList_Append (root->alive, owner);
  root->n_assigned++;
  Py_DECREF (key);
  Py_DECREF (held);
  return 0;
}

/* Inputs of the graph for the slots that are. Returns: FALSE with an exception */
gboolean
_gantry_py_enter_slots (GantryPyState *state, GArray *slots)
{
  GantryTrace *root = gantry_py_trace (state);

  root->slots = slots;
  root->inputs = PyDict_New ();
  root->reads = PyDict_New ();
  root->stale = PyList_New (0);
  for (guint i = 0; i < slots->len; i++)
    {
      const GantryPySlot *slot = &g_array_index (slots, GantryPySlot, i);
      PyObject *value = slot->is_input ? _gantry_py_outside_now (slot->owner, slot->name) : NULL, *input;

      if (value == NULL)
        continue;
      input = _gantry_py_abstract_slot (state, value, PyUnicode_AsUTF8 (slot->name));
      Py_DECREF (value);
      if (input == NULL)
        return FALSE;
      PyDict_SetItem (root->inputs, slot->key, input);
      Py_DECREF (input);
    }
  return TRUE;
}
