/* SPDX-License-Identifier: Apache-2.0 */
/* inline: a call is replaced by the body that it names, calls within it too. A node of the body stands in the scope
 * of the caller joined with its own, and is of the caller's phase unless it says another. */
#include "core/graph/operation.h"
#include "core/passes/expand-private.h"
#include "core/passes/passes.h"

static gboolean
wants (const GantryExpander *e, const GantryNode *node)
{
  return node->op == GANTRY_OP_CALL;
}

static gboolean
expand (GantryExpander *e, const GantryNode *node, const GantryExpandValue *operands, const GantryExpandFrame *frame, GantryExpandValue *value, GError **error)
{
  const GantryFunction *body = _gantry_expand_function_of (e, node, "body", error);
  g_autofree GantryExpandValue *results = NULL;
  GantryExpandFrame place;
  gboolean good;

  if (body == NULL)
    return FALSE;
  results = g_new0 (GantryExpandValue, body->n_results + 1);
  _gantry_expand_frame_init (&place, frame, node, NULL);
  good = _gantry_expand_body (e, body, operands, &place, results, error);
  _gantry_expand_frame_clear (&place);
  if (good)
    *value = _gantry_expand_together (e, results, body->n_results);
  return good;
}

static GantryModule *
run (GantryModule *module, const GantryPassOptions *options, const GantryProgress *progress, GError **error)
{
  GantryExpander expander = { .wants = wants, .expand = expand, .max_nodes = options->max_nodes };

  return _gantry_expand (module, &expander, progress, error);
}

const GantryPass gantry_pass_inline = {
  .name = "inline",
  .title = "Inline calls",
  .description = "Puts the body of a function where it is called.",
  .needs = GANTRY_PROPERTY_CORE,
  .keeps = GANTRY_PROPERTY_CORE,
  .run = run,
};
