/* SPDX-License-Identifier: Apache-2.0 */
/* Writing at computed places, together with what is there or meets there: `index_add` and its like along one axis, `scatter_reduce` with a
 * place for each element. */
#include "core/frontends/torch/lower-words-private.h"

/** What several values for one place become. */
typedef struct
{
  const char *torch, *core;
  int sign; /* of the infinity that changes nothing, or 0 */
  double neutral;
} Meeting;

static const Meeting meetings[] = {
  { "sum", "add", 0, 0 },  { "add", "add", 0, 0 },   { "prod", "mul", 0, 1 }, { "multiply", "mul", 0, 1 },
  { "mean", "add", 0, 0 }, { "amax", "max", -1, 0 }, { "amin", "min", 1, 0 },
};

static const Meeting *
meeting (AtenLower *l, const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (meetings); i++)
    if (strcmp (meetings[i].torch, name) == 0)
      return &meetings[i];
  gantry_aten_refuse (l, "reduction '%s'", name);
  return NULL;
}

/* What changes nothing of @x's type: an infinity, or the end of a range of whole numbers. */
static guint32
neutral (AtenLower *l, guint32 x, const Meeting *how)
{
  GantryElementType element = gantry_aten_element (l, x);
  gboolean is_signed = gantry_element_is_signed (element);
  guint64 high = G_MAXUINT64 >> (64 - 8 * gantry_element_size (element) + is_signed);

  if (how->sign == 0 || gantry_element_is_float (element))
    return gantry_builder_like (l->b, x, how->sign != 0 ? how->sign * INFINITY : how->neutral);
  return gantry_builder_int_scalar (l->b, element, (gint64) (how->sign > 0 ? high : is_signed ? ~high : 0));
}

/* @x with the values of @updates at places: @vectors as gantry_builder_scatter_vectors() takes them. Where @alone, what is at a place
 * counts nothing beside what is written there. */
static guint32
meet (AtenLower *l, guint32 x, guint32 vectors, guint32 updates, const Meeting *how, gboolean alone)
{
  const GantryType *type = gantry_aten_type (l, updates);
  guint32 ones, counts, sum, first = x;

  if (x == 0 || vectors == 0 || updates == 0)
    return 0;
  if (alone)
    first = gantry_builder_scatter_vectors (l->b, x, vectors, gantry_builder_broadcast_to (l->b, neutral (l, x, how), type->rank, type->dims), "set");
  sum = gantry_builder_scatter_vectors (l->b, first, vectors, updates, how->core);
  if (strcmp (how->torch, "mean") != 0)
    return sum;
  ones = gantry_builder_broadcast_to (l->b, gantry_builder_like (l->b, x, 1), type->rank, type->dims);
  counts = gantry_aten_splat (l, gantry_aten_type (l, x), alone ? 0 : 1);
  counts = gantry_builder_scatter_vectors (l->b, counts, vectors, ones, "add");
  counts = BINARY (MAXIMUM, counts, LIKE (counts, 1));
  if (gantry_element_is_float (gantry_aten_element (l, x)))
    return BINARY (DIVIDE, sum, counts);
  /* Whole numbers are rounded down. */
  return gantry_builder_convert (
    l->b, UNARY (FLOOR, BINARY (DIVIDE, gantry_builder_convert (l->b, sum, GANTRY_F64), gantry_builder_convert (l->b, counts, GANTRY_F64))),
    gantry_aten_element (l, x));
}

/* Slices along an axis. */
static void
index_write (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self"), indices = gantry_aten_need (l, "index"), source = gantry_aten_need (l, "source"), vectors;
  gint64 axis = gantry_aten_axis (l, gantry_aten_int (l, "dim", 0), gantry_aten_rank (l, x)), one = 1;
  const Meeting *how = l->rule->text != NULL ? NULL : meeting (l, gantry_aten_string (l, "reduce", "sum"));
  GantryDim dims[2] = { gantry_type_elements (gantry_aten_type (l, indices)), 1 };

  if (gantry_aten_rank (l, x) == 0 || gantry_aten_rank (l, source) != gantry_aten_rank (l, x) || l->failed)
    {
      gantry_aten_refuse (l, "a source of %u dimensions for %u", gantry_aten_rank (l, source), gantry_aten_rank (l, x));
      return;
    }
  vectors = gantry_builder_reshape (l->b, gantry_builder_wrap_indices (l->b, indices, gantry_aten_dim (l, x, axis)), 2, dims);
  source = gantry_builder_scale (l->b, gantry_builder_convert (l->b, source, gantry_aten_element (l, x)), gantry_aten_number (l, "alpha", one));
  x = gantry_builder_swap_axes (l->b, x, 0, axis);
  source = gantry_builder_swap_axes (l->b, source, 0, axis);
  x = how == NULL ? gantry_builder_scatter_vectors (l->b, x, vectors, source, l->rule->text)
                  : meet (l, x, vectors, source, how, gantry_aten_int (l, "include_self", 1) == 0);
  l->out[0] = gantry_builder_swap_axes (l->b, x, 0, axis);
}

/* The index along `dim` is given, along every other axis it is the position: full index vectors. */
static void
scatter (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self"), indices = gantry_aten_need (l, "index"), source = gantry_aten_in (l, "src"), vectors;
  const char *reduce = gantry_aten_string (l, "reduce", l->rule->text);
  const Meeting *how = strcmp (reduce, "set") == 0 ? NULL : meeting (l, reduce);
  guint rank = gantry_aten_rank (l, x);
  gint64 axis = gantry_aten_axis (l, gantry_aten_int (l, "dim", 0), rank);
  GantryDim dims[GANTRY_MAX_RANK + 1];
  guint32 parts[GANTRY_MAX_RANK];

  if (rank == 0 || rank >= GANTRY_MAX_RANK || gantry_aten_rank (l, indices) != rank)
    gantry_aten_refuse (l, "indices of %u dimensions for %u", gantry_aten_rank (l, indices), rank);
  if (l->failed)
    return;
  indices = gantry_builder_wrap_indices (l->b, indices, gantry_aten_dim (l, x, axis));
  for (guint i = 0; i < rank; i++)
    dims[i] = gantry_aten_dim (l, indices, i);
  if (source == 0)
    source = gantry_builder_splat (l->b, gantry_aten_element (l, x), gantry_aten_number (l, "value", 0), rank, dims);
  source = gantry_builder_convert (l->b, source, gantry_aten_element (l, x));
  for (guint i = 0; i < rank; i++)
    source = gantry_builder_slice_axis (l->b, source, i, 0, MIN (dims[i], gantry_aten_dim (l, source, i)), 1);
  dims[rank] = 1;
  for (guint i = 0; i < rank; i++)
    parts[i] = i == axis ? gantry_builder_reshape (l->b, indices, rank + 1, dims) : gantry_aten_iota (l, rank + 1, dims, i);
  vectors = l->failed ? 0 : gantry_builder_concatenate (l->b, parts, rank, rank);
  l->out[0] = how == NULL ? gantry_builder_scatter_vectors (l->b, x, vectors, source, "set")
                          : meet (l, x, vectors, source, how, gantry_aten_int (l, "include_self", 1) == 0);
}

/* The elements of `source`, one after another, where the mask is. */
static void
masked_scatter (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self"), mask = gantry_aten_need (l, "mask"), source = gantry_aten_need (l, "source"), order;
  const GantryType *type = gantry_aten_declared (l, 0);
  GantryDim n = gantry_type_elements (type), given = gantry_type_elements (gantry_aten_type (l, source));

  if (x == 0 || mask == 0 || source == 0 || n == 0 || given == 0)
    {
      l->out[0] = x;
      return;
    }
  x = gantry_builder_broadcast_to (l->b, x, type->rank, type->dims);
  mask = gantry_builder_broadcast_to (l->b, mask, type->rank, type->dims);
  order = gantry_builder_convert (l->b, gantry_builder_reshape (l->b, mask, 1, &n), GANTRY_I64);
  order = gantry_builder_offset (l->b, gantry_aten_running (l, "add", order, 0), -1);
  order = BINARY (MAXIMUM, order, LIKE (order, 0));
  source = gantry_builder_take (l->b, gantry_builder_reshape (l->b, source, 1, &given), 0, order);
  source = gantry_builder_convert (l->b, source, gantry_aten_element (l, x));
  l->out[0] = gantry_builder_select (l->b, mask, gantry_builder_reshape (l->b, source, type->rank, type->dims), x);
}

/* clang-format off */
#define RULE(name, function, text) { name, function, GANTRY_CLASS_MOVEMENT, 0, text }

const AtenRule gantry_aten_scatter_rules[] = {
  RULE ("scatter", scatter, "set"), RULE ("scatter_add", scatter, "add"), RULE ("scatter_reduce", scatter, "sum"),
  RULE ("index_add", index_write, "add"), RULE ("index_copy", index_write, "set"), RULE ("index_reduce", index_write, NULL),
  RULE ("masked_scatter", masked_scatter, NULL),
  { NULL },
};
/* clang-format on */
