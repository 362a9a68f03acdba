/* SPDX-License-Identifier: Apache-2.0 */
/* `_gantry.Value`: what tensors, variable numbers and handles have in common; its buffer is the tensor's memory, so that NumPy
 * reads and writes it without a copy. */
#include "core/frontends/python/interpreter-private.h"
#include "core/frontends/python/trace.h"
#include "core/graph/context.h"
#include <string.h>

gboolean
gantry_py_value_check (PyObject *object)
{
  return PyObject_TypeCheck (object, (PyTypeObject *) gantry_py_state ()->value_type);
}

gboolean
gantry_py_is_handle (PyObject *object)
{
  return gantry_py_value_check (object) && ((GantryPyValue *) object)->kind == GANTRY_PY_HANDLE;
}

/* Structures */

typedef gboolean (*Visit) (PyObject *leaf, gpointer data); /* TRUE: enough */

typedef struct
{
  Visit visit;
  gpointer data;
  gboolean once; /* a container that several hold is walked once */
  guint depth;
  GHashTable *seen; /* (nullable): containers within containers, where @once */
} Walk;

static gboolean walk_within (Walk *walk, PyObject *object);

/* Flat containers and what they hold are not written down: most are no deeper. */
static gboolean
was_seen (Walk *walk, PyObject *object)
{
  if (!walk->once || walk->depth < 2)
    return FALSE;
  if (walk->seen == NULL)
    walk->seen = g_hash_table_new (NULL, NULL);
  return !g_hash_table_add (walk->seen, object);
}

static gboolean
walk_items (Walk *walk, PyObject *object)
{
  gboolean enough = FALSE;
  PyObject *key, *value;
  Py_ssize_t at = 0;

  if (PyDict_Check (object))
    while (!enough && PyDict_Next (object, &at, &key, &value))
      enough = walk_within (walk, value);
  else
    for (Py_ssize_t i = 0; !enough && i < PySequence_Fast_GET_SIZE (object); i++)
      enough = walk_within (walk, PySequence_Fast_GET_ITEM (object, i));
  return enough;
}

static gboolean
walk_within (Walk *walk, PyObject *object)
{
  gboolean enough;

  if (PySlice_Check (object))
    return walk_within (walk, ((PySliceObject *) object)->start) || walk_within (walk, ((PySliceObject *) object)->stop)
           || walk_within (walk, ((PySliceObject *) object)->step);
  if (!PyTuple_Check (object) && !PyList_Check (object) && !PyDict_Check (object))
    return walk->visit (object, walk->data);
  if (was_seen (walk, object))
    return FALSE;
  if (Py_EnterRecursiveCall (" in an object that holds itself") != 0)
    return TRUE;
  walk->depth++;
  enough = walk_items (walk, object);
  walk->depth--;
  Py_LeaveRecursiveCall ();
  return enough;
}

/* Returns: TRUE where it was enough, and with an exception where @object is nested too deep */
static gboolean
walk (PyObject *object, Visit visit, gpointer data, gboolean once)
{
  Walk walk = { .visit = visit, .data = data, .once = once };
  gboolean enough = walk_within (&walk, object);

  g_clear_pointer (&walk.seen, g_hash_table_unref);
  return enough;
}

static gboolean
visit_variable (PyObject *leaf, gpointer data)
{
  return gantry_py_is_variable (leaf);
}

static gboolean
visit_handle (PyObject *leaf, gpointer data)
{
  return gantry_py_is_handle (leaf);
}

static gboolean
visit_collect (PyObject *leaf, gpointer data)
{
  if (gantry_py_is_variable (leaf))
    g_ptr_array_add (data, leaf);
  return FALSE;
}

gboolean
gantry_py_holds_variable (PyObject *object)
{
  return walk (object, visit_variable, NULL, TRUE);
}

gboolean
gantry_py_holds_handle (PyObject *object)
{
  return walk (object, visit_handle, NULL, TRUE);
}

void
gantry_py_collect_variables (PyObject *object, GPtrArray *values)
{
  walk (object, visit_collect, values, FALSE);
}

static PyObject *
replace_slice (PyObject *object, PyObject *const *values, guint *next)
{
  PySliceObject *slice = (PySliceObject *) object;
  PyObject *start = gantry_py_replace_variables (slice->start, values, next);
  PyObject *stop = start != NULL ? gantry_py_replace_variables (slice->stop, values, next) : NULL;
  PyObject *step = stop != NULL ? gantry_py_replace_variables (slice->step, values, next) : NULL;
  PyObject *result = step != NULL ? PySlice_New (start, stop, step) : NULL;

  Py_XDECREF (start);
  Py_XDECREF (stop);
  Py_XDECREF (step);
  return result;
}

static PyObject *
replace_dict (PyObject *object, PyObject *const *values, guint *next)
{
  PyObject *result = PyDict_New (), *key, *value;
  Py_ssize_t at = 0;

  while (result != NULL && PyDict_Next (object, &at, &key, &value))
    {
      PyObject *item = gantry_py_replace_variables (value, values, next);

      if (item == NULL || PyDict_SetItem (result, key, item) < 0)
        Py_CLEAR (result);
      Py_XDECREF (item);
    }
  return result;
}

/* A named tuple stays one. */
static PyObject *
tuple_like (PyObject *object, PyObject *items)
{
  PyObject *make, *result;

  if (PyTuple_CheckExact (object))
    return items;
  make = PyObject_GetAttrString ((PyObject *) Py_TYPE (object), "_make");
  if (make == NULL)
    {
      PyErr_Clear ();
      return items;
    }
  result = PyObject_CallOneArg (make, items);
  Py_DECREF (make);
  Py_DECREF (items);
  return result;
}

PyObject *
gantry_py_replace_variables (PyObject *object, PyObject *const *values, guint *next)
{
  if (PyTuple_Check (object) || PyList_Check (object))
    {
      Py_ssize_t n = PySequence_Fast_GET_SIZE (object);
      PyObject *result = PyTuple_Check (object) ? PyTuple_New (n) : PyList_New (n);

      for (Py_ssize_t i = 0; i < n; i++)
        {
          PyObject *item = gantry_py_replace_variables (PySequence_Fast_GET_ITEM (object, i), values, next);

          if (item == NULL)
            {
              Py_DECREF (result);
              return NULL;
            }
          if (PyTuple_Check (object))
            PyTuple_SET_ITEM (result, i, item);
          else
            PyList_SET_ITEM (result, i, item);
        }
      return PyTuple_Check (object) ? tuple_like (object, result) : result;
    }
  if (PyDict_Check (object))
    return replace_dict (object, values, next);
  if (PySlice_Check (object))
    return replace_slice (object, values, next);
  return Py_NewRef (gantry_py_is_variable (object) ? values[(*next)++] : object);
}

/* Making values */

static GantryPyValue *
allocate (PyObject *type)
{
  return (GantryPyValue *) ((PyTypeObject *) type)->tp_alloc ((PyTypeObject *) type, 0);
}

GantryLiteral *
gantry_py_adopt (GantryPyState *state, GantryLiteral *literal)
{
  const GantryType *type = gantry_context_type (state->context,
                                                gantry_context_tensor (state->context, literal->type->element, literal->type->rank, literal->type->dims));
  g_autoptr (GBytes) bytes = NULL;

  if (type == literal->type)
    return gantry_literal_ref (literal);
  bytes = g_bytes_new_with_free_func (literal->data, literal->size, (GDestroyNotify) gantry_literal_unref, gantry_literal_ref (literal));
  return gantry_literal_new (type, bytes, literal->splat, NULL);
}

static void
take (GantryPyState *state, GantryPyValue *value, GantryLiteral *literal)
{
  value->literal = literal;
  value->type = literal->type;
  value->birth = ++state->births;
  value->context = gantry_context_ref (state->context);
  value->kind = GANTRY_PY_TENSOR;
}

PyObject *
gantry_py_value_new (GantryPyState *state, GantryLiteral *literal)
{
  GantryPyValue *value = allocate (state->tensor != NULL ? state->tensor : state->value_type);

  if (value == NULL)
    {
      gantry_literal_unref (literal);
      return NULL;
    }
  take (state, value, literal);
  return (PyObject *) value;
}

void
gantry_py_value_set (GantryPyValue *value, GantryLiteral *literal)
{
  gantry_literal_unref (value->literal);
  value->literal = literal;
  value->type = literal->type;
}

PyObject *
gantry_py_variable_new (GantryPyState *state, guint32 node, GantryPyValueKind kind)
{
  GantryTrace *trace = gantry_py_trace (state);
  PyObject *type = kind == GANTRY_PY_TENSOR ? state->tensor : kind == GANTRY_PY_HANDLE ? state->external : state->scalar;
  GantryPyValue *value = allocate (type);
  GantryRegion *owner = g_hash_table_lookup (trace->root->owners, GUINT_TO_POINTER (node));

  if (value == NULL)
    return NULL;
  value->context = gantry_context_ref (trace->context);
  value->type = gantry_builder_get_type (owner->builder, node);
  value->node = node;
  value->kind = kind;
  value->trace_serial = trace->root->serial;
  value->birth = ++state->births;
  return (PyObject *) value;
}

PyObject *
gantry_py_object_of (GantryPyState *state, GantryLiteral *literal, GantryPyValueKind kind)
{
  switch (kind)
    {
    case GANTRY_PY_INT: return PyLong_FromLongLong (gantry_literal_get_int (literal, 0));
    case GANTRY_PY_FLOAT: return PyFloat_FromDouble (gantry_literal_get_double (literal, 0));
    case GANTRY_PY_BOOL: return PyBool_FromLong (gantry_literal_get_int (literal, 0) != 0);
    case GANTRY_PY_HANDLE:
    case GANTRY_PY_TENSOR:
    default: return gantry_py_value_new (state, gantry_py_adopt (state, literal));
    }
}

/* The type */

static int
value_traverse (PyObject *self, visitproc visit, void *arg)
{
  Py_VISIT (Py_TYPE (self));
  return 0;
}

static void
value_dealloc (PyObject *self)
{
  GantryPyValue *value = (GantryPyValue *) self;
  PyTypeObject *type = Py_TYPE (self);

  PyObject_GC_UnTrack (self);
  g_clear_pointer (&value->literal, gantry_literal_unref);
  g_clear_pointer (&value->context, gantry_context_unref);
  type->tp_free (self);
  Py_DECREF (type);
}

/* Dense bytes of its own, which may be written: what is exported. */
static gboolean
make_dense (GantryPyState *state, GantryPyValue *value)
{
  guint8 *data;
  GantryLiteral *dense;
  g_autoptr (GError) error = NULL;

  if (!value->literal->splat)
    return TRUE;
  dense = gantry_literal_try_new_pages (value->literal->type, "a tensor", &data, &error);
  if (dense == NULL)
    {
      PyErr_SetString (PyExc_MemoryError, error->message);
      return FALSE;
    }
  gantry_literal_copy_to (value->literal, data);
  gantry_py_value_set (value, dense);
  return TRUE;
}

static const char *
format_of (GantryElementType element)
{
  static const char *const formats[GANTRY_N_ELEMENT_TYPES] = {
    [GANTRY_BOOL] = "?", [GANTRY_I8] = "b",  [GANTRY_I16] = "h", [GANTRY_I32] = "i", [GANTRY_I64] = "q", [GANTRY_U8] = "B",
    [GANTRY_U16] = "H",  [GANTRY_U32] = "I", [GANTRY_U64] = "Q", [GANTRY_F16] = "e", [GANTRY_F32] = "f", [GANTRY_F64] = "d",
  };

  return formats[element];
}

static int
value_get_buffer (PyObject *self, Py_buffer *view, int flags)
{
  GantryPyValue *value = (GantryPyValue *) self;
  const char *format;
  Py_ssize_t *dims, stride;

  view->obj = NULL;
  if (value->literal == NULL || (format = format_of (value->type->element)) == NULL)
    {
      PyErr_SetString (PyExc_BufferError, value->literal == NULL ? "the value of a variable is not known while compiling" : "bfloat16 has no buffer format");
      return -1;
    }
  if (!make_dense (gantry_py_state (), value))
    return -1;
  view->buf = (void *) value->literal->data;
  view->len = (Py_ssize_t) value->literal->size;
  view->itemsize = (Py_ssize_t) gantry_element_size (value->type->element);
  view->readonly = 0;
  view->ndim = (int) value->type->rank;
  view->format = (char *) format;
  view->suboffsets = NULL;
  dims = g_new (Py_ssize_t, 2 * MAX (value->type->rank, 1));
  stride = view->itemsize;
  for (guint d = value->type->rank; d-- > 0; stride *= (Py_ssize_t) value->type->dims[d])
    {
      dims[d] = (Py_ssize_t) value->type->dims[d];
      dims[value->type->rank + d] = stride;
    }
  view->shape = dims;
  view->strides = dims + value->type->rank;
  /* The bytes live as long as the view, also when the tensor is given others. */
  view->internal = gantry_literal_ref (value->literal);
  view->obj = Py_NewRef (self);
  return 0;
}

static void
value_release_buffer (PyObject *self, Py_buffer *view)
{
  g_free (view->shape);
  gantry_literal_unref (view->internal);
}

static PyObject *
value_shape (PyObject *self, void *closure)
{
  const GantryType *type = ((GantryPyValue *) self)->type;
  PyObject *shape = PyTuple_New (type->rank);

  for (guint d = 0; d < type->rank; d++)
    PyTuple_SET_ITEM (shape, d, PyLong_FromLongLong (type->dims[d]));
  return shape;
}

static PyObject *
value_element (PyObject *self, void *closure)
{
  GantryPyState *state = gantry_py_state ();
  GantryElementType stored = (GantryElementType) ((GantryPyValue *) self)->type->element;

  return PyUnicode_InternFromString (gantry_element_name (closure == NULL ? gantry_py_read_element (state, self) : stored));
}

static PyObject *
value_memory (PyObject *self, void *closure)
{
  return PyUnicode_InternFromString (gantry_memory_kind_name ((GantryMemoryKind) ((GantryPyValue *) self)->type->memory));
}

static PyObject *
value_is_variable (PyObject *self, void *closure)
{
  return PyBool_FromLong (((GantryPyValue *) self)->node != 0);
}

static PyObject *
value_has_data (PyObject *self, void *closure)
{
  return PyBool_FromLong (((GantryPyValue *) self)->literal != NULL);
}

static PyObject *
value_number_kind (PyObject *self, void *closure)
{
  static const char *const names[] = { "tensor", "int", "float", "bool", "object" };

  return PyUnicode_InternFromString (names[((GantryPyValue *) self)->kind]);
}

static PyObject *
value_get_flag (PyObject *self, void *closure)
{
  GantryPyValue *value = (GantryPyValue *) self;

  return PyBool_FromLong (closure != NULL ? value->is_mutable : value->is_parameter);
}

static int
value_set_flag (PyObject *self, PyObject *flag, void *closure)
{
  GantryPyValue *value = (GantryPyValue *) self;

  if (closure != NULL)
    value->is_mutable = (guint8) PyObject_IsTrue (flag);
  else
    value->is_parameter = (guint8) PyObject_IsTrue (flag);
  return 0;
}

static PyObject *
value_read (PyObject *self, Py_ssize_t index)
{
  const GantryLiteral *literal = ((GantryPyValue *) self)->literal;
  GantryElementType element = (GantryElementType) literal->type->element;

  if (element == GANTRY_BOOL)
    return PyBool_FromLong (gantry_literal_get_int (literal, index) != 0);
  if (element == GANTRY_U64)
    return PyLong_FromUnsignedLongLong ((guint64) gantry_literal_get_int (literal, index));
  if (gantry_element_is_integer (element))
    return PyLong_FromLongLong (gantry_literal_get_int (literal, index));
  return PyFloat_FromDouble (gantry_literal_get_double (literal, index));
}

static PyObject *
list_from (PyObject *self, guint d, Py_ssize_t *index)
{
  const GantryType *type = ((GantryPyValue *) self)->type;
  PyObject *list;

  if (d == type->rank)
    return value_read (self, (*index)++);
  list = PyList_New ((Py_ssize_t) type->dims[d]);
  for (Py_ssize_t i = 0; i < (Py_ssize_t) type->dims[d]; i++)
    PyList_SET_ITEM (list, i, list_from (self, d + 1, index));
  return list;
}

PyObject *
gantry_py_value_list (PyObject *self)
{
  Py_ssize_t index = 0;

  if (((GantryPyValue *) self)->literal == NULL)
    {
      PyErr_SetString (_gantry_py_hook (gantry_py_state (), "NeedsData"), "the value of a variable is not known while compiling");
      return NULL;
    }
  return list_from (self, 0, &index);
}

static PyObject *
value_list (PyObject *self, PyObject *unused)
{
  return gantry_py_value_list (self);
}

/* Takes over the value of another: assignment and construction. */
static PyObject *
value_take (PyObject *self, PyObject *other)
{
  GantryPyValue *value = (GantryPyValue *) self, *from;

  if (!gantry_py_value_check (other))
    {
      PyErr_SetString (PyExc_TypeError, "a value takes over a value");
      return NULL;
    }
  from = (GantryPyValue *) other;
  if (from->literal != NULL)
    gantry_literal_ref (from->literal);
  g_clear_pointer (&value->literal, gantry_literal_unref);
  value->literal = from->literal;
  gantry_context_ref (from->context);
  g_clear_pointer (&value->context, gantry_context_unref);
  value->context = from->context;
  value->type = from->type;
  value->node = from->node;
  value->kind = from->kind;
  value->trace_serial = from->trace_serial;
  value->birth = ++gantry_py_state ()->births;
  Py_RETURN_NONE;
}

PyObject *
gantry_py_value_type_new (PyObject *module)
{
  static PyGetSetDef members[] = {
    { "shape", value_shape, NULL, "sizes of the dimensions", NULL },
    { "element", value_element, NULL, "name of the element type", NULL },
    { "stored_element", value_element, NULL, "the same, whatever the Cell that runs computes in", "" },
    { "memory", value_memory, NULL, "memory kind that the node of a variable lies in", NULL },
    { "is_variable", value_is_variable, NULL, "not known while compiling", NULL },
    { "has_data", value_has_data, NULL, "has bytes", NULL },
    { "number_kind", value_number_kind, NULL, "tensor, int, float, bool or object", NULL },
    { "_is_parameter", value_get_flag, value_set_flag, "a Parameter", NULL },
    { "_is_mutable", value_get_flag, value_set_flag, "made by mutable ()", "" },
    { NULL },
  };
  static PyMethodDef methods[] = {
    { "tolist", value_list, METH_NOARGS, "nested lists of numbers" },
    { "_take", value_take, METH_O, "takes over the value of another" },
    { NULL },
  };
  static PyType_Slot slots[] = {
    { Py_tp_dealloc, value_dealloc },
    { Py_tp_traverse, value_traverse },
    { Py_tp_getset, members },
    { Py_tp_methods, methods },
    { Py_bf_getbuffer, value_get_buffer },
    { Py_bf_releasebuffer, value_release_buffer },
    { 0, NULL },
  };
  static PyType_Spec spec = {
    .name = "_gantry.Value",
    .basicsize = sizeof (GantryPyValue),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
  };

  return PyType_FromModuleAndSpec (module, &spec, NULL);
}
