/* SPDX-License-Identifier: Apache-2.0 */
/* The container of MLIR bytecode, versions 0 to 6: a head, then sections in any order. Numbers are varints whose first
 * byte says by its trailing zeros how many follow. What is read here is the sections and an index of functions. */
#include "core/frontends/xla/mlir-bytecode-private.h"

#define MAGIC "ML\xefR"
#define MOST_VERSION 6

enum
{
  SECTION_STRINGS = 0,
  SECTION_DIALECTS = 1,
  SECTION_ENTRIES = 2,
  SECTION_OFFSETS = 3,
  SECTION_OPERATIONS = GANTRY_MLIR_SECTION_OPERATIONS,
  SECTION_PROPERTIES = 8,
  N_SECTIONS = 9,
};

/* Versions from which on. */
#define VERSION_DIALECTS 1
#define VERSION_ARGUMENT_PLACES 4
#define VERSION_PROPERTIES 5

static gboolean
begins (const guint8 *data, gsize length)
{
  return length >= 4 && memcmp (data, MAGIC, 4) == 0;
}

static guint
number16 (const guint8 *at)
{
  return at[0] | (guint) at[1] << 8;
}

static guint32
number32 (const guint8 *at)
{
  return number16 (at) | (guint32) number16 (at + 2) << 16;
}

/* What jax.export serializes is a FlatBuffer: a place of the root, which begins with the distance back to a list of
 * where its members stand. One member is the place of bytes, length first, that are the bytecode. */
static gboolean
find_in_export (GantryWireSpan file, GantryWireSpan *bytecode)
{
  guint64 root = file.length >= 8 ? number32 (file.data) : file.length;
  gint64 table;
  guint size;

  if (root + 4 > file.length)
    return FALSE;
  table = (gint64) root - (gint32) number32 (file.data + root);
  if (table < 0 || (guint64) table + 4 > file.length)
    return FALSE;
  size = number16 (file.data + table);
  for (guint64 at = (guint64) table + 4; at + 2 <= MIN ((guint64) table + size, file.length); at += 2)
    {
      guint64 member = root + number16 (file.data + at);
      guint64 bytes = member > root && member + 4 <= file.length ? member + number32 (file.data + member) : file.length;
      guint64 length = bytes + 4 <= file.length ? number32 (file.data + bytes) : 0;

      if (length == 0 || length > file.length - bytes - 4 || !begins (file.data + bytes + 4, length))
        continue;
      *bytecode = (GantryWireSpan){ file.data + bytes + 4, (gsize) length };
      return TRUE;
    }
  return FALSE;
}

static gboolean
find (const char *data, gsize length, GantryWireSpan *bytecode)
{
  *bytecode = (GantryWireSpan){ (const guint8 *) data, length };
  return begins (bytecode->data, length) || find_in_export (*bytecode, bytecode);
}

gboolean
gantry_mlir_is_bytecode (const char *data, gsize length)
{
  GantryWireSpan bytecode;

  return find (data, length, &bytecode);
}

void
gantry_mlir_bytecode_free (MlirBytecode *bytecode)
{
  g_array_unref (bytecode->strings);
  g_ptr_array_unref (bytecode->dialects);
  g_array_unref (bytecode->op_names);
  g_array_unref (bytecode->attributes);
  g_array_unref (bytecode->types);
  g_array_unref (bytecode->properties);
  g_free (bytecode);
}

void
gantry_mlir_bytecode_fail (Mlir *m, const guint8 *at, GantryError code, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list arguments;

  va_start (arguments, format);
  what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (m->s.error == NULL)
    m->s.at = (const char *) at;
  gantry_xla_scan_fail (&m->s, code, "%s", what);
}

/* Reading */

static void
cut (Mlir *m, MlirCursor *c)
{
  gantry_mlir_bytecode_fail (m, c->at, GANTRY_ERROR_TRUNCATED, "what is written here ends too early; the file is damaged or cut short");
  c->at = c->end;
}

guint8
gantry_mlir_byte (Mlir *m, MlirCursor *c)
{
  if (c->at < c->end)
    return *c->at++;
  cut (m, c);
  return 0;
}

guint64
gantry_mlir_varint (Mlir *m, MlirCursor *c)
{
  guint8 first = gantry_mlir_byte (m, c);
  guint more = first != 0 ? (guint) __builtin_ctz (first) : 8;
  guint64 value = 0;

  if (m->s.error != NULL)
    return 0;
  if ((gsize) (c->end - c->at) < more)
    {
      cut (m, c);
      return 0;
    }
  for (guint i = 0; i < more; i++)
    value |= (guint64) c->at[i] << (8 * i);
  c->at += more;
  return more == 8 ? value : value << (7 - more) | (guint64) (first >> (more + 1));
}

gint64
gantry_mlir_signed_varint (Mlir *m, MlirCursor *c)
{
  guint64 value = gantry_mlir_varint (m, c);

  return (gint64) (value >> 1 ^ (0 - (value & 1)));
}

guint64
gantry_mlir_count (Mlir *m, MlirCursor *c)
{
  const guint8 *at = c->at;
  guint64 n = gantry_mlir_varint (m, c);

  if (n <= (guint64) (c->end - c->at))
    return n;
  gantry_mlir_bytecode_fail (m, at, GANTRY_ERROR_INVALID, "%" G_GUINT64_FORMAT " things are said to follow, and there is no room for them", n);
  c->at = c->end;
  return 0;
}

GantryWireSpan
gantry_mlir_blob (Mlir *m, MlirCursor *c)
{
  guint64 length = gantry_mlir_count (m, c);
  GantryWireSpan blob = { c->at, (gsize) length };

  c->at += length;
  return blob;
}

char *
gantry_mlir_bytecode_string (Mlir *m, const guint8 *at, guint64 index)
{
  g_autofree char *text = NULL;
  const GantryWireSpan *span;

  if (index >= m->bytecode->strings->len)
    {
      gantry_mlir_bytecode_fail (m, at, GANTRY_ERROR_INVALID, "string %" G_GUINT64_FORMAT " is not there", index);
      return g_strdup ("");
    }
  span = &g_array_index (m->bytecode->strings, GantryWireSpan, index);
  text = g_strndup ((const char *) span->data, span->length);
  return g_utf8_make_valid (text, -1);
}

MlirEntry *
gantry_mlir_entry (Mlir *m, const guint8 *at, GArray *entries, guint64 index)
{
  if (m->s.error == NULL && index < entries->len)
    return &g_array_index (entries, MlirEntry, index);
  gantry_mlir_bytecode_fail (m, at, GANTRY_ERROR_INVALID, "%s %" G_GUINT64_FORMAT " is not there", entries == m->bytecode->types ? "type" : "attribute", index);
  return NULL;
}

gboolean
gantry_mlir_entry_is (Mlir *m, const MlirEntry *entry, const char *dialect)
{
  return strcmp (g_ptr_array_index (m->bytecode->dialects, entry->dialect), dialect) == 0;
}

/* Sections */

/* Reads the head of a section and goes behind it. Returns: its number */
guint
gantry_mlir_section (Mlir *m, MlirCursor *c, GantryWireSpan *content)
{
  const guint8 *at = c->at;
  guint id = gantry_mlir_byte (m, c);
  guint64 length = gantry_mlir_varint (m, c);

  if ((id & 0x80) != 0)
    {
      guint64 alignment = gantry_mlir_varint (m, c);

      if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > (1 << 20))
        gantry_mlir_bytecode_fail (m, at, GANTRY_ERROR_INVALID, "a section is aligned to %" G_GUINT64_FORMAT " bytes", alignment);
      while (m->s.error == NULL && ((guint64) (c->at - m->bytecode->start) & (alignment - 1)) != 0)
        gantry_mlir_byte (m, c);
    }
  if (m->s.error == NULL && length > (guint64) (c->end - c->at))
    gantry_mlir_bytecode_fail (m, at, GANTRY_ERROR_TRUNCATED,
                               "a section of %" G_GUINT64_FORMAT " bytes has %" G_GSIZE_FORMAT "; the file is damaged or cut short", length,
                               (gsize) (c->end - c->at));
  if (m->s.error != NULL)
    {
      *content = (GantryWireSpan){ 0 };
      c->at = c->end;
      return N_SECTIONS;
    }
  *content = (GantryWireSpan){ c->at, (gsize) length };
  c->at += length;
  return id & 0x7f;
}

/* Lengths stand from the last string to the first, each with a NUL. */
static void
read_strings (Mlir *m, GantryWireSpan span)
{
  MlirCursor c = gantry_mlir_cursor (span);
  guint64 n = gantry_mlir_count (m, &c);
  const guint8 *end = c.end;

  g_array_set_size (m->bytecode->strings, (guint) n);
  for (guint64 i = n; i-- > 0 && m->s.error == NULL;)
    {
      const guint8 *at = c.at;
      guint64 length = gantry_mlir_varint (m, &c);

      if (length == 0 || c.at > end || length > (guint64) (end - c.at))
        {
          gantry_mlir_bytecode_fail (m, at, GANTRY_ERROR_INVALID, "a string is longer than its section");
          return;
        }
      end -= length;
      g_array_index (m->bytecode->strings, GantryWireSpan, i) = (GantryWireSpan){ end, (gsize) length - 1 };
    }
}

static void
read_dialects (Mlir *m, GantryWireSpan span)
{
  MlirBytecode *b = m->bytecode;
  MlirCursor c = gantry_mlir_cursor (span);
  guint64 n = gantry_mlir_count (m, &c);

  for (guint64 i = 0; i < n && m->s.error == NULL; i++)
    {
      const guint8 *at = c.at;
      guint64 name = gantry_mlir_varint (m, &c);
      GantryWireSpan version;

      if (b->version >= VERSION_DIALECTS && (name & 1) != 0)
        gantry_mlir_section (m, &c, &version);
      g_ptr_array_add (b->dialects, gantry_mlir_bytecode_string (m, at, b->version >= VERSION_DIALECTS ? name >> 1 : name));
    }
  if (b->version >= VERSION_ARGUMENT_PLACES)
    gantry_mlir_varint (m, &c); /* how many names */
  while (c.at < c.end && m->s.error == NULL)
    {
      const guint8 *at = c.at;
      guint64 dialect = gantry_mlir_varint (m, &c), count = gantry_mlir_count (m, &c);

      if (dialect >= b->dialects->len)
        gantry_mlir_bytecode_fail (m, at, GANTRY_ERROR_INVALID, "dialect %" G_GUINT64_FORMAT " is not there", dialect);
      for (guint64 i = 0; i < count && m->s.error == NULL; i++)
        {
          guint64 name = gantry_mlir_varint (m, &c);
          MlirOpName op = { .dialect = (guint32) dialect };

          name = b->version >= VERSION_PROPERTIES ? name >> 1 : name;
          if (name < b->strings->len)
            op.name = g_array_index (b->strings, GantryWireSpan, name);
          else
            gantry_mlir_bytecode_fail (m, at, GANTRY_ERROR_INVALID, "string %" G_GUINT64_FORMAT " is not there", name);
          g_array_append_val (b->op_names, op);
        }
    }
}

/* Attributes first, then types, in groups of a dialect. */
static void
read_entries (Mlir *m, GantryWireSpan offsets, GantryWireSpan data)
{
  MlirBytecode *b = m->bytecode;
  MlirCursor c = gantry_mlir_cursor (offsets);
  guint64 n_attributes = gantry_mlir_count (m, &c), n_types = gantry_mlir_count (m, &c);
  gsize position = 0;

  while (c.at < c.end && m->s.error == NULL)
    {
      const guint8 *at = c.at;
      guint64 dialect = gantry_mlir_varint (m, &c), count = gantry_mlir_count (m, &c);

      if (dialect >= b->dialects->len)
        gantry_mlir_bytecode_fail (m, at, GANTRY_ERROR_INVALID, "dialect %" G_GUINT64_FORMAT " is not there", dialect);
      for (guint64 i = 0; i < count && m->s.error == NULL; i++)
        {
          guint64 size = gantry_mlir_varint (m, &c);
          MlirEntry entry = { .dialect = (guint32) dialect, .custom = (size & 1) != 0 };

          if (size >> 1 > data.length - position)
            {
              gantry_mlir_bytecode_fail (m, at, GANTRY_ERROR_INVALID, "an attribute or type is longer than its section");
              return;
            }
          entry.bytes = (GantryWireSpan){ data.data + position, (gsize) (size >> 1) };
          position += size >> 1;
          g_array_append_val (b->attributes->len < n_attributes ? b->attributes : b->types, entry);
        }
    }
  if (m->s.error == NULL && (b->attributes->len != n_attributes || b->types->len != n_types))
    gantry_mlir_bytecode_fail (m, offsets.data, GANTRY_ERROR_INVALID, "there are not as many attributes and types as are said");
}

static void
read_properties (Mlir *m, GantryWireSpan span)
{
  MlirCursor c = gantry_mlir_cursor (span);
  guint64 n = gantry_mlir_count (m, &c);

  for (guint64 i = 0; i < n && m->s.error == NULL; i++)
    {
      GantryWireSpan blob = gantry_mlir_blob (m, &c);

      g_array_append_val (m->bytecode->properties, blob);
    }
}

static void
read_head (Mlir *m, MlirCursor *c)
{
  const guint8 *end, *at;

  c->at += 4;
  at = c->at;
  m->bytecode->version = gantry_mlir_varint (m, c);
  if (m->s.error == NULL && m->bytecode->version > MOST_VERSION)
    gantry_mlir_bytecode_fail (m, at, GANTRY_ERROR_UNSUPPORTED,
                               "bytecode of version %" G_GUINT64_FORMAT " is not read; up to %d is: export for an older version", m->bytecode->version,
                               MOST_VERSION);
  end = m->s.error == NULL ? memchr (c->at, 0, (gsize) (c->end - c->at)) : NULL;
  if (end == NULL)
    {
      cut (m, c);
      return;
    }
  g_free (m->info->producer);
  m->info->producer = g_utf8_make_valid ((const char *) c->at, end - c->at);
  c->at = end + 1;
}

static void
read_sections (Mlir *m, GantryWireSpan sections[N_SECTIONS])
{
  static const guint needed[] = { SECTION_STRINGS, SECTION_DIALECTS, SECTION_ENTRIES, SECTION_OFFSETS, SECTION_OPERATIONS };
  GantryWireSpan bytecode;
  MlirCursor c;

  find (m->s.text, (gsize) (m->s.end - m->s.text), &bytecode);
  m->bytecode->start = bytecode.data;
  c = gantry_mlir_cursor (bytecode);
  read_head (m, &c);
  while (c.at < c.end && m->s.error == NULL)
    {
      GantryWireSpan content;
      guint id = gantry_mlir_section (m, &c, &content);

      if (id < N_SECTIONS)
        sections[id] = content;
    }
  for (guint i = 0; i < G_N_ELEMENTS (needed); i++)
    if (sections[needed[i]].data == NULL)
      gantry_mlir_bytecode_fail (m, c.end, GANTRY_ERROR_TRUNCATED, "a section is missing (number %u)", needed[i]);
}

void
gantry_mlir_bytecode_open (Mlir *m)
{
  GantryWireSpan sections[N_SECTIONS] = { { 0 } };
  MlirBytecode *b = m->bytecode = g_new0 (MlirBytecode, 1);

  b->strings = g_array_new (FALSE, TRUE, sizeof (GantryWireSpan));
  b->dialects = g_ptr_array_new_with_free_func (g_free);
  b->op_names = g_array_new (FALSE, FALSE, sizeof (MlirOpName));
  b->attributes = g_array_new (FALSE, FALSE, sizeof (MlirEntry));
  b->types = g_array_new (FALSE, FALSE, sizeof (MlirEntry));
  b->properties = g_array_new (FALSE, FALSE, sizeof (GantryWireSpan));
  read_sections (m, sections);
  if (m->s.error == NULL)
    read_strings (m, sections[SECTION_STRINGS]);
  if (m->s.error == NULL)
    read_dialects (m, sections[SECTION_DIALECTS]);
  if (m->s.error == NULL)
    read_entries (m, sections[SECTION_OFFSETS], sections[SECTION_ENTRIES]);
  if (m->s.error == NULL && sections[SECTION_PROPERTIES].data != NULL)
    read_properties (m, sections[SECTION_PROPERTIES]);
  if (m->s.error == NULL)
    gantry_mlir_bytecode_index (m, sections[SECTION_OPERATIONS]);
}
