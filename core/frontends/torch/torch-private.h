/* SPDX-License-Identifier: Apache-2.0 */
/* Private to core/frontends/torch: one import, the values of a graph under way, and what its files share. */
#pragma once
#include "core/base/fail.h"
#include "core/base/zip.h"
#include "core/frontends/torch/torch.h"
#include "core/graph/graph.h"

G_BEGIN_DECLS

#define TORCH_DIALECT "aten"
#define TORCH_DEFAULT_MOST_NODES 4000000u
#define TORCH_MOST_JSON (G_GUINT64_CONSTANT (256) << 20)
#define TORCH_MOST_JSON_VALUES 8000000u /* 200 MB, twice that while it is read; a program has one in 17 bytes */
#define TORCH_MOST_GRAPH_DEPTH 16u
#define TORCH_MOST_OPERANDS 65536u
#define TORCH_MOST_OPERATIONS 20000u

/** Attribute of each node: of each operand the name of its argument, "input"; of lists "tensors[2]". */
#define TORCH_OPERAND_NAMES "operand_names"
/** Attribute of a node that is given a number which is not known while compiling: the name of that argument. */
#define TORCH_UNRESOLVED "unresolved"

typedef struct _TorchValue TorchValue;

typedef enum
{
  TORCH_JSON_NULL,
  TORCH_JSON_BOOLEAN, /* in @integer */
  TORCH_JSON_INT,
  TORCH_JSON_DOUBLE,
  TORCH_JSON_STRING,
  TORCH_JSON_ARRAY,
  TORCH_JSON_OBJECT,
} TorchJsonKind;

/**
 * TorchJson: a value, and its name where it is a member of an object.
 *
 * @values: (array length=n): of an array in its order, of an object in any
 */
typedef struct _TorchJson TorchJson;
struct _TorchJson
{
  const char *key; /* (nullable) */
  union
  {
    const TorchJson *values;
    const char *text;
    gint64 integer;
    double real;
  };
  guint32 n;
  TorchJsonKind kind;
};

typedef struct _TorchTree TorchTree; /* what a text holds */

/**
 * TorchValue: what a name of the graph stands for now. A view keeps what it was made of; who writes to one of them
 * raises its version, and the other is made again when it is asked for.
 *
 * @id: node id; 0: a weight that nothing has used yet
 * @weight: (nullable): name of a weight in the archive; @is_buffer: it is none that is trained
 * @base: (nullable): the value that this is a view of
 * @view: (nullable): node of the file that made the view; NULL with a base: the same value under another name
 * @seen: version of the base that @id was made from
 * @checked: how many writes there were when @id was last found to be of now
 * @piece: a part of the base along @axis (split, chunk), or one element of it (unbind), from @start on to @end
 */
struct _TorchValue
{
  guint32 id;
  guint32 version;
  guint32 seen;
  guint32 checked;
  guint32 index; /* of the node in the file */
  const char *weight;
  gboolean is_buffer;
  const TorchJson *meta;
  TorchValue *base;
  const TorchJson *view;
  enum
  {
    TORCH_WHOLE,
    TORCH_SLICE,
    TORCH_ELEMENT
  } piece;
  gint64 axis, start, end;
};

/** A weight as a file of the archive; tensor_meta as in the graph. */
typedef struct
{
  char *entry;
  const TorchJson *meta;
  gboolean pickled, frozen; /* frozen: requires_grad is false */
} TorchPayload;

typedef struct
{
  GantryContext *context;
  guint32 n_writes; /* in place, so far */
  guint n_nested;   /* views being made again, each for an operand of another */
  GantryBuilder *b;
  const GantryTorchOptions *options;
  const GantryProgress *progress;
  GantryTorchInfo *info;
  GantryZip *zip;
  GBytes *bytes;
  const char *path;       /* (nullable) */
  guint32 file;           /* string id */
  char *prefix;           /* of the entries: "model/" */
  GPtrArray *trees;       /* owns TorchTree */
  GHashTable *payloads;   /* name of a weight -> TorchPayload */
  GHashTable *literals;   /* what a weight says of its bytes -> constant's node id */
  GHashTable *symbols;    /* name -> gint64, of bound dimensions */
  GHashTable *unbound;    /* names */
  GHashTable *operations; /* op codes */
  GPtrArray *values;      /* owns TorchValue */
  guint max_nodes, n_written;
} TorchImport;

/** A graph: the program's, or one inside a node, which is written out in its place. */
typedef struct
{
  TorchImport *import;
  const TorchJson *graph;
  GHashTable *values; /* name -> TorchValue */
  guint depth;
  gboolean no_gradient; /* it is written where torch records no gradients: what its nodes give is detached */
} TorchFrame;

/* json.c: members of objects that a stranger wrote. */
/** Sets the error. Returns: FALSE */
/** Returns: (nullable): the object that the archive's @entry is; as long as the import */
const TorchJson *gantry_torch_json_parse (TorchImport *import, const char *entry, GError **error);
void gantry_torch_tree_free (gpointer tree);                                              /* GDestroyNotify */
const TorchJson *gantry_torch_json_member (const TorchJson *object, const char *key);     /* NULL when there is none; @object: (nullable) */
const TorchJson *gantry_torch_json_object (const TorchJson *object, const char *key);     /* NULL when it is none */
const TorchJson *gantry_torch_json_array (const TorchJson *object, const char *key);      /* likewise */
const char *gantry_torch_json_string (const TorchJson *object, const char *key);          /* likewise */
gboolean gantry_torch_json_int (const TorchJson *object, const char *key, gint64 *value); /* FALSE when it is none */
gboolean gantry_torch_json_double (const TorchJson *value, double *real);                 /* "Infinity", "-Infinity", "NaN" too */
const TorchJson *gantry_torch_json_element (const TorchJson *array, guint i);             /* NULL when it is no object, or there is none */
gboolean gantry_torch_json_is_scalar (const TorchJson *value);
/** A number or a boolean as an integer; 0 of what is neither. */
gint64 gantry_torch_json_number (const TorchJson *value);
/** The one member of a union: {"as_int": 3}. Returns: its name, NULL when there is not just one */
const char *gantry_torch_json_union (const TorchJson *object, const TorchJson **value);
/** Appends @value as JSON. */
void gantry_torch_json_write (const TorchJson *value, GString *out);

/* size.c */
/** {"as_int": 3} or {"as_expr": {"expr_str": "2*s0"}}: a size, a symbol, or %GANTRY_DIM_UNKNOWN. */
GantryDim gantry_torch_size (TorchImport *import, const TorchJson *size);
/** A number that the program computes of sizes, by its name. FALSE where it is not known. */
gboolean gantry_torch_symbol_value (TorchFrame *frame, const char *name, gint64 *value);
/** Binds symbols by the names of inputs and axes. */
void gantry_torch_bind_axes (TorchImport *import, const char *input, const TorchJson *meta);

/* weight.c */
GantryElementType gantry_torch_element (gint64 scalar_type);
/** Type id of a tensor_meta; 0 and @error where it says nonsense. */
guint32 gantry_torch_type (TorchImport *import, const TorchJson *meta, GError **error);
gboolean gantry_torch_read_payloads (TorchImport *import, GError **error);
/** The constant of a weight; of a buffer it says so, and no training step takes it for a parameter. */
guint32 gantry_torch_weight (TorchImport *import, const char *name, gboolean is_buffer, GError **error);
gboolean gantry_torch_is_contiguous (TorchImport *import, const TorchJson *meta);

/* argument.c */
gboolean gantry_torch_attributes (TorchFrame *frame, const TorchJson *node, GantryAttrList *list, GArray *operands, GError **error);

/* node.c */
/** What is no node of the graph stands where the archive names it: "input 'x'". */
void gantry_torch_set_plain_place (TorchImport *import, const char *what, const char *name);
gboolean gantry_torch_write_graph (TorchFrame *frame, GError **error);
guint32 gantry_torch_write_foreign (TorchFrame *frame, const TorchJson *node, guint index, const char *name, const guint32 *operands, guint n, guint32 attrs,
                                    guint32 type, GError **error);

/* alias.c */
/** "aten.relu_.default": the name without what tells overloads apart, "relu_". Returns: (transfer full) */
char *gantry_torch_base_name (const char *operation);
/** Whether the operation writes to its first argument; then the name of the one that does not, "relu", else the same name. */
gboolean gantry_torch_is_in_place (const char *base_name);
TorchValue *gantry_torch_value_new (TorchImport *import, guint32 id, const TorchJson *meta);
/** The node of a value as it is now. 0 and @error when it cannot be made. */
guint32 gantry_torch_value_id (TorchFrame *frame, TorchValue *value, GError **error);
/** The value becomes node @id, and with it what it is a view of. */
gboolean gantry_torch_value_set (TorchFrame *frame, TorchValue *value, guint32 id, GError **error);
/** Whether the node's result is a view of its first operand, so that who writes to one writes to both. */
gboolean gantry_torch_is_view (TorchFrame *frame, const char *base_name, const TorchJson *node, const TorchJson *input_meta, const TorchJson *meta);

/* lower.c */
gboolean gantry_torch_knows_operation (const char *op_name);

G_END_DECLS
