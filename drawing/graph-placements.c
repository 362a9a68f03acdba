/* SPDX-License-Identifier: Apache-2.0 */
/* Placements drawn on the graph: the edges of saved values as they are placed, a letter on the node that makes
 * one, and ghosts of what is computed again. Pattern and letter say it as well as colour does. */
#include "drawing/graph-painter-private.h"
#include <math.h>

#define DASH 7.0f
#define GAP 5.0f
#define MOST_DASHES 24 /* of one segment: longer dashes then */
#define GHOST_HEIGHT 15.0f

static GantryPlacementKind
kind_of (const GantryGraphPainter *p, guint32 node)
{
  return gantry_placements_kind (p->state->placements, node);
}

/* The placements of all values that go along an edge, as bits. */
static guint
kinds_of (const GantryGraphPainter *p, const GantryGraphEdge *edge)
{
  guint kinds = 1u << kind_of (p, edge->value);

  for (guint32 i = edge->more; i != GANTRY_NO_MORE; i = g_array_index (p->picture->more, GantryGraphMore, i).next)
    kinds |= 1u << kind_of (p, g_array_index (p->picture->more, GantryGraphMore, i).value);
  return kinds;
}

GantryInk
_gantry_graph_edge_ink (const GantryGraphPainter *p, const GantryGraphEdge *edge)
{
  guint kinds = kinds_of (p, edge);

  return GANTRY_INK_KEEP
         + (kinds >> GANTRY_PLACEMENT_INT8 & 1        ? GANTRY_PLACEMENT_INT8
            : kinds >> GANTRY_PLACEMENT_BF16 & 1      ? GANTRY_PLACEMENT_BF16
            : kinds >> GANTRY_PLACEMENT_OFFLOAD & 1   ? GANTRY_PLACEMENT_OFFLOAD
            : kinds >> GANTRY_PLACEMENT_RECOMPUTE & 1 ? GANTRY_PLACEMENT_RECOMPUTE
                                                      : GANTRY_PLACEMENT_KEEP);
}

/* A fill along a level or upright line, @offset points beside it. */
static void
line_part (GantryGraphPainter *p, gboolean level, float from, float to, float across, float width, GantryInk ink)
{
  if (level)
    gantry_scene_fill (p->scene, from, roundf (across - width / 2), to - from, width, ink, 255);
  else
    gantry_scene_fill (p->scene, roundf (across - width / 2), from, width, to - from, ink, 255);
}

/* One line of a kind, @across points from the left or from the top. */
static void
paint_kind (GantryGraphPainter *p, gboolean level, float from, float to, float across, guint kind, GantryInk ink)
{
  float scale = p->view->scale, width = MAX (1.6f * scale, 1);
  float dash = MAX (DASH * MAX (scale, 0.5f), (to - from) / MOST_DASHES * DASH / (DASH + GAP));

  switch (kind)
    {
    case GANTRY_PLACEMENT_BF16: /* dots, long or short */
    case GANTRY_PLACEMENT_INT8:
      dash = MAX (dash * (kind == GANTRY_PLACEMENT_BF16 ? 0.6f : 0.25f), width);
      dash = MAX (dash, (to - from) / (2 * MOST_DASHES));
      for (float at = from; at < to; at += 2 * dash)
        line_part (p, level, at, MIN (at + dash, to), across, width, ink);
      break;
    case GANTRY_PLACEMENT_RECOMPUTE:
      for (float at = from; at < to; at += dash * (DASH + GAP) / DASH)
        line_part (p, level, at, MIN (at + dash, to), across, width, ink);
      break;
    case GANTRY_PLACEMENT_OFFLOAD:
      line_part (p, level, from - width, to + width, across - 1.5f * width, width, ink);
      line_part (p, level, from - width, to + width, across + 1.5f * width, width, ink);
      break;
    default: line_part (p, level, from - width / 2, to + width / 2, across, width, ink);
    }
}

void
_gantry_graph_paint_placed (GantryGraphPainter *p, const GantryLayoutPoint *a, const GantryLayoutPoint *b, const GantryGraphEdge *edge, GantryInk ink)
{
  float scale = p->view->scale, apart = 4 * MAX (scale, 0.7f);
  gboolean level = a->y == b->y, strong = ink == GANTRY_INK_EDGE_SELECTED;
  float along_a = ((level ? a->x : a->y) - (level ? p->view->x : p->view->y)) * scale;
  float along_b = ((level ? b->x : b->y) - (level ? p->view->x : p->view->y)) * scale;
  float across = ((level ? a->y : a->x) - (level ? p->view->y : p->view->x)) * scale;
  float end = level ? p->scene->width : p->scene->height;
  /* Only what is seen is cut into dashes. */
  float from = MAX (MIN (along_a, along_b), -20), to = MIN (MAX (along_a, along_b), end + 20);
  guint kinds = kinds_of (p, edge), n = 0;

  for (guint kind = 0; kind < GANTRY_N_PLACEMENTS; kind++)
    n += kinds >> kind & 1;
  /* A bundle of several kinds is a line of each, side by side. */
  across -= apart * (float) (n - 1) / 2;
  for (guint kind = 0; kind < GANTRY_N_PLACEMENTS; kind++)
    if ((kinds >> kind & 1) != 0)
      {
        paint_kind (p, level, from, to, across, kind, strong ? ink : GANTRY_INK_KEEP + kind);
        across += apart;
      }
}

/* A letter at the right end of a box that makes a placed value; on a folded scope the letters of all inside. */
static void
paint_letter (GantryGraphPainter *p, guint32 box, guint kinds)
{
  static const char letters[GANTRY_N_PLACEMENTS][2] = { "K", "R", "O", "B", "8" };
  GantryLayoutBox rect = _gantry_graph_to_scene (p->view, &p->picture->layout->node[box]);
  float size = p->view->scale, x = rect.x + rect.width - 18 * size;

  for (guint kind = GANTRY_N_PLACEMENTS; kind-- > 0;)
    if ((kinds >> kind & 1) != 0)
      {
        gantry_scene_fill (p->scene, x, rect.y - 11 * size, 15 * size, 15 * size, GANTRY_INK_KEEP + kind, 255);
        gantry_scene_text (p->scene, x, rect.y - 11 * size, 15 * size, 15 * size, letters[kind], GANTRY_TEXT_SMALL | GANTRY_TEXT_BOLD | GANTRY_TEXT_CENTER,
                           size, GANTRY_INK_BACKGROUND);
        x -= 17 * size;
      }
}

void
_gantry_graph_paint_letters (GantryGraphPainter *p)
{
  if (p->state->placements == NULL)
    return;
  for (guint i = 0; i < p->boxes->len; i++)
    {
      guint32 box = g_array_index (p->boxes, guint32, i);
      guint kinds = 0;

      for (guint32 e = p->picture->edges_out[box]; e < p->picture->edges_out[box + 1]; e++)
        {
          const GantryGraphEdge *edge = GANTRY_EDGE (p->picture, p->picture->out_list[e]);

          if (edge->saved)
            kinds |= kinds_of (p, edge);
        }
      /* That a parameter is kept is no news. */
      if (GANTRY_BOX (p->picture, box)->op_class == GANTRY_CLASS_INPUT)
        kinds &= ~(1u << GANTRY_PLACEMENT_KEEP);
      if (kinds != 0)
        paint_letter (p, box, kinds);
    }
}

GArray *
gantry_graph_ghosts_new (const GantryPlanStep *steps, guint n_steps)
{
  GArray *ghosts = g_array_new (FALSE, FALSE, sizeof (GantryGraphGhost));
  guint first = 0;

  for (guint s = 0; s < n_steps; s++)
    if (steps[s].kind == GANTRY_STEP_RECOMPUTE)
      {
        const GantryGraphGhost ghost = { .node = steps[s].node };

        g_array_append_val (ghosts, ghost);
      }
    else if (steps[s].kind == GANTRY_STEP_RUN)
      for (; first < ghosts->len; first++)
        g_array_index (ghosts, GantryGraphGhost, first).user = steps[s].node;
  return ghosts;
}

/* How many ghosts a user has, and the first of them. */
typedef struct
{
  guint n;
  guint32 node;
} GhostsOf;

static GHashTable *
ghosts_by_box (const GantryGraphPainter *p)
{
  GHashTable *by_box = g_hash_table_new_full (NULL, NULL, NULL, g_free);

  for (guint i = 0; i < p->state->ghosts->len; i++)
    {
      const GantryGraphGhost *ghost = &g_array_index (p->state->ghosts, GantryGraphGhost, i);
      guint32 box = gantry_graph_picture_box_of (p->picture, ghost->user);
      GhostsOf *of = g_hash_table_lookup (by_box, GUINT_TO_POINTER (box));

      if (box == GANTRY_NO_BOX)
        continue;
      if (of == NULL)
        g_hash_table_insert (by_box, GUINT_TO_POINTER (box), of = g_new0 (GhostsOf, 1));
      of->n++;
      of->node = ghost->node;
    }
  return by_box;
}

static void
paint_ghost (GantryGraphPainter *p, guint32 box, const GhostsOf *of)
{
  GantryLayoutBox rect = _gantry_graph_to_scene (p->view, &p->picture->layout->node[box]);
  const GantryNode *node = gantry_module_node (p->picture->module, of->node);
  float size = p->view->scale, height = GHOST_HEIGHT * size, y = rect.y + rect.height + 2 * size;
  g_autofree char *text = of->n > 1 ? g_strdup_printf ("↻ %u again", of->n)
                                    : g_strdup_printf ("↻ %s", node != NULL ? gantry_node_op_name (p->picture->module, node) : "?");
  float width = MIN (rect.width, (gantry_theme_text_width (text, GANTRY_TEXT_SMALL) + 8) * size);

  gantry_scene_fill (p->scene, rect.x, y, width, height, GANTRY_INK_BACKGROUND, 255);
  for (float x = rect.x; x < rect.x + width; x += 6 * size)
    {
      gantry_scene_fill (p->scene, x, y, MIN (3.5f * size, rect.x + width - x), 1, GANTRY_INK_RECOMPUTE, 255);
      gantry_scene_fill (p->scene, x, y + height - 1, MIN (3.5f * size, rect.x + width - x), 1, GANTRY_INK_RECOMPUTE, 255);
    }
  gantry_scene_text (p->scene, rect.x + 3 * size, y, width - 4 * size, height, text, GANTRY_TEXT_SMALL, size * 0.92f, GANTRY_INK_RECOMPUTE);
}

void
_gantry_graph_paint_ghosts (GantryGraphPainter *p)
{
  g_autoptr (GHashTable) by_box = NULL;

  if (p->state->ghosts == NULL || p->state->ghosts->len == 0)
    return;
  by_box = ghosts_by_box (p);
  for (guint i = 0; i < p->boxes->len; i++)
    {
      guint32 box = g_array_index (p->boxes, guint32, i);
      const GhostsOf *of = g_hash_table_lookup (by_box, GUINT_TO_POINTER (box));

      if (of != NULL)
        paint_ghost (p, box, of);
    }
}
