/* SPDX-License-Identifier: Apache-2.0 */
/* Every operation that has code, in its types and in odd shapes, against the evaluator. */
#include "tests/core/kernels/kernel-test.h"
#include "tests/random-seed.h"
#include <math.h>

static const KernelTolerance elementwise = { .relative = 6e-7, .absolute = 3e-45, .special = TRUE };

static void
test_op_in_types (GantryOp op, guint n, const char *const *types, const char *attributes)
{
  static const char *const shapes[] = { "[]", "[7]", "[3,5,9]", "[1025]" };
  g_autoptr (GRand) rand = test_rand (1);

  for (guint t = 0; types[t] != NULL; t++)
    for (guint s = 0; s < G_N_ELEMENTS (shapes); s++)
      {
        g_autoptr (GString) operands = g_string_new (NULL);

        for (guint i = 0; i < n; i++)
          g_string_append_printf (operands, "%s%s%s", i > 0 ? " " : "", types[t], shapes[s]);
        kernel_test_op (op, operands->str, attributes, &elementwise, rand);
      }
}

static const char *const floats[] = { "f32", "f64", "f16", "bf16", NULL };
static const char *const integers[] = { "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", NULL };
static const char *const numbers[] = { "f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", NULL };
static const char *const all[] = { "f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool", NULL };
static const char *const logical[] = { "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", NULL };

typedef struct
{
  guint op;
  guint n;
  const char *const *types;
  const char *attributes;
} Case;

/* clang-format off */
static const Case cases[] = {
  { GANTRY_OP_ABS, 1, numbers }, { GANTRY_OP_NEGATE, 1, numbers }, { GANTRY_OP_SIGN, 1, numbers },
  { GANTRY_OP_EXPONENTIAL, 1, floats }, { GANTRY_OP_EXPONENTIAL_MINUS_ONE, 1, floats }, { GANTRY_OP_LOG, 1, floats },
  { GANTRY_OP_LOG_PLUS_ONE, 1, floats }, { GANTRY_OP_LOGISTIC, 1, floats }, { GANTRY_OP_TANH, 1, floats },
  { GANTRY_OP_SQRT, 1, floats }, { GANTRY_OP_RSQRT, 1, floats }, { GANTRY_OP_CBRT, 1, floats },
  { GANTRY_OP_SINE, 1, floats }, { GANTRY_OP_COSINE, 1, floats }, { GANTRY_OP_TAN, 1, floats },
  { GANTRY_OP_ASIN, 1, floats }, { GANTRY_OP_ACOS, 1, floats }, { GANTRY_OP_ATAN, 1, floats },
  { GANTRY_OP_SINH, 1, floats }, { GANTRY_OP_COSH, 1, floats }, { GANTRY_OP_ASINH, 1, floats },
  { GANTRY_OP_ACOSH, 1, floats }, { GANTRY_OP_ATANH, 1, floats }, { GANTRY_OP_ERF, 1, floats },
  { GANTRY_OP_FLOOR, 1, floats }, { GANTRY_OP_CEIL, 1, floats }, { GANTRY_OP_ROUND_NEAREST_EVEN, 1, floats },
  { GANTRY_OP_ROUND_NEAREST_AFZ, 1, floats }, { GANTRY_OP_IS_FINITE, 1, floats }, { GANTRY_OP_IS_NAN, 1, floats },
  { GANTRY_OP_NOT, 1, logical }, { GANTRY_OP_POPCNT, 1, integers }, { GANTRY_OP_COUNT_LEADING_ZEROS, 1, integers },
  { GANTRY_OP_ADD, 2, numbers }, { GANTRY_OP_SUBTRACT, 2, numbers }, { GANTRY_OP_MULTIPLY, 2, numbers },
  { GANTRY_OP_DIVIDE, 2, numbers }, { GANTRY_OP_REMAINDER, 2, numbers }, { GANTRY_OP_POWER, 2, numbers },
  { GANTRY_OP_MAXIMUM, 2, numbers }, { GANTRY_OP_MINIMUM, 2, numbers }, { GANTRY_OP_ATAN2, 2, floats },
  { GANTRY_OP_AND, 2, logical }, { GANTRY_OP_OR, 2, logical }, { GANTRY_OP_XOR, 2, logical },
  { GANTRY_OP_SHIFT_LEFT, 2, integers }, { GANTRY_OP_SHIFT_RIGHT_ARITHMETIC, 2, integers },
  { GANTRY_OP_SHIFT_RIGHT_LOGICAL, 2, integers }, { GANTRY_OP_CLAMP, 3, numbers },
};
/* clang-format on */

static void
test_case (gconstpointer data)
{
  const Case *c = data;

  test_op_in_types (c->op, c->n, c->types, c->attributes);
}

static void
test_compare (void)
{
  static const char *const directions[] = { "EQ", "NE", "LT", "LE", "GT", "GE" };

  for (guint i = 0; i < G_N_ELEMENTS (directions); i++)
    {
      g_autofree char *attributes = g_strdup_printf ("comparison_direction=%s", directions[i]);

      test_op_in_types (GANTRY_OP_COMPARE, 2, all, attributes);
    }
}

static void
test_select (void)
{
  g_autoptr (GRand) rand = test_rand (1);

  for (guint t = 0; all[t] != NULL; t++)
    {
      g_autofree char *operands = g_strdup_printf ("bool[5,13] %s[5,13] %s[5,13]", all[t], all[t]);

      kernel_test_op (GANTRY_OP_SELECT, operands, "", &elementwise, rand);
    }
}

static void
test_convert (void)
{
  g_autoptr (GRand) rand = test_rand (1);

  for (guint from = 0; all[from] != NULL; from++)
    for (guint to = 0; all[to] != NULL; to++)
      {
        g_autofree char *operands = g_strdup_printf ("%s[77]", all[from]);
        g_autofree char *attributes = g_strdup_printf ("to=%s[]", all[to]);

        kernel_test_op (GANTRY_OP_CONVERT, operands, attributes, &elementwise, rand);
      }
}

static void
test_bitcast (void)
{
  static const char *const pairs[][2] = { { "f32", "i32" }, { "i32", "f32" },  { "f64", "u64" },  { "u64", "f64" }, { "f16", "u16" },
                                          { "u16", "f16" }, { "bf16", "i16" }, { "i16", "bf16" }, { "i8", "u8" },   { "f16", "bf16" } };
  g_autoptr (GRand) rand = test_rand (1);

  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    {
      g_autofree char *operands = g_strdup_printf ("%s[61]", pairs[i][0]);
      g_autofree char *attributes = g_strdup_printf ("to=%s[]", pairs[i][1]);

      kernel_test_op (GANTRY_OP_BITCAST_CONVERT, operands, attributes, &elementwise, rand);
    }
}

/* Movement, reductions, contractions: operands and attributes by hand. */

typedef struct
{
  guint op;
  const char *operands;
  const char *attributes;
} Shaped;

static const Shaped movement[] = {
  { GANTRY_OP_IOTA, "", "to=f32[7,9] iota_dimension=0" },
  { GANTRY_OP_IOTA, "", "to=i32[7,9] iota_dimension=1" },
  { GANTRY_OP_IOTA, "", "to=i64[1000] iota_dimension=0" },
  { GANTRY_OP_IOTA, "", "to=u8[300] iota_dimension=0" },
  { GANTRY_OP_IOTA, "", "to=bf16[3,40] iota_dimension=1" },
  { GANTRY_OP_BROADCAST_IN_DIM, "f32[]", "shape=[5,7] broadcast_dimensions=[]" },
  { GANTRY_OP_BROADCAST_IN_DIM, "f32[5]", "shape=[5,33] broadcast_dimensions=[0]" },
  { GANTRY_OP_BROADCAST_IN_DIM, "f32[33]", "shape=[5,33] broadcast_dimensions=[1]" },
  { GANTRY_OP_BROADCAST_IN_DIM, "f32[1,33]", "shape=[5,33] broadcast_dimensions=[0,1]" },
  { GANTRY_OP_BROADCAST_IN_DIM, "i8[3,1,4]", "shape=[2,3,6,4] broadcast_dimensions=[1,2,3]" },
  { GANTRY_OP_TRANSPOSE, "f32[33,17]", "permutation=[1,0]" },
  { GANTRY_OP_TRANSPOSE, "f32[64,64]", "permutation=[1,0]" },
  { GANTRY_OP_TRANSPOSE, "f32[3,8,10,5]", "permutation=[0,2,3,1]" },
  { GANTRY_OP_TRANSPOSE, "f32[2,3,4,5]", "permutation=[3,2,1,0]" },
  { GANTRY_OP_TRANSPOSE, "f64[12,12,9]", "permutation=[0,2,1]" },
  { GANTRY_OP_TRANSPOSE, "i8[40,50]", "permutation=[1,0]" },
  { GANTRY_OP_TRANSPOSE, "bool[40,50]", "permutation=[1,0]" },
  { GANTRY_OP_REVERSE, "f32[3,67]", "dimensions=[1]" },
  { GANTRY_OP_REVERSE, "f32[3,67]", "dimensions=[0,1]" },
  { GANTRY_OP_REVERSE, "i16[9,4,5]", "dimensions=[0,2]" },
  { GANTRY_OP_SLICE, "f32[10,90]", "start_indices=[2,5] limit_indices=[9,88] strides=[1,1]" },
  { GANTRY_OP_SLICE, "f32[10,90]", "start_indices=[1,3] limit_indices=[10,90] strides=[3,2]" },
  { GANTRY_OP_SLICE, "f32[10,90]", "start_indices=[4,4] limit_indices=[4,90] strides=[1,1]" },
  { GANTRY_OP_PAD, "f32[5,20] f32[]", "edge_padding_low=[1,2] edge_padding_high=[3,4] interior_padding=[0,0]" },
  { GANTRY_OP_PAD, "f32[5,20] f32[]", "edge_padding_low=[-1,-2] edge_padding_high=[-1,9] interior_padding=[0,0]" },
  { GANTRY_OP_PAD, "f32[5,20] f32[]", "edge_padding_low=[1,2] edge_padding_high=[0,1] interior_padding=[1,2]" },
  { GANTRY_OP_PAD, "i32[0,4] i32[]", "edge_padding_low=[2,1] edge_padding_high=[1,1] interior_padding=[0,0]" },
  { GANTRY_OP_PAD, "f32[2,3,14,14] f32[]", "edge_padding_low=[0,0,1,1] edge_padding_high=[0,0,1,1] interior_padding=[0,0,0,0]" },
  { GANTRY_OP_CONCATENATE, "f32[4,9] f32[4,30] f32[4,1]", "dimension=1" },
  { GANTRY_OP_CONCATENATE, "f32[2,9] f32[30,9] f32[1,9]", "dimension=0" },
  { GANTRY_OP_CONCATENATE, "i64[0,9] i64[3,9]", "dimension=0" },
  { GANTRY_OP_CONCATENATE, "f32[2,3,5,5] f32[2,8,5,5] f32[2,1,5,5] f32[2,16,5,5]", "dimension=1" },
  { GANTRY_OP_RESHAPE, "f32[4,9]", "shape=[6,6]" },
  { GANTRY_OP_DYNAMIC_SLICE, "f32[10,40] i32[] i32[]", "slice_sizes=[3,22]" },
  { GANTRY_OP_DYNAMIC_SLICE, "f32[10,40] i64[] i64[]", "slice_sizes=[10,40]" },
  { GANTRY_OP_DYNAMIC_SLICE, "u8[100] u8[]", "slice_sizes=[41]" },
  { GANTRY_OP_DYNAMIC_UPDATE_SLICE, "f32[10,40] f32[3,22] i32[] i32[]", "" },
  { GANTRY_OP_DYNAMIC_UPDATE_SLICE, "f32[100] f32[0] i64[]", "" },
  { GANTRY_OP_GATHER, "f32[20,35] i64[6,1]", "offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[1,35]" },
  { GANTRY_OP_GATHER, "f32[20,35] i32[6]", "offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[1,35]" },
  { GANTRY_OP_GATHER, "f32[20,35] i32[50,2]", "offset_dims=[] collapsed_slice_dims=[0,1] start_index_map=[0,1] index_vector_dim=1 slice_sizes=[1,1]" },
  { GANTRY_OP_GATHER, "i8[9] u8[70,1]", "offset_dims=[] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[1]" },
};

static const Shaped reductions[] = {
  { GANTRY_OP_REDUCE, "f32[1000]", "kind=add dimensions=[0]" },
  { GANTRY_OP_REDUCE, "f32[5,1001]", "kind=add dimensions=[1]" },
  { GANTRY_OP_REDUCE, "f32[301,37]", "kind=add dimensions=[0]" },
  { GANTRY_OP_REDUCE, "f32[4,6,49]", "kind=max dimensions=[2]" },
  { GANTRY_OP_REDUCE, "f32[4,6,7,7]", "kind=add dimensions=[2,3]" },
  { GANTRY_OP_REDUCE, "f32[4,6,7,7]", "kind=add dimensions=[0,2,3]" },
  { GANTRY_OP_REDUCE, "f32[4,6,7,9]", "kind=min dimensions=[1,3]" },
  { GANTRY_OP_REDUCE, "f32[40,3]", "kind=mul dimensions=[1]" },
  { GANTRY_OP_REDUCE, "f64[7,300]", "kind=add dimensions=[1]" },
  { GANTRY_OP_REDUCE, "f16[7,300]", "kind=max dimensions=[1]" },
  { GANTRY_OP_REDUCE, "bf16[30,70]", "kind=min dimensions=[0]" },
  { GANTRY_OP_REDUCE, "i8[7,300]", "kind=add dimensions=[1]" },
  { GANTRY_OP_REDUCE, "u8[7,300]", "kind=max dimensions=[1]" },
  { GANTRY_OP_REDUCE, "i16[7,300]", "kind=min dimensions=[1]" },
  { GANTRY_OP_REDUCE, "i64[70,30]", "kind=mul dimensions=[0]" },
  { GANTRY_OP_REDUCE, "i32[70,30]", "kind=and dimensions=[0]" },
  { GANTRY_OP_REDUCE, "bool[70,30]", "kind=and dimensions=[0]" },
  { GANTRY_OP_REDUCE, "bool[7,300]", "kind=or dimensions=[1]" },
  { GANTRY_OP_REDUCE, "f32[7,0]", "kind=add dimensions=[1]" },
  { GANTRY_OP_REDUCE, "f32[7,0]", "kind=max dimensions=[1]" },
  { GANTRY_OP_REDUCE, "f32[0,7]", "kind=add dimensions=[1]" },
  { GANTRY_OP_REDUCE_WINDOW, "f32[2,3,17,19]", "kind=max window_dimensions=[1,1,3,3] window_strides=[1,1,2,2] padding=[0,0,0,0,1,1,1,1]" },
  { GANTRY_OP_REDUCE_WINDOW, "f32[2,3,16,16]", "kind=max window_dimensions=[1,1,2,2] window_strides=[1,1,2,2] padding=[0,0,0,0,0,0,0,0]" },
  { GANTRY_OP_REDUCE_WINDOW, "f32[1,2,28,28]", "kind=max window_dimensions=[1,1,3,3] window_strides=[1,1,1,1] padding=[0,0,0,0,1,1,1,1]" },
  { GANTRY_OP_REDUCE_WINDOW, "f32[1,2,9,9]", "kind=add window_dimensions=[1,1,7,7] window_strides=[1,1,1,1] padding=[0,0,0,0,3,3,3,3]" },
  { GANTRY_OP_REDUCE_WINDOW, "f32[40]", "kind=add window_dimensions=[4] window_strides=[3] base_dilations=[2] window_dilations=[3] padding=[2,5]" },
  { GANTRY_OP_REDUCE_WINDOW, "i32[9,11]", "kind=min window_dimensions=[2,3] window_strides=[2,1] padding=[1,0,0,2]" },
  { GANTRY_OP_REDUCE_WINDOW, "f32[64]", "kind=add window_dimensions=[64] window_strides=[1] padding=[63,0]" },
};

static const Shaped contractions[] = {
  { GANTRY_OP_DOT_GENERAL, "f32[33,40] f32[40,27]", "lhs_contracting_dimensions=[1] rhs_contracting_dimensions=[0]" },
  { GANTRY_OP_DOT_GENERAL, "f32[128,64] f32[64,96]", "lhs_contracting_dimensions=[1] rhs_contracting_dimensions=[0]" },
  { GANTRY_OP_DOT_GENERAL, "f32[33,40] f32[27,40]", "lhs_contracting_dimensions=[1] rhs_contracting_dimensions=[1]" },
  { GANTRY_OP_DOT_GENERAL, "f32[40,33] f32[40,27]", "lhs_contracting_dimensions=[0] rhs_contracting_dimensions=[0]" },
  { GANTRY_OP_DOT_GENERAL, "f32[40,33] f32[27,40]", "lhs_contracting_dimensions=[0] rhs_contracting_dimensions=[1]" },
  { GANTRY_OP_DOT_GENERAL, "f32[3,5,33,40] f32[3,5,40,27]",
    "lhs_batching_dimensions=[0,1] rhs_batching_dimensions=[0,1] lhs_contracting_dimensions=[3] rhs_contracting_dimensions=[2]" },
  { GANTRY_OP_DOT_GENERAL, "f32[6,7,40] f32[40,27]", "lhs_contracting_dimensions=[2] rhs_contracting_dimensions=[0]" },
  { GANTRY_OP_DOT_GENERAL, "f32[9,4,12,8] f32[9,4,10,8]",
    "lhs_batching_dimensions=[0,1] rhs_batching_dimensions=[0,1] lhs_contracting_dimensions=[3] rhs_contracting_dimensions=[3]" },
  { GANTRY_OP_DOT_GENERAL, "f32[9,12,4,8] f32[9,10,4,8]",
    "lhs_batching_dimensions=[0,2] rhs_batching_dimensions=[0,2] lhs_contracting_dimensions=[3] rhs_contracting_dimensions=[3]" },
  { GANTRY_OP_DOT_GENERAL, "f32[5,6,7] f32[6,7,9]", "lhs_contracting_dimensions=[1,2] rhs_contracting_dimensions=[0,1]" },
  { GANTRY_OP_DOT_GENERAL, "f32[5,6,7] f32[7,6,9]", "lhs_contracting_dimensions=[1,2] rhs_contracting_dimensions=[1,0]" },
  { GANTRY_OP_DOT_GENERAL, "f32[1,300] f32[300,200]", "lhs_contracting_dimensions=[1] rhs_contracting_dimensions=[0]" },
  { GANTRY_OP_DOT_GENERAL, "f32[300] f32[300]", "lhs_contracting_dimensions=[0] rhs_contracting_dimensions=[0]" },
  { GANTRY_OP_DOT_GENERAL, "f32[4] f32[5]", "" },
  { GANTRY_OP_DOT_GENERAL, "f32[0,4] f32[4,5]", "lhs_contracting_dimensions=[1] rhs_contracting_dimensions=[0]" },
  { GANTRY_OP_DOT_GENERAL, "f32[3,0] f32[0,5]", "lhs_contracting_dimensions=[1] rhs_contracting_dimensions=[0]" },
  { GANTRY_OP_DOT_GENERAL, "f16[33,40] f16[40,27]", "lhs_contracting_dimensions=[1] rhs_contracting_dimensions=[0]" },
  { GANTRY_OP_DOT_GENERAL, "bf16[33,40] bf16[40,27]", "lhs_contracting_dimensions=[1] rhs_contracting_dimensions=[0]" },
  { GANTRY_OP_DOT_GENERAL, "f64[33,40] f64[40,27]", "lhs_contracting_dimensions=[1] rhs_contracting_dimensions=[0]" },
  { GANTRY_OP_DOT_GENERAL, "i8[33,40] i8[40,27]", "lhs_contracting_dimensions=[1] rhs_contracting_dimensions=[0] to=i32[]" },
  { GANTRY_OP_DOT_GENERAL, "i32[33,40] i32[27,40]", "lhs_contracting_dimensions=[1] rhs_contracting_dimensions=[1]" },
  { GANTRY_OP_CONVOLUTION, "f32[1,3,12,13] f32[8,3,3,3]", "window_strides=[1,1] padding=[1,1,1,1]" },
  { GANTRY_OP_CONVOLUTION, "f32[2,16,14,14] f32[32,16,3,3] f32[32]", "window_strides=[2,2] padding=[1,1,1,1]" },
  { GANTRY_OP_CONVOLUTION, "f32[2,16,14,14] f32[32,16,1,1] f32[32]", "window_strides=[1,1] post=relu" },
  { GANTRY_OP_CONVOLUTION, "f32[1,16,14,14] f32[16,1,3,3] f32[16]", "window_strides=[1,1] padding=[1,1,1,1] feature_group_count=16" },
  { GANTRY_OP_CONVOLUTION, "f32[1,24,9,9] f32[12,8,3,3] f32[12]", "padding=[0,1,2,1] feature_group_count=3" },
  { GANTRY_OP_CONVOLUTION, "f32[1,3,23,23] f32[5,3,3,3]", "window_strides=[1,2] padding=[2,1,0,3] rhs_dilation=[2,3]" },
  { GANTRY_OP_CONVOLUTION, "f32[1,3,11,11] f32[5,3,3,3]", "padding=[1,1,1,1] lhs_dilation=[2,2]" },
  { GANTRY_OP_CONVOLUTION, "f32[1,3,11,11] f32[5,3,3,3]", "padding=[-1,0,0,-2]" },
  { GANTRY_OP_CONVOLUTION, "f32[2,4,50] f32[6,4,5] f32[6]", "window_strides=[2] padding=[2,2]" },
  { GANTRY_OP_CONVOLUTION, "f32[1,4,6,7,8] f32[6,4,3,3,3] f32[6]", "padding=[1,1,1,1,1,1]" },
  { GANTRY_OP_CONVOLUTION, "f16[1,3,12,13] f16[8,3,3,3]", "padding=[1,1,1,1]" },
  { GANTRY_OP_CONVOLUTION, "f64[1,3,12,13] f64[8,3,3,3]", "padding=[1,1,1,1]" },
};

/* clang-format off */
static const Shaped by_hand[] = {
  { GANTRY_OP_SORT, "f32[300]", "dimension=0" },
  { GANTRY_OP_SORT, "f32[5,30,4]", "dimension=1 descending=1" },
  { GANTRY_OP_SORT, "i32[5,30] f32[5,30] bool[5,30]", "dimension=1" },
  { GANTRY_OP_SORT, "u8[5,300] i64[5,300]", "dimension=1 descending=1" },
  { GANTRY_OP_SORT, "f16[0,3]", "dimension=0" },
  { GANTRY_OP_RNG_BIT_GENERATOR, "u64[2]", "shape=[1001] to=u32[]" },
  { GANTRY_OP_RNG_BIT_GENERATOR, "u64[2]", "shape=[70000] to=u64[]" },
  { GANTRY_OP_RNG_BIT_GENERATOR, "u64[2]", "shape=[33] to=u32[]" },
  { GANTRY_OP_SCATTER, "f32[20,5] i64[7,1] f32[7,5]", "kind=add update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
                                                      "index_vector_dim=1" },
  { GANTRY_OP_SCATTER, "f32[20,5] i32[7,2] f32[7]", "kind=set update_window_dims=[] inserted_window_dims=[0,1] scatter_dims_to_operand_dims=[0,1] "
                                                    "index_vector_dim=1" },
  { GANTRY_OP_SORT, "f32[2,5000]", "dimension=1" },
  { GANTRY_OP_SORT, "f64[3000] i32[3000]", "dimension=0 descending=1" },
  { GANTRY_OP_SORT, "i64[3,1] u8[3,1]", "dimension=1" },
  { GANTRY_OP_SORT, "bf16[4,100]", "dimension=1 descending=1" },
  { GANTRY_OP_SCATTER, "f32[50,3] i8[400,1] f32[400,3]", "kind=add update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
                                                         "index_vector_dim=1" },
  { GANTRY_OP_SCATTER, "f32[50] u8[3000,1] f32[3000]", "kind=mul update_window_dims=[] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
                                                       "index_vector_dim=1" },
  { GANTRY_OP_SCATTER, "f16[30,40] i8[100,1] f16[100,2,40]", "kind=add update_window_dims=[1,2] inserted_window_dims=[] "
                                                             "scatter_dims_to_operand_dims=[0] index_vector_dim=1" },
  { GANTRY_OP_SCATTER, "i32[9,30] i8[9,80,1] i32[9,80]", "kind=add update_window_dims=[] inserted_window_dims=[1] input_batching_dims=[0] "
                                                         "scatter_indices_batching_dims=[0] scatter_dims_to_operand_dims=[1] index_vector_dim=2" },
  { GANTRY_OP_SCATTER, "bool[50] i16[90,1] bool[90]", "kind=set update_window_dims=[] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
                                                      "index_vector_dim=1" },
  { GANTRY_OP_SCATTER, "i16[20,5] i8[9,1] i16[9,5]", "kind=max update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
                                                     "index_vector_dim=1" },
  { GANTRY_OP_SCATTER, "f16[3,20] i8[3,9,1] f16[3,9]", "kind=min update_window_dims=[] inserted_window_dims=[1] input_batching_dims=[0] "
                                                       "scatter_indices_batching_dims=[0] scatter_dims_to_operand_dims=[1] index_vector_dim=2" },
};
/* clang-format on */

static void
run_shaped (const Shaped *list, guint n, const KernelTolerance *tolerance)
{
  g_autoptr (GRand) rand = test_rand (1);

  for (guint i = 0; i < n; i++)
    {
      g_test_message ("%s %s %s", gantry_op_info (list[i].op)->name, list[i].operands, list[i].attributes);
      kernel_test_op (list[i].op, list[i].operands, list[i].attributes, tolerance, rand);
    }
}

static void
test_movement (void)
{
  run_shaped (movement, G_N_ELEMENTS (movement), &elementwise);
}

/* Sums in another order: the error grows with what is added, not with the sum. */
static void
test_reductions (void)
{
  KernelTolerance sums = { .relative = 1e-5, .absolute = 1e-4 };

  run_shaped (reductions, G_N_ELEMENTS (reductions), &sums);
}

static void
test_contractions (void)
{
  KernelTolerance sums = { .relative = 1e-5, .absolute = 1e-4 };

  run_shaped (contractions, G_N_ELEMENTS (contractions), &sums);
}

static void
test_by_hand (void)
{
  run_shaped (by_hand, G_N_ELEMENTS (by_hand), &elementwise);
}

/* A NaN that comes to the relu of a convolution stays NaN, whoever computes it, on one thread and on several; what no NaN reaches is as
 * without. The fourth is an infinite weight, which makes NaN of zeros. */
static void
test_nan_and_relu (void)
{
  static const struct
  {
    const char *types[2], *result, *attributes;
    gint64 element;
  } convolutions[] = {
    { { "f32[1,16,10,10]", "f32[16,16,3,3]" }, "f32[1,16,10,10]", "padding = [1, 1, 1, 1]", 433 },
    { { "f32[5,3,40,40]", "f32[40,3,3,3]" }, "f32[5,40,40,40]", "padding = [1, 1, 1, 1]", 2100 },
    { { "f16[2,17,9,9]", "f16[19,17,1,1]" }, "f16[2,19,9,9]", "padding = [0, 0, 0, 0]", 0 },
    { { "f32[1,64,28,28]", "f32[64,64,3,3]" }, "f32[1,64,26,26]", "padding = [0, 0, 0, 0]", -1 },
    { { "f32[3,24,12,12]", "f32[24,1,3,3]" }, "f32[3,24,12,12]", "padding = [1, 1, 1, 1], feature_group_count = 24", 5000 },
  };
  static const KernelTolerance tolerance = { .relative = 1e-5, .absolute = 1e-5 };
  g_autoptr (GRand) rand = test_rand (9);

  for (guint i = 0; i < G_N_ELEMENTS (convolutions); i++)
    for (guint n_threads = 1; n_threads <= 2; n_threads++)
      {
        g_autofree char *text = g_strdup_printf ("module \"m\" {\n  func @main #1 (%%1 \"x\": %s, %%2 \"w\": %s) -> (%%3) {\n"
                                                 "    %%3 = convolution(%%1, %%2) {%s, post = \"relu\"}: %s\n  }\n}\n",
                                                 convolutions[i].types[0], convolutions[i].types[1], convolutions[i].attributes, convolutions[i].result);
        g_autoptr (GantryContext) context = gantry_context_new ();
        g_autoptr (GError) error = NULL;
        g_autoptr (GantryModule) module = gantry_module_from_text (context, text, -1, "nan", &error);
        GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;
        GantryLiteral *arguments[2];

        g_assert_no_error (error);
        for (guint k = 0; k < 2; k++)
          {
            const GantryType *type = gantry_node_type (module, gantry_module_node (module, k + 1));
            gsize size = gantry_element_size (type->element);
            guint8 *data;

            arguments[k] = gantry_literal_new_zeroed (type, &data);
            for (gint64 e = 0; e < gantry_type_elements (type); e++)
              gantry_element_write_double (type->element, data + (gsize) e * size, k == 0 && e % 7 == 0 ? 0 : g_rand_double_range (rand, -1, 1));
            if (k == 0 && convolutions[i].element >= 0)
              gantry_element_write_double (type->element, data + (gsize) convolutions[i].element * size, NAN);
            if (k == 1 && convolutions[i].element < 0)
              gantry_element_write_double (type->element, data, INFINITY);
          }
        options.n_threads = n_threads;
        kernel_test_module (module, arguments, &options, &tolerance, rand);
        gantry_literal_unref (arguments[0]);
        gantry_literal_unref (arguments[1]);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/kernels/elementwise/%s", gantry_op_info (cases[i].op)->name);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  g_test_add_func ("/kernels/elementwise/compare", test_compare);
  g_test_add_func ("/kernels/elementwise/select", test_select);
  g_test_add_func ("/kernels/elementwise/convert", test_convert);
  g_test_add_func ("/kernels/elementwise/bitcast_convert", test_bitcast);
  g_test_add_func ("/kernels/movement", test_movement);
  g_test_add_func ("/kernels/reductions", test_reductions);
  g_test_add_func ("/kernels/contractions", test_contractions);
  g_test_add_func ("/kernels/by-hand", test_by_hand);
  g_test_add_func ("/kernels/nan-and-relu", test_nan_and_relu);
  return g_test_run ();
}
