/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of the axis; nothing of widgets. */
#include "views/timeline/time-axis.h"

#define LEAST_SPAN 200 /* ns */

struct _GantryTimeAxis
{
  GObject parent_instance;
  gint64 length, t0, t1;
  gint64 cursor, moment;
};

G_DEFINE_FINAL_TYPE (GantryTimeAxis, gantry_time_axis, G_TYPE_OBJECT)

enum
{
  CHANGED,
  CURSOR_CHANGED,
  MOMENT_CHANGED,
  N_SIGNALS
};
static guint signals[N_SIGNALS];

static void
gantry_time_axis_class_init (GantryTimeAxisClass *klass)
{
  static const char *const names[N_SIGNALS] = { "changed", "cursor-changed", "moment-changed" };

  for (guint i = 0; i < N_SIGNALS; i++)
    signals[i] = g_signal_new (names[i], GANTRY_TYPE_TIME_AXIS, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
gantry_time_axis_init (GantryTimeAxis *self)
{
  self->length = 1000;
  self->t1 = 1000;
  self->cursor = -1;
  self->moment = -1;
}

GantryTimeAxis *
gantry_time_axis_new (void)
{
  return g_object_new (GANTRY_TYPE_TIME_AXIS, NULL);
}

void
gantry_time_axis_set (GantryTimeAxis *self, gint64 t0, gint64 t1)
{
  /* Other runs lie before and after the one shown: nothing of them is let in. */
  gint64 span = CLAMP (t1 - t0, MIN (LEAST_SPAN, self->length), self->length);

  t0 = CLAMP (t0, 0, self->length - span);
  if (t0 == self->t0 && t0 + span == self->t1)
    return;
  self->t0 = t0;
  self->t1 = t0 + span;
  g_signal_emit (self, signals[CHANGED], 0);
}

void
gantry_time_axis_fit (GantryTimeAxis *self)
{
  gantry_time_axis_set (self, G_MININT64 / 4, G_MAXINT64 / 4);
}

void
gantry_time_axis_set_length (GantryTimeAxis *self, gint64 length)
{
  gboolean whole = self->t1 - self->t0 >= self->length;
  double ratio = (double) length / (double) MAX (self->length, 1);
  const gint64 t0 = self->t0, t1 = self->t1;

  self->length = MAX (length, 1);
  if (whole || ratio > 1.5 || ratio < 0.67)
    gantry_time_axis_fit (self);
  else
    gantry_time_axis_set (self, t0, t1);
  if (self->t0 == t0 && self->t1 == t1) /* else it has been told */
    g_signal_emit (self, signals[CHANGED], 0);
}

gint64
gantry_time_axis_get_length (GantryTimeAxis *self)
{
  return self->length;
}

void
gantry_time_axis_get (GantryTimeAxis *self, gint64 *t0, gint64 *t1)
{
  *t0 = self->t0;
  *t1 = self->t1;
}

void
gantry_time_axis_zoom (GantryTimeAxis *self, double factor, gint64 time)
{
  double span = (double) (self->t1 - self->t0), share;

  g_return_if_fail (factor > 0);
  share = ((double) time - (double) self->t0) / MAX (span, 1);
  span = CLAMP (span / factor, LEAST_SPAN, (double) self->length * 2);
  gantry_time_axis_set (self, time - (gint64) (share * span), time - (gint64) (share * span) + (gint64) span);
}

void
gantry_time_axis_pan (GantryTimeAxis *self, double share)
{
  gint64 by = (gint64) ((double) (self->t1 - self->t0) * share);

  gantry_time_axis_set (self, self->t0 + by, self->t1 + by);
}

void
gantry_time_axis_set_cursor (GantryTimeAxis *self, gint64 time)
{
  if (self->cursor == time)
    return;
  self->cursor = time;
  g_signal_emit (self, signals[CURSOR_CHANGED], 0);
}

gint64
gantry_time_axis_get_cursor (GantryTimeAxis *self)
{
  return self->cursor;
}

void
gantry_time_axis_set_moment (GantryTimeAxis *self, gint64 time)
{
  self->moment = time < 0 ? -1 : MIN (time, self->length);
  g_signal_emit (self, signals[MOMENT_CHANGED], 0);
}

gint64
gantry_time_axis_get_moment (GantryTimeAxis *self)
{
  return self->moment;
}
