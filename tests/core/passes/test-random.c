/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs keep their value under each pass and under all of them in turn. Elements are f64, so that what
 * passes may reorder stays far below the tolerance. */
#include "core/graph/builder.h"
#include "core/graph/verifier.h"
#include "tests/core/passes/pass-test.h"
#include "tests/random-seed.h"

#define N_PROGRAMS 300
#define N_NODES 40
#define TOLERANCE 1e-7

static const GantryPass *const passes[] = {
  &gantry_pass_legalize, &gantry_pass_simplify, &gantry_pass_inline,   &gantry_pass_roll, &gantry_pass_unroll, &gantry_pass_simplify,
  &gantry_pass_fold,     &gantry_pass_cse,      &gantry_pass_epilogue, &gantry_pass_dce,  &gantry_pass_fuse,   &gantry_pass_dce,
};

typedef struct
{
  GantryBuilder *b;
  GRand *rand;
  GArray *values; /* guint32: all of f64 and of rank 1 or more */
  guint depth;    /* of bodies */
} Maker;

#define MOST_DEPTH 2
#define MOST_STACKED 500

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
  guint32 vector_type = gantry_context_tensor (gantry_builder_context (m->b), GANTRY_F64, 1, &type->dims[dim]);
  g_autoptr (GantryLiteral) literal = gantry_literal_new_zeroed (gantry_context_type (gantry_builder_context (m->b), vector_type), &data);

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
  static const GantryOp ops[] = { GANTRY_OP_ADD, GANTRY_OP_SUBTRACT, GANTRY_OP_MULTIPLY, GANTRY_OP_MAXIMUM, GANTRY_OP_MINIMUM };
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
    x = gantry_builder_binary (m->b, GANTRY_OP_MAXIMUM, x, gantry_builder_splat (m->b, GANTRY_F64, 0, 4, gantry_builder_get_type (m->b, x)->dims));
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

/* Control */

static guint32 make_value (Maker *m);

static void
begin_body (Maker *inner, const Maker *m)
{
  *inner = (Maker){ m->b, m->rand, g_array_new (FALSE, FALSE, sizeof (guint32)), m->depth + 1 };
}

static guint32
body_parameter (Maker *inner, guint32 type)
{
  guint32 id = gantry_builder_parameter (inner->b, type, "p");

  g_array_append_val (inner->values, id);
  return id;
}

static void
fill_body (Maker *inner)
{
  for (gint i = 2 + pick (inner, 4); i > 0; i--)
    {
      guint32 value = make_value (inner);

      g_array_append_val (inner->values, value);
    }
}

/* The last value of @type; the body's first parameter has it. */
static guint32
last_of (Maker *inner, guint32 type)
{
  guint i = inner->values->len;

  while (gantry_builder_type (inner->b, g_array_index (inner->values, guint32, --i)) != type)
    ;
  return g_array_index (inner->values, guint32, i);
}

static guint32
body_of_one (Maker *m, guint32 type, guint n_parameters)
{
  Maker inner;
  guint32 function = gantry_builder_begin (m->b, "body", 0), result;

  begin_body (&inner, m);
  for (guint i = 0; i < n_parameters; i++)
    body_parameter (&inner, type);
  fill_body (&inner);
  result = last_of (&inner, type);
  gantry_builder_end (m->b, &result, 1);
  g_array_unref (inner.values);
  return function;
}

/* Carries @x over the slices of another value; what is stacked becomes a value as well. */
static guint32
make_scan (Maker *m, guint32 x)
{
  guint32 whole = any_value (m), capture = any_value (m), results[2];
  const GantryType *type = gantry_builder_get_type (m->b, whole);
  gint64 axis = pick (m, (gint) type->rank), y_axis;
  guint32 operands[3] = { x, whole, capture };
  GantryScan scan = {
    .length = type->dims[axis], .reverse = pick (m, 2), .n_carries = 1, .n_xs = 1, .n_captures = 1, .n_ys = 1, .axes = &axis, .y_axes = &y_axis
  };
  GantryDim dims[GANTRY_MAX_RANK];
  Maker inner;
  guint rank = 0;

  for (guint d = 0; d < type->rank; d++)
    if (d != axis)
      dims[rank++] = type->dims[d];
  if (rank == 0 || m->depth >= MOST_DEPTH)
    return make_unary (m, x);
  scan.body = gantry_builder_begin (m->b, "scan", 0);
  begin_body (&inner, m);
  body_parameter (&inner, gantry_builder_type (m->b, x));
  body_parameter (&inner, gantry_context_tensor (gantry_builder_context (m->b), GANTRY_F64, rank, dims));
  body_parameter (&inner, gantry_builder_type (m->b, capture));
  fill_body (&inner);
  results[0] = last_of (&inner, gantry_builder_type (m->b, x));
  results[1] = any_value (&inner);
  type = gantry_builder_get_type (m->b, results[1]);
  if (gantry_type_elements (type) > MOST_STACKED || type->rank > 6)
    results[1] = results[0];
  y_axis = pick (m, (gint) gantry_builder_get_type (m->b, results[1])->rank + 1);
  gantry_builder_end (m->b, results, 2);
  g_array_unref (inner.values);
  x = gantry_builder_scan (m->b, &scan, operands);
  results[1] = gantry_builder_result (m->b, x, 1);
  g_array_append_val (m->values, results[1]);
  return gantry_builder_result (m->b, x, 0);
}

static guint32
make_call (Maker *m, guint32 x)
{
  GantryAttrList *attrs = gantry_attr_list_new (gantry_builder_context (m->b));

  gantry_attr_list_set_function (attrs, "body", body_of_one (m, gantry_builder_type (m->b, x), 1));
  return gantry_builder_add (m->b, GANTRY_OP_CALL, &x, 1, gantry_attr_list_end (attrs));
}

/* Whether the sum of all elements is positive. */
static guint32
predicate_of (Maker *m, guint32 x)
{
  gint64 axes[GANTRY_MAX_RANK];
  guint rank = gantry_builder_get_type (m->b, x)->rank;

  for (guint i = 0; i < rank; i++)
    axes[i] = i;
  return gantry_builder_compare (m->b, "GT", gantry_builder_reduce (m->b, "add", x, axes, rank), gantry_builder_scalar (m->b, GANTRY_F64, 0));
}

static guint32
make_if (Maker *m, guint32 x)
{
  GantryAttrList *attrs = gantry_attr_list_new (gantry_builder_context (m->b));
  guint32 type = gantry_builder_type (m->b, x);
  guint32 operands[2] = { predicate_of (m, any_value (m)), x };

  gantry_attr_list_set_function (attrs, "then", body_of_one (m, type, 1));
  gantry_attr_list_set_function (attrs, "else", body_of_one (m, type, 1));
  return gantry_builder_add (m->b, GANTRY_OP_IF, operands, 2, gantry_attr_list_end (attrs));
}

/* Counts down from two or three, or stops when the sum is no longer positive. */
static guint32
make_while (Maker *m, guint32 x)
{
  GantryAttrList *attrs = gantry_attr_list_new (gantry_builder_context (m->b));
  gboolean by_data = pick (m, 2) == 0;
  guint32 i32 = gantry_context_scalar (gantry_builder_context (m->b), GANTRY_I32), type = gantry_builder_type (m->b, x);
  guint32 operands[2] = { gantry_builder_int_scalar (m->b, GANTRY_I32, 2 + pick (m, 2)), x }, inside[2], more, body;

  gantry_attr_list_set_function (attrs, "cond", gantry_builder_begin (m->b, "cond", 0));
  inside[0] = gantry_builder_parameter (m->b, i32, "i");
  inside[1] = gantry_builder_parameter (m->b, type, "x");
  more = gantry_builder_compare (m->b, "GT", inside[0], gantry_builder_int_scalar (m->b, GANTRY_I32, 0));
  if (by_data)
    more = gantry_builder_binary (m->b, GANTRY_OP_AND, more, predicate_of (m, inside[1]));
  gantry_builder_end (m->b, &more, 1);
  body = body_of_one (m, type, 1);
  gantry_attr_list_set_function (attrs, "body", gantry_builder_begin (m->b, "trip", 0));
  inside[0] = gantry_builder_parameter (m->b, i32, "i");
  inside[1] = gantry_builder_parameter (m->b, type, "x");
  inside[0] = gantry_builder_binary (m->b, GANTRY_OP_SUBTRACT, inside[0], gantry_builder_int_scalar (m->b, GANTRY_I32, 1));
  {
    GantryAttrList *call = gantry_attr_list_new (gantry_builder_context (m->b));

    gantry_attr_list_set_function (call, "body", body);
    inside[1] = gantry_builder_add (m->b, GANTRY_OP_CALL, &inside[1], 1, gantry_attr_list_end (call));
  }
  gantry_builder_end (m->b, inside, 2);
  if (by_data)
    gantry_attr_list_set_int (attrs, "most_trips", 3);
  x = gantry_builder_add (m->b, GANTRY_OP_WHILE, operands, 2, gantry_attr_list_end (attrs));
  return gantry_builder_result (m->b, x, 1);
}

static guint32
make_control (Maker *m, guint32 x)
{
  if (m->depth >= MOST_DEPTH)
    return make_unary (m, x);
  switch (pick (m, 4))
    {
    case 0: return make_call (m, x);
    case 1: return make_if (m, x);
    case 2: return make_while (m, x);
    default: return make_scan (m, x);
    }
}

/* Three to five times the same, with other numbers. */
static guint32
make_blocks (Maker *m, guint32 x)
{
  for (gint i = 3 + pick (m, 3); i > 0; i--)
    {
      guint32 y = gantry_builder_binary (m->b, GANTRY_OP_MULTIPLY, x, vector_like (m, x));

      y = gantry_builder_unary (m->b, GANTRY_OP_TANH, y);
      if (pick (m, 10) == 0) /* somebody else reads it */
        g_array_append_val (m->values, y);
      x = gantry_builder_binary (m->b, GANTRY_OP_ADD, gantry_builder_unary (m->b, GANTRY_OP_SINE, y), x);
    }
  return x;
}

static guint32
make_value (Maker *m)
{
  guint32 x = any_value (m);

  switch (pick (m, 15))
    {
    case 0:
    case 1:
    case 2: return make_unary (m, x);
    case 3:
    case 4:
    case 5:
    case 6: return make_binary (m, x);
    case 7:
    case 8: return make_movement (m, x);
    case 9: return make_reduction (m, x);
    case 10: return make_convolution (m, x);
    case 11:
    case 12: return make_control (m, x);
    case 13: return m->depth == 0 ? make_blocks (m, x) : make_binary (m, x);
    default:
      return gantry_builder_select (m->b, gantry_builder_compare (m->b, "GT", x, constant_like (m, x)), x, gantry_builder_unary (m->b, GANTRY_OP_TANH, x));
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
  gantry_verify (after, after != module ? module : NULL, &error);
  g_assert_no_error (error);
  return after;
}

static void
test_each_pass (void)
{
  guint n_changed[G_N_ELEMENTS (passes)] = { 0 };
  guint32 base = test_seed (0);

  for (guint32 seed = 1; seed <= N_PROGRAMS; seed++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GRand) rand = g_rand_new_with_seed (base + seed);
      g_autoptr (GantryModule) module = make_program (context, rand);

      for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
        {
          g_autoptr (GantryModule) after = run_pass (passes[i], module);

          n_changed[i] += after != module;
          if (after != module)
            pass_check_same (module, after, base + seed, TOLERANCE);
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
  guint32 base = test_seed (0);

  for (guint32 seed = 1; seed <= N_PROGRAMS; seed++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GRand) rand = g_rand_new_with_seed (base + seed);
      g_autoptr (GantryModule) module = make_program (context, rand);
      g_autoptr (GantryModule) now = gantry_module_ref (module);

      for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
        {
          GantryModule *next = run_pass (passes[i], now);

          gantry_module_unref (now);
          now = next;
        }
      pass_check_same (module, now, base + seed, TOLERANCE);
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
