/* SPDX-License-Identifier: Apache-2.0 */
/* What all snapshots of one model share: interned strings, types, attributes, locations, scopes and
 * literals, names of foreign operations, the counters of node and function ids, and the dialects.
 * Reference counted; interning is safe from any thread and nothing handed out ever moves. */
#pragma once
#include "core/base/base.h"
#include "core/graph/attrs.h"
#include "core/graph/literal.h"
#include "core/graph/type.h"

G_BEGIN_DECLS

typedef struct _GantryDialect GantryDialect;

/** Returns: (transfer full): a context with nothing interned, whose ids begin at 1 */
GantryContext *gantry_context_new (void);
GantryContext *gantry_context_ref (GantryContext *context);
void gantry_context_unref (GantryContext *context);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryContext, gantry_context_unref)

/* Strings. 0 is the empty string. */
/** @text: (nullable): copied where it is new. Returns: string id, 0 of NULL and "" */
guint32 gantry_context_intern (GantryContext *context, const char *text);
/** @length: bytes of @text, which may contain NULs and need not end with one */
guint32 gantry_context_intern_len (GantryContext *context, const char *text, gsize length);
/** Returns: (transfer none): the text of a string id, which never moves and lives as long as @context */
const char *gantry_context_string (GantryContext *context, guint32 id);

/* Types. Id 0 is the unknown type. */
/** @dims: (array length=rank): at most %GANTRY_MAX_RANK; a negative number that is no symbol of @context is not known. Returns: type id of a tensor in
 * device memory */
guint32 gantry_context_tensor (GantryContext *context, GantryElementType element, guint rank, const GantryDim *dims);
/** @rank: at most %GANTRY_MAX_RANK, of @dims. Returns: type id of a tensor in a memory kind */
guint32 gantry_context_tensor_in (GantryContext *context, GantryElementType element, guint rank, const GantryDim *dims, GantryMemoryKind memory);
/** Returns: type id of a tensor without dimensions, in device memory */
guint32 gantry_context_scalar (GantryContext *context, GantryElementType element);
/** @types: type ids of its @n members. Returns: type id */
guint32 gantry_context_tuple (GantryContext *context, guint n, const guint32 *types);
/** Returns: type id of what orders effects and has no bytes */
guint32 gantry_context_token (GantryContext *context);
const GantryType *gantry_context_type (GantryContext *context, guint32 id); /* never NULL */
/** Interns @type, whose dimensions are of this context where they are symbols. Returns: type id, 0 of the unknown type */
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
/** Ids of literals go from 1 to this; some of them may name none. */
guint32 gantry_context_n_literals (GantryContext *context);
GantryLiteral *gantry_context_literal (GantryContext *context, guint32 id); /* (transfer none) (nullable) */

/** Scope: a path with '/' between its parts, "encoder/layer.3/attention"; 0 is the root. */
guint32 gantry_context_scope (GantryContext *context, const char *path);
/** Returns: (transfer none): "" of the root */
const char *gantry_context_scope_path (GantryContext *context, guint32 id);

/** How the parent of a location led to it. */
typedef enum
{
  GANTRY_STEP_NONE,      /* no parent */
  GANTRY_STEP_CALL,      /* the function that it lies in was called there */
  GANTRY_STEP_ITERATION, /* it is of one trip of the loop there, which was unrolled */
  GANTRY_STEP_GRADIENT,  /* the gradient of the function that it lies in was taken there */
} GantryLocationStep;

/**
 * GantryLocation: where a node was written, and what led there. @line and @column count from 1, 0 = unknown; for a
 * binary model @line is the index of the node in its file, and @text says so ("node 12 'conv1'").
 *
 * @parent is the location that led to this one, which may have a parent itself: chains end, for a parent is always interned
 * before its child. Nodes of one call share all but their own place, so a chain costs one location per call or trip.
 */
typedef struct
{
  guint32 file; /* string id */
  guint32 line;
  guint32 column;
  guint32 text;     /* string id */
  guint32 function; /* string id: name of the function that it lies in; 0: not known */
  guint32 parent;   /* location id; 0: none */
  guint32 step;     /* GantryLocationStep */
  guint32 number;   /* of the trip, from 1 */
} GantryLocation;

/**
 * gantry_context_location:
 * @location: with ids of this context; what does not fit together is cleared (a step without a parent, a number without an iteration)
 *
 * Returns: location id, the same for equal ones
 */
guint32 gantry_context_location (GantryContext *context, const GantryLocation *location);
const GantryLocation *gantry_context_get_location (GantryContext *context, guint32 id); /* (nullable) */
/** Returns: (transfer full): "model.onnx: node 12 'conv1'" or "model.py:7:3" */
char *gantry_context_location_text (GantryContext *context, guint32 id);
/**
 * gantry_context_location_called:
 * @callee: location id
 * @caller: location id: the call
 *
 * Puts @caller at the outer end of the chain of @callee: what stands there when the function is inlined into @caller. Of a chain
 * that would be longer than %GANTRY_LOCATION_MOST_STEPS the outer end is left out.
 *
 * Returns: @callee itself where @caller is 0, @caller where @callee is 0
 */
guint32 gantry_context_location_called (GantryContext *context, guint32 callee, guint32 caller);
#define GANTRY_LOCATION_MOST_STEPS 256u
/** Location @id with so much of its chain as %GANTRY_LOCATION_MOST_STEPS allows. The outer end is left out. */
guint32 gantry_context_location_shortened (GantryContext *context, guint32 id);
/** How @location's parent led to it, said of the parent: (transfer full): "called from here, in Net.construct", "trip 3 of
 *  this loop, in Net.construct"; NULL where it has none */
char *gantry_context_step_text (GantryContext *context, const GantryLocation *location);
/**
 * gantry_context_location_chain:
 * @most: steps; more are counted in a last line
 *
 * Returns: (transfer full) (nullable): what led to location @id, innermost first, a line for each step:
 *  "model.py:20:9: called from here, in Net.construct"; NULL where it has no parent
 */
char *gantry_context_location_chain (GantryContext *context, guint32 id, guint most);

/* Operations: core codes (operation.h) are below GANTRY_OP_FOREIGN, names of imported ones from there on. */
#define GANTRY_OP_FOREIGN 1024u
guint16 gantry_context_foreign_op (GantryContext *context, const char *name); /* "onnx.Conv" */
/** Returns: (transfer none): "add" of a core operation, "onnx.Conv" of a foreign one, "?" where @op is neither */
const char *gantry_context_op_name (GantryContext *context, guint16 op);

/* Counters: every id is given once. */
/** Returns: an id that no node of this context has had; safe from any thread */
guint32 gantry_context_next_node_id (GantryContext *context);
/** Returns: the id that was given last; 0 before the first. Ids above it are those of nodes made later */
guint32 gantry_context_last_node_id (GantryContext *context);
/** Ids up to and including @id are taken: the text form and the session file keep ids when read back. */
void gantry_context_reserve_node_ids (GantryContext *context, guint32 id);
/** The ids above @id are free again: for who built a scratch module in between and has dropped it. */
void gantry_context_return_node_ids (GantryContext *context, guint32 id);
/** Returns: an id that no function of this context has had; safe from any thread */
guint32 gantry_context_next_function_id (GantryContext *context);
/** As gantry_context_reserve_node_ids(), of functions. */
void gantry_context_reserve_function_ids (GantryContext *context, guint32 id);

/** @dialect is static and stays valid; its name is the part of an operation name before the dot. */
void gantry_context_add_dialect (GantryContext *context, const GantryDialect *dialect);
const GantryDialect *gantry_context_dialect_of (GantryContext *context, guint16 op); /* (nullable) */

G_END_DECLS
