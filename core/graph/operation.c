/* SPDX-License-Identifier: Apache-2.0 */
/* The table of core operations and the door to its type rules, which stand in op-infer-*.c. Costs are in op-cost.c,
 * meanings in texpr-ops-*.c. */
#include "core/graph/operation-private.h"
#include "core/graph/dialect.h"
#include <string.h>

static const GantryOpInfo infos[GANTRY_N_OPS] = { [GANTRY_OP_NONE] = { NULL, GANTRY_CLASS_OTHER, 0, 0, 0 },
#define GANTRY_OP_ROW(NAME, name, class_, min, max, flags) [GANTRY_OP_##NAME] = { name, GANTRY_CLASS_##class_, min, max, flags },
                                                  GANTRY_OPERATIONS (GANTRY_OP_ROW)
#undef GANTRY_OP_ROW
};

/* A row of an elementwise operation that does not say what it takes is not compiled. */
#define GANTRY_OP_CHECK(NAME, name, class_, min, max, flags) \
  G_STATIC_ASSERT (GANTRY_CLASS_##class_ != GANTRY_CLASS_ELEMENTWISE || __builtin_popcount ((flags) &GANTRY_TAKES_MASK) == 1);
GANTRY_OPERATIONS (GANTRY_OP_CHECK)
#undef GANTRY_OP_CHECK

const GantryOpInfo *
gantry_op_info (guint op)
{
  return op > GANTRY_OP_NONE && op < GANTRY_N_OPS ? &infos[op] : NULL;
}

gboolean
gantry_op_is_load_time (guint op)
{
  const GantryOpInfo *info = gantry_op_info (op);

  return info != NULL && op != GANTRY_OP_COPY && op != GANTRY_OP_CALL && op != GANTRY_OP_IF && op != GANTRY_OP_WHILE && op != GANTRY_OP_SCAN
         && (info->flags & (GANTRY_OP_EFFECT | GANTRY_OP_RANDOM)) == 0;
}

/* Some ninety names that mostly differ in their first letter: a scan is as quick as a hash and keeps no state. */
GantryOp
gantry_op_from_name (const char *name, gssize length)
{
  gsize n = length < 0 ? strlen (name) : (gsize) length;

  if (n == 0)
    return GANTRY_OP_NONE;
  for (guint i = 1; i < GANTRY_N_OPS; i++)
    if (infos[i].name[0] == name[0] && strncmp (infos[i].name, name, n) == 0 && infos[i].name[n] == '\0')
      return (GantryOp) i;
  return GANTRY_OP_NONE;
}

GantryOpClass
gantry_node_class (const GantryModule *module, const GantryNode *node)
{
  const GantryOpInfo *info = gantry_op_info (node->op);
  const GantryDialect *dialect;

  if (info != NULL)
    return info->op_class;
  dialect = gantry_context_dialect_of (module->context, node->op);
  if (dialect == NULL || dialect->classify == NULL)
    return GANTRY_CLASS_OTHER;
  return dialect->classify (gantry_context_op_name (module->context, node->op));
}

static const GantryTypeRule rules[GANTRY_N_OPS] = {
  [GANTRY_OP_PARAMETER] = _gantry_infer_parameter,
  [GANTRY_OP_CONSTANT] = _gantry_infer_constant,
  [GANTRY_OP_TUPLE] = _gantry_infer_tuple,
  [GANTRY_OP_RESULT] = _gantry_infer_result,
  [GANTRY_OP_FUSION] = _gantry_infer_body,
  [GANTRY_OP_CALL] = _gantry_infer_body,
  [GANTRY_OP_IF] = _gantry_infer_if,
  [GANTRY_OP_WHILE] = _gantry_infer_while,
  [GANTRY_OP_SCAN] = _gantry_infer_scan,
  [GANTRY_OP_OPTIMIZATION_BARRIER] = _gantry_infer_same,
  [GANTRY_OP_CHECKPOINT_NAME] = _gantry_infer_same,
  [GANTRY_OP_REMATERIALIZE] = _gantry_infer_rematerialize,
  [GANTRY_OP_COPY] = _gantry_infer_copy,
  [GANTRY_OP_CONVERT] = _gantry_infer_convert,
  [GANTRY_OP_BITCAST_CONVERT] = _gantry_infer_convert,
  [GANTRY_OP_COMPARE] = _gantry_infer_compare,
  [GANTRY_OP_SELECT] = _gantry_infer_select,
  [GANTRY_OP_CLAMP] = _gantry_infer_clamp,
  [GANTRY_OP_IOTA] = _gantry_infer_iota,
  [GANTRY_OP_BROADCAST_IN_DIM] = _gantry_infer_broadcast,
  [GANTRY_OP_RESHAPE] = _gantry_infer_reshape,
  [GANTRY_OP_TRANSPOSE] = _gantry_infer_transpose,
  [GANTRY_OP_REVERSE] = _gantry_infer_reverse,
  [GANTRY_OP_SLICE] = _gantry_infer_slice,
  [GANTRY_OP_PAD] = _gantry_infer_pad,
  [GANTRY_OP_CONCATENATE] = _gantry_infer_concatenate,
  [GANTRY_OP_GATHER] = _gantry_infer_gather,
  [GANTRY_OP_DYNAMIC_SLICE] = _gantry_infer_dynamic_slice,
  [GANTRY_OP_DYNAMIC_UPDATE_SLICE] = _gantry_infer_dynamic_update_slice,
  [GANTRY_OP_SCATTER] = _gantry_infer_scatter,
  [GANTRY_OP_REDUCE] = _gantry_infer_reduce,
  [GANTRY_OP_REDUCE_WINDOW] = _gantry_infer_reduce_window,
  [GANTRY_OP_DOT_GENERAL] = _gantry_infer_dot_general,
  [GANTRY_OP_CONVOLUTION] = _gantry_infer_convolution,
  [GANTRY_OP_SORT] = _gantry_infer_sort,
  [GANTRY_OP_RNG_BIT_GENERATOR] = _gantry_infer_rng,
  [GANTRY_OP_CUSTOM_CALL] = _gantry_infer_custom_call,
};

static GantryTypeRule
rule_of (guint op)
{
  if (rules[op] != NULL)
    return rules[op];
  return infos[op].max_operands == 1 ? _gantry_infer_unary : _gantry_infer_binary;
}

guint32
gantry_op_infer (const GantryTypeQuery *query, GError **error)
{
  const GantryOpInfo *info = gantry_op_info (query->op);

  if (info == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "%s is not a core operation, so its type cannot be inferred",
                   gantry_context_op_name (query->context, query->op));
      return 0;
    }
  if (query->n_operands < info->min_operands || (info->max_operands >= 0 && query->n_operands > info->max_operands))
    {
      if (info->min_operands == info->max_operands)
        return _gantry_infer_fail (query, error, "takes %d operands, not %u", info->min_operands, query->n_operands);
      if (info->max_operands < 0)
        return _gantry_infer_fail (query, error, "takes at least %d operands, not %u", info->min_operands, query->n_operands);
      return _gantry_infer_fail (query, error, "takes %d to %d operands, not %u", info->min_operands, info->max_operands, query->n_operands);
    }
  return rule_of (query->op) (query, error);
}
