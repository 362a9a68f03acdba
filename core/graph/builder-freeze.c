/* SPDX-License-Identifier: Apache-2.0 */
/* Freezing: the functions that were written become a module. */
#include "core/graph/builder-private.h"
#include <string.h>

static void
freeze_nodes (GantryModule *module, const GantryNode *nodes, guint n)
{
  if (n > 0)
    memcpy (module->nodes + module->n_nodes, nodes, n * sizeof (GantryNode));
  module->n_nodes += n;
}

static void
freeze_draft (GantryModule *module, const GantryDraft *draft)
{
  const GantryNode *nodes = (const GantryNode *) (gpointer) draft->nodes->data;
  GantryFunction *function = &module->functions[module->n_functions++];

  *function = draft->head;
  function->first_node = module->n_nodes;
  function->n_nodes = draft->nodes->len + draft->captures->len;
  function->n_params += draft->captures->len;
  freeze_nodes (module, nodes, draft->head.n_params);
  freeze_nodes (module, (const GantryNode *) (gpointer) draft->captures->data, draft->captures->len);
  if (draft->nodes->len > draft->head.n_params) /* a function without nodes has no array */
    freeze_nodes (module, nodes + draft->head.n_params, draft->nodes->len - draft->head.n_params);
}

static void
freeze_functions (GantryBuilder *builder, GantryModule *module)
{
  guint32 total = 0;

  module->functions = g_new0 (GantryFunction, MAX (builder->drafts->len, 1));
  for (guint i = 0; i < builder->drafts->len; i++)
    {
      const GantryDraft *draft = g_ptr_array_index (builder->drafts, i);

      total += draft->nodes->len + draft->captures->len;
    }
  module->nodes = g_new (GantryNode, MAX (total, 1));
  for (guint i = 0; i < builder->drafts->len; i++)
    {
      const GantryDraft *draft = g_ptr_array_index (builder->drafts, i);

      if (!draft->dropped)
        freeze_draft (module, draft);
    }
}

static int
compare_function_ids (gconstpointer a, gconstpointer b, gpointer functions)
{
  guint32 x = ((const GantryFunction *) functions)[*(const guint32 *) a].id;
  guint32 y = ((const GantryFunction *) functions)[*(const guint32 *) b].id;

  return x < y ? -1 : x > y;
}

static void
freeze_index (GantryModule *module)
{
  guint32 last = 0;

  module->by_id = g_new (guint32, module->n_functions);
  for (guint32 i = 0; i < module->n_functions; i++)
    module->by_id[i] = i;
  g_qsort_with_data (module->by_id, (gint) module->n_functions, sizeof (guint32), compare_function_ids, module->functions);
  for (guint32 i = 0; i < module->n_nodes; i++)
    last = MAX (last, module->nodes[i].id);
  module->n_index = last + 1;
  module->index = g_new0 (guint32, module->n_index);
  for (guint32 i = 0; i < module->n_nodes; i++)
    module->index[module->nodes[i].id] = i + 1;
}

static guint32 *
freeze_ids (GArray *ids, guint32 *n)
{
  *n = ids->len;
  return g_memdup2 (ids->data, MAX (ids->len, 1) * sizeof (guint32));
}

GantryModule *
gantry_builder_finish (GantryBuilder *builder, GError **error)
{
  GantryModule *module;

  if (!gantry_builder_check (builder, error))
    return NULL;
  if (builder->open->len > 0 || builder->drafts->len == 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "a module has to have a function, and all of them ended");
      return NULL;
    }
  module = g_new0 (GantryModule, 1);
  g_atomic_ref_count_init (&module->ref_count);
  module->context = gantry_context_ref (builder->context);
  module->name = builder->name;
  freeze_functions (builder, module);
  freeze_index (module);
  if (builder->operands->len == 0)
    module->operands = g_new0 (guint32, 1);
  else
    module->operands = freeze_ids (builder->operands, &module->n_operands);
  module->origins = builder->origins->len > 0 ? freeze_ids (builder->origins, &module->n_origins) : g_new0 (guint32, 1);
  _gantry_builder_reset (builder);
  return module;
}
