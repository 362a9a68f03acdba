/* SPDX-License-Identifier: Apache-2.0 */
/* A limit that placements alone do not reach, or not as fast: the batch of a training step is divided into microbatches, as many as give the
 * fastest step within it. That is the same step only where the loss is a mean over examples that do not depend on each other, which is
 * checked first. Each number of them is a program of its own, with placements of its own; they are made and searched one after the
 * other in a document that nobody sees, in rising order, until more are slower than the best, or take no less when they keep everything. */
#include "core/document/document-private.h"
#include "core/base/thread.h"
#include "core/compiler/compiler.h"
#include "core/plan/placement.h"
#include <string.h>

#define MOST_WORSE 2u /* numbers that are tried behind the best one, which are slower, or while there is none take no less than one before */

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
  char *input;              /* the first one */
  char *dim;                /* its first dimension */
  gint64 batch;             /* examples of a step */
  guint n_models;           /* of the document, when it was asked */
  gint64 end;               /* (g_get_monotonic_time ()): when all searches are over; 0: never */
  GStrv inputs;             /* (nullable): types of the inputs of a step, which are the same for every number */
} Division;

static void
division_free (gpointer data)
{
  Division *division = data;

  g_free (division->path);
  g_free (division->input);
  g_free (division->dim);
  g_strfreev (division->inputs);
  gantry_bindings_unref (division->bindings);
  gantry_compile_settings_clear (&division->settings);
  g_clear_pointer (&division->activity, _gantry_document_activity_free);
  g_free (division);
}

static gboolean G_GNUC_PRINTF (2, 3) refuse (GError **error, const char *format, ...)
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

/* That the step is the same in microbatches. */
static gboolean
check_examples (Division *division, const GantryProgress *progress, GError **error)
{
  g_autoptr (GError) why = NULL;

  if (gantry_compiler_check_examples (division->path, division->bindings, division->random_weights, division->dim, division->batch,
                                      &division->settings.training, progress, &why))
    return TRUE;
  return gantry_progress_cancelled (progress, error) ? FALSE : refuse (error, "%s", why->message);
}

/* "'x' f32[64,8]" of each input of a step. (transfer full) */
static GStrv
inputs_of (const GantryCompilation *compilation)
{
  const GantryModule *module = compilation->snapshots[compilation->n_snapshots - 1].module;
  const GantryFunction *entry = gantry_module_entry (module);
  GPtrArray *inputs = g_ptr_array_new ();

  for (guint32 i = 0; i < entry->n_params; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];
      g_autofree char *label = gantry_node_label (module, node), *type = gantry_context_type_text (module->context, node->type);

      if (gantry_parameter_role (module, node) == GANTRY_SUBJECT_INPUT)
        g_ptr_array_add (inputs, g_strdup_printf ("'%s' %s", label, type));
    }
  g_ptr_array_add (inputs, NULL);
  return (GStrv) g_ptr_array_free (inputs, FALSE);
}

/* An input that has no examples, but the size of a microbatch by chance, would be sliced too. FALSE: as of a number that does not fit */
static gboolean
check_inputs (Division *division, guint n, const GantryCompilation *compilation, GError **error)
{
  g_auto (GStrv) inputs = inputs_of (compilation);

  if (division->inputs == NULL)
    division->inputs = g_steal_pointer (&inputs);
  if (inputs == NULL)
    return TRUE;
  for (guint i = 0; division->inputs[i] != NULL || inputs[i] != NULL; i++)
    if (g_strcmp0 (division->inputs[i], inputs[i]) != 0 || inputs[i] == NULL)
      {
        g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY, "a step in %u microbatches would take input %s in the place of %s", n,
                     inputs[i] != NULL ? inputs[i] : "none", division->inputs[i] != NULL ? division->inputs[i] : "none");
        return FALSE;
      }
  return TRUE;
}

/* What is left for another search. FALSE: nothing */
static gboolean
set_seconds (Division *division)
{
  const gint64 now = g_get_monotonic_time ();

  if (division->end > 0)
    division->goal.seconds = (double) (division->end - now) / G_USEC_PER_SEC;
  return division->end == 0 || now < division->end;
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
  if (!check_inputs (division, n, compilation, error) || (division->prepare != NULL && !division->prepare (document, division->data, progress, error)))
    return NULL;
  *kept = _gantry_limit_of_part (gantry_document_get_planner (document), 1);
  return gantry_document_solve (document, &division->goal, progress, error);
}

/* (transfer full): without microbatches what is known from the start; those of @error are none */
static GantryDivided *
divided_new (const Division *division)
{
  GantryDivided *divided = g_new0 (GantryDivided, 1);

  divided->dim = g_strdup (division->dim);
  divided->batch = division->batch;
  divided->n_models = division->n_models;
  divided->counted = division->settings.training.loss == GANTRY_LOSS_SOFTMAX_CROSS_ENTROPY;
  return divided;
}

/* Tries @n. Returns: FALSE with @error: it is over, and what was found is the answer, if anything was. @last: of @n, where it has no answer */
static gboolean
try (Division *division, guint n, GantryDivided *best, guint *n_worse, guint64 *least, GError **last, const GantryProgress *progress, GError **error)
{
  g_autofree char *what = g_strdup_printf ("Searching with %u microbatch%s", n, n == 1 ? "" : "es");
  g_autoptr (GantryVariant) variant = NULL;
  guint64 kept = G_MAXUINT64;

  gantry_progress_report (progress, -1, what);
  g_clear_error (last);
  variant = solve_in (division, n, &kept, progress, last);
  if (variant == NULL && gantry_progress_cancelled (progress, error))
    return FALSE;
  if (variant == NULL && !g_error_matches (*last, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY))
    {
      g_propagate_error (error, g_steal_pointer (last));
      return FALSE;
    }
  best->n_tried++;
  best->most_tried = n;
  if (kept == G_MAXUINT64) /* it was not searched */
    return TRUE;
  *n_worse = kept < *least && best->variant == NULL ? 0 : *n_worse + 1;
  *least = MIN (*least, kept);
  if (variant == NULL || (best->variant != NULL && variant->figures.step_us >= best->variant->figures.step_us))
    return TRUE;
  *n_worse = 0;
  g_clear_pointer (&best->variant, gantry_variant_unref);
  best->variant = g_steal_pointer (&variant);
  best->microbatches = n;
  return TRUE;
}

/* @error: of the last number that was tried, where there is no answer. */
static GantryDivided *
divide (Division *division, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryDivided) best = NULL;
  g_autoptr (GError) last = NULL, ended = NULL;
  const double seconds = division->goal.seconds;
  const gint64 start = g_get_monotonic_time ();
  guint n_worse = 0;
  guint64 least = G_MAXUINT64;
  gboolean late = FALSE;

  if (seconds > 0)
    division->end = start + (gint64) (seconds * G_USEC_PER_SEC);
  if (!find_batch (division, progress, error) || !check_examples (division, progress, error))
    return NULL;
  best = divided_new (division);
  for (guint n = 1; n <= MIN (division->batch, GANTRY_TRAINING_MOST_MICROBATCHES) && n_worse < MOST_WORSE && ended == NULL; n++)
    {
      if (division->batch % n != 0)
        continue;
      late = n > 1 && !set_seconds (division);
      if (late || !try (division, n, best, &n_worse, &least, &last, progress, &ended))
        break;
    }
  best->ended = late || ended != NULL || gantry_progress_cancelled (progress, NULL);
  if (best->variant != NULL)
    return g_steal_pointer (&best);
  if (ended != NULL)
    g_propagate_error (error, g_steal_pointer (&ended));
  else
    g_propagate_prefixed_error (error, g_steal_pointer (&last), "none of %u numbers of microbatches from 1 to %u fits, and %s; with %u: ", best->n_tried,
                                best->most_tried,
                                late                   ? "the time for more was over"
                                : n_worse < MOST_WORSE ? "there are no more"
                                                       : "the last ones take no less",
                                best->most_tried);
  return NULL;
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
  division->n_models = self->n_models;
  division->goal.better = NULL;
  return division;
}

GantryDivided *
gantry_document_divide (GantryDocument *self, const GantrySolveGoal *goal,
                        gboolean (*prepare) (GantryDocument *document, gpointer data, const GantryProgress *progress, GError **error), gpointer data,
                        const GantryProgress *progress, GError **error)
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
  g_task_set_check_cancellable (task, FALSE); /* what was found is the answer */
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
  const char *ended = divided->ended ? "; the search was ended before all numbers were tried" : "";

  if (divided->microbatches == 1)
    return g_strdup_printf ("%" G_GINT64_FORMAT " as a whole; of %u numbers of microbatches up to %u none is faster%s", divided->batch, divided->n_tried,
                            divided->most_tried, ended);
  return g_strdup_printf ("%" G_GINT64_FORMAT " as %u microbatches of %" G_GINT64_FORMAT " (dimension '%s'): loss and gradients are the means of theirs, "
                          "which are those of one batch of %" G_GINT64_FORMAT ": no example depends on another, and the loss is a mean over them%s; "
                          "a step has the same inputs as before%s",
                          divided->batch, divided->microbatches, size, divided->dim, divided->batch,
                          divided->counted ? " (where each microbatch has equally many labels that are classes, which is not checked)" : "", ended);
}

gboolean
gantry_document_load_divided (GantryDocument *self, const GantryDivided *divided)
{
  g_autofree char *name = g_strdup_printf ("%u microbatch%s", divided->microbatches, divided->microbatches == 1 ? "" : "es");
  GantryBindings *bindings;
  GantryState *state;

  if (self->state == NULL || self->n_models != divided->n_models)
    return FALSE;
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
  return TRUE;
}
