/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite files for fuzz targets of what reads them. */
#pragma once
#include <glib.h>

/**
 * fuzz_sqlite_write:
 *
 * Puts the file @name in the folder of fuzz_file_path(). Bytes that begin as an SQLite file are one; all others are statements that
 * make one, so that rows are changed as text and every page stays whole.
 *
 * Returns: (transfer full) (nullable): its path; NULL where the statements make no file
 */
char *fuzz_sqlite_write (const char *name, const guint8 *data, gsize size);

/** What the sessions of the corpora are of: it lies beside them as model.gir. */
extern const char fuzz_session_model[];
