/* SPDX-License-Identifier: Apache-2.0 */
/* Private to core/frontends/xla: the container of MLIR bytecode. Sections hold strings, names of operations, attributes
 * and types (each a piece of bytes that its dialect writes, read when it is asked for), properties and the operations.
 * Attributes are written as the text has them, so that what they mean stands in one place; types and large constants
 * are read directly. */
#pragma once
#include "core/frontends/xla/mlir-private.h"

G_BEGIN_DECLS

/** An attribute or type: its bytes, and what was made of it. */
typedef struct
{
  GantryWireSpan bytes;
  guint32 dialect;
  gboolean custom;      /* written by its dialect; else it is the text */
  gboolean known, busy; /* @type or @place was made; is being made */
  guint32 type;         /* of a type */
  MlirPlace place;      /* of a location */
} MlirEntry;

typedef struct
{
  guint32 dialect;
  GantryWireSpan name;
} MlirOpName;

struct _MlirBytecode
{
  const guint8 *start; /* of the bytecode: a file may be longer */
  guint64 version;
  GArray *strings;     /* GantryWireSpan */
  GPtrArray *dialects; /* names */
  GArray *op_names;    /* MlirOpName */
  GArray *attributes;  /* MlirEntry */
  GArray *types;       /* MlirEntry */
  GArray *properties;  /* GantryWireSpan */
};

/** Walks over bytes; after a failure it is at the end. */
typedef struct
{
  const guint8 *at, *end;
} MlirCursor;

static inline MlirCursor
gantry_mlir_cursor (GantryWireSpan span)
{
  return (MlirCursor){ span.data, span.length > 0 ? span.data + span.length : span.data };
}

void gantry_mlir_bytecode_fail (Mlir *m, const guint8 *at, GantryError code, const char *format, ...) G_GNUC_PRINTF (4, 5);
guint64 gantry_mlir_varint (Mlir *m, MlirCursor *c);
gint64 gantry_mlir_signed_varint (Mlir *m, MlirCursor *c);
guint8 gantry_mlir_byte (Mlir *m, MlirCursor *c);
/** A length and so many bytes. */
GantryWireSpan gantry_mlir_blob (Mlir *m, MlirCursor *c);
/** A count of things of which each takes a byte or more. */
guint64 gantry_mlir_count (Mlir *m, MlirCursor *c);
/** Returns: (transfer full): string @index, valid UTF-8; "" after a failure */
char *gantry_mlir_bytecode_string (Mlir *m, const guint8 *at, guint64 index);
MlirEntry *gantry_mlir_entry (Mlir *m, const guint8 *at, GArray *entries, guint64 index);
gboolean gantry_mlir_entry_is (Mlir *m, const MlirEntry *entry, const char *dialect);

/* mlir-bytecode-type.c */
/** Returns: a type id, 0 for one that Gantry has no form for */
guint32 gantry_mlir_bytecode_type (Mlir *m, const guint8 *at, guint64 index);
/** The literal of an attribute that holds numbers. Returns: 0 where it is no such or Gantry holds no such values */
guint32 gantry_mlir_bytecode_literal (Mlir *m, guint64 index);
/** The types of the results of a function type. */
void gantry_mlir_bytecode_results (Mlir *m, const guint8 *at, guint64 index, GArray *types);

/* mlir-bytecode-attribute.c */
/** Sets attribute @index under @key. */
void gantry_mlir_bytecode_set (Mlir *m, GantryAttrList *list, const char *key, guint64 index, guint32 *literal);
/** The entries of a dictionary as attributes. */
void gantry_mlir_bytecode_dictionary (Mlir *m, GantryAttrList *list, guint64 index, guint32 *literal);
/** Calls @take for each entry of a dictionary. */
void gantry_mlir_bytecode_each (Mlir *m, guint64 index, void (*take) (Mlir *m, const char *key, guint64 value, gpointer user_data), gpointer user_data);
/** Returns: the number of the type that a type attribute says, from 1 on; 0 for another attribute */
guint32 gantry_mlir_bytecode_type_of (Mlir *m, guint64 index);
/** The attributes that an array has, by number, appended to @elements (guint64). */
void gantry_mlir_bytecode_elements (Mlir *m, guint64 index, GArray *elements);
/** Returns: (transfer full): the characters of a string attribute, "" for another one */
char *gantry_mlir_bytecode_text (Mlir *m, guint64 index);
MlirPlace gantry_mlir_bytecode_place (Mlir *m, const guint8 *at, guint64 index);

/* mlir-bytecode-operation.c */
#define GANTRY_MLIR_SECTION_OPERATIONS 4
/** Reads the head of a section, goes behind it. Returns: its number */
guint gantry_mlir_section (Mlir *m, MlirCursor *c, GantryWireSpan *content);
void gantry_mlir_bytecode_index (Mlir *m, GantryWireSpan operations);

/* vhlo.c */
/** The name that an operation of StableHLO's portable form has in StableHLO: "add_v1" is "stablehlo.add". Returns:
 * (transfer full) */
char *gantry_vhlo_operation (const char *name);
/** The attributes of an operation in the order that they are written in. Returns: NULL where it is not known; else
 * names with spaces between */
const char *gantry_vhlo_attributes (const char *name);
/** What number @value of an enumeration is called. Returns: NULL where it is not known */
const char *gantry_vhlo_choice (guint64 code, guint64 value, const char **enumeration);
/** Turns the attributes of @op into those of StableHLO: numbers of dimensions become dimension numbers, what says
 * nothing is left out. */
void gantry_vhlo_finish (Mlir *m, MlirOp *op);

G_END_DECLS
