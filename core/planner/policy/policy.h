/* SPDX-License-Identifier: Apache-2.0 */
/* Placements from words: a list of statements, later ones win. Statements are separated by ';' or ends of lines, '#' begins a
 * comment.
 *
 *     statement = selector decision | "policy" policy [ "in" scope glob ]
 *     selector  = term { "&" term }
 *     term      = "*" | "op:" glob | "scope:" glob | "name:" glob | "role:" subject | "class:" class | "id:" number
 *                 | "bytes>=" size
 *     decision  = "keep" | "recompute" | "offload" [ "to" memory ] | "bf16" | "int8"
 *     policy    = one of JAX's names, with its arguments in parentheses: save_only_these_names(a, b)
 *
 * `op:dot` means dot_general, `op:conv` convolution; a fusion matches what any node of its body matches. `name:` is the name
 * given by checkpoint_name, or by the source. `*` in a glob stands for anything, '/' included.
 *
 * Policies have the meaning of jax.checkpoint_policies (jax 0.8, jax/_src/ad_checkpoint.py), with the inputs of the
 * checkpointed function always saved. The checkpointed functions are the scopes that the glob after `in` matches (the
 * longest; there `*` stands within one part of the path and `**` for any number of parts); without `in`, the iterations of
 * unrolled loops ("iteration.N") where there are any, else the whole program. docs/policies.md says it at length.
 *
 * A statement may also speak of values that the backward pass does not read (%GANTRY_SUBJECT_NONE): such a decision is
 * entered where something is computed again from them. */
#pragma once
#include "core/base/base.h"
#include "core/plan/placement.h"

G_BEGIN_DECLS

typedef struct _GantryPolicy GantryPolicy;

/** Returns: (transfer full) (nullable): %GANTRY_ERROR_INVALID, "policy:LINE:COLUMN: what was expected". At most 1 MiB of text,
 *  4096 statements, 64 selectors in one, 4 KiB in a name. */
GantryPolicy *gantry_policy_parse (const char *text, gssize length, GError **error);
void gantry_policy_free (GantryPolicy *policy);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryPolicy, gantry_policy_free)

/** What became of one statement. */
typedef struct
{
  char *text; /* the statement */
  guint line;
  char *place;     /* "line 1", or "line 1, statement 2" where several stand in the line */
  guint n_matched; /* values that it matches; of a policy: residuals of checkpointed functions, and what else is
                      *  saved to compute them again from */
  guint n_decided; /* of those the ones whose placement it decided in the end */
  char *problem;   /* (nullable): "matches nothing", "matches 3 values, none is used by the backward pass", ... */
} GantryPolicyReport;

/**
 * gantry_policy_apply:
 * @base: (nullable): entries that are there already. Those made one by one, by a click or by the solver, stay whatever the
 *  statements say; those of an earlier policy or rule go; the others stay where no statement speaks of them
 * @reports: (out) (optional) (transfer full) (element-type GantryPolicyReport): one for each statement
 *
 * Linear in nodes and operands for each statement; a glob looks at a string once, however many nodes have it.
 *
 * Returns: (transfer full): the table
 */
GantryPlacements *gantry_policy_apply (const GantryPolicy *policy, GantryModule *module, const GantryPlacements *base, GPtrArray **reports);
/** Does any statement store values in fewer bits? */
gboolean gantry_policy_is_approximate (const GantryPolicy *policy);
/** Names of the policies that are known, NULL-terminated: for menus and completion. */
const char *const *gantry_policy_names (void);

G_END_DECLS
