/* SPDX-License-Identifier: Apache-2.0 */
/* Bound programs written by hand, lowered for the processor: what threads of a block do together, memory that lives from
 * launch to launch, what is loaded late, matrices in fragments, and the faults that are found before any code is made. */
#include "core/graph/literal.h"
#include "core/kernels/cpu/grid-cpu.h"
#include "core/kernels/cpu/jit.h"
#include "core/kernels/schedule/bind.h"
#include "core/plan/executable.h"
#include "tests/random-seed.h"
#include <math.h>
#include <string.h>

/* Programs */

typedef struct
{
  GantryContext *context;
  GantryKxInput inputs[4];
  guint n_inputs;
  GantryBound *bound;
  GantryKx *kx;
  GantryGrid *grid;
} Program;

static void
add_input (Program *p, GantryElementType element, gint64 count)
{
  const GantryType *type = gantry_context_type (p->context, gantry_context_tensor (p->context, element, 1, (GantryDim[]){ count }));

  p->inputs[p->n_inputs].type = type;
  gantry_kx_layout_plain (&p->inputs[p->n_inputs++].layout, type);
}

static void
program_begin (Program *p)
{
  *p = (Program){ .context = gantry_context_new (), .bound = gantry_bound_new () };
}

static void
program_launch (Program *p, guint32 blocks, guint32 threads)
{
  if (p->kx == NULL)
    p->kx = gantry_kx_new (p->inputs, p->n_inputs);
  p->grid = gantry_bound_add (p->bound, p->kx, (guint32[]){ blocks, 1, 1 }, (guint32[]){ threads, 1, 1 });
}

static void
program_end (Program *p)
{
  gantry_bound_free (p->bound);
  gantry_context_unref (p->context);
}

static guint32
integer (const Program *p, gint64 value)
{
  return gantry_kx_const_int (p->kx, GANTRY_I64, value);
}

static guint32
sum (const Program *p, guint32 x, gint64 x_factor, guint32 y, gint64 y_factor)
{
  return gantry_kx_linear (p->kx, 0, (GantryKxTerm[]){ { x, x_factor }, { y, y_factor } }, 2);
}

static guint32
op (const Program *p, GantryElementType type, GantryOp which, guint32 x, guint32 y)
{
  return gantry_kx_binary (p->kx, type, which, 0, x, y);
}

static guint32
less (const Program *p, guint32 x, guint32 y)
{
  return gantry_kx_binary (p->kx, GANTRY_BOOL, GANTRY_OP_COMPARE, GANTRY_LT, x, y);
}

static guint32
block_axis (const Program *p)
{
  return gantry_grid_index (p->grid, GANTRY_AXIS_BLOCK_X, p->grid->grid[0]);
}

static guint32
thread_axis (const Program *p)
{
  return gantry_grid_index (p->grid, GANTRY_AXIS_THREAD_X, p->grid->block[0]);
}

/* Checks, compiles and runs all blocks over @buffers (operands, results, workspace), in tasks as they come. */
static void
run (const Program *p, guint n_results, void *const *buffers)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryCompiler) compiler = gantry_compiler_new (NULL, 2, &error);
  g_autoptr (GantryJit) jit = gantry_jit_new (&error);
  LLVMMemoryBufferRef object;
  GantryKernelFunc func;
  gint64 n_tasks;

  g_assert_no_error (error);
  for (guint i = 0; i < p->bound->grids->len; i++)
    gantry_grid_check (g_ptr_array_index (p->bound->grids, i), NULL, &error);
  g_assert_no_error (error);
  object = gantry_grid_to_cpu (compiler, p->bound, "program", p->n_inputs, n_results, &n_tasks, NULL, NULL, &error);
  g_assert_no_error (error);
  gantry_jit_add (jit, object, &error);
  g_assert_no_error (error);
  func = (GantryKernelFunc) gantry_jit_find (jit, "program", &error);
  g_assert_no_error (error);
  for (gint64 at = 0; at < n_tasks; at += 3)
    func (NULL, buffers, at, MIN (at + 3, n_tasks));
}

static float *
random_floats (gsize n, guint32 seed)
{
  g_autoptr (GRand) rand = test_rand (seed);
  float *list = g_new (float, n);

  for (gsize i = 0; i < n; i++)
    list[i] = (float) g_rand_double_range (rand, -1, 1);
  return list;
}

/* Sums of blocks: through shared memory, or from lane to lane of the warps first. */

static guint32
warp_sum (const Program *p, guint32 x)
{
  for (guint mask = 16; mask > 0; mask /= 2)
    x = gantry_grid_let (p->grid, op (p, GANTRY_F32, GANTRY_OP_ADD, x, gantry_grid_shuffle (p->grid, x, mask)));
  return x;
}

static void
test_block_sums (void)
{
  enum
  {
    BLOCKS = 5,
    THREADS = 128
  };
  g_autofree float *x = random_floats (BLOCKS * THREADS, 1);
  float tree[BLOCKS], warps[BLOCKS];
  guint32 thread, shared, value, first, results[2], b;
  Program p;

  program_begin (&p);
  add_input (&p, GANTRY_F32, BLOCKS * THREADS);
  program_launch (&p, BLOCKS, THREADS);
  b = block_axis (&p);
  thread = thread_axis (&p);
  for (guint i = 0; i < 2; i++)
    results[i] = gantry_grid_array (p.grid, GANTRY_SPACE_RESULT, GANTRY_F32, BLOCKS, i, "sums");
  shared = gantry_grid_array (p.grid, GANTRY_SPACE_SHARED, GANTRY_F32, THREADS, 0, "partial");
  value = gantry_grid_let (p.grid, gantry_kx_load (p.kx, 0, sum (&p, b, THREADS, thread, 1)));
  gantry_grid_set (p.grid, shared, thread, value);
  gantry_grid_barrier (p.grid);
  for (gint64 half = THREADS / 2; half > 0; half /= 2)
    {
      guint32 mine, other;

      gantry_grid_begin_if (p.grid, less (&p, thread, integer (&p, half)));
      mine = gantry_grid_get (p.grid, shared, thread);
      other = gantry_grid_get (p.grid, shared, gantry_kx_linear (p.kx, half, (GantryKxTerm[]){ { thread, 1 } }, 1));
      gantry_grid_set (p.grid, shared, thread, op (&p, GANTRY_F32, GANTRY_OP_ADD, mine, other));
      gantry_grid_end (p.grid);
      gantry_grid_barrier (p.grid);
    }
  first = gantry_grid_get (p.grid, shared, integer (&p, 0));
  gantry_grid_set (p.grid, results[0], b, first);
  gantry_grid_barrier (p.grid);
  /* What was loaded before the barriers is still there. */
  value = warp_sum (&p, value);
  gantry_grid_set (p.grid, shared, thread, value);
  gantry_grid_barrier (p.grid);
  value = gantry_grid_get (p.grid, shared, integer (&p, 0));
  for (gint64 w = 32; w < THREADS; w += 32)
    value = op (&p, GANTRY_F32, GANTRY_OP_ADD, value, gantry_grid_get (p.grid, shared, integer (&p, w)));
  gantry_grid_set (p.grid, results[1], b, value);
  run (&p, 2, (void *[]){ x, tree, warps });
  for (guint i = 0; i < BLOCKS; i++)
    {
      double want = 0;

      for (guint t = 0; t < THREADS; t++)
        want += (double) x[i * THREADS + t];
      g_assert_cmpfloat_with_epsilon (tree[i], want, 1e-5);
      g_assert_cmpfloat_with_epsilon (warps[i], want, 1e-5);
    }
  program_end (&p);
}

/* A loop with barriers whose bound is loaded: rows of a tile go around. Conditions with an else, private memory that lives
 * across barriers, and a guard around everything. */
static void
test_uniform_loop (void)
{
  enum
  {
    THREADS = 64
  };
  gint64 rounds[1] = { 5 }, out[THREADS];
  guint32 thread, shared, private, result, n, value, next;
  Program p;

  program_begin (&p);
  add_input (&p, GANTRY_I64, 1);
  program_launch (&p, 1, THREADS);
  thread = thread_axis (&p);
  result = gantry_grid_array (p.grid, GANTRY_SPACE_RESULT, GANTRY_I64, THREADS, 0, "out");
  shared = gantry_grid_array (p.grid, GANTRY_SPACE_SHARED, GANTRY_I64, THREADS, 0, "ring");
  private = gantry_grid_array (p.grid, GANTRY_SPACE_PRIVATE, GANTRY_I64, 1, 0, "seen");
  n = gantry_grid_let (p.grid, gantry_kx_load (p.kx, 0, integer (&p, 0)));
  gantry_grid_assume (p.grid, n, 0, 100);
  gantry_grid_set (p.grid, shared, thread, thread);
  gantry_grid_set (p.grid, private, integer (&p, 0), integer (&p, 0));
  gantry_grid_begin_for (p.grid, integer (&p, 0), n, 1, FALSE);
  gantry_grid_barrier (p.grid);
  next = gantry_kx_linear (p.kx, 1, (GantryKxTerm[]){ { thread, 1 } }, 1);
  next = op (&p, GANTRY_I64, GANTRY_OP_REMAINDER, next, integer (&p, THREADS));
  value = gantry_grid_get (p.grid, shared, next);
  gantry_grid_barrier (p.grid);
  gantry_grid_set (p.grid, shared, thread, value);
  gantry_grid_begin_if (p.grid, less (&p, value, integer (&p, 10)));
  gantry_grid_set (p.grid, private, integer (&p, 0), sum (&p, gantry_grid_get (p.grid, private, integer (&p, 0)), 1, value, 1));
  gantry_grid_begin_else (p.grid);
  gantry_grid_set (p.grid, private, integer (&p, 0),
                   gantry_kx_linear (p.kx, 1000, (GantryKxTerm[]){ { gantry_grid_get (p.grid, private, integer (&p, 0)), 1 } }, 1));
  gantry_grid_end (p.grid);
  gantry_grid_end (p.grid);
  gantry_grid_set (p.grid, result, thread, gantry_grid_get (p.grid, private, integer (&p, 0)));
  run (&p, 1, (void *[]){ rounds, out });
  for (gint64 t = 0; t < THREADS; t++)
    {
      gint64 want = 0;

      for (gint64 i = 1; i <= rounds[0]; i++)
        want += (t + i) % THREADS < 10 ? (t + i) % THREADS : 1000;
      g_assert_cmpint (out[t], ==, want);
    }
  program_end (&p);
}

/* Results of the first launch, in workspace, are what the second one reads. */
static void
test_launches (void)
{
  enum
  {
    N = 1000,
    THREADS = 32
  };
  g_autofree float *x = random_floats (N, 2);
  g_autofree guint8 *workspace = NULL;
  float out[N];
  guint64 slot, other;
  guint32 number, array, b, t;
  Program p;

  program_begin (&p);
  add_input (&p, GANTRY_F32, N);
  other = gantry_bound_reserve (p.bound, 100);
  slot = gantry_bound_reserve (p.bound, N * sizeof (float));
  g_assert_cmpint ((gint64) other, ==, 0);
  g_assert_cmpint ((gint64) slot, ==, 256);
  workspace = g_malloc (p.bound->workspace_bytes);
  for (guint launch = 0; launch < 2; launch++)
    {
      guint32 kept;

      program_launch (&p, (N + THREADS - 1) / THREADS, THREADS);
      b = block_axis (&p);
      t = thread_axis (&p);
      number = sum (&p, b, THREADS, t, 1);
      kept = gantry_grid_array (p.grid, GANTRY_SPACE_WORKSPACE, GANTRY_F32, N, slot, "kept");
      array = gantry_grid_array (p.grid, GANTRY_SPACE_RESULT, GANTRY_F32, N, 0, "out");
      gantry_grid_begin_if (p.grid, less (&p, number, integer (&p, N)));
      if (launch == 0)
        gantry_grid_set (p.grid, kept, number, gantry_kx_unary (p.kx, GANTRY_F32, GANTRY_OP_NEGATE, gantry_kx_load (p.kx, 0, number)));
      else /* from the other end */
        gantry_grid_set (p.grid, array, number, gantry_grid_get (p.grid, kept, gantry_kx_linear (p.kx, N - 1, (GantryKxTerm[]){ { number, -1 } }, 1)));
      gantry_grid_end (p.grid);
    }
  run (&p, 1, (void *[]){ x, out, workspace });
  for (guint i = 0; i < N; i++)
    g_assert_true (out[i] == -x[N - 1 - i]);
  program_end (&p);
}

/* Lanes: neighbouring elements in pieces, elements across, the lane's own number, and values of the store before. */
static void
test_lanes (void)
{
  enum
  {
    N = 256,
    LANES = 8
  };
  g_autofree float *x = random_floats (2 * N, 3);
  guint16 half[N];
  float out[N], turned[N];
  guint32 b, t, lane, first, at, value, arrays[2], copies[LANES];
  guint v;
  Program p;

  for (guint i = 0; i < N; i++)
    half[i] = gantry_f32_to_f16 (x[i] * 3);
  program_begin (&p);
  add_input (&p, GANTRY_F32, 2 * N);
  add_input (&p, GANTRY_F16, N);
  program_launch (&p, 2, N / LANES / 2);
  b = block_axis (&p);
  t = thread_axis (&p);
  arrays[0] = gantry_grid_array (p.grid, GANTRY_SPACE_RESULT, GANTRY_F32, N, 0, "out");
  arrays[1] = gantry_grid_array (p.grid, GANTRY_SPACE_WORKSPACE, GANTRY_F32, N, 0, "turned");
  gantry_bound_reserve (p.bound, sizeof turned);
  v = gantry_grid_variable (p.grid, GANTRY_AXIS_LANE, LANES);
  lane = gantry_kx_index (p.kx, v);
  first = sum (&p, b, N / 2, t, LANES);
  at = sum (&p, first, 1, lane, 1);
  value = op (&p, GANTRY_F32, GANTRY_OP_ADD, gantry_kx_load (p.kx, 0, gantry_kx_linear (p.kx, 4, (GantryKxTerm[]){ { at, 1 } }, 1)),
              gantry_kx_cast (p.kx, GANTRY_F32, gantry_kx_load (p.kx, 1, at)));
  value = op (&p, GANTRY_F32, GANTRY_OP_ADD, value, gantry_kx_load (p.kx, 0, sum (&p, at, 2, at, 0)));
  value = op (&p, GANTRY_F32, GANTRY_OP_MULTIPLY, value, gantry_kx_cast (p.kx, GANTRY_F32, lane));
  gantry_grid_set_lanes (p.grid, arrays[0], first, value, v, LANES);
  gantry_grid_get_lanes (p.grid, arrays[0], first, LANES, copies);
  for (guint l = 0; l < LANES; l++)
    gantry_grid_set (p.grid, arrays[1], gantry_kx_linear (p.kx, LANES - 1 - l, (GantryKxTerm[]){ { first, 1 } }, 1), copies[l]);
  run (&p, 1, (void *[]){ x, half, out, turned });
  for (guint i = 0; i < N; i++)
    {
      float want = ((x[i + 4] + gantry_f16_to_f32 (half[i])) + x[2 * i]) * (float) (i % LANES);

      g_assert_cmpfloat_with_epsilon (out[i], want, 1e-6);
      g_assert_true (turned[i / LANES * LANES + LANES - 1 - i % LANES] == out[i]);
    }
  program_end (&p);
}

/* Fetches in two stages, each awaited before its barrier; or, when @early, one group too few. */
static void
fetch (gboolean early, gboolean *has_nan)
{
  enum
  {
    THREADS = 32,
    STAGES = 6,
    ROW = THREADS * 4
  };
  g_autofree float *x = random_floats (STAGES * ROW, 4);
  float out[ROW] = { 0 };
  guint32 t, shared, total, result, k, values[4];
  Program p;

  program_begin (&p);
  add_input (&p, GANTRY_F32, STAGES * ROW);
  program_launch (&p, 1, THREADS);
  t = thread_axis (&p);
  result = gantry_grid_array (p.grid, GANTRY_SPACE_RESULT, GANTRY_F32, ROW, 0, "out");
  shared = gantry_grid_array (p.grid, GANTRY_SPACE_SHARED, GANTRY_F32, 2 * ROW, 0, "stages");
  total = gantry_grid_array (p.grid, GANTRY_SPACE_PRIVATE, GANTRY_F32, 4, 0, "total");
  for (gint64 l = 0; l < 4; l++)
    gantry_grid_set (p.grid, total, integer (&p, l), gantry_kx_const_float (p.kx, GANTRY_F32, 0));
  gantry_grid_fetch (p.grid, shared, sum (&p, t, 4, t, 0), 0, sum (&p, t, 4, t, 0), GANTRY_GRID_NONE, 4);
  gantry_grid_commit (p.grid);
  k = gantry_grid_begin_for_to (p.grid, STAGES, FALSE);
  gantry_grid_begin_if (p.grid, less (&p, k, integer (&p, STAGES - 1)));
  {
    guint32 next = gantry_kx_linear (p.kx, 1, (GantryKxTerm[]){ { k, 1 } }, 1);
    guint32 half = op (&p, GANTRY_I64, GANTRY_OP_REMAINDER, next, integer (&p, 2));

    gantry_grid_fetch (p.grid, shared, sum (&p, half, ROW, t, 4), 0, sum (&p, next, ROW, t, 4), GANTRY_GRID_NONE, 4);
  }
  gantry_grid_end (p.grid);
  gantry_grid_commit (p.grid);
  gantry_grid_await (p.grid, early ? 2 : 1);
  gantry_grid_barrier (p.grid);
  {
    /* Of another thread's fetch. */
    guint32 other = gantry_kx_linear (p.kx, 4 * (THREADS - 1), (GantryKxTerm[]){ { t, -4 } }, 1);

    gantry_grid_get_lanes (p.grid, shared, sum (&p, op (&p, GANTRY_I64, GANTRY_OP_REMAINDER, k, integer (&p, 2)), ROW, other, 1), 4, values);
  }
  for (gint64 l = 0; l < 4; l++)
    gantry_grid_set (p.grid, total, integer (&p, l), op (&p, GANTRY_F32, GANTRY_OP_ADD, gantry_grid_get (p.grid, total, integer (&p, l)), values[l]));
  gantry_grid_barrier (p.grid);
  gantry_grid_end (p.grid);
  for (gint64 l = 0; l < 4; l++)
    gantry_grid_set (p.grid, result, gantry_kx_linear (p.kx, l, (GantryKxTerm[]){ { t, 4 } }, 1), gantry_grid_get (p.grid, total, integer (&p, l)));
  run (&p, 1, (void *[]){ x, out });
  *has_nan = FALSE;
  for (guint i = 0; i < ROW; i++)
    {
      guint from = (THREADS - 1 - i / 4) * 4 + i % 4;
      double want = 0;

      for (guint s = 0; s < STAGES; s++)
        want += (double) x[s * ROW + from];
      *has_nan = *has_nan || isnan (out[i]);
      if (!early)
        g_assert_cmpfloat_with_epsilon (out[i], want, 1e-5);
    }
  program_end (&p);
}

static void
test_fetch (void)
{
  gboolean has_nan;

  fetch (FALSE, &has_nan);
  g_assert_false (has_nan);
  /* What a GPU would do by chance is seen here each time. */
  fetch (TRUE, &has_nan);
  g_assert_true (has_nan);
}

/* Matrices: 16 x k times k x 8 by one warp; A by rows and B by columns or by rows (then transposed on its way). */

typedef struct
{
  GantryMmaShape shape;
  gboolean b_by_rows;
} MatrixCase;

static float
number_of (GantryElementType element, const guint8 *p)
{
  return (float) gantry_element_read_double (element, p);
}

static void
load_fragments (const Program *p, const MatrixCase *c, GantryElementType element, guint depth, guint32 lane, guint32 a, guint32 b)
{
  gint64 row = 16 / (gint64) gantry_element_size (element); /* elements of a row of a matrix */
  guint32 zero = integer (p, 0), eight = integer (p, 8), shared[2], at, k;
  const gint64 sizes[2] = { 16 * depth, 8 * depth };
  guint32 low = op (p, GANTRY_I64, GANTRY_OP_REMAINDER, lane, eight), high = op (p, GANTRY_I64, GANTRY_OP_DIVIDE, lane, eight);

  for (guint i = 0; i < 2; i++)
    {
      shared[i] = gantry_grid_array (p->grid, GANTRY_SPACE_SHARED, element, (guint64) sizes[i], 0, i == 0 ? "a" : "b");
      k = gantry_grid_begin_for_to (p->grid, sizes[i] / 32, FALSE);
      at = sum (p, k, 32, lane, 1);
      gantry_grid_set (p->grid, shared[i], at, gantry_kx_load (p->kx, i, at));
      gantry_grid_end (p->grid);
    }
  gantry_grid_barrier (p->grid);
  /* Four matrices of A: rows 0 to 7, rows 8 to 15, then the same with the right half of the columns. */
  at = gantry_kx_linear (p->kx, 0,
                         (GantryKxTerm[]){ { low, depth },
                                           { op (p, GANTRY_I64, GANTRY_OP_REMAINDER, high, integer (p, 2)), 8 * depth },
                                           { op (p, GANTRY_I64, GANTRY_OP_DIVIDE, high, integer (p, 2)), row } },
                         3);
  gantry_grid_matrix_load (p->grid, a, zero, shared[0], at, 4, FALSE);
  high = op (p, GANTRY_I64, GANTRY_OP_REMAINDER, high, integer (p, 2));
  at = c->b_by_rows ? sum (p, low, 8, high, 64) : sum (p, low, depth, high, row);
  gantry_grid_matrix_load (p->grid, b, zero, shared[1], at, 2, c->b_by_rows);
}

static void
test_matrices (gconstpointer data)
{
  static const GantryElementType elements[] = { GANTRY_F16, GANTRY_BF16, GANTRY_F32 };
  const MatrixCase *c = data;
  GantryElementType element = elements[c->shape];
  guint depth = c->shape == GANTRY_MMA_M16N8K8_TF32 ? 8 : 16;
  gsize size = gantry_element_size (element);
  g_autofree float *x = random_floats (24 * depth, 5);
  guint8 a[16 * 16 * 4], b[16 * 8 * 4];
  float out[16 * 8];
  guint32 lane, fragments[3], result;
  Program p;

  for (guint i = 0; i < 16 * depth; i++)
    gantry_element_write_double (element, a + i * size, (double) x[i]);
  for (guint i = 0; i < 8 * depth; i++)
    gantry_element_write_double (element, b + i * size, (double) x[16 * depth + i]);
  program_begin (&p);
  add_input (&p, element, 16 * depth);
  add_input (&p, element, 8 * depth);
  program_launch (&p, 1, 32);
  lane = thread_axis (&p);
  result = gantry_grid_array (p.grid, GANTRY_SPACE_RESULT, GANTRY_F32, 16 * 8, 0, "out");
  fragments[0] = gantry_grid_array (p.grid, GANTRY_SPACE_PRIVATE, element, depth / 2, 0, "fragment a");
  fragments[1] = gantry_grid_array (p.grid, GANTRY_SPACE_PRIVATE, element, depth / 4, 0, "fragment b");
  fragments[2] = gantry_grid_array (p.grid, GANTRY_SPACE_PRIVATE, GANTRY_F32, 4, 0, "fragment d");
  load_fragments (&p, c, element, depth, lane, fragments[0], fragments[1]);
  for (gint64 i = 0; i < 4; i++)
    gantry_grid_set (p.grid, fragments[2], integer (&p, i), gantry_kx_const_float (p.kx, GANTRY_F32, 0.5));
  gantry_grid_mma (p.grid, c->shape, fragments[2], integer (&p, 0), fragments[0], integer (&p, 0), fragments[1], integer (&p, 0));
  for (gint64 i = 0; i < 4; i++)
    {
      guint32 group = op (&p, GANTRY_I64, GANTRY_OP_DIVIDE, lane, integer (&p, 4));
      guint32 within = op (&p, GANTRY_I64, GANTRY_OP_REMAINDER, lane, integer (&p, 4));

      gantry_grid_set (p.grid, result, gantry_kx_linear (p.kx, i / 2 * 64 + i % 2, (GantryKxTerm[]){ { group, 8 }, { within, 2 } }, 2),
                       gantry_grid_get (p.grid, fragments[2], integer (&p, i)));
    }
  run (&p, 1, (void *[]){ a, b, out });
  for (guint m = 0; m < 16; m++)
    for (guint n = 0; n < 8; n++)
      {
        double want = 0.5;

        for (guint k = 0; k < depth; k++)
          want += (double) number_of (element, a + (m * depth + k) * size)
                  * (double) number_of (element, b + (c->b_by_rows ? k * 8 + n : n * depth + k) * size);
        g_assert_cmpfloat_with_epsilon (out[m * 8 + n], want, element == GANTRY_F32 ? 4e-3 : 1e-5);
      }
  program_end (&p);
}

/* Faults */

static void
fault_not_ended (Program *p)
{
  gantry_grid_begin_for_to (p->grid, 4, FALSE);
}

static void
fault_scope (Program *p)
{
  guint32 array = gantry_grid_array (p->grid, GANTRY_SPACE_SHARED, GANTRY_F32, 32, 0, "s"), value;

  gantry_grid_begin_if (p->grid, less (p, thread_axis (p), integer (p, 3)));
  value = gantry_grid_let (p->grid, gantry_kx_load (p->kx, 0, integer (p, 0)));
  gantry_grid_end (p->grid);
  gantry_grid_set (p->grid, array, integer (p, 0), value);
}

static void
fault_loop_variable (Program *p)
{
  guint32 array = gantry_grid_array (p->grid, GANTRY_SPACE_SHARED, GANTRY_I64, 32, 0, "s");
  guint32 k = gantry_grid_begin_for_to (p->grid, 4, FALSE);

  gantry_grid_end (p->grid);
  gantry_grid_set (p->grid, array, k, k);
}

static void
fault_barrier_in_condition (Program *p)
{
  gantry_grid_begin_if (p->grid, less (p, thread_axis (p), integer (p, 3)));
  gantry_grid_barrier (p->grid);
  gantry_grid_end (p->grid);
}

static void
fault_barrier_in_loop (Program *p)
{
  guint32 array = gantry_grid_array (p->grid, GANTRY_SPACE_SHARED, GANTRY_I64, 32, 0, "s"), n;

  n = gantry_grid_get (p->grid, array, thread_axis (p));
  gantry_grid_begin_for (p->grid, integer (p, 0), n, 1, FALSE);
  gantry_grid_barrier (p->grid);
  gantry_grid_end (p->grid);
}

static void
fault_else_of_threads (Program *p)
{
  gantry_grid_begin_if (p->grid, less (p, thread_axis (p), integer (p, 3)));
  gantry_grid_begin_else (p->grid);
  gantry_grid_barrier (p->grid);
  gantry_grid_end (p->grid);
}

static void
fault_outside_array (Program *p)
{
  guint32 array = gantry_grid_array (p->grid, GANTRY_SPACE_SHARED, GANTRY_I64, 33, 0, "s"), t = thread_axis (p);

  gantry_grid_set (p->grid, array, gantry_kx_linear (p->kx, 2, (GantryKxTerm[]){ { t, 1 } }, 1), t);
}

static void
fault_unbound (Program *p)
{
  guint32 array = gantry_grid_array (p->grid, GANTRY_SPACE_SHARED, GANTRY_I64, 32, 0, "s");

  gantry_grid_set (p->grid, array, integer (p, 0), gantry_kx_index (p->kx, gantry_kx_add_variable (p->kx, 7)));
}

static void
fault_reduction (Program *p)
{
  guint32 array = gantry_grid_array (p->grid, GANTRY_SPACE_SHARED, GANTRY_F32, 32, 0, "s");
  guint v = gantry_kx_add_variable (p->kx, 7);

  gantry_grid_set (p->grid, array, integer (p, 0),
                   gantry_kx_reduce (p->kx, GANTRY_OP_ADD, gantry_kx_load (p->kx, 0, gantry_kx_index (p->kx, v)), G_GUINT64_CONSTANT (1) << v));
}

static void
fault_fetch (Program *p)
{
  guint32 array = gantry_grid_array (p->grid, GANTRY_SPACE_SHARED, GANTRY_F32, 64, 0, "s"), t = thread_axis (p);

  gantry_grid_fetch (p->grid, array, sum (p, t, 2, t, 0), 0, t, GANTRY_GRID_NONE, 2);
}

static void
fault_predicate (Program *p)
{
  guint32 array = gantry_grid_array (p->grid, GANTRY_SPACE_SHARED, GANTRY_F32, 64, 0, "s"), t = thread_axis (p);

  gantry_grid_fetch (p->grid, array, sum (p, t, 2, t, 0), 0, sum (p, t, 2, t, 0), t, 2);
}

static void
fault_fetch_shared (Program *p)
{
  guint32 array = gantry_grid_array (p->grid, GANTRY_SPACE_SHARED, GANTRY_F32, 64, 0, "s"), t = thread_axis (p);

  gantry_grid_fetch_workspace (p->grid, array, sum (p, t, 2, t, 0), array, sum (p, t, 2, t, 0), 2);
}

static void
fault_shared_memory (Program *p)
{
  gantry_grid_array (p->grid, GANTRY_SPACE_SHARED, GANTRY_F32, 1 << 20, 0, "s");
}

static void
fault_unrolled (Program *p)
{
  guint32 array = gantry_grid_array (p->grid, GANTRY_SPACE_SHARED, GANTRY_I64, 32, 0, "s");

  gantry_grid_begin_for (p->grid, integer (p, 0), gantry_grid_get (p->grid, array, integer (p, 0)), 1, TRUE);
  gantry_grid_end (p->grid);
}

static void
fault_partial_warp (Program *p)
{
  p->grid->block[0] = 40;
  gantry_grid_shuffle (p->grid, gantry_kx_load (p->kx, 0, integer (p, 0)), 1);
}

static void
fault_axis (Program *p)
{
  gantry_grid_index (p->grid, GANTRY_AXIS_BLOCK_Y, 2);
}

static const struct
{
  const char *what;
  void (*make) (Program *p);
} faults[] = {
  { "not ended", fault_not_ended },
  { "not defined here", fault_scope },
  { "outside its loop", fault_loop_variable },
  { "differs between", fault_barrier_in_condition },
  { "differs between", fault_barrier_in_loop },
  { "differs between", fault_else_of_threads },
  { "may be 33, of 33 elements", fault_outside_array },
  { "bound to nothing", fault_unbound },
  { "a reduction is left", fault_reduction },
  { "no multiple of 2", fault_fetch },
  { "predicate is no bool", fault_predicate },
  { "lies in another memory", fault_fetch_shared },
  { "bytes of shared memory", fault_shared_memory },
  { "its bounds are no numbers", fault_unrolled },
  { "not made of whole warps", fault_partial_warp },
  { "its axis 1", fault_axis },
};

static void
test_faults (void)
{
  GantryGpu gpu;

  g_assert_true (gantry_gpu_init (&gpu, "sm_90a", NULL));
  for (guint i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autoptr (GError) error = NULL;
      Program p;

      program_begin (&p);
      add_input (&p, GANTRY_F32, 64);
      program_launch (&p, 3, 32);
      g_assert_true (gantry_grid_check (p.grid, &gpu, NULL));
      faults[i].make (&p);
      g_assert_false (gantry_grid_check (p.grid, &gpu, &error));
      if (strstr (error->message, faults[i].what) == NULL)
        g_error ("\"%s\" does not say: %s", error->message, faults[i].what);
      program_end (&p);
    }
}

static void
test_unknown_gpu (void)
{
  g_autoptr (GError) error = NULL;
  GantryGpu gpu;

  g_assert_false (gantry_gpu_init (&gpu, "sm_20", &error));
  g_assert_nonnull (strstr (error->message, "sm_20"));
}

static void
test_text (void)
{
  static const char want[] = "grid 3 x 1 x 1, block 32 x 1 x 1\n"
                             "result out: 96 f32\n"
                             "private sum: 1 f32\n"
                             "sum[0] := 0\n"
                             "for k2 from 0 to 8 by 2\n"
                             "  v0 := sum[0]\n"
                             "  sum[0] := (v0 + input0[8 thread.x + k2])\n"
                             "barrier\n"
                             "v1 := sum[0]\n"
                             "if (thread.x < 5)\n"
                             "  out[32 block.x + thread.x] := v1\n"
                             "else\n"
                             "  out[32 block.x + thread.x] := exponential(v1)\n";
  g_autofree char *text = NULL;
  guint32 b, t, out, array, k, value;
  Program p;

  program_begin (&p);
  add_input (&p, GANTRY_F32, 256);
  program_launch (&p, 3, 32);
  b = block_axis (&p);
  t = thread_axis (&p);
  out = gantry_grid_array (p.grid, GANTRY_SPACE_RESULT, GANTRY_F32, 96, 0, "out");
  array = gantry_grid_array (p.grid, GANTRY_SPACE_PRIVATE, GANTRY_F32, 1, 0, "sum");
  gantry_grid_set (p.grid, array, integer (&p, 0), gantry_kx_const_float (p.kx, GANTRY_F32, 0));
  k = gantry_grid_begin_for (p.grid, integer (&p, 0), integer (&p, 8), 2, FALSE);
  value = gantry_grid_get (p.grid, array, integer (&p, 0));
  gantry_grid_set (p.grid, array, integer (&p, 0), op (&p, GANTRY_F32, GANTRY_OP_ADD, value, gantry_kx_load (p.kx, 0, sum (&p, k, 1, t, 8))));
  gantry_grid_end (p.grid);
  gantry_grid_barrier (p.grid);
  value = gantry_grid_get (p.grid, array, integer (&p, 0));
  gantry_grid_begin_if (p.grid, less (&p, t, integer (&p, 5)));
  gantry_grid_set (p.grid, out, sum (&p, b, 32, t, 1), value);
  gantry_grid_begin_else (p.grid);
  gantry_grid_set (p.grid, out, sum (&p, b, 32, t, 1), gantry_kx_unary (p.kx, GANTRY_F32, GANTRY_OP_EXPONENTIAL, value));
  gantry_grid_end (p.grid);
  g_assert_true (gantry_grid_check (p.grid, NULL, NULL));
  text = gantry_grid_to_text (p.grid);
  if (strstr (text, "input0[") == NULL)
    g_error ("%s", text);
  g_assert_cmpstr (text, ==, want);
  program_end (&p);
}

int
main (int argc, char **argv)
{
  static const MatrixCase cases[] = { { GANTRY_MMA_M16N8K16_F16, FALSE },
                                      { GANTRY_MMA_M16N8K16_F16, TRUE },
                                      { GANTRY_MMA_M16N8K16_BF16, FALSE },
                                      { GANTRY_MMA_M16N8K16_BF16, TRUE },
                                      { GANTRY_MMA_M16N8K8_TF32, FALSE } };
  static const char *const names[] = { "f16", "bf16", "tf32" };

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/grid/block-sums", test_block_sums);
  g_test_add_func ("/kernels/grid/uniform-loop", test_uniform_loop);
  g_test_add_func ("/kernels/grid/launches", test_launches);
  g_test_add_func ("/kernels/grid/lanes", test_lanes);
  g_test_add_func ("/kernels/grid/fetch", test_fetch);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/kernels/grid/matrices/%s%s", names[cases[i].shape], cases[i].b_by_rows ? "-transposed" : "");

      g_test_add_data_func (path, &cases[i], test_matrices);
    }
  g_test_add_func ("/kernels/grid/faults", test_faults);
  g_test_add_func ("/kernels/grid/unknown-gpu", test_unknown_gpu);
  g_test_add_func ("/kernels/grid/text", test_text);
  return g_test_run ();
}
