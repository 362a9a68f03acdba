/* SPDX-License-Identifier: Apache-2.0 */
/* Mouse, touchpad and keyboard on the canvas, and what a box is called in words. */
#include "core/graph/operation.h"
#include "views/canvas-input.h"
#include "views/format.h"
#include "views/graph/graph-canvas-private.h"
#include <math.h>

#define WHEEL_STEP 60.0
#define WHEEL_ZOOM 1.18f
#define DRAG_THRESHOLD 4.0
#define GROUP_TITLE 22.0f

static GantryLayoutItemKind
pick (GantryGraphCanvas *self, double x, double y, guint32 *index)
{
  *index = 0;
  if (self->picture == NULL || _gantry_graph_canvas_in_minimap (self, x, y))
    return GANTRY_LAYOUT_ITEM_NONE;
  return gantry_graph_picture_pick (self->picture, self->view.x + (float) x / self->view.scale, self->view.y + (float) y / self->view.scale,
                                    4 / self->view.scale, index);
}

/* Words */

char *
_gantry_graph_canvas_describe (GantryGraphCanvas *self, guint32 box)
{
  const GantryModule *module = gantry_graph_picture_module (self->picture);
  const GantryNode *node = gantry_module_node (module, gantry_graph_picture_box_node (self->picture, box));
  guint32 scope = gantry_graph_picture_box_scope (self->picture, box);
  g_autofree char *label = NULL, *type = NULL, *bytes = NULL;

  if (scope != 0)
    return g_strdup_printf ("%s: folded scope, %s. Enter unfolds it", gantry_context_scope_path (module->context, scope),
                            gantry_graph_picture_box_subtitle (self->picture, box));
  if (node == NULL)
    return g_strdup (gantry_graph_picture_box_title (self->picture, box));
  label = gantry_node_label (module, node);
  type = gantry_context_type_text (module->context, node->type);
  bytes = gantry_format_type_bytes (gantry_node_type (module, node));
  return g_strdup_printf ("%s\n%s\n%s%s%s", gantry_node_op_name (module, node), label, type, bytes != NULL ? ", " : "", bytes != NULL ? bytes : "");
}

static gboolean
query_tooltip (GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip, gpointer data)
{
  GantryGraphCanvas *self = GANTRY_GRAPH_CANVAS (widget);
  g_autofree char *text = NULL;
  guint32 index;

  if (keyboard)
    return FALSE;
  switch (pick (self, x, y, &index))
    {
    case GANTRY_LAYOUT_ITEM_NODE: text = _gantry_graph_canvas_describe (self, index); break;
    case GANTRY_LAYOUT_ITEM_GROUP:
      text = g_strdup (
        gantry_context_scope_path (gantry_graph_picture_module (self->picture)->context, gantry_graph_picture_group_scope (self->picture, index)));
      break;
    default: return FALSE;
    }
  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
}

/* Pointer */

static void
set_hover (GantryGraphCanvas *self, double x, double y)
{
  guint32 index, hover = GANTRY_NO_BOX;
  gboolean in_map = self->pointer_inside && _gantry_graph_canvas_in_minimap (self, self->pointer_x, self->pointer_y);
  gboolean entered = !self->pointer_inside || in_map != _gantry_graph_canvas_in_minimap (self, x, y);

  self->pointer_x = x;
  self->pointer_y = y;
  self->pointer_inside = TRUE;
  if (pick (self, x, y, &index) == GANTRY_LAYOUT_ITEM_NODE)
    hover = index;
  if (hover == self->hover && !entered)
    return;
  self->hover = hover;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
motion (GtkEventControllerMotion *controller, double x, double y, gpointer data)
{
  set_hover (data, x, y);
}

static void
leave (GtkEventControllerMotion *controller, gpointer data)
{
  GantryGraphCanvas *self = data;

  self->hover = GANTRY_NO_BOX;
  self->pointer_inside = FALSE;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* A click in the title of a group: on its marker it folds, beside it selects what is inside. */
static void
click_group (GantryGraphCanvas *self, guint32 group, int n_press, double x, double y, gboolean toggle)
{
  const GantryLayoutBox *box = &gantry_graph_picture_layout (self->picture)->group[group];
  float px = self->view.x + (float) x / self->view.scale - box->x, py = self->view.y + (float) y / self->view.scale - box->y;
  guint32 scope = gantry_graph_picture_group_scope (self->picture, group);

  if (py <= GROUP_TITLE && (px <= GROUP_TITLE || n_press == 2))
    gantry_graph_canvas_toggle_fold (self, scope);
  else if (!toggle)
    gantry_selection_clear (self->selection);
}

/* An edge is the value that goes along it: the placement of a saved one is given by clicking on its line. */
static void
select_edge (GantryGraphCanvas *self, guint32 edge, gboolean toggle)
{
  guint32 value = 0;

  gantry_graph_picture_edge_saved (self->picture, edge, &value);
  if (gantry_graph_picture_box_of (self->picture, value) != GANTRY_NO_BOX)
    _gantry_graph_canvas_select_box (self, gantry_graph_picture_box_of (self->picture, value), toggle);
}

static void
click_released (GtkGestureClick *gesture, int n_press, double x, double y, gpointer data)
{
  GantryGraphCanvas *self = data;
  GdkModifierType state = gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (gesture));
  gboolean toggle = (state & (GDK_CONTROL_MASK | GDK_SHIFT_MASK)) != 0;
  guint32 index;

  if (self->picture == NULL || self->dragging || _gantry_graph_canvas_in_minimap (self, x, y))
    return;
  switch (pick (self, x, y, &index))
    {
    case GANTRY_LAYOUT_ITEM_NODE:
      if (n_press == 2 && gantry_graph_picture_box_scope (self->picture, index) != 0)
        gantry_graph_canvas_toggle_fold (self, gantry_graph_picture_box_scope (self->picture, index));
      else if (n_press == 1)
        _gantry_graph_canvas_select_box (self, index, toggle);
      break;
    case GANTRY_LAYOUT_ITEM_EDGE: select_edge (self, index, toggle); break;
    case GANTRY_LAYOUT_ITEM_GROUP: click_group (self, index, n_press, x, y, toggle); break;
    default:
      if (!toggle)
        gantry_selection_clear (self->selection);
    }
}

static void
click_pressed (GtkGestureClick *gesture, int n_press, double x, double y, gpointer data)
{
  gtk_widget_grab_focus (GTK_WIDGET (data));
}

static void
drag_begin (GtkGestureDrag *gesture, double x, double y, gpointer data)
{
  GantryGraphCanvas *self = data;

  self->drag_view = self->view;
  self->dragging = FALSE;
  self->drag_minimap = _gantry_graph_canvas_in_minimap (self, x, y);
  if (!self->drag_minimap)
    return;
  gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_CLAIMED);
  _gantry_graph_canvas_minimap_to (self, x, y);
}

static void
drag_update (GtkGestureDrag *gesture, double dx, double dy, gpointer data)
{
  GantryGraphCanvas *self = data;
  GantryGraphView view = self->drag_view;
  double x, y;

  if (self->picture == NULL)
    return;
  if (self->drag_minimap)
    {
      gtk_gesture_drag_get_start_point (gesture, &x, &y);
      _gantry_graph_canvas_minimap_to (self, x + dx, y + dy);
      return;
    }
  if (!self->dragging && hypot (dx, dy) < DRAG_THRESHOLD)
    return;
  if (!self->dragging)
    {
      self->dragging = TRUE;
      gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_CLAIMED);
      gtk_widget_set_cursor_from_name (GTK_WIDGET (self), "grabbing");
    }
  view.x -= (float) dx / view.scale;
  view.y -= (float) dy / view.scale;
  gantry_graph_canvas_set_view (self, &view);
}

static void
drag_end (GtkGestureDrag *gesture, double dx, double dy, gpointer data)
{
  GantryGraphCanvas *self = data;

  self->dragging = FALSE;
  self->drag_minimap = FALSE;
  gtk_widget_set_cursor (GTK_WIDGET (self), NULL);
}

/* Escape while the button is down: the view is again what it was, and moving on or letting go does nothing more. */
static gboolean
cancel_drag (GantryGraphCanvas *self)
{
  GantryGraphView view = self->drag_view;

  if (!self->dragging && !self->drag_minimap)
    return FALSE;
  gtk_event_controller_reset (self->drag); /* ends it */
  gantry_graph_canvas_set_view (self, &view);
  return TRUE;
}

static gboolean
scroll (GtkEventControllerScroll *controller, double dx, double dy, gpointer data)
{
  GantryGraphCanvas *self = data;
  GdkModifierType state = gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (controller));
  gboolean wheel = gtk_event_controller_scroll_get_unit (controller) == GDK_SCROLL_UNIT_WHEEL;
  double step = wheel ? WHEEL_STEP : 1;

  if (self->picture == NULL)
    return FALSE;
  if ((state & GDK_CONTROL_MASK) != 0)
    {
      _gantry_graph_canvas_zoom_at (self, powf (WHEEL_ZOOM, (float) (wheel ? -dy : -dy / 20)), (float) self->pointer_x, (float) self->pointer_y);
      return TRUE;
    }
  if ((state & GDK_SHIFT_MASK) != 0 && dx == 0)
    {
      dx = dy;
      dy = 0;
    }
  self->view.x += (float) (dx * step) / self->view.scale;
  self->view.y += (float) (dy * step) / self->view.scale;
  gantry_graph_canvas_set_view (self, &self->view);
  return TRUE;
}

static void
pinch_begin (GtkGesture *gesture, GdkEventSequence *sequence, gpointer data)
{
  ((GantryGraphCanvas *) data)->zoom_scale = 1;
}

static void
pinch (GtkGestureZoom *gesture, double scale, gpointer data)
{
  GantryGraphCanvas *self = data;
  double x = self->pointer_x, y = self->pointer_y;

  if (self->picture == NULL || scale <= 0)
    return;
  gtk_gesture_get_bounding_box_center (GTK_GESTURE (gesture), &x, &y);
  _gantry_graph_canvas_zoom_at (self, (float) (scale / self->zoom_scale), (float) x, (float) y);
  self->zoom_scale = scale;
}

/* K, R, O and U (as the policy says), with Shift for the whole scope. */
static gboolean
place_key (GantryGraphCanvas *self, guint key, GdkModifierType state)
{
  static const guint keys[] = { GDK_KEY_k, GDK_KEY_r, GDK_KEY_o, GDK_KEY_b, GDK_KEY_8 };
  guint lower = gdk_keyval_to_lower (key);
  int kind = GANTRY_PLACEMENT_UNSET;

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    if (lower == keys[i])
      kind = (int) i; /* in the order of GantryPlacementKind */
  if (kind == GANTRY_PLACEMENT_UNSET && lower != GDK_KEY_u)
    return FALSE;
  _gantry_graph_canvas_ask_place (self, kind, (state & GDK_SHIFT_MASK) != 0 ? GANTRY_REACH_SCOPE : GANTRY_REACH_SELECTION);
  return TRUE;
}

/* Keyboard: what belongs to the canvas alone. The rest are actions of the window. */
static gboolean
key_pressed (GtkEventControllerKey *controller, guint key, guint code, GdkModifierType state, gpointer data)
{
  GantryGraphCanvas *self = data;
  float step = 60 / self->view.scale;

  if (self->picture == NULL || (state & (GDK_CONTROL_MASK | GDK_ALT_MASK)) != 0)
    return FALSE;
  if (place_key (self, key, state))
    return TRUE;
  switch (key)
    {
    case GDK_KEY_Up: gantry_graph_canvas_walk (self, GANTRY_WALK_UP); return TRUE;
    case GDK_KEY_Down: gantry_graph_canvas_walk (self, GANTRY_WALK_DOWN); return TRUE;
    case GDK_KEY_Left: gantry_graph_canvas_walk (self, GANTRY_WALK_LEFT); return TRUE;
    case GDK_KEY_Right: gantry_graph_canvas_walk (self, GANTRY_WALK_RIGHT); return TRUE;
    case GDK_KEY_Return:
    case GDK_KEY_KP_Enter: return gantry_graph_canvas_toggle_fold_selected (self);
    case GDK_KEY_space: gantry_graph_canvas_fit (self); return TRUE;
    case GDK_KEY_f: gantry_graph_canvas_focus_selection (self); return TRUE;
    case GDK_KEY_Escape:
      if (!cancel_drag (self))
        gantry_selection_clear (self->selection);
      return TRUE;
    case GDK_KEY_w:
    case GDK_KEY_plus: gantry_graph_canvas_zoom (self, WHEEL_ZOOM); return TRUE;
    case GDK_KEY_s:
    case GDK_KEY_minus: gantry_graph_canvas_zoom (self, 1 / WHEEL_ZOOM); return TRUE;
    case GDK_KEY_a: self->view.x -= step; break;
    case GDK_KEY_d: self->view.x += step; break;
    case GDK_KEY_Page_Up: self->view.y -= 6 * step; break;
    case GDK_KEY_Page_Down: self->view.y += 6 * step; break;
    case GDK_KEY_Home: self->view.y = 0; break;
    case GDK_KEY_End: self->view.y = G_MAXFLOAT / 4; break;
    default: return FALSE;
    }
  gantry_graph_canvas_set_view (self, &self->view);
  return TRUE;
}

static const GantryCanvasHandlers handlers = {
  .motion = G_CALLBACK (motion),
  .leave = G_CALLBACK (leave),
  .scroll = G_CALLBACK (scroll),
  .key_pressed = G_CALLBACK (key_pressed),
  .click_pressed = G_CALLBACK (click_pressed),
  .click_released = G_CALLBACK (click_released),
  .drag_begin = G_CALLBACK (drag_begin),
  .drag_update = G_CALLBACK (drag_update),
  .drag_end = G_CALLBACK (drag_end),
  .pinch_begin = G_CALLBACK (pinch_begin),
  .pinch = G_CALLBACK (pinch),
  .query_tooltip = G_CALLBACK (query_tooltip),
};

void
_gantry_graph_canvas_add_input (GantryGraphCanvas *self)
{
  GtkGesture *drag = gantry_canvas_add_input (GTK_WIDGET (self), &handlers);

  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (drag), 0);
  self->drag = GTK_EVENT_CONTROLLER (drag);
}
