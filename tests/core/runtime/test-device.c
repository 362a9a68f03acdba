/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU device: every task is done once, memory is counted against limits, queues and events keep order. */
#include "core/base/error.h"
#include "core/runtime/device-kind.h"
#include "core/runtime/runtime.h"
#include "tests/random-seed.h"
#include <stdatomic.h>
#include <string.h>

/* A sanitizer's allocator ends the process where the system's says no. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif

#define MOST_TASKS 5000

typedef struct
{
  _Atomic guint done[MOST_TASKS];
  _Atomic guint calls;
} Tally;

static void
count_tasks (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  Tally *tally = buffers[0];

  atomic_fetch_add (&tally->calls, 1);
  for (gint64 i = begin; i < end; i++)
    atomic_fetch_add (&tally->done[i], 1);
}

static void
launch (GantryDevice *device, const GantryKernel *kernel, void *const *buffers)
{
  GantryCommand command = { .kind = GANTRY_COMMAND_LAUNCH, .stamp = GANTRY_NO_STAMP };
  GantryBatch *batch = gantry_device_begin (device, 0, NULL, NULL);
  g_autoptr (GError) error = NULL;

  command.launch.kernel = kernel;
  command.launch.buffers = buffers;
  gantry_batch_submit (device, batch, GANTRY_QUEUE_COMPUTE, &command, 1);
  gantry_device_finish (device, batch, &error);
  g_assert_no_error (error);
}

static void
test_every_task_once (void)
{
  g_autofree Tally *tally = g_new0 (Tally, 1);
  void *buffers[1] = { tally };

  for (guint threads = 1; threads <= 4; threads++)
    {
      g_autoptr (GantryDevice) device = gantry_cpu_device_new (threads);
      g_autoptr (GRand) random = test_rand (threads);

      g_assert_cmpuint (gantry_cpu_device_threads (device), ==, threads);
      for (guint round = 0; round < 600; round++)
        {
          gint64 n = g_rand_int_range (random, 0, round % 3 == 0 ? MOST_TASKS : 40);
          GantryKernel kernel = { .func = count_tasks, .n_tasks = n, .flops = -1, .bytes = -1 };

          memset (tally, 0, sizeof *tally);
          launch (device, &kernel, buffers);
          for (gint64 i = 0; i < MOST_TASKS; i++)
            g_assert_cmpuint (tally->done[i], ==, i < n ? 1 : 0);
          /* Some workers should also be found asleep. */
          if (round % 100 == 0)
            g_usleep (500);
        }
    }
}

/* A worker that takes long is waited for. */

typedef struct
{
  GThread *submitter;
  _Atomic gint begun, done;
} Slow;

static void
slow_task (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  Slow *slow = buffers[0];
  gint64 until = g_get_monotonic_time () + 20 * G_TIME_SPAN_SECOND;

  if (g_thread_self () != slow->submitter)
    {
      atomic_fetch_add (&slow->begun, 1);
      g_usleep (3000);
    }
  /* The submitter does not run off with all tasks. */
  while (!atomic_load (&slow->begun) && g_get_monotonic_time () < until)
    g_thread_yield ();
  atomic_fetch_add (&slow->done, (gint) (end - begin));
}

static void
test_slow_worker (void)
{
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (2);

  for (guint round = 0; round < 20; round++)
    {
      Slow slow = { g_thread_self () };
      void *buffers[1] = { &slow };
      GantryKernel kernel = { .func = slow_task, .n_tasks = 32, .flops = -1, .bytes = -1 };

      launch (device, &kernel, buffers);
      g_assert_cmpint (slow.done, ==, 32);
      g_assert_cmpint (slow.begun, >, 0);
    }
}

static void
test_alone (void)
{
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (3);
  g_autofree Tally *tally = g_new0 (Tally, 1);
  void *buffers[1] = { tally };
  GantryKernel small = { .func = count_tasks, .n_tasks = 1000, .flops = 1000, .bytes = 8000 };
  GantryKernel whole = { .func = count_tasks, .n_tasks = 1, .whole = TRUE, .flops = -1, .bytes = -1 };

  launch (device, &small, buffers);
  g_assert_cmpuint (tally->calls, ==, 1);
  g_assert_cmpuint (tally->done[999], ==, 1);
  launch (device, &whole, buffers);
  g_assert_cmpuint (tally->calls, ==, 2);
  small.flops = 1000 * 1000 * 1000;
  launch (device, &small, buffers);
  g_assert_cmpuint (tally->calls, >, 3);
}

static void
test_limits (void)
{
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (1);
  g_autoptr (GError) error = NULL;
  guint64 used, peak, limit;
  void *a, *b;

  gantry_device_set_limit (device, GANTRY_MEMORY_DEVICE, 10000);
  a = gantry_device_allocate (device, GANTRY_MEMORY_DEVICE, 6000, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (GPOINTER_TO_SIZE (a) % 64, ==, 0);
  b = gantry_device_allocate (device, GANTRY_MEMORY_DEVICE, 5000, &error);
  g_assert_null (b);
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
  g_assert_nonnull (strstr (error->message, "1000 B"));
  g_clear_error (&error);
  /* Each kind has a limit of its own. */
  b = gantry_device_allocate (device, GANTRY_MEMORY_PINNED_HOST, 5000, &error);
  g_assert_no_error (error);
  gantry_device_deallocate (device, GANTRY_MEMORY_PINNED_HOST, b, 5000);
  gantry_device_deallocate (device, GANTRY_MEMORY_DEVICE, a, 6000);
  a = gantry_device_allocate (device, GANTRY_MEMORY_DEVICE, 10000, &error);
  g_assert_no_error (error);
  gantry_device_get_memory (device, GANTRY_MEMORY_DEVICE, &used, &peak, &limit);
  g_assert_cmpuint (used, ==, 10000);
  g_assert_cmpuint (peak, ==, 10000);
  g_assert_cmpuint (limit, ==, 10000);
  gantry_device_deallocate (device, GANTRY_MEMORY_DEVICE, a, 10000);
  g_assert_null (gantry_device_allocate (device, GANTRY_MEMORY_DEVICE, G_MAXSIZE, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
  g_clear_error (&error);
  gantry_device_set_limit (device, GANTRY_MEMORY_DEVICE, 0);
#ifndef SANITIZED
  /* Without a limit the system says no. */
  g_assert_null (gantry_device_allocate (device, GANTRY_MEMORY_DEVICE, G_MAXSIZE / 2, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
#endif
  gantry_device_get_memory (device, GANTRY_MEMORY_DEVICE, &used, NULL, NULL);
  g_assert_cmpuint (used, ==, 0);
  gantry_device_get_memory (device, GANTRY_MEMORY_DEVICE, NULL, NULL, &limit);
  g_assert_cmpuint (limit, ==, 0);
}

/* Whatever the rates are, they are there, and nothing is left behind. */
static void
test_measure (void)
{
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (2);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  GantryDeviceRates rates;
  guint64 used, peak;

  g_assert_true (gantry_device_measure (device, 100000, &rates, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpfloat (rates.to_host, >, 0);
  g_assert_cmpfloat (rates.to_device, >, 0);
  g_assert_cmpfloat (rates.both, >, 0);
  g_assert_cmpfloat (rates.launch_us, >, 0);
  g_assert_cmpfloat (rates.both_range.least, <=, rates.both);
  g_assert_cmpfloat (rates.both_range.most, >=, rates.both);
  g_assert_cmpfloat (rates.launch_range.least, <=, rates.launch_us);
  g_assert_cmpfloat (rates.launch_range.most, >=, rates.launch_us);
  g_test_message ("to host %.1f GB/s, to device %.1f GB/s, both %.1f GB/s, launch %.3f us", rates.to_host / 1e9, rates.to_device / 1e9, rates.both / 1e9,
                  rates.launch_us);
  for (guint kind = 0; kind < GANTRY_N_MEMORY_KINDS; kind++)
    {
      gantry_device_get_memory (device, kind, &used, &peak, NULL);
      g_assert_cmpuint (used, ==, 0);
      g_assert_cmpuint (peak, <=, 400000);
    }
  gantry_device_set_limit (device, GANTRY_MEMORY_DEVICE, 300000);
  g_assert_false (gantry_device_measure (device, 100000, &rates, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
  g_clear_error (&error);
  gantry_device_set_limit (device, GANTRY_MEMORY_DEVICE, 0);
  g_cancellable_cancel (cancellable);
  g_assert_false (gantry_device_measure (device, 100000, &rates, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* What --device takes is what the list of kinds says: each by its name, and of those with numbers one by its number. */
static void
test_kinds (void)
{
  static const char *const wrong[] = { "", "cp", "cpux", "cpu:1", "grid:0", "cuda:", "cuda:x", "cuda:-1", "cuda:10000", "cuda 1", "tpu" };
  guint n, ordinal;
  const GantryDeviceKind *const *kinds = gantry_device_kinds (&n);

  g_assert_true (gantry_device_kind_find (NULL, &ordinal, NULL) == &gantry_device_kind_cpu);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *third = g_strdup_printf ("%s:3", kinds[i]->name);

      g_assert_nonnull (kinds[i]->open);
      g_assert_true (gantry_device_kind_find (kinds[i]->name, &ordinal, NULL) == kinds[i]);
      g_assert_cmpuint (ordinal, ==, 0);
      g_assert_true (gantry_device_kind_find (third, &ordinal, NULL) == (kinds[i]->is_numbered ? kinds[i] : NULL));
      if (kinds[i]->is_numbered)
        g_assert_cmpuint (ordinal, ==, 3);
    }
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (gantry_device_kind_find (wrong[i], &ordinal, &error));
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
      for (guint k = 0; k < n; k++)
        g_assert_nonnull (strstr (error->message, kinds[k]->takes));
    }
}

/* The processor is there wherever this runs, and opens as what it is listed as. */
static void
test_processor (void)
{
  g_autoptr (GantryDeviceProbe) probe = gantry_device_kind_cpu.probe (NULL);
  g_autoptr (GantryDevice) device = gantry_device_kind_cpu.open (0, 0, NULL), grid = gantry_device_kind_grid.open (0, 1, NULL);

  g_assert_cmpuint (probe->n_devices, ==, 1);
  g_assert_cmpstr (probe->devices[0].name, ==, gantry_device_name (device));
  g_assert_null (probe->devices[0].unusable);
  g_assert_cmpstr (gantry_device_name (grid), ==, "cpu, 1 thread");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/runtime/device/every-task-once", test_every_task_once);
  g_test_add_func ("/runtime/device/slow-worker", test_slow_worker);
  g_test_add_func ("/runtime/device/alone", test_alone);
  g_test_add_func ("/runtime/device/limits", test_limits);
  g_test_add_func ("/runtime/device/measure", test_measure);
  g_test_add_func ("/runtime/device/kinds", test_kinds);
  g_test_add_func ("/runtime/device/processor", test_processor);
  return g_test_run ();
}
