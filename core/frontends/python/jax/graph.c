/* SPDX-License-Identifier: Apache-2.0 */
/* Staged graphs compiled, run and looked at. */
#include "core/frontends/python/jax/jax.h"
#include "core/eval/evaluator.h"
#include "core/frontends/python/program.h"
#include "core/graph/operation.h"
#include "core/graph/text.h"

/* Of a graph that runs once: the evaluator takes some 20 ns for each, code some 50 ms. */
#define EVALUATED_FLOPS 1000000

static GantryPyStaged *
staged_of (PyObject *capsule)
{
  return PyCapsule_GetPointer (capsule, "gantry.staged");
}

/* TRUE where the backend has it, or cannot, of which the program is warned once. A plan that does not fit is an error
 * of each call: the evaluator would hold every value. */
static gboolean
compile (GantryPyStaged *staged, const char *policy)
{
  const GantryPythonBackend *backend = staged->state->backend;
  g_autoptr (GError) error = NULL;

  if (staged->no_memory)
    {
      PyErr_SetString (PyExc_MemoryError, staged->refusal);
      return FALSE;
    }
  if (staged->tried)
    return TRUE;
  staged->tried = TRUE;
  if (backend == NULL || backend->compile == NULL || gantry_module_entry (staged->module)->n_results == 0)
    return TRUE;
  staged->compiled = backend->compile (backend->self, staged->module, policy, &error);
  if (staged->compiled != NULL)
    return TRUE;
  staged->refusal = g_strdup (error->message);
  if (!g_error_matches (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY))
    return PyErr_WarnFormat (PyExc_RuntimeWarning, 1, "the graph is evaluated, not compiled: %s", error->message) == 0;
  staged->no_memory = TRUE;
  PyErr_SetString (PyExc_MemoryError, error->message);
  return FALSE;
}

PyObject *
gantry_py_jax_compile (PyObject *module, PyObject *args)
{
  PyObject *capsule;
  const char *policy;
  GantryPyStaged *staged;
  g_autofree char *problems = NULL;

  if (!PyArg_ParseTuple (args, "Oz", &capsule, &policy) || (staged = staged_of (capsule)) == NULL || !compile (staged, policy))
    return NULL;
  if (staged->compiled != NULL && policy != NULL)
    problems = staged->state->backend->problems (staged->state->backend->self, staged->compiled);
  if (problems == NULL)
    Py_RETURN_NONE;
  return PyUnicode_FromString (problems);
}

static gboolean
execute (GantryPyStaged *staged, GantryLiteral *const *arguments, GantryLiteral **results)
{
  g_autoptr (GPtrArray) hosts = NULL;

  if (staged->compiled == NULL)
    {
      hosts = g_ptr_array_new ();
      return gantry_py_run_evaluated (staged->state, staged->module, hosts, arguments, results);
    }
  return gantry_py_run_compiled (staged->state, staged->compiled, arguments, results);
}

/* What the evaluator does sooner than the compiler has made code for it. */
static gboolean
is_cheap (const GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);
  gint64 flops = 0;

  for (guint32 i = 0; i < entry->n_nodes && flops <= EVALUATED_FLOPS; i++)
    {
      gint64 one = gantry_node_flops (module, &module->nodes[entry->first_node + i]);

      /* Not known. */
      if (one < 0)
        return FALSE;
      flops += MIN (one, EVALUATED_FLOPS + 1);
    }
  return flops <= EVALUATED_FLOPS;
}

PyObject *
gantry_py_jax_run (PyObject *module, PyObject *args)
{
  PyObject *capsule, *values, *tuple = NULL;
  GantryPyStaged *staged;
  guint n_results;
  int once;

  if (!PyArg_ParseTuple (args, "OO!p", &capsule, &PyTuple_Type, &values, &once) || (staged = staged_of (capsule)) == NULL)
    return NULL;
  if (!(once && is_cheap (staged->module)) && !compile (staged, NULL))
    return NULL;
  n_results = gantry_module_entry (staged->module)->n_results;
  {
    guint n = (guint) PyTuple_GET_SIZE (values);
    g_autofree GantryLiteral **arguments = g_new0 (GantryLiteral *, n + 1);
    g_autofree GantryLiteral **results = g_new0 (GantryLiteral *, n_results + 1);

    for (guint i = 0; i < n; i++)
      {
        PyObject *value = PyTuple_GET_ITEM (values, i);

        if (!gantry_py_value_check (value) || ((GantryPyValue *) value)->literal == NULL)
          return PyErr_Format (PyExc_TypeError, "argument %u of the graph has no data", i);
        arguments[i] = ((GantryPyValue *) value)->literal;
      }
    if (n != gantry_module_entry (staged->module)->n_params)
      return PyErr_Format (PyExc_TypeError, "the graph takes %u arrays, but %u were given", gantry_module_entry (staged->module)->n_params, n);
    if (!execute (staged, arguments, results))
      return NULL;
    tuple = PyTuple_New (n_results);
    for (guint i = 0; i < n_results; i++)
      {
        PyObject *one = tuple != NULL ? gantry_py_object_of (staged->state, results[i], GANTRY_PY_TENSOR) : NULL;

        gantry_literal_unref (results[i]);
        if (one != NULL)
          PyTuple_SET_ITEM (tuple, i, one);
        else
          Py_CLEAR (tuple);
      }
  }
  return tuple;
}

static PyObject *
pair (const guint64 *bytes)
{
  return Py_BuildValue ("(KK)", (unsigned long long) bytes[0], (unsigned long long) bytes[1]);
}

PyObject *
gantry_py_jax_memory (PyObject *module, PyObject *capsule)
{
  GantryPyStaged *staged = staged_of (capsule);
  GantryPythonMemory memory = { 0 };

  if (staged == NULL)
    return NULL;
  if (staged->compiled == NULL)
    Py_RETURN_NONE;
  staged->state->backend->memory (staged->state->backend->self, staged->compiled, &memory);
  return Py_BuildValue ("{sNsNsNsNsNsN}", "argument", pair (memory.arguments), "output", pair (memory.outputs), "alias", pair (memory.aliases), "temp",
                        pair (memory.temporaries), "workspace", pair (memory.workspaces), "generated_code", pair (memory.code));
}

PyObject *
gantry_py_jax_text (PyObject *module, PyObject *args)
{
  PyObject *capsule;
  GantryPyStaged *staged;
  g_autofree char *text = NULL;
  int compiled;

  if (!PyArg_ParseTuple (args, "Op", &capsule, &compiled) || (staged = staged_of (capsule)) == NULL)
    return NULL;
  if (compiled && staged->compiled != NULL)
    text = staged->state->backend->text (staged->state->backend->self, staged->compiled);
  else
    text = gantry_module_to_text (staged->module, NULL);
  return PyUnicode_FromString (text);
}
