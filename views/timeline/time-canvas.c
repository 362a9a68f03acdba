/* SPDX-License-Identifier: Apache-2.0 */
/* A picture over time: the painter's scene as a kept node, the lines of pointer and picked moment over it, and input
 * that moves the shared axis. */
#include "views/timeline/time-canvas.h"
#include "views/canvas-input.h"
#include "views/scene-snapshot.h"
#include "views/theme-of.h"
#include <math.h>

#define WHEEL_ZOOM 1.2
#define DRAG_THRESHOLD 4.0

struct _GantryTimeCanvas
{
  GtkWidget parent_instance;
  GantryTimeKind kind;
  GantryTimeAxis *axis;
  GantrySelection *selection;
  GantryTimeModel *model; /* (nullable) */
  GantryPlan *plan;       /* (nullable) */
  guint snapshot;
  guint64 limit;
  char *difference; /* (nullable) */
  GantryPen *pen;
  GantryScene *scene;
  GskRenderNode *cached, *labels; /* (nullable): what the lines of pointer and moment lie on, and what lies on them */
  guint n_clipped;
  GtkEventController *drag; /* the gesture: the widget keeps it */
  gint64 drag_t0, drag_t1;  /* when it began */
  gboolean dragging;
  double pointer_x, zoom_scale;
};

G_DEFINE_FINAL_TYPE (GantryTimeCanvas, gantry_time_canvas, GTK_TYPE_WIDGET)

static void
invalidate (GantryTimeCanvas *self)
{
  g_clear_pointer (&self->cached, gsk_render_node_unref);
  g_clear_pointer (&self->labels, gsk_render_node_unref);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static GantryTimeView
view_of (GantryTimeCanvas *self)
{
  GantryTimeView view;

  gantry_time_axis_get (self->axis, &view.t0, &view.t1);
  return view;
}

static float
width_of (GantryTimeCanvas *self)
{
  return (float) gtk_widget_get_width (GTK_WIDGET (self));
}

static gint64
time_at (GantryTimeCanvas *self, double x)
{
  GantryTimeView view = view_of (self);

  return gantry_time_at (&view, width_of (self), (float) x);
}

/* The axis is linear: two known points give the place of any time. */
static float
x_of (GantryTimeCanvas *self, gint64 time)
{
  double width = width_of (self), first = (double) time_at (self, 0), last = (double) time_at (self, width);

  return (float) (((double) time - first) / MAX (last - first, 1) * width);
}

/* Drawing */

static void
render (GantryTimeCanvas *self, const GantryTheme *theme)
{
  GantryTimeView view = view_of (self);
  GantryTimeState state = { gantry_selection_in (self->selection, self->snapshot), -1, self->limit, self->difference };

  gantry_scene_clear (self->scene, width_of (self), (float) gtk_widget_get_height (GTK_WIDGET (self)));
  if (self->kind == GANTRY_TIME_LANES)
    gantry_paint_timeline (self->scene, self->model, &view, &state, theme);
  else
    gantry_paint_memory (self->scene, self->model, &view, &state, theme);
  self->n_clipped = self->scene->n_clipped;
  self->cached = gantry_pen_render (self->pen, self->scene, theme);
  if (self->kind == GANTRY_TIME_LANES)
    return;
  gantry_scene_clear (self->scene, width_of (self), (float) gtk_widget_get_height (GTK_WIDGET (self)));
  gantry_paint_memory_labels (self->scene, self->model, &view, &state);
  self->labels = gantry_pen_render (self->pen, self->scene, theme);
}

static void
draw_line (GantryTimeCanvas *self, GtkSnapshot *snapshot, gint64 time, const GantryColor *color, float alpha)
{
  float x = roundf (x_of (self, time));
  float top = self->kind == GANTRY_TIME_LANES ? gantry_time_axis_top () : 0; /* the times of the axis stay readable */
  GdkRGBA rgba = { color->red, color->green, color->blue, alpha };

  if (time >= 0 && x >= gantry_time_axis_left () && x <= width_of (self))
    gtk_snapshot_append_color (snapshot, &rgba, &GRAPHENE_RECT_INIT (x, top, 1, (float) gtk_widget_get_height (GTK_WIDGET (self)) - top));
}

static void
gantry_time_canvas_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  GantryTimeCanvas *self = GANTRY_TIME_CANVAS (widget);
  const GantryTheme *theme = gantry_theme_of (widget);
  const GantryColor *color = &theme->ink[GANTRY_INK_BACKGROUND];
  float width = width_of (self), height = (float) gtk_widget_get_height (widget);
  GdkRGBA background = { color->red, color->green, color->blue, 1 };

  gtk_snapshot_append_color (snapshot, &background, &GRAPHENE_RECT_INIT (0, 0, width, height));
  if (self->model == NULL)
    return;
  if (self->cached == NULL)
    render (self, theme);
  if (self->cached != NULL)
    gtk_snapshot_append_node (snapshot, self->cached);
  draw_line (self, snapshot, gantry_time_axis_get_moment (self->axis), &theme->ink[GANTRY_INK_SELECTION], 0.9f);
  draw_line (self, snapshot, gantry_time_axis_get_cursor (self->axis), &theme->ink[GANTRY_INK_TEXT_DIM], 0.7f);
  if (self->labels != NULL)
    gtk_snapshot_append_node (snapshot, self->labels);
  if (gtk_widget_has_visible_focus (widget))
    {
      gantry_scene_clear (self->scene, width, height);
      gantry_scene_frame (self->scene, 0, 0, width, height, 2, GANTRY_INK_SELECTION, 160);
      gantry_pen_draw (self->pen, snapshot, self->scene, theme);
    }
}

/* Picking */

static gboolean
pick (GantryTimeCanvas *self, double x, double y, GantryTimeHit *hit)
{
  GantryTimeView view = view_of (self);

  return self->model != NULL && self->kind == GANTRY_TIME_LANES
         && gantry_timeline_pick (self->model, &view, width_of (self), (float) gtk_widget_get_height (GTK_WIDGET (self)), (float) x, (float) y, hit);
}

void
gantry_time_canvas_click (GantryTimeCanvas *self, double x, double y, gboolean toggle)
{
  GantryTimeHit hit;

  if (self->model == NULL)
    return;
  if (x >= gantry_time_axis_left ())
    gantry_time_axis_set_moment (self->axis, MAX (time_at (self, x), 0));
  if (self->kind != GANTRY_TIME_LANES)
    return;
  if (!pick (self, x, y, &hit))
    {
      if (!toggle)
        gantry_selection_clear (self->selection);
      return;
    }
  if (hit.node != 0 && toggle)
    gantry_selection_toggle (self->selection, self->snapshot, &hit.node, 1);
  else if (hit.node != 0)
    gantry_selection_set (self->selection, self->snapshot, &hit.node, 1);
  gantry_time_hit_clear (&hit);
}

static gboolean
query_tooltip (GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip, gpointer data)
{
  GantryTimeCanvas *self = GANTRY_TIME_CANVAS (widget);
  GantryTimeView view = view_of (self);
  g_autofree char *text = NULL;
  GantryTimeHit hit;
  guint32 step;

  if (keyboard || self->model == NULL)
    return FALSE;
  if ((float) x < gantry_time_axis_left ())
    {
      const char *name = self->kind == GANTRY_TIME_LANES ? gantry_timeline_lane_name (self->model, (float) y) : NULL;

      gtk_tooltip_set_text (tooltip, name);
      return name != NULL;
    }
  if (self->kind == GANTRY_TIME_MEMORY)
    text = gantry_memory_pick (self->model, &view, width_of (self), (float) x, self->limit, &step);
  else if (pick (self, x, y, &hit))
    {
      text = g_strdup (hit.text);
      gantry_time_hit_clear (&hit);
    }
  if (text == NULL)
    return FALSE;
  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
}

/* The next or previous step of the plan from the selected one. */
static gboolean
step_event (GantryTimeCanvas *self, int by)
{
  GHashTable *here = gantry_selection_in (self->selection, self->snapshot);
  guint32 found = G_MAXUINT32, first, node;

  if (self->plan == NULL || self->plan->n_steps == self->plan->n_init_steps)
    return FALSE;
  first = self->plan->n_init_steps;
  for (guint32 i = first; i < self->plan->n_steps && found == G_MAXUINT32; i++)
    if (g_hash_table_contains (here, GUINT_TO_POINTER (self->plan->steps[i].node)))
      found = i;
  if (found == G_MAXUINT32)
    found = by > 0 ? first : self->plan->n_steps - 1;
  else if ((by < 0 && found > first) || (by > 0 && found + 1 < self->plan->n_steps))
    found = by > 0 ? found + 1 : found - 1;
  node = self->plan->steps[found].node;
  gantry_selection_set (self->selection, self->snapshot, &node, 1);
  gantry_time_axis_set_moment (self->axis, (gint64) (self->plan->steps[found].start_us * 1000));
  return TRUE;
}

gboolean
gantry_time_canvas_show_selection (GantryTimeCanvas *self)
{
  GHashTable *here = gantry_selection_in (self->selection, self->snapshot);
  gint64 begin, end;

  if (self->model == NULL || !gantry_time_model_extent (self->model, here, &begin, &end))
    return FALSE;
  gantry_time_axis_set (self->axis, begin - (end - begin) / 2, end + (end - begin) / 2);
  return TRUE;
}

/* The selection; when that is shown, everything. */
static void
focus_selection (GantryTimeCanvas *self)
{
  GantryTimeView view = view_of (self);

  if (!gantry_time_canvas_show_selection (self) || (view_of (self).t0 == view.t0 && view_of (self).t1 == view.t1))
    gantry_time_axis_fit (self->axis);
}

/* Input */

static void
motion (GtkEventControllerMotion *controller, double x, double y, gpointer data)
{
  GantryTimeCanvas *self = data;

  self->pointer_x = x;
  gantry_time_axis_set_cursor (self->axis, x < gantry_time_axis_left () ? -1 : MAX (time_at (self, x), 0));
}

static void
leave (GtkEventControllerMotion *controller, gpointer data)
{
  gantry_time_axis_set_cursor (((GantryTimeCanvas *) data)->axis, -1);
}

static gboolean
scroll (GtkEventControllerScroll *controller, double dx, double dy, gpointer data)
{
  GantryTimeCanvas *self = data;
  GdkModifierType state = gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (controller));
  gboolean wheel = gtk_event_controller_scroll_get_unit (controller) == GDK_SCROLL_UNIT_WHEEL;
  double step = wheel ? 1 : 0.02;

  if (self->model == NULL)
    return FALSE;
  if ((state & GDK_CONTROL_MASK) != 0)
    gantry_time_axis_zoom (self->axis, pow (WHEEL_ZOOM, -dy * (wheel ? 1 : 0.05)), time_at (self, self->pointer_x));
  else if ((state & GDK_SHIFT_MASK) != 0 || dx != 0)
    gantry_time_axis_pan (self->axis, 0.08 * step * (dx != 0 ? dx : dy));
  else
    return FALSE; /* the lanes scroll */
  return TRUE;
}

static void
pinch_begin (GtkGesture *gesture, GdkEventSequence *sequence, gpointer data)
{
  ((GantryTimeCanvas *) data)->zoom_scale = 1;
}

static void
pinch (GtkGestureZoom *gesture, double scale, gpointer data)
{
  GantryTimeCanvas *self = data;
  double x = self->pointer_x, y;

  if (self->model == NULL || scale <= 0)
    return;
  gtk_gesture_get_bounding_box_center (GTK_GESTURE (gesture), &x, &y);
  gantry_time_axis_zoom (self->axis, scale / self->zoom_scale, time_at (self, x));
  self->zoom_scale = scale;
}

static void
drag_begin (GtkGestureDrag *gesture, double x, double y, gpointer data)
{
  GantryTimeCanvas *self = data;

  self->dragging = FALSE;
  gantry_time_axis_get (self->axis, &self->drag_t0, &self->drag_t1);
}

static void
drag_update (GtkGestureDrag *gesture, double dx, double dy, gpointer data)
{
  GantryTimeCanvas *self = data;
  double pixel = (double) (time_at (self, 1000) - time_at (self, 0)) / 1000;

  if (self->model == NULL || (!self->dragging && fabs (dx) < DRAG_THRESHOLD))
    return;
  if (!self->dragging)
    {
      gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_CLAIMED);
      gtk_widget_set_cursor_from_name (GTK_WIDGET (self), "grabbing");
    }
  self->dragging = TRUE;
  gantry_time_axis_set (self->axis, self->drag_t0 - (gint64) (dx * pixel), self->drag_t1 - (gint64) (dx * pixel));
}

static void
drag_end (GtkGestureDrag *gesture, double dx, double dy, gpointer data)
{
  GantryTimeCanvas *self = data;

  self->dragging = FALSE;
  gtk_widget_set_cursor (GTK_WIDGET (self), NULL);
}

/* Escape while the button is down: as if it had not been dragged. */
static gboolean
cancel_drag (GantryTimeCanvas *self)
{
  if (!self->dragging)
    return FALSE;
  gtk_event_controller_reset (self->drag); /* ends it */
  gantry_time_axis_set (self->axis, self->drag_t0, self->drag_t1);
  return TRUE;
}

static void
pressed (GtkGestureClick *gesture, int n_press, double x, double y, gpointer data)
{
  gtk_widget_grab_focus (GTK_WIDGET (data));
}

static void
released (GtkGestureClick *gesture, int n_press, double x, double y, gpointer data)
{
  GdkModifierType state = gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (gesture));

  gantry_time_canvas_click (data, x, y, (state & GDK_CONTROL_MASK) != 0);
  if (n_press == 2)
    focus_selection (data);
}

static gboolean
key_pressed (GtkEventControllerKey *controller, guint key, guint code, GdkModifierType state, gpointer data)
{
  GantryTimeCanvas *self = data;
  gint64 cursor = gantry_time_axis_get_cursor (self->axis);
  GantryTimeView view = view_of (self);

  if (self->model == NULL || (state & (GDK_CONTROL_MASK | GDK_ALT_MASK)) != 0)
    return FALSE;
  if (cursor < 0)
    cursor = view.t0 + (view.t1 - view.t0) / 2;
  switch (key)
    {
    case GDK_KEY_w:
    case GDK_KEY_plus: gantry_time_axis_zoom (self->axis, WHEEL_ZOOM, cursor); return TRUE;
    case GDK_KEY_s:
    case GDK_KEY_minus: gantry_time_axis_zoom (self->axis, 1 / WHEEL_ZOOM, cursor); return TRUE;
    case GDK_KEY_a: gantry_time_axis_pan (self->axis, -0.1); return TRUE;
    case GDK_KEY_d: gantry_time_axis_pan (self->axis, 0.1); return TRUE;
    case GDK_KEY_f: focus_selection (self); return TRUE;
    case GDK_KEY_space: gantry_time_axis_fit (self->axis); return TRUE;
    case GDK_KEY_Left: return step_event (self, -1);
    case GDK_KEY_Right: return step_event (self, 1);
    case GDK_KEY_Escape:
      if (cancel_drag (self))
        return TRUE;
      gantry_selection_clear (self->selection);
      gantry_time_axis_set_moment (self->axis, -1);
      return TRUE;
    default: return FALSE;
    }
}

static const GantryCanvasHandlers handlers = {
  .motion = G_CALLBACK (motion),
  .leave = G_CALLBACK (leave),
  .scroll = G_CALLBACK (scroll),
  .key_pressed = G_CALLBACK (key_pressed),
  .click_pressed = G_CALLBACK (pressed),
  .click_released = G_CALLBACK (released),
  .drag_begin = G_CALLBACK (drag_begin),
  .drag_update = G_CALLBACK (drag_update),
  .drag_end = G_CALLBACK (drag_end),
  .pinch_begin = G_CALLBACK (pinch_begin),
  .pinch = G_CALLBACK (pinch),
  .query_tooltip = G_CALLBACK (query_tooltip),
};

/* The object */

/* What a screen reader says of the picture. */
static void
say (GantryTimeCanvas *self)
{
  const GantryTimeModel *model = self->model;
  gboolean lanes = self->kind == GANTRY_TIME_LANES;
  gboolean measured = model != NULL && (lanes ? gantry_time_model_has_run (model) : gantry_time_model_has_measured_memory (model));
  g_autofree char *text = g_strdup_printf ("%s, planned%s", lanes ? "Timeline" : "Memory over time", measured ? " and measured" : "");

  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}

void
gantry_time_canvas_set_model (GantryTimeCanvas *self, GantryTimeModel *model, GantryPlan *plan, guint snapshot, guint64 limit)
{
  if (model != NULL)
    gantry_time_model_ref (model);
  if (plan != NULL)
    gantry_plan_ref (plan);
  g_clear_pointer (&self->model, gantry_time_model_unref);
  g_clear_pointer (&self->plan, gantry_plan_unref);
  self->model = model;
  self->plan = plan;
  self->snapshot = snapshot;
  self->limit = limit;
  say (self);
  gtk_widget_queue_resize (GTK_WIDGET (self));
  invalidate (self);
}

void
gantry_time_canvas_set_limit (GantryTimeCanvas *self, guint64 limit)
{
  if (self->limit == limit)
    return;
  self->limit = limit;
  invalidate (self);
}

void
gantry_time_canvas_set_difference (GantryTimeCanvas *self, const char *difference)
{
  if (g_strcmp0 (difference, self->difference) == 0)
    return;
  g_free (self->difference);
  self->difference = g_strdup (difference);
  invalidate (self);
}

guint
gantry_time_canvas_n_clipped (GantryTimeCanvas *self)
{
  return self->n_clipped;
}

static void
gantry_time_canvas_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural, int *minimum_baseline,
                            int *natural_baseline)
{
  GantryTimeCanvas *self = GANTRY_TIME_CANVAS (widget);

  *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 200 : 60;
  if (orientation == GTK_ORIENTATION_VERTICAL && self->kind == GANTRY_TIME_LANES && self->model != NULL)
    *minimum = (int) ceilf (gantry_timeline_height (self->model));
  *natural = *minimum;
}

static void
gantry_time_canvas_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  g_clear_pointer (&GANTRY_TIME_CANVAS (widget)->cached, gsk_render_node_unref);
  g_clear_pointer (&GANTRY_TIME_CANVAS (widget)->labels, gsk_render_node_unref);
}

static void
gantry_time_canvas_dispose (GObject *object)
{
  GantryTimeCanvas *self = GANTRY_TIME_CANVAS (object);

  g_clear_pointer (&self->cached, gsk_render_node_unref);
  g_clear_pointer (&self->labels, gsk_render_node_unref);
  g_clear_pointer (&self->pen, gantry_pen_free);
  g_clear_pointer (&self->model, gantry_time_model_unref);
  g_clear_pointer (&self->plan, gantry_plan_unref);
  g_clear_pointer (&self->scene, gantry_scene_free);
  g_clear_pointer (&self->difference, g_free);
  g_clear_object (&self->axis);
  g_clear_object (&self->selection);
  G_OBJECT_CLASS (gantry_time_canvas_parent_class)->dispose (object);
}

static void
gantry_time_canvas_class_init (GantryTimeCanvasClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = gantry_time_canvas_dispose;
  widget_class->snapshot = gantry_time_canvas_snapshot;
  widget_class->measure = gantry_time_canvas_measure;
  widget_class->size_allocate = gantry_time_canvas_size_allocate;
  gtk_widget_class_set_css_name (widget_class, "timecanvas");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
theme_changed (gpointer object)
{
  invalidate (object);
}

static void
gantry_time_canvas_init (GantryTimeCanvas *self)
{
  self->pen = gantry_pen_new (GTK_WIDGET (self));
  self->scene = gantry_scene_new (1, 1);
  self->scene->budget = GANTRY_SCENE_BUDGET;
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_hexpand (GTK_WIDGET (self), TRUE);
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
  self->drag = GTK_EVENT_CONTROLLER (gantry_canvas_add_input (GTK_WIDGET (self), &handlers));
  gantry_theme_watch (self, theme_changed);
}

GtkWidget *
gantry_time_canvas_new (GantryTimeKind kind, GantryTimeAxis *axis, GantrySelection *selection)
{
  GantryTimeCanvas *self = g_object_new (GANTRY_TYPE_TIME_CANVAS, NULL);

  self->kind = kind;
  self->axis = g_object_ref (axis);
  self->selection = g_object_ref (selection);
  say (self);
  g_signal_connect_object (axis, "changed", G_CALLBACK (invalidate), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (axis, "cursor-changed", G_CALLBACK (gtk_widget_queue_draw), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (axis, "moment-changed", G_CALLBACK (gtk_widget_queue_draw), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (selection, "changed", G_CALLBACK (invalidate), self, G_CONNECT_SWAPPED);
  return GTK_WIDGET (self);
}
