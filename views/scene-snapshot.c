/* SPDX-License-Identifier: Apache-2.0 */
/* Marks become render nodes that batch well: flat colours and text. A text is shaped once at scale 1 and drawn
 * through a transform, so that zooming shapes nothing. The transform changes only where the scale of a text does, because
 * each change costs the GL renderer a batch. */
#include "views/scene-snapshot.h"
#include <math.h>
#include <string.h>

#define MOST_LAYOUTS 12000u
#define HATCH_PERIOD 6
#define STYLE_FONT (GANTRY_TEXT_SIZE_MASK | GANTRY_TEXT_BOLD | GANTRY_TEXT_MONO | GANTRY_TEXT_TABULAR)

/* A text in one style; `room` is 0 for its natural width, else the width in points that it is cut to. */
typedef struct
{
  const char *text;
  guint32 hash;
  guint16 room;
  guint8 style;
  PangoLayout *layout;
  float width, height;
} Shaped;

struct _GantryPen
{
  GtkWidget *widget;
  PangoContext *context;
  PangoFontDescription *fonts[STYLE_FONT + 1];
  const char *family, *mono; /* of the theme that the fonts were made for */
  GHashTable *shaped;        /* Shaped -> itself */
  GdkTexture *hatch;
  GantryColor hatch_color;
  float scale; /* of the transform that is open, 1: none */
};

static guint
shaped_hash (gconstpointer key)
{
  return ((const Shaped *) key)->hash;
}

static gboolean
shaped_equal (gconstpointer a, gconstpointer b)
{
  const Shaped *x = a, *y = b;

  return x->hash == y->hash && x->room == y->room && x->style == y->style && strcmp (x->text, y->text) == 0;
}

static void
shaped_free (gpointer data)
{
  Shaped *shaped = data;

  g_object_unref (shaped->layout);
  g_free ((char *) shaped->text);
  g_free (shaped);
}

GantryPen *
gantry_pen_new (GtkWidget *widget)
{
  GantryPen *pen = g_new0 (GantryPen, 1);

  pen->widget = widget;
  pen->shaped = g_hash_table_new_full (shaped_hash, shaped_equal, NULL, shaped_free);
  pen->scale = 1;
  return pen;
}

static void
forget_fonts (GantryPen *pen)
{
  for (guint i = 0; i < G_N_ELEMENTS (pen->fonts); i++)
    g_clear_pointer (&pen->fonts[i], pango_font_description_free);
  g_hash_table_remove_all (pen->shaped);
}

void
gantry_pen_free (GantryPen *pen)
{
  if (pen == NULL)
    return;
  forget_fonts (pen);
  g_hash_table_unref (pen->shaped);
  g_clear_object (&pen->context);
  g_clear_object (&pen->hatch);
  g_free (pen);
}

static void
prepare (GantryPen *pen, const GantryTheme *theme)
{
  if (pen->context == NULL)
    {
      /* Glyphs stand where they stand at every zoom, so nothing is rounded to pixels of one. */
      cairo_font_options_t *options = cairo_font_options_create ();

      pen->context = gtk_widget_create_pango_context (pen->widget);
      cairo_font_options_set_hint_metrics (options, CAIRO_HINT_METRICS_OFF);
      cairo_font_options_set_hint_style (options, CAIRO_HINT_STYLE_NONE);
      cairo_font_options_set_antialias (options, CAIRO_ANTIALIAS_GRAY);
      pango_cairo_context_set_font_options (pen->context, options);
      cairo_font_options_destroy (options);
      pango_context_set_round_glyph_positions (pen->context, FALSE);
    }
  if (pen->family != theme->font || pen->mono != theme->mono_font)
    forget_fonts (pen);
  pen->family = theme->font;
  pen->mono = theme->mono_font;
  if (g_hash_table_size (pen->shaped) > MOST_LAYOUTS)
    g_hash_table_remove_all (pen->shaped);
}

static const PangoFontDescription *
font_of (GantryPen *pen, guint style)
{
  PangoFontDescription *font = pen->fonts[style & STYLE_FONT];

  if (font != NULL)
    return font;
  font = pango_font_description_new ();
  pango_font_description_set_family (font, (style & GANTRY_TEXT_MONO) != 0 ? pen->mono : pen->family);
  pango_font_description_set_absolute_size (font, gantry_theme_text_size (style) * 4 / 3 * PANGO_SCALE);
  if ((style & GANTRY_TEXT_BOLD) != 0)
    pango_font_description_set_weight (font, PANGO_WEIGHT_BOLD);
  pen->fonts[style & STYLE_FONT] = font;
  return font;
}

static PangoLayout *
make_layout (GantryPen *pen, const Shaped *key)
{
  PangoLayout *layout = pango_layout_new (pen->context);

  pango_layout_set_font_description (layout, font_of (pen, key->style));
  pango_layout_set_single_paragraph_mode (layout, TRUE);
  pango_layout_set_text (layout, key->text, -1);
  if ((key->style & GANTRY_TEXT_TABULAR) != 0)
    {
      PangoAttrList *attributes = pango_attr_list_new ();

      pango_attr_list_insert (attributes, pango_attr_font_features_new ("tnum"));
      pango_layout_set_attributes (layout, attributes);
      pango_attr_list_unref (attributes);
    }
  if (key->room > 0)
    {
      pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
      pango_layout_set_width (layout, key->room * PANGO_SCALE);
    }
  return layout;
}

static const Shaped *
shape (GantryPen *pen, const char *text, guint style, guint room)
{
  Shaped key = { .text = text, .room = (guint16) MIN (room, G_MAXUINT16), .style = style & STYLE_FONT };
  Shaped *found;
  PangoRectangle extents;

  key.hash = g_str_hash (text) * 31u + key.room * 7u + key.style;
  found = g_hash_table_lookup (pen->shaped, &key);
  if (found != NULL)
    return found;
  found = g_memdup2 (&key, sizeof key);
  found->text = g_strdup (text);
  found->layout = make_layout (pen, found);
  pango_layout_get_extents (found->layout, NULL, &extents);
  found->width = (float) extents.width / PANGO_SCALE;
  found->height = (float) extents.height / PANGO_SCALE;
  g_hash_table_add (pen->shaped, found);
  return found;
}

/* Marks */

static GdkRGBA
color_of (const GantryTheme *theme, guint ink, guint8 alpha)
{
  const GantryColor *color = &theme->ink[ink];

  return (GdkRGBA){ color->red, color->green, color->blue, (float) alpha / 255 };
}

static void
set_scale (GantryPen *pen, GtkSnapshot *snapshot, float scale)
{
  if (pen->scale == scale)
    return;
  if (pen->scale != 1)
    gtk_snapshot_restore (snapshot);
  pen->scale = scale;
  if (scale == 1)
    return;
  gtk_snapshot_save (snapshot);
  gtk_snapshot_scale (snapshot, scale, scale);
}

static void
fill (GantryPen *pen, GtkSnapshot *snapshot, const GdkRGBA *color, float x, float y, float width, float height)
{
  float s = pen->scale;

  if (width > 0 && height > 0)
    gtk_snapshot_append_color (snapshot, color, &GRAPHENE_RECT_INIT (x / s, y / s, width / s, height / s));
}

static void
draw_frame (GantryPen *pen, GtkSnapshot *snapshot, const GantryMark *mark, const GdkRGBA *color)
{
  float line = MIN (mark->style, MIN (mark->width, mark->height) / 2);

  fill (pen, snapshot, color, mark->x, mark->y, mark->width, line);
  fill (pen, snapshot, color, mark->x, mark->y + mark->height - line, mark->width, line);
  fill (pen, snapshot, color, mark->x, mark->y + line, line, mark->height - 2 * line);
  fill (pen, snapshot, color, mark->x + mark->width - line, mark->y + line, line, mark->height - 2 * line);
}

static void
draw_text (GantryPen *pen, GtkSnapshot *snapshot, const GantryScene *scene, const GantryMark *mark, const GdkRGBA *color)
{
  const char *text = gantry_scene_mark_text (scene, mark);
  float scale = mark->scale > 0 ? mark->scale : 1;
  float room = mark->width / scale, x;
  const Shaped *shaped = shape (pen, text, mark->style, 0);

  /* Half a point of grace: a text that fits at scale 1 shall not be cut by rounding at another. */
  if (shaped->width > room + 0.5f)
    shaped = shape (pen, text, mark->style, (guint) MAX (room, 1));
  set_scale (pen, snapshot, scale);
  x = mark->x / scale;
  if ((mark->style & GANTRY_TEXT_CENTER) != 0)
    x += MAX (room - shaped->width, 0) / 2;
  else if ((mark->style & GANTRY_TEXT_RIGHT) != 0)
    x += MAX (room - shaped->width, 0);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (x, mark->y / scale + (mark->height / scale - shaped->height) / 2));
  gtk_snapshot_append_layout (snapshot, shaped->layout, color);
  gtk_snapshot_restore (snapshot);
}

/* One period of the stripes as a texture. */
static GdkTexture *
make_hatch (const GdkRGBA *color)
{
  guint8 pixels[HATCH_PERIOD * HATCH_PERIOD * 4];
  g_autoptr (GBytes) bytes = NULL;

  for (guint y = 0; y < HATCH_PERIOD; y++)
    for (guint x = 0; x < HATCH_PERIOD; x++)
      {
        guint8 *pixel = pixels + (y * HATCH_PERIOD + x) * 4;

        pixel[0] = (guint8) (color->red * 255);
        pixel[1] = (guint8) (color->green * 255);
        pixel[2] = (guint8) (color->blue * 255);
        pixel[3] = (x + y) % HATCH_PERIOD < 2 ? 255 : 0;
      }
  bytes = g_bytes_new (pixels, sizeof pixels);
  return gdk_memory_texture_new (HATCH_PERIOD, HATCH_PERIOD, GDK_MEMORY_R8G8B8A8, bytes, HATCH_PERIOD * 4);
}

static void
draw_hatch (GantryPen *pen, GtkSnapshot *snapshot, const GantryMark *mark, const GantryTheme *theme, const GdkRGBA *color)
{
  const GantryColor *ink = &theme->ink[mark->ink];
  graphene_rect_t tile = GRAPHENE_RECT_INIT (0, 0, HATCH_PERIOD, HATCH_PERIOD);

  if (pen->hatch == NULL || memcmp (&pen->hatch_color, ink, sizeof *ink) != 0)
    {
      g_clear_object (&pen->hatch);
      pen->hatch = make_hatch (color);
      pen->hatch_color = *ink;
    }
  set_scale (pen, snapshot, 1);
  gtk_snapshot_push_repeat (snapshot, &GRAPHENE_RECT_INIT (mark->x, mark->y, mark->width, mark->height), &tile);
  gtk_snapshot_append_texture (snapshot, pen->hatch, &tile);
  gtk_snapshot_pop (snapshot);
}

static void
draw_mark (GantryPen *pen, GtkSnapshot *snapshot, const GantryScene *scene, const GantryMark *mark, const GantryTheme *theme)
{
  GdkRGBA color = color_of (theme, mark->ink, mark->alpha);

  switch ((GantryMarkKind) mark->kind)
    {
    case GANTRY_MARK_FILL: fill (pen, snapshot, &color, mark->x, mark->y, mark->width, mark->height); break;
    case GANTRY_MARK_FRAME: draw_frame (pen, snapshot, mark, &color); break;
    case GANTRY_MARK_HATCH: draw_hatch (pen, snapshot, mark, theme, &color); break;
    case GANTRY_MARK_TEXT: draw_text (pen, snapshot, scene, mark, &color); break;
    }
}

void
gantry_pen_draw (GantryPen *pen, GtkSnapshot *snapshot, const GantryScene *scene, const GantryTheme *theme)
{
  prepare (pen, theme);
  gtk_snapshot_push_clip (snapshot, &GRAPHENE_RECT_INIT (0, 0, scene->width, scene->height));
  for (guint i = 0; i < scene->marks->len; i++)
    draw_mark (pen, snapshot, scene, &g_array_index (scene->marks, GantryMark, i), theme);
  set_scale (pen, snapshot, 1);
  gtk_snapshot_pop (snapshot);
}

GskRenderNode *
gantry_pen_render (GantryPen *pen, const GantryScene *scene, const GantryTheme *theme)
{
  GtkSnapshot *snapshot = gtk_snapshot_new ();

  gantry_pen_draw (pen, snapshot, scene, theme);
  return gtk_snapshot_free_to_node (snapshot);
}
