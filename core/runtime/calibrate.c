/* SPDX-License-Identifier: Apache-2.0 */
/* Calibration: the same commands that a program's plan is made of, timed by the same stamps. */
#include "core/runtime/calibrate.h"
#include "core/base/error.h"
#include <string.h>

#define COPIES GANTRY_DEVICE_MEASURED_COPIES
#define LAUNCHES 2000u
#define ROUNDS 11u
#define LAUNCHES_OF_ROUND 400u
#define DEFAULT_BYTES ((gsize) 4 << 20)

/* Places of one copy queue: two on each side, so that no copy finds its target in a cache because the one before
 * wrote it. */
typedef struct
{
  guint8 *device, *host;
} Places;

typedef struct
{
  GantryDevice *of;
  gsize bytes;
  Places places[2];
  GantryStamp stamps[2 * COPIES];
} Bench;

static void
release (Bench *bench)
{
  for (guint i = 0; i < 2; i++)
    {
      gantry_device_deallocate (bench->of, GANTRY_MEMORY_DEVICE, bench->places[i].device, 2 * bench->bytes);
      gantry_device_deallocate (bench->of, GANTRY_MEMORY_PINNED_HOST, bench->places[i].host, 2 * bench->bytes);
    }
}

static gboolean
reserve (Bench *bench, GError **error)
{
  for (guint i = 0; i < 2; i++)
    {
      bench->places[i].device = gantry_device_allocate (bench->of, GANTRY_MEMORY_DEVICE, 2 * bench->bytes, error);
      if (bench->places[i].device == NULL)
        return FALSE;
      bench->places[i].host = gantry_device_allocate (bench->of, GANTRY_MEMORY_PINNED_HOST, 2 * bench->bytes, error);
      if (bench->places[i].host == NULL)
        return FALSE;
    }
  return TRUE;
}

static int
compare_numbers (const void *a, const void *b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return (x > y) - (x < y);
}

static void
write_copies (const Bench *bench, guint which, gboolean to_host, GantryCommand *commands)
{
  const Places *places = &bench->places[which];

  for (guint i = 0; i < COPIES; i++)
    {
      guint8 *device = places->device + i % 2 * bench->bytes, *host = places->host + i % 2 * bench->bytes;

      commands[i] = (GantryCommand){ .kind = GANTRY_COMMAND_COPY, .instruction = G_MAXUINT32, .stamp = which * COPIES + i };
      commands[i].copy.to = to_host ? host : device;
      commands[i].copy.from = to_host ? device : host;
      commands[i].copy.bytes = bench->bytes;
    }
}

/* Returns: bytes per second, the median over the copies of queue @which */
static double
rate_of (const Bench *bench, guint which, GantryRateRange *range)
{
  gint64 ns[COPIES];

  for (guint i = 0; i < COPIES; i++)
    ns[i] = bench->stamps[which * COPIES + i].end - bench->stamps[which * COPIES + i].begin;
  qsort (ns, COPIES, sizeof *ns, compare_numbers);
  range->least = (double) bench->bytes / (double) MAX (ns[COPIES - 1], 1) * 1e9;
  range->most = (double) bench->bytes / (double) MAX (ns[0], 1) * 1e9;
  return (double) bench->bytes / (double) MAX (ns[COPIES / 2], 1) * 1e9;
}

static gboolean
run_copies (Bench *bench, gboolean to_host, gboolean to_device, GCancellable *cancellable, GError **error)
{
  GantryCommand commands[2 * COPIES];
  GantryBatch *batch;

  write_copies (bench, 0, TRUE, commands);
  write_copies (bench, 1, FALSE, commands + COPIES);
  batch = gantry_device_begin (bench->of, 0, bench->stamps, cancellable);
  if (to_host)
    gantry_batch_submit (bench->of, batch, GANTRY_QUEUE_TO_HOST, commands, COPIES);
  if (to_device)
    gantry_batch_submit (bench->of, batch, GANTRY_QUEUE_TO_DEVICE, commands + COPIES, COPIES);
  return gantry_device_finish (bench->of, batch, error);
}

static void
do_nothing (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
}

/* The kernel for a GPU: the oldest text that any driver this runs with reads. */
static const char nothing_text[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                                   ".visible .entry gantry_nothing() { ret; }\n";

static gboolean
run_launches (GantryDevice *device, const GantryKernel *kernel, gpointer prepared, guint n, GantryStamp *stamps, GCancellable *cancellable, GError **error)
{
  void *const none[] = { NULL };
  g_autofree GantryCommand *commands = g_new0 (GantryCommand, n);
  GantryBatch *batch;

  for (guint i = 0; i < n; i++)
    {
      commands[i] = (GantryCommand){ .kind = GANTRY_COMMAND_LAUNCH, .instruction = G_MAXUINT32, .stamp = i };
      commands[i].launch.kernel = kernel;
      commands[i].launch.buffers = none;
      commands[i].launch.prepared = prepared;
    }
  batch = gantry_device_begin (device, 0, stamps, cancellable);
  gantry_batch_submit (device, batch, GANTRY_QUEUE_COMPUTE, commands, n);
  return gantry_device_finish (device, batch, error);
}

/* The median of @n times, in microseconds, and between which they lie. */
static void
take_launches (gint64 *ns, guint n, GantryDeviceRates *rates)
{
  qsort (ns, n, sizeof *ns, compare_numbers);
  rates->launch_us = (double) ns[n / 2] / 1e3;
  rates->launch_range = (GantryRateRange){ (double) ns[0] / 1e3, (double) ns[n - 1] / 1e3 };
  rates->n_launches = n;
}

/* Without stamps, which cost more than an empty kernel: rounds of them by the clock, after one to warm up. */
static gboolean
time_rounds (GantryDevice *device, const GantryKernel *kernel, gpointer prepared, gint64 *ns, GCancellable *cancellable, GError **error)
{
  gboolean done = run_launches (device, kernel, prepared, LAUNCHES_OF_ROUND, NULL, cancellable, error);

  for (guint i = 0; i < ROUNDS && done; i++)
    {
      gint64 begin = gantry_time_ns ();

      done = run_launches (device, kernel, prepared, LAUNCHES_OF_ROUND, NULL, cancellable, error);
      ns[i] = (gantry_time_ns () - begin) / LAUNCHES_OF_ROUND;
    }
  return done;
}

static gboolean
measure_launches_behind (GantryDevice *device, GantryDeviceRates *rates, GCancellable *cancellable, GError **error)
{
  GantryGpuLaunch launch = { .entry = (char *) "gantry_nothing", .grid = { 1, 1, 1 }, .block = { 32, 1, 1 } };
  GantryGpuKernel gpu = { 1, &launch };
  GantryKernel kernel = { .name = (char *) "nothing", .gpu = &gpu };
  g_autoptr (GBytes) text = g_bytes_new_static (nothing_text, sizeof nothing_text);
  GantryGpuImage image = { .code = text, .is_text = TRUE, .arch = (char *) "sm_80" };
  const GantryExecutable executable = { .n_kernels = 1, .kernels = &kernel, .n_images = 1, .images = &image };
  gpointer loaded, prepared;
  gint64 ns[ROUNDS];
  gboolean done;

  if (!gantry_device_load (device, &executable, &loaded, error))
    return FALSE;
  done = gantry_device_prepare (device, loaded, &kernel, NULL, 0, &prepared, error) && time_rounds (device, &kernel, prepared, ns, cancellable, error);
  if (done)
    take_launches (ns, ROUNDS, rates);
  gantry_device_unload (device, loaded);
  return done;
}

static gboolean
measure_launches (GantryDevice *device, GantryDeviceRates *rates, GCancellable *cancellable, GError **error)
{
  const GantryKernel kernel = { .func = do_nothing, .n_tasks = 1 };
  g_autofree GantryStamp *stamps = g_new0 (GantryStamp, LAUNCHES);
  g_autofree gint64 *ns = g_new (gint64, LAUNCHES);

  if (!gantry_device_is_host (device))
    return measure_launches_behind (device, rates, cancellable, error);
  if (!run_launches (device, &kernel, NULL, LAUNCHES, stamps, cancellable, error))
    return FALSE;
  for (guint i = 1; i < LAUNCHES; i++)
    ns[i - 1] = stamps[i].begin - stamps[i - 1].begin;
  take_launches (ns, LAUNCHES - 1, rates);
  return TRUE;
}

static gboolean
measure_copies (Bench *bench, GantryDeviceRates *rates, GCancellable *cancellable, GError **error)
{
  GantryRateRange ranges[2];
  double both[2];

  /* Once for the pages. */
  if (!reserve (bench, error) || !run_copies (bench, TRUE, TRUE, cancellable, error) || !run_copies (bench, TRUE, FALSE, cancellable, error))
    return FALSE;
  rates->to_host = rate_of (bench, 0, &rates->to_host_range);
  if (!run_copies (bench, FALSE, TRUE, cancellable, error))
    return FALSE;
  rates->to_device = rate_of (bench, 1, &rates->to_device_range);
  if (!run_copies (bench, TRUE, TRUE, cancellable, error))
    return FALSE;
  for (guint i = 0; i < 2; i++)
    both[i] = rate_of (bench, i, &ranges[i]);
  rates->both = MIN (both[0], both[1]);
  rates->both_range = ranges[both[1] < both[0]];
  return TRUE;
}

/* What copies need, threads on a processor, comes with a program that has some: it is there, or this fails. */
static gboolean
measure (Bench *bench, GantryDeviceRates *rates, GCancellable *cancellable, GError **error)
{
  GantryInstruction copies[] = { { .queue = GANTRY_QUEUE_TO_HOST }, { .queue = GANTRY_QUEUE_TO_DEVICE } };
  const GantryExecutable executable = { .n_instructions = G_N_ELEMENTS (copies), .instructions = copies };
  gpointer loaded;
  gboolean done;

  if (!gantry_device_load (bench->of, &executable, &loaded, error))
    return FALSE;
  done = measure_copies (bench, rates, cancellable, error);
  gantry_device_unload (bench->of, loaded);
  return done && measure_launches (bench->of, rates, cancellable, error);
}

gboolean
gantry_device_measure (GantryDevice *device, gsize bytes, GantryDeviceRates *rates, GCancellable *cancellable, GError **error)
{
  Bench bench = { device, bytes > 0 ? bytes : DEFAULT_BYTES };
  gboolean done;

  *rates = (GantryDeviceRates){ 0 };
  done = measure (&bench, rates, cancellable, error);
  release (&bench);
  return done;
}
