/* SPDX-License-Identifier: Apache-2.0 */
/* A bar that never stands still while there is work. */
#include "views/work-bar.h"

#define PULSE_MILLISECONDS 80
#define QUIET_MICROSECONDS G_USEC_PER_SEC
#define KEY "gantry-work"

typedef struct
{
  GtkProgressBar *bar; /* which owns this */
  double fraction;
  gint64 since; /* when it was first said */
  guint source;
} Work;

static void
work_free (gpointer data)
{
  Work *work = data;

  g_clear_handle_id (&work->source, g_source_remove);
  g_free (work);
}

static gboolean
move (gpointer data)
{
  const Work *work = data;

  if (work->fraction < 0 || g_get_monotonic_time () - work->since > QUIET_MICROSECONDS)
    gtk_progress_bar_pulse (work->bar);
  return G_SOURCE_CONTINUE;
}

void
gantry_work_bar_set (GtkProgressBar *bar, gboolean busy, double fraction)
{
  Work *work = g_object_get_data (G_OBJECT (bar), KEY);

  gtk_widget_set_visible (GTK_WIDGET (bar), busy);
  if (!busy)
    {
      g_object_set_data (G_OBJECT (bar), KEY, NULL);
      return;
    }
  if (work != NULL && work->fraction == fraction)
    return;
  if (work == NULL)
    {
      work = g_new0 (Work, 1);
      work->bar = bar;
      work->source = g_timeout_add (PULSE_MILLISECONDS, move, work);
      g_object_set_data_full (G_OBJECT (bar), KEY, work, work_free);
    }
  work->fraction = fraction;
  work->since = g_get_monotonic_time ();
  if (fraction >= 0)
    gtk_progress_bar_set_fraction (bar, fraction);
  else
    gtk_progress_bar_pulse (bar);
}
