/* SPDX-License-Identifier: Apache-2.0 */
/* Paints ways to place a program as points: peak memory to the right, step time upwards, the front joined by a line.
 * Down and to the left is better in both. */
#include "drawing/labels-private.h"
#include "drawing/time-private.h"
#include <math.h>

#define LEFT 74.0f
#define RIGHT 18.0f
#define TOP 16.0f
#define BOTTOM 36.0f
#define REACH 9.0f        /* points from a mark that still pick it */
#define MOST_LABEL 190.0f /* points; the rest of a name is in the tooltip */
#define LABEL_STYLE (GANTRY_TEXT_SMALL | GANTRY_TEXT_BOLD)

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
        gantry_scene_text (scene, x - half, f->height - BOTTOM + 3, 2 * half, 14, text, GANTRY_TEXT_SMALL | GANTRY_TEXT_CENTER, 1, GANTRY_INK_TEXT_DIM);
    }
  gantry_scene_text (scene, LEFT, f->height - 16, f->width - LEFT - RIGHT, 14, "peak memory", GANTRY_TEXT_SMALL | GANTRY_TEXT_CENTER, 1, GANTRY_INK_TEXT_DIM);
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
        && fabsf (to_x (f, (double) points[i].bytes) - to_x (f, (double) point->bytes)) < 12 && fabsf (to_y (f, points[i].us) - to_y (f, point->us)) < 12)
      return TRUE;
  return FALSE;
}

static GantryLayoutBox
box_of (const Frame *f, const GantryScatterPoint *point)
{
  float half = point->kind == GANTRY_POINT_FRONT ? 3 : 4.5f;

  return (GantryLayoutBox){ to_x (f, (double) point->bytes) - half, to_y (f, point->us) - half, 2 * half, 2 * half };
}

static void
paint_point (GantryScene *scene, const Frame *f, const GantryScatterPoint *point, gboolean selected)
{
  static const GantryInk inks[] = { GANTRY_INK_OFFLOAD, GANTRY_INK_MEASURED, GANTRY_INK_PEAK };
  GantryLayoutBox box = box_of (f, point);

  gantry_scene_fill (scene, box.x, box.y, box.width, box.height, inks[point->kind], 255);
  if (selected)
    gantry_scene_frame (scene, box.x - 3, box.y - 3, box.width + 6, box.height + 6, 2, GANTRY_INK_SELECTION, 255);
}

/* Beside the point, above or below, near before far. @force: over others where there is no room; without, it has no name then: the
 * tooltip and the table tell it */
static void
write_name (GantryScene *scene, const Frame *f, GantryLabels *labels, const GantryScatterPoint *point, gboolean force)
{
  enum
  {
    N = 24
  };
  float x = to_x (f, (double) point->bytes), y = to_y (f, point->us);
  float width = MIN (gantry_theme_text_width (point->label, LABEL_STYLE) + 6, MIN (MOST_LABEL, f->width));
  const float lefts[] = { x + 8, x - 8 - width, CLAMP (x - width / 2, LEFT, MAX (f->width - width, LEFT)) };
  const float tops[] = { y - 15, y - 7, y + 1, y - 29, y + 15, y - 43, y + 29, y - 57 };
  GantryLayoutBox places[N];
  guint found;

  for (guint i = 0; i < N; i++)
    places[i] = (GantryLayoutBox){ lefts[i % 3], tops[i / 3], width, GANTRY_LABEL_HEIGHT };
  found = _gantry_labels_place (labels, places, N);
  if (found == N && !force)
    return;
  if (found == N)
    {
      places[0].x = CLAMP (x + 8, 0, f->width - width);
      places[0].y = CLAMP (y - 15, 0, f->height - GANTRY_LABEL_HEIGHT);
      found = 0;
      _gantry_labels_take (labels, &places[0]);
    }
  _gantry_labels_write (scene, &places[found], point->label, LABEL_STYLE, GANTRY_INK_TEXT);
}

/* What is selected first, then what is placed now, then the variants; points of the front have names in the table alone. */
static void
write_names (GantryScene *scene, const Frame *f, const GantryScatterPoint *points, guint n, guint selected)
{
  g_auto (GantryLabels) labels;

  _gantry_labels_init (&labels, LEFT, 0, f->width - LEFT, f->height - BOTTOM);
  for (guint i = 0; i < n; i++)
    {
      GantryLayoutBox box = box_of (f, &points[i]);

      _gantry_labels_take (&labels, &box);
    }
  if (selected < n && points[selected].label != NULL)
    write_name (scene, f, &labels, &points[selected], TRUE);
  for (guint kind = GANTRY_POINT_NOW + 1; kind-- > GANTRY_POINT_VARIANT;)
    for (guint i = 0; kind != GANTRY_POINT_FRONT && i < n; i++)
      if (points[i].kind == kind && i != selected && points[i].label != NULL && !lies_on_another (f, points, n, &points[i]))
        write_name (scene, f, &labels, &points[i], FALSE);
}

static void
write_none (GantryScene *scene)
{
  static const char words[] = "Nothing that fits its limit";
  float width = MIN (gantry_theme_text_width (words, GANTRY_TEXT_NORMAL), scene->width);

  gantry_scene_text (scene, (scene->width - width) / 2, scene->height / 2 - 10, width, 20, words, GANTRY_TEXT_NORMAL, 1, GANTRY_INK_TEXT_DIM);
}

void
gantry_paint_scatter (GantryScene *scene, const GantryScatterPoint *points, guint n, guint selected, guint64 limit, const GantryTheme *theme)
{
  Frame f;

  if (n == 0)
    {
      write_none (scene);
      return;
    }
  f = frame_of (points, n, limit, scene->width, scene->height);
  paint_axes (scene, &f);
  if (limit > 0 && (double) limit >= f.bytes0 && (double) limit <= f.bytes1)
    gantry_scene_fill (scene, to_x (&f, (double) limit) - 1, TOP, 2, f.height - TOP - BOTTOM, GANTRY_INK_LIMIT, 255);
  paint_front (scene, &f, points, n);
  for (guint kind = GANTRY_POINT_VARIANT; kind <= GANTRY_POINT_NOW; kind++)
    for (guint i = 0; i < n; i++)
      if (points[i].kind == kind)
        paint_point (scene, &f, &points[i], i == selected);
  write_names (scene, &f, points, n, selected);
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
