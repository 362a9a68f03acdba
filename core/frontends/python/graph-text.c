/* SPDX-License-Identifier: Apache-2.0 */
/* A graph for others: without what only Python can do. */
#include "core/frontends/python/program.h"
#include "core/graph/text.h"
#include <string.h>

char *
gantry_py_host_lines (const GPtrArray *hosts)
{
  g_autoptr (GString) lines = g_string_new (NULL);

  for (guint i = 0; i < hosts->len; i++)
    {
      const GantryPyHostCall *host = g_ptr_array_index (hosts, i);
      g_autofree char *line = g_strdup_printf ("%s:%u: %.*s\n", host->file != NULL ? host->file : "?", host->line, (int) strcspn (host->text, "\n"),
                                               host->text);

      /* One line of the program may be several calls. */
      if (lines->len < strlen (line) || strcmp (lines->str + lines->len - strlen (line), line) != 0)
        g_string_append (lines, line);
    }
  if (lines->len == 0)
    return NULL;
  g_string_truncate (lines, lines->len - 1);
  return g_string_free (g_steal_pointer (&lines), FALSE);
}

/* The graph of a call, or NULL with an exception, which names the lines that only Python can do. */
static GantryPyProgram *
trace_for_others (PyObject *callable, PyObject *arguments, gboolean strict)
{
  GantryPyProgram *program = gantry_py_trace_call (gantry_py_state (), callable, arguments, NULL, strict, NULL, FALSE);

  if (program != NULL && program->hosts->len > 0)
    {
      g_autofree char *lines = gantry_py_host_lines (program->hosts);

      PyErr_Format (PyExc_RuntimeError, "A graph that calls Python cannot be exported; these lines do:\n%s", lines);
      gantry_py_program_free (program);
      return NULL;
    }
  return program;
}

PyObject *
gantry_py_graph_text (PyObject *module, PyObject *args)
{
  PyObject *callable, *arguments, *result;
  GantryPyProgram *program;
  g_autofree char *text = NULL;
  int strict;

  if (!PyArg_ParseTuple (args, "OO!p", &callable, &PyTuple_Type, &arguments, &strict))
    return NULL;
  program = trace_for_others (callable, arguments, strict);
  if (program == NULL)
    return NULL;
  text = gantry_module_to_text (program->module, NULL);
  result = PyUnicode_FromString (text);
  gantry_py_program_free (program);
  return result;
}

/* Parameters are called as the program calls them, "fc.weight", and have the values that they have now. */
static gboolean
write_model (const GantryPyProgram *program, const char *path, GError **error)
{
  const GantryPythonBackend *backend = program->state->backend;
  guint n = gantry_module_entry (program->module)->n_params;
  guint first = n - MIN (n, (guint) PyList_GET_SIZE (program->parameters)); /* behind the arguments */
  guint n_names = 0;
  g_auto (GStrv) names = g_new0 (char *, n + 1);
  g_autofree const char **given = g_new0 (const char *, n + 1);
  g_autofree GantryLiteral **values = g_new0 (GantryLiteral *, n + 1);

  for (guint i = first; i < n; i++)
    {
      PyObject *parameter = PyList_GET_ITEM (program->parameters, (Py_ssize_t) (i - first));
      PyObject *name = PyObject_GetAttrString (parameter, "name");

      if (name != NULL && PyUnicode_Check (name))
        given[i] = names[n_names++] = g_strdup (PyUnicode_AsUTF8 (name));
      Py_XDECREF (name);
      PyErr_Clear ();
      if (gantry_py_value_check (parameter))
        values[i] = ((GantryPyValue *) parameter)->literal;
    }
  return backend->export(backend->self, program->module, path, given, values, error);
}

/* What a model gives are its results: who reads it would not know that some of them are what Parameters become. */
static gboolean
assigns_nothing (const GantryPyProgram *program)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (Py_ssize_t i = 0; i < PyList_GET_SIZE (program->updated); i++)
    {
      PyObject *name = PyObject_GetAttrString (PyList_GET_ITEM (program->updated, i), "name");

      g_string_append_printf (names, "%s'%s'", i > 0 ? ", " : "", name != NULL && PyUnicode_Check (name) ? PyUnicode_AsUTF8 (name) : "?");
      PyErr_Clear ();
      Py_XDECREF (name);
    }
  if (PyList_GET_SIZE (program->lists) > 0)
    g_string_append_printf (names, "%sa list or dict from outside", names->len > 0 ? ", " : "");
  if (names->len == 0)
    return TRUE;
  PyErr_Format (PyExc_RuntimeError,
                "A graph that assigns cannot be exported: this one assigns %s. A network is exported after set_train (False), "
                "and what it is to keep is given back by construct.",
                names->str);
  return FALSE;
}

PyObject *
gantry_py_graph_file (PyObject *module, PyObject *args)
{
  PyObject *callable, *arguments;
  g_autoptr (GError) error = NULL;
  GantryPyProgram *program;
  const char *path;
  int strict;

  if (!PyArg_ParseTuple (args, "OO!ps", &callable, &PyTuple_Type, &arguments, &strict, &path))
    return NULL;
  if (gantry_py_state ()->backend == NULL || gantry_py_state ()->backend->export == NULL)
    return PyErr_Format (PyExc_NotImplementedError, "export: nothing here writes models");
  program = trace_for_others (callable, arguments, strict);
  if (program != NULL && !assigns_nothing (program))
    g_clear_pointer (&program, gantry_py_program_free);
  if (program == NULL)
    return NULL;
  if (!write_model (program, path, &error))
    PyErr_SetString (error->domain == GANTRY_ERROR ? PyExc_RuntimeError : PyExc_OSError, error->message);
  gantry_py_program_free (program);
  if (error != NULL)
    return NULL;
  Py_RETURN_NONE;
}

/* Loaded models */

/* Node ids of @arguments, which have to be of the types that the model's inputs have. */
static gboolean
take_arguments (GantryPyState *state, GantryModule *model, PyObject *arguments, guint n_weights, guint32 *ids)
{
  const GantryFunction *entry = gantry_module_entry (model);

  if (PyTuple_GET_SIZE (arguments) != (Py_ssize_t) entry->n_params)
    {
      PyErr_Format (PyExc_TypeError, "The loaded graph takes %u arguments, but got %zd.", entry->n_params - n_weights,
                    PyTuple_GET_SIZE (arguments) - (Py_ssize_t) n_weights);
      return FALSE;
    }
  for (guint i = 0; i < entry->n_params; i++)
    {
      const GantryType *wanted = gantry_node_type (model, &model->nodes[entry->first_node + i]), *given;

      ids[i] = gantry_py_use (state, PyTuple_GET_ITEM (arguments, (Py_ssize_t) i));
      if (ids[i] == 0)
        return FALSE;
      given = gantry_builder_get_type (gantry_py_trace (state)->builder, ids[i]);
      if (!gantry_type_same_shape (given, wanted))
        {
          g_autofree char *is = gantry_context_type_text (model->context, gantry_context_type_id (model->context, given));
          g_autofree char *should = gantry_context_type_text (model->context, gantry_context_type_id (model->context, wanted));

          PyErr_Format (PyExc_ValueError, "Argument %u of the loaded graph has to be %s, but got %s.", i, should, is);
          return FALSE;
        }
    }
  return TRUE;
}

/* What the last results say that parameters have become. */
static gboolean
assign_results (GantryPyState *state, const GantryModule *model, PyObject *arguments, const guint32 *results)
{
  const GantryFunction *entry = gantry_module_entry (model);
  gboolean fine = TRUE;

  for (guint i = 0; fine && i < entry->n_params; i++)
    {
      PyObject *parameter = PyTuple_GET_ITEM (arguments, (Py_ssize_t) i), *value;
      gint64 alias = gantry_attrs_int (model->context, model->nodes[entry->first_node + i].attrs, "alias", -1);

      if (alias < 0 || alias >= entry->n_results || !gantry_py_value_check (parameter) || !((GantryPyValue *) parameter)->is_parameter)
        continue;
      value = gantry_py_wrap (state, results[alias], GANTRY_PY_TENSOR);
      fine = value != NULL && gantry_py_parameter_assign (state, parameter, value) >= 0;
      Py_XDECREF (value);
    }
  return fine;
}

static PyObject *
splice_model (GantryPyState *state, GantryModule *model, PyObject *arguments, guint n_weights, guint n_assigned)
{
  const GantryFunction *entry = gantry_module_entry (model);
  guint n = entry->n_results - MIN (n_assigned, entry->n_results);
  g_autofree guint32 *ids = g_new0 (guint32, entry->n_params + 1), *results = g_new0 (guint32, entry->n_results + 1);
  PyObject *tuple;

  if (!take_arguments (state, model, arguments, n_weights, ids) || !gantry_py_splice (state, model, ids, results)
      || !assign_results (state, model, arguments, results))
    return NULL;
  tuple = PyTuple_New (n);
  for (guint i = 0; tuple != NULL && i < n; i++)
    {
      PyObject *value = gantry_py_wrap (state, results[i], GANTRY_PY_TENSOR);

      if (value == NULL)
        {
          Py_DECREF (tuple);
          return NULL;
        }
      PyTuple_SET_ITEM (tuple, (Py_ssize_t) i, value);
    }
  return tuple;
}

static GantryModule *
load (GantryPyState *state, GantryContext *context, const char *path, GPtrArray **weights, gboolean *draws, guint *n_assigned)
{
  g_autoptr (GError) error = NULL;
  GantryModule *model;

  if (state->backend == NULL || state->backend->load == NULL)
    {
      PyErr_SetString (PyExc_RuntimeError, "load: nothing here reads files of graphs");
      return NULL;
    }
  model = state->backend->load (state->backend->self, context, path, weights, draws, n_assigned, &error);
  if (model == NULL)
    PyErr_Format (error->domain == G_FILE_ERROR ? PyExc_OSError : PyExc_ValueError, "%s", error->message);
  return model;
}

PyObject *
gantry_py_splice_file (PyObject *module, PyObject *args)
{
  GantryPyState *state = gantry_py_state ();
  g_autoptr (GantryModule) model = NULL;
  g_autoptr (GPtrArray) weights = NULL;
  PyObject *arguments, *parameters, *all, *result;
  const char *path;
  gboolean draws;
  guint n_assigned;

  if (!PyArg_ParseTuple (args, "sO!O", &path, &PyTuple_Type, &arguments, &parameters))
    return NULL;
  if (gantry_py_trace (state) == NULL)
    return PyErr_Format (PyExc_RuntimeError, "load: a loaded graph runs as part of a graph");
  model = load (state, gantry_py_trace (state)->context, path, parameters != Py_None ? &weights : NULL, &draws, &n_assigned);
  if (model == NULL)
    return NULL;
  all = parameters != Py_None ? PySequence_Concat (arguments, parameters) : Py_NewRef (arguments);
  result = all != NULL ? splice_model (state, model, all, weights != NULL ? weights->len : 0, n_assigned) : NULL;
  Py_XDECREF (all);
  return result;
}

PyObject *
gantry_py_file_weights (PyObject *module, PyObject *path)
{
  GantryPyState *state = gantry_py_state ();
  g_autoptr (GantryModule) model = NULL;
  g_autoptr (GPtrArray) weights = NULL;
  const char *text = PyUnicode_AsUTF8 (path);
  const GantryFunction *entry;
  PyObject *list;
  gboolean draws;
  guint n_assigned;

  model = text != NULL ? load (state, state->context, text, &weights, &draws, &n_assigned) : NULL;
  if (model == NULL)
    return NULL;
  entry = gantry_module_entry (model);
  list = PyList_New (0);
  for (guint i = 0; list != NULL && i < weights->len; i++)
    {
      const GantryNode *node = &model->nodes[entry->first_node + entry->n_params - weights->len + i];
      PyObject *value = gantry_py_value_new (state, gantry_literal_ref (g_ptr_array_index (weights, i)));
      const char *name = draws && i == 0 ? NULL : gantry_context_string (state->context, node->name);
      PyObject *pair = value != NULL ? Py_BuildValue ("(zN)", name, value) : NULL;

      if (pair == NULL || PyList_Append (list, pair) < 0)
        Py_CLEAR (list);
      Py_XDECREF (pair);
    }
  return list;
}
