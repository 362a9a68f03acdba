/* SPDX-License-Identifier: Apache-2.0 */
/* A run of another program as a document: its recording is all there is. The model is a stand-in without work, so that
 * every view finds what it expects, and nothing to show. */
#include "core/document/outside-private.h"
#include "core/document/outside.h"
#include "core/base/compare.h"
#include "core/graph/text.h"
#include "profiler/cupti/convert.h"
#include "profiler/import.h"
#include <glib/gstdio.h>
#include <string.h>

static const char stand_in[] = "module \"outside\" {\n  func @main #1 (%1 \"no model\": f32[]) -> (%1) {\n  }\n}\n";

GantryModel *
_gantry_outside_model (const char *path, GError **error)
{
  g_autoptr (GantryModel) model = g_new0 (GantryModel, 1);
  g_autoptr (GantryContext) context = gantry_context_new ();
  GStatBuf status;

  g_atomic_ref_count_init (&model->ref_count);
  g_mutex_init (&model->compiling);
  g_mutex_init (&model->hashing);
  model->path = g_strdup (path);
  model->format = g_strdup (GANTRY_OUTSIDE_FORMAT);
  model->producer = g_strdup ("");
  model->opset = g_strdup ("");
  /* A trace may have gigabytes, and nothing is compiled from it: it is not looked at again. */
  model->hash = g_strdup ("");
  model->file_bytes = g_stat (path, &status) == 0 ? (guint64) status.st_size : 0;
  model->inputs = g_new0 (GantryModelValue, 1);
  model->outputs = g_new0 (GantryModelValue, 1);
  model->bindings = gantry_bindings_new ();
  model->random_weights = -1;
  model->module = gantry_module_from_text (context, stand_in, -1, "outside", error);
  return model->module != NULL ? g_steal_pointer (&model) : NULL;
}

gboolean
gantry_outside_is_trace (const char *path)
{
  /* First: the other readers open and close the file themselves, which gives up the locks of a save under way. */
  if (_gantry_session_is_own (path))
    return FALSE;
  return gantry_cupti_is_capture (path) || gantry_trace_kind (path) != GANTRY_TRACE_NONE;
}

GantryRecording *
gantry_outside_read_trace (const char *path, const GantryProgress *progress, GError **error)
{
  return gantry_cupti_is_capture (path) ? gantry_cupti_open (path, NULL, error) : gantry_trace_import (path, progress, error);
}

/* Median, shortest and longest of the runs. */
static void
take_times (GantryRunResult *result)
{
  guint n = gantry_recording_n_runs (result->recording);
  g_autofree double *lengths = g_new (double, n + 1);

  for (guint i = 0; i < n; i++)
    {
      const GantryRecordedRun *run = gantry_recording_run (result->recording, i);

      lengths[i] = (double) (run->end - run->begin) / 1e6;
    }
  qsort (lengths, n, sizeof *lengths, gantry_compare_doubles);
  result->n_runs = n;
  if (n == 0)
    return;
  result->milliseconds = (lengths[(n - 1) / 2] + lengths[n / 2]) / 2;
  result->milliseconds_min = lengths[0];
  result->milliseconds_max = lengths[n - 1];
}

/* What the recording says, else when the file was written last, which may be when it was copied: then that is said. */
static char *
time_of (const char *path, const GantryRecording *recording)
{
  gint64 when = gantry_recording_when (recording);
  GStatBuf status;
  g_autoptr (GDateTime) time = NULL;
  g_autofree char *text = NULL;

  if (when != 0)
    time = g_date_time_new_from_unix_utc (when / 1000000000);
  else if (g_stat (path, &status) == 0)
    time = g_date_time_new_from_unix_utc (status.st_mtime);
  if (time == NULL)
    return g_strdup ("");
  text = g_date_time_format_iso8601 (time);
  return when != 0 ? g_steal_pointer (&text) : g_strconcat (GANTRY_WHEN_OF_FILE, text, NULL);
}

GantryRunResult *
_gantry_outside_run (const char *path, GantryPlan *plan, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryRunResult) result = gantry_run_result_new ();

  result->recording = gantry_outside_read_trace (path, progress, error);
  if (result->recording == NULL)
    return NULL;
  result->name = g_path_get_basename (path);
  result->device = g_strdup (gantry_recording_device (result->recording));
  result->when = time_of (path, result->recording);
  result->peak_bytes = gantry_recording_peak_bytes (result->recording);
  result->plan = gantry_plan_ref (plan);
  take_times (result);
  return g_steal_pointer (&result);
}

GantryLoaded *
_gantry_outside_load (const char *path, const GantryOpenOptions *options, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryLoaded) loaded = g_new0 (GantryLoaded, 1);
  g_autoptr (GantryModel) model = _gantry_outside_model (path, error);
  GantryRunResult *run;

  if (model == NULL)
    return NULL;
  loaded->path = g_strdup (path);
  loaded->runs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_run_result_unref);
  gantry_compile_settings_init (&loaded->settings);
  loaded->compilation = gantry_compile (model, &loaded->settings, progress, error);
  if (loaded->compilation == NULL)
    return NULL;
  g_assert (loaded->compilation->plan != NULL);
  run = _gantry_outside_run (path, loaded->compilation->plan, progress, error);
  if (run == NULL)
    return NULL;
  g_ptr_array_add (loaded->runs, run);
  loaded->forecast = _gantry_document_forecast (loaded->compilation, progress);
  return g_steal_pointer (&loaded);
}

GPtrArray *
gantry_runs_read (const char *path, const GantryProgress *progress, GError **notice, GError **error)
{
  g_autoptr (GPtrArray) runs = NULL;
  g_autoptr (GantryPlan) plan = NULL;
  GantryRunResult *run;

  if (_gantry_session_is_session (path) && !gantry_outside_is_trace (path))
    return _gantry_session_load_runs (path, NULL, NULL, progress != NULL ? progress->cancellable : NULL, notice, error);
  plan = gantry_plan_new (0, 0);
  run = _gantry_outside_run (path, plan, progress, error);
  if (run == NULL)
    return NULL;
  runs = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_run_result_unref);
  g_ptr_array_add (runs, run);
  return g_steal_pointer (&runs);
}
