/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA device on the stand-in: runs are those of the processor, and what the driver is asked for is right. */
#include "core/base/error.h"
#include "tests/core/runtime/fake.h"
#include "tests/core/runtime/stand-in.h"
#include <stdatomic.h>

#define N 4000

static StandIn stand_in;

static void
run_pipeline (GantryExecutor *executor, float first, const GantryObserver *observer)
{
  g_autofree float *x = g_new (float, N), *r = g_new0 (float, N);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < N; i++)
    x[i] = first + (float) i;
  g_assert_true (gantry_executor_run (executor, &(GantryRunInput){ x, 4 * N }, 1, &(GantryRunOutput){ r, 4 * N }, 1, observer, NULL, &error));
  g_assert_no_error (error);
  for (guint i = 0; i < N; i++)
    g_assert_cmpfloat (r[i], ==, 5 * x[i]);
}

static void
test_probe (void)
{
  g_autoptr (GantryDeviceProbe) probe = NULL;
  g_autoptr (GError) error = NULL;

  stand_in.configure ("devices=2,version=12040,mode=3");
  probe = gantry_cuda_probe (&error);
  g_assert_no_error (error);
  g_assert_true (g_str_has_prefix (probe->driver, "CUDA 12.4"));
  g_assert_cmpuint (probe->n_devices, ==, 2);
  g_assert_cmpstr (probe->devices[1].name, ==, "Stand-in GPU 1");
  g_assert_cmpstr (probe->devices[1].pci, ==, "0000:02:00.0");
  g_assert_cmpint (probe->devices[1].ordinal, ==, 1);
  g_assert_cmpint (probe->devices[1].major, ==, 9);
  g_assert_cmpuint (probe->devices[1].bytes, ==, (guint64) 1 << 32);
  g_assert_nonnull (strstr (probe->devices[0].limited, "exclusive"));
  g_assert_cmpuint (stand_in.alive (), ==, 0);
}

/* What an observer hears, and in what order. */
typedef struct
{
  gint64 begin, end, last[GANTRY_N_QUEUES];
  gint64 of[16][2];
  guint n, waits;
  const GantryExecutable *executable;
} Times;

static void
hear_begin (gpointer self, const GantryExecutable *executable, gint64 time)
{
  ((Times *) self)->begin = time;
}

static void
hear (gpointer self, guint32 i, gint64 begin, gint64 end)
{
  Times *times = self;
  guint8 queue = times->executable->instructions[i].queue;

  g_assert_cmpint (begin, >=, times->begin);
  g_assert_cmpint (end, >=, begin);
  g_assert_cmpint (begin, >=, times->last[queue]);
  times->last[queue] = end;
  times->of[i][0] = begin;
  times->of[i][1] = end;
  times->n++;
}

static void
hear_wait (gpointer self, guint32 i, gint64 begin, gint64 end)
{
  hear (self, i, begin, end);
  ((Times *) self)->waits++;
}

static void
hear_end (gpointer self, gint64 time)
{
  Times *times = self;

  for (guint q = 0; q < GANTRY_N_QUEUES; q++)
    g_assert_cmpint (times->last[q], <=, time);
}

/* Three queues, with and without stamps, as a graph, one command at a time, watched. */
static void
test_pipeline (void)
{
  g_autoptr (GantryExecutable) executable = fake_pipeline (N);
  GantryDevice *device;
  GantryExecutor *executor;

  stand_in.configure ("jitter=1");
  device = stand_in_device ();
  g_assert_false (gantry_device_is_host (device));
  g_assert_cmpuint (gantry_cuda_device_capability (device), ==, 90);
  g_assert_cmpint (gantry_cuda_device_clock_error (device), ==, 0);
  stand_in_convert (executable);
  executor = stand_in_executor (device, executable);
  for (guint round = 0; round < 60; round++)
    {
      Times times = { .executable = executable };
      GantryObserver observer = { hear_begin, hear, hear_wait, NULL, hear_end, &times };

      run_pipeline (executor, (float) round, round % 2 == 0 ? &observer : NULL);
      if (round % 2 == 1)
        continue;
      g_assert_cmpuint (times.n, ==, 9);
      g_assert_cmpuint (times.waits, ==, 4);
      /* What was waited for was over. The comparison of the clocks knows how wrong it may be. */
      g_assert_cmpint (times.of[4][0] + 1000, >=, times.of[2][1]);
      g_assert_cmpint (times.of[8][0] + 1000, >=, times.of[6][1]);
      g_assert_cmpint (gantry_cuda_device_clock_error (device), >, 0);
    }
  gantry_executor_set_verify (executor, GANTRY_VERIFY_PLACES | GANTRY_VERIFY_POISON | GANTRY_VERIFY_WRITES);
  run_pipeline (executor, 1, NULL);
  gantry_executor_set_verify (executor, 0);
  gantry_cuda_device_set_checking (device, TRUE);
  run_pipeline (executor, 2, NULL);
  gantry_executor_free (executor);
  stand_in_end_device (&stand_in, device);
}

static void
test_graphs (void)
{
  g_autoptr (GantryExecutable) executable = fake_pipeline (N), other = fake_pipeline (N);
  GantryDevice *device;
  GantryExecutor *executor, *second;
  guint made, replayed;

  stand_in.configure ("jitter=1");
  device = stand_in_device ();
  gantry_cuda_device_set_graphs (device, TRUE);
  stand_in_convert (executable);
  stand_in_convert (other);
  executor = stand_in_executor (device, executable);
  for (guint round = 0; round < 10; round++)
    run_pipeline (executor, (float) round, NULL);
  gantry_cuda_device_get_graphs (device, &made, &replayed);
  g_assert_cmpuint (made, ==, 1);
  g_assert_cmpuint (replayed, ==, 8);
  g_assert_cmpuint (stand_in.calls ("cuGraphLaunch"), ==, 9);
  /* The first batch was none; those after it are timed. */
  g_assert_cmpint (gantry_cuda_device_take_replay_ns (device), ==, 0);
  run_pipeline (executor, 1, NULL);
  g_assert_cmpint (gantry_cuda_device_take_replay_ns (device), >, 0);
  g_assert_cmpint (gantry_cuda_device_take_replay_ns (device), ==, 0);
  /* The same program in other places is another graph; with stamps there is none. */
  second = stand_in_executor (device, other);
  for (guint round = 0; round < 4; round++)
    {
      Times times = { .executable = executable };
      GantryObserver observer = { hear_begin, hear, hear_wait, NULL, hear_end, &times };

      run_pipeline (second, (float) round, NULL);
      run_pipeline (executor, (float) round, &observer);
    }
  gantry_cuda_device_get_graphs (device, &made, &replayed);
  g_assert_cmpuint (made, ==, 2);
  g_assert_cmpuint (replayed, ==, 11);
  /* Code that goes takes its graphs with it: addresses come again. */
  gantry_executor_free (second);
  run_pipeline (executor, 3, NULL);
  run_pipeline (executor, 4, NULL);
  gantry_cuda_device_get_graphs (device, &made, NULL);
  g_assert_cmpuint (made, ==, 3);
  gantry_executor_free (executor);
  stand_in_end_device (&stand_in, device);
}

/* A driver that cannot capture it runs it all the same. */
static void
test_no_graphs (void)
{
  static const char *const fails[] = { "fail=cuStreamBeginCapture_v2:1:900", "fail=cuStreamEndCapture:1:904", "fail=cuGraphInstantiateWithFlags:1:801" };

  for (guint i = 0; i < G_N_ELEMENTS (fails); i++)
    {
      g_autoptr (GantryExecutable) executable = fake_pipeline (N);
      GantryDevice *device;
      GantryExecutor *executor;
      g_auto (GStrv) notes = NULL;
      guint made;

      stand_in.configure (fails[i]);
      device = stand_in_device ();
      gantry_cuda_device_set_graphs (device, TRUE);
      stand_in_convert (executable);
      executor = stand_in_executor (device, executable);
      for (guint round = 0; round < 4; round++)
        run_pipeline (executor, (float) round, NULL);
      gantry_cuda_device_get_graphs (device, &made, NULL);
      g_assert_cmpuint (made, ==, 0);
      notes = gantry_cuda_device_get_notes (device);
      g_assert_cmpuint (g_strv_length (notes), ==, 1);
      g_assert_true (g_str_has_prefix (notes[0], "Runs are handed to the GPU command by command, not as a CUDA graph: Stand-in GPU 0: "));
      gantry_executor_free (executor);
      stand_in_end_device (&stand_in, device);
    }
}

/* Constants of every kind: splats of all sizes written by the GPU or uploaded, a dense literal used where it lies on the
 * processor, and weights that the processor packs. */

static void
pack_sum (gpointer state, void *const *buffers, void *packed)
{
  const float *l = buffers[1];

  /* Only constants are there to look at. */
  g_assert_null (buffers[0]);
  g_assert_null (buffers[2]);
  *(float *) packed = l[1] + l[2];
}

static void
use_packed (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  const float *x = buffers[0], *l = buffers[1], *packed = buffers[3];
  float *y = buffers[2];

  for (gint64 i = begin; i < end; i++)
    y[i] = x[i] + l[i] + packed[0];
}

static GantryExecutable *
with_literals (guint n_uses)
{
  Fake f = fake_begin ();
  gint64 n = N;
  guint32 x = fake_value (&f, TRUE, N, "x"), l = fake_value (&f, FALSE, N, "literal"), r = 0, bx, bl, br = 0;
  const GantryType *type = gantry_context_type (f.context, gantry_context_tensor (f.context, GANTRY_F32, 1, &n));
  g_autoptr (GantryLiteral) dense = NULL;
  guint32 literal, last;
  guint8 *data;

  dense = gantry_literal_new_zeroed (type, &data);
  for (guint i = 0; i < N; i++)
    memcpy (data + 4 * i, &(float){ 1000.0f * (float) i }, 4);
  literal = gantry_context_add_literal (f.context, dense);
  bx = last = fake_buffer (&f, x, GANTRY_BUFFER_INPUT, 0, N, 0, n_uses);
  for (guint u = 0; u < n_uses; u++)
    {
      guint32 i;

      bl = fake_buffer (&f, l, GANTRY_BUFFER_CONSTANT, 0, N, u, u);
      FAKE_BUFFER (&f, bl)->region = GANTRY_REGION_LITERAL;
      FAKE_BUFFER (&f, bl)->literal = literal;
      r = fake_value (&f, FALSE, N, "r");
      br = fake_buffer (&f, r, u + 1 == n_uses ? GANTRY_BUFFER_OUTPUT : GANTRY_BUFFER_TEMPORARY, 16000 * (u + 1) / 64 * 64 + 64 * u, N, u, u + 1);
      i = fake_launch (&f, r, u, use_packed, NULL, N, FAKE_BUFFERS (last, bl, br));
      g_array_index (f.kernels, GantryKernel, FAKE_INSTRUCTION (&f, i)->kernel).packed_bytes = 4;
      g_array_index (f.kernels, GantryKernel, FAKE_INSTRUCTION (&f, i)->kernel).pack = pack_sum;
      last = br;
    }
  (void) bx;
  return fake_end (&f, 1, &br);
}

static void
test_literals (void)
{
  g_autoptr (GantryExecutable) executable = with_literals (3);
  g_autofree float *x = g_new (float, N), *r = g_new0 (float, N);
  GantryDevice *device;
  GantryExecutor *executor;
  guint64 used;

  stand_in.configure (NULL);
  device = stand_in_device ();
  stand_in_convert (executable);
  executor = stand_in_executor (device, executable);
  /* The literal is there once, and counts: it takes 16000 bytes, three packed weights the places of 64. */
  gantry_device_get_memory (device, GANTRY_MEMORY_DEVICE, &used, NULL, NULL);
  g_assert_cmpuint (used, ==, executable->plan->arena_bytes[GANTRY_MEMORY_DEVICE] + 3 * 64 + 16000);
  for (guint i = 0; i < N; i++)
    x[i] = (float) i;
  g_assert_true (gantry_executor_run (executor, &(GantryRunInput){ x, 4 * N }, 1, &(GantryRunOutput){ r, 4 * N }, 1, NULL, NULL, NULL));
  for (guint i = 0; i < N; i++)
    g_assert_cmpfloat (r[i], ==, (float) i + 3 * (1000.0f * (float) i + 3000));
  gantry_executor_free (executor);
  /* The limit is for literals too. */
  gantry_device_set_limit (device, GANTRY_MEMORY_DEVICE, used - 1);
  {
    g_autoptr (GError) error = NULL;

    g_assert_null (gantry_executor_new (device, executable, NULL, &error));
    g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
    g_assert_nonnull (strstr (error->message, "1 B too much"));
  }
  stand_in_end_device (&stand_in, device);
}

/* A kernel of two launches, one with a tensor map, a cluster and much shared memory. */

static void
read_map (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  const FakeCudaMap *map = buffers[2];
  const float *x = GSIZE_TO_POINTER (map->address);
  float *y = buffers[1];

  g_assert_cmpuint (map->magic, ==, FAKE_CUDA_MAP);
  g_assert_cmpuint (map->rank, ==, 2);
  g_assert_cmpint (map->element, ==, 7);  /* FLOAT32 */
  g_assert_cmpuint (map->swizzle, ==, 3); /* 128 bytes */
  g_assert_cmpuint (map->dims[0], ==, 100);
  g_assert_cmpuint (map->dims[1], ==, 40);
  g_assert_cmpuint (map->box[0], ==, 32);
  for (gint64 i = begin; i < end; i++)
    y[i] = 10 * x[i];
}

static void
add_one (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  float *y = buffers[1];

  for (gint64 i = begin; i < end; i++)
    y[i] += 1;
}

static GantryExecutable *
with_map (void)
{
  Fake f = fake_begin ();
  guint32 x = fake_value (&f, TRUE, N, "x"), y = fake_value (&f, FALSE, N, "y");
  guint32 bx = fake_buffer (&f, x, GANTRY_BUFFER_INPUT, 0, N, 0, 0), by = fake_buffer (&f, y, GANTRY_BUFFER_OUTPUT, 16000, N, 0, 0);
  GantryTensorMap map = { .buffer = 0, .element = GANTRY_F32, .rank = 2, .swizzle = 128, .dims = { 100, 40 }, .strides = { 4, 400 }, .box = { 32, 8 } };
  gsize bytes = sizeof (FakeCudaImage) + 2 * sizeof (FakeCudaEntry);
  FakeCudaImage *image = g_malloc0 (bytes);
  GantryExecutable *executable;
  GantryGpuKernel *gpu;

  fake_launch (&f, y, 0, read_map, NULL, N, FAKE_BUFFERS (bx, by));
  executable = fake_end (&f, 1, &by);
  stand_in_convert (executable);
  memcpy (image->magic, FAKE_CUDA_MAGIC, sizeof FAKE_CUDA_MAGIC);
  image->n = 2;
  image->entries[0] = (FakeCudaEntry){ "first", read_map, NULL, N, 2, 1 };
  image->entries[1] = (FakeCudaEntry){ "second", add_one, NULL, N, 2, 0 };
  g_bytes_unref (executable->images[0].code);
  executable->images[0].code = g_bytes_new_take (image, bytes);
  gpu = executable->kernels[0].gpu;
  gpu->n_launches = 2;
  gpu->launches = g_renew (GantryGpuLaunch, gpu->launches, 2);
  gpu->launches[1] = gpu->launches[0];
  g_free (gpu->launches[0].entry);
  gpu->launches[0].entry = g_strdup ("first");
  gpu->launches[1].entry = g_strdup ("second");
  gpu->launches[0].n_maps = 1;
  gpu->launches[0].maps = g_memdup2 (&map, sizeof map);
  gpu->launches[0].grid[0] = 16;
  gpu->launches[0].cluster[0] = 16;
  gpu->launches[0].cluster[1] = gpu->launches[0].cluster[2] = 1;
  gpu->launches[0].shared_bytes = 200 << 10;
  return executable;
}

static void
test_maps (void)
{
  g_autoptr (GantryExecutable) executable = with_map ();
  g_autofree float *x = g_new (float, N), *y = g_new0 (float, N);
  GantryDevice *device;
  GantryExecutor *executor;
  GantryGpuLaunch *launch = executable->kernels[0].gpu->launches;
  g_autoptr (GError) error = NULL;

  stand_in.configure (NULL);
  device = stand_in_device ();
  executor = stand_in_executor (device, executable);
  g_assert_cmpuint (stand_in.calls ("cuFuncSetAttribute"), ==, 2);
  for (guint i = 0; i < N; i++)
    x[i] = (float) i;
  g_assert_true (gantry_executor_run (executor, &(GantryRunInput){ x, 4 * N }, 1, &(GantryRunOutput){ y, 4 * N }, 1, NULL, NULL, NULL));
  for (guint i = 0; i < N; i++)
    g_assert_cmpfloat (y[i], ==, 10 * (float) i + 1);
  gantry_executor_free (executor);
  /* What the GPU lacks is told at load. */
  launch->shared_bytes = 228 << 10;
  g_assert_null (gantry_executor_new (device, executable, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "'kernel_0' wants 233472 bytes of shared memory where Stand-in GPU 0 has 232448"));
  g_clear_error (&error);
  launch->shared_bytes = 0;
  launch->block[0] = 1024;
  g_assert_null (gantry_executor_new (device, executable, NULL, &error));
  g_assert_nonnull (strstr (error->message, "blocks of 1024 threads where Stand-in GPU 0 allows 512"));
  g_clear_error (&error);
  launch->block[0] = 32;
  launch->maps[0].strides[0] = 8;
  g_assert_null (gantry_executor_new (device, executable, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_clear_error (&error);
  launch->maps[0].strides[0] = 4;
  launch->maps[0].buffer = 2;
  g_assert_null (gantry_executor_new (device, executable, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_clear_error (&error);
  launch->maps[0].buffer = 0;
  g_free (launch->entry);
  launch->entry = g_strdup ("third");
  g_assert_null (gantry_executor_new (device, executable, NULL, &error));
  g_assert_nonnull (strstr (error->message, "there is no entry 'third'"));
  stand_in_end_device (&stand_in, device);
}

/* Cancelled by the first kernel: with nothing handed over ahead the second does not run. */

static void
kernel_cancel (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  g_cancellable_cancel ((GCancellable *) state);
}

static _Atomic gint later;

static void
kernel_later (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  later++;
}

static void
test_cancel (void)
{
  static const guint aheads[] = { 0, 1, 2, 256 };

  for (guint k = 0; k < G_N_ELEMENTS (aheads); k++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GantryExecutable) executable = NULL;
      g_autoptr (GError) error = NULL;
      Fake f = fake_begin ();
      guint32 x = fake_value (&f, TRUE, 1, "x"), bx = fake_buffer (&f, x, GANTRY_BUFFER_INPUT, 0, 1, 0, 1000);
      GantryDevice *device;
      GantryExecutor *executor;
      float value = 0;

      fake_launch (&f, x, 0, kernel_cancel, cancellable, 1, FAKE_BUFFERS (bx, bx));
      for (guint i = 1; i < 1000; i++)
        fake_launch (&f, x, i, kernel_later, NULL, 1, FAKE_BUFFERS (bx, bx));
      executable = fake_end (&f, 1, &bx);
      stand_in_convert (executable);
      stand_in.configure (NULL);
      device = stand_in_device ();
      gantry_cuda_device_set_run_ahead (device, aheads[k]);
      executor = stand_in_executor (device, executable);
      later = 0;
      g_assert_false (gantry_executor_run (executor, &(GantryRunInput){ &value, 4 }, 1, &(GantryRunOutput){ &value, 4 }, 1, NULL, cancellable, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_cmpint (later, <=, 2 * (gint) aheads[k]);
      /* It goes on afterwards. */
      g_clear_error (&error);
      executable->kernels[0].gpu->launches[0].grid[0] = 1;
      g_assert_false (gantry_executor_run (executor, &(GantryRunInput){ &value, 4 }, 1, &(GantryRunOutput){ &value, 4 }, 1, NULL, cancellable, NULL));
      g_assert_true (gantry_executor_run (executor, &(GantryRunInput){ &value, 4 }, 1, &(GantryRunOutput){ &value, 4 }, 1, NULL, NULL, &error));
      g_assert_no_error (error);
      gantry_executor_free (executor);
      stand_in_end_device (&stand_in, device);
    }
}

/* Marks are set around what is handed over, each with its instruction. */
typedef struct
{
  guint depth;
  GString *log;
} Marks;

static void
push (gpointer self, guint32 instruction)
{
  Marks *marks = self;

  g_assert_cmpuint (marks->depth++, ==, 0);
  if (instruction == G_MAXUINT32)
    g_string_append (marks->log, "graph ");
  else
    g_string_append_printf (marks->log, "%u ", instruction);
}

static void
pop (gpointer self)
{
  g_assert_cmpuint (--((Marks *) self)->depth, ==, 0);
}

static void
test_marks (void)
{
  g_autoptr (GantryExecutable) executable = fake_pipeline (N);
  Marks marks = { 0, g_string_new (NULL) };
  GantryDeviceMarks table = { push, pop, &marks };
  GantryDevice *device;
  GantryExecutor *executor;

  stand_in.configure (NULL);
  device = stand_in_device ();
  stand_in_convert (executable);
  executor = stand_in_executor (device, executable);
  gantry_device_set_marks (device, &table);
  run_pipeline (executor, 1, NULL);
  /* In the order of the program, whatever the queue. */
  g_assert_cmpstr (marks.log->str, ==, "0 2 4 6 8 ");
  gantry_cuda_device_set_graphs (device, TRUE);
  for (guint i = 0; i < 3; i++)
    run_pipeline (executor, 1, NULL);
  g_assert_cmpstr (marks.log->str, ==, "0 2 4 6 8 0 2 4 6 8 0 2 4 6 8 graph graph ");
  gantry_device_set_marks (device, NULL);
  run_pipeline (executor, 1, NULL);
  g_string_free (marks.log, TRUE);
  gantry_executor_free (executor);
  stand_in_end_device (&stand_in, device);
}

/* While a recorder has its marks on them commands are stamped in its first run alone, and waits in all of them. */
static void
test_marked_stamps (void)
{
  g_autoptr (GantryExecutable) executable = fake_pipeline (N);
  Marks marks[2] = { { 0, g_string_new (NULL) }, { 0, g_string_new (NULL) } };
  guint expect[] = { 9, 9, 9, 4, 4, 9, 4, 9 }; /* five commands and four waits */
  GantryDevice *device;
  GantryExecutor *executor;

  stand_in.configure (NULL);
  device = stand_in_device ();
  stand_in_convert (executable);
  executor = stand_in_executor (device, executable);
  for (guint i = 0; i < G_N_ELEMENTS (expect); i++)
    {
      Times times = { .executable = executable };
      GantryObserver observer = { hear_begin, hear, hear_wait, NULL, hear_end, &times };
      GantryDeviceMarks table = { push, pop, &marks[i >= 5] };
      guint before = stand_in.calls ("cuEventElapsedTime");

      gantry_device_set_marks (device, i < 2 || i == 7 ? NULL : &table);
      run_pipeline (executor, (float) i, &observer);
      /* Both ends of each, and the two meetings. */
      g_assert_cmpuint (stand_in.calls ("cuEventElapsedTime") - before, ==, 2 * expect[i] + 1);
    }
  gantry_device_set_marks (device, NULL);
  gantry_executor_free (executor);
  for (guint i = 0; i < 2; i++)
    g_string_free (marks[i].log, TRUE);
  stand_in_end_device (&stand_in, device);
}

static void
test_memory (void)
{
  GantryDevice *device;
  GantryCudaMemory memory;
  guint64 used, peak;
  void *a, *b, *none;
  const gsize large = (gsize) 200 << 20;

  stand_in.configure ("memory=1073741824");
  device = stand_in_device ();
  a = gantry_device_allocate (device, GANTRY_MEMORY_DEVICE, large, NULL);
  b = gantry_device_allocate (device, GANTRY_MEMORY_PINNED_HOST, 1000, NULL);
  none = gantry_device_allocate (device, GANTRY_MEMORY_DEVICE, 0, NULL);
  g_assert_true (a != NULL && b != NULL && none != NULL);
  memset (b, 1, 1000); /* the processor's own */
  g_assert_true (gantry_cuda_device_measure_memory (device, &memory));
  g_assert_cmpuint (memory.used, ==, large);
  g_assert_cmpuint (memory.total - memory.free, ==, large);
  gantry_device_deallocate (device, GANTRY_MEMORY_DEVICE, a, large);
  gantry_device_deallocate (device, GANTRY_MEMORY_PINNED_HOST, b, 1000);
  gantry_device_deallocate (device, GANTRY_MEMORY_DEVICE, none, 0);
  g_assert_true (gantry_cuda_device_measure_memory (device, &memory));
  g_assert_cmpuint (memory.used, ==, 0);
  g_assert_cmpuint (memory.peak, ==, large);
  gantry_device_get_memory (device, GANTRY_MEMORY_DEVICE, &used, &peak, NULL);
  g_assert_cmpuint (used, ==, 0);
  g_assert_cmpuint (peak, ==, large);
  stand_in_end_device (&stand_in, device);
}

static void
test_measure (void)
{
  g_autoptr (GError) error = NULL;
  GantryDeviceRates rates;
  GantryDevice *device;

  stand_in.configure (NULL);
  device = stand_in_device ();
  g_assert_true (gantry_device_measure (device, 100000, &rates, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpfloat (rates.to_host, >, 0);
  g_assert_cmpfloat (rates.both, >, 0);
  g_assert_cmpfloat (rates.launch_us, >, 0);
  g_assert_cmpfloat (rates.launch_range.least, <=, rates.launch_us);
  g_assert_cmpfloat (rates.launch_range.most, >=, rates.launch_us);
  g_assert_cmpuint (rates.n_launches, >=, 10);
  stand_in_end_device (&stand_in, device);
}

/* Two programs from two threads: one after the other, each right. */
static gpointer
run_many (gpointer data)
{
  g_autoptr (GantryExecutable) executable = fake_pipeline (N);
  GantryExecutor *executor;

  stand_in_convert (executable);
  executor = stand_in_executor (data, executable);
  for (guint round = 0; round < 20; round++)
    run_pipeline (executor, (float) round, NULL);
  gantry_executor_free (executor);
  return NULL;
}

static void
test_two_programs (void)
{
  GantryDevice *device;
  GThread *a, *b;

  stand_in.configure (NULL);
  device = stand_in_device ();
  gantry_cuda_device_set_graphs (device, TRUE);
  a = g_thread_new ("a", run_many, device);
  b = g_thread_new ("b", run_many, device);
  g_thread_join (a);
  g_thread_join (b);
  stand_in_end_device (&stand_in, device);
}

/* A kernel is for the device that it was compiled for. */
static void
test_wrong_device (void)
{
  g_autoptr (GantryExecutable) host = fake_pipeline (N), gpu = fake_pipeline (N);
  g_autoptr (GantryDevice) cpu = gantry_cpu_device_new (1);
  g_autoptr (GError) error = NULL;
  GantryDevice *device;

  stand_in.configure (NULL);
  device = stand_in_device ();
  stand_in_convert (gpu);
  g_assert_null (gantry_executor_new (device, host, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "'kernel_0' has no code for a GPU"));
  g_clear_error (&error);
  g_assert_null (gantry_executor_new (cpu, gpu, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "'kernel_0' has no code for the processor"));
  stand_in_end_device (&stand_in, device);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  stand_in = stand_in_load ();
  g_test_add_func ("/runtime/cuda/probe", test_probe);
  g_test_add_func ("/runtime/cuda/pipeline", test_pipeline);
  g_test_add_func ("/runtime/cuda/graphs", test_graphs);
  g_test_add_func ("/runtime/cuda/no-graphs", test_no_graphs);
  g_test_add_func ("/runtime/cuda/literals", test_literals);
  g_test_add_func ("/runtime/cuda/maps", test_maps);
  g_test_add_func ("/runtime/cuda/cancel", test_cancel);
  g_test_add_func ("/runtime/cuda/marks", test_marks);
  g_test_add_func ("/runtime/cuda/marked-stamps", test_marked_stamps);
  g_test_add_func ("/runtime/cuda/memory", test_memory);
  g_test_add_func ("/runtime/cuda/measure", test_measure);
  g_test_add_func ("/runtime/cuda/two-programs", test_two_programs);
  g_test_add_func ("/runtime/cuda/wrong-device", test_wrong_device);
  return g_test_run ();
}
