/* SPDX-License-Identifier: Apache-2.0 */
/* Values that are not nodes: groups (what a tuple holds), stacks (slices side by side) and deferred nodes of the source
 * that are written only when somebody wants them as a whole. A scan that cuts what another scan has stacked, as the
 * backward pass of a loop does, so gets the very values, and nothing of the stack is left. */
#include "core/graph/operation.h"
#include "core/passes/expand-private.h"
#include <string.h>

/* The expression of a concatenate grows with its operands and has a limit: a longer stack is built in steps. */
#define MOST_PIECES 1024
/* Users with more operands than this are not looked at slot by slot. */
#define MOST_SLOTS 4096

typedef enum
{
  GROUP,
  STACK,
  DEFERRED,
} Kind;

typedef struct
{
  Kind kind;
  guint32 id;      /* once there is a node for it */
  GArray *members; /* GantryExpandValue: of a group; of a stack its slices */
  gint64 axis;
  guint32 type;
  guint32 scope, location, origin;
  GantryPhase phase;
  const GantryNode *node; /* of a deferred one */
} Special;

static void
special_free (gpointer data)
{
  Special *special = data;

  if (special->members != NULL)
    g_array_unref (special->members);
  g_free (special);
}

void
_gantry_expand_values_init (GantryExpander *e)
{
  e->specials = g_ptr_array_new_with_free_func (special_free);
  e->unit_stacks = g_hash_table_new (NULL, NULL);
  e->values = g_new0 (GantryExpandValue, e->source->n_index + 1);
}

void
_gantry_expand_values_clear (GantryExpander *e)
{
  g_ptr_array_unref (e->specials);
  g_hash_table_unref (e->unit_stacks);
  g_free (e->values);
  g_free (e->deferred);
}

/* Returns: (nullable) */
static Special *
special_of (GantryExpander *e, GantryExpandValue value)
{
  return (value & GANTRY_EXPAND_SPECIAL) != 0 ? g_ptr_array_index (e->specials, value & ~GANTRY_EXPAND_SPECIAL) : NULL;
}

static Special *
special_new (GantryExpander *e, Kind kind, GantryExpandValue *value)
{
  Special *special = g_new0 (Special, 1);

  special->kind = kind;
  *value = GANTRY_EXPAND_SPECIAL | e->specials->len;
  g_ptr_array_add (e->specials, special);
  return special;
}

GantryExpandValue
_gantry_expand_value_of (GantryExpander *e, guint32 old_id)
{
  if (old_id != 0 && e->values[old_id] != 0)
    return e->values[old_id];
  return gantry_rewriter_map (e->rewriter, old_id);
}

/* Groups */

GantryExpandValue
_gantry_expand_group (GantryExpander *e, const GantryExpandValue *members, guint n)
{
  GantryExpandValue value;
  Special *group = special_new (e, GROUP, &value);

  group->members = g_array_new (FALSE, FALSE, sizeof *members);
  g_array_append_vals (group->members, members, n);
  return value;
}

GantryExpandValue
_gantry_expand_together (GantryExpander *e, const GantryExpandValue *members, guint n)
{
  return n == 1 ? members[0] : _gantry_expand_group (e, members, n);
}

guint
_gantry_expand_n_members (GantryExpander *e, GantryExpandValue value)
{
  const Special *special = special_of (e, value);

  return special != NULL && special->kind == GROUP ? special->members->len : 0;
}

GantryExpandValue
_gantry_expand_member (GantryExpander *e, GantryExpandValue value, guint i)
{
  const Special *special = special_of (e, value);
  const GantryNode *node;
  guint32 id;

  if (special != NULL && special->kind == GROUP)
    {
      if (i < special->members->len)
        return g_array_index (special->members, GantryExpandValue, i);
      gantry_builder_fail (e->b, GANTRY_ERROR_INVALID, "there is no member %u", i);
      return 0;
    }
  id = _gantry_expand_id (e, value);
  node = gantry_builder_node (e->b, id);
  return node != NULL && node->op == GANTRY_OP_TUPLE ? gantry_builder_operand_of (e->b, id, i) : gantry_builder_result (e->b, id, i);
}

/* Stacks */

GantryExpandValue
_gantry_expand_stack (GantryExpander *e, const GantryExpandValue *slices, gint64 n, gint64 axis, guint32 type, const GantryExpandFrame *frame,
                      const GantryNode *node)
{
  GantryExpandValue value;
  Special *stack = special_new (e, STACK, &value);
  GantryExpandFrame place;

  stack->members = g_array_new (FALSE, FALSE, sizeof *slices);
  g_array_append_vals (stack->members, slices, (guint) n);
  stack->axis = axis;
  stack->type = type;
  /* Only now is it known where it stands; it may be made much later, or never. */
  _gantry_expand_frame_init (&place, frame, node, NULL);
  stack->phase = place.phase;
  stack->scope = _gantry_expand_scope_of (e, frame, node);
  stack->location = node->location;
  stack->origin = node->id;
  return value;
}

static void
set_place_of_stack (GantryExpander *e, const Special *stack)
{
  gantry_builder_set_place (e->b, stack->scope, stack->location);
  gantry_builder_set_phase (e->b, stack->phase);
  gantry_builder_set_origins (e->b, &stack->origin, 1);
}

/* Joins @n values; many of them in steps. */
static guint32
concatenate (GantryExpander *e, const guint32 *pieces, guint n, gint64 axis)
{
  g_autoptr (GArray) parts = NULL;

  if (n == 1)
    return pieces[0];
  if (n <= MOST_PIECES)
    return gantry_builder_concatenate (e->b, pieces, n, axis);
  parts = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (guint first = 0; first < n; first += MOST_PIECES)
    {
      guint32 part = concatenate (e, pieces + first, MIN (n - first, MOST_PIECES), axis);

      g_array_append_val (parts, part);
    }
  return concatenate (e, (const guint32 *) (gpointer) parts->data, parts->len, axis);
}

/* A stack is made on the device; one that lives elsewhere by its type is copied to there. */
static guint32
move_stack (GantryExpander *e, guint32 id, guint memory)
{
  const GantryType *type = id != 0 ? gantry_builder_get_type (e->b, id) : NULL;
  GantryAttrList *attrs;

  if (type == NULL || type->kind != GANTRY_TYPE_TENSOR || type->memory == memory)
    return id;
  attrs = gantry_attr_list_new (e->source->context);
  gantry_attr_list_set_string (attrs, "memory", gantry_memory_kind_name ((GantryMemoryKind) memory));
  return gantry_builder_add (e->b, GANTRY_OP_COPY, &id, 1, gantry_attr_list_end (attrs));
}

static guint32
build_stack (GantryExpander *e, Special *stack)
{
  guint n = stack->members->len;
  g_autofree guint32 *pieces = g_new (guint32, n + 1);
  const GantryType *type = gantry_context_type (e->source->context, stack->type);
  GantryDim dims[GANTRY_MAX_RANK];

  for (guint i = 0; i < n; i++)
    pieces[i] = _gantry_expand_id (e, g_array_index (stack->members, GantryExpandValue, i));
  set_place_of_stack (e, stack);
  if (type->kind != GANTRY_TYPE_TENSOR || stack->axis >= type->rank)
    {
      gantry_builder_fail (e->b, GANTRY_ERROR_INVALID, "what is stacked is not a tensor");
      return 0;
    }
  if (n == 0)
    return move_stack (e, gantry_builder_splat (e->b, (GantryElementType) type->element, 0, type->rank, type->dims), type->memory);
  for (guint d = 0; d < type->rank; d++)
    dims[d] = d == stack->axis ? 1 : type->dims[d];
  for (guint i = 0; i < n; i++)
    pieces[i] = gantry_builder_reshape (e->b, pieces[i], type->rank, dims);
  return move_stack (e, concatenate (e, pieces, n, stack->axis), type->memory);
}

/* Nodes */

static guint32
write_deferred (GantryExpander *e, const GantryNode *node)
{
  for (guint i = 0; i < node->n_operands; i++)
    {
      const GantryNode *operand = gantry_node_operand (e->source, node, i);

      if (e->values[operand->id] != 0)
        gantry_rewriter_replace (e->rewriter, operand, _gantry_expand_id (e, e->values[operand->id]));
    }
  return gantry_rewriter_keep (e->rewriter, node);
}

guint32
_gantry_expand_id (GantryExpander *e, GantryExpandValue value)
{
  Special *special = special_of (e, value);
  g_autofree guint32 *ids = NULL;

  if (special == NULL)
    return value;
  if (special->id != 0)
    return special->id;
  if (special->kind == DEFERRED)
    special->id = write_deferred (e, special->node);
  else if (special->kind == STACK)
    special->id = build_stack (e, special);
  else
    {
      ids = g_new (guint32, special->members->len + 1);
      for (guint i = 0; i < special->members->len; i++)
        ids[i] = _gantry_expand_id (e, g_array_index (special->members, GantryExpandValue, i));
      special->id = gantry_builder_add (e->b, GANTRY_OP_TUPLE, ids, special->members->len, 0);
    }
  return special->id;
}

/* Deferring */

/* TRUE when @node, a scan, cuts all that it takes of @id along @axis. */
static gboolean
scan_cuts (GantryExpander *e, const GantryNode *node, guint32 id, gint64 axis, gint64 length)
{
  GantryScan scan;

  if (node->op != GANTRY_OP_SCAN || node->n_operands > MOST_SLOTS)
    return FALSE;
  gantry_scan_of (e->source, node, &scan);
  for (guint i = 0; i < node->n_operands; i++)
    if (gantry_node_operand_id (e->source, node, i) == id && (i < scan.n_carries || i >= scan.n_carries + scan.n_xs || scan.axes[i - scan.n_carries] != axis))
      return FALSE;
  return scan.length == length;
}

/* A concatenate of pieces of size 1, used by scans that cut it into them again. */
static gboolean
is_cut_stack (GantryExpander *e, const GantryNode *node)
{
  gint64 axis = gantry_attrs_int (e->source->context, node->attrs, "dimension", -1);
  guint32 position = gantry_module_position (e->source, node);
  guint32 first = e->uses->first[position], last = e->uses->first[position + 1];

  if (node->op != GANTRY_OP_CONCATENATE || !gantry_type_is_static (gantry_node_type (e->source, node)) || first == last)
    return FALSE;
  for (guint i = 0; i < node->n_operands; i++)
    if (gantry_node_operand_type (e->source, node, i)->dims[axis] != 1)
      return FALSE;
  for (guint32 i = first; i < last; i++)
    if (e->uses->users[i] == G_MAXUINT32 || !scan_cuts (e, &e->source->nodes[e->uses->users[i]], node->id, axis, node->n_operands))
      return FALSE;
  return TRUE;
}

static gboolean
only_in_cut_stacks (GantryExpander *e, guint32 position)
{
  guint32 first = e->uses->first[position], last = e->uses->first[position + 1];

  for (guint32 i = first; i < last; i++)
    if (e->uses->users[i] == G_MAXUINT32 || !e->deferred[e->uses->users[i]] || e->source->nodes[e->uses->users[i]].op != GANTRY_OP_CONCATENATE)
      return FALSE;
  return first < last;
}

void
_gantry_expand_mark_deferred (GantryExpander *e)
{
  e->deferred = g_new0 (guint8, e->source->n_nodes + 1);
  for (guint32 i = e->source->n_nodes; i-- > 0;)
    {
      const GantryNode *node = &e->source->nodes[i];

      if (node->op == GANTRY_OP_CONCATENATE)
        e->deferred[i] = is_cut_stack (e, node);
      else if (node->op == GANTRY_OP_RESHAPE && gantry_type_is_static (gantry_node_type (e->source, node)))
        e->deferred[i] = only_in_cut_stacks (e, i);
    }
}

GantryExpandValue
_gantry_expand_defer (GantryExpander *e, const GantryNode *node)
{
  GantryExpandValue value, inner;
  Special *special;

  /* One deferred value never waits for a chain of others. */
  for (guint i = 0; i < node->n_operands; i++)
    {
      const GantryNode *operand = gantry_node_operand (e->source, node, i);
      const Special *waiting = special_of (e, e->values[operand->id]);

      if (waiting == NULL || waiting->kind != DEFERRED || (waiting->node->op == GANTRY_OP_RESHAPE && node->op != GANTRY_OP_RESHAPE))
        continue;
      inner = e->values[operand->id];
      gantry_rewriter_replace (e->rewriter, operand, _gantry_expand_id (e, inner));
    }
  special = special_new (e, DEFERRED, &value);
  special->node = node;
  return value;
}

/* Cutting */

/* Piece @i of a deferred concatenate: what was reshaped to be joined is taken as it was before. */
static GantryExpandValue
piece_of (GantryExpander *e, const GantryNode *node, gint64 i)
{
  const GantryNode *piece = gantry_node_operand (e->source, node, (guint) i);
  const Special *special = special_of (e, e->values[piece->id]);

  if (special != NULL && special->kind == DEFERRED && special->id == 0 && piece->op == GANTRY_OP_RESHAPE)
    return _gantry_expand_value_of (e, gantry_node_operand_id (e->source, piece, 0));
  return _gantry_expand_value_of (e, piece->id);
}

/* The same for a concatenate that is written already, of @n pieces; 0 when it is something else. */
static guint32
written_piece (GantryExpander *e, guint32 id, gint64 axis, gint64 n, gint64 i)
{
  const GantryNode *node = gantry_builder_node (e->b, id);
  gpointer known;
  gboolean unit;

  if (node == NULL || node->op != GANTRY_OP_CONCATENATE || node->n_operands != n || gantry_attrs_int (e->source->context, node->attrs, "dimension", -1) != axis)
    return 0;
  known = g_hash_table_lookup (e->unit_stacks, GUINT_TO_POINTER (id));
  if (known == NULL)
    {
      unit = TRUE;
      for (guint j = 0; j < n && unit; j++)
        unit = gantry_builder_get_type (e->b, gantry_builder_operand_of (e->b, id, j))->dims[axis] == 1;
      known = GUINT_TO_POINTER (unit ? 2 : 1);
      g_hash_table_insert (e->unit_stacks, GUINT_TO_POINTER (id), known);
    }
  return GPOINTER_TO_UINT (known) == 2 ? gantry_builder_operand_of (e->b, id, (guint) i) : 0;
}

/* @id with the dimensions @dims; what was reshaped from that is taken as it was before. */
static guint32
reshaped (GantryExpander *e, guint32 id, guint rank, const GantryDim *dims)
{
  const GantryNode *node = gantry_builder_node (e->b, id);
  guint32 before = node != NULL && node->op == GANTRY_OP_RESHAPE ? gantry_builder_operand_of (e->b, id, 0) : 0;
  const GantryType *type = gantry_builder_get_type (e->b, before);

  if (before != 0 && type->rank == rank && memcmp (type->dims, dims, rank * sizeof *dims) == 0)
    return before;
  return gantry_builder_reshape (e->b, id, rank, dims);
}

static guint32
cut_node (GantryExpander *e, guint32 id, gint64 axis, gint64 i)
{
  const GantryType *type = gantry_builder_get_type (e->b, id);
  gint64 start[GANTRY_MAX_RANK], limit[GANTRY_MAX_RANK], stride[GANTRY_MAX_RANK];
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = 0;
  guint32 piece;

  if (!gantry_type_is_static (type) || axis >= type->rank)
    {
      gantry_builder_fail (e->b, GANTRY_ERROR_UNSUPPORTED, "the size of what is walked along is not known");
      return 0;
    }
  for (guint d = 0; d < type->rank; d++)
    {
      start[d] = d == axis ? i : 0;
      limit[d] = d == axis ? i + 1 : type->dims[d];
      stride[d] = 1;
      if (d != axis)
        dims[rank++] = type->dims[d];
    }
  piece = written_piece (e, id, axis, type->dims[axis], i);
  if (piece == 0)
    piece = gantry_builder_slice (e->b, id, start, limit, stride);
  return reshaped (e, piece, rank, dims);
}

GantryExpandValue
_gantry_expand_slice (GantryExpander *e, GantryExpandValue value, gint64 axis, gint64 i)
{
  const Special *special = special_of (e, value);
  const GantryType *type;
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = 0;
  guint32 id;

  if (special != NULL && special->kind == STACK && special->axis == axis)
    return g_array_index (special->members, GantryExpandValue, i);
  if (special != NULL && special->kind == DEFERRED && special->id == 0 && special->node->op == GANTRY_OP_CONCATENATE)
    {
      type = gantry_node_type (e->source, special->node);
      for (guint d = 0; d < type->rank; d++)
        if (d != axis)
          dims[rank++] = type->dims[d];
      id = _gantry_expand_id (e, piece_of (e, special->node, i));
      return reshaped (e, id, rank, dims);
    }
  return cut_node (e, _gantry_expand_id (e, value), axis, i);
}

/* A slice node that takes one slice of a stack whole: that slice, with the dimension put in again. */
GantryExpandValue
_gantry_expand_cut (GantryExpander *e, const GantryNode *node, GantryExpandValue operand)
{
  const Special *stack = special_of (e, operand);
  const GantryType *whole = gantry_node_operand_type (e->source, node, 0), *type = gantry_node_type (e->source, node);
  const gint64 *start;
  guint32 id;
  gsize n;

  if (stack == NULL || stack->kind != STACK || !gantry_type_is_static (type) || stack->axis >= type->rank)
    return 0;
  start = gantry_attrs_ints (e->source->context, node->attrs, "start_indices", &n);
  for (guint d = 0; d < type->rank; d++)
    if (type->dims[d] != (d == stack->axis ? 1 : whole->dims[d]))
      return 0;
  id = _gantry_expand_id (e, g_array_index (stack->members, GantryExpandValue, start[stack->axis]));
  _gantry_expand_set_place_of (e, NULL, node);
  return reshaped (e, id, type->rank, type->dims);
}
