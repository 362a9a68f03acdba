/* SPDX-License-Identifier: Apache-2.0 */
/* A scene as SVG or PNG, by cairo and pango. */
#include "core/base/error.h"
#include "core/base/output.h"
#include "drawing/painters.h"
#include <cairo-svg.h>
#include <math.h>
#include <pango/pangocairo.h>

#define LARGEST_PNG_SIDE 16000
#define LARGEST_PNG_PIXELS 120000000.0

static void
set_ink (cairo_t *cr, const GantryTheme *theme, guint ink, guint8 alpha)
{
  const GantryColor *color = &theme->ink[ink];

  cairo_set_source_rgba (cr, color->red, color->green, color->blue, alpha / 255.0);
}

static void
draw_hatch (cairo_t *cr, const GantryMark *mark)
{
  cairo_save (cr);
  cairo_rectangle (cr, mark->x, mark->y, mark->width, mark->height);
  cairo_clip (cr);
  cairo_set_line_width (cr, 1);
  for (float x = mark->x - mark->height; x < mark->x + mark->width; x += 5)
    {
      cairo_move_to (cr, x, mark->y + mark->height);
      cairo_line_to (cr, x + mark->height, mark->y);
    }
  cairo_stroke (cr);
  cairo_restore (cr);
}

static void
draw_text (cairo_t *cr, PangoLayout *layout, const GantryScene *scene, const GantryMark *mark, const GantryTheme *theme)
{
  PangoFontDescription *font = pango_font_description_from_string ((mark->style & GANTRY_TEXT_MONO) != 0 ? theme->mono_font : theme->font);
  int width, height;

  /* Sizes are in points of 1/72 inch for people, positions in pixels of 1/96: the usual 4/3. */
  pango_font_description_set_absolute_size (font, gantry_theme_text_size (mark->style) * mark->scale * 4 / 3 * PANGO_SCALE);
  pango_font_description_set_weight (font, (mark->style & GANTRY_TEXT_BOLD) != 0 ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
  pango_layout_set_font_description (layout, font);
  pango_font_description_free (font);
  pango_layout_set_text (layout, gantry_scene_mark_text (scene, mark), -1);
  pango_layout_set_width (layout, (int) (mark->width * PANGO_SCALE));
  pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
  pango_layout_set_alignment (layout, (mark->style & GANTRY_TEXT_CENTER) != 0  ? PANGO_ALIGN_CENTER
                                      : (mark->style & GANTRY_TEXT_RIGHT) != 0 ? PANGO_ALIGN_RIGHT
                                                                               : PANGO_ALIGN_LEFT);
  pango_layout_get_pixel_size (layout, &width, &height);
  cairo_move_to (cr, mark->x, mark->y + (mark->height - (float) height) / 2);
  pango_cairo_show_layout (cr, layout);
}

static void
draw_mark (cairo_t *cr, PangoLayout *layout, const GantryScene *scene, const GantryMark *mark, const GantryTheme *theme)
{
  set_ink (cr, theme, mark->ink, mark->alpha);
  switch ((GantryMarkKind) mark->kind)
    {
    case GANTRY_MARK_FILL:
      cairo_rectangle (cr, mark->x, mark->y, mark->width, mark->height);
      cairo_fill (cr);
      break;
    case GANTRY_MARK_FRAME:
      cairo_set_line_width (cr, mark->style);
      cairo_rectangle (cr, mark->x + mark->style / 2.0, mark->y + mark->style / 2.0, MAX (mark->width - mark->style, 0), MAX (mark->height - mark->style, 0));
      cairo_stroke (cr);
      break;
    case GANTRY_MARK_HATCH: draw_hatch (cr, mark); break;
    case GANTRY_MARK_TEXT: draw_text (cr, layout, scene, mark, theme); break;
    }
}

static void
draw (cairo_t *cr, const GantryScene *scene, const GantryTheme *theme)
{
  PangoLayout *layout = pango_cairo_create_layout (cr);

  set_ink (cr, theme, GANTRY_INK_BACKGROUND, 255);
  cairo_paint (cr);
  for (guint i = 0; i < scene->marks->len; i++)
    draw_mark (cr, layout, scene, &g_array_index (scene->marks, GantryMark, i), theme);
  g_object_unref (layout);
}

/* A picture on its way into a file. */
typedef struct
{
  GOutputStream *stream;
  GError **error;
} Sink;

static cairo_status_t
write_bytes (void *data, const unsigned char *bytes, unsigned int length)
{
  const Sink *sink = data;

  if (*sink->error != NULL)
    return CAIRO_STATUS_WRITE_ERROR;
  return g_output_stream_write_all (sink->stream, bytes, length, NULL, NULL, sink->error) ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

/* A failed write has set its own error, without the name. */
static gboolean
report (cairo_status_t status, const char *path, GError **error)
{
  if (status == CAIRO_STATUS_SUCCESS)
    return TRUE;
  if (error != NULL && *error != NULL)
    {
      g_prefix_error (error, "%s: ", path);
      return FALSE;
    }
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "%s: the picture cannot be written: %s", path, cairo_status_to_string (status));
  return FALSE;
}

static gboolean
write_svg (const GantryScene *scene, const GantryTheme *theme, const char *path, double scale, Sink *sink, GError **error)
{
  cairo_surface_t *surface = cairo_svg_surface_create_for_stream (write_bytes, sink, scene->width * scale, scene->height * scale);
  cairo_t *cr = cairo_create (surface);
  cairo_status_t status;

  cairo_svg_surface_set_document_unit (surface, CAIRO_SVG_UNIT_PX);
  cairo_scale (cr, scale, scale);
  draw (cr, scene, theme);
  status = cairo_status (cr);
  cairo_destroy (cr);
  cairo_surface_finish (surface);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_status (surface);
  cairo_surface_destroy (surface);
  return report (status, path, error);
}

static gboolean
write_png (const GantryScene *scene, const GantryTheme *theme, const char *path, double scale, Sink *sink, GError **error)
{
  double width = ceil (scene->width * scale), height = ceil (scene->height * scale);
  cairo_surface_t *surface;
  cairo_status_t status;
  cairo_t *cr;

  if (width > LARGEST_PNG_SIDE || height > LARGEST_PNG_SIDE || width * height > LARGEST_PNG_PIXELS)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE,
                   "%s: the picture would have %.0f x %.0f pixels; write an SVG, or a smaller one with --scale %.3f", path, width, height,
                   scale * LARGEST_PNG_SIDE / MAX (width, height) * 0.6);
      return FALSE;
    }
  surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, MAX ((int) width, 1), MAX ((int) height, 1));
  cr = cairo_create (surface);
  cairo_scale (cr, scale, scale);
  draw (cr, scene, theme);
  status = cairo_status (cr);
  cairo_destroy (cr);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_write_to_png_stream (surface, write_bytes, sink);
  cairo_surface_destroy (surface);
  return report (status, path, error);
}

gboolean
gantry_scene_write (const GantryScene *scene, const GantryTheme *theme, const char *path, double scale, GantryReadFiles *read, GError **error)
{
  gboolean svg = g_str_has_suffix (path, ".svg");
  g_autoptr (GantryOutput) output = NULL;
  GError *failure = NULL;
  Sink sink = { .error = &failure };

  if (!svg && !g_str_has_suffix (path, ".png"))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: a picture's name ends in .svg, .png or .dot", path);
      return FALSE;
    }
  output = gantry_output_new (path, read, error);
  if (output == NULL)
    return FALSE;
  sink.stream = gantry_output_stream (output);
  if ((svg ? write_svg : write_png) (scene, theme, path, scale, &sink, &failure))
    return gantry_output_finish (output, TRUE, error);
  g_propagate_error (error, failure);
  return FALSE;
}
