/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the importer share. An import writes one module: GantryOnnxBody is one list of
 * nodes in it (the graph, a subgraph, or a function of the model written out where it is called)
 * with the names that are visible there. Recursion follows the nesting of subgraphs (bounded by the
 * scanner) and of calls (bounded here). */
#pragma once
#include "core/frontends/onnx/onnx-node.h"
#include "core/frontends/onnx/onnx-reader-private.h"
#include "core/frontends/onnx/onnx.h"

G_BEGIN_DECLS

#define GANTRY_ONNX_DEFAULT_MAX_NODES (4u << 20)
#define GANTRY_ONNX_MAX_CALL_DEPTH 64u
#define GANTRY_ONNX_MAX_OPERATIONS 16384u /* different ones in a model */
#define GANTRY_ONNX_MAX_OPERANDS 65535u
#define GANTRY_ONNX_MAX_ATTRIBUTES 1000u
#define GANTRY_ONNX_MAX_WARNINGS 100u
#define GANTRY_ONNX_WRITTEN 0.4 /* of the whole work when the graph is written */

typedef struct
{
  GantryContext *context;
  GantryBuilder *builder;
  GantryOnnxFile *file;
  const GantryOnnxOptions *options;
  const GantryProgress *progress;
  GantryOnnxInfo *info;
  guint32 file_string;
  guint n_written; /* nodes of the module, against the limit */
  guint max_nodes;
  guint call_depth;
  GHashTable *opsets;     /* domain -> GINT of its version: of the model */
  GHashTable *functions;  /* "domain\nname\noverload" -> Onnx__FunctionProto* */
  GHashTable *calls;      /* Onnx__FunctionProto* being written out */
  GHashTable *captures;   /* Onnx__GraphProto* -> GPtrArray of names */
  GHashTable *operations; /* names of operations used */
  GHashTable *no_opset;   /* domains used without a version, already warned about */
  GHashTable *symbols;    /* names of unbound dimensions seen */
  GPtrArray *unbound;     /* the same in order */
  guint8 *dim_used;       /* for each option: it named a dimension */
  GPtrArray *warnings;
} GantryOnnxImport;

typedef struct _GantryOnnxBody GantryOnnxBody;

/** The attribute that a call gives to a function, and the body whose names its subgraphs see. */
typedef struct
{
  const Onnx__AttributeProto *attribute;
  GantryOnnxBody *body;
} GantryOnnxBinding;

struct _GantryOnnxBody
{
  GantryOnnxImport *import;
  Onnx__NodeProto **nodes;
  gsize n_nodes;
  GHashTable *values;   /* name -> node id, 0 for an input that the call leaves out */
  GHashTable *types;    /* name -> type id that the file declares */
  GHashTable *bindings; /* (nullable): of a function: attribute name -> GantryOnnxBinding */
  GHashTable *aliases;  /* (nullable): of a function: its output -> the caller's name of it */
  GHashTable *opsets;
  char *prefix;    /* of value names, "" outside functions */
  char *where;     /* of locations: "" or "node 12 'if', then_branch, " */
  char *scope;     /* path below which the nodes stand */
  guint32 line;    /* of the node of the graph that all this belongs to; 0 in the graph itself */
  guint32 *scopes; /* of each node */
};

/* onnx-import.c */
void gantry_onnx_warn (GantryOnnxImport *import, const char *format, ...) G_GNUC_PRINTF (2, 3);
/** Counts @n more nodes; FALSE and TOO_LARGE above the limit, or when cancelled. */
gboolean gantry_onnx_count (GantryOnnxImport *import, guint n, GError **error);

/* onnx-import-graph.c */
void gantry_onnx_body_init (GantryOnnxBody *body, GantryOnnxImport *import, const GantryOnnxBody *outer);
void gantry_onnx_body_clear (GantryOnnxBody *body);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GantryOnnxBody, gantry_onnx_body_clear)
/** Adds @id as the value @name; FALSE and INVALID when there is one already. */
gboolean gantry_onnx_body_define (GantryOnnxBody *body, const char *name, guint32 id, GError **error);
/** Puts the nodes in order and writes them. */
gboolean gantry_onnx_body_write_nodes (GantryOnnxBody *body, GError **error);
gboolean gantry_onnx_write_graph (GantryOnnxImport *import, const Onnx__GraphProto *graph, GError **error);
/** Writes @graph, attribute @attribute of node @index of @outer, as a closed function whose last
 * parameters stand for @captures (node ids). @names: the body whose names it sees, mostly @outer.
 * Returns: its function id, 0 on error. */
guint32 gantry_onnx_write_subgraph (GantryOnnxBody *outer, const GantryOnnxBody *names, const Onnx__GraphProto *graph, const char *attribute, gsize index,
                                    GArray *captures, GError **error);

/* onnx-import-node.c */
gboolean gantry_onnx_write_node (GantryOnnxBody *body, gsize index, GError **error);
guint32 gantry_onnx_node_location (GantryOnnxBody *body, gsize index);
/** "node 12 'conv1' (Conv)", with what it stands in. Returns: (transfer full) */
char *gantry_onnx_node_where (const GantryOnnxBody *body, gsize index);
/** @domain as Gantry names it: "" for "ai.onnx". */
const char *gantry_onnx_domain (const char *domain);

/* onnx-import-attribute.c */
/** Sets every attribute of the node; the functions of subgraphs are written. @captures: node ids,
 * all bodies' together. */
gboolean gantry_onnx_write_attributes (GantryOnnxBody *body, gsize index, GantryAttrList *list, GArray *captures, GError **error);
/** The attribute itself, or what the call bound its name to; NULL when the call leaves it out. @of:
 * (out): body that sees its names. */
const Onnx__AttributeProto *gantry_onnx_attribute (GantryOnnxBody *body, const Onnx__AttributeProto *attribute, GantryOnnxBody **of, GError **error);
/** Sets "value" of a constant, or what stands for it where the element type is not compiled. @type:
 * (out) */
gboolean
gantry_onnx_write_tensor (GantryOnnxImport *import, GantryAttrList *list, const char *key, const Onnx__TensorProto *tensor, guint32 *type, GError **error);

/* onnx-import-function.c */
gboolean gantry_onnx_collect_functions (GantryOnnxImport *import, GError **error);
/** FALSE and TOO_LARGE, with their number, when the nodes with all calls written out are above the limit; nothing is
 * written for that. */
gboolean gantry_onnx_check_expansion (GantryOnnxImport *import, GError **error);
/** Returns: (nullable): the body that the model gives for the operation of @node */
const Onnx__FunctionProto *gantry_onnx_find_function (GantryOnnxImport *import, const Onnx__NodeProto *node);
/** Writes the body of @function in place of node @index. */
gboolean gantry_onnx_write_call (GantryOnnxBody *body, gsize index, const Onnx__FunctionProto *function, GError **error);

/* onnx-order.c */
/** Names that @graph uses and does not define, in order of first use. Returns: (transfer none)
 * (element-type utf8) */
GPtrArray *gantry_onnx_free_names (GantryOnnxImport *import, const Onnx__GraphProto *graph);
/** An order in which each node comes after those it uses, the order of the file where that is one.
 * Returns: (transfer full): indices; NULL and INVALID when nodes form a cycle or two produce one
 * value */
guint32 *gantry_onnx_order (GantryOnnxBody *body, GError **error);

/* onnx-scope.c */
/** Scope ids of the nodes of @body. Returns: (transfer full) */
guint32 *gantry_onnx_scopes (GantryOnnxBody *body);
/** The longest path that both are in. */
guint32 gantry_onnx_common_scope (GantryContext *context, guint32 a, guint32 b);

/* onnx-types.c */
/** The type of a value; symbols bound by the options. @input: (nullable): name of the graph input
 * that it belongs to, whose dimensions may be bound by position and are reported when unbound. */
guint32 gantry_onnx_value_type (GantryOnnxImport *import, const Onnx__TypeProto *type, const char *input);
void gantry_onnx_declare_types (GantryOnnxBody *body, Onnx__ValueInfoProto **values, gsize n);
/** FALSE and an error that lists the names when an option named no dimension. */
gboolean gantry_onnx_check_dims (GantryOnnxImport *import, GError **error);
/** "f32[batch,3]" also of values that are no tensors. Returns: (transfer full) */
char *gantry_onnx_type_text (GantryOnnxImport *import, const Onnx__TypeProto *type, guint32 type_id);

/* onnx-infer.c */
/** Fills the types of @module's nodes and the list of unsupported operations. */
gboolean gantry_onnx_infer (GantryOnnxImport *import, GantryModule *module, GError **error);

/* onnx-info.c */
void gantry_onnx_info_describe (GantryOnnxImport *import);
void gantry_onnx_info_add_values (GantryOnnxImport *import, const GantryModule *module);

G_END_DECLS
