/* SPDX-License-Identifier: Apache-2.0 */
/* A module as statements see it: which values own their bytes, what they are, which names they go by, and what can be
 * computed again. One walk over the nodes. */
#include "core/graph/region.h"
#include "core/planner/policy/policy-private.h"
#include <string.h>

void
_gantry_module_facts_free (ModuleFacts *facts)
{
  if (facts == NULL)
    return;
  g_free (facts->owner);
  g_free (facts->subject);
  g_free (facts->returned);
  g_free (facts->constant);
  g_free (facts->source);
  g_free (facts->again);
  g_free (facts->first_name);
  g_free (facts->names);
  gantry_rounding_free (facts->rounding);
  gantry_module_unref (facts->module);
  g_free (facts);
}

static const char *
why_not_again (const GantryNode *node)
{
  const GantryOpInfo *info = gantry_op_info (node->op);

  if (info == NULL)
    return "what it does is not known";
  if (info->flags & GANTRY_OP_EFFECT)
    return "it has an effect, which must happen once";
  /* Random bits are a function of their state, which is an operand: computed again they are the same. */
  if (node->op == GANTRY_OP_CALL || node->op == GANTRY_OP_IF || node->op == GANTRY_OP_WHILE || node->op == GANTRY_OP_SCAN)
    return "control flow is computed again only where it is inlined or unrolled";
  return NULL;
}

const char *
_gantry_why_not_again (const ModuleFacts *facts, guint32 i)
{
  const GantryNode *node = facts_node (facts, i);
  const GantryFunction *body = gantry_node_fusion_body (facts->module, node);
  const char *why;

  if (facts->again[i])
    return NULL;
  if (facts_is_of_scan (facts, i))
    return facts_source (facts, i)->op == GANTRY_OP_PARAMETER
             ? "it is what a loop begins each trip with, from which everything else in it is computed again"
             : "what a loop computes is computed again by the loop that goes back over it, which cannot make this";
  why = why_not_again (node);
  for (guint32 k = 0; why == NULL && body != NULL && k < body->n_nodes; k++)
    why = why_not_again (&facts->module->nodes[body->first_node + k]);
  return why;
}

guint32
_gantry_facts_operand (const ModuleFacts *facts, const GantryNode *node, guint k)
{
  const GantryNode *operand = gantry_node_operand (facts->module, node, k);
  guint32 i = operand != NULL ? gantry_module_position (facts->module, operand) - facts->entry->first_node : G_MAXUINT32;

  return i < facts->n ? facts->owner[i] : G_MAXUINT32;
}

static void
find_constants (ModuleFacts *facts)
{
  for (guint32 i = 0; i < facts->n; i++)
    {
      const GantryNode *node = facts_node (facts, i);
      const GantryOpInfo *info = gantry_op_info (node->op);
      gboolean constant = node->op != GANTRY_OP_PARAMETER && info != NULL && (info->flags & (GANTRY_OP_EFFECT | GANTRY_OP_RANDOM)) == 0;

      for (guint k = 0; constant && k < node->n_operands; k++)
        {
          guint32 operand = _gantry_facts_operand (facts, node, k);

          constant = operand != G_MAXUINT32 && facts->constant[operand];
        }
      facts->constant[i] = constant;
    }
}

/* The names that @node gives, of which there are at most two. */
static guint
names_of (const GantryModule *module, guint32 position, ValueName *names)
{
  const GantryNode *node = &module->nodes[position];
  const GantryAttr *attr;
  guint n = 0;

  if (node->name != 0)
    names[n++] = (ValueName){ node->name, position, FALSE };
  if (node->op != GANTRY_OP_CHECKPOINT_NAME)
    return n;
  attr = gantry_attrs_find (module->context, node->attrs, "name");
  if (attr != NULL && attr->kind == GANTRY_ATTR_STRING)
    names[n++] = (ValueName){ attr->id, position, TRUE };
  return n;
}

/* What the node at @position calls value @owner. */
static void
add_names (ModuleFacts *facts, guint32 position, guint32 owner, GArray *owners, GArray *names)
{
  ValueName some[2] = { 0 };
  guint n = names_of (facts->module, position, some);

  g_array_append_vals (names, some, n);
  for (guint k = 0; k < n; k++)
    {
      g_array_append_val (owners, owner);
      facts->most_string = MAX (facts->most_string, some[k].name);
    }
}

/* Stack @i collects a value that the body of a scan makes: appends the names (ValueName) of that value, of its views and, where a fusion makes it,
 * of all nodes of the fusion to @names, and @i to @owners (guint32) once for each. */
static void
collect_names_of_stack (ModuleFacts *facts, guint32 i, GArray *owners, GArray *names)
{
  const GantryModule *module = facts->module;
  const GantryFunction *body = gantry_module_function_of (module, facts_source (facts, i)), *fused = gantry_node_fusion_body (module, facts_source (facts, i));
  g_autofree guint8 *shows = g_new0 (guint8, body->n_nodes + (gsize) 1);

  for (guint32 b = 0; b < body->n_nodes; b++)
    {
      const GantryNode *node = &module->nodes[body->first_node + b], *operand = gantry_node_operand (module, node, 0);

      shows[b] = body->first_node + b == facts->source[i]
                 || (operand != NULL && gantry_node_is_view (module, node) && shows[gantry_module_position (module, operand) - body->first_node]);
      if (shows[b])
        add_names (facts, body->first_node + b, i, owners, names);
    }
  for (guint32 b = 0; fused != NULL && b < fused->n_nodes; b++)
    add_names (facts, fused->first_node + b, i, owners, names);
}

/* Names of the value that node @i shows, those within the body of a fusion included. */
static void
collect_names (ModuleFacts *facts, guint32 i, GArray *owners, GArray *names)
{
  const GantryModule *module = facts->module;
  const GantryFunction *body = gantry_node_fusion_body (module, facts_node (facts, i));

  for (guint32 b = 0; b <= (body != NULL ? body->n_nodes : 0); b++)
    add_names (facts, b == 0 ? facts->entry->first_node + i : body->first_node + b - 1, facts->owner[i], owners, names);
  if (facts_is_stack (facts, i))
    collect_names_of_stack (facts, i, owners, names);
}

/* What a scan stacks is made by a node of its body, whatever it is called there. */
static void
find_sources (ModuleFacts *facts)
{
  const GantryModule *module = facts->module;

  for (guint32 i = 0; i < facts->n; i++)
    {
      const GantryNode *maker = facts_is_of_scan (facts, i) ? gantry_node_operand (module, facts_node (facts, i), 0) : NULL, *source = NULL;

      facts->source[i] = facts->entry->first_node + i;
      if (maker != NULL && maker->op == GANTRY_OP_SCAN)
        source = gantry_scan_stack_source (module, maker, (guint) gantry_attrs_int (module->context, facts_node (facts, i)->attrs, "index", 0));
      while (source != NULL && source->n_operands == 1 && gantry_node_is_view (module, source)
             && gantry_node_operand_type (module, source, 0)->kind == GANTRY_TYPE_TENSOR)
        source = gantry_node_operand (module, source, 0);
      if (source == NULL)
        continue;
      facts->source[i] = gantry_module_position (module, source);
      facts->again[i] = TRUE;
    }
}

/* A stack that is read otherwise than slice by slice, by loops that can make the slices again, cannot be. */
static void
find_again (ModuleFacts *facts)
{
  const GantryModule *module = facts->module;

  for (guint32 i = 0; i < facts->n; i++)
    {
      const GantryNode *node = facts_node (facts, i);
      g_autofree guint8 *without = node->op == GANTRY_OP_SCAN ? gantry_scan_find_does_without (module, node) : NULL;

      for (guint k = 0; k < node->n_operands && !gantry_node_is_view (module, node); k++)
        {
          guint32 o = _gantry_facts_operand (facts, node, k);

          if (o != G_MAXUINT32 && facts->again[o])
            facts->again[o] = without != NULL && gantry_node_operand (module, node, k) == facts_node (facts, o) && without[k];
        }
    }
  for (guint32 i = 0; i < facts->n; i++)
    facts->again[i] = facts->again[i] && !facts->returned[i];
}

/* By counting: the names of one value stand together. */
static void
find_names (ModuleFacts *facts)
{
  g_autoptr (GArray) owners = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) names = g_array_new (FALSE, FALSE, sizeof (ValueName));
  g_autofree guint32 *next = NULL;

  for (guint32 i = 0; i < facts->n; i++)
    collect_names (facts, i, owners, names);
  facts->first_name = g_new0 (guint32, facts->n + 2);
  facts->names = g_new (ValueName, names->len + 1);
  for (guint32 k = 0; k < owners->len; k++)
    facts->first_name[g_array_index (owners, guint32, k) + 1]++;
  for (guint32 i = 0; i < facts->n; i++)
    facts->first_name[i + 1] += facts->first_name[i];
  next = g_memdup2 (facts->first_name, (facts->n + 1) * sizeof (guint32));
  for (guint32 k = 0; k < owners->len; k++)
    facts->names[next[g_array_index (owners, guint32, k)]++] = g_array_index (names, ValueName, k);
}

ModuleFacts *
_gantry_module_facts_new (GantryModule *module, gboolean rounds)
{
  ModuleFacts *facts = g_new0 (ModuleFacts, 1);
  const GantryFunction *entry = gantry_module_entry (module);
  g_autofree guint32 *owners = gantry_placement_owners (module);
  g_autofree guint8 *subjects = gantry_placement_subjects (module);

  facts->module = gantry_module_ref (module);
  facts->entry = entry;
  facts->n = entry->n_nodes;
  facts->owner = g_new (guint32, facts->n + 1);
  facts->returned = g_new0 (guint8, facts->n + 1);
  facts->source = g_new (guint32, facts->n + 1);
  facts->again = g_new0 (guint8, facts->n + 1);
  facts->constant = g_new0 (guint8, facts->n + 1);
  for (guint32 i = 0; i < facts->n; i++)
    facts->owner[i] = owners[entry->first_node + i] - entry->first_node;
  facts->subject = g_memdup2 (subjects + entry->first_node, facts->n + 1);
  for (guint32 i = 0; i < module->n_nodes; i++)
    {
      facts->most_string = MAX (facts->most_string, module->nodes[i].scope);
      facts->most_op = MAX (facts->most_op, module->nodes[i].op);
    }
  for (guint32 r = 0; r < entry->n_results; r++)
    {
      const GantryNode *node = gantry_module_node (module, gantry_function_result_id (module, entry, r));
      guint32 i = node != NULL ? gantry_module_position (module, node) - entry->first_node : G_MAXUINT32;

      if (i < facts->n)
        facts->returned[facts->owner[i]] = TRUE;
    }
  find_constants (facts);
  find_sources (facts);
  find_again (facts);
  find_names (facts);
  if (rounds)
    {
      facts->rounding = gantry_rounding_new (module);
      gantry_rounding_find (facts->rounding, NULL, NULL);
    }
  return facts;
}

const char *
_gantry_facts_steps_in_loop (const ModuleFacts *facts)
{
  for (guint32 i = 0; i < facts->n; i++)
    {
      const GantryNode *node = facts_node (facts, i);
      const GantryFunction *body;
      gboolean phases[GANTRY_N_PHASES] = { FALSE };
      GantryScan scan;

      if (node->op != GANTRY_OP_SCAN)
        continue;
      gantry_scan_of (facts->module, node, &scan);
      body = gantry_module_function (facts->module, scan.body);
      for (guint32 k = body->n_params; k < body->n_nodes; k++)
        phases[MIN (facts->module->nodes[body->first_node + k].phase, GANTRY_N_PHASES - 1)] = TRUE;
      if (node->phase == GANTRY_PHASE_FORWARD && phases[GANTRY_PHASE_FORWARD] && phases[GANTRY_PHASE_BACKWARD])
        return gantry_context_string (facts->module->context, node->scope);
    }
  return NULL;
}
