/* SPDX-License-Identifier: Apache-2.0 */
/* What part of the picture is seen: fitting, zooming, bringing into view, staying put. */
#include "views/graph/graph-canvas-private.h"

#define MARGIN 24.0f
/* The first look is at readable boxes, not at a thread of a thousand dots. */
#define READABLE_SCALE 0.62f
#define FIRST_SCALE 0.85f
#define LARGEST_FIT 1.3f

static void
size_of (GantryGraphCanvas *self, float *width, float *height)
{
  *width = (float) MAX (gtk_widget_get_width (GTK_WIDGET (self)), 1);
  *height = (float) MAX (gtk_widget_get_height (GTK_WIDGET (self)), 1);
}

void
_gantry_graph_canvas_clamp (GantryGraphCanvas *self)
{
  float width, height, picture_width, picture_height, keep;

  self->view.scale = CLAMP (self->view.scale, GANTRY_CANVAS_MIN_SCALE, GANTRY_CANVAS_MAX_SCALE);
  if (self->picture == NULL || gtk_widget_get_width (GTK_WIDGET (self)) <= 1) /* in which window is not known yet */
    return;
  size_of (self, &width, &height);
  gantry_graph_picture_size (self->picture, &picture_width, &picture_height);
  /* A strip of the picture always stays in the window. */
  keep = 60 / self->view.scale;
  self->view.x = CLAMP (self->view.x, MIN (keep, picture_width / 2) - width / self->view.scale, picture_width - MIN (keep, picture_width / 2));
  self->view.y = CLAMP (self->view.y, MIN (keep, picture_height / 2) - height / self->view.scale, picture_height - MIN (keep, picture_height / 2));
}

static void
view_changed (GantryGraphCanvas *self)
{
  _gantry_graph_canvas_clamp (self);
  self->view_chosen = TRUE;
  _gantry_graph_canvas_invalidate (self);
}

static void
fit_rect (GantryGraphCanvas *self, const GantryLayoutBox *rect)
{
  float width, height, scale;

  size_of (self, &width, &height);
  scale = MIN ((width - 2 * MARGIN) / MAX (rect->width, 1), (height - 2 * MARGIN) / MAX (rect->height, 1));
  self->view.scale = CLAMP (scale, GANTRY_CANVAS_MIN_SCALE, LARGEST_FIT);
  self->view.x = rect->x + rect->width / 2 - width / 2 / self->view.scale;
  self->view.y = rect->y + rect->height / 2 - height / 2 / self->view.scale;
  view_changed (self);
}

void
gantry_graph_canvas_fit (GantryGraphCanvas *self)
{
  GantryLayoutBox all = { 0 };

  self->fit_when_ready = self->busy; /* the picture to come is meant */
  if (self->picture == NULL)
    return;
  gantry_graph_picture_size (self->picture, &all.width, &all.height);
  fit_rect (self, &all);
}

/* Linear. */
static gboolean
shows_any (GantryGraphCanvas *self, float width, float height)
{
  const GantryGraphView *view = &self->view;

  for (guint32 box = 0; box < gantry_graph_picture_n_boxes (self->picture); box++)
    {
      GantryLayoutBox rect;

      gantry_graph_picture_box_rect (self->picture, box, &rect);
      if (rect.x + rect.width > view->x && (rect.x - view->x) * view->scale < width && rect.y + rect.height > view->y
          && (rect.y - view->y) * view->scale < height)
        return TRUE;
    }
  return FALSE;
}

/* The first view of a picture: all of it where that can be read, else its beginning. */
void
_gantry_graph_canvas_choose_view (GantryGraphCanvas *self)
{
  float width, height, picture_width, picture_height;
  GantryLayoutBox first;

  size_of (self, &width, &height);
  self->minimap_open = TRUE;
  if (width <= 1 || gantry_graph_picture_n_boxes (self->picture) == 0)
    return;
  gantry_graph_picture_size (self->picture, &picture_width, &picture_height);
  if (MIN ((width - 2 * MARGIN) / picture_width, (height - 2 * MARGIN) / picture_height) >= READABLE_SCALE)
    {
      gantry_graph_canvas_fit (self);
      return;
    }
  gantry_graph_picture_box_rect (self->picture, 0, &first);
  self->view.scale = CLAMP ((width - 2 * MARGIN) / picture_width, READABLE_SCALE, FIRST_SCALE);
  self->view.y = -MARGIN / self->view.scale;
  self->view.x = picture_width * self->view.scale <= width - 2 * MARGIN ? picture_width / 2 - width / 2 / self->view.scale
                                                                        : first.x + first.width / 2 - width / 2 / self->view.scale;
  if (gantry_graph_picture_is_mirrored (self->picture))
    {
      /* The forward column at the left: what is beside it matters more than the other end of the picture. */
      self->view.scale = FIRST_SCALE;
      self->view.x = MAX (first.x - 2 * MARGIN, 0) - MARGIN;
      self->view.y = -MARGIN;
    }
  /* What comes first stands beside other parts of a folded drawing, or beside the backward column, which may begin above it. */
  if (!shows_any (self, width, height))
    self->view.y = first.y - MARGIN / self->view.scale;
  view_changed (self);
}

void
gantry_graph_canvas_focus_selection (GantryGraphCanvas *self)
{
  GHashTable *here = self->compilation != NULL ? gantry_selection_in (self->selection, self->index) : NULL;
  GantryLayoutBox all = { 0 };
  GHashTableIter iter;
  gpointer key;
  gboolean found = FALSE;

  if (self->picture == NULL || here == NULL || g_hash_table_size (here) == 0 || self->focused_selection)
    {
      gantry_graph_canvas_fit (self);
      self->focused_selection = FALSE;
      return;
    }
  g_hash_table_iter_init (&iter, here);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      guint32 box = gantry_graph_picture_box_of (self->picture, GPOINTER_TO_UINT (key));
      GantryLayoutBox rect, sum;

      if (box == GANTRY_NO_BOX)
        continue;
      gantry_graph_picture_box_rect (self->picture, box, &rect);
      sum.x = found ? MIN (all.x, rect.x) : rect.x;
      sum.y = found ? MIN (all.y, rect.y) : rect.y;
      sum.width = (found ? MAX (all.x + all.width, rect.x + rect.width) : rect.x + rect.width) - sum.x;
      sum.height = (found ? MAX (all.y + all.height, rect.y + rect.height) : rect.y + rect.height) - sum.y;
      all = sum;
      found = TRUE;
    }
  if (found)
    fit_rect (self, &all);
  self->focused_selection = TRUE;
}

void
_gantry_graph_canvas_show_rect (GantryGraphCanvas *self, const GantryLayoutBox *rect)
{
  float width, height, right, bottom;
  float margin;

  size_of (self, &width, &height);
  margin = MARGIN / self->view.scale;
  right = self->view.x + width / self->view.scale;
  bottom = self->view.y + height / self->view.scale;
  if (rect->x >= self->view.x + margin && rect->x + rect->width <= right - margin && rect->y >= self->view.y + margin
      && rect->y + rect->height <= bottom - margin)
    return;
  /* Far away: into the middle. Just outside: as far as needed, so that walking scrolls smoothly. */
  if (rect->x > right || rect->x + rect->width < self->view.x)
    self->view.x = rect->x + rect->width / 2 - width / 2 / self->view.scale;
  else if (rect->x < self->view.x + margin)
    self->view.x = rect->x - margin;
  else if (rect->x + rect->width > right - margin)
    self->view.x = rect->x + rect->width + margin - width / self->view.scale;
  if (rect->y > bottom || rect->y + rect->height < self->view.y)
    self->view.y = rect->y + rect->height / 2 - height / 2 / self->view.scale;
  else if (rect->y < self->view.y + 2 * margin)
    self->view.y = rect->y - 2 * margin;
  else if (rect->y + rect->height > bottom - 2 * margin)
    self->view.y = rect->y + rect->height + 2 * margin - height / self->view.scale;
  view_changed (self);
}

void
_gantry_graph_canvas_zoom_at (GantryGraphCanvas *self, float factor, float x, float y)
{
  float scale = CLAMP (self->view.scale * factor, GANTRY_CANVAS_MIN_SCALE, GANTRY_CANVAS_MAX_SCALE);

  self->view.x += x / self->view.scale - x / scale;
  self->view.y += y / self->view.scale - y / scale;
  self->view.scale = scale;
  view_changed (self);
}

void
gantry_graph_canvas_zoom (GantryGraphCanvas *self, double factor)
{
  float width, height;

  size_of (self, &width, &height);
  _gantry_graph_canvas_zoom_at (self, (float) factor, width / 2, height / 2);
}

void
gantry_graph_canvas_get_view (GantryGraphCanvas *self, GantryGraphView *view)
{
  *view = self->view;
}

void
gantry_graph_canvas_set_view (GantryGraphCanvas *self, const GantryGraphView *view)
{
  self->view = *view;
  view_changed (self);
}

/* Anchors */

static gboolean
find_anchor (GantryGraphCanvas *self, GantryLayoutBox *rect)
{
  const GantryLayout *layout = gantry_graph_picture_layout (self->picture);
  guint32 box = GANTRY_NO_BOX;

  if (self->anchor.node != 0)
    box = gantry_graph_picture_box_of (self->picture, self->anchor.node);
  for (guint32 i = 0; box == GANTRY_NO_BOX && self->anchor.scope != 0 && i < layout->n_nodes; i++)
    if (gantry_graph_picture_box_scope (self->picture, i) == self->anchor.scope)
      box = i;
  if (box != GANTRY_NO_BOX)
    {
      gantry_graph_picture_box_rect (self->picture, box, rect);
      return TRUE;
    }
  for (guint32 i = 0; self->anchor.scope != 0 && i < layout->n_groups; i++)
    if (gantry_graph_picture_group_scope (self->picture, i) == self->anchor.scope)
      {
        *rect = layout->group[i];
        return TRUE;
      }
  return FALSE;
}

/* Of a wide box the middle of its upper edge stays put: that is where the eye is when it opens or closes. */
void
_gantry_graph_canvas_keep_anchor (GantryGraphCanvas *self, guint32 node, guint32 scope)
{
  GantryLayoutBox rect;

  self->anchor = (GantryCanvasAnchor){ .node = node, .scope = scope };
  if (self->picture == NULL || !find_anchor (self, &rect))
    {
      self->anchor = (GantryCanvasAnchor){ 0 };
      return;
    }
  self->anchor.x = (rect.x + rect.width / 2 - self->view.x) * self->view.scale;
  self->anchor.y = (rect.y - self->view.y) * self->view.scale;
}

void
_gantry_graph_canvas_restore_anchor (GantryGraphCanvas *self)
{
  GantryLayoutBox rect;

  if (find_anchor (self, &rect))
    {
      self->view.x = rect.x + rect.width / 2 - self->anchor.x / self->view.scale;
      self->view.y = rect.y - self->anchor.y / self->view.scale;
    }
  else
    _gantry_graph_canvas_choose_view (self); /* nothing of what was seen is left */
  self->anchor = (GantryCanvasAnchor){ 0 };
  _gantry_graph_canvas_clamp (self);
}
