/* SPDX-License-Identifier: Apache-2.0 */
/* dce: removes nodes whose value nobody uses and functions that nobody calls. Parameters stay: they are
 * the interface; so do nodes with an effect. */
#include "core/graph/rewriter.h"
#include "core/passes/effects-private.h"
#include "core/passes/passes.h"

typedef struct
{
  const GantryModule *module;
  guint8 *live;      /* by node position */
  guint8 *reached;   /* by function index */
  GArray *functions; /* guint: reached and not yet walked */
  GantryEffects *effects;
} State;

static void
mark (State *state, guint32 id)
{
  const GantryNode *node = gantry_module_node (state->module, id);

  if (node != NULL)
    state->live[gantry_module_position (state->module, node)] = 1;
}

static void
reach_functions (State *state, const GantryNode *node)
{
  const GantryAttrs *attrs = gantry_context_attrs (state->module->context, node->attrs);

  for (guint i = 0; i < attrs->n; i++)
    {
      guint32 f = attrs->items[i].kind == GANTRY_ATTR_FUNCTION ? _gantry_effects_function (state->effects, attrs->items[i].id) : G_MAXUINT32;

      if (f == G_MAXUINT32 || state->reached[f])
        continue;
      state->reached[f] = 1;
      g_array_append_val (state->functions, f);
    }
}

/* Uses come after definitions, so one walk backwards sees every user before its operands. */
static void
mark_function (State *state, const GantryFunction *function)
{
  const GantryModule *module = state->module;

  for (guint i = 0; i < function->n_results; i++)
    mark (state, gantry_function_result_id (module, function, i));
  for (guint32 i = function->n_nodes; i-- > 0;)
    {
      guint32 position = function->first_node + i;
      const GantryNode *node = &module->nodes[position];

      if (node->op == GANTRY_OP_PARAMETER || (_gantry_effects_of (state->effects, node) & GANTRY_OP_EFFECT) != 0)
        state->live[position] = 1;
      if (!state->live[position])
        continue;
      for (guint j = 0; j < node->n_operands; j++)
        mark (state, gantry_node_operand_id (module, node, j));
      reach_functions (state, node);
    }
}

static gboolean
visit (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, gpointer user_data, GError **error)
{
  const State *state = user_data;

  if (state->live[gantry_module_position (module, node)])
    gantry_rewriter_keep (rewriter, node);
  else
    gantry_rewriter_erase (rewriter, node);
  return TRUE;
}

static gboolean
all_live (const State *state)
{
  for (guint32 i = 0; i < state->module->n_nodes; i++)
    if (!state->live[i])
      return FALSE;
  for (guint i = 0; i < state->module->n_functions; i++)
    if (!state->reached[i])
      return FALSE;
  return TRUE;
}

static GantryModule *
rewrite (State *state, GantryModule *module, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryRewriter) rewriter = gantry_rewriter_new (module);

  for (guint i = 0; i < module->n_functions; i++)
    if (state->reached[i] && !gantry_rewriter_run_function (rewriter, &module->functions[i], visit, state, progress, error))
      return NULL;
  return gantry_rewriter_finish (rewriter, error);
}

static GantryModule *
run (GantryModule *module, const GantryPassOptions *options, const GantryProgress *progress, GError **error)
{
  State state = { .module = module };
  guint entry = 0;
  GantryModule *next;

  state.live = g_new0 (guint8, module->n_nodes + 1);
  state.reached = g_new0 (guint8, module->n_functions + 1);
  state.functions = g_array_new (FALSE, FALSE, sizeof (guint));
  state.effects = _gantry_effects_new (module);
  state.reached[0] = 1;
  g_array_append_val (state.functions, entry);
  for (guint i = 0; i < state.functions->len; i++)
    mark_function (&state, &module->functions[g_array_index (state.functions, guint, i)]);
  next = all_live (&state) ? gantry_module_ref (module) : rewrite (&state, module, progress, error);
  g_array_unref (state.functions);
  _gantry_effects_free (state.effects);
  g_free (state.reached);
  g_free (state.live);
  return next;
}

const GantryPass gantry_pass_dce = {
  .name = "dce",
  .title = "Dead code",
  .description = "Removes values that nothing uses.",
  .needs = GANTRY_PROPERTY_CORE,
  .gives = GANTRY_PROPERTY_LIVE,
  .keeps = GANTRY_PROPERTY_CORE | GANTRY_PROPERTY_UNIQUE | GANTRY_PROPERTY_FUSED,
  .run = run,
};
