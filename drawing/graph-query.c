/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at a finished picture: what is where, what belongs to what, walking and searching. */
#include "core/graph/operation.h"
#include "drawing/graph-picture-private.h"
#include <math.h>
#include <string.h>

guint32
gantry_graph_picture_edge_n_values (const GantryGraphPicture *picture, guint32 edge)
{
  return GANTRY_EDGE (picture, edge)->n_values;
}

GantryModule *
gantry_graph_picture_module (const GantryGraphPicture *picture)
{
  return picture->module;
}

gboolean
gantry_graph_picture_is_mirrored (const GantryGraphPicture *picture)
{
  return picture->mirrored;
}

GantryPhase
gantry_graph_picture_box_phase (const GantryGraphPicture *picture, guint32 box)
{
  return (GantryPhase) GANTRY_BOX (picture, box)->phase;
}

gboolean
gantry_graph_picture_edge_saved (const GantryGraphPicture *picture, guint32 edge, guint32 *value)
{
  if (value != NULL)
    *value = GANTRY_EDGE (picture, edge)->value;
  return GANTRY_EDGE (picture, edge)->saved;
}

const GantryLayout *
gantry_graph_picture_layout (const GantryGraphPicture *picture)
{
  return picture->layout;
}

GHashTable *
gantry_graph_picture_folded (const GantryGraphPicture *picture)
{
  return picture->folded;
}

void
gantry_graph_picture_size (const GantryGraphPicture *picture, float *width, float *height)
{
  *width = picture->layout->width;
  *height = picture->layout->height;
}

guint32
gantry_graph_picture_n_boxes (const GantryGraphPicture *picture)
{
  return picture->boxes->len;
}

guint32
gantry_graph_picture_box_of (const GantryGraphPicture *picture, guint32 id)
{
  const GantryNode *node = gantry_module_node (picture->module, id);
  guint32 box = node != NULL ? picture->box_of[gantry_module_position (picture->module, node)] : 0;

  return box != 0 ? box - 1 : GANTRY_NO_BOX;
}

guint32
gantry_graph_picture_box_node (const GantryGraphPicture *picture, guint32 box)
{
  return GANTRY_BOX (picture, box)->node;
}

guint32
gantry_graph_picture_box_scope (const GantryGraphPicture *picture, guint32 box)
{
  return GANTRY_BOX (picture, box)->scope;
}

guint32
gantry_graph_picture_group_scope (const GantryGraphPicture *picture, guint32 group)
{
  return g_array_index (picture->group_scopes, guint32, group);
}

GArray *
gantry_graph_picture_box_nodes (const GantryGraphPicture *picture, guint32 box)
{
  GArray *ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  const GantryGraphBox *b = GANTRY_BOX (picture, box);

  if (b->kind != GANTRY_BOX_SCOPE)
    g_array_append_val (ids, b->node);
  for (guint32 i = 0; b->kind == GANTRY_BOX_SCOPE && i < picture->module->n_nodes; i++)
    if (picture->box_of[i] == box + 1)
      g_array_append_val (ids, picture->module->nodes[i].id);
  return ids;
}

void
gantry_graph_picture_box_rect (const GantryGraphPicture *picture, guint32 box, GantryLayoutBox *rect)
{
  *rect = picture->layout->node[box];
}

const char *
gantry_graph_picture_box_title (const GantryGraphPicture *picture, guint32 box)
{
  return picture->texts->str + GANTRY_BOX (picture, box)->title;
}

const char *
gantry_graph_picture_box_subtitle (const GantryGraphPicture *picture, guint32 box)
{
  return picture->texts->str + GANTRY_BOX (picture, box)->subtitle;
}

GantryLayoutItemKind
gantry_graph_picture_pick (const GantryGraphPicture *picture, float x, float y, float tolerance, guint32 *index)
{
  return gantry_layout_pick (picture->layout, x, y, tolerance, index);
}

/* Of the boxes at the other ends of some edges the one whose middle is horizontally nearest. */
static guint32
nearest_end (const GantryGraphPicture *picture, guint32 box, const guint32 *edges, guint32 n, gboolean tails)
{
  const GantryLayoutBox *here = &picture->layout->node[box];
  guint32 best = GANTRY_NO_BOX;
  float best_distance = INFINITY;

  for (guint32 i = 0; i < n; i++)
    {
      const GantryGraphEdge *edge = GANTRY_EDGE (picture, edges[i]);
      guint32 end = tails ? edge->tail : edge->head;
      const GantryLayoutBox *there = &picture->layout->node[end];
      float distance = fabsf (there->x + there->width / 2 - here->x - here->width / 2) + fabsf (there->y - here->y) / 4;

      if (distance < best_distance)
        {
          best = end;
          best_distance = distance;
        }
    }
  return best;
}

static guint32
row_neighbour (const GantryGraphPicture *picture, guint32 box, gboolean right)
{
  const GantryLayoutBox *here = &picture->layout->node[box];
  guint32 best = GANTRY_NO_BOX;
  float best_distance = INFINITY;

  for (guint32 i = 0; i < picture->boxes->len; i++)
    {
      const GantryLayoutBox *there = &picture->layout->node[i];
      float distance = right ? there->x - here->x : here->x - there->x;

      if (i == box || distance <= 0 || there->y + there->height <= here->y || there->y >= here->y + here->height)
        continue;
      if (distance < best_distance)
        {
          best = i;
          best_distance = distance;
        }
    }
  return best;
}

guint32
gantry_graph_picture_walk (const GantryGraphPicture *picture, guint32 box, GantryWalk direction)
{
  guint32 first;

  g_return_val_if_fail (box < picture->boxes->len, GANTRY_NO_BOX);
  switch (direction)
    {
    case GANTRY_WALK_UP: first = picture->edges_in[box]; return nearest_end (picture, box, picture->in_list + first, picture->edges_in[box + 1] - first, TRUE);
    case GANTRY_WALK_DOWN:
      first = picture->edges_out[box];
      return nearest_end (picture, box, picture->out_list + first, picture->edges_out[box + 1] - first, FALSE);
    case GANTRY_WALK_LEFT: return row_neighbour (picture, box, FALSE);
    case GANTRY_WALK_RIGHT: return row_neighbour (picture, box, TRUE);
    }
  return GANTRY_NO_BOX;
}

static gboolean
contains (const char *text, const char *folded)
{
  g_autofree char *lower = g_utf8_casefold (text, -1);

  return strstr (lower, folded) != NULL;
}

GArray *
gantry_graph_search (const GantryModule *module, const char *text)
{
  GArray *ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree char *folded = g_utf8_casefold (text, -1);

  for (guint32 i = 0; *folded != '\0' && i < module->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[i];
      g_autofree char *type = gantry_context_type_text (module->context, node->type);

      if (contains (gantry_node_op_name (module, node), folded) || contains (gantry_context_string (module->context, node->name), folded)
          || contains (type, folded) || contains (gantry_context_scope_path (module->context, node->scope), folded))
        g_array_append_val (ids, node->id);
    }
  return ids;
}
