/* SPDX-License-Identifier: Apache-2.0 */
/* Export to the trace event format that Chrome's about:tracing and Perfetto read, written as it goes. Every event is a
 * complete event ("X") of the thread that its lane is; calls are tied by flows ("s", "f") to what they started; memory
 * and counters are counter events ("C"). docs/recordings.md tells the arguments. */
#include "profiler/export-private.h"
#include <math.h>
#include <string.h>

/* Threads of a lane: readers drop events of one thread that overlap without one being inside the other, so those go to
 * another thread of the same name. */
#define MOST_ROWS 64u
#define TID_OF(lane, row) ((lane) *MOST_ROWS + (row) + 1)

/* Ends of the events that are open in each row, the innermost last. */
typedef struct
{
  GArray *open[MOST_ROWS]; /* gint64 */
  gboolean named[MOST_ROWS];
} Rows;

typedef struct
{
  Export out;
  const GantryRecording *recording;
  gboolean any;    /* an entry was written: the next begins with a comma */
  GArray *callers; /* guint32, rising: correlations of calls */
  GArray *called;  /* of what they started */
} Writer;

static void
put_string (GString *out, const char *text)
{
  g_autofree char *valid = g_utf8_validate (text, -1, NULL) ? NULL : g_utf8_make_valid (text, -1);

  g_string_append_c (out, '"');
  for (const char *p = valid != NULL ? valid : text; *p != '\0'; p++)
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
  guint64 size = ns < 0 ? -(guint64) ns : (guint64) ns;

  g_string_append (out, key);
  if (ns < 0)
    g_string_append_c (out, '-');
  _gantry_export_number (out, size / 1000);
  g_string_append_c (out, '.');
  for (guint digit = 100; digit > 0; digit /= 10)
    g_string_append_c (out, (char) ('0' + size / digit % 10));
}

static void
put_number (GString *out, const char *key, guint64 number)
{
  g_string_append (out, key);
  _gantry_export_number (out, number);
}

static void
begin_entry (Writer *w, const char *phase, const char *name)
{
  GString *text = w->out.text;

  g_string_append (text, w->any ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
  g_string_append (text, phase);
  g_string_append (text, "\",\"pid\":1,\"name\":");
  put_string (text, name);
  w->any = TRUE;
}

static void
put_triple (GString *out, const char *key, const guint32 *triple)
{
  if (triple[0] == 0)
    return;
  g_string_append (out, key);
  for (guint i = 0; i < 3; i++)
    put_number (out, i == 0 ? "[" : ",", triple[i]);
  g_string_append_c (out, ']');
}

/* Under the names that PyTorch's traces give them. */
static void
put_detail (GString *out, const GantryLaunchDetail *detail)
{
  put_number (out, ",\"device\":", detail->device);
  put_number (out, ",\"stream\":", detail->stream);
  put_triple (out, ",\"grid\":", detail->grid);
  put_triple (out, ",\"block\":", detail->block);
  put_triple (out, ",\"cluster\":", detail->cluster);
  if (detail->registers > 0)
    put_number (out, ",\"registers per thread\":", detail->registers);
  if (detail->static_shared > 0)
    put_number (out, ",\"static shared memory\":", detail->static_shared);
  if (detail->dynamic_shared > 0)
    put_number (out, ",\"dynamic shared memory\":", detail->dynamic_shared);
  if (detail->local_bytes > 0)
    put_number (out, ",\"local memory per thread\":", detail->local_bytes);
}

static void
put_event (Writer *w, const GantryEvent *event, guint tid)
{
  const GantryRecording *recording = w->recording;
  const GantryLaunchDetail *detail = gantry_recording_detail (recording, event->detail);
  const char *kind = gantry_event_kind_name (event->kind), *name = gantry_recording_string (recording, event->name);
  GString *text = w->out.text;

  begin_entry (w, "X", name[0] != '\0' ? name : kind);
  put_time (text, ",\"ts\":", event->begin);
  put_time (text, ",\"dur\":", event->end - event->begin);
  put_number (text, ",\"tid\":", tid);
  g_string_append (text, ",\"cat\":\"");
  g_string_append (text, kind);
  put_number (text, "\",\"args\":{\"node\":", event->node);
  put_number (text, ",\"bytes\":", event->bytes);
  if (event->instruction != GANTRY_NO_INSTRUCTION)
    put_number (text, ",\"instruction\":", event->instruction);
  if (event->thread != 0)
    put_number (text, ",\"thread\":", event->thread);
  if (event->correlation != 0)
    put_number (text, ",\"correlation\":", event->correlation);
  if (detail != NULL)
    put_detail (text, detail);
  g_string_append (text, "}}");
}

/* Flows: from a call to what it started. */

static gboolean
is_caller (const GantryEvent *event)
{
  return event->kind == GANTRY_EVENT_CALL || event->kind == GANTRY_EVENT_HOST_CALL;
}

static gboolean
is_called (const GantryEvent *event)
{
  return event->kind == GANTRY_EVENT_KERNEL || event->kind == GANTRY_EVENT_COPY || event->kind == GANTRY_EVENT_FILL || event->kind == GANTRY_EVENT_CONVERT;
}

static int
compare_numbers (gconstpointer a, gconstpointer b)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return (x > y) - (x < y);
}

static gboolean
holds (const GArray *sorted, guint32 number)
{
  return g_array_binary_search ((GArray *) sorted, &number, compare_numbers, NULL);
}

static void
find_flows (Writer *w)
{
  for (guint lane = 0; lane < gantry_recording_n_lanes (w->recording); lane++)
    for (guint64 i = 0; i < gantry_recording_n_events (w->recording, lane); i++)
      {
        GantryEvent event;

        gantry_recording_get (w->recording, lane, i, &event);
        if (event.correlation != 0 && is_caller (&event))
          g_array_append_val (w->callers, event.correlation);
        else if (event.correlation != 0 && is_called (&event))
          g_array_append_val (w->called, event.correlation);
      }
  g_array_sort (w->callers, compare_numbers);
  g_array_sort (w->called, compare_numbers);
}

static void
put_flow (Writer *w, const GantryEvent *event, guint tid)
{
  gboolean begins = is_caller (event);

  if (event->correlation == 0 || (!begins && !is_called (event)) || !holds (begins ? w->called : w->callers, event->correlation))
    return;
  begin_entry (w, begins ? "s" : "f", "starts");
  put_time (w->out.text, ",\"ts\":", event->begin);
  put_number (w->out.text, ",\"tid\":", tid);
  put_number (w->out.text, ",\"cat\":\"starts\",\"id\":", event->correlation);
  g_string_append (w->out.text, begins ? "}" : ",\"bp\":\"e\"}");
}

/* Lanes */

static void
put_lane_name (Writer *w, guint lane, guint row)
{
  begin_entry (w, "M", "thread_name");
  put_number (w->out.text, ",\"tid\":", TID_OF (lane, row));
  g_string_append (w->out.text, ",\"args\":{\"name\":");
  put_string (w->out.text, gantry_recording_lane_name (w->recording, lane));
  g_string_append (w->out.text, "}}");
  begin_entry (w, "M", "thread_sort_index");
  put_number (w->out.text, ",\"tid\":", TID_OF (lane, row));
  put_number (w->out.text, ",\"args\":{\"sort_index\":", TID_OF (lane, row));
  g_string_append (w->out.text, "}}");
}

/* The first row in which the event lies beside the others or inside one of them. */
static guint
row_for (Rows *rows, const GantryEvent *event)
{
  for (guint row = 0; row < MOST_ROWS; row++)
    {
      GArray *open = rows->open[row];

      if (open == NULL)
        open = rows->open[row] = g_array_new (FALSE, FALSE, sizeof (gint64));
      while (open->len > 0 && g_array_index (open, gint64, open->len - 1) <= event->begin)
        g_array_set_size (open, open->len - 1);
      if (row + 1 < MOST_ROWS && open->len > 0 && g_array_index (open, gint64, open->len - 1) < event->end)
        continue;
      g_array_append_val (open, event->end);
      return row;
    }
  g_assert_not_reached ();
}

static gboolean
put_lane (Writer *w, guint lane, GError **error)
{
  Rows rows = { { NULL } };
  gboolean good = TRUE;

  for (guint64 i = 0; good && i < gantry_recording_n_events (w->recording, lane); i++)
    {
      GantryEvent event;
      guint row;

      gantry_recording_get (w->recording, lane, i, &event);
      row = row_for (&rows, &event);
      if (!rows.named[row])
        put_lane_name (w, lane, row);
      rows.named[row] = TRUE;
      put_event (w, &event, TID_OF (lane, row));
      put_flow (w, &event, TID_OF (lane, row));
      good = _gantry_export_flush (&w->out, EXPORT_FLUSH_AT, error);
    }
  for (guint row = 0; row < MOST_ROWS; row++)
    if (rows.open[row] != NULL)
      g_array_unref (rows.open[row]);
  return good;
}

static gboolean
put_series (Writer *w, const char *name, const Series *series, GError **error)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  for (guint64 i = 0; i < series->n; i++)
    {
      /* JSON has no infinity, and readers pass over a null. */
      if (!isfinite (series->value[i]))
        continue;
      begin_entry (w, "C", name);
      put_time (w->out.text, ",\"ts\":", series->time[i]);
      g_string_append_printf (w->out.text, ",\"args\":{\"value\":%s}}", g_ascii_dtostr (number, sizeof number, series->value[i]));
      if (!_gantry_export_flush (&w->out, EXPORT_FLUSH_AT, error))
        return FALSE;
    }
  return TRUE;
}

static void
put_head (Writer *w)
{
  g_string_append (w->out.text, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"device\":");
  put_string (w->out.text, gantry_recording_device (w->recording));
  for (guint i = 0; i < gantry_recording_n_notes (w->recording); i++)
    {
      put_number (w->out.text, ",\"note ", i + 1);
      g_string_append (w->out.text, "\":");
      put_string (w->out.text, gantry_recording_note (w->recording, i));
    }
  g_string_append (w->out.text, "},\"traceEvents\":[");
  begin_entry (w, "M", "process_name");
  g_string_append (w->out.text, ",\"args\":{\"name\":\"Gantry\"}}");
}

static gboolean
put_all (Writer *w, GError **error)
{
  const GantryRecording *recording = w->recording;

  put_head (w);
  find_flows (w);
  for (guint lane = 0; lane < gantry_recording_n_lanes (recording); lane++)
    if (!put_lane (w, lane, error))
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
  g_string_append (w->out.text, "\n]}\n");
  return _gantry_export_flush (&w->out, 0, error);
}

gboolean
gantry_recording_write_chrome (const GantryRecording *recording, GOutputStream *stream, GCancellable *cancellable, GError **error)
{
  Writer w = { { stream, cancellable, NULL }, recording };
  gboolean written;

  if (!gantry_recording_load_all (recording, cancellable, error))
    return FALSE;
  w.out.text = g_string_sized_new (2 * EXPORT_FLUSH_AT);
  w.callers = g_array_new (FALSE, FALSE, sizeof (guint32));
  w.called = g_array_new (FALSE, FALSE, sizeof (guint32));
  written = put_all (&w, error);
  g_array_unref (w.callers);
  g_array_unref (w.called);
  g_string_free (w.out.text, TRUE);
  return written;
}
