/* SPDX-License-Identifier: Apache-2.0 */
/* What is predicted for variants: figures are of a program, the times that it was planned with, its target and what its kernels need.
 * Where one of these becomes another, those that were kept are of before, and are predicted anew where somebody looks at them. Variants
 * themselves stay as they are: they are what undo goes back to, and what a session file keeps. */
#include "core/document/document-private.h"
#include "core/plan/compression.h"
#include "core/base/thread.h"
#include <math.h>

/* What two of them share however it is placed, and within whatever limit. */
static gboolean
same_basis (const GantryCompilation *a, const GantryCompilation *b)
{
  GantryCompileSettings x, y;

  if (a == NULL || b == NULL || gantry_compilation_module ((GantryCompilation *) a) != gantry_compilation_module ((GantryCompilation *) b))
    return FALSE;
  x = a->settings;
  y = b->settings;
  x.policy = y.policy = NULL;
  x.choices = y.choices = NULL;
  x.target.memory_limit = y.target.memory_limit = 0;
  x.target.memory_part = y.target.memory_part = 0;
  return gantry_compile_settings_same_plan (&x, &y);
}

void
_gantry_document_follow_basis (GantryDocument *self, GantryCompilation *planning)
{
  gboolean same = same_basis (self->basis_of, planning);

  gantry_compilation_ref (planning);
  gantry_compilation_unref (self->basis_of);
  self->basis_of = planning;
  if (same)
    return;
  self->basis++;
  g_hash_table_remove_all (self->figures);
  _gantry_document_cancel_job (self, GANTRY_JOB_FIGURES);
}

gboolean
gantry_document_is_current (GantryDocument *self, const GantryVariant *variant)
{
  return variant->basis != 0 && variant->basis == self->basis;
}

GantryVariant *
gantry_document_get_figures (GantryDocument *self, GantryVariant *variant)
{
  GantryVariant *found = gantry_document_is_current (self, variant) ? NULL : g_hash_table_lookup (self->figures, variant);

  return found != NULL ? found : variant;
}

gboolean
gantry_variant_fits (const GantryVariant *variant)
{
  return variant->figures.fits && (variant->limit == 0 || variant->figures.peak_bytes <= variant->limit);
}

gboolean
gantry_variant_is_approximate (const GantryVariant *variant)
{
  g_autoptr (GantryPolicy) policy = variant->policy != NULL ? gantry_policy_parse (variant->policy, -1, NULL) : NULL;

  if (policy != NULL && gantry_policy_is_approximate (policy))
    return TRUE;
  for (guint i = 0; variant->choices != NULL && i < variant->choices->entries->len; i++)
    if (gantry_placement_is_approximate (g_array_index (variant->choices->entries, GantryChoice, i).kind))
      return TRUE;
  return FALSE;
}

char *
gantry_variant_shown_name (const GantryVariant *variant)
{
  const char *name = variant->name != NULL ? variant->name : "";

  return gantry_variant_is_approximate (variant) ? g_strdup_printf ("%s (approximate)", name) : g_strdup (name);
}

/* Predicting them anew */

typedef struct
{
  GantryCompilation *planning;
  GPtrArray *before, *after; /* GantryVariant: @after as far as there is one */
  guint n_named;             /* the first of them: those of the front are called by their figures */
  guint64 basis, kept_bytes; /* the peak of keeping everything, as far as it is known */
} Work;

static void
work_free (gpointer data)
{
  Work *work = data;

  gantry_compilation_unref (work->planning);
  g_ptr_array_unref (work->before);
  g_ptr_array_unref (work->after);
  g_free (work);
}

/* How far a solution is from the best, and that it is the best, holds for what it was searched for. */
static gboolean
same_figures (const GantryVariant *a, const GantryVariant *b)
{
  return a->predicted && a->figures.peak_bytes == b->figures.peak_bytes && fabs (a->figures.step_us - b->figures.step_us) <= 1e-6 * b->figures.step_us;
}

/* As it would be once it is loaded. (transfer full) (nullable) */
static GantryVariant *
predict (const Work *work, guint index, const GantryProgress *progress, GError **error)
{
  const GantryVariant *variant = g_ptr_array_index (work->before, index);
  g_autoptr (GantryCompilation) made = NULL;
  g_autoptr (GantryForecast) forecast = NULL;
  GantryCompileSettings settings;
  GantryVariant *after;
  guint64 limit;

  gantry_compile_settings_copy (&settings, &work->planning->settings);
  g_free (settings.policy);
  settings.policy = g_strdup (variant->policy);
  g_clear_pointer (&settings.choices, gantry_choices_unref);
  settings.choices = variant->choices != NULL ? gantry_choices_ref (variant->choices) : NULL;
  settings.target.memory_part = variant->limit_part;
  settings.target.memory_limit = variant->limit_part > 0 ? (guint64) (variant->limit_part * (double) work->kept_bytes) : variant->limit;
  limit = settings.target.memory_limit;
  made = gantry_compilation_replan (work->planning, &settings, progress, error);
  gantry_compile_settings_clear (&settings);
  if (made != NULL)
    forecast = _gantry_document_forecast (made, progress);
  if (forecast == NULL)
    return NULL;
  after = gantry_variant_renamed (variant, variant->name);
  after->limit = limit;
  after->predicted = _gantry_forecast_figures (forecast, made->plan, made->refused_plan, &after->figures);
  after->figures.fits = made->plan_error == NULL;
  after->basis = work->basis;
  if (!same_figures (variant, after))
    {
      after->gap = -1;
      after->proof = GANTRY_PROOF_NONE;
    }
  if (index >= work->n_named)
    {
      g_free (after->name);
      after->name = _gantry_variant_figures_name (&after->figures, after->limit);
    }
  return after;
}

static void
work_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const GantryProgress progress = { .cancellable = cancellable };
  Work *work = data;

  for (guint i = 0; i < work->before->len; i++)
    {
      g_autoptr (GError) error = NULL;
      GantryVariant *after = predict (work, i, &progress, &error);

      if (g_task_return_error_if_cancelled (task))
        {
          gantry_variant_unref (after);
          return;
        }
      g_ptr_array_add (work->after, after);
    }
  g_task_return_boolean (task, TRUE);
}

static void
worked (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GantryDocument *self = GANTRY_DOCUMENT (source);
  const Work *work = g_task_get_task_data (G_TASK (result));
  gboolean done = g_task_propagate_boolean (G_TASK (result), NULL);

  if (!_gantry_document_end_job (self, GANTRY_JOB_FIGURES, g_task_get_cancellable (G_TASK (result))) || !done || work->basis != self->basis)
    return;
  for (guint i = 0; i < work->before->len; i++)
    {
      GantryVariant *before = g_ptr_array_index (work->before, i), *after = g_ptr_array_index (work->after, i);

      /* What cannot be predicted stays as it is, and is not tried again. */
      g_hash_table_insert (self->figures, gantry_variant_ref (before), gantry_variant_ref (after != NULL ? after : before));
    }
  _gantry_document_notify (self, PROP_VARIANTS);
}

static void
add_old (GantryDocument *self, GPtrArray *variants, GPtrArray *list)
{
  for (guint i = 0; variants != NULL && i < variants->len; i++)
    {
      GantryVariant *variant = g_ptr_array_index (variants, i);

      if (!gantry_document_is_current (self, variant) && !g_hash_table_contains (self->figures, variant))
        g_ptr_array_add (list, gantry_variant_ref (variant));
    }
}

void
gantry_document_predict_variants (GantryDocument *self)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_variant_unref);
  g_autoptr (GTask) task = NULL;
  guint n_named;
  Work *work;

  /* What compiles or plans now brings another basis, or tells when it is done. */
  if (self->basis_of == NULL || self->basis_of->keys == NULL || self->basis_of->refusal != NULL || self->stale || self->running[GANTRY_JOB_FIGURES])
    return;
  add_old (self, gantry_document_get_variants (self), list);
  n_named = list->len;
  add_old (self, gantry_document_get_front (self), list);
  if (list->len == 0)
    return;
  work = g_new0 (Work, 1);
  *work = (Work){ gantry_compilation_ref (self->basis_of),
                  g_ptr_array_ref (list),
                  g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_variant_unref),
                  n_named,
                  self->basis,
                  self->planner != NULL ? _gantry_limit_of_part (self->planner, 1) : 0 };
  task = g_task_new (self, _gantry_document_begin_job (self, GANTRY_JOB_FIGURES), worked, NULL);
  g_task_set_task_data (task, work, work_free);
  gantry_task_run_in_thread (task, work_thread);
}
