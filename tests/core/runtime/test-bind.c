/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs and results where the caller has them: what is used in place, what is copied, and that nothing is written that is not
 * donated. */
#include "core/base/pages.h"
#include "tests/core/runtime/fake.h"
#include <string.h>

#define N 1000
#define SPARE 16
#define BYTES (N * sizeof (float))
static const float two = 2, three = 3;

static GMutex seen_lock;

/* A kernel that remembers where its operand and its result were. */
typedef struct
{
  float factor;
  const void *from, *to;
} Scale;

static void
kernel_watched (gconstpointer state, void *const *buffers, gint64 begin, gint64 end)
{
  Scale *scale = (Scale *) state;

  kernel_scale (&scale->factor, buffers, begin, end);
  g_mutex_lock (&seen_lock);
  scale->from = buffers[0];
  scale->to = buffers[1];
  g_mutex_unlock (&seen_lock);
}

/* r = factor x, in places of their own. */
static GantryExecutable *
apart (Scale *scale)
{
  Fake f = fake_begin ();
  guint32 x = fake_value (&f, TRUE, N, "x"), r = fake_value (&f, FALSE, N, "r");
  guint32 bx = fake_buffer (&f, x, GANTRY_BUFFER_INPUT, 0, N, 0, 0);
  guint32 br = fake_buffer (&f, r, GANTRY_BUFFER_OUTPUT, 4032, N, 0, 0);

  fake_launch (&f, r, 0, kernel_watched, scale, N, FAKE_BUFFERS (bx, br));
  return fake_end (&f, 1, &br);
}

/* r = factor x, written over x; @donated: x is a parameter that r is donated to. */
static GantryExecutable *
over (Scale *scale, gboolean donated)
{
  Fake f = fake_begin ();
  gint64 n = N;
  g_autoptr (GantryAttrList) attrs = gantry_attr_list_new (f.context);
  GantryNode node = { .op = GANTRY_OP_PARAMETER, .type = gantry_context_tensor (f.context, GANTRY_F32, 1, &n) };
  guint32 x, r, bx, br;

  if (donated)
    gantry_attr_list_set_int (attrs, "alias", 0);
  node.attrs = gantry_attr_list_end (g_steal_pointer (&attrs));
  node.name = gantry_context_intern (f.context, "x");
  x = gantry_builder_add_node (f.builder, &node, NULL, NULL);
  r = fake_value (&f, FALSE, N, "r");
  bx = fake_buffer (&f, x, GANTRY_BUFFER_INPUT, 0, N, 0, 0);
  br = fake_buffer (&f, r, GANTRY_BUFFER_OUTPUT, 0, N, 0, 0);
  FAKE_BUFFER (&f, br)->shares = bx;
  FAKE_BUFFER (&f, br)->in_place = TRUE;
  fake_launch (&f, r, 0, kernel_watched, scale, N, FAKE_BUFFERS (bx, br));
  return fake_end (&f, 1, &br);
}

typedef struct
{
  GantryExecutable *executable;
  GantryExecutor *executor;
  float *x, *r; /* SPARE elements more than a value has */
} Case;

static Case
begin (GantryExecutable *executable)
{
  g_autoptr (GantryDevice) device = gantry_cpu_device_new (2);
  g_autoptr (GError) error = NULL;
  Case c = { executable, gantry_executor_new (device, executable, NULL, &error) };

  g_assert_no_error (error);
  c.x = gantry_pages_new (BYTES + SPARE * sizeof (float));
  c.r = gantry_pages_new (BYTES + SPARE * sizeof (float));
  for (guint i = 0; i < N + SPARE; i++)
    c.x[i] = (float) i;
  return c;
}

static void
end (Case *c)
{
  gantry_executor_free (c->executor);
  gantry_executable_unref (c->executable);
  gantry_pages_free (c->x);
  gantry_pages_free (c->r);
}

static void
run (Case *c, const float *x, float *r, gboolean donated)
{
  GantryRunInput input = { x, BYTES, donated };
  GantryRunOutput output = { r, BYTES };
  g_autoptr (GError) error = NULL;

  gantry_executor_run (c->executor, &input, 1, &output, 1, NULL, NULL, &error);
  g_assert_no_error (error);
}

static void
check (const float *r, float factor, guint first)
{
  for (guint i = 0; i < N; i++)
    g_assert_cmpfloat (r[i], ==, factor * (float) (i + first));
}

static void
test_in_place (void)
{
  Scale scale = { two };
  Case c = begin (apart (&scale));

  run (&c, c.x, c.r, FALSE);
  check (c.r, 2, 0);
  g_assert_true (scale.from == c.x && scale.to == c.r);
  g_assert_cmpuint (gantry_executor_copied_bytes (c.executor), ==, 0);
  /* Without data: what is there stays. */
  c.x[0] = 7;
  run (&c, NULL, c.r, FALSE);
  g_assert_cmpfloat (c.r[0], ==, 14);
  /* Other memory. */
  c.x[0] = 0;
  run (&c, c.r, c.x, FALSE);
  g_assert_true (scale.from == c.r && scale.to == c.x);
  g_assert_cmpfloat (c.x[0], ==, 28);
  for (guint i = 0; i < N + SPARE; i++)
    c.x[i] = (float) i;
  run (&c, c.x, c.r, FALSE);
  /* Checked: in the arena, but for what is kept. */
  gantry_executor_set_verify (c.executor, GANTRY_VERIFY_PLACES | GANTRY_VERIFY_POISON | GANTRY_VERIFY_WRITES);
  run (&c, NULL, c.r, FALSE);
  check (c.r, 2, 0);
  check (c.x, 1, 0);
  g_assert_true (scale.from == c.x && scale.to != c.r);
  run (&c, c.x, c.r, FALSE);
  check (c.r, 2, 0);
  check (c.x, 1, 0);
  g_assert_true (scale.from != c.x && scale.to != c.r);
  gantry_executor_set_verify (c.executor, 0);
  /* A result that nobody reads is not written into memory of before. */
  c.r[3] = -1;
  run (&c, c.x, NULL, FALSE);
  g_assert_cmpfloat (c.r[3], ==, -1);
  end (&c);
}

static void
test_copied (void)
{
  Scale scale = { three };
  Case c = begin (apart (&scale));

  run (&c, c.x + 1, c.r, FALSE);
  check (c.r, 3, 1);
  g_assert_true (scale.from != c.x + 1 && scale.to == c.r);
  g_assert_cmpuint (gantry_executor_copied_bytes (c.executor), ==, BYTES);
  run (&c, c.x, c.r + 1, FALSE);
  check (c.r + 1, 3, 0);
  g_assert_true (scale.from == c.x && scale.to != c.r + 1);
  g_assert_cmpuint (gantry_executor_copied_bytes (c.executor), ==, BYTES);
  /* A result over its input: the program reads elements after it has written others. */
  run (&c, c.x, c.x, FALSE);
  check (c.x, 3, 0);
  g_assert_true (scale.to != c.x);
  g_assert_cmpuint (gantry_executor_copied_bytes (c.executor), ==, BYTES);
  run (&c, NULL, c.x + 16, FALSE);
  g_assert_true (scale.to != c.x + 16);
  end (&c);
}

/* What the program writes over is copied: the caller's values stay. */
static void
test_kept (void)
{
  Scale scale = { two };

  for (guint donated = 0; donated < 2; donated++)
    {
      Case c = begin (over (&scale, donated));

      run (&c, c.x, c.r, FALSE);
      check (c.x, 1, 0);
      check (c.r, 2, 0);
      g_assert_true (scale.from != c.x);
      g_assert_cmpuint (gantry_executor_copied_bytes (c.executor), ==, 2 * BYTES);
      end (&c);
    }
  {
    Case c = begin (over (&scale, FALSE));

    /* Given away, but nothing is donated to it: what lies there afterwards is not said, and so it is left alone. */
    run (&c, c.x, c.r, TRUE);
    check (c.x, 1, 0);
    end (&c);
  }
}

static void
test_donated (void)
{
  Scale scale = { two };
  Case c = begin (over (&scale, TRUE));
  GantryRunInput input = { c.x, BYTES, TRUE };
  GantryRunOutput output = { c.x, BYTES };
  g_autoptr (GError) error = NULL;

  g_assert_true (gantry_executor_run_steps (c.executor, 3, &input, 1, &output, 1, NULL, NULL, NULL, &error));
  g_assert_no_error (error);
  check (c.x, 8, 0);
  g_assert_true (scale.from == c.x && scale.to == c.x);
  g_assert_cmpuint (gantry_executor_copied_bytes (c.executor), ==, 0);
  /* The same, but the last result is wanted elsewhere too. */
  for (guint i = 0; i < N; i++)
    c.x[i] = (float) i;
  output.data = c.r;
  g_assert_true (gantry_executor_run_steps (c.executor, 3, &input, 1, &output, 1, NULL, NULL, NULL, &error));
  check (c.x, 8, 0);
  check (c.r, 8, 0);
  g_assert_cmpuint (gantry_executor_copied_bytes (c.executor), ==, BYTES);
  gantry_executor_set_verify (c.executor, GANTRY_VERIFY_PLACES | GANTRY_VERIFY_POISON | GANTRY_VERIFY_WRITES);
  g_assert_true (gantry_executor_run_steps (c.executor, 2, &input, 1, &output, 1, NULL, NULL, NULL, &error));
  check (c.r, 32, 0);
  end (&c);
}

/* The parts of a place move together: a view with an offset, and a result that lies in a larger place, which cannot move. */
static void
test_views (void)
{
  Fake f = fake_begin ();
  guint32 x = fake_value (&f, TRUE, N, "x"), v = fake_value (&f, FALSE, N - 100, "v");
  guint32 w = fake_value (&f, FALSE, N, "w"), r = fake_value (&f, FALSE, N - 100, "r"), s = fake_value (&f, FALSE, N, "s");
  guint32 bx = fake_buffer (&f, x, GANTRY_BUFFER_INPUT, 0, N, 0, 1);
  guint32 bv = fake_buffer (&f, v, GANTRY_BUFFER_TEMPORARY, 400, N - 100, 0, 1);
  guint32 bw = fake_buffer (&f, w, GANTRY_BUFFER_TEMPORARY, 4032, N, 0, 1);
  guint32 br = fake_buffer (&f, r, GANTRY_BUFFER_OUTPUT, 4032, N - 100, 1, 1);
  guint32 bs = fake_buffer (&f, s, GANTRY_BUFFER_OUTPUT, 8064, N, 0, 1);
  guint32 outputs[] = { br, bs };
  Case c;
  GantryRunInput input;
  GantryRunOutput wanted[2];
  g_autoptr (GError) error = NULL;

  FAKE_BUFFER (&f, bv)->shares = bx;
  FAKE_BUFFER (&f, br)->shares = bw;
  fake_launch (&f, w, 0, kernel_scale, (gpointer) &two, N, FAKE_BUFFERS (bx, bw));
  fake_launch (&f, s, 0, kernel_scale, (gpointer) &three, N, FAKE_BUFFERS (bx, bs));
  fake_launch (&f, r, 1, kernel_scale, (gpointer) &three, N - 100, FAKE_BUFFERS (bv, br));
  c = begin (fake_end (&f, 2, outputs));
  input = (GantryRunInput){ c.x, BYTES };
  wanted[0] = (GantryRunOutput){ c.r, BYTES - 400 };
  wanted[1] = (GantryRunOutput){ gantry_pages_new (BYTES), BYTES };
  for (guint i = 0; i < 3; i++)
    {
      gantry_executor_run (c.executor, &input, 1, wanted, 2, NULL, NULL, &error);
      g_assert_no_error (error);
      for (guint k = 0; k < N - 100; k++)
        g_assert_cmpfloat (c.r[k], ==, 3 * (float) (k + 100));
      check (wanted[1].data, 3, 0);
      g_assert_cmpuint (gantry_executor_copied_bytes (c.executor), ==, BYTES - 400);
    }
  gantry_pages_free (wanted[1].data);
  end (&c);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bind/in-place", test_in_place);
  g_test_add_func ("/bind/copied", test_copied);
  g_test_add_func ("/bind/kept", test_kept);
  g_test_add_func ("/bind/donated", test_donated);
  g_test_add_func ("/bind/views", test_views);
  return g_test_run ();
}
