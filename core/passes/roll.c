/* SPDX-License-Identifier: Apache-2.0 */
/* roll: a run of three or more equal blocks, such as the layers of a transformer, becomes a scan. What each block hands to
 * the next is a carry, what differs from block to block (weights) is stacked as an x, what all of them read is
 * a capture, and what somebody reads later of a block is a stacked y. What the blocks were called is noted, so that
 * unroll gives back the program as it was. Where runs are is the business of roll-find.c; here it is planned what becomes of each, and
 * roll-write.c writes it. */
#include "core/passes/roll-private.h"
#include "core/graph/rewriter.h"
#include "core/passes/passes.h"
#include <string.h>

/* Constants up to this size are written into the body, where the rules of other passes see them. */
#define COPIED_ELEMENTS 64

static void
plan_free (gpointer data)
{
  GantryRollPlan *plan = data;

  g_array_unref (plan->sources);
  g_array_unref (plan->carries);
  g_ptr_array_unref (plan->xs);
  g_array_unref (plan->captures);
  g_array_unref (plan->constants);
  g_array_unref (plan->y_nodes);
  g_array_unref (plan->copied);
  g_free (plan->carried);
  g_hash_table_unref (plan->x_index);
  g_hash_table_unref (plan->index);
  g_free (plan->ys);
  g_free (plan->body);
  g_free (plan);
}

static GantryRollPlan *
plan_new (const GantryRun *run)
{
  GantryRollPlan *plan = g_new0 (GantryRollPlan, 1);

  plan->run = *run;
  plan->sources = g_array_new (FALSE, FALSE, sizeof (GantryRollSource));
  plan->carries = g_array_new (FALSE, FALSE, sizeof (GantryRollCarry));
  plan->xs = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  plan->captures = g_array_new (FALSE, FALSE, sizeof (guint32));
  plan->constants = g_array_new (FALSE, FALSE, sizeof (guint32));
  plan->y_nodes = g_array_new (FALSE, FALSE, sizeof (guint32));
  plan->copied = g_array_new (FALSE, FALSE, sizeof (guint32));
  plan->carried = g_new0 (guint32, run->period + 1);
  plan->x_index = g_hash_table_new (g_bytes_hash, g_bytes_equal);
  plan->index = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  plan->ys = g_new0 (guint32, run->period + 1);
  plan->body = g_new0 (guint32, run->period + 1);
  return plan;
}

/* Planning */

/* Where @key stands in @list, put there when it is new. */
static guint32
indexed (GHashTable *index, guint64 key, GArray *list, gconstpointer entry)
{
  guint32 found = GPOINTER_TO_UINT (g_hash_table_lookup (index, &key));

  if (found == 0)
    {
      g_array_append_vals (list, entry, 1);
      found = list->len;
      g_hash_table_insert (index, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (found));
    }
  return found - 1;
}

static gboolean
same_value (const GantryRoll *state, guint32 a, guint32 b)
{
  const GantryNode *x = gantry_module_node (state->module, a), *y = gantry_module_node (state->module, b);

  return a == b || (x != NULL && y != NULL && x->op == GANTRY_OP_CONSTANT && y->op == GANTRY_OP_CONSTANT && x->attrs == y->attrs && x->type == y->type);
}

static gboolean
can_be_stacked (const GantryRoll *state, guint32 type)
{
  const GantryType *t = gantry_context_type (state->module->context, type);

  return gantry_type_is_static (t) && t->rank < GANTRY_MAX_RANK && t->memory == GANTRY_MEMORY_DEVICE;
}

/* What comes from outside of the run: one value for all blocks, or one for each. */
static gboolean
plan_outside (const GantryRoll *state, GantryRollPlan *plan, guint32 j, guint slot, GantryRollSource *source)
{
  g_autofree guint32 *ids = g_new (guint32, plan->run.n_blocks);
  const GantryNode *node;
  gboolean same = TRUE;
  guint32 found;
  GBytes *key;

  for (guint32 block = 0; block < plan->run.n_blocks; block++)
    {
      ids[block] = gantry_node_operand_id (state->module, _gantry_roll_node (state, &plan->run, block, j), slot);
      same = same && same_value (state, ids[block], ids[0]);
    }
  node = gantry_module_node (state->module, ids[0]);
  if (node == NULL)
    return FALSE;
  if (same && node->op == GANTRY_OP_CONSTANT && gantry_type_elements (gantry_node_type (state->module, node)) <= COPIED_ELEMENTS)
    {
      *source = (GantryRollSource){ GANTRY_ROLL_FROM_CONSTANT, indexed (plan->index, (guint64) 1 << 63 | ids[0], plan->constants, &ids[0]) };
      g_array_append_vals (plan->copied, ids, plan->run.n_blocks);
    }
  else if (same)
    *source = (GantryRollSource){ GANTRY_ROLL_FROM_CAPTURE, indexed (plan->index, (guint64) 1 << 62 | ids[0], plan->captures, &ids[0]) };
  if (same)
    return gantry_node_type (state->module, node)->kind == GANTRY_TYPE_TENSOR;
  key = g_bytes_new (ids, plan->run.n_blocks * sizeof *ids);
  found = GPOINTER_TO_UINT (g_hash_table_lookup (plan->x_index, key));
  if (found == 0)
    {
      g_ptr_array_add (plan->xs, key);
      found = plan->xs->len;
      g_hash_table_insert (plan->x_index, key, GUINT_TO_POINTER (found));
    }
  else
    g_bytes_unref (key);
  *source = (GantryRollSource){ GANTRY_ROLL_FROM_X, found - 1 };
  return can_be_stacked (state, node->type);
}

static gboolean
plan_slot (const GantryRoll *state, GantryRollPlan *plan, guint32 j, guint slot, GantryRollSource *source)
{
  GantryWire wire = _gantry_run_wire (&state->sequence, &plan->run, 1, j, slot);
  GantryRollCarry carry = { wire.at, gantry_node_operand_id (state->module, _gantry_roll_node (state, &plan->run, 0, j), slot) };

  if (wire.kind == GANTRY_WIRE_OUTSIDE)
    return plan_outside (state, plan, j, slot, source);
  if (wire.kind == GANTRY_WIRE_INSIDE)
    {
      *source = (GantryRollSource){ GANTRY_ROLL_FROM_NODE, wire.at };
      return TRUE;
    }
  /* Ids and places are below 2^31: the bits above tell carries from the others. */
  *source = (GantryRollSource){ GANTRY_ROLL_FROM_CARRY, indexed (plan->index, (guint64) wire.at << 31 | carry.first, plan->carries, &carry) };
  if (plan->carried[wire.at] == 0)
    plan->carried[wire.at] = source->index + 1;
  return gantry_node_type (state->module, _gantry_roll_node (state, &plan->run, 0, wire.at))->kind == GANTRY_TYPE_TENSOR;
}

gboolean
_gantry_roll_is_read_later (const GantryRoll *state, const GantryRun *run, guint32 block, guint32 j)
{
  const GantryNode *node = _gantry_roll_node (state, run, block, j);
  guint32 position = gantry_module_position (state->module, node);
  guint32 end = run->base + run->period * run->n_blocks;

  for (guint32 i = state->uses->first[position]; i < state->uses->first[position + 1]; i++)
    {
      guint32 user = state->uses->users[i];

      if (user == G_MAXUINT32 || _gantry_sequence_place (&state->sequence, state->module->nodes[user].id) >= end)
        return TRUE;
    }
  return FALSE;
}

static gboolean
plan_results (const GantryRoll *state, GantryRollPlan *plan)
{
  for (guint32 j = 0; j < plan->run.period; j++)
    {
      guint32 last = plan->run.n_blocks - 1;
      gboolean read = FALSE;

      for (guint32 block = 0; block < last && !read; block++)
        read = _gantry_roll_is_read_later (state, &plan->run, block, j);
      if (!read)
        read = plan->carried[j] == 0 && _gantry_roll_is_read_later (state, &plan->run, last, j);
      if (!read)
        continue;
      if (!can_be_stacked (state, _gantry_roll_node (state, &plan->run, 0, j)->type))
        return FALSE;
      g_array_append_val (plan->y_nodes, j);
      plan->ys[j] = plan->y_nodes->len;
    }
  return TRUE;
}

/* Returns: (nullable): NULL where the blocks do not hand on anything, or something that cannot be stacked */
static GantryRollPlan *
make_plan (const GantryRoll *state, const GantryRun *run)
{
  GantryRollPlan *plan = plan_new (run);
  gboolean good = TRUE;

  for (guint32 j = 0; j < run->period && good; j++)
    {
      const GantryNode *node = _gantry_roll_node (state, run, 0, j);

      for (guint slot = 0; slot < node->n_operands && good; slot++)
        {
          GantryRollSource source = { 0 };

          good = plan_slot (state, plan, j, slot, &source);
          g_array_append_val (plan->sources, source);
        }
    }
  if (good && plan->carries->len > 0 && plan_results (state, plan))
    return plan;
  plan_free (plan);
  return NULL;
}

static void
take_plan (GantryRoll *state, GantryRollPlan *plan)
{
  g_ptr_array_add (state->plans, plan);
  for (guint32 k = 0; k < plan->run.period * plan->run.n_blocks; k++)
    state->plan_of[plan->run.base + k] = state->plans->len;
  for (guint i = 0; i < plan->copied->len; i++)
    {
      const GantryNode *node = gantry_module_node (state->module, g_array_index (plan->copied, guint32, i));

      state->n_copied[gantry_module_position (state->module, node)]++;
    }
}

/* Takes the runs, largest first, that do not overlap with those taken. */
static void
plan_all (GantryRoll *state)
{
  g_autoptr (GArray) runs = _gantry_find_runs (&state->sequence);

  for (guint i = 0; i < runs->len; i++)
    {
      GantryRun run = g_array_index (runs, GantryRun, i), rest = { 0 };
      guint32 length = run.period * run.n_blocks;
      gboolean is_free = TRUE;

      for (guint32 k = 0; k < length && is_free; k++)
        is_free = state->plan_of[run.base + k] == 0;
      for (; is_free && _gantry_run_narrow (&state->sequence, &run, &rest); run = rest)
        {
          GantryRollPlan *plan = make_plan (state, &run);

          if (plan != NULL)
            take_plan (state, plan);
        }
    }
}

/* The pass */

/* A constant that only bodies read, of which they have copies. */
static gboolean
is_copied (const GantryRoll *state, const GantryNode *node)
{
  guint32 position = gantry_module_position (state->module, node);

  return state->n_copied[position] > 0 && state->n_copied[position] == state->uses->first[position + 1] - state->uses->first[position];
}

static gboolean
visit (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, gpointer user_data, GError **error)
{
  const GantryRoll *state = user_data;
  guint32 place = node->op != GANTRY_OP_CONSTANT ? _gantry_sequence_place (&state->sequence, node->id) : GANTRY_ROLL_LEAF;
  guint32 index = place != GANTRY_ROLL_LEAF ? state->plan_of[place] : 0;
  GantryRollPlan *plan;

  if (index == 0)
    {
      if (is_copied (state, node))
        gantry_rewriter_erase (rewriter, node);
      else
        gantry_rewriter_keep (rewriter, node);
      return TRUE;
    }
  plan = g_ptr_array_index (state->plans, index - 1);
  if (place == plan->run.base + plan->run.period * plan->run.n_blocks - 1)
    _gantry_roll_write (state, plan, rewriter);
  return TRUE;
}

static gboolean
keep (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, gpointer user_data, GError **error)
{
  gantry_rewriter_keep (rewriter, node);
  return TRUE;
}

static GantryModule *
rewrite (GantryRoll *state, GantryModule *module, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryRewriter) rewriter = gantry_rewriter_new (module);

  if (!gantry_rewriter_run_function (rewriter, gantry_module_entry (module), visit, state, progress, error))
    return NULL;
  for (guint f = 1; f < module->n_functions; f++)
    if (!gantry_rewriter_run_function (rewriter, &module->functions[f], keep, NULL, progress, error))
      return NULL;
  return gantry_rewriter_finish (rewriter, error);
}

static GantryModule *
run (GantryModule *module, const GantryPassOptions *options, const GantryProgress *progress, GError **error)
{
  GantryRoll state = { .module = module };
  GantryModule *next;

  _gantry_sequence_init (&state.sequence, module, gantry_module_entry (module));
  state.uses = gantry_uses_new (module);
  state.plans = g_ptr_array_new_with_free_func (plan_free);
  state.plan_of = g_new0 (guint32, state.sequence.n + 1);
  state.n_copied = g_new0 (guint32, module->n_nodes + 1);
  plan_all (&state);
  next = state.plans->len > 0 ? rewrite (&state, module, progress, error) : gantry_module_ref (module);
  g_free (state.plan_of);
  g_free (state.n_copied);
  g_ptr_array_unref (state.plans);
  gantry_uses_free (state.uses);
  _gantry_sequence_clear (&state.sequence);
  return next;
}

const GantryPass gantry_pass_roll = {
  .name = "roll",
  .title = "Roll equal blocks",
  .description = "Makes a scan of three or more equal blocks that follow each other.",
  .needs = GANTRY_PROPERTY_CORE,
  .keeps = GANTRY_PROPERTY_CORE,
  .run = run,
};
