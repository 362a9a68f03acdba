/* SPDX-License-Identifier: Apache-2.0 */
/* cse: a node that computes what an earlier one in its function has computed is replaced by that one.
 * The key is operation, operands, attributes and type; the walk is in program order, so whole equal
 * subgraphs collapse in one go. Random operations and those with an effect are never merged. */
#include "core/graph/rewriter.h"
#include "core/passes/effects-private.h"
#include "core/passes/passes.h"
#include <string.h>

typedef struct
{
  guint32 op, type, attrs, n;
  guint32 operands[];
} Key;

typedef struct
{
  GHashTable *seen; /* Key -> new id */
  GantryArena *arena;
  const GantryEffects *effects;
  guint n_merged;
} State;

static guint
key_hash (gconstpointer data)
{
  const Key *key = data;
  guint h = key->op * 31u + key->type;

  h = h * 0x9e3779b1u + key->attrs;
  for (guint i = 0; i < key->n; i++)
    h = (h ^ key->operands[i]) * 0x85ebca6bu;
  return h ^ h >> 15;
}

static gboolean
key_equal (gconstpointer a, gconstpointer b)
{
  const Key *x = a, *y = b;

  return x->n == y->n && memcmp (x, y, sizeof (Key) + x->n * sizeof (guint32)) == 0;
}

static gboolean
mergeable (const State *state, const GantryNode *node)
{
  return gantry_op_info (node->op) != NULL && _gantry_effects_of (state->effects, node) == 0 && node->op != GANTRY_OP_PARAMETER
         && node->op != GANTRY_OP_OPTIMIZATION_BARRIER && node->op != GANTRY_OP_CHECKPOINT_NAME;
}

static int
compare_ids (gconstpointer a, gconstpointer b)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return x < y ? -1 : x > y;
}

static gboolean
visit (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, gpointer user_data, GError **error)
{
  State *state = user_data;
  Key *key;
  guint32 earlier;

  if (!mergeable (state, node))
    {
      gantry_rewriter_keep (rewriter, node);
      return TRUE;
    }
  key = gantry_arena_alloc (state->arena, sizeof (Key) + node->n_operands * sizeof (guint32));
  *key = (Key){ .op = node->op, .type = node->type, .attrs = node->attrs, .n = node->n_operands };
  for (guint i = 0; i < node->n_operands; i++)
    key->operands[i] = gantry_rewriter_map (rewriter, gantry_node_operand_id (module, node, i));
  if ((gantry_op_info (node->op)->flags & GANTRY_OP_COMMUTATIVE) != 0)
    qsort (key->operands, key->n, sizeof (guint32), compare_ids);
  earlier = GPOINTER_TO_UINT (g_hash_table_lookup (state->seen, key));
  if (earlier != 0)
    {
      gantry_rewriter_replace (rewriter, node, earlier);
      gantry_builder_name_node (gantry_rewriter_builder (rewriter), earlier, node->name);
      state->n_merged++;
      return TRUE;
    }
  g_hash_table_insert (state->seen, key, GUINT_TO_POINTER (gantry_rewriter_keep (rewriter, node)));
  return TRUE;
}

static GantryModule *
run (GantryModule *module, const GantryPassOptions *options, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryRewriter) rewriter = gantry_rewriter_new (module);
  g_autoptr (GantryArena) arena = gantry_arena_new ();
  g_autoptr (GantryEffects) effects = _gantry_effects_new (module);
  State state = { .arena = arena, .effects = effects };
  gboolean ok = TRUE;

  for (guint i = 0; ok && i < module->n_functions; i++)
    {
      state.seen = g_hash_table_new (key_hash, key_equal);
      ok = gantry_rewriter_run_function (rewriter, &module->functions[i], visit, &state, progress, error);
      g_hash_table_unref (state.seen);
    }
  if (!ok)
    return NULL;
  return state.n_merged > 0 ? gantry_rewriter_finish (rewriter, error) : gantry_module_ref (module);
}

const GantryPass gantry_pass_cse = {
  .name = "cse",
  .title = "Common subexpressions",
  .description = "Computes equal values once.",
  .needs = GANTRY_PROPERTY_CORE,
  .gives = GANTRY_PROPERTY_UNIQUE,
  .keeps = GANTRY_PROPERTY_CORE | GANTRY_PROPERTY_LIVE | GANTRY_PROPERTY_FUSED,
  .run = run,
};
