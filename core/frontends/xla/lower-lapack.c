/* SPDX-License-Identifier: Apache-2.0 */
/* Custom calls by which JAX asks LAPACK on the processor: factors of matrices and triangular systems, for f32 and f64. */
#include "core/frontends/xla/lower-private.h"

#define MOST_SIZE 128

/* A letter of the call's configuration, which StableHLO and HLO name differently and HLO keeps as text: "{uplo = 76 : ui8}". */
static char
letter (XlaLower *l, const char *key, char fallback)
{
  g_autofree char *full = g_strconcat ("mhlo.backend_config.", key, NULL), *assigned = g_strconcat (key, " = ", NULL);
  const char *text = gantry_xla_string (l, "backend_config", ""), *at = strstr (text, assigned);

  if (at != NULL)
    return (char) g_ascii_strtoull (at + strlen (assigned), NULL, 10);
  return (char) gantry_xla_int (l, full, fallback);
}

/* i32 of each matrix: @value, or 1 where @bad. @bad: (optional): 0, or a bool of the matrix's dimensions */
static guint32
report (XlaLower *l, guint i, guint32 bad)
{
  const GantryType *type = i < l->n_out ? gantry_xla_declared (l, i) : NULL;
  gint64 axes[2];

  if (type == NULL || type->kind != GANTRY_TYPE_TENSOR)
    return 0;
  if (bad == 0)
    return gantry_builder_splat (l->b, GANTRY_I32, 0, type->rank, type->dims);
  axes[0] = type->rank, axes[1] = type->rank + 1;
  return gantry_builder_convert (l->b, gantry_builder_reduce (l->b, "or", bad, axes, 2), GANTRY_I32);
}

/* potrf: the factor, and whether the matrix was not positive definite. */
static void
factor_positive (XlaLower *l)
{
  l->out[0] = gantry_xla_cholesky (l, gantry_xla_in (l, 0), letter (l, "uplo", 'L') == 'L');
  if (l->out[0] != 0 && l->n_out > 1)
    l->out[1] = report (l, 1, gantry_xla_unary (l, GANTRY_OP_IS_NAN, l->out[0]));
}

/* trsm */
static void
solve_triangular (XlaLower *l)
{
  XlaTriangular how = { .left = letter (l, "side", 'L') == 'L',
                        .lower = letter (l, "uplo", 'L') == 'L',
                        .unit = letter (l, "diag", 'N') == 'U',
                        .transposed = letter (l, "trans_x", 'N') != 'N' };

  l->out[0] = gantry_xla_solve_triangular (l, gantry_xla_in (l, 0), gantry_xla_in (l, 1), &how);
}

typedef struct
{
  guint rank;
  gint64 rows, columns;
  guint32 row, column; /* places */
} Matrix;

static guint32
place (XlaLower *l, const Matrix *m, gint64 at)
{
  return gantry_builder_int_scalar (l->b, GANTRY_I32, at);
}

/* Row @j of @a; where @at is not 0 the row that it names of each matrix, by choosing, for another row may be no number. */
static guint32
row_of (XlaLower *l, const Matrix *m, guint32 a, gint64 j, guint32 at)
{
  gint64 axis = (gint64) m->rank - 2;
  guint32 zero;

  if (at == 0)
    return gantry_builder_slice_axis (l->b, a, axis, j, j + 1, 1);
  zero = gantry_xla_like (l, a, 0);
  a = gantry_builder_select (l->b, gantry_builder_compare (l->b, "EQ", m->row, at), a, zero);
  return gantry_builder_reduce_axes (l->b, "add", a, &axis, 1, TRUE);
}

/* Of the rows from @j on the first with the largest element in column @j, as i32[..., 1, 1]. */
static guint32
pivot_of (XlaLower *l, const Matrix *m, guint32 a, gint64 j)
{
  gint64 axis = (gint64) m->rank - 2;
  guint32 column = gantry_xla_unary (l, GANTRY_OP_ABS, gantry_builder_slice_axis (l->b, a, (gint64) m->rank - 1, j, j + 1, 1));
  guint32 row = gantry_builder_slice_axis (l->b, m->row, (gint64) m->rank - 1, 0, 1, 1), most, is_most;

  column = gantry_builder_select (l->b, gantry_builder_compare (l->b, "GE", row, place (l, m, j)), column, gantry_xla_like (l, column, -1));
  most = gantry_builder_reduce_axes (l->b, "max", column, &axis, 1, TRUE);
  is_most = gantry_builder_compare (l->b, "EQ", column, most);
  row = gantry_builder_select (l->b, is_most, row, place (l, m, m->rows));
  row = gantry_builder_reduce_axes (l->b, "min", row, &axis, 1, TRUE);
  /* None is the largest where one is no number. */
  return gantry_builder_select (l->b, gantry_builder_compare (l->b, "LT", row, place (l, m, m->rows)), row, place (l, m, j));
}

/* Rows @j and @at exchanged, then everything below and right of the diagonal's element @j without its part. */
static guint32
eliminate (XlaLower *l, const Matrix *m, guint32 a, gint64 j, guint32 at)
{
  guint32 here = place (l, m, j), own = row_of (l, m, a, j, 0), other = row_of (l, m, a, j, at), below, factor, rest;

  a = gantry_builder_select (l->b, gantry_builder_compare (l->b, "EQ", m->row, at), own, a);
  a = gantry_builder_select (l->b, gantry_builder_compare (l->b, "EQ", m->row, here), other, a);
  factor = gantry_builder_binary_broadcast (l->b, GANTRY_OP_DIVIDE, gantry_builder_slice_axis (l->b, a, (gint64) m->rank - 1, j, j + 1, 1),
                                            gantry_builder_slice_axis (l->b, other, (gint64) m->rank - 1, j, j + 1, 1));
  below = gantry_builder_compare (l->b, "GT", m->row, here);
  rest = gantry_builder_binary_broadcast (l->b, GANTRY_OP_SUBTRACT, a, gantry_builder_binary_broadcast (l->b, GANTRY_OP_MULTIPLY, factor, other));
  rest = gantry_builder_select (l->b, gantry_builder_compare (l->b, "GT", m->column, here), rest, a);
  rest = gantry_builder_select (l->b, gantry_builder_compare (l->b, "EQ", m->column, here), factor, rest);
  return gantry_builder_select (l->b, below, rest, a);
}

/* getrf: both triangles in one matrix, which rows were exchanged (from 1 on), and that all went well. */
static void
factor_general (XlaLower *l)
{
  guint32 a = gantry_xla_in (l, 0), pivots[MOST_SIZE];
  const GantryType *type = gantry_xla_type (l, a), *places;
  Matrix m = { .rank = type->rank };
  gint64 n;

  if (m.rank < 2 || l->n_out != 3)
    {
      gantry_xla_refuse (l, "its operand is no matrix");
      return;
    }
  m.rows = type->dims[m.rank - 2], m.columns = type->dims[m.rank - 1];
  n = MIN (m.rows, m.columns);
  if (n < 1 || MAX (m.rows, m.columns) > MOST_SIZE)
    {
      gantry_xla_refuse (l, "a matrix of %" G_GINT64_FORMAT " rows and %" G_GINT64_FORMAT " columns; 1 to %d are compiled", m.rows, m.columns, MOST_SIZE);
      return;
    }
  m.row = gantry_builder_iota (l->b, GANTRY_I32, type->rank, type->dims, (gint64) m.rank - 2);
  m.column = gantry_builder_iota (l->b, GANTRY_I32, type->rank, type->dims, (gint64) m.rank - 1);
  for (gint64 j = 0; j < n && !l->failed; j++)
    {
      pivots[j] = pivot_of (l, &m, a, j);
      a = eliminate (l, &m, a, j, pivots[j]);
    }
  places = gantry_xla_declared (l, 1);
  l->out[0] = a;
  l->out[1] = gantry_builder_concatenate (l->b, pivots, (guint) n, (gint64) m.rank - 2);
  l->out[1] = gantry_builder_reshape (l->b, gantry_builder_offset (l->b, l->out[1], 1), places->rank, places->dims);
  l->out[2] = report (l, 2, 0);
}

gboolean
gantry_xla_lapack (XlaLower *l, const char *target)
{
  static const struct
  {
    const char *name;
    void (*run) (XlaLower *l);
    guint n_in;
  } calls[] = { { "potrf_ffi", factor_positive, 1 }, { "trsm_ffi", solve_triangular, 2 }, { "getrf_ffi", factor_general, 1 } };

  if (!g_str_has_prefix (target, "lapack_s") && !g_str_has_prefix (target, "lapack_d"))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    if (strcmp (target + strlen ("lapack_s"), calls[i].name) == 0)
      {
        gboolean fits = l->n_in == calls[i].n_in && l->n_out > 0;

        for (guint k = 0; k < l->n_in; k++)
          fits = fits && gantry_element_is_float (gantry_xla_element (l, l->in[k]));
        if (fits)
          calls[i].run (l);
        else
          gantry_xla_refuse (l, "its operands are not those of '%s'", target);
        return TRUE;
      }
  return FALSE;
}
