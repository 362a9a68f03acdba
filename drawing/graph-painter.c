/* SPDX-License-Identifier: Apache-2.0 */
/* Paints a graph picture. What is drawn depends on the size on the screen: merged cells far out, then boxes and
 * edges, then titles, then names and types. Only what lies in the view is looked at. */
#include "drawing/graph-painter-private.h"
#include "drawing/labels-private.h"
#include <math.h>

/* Boxes and edge segments of a frame, so that what follows them still fits. */
#define MOST_BOXES 3500u
#define MOST_SEGMENTS 7000u
#define MOST_LENGTHS 64u /* of edges, in segments, that are told apart */
#define ARROW 4.0f
#define CELL 4.0f /* points of a merged cell */

static gboolean
collect (GantryLayoutItemKind kind, guint32 index, gpointer user_data)
{
  GantryGraphPainter *p = user_data;

  if (kind == GANTRY_LAYOUT_ITEM_NODE)
    g_array_append_val (p->boxes, index);
  else if (kind == GANTRY_LAYOUT_ITEM_EDGE)
    g_array_append_val (p->edges, index);
  else if (kind == GANTRY_LAYOUT_ITEM_GROUP)
    g_array_append_val (p->groups, index);
  return TRUE;
}

GantryLayoutBox
_gantry_graph_to_scene (const GantryGraphView *view, const GantryLayoutBox *box)
{
  return (GantryLayoutBox){ (box->x - view->x) * view->scale, (box->y - view->y) * view->scale, box->width * view->scale, box->height * view->scale };
}

/* Does a box stand for a node of the set? Folded scopes hold many, so sets are turned into sets of boxes once. */
static GHashTable *
boxes_of_set (const GantryGraphPicture *picture, GHashTable *nodes)
{
  GHashTable *boxes;
  GHashTableIter iter;
  gpointer key;

  if (nodes == NULL || g_hash_table_size (nodes) == 0)
    return NULL;
  boxes = g_hash_table_new (NULL, NULL);
  g_hash_table_iter_init (&iter, nodes);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      guint32 box = gantry_graph_picture_box_of (picture, GPOINTER_TO_UINT (key));

      if (box != GANTRY_NO_BOX)
        g_hash_table_add (boxes, GUINT_TO_POINTER (box + 1));
    }
  return boxes;
}

/* Far out: one fill for each cell of the screen that a box touches, in the colour of the last one. A picture that is written whole may have
 * a thousand times as many cells as boxes: of each row only what lies between the first and the last of them is looked at. */
static void
paint_cells (GantryGraphPainter *p)
{
  guint columns = (guint) ceilf (p->scene->width / CELL), rows = (guint) ceilf (p->scene->height / CELL);
  g_autofree guint8 *cells = g_new0 (guint8, (gsize) columns * rows + 1);
  g_autofree guint *first = g_new (guint, rows + 1), *limit = g_new0 (guint, rows + 1);

  for (guint y = 0; y < rows; y++)
    first[y] = columns;

  for (guint i = 0; i < p->boxes->len; i++)
    {
      guint32 index = g_array_index (p->boxes, guint32, i);
      GantryLayoutBox box = _gantry_graph_to_scene (p->view, &p->picture->layout->node[index]);
      int x0 = CLAMP ((int) (box.x / CELL), 0, (int) columns - 1), y0 = CLAMP ((int) (box.y / CELL), 0, (int) rows - 1);
      int x1 = CLAMP ((int) ((box.x + box.width) / CELL), x0, (int) columns - 1);

      for (int x = x0; x <= x1; x++)
        cells[(gsize) y0 * columns + (gsize) x] = GANTRY_BOX (p->picture, index)->op_class + 1;
      first[y0] = MIN (first[y0], (guint) x0);
      limit[y0] = MAX (limit[y0], (guint) x1 + 1);
    }
  for (guint y = 0; y < rows; y++)
    for (guint x = first[y], end; x < limit[y]; x = end)
      {
        guint8 cell = cells[(gsize) y * columns + x];

        for (end = x + 1; end < limit[y] && cells[(gsize) y * columns + end] == cell; end++)
          ;
        if (cell != 0)
          gantry_scene_fill (p->scene, (float) x * CELL, (float) y * CELL, (float) (end - x) * CELL, CELL - 1, GANTRY_INK_CLASS + cell - 1, 255);
      }
}

static int
compare_depth (gconstpointer a, gconstpointer b, gpointer data)
{
  const GantryGraphPicture *picture = data;
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;
  guint32 p = g_array_index (picture->group_depths, guint32, x), q = g_array_index (picture->group_depths, guint32, y);

  return p != q ? (p < q ? -1 : 1) : (x < y ? -1 : x > y);
}

static void
paint_groups (GantryGraphPainter *p)
{
  g_array_sort_with_data (p->groups, compare_depth, (gpointer) p->picture);
  for (guint i = 0; i < p->groups->len; i++)
    {
      guint32 group = g_array_index (p->groups, guint32, i);
      GantryLayoutBox box = _gantry_graph_to_scene (p->view, &p->picture->layout->group[group]);
      guint32 depth = g_array_index (p->picture->group_depths, guint32, group);
      float size = p->view->scale;

      if (box.width < 6)
        continue;
      gantry_scene_fill (p->scene, box.x, box.y, box.width, box.height, depth % 2 == 0 ? GANTRY_INK_SURFACE : GANTRY_INK_SURFACE_2, 255);
      gantry_scene_frame (p->scene, box.x, box.y, box.width, box.height, 1, GANTRY_INK_BORDER, 255);
      if (size < SCALE_TITLE)
        continue;
      /* The fold marker: a minus in a square. */
      gantry_scene_frame (p->scene, box.x + 6 * size, box.y + 6 * size, 11 * size, 11 * size, 1, GANTRY_INK_TEXT_DIM, 255);
      gantry_scene_fill (p->scene, box.x + 8.5f * size, box.y + 11 * size, 6 * size, MAX (1, size), GANTRY_INK_TEXT_DIM, 255);
      gantry_scene_text (p->scene, box.x + 22 * size, box.y + 2 * size, box.width - 26 * size, 19 * size,
                         p->picture->texts->str + g_array_index (p->picture->group_titles, guint32, group), GANTRY_TEXT_SMALL | GANTRY_TEXT_BOLD, size,
                         GANTRY_INK_TEXT_DIM);
    }
}

/* A segment of an orthogonal route as a thin fill. */
static void
paint_segment (GantryGraphPainter *p, const GantryLayoutPoint *a, const GantryLayoutPoint *b, float line, GantryInk ink)
{
  float x0 = (MIN (a->x, b->x) - p->view->x) * p->view->scale, y0 = (MIN (a->y, b->y) - p->view->y) * p->view->scale;
  float x1 = (MAX (a->x, b->x) - p->view->x) * p->view->scale, y1 = (MAX (a->y, b->y) - p->view->y) * p->view->scale;

  gantry_scene_fill (p->scene, roundf (x0 - line / 2), roundf (y0 - line / 2), x1 - x0 + line, y1 - y0 + line, ink, 255);
}

/* The head of the arrow, stacked of a few fills; edges end going down, or up in a folded drawing. */
static void
paint_arrow (GantryGraphPainter *p, const GantryLayoutPoint *before, const GantryLayoutPoint *end, GantryInk ink)
{
  float size = ARROW * MIN (p->view->scale, 1.5f);
  float x = roundf ((end->x - p->view->x) * p->view->scale), y = (end->y - p->view->y) * p->view->scale;
  float way = end->y >= before->y ? 1 : -1;

  for (int i = 0; i < 4; i++)
    {
      float half = size * (float) (i + 1) / 4;
      float top = y - way * size * 1.5f * (float) (i + (way > 0 ? 1 : 0)) / 4;

      gantry_scene_fill (p->scene, x - half, top, 2 * half, size * 1.5f / 4 + 0.5f, ink, 255);
    }
}

static gboolean
is_selected (const GantryGraphPainter *p, guint32 index, GHashTable *selected)
{
  const GantryGraphEdge *edge = GANTRY_EDGE (p->picture, index);

  return selected != NULL
         && (g_hash_table_contains (selected, GUINT_TO_POINTER (edge->tail + 1)) || g_hash_table_contains (selected, GUINT_TO_POINTER (edge->head + 1)));
}

static void
paint_edge (GantryGraphPainter *p, guint32 index, GHashTable *selected)
{
  const GantryLayout *layout = p->picture->layout;
  const GantryGraphEdge *edge = GANTRY_EDGE (p->picture, index);
  guint32 first = layout->edge_first[index], last = layout->edge_first[index + 1];
  gboolean strong = is_selected (p, index, selected);
  gboolean placed = edge->saved && p->state->placements != NULL;
  GantryInk ink = strong ? GANTRY_INK_EDGE_SELECTED : placed ? _gantry_graph_edge_ink (p, edge) : GANTRY_INK_EDGE;
  float line = strong ? MAX (2 * p->view->scale, 1.5f) : MAX (1.2f * p->view->scale, 1);

  for (guint32 i = first; i + 1 < last; i++)
    if (placed)
      _gantry_graph_paint_placed (p, &layout->points[i], &layout->points[i + 1], edge, ink);
    else
      paint_segment (p, &layout->points[i], &layout->points[i + 1], line, ink);
  if (p->view->scale >= SCALE_TITLE && last - first >= 2)
    paint_arrow (p, &layout->points[last - 2], &layout->points[last - 1], ink);
}

static guint
n_segments (const GantryLayout *layout, guint32 edge)
{
  return layout->edge_first[edge + 1] - layout->edge_first[edge] - 1;
}

/* Edges of up to how many segments have room together, beside those of what is selected. Those with few are the ones between
 * neighbours, which show what follows on what; those with many cross the picture. */
static guint
longest_drawn (const GantryGraphPainter *p, GHashTable *selected, guint room)
{
  guint counts[MOST_LENGTHS] = { 0 }, segments = 0, n = 1;

  for (guint i = 0; i < p->edges->len; i++)
    {
      guint32 index = g_array_index (p->edges, guint32, i);

      if (!is_selected (p, index, selected))
        counts[MIN (n_segments (p->picture->layout, index), MOST_LENGTHS - 1)]++;
    }
  for (; n < MOST_LENGTHS - 1; n++)
    {
      segments += n * counts[n];
      if (segments + (n + 1) * counts[n + 1] > room)
        break;
    }
  return n;
}

/* Those edges of what is selected, or the others, that have at most @most segments, as far as there is room. Returns: how many */
static guint
paint_edges_of (GantryGraphPainter *p, GHashTable *selected, gboolean strong, guint most, guint room)
{
  guint n = 0;

  for (guint i = 0; i < p->edges->len; i++)
    {
      guint32 index = g_array_index (p->edges, guint32, i);
      guint own = n_segments (p->picture->layout, index);

      if (own > MIN (most, room) || is_selected (p, index, selected) != strong)
        continue;
      room -= own;
      n++;
      paint_edge (p, index, selected);
    }
  return n;
}

/* What is left out of a picture is said in it. */
static void
tell_left_out (GantryGraphPainter *p, guint n)
{
  g_autofree char *all = gantry_format_plural (p->edges->len, "edge", "edges"), *drawn = gantry_format_integer (n);
  g_autofree char *text = g_strdup_printf ("%s of %s are drawn; zoom in to see the others", drawn, all);
  float width = gantry_theme_text_width (text, GANTRY_TEXT_SMALL) + 4;

  gantry_scene_fill (p->scene, 6, p->scene->height - 22, width + 4, 18, GANTRY_INK_SURFACE, 235);
  gantry_scene_text (p->scene, 8, p->scene->height - 21, width, 16, text, GANTRY_TEXT_SMALL, 1, GANTRY_INK_TEXT);
}

/* All edges where they have room; else those of what is selected, and the short ones. What is selected lies on top. Returns: how many */
static guint
paint_edges (GantryGraphPainter *p, GHashTable *selected)
{
  guint segments = 0, strong = 0, most = G_MAXUINT, room, n;

  if (p->view->scale < SCALE_EDGES)
    return p->edges->len; /* too far out for any */
  for (guint i = 0; i < p->edges->len; i++)
    {
      guint32 index = g_array_index (p->edges, guint32, i);
      guint own = n_segments (p->picture->layout, index);

      segments += own;
      strong += is_selected (p, index, selected) ? own : 0;
    }
  room = MOST_SEGMENTS - MIN (strong, MOST_SEGMENTS);
  if (segments > MOST_SEGMENTS)
    most = longest_drawn (p, selected, room);
  n = paint_edges_of (p, selected, FALSE, most, room);
  return n + paint_edges_of (p, selected, TRUE, G_MAXUINT, MOST_SEGMENTS);
}

/* A line of text on a patch in the colour of its surroundings, so that lines behind it do not strike it through. @x, @y: its upper left
 * corner; @labels: (nullable): that it must not lie on. Returns: FALSE where it would, and is left out */
static gboolean
paint_label (GantryGraphPainter *p, guint32 group, float x, float y, const char *text, GantryLabels *labels)
{
  float size = p->view->scale;
  float width = (gantry_theme_text_width (text, GANTRY_TEXT_SMALL) * 0.92f + 4) * size;
  float patch = width * 0.86f; /* the estimate is an upper one */
  GantryInk ink = GANTRY_INK_BACKGROUND;

  if (group != GANTRY_LAYOUT_NO_GROUP)
    {
      GantryLayoutBox around = _gantry_graph_to_scene (p->view, &p->picture->layout->group[group]);

      ink = g_array_index (p->picture->group_depths, guint32, group) % 2 == 0 ? GANTRY_INK_SURFACE : GANTRY_INK_SURFACE_2;
      patch = MIN (patch, around.x + around.width - 2 - x); /* the border stays whole */
    }
  if (labels != NULL && _gantry_labels_place (labels, &(GantryLayoutBox){ x - 1, y, patch, 13 * size }, 1) > 0)
    return FALSE;
  gantry_scene_fill (p->scene, x - 1, y, patch, 13 * size, ink, 255);
  gantry_scene_text (p->scene, x + 1, y - size, width, 14 * size, text, GANTRY_TEXT_SMALL, size * 0.92f, GANTRY_INK_TEXT_DIM);
  return TRUE;
}

static gboolean
leaves_upwards (const GantryLayout *layout, guint32 edge)
{
  guint32 first = layout->edge_first[edge];

  return layout->edge_first[edge + 1] > first + 1 && layout->points[first + 1].y < layout->points[first].y;
}

/* How many values a bundle holds, above the middle of its longest level part. */
static void
paint_bundle_label (GantryGraphPainter *p, guint32 index)
{
  const GantryLayout *layout = p->picture->layout;
  const GantryGraphEdge *edge = GANTRY_EDGE (p->picture, index);
  const char *text = p->picture->texts->str + edge->label;
  float size = p->view->scale, longest = 0, x = 0, y = 0;

  for (guint32 i = layout->edge_first[index]; i + 1 < layout->edge_first[index + 1]; i++)
    {
      const GantryLayoutPoint *a = &layout->points[i], *b = &layout->points[i + 1];

      if (a->y != b->y || fabsf (a->x - b->x) <= longest)
        continue;
      longest = fabsf (a->x - b->x);
      x = (a->x + b->x) / 2;
      y = a->y;
    }
  if (longest > gantry_theme_text_width (text, GANTRY_TEXT_SMALL))
    paint_label (p, GANTRY_BOX (p->picture, edge->tail)->group, (x - gantry_theme_text_width (text, GANTRY_TEXT_SMALL) / 2 - p->view->x) * size,
                 (y - 16 - p->view->y) * size, text, NULL);
}

static void
labels_free (gpointer data)
{
  _gantry_labels_clear (data);
  g_free (data);
}

/* Edges that leave a box side by side have less room than their labels. (transfer none): those at @tail, which may leave the picture */
static GantryLabels *
labels_at (GHashTable *by_tail, guint32 tail)
{
  GantryLabels *labels = g_hash_table_lookup (by_tail, GUINT_TO_POINTER (tail));

  if (labels == NULL)
    {
      labels = g_new (GantryLabels, 1);
      _gantry_labels_init (labels, -G_MAXFLOAT / 2, -G_MAXFLOAT / 2, G_MAXFLOAT, G_MAXFLOAT);
      g_hash_table_insert (by_tail, GUINT_TO_POINTER (tail), labels);
    }
  return labels;
}

/* The type beside the trunk, once for each value. */
static void
paint_edge_labels (GantryGraphPainter *p)
{
  const GantryLayout *layout = p->picture->layout;
  g_autoptr (GHashTable) seen = NULL, by_tail = NULL;

  if (p->view->scale < SCALE_LABEL || !p->state->labels)
    return;
  seen = g_hash_table_new (NULL, NULL);
  by_tail = g_hash_table_new_full (NULL, NULL, NULL, labels_free);
  for (guint i = 0; i < p->edges->len; i++)
    {
      guint32 index = g_array_index (p->edges, guint32, i);
      const GantryGraphEdge *edge = GANTRY_EDGE (p->picture, index);
      const GantryLayoutPoint *start = &layout->points[layout->edge_first[index]];
      float size = p->view->scale;

      /* So much leaves a folded scope of a mirror that the counts of saved values are all that can be read. */
      if (p->picture->mirrored && GANTRY_BOX (p->picture, edge->tail)->kind == GANTRY_BOX_SCOPE)
        {
          if (edge->saved && edge->n_values > 1)
            paint_bundle_label (p, index);
          continue;
        }
      if (layout->edge_first[index + 1] == layout->edge_first[index] || g_hash_table_contains (seen, GUINT_TO_POINTER (edge->value)))
        continue;
      /* In the part of a folded drawing that runs upwards data leaves a box at its top. */
      if (paint_label (p, GANTRY_BOX (p->picture, edge->tail)->group, (start->x + 4 - p->view->x) * size,
                       (start->y + (leaves_upwards (layout, index) ? -14 : 1) - p->view->y) * size, p->picture->texts->str + edge->label,
                       labels_at (by_tail, edge->tail)))
        g_hash_table_add (seen, GUINT_TO_POINTER (edge->value));
    }
}

static void
paint_box_texts (GantryGraphPainter *p, const GantryGraphBox *box, const GantryLayoutBox *rect)
{
  float size = p->view->scale;
  gboolean two = size >= SCALE_SUBTITLE;
  float left = rect->x + 8 * size, width = rect->width - 14 * size;

  gantry_scene_text (p->scene, left, rect->y + (two ? 4 : 0) * size, width, two ? 19 * size : rect->height, p->picture->texts->str + box->title,
                     GANTRY_TEXT_NORMAL | GANTRY_TEXT_BOLD, size, GANTRY_INK_TEXT_ON_CLASS);
  if (!two)
    return;
  gantry_scene_text (p->scene, left, rect->y + 23 * size, width - (box->n_constants > 0 ? 24 * size : 0), 16 * size, p->picture->texts->str + box->subtitle,
                     GANTRY_TEXT_SMALL, size, GANTRY_INK_TEXT_ON_CLASS);
  if (box->n_constants > 0)
    {
      char weights[16];

      g_snprintf (weights, sizeof weights, "+%u", box->n_constants);
      gantry_scene_text (p->scene, rect->x + rect->width - 36 * size, rect->y + 23 * size, 30 * size, 16 * size, weights, GANTRY_TEXT_SMALL | GANTRY_TEXT_RIGHT,
                         size, GANTRY_INK_TEXT_ON_CLASS);
    }
}

/* What a pass did is told by a bar at the left and a sign, not by colour alone. */
static void
paint_change (GantryGraphPainter *p, const GantryLayoutBox *rect, gboolean made)
{
  float size = MAX (p->view->scale, 0.3f);
  GantryInk ink = made ? GANTRY_INK_MADE : GANTRY_INK_REMOVED;

  gantry_scene_frame (p->scene, rect->x - 1, rect->y - 1, rect->width + 2, rect->height + 2, 2, ink, 255);
  gantry_scene_fill (p->scene, rect->x - 1, rect->y - 1, 5 * size, rect->height + 2, ink, 255);
  if (p->view->scale < SCALE_TITLE)
    return;
  gantry_scene_fill (p->scene, rect->x + rect->width - 14 * size, rect->y + 6.25f * size, 8 * size, 1.75f * size, ink, 255);
  if (made)
    gantry_scene_fill (p->scene, rect->x + rect->width - 10.9f * size, rect->y + 3.1f * size, 1.75f * size, 8 * size, ink, 255);
}

static void
paint_box (GantryGraphPainter *p, guint32 index, GHashTable *made, GHashTable *removed, GHashTable *matches)
{
  const GantryGraphBox *box = GANTRY_BOX (p->picture, index);
  GantryLayoutBox rect = _gantry_graph_to_scene (p->view, &p->picture->layout->node[index]);
  float size = p->view->scale;

  if (box->kind == GANTRY_BOX_SCOPE && size > 0.15f) /* a folded scope looks like a stack */
    {
      gantry_scene_fill (p->scene, rect.x + 3 * size, rect.y + rect.height, rect.width - 3 * size, 3 * size, GANTRY_INK_BORDER, 255);
      gantry_scene_fill (p->scene, rect.x + rect.width, rect.y + 3 * size, 3 * size, rect.height, GANTRY_INK_BORDER, 255);
    }
  gantry_scene_fill (p->scene, rect.x, rect.y, rect.width, rect.height, GANTRY_INK_CLASS + box->op_class, 255);
  if (size >= 0.2f)
    gantry_scene_frame (p->scene, rect.x, rect.y, rect.width, rect.height, 1, GANTRY_INK_BORDER, 255);
  if (made != NULL && g_hash_table_contains (made, GUINT_TO_POINTER (index + 1)))
    paint_change (p, &rect, TRUE);
  else if (removed != NULL && g_hash_table_contains (removed, GUINT_TO_POINTER (index + 1)))
    paint_change (p, &rect, FALSE);
  if (matches != NULL && g_hash_table_contains (matches, GUINT_TO_POINTER (index + 1)))
    gantry_scene_frame (p->scene, rect.x - 2, rect.y - 2, rect.width + 4, rect.height + 4, 2, GANTRY_INK_MATCH, 255);
  if (size >= SCALE_TITLE)
    paint_box_texts (p, box, &rect);
}

static void
paint_marks (GantryGraphPainter *p, GHashTable *boxes, float grow, guint line, GantryInk ink)
{
  GHashTableIter iter;
  gpointer key;

  if (boxes == NULL)
    return;
  g_hash_table_iter_init (&iter, boxes);
  for (guint n = 0; n < MOST_BOXES && g_hash_table_iter_next (&iter, &key, NULL); n++)
    {
      GantryLayoutBox rect = _gantry_graph_to_scene (p->view, &p->picture->layout->node[GPOINTER_TO_UINT (key) - 1]);

      gantry_scene_frame (p->scene, rect.x - grow, rect.y - grow, MAX (rect.width, 2) + 2 * grow, MAX (rect.height, 2) + 2 * grow, line, ink, 255);
    }
}

static void
paint_boxes (GantryGraphPainter *p, GHashTable *made, GHashTable *removed, GHashTable *matches)
{
  if (p->boxes->len > MOST_BOXES || p->view->scale < 0.03f)
    {
      paint_cells (p);
      paint_marks (p, matches, 1, 2, GANTRY_INK_MATCH);
      paint_marks (p, made, 1, 1, GANTRY_INK_MADE);
      return;
    }
  for (guint i = 0; i < p->boxes->len; i++)
    paint_box (p, g_array_index (p->boxes, guint32, i), made, removed, matches);
}

static GantryLayoutBox
visible_area (const GantryScene *scene, const GantryGraphView *view)
{
  return (GantryLayoutBox){ view->x - 8, view->y - 8, scene->width / view->scale + 16, scene->height / view->scale + 16 };
}

void
gantry_paint_graph (GantryScene *scene, const GantryGraphPicture *picture, const GantryGraphView *view, const GantryGraphState *state, const GantryTheme *theme)
{
  static const GantryGraphState plain = { .labels = TRUE };
  g_autoptr (GArray) boxes = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) edges = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) groups = g_array_new (FALSE, FALSE, sizeof (guint32));
  GantryGraphPainter p = { scene, picture, view, state != NULL ? state : &plain, boxes, edges, groups };
  GantryLayoutBox area = visible_area (scene, view);
  g_autoptr (GHashTable) selected = boxes_of_set (picture, p.state->selected);
  g_autoptr (GHashTable) made = boxes_of_set (picture, p.state->made);
  g_autoptr (GHashTable) removed = boxes_of_set (picture, p.state->removed);
  g_autoptr (GHashTable) matches = boxes_of_set (picture, p.state->matches);
  guint n_edges;

  gantry_layout_query (picture->layout, &area, collect, &p);
  paint_groups (&p);
  n_edges = paint_edges (&p, selected);
  paint_boxes (&p, made, removed, matches);
  paint_edge_labels (&p);
  if (p.view->scale >= SCALE_TITLE)
    {
      _gantry_graph_paint_letters (&p);
      _gantry_graph_paint_ghosts (&p);
    }
  paint_marks (&p, selected, 3, 3, GANTRY_INK_SELECTION);
  if (n_edges < edges->len)
    tell_left_out (&p, n_edges);
}

void
gantry_paint_graph_hover (GantryScene *scene, const GantryGraphPicture *picture, const GantryGraphView *view, guint32 box, const GantryTheme *theme)
{
  GantryLayoutBox rect;

  if (box >= picture->boxes->len)
    return;
  rect = _gantry_graph_to_scene (view, &picture->layout->node[box]);
  gantry_scene_frame (scene, rect.x - 1, rect.y - 1, MAX (rect.width, 3) + 2, MAX (rect.height, 3) + 2, 2, GANTRY_INK_HOVER, 255);
}

void
gantry_paint_minimap (GantryScene *scene, const GantryGraphPicture *picture, const GantryGraphView *view, float view_width, float view_height,
                      const GantryTheme *theme)
{
  const GantryLayout *layout = picture->layout;
  GantryGraphView small = { 0 };
  g_autoptr (GArray) boxes = g_array_new (FALSE, FALSE, sizeof (guint32));
  GantryGraphState none = { 0 };
  GantryGraphPainter p = { scene, picture, &small, &none, boxes, NULL, NULL };
  float left, top, right, bottom;

  small.scale = MIN ((scene->width - 8) / MAX (layout->width, 1), (scene->height - 8) / MAX (layout->height, 1));
  small.x = (layout->width - scene->width / small.scale) / 2;
  small.y = (layout->height - scene->height / small.scale) / 2;
  gantry_scene_fill (scene, 0, 0, scene->width, scene->height, GANTRY_INK_SURFACE, 235);
  for (guint32 i = 0; i < picture->boxes->len; i++)
    g_array_append_val (boxes, i);
  paint_cells (&p);
  /* What is seen beyond the graph is no part of the map: the frame ends with it. */
  left = CLAMP ((view->x - small.x) * small.scale, 0, scene->width - 4);
  top = CLAMP ((view->y - small.y) * small.scale, 0, scene->height - 4);
  right = MIN ((view->x + view_width / view->scale - small.x) * small.scale, scene->width);
  bottom = MIN ((view->y + view_height / view->scale - small.y) * small.scale, scene->height);
  gantry_scene_frame (scene, left, top, MAX (right - left, 4), MAX (bottom - top, 4), 2, GANTRY_INK_SELECTION, 255);
  gantry_scene_frame (scene, 0, 0, scene->width, scene->height, 1, GANTRY_INK_BORDER, 255);
}
