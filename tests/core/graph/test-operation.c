/* SPDX-License-Identifier: Apache-2.0 */
/* The operation table: every type rule with at least one case that it takes and one that it refuses, what becomes of
 * symbolic and unknown dimensions, costs, and which results may be written over an operand. */
#include "core/expr/storage.h"
#include "tests/core/graph/graph-test.h"
#include <math.h>

typedef struct
{
  GantryOp op;
  const char *operands; /* types, separated by spaces */
  const char *attrs;
  const char *result;  /* the type, or NULL where it must be refused */
  const char *message; /* a part of the refusal */
} Case;

/* clang-format off */
static const Case cases[] = {
  /* structure and control */
  { GANTRY_OP_PARAMETER, "", "", NULL, "cannot be inferred" },
  { GANTRY_OP_CONSTANT, "", "", NULL, "attribute value is missing" },
  { GANTRY_OP_CONSTANT, "", "value=3", NULL, "must be a literal" },
  { GANTRY_OP_TUPLE, "f32[2] i64[]", "", "(f32[2], i64[])", NULL },
  { GANTRY_OP_TUPLE, "", "", "()", NULL },
  { GANTRY_OP_RESULT, "(f32[2];i64[])", "index=1", "i64[]", NULL },
  { GANTRY_OP_RESULT, "(f32[2];i64[])", "index=2", NULL, "less than 2" },
  { GANTRY_OP_RESULT, "f32[2]", "index=0", NULL, "must be a tuple" },
  { GANTRY_OP_REMATERIALIZE, "f32[2] f32[2]", "", "f32[2]", NULL },
  { GANTRY_OP_REMATERIALIZE, "f32[2] f32[3]", "", NULL, "must have the type of what is saved" },
  { GANTRY_OP_FUSION, "f32[2]", "body=@f32[4]", "f32[4]", NULL },
  { GANTRY_OP_FUSION, "f32[2]", "", NULL, "attribute body is missing" },
  { GANTRY_OP_CALL, "f32[2]", "body=@(f32[4];i8[])", "(f32[4], i8[])", NULL },
  { GANTRY_OP_CALL, "", "body=@?", NULL, "no known result" },
  { GANTRY_OP_IF, "bool[] f32[2]", "then=@f32[2] else=@f32[2]", "f32[2]", NULL },
  { GANTRY_OP_IF, "bool[] f32[2]", "then=@f32[2] else=@f32[3]", NULL, "then returns f32[2], but else returns f32[3]" },
  { GANTRY_OP_IF, "i32[] f32[2]", "then=@f32[2] else=@f32[2]", NULL, "must be bool[]" },
  { GANTRY_OP_WHILE, "i32[] f32[2]", "cond=@bool[] body=@(i32[];f32[2])", "(i32[], f32[2])", NULL },
  { GANTRY_OP_WHILE, "i32[]", "cond=@bool[] body=@i32[]", "i32[]", NULL },
  { GANTRY_OP_WHILE, "i32[]", "cond=@i32[] body=@i32[]", NULL, "result of cond must be bool[]" },
  { GANTRY_OP_WHILE, "i32[]", "cond=@bool[] body=@i64[]", NULL, "but body returns i64[]" },
  { GANTRY_OP_SCAN, "f32[2] f32[5,3] f32[7]", "length=5 n_carries=1 n_xs=1 axes=[0] y_axes=[1] body=@(f32[2];i8[4])",
    "(f32[2], i8[4,5])", NULL },
  { GANTRY_OP_SCAN, "f32[2]", "length=5 n_carries=1 n_xs=0 axes=[] y_axes=[] body=@f32[2]", "f32[2]", NULL },
  { GANTRY_OP_SCAN, "f32[n,3]", "length=0 n_carries=0 n_xs=1 axes=[0] y_axes=[0] body=@f32[3] reverse=1", "f32[0,3]", NULL },
  { GANTRY_OP_SCAN, "f32[2,?]", "length=5 n_carries=1 n_xs=0 body=@(f32[n,3];f32[]) y_axes=[0]", "(f32[2,3], f32[5])", NULL },
  { GANTRY_OP_SCAN, "f32[2]", "n_carries=1 n_xs=0 body=@f32[2]", NULL, "attribute length is missing" },
  { GANTRY_OP_SCAN, "f32[2]", "length=-1 n_carries=1 n_xs=0 body=@f32[2]", NULL, "length is -1" },
  { GANTRY_OP_SCAN, "f32[2]", "length=5 n_carries=2 n_xs=0 body=@f32[2]", NULL, "n_carries is 2" },
  { GANTRY_OP_SCAN, "f32[2]", "length=5 n_carries=1 n_xs=1 axes=[0] body=@f32[2]", NULL, "n_xs is 1" },
  { GANTRY_OP_SCAN, "f32[2] f32[5]", "length=5 n_carries=1 n_xs=1 body=@f32[2]", NULL, "attribute axes is missing" },
  { GANTRY_OP_SCAN, "f32[2] f32[5]", "length=5 n_carries=1 n_xs=1 axes=[1] body=@f32[2]", NULL, "axes names dimension 1" },
  { GANTRY_OP_SCAN, "f32[2] f32[5]", "length=4 n_carries=1 n_xs=1 axes=[0] body=@f32[2]", NULL,
    "dimension 0 of operand 1 is 5, but the length is 4" },
  { GANTRY_OP_SCAN, "f32[2]", "length=5 n_carries=1 n_xs=0 body=@f32[3]", NULL, "carry 0 is f32[2], but body returns f32[3]" },
  { GANTRY_OP_SCAN, "f32[2] i32[]", "length=5 n_carries=2 n_xs=0 body=@f32[2]", NULL, "fewer than the 2 carries" },
  { GANTRY_OP_SCAN, "f32[2]", "length=5 n_carries=1 n_xs=0 body=@(f32[2];f32[2])", NULL, "attribute y_axes is missing" },
  { GANTRY_OP_SCAN, "f32[2]", "length=5 n_carries=1 n_xs=0 body=@(f32[2];f32[2]) y_axes=[2]", NULL, "along dimension 2" },
  { GANTRY_OP_SCAN, "f32[2]", "length=5 n_carries=1 n_xs=0 body=@(f32[2];f32[2]) y_axes=[0] reverse=2", NULL, "reverse is 2" },
  { GANTRY_OP_SCAN, "f32[2]", "length=5 n_carries=1 n_xs=0", NULL, "attribute body is missing" },
  { GANTRY_OP_OPTIMIZATION_BARRIER, "(f32[2];i8[])", "", "(f32[2], i8[])", NULL },
  { GANTRY_OP_OPTIMIZATION_BARRIER, "?", "", NULL, "not known" },
  { GANTRY_OP_CHECKPOINT_NAME, "f32[2]", "name=act", "f32[2]", NULL },
  { GANTRY_OP_CHECKPOINT_NAME, "f32[2]", "", NULL, "attribute name is missing" },
  { GANTRY_OP_COPY, "f32[2]", "", "f32[2]", NULL },
  { GANTRY_OP_COPY, "f32[2]", "memory=pinned_host", "f32[2]@pinned_host", NULL },
  { GANTRY_OP_COPY, "f32[2]", "memory=disk", NULL, "memory is \"disk\"" },
  /* elementwise; the plain ones are made by a loop */
  { GANTRY_OP_CONVERT, "f32[n]", "to=i8[]", "i8[n]", NULL },
  { GANTRY_OP_CONVERT, "f32[2]", "", NULL, "attribute to is missing" },
  { GANTRY_OP_BITCAST_CONVERT, "f32[2]", "to=u32[]", "u32[2]", NULL },
  { GANTRY_OP_BITCAST_CONVERT, "f32[2]", "to=u16[]", NULL, "same width" },
  { GANTRY_OP_ADD, "f32[n,3] f32[n,3]", "", "f32[n,3]", NULL },
  { GANTRY_OP_ADD, "f32[n,?] f32[8,3]", "", "f32[8,3]", NULL },
  { GANTRY_OP_ADD, "f32[n] f32[m]", "", "f32[n]", NULL },
  { GANTRY_OP_ADD, "f32[8,64] f32[8,32]", "", NULL, "add: dimension 1 of operand 0 is 64, of operand 1 32" },
  { GANTRY_OP_ADD, "f32[8] f32[8,1]", "", NULL, "ranks differ" },
  { GANTRY_OP_ADD, "f32[8] f16[8]", "", NULL, "operand 1 of f16" },
  { GANTRY_OP_ADD, "bool[8] bool[8]", "", NULL, "not bool" },
  { GANTRY_OP_ADD, "f32[8]", "", NULL, "takes 2 operands, not 1" },
  { GANTRY_OP_ADD, "? f32[8]", "", NULL, "operand 0 is not known" },
  { GANTRY_OP_COMPARE, "i32[4] i32[?]", "comparison_direction=LE", "bool[4]", NULL },
  { GANTRY_OP_COMPARE, "i32[4] i32[4]", "comparison_direction=XX", NULL, "must be EQ, NE" },
  { GANTRY_OP_COMPARE, "i32[4] i32[4]", "", NULL, "is missing" },
  { GANTRY_OP_SELECT, "bool[4] f32[?] f32[4]", "", "f32[4]", NULL },
  { GANTRY_OP_SELECT, "i8[4] f32[4] f32[4]", "", NULL, "must be bool" },
  { GANTRY_OP_SELECT, "bool[3] f32[4] f32[4]", "", NULL, "dimension 0" },
  { GANTRY_OP_CLAMP, "f32[4] f32[4] f32[4]", "", "f32[4]", NULL },
  { GANTRY_OP_CLAMP, "f32[] f32[4] f32[]", "", NULL, "ranks differ" },
  /* movement */
  { GANTRY_OP_IOTA, "", "to=i32[4,n] iota_dimension=1", "i32[4,n]", NULL },
  { GANTRY_OP_IOTA, "", "to=i32[4] iota_dimension=1", NULL, "less than 1" },
  { GANTRY_OP_BROADCAST_IN_DIM, "f32[3,1]", "shape=[2,3,4] broadcast_dimensions=[1,2]", "f32[2,3,4]", NULL },
  { GANTRY_OP_BROADCAST_IN_DIM, "f32[]", "shape=[2]", "f32[2]", NULL },
  { GANTRY_OP_BROADCAST_IN_DIM, "f32[3]", "shape=f32[n,3] broadcast_dimensions=[1]", "f32[n,3]", NULL },
  { GANTRY_OP_BROADCAST_IN_DIM, "f32[3]", "shape=[2,-1] broadcast_dimensions=[1]", "f32[2,3]", NULL },
  { GANTRY_OP_BROADCAST_IN_DIM, "f32[n]", "shape=[5] broadcast_dimensions=[0]", "f32[5]", NULL },
  { GANTRY_OP_BROADCAST_IN_DIM, "f32[3]", "shape=[2,4] broadcast_dimensions=[1]", NULL,
    "dimension 0 of the operand is 3 and cannot become dimension 1 of the result, which is 4" },
  { GANTRY_OP_BROADCAST_IN_DIM, "f32[3]", "shape=[2,-7] broadcast_dimensions=[1]", NULL, "needs shape as a type" },
  { GANTRY_OP_BROADCAST_IN_DIM, "f32[3]", "shape=[3] broadcast_dimensions=[0,1]", NULL, "names dimension 1" },
  { GANTRY_OP_RESHAPE, "f32[4,6]", "shape=[8,3]", "f32[8,3]", NULL },
  { GANTRY_OP_RESHAPE, "f32[4,6]", "shape=[8,-1]", "f32[8,3]", NULL },
  { GANTRY_OP_RESHAPE, "f32[n,6]", "shape=f32[n,2,3]", "f32[n,2,3]", NULL },
  { GANTRY_OP_RESHAPE, "f32[4,6]", "shape=[5,5]", NULL, "f32[4,6] has 24 elements, f32[5,5] has 25" },
  { GANTRY_OP_TRANSPOSE, "f32[2,n,4]", "permutation=[2,0,1]", "f32[4,2,n]", NULL },
  { GANTRY_OP_TRANSPOSE, "f32[2,3]", "permutation=[0,0]", NULL, "dimension 0 twice" },
  { GANTRY_OP_TRANSPOSE, "f32[2,3]", "permutation=[0]", NULL, "1 entries for an operand of rank 2" },
  { GANTRY_OP_REVERSE, "f32[2,3]", "dimensions=[1]", "f32[2,3]", NULL },
  { GANTRY_OP_REVERSE, "f32[2,3]", "dimensions=[2]", NULL, "names dimension 2" },
  { GANTRY_OP_SLICE, "f32[10]", "start_indices=[1] limit_indices=[10] strides=[4]", "f32[3]", NULL },
  { GANTRY_OP_SLICE, "f32[n]", "start_indices=[1] limit_indices=[10]", "f32[9]", NULL },
  { GANTRY_OP_SLICE, "f32[10]", "start_indices=[1] limit_indices=[11]", NULL, "limit 11 is beyond its size 10" },
  { GANTRY_OP_SLICE, "f32[10]", "start_indices=[1] limit_indices=[2] strides=[0]", NULL, "stride 0" },
  { GANTRY_OP_PAD, "f32[4] f32[]", "edge_padding_low=[1] edge_padding_high=[-2] interior_padding=[2]", "f32[9]", NULL },
  { GANTRY_OP_PAD, "f32[n,2] f32[]", "edge_padding_low=[0,1] edge_padding_high=[0,0]", "f32[n,3]", NULL },
  { GANTRY_OP_PAD, "f32[4] f32[]", "edge_padding_low=[-3] edge_padding_high=[-2]", NULL, "would become -1" },
  { GANTRY_OP_PAD, "f32[4] i32[]", "edge_padding_low=[0] edge_padding_high=[0]", NULL, "must be f32[]" },
  { GANTRY_OP_PAD, "f32[4] f32[]", "edge_padding_low=[9223372036854775807] edge_padding_high=[1]", NULL, "out of range" },
  { GANTRY_OP_CONCATENATE, "f32[2,3] f32[2,4] f32[2,0]", "dimension=1", "f32[2,7]", NULL },
  { GANTRY_OP_CONCATENATE, "f32[2,3] f32[2,n]", "dimension=1", "f32[2,?]", NULL },
  { GANTRY_OP_CONCATENATE, "f32[2,3] f32[3,3]", "dimension=1", NULL, "dimension 0 of operand 0 is 2, of operand 1 3" },
  { GANTRY_OP_CONCATENATE, "f32[2,3] f32[2]", "dimension=1", NULL, "ranks differ" },
  { GANTRY_OP_GATHER, "f32[10,16] i32[4,5]",
    "offset_dims=[2] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=2 slice_sizes=[1,16]",
    "f32[4,5,16]", NULL },
  { GANTRY_OP_GATHER, "f32[3,10,16] i32[3,5,1]",
    "offset_dims=[2] collapsed_slice_dims=[1] operand_batching_dims=[0] start_indices_batching_dims=[0] "
    "start_index_map=[1] index_vector_dim=2 slice_sizes=[1,1,8]", "f32[3,5,8]", NULL },
  { GANTRY_OP_GATHER, "f32[10,16] f32[4]",
    "offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[1,16]", NULL,
    "must be integers" },
  { GANTRY_OP_GATHER, "f32[10,16] i32[4]",
    "offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[2,16]", NULL,
    "dimension 0 is removed, but its slice size is 2" },
  { GANTRY_OP_GATHER, "f32[10,16] i32[4,2]",
    "offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[1,16]", NULL,
    "start_index_map has 1 entries, but an index vector has 2" },
  { GANTRY_OP_DYNAMIC_SLICE, "f32[10,n] i32[] i64[]", "slice_sizes=[3,4]", "f32[3,4]", NULL },
  { GANTRY_OP_DYNAMIC_SLICE, "f32[10] i32[]", "slice_sizes=[11]", NULL, "11 does not fit dimension 0 of size 10" },
  { GANTRY_OP_DYNAMIC_SLICE, "f32[10,4] i32[]", "slice_sizes=[1,1]", NULL, "needs 2 starts, not 1" },
  { GANTRY_OP_DYNAMIC_UPDATE_SLICE, "f32[10] f32[3] i32[]", "", "f32[10]", NULL },
  { GANTRY_OP_DYNAMIC_UPDATE_SLICE, "f32[10] f32[11] i32[]", "", NULL, "larger than that of the operand, 10" },
  { GANTRY_OP_DYNAMIC_UPDATE_SLICE, "f32[10] f32[3] f32[]", "", NULL, "must be an integer scalar" },
  { GANTRY_OP_SCATTER, "f32[10,16] i32[4,1] f32[4,16]",
    "kind=add update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1",
    "f32[10,16]", NULL },
  { GANTRY_OP_SCATTER, "f32[10,16] i32[4,1] f32[4,17]",
    "kind=add update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1", NULL,
    "dimension 1 of the updates is 17" },
  { GANTRY_OP_SCATTER, "f32[10] i32[4,1] f32[4]",
    "kind=sub inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1", NULL, "set, add, mul" },
  /* reductions */
  { GANTRY_OP_REDUCE, "f32[2,n,4]", "kind=add dimensions=[0,2]", "f32[n]", NULL },
  { GANTRY_OP_REDUCE, "bool[2]", "kind=or dimensions=[0]", "bool[]", NULL },
  { GANTRY_OP_REDUCE, "bool[2]", "kind=add dimensions=[0]", NULL, "does not fit elements of type bool" },
  { GANTRY_OP_REDUCE, "f32[2,3]", "kind=add dimensions=[1,0]", NULL, "ascending" },
  { GANTRY_OP_REDUCE, "f32[2,3]", "kind=add", NULL, "attribute dimensions is missing" },
  { GANTRY_OP_REDUCE, "f32[2,3]", "kind=mean dimensions=[1]", NULL, "kind is \"mean\"" },
  { GANTRY_OP_REDUCE_WINDOW, "f32[1,3,8,8]",
    "kind=max window_dimensions=[1,1,3,3] window_strides=[1,1,2,2] padding=[0,0,0,0,1,1,1,1]", "f32[1,3,4,4]", NULL },
  { GANTRY_OP_REDUCE_WINDOW, "f32[5]", "kind=add window_dimensions=[2] base_dilations=[2] window_dilations=[3]", "f32[6]",
    NULL },
  { GANTRY_OP_REDUCE_WINDOW, "f32[n,4]", "kind=add window_dimensions=[1,2]", "f32[n,3]", NULL },
  { GANTRY_OP_REDUCE_WINDOW, "f32[4]", "kind=add window_dimensions=[0]", NULL, "entry 0 is 0" },
  { GANTRY_OP_REDUCE_WINDOW, "f32[4]", "kind=add window_dimensions=[1,1]", NULL, "2 entries where 1 are needed" },
  /* contractions */
  { GANTRY_OP_DOT_GENERAL, "f32[8,64] f32[64,32]", "lhs_contracting_dimensions=[1] rhs_contracting_dimensions=[0]",
    "f32[8,32]", NULL },
  { GANTRY_OP_DOT_GENERAL, "f16[b,8,64] f16[?,32,64]",
    "lhs_batching_dimensions=[0] rhs_batching_dimensions=[0] lhs_contracting_dimensions=[2] "
    "rhs_contracting_dimensions=[2] to=f32[]", "f32[b,8,32]", NULL },
  { GANTRY_OP_DOT_GENERAL, "f32[8,64] f32[32,16]", "lhs_contracting_dimensions=[1] rhs_contracting_dimensions=[0]", NULL,
    "contracting dimension 1 of the left operand is 64, dimension 0 of the right is 32" },
  { GANTRY_OP_DOT_GENERAL, "f32[8,64] f16[64,16]", "lhs_contracting_dimensions=[1] rhs_contracting_dimensions=[0]", NULL,
    "the right of f16" },
  { GANTRY_OP_CONVOLUTION, "f32[n,4,9,9] f32[8,2,3,3] f32[8]",
    "feature_group_count=2 window_strides=[2,2] padding=[1,1,1,1] post=relu", "f32[n,8,5,5]", NULL },
  { GANTRY_OP_CONVOLUTION, "f32[1,2,5] f32[3,2,2]", "lhs_dilation=[2] rhs_dilation=[3]", "f32[1,3,6]", NULL },
  { GANTRY_OP_CONVOLUTION, "f32[1,3,5] f32[3,2,2]", "", NULL, "3 channels in 1 groups, but the kernel takes 2" },
  { GANTRY_OP_CONVOLUTION, "f32[1,2,5] f32[3,2,2] f32[4]", "", NULL, "the bias is f32[4]" },
  { GANTRY_OP_CONVOLUTION, "f32[1,2,5] f32[3,2,2]", "post=gelu", NULL, "only \"relu\" is known" },
  /* the rest */
  { GANTRY_OP_SORT, "f32[2,8]", "dimension=1", "f32[2,8]", NULL },
  { GANTRY_OP_SORT, "f32[2,?] i32[2,8]", "dimension=1", "(f32[2,8], i32[2,8])", NULL },
  { GANTRY_OP_SORT, "f32[2] i32[3]", "dimension=0", NULL, "dimension 0 of operand 0 is 2" },
  { GANTRY_OP_RNG_BIT_GENERATOR, "u64[2]", "shape=[3,4]", "(u64[2], u32[3,4])", NULL },
  { GANTRY_OP_RNG_BIT_GENERATOR, "u64[2]", "shape=[3] to=u64[]", "(u64[2], u64[3])", NULL },
  { GANTRY_OP_RNG_BIT_GENERATOR, "u32[2]", "shape=[3]", NULL, "must be u64[2]" },
  { GANTRY_OP_CUSTOM_CALL, "f32[2]", "target=print to=f32[3]", "f32[3]", NULL },
  { GANTRY_OP_CUSTOM_CALL, "f32[2]", "to=f32[3]", NULL, "attribute target is missing" },
};
/* clang-format on */

static guint32
result_of (gpointer data, guint32 function)
{
  TestSet *set = data;

  return function >= 1 && function <= set->functions->len ? g_array_index (set->functions, guint32, function - 1) : 0;
}

static guint32
infer (TestSet *set, GantryOp op, const char *operands, const char *attrs, GError **error)
{
  g_auto (GStrv) words = g_strsplit (operands, " ", -1);
  guint32 types[16];
  GantryTypeQuery query = {
    .context = set->context, .op = op, .operand_types = types, .function_result = result_of, .data = set, .attrs = test_attrs (set, attrs)
  };

  for (guint i = 0; words[i] != NULL; i++)
    if (words[i][0] != '\0')
      types[query.n_operands++] = test_type (set, words[i]);
  return gantry_op_infer (&query, error);
}

static void
check_case (TestSet *set, const Case *c)
{
  g_autoptr (GError) error = NULL;
  guint32 type = infer (set, c->op, c->operands, c->attrs, &error);
  g_autofree char *text = gantry_context_type_text (set->context, type);

  g_test_message ("%s (%s) %s", gantry_op_info (c->op)->name, c->operands, c->attrs);
  if (c->result != NULL)
    {
      g_assert_no_error (error);
      g_assert_cmpstr (text, ==, c->result);
      return;
    }
  g_assert_cmpuint (type, ==, 0);
  g_assert_nonnull (error);
  g_assert_true (error->domain == GANTRY_ERROR);
  g_assert_true (g_str_has_prefix (error->message, gantry_op_info (c->op)->name));
  if (strstr (error->message, c->message) == NULL)
    g_error ("%s\nlacks\n%s", error->message, c->message);
}

static void
set_init (TestSet *set)
{
  set->context = gantry_context_new ();
  set->functions = g_array_new (FALSE, FALSE, sizeof (guint32));
}

static void
set_clear (TestSet *set)
{
  g_array_unref (set->functions);
  gantry_context_unref (set->context);
}

static void
test_rules (void)
{
  TestSet set;

  set_init (&set);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check_case (&set, &cases[i]);
  set_clear (&set);
}

/* Every plain elementwise operation: the types that it takes, and those that it must refuse. */
static void
test_elementwise (void)
{
  static const GantryElementType elements[] = { GANTRY_BOOL, GANTRY_I32, GANTRY_U8, GANTRY_F16, GANTRY_F64, GANTRY_STRING };
  TestSet set;

  set_init (&set);
  for (guint op = GANTRY_OP_ABS; op <= GANTRY_OP_SHIFT_RIGHT_LOGICAL; op++)
    {
      const GantryOpInfo *info = gantry_op_info (op);
      guint taken = 0;

      if (op == GANTRY_OP_CONVERT || op == GANTRY_OP_BITCAST_CONVERT)
        continue;
      for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
        {
          g_autofree char *one = g_strdup_printf ("%s[4,n]", gantry_element_name (elements[i]));
          g_autofree char *two = g_strdup_printf ("%s %s", one, one);
          g_autoptr (GError) error = NULL;
          guint32 type = infer (&set, op, info->max_operands == 1 ? one : two, "", &error);

          if (type == 0)
            {
              g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID);
              continue;
            }
          taken++;
          g_assert_cmpuint (gantry_context_type (set.context, type)->rank, ==, 2);
          if (op != GANTRY_OP_IS_FINITE && op != GANTRY_OP_IS_NAN)
            g_assert_cmpuint (type, ==, test_type (&set, one));
          else
            g_assert_cmpuint (type, ==, test_type (&set, "bool[4,n]"));
        }
      g_assert_cmpuint (taken, >, 0);
      g_assert_cmpuint (taken, <, G_N_ELEMENTS (elements));
    }
  set_clear (&set);
}

/* The cases above leave out no operation. */
static void
test_coverage (void)
{
  guint8 taken[GANTRY_N_OPS] = { 0 }, refused[GANTRY_N_OPS] = { 0 };

  for (guint op = GANTRY_OP_ABS; op <= GANTRY_OP_SHIFT_RIGHT_LOGICAL; op++)
    taken[op] = refused[op] = op != GANTRY_OP_CONVERT && op != GANTRY_OP_BITCAST_CONVERT;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    if (cases[i].result != NULL)
      taken[cases[i].op] = 1;
    else
      refused[cases[i].op] = 1;
  for (guint op = 1; op < GANTRY_N_OPS; op++)
    {
      g_test_message ("%s", gantry_op_info (op)->name);
      /* A parameter's type is given; a constant's is its literal's (test_constant); a tuple takes anything. */
      g_assert_true (taken[op] || op == GANTRY_OP_PARAMETER || op == GANTRY_OP_CONSTANT);
      g_assert_true (refused[op] || op == GANTRY_OP_TUPLE);
    }
}

static void
test_table (void)
{
  g_assert_null (gantry_op_info (GANTRY_OP_NONE));
  g_assert_null (gantry_op_info (GANTRY_N_OPS));
  g_assert_null (gantry_op_info (GANTRY_OP_FOREIGN));
  for (guint op = 1; op < GANTRY_N_OPS; op++)
    {
      const GantryOpInfo *info = gantry_op_info (op);
      g_autofree char *longer = g_strconcat (info->name, "x", NULL);

      g_assert_cmpint (gantry_op_from_name (info->name, -1), ==, op);
      g_assert_cmpint (gantry_op_from_name (longer, (gssize) strlen (info->name)), ==, op);
      g_assert_cmpint (gantry_op_from_name (longer, -1), ==, GANTRY_OP_NONE);
      g_assert_cmpint (info->op_class, <, GANTRY_N_CLASSES);
      /* An elementwise operation has an expression; the others say what they are. */
      if (info->flags & GANTRY_OP_ELEMENTWISE)
        g_assert_cmpint (info->flags & (GANTRY_OP_EXTERN | GANTRY_OP_STRUCTURE), ==, 0);
    }
  g_assert_cmpint (gantry_op_from_name ("", -1), ==, GANTRY_OP_NONE);
  g_assert_cmpint (gantry_op_from_name ("ad", -1), ==, GANTRY_OP_NONE);
}

/* docs/operations.md has a row for each operation. */
static void
test_documented (void)
{
  const char *root = g_getenv ("GANTRY_SOURCE_ROOT");
  g_autofree char *path = g_build_filename (root != NULL ? root : ".", "docs", "operations.md", NULL);
  g_autofree char *page = NULL;

  if (!g_file_get_contents (path, &page, NULL, NULL))
    {
      g_test_skip ("docs/operations.md is not found: GANTRY_SOURCE_ROOT is not set");
      return;
    }
  for (guint op = 1; op < GANTRY_N_OPS; op++)
    {
      g_autofree char *row = g_strdup_printf ("\n| `%s` |", gantry_op_info (op)->name);

      g_test_message ("%s", gantry_op_info (op)->name);
      g_assert_nonnull (strstr (page, row));
    }
}

static void
test_constant (void)
{
  TestSet set;
  g_autoptr (GError) error = NULL;
  GantryAttrList *list;
  GantryTypeQuery query = { .op = GANTRY_OP_CONSTANT };
  g_autoptr (GantryLiteral) literal = NULL;
  guint8 *data;

  set_init (&set);
  literal = gantry_literal_new_zeroed (gantry_context_type (set.context, test_type (&set, "i16[3,2]")), &data);
  list = gantry_attr_list_new (set.context);
  gantry_attr_list_set_literal (list, "value", gantry_context_add_literal (set.context, literal));
  query.context = set.context;
  query.attrs = gantry_attr_list_end (list);
  g_assert_cmpuint (gantry_op_infer (&query, &error), ==, test_type (&set, "i16[3,2]"));
  g_assert_no_error (error);
  set_clear (&set);
}

/* Sizes that overflow are refused, not wrapped. */
static void
test_limits (void)
{
  static const Case large[] = {
    { GANTRY_OP_BROADCAST_IN_DIM, "f32[]", "shape=[4294967296,4294967296]", NULL, "too large" },
    { GANTRY_OP_IOTA, "", "to=i32[9223372036854775807] iota_dimension=0", NULL, "too large" },
    { GANTRY_OP_PAD, "f32[9223372036854775807] f32[]", "edge_padding_low=[2] edge_padding_high=[2] interior_padding=[7]", NULL, "too large" },
    { GANTRY_OP_REDUCE_WINDOW, "f32[9223372036854775807]", "kind=add window_dimensions=[1] base_dilations=[1000]", NULL, "too large" },
    { GANTRY_OP_CONCATENATE, "f32[9223372036854775807] f32[9223372036854775807]", "dimension=0", NULL, "too large" },
    { GANTRY_OP_BROADCAST_IN_DIM, "f32[]", "shape=[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", NULL, "the limit is 16" },
    { GANTRY_OP_DOT_GENERAL, "f32[1,1,1,1,1,1,1,1,1] f32[1,1,1,1,1,1,1,1,1]", "", NULL, "the limit is 16" },
  };
  TestSet set;

  set_init (&set);
  for (guint i = 0; i < G_N_ELEMENTS (large); i++)
    check_case (&set, &large[i]);
  set_clear (&set);
}

/* Costs */

typedef struct
{
  GantryOp op;
  const char *operands, *attrs;
  gint64 flops, bytes;
  const char *aliases; /* for each operand y or n */
} Cost;

/* clang-format off */
static const Cost costs[] = {
  { GANTRY_OP_ADD, "f32[8,4] f32[8,4]", "", 32, 3 * 128, "yy" },
  { GANTRY_OP_EXPONENTIAL, "f16[8]", "", 8, 32, "y" },
  { GANTRY_OP_CONVERT, "f32[8]", "to=f16[]", 8, 48, "n" },
  { GANTRY_OP_BITCAST_CONVERT, "f32[8]", "to=i32[]", 0, 64, "y" },
  { GANTRY_OP_SELECT, "bool[8] f32[8] f32[8]", "", 8, 8 + 96, "nyy" },
  { GANTRY_OP_RESHAPE, "f32[8,4]", "shape=[32]", 0, 0, "y" },
  { GANTRY_OP_TRANSPOSE, "f32[4,4]", "permutation=[1,0]", 0, 128, "n" },
  { GANTRY_OP_REVERSE, "f32[4]", "dimensions=[0]", 0, 32, "n" },
  { GANTRY_OP_SLICE, "f32[100]", "start_indices=[0] limit_indices=[10]", 0, 80, "n" },
  { GANTRY_OP_GATHER, "f32[1000,16] i32[4]",
    "offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[1,16]", 0,
    2 * 256 + 16, "nn" },
  { GANTRY_OP_DYNAMIC_UPDATE_SLICE, "f32[100] f32[10] i32[]", "", 0, 84, "ynn" },
  { GANTRY_OP_REDUCE, "f32[8,4]", "kind=add dimensions=[1]", 32, 128 + 32, "n" },
  { GANTRY_OP_REDUCE_WINDOW, "f32[8]", "kind=add window_dimensions=[3] padding=[1,1]", 24, 64, "n" },
  { GANTRY_OP_DOT_GENERAL, "f32[8,16] f32[16,4]", "lhs_contracting_dimensions=[1] rhs_contracting_dimensions=[0]",
    2 * 8 * 16 * 4, 4 * (8 * 16 + 16 * 4 + 8 * 4), "nn" },
  { GANTRY_OP_CONVOLUTION, "f32[1,4,5] f32[6,2,3] f32[6]", "feature_group_count=2 post=relu",
    2 * 18 * 6 + 18 + 18, 4 * (20 + 36 + 6 + 18), "nnn" },
  { GANTRY_OP_SORT, "f32[2,8]", "dimension=1", 48, 128, "n" },
  { GANTRY_OP_ADD, "f32[n] f32[n]", "", -1, -1, "nn" },
};
/* clang-format on */

static GantryModule *
module_of (TestSet *set, GantryOp op, const char *operands, const char *attrs)
{
  g_auto (GStrv) words = g_strsplit (operands, " ", -1);
  g_autoptr (GantryBuilder) builder = gantry_builder_new (set->context, "m");
  g_autoptr (GError) error = NULL;
  GantryModule *module;
  guint32 ids[16], result;
  guint n = 0;

  gantry_builder_begin (builder, "main", 0);
  for (; words[n] != NULL && words[n][0] != '\0'; n++)
    ids[n] = gantry_builder_parameter (builder, test_type (set, words[n]), NULL);
  result = gantry_builder_add (builder, op, ids, n, test_attrs (set, attrs));
  gantry_builder_end (builder, &result, 1);
  module = gantry_builder_finish (builder, &error);
  g_assert_no_error (error);
  return module;
}

static void
test_costs (void)
{
  TestSet set;

  set_init (&set);
  for (guint i = 0; i < G_N_ELEMENTS (costs); i++)
    {
      const Cost *c = &costs[i];
      g_autoptr (GantryModule) module = module_of (&set, c->op, c->operands, c->attrs);
      const GantryNode *node = &module->nodes[module->n_nodes - 1];

      g_test_message ("%s (%s)", gantry_op_info (c->op)->name, c->operands);
      g_assert_cmpint (gantry_node_flops (module, node), ==, c->flops);
      g_assert_cmpint (gantry_node_bytes (module, node), ==, c->bytes);
      for (guint j = 0; c->aliases[j] != '\0'; j++)
        g_assert_cmpint (gantry_node_may_alias (module, node, j), ==, c->aliases[j] == 'y');
      g_assert_false (gantry_node_may_alias (module, node, 99));
      g_assert_cmpint (gantry_node_flops (module, module->nodes), ==, 0);
    }
  set_clear (&set);
}

/* relu (x + bias) - reverse (z): x may be overwritten, the bias is another shape, z is read elsewhere. */
static void
test_fusion_costs (void)
{
  TestSet set;
  g_autoptr (GantryBuilder) builder = NULL;
  g_autoptr (GantryModule) module = NULL;
  g_autoptr (GError) error = NULL;
  GantryAttrList *list;
  const GantryNode *node;
  guint32 x[3], p[3], r, body;

  set_init (&set);
  builder = gantry_builder_new (set.context, "m");
  gantry_builder_begin (builder, "main", 0);
  for (guint i = 0; i < 3; i++)
    x[i] = gantry_builder_parameter (builder, test_type (&set, i == 1 ? "f32[4]" : "f32[8,4]"), NULL);
  body = gantry_builder_begin (builder, "fused", 0);
  for (guint i = 0; i < 3; i++)
    p[i] = gantry_builder_parameter (builder, test_type (&set, i == 1 ? "f32[4]" : "f32[8,4]"), NULL);
  r = gantry_builder_broadcast (builder, p[1], 2, (const GantryDim[]){ 8, 4 }, (const gint64[]){ 1 });
  r = gantry_builder_binary (builder, GANTRY_OP_ADD, p[0], r);
  r = gantry_builder_binary (builder, GANTRY_OP_MAXIMUM, r, gantry_builder_splat (builder, GANTRY_F32, 0, 2, (const GantryDim[]){ 8, 4 }));
  p[2] = gantry_builder_add (builder, GANTRY_OP_REVERSE, &p[2], 1, test_attrs (&set, "dimensions=[0]"));
  r = gantry_builder_binary (builder, GANTRY_OP_SUBTRACT, r, p[2]);
  gantry_builder_end (builder, &r, 1);
  list = gantry_attr_list_new (set.context);
  gantry_attr_list_set_function (list, "body", body);
  r = gantry_builder_add (builder, GANTRY_OP_FUSION, x, 3, gantry_attr_list_end (list));
  gantry_builder_end (builder, &r, 1);
  module = gantry_builder_finish (builder, &error);
  g_assert_no_error (error);
  node = gantry_module_node (module, r);
  g_assert_cmpint (gantry_node_flops (module, node), ==, 3 * 32);
  g_assert_cmpint (gantry_node_bytes (module, node), ==, 4 * (32 + 4 + 32 + 32));
  g_assert_true (gantry_node_may_alias (module, node, 0));
  g_assert_false (gantry_node_may_alias (module, node, 1));
  g_assert_false (gantry_node_may_alias (module, node, 2));
  g_assert_cmpint (gantry_node_class (module, node), ==, GANTRY_CLASS_FUSION);
  set_clear (&set);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ir/operation/table", test_table);
  g_test_add_func ("/ir/operation/rules", test_rules);
  g_test_add_func ("/ir/operation/elementwise", test_elementwise);
  g_test_add_func ("/ir/operation/coverage", test_coverage);
  g_test_add_func ("/ir/operation/documented", test_documented);
  g_test_add_func ("/ir/operation/constant", test_constant);
  g_test_add_func ("/ir/operation/limits", test_limits);
  g_test_add_func ("/ir/operation/costs", test_costs);
  g_test_add_func ("/ir/operation/fusion", test_fusion_costs);
  return g_test_run ();
}
