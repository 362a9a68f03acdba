/* SPDX-License-Identifier: Apache-2.0 */
/* Loops whose condition cannot come out otherwise after a trip or some: they end at once or never. */
#include "core/graph/context.h"
#include "core/graph/operation.h"
#include "core/graph/region.h"

#define MOST_CARRIES 64 /* that the condition depends on: a loop of more is taken for one that goes on */

typedef struct
{
  const GantryModule *module;
  const GantryFunction *body, *condition;
  guint n_carries;
  guint8 *fixed;  /* of each carry: 1 where it is the same in each trip but the first ones */
  GArray *needed; /* guint: carries that the condition depends on, in the end */
} Loop;

static gboolean
is_carry (const Loop *loop, const GantryFunction *function, guint32 position)
{
  return position - function->first_node < MIN (loop->n_carries, function->n_params);
}

/* Calls @found for each carry that @id depends on in @function, until it returns FALSE. Returns: whether it never did */
static gboolean
each_carry (Loop *loop, const GantryFunction *function, guint32 id, gboolean (*found) (Loop *loop, guint carry))
{
  g_autofree guint8 *needed = g_new0 (guint8, function->n_nodes + (gsize) 1);
  const GantryNode *start = gantry_module_node (loop->module, id);

  if (start != NULL)
    needed[gantry_module_position (loop->module, start) - function->first_node] = 1;
  for (guint32 i = function->n_nodes; i-- > 0;)
    {
      const GantryNode *node = &loop->module->nodes[function->first_node + i];

      if (!needed[i])
        continue;
      if (is_carry (loop, function, function->first_node + i))
        {
          if (!found (loop, i))
            return FALSE;
        }
      else
        for (guint k = 0; k < node->n_operands; k++)
          {
            const GantryNode *operand = gantry_node_operand (loop->module, node, k);

            if (operand != NULL)
              needed[gantry_module_position (loop->module, operand) - function->first_node] = 1;
          }
    }
  return TRUE;
}

static gboolean
need (Loop *loop, guint carry)
{
  for (guint i = 0; i < loop->needed->len; i++)
    if (g_array_index (loop->needed, guint, i) == carry)
      return TRUE;
  g_array_append_val (loop->needed, carry);
  return loop->needed->len <= MOST_CARRIES;
}

static gboolean
is_fixed (Loop *loop, guint carry)
{
  return loop->fixed[carry];
}

static guint32
next_of (const Loop *loop, guint carry)
{
  return gantry_function_result_id (loop->module, loop->body, carry);
}

static gboolean
is_handed_on (const Loop *loop, guint carry)
{
  return loop->module->nodes[loop->body->first_node + carry].id == next_of (loop, carry);
}

/* All that the condition depends on becomes fixed: what is handed on at once, then what is made of nothing else. */
static gboolean
comes_to_rest (Loop *loop)
{
  gboolean changed = TRUE, all = FALSE;

  if (!each_carry (loop, loop->condition, gantry_function_result_id (loop->module, loop->condition, 0), need))
    return FALSE;
  for (guint i = 0; i < loop->needed->len; i++)
    {
      guint carry = g_array_index (loop->needed, guint, i);

      loop->fixed[carry] = is_handed_on (loop, carry);
      if (!loop->fixed[carry] && !each_carry (loop, loop->body, next_of (loop, carry), need))
        return FALSE;
    }
  while (changed && !all)
    {
      changed = FALSE;
      all = TRUE;
      for (guint i = 0; i < loop->needed->len; i++)
        {
          guint carry = g_array_index (loop->needed, guint, i);

          if (!loop->fixed[carry] && each_carry (loop, loop->body, next_of (loop, carry), is_fixed))
            loop->fixed[carry] = changed = TRUE;
          all = all && loop->fixed[carry];
        }
    }
  return all;
}

gboolean
gantry_loop_may_be_endless (const GantryModule *module, const GantryNode *node)
{
  GantryControl control;
  Loop loop = { .module = module };
  gboolean rests;

  if (node->op != GANTRY_OP_WHILE || !gantry_control_of (module, node, &control))
    return FALSE;
  loop.body = gantry_module_function (module, control.functions[GANTRY_CONTROL_BODY]);
  loop.condition = gantry_module_function (module, control.functions[GANTRY_CONTROL_CONDITION]);
  loop.n_carries = control.n_carries;
  if (loop.condition->n_results != 1 || loop.body->n_results < loop.n_carries || loop.body->n_params < loop.n_carries)
    return FALSE;
  loop.fixed = g_new0 (guint8, loop.n_carries + (gsize) 1);
  loop.needed = g_array_new (FALSE, FALSE, sizeof (guint));
  rests = comes_to_rest (&loop);
  g_array_unref (loop.needed);
  g_free (loop.fixed);
  return rests;
}
