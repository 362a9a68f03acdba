/* SPDX-License-Identifier: Apache-2.0 */
/* Statements run in memory, and what they made is written as a file. */
#include "fuzz/fuzz-sqlite.h"
#include "fuzz/fuzz-file.h"
#include <sqlite3.h>
#include <string.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC (sqlite3, sqlite3_close)

const char fuzz_session_model[] =
  "module \"m\" { func @main #1 (%1 \"x\": f32[2,4], %2 \"w\": f32[4,4] {role = \"parameter\"}) -> (%4) {"
  "%3 \"a\" = dot_general(%1, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[2,4] scope(\"layer\")"
  "%4 \"y\" = tanh(%3): f32[2,4] scope(\"layer\") } }";

/* The statements make a file of their own, and nothing else on this machine. */
static int
authorize (void *data, int action, const char *a, const char *b, const char *c, const char *d)
{
  return action == SQLITE_ATTACH || action == SQLITE_DETACH || (action == SQLITE_PRAGMA && g_ascii_strcasecmp (a, "page_size") != 0) ? SQLITE_DENY : SQLITE_OK;
}

static int
give_up (void *data)
{
  return ++*(guint *) data > 20;
}

static char *
make_by_statements (const char *name, const char *sql)
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
  sqlite3_set_authorizer (db, NULL, NULL); /* what follows asks for the number of pages by a pragma */
  bytes = sqlite3_serialize (db, "main", &size, 0);
  g_assert (bytes != NULL || size == 0); /* no statement keeps it from being made */
  path = bytes != NULL ? fuzz_file_write (name, bytes, (gsize) size) : NULL;
  sqlite3_free (bytes);
  return path;
}

char *
fuzz_sqlite_write (const char *name, const guint8 *data, gsize size)
{
  g_autofree char *sql = NULL;

  if (size >= 16 && memcmp (data, "SQLite format 3", 16) == 0)
    return fuzz_file_write (name, data, size);
  sql = g_strndup ((const char *) data, size);
  return make_by_statements (name, sql);
}
