/* SPDX-License-Identifier: Apache-2.0 */
/* Private to core/frontends/xla: reading jaxprs as JAX prints them, "{ lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }".
 * A jaxpr that is the value of a parameter becomes a function, and what calls one (jit, pjit, custom_jvp_call, remat) a call;
 * all other parameters stay attributes under their names. Names of values are of one jaxpr and seen in no other. What is
 * printed once for several uses, "let relu = { lambda ... } in", is one function. */
#pragma once
#include "core/frontends/xla/scan-private.h"
#include "core/frontends/xla/xla-private.h"
#include "core/frontends/xla/xla.h"
#include "core/graph/builder.h"

G_BEGIN_DECLS

/** A jaxpr that is named in front of the others. @function: its id, once it was read */
typedef struct
{
  GantryXlaPlace place;
  guint32 function;
  gboolean busy;
} JaxprShared;

/** The names of one jaxpr. */
typedef struct
{
  GHashTable *values; /* string id -> node id */
  GHashTable *scopes; /* string id -> how many calls are named so */
} JaxprFrame;

/** What the comment of a line says to all equations on it that stand in [@from, @hash]. @hash: @end, the end of the line, where there
 * is none */
typedef struct
{
  const char *from, *hash, *end;
  guint32 scope, location;
} JaxprComment;

typedef struct
{
  GantryXlaScan s;
  JaxprComment comment;
  GantryContext *context;
  GantryBuilder *b;
  const GantryXlaOptions *options;
  GantryXlaInfo *info;
  const GantryProgress *progress;
  guint32 file;       /* string id */
  GHashTable *shared; /* string id -> JaxprShared */
  GHashTable *unknown;
  GHashTable *functions; /* id -> GArray of type ids: of the parameters, 0, of the results */
  guint n_nodes;
} Jaxpr;

/** An operand. @id: 0 for a literal without a type, which is @text */
typedef struct
{
  guint32 id;
  GantryXlaSpan text;
} JaxprAtom;

/** An equation being read. */
typedef struct
{
  GantryXlaSpan name;
  guint line, column;
  GArray *names, *types; /* guint32: of the results */
  GArray *atoms;         /* JaxprAtom */
  GantryAttrList *attrs;
  GArray *functions; /* guint32 ids, in order */
  char *call_name;   /* (nullable): the parameter `name` */
  guint32 scope, location;
} JaxprEquation;

/* jaxpr-text.c */
/** Skips space and comments, which begin with '#'. Returns: the character that comes, 0 at the end */
char gantry_jaxpr_peek (Jaxpr *j);
/** A name of a value, primitive or parameter; @dash: with '-' and '.'. Empty where none comes. */
GantryXlaSpan gantry_jaxpr_name (Jaxpr *j, gboolean dash);
/** As gantry_xla_scan_accept() and its like, with this text's comments. */
gboolean gantry_jaxpr_sees (Jaxpr *j, const char *token);
gboolean gantry_jaxpr_accept (Jaxpr *j, const char *token);
gboolean gantry_jaxpr_expect (Jaxpr *j, const char *token);
/** Whether "in" comes that ends the equations: a value may be named so. */
gboolean gantry_jaxpr_sees_end (Jaxpr *j);
/** "f32[8,4]". Returns: a type id, 0 for what is no tensor */
guint32 gantry_jaxpr_type (Jaxpr *j);
/** What is a parameter's value: up to the next "key=" or the ']' behind the last. */
GantryXlaSpan gantry_jaxpr_value (Jaxpr *j);
/** Skips a bracket that comes and all in it. */
void gantry_jaxpr_skip (Jaxpr *j);
/** What a comment behind the line says: "# file.py:13:33 (f)", "# [jvp()]". */
void gantry_jaxpr_comment (Jaxpr *j, JaxprEquation *e);

/* jaxpr-equation.c */
/** Reads an equation and writes its node. */
void gantry_jaxpr_equation (Jaxpr *j, JaxprFrame *frame);
/** Reads a value's name or a literal. */
void gantry_jaxpr_atom (Jaxpr *j, JaxprFrame *frame, JaxprAtom *atom);
/** The node of an operand; a literal without a type is of @element, or of what it is written as where that does not suit. */
guint32 gantry_jaxpr_node (Jaxpr *j, const JaxprAtom *atom, GantryElementType element);

/* jaxpr-import.c */
/** Reads "{ lambda ... }" as a function. @name: of the function; @entry: its constants are parameters. Returns: its id, 0 after a failure */
guint32 gantry_jaxpr_body (Jaxpr *j, const char *name, gboolean entry);
/** The function of a jaxpr that was named in front. Returns: 0 where there is none of that name */
guint32 gantry_jaxpr_shared (Jaxpr *j, GantryXlaSpan name);
/** Whether the text begins as a jaxpr does. */
gboolean gantry_jaxpr_is (const char *text, gsize length);
GantryModule *gantry_jaxpr_import (GantryContext *context, const char *text, gsize length, const char *name, const GantryXlaOptions *options,
                                   GantryXlaInfo *info, const GantryProgress *progress, GError **error);

G_END_DECLS
