/* SPDX-License-Identifier: Apache-2.0 */
/* The policies of jax.checkpoint_policies over a program whose checkpointed functions are scopes. A policy says what may be
 * saved of what such a function makes; its inputs are saved, the rest is computed again. */
#include "core/planner/policy/policy-private.h"
#include <string.h>

#define NO_FUNCTION 0u

typedef struct
{
  const JaxPolicy *policy;
  GHashTable *names, *offloaded; /* sets of char* */
} NameSets;

typedef struct
{
  const ModuleFacts *facts;
  const Statement *statement;
  const Dots *dots;
  guint32 *function_of_scope; /* by scope id: which checkpointed function, from 1 on, or NO_FUNCTION */
  guint n_functions;
  guint32 loops;    /* the bodies of loops, where they are checkpointed functions, or NO_FUNCTION */
  guint8 *inside;   /* by index: read within a checkpointed function other than its own, without a name given there */
  guint8 *renamed;  /* the same, but named there */
  guint8 *outside;  /* leaves its function, and the backward pass of what is in no function reads it */
  GHashTable *sets; /* JaxPolicy -> NameSets */
} Functions;

/* Checkpointed functions */

/* "iteration.7": what the pass that unrolls loops calls a scope. */
static gboolean
is_iteration (const char *part, gsize length)
{
  static const char word[] = "iteration.";
  gsize n = sizeof word - 1;

  if (length <= n || memcmp (part, word, n) != 0)
    return FALSE;
  while (n < length && g_ascii_isdigit (part[n]))
    n++;
  return n == length;
}

/* Length of the longest scope around @path, itself included, that is a checkpointed function; 0: none. */
static gsize
function_length (const char *glob, const char *path)
{
  gsize longest = 0, part = 0;
  guint n_parts = 0;

  for (gsize i = 0; path[0] != '\0' && n_parts < POLICY_MOST_SCOPE; i++)
    if (path[i] == '/' || path[i] == '\0')
      {
        if (glob != NULL ? _gantry_scope_glob_matches (glob, path, i) : is_iteration (path + part, i - part))
          longest = i;
        part = i + 1;
        n_parts++;
        if (path[i] == '\0')
          break;
      }
  return longest;
}

static void
find_functions (Functions *f)
{
  const ModuleFacts *facts = f->facts;
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autofree guint8 *seen = g_new0 (guint8, facts->most_string + 1);

  f->function_of_scope = g_new0 (guint32, facts->most_string + 1);
  for (guint32 i = 0; i < facts->module->n_nodes; i++)
    {
      guint32 scope = facts->module->nodes[i].scope;
      const char *path = gantry_context_scope_path (facts->module->context, scope);
      gsize length = seen[scope] ? 0 : function_length (f->statement->within, path);
      g_autofree char *name = length > 0 ? g_strndup (path, length) : NULL;

      seen[scope] = TRUE;
      if (name == NULL)
        continue;
      f->function_of_scope[scope] = GPOINTER_TO_UINT (g_hash_table_lookup (known, name));
      if (f->function_of_scope[scope] != NO_FUNCTION)
        continue;
      f->function_of_scope[scope] = ++f->n_functions;
      g_hash_table_insert (known, g_steal_pointer (&name), GUINT_TO_POINTER (f->n_functions));
    }
  for (guint32 i = 0; i < facts->n && f->statement->within == NULL && f->loops == NO_FUNCTION; i++)
    if (facts_is_stack (facts, i) && facts->subject[i] == GANTRY_SUBJECT_RESIDUAL)
      f->loops = ++f->n_functions;
  /* There is no loop: the whole program is one. */
  if (f->n_functions > 0 || f->statement->within != NULL)
    return;
  f->n_functions = 1;
  for (guint32 scope = 0; scope <= facts->most_string; scope++)
    f->function_of_scope[scope] = 1;
}

static guint32
home_of (const Functions *f, const GantryNode *node)
{
  return f->function_of_scope[node->scope];
}

/* Of value @i. The body of a loop that is not written out is a checkpointed function, as its trips are where it is. */
static guint32
home_of_value (const Functions *f, guint32 i)
{
  return facts_is_stack (f->facts, i) && f->loops != NO_FUNCTION ? f->loops : home_of (f, facts_source (f->facts, i));
}

static guint32
function_of_name (const Functions *f, const ValueName *name)
{
  guint32 home = home_of (f, &f->facts->module->nodes[name->position]), at = name->position - f->facts->entry->first_node;

  /* Given in the body of a loop. */
  return f->loops != NO_FUNCTION && at >= f->facts->n && home == NO_FUNCTION ? f->loops : home;
}

static gboolean
is_named_in (const Functions *f, guint32 i, guint32 function)
{
  for (guint32 k = f->facts->first_name[i]; k < f->facts->first_name[i + 1]; k++)
    if (f->facts->names[k].given && function_of_name (f, &f->facts->names[k]) == function)
      return TRUE;
  return FALSE;
}

/* Who reads what across the borders of functions. @leaves: by index, the value is read outside of all functions */
static void
find_crossings (Functions *f)
{
  const ModuleFacts *facts = f->facts;
  g_autofree guint8 *leaves = g_new0 (guint8, facts->n + 1);

  f->inside = g_new0 (guint8, facts->n + 1);
  f->renamed = g_new0 (guint8, facts->n + 1);
  f->outside = g_new0 (guint8, facts->n + 1);
  for (guint32 i = 0; i < facts->n; i++)
    {
      const GantryNode *node = facts_node (facts, i);
      guint32 reader = home_of (f, node);

      if (gantry_node_is_view (facts->module, node))
        continue;
      for (guint k = 0; k < node->n_operands; k++)
        {
          guint32 o = _gantry_facts_operand (facts, node, k), home;

          if (o == G_MAXUINT32)
            continue;
          home = home_of_value (f, o);
          if (reader == NO_FUNCTION && node->phase == GANTRY_PHASE_FORWARD)
            leaves[o] |= home != NO_FUNCTION;
          else if (reader == NO_FUNCTION)
            f->outside[o] |= leaves[o];
          else if (node->phase == GANTRY_PHASE_FORWARD && reader != home)
            *(is_named_in (f, o, reader) ? &f->renamed[o] : &f->inside[o]) = TRUE;
        }
    }
}

/* What the policy says */

static GHashTable *
set_of (const GPtrArray *names)
{
  GHashTable *set = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < names->len; i++)
    g_hash_table_add (set, names->pdata[i]);
  return set;
}

static void
name_sets_free (gpointer data)
{
  NameSets *sets = data;

  g_hash_table_unref (sets->names);
  g_hash_table_unref (sets->offloaded);
  g_free (sets);
}

static void
add_sets (GHashTable *all, const JaxPolicy *policy)
{
  NameSets *sets = g_new (NameSets, 1);

  *sets = (NameSets){ policy, set_of (policy->names), set_of (policy->offloaded) };
  g_hash_table_insert (all, (gpointer) policy, sets);
  for (guint i = 0; i < 2 && policy->kind == JAX_BOTH; i++)
    add_sets (all, policy->both[i]);
}

/* How the names of a value that count here stand to a set. */
typedef struct
{
  guint n, n_saved, n_offloaded;
} NameCount;

/* @own: the names given in the value's own function; else those given in the others that read it. */
static NameCount
count_names (const Functions *f, const NameSets *sets, guint32 i, gboolean own)
{
  const ModuleFacts *facts = f->facts;
  guint32 home = home_of_value (f, i);
  NameCount count = { 0 };

  for (guint32 k = facts->first_name[i]; k < facts->first_name[i + 1]; k++)
    {
      guint32 where = function_of_name (f, &facts->names[k]);
      const char *name = gantry_context_string (facts->module->context, facts->names[k].name);

      if (!facts->names[k].given || (own ? where != home : where == home || where == NO_FUNCTION))
        continue;
      count.n++;
      count.n_saved += g_hash_table_contains (sets->names, name);
      count.n_offloaded += g_hash_table_contains (sets->offloaded, name);
    }
  return count;
}

static GantryPlacementKind
say (const Functions *f, const JaxPolicy *policy, guint32 i, gboolean own)
{
  const NameSets *sets = g_hash_table_lookup (f->sets, policy);
  NameCount count = count_names (f, sets, i, own);
  gboolean save = FALSE;

  switch (policy->kind)
    {
    case JAX_EVERYTHING: save = TRUE; break;
    case JAX_NOTHING: break;
    case JAX_DOTS: save = own && _gantry_dots_made (f->dots, i, TRUE); break;
    case JAX_DOTS_NO_BATCH: save = own && _gantry_dots_made (f->dots, i, FALSE); break;
    case JAX_OFFLOAD_DOTS_NO_BATCH: return own && _gantry_dots_made (f->dots, i, FALSE) ? GANTRY_PLACEMENT_OFFLOAD : GANTRY_PLACEMENT_RECOMPUTE;
    case JAX_ONLY_NAMES: save = count.n_saved > 0; break;
    case JAX_ANY_NAMES_BUT: save = count.n > count.n_saved; break;
    case JAX_ANYTHING_EXCEPT_NAMES: save = count.n_saved == 0; break;
    case JAX_SAVE_AND_OFFLOAD_NAMES:
      if (count.n_saved == 0 && count.n_offloaded > 0)
        return GANTRY_PLACEMENT_OFFLOAD;
      save = count.n_saved > 0;
      break;
    case JAX_BOTH: save = say (f, policy->both[0], i, own) == GANTRY_PLACEMENT_KEEP || say (f, policy->both[1], i, own) == GANTRY_PLACEMENT_KEEP; break;
    }
  return save ? GANTRY_PLACEMENT_KEEP : GANTRY_PLACEMENT_RECOMPUTE;
}

/* @governed: FALSE where the value is no business of a checkpointed function */
static GantryPlacementKind
verdict (const Functions *f, guint32 i, gboolean *governed)
{
  const JaxPolicy *policy = f->statement->jax;
  guint32 home = home_of_value (f, i);

  *governed = home != NO_FUNCTION || f->inside[i] || f->renamed[i];
  /* An input of a function, or of what is in none, is saved for its own sake. */
  if (!*governed || f->inside[i] || f->outside[i])
    return GANTRY_PLACEMENT_KEEP;
  if (facts_is_stack (f->facts, i) && facts_source (f->facts, i)->op == GANTRY_OP_PARAMETER)
    return say (f, policy, i, TRUE) == GANTRY_PLACEMENT_OFFLOAD ? GANTRY_PLACEMENT_OFFLOAD : GANTRY_PLACEMENT_KEEP;
  if (f->renamed[i])
    return say (f, policy, i, FALSE) == GANTRY_PLACEMENT_OFFLOAD ? GANTRY_PLACEMENT_OFFLOAD : GANTRY_PLACEMENT_KEEP;
  return say (f, policy, i, TRUE);
}

/* Reports */

static void add_sentence (Outcome *outcome, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
add_sentence (Outcome *outcome, const char *format, ...)
{
  va_list args;

  if (outcome->more == NULL)
    outcome->more = g_string_new (NULL);
  if (outcome->more->len > 1000)
    return;
  if (outcome->more->len > 0)
    g_string_append (outcome->more, "; ");
  va_start (args, format);
  g_string_append_vprintf (outcome->more, format, args);
  va_end (args);
}

/* Names of the program by what they stand for. */
enum
{
  NAMED = 1,
  NAMED_INSIDE = 2,
  NAMED_PLACED = 4,
  NAMED_INPUT = 8
};

static GHashTable *
names_in_use (const Functions *f)
{
  GHashTable *all = g_hash_table_new (g_str_hash, g_str_equal);
  const ModuleFacts *facts = f->facts;

  for (guint32 i = 0; i < facts->n; i++)
    for (guint32 k = facts->first_name[i]; k < facts->first_name[i + 1]; k++)
      {
        const char *name = gantry_context_string (facts->module->context, facts->names[k].name);
        guint bits = GPOINTER_TO_UINT (g_hash_table_lookup (all, name)) | NAMED;

        if (!facts->names[k].given)
          continue;
        if (function_of_name (f, &facts->names[k]) != NO_FUNCTION)
          bits |= NAMED_INSIDE;
        bits |= facts_node (facts, i)->op == GANTRY_OP_PARAMETER ? 0 : f->inside[i] ? NAMED_INPUT : NAMED_PLACED;
        g_hash_table_insert (all, (gpointer) name, GUINT_TO_POINTER (bits));
      }
  return all;
}

static void
report_list (const GPtrArray *names, GHashTable *in_use, gboolean offloads, Outcome *outcome)
{
  for (guint i = 0; i < names->len; i++)
    {
      const char *name = names->pdata[i];
      guint bits = GPOINTER_TO_UINT (g_hash_table_lookup (in_use, name));

      if (!(bits & NAMED))
        add_sentence (outcome, "no checkpoint_name gives the name '%s'", name);
      else if (!(bits & NAMED_INSIDE))
        add_sentence (outcome, "'%s' is given outside of the checkpointed functions", name);
      else if (!(bits & (NAMED_PLACED | NAMED_INPUT)))
        add_sentence (outcome, "'%s' names a parameter or input, which no policy places; write: name:%s offload", name, name);
      else if (offloads && !(bits & NAMED_PLACED))
        add_sentence (outcome,
                      "'%s' stays on the device: it is the input of another checkpointed function; give the name "
                      "within that one",
                      name);
    }
}

static void
report_names (const JaxPolicy *policy, GHashTable *in_use, Outcome *outcome)
{
  report_list (policy->names, in_use, FALSE, outcome);
  report_list (policy->offloaded, in_use, TRUE, outcome);
  for (guint i = 0; i < 2 && policy->kind == JAX_BOTH; i++)
    report_names (policy->both[i], in_use, outcome);
}

static void
decide (const Functions *f, gint32 index, guint32 i, Decision *decisions, Outcome *outcome)
{
  const ModuleFacts *facts = f->facts;
  gboolean governed, residual = facts->subject[i] == GANTRY_SUBJECT_RESIDUAL;
  GantryPlacementKind kind = verdict (f, i, &governed);
  const char *why = kind == GANTRY_PLACEMENT_RECOMPUTE ? _gantry_why_not_again (facts, i) : NULL;

  if (!governed)
    return;
  if (residual)
    {
      outcome->n_matched++;
      outcome->n_offered++;
    }
  if (why != NULL && residual && outcome->n_refused++ == 0)
    {
      outcome->why = why;
      outcome->first_refused = i;
    }
  /* A result is there anyway. */
  if (why != NULL || facts->returned[i])
    kind = GANTRY_PLACEMENT_KEEP;
  decisions[i] = (Decision){ kind, 0, GANTRY_DECIDED_BY_POLICY, index };
  if (kind == GANTRY_PLACEMENT_OFFLOAD)
    decisions[i].memory = f->statement->jax->memory;
}

void
_gantry_jax_policy_apply (const Statement *statement, gint32 index, const ModuleFacts *facts, Decision *decisions, Outcome *outcome)
{
  g_autoptr (Dots) dots = _gantry_dots_new (facts);
  Functions f = { .facts = facts, .statement = statement, .dots = dots };
  g_autoptr (GHashTable) in_use = NULL;

  f.sets = g_hash_table_new_full (NULL, NULL, NULL, name_sets_free);
  add_sets (f.sets, statement->jax);
  find_functions (&f);
  find_crossings (&f);
  for (guint32 i = 0; f.n_functions > 0 && i < facts->n; i++)
    if (facts_is_value (facts, i) && facts_node (facts, i)->phase == GANTRY_PHASE_FORWARD
        && (facts->subject[i] == GANTRY_SUBJECT_RESIDUAL || facts->subject[i] == GANTRY_SUBJECT_NONE))
      decide (&f, index, i, decisions, outcome);
  if (!gantry_module_is_training (facts->module))
    add_sentence (outcome, "the program has no backward pass for which anything could be saved");
  else if (f.n_functions == 0)
    add_sentence (outcome, "no scope matches '%s'", statement->within);
  else if (outcome->n_matched == 0)
    {
      const char *loop = _gantry_facts_steps_in_loop (facts);

      add_sentence (outcome, "the backward pass reads nothing that the checkpointed functions make");
      if (loop != NULL)
        add_sentence (outcome, POLICY_IN_LOOP, loop);
    }
  in_use = names_in_use (&f);
  report_names (statement->jax, in_use, outcome);
  g_hash_table_unref (f.sets);
  g_free (f.function_of_scope);
  g_free (f.inside);
  g_free (f.renamed);
  g_free (f.outside);
}
