/* SPDX-License-Identifier: Apache-2.0 */
/* cholesky and triangular_solve, column by column, unrolled: each column is a few operations on what is left of the
 * matrix. */
#include "core/frontends/xla/lower-private.h"

#define MOST_SIZE 128

static guint32
swap_last (XlaLower *l, guint32 x)
{
  guint rank = gantry_xla_type (l, x)->rank;
  gint64 permutation[GANTRY_MAX_RANK];

  for (guint i = 0; i < rank; i++)
    permutation[i] = i;
  permutation[rank - 1] = rank - 2;
  permutation[rank - 2] = rank - 1;
  return gantry_builder_transpose (l->b, x, permutation);
}

/* The places (row, column) of the last two dimensions. */
static guint32
places (XlaLower *l, guint32 x, guint axis)
{
  const GantryType *type = gantry_xla_type (l, x);

  return gantry_builder_iota (l->b, GANTRY_I32, type->rank, type->dims, axis);
}

static guint32
spread_to (XlaLower *l, guint32 x, guint32 like)
{
  const GantryType *type = gantry_xla_type (l, like);

  return x != 0 ? gantry_builder_broadcast_to (l->b, x, type->rank, type->dims) : 0;
}

static guint32
times (XlaLower *l, guint32 x, guint32 y)
{
  return x != 0 && y != 0 ? gantry_builder_binary_broadcast (l->b, GANTRY_OP_MULTIPLY, x, y) : 0;
}

static guint32
over (XlaLower *l, guint32 x, guint32 y)
{
  return x != 0 && y != 0 ? gantry_builder_binary_broadcast (l->b, GANTRY_OP_DIVIDE, x, y) : 0;
}

/* What is unrolled has one place for each row. */
static gboolean
small_and_square (XlaLower *l, const GantryType *type)
{
  gint64 n = type->rank >= 2 ? type->dims[type->rank - 1] : 0;

  if (type->rank < 2 || type->dims[type->rank - 2] != n)
    gantry_xla_refuse (l, "its matrix is not square");
  else if (n < 1 || n > MOST_SIZE)
    gantry_xla_refuse (l, "a matrix of %" G_GINT64_FORMAT " rows; 1 to %d are compiled", n, MOST_SIZE);
  return !l->failed;
}

/* Column @j of what is left: divided by the root of its head; the rest loses its outer product. Above the diagonal
 * is zero. */
guint32
gantry_xla_cholesky (XlaLower *l, guint32 a, gboolean is_lower)
{
  guint32 columns[MOST_SIZE], lower, zero;
  const GantryType *type = gantry_xla_type (l, a);
  gint64 n = type->rank >= 2 ? type->dims[type->rank - 1] : 0;

  if (!small_and_square (l, type))
    return 0;
  if (!is_lower)
    a = swap_last (l, a);
  for (gint64 j = 0; j < n && !l->failed; j++)
    {
      guint32 column = gantry_builder_slice_axis (l->b, a, type->rank - 1, j, j + 1, 1);
      guint32 head = gantry_builder_slice_axis (l->b, column, type->rank - 2, j, j + 1, 1);

      columns[j] = over (l, column, gantry_xla_unary (l, GANTRY_OP_SQRT, head));
      a = gantry_xla_binary (l, GANTRY_OP_SUBTRACT, a, times (l, columns[j], swap_last (l, columns[j])));
    }
  lower = gantry_builder_concatenate (l->b, columns, (guint) n, (gint64) type->rank - 1);
  zero = gantry_xla_like (l, lower, 0);
  lower = gantry_xla_select (l, gantry_xla_compare (l, "GE", places (l, lower, type->rank - 2), places (l, lower, type->rank - 1)), lower, zero);
  return is_lower ? lower : swap_last (l, lower);
}

static void
cholesky (XlaLower *l)
{
  l->out[0] = gantry_xla_cholesky (l, gantry_xla_in (l, 0), gantry_xla_int (l, "lower", 0) != 0);
}

/* a x = b with a lower triangular: row by row. */
static guint32
solve_lower (XlaLower *l, guint32 a, guint32 b, gboolean unit)
{
  const GantryType *type = gantry_xla_type (l, b);
  guint rows = type->rank - 2;
  gint64 n = type->dims[rows];
  guint32 solved[MOST_SIZE];

  for (gint64 j = 0; j < n && !l->failed; j++)
    {
      guint32 row = gantry_builder_slice_axis (l->b, b, rows, j, j + 1, 1);
      guint32 column = gantry_builder_slice_axis (l->b, a, rows + 1, j, j + 1, 1);
      guint32 diagonal = gantry_builder_slice_axis (l->b, column, rows, j, j + 1, 1);

      solved[j] = unit ? row : over (l, row, spread_to (l, diagonal, row));
      if (j + 1 < n)
        b = gantry_xla_binary (l, GANTRY_OP_SUBTRACT, b, times (l, column, solved[j]));
    }
  return gantry_builder_concatenate (l->b, solved, (guint) n, rows);
}

static guint32
turn (XlaLower *l, guint32 x, gboolean rows, gboolean columns)
{
  guint rank = gantry_xla_type (l, x)->rank, n = 0;
  gint64 dims[2];

  if (rows)
    dims[n++] = (gint64) rank - 2;
  if (columns)
    dims[n++] = (gint64) rank - 1;
  return gantry_builder_reverse (l->b, x, dims, n);
}

/* Every other case by transposing and by turning upside down. */
guint32
gantry_xla_solve_triangular (XlaLower *l, guint32 a, guint32 b, const XlaTriangular *how)
{
  const GantryType *type = gantry_xla_type (l, a), *other = gantry_xla_type (l, b);
  gboolean left = how->left, is_lower = how->lower;

  if (!small_and_square (l, type))
    return 0;
  if (other->rank != type->rank || other->dims[type->rank - (left ? 2 : 1)] != type->dims[type->rank - 1])
    {
      gantry_xla_refuse (l, "the right side does not have one %s for each row of the matrix", left ? "row" : "column");
      return 0;
    }
  if (how->transposed)
    {
      a = swap_last (l, a);
      is_lower = !is_lower;
    }
  if (!left)
    {
      a = swap_last (l, a);
      b = swap_last (l, b);
      is_lower = !is_lower;
    }
  if (!is_lower)
    {
      a = turn (l, a, TRUE, TRUE);
      b = turn (l, b, TRUE, FALSE);
    }
  b = solve_lower (l, a, b, how->unit);
  if (!is_lower)
    b = turn (l, b, TRUE, FALSE);
  return left ? b : swap_last (l, b);
}

static void
triangular_solve (XlaLower *l)
{
  const char *transpose = gantry_xla_string (l, "transpose_a", "NO_TRANSPOSE");
  XlaTriangular how = { .left = gantry_xla_int (l, "left_side", 0) != 0,
                        .lower = gantry_xla_int (l, "lower", 0) != 0,
                        .unit = gantry_xla_int (l, "unit_diagonal", 0) != 0,
                        .transposed = strcmp (transpose, "TRANSPOSE") == 0 || strcmp (transpose, "ADJOINT") == 0 };

  l->out[0] = gantry_xla_solve_triangular (l, gantry_xla_in (l, 0), gantry_xla_in (l, 1), &how);
}

const XlaRule gantry_xla_linear_rules[] = {
  { "cholesky", cholesky, GANTRY_CLASS_OTHER, XLA_TAKES (1, 1), 0 },
  { "triangular_solve", triangular_solve, GANTRY_CLASS_OTHER, XLA_TAKES (2, 1), 0 },
  { NULL, NULL, 0, 0, 0 },
};
