/* SPDX-License-Identifier: Apache-2.0 */
/* Products and convolutions. The core convolution has one layout, NC x OI -> NC; others are transposed around it. */
#include "core/frontends/xla/lower-private.h"

static void
set_to (XlaLower *l, GantryAttrList *attrs, GantryElementType element)
{
  gantry_attr_list_set_type (attrs, "to", gantry_context_scalar (l->context, element));
}

/* Operands of one element type, which counts in products: bools count as integers. */
static guint32
operand (XlaLower *l, guint i, GantryElementType *to)
{
  GantryElementType a = gantry_xla_element (l, gantry_xla_in (l, 0)), b = gantry_xla_element (l, gantry_xla_in (l, 1));
  guint32 x = gantry_xla_in (l, i);

  if (*to == GANTRY_BOOL)
    *to = GANTRY_I32;
  if (a != b || a == GANTRY_BOOL)
    x = gantry_xla_convert (l, x, *to);
  return x;
}

static guint32
dot (XlaLower *l, const gint64 *lists[4], const gsize n[4])
{
  static const char *const keys[4] = { "lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions", "rhs_contracting_dimensions" };
  GantryElementType declared = (GantryElementType) gantry_xla_declared (l, 0)->element, to = declared;
  GantryAttrList *attrs = gantry_xla_attrs (l);
  guint32 x = operand (l, 0, &to), y = operand (l, 1, &to);

  for (guint i = 0; i < 4; i++)
    gantry_attr_list_set_ints (attrs, keys[i], lists[i], n[i]);
  set_to (l, attrs, to);
  return gantry_xla_convert (l, gantry_xla_add (l, GANTRY_OP_DOT_GENERAL, attrs, 2, x, y), declared);
}

static void
dot_general (XlaLower *l)
{
  const gint64 *lists[4];
  gsize n[4];

  lists[0] = gantry_xla_ints (l, "lhs_batching_dimensions", &n[0]);
  lists[1] = gantry_xla_ints (l, "rhs_batching_dimensions", &n[1]);
  lists[2] = gantry_xla_ints (l, "lhs_contracting_dimensions", &n[2]);
  lists[3] = gantry_xla_ints (l, "rhs_contracting_dimensions", &n[3]);
  l->out[0] = dot (l, lists, n);
}

static void
simple_dot (XlaLower *l)
{
  const gint64 last = (gint64) gantry_xla_type (l, gantry_xla_in (l, 0))->rank - 1, first = 0;
  const gint64 *lists[4] = { NULL, NULL, &last, &first };
  const gsize n[4] = { 0, 0, 1, 1 };

  if (gantry_attrs_find (l->context, l->node->attrs, "lhs_contracting_dimensions") != NULL
      || gantry_attrs_find (l->context, l->node->attrs, "lhs_batching_dimensions") != NULL)
    dot_general (l); /* HLO's, which says which */
  else if (last < 0)
    l->out[0] = gantry_xla_binary (l, GANTRY_OP_MULTIPLY, gantry_xla_in (l, 0), gantry_xla_in (l, 1));
  else
    l->out[0] = dot (l, lists, n);
}

/* Convolution */

typedef struct
{
  guint rank;
  gint64 input[GANTRY_MAX_RANK], kernel[GANTRY_MAX_RANK], output[GANTRY_MAX_RANK]; /* of N C 0 1 ..., where it stands */
  const gint64 *strides, *padding, *lhs_dilation, *rhs_dilation, *reversal;
  gint64 groups, batch_groups;
} Conv;

/* "[b, 0, 1, f]": letters @first and @second, and the spatial numbers, in places of @where. */
static const char *
read_side (const char *text, const char *first, const char *second, gint64 *where, guint rank)
{
  guint at = 0;

  text = text != NULL ? strchr (text, '[') : NULL;
  if (text == NULL)
    return NULL;
  for (guint i = 0; i < rank; i++)
    where[i] = -1;
  for (text++; *text != 0 && *text != ']'; text++)
    {
      guint64 number;

      if (*text == ' ' || *text == ',')
        continue;
      if (at >= rank)
        return NULL;
      if (*text == *first)
        where[0] = at++;
      else if (*text == *second)
        where[1] = at++;
      else if (g_ascii_isdigit (*text) && (number = (guint64) (*text - '0')) + 2 < rank)
        where[number + 2] = at++;
      else
        return NULL;
    }
  for (guint i = 0; i < rank; i++)
    if (where[i] < 0)
      return NULL;
  return text;
}

static gboolean
read_conv (XlaLower *l, Conv *c)
{
  const char *text = gantry_xla_string (l, "dim_numbers", "");

  c->rank = gantry_xla_type (l, gantry_xla_in (l, 0))->rank;
  if (c->rank < 2)
    text = NULL;
  text = read_side (text, "b", "f", c->input, c->rank);
  text = read_side (text, "o", "i", c->kernel, c->rank);
  text = read_side (text, "b", "f", c->output, c->rank);
  if (text == NULL)
    {
      gantry_xla_refuse (l, "dimension numbers '%s'", gantry_xla_string (l, "dim_numbers", ""));
      return FALSE;
    }
  c->strides = gantry_xla_ints_or (l, "window_strides", c->rank - 2, 1);
  c->padding = gantry_xla_ints_or (l, "padding", 2 * (c->rank - 2), 0);
  c->lhs_dilation = gantry_xla_ints_or (l, "lhs_dilation", c->rank - 2, 1);
  c->rhs_dilation = gantry_xla_ints_or (l, "rhs_dilation", c->rank - 2, 1);
  c->reversal = gantry_xla_ints_or (l, "window_reversal", c->rank - 2, 0);
  c->groups = gantry_xla_int (l, "feature_group_count", 1);
  c->batch_groups = gantry_xla_int (l, "batch_group_count", 1);
  return !l->failed;
}

/* A batch of g groups is g times the features of a batch of one. */
static guint32
batches_to_features (XlaLower *l, guint32 x, gint64 groups)
{
  const GantryType *type = gantry_xla_type (l, x);
  GantryDim dims[GANTRY_MAX_RANK + 1];
  gint64 permutation[GANTRY_MAX_RANK + 1];
  guint rank = type->rank;

  if (rank + 1 > GANTRY_MAX_RANK || groups < 1 || type->dims[0] % groups != 0)
    {
      gantry_xla_refuse (l, "a batch of %" G_GINT64_FORMAT " in %" G_GINT64_FORMAT " groups", type->dims[0], groups);
      return 0;
    }
  dims[0] = groups;
  dims[1] = type->dims[0] / groups;
  memcpy (dims + 2, type->dims + 1, sizeof *dims * (rank - 1));
  for (guint i = 0; i <= rank; i++)
    permutation[i] = i < 2 ? 1 - i : i;
  x = gantry_builder_transpose (l->b, gantry_builder_reshape (l->b, x, rank + 1, dims), permutation);
  dims[0] = dims[1];
  dims[1] = groups * dims[2];
  for (guint i = 2; i < rank; i++)
    dims[i] = dims[i + 1];
  return gantry_builder_reshape (l->b, x, rank, dims);
}

/* Edges that are cut off, and dilation that would lie between what is cut. */
static guint32
cut_edges (XlaLower *l, guint32 x, Conv *c)
{
  gint64 low[GANTRY_MAX_RANK] = { 0 }, high[GANTRY_MAX_RANK] = { 0 }, interior[GANTRY_MAX_RANK] = { 0 };
  gboolean cuts = FALSE;

  for (guint i = 0; i < 2 * (c->rank - 2); i++)
    cuts = cuts || c->padding[i] < 0;
  if (!cuts)
    return x;
  for (guint i = 2; i < c->rank; i++)
    {
      low[i] = c->padding[2 * (i - 2)];
      high[i] = c->padding[2 * (i - 2) + 1];
      interior[i] = c->lhs_dilation[i - 2] - 1;
    }
  c->padding = XLA_NEW (l, gint64, 2 * c->rank);
  c->lhs_dilation = NULL;
  return gantry_builder_pad_if_any (l->b, x, gantry_xla_zero (l, gantry_xla_element (l, x)), low, high, interior);
}

static guint32
reverse_kernel (XlaLower *l, guint32 y, const Conv *c)
{
  gint64 dims[GANTRY_MAX_RANK];
  guint n = 0;

  for (guint i = 2; i < c->rank; i++)
    if (c->reversal[i - 2] != 0)
      dims[n++] = i;
  return gantry_builder_reverse (l->b, y, dims, n);
}

/* With a dimension of space more where there is none. */
static guint32
with_space (XlaLower *l, guint32 x)
{
  GantryDim dims[3] = { gantry_xla_type (l, x)->dims[0], gantry_xla_type (l, x)->dims[1], 1 };

  return gantry_builder_reshape (l->b, x, 3, dims);
}

static guint32
core_convolution (XlaLower *l, guint32 x, guint32 y, const Conv *c, GantryElementType to)
{
  GantryAttrList *attrs = gantry_xla_attrs (l);
  guint n = c->rank - 2;

  gantry_attr_list_set_int (attrs, "feature_group_count", c->groups * c->batch_groups);
  set_to (l, attrs, to);
  if (n > 0)
    {
      gantry_attr_list_set_ints (attrs, "window_strides", c->strides, n);
      gantry_attr_list_set_ints (attrs, "padding", c->padding, 2 * n);
      if (c->lhs_dilation != NULL)
        gantry_attr_list_set_ints (attrs, "lhs_dilation", c->lhs_dilation, n);
      gantry_attr_list_set_ints (attrs, "rhs_dilation", c->rhs_dilation, n);
      return gantry_xla_add (l, GANTRY_OP_CONVOLUTION, attrs, 2, x, y);
    }
  x = gantry_xla_add (l, GANTRY_OP_CONVOLUTION, attrs, 2, with_space (l, x), with_space (l, y));
  return gantry_builder_reshape (l->b, x, 2, gantry_xla_type (l, x)->dims);
}

static void
convolution (XlaLower *l)
{
  GantryElementType declared = (GantryElementType) gantry_xla_declared (l, 0)->element, to = declared;
  gint64 back[GANTRY_MAX_RANK];
  Conv c = { 0 };
  guint32 x, y;

  if (!read_conv (l, &c))
    return;
  if (c.groups > 1 && c.batch_groups > 1)
    {
      gantry_xla_refuse (l, "groups of features and of the batch at once");
      return;
    }
  x = gantry_builder_transpose (l->b, operand (l, 0, &to), c.input);
  y = gantry_builder_transpose (l->b, operand (l, 1, &to), c.kernel);
  if (c.batch_groups != 1)
    x = batches_to_features (l, x, c.batch_groups);
  x = cut_edges (l, x, &c);
  y = reverse_kernel (l, y, &c);
  x = core_convolution (l, x, y, &c, to);
  for (guint i = 0; i < c.rank; i++)
    back[c.output[i]] = i;
  l->out[0] = gantry_xla_convert (l, gantry_builder_transpose (l->b, x, back), declared);
}

/* The padding is an operand. */
static void
dynamic_conv (XlaLower *l)
{
  gsize n;
  gint64 *padding = gantry_xla_known_ints (l, gantry_xla_in (l, 2), &n);
  GantryElementType declared = (GantryElementType) gantry_xla_declared (l, 0)->element, to = declared;
  gint64 back[GANTRY_MAX_RANK];
  Conv c = { 0 };
  guint32 x, y;

  if (!read_conv (l, &c))
    return;
  if (padding == NULL || n != 2 * (c.rank - 2))
    {
      gantry_xla_refuse (l, "the padding depends on data");
      return;
    }
  c.padding = padding;
  x = cut_edges (l, gantry_builder_transpose (l->b, operand (l, 0, &to), c.input), &c);
  y = reverse_kernel (l, gantry_builder_transpose (l->b, operand (l, 1, &to), c.kernel), &c);
  x = core_convolution (l, x, y, &c, to);
  for (guint i = 0; i < c.rank; i++)
    back[c.output[i]] = i;
  l->out[0] = gantry_xla_convert (l, gantry_builder_transpose (l->b, x, back), declared);
}

const XlaRule gantry_xla_contraction_rules[] = {
  { "dot_general", dot_general, GANTRY_CLASS_CONTRACTION, XLA_TAKES (2, 1), 0 },
  { "dot", simple_dot, GANTRY_CLASS_CONTRACTION, XLA_TAKES (2, 1), 0 },
  { "convolution", convolution, GANTRY_CLASS_CONTRACTION, XLA_TAKES (2, 1), 0 },
  { "dynamic_conv", dynamic_conv, GANTRY_CLASS_CONTRACTION, XLA_TAKES (3, 1), 0 },
  { NULL, NULL, 0, 0, 0 },
};
