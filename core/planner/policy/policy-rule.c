/* SPDX-License-Identifier: Apache-2.0 */
/* A rule over all values: selectors are put together by '&'. Globs look at a string once, however many nodes have it. */
#include "core/planner/policy/policy-private.h"
#include "core/plan/compression.h"
#include <string.h>

/* The answers of one glob: 0 not asked yet, 1 no, 2 yes. */
typedef struct
{
  guint8 *known;
} Memo;

typedef struct
{
  const Statement *statement;
  const ModuleFacts *facts;
  Memo *memos; /* one for each term */
} Matcher;

static gboolean
glob_matches (const Matcher *m, guint t, guint32 key, gboolean is_op)
{
  guint8 *known = &m->memos[t].known[key];
  GantryContext *context = m->facts->module->context;

  if (*known == 0)
    {
      const char *text = is_op                                                             ? gantry_context_op_name (context, (guint16) key)
                         : g_array_index (m->statement->terms, Term, t).kind == TERM_SCOPE ? gantry_context_scope_path (context, key)
                                                                                           : gantry_context_string (context, key);

      *known = _gantry_glob_matches (&g_array_index (m->statement->terms, Term, t).glob, text) ? 2 : 1;
    }
  return *known == 2;
}

/* What holds for one node, be it the owner of the bytes or in the body of a fusion. */
static gboolean
node_matches (const Matcher *m, const GantryNode *node)
{
  for (guint t = 0; t < m->statement->terms->len; t++)
    {
      const Term *term = &g_array_index (m->statement->terms, Term, t);

      if ((term->kind == TERM_OP && !glob_matches (m, t, node->op, TRUE)) || (term->kind == TERM_SCOPE && !glob_matches (m, t, node->scope, FALSE))
          || (term->kind == TERM_CLASS && term->value != gantry_node_class (m->facts->module, node)))
        return FALSE;
    }
  return TRUE;
}

static guint64
bytes_of (const GantryModule *module, const GantryType *type)
{
  gint64 bytes = 0;

  if (type->kind == GANTRY_TYPE_TUPLE)
    {
      guint64 sum = 0;

      for (guint i = 0; i < type->rank; i++)
        {
          const GantryType *member = gantry_context_type (module->context, (guint32) type->dims[i]);

          bytes = member->kind == GANTRY_TYPE_TENSOR ? gantry_type_bytes (member) : 0;
          sum += (guint64) MAX (bytes, 0);
        }
      return sum;
    }
  bytes = type->kind == GANTRY_TYPE_TENSOR ? gantry_type_bytes (type) : 0;
  return (guint64) MAX (bytes, 0);
}

static gboolean
name_matches (const Matcher *m, guint t, guint32 i)
{
  const ModuleFacts *facts = m->facts;

  for (guint32 k = facts->first_name[i]; k < facts->first_name[i + 1]; k++)
    if (glob_matches (m, t, facts->names[k].name, FALSE))
      return TRUE;
  return FALSE;
}

/* What holds for the value as a whole. An id may also be that of a view; that one is looked at apart. */
static gboolean
value_matches (const Matcher *m, guint32 i)
{
  const ModuleFacts *facts = m->facts;

  for (guint t = 0; t < m->statement->terms->len; t++)
    {
      const Term *term = &g_array_index (m->statement->terms, Term, t);

      if ((term->kind == TERM_NAME && !name_matches (m, t, i)) || (term->kind == TERM_ROLE && term->value != facts->subject[i])
          || (term->kind == TERM_BYTES && bytes_of (facts->module, gantry_node_type (facts->module, facts_node (facts, i))) < term->value))
        return FALSE;
      if (term->kind == TERM_ID)
        {
          const GantryNode *node = gantry_module_node (facts->module, (guint32) term->value);
          guint32 at = node != NULL ? gantry_module_position (facts->module, node) - facts->entry->first_node : G_MAXUINT32;

          if (at >= facts->n || facts->owner[at] != i)
            return FALSE;
        }
    }
  return TRUE;
}

static gboolean
matches (const Matcher *m, guint32 i)
{
  const GantryNode *node = facts_source (m->facts, i);
  const GantryFunction *body;

  if (!value_matches (m, i))
    return FALSE;
  if (node_matches (m, node) || (facts_is_of_scan (m->facts, i) && node_matches (m, gantry_node_operand (m->facts->module, facts_node (m->facts, i), 0))))
    return TRUE;
  body = gantry_node_fusion_body (m->facts->module, node);
  for (guint32 b = 0; body != NULL && b < body->n_nodes; b++)
    if (node_matches (m, &m->facts->module->nodes[body->first_node + b]))
      return TRUE;
  return FALSE;
}

/* One of several results that can is enough. */
static const char *
compression_refusal (const ModuleFacts *facts, guint32 i, GantryPlacementKind kind)
{
  const GantryModule *module = facts->module;
  const GantryType *type = gantry_node_type (module, facts_node (facts, i));
  const guint n = type->kind == GANTRY_TYPE_TUPLE ? type->rank : 1;
  const char *why = NULL;

  for (guint m = 0; m < n && (m == 0 || why != NULL); m++)
    why = gantry_rounding_why_not_stored (kind, (GantryPlacementSubject) facts->subject[i], facts->returned[i],
                                          type->kind == GANTRY_TYPE_TUPLE ? gantry_context_type (module->context, (guint32) type->dims[m]) : type,
                                          gantry_rounding_asked (facts->rounding, facts->entry->first_node + i, m));
  return why;
}

static const char *
argument_refusal (const ModuleFacts *facts, guint32 i, GantryPlacementKind kind)
{
  const GantryNode *node = facts_node (facts, i);

  if (kind == GANTRY_PLACEMENT_RECOMPUTE)
    return "it is given, not computed; it can be kept or offloaded";
  if (kind == GANTRY_PLACEMENT_KEEP && gantry_node_type (facts->module, node)->memory != GANTRY_MEMORY_DEVICE)
    return "its type says that it lives in host memory";
  if (kind == GANTRY_PLACEMENT_OFFLOAD && facts->returned[i])
    return "it is returned as it is";
  return NULL;
}

/* Why @kind is not possible. Returns: (nullable): it is */
static const char *
refusal (const ModuleFacts *facts, guint32 i, GantryPlacementKind kind)
{
  if (gantry_placement_is_approximate (kind))
    return compression_refusal (facts, i, kind);
  switch ((GantryPlacementSubject) facts->subject[i])
    {
    case GANTRY_SUBJECT_PARAMETER:
    case GANTRY_SUBJECT_STATE:
    case GANTRY_SUBJECT_INPUT: return argument_refusal (facts, i, kind);
    case GANTRY_SUBJECT_OUTPUT: return kind == GANTRY_PLACEMENT_RECOMPUTE ? "a result of the program stays until its end; it can be kept or offloaded" : NULL;
    case GANTRY_SUBJECT_RESIDUAL:
      if (kind == GANTRY_PLACEMENT_KEEP)
        return NULL;
      if (facts->returned[i])
        return "it is also a result of the program and has its place anyway";
      return kind == GANTRY_PLACEMENT_RECOMPUTE ? _gantry_why_not_again (facts, i) : NULL;
    default: return NULL;
    }
}

static void
decide (const Statement *statement, gint32 index, const ModuleFacts *facts, guint32 i, Decision *decisions, Outcome *outcome)
{
  const char *why = refusal (facts, i, (GantryPlacementKind) statement->kind);
  Decision decision = { statement->kind, 0, GANTRY_DECIDED_BY_RULE, index };

  if (why != NULL)
    {
      if (outcome->n_refused++ == 0)
        {
          outcome->why = why;
          outcome->first_refused = i;
        }
      return;
    }
  outcome->n_offered += facts->subject[i] != GANTRY_SUBJECT_NONE;
  if (statement->kind == GANTRY_PLACEMENT_OFFLOAD)
    decision.memory = statement->memory;
  decisions[i] = decision;
}

static gboolean
names_what_it_wants (const Statement *statement)
{
  for (guint t = 0; t < statement->terms->len; t++)
    {
      guint8 kind = g_array_index (statement->terms, Term, t).kind;

      if (kind == TERM_NAME || kind == TERM_ROLE || kind == TERM_ID)
        return TRUE;
    }
  return FALSE;
}

void
_gantry_rule_apply (const Statement *statement, gint32 index, const ModuleFacts *facts, Decision *decisions, Outcome *outcome)
{
  Matcher m = { statement, facts, g_new0 (Memo, statement->terms->len + 1) };

  for (guint t = 0; t < statement->terms->len; t++)
    {
      guint8 kind = g_array_index (statement->terms, Term, t).kind;

      if (kind == TERM_OP || kind == TERM_SCOPE || kind == TERM_NAME)
        m.memos[t].known = g_malloc0 ((kind == TERM_OP ? facts->most_op : facts->most_string) + 1);
    }
  for (guint32 i = 0; i < facts->n; i++)
    if (facts_is_value (facts, i) && matches (&m, i))
      {
        outcome->n_matched++;
        decide (statement, index, facts, i, decisions, outcome);
      }
  outcome->quiet = !names_what_it_wants (statement);
  for (guint32 i = 0; outcome->n_matched == 0 && i < facts->n; i++)
    outcome->n_views += facts->owner[i] != i && !facts->constant[i] && value_matches (&m, facts->owner[i]) && node_matches (&m, facts_node (facts, i));
  for (guint t = 0; t < statement->terms->len; t++)
    g_free (m.memos[t].known);
  g_free (m.memos);
}
