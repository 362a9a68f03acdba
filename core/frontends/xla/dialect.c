/* SPDX-License-Identifier: Apache-2.0 */
/* The dialects: an operation of theirs in core operations, by its rule, with one error "stablehlo.add: why". */
#include "core/base/fail.h"
#include "core/frontends/xla/lower-jaxpr-private.h"
#include "core/frontends/xla/xla.h"

/* JAX's primitives have names and attributes of their own. */
static const XlaRule *
rule_of (const char *op_name, const char **name)
{
  static const XlaRule jaxpr = { "", gantry_jaxpr_lower, GANTRY_CLASS_OTHER, XLA_ANY_TYPE, 0 };
  const char *dot = strchr (op_name, '.');

  *name = dot != NULL ? dot + 1 : op_name;
  if (g_str_has_prefix (op_name, "jax."))
    return gantry_jaxpr_find_rule (*name) != NULL ? &jaxpr : NULL;
  return gantry_xla_find_rule (*name);
}

gboolean
gantry_xla_knows_operation (const char *op_name)
{
  const char *name;
  guint n;
  const GantryDialect *dialects = gantry_xla_dialects (&n);

  for (guint i = 0; i < n; i++)
    if (g_str_has_prefix (op_name, dialects[i].name) && op_name[strlen (dialects[i].name)] == '.')
      return rule_of (op_name, &name) != NULL;
  return FALSE;
}

gboolean
gantry_xla_lower_node (GantryBuilder *b, const GantryModule *source, const GantryNode *node, const guint32 *operands, guint32 *results, guint n_results,
                       guint depth, gboolean lifted, GError **error)
{
  GantryContext *context = gantry_builder_context (b);
  const char *op_name = gantry_node_op_name (source, node);
  XlaLower l = { .b = b, .context = context, .source = source, .node = node, .depth = depth, .lifted = lifted };
  g_autoptr (GantryArena) arena = gantry_arena_new ();
  GError *failure = NULL;
  gint64 n_captures;

  l.arena = arena;
  l.rule = rule_of (op_name, &l.op);
  if (l.rule == NULL)
    {
      gantry_dialect_refuse_unknown (error, op_name);
      return FALSE;
    }
  n_captures = gantry_attrs_int (context, node->attrs, "n_captures", 0);
  if (n_captures < 0 || n_captures > node->n_operands)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%s: its regions cannot use %" G_GINT64_FORMAT " of %u operands", op_name, n_captures,
                   (guint) node->n_operands);
      return FALSE;
    }
  l.n_captures = (guint) n_captures;
  l.n_in = node->n_operands - l.n_captures;
  l.in = operands;
  l.out = results;
  l.n_out = n_results;
  memset (results, 0, sizeof *results * n_results);
  gantry_xla_run_rule (&l);
  if (!gantry_builder_check (b, &failure))
    {
      gantry_error_say_whose (&failure, op_name);
      g_propagate_error (error, failure);
      return FALSE;
    }
  if (n_results == 1 && results[0] == 0)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "%s: the result is not computed", op_name);
      return FALSE;
    }
  return TRUE;
}

static gboolean
lower (GantryBuilder *builder, const GantryModule *source, const GantryNode *node, const guint32 *operands, guint32 *results, guint n_results, GError **error)
{
  return gantry_xla_lower_node (builder, source, node, operands, results, n_results, 0, FALSE, error);
}

static GantryOpClass
classify (const char *op_name)
{
  const char *name;
  const XlaRule *rule = rule_of (op_name, &name);

  if (rule != NULL && g_str_has_prefix (op_name, "jax."))
    return gantry_jaxpr_class (gantry_jaxpr_find_rule (name));
  return rule != NULL ? rule->op_class : GANTRY_CLASS_OTHER;
}

const GantryDialect *
gantry_xla_dialects (guint *n)
{
  static const GantryDialect dialects[] = {
    { "stablehlo", lower, classify }, { "mhlo", lower, classify }, { "chlo", lower, classify }, { "hlo", lower, classify }, { "jax", lower, classify },
  };

  *n = G_N_ELEMENTS (dialects);
  return dialects;
}
