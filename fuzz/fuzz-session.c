/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of session files. Bytes that begin as an SQLite file are one; all others are statements that make one, so
 * that rows are changed as text and every page stays whole. Either opens as a document, whose rows then are looked at, saved
 * and opened again, or ends in an error. */

#include "core/document/document.h"
#include "fuzz/fuzz-file.h"
#include <sqlite3.h>
#include <string.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC (sqlite3, sqlite3_close)

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* What sessions of the corpus are of: it lies beside them. */
static const char model_text[]
    = "module \"m\" { func @main #1 (%1 \"x\": f32[2,4], %2 \"w\": f32[4,4] {role = \"parameter\"}) -> (%4) {"
      "%3 \"a\" = dot_general(%1, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[2,4] scope(\"layer\")"
      "%4 \"y\" = tanh(%3): f32[2,4] scope(\"layer\") } }";

/* The statements make a file of their own, and nothing else on this machine. */
static int
authorize (void *data, int action, const char *a, const char *b, const char *c, const char *d)
{
  return action == SQLITE_ATTACH || action == SQLITE_DETACH
           || (action == SQLITE_PRAGMA && g_ascii_strcasecmp (a, "page_size") != 0)
         ? SQLITE_DENY : SQLITE_OK;
}

static int
give_up (void *data)
{
  return ++*(guint *) data > 20;
}

/* (transfer full) (nullable): NULL where the statements make no file */
static char *
make_by_statements (const char *sql)
{
  g_autoptr (sqlite3) db = NULL;
  guint looks = 0;
  sqlite3_int64 size = 0;
  guint8 *bytes;
  char *path;

  g_assert (sqlite3_open (":memory:", &db) == SQLITE_OK);
  sqlite3_exec (db, "PRAGMA application_id = 1198421106", NULL, NULL, NULL);
  sqlite3_limit (db, SQLITE_LIMIT_LENGTH, 1 << 20);
  sqlite3_set_authorizer (db, authorize, NULL);
  sqlite3_progress_handler (db, 10000, give_up, &looks);
  sqlite3_exec (db, sql, NULL, NULL, NULL); /* as far as they go */
  sqlite3_exec (db, "COMMIT", NULL, NULL, NULL);
  bytes = sqlite3_serialize (db, "main", &size, 0);
  path = bytes != NULL ? fuzz_file_write ("s.gantry", bytes, (gsize) size) : NULL;
  sqlite3_free (bytes);
  return path;
}

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
    g_assert (((const GantryCode *) g_ptr_array_index (run->codes, i))->kernel != NULL);
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
  g_autofree char *sql = NULL, *path = NULL, *model = NULL;
  g_autoptr (GantryDocument) document = NULL;
  g_autoptr (GError) error = NULL;

  model = fuzz_file_write ("model.gir", model_text, strlen (model_text));
  if (size >= 16 && memcmp (data, "SQLite format 3", 16) == 0)
    path = fuzz_file_write ("s.gantry", data, size);
  else
    {
      sql = g_strndup ((const char *) data, size);
      path = make_by_statements (sql);
    }
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
