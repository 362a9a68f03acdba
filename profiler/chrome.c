/* SPDX-License-Identifier: Apache-2.0 */
/* Export to the trace event format that Chrome's about:tracing and Perfetto read, written as it goes:
 * a recording of millions of events takes no more memory than its buffer. */
#include "profiler/recording-private.h"
#include <math.h>
#include <string.h>

#define FLUSH_AT 65536u

typedef struct
{
  GOutputStream *stream;
  GCancellable *cancellable;
  GString *text;
  gboolean any; /* an entry was written: the next begins with a comma */
} Writer;

static gboolean
flush (Writer *w, gsize at_least, GError **error)
{
  gboolean written;

  if (w->text->len < at_least)
    return TRUE;
  /* Not every stream looks. */
  if (g_cancellable_set_error_if_cancelled (w->cancellable, error))
    return FALSE;
  written = g_output_stream_write_all (w->stream, w->text->str, w->text->len, NULL, w->cancellable, error);
  g_string_truncate (w->text, 0);
  return written;
}

static void
put_string (GString *out, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  g_string_append_c (out, '"');
  for (const char *p = valid; *p != '\0'; p++)
    {
      if (*p == '"' || *p == '\\')
        g_string_append_printf (out, "\\%c", *p);
      else if ((guchar) *p < 0x20)
        g_string_append_printf (out, "\\u%04x", (guchar) *p);
      else
        g_string_append_c (out, *p);
    }
  g_string_append_c (out, '"');
}

/* Nanoseconds as the microseconds of the format, exactly. */
static void
put_time (GString *out, const char *key, gint64 ns)
{
  guint64 size = (guint64) ABS (ns);

  g_string_append_printf (out, ",\"%s\":%s%" G_GUINT64_FORMAT ".%03u", key, ns < 0 ? "-" : "", size / 1000,
                          (guint) (size % 1000));
}

static void
begin_entry (Writer *w, const char *phase, const char *name)
{
  g_string_append (w->text, w->any ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
  g_string_append (w->text, phase);
  g_string_append (w->text, "\",\"pid\":1,\"name\":");
  put_string (w->text, name);
  w->any = TRUE;
}

static void
put_event (Writer *w, const GantryRecording *recording, const GantryEvent *event)
{
  const char *kind = gantry_event_kind_name (event->kind);
  const char *name = gantry_recording_string (recording, event->name);

  begin_entry (w, "X", name[0] != '\0' ? name : kind);
  put_time (w->text, "ts", event->begin);
  put_time (w->text, "dur", event->end - event->begin);
  g_string_append_printf (w->text, ",\"tid\":%u,\"cat\":\"%s\",\"args\":{\"node\":%u,\"bytes\":%" G_GUINT64_FORMAT,
                          event->lane, kind, event->node, event->bytes);
  if (event->instruction != GANTRY_NO_INSTRUCTION)
    g_string_append_printf (w->text, ",\"instruction\":%u", event->instruction);
  g_string_append (w->text, "}}");
}

static gboolean
put_lanes (Writer *w, const GantryRecording *recording, GError **error)
{
  for (guint lane = 0; lane < gantry_recording_n_lanes (recording); lane++)
    {
      if (gantry_recording_n_events (recording, lane) == 0)
        continue;
      begin_entry (w, "M", "thread_name");
      g_string_append_printf (w->text, ",\"tid\":%u,\"args\":{\"name\":", lane);
      put_string (w->text, gantry_recording_lane_name (recording, lane));
      g_string_append (w->text, "}}");
      for (guint64 i = 0; i < gantry_recording_n_events (recording, lane); i++)
        {
          GantryEvent event;

          gantry_recording_get (recording, lane, i, &event);
          put_event (w, recording, &event);
          if (!flush (w, FLUSH_AT, error))
            return FALSE;
        }
    }
  return TRUE;
}

static gboolean
put_series (Writer *w, const char *name, const Series *series, GError **error)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  for (guint64 i = 0; i < series->n; i++)
    {
      begin_entry (w, "C", name);
      put_time (w->text, "ts", series->time[i]);
      /* JSON has no infinity. */
      g_string_append_printf (w->text, ",\"args\":{\"value\":%s}}",
                              isfinite (series->value[i]) ? g_ascii_dtostr (number, sizeof number, series->value[i])
                                                          : "null");
      if (!flush (w, FLUSH_AT, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
put_all (Writer *w, const GantryRecording *recording, GError **error)
{
  g_string_append (w->text, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"device\":");
  put_string (w->text, gantry_recording_device (recording));
  g_string_append (w->text, "},\"traceEvents\":[");
  if (!put_lanes (w, recording, error))
    return FALSE;
  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    {
      g_autofree char *name = g_strdup_printf ("%s memory", gantry_memory_kind_name (kind));

      if (!put_series (w, name, &recording->memory_series[kind], error))
        return FALSE;
    }
  for (guint i = 0; i < recording->counters->len; i++)
    {
      const Counter *counter = &g_array_index (recording->counters, Counter, i);

      if (!put_series (w, counter->name, &counter->series, error))
        return FALSE;
    }
  g_string_append (w->text, "\n]}\n");
  return flush (w, 0, error);
}

gboolean
gantry_recording_write_chrome (const GantryRecording *recording, GOutputStream *stream, GCancellable *cancellable,
                               GError **error)
{
  Writer w = { stream, cancellable, g_string_sized_new (2 * FLUSH_AT) };
  gboolean written = put_all (&w, recording, error);

  g_string_free (w.text, TRUE);
  return written;
}
