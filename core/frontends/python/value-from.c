/* SPDX-License-Identifier: Apache-2.0 */
/* Known values made of what Python has: numbers, nested sequences, buffers (NumPy's arrays among them). */
#include "core/frontends/python/trace.h"
#include "core/graph/context.h"
#include <string.h>

static GantryElementType
element_of_format (const char *format, Py_ssize_t size)
{
  char kind = format != NULL ? format[strspn (format, "@=<")] : 'B';

  switch (kind)
    {
    case '?': return GANTRY_BOOL;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n': return size == 1 ? GANTRY_I8 : size == 2 ? GANTRY_I16 : size == 4 ? GANTRY_I32 : GANTRY_I64;
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N':
    case 'c': return size == 1 ? GANTRY_U8 : size == 2 ? GANTRY_U16 : size == 4 ? GANTRY_U32 : GANTRY_U64;
    case 'e': return GANTRY_F16;
    case 'f': return GANTRY_F32;
    case 'd': return GANTRY_F64;
    default: return GANTRY_ELEMENT_NONE;
    }
}

static GantryLiteral *
zeroed (GantryPyState *state, GantryElementType element, guint rank, const GantryDim *dims, guint8 **data)
{
  const GantryType *type = gantry_context_type (state->context, gantry_context_tensor (state->context, element, rank, dims));
  g_autoptr (GError) error = NULL;
  GantryLiteral *literal;

  if (gantry_type_bytes (type) < 0)
    {
      PyErr_SetString (PyExc_ValueError, "the tensor is too large");
      return NULL;
    }
  literal = gantry_literal_try_new_pages (type, "a tensor", data, &error);
  if (literal == NULL)
    PyErr_SetString (PyExc_MemoryError, error->message);
  return literal;
}

static const GantryType *
type_of_buffer (GantryPyState *state, const Py_buffer *view)
{
  GantryElementType element = element_of_format (view->format, view->itemsize);
  GantryDim dims[GANTRY_MAX_RANK];

  if (element == GANTRY_ELEMENT_NONE || view->ndim > GANTRY_MAX_RANK)
    {
      PyErr_Format (PyExc_TypeError, "a tensor cannot be made of a buffer of format '%s' with %d dimensions", view->format != NULL ? view->format : "B",
                    view->ndim);
      return NULL;
    }
  for (int d = 0; d < view->ndim; d++)
    dims[d] = view->shape[d];
  return gantry_context_type (state->context, gantry_context_tensor (state->context, element, (guint) view->ndim, dims));
}

static GantryLiteral *
from_buffer (GantryPyState *state, Py_buffer *view)
{
  const GantryType *type = type_of_buffer (state, view);
  GantryLiteral *literal;
  guint8 *data;

  literal = type != NULL ? zeroed (state, (GantryElementType) type->element, type->rank, type->dims, &data) : NULL;
  if (literal != NULL && view->len > 0 && PyBuffer_ToContiguous (data, view, view->len, 'C') < 0)
    g_clear_pointer (&literal, gantry_literal_unref);
  return literal;
}

static void
release_view (gpointer data)
{
  /* What outlives the interpreter went with it. */
  if (Py_IsInitialized ())
    PyBuffer_Release (data);
  g_free (data);
}

/* _gantry.value_shared (object): a tensor whose bytes are those of a buffer in C order; None where they have to be copied. */
PyObject *
gantry_py_value_shared (PyObject *module, PyObject *object)
{
  GantryPyState *state = gantry_py_state ();
  Py_buffer *view = g_new0 (Py_buffer, 1);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  const GantryType *type;
  GantryLiteral *literal;

  if (!PyObject_CheckBuffer (object) || PyObject_GetBuffer (object, view, PyBUF_FULL_RO) < 0)
    {
      PyErr_Clear ();
      g_free (view);
      Py_RETURN_NONE;
    }
  bytes = g_bytes_new_with_free_func (view->buf, (gsize) view->len, release_view, view);
  if (view->len == 0 || !PyBuffer_IsContiguous (view, 'C') || GPOINTER_TO_SIZE (view->buf) % (gsize) view->itemsize != 0)
    Py_RETURN_NONE;
  type = type_of_buffer (state, view);
  if (type == NULL)
    return NULL;
  literal = gantry_literal_new (type, bytes, FALSE, &error);
  return literal != NULL ? gantry_py_value_new (state, literal) : PyErr_Format (PyExc_RuntimeError, "%s", error->message);
}

/* Nested sequences */

typedef struct
{
  guint rank;
  GantryDim dims[GANTRY_MAX_RANK];
  gboolean ended; /* a number, tensor or empty sequence has said what the rank is */
  GantryElementType element;
  guint8 *data;
  gsize size, at;
} Nest;

static int
level_of (GantryElementType element)
{
  return element == GANTRY_ELEMENT_NONE ? 0 : element == GANTRY_BOOL ? 1 : gantry_element_is_integer (element) ? 2 : 3;
}

static void
join_element (Nest *nest, GantryElementType element)
{
  if (level_of (element) > level_of (nest->element)
      || (level_of (element) == level_of (nest->element) && gantry_element_size (element) > gantry_element_size (nest->element)))
    nest->element = element;
}

/* What lies at @depth has @rank dimensions and then nothing, or not known what: those that lay beside it have to have the same. */
static gboolean
join_dims (Nest *nest, guint depth, guint rank, const GantryDim *dims, gboolean ends)
{
  if (depth + rank > GANTRY_MAX_RANK)
    {
      PyErr_Format (PyExc_ValueError, "a tensor has at most %d dimensions", GANTRY_MAX_RANK);
      return FALSE;
    }
  if (!nest->ended)
    for (guint d = nest->rank; d < depth + rank; d++)
      nest->dims[nest->rank++] = dims[d - depth];
  nest->ended = nest->ended || ends;
  if ((ends ? depth + rank != nest->rank : depth + rank > nest->rank) || (rank > 0 && memcmp (nest->dims + depth, dims, rank * sizeof *dims) != 0))
    {
      PyErr_SetString (PyExc_ValueError, "a tensor is made of sequences of equal lengths and depths");
      return FALSE;
    }
  return TRUE;
}

static gboolean
survey (Nest *nest, PyObject *object, guint depth)
{
  if (PyList_Check (object) || PyTuple_Check (object))
    {
      Py_ssize_t n = PySequence_Fast_GET_SIZE (object);
      GantryDim dim = n;

      if (!join_dims (nest, depth, 1, &dim, n == 0))
        return FALSE;
      for (Py_ssize_t i = 0; i < n; i++)
        if (!survey (nest, PySequence_Fast_GET_ITEM (object, i), depth + 1))
          return FALSE;
      return TRUE;
    }
  if (gantry_py_value_check (object))
    {
      const GantryType *type = ((GantryPyValue *) object)->type;

      join_element (nest, (GantryElementType) type->element);
      return join_dims (nest, depth, type->rank, type->dims, TRUE);
    }
  if (PyBool_Check (object))
    join_element (nest, GANTRY_BOOL);
  else if (PyLong_Check (object))
    join_element (nest, GANTRY_I64);
  else if (PyFloat_Check (object))
    join_element (nest, nest->element == GANTRY_F64 ? GANTRY_F64 : GANTRY_F32);
  else if (PyNumber_Check (object) && PyIndex_Check (object))
    join_element (nest, GANTRY_I64);
  else if (PyNumber_Check (object))
    join_element (nest, GANTRY_F64);
  else
    {
      PyErr_Format (PyExc_TypeError, "For Tensor, the input_data is %R that contain unsupported element.", object);
      return FALSE;
    }
  return join_dims (nest, depth, 0, NULL, TRUE);
}

static gboolean
write_number (Nest *nest, PyObject *object)
{
  if (gantry_element_is_integer (nest->element) && (PyLong_Check (object) || PyIndex_Check (object)))
    {
      PyObject *index = PyNumber_Index (object);
      long long value = index != NULL ? PyLong_AsLongLong (index) : -1;

      if (PyErr_Occurred () && nest->element == GANTRY_U64 && index != NULL)
        {
          PyErr_Clear ();
          value = (long long) PyLong_AsUnsignedLongLongMask (index);
        }
      Py_XDECREF (index);
      if (PyErr_Occurred ())
        return FALSE;
      gantry_element_write_int (nest->element, nest->data + nest->at, value);
    }
  else
    {
      PyObject *number = PyNumber_Float (object);

      if (number == NULL)
        return FALSE;
      if (nest->element == GANTRY_BOOL)
        nest->data[nest->at] = PyFloat_AS_DOUBLE (number) != 0;
      else
        gantry_element_write_double (nest->element, nest->data + nest->at, PyFloat_AS_DOUBLE (number));
      Py_DECREF (number);
    }
  nest->at += nest->size;
  return TRUE;
}

static gboolean
fill (Nest *nest, PyObject *object)
{
  PyObject *list;
  gboolean done;

  if (PyList_Check (object) || PyTuple_Check (object))
    {
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE (object); i++)
        if (!fill (nest, PySequence_Fast_GET_ITEM (object, i)))
          return FALSE;
      return TRUE;
    }
  if (!gantry_py_value_check (object))
    return write_number (nest, object);
  list = gantry_py_value_list (object);
  done = list != NULL && fill (nest, list);
  Py_XDECREF (list);
  return done;
}

static GantryLiteral *
from_nested (GantryPyState *state, PyObject *object, GantryElementType element)
{
  Nest nest = { .element = GANTRY_ELEMENT_NONE };
  GantryLiteral *literal;
  guint8 *data;

  if (!survey (&nest, object, 0))
    return NULL;
  if (element != GANTRY_ELEMENT_NONE)
    nest.element = element;
  else if (nest.element == GANTRY_ELEMENT_NONE)
    nest.element = GANTRY_F32;
  literal = zeroed (state, nest.element, nest.rank, nest.dims, &data);
  if (literal == NULL)
    return NULL;
  nest.data = data;
  nest.size = gantry_element_size (nest.element);
  if (!fill (&nest, object))
    g_clear_pointer (&literal, gantry_literal_unref);
  return literal;
}

/* value_from (object, element or None): a tensor of a number, nested sequences or a buffer, in its own element type where
 * none is given. */
PyObject *
gantry_py_value_from (PyObject *module, PyObject *args)
{
  GantryPyState *state = gantry_py_state ();
  PyObject *object;
  const char *name = NULL;
  GantryElementType element = GANTRY_ELEMENT_NONE;
  GantryLiteral *literal;

  if (!PyArg_ParseTuple (args, "O|z", &object, &name))
    return NULL;
  if (name != NULL && !gantry_element_is_compiled (element = gantry_element_from_name (name)))
    {
      PyErr_Format (PyExc_TypeError, "a tensor cannot have elements of type %s", name);
      return NULL;
    }
  if (PyObject_CheckBuffer (object) && !gantry_py_value_check (object))
    {
      Py_buffer view;

      if (PyObject_GetBuffer (object, &view, PyBUF_FULL_RO) < 0)
        return NULL;
      literal = from_buffer (state, &view);
      PyBuffer_Release (&view);
    }
  else
    literal = from_nested (state, object, element);
  return literal != NULL ? gantry_py_value_new (state, literal) : NULL;
}
