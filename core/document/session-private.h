/* SPDX-License-Identifier: Apache-2.0 */
/* The session file: schema and the helpers that its reader and writer share. docs/session-file.md tells
 * what each table and column means. */
#pragma once
#include "core/document/document-private.h"
#include <sqlite3.h>

G_BEGIN_DECLS

#define GANTRY_SESSION_APPLICATION_ID 0x476e7472 /* "Gntr", in the file's header */
#define GANTRY_SESSION_VERSION 1

extern const char _gantry_session_schema[];

/** Opens the file; @writable creates it and its tables. Returns: (nullable): with an error that names the file. */
sqlite3 *_gantry_session_open (const char *path, gboolean writable, GError **error);
/** Sets @error from the connection's last failure. Returns: FALSE */
gboolean _gantry_session_fail (sqlite3 *db, GError **error);
gboolean _gantry_session_exec (sqlite3 *db, const char *sql, GError **error);
sqlite3_stmt *_gantry_session_prepare (sqlite3 *db, const char *sql, GError **error);
/** Runs a statement that gives no rows and resets it. */
gboolean _gantry_session_step (sqlite3 *db, sqlite3_stmt *statement, GError **error);
/** A text that tells the compiled program apart from another: ids, operations and types of its nodes. (transfer full) */
char *_gantry_session_fingerprint (const GantryCompilation *compilation);

void _gantry_bind_text (sqlite3_stmt *statement, int column, const char *text);
char *_gantry_column_text (sqlite3_stmt *statement, int column); /* (transfer full), "" for NULL */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (sqlite3, sqlite3_close)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (sqlite3_stmt, sqlite3_finalize)

G_END_DECLS
