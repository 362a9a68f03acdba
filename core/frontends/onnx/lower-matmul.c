/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products: MatMul by the rules of numpy, Gemm and small determinants. Einsum is in
 * lower-einsum.c. */
#include "core/frontends/onnx/lower-words-private.h"

/* One operand of a batched product without those batch dimensions of 1 that the other operand
 * fills. */
typedef struct
{
  guint32 id;
  guint rank; /* of the original, at least 2 */
  GantryDim dims[GANTRY_MAX_RANK];
  gint64 batching[GANTRY_MAX_RANK];
  guint n_batching;
  gint64 free_of[GANTRY_MAX_RANK]; /* result batch dimension of each free batch dimension */
  guint n_free;
} Side;

/* Extent of batch dimension @i of @n, counted as in the result; dimensions that the operand lacks
 * are 1. */
static GantryDim
batch_dim (const Side *side, guint n, guint i)
{
  guint own = side->rank - 2;

  return i + own >= n ? side->dims[i + own - n] : 1;
}

static void
add_dim (Side *side, GantryDim *kept, guint *n_kept, GantryDim dim, gboolean batching, guint of)
{
  if (batching)
    side->batching[side->n_batching++] = *n_kept;
  else
    side->free_of[side->n_free++] = of;
  kept[(*n_kept)++] = dim;
}

/* Sorts each batch dimension of the result: in both operands (batching) or in one alone (free). */
static gboolean
pair_batches (GantryLower *l, Side *a, Side *b, guint n)
{
  GantryDim kept_a[GANTRY_MAX_RANK], kept_b[GANTRY_MAX_RANK];
  guint n_a = 0, n_b = 0;

  for (guint i = 0; i < n; i++)
    {
      GantryDim da = batch_dim (a, n, i);
      GantryDim db = batch_dim (b, n, i);

      if (da == db && i + a->rank - 2 >= n && i + b->rank - 2 >= n)
        {
          add_dim (a, kept_a, &n_a, da, TRUE, i);
          add_dim (b, kept_b, &n_b, db, TRUE, i);
        }
      else if (db == 1)
        add_dim (a, kept_a, &n_a, da, FALSE, i);
      else if (da == 1)
        add_dim (b, kept_b, &n_b, db, FALSE, i);
      else
        {
          if (gantry_lower_require_static (l, a->id) && gantry_lower_require_static (l, b->id))
            gantry_lower_invalid (l, "batch dimensions %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " do not broadcast", da, db);
          return FALSE;
        }
    }
  for (guint i = 0; i < 2; i++)
    {
      kept_a[n_a++] = a->dims[a->rank - 2 + i];
      kept_b[n_b++] = b->dims[b->rank - 2 + i];
    }
  a->id = gantry_builder_reshape (l->b, a->id, n_a, kept_a);
  b->id = gantry_builder_reshape (l->b, b->id, n_b, kept_b);
  return TRUE;
}

guint32
gantry_lower_dot (GantryLower *l, guint32 x, guint32 y, const gint64 *x_batch, const gint64 *y_batch, gsize n_batch, const gint64 *x_sum, const gint64 *y_sum,
                  gsize n_sum, GantryElementType to)
{
  GantryAttrList *attrs;

  if (x == 0 || y == 0)
    return 0;
  attrs = gantry_lower_attrs (l);
  gantry_attr_list_set_ints (attrs, "lhs_batching_dimensions", x_batch, n_batch);
  gantry_attr_list_set_ints (attrs, "rhs_batching_dimensions", y_batch, n_batch);
  gantry_attr_list_set_ints (attrs, "lhs_contracting_dimensions", x_sum, n_sum);
  gantry_attr_list_set_ints (attrs, "rhs_contracting_dimensions", y_sum, n_sum);
  if (to != GANTRY_ELEMENT_NONE)
    gantry_attr_list_set_type (attrs, "to", gantry_context_scalar (l->context, to));
  return gantry_lower_add (l, GANTRY_OP_DOT_GENERAL, attrs, 2, x, y);
}

/* Puts [batching, free a, m, free b, n] into the order of the result, [batch..., m, n]. */
static guint32
order_product (GantryLower *l, guint32 product, const Side *a, const Side *b, guint n)
{
  gint64 permutation[GANTRY_MAX_RANK];
  guint at = a->n_batching;
  guint m = at + a->n_free;
  gboolean batching[GANTRY_MAX_RANK];
  guint next = 0;

  for (guint i = 0; i < n; i++)
    batching[i] = TRUE;
  for (guint i = 0; i < a->n_free; i++)
    {
      permutation[a->free_of[i]] = at + i;
      batching[a->free_of[i]] = FALSE;
    }
  for (guint i = 0; i < b->n_free; i++)
    {
      permutation[b->free_of[i]] = m + 1 + i;
      batching[b->free_of[i]] = FALSE;
    }
  for (guint i = 0; i < n; i++)
    if (batching[i])
      permutation[i] = next++;
  permutation[n] = m;
  permutation[n + 1] = m + 1 + b->n_free;
  return gantry_builder_transpose (l->b, product, permutation);
}

static void
fill_side (GantryLower *l, Side *side, guint32 id, gboolean row)
{
  *side = (Side){ .id = id };
  side->rank = gantry_lower_dims (l, id, side->dims);
  if (side->rank == 1)
    {
      side->dims[row ? 1 : 0] = side->dims[0];
      side->dims[row ? 0 : 1] = 1;
      side->rank = 2;
      side->id = gantry_builder_reshape (l->b, id, 2, side->dims);
    }
}

guint32
gantry_lower_matmul (GantryLower *l, guint32 x, guint32 y, GantryElementType to)
{
  gboolean row = gantry_lower_rank (l, x) == 1;
  gboolean column = gantry_lower_rank (l, y) == 1;
  GantryDim dims[GANTRY_MAX_RANK];
  gint64 x_sum, y_sum;
  guint n, rank;
  Side a, b;
  guint32 product;

  if (gantry_lower_rank (l, x) < 1 || gantry_lower_rank (l, y) < 1)
    {
      gantry_lower_invalid (l, "an operand is a scalar");
      return 0;
    }
  fill_side (l, &a, x, TRUE);
  fill_side (l, &b, y, FALSE);
  n = MAX (a.rank, b.rank) - 2;
  if (!pair_batches (l, &a, &b, n))
    return 0;
  x_sum = a.n_batching + a.n_free + 1;
  y_sum = b.n_batching + b.n_free;
  product = gantry_lower_dot (l, a.id, b.id, a.batching, b.batching, a.n_batching, &x_sum, &y_sum, 1, to);
  product = product != 0 ? order_product (l, product, &a, &b, n) : 0;
  if (!row && !column)
    return product;
  rank = gantry_lower_dims (l, product, dims);
  if (row && rank >= 2)
    dims[rank - 2] = dims[rank - 1];
  rank -= product != 0 ? (guint) row + (guint) column : 0;
  return gantry_builder_reshape (l->b, product, rank, dims);
}

static void
mat_mul (GantryLower *l)
{
  if (!gantry_lower_has (l, 0) || !gantry_lower_has (l, 1))
    gantry_lower_invalid (l, "an operand is missing");
  else
    l->out[0] = gantry_lower_matmul (l, l->in[0], l->in[1], GANTRY_ELEMENT_NONE);
}

/* alpha A' B' + beta C */
static void
gemm (GantryLower *l)
{
  gint64 a_sum = gantry_lower_int (l, "transA", 0) != 0 ? 0 : 1;
  gint64 b_sum = gantry_lower_int (l, "transB", 0) != 0 ? 1 : 0;
  guint32 y;

  if (!gantry_lower_check_rank (l, 0, 2, 2) || !gantry_lower_check_rank (l, 1, 2, 2))
    return;
  y = gantry_lower_dot (l, l->in[0], l->in[1], NULL, NULL, 0, &a_sum, &b_sum, 1, GANTRY_ELEMENT_NONE);
  y = gantry_builder_scale (l->b, y, gantry_lower_float (l, "alpha", 1));
  if (gantry_lower_has (l, 2) && gantry_lower_float (l, "beta", 1) != 0)
    {
      GantryDim dims[GANTRY_MAX_RANK];
      guint rank = gantry_lower_dims (l, y, dims);
      guint32 c = gantry_builder_scale (l->b, l->in[2], gantry_lower_float (l, "beta", 1));

      /* C broadcasts to the product, never the product to C. */
      y = y != 0 && c != 0 ? gantry_builder_binary (l->b, GANTRY_OP_ADD, y, gantry_builder_broadcast_to (l->b, c, rank, dims)) : 0;
    }
  l->out[0] = y;
}

#define MOST_DETERMINANT 4

/* Laplace's expansion along @row; @columns says which are left. @cells: entries of the matrix as
 * values of the batch. */
static guint32
expand_determinant (GantryLower *l, const guint32 *cells, guint n, guint row, guint columns)
{
  guint32 sum = 0;
  gboolean minus = FALSE;

  for (guint column = 0; column < n; column++)
    if (columns & (1u << column))
      {
        guint32 term = cells[row * n + column];

        if (row + 1 < n)
          term = MULTIPLY (term, expand_determinant (l, cells, n, row + 1, columns & ~(1u << column)));
        if (sum == 0)
          sum = term;
        else
          sum = gantry_builder_binary_broadcast (l->b, minus ? GANTRY_OP_SUBTRACT : GANTRY_OP_ADD, sum, term);
        minus = !minus;
      }
  return sum;
}

static void
determinant (GantryLower *l)
{
  guint32 x = gantry_lower_operand (l, 0);
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = gantry_lower_dims (l, x, dims);
  guint32 cells[MOST_DETERMINANT * MOST_DETERMINANT];
  gint64 n;

  if (!gantry_lower_check_rank (l, 0, 2, GANTRY_MAX_RANK))
    return;
  n = dims[rank - 1];
  if (n < 1 || n > MOST_DETERMINANT || dims[rank - 2] != n)
    {
      gantry_lower_fail (l, "only square matrices of at most %d rows", MOST_DETERMINANT);
      return;
    }
  for (gint64 i = 0; i < n * n; i++)
    {
      guint32 cell = gantry_builder_slice_axis (l->b, x, rank - 2, i / n, i / n + 1, 1);

      cell = gantry_builder_slice_axis (l->b, cell, rank - 1, i % n, i % n + 1, 1);
      cells[i] = gantry_builder_reshape (l->b, cell, rank - 2, dims);
    }
  l->out[0] = expand_determinant (l, cells, (guint) n, 0, (1u << n) - 1);
}

/* clang-format off */
const GantryLowerRule gantry_lower_matmul_rules[] = {
  { "MatMul", mat_mul, GANTRY_CLASS_CONTRACTION, GANTRY_LOWER_ANY_SHAPE, 0, NULL },
  { "Gemm", gemm, GANTRY_CLASS_CONTRACTION, GANTRY_LOWER_ANY_SHAPE, 0, NULL },
  { "Det", determinant, GANTRY_CLASS_CONTRACTION, 0, 0, NULL },
  { NULL },
};
/* clang-format on */
