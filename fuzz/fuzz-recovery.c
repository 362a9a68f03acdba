/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of recovery files: sessions with edits beside them, made as fuzz-sqlite.h tells. What is recovered is undone as far as
 * that goes, kept and recovered again, or ends in an error. */

#include "core/document/recovery.h"
#include "fuzz/fuzz-file.h"
#include "fuzz/fuzz-sqlite.h"
#include <string.h>

#define FOLDER "gantry/recovery/" /* in the folder for state */
#define MOST_UNDONE 100u

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

typedef struct
{
  gboolean done;
  char *view;
  GError *error;
} Answer;

static void
recovered (GObject *source, GAsyncResult *result, gpointer data)
{
  Answer *answer = data;

  gantry_document_recover_finish (GANTRY_DOCUMENT (source), result, &answer->view, &answer->error);
  answer->done = TRUE;
}

/* (transfer full) (nullable) */
static GantryDocument *
recover (GantryRecovery *recovery)
{
  g_autoptr (GantryDocument) document = gantry_document_new ();
  Answer answer = { FALSE, NULL, NULL };
  gboolean fine;

  gantry_document_recover_async (document, recovery, NULL, recovered, &answer);
  while (!answer.done)
    g_main_context_iteration (NULL, TRUE);
  fine = answer.error == NULL;
  g_assert (fine || answer.error->message[0] != '\0');
  g_assert (answer.view == NULL || g_utf8_validate (answer.view, -1, NULL));
  g_free (answer.view);
  g_clear_error (&answer.error);
  return fine ? g_steal_pointer (&document) : NULL;
}

/* The user's folder for state is one of this process. */
static void
set_folder (void)
{
  static gsize made;

  if (g_once_init_enter (&made))
    {
      g_autofree char *folder = fuzz_file_path (FOLDER), *state = fuzz_file_path ("");

      g_assert (g_mkdir_with_parents (folder, 0700) == 0);
      g_setenv ("XDG_STATE_HOME", state, TRUE);
      g_once_init_leave (&made, 1);
    }
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *path = NULL, *model = NULL;
  g_autoptr (GPtrArray) list = NULL;
  g_autoptr (GantryDocument) document = NULL, again = NULL;
  GantryRecovery *recovery;

  set_folder ();
  path = fuzz_sqlite_write (FOLDER "r.gantry", data, size);
  model = fuzz_file_write (FOLDER "model.gir", fuzz_session_model, strlen (fuzz_session_model));
  if (path == NULL)
    return 0;
  list = gantry_recovery_list ();
  while (list->len == 0) /* the thread of the one before may hold its lock for a moment */
    {
      g_thread_yield ();
      g_ptr_array_unref (list);
      list = gantry_recovery_list ();
    }
  recovery = g_ptr_array_index (list, 0);
  document = recover (recovery);
  if (document != NULL)
    {
      for (guint i = 0; i < MOST_UNDONE && gantry_document_get_undo_name (document) != NULL; i++)
        gantry_document_undo (document);
      gantry_document_wait (document);
      if (gantry_recovery_save (recovery, document, "view", NULL))
        {
          again = recover (recovery);
          g_assert (again != NULL);
          gantry_document_wait (again);
        }
    }
  gantry_recovery_remove (recovery);
  return 0;
}
