/* SPDX-License-Identifier: Apache-2.0 */
/* Private to core/frontends/xla: reading HLO, as text and as a protocol buffer. An index of computations is made first,
 * for the entry stands behind what it calls. Both forms give the same instructions; of a protocol buffer the values of
 * attributes are written as the text has them, so that what they mean stands in one place. A tuple has no node of its own: a value is a list of leaves,
 * and what takes or gives a tuple takes or gives its leaves. The instructions of a fusion are written where it stands, in a scope of its name, so
 * that a view can fold them. */
#pragma once
#include "core/base/wire.h"
#include "core/frontends/xla/scan-private.h"
#include "core/frontends/xla/xla-private.h"
#include "core/frontends/xla/xla.h"
#include "core/graph/builder.h"

G_BEGIN_DECLS

typedef struct
{
  const char *at; /* behind '{' */
  guint line;
  const char *line_start;
  guint module;
  gboolean entry, wanted, written, fused, counted; /* fused: written in place of a fusion, once */
  guint32 name;                                    /* string id */
  guint32 function;                                /* id */
  GantryWireSpan message;                          /* of a protocol buffer, instead of @at */
  gint64 id;
} HloComputation;

/** FileNames, FunctionNames, FileLocations and StackFrames of a module. */
typedef struct
{
  GArray *files;     /* guint32 string ids by number */
  GArray *locations; /* HloFileLocation by number */
  GArray *frames;    /* guint32: location by number */
} HloTables;

typedef struct
{
  guint32 file, line, column;
} HloFileLocation;

/** @type may be a tuple, of tuples too; @ids: its leaves; @layout: string id of a layout that is more than the row-major order, else 0. */
typedef struct
{
  guint32 type;
  guint n;
  guint32 *ids;
  guint32 layout;
} HloValue;

/** An instruction as it is written. @key: what operands name it by: of a text its name, of a protocol buffer its id. */
typedef struct
{
  gsize key;
  guint32 name; /* string id */
  guint32 type;
  GantryXlaSpan layout; /* of a result that is no tuple, without the braces */
  GantryXlaSpan opcode;
  GantryXlaSpan operands; /* between the brackets */
  GantryXlaPlace begin, operands_place;
  GantryXlaPlace attributes; /* where the list begins, at its first comma */
  GantryWireSpan message;    /* of a protocol buffer, instead of the places and all spans but @layout and @opcode */
  gboolean root;
} HloInstruction;

typedef struct _HloProto HloProto;

typedef struct
{
  GantryXlaScan s;
  GantryContext *context;
  GantryBuilder *b;
  const GantryXlaOptions *options;
  GantryXlaInfo *info;
  const GantryProgress *progress;
  guint32 file;
  GArray *computations; /* HloComputation */
  HloProto *proto;      /* (nullable): of a protocol buffer */
  GHashTable *by_name;  /* string id of "module:name" -> index + 1 */
  GHashTable *unknown;
  GPtrArray *tables; /* HloTables by module */
  GArray *aliases;   /* HloAlias */
  guint module;
  guint n_nodes;
  GQueue *wanted; /* indices of computations that were named and are still to be written */
} Hlo;

/** Where a buffer lies in a shape: the number of the member in each tuple that it is in. */
typedef struct
{
  guint n;
  gint64 at[8];
} HloIndex;

/** A parameter, or a buffer of one, that a result is written over; @any: whichever result. */
typedef struct
{
  guint module;
  gboolean any;
  HloIndex output, leaf;
  gint64 parameter;
} HloAlias;

/** What the attributes of an instruction say. */
typedef struct
{
  GantryAttrList *attrs;
  GArray *regions;   /* guint32 indices of computations, in order of use */
  gint fusion;       /* index of the computation that `calls` names, -1 */
  gint64 index;      /* of get-tuple-element */
  guint32 target;    /* string id */
  guint32 placement; /* string id */
  GantryLocation location;
  guint32 scope;
} HloAttributes;

/* hlo-shape.c */
/** The element type of that name: "f32". */
GantryElementType gantry_hlo_element (GantryXlaSpan name);
/** A shape with its layout. Returns: a type id; tuples are tuple types */
guint32 gantry_hlo_shape (Hlo *h, GantryXlaSpan *layout);
guint gantry_hlo_leaves (Hlo *h, guint32 type);
void gantry_hlo_leaf_types (Hlo *h, guint32 type, GArray *types);

/** The number of the leaf of @type at @index, -1 where there is none. */
gint64 gantry_hlo_leaf_at (Hlo *h, guint32 type, const HloIndex *index);

/* hlo-attribute.c */
void gantry_hlo_attributes (Hlo *h, const HloInstruction *inst, HloAttributes *a);
/** One of them: @value as the text has it, which need not be of the file. */
void gantry_hlo_attribute (Hlo *h, const HloInstruction *inst, HloAttributes *a, const char *key, GantryXlaSpan value);

/** What metadata say of the place of an instruction. */
typedef struct
{
  const char *name, *file; /* (nullable): UTF-8 */
  gint64 line, column, frame;
} HloPlace;

void gantry_hlo_set_place (Hlo *h, HloAttributes *a, const HloPlace *place);

/* hlo-table.c */
HloTables *gantry_hlo_tables_new (void);
void gantry_hlo_tables_free (HloTables *tables);
/** Reads the table that comes. Returns: FALSE where none comes */
gboolean gantry_hlo_table (Hlo *h, HloTables *tables);
const HloFileLocation *gantry_hlo_frame (const HloTables *tables, gint64 number);

void gantry_hlo_add_location (HloTables *tables, gint64 file, gint64 line, gint64 column);

/* hlo-computation.c */
#define GANTRY_HLO_MOST_INSTRUCTIONS 4000000
/** Writes the computations from the entry on. */
void gantry_hlo_write (Hlo *h, HloComputation *entry);

/* hlo-import.c */
gint gantry_hlo_find (Hlo *h, GantryXlaSpan name);
/** Enters a computation whose place is known. Returns: its index */
guint gantry_hlo_add_computation (Hlo *h, GantryXlaSpan name, const HloComputation *computation);
GantryModule *gantry_hlo_import (GantryContext *context, const char *text, gsize length, const char *name, const GantryXlaOptions *options, GantryXlaInfo *info,
                                 const GantryProgress *progress, GError **error);

/* hlo-proto.c */
#define GANTRY_HLO_OPERANDS 36 /* the field of an instruction */
/** Whether @data begins as a module of HLO does as a protocol buffer, in an HloProto or HloSnapshot or alone. */
gboolean gantry_hlo_is_proto (const char *data, gsize length);
/** The same, and whether the file says so itself: a damaged one is told as such. */
gboolean gantry_hlo_is_binary (const char *data, gsize length, const char *name);
void gantry_hlo_proto_index (Hlo *h);
void gantry_hlo_proto_free (HloProto *proto);
/** Appends the instructions of @c, in the order of the schedule where there is one. */
void gantry_hlo_proto_body (Hlo *h, const HloComputation *c, GArray *instructions);
/** Returns: the index of the computation, -1 where there is none */
gint gantry_hlo_proto_find (Hlo *h, gint64 id);
/** Returns: string id of the name of an instruction of a computation that was read, 0 where there is none */
guint32 gantry_hlo_proto_name (Hlo *h, gint64 id);
/** Fails at a byte of the file. */
void gantry_hlo_proto_fail (Hlo *h, const guint8 *at, GantryError code, const char *format, ...) G_GNUC_PRINTF (4, 5);
/** Reads the next field; a problem is a failure. */
gboolean gantry_hlo_proto_next (Hlo *h, GantryWire *wire);
/** The numbers of a list, appended to @ints. */
void gantry_hlo_proto_ints (Hlo *h, const GantryWire *wire, GArray *ints);

/* hlo-proto-value.c: values of attributes as a text has them, appended to @text. What comes of a list is put behind "{" or
 * what stood before by the caller. */
void gantry_hlo_append_ints (GString *text, const GArray *ints, const char *between);
void gantry_hlo_append_escaped (GString *text, GantryWireSpan span);
void gantry_hlo_append_quoted (GString *text, GantryWireSpan span);
void gantry_hlo_append_float (GString *text, guint64 bits);
void gantry_hlo_write_slice (Hlo *h, GantryWireSpan message, GString *text);
void gantry_hlo_write_pair (Hlo *h, GantryWireSpan message, GString *text);
void gantry_hlo_write_group (Hlo *h, GantryWireSpan message, GString *text);
void gantry_hlo_write_groups (Hlo *h, GantryWireSpan message, GString *text);
void gantry_hlo_write_iota_groups (Hlo *h, GantryWireSpan message, GString *text);
void gantry_hlo_write_padding (Hlo *h, GantryWireSpan message, GString *text);
void gantry_hlo_write_window (Hlo *h, GantryWireSpan message, GString *text);
void gantry_hlo_write_labels (Hlo *h, GantryWireSpan message, GString *text);
void gantry_hlo_write_map (Hlo *h, GantryWireSpan message, GString *text);
void gantry_hlo_write_sharding (Hlo *h, GantryWireSpan message, GString *text);
void gantry_hlo_write_precision (Hlo *h, GantryWireSpan message, GString *text);
void gantry_hlo_write_aliasing (Hlo *h, GantryWireSpan message, GString *text);
void gantry_hlo_write_shape (Hlo *h, GantryWireSpan message, GString *text);

/* hlo-proto-attribute.c */
void gantry_hlo_proto_attributes (Hlo *h, const HloInstruction *inst, HloAttributes *a);

/* hlo-proto-shape.c */
/** Returns: a type id; @layout gets the text of the layout, which stays as long as the context */
guint32 gantry_hlo_proto_shape (Hlo *h, GantryWireSpan message, GantryXlaSpan *layout);
/** Appends "f32[2,3]{1,0}". */
void gantry_hlo_proto_shape_text (Hlo *h, GantryWireSpan message, GString *text);
/** Returns: a literal id, 0 where Gantry holds no values of that element type, and after a failure */
guint32 gantry_hlo_proto_literal (Hlo *h, GantryWireSpan message, guint32 type);

/* mlir-import.c */
gboolean gantry_xla_check_calls (const GantryModule *module, const char *name, GError **error);
void gantry_xla_list_unknown (GantryContext *context, GHashTable *unknown, GantryXlaInfo *info);

G_END_DECLS
