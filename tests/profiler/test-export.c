/* SPDX-License-Identifier: Apache-2.0 */
/* Exports, read back by other means: every event once, nothing that a reader of traces would drop. */
#include "tests/profiler/make-recording.h"
#include "tests/random-seed.h"
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

static char *
to_chrome (const GantryRecording *recording)
{
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (GError) error = NULL;

  g_assert_true (gantry_recording_write_chrome (recording, stream, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (g_output_stream_write_all (stream, "", 1, NULL, NULL, NULL));
  g_output_stream_close (stream, NULL, NULL);
  return g_memory_output_stream_steal_data (G_MEMORY_OUTPUT_STREAM (stream));
}

static char *
to_csv (const GantryRecording *recording, GantryCsvTable table)
{
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (GError) error = NULL;

  g_assert_true (gantry_recording_write_csv (recording, table, stream, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (g_output_stream_write_all (stream, "", 1, NULL, NULL, NULL));
  g_output_stream_close (stream, NULL, NULL);
  return g_memory_output_stream_steal_data (G_MEMORY_OUTPUT_STREAM (stream));
}

typedef struct
{
  guint64 of_kind[GANTRY_N_EVENT_KINDS], bytes[GANTRY_N_EVENT_KINDS];
  double length[GANTRY_N_EVENT_KINDS]; /* us */
  guint64 counters, sources, targets, details;
  GHashTable *ends;  /* tid -> GArray of double: ends of open events, to see that they nest */
  GHashTable *flows; /* ids of "s" */
} Counted;

static guint
kind_named (const char *name)
{
  for (guint i = 0; i < GANTRY_N_EVENT_KINDS; i++)
    if (strcmp (name, gantry_event_kind_name (i)) == 0)
      return i;
  g_error ("no kind '%s'", name);
}

/* Events of a thread come in the order of begin, and lie beside or inside each other. */
static void
check_nesting (Counted *counted, JsonObject *event)
{
  gpointer tid = GINT_TO_POINTER (json_object_get_int_member (event, "tid"));
  GArray *open = g_hash_table_lookup (counted->ends, tid);
  double begin = json_object_get_double_member (event, "ts"), end = begin + json_object_get_double_member (event, "dur");

  if (open == NULL)
    {
      open = g_array_new (FALSE, FALSE, sizeof (double));
      g_hash_table_insert (counted->ends, tid, open);
    }
  while (open->len > 0 && g_array_index (open, double, open->len - 1) < begin + 1e-4)
    g_array_set_size (open, open->len - 1);
  g_assert_true (open->len == 0 || g_array_index (open, double, open->len - 1) > end - 1e-4);
  g_array_append_val (open, end);
}

static void
count_event (Counted *counted, JsonObject *event)
{
  const char *phase = json_object_get_string_member (event, "ph");
  JsonObject *args = json_object_has_member (event, "args") ? json_object_get_object_member (event, "args") : NULL;

  if (strcmp (phase, "X") == 0)
    {
      guint kind = kind_named (json_object_get_string_member (event, "cat"));

      counted->of_kind[kind]++;
      counted->bytes[kind] += (guint64) json_object_get_int_member (args, "bytes");
      counted->length[kind] += json_object_get_double_member (event, "dur");
      counted->details += json_object_has_member (args, "registers per thread");
      check_nesting (counted, event);
    }
  else if (strcmp (phase, "C") == 0)
    counted->counters++;
  else if (strcmp (phase, "s") == 0)
    {
      counted->sources++;
      g_hash_table_add (counted->flows, GINT_TO_POINTER (json_object_get_int_member (event, "id")));
    }
  else if (strcmp (phase, "f") == 0)
    counted->targets++;
  else
    g_assert_cmpstr (phase, ==, "M");
}

static void
test_chrome (void)
{
  g_autoptr (GRand) random = test_rand (41);
  g_autoptr (GantryRecording) recording = make_recording (random, 1500, 100000000);
  g_autofree char *text = to_chrome (recording);
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (GError) error = NULL;
  GantryEventTotals totals[GANTRY_N_EVENT_KINDS];
  Counted counted = { .ends = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_array_unref), .flows = g_hash_table_new (NULL, NULL) };
  guint64 details = 0, called = 0;
  JsonArray *events;
  JsonObject *other;

  json_parser_load_from_data (parser, text, -1, &error);
  g_assert_no_error (error);
  other = json_object_get_object_member (json_node_get_object (json_parser_get_root (parser)), "otherData");
  g_assert_cmpstr (json_object_get_string_member (other, "device"), ==, "test device");
  g_assert_cmpstr (json_object_get_string_member (other, "note 2"), ==, "no right to sample counters");
  events = json_object_get_array_member (json_node_get_object (json_parser_get_root (parser)), "traceEvents");
  for (guint i = 0; i < json_array_get_length (events); i++)
    count_event (&counted, json_array_get_object_element (events, i));
  gantry_recording_totals (recording, totals);
  for (guint i = 0; i < GANTRY_N_EVENT_KINDS; i++)
    {
      g_assert_cmpuint (counted.of_kind[i], ==, totals[i].count);
      g_assert_cmpuint (counted.bytes[i], ==, totals[i].bytes);
      g_assert_cmpfloat (fabs (counted.length[i] - (double) totals[i].total_ns / 1e3), <, 1);
    }
  for (guint lane = 0; lane < gantry_recording_n_lanes (recording); lane++)
    for (guint64 i = 0; i < gantry_recording_n_events (recording, lane); i++)
      {
        GantryEvent event;

        gantry_recording_get (recording, lane, i, &event);
        details += event.detail != 0;
        called += (event.kind == GANTRY_EVENT_KERNEL || event.kind == GANTRY_EVENT_COPY || event.kind == GANTRY_EVENT_FILL) && event.correlation != 0
                  && g_hash_table_contains (counted.flows, GINT_TO_POINTER (event.correlation));
      }
  g_assert_cmpuint (counted.details, ==, details);
  g_assert_cmpuint (counted.targets, ==, called);
  g_assert_cmpuint (counted.counters, ==, gantry_recording_n_memory_events (recording) + 1500 / 3);
  g_hash_table_unref (counted.ends);
  g_hash_table_unref (counted.flows);
}

/* A call and the kernel that it started are tied; a call that started nothing is not. */
static void
test_flows (void)
{
  GantryRecordingBuilder *builder = gantry_recording_builder_new ();
  g_autoptr (GantryRecording) recording = NULL;
  g_autofree char *text = NULL;

  gantry_recording_builder_add (builder, &(GantryEvent){ .begin = 0, .end = 10, .kind = GANTRY_EVENT_CALL, .lane = 4, .correlation = 77 });
  gantry_recording_builder_add (builder, &(GantryEvent){ .begin = 12, .end = 14, .kind = GANTRY_EVENT_CALL, .lane = 4, .correlation = 78 });
  gantry_recording_builder_add (builder, &(GantryEvent){ .begin = 11, .end = 20, .correlation = 77 });
  gantry_recording_builder_add (builder, &(GantryEvent){ .begin = 30, .end = 40, .correlation = 79 });
  recording = gantry_recording_builder_end (builder);
  text = to_chrome (recording);
  g_assert_nonnull (strstr (text, "\"ph\":\"s\",\"pid\":1,\"name\":\"starts\",\"ts\":0.000,\"tid\":257,\"cat\":\"starts\",\"id\":77}"));
  g_assert_nonnull (strstr (text, "\"ph\":\"f\",\"pid\":1,\"name\":\"starts\",\"ts\":0.011,\"tid\":1,\"cat\":\"starts\",\"id\":77,\"bp\":\"e\"}"));
  g_assert_null (strstr (text, "\"id\":78"));
  g_assert_null (strstr (text, "\"id\":79"));
}

static guint
count_lines (const char *text)
{
  guint n = 0;

  for (const char *p = strstr (text, "\r\n"); p != NULL; p = strstr (p + 2, "\r\n"))
    n++;
  return n;
}

static void
test_csv (void)
{
  g_autoptr (GRand) random = test_rand (42);
  g_autoptr (GantryRecording) recording = make_recording (random, 3000, 1000000);
  g_autofree char *events = to_csv (recording, GANTRY_CSV_EVENTS), *memory = to_csv (recording, GANTRY_CSV_MEMORY);
  g_autofree char *counters = to_csv (recording, GANTRY_CSV_COUNTERS);
  guint64 n = 0;

  for (guint lane = 0; lane < gantry_recording_n_lanes (recording); lane++)
    n += gantry_recording_n_events (recording, lane);
  g_assert_cmpuint (count_lines (events), ==, n + 1);
  g_assert_cmpuint (count_lines (memory), ==, gantry_recording_n_memory_events (recording) + 1);
  g_assert_cmpuint (count_lines (counters), ==, 3000 / 3 + 1);
  /* A name with quotes and a line break stands in quotes. */
  g_assert_nonnull (strstr (events, ",\"kernel \"\"1\"\" \xc3\xa9\n\","));
}

static void
test_csv_line (void)
{
  GantryRecordingBuilder *builder = gantry_recording_builder_new ();
  GantryLaunchDetail detail = { { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 9 }, 10, 11, 12, 13, 14, 15 };
  GantryEvent event = { .begin = -5, .end = 20, .bytes = 21, .instruction = 22, .node = 23, .thread = 24 };
  g_autoptr (GantryRecording) recording = NULL;
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  event.name = gantry_recording_builder_string (builder, "gemm");
  event.detail = gantry_recording_builder_detail (builder, &detail);
  event.correlation = 25;
  gantry_recording_builder_add (builder, &event);
  event = (GantryEvent){ .begin = 30, .end = 31, .instruction = GANTRY_NO_INSTRUCTION, .kind = GANTRY_EVENT_FILL };
  gantry_recording_builder_add (builder, &event);
  recording = gantry_recording_builder_end (builder);
  text = to_csv (recording, GANTRY_CSV_EVENTS);
  lines = g_strsplit (text, "\r\n", -1);
  g_assert_cmpstr (lines[1], ==, "0,compute,kernel,gemm,-5,20,25,21,23,22,24,25,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15");
  g_assert_cmpstr (lines[2], ==, "0,compute,fill,,30,31,1,0,0,,0,0,,,,,,,,,,,,,,,");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/profiler/export/chrome", test_chrome);
  g_test_add_func ("/profiler/export/flows", test_flows);
  g_test_add_func ("/profiler/export/csv", test_csv);
  g_test_add_func ("/profiler/export/csv-line", test_csv_line);
  return g_test_run ();
}
