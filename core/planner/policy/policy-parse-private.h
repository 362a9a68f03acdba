/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of policies: what the parser of statements and the parser of JAX's policies share. */
#pragma once
#include "core/planner/policy/policy-private.h"

typedef struct
{
  const char *text, *p, *end;
  const char *read;    /* end of the last token */
  const char *counted; /* @line is that of this place */
  guint line;
  guint depth;   /* of parentheses: within them a line may end */
  guint n_names; /* given to policies so far */
  GError **error;
} Reader;

/** @at: where in the text. Returns: FALSE */
gboolean _gantry_policy_fail (Reader *r, const char *at, const char *format, ...) G_GNUC_PRINTF (3, 4);
void _gantry_policy_skip (Reader *r);
gboolean _gantry_policy_accept (Reader *r, const char *token);
gboolean _gantry_policy_expect (Reader *r, const char *token, const char *what);
/** @glob: keep \* for it. Returns: (transfer full) (nullable) */
char *_gantry_policy_word (Reader *r, const char *what, gboolean glob);
gboolean _gantry_policy_memory (Reader *r, const char *at, const char *word, guint8 *memory);
/** From the name of a policy to its last argument. Returns: (transfer full) (nullable) */
JaxPolicy *_gantry_policy_read_jax (Reader *r, guint depth);
