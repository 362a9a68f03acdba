/* SPDX-License-Identifier: Apache-2.0 */
/* The scatter on the screen and what the mouse and the keys do in it. */
#include "views/compare/scatter-view.h"
#include "views/scene-snapshot.h"
#include "views/theme-of.h"

struct _GantryScatterView
{
  GtkWidget parent_instance;
  GArray *points; /* GantryScatterPoint, labels owned */
  guint selected;
  guint64 limit;
  GantryPen *pen;
  GantryScene *scene;
};

enum
{
  SELECTED,
  ACTIVATED,
  N_SIGNALS
};
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (GantryScatterView, gantry_scatter_view, GTK_TYPE_WIDGET)

static const GantryScatterPoint *
points_of (GantryScatterView *self)
{
  return (const GantryScatterPoint *) (gpointer) self->points->data;
}

static void
clear_point (gpointer data)
{
  g_free ((char *) ((GantryScatterPoint *) data)->label);
}

void
gantry_scatter_view_set (GantryScatterView *self, const GantryScatterPoint *points, guint n, guint64 limit)
{
  g_array_set_size (self->points, 0);
  for (guint i = 0; i < n; i++)
    {
      GantryScatterPoint point = points[i];

      point.label = g_strdup (points[i].label);
      g_array_append_val (self->points, point);
    }
  self->limit = limit;
  if (self->selected >= n)
    self->selected = G_MAXUINT;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
gantry_scatter_view_select (GantryScatterView *self, guint index)
{
  self->selected = index < self->points->len ? index : G_MAXUINT;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
choose (GantryScatterView *self, guint index)
{
  if (index >= self->points->len)
    return;
  gantry_scatter_view_select (self, index);
  g_signal_emit (self, signals[SELECTED], 0, index);
}

static guint
point_at (GantryScatterView *self, double x, double y)
{
  return gantry_scatter_pick (points_of (self), self->points->len, self->limit, (float) gtk_widget_get_width (GTK_WIDGET (self)),
                              (float) gtk_widget_get_height (GTK_WIDGET (self)), (float) x, (float) y);
}

static void
released (GtkGestureClick *gesture, int n_press, double x, double y, gpointer data)
{
  GantryScatterView *self = data;
  guint index = point_at (self, x, y);

  gtk_widget_grab_focus (GTK_WIDGET (self));
  choose (self, index);
  if (n_press == 2 && index < self->points->len)
    g_signal_emit (self, signals[ACTIVATED], 0, index);
}

/* Left and right go from point to point in the order of memory. */
static guint
neighbour (GantryScatterView *self, gboolean more)
{
  const GantryScatterPoint *points = points_of (self);
  guint best = G_MAXUINT;

  for (guint i = 0; i < self->points->len; i++)
    {
      gboolean beyond = self->selected == G_MAXUINT || (more ? points[i].bytes > points[self->selected].bytes : points[i].bytes < points[self->selected].bytes);

      if (beyond && (best == G_MAXUINT || (more ? points[i].bytes < points[best].bytes : points[i].bytes > points[best].bytes)))
        best = i;
    }
  return best;
}

static gboolean
key_pressed (GtkEventControllerKey *controller, guint key, guint code, GdkModifierType state, gpointer data)
{
  GantryScatterView *self = data;

  switch (key)
    {
    case GDK_KEY_Left: choose (self, neighbour (self, FALSE)); return TRUE;
    case GDK_KEY_Right: choose (self, neighbour (self, TRUE)); return TRUE;
    case GDK_KEY_Return:
    case GDK_KEY_KP_Enter:
      if (self->selected < self->points->len)
        g_signal_emit (self, signals[ACTIVATED], 0, self->selected);
      return TRUE;
    default: return FALSE;
    }
}

static gboolean
query_tooltip (GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip, gpointer data)
{
  GantryScatterView *self = GANTRY_SCATTER_VIEW (widget);
  guint index = keyboard ? self->selected : point_at (self, x, y);

  if (index >= self->points->len || points_of (self)[index].label == NULL)
    return FALSE;
  gtk_tooltip_set_text (tooltip, points_of (self)[index].label);
  return TRUE;
}

static void
snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  GantryScatterView *self = GANTRY_SCATTER_VIEW (widget);
  const GantryTheme *theme = gantry_theme_of (widget);
  const GantryColor *color = &theme->ink[GANTRY_INK_BACKGROUND];
  float width = (float) gtk_widget_get_width (widget), height = (float) gtk_widget_get_height (widget);
  GdkRGBA background = { color->red, color->green, color->blue, 1 };

  gtk_snapshot_append_color (snapshot, &background, &GRAPHENE_RECT_INIT (0, 0, width, height));
  gantry_scene_clear (self->scene, width, height);
  gantry_paint_scatter (self->scene, points_of (self), self->points->len, self->selected, self->limit, theme);
  if (gtk_widget_has_visible_focus (widget))
    gantry_scene_frame (self->scene, 0, 0, width, height, 2, GANTRY_INK_SELECTION, 160);
  gantry_pen_draw (self->pen, snapshot, self->scene, theme);
}

static void
measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural, int *minimum_baseline, int *natural_baseline)
{
  *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 240 : 140;
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 480 : 240;
}

static void
gantry_scatter_view_finalize (GObject *object)
{
  GantryScatterView *self = GANTRY_SCATTER_VIEW (object);

  g_array_unref (self->points);
  gantry_pen_free (self->pen);
  gantry_scene_free (self->scene);
  G_OBJECT_CLASS (gantry_scatter_view_parent_class)->finalize (object);
}

static void
gantry_scatter_view_class_init (GantryScatterViewClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = gantry_scatter_view_finalize;
  widget_class->snapshot = snapshot;
  widget_class->measure = measure;
  gtk_widget_class_set_css_name (widget_class, "scatterview");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
  signals[SELECTED] = g_signal_new ("selected", GANTRY_TYPE_SCATTER_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
  signals[ACTIVATED] = g_signal_new ("activated", GANTRY_TYPE_SCATTER_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
}

static void
theme_changed (gpointer object)
{
  gtk_widget_queue_draw (object);
}

static void
gantry_scatter_view_init (GantryScatterView *self)
{
  GtkEventController *controller = gtk_event_controller_key_new ();
  GtkGesture *gesture = gtk_gesture_click_new ();

  self->points = g_array_new (FALSE, TRUE, sizeof (GantryScatterPoint));
  g_array_set_clear_func (self->points, clear_point);
  self->selected = G_MAXUINT;
  self->pen = gantry_pen_new (GTK_WIDGET (self));
  self->scene = gantry_scene_new (1, 1);
  self->scene->budget = GANTRY_SCENE_BUDGET;
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_hexpand (GTK_WIDGET (self), TRUE);
  gtk_widget_set_vexpand (GTK_WIDGET (self), TRUE);
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, "Peak memory against step time", -1);
  g_signal_connect (controller, "key-pressed", G_CALLBACK (key_pressed), self);
  gtk_widget_add_controller (GTK_WIDGET (self), controller);
  g_signal_connect (gesture, "released", G_CALLBACK (released), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (gesture));
  g_signal_connect (self, "query-tooltip", G_CALLBACK (query_tooltip), NULL);
  gantry_theme_watch (self, theme_changed);
}

GtkWidget *
gantry_scatter_view_new (void)
{
  return g_object_new (GANTRY_TYPE_SCATTER_VIEW, NULL);
}
