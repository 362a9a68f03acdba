/* SPDX-License-Identifier: Apache-2.0 */
/* Activity buffers decoded: fields of every kind, walks by sizes and by an index, buffers that end too soon, records of
 * other versions, and bytes that mean nothing. */
#include "profiler/cupti/decode.h"
#include "tests/random-seed.h"
#include "tools/cupti-sample.h"
#include <string.h>

static void
keep_record (const GantryCuptiRecord *record, gpointer user_data)
{
  g_array_append_vals (user_data, record, 1);
}

static GArray *
walk_bytes (guint32 version, const GByteArray *bytes, const guint32 *index, guint n_index, GantryCuptiWalk *walk)
{
  GArray *records = g_array_new (FALSE, FALSE, sizeof (GantryCuptiRecord));

  memset (walk, 0, sizeof *walk);
  gantry_cupti_walk (version, bytes->data, bytes->len, index, n_index, keep_record, records, walk);
  return records;
}

static void
put (GByteArray *bytes, gsize at, guint field, guint64 value, guint width)
{
  cupti_sample_set (bytes, at + field, value, width);
}

static void
test_kernel (void)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (GArray) records = NULL;
  const GantryCuptiRecord *record;
  GantryCuptiWalk walk;
  gsize at = cupti_sample_record (bytes, CUPTI_KIND_CONCURRENT_KERNEL);

  put (bytes, at, KERNEL_REGISTERS, 168, 2);
  put (bytes, at, KERNEL_START, 1000, 8);
  put (bytes, at, KERNEL_END, 5000, 8);
  put (bytes, at, KERNEL_DEVICE, 1, 4);
  put (bytes, at, KERNEL_CONTEXT, 2, 4);
  put (bytes, at, KERNEL_STREAM, 7, 4);
  put (bytes, at, KERNEL_GRID + 4, 12, 4);
  put (bytes, at, KERNEL_BLOCK, 384, 4);
  put (bytes, at, KERNEL_STATIC_SHARED, 48, 4);
  put (bytes, at, KERNEL_DYNAMIC_SHARED, 200000, 4);
  put (bytes, at, KERNEL_LOCAL_PER_THREAD, 16, 4);
  put (bytes, at, KERNEL_CORRELATION, 99, 4);
  put (bytes, at, KERNEL_NAME, 0x1234567890, 8);
  put (bytes, at, KERNEL_GRAPH_NODE, 77, 8);
  put (bytes, at, KERNEL_CLUSTER + 8, 2, 4);
  records = walk_bytes (CUPTI_VERSION_13_0, bytes, NULL, 0, &walk);
  g_assert_cmpint (walk.stop, ==, GANTRY_CUPTI_STOP_END);
  g_assert_cmpuint (records->len, ==, 1);
  record = &g_array_index (records, GantryCuptiRecord, 0);
  g_assert_cmpuint (record->kind, ==, GANTRY_CUPTI_KERNEL);
  g_assert_cmpuint (record->begin, ==, 1000);
  g_assert_cmpuint (record->end, ==, 5000);
  g_assert_cmpuint (record->device, ==, 1);
  g_assert_cmpuint (record->context, ==, 2);
  g_assert_cmpuint (record->stream, ==, 7);
  g_assert_cmpuint (record->correlation, ==, 99);
  g_assert_cmpuint (record->name, ==, 0x1234567890);
  g_assert_cmpuint (record->graph_node, ==, 77);
  g_assert_cmpuint (record->kernel.grid[1], ==, 12);
  g_assert_cmpuint (record->kernel.block[0], ==, 384);
  g_assert_cmpuint (record->kernel.cluster[2], ==, 2);
  g_assert_cmpuint (record->kernel.registers, ==, 168);
  g_assert_cmpuint (record->kernel.static_shared, ==, 48);
  g_assert_cmpuint (record->kernel.dynamic_shared, ==, 200000);
  g_assert_cmpuint (record->kernel.local_bytes, ==, 16);
}

static void
test_host_kinds (void)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (GArray) records = NULL;
  const GantryCuptiRecord *r;
  GantryCuptiWalk walk;
  gsize at = cupti_sample_record (bytes, CUPTI_KIND_DRIVER);

  put (bytes, at, API_CBID, 307, 4);
  put (bytes, at, API_THREAD, 12, 4);
  put (bytes, at, API_RESULT, 700, 4);
  at = cupti_sample_record (bytes, CUPTI_KIND_EXTERNAL_CORRELATION);
  put (bytes, at, EXTERNAL_KIND, CUPTI_EXTERNAL_CUSTOM0, 4);
  put (bytes, at, EXTERNAL_ID, 0x100000005ull, 8);
  put (bytes, at, EXTERNAL_CORRELATION, 41, 4);
  at = cupti_sample_record (bytes, CUPTI_KIND_MARKER);
  put (bytes, at, MARKER_FLAGS, CUPTI_MARKER_END, 4);
  put (bytes, at, MARKER_TIME, 123, 8);
  put (bytes, at, MARKER_ID, 9, 4);
  put (bytes, at, MARKER_OBJECT, CUPTI_OBJECT_THREAD, 4);
  put (bytes, at, MARKER_OBJECT_ID + 4, 4711, 4);
  put (bytes, at, MARKER_DOMAIN, 0xabc, 8);
  at = cupti_sample_record (bytes, CUPTI_KIND_MEMORY_POOL);
  put (bytes, at, POOL_OPERATION, 3, 4);
  put (bytes, at, POOL_SIZE, 4096, 8);
  put (bytes, at, POOL_USED, 1024, 8);
  at = cupti_sample_record (bytes, CUPTI_KIND_OVERHEAD);
  put (bytes, at, OVERHEAD_KIND, 5u << 16, 4);
  put (bytes, at, OVERHEAD_OBJECT, CUPTI_OBJECT_STREAM, 4);
  put (bytes, at, OVERHEAD_OBJECT_ID + 8, 14, 4);
  put (bytes, at, OVERHEAD_CORRELATION, 3, 4);
  at = cupti_sample_record (bytes, CUPTI_KIND_MEMCPY2);
  put (bytes, at, MEMCPY_BYTES, 1 << 20, 8);
  put (bytes, at, MEMCPY2_FROM_DEVICE, 1, 4);
  put (bytes, at, MEMCPY2_TO_DEVICE, 3, 4);
  put (bytes, at, MEMCPY2_CORRELATION, 8, 4);
  at = cupti_sample_record (bytes, CUPTI_KIND_SYNCHRONIZATION);
  put (bytes, at, SYNC_TYPE, 2, 4);
  put (bytes, at, SYNC_STREAM, 13, 4);
  records = walk_bytes (CUPTI_VERSION_13_0 + 1, bytes, NULL, 0, &walk);
  g_assert_cmpuint (records->len, ==, 7);
  r = (const GantryCuptiRecord *) records->data;
  g_assert_true (r[0].kind == GANTRY_CUPTI_CALL && r[0].call.is_driver && r[0].call.cbid == 307);
  g_assert_true (r[0].thread == 12 && r[0].call.result == 700);
  g_assert_true (r[1].kind == GANTRY_CUPTI_EXTERNAL && r[1].external.id == 0x100000005ull && r[1].correlation == 41);
  g_assert_true (r[2].kind == GANTRY_CUPTI_MARKER && r[2].thread == 4711 && r[2].begin == 123 && r[2].domain == 0xabc);
  g_assert_true (r[2].marker.flags == CUPTI_MARKER_END && r[2].marker.id == 9);
  g_assert_true (r[3].kind == GANTRY_CUPTI_POOL && r[3].bytes == 4096 && r[3].pool.used == 1024 && r[3].pool.operation == 3);
  g_assert_true (r[4].kind == GANTRY_CUPTI_OVERHEAD && r[4].overhead.kind == 5u << 16 && r[4].stream == 14);
  g_assert_cmpuint (r[4].correlation, ==, 3);
  g_assert_true (r[5].kind == GANTRY_CUPTI_COPY && r[5].copy.from_device == 1 && r[5].copy.to_device == 3);
  g_assert_true (r[5].correlation == 8 && r[5].bytes == 1 << 20);
  g_assert_true (r[6].kind == GANTRY_CUPTI_SYNC && r[6].sync.type == 2 && r[6].stream == 13);
}

/* A record of an older version is shorter: what it has is read. A newer one is longer: the rest is passed over. */
static void
test_other_lengths (void)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (GArray) records = NULL;
  g_autoptr (GArray) unknown = NULL;
  GantryCuptiWalk walk;
  guint32 index[] = { 0, KERNEL_LEAST, KERNEL_LEAST + 260 };

  cupti_sample_record (bytes, CUPTI_KIND_KERNEL);
  put (bytes, 0, KERNEL_CORRELATION, 1, 4);
  g_byte_array_set_size (bytes, KERNEL_LEAST);
  cupti_sample_record (bytes, CUPTI_KIND_KERNEL);
  put (bytes, index[1], KERNEL_CORRELATION, 2, 4);
  put (bytes, index[1], KERNEL_CLUSTER, 4, 4);
  g_byte_array_set_size (bytes, index[2]);
  cupti_sample_record (bytes, CUPTI_KIND_MEMSET);
  records = walk_bytes (26, bytes, index, 3, &walk);
  g_assert_cmpint (walk.stop, ==, GANTRY_CUPTI_STOP_END);
  g_assert_cmpuint (records->len, ==, 3);
  g_assert_cmpuint (g_array_index (records, GantryCuptiRecord, 0).correlation, ==, 1);
  g_assert_cmpuint (g_array_index (records, GantryCuptiRecord, 0).kernel.cluster[0], ==, 0);
  g_assert_cmpuint (g_array_index (records, GantryCuptiRecord, 1).correlation, ==, 2);
  g_assert_cmpuint (g_array_index (records, GantryCuptiRecord, 1).kernel.cluster[0], ==, 4);
  /* Without the index nothing is known of version 26. */
  unknown = walk_bytes (26, bytes, NULL, 0, &walk);
  g_assert_cmpuint (unknown->len, ==, 0);
  g_assert_cmpint (walk.stop, ==, GANTRY_CUPTI_STOP_UNKNOWN_SIZE);
  g_assert_cmpuint (walk.stop_kind, ==, CUPTI_KIND_KERNEL);
}

static void
test_stops (void)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  GantryCuptiWalk walk;
  guint32 falling[] = { 0, 40, 40 }, outside[] = { 0, 4000 }, other[] = { 0, 40 };
  gsize at;

  cupti_sample_record (bytes, CUPTI_KIND_DRIVER);
  at = cupti_sample_record (bytes, CUPTI_KIND_DRIVER);
  g_array_unref (walk_bytes (CUPTI_VERSION_13_0, bytes, falling, 3, &walk));
  g_assert_cmpint (walk.stop, ==, GANTRY_CUPTI_STOP_BAD_INDEX);
  g_assert_cmpuint (walk.n_records, ==, 1);
  g_array_unref (walk_bytes (CUPTI_VERSION_13_0, bytes, outside, 2, &walk));
  g_assert_cmpint (walk.stop, ==, GANTRY_CUPTI_STOP_BAD_INDEX);
  g_assert_cmpuint (walk.n_records, ==, 0);
  /* A kind that is not decoded is passed over, one whose length is not known ends the walk. */
  put (bytes, at, 0, 1000, 4);
  g_array_unref (walk_bytes (CUPTI_VERSION_13_0, bytes, other, 2, &walk));
  g_assert_cmpint (walk.stop, ==, GANTRY_CUPTI_STOP_END);
  g_assert_cmpuint (walk.n_other, ==, 1);
  g_array_unref (walk_bytes (CUPTI_VERSION_13_0, bytes, NULL, 0, &walk));
  g_assert_cmpint (walk.stop, ==, GANTRY_CUPTI_STOP_UNKNOWN_SIZE);
  g_assert_cmpuint (walk.stop_at, ==, at);
  g_assert_cmpuint (walk.stop_kind, ==, 1000);
  put (bytes, at, 0, CUPTI_KIND_INVALID, 4);
  g_array_unref (walk_bytes (CUPTI_VERSION_13_0, bytes, NULL, 0, &walk));
  g_assert_cmpint (walk.stop, ==, GANTRY_CUPTI_STOP_INVALID);
  g_assert_cmpuint (walk.n_records, ==, 1);
  /* A kernel as long as a call. */
  put (bytes, at, 0, CUPTI_KIND_KERNEL, 4);
  g_array_unref (walk_bytes (CUPTI_VERSION_13_0, bytes, other, 2, &walk));
  g_assert_cmpuint (walk.n_short, ==, 1);
}

/* Wherever a buffer ends, all records before that are read and the walk says why it stopped. */
static void
test_truncated (void)
{
  CuptiSampleOptions options = { .seed = 7, .steps = 2, .kernels = 3, .begin = 1000, .no_index = TRUE };
  CuptiSampleTotals totals;
  g_autoptr (GantryCuptiCapture) capture = cupti_sample_new (&options, &totals);
  const GantryCuptiBuffer *buffer = g_ptr_array_index (capture->buffers, 0);
  gsize size;
  const guint8 *data = g_bytes_get_data (buffer->data, &size);
  guint64 before = 0;

  for (gsize end = 0; end <= size; end++)
    {
      /* An allocation of that size, so that reading further is found by the sanitizer. */
      g_autofree guint8 *part = g_memdup2 (data, end);
      GantryCuptiWalk walk = { 0 };

      gantry_cupti_walk (capture->version, part, end, NULL, 0, NULL, NULL, &walk);
      g_assert_cmpuint (walk.n_records, >=, before);
      g_assert_cmpuint (walk.n_records, <=, before + 1);
      g_assert_true (walk.stop == GANTRY_CUPTI_STOP_END || walk.stop == GANTRY_CUPTI_STOP_TRUNCATED);
      g_assert_cmpuint (walk.stop_at, <=, end);
      before = walk.n_records;
    }
  g_assert_cmpuint (before, ==,
                    totals.kernels * 3 + totals.copies * 3 + totals.sets * 2 + totals.syncs * 2 + totals.memory * 2 + totals.ranges * 2 + totals.instants
                      + totals.overheads);
}

/* By sizes and by the index the same is found. */
static void
test_index_agrees (void)
{
  CuptiSampleOptions options = { .seed = 3, .steps = 20, .kernels = 30, .begin = 1000, .buffer_bytes = 20000 };
  CuptiSampleTotals totals;
  g_autoptr (GantryCuptiCapture) capture = cupti_sample_new (&options, &totals);

  g_assert_cmpuint (capture->buffers->len, >, 5);
  for (guint i = 0; i < capture->buffers->len; i++)
    {
      const GantryCuptiBuffer *buffer = g_ptr_array_index (capture->buffers, i);
      g_autoptr (GByteArray) bytes = g_bytes_unref_to_array (g_bytes_ref (buffer->data));
      GantryCuptiWalk by_index, by_size;
      g_autoptr (GArray) a = walk_bytes (capture->version, bytes, buffer->index, buffer->n_index, &by_index);
      g_autoptr (GArray) b = walk_bytes (capture->version, bytes, NULL, 0, &by_size);

      g_assert_cmpmem (a->data, a->len * sizeof (GantryCuptiRecord), b->data, b->len * sizeof (GantryCuptiRecord));
      g_assert_cmpuint (a->len, ==, buffer->n_index);
    }
}

static void
test_noise (void)
{
  g_autoptr (GRand) random = test_rand (11);

  for (guint trial = 0; trial < 20000; trial++)
    {
      guint size = (guint) g_rand_int_range (random, 0, 400);
      g_autofree guint8 *data = g_malloc (size);
      guint32 index[4];
      GantryCuptiWalk walk = { 0 };

      for (guint i = 0; i < size; i++)
        data[i] = (guint8) (g_rand_int_range (random, 0, 3) == 0 ? g_rand_int (random) : 0);
      if (size > 4 && trial % 2 == 0)
        data[0] = (guint8) g_rand_int_range (random, 0, CUPTI_N_KINDS + 2);
      for (guint i = 0; i < 4; i++)
        index[i] = (guint32) g_rand_int_range (random, 0, 500);
      gantry_cupti_walk (CUPTI_VERSION_13_0, data, size, NULL, 0, NULL, NULL, &walk);
      g_assert_cmpuint (walk.stop_at, <=, size);
      gantry_cupti_walk (CUPTI_VERSION_13_0, data, size, index, 4, NULL, NULL, &walk);
      g_assert_cmpuint (walk.stop_at, <=, size);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/profiler/cupti/decode/kernel", test_kernel);
  g_test_add_func ("/profiler/cupti/decode/host-kinds", test_host_kinds);
  g_test_add_func ("/profiler/cupti/decode/other-lengths", test_other_lengths);
  g_test_add_func ("/profiler/cupti/decode/stops", test_stops);
  g_test_add_func ("/profiler/cupti/decode/truncated", test_truncated);
  g_test_add_func ("/profiler/cupti/decode/index-agrees", test_index_agrees);
  g_test_add_func ("/profiler/cupti/decode/noise", test_noise);
  return g_test_run ();
}
