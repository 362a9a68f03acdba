/* SPDX-License-Identifier: Apache-2.0 */
/* Applying a core operation: at once to known values, as a node to variables. */
#include "core/eval/evaluator.h"
#include "core/frontends/python/jax/jax.h"
#include "core/graph/context.h"
#include "core/graph/operation.h"
#include <string.h>

/* What costs more than this many operations is worth compiling in eager mode: the evaluator takes some 20 ns for each. */
#define COMPILED_FLOPS 200000

/* Attributes */

static gboolean
set_type (GantryAttrList *list, GantryContext *context, const char *key, PyObject *value)
{
  const char *element = NULL;
  GantryDim dims[GANTRY_MAX_RANK];
  PyObject *shape = NULL;
  guint rank = 0;

  if (PyUnicode_Check (value))
    element = PyUnicode_AsUTF8 (value);
  else if (!PyArg_ParseTuple (value, "sO!", &element, &PyTuple_Type, &shape))
    return FALSE;
  for (rank = 0; shape != NULL && rank < PyTuple_GET_SIZE (shape) && rank < GANTRY_MAX_RANK; rank++)
    dims[rank] = PyLong_AsLongLong (PyTuple_GET_ITEM (shape, rank));
  gantry_attr_list_set_type (list, key, gantry_context_tensor (context, gantry_element_from_name (element), rank, dims));
  return !PyErr_Occurred ();
}

static gboolean
set_ints (GantryAttrList *list, const char *key, PyObject *value)
{
  Py_ssize_t n = PySequence_Fast_GET_SIZE (value);
  g_autofree gint64 *ints = g_new (gint64, n + 1);

  for (Py_ssize_t i = 0; i < n; i++)
    {
      PyObject *index = PyNumber_Index (PySequence_Fast_GET_ITEM (value, i));

      ints[i] = index != NULL ? PyLong_AsLongLong (index) : 0;
      Py_XDECREF (index);
    }
  gantry_attr_list_set_ints (list, key, ints, (gsize) n);
  return !PyErr_Occurred ();
}

static gboolean
set_attr (GantryAttrList *list, GantryContext *context, const char *key, PyObject *value)
{
  if (strcmp (key, "to") == 0)
    return set_type (list, context, key, value);
  if (PyUnicode_Check (value))
    gantry_attr_list_set_string (list, key, PyUnicode_AsUTF8 (value));
  else if (PyTuple_Check (value) || PyList_Check (value))
    return set_ints (list, key, value);
  else if (PyFloat_Check (value))
    gantry_attr_list_set_float (list, key, PyFloat_AS_DOUBLE (value));
  else
    gantry_attr_list_set_int (list, key, PyLong_AsLongLong (value));
  return !PyErr_Occurred ();
}

guint32
gantry_py_attrs (GantryContext *context, PyObject *dict)
{
  GantryAttrList *list;
  PyObject *key, *value;
  Py_ssize_t at = 0;

  if (dict == NULL || dict == Py_None)
    return 0;
  list = gantry_attr_list_new (context);
  while (PyDict_Next (dict, &at, &key, &value))
    if (!set_attr (list, context, PyUnicode_AsUTF8 (key), value))
      {
        gantry_attr_list_free (list);
        return 0;
      }
  return gantry_attr_list_end (list);
}

/* Eager: each operation with its types is a program of one node, kept. */

typedef struct
{
  GantryModule *module;
  gpointer compiled;
  gboolean is_dear, tried;
} Eager;

static Eager *
eager_new (GantryPyState *state, guint op, GantryLiteral *const *operands, guint n, guint32 attrs)
{
  g_autoptr (GantryBuilder) builder = gantry_builder_new (state->context, "eager");
  g_autofree guint32 *ids = g_new0 (guint32, n + 1);
  g_autoptr (GError) error = NULL;
  GantryModule *module;
  Eager *eager;
  guint32 result;

  gantry_builder_begin (builder, "eager", 0);
  for (guint i = 0; i < n; i++)
    ids[i] = gantry_builder_parameter (builder, gantry_context_type_id (state->context, operands[i]->type), NULL);
  result = gantry_builder_add (builder, op, ids, n, attrs);
  if (result != 0 && gantry_builder_get_type (builder, result)->kind == GANTRY_TYPE_TUPLE)
    {
      guint n_members = gantry_builder_get_type (builder, result)->rank;
      g_autofree guint32 *members = g_new0 (guint32, n_members + 1);

      for (guint i = 0; i < n_members; i++)
        members[i] = gantry_builder_result (builder, result, i);
      gantry_builder_end (builder, members, n_members);
    }
  else
    gantry_builder_end (builder, &result, 1);
  module = gantry_builder_finish (builder, &error);
  if (module == NULL)
    {
      PyErr_SetString (PyExc_ValueError, error->message);
      return NULL;
    }
  eager = g_new0 (Eager, 1);
  eager->module = module;
  eager->is_dear = gantry_node_flops (module, gantry_module_node (module, result)) > COMPILED_FLOPS;
  return eager;
}

static char *
eager_key (GantryPyState *state, guint op, GantryLiteral *const *operands, guint n, guint32 attrs)
{
  GString *key = g_string_new (NULL);

  g_string_append_printf (key, "%u %u", op, attrs);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (key, " %p", (gconstpointer) operands[i]->type);
  return g_string_free (key, FALSE);
}

static gboolean
eager_run (GantryPyState *state, Eager *eager, GantryLiteral *const *operands, GantryLiteral **results)
{
  g_autoptr (GError) error = NULL;
  const GantryPythonBackend *backend = state->backend;

  if (eager->is_dear && !eager->tried && backend != NULL && backend->compile != NULL)
    {
      eager->tried = TRUE;
      eager->compiled = backend->compile (backend->self, eager->module, NULL, NULL);
    }
  if (eager->compiled != NULL)
    return gantry_py_run_compiled (state, eager->compiled, operands, results);
  if (gantry_evaluate (eager->module, gantry_module_entry (eager->module), operands, results, NULL, &error))
    return TRUE;
  PyErr_SetString (PyExc_RuntimeError, error->message);
  return FALSE;
}

/* Computes now. Returns: a value, or a tuple of values */
static PyObject *
apply_eager (GantryPyState *state, guint op, GantryLiteral *const *operands, guint n, guint32 attrs)
{
  g_autofree char *key = eager_key (state, op, operands, n, attrs);
  Eager *eager = g_hash_table_lookup (state->eager, key);
  g_autofree GantryLiteral **results = NULL;
  guint n_results;
  PyObject *tuple;

  if (eager == NULL)
    {
      eager = eager_new (state, op, operands, n, attrs);
      if (eager == NULL)
        return NULL;
      g_hash_table_insert (state->eager, g_steal_pointer (&key), eager);
    }
  n_results = gantry_module_entry (eager->module)->n_results;
  results = g_new0 (GantryLiteral *, n_results + 1);
  if (!eager_run (state, eager, operands, results))
    return NULL;
  if (n_results == 1)
    return gantry_py_value_new (state, results[0]);
  tuple = PyTuple_New (n_results);
  for (guint i = 0; i < n_results; i++)
    PyTuple_SET_ITEM (tuple, i, gantry_py_value_new (state, results[i]));
  return tuple;
}

/* Traced */

static void
take_literal (PyObject *variable, PyObject *known)
{
  ((GantryPyValue *) variable)->literal = gantry_literal_ref (((GantryPyValue *) known)->literal);
}

/* A recording trace computes beside the node. */
static PyObject *
record (GantryPyState *state, PyObject *result, guint op, GantryPyValue *const *values, guint n, PyObject *attrs)
{
  g_autofree GantryLiteral **literals = g_new0 (GantryLiteral *, n + 1);
  PyObject *known;

  for (guint i = 0; i < n; i++)
    if ((literals[i] = values[i]->literal) == NULL)
      return result;
  known = apply_eager (state, op, literals, n, gantry_py_attrs (state->context, attrs));
  if (known == NULL)
    Py_CLEAR (result);
  else if (PyTuple_Check (known))
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE (known); i++)
      take_literal (PyTuple_GET_ITEM (result, i), PyTuple_GET_ITEM (known, i));
  else
    take_literal (result, known);
  Py_XDECREF (known);
  return result;
}

static PyObject *
apply_traced (GantryPyState *state, guint op, PyObject *const *operands, guint n, PyObject *attrs)
{
  GantryTrace *trace = gantry_py_trace (state);
  g_autofree guint32 *ids = g_new0 (guint32, n + 1);
  guint32 attrs_id = gantry_py_attrs (trace->context, attrs);
  PyObject *result;

  if (PyErr_Occurred ())
    return NULL;
  for (guint i = 0; i < n; i++)
    if ((ids[i] = gantry_py_use (state, operands[i])) == 0)
      {
        gantry_py_check_builder (trace);
        return NULL;
      }
  if (trace->root->staged)
    gantry_py_jax_set_place (trace, ids, n);
  result = gantry_py_wrap (state, gantry_builder_add (trace->builder, op, ids, n, attrs_id), GANTRY_PY_TENSOR);
  return result;
}

PyObject *
gantry_py_apply (GantryPyState *state, const char *name, PyObject *const *operands, guint n, PyObject *attrs)
{
  guint op = gantry_op_from_name (name, -1);
  g_autofree PyObject **values = g_new0 (PyObject *, n + 1);
  g_autofree GantryLiteral **literals = g_new0 (GantryLiteral *, n + 1);
  gboolean variable = FALSE;
  PyObject *result = NULL;
  guint n_values = 0;

  if (op == GANTRY_OP_NONE)
    return PyErr_Format (PyExc_ValueError, "there is no core operation '%s'", name);
  for (guint i = 0; i < n; i++)
    {
      if (!gantry_py_value_check (operands[i]))
        {
          PyErr_Format (PyExc_TypeError, "operand %u of %s is %.100s, not a tensor", i, name, Py_TYPE (operands[i])->tp_name);
          goto out;
        }
      values[i] = gantry_py_is_lowered (state, operands[i]) ? gantry_py_lowered (state, operands[i]) : gantry_py_parameter_value (state, operands[i]);
      if (values[i] == NULL)
        goto out;
      n_values++;
      if (((GantryPyValue *) values[i])->type == NULL)
        {
          PyErr_Format (PyExc_TypeError, "operand %u of %s has no value: it was not made by a function of its module", i, name);
          goto out;
        }
      literals[i] = ((GantryPyValue *) values[i])->literal;
      variable = variable || (((GantryPyValue *) values[i])->node != 0 && gantry_py_trace (state) != NULL) || literals[i] == NULL;
    }
  if (variable && gantry_py_trace (state) == NULL)
    PyErr_SetString (PyExc_RuntimeError, "a variable of a graph is used outside of it");
  else if (variable)
    {
      result = apply_traced (state, op, values, n, attrs);
      if (result != NULL && gantry_py_trace (state)->root->record)
        result = record (state, result, op, (GantryPyValue *const *) values, n, attrs);
    }
  else
    {
      guint32 attrs_id = gantry_py_attrs (state->context, attrs);

      result = PyErr_Occurred () ? NULL : apply_eager (state, op, literals, n, attrs_id);
    }
out:
  for (guint i = 0; i < n_values; i++)
    Py_DECREF (values[i]);
  return result;
}
