/* SPDX-License-Identifier: Apache-2.0 */
/* Import of the SQLite export of Nsight Systems. Its schema changes with its version: tables and columns are looked up
 * by name, and what is not there is empty. The file is a stranger's: it is only read, and nothing in it is run. */
#include "core/base/error.h"
#include "profiler/database.h"
#include "profiler/import-private.h"
#include <string.h>

#define MOST_COLUMNS 24u
#define MOST_NAME 65536u /* bytes; the rest of a longer one is cut off */
#define MOST_BYTES_OF_A_VALUE (1 << 26)
#define SESSION_APPLICATION_ID 0x476e7472 /* of a session of this program */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (sqlite3, sqlite3_close)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (sqlite3_stmt, sqlite3_finalize)

typedef struct
{
  Import import;
  sqlite3 *db;
  const char *what;
  const GantryProgress *progress;
  GHashTable *strings; /* id of the trace -> string of the recording */
  GHashTable *metrics; /* "type:metric" -> string of the recording */
  GString *key;
} Nsys;

/* A table that is read: rows of it are handed to @take. */
typedef struct
{
  const char *table;
  const char *columns[MOST_COLUMNS]; /* in this order; what the table lacks is null */
  void (*take) (Nsys *n, sqlite3_stmt *row);
} Reading;

static gboolean
fail (Nsys *n, GError **error)
{
  if (gantry_progress_cancelled (n->progress, error))
    return FALSE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: %s; export it again with nsys export --type sqlite", n->what, sqlite3_errmsg (n->db));
  return FALSE;
}

static gboolean
has_column (sqlite3 *db, const char *table, const char *column)
{
  return sqlite3_table_column_metadata (db, "main", table, column, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

static gboolean
has_table (sqlite3 *db, const char *table)
{
  return has_column (db, table, NULL);
}

/* Passes all rows of a table to its function. A table that is not there has none. */
static gboolean
read_table (Nsys *n, const Reading *reading, GError **error)
{
  g_autoptr (GString) sql = g_string_new ("SELECT ");
  g_autoptr (sqlite3_stmt) statement = NULL;
  int code;

  if (!has_table (n->db, reading->table))
    return TRUE;
  if (!gantry_database_is_plain (n->db, reading->table))
    {
      if (!gantry_progress_cancelled (n->progress, error))
        g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: no export of Nsight Systems: the table %s would run code of the file's own", n->what,
                     reading->table);
      return FALSE;
    }
  gantry_progress_report (n->progress, -1, "Importing");
  for (guint i = 0; i < MOST_COLUMNS && reading->columns[i] != NULL; i++)
    g_string_append_printf (sql, has_column (n->db, reading->table, reading->columns[i]) ? "%s\"%s\"" : "%sNULL", i > 0 ? ", " : "", reading->columns[i]);
  g_string_append_printf (sql, " FROM main.\"%s\"", reading->table);
  if (sqlite3_prepare_v2 (n->db, sql->str, -1, &statement, NULL) != SQLITE_OK)
    return fail (n, error);
  while ((code = sqlite3_step (statement)) == SQLITE_ROW)
    reading->take (n, statement);
  return code == SQLITE_DONE || fail (n, error);
}

static guint32
number (sqlite3_stmt *row, int column)
{
  return (guint32) CLAMP (sqlite3_column_int64 (row, column), 0, G_MAXUINT32);
}

static guint32
take_text (Nsys *n, sqlite3_stmt *row, int column)
{
  const char *text = (const char *) sqlite3_column_text (row, column);
  g_autofree char *valid = text != NULL ? g_utf8_make_valid (text, MIN (strlen (text), MOST_NAME)) : NULL;

  return gantry_recording_builder_string (n->import.builder, valid);
}

static guint32
string_of (Nsys *n, sqlite3_stmt *row, int column)
{
  gint64 id = sqlite3_column_int64 (row, column);

  return sqlite3_column_type (row, column) == SQLITE_INTEGER ? GPOINTER_TO_UINT (g_hash_table_lookup (n->strings, &id)) : take_text (n, row, column);
}

static guint32
own_string (Nsys *n, const char *text)
{
  return gantry_recording_builder_string (n->import.builder, text);
}

/* Lanes */

static guint8
stream_lane (Nsys *n, gint64 device, gint64 stream)
{
  guint8 lane;
  ImportLane *about;

  g_string_printf (n->key, "s%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT, device, stream);
  about = _gantry_import_lane (&n->import, n->key->str, &lane);
  if (!n->import.too_many)
    {
      about->device = TRUE;
      about->group = device;
      about->member = stream;
    }
  return lane;
}

/* A global id holds process and thread, 24 bits each. */
static guint8
thread_lane (Nsys *n, gint64 global)
{
  guint8 lane;
  ImportLane *about;

  g_string_printf (n->key, "t%" G_GINT64_FORMAT, global);
  about = _gantry_import_lane (&n->import, n->key->str, &lane);
  if (!n->import.too_many)
    {
      about->group = global >> 24 & 0xffffff;
      about->member = global & 0xffffff;
    }
  return lane;
}

/* Rows. The first two columns of everything that lasts are its times. */

static GantryEvent
event_of (sqlite3_stmt *row, GantryEventKind kind)
{
  GantryEvent event = { sqlite3_column_int64 (row, 0), sqlite3_column_int64 (row, 1) };

  /* Without an end, or a begin: left out by whoever adds it. */
  if (sqlite3_column_type (row, 0) == SQLITE_NULL)
    event.begin = G_MAXINT64;
  event.instruction = GANTRY_NO_INSTRUCTION;
  event.kind = (guint8) kind;
  return event;
}

static void
take_string (Nsys *n, sqlite3_stmt *row)
{
  gint64 *id = g_new (gint64, 1);

  *id = sqlite3_column_int64 (row, 0);
  g_hash_table_replace (n->strings, id, GUINT_TO_POINTER (take_text (n, row, 1)));
}

/* What device activities have in common: columns 2 to 4 are device, stream and correlation. */
static void
add_activity (Nsys *n, sqlite3_stmt *row, GantryEvent *event, GantryLaunchDetail *detail)
{
  detail->device = number (row, 2);
  detail->stream = number (row, 3);
  event->correlation = number (row, 4);
  event->detail = gantry_recording_builder_detail (n->import.builder, detail);
  event->lane = stream_lane (n, detail->device, detail->stream);
  _gantry_import_event (&n->import, event);
}

static void
take_kernel (Nsys *n, sqlite3_stmt *row)
{
  GantryEvent event = event_of (row, GANTRY_EVENT_KERNEL);
  GantryLaunchDetail detail = { 0 };

  for (int i = 0; i < 3; i++)
    {
      detail.grid[i] = number (row, 7 + i);
      detail.block[i] = number (row, 10 + i);
      detail.cluster[i] = number (row, 17 + i);
    }
  detail.registers = number (row, 13);
  detail.static_shared = number (row, 14);
  detail.dynamic_shared = number (row, 15);
  detail.local_bytes = number (row, 16);
  event.name = string_of (n, row, 5);
  if (event.name == 0)
    event.name = string_of (n, row, 6);
  add_activity (n, row, &event, &detail);
}

static void
take_copy (Nsys *n, sqlite3_stmt *row)
{
  /* In the order of CUpti_ActivityMemcpyKind. */
  static const char *const kinds[] = { "Memcpy",      "Memcpy HtoD", "Memcpy DtoH", "Memcpy HtoA", "Memcpy AtoH", "Memcpy AtoA",
                                       "Memcpy AtoD", "Memcpy DtoA", "Memcpy DtoD", "Memcpy HtoH", "Memcpy PtoP" };
  GantryEvent event = event_of (row, GANTRY_EVENT_COPY);
  GantryLaunchDetail detail = { 0 };
  guint32 kind = number (row, 6);

  event.bytes = (guint64) MAX (sqlite3_column_int64 (row, 5), 0);
  event.name = own_string (n, kinds[kind < G_N_ELEMENTS (kinds) ? kind : 0]);
  add_activity (n, row, &event, &detail);
}

static void
take_fill (Nsys *n, sqlite3_stmt *row)
{
  GantryEvent event = event_of (row, GANTRY_EVENT_FILL);
  GantryLaunchDetail detail = { 0 };

  event.bytes = (guint64) MAX (sqlite3_column_int64 (row, 5), 0);
  event.name = own_string (n, "Memset");
  add_activity (n, row, &event, &detail);
}

static void
take_sync (Nsys *n, sqlite3_stmt *row)
{
  static const char *const kinds[] = { "Synchronize", "Event synchronize", "Stream wait event", "Stream synchronize", "Context synchronize" };
  GantryEvent event = event_of (row, GANTRY_EVENT_SYNC);
  guint32 kind = number (row, 4);
  ImportLane *about;

  event.correlation = number (row, 3);
  event.name = own_string (n, kinds[kind < G_N_ELEMENTS (kinds) ? kind : 0]);
  g_string_printf (n->key, "y%" G_GINT64_FORMAT, (gint64) sqlite3_column_int64 (row, 2));
  about = _gantry_import_lane (&n->import, n->key->str, &event.lane);
  if (!n->import.too_many)
    {
      about->group = sqlite3_column_int64 (row, 2) >> 24 & 0xffffff;
      about->sort = -1;
      if (about->name == NULL)
        about->name = g_strdup ("synchronization");
    }
  _gantry_import_event (&n->import, &event);
}

static void
take_call (Nsys *n, sqlite3_stmt *row)
{
  GantryEvent event = event_of (row, GANTRY_EVENT_CALL);

  event.correlation = number (row, 3);
  event.name = string_of (n, row, 4);
  event.lane = thread_lane (n, sqlite3_column_int64 (row, 2));
  _gantry_import_event (&n->import, &event);
}

static void
take_overhead (Nsys *n, sqlite3_stmt *row)
{
  GantryEvent event = event_of (row, GANTRY_EVENT_OVERHEAD);

  event.name = string_of (n, row, 3);
  event.lane = thread_lane (n, sqlite3_column_int64 (row, 2));
  _gantry_import_event (&n->import, &event);
}

static void
take_nvtx (Nsys *n, sqlite3_stmt *row)
{
  enum
  {
    NVTX_MARK = 34,
    NVTX_PUSH_POP = 59,
    NVTX_START_END = 60
  };
  gint64 type = sqlite3_column_type (row, 2) == SQLITE_NULL ? NVTX_PUSH_POP : sqlite3_column_int64 (row, 2);
  GantryEvent event = event_of (row, type == NVTX_MARK ? GANTRY_EVENT_MARK : GANTRY_EVENT_RANGE);

  if (type != NVTX_MARK && type != NVTX_PUSH_POP && type != NVTX_START_END)
    return; /* domains, categories, names: no events */
  if (type == NVTX_MARK)
    event.end = event.begin;
  event.name = sqlite3_column_type (row, 4) != SQLITE_NULL ? take_text (n, row, 4) : string_of (n, row, 5);
  event.lane = thread_lane (n, sqlite3_column_int64 (row, 3));
  _gantry_import_event (&n->import, &event);
}

static void
take_memory (Nsys *n, sqlite3_stmt *row)
{
  /* Of CUpti_ActivityMemoryKind: 1 pageable, 2 pinned; all others are the device's, or are seen by it. */
  guint32 kind = number (row, 3), operation = number (row, 4);
  GantryMemoryEvent event = { sqlite3_column_int64 (row, 0), (guint64) sqlite3_column_int64 (row, 1) };

  event.bytes = (guint64) MAX (sqlite3_column_int64 (row, 2), 0);
  event.memory = kind == 1 ? GANTRY_MEMORY_UNPINNED_HOST : kind == 2 ? GANTRY_MEMORY_PINNED_HOST : GANTRY_MEMORY_DEVICE;
  event.release = operation == 1;
  if (operation > 1 || event.time <= -MOST_TIME / 2 || event.time >= MOST_TIME)
    n->import.n_passed_over++;
  else
    gantry_recording_builder_add_memory (n->import.builder, &event);
}

/* Counters: samples name a metric of a type, which another table names. */

static void
metric_key (Nsys *n, gint64 type, gint64 metric)
{
  g_string_printf (n->key, "%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT, type, metric);
}

static void
take_metric_name (Nsys *n, sqlite3_stmt *row)
{
  guint32 name = take_text (n, row, 2);

  metric_key (n, sqlite3_column_int64 (row, 0), sqlite3_column_int64 (row, 1));
  g_hash_table_replace (n->metrics, g_strdup (n->key->str), GUINT_TO_POINTER (name));
}

static void
take_metric (Nsys *n, sqlite3_stmt *row)
{
  /* The low byte of a type is the number of the device. */
  gint64 type = sqlite3_column_int64 (row, 1);
  g_autofree char *counter = NULL;
  guint32 name;

  metric_key (n, type, sqlite3_column_int64 (row, 2));
  name = GPOINTER_TO_UINT (g_hash_table_lookup (n->metrics, n->key->str));
  if (name == 0)
    {
      n->import.n_passed_over++;
      return;
    }
  counter = g_strdup_printf ("GPU %u, %s", (guint) (type & 0xff), _gantry_recording_builder_text (n->import.builder, name));
  _gantry_import_sample (&n->import, counter, sqlite3_column_int64 (row, 0), sqlite3_column_double (row, 3));
}

static void
take_device (Nsys *n, sqlite3_stmt *row)
{
  g_autofree char *name = g_strdup (_gantry_recording_builder_text (n->import.builder, take_text (n, row, 0)));

  gantry_recording_builder_set_device (n->import.builder, name);
}

/* Events count from there. */
static void
take_session_start (Nsys *n, sqlite3_stmt *row)
{
  gantry_recording_builder_set_epoch (n->import.builder, sqlite3_column_int64 (row, 0));
}

static void
take_thread_name (Nsys *n, sqlite3_stmt *row)
{
  guint32 name = string_of (n, row, 0);
  guint index;
  ImportLane *lane;

  g_string_printf (n->key, "t%" G_GINT64_FORMAT, (gint64) sqlite3_column_int64 (row, 1));
  index = GPOINTER_TO_UINT (g_hash_table_lookup (n->import.ids, n->key->str));
  if (index == 0 || name == 0)
    return;
  lane = &g_array_index (n->import.lanes, ImportLane, index - 1);
  g_free (lane->name);
  lane->name = g_strdup_printf ("%s, thread %" G_GINT64_FORMAT, _gantry_recording_builder_text (n->import.builder, name), lane->member);
}

/* What names others comes before them; names of threads after the lanes that they name. */
/* clang-format off */
static const Reading readings[] = {
  { "StringIds", { "id", "value" }, take_string },
  { "TARGET_INFO_SESSION_START_TIME", { "utcEpochNs" }, take_session_start },
  { "TARGET_INFO_GPU", { "name" }, take_device },
  { "TARGET_INFO_GPU_METRICS", { "typeId", "metricId", "metricName" }, take_metric_name },
  { "CUPTI_ACTIVITY_KIND_KERNEL",
    { "start", "end", "deviceId", "streamId", "correlationId", "shortName", "demangledName", "gridX", "gridY", "gridZ",
      "blockX", "blockY", "blockZ", "registersPerThread", "staticSharedMemory", "dynamicSharedMemory",
      "localMemoryPerThread", "clusterX", "clusterY", "clusterZ" }, take_kernel },
  { "CUPTI_ACTIVITY_KIND_MEMCPY", { "start", "end", "deviceId", "streamId", "correlationId", "bytes", "copyKind" },
    take_copy },
  { "CUPTI_ACTIVITY_KIND_MEMSET", { "start", "end", "deviceId", "streamId", "correlationId", "bytes" }, take_fill },
  { "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", { "start", "end", "globalPid", "correlationId", "syncType" }, take_sync },
  { "CUPTI_ACTIVITY_KIND_RUNTIME", { "start", "end", "globalTid", "correlationId", "nameId" }, take_call },
  { "CUPTI_ACTIVITY_KIND_DRIVER", { "start", "end", "globalTid", "correlationId", "nameId" }, take_call },
  { "PROFILER_OVERHEAD", { "start", "end", "globalTid", "nameId" }, take_overhead },
  { "NVTX_EVENTS", { "start", "end", "eventType", "globalTid", "text", "textId" }, take_nvtx },
  { "CUDA_GPU_MEMORY_USAGE_EVENTS", { "start", "address", "bytes", "memKind", "memoryOperationType" }, take_memory },
  { "GPU_METRICS", { "timestamp", "typeId", "metricId", "value" }, take_metric },
  { "ThreadNames", { "nameId", "globalTid" }, take_thread_name },
};
/* clang-format on */

static GantryRecording *
import (Nsys *n, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (readings); i++)
    if (!read_table (n, &readings[i], error))
      return NULL;
  return _gantry_import_end (&n->import, n->what, FALSE, FALSE, error);
}

static GCancellable *
cancellable_of (const GantryProgress *progress)
{
  return progress != NULL ? progress->cancellable : NULL;
}

static GantryRecording *
import_database (sqlite3 *db, const char *what, const GantryProgress *progress, GError **error)
{
  Nsys n = { .db = db, .what = what, .progress = progress };
  GantryRecording *recording;

  sqlite3_exec (db, "PRAGMA cell_size_check = ON; PRAGMA query_only = ON;", NULL, NULL, NULL);
  _gantry_import_init (&n.import);
  n.strings = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  n.metrics = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  n.key = g_string_new (NULL);
  recording = import (&n, error);
  g_string_free (n.key, TRUE);
  g_hash_table_unref (n.strings);
  g_hash_table_unref (n.metrics);
  _gantry_import_clear (&n.import);
  return recording;
}

gboolean
_gantry_nsys_is (const char *path)
{
  g_autoptr (sqlite3) db = gantry_database_open (path, SQLITE_OPEN_READONLY, MOST_BYTES_OF_A_VALUE, NULL, NULL);
  g_autoptr (sqlite3_stmt) statement = NULL;
  gboolean found = FALSE;

  if (db == NULL)
    return FALSE;
  if (sqlite3_prepare_v2 (db, "PRAGMA application_id", -1, &statement, NULL) != SQLITE_OK || sqlite3_step (statement) != SQLITE_ROW
      || sqlite3_column_int64 (statement, 0) == SESSION_APPLICATION_ID)
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (readings); i++)
    found = found || has_table (db, readings[i].table);
  return found;
}

GantryRecording *
_gantry_nsys_import_file (const char *path, const GantryProgress *progress, GError **error)
{
  g_autoptr (sqlite3) db = gantry_database_open (path, SQLITE_OPEN_READONLY, MOST_BYTES_OF_A_VALUE, cancellable_of (progress), error);

  return db != NULL ? import_database (db, path, progress, error) : NULL;
}

GantryRecording *
gantry_trace_import_nsys (GBytes *database, const char *what, const GantryProgress *progress, GError **error)
{
  g_autoptr (sqlite3) db = NULL;
  gsize size;
  const guint8 *data = g_bytes_get_data (database, &size);
  guint8 *copy = sqlite3_malloc64 (MAX (size, 1));

  memcpy (copy, data, size);
  if (sqlite3_open_v2 (":memory:", &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK
      && sqlite3_deserialize (db, "main", copy, (sqlite3_int64) size, (sqlite3_int64) size, SQLITE_DESERIALIZE_READONLY | SQLITE_DESERIALIZE_FREEONCLOSE)
           == SQLITE_OK)
    {
      gantry_database_distrust (db, MOST_BYTES_OF_A_VALUE, cancellable_of (progress));
      return import_database (db, what, progress, error);
    }
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: no database", what);
  return NULL;
}
