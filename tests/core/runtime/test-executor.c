/* SPDX-License-Identifier: Apache-2.0 */
/* The executor with hand-made executables: values in place and views, the constant region and packed weights, what
 * the observer is told, limits, cancelling, wrong sizes, wrong executables, and the checks of a watched run. */
#include "core/base/error.h"
#include "tests/core/runtime/fake.h"
#include <string.h>

#define N 100
static const float two = 2, three = 3;

/* y = 2 x over x; z = 3 y; r = y + z, where y also goes by a view. */
static GantryExecutable *
chain (void)
{
  Fake f = fake_begin ();
  guint32 x = fake_value (&f, TRUE, N, "x"), y = fake_value (&f, FALSE, N, "y"), v = fake_value (&f, FALSE, N, "v");
  guint32 z = fake_value (&f, FALSE, N, "z"), r = fake_value (&f, FALSE, N, "r");
  guint32 bx = fake_buffer (&f, x, GANTRY_BUFFER_INPUT, 512, N, 0, 0);
  guint32 by = fake_buffer (&f, y, GANTRY_BUFFER_TEMPORARY, 512, N, 0, 2);
  guint32 bv = fake_buffer (&f, v, GANTRY_BUFFER_TEMPORARY, 512, N, 0, 2);
  guint32 bz = fake_buffer (&f, z, GANTRY_BUFFER_TEMPORARY, 0, N, 1, 2);
  guint32 br = fake_buffer (&f, r, GANTRY_BUFFER_OUTPUT, 0, N, 2, 2);

  FAKE_BUFFER (&f, by)->shares = bx;
  FAKE_BUFFER (&f, by)->in_place = TRUE;
  FAKE_BUFFER (&f, bv)->shares = by;
  FAKE_BUFFER (&f, br)->shares = bz;
  FAKE_BUFFER (&f, br)->in_place = TRUE;
  fake_launch (&f, y, 0, kernel_scale, (gpointer) &two, N, FAKE_BUFFERS (bx, by));
  fake_launch (&f, z, 1, kernel_scale, (gpointer) &three, N, FAKE_BUFFERS (bv, bz));
  fake_launch (&f, r, 2, kernel_add, NULL, N, FAKE_BUFFERS (bv, bz, br));
  return fake_end (&f, 1, &br);
}

static GantryExecutor *
load (GantryExecutable *executable, guint threads)
{
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (threads);
  g_autoptr (GError) error = NULL;
  GantryExecutor *executor = gantry_executor_new (device, executable, NULL, &error);

  g_assert_no_error (error);
  g_assert_nonnull (executor);
  return executor;
}

static void
fill_input (float *x, float first)
{
  for (guint i = 0; i < N; i++)
    x[i] = first + (float) i;
}

static void
run_chain (GantryExecutor *executor, float first, const GantryObserver *observer)
{
  float x[N], r[N];
  GantryRunInput input = { x, sizeof x };
  GantryRunOutput output = { r, sizeof r };
  g_autoptr (GError) error = NULL;

  fill_input (x, first);
  memset (r, 0, sizeof r);
  g_assert_true (gantry_executor_run (executor, &input, 1, &output, 1, observer, NULL, &error));
  g_assert_no_error (error);
  for (guint i = 0; i < N; i++)
    g_assert_cmpfloat (r[i], ==, 8 * (first + (float) i));
}

static void
test_chain (void)
{
  g_autoptr (GantryExecutable) executable = chain ();
  g_autoptr (GantryExecutor) executor = load (executable, 2);

  for (guint i = 0; i < 50; i++)
    run_chain (executor, (float) i, NULL);
  gantry_executor_set_verify (executor, GANTRY_VERIFY_PLACES | GANTRY_VERIFY_POISON | GANTRY_VERIFY_WRITES);
  run_chain (executor, 7, NULL);
}

/* Everything that an observer hears, in order. */
typedef struct
{
  GString *log;
  gint64 last, begin, end;
  guint64 most;
} Listener;

static void
hear (Listener *l, gint64 time, const char *what, guint32 which)
{
  g_assert_cmpint (time, >=, l->begin);
  g_string_append_printf (l->log, "%s%u ", what, which);
}

static void
hear_begin (gpointer self, const GantryExecutable *executable, gint64 time)
{
  ((Listener *) self)->begin = time;
}

static void
hear_instruction (gpointer self, guint32 instruction, gint64 begin, gint64 end)
{
  Listener *l = self;

  hear (l, begin, "i", instruction);
  g_assert_cmpint (end, >=, begin);
  g_assert_cmpint (begin, >=, l->last);
  l->last = end;
}

static void
hear_memory (gpointer self, gint64 time, guint32 node, guint64 bytes)
{
  Listener *l = self;

  hear (l, time, "m", node);
  l->most = MAX (l->most, bytes);
}

static void
hear_end (gpointer self, gint64 time)
{
  ((Listener *) self)->end = time;
}

static void
test_observer (void)
{
  g_autoptr (GantryExecutable) executable = chain ();
  g_autoptr (GantryExecutor) executor = load (executable, 1);
  Listener l = { g_string_new (NULL) };
  GantryObserver observer = { hear_begin, hear_instruction, NULL, hear_memory, hear_end, &l };
  GantryObserver deaf = { .self = &l };

  run_chain (executor, 1, &observer);
  /* No memory was measured: none is told. */
  g_assert_cmpstr (l.log->str, ==, "i0 i1 i2 ");
  g_assert_cmpint (l.last, <=, l.end);
  run_chain (executor, 1, &deaf);
  g_string_free (l.log, TRUE);
}

/* The constant region: a filled splat, a value computed at load from it, a literal used where it lies, and weights
 * that a kernel packed. buffers of the last: x, constant, literal, result, packed. */

static void
use_packed (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  const float *x = buffers[0], *c = buffers[1], *l = buffers[2], *packed = buffers[4];
  float *y = buffers[3];

  for (gint64 i = begin; i < end; i++)
    y[i] = x[i] + c[i] + l[i] + packed[0];
}

static void
pack_constant (gpointer state, void *const *buffers, void *packed)
{
  g_assert_cmpuint (GPOINTER_TO_SIZE (packed) % 64, ==, 0);
  *(float *) packed = ((const float *) buffers[1])[0] * 100;
  ++*(guint *) state;
}

static GantryExecutable *
with_constants (guint *packs)
{
  Fake f = fake_begin ();
  guint32 x = fake_value (&f, TRUE, N, "x"), s = fake_value (&f, FALSE, N, "splat"), c = fake_value (&f, FALSE, N, "c");
  guint32 l = fake_value (&f, FALSE, N, "literal"), r = fake_value (&f, FALSE, N, "r"), bx, bs, bc, bl, br, i;
  gint64 n = N;
  const GantryType *type = gantry_context_type (f.context, gantry_context_tensor (f.context, GANTRY_F32, 1, &n));
  g_autoptr (GBytes) one = g_bytes_new (&two, 4);
  g_autoptr (GantryLiteral) splat = gantry_literal_new (type, one, TRUE, NULL);
  g_autoptr (GantryLiteral) dense = NULL;
  guint8 *data;

  dense = gantry_literal_new_zeroed (type, &data);
  for (guint k = 0; k < N; k++)
    memcpy (data + 4 * k, &(float){ 1000.0f * (float) k }, 4);
  f.n_init = 2;
  bx = fake_buffer (&f, x, GANTRY_BUFFER_INPUT, 0, N, 2, 2);
  /* c is written over the splat: it is needed at load alone. */
  bs = fake_buffer (&f, s, GANTRY_BUFFER_CONSTANT, 0, N, 0, 1);
  FAKE_BUFFER (&f, bs)->literal = gantry_context_add_literal (f.context, splat);
  bc = fake_buffer (&f, c, GANTRY_BUFFER_CONSTANT, 0, N, 1, 2);
  FAKE_BUFFER (&f, bc)->shares = bs;
  FAKE_BUFFER (&f, bc)->in_place = TRUE;
  bl = fake_buffer (&f, l, GANTRY_BUFFER_CONSTANT, 0, N, 2, 2);
  FAKE_BUFFER (&f, bl)->region = GANTRY_REGION_LITERAL;
  FAKE_BUFFER (&f, bl)->literal = gantry_context_add_literal (f.context, dense);
  br = fake_buffer (&f, r, GANTRY_BUFFER_OUTPUT, 448, N, 2, 2);
  fake_instruction (&f, GANTRY_INSTRUCTION_FILL, GANTRY_QUEUE_COMPUTE, s, 0, FAKE_BUFFERS (bs));
  fake_launch (&f, c, 1, kernel_scale, (gpointer) &three, N, FAKE_BUFFERS (bs, bc));
  i = fake_launch (&f, r, 2, use_packed, packs, N, FAKE_BUFFERS (bx, bc, bl, br));
  g_array_index (f.kernels, GantryKernel, FAKE_INSTRUCTION (&f, i)->kernel).packed_bytes = 4;
  g_array_index (f.kernels, GantryKernel, FAKE_INSTRUCTION (&f, i)->kernel).pack = pack_constant;
  return fake_end (&f, 1, &br);
}

static void
test_constants (void)
{
  guint packs = 0;
  g_autoptr (GantryExecutable) executable = with_constants (&packs);
  g_autoptr (GantryExecutor) executor = load (executable, 2);
  float x[N], r[N];
  GantryRunInput input = { x, sizeof x };
  GantryRunOutput output = { r, sizeof r };

  fill_input (x, 0);
  for (guint round = 0; round < 3; round++)
    {
      if (round == 2)
        gantry_executor_set_verify (executor, GANTRY_VERIFY_PLACES | GANTRY_VERIFY_POISON | GANTRY_VERIFY_WRITES);
      g_assert_true (gantry_executor_run (executor, &input, 1, &output, 1, NULL, NULL, NULL));
      for (guint i = 0; i < N; i++)
        g_assert_cmpfloat (r[i], ==, (float) i + 6 + 1000.0f * (float) i + 600);
    }
  g_assert_cmpuint (packs, ==, 1);
}

static void
test_sizes (void)
{
  g_autoptr (GantryExecutable) executable = chain ();
  g_autoptr (GantryExecutor) executor = load (executable, 1);
  float x[N + 1] = { 0 }, r[N + 1];
  GantryRunInput inputs[2] = { { x, 4 * N }, { x, 4 * N } };
  GantryRunOutput outputs[2] = { { r, 4 * N }, { r, 4 * N } };
  g_autoptr (GError) error = NULL;

  g_assert_false (gantry_executor_run (executor, inputs, 2, outputs, 1, NULL, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_false (gantry_executor_run (executor, inputs, 1, outputs, 0, NULL, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_clear_error (&error);
  inputs[0].size += 4;
  g_assert_false (gantry_executor_run (executor, inputs, 1, outputs, 1, NULL, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "input 0, 'x'"));
  g_clear_error (&error);
  inputs[0].size -= 4;
  outputs[0].size -= 4;
  g_assert_false (gantry_executor_run (executor, inputs, 1, outputs, 1, NULL, NULL, &error));
  g_assert_nonnull (strstr (error->message, "result 0, 'r'"));
}

static void
test_literals (void)
{
  g_autoptr (GantryExecutable) executable = chain ();
  g_autoptr (GantryExecutor) executor = load (executable, 1);
  GantryContext *context = executable->module->context;
  gint64 n = N, other = N - 1;
  const GantryType *type = gantry_context_type (context, gantry_context_tensor (context, GANTRY_F32, 1, &n));
  const GantryType *wrong = gantry_context_type (context, gantry_context_tensor (context, GANTRY_I32, 1, &n));
  const GantryType *shorter = gantry_context_type (context, gantry_context_tensor (context, GANTRY_F32, 1, &other));
  g_autoptr (GBytes) one = g_bytes_new (&two, 4);
  g_autoptr (GantryLiteral) splat = gantry_literal_new (type, one, TRUE, NULL);
  g_autoptr (GantryLiteral) integer = gantry_literal_new (wrong, one, TRUE, NULL);
  g_autoptr (GantryLiteral) small = gantry_literal_new (shorter, one, TRUE, NULL);
  GantryLiteral *result = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (gantry_executor_run_literals (executor, &splat, 1, &result, 1, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (gantry_type_same_shape (result->type, type));
  for (guint i = 0; i < N; i++)
    g_assert_cmpfloat (gantry_literal_get_double (result, i), ==, 16);
  g_clear_pointer (&result, gantry_literal_unref);
  g_assert_false (gantry_executor_run_literals (executor, &integer, 1, &result, 1, NULL, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_false (gantry_executor_run_literals (executor, &small, 1, &result, 1, NULL, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_false (gantry_executor_run_literals (executor, NULL, 0, &result, 1, NULL, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
  g_assert_null (result);
}

static void
test_limit (void)
{
  g_autoptr (GantryExecutable) executable = chain ();
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (1);
  g_autoptr (GantryExecutor) executor = NULL;
  g_autoptr (GError) error = NULL;
  guint64 used;

  gantry_device_set_limit (device, GANTRY_MEMORY_DEVICE, 900);
  g_assert_null (gantry_executor_new (device, executable, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_NO_MEMORY);
  g_assert_nonnull (strstr (error->message, "60 B too much"));
  g_assert_nonnull (strstr (error->message, "'x' (400 B)"));
  gantry_device_get_memory (device, GANTRY_MEMORY_DEVICE, &used, NULL, NULL);
  g_assert_cmpuint (used, ==, 0);
  gantry_device_set_limit (device, GANTRY_MEMORY_DEVICE, 960);
  executor = gantry_executor_new (device, executable, NULL, NULL);
  g_assert_nonnull (executor);
  run_chain (executor, 3, NULL);
}

/* Cancels from within the first kernel: the second one must not run. */

typedef struct
{
  GCancellable *cancellable;
  gboolean cancels;
  guint later;
} Brake;

static void
kernel_brake (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  const Brake *brake = state;

  if (brake->cancels)
    g_cancellable_cancel (brake->cancellable);
}

static void
kernel_later (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  ((Brake *) state)->later++;
}

static void
test_cancel (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Brake brake = { cancellable, TRUE, 0 };
  Listener l = { g_string_new (NULL) };
  GantryObserver observer = { hear_begin, hear_instruction, NULL, hear_memory, hear_end, &l };
  Fake f = fake_begin ();
  guint32 x = fake_value (&f, TRUE, 1, "x"), y = fake_value (&f, FALSE, 1, "y"), z = fake_value (&f, FALSE, 1, "z");
  guint32 bx = fake_buffer (&f, x, GANTRY_BUFFER_INPUT, 0, 1, 0, 1);
  guint32 by = fake_buffer (&f, y, GANTRY_BUFFER_TEMPORARY, 64, 1, 0, 1);
  guint32 bz = fake_buffer (&f, z, GANTRY_BUFFER_OUTPUT, 128, 1, 1, 1);
  g_autoptr (GantryExecutable) executable = NULL;
  g_autoptr (GantryExecutor) executor = NULL;
  g_autoptr (GError) error = NULL;
  float value = 0;
  GantryRunInput input = { &value, 4 };
  GantryRunOutput output = { &value, 4 };

  fake_launch (&f, y, 0, kernel_brake, &brake, 1, FAKE_BUFFERS (bx, by));
  fake_launch (&f, z, 1, kernel_later, &brake, 1, FAKE_BUFFERS (by, bz));
  executable = fake_end (&f, 1, &bz);
  executor = load (executable, 2);
  g_assert_false (gantry_executor_run (executor, &input, 1, &output, 1, &observer, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpuint (brake.later, ==, 0);
  /* What did happen is told. */
  g_assert_cmpstr (l.log->str, ==, "i0 ");
  g_string_free (l.log, TRUE);
  g_clear_error (&error);
  /* It can be run again; cancelled in the last kernel, everything is done all the same. */
  g_cancellable_reset (cancellable);
  brake.cancels = FALSE;
  g_assert_true (gantry_executor_run (executor, &input, 1, &output, 1, NULL, cancellable, &error));
  g_assert_cmpuint (brake.later, ==, 1);
  /* Loading can be cancelled too. */
  {
    guint packs = 0;
    g_autoptr (GantryExecutable) constants = with_constants (&packs);
    g_autoptr (GantryDevice) device = gantry_cpu_device_new (1);

    g_cancellable_cancel (cancellable);
    g_assert_null (gantry_executor_new (device, constants, cancellable, &error));
    g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    g_assert_cmpuint (packs, ==, 0);
  }
}

/* What is wrong in an executable is found when it is loaded. */

typedef void (*Spoil) (GantryExecutable *executable);

static void
spoil_kernel (GantryExecutable *e)
{
  e->instructions[0].kernel = 77;
}
static void
spoil_queue (GantryExecutable *e)
{
  e->instructions[0].queue = 9;
}
static void
spoil_refs (GantryExecutable *e)
{
  e->instructions[1].n_buffers = 1000;
}
static void
spoil_ref (GantryExecutable *e)
{
  e->buffer_refs[2] = 1000;
}
static void
spoil_step (GantryExecutable *e)
{
  e->instructions[2].step = 3;
}
static void
spoil_offset (GantryExecutable *e)
{
  e->plan->buffers[0].offset = e->plan->arena_bytes[0] - 64;
}
static void
spoil_huge (GantryExecutable *e)
{
  e->plan->arena_bytes[0] = G_MAXUINT64;
}
static void
spoil_shares (GantryExecutable *e)
{
  e->plan->buffers[1].shares = 1;
}
static void
spoil_input (GantryExecutable *e)
{
  e->inputs[0] = 5;
}
static void
spoil_output (GantryExecutable *e)
{
  e->outputs[0] = G_MAXUINT32;
}
static void
spoil_literal (GantryExecutable *e)
{
  e->plan->buffers[3].region = GANTRY_REGION_LITERAL;
  e->plan->buffers[3].literal = 12345;
}
static void
spoil_wait (GantryExecutable *e)
{
  e->instructions[1].kind = GANTRY_INSTRUCTION_WAIT;
  e->instructions[1].event = 2;
}
static void
spoil_fill (GantryExecutable *e)
{
  e->instructions[1].kind = GANTRY_INSTRUCTION_FILL;
}
static void
spoil_copy (GantryExecutable *e)
{
  e->instructions[1].kind = GANTRY_INSTRUCTION_COPY;
  e->instructions[1].bytes = 404;
}
static void
spoil_packed (GantryExecutable *e)
{
  e->kernels[1].packed_bytes = 64;
}
static void
spoil_init (GantryExecutable *e)
{
  e->plan->n_init_steps = 4;
}
static void
spoil_kind (GantryExecutable *e)
{
  e->instructions[1].kind = GANTRY_INSTRUCTION_CONTROL + 1;
}

static void
test_invalid (void)
{
  static const Spoil spoils[] = { spoil_kernel, spoil_queue, spoil_refs,   spoil_ref,     spoil_step, spoil_offset, spoil_huge,   spoil_input,
                                  spoil_output, spoil_fill,  spoil_shares, spoil_literal, spoil_wait, spoil_copy,   spoil_packed, spoil_init };
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (1);

  for (guint i = 0; i <= G_N_ELEMENTS (spoils); i++)
    {
      g_autoptr (GantryExecutable) executable = chain ();
      g_autoptr (GError) error = NULL;

      (i < G_N_ELEMENTS (spoils) ? spoils[i] : spoil_kind) (executable);
      g_assert_null (gantry_executor_new (device, executable, NULL, &error));
      if (i < G_N_ELEMENTS (spoils))
        {
          g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
        }
      else
        g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
    }
}

/* Watched runs find what is wrong while it runs. */

static void
kernel_beyond (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  kernel_scale (&two, buffers, begin, end);
  if (end == N)
    ((float *) buffers[1])[N + 28] = 1; /* the place after the next multiple of 64 */
}

static void
expect_finding (GantryExecutable *executable, GantryVerifyFlags flags, const char *part)
{
  g_autoptr (GantryExecutor) executor = load (executable, 1);
  float x[N] = { 0 }, r[2 * N]; /* where kernels write beyond what they should */
  GantryRunInput input = { x, sizeof x };
  GantryRunOutput output = { r, sizeof x };
  g_autoptr (GError) error = NULL;

  g_assert_true (gantry_executor_run (executor, &input, 1, &output, 1, NULL, NULL, &error));
  gantry_executor_set_verify (executor, flags);
  g_assert_false (gantry_executor_run (executor, &input, 1, &output, 1, NULL, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, part));
}

static void
test_verify_places (void)
{
  g_autoptr (GantryExecutable) overlap = chain ();
  g_autoptr (GantryExecutable) early = NULL;

  overlap->plan->buffers[3].offset = overlap->plan->buffers[4].offset = 448;
  expect_finding (overlap, GANTRY_VERIFY_PLACES, "lies over the place of the living 'x'");
  early = chain ();
  early->plan->buffers[2].begin = 2;
  expect_finding (early, GANTRY_VERIFY_PLACES, "'v' (400 B) is used when it is not alive");
}

static void
test_verify_writes (void)
{
  g_autoptr (GantryExecutable) executable = chain ();

  /* z at 0 lies below x at 448: one element too far is x's first. */
  executable->plan->buffers[0].offset = executable->plan->buffers[1].offset = executable->plan->buffers[2].offset = 448;
  executable->kernels[1].func = kernel_beyond;
  expect_finding (executable, GANTRY_VERIFY_WRITES, "was written, and so was 'x'");
}

static void
test_verify_constants (void)
{
  guint packs = 0;
  g_autoptr (GantryExecutable) executable = with_constants (&packs);
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (1);
  g_autoptr (GantryExecutor) executor = NULL;
  float x[N] = { 0 }, r[N];
  GantryRunInput input = { x, sizeof x };
  GantryRunOutput output = { r, sizeof r };
  g_autoptr (GError) error = NULL;

  /* Its buffers 0 and 1 are x and the constant: it now writes into the second. */
  executable->kernels[1].func = kernel_scale;
  executable->kernels[1].state = (gpointer) &two;
  executable->kernels[1].pack = NULL;
  executor = gantry_executor_new (device, executable, NULL, NULL);
  g_assert_nonnull (executor);
  gantry_executor_set_verify (executor, GANTRY_VERIFY_WRITES);
  g_assert_false (gantry_executor_run (executor, &input, 1, &output, 1, NULL, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_FAILED);
  g_assert_nonnull (strstr (error->message, "writes into the constants"));
}

/* A result that reads what was never written shows under poison. */
static void
test_verify_poison (void)
{
  Fake f = fake_begin ();
  guint32 x = fake_value (&f, TRUE, N, "x"), y = fake_value (&f, FALSE, N, "y"), r = fake_value (&f, FALSE, N, "r");
  guint32 bx = fake_buffer (&f, x, GANTRY_BUFFER_INPUT, 0, N, 0, 1);
  guint32 by = fake_buffer (&f, y, GANTRY_BUFFER_TEMPORARY, 448, N, 0, 1);
  guint32 br = fake_buffer (&f, r, GANTRY_BUFFER_OUTPUT, 896, N, 1, 1);
  g_autoptr (GantryExecutable) executable = NULL;
  g_autoptr (GantryExecutor) executor = NULL;
  float in[N] = { 0 }, out[N];
  GantryRunInput input = { in, sizeof in };
  GantryRunOutput output = { out, sizeof out };

  fake_launch (&f, y, 0, kernel_later, &(Brake){ NULL }, 1, FAKE_BUFFERS (bx, by)); /* forgets to write y */
  fake_launch (&f, r, 1, kernel_scale, (gpointer) &two, N, FAKE_BUFFERS (by, br));
  executable = fake_end (&f, 1, &br);
  executor = load (executable, 1);
  gantry_executor_set_verify (executor, GANTRY_VERIFY_POISON);
  g_assert_true (gantry_executor_run (executor, &input, 1, &output, 1, NULL, NULL, NULL));
  for (guint i = 0; i < N; i++)
    {
      guint32 poison = 0xa5a5a5a5;
      float value;

      memcpy (&value, &poison, 4);
      g_assert_cmpfloat (out[i], ==, 2 * value);
    }
}

/* Not judged, only told: what a launch costs. */
static void
test_overhead (void)
{
  for (guint round = 0; round < 3; round++)
    {
      guint threads = MIN (round + 1, 2);
      gboolean shared = round == 2; /* as if it were worth it */
      Fake f = fake_begin ();
      guint32 x = fake_value (&f, TRUE, N, "x"), bx = fake_buffer (&f, x, GANTRY_BUFFER_INPUT, 0, N, 0, 11), br = bx;
      g_autoptr (GantryExecutable) executable = NULL;
      g_autoptr (GantryExecutor) executor = NULL;
      static const float one = 1;
      gint64 start;

      for (guint32 s = 0; s < 12; s++)
        {
          guint32 y = fake_value (&f, FALSE, N, "y"), from = br, i;

          br = fake_buffer (&f, y, s == 11 ? GANTRY_BUFFER_OUTPUT : GANTRY_BUFFER_TEMPORARY, 0, N, s, MIN (s + 1, 11));
          FAKE_BUFFER (&f, br)->shares = from;
          FAKE_BUFFER (&f, br)->in_place = TRUE;
          i = fake_launch (&f, y, s, kernel_scale, (gpointer) &one, N, FAKE_BUFFERS (from, br));
          g_array_index (f.kernels, GantryKernel, FAKE_INSTRUCTION (&f, i)->kernel).flops = shared ? -1 : N;
          g_array_index (f.kernels, GantryKernel, FAKE_INSTRUCTION (&f, i)->kernel).bytes = 8 * N;
        }
      executable = fake_end (&f, 1, &br);
      executor = load (executable, threads);
      start = gantry_time_ns ();
      for (guint k = 0; k < 2000; k++)
        {
          float in[N] = { 0 }, out[N];

          g_assert_true (gantry_executor_run (executor, &(GantryRunInput){ in, sizeof in }, 1, &(GantryRunOutput){ out, sizeof out }, 1, NULL, NULL, NULL));
        }
      g_test_message ("%u threads%s: %.3f us for each of 12 small kernels", threads, shared ? ", shared" : "",
                      (double) (gantry_time_ns () - start) / 2000 / 12 / 1e3);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/runtime/executor/chain", test_chain);
  g_test_add_func ("/runtime/executor/observer", test_observer);
  g_test_add_func ("/runtime/executor/constants", test_constants);
  g_test_add_func ("/runtime/executor/sizes", test_sizes);
  g_test_add_func ("/runtime/executor/literals", test_literals);
  g_test_add_func ("/runtime/executor/limit", test_limit);
  g_test_add_func ("/runtime/executor/cancel", test_cancel);
  g_test_add_func ("/runtime/executor/invalid", test_invalid);
  g_test_add_func ("/runtime/executor/verify-places", test_verify_places);
  g_test_add_func ("/runtime/executor/verify-writes", test_verify_writes);
  g_test_add_func ("/runtime/executor/verify-constants", test_verify_constants);
  g_test_add_func ("/runtime/executor/verify-poison", test_verify_poison);
  g_test_add_func ("/runtime/executor/overhead", test_overhead);
  return g_test_run ();
}
