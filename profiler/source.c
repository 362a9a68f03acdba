/* SPDX-License-Identifier: Apache-2.0 */
/* Events that are read when they are first asked for. What the head of a recording keeps of them is enough for a picture
 * of everything; a closer look reads the chunks that it shows, and a thread reads the rest meanwhile. */
#include "core/base/error.h"
#include "profiler/recording-private.h"
#include <string.h>

struct _Source
{
  GantryRecording *recording; /* (unowned) */
  GMutex lock;                /* of all below */
  GantryChunkReader read;
  gpointer user_data;
  GDestroyNotify destroy;
  guint64 n_left; /* chunks that are not there yet */
  GantryEventTotals seen[GANTRY_N_EVENT_KINDS];
  GError *error; /* the first */
  gint hurried;  /* atomic: the thread was started */
};

static void
drop_reader (Source *source)
{
  if (source->destroy != NULL)
    source->destroy (source->user_data);
  source->destroy = NULL;
  source->user_data = NULL;
}

/* All is there: the sums that the head told of have to be those of the events. */
static void
finish (Source *source)
{
  drop_reader (source);
  if (source->error == NULL && memcmp (source->seen, source->recording->totals, sizeof source->seen) != 0)
    g_set_error_literal (&source->error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "recording, head: its totals are not those of its events");
}

Source *
_gantry_source_new (GantryRecording *recording, GantryChunkReader read, gpointer user_data, GDestroyNotify destroy)
{
  Source *source = g_new0 (Source, 1);

  source->recording = recording;
  source->read = read;
  source->user_data = user_data;
  source->destroy = destroy;
  g_mutex_init (&source->lock);
  for (guint l = 0; l < recording->n_lanes; l++)
    {
      recording->lanes[l].source = source;
      source->n_left += recording->lanes[l].n_chunks;
    }
  if (source->n_left == 0)
    finish (source);
  return source;
}

void
_gantry_source_free (Source *source)
{
  if (source == NULL)
    return;
  drop_reader (source);
  g_clear_error (&source->error);
  g_mutex_clear (&source->lock);
  g_free (source);
}

/* As many events as there should be, where the index says that they begin. */
static EventChunk *
stand_in (const Lane *lane, guint32 place)
{
  guint64 n = MIN (lane->n - (guint64) place * GANTRY_CHUNK_EVENTS, GANTRY_CHUNK_EVENTS);
  EventChunk *chunk = _gantry_event_chunk_new ((guint32) n);
  IndexNode above[SUMMARIES_OF_CHUNK];

  for (guint32 i = 0; i < n; i++)
    {
      chunk->begin[i] = lane->levels[0].nodes[place * SUMMARIES_OF_CHUNK + i / SUMMARY_EVENTS].first_begin;
      chunk->end[i] = chunk->begin[i];
      chunk->instruction[i] = GANTRY_NO_INSTRUCTION;
      chunk->kind[i] = GANTRY_EVENT_MARK;
    }
  _gantry_chunk_index (chunk, place, above);
  return chunk;
}

static void
take_error (Source *source, GError *error)
{
  if (source->error == NULL)
    source->error = error;
  else
    g_error_free (error);
}

const EventChunk *
_gantry_source_fetch (const Lane *lane, guint32 place)
{
  Source *source = lane->source;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&source->lock);
  guint l = (guint) (lane - source->recording->lanes);
  g_autoptr (GBytes) bytes = NULL;
  GError *error = NULL;
  EventChunk *chunk = lane->chunks[place];

  if (chunk != NULL)
    return chunk;
  bytes = source->read (lane->first_number + place, source->user_data, &error);
  if (bytes != NULL)
    chunk = _gantry_chunk_decode (source->recording, l, place, bytes, TRUE, &error);
  if (chunk == NULL)
    {
      take_error (source, error);
      chunk = stand_in (lane, place);
    }
  else if (l != GANTRY_LANE_RUNS)
    _gantry_event_chunk_sum (chunk, source->seen);
  g_atomic_pointer_set (&lane->chunks[place], chunk);
  if (--source->n_left == 0)
    finish (source);
  return chunk;
}

static gboolean
load_lane (const Lane *lane, gatomicrefcount *stop_at_one, GCancellable *cancellable, GError **error)
{
  for (guint32 c = 0; c < lane->n_chunks; c++)
    {
      if (g_cancellable_set_error_if_cancelled (cancellable, error) || (stop_at_one != NULL && g_atomic_ref_count_compare (stop_at_one, 1)))
        return FALSE;
      lane_chunk (lane, c);
    }
  return TRUE;
}

gboolean
gantry_recording_load_all (const GantryRecording *recording, GCancellable *cancellable, GError **error)
{
  gboolean good;

  for (guint l = 0; l < recording->n_lanes; l++)
    if (!load_lane (&recording->lanes[l], NULL, cancellable, error))
      return FALSE;
  if (recording->source == NULL)
    return TRUE;
  g_mutex_lock (&recording->source->lock);
  good = recording->source->error == NULL;
  if (!good && error != NULL)
    *error = g_error_copy (recording->source->error);
  g_mutex_unlock (&recording->source->lock);
  return good;
}

/* Ends early when nobody else has the recording any more. */
static gpointer
hurry (gpointer data)
{
  GantryRecording *recording = data;

  for (guint l = 0; l < recording->n_lanes; l++)
    if (!load_lane (&recording->lanes[l], &recording->ref_count, NULL, NULL))
      break;
  gantry_recording_unref (recording);
  return NULL;
}

void
_gantry_source_hurry (Source *source)
{
  GThread *thread;

  if (!g_atomic_int_compare_and_exchange (&source->hurried, 0, 1))
    return;
  thread = g_thread_try_new ("recording", hurry, gantry_recording_ref (source->recording), NULL);
  if (thread != NULL)
    g_thread_unref (thread);
  else /* everything is read when it is asked for */
    gantry_recording_unref (source->recording);
}
