/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of values that must have one layout, by union and find; a class is blocked when all of its
 * values can be and a convolution gains from it. */
#include "core/kernels/layout-private.h"
#include "core/expr/storage.h"
#include "core/graph/operation.h"
#include "core/graph/region.h"
#include "core/kernels/library/library.h"

typedef struct
{
  const GantryModule *module;
  const GantryFunction *entry;
  guint block;
  GantryConvolves by;
  guint32 *parent; /* per position in the entry function */
  guint8 *plain;   /* must not be blocked */
  guint8 *gains;
} Choice;

static guint32
find (Choice *c, guint32 i)
{
  while (c->parent[i] != i)
    {
      c->parent[i] = c->parent[c->parent[i]];
      i = c->parent[i];
    }
  return i;
}

static void
join (Choice *c, guint32 i, guint32 j)
{
  i = find (c, i);
  j = find (c, j);
  c->parent[MAX (i, j)] = MIN (i, j);
}

static guint32
place_of (const Choice *c, const GantryNode *node)
{
  return gantry_module_position (c->module, node) - c->entry->first_node;
}

static gboolean
has_element (const Choice *c, const GantryType *type)
{
  return c->by == GANTRY_CONVOLVES_GPU ? type->element == GANTRY_F16 || type->element == GANTRY_BF16 : type->element == GANTRY_F32;
}

static gboolean
has_blocks (const Choice *c, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (c->module, node);

  return gantry_type_is_static (type) && has_element (c, type) && type->rank >= 3 && type->rank <= 5 && gantry_type_elements (type) > 0
         && type->dims[1] % c->block == 0;
}

/* A slice of other dimensions, or another shape of them: what a block has side by side stays so. */
static gboolean
leaves_channels (const Choice *c, const GantryNode *node)
{
  const GantryType *from = gantry_node_operand_type (c->module, node, 0), *to = gantry_node_type (c->module, node);

  return (node->op == GANTRY_OP_SLICE || node->op == GANTRY_OP_RESHAPE) && from->rank > 2 && to->rank > 2 && from->dims[0] == to->dims[0]
         && from->dims[1] == to->dims[1];
}

/* Kernels that are generated take any layout. */
static gboolean
is_generated (const GantryNode *node)
{
  const GantryOpInfo *info = gantry_op_info (node->op);

  return info != NULL && !(info->flags & (GANTRY_OP_STRUCTURE | GANTRY_OP_VIEW | GANTRY_OP_EXTERN)) && node->op != GANTRY_OP_COPY
         && node->op != GANTRY_OP_DOT_GENERAL;
}

/* A view has the layout of what it is a view of, where that says the same in both shapes. */
static gboolean
takes_blocks (const Choice *c, const GantryNode *node)
{
  return is_generated (node) || (node->op == GANTRY_OP_RESHAPE && leaves_channels (c, node));
}

/* The library has blocked code where blocks do not cut through groups: one group, whole blocks in each, or one channel
 * in each. It has none that leaves padding out of a sum. */
static gboolean
library_gains_from_blocks (const Choice *c, const GantryNode *node)
{
  gint64 groups = gantry_attrs_int (c->module->context, node->attrs, "feature_group_count", 1);
  const GantryType *weights = gantry_node_operand_type (c->module, node, 1);

  if (gantry_attrs_int (c->module->context, node->attrs, "skip_padding", 0) != 0)
    return FALSE;
  if (groups == 1)
    return !gantry_node_has_large_window (c->module, node);
  if (gantry_library_is_small_products (c->module, node))
    return FALSE;
  if (weights->dims[1] == 1 && weights->dims[0] == groups)
    return TRUE;
  return weights->dims[1] % c->block == 0 && weights->dims[0] / groups % c->block == 0;
}

static gint64
int_at (const Choice *c, const GantryNode *node, const char *key, gsize i, gint64 fallback)
{
  gsize n;
  const gint64 *ints = gantry_attrs_ints (c->module->context, node->attrs, key, &n);

  return i < n ? ints[i] : fallback;
}

static gboolean
moves_channels_apart (const Choice *c, const GantryNode *node)
{
  for (guint i = 0; i < node->n_operands; i++)
    if (gantry_node_operand_type (c->module, node, i)->dims[1] % c->block != 0)
      return TRUE;
  return FALSE;
}

/* Tiles of a contraction on a GPU are fetched from wherever a block of channels lies, whichever of the sum's variables it is. */
static gboolean
is_gpu_contraction (const Choice *c, const GantryNode *node)
{
  const GantryFunction *body = gantry_node_fusion_body (c->module, node);

  for (guint32 i = 0; c->by == GANTRY_CONVOLVES_GPU && body != NULL && i < body->n_nodes; i++)
    {
      GantryOp op = c->module->nodes[body->first_node + i].op;

      if (op == GANTRY_OP_CONVOLUTION || op == GANTRY_OP_DOT_GENERAL)
        return TRUE;
    }
  return FALSE;
}

/* A fused body that moves channels of whole values otherwise than by repeating them. */
static gboolean
body_moves (const Choice *c, const GantryNode *node)
{
  const GantryFunction *body = gantry_node_fusion_body (c->module, node);
  gint64 elements = gantry_type_elements (gantry_node_type (c->module, node));

  if (is_gpu_contraction (c, node))
    return FALSE;
  for (guint32 i = 0; body != NULL && i < body->n_nodes; i++)
    {
      const GantryNode *inner = &c->module->nodes[body->first_node + i];

      if ((inner->op == GANTRY_OP_RESHAPE || inner->op == GANTRY_OP_TRANSPOSE || inner->op == GANTRY_OP_SLICE || inner->op == GANTRY_OP_REVERSE)
          && !leaves_channels (c, inner) && gantry_type_elements (gantry_node_operand_type (c->module, inner, 0)) * 2 > elements)
        return TRUE;
    }
  return FALSE;
}

/* TRUE when neighbours in a block would come from different ones: each lane would be fetched by itself. */
static gboolean
breaks_blocks (const Choice *c, const GantryNode *node)
{
  switch (node->op)
    {
    case GANTRY_OP_REDUCE_WINDOW:
      return int_at (c, node, "window_dimensions", 1, 1) != 1 || int_at (c, node, "window_strides", 1, 1) != 1 || int_at (c, node, "padding", 2, 0) != 0;
    case GANTRY_OP_PAD: return int_at (c, node, "edge_padding_low", 1, 0) % c->block != 0 || int_at (c, node, "interior_padding", 1, 0) != 0;
    case GANTRY_OP_SLICE: return int_at (c, node, "start_indices", 1, 0) % c->block != 0 || int_at (c, node, "strides", 1, 1) != 1;
    case GANTRY_OP_CONCATENATE: return gantry_attrs_int (c->module->context, node->attrs, "dimension", 0) == 1 && moves_channels_apart (c, node);
    case GANTRY_OP_FUSION: return body_moves (c, node);
    case GANTRY_OP_REVERSE:
    case GANTRY_OP_GATHER:
    case GANTRY_OP_DYNAMIC_SLICE:
    case GANTRY_OP_DYNAMIC_UPDATE_SLICE: return TRUE;
    default: return FALSE;
    }
}

/* The channels of the operand are those of the result, so that blocks go through. */
static gboolean
keeps_channels (const Choice *c, const GantryNode *node, const GantryNode *operand)
{
  const GantryOpInfo *info = gantry_op_info (node->op);
  const GantryType *from = gantry_node_type (c->module, operand), *to = gantry_node_type (c->module, node);

  switch (node->op)
    {
    case GANTRY_OP_REDUCE_WINDOW:
    case GANTRY_OP_PAD:
    case GANTRY_OP_SLICE:
    case GANTRY_OP_CONCATENATE: return from->rank == to->rank;
    default: return info != NULL && (node->op == GANTRY_OP_FUSION || (info->flags & GANTRY_OP_ELEMENTWISE) != 0) && gantry_type_same_shape (from, to);
    }
}

/* Between two convolutions all values gain, or each step would change the layout. */
static void
pass_on (Choice *c, const GantryNode *node)
{
  guint32 place = place_of (c, node);

  if (c->plain[find (c, place)])
    return;
  for (guint i = 0; i < node->n_operands; i++)
    {
      const GantryNode *operand = gantry_node_operand (c->module, node, i);
      guint32 other = place_of (c, operand);

      if (other < c->entry->n_nodes && c->gains[find (c, other)] && !c->plain[find (c, other)] && keeps_channels (c, node, operand))
        c->gains[find (c, place)] = TRUE;
    }
}

/* A convolution on tensor cores, by itself or in the body of a fusion, stores what it computes in blocks as well as in rows. What it
 * reads gains where a block of channels of one group is 16 bytes of the sum's depth. */
static void
look_at_gpu_convolution (Choice *c, const GantryNode *node, const GantryFunction *body, const GantryNode *convolution)
{
  const GantryNode *input = gantry_node_operand (c->module, convolution, 0);
  const GantryType *weights = gantry_node_operand_type (c->module, convolution, 1);

  if (!has_element (c, weights) || gantry_node_type (c->module, input)->element != weights->element)
    return;
  c->gains[place_of (c, node)] = TRUE;
  if (body != NULL)
    input = input->op == GANTRY_OP_PARAMETER ? gantry_node_operand (c->module, node, gantry_module_position (c->module, input) - body->first_node) : NULL;
  if (input != NULL && weights->dims[1] % c->block == 0 && place_of (c, input) < c->entry->n_nodes)
    c->gains[place_of (c, input)] = TRUE;
}

static void
look_for_gpu (Choice *c, const GantryNode *node)
{
  const GantryFunction *body = gantry_node_fusion_body (c->module, node);

  if (node->op == GANTRY_OP_CONVOLUTION)
    look_at_gpu_convolution (c, node, NULL, node);
  for (guint32 i = 0; body != NULL && i < body->n_nodes; i++)
    if (c->module->nodes[body->first_node + i].op == GANTRY_OP_CONVOLUTION)
      look_at_gpu_convolution (c, node, body, &c->module->nodes[body->first_node + i]);
}

static void
look_at (Choice *c, const GantryNode *node)
{
  guint32 place = place_of (c, node);
  gboolean library = c->by == GANTRY_CONVOLVES_LIBRARY, convolution = library && node->op == GANTRY_OP_CONVOLUTION;
  gboolean gains = convolution && library_gains_from_blocks (c, node), breaks;

  c->plain[place] |= !takes_blocks (c, node) || !has_blocks (c, node) || (convolution && !gains);
  /* What has no blocks of its own may still read some. */
  breaks = !c->plain[place] ? breaks_blocks (c, node) : node->op == GANTRY_OP_FUSION && body_moves (c, node);
  c->plain[place] |= breaks;

  c->gains[place] |= gains;
  if (!library && !breaks)
    look_for_gpu (c, node);
  for (guint i = 0; i < node->n_operands; i++)
    {
      const GantryNode *operand = gantry_node_operand (c->module, node, i);
      guint32 other = operand != NULL ? place_of (c, operand) : G_MAXUINT32;

      if (other >= c->entry->n_nodes)
        continue;
      if (!takes_blocks (c, node) || breaks || (convolution && (i > 0 || !gains)))
        c->plain[other] = TRUE;
      else if (gains)
        c->gains[other] = TRUE;
      if (gantry_node_may_share (c->module, node, i))
        join (c, place, other);
    }
}

static void
choose_layouts (const GantryModule *module, const GantryFunction *entry, guint block, GantryConvolves by, guint8 *blocked)
{
  Choice c = { .module = module, .entry = entry, .block = block, .by = by };

  c.parent = g_new (guint32, entry->n_nodes + 1);
  c.plain = g_new0 (guint8, entry->n_nodes + 1);
  c.gains = g_new0 (guint8, entry->n_nodes + 1);
  for (guint32 i = 0; i < entry->n_nodes; i++)
    c.parent[i] = i;
  for (guint32 i = 0; i < entry->n_nodes; i++)
    look_at (&c, &module->nodes[entry->first_node + i]);
  for (guint32 i = 0; i < entry->n_results; i++)
    c.plain[place_of (&c, gantry_module_node (module, gantry_function_result_id (module, entry, i)))] = TRUE;
  for (guint32 i = 0; i < entry->n_nodes; i++)
    {
      c.plain[find (&c, i)] |= c.plain[i];
      c.gains[find (&c, i)] |= c.gains[i];
    }
  for (guint32 i = 0; i < entry->n_nodes; i++)
    pass_on (&c, &module->nodes[entry->first_node + i]);
  for (guint32 i = 0; i < entry->n_nodes; i++)
    blocked[module->nodes[entry->first_node + i].id] = c.gains[find (&c, i)] && !c.plain[find (&c, i)];
  g_free (c.parent);
  g_free (c.plain);
  g_free (c.gains);
}

guint8 *
gantry_layouts_choose (const GantryModule *module, guint block, GantryConvolves by)
{
  g_autoptr (GArray) regions = gantry_module_list_regions (module);
  guint8 *blocked = g_new0 (guint8, MAX (module->n_index, 1));

  choose_layouts (module, gantry_module_entry (module), block, by, blocked);
  for (guint i = 0; i < regions->len; i++)
    choose_layouts (module, gantry_module_function (module, g_array_index (regions, guint32, i)), block, by, blocked);
  return blocked;
}
