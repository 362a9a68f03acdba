/* SPDX-License-Identifier: Apache-2.0 */
/* The abstract interpreter: walks the source of a function. A value that is known while compiling is the Python object itself,
 * and CPython computes with it; a variable is a `_gantry.Value` that names a node. Lists, tuples and dicts stay structures
 * whose leaves are such values; they are never changed in place: a method that would change one rebinds its name. */
#pragma once
#include "core/frontends/python/trace.h"

G_BEGIN_DECLS

typedef struct _GantryPyFrame GantryPyFrame;
struct _GantryPyFrame
{
  GantryPyState *state;
  GantryPyFrame *caller;
  const GantryPyNode *node; /* FUNCTION_DEF or LAMBDA */
  const char *name;
  PyObject *locals; /* dict; hidden names begin with '$' */
  PyObject *outer;  /* (nullable) tuple of dicts: locals of the functions around a closure, innermost first */
  PyObject *cells;  /* (nullable) dict: free variables of a function object */
  PyObject *globals;
  PyObject *global_names; /* (nullable) set: declared global */
  PyObject *result;       /* (nullable): of a return */
  guint n_comprehensions; /* that are being walked: @locals are of the innermost, @outer begins with those around it */
  guint loops;            /* how many loops of this frame are being walked */
};

typedef enum
{
  GANTRY_PY_NEXT,   /* go on */
  GANTRY_PY_BROKEN, /* break */
  GANTRY_PY_CONTINUED,
  GANTRY_PY_RETURNED, /* frame->result */
  GANTRY_PY_RAISED,   /* raises when it runs: what follows is not reached */
  GANTRY_PY_FAILED,   /* a Python exception is set */
} GantryPyStatus;

/** What is left to do of a function: statements, then what follows the statement that they stand in. */
typedef struct _GantryPyRest GantryPyRest;
struct _GantryPyRest
{
  GantryPyNode **statements;
  guint n, at;
  const GantryPyRest *next;
};

/* Hidden names */
#define GANTRY_PY_BREAK_FLAG "$break"
#define GANTRY_PY_RETURN_FLAG "$return"
#define GANTRY_PY_RETURN_VALUE "$value"

/* statements */
GantryPyStatus _gantry_py_exec (GantryPyFrame *frame, const GantryPyRest *rest);
GantryPyStatus _gantry_py_exec_block (GantryPyFrame *frame, GantryPyNode **statements, guint n);
gboolean _gantry_py_has_jump (const GantryPyNode *node, gboolean in_loop);

/* branches: both arms are walked, each in a region of its own, and what they leave is joined */
typedef GantryPyStatus (*GantryPyArm) (GantryPyFrame *frame, gconstpointer data);
GantryPyStatus
_gantry_py_branch (GantryPyFrame *frame, PyObject *predicate, GantryPyArm then, gconstpointer then_data, GantryPyArm otherwise, gconstpointer else_data);
/** An expression with two arms. Returns: a new reference */
PyObject *_gantry_py_branch_value (GantryPyFrame *frame, PyObject *predicate, const GantryPyNode *then, PyObject *then_value, const GantryPyNode *otherwise,
                                   PyObject *else_value);

/** GantryPyJoin: leaves in which two structures differ, in the order in which gantry_py_replace_variables() meets them. */
typedef struct
{
  GPtrArray *a, *b; /* (element-type PyObject): of each leaf the two values; equal where nothing is to be joined */
  GArray *kinds;    /* GantryPyValueKind */
} GantryPyJoin;

#define CANNOT_JOIN "Cannot join the return values of different branches, perhaps you need to make them equal.\n" /* what texts begin with */

void _gantry_py_join_init (GantryPyJoin *join);
void _gantry_py_join_clear (GantryPyJoin *join);
/** Returns: (nullable): a new reference: the structure with a variable at each leaf; NULL with "Type Join Failed" and so on */
PyObject *_gantry_py_join (GantryPyState *state, GantryPyJoin *join, PyObject *a, PyObject *b);
/** The same of what an attribute holds: on level LAX two that cannot be joined are an object of the run. */
PyObject *_gantry_py_join_objects (GantryPyState *state, GantryPyJoin *join, PyObject *a, PyObject *b);
/** A node of @kind for @value in @region. 0 with an exception */
guint32 _gantry_py_lift_leaf (GantryPyState *state, GantryRegion *region, PyObject *value, GantryPyValueKind kind);
/** The kind that a leaf has as a variable; FALSE where it cannot be one. */
gboolean _gantry_py_leaf_kind (GantryPyState *state, PyObject *value, GantryPyValueKind *kind);
PyObject *_gantry_py_zeros_like (GantryPyState *state, PyObject *value);
/** A known 0-d value of a Python number. */
PyObject *_gantry_py_number_value (GantryPyState *state, PyObject *number, GantryPyValueKind kind);

/* loops */
GantryPyStatus _gantry_py_exec_while (GantryPyFrame *frame, const GantryPyNode *node);
GantryPyStatus _gantry_py_exec_for (GantryPyFrame *frame, const GantryPyNode *node);
/** After a loop: TRUE and the flag where a return lies behind it that depends on data. */
PyObject *_gantry_py_loop_return_flag (GantryPyFrame *frame);
typedef PyObject *(*GantryPyCondition) (GantryPyFrame *frame, gconstpointer data); /* what decides on the next trip */
/** @kind: "for" or "while": of the statement */
GantryPyStatus
_gantry_py_variable_loop (GantryPyFrame *frame, const char *kind, PyObject *first, GantryPyCondition condition, GantryPyArm body, gconstpointer data);

/* expressions */
PyObject *_gantry_py_eval (GantryPyFrame *frame, const GantryPyNode *node);
PyObject *_gantry_py_getattr (GantryPyFrame *frame, PyObject *object, PyObject *name);
/** The elements of what a for walks along, as a list or tuple; NULL without exception where they are not known. */
PyObject *_gantry_py_elements (GantryPyFrame *frame, PyObject *iterable);
/** What is read from outside of the graph: lists are remembered as such, STRICT refuses objects. Steals @value. */
PyObject *_gantry_py_admit (GantryPyFrame *frame, PyObject *value);

/* name.c */
PyObject *_gantry_py_lookup (GantryPyFrame *frame, PyObject *name);

/* operator.c */
/** @result of the operator @name of @a and @b (nullable); where it is NULL, with the exception that graph mode has. Takes @result. */
PyObject *_gantry_py_checked (GantryPyFrame *frame, const char *name, PyObject *a, PyObject *b, PyObject *result);
PyObject *_gantry_py_unary (GantryPyFrame *frame, guint op, PyObject *value);
PyObject *_gantry_py_binary (GantryPyFrame *frame, guint op, PyObject *a, PyObject *b);
PyObject *_gantry_py_compare (GantryPyFrame *frame, guint op, PyObject *a, PyObject *b);
/** 0 or 1 where it is known; 2 where it is not: then @predicate is a bool[] variable; -1 with an exception */
int _gantry_py_truth (GantryPyFrame *frame, PyObject *value, PyObject **predicate);
PyObject *_gantry_py_logical (GantryPyState *state, const char *op, PyObject *a, PyObject *b); /* on bool[] variables or bools */
PyObject *_gantry_py_getitem (GantryPyFrame *frame, PyObject *object, PyObject *index);

/* assignment */
int _gantry_py_assign (GantryPyFrame *frame, const GantryPyNode *target, PyObject *value);

/* record.c */

PyObject *_gantry_py_attribute_key (PyObject *object, PyObject *name);
/** What assignments in the graph made of the attribute. Returns: (nullable): a new reference; NULL without exception */
PyObject *_gantry_py_attribute_now (GantryPyState *state, PyObject *object, PyObject *name);
gboolean _gantry_py_is_record (GantryPyState *state, PyObject *object);
/** Makes @object, that the graph has made, a record where it is of a class of the user's. */
void _gantry_py_add_record (GantryPyState *state, PyObject *object);
/** By the property that the class has. Returns: NULL without exception where it has none. */
PyObject *_gantry_py_record_get (GantryPyFrame *frame, PyObject *object, PyObject *name);
/** Likewise. Returns: 1 where the property has set it, 0: there is none, -1 with an exception */
int _gantry_py_property_set (GantryPyFrame *frame, PyObject *object, PyObject *name, PyObject *value);
int _gantry_py_record_set (GantryPyFrame *frame, PyObject *object, PyObject *name, PyObject *value);
/** All that it has now. Returns: a new dict, NULL without exception where it has none */
PyObject *_gantry_py_record_attributes (GantryPyState *state, PyObject *object);

/* attribute.c: @held is an owner as _gantry_py_hold() gives it */

PyObject *_gantry_py_hold (PyObject *owner);
PyObject *_gantry_py_held (PyObject *held); /* (nullable) borrowed */
/** What the attribute is outside. @name: None gives the owner. Returns: (nullable): a new reference; NULL without exception */
PyObject *_gantry_py_outside_now (PyObject *held, PyObject *name);
/** What stands for it in the graph where it is an input. Returns: (nullable): a new reference; NULL without exception */
PyObject *_gantry_py_outside_input (GantryPyState *state, PyObject *owner, PyObject *name);
/** The graph is being made for @value. */
void _gantry_py_note_read (GantryPyState *state, PyObject *owner, PyObject *name, PyObject *value);
/** What it is where nothing has assigned it. @key: of a state. Returns: (nullable): a new reference; NULL without exception: @key is of
 *  another kind */
PyObject *_gantry_py_outside_before (GantryPyState *state, PyObject *key);
/** @owner: an object, or the dict of global names. Returns: -1 with an exception */
int _gantry_py_outside_set (GantryPyState *state, PyObject *owner, PyObject *name, PyObject *value);
/** Makes inputs for the slots that are. Returns: FALSE with an exception */
gboolean _gantry_py_enter_slots (GantryPyState *state, GArray *slots);

int _gantry_py_setattr (GantryPyFrame *frame, PyObject *object, PyObject *name, PyObject *value);
PyObject *_gantry_py_setitem (GantryPyFrame *frame, PyObject *object, PyObject *index, PyObject *value);

/* containers */
/** A method of a list or dict, by its graph semantics. @changed: (out): what the object becomes, where it does. NULL without
 *  exception: not one of these. */
PyObject *_gantry_py_container_method (GantryPyFrame *frame, PyObject *object, const char *name, PyObject *args, PyObject *kwargs, PyObject **changed);
/** object.method (...) where the object is a list or a dict. @callable: (out): what @node calls where it is no such method; then nothing has
 *  been called. NULL with an exception: it, or the object, has none. */
PyObject *_gantry_py_method_call (GantryPyFrame *frame, const GantryPyNode *node, PyObject **callable);
void _gantry_py_note_origin (GantryPyState *state, PyObject *list, PyObject *origin);
PyObject *_gantry_py_origin (GantryPyState *state, PyObject *list); /* (nullable) borrowed */
/** What this graph made of a list or dict from outside. Returns: (nullable): a new reference; NULL without exception */
PyObject *_gantry_py_container_now (GantryPyState *state, PyObject *value);
int _gantry_py_change_outside (GantryPyFrame *frame, const GantryPyNode *target, PyObject *object, PyObject *changed);

/* calls */
PyObject *_gantry_py_call (GantryPyFrame *frame, PyObject *callable, PyObject *args, PyObject *kwargs);
PyObject *_gantry_py_call_function (GantryPyFrame *frame, PyObject *function, PyObject *args, PyObject *kwargs);
PyObject *_gantry_py_call_closure (GantryPyFrame *frame, PyObject *closure, PyObject *args, PyObject *kwargs);
PyObject *_gantry_py_call1 (GantryPyFrame *frame, PyObject *callable, PyObject *arg);
PyObject *_gantry_py_hook (GantryPyState *state, const char *name); /* borrowed */
PyObject *_gantry_py_call_hook (GantryPyState *state, const char *name, const char *format, ...);
/* An operator or builtin function (@name) has refused its operands: the exception becomes what graph mode says of them. @args: tuple */
void _gantry_py_refused (GantryPyState *state, const char *name, PyObject *args);
/** Calls the construct of a Cell in the type that the Cell computes in. Returns: a new reference */
PyObject *_gantry_py_call_construct (GantryPyFrame *frame, PyObject *cell, PyObject *construct, PyObject *args, PyObject *kwargs);
/** A function that the graph makes. */
typedef struct
{
  PyObject ob_base;
  const GantryPyNode *node;
  PyObject *outer; /* tuple of dicts: locals of the functions around it, innermost first */
  PyObject *cells; /* (nullable) dict: free variables of the function object that is walked */
  PyObject *globals, *defaults, *kwdefaults;
} GantryPyClosure;

PyObject *_gantry_py_closure_new (GantryPyFrame *frame, const GantryPyNode *node);
/** The locals around a function or comprehension that is made in the frame: a new tuple of dicts, innermost first. */
PyObject *_gantry_py_outer_with (const GantryPyFrame *frame);
/** The locals of the frame's function, in a comprehension too. Returns: a borrowed reference */
PyObject *_gantry_py_function_locals (const GantryPyFrame *frame);
/** The function of CPython that @closure is when the graph runs: an object of the run. Returns: a new reference, NULL with an exception */
PyObject *_gantry_py_function_of_run (GantryPyState *state, PyObject *closure);
/** @name of @scope (dict of locals) has a new value, which functions of the run that read it see from here on. Returns: 0, -1 with an
 *  exception */
int _gantry_py_rebound (GantryPyState *state, PyObject *scope, PyObject *name, PyObject *value);
/** Binds a name where the function declares it. Returns: 0, -1 with an exception */
int _gantry_py_assign_name (GantryPyFrame *frame, PyObject *name, PyObject *value);
PyObject *gantry_py_closure_type_new (PyObject *module);
PyObject *gantry_py_undefined_type_new (PyObject *module);
PyObject *_gantry_py_undefined_new (GantryPyState *state, const char *message);
gboolean _gantry_py_is_undefined (GantryPyState *state, PyObject *value);
const char *_gantry_py_undefined_message (PyObject *value);
gboolean _gantry_py_is_closure (GantryPyState *state, PyObject *value);
/** Written by Gantry; of the user; of somebody else. */
typedef enum
{
  GANTRY_PY_OURS,
  GANTRY_PY_USERS,
  GANTRY_PY_THIRD_PARTY,
} GantryPyAuthor;
GantryPyAuthor _gantry_py_author (GantryPyState *state, PyObject *object);
/** TRUE for objects whose methods are part of the graph: Cells, jit_class objects. */
gboolean _gantry_py_is_graph_object (GantryPyState *state, PyObject *object);

/** TRUE, and the exception is gone, where what failed needs to know a variable and level LAX lets the run do it. */
gboolean _gantry_py_needs_data (GantryPyState *state);

/* builtins: NULL without exception and @known FALSE where @callable is none of them */
/* bind.c: fills the locals of a frame with the arguments of a call. @kwargs, @defaults, @kwdefaults: (nullable). Returns: FALSE with an
 * exception */
gboolean _gantry_py_bind (GantryPyFrame *frame, PyObject *args, PyObject *kwargs, PyObject *defaults, PyObject *kwdefaults);
PyObject *_gantry_py_call_builtin (GantryPyFrame *frame, PyObject *callable, PyObject *args, PyObject *kwargs, gboolean *known);
/** The name that @callable has in the module `builtins`, or NULL. */
const char *_gantry_py_builtin_name (PyObject *callable);
/** "Number", "Tensor", "External": what messages call a value */
const char *_gantry_py_type_word (GantryPyState *state, PyObject *value);

G_END_DECLS
