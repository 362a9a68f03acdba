/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs keep their value under each pass and under all of them in turn. Elements are f64, so that what
 * passes may reorder stays far below the tolerance. */
#include "tests/core/passes/pass-test.h"
#include "core/ir/builder.h"
#include "core/ir/verifier.h"

#define N_PROGRAMS 300
#define N_NODES 40
#define TOLERANCE 1e-7

static const GantryPass *const passes[] = {
  &gantry_pass_legalize, &gantry_pass_simplify, &gantry_pass_fold, &gantry_pass_cse,
  &gantry_pass_epilogue, &gantry_pass_dce,      &gantry_pass_fuse, &gantry_pass_dce,
};

typedef struct
{
  GantryBuilder *b;
  GRand *rand;
  GArray *values; /* guint32: all of f64 */
} Maker;

static gint
pick (Maker *m, gint n)
{
  return g_rand_int_range (m->rand, 0, n);
}

/* New values more often than old ones, so that chains grow. */
static guint32
any_value (Maker *m)
{
  guint n = m->values->len;
  guint i = pick (m, 2) == 0 ? (guint) pick (m, (gint) n) : n - 1 - (guint) pick (m, (gint) MIN (n, 4));

  return g_array_index (m->values, guint32, i);
}

/* A scalar constant under a broadcast, of the numbers that rules look for, with the shape of @x. */
static guint32
constant_like (Maker *m, guint32 x)
{
  static const double numbers[] = { 0, 1, 2, -1, 0.5, 0.3 };
  const GantryType *type = gantry_builder_get_type (m->b, x);

  return gantry_builder_splat (m->b, GANTRY_F64, numbers[pick (m, G_N_ELEMENTS (numbers))], type->rank, type->dims);
}

static guint32
vector_like (Maker *m, guint32 x)
{
  const GantryType *type = gantry_builder_get_type (m->b, x);
  gint64 dim = type->rank > 1 ? 1 : 0;
  guint8 *data;
  guint32 vector_type =
    gantry_context_tensor (gantry_builder_context (m->b), GANTRY_F64, 1, &type->dims[dim]);
  g_autoptr (GantryLiteral) literal =
    gantry_literal_new_zeroed (gantry_context_type (gantry_builder_context (m->b), vector_type), &data);

  for (gint64 i = 0; i < type->dims[dim]; i++)
    gantry_element_write_double (GANTRY_F64, data + 8 * i, g_rand_double_range (m->rand, -1, 1));
  return gantry_builder_broadcast (m->b, gantry_builder_literal (m->b, literal), type->rank, type->dims, &dim);
}

static guint32
make_unary (Maker *m, guint32 x)
{
  static const GantryOp ops[] = { GANTRY_OP_NEGATE, GANTRY_OP_ABS, GANTRY_OP_TANH, GANTRY_OP_LOGISTIC, GANTRY_OP_SINE };

  return gantry_builder_unary (m->b, ops[pick (m, G_N_ELEMENTS (ops))], x);
}

static guint32
make_binary (Maker *m, guint32 x)
{
  static const GantryOp ops[] = { GANTRY_OP_ADD, GANTRY_OP_SUBTRACT, GANTRY_OP_MULTIPLY, GANTRY_OP_MAXIMUM,
                                  GANTRY_OP_MINIMUM };
  GantryOp op = ops[pick (m, G_N_ELEMENTS (ops))];
  guint32 y = any_value (m);

  if (pick (m, 3) == 0)
    y = pick (m, 2) == 0 ? constant_like (m, x) : vector_like (m, x);
  else if (gantry_builder_type (m->b, x) != gantry_builder_type (m->b, y))
    y = x;
  if (pick (m, 8) == 0) /* something to fold */
    {
      y = gantry_builder_binary (m->b, op, constant_like (m, x), constant_like (m, x));
      op = GANTRY_OP_ADD;
    }
  return pick (m, 2) == 0 ? gantry_builder_binary (m->b, op, x, y) : gantry_builder_binary (m->b, op, y, x);
}

static guint32
make_movement (Maker *m, guint32 x)
{
  const GantryType *type = gantry_builder_get_type (m->b, x);
  gint64 swap[GANTRY_MAX_RANK], zeros[GANTRY_MAX_RANK] = { 0 }, ones[GANTRY_MAX_RANK];
  GantryDim flat = gantry_type_elements (type);

  for (guint i = 0; i < type->rank; i++)
    {
      swap[i] = type->rank - 1 - i;
      ones[i] = 1;
    }
  switch (pick (m, 5))
    {
    case 0: return gantry_builder_transpose (m->b, x, swap);
    case 1: return gantry_builder_reshape (m->b, gantry_builder_reshape (m->b, x, 1, &flat), type->rank, type->dims);
    case 2: return gantry_builder_slice (m->b, x, zeros, type->dims, ones);
    case 3: return gantry_builder_pad (m->b, x, gantry_builder_scalar (m->b, GANTRY_F64, 0.5), zeros, zeros, zeros);
    default: return gantry_builder_concatenate (m->b, &x, 1, 0);
    }
}

static guint32
make_convolution (Maker *m, guint32 x)
{
  const GantryType *type = gantry_builder_get_type (m->b, x);
  GantryContext *context = gantry_builder_context (m->b);
  const GantryDim dims[] = { 3, type->rank == 4 ? type->dims[1] : 1, 1, 1 };
  GantryAttrList *attrs;
  guint32 operands[2] = { x };

  if (type->rank != 4)
    return make_unary (m, x);
  operands[1] = gantry_builder_splat (m->b, GANTRY_F64, 0.25, 4, dims);
  attrs = gantry_attr_list_new (context);
  x = gantry_builder_add (m->b, GANTRY_OP_CONVOLUTION, operands, 2, gantry_attr_list_end (attrs));
  /* Most often with what follows a convolution. */
  if (pick (m, 3) > 0)
    x = gantry_builder_binary (m->b, GANTRY_OP_MULTIPLY, x, vector_like (m, x));
  if (pick (m, 3) > 0)
    x = gantry_builder_binary (m->b, GANTRY_OP_ADD, vector_like (m, x), x);
  if (pick (m, 3) > 0)
    x = gantry_builder_binary (m->b, GANTRY_OP_MAXIMUM, x,
                               gantry_builder_splat (m->b, GANTRY_F64, 0, 4, gantry_builder_get_type (m->b, x)->dims));
  return x;
}

static guint32
make_reduction (Maker *m, guint32 x)
{
  const GantryType *type = gantry_builder_get_type (m->b, x);
  gint64 axis = pick (m, type->rank), map[GANTRY_MAX_RANK];
  guint32 sum = gantry_builder_reduce (m->b, pick (m, 2) == 0 ? "add" : "max", x, &axis, 1);
  guint n = 0;

  for (guint i = 0; i < type->rank; i++)
    if (i != axis)
      map[n++] = i;
  return gantry_builder_broadcast (m->b, sum, type->rank, type->dims, map);
}

static guint32
make_value (Maker *m)
{
  guint32 x = any_value (m);

  switch (pick (m, 12))
    {
    case 0: case 1: case 2: return make_unary (m, x);
    case 3: case 4: case 5: case 6: return make_binary (m, x);
    case 7: case 8: return make_movement (m, x);
    case 9: return make_reduction (m, x);
    case 10: return make_convolution (m, x);
    default:
      return gantry_builder_select (m->b, gantry_builder_compare (m->b, "GT", x, constant_like (m, x)), x,
                                    gantry_builder_unary (m->b, GANTRY_OP_TANH, x));
    }
}

static GantryModule *
make_program (GantryContext *context, GRand *rand)
{
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "random");
  const GantryDim dims[] = { 2, 3, 2, 2 };
  const GantryLocation place = { .file = gantry_context_intern (context, "random"), .line = 1 };
  Maker m = { builder, rand, g_array_new (FALSE, FALSE, sizeof (guint32)) };
  g_autoptr (GError) error = NULL;
  GantryModule *module;
  guint32 results[4];

  gantry_builder_set_place (builder, 0, gantry_context_location (context, &place));
  gantry_builder_begin (builder, "main", 0);
  for (guint i = 0; i < 3; i++)
    {
      guint32 x = gantry_builder_parameter (builder, gantry_context_tensor (context, GANTRY_F64, i == 2 ? 2 : 4, dims), "x");

      g_array_append_val (m.values, x);
    }
  for (guint i = 0; i < N_NODES; i++)
    {
      guint32 x = make_value (&m);

      g_array_append_val (m.values, x);
    }
  for (guint i = 0; i < G_N_ELEMENTS (results); i++)
    results[i] = any_value (&m);
  gantry_builder_end (builder, results, G_N_ELEMENTS (results));
  module = gantry_builder_finish (builder, &error);
  g_assert_no_error (error);
  g_array_unref (m.values);
  return module;
}

static GantryModule *
run_pass (const GantryPass *pass, GantryModule *module)
{
  const GantryPassOptions options = GANTRY_PASS_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  GantryModule *after = pass->run (module, &options, NULL, &error);

  g_assert_no_error (error);
  gantry_verify (after, module, &error);
  g_assert_no_error (error);
  return after;
}

static void
test_each_pass (void)
{
  guint n_changed[G_N_ELEMENTS (passes)] = { 0 };

  for (guint32 seed = 1; seed <= N_PROGRAMS; seed++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (GantryModule) module = make_program (context, rand);

      for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
        {
          g_autoptr (GantryModule) after = run_pass (passes[i], module);

          n_changed[i] += after != module;
          if (after != module)
            pass_check_same (module, after, seed, TOLERANCE);
        }
    }
  /* The programs are such that every pass finds something to do. */
  for (guint i = 1; i < G_N_ELEMENTS (passes); i++)
    {
      g_test_message ("%s changed %u of %u", passes[i]->name, n_changed[i], N_PROGRAMS);
      g_assert_cmpuint (n_changed[i], >, N_PROGRAMS / 10);
    }
}

static void
test_all_passes (void)
{
  for (guint32 seed = 1; seed <= N_PROGRAMS; seed++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (GantryModule) module = make_program (context, rand);
      g_autoptr (GantryModule) now = gantry_module_ref (module);

      for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
        {
          GantryModule *next = run_pass (passes[i], now);

          gantry_module_unref (now);
          now = next;
        }
      pass_check_same (module, now, seed, TOLERANCE);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/passes/random/each-pass", test_each_pass);
  g_test_add_func ("/passes/random/all-passes", test_all_passes);
  return g_test_run ();
}
