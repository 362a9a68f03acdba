/* SPDX-License-Identifier: Apache-2.0 */
/* What holds for a module. */
#include "core/passes/properties.h"
#include "core/base/error.h"
#include "core/graph/operation.h"
#include "core/passes/passes.h"

/* In the order of their bits. */
static const struct
{
  GantryProperties property;
  const char *text;
  const GantryPass *giver; /* NULL: read off the module */
} properties[] = {
  { GANTRY_PROPERTY_CORE, "core operations only", NULL },
  { GANTRY_PROPERTY_LIVE, "no dead nodes", &gantry_pass_dce },
  { GANTRY_PROPERTY_UNIQUE, "no common subexpressions", &gantry_pass_cse },
  { GANTRY_PROPERTY_FUSED, "fused", &gantry_pass_fuse },
};

GantryProperties
gantry_properties_after (GantryProperties held, const GantryPass *pass, gboolean changed)
{
  return (changed ? held & pass->keeps : held) | pass->gives;
}

static gboolean
is_core (const GantryModule *module, GError **error)
{
  for (guint32 i = 0; i < module->n_nodes; i++)
    if (gantry_op_info (module->nodes[i].op) == NULL)
      {
        g_autofree char *label = gantry_node_label (module, &module->nodes[i]);

        g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "'%s' (%s) is no core operation", label, gantry_node_op_name (module, &module->nodes[i]));
        return FALSE;
      }
  return TRUE;
}

static gboolean
has_nothing_to_do (const GantryPass *pass, GantryModule *module, GError **error)
{
  const GantryPassOptions options = GANTRY_PASS_OPTIONS_INIT;
  g_autoptr (GantryModule) after = pass->run (module, &options, NULL, error);

  if (after == NULL || after == module)
    return after != NULL;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the pass '%s' changes it: %u nodes become %u", pass->name, module->n_nodes, after->n_nodes);
  return FALSE;
}

gboolean
gantry_properties_hold (GantryModule *module, GantryProperties asked, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (properties); i++)
    if ((asked & properties[i].property) != 0
        && !(properties[i].giver == NULL ? is_core (module, error) : has_nothing_to_do (properties[i].giver, module, error)))
      return FALSE;
  return TRUE;
}

char *
gantry_properties_to_text (GantryProperties held)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++)
    if (held & properties[i].property)
      g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", properties[i].text);
  if (text->len == 0)
    g_string_append (text, "nothing");
  return g_string_free (text, FALSE);
}
