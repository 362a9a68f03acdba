/* SPDX-License-Identifier: Apache-2.0 */
/* The canvas on the screen: the graph as a kept render node, the minimap likewise, and hover over them. */
#include "views/graph/graph-canvas-private.h"
#include "views/theme-of.h"

#define MINIMAP_SIDE 128.0f
#define MINIMAP_LEAST 36.0f
#define MINIMAP_MARGIN 12.0f
#define MINIMAP_ASIDE 0.55     /* its opacity while the pointer is at work elsewhere in the picture */
#define MINIMAP_OVER_BOXES 0.3 /* while boxes lie below it: they can be read */

static void
render_graph (GantryGraphCanvas *self, float width, float height, const GantryTheme *theme)
{
  GantryGraphState state = {
    .selected = self->compilation != NULL ? gantry_selection_in (self->selection, self->index) : NULL,
    .matches = self->matches,
    .made = self->side == GANTRY_CANVAS_AFTER ? self->marked : NULL,
    .removed = self->side == GANTRY_CANVAS_BEFORE ? self->marked : NULL,
    .labels = TRUE,
    .placements = gantry_graph_picture_is_mirrored (self->picture) ? self->placements : NULL,
    .ghosts = self->ghosts,
  };

  gantry_scene_clear (self->scene, width, height);
  gantry_paint_graph (self->scene, self->picture, &self->view, &state, theme);
  self->n_clipped = self->scene->n_clipped;
  self->n_marks = self->scene->marks->len;
  g_clear_pointer (&self->cached, gsk_render_node_unref);
  self->cached = gantry_pen_render (self->pen, self->scene, theme);
}

static gboolean
hides (GantryGraphCanvas *self, guint32 box)
{
  const GantryGraphView *view = &self->view;
  GantryLayoutBox rect;
  graphene_rect_t seen;

  if (box == GANTRY_NO_BOX)
    return FALSE;
  gantry_graph_picture_box_rect (self->picture, box, &rect);
  seen = GRAPHENE_RECT_INIT ((rect.x - view->x) * view->scale, (rect.y - view->y) * view->scale, rect.width * view->scale, rect.height * view->scale);
  return graphene_rect_intersection (&seen, &self->minimap_rect, NULL);
}

static guint
n_hidden (GantryGraphCanvas *self)
{
  guint n = 0;

  for (guint32 box = 0; box < gantry_graph_picture_n_boxes (self->picture); box++)
    n += hides (self, box);
  return n;
}

static gboolean
hides_any (GantryGraphCanvas *self)
{
  guint32 n = gantry_graph_picture_n_boxes (self->picture);

  for (guint32 box = 0; box < n; box++)
    if (hides (self, box))
      return TRUE;
  return FALSE;
}

/* The corners that the map can stand in, by preference: bottom right, bottom left, top right, top left. */
#define N_CORNERS 4u

static void
stand_in (GantryGraphCanvas *self, guint corner, float width, float height)
{
  self->minimap_rect.origin.x = corner % 2 == 0 ? width - self->minimap_rect.size.width - MINIMAP_MARGIN : MINIMAP_MARGIN;
  self->minimap_rect.origin.y = corner / 2 == 0 ? height - self->minimap_rect.size.height - MINIMAP_MARGIN : MINIMAP_MARGIN;
}

/* Where fewest boxes are. @shown: of a box that is not hidden, where there is such a corner; or GANTRY_NO_BOX */
static void
choose_corner (GantryGraphCanvas *self, guint32 shown, float width, float height)
{
  guint least = G_MAXUINT, best = self->minimap_corner;

  for (guint corner = 0; corner < N_CORNERS; corner++)
    {
      guint n;

      stand_in (self, corner, width, height);
      if (hides (self, shown))
        continue;
      n = n_hidden (self);
      if (n < least)
        best = corner;
      least = MIN (n, least);
    }
  self->minimap_corner = best;
  stand_in (self, best, width, height);
}

/* Of a new picture it goes where fewest boxes are, and stays there, so that it does not jump while one pans. What is selected is what
 * the user works on: then it makes way. */
static void
make_way (GantryGraphCanvas *self, float width, float height)
{
  guint32 box = _gantry_graph_canvas_primary_box (self);

  stand_in (self, self->minimap_corner, width, height);
  if (self->minimap_open || hides (self, box))
    choose_corner (self, box, width, height);
  self->minimap_open = FALSE;
}

/* Whether every box is in the window. Of a picture larger than it one of the first is not, as a rule: that ends the search. */
static gboolean
shows_all (GantryGraphCanvas *self, float width, float height)
{
  const GantryGraphView *view = &self->view;
  float right = view->x + width / view->scale, bottom = view->y + height / view->scale;

  for (guint32 box = 0; box < gantry_graph_picture_n_boxes (self->picture); box++)
    {
      GantryLayoutBox rect;

      gantry_graph_picture_box_rect (self->picture, box, &rect);
      if (rect.x < view->x || rect.y < view->y || rect.x + rect.width > right || rect.y + rect.height > bottom)
        return FALSE;
    }
  return TRUE;
}

/* The minimap is there only where something is not in the window. */
static void
render_minimap (GantryGraphCanvas *self, float width, float height, const GantryTheme *theme)
{
  float picture_width, picture_height, scale, map_width, map_height;
  float side = MIN (MINIMAP_SIDE, width * 0.28f);

  g_clear_pointer (&self->minimap, gsk_render_node_unref);
  self->minimap_rect = GRAPHENE_RECT_INIT (0, 0, 0, 0);
  gantry_graph_picture_size (self->picture, &picture_width, &picture_height);
  if (shows_all (self, width, height))
    return;
  if (side < 2 * MINIMAP_LEAST || height < 2 * MINIMAP_LEAST + 2 * MINIMAP_MARGIN)
    return;
  scale = MIN (side / MAX (picture_width, 1), MIN (side * 1.6f, height * 0.5f) / MAX (picture_height, 1));
  map_width = CLAMP (picture_width * scale + 8, MINIMAP_LEAST, side + 8);
  map_height = MAX (picture_height * scale + 8, MINIMAP_LEAST);
  self->minimap_rect = GRAPHENE_RECT_INIT (0, 0, map_width, map_height);
  make_way (self, width, height);
  self->minimap_covers = hides_any (self);
  gantry_scene_clear (self->scene, map_width, map_height);
  gantry_paint_minimap (self->scene, self->picture, &self->view, width, height, theme);
  self->minimap = gantry_pen_render (self->pen, self->scene, theme);
}

static void
draw_hover (GantryGraphCanvas *self, GtkSnapshot *snapshot, float width, float height, const GantryTheme *theme)
{
  if (self->hover == GANTRY_NO_BOX || self->hover >= gantry_graph_picture_n_boxes (self->picture))
    return;
  gantry_scene_clear (self->scene, width, height);
  gantry_paint_graph_hover (self->scene, self->picture, &self->view, self->hover, theme);
  gantry_pen_draw (self->pen, snapshot, self->scene, theme);
}

/* The picture is what the user works on: the map is whole where it hides nothing of it, and while it is used. */
static double
minimap_opacity (GantryGraphCanvas *self)
{
  if (self->pointer_inside && _gantry_graph_canvas_in_minimap (self, self->pointer_x, self->pointer_y))
    return 1;
  return self->minimap_covers ? MINIMAP_OVER_BOXES : self->pointer_inside ? MINIMAP_ASIDE : 1;
}

void
_gantry_graph_canvas_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  GantryGraphCanvas *self = GANTRY_GRAPH_CANVAS (widget);
  const GantryTheme *theme = gantry_theme_of (widget);
  float width = (float) gtk_widget_get_width (widget), height = (float) gtk_widget_get_height (widget);
  GdkRGBA background = { theme->ink[GANTRY_INK_BACKGROUND].red, theme->ink[GANTRY_INK_BACKGROUND].green, theme->ink[GANTRY_INK_BACKGROUND].blue, 1 };

  gtk_snapshot_append_color (snapshot, &background, &GRAPHENE_RECT_INIT (0, 0, width, height));
  if (self->picture == NULL)
    return;
  if (self->cached == NULL)
    {
      render_graph (self, width, height, theme);
      render_minimap (self, width, height, theme);
    }
  if (self->cached != NULL)
    gtk_snapshot_append_node (snapshot, self->cached);
  draw_hover (self, snapshot, width, height, theme);
  if (self->minimap != NULL)
    {
      gtk_snapshot_save (snapshot);
      gtk_snapshot_translate (snapshot, &self->minimap_rect.origin);
      gtk_snapshot_push_opacity (snapshot, minimap_opacity (self));
      gtk_snapshot_append_node (snapshot, self->minimap);
      gtk_snapshot_pop (snapshot);
      gtk_snapshot_restore (snapshot);
    }
  if (gtk_widget_has_visible_focus (widget))
    {
      gantry_scene_clear (self->scene, width, height);
      gantry_scene_frame (self->scene, 0, 0, width, height, 2, GANTRY_INK_SELECTION, 160);
      gantry_pen_draw (self->pen, snapshot, self->scene, theme);
    }
}

gboolean
_gantry_graph_canvas_in_minimap (GantryGraphCanvas *self, double x, double y)
{
  return self->minimap != NULL && graphene_rect_contains_point (&self->minimap_rect, &GRAPHENE_POINT_INIT ((float) x, (float) y));
}

gboolean
gantry_graph_canvas_get_minimap (GantryGraphCanvas *self, graphene_rect_t *rect)
{
  g_return_val_if_fail (GANTRY_IS_GRAPH_CANVAS (self), FALSE);
  *rect = self->minimap_rect;
  return self->minimap != NULL;
}

/* The middle of the view goes to the point of the picture that the minimap shows there. */
void
_gantry_graph_canvas_minimap_to (GantryGraphCanvas *self, double x, double y)
{
  GantryGraphView view = self->view;
  float picture_width, picture_height, scale;
  float map_width = self->minimap_rect.size.width, map_height = self->minimap_rect.size.height;

  gantry_graph_picture_size (self->picture, &picture_width, &picture_height);
  scale = MIN ((map_width - 8) / MAX (picture_width, 1), (map_height - 8) / MAX (picture_height, 1));
  view.x = (picture_width - map_width / scale) / 2 + ((float) x - self->minimap_rect.origin.x) / scale;
  view.y = (picture_height - map_height / scale) / 2 + ((float) y - self->minimap_rect.origin.y) / scale;
  view.x -= (float) gtk_widget_get_width (GTK_WIDGET (self)) / 2 / view.scale;
  view.y -= (float) gtk_widget_get_height (GTK_WIDGET (self)) / 2 / view.scale;
  gantry_graph_canvas_set_view (self, &view);
}
