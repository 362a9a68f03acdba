/* SPDX-License-Identifier: Apache-2.0 */
/* Writes ZIP archives of stored entries. */
#include "tests/core/frontends/torch/zip-writer.h"
#include <string.h>

static void
put (GByteArray *bytes, guint64 value, guint n)
{
  for (guint i = 0; i < n; i++)
    g_byte_array_append (bytes, &(guint8){ (guint8) (i < 8 ? value >> 8 * i : 0) }, 1);
}

static guint32
checksum (const guint8 *data, gsize n)
{
  guint32 crc = G_MAXUINT32;

  for (gsize i = 0; i < n; i++)
    {
      crc ^= data[i];
      for (guint k = 0; k < 8; k++)
        crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
  return ~crc;
}

static void
put_end (GByteArray *bytes, guint n, gsize directory, gboolean zip64)
{
  gsize end = bytes->len;

  if (zip64)
    {
      put (bytes, 0x06064b50, 4);
      put (bytes, 44, 8);
      put (bytes, 0, 12);
      put (bytes, n, 8);
      put (bytes, n, 8);
      put (bytes, end - directory, 8);
      put (bytes, directory, 8);
      put (bytes, 0x07064b50, 4);
      put (bytes, 0, 4);
      put (bytes, end, 8);
      put (bytes, 1, 4);
    }
  put (bytes, 0x06054b50, 4);
  put (bytes, 0, 4);
  put (bytes, zip64 ? G_MAXUINT16 : n, 2);
  put (bytes, zip64 ? G_MAXUINT16 : n, 2);
  put (bytes, zip64 ? G_MAXUINT32 : end - directory, 4);
  put (bytes, zip64 ? G_MAXUINT32 : directory, 4);
  put (bytes, 0, 2);
}

GBytes *
zip_write (const ZipEntry *entries, guint n, gboolean zip64)
{
  GByteArray *bytes = g_byte_array_new ();
  g_autofree gsize *headers = g_new0 (gsize, n + 1);
  gsize directory = 0;

  for (guint i = 0; i < 2 * n; i++)
    {
      const ZipEntry *e = &entries[i % n];
      gboolean central = i >= n;
      gsize size = e->size != 0 ? e->size : strlen (e->data), name = strlen (e->name);

      if (i == n)
        directory = bytes->len;
      if (!central)
        headers[i] = bytes->len;
      put (bytes, central ? 0x02014b50 : 0x04034b50, 4);
      put (bytes, 0, central ? 4 : 2);
      put (bytes, e->flags, 2);
      put (bytes, e->method, 2);
      put (bytes, 0, 4);
      put (bytes, checksum ((const guint8 *) e->data, size) ^ e->spoil_checksum, 4);
      put (bytes, zip64 && central ? G_MAXUINT32 : size, 4);
      put (bytes, zip64 && central ? G_MAXUINT32 : e->unpacked != 0 ? e->unpacked : size, 4);
      put (bytes, name, 2);
      put (bytes, zip64 && central ? 28 : 0, 2);
      if (central)
        {
          put (bytes, 0, 10);
          put (bytes, zip64 ? G_MAXUINT32 : headers[e->place_of != 0 ? e->place_of - 1 : i - n], 4);
        }
      g_byte_array_append (bytes, (const guint8 *) e->name, (guint) name);
      if (zip64 && central)
        {
          put (bytes, 1, 2);
          put (bytes, 24, 2);
          put (bytes, size, 8);
          put (bytes, size, 8);
          put (bytes, headers[i - n], 8);
        }
      if (!central)
        g_byte_array_append (bytes, (const guint8 *) e->data, (guint) size);
    }
  put_end (bytes, n, directory, zip64);
  return g_byte_array_free_to_bytes (bytes);
}
