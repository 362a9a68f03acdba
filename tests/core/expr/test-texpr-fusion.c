/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions put into one another: the text of fused bodies, random chains of movements against the same chains run
 * step by step, limits, and inlining. */
#include "core/expr/expr.h"
#include "tests/core/expr/texpr-test.h"
#include "tests/random-seed.h"

typedef guint32 (*WriteBody) (TestSet *set, GantryBuilder *builder, const guint32 *p);

static GPtrArray *
fuse (TestSet *set, const char *operands, WriteBody write, GError **error)
{
  g_autoptr (GantryBuilder) builder = gantry_builder_new (set->context, "m");
  g_autoptr (GantryModule) module = NULL;
  GantryAttrList *list = gantry_attr_list_new (set->context);
  GPtrArray *all;
  guint32 ids[16], p[16], r, body;
  guint n;
  GError *broken = NULL;

  gantry_builder_begin (builder, "main", 0);
  n = add_parameters (set, builder, operands, ids);
  body = gantry_builder_begin (builder, "fused", 0);
  add_parameters (set, builder, operands, p);
  r = write (set, builder, p);
  gantry_builder_end (builder, &r, 1);
  gantry_attr_list_set_function (list, "body", body);
  r = gantry_builder_add (builder, GANTRY_OP_FUSION, ids, n, gantry_attr_list_end (list));
  gantry_builder_end (builder, &r, 1);
  module = gantry_builder_finish (builder, &broken);
  g_assert_no_error (broken);
  all = gantry_texpr_of_fusion (module, gantry_module_node (module, r), error);
  for (guint i = 0; all != NULL && i < all->len; i++)
    check_invariants (g_ptr_array_index (all, i));
  return all;
}

static guint32
write_affine (TestSet *set, GantryBuilder *builder, const guint32 *p)
{
  guint32 bias = gantry_builder_broadcast (builder, p[1], 2, (const GantryDim[]){ 8, 4 }, (const gint64[]){ 0 });

  return gantry_builder_binary (builder, GANTRY_OP_ADD, p[0], bias);
}

static guint32
write_relu (TestSet *set, GantryBuilder *builder, const guint32 *p)
{
  guint32 zero = gantry_builder_splat (builder, GANTRY_F32, 0, 2, (const GantryDim[]){ 8, 4 });

  return gantry_builder_binary (builder, GANTRY_OP_MAXIMUM, zero, p[0]);
}

static guint32
write_softmax (TestSet *set, GantryBuilder *builder, const guint32 *p)
{
  const GantryDim dims[] = { 8, 4 };
  const gint64 one = 1, zero = 0;
  guint32 max = gantry_builder_reduce (builder, "max", p[0], &one, 1), sum;
  guint32 x = gantry_builder_binary (builder, GANTRY_OP_SUBTRACT, p[0], gantry_builder_broadcast (builder, max, 2, dims, &zero));

  x = gantry_builder_unary (builder, GANTRY_OP_EXPONENTIAL, x);
  sum = gantry_builder_reduce (builder, "add", x, &one, 1);
  return gantry_builder_binary (builder, GANTRY_OP_DIVIDE, x, gantry_builder_broadcast (builder, sum, 2, dims, &zero));
}

/* Heads split and merged again: nothing is left of it. */
static guint32
write_round_trip (TestSet *set, GantryBuilder *builder, const guint32 *p)
{
  guint32 x = gantry_builder_reshape (builder, p[0], 4, (const GantryDim[]){ 2, 6, 3, 8 });

  x = gantry_builder_transpose (builder, x, (const gint64[]){ 0, 2, 1, 3 });
  x = gantry_builder_reshape (builder, x, 3, (const GantryDim[]){ 6, 6, 8 });
  x = gantry_builder_reshape (builder, x, 4, (const GantryDim[]){ 2, 3, 6, 8 });
  x = gantry_builder_transpose (builder, x, (const gint64[]){ 0, 2, 1, 3 });
  return gantry_builder_reshape (builder, x, 2, (const GantryDim[]){ 12, 24 });
}

/* A slice of a concatenation that lies in one of its parts, padded and cut again. */
static guint32
write_see_through (TestSet *set, GantryBuilder *builder, const guint32 *p)
{
  guint32 x = gantry_builder_concatenate (builder, p, 2, 0), zero = gantry_builder_scalar (builder, GANTRY_F32, 0);

  x = gantry_builder_pad (builder, x, zero, (const gint64[]){ 5 }, (const gint64[]){ 7 }, NULL);
  return gantry_builder_slice (builder, x, (const gint64[]){ 14 }, (const gint64[]){ 18 }, NULL);
}

static void
test_fusion_text (void)
{
  static const struct
  {
    const char *operands;
    WriteBody write;
    const char *text;
  } fusions[] = {
    { "f32[8,4] f32[8]", write_affine, "C[i, j] = A[i, j] + B[i]" },
    { "f32[8,4]", write_relu, "B[i, j] = max(0, A[i, j])" },
    { "f32[8,4]", write_softmax,
      "B[i, j] = exp(A[i, j] - max(A[i, k0], axis=[k0])) / "
      "sum(exp(A[i, k1] - max(A[i, k0], axis=[k0])), axis=[k1])" },
    { "f32[12,24]", write_round_trip, "B[i, j] = A[i, j]" },
    { "f32[8] f32[8]", write_see_through, "C[i] = B[i + 1]" },
  };
  TestSet set;

  set_init (&set);
  for (guint i = 0; i < G_N_ELEMENTS (fusions); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GPtrArray) all = fuse (&set, fusions[i].operands, fusions[i].write, &error);
      g_autofree char *text = NULL;

      g_assert_no_error (error);
      g_assert_cmpuint (all->len, ==, 1);
      text = gantry_texpr_to_text (g_ptr_array_index (all, 0), NULL);
      g_assert_cmpstr (text, ==, fusions[i].text);
    }
  set_clear (&set);
}

/* Random chains of movements: fused they must give what they give one after the other. */

static guint
random_shape (GRand *rand, gint64 n, GantryDim *dims)
{
  guint rank = 0;

  for (; n > 1 && rank < 5; rank++)
    {
      do
        dims[rank] = g_rand_int_range (rand, 1, (gint32) n + 1);
      while (n % dims[rank] != 0);
      n /= dims[rank];
    }
  if (n > 1 || rank == 0)
    dims[rank++] = n;
  return rank;
}

static guint32
random_movement (GRand *rand, GantryBuilder *builder, guint32 x)
{
  const GantryType *type = gantry_builder_get_type (builder, x);
  GantryDim dims[GANTRY_MAX_RANK];
  gint64 a[GANTRY_MAX_RANK], z[GANTRY_MAX_RANK], s[GANTRY_MAX_RANK];
  guint32 pair[2] = { x, x };
  guint choice = (guint) g_rand_int_range (rand, 0, gantry_type_elements (type) > 200 ? 4 : 6);

  for (guint d = 0; d < type->rank; d++)
    {
      a[d] = choice == 2 ? d : g_rand_int_range (rand, 0, (gint32) type->dims[d] + 1);
      z[d] = choice == 3 ? g_rand_int_range (rand, (gint32) a[d], (gint32) type->dims[d] + 1) : 0;
      s[d] = g_rand_int_range (rand, 1, 3);
    }
  switch (choice)
    {
    case 0:
    case 1: return gantry_builder_reshape (builder, x, random_shape (rand, gantry_type_elements (type), dims), dims);
    case 2:
      for (guint d = 1; d < type->rank; d++)
        {
          guint other = (guint) g_rand_int_range (rand, 0, (gint32) d + 1);
          gint64 swapped = a[d];

          a[d] = a[other];
          a[other] = swapped;
        }
      return gantry_builder_transpose (builder, x, a);
    case 3:
      if (g_rand_int_range (rand, 0, 4) != 0) /* not too often: everything would be cut away */
        return x;
      return gantry_builder_slice (builder, x, a, z, s);
    case 4:
      if (type->rank == 0)
        return x;
      return gantry_builder_concatenate (builder, pair, 2, g_rand_int_range (rand, 0, (gint32) type->rank));
    default:
      for (guint d = 0; d < type->rank; d++)
        {
          a[d] = g_rand_int_range (rand, type->dims[d] > 0 ? -1 : 0, 2);
          z[d] = g_rand_int_range (rand, 0, 2);
          s[d]--;
        }
      return gantry_builder_pad (builder, x, gantry_builder_scalar (builder, GANTRY_F32, -5), a, z, s);
    }
}

/* The values of every node of a body, by their own expressions. */
static double *
run_body (const GantryModule *module, const GantryFunction *body, double *input)
{
  g_autofree double **values = g_new0 (double *, body->n_nodes);
  double *last;

  for (guint i = 0; i < body->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[body->first_node + i];
      g_autoptr (GantryTexpr) texpr = NULL;
      double *inputs[2];
      Machine m = { .inputs = inputs };

      if (node->op == GANTRY_OP_PARAMETER)
        {
          values[i] = g_memdup2 (input, sizeof (double) * (gsize) gantry_type_elements (gantry_node_type (module, node)));
          continue;
        }
      if (node->op == GANTRY_OP_CONSTANT)
        {
          values[i] = g_new (double, 1);
          values[i][0] = -5;
          continue;
        }
      for (guint j = 0; j < node->n_operands; j++)
        inputs[j] = values[gantry_module_position (module, gantry_node_operand (module, node, j)) - body->first_node];
      texpr = gantry_texpr_of_node (module, node, NULL);
      m.texpr = texpr;
      values[i] = g_new (double, count (texpr) + 1);
      for (gint64 n = 0; n < count (texpr); n++)
        {
          place (&m, n);
          values[i][n] = run (&m, texpr->root);
        }
    }
  last = g_steal_pointer (&values[body->n_nodes - 1]);
  for (guint i = 0; i < body->n_nodes; i++)
    g_free (values[i]);
  return last;
}

static void
test_movements (void)
{
  g_autoptr (GRand) rand = test_rand (11);
  g_autofree double *input = counting (48, 0);
  TestSet set;

  set_init (&set);
  for (guint round = 0; round < 400; round++)
    {
      g_autoptr (GantryBuilder) builder = gantry_builder_new (set.context, "m");
      g_autoptr (GantryModule) module = NULL;
      g_autoptr (GPtrArray) all = NULL;
      g_autoptr (GError) error = NULL;
      g_autofree double *want = NULL;
      GantryAttrList *list = gantry_attr_list_new (set.context);
      const GantryFunction *function;
      guint32 p, x, r, body;
      Machine m = { .inputs = &input };

      gantry_builder_begin (builder, "main", 0);
      p = gantry_builder_parameter (builder, test_type (&set, "f32[4,12]"), NULL);
      body = gantry_builder_begin (builder, "fused", 0);
      r = x = gantry_builder_parameter (builder, test_type (&set, "f32[4,12]"), NULL);
      for (guint i = 0; i < 8 || x == r; i++)
        r = random_movement (rand, builder, r);
      gantry_builder_end (builder, &r, 1);
      gantry_attr_list_set_function (list, "body", body);
      r = gantry_builder_add (builder, GANTRY_OP_FUSION, &p, 1, gantry_attr_list_end (list));
      gantry_builder_end (builder, &r, 1);
      module = gantry_builder_finish (builder, &error);
      g_assert_no_error (error);
      all = gantry_texpr_of_fusion (module, gantry_module_node (module, r), &error);
      g_assert_no_error (error);
      m.texpr = g_ptr_array_index (all, 0);
      check_invariants (m.texpr);
      function = gantry_module_function (module, body);
      want = run_body (module, function, input);
      for (gint64 n = 0; n < count (m.texpr); n++)
        {
          place (&m, n);
          g_assert_cmpfloat (run (&m, m.texpr->root), ==, want[n]);
        }
    }
  set_clear (&set);
}

static guint32
write_deep (TestSet *set, GantryBuilder *builder, const guint32 *p)
{
  guint32 x = p[0];

  for (guint i = 0; i < 20000; i++)
    x = gantry_builder_unary (builder, i % 2 ? GANTRY_OP_SINE : GANTRY_OP_COSINE, x);
  return x;
}

/* x[i - 1] + x[i + 1] again and again: as many coordinates as steps, not two to the power of them. */
static guint32
write_stencil (TestSet *set, GantryBuilder *builder, const guint32 *p)
{
  guint32 x = p[0], zero = gantry_builder_scalar (builder, GANTRY_F32, 0);

  for (guint i = 0; i < 20; i++)
    {
      guint32 left = gantry_builder_pad (builder, x, zero, (const gint64[]){ 1 }, (const gint64[]){ -1 }, NULL);
      guint32 right = gantry_builder_pad (builder, x, zero, (const gint64[]){ -1 }, (const gint64[]){ 1 }, NULL);

      x = gantry_builder_binary (builder, GANTRY_OP_ADD, left, right);
    }
  return x;
}

/* Each reduction is computed anew at 40 coordinates: more axes than an expression may have. */
static guint32
write_many_axes (TestSet *set, GantryBuilder *builder, const guint32 *p)
{
  guint32 sum = gantry_builder_reduce (builder, "add", p[0], (const gint64[]){ 1 }, 1), x = 0;

  for (gint64 i = 0; i < 40; i++)
    {
      const gint64 limit = i + 1;
      guint32 part = gantry_builder_slice (builder, sum, &i, &limit, NULL);

      x = x == 0 ? part : gantry_builder_binary (builder, GANTRY_OP_ADD, x, part);
    }
  return x;
}

static guint32
write_dense_constant (TestSet *set, GantryBuilder *builder, const guint32 *p)
{
  const gint64 values[] = { 1, 2, 3, 4 };

  return gantry_builder_binary (builder, GANTRY_OP_ADD, p[0], gantry_builder_ints (builder, values, 4));
}

static guint32
write_sorted (TestSet *set, GantryBuilder *builder, const guint32 *p)
{
  return gantry_builder_add (builder, GANTRY_OP_SORT, p, 1, test_attrs (set, "dimension=0"));
}

static void
test_fusion_limits (void)
{
  TestSet set;
  GPtrArray *all;
  g_autoptr (GError) error = NULL;
  GantryTexpr *texpr;
  char *text;

  set_init (&set);
  all = fuse (&set, "f32[4]", write_deep, &error);
  g_assert_no_error (error);
  texpr = g_ptr_array_index (all, 0);
  g_assert_cmpuint (texpr->n_nodes, ==, 20002);
  text = gantry_texpr_to_text (texpr, NULL);
  g_assert_cmpuint (strlen (text), <, 1000000);
  g_free (text);
  g_ptr_array_unref (all);

  all = fuse (&set, "f32[64]", write_stencil, &error);
  g_assert_no_error (error);
  texpr = g_ptr_array_index (all, 0);
  g_assert_cmpuint (texpr->n_nodes, <, 20 * 21 * 12);
  g_ptr_array_unref (all);

  g_assert_null (fuse (&set, "f32[40,4]", write_many_axes, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE);
  g_clear_error (&error);
  g_assert_null (fuse (&set, "i64[4]", write_dense_constant, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
  g_clear_error (&error);
  g_assert_null (fuse (&set, "i64[4]", write_sorted, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
  set_clear (&set);
}

static void
check_inline (TestSet *set, GantryTexpr *outer, guint input, GantryTexpr *inner, const char *want)
{
  g_autoptr (GantryTexpr) result = gantry_texpr_inline (outer, input, inner);
  g_autofree char *text = NULL;

  if (want == NULL)
    {
      g_assert_null (result);
      return;
    }
  g_assert_nonnull (result);
  check_invariants (result);
  text = gantry_texpr_to_text (result, NULL);
  g_assert_cmpstr (text, ==, want);
}

static void
test_inline (void)
{
  TestSet set;
  g_autoptr (GantryTexpr) add = NULL, exp = NULL, dot = NULL, sum = NULL, reverse = NULL, both = NULL, product = NULL, squares = NULL;

  set_init (&set);
  add = texpr_of (&set, GANTRY_OP_ADD, "f32[8,8] f32[8,8]", "");
  exp = texpr_of (&set, GANTRY_OP_EXPONENTIAL, "f32[8,8]", "");
  reverse = texpr_of (&set, GANTRY_OP_REVERSE, "f32[8,8]", "dimensions=[0]");
  dot = texpr_of (&set, GANTRY_OP_DOT_GENERAL, "f32[8,4] f32[4,8]", "lhs_contracting_dimensions=[1] rhs_contracting_dimensions=[0]");
  sum = texpr_of (&set, GANTRY_OP_REDUCE, "f32[8,8]", "kind=add dimensions=[1]");
  check_inline (&set, add, 1, exp, "C[i, j] = A[i, j] + exp(B[i, j])");
  check_inline (&set, add, 0, exp, "C[i, j] = exp(B[i, j]) + A[i, j]");
  check_inline (&set, reverse, 0, reverse, "B[i, j] = A[i, j]");
  check_inline (&set, add, 0, dot, "D[i, j] = sum(B[i, k] * C[k, j], axis=[k]) + A[i, j]");
  check_inline (&set, sum, 0, exp, "B[i] = sum(exp(A[i, k]), axis=[k])");
  /* The product would be computed at each k, or at two coordinates. */
  check_inline (&set, sum, 0, dot, NULL);
  product = texpr_of (&set, GANTRY_OP_MULTIPLY, "f32[8,8] f32[8,8]", "");
  squares = gantry_texpr_inline (sum, 0, product);
  /* Not the product that is one operation with its sum. */
  check_inline (&set, sum, 0, product, "C[i] = sum((A[i, k] * B[i, k]), axis=[k])");
  check_inline (&set, squares, 0, exp, "C[i] = sum((exp(B[i, k]) * A[i, k]), axis=[k])");
  both = gantry_texpr_inline (add, 1, reverse); /* A[i, j] + B[7 - i, j] */
  g_assert_nonnull (both);
  check_inline (&set, both, 1, dot, "D[i, j] = A[i, j] + sum(B[7 - i, k] * C[k, j], axis=[k])");
  set_clear (&set);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ir/texpr/fusion-text", test_fusion_text);
  g_test_add_func ("/ir/texpr/movements", test_movements);
  g_test_add_func ("/ir/texpr/fusion-limits", test_fusion_limits);
  g_test_add_func ("/ir/texpr/inline", test_inline);
  return g_test_run ();
}
