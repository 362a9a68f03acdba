/* SPDX-License-Identifier: Apache-2.0 */
/* The dialect "mindspore": finds the rule of a primitive, checks what no rule could do, runs it, and holds what it gives against the
 * types that the model declares. */
#include "core/base/asks.h"
#include "core/frontends/mindspore/lower-private.h"

static const MindRule *const families[] = {
  gantry_mind_elementwise_rules, gantry_mind_activation_rules, gantry_mind_movement_rules, gantry_mind_index_rules,
  gantry_mind_contraction_rules, gantry_mind_reduce_rules,     gantry_mind_norm_rules,     gantry_mind_pool_rules,
  gantry_mind_recurrent_rules,   gantry_mind_update_rules,     gantry_mind_random_rules,   gantry_mind_gradient_rules,
};

static const MindRule *
find_rule (const char *primitive)
{
  for (guint i = 0; i < G_N_ELEMENTS (families); i++)
    for (const MindRule *rule = families[i]; rule->name != NULL; rule++)
      if (strcmp (rule->name, primitive) == 0)
        return rule;
  return NULL;
}

static const MindRule *
rule_of (const char *op_name)
{
  return g_str_has_prefix (op_name, MIND_DIALECT ".") ? find_rule (op_name + strlen (MIND_DIALECT ".")) : NULL;
}

gboolean
gantry_mindspore_knows_operation (const char *op_name)
{
  return rule_of (op_name) != NULL;
}

const char *
gantry_mindspore_arguments (const char *primitive)
{
  const MindRule *rule = find_rule (primitive);

  return rule != NULL ? rule->arguments : NULL;
}

void
gantry_mind_refuse (MindLower *l, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  gantry_builder_refuse (l->b, &l->failed, format, arguments);
  va_end (arguments);
}

/* Types */

static void
check_type (MindLower *l, const GantryType *type, guint i)
{
  if (type->kind != GANTRY_TYPE_TENSOR)
    gantry_mind_refuse (l, "the type of operand %u is not known", i);
  else if (!gantry_element_is_compiled ((GantryElementType) type->element))
    gantry_mind_refuse (l, "element type %s of operand %u is not compiled", gantry_element_name ((GantryElementType) type->element), i);
  for (guint k = 0; !l->failed && k < type->rank; k++)
    if (GANTRY_DIM_IS_SYMBOL (type->dims[k]))
      gantry_mind_refuse (l, "dimension '%s' is not bound: " GANTRY_ASKS_SIZE " it", gantry_context_string (l->context, GANTRY_DIM_SYMBOL_ID (type->dims[k])));
    else if (!GANTRY_DIM_IS_STATIC (type->dims[k]))
      gantry_mind_refuse (l, "a size of operand %u is not known: it follows from one that is not bound, or from data", i);
}

static gboolean
check_types (MindLower *l)
{
  for (guint i = 0; i < l->n_in && !l->failed; i++)
    if (l->in[i] == 0)
      gantry_mind_refuse (l, "operand %u is missing", i);
    else
      check_type (l, gantry_mind_type (l, l->in[i]), i);
  return !l->failed;
}

/* Sizes that the model does not know are no contradiction. */
static gboolean
fits (const GantryType *given, const GantryType *declared)
{
  if (given->kind != GANTRY_TYPE_TENSOR || given->rank != declared->rank)
    return FALSE;
  for (guint i = 0; i < given->rank; i++)
    if (GANTRY_DIM_IS_STATIC (declared->dims[i]) && given->dims[i] != declared->dims[i])
      return FALSE;
  return TRUE;
}

/* The results in the element types that the model has; a rule that gives another shape has misread the arguments. */
static void
finish_results (MindLower *l)
{
  for (guint i = 0; i < l->n_out && !l->failed; i++)
    {
      const GantryType *declared = gantry_mind_declared_type (l, i);

      if (l->out[i] == 0 || declared->kind != GANTRY_TYPE_TENSOR || !gantry_element_is_compiled ((GantryElementType) declared->element))
        continue;
      l->out[i] = gantry_builder_convert (l->b, l->out[i], (GantryElementType) declared->element);
      if (l->out[i] != 0 && !fits (gantry_mind_type (l, l->out[i]), declared))
        {
          g_autofree char *given = gantry_context_type_text (l->context, gantry_builder_type (l->b, l->out[i]));
          g_autofree char *wanted = gantry_context_type_text (l->context, gantry_context_type_id (l->context, declared));

          gantry_mind_refuse (l, "these arguments give %s, and the model says %s", given, wanted);
        }
    }
}

static gboolean
lower (GantryBuilder *b, const GantryModule *source, const GantryNode *node, const guint32 *operands, guint32 *results, guint n_results, GError **error)
{
  MindLower l = { .b = b, .context = gantry_builder_context (b), .node = node, .in = operands, .n_in = node->n_operands, .out = results, .n_out = n_results };
  const char *op_name = gantry_node_op_name (source, node);
  GError *failure = NULL;

  memset (results, 0, sizeof *results * n_results);
  l.rule = rule_of (op_name);
  if (l.rule == NULL)
    {
      gantry_dialect_refuse_unknown (error, op_name);
      return FALSE;
    }
  if (check_types (&l))
    {
      l.rule->lower (&l);
      finish_results (&l);
    }
  if (!gantry_builder_check (b, &failure))
    {
      /* Arguments that do not fit are the model's, but only this operation is out. */
      failure->code = failure->code == GANTRY_ERROR_INVALID ? GANTRY_ERROR_UNSUPPORTED : failure->code;
      gantry_error_say_whose (&failure, op_name);
      g_propagate_error (error, failure);
      return FALSE;
    }
  if (n_results == 1 && results[0] == 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "%s: an argument is missing or of a kind that is not known", op_name);
      return FALSE;
    }
  return TRUE;
}

static GantryOpClass
classify (const char *op_name)
{
  const MindRule *rule = rule_of (op_name);

  return rule != NULL ? rule->op_class : GANTRY_CLASS_OTHER;
}

const GantryDialect *
gantry_mindspore_dialect (void)
{
  static const GantryDialect dialect = { MIND_DIALECT, lower, classify };

  return &dialect;
}
