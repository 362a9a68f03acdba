/* SPDX-License-Identifier: Apache-2.0 */
/* Paints the lanes: for each queue what was planned (pale) above what was measured (solid), waits hatched. Dense
 * stretches are folded by pixel, so that every event counts in some pixel and the cost is that of the width. */
#include "drawing/time-private.h"
#include <math.h>
#include <string.h>

#define ROW 20.0f
#define GAP 4.0f
#define AGAIN "recompute " /* as gantry_step_name() begins */
#define MOST_BARS 700u     /* of one row: more are folded */

/* Which of the two rows of a lane. */
typedef struct
{
  const GantryTimeModel *model;
  const GantryRecording *recording;
  gint64 shift;    /* recording time of axis time 0 */
  gint64 from, to; /* in recording time: what begins outside of it is of other runs */
  guint lane;
  gboolean measured;
  float y;
} Row;

/* Beyond the queues nothing is planned: those lanes have what was measured alone. */
static gboolean
has_plan (const GantryTimeModel *model, guint index)
{
  return model->lanes[index] < GANTRY_N_QUEUES;
}

/* One row for what is planned, one more below it where there is a measurement. @index: among the lanes that are shown */
static float
lane_height (const GantryTimeModel *model, guint index)
{
  return (!has_plan (model, index) ? ROW : model->run != NULL ? 2 * ROW + 2 : ROW + 8) + 2 * GAP;
}

static float
lane_top (const GantryTimeModel *model, guint index)
{
  float top = GANTRY_AXIS_TOP;

  for (guint i = 0; i < index; i++)
    top += lane_height (model, i);
  return top;
}

float
gantry_timeline_height (const GantryTimeModel *model)
{
  return lane_top (model, model->n_lanes) + _gantry_time_counters_height (model) + 4;
}

/* FALSE: there is none at @y. */
static gboolean
lane_at (const GantryTimeModel *model, float y, guint *index)
{
  for (*index = 0; *index < model->n_lanes; ++*index)
    if (y >= lane_top (model, *index) && y < lane_top (model, *index + 1))
      return TRUE;
  return FALSE;
}

static gboolean
row_of (const GantryTimeModel *model, guint index, gboolean measured, Row *row)
{
  *row = (Row){ model,      model->planned,      0,        G_MININT64,
                G_MAXINT64, model->lanes[index], measured, lane_top (model, index) + GAP + (measured && has_plan (model, index) ? ROW + 2 : 0) };
  if (!measured)
    return has_plan (model, index);
  if (model->run == NULL)
    return FALSE;
  row->recording = model->run->recording;
  row->shift = model->run_begin;
  row->from = model->shown_from;
  row->to = model->shown_to;
  return TRUE;
}

/* Bars one by one */

typedef struct
{
  GantryScene *scene;
  const GantryTimeView *view;
  const GantryTimeState *state;
  const Row *row;
  guint n;
} BarPainter;

static gboolean
count_event (guint64 index, gpointer user_data)
{
  BarPainter *p = user_data;

  return ++p->n <= MOST_BARS;
}

static gboolean
is_kernel_of_node (const Row *row, const GantryEvent *event)
{
  return row->measured && event->kind == GANTRY_EVENT_KERNEL && gantry_module_node (row->model->module, event->node) != NULL;
}

static GantryInk
ink_of (const Row *row, const GantryEvent *event)
{
  switch ((GantryEventKind) event->kind)
    {
    case GANTRY_EVENT_COPY:
    case GANTRY_EVENT_FILL:
    case GANTRY_EVENT_CONVERT: return GANTRY_INK_COPY;
    case GANTRY_EVENT_CALL:
    case GANTRY_EVENT_HOST_CALL: return GANTRY_INK_CALL;
    case GANTRY_EVENT_RANGE: return GANTRY_INK_RANGE;
    case GANTRY_EVENT_OVERHEAD: return GANTRY_INK_OVERHEAD;
    default: break;
    }
  if (row->measured ? g_str_has_prefix (gantry_recording_string (row->recording, event->name), AGAIN) : _gantry_time_is_again (row->model, event))
    return GANTRY_INK_RECOMPUTE;
  return row->measured ? GANTRY_INK_MEASURED : GANTRY_INK_PLANNED;
}

/* What a plan calls by its node was recorded by the name of its code: it is the same kernel, and both are called the same. Control was
 * recorded with its trips or its arm. */
static void
name_of (const Row *row, const GantryEvent *event, char *name, gsize size)
{
  const char *own = gantry_recording_string (row->recording, event->name);
  const GantryNode *node = gantry_module_node (row->model->module, event->node);
  g_autofree char *label = NULL;

  if (is_kernel_of_node (row, event) && !(row->measured && gantry_node_is_control (node)))
    {
      label = gantry_node_label (row->model->module, node);
      g_snprintf (name, size, "%s%s", g_str_has_prefix (own, AGAIN) ? AGAIN : "", label);
      return;
    }
  if (*own == '\0' && node != NULL)
    own = gantry_node_op_name (row->model->module, node);
  g_strlcpy (name, own, size);
}

/* A copy that computing waited for ends in the colour of limits: it is there that the plan could be better. */
static void
mark_waited (const BarPainter *p, const GantryEvent *event, float x0, float x1)
{
  const Row *row = p->row;
  gint64 ns;

  if (_gantry_time_facts_waiter (row->measured ? row->model->of_run : row->model->of_plan, row->recording, event, &ns) != 0)
    gantry_scene_fill (p->scene, MAX (x1 - 4, x0), row->y, MIN (x1 - x0, 3), ROW, GANTRY_INK_LIMIT, 255);
}

static gboolean
paint_event (guint64 index, gpointer user_data)
{
  BarPainter *p = user_data;
  const Row *row = p->row;
  GantryEvent event;
  float x0, x1;
  gboolean selected, waits;

  gantry_recording_get (row->recording, row->lane, index, &event);
  if (event.begin < row->from)
    return TRUE;
  x0 = MAX (_gantry_time_to_x (p->view, p->scene->width, event.begin - row->shift), GANTRY_AXIS_LEFT);
  x1 = MIN (_gantry_time_to_x (p->view, p->scene->width, event.end - row->shift), p->scene->width - GANTRY_AXIS_RIGHT);
  if (x1 - x0 < 1)
    x1 = x0 + 1;
  selected = p->state != NULL && p->state->selected != NULL && g_hash_table_contains (p->state->selected, GUINT_TO_POINTER (event.node));
  waits = event.kind == GANTRY_EVENT_WAIT || event.kind == GANTRY_EVENT_SYNC;
  if (waits)
    gantry_scene_hatch (p->scene, x0, row->y, x1 - x0, ROW, GANTRY_INK_WAIT);
  else
    gantry_scene_fill (p->scene, x0, row->y, MAX (x1 - x0 - (x1 - x0 > 3 ? 1 : 0), 1), ROW, ink_of (row, &event), 255);
  if (x1 - x0 > 34)
    {
      char name[80];

      name_of (row, &event, name, sizeof name);
      /* On stripes it would not be read in the colour of the background. */
      gantry_scene_text (p->scene, x0 + 4, row->y, x1 - x0 - 8, ROW, name, GANTRY_TEXT_SMALL, 1,
                         row->measured && !waits ? GANTRY_INK_BACKGROUND : GANTRY_INK_TEXT);
    }
  if (event.kind == GANTRY_EVENT_COPY)
    mark_waited (p, &event, x0, x1);
  if (selected)
    gantry_scene_frame (p->scene, x0 - 1, row->y - 1, x1 - x0 + 2, ROW + 2, 2, GANTRY_INK_TEXT, 255);
  return TRUE;
}

/* Pixels in which something is computed again. */
static void
find_again (const GantryTimeView *view, const Row *row, guint n, guint8 *again)
{
  const GantryTimeModel *model = row->model;
  double scale = n / (double) MAX (view->t1 - view->t0, 1);

  if (row->measured || row->lane != GANTRY_QUEUE_COMPUTE)
    return;
  for (guint32 i = 0; i < model->n_again; i++)
    {
      double at = (double) (model->again[i] - view->t0) * scale;

      if (at >= 0 && at < n)
        again[(guint) at] = 1;
    }
}

/* Dense rows: the share of each pixel that was busy, as the height of its bar. Folded is what is of this run alone, from @begin to @end
 * in recording time: the next one may begin within the pixel in which this one ends. */
static void
paint_folded (GantryScene *scene, const GantryTimeView *view, const Row *row, gint64 begin, gint64 end)
{
  guint most = (guint) MAX (scene->width - GANTRY_AXIS_LEFT - GANTRY_AXIS_RIGHT, 1);
  double pixel = (double) MAX (view->t1 - view->t0, 1) / most;
  guint first = (guint) MIN ((double) (begin - row->shift - view->t0) / pixel, most - 1);
  guint n = (guint) CLAMP (round ((double) (end - begin) / pixel), 1, most - first);
  g_autofree GantryFoldPixel *pixels = g_new0 (GantryFoldPixel, n);
  g_autofree guint8 *again = g_new0 (guint8, most);
  gboolean copies = row->lane == GANTRY_QUEUE_TO_HOST || row->lane == GANTRY_QUEUE_TO_DEVICE;
  GantryInk ink = copies ? GANTRY_INK_COPY : row->measured ? GANTRY_INK_MEASURED : GANTRY_INK_PLANNED;

  gantry_recording_fold (row->recording, row->lane, begin, end, n, pixels);
  find_again (view, row, most, again);
  for (guint i = 0; i < n; i++)
    {
      float share = (float) MIN ((double) pixels[i].busy_ns / pixel, 1);

      if (pixels[i].n_touching > 0)
        gantry_scene_fill (scene, GANTRY_AXIS_LEFT + (float) (first + i), row->y + ROW * (1 - MAX (share, 0.08f)), 1, ROW * MAX (share, 0.08f),
                           again[first + i] ? GANTRY_INK_RECOMPUTE : ink, 255);
    }
}

static void
paint_row (GantryScene *scene, const GantryTimeView *view, const GantryTimeState *state, const Row *row)
{
  BarPainter painter = { scene, view, state, row, 0 };

  gint64 begin = MAX (view->t0 + row->shift, row->from), end = MIN (view->t1 + row->shift, row->to);

  if (begin >= end)
    return;
  gantry_recording_overlapping (row->recording, row->lane, begin, end, count_event, &painter);
  if (painter.n > MOST_BARS)
    paint_folded (scene, view, row, begin, end);
  else
    gantry_recording_overlapping (row->recording, row->lane, begin, end, paint_event, &painter);
}

/* "GPU 0, stream 7", "thread 12: calls": what tells lanes apart comes last, so it has a line of its own. */
static void
paint_long_name (GantryScene *scene, float top, const char *name)
{
  const float width = GANTRY_AXIS_LEFT - 14;
  const char *comma = strrchr (name, ','), *colon = strrchr (name, ':'), *cut = MAX (comma, colon);
  g_autofree char *first = NULL;

  if (cut == NULL || gantry_theme_text_width (name, GANTRY_TEXT_SMALL | GANTRY_TEXT_BOLD) <= width)
    {
      gantry_scene_text (scene, 8, top + 5, width, 18, name, GANTRY_TEXT_SMALL | GANTRY_TEXT_BOLD, 1, GANTRY_INK_TEXT);
      return;
    }
  first = g_strndup (name, (gsize) (cut - name));
  gantry_scene_text (scene, 8, top, width, 15, first, GANTRY_TEXT_SMALL, 0.86f, GANTRY_INK_TEXT_DIM);
  gantry_scene_text (scene, 8, top + 12, width, 15, cut + 1 + strspn (cut + 1, " "), GANTRY_TEXT_SMALL | GANTRY_TEXT_BOLD, 0.92f, GANTRY_INK_TEXT);
}

static void
paint_lane (GantryScene *scene, const GantryTimeModel *model, const GantryTimeView *view, const GantryTimeState *state, guint index)
{
  float top = lane_top (model, index), height = lane_height (model, index);
  const GantryRecording *named = has_plan (model, index) ? model->planned : model->run->recording;
  Row row;

  gantry_scene_fill (scene, 0, top, GANTRY_AXIS_LEFT - 6, height - 1, GANTRY_INK_SURFACE, 255);
  gantry_scene_fill (scene, 0, top + height - 1, scene->width, 1, GANTRY_INK_GRID, 255);
  if (has_plan (model, index))
    gantry_scene_text (scene, 8, top + 3, GANTRY_AXIS_LEFT - 16, 18, gantry_recording_lane_name (named, model->lanes[index]),
                       GANTRY_TEXT_SMALL | GANTRY_TEXT_BOLD, 1, GANTRY_INK_TEXT);
  else
    paint_long_name (scene, top, gantry_recording_lane_name (named, model->lanes[index]));
  if (has_plan (model, index))
    gantry_scene_text (scene, 8, top + 19, GANTRY_AXIS_LEFT - 16, 14, model->run != NULL ? "planned above," : "planned", GANTRY_TEXT_SMALL, 0.86f,
                       GANTRY_INK_TEXT_DIM);
  if (has_plan (model, index) && model->run != NULL)
    gantry_scene_text (scene, 8, top + 31, GANTRY_AXIS_LEFT - 16, 14, "measured below", GANTRY_TEXT_SMALL, 0.86f, GANTRY_INK_TEXT_DIM);
  for (guint measured = 0; measured < 2; measured++)
    if (row_of (model, index, measured != 0, &row))
      paint_row (scene, view, state, &row);
}

void
gantry_paint_timeline (GantryScene *scene, const GantryTimeModel *model, const GantryTimeView *view, const GantryTimeState *state, const GantryTheme *theme)
{
  _gantry_paint_time_grid (scene, view, TRUE);
  for (guint index = 0; index < model->n_lanes; index++)
    paint_lane (scene, model, view, state, index);
  _gantry_paint_time_counters (scene, model, view, lane_top (model, model->n_lanes));
  if (state != NULL && state->cursor >= 0)
    gantry_scene_fill (scene, roundf (_gantry_time_to_x (view, scene->width, state->cursor)), 0, 1, scene->height, GANTRY_INK_TEXT_DIM, 160);
}

/* The words of a bar */

/* "planned 3.0 ms, measured 4.0 ms (+1.0 ms, ratio 1.33)": of a node all that it took of the queue in a run. */
static void
tell_times (GString *text, const GantryTimeModel *model, const GantryEvent *event)
{
  const GantryTimeTotal *planned = _gantry_time_facts_total (model->of_plan, event->node, event->lane);
  const GantryTimeTotal *measured = _gantry_time_facts_total (model->of_run, event->node, event->lane);
  g_autofree char *of_plan = NULL, *of_run = NULL, *difference = NULL;

  if (planned == NULL || measured == NULL || planned->ns <= 0)
    return;
  of_plan = _gantry_time_text (planned->ns);
  of_run = _gantry_time_text (measured->ns);
  difference = _gantry_time_text (ABS (measured->ns - planned->ns));
  g_string_append_printf (text, "\nIn a run%s: planned %s, measured %s (%s%s, ratio %.2f)", measured->n > 1 ? ", all together" : "", of_plan, of_run,
                          measured->ns < planned->ns ? "−" : "+", difference, (double) measured->ns / (double) planned->ns);
}

static void
tell_wait (GString *text, const Row *row, const GantryEvent *event)
{
  gint64 ns = 0;
  guint32 waiter = _gantry_time_facts_waiter (row->measured ? row->model->of_run : row->model->of_plan, row->recording, event, &ns);
  const GantryNode *node = waiter != 0 ? gantry_module_node (row->model->module, waiter) : NULL;
  g_autofree char *label = NULL, *time = NULL;

  if (waiter == 0 || ns <= 0)
    return;
  label = node != NULL ? gantry_node_label (row->model->module, node) : g_strdup ("another queue");
  time = _gantry_time_text (ns);
  g_string_append_printf (text, "\nWaited for: %s stood still for %s", label, time);
}

static char *
text_of (const Row *row, const GantryEvent *event)
{
  g_autofree char *duration = _gantry_time_text (event->end - event->begin);
  g_autofree char *bytes = gantry_format_bytes (event->bytes);
  GString *text = g_string_new (NULL);
  char name[200];

  name_of (row, event, name, sizeof name);
  g_string_append_printf (text, "%s, %s %s", name, duration, row->measured ? "measured" : "planned");
  if (event->bytes > 0)
    g_string_append_printf (text, ", %s", bytes);
  if (event->bytes > 0 && event->end > event->begin)
    g_string_append_printf (text, " at %.3g GB/s", (double) event->bytes / (double) (event->end - event->begin));
  if (is_kernel_of_node (row, event) && *gantry_recording_string (row->recording, event->name) != '\0')
    g_string_append_printf (text, "\nKernel %s", gantry_recording_string (row->recording, event->name));
  if (event->kind == GANTRY_EVENT_KERNEL || event->kind == GANTRY_EVENT_COPY || event->kind == GANTRY_EVENT_CONVERT)
    {
      tell_times (text, row->model, event);
      tell_wait (text, row, event);
    }
  return g_string_free (text, FALSE);
}

const char *
gantry_timeline_lane_name (const GantryTimeModel *model, float y)
{
  guint index;

  if (!lane_at (model, y, &index))
    return _gantry_time_counter_name (model, y - lane_top (model, model->n_lanes));
  return gantry_recording_lane_name (has_plan (model, index) ? model->planned : model->run->recording, model->lanes[index]);
}

gboolean
gantry_timeline_pick (const GantryTimeModel *model, const GantryTimeView *view, float width, float height, float x, float y, GantryTimeHit *hit)
{
  gint64 time = _gantry_x_to_time (view, width, x);
  gboolean measured;
  guint lane;
  GantryEvent event;
  guint64 index;
  Row row;

  *hit = (GantryTimeHit){ 0 };
  if (x < GANTRY_AXIS_LEFT)
    return FALSE;
  if (!lane_at (model, y, &lane))
    {
      hit->text = _gantry_time_counter_at (model, time, y - lane_top (model, model->n_lanes));
      return hit->text != NULL;
    }
  measured = !has_plan (model, lane) || (model->run != NULL && y - lane_top (model, lane) > GAP + ROW + 1);
  if (!row_of (model, lane, measured, &row) || time + row.shift < row.from || time + row.shift >= row.to
      || !gantry_recording_at (row.recording, row.lane, time + row.shift, &index))
    return FALSE;
  gantry_recording_get (row.recording, row.lane, index, &event);
  if (event.begin < row.from)
    return FALSE;
  *hit = (GantryTimeHit){ event.node, measured, event.begin - row.shift, event.end - row.shift, event.bytes, text_of (&row, &event) };
  return TRUE;
}
