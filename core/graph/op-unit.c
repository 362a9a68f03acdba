/* SPDX-License-Identifier: Apache-2.0 */
/* Which unit of a processor does the operations of a node: tensor cores multiply f16 several times faster than others multiply f32. */
#include "core/graph/operation-private.h"
#include <string.h>

/* As in op-cost.c: costs are asked of modules that the verifier has not seen. */
#define MAX_DEPTH 64

const char *
gantry_unit_name (GantryUnit unit)
{
  static const char *const names[] = {
    [GANTRY_UNIT_VECTOR_F32] = "vector_f32",   [GANTRY_UNIT_VECTOR_F64] = "vector_f64",   [GANTRY_UNIT_VECTOR_F16] = "vector_f16",
    [GANTRY_UNIT_PRODUCT_F32] = "product_f32", [GANTRY_UNIT_PRODUCT_F64] = "product_f64", [GANTRY_UNIT_PRODUCT_F16] = "product_f16",
    [GANTRY_UNIT_PRODUCT_F8] = "product_f8",   [GANTRY_UNIT_PRODUCT_I8] = "product_i8",   [GANTRY_UNIT_SPECIAL] = "special",
  };

  return names[unit];
}

static GantryUnit
product_unit (GantryElementType element)
{
  switch (element)
    {
    case GANTRY_F64:
    case GANTRY_C128: return GANTRY_UNIT_PRODUCT_F64;
    case GANTRY_F16:
    case GANTRY_BF16: return GANTRY_UNIT_PRODUCT_F16;
    case GANTRY_F8E4M3FN:
    case GANTRY_F8E5M2: return GANTRY_UNIT_PRODUCT_F8;
    case GANTRY_I8:
    case GANTRY_U8: return GANTRY_UNIT_PRODUCT_I8;
    default: return GANTRY_UNIT_PRODUCT_F32;
    }
}

static gboolean
is_special (guint op)
{
  const GantryOpInfo *info = gantry_op_info (op);

  return info != NULL && (info->flags & GANTRY_OP_TRANSCENDENTAL) != 0;
}

static GantryUnit
unit_of (const GantryModule *module, const GantryNode *node)
{
  GantryElementType element = (GantryElementType) gantry_node_type (module, node)->element;

  if (node->op == GANTRY_OP_DOT_GENERAL || node->op == GANTRY_OP_CONVOLUTION)
    return product_unit ((GantryElementType) gantry_node_operand_type (module, node, 0)->element);
  /* In f64 there is no unit for them: they are many operations each. */
  if (is_special (node->op) && element != GANTRY_F64)
    return GANTRY_UNIT_SPECIAL;
  return element == GANTRY_F64 ? GANTRY_UNIT_VECTOR_F64 : element == GANTRY_F16 || element == GANTRY_BF16 ? GANTRY_UNIT_VECTOR_F16 : GANTRY_UNIT_VECTOR_F32;
}

static gint64
saturate (double n)
{
  return n >= (double) G_MAXINT64 ? G_MAXINT64 : (gint64) n;
}

static gboolean add_node (const GantryModule *module, const GantryNode *node, guint depth, double *flops);

static gboolean
add_body (const GantryModule *module, const GantryNode *node, const char *key, gint64 times, guint depth, double *flops)
{
  const GantryAttr *attr = gantry_attrs_find (module->context, node->attrs, key);
  const GantryFunction *body = NULL;
  double once[GANTRY_N_UNITS] = { 0 };

  if (attr != NULL && attr->kind == GANTRY_ATTR_FUNCTION && depth < MAX_DEPTH)
    body = gantry_module_function (module, attr->id);
  if (body == NULL || times < 0)
    return FALSE;
  for (guint32 i = 0; i < body->n_nodes; i++)
    if (!add_node (module, &module->nodes[body->first_node + i], depth + 1, once))
      return FALSE;
  for (guint u = 0; u < GANTRY_N_UNITS; u++)
    flops[u] += once[u] * (double) times;
  return TRUE;
}

/* Of two arms the one with more to do. */
static gboolean
add_arms (const GantryModule *module, const GantryNode *node, guint depth, double *flops)
{
  double arms[2][GANTRY_N_UNITS] = { { 0 } }, sums[2] = { 0 };

  if (!add_body (module, node, "then", 1, depth, arms[0]) || !add_body (module, node, "else", 1, depth, arms[1]))
    return FALSE;
  for (guint u = 0; u < GANTRY_N_UNITS; u++)
    for (guint arm = 0; arm < 2; arm++)
      sums[arm] += arms[arm][u];
  for (guint u = 0; u < GANTRY_N_UNITS; u++)
    flops[u] += arms[sums[1] > sums[0]][u];
  return TRUE;
}

static gboolean
add_node (const GantryModule *module, const GantryNode *node, guint depth, double *flops)
{
  gint64 trips, own;

  switch (node->op)
    {
    case GANTRY_OP_FUSION:
    case GANTRY_OP_CALL: return add_body (module, node, "body", 1, depth, flops);
    case GANTRY_OP_IF: return add_arms (module, node, depth, flops);
    case GANTRY_OP_WHILE:
      trips = gantry_attrs_int (module->context, node->attrs, "trip_count", -1);
      return add_body (module, node, "body", trips, depth, flops) && add_body (module, node, "cond", trips, depth, flops);
    case GANTRY_OP_SCAN: return add_body (module, node, "body", gantry_attrs_int (module->context, node->attrs, "length", -1), depth, flops);
    default:
      own = gantry_node_flops (module, node);
      if (own > 0)
        flops[unit_of (module, node)] += (double) own;
      return own >= 0;
    }
}

gboolean
gantry_node_flops_by_unit (const GantryModule *module, const GantryNode *node, gint64 *flops)
{
  double sums[GANTRY_N_UNITS] = { 0 };
  gboolean known = add_node (module, node, 0, sums);

  for (guint u = 0; u < GANTRY_N_UNITS; u++)
    flops[u] = known ? saturate (sums[u]) : -1;
  return known;
}

double
gantry_node_seconds (const GantryModule *module, const GantryNode *node, double flops, const double *rates)
{
  double sums[GANTRY_N_UNITS] = { 0 }, seconds = 0;

  if (!add_node (module, node, 0, sums))
    return 0;
  for (guint u = 0; u < GANTRY_N_UNITS; u++)
    {
      double rate = rates != NULL && rates[u] > 0 ? rates[u] : flops;

      seconds += rate > 0 ? sums[u] / rate : 0;
    }
  return seconds;
}
