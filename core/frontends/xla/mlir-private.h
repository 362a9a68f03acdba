/* SPDX-License-Identifier: Apache-2.0 */
/* Private to core/frontends/xla: reading MLIR, as text and as bytecode. The entry is read first, then the other functions in order,
 * from an index of where functions and location aliases stand. Nodes are written as they are read. A region becomes
 * a function; what it uses of outside becomes parameters behind its own, the same for all regions of an operation,
 * and operands of the operation behind its own: `n_captures` says how many. */
#pragma once
#include "core/base/wire.h"
#include "core/frontends/xla/scan-private.h"
#include "core/frontends/xla/xla-private.h"
#include "core/frontends/xla/xla.h"
#include "core/graph/builder.h"

G_BEGIN_DECLS

typedef struct
{
  const char *at; /* behind "func.func" */
  guint line;
  const char *line_start;
  guint module;
  gboolean public, has_body, has_arguments;
  gboolean generic;                  /* written as "func.func"() <{...}> ({...}) */
  guint32 name;                      /* string id, without @ */
  guint32 function;                  /* id */
  GantryWireSpan region;             /* of bytecode, instead of @at */
  guint32 arguments, results, types; /* numbers of its attributes, from 1 on; 0 for none */
} MlirFunction;

typedef struct _MlirBytecode MlirBytecode;

typedef struct
{
  const char *at; /* behind '=' */
  guint module;
  gboolean known, busy;
  guint32 location, scope, name;
} MlirAlias;

/** What a location says. @name: the last part of a scope, or a plain name. */
typedef struct
{
  guint32 location, scope, name;
} MlirPlace;

/** The names of a region or function. */
typedef struct _MlirFrame MlirFrame;
struct _MlirFrame
{
  MlirFrame *parent; /* NULL for a function's body: it sees nothing of outside */
  guint32 function;
  GHashTable *names; /* string id -> MlirValue */
  GArray *outer;     /* captures: ids outside, and the parameters that they are inside */
  GArray *inner;
  guint32 *results; /* what its terminator returned */
  guint n_results;
};

typedef struct
{
  guint n;
  guint32 ids[];
} MlirValue;

typedef struct
{
  GantryXlaScan s;
  GantryContext *context;
  GantryBuilder *b;
  const GantryXlaOptions *options;
  GantryXlaInfo *info;
  const GantryProgress *progress;
  guint32 file;        /* string id */
  GArray *functions;   /* MlirFunction */
  GHashTable *by_name; /* "module:name" string id -> index + 1 in functions */
  GHashTable *aliases; /* string id of "module:name" -> MlirAlias */
  GHashTable *unknown; /* string ids */
  guint module;
  gboolean in_entry, in_inputs;
  guint32 entry;     /* function id */
  GArray *checked;   /* guint32: ids of what checks compare, in pairs */
  GArray *donations; /* XlaDonation: of the entry's parameters */
  guint n_nodes;
  guint32 dense_type;     /* of the last constant value, whether Gantry holds its numbers or not */
  MlirBytecode *bytecode; /* (nullable) */
} Mlir;

/** An operation being read. */
typedef struct
{
  char *name; /* "stablehlo.add" */
  guint line, column;
  GArray *operands;  /* guint32 ids, 0 where not known */
  GArray *types;     /* guint32: of the results */
  GArray *regions;   /* guint32 function ids */
  GPtrArray *frames; /* MlirFrame of each region */
  GantryAttrList *attrs;
  guint n_results;
  guint32 literal; /* of an attribute "value" */
  guint32 symbol;  /* string id of what follows @ */
  MlirPlace place;
  guint32 value_name; /* of the first result */
} MlirOp;

/* mlir-type.c */
/** The element type of that name: "f32", "ui8". Returns: %GANTRY_ELEMENT_NONE for what is no name of one */
GantryElementType gantry_mlir_element (GantryXlaSpan name);
/** Reads a type. Returns: a type id, 0 for one that Gantry has no form for */
guint32 gantry_mlir_type (Mlir *m);
/** "(types)" or one type, appended to @types. */
void gantry_mlir_types (Mlir *m, GArray *types);

/* mlir-attribute.c */
/** Reads an attribute's value into @list under @key. */
void gantry_mlir_attribute (Mlir *m, GantryAttrList *list, const char *key, guint32 *literal);
/** A constant of small whole numbers describes its operation, any other is a value. */
void gantry_mlir_set_dense (Mlir *m, GantryAttrList *list, const char *key, guint32 literal);
/** Reads "{key = value, ...}" or, closed by '>', what is in "<...>". */
void gantry_mlir_dictionary (Mlir *m, GantryAttrList *list, const char *prefix, char close, guint32 *literal);
/** "[1, 2]" of whole numbers. Returns: FALSE, with nothing read, where something else comes */
gboolean gantry_mlir_ints (Mlir *m, GArray *ints);

/* mlir-location.c */
/** Reads "loc(...)" where it comes. */
gboolean gantry_mlir_location (Mlir *m, MlirPlace *place);
/** What the name of a location says: a scope, and a name in it. */
void gantry_mlir_take_name (Mlir *m, const char *name, MlirPlace *place);
/** The scope of an operation there: of a call with its name. */
guint32 gantry_mlir_operation_scope (Mlir *m, const MlirPlace *place);
/** The place of what is written in the text at @line. */
guint32 gantry_mlir_here (Mlir *m, guint line, guint column);

/* mlir-values.c */
MlirFrame *gantry_mlir_frame_new (MlirFrame *parent, guint32 function);
void gantry_mlir_frame_free (MlirFrame *frame);
/** "%name" or "%name#2". Returns: its node in @frame, 0 and a failure where there is none; where @tolerant without a
 * failure */
guint32 gantry_mlir_operand (Mlir *m, MlirFrame *frame, gboolean tolerant);
guint32 gantry_mlir_value_name (Mlir *m);
/** Returns: the node of a value in @frame, captured where it is of outside; 0 where there is none. @known: whether it is
 * defined */
guint32 gantry_mlir_look_up (Mlir *m, MlirFrame *frame, guint32 name, guint64 index, gboolean *known);
void gantry_mlir_define (Mlir *m, MlirFrame *frame, guint32 name, const guint32 *ids, guint n);
/** Gives all of @frames the same captures in the same order; appends their ids outside to @operands. Returns: how
 * many */
guint gantry_mlir_share_captures (Mlir *m, MlirFrame *parent, GPtrArray *frames, GArray *operands);

/* mlir-operation.c */
/** Reads one operation into @frame. Returns: TRUE after a terminator */
gboolean gantry_mlir_operation (Mlir *m, MlirFrame *frame);
void gantry_mlir_op_init (Mlir *m, MlirOp *op);
void gantry_mlir_op_clear (MlirOp *op);
/** Writes an operation that was read; @ids: gets its results. Returns: TRUE for a terminator, which has none */
gboolean gantry_mlir_finish (Mlir *m, MlirFrame *frame, MlirOp *op, guint32 *ids);
/** Reads operations up to '}' and takes it. */
void gantry_mlir_block (Mlir *m, MlirFrame *frame);
/** "{ ... }": a region as a function; @names and @types: parameters given outside of it. */
void gantry_mlir_region (Mlir *m, MlirFrame *frame, MlirOp *op, const guint32 *names, const guint32 *types, guint n);
/** Arguments of a block or reducer "(%a: type loc, ...)": parameters of @frame. */
void gantry_mlir_arguments (Mlir *m, MlirFrame *frame);

/* mlir-usual.c */
/** Gives the attributes of an operation that was read the one form that they have, and leaves out what is usual. */
void gantry_mlir_leave_usual (Mlir *m, MlirOp *op);

/* mlir-pretty.c */
/** What follows the name of an operation that is not in quotes. */
void gantry_mlir_pretty (Mlir *m, MlirFrame *frame, MlirOp *op);

/* mlir-function.c */
typedef struct
{
  guint32 type, attrs;
} MlirResult;

/** A parameter of @frame; @fallback: its place where @place says none. */
void
gantry_mlir_add_argument (Mlir *m, MlirFrame *frame, guint32 name, const char *shown, guint32 type, guint32 attrs, const MlirPlace *place, guint32 fallback);
/** "%a: type {attributes} loc(...)"; @given: attributes that stand elsewhere, 0 for none. */
void gantry_mlir_argument (Mlir *m, MlirFrame *frame, guint32 given);
/** What stands in braces, where such come. Returns: id of the attributes */
guint32 gantry_mlir_braces (Mlir *m);
void gantry_mlir_function (Mlir *m, const MlirFunction *function, gboolean entry);
/** Returns: (nullable): the function @name of the module being read */
const MlirFunction *gantry_mlir_find_function (Mlir *m, guint module, const char *name);
/** Writes the body of a function without arguments in place; what its constants hold becomes parameters of the
 * entry. */
void gantry_mlir_write_inputs (Mlir *m, MlirFrame *frame, const MlirFunction *function, guint32 *ids, guint n);
/** Notes what a check compares. */
void gantry_mlir_check (Mlir *m, MlirFrame *frame, MlirOp *op);
/** Whether constant @literal is to be a parameter of the entry. Returns: its id, 0 where not */
guint32 gantry_mlir_feed (Mlir *m, guint32 literal);

/* mlir-generic.c */
/** Behind the name of a module in quotes, up to what it holds. */
void gantry_mlir_generic_module (Mlir *m);
/** Behind the '}' of a module: the rest of it, where it is written in the generic form. */
void gantry_mlir_generic_end (Mlir *m);
/** Behind "func.func" in quotes: notes in @function what the index needs, with its name. Returns: the name, empty with an error */
char *gantry_mlir_generic_index (Mlir *m, MlirFunction *function);
/** Reads the function that begins here into @frame; @results: gets MlirResult. */
void gantry_mlir_generic_body (Mlir *m, MlirFrame *frame, GArray *results);

/* mlir-bytecode.c */
/** Whether @data is bytecode, or what jax.export serializes, with bytecode in it. */
gboolean gantry_mlir_is_bytecode (const char *data, gsize length);
/** Reads the sections and makes the index of functions. */
void gantry_mlir_bytecode_open (Mlir *m);
void gantry_mlir_bytecode_free (MlirBytecode *bytecode);

/* mlir-bytecode-operation.c */
/** Reads the body of @function into @frame; @results: gets MlirResult. */
void gantry_mlir_bytecode_body (Mlir *m, MlirFrame *frame, const MlirFunction *function, GArray *results);

G_END_DECLS
