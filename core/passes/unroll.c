/* SPDX-License-Identifier: Apache-2.0 */
/* unroll: control flow becomes straight-line code. A scan is written out iteration by iteration, each node with the
 * body's node as its origin and in the scope "<scan>/iteration.<i>/<node>" (or that of the block which `roll` made
 * iteration i of). A branch is decided where its predicate is constant; else both arms are computed and one is selected where they are
 * small and cannot fail. Loops stand in unroll-while.c; what stays control, for the run to decide, is written by unroll-keep.c. */
#include "core/passes/unroll-private.h"
#include "core/graph/operation.h"
#include "core/passes/passes.h"
#include <string.h>

gboolean
_gantry_unroll_refuse (GantryExpander *e, const GantryNode *node, GError **error, GantryError code, const char *why)
{
  g_autofree char *label = gantry_node_label (e->source, node);
  g_autofree char *where = gantry_context_location_text (e->source->context, node->location);

  g_set_error (error, GANTRY_ERROR, (gint) code, "%s '%s' (%s): %s", gantry_node_op_name (e->source, node), label, where, why);
  return FALSE;
}

/* Scan */

typedef struct
{
  GantryExpander *e;
  const GantryNode *node;
  const GantryExpandFrame *frame;
  const GantryExpandValue *operands;
  GantryScan scan;
  const GantryFunction *body;
  GantryExpandBlocks blocks;
  gboolean rolled;              /* blocks are noted */
  GantryExpandValue *state;     /* carries */
  GantryExpandValue *arguments; /* of the body */
  GantryExpandValue *results;
  GantryExpandValue **slices; /* of each y, by slot */
} Unrolling;

static gboolean
iterate (Unrolling *u, gint64 i, GError **error)
{
  const GantryScan *scan = &u->scan;
  g_autofree char *part = g_strdup_printf ("iteration.%" G_GINT64_FORMAT, i);
  GantryExpandFrame place;
  gboolean good;

  _gantry_expand_frame_init (&place, u->frame, u->node, part);
  place.blocks = u->rolled ? &u->blocks : NULL;
  place.iteration = i;
  memcpy (u->arguments, u->state, scan->n_carries * sizeof *u->state);
  for (guint x = 0; x < scan->n_xs; x++)
    {
      _gantry_expand_set_place (u->e, &place);
      u->arguments[scan->n_carries + x] = _gantry_expand_slice (u->e, u->operands[scan->n_carries + x], scan->axes[x], i);
    }
  good = gantry_builder_check (u->e->b, error) && _gantry_expand_body (u->e, u->body, u->arguments, &place, u->results, error);
  _gantry_expand_frame_clear (&place);
  memcpy (u->state, u->results, scan->n_carries * sizeof *u->state);
  for (guint y = 0; y < scan->n_ys; y++)
    u->slices[y][i] = u->results[scan->n_carries + y];
  return good;
}

static gboolean
iterate_all (Unrolling *u, GantryExpandValue *value, GError **error)
{
  const GantryScan *scan = &u->scan;
  guint n = scan->n_carries + scan->n_ys;
  GantryExpandValue *members = u->arguments; /* as many at least */

  memcpy (u->state, u->operands, scan->n_carries * sizeof *u->state);
  memcpy (u->arguments + scan->n_carries + scan->n_xs, u->operands + scan->n_carries + scan->n_xs, scan->n_captures * sizeof *u->state);
  for (gint64 t = 0; t < scan->length; t++)
    if (!iterate (u, scan->reverse ? scan->length - 1 - t : t, error))
      return FALSE;
  memcpy (members, u->state, scan->n_carries * sizeof *members);
  for (guint y = 0; y < scan->n_ys; y++)
    {
      guint32 type = n == 1 ? u->node->type : gantry_context_tuple_member (u->e->source->context, u->node->type, scan->n_carries + y);

      members[scan->n_carries + y] = _gantry_expand_stack (u->e, u->slices[y], scan->length, scan->y_axes[y], type, u->frame, u->node);
    }
  *value = _gantry_expand_together (u->e, members, n);
  return TRUE;
}

static gboolean
is_short_enough (const Unrolling *u, GError **error)
{
  gint64 per_iteration = 1 + (gint64) (u->body->n_nodes - u->body->n_params) + u->scan.n_xs + u->scan.n_ys;
  g_autofree char *why = NULL;

  if (u->scan.length <= u->e->max_nodes / per_iteration)
    return TRUE;
  why = g_strdup_printf ("written out its %" G_GINT64_FORMAT " iterations would have more than %u nodes; make it shorter, or its body"
                         " smaller",
                         u->scan.length, u->e->max_nodes);
  return _gantry_unroll_refuse (u->e, u->node, error, GANTRY_ERROR_TOO_LARGE, why);
}

gboolean
_gantry_unroll_scan (GantryExpander *e, const GantryNode *node, const GantryExpandValue *operands, const GantryExpandFrame *frame, GantryExpandValue *value,
                     GError **error)
{
  Unrolling u = { .e = e, .node = node, .frame = frame, .operands = operands };
  g_autofree GantryExpandValue *values = NULL, *slices = NULL;
  g_autofree GantryExpandValue **rows = NULL;
  guint n;
  gboolean good;

  gantry_scan_of (e->source, node, &u.scan);
  u.body = _gantry_expand_function_of (e, node, "body", error);
  if (u.body == NULL)
    return FALSE;
  if (!is_short_enough (&u, error))
    return FALSE;
  n = MAX (node->n_operands, u.scan.n_carries + u.scan.n_ys) + 1;
  values = g_new0 (GantryExpandValue, 3 * (gsize) n);
  u.state = values;
  u.arguments = values + n;
  u.results = values + 2 * (gsize) n;
  slices = g_new0 (GantryExpandValue, (gsize) u.scan.n_ys * (gsize) u.scan.length + 1);
  rows = g_new (GantryExpandValue *, u.scan.n_ys + 1);
  for (guint y = 0; y < u.scan.n_ys; y++)
    rows[y] = slices + (gsize) y * (gsize) u.scan.length;
  u.slices = rows;
  u.rolled = _gantry_block_table_init (&u.blocks.scopes, e->source->context, node->attrs, GANTRY_BLOCK_SCOPES, u.scan.length);
  _gantry_block_table_init (&u.blocks.names, e->source->context, node->attrs, GANTRY_BLOCK_NAMES, u.scan.length);
  _gantry_block_table_init (&u.blocks.locations, e->source->context, node->attrs, GANTRY_BLOCK_LOCATIONS, u.scan.length);
  good = iterate_all (&u, value, error);
  _gantry_block_table_clear (&u.blocks.scopes);
  _gantry_block_table_clear (&u.blocks.names);
  _gantry_block_table_clear (&u.blocks.locations);
  return good;
}

/* Branches and calls */

GantryExpandValue
_gantry_unroll_select (GantryExpander *e, guint32 predicate, GantryExpandValue a, GantryExpandValue b)
{
  g_autofree GantryExpandValue *members = NULL;
  guint n = _gantry_expand_n_members (e, a);
  const GantryType *type;
  guint32 operands[3] = { predicate };

  if (a == b)
    return a;
  if (n == 0 && gantry_builder_get_type (e->b, _gantry_expand_id (e, a))->kind == GANTRY_TYPE_TUPLE)
    {
      n = gantry_builder_get_type (e->b, _gantry_expand_id (e, a))->rank;
      if (n == 0)
        return a;
    }
  if (n > 0)
    {
      members = g_new (GantryExpandValue, n);
      for (guint i = 0; i < n; i++)
        members[i] = _gantry_unroll_select (e, predicate, _gantry_expand_member (e, a, i), _gantry_expand_member (e, b, i));
      return _gantry_expand_group (e, members, n);
    }
  operands[1] = _gantry_expand_id (e, a);
  operands[2] = _gantry_expand_id (e, b);
  type = gantry_builder_get_type (e->b, operands[1]);
  if (type->rank > 0)
    operands[0] = gantry_builder_broadcast (e->b, predicate, type->rank, type->dims, NULL);
  return gantry_builder_add (e->b, GANTRY_OP_SELECT, operands, 3, 0);
}

gint
_gantry_unroll_truth (GantryExpander *e, guint32 predicate)
{
  GantryLiteral *literal = gantry_builder_constant_of (e->b, predicate);

  return literal != NULL && gantry_type_elements (literal->type) == 1 ? gantry_literal_get_int (literal, 0) != 0 : -1;
}

static gboolean
take_arm (GantryExpander *e, const GantryNode *node, const char *key, const GantryExpandValue *operands, const GantryExpandFrame *frame,
          GantryExpandValue *value, GError **error)
{
  const GantryFunction *arm = _gantry_expand_function_of (e, node, key, error);
  g_autofree GantryExpandValue *results = NULL;
  GantryExpandFrame place;
  gboolean good;

  if (arm == NULL)
    return FALSE;
  results = g_new0 (GantryExpandValue, arm->n_results + 1);
  _gantry_expand_frame_init (&place, frame, node, node->op == GANTRY_OP_IF ? key : NULL);
  good = _gantry_expand_body (e, arm, operands, &place, results, error);
  _gantry_expand_frame_clear (&place);
  if (good)
    *value = _gantry_expand_together (e, results, arm->n_results);
  return good;
}

static gboolean
unroll_if (GantryExpander *e, const GantryNode *node, const GantryExpandValue *operands, const GantryExpandFrame *frame, GantryExpandValue *value,
           GError **error)
{
  guint32 predicate = _gantry_expand_id (e, operands[0]);
  gint truth = _gantry_unroll_truth (e, predicate);
  GantryExpandValue a, b;

  if (truth >= 0)
    return take_arm (e, node, truth ? "then" : "else", operands + 1, frame, value, error);
  if (_gantry_unroll_keeps_branch (e, node, 1))
    return _gantry_unroll_keep (e, node, operands, frame, value, error);
  if ((_gantry_effects_of (e->effects, node) & GANTRY_OP_EFFECT) != 0)
    return _gantry_unroll_refuse (e, node, error, GANTRY_ERROR_UNSUPPORTED,
                                  "its predicate depends on data and an arm has an effect, so that both cannot be computed");
  if (!take_arm (e, node, "then", operands + 1, frame, &a, error) || !take_arm (e, node, "else", operands + 1, frame, &b, error))
    return FALSE;
  _gantry_expand_set_place_of (e, frame, node);
  *value = _gantry_unroll_select (e, predicate, a, b);
  return TRUE;
}

/* The pass */

static gboolean
wants (const GantryExpander *e, const GantryNode *node)
{
  return node->op == GANTRY_OP_SCAN || node->op == GANTRY_OP_WHILE || node->op == GANTRY_OP_IF || node->op == GANTRY_OP_CALL;
}

static gboolean
expand (GantryExpander *e, const GantryNode *node, const GantryExpandValue *operands, const GantryExpandFrame *frame, GantryExpandValue *value, GError **error)
{
  switch (node->op)
    {
    case GANTRY_OP_SCAN:
      return _gantry_unroll_keeps_scan (e, node) ? _gantry_unroll_keep (e, node, operands, frame, value, error)
                                                 : _gantry_unroll_scan (e, node, operands, frame, value, error);
    case GANTRY_OP_WHILE: return _gantry_unroll_while (e, node, operands, frame, value, error);
    case GANTRY_OP_IF: return unroll_if (e, node, operands, frame, value, error);
    default: return take_arm (e, node, "body", operands, frame, value, error);
    }
}

static GantryModule *
run (GantryModule *module, const GantryPassOptions *options, const GantryProgress *progress, GError **error)
{
  GantryExpander expander = { .wants = wants, .expand = expand, .defers = TRUE, .max_nodes = options->max_nodes };

  expander.most_unrolled = options->most_unrolled != 0 ? options->most_unrolled : GANTRY_PASS_MOST_UNROLLED;

  return _gantry_expand (module, &expander, progress, error);
}

const GantryPass gantry_pass_unroll = {
  .name = "unroll",
  .title = "Unroll control flow",
  .description = "Writes scans, loops and branches out as straight-line code where that is not too large.",
  .required = TRUE,
  .needs = GANTRY_PROPERTY_CORE,
  .keeps = GANTRY_PROPERTY_CORE,
  .run = run,
};
