/* SPDX-License-Identifier: Apache-2.0 */
/* What all snapshots of one model share: interned strings, types, attributes, locations, scopes and
 * literals, names of foreign operations, the counters of node and function ids, and the dialects.
 * Reference counted; interning is safe from any thread and nothing handed out ever moves. */
#pragma once
#include "core/base/base.h"
#include "core/ir/attrs.h"
#include "core/ir/literal.h"
#include "core/ir/type.h"

G_BEGIN_DECLS

typedef struct _GantryDialect GantryDialect;

GantryContext *gantry_context_new (void);
GantryContext *gantry_context_ref (GantryContext *context);
void gantry_context_unref (GantryContext *context);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryContext, gantry_context_unref)

/* Strings. 0 is the empty string. */
guint32 gantry_context_intern (GantryContext *context, const char *text);
guint32 gantry_context_intern_len (GantryContext *context, const char *text, gsize length);
const char *gantry_context_string (GantryContext *context, guint32 id);

/* Types. Id 0 is the unknown type. */
guint32 gantry_context_tensor (GantryContext *context, GantryElementType element, guint rank, const GantryDim *dims);
guint32 gantry_context_tensor_in (GantryContext *context, GantryElementType element, guint rank, const GantryDim *dims,
                                  GantryMemoryKind memory);
guint32 gantry_context_scalar (GantryContext *context, GantryElementType element);
guint32 gantry_context_tuple (GantryContext *context, guint n, const guint32 *types);
guint32 gantry_context_token (GantryContext *context);
const GantryType *gantry_context_type (GantryContext *context, guint32 id); /* never NULL */
guint32 gantry_context_type_id (GantryContext *context, const GantryType *type);
/** Member @index of a tuple type as type id, 0 when there is none. */
guint32 gantry_context_tuple_member (GantryContext *context, guint32 tuple, guint index);
/** "f32[8,batch,768]", "(f32[2], i64[])", "?"; memory kinds other than device as "f32[2]@pinned_host". */
char *gantry_context_type_text (GantryContext *context, guint32 id);

/* Attributes. Id 0 is no attributes. */
const GantryAttrs *gantry_context_attrs (GantryContext *context, guint32 id); /* never NULL */

/**
 * gantry_context_add_literal:
 * @literal: (transfer none): kept until the context ends
 *
 * Small literals (up to 4 KiB) with equal type and bytes share one id; larger ones are told apart
 * by address, so that adding a mapped weight reads none of it.
 */
guint32 gantry_context_add_literal (GantryContext *context, GantryLiteral *literal);
GantryLiteral *gantry_context_literal (GantryContext *context, guint32 id); /* (transfer none) (nullable) */

/** Scope: a path with '/' between its parts, "encoder/layer.3/attention"; 0 is the root. */
guint32 gantry_context_scope (GantryContext *context, const char *path);
const char *gantry_context_scope_path (GantryContext *context, guint32 id);

/**
 * GantryLocation: where a node was written. @line and @column count from 1, 0 = unknown; for a
 * binary model @line is the index of the node in its file, and @text says so ("node 12 'conv1'").
 */
typedef struct
{
  guint32 file; /* string id */
  guint32 line;
  guint32 column;
  guint32 text; /* string id */
} GantryLocation;
guint32 gantry_context_location (GantryContext *context, const GantryLocation *location);
const GantryLocation *gantry_context_get_location (GantryContext *context, guint32 id); /* (nullable) */
/** Returns: (transfer full): "model.onnx: node 12 'conv1'" or "model.py:7:3" */
char *gantry_context_location_text (GantryContext *context, guint32 id);

/* Operations: core codes (operation.h) are below GANTRY_OP_FOREIGN, names of imported ones from there on. */
#define GANTRY_OP_FOREIGN 1024u
guint16 gantry_context_foreign_op (GantryContext *context, const char *name); /* "onnx.Conv" */
const char *gantry_context_op_name (GantryContext *context, guint16 op);

/* Counters: every id is given once. */
guint32 gantry_context_next_node_id (GantryContext *context);
guint32 gantry_context_last_node_id (GantryContext *context);
/** Ids up to and including @id are taken: the text form and the session file keep ids when read back. */
void gantry_context_reserve_node_ids (GantryContext *context, guint32 id);
/** The ids above @id are free again: for who built a scratch module in between and has dropped it. */
void gantry_context_return_node_ids (GantryContext *context, guint32 id);
guint32 gantry_context_next_function_id (GantryContext *context);
void gantry_context_reserve_function_ids (GantryContext *context, guint32 id);

/** @dialect is static and stays valid; its name is the part of an operation name before the dot. */
void gantry_context_add_dialect (GantryContext *context, const GantryDialect *dialect);
const GantryDialect *gantry_context_dialect_of (GantryContext *context, guint16 op); /* (nullable) */

G_END_DECLS
