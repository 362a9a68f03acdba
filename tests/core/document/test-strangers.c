/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions that somebody made to do harm: each ends in an error or where it is cancelled, and what it costs until then is
 * counted: instructions of SQLite's machine and bytes that it holds. Every connection of this process is counted, for the
 * library calls count_connection() for each that is opened. */
#include "core/base/process-limits.h"
#include "core/base/cache.h"
#include "core/document/outside.h"
#include "tests/core/document/document-test.h"
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_STEPS 2000000
#define MOST_BYTES ((gint64) 200 << 20)

/* The library's hook takes no argument of ours. */
static struct
{
  gint64 steps, rows;
  gint64 cancel_at; /* row, -1: never */
  GCancellable *cancellable;
} counted;

static int
count (unsigned event, void *data, void *statement, void *time)
{
  if (event == SQLITE_TRACE_PROFILE)
    counted.steps += sqlite3_stmt_status (statement, SQLITE_STMTSTATUS_VM_STEP, TRUE);
  else if (counted.rows++ == counted.cancel_at)
    g_cancellable_cancel (counted.cancellable);
  return 0;
}

static int
count_connection (sqlite3 *db, const char **why, const struct sqlite3_api_routines *api)
{
  return sqlite3_trace_v2 (db, SQLITE_TRACE_PROFILE | SQLITE_TRACE_ROW, count, NULL);
}

typedef struct
{
  char *folder, *path;
} Place;

static void
set_up (Place *place, gconstpointer data)
{
  g_autofree char *model = doc_file ("data/models/sample.onnx");
  g_autoptr (GantryDocument) document = gantry_document_new ();
  g_autoptr (GError) error = NULL;

  place->folder = g_dir_make_tmp ("gantry-test-XXXXXX", NULL);
  place->path = g_build_filename (place->folder, "x.gantry", NULL);
  gantry_document_open (document, model, NULL, NULL, &error);
  g_assert_no_error (error);
  gantry_document_save (document, place->path, &error);
  g_assert_no_error (error);
}

static void
tear_down (Place *place, gconstpointer data)
{
  g_unlink (place->path);
  g_rmdir (place->folder);
  g_free (place->folder);
  g_free (place->path);
}

static void
run_sql (const Place *place, const char *sql)
{
  sqlite3 *db = NULL;
  char *why = NULL;

  g_assert_cmpint (sqlite3_open (place->path, &db), ==, SQLITE_OK);
  sqlite3_exec (db, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF", NULL, NULL, NULL);
  if (sqlite3_exec (db, sql, NULL, NULL, &why) != SQLITE_OK)
    g_error ("%s: %s", sql, why);
  sqlite3_close (db);
}

/* Opens the session, to be cancelled at row @cancel_at. Returns: whether it opened */
static gboolean
open_counted (const Place *place, gint64 cancel_at, GError **error)
{
  g_autoptr (GantryDocument) document = gantry_document_new ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  GantryProgress progress = { .cancellable = cancellable };
  gboolean opened;

  counted.steps = counted.rows = 0;
  counted.cancel_at = cancel_at;
  counted.cancellable = cancellable;
  sqlite3_memory_highwater (TRUE);
  opened = gantry_document_open (document, place->path, NULL, &progress, error);
  g_test_message ("%" G_GINT64_FORMAT " steps, %" G_GINT64_FORMAT " rows, %lld bytes, %s", counted.steps, counted.rows,
                  (long long) sqlite3_memory_highwater (FALSE), error != NULL && *error != NULL ? (*error)->message : "opened");
  g_assert_cmpint (counted.steps, <, MOST_STEPS);
  g_assert_cmpint (sqlite3_memory_highwater (FALSE), <, MOST_BYTES);
  return opened;
}

#define FOR_EVER "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT "
/* A table that is taken away, and what stands in its place; or something that is put beside it. */
static const char *const schemas[] = {
  "DROP TABLE meta; CREATE VIEW meta AS " FOR_EVER "'k' || x AS key, x AS value FROM n",
  "DROP TABLE passes; CREATE VIEW passes (position, name, title, enabled) AS " FOR_EVER "x, 'a', 'b', 1 FROM n",
  "DROP TABLE dims; CREATE TABLE dims (name TEXT PRIMARY KEY, size INTEGER AS (length (zeroblob (length (name) + 200000000))))",
  "DROP TABLE inputs; CREATE TABLE inputs (name TEXT PRIMARY KEY, value TEXT GENERATED ALWAYS AS (printf ('%999999d', 1)))",
  "DROP TABLE measured; CREATE TABLE measured (key TEXT, us REAL CHECK (length (zeroblob (100000000)) > us))",
  "DROP TABLE measured; CREATE TABLE measured (key TEXT, us REAL DEFAULT (randomblob (100000000)))",
  "CREATE INDEX x ON measured (length (zeroblob (100000000)))",
  "CREATE INDEX x ON measured (us) WHERE length (zeroblob (100000000)) > us",
  "DROP TABLE placements; CREATE VIRTUAL TABLE placements USING rtree (a, b, c)",
  /* What SQLite takes for a computed column however it is written. */
  "DROP TABLE dims; CREATE TABLE dims (name TEXT PRIMARY KEY, size INTEGER as/**/(length (hex (zeroblob (200000000)))));"
  "INSERT INTO dims (name) VALUES ('n')",
  "DROP TABLE meta; CREATE TABLE meta (key TEXT PRIMARY KEY, v, value TEXT AS\n  (v))",
  "DROP TABLE inputs; CREATE TABLE inputs (name TEXT PRIMARY KEY, value TEXT AS  (name) STORED)",
  "CREATE INDEX x ON runs (name || 'x')",
  "CREATE INDEX x ON meta(value LIKE '%a%a%a%a%a%a%a%ab')",
  "CREATE TABLE recovery (key TEXT PRIMARY KEY, value BLOB AS/**/(zeroblob (60000000)))",
  "CREATE TRIGGER x AFTER INSERT ON meta BEGIN SELECT hex (zeroblob (100000000)); END",
  /* What would be changed, or keep a run from being deleted. */
  "CREATE TABLE other (run REFERENCES runs (id) ON DELETE RESTRICT)",
  "CREATE TABLE other (run DEFAULT (zeroblob (100000000)) REFERENCES Runs (id) ON DELETE SET DEFAULT)",
  /* A virtual table that says to have pages of its own. */
  "PRAGMA writable_schema = ON; DROP TABLE placements; CREATE VIRTUAL TABLE placements USING rtree (a, b, c);"
  "UPDATE sqlite_master SET rootpage = 2 WHERE name = 'placements'",
};

static void
test_schemas (Place *place, gconstpointer data)
{
  for (guint i = 0; i < G_N_ELEMENTS (schemas); i++)
    {
      g_autofree char *good = NULL;
      g_autoptr (GError) error = NULL;
      gsize size;

      g_test_message ("%s", schemas[i]);
      g_assert_true (g_file_get_contents (place->path, &good, &size, NULL));
      run_sql (place, schemas[i]);
      g_assert_false (open_counted (place, -1, &error));
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
      g_assert_cmpint (counted.steps, <, 100000); /* it is refused before anything of it is read */
      g_assert_true (g_file_set_contents (place->path, good, (gssize) size, NULL));
    }
}

/* Views and tables by other names are nobody's business: they are not run. */
static void
test_unread (Place *place, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  run_sql (place, "CREATE VIEW other AS " FOR_EVER "x FROM n;"
                  "CREATE TABLE more (a, b AS (zeroblob (100000000)));"
                  "INSERT INTO more VALUES (1);");
  open_counted (place, -1, &error);
  g_assert_no_error (error);
}

/* What SQLite rolls back, with the name of a file that it deletes afterwards: the first page as it is. */
static char *
make_journal (const char *path, const char *victim, gsize *size)
{
  static const guint8 mark[8] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
  g_autofree char *pages = NULL;
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  guint32 sum = 0, page, name_sum = 0;
  gsize length;
#define NUMBER(n) g_byte_array_append (bytes, (const guint8 *) &(guint32){ GUINT32_TO_BE ((guint32) (n)) }, 4)

  g_assert_true (g_file_get_contents (path, &pages, &length, NULL));
  page = (guint32) ((guint8) pages[16] << 8 | (guint8) pages[17]);
  for (guint32 i = page - 200; i < page && i > 0; i -= 200)
    sum += (guint8) pages[i];
  for (guint i = 0; victim[i] != '\0'; i++)
    name_sum += (guint32) (gint32) (signed char) victim[i];
  g_byte_array_append (bytes, mark, sizeof mark);
  NUMBER (1); /* pages that are saved here, of a database of so many; sector and page */
  NUMBER (0);
  NUMBER (length / page);
  NUMBER (512);
  NUMBER (page);
  g_byte_array_set_size (bytes, 512);
  memset (bytes->data + 28, 0, 512 - 28);
  NUMBER (1);
  g_byte_array_append (bytes, (const guint8 *) pages, page);
  NUMBER (sum);
  NUMBER (0x40000000 / page + 1);
  g_byte_array_append (bytes, (const guint8 *) victim, (guint) strlen (victim));
  NUMBER (strlen (victim));
  NUMBER (name_sum);
  g_byte_array_append (bytes, mark, sizeof mark);
#undef NUMBER
  *size = bytes->len;
  return (char *) g_byte_array_free (g_steal_pointer (&bytes), FALSE);
}

/* The session is opened by its name, by a link to it and through a link to its folder: each time SQLite finds the journal that lies
 * beside the file itself. */
static void
test_journal (Place *place, gconstpointer data)
{
  g_autofree char *victim = g_build_filename (place->folder, "victim", NULL), *journal = g_strconcat (place->path, "-journal", NULL);
  g_autofree char *link = g_build_filename (place->folder, "link.gantry", NULL), *folder = g_build_filename (place->folder, "f", NULL);
  g_autofree char *through = g_build_filename (folder, "link.gantry", NULL);
  const char *const names[] = { place->path, link, through };
  g_autofree char *bytes = NULL;
  gsize size;

  g_assert_true (g_file_set_contents (victim, "precious", -1, NULL));
  g_assert_cmpint (symlink ("x.gantry", link), ==, 0);
  g_assert_cmpint (symlink (".", folder), ==, 0);
  bytes = make_journal (place->path, victim, &size);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (GantryDocument) document = gantry_document_new ();
      g_autoptr (GError) error = NULL;
      const char *const none[] = { "0", NULL };

      g_assert_true (g_file_set_contents (journal, bytes, (gssize) size, NULL));
      g_assert_false (gantry_document_open (document, names[i], NULL, NULL, &error));
      g_assert_true (g_file_test (victim, G_FILE_TEST_EXISTS));
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
      g_clear_error (&error);
      g_assert_false (gantry_runs_delete (names[i], none, &error));
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
      g_assert_true (g_file_test (victim, G_FILE_TEST_EXISTS));
    }
  g_unlink (journal);
  g_unlink (link);
  g_unlink (folder);
  g_unlink (victim);
}

/* What SQLite writes beside a session is no way to another file. */
static void
test_beside (Place *place, gconstpointer data)
{
  static const char *const ends[] = { "-journal", "-wal", "-shm" };
  g_autofree char *victim = g_build_filename (place->folder, "victim", NULL);

  g_assert_true (g_file_set_contents (victim, "precious", -1, NULL));
  for (guint i = 0; i < 2 * G_N_ELEMENTS (ends); i++)
    {
      g_autofree char *beside = g_strconcat (place->path, ends[i / 2], NULL), *text = NULL;
      g_autoptr (GError) error = NULL;

      g_assert_cmpint (i % 2 == 0 ? symlink ("victim", beside) : link (victim, beside), ==, 0);
      g_assert_false (open_counted (place, -1, &error));
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
      g_assert_true (g_file_get_contents (victim, &text, NULL, NULL));
      g_assert_cmpstr (text, ==, "precious");
      g_unlink (beside);
    }
  g_unlink (victim);
}

/* As many rows as a file can have: what reads them ends where it is cancelled. */
static void
test_rows (Place *place, gconstpointer data)
{
  static const char *const fillings[] = {
    ("INSERT INTO placements (variant, key, node, kind, memory, decided_by) WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 400000)"
     " SELECT '', printf ('%016x', x), x, 1, 0, 0 FROM n"),
    "INSERT INTO inputs WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 400000) SELECT 'k' || x, x FROM n",
    "INSERT INTO dims WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 400000) SELECT 'k' || x, x FROM n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (fillings); i++)
    {
      g_autofree char *good = NULL;
      g_autoptr (GError) error = NULL;
      gsize size;

      g_test_message ("%s", fillings[i]);
      g_assert_true (g_file_get_contents (place->path, &good, &size, NULL));
      run_sql (place, fillings[i]);
      g_assert_false (open_counted (place, 1000, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_cmpint (counted.rows, <, 20000);
      g_assert_true (g_file_set_contents (place->path, good, (gssize) size, NULL));
    }
}

/* More than a session has of anything, and nobody who cancels: refused by the name of the table once its limit is reached. */
static void
test_limits (Place *place, gconstpointer data)
{
#define NUMBERS(n) "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < " #n ")"
  static const struct
  {
    const char *table, *sql;
    gint64 most_rows;
  } fillings[] = {
    { "dims", "INSERT INTO dims " NUMBERS (100000) " SELECT 'k' || x, x FROM n", 12000 },
    { "inputs", "INSERT INTO inputs " NUMBERS (100000) " SELECT 'k' || x, x FROM n", 12000 },
    { "meta", "INSERT INTO meta " NUMBERS (100000) " SELECT 'k' || x, x FROM n", 3000 },
    { "passes", "INSERT INTO passes " NUMBERS (100000) " SELECT x + 1000, 'p' || x, 'p', 0, 0, 0, 0, 0, 0 FROM n", 12000 },
    { "variants", "INSERT INTO variants (position, name) " NUMBERS (100000) " SELECT x + 1000, 'p' || x FROM n", 12000 },
    { "dims", "INSERT INTO dims " NUMBERS (8) " SELECT printf ('%500000d', x), x FROM n", 3000 },
    { "dims", "INSERT INTO dims SELECT CAST (zeroblob (200000000) AS TEXT), 1", 3000 },
    { "meta", "INSERT INTO meta " NUMBERS (10) " SELECT printf ('k%d', x), zeroblob (8000000) FROM n", 3000 },
  };
#undef NUMBERS

  for (guint i = 0; i < G_N_ELEMENTS (fillings); i++)
    {
      g_autofree char *good = NULL, *named = g_strconcat ("table ", fillings[i].table, NULL);
      g_autoptr (GError) error = NULL;
      gsize size;

      g_test_message ("%s", fillings[i].sql);
      g_assert_true (g_file_get_contents (place->path, &good, &size, NULL));
      run_sql (place, fillings[i].sql);
      g_assert_false (open_counted (place, -1, &error));
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE);
      g_assert_nonnull (strstr (error->message, named));
      g_assert_cmpint (counted.rows, <, fillings[i].most_rows);
      g_assert_true (g_file_set_contents (place->path, good, (gssize) size, NULL));
    }
}

static void
note_message (GantryDocument *document, const char *what, const GError *error, gpointer data)
{
  char **message = data;

  g_free (*message);
  *message = g_strdup (error->message);
}

static void
ended (GObject *source, GAsyncResult *result, gpointer data)
{
  *(GAsyncResult **) data = g_object_ref (result);
}

static void
add_run_with_code (const Place *place, const char *listing)
{
  g_autoptr (GantryDocument) document = gantry_document_new ();
  g_autoptr (GantryRunResult) result = gantry_run_result_new ();
  g_autoptr (GError) error = NULL;
  GantryCode code = { .node = 1, .kernel = (char *) "k", .kind = (char *) "generated", .llvm_ir = (char *) listing };

  gantry_document_open (document, place->path, NULL, NULL, &error);
  g_assert_no_error (error);
  result->name = g_strdup ("large");
  result->device = g_strdup ("none");
  result->when = g_strdup ("2026-01-01T00:00:00Z");
  result->n_runs = 1;
  result->plan = gantry_plan_ref (gantry_document_get_plan (document));
  result->recording = gantry_recording_from_plan (gantry_compilation_module (gantry_document_get_compilation (document)), result->plan);
  gantry_run_result_add_code (result, &code, NULL);
  gantry_document_add_run (document, result);
  gantry_document_save (document, place->path, &error);
  g_assert_no_error (error);
}

/* Counted before it is read: a run with more code than any is left out, which is told, and none of its rows is read. */
static void
test_code (Place *place, gconstpointer data)
{
  g_autoptr (GantryDocument) document = gantry_document_new (), earlier = gantry_document_new ();
  g_autofree char *message = NULL, *merged = NULL;
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GError) error = NULL;

  gantry_document_open (earlier, place->path, NULL, NULL, &error);
  g_assert_no_error (error);
  add_run_with_code (place, "short");
  run_sql (place, "INSERT INTO code (run, node, kernel) WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n"
                  " WHERE x < 1100000) SELECT 1, x, 'k' FROM n");
  g_signal_connect (document, "error", G_CALLBACK (note_message), &message);
  counted.rows = 0;
  counted.cancel_at = -1;
  gantry_document_open (document, place->path, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (gantry_document_get_runs (document)->len, ==, 0);
  g_assert_nonnull (message);
  g_assert_nonnull (strstr (message, "the table code"));
  g_assert_cmpint (counted.rows, <, 5000);
  /* So is a run that another process added to a file that is open. */
  g_signal_connect (earlier, "error", G_CALLBACK (note_message), &merged);
  gantry_document_merge_runs_async (earlier, ended, &result);
  doc_wait_until (result != NULL);
  g_assert_cmpuint (gantry_document_merge_runs_finish (earlier, result, &error), ==, 0);
  g_assert_no_error (error);
  g_assert_cmpstr (merged, ==, message);
}

/* A listing that no value of a session holds is cut, and says so, instead of being lost. */
static void
test_long_listing (Place *place, gconstpointer data)
{
  g_autofree char *listing = g_strnfill (100 << 20, 'x');
  g_autoptr (GantryDocument) document = gantry_document_new ();
  g_autoptr (GError) error = NULL;
  const GantryRunResult *run;
  const GantryCode *code;

  for (gsize i = 79; i < 100 << 20; i += 80)
    listing[i] = '\n';
  add_run_with_code (place, listing);
  gantry_document_open (document, place->path, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (gantry_document_get_runs (document)->len, ==, 1);
  run = g_ptr_array_index (gantry_document_get_runs (document), 0);
  code = g_ptr_array_index (run->codes, 0);
  g_assert_nonnull (code->llvm_ir);
  g_assert_cmpuint (strlen (code->llvm_ir), >, 1 << 20);
  g_assert_true (g_str_has_suffix (code->llvm_ir, "; 104857600 bytes in all, of which a session keeps these\n"));
}

/* A value that is larger than any of ours is not taken into memory. */
static void
test_value (Place *place, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  run_sql (place, "INSERT OR REPLACE INTO meta VALUES ('notes', zeroblob (270000000))");
  g_assert_false (open_counted (place, -1, &error));
  g_assert_nonnull (error);
}

/* A session that names a program without saying which it was saved with: what the user lets run elsewhere is not run for it. */
static void
test_nameless_program (Place *place, gconstpointer data)
{
  g_autofree char *program = g_build_filename (place->folder, "model.py", NULL), *mark = NULL;
  g_autofree char *sql = g_strdup_printf ("UPDATE meta SET value = '%s' WHERE key = 'model_path';"
                                          "DELETE FROM meta WHERE key = 'model_sha256' OR key = 'model_files'",
                                          program);
  g_autoptr (GantryDocument) document = gantry_document_new ();
  GantryOpenOptions options = GANTRY_OPEN_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  const char *trusted[2] = { NULL, NULL };

  g_assert_true (g_file_set_contents (program, "raise SystemExit (1)\n", -1, NULL));
  trusted[0] = mark = gantry_model_program_mark (program, NULL);
  options.trusted = trusted;
  run_sql (place, sql);
  g_assert_false (gantry_document_open (document, place->path, &options, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNTRUSTED);
  g_assert_null (strstr (error->message, "--")); /* the window shows it too */
  g_unlink (program);
}

/* A session that carries a model along which is nowhere else. Returns: where it is put when it is opened (transfer full) */
static char *
make_carried (const Place *place)
{
  g_autofree char *original = doc_file ("data/models/sample.onnx"), *model = g_build_filename (place->folder, "m.onnx", NULL);
  g_autofree char *bytes = NULL, *hash = NULL;
  g_autoptr (GantryDocument) document = gantry_document_new ();
  g_autoptr (GError) error = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (original, &bytes, &size, NULL));
  g_assert_true (g_file_set_contents (model, bytes, (gssize) size, NULL));
  g_unlink (place->path);
  gantry_document_open (document, model, NULL, NULL, &error);
  g_assert_no_error (error);
  gantry_document_set_embed (document, TRUE);
  gantry_document_save (document, place->path, &error);
  g_assert_no_error (error);
  hash = gantry_model_hash (gantry_document_get_model (document), NULL);
  g_unlink (model);
  return g_build_filename (g_get_user_cache_dir (), "gantry", "models", hash, NULL);
}

/* The model that is open stays in the cache, however long; it is no trouble once it is not. What else lay there goes. */
static void
test_carried (Place *place, gconstpointer data)
{
  g_autofree char *entry = make_carried (place), *cache = g_build_filename (g_get_user_cache_dir (), "gantry", NULL);
  g_autofree char *model = g_build_filename (entry, "m.onnx", NULL), *other = g_build_filename (entry, "other", NULL);
  const struct timespec old[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
  g_autofree char *saved = g_build_filename (place->folder, "other.gantry", NULL), *first = g_build_filename (place->folder, "m.onnx", NULL);
  GantryDocument *document = gantry_document_new ();
  g_autoptr (GantryDocument) again = gantry_document_new ();
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (g_mkdir_with_parents (entry, 0700), ==, 0);
  g_assert_true (g_file_set_contents (model, "not it", -1, NULL));
  g_assert_true (g_file_set_contents (other, "nor this", -1, NULL));
  gantry_document_open (document, place->path, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (gantry_document_get_model (document)->path, ==, model);
  g_assert_false (g_file_test (other, G_FILE_TEST_EXISTS));
  g_assert_cmpint (utimensat (AT_FDCWD, entry, old, 0), ==, 0);
  g_assert_cmpuint (gantry_cache_trim (cache, 0, -3600), ==, 0);
  g_assert_true (g_file_test (model, G_FILE_TEST_EXISTS));
  /* Another session of it names what the first one names, and carries it too. */
  g_assert_true (gantry_document_save (document, saved, &error));
  gantry_document_open (again, saved, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (gantry_document_get_model (again)->carried_as, ==, first);
  g_clear_object (&again);
  g_unlink (saved);
  gantry_document_recompile (document, NULL, &error);
  g_assert_no_error (error);
  doc_wait (document);
  g_object_unref (document);
  g_assert_cmpuint (gantry_cache_trim (cache, 0, -3600), ==, 1);
  g_assert_false (g_file_test (entry, G_FILE_TEST_EXISTS));
}

/* What is not the model of the session is not put where that would be. */
static void
test_carried_otherwise (Place *place, gconstpointer data)
{
  g_autofree char *entry = make_carried (place);
  g_autoptr (GError) error = NULL;

  run_sql (place, "UPDATE embedded SET data = zeroblob (length (data))");
  g_assert_false (open_counted (place, -1, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_assert_false (g_file_test (entry, G_FILE_TEST_EXISTS));
}

#if GANTRY_SANITIZED
/* GLib does not free the names of the folders that it makes for each test. */
int __lsan_is_turned_off (void);

int
__lsan_is_turned_off (void)
{
  return 1;
}
#endif

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, G_TEST_OPTION_ISOLATE_DIRS, NULL); /* a cache of its own for each */
  sqlite3_auto_extension ((void (*) (void)) count_connection);
#define ADD(name, function) g_test_add ("/strangers/" name, Place, NULL, set_up, function, tear_down)
  ADD ("schemas", test_schemas);
  ADD ("unread", test_unread);
  ADD ("journal", test_journal);
  ADD ("beside", test_beside);
  ADD ("rows", test_rows);
  ADD ("code", test_code);
  ADD ("long-listing", test_long_listing);
  ADD ("limits", test_limits);
  ADD ("value", test_value);
  ADD ("nameless-program", test_nameless_program);
  ADD ("carried", test_carried);
  ADD ("carried-otherwise", test_carried_otherwise);
#undef ADD
  return g_test_run ();
}
