/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor expressions of the operations: their text, their invariants, and the meaning of those that index in
 * complicated ways (against loops written here). Arithmetic on values is tested with the evaluator, fusion in
 * test-texpr-fusion.c, index arithmetic in test-texpr-index.c. */
#include "core/expr/expr.h"
#include "tests/core/expr/texpr-test.h"
#include "tests/random-seed.h"

typedef struct
{
  GantryOp op;
  const char *operands, *attrs, *text;
} Text;

/* clang-format off */
static const Text texts[] = {
  /* The expressions of the conformance list, as this notation writes them: matmul, convolution, relu; affine and relu
   * are fusions and stand in test-texpr-fusion.c. */
  { GANTRY_OP_DOT_GENERAL, "f32[8,64] f32[64,32]", "lhs_contracting_dimensions=[1] rhs_contracting_dimensions=[0]",
    "C[i, j] = sum(A[i, k] * B[k, j], axis=[k])" },
  { GANTRY_OP_CONVOLUTION, "f32[2,3,9,9] f32[4,3,3,3]", "",
    "C[i, j, l, m] = sum(A[i, k0, l + k1, m + k2] * B[j, k0, k1, k2], axis=[k0, k1, k2])" },
  { GANTRY_OP_CONVOLUTION, "f32[2,4,9] f32[6,2,3] f32[6]", "feature_group_count=2 window_strides=[2] padding=[1,1] post=relu",
    "D[i, j, l] = max(sum(select(l*2 + k1 - 1 >= 0 && l*2 + k1 - 1 < 9, A[i, j/3*2 + k0, l*2 + k1 - 1], 0) * "
    "B[j, k0, k1], axis=[k0, k1]) + C[j], 0)" },
  { GANTRY_OP_CONVOLUTION, "f32[2,4,9] f32[6,4,3]", "padding=[1,1] skip_padding=1",
    "C[i, j, l] = sum(select(l + k1 - 1 >= 0 && l + k1 - 1 < 9, A[i, k0, l + k1 - 1] * B[j, k0, k1], 0), axis=[k0, k1])" },
  { GANTRY_OP_MULTIPLY, "f32[4] f32[4]", "", "C[i] = A[i] * B[i]" },
  { GANTRY_OP_MAXIMUM, "f32[4,5] f32[4,5]", "", "C[i, j] = max(A[i, j], B[i, j])" },
  { GANTRY_OP_SELECT, "bool[4] f32[4] f32[4]", "", "D[i] = select(A[i], B[i], C[i])" },
  { GANTRY_OP_CLAMP, "f32[4] f32[4] f32[4]", "", "D[i] = min(max(B[i], A[i]), C[i])" },
  { GANTRY_OP_COMPARE, "i32[4] i32[4]", "comparison_direction=GE", "C[i] = A[i] >= B[i]" },
  { GANTRY_OP_CONVERT, "f32[4]", "to=bf16[]", "B[i] = bf16(A[i])" },
  { GANTRY_OP_BITCAST_CONVERT, "f32[4]", "to=u32[]", "B[i] = bitcast_u32(A[i])" },
  { GANTRY_OP_NEGATE, "f32[4]", "", "B[i] = -A[i]" },
  { GANTRY_OP_EXPONENTIAL, "f32[]", "", "B[] = exp(A[])" },
  { GANTRY_OP_IOTA, "", "to=i32[4,5] iota_dimension=1", "A[i, j] = i32(j)" },
  { GANTRY_OP_BROADCAST_IN_DIM, "f32[3,1]", "shape=[2,3,4] broadcast_dimensions=[1,2]", "B[i, j, l] = A[j, 0]" },
  { GANTRY_OP_RESHAPE, "f32[8,16]", "shape=[128]", "B[i] = A[i/16, i%16]" },
  { GANTRY_OP_RESHAPE, "f32[128]", "shape=[8,16]", "B[i, j] = A[i*16 + j]" },
  { GANTRY_OP_RESHAPE, "f32[8,1,16]", "shape=[1,8,16,1]", "B[i, j, l, m] = A[j, 0, l]" },
  { GANTRY_OP_RESHAPE, "f32[4,6]", "shape=[8,3]", "B[i, j] = A[i/2, i%2*3 + j]" },
  { GANTRY_OP_TRANSPOSE, "f32[2,3,4]", "permutation=[2,0,1]", "B[i, j, l] = A[j, l, i]" },
  { GANTRY_OP_REVERSE, "f32[2,3]", "dimensions=[1]", "B[i, j] = A[i, 2 - j]" },
  { GANTRY_OP_SLICE, "f32[10]", "start_indices=[1] limit_indices=[10] strides=[4]", "B[i] = A[i*4 + 1]" },
  { GANTRY_OP_PAD, "f32[4] f32[]", "edge_padding_low=[1] edge_padding_high=[0]", "C[i] = select(i - 1 >= 0, A[i - 1], B[])" },
  { GANTRY_OP_PAD, "f32[9] f32[]", "edge_padding_low=[-2] edge_padding_high=[-1]", "C[i] = A[i + 2]" },
  { GANTRY_OP_CONCATENATE, "f32[2] f32[3]", "dimension=0", "C[i] = select(i < 2, A[i], B[i - 2])" },
  { GANTRY_OP_GATHER, "f32[10,16] i32[4]",
    "offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[1,16]",
    "C[i, j] = A[min(max(i64(B[i]), 0), 9), j]" },
  { GANTRY_OP_DYNAMIC_SLICE, "f32[10] i32[]", "slice_sizes=[4]", "C[i] = A[i + min(max(i64(B[]), 0), 6)]" },
  { GANTRY_OP_REDUCE, "f16[2,3]", "kind=max dimensions=[0]", "B[i] = f16(max(f32(A[k, i]), axis=[k]))" },
  { GANTRY_OP_REDUCE, "i32[2,3]", "kind=add dimensions=[0,1]", "B[] = sum(A[k0, k1], axis=[k0, k1])" },
  { GANTRY_OP_REDUCE, "f32[1,3]", "kind=add dimensions=[0]", "B[i] = A[0, i]" },
  { GANTRY_OP_REDUCE_WINDOW, "f32[5]", "kind=max window_dimensions=[2] padding=[1,0]",
    "B[i] = max(select(i + k - 1 >= 0, A[i + k - 1], -inf), axis=[k])" },
  { GANTRY_OP_DOT_GENERAL, "i8[8] i8[8]", "lhs_contracting_dimensions=[0] rhs_contracting_dimensions=[0] to=i32[]",
    "C[] = sum(i32(A[k]) * i32(B[k]), axis=[k])" },
  { GANTRY_OP_CHECKPOINT_NAME, "f32[2]", "name=x", "B[i] = A[i]" },
  { GANTRY_OP_COPY, "f32[2]", "", "B[i] = A[i]" },
  { GANTRY_OP_OPTIMIZATION_BARRIER, "f32[2]", "", "B[i] = A[i]" },
  { GANTRY_OP_ADD, "i64[4] i64[4]", "", "C[i] = A[i] + B[i]" },
};
/* clang-format on */

static void
test_texts (void)
{
  TestSet set;

  set_init (&set);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GantryTexpr) texpr = texpr_of (&set, texts[i].op, texts[i].operands, texts[i].attrs);
      g_autofree char *text = gantry_texpr_to_text (texpr, NULL);

      g_assert_cmpstr (text, ==, texts[i].text);
    }
  set_clear (&set);
}

static void
test_names (void)
{
  TestSet set;
  g_autoptr (GantryTexpr) texpr = NULL;
  g_autofree char *text = NULL;

  set_init (&set);
  texpr = texpr_of (&set, GANTRY_OP_DOT_GENERAL, "f32[8,64] f32[64,32]", "lhs_contracting_dimensions=[1] rhs_contracting_dimensions=[0]");
  text = gantry_texpr_to_text (texpr, (const char *const[]){ "data", "weight" });
  g_assert_cmpstr (text, ==, "out[i, j] = sum(data[i, k] * weight[k, j], axis=[k])");
  set_clear (&set);
}

/* Every operation has a meaning, or says that it has none. */
static void
test_complete (void)
{
  TestSet set;

  set_init (&set);
  for (guint op = 1; op < GANTRY_N_OPS; op++)
    {
      const GantryOpInfo *info = gantry_op_info (op);
      gboolean plain = op >= GANTRY_OP_ABS && op <= GANTRY_OP_SHIFT_RIGHT_LOGICAL;
      static const char *const elements[] = { "f32", "i32" };
      guint made = 0;

      g_test_message ("%s", info->name);
      for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
        made += texts[i].op == op;
      for (guint i = 0; plain && i < 2; i++)
        {
          g_autofree char *operand = g_strdup_printf (info->max_operands == 1 ? "%s[4]" : "%s[4] %s[4]", elements[i], elements[i]);
          guint32 type = test_type (&set, i == 0 ? "f32[4]" : "i32[4]"), types[2] = { type, type };
          GantryTypeQuery query = {
            .context = set.context, .op = op, .n_operands = info->max_operands, .operand_types = types, .attrs = test_attrs (&set, "to=f32[]")
          };

          if (gantry_op_infer (&query, NULL) != 0)
            {
              g_autoptr (GantryTexpr) texpr = texpr_of (&set, op, operand, "to=f32[]");

              made++;
            }
        }
      if (op == GANTRY_OP_DYNAMIC_UPDATE_SLICE)
        made++; /* test_dynamic_update */
      if (op == GANTRY_OP_FUSION)
        made++; /* test-texpr-fusion.c */
      g_assert_cmpint (made > 0, ==, !(info->flags & (GANTRY_OP_EXTERN | GANTRY_OP_STRUCTURE)));
    }
  set_clear (&set);
}

static void
test_refused (void)
{
  static const Text refused[] = {
    { GANTRY_OP_SORT, "f32[4]", "dimension=0", "not said by a tensor expression" },
    { GANTRY_OP_ABS, "f32[n]", "", "known shape" },
    { GANTRY_OP_SELECT, "bool[4] string[4] string[4]", "", "can be compiled" },
  };
  TestSet set;

  set_init (&set);
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autoptr (GantryBuilder) builder = gantry_builder_new (set.context, "m");
      g_autoptr (GantryModule) module = NULL;
      g_autoptr (GError) error = NULL;
      guint32 ids[16], result;

      gantry_builder_begin (builder, "main", 0);
      result = gantry_builder_add (builder, refused[i].op, ids, add_parameters (&set, builder, refused[i].operands, ids), test_attrs (&set, refused[i].attrs));
      gantry_builder_end (builder, &result, 1);
      module = gantry_builder_finish (builder, &error);
      g_assert_no_error (error);
      g_assert_null (gantry_texpr_of_node (module, gantry_module_node (module, result), &error));
      g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
      g_assert_nonnull (strstr (error->message, refused[i].text));
    }
  set_clear (&set);
}

/* Operations with difficult indices, against loops */

/* 1-d windows by the definition: dilate, pad, slide. */
static double
slide_1d (const double *base, gint64 size, gint64 position, gint64 base_dilation, gboolean *there)
{
  *there = position >= 0 && position <= (size - 1) * base_dilation && position % base_dilation == 0;
  return *there ? base[position / base_dilation] : 0;
}

static void
test_pad (void)
{
  TestSet set;

  set_init (&set);
  for (gint64 low = -2; low <= 2; low++)
    for (gint64 high = -2; high <= 2; high++)
      for (gint64 interior = 0; interior <= 2; interior++)
        {
          g_autofree char *attrs = g_strdup_printf ("edge_padding_low=[%d] edge_padding_high=[%d] interior_padding=[%d]", (int) low, (int) high,
                                                    (int) interior);
          g_autoptr (GantryTexpr) texpr = texpr_of (&set, GANTRY_OP_PAD, "f32[5] f32[]", attrs);
          g_autofree double *x = counting (5, 1);
          double value = -1;
          Machine m = { .texpr = texpr, .inputs = (double *const[]){ x, &value } };

          g_assert_cmpint (texpr->shape[0], ==, 5 + 4 * interior + low + high);
          for (gint64 i = 0; i < texpr->shape[0]; i++)
            {
              gboolean there;
              double want = slide_1d (x, 5, i - low, interior + 1, &there);

              m.index[0] = i;
              g_assert_cmpfloat (run (&m, texpr->root), ==, there ? want : value);
            }
        }
  set_clear (&set);
}

static void
test_windows (void)
{
  TestSet set;
  g_autoptr (GRand) rand = test_rand (3);

  set_init (&set);
  for (guint round = 0; round < 200; round++)
    {
      gint64 size = g_rand_int_range (rand, 1, 4), stride = g_rand_int_range (rand, 1, 4), low = g_rand_int_range (rand, 0, 3);
      gint64 high = g_rand_int_range (rand, 0, 3), bd = g_rand_int_range (rand, 1, 4), wd = g_rand_int_range (rand, 1, 4);
      g_autofree char *attrs = g_strdup_printf ("kind=max window_dimensions=[%d] window_strides=[%d] padding=[%d,%d] "
                                                "base_dilations=[%d] window_dilations=[%d]",
                                                (int) size, (int) stride, (int) low, (int) high, (int) bd, (int) wd);
      g_autoptr (GantryTexpr) texpr = texpr_of (&set, GANTRY_OP_REDUCE_WINDOW, "f32[6]", attrs);
      g_autofree double *x = counting (6, 1);
      Machine m = { .texpr = texpr, .inputs = &x };
      gint64 padded = 5 * bd + 1 + low + high, window = (size - 1) * wd + 1;

      g_assert_cmpint (texpr->shape[0], ==, padded < window ? 0 : (padded - window) / stride + 1);
      for (gint64 i = 0; i < texpr->shape[0]; i++)
        {
          double want = -INFINITY;

          for (gint64 k = 0; k < size; k++)
            {
              gboolean there;
              double value = slide_1d (x, 6, i * stride + k * wd - low, bd, &there);

              want = there ? MAX (want, value) : want;
            }
          m.index[0] = i;
          g_assert_cmpfloat (run (&m, texpr->root), ==, want);
        }
    }
  set_clear (&set);
}

static void
test_convolution (void)
{
  TestSet set;
  g_autoptr (GRand) rand = test_rand (5);

  set_init (&set);
  for (guint round = 0; round < 60; round++)
    {
      gint64 groups = g_rand_int_range (rand, 1, 3), per = g_rand_int_range (rand, 1, 3), out = groups * g_rand_int_range (rand, 1, 3);
      gint64 size = g_rand_int_range (rand, 1, 4), stride = g_rand_int_range (rand, 1, 3), low = g_rand_int_range (rand, -1, 3);
      gint64 bd = g_rand_int_range (rand, 1, 3), wd = g_rand_int_range (rand, 1, 3);
      gint64 data_dims[3] = { 2, groups * per, 7 }, kernel_dims[3] = { out, per, size };
      g_autofree char *operands = g_strdup_printf ("f32[2,%d,7] f32[%d,%d,%d] f32[%d]", (int) data_dims[1], (int) out, (int) per, (int) size, (int) out);
      g_autofree char *attrs = g_strdup_printf ("feature_group_count=%d window_strides=[%d] padding=[%d,1] lhs_dilation=[%d] "
                                                "rhs_dilation=[%d] post=relu",
                                                (int) groups, (int) stride, (int) low, (int) bd, (int) wd);
      g_autoptr (GantryTexpr) texpr = texpr_of (&set, GANTRY_OP_CONVOLUTION, operands, attrs);
      g_autofree double *data = counting (2 * data_dims[1] * 7, -9), *kernel = counting (out * per * size, -15);
      g_autofree double *bias = counting (out, -3);
      Machine m = { .texpr = texpr, .inputs = (double *const[]){ data, kernel, bias } };

      for (gint64 e = 0; e < count (texpr); e++)
        {
          double want;

          place (&m, e);
          want = bias[m.index[1]];
          for (gint64 c = 0; c < per; c++)
            for (gint64 k = 0; k < size; k++)
              {
                gint64 row[3] = { m.index[0], m.index[1] / (out / groups) * per + c, 0 }, w[3] = { m.index[1], c, k };
                gboolean there;
                double value = slide_1d (data + number_of (3, data_dims, row), 7, m.index[2] * stride + k * wd - low, bd, &there);

                want += value * kernel[number_of (3, kernel_dims, w)];
              }
          g_assert_cmpfloat (run (&m, texpr->root), ==, MAX (want, 0));
        }
    }
  set_clear (&set);
}

/* Gather with all its dimension numbers: batching dimensions, a permuted index map, index vectors in the middle. */
static void
test_gather (void)
{
  TestSet set;
  g_autoptr (GantryTexpr) texpr = NULL;
  gint64 operand_dims[4] = { 2, 5, 3, 4 }, indices_dims[3] = { 6, 2, 2 };
  g_autofree double *operand = counting (120, 0), *indices = NULL;
  Machine m;

  set_init (&set);
  /* operand [batch 2, 5, 3, 4], indices [6, vector 2, batch 2]; result [6, window 3 (of dim 3), window 2 (of dim 1), 2] */
  texpr = texpr_of (&set, GANTRY_OP_GATHER, "f32[2,5,3,4] i32[6,2,2]",
                    "offset_dims=[1,2] collapsed_slice_dims=[2] operand_batching_dims=[0] start_indices_batching_dims=[2] "
                    "start_index_map=[2,1] index_vector_dim=1 slice_sizes=[1,3,1,2]");
  g_assert_cmpint (texpr->rank, ==, 4);
  indices = g_new (double, 24);
  for (guint i = 0; i < 24; i++)
    indices[i] = (i * 5) % 9 - 2.0; /* some are outside and must be moved */
  m = (Machine){ .texpr = texpr, .inputs = (double *const[]){ operand, indices } };
  for (gint64 e = 0; e < count (texpr); e++)
    {
      gint64 at[3], from[4], start2, start1;

      place (&m, e); /* [a, w1, w3, batch] */
      at[0] = m.index[0];
      at[2] = m.index[3];
      at[1] = 0;
      start2 = (gint64) indices[number_of (3, indices_dims, at)];
      at[1] = 1;
      start1 = (gint64) indices[number_of (3, indices_dims, at)];
      from[0] = m.index[3];
      from[1] = CLAMP (start1, 0, 5 - 3) + m.index[1];
      from[2] = CLAMP (start2, 0, 3 - 1);
      from[3] = m.index[2];
      g_assert_cmpfloat (run (&m, texpr->root), ==, operand[number_of (4, operand_dims, from)]);
    }
  set_clear (&set);
}

static void
test_dynamic_update (void)
{
  TestSet set;
  g_autoptr (GantryTexpr) texpr = NULL;

  set_init (&set);
  texpr = texpr_of (&set, GANTRY_OP_DYNAMIC_UPDATE_SLICE, "f32[4,5] f32[2,3] i32[] i64[]", "");
  for (int s0 = -1; s0 < 5; s0++)
    for (int s1 = -1; s1 < 5; s1++)
      {
        g_autofree double *x = counting (20, 0), *u = counting (6, 100);
        double start0 = s0, start1 = s1;
        Machine m = { .texpr = texpr, .inputs = (double *const[]){ x, u, &start0, &start1 } };

        for (gint64 e = 0; e < 20; e++)
          {
            gint64 i, j;
            double want;

            place (&m, e);
            i = m.index[0] - CLAMP (s0, 0, 2);
            j = m.index[1] - CLAMP (s1, 0, 2);
            want = i >= 0 && i < 2 && j >= 0 && j < 3 ? u[i * 3 + j] : x[e];
            g_assert_cmpfloat (run (&m, texpr->root), ==, want);
          }
      }
  set_clear (&set);
}

static void
test_dot (void)
{
  TestSet set;
  g_autoptr (GantryTexpr) texpr = NULL;
  gint64 a_dims[4] = { 3, 2, 4, 5 }, b_dims[4] = { 5, 6, 2, 4 };
  g_autofree double *a = counting (120, 0), *b = counting (240, 1);
  Machine m;

  set_init (&set);
  texpr = texpr_of (&set, GANTRY_OP_DOT_GENERAL, "f32[3,2,4,5] f32[5,6,2,4]",
                    "lhs_batching_dimensions=[1] rhs_batching_dimensions=[2] lhs_contracting_dimensions=[3,2] "
                    "rhs_contracting_dimensions=[0,3]");
  m = (Machine){ .texpr = texpr, .inputs = (double *const[]){ a, b } };
  for (gint64 e = 0; e < count (texpr); e++)
    {
      double want = 0;

      place (&m, e); /* [batch 2, 3, 6] */
      for (gint64 k = 0; k < 5; k++)
        for (gint64 l = 0; l < 4; l++)
          want += a[number_of (4, a_dims, (gint64[]){ m.index[1], m.index[0], l, k })] * b[number_of (4, b_dims, (gint64[]){ k, m.index[2], m.index[0], l })];
      g_assert_cmpfloat (run (&m, texpr->root), ==, want);
    }
  set_clear (&set);
}

static void
test_concatenate (void)
{
  TestSet set;
  g_autoptr (GantryTexpr) texpr = NULL;
  static const gint64 sizes[] = { 2, 0, 3, 1, 4 };
  Machine m;

  set_init (&set);
  texpr = texpr_of (&set, GANTRY_OP_CONCATENATE, "f32[3,2] f32[3,0] f32[3,3] f32[3,1] f32[3,4]", "dimension=1");
  m = (Machine){ .texpr = texpr };
  for (gint64 e = 0; e < count (texpr); e++)
    {
      gint64 j;
      guint input = 0;

      place (&m, e);
      for (j = m.index[1]; j >= sizes[input]; input++)
        j -= sizes[input];
      g_assert_cmpfloat (run (&m, texpr->root), ==, 1000.0 * (input + 1) + (double) (m.index[0] * sizes[input] + j));
    }
  set_clear (&set);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ir/texpr/text", test_texts);
  g_test_add_func ("/ir/texpr/names", test_names);
  g_test_add_func ("/ir/texpr/complete", test_complete);
  g_test_add_func ("/ir/texpr/refused", test_refused);
  g_test_add_func ("/ir/texpr/pad", test_pad);
  g_test_add_func ("/ir/texpr/windows", test_windows);
  g_test_add_func ("/ir/texpr/convolution", test_convolution);
  g_test_add_func ("/ir/texpr/gather", test_gather);
  g_test_add_func ("/ir/texpr/dynamic-update", test_dynamic_update);
  g_test_add_func ("/ir/texpr/dot", test_dot);
  g_test_add_func ("/ir/texpr/concatenate", test_concatenate);
  return g_test_run ();
}
