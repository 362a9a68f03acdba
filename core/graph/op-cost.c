/* SPDX-License-Identifier: Apache-2.0 */
/* What one execution of a node costs, for the cost model and the views: operations counted as written (an exponential
 * counts one, a multiply-add two) and bytes that have to move at least once. */
#include "core/graph/operation-private.h"
#include "core/graph/region.h"
#include <string.h>

/* Bodies in bodies. The verifier forbids recursion, but costs are asked of modules that it has not seen. */
#define MAX_DEPTH 64

/* Sums and products of counts: -1 where one is not known; what is too large is the largest. */
static gint64
times (gint64 a, gint64 b)
{
  gint64 n;

  if (a < 0 || b < 0)
    return -1;
  return __builtin_mul_overflow (a, b, &n) ? G_MAXINT64 : n;
}

static gint64
plus (gint64 a, gint64 b)
{
  gint64 n;

  if (a < 0 || b < 0)
    return -1;
  return __builtin_add_overflow (a, b, &n) ? G_MAXINT64 : n;
}

static gint64
product_of_dims (const GantryType *type, const gint64 *dimensions, gsize n)
{
  gint64 product = 1;

  for (gsize i = 0; i < n; i++)
    product = times (product, dimensions[i] >= 0 && dimensions[i] < type->rank ? type->dims[dimensions[i]] : -1);
  return product;
}

static gint64
ceil_log2 (gint64 n)
{
  gint64 bits = 0;

  while (bits < 62 && (G_GINT64_CONSTANT (1) << bits) < n)
    bits++;
  return bits;
}

static gint64 node_flops (const GantryModule *module, const GantryNode *node, guint depth);

static gboolean
holds_rematerialized (const GantryModule *module, const GantryFunction *body)
{
  for (guint32 i = 0; i < body->n_nodes; i++)
    if (module->nodes[body->first_node + i].op == GANTRY_OP_REMATERIALIZE)
      return TRUE;
  return FALSE;
}

/* What a loop makes again only if a plan wants it to is not counted. */
static gint64
body_flops (const GantryModule *module, const GantryNode *node, const char *key, guint depth)
{
  const GantryAttr *attr = gantry_attrs_find (module->context, node->attrs, key);
  const GantryFunction *body = NULL;
  g_autofree guint8 *needed = NULL;
  gint64 sum = 0;

  if (attr != NULL && attr->kind == GANTRY_ATTR_FUNCTION && depth < MAX_DEPTH)
    body = gantry_module_function (module, attr->id);
  if (body == NULL)
    return -1;
  needed = holds_rematerialized (module, body) ? gantry_function_find_needed (module, body, NULL) : NULL;
  for (guint32 i = 0; i < body->n_nodes && sum >= 0; i++)
    if (needed == NULL || needed[i])
      sum = plus (sum, node_flops (module, &module->nodes[body->first_node + i], depth + 1));
  return sum;
}

static gint64
control_flops (const GantryModule *module, const GantryNode *node, guint depth)
{
  gint64 a, b;

  switch (node->op)
    {
    case GANTRY_OP_IF:
      a = body_flops (module, node, "then", depth);
      b = body_flops (module, node, "else", depth);
      return a < 0 || b < 0 ? -1 : MAX (a, b);
    case GANTRY_OP_WHILE:
      /* How often a loop runs is known only where the front end says so. */
      a = plus (body_flops (module, node, "body", depth), body_flops (module, node, "cond", depth));
      return times (a, gantry_attrs_int (module->context, node->attrs, "trip_count", -1));
    case GANTRY_OP_SCAN: return times (body_flops (module, node, "body", depth), gantry_attrs_int (module->context, node->attrs, "length", -1));
    default: return body_flops (module, node, "body", depth);
    }
}

static gint64
contraction_flops (const GantryModule *module, const GantryNode *node, gint64 elements)
{
  const GantryType *a = gantry_node_operand_type (module, node, 0), *b = gantry_node_operand_type (module, node, 1);
  const gint64 *contracting;
  gint64 flops, n;
  gsize n_contracting;

  if (node->op == GANTRY_OP_DOT_GENERAL)
    {
      contracting = gantry_attrs_ints (module->context, node->attrs, "lhs_contracting_dimensions", &n_contracting);
      return times (2 * elements, product_of_dims (a, contracting, n_contracting));
    }
  /* convolution: each output element sums over the kernel of its channel */
  n = gantry_type_elements (b);
  if (n < 0 || b->rank < 2 || b->dims[0] == 0)
    return n < 0 || b->rank < 2 ? -1 : 0;
  flops = times (2 * elements, n / b->dims[0]);
  if (node->n_operands > 2)
    flops = plus (flops, elements);
  if (gantry_attrs_string (module->context, node->attrs, "post", NULL) != NULL)
    flops = plus (flops, elements);
  return flops;
}

static gint64
window_flops (const GantryModule *module, const GantryNode *node, gint64 elements)
{
  gsize n;
  const gint64 *sizes = gantry_attrs_ints (module->context, node->attrs, "window_dimensions", &n);

  for (gsize i = 0; i < n; i++)
    elements = times (elements, sizes[i]);
  return elements;
}

static gint64
sort_flops (const GantryModule *module, const GantryNode *node)
{
  const GantryType *key = gantry_node_operand_type (module, node, 0);
  gint64 axis = gantry_attrs_int (module->context, node->attrs, "dimension", 0), n = gantry_type_elements (key);

  if (n < 0 || axis < 0 || axis >= key->rank)
    return -1;
  return times (n, ceil_log2 (key->dims[axis]));
}

static gint64
node_flops (const GantryModule *module, const GantryNode *node, guint depth)
{
  const GantryOpInfo *info = gantry_op_info (node->op);
  const GantryType *type = gantry_node_type (module, node);
  gint64 elements = gantry_type_elements (type);

  if (info == NULL)
    return -1;
  if (info->flags & GANTRY_OP_STRUCTURE)
    return 0;
  switch (node->op)
    {
    case GANTRY_OP_FUSION:
    case GANTRY_OP_CALL:
    case GANTRY_OP_IF:
    case GANTRY_OP_WHILE:
    case GANTRY_OP_SCAN: return control_flops (module, node, depth);
    case GANTRY_OP_SORT: return sort_flops (module, node);
    case GANTRY_OP_CUSTOM_CALL: return -1;
    case GANTRY_OP_RNG_BIT_GENERATOR:
    case GANTRY_OP_OPTIMIZATION_BARRIER: return 0;
    case GANTRY_OP_CHECKPOINT_NAME:
    case GANTRY_OP_COPY:
    case GANTRY_OP_BITCAST_CONVERT: return elements < 0 ? -1 : 0;
    case GANTRY_OP_CLAMP: return times (elements, 2);
    case GANTRY_OP_SCATTER: return gantry_type_elements (gantry_node_operand_type (module, node, 2));
    case GANTRY_OP_REDUCE: return gantry_type_elements (gantry_node_operand_type (module, node, 0));
    case GANTRY_OP_REDUCE_WINDOW: return window_flops (module, node, elements);
    case GANTRY_OP_DOT_GENERAL:
    case GANTRY_OP_CONVOLUTION: return elements < 0 ? -1 : contraction_flops (module, node, elements);
    default:
      if (elements < 0)
        return -1;
      return info->op_class == GANTRY_CLASS_ELEMENTWISE ? elements : 0;
    }
}

gint64
gantry_node_flops (const GantryModule *module, const GantryNode *node)
{
  return node_flops (module, node, 0);
}

/* Bytes of a value; of a tuple those of its members. */
static gint64
type_bytes (GantryContext *context, const GantryType *type)
{
  gint64 sum = 0;

  if (type->kind == GANTRY_TYPE_TOKEN)
    return 0;
  if (type->kind != GANTRY_TYPE_TUPLE)
    return gantry_type_bytes (type);
  for (guint i = 0; i < type->rank; i++)
    sum = plus (sum, type_bytes (context, gantry_context_type (context, (guint32) type->dims[i])));
  return sum;
}

gboolean
gantry_op_reads_part (guint op)
{
  return op == GANTRY_OP_SLICE || op == GANTRY_OP_DYNAMIC_SLICE || op == GANTRY_OP_GATHER || op == GANTRY_OP_DYNAMIC_UPDATE_SLICE || op == GANTRY_OP_SCATTER;
}

gint64
gantry_node_written_bytes (const GantryModule *module, const GantryNode *node)
{
  const GantryOpInfo *info = gantry_op_info (node->op);

  if (info != NULL && (info->flags & (GANTRY_OP_STRUCTURE | GANTRY_OP_VIEW)))
    return 0;
  switch (node->op)
    {
    case GANTRY_OP_DYNAMIC_UPDATE_SLICE: return type_bytes (module->context, gantry_node_operand_type (module, node, 1));
    case GANTRY_OP_SCATTER: return type_bytes (module->context, gantry_node_operand_type (module, node, 2));
    default: return type_bytes (module->context, gantry_node_type (module, node));
    }
}

gint64
gantry_node_bytes (const GantryModule *module, const GantryNode *node)
{
  const GantryOpInfo *info = gantry_op_info (node->op);
  gint64 result = type_bytes (module->context, gantry_node_type (module, node)), sum = gantry_node_written_bytes (module, node);
  guint first = gantry_op_reads_part (node->op) ? 1 : 0;

  /* Nothing moves: constants lie where they are, and a view shares its operand's bytes. */
  if (info != NULL && (info->flags & (GANTRY_OP_STRUCTURE | GANTRY_OP_VIEW)))
    return result < 0 ? -1 : 0;
  /* Of the first operand as much as is written; an update is made in place. */
  if (first > 0 && node->op != GANTRY_OP_DYNAMIC_UPDATE_SLICE)
    sum = times (sum, 2);
  for (guint i = first; i < node->n_operands; i++)
    {
      gboolean again = FALSE;

      for (guint j = first; j < i; j++) /* an operand named twice is read once */
        again |= gantry_node_operand_id (module, node, j) == gantry_node_operand_id (module, node, i);
      if (!again)
        sum = plus (sum, type_bytes (module->context, gantry_node_operand_type (module, node, i)));
    }
  return sum;
}

/* A window is large that has so many times as many elements as what it gives. What gives one place is a product of matrices, which a library does as
 * well by itself but for several images that are not small. */
#define LARGE_WINDOW 4
#define LARGE_WINDOW_OF_PLACE 128

static gint64
spatial_elements (const GantryType *type)
{
  gint64 n = 1;

  for (guint d = 2; d < type->rank; d++)
    n = times (n, type->dims[d]);
  return type->kind == GANTRY_TYPE_TENSOR ? n : -1;
}

static gboolean
has_holes (const GantryModule *module, const GantryNode *node)
{
  gsize n;
  const gint64 *dilation = gantry_attrs_ints (module->context, node->attrs, "lhs_dilation", &n);

  while (n > 0)
    if (dilation[--n] != 1)
      return TRUE;
  return FALSE;
}

/* Weights that are literals have no gradient, and what stands behind it is no part of one. */
static gboolean
may_be_gradient (const GantryModule *module, const GantryNode *node)
{
  return node->op == GANTRY_OP_CONVOLUTION && node->n_operands == 2 && gantry_attrs_int (module->context, node->attrs, "feature_group_count", 1) == 1
         && gantry_attrs_int (module->context, node->attrs, "skip_padding", 0) == 0 && gantry_attrs_find (module->context, node->attrs, "post") == NULL
         && gantry_node_operand (module, node, 1)->op != GANTRY_OP_CONSTANT && !has_holes (module, node);
}

gboolean
gantry_node_has_large_window (const GantryModule *module, const GantryNode *node)
{
  gint64 window, places, images;

  if (!may_be_gradient (module, node))
    return FALSE;
  window = spatial_elements (gantry_node_operand_type (module, node, 1));
  places = spatial_elements (gantry_node_type (module, node));
  images = gantry_node_operand_type (module, node, 1)->rank > 1 ? gantry_node_operand_type (module, node, 1)->dims[1] : -1;
  return places == 1 ? images > 1 && window >= LARGE_WINDOW_OF_PLACE : places > 0 && window >= times (LARGE_WINDOW, places);
}
