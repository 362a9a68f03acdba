/* SPDX-License-Identifier: Apache-2.0 */
/* The table of placements, sorted by node, and what kind of value a node of a training step is. */
#include "core/ir/placement.h"
#include "core/ir/operation.h"
#include <string.h>

GantryPlacements *
gantry_placements_new (void)
{
  GantryPlacements *placements = g_new0 (GantryPlacements, 1);

  g_atomic_ref_count_init (&placements->ref_count);
  placements->entries = g_array_new (FALSE, TRUE, sizeof (GantryPlacement));
  return placements;
}

GantryPlacements *
gantry_placements_copy (const GantryPlacements *placements)
{
  GantryPlacements *copy = gantry_placements_new ();

  g_array_append_vals (copy->entries, placements->entries->data, placements->entries->len);
  return copy;
}

GantryPlacements *
gantry_placements_ref (GantryPlacements *placements)
{
  g_atomic_ref_count_inc (&placements->ref_count);
  return placements;
}

void
gantry_placements_unref (GantryPlacements *placements)
{
  if (placements == NULL || !g_atomic_ref_count_dec (&placements->ref_count))
    return;
  g_array_unref (placements->entries);
  g_free (placements);
}

/* Index of the first entry whose node is not below @node. */
static guint
lower_bound (const GantryPlacements *placements, guint32 node)
{
  guint low = 0, high = placements->entries->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (g_array_index (placements->entries, GantryPlacement, middle).node < node)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

const GantryPlacement *
gantry_placements_find (const GantryPlacements *placements, guint32 node)
{
  guint at = lower_bound (placements, node);
  const GantryPlacement *entry = at < placements->entries->len
                                   ? &g_array_index (placements->entries, GantryPlacement, at)
                                   : NULL;

  return entry != NULL && entry->node == node ? entry : NULL;
}

GantryPlacementKind
gantry_placements_kind (const GantryPlacements *placements, guint32 node)
{
  const GantryPlacement *entry = gantry_placements_find (placements, node);

  return entry != NULL ? (GantryPlacementKind) entry->kind : GANTRY_PLACEMENT_KEEP;
}

void
gantry_placements_set (GantryPlacements *placements, const GantryPlacement *placement)
{
  GArray *entries = placements->entries;
  guint at = entries->len;

  if (at > 0 && g_array_index (entries, GantryPlacement, at - 1).node >= placement->node)
    at = lower_bound (placements, placement->node);
  if (at < entries->len && g_array_index (entries, GantryPlacement, at).node == placement->node)
    g_array_index (entries, GantryPlacement, at) = *placement;
  else
    g_array_insert_val (entries, at, *placement);
}

gboolean
gantry_placements_equal (const GantryPlacements *a, const GantryPlacements *b)
{
  return a->entries->len == b->entries->len
         && (a->entries->len == 0
             || memcmp (a->entries->data, b->entries->data, a->entries->len * sizeof (GantryPlacement)) == 0);
}

/* Subjects */

GantryPlacementSubject
gantry_parameter_role (const GantryModule *module, const GantryNode *parameter)
{
  const char *role = gantry_attrs_string (module->context, parameter->attrs, "role", "input");

  return strcmp (role, "parameter") == 0 ? GANTRY_SUBJECT_PARAMETER
         : strcmp (role, "state") == 0   ? GANTRY_SUBJECT_STATE
                                         : GANTRY_SUBJECT_INPUT;
}

gint
gantry_parameter_alias (const GantryModule *module, const GantryNode *parameter)
{
  gint64 alias = gantry_attrs_int (module->context, parameter->attrs, "alias", -1);

  return alias >= 0 && alias < gantry_module_entry (module)->n_results ? (gint) alias : -1;
}

gboolean
gantry_module_is_training (const GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);

  for (guint32 i = 0; i < entry->n_nodes; i++)
    if (module->nodes[entry->first_node + i].phase != GANTRY_PHASE_FORWARD)
      return TRUE;
  return FALSE;
}

GantryPlacementSubject
gantry_placement_subject (const GantryModule *module, const GantryUses *uses, guint32 id)
{
  const GantryFunction *entry = gantry_module_entry (module);
  const GantryNode *node = gantry_module_node (module, id);
  guint32 position;
  gboolean returned = FALSE;

  if (node == NULL || node < module->nodes + entry->first_node
      || node >= module->nodes + entry->first_node + entry->n_nodes || node->op == GANTRY_OP_CONSTANT)
    return GANTRY_SUBJECT_NONE;
  if (node->op == GANTRY_OP_PARAMETER)
    return gantry_parameter_role (module, node);
  position = gantry_module_position (module, node);
  for (guint32 u = uses->first[position]; u < uses->first[position + 1]; u++)
    {
      guint32 user = uses->users[u];

      if (user == G_MAXUINT32)
        returned = TRUE;
      else if (node->phase == GANTRY_PHASE_FORWARD && module->nodes[user].phase != GANTRY_PHASE_FORWARD)
        return GANTRY_SUBJECT_RESIDUAL;
    }
  return returned ? GANTRY_SUBJECT_OUTPUT : GANTRY_SUBJECT_NONE;
}

guint8 *
gantry_placement_subjects (const GantryModule *module)
{
  g_autoptr (GantryUses) uses = gantry_uses_new (module);
  guint8 *subjects = g_malloc (MAX (module->n_nodes, 1));

  for (guint32 i = 0; i < module->n_nodes; i++)
    subjects[i] = gantry_placement_subject (module, uses, module->nodes[i].id);
  return subjects;
}

/* Names */

const char *
gantry_placement_kind_name (GantryPlacementKind kind)
{
  static const char *const names[GANTRY_N_PLACEMENTS] = { "keep", "recompute", "offload" };

  g_return_val_if_fail ((guint) kind < G_N_ELEMENTS (names), "keep");
  return names[kind];
}

const char *
gantry_placement_subject_name (GantryPlacementSubject subject)
{
  static const char *const names[] = { "residual", "parameter", "state", "input", "output", "none" };

  g_return_val_if_fail ((guint) subject < G_N_ELEMENTS (names), "none");
  return names[subject];
}

const char *
gantry_decider_name (GantryDecider decider)
{
  static const char *const names[] = { "default", "program", "policy", "rule", "click", "solver" };

  g_return_val_if_fail ((guint) decider < G_N_ELEMENTS (names), "default");
  return names[decider];
}
