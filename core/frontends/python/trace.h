/* SPDX-License-Identifier: Apache-2.0 */
/* Values that a program computes with, and the graph that is being written: tensors known while compiling hold their
 * bytes, variables name a node. Applying an operation to known values computes it at once (that is eager mode, and
 * it is constant folding); to a variable it adds a node to the innermost region of the trace. */
#pragma once
#include "core/frontends/python/python.h"
#include "core/frontends/python/source.h"
#include "core/graph/builder.h"

G_BEGIN_DECLS

typedef enum
{
  GANTRY_PY_TENSOR,
  GANTRY_PY_INT, /* variable numbers: i64[], f64[], bool[] */
  GANTRY_PY_FLOAT,
  GANTRY_PY_BOOL,
  GANTRY_PY_HANDLE, /* an object that only CPython knows, made at run time: i64[], index in the table of the run */
} GantryPyValueKind;

typedef struct _GantryTrace GantryTrace;
typedef struct _GantryRegion GantryRegion;

#define GANTRY_PY_MIXED G_MAXUINT8 /* tensors of several element types */

/** What `_gantry.Value` is. @literal: (nullable) of a variable; a recording trace has both. */
typedef struct
{
  PyObject ob_base;
  const GantryType *type; /* of @context */
  GantryContext *context;
  GantryLiteral *literal;
  guint32 node; /* 0: known */
  guint8 kind;  /* GantryPyValueKind */
  guint8 is_parameter;
  guint8 is_mutable;    /* made by mutable (): a variable also where constants are meant */
  guint8 source;        /* of an object of the run: the element type of the tensors that it was made of; GANTRY_PY_MIXED, NONE */
  guint64 trace_serial; /* of the root trace that @node belongs to */
  guint64 birth;        /* when it was made, among the values of the state */
} GantryPyValue;

/** A function of the graph being written: the body of the graph, of an arm, of a loop. */
struct _GantryRegion
{
  GantryRegion *parent; /* (nullable): of the same or of the outer trace */
  GantryBuilder *builder;
  guint32 function;
  GHashTable *captured;  /* outer node id -> inner node id */
  GArray *outer, *inner; /* guint32: the same in order of the parameters */
};

/** Something that CPython does when the graph runs. */
typedef struct
{
  PyObject *callable;
  PyObject *args;    /* tuple, with values in it: operand i of the node is the i-th of them */
  PyObject *kwargs;  /* (nullable) dict, likewise */
  guint8 result;     /* GantryPyValueKind; of TENSOR the type is that of the node */
  PyObject *element; /* (nullable) str: dtype that a tensor is brought to */
  char *text, *file;
  guint32 line;
} GantryPyHostCall;

/** An attribute of an object from outside, or a global name, that graphs assign; @name is None of a list or dict that they change in place. */
typedef struct
{
  PyObject *key, *owner, *name; /* @owner: a weak reference where there can be one */
  PyObject *seen;               /* (nullable): the number that it was when a graph was last made */
  gboolean is_input;            /* its tensors and numbers are inputs of the graph; else the graph is made for what it holds */
  gboolean is_needed;           /* it cannot be an input */
} GantryPySlot;

/** What led to what is being interpreted: the part of a GantryLocation that its nodes share. */
typedef struct
{
  guint32 function, parent, step, number;
} GantryPyChain;

struct _GantryTrace
{
  GantryTrace *parent; /* (nullable) */
  GantryTrace *root;
  GantryContext *context;
  GantryBuilder *builder;
  GantryRegion *region;    /* innermost */
  GantryRegion *body;      /* outermost of this trace */
  GHashTable *owners;      /* of the root: node id -> GantryRegion */
  GPtrArray *regions;      /* of the root: all, to free them */
  PyObject *state;         /* dict: what assignments changed: id of a Parameter or (id, attribute) -> value */
  PyObject *kept;          /* list: objects whose ids @state and keys use */
  PyObject *origins;       /* of the root, dict: id of a list -> the list outside of the graph that it is, by its methods;
                            of a recording one id of a Parameter -> what it was when first read */
  GHashTable *made;        /* of the root: Cells that the graph makes, as a set of pointers; @kept holds them */
  GHashTable *spliced;     /* of the root: ids of nodes that came with a gradient, which have their phases */
  PyObject *parameters;    /* of the root: list of Parameter objects that became inputs */
  GArray *parameter_nodes; /* of the root: guint32 */
  GPtrArray *hosts;        /* of the root: GantryPyHostCall */
  gboolean record;         /* values are computed beside the nodes: gradients of eager programs */
  gboolean strict;         /* syntax level STRICT */
  gboolean staged;         /* of the root: CPython runs the function over variables (jax/jax.h): its frames say where a node is from */
  guint32 scope;           /* of the root: of the nodes that are added */
  PyObject *scopes;        /* of the root, dict: id of a Cell -> (path of its nodes, Cell) */
  guint n_scopes;          /* of the root: how many were numbered */
  gpointer gradient;       /* (nullable): what the trace is made for */
  guint64 serial;
  guint depth;       /* of calls */
  guint outer_depth; /* of those that the trace began in */
  GantryPyChain chain;
  guint64 n_unrolled;
  const GantryPyNode *place;    /* what is being interpreted */
  const GantryPyNode *failed;   /* (nullable): of the root: what an exception was raised at */
  char *calls;                  /* (nullable), of the root: what led there, innermost first: see GantryPythonError */
  const GantryPyNode *too_deep; /* (nullable): of the root: the function whose call was one too many, */
  GantryRegion *too_deep_in;    /* and where it was called */
  GArray *slots;                /* (nullable), of the root: GantryPySlot, borrowed */
  PyObject *inputs;             /* (nullable), of the root: dict: key of a slot that is an input -> what stands for it */
  PyObject *reads, *stale;      /* (nullable), of the root: see GantryPyProgram */
  PyObject *written;            /* of the root: dict: key of an attribute -> (held owner, name): assigned when the graph has run */
  gboolean writes_at_end;       /* of the root: attributes are; else host calls assign them */
  PyObject *alive;              /* of the root: list: objects whose ids @state uses, while it is made */
  guint n_assigned;             /* of the root: assignments of Parameters and attributes so far */
  gboolean assigns_parameters;  /* of the root: Parameters have got values that they hold when the graph has run */
};

/** The float type that the Cell that runs computes in: what was made before @since is read in it. */
typedef struct
{
  GantryElementType element; /* NONE: each value in its own */
  guint64 since;
} GantryPyPrecision;

/** What one thread is at; the others have their own. A place that a graph failed at is kept while programs are imported. */
typedef struct
{
  GantryTrace *trace; /* (nullable): innermost */
  GantryPyPrecision precision;
  const GantryPyNode *failed; /* (nullable): where the last graph that could not be made failed */
  char *calls;                /* (nullable): and the calls that led there */
} GantryPyThread;

/** Everything of one embedded interpreter: lives in the module `_gantry`. */
typedef struct
{
  const GantryPythonBackend *backend;
  GantryContext *context; /* of known values */
  GHashTable *sources;
  GHashTable *eager; /* text of operation and types -> its program */
  Py_tss_t thread;   /* (nullable) GantryPyThread, of each thread: NULL where it is at nothing */
  guint64 serials;
  guint64 births;         /* of values so far */
  PyObject *value_type;   /* _gantry.Value */
  PyObject *closure_type; /* _gantry.Closure */
  PyObject *undefined_type;
  PyObject *tensor, *scalar, *external, *parameter, *cell, *primitive; /* classes of the modules, once registered */
  PyObject *hooks;                                                     /* dict: functions of the modules that the interpreter calls */
  PyObject *main_file;                                                 /* str */
  PyObject *written;                                                   /* dict: keys of the attributes that graphs have assigned */
  GPtrArray *graphs;                                                   /* (nullable): importing */
  GPtrArray *errors;
} GantryPyState;

/** That of the interpreter which this thread runs in, once `_gantry` is imported. (transfer none) */
GantryPyState *gantry_py_state (void);
/** Returns: (nullable): of this thread, until it is at something else */
static inline const GantryPyThread *
gantry_py_thread (const GantryPyState *state)
{
  return PyThread_tss_get ((Py_tss_t *) &state->thread);
}
/** The innermost trace of this thread; what one thread makes a graph of is nothing to the others. Returns: (nullable) */
static inline GantryTrace *
gantry_py_trace (const GantryPyState *state)
{
  const GantryPyThread *thread = gantry_py_thread (state);

  return thread != NULL ? thread->trace : NULL;
}
/** @trace: (nullable): is the innermost of this thread from now on */
void gantry_py_set_trace (GantryPyState *state, GantryTrace *trace);
/** The float type that the Cell which this thread runs computes in. */
static inline GantryPyPrecision
gantry_py_precision_now (const GantryPyState *state)
{
  const GantryPyThread *thread = gantry_py_thread (state);

  return thread != NULL ? thread->precision : (GantryPyPrecision){ .element = GANTRY_ELEMENT_NONE };
}
/** Returns: what was before in this thread, to be put back */
GantryPyPrecision gantry_py_set_precision (GantryPyState *state, GantryPyPrecision precision);
/** @failed: (nullable): where a graph that this thread was making failed; NULL: forgets it. @calls: (nullable): what led there */
void gantry_py_set_failed (GantryPyState *state, const GantryPyNode *failed, const char *calls);

/* Values */
/** Whether @object is a GantryPyValue: a tensor or a number, known or not. */
gboolean gantry_py_value_check (PyObject *object);
/** Whether @object is a value that is not known while compiling; FALSE of all other objects. */
static inline gboolean
gantry_py_is_variable (PyObject *object)
{
  return gantry_py_value_check (object) && ((GantryPyValue *) object)->node != 0;
}
/** Whether @object is a value of kind GANTRY_PY_HANDLE. */
gboolean gantry_py_is_handle (PyObject *object);
/** TRUE when a variable (or a handle) lies in @object or in the lists, tuples and dicts that it is made of. */
gboolean gantry_py_holds_variable (PyObject *object);
/** As gantry_py_holds_variable(), of handles alone. */
gboolean gantry_py_holds_handle (PyObject *object);
/** Appends the variables in @object to @values, in order. */
void gantry_py_collect_variables (PyObject *object, GPtrArray *values);
/** @object with each variable in it replaced by the next of @values (borrowed). Returns: a new reference */
PyObject *gantry_py_replace_variables (PyObject *object, PyObject *const *values, guint *next);

/** A known tensor. @literal: (transfer full). */
PyObject *gantry_py_value_new (GantryPyState *state, GantryLiteral *literal);
/** @node: of a region of the innermost trace; its type is the builder's. Returns: a new reference, NULL with an exception */
PyObject *gantry_py_variable_new (GantryPyState *state, guint32 node, GantryPyValueKind kind);
/** Gives a known value other bytes: an assignment in eager mode. @literal: (transfer full) */
void gantry_py_value_set (GantryPyValue *value, GantryLiteral *literal);
/** A literal like @literal whose type is of the context of known values. (transfer full) */
GantryLiteral *gantry_py_adopt (GantryPyState *state, GantryLiteral *literal);
/** What a run gave, as the object that stands for it in Python. @literal: (transfer none) */
PyObject *gantry_py_object_of (GantryPyState *state, GantryLiteral *literal, GantryPyValueKind kind);
/** The class `_gantry.Value`, once for each module. Returns: a new reference, NULL with an exception */
PyObject *gantry_py_value_type_new (PyObject *module);
/** _gantry.value_from (object, element): a known tensor of a buffer's bytes, copied, or of nested lists of numbers */
PyObject *gantry_py_value_from (PyObject *module, PyObject *args);
/** _gantry.value_shared (object): a tensor of the buffer's bytes, which it keeps alive; None where they do not lie as they must */
PyObject *gantry_py_value_shared (PyObject *module, PyObject *object);
/** value.tolist (): nested lists of numbers, a number of a scalar; raises NeedsData of a variable. Returns: a new reference */
PyObject *gantry_py_value_list (PyObject *value);

/* Traces */
/** Whether a gradient that is being made, in @trace or around it, is taken by @parameter. */
gboolean gantry_py_gradient_wants (const GantryTrace *trace, const PyObject *parameter);

/**
 * gantry_py_trace_begin:
 * @nested: within the trace that is innermost now, where there is one: into its graph, with its place; else a graph of its own
 *
 * Makes the trace the innermost, with one region, the function `main`. Returns: (transfer full): for gantry_py_trace_end()
 */
GantryTrace *gantry_py_trace_begin (GantryPyState *state, gboolean nested);
/** @trace: (transfer full): the innermost, with its regions; the one around it is innermost again. */
void gantry_py_trace_end (GantryPyState *state, GantryTrace *trace);
/** Begins a function in the innermost region, which it becomes. Returns: (transfer none): lives as long as the root trace */
GantryRegion *gantry_py_region_begin (GantryTrace *trace, const char *name);
/** Leaves the region without ending its function for good: it may be reopened. */
void gantry_py_region_leave (GantryTrace *trace, const guint32 *results, guint n_results);
/** The node that stands for @value in the innermost region: a constant, a parameter, a capture. 0 with an exception. */
guint32 gantry_py_use (GantryPyState *state, PyObject *value);
/** The same in @region, which is not the innermost. */
guint32 gantry_py_use_in (GantryPyState *state, GantryRegion *region, PyObject *value);
/** The captures of several regions that get the same operands: after it they have the same, in the same order. */
void gantry_py_regions_align (GantryTrace *trace, GantryRegion **regions, guint n);
/** A parameter of the innermost function as a variable. */
PyObject *gantry_py_trace_parameter (GantryPyState *state, guint32 type, const char *name, GantryPyValueKind kind);
/** Wraps node @id of the innermost region; a tuple node gives a tuple. */
PyObject *gantry_py_wrap (GantryPyState *state, guint32 id, GantryPyValueKind kind);
/** Turns a GError of the builder into a Python exception. Returns: FALSE when there was one */
gboolean gantry_py_check_builder (GantryTrace *trace);
/** @node: (nullable): what is interpreted now. Nodes added from now on are from there; one without a line leaves the place as it is. */
void gantry_py_set_place (GantryTrace *trace, const GantryPyNode *node);
/** Where @node stands and what led to it now: a location id. */
guint32 gantry_py_location (GantryTrace *trace, const GantryPyNode *node);
/**
 * gantry_py_chain_enter:
 * @outer: what led to @place
 * @place: (nullable): a call or a loop
 * @function: (nullable): that was called there; NULL: in the same
 *
 * From now on nodes were led to by @place: until the chain is set back.
 */
void
gantry_py_chain_enter (GantryTrace *trace, const GantryPyChain *outer, const GantryPyNode *place, GantryLocationStep step, guint number, const char *function);

/** The value that a Parameter has at this point of the trace: itself outside of one. Returns: a new reference */
PyObject *gantry_py_parameter_value (GantryPyState *state, PyObject *parameter);

/**
 * gantry_py_parameter_assign:
 * @value: brought to the element type of @parameter
 *
 * Inside a trace the graph notes it, outside the Parameter changes. Returns: 0; -1 with an exception
 */
int gantry_py_parameter_assign (GantryPyState *state, PyObject *parameter, PyObject *value);

/** Applies a core operation. @attrs: (nullable) dict. Returns: a new reference: a tensor, or a tuple of them */
PyObject *gantry_py_apply (GantryPyState *state, const char *name, PyObject *const *operands, guint n, PyObject *attrs);
/** @dict: (nullable): of str, float, int, lists of int; `to`: a type. Returns: attrs id; 0 of an empty one, and with an exception */
guint32 gantry_py_attrs (GantryContext *context, PyObject *dict);

/* Cells that compute in a type of their own */
/** TRUE where @value (a GantryPyValue) is read in another type than it is stored in. */
gboolean gantry_py_is_lowered (GantryPyState *state, PyObject *value);
/** The element type that @value is read in. */
GantryElementType gantry_py_read_element (GantryPyState *state, PyObject *value);
/** @value as it is read here. Returns: a new reference */
PyObject *gantry_py_lowered (GantryPyState *state, PyObject *value);
/** @value, as it is read here, in the type of what it is assigned to. Returns: a new reference */
PyObject *gantry_py_as_stored (GantryPyState *state, PyObject *value, GantryElementType element);
/** From now on what exists is read as @element. Returns: what was before, to be put back */
GantryPyPrecision gantry_py_precision_begin (GantryPyState *state, GantryElementType element);
/** _gantry.precision (what): None or an element type, or what it returned before, to be put back. Returns: a new reference */
PyObject *gantry_py_precision (PyObject *module, PyObject *object);
/** _gantry.stored (value): a tensor whose reads are not converted to the float type of the Cell that runs. Returns: a new reference */
PyObject *gantry_py_stored (PyObject *module, PyObject *object);

/**
 * gantry_py_host_call:
 * @result: HANDLE, or the kind of number that it gives
 *
 * Adds what CPython is to do at run time. Returns: a new reference: the variable for its result; NULL with the documented
 * RuntimeError on level STRICT
 */
PyObject *gantry_py_host_call (GantryPyState *state, PyObject *callable, PyObject *args, PyObject *kwargs, GantryPyValueKind result);

/** Before a compiled graph that assigns Parameters reads them: waits while another thread is at such a graph. What the thread calls meanwhile (a
 *  handler of a signal) does not wait. Returns: FALSE with the exception of a handler */
gboolean gantry_py_step_begin (void);
/** When the Parameters are assigned, or are not. */
void gantry_py_step_end (void);
/**
 * gantry_py_run_compiled:
 * @compiled: what compile of the backend gave
 * @results: (out): one for each result, (transfer full); untouched on error
 *
 * Runs a compiled graph. Handlers of signals that CPython has (KeyboardInterrupt) are called while it runs, and end it where they raise.
 *
 * Returns: FALSE with an exception
 */
gboolean gantry_py_run_compiled (GantryPyState *state, gpointer compiled, GantryLiteral *const *arguments, GantryLiteral **results);

G_END_DECLS
