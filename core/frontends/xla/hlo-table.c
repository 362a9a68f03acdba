/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of places that newer versions write in front of the computations:
 *   FileNames      1 "net.py"
 *   FunctionNames  1 "main"
 *   FileLocations  1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=3 end_column=9}
 *   StackFrames    1 {file_location_id=1 parent_frame_id=1}
 * An instruction names a frame; the leaf frame is where it was written. */
#include "core/frontends/xla/hlo-private.h"

#define MOST_ENTRIES (1 << 24)

HloTables *
gantry_hlo_tables_new (void)
{
  HloTables *tables = g_new0 (HloTables, 1);

  tables->files = g_array_new (FALSE, TRUE, sizeof (guint32));
  tables->locations = g_array_new (FALSE, TRUE, sizeof (HloFileLocation));
  tables->frames = g_array_new (FALSE, TRUE, sizeof (guint32));
  return tables;
}

void
gantry_hlo_tables_free (HloTables *tables)
{
  g_array_unref (tables->files);
  g_array_unref (tables->locations);
  g_array_unref (tables->frames);
  g_free (tables);
}

/* Entries are numbered by hand; a number far beyond what was read before is no table's. */
static gboolean
room_for (Hlo *h, GArray *entries, gint64 number)
{
  if (number < 0 || number > (gint64) entries->len + 1000 || number > MOST_ENTRIES)
    {
      gantry_xla_scan_fail (&h->s, GANTRY_ERROR_INVALID, "number %" G_GINT64_FORMAT " of a table is out of order", number);
      return FALSE;
    }
  if (number >= entries->len)
    g_array_set_size (entries, (guint) number + 1);
  return TRUE;
}

/* "{line=7 column=3}" */
static void
fields (Hlo *h, const char *const *keys, gint64 *values, guint n)
{
  GantryXlaScan *s = &h->s;

  gantry_xla_scan_expect (s, "{");
  while (s->error == NULL && !gantry_xla_scan_sees (s, "}"))
    {
      GantryXlaSpan key = gantry_xla_scan_word (s, FALSE);
      gint64 value;

      gantry_xla_scan_expect (s, "=");
      value = gantry_xla_scan_int (s);
      for (guint i = 0; i < n; i++)
        if (gantry_xla_span_is (key, keys[i]))
          values[i] = CLAMP (value, 0, G_MAXINT32);
      gantry_xla_scan_accept (s, ",");
    }
  gantry_xla_scan_expect (s, "}");
}

static HloFileLocation
location (const HloTables *tables, gint64 file, gint64 line, gint64 column)
{
  return (HloFileLocation){ file >= 0 && file < tables->files->len ? g_array_index (tables->files, guint32, file) : 0, (guint32) CLAMP (line, 0, G_MAXINT32),
                            (guint32) CLAMP (column, 0, G_MAXINT32) };
}

void
gantry_hlo_add_location (HloTables *tables, gint64 file, gint64 line, gint64 column)
{
  HloFileLocation added = location (tables, file, line, column);

  g_array_append_val (tables->locations, added);
}

static void
entry (Hlo *h, HloTables *tables, guint which, gint64 number)
{
  static const char *const location_keys[] = { "file_name_id", "line", "column" };
  static const char *const frame_keys[] = { "file_location_id" };
  gint64 values[3] = { 0, 0, 0 };

  if (which < 2)
    {
      g_autofree char *name = gantry_xla_scan_string (&h->s);

      if (which == 0 && name != NULL && room_for (h, tables->files, number))
        g_array_index (tables->files, guint32, number) = gantry_context_intern (h->context, name);
      return;
    }
  fields (h, which == 2 ? location_keys : frame_keys, values, which == 2 ? 3 : 1);
  if (which == 2 && room_for (h, tables->locations, number))
    g_array_index (tables->locations, HloFileLocation, number) = location (tables, values[0], values[1], values[2]);
  else if (which == 3 && room_for (h, tables->frames, number))
    g_array_index (tables->frames, guint32, number) = (guint32) values[0];
}

gboolean
gantry_hlo_table (Hlo *h, HloTables *tables)
{
  static const char *const names[] = { "FileNames", "FunctionNames", "FileLocations", "StackFrames" };

  for (guint which = 0; which < G_N_ELEMENTS (names); which++)
    if (gantry_xla_scan_accept (&h->s, names[which]))
      {
        while (h->s.error == NULL && g_ascii_isdigit (gantry_xla_scan_peek (&h->s)))
          entry (h, tables, which, gantry_xla_scan_int (&h->s));
        return TRUE;
      }
  return FALSE;
}

const HloFileLocation *
gantry_hlo_frame (const HloTables *tables, gint64 number)
{
  guint32 location;

  if (tables == NULL || number <= 0 || number >= tables->frames->len)
    return NULL;
  location = g_array_index (tables->frames, guint32, number);
  return location < tables->locations->len ? &g_array_index (tables->locations, HloFileLocation, location) : NULL;
}
