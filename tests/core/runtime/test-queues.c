/* SPDX-License-Identifier: Apache-2.0 */
/* The three queues: each in its order, beside each other, and in step where an event says so. */
#include "tests/core/runtime/fake.h"
#include "tests/random-seed.h"
#include <stdatomic.h>
#include <string.h>

#define N 4000

/* Two kernels on two queues that each wait for the other to have begun: only possible side by side. */

typedef struct
{
  _Atomic gint here[2];
  _Atomic gint met;
} Meeting;

static void
meet (Meeting *meeting, guint who)
{
  gint64 until = g_get_monotonic_time () + 20 * G_TIME_SPAN_SECOND;

  atomic_store (&meeting->here[who], 1);
  while (!atomic_load (&meeting->here[1 - who]) && g_get_monotonic_time () < until)
    g_thread_yield ();
  if (atomic_load (&meeting->here[1 - who]))
    atomic_fetch_add (&meeting->met, 1);
}

static void
kernel_first (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  meet ((Meeting *) state, 0);
}

static void
kernel_second (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  meet ((Meeting *) state, 1);
}

static void
test_beside (void)
{
  static const GantryQueue others[] = { GANTRY_QUEUE_TO_HOST, GANTRY_QUEUE_TO_DEVICE };

  for (guint i = 0; i < 2; i++)
    {
      Meeting meeting = { { 0 } };
      Fake f = fake_begin ();
      guint32 x = fake_value (&f, TRUE, 1, "x"), bx = fake_buffer (&f, x, GANTRY_BUFFER_INPUT, 0, 1, 0, 1);
      g_autoptr (GantryDevice) device = gantry_cpu_device_new (2);
      g_autoptr (GantryExecutable) executable = NULL;
      g_autoptr (GantryExecutor) executor = NULL;
      float value = 5, result = 0;

      fake_launch (&f, x, 0, kernel_first, &meeting, 1, FAKE_BUFFERS (bx, bx));
      fake_launch_on (&f, others[i], x, 1, kernel_second, &meeting, 1, FAKE_BUFFERS (bx, bx));
      executable = fake_end (&f, 1, &bx);
      executor = gantry_executor_new (device, executable, NULL, NULL);
      g_assert_nonnull (executor);
      g_assert_true (gantry_executor_run (executor, &(GantryRunInput){ &value, 4 }, 1, &(GantryRunOutput){ &result, 4 }, 1, NULL, NULL, NULL));
      g_assert_cmpint (meeting.met, ==, 2);
      g_assert_cmpfloat (result, ==, 5);
    }
}

/* A pipeline that moves things out and back: x -> a = 2x -> host -> (a's place is overwritten by c = 3x) -> back as b
 * -> r = b + c. Wrong without the waits. */

typedef struct
{
  guint waits;
  gint64 copied_out, second, came_back, last;
} Times;

static void
hear_instruction (gpointer self, guint32 instruction, gint64 begin, gint64 end)
{
  Times *times = self;

  if (instruction == 2)
    times->copied_out = end;
  if (instruction == 4)
    {
      g_assert_cmpint (begin, >=, times->copied_out);
      times->second = end;
    }
  if (instruction == 6)
    {
      g_assert_cmpint (begin, >=, times->copied_out);
      times->came_back = end;
    }
  if (instruction == 8)
    {
      g_assert_cmpint (begin, >=, times->came_back);
      times->last = end;
    }
}

static void
hear_wait (gpointer self, guint32 instruction, gint64 begin, gint64 end)
{
  g_assert_cmpint (end, >=, begin);
  ((Times *) self)->waits++;
}

static const float two = 2, three = 3;

/* Host memory has a limit of its own, held when a program is loaded: nothing stays allocated of what does not fit. */
static void
test_host_limit (void)
{
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (1);
  g_autoptr (GantryExecutable) executable = fake_pipeline (N);
  g_autoptr (GantryExecutor) executor = NULL;
  g_autoptr (GError) error = NULL;
  guint64 used;

  gantry_device_set_limit (device, GANTRY_MEMORY_PINNED_HOST, 15999);
  g_assert_null (gantry_executor_new (device, executable, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
  g_assert_nonnull (strstr (error->message, "15.7 KiB of pinned_host memory (temporaries 15.7 KiB)")); /* the parts of the plan */
  g_assert_nonnull (strstr (error->message, "where the limit is 15.6241 KiB"));
  g_assert_nonnull (strstr (error->message, "1 B too much"));
  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    {
      gantry_device_get_memory (device, (GantryMemoryKind) kind, &used, NULL, NULL);
      g_assert_cmpuint (used, ==, 0);
    }
  gantry_device_set_limit (device, GANTRY_MEMORY_PINNED_HOST, 16000);
  executor = gantry_executor_new (device, executable, NULL, NULL);
  g_assert_nonnull (executor);
}

static void
test_pipeline (void)
{
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (2);
  g_autoptr (GantryExecutable) executable = fake_pipeline (N);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryExecutor) executor = gantry_executor_new (device, executable, NULL, &error);
  g_autofree float *x = g_new (float, N), *r = g_new (float, N);
  guint64 used;

  g_assert_no_error (error);
  gantry_device_get_memory (device, GANTRY_MEMORY_PINNED_HOST, &used, NULL, NULL);
  g_assert_cmpuint (used, ==, 16000);
  for (guint round = 0; round < 200; round++)
    {
      Times times = { 0 };
      GantryObserver observer = { .instruction = hear_instruction, .wait = hear_wait, .self = &times };

      for (guint i = 0; i < N; i++)
        x[i] = (float) (round + i);
      if (round == 199)
        gantry_executor_set_verify (executor, GANTRY_VERIFY_PLACES | GANTRY_VERIFY_POISON | GANTRY_VERIFY_WRITES);
      g_assert_true (
        gantry_executor_run (executor, &(GantryRunInput){ x, 4 * N }, 1, &(GantryRunOutput){ r, 4 * N }, 1, round % 2 == 0 ? &observer : NULL, NULL, NULL));
      for (guint i = 0; i < N; i++)
        g_assert_cmpfloat (r[i], ==, 5 * x[i]);
      if (round % 2 == 0)
        g_assert_cmpuint (times.waits, ==, 4);
    }
}

/* Copies of all sizes out and back, those of a kilobyte beside those of half a megabyte: who carries them out, a thread
 * of their own or that of the compute queue, must not be seen. Each value goes x -> 2 x -> host -> device -> 3 of it. */
#define VALUES 40

static GantryExecutable *
many_copies (guint32 *sizes, gboolean in_order)
{
  GRand *rand = test_rand (in_order ? 5 : 6);
  Fake f = fake_begin ();
  guint32 back[VALUES], made[VALUES], results[VALUES], step = 0, out, x, bx;
  guint64 device = 0, host = 0;

  x = fake_value (&f, TRUE, 1 << 17, "x");
  bx = fake_buffer (&f, x, GANTRY_BUFFER_INPUT, device, 1 << 17, 0, 4 * VALUES);
  device += 4 << 17;
  for (guint i = 0; i < VALUES; i++)
    {
      guint32 n = sizes[i] = 1u << g_rand_int_range (rand, 6, 18), bytes = n * 4;
      guint32 a = fake_value (&f, FALSE, n, "a"), h = fake_value (&f, FALSE, n, "h"), b = fake_value (&f, FALSE, n, "b");
      guint32 ba = fake_buffer (&f, a, GANTRY_BUFFER_TEMPORARY, device, n, step, 4 * VALUES);
      guint32 bh = fake_buffer (&f, h, GANTRY_BUFFER_TEMPORARY, host, n, step, 4 * VALUES);
      guint32 bb = fake_buffer (&f, b, GANTRY_BUFFER_TEMPORARY, device + bytes, n, step, 4 * VALUES);

      device += 2 * bytes;
      host += bytes;
      FAKE_BUFFER (&f, bh)->memory = GANTRY_MEMORY_PINNED_HOST;
      made[i] = fake_launch (&f, a, step++, kernel_scale, (gpointer) &two, n, FAKE_BUFFERS (bx, ba));
      fake_wait (&f, GANTRY_QUEUE_TO_HOST, made[i]);
      out = fake_copy (&f, GANTRY_QUEUE_TO_HOST, h, step++, ba, bh);
      fake_wait (&f, GANTRY_QUEUE_TO_DEVICE, out);
      back[i] = fake_copy (&f, GANTRY_QUEUE_TO_DEVICE, b, step++, bh, bb);
      results[i] = bb;
    }
  for (guint i = 0; i < VALUES; i++)
    {
      guint32 k = in_order ? i : VALUES - 1 - i, r = fake_value (&f, FALSE, sizes[k], "r");
      guint32 br = fake_buffer (&f, r, GANTRY_BUFFER_OUTPUT, device, sizes[k], step, 4 * VALUES);

      device += sizes[k] * 4;
      fake_wait (&f, GANTRY_QUEUE_COMPUTE, back[k]);
      fake_launch (&f, r, step++, kernel_scale, (gpointer) &three, sizes[k], FAKE_BUFFERS (results[k], br));
      results[k] = br;
    }
  g_rand_free (rand);
  return fake_end (&f, VALUES, results);
}

static void
test_many_copies (void)
{
  g_autofree float *x = g_new (float, 1 << 17), *r = g_new (float, 1 << 17);

  for (guint in_order = 0; in_order < 2; in_order++)
    {
      g_autoptr (GantryDevice) device = gantry_cpu_device_new (1 + in_order);
      guint32 sizes[VALUES];
      g_autoptr (GantryExecutable) executable = many_copies (sizes, in_order);
      g_autoptr (GError) error = NULL;
      g_autoptr (GantryExecutor) executor = gantry_executor_new (device, executable, NULL, &error);

      g_assert_no_error (error);
      for (guint round = 0; round < 40; round++)
        {
          GantryRunOutput outputs[VALUES] = { { NULL, 0 } };

          for (guint i = 0; i < 1 << 17; i++)
            x[i] = (float) (round + i);
          outputs[round % VALUES] = (GantryRunOutput){ r, 4 * sizes[round % VALUES] };
          if (round == 39)
            gantry_executor_set_verify (executor, GANTRY_VERIFY_PLACES | GANTRY_VERIFY_POISON);
          g_assert_true (gantry_executor_run (executor, &(GantryRunInput){ x, 4 << 17 }, 1, outputs, VALUES, NULL, NULL, &error));
          for (guint32 i = 0; i < sizes[round % VALUES]; i++)
            g_assert_cmpfloat (r[i], ==, 6 * x[i]);
        }
    }
}

/* Cancelled while another queue waits: nothing hangs. */

static void
kernel_cancel (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  g_cancellable_cancel ((GCancellable *) state);
}

static void
test_cancel (void)
{
  for (guint round = 0; round < 50; round++)
    {
      g_autoptr (GantryDevice) device = gantry_cpu_device_new (2);
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GantryExecutable) executable = fake_pipeline (N);
      g_autoptr (GantryExecutor) executor = NULL;
      g_autoptr (GError) error = NULL;
      g_autofree float *x = g_new0 (float, N), *r = g_new0 (float, N);

      executable->kernels[round % 2].func = kernel_cancel;
      executable->kernels[round % 2].state = cancellable;
      executor = gantry_executor_new (device, executable, NULL, NULL);
      g_assert_false (gantry_executor_run (executor, &(GantryRunInput){ x, 4 * N }, 1, &(GantryRunOutput){ r, 4 * N }, 1, NULL, cancellable, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    }
}

/* Two programs on one device from two threads: one after the other, each right. */

static gpointer
run_many (gpointer data)
{
  GantryDevice *device = data;
  g_autoptr (GantryExecutable) executable = fake_pipeline (N);
  g_autoptr (GantryExecutor) executor = gantry_executor_new (device, executable, NULL, NULL);
  g_autofree float *x = g_new0 (float, N), *r = g_new0 (float, N);

  for (guint round = 0; round < 50; round++)
    {
      x[7] = (float) round;
      g_assert_true (gantry_executor_run (executor, &(GantryRunInput){ x, 4 * N }, 1, &(GantryRunOutput){ r, 4 * N }, 1, NULL, NULL, NULL));
      g_assert_cmpfloat (r[7], ==, 5 * (float) round);
    }
  return NULL;
}

static void
test_two_programs (void)
{
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (2);
  GThread *a = g_thread_new ("a", run_many, device), *b = g_thread_new ("b", run_many, device);

  g_thread_join (a);
  g_thread_join (b);
}

/* Programs that are loaded at one moment by several threads: a copy queue has one thread, which alone runs its batch. */
#define LOADERS 4

typedef struct
{
  GantryDevice *device;
  _Atomic gint *ready;
} Loader;

static gpointer
load_at_once (gpointer data)
{
  Loader *loader = data;
  g_autoptr (GantryExecutable) executable = fake_pipeline (64);

  atomic_fetch_add (loader->ready, 1);
  while (atomic_load (loader->ready) < LOADERS)
    g_thread_yield ();
  return gantry_executor_new (loader->device, executable, NULL, NULL);
}

static guint
threads_named (const char *name)
{
  g_autoptr (GDir) dir = g_dir_open ("/proc/self/task", 0, NULL);
  guint n = 0;

  g_assert_nonnull (dir);
  for (const char *task = g_dir_read_name (dir); task != NULL; task = g_dir_read_name (dir))
    {
      g_autofree char *path = g_build_filename ("/proc/self/task", task, "comm", NULL), *comm = NULL;

      if (g_file_get_contents (path, &comm, NULL, NULL) && g_str_equal (g_strchomp (comm), name))
        n++;
    }
  return n;
}

static void
test_loaded_at_once (void)
{
  for (guint round = 0; round < 100; round++)
    {
      g_autoptr (GantryDevice) device = gantry_cpu_device_new (1);
      GThread *threads[LOADERS];
      GantryExecutor *executors[LOADERS];
      _Atomic gint ready = 0;
      Loader loader = { device, &ready };

      for (guint i = 0; i < LOADERS; i++)
        threads[i] = g_thread_new ("loader", load_at_once, &loader);
      for (guint i = 0; i < LOADERS; i++)
        g_assert_nonnull (executors[i] = g_thread_join (threads[i]));
      g_assert_cmpuint (threads_named ("gantry-to-host"), <=, 1);
      g_assert_cmpuint (threads_named ("gantry-to-dev"), <=, 1);
      for (guint i = 0; i < LOADERS; i++)
        gantry_executor_free (executors[i]);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/runtime/queues/beside", test_beside);
  g_test_add_func ("/runtime/queues/host-limit", test_host_limit);
  g_test_add_func ("/runtime/queues/pipeline", test_pipeline);
  g_test_add_func ("/runtime/queues/many-copies", test_many_copies);
  g_test_add_func ("/runtime/queues/cancel", test_cancel);
  g_test_add_func ("/runtime/queues/two-programs", test_two_programs);
  g_test_add_func ("/runtime/queues/loaded-at-once", test_loaded_at_once);
  return g_test_run ();
}
