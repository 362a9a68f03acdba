/* SPDX-License-Identifier: Apache-2.0 */
/* GtkSourceView makes a tag for each style that a language uses, when it meets it: each is looked at then, and whenever it changes. */
#include "views/code-scheme.h"

#define LEAST_CONTRAST 4.5
#define STEPS 20

static GantryColor
mix (const GantryColor *from, const GantryColor *to, float part)
{
  return (GantryColor){ from->red + part * (to->red - from->red), from->green + part * (to->green - from->green), from->blue + part * (to->blue - from->blue) };
}

static GantryColor
color_of (const GdkRGBA *rgba)
{
  return (GantryColor){ rgba->red, rgba->green, rgba->blue };
}

/* The ground on which contrast is least: that of what is marked. */
static GantryColor
ground_of (GtkSourceBuffer *buffer, const GantryTheme *theme)
{
  GtkSourceStyleScheme *scheme = gtk_source_buffer_get_style_scheme (buffer);
  GtkSourceStyle *text = scheme != NULL ? gtk_source_style_scheme_get_style (scheme, "text") : NULL;
  GantryColor ground = theme->ink[GANTRY_INK_BACKGROUND];
  g_autofree char *name = NULL;
  GdkRGBA rgba;

  if (text != NULL)
    g_object_get (text, "background", &name, NULL);
  if (name != NULL && gdk_rgba_parse (&rgba, name))
    ground = color_of (&rgba);
  return mix (&ground, &theme->ink[GANTRY_INK_SELECTION], GANTRY_CODE_MARKED_AT);
}

static void
look_at_tag (GtkTextTag *tag, gpointer data)
{
  GtkSourceBuffer *buffer = data;
  const GantryTheme *theme = g_object_get_data (G_OBJECT (buffer), "gantry-theme");
  const GantryColor end = theme->dark ? (GantryColor){ 1, 1, 1 } : (GantryColor){ 0, 0, 0 };
  GantryColor ground = ground_of (buffer, theme), ink, readable;
  g_autoptr (GdkRGBA) rgba = NULL;
  gboolean set = FALSE;
  guint step = 0;

  g_object_get (tag, "foreground-set", &set, "foreground-rgba", &rgba, NULL);
  if (!set || rgba == NULL)
    return;
  ink = readable = color_of (rgba);
  while (gantry_color_contrast (&readable, &ground) < LEAST_CONTRAST && step < STEPS)
    readable = mix (&ink, &end, (float) ++step / STEPS);
  if (step > 0)
    g_object_set (tag, "foreground-rgba", &(GdkRGBA){ readable.red, readable.green, readable.blue, 1 }, NULL);
}

static void
tag_added (GtkTextTagTable *table, GtkTextTag *tag, gpointer buffer)
{
  look_at_tag (tag, buffer);
}

/* What is readable already is left, so this ends. */
static void
tag_changed (GtkTextTagTable *table, GtkTextTag *tag, gboolean size_changed, gpointer buffer)
{
  look_at_tag (tag, buffer);
}

void
gantry_code_scheme_apply (GtkSourceBuffer *buffer, const GantryTheme *theme)
{
  GtkTextTagTable *tags = gtk_text_buffer_get_tag_table (GTK_TEXT_BUFFER (buffer));
  gboolean first = g_object_get_data (G_OBJECT (buffer), "gantry-theme") == NULL;
  GtkSourceStyleScheme *scheme = gtk_source_style_scheme_manager_get_scheme (gtk_source_style_scheme_manager_get_default (),
                                                                             theme->dark ? "Adwaita-dark" : "Adwaita");

  g_object_set_data (G_OBJECT (buffer), "gantry-theme", (gpointer) theme);
  if (first)
    {
      g_signal_connect_object (tags, "tag-added", G_CALLBACK (tag_added), buffer, 0);
      g_signal_connect_object (tags, "tag-changed", G_CALLBACK (tag_changed), buffer, 0);
    }
  gtk_source_buffer_set_style_scheme (buffer, scheme);
  gtk_text_tag_table_foreach (tags, look_at_tag, buffer);
}
