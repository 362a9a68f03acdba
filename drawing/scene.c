/* SPDX-License-Identifier: Apache-2.0 */
/* The display list and its budget. */
#include "drawing/scene.h"
#include <math.h>
#include <string.h>

GantryScene *
gantry_scene_new (float width, float height)
{
  GantryScene *scene = g_new0 (GantryScene, 1);

  scene->marks = g_array_new (FALSE, FALSE, sizeof (GantryMark));
  scene->texts = g_string_new (NULL);
  scene->width = width;
  scene->height = height;
  return scene;
}

void
gantry_scene_free (GantryScene *scene)
{
  if (scene == NULL)
    return;
  g_array_unref (scene->marks);
  g_string_free (scene->texts, TRUE);
  g_free (scene);
}

void
gantry_scene_clear (GantryScene *scene, float width, float height)
{
  g_array_set_size (scene->marks, 0);
  g_string_truncate (scene->texts, 0);
  scene->width = width;
  scene->height = height;
  scene->n_clipped = 0;
}

static gboolean
is_outside (const GantryScene *scene, float x, float y, float width, float height)
{
  return !(x < scene->width && y < scene->height && x + width > 0 && y + height > 0);
}

static void
add (GantryScene *scene, const GantryMark *mark)
{
  if (scene->marks->len >= scene->budget && scene->budget > 0)
    scene->n_clipped++;
  else
    g_array_append_val (scene->marks, *mark);
}

void
gantry_scene_fill (GantryScene *scene, float x, float y, float width, float height, GantryInk ink, guint8 alpha)
{
  float right = MIN (x + width, scene->width + 1), bottom = MIN (y + height, scene->height + 1);
  GantryMark mark = { .kind = GANTRY_MARK_FILL, .ink = (guint8) ink, .alpha = alpha };

  if (is_outside (scene, x, y, width, height))
    return;
  mark.x = MAX (x, -1);
  mark.y = MAX (y, -1);
  mark.width = right - mark.x;
  mark.height = bottom - mark.y;
  add (scene, &mark);
}

void
gantry_scene_frame (GantryScene *scene, float x, float y, float width, float height, guint line, GantryInk ink, guint8 alpha)
{
  GantryMark mark = { x, y, width, height, GANTRY_MARK_FRAME, (guint8) ink, alpha, (guint8) line, 0, 1 };

  if (!is_outside (scene, x, y, width, height))
    add (scene, &mark);
}

void
gantry_scene_hatch (GantryScene *scene, float x, float y, float width, float height, GantryInk ink)
{
  GantryMark mark = { x, y, width, height, GANTRY_MARK_HATCH, (guint8) ink, 255, 0, 0, 1 };

  if (!is_outside (scene, x, y, width, height))
    add (scene, &mark);
}

void
gantry_scene_text (GantryScene *scene, float x, float y, float width, float height, const char *text, GantryTextStyle style, float scale, GantryInk ink)
{
  GantryMark mark = { x, y, width, height, GANTRY_MARK_TEXT, (guint8) ink, 255, (guint8) style, 0, scale };

  if (text == NULL || *text == '\0' || width < 4 || is_outside (scene, x, y, width, height))
    return;
  mark.text = (guint32) scene->texts->len;
  g_string_append_len (scene->texts, text, (gssize) strlen (text) + 1);
  add (scene, &mark);
}

const char *
gantry_scene_mark_text (const GantryScene *scene, const GantryMark *mark)
{
  return mark->kind == GANTRY_MARK_TEXT ? scene->texts->str + mark->text : "";
}
