/* SPDX-License-Identifier: Apache-2.0 */
/* rematerialize: lets a loop that walks back over another one make again what that saved. A scan of the backward phase reads the stacks
 * that a scan of the forward phase made; its body gets a copy of the nodes that each slice was made by, from the carries, slices and
 * captures of the forward trip, and reads a slice through `rematerialize`, which is either what was saved or what was made again. A plan
 * decides that for each stack by itself, so nothing is computed twice unless a placement says so; carries that had not been saved become
 * further stacks, which exist where something is made again from them. The copies are the nodes of the forward body as they are, so that
 * they have its kernels and give its bits. */
#include "core/graph/region.h"
#include "core/passes/passes.h"
#include "core/passes/rematerialize-private.h"
#include <string.h>

static void
pair_free (gpointer data)
{
  GantryLoopPair *pair = data;

  g_free (pair->slot);
  g_free (pair->saved);
  g_free (pair->again);
  g_free (pair->copied);
  g_free (pair->value);
  g_array_unref (pair->xs);
  g_array_unref (pair->captures);
  g_free (pair);
}

static void
array_free (gpointer data)
{
  g_array_unref (data);
}

static void
count_named (GantryRematerialize *state)
{
  GantryContext *context = state->module->context;

  for (guint32 i = 0; i < state->module->n_nodes; i++)
    {
      const GantryAttrs *attrs = gantry_context_attrs (context, state->module->nodes[i].attrs);

      for (guint a = 0; a < attrs->n; a++)
        if (attrs->items[a].kind == GANTRY_ATTR_FUNCTION)
          {
            gpointer key = GUINT_TO_POINTER (attrs->items[a].id);
            guint n = GPOINTER_TO_UINT (g_hash_table_lookup (state->n_named, key));

            g_hash_table_insert (state->n_named, key, GUINT_TO_POINTER (n + 1));
          }
    }
}

/* The body of a scan, where it is nobody else's. Returns: (nullable) */
static const GantryFunction *
own_body (const GantryRematerialize *state, const GantryScan *scan)
{
  return g_hash_table_lookup (state->n_named, GUINT_TO_POINTER (scan->body)) == GUINT_TO_POINTER (1) ? gantry_module_function (state->module, scan->body)
                                                                                                     : NULL;
}

/* The scan that made what operand @x of @node shows, with the number of that result. Returns: (nullable) */
static const GantryNode *
maker_of (const GantryModule *module, const GantryNode *node, guint x, guint *result)
{
  const GantryNode *operand = gantry_node_operand (module, node, x),
                   *maker = operand != NULL && operand->op == GANTRY_OP_RESULT ? gantry_node_operand (module, operand, 0) : NULL;

  if (maker == NULL || maker->op != GANTRY_OP_SCAN)
    return NULL;
  *result = (guint) gantry_attrs_int (module->context, operand->attrs, "index", 0);
  return maker;
}

/* The forward scan that @node walks back over. Returns: (nullable) */
static const GantryNode *
forward_of (const GantryModule *module, const GantryNode *node, const GantryScan *back)
{
  for (guint x = 0; x < back->n_xs; x++)
    {
      guint result;
      const GantryNode *maker = maker_of (module, node, back->n_carries + x, &result);
      GantryScan scan;

      if (maker == NULL || maker->phase != GANTRY_PHASE_FORWARD)
        continue;
      gantry_scan_of (module, maker, &scan);
      if (scan.length == back->length && result >= scan.n_carries)
        return maker;
    }
  return NULL;
}

static GantryLoopPair *
pair_new (const GantryRematerialize *state, const GantryNode *node)
{
  GantryLoopPair pair = { .backward = node };

  gantry_scan_of (state->module, node, &pair.back);
  pair.forward = forward_of (state->module, node, &pair.back);
  if (pair.forward == NULL)
    return NULL;
  gantry_scan_of (state->module, pair.forward, &pair.scan);
  pair.from = own_body (state, &pair.scan);
  pair.to = own_body (state, &pair.back);
  if (pair.from == NULL || pair.to == NULL)
    return NULL;
  pair.slot = g_new (guint32, pair.from->n_nodes + (gsize) 1);
  memset (pair.slot, 0xff, pair.from->n_nodes * sizeof *pair.slot);
  pair.saved = g_new (guint32, pair.to->n_params + (gsize) 1);
  memset (pair.saved, 0xff, pair.to->n_params * sizeof *pair.saved);
  pair.again = g_new0 (guint8, pair.from->n_nodes + (gsize) 1);
  pair.copied = g_new0 (guint8, pair.from->n_nodes + (gsize) 1);
  pair.value = g_new0 (guint32, pair.from->n_nodes + (gsize) 1);
  pair.xs = g_array_new (FALSE, FALSE, sizeof (GantryAdded));
  pair.captures = g_array_new (FALSE, FALSE, sizeof (GantryAdded));
  return g_memdup2 (&pair, sizeof pair);
}

/* The parameter that node @i of the forward body is under another name, else @i. */
static guint32
under_names (const GantryRematerialize *state, const GantryLoopPair *pair, guint32 i)
{
  for (;;)
    {
      const GantryNode *node = _gantry_loop_node (state->module, pair->from, i);

      if (node->op != GANTRY_OP_CHECKPOINT_NAME && node->op != GANTRY_OP_OPTIMIZATION_BARRIER)
        return i;
      i = _gantry_loop_index (state->module, pair->from, gantry_node_operand_id (state->module, node, 0));
    }
}

/* Which nodes of the forward body the backward one has slices of. */
static void
find_slots (const GantryRematerialize *state, GantryLoopPair *pair)
{
  for (guint x = 0; x < pair->back.n_xs; x++)
    {
      guint32 slot = pair->back.n_carries + x, i;
      guint result;

      if (maker_of (state->module, pair->backward, slot, &result) != pair->forward || result < pair->scan.n_carries
          || pair->scan.y_axes[result - pair->scan.n_carries] != pair->back.axes[x])
        continue;
      i = _gantry_loop_index (state->module, pair->from, gantry_function_result_id (state->module, pair->from, result));
      if (i == NOWHERE || pair->slot[i] != NOWHERE)
        continue;
      pair->slot[i] = slot;
      if (i >= pair->from->n_params)
        pair->saved[slot] = i;
      i = under_names (state, pair, i);
      if (i < pair->from->n_params && pair->slot[i] == NOWHERE)
        pair->slot[i] = slot;
    }
}

static gboolean
is_repeatable (const GantryModule *module, const GantryNode *node)
{
  const GantryOpInfo *info = gantry_op_info (node->op);

  return info != NULL && (info->flags & GANTRY_OP_EFFECT) == 0 && !gantry_node_is_control (node) && gantry_node_type (module, node)->kind != GANTRY_TYPE_TOKEN;
}

static void
find_again (const GantryRematerialize *state, GantryLoopPair *pair)
{
  const GantryModule *module = state->module;

  for (guint32 i = 0; i < pair->from->n_nodes; i++)
    {
      const GantryNode *node = _gantry_loop_node (module, pair->from, i);

      gboolean carried = pair->slot[i] != NOWHERE && under_names (state, pair, i) < pair->from->n_params;

      pair->again[i] = i < pair->from->n_params || (is_repeatable (module, node) && !carried);
      for (guint k = 0; pair->again[i] && i >= pair->from->n_params && k < node->n_operands; k++)
        {
          guint32 operand = _gantry_loop_index (module, pair->from, gantry_node_operand_id (module, node, k));

          pair->again[i] = pair->again[operand] || pair->slot[operand] != NOWHERE;
        }
    }
}

/* All that any slice is made by. Returns: whether there is such a slice */
static gboolean
find_copied (const GantryRematerialize *state, GantryLoopPair *pair)
{
  const GantryModule *module = state->module;
  gboolean any = FALSE;

  for (guint32 i = pair->from->n_nodes; i-- > 0;)
    {
      const GantryNode *node = _gantry_loop_node (module, pair->from, i);

      if (pair->slot[i] != NOWHERE && pair->again[i] && i >= pair->from->n_params)
        any = pair->copied[i] = TRUE;
      for (guint k = 0; pair->copied[i] && k < node->n_operands; k++)
        {
          guint32 operand = _gantry_loop_index (module, pair->from, gantry_node_operand_id (module, node, k));

          pair->copied[operand] |= pair->again[operand];
        }
    }
  return any;
}

/* The stack of carry @c: one of those that @saved, of the forward scan, has, or one more. Returns: FALSE where there can be none */
static gboolean
add_carry (const GantryRematerialize *state, GantryLoopPair *pair, guint32 c, GArray *saved)
{
  const GantryModule *module = state->module;
  const GantryType *type = gantry_node_type (module, _gantry_loop_node (module, pair->from, c));
  GantryAdded added = { .source = c };

  if (gantry_node_type (module, pair->forward)->kind != GANTRY_TYPE_TUPLE || type->kind != GANTRY_TYPE_TENSOR || type->rank >= GANTRY_MAX_RANK
      || type->memory != GANTRY_MEMORY_DEVICE)
    return FALSE;
  while (added.result < saved->len && g_array_index (saved, guint32, added.result) != c)
    added.result++;
  if (added.result == saved->len)
    g_array_append_val (saved, c);
  added.result += pair->scan.n_carries + pair->scan.n_ys;
  g_array_append_val (pair->xs, added);
  return TRUE;
}

/* Where the backward scan has operand @id already, among its xs along @axis or its captures (-1). Returns: the parameter, or NOWHERE */
static guint32
find_operand (const GantryRematerialize *state, const GantryLoopPair *pair, guint32 id, gint64 axis)
{
  guint32 first = pair->back.n_carries + (axis < 0 ? pair->back.n_xs : 0), end = axis < 0 ? pair->backward->n_operands : first + pair->back.n_xs;

  for (guint32 i = first; i < end; i++)
    if (gantry_node_operand_id (state->module, pair->backward, i) == id && (axis < 0 || pair->back.axes[i - first] == axis))
      return i;
  return NOWHERE;
}

/* @saved: the carries that the forward scan stacks so far, then with those that are needed as well */
static gboolean
find_parameters (const GantryRematerialize *state, GantryLoopPair *pair, GArray *saved)
{
  for (guint32 i = 0; i < pair->from->n_params; i++)
    {
      gboolean is_x = i >= pair->scan.n_carries && i < pair->scan.n_carries + pair->scan.n_xs;
      GantryAdded added = { .source = i, .operand = gantry_node_operand_id (state->module, pair->forward, i), .axis = -1 };

      if (!pair->copied[i] || pair->slot[i] != NOWHERE)
        continue;
      if (i < pair->scan.n_carries)
        {
          if (!add_carry (state, pair, i, saved))
            return FALSE;
          continue;
        }
      if (is_x)
        added.axis = pair->scan.axes[i - pair->scan.n_carries];
      pair->slot[i] = find_operand (state, pair, added.operand, added.axis);
      if (pair->slot[i] == NOWHERE)
        g_array_append_val (is_x ? pair->xs : pair->captures, added);
    }
  return pair->backward->n_operands + pair->xs->len + pair->captures->len <= GANTRY_MOST_OPERANDS;
}

/* The forward scan is changed only where all can be had. */
static gboolean
add_parameters (GantryRematerialize *state, GantryLoopPair *pair)
{
  const GArray *known = g_hash_table_lookup (state->saved, pair->forward);
  GArray *saved = known != NULL ? g_array_copy ((GArray *) known) : g_array_new (FALSE, FALSE, sizeof (guint32));
  gboolean good = find_parameters (state, pair, saved);

  if (good && saved->len > 0)
    g_hash_table_insert (state->saved, (gpointer) pair->forward, saved);
  else
    g_array_unref (saved);
  return good;
}

static void
find_pair (GantryRematerialize *state, const GantryNode *node)
{
  GantryLoopPair *pair = pair_new (state, node);

  if (pair == NULL)
    return;
  find_slots (state, pair);
  find_again (state, pair);
  if (!find_copied (state, pair) || !add_parameters (state, pair))
    {
      pair_free (pair);
      return;
    }
  g_hash_table_insert (state->bodies, (gpointer) pair->to, pair);
  g_hash_table_insert (state->pairs, (gpointer) node, pair);
}

static GantryModule *
run (GantryModule *module, const GantryPassOptions *options, const GantryProgress *progress, GError **error)
{
  GantryRematerialize state = { .module = module };
  GantryModule *next;

  state.pairs = g_hash_table_new (NULL, NULL);
  state.bodies = g_hash_table_new_full (NULL, NULL, NULL, pair_free);
  state.saved = g_hash_table_new_full (NULL, NULL, NULL, array_free);
  state.n_named = g_hash_table_new (NULL, NULL);
  count_named (&state);
  for (guint32 i = 0; i < module->n_nodes; i++)
    if (module->nodes[i].op == GANTRY_OP_SCAN && module->nodes[i].phase != GANTRY_PHASE_FORWARD)
      find_pair (&state, &module->nodes[i]);
  next = g_hash_table_size (state.pairs) == 0 ? gantry_module_ref (module) : _gantry_rematerialize_write (&state, progress, error);
  g_hash_table_unref (state.pairs);
  g_hash_table_unref (state.bodies);
  g_hash_table_unref (state.saved);
  g_hash_table_unref (state.n_named);
  return next;
}

const GantryPass gantry_pass_rematerialize = {
  .name = "rematerialize",
  .title = "Recomputation in loops",
  .description = "Lets loops make again what the loops before them saved, where a placement asks for it.",
  .needs = GANTRY_PROPERTY_CORE,
  .keeps = GANTRY_PROPERTY_CORE | GANTRY_PROPERTY_LIVE | GANTRY_PROPERTY_FUSED,
  .run = run,
};
