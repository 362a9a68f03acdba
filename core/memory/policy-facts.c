/* SPDX-License-Identifier: Apache-2.0 */
/* A module as statements see it: which values own their bytes, what they are, which names they go by, and what can be
 * computed again. One walk over the nodes. */
#include "core/memory/policy-private.h"
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
  g_free (facts->first_name);
  g_free (facts->names);
  gantry_module_unref (facts->module);
  g_free (facts);
}

const GantryFunction *
_gantry_fusion_body (const GantryModule *module, const GantryNode *node)
{
  const GantryAttr *body = node->op == GANTRY_OP_FUSION ? gantry_attrs_find (module->context, node->attrs, "body") : NULL;

  return body != NULL && body->kind == GANTRY_ATTR_FUNCTION ? gantry_module_function (module, body->id) : NULL;
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
_gantry_why_not_again (const GantryModule *module, const GantryNode *node)
{
  const GantryFunction *body = _gantry_fusion_body (module, node);
  const char *why = why_not_again (node);

  for (guint32 i = 0; why == NULL && body != NULL && i < body->n_nodes; i++)
    why = why_not_again (&module->nodes[body->first_node + i]);
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
      gboolean constant = node->op != GANTRY_OP_PARAMETER && info != NULL
                          && (info->flags & (GANTRY_OP_EFFECT | GANTRY_OP_RANDOM)) == 0;

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
    names[n++] = (ValueName) { node->name, position, FALSE };
  if (node->op != GANTRY_OP_CHECKPOINT_NAME)
    return n;
  attr = gantry_attrs_find (module->context, node->attrs, "name");
  if (attr != NULL && attr->kind == GANTRY_ATTR_STRING)
    names[n++] = (ValueName) { attr->id, position, TRUE };
  return n;
}

/* Names of the value that node @i shows, those within the body of a fusion included. */
static void
collect_names (ModuleFacts *facts, guint32 i, GArray *owners, GArray *names)
{
  const GantryModule *module = facts->module;
  const GantryFunction *body = _gantry_fusion_body (module, facts_node (facts, i));
  ValueName some[2];

  for (guint32 b = 0; b <= (body != NULL ? body->n_nodes : 0); b++)
    {
      guint n = names_of (module, b == 0 ? facts->entry->first_node + i : body->first_node + b - 1, some);

      g_array_append_vals (names, some, n);
      for (guint k = 0; k < n; k++)
        {
          g_array_append_val (owners, facts->owner[i]);
          facts->most_string = MAX (facts->most_string, some[k].name);
        }
    }
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
_gantry_module_facts_new (GantryModule *module)
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
  find_names (facts);
  return facts;
}
