/* SPDX-License-Identifier: Apache-2.0 */
/* Private to core/frontends/mindspore: a MindIR model as it is read (mind_ir.proto of MindSpore 1.1 to 2.7), the values of a graph
 * that is being written, and what the reader's files share. The first error sticks in the import: from then on functions give
 * nothing, so that a walk asks once. An error of %GANTRY_ERROR_UNSUPPORTED is of one call: it becomes an opaque node. */
#pragma once
#include "core/base/base.h"
#include "core/base/fail.h"
#include "core/base/wire.h"
#include "core/frontends/mindspore/mindspore.h"
#include "core/graph/graph.h"

G_BEGIN_DECLS

#define MIND_DIALECT "mindspore"
#define MIND_DEFAULT_MOST_NODES 4000000u
#define MIND_MOST_DEPTH 200u  /* of calls */
#define MIND_MOST_NESTING 32u /* of values in values */
#define MIND_MOST_OPERANDS 65536u
#define MIND_MOST_OPERATIONS 20000u

/** Attribute of each node: of each operand the name of its argument, "x"; of tuples "inputs[2]". */
#define MIND_OPERAND_NAMES "operand_names"
/** Attribute of nodes that write over parameters: so many of the last results are what these become. */
#define MIND_UPDATES "updates"

/* AttributeType of mind_ir.proto. */
typedef enum
{
  MIND_TYPE_FLOAT = 1,
  MIND_TYPE_UINT8 = 2,
  MIND_TYPE_INT8 = 3,
  MIND_TYPE_UINT16 = 4,
  MIND_TYPE_INT16 = 5,
  MIND_TYPE_INT32 = 6,
  MIND_TYPE_INT64 = 7,
  MIND_TYPE_STRING = 8,
  MIND_TYPE_BOOL = 9,
  MIND_TYPE_FLOAT16 = 10,
  MIND_TYPE_DOUBLE = 11,
  MIND_TYPE_UINT32 = 12,
  MIND_TYPE_UINT64 = 13,
  MIND_TYPE_BFLOAT16 = 16,
  MIND_TYPE_TENSOR = 17,
  MIND_TYPE_TENSORS = 19,
  MIND_TYPE_TUPLE = 20,
  MIND_TYPE_LIST = 21,
  MIND_TYPE_DICT = 22,
  MIND_TYPE_UMONAD = 23,
  MIND_TYPE_IOMONAD = 24,
  MIND_TYPE_NONE = 25,
} MindAttrType;

/**
 * MindAttr: an AttributeProto.
 *
 * @form: what older versions say of the structure: "scalar:Tuple[value1,value2,]"
 * @tensors: TensorProtos
 * @values: members of a tuple, list or dict
 */
typedef struct _MindAttr MindAttr;
struct _MindAttr
{
  GantryWireSpan name, form, string;
  guint64 type;
  gint64 i;
  double f;
  guint n_ints, n_floats, n_strings, n_tensors, n_values;
  const gint64 *ints;
  const double *floats; /* floats and doubles */
  const GantryWireSpan *strings, *tensors;
  const MindAttr *values;
};

/** A TensorProto. @data: (nullable) of its span: raw_data. */
typedef struct
{
  GantryWireSpan name, data, reference, location;
  guint64 data_type;
  guint rank;
  gint64 dims[GANTRY_MAX_RANK];
  gboolean has_external;
  gint64 offset, length;
  guint64 compression;
} MindTensor;

/** A NodeProto. Names are ids of the import's interner. */
typedef struct
{
  guint32 output, operation;
  guint32 first_input, n_inputs; /* in the import's inputs */
  GantryWireSpan message, domain;
  GantryWireSpan place; /* "file:line", of a text */
  guint64 used;         /* members of a tuple that it gives which somebody takes; all bits: the whole */
} MindNode;

/** A GraphProto. */
typedef struct
{
  guint32 name;
  GantryWireSpan message;
  GArray *nodes;      /* MindNode */
  GArray *inputs;     /* MindInput */
  GArray *parameters; /* GantryWireSpan: TensorProtos */
  GArray *outputs;    /* guint32 */
  GArray *calls;      /* guint: indices of graphs that it names */
  gboolean may_recur; /* it lies on a way from a cycle of calls to a cycle */
} MindGraph;

/** A ValueInfoProto. */
typedef struct
{
  guint32 name;
  GantryWireSpan tensor, info;
} MindInput;

typedef enum
{
  MIND_NODE,    /* of the module */
  MIND_LITERAL, /* a constant that is no weight */
  MIND_INT,
  MIND_FLOAT,
  MIND_BOOL,
  MIND_STRING,
  MIND_TYPE, /* an element type */
  MIND_NONE,
  MIND_MONAD, /* orders effects; no value: i is how many assignments stand before it */
  MIND_TUPLE,
  MIND_GRAPH,    /* a function, perhaps with its first arguments */
  MIND_CHOICE,   /* of two functions by a value: members are the condition and both */
  MIND_TAIL,     /* a call of the loop that is being read: members are its arguments */
  MIND_MIXED,    /* of arms that go on with a loop, or leave it: members are whether it is left, the call, and what is given */
  MIND_DEFERRED, /* a call of a choice in the head of a loop: members are the choice and the arguments */
  MIND_OTHER,    /* something that is only named */
} MindKind;

/**
 * MindValue: what a name of the file stands for.
 *
 * @element: of numbers, types and literals
 * @depth, @leaves: how deep its members are nested, and how many leaves they have
 * @node: node id; of a declared type its type id
 * @region: serial number of the region where @node is
 */
typedef struct _MindValue MindValue;
struct _MindValue
{
  guint8 kind, element, depth;
  gboolean is_list;
  guint32 leaves;
  guint32 node, region;
  union
  {
    gint64 i;
    double f;
    const char *text;
    GantryLiteral *literal; /* kept by the import */
    guint graph;
  };
  guint n;
  MindValue **members;
};

/** A parameter of the model that is assigned, and what it is from then on. @before: 1 + place of the last assignment to it before; 0: none */
typedef struct
{
  MindValue *parameter, *value;
  guint before;
} MindAssignment;

/** A function of the module that is being written. */
typedef struct
{
  guint32 serial, function;
  GHashTable *captured;  /* node id outside -> node id inside */
  GArray *outer, *inner; /* guint32: the same in their order */
} MindRegion;

typedef struct
{
  GantryContext *context;
  GantryBuilder *b;
  const GantryMindsporeOptions *options;
  const GantryProgress *progress;
  GantryMindsporeInfo *info;
  GError *error;
  GBytes *bytes;
  const guint8 *begin; /* of the file */
  const char *path;    /* (nullable): NULL in memory */
  guint32 file;        /* string id */
  GantryArena *arena;
  GantryInterner *names;
  GArray *inputs;          /* guint32: names that nodes take */
  GPtrArray *graphs;       /* MindGraph; the first is the main one */
  GHashTable *by_name;     /* name -> index of a graph + 1 */
  GHashTable *primitives;  /* name -> GantryWireSpan, PrimitiveProto */
  GPtrArray *values;       /* name -> MindValue */
  GPtrArray *literals;     /* kept until the end */
  GPtrArray *regions;      /* MindRegion, innermost last */
  GHashTable *weights;     /* node ids of parameters of the model */
  MindValue *random_state; /* (nullable) */
  GArray *assignments;     /* MindAssignment, in the order of their effects */
  GHashTable *assigned;    /* node id of a parameter -> 1 + place of the last assignment to it */
  GArray *loops;           /* guint: graphs whose loop is being read, innermost last */
  GHashTable *operations;  /* op codes */
  GHashTable *external;    /* location -> GBytes */
  GHashTable *symbols;     /* name -> gint64 */
  guint32 serials;
  guint32 scope, location; /* of the node that is being written */
  guint32 call;            /* location of the call whose function is being written */
  guint depth, n_written, max_nodes;
  const MindGraph *head; /* (nullable): of a loop: its last call is deferred */
} MindImport;

/* mindir-message.c: fields. */
void gantry_mind_fail (MindImport *import, GantryError code, const char *format, ...) G_GNUC_PRINTF (3, 4);
/** Reads the next field. Returns: FALSE at the end, and where the import has failed */
gboolean gantry_mind_next (MindImport *import, GantryWire *wire);
guint32 gantry_mind_intern (MindImport *import, GantryWireSpan span);
/** As text for people. Returns: (transfer none): of the arena */
const char *gantry_mind_text (MindImport *import, GantryWireSpan span);
gboolean gantry_mind_span_is (GantryWireSpan span, const char *text);
void gantry_mind_read_attr (MindImport *import, GantryWireSpan message, guint depth, MindAttr *attr);
void gantry_mind_read_tensor (MindImport *import, GantryWireSpan message, MindTensor *tensor);

/* ir-text.c */
/** What a text of save_graphs says, as MindIR. Returns: (transfer full): without a graph where it is no such text */
GBytes *gantry_mind_from_text (GBytes *bytes);

/* mindir-index.c */
/** Reads the names of graphs, nodes and primitives. */
void gantry_mind_index (MindImport *import, GantryWireSpan model);
/** Whether a call of @from may lead to one of @to, through no loop that is being read. */
gboolean gantry_mind_reaches (MindImport *import, guint from, guint to);

/* mindir-tensor.c */
GantryElementType gantry_mind_element (guint64 data_type);
/** Type id of a tensor; 0 where its rank is not known. @symbols: (nullable): what open dimensions are called: "x" gives x_0 */
guint32 gantry_mind_tensor_type (MindImport *import, const MindTensor *tensor, const char *symbols);
/** Returns: (transfer full) (nullable): NULL where it has no data, or after an error */
GantryLiteral *gantry_mind_tensor_literal (MindImport *import, const MindTensor *tensor);
/** Whether @tensor has data, in the file or beside it. */
gboolean gantry_mind_tensor_has_data (const MindTensor *tensor);

/* mindir-value.c */
MindValue *gantry_mind_value_new (MindImport *import, MindKind kind);
/** From now on @name stands for @value. */
void gantry_mind_bind (MindImport *import, guint32 name, MindValue *value);
MindValue *gantry_mind_tuple_new (MindImport *import, guint n);
/** Called when @tuple has its members. Returns: FALSE where they are nested too deep, or too many */
gboolean gantry_mind_tuple_close (MindImport *import, MindValue *tuple);
MindValue *gantry_mind_node_value (MindImport *import, guint32 node);
/** What a constant, or an attribute of a primitive, says. */
MindValue *gantry_mind_attr_value (MindImport *import, const MindAttr *attr);
/** What the attribute "shape" of a node says: a value of MIND_NODE whose @node is a type id, or a tuple of such. */
MindValue *gantry_mind_declared (MindImport *import, const MindAttr *attr, const char *symbols);
/** Whether a node can stand for @value. */
gboolean gantry_mind_is_data (const MindValue *value);
/** The node of a value in the region that is being written. 0 after an error */
guint32 gantry_mind_use (MindImport *import, MindValue *value);
/** Appends what @value is made of, tuples and arguments taken apart, to an array of MindValue. */
void gantry_mind_flatten (MindValue *value, GPtrArray *leaves);
/** @value with its leaves replaced by those of @leaves from @at on. */
MindValue *gantry_mind_rebuild (MindImport *import, MindValue *value, MindValue *const *leaves, guint *at);
/** Whether two values have the same structure; data count as equal. */
gboolean gantry_mind_same_structure (const MindValue *a, const MindValue *b);

/* mindir-region.c */
MindRegion *gantry_mind_region_begin (MindImport *import, const char *name);
void gantry_mind_region_end (MindImport *import, const guint32 *results, guint n);
/** Level of the region with that serial number among those that are open; -1: it is none of them */
gint gantry_mind_region_level (MindImport *import, guint32 serial);
guint32 gantry_mind_capture (MindRegion *region, GantryBuilder *b, guint32 outer);
/** Gives regions that were ended the same captures, and appends what they capture to @operands. */
void gantry_mind_regions_align (MindImport *import, MindRegion **regions, guint n, GArray *operands);
void gantry_mind_region_free (gpointer region); /* GDestroyNotify */

/* mindir-node.c */
gboolean gantry_mind_is_constant (MindImport *import, const MindNode *node);
MindValue *gantry_mind_constant (MindImport *import, const MindNode *node);
/** The value of one node. NULL after an error */
MindValue *gantry_mind_write_node (MindImport *import, const MindGraph *graph, guint index);
/** A foreign node @name with @values as its arguments, of the type that the file declares for @node. @also: (nullable): a tuple of types
 *  of results beside that; the value then is a tuple: what the file declares, and they */
MindValue *gantry_mind_write_foreign (MindImport *import, const MindNode *node, const char *name, GantryAttrList *attrs, MindValue *const *values, guint n,
                                      const char *const *names, MindValue *also);
/** The same of a primitive, with its attributes. @given: (nullable): names of the arguments; NULL: as they are known */
MindValue *gantry_mind_write_primitive (MindImport *import, const MindNode *node, const char *primitive, GantryWireSpan message, MindValue *const *values,
                                        guint n, const char *const *given, MindValue *also);
/** Name of the primitive that a node's operation is, and what the model says of it. (nullable) */
const char *gantry_mind_primitive (MindImport *import, guint32 operation, GantryWireSpan *message);

/* mindir-update.c */
/** What @parameter is behind the first @n assignments. */
MindValue *gantry_mind_assigned (MindImport *import, MindValue *parameter, guint n);
/** The state that random numbers are drawn from, as a parameter behind the inputs, where the model draws some. */
void gantry_mind_write_random_state (MindImport *import);
/** A primitive that writes over parameters of the model. Returns: (nullable): NULL without an error where it is none */
MindValue *gantry_mind_update (MindImport *import, const MindNode *node, const char *primitive, GantryWireSpan message, MindValue *const *values);

/* mindir-call.c */
/** Binds the inputs of graph @index to @arguments and writes its nodes. Returns: (nullable): what it gives */
MindValue *gantry_mind_write_graph (MindImport *import, guint index, MindValue *const *arguments, guint n);
/** Calls a graph with all of its arguments. (nullable) */
MindValue *gantry_mind_call_graph (MindImport *import, guint index, MindValue *const *arguments, guint n);
MindValue *gantry_mind_call (MindImport *import, const MindGraph *graph, const MindNode *node, MindValue *function, MindValue *const *arguments, guint n);

/* mindir-branch.c */
/** Writes arm @arm: 0 where the condition holds, else 1. (nullable) */
typedef MindValue *(*MindArmFunc) (MindImport *import, guint arm, gconstpointer data);
/** A branch by @condition, a bool[]. Returns: (nullable): what both arms give; a %MIND_MIXED where one goes on with a loop */
MindValue *gantry_mind_join (MindImport *import, guint32 condition, MindArmFunc write, gconstpointer data);
/** A condition as bool[]; 0 after an error */
guint32 gantry_mind_predicate (MindImport *import, MindValue *value);
MindValue *gantry_mind_branch (MindImport *import, MindValue *choice, MindValue *const *arguments, guint n);

/* mindir-loop.c */
MindValue *gantry_mind_loop (MindImport *import, guint graph, MindValue *const *arguments, guint n);

/* lower.c */
gboolean gantry_mindspore_knows_operation (const char *op_name);
/** Names of the arguments of a primitive, "x weight bias", by its name; "*var" is written over. (nullable) */
const char *gantry_mindspore_arguments (const char *primitive);

G_END_DECLS
