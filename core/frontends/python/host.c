/* SPDX-License-Identifier: Apache-2.0 */
/* Host calls: what only CPython can do, done when the graph runs. In the graph it is a custom_call; its result is a
 * number, or the index of an object in the table of the run. */
#include "core/frontends/python/program.h"
#include "core/graph/context.h"
#include "core/graph/operation.h"
#include <string.h>

static const GantryElementType elements[] = {
  [GANTRY_PY_INT] = GANTRY_I64,
  [GANTRY_PY_FLOAT] = GANTRY_F64,
  [GANTRY_PY_BOOL] = GANTRY_BOOL,
  [GANTRY_PY_HANDLE] = GANTRY_I64,
};

static char *
place_text (const GantryPyNode *place)
{
  char *text = place != NULL ? gantry_py_node_text (place) : g_strdup ("");

  return text;
}

/* MindSpore's text, whose quotation ends where it does there. */
static PyObject *
refuse_strict (GantryTrace *trace)
{
  g_autofree char *text = place_text (trace->place);

  return PyErr_Format (PyExc_ValueError,
                       "When handling script '%s in graph mode', the inputs should be constant, but found variable to be "
                       "nonconstant. Try to set jit_syntax_level to LAX.",
                       text);
}

static guint32
host_attrs (GantryTrace *trace, guint32 index, guint32 type, const char *text)
{
  GantryAttrList *list = gantry_attr_list_new (trace->context);

  gantry_attr_list_set_string (list, "target", "python");
  gantry_attr_list_set_int (list, "host", index);
  gantry_attr_list_set_type (list, "to", type);
  gantry_attr_list_set_string (list, "text", text);
  return gantry_attr_list_end (list);
}

static gboolean
host_operands (GantryPyState *state, const GantryPyHostCall *host, GArray *ids)
{
  g_autoptr (GPtrArray) values = g_ptr_array_new ();

  gantry_py_collect_variables (host->args, values);
  if (host->kwargs != NULL)
    gantry_py_collect_variables (host->kwargs, values);
  for (guint i = 0; i < values->len; i++)
    {
      guint32 id = gantry_py_use (state, g_ptr_array_index (values, i));

      if (id == 0)
        return FALSE;
      g_array_append_val (ids, id);
    }
  return TRUE;
}

/* The element type of the tensors that a call has, and that what it has was made of. */
static guint8
source_of (const GantryPyHostCall *host)
{
  g_autoptr (GPtrArray) values = g_ptr_array_new ();
  guint8 source = GANTRY_ELEMENT_NONE;

  gantry_py_collect_variables (host->args, values);
  if (host->kwargs != NULL)
    gantry_py_collect_variables (host->kwargs, values);
  for (guint i = 0; i < values->len; i++)
    {
      const GantryPyValue *value = g_ptr_array_index (values, i);
      guint8 own = value->kind == GANTRY_PY_TENSOR ? (guint8) value->type->element : value->kind == GANTRY_PY_HANDLE ? value->source : GANTRY_ELEMENT_NONE;

      if (own != GANTRY_ELEMENT_NONE && source != GANTRY_ELEMENT_NONE && own != source)
        return GANTRY_PY_MIXED;
      source = own != GANTRY_ELEMENT_NONE ? own : source;
    }
  return source;
}

static PyObject *
add_call (GantryPyState *state, PyObject *callable, PyObject *args, PyObject *kwargs, GantryPyValueKind result)
{
  GantryTrace *trace = gantry_py_trace (state);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  GantryPyHostCall *host;
  PyObject *marked, *value;
  guint8 source;
  guint32 type, index = trace->root->hosts->len;

  host = g_new0 (GantryPyHostCall, 1);
  g_ptr_array_add (trace->root->hosts, host);
  host->callable = Py_NewRef (callable);
  marked = gantry_py_mark_records (state, args);
  host->args = marked != NULL ? gantry_py_with_parameters (state, marked) : NULL;
  host->kwargs = kwargs != NULL ? gantry_py_mark_records (state, kwargs) : NULL;
  Py_XDECREF (marked);
  host->result = (guint8) result;
  host->text = place_text (trace->place);
  if (trace->place != NULL)
    {
      g_autofree char *annotation = gantry_py_source_annotation (trace->place);
      char *type_name = annotation != NULL ? strstr (annotation, "tensor_type[") : NULL;

      host->file = g_strdup (trace->place->source->file);
      host->line = trace->place->line;
      if (type_name != NULL)
        host->element = PyUnicode_FromStringAndSize (type_name + 12, (Py_ssize_t) strcspn (type_name + 12, "]"));
    }
  if (host->args == NULL || (kwargs != NULL && host->kwargs == NULL) || !host_operands (state, host, ids))
    return NULL;
  source = source_of (host);
  /* Nothing says what type it has that is made of several: the most exact one. */
  if (callable == state->tensor && host->element == NULL && source == GANTRY_PY_MIXED)
    host->element = PyUnicode_FromString ("float64");
  type = gantry_context_scalar (trace->context, elements[result]);
  value = gantry_py_wrap (
    state, gantry_builder_add (trace->builder, GANTRY_OP_CUSTOM_CALL, (guint32 *) (gpointer) ids->data, ids->len, host_attrs (trace, index, type, host->text)),
    result);
  if (value != NULL && result == GANTRY_PY_HANDLE)
    ((GantryPyValue *) value)->source = source;
  return value;
}

PyObject *
gantry_py_host_call (GantryPyState *state, PyObject *callable, PyObject *args, PyObject *kwargs, GantryPyValueKind result)
{
  PyObject *all, *named = NULL, *value = NULL;

  if (gantry_py_trace (state)->strict)
    return refuse_strict (gantry_py_trace (state));
  all = gantry_py_with_functions (state, args);
  if (all != NULL && kwargs != NULL)
    named = gantry_py_with_functions (state, kwargs);
  if (all != NULL && (kwargs == NULL || named != NULL))
    value = add_call (state, callable, all, named, result);
  Py_XDECREF (all);
  Py_XDECREF (named);
  return value;
}
