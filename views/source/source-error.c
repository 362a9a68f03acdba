/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of readers and of Python have one form each. */
#include "views/source/source-error.h"
#include <string.h>

/* About ten lines. */
#define HEIGHT 190

void
gantry_source_places_free (GantrySourcePlaces *places)
{
  if (places == NULL)
    return;
  g_free (places->path);
  g_array_unref (places->spots);
  g_free (places);
}

/* ":12" at @at. Returns: what follows, NULL where it is none */
static const char *
read_number (const char *at, guint32 *number)
{
  guint64 value;
  char *end;

  if (at[0] != ':' || !g_ascii_isdigit (at[1]))
    return NULL;
  value = g_ascii_strtoull (at + 1, &end, 10);
  *number = (guint32) MIN (value, G_MAXINT32);
  return end;
}

/* "FILE:LINE:COLUMN: what": the first place of a line that reads so. (transfer full) (nullable): the file */
static char *
read_place (const char *line, gsize length, GantrySourceSpot *spot)
{
  for (const char *at = memchr (line, ':', length); at != NULL; at = memchr (at + 1, ':', length - (gsize) (at + 1 - line)))
    {
      const char *column = at > line ? read_number (at, &spot->line) : NULL;
      const char *end = column != NULL ? read_number (column, &spot->column) : NULL;

      if (end != NULL && spot->line > 0 && (gsize) (end - line) + 2 <= length && end[0] == ':' && end[1] == ' ')
        return g_strndup (line, (gsize) (at - line));
    }
  return NULL;
}

/* `  File "FILE", line LINE...`: (transfer full) (nullable): the file */
static char *
read_frame (const char *line, GantrySourceSpot *spot)
{
  const char *name = line + strspn (line, " "), *end;

  if (!g_str_has_prefix (name, "File \""))
    return NULL;
  name += strlen ("File \"");
  end = strstr (name, "\", line ");
  if (end == NULL || *name == '<')
    return NULL;
  *spot = (GantrySourceSpot){ (guint32) MIN (g_ascii_strtoull (end + strlen ("\", line "), NULL, 10), G_MAXINT32), 0 };
  return spot->line > 0 ? g_strndup (name, (gsize) (end - name)) : NULL;
}

GantrySourcePlaces *
gantry_source_places_of (const char *message)
{
  g_auto (GStrv) lines = g_strsplit (message, "\n", -1);
  GantrySourceSpot spot = { 0 }, last = { 0 };
  g_autofree char *path = lines[0] != NULL ? read_place (lines[0], strlen (lines[0]), &spot) : NULL, *frame = NULL;
  GantrySourcePlaces *places;

  for (guint i = 0; path == NULL && lines[i] != NULL; i++)
    {
      char *found = read_frame (lines[i], &spot);

      if (found == NULL)
        continue;
      g_free (frame);
      frame = found;
      last = spot;
    }
  if (path == NULL && frame == NULL)
    return NULL;
  places = g_new0 (GantrySourcePlaces, 1);
  places->spots = g_array_new (FALSE, FALSE, sizeof (GantrySourceSpot));
  places->path = g_strdup (path != NULL ? path : frame);
  if (path == NULL)
    g_array_append_val (places->spots, last);
  for (guint i = 0; path != NULL && lines[i] != NULL; i++)
    {
      g_autofree char *other = read_place (lines[i], strlen (lines[i]), &spot);

      if (g_strcmp0 (other, path) == 0)
        g_array_append_val (places->spots, spot);
    }
  return places;
}

/* The widget */

typedef struct
{
  GtkWidget *widget;
  GantrySourcePlaces *places;
} Reading;

static void
text_read (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autofree Reading *reading = data;
  g_autoptr (GtkWidget) widget = reading->widget;
  g_autoptr (GantrySourcePlaces) places = reading->places;
  g_autoptr (GantrySourceText) text = gantry_source_text_read_finish (result, NULL);
  GantrySourceView *view = gantry_source_error_get_view (widget);

  /* What cannot be read is not shown; the message is there in any case. */
  if (text == NULL)
    return;
  gtk_widget_set_visible (widget, TRUE);
  gantry_source_view_set_text (view, text);
  gantry_source_view_mark_errors (view, (const GantrySourceSpot *) (gpointer) places->spots->data, places->spots->len);
}

GantrySourceView *
gantry_source_error_get_view (GtkWidget *widget)
{
  return GANTRY_SOURCE_VIEW (gtk_frame_get_child (GTK_FRAME (widget)));
}

GtkWidget *
gantry_source_error_new (const char *message, const char *opened)
{
  g_autoptr (GantrySourcePlaces) places = gantry_source_places_of (message);
  g_autofree char *folder = opened != NULL ? g_path_get_dirname (opened) : NULL, *path = NULL;
  GantrySourceRequest request = { 0 };
  GtkWidget *frame, *view;
  Reading *reading;

  if (places == NULL)
    return NULL;
  frame = gtk_frame_new (NULL);
  view = gantry_source_view_new ();
  path = g_canonicalize_filename (places->path, folder);
  gtk_widget_set_size_request (view, -1, HEIGHT);
  gtk_frame_set_child (GTK_FRAME (frame), view);
  gtk_widget_set_name (frame, "error-source");
  gtk_widget_set_overflow (frame, GTK_OVERFLOW_HIDDEN);
  gtk_widget_set_visible (frame, FALSE);
  request.path = path;
  request.owner = (char *) opened;
  request.anywhere = opened != NULL && strcmp (path, opened) == 0;
  reading = g_new0 (Reading, 1);
  *reading = (Reading){ g_object_ref (frame), g_steal_pointer (&places) };
  gantry_source_text_read_async (&request, NULL, text_read, reading);
  return frame;
}
