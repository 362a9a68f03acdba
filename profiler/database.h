/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite files of strangers: sessions and exports of other profilers. */
#pragma once
#include <gio/gio.h>
#include <sqlite3.h>

G_BEGIN_DECLS

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
 * Returns: whether reading it runs nothing: it is no virtual table, and none of its columns is computed
 */
gboolean gantry_database_is_plain (sqlite3 *db, const char *table);

G_END_DECLS
