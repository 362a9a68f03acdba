/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors made of numbers: their types stand in the archive. */
#include "core/frontends/torch/lower-private.h"

/* arg: the number where no argument says one. */
static void
fill (AtenLower *l)
{
  const GantryType *type = gantry_aten_declared (l, 0);
  const char *name = gantry_aten_has (l, "fill_value") ? "fill_value" : gantry_aten_has (l, "value") ? "value" : "s";
  guint32 value = gantry_aten_in (l, "value");

  if (value != 0)
    {
      value = gantry_builder_convert (l->b, value, (GantryElementType) type->element);
      l->out[0] = value != 0 ? gantry_builder_broadcast_to (l->b, value, type->rank, type->dims) : 0;
    }
  else
    l->out[0] = gantry_aten_splat (l, type, gantry_aten_number (l, name, l->rule->arg));
}

/* start + step * i; of integers in 64 bits. */
static void
arange (AtenLower *l)
{
  const GantryType *type = gantry_aten_declared (l, 0);
  gboolean whole = gantry_element_is_integer ((GantryElementType) type->element);
  double start = gantry_aten_number (l, "start", 0), step = gantry_aten_number (l, "step", 1);
  guint32 x;

  if (type->rank != 1)
    {
      gantry_aten_refuse (l, "its result has %u dimensions", type->rank);
      return;
    }
  x = gantry_aten_iota (l, 1, type->dims, 0);
  if (!whole)
    x = gantry_builder_convert (l->b, x, type->element == GANTRY_F64 ? GANTRY_F64 : GANTRY_F32);
  l->out[0] = gantry_builder_offset (l->b, gantry_builder_scale (l->b, x, step), start);
}

static void
linspace (AtenLower *l)
{
  const GantryType *type = gantry_aten_declared (l, 0);
  double start = gantry_aten_number (l, "start", 0), end = gantry_aten_number (l, "end", 0);
  gint64 n = type->rank == 1 ? type->dims[0] : 0;
  guint32 x = gantry_builder_convert (l->b, gantry_aten_iota (l, 1, &n, 0), type->element == GANTRY_F64 ? GANTRY_F64 : GANTRY_F32);

  l->out[0] = gantry_builder_offset (l->b, gantry_builder_scale (l->b, x, n > 1 ? (end - start) / (double) (n - 1) : 0), start);
}

/* column - row >= diagonal (arg 'u') or <= */
static guint32
triangle (AtenLower *l, const GantryDim *dims, const char *direction, gint64 diagonal)
{
  guint32 distance = gantry_builder_binary_broadcast (l->b, GANTRY_OP_SUBTRACT, gantry_aten_iota (l, 2, dims, 1), gantry_aten_iota (l, 2, dims, 0));

  return gantry_builder_compare (l->b, direction, distance, gantry_builder_int_scalar (l->b, GANTRY_I64, diagonal));
}

static void
tri (AtenLower *l)
{
  guint32 x = gantry_aten_need (l, "self");
  guint rank = gantry_aten_rank (l, x);
  GantryDim dims[2] = { gantry_aten_dim (l, x, (gint64) rank - 2), gantry_aten_dim (l, x, (gint64) rank - 1) };

  if (rank < 2)
    gantry_aten_refuse (l, "a tensor of %u dimensions", rank);
  l->out[0] = gantry_builder_select (l->b, triangle (l, dims, l->rule->text, gantry_aten_int (l, "diagonal", 0)), x, gantry_builder_like (l->b, x, 0));
}

static void
eye (AtenLower *l)
{
  const GantryType *type = gantry_aten_declared (l, 0);

  if (type->rank == 2)
    l->out[0] = triangle (l, type->dims, "EQ", 0);
}

#define MOST_INDICES ((gint64) 1 << 22)

/* The rows, then the columns, of the places of a triangle. */
static void
triangle_places (AtenLower *l)
{
  const GantryType *type = gantry_aten_declared (l, 0);
  gint64 rows = gantry_aten_int (l, "row", 0), columns = gantry_aten_int (l, "col", rows), offset = gantry_aten_int (l, "offset", 0), n = 0;
  gboolean lower = l->rule->arg;
  double *places;

  if (type->rank != 2 || type->dims[0] != 2 || type->dims[1] > MOST_INDICES || rows > MOST_INDICES || columns > MOST_INDICES)
    {
      gantry_aten_refuse (l, "%" G_GINT64_FORMAT " places", type->rank == 2 ? type->dims[1] : 0);
      return;
    }
  places = gantry_arena_new0 (l->arena, double, 2 * type->dims[1] + 1);
  for (gint64 i = 0; i < rows; i++)
    for (gint64 k = lower ? 0 : MAX (i + offset, 0); k < (lower ? MIN (columns, i + offset + 1) : columns) && n < type->dims[1]; k++, n++)
      {
        places[n] = (double) i;
        places[type->dims[1] + n] = (double) k;
      }
  if (n == type->dims[1])
    l->out[0] = gantry_builder_reshape (l->b, gantry_builder_floats (l->b, GANTRY_F64, places, 2 * n), 2, type->dims);
}

/* clang-format off */
#define FILL(name, value) { name, fill, GANTRY_CLASS_MOVEMENT, value, NULL }

const AtenRule gantry_aten_create_rules[] = {
  FILL ("full", 0), FILL ("full_like", 0), FILL ("new_full", 0), FILL ("fill", 0), FILL ("scalar_tensor", 0), FILL ("zeros", 0),
  FILL ("zeros_like", 0), FILL ("new_zeros", 0), FILL ("zero", 0), FILL ("ones", 1), FILL ("ones_like", 1), FILL ("new_ones", 1),
  FILL ("empty", 0), FILL ("empty_like", 0), FILL ("new_empty", 0), FILL ("new_empty_strided", 0), FILL ("empty_strided", 0),
  FILL ("empty_permuted", 0),
  { "arange", arange, GANTRY_CLASS_MOVEMENT, 0, NULL }, { "linspace", linspace, GANTRY_CLASS_MOVEMENT, 0, NULL },
  { "triu", tri, GANTRY_CLASS_ELEMENTWISE, 0, "GE" }, { "tril", tri, GANTRY_CLASS_ELEMENTWISE, 0, "LE" },
  { "eye", eye, GANTRY_CLASS_MOVEMENT, 0, NULL }, { "tril_indices", triangle_places, GANTRY_CLASS_MOVEMENT, TRUE, NULL },
  { "triu_indices", triangle_places, GANTRY_CLASS_MOVEMENT, FALSE, NULL },
  { NULL },
};
/* clang-format on */
