/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the policies share: statements as the parser leaves them, globs, and what a module
 * looks like to a statement. */
#pragma once
#include "core/graph/operation.h"
#include "core/planner/policy/policy.h"
#include "core/planner/rounding/rounding.h"

/* Limits of the text; what is beyond them ends in an error. */
#define POLICY_MOST_BYTES (1u << 20)
#define POLICY_MOST_STATEMENTS 4096u
#define POLICY_MOST_TERMS 64u
#define POLICY_MOST_WORD 4096u
#define POLICY_MOST_DEPTH 16u  /* of save_from_both_policies within each other */
#define POLICY_MOST_SCOPE 256u /* parts of a scope that are looked at */

/** Literal parts with anything between them; both ends are anchored. */
typedef struct
{
  char **parts; /* NULL-terminated, at least one; n - 1 stars */
  guint n_parts;
} Glob;

/* @text: `*` stands for anything; after a backslash it is itself. */
void _gantry_glob_init (Glob *glob, const char *text);
void _gantry_glob_clear (Glob *glob);
gboolean _gantry_glob_matches (const Glob *glob, const char *text);
/** Of whole scopes: `*` within a part of the path, `**` for any number of parts. */
gboolean _gantry_scope_glob_matches (const char *glob, const char *path, gsize length);

typedef enum
{
  TERM_ANY,
  TERM_OP,
  TERM_SCOPE,
  TERM_NAME,
  TERM_ROLE,
  TERM_CLASS,
  TERM_ID,
  TERM_BYTES,
} TermKind;

typedef struct
{
  guint8 kind;   /* TermKind */
  Glob glob;     /* OP, SCOPE, NAME */
  guint64 value; /* ROLE: GantryPlacementSubject, CLASS: GantryOpClass, ID, BYTES: at least */
} Term;

typedef enum
{
  JAX_EVERYTHING,
  JAX_NOTHING,
  JAX_DOTS,
  JAX_DOTS_NO_BATCH,
  JAX_OFFLOAD_DOTS_NO_BATCH,
  JAX_ONLY_NAMES,
  JAX_ANY_NAMES_BUT,
  JAX_ANYTHING_EXCEPT_NAMES,
  JAX_SAVE_AND_OFFLOAD_NAMES,
  JAX_BOTH,
} JaxKind;

typedef struct _JaxPolicy JaxPolicy;
/** One of jax.checkpoint_policies with its arguments. */
struct _JaxPolicy
{
  JaxKind kind;
  GPtrArray *names;     /* char*: those that are given to it, or may be saved */
  GPtrArray *offloaded; /* char*: of JAX_SAVE_AND_OFFLOAD_NAMES */
  guint8 memory;        /* GantryMemoryKind to offload to */
  JaxPolicy *both[2];
};
void _gantry_jax_policy_free (JaxPolicy *policy);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (JaxPolicy, _gantry_jax_policy_free)

typedef struct
{
  char *text;
  guint line;
  GArray *terms;  /* Term; of a policy empty */
  guint8 kind;    /* GantryPlacementKind of a rule */
  guint8 memory;  /* GantryMemoryKind to offload to */
  JaxPolicy *jax; /* (nullable): it is a policy */
  char *within;   /* (nullable): glob of the checkpointed functions */
} Statement;

struct _GantryPolicy
{
  GPtrArray *statements; /* Statement */
};

/** A name that a value goes by. */
typedef struct
{
  guint32 name;     /* string id */
  guint32 position; /* node that gives it */
  guint8 given;     /* by checkpoint_name, not by the source */
} ValueName;

/** The entry function as statements see it; arrays by index in the entry function. */
typedef struct
{
  GantryModule *module;
  const GantryFunction *entry;
  guint32 n;
  guint32 *owner;      /* index of the node whose bytes these are */
  guint8 *subject;     /* GantryPlacementSubject */
  guint8 *returned;    /* of an owner: it or a view of it is a result */
  guint8 *constant;    /* made of constants alone: computed when the program is loaded */
  guint32 *source;     /* of an owner: position of the node that computes it: itself, of a stack a node of the body of its loop */
  guint8 *again;       /* of an owner that is a stack: the loops that read it can make its slices again */
  guint32 *first_name; /* of an owner: in names; n + 1 */
  ValueName *names;
  GantryRounding *rounding; /* (nullable): of what must not be rounded; there is no statement that rounds */
  guint32 most_string;      /* largest string id of any scope or name */
  guint32 most_op;
} ModuleFacts;

/** @rounds: some statement stores values in fewer bits */
ModuleFacts *_gantry_module_facts_new (GantryModule *module, gboolean rounds);
void _gantry_module_facts_free (ModuleFacts *facts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ModuleFacts, _gantry_module_facts_free)

static inline const GantryNode *
facts_node (const ModuleFacts *facts, guint32 i)
{
  return &facts->module->nodes[facts->entry->first_node + i];
}
/** Stands for one of the results of a scan. */
static inline gboolean
facts_is_of_scan (const ModuleFacts *facts, guint32 i)
{
  return facts->owner[i] == i && facts_node (facts, i)->op == GANTRY_OP_RESULT;
}
static inline const GantryNode *
facts_source (const ModuleFacts *facts, guint32 i)
{
  return &facts->module->nodes[facts->source[i]];
}
/** One of several values that a loop stacks. */
static inline gboolean
facts_is_stack (const ModuleFacts *facts, guint32 i)
{
  return facts->source[i] != facts->entry->first_node + i;
}
/** TRUE for what has bytes of its own that are made or given in a run. */
static inline gboolean
facts_is_value (const ModuleFacts *facts, guint32 i)
{
  return !facts->constant[i] && facts->owner[i] == i && (facts_is_of_scan (facts, i) || !gantry_node_is_view (facts->module, facts_node (facts, i)));
}
/** The scope of a loop that goes forward and back in each trip, as one over microbatches that is not written out: what is saved within
 *  it is none of these values. Returns: (nullable): there is none */
const char *_gantry_facts_steps_in_loop (const ModuleFacts *facts);
/** Index of the owner of operand @k, or G_MAXUINT32. */
guint32 _gantry_facts_operand (const ModuleFacts *facts, const GantryNode *node, guint k);
/** Why value @i cannot be computed again. Returns: (nullable): it can */
const char *_gantry_why_not_again (const ModuleFacts *facts, guint32 i);

/** What of a program makes products: dots, and for some policies convolutions. */
typedef struct _Dots Dots;
Dots *_gantry_dots_new (const ModuleFacts *facts);
void _gantry_dots_free (Dots *dots);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Dots, _gantry_dots_free)
/** Whether value @i is a product; @any: convolutions and batch dimensions too. A loop may have saved what is computed element by element of
 *  products in their place. */
gboolean _gantry_dots_made (const Dots *dots, guint32 i, gboolean any);

/** What the statements so far said of a value. Values that the backward pass does not read take part: they are what
 *  recomputation may start from. */
typedef struct
{
  guint8 kind;      /* GantryPlacementKind */
  guint8 memory;    /* GantryMemoryKind */
  guint8 decider;   /* GantryDecider; DEFAULT: nothing was said */
  gint32 statement; /* index, or -1 */
} Decision;

/* Of the scope of _gantry_facts_steps_in_loop() */
#define POLICY_IN_LOOP "what the loop '%s' saves for its own backward phase is placed only where it is written out (--unroll NODES)"

/** What became of a statement while it was evaluated. */
typedef struct
{
  guint n_matched;
  guint n_views;         /* of a rule that matches nothing else: views that it matches */
  guint n_refused;       /* the decision is not possible for them */
  guint n_offered;       /* values with a subject that were decided */
  guint32 first_refused; /* index */
  const char *why;       /* static: of the first refused */
  gboolean quiet;        /* what is refused was not asked for by name */
  gint32 overridden_by;  /* statement, -1: none */
  GString *more;         /* (nullable): sentences of a policy */
} Outcome;

/** One rule over all values; @decisions by index. */
void _gantry_rule_apply (const Statement *statement, gint32 index, const ModuleFacts *facts, Decision *decisions, Outcome *outcome);
/** One JAX policy over all values within checkpointed functions. */
void _gantry_jax_policy_apply (const Statement *statement, gint32 index, const ModuleFacts *facts, Decision *decisions, Outcome *outcome);
