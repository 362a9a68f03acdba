/* SPDX-License-Identifier: Apache-2.0 */
/* A limit that placements alone do not reach, or not as fast: the batch of a training step is divided into microbatches, as many as give the
 * fastest step within it. Each number of them is a program of its own, with placements of its own; they are made and searched one after the
 * other in a document that nobody sees, in rising order, until more are slower than the best, or take no less when they keep everything. */
#include "core/document/document-private.h"
#include "core/base/thread.h"
#include <string.h>

#define MOST_WORSE 2u /* numbers that are tried behind the best one, which are slower, or while there is none take no less than one before */
#define LESS 0.9      /* of a peak: what counts as less */

void
gantry_divided_free (GantryDivided *divided)
{
  if (divided == NULL)
    return;
  g_clear_pointer (&divided->variant, gantry_variant_unref);
  g_free (divided->dim);
  g_free (divided);
}

/* What is asked for, for a thread of its own. */
typedef struct
{
  char *path;
  GantryBindings *bindings;
  GantryCompileSettings settings;
  gint64 random_weights;
  GantrySolveGoal goal;
  gboolean (*prepare) (GantryDocument *document, gpointer data, const GantryProgress *progress, GError **error); /* (nullable) */
  gpointer data;
  GantryActivity *activity; /* (nullable) */
  char *input;   /* the first one */
  char *dim;     /* its first dimension */
  gint64 batch;  /* examples of a step */
} Division;

static void
division_free (gpointer data)
{
  Division *division = data;

  g_free (division->path);
  g_free (division->input);
  g_free (division->dim);
  gantry_bindings_unref (division->bindings);
  gantry_compile_settings_clear (&division->settings);
  g_clear_pointer (&division->activity, _gantry_document_activity_free);
  g_free (division);
}

static gboolean G_GNUC_PRINTF (2, 3)
refuse (GError **error, const char *format, ...)
{
  g_autofree char *why = NULL;
  va_list args;

  va_start (args, format);
  why = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the batch cannot be divided into microbatches: %s", why);
  return FALSE;
}

static gint64
size_of (const GantryBindings *bindings, const char *dim)
{
  for (guint i = 0; i < bindings->n_dims; i++)
    if (strcmp (bindings->dims[i].name, dim) == 0)
      return bindings->dims[i].size;
  return 0;
}

/* The name that the model has for the first dimension of its first input, which is that of the batch. */
static gboolean
find_batch (Division *division, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryBindings) free = gantry_bindings_copy (division->bindings);
  g_autoptr (GantryModel) model = NULL;
  g_autofree char *first = NULL, *place = NULL;
  const char *open;

  gantry_bindings_clear_dims (free);
  model = gantry_model_open (division->path, free, division->random_weights, progress, error);
  if (model == NULL)
    return FALSE;
  if (model->n_inputs == 0)
    return refuse (error, "the model has no input");
  division->input = g_strdup (model->inputs[0].name);
  open = strchr (model->inputs[0].type, '[');
  first = g_strndup (open != NULL ? open + 1 : "", open != NULL ? strcspn (open + 1, ",]") : 0);
  place = g_strdup_printf ("%s:0", division->input);
  division->dim = g_strdup (model->unbound != NULL && g_strv_contains ((const char *const *) model->unbound, first) ? first : place);
  if (model->unbound == NULL || !g_strv_contains ((const char *const *) model->unbound, division->dim))
    return refuse (error, "the first dimension of its first input, '%s' (%s), has its size in the model; export it with that dimension left open",
                   division->input, model->inputs[0].type);
  division->batch = size_of (division->bindings, division->dim) * MAX (division->settings.training.microbatches, 1);
  return division->batch > 1 ? TRUE : refuse (error, "it is %" G_GINT64_FORMAT " (dimension '%s')", division->batch, division->dim);
}

/* @kept: (out): what keeping everything takes. (transfer full) (nullable): the answer of @n microbatches; NULL: there is none within the
 * limit, or @error */
static GantryVariant *
solve_in (Division *division, guint n, guint64 *kept, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryDocument) document = gantry_document_new ();
  g_autoptr (GantryBindings) bindings = gantry_bindings_copy (division->bindings);
  GantryOpenOptions options = GANTRY_OPEN_OPTIONS_INIT;
  const GantryCompilation *compilation;

  gantry_bindings_set_dim (bindings, division->dim, division->batch / n);
  division->settings.training.microbatches = n;
  options.bindings = bindings;
  options.settings = &division->settings;
  options.random_weights = division->random_weights;
  if (!gantry_document_open (document, division->path, &options, progress, error))
    return NULL;
  compilation = gantry_document_get_compilation (document);
  if (compilation->refusal != NULL)
    {
      g_propagate_error (error, g_error_copy (compilation->refusal));
      return NULL;
    }
  if (division->prepare != NULL && !division->prepare (document, division->data, progress, error))
    return NULL;
  *kept = _gantry_limit_of_part (gantry_document_get_planner (document), 1);
  return gantry_document_solve (document, &division->goal, progress, error);
}

/* @error: of the last number that was tried, where there is no answer. */
static GantryDivided *
divide (Division *division, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryDivided) best = g_new0 (GantryDivided, 1);
  g_autoptr (GError) last = NULL;
  guint n_worse = 0;
  guint64 least = G_MAXUINT64;

  if (!find_batch (division, progress, error))
    return NULL;
  for (guint n = 1; n <= MIN (division->batch, GANTRY_TRAINING_MOST_MICROBATCHES) && n_worse < MOST_WORSE; n++)
    {
      g_autoptr (GantryVariant) variant = NULL;
      guint64 kept = 0;
      g_autofree char *what = g_strdup_printf ("Searching with %u microbatch%s", n, n == 1 ? "" : "es");

      if (division->batch % n != 0)
        continue;
      gantry_progress_report (progress, -1, what);
      g_clear_error (&last);
      variant = solve_in (division, n, &kept, progress, &last);
      if (gantry_progress_cancelled (progress, error))
        return NULL;
      if (variant == NULL && !g_error_matches (last, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY))
        {
          g_propagate_error (error, g_steal_pointer (&last));
          return NULL;
        }
      best->n_tried++;
      best->most_tried = n;
      n_worse = (double) kept < LESS * (double) least && best->variant == NULL ? 0 : n_worse + 1;
      least = MIN (least, kept);
      if (variant == NULL || (best->variant != NULL && variant->figures.step_us >= best->variant->figures.step_us))
        continue;
      n_worse = 0;
      g_clear_pointer (&best->variant, gantry_variant_unref);
      best->variant = g_steal_pointer (&variant);
      best->microbatches = n;
    }
  if (best->variant == NULL)
    {
      g_propagate_prefixed_error (error, g_steal_pointer (&last), "no number of microbatches from 1 to %u fits, and more take no less; with %u: ",
                                  best->most_tried, best->most_tried);
      return NULL;
    }
  best->dim = g_strdup (division->dim);
  best->batch = division->batch;
  return g_steal_pointer (&best);
}

/* (nullable): with @error */
static Division *
division_new (GantryDocument *self, const GantrySolveGoal *goal, GError **error)
{
  const GantryCompilation *compilation = gantry_document_get_compilation (self);
  Division *division;

  if (compilation == NULL || !self->state->settings.train)
    {
      refuse (error, "there is no training step that was made here; make one of a model, which says what its batch is");
      return NULL;
    }
  if (gantry_model_is_program (gantry_document_get_path (self)))
    {
      refuse (error, "'%s' is a Python program, which says itself how large its batch is", gantry_document_get_path (self));
      return NULL;
    }
  if (goal->memory_bytes == 0)
    {
      refuse (error, "that is done for a limit of memory, not for one of time");
      return NULL;
    }
  division = g_new0 (Division, 1);
  division->path = g_strdup (compilation->model->path);
  division->bindings = gantry_bindings_copy (self->state->bindings);
  division->random_weights = compilation->model->random_weights;
  gantry_compile_settings_copy (&division->settings, &self->state->settings);
  /* What a part of the peak comes to is of the program as it is. */
  division->settings.target.memory_part = 0;
  division->goal = *goal;
  division->goal.better = NULL;
  return division;
}

GantryDivided *
gantry_document_divide (GantryDocument *self, const GantrySolveGoal *goal,
                        gboolean (*prepare) (GantryDocument *document, gpointer data, const GantryProgress *progress, GError **error),
                        gpointer data, const GantryProgress *progress, GError **error)
{
  Division *division = division_new (self, goal, error);
  GantryDivided *divided;

  if (division == NULL)
    return NULL;
  division->prepare = prepare;
  division->data = data;
  divided = divide (division, progress, error);
  division_free (division);
  return divided;
}

static void
divide_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Division *division = data;
  GMainContext *own = g_main_context_new (); /* documents belong to the thread that makes them */
  GError *error = NULL;
  GantryDivided *divided;

  g_main_context_push_thread_default (own);
  divided = divide (division, _gantry_document_activity_progress (division->activity), &error);
  g_main_context_pop_thread_default (own);
  g_main_context_unref (own);
  if (divided != NULL)
    g_task_return_pointer (task, divided, (GDestroyNotify) gantry_divided_free);
  else
    g_task_return_error (task, error);
}

static void
divide_done (GObject *source, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GTask) outer = user_data;
  GError *error = NULL;
  GantryDivided *divided = g_task_propagate_pointer (G_TASK (result), &error);

  _gantry_document_end_job (GANTRY_DOCUMENT (source), GANTRY_JOB_SOLVE, g_task_get_cancellable (G_TASK (result)));
  if (divided != NULL)
    g_task_return_pointer (outer, divided, (GDestroyNotify) gantry_divided_free);
  else
    g_task_return_error (outer, error);
}

void
gantry_document_divide_async (GantryDocument *self, const GantrySolveGoal *goal, GAsyncReadyCallback callback, gpointer user_data)
{
  GTask *outer = g_task_new (self, NULL, callback, user_data);
  GError *error = NULL;
  Division *division = division_new (self, goal, &error);
  g_autoptr (GTask) task = NULL;
  GCancellable *cancellable;

  if (division == NULL)
    {
      g_task_return_error (outer, error);
      g_object_unref (outer);
      return;
    }
  cancellable = _gantry_document_begin_job (self, GANTRY_JOB_SOLVE);
  task = g_task_new (self, cancellable, divide_done, outer);
  division->activity = _gantry_document_activity_new (self, cancellable);
  g_task_set_task_data (task, division, division_free);
  gantry_task_run_in_thread (task, divide_thread);
}

GantryDivided *
gantry_document_divide_finish (GantryDocument *self, GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

char *
gantry_divided_text (const GantryDivided *divided)
{
  const gint64 size = divided->batch / divided->microbatches;

  if (divided->microbatches == 1)
    return g_strdup_printf ("%" G_GINT64_FORMAT " as a whole; more microbatches are no faster", divided->batch);
  return g_strdup_printf ("%" G_GINT64_FORMAT " as %u microbatches of %" G_GINT64_FORMAT " (dimension '%s'): loss and gradients are those of one batch of %"
                          G_GINT64_FORMAT ", as means over its examples; statistics of a batch normalization are those of a microbatch",
                          divided->batch, divided->microbatches, size, divided->dim, divided->batch);
}

void
gantry_document_load_divided (GantryDocument *self, const GantryDivided *divided)
{
  g_autofree char *name = g_strdup_printf ("%u microbatch%s", divided->microbatches, divided->microbatches == 1 ? "" : "es");
  GantryBindings *bindings;
  GantryState *state;

  g_return_if_fail (self->state != NULL);
  state = _gantry_state_copy (self->state);
  bindings = gantry_bindings_copy (state->bindings);
  gantry_bindings_set_dim (bindings, divided->dim, divided->batch / divided->microbatches);
  _gantry_state_set_bindings (state, bindings);
  state->settings.training.microbatches = divided->microbatches;
  g_free (state->settings.policy);
  state->settings.policy = g_strdup (divided->variant->policy);
  gantry_choices_unref (state->settings.choices);
  state->settings.choices = divided->variant->choices != NULL ? gantry_choices_ref (divided->variant->choices) : NULL;
  state->settings.target.memory_part = 0; /* of the peak of another program */
  _gantry_document_edit (self, state, name, 0);
}
