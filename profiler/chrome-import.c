/* SPDX-License-Identifier: Apache-2.0 */
/* Import of the trace event format: what PyTorch's profiler (Kineto), Chrome and this program write. The text is read
 * token by token, so a trace may be larger than memory; members that mean nothing here are passed over. */
#include "core/base/error.h"
#include "core/base/json-stream.h"
#include "profiler/import-private.h"
#include <math.h>
#include <string.h>

#define MOST_VALUES 64u
#define MOST_OPEN 100000u
#define MOST_NAMED 65536u
#define OWN_ROWS 64 /* threads of a lane in what profiler/chrome.c writes */

/* One entry, as its members come. */
typedef struct
{
  char phase;
  GString *name, *category, *pid, *tid;
  GString *label; /* of metadata: the name */
  gboolean has_time;
  gint64 time, length, sort;
  GantryEvent event;
  GantryLaunchDetail detail;
  gboolean has_detail;
  GString *keys;  /* of numbers among the arguments, each with its NUL */
  GArray *values; /* double */
} Entry;

/* What metadata says of a process, or of a thread. */
typedef struct
{
  char *name;
  gint64 sort;
} About;

typedef struct
{
  Import import;
  GantryJsonStream json;
  const GantryProgress *progress;
  Entry entry;
  GString *key;                   /* of a lane */
  GHashTable *about;              /* key -> About */
  GArray *open[GANTRY_MAX_LANES]; /* GantryEvent that began, of phase B */
  guint64 n_unended;
  guint64 told; /* bytes when progress was told last */
  gboolean own; /* this program has written it */
  gboolean has_runs;
  gboolean found; /* there is a list of events */
} Chrome;

static void
about_free (gpointer data)
{
  About *about = data;

  g_free (about->name);
  g_free (about);
}

/* What a category means. Those of Kineto, and our own: names of kinds. */
static gboolean
kind_of (const char *category, guint8 *kind, gboolean *device)
{
  static const struct
  {
    const char *name;
    guint8 kind;
    gboolean device;
  } kinds[] = {
    { "kernel", GANTRY_EVENT_KERNEL, TRUE },          { "gpu_memcpy", GANTRY_EVENT_COPY, TRUE },
    { "gpu_memset", GANTRY_EVENT_FILL, TRUE },        { "gpu_user_annotation", GANTRY_EVENT_RANGE, TRUE },
    { "cuda_sync", GANTRY_EVENT_SYNC, FALSE },        { "cuda_runtime", GANTRY_EVENT_CALL, FALSE },
    { "cuda_driver", GANTRY_EVENT_CALL, FALSE },      { "overhead", GANTRY_EVENT_OVERHEAD, FALSE },
    { "cpu_op", GANTRY_EVENT_RANGE, FALSE },          { "user_annotation", GANTRY_EVENT_RANGE, FALSE },
    { "python_function", GANTRY_EVENT_RANGE, FALSE }, { "cpu_instant_event", GANTRY_EVENT_MARK, FALSE },
  };

  *device = FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_ascii_strcasecmp (category, kinds[i].name) == 0)
      {
        *kind = kinds[i].kind;
        *device = kinds[i].device;
        return TRUE;
      }
  for (guint i = 0; i < GANTRY_N_EVENT_KINDS; i++)
    if (strcmp (category, gantry_event_kind_name (i)) == 0)
      {
        *kind = (guint8) i;
        *device = i == GANTRY_EVENT_COPY || i == GANTRY_EVENT_FILL;
        return TRUE;
      }
  return FALSE;
}

/* Reading an entry */

static void
entry_start (Entry *entry)
{
  entry->phase = 0;
  g_string_truncate (entry->name, 0);
  g_string_truncate (entry->category, 0);
  g_string_truncate (entry->pid, 0);
  g_string_truncate (entry->tid, 0);
  g_string_truncate (entry->label, 0);
  g_string_truncate (entry->keys, 0);
  g_array_set_size (entry->values, 0);
  entry->has_time = entry->has_detail = FALSE;
  entry->time = entry->length = entry->sort = 0;
  entry->event = (GantryEvent){ .instruction = GANTRY_NO_INSTRUCTION };
  memset (&entry->detail, 0, sizeof entry->detail);
}

/* A number, also one that stands in quotes, as a whole number that is not negative. */
static guint64
whole (const char *text)
{
  return *text == '-' ? 0 : g_ascii_strtoull (text, NULL, 10);
}

static guint32
whole32 (const char *text)
{
  return (guint32) MIN (whole (text), G_MAXUINT32);
}

static gboolean
read_triple (GantryJsonStream *json, GantryJsonToken token, guint32 *triple)
{
  guint n = 0;

  if (token != GANTRY_JSON_BEGIN_ARRAY)
    return gantry_json_stream_skip_from (json, token);
  while ((token = gantry_json_stream_next (json)) != GANTRY_JSON_END_ARRAY)
    if (token == GANTRY_JSON_NUMBER && n < 3)
      triple[n++] = whole32 (json->text->str);
    else if (!gantry_json_stream_skip_from (json, token))
      return FALSE;
  return TRUE;
}

/* Numbers that are kept as they are, in the launch detail. */
static guint32 *
detail_word (GantryLaunchDetail *detail, const char *key)
{
  const struct
  {
    const char *name;
    guint32 *word;
  } words[] = {
    { "device", &detail->device },
    { "stream", &detail->stream },
    { "registers per thread", &detail->registers },
    { "static shared memory", &detail->static_shared },
    { "dynamic shared memory", &detail->dynamic_shared },
    { "shared memory", &detail->dynamic_shared },
    { "local memory per thread", &detail->local_bytes },
  };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (strcmp (key, words[i].name) == 0)
      return words[i].word;
  return NULL;
}

static void
keep_value (Entry *entry, const char *key, const char *text)
{
  double value = g_ascii_strtod (text, NULL);

  if (entry->values->len == MOST_VALUES || !isfinite (value))
    return;
  g_string_append_len (entry->keys, key, (gssize) strlen (key) + 1);
  g_array_append_val (entry->values, value);
}

static void
take_number (Entry *entry, const char *key, const char *text)
{
  guint32 *word = detail_word (&entry->detail, key);

  if (word != NULL)
    {
      *word = whole32 (text);
      entry->has_detail = TRUE;
    }
  else if (strcmp (key, "bytes") == 0)
    entry->event.bytes = whole (text);
  else if (strcmp (key, "correlation") == 0)
    entry->event.correlation = whole32 (text);
  else if (strcmp (key, "node") == 0)
    entry->event.node = whole32 (text);
  else if (strcmp (key, "instruction") == 0)
    entry->event.instruction = whole32 (text);
  else if (strcmp (key, "thread") == 0)
    entry->event.thread = (guint16) MIN (whole (text), G_MAXUINT16);
  else if (strcmp (key, "sort_index") == 0)
    entry->sort = g_ascii_strtoll (text, NULL, 10);
  if (entry->phase == 0 || entry->phase == 'C' || entry->phase == 'i')
    keep_value (entry, key, text);
}

static gboolean
read_argument (Chrome *c, const char *key)
{
  Entry *entry = &c->entry;
  GantryJsonToken token = gantry_json_stream_next (&c->json);
  guint32 *triple = strcmp (key, "grid") == 0      ? entry->detail.grid
                    : strcmp (key, "block") == 0   ? entry->detail.block
                    : strcmp (key, "cluster") == 0 ? entry->detail.cluster
                                                   : NULL;

  if (triple != NULL)
    {
      entry->has_detail = TRUE;
      return read_triple (&c->json, token, triple);
    }
  if (token == GANTRY_JSON_NUMBER || (token == GANTRY_JSON_STRING && g_ascii_isdigit (c->json.text->str[0])))
    take_number (entry, key, c->json.text->str);
  if (token == GANTRY_JSON_STRING && (strcmp (key, "name") == 0 || strcmp (key, "labels") == 0))
    g_string_assign (entry->label, c->json.text->str);
  return gantry_json_stream_skip_from (&c->json, token);
}

static gboolean
read_arguments (Chrome *c)
{
  GantryJsonToken token = gantry_json_stream_next (&c->json);

  if (token != GANTRY_JSON_BEGIN_OBJECT)
    return gantry_json_stream_skip_from (&c->json, token);
  while ((token = gantry_json_stream_next (&c->json)) == GANTRY_JSON_KEY)
    {
      char key[40];

      /* No name that is known is as long. */
      g_strlcpy (key, c->json.text->str, sizeof key);
      if (!read_argument (c, key))
        return FALSE;
    }
  return token == GANTRY_JSON_END_OBJECT;
}

static gboolean
read_member (Chrome *c, const char *key)
{
  Entry *entry = &c->entry;
  GString *text = strcmp (key, "name") == 0  ? entry->name
                  : strcmp (key, "cat") == 0 ? entry->category
                  : strcmp (key, "pid") == 0 ? entry->pid
                  : strcmp (key, "tid") == 0 ? entry->tid
                                             : NULL;
  GantryJsonToken token;

  if (strcmp (key, "args") == 0)
    return read_arguments (c);
  token = gantry_json_stream_next (&c->json);
  if (token == GANTRY_JSON_STRING || token == GANTRY_JSON_NUMBER)
    {
      const char *value = c->json.text->str;

      if (text != NULL)
        g_string_assign (text, value);
      else if (strcmp (key, "ph") == 0)
        entry->phase = value[0];
      else if (strcmp (key, "ts") == 0)
        entry->has_time = gantry_json_thousandths (value, &entry->time);
      else if (strcmp (key, "dur") == 0 && !gantry_json_thousandths (value, &entry->length))
        entry->length = -1;
    }
  return gantry_json_stream_skip_from (&c->json, token);
}

/* What to make of it */

static void
make_key (Chrome *c, const char *suffix)
{
  g_string_assign (c->key, c->entry.pid->str);
  g_string_append_c (c->key, '\x1f');
  g_string_append (c->key, c->entry.tid->str);
  g_string_append (c->key, suffix);
}

static ImportLane *
lane_of (Chrome *c, gboolean device, guint8 *lane)
{
  gboolean annotation = device && c->entry.event.kind == GANTRY_EVENT_RANGE;
  ImportLane *about;

  if (c->own)
    {
      gint64 tid = g_ascii_strtoll (c->entry.tid->str, NULL, 10);

      *lane = (guint8) CLAMP ((tid - 1) / OWN_ROWS, 0, GANTRY_MAX_LANES - 1);
      return NULL;
    }
  /* What a program named stands beside what ran meanwhile, on a lane of its own. */
  make_key (c, annotation ? "\x1f"
                            "a"
                          : "");
  about = _gantry_import_lane (&c->import, c->key->str, lane);
  if (!c->import.too_many)
    {
      about->device |= device;
      about->group = g_ascii_strtoll (c->entry.pid->str, NULL, 10);
      about->member = g_ascii_strtoll (c->entry.tid->str, NULL, 10);
    }
  return about;
}

/* Fills in lane, name and detail. */
static void
complete (Chrome *c, gboolean device)
{
  Entry *entry = &c->entry;
  GantryEvent *event = &entry->event;

  event->begin = entry->time;
  event->end = entry->length < 0 ? G_MININT64 : entry->time + MIN (entry->length, MOST_TIME);
  lane_of (c, device, &event->lane);
  event->name = gantry_recording_builder_string (c->import.builder, entry->name->str);
  if (entry->has_detail)
    event->detail = gantry_recording_builder_detail (c->import.builder, &entry->detail);
}

/* A step of the profiler is a run; and so is what this program calls one. */
static void
take_run (Chrome *c)
{
  const GantryEvent *event = &c->entry.event;
  GantryRecordedRun run = { event->begin, event->end, 0 };

  if (event->kind == GANTRY_EVENT_RUN || (strcmp (c->entry.category->str, "user_annotation") == 0 && g_str_has_prefix (c->entry.name->str, "ProfilerStep#")))
    if (run.begin <= run.end && run.begin > -MOST_TIME / 2 && run.end < MOST_TIME)
      {
        gantry_recording_builder_add_run (c->import.builder, &run);
        c->has_runs = TRUE;
      }
}

static void
begin_range (Chrome *c)
{
  GArray **open = &c->open[c->entry.event.lane];

  if (*open == NULL)
    *open = g_array_new (FALSE, FALSE, sizeof (GantryEvent));
  if ((*open)->len < MOST_OPEN)
    g_array_append_val (*open, c->entry.event);
  else
    c->import.n_passed_over++;
}

static void
end_range (Chrome *c)
{
  guint8 lane;
  GArray *open;

  lane_of (c, FALSE, &lane);
  open = c->open[lane];
  if (open == NULL || open->len == 0)
    {
      c->import.n_passed_over++;
      return;
    }
  c->entry.event = g_array_index (open, GantryEvent, open->len - 1);
  c->entry.event.end = c->entry.time;
  g_array_set_size (open, open->len - 1);
  _gantry_import_event (&c->import, &c->entry.event);
}

/* Memory as PyTorch tells it: how much is allocated and reserved after each change. */
static void
take_memory (Chrome *c)
{
  const char *key = c->entry.keys->str;
  double device = 0, type = 0;

  for (guint pass = 0; pass < 2; pass++, key = c->entry.keys->str)
    for (guint i = 0; i < c->entry.values->len; i++, key += strlen (key) + 1)
      {
        double value = g_array_index (c->entry.values, double, i);
        g_autofree char *name = NULL, *what = NULL;

        if (pass == 0 && strcmp (key, "Device Id") == 0)
          device = value;
        else if (pass == 0 && strcmp (key, "Device Type") == 0)
          type = value;
        if (pass == 0 || !g_str_has_prefix (key, "Total "))
          continue;
        what = g_ascii_strdown (key + 6, -1); /* "allocated", "reserved" */
        name = type == 0 ? g_strdup_printf ("host %s (bytes)", what) : g_strdup_printf ("GPU %.0f %s (bytes)", CLAMP (device, 0, 1e6), what);
        _gantry_import_sample (&c->import, name, c->entry.time, value);
      }
}

static void
take_counter (Chrome *c)
{
  const char *key = c->entry.keys->str;

  for (guint i = 0; i < c->entry.values->len; i++, key += strlen (key) + 1)
    {
      g_autofree char *long_name = g_strdup_printf ("%s, %s", c->entry.name->str, key);
      g_autofree char *name = c->entry.values->len == 1 ? g_strdup (c->entry.name->str) : g_utf8_make_valid (long_name, -1);

      _gantry_import_sample (&c->import, name, c->entry.time, g_array_index (c->entry.values, double, i));
    }
}

/* Names of processes and threads, which may come before or after what they name. */
static void
take_metadata (Chrome *c)
{
  const char *name = c->entry.name->str;
  About *about;

  if (g_str_has_prefix (name, "process_"))
    g_string_truncate (c->entry.tid, 0);
  else if (!g_str_has_prefix (name, "thread_"))
    return;
  if (strcmp (name, "process_name") == 0 && strcmp (c->entry.label->str, "Gantry") == 0 && c->import.n_events == 0)
    c->own = TRUE;
  if (c->own && strcmp (name, "thread_name") == 0)
    {
      guint8 lane;

      lane_of (c, FALSE, &lane);
      gantry_recording_builder_set_lane_name (c->import.builder, lane, c->entry.label->str);
      return;
    }
  make_key (c, "");
  about = g_hash_table_lookup (c->about, c->key->str);
  if (about == NULL && g_hash_table_size (c->about) == MOST_NAMED)
    return;
  if (about == NULL)
    g_hash_table_insert (c->about, g_strdup (c->key->str), about = g_new0 (About, 1));
  if (g_str_has_suffix (name, "_sort_index"))
    about->sort = c->entry.sort;
  else if (g_str_has_suffix (name, "_name"))
    {
      g_free (about->name);
      about->name = g_strstrip (g_strdup (c->entry.label->str));
    }
}

static void
take_event (Chrome *c)
{
  Entry *entry = &c->entry;
  gboolean device, instant = strchr ("iIR", entry->phase) != NULL;

  if (!entry->has_time || entry->time <= -MOST_TIME || entry->time >= MOST_TIME)
    {
      c->import.n_bad_times++;
      return;
    }
  if (entry->phase == 'E')
    {
      end_range (c);
      return;
    }
  if (instant && strcmp (entry->name->str, "[memory]") == 0)
    {
      take_memory (c);
      return;
    }
  if (!kind_of (entry->category->str, &entry->event.kind, &device))
    entry->event.kind = instant ? GANTRY_EVENT_MARK : GANTRY_EVENT_RANGE;
  if (instant)
    entry->length = 0;
  complete (c, device);
  if (entry->phase == 'B')
    begin_range (c);
  else
    _gantry_import_event (&c->import, &entry->event);
  take_run (c);
}

static void
take_entry (Chrome *c)
{
  switch (c->entry.phase)
    {
    case 'X':
    case 'B':
    case 'E':
    case 'i':
    case 'I':
    case 'R': take_event (c); break;
    case 'C':
      if (c->entry.has_time)
        take_counter (c);
      else
        c->import.n_bad_times++;
      break;
    case 'M': take_metadata (c); break;
    case 's': /* flows: correlations tell the same */
    case 't':
    case 'f': break;
    default: c->import.n_passed_over++;
    }
}

/* The whole of it */

static gboolean
read_entry (Chrome *c, GantryJsonToken token)
{
  if (token != GANTRY_JSON_BEGIN_OBJECT)
    {
      c->import.n_passed_over++;
      return gantry_json_stream_skip_from (&c->json, token);
    }
  entry_start (&c->entry);
  while ((token = gantry_json_stream_next (&c->json)) == GANTRY_JSON_KEY)
    {
      char key[8];

      g_strlcpy (key, c->json.text->str, sizeof key);
      if (!read_member (c, key))
        return FALSE;
    }
  if (token != GANTRY_JSON_END_OBJECT)
    return FALSE;
  take_entry (c);
  return TRUE;
}

static gboolean
read_entries (Chrome *c, GantryJsonToken token)
{
  if (token != GANTRY_JSON_BEGIN_ARRAY)
    return gantry_json_stream_skip_from (&c->json, token);
  c->found = TRUE;
  while ((token = gantry_json_stream_next (&c->json)) != GANTRY_JSON_END_ARRAY)
    {
      if (!read_entry (c, token))
        return FALSE;
      if (gantry_json_stream_offset (&c->json) > c->told + (1u << 20))
        {
          c->told = gantry_json_stream_offset (&c->json);
          gantry_progress_report (c->progress, -1, "Importing");
        }
    }
  return TRUE;
}

/* Texts that are worth keeping: the device, and the notes that this program wrote. */
static gboolean
read_facts (Chrome *c, GantryJsonToken token)
{
  while (token == GANTRY_JSON_BEGIN_ARRAY) /* a list of devices: the first names them */
    token = gantry_json_stream_next (&c->json);
  if (token != GANTRY_JSON_BEGIN_OBJECT)
    return token != GANTRY_JSON_FAILED;
  while ((token = gantry_json_stream_next (&c->json)) == GANTRY_JSON_KEY)
    {
      gboolean device = strcmp (c->json.text->str, "device") == 0 || strcmp (c->json.text->str, "name") == 0;
      gboolean note = g_str_has_prefix (c->json.text->str, "note ");

      token = gantry_json_stream_next (&c->json);
      if (token == GANTRY_JSON_STRING && device)
        gantry_recording_builder_set_device (c->import.builder, c->json.text->str);
      else if (token == GANTRY_JSON_STRING && note)
        gantry_recording_builder_add_note (c->import.builder, c->json.text->str);
      if (!gantry_json_stream_skip_from (&c->json, token))
        return FALSE;
    }
  return token == GANTRY_JSON_END_OBJECT;
}

/* Reads the value whole, however much of it was of interest. */
static gboolean
read_facts_whole (Chrome *c)
{
  guint outside = c->json.depth;

  if (!read_facts (c, gantry_json_stream_next (&c->json)))
    return FALSE;
  while (c->json.depth > outside)
    if (gantry_json_stream_next (&c->json) == GANTRY_JSON_FAILED)
      return FALSE;
  return TRUE;
}

/* The moment that Kineto's times count from. */
static gboolean
read_base_time (Chrome *c)
{
  GantryJsonToken token = gantry_json_stream_next (&c->json);

  if (token != GANTRY_JSON_NUMBER)
    return gantry_json_stream_skip_from (&c->json, token);
  gantry_recording_builder_set_epoch (c->import.builder, g_ascii_strtoll (c->json.text->str, NULL, 10));
  return TRUE;
}

static gboolean
read_trace (Chrome *c)
{
  GantryJsonToken token = gantry_json_stream_next (&c->json);

  if (token == GANTRY_JSON_BEGIN_ARRAY)
    return read_entries (c, token);
  if (token != GANTRY_JSON_BEGIN_OBJECT)
    return gantry_json_stream_skip_from (&c->json, token);
  while ((token = gantry_json_stream_next (&c->json)) == GANTRY_JSON_KEY)
    {
      const char *key = c->json.text->str;
      gboolean good = strcmp (key, "traceEvents") == 0                                          ? read_entries (c, gantry_json_stream_next (&c->json))
                      : strcmp (key, "otherData") == 0 || strcmp (key, "deviceProperties") == 0 ? read_facts_whole (c)
                      : strcmp (key, "baseTimeNanoseconds") == 0                                ? read_base_time (c)
                                                                                                : gantry_json_stream_skip (&c->json);

      if (!good)
        return FALSE;
    }
  return token == GANTRY_JSON_END_OBJECT;
}

/* Ranges that have not ended last until the end. */
static void
end_open (Chrome *c)
{
  gint64 first, last;
  gboolean any = _gantry_recording_builder_range (c->import.builder, &first, &last);

  for (guint lane = 0; lane < GANTRY_MAX_LANES; lane++)
    for (guint i = 0; c->open[lane] != NULL && i < c->open[lane]->len; i++)
      {
        GantryEvent *event = &g_array_index (c->open[lane], GantryEvent, i);

        event->end = any ? MAX (last, event->begin) : event->begin;
        _gantry_import_event (&c->import, event);
        c->n_unended++;
      }
  if (c->n_unended > 0)
    gantry_recording_builder_add_note (c->import.builder, "ranges that the trace does not end were ended with it");
}

static void
name_lane (Chrome *c, const char *key, ImportLane *lane)
{
  g_auto (GStrv) parts = g_strsplit (key, "\x1f", 3); /* process, thread, "a" */
  g_autofree char *thread_key = g_strconcat (parts[0], "\x1f", parts[1], NULL);
  g_autofree char *process_key = g_strconcat (parts[0], "\x1f", NULL);
  const About *thread = g_hash_table_lookup (c->about, thread_key), *process = g_hash_table_lookup (c->about, process_key);
  g_autofree char *own = NULL;

  if (thread != NULL)
    lane->sort = thread->sort;
  if (thread != NULL && thread->name != NULL && thread->name[0] != '\0')
    own = g_strdup (thread->name);
  else
    own = g_strdup_printf (lane->device ? "stream %s" : "thread %s", parts[1]);
  if (lane->device)
    lane->name = g_strdup_printf ("GPU %s, %s%s", parts[0], own, parts[2] != NULL ? ", annotations" : "");
  else if (process != NULL && process->name != NULL && strstr (own, process->name) == NULL)
    lane->name = g_strdup_printf ("%s (%s)", own, process->name);
  else
    lane->name = g_steal_pointer (&own);
}

static GantryRecording *
finish (Chrome *c, GError **error)
{
  GHashTableIter iter;
  gpointer key, index;

  end_open (c);
  g_hash_table_iter_init (&iter, c->import.ids);
  while (g_hash_table_iter_next (&iter, &key, &index))
    name_lane (c, key, &g_array_index (c->import.lanes, ImportLane, GPOINTER_TO_UINT (index) - 1));
  return _gantry_import_end (&c->import, c->json.what, c->own, c->has_runs, error);
}

static GantryRecording *
import (Chrome *c, GError **error)
{
  gboolean whole_trace = read_trace (c) && gantry_json_stream_next (&c->json) == GANTRY_JSON_END;

  /* Programs that are stopped leave a trace without its end; what is there is worth seeing. */
  if (!whole_trace && c->import.n_events > 0 && g_error_matches (c->json.error, GANTRY_ERROR, GANTRY_ERROR_TRUNCATED))
    gantry_recording_builder_add_note (c->import.builder, "the trace ends in the middle; what came before is shown");
  else if (!whole_trace)
    {
      g_propagate_error (error, g_steal_pointer (&c->json.error));
      return NULL;
    }
  else if (!c->found)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: JSON, but no trace: it has no list \"traceEvents\"", c->json.what);
      return NULL;
    }
  return finish (c, error);
}

GantryRecording *
gantry_trace_import_chrome (GInputStream *stream, const char *what, const GantryProgress *progress, GError **error)
{
  Chrome c = { .progress = progress };
  GString **texts[] = { &c.entry.name, &c.entry.category, &c.entry.pid, &c.entry.tid, &c.entry.label, &c.entry.keys, &c.key };
  GantryRecording *recording;

  _gantry_import_init (&c.import);
  gantry_json_stream_init (&c.json, stream, what, progress != NULL ? progress->cancellable : NULL);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    *texts[i] = g_string_new (NULL);
  c.entry.values = g_array_new (FALSE, FALSE, sizeof (double));
  c.about = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, about_free);
  recording = import (&c, error);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_string_free (*texts[i], TRUE);
  g_array_unref (c.entry.values);
  for (guint i = 0; i < GANTRY_MAX_LANES; i++)
    if (c.open[i] != NULL)
      g_array_unref (c.open[i]);
  g_hash_table_unref (c.about);
  gantry_json_stream_clear (&c.json);
  _gantry_import_clear (&c.import);
  return recording;
}
