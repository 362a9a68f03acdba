/* SPDX-License-Identifier: Apache-2.0 */
/* What a graph is specialised for, and what its function sees for the arguments: variables and what is known. */
#include "core/frontends/python/program.h"
#include "core/graph/context.h"

typedef enum
{
  AS_ARGUMENT, /* tensors are variables, the rest is known */
  AS_MUTABLE,  /* numbers are variables too */
  AS_CONSTANT,
} Role;

static gboolean
is_mutable (PyObject *object)
{
  PyObject *mark;

  if (gantry_py_value_check (object))
    return ((GantryPyValue *) object)->is_mutable;
  if (PyTuple_CheckExact (object) || PyList_CheckExact (object) || PyDict_CheckExact (object) || PyLong_CheckExact (object) || PyFloat_CheckExact (object)
      || PyUnicode_CheckExact (object) || object == Py_None || PyBool_Check (object))
    return FALSE;
  mark = PyObject_GetAttrString ((PyObject *) Py_TYPE (object), "__gantry_mutable__");
  PyErr_Clear ();
  Py_XDECREF (mark);
  return mark != NULL;
}

/* Whether the Cell whose method @callable is takes tuples of tensors as variables, as optimizers do: `enable_tuple_broaden`. */
static gboolean
broadens_tuples (PyObject *callable)
{
  PyObject *flag = PyMethod_Check (callable) ? PyObject_GetAttrString (PyMethod_GET_SELF (callable), "enable_tuple_broaden") : NULL;
  gboolean set = flag != NULL && PyObject_IsTrue (flag) == 1;

  PyErr_Clear ();
  Py_XDECREF (flag);
  return set;
}

static Role
role_of (PyObject *callable, PyObject *argument)
{
  if (!PyTuple_Check (argument) || PyTuple_GET_SIZE (argument) == 0)
    return AS_ARGUMENT;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE (argument); i++)
    if (!gantry_py_value_check (PyTuple_GET_ITEM (argument, i)))
      return AS_ARGUMENT;
  return broadens_tuples (callable) ? AS_MUTABLE : AS_ARGUMENT;
}

static PyObject *signature (GantryPyState *state, PyObject *object, Role role, GPtrArray *leaves);

static PyObject *
signature_of_items (GantryPyState *state, PyObject *object, Role role, GPtrArray *leaves)
{
  PyObject *key, *name, *value, *tuple, *item;
  Py_ssize_t at = 0;

  if (Py_EnterRecursiveCall (" in what a graph is made for") != 0)
    return NULL;
  key = PyList_New (0);
  if (PyDict_Check (object))
    while (PyDict_Next (object, &at, &name, &value))
      {
        item = Py_BuildValue ("(ON)", name, signature (state, value, role, leaves));
        if (item != NULL)
          PyList_Append (key, item);
        Py_XDECREF (item);
      }
  else
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE (object); i++)
      {
        item = signature (state, PySequence_Fast_GET_ITEM (object, i), role, leaves);
        if (item != NULL)
          PyList_Append (key, item);
        Py_XDECREF (item);
      }
  Py_LeaveRecursiveCall ();
  if (PyErr_Occurred ())
    {
      Py_DECREF (key);
      return NULL;
    }
  tuple = Py_BuildValue ("(ONs)", Py_TYPE (object), PyList_AsTuple (key), role == AS_MUTABLE ? "variable" : "");
  Py_DECREF (key);
  return tuple;
}

/* What a graph is specialised for: a hashable object; the variables in order are added to @leaves. */
static PyObject *
signature (GantryPyState *state, PyObject *object, Role role, GPtrArray *leaves)
{
  if (is_mutable (object) && role != AS_CONSTANT)
    role = AS_MUTABLE;
  if (PyTuple_Check (object) || PyList_Check (object) || PyDict_Check (object))
    return signature_of_items (state, object, role == AS_ARGUMENT ? AS_CONSTANT : role, leaves);
  if (gantry_py_value_check (object))
    {
      PyObject *shape;

      if (role == AS_CONSTANT)
        return Py_BuildValue ("(sN)", "constant", PyLong_FromVoidPtr (((GantryPyValue *) object)->literal));
      g_ptr_array_add (leaves, object);
      shape = PyObject_GetAttrString (object, "shape");
      return Py_BuildValue ("(siN)", "tensor", (int) ((GantryPyValue *) object)->type->element, shape);
    }
  if (role == AS_MUTABLE && (PyLong_Check (object) || PyFloat_Check (object)))
    {
      g_ptr_array_add (leaves, object);
      return Py_BuildValue ("(ss)", "number", PyBool_Check (object) ? "bool" : PyLong_Check (object) ? "int" : "float");
    }
  if (object == Py_None || PyUnicode_Check (object) || PyLong_Check (object) || PyFloat_Check (object))
    return Py_BuildValue ("(OO)", Py_TYPE (object), object);
  return Py_BuildValue ("(sN)", "object", PyLong_FromVoidPtr (object));
}

/* What the function sees for an argument; lists are copies. */
static PyObject *
abstract (GantryPyState *state, PyObject *object, Role role, const char *name)
{
  GantryPyValueKind kind;
  PyObject *copy, *key, *value;
  Py_ssize_t at = 0;

  if (is_mutable (object) && role != AS_CONSTANT)
    role = AS_MUTABLE;
  if (PyDict_Check (object))
    {
      copy = PyDict_New ();
      while (PyDict_Next (object, &at, &key, &value))
        {
          PyObject *item = abstract (state, value, role == AS_ARGUMENT ? AS_CONSTANT : role, name);

          PyDict_SetItem (copy, key, item);
          Py_DECREF (item);
        }
      return copy;
    }
  if (PyTuple_Check (object) || PyList_Check (object))
    {
      Py_ssize_t n = PySequence_Fast_GET_SIZE (object);

      if (PyTuple_Check (object) && role != AS_MUTABLE)
        return Py_NewRef (object);
      copy = PyTuple_Check (object) ? PyTuple_New (n) : PyList_New (n);
      for (Py_ssize_t i = 0; i < n; i++)
        {
          PyObject *item = abstract (state, PySequence_Fast_GET_ITEM (object, i), role == AS_ARGUMENT ? AS_CONSTANT : role, name);

          if (PyTuple_Check (object))
            PyTuple_SET_ITEM (copy, i, item);
          else
            PyList_SET_ITEM (copy, i, item);
        }
      return copy;
    }
  if (gantry_py_value_check (object) && role != AS_CONSTANT)
    {
      const GantryType *type = ((GantryPyValue *) object)->type;

      return gantry_py_trace_parameter (state, gantry_context_tensor (gantry_py_trace (state)->context, type->element, type->rank, type->dims), name,
                                        GANTRY_PY_TENSOR);
    }
  if (role == AS_MUTABLE && (PyLong_Check (object) || PyFloat_Check (object)))
    {
      kind = PyBool_Check (object) ? GANTRY_PY_BOOL : PyLong_Check (object) ? GANTRY_PY_INT : GANTRY_PY_FLOAT;
      return gantry_py_trace_parameter (state,
                                        gantry_context_scalar (gantry_py_trace (state)->context, kind == GANTRY_PY_BOOL  ? GANTRY_BOOL
                                                                                                 : kind == GANTRY_PY_INT ? GANTRY_I64
                                                                                                                         : GANTRY_F64),
                                        name, kind);
    }
  return Py_NewRef (object);
}

/* The name of the parameter that takes argument @i, for its node: those of *args have its name and their number. (nullable) */
static char *
name_of (PyObject *callable, Py_ssize_t i)
{
  gboolean bound = PyMethod_Check (callable);
  PyObject *code = PyObject_GetAttrString (bound ? PyMethod_GET_FUNCTION (callable) : callable, "__code__");
  PyObject *names = code != NULL && PyCode_Check (code) ? PyCode_GetVarnames ((PyCodeObject *) code) : NULL;
  const PyCodeObject *own = (PyCodeObject *) code;
  char *name = NULL;

  PyErr_Clear ();
  i += bound;
  if (names != NULL && i < own->co_argcount)
    name = g_strdup (PyUnicode_AsUTF8 (PyTuple_GET_ITEM (names, i)));
  else if (names != NULL && (own->co_flags & CO_VARARGS) != 0)
    name = g_strdup_printf ("%s.%" G_GSSIZE_FORMAT, PyUnicode_AsUTF8 (PyTuple_GET_ITEM (names, own->co_argcount + own->co_kwonlyargcount)),
                            (gssize) (i - own->co_argcount));
  Py_XDECREF (names);
  Py_XDECREF (code);
  return name;
}

gboolean
_gantry_py_abstract_arguments (GantryPyState *state, PyObject *callable, PyObject *args, PyObject *kwargs, PyObject **abstract_args, PyObject **abstract_kwargs)
{
  PyObject *key, *value;
  Py_ssize_t at = 0;

  *abstract_args = PyTuple_New (PyTuple_GET_SIZE (args));
  *abstract_kwargs = kwargs != NULL && PyDict_GET_SIZE (kwargs) > 0 ? PyDict_New () : NULL;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE (args); i++)
    {
      g_autofree char *name = name_of (callable, i);
      PyObject *argument = PyTuple_GET_ITEM (args, i), *item = abstract (state, argument, role_of (callable, argument), name);

      if (item == NULL)
        return FALSE;
      PyTuple_SET_ITEM (*abstract_args, i, item);
    }
  while (*abstract_kwargs != NULL && PyDict_Next (kwargs, &at, &key, &value))
    {
      PyObject *item = abstract (state, value, role_of (callable, value), PyUnicode_AsUTF8 (key));

      PyDict_SetItem (*abstract_kwargs, key, item);
      Py_DECREF (item);
    }
  return !PyErr_Occurred ();
}

PyObject *
_gantry_py_signature (GantryPyState *state, PyObject *callable, PyObject *args, PyObject *kwargs, PyObject *extra, gboolean strict, GPtrArray *leaves)
{
  PyObject *list = PyList_New (0), *key, *name, *value, *item;
  Py_ssize_t at = 0;

  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE (args); i++)
    {
      item = signature (state, PyTuple_GET_ITEM (args, i), role_of (callable, PyTuple_GET_ITEM (args, i)), leaves);
      PyList_Append (list, item);
      Py_XDECREF (item);
    }
  while (kwargs != NULL && PyDict_Next (kwargs, &at, &name, &value))
    {
      item = Py_BuildValue ("(ON)", name, signature (state, value, role_of (callable, value), leaves));
      PyList_Append (list, item);
      Py_XDECREF (item);
    }
  key = Py_BuildValue ("(NOO)", PyList_AsTuple (list), extra, strict ? Py_True : Py_False);
  Py_DECREF (list);
  return key;
}

/* A tensor is an input as an argument is; lists of them, and numbers, as what mutable () gives. */
static Role
slot_role (PyObject *value)
{
  return gantry_py_value_check (value) ? AS_ARGUMENT : AS_MUTABLE;
}

PyObject *
_gantry_py_slot_signature (GantryPyState *state, PyObject *value, gboolean is_input, GPtrArray *leaves)
{
  return signature (state, value, is_input ? slot_role (value) : AS_CONSTANT, leaves);
}

PyObject *
_gantry_py_abstract_slot (GantryPyState *state, PyObject *value, const char *name)
{
  return abstract (state, value, slot_role (value), name);
}
