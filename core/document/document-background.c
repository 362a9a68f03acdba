/* SPDX-License-Identifier: Apache-2.0 */
/* The front that nobody has asked for: searched for while the document is left alone. */
#include "core/document/document-private.h"
#include "core/planner/machine.h"

#define SECONDS 12.0
#define MOST_STEPS 20000u /* of a plan: a front of a longer one takes minutes, and is searched for where it is asked for */

static void
set_fraction (GantryDocument *self, double fraction)
{
  if (self->background.fraction == fraction)
    return;
  self->background.fraction = fraction;
  _gantry_document_notify (self, PROP_FRONT_PROGRESS);
}

static void
tell (GantryDocument *self, const char *what, double fraction)
{
  if (self->running[GANTRY_JOB_FRONT])
    set_fraction (self, CLAMP (fraction, 0, 1));
}

static void
found (GantryDocument *self, const char *program, GPtrArray *points)
{
  GantryBackground *background = &self->background;

  set_fraction (self, -1);
  if (points == NULL)
    return;
  _gantry_front_unref (background->front);
  background->front = _gantry_front_new (program, points, TRUE);
  background->basis = self->basis;
  g_clear_pointer (&background->clicks, gantry_choices_unref);
  background->clicks = _gantry_choices_clicked (self->state->settings.choices);
  _gantry_document_notify (self, PROP_FRONT);
}

static gboolean
is_step (GantryDocument *self)
{
  guint n;
  const GantryCandidate *candidates = gantry_planner_candidates (self->planner, &n);

  for (guint i = 0; i < n; i++)
    if (candidates[i].subject == GANTRY_SUBJECT_RESIDUAL)
      return TRUE;
  return FALSE;
}

/* Is what is drawn what would be found? One that was asked for is left as it is. */
static gboolean
is_there (GantryDocument *self)
{
  const GantryBackground *background = &self->background;
  const GPtrArray *drawn = gantry_document_get_front (self);
  g_autoptr (GantryChoices) clicks = NULL;

  if (drawn == NULL || background->front == NULL || drawn != background->front->points)
    return drawn != NULL;
  clicks = _gantry_choices_clicked (self->state->settings.choices);
  return background->basis == self->basis && gantry_choices_equal (background->clicks, clicks);
}

static gboolean
is_wanted (GantryDocument *self)
{
  return self->background.quiet_ms > 0 && !self->background.stopped && self->planner != NULL && self->forecast != NULL
         && self->forecast->prediction->n_steps <= MOST_STEPS && is_step (self) && !is_there (self);
}

static gboolean
is_quiet (GantryDocument *self)
{
  for (guint i = 0; i < GANTRY_N_JOBS; i++)
    if (self->running[i])
      return FALSE;
  /* The measurement of this machine is not to be disturbed, and brings other times. */
  return !self->stale && !self->is_writing && !gantry_machine_is_due (0);
}

static gboolean
begin (gpointer data)
{
  GantryDocument *self = data;

  if (is_wanted (self) && !is_quiet (self))
    return G_SOURCE_CONTINUE;
  self->background.source = 0;
  if (!is_wanted (self))
    return G_SOURCE_REMOVE;
  _gantry_document_search_front (self, self->background.n_points, SECONDS, tell, found);
  if (self->running[GANTRY_JOB_FRONT])
    set_fraction (self, 0);
  return G_SOURCE_REMOVE;
}

/* Something has happened: waits anew. */
static void
wait (GantryDocument *self)
{
  GantryBackground *background = &self->background;

  if (self->running[GANTRY_JOB_FRONT])
    {
      _gantry_document_cancel_job (self, GANTRY_JOB_FRONT);
      set_fraction (self, -1);
    }
  g_clear_handle_id (&background->source, g_source_remove);
  if (background->quiet_ms > 0 && self->loaded != NULL)
    background->source = g_timeout_add_full (G_PRIORITY_LOW, background->quiet_ms, begin, self, NULL);
}

static void
edited (GantryDocument *self)
{
  self->background.stopped = FALSE;
  wait (self);
}

void
gantry_document_keep_front (GantryDocument *self, guint n_points, guint quiet_ms)
{
  static const char *const edits[] = { "notify::compilation", "notify::settings", "notify::placements" };

  if (self->background.quiet_ms == 0 && quiet_ms > 0)
    {
      for (guint i = 0; i < G_N_ELEMENTS (edits); i++)
        g_signal_connect (self, edits[i], G_CALLBACK (edited), NULL);
      g_signal_connect (self, "notify::busy", G_CALLBACK (wait), NULL);
    }
  else if (quiet_ms == 0)
    {
      g_signal_handlers_disconnect_by_func (self, G_CALLBACK (edited), NULL);
      g_signal_handlers_disconnect_by_func (self, G_CALLBACK (wait), NULL);
    }
  self->background.n_points = n_points;
  self->background.quiet_ms = quiet_ms;
  wait (self);
}

void
gantry_document_stop_front (GantryDocument *self)
{
  if (!self->running[GANTRY_JOB_FRONT])
    return;
  wait (self);
  g_clear_handle_id (&self->background.source, g_source_remove);
  self->background.stopped = TRUE;
}

void
_gantry_document_clear_background (GantryDocument *self)
{
  g_clear_handle_id (&self->background.source, g_source_remove);
  g_clear_pointer (&self->background.front, _gantry_front_unref);
  g_clear_pointer (&self->background.clicks, gantry_choices_unref);
  self->background.basis = 0; /* of none */
}
