/* SPDX-License-Identifier: Apache-2.0 */
/* From one snapshot to the next: a map from old to new ids around a builder. */
#include "core/graph/rewriter.h"

struct _GantryRewriter
{
  GantryModule *source;
  GantryBuilder *builder;
  guint32 *map;     /* by old id: new id; 0 not visited yet */
  guint8 *erased;   /* by old id */
  GArray *operands; /* scratch */
};

GantryRewriter *
gantry_rewriter_new (GantryModule *source)
{
  GantryRewriter *rewriter = g_new0 (GantryRewriter, 1);

  rewriter->source = gantry_module_ref (source);
  rewriter->builder = gantry_builder_new (source->context, gantry_context_string (source->context, source->name));
  rewriter->map = g_new0 (guint32, source->n_index);
  rewriter->erased = g_new0 (guint8, source->n_index);
  rewriter->operands = g_array_new (FALSE, FALSE, sizeof (guint32));
  return rewriter;
}

void
gantry_rewriter_free (GantryRewriter *rewriter)
{
  if (rewriter == NULL)
    return;
  gantry_module_unref (rewriter->source);
  gantry_builder_free (rewriter->builder);
  g_free (rewriter->map);
  g_free (rewriter->erased);
  g_array_unref (rewriter->operands);
  g_free (rewriter);
}

GantryBuilder *
gantry_rewriter_builder (GantryRewriter *rewriter)
{
  return rewriter->builder;
}

guint32
gantry_rewriter_map (GantryRewriter *rewriter, guint32 old_id)
{
  if (old_id == 0)
    return 0;
  g_return_val_if_fail (old_id < rewriter->source->n_index, 0);
  if (rewriter->erased[old_id])
    gantry_builder_fail (rewriter->builder, GANTRY_ERROR_FAILED, "node %%%u was erased but is still used", old_id);
  else if (rewriter->map[old_id] == 0)
    gantry_builder_fail (rewriter->builder, GANTRY_ERROR_INVALID, "node %%%u is used before it is defined", old_id);
  return rewriter->map[old_id];
}

guint32
gantry_rewriter_keep (GantryRewriter *rewriter, const GantryNode *node)
{
  GantryNode copy = *node;
  guint32 id;

  g_array_set_size (rewriter->operands, 0);
  for (guint i = 0; i < node->n_operands; i++)
    {
      id = gantry_rewriter_map (rewriter, gantry_node_operand_id (rewriter->source, node, i));
      g_array_append_val (rewriter->operands, id);
    }
  copy.n_origins = 0; /* it is the same node */
  id = gantry_builder_add_node (rewriter->builder, &copy, (const guint32 *) (gpointer) rewriter->operands->data, NULL);
  rewriter->map[node->id] = id;
  return id;
}

void
gantry_rewriter_replace (GantryRewriter *rewriter, const GantryNode *node, guint32 new_id)
{
  rewriter->map[node->id] = new_id;
}

void
gantry_rewriter_erase (GantryRewriter *rewriter, const GantryNode *node)
{
  rewriter->erased[node->id] = 1;
}

gboolean
gantry_rewriter_run_function (GantryRewriter *rewriter, const GantryFunction *function, GantryVisitFunc visit, gpointer user_data,
                              const GantryProgress *progress, GError **error)
{
  const GantryModule *source = rewriter->source;
  g_autofree guint32 *results = g_new0 (guint32, function->n_results + 1);

  gantry_builder_begin (rewriter->builder, gantry_context_string (source->context, function->name), function->id);
  for (guint32 i = 0; i < function->n_nodes; i++)
    {
      const GantryNode *node = &source->nodes[function->first_node + i];

      if ((i & 1023) == 0 && gantry_progress_cancelled (progress, error))
        return FALSE;
      if (i < function->n_params)
        {
          gantry_rewriter_keep (rewriter, node);
          continue;
        }
      gantry_builder_set_place_of (rewriter->builder, node);
      gantry_builder_set_origins (rewriter->builder, &node->id, 1);
      if (!visit (rewriter, source, node, user_data, error) || !gantry_builder_check (rewriter->builder, error))
        {
          g_autofree char *where = gantry_context_location_text (source->context, node->location);

          gantry_error_prefix (error, "%s: ", where);
          return FALSE;
        }
    }
  for (guint i = 0; i < function->n_results; i++)
    results[i] = gantry_rewriter_map (rewriter, gantry_function_result_id (source, function, i));
  gantry_builder_end (rewriter->builder, results, function->n_results);
  return gantry_builder_check (rewriter->builder, error);
}

gboolean
gantry_rewriter_run (GantryRewriter *rewriter, GantryVisitFunc visit, gpointer user_data, const GantryProgress *progress, GError **error)
{
  for (guint i = 0; i < rewriter->source->n_functions; i++)
    if (!gantry_rewriter_run_function (rewriter, &rewriter->source->functions[i], visit, user_data, progress, error))
      return FALSE;
  return TRUE;
}

/* The replacements, in order of the old id: what lets a view follow a node that is gone. */
static void
note_replaced (const GantryRewriter *rewriter, GantryModule *module)
{
  GArray *pairs = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint32 id = 1; id < rewriter->source->n_index; id++)
    if (rewriter->map[id] != 0 && rewriter->map[id] != id)
      {
        g_array_append_val (pairs, id);
        g_array_append_val (pairs, rewriter->map[id]);
      }
  module->n_replaced = pairs->len / 2;
  module->replaced = (guint32 *) (gpointer) g_array_free (pairs, FALSE);
}

GantryModule *
gantry_rewriter_finish (GantryRewriter *rewriter, GError **error)
{
  GantryModule *module = gantry_builder_finish (rewriter->builder, error);

  if (module != NULL)
    note_replaced (rewriter, module);
  return module;
}
