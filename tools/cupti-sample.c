/* SPDX-License-Identifier: Apache-2.0 */
/* Plays a program on three streams and writes down what CUPTI would have told of it. */
#include "tools/cupti-sample.h"
#include "profiler/cupti/layout.h"
#include <string.h>

#define N_NAMES 24u
#define NAME_ADDRESS 0x7f0000001000ull /* of the first name; 64 apart */
#define DOMAIN_ADDRESS 0x7f0000000800ull

typedef struct
{
  const CuptiSampleOptions *options;
  CuptiSampleTotals *totals;
  GantryCuptiCapture *capture;
  GRand *random;
  GByteArray *buffer;
  GArray *index;
  guint32 correlation, marker;
  gint64 host;      /* time of the host's thread */
  gint64 stream[3]; /* when each stream is free */
} Play;

gsize
cupti_sample_record (GByteArray *buffer, guint32 kind)
{
  gsize at = buffer->len;
  guint size = gantry_cupti_record_size (CUPTI_VERSION_13_0, kind);

  g_byte_array_set_size (buffer, (guint) at + size);
  memset (buffer->data + at, 0, size);
  cupti_sample_set (buffer, at, kind, 4);
  return at;
}

void
cupti_sample_set (GByteArray *buffer, gsize at, guint64 value, guint width)
{
  value = GUINT64_TO_LE (value);
  memcpy (buffer->data + at, &value, width);
}

static const char *const call_names[] = {
  NULL, "cuLaunchKernelEx", "cuMemcpyDtoHAsync_v2", "cuMemcpyHtoDAsync_v2", "cuStreamSynchronize", "cuMemAlloc_v2", "cuMemsetD32Async"
};

static void
end_buffer (Play *play)
{
  GantryCuptiAddress *addresses = g_new (GantryCuptiAddress, N_NAMES + 1);
  guint n = play->index->len;

  for (guint i = 0; i < N_NAMES; i++)
    {
      g_autofree char *name = i == 0 ? g_strdup ("step") : i == 1 ? g_strdup ("forward") : i == 2 ? g_strdup ("checkpoint") : g_strdup_printf ("fusion_%u", i);

      addresses[i] = (GantryCuptiAddress){ NAME_ADDRESS + 64 * i, gantry_cupti_capture_intern (play->capture, name) };
    }
  addresses[N_NAMES] = (GantryCuptiAddress){ DOMAIN_ADDRESS, gantry_cupti_capture_intern (play->capture, "sample") };
  play->totals->buffers++;
  play->totals->bytes += play->buffer->len;
  gantry_cupti_capture_add_buffer (play->capture, g_byte_array_free_to_bytes (play->buffer),
                                   play->options->no_index ? NULL : g_memdup2 (play->index->data, n * sizeof (guint32)), play->options->no_index ? 0 : n,
                                   addresses, N_NAMES + 1);
  play->buffer = g_byte_array_new ();
  g_array_set_size (play->index, 0);
}

static gsize
record (Play *play, guint32 kind)
{
  gsize most = play->options->buffer_bytes != 0 ? play->options->buffer_bytes : 4u << 20, at;
  guint32 begin;

  if (play->buffer->len > 0 && play->buffer->len + gantry_cupti_record_size (CUPTI_VERSION_13_0, kind) > most)
    end_buffer (play);
  at = cupti_sample_record (play->buffer, kind);
  begin = (guint32) at;
  g_array_append_val (play->index, begin);
  return at;
}

static void
set (Play *play, gsize at, guint64 value, guint width)
{
  cupti_sample_set (play->buffer, at, value, width);
}

/* A call of the driver by the host's thread, with the mark that was pushed. Returns when it began. */
static gint64
call (Play *play, guint cbid, guint32 instruction, gint64 length)
{
  gint64 begin = play->host;
  gsize at;

  play->correlation++;
  if (instruction != G_MAXUINT32)
    {
      at = record (play, CUPTI_KIND_EXTERNAL_CORRELATION);
      set (play, at + EXTERNAL_KIND, CUPTI_EXTERNAL_CUSTOM0, 4);
      set (play, at + EXTERNAL_ID, instruction + 1, 8);
      set (play, at + EXTERNAL_CORRELATION, play->correlation, 4);
    }
  at = record (play, CUPTI_KIND_DRIVER);
  set (play, at + API_CBID, cbid, 4);
  set (play, at + API_START, (guint64) begin, 8);
  set (play, at + API_END, (guint64) (begin + length), 8);
  set (play, at + API_PROCESS, 100, 4);
  set (play, at + API_THREAD, CUPTI_SAMPLE_THREAD, 4);
  set (play, at + API_CORRELATION, play->correlation, 4);
  play->host += length;
  play->totals->calls++;
  return begin;
}

static void
place (Play *play, gsize at, guint device, guint32 stream)
{
  set (play, at + device + 4, CUPTI_SAMPLE_CONTEXT, 4);
  set (play, at + device + 8, stream, 4);
}

static void
launch (Play *play, guint32 instruction)
{
  gint64 asked = call (play, 1, instruction, 2000 + g_rand_int_range (play->random, 0, 2000));
  gint64 begin = MAX (play->stream[0], asked + 3000), length = g_rand_int_range (play->random, 4000, 40000);
  gsize at = record (play, CUPTI_KIND_CONCURRENT_KERNEL);
  guint name = 3 + instruction % (N_NAMES - 3);

  set (play, at + KERNEL_START, (guint64) begin, 8);
  set (play, at + KERNEL_END, (guint64) (begin + length), 8);
  place (play, at, KERNEL_DEVICE, CUPTI_SAMPLE_COMPUTE);
  for (guint i = 0; i < 3; i++)
    {
      set (play, at + KERNEL_GRID + 4 * i, i == 0 ? 132 + name : 1, 4);
      set (play, at + KERNEL_BLOCK + 4 * i, i == 0 ? 128 : 1, 4);
    }
  set (play, at + KERNEL_REGISTERS, 32 + name, 2);
  set (play, at + KERNEL_STATIC_SHARED, 1024, 4);
  set (play, at + KERNEL_DYNAMIC_SHARED, 1024 * name, 4);
  set (play, at + KERNEL_LOCAL_PER_THREAD, 8 * (name % 3), 4);
  set (play, at + KERNEL_CORRELATION, play->correlation, 4);
  set (play, at + KERNEL_NAME, NAME_ADDRESS + 64 * name, 8);
  play->stream[0] = begin + length + 500;
  play->totals->last = MAX (play->totals->last, begin + length);
  play->totals->kernels++;
}

static void
copy (Play *play, guint32 instruction, gboolean to_host)
{
  gint64 asked = call (play, to_host ? 2 : 3, instruction, 3000);
  guint s = to_host ? 1 : 2;
  gint64 begin = MAX (play->stream[s], asked + 4000), length = g_rand_int_range (play->random, 10000, 90000);
  gsize at = record (play, CUPTI_KIND_MEMCPY);

  set (play, at + MEMCPY_COPY_KIND, to_host ? 2 : 1, 1);
  set (play, at + MEMCPY_FROM, to_host ? 3 : 2, 1);
  set (play, at + MEMCPY_TO, to_host ? 2 : 3, 1);
  set (play, at + MEMCPY_FLAGS, 1, 1);
  set (play, at + MEMCPY_BYTES, (guint64) length * 50, 8);
  set (play, at + MEMCPY_START, (guint64) begin, 8);
  set (play, at + MEMCPY_END, (guint64) (begin + length), 8);
  place (play, at, MEMCPY_DEVICE, to_host ? CUPTI_SAMPLE_TO_HOST : CUPTI_SAMPLE_TO_DEVICE);
  set (play, at + MEMCPY_CORRELATION, play->correlation, 4);
  play->stream[s] = begin + length;
  play->totals->last = MAX (play->totals->last, begin + length);
  play->totals->copies++;
}

static void
set_memory (Play *play)
{
  gint64 begin = call (play, 6, G_MAXUINT32, 1500) + 5000;
  gsize at = record (play, CUPTI_KIND_MEMSET);

  set (play, at + MEMSET_BYTES, 65536, 8);
  set (play, at + MEMSET_START, (guint64) begin, 8);
  set (play, at + MEMSET_END, (guint64) begin + 2000, 8);
  place (play, at, MEMSET_DEVICE, CUPTI_SAMPLE_OTHER);
  set (play, at + MEMSET_CORRELATION, play->correlation, 4);
  play->totals->last = MAX (play->totals->last, begin + 2000);
  play->totals->sets++;
}

/* One end of an NVTX range, or an instant. */
static void
mark (Play *play, guint32 flags, guint32 id, guint name)
{
  gsize at = record (play, CUPTI_KIND_MARKER);

  set (play, at + MARKER_FLAGS, flags, 4);
  set (play, at + MARKER_TIME, (guint64) play->host, 8);
  set (play, at + MARKER_ID, id, 4);
  set (play, at + MARKER_OBJECT, CUPTI_OBJECT_THREAD, 4);
  set (play, at + MARKER_OBJECT_ID, 100, 4);
  set (play, at + MARKER_OBJECT_ID + 4, CUPTI_SAMPLE_THREAD, 4);
  if (flags != CUPTI_MARKER_END)
    set (play, at + MARKER_NAME, NAME_ADDRESS + 64 * name, 8);
  set (play, at + MARKER_DOMAIN, DOMAIN_ADDRESS, 8);
  play->host += 100;
}

static void
wait (Play *play)
{
  gint64 until = MAX (MAX (play->stream[0], play->stream[1]), play->stream[2]);
  gint64 length = MAX (until - play->host, 0) + 2000;
  gint64 begin = call (play, 4, G_MAXUINT32, length);
  gsize at = record (play, CUPTI_KIND_SYNCHRONIZATION);

  set (play, at + SYNC_TYPE, 3, 4);
  set (play, at + SYNC_START, (guint64) begin + 200, 8);
  set (play, at + SYNC_END, (guint64) (begin + length - 200), 8);
  set (play, at + SYNC_CORRELATION, play->correlation, 4);
  set (play, at + SYNC_CONTEXT, CUPTI_SAMPLE_CONTEXT, 4);
  set (play, at + SYNC_STREAM, CUPTI_SAMPLE_COMPUTE, 4);
  play->totals->syncs++;
}

static void
allocate (Play *play)
{
  gint64 begin = call (play, 5, G_MAXUINT32, 90000);
  gsize at = record (play, CUPTI_KIND_MEMORY2);

  set (play, at + MEMORY2_OPERATION, 1, 4);
  set (play, at + MEMORY2_KIND, 3, 4);
  set (play, at + MEMORY2_CORRELATION, play->correlation, 4);
  set (play, at + MEMORY2_ADDRESS, 0x700000000000ull, 8);
  set (play, at + MEMORY2_BYTES, 1u << 30, 8);
  set (play, at + MEMORY2_TIME, (guint64) begin + 1000, 8);
  set (play, at + MEMORY2_CONTEXT, CUPTI_SAMPLE_CONTEXT, 4);
  play->totals->memory++;
}

static void
flush_overhead (Play *play)
{
  gsize at = record (play, CUPTI_KIND_OVERHEAD);

  set (play, at + OVERHEAD_KIND, 1u << 16, 4);
  set (play, at + OVERHEAD_OBJECT, CUPTI_OBJECT_THREAD, 4);
  set (play, at + OVERHEAD_OBJECT_ID + 4, CUPTI_SAMPLE_THREAD, 4);
  set (play, at + OVERHEAD_START, (guint64) play->host, 8);
  set (play, at + OVERHEAD_END, (guint64) play->host + 7000, 8);
  play->host += 7000;
  play->totals->overheads++;
}

static void
step (Play *play)
{
  guint32 outer = ++play->marker, inner = ++play->marker;
  guint n = play->options->kernels;

  mark (play, CUPTI_MARKER_START, outer, 0);
  mark (play, CUPTI_MARKER_START, inner, 1);
  for (guint i = 0; i < n; i++)
    {
      launch (play, i);
      if (i == n / 2)
        copy (play, n, TRUE);
    }
  copy (play, n + 1, FALSE);
  mark (play, CUPTI_MARKER_END, inner, 0);
  mark (play, CUPTI_MARKER_INSTANT, ++play->marker, 2);
  set_memory (play);
  wait (play);
  mark (play, CUPTI_MARKER_END, outer, 0);
  flush_overhead (play);
  play->totals->ranges += 2;
  play->totals->instants++;
}

static void
sample_counters (Play *play)
{
  static const char *const names[] = { "SM busy (%)", "memory read (%)" };
  gint64 begin = play->options->begin, interval = play->options->sample_ns;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_ptr_array_add (play->capture->counters, g_strdup (names[i]));
  play->capture->sampled_from = begin;
  play->capture->sampled_to = play->totals->last;
  for (gint64 time = begin; time + interval <= play->totals->last; time += interval)
    {
      GantryCuptiSample sample = { time, time + interval };
      double values[2] = { g_rand_double_range (play->random, 0, 100), g_rand_double_range (play->random, 0, 100) };

      g_array_append_val (play->capture->samples, sample);
      g_array_append_vals (play->capture->values, values, 2);
      play->totals->samples++;
    }
}

GantryCuptiCapture *
cupti_sample_new (const CuptiSampleOptions *options, CuptiSampleTotals *totals)
{
  Play play = { .options = options, .totals = totals, .host = options->begin };

  *totals = (CuptiSampleTotals){ .first = options->begin, .last = options->begin };
  play.capture = gantry_cupti_capture_new (CUPTI_VERSION_13_0 + 1);
  play.capture->is_monotonic = TRUE;
  play.capture->chip = g_strdup ("GH100");
  play.capture->device = g_strdup ("a GPU that was made up");
  play.random = g_rand_new_with_seed (options->seed);
  play.buffer = g_byte_array_new ();
  play.index = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (guint cbid = 1; cbid < G_N_ELEMENTS (call_names); cbid++)
    {
      GantryCuptiCallName name = { TRUE, cbid, gantry_cupti_capture_intern (play.capture, call_names[cbid]) };

      g_array_append_val (play.capture->calls, name);
    }
  allocate (&play);
  for (guint s = 0; s < options->steps; s++)
    step (&play);
  totals->last = MAX (totals->last, play.host);
  end_buffer (&play);
  if (options->sample_ns > 0)
    sample_counters (&play);
  g_byte_array_unref (play.buffer);
  g_array_unref (play.index);
  g_rand_free (play.random);
  return play.capture;
}
