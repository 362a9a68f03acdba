/* SPDX-License-Identifier: Apache-2.0 */
/* What is computed once at load: when its constants are needed, which is written over which, and where they lie. None of it
 * depends on placements. */
#include "core/planner/planner-private.h"

void
_gantry_constants_free (Constants *constants)
{
  if (constants == NULL)
    return;
  g_free (constants->works);
  g_free (constants->begin);
  g_free (constants->end);
  g_free (constants->over);
  g_free (constants->offset);
  g_free (constants->workspace_offset);
  g_free (constants);
}

static void
take_over (const GantryPlanner *planner, Constants *constants, guint32 step)
{
  const Program *program = planner->program;
  guint32 w = constants->works[step];
  const Work *work = WORK (program, w);

  for (guint32 k = planner->first_overwritable[w]; k < planner->first_overwritable[w + 1]; k++)
    {
      guint32 from = USE (program, work, g_array_index (planner->overwritable, guint32, k));

      if (constants->end[from] != step || VALUE (program, from)->result || VALUE (program, from)->kind == VALUE_LITERAL)
        continue;
      constants->over[work->first_value] = from;
      return;
    }
}

static gboolean
is_placed (const Program *program, guint32 v)
{
  const Value *value = VALUE (program, v);

  return value->root == v && (value->kind == VALUE_FILLED || value->kind == VALUE_CONSTANT);
}

/* Until when the place of each constant is needed, by those that are written over it too. (transfer full) */
static guint32 *
find_ends (const Program *program, const Constants *constants)
{
  guint32 *ends = g_new0 (guint32, program->values->len + 1);

  for (guint32 v = 0; v < program->values->len; v++)
    {
      guint32 place = v;

      while (is_placed (program, v) && constants->over[place] != NONE)
        place = constants->over[place];
      ends[place] = MAX (ends[place], constants->end[v]);
    }
  return ends;
}

/* Constants of all kinds of memory lie together, and the scratch of the works that make them with them. */
static void
pack (const Program *program, Constants *constants, const GantryProgress *progress)
{
  const GantryPackOptions options = { GANTRY_PLACE_ALIGNMENT };
  guint32 n_values = program->values->len, n = 0;
  g_autofree guint32 *ends = find_ends (program, constants);
  g_autofree GantryPackItem *items = g_new0 (GantryPackItem, (gsize) n_values + program->n_init + 1);
  g_autofree guint64 **offsets = g_new (guint64 *, (gsize) n_values + program->n_init + 1);

  for (guint32 v = 0; v < n_values; v++)
    if (is_placed (program, v) && constants->over[v] == NONE)
      {
        items[n] = (GantryPackItem){ .begin = constants->begin[v], .end = ends[v], .size = VALUE (program, v)->bytes };
        offsets[n++] = &constants->offset[v];
      }
  for (guint32 s = 0; s < program->n_init; s++)
    if (WORK (program, constants->works[s])->workspace > 0)
      {
        items[n] = (GantryPackItem){ .begin = s, .end = s, .size = WORK (program, constants->works[s])->workspace };
        offsets[n++] = &constants->workspace_offset[s];
      }
  constants->bytes = gantry_pack (items, n, &options, progress);
  for (guint32 i = 0; i < n; i++)
    *offsets[i] = items[i].offset;
}

/* Literals that are used where they lie, each once. */
static guint64
count_literals (const Program *program)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  guint64 bytes = 0;

  for (guint32 v = 0; v < program->values->len; v++)
    {
      const Value *value = VALUE (program, v);

      if (value->root == v && value->kind == VALUE_LITERAL && g_hash_table_add (seen, GUINT_TO_POINTER (value->literal)))
        bytes += gantry_place_bytes (value->bytes);
    }
  return bytes;
}

Constants *
_gantry_constants_new (const GantryPlanner *planner, const GantryProgress *progress)
{
  const Program *program = planner->program;
  Constants *constants = g_new0 (Constants, 1);
  guint32 n = program->values->len, step = 0;

  constants->n_init = program->n_init;
  constants->works = g_new0 (guint32, program->n_init + 1);
  constants->begin = g_new0 (guint32, n + 1);
  constants->end = g_new0 (guint32, n + 1);
  constants->over = g_new (guint32, n + 1);
  constants->offset = g_new0 (guint64, n + 1);
  constants->workspace_offset = g_new0 (guint64, program->n_init + 1);
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
  pack (program, constants, progress);
  constants->literal_bytes = count_literals (program);
  return constants;
}
