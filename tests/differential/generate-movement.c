/* SPDX-License-Identifier: Apache-2.0 */
/* Movement: slices, concatenations, pads, transposes and reshapes, above all of channels and at the edges of blocks. */
#include "tests/differential/generate.h"

/* A range of [0, size): often at a block's edge. */
static void
choose_range (DiffMaker *m, gint64 size, gint64 *start, gint64 *limit)
{
  static const gint64 edges[] = { 0, 4, 8, 16, 24, 32 };

  *start = _diff_chance (m, 50) ? edges[_diff_upto (m, G_N_ELEMENTS (edges))] : _diff_upto (m, (gint) size);
  if (*start >= size)
    *start = 0;
  *limit = *start + (_diff_chance (m, 50) ? edges[1 + _diff_upto (m, G_N_ELEMENTS (edges) - 1)] : 1 + _diff_upto (m, (gint) (size - *start)));
  *limit = MIN (*limit, size);
}

static guint32
write_slice (DiffMaker *m, guint32 x)
{
  const GantryType *type = _diff_type_of (m, x);
  gint64 start[GANTRY_MAX_RANK] = { 0 }, limit[GANTRY_MAX_RANK], stride[GANTRY_MAX_RANK];
  gint one = type->rank > 1 && _diff_chance (m, 60) ? 1 : _diff_upto (m, (gint) type->rank);

  for (guint i = 0; i < type->rank; i++)
    {
      limit[i] = type->dims[i];
      stride[i] = 1;
      if ((gint) i == one || _diff_chance (m, 15))
        {
          choose_range (m, type->dims[i], &start[i], &limit[i]);
          stride[i] = _diff_chance (m, 15) ? 2 : 1;
        }
    }
  return gantry_builder_slice (m->b, x, start, limit, stride);
}

/* Values that differ in dimension @axis alone, @x among them. */
static guint32
write_concatenation (DiffMaker *m, guint32 x)
{
  const GantryType *type = _diff_type_of (m, x);
  guint32 parts[4] = { x };
  gint64 axis = type->rank > 1 && _diff_chance (m, 70) ? 1 : _diff_upto (m, (gint) type->rank);
  guint n = 1, most = 2 + (guint) _diff_upto (m, 3);

  for (guint tries = 0; tries < 8 && n < most; tries++)
    {
      guint32 y = _diff_pick (m, _diff_is_float);
      const GantryType *other = _diff_type_of (m, y);
      gboolean fits = other->rank == type->rank && other->element == type->element;

      for (guint i = 0; fits && i < type->rank; i++)
        fits = i == axis || other->dims[i] == type->dims[i];
      if (fits)
        parts[n++] = y;
    }
  return gantry_builder_concatenate (m->b, parts, n, axis);
}

static guint32
write_pad (DiffMaker *m, guint32 x)
{
  const GantryType *type = _diff_type_of (m, x);
  gint64 low[GANTRY_MAX_RANK] = { 0 }, high[GANTRY_MAX_RANK] = { 0 }, interior[GANTRY_MAX_RANK] = { 0 };

  for (guint i = 0; i < type->rank; i++)
    if (_diff_chance (m, 60))
      {
        low[i] = _diff_upto (m, 4) - (type->dims[i] > 1);
        high[i] = _diff_upto (m, 4) - (type->dims[i] > 2);
        interior[i] = _diff_chance (m, 15);
      }
  return gantry_builder_pad (m->b, x, gantry_builder_scalar (m->b, (GantryElementType) type->element, _diff_chance (m, 60) ? 0 : 0.5), low, high, interior);
}

static guint32
write_transpose (DiffMaker *m, guint32 x)
{
  const GantryType *type = _diff_type_of (m, x);
  gint64 permutation[GANTRY_MAX_RANK];

  for (guint i = 0; i < type->rank; i++)
    permutation[i] = i;
  for (guint i = type->rank; i > 1; i--)
    {
      guint k = (guint) _diff_upto (m, (gint) i);
      gint64 kept = permutation[i - 1];

      permutation[i - 1] = permutation[k];
      permutation[k] = kept;
    }
  return gantry_builder_transpose (m->b, x, permutation);
}

/* Dimensions merged, or one split into factors. */
static guint32
write_reshape (DiffMaker *m, guint32 x)
{
  const GantryType *type = _diff_type_of (m, x);
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = 0, at;

  if (type->rank == 0 || _diff_chance (m, 15))
    {
      dims[0] = _diff_elements (m, x);
      return gantry_builder_reshape (m->b, x, 1, dims);
    }
  at = (guint) _diff_upto (m, (gint) type->rank);
  for (guint i = 0; i < type->rank; i++)
    if (i == at && type->rank < 6 && type->dims[i] % 2 == 0 && _diff_chance (m, 60))
      {
        dims[rank++] = _diff_chance (m, 50) ? 2 : type->dims[i] / 2;
        dims[rank] = type->dims[i] / dims[rank - 1];
        rank++;
      }
    else if (i == at + 1)
      dims[rank - 1] *= type->dims[i];
    else
      dims[rank++] = type->dims[i];
  return gantry_builder_reshape (m->b, x, rank, dims);
}

static guint32
write_reverse (DiffMaker *m, guint32 x)
{
  gint64 dimension = _diff_upto (m, (gint) _diff_type_of (m, x)->rank);
  GantryAttrList *attrs = gantry_attr_list_new (m->context);

  gantry_attr_list_set_ints (attrs, "dimensions", &dimension, 1);
  return gantry_builder_add (m->b, GANTRY_OP_REVERSE, &x, 1, gantry_attr_list_end (attrs));
}

static guint32
write_broadcast (DiffMaker *m, guint32 x)
{
  const GantryType *type = _diff_type_of (m, x);
  GantryDim dims[GANTRY_MAX_RANK];
  gint64 map[GANTRY_MAX_RANK];
  guint at = (guint) _diff_upto (m, (gint) type->rank + 1);

  for (guint i = 0; i < type->rank; i++)
    {
      map[i] = i + (i >= at);
      dims[map[i]] = type->dims[i];
    }
  dims[at] = 2;
  return gantry_builder_broadcast (m->b, x, type->rank + 1, dims, map);
}

static gboolean
has_dimensions (const GantryType *type)
{
  return type->rank > 0 && type->rank < 6;
}

void
_diff_write_movement (DiffMaker *m)
{
  for (gint n = 1 + _diff_upto (m, 2); n > 0; n--)
    {
      guint32 x = _diff_chance (m, 90) ? _diff_pick_float (m) : _diff_pick (m, has_dimensions);

      if (x == 0 || !has_dimensions (_diff_type_of (m, x)))
        x = _diff_pick_image (m);
      switch (_diff_upto (m, 10))
        {
        case 0: _diff_put (m, write_pad (m, x)); break;
        case 1:
        case 2: _diff_put (m, write_transpose (m, x)); break;
        case 3:
        case 4: _diff_put (m, write_reshape (m, x)); break;
        case 5: _diff_put (m, write_reverse (m, x)); break;
        case 6: _diff_put (m, write_broadcast (m, x)); break;
        case 7: _diff_put (m, write_slice (m, x)); break;
        default: _diff_put (m, write_concatenation (m, x)); break;
        }
    }
}
