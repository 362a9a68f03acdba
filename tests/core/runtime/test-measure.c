/* SPDX-License-Identifier: Apache-2.0 */
/* Memory measured from outside of the plan: what was touched, what was never touched, a kernel that writes where it should not,
 * and memory that no plan knows of. */
#include "core/base/process-memory.h"
#include "tests/core/runtime/fake.h"
#include <glib/gstdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE ((gsize) 4096)
#define N (64 * (gint64) PAGE / 4) /* 256 KiB of floats */
#define BYTES ((gsize) N * 4)
#define ARENA (3 * BYTES)
static const float two = 2;

typedef struct
{
  gssize where;     /* where it writes beside its result: bytes from that on; 0: it does not */
  gsize allocation; /* what it takes from the system and gives back at once, in the measured run alone */
  guint n_runs;
  gint64 part; /* how much of its result it writes */
} Misdeed;

static void
kernel_bad (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  Misdeed *misdeed = (Misdeed *) state;

  kernel_scale (&two, buffers, begin, MIN (end, misdeed->part));
  if (begin > 0)
    return;
  if (misdeed->where != 0)
    ((guint8 *) buffers[1])[misdeed->where] = 1;
  if (misdeed->allocation > 0 && ++misdeed->n_runs == 2)
    {
      void *memory = mmap (NULL, misdeed->allocation, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

      g_assert_true (memory != MAP_FAILED);
      memset (memory, 1, misdeed->allocation);
      munmap (memory, misdeed->allocation);
    }
}

/* x lies at 0, y = 2 x behind it while a third place is free, z = 2 y in the third; r = 2 z where y was. */
static GantryExecutable *
chain (Misdeed *misdeed)
{
  Fake f = fake_begin ();
  guint32 x = fake_value (&f, TRUE, N, "x"), y = fake_value (&f, FALSE, N, "y"), z = fake_value (&f, FALSE, N, "z");
  guint32 r = fake_value (&f, FALSE, N, "r");
  guint32 bx = fake_buffer (&f, x, GANTRY_BUFFER_INPUT, 0, N, 0, 0);
  guint32 by = fake_buffer (&f, y, GANTRY_BUFFER_TEMPORARY, BYTES, N, 0, 1);
  guint32 bz = fake_buffer (&f, z, GANTRY_BUFFER_TEMPORARY, 2 * BYTES, N, 1, 2);
  guint32 br = fake_buffer (&f, r, GANTRY_BUFFER_OUTPUT, BYTES, N, 2, 2);

  fake_launch (&f, y, 0, kernel_bad, misdeed, N, FAKE_BUFFERS (bx, by));
  fake_launch (&f, z, 1, kernel_scale, (gpointer) &two, N, FAKE_BUFFERS (by, bz));
  fake_launch (&f, r, 2, kernel_scale, (gpointer) &two, N, FAKE_BUFFERS (bz, br));
  return fake_end (&f, 1, &br);
}

/* How far it is, is known. */
static void
told (double fraction, const char *what, gpointer user_data)
{
  g_assert_cmpfloat (fraction, >=, 0);
  g_assert_cmpfloat (fraction, <=, 1);
  g_assert_cmpstr (what, ==, "Measuring memory");
  ++*(guint *) user_data;
}

/* @observer: (nullable): of a run after the one that is measured */
static GantryMemoryMeasure *
measure (Misdeed *misdeed, gboolean lent, const GantryObserver *observer)
{
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (2);
  g_autoptr (GantryExecutable) executable = chain (misdeed);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryExecutor) executor = gantry_executor_new (device, executable, NULL, &error);
  float *x = gantry_pages_new (BYTES + 64), *r = gantry_pages_new (BYTES + 64);
  GantryRunInput input = { lent ? x : x + 1, BYTES };
  GantryRunOutput output = { lent ? r : r + 1, BYTES };
  guint n_told = 0;
  const GantryProgress progress = { .report = told, .user_data = &n_told };
  GantryMemoryMeasure *result;

  g_assert_no_error (error);
  for (gint64 i = 0; i < N; i++)
    (lent ? x : x + 1)[i] = (float) i;
  gantry_executor_run (executor, &input, 1, &output, 1, NULL, NULL, &error);
  gantry_executor_measure (executor, &input, 1, &output, 1, &progress, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (n_told, >, 0);
  for (gint64 i = 0; i < MIN (N, misdeed->part); i++)
    g_assert_cmpfloat ((lent ? r : r + 1)[i], ==, 8 * (float) i);
  if (observer != NULL)
    gantry_executor_run (executor, &input, 1, &output, 1, observer, NULL, &error);
  result = gantry_executor_take_measure (executor, &error);
  gantry_executor_free (g_steal_pointer (&executor));
  gantry_pages_free (x);
  gantry_pages_free (r);
  return result;
}

static guint64
sum (const GantryMemoryMeasure *measure, GantryMemoryPart part)
{
  return measure->touched.bytes[part];
}

static void
test_touched (void)
{
  Misdeed good = { .part = N };
  g_autoptr (GantryMemoryMeasure) copied = measure (&good, FALSE, NULL), lent = measure (&good, TRUE, NULL);
  guint64 code = sum (copied, GANTRY_PART_CODE);

  /* In the arena: x and y, then y and z, then z and r. */
  g_assert_cmpuint (copied->n_steps, ==, 3);
  for (guint s = 0; s < 3; s++)
    g_assert_cmpuint (copied->curve[s] - code, ==, 2 * BYTES);
  g_assert_cmpuint (copied->outside.bytes, ==, 0);
  g_assert_cmpuint (sum (copied, GANTRY_PART_ARGUMENTS), ==, BYTES);
  g_assert_cmpuint (sum (copied, GANTRY_PART_TEMPORARIES), ==, BYTES);
  /* Where the caller has them: two blocks that do not begin with a page, there all the time but for what is not yet written. */
  g_assert_cmpuint (lent->outside.bytes, ==, 0);
  code = sum (lent, GANTRY_PART_CODE);
  g_assert_cmpuint (sum (lent, GANTRY_PART_ARGUMENTS), >=, 2 * BYTES);
  g_assert_cmpuint (sum (lent, GANTRY_PART_ARGUMENTS), <=, 2 * (BYTES + 2 * PAGE));
  g_assert_cmpuint (lent->peak_bytes, ==, gantry_memory_parts_total (&lent->touched));
  g_assert_cmpuint (lent->curve[0] - code, >=, 2 * BYTES);
  g_assert_cmpuint (lent->curve[1] - lent->curve[0], ==, BYTES);
  g_assert_cmpuint (lent->beside.bytes, <, 512 << 10);
}

/* Nothing runs, and the argument is there: what parts have is what is touched. */
static void
test_no_steps (void)
{
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (2);
  g_autoptr (GantryMemoryMeasure) result = NULL;
  g_autoptr (GantryExecutor) executor = NULL;
  g_autoptr (GantryExecutable) executable = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree float *x = g_new0 (float, N + 1), *r = g_new0 (float, N + 1);
  const GantryRunInput input = { x + 1, BYTES };
  const GantryRunOutput output = { r + 1, BYTES };
  Fake f = fake_begin ();
  guint32 v = fake_value (&f, TRUE, N, "x"), b = fake_buffer (&f, v, GANTRY_BUFFER_INPUT, 0, N, 0, 0);

  executable = fake_end (&f, 1, &b);
  executor = gantry_executor_new (device, executable, NULL, &error);
  g_assert_no_error (error);
  gantry_executor_measure (executor, &input, 1, &output, 1, NULL, &error);
  g_assert_no_error (error);
  result = gantry_executor_take_measure (executor, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (result->n_steps, ==, 0);
  g_assert_cmpuint (result->peak_step, ==, G_MAXUINT32);
  g_assert_cmpuint (sum (result, GANTRY_PART_ARGUMENTS), >=, BYTES);
  g_assert_cmpuint (result->peak_bytes, ==, gantry_memory_parts_total (&result->touched));
  g_assert_cmpuint (result->outside.bytes, ==, 0);
}

/* By part a place counts as in the plan: what was fetched of an argument is temporary. */
static void
test_parts (void)
{
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (2);
  g_autoptr (GantryMemoryMeasure) result = NULL;
  g_autoptr (GantryExecutor) executor = NULL;
  g_autoptr (GantryExecutable) executable = NULL;
  g_autoptr (GError) error = NULL;
  float *x = gantry_pages_new (BYTES + 64), *r = gantry_pages_new (BYTES + 64);
  GantryRunInput input = { x + 1, BYTES };
  GantryRunOutput output = { r + 1, BYTES };
  GantryMemoryParts planned;
  Fake f = fake_begin ();
  guint32 vx = fake_value (&f, TRUE, N, "x"), vy = fake_value (&f, FALSE, N, "y"), vr = fake_value (&f, FALSE, N, "r");
  guint32 bx = fake_buffer (&f, vx, GANTRY_BUFFER_INPUT, 0, N, 0, 0), bf, by, br;

  bf = fake_buffer (&f, vx, GANTRY_BUFFER_TEMPORARY, BYTES, N, 0, 1);
  by = fake_buffer (&f, vy, GANTRY_BUFFER_TEMPORARY, 2 * BYTES, N, 1, 2);
  br = fake_buffer (&f, vr, GANTRY_BUFFER_OUTPUT, BYTES, N, 2, 2);
  fake_launch (&f, vx, 0, kernel_scale, (gpointer) &two, N, FAKE_BUFFERS (bx, bf));
  fake_launch (&f, vy, 1, kernel_scale, (gpointer) &two, N, FAKE_BUFFERS (bf, by));
  fake_launch (&f, vr, 2, kernel_scale, (gpointer) &two, N, FAKE_BUFFERS (by, br));
  executable = fake_end (&f, 1, &br);
  executable->plan->buffers[bf].category = GANTRY_BUFFER_INPUT; /* as a planner writes it, but none of the entry's inputs */
  executable->plan->buffers[bf].instance = 1;
  gantry_plan_sum_live (executable->plan);
  executor = gantry_executor_new (device, executable, NULL, &error);
  g_assert_no_error (error);
  gantry_executor_measure (executor, &input, 1, &output, 1, NULL, &error);
  g_assert_no_error (error);
  result = gantry_executor_take_measure (executor, &error);
  g_assert_cmpuint (result->peak_step, ==, 0); /* x, and what was fetched of it */
  gantry_plan_memory_parts_at (executable->plan, 0, &planned);
  g_assert_cmpuint (planned.bytes[GANTRY_PART_ARGUMENTS], ==, BYTES);
  g_assert_cmpuint (sum (result, GANTRY_PART_ARGUMENTS), ==, BYTES);
  g_assert_cmpuint (sum (result, GANTRY_PART_TEMPORARIES), ==, BYTES);
  gantry_executor_free (g_steal_pointer (&executor));
  gantry_pages_free (x);
  gantry_pages_free (r);
}

/* An argument that lies on the host is memory of the host: where the caller has it, and in the arena. */
static void
test_host (void)
{
  for (guint lent = 0; lent < 2; lent++)
    {
      g_autoptr (GantryDevice) device = gantry_cpu_device_new (1);
      g_autoptr (GantryMemoryMeasure) result = NULL;
      g_autoptr (GantryExecutor) executor = NULL;
      g_autoptr (GantryExecutable) executable = NULL;
      g_autoptr (GError) error = NULL;
      float *x = gantry_pages_new (BYTES + 64), *r = gantry_pages_new (BYTES + 64);
      GantryRunInput input = { lent ? x : x + 1, BYTES };
      GantryRunOutput output = { r, BYTES };
      Fake f = fake_begin ();
      guint32 vx = fake_value (&f, TRUE, N, "x"), vr = fake_value (&f, FALSE, N, "r");
      guint32 bx = fake_buffer (&f, vx, GANTRY_BUFFER_INPUT, 0, N, 0, 0);
      guint32 bf = fake_buffer (&f, vx, GANTRY_BUFFER_TEMPORARY, 0, N, 0, 1), br = fake_buffer (&f, vr, GANTRY_BUFFER_OUTPUT, BYTES, N, 1, 1);

      FAKE_BUFFER (&f, bx)->memory = GANTRY_MEMORY_PINNED_HOST;
      FAKE_BUFFER (&f, bf)->instance = 1;
      fake_copy (&f, GANTRY_QUEUE_COMPUTE, vx, 0, bx, bf);
      fake_launch (&f, vr, 1, kernel_scale, (gpointer) &two, N, FAKE_BUFFERS (bf, br));
      executable = fake_end (&f, 1, &br);
      executor = gantry_executor_new (device, executable, NULL, &error);
      g_assert_no_error (error);
      memset (x, 0, BYTES + 64);
      gantry_executor_measure (executor, &input, 1, &output, 1, NULL, &error);
      g_assert_no_error (error);
      result = gantry_executor_take_measure (executor, &error);
      g_assert_cmpuint (result->host_bytes, >=, BYTES);
      g_assert_cmpuint (result->host_bytes, <=, BYTES + PAGE);
      g_assert_cmpuint (result->outside.bytes, ==, 0);
      gantry_executor_free (g_steal_pointer (&executor));
      gantry_pages_free (x);
      gantry_pages_free (r);
    }
}

enum
{
  FEW = 16,
  SMALL = 64
}; /* values; their bytes */

/* r = x + literal, all three in one page. */
static void
kernel_add_literal (gconstpointer state G_GNUC_UNUSED, void *const *buffers, gint64 begin, gint64 end)
{
  const float *x = buffers[0], *literal = buffers[1];

  for (gint64 i = begin; i < end; i++)
    ((float *) buffers[2])[i] = x[i] + literal[i];
}

/* A page that an argument, a constant and a result share is there once. */
static void
test_shared_page (void)
{
  const gint64 few = FEW;
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (1);
  g_autoptr (GantryMemoryMeasure) result = NULL;
  g_autoptr (GantryExecutor) executor = NULL;
  g_autoptr (GantryExecutable) executable = NULL;
  g_autoptr (GError) error = NULL;
  guint8 *page = mmap (NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  GantryRunInput input = { page, SMALL };
  GantryRunOutput output = { page + 2 * SMALL, SMALL };
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GantryLiteral) literal = NULL;
  Fake f = fake_begin ();
  guint32 x = fake_value (&f, TRUE, FEW, "x"), l = fake_value (&f, FALSE, FEW, "literal"), r = fake_value (&f, FALSE, FEW, "r");
  guint32 bx = fake_buffer (&f, x, GANTRY_BUFFER_INPUT, 0, FEW, 0, 0), bl = fake_buffer (&f, l, GANTRY_BUFFER_CONSTANT, 0, FEW, 0, 0);
  guint32 br = fake_buffer (&f, r, GANTRY_BUFFER_OUTPUT, SMALL, FEW, 0, 0);

  g_assert_true (page != MAP_FAILED);
  for (guint i = 0; i < 2 * FEW; i++)
    ((float *) (gpointer) page)[i] = (float) i;
  bytes = g_bytes_new_static (page + SMALL, SMALL);
  literal = gantry_literal_new (gantry_context_type (f.context, gantry_context_tensor (f.context, GANTRY_F32, 1, &few)), bytes, FALSE, &error);
  g_assert_no_error (error);
  FAKE_BUFFER (&f, bl)->region = GANTRY_REGION_LITERAL;
  FAKE_BUFFER (&f, bl)->literal = gantry_context_add_literal (f.context, literal);
  fake_launch (&f, r, 0, kernel_add_literal, NULL, FEW, FAKE_BUFFERS (bx, bl, br));
  executable = fake_end (&f, 1, &br);
  executor = gantry_executor_new (device, executable, NULL, &error);
  g_assert_no_error (error);
  gantry_executor_measure (executor, &input, 1, &output, 1, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (((float *) (gpointer) output.data)[3], ==, 3 + FEW + 3);
  result = gantry_executor_take_measure (executor, &error);
  g_assert_cmpuint (result->peak_bytes - sum (result, GANTRY_PART_CODE), ==, PAGE);
  g_assert_cmpuint (sum (result, GANTRY_PART_ARGUMENTS) + sum (result, GANTRY_PART_CONSTANTS), ==, PAGE);
  g_assert_cmpuint (result->rounding_bytes, ==, PAGE - 3 * SMALL);
  g_assert_cmpuint (result->held - sum (result, GANTRY_PART_CODE), ==, PAGE);
  gantry_executor_free (g_steal_pointer (&executor));
  gantry_executable_unref (g_steal_pointer (&executable));
  munmap (page, PAGE);
}

/* What is planned and never touched is not there. */
static void
test_untouched (void)
{
  Misdeed half = { .part = N / 2 };
  g_autoptr (GantryMemoryMeasure) measured = measure (&half, FALSE, NULL);

  g_assert_cmpuint (measured->curve[0] - sum (measured, GANTRY_PART_CODE), ==, BYTES + BYTES / 2);
}

static void
test_outside (void)
{
  const struct
  {
    gssize where;
    gboolean lent;
  } cases[] = {
    { BYTES + 5 * PAGE, FALSE },                /* into the place that is free then */
    { 2 * BYTES, FALSE },                       /* the first byte behind the arena */
    { 2 * BYTES + 15 * PAGE, FALSE },           /* the last page of the guard */
    { -(gssize) BYTES - (gssize) PAGE, FALSE }, /* in front of the arena */
    { -(gssize) BYTES, TRUE },                  /* the place of an input that lies elsewhere */
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Misdeed misdeed = { .part = N, .where = cases[i].where };
      g_autoptr (GantryMemoryMeasure) measured = measure (&misdeed, cases[i].lent, NULL);

      g_assert_cmpuint (measured->outside.bytes, ==, PAGE);
      g_assert_cmpuint (measured->outside.step, ==, 0);
      g_assert_cmpuint (measured->outside.node, !=, 0);
    }
}

static void
test_beside (void)
{
  Misdeed misdeed = { .part = N, .allocation = 8 << 20 };
  g_autoptr (GantryMemoryMeasure) measured = NULL;

  if (!gantry_process_memory_reset_peak ())
    {
      g_test_skip ("this system does not let the peak of a process begin anew");
      return;
    }
  measured = measure (&misdeed, TRUE, NULL);
  g_assert_cmpuint (measured->beside.bytes, >=, 7 << 20);
  g_assert_cmpuint (measured->beside.bytes, <=, 9 << 20);
  g_assert_cmpuint (measured->beside.step, ==, 0);
  g_assert_cmpuint (measured->outside.bytes, ==, 0);
  g_assert_cmpuint (measured->process_peak, >=, measured->process + (5 << 20));
}

/* The system maps pages of a file around the one that is asked for: they are those of who reads them all the same. */
static void
test_mapped_ahead (void)
{
  enum
  {
    N_PAGES = 12
  };
  g_autofree char *path = NULL, *content = g_malloc0 (N_PAGES * PAGE);
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (1);
  g_autoptr (GantryExecutable) executable = NULL;
  g_autoptr (GantryExecutor) executor = NULL;
  g_autoptr (GantryMemoryMeasure) result = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GMappedFile) file = NULL;
  gint64 few = FEW;
  float values[FEW] = { 0 };
  GantryRunInput input = { values, SMALL };
  GantryRunOutput output = { values, SMALL };
  Fake f = fake_begin ();
  guint32 x = fake_value (&f, TRUE, FEW, "x"), bx = fake_buffer (&f, x, GANTRY_BUFFER_INPUT, 0, FEW, 0, N_PAGES - 1);
  guint32 r = fake_value (&f, FALSE, FEW, "r"), br = fake_buffer (&f, r, GANTRY_BUFFER_OUTPUT, SMALL, FEW, 0, N_PAGES - 1);
  int descriptor = g_file_open_tmp ("gantry-measure-XXXXXX", &path, &error);

  g_assert_no_error (error);
  close (descriptor);
  for (guint32 i = 0; i < N_PAGES; i++)
    content[i * PAGE] = (char) i; /* equal ones would be one */
  g_assert_true (g_file_set_contents (path, content, N_PAGES * PAGE, NULL));
  file = g_mapped_file_new (path, FALSE, &error);
  g_assert_no_error (error);
  for (guint32 i = 0; i < N_PAGES; i++)
    {
      g_autoptr (GBytes) bytes = g_bytes_new_static (g_mapped_file_get_contents (file) + i * PAGE, SMALL);
      const GantryType *type = gantry_context_type (f.context, gantry_context_tensor (f.context, GANTRY_F32, 1, &few));
      g_autoptr (GantryLiteral) literal = gantry_literal_new (type, bytes, FALSE, &error);
      guint32 l = fake_value (&f, FALSE, FEW, "literal"), bl = fake_buffer (&f, l, GANTRY_BUFFER_CONSTANT, 0, FEW, 0, 0);

      g_assert_no_error (error);
      FAKE_BUFFER (&f, bl)->region = GANTRY_REGION_LITERAL;
      FAKE_BUFFER (&f, bl)->literal = gantry_context_add_literal (f.context, literal);
      fake_launch (&f, r, i, kernel_add_literal, NULL, FEW, FAKE_BUFFERS (bx, bl, br));
    }
  executable = fake_end (&f, 1, &br);
  executor = gantry_executor_new (device, executable, NULL, &error);
  g_assert_no_error (error);
  gantry_pages_drop (g_mapped_file_get_contents (file), N_PAGES * PAGE);
  gantry_executor_measure (executor, &input, 1, &output, 1, NULL, &error);
  g_assert_no_error (error);
  result = gantry_executor_take_measure (executor, &error);
  g_assert_cmpuint (sum (result, GANTRY_PART_CONSTANTS), ==, N_PAGES * PAGE);
  gantry_executor_free (g_steal_pointer (&executor));
  gantry_executable_unref (g_steal_pointer (&executable));
  g_unlink (path);
}

typedef struct
{
  guint n;
  gint64 last;
  guint64 bytes[8];
} Heard;

static void
hear_memory (gpointer self, gint64 time, guint32 node, guint64 bytes)
{
  Heard *heard = self;

  g_assert_cmpint (time, >=, heard->last);
  heard->last = time;
  heard->bytes[heard->n++ % 8] = bytes;
}

/* Runs after the measured one tell its curve. */
static void
test_told (void)
{
  Misdeed good = { .part = N };
  Heard heard = { 0 };
  const GantryObserver observer = { .memory = hear_memory, .self = &heard };
  g_autoptr (GantryMemoryMeasure) measured = measure (&good, TRUE, &observer);

  g_assert_cmpuint (heard.n, >=, 2);
  g_assert_cmpuint (heard.bytes[0], ==, measured->curve[0]);
  g_assert_cmpuint (heard.bytes[1], ==, measured->curve[1]);
}

/* What the process takes is all accounted for. */
static void
test_owners (void)
{
  Misdeed good = { .part = N };
  g_autoptr (GantryMemoryMeasure) measured = measure (&good, TRUE, NULL);
  guint64 all = measured->held;

  for (guint i = 0; i < GANTRY_N_MEMORY_OWNERS; i++)
    all += measured->owners[i];
  g_assert_cmpuint (measured->owners[GANTRY_OWNER_PROGRAMS], >, 0);
  g_assert_cmpuint (all, ==, measured->process_peak);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/measure/touched", test_touched);
  g_test_add_func ("/measure/no-steps", test_no_steps);
  g_test_add_func ("/measure/parts", test_parts);
  g_test_add_func ("/measure/host", test_host);
  g_test_add_func ("/measure/shared-page", test_shared_page);
  g_test_add_func ("/measure/untouched", test_untouched);
  g_test_add_func ("/measure/outside", test_outside);
  g_test_add_func ("/measure/beside", test_beside);
  g_test_add_func ("/measure/mapped-ahead", test_mapped_ahead);
  g_test_add_func ("/measure/told", test_told);
  g_test_add_func ("/measure/owners", test_owners);
  return g_test_run ();
}
