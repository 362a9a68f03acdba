/* SPDX-License-Identifier: Apache-2.0 */
/* Contractions bound for a GPU and run on the CPU: matrix products and convolutions of many shapes, with what is fused
 * before and after them, against the evaluator. */
#include "tests/core/kernels/test-contraction-run.h"
#include "tests/random-seed.h"

typedef struct
{
  GantryOp op;
  const char *operands;
  const char *attributes;
  gint64 depth;
} Case;

#define MK_KN "lhs_contracting_dimensions=[1] rhs_contracting_dimensions=[0]"
#define MK_NK "lhs_contracting_dimensions=[1] rhs_contracting_dimensions=[1]"
#define KM_KN "lhs_contracting_dimensions=[0] rhs_contracting_dimensions=[0]"
#define KM_NK "lhs_contracting_dimensions=[0] rhs_contracting_dimensions=[1]"
#define BATCH2 "lhs_batching_dimensions=[0,1] rhs_batching_dimensions=[0,1] "

/* Of any element type: "T" stands for it. */
static const Case cases[] = {
  { GANTRY_OP_DOT_GENERAL, "T[64,64] T[64,64]", MK_KN, 64 },
  { GANTRY_OP_DOT_GENERAL, "T[37,53] T[53,41]", MK_KN, 53 },
  { GANTRY_OP_DOT_GENERAL, "T[33,40] T[27,40]", MK_NK, 40 },
  { GANTRY_OP_DOT_GENERAL, "T[72,136] T[72,88]", KM_KN, 72 },
  { GANTRY_OP_DOT_GENERAL, "T[40,33] T[27,40]", KM_NK, 40 },
  { GANTRY_OP_DOT_GENERAL, "T[136,96] T[264,96]", MK_NK, 96 },
  { GANTRY_OP_DOT_GENERAL, "T[4,8] T[8,4]", MK_KN, 8 },
  { GANTRY_OP_DOT_GENERAL, "T[5,131] T[131,7]", MK_KN, 131 },
  { GANTRY_OP_DOT_GENERAL, "T[16,1100] T[1100,24]", MK_KN, 1100 }, /* split */
  { GANTRY_OP_DOT_GENERAL, "T[19,1037] T[23,1037]", MK_NK, 1037 }, /* split, nothing divides anything */
  { GANTRY_OP_DOT_GENERAL, "T[2,3,33,40] T[2,3,40,27]", BATCH2 "lhs_contracting_dimensions=[3] rhs_contracting_dimensions=[2]", 40 },
  { GANTRY_OP_DOT_GENERAL, "T[3,12,4,8] T[3,10,4,8]",
    "lhs_batching_dimensions=[0,2] rhs_batching_dimensions=[0,2] lhs_contracting_dimensions=[3] rhs_contracting_dimensions=[3]", 8 },
  { GANTRY_OP_DOT_GENERAL, "T[5,6,7] T[6,7,9]", "lhs_contracting_dimensions=[1,2] rhs_contracting_dimensions=[0,1]", 42 },
  { GANTRY_OP_DOT_GENERAL, "T[5,6,7] T[7,6,9]", "lhs_contracting_dimensions=[1,2] rhs_contracting_dimensions=[1,0]", 42 },
  { GANTRY_OP_DOT_GENERAL, "T[6,7,40] T[40,3,9]", "lhs_contracting_dimensions=[2] rhs_contracting_dimensions=[0]", 40 },
  { GANTRY_OP_CONVOLUTION, "T[1,3,12,13] T[8,3,3,3]", "padding=[1,1,1,1]", 27 },
  { GANTRY_OP_CONVOLUTION, "T[2,16,14,14] T[32,16,3,3] T[32]", "window_strides=[2,2] padding=[1,1,1,1]", 144 },
  { GANTRY_OP_CONVOLUTION, "T[2,16,14,14] T[32,16,1,1] T[32]", "window_strides=[1,1] post=relu", 16 },
  { GANTRY_OP_CONVOLUTION, "T[1,24,9,9] T[12,8,3,3] T[12]", "padding=[0,1,2,1] feature_group_count=3", 72 },
  { GANTRY_OP_CONVOLUTION, "T[1,3,23,23] T[5,3,3,3]", "window_strides=[1,2] padding=[2,1,0,3] rhs_dilation=[2,3]", 27 },
  { GANTRY_OP_CONVOLUTION, "T[1,3,11,11] T[5,3,3,3]", "padding=[1,1,1,1] lhs_dilation=[2,2]", 27 },
  { GANTRY_OP_CONVOLUTION, "T[1,3,11,11] T[5,3,3,3]", "padding=[-1,0,0,-2]", 27 },
  { GANTRY_OP_CONVOLUTION, "T[2,4,50] T[6,4,5] T[6]", "window_strides=[2] padding=[2,2]", 20 },
  { GANTRY_OP_CONVOLUTION, "T[1,4,6,7,8] T[6,4,3,3,3] T[6]", "padding=[1,1,1,1,1,1]", 108 },
};

/* Not of this kind: too small, or no rows or columns. */
static const Case others[] = {
  { GANTRY_OP_DOT_GENERAL, "T[1,300] T[300,200]", MK_KN, 300 },
  { GANTRY_OP_DOT_GENERAL, "T[300] T[300]", "lhs_contracting_dimensions=[0] rhs_contracting_dimensions=[0]", 300 },
  { GANTRY_OP_DOT_GENERAL, "T[40] T[50]", "", 1 },
  { GANTRY_OP_DOT_GENERAL, "T[30,0] T[0,50]", MK_KN, 0 },
  { GANTRY_OP_DOT_GENERAL, "T[30,1] T[1,50]", MK_KN, 1 },
  { GANTRY_OP_CONVOLUTION, "T[1,16,14,14] T[16,1,3,3] T[16]", "padding=[1,1,1,1] feature_group_count=16", 9 },
};

/* Fusions: rows [48,40], columns [40,56]. */
typedef struct
{
  const char *name;
  const char *body;    /* of %1: T[48,40], %2: T[40,56], %3: T[48,56], %4: T[56] */
  const char *results; /* values and their types */
  const char *types;
} Fusion;

#define DOT " {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: T[48,56]\n"

static const Fusion fusions[] = {
  { "bias, residual and relu",
    "    %5 = dot_general(%1, %2)" DOT "    %6 = broadcast_in_dim(%4) {shape = [48, 56], broadcast_dimensions = [1]}: T[48,56]\n"
    "    %7 = add(%5, %6): T[48,56]\n"
    "    %8 = add(%7, %3): T[48,56]\n"
    "    %9 = subtract(%8, %8): T[48,56]\n"
    "    %10 = maximum(%8, %9): T[48,56]\n",
    "%10", "T[48,56]" },
  { "before both",
    "    %5 = negate(%1): T[48,40]\n"
    "    %6 = multiply(%2, %2): T[40,56]\n"
    "    %7 = dot_general(%5, %6)" DOT,
    "%7", "T[48,56]" },
  { "transposed result", "    %5 = dot_general(%1, %2)" DOT "    %6 = transpose(%5) {permutation = [1, 0]}: T[56,48]\n", "%6", "T[56,48]" },
  { "several results",
    "    %5 = dot_general(%1, %2)" DOT "    %6 = add(%5, %3): T[48,56]\n"
    "    %7 = negate(%6): T[48,56]\n",
    "%5, %6, %7", "T[48,56], T[48,56], T[48,56]" },
  { "reshaped result",
    "    %5 = dot_general(%1, %2)" DOT "    %6 = reshape(%5) {shape = [6, 8, 7, 8]}: T[6,8,7,8]\n"
    "    %7 = transpose(%6) {permutation = [0, 2, 1, 3]}: T[6,7,8,8]\n",
    "%7", "T[6,7,8,8]" },
  { "cut and padded before",
    "    %5 = slice(%1) {start_indices = [3, 2], limit_indices = [47, 38], strides = [1, 1]}: T[44,36]\n"
    "    %6 = slice(%2) {start_indices = [1, 0], limit_indices = [37, 56], strides = [1, 2]}: T[36,28]\n"
    "    %7 = dot_general(%5, %6) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: T[44,28]\n",
    "%7", "T[44,28]" },
};

static char *
with_element (const char *text, const char *element)
{
  g_auto (GStrv) parts = g_strsplit (text, "T[", -1);
  g_autofree char *type = g_strdup_printf ("%s[", element);

  return g_strjoinv (type, parts);
}

static void
show (const GantryBound *bound)
{
  for (guint k = 0; k < bound->grids->len && g_getenv ("GANTRY_SHOW_GRIDS") != NULL; k++)
    {
      g_autofree char *text = gantry_grid_to_text (g_ptr_array_index (bound->grids, k));

      g_print ("%s\n", text);
    }
}

static void
check (const ContractionCase *c, GantryScheduler scheduler, const GantryGpu *gpu, GRand *rand, gint64 depth)
{
  g_autoptr (GantryBound) bound = contraction_bind (c, scheduler, gpu);

  g_assert_nonnull (bound);
  show (bound);
  contraction_check (c, bound, rand, depth);
}

static void
check_all (const char *element, GantryScheduler scheduler, guint capability)
{
  g_autoptr (GRand) rand = test_rand (7);
  GantryGpu gpu;

  contraction_gpu (&gpu, capability);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *operands = with_element (cases[i].operands, element);
      g_autoptr (ContractionCase) c = contraction_case_op (cases[i].op, operands, cases[i].attributes);

      g_test_message ("%s %s", operands, cases[i].attributes);
      check (c, scheduler, &gpu, rand, cases[i].depth);
    }
  for (guint i = 0; i < G_N_ELEMENTS (fusions); i++)
    {
      const Fusion *f = &fusions[i];
      g_autofree char *text = g_strdup_printf ("module \"m\" {\n"
                                               "  func @main #1 (%%21: T[48,40], %%22: T[40,56], %%23: T[48,56], %%24: T[56]) -> (%%25) {\n"
                                               "    %%25 = fusion(%%21, %%22, %%23, %%24) {body = @body #2}: %s%s%s\n  }\n"
                                               "  func @body #2 (%%1: T[48,40], %%2: T[40,56], %%3: T[48,56], %%4: T[56]) -> (%s) {\n%s  }\n}\n",
                                               strchr (f->results, ',') != NULL ? "(" : "", f->types, strchr (f->results, ',') != NULL ? ")" : "", f->results,
                                               f->body);
      g_autofree char *typed = with_element (text, element);
      g_autoptr (ContractionCase) c = contraction_case_text (typed);

      g_test_message ("%s, %s", f->name, element);
      check (c, scheduler, &gpu, rand, 40);
    }
}

static void
test_f32 (void)
{
  check_all ("f32", gantry_bind_contraction, 90);
}

static void
test_f64 (void)
{
  check_all ("f64", gantry_bind_contraction, 90);
}

static void
test_i32 (void)
{
  check_all ("i32", gantry_bind_contraction, 80);
}

static void
test_f16 (void)
{
  check_all ("f16", gantry_bind_contraction, 80);
}

static void
test_tensor_core_f16 (void)
{
  check_all ("f16", gantry_bind_tensor_core, 80);
}

static void
test_tensor_core_bf16 (void)
{
  check_all ("bf16", gantry_bind_tensor_core, 90);
}

static void
test_others (void)
{
  GantryGpu gpu;

  contraction_gpu (&gpu, 90);
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    {
      g_autofree char *operands = with_element (others[i].operands, "f32");
      g_autoptr (ContractionCase) c = contraction_case_op (others[i].op, operands, others[i].attributes);

      g_assert_null (contraction_bind (c, gantry_bind_contraction, &gpu));
      g_assert_null (contraction_bind (c, gantry_bind_tensor_core, &gpu));
    }
}

/* f32 stays off the tensor cores, which would round it. */
static void
test_f32_on_tensor_cores (void)
{
  GantryGpu gpu;
  g_autoptr (ContractionCase) c = contraction_case_op (GANTRY_OP_DOT_GENERAL, "f32[128,128] f32[128,128]", MK_KN);

  contraction_gpu (&gpu, 90);
  g_assert_null (contraction_bind (c, gantry_bind_tensor_core, &gpu));
}

/* Unless that was chosen. Each factor is then off by up to 2^-11 of itself. */
static void
test_tf32 (void)
{
  static const char *const attributes[] = { MK_KN, MK_NK, KM_KN, KM_NK };
  static const char *const operands[] = { "f32[96,72] f32[72,136]", "f32[37,53] f32[41,53]", "f32[80,128] f32[80,264]", "f32[40,33] f32[27,40]" };
  g_autoptr (GRand) rand = test_rand (13);
  GantryGpu gpu;

  for (guint i = 0; i < G_N_ELEMENTS (operands); i++)
    {
      g_autoptr (ContractionCase) c = contraction_case_op (GANTRY_OP_DOT_GENERAL, operands[i], attributes[i]);
      g_autoptr (GantryBound) bound = NULL;
      const GantryGrid *grid;

      contraction_gpu (&gpu, i % 2 == 0 ? 80 : 90);
      gpu.allow_tf32 = TRUE;
      bound = contraction_bind (c, gantry_bind_tensor_core, &gpu);
      g_assert_nonnull (bound);
      grid = g_ptr_array_index (bound->grids, 0);
      g_assert_cmpuint (gantry_grid_bank_conflicts (grid, GANTRY_GRID_GET), ==, 1);
      contraction_check_rounded (c, bound, rand, 80, 0x1p-10);
    }
}

/* A product of elements whose sum is fused with it is no product of matrices: its factors keep their bits. */
static void
test_tf32_elementwise (void)
{
  static const char text[] = "module \"m\" {\n"
                             "  func @main #1 (%21: f32[48,40], %22: f32[40,56]) -> (%23) {\n"
                             "    %23 = fusion(%21, %22) {body = @body #2}: f32[48,56]\n  }\n"
                             "  func @body #2 (%1: f32[48,40], %2: f32[40,56]) -> (%6) {\n"
                             "    %3 = broadcast_in_dim(%1) {shape = [48, 40, 56], broadcast_dimensions = [0, 1]}: f32[48,40,56]\n"
                             "    %4 = broadcast_in_dim(%2) {shape = [48, 40, 56], broadcast_dimensions = [1, 2]}: f32[48,40,56]\n"
                             "    %5 = multiply(%3, %4): f32[48,40,56]\n"
                             "    %6 = reduce(%5) {dimensions = [1], kind = \"add\"}: f32[48,56]\n  }\n}\n";
  g_autoptr (GRand) rand = test_rand (17);
  g_autoptr (ContractionCase) c = contraction_case_text (text);
  GantryGpu gpu;

  contraction_gpu (&gpu, 80);
  gpu.allow_tf32 = TRUE;
  g_assert_null (contraction_bind (c, gantry_bind_tensor_core, &gpu));
  check (c, gantry_bind_contraction, &gpu, rand, 40);
}

static void
test_random (void)
{
  static const char *const attributes[] = { MK_KN, MK_NK, KM_KN, KM_NK };
  static const char *const elements[] = { "f32", "f16", "bf16", "i8", "f64" };
  g_autoptr (GRand) rand = test_rand (11);

  for (guint i = 0; i < 60; i++)
    {
      gint m = g_rand_int_range (rand, 4, 200), n = g_rand_int_range (rand, 4, 200), k = g_rand_int_range (rand, 8, 300);
      guint which = i % 4, element = (guint) g_rand_int_range (rand, 0, 5);
      g_autofree char *operands = NULL;
      g_autoptr (ContractionCase) c = NULL;
      GantryGpu gpu;

      /* Half of them divisible by what vectors and tiles want. */
      if (g_rand_boolean (rand))
        m = (m + 15) / 16 * 16, n = (n + 7) / 8 * 8, k = (k + 31) / 32 * 32;
      operands = g_strdup_printf ("%s[%d,%d] %s[%d,%d]", elements[element], which < 2 ? m : k, which < 2 ? k : m, elements[element], which % 2 == 0 ? k : n,
                                  which % 2 == 0 ? n : k);
      g_test_message ("%s %s", operands, attributes[which]);
      contraction_gpu (&gpu, g_rand_boolean (rand) ? 80 : 90);
      c = contraction_case_op (GANTRY_OP_DOT_GENERAL, operands, attributes[which]);
      check (c, element == 1 || element == 2 ? gantry_bind_tensor_core : gantry_bind_contraction, &gpu, rand, k);
    }
}

/* Machine code */

typedef struct
{
  GantryScheduler scheduler;
  const char *operands;
  const char *attributes;
  guint block; /* channels in a block of the first operand and the result; 0: plain */
} Large;

static const Large large[] = {
  { gantry_bind_contraction, "f32[4096,4096] f32[4096,4096]", MK_KN },   { gantry_bind_contraction, "f32[4096,4096] f32[4096,4096]", MK_NK },
  { gantry_bind_contraction, "f32[4096,4096] f32[4096,4096]", KM_KN },   { gantry_bind_contraction, "f32[4099,4097] f32[4097,4093]", MK_KN },
  { gantry_bind_contraction, "f64[4096,4096] f64[4096,4096]", MK_KN },   { gantry_bind_contraction, "f32[512,512] f32[512,512]", MK_KN },
  { gantry_bind_contraction, "f32[64,8192] f32[8192,64]", MK_KN },       { gantry_bind_contraction, "i8[2048,2048] i8[2048,2048]", MK_NK },
  { gantry_bind_tensor_core, "f32[4096,4096] f32[4096,4096]", MK_KN },   { gantry_bind_tensor_core, "bf16[4096,4096] bf16[4096,4096]", MK_KN },
  { gantry_bind_tensor_core, "f16[4096,4096] f16[4096,4096]", MK_NK },   { gantry_bind_tensor_core, "f16[4096,4096] f16[4096,4096]", KM_KN },
  { gantry_bind_tensor_core, "bf16[4099,4097] bf16[4097,4093]", MK_KN }, { gantry_bind_tensor_core, "bf16[4096,4104] bf16[4104,4096]", MK_KN },
  { gantry_bind_tensor_core, "f16[512,512] f16[512,512]", MK_KN },       { gantry_bind_tensor_core, "f16[64,8192] f16[8192,64]", MK_KN },
};

static const Large large_convolutions[] = {
  { gantry_bind_contraction, "f32[32,64,56,56] f32[64,64,3,3] f32[64]", "padding=[1,1,1,1] post=relu" },
  { gantry_bind_contraction, "f32[32,256,56,56] f32[64,256,1,1]", "" },
  { gantry_bind_tensor_core, "f16[32,64,56,56] f16[64,64,3,3] f16[64]", "padding=[1,1,1,1] post=relu" },
  { gantry_bind_tensor_core, "bf16[32,128,28,28] bf16[256,128,3,3]", "padding=[1,1,1,1] window_strides=[2,2]" },
  { gantry_bind_tensor_core, "f16[32,64,56,56] f16[64,64,3,3] f16[64]", "padding=[1,1,1,1] post=relu", 8 },
  { gantry_bind_tensor_core, "bf16[32,512,7,7] bf16[512,512,3,3]", "padding=[1,1,1,1]", 8 },
  { gantry_bind_tensor_core, "bf16[32,1024,14,14] bf16[512,1024,1,1]", "window_strides=[2,2]", 8 },
};

/* Instructions: tensor cores where they are meant, no arrays outside registers, and their tiles moved by 16 bytes where the rows of both
 * factors are multiples of that. */
static void
check_instructions (const Large *case_, guint capability, const char *text)
{
  gboolean tensor = case_->scheduler == gantry_bind_tensor_core, odd = strstr (case_->operands, "4099") != NULL;
  gboolean wgmma = tensor && capability == 90 && !g_str_has_prefix (case_->operands, "f32");

  g_assert_null (strstr (text, " LDL"));
  g_assert_null (strstr (text, " STL"));
  g_assert_true ((strstr (text, " HGMMA.") != NULL) == wgmma);
  g_assert_true ((strstr (text, " HMMA.") != NULL) == (tensor && !wgmma));
  if (tensor && !odd && (case_->attributes[0] == 'l' || case_->block != 0))
    g_assert_true (g_regex_match_simple (" LDGSTS[.A-Z]*\\.128", text, 0, 0));
}

static void
check_code (const Large *case_, GantryOp op, guint capability)
{
  g_autoptr (ContractionCase) c = contraction_case_op (op, case_->operands, case_->attributes);
  g_autoptr (GantryBound) bound = NULL;
  g_autofree char *text = NULL;
  GantryGpuImage image = { 0 };
  GantryGrid *grid;
  GantryGpu gpu;

  contraction_gpu (&gpu, capability);
  gpu.allow_tf32 = TRUE;
  contraction_case_block (c, case_->block);
  bound = contraction_bind (c, case_->scheduler, &gpu);
  g_assert_nonnull (bound);
  if (!contraction_assemble (c, bound, &gpu, &image))
    {
      g_test_skip ("there is no ptxas");
      return;
    }
  grid = g_ptr_array_index (bound->grids, 0);
  g_test_message ("%s %s, %s: %u launches, first %u x %u threads, %" G_GUINT64_FORMAT " bytes shared; %u registers", case_->operands, case_->attributes,
                  gpu.arch, bound->grids->len, grid->grid[0], grid->block[0], gantry_grid_shared_bytes (grid), image.registers);
  g_assert_true (image.is_measured);
  g_assert_cmpuint (image.spill_store_bytes, ==, 0);
  g_assert_cmpuint (image.spill_load_bytes, ==, 0);
  g_assert_cmpuint (image.stack_bytes, ==, 0);
  g_assert_cmpuint (image.registers * grid->block[0], <=, 65536);
  text = contraction_disassemble (&image);
  if (text != NULL)
    check_instructions (case_, capability, text);
  gantry_gpu_image_clear (&image);
}

static void
test_code (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (large); i++)
    {
      check_code (&large[i], GANTRY_OP_DOT_GENERAL, 80);
      check_code (&large[i], GANTRY_OP_DOT_GENERAL, 90);
    }
  for (guint i = 0; i < G_N_ELEMENTS (large_convolutions); i++)
    {
      check_code (&large_convolutions[i], GANTRY_OP_CONVOLUTION, 80);
      check_code (&large_convolutions[i], GANTRY_OP_CONVOLUTION, 90);
    }
}

/* Banks. What is read often (fragments, by matrix_load or get) and what is fetched is without conflict. */
static void
check_banks (guint capability)
{
  GantryGpu gpu;

  contraction_gpu (&gpu, capability);
  gpu.allow_tf32 = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (large); i++)
    {
      g_autoptr (ContractionCase) c = contraction_case_op (GANTRY_OP_DOT_GENERAL, large[i].operands, large[i].attributes);
      g_autoptr (GantryBound) bound = contraction_bind (c, large[i].scheduler, &gpu);
      const GantryGrid *grid = g_ptr_array_index (bound->grids, 0);
      guint get = gantry_grid_bank_conflicts (grid, GANTRY_GRID_GET), load = gantry_grid_bank_conflicts (grid, GANTRY_GRID_MATRIX_LOAD);
      guint fetch = gantry_grid_bank_conflicts (grid, GANTRY_GRID_FETCH), set = gantry_grid_bank_conflicts (grid, GANTRY_GRID_SET);

      g_test_message ("%s %s: get %u, matrix_load %u, fetch %u, set %u", large[i].operands, large[i].attributes, get, load, fetch, set);
      g_assert_cmpuint (MAX (get, load), <=, 1); /* none by wgmma, whose layout is the hardware's */
      /* Rows of tf32 are padded for the reads, and then do not fill the 128 bytes of a phase. */
      g_assert_cmpuint (fetch, <=, large[i].scheduler == gantry_bind_tensor_core && g_str_has_prefix (large[i].operands, "f32") ? 2 : 1);
      g_assert_cmpuint (set, <=, 2); /* tiles that are computed, or that the depth ends within */
    }
}

static void
test_banks (void)
{
  check_banks (80);
  check_banks (90);
}

/* What overlaps: see gantry_tiling_run(). */

static GantryBound *
bind_product (gint64 m, gint64 n, gint64 k, const char *element, guint capability)
{
  g_autofree char *operands = g_strdup_printf ("%s[%d,%d] %s[%d,%d]", element, (int) m, (int) k, element, (int) k, (int) n);
  g_autoptr (ContractionCase) c = contraction_case_op (GANTRY_OP_DOT_GENERAL, operands, MK_KN);
  GantryGpu gpu;

  g_test_message ("%s, %u", operands, capability);
  contraction_gpu (&gpu, capability);
  return contraction_bind (c, g_str_equal (element, "f32") ? gantry_bind_contraction : gantry_bind_tensor_core, &gpu);
}

/* Behind the barrier of the loop over the depth the matrix units get their work first, then the next tile is fetched; and at the top
 * of the loop the fetches of at least one later step are still under way. */
static void
check_overlap (gint64 m, gint64 n, guint capability)
{
  g_autoptr (GantryBound) bound = bind_product (m, n, 4096, "bf16", capability);
  const GantryGrid *grid = g_ptr_array_index (bound->grids, 0);
  guint32 barrier = 0, await = 0, multiply = 0, fetch = 0;

  for (guint32 i = 0; i < grid->statements->len; i++)
    {
      const GantryGridStatement *s = &g_array_index (grid->statements, GantryGridStatement, i);

      if (s->kind == GANTRY_GRID_AWAIT)
        {
          await = i;
          g_assert_cmpuint (s->mask, >=, 1);
        }
      if (s->kind == GANTRY_GRID_BARRIER && barrier == 0)
        barrier = i;
      if (barrier > 0 && multiply == 0 && (s->kind == GANTRY_GRID_MMA || s->kind == GANTRY_GRID_WGMMA))
        multiply = i;
      if (barrier > 0 && fetch == 0 && s->kind == GANTRY_GRID_FETCH)
        fetch = i;
    }
  g_assert_cmpuint (await, >, 0);
  g_assert_cmpuint (barrier, >, await);
  g_assert_cmpuint (multiply, >, barrier);
  g_assert_cmpuint (fetch, >, multiply);
}

static void
test_overlap (void)
{
  static const gint64 sizes[][2] = { { 4096, 4096 }, { 1408, 1536 }, { 64, 16896 }, { 64, 8192 }, { 8192, 64 }, { 64, 4096 } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      check_overlap (sizes[i][0], sizes[i][1], 80);
      check_overlap (sizes[i][0], sizes[i][1], 90);
    }
}

/* Results with few rows or columns are not covered by tiles of which more than half is thrown away. */
static void
test_narrow (void)
{
  static const gint64 wide[] = { 1024, 4096, 8192, 16384, 33792, 65536 };

  for (guint i = 0; i < G_N_ELEMENTS (wide); i++)
    for (guint narrow = 16; narrow <= 64; narrow *= 2)
      for (guint columns = 0; columns < 2; columns++)
        {
          g_autoptr (GantryBound) bound = columns ? bind_product (wide[i], narrow, 2048, "bf16", 90) : bind_product (narrow, wide[i], 2048, "bf16", 90);
          const GantryGrid *grid = g_ptr_array_index (bound->grids, 0);

          for (guint s = 0; s < grid->statements->len; s++)
            {
              const GantryGridStatement *statement = &g_array_index (grid->statements, GantryGridStatement, s);

              /* 64 rows for each four warps. */
              if (statement->kind == GANTRY_GRID_WGMMA)
                g_assert_cmpint (columns ? statement->step : grid->block[0] / 2, <=, 64);
            }
        }
}

/* A second launch costs what a launch costs: where the depth is short several blocks do not share it, where it is long they do. */
static void
test_splits (void)
{
  static const struct
  {
    gint64 m, n, k;
    const char *element;
    gboolean split;
  } cases_of_splits[] = {
    { 1024, 1024, 512, "bf16", FALSE }, { 512, 512, 512, "bf16", FALSE }, { 1024, 1024, 512, "f32", FALSE },
    { 64, 64, 8192, "bf16", TRUE },     { 64, 64, 16384, "f32", TRUE },   { 512, 512, 16384, "bf16", TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases_of_splits); i++)
    {
      g_autoptr (GantryBound) bound = bind_product (cases_of_splits[i].m, cases_of_splits[i].n, cases_of_splits[i].k, cases_of_splits[i].element, 90);

      g_assert_cmpuint (bound->grids->len, ==, cases_of_splits[i].split ? 2 : 1);
    }
}

/* Whether any fetch leaves what it reads in the first cache. */
static gboolean
fetches_cached (const GantryGrid *grid)
{
  gboolean cached = FALSE;

  for (guint i = 0; i < grid->statements->len; i++)
    {
      const GantryGridStatement *s = &g_array_index (grid->statements, GantryGridStatement, i);

      cached |= s->kind == GANTRY_GRID_FETCH && (s->shape & 2) != 0;
    }
  return cached;
}

/* A window reads elements again for the next places of the depth: they stay in the first cache. Of channels in blocks neighbouring threads
 * fetch neighbouring elements, each of them one place of the image: its thread number alone says where the window is. */
static void
test_windows (void)
{
  static const char *const weights[] = { "bf16[64,64,3,3]", "bf16[64,64,1,1]" };

  for (guint i = 0; i < G_N_ELEMENTS (weights); i++)
    {
      g_autofree char *operands = g_strdup_printf ("bf16[8,64,56,56] %s", weights[i]), *text = NULL;
      g_autoptr (ContractionCase) c = contraction_case_op (GANTRY_OP_CONVOLUTION, operands, i == 0 ? "padding=[1,1,1,1]" : "");
      g_autoptr (GantryBound) bound = NULL;
      const GantryGrid *grid;
      GantryGpu gpu;

      contraction_gpu (&gpu, 90);
      contraction_case_block (c, 8);
      bound = contraction_bind (c, gantry_bind_tensor_core, &gpu);
      grid = g_ptr_array_index (bound->grids, bound->grids->len - 1);
      g_assert_true (fetches_cached (grid) == (i == 0));
      text = gantry_grid_to_text (grid);
      g_assert_nonnull (strstr (text, "64 (thread.x % "));
    }
}

/* Few blocks of a long depth have six steps on their way: their time is the memory's. */
static void
test_deep (void)
{
  g_autoptr (GantryBound) bound = bind_product (8192, 64, 8192, "bf16", 90);
  const GantryGrid *grid = g_ptr_array_index (bound->grids, 0);
  gboolean found = FALSE;

  g_assert_false (fetches_cached (grid));
  for (guint i = 0; i < grid->statements->len; i++)
    {
      const GantryGridStatement *s = &g_array_index (grid->statements, GantryGridStatement, i);

      found |= s->kind == GANTRY_GRID_AWAIT && s->mask == 5;
    }
  g_assert_true (found);
}

/* The gradient of a convolution's weights: channels lie in blocks along the results, in which the window stands inside them. Both factors
 * are fetched, a block at a time, and places of the image are gone through as they lie. */
static void
test_weight_gradient (void)
{
  static const struct
  {
    const char *dy, *attributes;
  } windows[] = {
    { "[16,16,12,12]", "padding = [1, 1, 1, 1]" },
    { "[16,16,6,6]", "padding = [1, 0, 1, 0], rhs_dilation = [2, 2]" },
  };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (windows); i++)
    {
      const char *element = i % 2 == 0 ? "bf16" : "f16", *dy = windows[i / 2].dy;
      g_autofree char *text = g_strdup_printf (
        "module \"m\" { func @main #1 (%%1: T[16,32,12,12], %%2: T%s) -> (%%3) { %%3 = fusion(%%1, %%2) {body = #2}: T[32,16,3,3] }\n"
        "func @body #2 (%%11: T[16,32,12,12], %%12: T%s) -> (%%15) {\n"
        "%%13 = transpose(%%11) {permutation = [1, 0, 2, 3]}: T[32,16,12,12] %%14 = transpose(%%12) {permutation = [1, 0, 2, 3]}: T%s\n"
        "%%15 = convolution(%%13, %%14) {%s}: T[32,16,3,3] } }",
        dy, dy, dy, windows[i / 2].attributes);
      g_autoptr (GString) typed = g_string_new (text);
      g_autoptr (ContractionCase) c = NULL;
      g_autoptr (GantryBound) bound = NULL;
      g_autofree char *program = NULL;
      g_auto (GStrv) lines = NULL;
      GantryGpu gpu;

      g_string_replace (typed, "T[", i % 2 == 0 ? "bf16[" : "f16[", 0);
      contraction_gpu (&gpu, i % 2 == 0 ? 90 : 80);
      c = contraction_case_text (typed->str);
      for (guint k = 0; k < 2; k++)
        gantry_kx_layout_blocked (&c->source.inputs[k].layout, c->source.inputs[k].type, 1, 8);
      bound = contraction_bind (c, gantry_bind_tensor_core, &gpu);
      g_assert_nonnull (bound);
      program = gantry_grid_to_text (g_ptr_array_index (bound->grids, 0));
      lines = g_strsplit (program, "\n", -1);
      for (guint l = 0; lines[l] != NULL; l++)
        if (*g_strchug (lines[l]) != '\0' && g_str_has_prefix (lines[l] + 1, "_tile[") && strstr (lines[l], ":= fetch ") == NULL)
          g_error ("%s, %s: not fetched: %s", element, windows[i / 2].attributes, lines[l]);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/contraction/f32", test_f32);
  g_test_add_func ("/kernels/contraction/f64", test_f64);
  g_test_add_func ("/kernels/contraction/i32", test_i32);
  g_test_add_func ("/kernels/contraction/f16", test_f16);
  g_test_add_func ("/kernels/contraction/tensor-core-f16", test_tensor_core_f16);
  g_test_add_func ("/kernels/contraction/tensor-core-bf16", test_tensor_core_bf16);
  g_test_add_func ("/kernels/contraction/others", test_others);
  g_test_add_func ("/kernels/contraction/f32-on-tensor-cores", test_f32_on_tensor_cores);
  g_test_add_func ("/kernels/contraction/tf32", test_tf32);
  g_test_add_func ("/kernels/contraction/tf32-elementwise", test_tf32_elementwise);
  g_test_add_func ("/kernels/contraction/random", test_random);
  g_test_add_func ("/kernels/contraction/banks", test_banks);
  g_test_add_func ("/kernels/contraction/overlap", test_overlap);
  g_test_add_func ("/kernels/contraction/narrow", test_narrow);
  g_test_add_func ("/kernels/contraction/splits", test_splits);
  g_test_add_func ("/kernels/contraction/windows", test_windows);
  g_test_add_func ("/kernels/contraction/deep", test_deep);
  g_test_add_func ("/kernels/contraction/weight-gradient", test_weight_gradient);
  g_test_add_func ("/kernels/contraction/code", test_code);
  return g_test_run ();
}
