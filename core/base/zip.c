/* SPDX-License-Identifier: Apache-2.0 */
/* A ZIP archive: the record at its end says where the directory is, the directory where the entries are. */
#include "core/base/zip.h"
#include "core/base/allocate.h"
#include "core/base/fail.h"
#include <string.h>

#define END_SIGNATURE 0x06054b50u
#define END_BYTES 22u
#define END64_SIGNATURE 0x06064b50u
#define END64_BYTES 56u
#define LOCATOR_SIGNATURE 0x07064b50u
#define LOCATOR_BYTES 20u
#define CENTRAL_SIGNATURE 0x02014b50u
#define CENTRAL_BYTES 46u
#define LOCAL_SIGNATURE 0x04034b50u
#define LOCAL_BYTES 30u

#define FLAG_ENCRYPTED 1u
#define METHOD_STORED 0u
#define METHOD_DEFLATED 8u

/* Deflate makes no more than 1032 bytes of one. */
#define MOST_RATIO 1032u

typedef struct
{
  char *name;
  guint64 packed, size; /* bytes in the archive, and unpacked */
  guint64 header;       /* where its local header begins */
  guint64 data;         /* where its bytes begin */
  guint32 checksum;
  guint16 method, flags;
} Entry;

struct _GantryZip
{
  GBytes *bytes;
  const guint8 *data;
  guint64 size;
  guint64 directory, directory_end;
  guint64 n_declared;
  GArray *entries;     /* Entry */
  GHashTable *by_name; /* name of an entry -> its index + 1 */
};

static guint16
get16 (const guint8 *p)
{
  return (guint16) (p[0] | p[1] << 8);
}

static guint32
get32 (const guint8 *p)
{
  return get16 (p) | (guint32) get16 (p + 2) << 16;
}

static guint64
get64 (const guint8 *p)
{
  return get32 (p) | (guint64) get32 (p + 4) << 32;
}

static gboolean
has (const GantryZip *zip, guint64 at, guint64 n)
{
  return at <= zip->size && n <= zip->size - at;
}

/* The record at the end: the last place from which signature and length of the comment lead to the end of the file. */
static gboolean
find_end (const GantryZip *zip, guint64 *end, GError **error)
{
  guint64 least = zip->size > END_BYTES + G_MAXUINT16 ? zip->size - END_BYTES - G_MAXUINT16 : 0;

  for (guint64 at = zip->size >= END_BYTES ? zip->size - END_BYTES + 1 : 0; at > least; at--)
    if (get32 (zip->data + at - 1) == END_SIGNATURE && at - 1 + END_BYTES + get16 (zip->data + at - 1 + 20) == zip->size)
      {
        *end = at - 1;
        return TRUE;
      }
  return gantry_fail (error, GANTRY_ERROR_TRUNCATED, "no ZIP archive ends where the file ends, at byte %" G_GUINT64_FORMAT "; the file is cut short or damaged",
                      zip->size);
}

/* Where an archive has too many entries or bytes for the old record, a newer one stands before it. */
static gboolean
read_end64 (GantryZip *zip, guint64 end, guint64 *bytes, gboolean *found, GError **error)
{
  guint64 at;

  *found = end >= LOCATOR_BYTES && get32 (zip->data + end - LOCATOR_BYTES) == LOCATOR_SIGNATURE;
  if (!*found)
    return TRUE;
  at = get64 (zip->data + end - LOCATOR_BYTES + 8);
  if (!has (zip, at, END64_BYTES) || get32 (zip->data + at) != END64_SIGNATURE)
    return gantry_fail (error, GANTRY_ERROR_INVALID, "byte %" G_GUINT64_FORMAT ": the ZIP64 record is not at byte %" G_GUINT64_FORMAT "; the file is damaged",
                        end - LOCATOR_BYTES, at);
  if (get32 (zip->data + at + 16) != 0 || get32 (zip->data + at + 20) != 0)
    return gantry_fail (error, GANTRY_ERROR_UNSUPPORTED, "an archive on several disks is not read");
  zip->n_declared = get64 (zip->data + at + 32);
  *bytes = get64 (zip->data + at + 40);
  zip->directory = get64 (zip->data + at + 48);
  return TRUE;
}

static gboolean
find_directory (GantryZip *zip, GError **error)
{
  guint64 end = 0, bytes = 0;
  gboolean is64;

  if (!find_end (zip, &end, error) || !read_end64 (zip, end, &bytes, &is64, error))
    return FALSE;
  if (!is64)
    {
      if (get16 (zip->data + end + 4) != 0 || get16 (zip->data + end + 6) != 0)
        return gantry_fail (error, GANTRY_ERROR_UNSUPPORTED, "an archive on several disks is not read");
      zip->n_declared = get16 (zip->data + end + 10);
      bytes = get32 (zip->data + end + 12);
      zip->directory = get32 (zip->data + end + 16);
    }
  if (zip->directory > end || bytes > end - zip->directory)
    return gantry_fail (error, GANTRY_ERROR_INVALID,
                        "the directory of %" G_GUINT64_FORMAT " bytes at byte %" G_GUINT64_FORMAT " is not before byte %" G_GUINT64_FORMAT
                        ", where it ends; the file is damaged",
                        bytes, zip->directory, end);
  zip->directory_end = zip->directory + bytes;
  if (zip->n_declared > GANTRY_ZIP_MOST_ENTRIES)
    return gantry_fail (error, GANTRY_ERROR_TOO_LARGE, "an archive of %" G_GUINT64_FORMAT " entries; at most %u are read", zip->n_declared,
                        GANTRY_ZIP_MOST_ENTRIES);
  if (zip->n_declared * CENTRAL_BYTES > bytes)
    return gantry_fail (error, GANTRY_ERROR_INVALID,
                        "a directory of %" G_GUINT64_FORMAT " bytes cannot list %" G_GUINT64_FORMAT " entries; the file is damaged", bytes, zip->n_declared);
  return TRUE;
}

/* What does not fit its 32 bits stands in the ZIP64 field, in this order. */
static gboolean
widen (Entry *entry, const guint8 *extra, guint64 n)
{
  guint64 *wide[] = { &entry->size, &entry->packed, &entry->header };

  for (guint64 at = 0; at + 4 <= n;)
    {
      guint16 id = get16 (extra + at), length = get16 (extra + at + 2);
      const guint8 *value = extra + at + 4, *end = value + length;

      if (at + 4 + length > n)
        return FALSE;
      at += 4u + length;
      for (guint i = 0; i < G_N_ELEMENTS (wide) && id == 1; i++)
        if (*wide[i] == G_MAXUINT32)
          {
            if (end - value < 8)
              return FALSE;
            *wide[i] = get64 (value);
            value += 8;
          }
    }
  return TRUE;
}

/* The local header is read for its length alone: sizes may be missing there. */
static gboolean
find_data (const GantryZip *zip, Entry *entry, GError **error)
{
  if (!has (zip, entry->header, LOCAL_BYTES) || get32 (zip->data + entry->header) != LOCAL_SIGNATURE)
    return gantry_fail (error, GANTRY_ERROR_INVALID, "'%s' is not at byte %" G_GUINT64_FORMAT ", where the directory has it; the file is damaged", entry->name,
                        entry->header);
  entry->data = entry->header + LOCAL_BYTES + get16 (zip->data + entry->header + 26) + get16 (zip->data + entry->header + 28);
  if (!has (zip, entry->data, entry->packed) || entry->data + entry->packed > zip->directory)
    return gantry_fail (error, GANTRY_ERROR_TRUNCATED,
                        "'%s' has %" G_GUINT64_FORMAT " bytes from byte %" G_GUINT64_FORMAT " on, which reach into the directory at byte %" G_GUINT64_FORMAT
                        "; the file is damaged",
                        entry->name, entry->packed, entry->data, zip->directory);
  if (entry->method == METHOD_STORED && entry->size != entry->packed)
    return gantry_fail (error, GANTRY_ERROR_INVALID, "'%s' is stored, but its sizes differ; the file is damaged", entry->name);
  if (entry->size / MOST_RATIO > entry->packed)
    return gantry_fail (error, GANTRY_ERROR_INVALID, "'%s' cannot have %" G_GUINT64_FORMAT " bytes unpacked of %" G_GUINT64_FORMAT "; the file is damaged",
                        entry->name, entry->size, entry->packed);
  return TRUE;
}

/* Entry at byte @at of the directory; moves it behind. */
static gboolean
read_entry (GantryZip *zip, guint64 *at, Entry *entry, GError **error)
{
  const guint8 *p = zip->data + *at;
  guint64 n_name, n_extra, n_comment;

  if (zip->directory_end - *at < CENTRAL_BYTES || get32 (p) != CENTRAL_SIGNATURE)
    return gantry_fail (error, GANTRY_ERROR_INVALID, "byte %" G_GUINT64_FORMAT ": no entry of the directory; the file is damaged", *at);
  n_name = get16 (p + 28);
  n_extra = get16 (p + 30);
  n_comment = get16 (p + 32);
  if (zip->directory_end - *at - CENTRAL_BYTES < n_name + n_extra + n_comment)
    return gantry_fail (error, GANTRY_ERROR_INVALID, "byte %" G_GUINT64_FORMAT ": the entry is longer than the directory; the file is damaged", *at);
  *entry = (Entry){
    .flags = get16 (p + 8), .method = get16 (p + 10), .checksum = get32 (p + 16), .packed = get32 (p + 20), .size = get32 (p + 24), .header = get32 (p + 42)
  };
  if (!g_utf8_validate ((const char *) p + CENTRAL_BYTES, (gssize) n_name, NULL))
    return gantry_fail (error, GANTRY_ERROR_INVALID, "byte %" G_GUINT64_FORMAT ": the entry's name is no UTF-8", *at);
  if (!widen (entry, p + CENTRAL_BYTES + n_name, n_extra))
    return gantry_fail (error, GANTRY_ERROR_INVALID, "byte %" G_GUINT64_FORMAT ": the entry's extra fields are damaged", *at);
  entry->name = g_strndup ((const char *) p + CENTRAL_BYTES, n_name);
  *at += CENTRAL_BYTES + n_name + n_extra + n_comment;
  return TRUE;
}

static gboolean
read_directory (GantryZip *zip, GError **error)
{
  guint64 at = zip->directory;

  for (guint64 i = 0; i < zip->n_declared; i++)
    {
      Entry entry;

      if (!read_entry (zip, &at, &entry, error))
        return FALSE;
      g_array_append_val (zip->entries, entry);
      if (!find_data (zip, &g_array_index (zip->entries, Entry, i), error))
        return FALSE;
      if (!g_hash_table_insert (zip->by_name, entry.name, GUINT_TO_POINTER ((guint) i + 1)))
        return gantry_fail (error, GANTRY_ERROR_INVALID, "two entries are named '%s'; the file is damaged", entry.name);
    }
  return TRUE;
}

static int
compare_places (gconstpointer a, gconstpointer b)
{
  const Entry *x = *(const Entry *const *) a, *y = *(const Entry *const *) b;

  return x->header < y->header ? -1 : x->header > y->header;
}

static gboolean
check_overlaps (const GantryZip *zip, GError **error)
{
  g_autofree const Entry **sorted = g_new (const Entry *, zip->entries->len + 1);

  for (guint i = 0; i < zip->entries->len; i++)
    sorted[i] = &g_array_index (zip->entries, Entry, i);
  qsort (sorted, zip->entries->len, sizeof *sorted, compare_places);
  for (guint i = 1; i < zip->entries->len; i++)
    if (sorted[i]->header < sorted[i - 1]->data + sorted[i - 1]->packed)
      return gantry_fail (error, GANTRY_ERROR_INVALID, "byte %" G_GUINT64_FORMAT ": '%s' lies over '%s'; the file is damaged", sorted[i]->header,
                          sorted[i]->name, sorted[i - 1]->name);
  return TRUE;
}

static void
clear_entry (gpointer data)
{
  g_free (((Entry *) data)->name);
}

GantryZip *
gantry_zip_open (GBytes *bytes, GError **error)
{
  g_autoptr (GantryZip) zip = g_new0 (GantryZip, 1);
  gsize size;

  zip->bytes = g_bytes_ref (bytes);
  zip->data = g_bytes_get_data (bytes, &size);
  zip->size = size;
  zip->entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  g_array_set_clear_func (zip->entries, clear_entry);
  zip->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  if (!find_directory (zip, error) || !read_directory (zip, error) || !check_overlaps (zip, error))
    return NULL;
  return g_steal_pointer (&zip);
}

void
gantry_zip_free (GantryZip *zip)
{
  if (zip == NULL)
    return;
  g_hash_table_unref (zip->by_name);
  g_array_unref (zip->entries);
  g_bytes_unref (zip->bytes);
  g_free (zip);
}

guint
gantry_zip_count (const GantryZip *zip)
{
  return zip->entries->len;
}

static const Entry *
entry_of (const GantryZip *zip, guint i)
{
  g_assert (i < zip->entries->len);
  return &g_array_index (zip->entries, Entry, i);
}

const char *
gantry_zip_name (const GantryZip *zip, guint i)
{
  return entry_of (zip, i)->name;
}

gint64
gantry_zip_find (const GantryZip *zip, const char *name)
{
  return (gint64) GPOINTER_TO_UINT (g_hash_table_lookup (zip->by_name, name)) - 1;
}

static gboolean
check_readable (const Entry *entry, GError **error)
{
  if (entry->flags & FLAG_ENCRYPTED)
    return gantry_fail (error, GANTRY_ERROR_UNSUPPORTED, "'%s' is encrypted, which is not read", entry->name);
  if (entry->method != METHOD_STORED && entry->method != METHOD_DEFLATED)
    return gantry_fail (error, GANTRY_ERROR_UNSUPPORTED, "'%s' is compressed by method %u, which is not read; stored and deflated are", entry->name,
                        entry->method);
  return TRUE;
}

GBytes *
gantry_zip_map (const GantryZip *zip, guint i, guint64 *offset, GError **error)
{
  const Entry *entry = entry_of (zip, i);

  if (!check_readable (entry, error))
    return NULL;
  if (entry->method != METHOD_STORED)
    {
      gantry_fail (error, GANTRY_ERROR_UNSUPPORTED, "'%s' is compressed, so that it cannot be mapped", entry->name);
      return NULL;
    }
  if (offset != NULL)
    *offset = entry->data;
  return g_bytes_new_from_bytes (zip->bytes, entry->data, entry->packed);
}

/* CRC-32 of ISO 3309, four bits at a time. */
static guint32
checksum (const guint8 *data, gsize n)
{
  static const guint32 table[16] = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
  };
  guint32 crc = G_MAXUINT32;

  for (gsize i = 0; i < n; i++)
    {
      crc = table[(crc ^ data[i]) & 15] ^ crc >> 4;
      crc = table[(crc ^ (data[i] >> 4)) & 15] ^ crc >> 4;
    }
  return ~crc;
}

static GBytes *
unpack (const GantryZip *zip, const Entry *entry, GError **error)
{
  g_autoptr (GZlibDecompressor) inflate = g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_RAW);
  g_autofree guint8 *plain = gantry_try_allocate (entry->size + 1, 1, entry->name, error);
  g_autoptr (GError) failure = NULL;
  GConverterResult result = G_CONVERTER_CONVERTED;
  gsize read = 0, written = 0;

  if (plain == NULL)
    return NULL;
  /* One byte more than there is to be: so that too many are seen. */
  while (result == G_CONVERTER_CONVERTED && written <= entry->size)
    {
      gsize n_read = 0, n_written = 0;

      result = g_converter_convert (G_CONVERTER (inflate), zip->data + entry->data + read, entry->packed - read, plain + written, entry->size + 1 - written,
                                    G_CONVERTER_INPUT_AT_END, &n_read, &n_written, &failure);
      read += n_read;
      written += n_written;
    }
  if (result != G_CONVERTER_FINISHED || written != entry->size)
    {
      gantry_fail (error, GANTRY_ERROR_INVALID, "'%s' does not unpack to its %" G_GUINT64_FORMAT " bytes%s%s; the file is damaged", entry->name, entry->size,
                   failure != NULL ? ": " : "", failure != NULL ? failure->message : "");
      return NULL;
    }
  return g_bytes_new_take (g_steal_pointer (&plain), written);
}

GBytes *
gantry_zip_read (const GantryZip *zip, guint i, guint64 limit, GError **error)
{
  const Entry *entry = entry_of (zip, i);
  g_autoptr (GBytes) bytes = NULL;
  gsize n;
  gconstpointer data;

  if (!check_readable (entry, error))
    return NULL;
  if (entry->size > limit)
    {
      gantry_fail (error, GANTRY_ERROR_TOO_LARGE, "'%s' has %" G_GUINT64_FORMAT " bytes; at most %" G_GUINT64_FORMAT " are read", entry->name, entry->size,
                   limit);
      return NULL;
    }
  bytes = entry->method == METHOD_STORED ? gantry_zip_map (zip, i, NULL, error) : unpack (zip, entry, error);
  if (bytes == NULL)
    return NULL;
  data = g_bytes_get_data (bytes, &n);
  if (checksum (data, n) != entry->checksum)
    {
      gantry_fail (error, GANTRY_ERROR_INVALID, "'%s' has another checksum than the directory says; the file is damaged", entry->name);
      return NULL;
    }
  return g_steal_pointer (&bytes);
}
