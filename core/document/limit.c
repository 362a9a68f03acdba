/* SPDX-License-Identifier: Apache-2.0 */
/* The limit of device memory: in bytes, or as a part of the peak of keeping everything, which stays a part: what that comes to follows
 * the program, the batch and what its kernels turn out to need. */
#include "core/document/document-private.h"

#define MERGE_LIMIT 1

guint64
_gantry_limit_of_part (GantryPlanner *planner, double part)
{
  g_autoptr (GantryPrediction) prediction = gantry_prediction_new ();

  gantry_planner_predict_within (planner, NULL, 0, prediction);
  return MAX ((guint64) (part * (double) prediction->peak_bytes), 1); /* 0 would be no limit */
}

gboolean
_gantry_limit_settle (GantryCompilation **compilation, GantryCompileSettings *settings, const GantryProgress *progress, GError **error)
{
  GantryCompilation *before = *compilation, *after;
  GantryPlanner *planner;
  guint64 limit;

  if (settings->target.memory_part == 0 || before->keys == NULL || before->refusal != NULL)
    return TRUE;
  planner = gantry_compilation_take_planner (before, progress, error);
  if (planner == NULL)
    return FALSE;
  limit = _gantry_limit_of_part (planner, settings->target.memory_part);
  gantry_compilation_give_planner (before, planner);
  if (limit == settings->target.memory_limit)
    return TRUE;
  settings->target.memory_limit = limit;
  after = gantry_compilation_replan (before, settings, progress, error);
  if (after == NULL)
    return FALSE;
  gantry_compilation_unref (before);
  *compilation = after;
  return TRUE;
}

/* What a part comes to is a fact and no edit: the state is the same. */
void
_gantry_document_follow_limit (GantryDocument *self)
{
  GantryTarget *target = &self->state->settings.target;
  guint64 limit;

  if (target->memory_part == 0 || self->planner == NULL)
    return;
  limit = _gantry_limit_of_part (self->planner, target->memory_part);
  if (limit == target->memory_limit)
    return;
  target->memory_limit = limit;
  _gantry_document_notify (self, PROP_SETTINGS);
}

static void
set_limit (GantryDocument *self, guint64 bytes, double part, const char *name)
{
  GantryState *state = _gantry_state_copy (self->state);

  state->settings.target.memory_limit = bytes;
  state->settings.target.memory_part = part;
  _gantry_document_edit (self, state, name, MERGE_LIMIT);
}

void
gantry_document_set_limit (GantryDocument *self, guint64 bytes)
{
  g_autofree char *size = gantry_format_limit (bytes), *name = NULL;
  const GantryTarget *target;

  g_return_if_fail (self->state != NULL);
  target = &self->state->settings.target;
  if (target->memory_limit == bytes && target->memory_part == 0)
    return;
  name = bytes > 0 ? g_strdup_printf ("limit of %s", size) : g_strdup ("no limit");
  set_limit (self, bytes, 0, name);
}

void
gantry_document_set_limit_part (GantryDocument *self, double part)
{
  g_autofree char *name = g_strdup_printf ("limit of %.6g%%", part * 100);

  g_return_if_fail (self->state != NULL && part > 0);
  if (self->state->settings.target.memory_part == part)
    return;
  set_limit (self, self->planner != NULL ? _gantry_limit_of_part (self->planner, part) : 0, part, name);
}
