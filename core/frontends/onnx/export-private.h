/* SPDX-License-Identifier: Apache-2.0 */
/* Private to core/frontends/onnx: what the writer's files share. Values are names in a graph; a function of the writer
 * takes values, adds nodes to the graph that is open, and returns the value of the last one. The first error sticks, and
 * from then on every function returns a value that is nobody's, so that a rule is written without a check at each step. */
#pragma once
#include "core/base/arena.h"
#include "core/frontends/onnx/onnx-node.h"
#include "core/graph/operation.h"
#include "onnx.pb-c.h"

G_BEGIN_DECLS

/* The operator set that core operations are written in, and the version of the file format that belongs to it. */
#define GANTRY_ONNX_EXPORT_OPSET 18
#define GANTRY_ONNX_EXPORT_IR 8

typedef struct _ExportGraph ExportGraph;

/**
 * ExportValue: a value in a graph of the file.
 *
 * @type: of a tensor, static
 * @slot: (nullable): where its name stands in the node that makes it, while nobody has used it: it may still be renamed
 * @made_in: (nullable): the graph where a node makes it; NULL for inputs and initializers
 * @named: it has the name of a node of the module
 * @is_output: of the graph where it is made
 * @narrow: (nullable): of a broadcast: what numpy's rule broadcasts to it. The whole of it is made when somebody needs it
 * @members: (nullable): of a tuple
 */
typedef struct _ExportValue ExportValue;
struct _ExportValue
{
  char *name;
  const GantryType *type;
  char **slot;
  ExportGraph *made_in;
  gboolean named, is_output;
  ExportValue *narrow;
  ExportValue **members;
};

/** A GraphProto that is being written. */
struct _ExportGraph
{
  ExportGraph *outer; /* (nullable) */
  GPtrArray *nodes, *initializers, *inputs, *outputs;
  GHashTable *constants; /* bytes of a small literal -> ExportValue */
};

/**
 * GantryOnnxExport: the file that is being written.
 *
 * @node: (nullable): of the module, that is being written: for names, places and errors
 * @names: taken names
 * @kept: name of a result of the entry -> id of the node that alone may have it
 * @opsets: domain -> version
 * @imported: the operations are those of a model, of an older operator set perhaps
 * @identities: names of operations that move or mark memory, each once: they are written as Identity
 */
typedef struct
{
  GantryArena *arena;
  GantryContext *context;
  const GantryModule *module;
  const GantryNode *node;
  ExportGraph *graph;
  GHashTable *names;
  GHashTable *kept;
  GHashTable *opsets;
  GHashTable *identities;
  GPtrArray *holders;  /* graphs, freed at the end */
  ExportValue *nobody; /* what a rule gets after an error */
  guint counter;
  guint depth;
  gboolean imported;
  GError *error;
} GantryOnnxExport;

/* export-node.c: names, values, attributes. */
ExportGraph *gantry_export_push (GantryOnnxExport *e);
/** Closes the graph that was opened last. Returns: (transfer none): of the arena */
Onnx__GraphProto *gantry_export_pop (GantryOnnxExport *e, const char *name);
/** A name that nothing has: @wanted where that is free. */
char *gantry_export_name (GantryOnnxExport *e, const char *wanted);
ExportValue *gantry_export_value (GantryOnnxExport *e, char *name, const GantryType *type);
/** Gives @value the name @wanted, or one like it, where nobody has used it yet. */
void gantry_export_rename (GantryOnnxExport *e, ExportValue *value, const char *wanted);
/** The number that ONNX has for an element type; 0 where it has none. */
gint32 gantry_export_data_type (GantryElementType element);
Onnx__ValueInfoProto *gantry_export_value_info (GantryOnnxExport *e, const char *name, const GantryType *type);

/** Records an error at the node that is being written. */
void gantry_export_fail (GantryOnnxExport *e, const char *format, ...) G_GNUC_PRINTF (2, 3);

/** An attribute, still without a value. (transfer none) */
Onnx__AttributeProto *gantry_export_attribute (GantryOnnxExport *e, const char *name, gint32 type);

/** A node that is being put together, of up to a few attributes. */
typedef struct
{
  GantryOnnxExport *e;
  Onnx__NodeProto *proto;
  GPtrArray *inputs, *attributes;
} ExportNode;

void gantry_export_begin (GantryOnnxExport *e, ExportNode *node, const char *operation);
/** @value: (nullable): NULL is an absent input */
void gantry_export_input (ExportNode *node, ExportValue *value);
void gantry_export_int (ExportNode *node, const char *name, gint64 value);
void gantry_export_ints (ExportNode *node, const char *name, const gint64 *values, gsize n);
void gantry_export_string (ExportNode *node, const char *name, const char *value);
void gantry_export_graph (ExportNode *node, const char *name, Onnx__GraphProto *graph);
/** Adds the node with one result. */
ExportValue *gantry_export_end (ExportNode *node, const GantryType *type);
/** Adds the node with the results @types. Returns: (transfer none): as many values */
ExportValue **gantry_export_end_many (ExportNode *node, const GantryType *const *types, guint n);

/* Values that a rule needs besides its operands. */
/** @name: (nullable). Returns: (transfer none): with the bytes where @literal has them, or in the arena */
Onnx__TensorProto *gantry_export_tensor (GantryOnnxExport *e, const GantryLiteral *literal, const char *name);
ExportValue *gantry_export_literal (GantryOnnxExport *e, GantryLiteral *literal, const char *name);
/** A constant that the writer itself needs, which stands once in each graph. @data: copied */
ExportValue *gantry_export_constant (GantryOnnxExport *e, const GantryType *type, gconstpointer data, gsize size);
ExportValue *gantry_export_vector (GantryOnnxExport *e, const gint64 *values, gsize n);
/** Of a type without elements, which several operations of ONNX do not make. */
ExportValue *gantry_export_empty (GantryOnnxExport *e, const GantryType *type);
/** A scalar of @element. */
ExportValue *gantry_export_scalar (GantryOnnxExport *e, GantryElementType element, double value);
ExportValue *gantry_export_integer (GantryOnnxExport *e, GantryElementType element, gint64 value);
const GantryType *gantry_export_type (GantryOnnxExport *e, GantryElementType element, guint rank, const gint64 *dims);
/** The type of @value with another element. */
const GantryType *gantry_export_with (GantryOnnxExport *e, const ExportValue *value, GantryElementType element);

/** Attribute @key of the node that is being written: @n numbers, or @fallback as often. */
void gantry_export_read (GantryOnnxExport *e, const char *key, guint n, gint64 fallback, gint64 *values);

/* Nodes that many rules add. */
ExportValue *gantry_export_op (GantryOnnxExport *e, const char *operation, const GantryType *type, guint n, ...);
ExportValue *gantry_export_cast (GantryOnnxExport *e, ExportValue *x, GantryElementType element);
ExportValue *gantry_export_reshape (GantryOnnxExport *e, ExportValue *x, guint rank, const gint64 *dims);
ExportValue *gantry_export_transpose (GantryOnnxExport *e, ExportValue *x, const gint64 *permutation);
/** @starts, @limits, @steps: of each dimension; a step of -1 reverses all of it */
ExportValue *gantry_export_slice (GantryOnnxExport *e, ExportValue *x, const gint64 *starts, const gint64 *limits, const gint64 *steps);
/** Pads with @value, a scalar; negative edges cut. */
ExportValue *gantry_export_pad (GantryOnnxExport *e, ExportValue *x, ExportValue *value, const gint64 *low, const gint64 *high, const gint64 *interior);
ExportValue *gantry_export_expand (GantryOnnxExport *e, ExportValue *x, guint rank, const gint64 *dims);
/** The same, made when somebody needs the whole of it. */
ExportValue *gantry_export_expand_late (GantryOnnxExport *e, ExportValue *x, guint rank, const gint64 *dims);
/** Somebody uses @value: it is made, and keeps its name. */
void gantry_export_settle (GantryOnnxExport *e, ExportValue *value);
/** Elements of x at computed @indices, in range, along @axis. */
ExportValue *gantry_export_take (GantryOnnxExport *e, ExportValue *x, ExportValue *indices, gint64 axis);
/** A vector 0 .. n - 1 of i64, as dimension @axis of @rank dimensions. */
ExportValue *gantry_export_range (GantryOnnxExport *e, gint64 n, gint64 factor, guint rank, gint64 axis);
/** numpy's broadcasting. */
ExportValue *gantry_export_binary (GantryOnnxExport *e, const char *operation, ExportValue *x, ExportValue *y);
ExportValue *gantry_export_compare (GantryOnnxExport *e, const char *operation, ExportValue *x, ExportValue *y);
ExportValue *gantry_export_select (GantryOnnxExport *e, ExportValue *condition, ExportValue *x, ExportValue *y);
/** min (max (x, low), high) of i64. */
ExportValue *gantry_export_bound (GantryOnnxExport *e, ExportValue *x, gint64 low, gint64 high);

/* The rules: the value of the node e->node, whose operands are @in. */
typedef ExportValue *(*ExportRule) (GantryOnnxExport *e, ExportValue **in, guint n);

ExportValue *gantry_export_elementwise (GantryOnnxExport *e, ExportValue **in, guint n);
/** The bits of @x as the node's elements, of the same width; see export-bits.c. */
ExportValue *gantry_export_bitcast (GantryOnnxExport *e, ExportValue *x);
/** What popcnt and count_leading_zeros count. */
ExportValue *gantry_export_count_bits (GantryOnnxExport *e, ExportValue *x);
ExportValue *gantry_export_movement (GantryOnnxExport *e, ExportValue **in, guint n);
ExportValue *gantry_export_gather (GantryOnnxExport *e, ExportValue **in, guint n);
ExportValue *gantry_export_scatter (GantryOnnxExport *e, ExportValue **in, guint n);
ExportValue *gantry_export_reduction (GantryOnnxExport *e, ExportValue **in, guint n);
ExportValue *gantry_export_reduce_window (GantryOnnxExport *e, ExportValue **in, guint n);
ExportValue *gantry_export_sort (GantryOnnxExport *e, ExportValue **in, guint n);
ExportValue *gantry_export_dot (GantryOnnxExport *e, ExportValue **in, guint n);
ExportValue *gantry_export_convolution (GantryOnnxExport *e, ExportValue **in, guint n);
ExportValue *gantry_export_control (GantryOnnxExport *e, ExportValue **in, guint n);
/** A node of the dialect "onnx" as it was imported. */
ExportValue *gantry_export_foreign (GantryOnnxExport *e, ExportValue **in, guint n);

/** Reduces along @axes, which vanish. @kind: as a core reduction's */
ExportValue *gantry_export_reduce (GantryOnnxExport *e, const char *kind, ExportValue *x, const gint64 *axes, gsize n);

/** Notes that operations of @domain are of @version; refuses a second one. */
void gantry_export_use_opset (GantryOnnxExport *e, const char *domain, gint64 version);

/* export-graph.c: functions of the module. */
/** A new input of the graph that is open. */
ExportValue *gantry_export_graph_input (GantryOnnxExport *e, const char *name, const GantryType *type);
/** Writes the nodes of @function into the graph that is open. @results: its results, as many as it has */
gboolean gantry_export_function (GantryOnnxExport *e, const GantryFunction *function, ExportValue **arguments, ExportValue **results);
/** Makes @values outputs of the graph that is open: each is made there, and once. */
void gantry_export_outputs (GantryOnnxExport *e, ExportValue **values, guint n, const char *const *names);
/** The function that attribute @key names. */
const GantryFunction *gantry_export_body (GantryOnnxExport *e, const char *key);
ExportValue *gantry_export_tuple (GantryOnnxExport *e, ExportValue **members, guint n);

G_END_DECLS
