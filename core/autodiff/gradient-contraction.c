/* SPDX-License-Identifier: Apache-2.0 */
/* Derivatives of the operations that sum products: matrix products give matrix products,
 * convolutions give convolutions. Where the result is of a wider element than the operands,
 * products are summed in the wider one. */
#include "core/autodiff/gradient-private.h"
#include "core/graph/operation.h"
#include <string.h>

#define B d->builder

/* dot_general */

typedef struct
{
  const gint64 *batching[2], *contracting[2];
  gint64 free[2][GANTRY_MAX_RANK]; /* dimensions that are neither */
  guint n_batching, n_contracting, n_free[2];
} Dot;

static void
read_dot (const GantryDiff *d, const GantryNode *node, Dot *dot)
{
  static const char *const batching[] = { "lhs_batching_dimensions", "rhs_batching_dimensions" };
  static const char *const contracting[] = { "lhs_contracting_dimensions", "rhs_contracting_dimensions" };
  gsize n_batching, n_contracting;

  memset (dot, 0, sizeof *dot);
  for (guint side = 0; side < 2; side++)
    {
      guint32 used = 0;

      dot->batching[side] = gantry_attrs_ints (d->context, node->attrs, batching[side], &n_batching);
      dot->contracting[side] = gantry_attrs_ints (d->context, node->attrs, contracting[side], &n_contracting);
      for (gsize i = 0; i < n_batching; i++)
        used |= 1u << dot->batching[side][i];
      for (gsize i = 0; i < n_contracting; i++)
        used |= 1u << dot->contracting[side][i];
      for (guint i = 0; i < _gantry_diff_operand_type (d, node, side)->rank; i++)
        if (!(used & (1u << i)))
          dot->free[side][dot->n_free[side]++] = i;
      dot->n_batching = n_batching;
      dot->n_contracting = n_contracting;
    }
}

/* Where the dimensions of this operand stand in the product of g and the other operand over the
 * other's free dimensions: batching ones, its own free ones, and the contracting ones in the
 * order that they have in the other operand. In the product of the other operand and g (@swapped)
 * the last two change places. Returns: whether they stand as in the operand already */
static gboolean
find_places (const Dot *dot, guint side, gboolean swapped, gint64 *place)
{
  guint other = 1 - side, n = dot->n_batching;
  guint free_at = swapped ? n + dot->n_contracting : n;
  guint contracting_at = swapped ? n : n + dot->n_free[side];
  gboolean as_is = TRUE;

  for (guint i = 0; i < n; i++)
    place[dot->batching[side][i]] = i;
  for (guint i = 0; i < dot->n_free[side]; i++)
    place[dot->free[side][i]] = free_at + i;
  for (guint i = 0; i < dot->n_contracting; i++)
    {
      guint before = 0;

      for (guint k = 0; k < dot->n_contracting; k++)
        before += dot->contracting[other][k] < dot->contracting[other][i];
      place[dot->contracting[side][i]] = contracting_at + before;
    }
  for (guint i = 0; i < n + dot->n_free[side] + dot->n_contracting; i++)
    as_is = as_is && place[i] == i;
  return as_is;
}

/* Of the two orders of the product the one that needs no transposition, where there is one. */
static void
dot_back (GantryDiff *d, const GantryNode *node, const Dot *dot, guint side, guint32 g)
{
  guint other = 1 - side, n = dot->n_batching;
  GantryElementType element = gantry_builder_get_type (B, g)->element;
  const GantryType *type = _gantry_diff_operand_type (d, node, side);
  guint32 value = gantry_builder_convert (B, _gantry_diff_operand (d, node, other), element);
  GantryAttrList *attrs = gantry_attr_list_new (d->context);
  gint64 batching[GANTRY_MAX_RANK], contracting[GANTRY_MAX_RANK], place[GANTRY_MAX_RANK];
  gboolean swapped = !find_places (dot, side, FALSE, place) && find_places (dot, side, TRUE, place);
  guint32 product;

  find_places (dot, side, swapped, place);
  for (guint i = 0; i < n; i++)
    batching[i] = i;
  for (guint i = 0; i < dot->n_free[other]; i++)
    contracting[i] = n + (other == 1 ? dot->n_free[0] : 0) + i;
  gantry_attr_list_set_ints (attrs, swapped ? "rhs_batching_dimensions" : "lhs_batching_dimensions", batching, n);
  gantry_attr_list_set_ints (attrs, swapped ? "lhs_batching_dimensions" : "rhs_batching_dimensions", dot->batching[other], n);
  gantry_attr_list_set_ints (attrs, swapped ? "rhs_contracting_dimensions" : "lhs_contracting_dimensions", contracting, dot->n_free[other]);
  gantry_attr_list_set_ints (attrs, swapped ? "lhs_contracting_dimensions" : "rhs_contracting_dimensions", dot->free[other], dot->n_free[other]);
  product = gantry_builder_add (B, GANTRY_OP_DOT_GENERAL, (guint32[]){ swapped ? value : g, swapped ? g : value }, 2, gantry_attr_list_end (attrs));
  product = gantry_builder_convert (B, gantry_builder_transpose (B, product, place), type->element);
  _gantry_diff_give (d, node, side, product);
}

void
_gantry_gradient_dot_general (GantryDiff *d, const GantryNode *node, guint32 g)
{
  Dot dot;

  read_dot (d, node, &dot);
  for (guint side = 0; side < 2; side++)
    if (_gantry_diff_wants (d, node, side))
      dot_back (d, node, &dot, side, g);
}

/* convolution */

typedef struct
{
  guint n; /* spatial dimensions */
  gint64 groups;
  gint64 stride[GANTRY_MAX_RANK], base[GANTRY_MAX_RANK], dilation[GANTRY_MAX_RANK], low[GANTRY_MAX_RANK];
  const GantryType *x, *w, *y;
} Convolution;

static void
read_convolution (const GantryDiff *d, const GantryNode *node, Convolution *c)
{
  gint64 padding[2 * GANTRY_MAX_RANK];

  c->x = _gantry_diff_operand_type (d, node, 0);
  c->w = _gantry_diff_operand_type (d, node, 1);
  c->y = gantry_node_type (d->module, node);
  c->n = c->x->rank - 2;
  c->groups = gantry_attrs_int (d->context, node->attrs, "feature_group_count", 1);
  _gantry_diff_read_list (d, node, "window_strides", c->n, 1, c->stride);
  _gantry_diff_read_list (d, node, "lhs_dilation", c->n, 1, c->base);
  _gantry_diff_read_list (d, node, "rhs_dilation", c->n, 1, c->dilation);
  _gantry_diff_read_list (d, node, "padding", 2 * c->n, 0, padding);
  for (guint i = 0; i < c->n; i++)
    c->low[i] = padding[2 * i];
}

/* Spreads the spatial dimensions of @x by @base and adds @padding (pairs) around them. */
static guint32
spread (GantryDiff *d, const Convolution *c, guint32 x, const gint64 *padding, const gint64 *base)
{
  gint64 low[GANTRY_MAX_RANK] = { 0 }, high[GANTRY_MAX_RANK] = { 0 }, interior[GANTRY_MAX_RANK] = { 0 };
  gboolean changes = FALSE;

  for (guint i = 0; i < c->n; i++)
    {
      low[i + 2] = padding[2 * i];
      high[i + 2] = padding[2 * i + 1];
      interior[i + 2] = base[i] - 1;
      changes = changes || low[i + 2] != 0 || high[i + 2] != 0 || interior[i + 2] != 0;
    }
  if (!changes)
    return x;
  return gantry_builder_pad (B, x, gantry_builder_scalar (B, gantry_builder_get_type (B, x)->element, 0), low, high, interior);
}

/* The operand is spread and cropped by itself: spread and cropped operands are what libraries have no fast convolution
 * for, and the product with the zeros in between costs less than that. */
static guint32
convolve (GantryDiff *d, const Convolution *c, guint32 x, guint32 w, const gint64 *stride, const gint64 *padding, const gint64 *base, const gint64 *dilation)
{
  GantryAttrList *attrs = gantry_attr_list_new (d->context);
  gint64 crop[2 * GANTRY_MAX_RANK], rest[2 * GANTRY_MAX_RANK], ones[GANTRY_MAX_RANK];

  for (guint i = 0; i < 2 * c->n; i++)
    {
      crop[i] = MIN (padding[i], 0);
      rest[i] = padding[i] - crop[i];
      ones[i / 2] = 1;
    }
  x = spread (d, c, x, crop, base);
  gantry_attr_list_set_ints (attrs, "window_strides", stride, c->n);
  gantry_attr_list_set_ints (attrs, "padding", rest, 2 * c->n);
  gantry_attr_list_set_ints (attrs, "lhs_dilation", ones, c->n);
  gantry_attr_list_set_ints (attrs, "rhs_dilation", dilation, c->n);
  gantry_attr_list_set_int (attrs, "feature_group_count", c->groups);
  return gantry_builder_add (B, GANTRY_OP_CONVOLUTION, (guint32[]){ x, w }, 2, gantry_attr_list_end (attrs));
}

/* Splits dimension @axis of @x into groups, exchanges the two dimensions @a and @b of the result,
 * and joins dimension @join with the one after it. */
static guint32
regroup (GantryDiff *d, guint32 x, guint axis, gint64 groups, guint a, guint b, guint join)
{
  const GantryType *type = gantry_builder_get_type (B, x);
  GantryDim dims[GANTRY_MAX_RANK + 1], joined[GANTRY_MAX_RANK + 1];
  gint64 permutation[GANTRY_MAX_RANK + 1];
  guint rank = type->rank + 1, n = 0;

  for (guint i = 0; i < rank; i++)
    {
      dims[i] = i < axis ? type->dims[i] : i == axis ? groups : i == axis + 1 ? type->dims[axis] / groups : type->dims[i - 1];
      permutation[i] = i == a ? b : i == b ? a : i;
    }
  for (guint i = 0; i < rank; i++)
    if (i > 0 && i == join + 1)
      joined[n - 1] *= dims[permutation[i]];
    else
      joined[n++] = dims[permutation[i]];
  x = gantry_builder_reshape (B, x, rank, dims);
  return gantry_builder_reshape (B, gantry_builder_transpose (B, x, permutation), n, joined);
}

static guint32
swap_leading (GantryDiff *d, guint32 x)
{
  gint64 permutation[GANTRY_MAX_RANK];

  for (guint i = 0; i < GANTRY_MAX_RANK; i++)
    permutation[i] = i;
  permutation[0] = 1;
  permutation[1] = 0;
  return gantry_builder_transpose (B, x, permutation);
}

/* Whether the kernel has one element for each pair of channels, and the operand is not spread. */
static gboolean
is_single (const Convolution *c)
{
  for (guint i = 0; i < c->n; i++)
    if (c->w->dims[i + 2] != 1 || c->base[i] != 1)
      return FALSE;
  return TRUE;
}

/* By the operand: the cotangent, spread by the strides, under the kernel turned round, inputs and
 * outputs exchanged. */
static guint32
convolution_by_operand (GantryDiff *d, const GantryNode *node, const Convolution *c, guint32 g)
{
  guint32 w = gantry_builder_convert (B, _gantry_diff_operand (d, node, 1), c->y->element);
  gint64 padding[2 * GANTRY_MAX_RANK], spatial[GANTRY_MAX_RANK];
  GantryAttrList *attrs;

  for (guint i = 0; i < c->n; i++)
    {
      gint64 span = (c->w->dims[i + 2] - 1) * c->dilation[i] + 1;

      spatial[i] = i + 2;
      padding[2 * i] = span - 1 - c->low[i];
      padding[2 * i + 1] = (c->x->dims[i + 2] - 1) * c->base[i] + span - ((c->y->dims[i + 2] - 1) * c->stride[i] + 1) - padding[2 * i];
    }
  if (c->groups == 1)
    w = swap_leading (d, w);
  else /* G O/G, I/G -> G I/G, O/G */
    w = regroup (d, w, 0, c->groups, 1, 2, 0);
  if (c->n > 0)
    {
      attrs = gantry_attr_list_new (d->context);
      gantry_attr_list_set_ints (attrs, "dimensions", spatial, c->n);
      w = gantry_builder_add (B, GANTRY_OP_REVERSE, &w, 1, gantry_attr_list_end (attrs));
    }
  /* Under a kernel of one element what is spread can be the product. */
  if (is_single (c))
    {
      static const gint64 none[2 * GANTRY_MAX_RANK] = { 0 };

      g = spread (d, c, convolve (d, c, g, w, c->base, none, c->base, c->dilation), padding, c->stride);
    }
  else
    g = convolve (d, c, g, w, c->base, padding, c->stride, c->dilation);
  return gantry_builder_convert (B, g, c->x->element);
}

/* By the kernel: the operand under the cotangent as a kernel; the batch is what is summed over. */
static guint32
convolution_by_kernel (GantryDiff *d, const GantryNode *node, const Convolution *c, guint32 g)
{
  guint32 x = gantry_builder_convert (B, _gantry_diff_operand (d, node, 0), c->y->element), w;
  gint64 padding[2 * GANTRY_MAX_RANK];

  for (guint i = 0; i < c->n; i++)
    {
      padding[2 * i] = c->low[i];
      padding[2 * i + 1] = (c->w->dims[i + 2] - 1) * c->dilation[i] + (c->y->dims[i + 2] - 1) * c->stride[i] + 1 - ((c->x->dims[i + 2] - 1) * c->base[i] + 1)
                           - c->low[i];
    }
  if (c->groups == 1)
    x = swap_leading (d, x);
  else /* N, G C/G -> C/G, G N */
    x = regroup (d, x, 1, c->groups, 0, 2, 1);
  w = convolve (d, c, x, swap_leading (d, g), c->dilation, padding, c->base, c->stride);
  return gantry_builder_convert (B, swap_leading (d, w), c->w->element);
}

static gboolean
is_pointwise (const Convolution *c)
{
  gboolean pointwise = c->groups == 1 && c->n > 0;

  for (guint i = 0; i < c->n; i++)
    pointwise &= c->w->dims[i + 2] == 1 && c->base[i] == 1 && c->low[i] == 0 && (c->y->dims[i + 2] - 1) * c->stride[i] < c->x->dims[i + 2];
  return pointwise;
}

/* The operand's elements that a kernel of one point reads. */
static guint32
take_points (GantryDiff *d, const Convolution *c, guint32 x)
{
  gint64 start[GANTRY_MAX_RANK] = { 0 }, limit[GANTRY_MAX_RANK], stride[GANTRY_MAX_RANK] = { 1, 1 };
  gboolean all = TRUE;

  limit[0] = c->x->dims[0];
  limit[1] = c->x->dims[1];
  for (guint i = 2; i < c->x->rank; i++)
    {
      stride[i] = c->stride[i - 2];
      limit[i] = (c->y->dims[i] - 1) * stride[i] + 1;
      all &= limit[i] == c->x->dims[i] && stride[i] == 1;
    }
  return all ? x : gantry_builder_slice (B, x, start, limit, stride);
}

/* By a kernel of one point: a matrix product over images and points. Either one for each image
 * and the sum of them, or both operands transposed so that it is one: what takes less memory. */
static guint32
convolution_by_point (GantryDiff *d, const GantryNode *node, const Convolution *c, guint32 g)
{
  guint32 x = take_points (d, c, gantry_builder_convert (B, _gantry_diff_operand (d, node, 0), c->y->element)), w;
  GantryDim images = c->x->dims[0], in = c->x->dims[1], out = c->y->dims[1], points = 1;
  GantryAttrList *attrs = gantry_attr_list_new (d->context);
  gboolean by_image;
  gint64 zero = 0, last;

  for (guint i = 0; i < c->n; i++)
    points *= c->y->dims[i + 2];
  by_image = in * out <= (in + out) * points;
  last = by_image ? 2 : 1;
  if (by_image)
    {
      x = gantry_builder_reshape (B, x, 3, (GantryDim[]){ images, in, points });
      g = gantry_builder_reshape (B, g, 3, (GantryDim[]){ images, out, points });
      gantry_attr_list_set_ints (attrs, "lhs_batching_dimensions", &zero, 1);
      gantry_attr_list_set_ints (attrs, "rhs_batching_dimensions", &zero, 1);
    }
  else
    {
      x = gantry_builder_reshape (B, swap_leading (d, x), 2, (GantryDim[]){ in, images * points });
      g = gantry_builder_reshape (B, swap_leading (d, g), 2, (GantryDim[]){ out, images * points });
    }
  gantry_attr_list_set_ints (attrs, "lhs_contracting_dimensions", &last, 1);
  gantry_attr_list_set_ints (attrs, "rhs_contracting_dimensions", &last, 1);
  w = gantry_builder_add (B, GANTRY_OP_DOT_GENERAL, (guint32[]){ g, x }, 2, gantry_attr_list_end (attrs));
  if (by_image)
    w = gantry_builder_reduce (B, "add", w, &zero, 1);
  return gantry_builder_convert (B, _gantry_diff_reshape (d, w, c->w), c->w->element);
}

void
_gantry_gradient_convolution (GantryDiff *d, const GantryNode *node, guint32 g)
{
  guint32 y = _gantry_diff_result (d, node);
  gint64 axes[GANTRY_MAX_RANK];
  guint n = 0;
  Convolution c;

  read_convolution (d, node, &c);
  if (gantry_type_elements (c.x) == 0 || gantry_type_elements (c.y) == 0 || gantry_type_elements (c.w) == 0)
    return;
  if (gantry_attrs_string (d->context, node->attrs, "post", NULL) != NULL) /* "relu" is all there is */
    g = _gantry_diff_where (d, gantry_builder_compare (B, "GT", y, _gantry_diff_splat_like (d, y, 0)), g);
  if (_gantry_diff_wants (d, node, 0))
    _gantry_diff_give (d, node, 0, convolution_by_operand (d, node, &c, g));
  if (_gantry_diff_wants (d, node, 1))
    _gantry_diff_give (d, node, 1, is_pointwise (&c) ? convolution_by_point (d, node, &c, g) : convolution_by_kernel (d, node, &c, g));
  if (!_gantry_diff_wants (d, node, 2))
    return;
  for (guint i = 0; i < c.y->rank; i++)
    if (i != 1)
      axes[n++] = i;
  _gantry_diff_give (d, node, 2, gantry_builder_convert (B, gantry_builder_reduce (B, "add", g, axes, n), _gantry_diff_operand_type (d, node, 2)->element));
}
