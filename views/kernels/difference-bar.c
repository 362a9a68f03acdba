/* SPDX-License-Identifier: Apache-2.0 */
/* Draws one bar. Its side tells the sign, so that nobody has to tell the colours apart. */
#include "views/kernels/difference-bar.h"
#include "views/theme-of.h"
#include <math.h>

#define WIDTH 84
#define HEIGHT 8.0f

struct _GantryDifferenceBar
{
  GtkWidget parent_instance;
  double value;
};

G_DEFINE_FINAL_TYPE (GantryDifferenceBar, gantry_difference_bar, GTK_TYPE_WIDGET)

static void
fill (GtkSnapshot *snapshot, const GantryColor *color, float alpha, float x, float y, float width, float height)
{
  const GdkRGBA rgba = { color->red, color->green, color->blue, alpha };

  gtk_snapshot_append_color (snapshot, &rgba, &GRAPHENE_RECT_INIT (x, y, width, height));
}

static void
gantry_difference_bar_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  GantryDifferenceBar *self = GANTRY_DIFFERENCE_BAR (widget);
  const GantryTheme *theme = gantry_theme_of (widget);
  float middle = floorf ((float) gtk_widget_get_width (widget) / 2), height = (float) gtk_widget_get_height (widget);
  float length = (float) (fabs (self->value) * (middle - 2));

  fill (snapshot, &theme->ink[GANTRY_INK_BORDER], 1, middle, 0, 1, height);
  if (self->value == 0)
    return;
  length = MAX (length, 1);
  fill (snapshot, &theme->ink[self->value > 0 ? GANTRY_INK_LIMIT : GANTRY_INK_MEASURED], 0.85f, self->value > 0 ? middle + 1 : middle - length,
        roundf ((height - HEIGHT) / 2), length, HEIGHT);
}

static void
gantry_difference_bar_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural, int *minimum_baseline,
                               int *natural_baseline)
{
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? WIDTH : 12;
}

static void
gantry_difference_bar_class_init (GantryDifferenceBarClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  widget_class->snapshot = gantry_difference_bar_snapshot;
  widget_class->measure = gantry_difference_bar_measure;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_PRESENTATION);
}

static void
gantry_difference_bar_init (GantryDifferenceBar *self)
{
  gtk_widget_set_valign (GTK_WIDGET (self), GTK_ALIGN_FILL);
}

GtkWidget *
gantry_difference_bar_new (void)
{
  return g_object_new (GANTRY_TYPE_DIFFERENCE_BAR, NULL);
}

void
gantry_difference_bar_set (GantryDifferenceBar *self, double value)
{
  self->value = CLAMP (value, -1, 1);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}
