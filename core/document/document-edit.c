/* SPDX-License-Identifier: Apache-2.0 */
/* Edits and their undo. An edit is the state before and the state after; what has to be done again follows from what
 * differs between the two. States share what they have in common (placements, variants), so keeping them is cheap. */
#include "core/document/document-private.h"
#include <string.h>

#define MOST_EDITS 500u

/* States */

GantryState *
_gantry_state_copy (const GantryState *state)
{
  GantryState *copy = g_new0 (GantryState, 1);

  copy->ref_count = 1; /* and no serial yet */
  if (state == NULL)
    {
      gantry_compile_settings_init (&copy->settings);
      copy->bindings = gantry_bindings_new ();
      copy->variants = _gantry_variants_new ();
      return copy;
    }
  gantry_compile_settings_copy (&copy->settings, &state->settings);
  copy->bindings = gantry_bindings_ref (state->bindings);
  copy->variants = g_ptr_array_ref (state->variants);
  return copy;
}

GantryState *
_gantry_state_ref (GantryState *state)
{
  state->ref_count++;
  return state;
}

void
_gantry_state_unref (GantryState *state)
{
  if (state == NULL || --state->ref_count > 0)
    return;
  gantry_compile_settings_clear (&state->settings);
  gantry_bindings_unref (state->bindings);
  g_ptr_array_unref (state->variants);
  g_free (state);
}

void
_gantry_state_set_bindings (GantryState *state, GantryBindings *bindings)
{
  gantry_bindings_unref (state->bindings);
  state->bindings = bindings;
}

static gboolean
same_bindings (const GantryState *a, const GantryState *b)
{
  return gantry_bindings_equal (a->bindings, b->bindings);
}

static gboolean
same_target (const GantryState *a, const GantryState *b)
{
  GantryCompileSettings x = a->settings, y = b->settings;

  x.policy = y.policy = NULL;
  x.choices = y.choices = NULL;
  return gantry_compile_settings_same_plan (&x, &y);
}

/* Applying one */

void
_gantry_edit_free (gpointer data)
{
  GantryEdit *edit = data;

  g_free (edit->name);
  _gantry_state_unref (edit->old_state);
  _gantry_state_unref (edit->new_state);
  g_free (edit);
}

static void
notify_history (GantryDocument *self)
{
  _gantry_document_notify (self, PROP_CAN_UNDO);
  _gantry_document_notify (self, PROP_CAN_REDO);
}

/* Makes @state the document's, and does what its difference to the one before asks for. */
static void
enter (GantryDocument *self, GantryState *state)
{
  g_autoptr (GantryState) old = self->state;

  self->state = _gantry_state_ref (state);
  _gantry_document_changed (self);
  notify_history (self);
  _gantry_document_notify (self, PROP_SETTINGS);
  if (old->variants != state->variants)
    _gantry_document_notify (self, PROP_VARIANTS);
  if (!same_bindings (old, state) || !gantry_compile_settings_same_program (&old->settings, &state->settings))
    {
      self->stale = TRUE;
      _gantry_document_refresh (self);
    }
  else if (!gantry_compile_settings_same_plan (&old->settings, &state->settings))
    _gantry_document_place (self);
}

/* A second edit of the same things right after the first: the two are one. Back where the first began, they are none. */
static gboolean
merge (GantryDocument *self, GantryState *state, const char *name, guint64 number)
{
  GantryEdit *last = self->mergeable && self->n_done > 0 && self->n_done == self->edits->len ? g_ptr_array_index (self->edits, self->n_done - 1) : NULL;

  if (number == 0 || last == NULL || last->merge != number)
    return FALSE;
  _gantry_state_unref (last->new_state);
  last->new_state = _gantry_state_ref (state);
  g_free (last->name);
  last->name = g_strdup (name);
  return TRUE;
}

void
_gantry_document_edit (GantryDocument *self, GantryState *state, const char *name, guint64 number)
{
  GantryEdit *edit;

  _gantry_document_number_state (self, state);
  g_ptr_array_set_size (self->edits, (gint) self->n_done); /* what was undone cannot come back now */
  if (!merge (self, state, name, number))
    {
      edit = g_new0 (GantryEdit, 1);
      *edit = (GantryEdit){ g_strdup (name), number, _gantry_state_ref (self->state), _gantry_state_ref (state) };
      g_ptr_array_add (self->edits, edit);
      if (self->edits->len > MOST_EDITS)
        g_ptr_array_remove_index (self->edits, 0);
      self->n_done = self->edits->len;
    }
  self->mergeable = TRUE;
  enter (self, state);
  _gantry_state_unref (state);
}

void
_gantry_document_give_up_bindings (GantryDocument *self)
{
  GantryEdit *last = self->n_done > 0 ? g_ptr_array_index (self->edits, self->n_done - 1) : NULL;
  GantryState *state = _gantry_state_copy (self->state);

  _gantry_document_number_state (self, state);
  _gantry_state_set_bindings (state, gantry_bindings_ref (gantry_document_get_model (self)->bindings));
  /* The edit itself where nothing came after it, else one more that takes it back. */
  if (last != NULL && !same_bindings (last->old_state, last->new_state) && same_bindings (last->old_state, state))
    g_ptr_array_set_size (self->edits, (gint) --self->n_done);
  else if (last != NULL)
    {
      GantryEdit *edit = g_new0 (GantryEdit, 1);

      g_ptr_array_set_size (self->edits, (gint) self->n_done);
      *edit = (GantryEdit){ g_strdup ("sizes and values"), 0, _gantry_state_ref (self->state), _gantry_state_ref (state) };
      g_ptr_array_add (self->edits, edit);
      self->n_done++;
    }
  self->mergeable = FALSE;
  _gantry_state_unref (self->state);
  self->state = state;
  notify_history (self);
  _gantry_document_notify (self, PROP_SETTINGS);
}

void
_gantry_history_free (GantryHistory *history)
{
  if (history == NULL)
    return;
  g_ptr_array_unref (history->edits);
  _gantry_state_unref (history->state);
  g_free (history);
}

/* States that several edits share are one object, and have one serial. */
void
_gantry_document_take_history (GantryDocument *self, GantryHistory *history)
{
  for (guint i = 0; i < history->edits->len; i++)
    {
      GantryEdit *edit = g_ptr_array_index (history->edits, i);

      if (edit->old_state->serial == 0)
        _gantry_document_number_state (self, edit->old_state);
      if (edit->new_state->serial == 0)
        _gantry_document_number_state (self, edit->new_state);
    }
  if (history->state->serial == 0)
    _gantry_document_number_state (self, history->state);
  g_ptr_array_unref (self->edits);
  self->edits = g_ptr_array_ref (history->edits);
  self->n_done = MIN (history->n_done, self->edits->len);
  _gantry_state_unref (self->state);
  self->state = _gantry_state_ref (history->state);
}

void
_gantry_document_forget_edits (GantryDocument *self)
{
  g_ptr_array_set_size (self->edits, 0);
  self->n_done = 0;
  self->mergeable = FALSE;
}

void
gantry_document_undo (GantryDocument *self)
{
  if (self->n_done == 0)
    return;
  self->mergeable = FALSE;
  self->n_done--;
  enter (self, ((GantryEdit *) g_ptr_array_index (self->edits, self->n_done))->old_state);
}

void
gantry_document_redo (GantryDocument *self)
{
  if (self->n_done == self->edits->len)
    return;
  self->mergeable = FALSE;
  self->n_done++;
  enter (self, ((GantryEdit *) g_ptr_array_index (self->edits, self->n_done - 1))->new_state);
}

const char *
gantry_document_get_undo_name (GantryDocument *self)
{
  return self->n_done > 0 ? ((GantryEdit *) g_ptr_array_index (self->edits, self->n_done - 1))->name : NULL;
}

const char *
gantry_document_get_redo_name (GantryDocument *self)
{
  return self->n_done < self->edits->len ? ((GantryEdit *) g_ptr_array_index (self->edits, self->n_done))->name : NULL;
}

/* The edits of settings */

void
gantry_document_set_pass_enabled (GantryDocument *self, const char *pass, gboolean enabled)
{
  GantryState *state;
  g_autofree char *name = g_strdup_printf ("%s %s", enabled ? "with" : "without", pass);

  g_return_if_fail (self->state != NULL);
  state = _gantry_state_copy (self->state);
  if (gantry_compile_settings_set_enabled (&state->settings, pass, enabled != FALSE))
    _gantry_document_edit (self, state, name, 0);
  else
    _gantry_state_unref (state);
}

void
gantry_document_set_finite_math (GantryDocument *self, gboolean finite_math)
{
  GantryState *state;

  g_return_if_fail (self->state != NULL);
  if (self->state->settings.finite_math == (finite_math != FALSE))
    return;
  state = _gantry_state_copy (self->state);
  state->settings.finite_math = finite_math != FALSE;
  _gantry_document_edit (self, state, "finite mathematics", 0);
}

void
gantry_document_set_training (GantryDocument *self, const GantryTrainingOptions *training)
{
  GantryState *state;

  g_return_if_fail (self->state != NULL);
  state = _gantry_state_copy (self->state);
  state->settings.train = training != NULL;
  if (training != NULL)
    {
      GantryTrainingOptions copy;

      gantry_training_options_copy (&copy, training);
      gantry_training_options_clear (&state->settings.training);
      state->settings.training = copy;
    }
  if (gantry_compile_settings_same_program (&state->settings, &self->state->settings))
    _gantry_state_unref (state);
  else
    _gantry_document_edit (self, state, training != NULL ? "training step" : "no training step", 0);
}

void
gantry_document_set_target (GantryDocument *self, const GantryTarget *target)
{
  GantryState *state;

  g_return_if_fail (self->state != NULL);
  state = _gantry_state_copy (self->state);
  state->settings.target = *target;
  if (same_target (state, self->state))
    _gantry_state_unref (state);
  else
    _gantry_document_edit (self, state, "target", 0);
}

void
gantry_document_set_settings (GantryDocument *self, const GantryCompileSettings *settings, const char *name)
{
  GantryState *state;
  GantryChoices *choices;

  g_return_if_fail (self->state != NULL);
  state = _gantry_state_copy (self->state);
  choices = g_steal_pointer (&state->settings.choices);
  gantry_compile_settings_clear (&state->settings);
  gantry_compile_settings_copy (&state->settings, settings);
  g_clear_pointer (&state->settings.choices, gantry_choices_unref);
  state->settings.choices = choices;
  if (gantry_compile_settings_same_program (&state->settings, &self->state->settings)
      && gantry_compile_settings_same_plan (&state->settings, &self->state->settings))
    _gantry_state_unref (state);
  else
    _gantry_document_edit (self, state, name, 0);
}

static void
take_sizes (GantryState *state, GantryKernelSizes *sizes)
{
  g_clear_pointer (&state->settings.sizes, gantry_kernel_sizes_unref);
  state->settings.sizes = gantry_kernel_sizes_ref (sizes);
}

void
_gantry_states_take_sizes (GantryState *state, GPtrArray *edits, GantryKernelSizes *sizes)
{
  take_sizes (state, sizes);
  for (guint i = 0; i < edits->len; i++)
    {
      take_sizes (((GantryEdit *) g_ptr_array_index (edits, i))->old_state, sizes);
      take_sizes (((GantryEdit *) g_ptr_array_index (edits, i))->new_state, sizes);
    }
}

/* A fact and no wish: it holds in every state that undo may lead to. */
void
gantry_document_set_kernel_sizes (GantryDocument *self, GantryKernelSizes *sizes)
{
  g_return_if_fail (self->state != NULL && sizes != NULL);
  if (gantry_kernel_sizes_equal (self->state->settings.sizes, sizes))
    return;
  _gantry_states_take_sizes (self->state, self->edits, sizes);
  _gantry_document_place (self);
}

static gboolean
take_machine (GantryState *state)
{
  return gantry_compile_settings_take_machine (&state->settings, 0);
}

/* Likewise. */
void
gantry_document_take_machine (GantryDocument *self)
{
  if (self->state == NULL || !take_machine (self->state))
    return;
  for (guint i = 0; i < self->edits->len; i++)
    {
      take_machine (((GantryEdit *) g_ptr_array_index (self->edits, i))->old_state);
      take_machine (((GantryEdit *) g_ptr_array_index (self->edits, i))->new_state);
    }
  _gantry_document_notify (self, PROP_SETTINGS);
  if (!self->stale)
    _gantry_document_place (self);
}

gboolean
gantry_document_set_policy (GantryDocument *self, const char *policy, GError **error)
{
  g_autoptr (GantryPolicy) parsed = NULL;
  GantryState *state;

  g_return_val_if_fail (self->state != NULL, FALSE);
  if (policy != NULL && *policy == '\0')
    policy = NULL;
  if (policy != NULL && (parsed = gantry_policy_parse (policy, -1, error)) == NULL)
    return FALSE;
  if (g_strcmp0 (policy, self->state->settings.policy) == 0)
    return TRUE;
  state = _gantry_state_copy (self->state);
  g_free (state->settings.policy);
  state->settings.policy = g_strdup (policy);
  _gantry_document_edit (self, state, "policy", 0);
  return TRUE;
}

/* Dimensions and inputs are bound when the file is read, so binding reads it again. */
void
gantry_document_bind (GantryDocument *self, const GantryBindings *bindings, const char *name)
{
  GantryState *state;

  g_return_if_fail (self->state != NULL);
  if (gantry_bindings_equal (self->state->bindings, bindings))
    return;
  state = _gantry_state_copy (self->state);
  _gantry_state_set_bindings (state, gantry_bindings_copy (bindings));
  _gantry_document_edit (self, state, name, 0);
}

void
gantry_document_bind_dim (GantryDocument *self, const char *name, gint64 size)
{
  g_autofree char *what = g_strdup_printf ("%s = %" G_GINT64_FORMAT, name, size);
  g_autoptr (GantryBindings) bindings = NULL;

  g_return_if_fail (self->state != NULL);
  bindings = gantry_bindings_copy (self->state->bindings);
  gantry_bindings_set_dim (bindings, name, size);
  gantry_document_bind (self, bindings, what);
}

const GantryBindings *
gantry_document_get_bindings (GantryDocument *self)
{
  return self->state != NULL ? self->state->bindings : NULL;
}
