/* SPDX-License-Identifier: Apache-2.0 */
/* What was sampled while the run went on (SM, tensor pipe, DRAM, PCIe), as small curves below the lanes. */
#include "drawing/time-private.h"
#include <math.h>
#include <string.h>

#define HEIGHT 30.0f
#define GAP 3.0f
#define MOST 16u
#define BYTES " (bytes)" /* ends the name of what counts bytes */

static guint
n_shown (const GantryTimeModel *model)
{
  return model->run == NULL || model->folded ? 0 : MIN (gantry_recording_n_counters (model->run->recording), MOST);
}

float
_gantry_time_counters_height (const GantryTimeModel *model)
{
  return (float) n_shown (model) * HEIGHT;
}

/* What is at the top: of parts of a whole 100, else the largest sample of the run. */
static double
top_of (const GantryTimeModel *model, guint counter)
{
  const char *name = gantry_recording_counter_name (model->run->recording, counter);
  GantryCurvePixel all;

  gantry_recording_counter_curve (model->run->recording, counter, model->run_begin, MAX (model->run_end, model->run_begin + 1), 1, &all);
  if (strchr (name, '%') != NULL && all.max <= 100)
    return 100;
  return all.max > 0 ? all.max : 1;
}

/* Runs before and after the one shown are not part of its picture. */
static void
leave_out_others (const GantryTimeModel *model, const GantryTimeView *view, guint n, GantryCurvePixel *pixels)
{
  double span = (double) MAX (view->t1 - view->t0, 1) / n;

  for (guint i = 0; i < n; i++)
    {
      gint64 begin = view->t0 + model->run_begin + (gint64) (span * i), end = begin + (gint64) span;

      if (begin < model->shown_from || end > model->shown_to)
        pixels[i] = (GantryCurvePixel){ 0, 0 };
    }
}

/* A sample in the unit that the counter's name ends with. (transfer full) */
static char *
value_text (const char *name, double value)
{
  return g_str_has_suffix (name, BYTES) ? gantry_format_bytes ((guint64) CLAMP (value, 0, 1e18)) : g_strdup_printf ("%.4g", value);
}

/* The name without the unit, which stands with the value: there is little room for it. (transfer full) */
static char *
title_of (const char *name)
{
  return g_strndup (name, strlen (name) - (g_str_has_suffix (name, BYTES) ? strlen (BYTES) : 0));
}

static void
paint_one (GantryScene *scene, const GantryTimeModel *model, const GantryTimeView *view, guint counter, float y)
{
  guint n = (guint) MAX (scene->width - GANTRY_AXIS_LEFT - GANTRY_AXIS_RIGHT, 1);
  g_autofree GantryCurvePixel *pixels = g_new0 (GantryCurvePixel, n);
  double top = top_of (model, counter);
  const char *name = gantry_recording_counter_name (model->run->recording, counter);
  g_autofree char *most = value_text (name, top), *scale = g_strconcat ("to ", most, NULL), *title = title_of (name);

  gantry_scene_fill (scene, 0, y, GANTRY_AXIS_LEFT - 6, HEIGHT - 1, GANTRY_INK_SURFACE, 255);
  gantry_scene_fill (scene, 0, y + HEIGHT - 1, scene->width, 1, GANTRY_INK_GRID, 255);
  gantry_scene_text (scene, 8, y + 1, GANTRY_AXIS_LEFT - 16, 15, title, GANTRY_TEXT_SMALL, 0.9f, GANTRY_INK_TEXT);
  gantry_scene_text (scene, 8, y + 14, GANTRY_AXIS_LEFT - 16, 14, scale, GANTRY_TEXT_SMALL, 0.82f, GANTRY_INK_TEXT_DIM);
  gantry_recording_counter_curve (model->run->recording, counter, view->t0 + model->run_begin, view->t1 + model->run_begin, n, pixels);
  leave_out_others (model, view, n, pixels);
  for (guint i = 0, end; i < n; i = end)
    {
      float height = (float) (CLAMP (pixels[i].max / top, 0, 1) * (HEIGHT - 2 * GAP));

      for (end = i + 1; end < n && pixels[end].max == pixels[i].max; end++)
        ;
      if (height <= 0)
        continue;
      gantry_scene_fill (scene, GANTRY_AXIS_LEFT + (float) i, y + HEIGHT - GAP - height, (float) (end - i), height, GANTRY_INK_MEASURED, 70);
      gantry_scene_fill (scene, GANTRY_AXIS_LEFT + (float) i, y + HEIGHT - GAP - height, (float) (end - i), 1.5f, GANTRY_INK_MEASURED, 255);
    }
}

void
_gantry_paint_time_counters (GantryScene *scene, const GantryTimeModel *model, const GantryTimeView *view, float top)
{
  for (guint i = 0; i < n_shown (model); i++)
    paint_one (scene, model, view, i, top + (float) i * HEIGHT);
}

char *
_gantry_time_counter_at (const GantryTimeModel *model, gint64 time, float y)
{
  int i = (int) floorf (y / HEIGHT);
  GantryCurvePixel at;
  g_autofree char *when = NULL, *value = NULL, *title = NULL;
  const char *name;

  if (i < 0 || i >= (int) n_shown (model))
    return NULL;
  gantry_recording_counter_curve (model->run->recording, (guint) i, time + model->run_begin, time + model->run_begin + 1, 1, &at);
  name = gantry_recording_counter_name (model->run->recording, (guint) i);
  when = _gantry_time_text (time);
  value = value_text (name, at.max);
  title = title_of (name);
  return g_strdup_printf ("%s: %s at %s", title, value, when);
}

const char *
_gantry_time_counter_name (const GantryTimeModel *model, float y)
{
  int i = (int) floorf (y / HEIGHT);

  return i >= 0 && i < (int) n_shown (model) ? gantry_recording_counter_name (model->run->recording, (guint) i) : NULL;
}
