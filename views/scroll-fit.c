/* SPDX-License-Identifier: Apache-2.0 */
/* The widget around a scrolled window that measures the child itself. */
#include "views/scroll-fit.h"

struct _GantryScrollFit
{
  GtkWidget parent_instance;
  GtkWidget *scroller, *child; /* @child: (nullable) */
  int least, most;
};

G_DEFINE_FINAL_TYPE (GantryScrollFit, gantry_scroll_fit, GTK_TYPE_WIDGET)

static GtkSizeRequestMode
request_mode (GtkWidget *widget)
{
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void
measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural, int *minimum_baseline, int *natural_baseline)
{
  GantryScrollFit *self = GANTRY_SCROLL_FIT (widget);

  if (self->child == NULL)
    return;
  gtk_widget_measure (self->child, orientation, for_size, minimum, natural, NULL, NULL);
  if (orientation == GTK_ORIENTATION_HORIZONTAL)
    return;
  /* The least height for any width is not less than that for one: a toplevel asks without a width first. */
  *natural = MAX (MIN (*natural, self->most), for_size < 0 ? self->least : 0);
  *minimum = MIN (*natural, self->least);
}

static void
size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  gtk_widget_size_allocate (GANTRY_SCROLL_FIT (widget)->scroller, &(GtkAllocation){ 0, 0, width, height }, -1);
}

static void
gantry_scroll_fit_dispose (GObject *object)
{
  GantryScrollFit *self = GANTRY_SCROLL_FIT (object);

  self->child = NULL;
  g_clear_pointer (&self->scroller, gtk_widget_unparent);
  G_OBJECT_CLASS (gantry_scroll_fit_parent_class)->dispose (object);
}

static void
gantry_scroll_fit_class_init (GantryScrollFitClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = gantry_scroll_fit_dispose;
  widget_class->get_request_mode = request_mode;
  widget_class->measure = measure;
  widget_class->size_allocate = size_allocate;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
gantry_scroll_fit_init (GantryScrollFit *self)
{
  self->scroller = gtk_scrolled_window_new ();
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (self->scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_overlay_scrolling (GTK_SCROLLED_WINDOW (self->scroller), FALSE); /* that there is more is seen */
  gtk_widget_set_parent (self->scroller, GTK_WIDGET (self));
}

GtkWidget *
gantry_scroll_fit_new (GtkWidget *child, int least, int most)
{
  GantryScrollFit *self = g_object_new (GANTRY_TYPE_SCROLL_FIT, NULL);

  self->least = least;
  self->most = most;
  gantry_scroll_fit_set_child (self, child);
  return GTK_WIDGET (self);
}

void
gantry_scroll_fit_set_child (GantryScrollFit *self, GtkWidget *child)
{
  self->child = child;
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (self->scroller), child);
  gtk_widget_queue_resize (GTK_WIDGET (self));
}

void
gantry_scroll_fit_set_most (GantryScrollFit *self, int most)
{
  self->most = most;
  gtk_widget_queue_resize (GTK_WIDGET (self));
}
