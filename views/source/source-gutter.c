/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the lines that are seen, and nothing else. */
#include "views/source/source-gutter.h"
#include "views/theme-of.h"

#define GAP 3

struct _GantrySourceGutter
{
  GtkSourceGutterRenderer parent_instance;
  GantrySourceHeat *heat; /* (nullable) */
  guint32 file;
  PangoLayout *layout; /* (nullable) */
  int width;           /* of a column */
  guint n_lines;
};

G_DEFINE_FINAL_TYPE (GantrySourceGutter, gantry_source_gutter, GTK_SOURCE_TYPE_GUTTER_RENDERER)

GantryColor
gantry_source_bar_color (const GantryTheme *theme, GantrySourceFigure figure)
{
  static const GantryInk inks[] = { GANTRY_INK_PLANNED, GANTRY_INK_MEASURED, GANTRY_INK_RECOMPUTE };
  const GantryColor *ink = &theme->ink[inks[figure]], *ground = &theme->ink[GANTRY_INK_BACKGROUND];
  /* The planned ink is pale already. */
  float part = figure == GANTRY_SOURCE_PLANNED_US ? 0.8f : 0.4f;

  return (GantryColor){ ground->red + part * (ink->red - ground->red), ground->green + part * (ink->green - ground->green),
                        ground->blue + part * (ink->blue - ground->blue) };
}

static GdkRGBA
rgba (GantryColor color)
{
  return (GdkRGBA){ color.red, color.green, color.blue, 1 };
}

static void
make_layout (GantrySourceGutter *self)
{
  PangoAttrList *attributes = pango_attr_list_new ();

  g_clear_object (&self->layout);
  self->layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), "1023.9 MiB");
  pango_attr_list_insert (attributes, pango_attr_scale_new (0.88));
  pango_layout_set_attributes (self->layout, attributes);
  pango_attr_list_unref (attributes);
  pango_layout_get_pixel_size (self->layout, &self->width, NULL);
  self->width += 2 * GAP;
}

int
gantry_source_gutter_column (GantrySourceGutter *self, GantrySourceFigure figure)
{
  if (self->heat == NULL || !self->heat->known[figure])
    return 0;
  if (self->layout == NULL)
    make_layout (self);
  return self->width + 1;
}

/* At the right. */
static void
draw_text (GantrySourceGutter *self, GtkSnapshot *snapshot, const char *text, const GdkRGBA *ink, const graphene_rect_t *cell)
{
  int width, height;

  pango_layout_set_text (self->layout, text, -1);
  pango_layout_get_pixel_size (self->layout, &width, &height);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (
    snapshot, &GRAPHENE_POINT_INIT (cell->origin.x + cell->size.width - (float) (width + GAP), cell->origin.y + (cell->size.height - (float) height) / 2));
  gtk_snapshot_append_layout (snapshot, self->layout, ink);
  gtk_snapshot_restore (snapshot);
}

static void
draw_figure (GantrySourceGutter *self, GtkSnapshot *snapshot, GantrySourceFigure figure, double value, const graphene_rect_t *cell)
{
  const GantryTheme *theme = gantry_theme_of (GTK_WIDGET (self));
  GdkRGBA bar = rgba (gantry_source_bar_color (theme, figure)), ink = rgba (theme->ink[GANTRY_INK_TEXT]);
  g_autofree char *text = gantry_source_figure_text (figure, value);
  double most = self->heat->most.figure[figure];
  graphene_rect_t filled = *cell;

  if (*text == '\0' || most <= 0)
    return;
  filled.size.width = (float) (MAX (value / most, 0) * cell->size.width);
  gtk_snapshot_append_color (snapshot, &bar, &filled);
  draw_text (self, snapshot, text, &ink, cell);
}

static int
number_width (GantrySourceGutter *self)
{
  g_autofree char *text = g_strdup_printf ("%u", MAX (self->n_lines, 10));
  int width;

  if (self->layout == NULL)
    make_layout (self);
  pango_layout_set_text (self->layout, text, -1);
  pango_layout_get_pixel_size (self->layout, &width, NULL);
  return width + 5 * GAP;
}

/* The scheme has numbers of its own, which are hard to read. */
static void
draw_number (GantrySourceGutter *self, GtkSnapshot *snapshot, guint line, const graphene_rect_t *cell)
{
  GdkRGBA ink = rgba (gantry_theme_of (GTK_WIDGET (self))->ink[GANTRY_INK_TEXT_DIM]);
  g_autofree char *text = g_strdup_printf ("%u", line);

  draw_text (self, snapshot, text, &ink, cell);
}

static void
gantry_source_gutter_snapshot_line (GtkSourceGutterRenderer *renderer, GtkSnapshot *snapshot, GtkSourceGutterLines *lines, guint line)
{
  GantrySourceGutter *self = GANTRY_SOURCE_GUTTER (renderer);
  const GantrySourceCost *cost = self->heat != NULL ? gantry_source_heat_find (self->heat, self->file, line + 1) : NULL;
  float x = 0;
  int y, height;

  gtk_source_gutter_lines_get_line_yrange (lines, line, GTK_SOURCE_GUTTER_RENDERER_ALIGNMENT_MODE_FIRST, &y, &height);
  for (guint f = 0; f < GANTRY_N_SOURCE_FIGURES; f++)
    {
      int width = gantry_source_gutter_column (self, f);

      if (width == 0)
        continue;
      if (cost != NULL)
        draw_figure (self, snapshot, f, cost->figure[f], &GRAPHENE_RECT_INIT (x, (float) y, (float) (width - 1), (float) (height - 1)));
      x += (float) width;
    }
  draw_number (self, snapshot, line + 1, &GRAPHENE_RECT_INIT (x, (float) y, (float) (number_width (self) - 2 * GAP), (float) height));
}

static void
gantry_source_gutter_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum, int *natural, int *minimum_baseline,
                              int *natural_baseline)
{
  GantrySourceGutter *self = GANTRY_SOURCE_GUTTER (widget);
  int width = number_width (self);

  for (guint f = 0; f < GANTRY_N_SOURCE_FIGURES; f++)
    width += gantry_source_gutter_column (self, f);
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? width : 0;
  *minimum_baseline = *natural_baseline = -1;
}

void
gantry_source_gutter_set (GantrySourceGutter *self, GantrySourceHeat *heat, guint32 file)
{
  if (heat != NULL)
    gantry_source_heat_ref (heat);
  g_clear_pointer (&self->heat, gantry_source_heat_unref);
  self->heat = heat;
  self->file = file;
  gtk_widget_queue_resize (GTK_WIDGET (self));
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
gantry_source_gutter_set_lines (GantrySourceGutter *self, guint n_lines)
{
  self->n_lines = n_lines;
  gtk_widget_queue_resize (GTK_WIDGET (self));
}

static void
gantry_source_gutter_css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  GTK_WIDGET_CLASS (gantry_source_gutter_parent_class)->css_changed (widget, change);
  g_clear_object (&GANTRY_SOURCE_GUTTER (widget)->layout); /* the font may be another one */
  gtk_widget_queue_resize (widget);
}

static void
gantry_source_gutter_dispose (GObject *object)
{
  GantrySourceGutter *self = GANTRY_SOURCE_GUTTER (object);

  g_clear_pointer (&self->heat, gantry_source_heat_unref);
  g_clear_object (&self->layout);
  G_OBJECT_CLASS (gantry_source_gutter_parent_class)->dispose (object);
}

static void
gantry_source_gutter_class_init (GantrySourceGutterClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = gantry_source_gutter_dispose;
  GTK_WIDGET_CLASS (klass)->measure = gantry_source_gutter_measure;
  GTK_WIDGET_CLASS (klass)->css_changed = gantry_source_gutter_css_changed;
  GTK_SOURCE_GUTTER_RENDERER_CLASS (klass)->snapshot_line = gantry_source_gutter_snapshot_line;
}

static void
gantry_source_gutter_init (GantrySourceGutter *self)
{
}

GtkSourceGutterRenderer *
gantry_source_gutter_new (void)
{
  return g_object_new (GANTRY_TYPE_SOURCE_GUTTER, NULL);
}
