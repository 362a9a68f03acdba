/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules in which threads share a reduction (rows, columns, slices) and those that turn a tensor over: what they make
 * runs on the CPU and gives what the evaluator gives. */
#include "tests/core/kernels/test-contraction-run.h"
#include "tests/random-seed.h"
#include <string.h>

typedef struct
{
  const char *operands, *attributes;
  GantryOp op;
  gint64 depth;
} OpCase;

static const OpCase row_cases[] = {
  { "f32[1000]", "kind=add dimensions=[0]", GANTRY_OP_REDUCE, 1000 }, { "f32[5,1001]", "kind=add dimensions=[1]", GANTRY_OP_REDUCE, 1001 },
  { "f32[70,128]", "kind=max dimensions=[1]", GANTRY_OP_REDUCE, 1 },  { "f32[3,5000]", "kind=min dimensions=[1]", GANTRY_OP_REDUCE, 1 },
  { "f32[4,6,49]", "kind=max dimensions=[2]", GANTRY_OP_REDUCE, 1 },  { "f32[4,6,7,7]", "kind=add dimensions=[0,2,3]", GANTRY_OP_REDUCE, 196 },
  { "f64[7,300]", "kind=add dimensions=[1]", GANTRY_OP_REDUCE, 300 }, { "f16[7,304]", "kind=add dimensions=[1]", GANTRY_OP_REDUCE, 304 },
  { "bf16[9,64]", "kind=max dimensions=[1]", GANTRY_OP_REDUCE, 1 },   { "i32[9,200]", "kind=add dimensions=[1]", GANTRY_OP_REDUCE, 200 },
  { "u8[9,200]", "kind=max dimensions=[1]", GANTRY_OP_REDUCE, 1 },    { "i64[2,3333]", "kind=min dimensions=[1]", GANTRY_OP_REDUCE, 1 },
  { "bool[6,99]", "kind=and dimensions=[1]", GANTRY_OP_REDUCE, 1 },   { "f32[1,120001]", "kind=add dimensions=[1]", GANTRY_OP_REDUCE, 120001 },
  { "f32[3,65536]", "kind=max dimensions=[1]", GANTRY_OP_REDUCE, 1 },
};

static const OpCase column_cases[] = {
  { "f32[301,37]", "kind=add dimensions=[0]", GANTRY_OP_REDUCE, 301 },    { "f32[64,128]", "kind=max dimensions=[0]", GANTRY_OP_REDUCE, 1 },
  { "f32[5,90,33]", "kind=add dimensions=[1]", GANTRY_OP_REDUCE, 90 },    { "f16[200,40]", "kind=min dimensions=[0]", GANTRY_OP_REDUCE, 1 },
  { "f32[60000,9]", "kind=add dimensions=[0]", GANTRY_OP_REDUCE, 60000 }, { "i32[40,20,10]", "kind=add dimensions=[0,1]", GANTRY_OP_REDUCE, 800 },
};

static const OpCase turn_cases[] = {
  { "f32[40,50]", "permutation=[1,0]", GANTRY_OP_TRANSPOSE, 1 },          { "f16[64,96]", "permutation=[1,0]", GANTRY_OP_TRANSPOSE, 1 },
  { "u8[33,31]", "permutation=[1,0]", GANTRY_OP_TRANSPOSE, 1 },           { "f64[4,20,30]", "permutation=[0,2,1]", GANTRY_OP_TRANSPOSE, 1 },
  { "f32[9,12,10,11]", "permutation=[3,1,0,2]", GANTRY_OP_TRANSPOSE, 1 },
};

typedef struct
{
  const char *name;
  gint64 rows, columns;
  const char *body; /* of %1: T[R,C], %2: T[C] */
  const char *results, *types;
  gboolean of_halves; /* f16 and bf16 too: no differences of values that are almost equal */
} Group;

#define SOFTMAX \
  "    %3 = reduce(%1) {kind = \"max\", dimensions = [1]}: T[R]\n" \
  "    %4 = broadcast_in_dim(%3) {shape = [R, C], broadcast_dimensions = [0]}: T[R,C]\n" \
  "    %5 = subtract(%1, %4): T[R,C]\n" \
  "    %6 = exponential(%5): T[R,C]\n" \
  "    %7 = reduce(%6) {kind = \"add\", dimensions = [1]}: T[R]\n" \
  "    %8 = broadcast_in_dim(%7) {shape = [R, C], broadcast_dimensions = [0]}: T[R,C]\n" \
  "    %9 = divide(%6, %8): T[R,C]\n"

#define SOFTMAX_DOWN \
  "    %3 = reduce(%1) {kind = \"max\", dimensions = [0]}: T[C]\n" \
  "    %4 = broadcast_in_dim(%3) {shape = [R, C], broadcast_dimensions = [1]}: T[R,C]\n" \
  "    %5 = subtract(%1, %4): T[R,C]\n" \
  "    %6 = exponential(%5): T[R,C]\n" \
  "    %7 = reduce(%6) {kind = \"add\", dimensions = [0]}: T[C]\n" \
  "    %8 = broadcast_in_dim(%7) {shape = [R, C], broadcast_dimensions = [1]}: T[R,C]\n" \
  "    %9 = divide(%6, %8): T[R,C]\n"

/* The mean square around the mean, and a scale. */
#define NORM \
  "    %3 = reduce(%1) {kind = \"add\", dimensions = [1]}: T[R]\n" \
  "    %4 = constant() {value = dense<T[]: 0.015625>}: T[]\n" \
  "    %5 = broadcast_in_dim(%4) {shape = [R], broadcast_dimensions = ints[]}: T[R]\n" \
  "    %6 = multiply(%3, %5): T[R]\n" \
  "    %7 = broadcast_in_dim(%6) {shape = [R, C], broadcast_dimensions = [0]}: T[R,C]\n" \
  "    %8 = subtract(%1, %7): T[R,C]\n" \
  "    %9 = multiply(%8, %8): T[R,C]\n" \
  "    %10 = reduce(%9) {kind = \"add\", dimensions = [1]}: T[R]\n" \
  "    %11 = rsqrt(%10): T[R]\n" \
  "    %12 = broadcast_in_dim(%11) {shape = [R, C], broadcast_dimensions = [0]}: T[R,C]\n" \
  "    %13 = multiply(%8, %12): T[R,C]\n" \
  "    %14 = broadcast_in_dim(%2) {shape = [R, C], broadcast_dimensions = [1]}: T[R,C]\n" \
  "    %15 = multiply(%13, %14): T[R,C]\n"

static const Group row_groups[] = {
  { "softmax, a warp a row", 37, 256, SOFTMAX, "%9", "T[R,C]", TRUE },
  { "softmax, odd", 19, 77, SOFTMAX, "%9", "T[R,C]", TRUE },
  { "softmax, a block a row", 5, 2048, SOFTMAX, "%9", "T[R,C]", TRUE },
  { "softmax, odd block", 3, 7001, SOFTMAX, "%9", "T[R,C]", TRUE },
  { "softmax, slices", 2, 50000, SOFTMAX, "%9", "T[R,C]", TRUE },
  { "norm", 33, 768, NORM, "%15", "T[R,C]" },
  { "norm, block", 4, 1604, NORM, "%15", "T[R,C]" },
  { "norm, slices", 1, 40004, NORM, "%15", "T[R,C]" },
  { "norm, several results", 6, 512, NORM, "%15, %8, %13", "T[R,C], T[R,C], T[R,C]" },
};

static const Group column_groups[] = {
  { "softmax down", 90, 70, SOFTMAX_DOWN, "%9", "T[R,C]", TRUE },
  { "softmax down, slices", 30000, 9, SOFTMAX_DOWN, "%9", "T[R,C]", TRUE },
};

static const Group turn_groups[] = {
  { "a sum with what is turned over", 50, 70,
    "    %3 = transpose(%1) {permutation = [1, 0]}: T[C,R]\n"
    "    %4 = broadcast_in_dim(%2) {shape = [C, R], broadcast_dimensions = [0]}: T[C,R]\n"
    "    %5 = multiply(%3, %4): T[C,R]\n"
    "    %6 = exponential(%5): T[C,R]\n",
    "%6, %3", "T[C,R], T[C,R]", TRUE },
};

static char *
replaced (const char *text, const char *from, const char *to)
{
  g_auto (GStrv) parts = g_strsplit (text, from, -1);

  return g_strjoinv (to, parts);
}

static ContractionCase *
group_case (const Group *group, const char *element)
{
  gboolean tuple = strchr (group->results, ',') != NULL;
  g_autofree char *text = g_strdup_printf ("module \"m\" {\n  func @main #1 (%%21: T[R,C], %%22: T[C]) -> (%%25) {\n"
                                           "    %%25 = fusion(%%21, %%22) {body = @body #2}: %s%s%s\n  }\n"
                                           "  func @body #2 (%%1: T[R,C], %%2: T[C]) -> (%s) {\n%s  }\n}\n",
                                           tuple ? "(" : "", group->types, tuple ? ")" : "", group->results, group->body);
  g_autofree char *r = g_strdup_printf ("%" G_GINT64_FORMAT, group->rows);
  g_autofree char *c = g_strdup_printf ("%" G_GINT64_FORMAT, group->columns);
  g_autofree char *type = g_strdup_printf ("%s[", element), *done = replaced (text, "T[", type);
  static const char *const holes[] = { "[R,C]", "[C,R]", "[R, C]", "[C, R]", "[R]", "[C]" };

  for (guint i = 0; i < G_N_ELEMENTS (holes); i++)
    {
      g_autofree char *a = replaced (holes[i], "R", r), *to = replaced (a, "C", c), *next = replaced (done, holes[i], to);

      g_free (done);
      done = g_steal_pointer (&next);
    }
  return contraction_case_text (done);
}

static void
check (const ContractionCase *c, GantryScheduler scheduler, GRand *rand, gint64 depth)
{
  g_autoptr (GantryBound) bound = NULL;
  GantryGpu gpu;

  contraction_gpu (&gpu, 90);
  bound = contraction_bind (c, scheduler, &gpu);
  g_assert_nonnull (bound);
  for (guint k = 0; k < bound->grids->len && g_getenv ("GANTRY_SHOW_GRIDS") != NULL; k++)
    {
      g_autofree char *text = gantry_grid_to_text (g_ptr_array_index (bound->grids, k));

      g_print ("%s\n", text);
    }
  contraction_check (c, bound, rand, depth);
}

static void
check_ops (const OpCase *cases, guint n, GantryScheduler scheduler)
{
  g_autoptr (GRand) rand = test_rand (11);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (ContractionCase) c = contraction_case_op (cases[i].op, cases[i].operands, cases[i].attributes);

      g_test_message ("%s %s", cases[i].operands, cases[i].attributes);
      check (c, scheduler, rand, cases[i].depth);
    }
}

static void
check_groups (const Group *groups, guint n, GantryScheduler scheduler)
{
  static const char *const elements[] = { "f32", "f64", "f16", "bf16" };
  g_autoptr (GRand) rand = test_rand (12);

  for (guint i = 0; i < n; i++)
    for (guint e = 0; e < (groups[i].of_halves ? 4 : 2); e++)
      {
        g_autoptr (ContractionCase) c = group_case (&groups[i], elements[e]);

        g_test_message ("%s %s", groups[i].name, elements[e]);
        check (c, scheduler, rand, 64);
      }
}

static void
test_rows (void)
{
  check_ops (row_cases, G_N_ELEMENTS (row_cases), gantry_bind_rows);
}

static void
test_columns (void)
{
  check_ops (column_cases, G_N_ELEMENTS (column_cases), gantry_bind_columns);
}

static void
test_turns (void)
{
  check_ops (turn_cases, G_N_ELEMENTS (turn_cases), gantry_bind_transpose);
}

static void
test_row_groups (void)
{
  check_groups (row_groups, G_N_ELEMENTS (row_groups), gantry_bind_rows);
}

static void
test_column_groups (void)
{
  check_groups (column_groups, G_N_ELEMENTS (column_groups), gantry_bind_columns);
}

static void
test_turn_groups (void)
{
  check_groups (turn_groups, G_N_ELEMENTS (turn_groups), gantry_bind_transpose);
}

/* Short rows are one thread's work, and what lies along the lanes already needs no turning. */
static void
test_refusals (void)
{
  g_autoptr (ContractionCase) small = contraction_case_op (GANTRY_OP_REDUCE, "f32[500,9]", "kind=add dimensions=[1]");
  g_autoptr (ContractionCase) rows = contraction_case_op (GANTRY_OP_REDUCE, "f32[50,900]", "kind=add dimensions=[1]");
  g_autoptr (ContractionCase) columns = contraction_case_op (GANTRY_OP_REDUCE, "f32[900,50]", "kind=add dimensions=[0]");
  g_autoptr (ContractionCase) outer = contraction_case_op (GANTRY_OP_TRANSPOSE, "f32[20,30,40]", "permutation=[1,0,2]");
  GantryGpu gpu;

  contraction_gpu (&gpu, 90);
  g_assert_null (contraction_bind (small, gantry_bind_rows, &gpu));
  g_assert_null (contraction_bind (small, gantry_bind_columns, &gpu));
  g_assert_null (contraction_bind (rows, gantry_bind_columns, &gpu));
  g_assert_null (contraction_bind (columns, gantry_bind_rows, &gpu));
  g_assert_null (contraction_bind (outer, gantry_bind_transpose, &gpu));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/cooperative/rows", test_rows);
  g_test_add_func ("/kernels/cooperative/columns", test_columns);
  g_test_add_func ("/kernels/cooperative/row-groups", test_row_groups);
  g_test_add_func ("/kernels/cooperative/column-groups", test_column_groups);
  g_test_add_func ("/kernels/transpose/ops", test_turns);
  g_test_add_func ("/kernels/transpose/groups", test_turn_groups);
  g_test_add_func ("/kernels/cooperative/refusals", test_refusals);
  return g_test_run ();
}
