/* SPDX-License-Identifier: Apache-2.0 */
/* The map schedule, with as many lanes as it can have: each element type, movements, reductions within a thread, and random
 * fusions; against the evaluator. GANTRY_TEST_GROUPS sets how many fusions (`-m slow`: 400). */
#include "tests/core/kernels/random-fusion.h"
#include "tests/core/kernels/test-contraction-run.h"
#include "tests/random-seed.h"
#include <math.h>
#include <string.h>

/* A GPU so small that no result is too short for its threads: what is chosen by size is chosen for many lanes. */
static void
small_gpu (GantryGpu *gpu)
{
  contraction_gpu (gpu, 90);
  gpu->n_multiprocessors = 0;
}

/* @depth: how many terms are summed without care for what is rounded off. Returns: the program's text. (transfer full) */
static char *
check (ContractionCase *c, gint64 depth, GRand *rand)
{
  g_autoptr (GantryBound) bound = NULL;
  GantryGpu gpu;

  small_gpu (&gpu);
  bound = contraction_bind (c, gantry_bind_map, &gpu);
  g_assert_nonnull (bound);
  contraction_check (c, bound, rand, depth);
  return gantry_grid_to_text (g_ptr_array_index (bound->grids, 0));
}

typedef struct
{
  const char *name;
  GantryOp op;
  const char *operands;
  const char *attributes;
  const char *said; /* (nullable): in the text of the program */
} Case;

static const Case cases[] = {
  { "add-f32", GANTRY_OP_ADD, "f32[64,48] f32[64,48]", "", "thread.x .. +4] :=" },
  { "add-f64", GANTRY_OP_ADD, "f64[6,48] f64[6,48]", "", ".. +2]" },
  { "add-f16", GANTRY_OP_ADD, "f16[6,48] f16[6,48]", "", ".. +8]" },
  { "add-bf16", GANTRY_OP_MAXIMUM, "bf16[6,44] bf16[6,44]", "", ".. +8]" },
  { "add-i8", GANTRY_OP_ADD, "i8[6,48] i8[6,48]", "", ".. +16]" },
  { "odd", GANTRY_OP_ADD, "f32[7,31] f32[7,31]", "", "if " },
  { "half-odd", GANTRY_OP_ADD, "f32[7,30] f32[7,30]", "", ".. +2]" },
  { "scalar", GANTRY_OP_ADD, "f32[] f32[]", "", NULL },
  { "compare", GANTRY_OP_COMPARE, "f32[64,48] f32[64,48]", "comparison_direction=LT", ".. +4]" },
  { "transpose", GANTRY_OP_TRANSPOSE, "f32[24,36]", "permutation=[1,0]", ".. +4]" },
  { "reverse", GANTRY_OP_REVERSE, "f32[24,36]", "dimensions=[1]", ".. +4]" },
  { "slice", GANTRY_OP_SLICE, "f32[24,36]", "start_indices=[3,3] limit_indices=[20,35] strides=[1,1]", ".. +4]" },
  { "concatenate", GANTRY_OP_CONCATENATE, "f32[24,33] f32[24,31]", "dimension=1", ".. +4]" },
  { "rows", GANTRY_OP_REDUCE, "f32[5,300]", "kind=add dimensions=[1]", "for " },
  { "written-out", GANTRY_OP_REDUCE, "f32[5,7,3]", "kind=max dimensions=[2]", "maximum(maximum(" },
  { "written-out-lanes", GANTRY_OP_REDUCE, "f32[5,48]", "kind=add dimensions=[0]", ".. +4]" },
  { "products", GANTRY_OP_DOT_GENERAL, "f32[5,30] f32[30]", "lhs_contracting_dimensions=[1] rhs_contracting_dimensions=[0]", " + unrounded(input0[" },
  { "product", GANTRY_OP_MULTIPLY, "f32[5,30] f32[5,30]", "", ":= (input0[" },
  { "window", GANTRY_OP_REDUCE_WINDOW, "f16[9,8,16]",
    "kind=max window_dimensions=[3,3,1] window_strides=[2,1,1] window_dilations=[1,2,1] padding=[1,1,0,1,0,0]", ".. +8]" },
  { "window-strides", GANTRY_OP_REDUCE_WINDOW, "f32[3,9,32]", "kind=min window_dimensions=[1,3,3] window_strides=[1,4,2] padding=[0,0,1,1,0,1]",
    "(thread.x / 48)] := minimum(minimum(" },
  { "two-axes", GANTRY_OP_REDUCE, "f64[5,70,6,9]", "kind=add dimensions=[1,3]", "for " },
  { "of-f16", GANTRY_OP_REDUCE, "f16[9,100]", "kind=add dimensions=[1]", "private sum: 1 f32" },
  { "of-i8", GANTRY_OP_REDUCE, "i8[90,10]", "kind=min dimensions=[0]", "private sum: 1 i8" },
  { "long", GANTRY_OP_REDUCE, "f32[3,40000]", "kind=add dimensions=[1]", "private sum: 2 f32" },
};

/* How far a sum of n random terms below 1 may be off, in roundings of 1. Added one after the other each addition is off by half a
 * step of the sum so far, which has grown with the root of their number: n / 4.2 together, of either sign; six times that is
 * left for the farthest of all, and the evaluator's f64 is no better where that is the type. A long sum is carried on with what
 * was rounded off (Kahan): each term is then rounded once by itself, which is a quarter of the root of n together. */
static gint64
depth_of (const Case *c, const ContractionCase *work)
{
  gint64 n = gantry_type_elements (gantry_node_operand_type (work->module, work->node, 0))
             / MAX (gantry_type_elements (gantry_node_type (work->module, work->node)), 1);

  if (c->op != GANTRY_OP_REDUCE && c->op != GANTRY_OP_DOT_GENERAL)
    return 0;
  return strcmp (c->name, "long") == 0 ? 2 * (gint64) sqrt ((double) n) : 2 * n;
}

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (GRand) rand = test_rand (1);
  g_autoptr (ContractionCase) work = contraction_case_op (c->op, c->operands, c->attributes);
  g_autofree char *text = check (work, depth_of (c, work), rand);

  if (c->said != NULL && strstr (text, c->said) == NULL)
    g_error ("no \"%s\" in\n%s", c->said, text);
}

static void
test_random (void)
{
  const char *groups = g_getenv ("GANTRY_TEST_GROUPS");
  guint n = groups != NULL ? (guint) g_ascii_strtoull (groups, NULL, 10) : g_test_slow () ? 400 : 30;
  g_autoptr (GRand) rand = test_rand (1);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryModule) module = random_fusion_module (context, rand);
      g_autofree char *module_text = gantry_module_to_text (module, NULL), *text = NULL;
      g_autoptr (ContractionCase) work = contraction_case_text (module_text);

      text = check (work, 64, rand);
      g_assert_null (strstr (text, "reduce("));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/kernels/map/%s", cases[i].name);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  g_test_add_func ("/kernels/map/random", test_random);
  return g_test_run ();
}
