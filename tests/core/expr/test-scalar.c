/* SPDX-License-Identifier: Apache-2.0 */
/* What the table of scalar operations says: ranges hold for every value within them, identities leave every value as it is. */
#include "core/expr/index-range.h"
#include "core/expr/scalar.h"
#include <math.h>

static const GantryOp ops[] = { GANTRY_OP_ADD,       GANTRY_OP_SUBTRACT, GANTRY_OP_MULTIPLY, GANTRY_OP_DIVIDE,
                                GANTRY_OP_REMAINDER, GANTRY_OP_MAXIMUM,  GANTRY_OP_MINIMUM,  GANTRY_OP_XOR };

static gint64
value_of (GantryOp op, gint64 x, gint64 y)
{
  switch (op)
    {
    case GANTRY_OP_ADD: return (gint64) ((guint64) x + (guint64) y);
    case GANTRY_OP_SUBTRACT: return (gint64) ((guint64) x - (guint64) y);
    case GANTRY_OP_MULTIPLY: return (gint64) ((guint64) x * (guint64) y);
    case GANTRY_OP_DIVIDE: return y == 0 ? -1 : y == -1 ? (gint64) - (guint64) x : x / y;
    case GANTRY_OP_REMAINDER: return y == 0 ? x : y == -1 ? 0 : x % y;
    case GANTRY_OP_MAXIMUM: return MAX (x, y);
    case GANTRY_OP_MINIMUM: return MIN (x, y);
    default: return x ^ y;
    }
}

/* Every pair of ranges between some ends, those of i64 among them, with the values at and beside their ends. */
static void
test_ranges (void)
{
  static const gint64 ends[] = { G_MININT64, G_MININT64 + 1, -7, -1, 0, 1, 2, 9, G_MAXINT64 - 1, G_MAXINT64 };
  enum
  {
    N = G_N_ELEMENTS (ends)
  };

  for (guint o = 0; o < G_N_ELEMENTS (ops); o++)
    for (guint i = 0; i < N * N * N * N; i++)
      {
        const GantryIndexRange x = { ends[i % N], ends[i / N % N] }, y = { ends[i / N / N % N], ends[i / N / N / N] };
        GantryIndexRange range;

        if (x.lo > x.hi || y.lo > y.hi)
          continue;
        range = gantry_index_range_binary (ops[o], x, y);
        for (guint j = 0; j < N * N; j++)
          {
            gint64 a = ends[j % N], b = ends[j / N], value = value_of (ops[o], a, b);

            if (a < x.lo || a > x.hi || b < y.lo || b > y.hi || (value >= range.lo && value <= range.hi))
              continue;
            g_error ("%s of %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " leaves its range", gantry_op_info (ops[o])->name, a, b);
          }
      }
}

/* A term of which only one end is known says nothing of a sum. */
static void
test_half_known (void)
{
  const GantryIndexRange half = { 0, G_MAXINT64 };
  GantryIndexRange range = gantry_index_range_add ((GantryIndexRange){ 5, 5 }, half, -1);

  g_assert_false (gantry_index_range_is_known (range));
  g_assert_cmpint (range.lo, ==, G_MININT64);
  range = gantry_index_range_binary (GANTRY_OP_DIVIDE, half, (GantryIndexRange){ 4, 4 });
  g_assert_cmpint (range.lo, ==, 0);
  g_assert_cmpint (range.hi, ==, G_MAXINT64);
}

static void
test_identities (void)
{
  static const struct
  {
    GantryOp op;
    GantryElementType element;
    gint64 value;
  } known[] = {
    { GANTRY_OP_ADD, GANTRY_I32, 0 },      { GANTRY_OP_ADD, GANTRY_BOOL, 0 },
    { GANTRY_OP_MULTIPLY, GANTRY_U8, 1 },  { GANTRY_OP_MAXIMUM, GANTRY_I8, -128 },
    { GANTRY_OP_MAXIMUM, GANTRY_U16, 0 },  { GANTRY_OP_MAXIMUM, GANTRY_BOOL, 0 },
    { GANTRY_OP_MINIMUM, GANTRY_I8, 127 }, { GANTRY_OP_MINIMUM, GANTRY_U16, 65535 },
    { GANTRY_OP_MINIMUM, GANTRY_BOOL, 1 }, { GANTRY_OP_MINIMUM, GANTRY_U64, -1 },
    { GANTRY_OP_AND, GANTRY_I16, -1 },     { GANTRY_OP_AND, GANTRY_U8, 255 },
    { GANTRY_OP_AND, GANTRY_BOOL, 1 },     { GANTRY_OP_OR, GANTRY_BOOL, 0 },
    { GANTRY_OP_XOR, GANTRY_U32, 0 },      { GANTRY_OP_MAXIMUM, GANTRY_I64, G_MININT64 },
  };
  GantryScalar identity;

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    {
      g_assert_true (gantry_scalar_identity (known[i].op, known[i].element, &identity));
      g_assert_cmpint (identity.i, ==, known[i].value);
    }
  g_assert_true (gantry_scalar_identity (GANTRY_OP_MINIMUM, GANTRY_BF16, &identity));
  g_assert_cmpfloat (identity.f, ==, HUGE_VAL);
  g_assert_false (gantry_scalar_identity (GANTRY_OP_AND, GANTRY_F32, &identity));
  g_assert_false (gantry_scalar_identity (GANTRY_OP_SUBTRACT, GANTRY_I32, &identity));
  g_assert_false (gantry_scalar_identity (GANTRY_OP_TANH, GANTRY_F32, &identity));
}

static void
test_names (void)
{
  g_assert_cmpstr (gantry_scalar_short_name (GANTRY_OP_EXPONENTIAL), ==, "exp");
  g_assert_cmpstr (gantry_scalar_short_name (GANTRY_OP_MAXIMUM), ==, "max");
  g_assert_cmpstr (gantry_scalar_short_name (GANTRY_OP_CONVERT), ==, "convert");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/expr/scalar/ranges", test_ranges);
  g_test_add_func ("/expr/scalar/half-known", test_half_known);
  g_test_add_func ("/expr/scalar/identities", test_identities);
  g_test_add_func ("/expr/scalar/names", test_names);
  return g_test_run ();
}
