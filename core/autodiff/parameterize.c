/* SPDX-License-Identifier: Apache-2.0 */
/* Weights of an imported model become parameters of its entry function. It runs before `legalize`, while the
 * operations still say what a constant is for: what is only shape arithmetic to Resize is a weight to Conv. */
#include "core/autodiff/autodiff.h"
#include "core/graph/input-values.h"
#include "core/graph/operation.h"
#include "core/graph/rewriter.h"
#include <string.h>

typedef struct
{
  GArray *chosen;    /* guint32: positions in module->nodes, ascending */
  guint8 *is_chosen; /* by node id */
} Parameters;

/* Operands from which on an operation only learns what to do, not what to do it with. */
static const struct
{
  const char *op;
  guint first;
} settings[] = {
  { "onnx.Resize", 1 },          { "onnx.Upsample", 1 },
  { "onnx.Shape", 0 },           { "onnx.Size", 0 },
  { "onnx.ConstantOfShape", 0 }, { "onnx.Range", 0 },
  { "onnx.OneHot", 0 },          { "onnx.Clip", 1 },
  { "onnx.QuantizeLinear", 1 },  { "onnx.DequantizeLinear", 1 },
  { "onnx.Dropout", 1 },         { "onnx.NonMaxSuppression", 2 },
};

gboolean
gantry_operand_is_setting (const GantryModule *module, const GantryNode *user, guint operand)
{
  const char *op;

  if (user->op < GANTRY_OP_FOREIGN)
    return FALSE;
  op = gantry_node_op_name (module, user);
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    if (strcmp (op, settings[i].op) == 0)
      return operand >= settings[i].first;
  return FALSE;
}

/* A value of integers has no derivative: what reaches the results only through those is not trained. */
static gboolean
may_carry (const GantryModule *module, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (module, node);

  return type->kind != GANTRY_TYPE_TENSOR || gantry_element_is_float (type->element) || type->element == GANTRY_ELEMENT_NONE
         || type->element == GANTRY_ELEMENT_OTHER;
}

/* Which values of the entry function reach a result by floating point values. Returns: (transfer full): by node id */
static guint8 *
find_carrying (const GantryModule *module)
{
  const GantryFunction *entry = gantry_module_entry (module);
  guint8 *carries = g_new0 (guint8, module->n_index);

  for (guint i = 0; i < entry->n_results; i++)
    carries[gantry_function_result_id (module, entry, i)] = 1;
  for (guint32 i = entry->n_nodes; i-- > 0;)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];

      if (!carries[node->id] || !may_carry (module, node))
        continue;
      for (guint j = 0; j < node->n_operands; j++)
        if (gantry_node_operand_id (module, node, j) != 0 && !gantry_operand_is_setting (module, node, j))
          carries[gantry_node_operand_id (module, node, j)] = 1;
    }
  return carries;
}

/* The running mean and variance of a normalization follow the data, not a gradient. Returns: (transfer full): by node id */
static guint8 *
find_statistics (const GantryModule *module)
{
  guint8 *statistics = g_new0 (guint8, module->n_index);

  for (guint32 i = 0; i < module->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[i];

      if (node->op < GANTRY_OP_FOREIGN || strcmp (gantry_node_op_name (module, node), "onnx.BatchNormalization") != 0)
        continue;
      for (guint j = 3; j < MIN (node->n_operands, 5); j++)
        statistics[gantry_node_operand_id (module, node, j)] = 1;
    }
  return statistics;
}

/* What the source itself says to be state of the model that is not trained: its front end gave it the role. */
static gboolean
is_buffer (const GantryModule *module, const GantryNode *node)
{
  return strcmp (gantry_attrs_string (module->context, node->attrs, "role", ""), "buffer") == 0;
}

/* A node among the others that makes a constant, where weights stand beside the nodes: the numbers of a formula, such as
 * the places of a detector's anchors, unless someone says that they are weights. */
static gboolean
is_in_formula (const GantryModule *module, const GantryNode *node)
{
  return node->op >= GANTRY_OP_FOREIGN && strcmp (gantry_node_op_name (module, node), "onnx.Constant") == 0;
}

/* Returns: (nullable): the value of a constant that can be trained */
static const GantryAttr *
weight_of (const GantryModule *module, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (module, node);
  const GantryAttr *value = node->op == GANTRY_OP_CONSTANT || is_in_formula (module, node) ? gantry_attrs_find (module->context, node->attrs, "value") : NULL;
  const GantryLiteral *literal = value != NULL && value->kind == GANTRY_ATTR_LITERAL ? gantry_context_literal (module->context, value->id) : NULL;

  return literal != NULL && !literal->splat && !gantry_node_is_set_input (module, node) && type->kind == GANTRY_TYPE_TENSOR
             && gantry_element_is_float (type->element) && gantry_element_is_compiled (type->element)
           ? value
           : NULL;
}

/* TRUE when a glob names it; each that does is noted in @used. */
static gboolean
is_named (char *const *names, const char *label, gboolean *used)
{
  gboolean named = FALSE;

  for (guint i = 0; names != NULL && names[i] != NULL; i++)
    if (g_pattern_match_simple (names[i], label))
      used[i] = named = TRUE;
  return named;
}

/* A number alone is rarely a weight: mostly it is a constant of a formula. Who trains one, as the scale of a contrastive loss, says its
 * whole name. */
static gboolean
is_number_of_formula (const GantryModule *module, const GantryNode *node, char *const *names, const char *label)
{
  return gantry_node_type (module, node)->rank == 0 && (names == NULL || !g_strv_contains ((const char *const *) names, label));
}

static gboolean
choose (const GantryModule *module, char *const *names, Parameters *parameters, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (module);
  g_autofree guint8 *carries = find_carrying (module);
  g_autofree guint8 *statistics = find_statistics (module);
  guint n_names = names != NULL ? g_strv_length ((char **) names) : 0;
  g_autofree gboolean *used = g_new0 (gboolean, n_names + 1);

  for (guint32 i = entry->first_node; i < entry->first_node + entry->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[i];
      g_autofree char *label = NULL;

      if (gantry_parameter_role (module, node) == GANTRY_SUBJECT_PARAMETER)
        {
          label = gantry_node_label (module, node);
          is_named (names, label, used); /* one already */
          continue;
        }
      if (weight_of (module, node) == NULL || !carries[node->id])
        continue;
      label = gantry_node_label (module, node);
      if (is_number_of_formula (module, node, names, label))
        continue;
      if (names != NULL ? !is_named (names, label, used) : statistics[node->id] || is_buffer (module, node) || is_in_formula (module, node))
        continue;
      g_array_append_val (parameters->chosen, i);
      parameters->is_chosen[node->id] = 1;
    }
  for (guint i = 0; i < n_names; i++)
    if (!used[i])
      {
        g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID,
                     "'%s' is the name of no weight: of no dense constant of floating point that a result depends on", names[i]);
        return FALSE;
      }
  return TRUE;
}

static void
add_parameter (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *constant)
{
  GantryAttrList *attrs = gantry_attr_list_new (module->context);
  GantryNode node = *constant;

  gantry_attr_list_set_string (attrs, "role", "parameter");
  gantry_attr_list_set_literal (attrs, "initial", weight_of (module, constant)->id);
  node.op = GANTRY_OP_PARAMETER;
  node.attrs = gantry_attr_list_end (attrs);
  node.n_origins = 0; /* the same value under the same id */
  gantry_rewriter_replace (rewriter, constant, gantry_builder_add_node (gantry_rewriter_builder (rewriter), &node, NULL, NULL));
}

static gboolean
visit (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, gpointer user_data, GError **error)
{
  const Parameters *parameters = user_data;
  const GantryFunction *entry = gantry_module_entry (module);

  /* The first node behind the parameters that are there already: the new ones go before it. */
  if (gantry_module_position (module, node) == entry->first_node + entry->n_params)
    for (guint i = 0; i < parameters->chosen->len; i++)
      add_parameter (rewriter, module, &module->nodes[g_array_index (parameters->chosen, guint32, i)]);
  if (!parameters->is_chosen[node->id])
    gantry_rewriter_keep (rewriter, node);
  return TRUE;
}

GantryModule *
gantry_parameterize (GantryModule *module, char *const *names, const GantryProgress *progress, GError **error)
{
  Parameters parameters = { .chosen = g_array_new (FALSE, FALSE, sizeof (guint32)), .is_chosen = g_new0 (guint8, module->n_index) };
  g_autoptr (GantryRewriter) rewriter = NULL;
  GantryModule *next = NULL;

  if (choose (module, names, &parameters, error))
    {
      if (parameters.chosen->len == 0)
        next = gantry_module_ref (module);
      else
        {
          rewriter = gantry_rewriter_new (module);
          if (gantry_rewriter_run (rewriter, visit, &parameters, progress, error))
            next = gantry_rewriter_finish (rewriter, error);
        }
    }
  g_array_unref (parameters.chosen);
  g_free (parameters.is_chosen);
  return next;
}
