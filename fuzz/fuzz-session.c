/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of session files, made as fuzz-sqlite.h tells. Each opens as a document, whose rows then are looked at, saved
 * and opened again, or ends in an error. */

#include "core/document/document.h"
#include "fuzz/fuzz-file.h"
#include "fuzz/fuzz-sqlite.h"
#include <string.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* Touches what a view touches of a run. */
static void
look_at (const GantryRunResult *run)
{
  const GantryPlan *plan = run->plan;
  guint64 n = 0;

  for (guint lane = 0; lane < gantry_recording_n_lanes (run->recording); lane++)
    n += gantry_recording_n_events (run->recording, lane);
  for (guint32 i = 0; i < plan->n_buffers; i++)
    {
      const GantryPlanBuffer *buffer = &plan->buffers[i];

      g_assert (buffer->shares == GANTRY_NO_BUFFER || buffer->shares < plan->n_buffers);
      g_assert (plan->n_steps == 0 || (buffer->begin <= buffer->end && buffer->end < plan->n_steps));
      n += buffer->size;
    }
  g_assert (n < G_MAXUINT64 || plan->n_buffers > 0);
  for (guint i = 0; i < run->codes->len; i++)
    {
      const GantryCode *code = g_ptr_array_index (run->codes, i);

      g_assert (code->kernel != NULL && code->kind != NULL);
    }
  g_assert (run->uid != NULL && run->name != NULL && run->device != NULL && run->when != NULL);
}

/* What opened is saved, and opens again with the same runs. */
static void
check_again (GantryDocument *document)
{
  g_autofree char *path = fuzz_file_path ("again.gantry");
  g_autoptr (GantryDocument) again = gantry_document_new ();
  g_autoptr (GError) error = NULL;

  g_unlink (path);
  if (!gantry_document_save (document, path, &error))
    {
      g_assert (error->message[0] != '\0');
      return;
    }
  if (!gantry_document_open (again, path, NULL, NULL, &error))
    g_error ("what was saved does not open: %s", error->message);
  g_assert_cmpuint (gantry_document_get_runs (again)->len, ==, gantry_document_get_runs (document)->len);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *path = NULL, *model = NULL;
  g_autoptr (GantryDocument) document = NULL;
  g_autoptr (GError) error = NULL;

  model = fuzz_file_write ("model.gir", fuzz_session_model, strlen (fuzz_session_model));
  path = fuzz_sqlite_write ("s.gantry", data, size);
  if (path == NULL)
    return 0;
  document = gantry_document_new ();
  if (!gantry_document_open (document, path, NULL, NULL, &error))
    {
      g_assert (error != NULL && error->message[0] != '\0');
      return 0;
    }
  for (guint i = 0; i < gantry_document_get_runs (document)->len; i++)
    look_at (g_ptr_array_index (gantry_document_get_runs (document), i));
  check_again (document);
  return 0;
}
