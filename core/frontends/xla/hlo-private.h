/* SPDX-License-Identifier: Apache-2.0 */
/* Private to core/frontends/xla: reading HLO text. An index of computations is made first, for the entry stands
 * behind what it calls. A tuple has no node of its own: a value is a list of leaves, and what takes or gives a tuple
 * takes or gives its leaves. The instructions of a fusion are written where it stands, in a scope of its name, so
 * that a view can fold them. */
#pragma once
#include "core/frontends/xla/scan-private.h"
#include "core/frontends/xla/xla-private.h"
#include "core/frontends/xla/xla.h"
#include "core/ir/builder.h"

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

/** @type may be a tuple, of tuples too; @ids: its leaves. */
typedef struct
{
  guint32 type;
  guint n;
  guint32 *ids;
} HloValue;

/** An instruction as it is written. */
typedef struct
{
  guint32 name; /* string id */
  guint32 type;
  GantryXlaSpan layout; /* of a result that is no tuple, without the braces */
  GantryXlaSpan opcode;
  GantryXlaSpan operands; /* between the brackets */
  GantryXlaPlace begin, operands_place;
  GantryXlaPlace attributes; /* where the list begins, at its first comma */
  gboolean root;
} HloInstruction;

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
  GHashTable *by_name;  /* string id of "module:name" -> index + 1 */
  GHashTable *unknown;
  GPtrArray *tables; /* HloTables by module */
  GArray *aliases;   /* HloAlias */
  guint module;
  guint n_nodes;
  GQueue *wanted; /* indices of computations that were named and are still to be written */
} Hlo;

typedef struct
{
  guint module;
  gint64 output, parameter;
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
/** A shape with its layout. Returns: a type id; tuples are tuple types */
guint32 gantry_hlo_shape (Hlo *h, GantryXlaSpan *layout);
guint gantry_hlo_leaves (Hlo *h, guint32 type);
void gantry_hlo_leaf_types (Hlo *h, guint32 type, GArray *types);

/* hlo-attribute.c */
void gantry_hlo_attributes (Hlo *h, const HloInstruction *inst, HloAttributes *a);

/* hlo-table.c */
HloTables *gantry_hlo_tables_new (void);
void gantry_hlo_tables_free (HloTables *tables);
/** Reads the table that comes. Returns: FALSE where none comes */
gboolean gantry_hlo_table (Hlo *h, HloTables *tables);
const HloFileLocation *gantry_hlo_frame (const HloTables *tables, gint64 number);

/* hlo-instruction.c */
/** Writes the computations from the entry on. */
void gantry_hlo_write (Hlo *h, HloComputation *entry);

/* hlo-import.c */
gint gantry_hlo_find (Hlo *h, GantryXlaSpan name);
GantryModule *gantry_hlo_import (GantryContext *context, const char *text, gsize length, const char *name,
                                 const GantryXlaOptions *options, GantryXlaInfo *info, const GantryProgress *progress,
                                 GError **error);

/* mlir-import.c */
gboolean gantry_xla_check_calls (const GantryModule *module, const char *name, GError **error);
void gantry_xla_list_unknown (GantryContext *context, GHashTable *unknown, GantryXlaInfo *info);

G_END_DECLS
