/* SPDX-License-Identifier: Apache-2.0 */
/* The session file: schema and the helpers that its reader and writer share. docs/session-file.md tells
 * what each table and column means. */
#pragma once
#include "core/document/document-private.h"
#include <sqlite3.h>

G_BEGIN_DECLS

#define GANTRY_SESSION_APPLICATION_ID 0x476e7472 /* "Gntr", in the file's header */
#define GANTRY_SESSION_VERSION 6
#define GANTRY_SESSION_PLANNED_OF_DEVICE 5 /* since then runs.planned_bytes is all of the device, not its arena alone */
#define GANTRY_SESSION_RECOVERY "recovery" /* the table that recovery files have besides those of a session */
/** Key in `meta`: _gantry_session_state() of what the user has set. */
#define GANTRY_SESSION_STATE "state_sha256"

/**
 * _gantry_session_open:
 * @writable: creates it where it is missing; else nothing is written but what rolls an interrupted save back
 * @cancellable: (nullable): every later statement on the connection ends with %G_IO_ERROR_CANCELLED once it is cancelled;
 *  has to outlive the connection
 *
 * Returns: (nullable): with an error that names the file: not ours, of a newer version, damaged, or with a schema that
 *  would run code of its own
 */
sqlite3 *_gantry_session_open (const char *path, gboolean writable, GCancellable *cancellable, GError **error);
/** As gantry_runs_delete() of one run, which may be gone already. @cancellable (nullable): cancelled, the file is not made smaller */
gboolean _gantry_session_delete_run (const char *path, const char *uid, GCancellable *cancellable, GError **error);
/** Whether the schema, or that of a recovery file, has a table of that name. */
gboolean _gantry_session_owns_table (const char *name);
/** Makes what tables and columns are missing: within the transaction that writes. */
gboolean _gantry_session_prepare_tables (sqlite3 *db, GError **error);
/** "'sqlite3' (process 123)": another process that has the session @path locked. (transfer full) (nullable): it is not known */
char *_gantry_session_lock_holder (const char *path);
/** Sets @error from the connection's last failure. Returns: FALSE */
gboolean _gantry_session_fail (sqlite3 *db, GError **error);
gboolean _gantry_session_exec (sqlite3 *db, const char *sql, GError **error);
sqlite3_stmt *_gantry_session_prepare (sqlite3 *db, const char *sql, GError **error);
/** The next row. FALSE at the end, and, with @error, where the file cannot be read on. */
gboolean _gantry_session_row (sqlite3 *db, sqlite3_stmt *statement, GError **error);

/** The rows of one table as a query gives them (session-rows.c): no more, and no more bytes, than that table may have. */
typedef struct
{
  sqlite3 *db;
  sqlite3_stmt *statement;
  const char *table;
  guint64 n_rows, n_bytes; /* read so far */
} GantrySessionRows;
/** @table: one of the schema, of which @sql reads. Returns: FALSE with @error; to be cleared all the same */
gboolean _gantry_rows_begin (GantrySessionRows *rows, sqlite3 *db, const char *table, const char *sql, GError **error);
/** The next row of its statement. FALSE at the end, and, with @error, which names the table, where the file cannot be read on or has
 *  more in it than is read. */
gboolean _gantry_rows_next (GantrySessionRows *rows, GError **error);
void _gantry_rows_clear (GantrySessionRows *rows);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GantrySessionRows, _gantry_rows_clear)
guint64 _gantry_session_most_rows (const char *table);
guint64 _gantry_session_most_bytes (const char *table); /* of text and data, in those rows */
/** Whether a run has no more bytes in @table than are read: counted by SQLite, before any of them is kept in memory here. */
gboolean _gantry_session_check_bytes (sqlite3 *db, const char *table, gint64 run, GError **error);
/** Whether what the user has set, as the file has it now, can be read again: before it is committed. */
gboolean _gantry_session_check_settings (sqlite3 *db, GError **error);
/** Sets @error, %GANTRY_ERROR_TOO_LARGE, for a table with so many rows, or with too many bytes. Returns: FALSE */
gboolean _gantry_session_fail_rows (sqlite3 *db, const char *table, guint64 rows, GError **error);

/** A value of the table meta. (transfer full) (nullable): NULL with @error unset where the file does not say */
char *_gantry_session_read_meta (sqlite3 *db, const char *key, GError **error);
/** The version that the file says to be of; 0: a new one. */
gint64 _gantry_session_version (sqlite3 *db);
/** Whether the file has a table of that name with that column: it may be of an earlier version. */
gboolean _gantry_session_has (sqlite3 *db, const char *table, const char *column);
/** For a query: @name, what an earlier version called it, or "NULL" where the file lacks that column. */
const char *_gantry_session_column (sqlite3 *db, const char *table, const char *name);
/** Runs a statement that gives no rows and resets it. */
gboolean _gantry_session_step (sqlite3 *db, sqlite3_stmt *statement, GError **error);
/** A text that tells the compiled program apart from another: ids, operations and types of its nodes. (transfer full) */
char *_gantry_session_fingerprint (const GantryCompilation *compilation);

/** What is longer than a value of a session may be makes the statement fail, instead of being left out. */
void _gantry_bind_text (sqlite3_stmt *statement, int column, const char *text);
void _gantry_bind_blob (sqlite3_stmt *statement, int column, gconstpointer data, gsize size);
char *_gantry_column_text (sqlite3_stmt *statement, int column); /* (transfer full), "" for NULL */
/** Of a value that is placed or measured. FALSE: @text is no key, which has 16 hexadecimal digits: as many as there are and no number, of
 *  which a database may keep fewer. */
gboolean _gantry_session_key (const char *text, guint64 *key);

/* session-load-run.c and session-save-run.c: a run, its plan and its recording. */
char *_gantry_session_run_query (sqlite3 *db); /* gives the rows that the next reads, the newest first (transfer full) */
#define GANTRY_SESSION_RUN_UID 1               /* the column of those rows that tells runs apart */
/** @saved: (nullable): SHA-256 of the model of the session; @now: (nullable): of the one that is open */
GantryRunResult *_gantry_session_load_run (sqlite3 *db, sqlite3_stmt *row, const char *saved, const char *now, GError **error);
/** @hash: (nullable): of the model of the session */
gboolean _gantry_session_save_run (sqlite3 *db, const GantryRunResult *result, const char *fingerprint, const char *hash, GError **error);

/** The runs but those of @known, oldest first. @model: as of _gantry_session_load_runs(). A run that is larger than any is read, or damaged, is left out,
 * and so are the oldest of too many:
 * @notice: (out) (optional): says so. (transfer full) */
GPtrArray *_gantry_session_read_runs (sqlite3 *db, GPtrArray *known, const char *model, GError **notice, GError **error);
/** SHA-256 over all that the user can set, so that two writers see whether they have set the same. (transfer full) */
char *_gantry_session_state (const GantrySessionParts *parts);
/* session-embed.c: a model that the session carries along. */
/** Whether its files may be carried along. */
gboolean _gantry_session_can_embed (const GantryModel *model, GError **error);
gboolean _gantry_session_embed (sqlite3 *db, const GantryModel *model, GError **error);
/** Its path, once its files are written into the user's cache. @hash: (nullable): of the session's model. (transfer full) (nullable):
 *  NULL with @error unset where the session carries none */
char *_gantry_session_extract (sqlite3 *db, const char *hash, GError **error);
/* session-figures.c: the figures of a plan, as columns of a table. */
/** @first: of the seven columns from planned_bytes to stall_us; @added: of the three behind all others: sizes_known, fits, parts */
void _gantry_bind_figures (sqlite3_stmt *statement, int first, int added, const GantryPlanFigures *figures);
/** Returns: whether there are any; columns count from 0 */
gboolean _gantry_column_figures (sqlite3_stmt *row, int first, int added, GantryPlanFigures *figures);
/** For a query: the three that were added, of @table. (transfer full) */
char *_gantry_session_figures (sqlite3 *db, const char *table);
/* session-front.c: the front that was searched for. */
gboolean _gantry_session_save_front (sqlite3 *db, const GantryFront *front, GError **error);
gboolean _gantry_session_load_front (sqlite3 *db, GantryFront **front, GError **error); /* (out) (nullable): there is none */
/* session-memory.c: what was measured of a run's memory. */
gboolean _gantry_session_save_measure (sqlite3 *db, gint64 run, const GantryMemoryMeasure *measure, GError **error);
GantryMemoryMeasure *_gantry_session_load_measure (sqlite3 *db, gint64 run); /* (transfer full) (nullable): not measured */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (sqlite3, sqlite3_close)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (sqlite3_stmt, sqlite3_finalize)

G_END_DECLS
