/* SPDX-License-Identifier: Apache-2.0 */
/* Paints ways to place a program as points: peak memory to the right, step time upwards, the front joined by a line.
 * Down and to the left is better in both. */
#include "drawing/time-private.h"
#include <math.h>

#define LEFT 74.0f
#define RIGHT 18.0f
#define TOP 16.0f
#define BOTTOM 36.0f
#define REACH 9.0f /* points from a mark that still pick it */

typedef struct
{
  float width, height;
  double bytes0, bytes1, us0, us1; /* at the ends of the axes */
} Frame;

static Frame
frame_of (const GantryScatterPoint *points, guint n, guint64 limit, float width, float height)
{
  Frame f = { width, height, INFINITY, 0, INFINITY, 0 };
  double margin;

  for (guint i = 0; i < n; i++)
    {
      f.bytes0 = MIN (f.bytes0, (double) points[i].bytes);
      f.bytes1 = MAX (f.bytes1, (double) points[i].bytes);
      f.us0 = MIN (f.us0, points[i].us);
      f.us1 = MAX (f.us1, points[i].us);
    }
  if (limit > 0 && (double) limit < 2 * f.bytes1 && (double) limit > f.bytes0 / 2)
    {
      f.bytes0 = MIN (f.bytes0, (double) limit);
      f.bytes1 = MAX (f.bytes1, (double) limit);
    }
  margin = MAX ((f.bytes1 - f.bytes0) * 0.08, f.bytes1 * 0.02 + 1);
  f.bytes0 = MAX (f.bytes0 - margin, 0);
  f.bytes1 += margin;
  margin = MAX ((f.us1 - f.us0) * 0.12, f.us1 * 0.01 + 1e-3);
  f.us0 = MAX (f.us0 - margin, 0);
  f.us1 += margin;
  return f;
}

static float
to_x (const Frame *f, double bytes)
{
  return LEFT + (float) ((bytes - f->bytes0) / (f->bytes1 - f->bytes0)) * MAX (f->width - LEFT - RIGHT, 1);
}

static float
to_y (const Frame *f, double us)
{
  return TOP + (float) (1 - (us - f->us0) / (f->us1 - f->us0)) * MAX (f->height - TOP - BOTTOM, 1);
}

static void
paint_axes (GantryScene *scene, const Frame *f)
{
  double step = _gantry_round_step (f->us1 - f->us0, (guint) MAX (f->height / 40, 2), 1e-3);

  for (double us = ceil (f->us0 / step) * step; us <= f->us1; us += step)
    {
      g_autofree char *text = _gantry_time_text (llround (us * 1000));
      float y = roundf (to_y (f, us));

      gantry_scene_fill (scene, LEFT, y, f->width - LEFT - RIGHT, 1, GANTRY_INK_GRID, 255);
      gantry_scene_text (scene, 4, y - 8, LEFT - 12, 16, text, GANTRY_TEXT_SMALL | GANTRY_TEXT_RIGHT, 1, GANTRY_INK_TEXT_DIM);
    }
  step = pow (2, ceil (log2 ((f->bytes1 - f->bytes0) / MAX (f->width / 110, 2))));
  for (double bytes = ceil (f->bytes0 / step) * step; bytes <= f->bytes1; bytes += step)
    {
      g_autofree char *text = gantry_format_bytes ((guint64) bytes);
      float x = roundf (to_x (f, bytes)), half = gantry_theme_text_width (text, GANTRY_TEXT_SMALL) / 2 + 2;

      gantry_scene_fill (scene, x, TOP, 1, f->height - TOP - BOTTOM, GANTRY_INK_GRID, 255);
      if (x + half <= f->width) /* a label that would be cut off is none */
        gantry_scene_text (scene, x - half, f->height - BOTTOM + 3, 2 * half, 14, text, GANTRY_TEXT_SMALL | GANTRY_TEXT_CENTER, 1,
                           GANTRY_INK_TEXT_DIM);
    }
  gantry_scene_text (scene, LEFT, f->height - 16, f->width - LEFT - RIGHT, 14, "peak memory", GANTRY_TEXT_SMALL | GANTRY_TEXT_CENTER,
                     1, GANTRY_INK_TEXT_DIM);
  gantry_scene_text (scene, 4, 0, 120, 14, "step time", GANTRY_TEXT_SMALL, 1, GANTRY_INK_TEXT_DIM);
}

/* The front as stairs: at each memory the time of the best point that needs no more. They come by falling peak. */
static void
paint_front (GantryScene *scene, const Frame *f, const GantryScatterPoint *points, guint n)
{
  const GantryScatterPoint *before = NULL;

  for (guint i = 0; i < n; i++)
    if (points[i].kind == GANTRY_POINT_FRONT)
      {
        float x = to_x (f, (double) points[i].bytes), y = to_y (f, points[i].us);

        if (before != NULL)
          {
            float x1 = to_x (f, (double) before->bytes), y1 = to_y (f, before->us);

            gantry_scene_fill (scene, MIN (x, x1), y - 0.75f, fabsf (x1 - x), 1.5f, GANTRY_INK_PLANNED, 255);
            gantry_scene_fill (scene, x1 - 0.75f, MIN (y, y1), 1.5f, fabsf (y1 - y), GANTRY_INK_PLANNED, 255);
          }
        before = &points[i];
      }
}

/* What is placed now is often one of the variants: then the name of that says more. */
static gboolean
lies_on_another (const Frame *f, const GantryScatterPoint *points, guint n, const GantryScatterPoint *point)
{
  for (guint i = 0; i < n; i++)
    if (points[i].kind == GANTRY_POINT_VARIANT && point->kind == GANTRY_POINT_NOW
        && fabsf (to_x (f, (double) points[i].bytes) - to_x (f, (double) point->bytes)) < 12
        && fabsf (to_y (f, points[i].us) - to_y (f, point->us)) < 12)
      return TRUE;
  return FALSE;
}

static void
paint_point (GantryScene *scene, const Frame *f, const GantryScatterPoint *point, gboolean named, gboolean selected)
{
  static const GantryInk inks[] = { GANTRY_INK_OFFLOAD, GANTRY_INK_MEASURED, GANTRY_INK_PEAK };
  float x = to_x (f, (double) point->bytes), y = to_y (f, point->us), half = point->kind == GANTRY_POINT_FRONT ? 3 : 4.5f;

  gantry_scene_fill (scene, x - half, y - half, 2 * half, 2 * half, inks[point->kind], 255);
  if (selected)
    gantry_scene_frame (scene, x - half - 3, y - half - 3, 2 * half + 6, 2 * half + 6, 2, GANTRY_INK_SELECTION, 255);
  if (point->label != NULL && named && (selected || point->kind != GANTRY_POINT_FRONT))
    {
      float width = gantry_theme_text_width (point->label, GANTRY_TEXT_SMALL | GANTRY_TEXT_BOLD) + 4;
      float left = MAX (x + 8 + width > f->width ? x - 8 - width : x + 8, 0);

      gantry_scene_text (scene, left, MAX (y - 15, 0), MIN (width, f->width - left), 14, point->label, GANTRY_TEXT_SMALL | GANTRY_TEXT_BOLD, 1, GANTRY_INK_TEXT);
    }
}

void
gantry_paint_scatter (GantryScene *scene, const GantryScatterPoint *points, guint n, guint selected, guint64 limit,
                      const GantryTheme *theme)
{
  Frame f;

  if (n == 0)
    return;
  f = frame_of (points, n, limit, scene->width, scene->height);
  paint_axes (scene, &f);
  if (limit > 0 && (double) limit >= f.bytes0 && (double) limit <= f.bytes1)
    gantry_scene_fill (scene, to_x (&f, (double) limit) - 1, TOP, 2, f.height - TOP - BOTTOM, GANTRY_INK_LIMIT, 255);
  paint_front (scene, &f, points, n);
  for (guint kind = GANTRY_POINT_VARIANT; kind <= GANTRY_POINT_NOW; kind++)
    for (guint i = 0; i < n; i++)
      if (points[i].kind == kind)
        paint_point (scene, &f, &points[i], !lies_on_another (&f, points, n, &points[i]), i == selected);
}

guint
gantry_scatter_pick (const GantryScatterPoint *points, guint n, guint64 limit, float width, float height, float x, float y)
{
  guint best = G_MAXUINT;
  float least = REACH;
  Frame f;

  if (n == 0)
    return best;
  f = frame_of (points, n, limit, width, height);
  for (guint i = 0; i < n; i++)
    {
      float distance = hypotf (to_x (&f, (double) points[i].bytes) - x, to_y (&f, points[i].us) - y);

      if (distance < least)
        {
          least = distance;
          best = i;
        }
    }
  return best;
}
