/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite files of strangers: sessions and exports of other profilers. */
#pragma once
#include <gio/gio.h>
#include <sqlite3.h>

G_BEGIN_DECLS

/**
 * gantry_database_open:
 * @path: links are followed
 * @flags: of sqlite3_open_v2(); with SQLITE_OPEN_CREATE it may be missing
 * @most_bytes_of_a_value, @cancellable: of gantry_database_distrust(), which is called on what is returned
 *
 * Opens a file of somebody else. What SQLite would replay or delete with it is looked at before anything is read: a journal that
 * names a file to be deleted is refused, and so is a journal, log or index of it that is a link, has a second name or is no file.
 *
 * Returns: (transfer full) (nullable): with %GANTRY_ERROR_INVALID where it is refused, as gantry_file_check() where it is no file
 */
sqlite3 *gantry_database_open (const char *path, int flags, int most_bytes_of_a_value, GCancellable *cancellable, GError **error);

/**
 * gantry_database_distrust:
 * @most_bytes_of_a_value: of one text or blob
 * @cancellable: (nullable): ends whatever is read; it has to live as long as @db. There is a look at it every ten thousand
 *  instructions of SQLite's machine, some tenths of a millisecond
 *
 * To be called when @db is open and before anything is read: nothing that the file has besides tables is used, no function that its
 * schema names is called unless it is harmless, and what a statement may be or a value may hold has limits.
 */
void gantry_database_distrust (sqlite3 *db, int most_bytes_of_a_value, GCancellable *cancellable);

/**
 * gantry_database_is_plain:
 * @table: a table that is there
 *
 * Asked of the schema as SQLite has understood it, not of its text.
 *
 * Returns: whether reading and writing it runs no expression of the file's own: it is no virtual table, none of its columns is
 *  computed, and none of its indices is made over an expression or over a part of the rows. CHECK and DEFAULT, which only writing
 *  evaluates, are not looked at. FALSE, with sqlite3_errcode() of @db, also where it cannot be found out
 */
gboolean gantry_database_is_plain (sqlite3 *db, const char *table);

G_END_DECLS
