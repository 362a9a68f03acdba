/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the bodies of loops that make again what others saved: the backward one with copies of the forward one's nodes, the forward one
 * with further stacks, and their scans with what those take and give. */
#include "core/passes/rematerialize-private.h"
#include <string.h>

static void
add_parameter (const GantryRematerialize *state, GantryLoopPair *pair, GantryBuilder *b, const GantryAdded *added)
{
  const GantryNode *source = _gantry_loop_node (state->module, pair->from, added->source);

  gantry_builder_set_origins (b, &source->id, 1);
  pair->value[added->source] = gantry_builder_parameter (b, source->type,
                                                         source->name != 0 ? gantry_context_string (state->module->context, source->name) : NULL);
}

static void
write_parameters (const GantryRematerialize *state, GantryLoopPair *pair, GantryRewriter *rewriter)
{
  GantryBuilder *b = gantry_rewriter_builder (rewriter);
  guint32 n_walked = pair->back.n_carries + pair->back.n_xs;

  for (guint32 i = 0; i <= pair->to->n_params; i++)
    {
      for (guint k = 0; i == n_walked && k < pair->xs->len; k++)
        add_parameter (state, pair, b, &g_array_index (pair->xs, GantryAdded, k));
      if (i < pair->to->n_params)
        gantry_rewriter_keep (rewriter, _gantry_loop_node (state->module, pair->to, i));
    }
  for (guint k = 0; k < pair->captures->len; k++)
    add_parameter (state, pair, b, &g_array_index (pair->captures, GantryAdded, k));
  for (guint32 i = 0; i < pair->from->n_params; i++)
    if (pair->slot[i] != NOWHERE)
      pair->value[i] = _gantry_loop_node (state->module, pair->to, pair->slot[i])->id;
}

/* Node @i of the forward body, whose operands are there. Where it was saved: the choice between both. */
static void
copy_node (const GantryRematerialize *state, GantryLoopPair *pair, GantryBuilder *b, guint32 i)
{
  const GantryModule *module = state->module;
  const GantryNode *node = _gantry_loop_node (module, pair->from, i);
  g_autofree guint32 *operands = g_new (guint32, node->n_operands + 1u);

  for (guint k = 0; k < node->n_operands; k++)
    operands[k] = pair->value[_gantry_loop_index (module, pair->from, gantry_node_operand_id (module, node, k))];
  gantry_builder_set_place (b, node->scope, node->location);
  gantry_builder_set_phase (b, (GantryPhase) pair->backward->phase);
  gantry_builder_set_origins (b, &node->id, 1);
  gantry_builder_set_name (b, node->name);
  pair->value[i] = gantry_builder_add_typed (b, node->op, operands, node->n_operands, node->attrs, node->type);
  if (pair->slot[i] == NOWHERE)
    return;
  operands = g_renew (guint32, operands, 2);
  operands[0] = _gantry_loop_node (module, pair->to, pair->slot[i])->id;
  operands[1] = pair->value[i];
  pair->value[i] = gantry_builder_add_typed (b, GANTRY_OP_REMATERIALIZE, operands, 2, 0, node->type);
}

/* Node @i of the forward body, and before it all that it is made by and is not there yet. */
static void
copy_chain (const GantryRematerialize *state, GantryLoopPair *pair, GantryBuilder *b, guint32 i)
{
  const GantryModule *module = state->module;
  g_autofree guint8 *wanted = g_new0 (guint8, i + (gsize) 1);

  wanted[i] = TRUE;
  for (guint32 k = i + 1; k-- > 0;)
    {
      const GantryNode *node = _gantry_loop_node (module, pair->from, k);

      if (!wanted[k] || pair->value[k] != 0)
        continue;
      for (guint o = 0; pair->copied[k] && o < node->n_operands; o++)
        wanted[_gantry_loop_index (module, pair->from, gantry_node_operand_id (module, node, o))] = TRUE;
    }
  for (guint32 k = 0; k <= i; k++)
    if (wanted[k] && pair->value[k] == 0 && pair->copied[k])
      copy_node (state, pair, b, k);
    else if (wanted[k] && pair->value[k] == 0) /* cannot be made again: it is what was saved */
      pair->value[k] = _gantry_loop_node (module, pair->to, pair->slot[k])->id;
}

/* The values of the forward body that @node reads slices of. What reads a slice from here on reads the choice. */
static void
write_operands (const GantryRematerialize *state, GantryLoopPair *pair, GantryRewriter *rewriter, const GantryNode *node)
{
  for (guint k = 0; k < node->n_operands; k++)
    {
      guint32 slot = _gantry_loop_index (state->module, pair->to, gantry_node_operand_id (state->module, node, k));
      guint32 i = slot < pair->to->n_params ? pair->saved[slot] : NOWHERE;

      if (i == NOWHERE || !pair->copied[i])
        continue;
      if (pair->value[i] == 0)
        copy_chain (state, pair, gantry_rewriter_builder (rewriter), i);
      gantry_rewriter_replace (rewriter, _gantry_loop_node (state->module, pair->to, slot), pair->value[i]);
    }
}

/* @more: (nullable): of those that are added, else they are walked along dimension 0 */
static guint32
with_axes (GantryAttrList *list, const char *key, const gint64 *values, gsize n, const GArray *more, guint n_more)
{
  g_autofree gint64 *all = g_new0 (gint64, n + n_more + 1);

  if (n > 0)
    memcpy (all, values, n * sizeof *all);
  for (guint i = 0; more != NULL && i < n_more; i++)
    all[n + i] = g_array_index (more, GantryAdded, i).axis;
  gantry_attr_list_set_ints (list, key, all, n + n_more);
  return gantry_attr_list_end (list);
}

static void
write_changed (GantryRewriter *rewriter, const GantryNode *node, const GantryNode *changed, const GArray *operands)
{
  const guint32 *ids = (const guint32 *) (gpointer) operands->data;

  gantry_rewriter_replace (rewriter, node, gantry_builder_add_node (gantry_rewriter_builder (rewriter), changed, ids, NULL));
}

/* The forward scan with further stacks. */
static void
write_forward (const GantryRematerialize *state, GantryRewriter *rewriter, const GantryNode *node, const GArray *saved)
{
  const GantryModule *module = state->module;
  GantryContext *context = module->context;
  const GantryType *type = gantry_node_type (module, node);
  g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (guint32)), operands = g_array_new (FALSE, FALSE, sizeof (guint32));
  GantryAttrList *attrs = gantry_attr_list_new (context);
  GantryNode changed = *node;
  const GantryFunction *body;
  GantryScan scan;

  gantry_scan_of (module, node, &scan);
  body = gantry_module_function (module, scan.body);
  for (guint i = 0; i < type->rank; i++)
    {
      guint32 member = (guint32) type->dims[i];

      g_array_append_val (members, member);
    }
  for (guint i = 0; i < saved->len; i++)
    {
      const GantryType *slice = gantry_node_type (module, _gantry_loop_node (module, body, g_array_index (saved, guint32, i)));
      GantryDim dims[GANTRY_MAX_RANK] = { scan.length };
      guint32 member;

      memcpy (dims + 1, slice->dims, slice->rank * sizeof *dims);
      member = gantry_context_tensor (context, slice->element, slice->rank + 1, dims);
      g_array_append_val (members, member);
    }
  for (guint i = 0; i < node->n_operands; i++)
    {
      guint32 operand = gantry_rewriter_map (rewriter, gantry_node_operand_id (module, node, i));

      g_array_append_val (operands, operand);
    }
  gantry_attr_list_set_all (attrs, node->attrs);
  changed.attrs = with_axes (attrs, "y_axes", scan.y_axes, scan.n_ys, NULL, saved->len);
  changed.type = gantry_context_tuple (context, members->len, (const guint32 *) (gpointer) members->data);
  changed.n_origins = 0;
  write_changed (rewriter, node, &changed, operands);
}

static void
append_added (const GantryLoopPair *pair, GantryRewriter *rewriter, const GArray *list, GArray *operands)
{
  GantryBuilder *b = gantry_rewriter_builder (rewriter);

  for (guint i = 0; i < list->len; i++)
    {
      const GantryAdded *added = &g_array_index (list, GantryAdded, i);
      guint32 id = added->operand;

      if (added->source >= pair->scan.n_carries)
        id = gantry_rewriter_map (rewriter, id);
      else
        {
          gantry_builder_set_place_of (b, pair->forward);
          gantry_builder_set_origins (b, &pair->forward->id, 1);
          id = gantry_builder_result (b, gantry_rewriter_map (rewriter, pair->forward->id), added->result);
        }
      g_array_append_val (operands, id);
    }
}

/* The backward scan with what its body needs to make slices again. */
static void
write_backward (const GantryRematerialize *state, const GantryLoopPair *pair, GantryRewriter *rewriter)
{
  const GantryModule *module = state->module;
  const GantryNode *node = pair->backward;
  g_autoptr (GArray) operands = g_array_new (FALSE, FALSE, sizeof (guint32));
  GantryAttrList *attrs = gantry_attr_list_new (module->context);
  guint n_walked = pair->back.n_carries + pair->back.n_xs;
  GantryNode changed = *node;

  for (guint i = 0; i <= node->n_operands; i++)
    {
      guint32 id;

      if (i == n_walked)
        append_added (pair, rewriter, pair->xs, operands);
      if (i == node->n_operands)
        break;
      id = gantry_rewriter_map (rewriter, gantry_node_operand_id (module, node, i));
      g_array_append_val (operands, id);
    }
  append_added (pair, rewriter, pair->captures, operands);
  gantry_attr_list_set_all (attrs, node->attrs);
  gantry_attr_list_set_int (attrs, "n_xs", pair->back.n_xs + pair->xs->len);
  changed.attrs = with_axes (attrs, "axes", pair->back.axes, pair->back.n_xs, pair->xs, pair->xs->len);
  changed.n_operands = operands->len & GANTRY_MOST_OPERANDS;
  changed.n_origins = 0;
  write_changed (rewriter, node, &changed, operands);
}

static gboolean
visit (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, gpointer user_data, GError **error)
{
  const GantryRematerialize *state = user_data;
  const GantryLoopPair *pair = g_hash_table_lookup (state->pairs, node);
  const GArray *saved = g_hash_table_lookup (state->saved, node);

  if (pair != NULL)
    write_backward (state, pair, rewriter);
  else if (saved != NULL)
    write_forward (state, rewriter, node, saved);
  else
    gantry_rewriter_keep (rewriter, node);
  return TRUE;
}

static gboolean
write_body (const GantryRematerialize *state, GantryLoopPair *pair, GantryRewriter *rewriter, GError **error)
{
  const GantryModule *module = state->module;
  GantryBuilder *b = gantry_rewriter_builder (rewriter);
  g_autofree guint32 *results = g_new0 (guint32, pair->to->n_results + (gsize) 1);

  gantry_builder_begin (b, gantry_context_string (module->context, pair->to->name), pair->to->id);
  write_parameters (state, pair, rewriter);
  for (guint32 i = pair->to->n_params; i < pair->to->n_nodes; i++)
    {
      const GantryNode *node = _gantry_loop_node (module, pair->to, i);

      write_operands (state, pair, rewriter, node);
      gantry_builder_set_place_of (b, node);
      gantry_builder_set_origins (b, &node->id, 1);
      visit (rewriter, module, node, (gpointer) state, NULL);
    }
  for (guint i = 0; i < pair->to->n_results; i++)
    results[i] = gantry_rewriter_map (rewriter, gantry_function_result_id (module, pair->to, i));
  gantry_builder_end (b, results, pair->to->n_results);
  return gantry_builder_check (b, error);
}

/* The body of a forward scan, which returns carries that it was given. */
static gboolean
write_saving (GantryRematerialize *state, GantryRewriter *rewriter, const GantryFunction *function, const GArray *saved, GError **error)
{
  const GantryModule *module = state->module;
  GantryBuilder *b = gantry_rewriter_builder (rewriter);
  g_autofree guint32 *results = g_new0 (guint32, function->n_results + saved->len + (gsize) 1);

  gantry_builder_begin (b, gantry_context_string (module->context, function->name), function->id);
  for (guint32 i = 0; i < function->n_nodes; i++)
    {
      const GantryNode *node = _gantry_loop_node (module, function, i);

      gantry_builder_set_place_of (b, node);
      gantry_builder_set_origins (b, &node->id, 1);
      if (i < function->n_params)
        gantry_rewriter_keep (rewriter, node);
      else if (!visit (rewriter, module, node, state, error))
        return FALSE;
    }
  for (guint i = 0; i < function->n_results; i++)
    results[i] = gantry_rewriter_map (rewriter, gantry_function_result_id (module, function, i));
  for (guint i = 0; i < saved->len; i++)
    results[function->n_results + i] = gantry_rewriter_map (rewriter, _gantry_loop_node (module, function, g_array_index (saved, guint32, i))->id);
  gantry_builder_end (b, results, function->n_results + saved->len);
  return gantry_builder_check (b, error);
}

static const GArray *
saved_by (const GantryRematerialize *state, const GantryFunction *function)
{
  GHashTableIter iter;
  gpointer node, saved;

  g_hash_table_iter_init (&iter, state->saved);
  while (g_hash_table_iter_next (&iter, &node, &saved))
    {
      GantryScan scan;

      gantry_scan_of (state->module, node, &scan);
      if (scan.body == function->id)
        return saved;
    }
  return NULL;
}

GantryModule *
_gantry_rematerialize_write (GantryRematerialize *state, const GantryProgress *progress, GError **error)
{
  const GantryModule *module = state->module;
  g_autoptr (GantryRewriter) rewriter = gantry_rewriter_new ((GantryModule *) module);

  for (guint i = 0; i < module->n_functions; i++)
    {
      const GantryFunction *function = &module->functions[i];
      GantryLoopPair *pair = g_hash_table_lookup (state->bodies, function);
      const GArray *saved = pair == NULL ? saved_by (state, function) : NULL;

      if (!(pair != NULL    ? write_body (state, pair, rewriter, error)
            : saved != NULL ? write_saving (state, rewriter, function, saved, error)
                            : gantry_rewriter_run_function (rewriter, function, visit, state, progress, error)))
        return NULL;
    }
  return gantry_rewriter_finish (rewriter, error);
}
