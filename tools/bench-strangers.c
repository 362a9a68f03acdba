/* SPDX-License-Identifier: Apache-2.0 */
/* What a session costs that was made to do harm: how soon one with a schema that would run for ever is refused, how soon one
 * with a million rows too many ends when it is cancelled, and the most memory of the process meanwhile.
 * Usage: bench-strangers PROGRAM.gir */
#include "core/base/process-memory.h"
#include "core/document/document.h"
#include "tools/bench-figure.h"
#include <glib/gstdio.h>
#include <sqlite3.h>

#define ROUNDS 9
#define MICROSECONDS_UNTIL_CANCEL 50000

static const char for_ever[] = "DROP TABLE meta; CREATE VIEW meta AS WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
                               " SELECT 'k' || x AS key, x AS value FROM n";
static const char rows[] = "INSERT INTO measured WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 1000000)"
                           " SELECT 'k' || x, x FROM n;"
                           "INSERT INTO placements (variant, key, node, kind, memory, decided_by) SELECT '', key, 1, 1, 0, 0 FROM measured";
/* More than a session has, in number and in bytes. */
static const char dims[] = "INSERT INTO dims WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 1000000)"
                           " SELECT 'k' || x, x FROM n";
static const char meta[] = "INSERT INTO meta WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 3000000)"
                           " SELECT 'k' || x, x FROM n";
static const char names[] = "INSERT INTO dims WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 10)"
                            " SELECT printf ('%20000000d', x), x FROM n";

/* Saves a session of the program at @model and runs @sql on it. */
static gboolean
make (const char *model, const char *path, const char *sql, GError **error)
{
  g_autoptr (GantryDocument) document = gantry_document_new ();
  sqlite3 *db = NULL;
  gboolean done;

  if (!gantry_document_open (document, model, NULL, NULL, error) || !gantry_document_save (document, path, error))
    return FALSE;
  done = sqlite3_open (path, &db) == SQLITE_OK && sqlite3_exec (db, sql, NULL, NULL, NULL) == SQLITE_OK;
  if (!done)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "%s: %s", path, sqlite3_errmsg (db));
  sqlite3_close (db);
  return done;
}

static gpointer
cancel_later (gpointer data)
{
  gint64 *when = g_object_get_data (data, "when");

  g_usleep (MICROSECONDS_UNTIL_CANCEL);
  *when = g_get_monotonic_time ();
  g_cancellable_cancel (data);
  return NULL;
}

/* Milliseconds until it ends, from the begin or, with @cancel, from when it was cancelled; -1: it opened before. */
static double
time_open (const char *path, gboolean cancel)
{
  g_autoptr (GantryDocument) document = gantry_document_new ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  GantryProgress progress = { .cancellable = cancellable };
  g_autoptr (GError) error = NULL;
  gint64 since = g_get_monotonic_time ();
  GThread *thread = NULL;
  gint64 end;
  gboolean opened;

  g_object_set_data (G_OBJECT (cancellable), "when", &since);
  if (cancel)
    thread = g_thread_new ("cancel", cancel_later, cancellable);
  opened = gantry_document_open (document, path, NULL, &progress, &error);
  end = g_get_monotonic_time ();
  if (thread != NULL)
    g_thread_join (thread);
  return opened || end < since ? -1 : (double) (end - since) / 1e3;
}

static void
measure (const char *name, const char *path, gboolean cancel)
{
  double times[ROUNDS];
  guint n = 0;

  for (guint i = 0; i < ROUNDS; i++)
    {
      double ms = time_open (path, cancel);

      if (ms >= 0)
        times[n++] = ms;
    }
  if (n > 0)
    bench_print_figure (name, times, n, "ms", "not measured");
  else
    g_printerr ("%s: it opened every time, before it could be refused or cancelled\n", name);
}

/* How soon a session is refused, and the most memory of the process meanwhile. */
static gboolean
measure_refusal (const char *model, const char *path, const char *what, const char *sql, GError **error)
{
  g_autofree char *time = g_strdup_printf ("stranger-%s", what), *most = g_strdup_printf ("stranger-%s-memory", what);
  GantryProcessMemory memory;
  double peak;

  g_unlink (path);
  if (!make (model, path, sql, error))
    return FALSE;
  gantry_process_memory_reset_peak ();
  measure (time, path, FALSE);
  gantry_process_memory_read (&memory);
  peak = (double) memory.peak / (1 << 20);
  bench_print_figure (most, &peak, 1, "MiB", "not measured");
  return TRUE;
}

int
main (int argc, char **argv)
{
  g_autofree char *folder = g_dir_make_tmp ("bench-strangers-XXXXXX", NULL), *path = NULL;
  g_autoptr (GError) error = NULL;
  GantryProcessMemory memory;
  double peak;

  if (argc != 2)
    {
      g_printerr ("bench-strangers: name a program\n");
      return 1;
    }
  path = g_build_filename (folder, "x.gantry", NULL);
  if (make (argv[1], path, for_ever, &error))
    measure ("stranger-refused", path, FALSE);
  g_unlink (path);
  if (error == NULL && make (argv[1], path, rows, &error))
    {
      gantry_process_memory_reset_peak ();
      measure ("stranger-cancelled", path, TRUE);
      gantry_process_memory_read (&memory);
      peak = (double) memory.peak / (1 << 20);
      bench_print_figure ("stranger-memory-most", &peak, 1, "MiB", "not measured");
    }
  if (error == NULL && measure_refusal (argv[1], path, "dims", dims, &error) && measure_refusal (argv[1], path, "meta", meta, &error))
    measure_refusal (argv[1], path, "names", names, &error);
  g_unlink (path);
  g_rmdir (folder);
  if (error != NULL)
    g_printerr ("bench-strangers: %s\n", error->message);
  return error != NULL;
}
