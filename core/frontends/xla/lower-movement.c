/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that move elements. Of the dynamic ones the sizes have to be known: declared, or from a constant. */
#include "core/frontends/xla/lower-private.h"

/* The dimensions of the result: what the text declares, else what constant operand @shape says. */
static gboolean
result_dims (XlaLower *l, guint shape, guint *rank, GantryDim *dims)
{
  const GantryType *type = gantry_xla_declared (l, 0);
  gint64 *known = NULL;
  gsize n = 0;

  *rank = type->rank;
  memcpy (dims, type->dims, sizeof *dims * type->rank);
  if (!gantry_type_is_static (type) && shape > 0)
    known = gantry_xla_known_ints (l, gantry_xla_in (l, shape), &n);
  for (guint i = 0; i < type->rank; i++)
    if (!GANTRY_DIM_IS_STATIC (dims[i]))
      {
        if (known == NULL || n != type->rank)
          {
            gantry_xla_refuse (l, "size %u of the result depends on data", i);
            return FALSE;
          }
        dims[i] = known[i];
      }
  return TRUE;
}

/* A region that is written for whole tensors reshapes and broadcasts scalars to scalars. */
static gboolean
stays (XlaLower *l)
{
  if (!l->lifted || gantry_xla_declared (l, 0)->rank != 0)
    return FALSE;
  l->out[0] = gantry_xla_in (l, 0);
  return TRUE;
}

static void
reshape (XlaLower *l)
{
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank;

  if (!stays (l) && result_dims (l, (guint) l->rule->arg, &rank, dims))
    l->out[0] = gantry_builder_reshape (l->b, gantry_xla_in (l, 0), rank, dims);
}

static void
broadcast_in_dim (XlaLower *l)
{
  GantryDim dims[GANTRY_MAX_RANK];
  const GantryType *from = gantry_xla_type (l, gantry_xla_in (l, 0));
  const gint64 *where = gantry_xla_ints_or (l, "broadcast_dimensions", from->rank, 0);
  guint rank;

  if (l->failed || stays (l) || !result_dims (l, (guint) l->rule->arg, &rank, dims))
    return;
  l->out[0] = gantry_builder_broadcast (l->b, gantry_xla_in (l, 0), rank, dims, where);
}

/* New dimensions in front. */
static void
broadcast (XlaLower *l)
{
  const GantryType *from = gantry_xla_type (l, gantry_xla_in (l, 0)), *to = gantry_xla_declared (l, 0);
  gint64 *where = XLA_NEW (l, gint64, from->rank);

  if (gantry_attrs_find (l->context, l->node->attrs, "broadcast_dimensions") != NULL)
    {
      broadcast_in_dim (l); /* HLO's, which says where */
      return;
    }
  for (guint i = 0; i < from->rank; i++)
    where[i] = (gint64) to->rank - from->rank + i;
  l->out[0] = gantry_builder_broadcast (l->b, gantry_xla_in (l, 0), to->rank, to->dims, where);
}

static void
transpose (XlaLower *l)
{
  guint rank = gantry_xla_type (l, gantry_xla_in (l, 0))->rank;
  const gint64 *permutation = gantry_xla_ints_or (l, "permutation", rank, 0);

  if (!l->failed)
    l->out[0] = gantry_builder_transpose (l->b, gantry_xla_in (l, 0), permutation);
}

static void
reverse (XlaLower *l)
{
  gsize n;
  const gint64 *dims = gantry_xla_ints (l, "dimensions", &n);

  l->out[0] = gantry_builder_reverse (l->b, gantry_xla_in (l, 0), dims, n);
}

static void
slice (XlaLower *l)
{
  guint rank = gantry_xla_type (l, gantry_xla_in (l, 0))->rank;
  const gint64 *start = gantry_xla_ints_or (l, "start_indices", rank, 0);
  const gint64 *limit = gantry_xla_ints_or (l, "limit_indices", rank, 0);
  const gint64 *stride = gantry_xla_ints_or (l, "strides", rank, 1);

  if (!l->failed)
    l->out[0] = gantry_builder_slice (l->b, gantry_xla_in (l, 0), start, limit, stride);
}

/* Three operands from @first on: constants of a number for each dimension of operand 0. */
static gboolean
known_lists (XlaLower *l, guint first, gint64 **values, const char *why)
{
  for (guint i = 0; i < 3; i++)
    {
      gsize n;

      values[i] = gantry_xla_known_ints (l, gantry_xla_in (l, first + i), &n);
      if (values[i] == NULL || n != gantry_xla_type (l, gantry_xla_in (l, 0))->rank)
        {
          gantry_xla_refuse (l, "%s", why);
          return FALSE;
        }
    }
  return TRUE;
}

static void
real_dynamic_slice (XlaLower *l)
{
  gint64 *values[3];

  if (!known_lists (l, 1, values, "where it cuts depends on data"))
    return;
  l->out[0] = gantry_builder_slice (l->b, gantry_xla_in (l, 0), values[0], values[1], values[2]);
}

static void
pad (XlaLower *l)
{
  guint32 x = gantry_xla_in (l, 0);
  guint rank = gantry_xla_type (l, x)->rank;
  const gint64 *low = gantry_xla_ints_or (l, "edge_padding_low", rank, 0);
  const gint64 *high = gantry_xla_ints_or (l, "edge_padding_high", rank, 0);
  const gint64 *interior = gantry_xla_ints_or (l, "interior_padding", rank, 0);

  if (!l->failed)
    l->out[0] = gantry_builder_pad_if_any (l->b, x, gantry_xla_in (l, 1), low, high, interior);
}

static void
dynamic_pad (XlaLower *l)
{
  gint64 *values[3];

  if (!known_lists (l, 2, values, "how much is padded depends on data"))
    return;
  l->out[0] = gantry_builder_pad_if_any (l->b, gantry_xla_in (l, 0), gantry_xla_in (l, 1), values[0], values[1], values[2]);
}

static void
concatenate (XlaLower *l)
{
  l->out[0] = gantry_builder_concatenate (l->b, l->in, l->n_in, gantry_xla_int (l, "dimension", 0));
}

static void
iota (XlaLower *l)
{
  GantryDim dims[GANTRY_MAX_RANK];
  GantryElementType element = (GantryElementType) gantry_xla_declared (l, 0)->element;
  gint64 axis = gantry_xla_int (l, "iota_dimension", 0);
  guint rank = gantry_xla_declared (l, 0)->rank;

  if (l->rule->arg != 0)
    {
      gsize n;
      gint64 *known = gantry_xla_known_ints (l, gantry_xla_in (l, 0), &n);

      for (guint i = 0; i < rank; i++)
        dims[i] = known != NULL && i < n ? known[i] : gantry_xla_declared (l, 0)->dims[i];
    }
  else
    memcpy (dims, gantry_xla_declared (l, 0)->dims, sizeof *dims * rank);
  for (guint i = 0; i < rank; i++)
    if (!GANTRY_DIM_IS_STATIC (dims[i]))
      gantry_xla_refuse (l, "size %u of the result depends on data", i);
  if (!l->failed)
    l->out[0] = gantry_builder_iota (l->b, element, rank, dims, axis);
}

/* Dimensions from major to minor in memory, as the attribute @key says; row-major where it is missing. FALSE: tiled, or more than an order. */
static gboolean
memory_order (const XlaLower *l, const char *key, guint rank, gint64 *order)
{
  const char *c = gantry_attrs_string (l->context, l->node->attrs, key, NULL);
  guint32 seen = 0;

  for (guint i = 0; i < rank; i++)
    order[i] = i;
  for (guint i = rank; c != NULL && i-- > 0;)
    {
      char *end;
      guint64 dim = g_ascii_strtoull (c, &end, 10);

      if (end == c || dim >= rank || (seen & 1u << dim) != 0)
        return FALSE;
      seen |= 1u << dim;
      order[i] = (gint64) dim;
      c = end + (*end == ',');
    }
  return c == NULL || *c == 0 || strcmp (c, ":S(5)") == 0; /* in the host's memory */
}

/* HLO: the same bytes in another shape: the elements in the order in which they lie, in a shape that is ordered so, seen as the result. */
static void
bitcast (XlaLower *l)
{
  const GantryType *type = gantry_xla_declared (l, 0);
  guint32 x = gantry_xla_in (l, 0);
  const GantryType *from = gantry_xla_type (l, x);
  gint64 was[GANTRY_MAX_RANK], is[GANTRY_MAX_RANK], back[GANTRY_MAX_RANK];
  GantryDim dims[GANTRY_MAX_RANK];

  if (gantry_element_size ((GantryElementType) type->element) != gantry_element_size (gantry_xla_element (l, x))
      || gantry_type_elements (type) != gantry_type_elements (from))
    {
      if (l->lifted && type->rank == 0)
        l->out[0] = gantry_xla_bitcast (l, x, (GantryElementType) type->element);
      else
        gantry_xla_refuse (l, "to an element type of another size");
      return;
    }
  if (!memory_order (l, "operand_layout", from->rank, was) || !memory_order (l, "layout", type->rank, is))
    {
      gantry_xla_refuse (l, "of a layout that is more than an order of dimensions");
      return;
    }
  for (guint i = 0; i < type->rank; i++)
    {
      dims[i] = type->dims[is[i]];
      back[is[i]] = i;
    }
  x = gantry_xla_bitcast (l, gantry_builder_transpose (l->b, x, was), (GantryElementType) type->element);
  l->out[0] = gantry_builder_transpose (l->b, gantry_builder_reshape (l->b, x, type->rank, dims), back);
}

static void
get_dimension_size (XlaLower *l)
{
  const GantryType *type = gantry_xla_type (l, gantry_xla_in (l, 0));
  gint64 axis = gantry_xla_int (l, "dimension", 0);

  if (axis < 0 || axis >= type->rank)
    gantry_xla_refuse (l, "dimension %" G_GINT64_FORMAT " of a rank of %u", axis, type->rank);
  else
    l->out[0] = gantry_builder_int_scalar (l->b, GANTRY_I32, type->dims[axis]);
}

#define MOVES(name, function, takes, arg) \
  { \
    name, function, GANTRY_CLASS_MOVEMENT, takes, arg \
  }

const XlaRule gantry_xla_movement_rules[] = {
  MOVES ("reshape", reshape, XLA_TAKES (1, 1), 0),
  MOVES ("dynamic_reshape", reshape, XLA_TAKES (2, 1) | XLA_OR_MORE, 1),
  MOVES ("broadcast_in_dim", broadcast_in_dim, XLA_TAKES (1, 1), 0),
  MOVES ("dynamic_broadcast_in_dim", broadcast_in_dim, XLA_TAKES (2, 1), 1),
  MOVES ("broadcast", broadcast, XLA_TAKES (1, 1), 0),
  MOVES ("transpose", transpose, XLA_TAKES (1, 1), 0),
  MOVES ("reverse", reverse, XLA_TAKES (1, 1), 0),
  MOVES ("slice", slice, XLA_TAKES (1, 1), 0),
  MOVES ("real_dynamic_slice", real_dynamic_slice, XLA_TAKES (4, 1), 0),
  MOVES ("pad", pad, XLA_TAKES (2, 1), 0),
  MOVES ("dynamic_pad", dynamic_pad, XLA_TAKES (5, 1), 0),
  MOVES ("concatenate", concatenate, XLA_TAKES (1, 1) | XLA_OR_MORE, 0),
  MOVES ("iota", iota, XLA_TAKES (0, 1), 0),
  MOVES ("dynamic_iota", iota, XLA_TAKES (1, 1), 1),
  MOVES ("bitcast", bitcast, XLA_TAKES (1, 1), 0),
  MOVES ("get_dimension_size", get_dimension_size, XLA_TAKES (1, 1), 0),
  { NULL, NULL, 0, 0, 0 },
};
