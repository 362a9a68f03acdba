/* SPDX-License-Identifier: Apache-2.0 */
/* Every kind of schedule for a GPU in random interleavings: threads in another order between two points where they meet,
 * fetches and products that get done at any moment between their beginning and the wait for them. No byte of shared
 * memory may be raced for, and the results are the same bits each time. Without any one of its waits, fences and
 * barriers a schedule is found out. With --soak: a thousand interleavings each, and so on until the time is over. */
#include "core/kernels/cpu/grid-cpu.h"
#include "core/kernels/cpu/grid-run.h"
#include "core/kernels/cpu/jit.h"
#include "tests/core/kernels/test-contraction-run.h"
#include "tests/random-seed.h"
#include "tests/soak.h"
#include <stdio.h>
#include <string.h>

#define INTERLEAVINGS 20

typedef struct
{
  const char *name;
  GantryScheduler scheduler; /* NULL: written by hand */
  guint capability;
  GantryOp op;
  const char *operands, *attributes;
  const char *body, *results, *types; /* of a fusion, over %1 and on, instead of `op` and `attributes` */
  guint spare;                        /* what may be taken away */
  guint block;                        /* channels in a block of the first operand and the result; 0: plain */
} Schedule;

#define MK_KN "lhs_contracting_dimensions=[1] rhs_contracting_dimensions=[0]"
#define MK_NK "lhs_contracting_dimensions=[1] rhs_contracting_dimensions=[1]"
#define KM_KN "lhs_contracting_dimensions=[0] rhs_contracting_dimensions=[0]"
#define SCATTER_ROWS "update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1"

#define SOFTMAX(R, C) \
  "    %3 = reduce(%1) {kind = \"max\", dimensions = [1]}: f32[" R "]\n" \
  "    %4 = broadcast_in_dim(%3) {shape = [" R ", " C "], broadcast_dimensions = [0]}: f32[" R "," C "]\n" \
  "    %5 = subtract(%1, %4): f32[" R "," C "]\n" \
  "    %6 = exponential(%5): f32[" R "," C "]\n" \
  "    %7 = reduce(%6) {kind = \"add\", dimensions = [1]}: f32[" R "]\n" \
  "    %8 = broadcast_in_dim(%7) {shape = [" R ", " C "], broadcast_dimensions = [0]}: f32[" R "," C "]\n" \
  "    %9 = divide(%6, %8): f32[" R "," C "]\n"

static const Schedule schedules[] = {
  { "product-f32", gantry_bind_contraction, 90, GANTRY_OP_DOT_GENERAL, "f32[64,96] f32[96,64]", MK_KN },
  { "product-odd", gantry_bind_contraction, 80, GANTRY_OP_DOT_GENERAL, "f32[37,53] f32[53,41]", MK_KN },
  { "product-f64", gantry_bind_contraction, 80, GANTRY_OP_DOT_GENERAL, "f64[33,140] f64[27,140]", MK_NK },
  { "product-split", gantry_bind_contraction, 90, GANTRY_OP_DOT_GENERAL, "f32[16,1100] f32[1100,24]", MK_KN },
  { "convolution", gantry_bind_contraction, 80, GANTRY_OP_CONVOLUTION, "f32[1,16,6,7] f32[8,16,3,3]", "padding=[1,1,1,1]" },
  { "mma-f16", gantry_bind_tensor_core, 80, GANTRY_OP_DOT_GENERAL, "f16[64,192] f16[192,64]", MK_KN },
  { "mma-bf16-transposed", gantry_bind_tensor_core, 80, GANTRY_OP_DOT_GENERAL, "bf16[160,72] bf16[160,136]", KM_KN },
  { "mma-odd", gantry_bind_tensor_core, 80, GANTRY_OP_DOT_GENERAL, "f16[37,153] f16[41,153]", MK_NK },
  { "mma-split", gantry_bind_tensor_core, 80, GANTRY_OP_DOT_GENERAL, "f16[64,2048] f16[2048,64]", MK_KN },
  { "mma-tf32", gantry_bind_tensor_core, 80, GANTRY_OP_DOT_GENERAL, "f32[80,128] f32[128,72]", MK_KN },
  { "wgmma", gantry_bind_tensor_core, 90, GANTRY_OP_DOT_GENERAL, "f16[64,640] f16[640,64]", MK_KN },
  { "wgmma-rows-of-depth", gantry_bind_tensor_core, 90, GANTRY_OP_DOT_GENERAL, "bf16[72,640] bf16[136,640]", MK_NK },
  { "wgmma-odd", gantry_bind_tensor_core, 90, GANTRY_OP_DOT_GENERAL, "f16[37,637] f16[637,41]", MK_KN },
  { "wgmma-convolution", gantry_bind_tensor_core, 90, GANTRY_OP_CONVOLUTION, "f16[1,64,6,6] f16[32,64,3,3] f16[32]", "padding=[1,1,1,1]" },
  { "mma-convolution-blocked", gantry_bind_tensor_core, 80, GANTRY_OP_CONVOLUTION, "f16[1,8,23,23] f16[16,8,3,3]", "padding=[1,1,1,1]", .block = 8 },
  { "wgmma-convolution-blocked", gantry_bind_tensor_core, 90, GANTRY_OP_CONVOLUTION, "bf16[1,72,23,23] bf16[16,72,3,3]", "padding=[1,1,1,1]", .block = 8 },
  { "rows-warp", gantry_bind_rows, 90, GANTRY_OP_REDUCE, "f32[9,200]", "kind=add dimensions=[1]" },
  { "rows-block", gantry_bind_rows, 90, GANTRY_OP_REDUCE, "f32[3,5000]", "kind=min dimensions=[1]" },
  { "rows-slices", gantry_bind_rows, 90, GANTRY_OP_REDUCE, "f32[3,65536]", "kind=add dimensions=[1]" },
  { "softmax-warp", gantry_bind_rows, 90, GANTRY_OP_FUSION, "f32[9,256]", NULL, SOFTMAX ("9", "256"), "%9", "f32[9,256]" },
  { "softmax-block", gantry_bind_rows, 90, GANTRY_OP_FUSION, "f32[3,2048]", NULL, SOFTMAX ("3", "2048"), "%9", "f32[3,2048]" },
  { "softmax-odd-block", gantry_bind_rows, 90, GANTRY_OP_FUSION, "f32[2,7001]", NULL, SOFTMAX ("2", "7001"), "%9", "f32[2,7001]" },
  { "columns", gantry_bind_columns, 90, GANTRY_OP_REDUCE, "f32[301,37]", "kind=add dimensions=[0]" },
  { "columns-slices", gantry_bind_columns, 90, GANTRY_OP_REDUCE, "f32[60000,9]", "kind=add dimensions=[0]" },
  { "transpose", gantry_bind_transpose, 90, GANTRY_OP_TRANSPOSE, "f32[40,50]", "permutation=[1,0]" },
  { "transpose-bytes", gantry_bind_transpose, 90, GANTRY_OP_TRANSPOSE, "u8[33,31]", "permutation=[1,0]" },
  { "map", gantry_bind_map, 90, GANTRY_OP_ADD, "f32[64,48] f32[64,48]", "" },
  { "sort", NULL, 90, GANTRY_OP_SORT, "f32[5,300] i32[5,300]", "dimension=1" },
  /* Two launches begin with a step in which each thread exchanges what it has loaded itself. */
  { "sort-long", NULL, 90, GANTRY_OP_SORT, "f32[2,5000]", "dimension=1", .spare = 2 },
  { "scatter-add", NULL, 90, GANTRY_OP_SCATTER, "f32[50,3] i8[400,1] f32[400,3]", "kind=add " SCATTER_ROWS },
  { "scatter-set", NULL, 90, GANTRY_OP_SCATTER, "f32[20,5] i64[7,1] f32[7,5]", "kind=set " SCATTER_ROWS },
  { "random-bits", NULL, 90, GANTRY_OP_RNG_BIT_GENERATOR, "u64[2]", "shape=[1001] to=u32[]" },
};

static ContractionCase *
case_of (const Schedule *schedule)
{
  g_autofree char *text = NULL;

  if (schedule->body == NULL)
    return contraction_case_op (schedule->op, schedule->operands, schedule->attributes);
  text = g_strdup_printf ("module \"m\" {\n  func @main #1 (%%21: %s) -> (%%25) {\n"
                          "    %%25 = fusion(%%21) {body = @body #2}: %s\n  }\n"
                          "  func @body #2 (%%1: %s) -> (%s) {\n%s  }\n}\n",
                          schedule->operands, schedule->types, schedule->operands, schedule->results, schedule->body);
  return contraction_case_text (text);
}

/* A schedule as code over buffers of its own. */
typedef struct
{
  ContractionCase *c;
  GantryBound *bound;
  GantryCompiler *compiler;
  GantryJit *jit;
  GantryKernelFunc func;
  gint64 n_tasks;
  GPtrArray *buffers;
  GPtrArray *expected; /* GBytes: results of the first run that was without a race */
} Code;

static void
code_free (Code *code)
{
  g_clear_pointer (&code->jit, gantry_jit_free);
  g_clear_pointer (&code->compiler, gantry_compiler_free);
  gantry_bound_free (code->bound);
  contraction_case_free (code->c);
  g_ptr_array_unref (code->buffers);
  g_ptr_array_unref (code->expected);
  g_free (code);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Code, code_free)

/* Makes machine code of the bound program as it is now. */
static void
code_make (Code *code)
{
  g_autoptr (GError) error = NULL;
  LLVMMemoryBufferRef object;

  g_clear_pointer (&code->jit, gantry_jit_free);
  g_clear_pointer (&code->compiler, gantry_compiler_free);
  code->compiler = gantry_compiler_new (NULL, 0, &error);
  g_assert_no_error (error);
  code->compiler->find_races = TRUE;
  code->jit = gantry_jit_new (&error);
  g_assert_no_error (error);
  object = gantry_grid_to_cpu (code->compiler, code->bound, "interleaved", code->c->source.n_inputs, code->c->n_results, &code->n_tasks, NULL, NULL, &error);
  g_assert_no_error (error);
  gantry_jit_add (code->jit, object, &error);
  g_assert_no_error (error);
  code->func = (GantryKernelFunc) gantry_jit_find (code->jit, "interleaved", &error);
  g_assert_no_error (error);
}

static Code *
code_new (const Schedule *schedule, GRand *rand)
{
  Code *code = g_new0 (Code, 1);
  GantryGpu gpu;

  contraction_gpu (&gpu, schedule->capability);
  gpu.allow_tf32 = TRUE;
  code->c = case_of (schedule);
  contraction_case_block (code->c, schedule->block);
  code->bound = contraction_bind (code->c, schedule->scheduler, &gpu);
  g_assert_nonnull (code->bound);
  code->expected = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  code->buffers = g_ptr_array_new_with_free_func (g_aligned_free);
  for (guint i = 0; i < code->c->source.n_inputs; i++)
    {
      const GantryType *type = code->c->source.inputs[i].type;
      GantryLiteral *literal = contraction_random_operand (rand, type);

      g_ptr_array_add (code->buffers, contraction_aligned ((gsize) gantry_type_bytes (type)));
      gantry_literal_copy_to (literal, g_ptr_array_index (code->buffers, i));
      gantry_literal_unref (literal);
    }
  for (guint i = 0; i < code->c->n_results; i++)
    g_ptr_array_add (code->buffers, contraction_aligned ((gsize) gantry_type_bytes (contraction_result_type (code->c, i))));
  if (code->bound->workspace_bytes > 0)
    g_ptr_array_add (code->buffers, contraction_aligned (code->bound->workspace_bytes));
  code_make (code);
  return code;
}

/* Runs it in one interleaving. Returns: FALSE with what is wrong. */
static gboolean
code_run (Code *code, guint64 seed, char **why)
{
  guint n, first = code->c->source.n_inputs;

  for (guint i = 0; i < code->c->n_results; i++)
    memset (g_ptr_array_index (code->buffers, first + i), 0xff, (gsize) gantry_type_bytes (contraction_result_type (code->c, i)));
  if (code->bound->workspace_bytes > 0)
    memset (g_ptr_array_index (code->buffers, code->buffers->len - 1), 0xff, code->bound->workspace_bytes);
  gantry_grid_races_begin (seed);
  code->func (NULL, code->buffers->pdata, 0, code->n_tasks / 2);
  code->func (NULL, code->buffers->pdata, code->n_tasks / 2, code->n_tasks);
  n = gantry_grid_races_end (why);
  if (n > 0)
    return FALSE;
  for (guint i = 0; i < code->c->n_results; i++)
    {
      gsize size = (gsize) gantry_type_bytes (contraction_result_type (code->c, i));
      const guint8 *got = g_ptr_array_index (code->buffers, first + i);

      if (code->expected->len <= i)
        g_ptr_array_add (code->expected, g_bytes_new (got, size));
      else if (memcmp (g_bytes_get_data (g_ptr_array_index (code->expected, i), NULL), got, size) != 0)
        {
          *why = g_strdup_printf ("result %u has other bits than in the first interleaving", i);
          return FALSE;
        }
    }
  return TRUE;
}

static void
test_schedule (gconstpointer data)
{
  const Schedule *schedule = data;
  guint32 seed = test_seed (1);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (Code) code = code_new (schedule, rand);

  for (guint i = 0; i < INTERLEAVINGS; i++)
    {
      g_autofree char *why = NULL;

      /* The first with everything as late as it may be. */
      if (!code_run (code, i == 0 ? 0 : (guint64) seed * 1000 + i, &why))
        g_error ("%s, interleaving %u: %s", schedule->name, i, why);
    }
}

/* Faults */

#define NO_GROUP (1u << 20) /* so many may be under way: nothing is waited for */

/* Takes away what statement @at orders, or a part of it. Returns: FALSE: it orders nothing, or has no fault number
 * @which */
static gboolean
plant (GantryGridStatement *s, guint which, const char **what)
{
  switch ((GantryGridKind) s->kind)
    {
    case GANTRY_GRID_BARRIER:
    case GANTRY_GRID_FENCE:
      *what = s->kind == GANTRY_GRID_BARRIER ? "barrier" : "fence";
      s->kind = GANTRY_GRID_AWAIT;
      s->mask = NO_GROUP;
      return which == 0;
    case GANTRY_GRID_AWAIT:
      *what = which == 0 ? "wait" : "wait for one group of fetches";
      s->mask = which == 0 ? NO_GROUP : s->mask + 1;
      return which < 2;
    case GANTRY_GRID_WGMMA:
      *what = which == 0 ? "wait for older products" : "wait for one product";
      s->mask = which == 0 ? NO_GROUP : s->mask + 1;
      return which < 2;
    case GANTRY_GRID_WGMMA_AWAIT:
      *what = "wait for products";
      s->mask = NO_GROUP;
      return which == 0;
    default: return FALSE;
    }
}

/* Whether a race is found, or other bits, in one of some interleavings. */
static gboolean
is_found (Code *code, guint32 seed, char **why)
{
  code_make (code);
  for (guint i = 0; i < 3; i++)
    if (!code_run (code, i == 0 ? 0 : (guint64) seed * 1000 + i, why))
      return TRUE;
  return FALSE;
}

static void
test_faults (gconstpointer data)
{
  const Schedule *schedule = data;
  guint32 seed = test_seed (2);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (Code) code = code_new (schedule, rand);
  g_autofree char *why = NULL;
  guint spare = 0;

  g_assert_true (code_run (code, 0, &why));
  for (guint g = 0; g < code->bound->grids->len; g++)
    {
      GArray *statements = ((GantryGrid *) g_ptr_array_index (code->bound->grids, g))->statements;

      for (guint at = 0; at < statements->len; at++)
        for (guint which = 0; which < 2; which++)
          {
            GantryGridStatement *s = &g_array_index (statements, GantryGridStatement, at), before = *s;
            const char *what = NULL;
            g_autofree char *said = NULL;

            if (plant (s, which, &what))
              {
                gboolean found = is_found (code, seed, &said);

                g_test_message ("launch %u without the %s of statement %u: %s", g, what, at, found ? said : "nothing is wrong");
                spare += !found;
              }
            *s = before;
          }
    }
  g_assert_cmpuint (spare, ==, schedule->spare);
}

/* Soaking */

static int
soak (int argc, char **argv)
{
  g_autoptr (GPtrArray) codes = g_ptr_array_new_with_free_func ((GDestroyNotify) code_free);
  SoakOptions options;
  guint64 passed = 0, failed = 0;

  if (!soak_options_read (&options, &argc, &argv, "- schedules for a GPU in random interleavings"))
    return 2;
  for (guint i = 0; i < G_N_ELEMENTS (schedules); i++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (soak_case_seed (&options, i));

      g_ptr_array_add (codes, code_new (&schedules[i], rand));
    }
  for (guint64 number = 0; soak_goes_on (&options, number); number++)
    {
      guint which = number % codes->len;
      guint64 seed = (guint64) soak_case_seed (&options, number) << 16 | 1;
      g_autofree char *why = NULL;

      if (code_run (g_ptr_array_index (codes, which), seed, &why))
        passed++;
      else
        {
          g_autofree char *text = g_strdup_printf ("%s, seed %" G_GUINT64_FORMAT ": %s\n", schedules[which].name, seed, why);

          soak_report (&options, number, why, text);
          failed++;
        }
    }
  printf ("# %" G_GUINT64_FORMAT " interleavings of each of %u schedules\n", (passed + failed) / codes->len, codes->len);
  soak_options_clear (&options);
  return soak_end (passed, failed, 0);
}

int
main (int argc, char **argv)
{
  if (argc > 1 && strcmp (argv[1], "--soak") == 0)
    {
      argv[1] = argv[0];
      return soak (argc - 1, argv + 1);
    }
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (schedules); i++)
    {
      g_autofree char *path = g_strconcat ("/kernels/interleavings/schedule/", schedules[i].name, NULL);

      g_test_add_data_func (path, &schedules[i], test_schedule);
    }
  for (guint i = 0; i < G_N_ELEMENTS (schedules); i++)
    {
      g_autofree char *path = g_strconcat ("/kernels/interleavings/fault/", schedules[i].name, NULL);

      g_test_add_data_func (path, &schedules[i], test_faults);
    }
  return g_test_run ();
}
