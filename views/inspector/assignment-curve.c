/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the curve as columns: each as high as the most that is alive in its part of the instructions. */
#include "views/inspector/assignment-curve.h"
#include "views/format.h"
#include "views/theme-of.h"
#include <math.h>

#define COLUMNS 96u
#define WIDTH 120
#define HEIGHT 48

struct _GantryAssignmentCurve
{
  GtkWidget parent_instance;
  guint n_columns;
  float height[COLUMNS]; /* of the most, 1 */
  guint peak;
};

G_DEFINE_FINAL_TYPE (GantryAssignmentCurve, gantry_assignment_curve, GTK_TYPE_WIDGET)

static void
gantry_assignment_curve_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  GantryAssignmentCurve *self = GANTRY_ASSIGNMENT_CURVE (widget);
  const GantryTheme *theme = gantry_theme_of (widget);
  float width = (float) gtk_widget_get_width (widget), height = (float) gtk_widget_get_height (widget);

  for (guint i = 0; i < self->n_columns; i++)
    {
      const GantryColor *color = &theme->ink[i == self->peak ? GANTRY_INK_PEAK : GANTRY_INK_PLANNED];
      const GdkRGBA rgba = { color->red, color->green, color->blue, 0.85f };
      float x0 = floorf (width * (float) i / (float) self->n_columns);
      float x1 = floorf (width * (float) (i + 1) / (float) self->n_columns), y = height * self->height[i];

      gtk_snapshot_append_color (snapshot, &rgba, &GRAPHENE_RECT_INIT (x0, height - y, MAX (x1 - x0, 1), y));
    }
}

static void
gantry_assignment_curve_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural, int *minimum_baseline,
                                 int *natural_baseline)
{
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? WIDTH : HEIGHT;
}

static void
gantry_assignment_curve_class_init (GantryAssignmentCurveClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  widget_class->snapshot = gantry_assignment_curve_snapshot;
  widget_class->measure = gantry_assignment_curve_measure;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
gantry_assignment_curve_init (GantryAssignmentCurve *self)
{
  gtk_widget_set_hexpand (GTK_WIDGET (self), TRUE);
}

GtkWidget *
gantry_assignment_curve_new (const GantryXlaAssignment *assignment)
{
  GantryAssignmentCurve *self = g_object_new (GANTRY_TYPE_ASSIGNMENT_CURVE, NULL);
  guint n = assignment->steps->len;
  guint64 most = MAX (assignment->live_bytes[assignment->peak_step], 1);
  g_autofree char *bytes = gantry_format_bytes (assignment->live_bytes[assignment->peak_step]), *text = NULL;

  self->n_columns = MIN (n, COLUMNS);
  for (guint s = 0; s < n; s++)
    {
      float *column = &self->height[(guint64) s * self->n_columns / n];

      *column = MAX (*column, (float) ((double) assignment->live_bytes[s] / (double) most));
    }
  self->peak = (guint) ((guint64) assignment->peak_step * self->n_columns / n);
  text = g_strdup_printf ("XLA's plan, not measured: bytes alive at each of %u instructions, at most %s at %s", n, bytes,
                          (const char *) g_ptr_array_index (assignment->steps, assignment->peak_step));
  gtk_widget_set_tooltip_text (GTK_WIDGET (self), text);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
  return GTK_WIDGET (self);
}
