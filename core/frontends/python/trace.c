/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of the graph being written, captures between them, parameters and what assignments changed. */
#include "core/frontends/python/trace.h"
#include "core/graph/context.h"
#include <string.h>

static void
region_free (gpointer data)
{
  GantryRegion *region = data;

  g_hash_table_unref (region->captured);
  g_array_unref (region->outer);
  g_array_unref (region->inner);
  g_free (region);
}

static void
host_free (gpointer data)
{
  GantryPyHostCall *host = data;

  Py_XDECREF (host->callable);
  Py_XDECREF (host->args);
  Py_XDECREF (host->kwargs);
  Py_XDECREF (host->element);
  g_free (host->text);
  g_free (host->file);
  g_free (host);
}

/* Before the first statement, and where eager code is recorded: every node has a location. */
static void
set_no_place (GantryTrace *trace)
{
  GantryLocation location = { .file = gantry_context_intern (trace->context, "python"), .text = gantry_context_intern (trace->context, "what Python called") };

  gantry_builder_set_place (trace->builder, 0, gantry_context_location (trace->context, &location));
}

GantryTrace *
gantry_py_trace_begin (GantryPyState *state, gboolean nested)
{
  GantryTrace *trace = g_new0 (GantryTrace, 1);

  nested = nested && gantry_py_trace (state) != NULL;
  trace->parent = gantry_py_trace (state);
  trace->root = nested ? gantry_py_trace (state)->root : trace;
  trace->context = nested ? gantry_context_ref (gantry_py_trace (state)->context) : gantry_context_new ();
  trace->builder = gantry_builder_new (trace->context, "python");
  trace->state = PyDict_New ();
  trace->serial = ++state->serials;
  trace->depth = trace->outer_depth = nested ? trace->parent->depth : 0;
  if (nested)
    {
      trace->place = trace->parent->place;
      trace->chain = trace->parent->chain;
      trace->strict = trace->parent->strict;
      trace->region = trace->parent->region;
    }
  else
    {
      trace->owners = g_hash_table_new (NULL, NULL);
      trace->made = g_hash_table_new (NULL, NULL);
      trace->spliced = g_hash_table_new (NULL, NULL);
      trace->regions = g_ptr_array_new_with_free_func (region_free);
      trace->hosts = g_ptr_array_new_with_free_func (host_free);
      trace->parameters = PyList_New (0);
      trace->parameter_nodes = g_array_new (FALSE, FALSE, sizeof (guint32));
      trace->kept = PyList_New (0);
      trace->scopes = PyDict_New ();
      trace->origins = PyDict_New ();
      trace->written = PyDict_New ();
      trace->alive = PyList_New (0);
    }
  gantry_py_set_trace (state, trace);
  trace->body = gantry_py_region_begin (trace, "main");
  set_no_place (trace);
  gantry_py_set_place (trace, trace->place);
  return trace;
}

void
gantry_py_trace_end (GantryPyState *state, GantryTrace *trace)
{
  g_assert (gantry_py_trace (state) == trace);
  gantry_py_set_trace (state, trace->parent);
  if (trace->root == trace)
    {
      g_hash_table_unref (trace->owners);
      g_hash_table_unref (trace->made);
      g_hash_table_unref (trace->spliced);
      g_ptr_array_unref (trace->regions);
      g_ptr_array_unref (trace->hosts);
      g_free (trace->calls);
      g_array_unref (trace->parameter_nodes);
      Py_DECREF (trace->parameters);
      Py_DECREF (trace->kept);
      Py_DECREF (trace->scopes);
      Py_DECREF (trace->origins);
      Py_DECREF (trace->written);
      Py_DECREF (trace->alive);
      Py_XDECREF (trace->inputs);
      Py_XDECREF (trace->reads);
      Py_XDECREF (trace->stale);
    }
  Py_DECREF (trace->state);
  gantry_builder_free (trace->builder);
  gantry_context_unref (trace->context);
  g_free (trace);
}

GantryRegion *
gantry_py_region_begin (GantryTrace *trace, const char *name)
{
  GantryRegion *region = g_new0 (GantryRegion, 1);

  region->parent = trace->region;
  region->builder = trace->builder;
  region->function = gantry_builder_begin (trace->builder, name, 0);
  region->captured = g_hash_table_new (NULL, NULL);
  region->outer = g_array_new (FALSE, FALSE, sizeof (guint32));
  region->inner = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_ptr_array_add (trace->root->regions, region);
  trace->region = region;
  return region;
}

void
gantry_py_region_leave (GantryTrace *trace, const guint32 *results, guint n_results)
{
  gantry_builder_end (trace->builder, results, n_results);
  trace->region = trace->region->parent;
}

gboolean
gantry_py_check_builder (GantryTrace *trace)
{
  g_autoptr (GError) error = NULL;

  if (gantry_builder_check (trace->builder, &error))
    return TRUE;
  if (!PyErr_Occurred ())
    PyErr_SetString (PyExc_ValueError, error->message);
  return FALSE;
}

static guint32
location_of (GantryTrace *trace, const GantryPyChain *chain, const GantryPyNode *node)
{
  GantryLocation location = { .file = gantry_context_intern (trace->context, node->source->file),
                              .line = node->line,
                              .column = node->column + 1,
                              .function = chain->function,
                              .parent = chain->parent,
                              .step = chain->step,
                              .number = chain->number };

  return gantry_context_location (trace->context, &location);
}

guint32
gantry_py_location (GantryTrace *trace, const GantryPyNode *node)
{
  return node->line != 0 ? location_of (trace, &trace->chain, node) : 0;
}

void
gantry_py_set_place (GantryTrace *trace, const GantryPyNode *node)
{
  trace->place = node;
  if (node != NULL && node->line != 0)
    gantry_builder_set_place (trace->builder, trace->root->scope, gantry_context_location_shortened (trace->context, location_of (trace, &trace->chain, node)));
}

void
gantry_py_chain_enter (GantryTrace *trace, const GantryPyChain *outer, const GantryPyNode *place, GantryLocationStep step, guint number, const char *function)
{
  trace->chain = *outer;
  if (function != NULL)
    trace->chain.function = gantry_context_intern (trace->context, function);
  if (place == NULL || place->line == 0)
    return;
  trace->chain.parent = location_of (trace, outer, place);
  trace->chain.step = step;
  trace->chain.number = number;
}

static void
own (GantryTrace *trace, GantryRegion *region, guint32 id)
{
  g_hash_table_insert (trace->root->owners, GUINT_TO_POINTER (id), region);
}

static guint32
capture (GantryTrace *trace, GantryRegion *region, guint32 outer, guint32 type)
{
  guint32 inner = GPOINTER_TO_UINT (g_hash_table_lookup (region->captured, GUINT_TO_POINTER (outer)));

  if (inner != 0)
    return inner;
  inner = gantry_builder_capture (region->builder, region->function, type);
  g_hash_table_insert (region->captured, GUINT_TO_POINTER (outer), GUINT_TO_POINTER (inner));
  g_array_append_val (region->outer, outer);
  g_array_append_val (region->inner, inner);
  own (trace, region, inner);
  return inner;
}

/* Node @id as @region sees it: itself, or the parameter at the end of a chain of captures. 0 where it does not see it. */
static guint32
reach (GantryTrace *trace, GantryRegion *region, guint32 id)
{
  GantryRegion *owner = g_hash_table_lookup (trace->root->owners, GUINT_TO_POINTER (id));
  guint32 outer;

  if (owner == region)
    return id;
  if (owner == NULL || region->parent == NULL)
    return 0;
  outer = reach (trace, region->parent, id);
  return outer != 0 ? capture (trace, region, outer, gantry_builder_type (owner->builder, id)) : 0;
}

/* A constant. Of equal elements the number is, broadcast: that costs nothing where it is read, and fuses. */
static guint32
lift (GantryTrace *trace, GantryRegion *region, GantryLiteral *literal)
{
  GantryContext *context = trace->context;
  guint rank = literal->splat ? 0 : literal->type->rank;
  const GantryType *type = gantry_context_type (context, gantry_context_tensor (context, literal->type->element, rank, literal->type->dims));
  g_autoptr (GBytes) bytes = g_bytes_new_with_free_func (literal->data, literal->size, (GDestroyNotify) gantry_literal_unref, gantry_literal_ref (literal));
  g_autoptr (GantryLiteral) own_literal = gantry_literal_new (type, bytes, literal->splat, NULL);
  guint32 id;

  if (own_literal == NULL)
    return 0;
  id = gantry_builder_literal (region->builder, own_literal);
  own (trace, region, id);
  if (rank == literal->type->rank)
    return id;
  id = gantry_builder_broadcast (region->builder, id, literal->type->rank, literal->type->dims, NULL);
  own (trace, region, id);
  return id;
}

guint32
gantry_py_use_in (GantryPyState *state, GantryRegion *region, PyObject *object)
{
  GantryTrace *trace = gantry_py_trace (state);
  PyObject *current = gantry_py_parameter_value (state, object);
  GantryPyValue *value = (GantryPyValue *) current;
  guint32 id = 0;

  if (current == NULL)
    return 0;
  if (value->node != 0 && value->trace_serial != trace->root->serial && value->literal == NULL)
    PyErr_SetString (PyExc_RuntimeError, "a variable of another graph is used: it was kept in an attribute or a global name");
  else if (value->node != 0 && value->trace_serial == trace->root->serial)
    {
      id = reach (trace, region, value->node);
      if (id == 0)
        PyErr_SetString (PyExc_RuntimeError, "a value is used outside of the branch or loop that computes it");
    }
  else
    id = lift (trace, region, value->literal);
  Py_DECREF (current);
  return id;
}

guint32
gantry_py_use (GantryPyState *state, PyObject *value)
{
  return gantry_py_use_in (state, gantry_py_trace (state)->region, value);
}

void
gantry_py_regions_align (GantryTrace *trace, GantryRegion **regions, guint n)
{
  for (guint i = 1; i < n; i++)
    for (guint j = 0; j < regions[i]->outer->len; j++)
      {
        guint32 outer = g_array_index (regions[i]->outer, guint32, j);
        GantryRegion *owner = g_hash_table_lookup (trace->root->owners, GUINT_TO_POINTER (outer));

        capture (trace, regions[0], outer, gantry_builder_type (owner->builder, outer));
      }
  for (guint i = 1; i < n; i++)
    for (guint j = 0; j < regions[0]->outer->len; j++)
      {
        guint32 outer = g_array_index (regions[0]->outer, guint32, j);
        GantryRegion *owner = g_hash_table_lookup (trace->root->owners, GUINT_TO_POINTER (outer));

        capture (trace, regions[i], outer, gantry_builder_type (owner->builder, outer));
      }
  for (guint i = 1; i < n; i++)
    {
      GArray *inner = g_array_new (FALSE, FALSE, sizeof (guint32));

      for (guint j = 0; j < regions[0]->outer->len; j++)
        {
          guint32 id = GPOINTER_TO_UINT (g_hash_table_lookup (regions[i]->captured, GUINT_TO_POINTER (g_array_index (regions[0]->outer, guint32, j))));

          g_array_append_val (inner, id);
        }
      gantry_builder_order_captures (regions[i]->builder, regions[i]->function, (const guint32 *) (gpointer) inner->data, inner->len);
      g_array_set_size (regions[i]->outer, 0);
      g_array_append_vals (regions[i]->outer, regions[0]->outer->data, regions[0]->outer->len);
      g_array_unref (regions[i]->inner);
      regions[i]->inner = inner;
    }
}

PyObject *
gantry_py_wrap (GantryPyState *state, guint32 id, GantryPyValueKind kind)
{
  GantryTrace *trace = gantry_py_trace (state);
  const GantryType *type;
  PyObject *tuple;

  if (!gantry_py_check_builder (trace) || id == 0)
    return NULL;
  own (trace, trace->region, id);
  type = gantry_builder_get_type (trace->builder, id);
  if (type->kind != GANTRY_TYPE_TUPLE)
    return gantry_py_variable_new (state, id, kind);
  tuple = PyTuple_New (type->rank);
  for (guint i = 0; tuple != NULL && i < type->rank; i++)
    {
      PyObject *member = gantry_py_wrap (state, gantry_builder_result (trace->builder, id, i), kind);

      if (member == NULL)
        {
          Py_DECREF (tuple);
          return NULL;
        }
      PyTuple_SET_ITEM (tuple, i, member);
    }
  return tuple;
}

PyObject *
gantry_py_trace_parameter (GantryPyState *state, guint32 type, const char *name, GantryPyValueKind kind)
{
  GantryTrace *trace = gantry_py_trace (state);
  guint32 id = gantry_builder_capture (trace->builder, trace->region->function, type);

  if (name != NULL)
    gantry_builder_name_node (trace->builder, id, gantry_context_intern (trace->context, name));
  return gantry_py_wrap (state, id, kind);
}

/* Parameters */

static PyObject *
key_of (PyObject *object)
{
  return PyLong_FromVoidPtr (object);
}

static PyObject *
look_up (GantryTrace *trace, PyObject *parameter)
{
  PyObject *key = key_of (parameter), *found = NULL;

  for (GantryTrace *t = trace; found == NULL && t != NULL; t = t != t->root ? t->parent : NULL)
    found = PyDict_GetItemWithError (t->state, key);
  Py_DECREF (key);
  return Py_XNewRef (found);
}

static int
note (GantryTrace *trace, PyObject *parameter, PyObject *value)
{
  PyObject *key = key_of (parameter);
  int done = PyDict_SetItem (trace->state, key, value);

  Py_DECREF (key);
  return done < 0 ? done : PyList_Append (trace->root->kept, parameter);
}

/* The first time that a graph reads it, it becomes an input of the outermost function. */
static PyObject *
make_input (GantryPyState *state, PyObject *parameter)
{
  GantryTrace *trace = gantry_py_trace (state), *root = trace->root;
  const GantryType *type = ((GantryPyValue *) parameter)->type;
  guint32 id = gantry_builder_capture (root->builder, root->body->function, gantry_context_tensor (root->context, type->element, type->rank, type->dims));
  PyObject *name = PyObject_GetAttrString (parameter, "name"), *value;

  if (name != NULL && PyUnicode_Check (name))
    gantry_builder_name_node (root->builder, id, gantry_context_intern (root->context, PyUnicode_AsUTF8 (name)));
  PyErr_Clear ();
  Py_XDECREF (name);
  own (root, root->body, id);
  PyList_Append (root->parameters, parameter);
  g_array_append_val (root->parameter_nodes, id);
  value = gantry_py_variable_new (state, id, GANTRY_PY_TENSOR);
  if (value == NULL)
    return NULL;
  if (trace->record || root->record)
    {
      PyObject *key = key_of (parameter);

      /* The record is run with what was read here, whatever the function assigns later. */
      ((GantryPyValue *) value)->literal = gantry_literal_ref (((GantryPyValue *) parameter)->literal);
      PyDict_SetItem (root->origins, key, value);
      Py_DECREF (key);
    }
  note (root, parameter, value);
  return value;
}

PyObject *
gantry_py_parameter_value (GantryPyState *state, PyObject *object)
{
  PyObject *value;

  if (gantry_py_trace (state) == NULL || !((GantryPyValue *) object)->is_parameter || ((GantryPyValue *) object)->node != 0)
    return Py_NewRef (object);
  value = look_up (gantry_py_trace (state), object);
  return value != NULL ? value : make_input (state, object);
}

static gboolean
in_gradient (const GantryTrace *trace)
{
  for (; trace != NULL && !trace->record; trace = trace != trace->root ? trace->parent : NULL)
    if (trace->gradient != NULL)
      return TRUE;
  return FALSE;
}

/* What is read of a Parameter is the Parameter, whatever was assigned: its derivative is that by the Parameter alone. */
static PyObject *
as_parameter (GantryPyState *state, PyObject *parameter, PyObject *value, PyObject *before)
{
  PyObject *hook = PyDict_GetItemString (state->hooks, "as_parameter");
  gboolean wanted = gantry_py_gradient_wants (gantry_py_trace (state), parameter);

  if (hook == NULL || !in_gradient (gantry_py_trace (state)))
    return Py_NewRef (value);
  return PyObject_CallFunctionObjArgs (hook, value, wanted ? before : Py_None, NULL);
}

static int
assign (GantryPyState *state, PyObject *parameter, PyObject *value)
{
  PyObject *before;
  int done;

  if (gantry_py_trace (state) == NULL)
    {
      gantry_py_value_set ((GantryPyValue *) parameter, gantry_literal_ref (((GantryPyValue *) value)->literal));
      return 0;
    }
  /* It has to be an input, so that what is assigned is written back. */
  before = gantry_py_parameter_value (state, parameter);
  if (before == NULL)
    return -1;
  value = as_parameter (state, parameter, value, before);
  Py_DECREF (before);
  if (value == NULL)
    return -1;
  done = note (gantry_py_trace (state), parameter, value);
  gantry_py_trace (state)->root->n_assigned++;
  gantry_py_trace (state)->root->assigns_parameters = !gantry_py_trace (state)->root->record;
  if (gantry_py_trace (state)->root->record && ((GantryPyValue *) value)->literal != NULL)
    gantry_py_value_set ((GantryPyValue *) parameter, gantry_literal_ref (((GantryPyValue *) value)->literal));
  Py_DECREF (value);
  return done;
}

int
gantry_py_parameter_assign (GantryPyState *state, PyObject *parameter, PyObject *assigned)
{
  PyObject *value = gantry_py_as_stored (state, assigned, (GantryElementType) ((GantryPyValue *) parameter)->type->element);
  int done = value != NULL ? assign (state, parameter, value) : -1;

  Py_XDECREF (value);
  return done;
}
