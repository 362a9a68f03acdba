/* SPDX-License-Identifier: Apache-2.0 */
/* What is computed once at load: when its constants are needed, and which is written over which. */
#include "core/memory/planner-private.h"

void
_gantry_constants_free (Constants *constants)
{
  if (constants == NULL)
    return;
  g_free (constants->works);
  g_free (constants->begin);
  g_free (constants->end);
  g_free (constants->over);
  g_free (constants);
}

static void
take_over (const GantryPlanner *planner, Constants *constants, guint32 step)
{
  const Program *program = planner->program;
  guint32 w = constants->works[step];
  const Work *work = WORK (program, w);

  for (guint32 k = planner->first_take[w]; k < planner->first_take[w + 1]; k++)
    {
      guint32 from = USE (program, work, g_array_index (planner->takes, guint32, k));

      if (constants->end[from] != step || VALUE (program, from)->result || VALUE (program, from)->kind == VALUE_LITERAL)
        continue;
      constants->over[work->first_value] = from;
      return;
    }
}

Constants *
_gantry_constants_new (const GantryPlanner *planner)
{
  const Program *program = planner->program;
  Constants *constants = g_new0 (Constants, 1);
  guint32 n = program->values->len, step = 0;

  constants->n_init = program->n_init;
  constants->works = g_new0 (guint32, program->n_init + 1);
  constants->begin = g_new0 (guint32, n + 1);
  constants->end = g_new0 (guint32, n + 1);
  constants->over = g_new (guint32, n + 1);
  for (guint32 v = 0; v < n; v++)
    {
      constants->over[v] = NONE;
      if (VALUE (program, v)->result)
        constants->end[v] = program->n_init;
    }
  for (guint32 w = 0; w < program->works->len; w++)
    {
      const Work *work = WORK (program, w);

      if (work->init)
        constants->works[step] = w;
      for (guint32 k = 0; work->init && k < work->n_values; k++)
        {
          constants->begin[work->first_value + k] = step;
          constants->end[work->first_value + k] = MAX (constants->end[work->first_value + k], step);
        }
      for (guint32 k = 0; k < work->n_uses; k++)
        {
          guint32 unit = USE (program, work, k);

          constants->end[unit] = MAX (constants->end[unit], work->init ? step : program->n_init);
        }
      step += work->init;
    }
  for (guint32 s = 0; s < program->n_init; s++)
    take_over (planner, constants, s);
  return constants;
}
