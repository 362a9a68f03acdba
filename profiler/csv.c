/* SPDX-License-Identifier: Apache-2.0 */
/* Export as comma separated values: a table of events, one of memory events, one of counter samples. The first line names
 * the columns, which docs/recordings.md explains; texts stand in quotes where they have to (RFC 4180). */
#include "profiler/export-private.h"
#include <string.h>

static void
put_text (GString *out, const char *text)
{
  if (strpbrk (text, ",\"\r\n") == NULL)
    {
      g_string_append (out, text);
      return;
    }
  g_string_append_c (out, '"');
  for (const char *p = text; *p != '\0'; p++)
    g_string_append (out, *p == '"' ? "\"\"" : (char[]){ *p, '\0' });
  g_string_append_c (out, '"');
}

static void
put_signed (GString *out, gint64 number)
{
  if (number < 0)
    g_string_append_c (out, '-');
  _gantry_export_number (out, number < 0 ? -(guint64) number : (guint64) number);
}

static void
put_cell (GString *out, guint64 number)
{
  g_string_append_c (out, ',');
  _gantry_export_number (out, number);
}

/* The words of a detail, in the order of GantryLaunchDetail; empty cells where there is none. */
static void
put_detail (GString *out, const GantryLaunchDetail *detail)
{
  const guint32 *words = (const guint32 *) (gconstpointer) detail;

  for (guint i = 0; i < sizeof *detail / sizeof *words; i++)
    if (detail != NULL)
      put_cell (out, words[i]);
    else
      g_string_append_c (out, ',');
}

static void
put_event (GString *out, const GantryRecording *recording, const GantryEvent *event)
{
  _gantry_export_number (out, event->lane);
  g_string_append_c (out, ',');
  put_text (out, gantry_recording_lane_name (recording, event->lane));
  g_string_append_c (out, ',');
  g_string_append (out, gantry_event_kind_name (event->kind));
  g_string_append_c (out, ',');
  put_text (out, gantry_recording_string (recording, event->name));
  g_string_append_c (out, ',');
  put_signed (out, event->begin);
  g_string_append_c (out, ',');
  put_signed (out, event->end);
  put_cell (out, (guint64) (event->end - event->begin));
  put_cell (out, event->bytes);
  put_cell (out, event->node);
  g_string_append_c (out, ',');
  if (event->instruction != GANTRY_NO_INSTRUCTION)
    _gantry_export_number (out, event->instruction);
  put_cell (out, event->thread);
  put_cell (out, event->correlation);
  put_detail (out, gantry_recording_detail (recording, event->detail));
  g_string_append (out, "\r\n");
}

static gboolean
put_events (Export *out, const GantryRecording *recording, GError **error)
{
  g_string_append (out->text, "lane,lane_name,kind,name,begin_ns,end_ns,duration_ns,bytes,node,instruction,thread,"
                              "correlation,grid_x,grid_y,grid_z,block_x,block_y,block_z,cluster_x,cluster_y,cluster_z,"
                              "registers,static_shared,dynamic_shared,local_bytes,device,stream\r\n");
  for (guint lane = 0; lane < gantry_recording_n_lanes (recording); lane++)
    for (guint64 i = 0; i < gantry_recording_n_events (recording, lane); i++)
      {
        GantryEvent event;

        gantry_recording_get (recording, lane, i, &event);
        put_event (out->text, recording, &event);
        if (!_gantry_export_flush (out, EXPORT_FLUSH_AT, error))
          return FALSE;
      }
  return TRUE;
}

static gboolean
put_memory (Export *out, const GantryRecording *recording, GError **error)
{
  g_string_append (out->text, "time_ns,memory,event,offset,bytes,buffer,node\r\n");
  for (guint64 i = 0; i < gantry_recording_n_memory_events (recording); i++)
    {
      GantryMemoryEvent event;

      gantry_recording_get_memory (recording, i, &event);
      put_signed (out->text, event.time);
      g_string_append_printf (out->text, ",%s,%s", gantry_memory_kind_name (event.memory), event.release ? "release" : "allocate");
      put_cell (out->text, event.offset);
      put_cell (out->text, event.bytes);
      if (event.buffer == GANTRY_NO_BUFFER)
        g_string_append_c (out->text, ',');
      else
        put_cell (out->text, event.buffer);
      put_cell (out->text, event.node);
      g_string_append (out->text, "\r\n");
      if (!_gantry_export_flush (out, EXPORT_FLUSH_AT, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
put_counters (Export *out, const GantryRecording *recording, GError **error)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (out->text, "time_ns,counter,value\r\n");
  for (guint c = 0; c < recording->counters->len; c++)
    {
      const Counter *counter = &g_array_index (recording->counters, Counter, c);

      for (guint64 i = 0; i < counter->series.n; i++)
        {
          put_signed (out->text, counter->series.time[i]);
          g_string_append_c (out->text, ',');
          put_text (out->text, counter->name);
          g_string_append_c (out->text, ',');
          g_string_append (out->text, g_ascii_dtostr (number, sizeof number, counter->series.value[i]));
          g_string_append (out->text, "\r\n");
          if (!_gantry_export_flush (out, EXPORT_FLUSH_AT, error))
            return FALSE;
        }
    }
  return TRUE;
}

gboolean
gantry_recording_write_csv (const GantryRecording *recording, GantryCsvTable table, GOutputStream *stream, GCancellable *cancellable, GError **error)
{
  Export out = { stream, cancellable, NULL };
  gboolean written;

  if (!gantry_recording_load_all (recording, cancellable, error))
    return FALSE;
  out.text = g_string_sized_new (2 * EXPORT_FLUSH_AT);
  written = (table == GANTRY_CSV_EVENTS   ? put_events (&out, recording, error)
             : table == GANTRY_CSV_MEMORY ? put_memory (&out, recording, error)
                                          : put_counters (&out, recording, error))
            && _gantry_export_flush (&out, 0, error);
  g_string_free (out.text, TRUE);
  return written;
}
