/* SPDX-License-Identifier: Apache-2.0 */
/* What a node is called in a sentence. */
#include "core/graph/node-text.h"

char *
gantry_node_text (const GantryModule *module, guint32 id)
{
  const GantryNode *node = gantry_module_node (module, id);
  g_autofree char *label = node != NULL ? gantry_node_label (module, node) : NULL;

  if (id == 0)
    return g_strdup ("the end");
  return node == NULL ? g_strdup_printf ("%%%u", id) : g_strdup_printf ("%%%u %s '%s'", id, gantry_node_op_name (module, node), label);
}

char *
gantry_node_until_text (const GantryModule *module, guint32 id, gboolean is_argument)
{
  return id == 0 && is_argument ? g_strdup ("the end (argument)") : gantry_node_text (module, id);
}
