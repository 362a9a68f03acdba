/* SPDX-License-Identifier: Apache-2.0 */
/* How soon a large recording is seen: a session with a recording of N events (10 million, unless said otherwise) is
 * written, opened as the window opens it, and its lanes are folded into the pixels of a first picture.
 * Usage: bench-recording PROGRAM.gir [--events N] [--rounds N] [--keep FILE]. With --keep the session stays for other
 * uses; one that is there already is opened without being written. */
#include "core/document/document.h"
#include "tools/bench-figure.h"
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIXELS 1600u
#define N_NAMES 300u

typedef struct
{
  GantryRecordingBuilder *builder;
  guint32 names[N_NAMES];
  GRand *random;
} Maker;

/* @n events one after the other, each about @length ns long, with short pauses; the lane ends about @span. */
static void
add_lane (Maker *maker, guint8 lane, guint8 kind, guint64 n, gint64 span)
{
  gint64 pitch = MAX (span / (gint64) MAX (n, 1), 4);

  for (guint64 i = 0; i < n; i++)
    {
      guint32 word = g_rand_int (maker->random);
      gint64 begin = (gint64) i * pitch;
      GantryEvent event = { begin, begin + pitch / 2 + word % (pitch / 2), kind == GANTRY_EVENT_COPY ? word % 65536 : 0 };
      GantryLaunchDetail detail = { { 1 + word % 7, 1, 1 }, { 128, 1, 1 }, { 1, 1, 1 }, .registers = 32 + word % 5 * 8 };

      event.instruction = (guint32) (i % 1000);
      event.node = 1 + word % 1000;
      event.name = maker->names[word % N_NAMES];
      event.kind = kind;
      event.lane = lane;
      event.correlation = (guint32) i + 1;
      if (kind == GANTRY_EVENT_KERNEL)
        event.detail = gantry_recording_builder_detail (maker->builder, &detail);
      gantry_recording_builder_add (maker->builder, &event);
    }
}

/* Half of it is what the device did, half what the host called and named. */
static GantryRecording *
make_recording (guint64 n)
{
  Maker maker = { gantry_recording_builder_new (), { 0 }, g_rand_new_with_seed (7) };
  gint64 span = (gint64) n * 1000;

  for (guint i = 0; i < N_NAMES; i++)
    {
      g_autofree char *name = g_strdup_printf ("fused_multiply_add_reduce_%u", i);

      maker.names[i] = gantry_recording_builder_string (maker.builder, name);
    }
  add_lane (&maker, 0, GANTRY_EVENT_KERNEL, n * 3 / 10, span);
  add_lane (&maker, 1, GANTRY_EVENT_COPY, n / 10, span);
  add_lane (&maker, 2, GANTRY_EVENT_COPY, n / 10, span);
  gantry_recording_builder_set_lane_name (maker.builder, 4, "main thread");
  add_lane (&maker, 4, GANTRY_EVENT_RANGE, n / 10, span);
  add_lane (&maker, 4, GANTRY_EVENT_CALL, n - 2 * (n * 3 / 10), span);
  for (guint64 i = 0; i < n / 50; i++)
    {
      GantryMemoryEvent event = { (gint64) i * 50000, 0, 1 << 20, (guint32) (i / 2 % 64), 1, 0, (guint8) (i % 2) };

      gantry_recording_builder_add_memory (maker.builder, &event);
      gantry_recording_builder_add_counter (maker.builder, "DRAM read", (gint64) i * 50000, g_rand_double (maker.random));
    }
  gantry_recording_builder_add_run (maker.builder, &(GantryRecordedRun){ 0, span, 1 << 20 });
  g_rand_free (maker.random);
  return gantry_recording_builder_end (maker.builder);
}

static gboolean
write_session (const char *program, const char *path, guint64 n, GError **error)
{
  g_autoptr (GantryDocument) document = gantry_document_new ();
  g_autoptr (GantryRunResult) run = gantry_run_result_new ();
  gint64 start;

  if (!gantry_document_open (document, program, NULL, NULL, error))
    return FALSE;
  run->name = g_strdup ("made");
  run->device = g_strdup ("bench");
  run->when = g_strdup ("2000-01-01T00:00:00Z");
  run->plan = gantry_plan_ref (gantry_document_get_compilation (document)->plan);
  start = g_get_monotonic_time ();
  run->recording = make_recording (n);
  g_printerr ("made in %.2f s\n", (double) (g_get_monotonic_time () - start) / 1e6);
  gantry_document_add_run (document, run);
  start = g_get_monotonic_time ();
  if (!gantry_document_save (document, path, error))
    return FALSE;
  g_printerr ("written in %.2f s\n", (double) (g_get_monotonic_time () - start) / 1e6);
  return TRUE;
}

/* Megabytes of memory that this process has, or has had at most ("VmRSS", "VmHWM"). */
static double
memory_now (const char *key)
{
  g_autofree char *status = NULL;
  const char *line;

  if (!g_file_get_contents ("/proc/self/status", &status, NULL, NULL) || (line = strstr (status, key)) == NULL)
    return 0;
  return (double) g_ascii_strtoull (line + strlen (key) + 1, NULL, 10) / 1024;
}

/* --- the peer: the same events as rows of a table, as exports of profilers are, folded by a query ------------------ */

static gboolean
sql (sqlite3 *db, const char *text)
{
  return sqlite3_exec (db, text, NULL, NULL, NULL) == SQLITE_OK;
}

static gboolean
write_table (const char *path, guint64 n)
{
  sqlite3 *db = NULL;
  sqlite3_stmt *insert = NULL;
  gboolean ok = sqlite3_open (path, &db) == SQLITE_OK
                && sql (db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;"
                            "CREATE TABLE event (lane INTEGER, start INTEGER, end INTEGER, name INTEGER)")
                && sqlite3_prepare_v2 (db, "INSERT INTO event VALUES (?, ?, ?, ?)", -1, &insert, NULL) == SQLITE_OK;

  for (guint64 i = 0; ok && i < n; i++)
    {
      sqlite3_bind_int64 (insert, 1, (gint64) (i % 5));
      sqlite3_bind_int64 (insert, 2, (gint64) i * 1000);
      sqlite3_bind_int64 (insert, 3, (gint64) i * 1000 + 700);
      sqlite3_bind_int64 (insert, 4, (gint64) (i % N_NAMES));
      ok = sqlite3_step (insert) == SQLITE_DONE && sqlite3_reset (insert) == SQLITE_OK;
    }
  sqlite3_finalize (insert);
  ok = ok && sql (db, "COMMIT");
  sqlite3_close (db);
  return ok;
}

/* Opens the table and reads as many pixels of each lane as the first picture has; its milliseconds, or a negative number. */
static double
fold_table (const char *path, guint64 n)
{
  g_autofree char *query = g_strdup_printf ("SELECT lane, start * %u / %" G_GUINT64_FORMAT " AS pixel, count (*),"
                                            " sum (end - start) FROM event GROUP BY lane, pixel",
                                            PIXELS, n * 1000);
  gint64 start = g_get_monotonic_time ();
  guint64 count = 0;
  sqlite3 *db = NULL;
  sqlite3_stmt *select = NULL;

  if (sqlite3_open_v2 (path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK && sqlite3_prepare_v2 (db, query, -1, &select, NULL) == SQLITE_OK)
    while (sqlite3_step (select) == SQLITE_ROW)
      count += (guint64) sqlite3_column_int64 (select, 2);
  sqlite3_finalize (select);
  sqlite3_close (db);
  return count == n ? (double) (g_get_monotonic_time () - start) / 1e3 : -1;
}

/* What is printed beside the first picture. */
static char *
peer (const char *session, guint64 n)
{
  enum
  {
    ROUNDS = 3
  };
  g_autofree char *path = g_strdup_printf ("%s.sqlite", session);
  double times[ROUNDS], least = G_MAXDOUBLE, most = 0;
  gboolean ok = write_table (path, n);

  for (guint i = 0; ok && i < ROUNDS; i++)
    {
      times[i] = fold_table (path, n);
      least = MIN (least, times[i]);
      most = MAX (most, times[i]);
      ok = times[i] >= 0;
    }
  unlink (path);
  return ok ? g_strdup_printf ("SQLite %s folds as many rows: %.0f..%.0f ms", sqlite3_libversion (), least, most) : g_strdup ("not measured");
}

/* What is drawn first: every lane, the memory curve and the counters, over all of the time. */
static guint64
first_picture (const GantryRecording *recording)
{
  g_autofree GantryFoldPixel *pixels = g_new (GantryFoldPixel, PIXELS);
  g_autofree GantryCurvePixel *curve = g_new (GantryCurvePixel, PIXELS);
  guint64 count = 0;
  gint64 begin, end;

  gantry_recording_range (recording, &begin, &end);
  for (guint lane = 0; lane < gantry_recording_n_lanes (recording); lane++)
    {
      gantry_recording_fold (recording, lane, begin, end + 1, PIXELS, pixels);
      for (guint i = 0; i < PIXELS; i++)
        count += pixels[i].count;
    }
  gantry_recording_memory_curve (recording, GANTRY_MEMORY_DEVICE, begin, end + 1, PIXELS, curve);
  for (guint i = 0; i < gantry_recording_n_counters (recording); i++)
    gantry_recording_counter_curve (recording, i, begin, end + 1, PIXELS, curve);
  return count;
}

static gboolean
measure (const char *path, guint64 n, guint rounds, GError **error)
{
  g_autofree double *open = g_new (double, rounds), *fold = g_new (double, rounds), *all = g_new (double, rounds);
  g_autofree char *rows = NULL;
  double held = 0;

  for (guint i = 0; i < rounds; i++)
    {
      g_autoptr (GantryDocument) document = gantry_document_new ();
      gint64 start = g_get_monotonic_time (), middle;

      if (!gantry_document_open (document, path, NULL, NULL, error))
        return FALSE;
      middle = g_get_monotonic_time ();
      if (first_picture (gantry_document_get_run (document)->recording) != n)
        g_error ("the first picture does not show all events");
      fold[i] = (double) (g_get_monotonic_time () - middle) / 1e3;
      open[i] = (double) (g_get_monotonic_time () - start) / 1e3;
      if (!gantry_recording_load_all (gantry_document_get_run (document)->recording, NULL, error))
        return FALSE;
      all[i] = (double) (g_get_monotonic_time () - start) / 1e3;
      if (first_picture (gantry_document_get_run (document)->recording) != n)
        g_error ("the second picture does not show all events");
      held = memory_now ("VmRSS:");
    }
  rows = peer (path, n);
  bench_print_figure ("recording-first-picture", open, rounds, "ms", rows);
  bench_print_figure ("recording-fold-all", fold, rounds, "ms", "not measured");
  bench_print_figure ("recording-all-read", all, rounds, "ms", "not measured");
  bench_print_figure ("recording-memory", &held, 1, "MiB", "not measured");
  held = memory_now ("VmHWM:");
  bench_print_figure ("recording-memory-most", &held, 1, "MiB", "not measured");
  return TRUE;
}

int
main (int argc, char **argv)
{
  gint64 events = 10000000;
  gint rounds = 5;
  g_autofree char *path = NULL;
  const GOptionEntry entries[] = { { "events", 0, 0, G_OPTION_ARG_INT64, &events, "Events of the recording", "N" },
                                   { "rounds", 0, 0, G_OPTION_ARG_INT, &rounds, "How often it is opened", "N" },
                                   { "keep", 0, 0, G_OPTION_ARG_FILENAME, &path, "Session that stays", "FILE" },
                                   { NULL } };
  g_autoptr (GOptionContext) context = g_option_context_new ("PROGRAM");
  g_autoptr (GError) error = NULL;
  gboolean keep, done;

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error) || argc != 2 || events < 1 || rounds < 1)
    {
      g_printerr ("%s", error != NULL ? error->message : "usage: bench-recording PROGRAM.gir [--events N] [--rounds N]\n");
      return 1;
    }
  keep = path != NULL;
  if (!keep)
    path = g_strdup_printf ("%s/bench-recording-%d.gantry", g_get_tmp_dir (), (int) getpid ());
  done = g_file_test (path, G_FILE_TEST_EXISTS);
  if (!done && fork () == 0) /* what writing takes is not counted */
    _exit (write_session (argv[1], path, (guint64) events, &error) ? 0 : (g_printerr ("%s\n", error->message), 1));
  if (!done)
    wait (NULL);
  done = measure (path, (guint64) events, (guint) rounds, &error);
  if (!keep)
    unlink (path);
  if (!done)
    g_printerr ("%s\n", error->message);
  return done ? 0 : 1;
}
