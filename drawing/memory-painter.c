/* SPDX-License-Identifier: Apache-2.0 */
/* Paints the memory curve: planned as a pale area with its step line, measured as a solid line, their peaks, and the
 * limit. */
#include "drawing/labels-private.h"
#include "drawing/time-private.h"
#include <math.h>

#define TOP 14.0f
#define BOTTOM 6.0f

typedef struct
{
  GantryScene *scene;
  const GantryTimeModel *model;
  const GantryTimeView *view;
  guint64 limit;          /* 0: none */
  const char *difference; /* (nullable): of the run, from the plan */
  double top_bytes;       /* at the top of the axis */
  float y0, height;       /* of the axis */
  guint n_pixels;
  GantryLabels labels; /* where something is written */
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
      gantry_scene_text (c->scene, 4, y - 8, GANTRY_AXIS_LEFT - 12, 16, text, GANTRY_TEXT_SMALL | GANTRY_TEXT_RIGHT, 1, GANTRY_INK_TEXT_DIM);
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
        gantry_scene_fill (c->scene, GANTRY_AXIS_LEFT + (float) i, to_y (c, pixels[i].max), (float) (end - i), base - to_y (c, pixels[i].max), ink, 90);
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
        gantry_scene_fill (c->scene, GANTRY_AXIS_LEFT + (float) i, top - 0.75f, (float) (end - i), MAX (bottom - top, 1.5f), ink, alpha);
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

/* Beside the point (@x, @y): on the right of it where there is room, above or below as is wished, and nowhere over what is written already. */
static GantryLayoutBox
place_label (Curve *c, float x, float y, float width, gboolean above)
{
  const float right = MIN (x + 6, c->scene->width - GANTRY_AXIS_RIGHT - width), sides[] = { MAX (right, GANTRY_AXIS_LEFT), x - 6 - width };
  const float up = y - GANTRY_LABEL_HEIGHT - 1, down = y + 2, wished = above ? up : down, other = above ? down : up;
  const float away = above ? -GANTRY_LABEL_HEIGHT : GANTRY_LABEL_HEIGHT;
  const float heights[] = { wished, other, wished + away, other - away, wished + 2 * away, other - 2 * away };
  GantryLayoutBox places[G_N_ELEMENTS (sides) * G_N_ELEMENTS (heights)];
  guint found;

  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    places[i] = (GantryLayoutBox){ sides[i / G_N_ELEMENTS (heights)], heights[i % G_N_ELEMENTS (heights)], width, GANTRY_LABEL_HEIGHT };
  found = _gantry_labels_place (&c->labels, places, G_N_ELEMENTS (places));
  if (found < G_N_ELEMENTS (places))
    return places[found];
  _gantry_labels_take (&c->labels, &places[0]);
  return places[0];
}

static void
paint_limit (const Curve *c)
{
  gantry_scene_fill (c->scene, GANTRY_AXIS_LEFT, to_y (c, (double) c->limit) - 1, c->scene->width - GANTRY_AXIS_LEFT - GANTRY_AXIS_RIGHT, 2, GANTRY_INK_LIMIT,
                     255);
}

static void
write_limit (Curve *c)
{
  g_autofree char *size = gantry_format_limit (c->limit), *text = g_strdup_printf ("limit %s", size);
  float width = gantry_theme_text_width (text, GANTRY_TEXT_SMALL) + 6;
  GantryLayoutBox box = place_label (c, c->scene->width, to_y (c, (double) c->limit), width, TRUE);

  _gantry_labels_write (c->scene, &box, text, GANTRY_TEXT_SMALL, GANTRY_INK_LIMIT);
}

/* A peak, and what is written beside it. */
typedef struct
{
  gint64 time;
  double bytes;
  char *text; /* (transfer full) (nullable): there is none */
} Peak;

static void
paint_peak (Curve *c, const Peak *peak, gboolean above)
{
  float x = _gantry_time_to_x (c->view, c->scene->width, peak->time), y = to_y (c, peak->bytes);
  GantryLayoutBox box;

  if (peak->text == NULL || x < GANTRY_AXIS_LEFT || x > c->scene->width)
    return;
  box = place_label (c, x, y, gantry_theme_text_width (peak->text, GANTRY_TEXT_SMALL | GANTRY_TEXT_BOLD) + 6, above);
  _gantry_labels_write (c->scene, &box, peak->text, GANTRY_TEXT_SMALL | GANTRY_TEXT_BOLD, GANTRY_INK_TEXT);
  gantry_scene_fill (c->scene, x - 3, y - 3, 6, 6, GANTRY_INK_PEAK, 255);
}

/* When the measured curve was highest, from the start of its run. */
static gint64
measured_peak (const GantryTimeModel *model, double *bytes)
{
  enum
  {
    N = 512
  };
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
  double span = (double) MAX (c->view->t1 - c->view->t0, 1) / c->n_pixels;

  gantry_recording_memory_curve (model->run->recording, GANTRY_MEMORY_DEVICE, c->view->t0 + model->run_begin, c->view->t1 + model->run_begin, c->n_pixels,
                                 pixels);
  /* Runs before and after the one shown are not part of it. */
  for (guint i = 0; i < c->n_pixels; i++)
    {
      gint64 begin = c->view->t0 + (gint64) (span * i), end = c->view->t0 + (gint64) (span * (i + 1));
      double bytes;

      if (begin < 0 || begin > model->run_end - model->run_begin)
        pixels[i] = (GantryCurvePixel){ 0, 0 };
      else if (end > model->run_end - model->run_begin) /* the next one may begin within this pixel */
        {
          bytes = (double) gantry_recording_memory_at (model->run->recording, GANTRY_MEMORY_DEVICE, begin + model->run_begin);
          pixels[i] = (GantryCurvePixel){ bytes, bytes };
        }
    }
  paint_curve (c, pixels, GANTRY_INK_MEASURED, 255, FALSE);
}

/* Both, so that their texts tell them apart. */
static void
find_peaks (const Curve *c, Peak *planned, Peak *measured)
{
  const GantryTimeModel *model = c->model;
  const GantryPlan *plan = model->plan;
  g_autofree char *size = NULL, *seen = NULL;

  *planned = *measured = (Peak){ 0 };
  planned->bytes = (double) planned_peak (plan);
  /* What nobody saw changing has no curve, though its peak be known. */
  if (model->run != NULL && model->run->peak_bytes > 0 && gantry_time_model_has_measured_memory (model))
    {
      const char *difference = c->difference != NULL ? c->difference : gantry_run_result_difference (model->run, plan->steps, plan->n_steps);

      measured->time = measured_peak (model, &measured->bytes);
      gantry_memory_peak_texts (planned_peak (plan), plan->sizes_known, (guint64) measured->bytes, c->limit, &size, &seen);
      measured->text = g_strconcat ("touched peak ", seen, difference != NULL ? ", " : NULL, difference, NULL);
    }
  else
    size = gantry_memory_peak_text (planned_peak (plan), c->limit, plan->sizes_known);
  if (plan->n_steps <= plan->n_init_steps || plan->peak_step < plan->n_init_steps)
    return;
  planned->time = model->step_begin[plan->peak_step - plan->n_init_steps];
  planned->text = g_strconcat ("planned peak ", size, NULL);
}

/* The higher one is written above its point and the other one below: between the two there may be no room. */
static void
paint_peaks (Curve *c)
{
  Peak planned, measured;
  gboolean above;

  find_peaks (c, &planned, &measured);
  above = measured.text == NULL || planned.bytes >= measured.bytes;
  paint_peak (c, above ? &planned : &measured, TRUE);
  paint_peak (c, above ? &measured : &planned, FALSE);
  g_free (planned.text);
  g_free (measured.text);
}

static Curve
curve_of (GantryScene *scene, const GantryTimeModel *model, const GantryTimeView *view, const GantryTimeState *state)
{
  Curve c = { scene,
              model,
              view,
              state != NULL ? state->limit : 0,
              state != NULL ? state->difference : NULL,
              1,
              TOP,
              MAX (scene->height - TOP - BOTTOM, 10),
              (guint) MAX (scene->width - GANTRY_AXIS_LEFT - GANTRY_AXIS_RIGHT, 1),
              { { 0 }, NULL } };

  c.top_bytes = (double) MAX (model->most_bytes, MIN (c.limit, 4 * model->most_bytes)) * 1.15 + 1;
  return c;
}

void
gantry_paint_memory_labels (GantryScene *scene, const GantryTimeModel *model, const GantryTimeView *view, const GantryTimeState *state)
{
  Curve c = curve_of (scene, model, view, state);

  _gantry_labels_init (&c.labels, GANTRY_AXIS_LEFT, 0, scene->width - GANTRY_AXIS_LEFT, scene->height);
  if (c.limit > 0 && (double) c.limit <= c.top_bytes)
    write_limit (&c);
  paint_peaks (&c);
  _gantry_labels_clear (&c.labels);
}

void
gantry_paint_memory (GantryScene *scene, const GantryTimeModel *model, const GantryTimeView *view, const GantryTimeState *state, const GantryTheme *theme)
{
  Curve c = curve_of (scene, model, view, state);
  g_autofree GantryCurvePixel *planned = g_new0 (GantryCurvePixel, c.n_pixels);

  _gantry_paint_time_grid (scene, view, FALSE);
  paint_axis (&c);
  planned_pixels (&c, model->plan, model->step_begin, model->n_steps, planned);
  if (model->before != NULL)
    paint_before (&c);
  paint_curve (&c, planned, GANTRY_INK_PLANNED, 255, TRUE);
  if (model->run != NULL && model->run->peak_bytes > 0)
    paint_measured (&c);
  if (c.limit > 0 && (double) c.limit <= c.top_bytes)
    paint_limit (&c);
  if (state != NULL && state->cursor >= 0)
    gantry_scene_fill (scene, roundf (_gantry_time_to_x (view, scene->width, state->cursor)), 0, 1, scene->height, GANTRY_INK_TEXT_DIM, 160);
  gantry_paint_memory_labels (scene, model, view, state);
}

char *
gantry_memory_pick (const GantryTimeModel *model, const GantryTimeView *view, float width, float x, guint64 limit, guint32 *step)
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
      planned = gantry_memory_peak_text (bytes, limit, model->plan->sizes_known);
      return g_strdup_printf ("%s: %s planned", when, planned);
    }
  gantry_memory_peak_texts (bytes, model->plan->sizes_known, gantry_recording_memory_at (model->run->recording, GANTRY_MEMORY_DEVICE, time + model->run_begin),
                            limit, &planned, &measured);
  return g_strdup_printf ("%s: %s planned, %s touched", when, planned, measured);
}
