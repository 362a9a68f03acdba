/* SPDX-License-Identifier: Apache-2.0 */
/* Values that must not be rounded: those that the backward phase or the update compares with another value or sorts by. The gradient of a
 * maximum goes to whoever equals it; of a rounded operand and the exact maximum, or the other way round, none does. So neither side is
 * stored in fewer bits, nor is what either is made again from. Only the sign of a value outlasts rounding: x > 0 may read a rounded x. */
#include "core/graph/region.h"
#include "core/planner/planner-private.h"

static const char made_from_it[] = "what is made again from it is compared with another value or sorted by, which rounding would change";

static gboolean
is_float (const GantryModule *module, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (module, node);

  return type->kind == GANTRY_TYPE_TENSOR && gantry_element_is_float (type->element);
}

static gboolean
is_zero (const GantryModule *module, const GantryNode *node)
{
  GantryLiteral *literal;

  while (node->op == GANTRY_OP_BROADCAST_IN_DIM || node->op == GANTRY_OP_RESHAPE || node->op == GANTRY_OP_CONVERT)
    node = gantry_node_operand (module, node, 0);
  literal = gantry_node_literal (module, node);
  return literal != NULL && (literal->splat || gantry_type_elements (literal->type) == 1) && gantry_literal_get_double (literal, 0) == 0;
}

/* By whatever bits are lost the comparison may come out otherwise. One with itself finds out NaN alone. */
static gboolean
needs_exact (const GantryModule *module, const GantryNode *node)
{
  const GantryNode *x = gantry_node_operand (module, node, 0), *y = gantry_node_operand (module, node, 1);
  const char *direction = gantry_attrs_string (module->context, node->attrs, "comparison_direction", "EQ");

  return x != y && (g_str_equal (direction, "EQ") || g_str_equal (direction, "NE") || (!is_zero (module, x) && !is_zero (module, y)));
}

static void
mark (const GantryModule *module, const GantryNode *node, guint i, guint8 *exact)
{
  const GantryNode *operand = gantry_node_operand (module, node, i);

  if (operand != NULL && (is_float (module, operand) || node->op == GANTRY_OP_RESULT))
    exact[gantry_module_position (module, operand)] = TRUE;
}

static void visit (const GantryModule *module, const GantryNode *node, guint8 *exact);

/* The operands of @node, from @first, that @function compares. Returns: whether there are any */
static gboolean
visit_body (const GantryModule *module, const GantryNode *node, guint first, const GantryFunction *function, guint8 *exact)
{
  gboolean any = FALSE;

  for (guint32 i = function->n_nodes; i-- > function->n_params;)
    visit (module, &module->nodes[function->first_node + i], exact);
  for (guint32 i = 0; i < function->n_params; i++)
    if (exact[function->first_node + i])
      {
        any = TRUE;
        mark (module, node, first + i, exact);
      }
  return any;
}

/* What a trip of a loop compares may have come there by any way through the trips before. */
static void
visit_control (const GantryModule *module, const GantryNode *node, const GantryControl *control, guint8 *exact)
{
  gboolean any = FALSE;

  for (guint i = 0; i < control->n_regions; i++)
    any |= visit_body (module, node, control->first, gantry_module_function (module, control->functions[i]), exact);
  if (control->kind == GANTRY_CONTROL_WHILE || control->kind == GANTRY_CONTROL_SCAN)
    for (guint i = 0; any && i < node->n_operands; i++)
      mark (module, node, i, exact);
}

/* Elements are what elements of the operands are, or a function of these alone. */
static gboolean
is_of_elements (const GantryNode *node)
{
  const GantryOpInfo *info = gantry_op_info (node->op);

  return info != NULL && ((info->flags & GANTRY_OP_ELEMENTWISE) != 0 || info->op_class == GANTRY_CLASS_MOVEMENT
                          || node->op == GANTRY_OP_RESULT || node->op == GANTRY_OP_REMATERIALIZE);
}

static void
visit (const GantryModule *module, const GantryNode *node, guint8 *exact)
{
  const gboolean wanted = exact[gantry_module_position (module, node)];
  const GantryFunction *body = gantry_node_fusion_body (module, node);
  GantryControl control;

  if (body != NULL)
    {
      for (guint i = 0; wanted && i < body->n_results; i++)
        exact[gantry_module_position (module, gantry_module_node (module, gantry_function_result_id (module, body, i)))] = TRUE;
      visit_body (module, node, 0, body, exact);
    }
  else if (gantry_control_of (module, node, &control))
    visit_control (module, node, &control, exact);
  else if (node->op == GANTRY_OP_SORT)
    mark (module, node, 0, exact);
  else if (node->op == GANTRY_OP_COMPARE ? needs_exact (module, node) : wanted && is_of_elements (node))
    for (guint i = 0; i < node->n_operands; i++)
      mark (module, node, i, exact);
}

void
_gantry_planner_find_compared (GantryPlanner *planner)
{
  const Program *program = planner->program;
  const GantryModule *module = program->module;
  const GantryFunction *function = program->function;
  g_autofree guint8 *exact = g_new0 (guint8, module->n_nodes + (gsize) 1);

  for (guint32 i = function->n_nodes; i-- > function->n_params;)
    if (module->nodes[function->first_node + i].phase != GANTRY_PHASE_FORWARD)
      visit (module, &module->nodes[function->first_node + i], exact);
  for (guint32 i = 0; i < function->n_nodes; i++)
    if (exact[function->first_node + i])
      for (guint32 v = program->first_value[i]; v < program->first_value[i + 1]; v++)
        planner->compared[VALUE (program, v)->root] = TRUE;
}

/* Is root @v made once more, if somebody reads it later? */
static gboolean
is_made_again (const GantryPlanner *planner, guint32 v)
{
  const Value *value = VALUE (planner->program, v);

  if (value->kind != VALUE_COMPUTED || value->phase != GANTRY_PHASE_FORWARD)
    return FALSE;
  if (planner->n_scheduled[value->maker] > 1)
    return TRUE;
  return planner->candidate_of[v] >= 0 ? planner->kind[v] == GANTRY_PLACEMENT_RECOMPUTE
                                       : !value->result && planner->decider[v] == G_MAXUINT8;
}

/* Nothing that the maker of @v reads, or what that is made again from, is rounded. */
static void
keep_sources (GantryPlanner *planner, guint32 v, GArray *stack, guint8 *seen)
{
  const Program *program = planner->program;

  g_array_append_val (stack, v);
  while (stack->len > 0)
    {
      const Work *work = WORK (program, VALUE (program, g_array_index (stack, guint32, stack->len - 1))->maker);

      g_array_set_size (stack, stack->len - 1);
      for (guint32 k = 0; k < work->n_uses; k++)
        {
          guint32 u = VALUE (program, USE (program, work, k))->root;

          if (seen[u])
            continue;
          seen[u] = TRUE;
          if (gantry_placement_is_approximate (planner->kind[u]))
            {
              GantryPlacementProblem problem = { VALUE (program, u)->node, planner->kind[u], GANTRY_PLACEMENT_KEEP, (char *) made_from_it };

              planner->kind[u] = GANTRY_PLACEMENT_KEEP;
              g_array_append_val (planner->problems, problem);
            }
          else if (is_made_again (planner, u))
            g_array_append_val (stack, u);
        }
    }
}

void
_gantry_planner_keep_compared (GantryPlanner *planner)
{
  guint32 n = planner->program->values->len;
  g_autofree guint8 *seen = planner->compresses ? g_new0 (guint8, n + (gsize) 1) : NULL;
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint32 v = 0; planner->compresses && v < n; v++)
    if (planner->compared[v] && is_made_again (planner, v))
      keep_sources (planner, v, stack, seen);
}
