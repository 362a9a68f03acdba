/* SPDX-License-Identifier: Apache-2.0 */
/* The graphs of one signature: more than one where they assign attributes of outside, or change lists in place. Such a graph holds for
 * what its slots were when it was made; a slot that is an input holds for any value of its type and shape. A number that has changed
 * once becomes an input, unless the graph needs to know it. */
#include "core/frontends/python/program.h"

#define FAMILY "gantry.family"
#define MOST_VARIANTS 32 /* the oldest goes */
#define MOST_TRACES 16   /* of one call: each finds slots that the one before did not know */

typedef struct
{
  GArray *slots;
  PyObject *variants; /* list of (capsule of a program, tuple of what each slot was), newest last */
  PyObject *held;     /* what the signature names by address */
  gboolean by_host;   /* CPython does something in these graphs: assignments stand in its order */
} Family;

static void
slot_clear (gpointer data)
{
  GantryPySlot *slot = data;

  Py_CLEAR (slot->key);
  Py_CLEAR (slot->owner);
  Py_CLEAR (slot->name);
  Py_CLEAR (slot->seen);
}

static void
family_free (PyObject *capsule)
{
  Family *family = PyCapsule_GetPointer (capsule, FAMILY);

  g_array_unref (family->slots);
  Py_DECREF (family->variants);
  Py_XDECREF (family->held);
  g_free (family);
}

static PyObject *
family_new (const GantryPyCall *call)
{
  Family *family = g_new0 (Family, 1);

  family->slots = g_array_new (FALSE, TRUE, sizeof (GantryPySlot));
  g_array_set_clear_func (family->slots, slot_clear);
  family->variants = PyList_New (0);
  family->held = Py_BuildValue ("(OO)", call->args, call->kwargs != NULL ? call->kwargs : Py_None);
  return PyCapsule_New (family, FAMILY, family_free);
}

static void
capsule_free (PyObject *capsule)
{
  gantry_py_program_free (PyCapsule_GetPointer (capsule, GANTRY_PY_PROGRAM));
}

/* Whoever imports is given the graph that takes its place. */
static void
forget_graph (const GantryPyProgram *program)
{
  GPtrArray *graphs = program->state->graphs;

  for (guint i = 0; graphs != NULL && i < graphs->len; i++)
    if (((const GantryPythonGraph *) g_ptr_array_index (graphs, i))->module == program->module)
      {
        g_ptr_array_remove_index (graphs, i);
        return;
      }
}

static void
drop_variants (Family *family)
{
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE (family->variants); i++)
    forget_graph (PyCapsule_GetPointer (PyTuple_GET_ITEM (PyList_GET_ITEM (family->variants, i), 0), GANTRY_PY_PROGRAM));
  PyList_SetSlice (family->variants, 0, PY_SSIZE_T_MAX, NULL);
}

/* What the slot is now, as part of a signature; of an input the variables go to @leaves. Returns: NULL with an exception */
static PyObject *
slot_signature (GantryPyState *state, const GantryPySlot *slot, GPtrArray *leaves, PyObject *values)
{
  PyObject *value = _gantry_py_outside_now (slot->owner, slot->name), *result;

  if (value == NULL)
    return PyUnicode_FromString ("missing");
  PyList_Append (values, value); /* until its leaves have been read */
  result = _gantry_py_slot_signature (state, value, slot->is_input, leaves);
  Py_DECREF (value);
  return result;
}

/* Returns: a tuple, NULL with an exception */
static PyObject *
slots_now (GantryPyState *state, const Family *family, GPtrArray *leaves, PyObject *values)
{
  PyObject *now = PyTuple_New (family->slots->len);

  for (guint i = 0; now != NULL && i < family->slots->len; i++)
    {
      PyObject *item = slot_signature (state, &g_array_index (family->slots, GantryPySlot, i), leaves, values);

      if (item == NULL)
        Py_CLEAR (now);
      else
        PyTuple_SET_ITEM (now, i, item);
    }
  return now;
}

static gboolean
holds_tensor (PyObject *value, guint depth)
{
  PyObject *key, *item;
  Py_ssize_t at = 0;
  gboolean found = FALSE;

  if (gantry_py_value_check (value))
    return TRUE;
  if (depth > 8)
    return FALSE;
  if (PyDict_CheckExact (value))
    while (!found && PyDict_Next (value, &at, &key, &item))
      found = holds_tensor (item, depth + 1);
  else if (PyTuple_CheckExact (value) || PyList_CheckExact (value))
    for (; !found && at < PySequence_Fast_GET_SIZE (value); at++)
      found = holds_tensor (PySequence_Fast_GET_ITEM (value, at), depth + 1);
  return found;
}

static void
add_slot (Family *family, PyObject *key, PyObject *owner, PyObject *name)
{
  GantryPySlot slot = { Py_NewRef (key), Py_NewRef (owner), Py_NewRef (name), NULL, FALSE, FALSE };
  PyObject *value = name != Py_None ? _gantry_py_outside_now (owner, name) : NULL;

  slot.is_input = value != NULL && holds_tensor (value, 0);
  Py_XDECREF (value);
  g_array_append_val (family->slots, slot);
  drop_variants (family);
}

static gboolean
has_slot (const Family *family, PyObject *key)
{
  for (guint i = 0; i < family->slots->len; i++)
    if (PyObject_RichCompareBool (g_array_index (family->slots, GantryPySlot, i).key, key, Py_EQ) == 1)
      return TRUE;
  return FALSE;
}

/* Another graph has assigned what this one was made for. */
static gboolean
was_written (GantryPyState *state, Family *family, GantryPyProgram *program)
{
  PyObject *key, *held;
  Py_ssize_t at = 0;
  gboolean found = FALSE;

  if (program->n_written == PyDict_GET_SIZE (state->written))
    return FALSE;
  program->n_written = PyDict_GET_SIZE (state->written);
  while (PyDict_Next (program->reads, &at, &key, &held))
    if (PyDict_GetItem (state->written, key) != NULL && !has_slot (family, key))
      {
        found = TRUE;
        add_slot (family, key, held, PyTuple_GET_ITEM (key, 1));
      }
  return found;
}

/* Slots are told apart by the address of their owner: where that is gone, what stands there now is another object, and the graphs that
 * were made for the one before do not hold. */
static void
drop_dead_slots (Family *family)
{
  for (guint i = family->slots->len; i-- > 0;)
    if (_gantry_py_held (g_array_index (family->slots, GantryPySlot, i).owner) == NULL)
      {
        g_array_remove_index (family->slots, i);
        drop_variants (family);
      }
}

/* Returns: (nullable): a new reference to the capsule of a graph that holds now; then its inputs are added to @leaves */
static PyObject *
find_variant (GantryPyState *state, Family *family, GPtrArray *leaves, PyObject *values)
{
  guint n_leaves = leaves->len;
  PyObject *now, *found = NULL;

  drop_dead_slots (family);
  now = slots_now (state, family, leaves, values);
  for (Py_ssize_t i = PyList_GET_SIZE (family->variants) - 1; now != NULL && found == NULL && i >= 0; i--)
    {
      PyObject *variant = PyList_GET_ITEM (family->variants, i);

      if (PyObject_RichCompareBool (PyTuple_GET_ITEM (variant, 1), now, Py_EQ) != 1)
        continue;
      found = Py_NewRef (PyTuple_GET_ITEM (variant, 0));
      if (was_written (state, family, PyCapsule_GetPointer (found, GANTRY_PY_PROGRAM)))
        {
          Py_CLEAR (found);
          break;
        }
    }
  Py_XDECREF (now);
  if (found == NULL)
    g_ptr_array_set_size (leaves, n_leaves);
  return found;
}

/* A number that has changed since the last graph was made is an input from now on. Returns: whether there was one */
static void
promote (Family *family)
{
  for (guint i = 0; i < family->slots->len; i++)
    {
      GantryPySlot *slot = &g_array_index (family->slots, GantryPySlot, i);
      PyObject *now = _gantry_py_outside_now (slot->owner, slot->name);

      if (!slot->is_input && !slot->is_needed && now != NULL && slot->seen != NULL && Py_TYPE (now) == Py_TYPE (slot->seen)
          && (PyLong_CheckExact (now) || PyFloat_CheckExact (now)) && PyObject_RichCompareBool (now, slot->seen, Py_EQ) != 1)
        {
          slot->is_input = TRUE;
          drop_variants (family);
        }
      Py_XDECREF (now);
    }
}

/* The graph cannot be made without knowing what the slots hold. Returns: whether that can be the reason */
static gboolean
make_needed (Family *family)
{
  gboolean any = FALSE;

  for (guint i = 0; i < family->slots->len; i++)
    {
      GantryPySlot *slot = &g_array_index (family->slots, GantryPySlot, i);

      any = any || slot->is_input;
      slot->is_needed = slot->is_needed || slot->is_input;
      slot->is_input = FALSE;
    }
  return any && PyErr_ExceptionMatches (PyExc_Exception);
}

/* Returns: whether the graph has to be made again, for slots that it has found */
static gboolean
take_stale (Family *family, const GantryPyProgram *program)
{
  gboolean again = FALSE;

  for (Py_ssize_t i = 0; i < PyList_GET_SIZE (program->stale); i++)
    {
      PyObject *entry = PyList_GET_ITEM (program->stale, i), *key = PyTuple_GET_ITEM (entry, 0);

      if (has_slot (family, key))
        continue;
      add_slot (family, key, PyTuple_GET_ITEM (entry, 1), PyTuple_GET_ITEM (entry, 2));
      again = again || g_array_index (family->slots, GantryPySlot, family->slots->len - 1).is_input;
    }
  if (program->is_out_of_order)
    {
      again = again || !family->by_host;
      family->by_host = TRUE;
    }
  return again;
}

static GantryPyProgram *
trace (GantryPyState *state, Family *family, const GantryPyCall *call)
{
  GantryPyProgram *program = NULL;

  promote (family);
  for (guint i = 0; i < MOST_TRACES; i++)
    {
      program = gantry_py_trace_call (state, call->callable, call->args, call->kwargs, call->strict, family->slots, !family->by_host);
      if (program == NULL && !make_needed (family))
        return NULL;
      if (program != NULL && !take_stale (family, program))
        return program;
      PyErr_Clear ();
      g_clear_pointer (&program, gantry_py_program_free);
    }
  PyErr_SetString (PyExc_RuntimeError, "the attributes that this graph reads and assigns are others each time that it is made");
  return NULL;
}

/* What the signatures of known slots name by address. */
static PyObject *
known_values (const Family *family)
{
  PyObject *known = PyList_New (0);

  for (guint i = 0; i < family->slots->len; i++)
    {
      const GantryPySlot *slot = &g_array_index (family->slots, GantryPySlot, i);
      PyObject *value = !slot->is_input ? _gantry_py_outside_now (slot->owner, slot->name) : NULL;
      PyObject *copy = value != NULL ? gantry_py_take_origins (value) : NULL; /* a list may become another in place */

      if (copy != NULL)
        PyList_Append (known, copy);
      PyErr_Clear ();
      Py_XDECREF (value);
      Py_XDECREF (copy);
    }
  return known;
}

static PyObject *
add_variant (GantryPyState *state, Family *family, const GantryPyCall *call, GPtrArray *leaves, PyObject *values)
{
  GantryPyProgram *program = trace (state, family, call);
  PyObject *capsule, *now, *variant;

  if (program == NULL)
    return NULL;
  now = slots_now (state, family, leaves, values);
  if (now == NULL)
    {
      gantry_py_program_free (program);
      return NULL;
    }
  for (guint i = 0; i < family->slots->len; i++)
    {
      GantryPySlot *slot = &g_array_index (family->slots, GantryPySlot, i);

      Py_XSETREF (slot->seen, _gantry_py_outside_now (slot->owner, slot->name));
      if (slot->seen != NULL && !PyLong_CheckExact (slot->seen) && !PyFloat_CheckExact (slot->seen))
        Py_CLEAR (slot->seen);
    }
  program->n_arguments = leaves->len;
  program->n_written = PyDict_GET_SIZE (state->written);
  gantry_py_program_ready (state, program, call->callable);
  capsule = PyCapsule_New (program, GANTRY_PY_PROGRAM, capsule_free);
  variant = Py_BuildValue ("(ONN)", capsule, now, known_values (family));
  PyList_Append (family->variants, variant);
  Py_DECREF (variant);
  if (PyList_GET_SIZE (family->variants) > MOST_VARIANTS)
    PyList_SetSlice (family->variants, 0, 1, NULL);
  return capsule;
}

PyObject *
gantry_py_variant (GantryPyState *state, PyObject *cache, PyObject *key, const GantryPyCall *call, GPtrArray *leaves, PyObject *values)
{
  PyObject *capsule = Py_XNewRef (PyDict_GetItemWithError (cache, key)), *found = NULL;

  if (PyErr_Occurred ())
    return NULL;
  if (capsule != NULL)
    found = find_variant (state, PyCapsule_GetPointer (capsule, FAMILY), leaves, values);
  else
    capsule = family_new (call);
  if (found == NULL && !PyErr_Occurred ())
    {
      found = add_variant (state, PyCapsule_GetPointer (capsule, FAMILY), call, leaves, values);
      if (found != NULL && PyDict_SetItem (cache, key, capsule) < 0)
        Py_CLEAR (found);
    }
  Py_DECREF (capsule);
  return found;
}
