/* SPDX-License-Identifier: Apache-2.0 */
/* Paints the memory curve: planned as a pale area with its step line, measured as a solid line, their peaks, and the
 * limit. */
#include "drawing/time-private.h"
#include <math.h>

#define TOP 14.0f
#define BOTTOM 6.0f

typedef struct
{
  GantryScene *scene;
  const GantryTimeModel *model;
  const GantryTimeView *view;
  double top_bytes; /* at the top of the axis */
  float y0, height; /* of the axis */
  guint n_pixels;
} Curve;

static float
to_y (const Curve *c, double bytes)
{
  return c->y0 + c->height * (float) (1 - bytes / c->top_bytes);
}

static void
paint_axis (const Curve *c)
{
  guint most = (guint) MAX (c->height / 34, 2);
  /* Round in the unit of the label: powers of two of a KiB, MiB, GiB. */
  double step = pow (2, ceil (log2 (MAX (c->top_bytes / most, 1))));

  for (double bytes = 0; bytes <= c->top_bytes; bytes += step)
    {
      g_autofree char *text = gantry_format_bytes ((guint64) bytes);
      float y = roundf (to_y (c, bytes));

      gantry_scene_fill (c->scene, GANTRY_AXIS_LEFT, y, c->scene->width - GANTRY_AXIS_LEFT - GANTRY_AXIS_RIGHT, 1, GANTRY_INK_GRID, 255);
      gantry_scene_text (c->scene, 4, y - 8, GANTRY_AXIS_LEFT - 12, 16, text, GANTRY_TEXT_SMALL | GANTRY_TEXT_RIGHT, 1,
                         GANTRY_INK_TEXT_DIM);
    }
}

/* Smallest and largest bytes of a plan alive within each pixel. @begin: of the @n steps, and the end */
static void
planned_pixels (const Curve *c, const GantryPlan *plan, const gint64 *begin_of, guint32 n, GantryCurvePixel *pixels)
{
  double span = (double) MAX (c->view->t1 - c->view->t0, 1) / c->n_pixels;
  guint32 step = 0;

  for (guint i = 0; i < c->n_pixels; i++)
    {
      gint64 begin = c->view->t0 + (gint64) (span * i), end = c->view->t0 + (gint64) (span * (i + 1));

      pixels[i] = (GantryCurvePixel){ 0, 0 };
      if (n == 0 || end <= 0 || begin >= begin_of[n])
        continue;
      if (i == 0)
        step = _gantry_time_search (begin_of, n, begin);
      pixels[i].min = INFINITY;
      for (;; step++)
        {
          double bytes = (double) gantry_plan_memory_bytes_at (plan, plan->n_init_steps + step);

          pixels[i].min = MIN (pixels[i].min, bytes);
          pixels[i].max = MAX (pixels[i].max, bytes);
          if (step + 1 >= n || begin_of[step + 1] >= end)
            break;
        }
    }
}

static void
paint_curve (const Curve *c, const GantryCurvePixel *pixels, GantryInk ink, guint8 alpha, gboolean area)
{
  float base = to_y (c, 0);

  for (guint i = 0, end; area && i < c->n_pixels; i = end)
    {
      for (end = i + 1; end < c->n_pixels && pixels[end].max == pixels[i].max; end++)
        ;
      if (pixels[i].max > 0)
        gantry_scene_fill (c->scene, GANTRY_AXIS_LEFT + (float) i, to_y (c, pixels[i].max), (float) (end - i),
                           base - to_y (c, pixels[i].max), ink, 90);
    }
  for (guint i = 0, end; i < c->n_pixels; i = end)
    {
      double low = i > 0 ? MIN (pixels[i].min, pixels[i - 1].max) : pixels[i].min;
      double high = i > 0 ? MAX (pixels[i].max, MIN (pixels[i - 1].min, pixels[i - 1].max)) : pixels[i].max;
      float top = to_y (c, high), bottom = to_y (c, low);

      end = i + 1;
      if (bottom - top < 0.5f) /* a flat stretch is one fill */
        while (end < c->n_pixels && pixels[end].max == pixels[i].max && pixels[end].min == pixels[i].min)
          end++;
      if (pixels[i].max > 0) /* before the beginning and after the end there is no line */
        gantry_scene_fill (c->scene, GANTRY_AXIS_LEFT + (float) i, top - 0.75f, (float) (end - i), MAX (bottom - top, 1.5f),
                           ink, alpha);
    }
}

/* What it was before the last edit: a pale line behind. */
static void
paint_before (const Curve *c)
{
  const GantryTimeModel *model = c->model;
  g_autofree GantryCurvePixel *pixels = g_new0 (GantryCurvePixel, c->n_pixels);

  planned_pixels (c, model->before, model->before_begin, model->n_before, pixels);
  paint_curve (c, pixels, GANTRY_INK_TEXT_DIM, 110, FALSE);
}

static void
paint_limit (const Curve *c, guint64 limit)
{
  g_autofree char *size = gantry_format_bytes (limit), *text = g_strdup_printf ("limit %s", size);
  float y = to_y (c, (double) limit), width = gantry_theme_text_width (text, GANTRY_TEXT_SMALL) + 4;

  gantry_scene_fill (c->scene, GANTRY_AXIS_LEFT, y - 1, c->scene->width - GANTRY_AXIS_LEFT - GANTRY_AXIS_RIGHT, 2, GANTRY_INK_LIMIT, 255);
  gantry_scene_text (c->scene, c->scene->width - GANTRY_AXIS_RIGHT - width, y - 15, width, 14, text, GANTRY_TEXT_SMALL, 1,
                     GANTRY_INK_LIMIT);
}

static void
paint_peak (const Curve *c, gint64 time, double bytes, const char *text, gboolean above)
{
  float x = _gantry_time_to_x (c->view, c->scene->width, time), y = to_y (c, bytes);
  float width = gantry_theme_text_width (text, GANTRY_TEXT_SMALL | GANTRY_TEXT_BOLD);
  float left = CLAMP (x + 6, GANTRY_AXIS_LEFT, MAX (c->scene->width - GANTRY_AXIS_RIGHT - width, GANTRY_AXIS_LEFT));

  if (x < GANTRY_AXIS_LEFT || x > c->scene->width)
    return;
  gantry_scene_fill (c->scene, x - 3, y - 3, 6, 6, GANTRY_INK_PEAK, 255);
  gantry_scene_text (c->scene, left, above ? y - 15 : y + 2, width + 4, 14, text, GANTRY_TEXT_SMALL | GANTRY_TEXT_BOLD, 1,
                     GANTRY_INK_TEXT);
}

/* When the measured curve was highest, from the start of its run. */
static gint64
measured_peak (const GantryTimeModel *model, double *bytes)
{
  enum { N = 512 };
  GantryCurvePixel pixels[N];
  guint best = 0;

  gantry_recording_memory_curve (model->run->recording, GANTRY_MEMORY_DEVICE, model->run_begin, model->run_end, N, pixels);
  for (guint i = 1; i < N; i++)
    if (pixels[i].max > pixels[best].max)
      best = i;
  *bytes = pixels[best].max;
  return (model->run_end - model->run_begin) * best / N;
}

/* At a run without a plan 0. */
static guint64
planned_peak (const GantryPlan *plan)
{
  return plan->n_steps > plan->n_init_steps ? gantry_plan_memory_bytes_at (plan, plan->peak_step) : 0;
}

static void
paint_measured (const Curve *c)
{
  const GantryTimeModel *model = c->model;
  g_autofree GantryCurvePixel *pixels = g_new0 (GantryCurvePixel, c->n_pixels);
  const char *difference = gantry_run_result_difference (model->run, model->plan->steps, model->plan->n_steps);
  g_autofree char *planned = NULL, *measured = NULL, *text = NULL;
  double bytes;
  gint64 time;

  gantry_recording_memory_curve (model->run->recording, GANTRY_MEMORY_DEVICE, c->view->t0 + model->run_begin,
                                 c->view->t1 + model->run_begin, c->n_pixels, pixels);
  /* Runs before and after the one shown are not part of it. */
  for (guint i = 0; i < c->n_pixels; i++)
    {
      gint64 t = c->view->t0 + (c->view->t1 - c->view->t0) * i / c->n_pixels;

      if (t < 0 || t > model->run_end - model->run_begin)
        pixels[i] = (GantryCurvePixel){ 0, 0 };
    }
  paint_curve (c, pixels, GANTRY_INK_MEASURED, 255, FALSE);
  time = measured_peak (model, &bytes);
  gantry_memory_peak_texts (planned_peak (model->plan), model->plan->sizes_known, (guint64) bytes, &planned, &measured);
  text = g_strconcat ("measured peak ", measured, difference != NULL ? ", " : NULL, difference, NULL);
  paint_peak (c, time, bytes, text, FALSE);
}

static void
paint_planned_peak (const Curve *c)
{
  const GantryTimeModel *model = c->model;
  const GantryPlan *plan = model->plan;
  g_autofree char *size = NULL, *measured = NULL, *text = NULL;
  double bytes;

  if (model->run != NULL && model->run->peak_bytes > 0)
    {
      measured_peak (model, &bytes);
      gantry_memory_peak_texts (planned_peak (plan), plan->sizes_known, (guint64) bytes, &size, &measured);
    }
  else
    size = gantry_memory_peak_text (planned_peak (plan), plan->sizes_known);
  text = g_strconcat ("planned peak ", size, NULL);
  paint_peak (c, model->step_begin[plan->peak_step - plan->n_init_steps], (double) planned_peak (plan), text, TRUE);
}

void
gantry_paint_memory (GantryScene *scene, const GantryTimeModel *model, const GantryTimeView *view,
                     const GantryTimeState *state, const GantryTheme *theme)
{
  Curve c = { scene, model, view, 1, TOP, MAX (scene->height - TOP - BOTTOM, 10),
              (guint) MAX (scene->width - GANTRY_AXIS_LEFT - GANTRY_AXIS_RIGHT, 1) };
  g_autofree GantryCurvePixel *planned = g_new0 (GantryCurvePixel, c.n_pixels);
  const GantryPlan *plan = model->plan;

  c.top_bytes = (double) MAX (model->most_bytes, state != NULL ? MIN (state->limit, 4 * model->most_bytes) : 0) * 1.15 + 1;
  _gantry_paint_time_grid (scene, view, FALSE);
  paint_axis (&c);
  planned_pixels (&c, plan, model->step_begin, model->n_steps, planned);
  if (model->before != NULL)
    paint_before (&c);
  paint_curve (&c, planned, GANTRY_INK_PLANNED, 255, TRUE);
  if (model->run != NULL && model->run->peak_bytes > 0)
    paint_measured (&c);
  if (plan->n_steps > plan->n_init_steps && plan->peak_step >= plan->n_init_steps)
    paint_planned_peak (&c);
  if (state != NULL && state->limit > 0 && (double) state->limit <= c.top_bytes)
    paint_limit (&c, state->limit);
  if (state != NULL && state->cursor >= 0)
    gantry_scene_fill (scene, roundf (_gantry_time_to_x (view, scene->width, state->cursor)), 0, 1, scene->height,
                       GANTRY_INK_TEXT_DIM, 160);
}

char *
gantry_memory_pick (const GantryTimeModel *model, const GantryTimeView *view, float width, float x, guint32 *step)
{
  gint64 time = MAX (_gantry_x_to_time (view, width, x), 0);
  guint32 index = _gantry_time_step_at (model, time);
  g_autofree char *when = _gantry_time_text (time);
  g_autofree char *planned = NULL, *measured = NULL;
  guint64 bytes;

  *step = model->plan->n_init_steps + index;
  bytes = model->n_steps > 0 ? gantry_plan_memory_bytes_at (model->plan, *step) : 0;
  if (model->run == NULL || model->run->peak_bytes == 0 || time > model->run_end - model->run_begin)
    {
      planned = gantry_memory_peak_text (bytes, model->plan->sizes_known);
      return g_strdup_printf ("%s: %s planned", when, planned);
    }
  gantry_memory_peak_texts (bytes, model->plan->sizes_known,
                            gantry_recording_memory_at (model->run->recording, GANTRY_MEMORY_DEVICE, time + model->run_begin),
                            &planned, &measured);
  return g_strdup_printf ("%s: %s planned, %s measured", when, planned, measured);
}
