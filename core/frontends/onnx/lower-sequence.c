/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences of tensors, as far as they are a way to split one: SplitToSequence whose elements SequenceAt takes at indices that are
 * known. No value is a sequence in the lowered program: SplitToSequence gives what it splits, and SequenceAt, which finds
 * the node that splits in the imported program, takes its piece of that. */
#include "core/frontends/onnx/onnx-lower.h"

static gboolean
is_operation (const GantryModule *source, const GantryNode *node, const char *name)
{
  const char *has = node != NULL ? gantry_node_op_name (source, node) : "";

  return g_str_has_prefix (has, GANTRY_ONNX_PREFIX) && strcmp (has + strlen (GANTRY_ONNX_PREFIX), name) == 0;
}

/* Whatever else reads a sequence would take the whole tensor for it. */
static void
split_to_sequence (GantryLower *l)
{
  g_autoptr (GantryUses) uses = gantry_uses_new (l->source);
  guint32 at = (guint32) (l->node - l->source->nodes);

  for (guint32 i = uses->first[at]; i < uses->first[at + 1]; i++)
    if (uses->users[i] == G_MAXUINT32 || !is_operation (l->source, &l->source->nodes[uses->users[i]], "SequenceAt"))
      {
        gantry_lower_fail (l, "of a sequence only its elements can be used, by SequenceAt");
        return;
      }
  l->out[0] = gantry_lower_operand (l, 0);
}

/* The literal of a constant of the imported program. (transfer none) (nullable) */
static GantryLiteral *
literal_of (GantryLower *l, const GantryNode *node)
{
  const GantryAttr *value = NULL;

  if (node != NULL && (node->op == GANTRY_OP_CONSTANT || is_operation (l->source, node, "Constant")))
    value = gantry_attrs_find (l->context, node->attrs, "value");
  return value != NULL && value->kind == GANTRY_ATTR_LITERAL ? gantry_context_literal (l->context, value->id) : NULL;
}

typedef struct
{
  gint64 start, size, count;
} Piece;

/* Element @index, counted from the end where it is negative, of an axis of @dim in the parts that @split says (NULL: single ones);
 * FALSE where there is none. */
static gboolean
find_piece (const GantryLiteral *split, gint64 dim, gint64 index, Piece *piece)
{
  gboolean equal = split == NULL || split->type->rank == 0;
  gint64 size = split == NULL ? 1 : equal ? gantry_literal_get_int (split, 0) : 0;

  *piece = (Piece){ .count = equal ? (size > 0 ? (dim + size - 1) / size : 0) : gantry_type_elements (split->type) };
  index += index < 0 ? piece->count : 0;
  if (index < 0 || index >= piece->count)
    return FALSE;
  if (equal)
    {
      piece->start = index * size;
      piece->size = MIN (size, dim - piece->start);
      return TRUE;
    }
  for (gint64 i = 0; i <= index; i++)
    {
      piece->start += piece->size;
      piece->size = gantry_literal_get_int (split, split->splat ? 0 : i);
      if (piece->size < 0 || piece->size > dim - piece->start)
        return FALSE;
    }
  return TRUE;
}

/* Without @keepdims, which counts only where no parts are given, the axis goes. */
static guint32
take (GantryLower *l, guint32 x, gint64 axis, const Piece *piece, gboolean keep)
{
  guint32 y = gantry_builder_slice_axis (l->b, x, axis, piece->start, piece->start + piece->size, 1);
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = 0;

  if (keep)
    return y;
  for (guint i = 0; i < gantry_lower_rank (l, x); i++)
    if (i != axis)
      dims[rank++] = gantry_lower_dim (l, x, i);
  return gantry_builder_reshape (l->b, y, rank, dims);
}

static void
sequence_at (GantryLower *l)
{
  const GantryNode *splits = gantry_node_operand (l->source, l->node, 0);
  gboolean in_parts = splits != NULL && splits->n_operands > 1 && gantry_node_operand_id (l->source, splits, 1) != 0;
  GantryLiteral *split = in_parts ? literal_of (l, gantry_node_operand (l->source, splits, 1)) : NULL;
  guint32 x = gantry_lower_operand (l, 0);
  gsize n = 0;
  const gint64 *index;
  gint64 axis;
  Piece piece;

  if (!is_operation (l->source, splits, "SplitToSequence"))
    {
      gantry_lower_fail (l, "only elements of what SplitToSequence makes are compiled");
      return;
    }
  index = gantry_lower_constant_ints (l, 1, &n, "index");
  axis = gantry_lower_axis (l, gantry_attrs_int (l->context, splits->attrs, "axis", 0), gantry_lower_rank (l, x));
  if (in_parts && split == NULL)
    gantry_lower_fail (l, "the list of extents is computed at run time");
  if (l->failed || index == NULL || n != 1 || axis < 0)
    return;
  if (!find_piece (split, gantry_lower_dim (l, x, axis), *index, &piece))
    gantry_lower_invalid (l, "the sequence has no element %" G_GINT64_FORMAT, *index);
  else
    l->out[0] = take (l, x, axis, &piece, in_parts || gantry_attrs_int (l->context, splits->attrs, "keepdims", 1) != 0);
}

const GantryLowerRule gantry_lower_sequence_rules[] = {
  { "SplitToSequence", split_to_sequence, GANTRY_CLASS_MOVEMENT, 0, 0, NULL },
  { "SequenceAt", sequence_at, GANTRY_CLASS_MOVEMENT, 0, 0, NULL },
  { NULL, NULL, 0, 0, 0, NULL },
};
