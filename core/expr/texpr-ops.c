/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of each core operation as a tensor expression: the door, the elementwise operations and what the other
 * texpr-ops-*.c share. */
#include "core/expr/texpr-private.h"
#include "core/expr/scalar.h"
#include "core/graph/op-attributes.h"
#include <string.h>

#define MAX_NESTED_FUSIONS 8

guint32
_gantry_tx_load_same (GantryTxOp *o, guint i)
{
  guint32 at[GANTRY_MAX_RANK];

  for (guint d = 0; d < o->result->rank; d++)
    at[d] = gantry_tx_index (o->b, d);
  return gantry_tx_load (o->b, i, at);
}

guint32
_gantry_tx_true (GantryTexprBuilder *b)
{
  return gantry_tx_const_int (b, GANTRY_BOOL, 1);
}

guint32
_gantry_tx_within (GantryTxOp *o, guint32 condition, guint32 x, gint64 low, gint64 high)
{
  GantryTexprBuilder *b = o->b;

  condition = gantry_tx_binary (b, GANTRY_OP_AND, condition, gantry_tx_compare (b, GANTRY_GE, x, gantry_tx_int (b, low)));
  return gantry_tx_binary (b, GANTRY_OP_AND, condition, gantry_tx_compare (b, GANTRY_LT, x, gantry_tx_int (b, high)));
}

guint32
_gantry_tx_identity (GantryTexprBuilder *b, GantryOp op, GantryElementType element)
{
  GantryScalar identity = { 0 };

  gantry_scalar_identity (op, element, &identity);
  return gantry_element_is_float (element) ? gantry_tx_const (b, element, identity.f) : gantry_tx_const_int (b, element, identity.i);
}

GantryElementType
_gantry_tx_accumulator (GantryElementType operand, GantryElementType result)
{
  if (gantry_element_is_float (result))
    return operand == GANTRY_F64 || result == GANTRY_F64 ? GANTRY_F64 : GANTRY_F32;
  return gantry_element_size (result) >= gantry_element_size (operand) ? result : operand;
}

static GantryDirection
direction_of (const char *name)
{
  static const char *const names[] = { "EQ", "NE", "LT", "LE", "GT", "GE" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (name, names[i]) == 0)
      return (GantryDirection) i;
  g_assert_not_reached ();
}

static guint32
write_compare (GantryTxOp *o)
{
  const char *name = gantry_attrs_string (o->context, o->node->attrs, "comparison_direction", "EQ");

  return gantry_tx_compare (o->b, direction_of (name), _gantry_tx_load_same (o, 0), _gantry_tx_load_same (o, 1));
}

static guint32
write_clamp (GantryTxOp *o)
{
  guint32 low = _gantry_tx_load_same (o, 0), x = _gantry_tx_load_same (o, 1), high = _gantry_tx_load_same (o, 2);

  return gantry_tx_binary (o->b, GANTRY_OP_MINIMUM, gantry_tx_binary (o->b, GANTRY_OP_MAXIMUM, x, low), high);
}

static guint32
write_iota (GantryTxOp *o)
{
  gint64 axis = gantry_attrs_int (o->context, o->node->attrs, "iota_dimension", 0);

  return gantry_tx_cast (o->b, gantry_tx_index (o->b, (guint) axis), o->result->element);
}

static guint32
write_op (GantryTxOp *o)
{
  GantryOp op = o->node->op;
  guint32 x, y;

  switch (op)
    {
    case GANTRY_OP_OPTIMIZATION_BARRIER:
    case GANTRY_OP_CHECKPOINT_NAME:
    case GANTRY_OP_COPY: return _gantry_tx_load_same (o, 0);
    case GANTRY_OP_CONVERT: return gantry_tx_cast (o->b, _gantry_tx_load_same (o, 0), o->result->element);
    case GANTRY_OP_BITCAST_CONVERT: return gantry_tx_bitcast (o->b, _gantry_tx_load_same (o, 0), o->result->element);
    case GANTRY_OP_COMPARE: return write_compare (o);
    case GANTRY_OP_CLAMP: return write_clamp (o);
    case GANTRY_OP_IOTA: return write_iota (o);
    case GANTRY_OP_BROADCAST_IN_DIM: return _gantry_tx_broadcast (o);
    case GANTRY_OP_RESHAPE: return _gantry_tx_reshape (o);
    case GANTRY_OP_TRANSPOSE: return _gantry_tx_transpose (o);
    case GANTRY_OP_REVERSE: return _gantry_tx_reverse (o);
    case GANTRY_OP_SLICE: return _gantry_tx_slice (o);
    case GANTRY_OP_PAD: return _gantry_tx_pad (o);
    case GANTRY_OP_CONCATENATE: return _gantry_tx_concatenate (o);
    case GANTRY_OP_GATHER: return _gantry_tx_gather (o);
    case GANTRY_OP_DYNAMIC_SLICE: return _gantry_tx_dynamic_slice (o);
    case GANTRY_OP_DYNAMIC_UPDATE_SLICE: return _gantry_tx_dynamic_update_slice (o);
    case GANTRY_OP_REDUCE: return _gantry_tx_reduction (o);
    case GANTRY_OP_REDUCE_WINDOW: return _gantry_tx_reduce_window (o);
    case GANTRY_OP_DOT_GENERAL: return _gantry_tx_dot_general (o);
    case GANTRY_OP_CONVOLUTION: return _gantry_tx_convolution (o);
    case GANTRY_OP_SELECT:
      x = _gantry_tx_load_same (o, 1);
      y = _gantry_tx_load_same (o, 2);
      return gantry_tx_select (o->b, _gantry_tx_load_same (o, 0), x, y);
    default: break;
    }
  /* The rest are elementwise of one or two operands, and the node of the expression carries the operation itself. */
  x = _gantry_tx_load_same (o, 0);
  if (o->node->n_operands == 1)
    return gantry_tx_unary (o->b, op, x);
  y = _gantry_tx_load_same (o, 1);
  return gantry_tx_binary (o->b, op, x, y);
}

/* What of a node an expression needs: static tensors of compiled elements, and attributes that fit. */
static gboolean
check_type (const GantryModule *module, const GantryNode *node, const GantryType *type, const char *what, guint i, GError **error)
{
  if (gantry_type_is_static (type) && gantry_element_is_compiled (type->element) && type->rank <= GANTRY_MAX_RANK)
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "node %u: %s: %s %u is not a tensor with a known shape and elements that can be compiled",
               node->id, gantry_node_op_name (module, node), what, i);
  return FALSE;
}

static gboolean
check_rule (const GantryModule *module, const GantryNode *node, const GantryType *result, GError **error)
{
  g_autofree guint32 *types = g_new0 (guint32, node->n_operands + 1);
  GantryTypeQuery query = {
    .context = module->context, .op = node->op, .n_operands = node->n_operands, .operand_types = types, .attrs = node->attrs, .module = module
  };
  guint32 id;

  for (guint i = 0; i < node->n_operands; i++)
    types[i] = gantry_node_operand (module, node, i) != NULL ? gantry_node_operand (module, node, i)->type : 0;
  id = gantry_op_infer (&query, error);
  if (id == 0)
    {
      gantry_error_prefix (error, "node %u: ", node->id);
      return FALSE;
    }
  if (!gantry_type_same_shape (gantry_context_type (module->context, id), result))
    {
      g_autofree char *have = gantry_context_type_text (module->context, node->type);
      g_autofree char *want = gantry_context_type_text (module->context, id);

      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "node %u: %s: its type is %s, but the operation gives %s", node->id,
                   gantry_node_op_name (module, node), have, want);
      return FALSE;
    }
  return TRUE;
}

static gboolean
check_node (const GantryModule *module, const GantryNode *node, GError **error)
{
  const GantryOpInfo *info = gantry_op_info (node->op);
  const GantryType *result = gantry_node_type (module, node);

  if (info == NULL || (info->flags & (GANTRY_OP_EXTERN | GANTRY_OP_STRUCTURE)))
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "node %u: %s is not said by a tensor expression%s", node->id,
                   gantry_node_op_name (module, node), info == NULL ? ": it has to be legalized first" : "");
      return FALSE;
    }
  if (!check_type (module, node, result, "result", 0, error))
    return FALSE;
  for (guint i = 0; i < node->n_operands; i++)
    if (!check_type (module, node, gantry_node_operand_type (module, node, i), "operand", i, error))
      return FALSE;
  return check_rule (module, node, result, error);
}

static GantryTexpr *
of_single_fusion (const GantryModule *module, const GantryNode *node, guint depth, GError **error)
{
  g_autoptr (GPtrArray) all = NULL;

  if (depth >= MAX_NESTED_FUSIONS)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "node %u: fusions are nested deeper than %d", node->id, MAX_NESTED_FUSIONS);
      return NULL;
    }
  all = _gantry_texpr_of_fusion (module, node, depth + 1, error);
  if (all == NULL)
    return NULL;
  if (all->len != 1)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "node %u: a fusion with %u results is not one expression", node->id, all->len);
      return NULL;
    }
  return g_ptr_array_steal_index (all, 0);
}

GantryTexpr *
_gantry_texpr_of_node (const GantryModule *module, const GantryNode *node, guint depth, GError **error)
{
  g_autofree const GantryType **inputs = NULL;
  const GantryType *result = gantry_node_type (module, node);
  GantryTxOp o = { .module = module, .node = node, .context = module->context, .result = result };
  GantryTexpr *texpr;

  if (node->op == GANTRY_OP_FUSION)
    return of_single_fusion (module, node, depth, error);
  if (!check_node (module, node, error))
    return NULL;
  inputs = g_new (const GantryType *, node->n_operands + 1);
  for (guint i = 0; i < node->n_operands; i++)
    inputs[i] = gantry_node_operand_type (module, node, i);
  o.b = gantry_texpr_builder_new (result->element, result->rank, result->dims, node->n_operands, inputs);
  texpr = gantry_texpr_builder_end (o.b, write_op (&o));
  if (texpr == NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "node %u: %s: its expression is too large", node->id, gantry_node_op_name (module, node));
  return texpr;
}

GantryTexpr *
gantry_texpr_of_node (const GantryModule *module, const GantryNode *node, GError **error)
{
  return _gantry_texpr_of_node (module, node, 0, error);
}
