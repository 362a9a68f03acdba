/* SPDX-License-Identifier: Apache-2.0 */
/* The child process that generates and runs code: gantry-cli on a private session file. It reports progress as
 * lines; its results are in the file. Nothing that happens to it touches the document. */
#include "core/base/child-program.h"
#include "core/base/scratch.h"
#include "core/base/thread.h"
#include "core/document/child-lines.h"
#include "core/document/document-private.h"
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define LAST_LINES 12

typedef struct
{
  char *cli;
  GantryJob job; /* GANTRY_JOB_RUN, or GANTRY_JOB_SIZES: nothing is run, and nothing is told */
  guint n_runs;
  GantryScratch *scratch;
  GantryKernelSizes *sizes; /* (nullable): what it found that the kernels need */
  char *session;            /* private file */
  GantryModule *module;     /* (nullable): that is run */
  GSubprocess *process;
  GantryChildLines *lines;
  guint8 bytes[4096]; /* just read */
  GQueue last;        /* char*: the newest lines that are no progress */
} Child;

/* Ends the process too, where it still runs. */
static void
child_free (gpointer data)
{
  Child *child = data;

  if (child->process != NULL)
    g_subprocess_force_exit (child->process);
  g_clear_object (&child->process);
  _gantry_child_lines_free (child->lines);
  g_queue_clear_full (&child->last, g_free);
  gantry_scratch_free (child->scratch);
  g_free (child->session);
  g_free (child->cli);
  gantry_kernel_sizes_unref (child->sizes);
  g_clear_pointer (&child->module, gantry_module_unref);
  g_free (child);
}

static void
keep_line (Child *child, const char *line)
{
  g_queue_push_tail (&child->last, g_strdup (line));
  while (g_queue_get_length (&child->last) > LAST_LINES)
    g_free (g_queue_pop_head (&child->last));
}

static char *
last_lines (Child *child)
{
  GString *text = g_string_new (NULL);

  for (GList *l = child->last.head; l != NULL; l = l->next)
    g_string_append_printf (text, "%s%s", text->len > 0 ? "\n" : "", (const char *) l->data);
  return g_string_free (text, FALSE);
}

static void
end_run (GTask *task, GError *error)
{
  GantryDocument *document = g_task_get_source_object (task);
  const Child *child = g_task_get_task_data (task);

  _gantry_document_end_job (document, child->job, g_task_get_cancellable (task));
  if (error != NULL)
    g_task_return_error (task, error);
  else
    g_task_return_boolean (task, TRUE);
  g_object_unref (task);
}

/* What only a limit or somebody else does to a process is told in words. */
static const char *
why_ended (int signal)
{
  if (signal == SIGKILL)
    return ": somebody ended it, or the system did, because memory ran out";
  return signal == SIGXFSZ ? ": a file that it wrote became too large" : "";
}

static GError *
error_of_end (Child *child)
{
  g_autofree char *said = last_lines (child);
  int status;

  if (g_subprocess_get_if_signaled (child->process))
    return g_error_new (GANTRY_ERROR, GANTRY_ERROR_FAILED, "The run was ended by signal %d (%s)%s. Nothing that was open is lost.%s%s",
                        g_subprocess_get_term_sig (child->process), g_strsignal (g_subprocess_get_term_sig (child->process)),
                        why_ended (g_subprocess_get_term_sig (child->process)), *said != '\0' ? "\n" : "", said);
  status = g_subprocess_get_exit_status (child->process);
  if (status == 3)
    return g_error_new (GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "%s", said);
  return g_error_new (GANTRY_ERROR, GANTRY_ERROR_FAILED, "%s", *said != '\0' ? said : "The run failed and said nothing.");
}

static void
load_thread (GTask *load, gpointer source, gpointer data, GCancellable *cancellable)
{
  Child *child = data;
  GError *error = NULL, *left_out = NULL;
  GPtrArray *runs = _gantry_session_load_runs (child->session, NULL, NULL, cancellable, &left_out, &error);

  if (left_out != NULL) /* of one: nothing is left */
    {
      g_clear_pointer (&runs, g_ptr_array_unref);
      g_propagate_error (&error, left_out);
    }
  child->sizes = _gantry_session_load_sizes (child->session);
  if (runs != NULL)
    g_task_return_pointer (load, runs, (GDestroyNotify) g_ptr_array_unref);
  else
    g_task_return_error (load, error);
}

/* A pass was switched while the child ran: what it names are nodes of the program before. */
static void
mark_if_old (GantryDocument *document, const Child *child, GantryRunResult *result)
{
  char *name;

  if (gantry_compilation_module (gantry_document_get_compilation (document)) == child->module)
    return;
  name = g_strdup_printf ("%s (of a program compiled otherwise)", result->name);
  g_free (result->name);
  result->name = name;
}

static void
runs_loaded (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GTask *task = user_data;
  const Child *child = g_task_get_task_data (task);
  GError *error = NULL;
  g_autoptr (GPtrArray) runs = g_task_propagate_pointer (G_TASK (result), &error);

  for (guint i = 0; runs != NULL && i < runs->len; i++)
    {
      mark_if_old (GANTRY_DOCUMENT (source), g_task_get_task_data (task), g_ptr_array_index (runs, i));
      gantry_document_add_run (GANTRY_DOCUMENT (source), g_ptr_array_index (runs, i));
    }
  if (child->sizes != NULL)
    gantry_document_set_kernel_sizes (GANTRY_DOCUMENT (source), child->sizes);
  end_run (task, error);
}

/* A long recording takes a while to read: on a worker thread. */
static void
take_runs (GTask *task)
{
  g_autoptr (GTask) load = g_task_new (g_task_get_source_object (task), g_task_get_cancellable (task), runs_loaded, task);

  g_task_set_task_data (load, g_task_get_task_data (task), NULL); /* lives until end_run() */
  gantry_task_run_in_thread (load, load_thread);
}

/* The run is in the session, and what was measured says by how much. */
static gboolean
has_run_above_limit (const Child *child)
{
  return child->job == GANTRY_JOB_RUN && g_subprocess_get_exit_status (child->process) == GANTRY_CHILD_ABOVE_LIMIT;
}

static void
process_ended (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GTask *task = user_data;
  Child *child = g_task_get_task_data (task);
  GError *error = NULL;

  if (!g_subprocess_wait_finish (G_SUBPROCESS (source), result, &error) || g_cancellable_set_error_if_cancelled (g_task_get_cancellable (task), &error))
    end_run (task, error);
  else if (g_subprocess_get_if_exited (child->process) && (g_subprocess_get_exit_status (child->process) == 0 || has_run_above_limit (child)))
    take_runs (task);
  else
    end_run (task, error_of_end (child));
}

static void
wait_for_end (GTask *task)
{
  Child *child = g_task_get_task_data (task);

  if (g_cancellable_is_cancelled (g_task_get_cancellable (task)))
    g_subprocess_force_exit (child->process);
  /* Without the cancellable: a child that was told to stop still has to be waited for. */
  g_subprocess_wait_async (child->process, NULL, process_ended, task);
}

static void
take_line (const GantryChildLine *line, gpointer user_data)
{
  GTask *task = user_data;
  Child *child = g_task_get_task_data (task);

  if (!line->is_progress)
    keep_line (child, line->text);
  else if (child->job == GANTRY_JOB_RUN && !g_cancellable_is_cancelled (g_task_get_cancellable (task)))
    _gantry_document_set_activity (g_task_get_source_object (task), line->text, line->fraction);
}

static void read_on (GTask *task);

static void
bytes_read (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GTask *task = user_data;
  Child *child = g_task_get_task_data (task);
  gssize n = g_input_stream_read_finish (G_INPUT_STREAM (source), result, NULL);

  if (n > 0)
    {
      _gantry_child_lines_add (child->lines, child->bytes, (gsize) n, take_line, task);
      read_on (task);
      return;
    }
  _gantry_child_lines_end (child->lines, take_line, task);
  wait_for_end (task);
}

static void
read_on (GTask *task)
{
  Child *child = g_task_get_task_data (task);

  g_input_stream_read_async (g_subprocess_get_stdout_pipe (child->process), child->bytes, sizeof child->bytes, G_PRIORITY_DEFAULT,
                             g_task_get_cancellable (task), bytes_read, task);
}

static void
start_child (GTask *task)
{
  Child *child = g_task_get_task_data (task);
  GantryDocument *document = g_task_get_source_object (task);
  g_autofree char *runs = g_strdup_printf ("--runs=%u", child->n_runs);
  g_autofree char *parent = g_strdup_printf ("--parent=%ld", (long) getpid ());
  g_autoptr (GStrvBuilder) words = g_strv_builder_new ();
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_MERGE);
  g_auto (GStrv) command = NULL;
  GError *error = NULL;

  g_strv_builder_add_many (words, child->cli, child->job == GANTRY_JOB_RUN ? "run" : "compile", "--session", "--progress", parent, child->session, NULL);
  if (child->job == GANTRY_JOB_RUN)
    g_strv_builder_add (words, runs);
  if (document->state->bindings->outside)
    g_strv_builder_add (words, "--allow-outside");
  if (gantry_model_is_program (gantry_document_get_model (document)->path))
    g_strv_builder_add (words, "--trust-program"); /* it ran here, and the session says as what */
  command = g_strv_builder_end (words);
  g_subprocess_launcher_setenv (launcher, GANTRY_NO_OPTION_HINTS, "1", TRUE);
  child->process = g_subprocess_launcher_spawnv (launcher, (const char *const *) command, &error);
  if (child->process == NULL)
    {
      gantry_error_prefix (&error, "%s cannot be started: ", child->cli);
      end_run (task, error);
      return;
    }
  if (child->job == GANTRY_JOB_RUN)
    _gantry_document_set_child_id (document, g_subprocess_get_identifier (child->process));
  child->lines = _gantry_child_lines_new ();
  read_on (task);
}

typedef struct
{
  GTask *task;
  GantryCompilation *compilation;
  GantryCompileSettings settings;
  GantryBindings *bindings;
} Preparation;

static void
preparation_free (gpointer data)
{
  Preparation *preparation = data;

  gantry_compilation_unref (preparation->compilation);
  gantry_compile_settings_clear (&preparation->settings);
  gantry_bindings_unref (preparation->bindings);
  g_free (preparation);
}

/* Saving reads the whole model for its hash: on a worker thread. */
static void
prepare_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Preparation *preparation = data;
  Child *child = g_task_get_task_data (preparation->task);
  g_autoptr (GPtrArray) none = g_ptr_array_new ();
  GantrySessionParts parts = {
    .compilation = preparation->compilation, .settings = &preparation->settings, .runs = none, .variants = none, .bindings = preparation->bindings, .here = TRUE
  };
  GError *error = NULL;

  if (gantry_model_check_files (preparation->compilation->model, &error) && _gantry_session_save (child->session, &parts, NULL, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
prepared (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Preparation *preparation = g_task_get_task_data (G_TASK (result));
  GError *error = NULL;

  if (g_task_propagate_boolean (G_TASK (result), &error))
    start_child (preparation->task);
  else
    end_run (preparation->task, error);
}

/* What is compiled is what the child is to run. */
static void
prepare (GTask *task)
{
  GantryDocument *document = g_task_get_source_object (task);
  Child *child = g_task_get_task_data (task);
  Preparation *preparation;
  g_autoptr (GTask) save = NULL;
  GError *error = NULL;

  child->scratch = gantry_scratch_new (&error);
  if (child->scratch == NULL)
    {
      end_run (task, error);
      return;
    }
  child->session = gantry_scratch_file (child->scratch, "run.gantry");
  child->module = gantry_module_ref (gantry_compilation_module (gantry_document_get_compilation (document)));
  preparation = g_new0 (Preparation, 1);
  preparation->task = task;
  preparation->compilation = gantry_compilation_ref (gantry_document_get_compilation (document));
  gantry_compile_settings_copy (&preparation->settings, gantry_document_get_settings (document));
  preparation->bindings = gantry_bindings_ref (document->state->bindings);
  save = g_task_new (document, g_task_get_cancellable (task), prepared, NULL);
  g_task_set_task_data (save, preparation, preparation_free);
  gantry_task_run_in_thread (save, prepare_thread);
}

static void begin (GTask *task);

static void
recompiled (GObject *source, GAsyncResult *result, gpointer user_data)
{
  GantryDocument *document = GANTRY_DOCUMENT (source);
  GTask *task = user_data;
  GError *error = NULL;
  gboolean done = gantry_document_recompile_finish (document, result, &error);

  if (g_cancellable_is_cancelled (g_task_get_cancellable (task)))
    {
      g_clear_error (&error);
      g_set_error_literal (&error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "the run was cancelled");
      end_run (task, error);
    }
  /* Another edit has come in between: the run is of what it gives. */
  else if (done || (document->stale && g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED)))
    {
      g_clear_error (&error);
      begin (task);
    }
  else
    end_run (task, error);
}

/* The child compiles by the settings: while the compilation is older than they are the ids of its run would not be
 * those that the views show. */
static void
begin (GTask *task)
{
  GantryDocument *document = g_task_get_source_object (task);

  if (document->stale)
    gantry_document_recompile_async (document, recompiled, task);
  else
    prepare (task);
}

static GTask *
child_task (GantryDocument *document, GantryJob job, const char *cli, GAsyncReadyCallback callback, gpointer user_data)
{
  Child *child = g_new0 (Child, 1);
  GTask *task = g_task_new (document, _gantry_document_begin_job (document, job), callback, user_data);

  child->cli = g_strdup (cli);
  child->job = job;
  g_task_set_task_data (task, child, child_free);
  return task;
}

void
gantry_document_find_sizes_async (GantryDocument *document, const char *cli, GAsyncReadyCallback callback, gpointer user_data)
{
  GTask *task;

  g_return_if_fail (gantry_document_get_model (document) != NULL);
  task = child_task (document, GANTRY_JOB_SIZES, cli, callback, user_data);
  if (document->stale || gantry_document_get_compilation (document)->refusal != NULL)
    end_run (task, g_error_new_literal (G_IO_ERROR, G_IO_ERROR_CANCELLED, "there is no compiled program to ask for"));
  else
    prepare (task);
}

gboolean
gantry_document_find_sizes_finish (GantryDocument *document, GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}

gboolean
gantry_document_can_run (GantryDocument *document, GError **error)
{
  const GantryCompilation *compilation = gantry_document_get_compilation (document);
  /* Of the document: a compilation keeps what was said of the limit that it was made with. */
  const GError *unfit = gantry_document_get_plan_error (document);

  if (compilation == NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "there is nothing to run: open a model first");
  else if (compilation->refusal != NULL)
    g_propagate_prefixed_error (error, g_error_copy (compilation->refusal), "this program cannot be compiled: ");
  else if (unfit != NULL)
    g_propagate_prefixed_error (error, g_error_copy (unfit), "this does not fit: ");
  else if (gantry_document_is_busy (document))
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "something else is under way: wait for it or cancel it");
  else
    return TRUE;
  return FALSE;
}

void
gantry_document_run_async (GantryDocument *document, const char *cli, guint n_runs, GAsyncReadyCallback callback, gpointer user_data)
{
  GTask *task;

  g_return_if_fail (gantry_document_get_model (document) != NULL);
  task = child_task (document, GANTRY_JOB_RUN, cli, callback, user_data);
  ((Child *) g_task_get_task_data (task))->n_runs = n_runs;
  _gantry_document_set_activity (document, "Preparing the run", -1);
  begin (task);
}

gboolean
gantry_document_run_finish (GantryDocument *document, GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}
