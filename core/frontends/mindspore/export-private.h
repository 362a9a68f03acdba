/* SPDX-License-Identifier: Apache-2.0 */
/* Private to core/frontends/mindspore: what the writer's files share. Values are names in a graph of the file; a function of the writer
 * takes values, adds nodes to the graph that is open, and returns the value of the last one. The first error sticks, and from then on
 * every function returns a value that is nobody's. */
#pragma once
#include "core/base/arena.h"
#include "core/base/wire.h"
#include "core/frontends/mindspore/mindspore.h"
#include "core/graph/graph.h"

G_BEGIN_DECLS

#define MIND_EXPORT_MOST_DATA (G_GUINT64_CONSTANT (1) << 30) /* a protocol buffer is smaller than 2 GiB */
#define MIND_EXPORT_MOST_UNROLLED 20000u

/**
 * ExportValue: a value in a graph of the file.
 *
 * @name: (nullable): NULL of a broadcast that nobody has needed whole, and of a tuple
 * @narrow: (nullable): of a broadcast: what numpy's rule broadcasts to it
 * @members: (nullable): of a tuple
 */
typedef struct _ExportValue ExportValue;
struct _ExportValue
{
  const char *name;
  const GantryType *type;
  ExportValue *narrow;
  ExportValue **members;
  guint n;
};

/** A GraphProto that is being written. */
typedef struct _ExportGraph ExportGraph;
struct _ExportGraph
{
  ExportGraph *outer;
  const char *name;
  GByteArray *nodes, *inputs, *parameters, *outputs;
  GHashTable *constants; /* text -> name of a constant */
};

typedef struct
{
  GantryArena *arena;
  GantryContext *context;
  const GantryModule *module;
  const GantryNode *node; /* (nullable): that is being written */
  ExportGraph *graph;
  GByteArray *functions;  /* finished GraphProtos, as fields of the model */
  GHashTable *primitives; /* bytes -> name */
  GByteArray *primitive_list;
  GHashTable *counts; /* primitive -> how many nodes, for their names */
  GHashTable *names;  /* of inputs and parameters */
  ExportValue *nobody;
  guint64 data; /* bytes of tensors so far */
  guint counter, unrolled, depth;
  GError *error;
} MindExport;

/* export-value.c */
void gantry_mind_export_fail (MindExport *e, const char *format, ...) G_GNUC_PRINTF (2, 3);
void gantry_mind_export_push (MindExport *e, const char *name);
/** Closes the graph that was opened last. Returns: (transfer full): its GraphProto */
GByteArray *gantry_mind_export_pop (MindExport *e);
ExportValue *gantry_mind_export_value (MindExport *e, const char *name, const GantryType *type);
/** A new input of the graph that is open. */
ExportValue *gantry_mind_export_input (MindExport *e, const char *name, const GantryType *type);
void gantry_mind_export_output (MindExport *e, ExportValue *value);
/** The name of a value, which is made whole. */
const char *gantry_mind_export_use (MindExport *e, ExportValue *value);
ExportValue *gantry_mind_export_tuple (MindExport *e, ExportValue **members, guint n);
/** The parameter of the model that @literal is. */
ExportValue *gantry_mind_export_parameter (MindExport *e, const char *name, const GantryLiteral *literal);
const GantryType *gantry_mind_export_type (MindExport *e, GantryElementType element, guint rank, const GantryDim *dims);

/* Constants: names. */
const char *gantry_mind_export_int (MindExport *e, gint64 value);
const char *gantry_mind_export_bool (MindExport *e, gboolean value);
const char *gantry_mind_export_ints (MindExport *e, const gint64 *values, guint n); /* a tuple */
const char *gantry_mind_export_dtype (MindExport *e, GantryElementType element);
ExportValue *gantry_mind_export_literal (MindExport *e, const GantryLiteral *literal);
/** A scalar of @element. */
ExportValue *gantry_mind_export_scalar (MindExport *e, GantryElementType element, double value);
/** 0, 1, 2 ... along dimension @axis of @rank dimensions, all others 1. */
ExportValue *gantry_mind_export_range (MindExport *e, GantryElementType element, gint64 n, guint rank, guint axis);

/* An AttributeProto, (transfer full): without its value. @name: (nullable): of a member of another one. @type: MindAttrType */
GByteArray *gantry_mind_export_attribute (const char *name, guint type);
/* Attributes of a primitive, being put together. */
void gantry_mind_attr_int (GByteArray *attrs, const char *name, gint64 value);
void gantry_mind_attr_bool (GByteArray *attrs, const char *name, gboolean value);
void gantry_mind_attr_ints (GByteArray *attrs, const char *name, const gint64 *values, guint n);
void gantry_mind_attr_string (GByteArray *attrs, const char *name, const char *value);

/* Nodes. */
/** @attrs: (transfer full) (nullable); names of inputs end with NULL */
ExportValue *gantry_mind_export_node (MindExport *e, const char *primitive, GByteArray *attrs, const GantryType *type, ...) G_GNUC_NULL_TERMINATED;
/** The same with a list, and a tuple of @n_types results (type of several). */
ExportValue *gantry_mind_export_add (MindExport *e, const char *operation, GByteArray *attrs, const char *const *inputs, guint n_inputs,
                                     const GantryType *const *types, guint n_types, gboolean is_tuple);
/** A node whose value is a function: Partial and Switch; @functions: the graphs that it may be. Returns: its name */
const char *
gantry_mind_export_closure (MindExport *e, const char *primitive, const char *const *inputs, guint n_inputs, const char *const *functions, guint n_functions);
ExportValue *gantry_mind_export_call (MindExport *e, const char *function, ExportValue **arguments, guint n, const GantryType *const *types, guint n_types,
                                      gboolean is_tuple);
ExportValue *gantry_mind_export_reshape (MindExport *e, ExportValue *x, guint rank, const GantryDim *dims);
ExportValue *gantry_mind_export_transpose (MindExport *e, ExportValue *x, const gint64 *permutation);
ExportValue *gantry_mind_export_cast (MindExport *e, ExportValue *x, GantryElementType element);
ExportValue *gantry_mind_export_broadcast (MindExport *e, ExportValue *x, guint rank, const GantryDim *dims);
ExportValue *gantry_mind_export_slice (MindExport *e, ExportValue *x, const gint64 *starts, const gint64 *limits, const gint64 *strides);
/** Pads with @value, a scalar; negative edges cut; @interior: (nullable) */
ExportValue *gantry_mind_export_pad (MindExport *e, ExportValue *x, double value, const gint64 *low, const gint64 *high, const gint64 *interior);
ExportValue *gantry_mind_export_concat (MindExport *e, ExportValue **xs, guint n, gint64 axis, const GantryType *type);
/** numpy's broadcasting of two operands. */
ExportValue *gantry_mind_export_binary (MindExport *e, const char *primitive, ExportValue *x, ExportValue *y, GantryElementType element);
/** Elements at integer @indices along @axis, in range. */
ExportValue *gantry_mind_export_take (MindExport *e, ExportValue *x, ExportValue *indices, gint64 axis);

/* The rules: the value of the node e->node, whose operands are @in. */
ExportValue *gantry_mind_export_elementwise (MindExport *e, ExportValue **in, guint n);
ExportValue *gantry_mind_export_movement (MindExport *e, ExportValue **in, guint n);
ExportValue *gantry_mind_export_gather (MindExport *e, ExportValue **in, guint n);
ExportValue *gantry_mind_export_reduction (MindExport *e, ExportValue **in, guint n);
ExportValue *gantry_mind_export_window (MindExport *e, ExportValue **in, guint n);
ExportValue *gantry_mind_export_sort (MindExport *e, ExportValue **in, guint n);
ExportValue *gantry_mind_export_dot (MindExport *e, ExportValue **in, guint n);
ExportValue *gantry_mind_export_convolution (MindExport *e, ExportValue **in, guint n);
ExportValue *gantry_mind_export_control (MindExport *e, ExportValue **in, guint n);

/* export.c */
/** Writes the nodes of @function into the graph that is open. @results: as many as it has */
void gantry_mind_export_function (MindExport *e, const GantryFunction *function, ExportValue **arguments, ExportValue **results);

G_END_DECLS
