/* SPDX-License-Identifier: Apache-2.0 */
/* A loop whose end depends on data: `while` with carries. The body is walked with everything as it is at the entry; what it
 * leaves changed becomes a carry and the body is walked again, until only carries change (a fixed point: each round adds at least
 * one leaf). */
#include "core/frontends/python/interpreter-private.h"
#include "core/graph/context.h"
#include "core/graph/operation.h"
#include <string.h>

typedef struct
{
  GantryPyFrame *frame;
  PyObject *keys; /* list: names, then keys of the state */
  guint n_locals;
  PyObject *entry;     /* list: their values at the entry */
  PyObject *undefined; /* dict: names without a value at the entry; what the body gives them does not leave it */
  GPtrArray *leaves;   /* of @entry, borrowed */
  GByteArray *carried; /* of each leaf: 1 where it is a carry */
  GArray *kinds;       /* of each leaf */
  GantryRegion *region;
  PyObject *before; /* list like @entry: as the body sees them */
  guint32 flag;     /* node that the body leaves: another trip */
} Loop;

static gboolean
is_container (PyObject *object)
{
  return PyTuple_Check (object) || PyList_Check (object) || PyDict_Check (object);
}

static void
flatten (PyObject *object, GPtrArray *leaves)
{
  PyObject *key, *value;
  Py_ssize_t at = 0;

  if (PyTuple_Check (object) || PyList_Check (object))
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE (object); i++)
      flatten (PySequence_Fast_GET_ITEM (object, i), leaves);
  else if (PyDict_Check (object))
    while (PyDict_Next (object, &at, &key, &value))
      flatten (value, leaves);
  else
    g_ptr_array_add (leaves, object);
}

/* @object with the leaves that @leaves has in their place; the same object where all are the same. */
static PyObject *
rebuild (PyObject *object, PyObject *const *leaves, guint *next)
{
  g_autoptr (GPtrArray) own = NULL;
  PyObject *result;
  gboolean same = TRUE;

  if (!is_container (object))
    return Py_NewRef (leaves[(*next)++]);
  own = g_ptr_array_new ();
  flatten (object, own);
  for (guint i = 0; same && i < own->len; i++)
    same = g_ptr_array_index (own, i) == leaves[*next + i];
  if (same)
    {
      *next += own->len;
      return Py_NewRef (object);
    }
  if (PyDict_Check (object))
    {
      PyObject *key, *value;
      Py_ssize_t at = 0;

      result = PyDict_New ();
      while (PyDict_Next (object, &at, &key, &value))
        {
          PyObject *item = rebuild (value, leaves, next);

          PyDict_SetItem (result, key, item);
          Py_DECREF (item);
        }
      return result;
    }
  result = PyTuple_Check (object) ? PyTuple_New (PyTuple_GET_SIZE (object)) : PyList_New (PyList_GET_SIZE (object));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE (object); i++)
    if (PyTuple_Check (object))
      PyTuple_SET_ITEM (result, i, rebuild (PyTuple_GET_ITEM (object, i), leaves, next));
    else
      PyList_SET_ITEM (result, i, rebuild (PyList_GET_ITEM (object, i), leaves, next));
  return result;
}

static const char *
name_of (const Loop *loop, guint i)
{
  PyObject *key = PyList_GET_ITEM (loop->keys, i);

  return PyUnicode_Check (key) ? PyUnicode_AsUTF8 (key) : "a parameter";
}

static void
add_key (Loop *loop, PyObject *key, PyObject *value, gboolean is_local)
{
  PyList_Insert (loop->keys, is_local ? loop->n_locals : PyList_GET_SIZE (loop->keys), key);
  PyList_Insert (loop->entry, is_local ? loop->n_locals : PyList_GET_SIZE (loop->entry), value);
  loop->n_locals += is_local;
}

/* The leaves of the entry; what was found to be carried is forgotten when the structure has changed. */
static void
survey (Loop *loop)
{
  g_ptr_array_set_size (loop->leaves, 0);
  flatten (loop->entry, loop->leaves);
  g_byte_array_set_size (loop->carried, loop->leaves->len);
  g_array_set_size (loop->kinds, loop->leaves->len);
  for (guint i = 0; i < loop->leaves->len; i++)
    {
      GantryPyValueKind kind = GANTRY_PY_HANDLE;

      loop->carried->data[i] = 0;
      _gantry_py_leaf_kind (loop->frame->state, g_ptr_array_index (loop->leaves, i), &kind);
      g_array_index (loop->kinds, guint, i) = kind;
    }
}

static void
loop_init (Loop *loop, GantryPyFrame *frame)
{
  PyObject *key, *value;
  Py_ssize_t at = 0;

  loop->frame = frame;
  loop->keys = PyList_New (0);
  loop->entry = PyList_New (0);
  loop->undefined = PyDict_New ();
  loop->leaves = g_ptr_array_new ();
  loop->carried = g_byte_array_new ();
  loop->kinds = g_array_new (FALSE, TRUE, sizeof (guint));
  if (PyDict_GetItemString (frame->locals, GANTRY_PY_RETURN_FLAG) == NULL)
    PyDict_SetItemString (frame->locals, GANTRY_PY_RETURN_FLAG, Py_False);
  while (PyDict_Next (frame->locals, &at, &key, &value))
    if (_gantry_py_is_undefined (frame->state, value))
      PyDict_SetItem (loop->undefined, key, value);
    else
      add_key (loop, key, value, TRUE);
  at = 0;
  while (PyDict_Next (gantry_py_trace (frame->state)->state, &at, &key, &value))
    add_key (loop, key, value, FALSE);
  survey (loop);
}

static void
loop_clear (Loop *loop)
{
  Py_XDECREF (loop->keys);
  Py_XDECREF (loop->entry);
  Py_XDECREF (loop->undefined);
  Py_XDECREF (loop->before);
  g_ptr_array_unref (loop->leaves);
  g_byte_array_unref (loop->carried);
  g_array_unref (loop->kinds);
}

static void
set_environment (Loop *loop, PyObject *values)
{
  PyObject *locals = loop->frame->locals, *state = gantry_py_trace (loop->frame->state)->state;

  PyDict_Clear (locals);
  PyDict_Update (locals, loop->undefined);
  PyDict_Clear (state);
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE (values); i++)
    PyDict_SetItem (i < loop->n_locals ? locals : state, PyList_GET_ITEM (loop->keys, i), PyList_GET_ITEM (values, i));
}

static guint32
leaf_type (Loop *loop, guint i)
{
  GantryContext *context = gantry_py_trace (loop->frame->state)->context;
  PyObject *leaf = g_ptr_array_index (loop->leaves, i);
  static const GantryElementType elements[] = {
    [GANTRY_PY_INT] = GANTRY_I64, [GANTRY_PY_FLOAT] = GANTRY_F64, [GANTRY_PY_BOOL] = GANTRY_BOOL, [GANTRY_PY_HANDLE] = GANTRY_I64
  };
  const GantryType *type;

  if (g_array_index (loop->kinds, guint, i) != GANTRY_PY_TENSOR)
    return gantry_context_scalar (context, elements[g_array_index (loop->kinds, guint, i)]);
  type = ((GantryPyValue *) leaf)->type;
  return gantry_context_tensor (context, gantry_py_read_element (loop->frame->state, leaf), type->rank, type->dims);
}

/* Begins the body: its first parameter is the flag, then come the carries. */
static gboolean
begin_body (Loop *loop)
{
  GantryPyState *state = loop->frame->state;
  g_autofree PyObject **leaves = g_new0 (PyObject *, loop->leaves->len + 1);
  PyObject *flag;
  guint next = 0;

  loop->region = gantry_py_region_begin (gantry_py_trace (state), "body");
  flag = gantry_py_trace_parameter (state, gantry_context_scalar (gantry_py_trace (state)->context, GANTRY_BOOL), NULL, GANTRY_PY_BOOL);
  Py_XDECREF (flag);
  for (guint i = 0; i < loop->leaves->len; i++)
    leaves[i] = loop->carried->data[i] ? gantry_py_trace_parameter (state, leaf_type (loop, i), NULL, (GantryPyValueKind) g_array_index (loop->kinds, guint, i))
                                       : Py_NewRef (g_ptr_array_index (loop->leaves, i));
  Py_XSETREF (loop->before, rebuild (loop->entry, leaves, &next));
  if (loop->before == loop->entry)
    Py_SETREF (loop->before, PyList_GetSlice (loop->entry, 0, PyList_GET_SIZE (loop->entry)));
  for (guint i = 0; i < loop->leaves->len; i++)
    Py_XDECREF (leaves[i]);
  set_environment (loop, loop->before);
  return flag != NULL && !PyErr_Occurred ();
}

/* The flag after a trip: nobody broke the loop, and the condition holds. */
static gboolean
end_trip (Loop *loop, GantryPyStatus status, GantryPyCondition condition, gconstpointer data)
{
  GantryPyFrame *frame = loop->frame;
  GantryPyState *state = frame->state;
  PyObject *locals = frame->locals, *broken, *going, *test, *predicate = NULL;
  int truth;

  if (status == GANTRY_PY_BROKEN || status == GANTRY_PY_RETURNED)
    {
      if (status == GANTRY_PY_RETURNED)
        {
          PyDict_SetItemString (locals, GANTRY_PY_RETURN_FLAG, Py_True);
          PyDict_SetItemString (locals, GANTRY_PY_RETURN_VALUE, frame->result);
          Py_CLEAR (frame->result);
        }
      going = Py_NewRef (Py_False);
    }
  else
    {
      test = condition (frame, data);
      truth = test != NULL ? _gantry_py_truth (frame, test, &predicate) : -1;
      Py_XDECREF (test);
      if (truth < 0)
        return FALSE;
      going = truth == 2 ? predicate : PyBool_FromLong (truth);
      broken = PyDict_GetItemString (locals, GANTRY_PY_BREAK_FLAG);
      if (broken != NULL)
        {
          PyObject *whole = _gantry_py_logical (state, "not", broken, NULL);
          PyObject *both = whole != NULL ? _gantry_py_logical (state, "and", going, whole) : NULL;

          Py_XDECREF (whole);
          Py_SETREF (going, both);
        }
    }
  if (PyDict_GetItemString (locals, GANTRY_PY_BREAK_FLAG) != NULL)
    PyDict_DelItemString (locals, GANTRY_PY_BREAK_FLAG);
  loop->flag = going != NULL ? _gantry_py_lift_leaf (state, loop->region, going, GANTRY_PY_BOOL) : 0;
  Py_XDECREF (going);
  return loop->flag != 0;
}

static gboolean
type_error (Loop *loop, guint key, PyObject *before, PyObject *after)
{
  PyErr_Format (PyExc_TypeError, CANNOT_JOIN "The type of '%s' changes while a loop carries it: it is %s at the entry and %s after a trip.",
                name_of (loop, key), _gantry_py_type_word (loop->frame->state, before), _gantry_py_type_word (loop->frame->state, after));
  return FALSE;
}

static gboolean
check_carry (Loop *loop, guint key, guint leaf, PyObject *after)
{
  GantryPyState *state = loop->frame->state;
  PyObject *before = g_ptr_array_index (loop->leaves, leaf);
  guint kind = g_array_index (loop->kinds, guint, leaf);
  GantryPyValueKind now;
  const GantryType *a, *b;

  if (kind == GANTRY_PY_HANDLE)
    return TRUE;
  if (!_gantry_py_leaf_kind (state, after, &now) || now != kind)
    return type_error (loop, key, before, after);
  if (kind != GANTRY_PY_TENSOR)
    return TRUE;
  a = ((GantryPyValue *) before)->type;
  b = ((GantryPyValue *) after)->type;
  if (gantry_py_read_element (state, before) == gantry_py_read_element (state, after) && a->rank == b->rank
      && memcmp (a->dims, b->dims, a->rank * sizeof *a->dims) == 0)
    return TRUE;
  {
    g_autofree char *x = gantry_context_type_text (((GantryPyValue *) before)->context, gantry_context_type_id (((GantryPyValue *) before)->context, a));
    g_autofree char *y = gantry_context_type_text (((GantryPyValue *) after)->context, gantry_context_type_id (((GantryPyValue *) after)->context, b));

    PyErr_Format (PyExc_TypeError,
                  CANNOT_JOIN "The type of '%s' changes while a loop carries it: it is Tensor %s at the entry and "
                              "%s after a trip.",
                  name_of (loop, key), x, y);
  }
  return FALSE;
}

static gboolean
same_leaf (PyObject *a, PyObject *b)
{
  int equal;

  if (a == b)
    return TRUE;
  if (Py_TYPE (a) != Py_TYPE (b) || (!PyLong_Check (a) && !PyFloat_Check (a) && !PyUnicode_Check (a)))
    return FALSE;
  equal = PyObject_RichCompareBool (a, b, Py_EQ);
  if (equal < 0)
    PyErr_Clear ();
  return equal == 1;
}

/* 1: the body is to be walked again, 0: nothing is new, -1: an exception */
static int
compare_key (Loop *loop, guint key, guint *leaf, PyObject *after)
{
  g_autoptr (GPtrArray) a = g_ptr_array_new (), b = g_ptr_array_new ();
  PyObject *before = PyList_GET_ITEM (loop->before, key);
  int again = 0;

  flatten (before, a);
  flatten (after, b);
  if (a->len != b->len || (is_container (before) != is_container (after)))
    {
      PyErr_Format (PyExc_TypeError,
                    "The length of '%s' changes while a loop carries it: it has %u elements at the entry and %u "
                    "after a trip.",
                    name_of (loop, key), a->len, b->len);
      return -1;
    }
  for (guint i = 0; i < a->len; i++, (*leaf)++)
    {
      if (same_leaf (g_ptr_array_index (a, i), g_ptr_array_index (b, i)))
        continue;
      /* What a trip makes an object of the run is one from the entry on. */
      if (gantry_py_is_handle (g_ptr_array_index (b, i)) && g_array_index (loop->kinds, guint, *leaf) != GANTRY_PY_HANDLE)
        {
          g_array_index (loop->kinds, guint, *leaf) = GANTRY_PY_HANDLE;
          again = 1;
        }
      if (!check_carry (loop, key, *leaf, g_ptr_array_index (b, i)))
        return -1;
      again = again || !loop->carried->data[*leaf];
      loop->carried->data[*leaf] = 1;
    }
  return again;
}

/* What a trip defines that was not there before. */
static gboolean
take_new (Loop *loop)
{
  GantryPyState *state = loop->frame->state;
  PyObject *value = PyDict_GetItemString (loop->frame->locals, GANTRY_PY_RETURN_VALUE), *key, *now;
  PyObject *name = PyUnicode_InternFromString (GANTRY_PY_RETURN_VALUE);
  gboolean taken = FALSE;
  Py_ssize_t at = 0;

  if (value != NULL && !PySequence_Contains (loop->keys, name))
    {
      PyObject *zeros = _gantry_py_zeros_like (state, value);

      add_key (loop, name, zeros, TRUE);
      Py_DECREF (zeros);
      taken = TRUE;
    }
  Py_DECREF (name);
  while (PyDict_Next (gantry_py_trace (state)->state, &at, &key, &now))
    if (!PySequence_Contains (loop->keys, key))
      {
        PyObject *before = NULL;

        for (GantryTrace *t = gantry_py_trace (state); before == NULL && t != t->root; t = t->parent)
          before = PyDict_GetItem (t->parent->state, key);
        if (before == NULL && gantry_py_is_variable (now)
            && ((GantryRegion *) g_hash_table_lookup (gantry_py_trace (state)->root->owners, GUINT_TO_POINTER (((GantryPyValue *) now)->node)))
                 == gantry_py_trace (state)->root->body)
          before = now;
        before = before != NULL ? Py_NewRef (before) : _gantry_py_outside_before (state, key);
        if (before == NULL)
          continue;
        add_key (loop, key, before, FALSE);
        Py_DECREF (before);
        taken = TRUE;
      }
  return taken;
}

/* A parameter that the body is the first to read is an input of the graph; its value at the entry is that. */
static void
note_inputs (Loop *loop)
{
  GantryTrace *root = gantry_py_trace (loop->frame->state)->root;

  for (Py_ssize_t i = 0; i < PyList_GET_SIZE (root->parameters); i++)
    {
      PyObject *key = PyLong_FromVoidPtr (PyList_GET_ITEM (root->parameters, i));

      if (!PySequence_Contains (loop->keys, key) && gantry_py_trace (loop->frame->state) == root)
        {
          guint32 id = g_array_index (root->parameter_nodes, guint32, i);
          PyObject *value = gantry_py_variable_new (loop->frame->state, id, GANTRY_PY_TENSOR);

          add_key (loop, key, value, FALSE);
          Py_DECREF (value);
        }
      Py_DECREF (key);
    }
}

/* 1: again, 0: done, -1: an exception */
static int
compare (Loop *loop, PyObject **after)
{
  Py_ssize_t n = PyList_GET_SIZE (loop->keys);
  guint leaf = 0;
  int again = 0;

  *after = PyList_New (n);
  for (Py_ssize_t i = 0; i < n; i++)
    {
      PyObject *dict = i < loop->n_locals ? loop->frame->locals : gantry_py_trace (loop->frame->state)->state;
      PyObject *value = PyDict_GetItem (dict, PyList_GET_ITEM (loop->keys, i));

      PyList_SET_ITEM (*after, i, Py_NewRef (value != NULL ? value : PyList_GET_ITEM (loop->before, i)));
    }
  for (Py_ssize_t i = 0; i < n; i++)
    {
      int changed = compare_key (loop, (guint) i, &leaf, PyList_GET_ITEM (*after, i));

      if (changed < 0)
        return -1;
      again = again || changed;
    }
  return again;
}

/* Walks the body once. 1: again, 0: @after is what it leaves, -1: an exception */
static int
walk (Loop *loop, GantryPyCondition condition, GantryPyArm body, gconstpointer data, PyObject **after)
{
  GantryTrace *trace = gantry_py_trace (loop->frame->state);
  Py_ssize_t n_inputs = PyList_GET_SIZE (trace->root->parameters);
  GantryPyStatus status;
  int again = -1;

  *after = NULL;
  if (begin_body (loop))
    {
      status = body (loop->frame, data);
      if (status != GANTRY_PY_FAILED && end_trip (loop, status, condition, data))
        {
          gboolean grown = take_new (loop);

          if (PyList_GET_SIZE (trace->root->parameters) > n_inputs)
            {
              note_inputs (loop);
              grown = TRUE;
            }
          if (grown)
            {
              survey (loop);
              again = 1;
            }
          else
            again = compare (loop, after);
        }
    }
  gantry_py_region_leave (trace, NULL, 0);
  if (again > 0)
    gantry_builder_drop (trace->builder, loop->region->function);
  return again;
}

/* The function that looks at the flag. */
static guint32
write_condition (GantryTrace *trace, const GArray *operands)
{
  guint32 function = gantry_builder_begin (trace->builder, "cond", 0), first = 0;

  for (guint i = 0; i < operands->len; i++)
    {
      GantryRegion *owner = g_hash_table_lookup (trace->root->owners, GUINT_TO_POINTER (g_array_index (operands, guint32, i)));
      guint32 id = gantry_builder_parameter (trace->builder, gantry_builder_type (owner->builder, g_array_index (operands, guint32, i)), NULL);

      first = i == 0 ? id : first;
    }
  gantry_builder_end (trace->builder, &first, 1);
  return function;
}

/* What is carried is so as it is read. */
static guint32
lift (Loop *loop, GantryRegion *region, PyObject *leaf, GantryPyValueKind kind)
{
  GantryPyState *state = loop->frame->state;
  PyObject *value = gantry_py_value_check (leaf) ? gantry_py_lowered (state, leaf) : Py_NewRef (leaf);
  guint32 id = value != NULL ? _gantry_py_lift_leaf (state, region, value, kind) : 0;

  Py_XDECREF (value);
  return id;
}

static gboolean
collect (Loop *loop, PyObject *first, GPtrArray *ends, GArray *operands, GArray *results)
{
  GantryPyState *state = loop->frame->state;
  GantryTrace *trace = gantry_py_trace (state);
  GantryRegion *outer = trace->region;
  guint32 id = gantry_py_use (state, first);
  gboolean fine = id != 0;

  g_array_append_val (operands, id);
  g_array_append_val (results, loop->flag);
  for (guint i = 0; fine && i < loop->leaves->len; i++)
    if (loop->carried->data[i])
      {
        GantryPyValueKind kind = (GantryPyValueKind) g_array_index (loop->kinds, guint, i);

        id = lift (loop, outer, g_ptr_array_index (loop->leaves, i), kind);
        g_array_append_val (operands, id);
        fine = id != 0;
        gantry_builder_reopen (trace->builder, loop->region->function);
        trace->region = loop->region;
        id = fine ? lift (loop, loop->region, g_ptr_array_index (ends, i), kind) : 0;
        trace->region = outer;
        gantry_builder_end (trace->builder, NULL, 0);
        g_array_append_val (results, id);
        fine = id != 0;
      }
  g_array_append_vals (operands, loop->region->outer->data, loop->region->outer->len);
  g_array_append_vals (results, loop->region->inner->data, loop->region->inner->len);
  return fine;
}

/* The node, and what the environment is after it. */
static gboolean
write_while (Loop *loop, PyObject *first, PyObject *after)
{
  GantryPyState *state = loop->frame->state;
  GantryTrace *trace = gantry_py_trace (state);
  g_autoptr (GPtrArray) ends = g_ptr_array_new ();
  g_autoptr (GArray) operands = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) results = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree PyObject **leaves = g_new0 (PyObject *, loop->leaves->len + 1);
  GantryAttrList *attrs;
  PyObject *tuple, *values;
  guint32 condition;
  guint next = 0, taken = 0;

  flatten (after, ends);
  if (!collect (loop, first, ends, operands, results))
    return FALSE;
  gantry_builder_reopen (trace->builder, loop->region->function);
  gantry_builder_end (trace->builder, (const guint32 *) (gpointer) results->data, results->len);
  condition = write_condition (trace, operands);
  attrs = gantry_attr_list_new (trace->context);
  gantry_attr_list_set_function (attrs, "cond", condition);
  gantry_attr_list_set_function (attrs, "body", loop->region->function);
  tuple = gantry_py_wrap (
    state, gantry_builder_add (trace->builder, GANTRY_OP_WHILE, (const guint32 *) (gpointer) operands->data, operands->len, gantry_attr_list_end (attrs)),
    GANTRY_PY_TENSOR);
  if (tuple == NULL)
    return FALSE;
  for (guint i = 0; i < loop->leaves->len; i++)
    leaves[i] = loop->carried->data[i] ? gantry_py_variable_new (state, ((GantryPyValue *) PyTuple_GET_ITEM (tuple, ++taken))->node,
                                                                 (GantryPyValueKind) g_array_index (loop->kinds, guint, i))
                                       : Py_NewRef (g_ptr_array_index (loop->leaves, i));
  values = rebuild (loop->entry, leaves, &next);
  set_environment (loop, values);
  Py_DECREF (values);
  for (guint i = 0; i < loop->leaves->len; i++)
    Py_DECREF (leaves[i]);
  Py_DECREF (tuple);
  return TRUE;
}

/* Names that only the body defines are not defined after it: there may have been no trip. */
static void
forget_new (GantryPyFrame *frame, PyObject *names, const char *kind)
{
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE (names); i++)
    {
      PyObject *name = PyList_GET_ITEM (names, i), *undefined;
      g_autofree char *message = NULL;

      if (!PyUnicode_Check (name) || *PyUnicode_AsUTF8 (name) == '$' || PyDict_Contains (frame->locals, name))
        continue;
      message = g_strdup_printf ("The local variable '%s' defined in the '%s' loop body cannot be used outside of the loop body. "
                                 "Please define variable '%s' before '%s'.",
                                 PyUnicode_AsUTF8 (name), kind, PyUnicode_AsUTF8 (name), kind);
      undefined = _gantry_py_undefined_new (frame->state, message);
      PyDict_SetItem (frame->locals, name, undefined);
      Py_DECREF (undefined);
    }
}

GantryPyStatus
_gantry_py_variable_loop (GantryPyFrame *frame, const char *kind, PyObject *first, GantryPyCondition condition, GantryPyArm body, gconstpointer data)
{
  Loop loop = { 0 };
  PyObject *after = NULL, *names = NULL;
  GantryPyStatus status = GANTRY_PY_FAILED;
  int again;

  loop_init (&loop, frame);
  while ((again = walk (&loop, condition, body, data, &after)) > 0)
    Py_CLEAR (after);
  if (again == 0)
    {
      names = PyDict_Keys (frame->locals);
      if (write_while (&loop, first, after))
        {
          PyObject *flag = PyDict_GetItemString (frame->locals, GANTRY_PY_RETURN_FLAG);

          forget_new (frame, names, kind);
          if (flag == Py_False)
            PyDict_DelItemString (frame->locals, GANTRY_PY_RETURN_FLAG);
          status = GANTRY_PY_NEXT;
        }
    }
  Py_XDECREF (names);
  Py_XDECREF (after);
  loop_clear (&loop);
  return status;
}
