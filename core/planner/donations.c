/* SPDX-License-Identifier: Apache-2.0 */
/* Results that are written over the arguments donated to them: which of their steps may do so while they read it, and who
 * else reads the same bytes. All of it is known before any placement is. */
#include "core/planner/planner-private.h"

/* Of a result that is donated to @input, or of a part of one at @offset: may its work write over what it reads there? */
static gboolean
may_donate (GantryPlanner *planner, guint32 v, guint32 input, guint64 offset)
{
  Program *program = planner->program;
  guint32 w = VALUE (program, v)->maker;
  const GantryNode *node = work_node (program, WORK (program, w));

  for (guint i = 0; i < node->n_operands; i++)
    {
      guint32 operand = _gantry_program_operand (program, node, i);
      const Value *value = operand != NONE ? VALUE (program, operand) : NULL;

      if (value != NULL && value->kind == VALUE_PIECES && _gantry_program_shows (program, operand, input))
        return FALSE;
      if (value == NULL || value->root != input || value->offset >= offset + VALUE (program, v)->bytes || value->offset + value->bytes <= offset)
        continue;
      if (value->offset != offset || value->bytes != VALUE (program, v)->bytes || WORK (program, w)->n_values != 1
          || (planner->options.flags & GANTRY_PLAN_NO_IN_PLACE) || !_gantry_program_may_alias (program, w, i))
        return FALSE;
    }
  return TRUE;
}

/* Its result cannot take the argument's place: it is another argument, a constant, a part of something, or lives elsewhere, or the argument
 * is a result. */
static gboolean
is_donated_in_vain (const Program *program, guint32 input)
{
  const GantryModule *module = program->module;
  const GantryNode *node = gantry_module_node (module, VALUE (program, input)->node);
  gint alias = _gantry_program_alias (program, gantry_module_position (module, node) - program->function->first_node);

  if (!program->resident || alias < 0)
    return FALSE;
  node = gantry_module_node (module, gantry_function_result_id (module, program->function, (guint) alias));
  if (node == NULL || gantry_node_type (module, node)->kind != GANTRY_TYPE_TENSOR)
    return FALSE;
  return VALUE (program, _gantry_program_value_of (program, node))->root != input;
}

/* The units of @input that are read and lie at @offset, where @v, which is donated to, will. */
static void
find_units (GantryPlanner *planner, guint32 v, guint32 input, guint64 offset)
{
  const Program *program = planner->program;

  planner->in_place_donation[v] = may_donate (planner, v, input, offset);
  planner->units.first[v] = planner->units.values->len;
  for (guint32 i = program->first_unit[input]; i < program->first_unit[input + 1]; i++)
    {
      guint32 u = program->units[i];
      const Value *unit = VALUE (program, u);

      if (program->first_user[u] == program->first_user[u + 1] || unit->offset >= offset + VALUE (program, v)->bytes || unit->offset + unit->bytes <= offset)
        continue;
      g_array_append_val (planner->units.values, u);
      planner->writers.n[u]++;
    }
  planner->units.n[v] = planner->units.values->len - planner->units.first[v];
}

/* The same lists the other way round. */
static void
find_writers (GantryPlanner *planner)
{
  guint32 n = planner->program->values->len, next = 0;

  g_array_set_size (planner->writers.values, planner->units.values->len);
  for (guint32 u = 0; u < n; u++)
    {
      planner->writers.first[u] = next;
      next += planner->writers.n[u];
      planner->writers.n[u] = 0;
    }
  for (guint32 v = 0; v < n; v++)
    for (guint32 k = 0; k < planner->units.n[v]; k++)
      {
        guint32 u = g_array_index (planner->units.values, guint32, planner->units.first[v] + k);

        g_array_index (planner->writers.values, guint32, planner->writers.first[u] + planner->writers.n[u]++) = v;
      }
}

void
_gantry_planner_find_donations (GantryPlanner *planner)
{
  const Program *program = planner->program;

  for (guint32 v = 0; v < program->values->len; v++)
    {
      const Value *input = VALUE (program, v), *result;

      if (input->kind != VALUE_INPUT || input->root != v)
        continue;
      if (input->donated == NONE && is_donated_in_vain (program, v))
        g_array_append_val (planner->unmet_donations, v);
      if (input->donated == NONE)
        continue;
      g_array_append_val (planner->donated, v);
      result = VALUE (program, input->donated);
      if (result->kind == VALUE_COMPUTED)
        find_units (planner, input->donated, v, 0);
      for (guint32 k = 0; k < result->n_parts; k++)
        {
          guint32 part = g_array_index (program->parts, guint32, result->first_part + k);

          find_units (planner, part, v, VALUE (program, part)->group_offset);
        }
    }
  find_writers (planner);
}
