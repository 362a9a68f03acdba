/* SPDX-License-Identifier: Apache-2.0 */
/* Run: the child does the work, the window says how it went. */
#include "app/gantry/application.h"
#include "core/base/child-program.h"
#include "app/gantry/window-private.h"
#include "gantry-config.h"
#include "views/format.h"

#define MEASURED_RUNS 10u

static void
ran (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GantryWindow) self = data;
  g_autoptr (GError) error = NULL;
  const GantryRunResult *run;
  g_autofree char *time = NULL, *text = NULL;

  self->running = FALSE;
  if (!gantry_document_run_finish (self->document, result, &error))
    {
      _gantry_window_tell (self, "The run failed; nothing else is lost", error);
      _gantry_window_update (self);
      return;
    }
  g_clear_pointer (&self->error, g_free);
  run = gantry_document_get_run (self->document);
  if (run != NULL)
    {
      time = gantry_format_ns ((gint64) (run->milliseconds * 1e6));
      text = g_strdup_printf ("Measured: %s, median of %u runs", time, run->n_runs);
      _gantry_window_toast (self, text);
    }
  _gantry_window_update (self);
}

GError *
_gantry_window_why_no_run (GantryWindow *self)
{
  GError *why = NULL;

  if (gantry_document_is_recording (self->document))
    return g_error_new (GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "this is what another program recorded: there is no model to run");
  if (self->opening != NULL)
    return g_error_new (GANTRY_ERROR, GANTRY_ERROR_INVALID, "there is nothing to run: open a model first");
  if (self->changed != NULL && gantry_document_get_compilation (self->document) != NULL)
    return g_error_new (GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s has changed on disk since it was opened: load it again", self->changed);
  gantry_document_can_run (self->document, &why);
  return why;
}

void
_gantry_window_run_or_tell (GantryWindow *self)
{
  g_autoptr (GError) why = _gantry_window_why_no_run (self);

  if (why == NULL)
    _gantry_window_run (self);
  else if (gantry_document_is_busy (self->document))
    _gantry_window_toast (self, why->message);
  else
    _gantry_window_tell (self, "The program cannot be run", why);
}

void
_gantry_window_run (GantryWindow *self)
{
  g_autofree char *cli = gantry_child_program ();
  g_autoptr (GError) error = NULL;

  if (cli == NULL)
    {
      g_set_error (&error, GANTRY_ERROR, GANTRY_ERROR_FAILED,
                   "%s, which compiles and runs programs for the window, is not installed: put it beside the window's "
                   "program or into $PATH, or name it in $GANTRY_CLI",
                   GANTRY_CLI_NAME);
      _gantry_window_tell (self, "The program cannot be run", error);
      return;
    }
  self->running = TRUE;
  gantry_document_run_async (self->document, cli, MEASURED_RUNS, ran, g_object_ref (self));
  _gantry_window_update (self);
}

/* Nobody waits: where it fails, plans go on saying that workspaces are not known yet. */
void
_gantry_window_find_sizes (GantryWindow *self)
{
  const GantryForecast *forecast = gantry_document_get_prediction (self->document);
  const GantryCompileSettings *settings = gantry_document_get_settings (self->document);
  g_autofree char *cli = NULL;

  if (!self->find_sizes || forecast == NULL || gantry_document_is_recording (self->document) || forecast->prediction->sizes_known
      || forecast->prediction->beside.bytes[GANTRY_PART_CODE] > 0 /* of a table: no other says more */
      || settings->target.arch[0] != '\0')                        /* of a GPU code is made where there is one */
    return;
  cli = gantry_child_program ();
  if (cli != NULL)
    gantry_document_find_sizes_async (self->document, cli, NULL, NULL);
}

void
gantry_window_set_find_sizes (GantryWindow *self, gboolean find_sizes)
{
  self->find_sizes = find_sizes != FALSE;
  _gantry_window_find_sizes (self);
}
