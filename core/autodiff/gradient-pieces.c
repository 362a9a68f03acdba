/* SPDX-License-Identifier: Apache-2.0 */
/* Gradients of slices. What is cut into contiguous pieces (the layers of a stacked parameter) gets the pieces of its gradient put
 * together again: each is made in its place of the whole. Padding each with zeros and adding them takes a value of full size
 * for each of the sums. Pieces that overlap, or leave something out, are padded all the same. */
#include "core/autodiff/gradient-private.h"

typedef struct
{
  const GantryNode *node; /* the slice */
  guint32 cotangent;
  gint64 start, size; /* along the axis */
} Piece;

/* Of one slot. */
typedef struct
{
  guint axis;
  GArray *list; /* Piece, in the order in which they were given */
} Pieces;

static void
pieces_free (gpointer data)
{
  Pieces *pieces = data;

  g_array_unref (pieces->list);
  g_free (pieces);
}

/* The first axis that has more than one element: what is contiguous is cut along that. */
static guint
outer_axis (const GantryType *type)
{
  guint axis = 0;

  while (axis + 1 < type->rank && type->dims[axis] == 1)
    axis++;
  return axis;
}

gboolean
_gantry_diff_give_piece (GantryDiff *d, const GantryNode *node, guint32 slot, guint32 cotangent, const gint64 *start, const gint64 *stride)
{
  const GantryType *x = _gantry_diff_operand_type (d, node, 0), *y = gantry_node_type (d->module, node);
  guint axis = x->rank > 0 ? outer_axis (x) : 0;
  Piece piece = { node, cotangent, 0, 0 };
  Pieces *pieces;

  if (x->rank == 0 || y->dims[axis] == x->dims[axis] || y->dims[axis] == 0)
    return FALSE;
  for (guint i = 0; i < x->rank; i++)
    if ((stride != NULL && stride[i] != 1) || (i != axis && y->dims[i] != x->dims[i]))
      return FALSE;
  piece.start = start[axis];
  piece.size = y->dims[axis];
  if (d->pieces == NULL)
    d->pieces = g_hash_table_new_full (NULL, NULL, NULL, pieces_free);
  pieces = g_hash_table_lookup (d->pieces, GUINT_TO_POINTER (slot));
  if (pieces == NULL)
    {
      pieces = g_new (Pieces, 1);
      *pieces = (Pieces){ axis, g_array_new (FALSE, FALSE, sizeof (Piece)) };
      g_hash_table_insert (d->pieces, GUINT_TO_POINTER (slot), pieces);
    }
  g_array_append_val (pieces->list, piece);
  return TRUE;
}

static int
compare_starts (gconstpointer a, gconstpointer b)
{
  const Piece *x = a, *y = b;

  return x->start < y->start ? -1 : x->start > y->start;
}

/* The whole, where the pieces are all of it and each element is in one. Returns: 0 where they are not */
static guint32
join (GantryDiff *d, const Pieces *pieces, const GantryType *type)
{
  g_autoptr (GArray) sorted = g_array_copy (pieces->list);
  g_autofree guint32 *parts = g_new (guint32, sorted->len);
  gint64 end = 0;

  g_array_sort (sorted, compare_starts);
  for (guint i = 0; i < sorted->len; i++)
    {
      const Piece *piece = &g_array_index (sorted, Piece, i);

      if (piece->start != end)
        return 0;
      end += piece->size;
      parts[i] = piece->cotangent;
    }
  return end == type->dims[pieces->axis] ? gantry_builder_concatenate (d->builder, parts, sorted->len, pieces->axis) : 0;
}

static guint32
pad (GantryDiff *d, const Piece *piece, guint axis, const GantryType *type)
{
  gint64 low[GANTRY_MAX_RANK] = { 0 }, high[GANTRY_MAX_RANK] = { 0 }, interior[GANTRY_MAX_RANK] = { 0 };

  low[axis] = piece->start;
  high[axis] = type->dims[axis] - piece->start - piece->size;
  return gantry_builder_pad (d->builder, piece->cotangent, gantry_builder_scalar (d->builder, type->element, 0), low, high, interior);
}

void
_gantry_diff_join_pieces (GantryDiff *d, const GantryNode *owner, guint32 slot)
{
  const Pieces *pieces = d->pieces != NULL ? g_hash_table_lookup (d->pieces, GUINT_TO_POINTER (slot)) : NULL;
  const Piece *last;
  const GantryType *type;
  guint32 whole;

  if (pieces == NULL)
    return;
  last = &g_array_index (pieces->list, Piece, pieces->list->len - 1);
  type = _gantry_diff_operand_type (d, last->node, 0);
  _gantry_diff_stand_at (d, owner->op != GANTRY_OP_PARAMETER ? owner : last->node);
  whole = join (d, pieces, type);
  if (whole != 0)
    _gantry_diff_accumulate (d, slot, whole);
  for (guint i = 0; whole == 0 && i < pieces->list->len; i++)
    {
      const Piece *piece = &g_array_index (pieces->list, Piece, i);

      if (owner->op == GANTRY_OP_PARAMETER)
        _gantry_diff_stand_at (d, piece->node);
      _gantry_diff_accumulate (d, slot, pad (d, piece, pieces->axis, type));
    }
  g_hash_table_remove (d->pieces, GUINT_TO_POINTER (slot));
}
