/* SPDX-License-Identifier: Apache-2.0 */
/* Walking a module: host calls in program order, branches and loops as their conditions say, everything else by the
 * evaluator. The objects of a run live in its table, and the values that name them are indices. */
#include "core/frontends/python/program.h"
#include "core/eval/evaluator.h"
#include "core/graph/context.h"
#include "core/graph/operation.h"

typedef struct
{
  GantryPyProgram *program;
  GPtrArray *objects; /* PyObject: of this run */
} Walk;

static void
value_free (gpointer data)
{
  if (data != NULL)
    g_ptr_array_unref (data);
}

static GPtrArray *
value_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
}

static gboolean walk_function (Walk *walk, const GantryFunction *function, GPtrArray *arguments, GPtrArray *results);

/* Host calls */

static PyObject *
operand_object (Walk *walk, GantryLiteral *literal, GantryPyValueKind kind)
{
  if (kind == GANTRY_PY_HANDLE)
    return Py_NewRef (g_ptr_array_index (walk->objects, (guint) gantry_literal_get_int (literal, 0)));
  return gantry_py_object_of (walk->program->state, literal, kind);
}

/* Brings a tensor to the element type that an annotation names. */
static PyObject *
with_element (GantryPyState *state, const GantryPyHostCall *host, PyObject *result)
{
  if (result != NULL && host->element != NULL && gantry_py_value_check (result))
    Py_SETREF (result, _gantry_py_call_hook (state, "as_element", "OO", result, host->element));
  return result;
}

static GantryLiteral *
result_literal (Walk *walk, const GantryPyHostCall *host, PyObject *result)
{
  GantryPyState *state = walk->program->state;
  PyObject *value;
  GantryLiteral *literal;

  if (host->result == GANTRY_PY_HANDLE)
    {
      PyObject *index = PyLong_FromSize_t (walk->objects->len);

      g_ptr_array_add (walk->objects, Py_NewRef (result));
      value = _gantry_py_number_value (state, index, GANTRY_PY_INT);
      Py_DECREF (index);
    }
  else
    value = _gantry_py_number_value (state, result, (GantryPyValueKind) host->result);
  if (value == NULL)
    return NULL;
  literal = gantry_literal_ref (((GantryPyValue *) value)->literal);
  Py_DECREF (value);
  return literal;
}

static gboolean
call_host (Walk *walk, const GantryPyHostCall *host, GantryLiteral *const *operands, GPtrArray *value)
{
  g_autoptr (GPtrArray) variables = g_ptr_array_new (), objects = g_ptr_array_new_with_free_func ((GDestroyNotify) Py_DecRef);
  PyObject *args, *kwargs = NULL, *result = NULL;
  GantryLiteral *literal = NULL;
  guint next = 0;

  gantry_py_collect_variables (host->args, variables);
  if (host->kwargs != NULL)
    gantry_py_collect_variables (host->kwargs, variables);
  for (guint i = 0; i < variables->len; i++)
    g_ptr_array_add (objects, operand_object (walk, operands[i], (GantryPyValueKind) ((GantryPyValue *) g_ptr_array_index (variables, i))->kind));
  args = gantry_py_replace_variables (host->args, (PyObject *const *) objects->pdata, &next);
  if (host->kwargs != NULL)
    kwargs = gantry_py_replace_variables (host->kwargs, (PyObject *const *) objects->pdata, &next);
  if (args != NULL)
    Py_SETREF (args, gantry_py_take_origins (args));
  if (kwargs != NULL)
    Py_SETREF (kwargs, gantry_py_take_origins (kwargs));
  if (args != NULL && (kwargs != NULL || host->kwargs == NULL))
    result = with_element (walk->program->state, host, PyObject_Call (host->callable, args, kwargs));
  if (result == NULL && host->file != NULL)
    _PyTraceback_Add ("graph", host->file, (int) host->line);
  if (result != NULL)
    literal = result_literal (walk, host, result);
  if (literal != NULL)
    g_ptr_array_add (value, literal);
  Py_XDECREF (args);
  Py_XDECREF (kwargs);
  Py_XDECREF (result);
  return literal != NULL;
}

/* Control */

static const GantryFunction *
function_of (const GantryModule *module, const GantryNode *node, const char *key)
{
  const GantryAttr *attr = gantry_attrs_find (module->context, node->attrs, key);

  return gantry_module_function (module, attr->id);
}

static gboolean
walk_if (Walk *walk, const GantryNode *node, GPtrArray *operands, GPtrArray *value)
{
  GPtrArray *predicate = g_ptr_array_index (operands, 0);
  g_autoptr (GPtrArray) captures = g_ptr_array_new ();
  gboolean taken = gantry_literal_get_int (g_ptr_array_index (predicate, 0), 0) != 0;

  for (guint i = 1; i < operands->len; i++)
    g_ptr_array_add (captures, g_ptr_array_index (operands, i));
  return walk_function (walk, function_of (walk->program->module, node, taken ? "then" : "else"), captures, value);
}

/* A loop without an end would keep CPython from the thread that is to stop it. */
static void
let_others_run (void)
{
  Py_BEGIN_ALLOW_THREADS
  Py_END_ALLOW_THREADS
}

static gboolean
walk_while (Walk *walk, const GantryNode *node, GPtrArray *operands, GPtrArray *value)
{
  const GantryModule *module = walk->program->module;
  const GantryFunction *condition = function_of (module, node, "cond"), *body = function_of (module, node, "body");
  g_autoptr (GPtrArray) state = g_ptr_array_new_with_free_func (value_free);

  for (guint i = 0; i < operands->len; i++)
    g_ptr_array_add (state, g_ptr_array_ref (g_ptr_array_index (operands, i)));
  for (;;)
    {
      g_autoptr (GPtrArray) verdict = value_new (), next = value_new ();

      let_others_run ();
      if (PyErr_CheckSignals () < 0 || !walk_function (walk, condition, state, verdict))
        return FALSE;
      if (gantry_literal_get_int (g_ptr_array_index (verdict, 0), 0) == 0)
        break;
      if (!walk_function (walk, body, state, next))
        return FALSE;
      g_ptr_array_set_size (state, 0);
      for (guint i = 0; i < next->len; i++)
        {
          GPtrArray *one = value_new ();

          g_ptr_array_add (one, gantry_literal_ref (g_ptr_array_index (next, i)));
          g_ptr_array_add (state, one);
        }
    }
  for (guint i = 0; i < state->len; i++)
    g_ptr_array_add (value, gantry_literal_ref (g_ptr_array_index ((GPtrArray *) g_ptr_array_index (state, i), 0)));
  return TRUE;
}

static gboolean
evaluate (Walk *walk, const GantryNode *node, GPtrArray *operands, GPtrArray *value)
{
  const GantryModule *module = walk->program->module;
  const GantryType *type = gantry_node_type (module, node);
  guint n_results = type->kind == GANTRY_TYPE_TUPLE ? type->rank : 1;
  g_autofree GantryLiteral **literals = g_new0 (GantryLiteral *, operands->len + 1);
  g_autofree GantryLiteral **results = g_new0 (GantryLiteral *, n_results + 1);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < operands->len; i++)
    literals[i] = g_ptr_array_index ((GPtrArray *) g_ptr_array_index (operands, i), 0);
  if (!gantry_evaluate_node (module, node, literals, results, n_results, &error))
    {
      PyErr_SetString (PyExc_RuntimeError, error->message);
      return FALSE;
    }
  for (guint i = 0; i < n_results; i++)
    g_ptr_array_add (value, results[i]);
  return TRUE;
}

static gboolean
walk_node (Walk *walk, const GantryNode *node, GPtrArray *operands, GPtrArray *value)
{
  const GantryModule *module = walk->program->module;

  switch (node->op)
    {
    case GANTRY_OP_CUSTOM_CALL:
      {
        g_autofree GantryLiteral **literals = g_new0 (GantryLiteral *, operands->len + 1);
        guint index = (guint) gantry_attrs_int (module->context, node->attrs, "host", 0);

        for (guint i = 0; i < operands->len; i++)
          literals[i] = g_ptr_array_index ((GPtrArray *) g_ptr_array_index (operands, i), 0);
        return call_host (walk, g_ptr_array_index (walk->program->hosts, index), literals, value);
      }
    case GANTRY_OP_IF: return walk_if (walk, node, operands, value);
    case GANTRY_OP_WHILE: return walk_while (walk, node, operands, value);
    case GANTRY_OP_RESULT:
      g_ptr_array_add (value, gantry_literal_ref (g_ptr_array_index ((GPtrArray *) g_ptr_array_index (operands, 0),
                                                                     (guint) gantry_attrs_int (module->context, node->attrs, "index", 0))));
      return TRUE;
    case GANTRY_OP_TUPLE:
      for (guint i = 0; i < operands->len; i++)
        g_ptr_array_add (value, gantry_literal_ref (g_ptr_array_index ((GPtrArray *) g_ptr_array_index (operands, i), 0)));
      return TRUE;
    case GANTRY_OP_SCAN:
    case GANTRY_OP_CALL:
    default: return evaluate (walk, node, operands, value);
    }
}

static gboolean
walk_nodes (Walk *walk, const GantryFunction *function, GPtrArray *arguments, GHashTable *values)
{
  const GantryModule *module = walk->program->module;

  for (guint i = 0; i < function->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[function->first_node + i];
      g_autoptr (GPtrArray) operands = g_ptr_array_new ();
      GPtrArray *value;

      if (i < function->n_params)
        {
          g_hash_table_insert (values, GUINT_TO_POINTER (node->id), g_ptr_array_ref (g_ptr_array_index (arguments, i)));
          continue;
        }
      for (guint j = 0; j < node->n_operands; j++)
        g_ptr_array_add (operands, g_hash_table_lookup (values, GUINT_TO_POINTER (gantry_node_operand_id (module, node, j))));
      value = value_new ();
      g_hash_table_insert (values, GUINT_TO_POINTER (node->id), value);
      if (!walk_node (walk, node, operands, value))
        return FALSE;
    }
  return TRUE;
}

static gboolean
walk_function (Walk *walk, const GantryFunction *function, GPtrArray *arguments, GPtrArray *results)
{
  const GantryModule *module = walk->program->module;
  g_autoptr (GHashTable) values = g_hash_table_new_full (NULL, NULL, NULL, value_free);

  if (!walk_nodes (walk, function, arguments, values))
    return FALSE;
  for (guint i = 0; i < function->n_results; i++)
    {
      GPtrArray *value = g_hash_table_lookup (values, GUINT_TO_POINTER (gantry_function_result_id (module, function, i)));

      g_ptr_array_add (results, gantry_literal_ref (g_ptr_array_index (value, 0)));
    }
  return TRUE;
}

/* What the results that are objects name, in place of the index. */
static void
take_objects (Walk *walk, GPtrArray *results)
{
  GantryPyProgram *program = walk->program;
  PyObject *table = PyList_New (0);

  for (guint i = 0; i < walk->objects->len; i++)
    PyList_Append (table, g_ptr_array_index (walk->objects, i));
  PyDict_SetItemString (PyTuple_GET_ITEM (program->kept, 1), "objects", table);
  Py_DECREF (table);
}

/* The cells of variables that functions of the run read are of one run. Returns: a new reference (nullable): those of a run around this */
static PyObject *
begin_cells (GantryPyProgram *program)
{
  PyObject *captures = PyDict_GetItemString (PyTuple_GET_ITEM (program->kept, 1), "captures");

  return captures != NULL ? PyObject_CallMethod (captures, "begin", NULL) : NULL;
}

static void
end_cells (GantryPyProgram *program, PyObject *cells)
{
  PyObject *captures = cells != NULL ? PyDict_GetItemString (PyTuple_GET_ITEM (program->kept, 1), "captures") : NULL;
  PyObject *type, *value, *traceback;

  PyErr_Fetch (&type, &value, &traceback);
  if (captures != NULL)
    Py_XDECREF (PyObject_CallMethod (captures, "end", "O", cells));
  PyErr_Restore (type, value, traceback);
  Py_XDECREF (cells);
}

gboolean
gantry_py_walk (GantryPyProgram *program, GantryLiteral *const *arguments, GantryLiteral **results)
{
  const GantryFunction *entry = gantry_module_entry (program->module);
  Walk walk = { program, g_ptr_array_new_with_free_func ((GDestroyNotify) Py_DecRef) };
  g_autoptr (GPtrArray) in = g_ptr_array_new_with_free_func (value_free), out = value_new ();
  PyObject *cells = begin_cells (program);
  gboolean fine;

  for (guint i = 0; i < entry->n_params; i++)
    {
      GPtrArray *value = value_new ();

      g_ptr_array_add (value, gantry_literal_ref (arguments[i]));
      g_ptr_array_add (in, value);
    }
  fine = walk_function (&walk, entry, in, out);
  end_cells (program, cells);
  if (fine)
    {
      take_objects (&walk, out);
      for (guint i = 0; i < out->len; i++)
        results[i] = gantry_literal_ref (g_ptr_array_index (out, i));
    }
  g_ptr_array_unref (walk.objects);
  return fine;
}
