/* SPDX-License-Identifier: Apache-2.0 */
/* The builder of tensor expressions: simplification of indices (against plain arithmetic, with random expressions, and
 * the forms that it has to see through), what it must not conclude, constants and limits. */
#include "core/expr/expr.h"
#include "tests/core/expr/texpr-test.h"
#include "tests/random-seed.h"

typedef struct
{
  GantryOp op;
  gint64 constant; /* leaf: the constant, or the variable */
  int a, b;        /* of earlier entries; -1: none */
} Plain;

static gint64
run_plain (const Plain *all, int x, const gint64 *index)
{
  gint64 a, b;

  if (all[x].a < 0)
    return all[x].op == GANTRY_OP_IOTA ? index[all[x].constant] : all[x].constant;
  a = run_plain (all, all[x].a, index);
  b = run_plain (all, all[x].b, index);
  switch (all[x].op)
    {
    case GANTRY_OP_ADD: return a + b;
    case GANTRY_OP_SUBTRACT: return a - b;
    case GANTRY_OP_MULTIPLY: return a * b;
    case GANTRY_OP_DIVIDE: return a / b;
    case GANTRY_OP_REMAINDER: return a % b;
    case GANTRY_OP_MAXIMUM: return MAX (a, b);
    default: return MIN (a, b);
    }
}

#define N_PLAIN 20

static gboolean
holds (GantryDirection direction, gint64 x, gint64 y)
{
  return direction == GANTRY_EQ   ? x == y
         : direction == GANTRY_NE ? x != y
         : direction == GANTRY_LT ? x < y
         : direction == GANTRY_LE ? x <= y
         : direction == GANTRY_GT ? x > y
                                  : x >= y;
}

/* A random expression over two variables, both as a plain tree and built; values stay small. The root is one of the
 * last two entries, chosen by comparing them. */
static guint32
random_expression (GRand *rand, GantryTexprBuilder *b, Plain *all, GantryDirection direction)
{
  static const gint64 factors[] = { 1, 2, 3, 4, 6, 8, 12 };
  static const GantryOp ops[] = { GANTRY_OP_ADD,    GANTRY_OP_ADD,       GANTRY_OP_SUBTRACT,  GANTRY_OP_MULTIPLY, GANTRY_OP_DIVIDE,
                                  GANTRY_OP_DIVIDE, GANTRY_OP_REMAINDER, GANTRY_OP_REMAINDER, GANTRY_OP_MAXIMUM,  GANTRY_OP_MINIMUM };
  guint32 built[N_PLAIN];

  for (int i = 0; i < N_PLAIN; i++)
    {
      gint64 c = factors[g_rand_int_range (rand, 0, G_N_ELEMENTS (factors))];

      all[i].a = all[i].b = -1;
      if (i < 2)
        {
          all[i].op = GANTRY_OP_IOTA;
          all[i].constant = i;
          built[i] = gantry_tx_index (b, i);
          continue;
        }
      if (i % 2 == 0)
        {
          all[i].op = GANTRY_OP_CONSTANT;
          all[i].constant = c;
          built[i] = gantry_tx_int (b, c);
          continue;
        }
      all[i].op = ops[g_rand_int_range (rand, 0, G_N_ELEMENTS (ops))];
      /* Mostly the newest value; the constant just made, or for sums any value. */
      all[i].a = i > 3 && g_rand_boolean (rand) ? i - 2 : g_rand_int_range (rand, 0, 2);
      all[i].b = (all[i].op == GANTRY_OP_ADD || all[i].op == GANTRY_OP_SUBTRACT) && g_rand_boolean (rand) ? g_rand_int_range (rand, 0, i) : i - 1;
      built[i] = gantry_tx_binary (b, all[i].op, built[all[i].a], built[all[i].b]);
    }
  return gantry_tx_select (b, gantry_tx_compare (b, direction, built[N_PLAIN - 1], built[N_PLAIN - 3]), built[N_PLAIN - 1], built[N_PLAIN - 3]);
}

static void
test_simplify (void)
{
  g_autoptr (GRand) rand = test_rand (7);
  static const gint64 extents[] = { 1, 2, 3, 4, 6, 8, 16, 24 };

  for (guint round = 0; round < 20000; round++)
    {
      gint64 shape[2] = { extents[g_rand_int_range (rand, 0, 8)], extents[g_rand_int_range (rand, 0, 8)] };
      GantryTexprBuilder *b = gantry_texpr_builder_new (GANTRY_I64, 2, shape, 0, NULL);
      Plain all[N_PLAIN];
      GantryDirection direction = g_rand_int_range (rand, GANTRY_EQ, GANTRY_GE + 1);
      guint32 root = random_expression (rand, b, all, direction);
      g_autoptr (GantryTexpr) texpr = gantry_texpr_builder_end (b, root);
      Machine m = { .texpr = texpr };

      check_invariants (texpr);
      for (gint64 n = 0; n < count (texpr); n++)
        {
          gint64 x, y;

          place (&m, n);
          x = run_plain (all, N_PLAIN - 1, m.index);
          y = run_plain (all, N_PLAIN - 3, m.index);
          g_assert_cmpint ((gint64) run (&m, texpr->root), ==, holds (direction, x, y) ? x : y);
        }
    }
}

/* What the builder has to see through. */
static void
test_simplified_forms (void)
{
  gint64 shape[2] = { 8, 16 };
  GantryTexprBuilder *b = gantry_texpr_builder_new (GANTRY_I64, 2, shape, 0, NULL);
  guint32 i = gantry_tx_index (b, 0), j = gantry_tx_index (b, 1), c16 = gantry_tx_int (b, 16), c4 = gantry_tx_int (b, 4);
  guint32 zero = gantry_tx_int (b, 0), one = gantry_tx_int (b, 1);
  guint32 number = gantry_tx_binary (b, GANTRY_OP_ADD, gantry_tx_binary (b, GANTRY_OP_MULTIPLY, i, c16), j);
  guint32 high, low, x;

#define BINARY(op, x, y) gantry_tx_binary (b, GANTRY_OP_##op, x, y)
  g_assert_cmpuint (BINARY (ADD, i, zero), ==, i);
  g_assert_cmpuint (BINARY (ADD, zero, i), ==, i);
  g_assert_cmpuint (BINARY (MULTIPLY, i, one), ==, i);
  g_assert_cmpuint (BINARY (MULTIPLY, i, zero), ==, zero);
  g_assert_cmpuint (BINARY (ADD, i, j), ==, BINARY (ADD, j, i));
  g_assert_cmpuint (BINARY (SUBTRACT, BINARY (ADD, i, j), j), ==, i);
  g_assert_cmpuint (BINARY (ADD, gantry_tx_int (b, 3), gantry_tx_int (b, 4)), ==, gantry_tx_int (b, 7));
  g_assert_cmpuint (BINARY (DIVIDE, BINARY (MULTIPLY, i, c4), c4), ==, i);
  g_assert_cmpuint (BINARY (DIVIDE, number, c16), ==, i);
  g_assert_cmpuint (BINARY (REMAINDER, number, c16), ==, j);
  g_assert_cmpuint (BINARY (DIVIDE, j, c16), ==, zero);
  /* 4 * (j / 4) + j % 4, and the same in two steps */
  high = BINARY (DIVIDE, j, c4);
  low = BINARY (REMAINDER, j, c4);
  g_assert_cmpuint (BINARY (ADD, BINARY (MULTIPLY, high, c4), low), ==, j);
  x = BINARY (ADD, BINARY (MULTIPLY, BINARY (DIVIDE, j, gantry_tx_int (b, 8)), gantry_tx_int (b, 8)), low);
  x = BINARY (ADD, x, BINARY (MULTIPLY, BINARY (REMAINDER, high, gantry_tx_int (b, 2)), c4));
  g_assert_cmpuint (x, ==, j);
  g_assert_cmpuint (BINARY (MAXIMUM, i, zero), ==, i);
  g_assert_cmpuint (BINARY (MINIMUM, i, gantry_tx_int (b, 7)), ==, i);
  g_assert_cmpuint (gantry_tx_compare (b, GANTRY_LT, i, gantry_tx_int (b, 8)), ==, gantry_tx_const_int (b, GANTRY_BOOL, 1));
  g_assert_cmpuint (gantry_tx_compare (b, GANTRY_LT, i, BINARY (ADD, i, one)), ==, gantry_tx_const_int (b, GANTRY_BOOL, 1));
  x = gantry_tx_cast (b, gantry_tx_cast (b, i, GANTRY_I8), GANTRY_I64);
  g_assert_cmpuint (x, ==, i);
  x = gantry_tx_cast (b, gantry_tx_cast (b, BINARY (MULTIPLY, i, c16), GANTRY_I8), GANTRY_I64);
  g_assert_cmpuint (x, ==, BINARY (MULTIPLY, i, c16)); /* at most 112 */
  x = gantry_tx_cast (b, gantry_tx_cast (b, BINARY (MULTIPLY, number, c4), GANTRY_I8), GANTRY_I64);
  g_assert_cmpuint (x, !=, BINARY (MULTIPLY, number, c4)); /* up to 508 does not fit */
#undef BINARY
  gantry_texpr_free (gantry_texpr_builder_end (b, x));
}

/* i64 data wraps: nothing may be concluded from x + 1 > x. */
static void
test_wrapping (void)
{
  TestSet set;
  GantryTexprBuilder *b;
  const GantryType *type;
  guint32 x, next;

  set_init (&set);
  type = gantry_context_type (set.context, test_type (&set, "i64[]"));
  b = gantry_texpr_builder_new (GANTRY_BOOL, 0, NULL, 1, &type);
  x = gantry_tx_load (b, 0, NULL);
  next = gantry_tx_binary (b, GANTRY_OP_ADD, x, gantry_tx_int (b, 1));
  g_assert_cmpuint (gantry_tx_compare (b, GANTRY_EQ, x, x), ==, gantry_tx_const_int (b, GANTRY_BOOL, 1));
  g_assert_cmpuint (gantry_tx_compare (b, GANTRY_GT, next, x), !=, gantry_tx_const_int (b, GANTRY_BOOL, 1));
  next = gantry_tx_binary (b, GANTRY_OP_MULTIPLY, x, gantry_tx_int (b, 4));
  g_assert_cmpuint (gantry_tx_binary (b, GANTRY_OP_DIVIDE, next, gantry_tx_int (b, 4)), !=, x);
  gantry_texpr_free (gantry_texpr_builder_end (b, gantry_tx_compare (b, GANTRY_GT, next, x)));
  set_clear (&set);
}

/* Constants of integer types are made as conversions make them. */
static void
test_constants (void)
{
  static const struct
  {
    GantryElementType element;
    double value;
    gint64 want;
  } made[] = {
    { GANTRY_I8, 300, 127 },
    { GANTRY_I8, -300, -128 },
    { GANTRY_I8, -1.9, -1 },
    { GANTRY_U8, -1, 0 },
    { GANTRY_U8, 300, 255 },
    { GANTRY_I64, 1e30, G_MAXINT64 },
    { GANTRY_I64, -1e30, G_MININT64 },
    { GANTRY_U64, 1e30, -1 },
    { GANTRY_U64, 0x1p63, G_MININT64 },
    { GANTRY_I32, NAN, 0 },
    { GANTRY_BOOL, NAN, 1 },
    { GANTRY_BOOL, 0.25, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (made); i++)
    {
      GantryTexprBuilder *b = gantry_texpr_builder_new (made[i].element, 0, NULL, 0, NULL);
      guint32 x = gantry_tx_const (b, made[i].element, made[i].value);
      g_autoptr (GantryTexpr) texpr = gantry_texpr_builder_end (b, x);

      g_assert_cmpint (texpr->nodes[0].i, ==, made[i].want);
    }
}

static void
test_too_large (void)
{
  GantryTexprBuilder *b = gantry_texpr_builder_new (GANTRY_F32, 0, NULL, 0, NULL);
  guint32 x = gantry_tx_const (b, GANTRY_F32, 1);
  guint axes[GANTRY_MAX_RANK + 1];

  for (guint i = 0; i < 200000; i++)
    x = gantry_tx_unary (b, GANTRY_OP_EXPONENTIAL, x);
  g_assert_null (gantry_texpr_builder_end (b, x));

  b = gantry_texpr_builder_new (GANTRY_F32, 0, NULL, 0, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (axes); i++)
    axes[i] = gantry_tx_axis (b, 2);
  x = gantry_tx_reduce (b, GANTRY_OP_ADD, gantry_tx_const (b, GANTRY_F32, 1), axes, G_N_ELEMENTS (axes));
  g_assert_null (gantry_texpr_builder_end (b, x));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ir/texpr/simplify", test_simplify);
  g_test_add_func ("/ir/texpr/simplified-forms", test_simplified_forms);
  g_test_add_func ("/ir/texpr/wrapping", test_wrapping);
  g_test_add_func ("/ir/texpr/constants", test_constants);
  g_test_add_func ("/ir/texpr/too-large", test_too_large);
  return g_test_run ();
}
