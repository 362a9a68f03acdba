/* SPDX-License-Identifier: Apache-2.0 */
/* What sums: reductions, pooling, normalizations, softmax, matrix products, convolutions of every form. */
#include "tests/differential/generate.h"
#include <math.h>

static gboolean
has_dimensions (const GantryType *type)
{
  return gantry_element_is_float (type->element) && type->rank > 0;
}

/* Reductions */

static guint32
write_reduction (DiffMaker *m, guint32 x)
{
  static const char *const kinds[] = { "add", "add", "max", "min", "mul" };
  const GantryType *type = _diff_type_of (m, x);
  const char *kind = kinds[_diff_upto (m, G_N_ELEMENTS (kinds))];
  gint64 axes[GANTRY_MAX_RANK];
  gsize n = 0;

  for (guint i = 0; i < type->rank; i++)
    if (_diff_chance (m, 50))
      axes[n++] = i;
  if (*kind == 'm' && kind[1] == 'u') /* of magnitudes around 1 */
    x = _diff_binary (m, GANTRY_OP_ADD, _diff_unary (m, GANTRY_OP_TANH, x), _diff_splat_like (m, x, 0.5));
  return gantry_builder_reduce (m->b, kind, x, axes, n);
}

/* Whether all or any element is positive: as a number again. */
static guint32
write_test (DiffMaker *m, guint32 x)
{
  guint32 positive = gantry_builder_compare (m->b, "GT", x, _diff_splat_like (m, x, 0));
  gint64 axis = _diff_upto (m, (gint) _diff_type_of (m, x)->rank);

  positive = gantry_builder_reduce (m->b, _diff_chance (m, 50) ? "and" : "or", positive, &axis, 1);
  return gantry_builder_convert (m->b, positive, m->element);
}

static guint32
write_window (DiffMaker *m, guint32 x)
{
  const GantryType *type = _diff_type_of (m, x);
  gint64 size[GANTRY_MAX_RANK], stride[GANTRY_MAX_RANK], dilation[GANTRY_MAX_RANK], padding[2 * GANTRY_MAX_RANK];
  GantryAttrList *attrs = gantry_attr_list_new (m->context);
  gboolean add = _diff_chance (m, 50);

  for (guint i = 0; i < type->rank; i++)
    {
      gboolean slides = i > 1 && type->dims[i] > 1;

      size[i] = slides ? MIN (type->dims[i], 1 + _diff_upto (m, 3)) : 1;
      stride[i] = slides ? 1 + _diff_upto (m, 2) : 1;
      dilation[i] = slides && _diff_chance (m, 15) && type->dims[i] >= 2 * size[i] - 1 ? 2 : 1;
      /* No window of padding alone: it would be -inf */
      padding[2 * i] = slides ? _diff_upto (m, (gint) size[i]) : 0;
      padding[2 * i + 1] = slides ? _diff_upto (m, (gint) size[i]) : 0;
    }
  gantry_attr_list_set_string (attrs, "kind", add ? "add" : _diff_chance (m, 80) ? "max" : "min");
  gantry_attr_list_set_ints (attrs, "window_dimensions", size, type->rank);
  gantry_attr_list_set_ints (attrs, "window_strides", stride, type->rank);
  gantry_attr_list_set_ints (attrs, "window_dilations", dilation, type->rank);
  gantry_attr_list_set_ints (attrs, "padding", padding, 2 * type->rank);
  x = gantry_builder_add (m->b, GANTRY_OP_REDUCE_WINDOW, &x, 1, gantry_attr_list_end (attrs));
  if (add)
    x = _diff_binary (m, GANTRY_OP_MULTIPLY, x, _diff_splat_like (m, x, 0.25));
  return x;
}

static guint32
write_softmax (DiffMaker *m, guint32 x)
{
  gint64 axis = _diff_upto (m, (gint) _diff_type_of (m, x)->rank);

  if (_diff_chance (m, 60))
    axis = _diff_type_of (m, x)->rank - 1;
  x = _diff_unary (m, GANTRY_OP_EXPONENTIAL, _diff_binary (m, GANTRY_OP_SUBTRACT, x, _diff_reduce_keep (m, "max", x, axis)));
  return _diff_binary (m, GANTRY_OP_DIVIDE, x, _diff_reduce_keep (m, "add", x, axis));
}

/* (x - mean) / sqrt (variance + epsilon), scaled, over one dimension. */
static guint32
write_norm (DiffMaker *m, guint32 x)
{
  const GantryType *type = _diff_type_of (m, x);
  gint64 axis = _diff_chance (m, 60) ? (gint64) type->rank - 1 : _diff_upto (m, (gint) type->rank);
  double share = 1 / (double) type->dims[axis];
  guint32 mean, centered, variance;

  mean = _diff_binary (m, GANTRY_OP_MULTIPLY, _diff_reduce_keep (m, "add", x, axis), _diff_splat_like (m, x, share));
  centered = _diff_binary (m, GANTRY_OP_SUBTRACT, x, mean);
  variance = _diff_reduce_keep (m, "add", _diff_binary (m, GANTRY_OP_MULTIPLY, centered, centered), axis);
  variance = _diff_binary (m, GANTRY_OP_MULTIPLY, variance, _diff_splat_like (m, x, share));
  variance = _diff_binary (m, GANTRY_OP_ADD, variance, _diff_splat_like (m, x, 0.01));
  x = _diff_binary (m, GANTRY_OP_MULTIPLY, centered, _diff_unary (m, GANTRY_OP_RSQRT, variance));
  if (_diff_chance (m, 50))
    x = _diff_binary (m, GANTRY_OP_MULTIPLY, x,
                      _diff_along (m, _diff_leaf (m, DIFF_LEAF_SCALE, (GantryElementType) type->element, 1, &type->dims[axis]), axis, x));
  return x;
}

void
_diff_write_sum (DiffMaker *m)
{
  guint32 x = _diff_pick (m, has_dimensions);

  if (x == 0)
    x = _diff_pick_image (m);
  switch (_diff_upto (m, 6))
    {
    case 0: _diff_put (m, write_softmax (m, x)); break;
    case 1: _diff_put (m, write_norm (m, x)); break;
    case 2:
    case 3: _diff_put (m, write_window (m, _diff_pick_image (m))); break;
    case 4: _diff_put (m, _diff_chance (m, 30) ? write_test (m, x) : write_reduction (m, x)); break;
    default: _diff_put (m, write_reduction (m, x)); break;
    }
}

/* Matrix products */

static guint32
dot (DiffMaker *m, guint32 x, guint32 y, const gint64 *batching, gsize n_batching, gint64 left, gint64 right)
{
  GantryAttrList *attrs = gantry_attr_list_new (m->context);

  gantry_attr_list_set_ints (attrs, "lhs_batching_dimensions", batching, n_batching);
  gantry_attr_list_set_ints (attrs, "rhs_batching_dimensions", batching, n_batching);
  gantry_attr_list_set_ints (attrs, "lhs_contracting_dimensions", &left, 1);
  gantry_attr_list_set_ints (attrs, "rhs_contracting_dimensions", &right, 1);
  return gantry_builder_add (m->b, GANTRY_OP_DOT_GENERAL, (guint32[]){ x, y }, 2, gantry_attr_list_end (attrs));
}

/* One dimension of x against a weight. */
static guint32
write_linear (DiffMaker *m, guint32 x)
{
  const GantryType *type = _diff_type_of (m, x);
  gint64 axis = _diff_chance (m, 70) ? (gint64) type->rank - 1 : _diff_upto (m, (gint) type->rank);
  gboolean turned = _diff_chance (m, 30);
  GantryDim dims[2] = { type->dims[axis], _diff_channels (m) }, swapped[2] = { dims[1], dims[0] };
  guint32 w;

  if (_diff_elements (m, x) * dims[1] > DIFF_MOST_PRODUCTS)
    return x;
  w = _diff_leaf (m, DIFF_LEAF_WEIGHT, (GantryElementType) type->element, 2, turned ? swapped : dims);
  x = turned && _diff_chance (m, 50) ? dot (m, w, x, NULL, 0, 1, axis) : dot (m, x, w, NULL, 0, axis, turned);
  if (_diff_chance (m, 60))
    {
      type = _diff_type_of (m, x);
      x = _diff_binary (
        m, GANTRY_OP_ADD, x,
        _diff_along (m, _diff_leaf (m, DIFF_LEAF_WEIGHT, (GantryElementType) type->element, 1, &type->dims[type->rank - 1]), type->rank - 1, x));
    }
  return x;
}

/* softmax (q k / sqrt (d)) v over [batch..., length, d]. */
static guint32
write_attention (DiffMaker *m)
{
  GantryDim dims[4] = { m->batch, 2, 3 + _diff_upto (m, 6), _diff_chance (m, 50) ? 8 : 5 };
  gint64 batching[2] = { 0, 1 };
  guint32 q = _diff_leaf (m, DIFF_LEAF_INPUT, m->element, 4, dims), k = q, v = q, s;

  if (_diff_chance (m, 70))
    {
      k = _diff_leaf (m, DIFF_LEAF_INPUT, m->element, 4, dims);
      v = _diff_leaf (m, DIFF_LEAF_INPUT, m->element, 4, dims);
    }
  s = dot (m, q, k, batching, 2, 3, 3);
  s = _diff_binary (m, GANTRY_OP_MULTIPLY, s, _diff_splat_like (m, s, 1 / sqrt ((double) dims[3])));
  s = _diff_unary (m, GANTRY_OP_EXPONENTIAL, _diff_binary (m, GANTRY_OP_SUBTRACT, s, _diff_reduce_keep (m, "max", s, 3)));
  s = _diff_binary (m, GANTRY_OP_DIVIDE, s, _diff_reduce_keep (m, "add", s, 3));
  return dot (m, s, v, batching, 2, 3, 2);
}

/* Two values of the pool that agree in a dimension. */
static guint32
write_meeting (DiffMaker *m, guint32 x)
{
  guint32 y = _diff_pick (m, has_dimensions);
  const GantryType *a = _diff_type_of (m, x), *b = _diff_type_of (m, y);

  for (guint tries = 0; tries < 6; tries++)
    {
      gint64 i = _diff_upto (m, (gint) a->rank), k = _diff_upto (m, (gint) b->rank);
      gint64 products = a->dims[i] == b->dims[k] ? _diff_elements (m, x) * _diff_elements (m, y) / MAX (b->dims[k], 1) : G_MAXINT64;

      if (a->element == b->element && a->rank + b->rank <= 6 && products <= DIFF_MOST_PRODUCTS)
        return _diff_unary (m, GANTRY_OP_TANH, dot (m, x, y, NULL, 0, i, k));
    }
  return write_linear (m, x);
}

void
_diff_write_product (DiffMaker *m)
{
  guint32 x = _diff_pick (m, has_dimensions);

  if (x == 0)
    x = _diff_pick_image (m);
  switch (_diff_upto (m, 4))
    {
    case 0: _diff_put (m, write_attention (m)); break;
    case 1: _diff_put (m, write_meeting (m, x)); break;
    default: _diff_put (m, write_linear (m, x)); break;
    }
}

/* Convolutions */

typedef struct
{
  gint64 kernel[3], stride[3], padding[6], from[3], by[3]; /* from: lhs_dilation, by: rhs_dilation */
  gint64 groups;
} Shape;

/* What @size becomes; 0 or less where it does not fit. */
static gint64
size_after (const Shape *s, guint i, gint64 size)
{
  gint64 base = (size - 1) * s->from[i] + 1 + s->padding[2 * i] + s->padding[2 * i + 1];
  gint64 window = (s->kernel[i] - 1) * s->by[i] + 1;

  return base < window ? 0 : (base - window) / s->stride[i] + 1;
}

static void
choose_shape (DiffMaker *m, const GantryType *type, gint64 channels, gboolean same_size, Shape *s)
{
  static const gint64 kernels[] = { 1, 1, 3, 3, 3, 2, 5 };
  gint64 kernel = kernels[_diff_upto (m, same_size ? 5 : G_N_ELEMENTS (kernels))];
  gboolean transposed = !same_size && _diff_chance (m, 15);

  *s = (Shape){ .groups = 1 };
  for (guint i = 0; i + 2 < type->rank; i++)
    {
      s->kernel[i] = !same_size && _diff_chance (m, 10) ? 1 + _diff_upto (m, 3) : kernel;
      s->stride[i] = !same_size && !transposed && _diff_chance (m, 30) ? 2 : 1;
      s->from[i] = transposed ? 2 : 1;
      s->by[i] = !same_size && _diff_chance (m, 12) ? 2 : 1;
      s->padding[2 * i] = same_size || _diff_chance (m, 60) ? (s->kernel[i] - 1) / 2 : _diff_upto (m, 3);
      s->padding[2 * i + 1] = same_size || _diff_chance (m, 60) ? s->kernel[i] / 2 : _diff_upto (m, 3);
      if (size_after (s, i, type->dims[i + 2]) < 1)
        {
          s->kernel[i] = s->by[i] = 1;
          s->padding[2 * i] = s->padding[2 * i + 1] = 0;
        }
    }
  if (type->dims[1] == channels && _diff_chance (m, 20))
    s->groups = channels; /* depthwise */
  else if (type->dims[1] % 4 == 0 && channels % 4 == 0 && _diff_chance (m, 15))
    s->groups = _diff_chance (m, 50) ? 4 : 2;
}

static gint64
count_products (const GantryType *type, const Shape *s, gint64 channels)
{
  gint64 n = type->dims[0] * channels * type->dims[1] / s->groups;

  for (guint i = 0; i + 2 < type->rank; i++)
    n *= s->kernel[i] * size_after (s, i, type->dims[i + 2]);
  return n;
}

guint32
_diff_convolve (DiffMaker *m, guint32 x, gint64 channels, gboolean same_size)
{
  const GantryType *type = _diff_type_of (m, x);
  guint n = type->rank - 2;
  GantryDim dims[5] = { channels };
  GantryAttrList *attrs;
  guint32 operands[3] = { x };
  guint n_operands = 2;
  Shape s;

  choose_shape (m, type, channels, same_size, &s);
  while (count_products (type, &s, channels) > DIFF_MOST_PRODUCTS)
    {
      if (s.kernel[0] == 1)
        return x;
      for (guint i = 0; i < n; i++)
        {
          s.kernel[i] = 1;
          s.padding[2 * i] = s.padding[2 * i + 1] = 0;
        }
    }
  dims[1] = type->dims[1] / s.groups;
  for (guint i = 0; i < n; i++)
    dims[i + 2] = s.kernel[i];
  operands[1] = _diff_leaf (m, DIFF_LEAF_WEIGHT, (GantryElementType) type->element, type->rank, dims);
  if (_diff_chance (m, 20))
    operands[n_operands++] = _diff_leaf (m, DIFF_LEAF_WEIGHT, (GantryElementType) type->element, 1, &channels);
  attrs = gantry_attr_list_new (m->context);
  gantry_attr_list_set_ints (attrs, "window_strides", s.stride, n);
  gantry_attr_list_set_ints (attrs, "padding", s.padding, 2 * n);
  gantry_attr_list_set_ints (attrs, "lhs_dilation", s.from, n);
  gantry_attr_list_set_ints (attrs, "rhs_dilation", s.by, n);
  gantry_attr_list_set_int (attrs, "feature_group_count", s.groups);
  return gantry_builder_add (m->b, GANTRY_OP_CONVOLUTION, operands, n_operands, gantry_attr_list_end (attrs));
}

/* What stands after a convolution: a bias or a normalization, an activation. */
static guint32
write_activation (DiffMaker *m, guint32 x)
{
  const GantryType *type = _diff_type_of (m, x);

  if (_diff_chance (m, 50))
    x = _diff_binary (m, GANTRY_OP_MULTIPLY, x, _diff_along (m, _diff_leaf (m, DIFF_LEAF_SCALE, (GantryElementType) type->element, 1, &type->dims[1]), 1, x));
  if (_diff_chance (m, 50))
    x = _diff_binary (m, GANTRY_OP_ADD, x, _diff_along (m, _diff_leaf (m, DIFF_LEAF_WEIGHT, (GantryElementType) type->element, 1, &type->dims[1]), 1, x));
  switch (_diff_upto (m, 5))
    {
    case 0: return _diff_binary (m, GANTRY_OP_MULTIPLY, x, _diff_unary (m, GANTRY_OP_LOGISTIC, x));
    case 1: return _diff_unary (m, GANTRY_OP_TANH, x);
    case 2: return x;
    default: return _diff_binary (m, GANTRY_OP_MAXIMUM, x, _diff_splat_like (m, x, 0));
    }
}

void
_diff_write_convolution (DiffMaker *m)
{
  guint32 x = _diff_pick_image (m);

  if (_diff_chance (m, 20))
    x = _diff_put (m, _diff_convolve (m, x, _diff_type_of (m, x)->dims[1], FALSE));
  else
    x = _diff_put (m, _diff_convolve (m, x, _diff_channels (m), FALSE));
  if (_diff_chance (m, 60))
    _diff_put (m, write_activation (m, x));
}
