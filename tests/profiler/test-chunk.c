/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings as bytes: what is written reads back equal, and whatever else the bytes may be ends in an error. */
#include "core/base/error.h"
#include "tests/profiler/make-recording.h"
#include "tests/random-seed.h"
#include <string.h>

typedef struct
{
  GBytes *head;
  GPtrArray *chunks; /* GBytes */
} Saved;

static Saved
save (const GantryRecording *recording)
{
  Saved saved = { gantry_recording_head (recording), g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref) };

  for (guint32 i = 0; i < gantry_recording_n_chunks (recording); i++)
    {
      GantryChunkInfo info;
      GBytes *chunk = gantry_recording_chunk (recording, i, &info);

      g_assert_cmpuint (info.number, ==, i);
      g_assert_cmpuint (info.n, >, 0);
      g_assert_cmpuint (info.n, <=, GANTRY_CHUNK_EVENTS);
      g_assert_cmpint (info.begin, <=, info.end);
      g_ptr_array_add (saved.chunks, chunk);
    }
  return saved;
}

static GantryRecording *
load (const Saved *saved, GError **error)
{
  return gantry_recording_load (saved->head, (GBytes *const *) saved->chunks->pdata, saved->chunks->len, error);
}

static void
saved_clear (Saved *saved)
{
  g_bytes_unref (saved->head);
  g_ptr_array_unref (saved->chunks);
}

static void
assert_equal (const GantryRecording *a, const GantryRecording *b)
{
  Saved x = save (a), y = save (b);

  g_assert_cmpuint (gantry_recording_n_lanes (a), ==, gantry_recording_n_lanes (b));
  for (guint lane = 0; lane < gantry_recording_n_lanes (a); lane++)
    {
      g_assert_cmpstr (gantry_recording_lane_name (a, lane), ==, gantry_recording_lane_name (b, lane));
      g_assert_cmpuint (gantry_recording_n_events (a, lane), ==, gantry_recording_n_events (b, lane));
      for (guint64 i = 0; i < gantry_recording_n_events (a, lane); i++)
        {
          GantryEvent e = { 0 }, f = { 0 };

          gantry_recording_get (a, lane, i, &e);
          gantry_recording_get (b, lane, i, &f);
          g_assert_true (memcmp (&e, &f, sizeof e) == 0);
        }
    }
  g_assert_true (g_bytes_equal (x.head, y.head));
  g_assert_cmpuint (x.chunks->len, ==, y.chunks->len);
  for (guint i = 0; i < x.chunks->len; i++)
    g_assert_true (g_bytes_equal (g_ptr_array_index (x.chunks, i), g_ptr_array_index (y.chunks, i)));
  saved_clear (&x);
  saved_clear (&y);
}

static void
test_round_trip (void)
{
  g_autoptr (GRand) random = test_rand (31);
  const guint sizes[] = { 0, 1, 500, 250000 };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (GantryRecording) recording = make_recording (random, sizes[i], 1000000);
      g_autoptr (GantryRecording) loaded = NULL;
      g_autoptr (GError) error = NULL;
      Saved saved = save (recording);
      GantryEventTotals a[GANTRY_N_EVENT_KINDS], b[GANTRY_N_EVENT_KINDS];

      /* In any order. */
      if (saved.chunks->len > 2)
        {
          gpointer swap = saved.chunks->pdata[0];

          saved.chunks->pdata[0] = saved.chunks->pdata[saved.chunks->len - 1];
          saved.chunks->pdata[saved.chunks->len - 1] = swap;
        }
      loaded = load (&saved, &error);
      g_assert_no_error (error);
      assert_equal (recording, loaded);
      gantry_recording_totals (recording, a);
      gantry_recording_totals (loaded, b);
      g_assert_cmpmem (a, sizeof a, b, sizeof b);
      g_assert_cmpuint (gantry_recording_memory_at (recording, 0, 500000), ==, gantry_recording_memory_at (loaded, 0, 500000));
      g_assert_cmpuint (gantry_recording_n_details (loaded), ==, gantry_recording_n_details (recording));
      g_assert_true (sizes[i] < 500 || gantry_recording_n_details (loaded) == 4); /* few events need not have any */
      g_assert_cmpuint (gantry_recording_n_notes (loaded), ==, 2);
      g_assert_cmpstr (gantry_recording_note (loaded, 0), ==, "3 records were dropped");
      g_assert_null (gantry_recording_detail (loaded, 0));
      g_assert_null (gantry_recording_detail (loaded, 5));
      for (guint k = 1; k <= gantry_recording_n_details (loaded); k++)
        g_assert_cmpmem (gantry_recording_detail (loaded, k), sizeof (GantryLaunchDetail), gantry_recording_detail (recording, k), sizeof (GantryLaunchDetail));
      saved_clear (&saved);
    }
}

/* What this program wrote before events had correlation and detail. */

static GBytes *
head_of_version_1 (GBytes *head, const GantryRecording *recording)
{
  gsize size, after = 4 + gantry_recording_n_details (recording) * sizeof (GantryLaunchDetail) + 4;
  g_autoptr (GByteArray) out = g_byte_array_new ();
  const guint8 *data = g_bytes_get_data (head, &size);

  for (guint i = 0; i < gantry_recording_n_notes (recording); i++)
    after += 4 + strlen (gantry_recording_note (recording, i));
  /* The summary: totals by kind, and 34 bytes for each 1024 events. */
  after += 4 + GANTRY_N_EVENT_KINDS * sizeof (GantryEventTotals);
  for (guint i = 0; i < gantry_recording_n_lanes (recording); i++)
    after += (gantry_recording_n_events (recording, i) + 1023) / 1024 * 34;
  g_byte_array_append (out, data, (guint) (size - 4 - after));
  g_byte_array_append (out, data + size - 4, 4);
  out->data[4] = 1;
  return g_byte_array_free_to_bytes (g_steal_pointer (&out));
}

static GBytes *
chunk_of_version_1 (GBytes *chunk, const GantryChunkInfo *info)
{
  gsize size, before = 32 + 36 * (gsize) info->n, after = 32 + 44 * (gsize) info->n;
  const guint8 *data = g_bytes_get_data (chunk, &size);
  g_autoptr (GByteArray) out = g_byte_array_new ();

  if (info->content != 0)
    after = before = 32;
  g_byte_array_append (out, data, (guint) before);
  g_byte_array_append (out, data + after, (guint) (size - after));
  out->data[4] = 1;
  return g_byte_array_free_to_bytes (g_steal_pointer (&out));
}

static void
test_version_1 (void)
{
  g_autoptr (GRand) random = test_rand (35);
  g_autoptr (GantryRecording) recording = make_recording (random, 70000, 1000000);
  g_autoptr (GantryRecording) loaded = NULL;
  g_autoptr (GError) error = NULL;
  Saved saved = save (recording);
  GBytes *old = head_of_version_1 (saved.head, recording);

  g_bytes_unref (saved.head);
  saved.head = old;
  for (guint i = 0; i < saved.chunks->len; i++)
    {
      GantryChunkInfo info;
      GBytes *chunk = saved.chunks->pdata[i];

      g_bytes_unref (gantry_recording_chunk (recording, i, &info));
      saved.chunks->pdata[i] = chunk_of_version_1 (chunk, &info);
      g_bytes_unref (chunk);
    }
  loaded = load (&saved, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (gantry_recording_n_notes (loaded), ==, 0);
  for (guint lane = 0; lane < gantry_recording_n_lanes (recording); lane++)
    for (guint64 i = 0; i < gantry_recording_n_events (recording, lane); i++)
      {
        GantryEvent e = { 0 }, f = { 0 };

        gantry_recording_get (recording, lane, i, &e);
        gantry_recording_get (loaded, lane, i, &f);
        e.correlation = e.detail = 0;
        g_assert_true (memcmp (&e, &f, sizeof e) == 0);
      }
  saved_clear (&saved);
}

/* Chunks whose bytes lie anywhere in memory. */
static void
test_unaligned (void)
{
  g_autoptr (GRand) random = test_rand (36);
  g_autoptr (GantryRecording) recording = make_recording (random, 500, 1000000);
  g_autoptr (GantryRecording) loaded = NULL;
  g_autoptr (GError) error = NULL;
  Saved saved = save (recording);

  for (guint i = 0; i < saved.chunks->len; i++)
    {
      gsize size;
      const guint8 *data = g_bytes_get_data (saved.chunks->pdata[i], &size);
      guint8 *moved = g_malloc (size + 3);
      g_autoptr (GBytes) whole = g_bytes_new_take (moved, size + 3);

      memcpy (moved + 3, data, size);
      g_bytes_unref (saved.chunks->pdata[i]);
      saved.chunks->pdata[i] = g_bytes_new_from_bytes (whole, 3, size);
    }
  loaded = load (&saved, &error);
  g_assert_no_error (error);
  assert_equal (recording, loaded);
  saved_clear (&saved);
}

/* Chunks that are read when they are needed. */

typedef struct
{
  Saved saved;
  guint n_read;
  guint broken; /* number of a chunk that cannot be read; G_MAXUINT: none */
  gboolean *destroyed;
} Stored;

static GBytes *
read_stored (guint32 number, gpointer user_data, GError **error)
{
  Stored *stored = user_data;

  stored->n_read++;
  if (number != stored->broken)
    return g_bytes_ref (stored->saved.chunks->pdata[number]);
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED, "recording: the disk is gone");
  return NULL;
}

static void
destroy_stored (gpointer user_data)
{
  Stored *stored = user_data;

  *stored->destroyed = TRUE;
}

/* The sums of a folded picture, pixels apart. */
static void
sum_fold (const GantryRecording *recording, guint lane, gint64 t0, gint64 t1, guint n, guint64 *count, gint64 *busy)
{
  g_autofree GantryFoldPixel *pixels = g_new (GantryFoldPixel, n);

  *count = 0;
  *busy = 0;
  gantry_recording_fold (recording, lane, t0, t1, n, pixels);
  for (guint i = 0; i < n; i++)
    {
      *count += pixels[i].count;
      *busy += pixels[i].busy_ns;
      if (pixels[i].n_touching > 0)
        g_assert_cmpuint (pixels[i].longest, <, gantry_recording_n_events (recording, lane));
    }
}

static void
test_when_needed (void)
{
  g_autoptr (GRand) random = test_rand (37);
  g_autoptr (GantryRecording) recording = make_recording (random, 600000, 1000000000);
  gboolean destroyed = FALSE;
  Stored stored = { save (recording), 0, G_MAXUINT, &destroyed };
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryRecording) opened = gantry_recording_open (stored.saved.head, read_stored, &stored, destroy_stored, &error);
  guint64 count, exact_count;
  gint64 busy, exact_busy, begin, end;
  guint n_rest = stored.n_read;

  g_assert_no_error (error);
  g_assert_cmpuint (n_rest, <, stored.saved.chunks->len);
  gantry_recording_range (recording, &begin, &end);
  /* Nothing of the events is read for a picture of the whole, and nothing is missing in it. */
  sum_fold (opened, 4, begin, end + 1, 100, &count, &busy);
  sum_fold (recording, 4, begin, end + 1, 100, &exact_count, &exact_busy);
  g_assert_cmpuint (count, ==, exact_count);
  g_assert_cmpint (busy, ==, exact_busy);
  g_assert_true (gantry_recording_load_all (opened, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (destroyed);
  g_assert_cmpuint (stored.n_read, ==, stored.saved.chunks->len);
  assert_equal (recording, opened);
  saved_clear (&stored.saved);
}

/* One event is asked for: its chunk is read, and no other. */
static void
test_one_chunk (void)
{
  g_autoptr (GRand) random = test_rand (38);
  g_autoptr (GantryRecording) recording = make_recording (random, 600000, 1000000000);
  gboolean destroyed = FALSE;
  Stored stored = { save (recording), 0, G_MAXUINT, &destroyed };
  g_autoptr (GError) error = NULL;
  GantryRecording *opened = gantry_recording_open (stored.saved.head, read_stored, &stored, destroy_stored, &error);
  guint n_rest = stored.n_read;
  GantryEvent a = { 0 }, b = { 0 };

  g_assert_no_error (error);
  gantry_recording_get (opened, 0, 70000, &a);
  gantry_recording_get (recording, 0, 70000, &b);
  g_assert_true (memcmp (&a, &b, sizeof a) == 0);
  gantry_recording_get (opened, 0, 70001, &a);
  g_assert_cmpuint (stored.n_read, ==, n_rest + 1);
  g_assert_false (destroyed);
  gantry_recording_unref (opened);
  g_assert_true (destroyed);
  saved_clear (&stored.saved);
}

/* What cannot be read is told, and what can be read is still there. */
static void
test_lost_chunk (void)
{
  g_autoptr (GRand) random = test_rand (39);
  g_autoptr (GantryRecording) recording = make_recording (random, 600000, 1000000);
  gboolean destroyed = FALSE;
  Stored stored = { save (recording), 0, 1, &destroyed };
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryRecording) opened = gantry_recording_open (stored.saved.head, read_stored, &stored, destroy_stored, &error);
  GantryEvent event = { 0 };
  gint64 last = G_MININT64;

  g_assert_no_error (error);
  for (guint64 i = 65536; i < 2 * 65536; i++)
    {
      gantry_recording_get (opened, 0, i, &event);
      g_assert_cmpint (event.begin, ==, event.end);
      g_assert_cmpint (event.begin, >=, last);
      last = event.begin;
    }
  g_assert_false (gantry_recording_load_all (opened, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED);
  g_assert_cmpstr (error->message, ==, "recording: the disk is gone");
  g_assert_true (destroyed);
  gantry_recording_get (opened, 2, 3, &event);
  g_assert_cmpint (event.end, >=, event.begin);
  saved_clear (&stored.saved);
}

/* An error that is one of ours, and nothing else. */
static void
expect_error (const Saved *saved)
{
  g_autoptr (GError) error = NULL;
  GantryRecording *recording = load (saved, &error);

  g_assert_null (recording);
  g_assert_nonnull (error);
  g_assert_true (error->domain == GANTRY_ERROR);
  g_assert_true (g_str_has_prefix (error->message, "recording"));
}

static void
test_truncated (void)
{
  g_autoptr (GRand) random = test_rand (32);
  g_autoptr (GantryRecording) recording = make_recording (random, 60, 1000);
  Saved saved = save (recording);

  for (gsize size = 0; size < g_bytes_get_size (saved.head); size++)
    {
      Saved cut = { g_bytes_new_from_bytes (saved.head, 0, size), saved.chunks };

      expect_error (&cut);
      g_bytes_unref (cut.head);
    }
  for (guint c = 0; c < saved.chunks->len; c++)
    {
      GBytes *whole = saved.chunks->pdata[c];

      for (gsize size = 0; size < g_bytes_get_size (whole); size += 1 + size / 50)
        {
          saved.chunks->pdata[c] = g_bytes_new_from_bytes (whole, 0, size);
          expect_error (&saved);
          g_bytes_unref (saved.chunks->pdata[c]);
        }
      saved.chunks->pdata[c] = whole;
    }
  /* One chunk too few, the same twice. */
  g_ptr_array_set_size (saved.chunks, saved.chunks->len - 1);
  expect_error (&saved);
  g_ptr_array_add (saved.chunks, g_bytes_ref (saved.chunks->pdata[0]));
  expect_error (&saved);
  saved_clear (&saved);
}

/* One field wrong at a time. Chunk 0 is of lane 0, with n events; the last but one holds memory events, the last one
 * samples: see the layout in profiler/chunk.c. */

typedef struct
{
  gint chunk;   /* from the end when negative */
  guint column; /* bytes of all columns before it, for one row; G_MAXUINT: @row is the byte of the head */
  guint width, row;
  guint64 value;
} Wrong;

static const Wrong wrongs[] = {
  { 0, G_MAXUINT, 1, 0, 'X' }, /* magic */
  { 0, G_MAXUINT, 1, 4, 3 },   /* version */
  { 0, G_MAXUINT, 1, 4, 0 },
  { 0, G_MAXUINT, 1, 5, 1 }, /* content */
  { 0, G_MAXUINT, 1, 6, 2 }, /* lane */
  { 0, G_MAXUINT, 4, 8, 1 }, /* number: twice */
  { 0, G_MAXUINT, 4, 8, 1000 },
  { 0, 0, 8, 3, (guint64) -5 },       /* begin: out of order */
  { 0, 0, 8, 0, (guint64) -1 << 62 }, /* begin: beyond all times */
  { 0, 8, 8, 5, (guint64) -5 },       /* ends before it begins */
  { 0, 8, 8, 5, (guint64) 1 << 62 },
  { 0, 32, 4, 2, 99 }, /* name */
  { 0, 40, 4, 2, 9 },  /* launch detail */
  { 0, 46, 1, 2, GANTRY_N_EVENT_KINDS },
  { -2, 0, 8, 5, (guint64) -5 }, /* time: out of order */
  { -2, 32, 1, 5, 3 },           /* kind of memory */
  { -2, 33, 1, 5, 2 },           /* neither allocation nor release */
  { -1, 0, 8, 5, (guint64) -5 }, /* time: out of order */
  { -1, 16, 4, 5, 2 },           /* counter */
};

static void
test_each_field (void)
{
  g_autoptr (GRand) random = test_rand (34);
  g_autoptr (GantryRecording) recording = make_recording (random, 300, 1000000);

  for (guint i = 0; i < G_N_ELEMENTS (wrongs); i++)
    {
      Saved saved = save (recording);
      guint which = wrongs[i].chunk >= 0 ? (guint) wrongs[i].chunk : saved.chunks->len + wrongs[i].chunk;
      GantryChunkInfo info;
      gsize size, at = wrongs[i].row;
      guint64 value = GUINT64_TO_LE (wrongs[i].value);
      guint8 *data = g_bytes_unref_to_data (saved.chunks->pdata[which], &size);

      g_bytes_unref (gantry_recording_chunk (recording, which, &info));
      g_assert_cmpuint (info.n, >, 6);
      if (wrongs[i].column != G_MAXUINT)
        at = 32 + (gsize) wrongs[i].column * info.n + (gsize) wrongs[i].width * wrongs[i].row;
      g_assert_cmpuint (at + wrongs[i].width, <=, size);
      memcpy (data + at, &value, wrongs[i].width);
      saved.chunks->pdata[which] = g_bytes_new_take (data, size);
      expect_error (&saved);
      saved_clear (&saved);
    }
}

/* Bytes changed at random either give a recording that can be asked everything, or an error. */
static void
test_hostile (void)
{
  g_autoptr (GRand) random = test_rand (33);
  guint refused = 0;

  for (guint round = 0; round < 4000; round++)
    {
      g_autoptr (GantryRecording) recording = make_recording (random, 30, 1000);
      g_autoptr (GantryRecording) loaded = NULL;
      g_autoptr (GError) error = NULL;
      Saved saved = save (recording);
      guint which = (guint) g_rand_int_range (random, 0, (gint32) saved.chunks->len + 1);
      GBytes **target = which == 0 ? &saved.head : (GBytes **) &saved.chunks->pdata[which - 1];
      gsize size;
      guint8 *data = g_bytes_unref_to_data (*target, &size);

      for (gint32 n = g_rand_int_range (random, 1, 4); n > 0; n--)
        {
          gsize at = (gsize) g_rand_int_range (random, 0, (gint32) size);

          if (g_rand_boolean (random))
            at = MIN (at, 40) % size; /* the fields at the front matter most */
          data[at] = g_rand_boolean (random) ? 0xff : (guint8) g_rand_int_range (random, 0, 256);
        }
      *target = g_bytes_new_take (data, size);
      loaded = load (&saved, &error);
      g_assert_true ((loaded == NULL) == (error != NULL));
      if (loaded != NULL)
        {
          GantryFoldPixel pixels[20];
          GantryCurvePixel curve[20];
          g_autoptr (GArray) nodes = gantry_recording_by_node (loaded);

          for (guint lane = 0; lane < gantry_recording_n_lanes (loaded); lane++)
            gantry_recording_fold (loaded, lane, -100, 2000, 20, pixels);
          gantry_recording_memory_curve (loaded, 0, -100, 2000, 20, curve);
          gantry_recording_memory_at (loaded, 0, 500);
          g_assert_cmpuint (nodes->len, <=, 30);
        }
      else
        refused++;
      saved_clear (&saved);
    }
  g_test_message ("%u of 4000 refused", refused);
  g_assert_cmpuint (refused, >, 1000);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/profiler/chunk/round-trip", test_round_trip);
  g_test_add_func ("/profiler/chunk/version-1", test_version_1);
  g_test_add_func ("/profiler/chunk/when-needed", test_when_needed);
  g_test_add_func ("/profiler/chunk/one-chunk", test_one_chunk);
  g_test_add_func ("/profiler/chunk/lost-chunk", test_lost_chunk);
  g_test_add_func ("/profiler/chunk/unaligned", test_unaligned);
  g_test_add_func ("/profiler/chunk/truncated", test_truncated);
  g_test_add_func ("/profiler/chunk/each-field", test_each_field);
  g_test_add_func ("/profiler/chunk/hostile", test_hostile);
  return g_test_run ();
}
