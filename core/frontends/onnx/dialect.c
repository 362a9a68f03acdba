/* SPDX-License-Identifier: Apache-2.0 */
/* The dialect "onnx": finds the rule of an operation among the families' tables, prepares what the
 * rule reads, refuses what no rule could do (element types that are not compiled, dimensions that
 * are not bound), and turns what the rule recorded into one error "<Operation>: <why>". */
#include "core/frontends/onnx/onnx-lower.h"
#include "core/base/fail.h"

/* clang-format off */
static const GantryLowerRule *const families[] = {
  gantry_lower_elementwise_rules, gantry_lower_activation_rules, gantry_lower_shape_rules,
  gantry_lower_index_rules,       gantry_lower_conv_rules,       gantry_lower_pool_rules,
  gantry_lower_norm_rules,        gantry_lower_reduce_rules,     gantry_lower_matmul_rules,
  gantry_lower_recurrent_rules,   gantry_lower_resize_rules,     gantry_lower_sample_rules,
  gantry_lower_quantize_rules,    gantry_lower_attention_rules,  gantry_lower_loss_rules,
  gantry_lower_signal_rules,      gantry_lower_control_rules,    gantry_lower_misc_rules,
  gantry_lower_cut_rules,         gantry_lower_einsum_rules,     gantry_lower_scan_rules,
  gantry_lower_sequence_rules,
};
/* clang-format on */

static const GantryLowerRule *
find_rule (const char *operation)
{
  for (guint i = 0; i < G_N_ELEMENTS (families); i++)
    for (const GantryLowerRule *rule = families[i]; rule->name != NULL; rule++)
      if (strcmp (rule->name, operation) == 0)
        return rule;
  return NULL;
}

gboolean
gantry_onnx_knows_operation (const char *operation)
{
  return find_rule (operation) != NULL;
}

/* Why a value of this type cannot be computed with, or NULL. */
static char *
why_not_type (GantryLower *l, guint i, const GantryType *type)
{
  if (type->kind == GANTRY_TYPE_UNKNOWN)
    return g_strdup_printf ("the type of operand %u is not known", i);
  if (type->kind == GANTRY_TYPE_TENSOR && !gantry_element_is_compiled ((GantryElementType) type->element))
    return g_strdup_printf ("element type %s is not compiled", gantry_element_name ((GantryElementType) type->element));
  if (type->kind != GANTRY_TYPE_TENSOR)
    return g_strdup_printf ("operand %u is not a tensor", i);
  return NULL;
}

static gboolean
check_operands (GantryLower *l)
{
  for (guint i = 0; i < l->n_in; i++)
    if (l->in[i] != 0)
      {
        g_autofree char *why = why_not_type (l, i, gantry_lower_type (l, l->in[i]));

        if (why != NULL)
          {
            gantry_lower_fail (l, "%s", why);
            return FALSE;
          }
        if (!(l->rule->flags & GANTRY_LOWER_ANY_SHAPE) && !gantry_lower_require_static (l, l->in[i]))
          return FALSE;
      }
  return TRUE;
}

gboolean
gantry_lower_node (GantryBuilder *b, const GantryModule *source, const GantryNode *node, const guint32 *operands, guint32 *results, guint n_results,
                   guint depth, GError **error)
{
  GantryContext *context = gantry_builder_context (b);
  GantryLower l = { .b = b, .context = context, .source = source, .node = node, .depth = depth };
  g_autoptr (GantryArena) arena = gantry_arena_new ();
  g_autoptr (GError) failure = NULL;

  l.op = gantry_onnx_node_operation (context, node);
  l.rule = find_rule (l.op);
  if (l.rule == NULL)
    {
      gantry_dialect_refuse_unknown (error, l.op);
      return FALSE;
    }
  l.arena = arena;
  l.opset = gantry_onnx_node_opset (context, node);
  l.n_captures = gantry_onnx_node_captures (context, node);
  l.n_in = gantry_onnx_node_inputs (context, node);
  l.in = operands;
  l.out = results;
  l.n_out = n_results;
  memset (results, 0, sizeof *results * n_results);
  if (l.rule->flags & GANTRY_LOWER_ANY_TYPE || check_operands (&l))
    l.rule->lower (&l);
  if (!gantry_builder_check (b, &failure))
    {
      gantry_error_say_whose (&failure, l.op); /* what the builder recorded does not */
      g_propagate_error (error, g_steal_pointer (&failure));
      return FALSE;
    }
  if (results[0] == 0 && n_results > 0 && n_results == 1)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "%s: the result is not computed", l.op);
      return FALSE;
    }
  return TRUE;
}

static gboolean
lower (GantryBuilder *builder, const GantryModule *source, const GantryNode *node, const guint32 *operands, guint32 *results, guint n_results, GError **error)
{
  return gantry_lower_node (builder, source, node, operands, results, n_results, 0, error);
}

static GantryOpClass
classify (const char *op_name)
{
  const GantryLowerRule *rule = g_str_has_prefix (op_name, GANTRY_ONNX_PREFIX) ? find_rule (op_name + strlen (GANTRY_ONNX_PREFIX)) : NULL;

  return rule != NULL ? rule->op_class : GANTRY_CLASS_OTHER;
}

const GantryDialect *
gantry_onnx_dialect (void)
{
  static const GantryDialect dialect = { GANTRY_ONNX_DIALECT, lower, classify };

  return &dialect;
}
