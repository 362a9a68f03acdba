/* SPDX-License-Identifier: Apache-2.0 */
/* Named variants, and the searches that make them: the solver and the front of memory and time. */
#include "core/document/document-private.h"
#include "core/base/thread.h"
#include <string.h>

GantryVariant *
_gantry_variant_new (const char *name)
{
  GantryVariant *variant = g_new0 (GantryVariant, 1);

  g_atomic_ref_count_init (&variant->ref_count);
  variant->name = g_strdup (name);
  variant->by = GANTRY_DECIDED_BY_CLICK;
  variant->gap = -1;
  return variant;
}

GantryVariant *
gantry_variant_ref (GantryVariant *variant)
{
  g_atomic_ref_count_inc (&variant->ref_count);
  return variant;
}

void
gantry_variant_unref (GantryVariant *variant)
{
  if (variant == NULL || !g_atomic_ref_count_dec (&variant->ref_count))
    return;
  g_free (variant->name);
  g_free (variant->policy);
  gantry_choices_unref (variant->choices);
  g_free (variant);
}

GantryVariant *
gantry_variant_renamed (const GantryVariant *variant, const char *name)
{
  GantryVariant *copy = g_memdup2 (variant, sizeof *variant);

  g_atomic_ref_count_init (&copy->ref_count);
  copy->name = g_strdup (name);
  copy->policy = g_strdup (variant->policy);
  if (copy->choices != NULL)
    gantry_choices_ref (copy->choices);
  return copy;
}

GPtrArray *
_gantry_variants_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_variant_unref);
}

GantryVariant *
gantry_document_make_variant (GantryDocument *self, const char *name)
{
  const GantryCompileSettings *settings;
  GantryVariant *variant = _gantry_variant_new (name);

  g_return_val_if_fail (self->state != NULL, variant);
  settings = &self->state->settings;
  variant->policy = g_strdup (settings->policy);
  variant->choices = settings->choices != NULL ? gantry_choices_ref (settings->choices) : NULL;
  variant->limit = settings->target.memory_limit;
  variant->limit_part = settings->target.memory_part;
  if (self->forecast != NULL && self->placements != NULL && gantry_placements_equal (self->forecast->placements, self->placements)
      && gantry_document_get_plan_figures (self, &variant->figures))
    {
      variant->predicted = TRUE;
      variant->figures.fits = gantry_document_fits (self);
      variant->basis = self->basis;
    }
  return variant;
}

/* The list */

static guint
find (GPtrArray *variants, const char *name)
{
  guint i;

  for (i = 0; i < variants->len; i++)
    if (strcmp (((GantryVariant *) g_ptr_array_index (variants, i))->name, name) == 0)
      break;
  return i;
}

/* (transfer full) @list: becomes the document's. */
static void
edit_list (GantryDocument *self, GPtrArray *list, const char *format, const char *name)
{
  GantryState *state = _gantry_state_copy (self->state);
  g_autofree char *what = g_strconcat (format, name, NULL);

  g_ptr_array_unref (state->variants);
  state->variants = list;
  _gantry_document_edit (self, state, what, 0);
}

static gpointer
ref_variant (gconstpointer variant, gpointer data)
{
  return gantry_variant_ref ((GantryVariant *) variant);
}

static GPtrArray *
copy_list (GantryDocument *self)
{
  GPtrArray *copy = _gantry_variants_new ();

  for (guint i = 0; i < self->state->variants->len; i++)
    g_ptr_array_add (copy, ref_variant (g_ptr_array_index (self->state->variants, i), NULL));
  return copy;
}

void
gantry_document_add_variant (GantryDocument *self, GantryVariant *variant)
{
  GPtrArray *list;
  guint i;

  g_return_if_fail (self->state != NULL);
  list = copy_list (self);
  i = find (list, variant->name);
  if (i < list->len)
    {
      gantry_variant_unref (g_ptr_array_index (list, i));
      g_ptr_array_index (list, i) = gantry_variant_ref (variant);
    }
  else
    g_ptr_array_add (list, gantry_variant_ref (variant));
  edit_list (self, list, "new variant ", variant->name);
}

void
gantry_document_rename_variant (GantryDocument *self, const char *from, const char *to)
{
  GPtrArray *list;
  GantryVariant *old;
  guint i;

  g_return_if_fail (self->state != NULL);
  i = find (self->state->variants, from);
  if (i == self->state->variants->len || strcmp (from, to) == 0 || find (self->state->variants, to) < self->state->variants->len)
    return;
  list = copy_list (self);
  old = g_ptr_array_index (list, i);
  g_ptr_array_index (list, i) = gantry_variant_renamed (old, to);
  gantry_variant_unref (old);
  edit_list (self, list, "new name of variant ", from);
}

void
gantry_document_delete_variant (GantryDocument *self, const char *name)
{
  GPtrArray *list;
  guint i;

  g_return_if_fail (self->state != NULL);
  i = find (self->state->variants, name);
  if (i == self->state->variants->len)
    return;
  list = copy_list (self);
  g_ptr_array_remove_index (list, i);
  edit_list (self, list, "deletion of variant ", name);
}

void
gantry_document_load_variant (GantryDocument *self, GantryVariant *variant)
{
  g_autofree char *name = g_strdup_printf ("variant %s", variant->name);
  GantryState *state;

  g_return_if_fail (self->state != NULL);
  state = _gantry_state_copy (self->state);
  g_free (state->settings.policy);
  state->settings.policy = g_strdup (variant->policy);
  g_clear_pointer (&state->settings.choices, gantry_choices_unref);
  state->settings.choices = variant->choices != NULL ? gantry_choices_ref (variant->choices) : NULL;
  state->settings.target.memory_limit = variant->limit;
  state->settings.target.memory_part = variant->limit_part;
  if (gantry_compile_settings_same_plan (&state->settings, &self->state->settings))
    _gantry_state_unref (state);
  else
    _gantry_document_edit (self, state, name, 0);
}

/* Searching */

/* What a search is given and what it gives; the planner is its own while it lasts. */
typedef struct
{
  GantryCompilation *planning;
  GantryChoices *choices;       /* (nullable) */
  GantryPlacements *placements; /* (nullable): the present ones, by policy and rules as well */
  guint64 limit;                /* that of the document */
  double limit_part;
  GantrySolveGoal goal;
  gboolean front;
  void (*found) (GantryDocument *document, const char *program, GPtrArray *points); /* (nullable): of a search in the background */
  char *program;                                                                    /* (nullable): of the front that was found */
  guint64 n_models, basis;                                                          /* of the document, when it began */
  guint n_points;
  double seconds;
  GPtrArray *known; /* GantryVariant: found before, of the session */
  const GantryProgress *progress;
  GantryActivity *activity;
} Search;

static void
search_free (gpointer data)
{
  Search *search = data;

  gantry_compilation_unref (search->planning);
  gantry_choices_unref (search->choices);
  g_clear_pointer (&search->placements, gantry_placements_unref);
  g_ptr_array_unref (search->known);
  g_free (search->program);
  if (search->activity != NULL)
    _gantry_document_activity_free (search->activity);
  g_free (search);
}

static GantryChoices *
choices_of (const Search *search, const GantryPlacements *placements)
{
  const GantryCompilation *planning = search->planning;
  GantryModule *module = gantry_compilation_module (planning);
  g_autoptr (GantryPlacements) solved = gantry_placements_copy (placements);

  for (guint i = 0; i < solved->entries->len; i++)
    {
      GantryPlacement *entry = &g_array_index (solved->entries, GantryPlacement, i);

      if (entry->decider != GANTRY_DECIDED_BY_CLICK)
        entry->decider = GANTRY_DECIDED_BY_SOLVER;
    }
  return gantry_choices_of (solved, module, planning->keys);
}

char *
_gantry_variant_figures_name (const GantryPlanFigures *figures, guint64 limit)
{
  g_autofree char *peak = gantry_memory_peak_text (figures->peak_bytes, limit, figures->sizes_known);

  return g_strdup_printf ("%s, %.4g ms", peak, figures->step_us / 1000);
}

static GantryVariant *
variant_of (const Search *search, const GantrySolution *solution)
{
  g_autofree char *name = _gantry_variant_figures_name (&solution->figures, search->goal.memory_bytes > 0 ? search->goal.memory_bytes : search->limit);
  GantryVariant *variant = _gantry_variant_new (name);

  variant->by = GANTRY_DECIDED_BY_SOLVER;
  variant->choices = choices_of (search, solution->placements);
  /* What it takes to have its copies fetched so late is part of the answer, and no limit that anybody gave. */
  variant->choices->fetch_limit = solution->limit_bytes;
  variant->limit = search->limit;
  variant->limit_part = search->limit_part;
  variant->gap = solution->gap;
  variant->proof = solution->proof;
  variant->method = solution->method;
  variant->cut = solution->cut;
  variant->milliseconds = solution->milliseconds;
  variant->predicted = TRUE;
  variant->figures = solution->figures;
  variant->basis = search->basis;
  return variant;
}

GantryChoices *
_gantry_choices_clicked (const GantryChoices *choices)
{
  GantryChoices *clicked = gantry_choices_copy (choices);
  guint kept = 0;

  for (guint i = 0; i < clicked->entries->len; i++)
    {
      const GantryChoice *choice = &g_array_index (clicked->entries, GantryChoice, i);

      if (choice->decider == GANTRY_DECIDED_BY_CLICK)
        g_array_index (clicked->entries, GantryChoice, kept++) = *choice;
    }
  g_array_set_size (clicked->entries, kept);
  gantry_choices_set_schedule (clicked, NULL, 0);
  clicked->fetch_limit = 0;
  return clicked;
}

/* Only clicks bind the solver: what the policy says is what it is asked to better. */
static GantryPlacements *
base_of (const Search *search)
{
  g_autoptr (GantryChoices) clicked = _gantry_choices_clicked (search->choices);

  return gantry_choices_place (clicked, gantry_compilation_module (search->planning), search->planning->keys);
}

static void
tell_better (const GantryPlacements *placements, const GantryPrediction *prediction, double bound, gpointer user_data)
{
  const Search *search = user_data;
  g_autofree char *peak = gantry_memory_peak_text (prediction->peak_bytes, search->goal.memory_bytes, prediction->sizes_known);
  g_autofree char *what = g_strdup_printf ("Searching, best so far %s, %.4g ms", peak, prediction->step_us / 1000);

  gantry_progress_report (search->progress, -1, what);
}

static GPtrArray *
variants_of (const Search *search, GPtrArray *solutions)
{
  GPtrArray *variants = _gantry_variants_new ();

  for (guint i = 0; i < solutions->len; i++)
    g_ptr_array_add (variants, variant_of (search, g_ptr_array_index (solutions, i)));
  return variants;
}

/* What was found before, perhaps by another process, and what is placed now begins the search. */
static void
tell_known (const Search *search, GantryPlanner *planner)
{
  if (search->placements != NULL)
    gantry_solve_know (planner, search->placements, search->limit);
  for (guint i = 0; i < search->known->len; i++)
    {
      const GantryVariant *variant = g_ptr_array_index (search->known, i);
      g_autoptr (GantryPlacements) placements = gantry_choices_place (variant->choices, gantry_compilation_module (search->planning), search->planning->keys);

      gantry_solve_know (planner, placements, variant->limit);
    }
}

static GPtrArray *
run_search (Search *search, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryPlacements) base = base_of (search);
  g_autoptr (GPtrArray) solutions = NULL;
  GPtrArray *variants = NULL;
  GantryPlanner *planner;

  planner = gantry_compilation_take_planner (search->planning, progress, error);
  if (planner == NULL)
    return NULL;
  search->progress = progress;
  search->goal.better = tell_better;
  search->goal.user_data = search;
  gantry_progress_report (progress, -1, "Searching");
  tell_known (search, planner);
  if (search->front)
    solutions = gantry_solve_front (planner, search->n_points, base, search->goal.allowed, search->seconds, progress, error);
  else
    {
      GantrySolution *solution = gantry_solve (planner, &search->goal, base, progress, error);

      if (solution != NULL)
        {
          solutions = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_solution_free);
          g_ptr_array_add (solutions, solution);
        }
    }
  if (solutions != NULL)
    variants = variants_of (search, solutions);
  if (search->front && variants != NULL)
    search->program = gantry_module_content (gantry_compilation_module (search->planning));
  gantry_compilation_give_planner (search->planning, planner);
  return variants;
}

static void
add_known (Search *search, GPtrArray *variants)
{
  for (guint i = 0; variants != NULL && i < variants->len; i++)
    {
      GantryVariant *variant = g_ptr_array_index (variants, i);

      if (variant->by == GANTRY_DECIDED_BY_SOLVER && variant->choices != NULL)
        g_ptr_array_add (search->known, gantry_variant_ref (variant));
    }
}

/* (nullable): with @error, where there is nothing to search in. */
static Search *
search_new (GantryDocument *self, GError **error)
{
  Search *search;

  if (self->planner == NULL)
    {
      const GantryCompilation *compilation = gantry_document_get_compilation (self);

      if (compilation != NULL && compilation->refusal != NULL)
        g_propagate_error (error, g_error_copy (compilation->refusal));
      else
        g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "there is no program to search placements for");
      return NULL;
    }
  search = g_new0 (Search, 1);
  search->known = _gantry_variants_new ();
  add_known (search, self->state->variants);
  add_known (search, gantry_document_get_front (self));
  search->placements = self->placements != NULL ? gantry_placements_ref (self->placements) : NULL;
  search->planning = gantry_compilation_ref (self->planning);
  search->choices = self->state->settings.choices != NULL ? gantry_choices_ref (self->state->settings.choices) : NULL;
  search->limit = self->state->settings.target.memory_limit;
  search->limit_part = self->state->settings.target.memory_part;
  search->n_models = self->n_models;
  search->basis = self->basis;
  return search;
}

static void
search_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Search *search = data;
  GError *error = NULL;
  GPtrArray *variants;

  if (search->found != NULL)
    gantry_thread_step_back ();
  variants = run_search (search, _gantry_document_activity_progress (search->activity), &error);

  if (variants != NULL)
    g_task_return_pointer (task, variants, (GDestroyNotify) g_ptr_array_unref);
  else
    g_task_return_error (task, error);
}

/* Not where another file was opened meanwhile. */
static void
take (GantryDocument *self, const Search *search, GPtrArray *variants)
{
  if (variants != NULL && search->n_models == self->n_models)
    _gantry_document_take_front (self, search->program, variants);
}

static void
search_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GTask) outer = user_data;
  GError *error = NULL;
  GPtrArray *variants;

  /* Cancelling ends a search with the best so far, which is an answer. */
  g_task_set_check_cancellable (G_TASK (result), FALSE);
  variants = g_task_propagate_pointer (G_TASK (result), &error);
  take (GANTRY_DOCUMENT (source), g_task_get_task_data (G_TASK (result)), variants);
  _gantry_document_end_job (GANTRY_DOCUMENT (source), GANTRY_JOB_SOLVE, g_task_get_cancellable (G_TASK (result)));
  if (variants != NULL)
    g_task_return_pointer (outer, variants, (GDestroyNotify) g_ptr_array_unref);
  else
    g_task_return_error (outer, error);
}

/* @search: (transfer full) (nullable): with @error */
static void
start_search (GantryDocument *self, Search *search, GError *error, GTask *outer)
{
  g_autoptr (GTask) task = NULL;
  GCancellable *cancellable;

  if (search == NULL)
    {
      g_task_return_error (outer, error);
      g_object_unref (outer);
      return;
    }
  cancellable = _gantry_document_begin_job (self, GANTRY_JOB_SOLVE);
  task = g_task_new (self, cancellable, search_done, outer);
  g_task_set_check_cancellable (task, FALSE);
  search->activity = _gantry_document_activity_new (self, cancellable);
  g_task_set_task_data (task, search, search_free);
  gantry_task_run_in_thread (task, search_thread);
}

void
gantry_document_solve_async (GantryDocument *self, const GantrySolveGoal *goal, GAsyncReadyCallback callback, gpointer user_data)
{
  GTask *outer = g_task_new (self, NULL, callback, user_data);
  GError *error = NULL;
  Search *search = search_new (self, &error);

  if (search != NULL)
    search->goal = *goal;
  start_search (self, search, error, outer);
}

static void
background_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GWeakRef *document = user_data;
  g_autoptr (GantryDocument) self = g_weak_ref_get (document);
  GCancellable *cancellable = g_task_get_cancellable (G_TASK (result));
  const Search *search = g_task_get_task_data (G_TASK (result));
  g_autoptr (GPtrArray) points = g_task_propagate_pointer (G_TASK (result), NULL);

  g_weak_ref_clear (document);
  g_free (document);
  if (self != NULL && _gantry_document_end_job (self, GANTRY_JOB_FRONT, cancellable))
    search->found (self, search->program, g_cancellable_is_cancelled (cancellable) || search->n_models != self->n_models ? NULL : points);
}

void
_gantry_document_search_front (GantryDocument *self, guint n_points, double seconds, void (*tell) (GantryDocument *document, const char *what, double fraction),
                               void (*found) (GantryDocument *document, const char *program, GPtrArray *points))
{
  Search *search = search_new (self, NULL);
  GWeakRef *document; /* nobody waits for the answer: a document that goes ends the search */
  GCancellable *cancellable;
  g_autoptr (GTask) task = NULL;

  if (search == NULL)
    return;
  cancellable = _gantry_document_begin_job (self, GANTRY_JOB_FRONT);
  search->front = TRUE;
  search->found = found;
  search->n_points = n_points;
  search->goal.allowed = GANTRY_EXACT_PLACEMENTS;
  search->seconds = seconds;
  search->activity = _gantry_document_activity_new_for (self, cancellable, tell);
  document = g_new (GWeakRef, 1);
  g_weak_ref_init (document, self);
  task = g_task_new (NULL, cancellable, background_done, document);
  g_task_set_task_data (task, search, search_free);
  gantry_task_run_in_thread (task, search_thread);
}

static GantryVariant *
only_one (GPtrArray *variants)
{
  g_autoptr (GPtrArray) list = variants;

  return list != NULL ? gantry_variant_ref (g_ptr_array_index (list, 0)) : NULL;
}

GantryVariant *
gantry_document_solve_finish (GantryDocument *self, GAsyncResult *result, GError **error)
{
  return only_one (g_task_propagate_pointer (G_TASK (result), error));
}

void
gantry_document_front_async (GantryDocument *self, guint n_points, guint allowed, double seconds, GAsyncReadyCallback callback, gpointer user_data)
{
  GTask *outer = g_task_new (self, NULL, callback, user_data);
  GError *error = NULL;
  Search *search = search_new (self, &error);

  if (search != NULL)
    {
      search->front = TRUE;
      search->n_points = n_points;
      search->goal.allowed = allowed;
      search->seconds = seconds;
    }
  start_search (self, search, error, outer);
}

GPtrArray *
gantry_document_front_finish (GantryDocument *self, GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

void
gantry_document_cancel_solve (GantryDocument *self)
{
  _gantry_document_cancel_job (self, GANTRY_JOB_SOLVE);
}

GantryVariant *
gantry_document_solve (GantryDocument *self, const GantrySolveGoal *goal, const GantryProgress *progress, GError **error)
{
  Search *search = search_new (self, error);
  GPtrArray *variants;

  if (search == NULL)
    return NULL;
  search->goal = *goal;
  variants = run_search (search, progress, error);
  take (self, search, variants);
  search_free (search);
  return only_one (variants);
}

GPtrArray *
gantry_document_front (GantryDocument *self, guint n_points, guint allowed, double seconds, const GantryProgress *progress, GError **error)
{
  Search *search = search_new (self, error);
  GPtrArray *variants;

  if (search == NULL)
    return NULL;
  search->front = TRUE;
  search->n_points = n_points;
  search->goal.allowed = allowed;
  search->seconds = seconds;
  variants = run_search (search, progress, error);
  take (self, search, variants);
  search_free (search);
  return variants;
}
