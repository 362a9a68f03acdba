/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions under bad luck and many hands: a save that is broken off at any of its calls leaves a file that opens with what the
 * last whole save held, writers side by side lose nothing of each other's, files made to harm are refused. */
#include "tests/core/document/document-test.h"
#include "tests/core/document/faulty-vfs.h"
#include "tests/random-seed.h"
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

static char *program; /* this one: started again as a writer that is killed, or as one of many */

typedef struct
{
  char *folder, *path;
} Place;

static void
set_up (Place *place, gconstpointer data)
{
  place->folder = g_dir_make_tmp ("gantry-test-XXXXXX", NULL);
  place->path = g_build_filename (place->folder, "x.gantry", NULL);
}

static void
tear_down (Place *place, gconstpointer data)
{
  g_autofree char *journal = g_strconcat (place->path, "-journal", NULL);

  g_unlink (place->path);
  g_unlink (journal);
  g_assert_cmpint (g_rmdir (place->folder), ==, 0);
  g_free (place->folder);
  g_free (place->path);
}

static void
add_run (GantryDocument *document, const char *name)
{
  g_autoptr (GantryRunResult) result = gantry_run_result_new ();

  result->name = g_strdup (name);
  result->device = g_strdup ("none");
  result->when = g_strdup ("2026-01-01T00:00:00Z");
  result->n_runs = 1;
  result->plan = gantry_plan_ref (gantry_document_get_plan (document));
  result->recording = gantry_recording_from_plan (gantry_compilation_module (gantry_document_get_compilation (document)), result->plan);
  gantry_document_add_run (document, result);
}

static GantryDocument *
try_open (const Place *place, GError **error)
{
  g_autoptr (GantryDocument) document = gantry_document_new ();

  return gantry_document_open (document, place->path, NULL, NULL, error) ? g_steal_pointer (&document) : NULL;
}

static GantryDocument *
reopen (const Place *place)
{
  g_autoptr (GError) error = NULL;
  GantryDocument *document = try_open (place, &error);

  g_assert_no_error (error);
  return document;
}

static void
save (GantryDocument *document, const Place *place)
{
  g_autoptr (GError) error = NULL;

  gantry_document_save (document, place->path, &error);
  g_assert_no_error (error);
}

/* A saved session with one run of data/programs/@name. */
static GantryDocument *
make_of (const Place *place, const char *name)
{
  GantryDocument *document = doc_open (name, FALSE);

  gantry_document_set_notes (document, "before");
  add_run (document, "first");
  save (document, place);
  return document;
}

static GantryDocument *
make (const Place *place)
{
  return make_of (place, "transformer-tiny.gir");
}

static gboolean
has_run (GantryDocument *document, const char *name)
{
  GPtrArray *runs = gantry_document_get_runs (document);

  for (guint i = 0; i < runs->len; i++)
    if (strcmp (((GantryRunResult *) g_ptr_array_index (runs, i))->name, name) == 0)
      return TRUE;
  return FALSE;
}

/* Another process */

/* "--kill CALL PATH": a save that ends in the middle of its CALLth call. "--add NAME N PATH": N saves of a run each. */
static int
be_a_writer (int argc, char **argv)
{
  gboolean kills = strcmp (argv[1], "--kill") == 0;
  Place place = { NULL, argv[argc - 1] };
  g_autoptr (GantryDocument) document = NULL;
  guint n = kills ? 1 : (guint) g_ascii_strtoull (argv[3], NULL, 10);

  if (kills)
    faulty_vfs_install ();
  document = reopen (&place);
  if (kills)
    {
      gantry_document_set_notes (document, "after");
      faulty_vfs_arm (FAULT_KILL, (guint) g_ascii_strtoull (argv[2], NULL, 10));
    }
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("%s %u", kills ? "killed" : argv[2], i);

      add_run (document, name);
      save (document, &place);
      printf ("%u\n", i + 1); /* saves that are complete */
      fflush (stdout);
    }
  return 0;
}

/* "--probe PATH FILE": whether another process can begin to write. */
static int
be_a_probe (const char *path)
{
  sqlite3 *db = NULL;
  int code = sqlite3_open (path, &db) == SQLITE_OK ? sqlite3_exec (db, "BEGIN IMMEDIATE", NULL, NULL, NULL) : SQLITE_ERROR;

  sqlite3_close (db);
  return code == SQLITE_OK ? 0 : code == SQLITE_BUSY ? 1 : 2;
}

static GSubprocess *
start (const char *const *argv)
{
  g_autoptr (GError) error = NULL;
  GSubprocess *process = g_subprocess_newv (argv, G_SUBPROCESS_FLAGS_STDOUT_SILENCE, &error);

  g_assert_no_error (error);
  return process;
}

/* Tests */

static void
check_old_or_new (const Place *place, gboolean whole)
{
  g_autoptr (GantryDocument) again = reopen (place);
  gboolean is_new = has_run (again, "killed 0");

  g_assert_true (has_run (again, "first"));
  g_assert_cmpstr (gantry_document_get_notes (again), ==, is_new ? "after" : "before");
  g_assert_true (is_new || !whole);
  g_assert_cmpuint (gantry_document_get_runs (again)->len, ==, is_new ? 2 : 1);
}

/* Every write, sync, truncation and deletion of one save: whatever a kill leaves behind opens. */
static void
test_killed (Place *place, gconstpointer name)
{
  g_autoptr (GantryDocument) document = make_of (place, name);
  g_autofree char *bytes = NULL;
  gsize length;
  int status = 99;
  guint call = 0, old = 0, n = 0, step = strcmp (name, "transformer-tiny.gir") == 0 ? 3 : 11;

  g_assert_true (g_file_get_contents (place->path, &bytes, &length, NULL));
  /* The first of them all, then some: neighbours write pages of the same kind. */
  for (call = 1; status == 99; call += call < 12 || g_test_slow () ? 1 : step)
    {
      g_autofree char *number = g_strdup_printf ("%u", call), *journal = g_strconcat (place->path, "-journal", NULL);
      const char *argv[] = { program, "--kill", number, place->path, NULL };
      g_autoptr (GSubprocess) process = NULL;

      g_unlink (journal);
      g_assert_true (g_file_set_contents (place->path, bytes, (gssize) length, NULL));
      process = start (argv);
      g_subprocess_wait (process, NULL, NULL);
      g_assert_true (g_subprocess_get_if_exited (process));
      status = g_subprocess_get_exit_status (process);
      g_assert_true (status == 0 || status == 99);
      old += g_file_test (journal, G_FILE_TEST_EXISTS);
      check_old_or_new (place, status == 0);
      n++;
    }
  g_test_message ("%s: a save of %u calls, interrupted at %u of them, %u left a journal; all open", (const char *) name, call, n, old);
  g_assert_cmpuint (old, >, 5);
}

/* A process that saves again and again is killed at some time. */
static void
test_any_time (Place *place, gconstpointer data)
{
  g_autoptr (GRand) random = test_rand (5);
  guint n_kills = g_test_slow () ? 670 : 8, most = 0;

  for (guint i = 0; i < n_kills; i++)
    {
      g_autoptr (GantryDocument) document = make (place), again = NULL;
      const char *argv[] = { program, "--add", "w", "1000", place->path, NULL };
      g_autoptr (GSubprocess) process = g_subprocess_newv (argv, G_SUBPROCESS_FLAGS_STDOUT_PIPE, NULL);
      g_autoptr (GBytes) bytes = NULL;
      g_autofree char *text = NULL, *journal = g_strconcat (place->path, "-journal", NULL);
      g_auto (GStrv) lines = NULL;
      guint n;

      g_usleep ((gulong) g_rand_int_range (random, 5000, 300000));
      g_subprocess_force_exit (process);
      g_assert_true (g_subprocess_communicate (process, NULL, NULL, &bytes, NULL, NULL));
      text = g_bytes_get_size (bytes) > 0 ? g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes)) : g_strdup ("");
      lines = g_strsplit (text, "\n", -1);
      n = g_strv_length (lines) > 1 ? (guint) g_ascii_strtoull (lines[g_strv_length (lines) - 2], NULL, 10) : 0;
      again = reopen (place);
      g_assert_true (has_run (again, "first"));
      g_assert_cmpuint (gantry_document_get_runs (again)->len, >=, 1 + n);
      g_assert_cmpuint (gantry_document_get_runs (again)->len, <=, 2 + n);
      most = MAX (most, n);
      g_unlink (place->path);
      g_unlink (journal);
    }
  g_test_message ("%u kills at random times, after up to %u saves; all open", n_kills, most);
}

static void
test_faults (Place *place, gconstpointer fault)
{
  g_autoptr (GantryDocument) document = make (place);
  gboolean done = FALSE;
  guint call;

  gantry_document_set_notes (document, "after");
  add_run (document, "killed 0");
  for (call = 1; !done; call += call < 12 || g_test_slow () ? 1 : 5)
    {
      g_autoptr (GError) error = NULL;

      faulty_vfs_arm (GPOINTER_TO_UINT (fault), call);
      done = gantry_document_save (document, place->path, &error);
      faulty_vfs_arm (FAULT_NONE, 0);
      g_assert_true (done || error != NULL);
      check_old_or_new (place, done);
    }
  g_assert_cmpuint (call, >, 12);
}

/* A session that could not be made is not there: what lies at its name is whole, or nothing. */
static void
test_new (Place *place, gconstpointer fault)
{
  g_autoptr (GantryDocument) document = doc_open ("mlp.gir", FALSE);
  g_autofree char *journal = g_strconcat (place->path, "-journal", NULL);
  gboolean done = FALSE;
  guint call;

  for (call = 1; !done; call += call < 12 ? 1 : 5)
    {
      g_autoptr (GError) error = NULL;

      faulty_vfs_arm (GPOINTER_TO_UINT (fault), call);
      done = gantry_document_save (document, place->path, &error);
      faulty_vfs_arm (FAULT_NONE, 0);
      g_assert_true (done || error != NULL);
      g_test_message ("call %u: %s", call, done ? "saved" : error->message);
      g_assert_true (g_file_test (place->path, G_FILE_TEST_EXISTS) == done);
      g_assert_false (g_file_test (journal, G_FILE_TEST_EXISTS));
    }
  g_assert_cmpuint (call, >, 5);
  g_object_unref (reopen (place));
}

static void
test_many_writers (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = make (place), again = NULL;
  g_autoptr (GPtrArray) writers = g_ptr_array_new_with_free_func (g_object_unref);
  guint n_writers = GPOINTER_TO_UINT (data), n_runs = 3;

  for (guint i = 0; i < n_writers; i++)
    {
      g_autofree char *name = g_strdup_printf ("writer %u", i), *count = g_strdup_printf ("%u", n_runs);
      const char *argv[] = { program, "--add", name, count, place->path, NULL };

      g_ptr_array_add (writers, start (argv));
    }
  for (guint i = 0; i < n_writers; i++)
    g_assert_true (g_subprocess_wait_check (g_ptr_array_index (writers, i), NULL, NULL));
  again = reopen (place);
  g_assert_cmpuint (gantry_document_get_runs (again)->len, ==, 1 + n_writers * n_runs);
  for (guint i = 0; i < n_writers * n_runs; i++)
    {
      g_autofree char *name = g_strdup_printf ("writer %u %u", i / n_runs, i % n_runs);

      g_assert_true (has_run (again, name));
    }
  /* The one that was open all the time gets them with its next save, and they modify nothing. */
  save (document, place);
  g_assert_cmpuint (gantry_document_get_runs (document)->len, ==, 1 + n_writers * n_runs);
}

/* Runs of both are kept; settings are of the one who changed them, and where both did nothing is written. */
static void
test_two_documents (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) a = make (place), b = reopen (place), c = NULL;
  g_autoptr (GError) error = NULL;
  gboolean modified = TRUE;

  gantry_document_set_notes (b, "of b");
  add_run (b, "run of b");
  save (b, place);
  add_run (a, "run of a");
  save (a, place); /* has changed no setting: those of b stay */
  g_object_get (a, "modified", &modified, NULL);
  g_assert_false (modified);
  g_assert_true (has_run (a, "run of b"));
  c = reopen (place);
  g_assert_cmpstr (gantry_document_get_notes (c), ==, "of b");
  g_assert_cmpuint (gantry_document_get_runs (c)->len, ==, 3);
  gantry_document_set_notes (c, "of c");
  save (c, place);
  gantry_document_set_notes (b, "of b again");
  g_assert_false (gantry_document_save (b, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_CONFLICT);
  g_clear_object (&c);
  c = reopen (place);
  g_assert_cmpstr (gantry_document_get_notes (c), ==, "of c");
}

static void
test_other_model (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = make (place), other = doc_open ("optimizer-8.gir", FALSE), again = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_false (gantry_document_save (other, place->path, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  again = reopen (place);
  g_assert_true (has_run (again, "first"));
}

static void
run_sql (const Place *place, const char *sql)
{
  sqlite3 *db = NULL;
  char *why = NULL;

  g_assert_cmpint (sqlite3_open (place->path, &db), ==, SQLITE_OK);
  if (sqlite3_exec (db, sql, NULL, NULL, &why) != SQLITE_OK)
    g_error ("%s: %s", sql, why);
  sqlite3_close (db);
}

#define ENDLESS "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x, x FROM c"

/* What would run code of the file's own, or read for ever. */
static void
test_hostile_schema (Place *place, gconstpointer data)
{
  static const char *const attacks[] = {
    "DROP TABLE meta; CREATE VIEW meta (key, value) AS " ENDLESS,
    "DROP TABLE dims; CREATE VIEW dims (name, size) AS " ENDLESS,
    "DROP TABLE placements; CREATE VIEW Placements AS " ENDLESS,
    "DROP TABLE dims; CREATE TABLE dims (name TEXT, size INTEGER GENERATED ALWAYS AS (length (hex (zeroblob (1e8)))) VIRTUAL);"
    " INSERT INTO dims (name) VALUES ('n')",
    "DROP TABLE measured; CREATE TABLE measured (key TEXT, us REAL AS (abs (key)))",
    "DROP TABLE measured; CREATE TABLE measured (key TEXT, us REAL CHECK (length (hex (zeroblob (1e8))) > 0))",
    "CREATE INDEX own ON runs (length (hex (zeroblob (1e6))))",
    "CREATE INDEX own ON runs (uid) WHERE length (hex (zeroblob (1e6))) > 0",
    "DROP TABLE code; CREATE VIRTUAL TABLE code USING fts5 (a)",
  };

  for (guint i = 0; i < G_N_ELEMENTS (attacks); i++)
    {
      g_autoptr (GantryDocument) document = make (place), again = NULL;
      g_autoptr (GError) error = NULL, save_error = NULL;

      run_sql (place, attacks[i]);
      again = try_open (place, &error);
      g_assert_null (again);
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
      g_assert_false (gantry_document_save (document, place->path, &save_error));
      g_assert_nonnull (save_error);
      g_unlink (place->path);
    }
}

/* Whether a file is a session is asked while another thread of the process saves it: the locks of that save stay. */
static void
test_locks (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = make (place), again = NULL;
  const char *argv[] = { program, "--probe", place->path, "-", NULL };
  g_autoptr (GSubprocess) before = NULL, after = NULL;
  sqlite3 *db = NULL;

  g_assert_cmpint (sqlite3_open (place->path, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db, "BEGIN IMMEDIATE", NULL, NULL, NULL), ==, SQLITE_OK);
  before = start (argv);
  g_subprocess_wait (before, NULL, NULL);
  g_assert_cmpint (g_subprocess_get_exit_status (before), ==, 1);
  again = reopen (place);
  after = start (argv);
  g_subprocess_wait (after, NULL, NULL);
  g_assert_cmpint (g_subprocess_get_exit_status (after), ==, 1);
  sqlite3_close (db);
}

/* Tables and views that somebody keeps beside ours are theirs. */
static void
test_foreign_tables (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = make (place), again = NULL;

  run_sql (place, "CREATE TABLE mine (a DEFAULT 3, b CHECK (b > 0)); CREATE VIEW slow AS SELECT * FROM runs;"
                  "CREATE INDEX runs_by_device ON runs (device, milliseconds)");
  again = reopen (place);
  gantry_document_set_notes (again, "more");
  save (again, place);
}

static void
test_no_file (Place *place, gconstpointer data)
{
  g_autoptr (GError) error = NULL, device_error = NULL;
  g_autoptr (GantryDocument) document = gantry_document_new ();

  g_assert_cmpint (mkfifo (place->path, 0600), ==, 0);
  g_assert_false (gantry_document_open (document, place->path, NULL, NULL, &error)); /* and does not wait for a writer */
  g_assert_nonnull (error);
  g_assert_false (gantry_document_open (document, "/dev/zero", NULL, NULL, &device_error));
  g_assert_nonnull (device_error);
}

/* A journal may name a file that SQLite deletes once it has rolled back. */
static void
test_hostile_journal (Place *place, gconstpointer data)
{
  static const guint8 mark[8] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
  g_autoptr (GantryDocument) document = make (place), again = NULL;
  g_autofree char *journal = g_strconcat (place->path, "-journal", NULL);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (GError) error = NULL;

  g_byte_array_set_size (bytes, 1024);
  memset (bytes->data, 0, 1024);
  g_byte_array_append (bytes, mark, sizeof mark);
  g_assert_true (g_file_set_contents (journal, (const char *) bytes->data, bytes->len, NULL));
  again = try_open (place, &error);
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_assert_null (again);
}

int
main (int argc, char **argv)
{
  if (argc > 3 && strcmp (argv[1], "--probe") == 0)
    return be_a_probe (argv[2]);
  if (argc > 3 && (strcmp (argv[1], "--kill") == 0 || strcmp (argv[1], "--add") == 0))
    return be_a_writer (argc, argv);
  program = argv[0];
  g_test_init (&argc, &argv, NULL);
  faulty_vfs_install ();
#define ADD(name, data, function) g_test_add ("/writers/" name, Place, data, set_up, function, tear_down)
  ADD ("killed/transformer", "transformer-tiny.gir", test_killed);
  ADD ("killed/optimizer", "optimizer-8.gir", test_killed);
  ADD ("killed/mlp", "mlp.gir", test_killed);
  ADD ("any-time", NULL, test_any_time);
  ADD ("full", GUINT_TO_POINTER (FAULT_FULL), test_faults);
  ADD ("io", GUINT_TO_POINTER (FAULT_IO), test_faults);
  ADD ("short-write", GUINT_TO_POINTER (FAULT_SHORT_WRITE), test_faults);
  ADD ("new-full", GUINT_TO_POINTER (FAULT_FULL), test_new);
  ADD ("four", GUINT_TO_POINTER (4), test_many_writers);
  ADD ("sixteen", GUINT_TO_POINTER (16), test_many_writers);
  ADD ("two-documents", NULL, test_two_documents);
  ADD ("other-model", NULL, test_other_model);
  ADD ("locks", NULL, test_locks);
  ADD ("hostile-schema", NULL, test_hostile_schema);
  ADD ("foreign-tables", NULL, test_foreign_tables);
  ADD ("no-file", NULL, test_no_file);
  ADD ("hostile-journal", NULL, test_hostile_journal);
  return g_test_run ();
}
