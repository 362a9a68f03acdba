/* SPDX-License-Identifier: Apache-2.0 */
/* From statements to the table of placements: all statements are evaluated in their order, the last word on a value counts,
 * and of values that the backward pass does not read only those are entered that recomputation starts from. */
#include "core/planner/policy/policy-private.h"
#include "core/plan/compression.h"
#include <string.h>

typedef struct
{
  const GantryPolicy *policy;
  ModuleFacts *facts;
  Decision *decisions; /* by index in the entry function */
  Outcome *outcomes;   /* by statement */
  guint8 *chosen;      /* by index of an owner: 1 + what was chosen for it, by hand or by the solver; 0: nothing */
  GantryPlacements *base;
} Application;

static const Statement *
statement_at (const GantryPolicy *policy, guint s)
{
  return policy->statements->pdata[s];
}

/* Applies one statement, and notes whose words it takes back. */
static void
apply_statement (Application *a, guint s, Decision *before)
{
  const Statement *statement = statement_at (a->policy, s);
  gsize size = a->facts->n * sizeof (Decision);

  memcpy (before, a->decisions, size);
  a->outcomes[s].overridden_by = -1;
  if (statement->jax != NULL)
    _gantry_jax_policy_apply (statement, (gint32) s, a->facts, a->decisions, &a->outcomes[s]);
  else
    _gantry_rule_apply (statement, (gint32) s, a->facts, a->decisions, &a->outcomes[s]);
  for (guint32 i = 0; i < a->facts->n; i++)
    if (a->decisions[i].statement == (gint32) s && before[i].statement >= 0)
      a->outcomes[before[i].statement].overridden_by = (gint32) s;
}

/* What is decided for value @i, KEEP where nothing is. */
static GantryPlacementKind
kind_of (const Application *a, guint32 i)
{
  const GantryPlacement *entry = gantry_placements_find (a->base, facts_node (a->facts, i)->id);

  if (a->chosen[i] > 0)
    return (GantryPlacementKind) (a->chosen[i] - 1);
  if (a->decisions[i].statement >= 0)
    return (GantryPlacementKind) a->decisions[i].kind;
  return entry != NULL ? (GantryPlacementKind) entry->kind : GANTRY_PLACEMENT_KEEP;
}

/* TRUE when the value is there in the backward phase only if it is computed again. */
static gboolean
is_made_again (const Application *a, guint32 i, gboolean needed)
{
  GantryPlacementSubject subject = (GantryPlacementSubject) a->facts->subject[i];

  if (facts_node (a->facts, i)->phase != GANTRY_PHASE_FORWARD || a->facts->constant[i])
    return FALSE;
  if (subject == GANTRY_SUBJECT_RESIDUAL)
    return kind_of (a, i) == GANTRY_PLACEMENT_RECOMPUTE;
  if (subject != GANTRY_SUBJECT_NONE || !needed)
    return FALSE;
  /* Views and tuples lead to what they show. A value of one phase is made again unless someone said to save it. */
  return a->decisions[i].statement < 0 || a->decisions[i].kind == GANTRY_PLACEMENT_RECOMPUTE;
}

/* What recomputation reads, back to what is there: by index. Against the order of the program, each node once. */
static guint8 *
find_needed (const Application *a)
{
  const ModuleFacts *facts = a->facts;
  guint8 *needed = g_new0 (guint8, facts->n + 1);

  for (guint32 i = facts->n; i-- > 0;)
    {
      const GantryNode *node = facts_node (facts, i);

      /* What a loop makes again it makes of what it has. */
      if (!is_made_again (a, i, needed[i]) || facts->again[i])
        continue;
      for (guint k = 0; k < node->n_operands; k++)
        {
          guint32 o = _gantry_facts_operand (facts, node, k);

          if (o != G_MAXUINT32)
            needed[o] = TRUE;
        }
    }
  return needed;
}

static int
compare_entries (gconstpointer a, gconstpointer b)
{
  const GantryPlacement *x = a, *y = b;

  return (x->node > y->node) - (x->node < y->node);
}

/* What stays of the table that was there: not what an earlier text said. */
static void
keep_base (Application *a, const GantryPlacements *base)
{
  a->base = gantry_placements_new ();
  if (base != NULL && base->schedule != NULL)
    gantry_placements_set_schedule (a->base, (const GantryScheduleEntry *) (gpointer) base->schedule->data, base->schedule->len);
  a->base->fetch_limit = base != NULL ? base->fetch_limit : 0;
  for (guint e = 0; base != NULL && e < base->entries->len; e++)
    {
      const GantryPlacement *entry = &g_array_index (base->entries, GantryPlacement, e);
      const GantryNode *node = gantry_module_node (a->facts->module, entry->node);
      guint32 i = node != NULL ? gantry_module_position (a->facts->module, node) - a->facts->entry->first_node : G_MAXUINT32;

      if (entry->decider == GANTRY_DECIDED_BY_POLICY || entry->decider == GANTRY_DECIDED_BY_RULE)
        continue;
      gantry_placements_set (a->base, entry);
      if (i < a->facts->n && (entry->decider == GANTRY_DECIDED_BY_CLICK || entry->decider == GANTRY_DECIDED_BY_SOLVER))
        a->chosen[a->facts->owner[i]] = (guint8) (1 + entry->kind);
    }
}

static GantryPlacements *
make_table (const Application *a, guint *n_decided)
{
  const ModuleFacts *facts = a->facts;
  g_autofree guint8 *needed = find_needed (a);
  g_autoptr (GArray) entries = g_array_new (FALSE, TRUE, sizeof (GantryPlacement));
  GantryPlacements *table = gantry_placements_new ();

  if (a->base->schedule != NULL)
    gantry_placements_set_schedule (table, (const GantryScheduleEntry *) (gpointer) a->base->schedule->data, a->base->schedule->len);
  table->fetch_limit = a->base->fetch_limit;
  for (guint e = 0; e < a->base->entries->len; e++)
    g_array_append_val (entries, g_array_index (a->base->entries, GantryPlacement, e));
  for (guint32 i = 0; i < facts->n; i++)
    {
      const Decision *decision = &a->decisions[i];
      GantryPlacement entry = { facts_node (facts, i)->id, decision->kind, decision->decider, decision->memory, facts->subject[i] };

      if (decision->statement < 0 || a->chosen[i] > 0)
        continue;
      if (facts->subject[i] == GANTRY_SUBJECT_NONE && (!needed[i] || decision->kind == GANTRY_PLACEMENT_RECOMPUTE))
        continue;
      g_array_append_val (entries, entry);
      n_decided[decision->statement]++;
      /* Of a policy residuals are counted before; now it is known what else is saved for them. */
      if (decision->decider == GANTRY_DECIDED_BY_POLICY && facts->subject[i] == GANTRY_SUBJECT_NONE)
        a->outcomes[decision->statement].n_matched++;
    }
  /* Stable: an entry that a statement made stands behind the one that was there and so replaces it. */
  g_array_sort (entries, compare_entries);
  for (guint e = 0; e < entries->len; e++)
    gantry_placements_set (table, &g_array_index (entries, GantryPlacement, e));
  return table;
}

gboolean
gantry_policy_is_approximate (const GantryPolicy *policy)
{
  for (guint i = 0; i < policy->statements->len; i++)
    if (statement_at (policy, i)->jax == NULL && gantry_placement_is_approximate (statement_at (policy, i)->kind))
      return TRUE;
  return FALSE;
}

/* Reports */

/* Where statement @s stands: "line 3", or "line 3, statement 2" where it is not the only one of its line. (transfer full) */
static char *
place_text (const GantryPolicy *policy, guint s)
{
  guint line = statement_at (policy, s)->line, n = 0, nth = 0;

  for (guint i = 0; i < policy->statements->len; i++)
    if (statement_at (policy, i)->line == line)
      {
        n++;
        nth += i <= s;
      }
  return n > 1 ? g_strdup_printf ("line %u, statement %u", line, nth) : g_strdup_printf ("line %u", line);
}

/* (transfer full) */
static char *
overridden_text (const Application *a, const Outcome *outcome)
{
  g_autofree char *place = NULL;

  if (outcome->overridden_by < 0)
    return g_strdup ("overridden by what was placed one by one, by hand or by the solver");
  place = place_text (a->policy, (guint) outcome->overridden_by);
  return g_strdup_printf ("overridden by later statements (%s)", place);
}

static char *
refused_text (const Application *a, const Statement *statement, const Outcome *outcome)
{
  static const char *const done[GANTRY_N_PLACEMENTS] = { "kept", "recomputed", "offloaded", "stored as bf16", "stored in 8 bits" };
  const GantryNode *node = facts_node (a->facts, outcome->first_refused);
  g_autofree char *label = gantry_node_label (a->facts->module, node);

  return g_strdup_printf ("%u of %u values cannot be %s: %s (%%%u %s '%s'%s)", outcome->n_refused, outcome->n_matched,
                          done[statement->jax != NULL ? GANTRY_PLACEMENT_RECOMPUTE : statement->kind], outcome->why, node->id,
                          gantry_node_op_name (a->facts->module, node), label, outcome->n_refused > 1 ? " and others" : "");
}

/* (transfer full) */
static char *
nothing_text (const Application *a)
{
  const char *loop = _gantry_facts_steps_in_loop (a->facts);

  return loop == NULL ? g_strdup ("matches nothing") : g_strdup_printf ("matches nothing; " POLICY_IN_LOOP, loop);
}

static char *
rule_problem (const Application *a, const Statement *statement, const Outcome *outcome, guint n_decided)
{
  if (outcome->n_matched == 0)
    return outcome->n_views == 0
             ? nothing_text (a)
             : g_strdup_printf ("matches only views (%u), which have no bytes of their own: place the value that they show", outcome->n_views);
  if (outcome->n_refused > 0 && (!outcome->quiet || outcome->n_offered == 0))
    return refused_text (a, statement, outcome);
  if (n_decided > 0)
    return NULL;
  if (outcome->n_offered == 0)
    return g_strdup_printf ("matches %u value%s, none is used by the backward pass", outcome->n_matched, outcome->n_matched == 1 ? "" : "s");
  return overridden_text (a, outcome);
}

static char *
policy_problem (const Application *a, const Statement *statement, const Outcome *outcome, guint n_decided)
{
  g_autoptr (GString) text = g_string_new (outcome->more != NULL ? outcome->more->str : NULL);

  if (outcome->n_refused > 0)
    {
      g_autofree char *refused = refused_text (a, statement, outcome);

      g_string_append_printf (text, "%s%s", text->len > 0 ? "; " : "", refused);
    }
  if (outcome->n_matched > 0 && n_decided == 0)
    {
      g_autofree char *overridden = overridden_text (a, outcome);

      g_string_append_printf (text, "%s%s", text->len > 0 ? "; " : "", overridden);
    }
  return text->len > 0 ? g_string_free (g_steal_pointer (&text), FALSE) : NULL;
}

static void
report_free (gpointer data)
{
  GantryPolicyReport *report = data;

  g_free (report->text);
  g_free (report->place);
  g_free (report->problem);
  g_free (report);
}

static GPtrArray *
make_reports (const Application *a, const guint *n_decided)
{
  GPtrArray *reports = g_ptr_array_new_with_free_func (report_free);

  for (guint s = 0; s < a->policy->statements->len; s++)
    {
      const Statement *statement = statement_at (a->policy, s);
      GantryPolicyReport *report = g_new0 (GantryPolicyReport, 1);

      report->text = g_strdup (statement->text);
      report->line = statement->line;
      report->place = place_text (a->policy, s);
      report->n_matched = a->outcomes[s].n_matched;
      report->n_decided = n_decided[s];
      report->problem = statement->jax != NULL ? policy_problem (a, statement, &a->outcomes[s], n_decided[s])
                                               : rule_problem (a, statement, &a->outcomes[s], n_decided[s]);
      g_ptr_array_add (reports, report);
    }
  return reports;
}

GantryPlacements *
gantry_policy_apply (const GantryPolicy *policy, GantryModule *module, const GantryPlacements *base, GPtrArray **reports)
{
  g_autoptr (ModuleFacts) facts = _gantry_module_facts_new (module, gantry_policy_is_approximate (policy));
  guint n = policy->statements->len;
  g_autofree Decision *decisions = g_new0 (Decision, facts->n + 1), *before = g_new (Decision, facts->n + 1);
  g_autofree Outcome *outcomes = g_new0 (Outcome, n + 1);
  g_autofree guint8 *chosen = g_new0 (guint8, facts->n + 1);
  g_autofree guint *n_decided = g_new0 (guint, n + 1);
  Application a = { policy, facts, decisions, outcomes, chosen, NULL };
  GantryPlacements *table;

  for (guint32 i = 0; i < facts->n; i++)
    decisions[i].statement = -1;
  keep_base (&a, base);
  for (guint s = 0; s < n; s++)
    apply_statement (&a, s, before);
  table = make_table (&a, n_decided);
  if (reports != NULL)
    *reports = make_reports (&a, n_decided);
  for (guint s = 0; s < n; s++)
    if (outcomes[s].more != NULL)
      g_string_free (outcomes[s].more, TRUE);
  gantry_placements_unref (a.base);
  return table;
}
