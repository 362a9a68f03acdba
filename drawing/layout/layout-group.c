/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lays out one group: makes a level of what lies directly in it, takes the level through all
 * stages, and keeps what came out.
 */
#include "drawing/layout/layout-tree-private.h"

#include <math.h>

/* Between a border and the row of ports behind it. */
enum
{
  PORT_MARGIN = 4,
};

typedef struct
{
  LayTree *tree;
  LayJob *job;
  guint32 group;
  LayLevel level;
  const guint32 *parts;
  guint32 n_parts;
} Builder;

static LayVertex *
add_vertex (Builder *builder, LayKind kind, guint32 ref)
{
  LayVertex *vertex = &builder->level.vertex[builder->level.n_vertices++];

  vertex->kind = kind;
  vertex->ref = ref;
  vertex->previous = NAN;
  return vertex;
}

static void
add_members (Builder *builder)
{
  LayTree *tree = builder->tree;
  const GantryLayoutInput *input = tree->input;

  for (guint32 i = tree->node_first[builder->group]; i < tree->node_first[builder->group + 1]; i++)
    {
      guint32 v = tree->node[i];

      tree->local[v] = builder->level.n_vertices;
      LayVertex *vertex = add_vertex (builder, LAY_NODE, v);
      vertex->w = tree->box[v].w;
      vertex->h = tree->box[v].h;
      vertex->hint = input->order_hint != NULL ? input->order_hint[v] : v;
      if (input->previous_x != NULL && isfinite (input->previous_x[v]))
        vertex->previous = input->previous_x[v];
    }
  for (guint32 i = tree->child_first[builder->group]; i < tree->child_first[builder->group + 1]; i++)
    {
      const LayGroup *child = &tree->group[tree->child[i]];

      tree->local[input->n_nodes + tree->child[i]] = builder->level.n_vertices;
      LayVertex *vertex = add_vertex (builder, LAY_GROUP, tree->child[i]);
      vertex->w = child->w;
      vertex->h = child->h;
      vertex->hint = child->hint;
      vertex->previous = child->previous;
    }
}

/* The vertex that a part comes from. Parts are in the order of their nets, so those of one port
 * follow each other. */
static guint32
vertex_of_tail (Builder *builder, const LayPart *part, gint32 *pin)
{
  LayTree *tree = builder->tree;
  LayLevel *level = &builder->level;

  *pin = LAY_FREE;
  if (part->from_kind == LAY_END_NODE)
    return tree->local[part->from];
  if (part->from_kind == LAY_END_GROUP)
    {
      *pin = tree->part[part->from_part].port_x;
      return tree->local[tree->input->n_nodes + part->from];
    }
  *pin = 0;
  if (level->n_segments > 0)
    {
      guint32 before = level->segment[level->n_segments - 1].from;

      if (level->vertex[before].kind == LAY_IN && level->vertex[before].ref == part->from)
        return before;
    }
  add_vertex (builder, LAY_IN, part->from)->hint = part->hint;
  return level->n_vertices - 1;
}

static guint32
vertex_of_head (Builder *builder, guint32 p, const LayPart *part, gint32 *pin)
{
  LayTree *tree = builder->tree;

  *pin = LAY_FREE;
  if (part->to_kind == LAY_END_NODE)
    return tree->local[part->to];
  if (part->to_kind == LAY_END_GROUP)
    {
      *pin = part->port_x;
      return tree->local[tree->input->n_nodes + part->to];
    }
  *pin = 0;
  add_vertex (builder, LAY_OUT, p)->hint = G_MAXUINT32;
  return builder->level.n_vertices - 1;
}

static void
add_segments (Builder *builder)
{
  LayLevel *level = &builder->level;

  for (guint32 i = 0; i < builder->n_parts; i++)
    {
      const LayPart *part = &builder->tree->part[builder->parts[i]];
      LaySegment segment = { .klass = part->klass };

      segment.from = vertex_of_tail (builder, part, &segment.from_pin);
      segment.to = vertex_of_head (builder, builder->parts[i], part, &segment.to_pin);
      if (i > 0 && builder->tree->part[builder->parts[i - 1]].net != part->net)
        level->n_nets++;
      segment.net = level->n_nets;
      level->segment[level->n_segments++] = segment;
    }
  if (builder->n_parts > 0)
    level->n_nets++;
}

static void
build_level (Builder *builder)
{
  const LayTree *tree = builder->tree;
  LayLevel *level = &builder->level;
  guint32 g = builder->group;
  gsize n_members = tree->node_first[g + 1] - tree->node_first[g] + tree->child_first[g + 1] - tree->child_first[g];
  gsize n_ports = 0;

  builder->parts = tree->part_list + tree->part_first[g];
  builder->n_parts = tree->part_first[g + 1] - tree->part_first[g];
  for (guint32 i = 0; i < builder->n_parts; i++)
    {
      const LayPart *part = &tree->part[builder->parts[i]];

      n_ports += part->from_kind == LAY_END_BORDER;
      n_ports += part->to_kind == LAY_END_BORDER;
    }
  level->vertex = LAY_NEW (&builder->job->scratch, LayVertex, n_members + n_ports);
  level->segment = LAY_NEW (&builder->job->scratch, LaySegment, builder->n_parts);
  add_members (builder);
  add_segments (builder);
  level->n_base = level->n_vertices;
}

static gboolean
run_stages (LayLevel *level, LayJob *job)
{
  return lay_level_rank (level, job) && lay_level_route (level, job) && lay_level_order (level, job) && lay_level_axes (level, job)
         && lay_level_align (level, job) && lay_level_loosen (level, job) && lay_level_place (level, job) && lay_level_lanes (level, job)
         && lay_level_ports (level, job) && lay_level_tracks (level, job);
}

/* --- what came out --------------------------------------------------------------------------- */

/* Sizes the group's box around its content. */
static void
size_box (Builder *builder)
{
  LayGroup *group = &builder->tree->group[builder->group];
  const LayLevel *level = &builder->level;
  gint32 width = level->right - level->left;
  gint32 top = 0;
  gint32 bottom = 0;

  group->w = width;
  if (builder->group != builder->tree->root)
    {
      gboolean has_in = FALSE;
      gboolean has_out = FALSE;

      for (guint32 v = 0; v < level->n_base; v++)
        {
          has_in = has_in || level->vertex[v].kind == LAY_IN;
          has_out = has_out || level->vertex[v].kind == LAY_OUT;
        }
      top = builder->job->group_title + (has_in ? PORT_MARGIN : builder->job->group_padding);
      bottom = has_out ? PORT_MARGIN : builder->job->group_padding;
      group->w = MAX (width + 2 * builder->job->group_padding, group->min_width);
      group->w += group->w % 2;
    }
  group->content_x = (group->w - width) / 2;
  group->content_y = top;
  group->content_h = level->height;
  group->h = top + level->height + bottom;
}

static void
keep_boxes (Builder *builder)
{
  LayTree *tree = builder->tree;
  const LayLevel *level = &builder->level;
  gint32 content_x = tree->group[builder->group].content_x;

  for (guint32 v = 0; v < level->n_base; v++)
    {
      const LayVertex *vertex = &level->vertex[v];
      gint32 x = vertex->x - level->left;

      if (vertex->kind == LAY_NODE)
        {
          LayBox *box = &tree->box[vertex->ref];

          box->x = x;
          box->y = vertex->y;
          box->flipped = vertex->side == LAY_RIGHT;
        }
      else if (vertex->kind == LAY_GROUP)
        {
          LayGroup *child = &tree->group[vertex->ref];

          child->x = x;
          child->y = vertex->y;
          child->flipped = vertex->side == LAY_RIGHT;
        }
      else
        tree->part[vertex->ref].port_x = x + content_x;
    }
}

static gint32
y_of_face (const LayVertex *vertex, guint8 face)
{
  return face == LAY_BOTTOM ? vertex->y + vertex->h : vertex->y;
}

/* The wires of a segment in order: the first, then the rest. */
static const LayWire *
wire_of (const LayLevel *level, const LaySegment *segment, guint32 i)
{
  return &level->wire[i == 0 ? segment->wire : segment->rest_first + i - 1];
}

/* Where the wire at i leads to. */
static gint32
end_of (const LayLevel *level, const LaySegment *segment, guint32 i)
{
  return i < segment->n_rest ? wire_of (level, segment, i + 1)->at : level->link[segment->link].at;
}

static gint32 *
put_point (gint32 *at, gint32 x, gint32 y)
{
  at[0] = x;
  at[1] = y;
  return at + 2;
}

static void
keep_route (Builder *builder, const LaySegment *segment, LayPart *part)
{
  const LayLevel *level = &builder->level;
  const LayLink *link = &level->link[segment->link];
  guint32 n_turns = 0;

  for (guint32 i = 0; i <= segment->n_rest; i++)
    n_turns += wire_of (level, segment, i)->at != end_of (level, segment, i);
  part->n_points = 2 + 2 * n_turns;
  part->points = LAY_NEW (builder->tree->keep, gint32, 2 * (gsize) part->n_points);

  const LayWire *first = wire_of (level, segment, 0);
  gint32 *at = put_point (part->points, first->at - level->left, y_of_face (&level->vertex[segment->from], first->face));

  for (guint32 i = 0; i <= segment->n_rest; i++)
    {
      const LayWire *wire = wire_of (level, segment, i);
      gint32 end = end_of (level, segment, i);

      if (wire->at == end)
        continue;
      at = put_point (at, wire->at - level->left, wire->track);
      at = put_point (at, end - level->left, wire->track);
    }
  put_point (at, link->at - level->left, y_of_face (&level->vertex[segment->to], link->face));
}

/* Lays out a group whose inner groups are laid out already. FALSE if cancelled. */
gboolean
lay_tree_layout_group (LayTree *tree, LayJob *job, guint32 group)
{
  Builder builder = { .tree = tree, .job = job, .group = group };
  LayMark mark = lay_scratch_mark (&job->scratch);

  build_level (&builder);
  if (builder.level.n_vertices > 0 && !run_stages (&builder.level, job))
    return FALSE;
  size_box (&builder);
  keep_boxes (&builder);
  for (guint32 i = 0; i < builder.n_parts; i++)
    keep_route (&builder, &builder.level.segment[i], &tree->part[builder.parts[i]]);
  lay_scratch_release (&job->scratch, mark);
  return TRUE;
}
