/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a ZIP archive that somebody else wrote, from memory: its directory is checked as a whole before any entry is
 * read, stored entries are handed out where they lie, deflated ones are unpacked within a limit. Encryption, several
 * disks and other ways of compression are refused. After PKWARE's APPNOTE 6.3.10, ZIP64 included. */
#pragma once
#include "core/base/error.h"

G_BEGIN_DECLS

/** Entries that one archive may have. */
#define GANTRY_ZIP_MOST_ENTRIES 1000000u

typedef struct _GantryZip GantryZip;

/**
 * gantry_zip_open:
 * @bytes: the archive; a reference is kept
 *
 * Reads the directory. Entries that lie over each other, over the directory or outside of the file are refused, as are
 * two of one name.
 *
 * Returns: (transfer full) (nullable): %GANTRY_ERROR_INVALID, TRUNCATED, TOO_LARGE or UNSUPPORTED, with the byte
 */
GantryZip *gantry_zip_open (GBytes *bytes, GError **error);
void gantry_zip_free (GantryZip *zip);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryZip, gantry_zip_free)

/** Returns: how many entries the directory has, files and folders */
guint gantry_zip_count (const GantryZip *zip);
/** The name of entry @i in the directory's order; valid as long as @zip. Its bytes are as the archive has them, but valid UTF-8. */
const char *gantry_zip_name (const GantryZip *zip, guint i);
/** Returns: the entry of that name, -1 where there is none */
gint64 gantry_zip_find (const GantryZip *zip, const char *name);

/**
 * gantry_zip_map:
 * @offset: (out) (optional): of its first byte in the archive
 *
 * Returns: (transfer full) (nullable): an entry's bytes where they lie in the archive, its checksum not compared: nothing is read.
 *  %GANTRY_ERROR_UNSUPPORTED where it is compressed
 */
GBytes *gantry_zip_map (const GantryZip *zip, guint i, guint64 *offset, GError **error);

/**
 * gantry_zip_read:
 * @limit: bytes that it may have unpacked
 *
 * Returns: (transfer full) (nullable): an entry's bytes, unpacked where it is compressed, its checksum compared
 */
GBytes *gantry_zip_read (const GantryZip *zip, guint i, guint64 limit, GError **error);

G_END_DECLS
