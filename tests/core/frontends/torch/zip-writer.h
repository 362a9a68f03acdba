/* SPDX-License-Identifier: Apache-2.0 */
/* Writes ZIP archives for tests, sound ones and others. */
#pragma once
#include <glib.h>

/**
 * ZipEntry:
 * @size: 0: as long as the text @data is
 * @place_of: 1 + index of the entry whose place the directory has for this one; 0: its own
 * @unpacked: what the directory says that it has unpacked; 0: @size
 */
typedef struct
{
  const char *name;
  const char *data;
  gsize size;
  guint16 flags, method;
  guint32 spoil_checksum;
  guint place_of;
  guint32 unpacked;
} ZipEntry;

GBytes *zip_write (const ZipEntry *entries, guint n, gboolean zip64);
