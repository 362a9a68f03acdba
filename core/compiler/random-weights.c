/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites the weights of an imported module; see the header for the formula. */
#include "core/compiler/random-weights.h"
#include "core/autodiff/autodiff.h"
#include "core/base/pages.h"
#include "core/base/random.h"
#include "core/graph/input-values.h"
#include "core/graph/rewriter.h"
#include <math.h>
#include <string.h>

#define LARGE ((gsize) 1 << 20)

typedef struct
{
  gint64 seed;
  guint8 *computed_with; /* by node id: reaches a result otherwise than by telling an operation what to do */
} Weights;

/* Returns: (transfer full): by node id */
static guint8 *
find_computed_with (const GantryModule *module)
{
  guint8 *found = g_new0 (guint8, module->n_index);

  for (guint32 f = 0; f < module->n_functions; f++)
    {
      const GantryFunction *function = &module->functions[f];

      for (guint i = 0; i < function->n_results; i++)
        found[gantry_function_result_id (module, function, i)] = 1;
      for (guint32 i = function->n_nodes; i-- > 0;)
        {
          const GantryNode *node = &module->nodes[function->first_node + i];

          for (guint j = 0; j < node->n_operands && found[node->id]; j++)
            if (!gantry_operand_is_setting (module, node, j))
              found[gantry_node_operand_id (module, node, j)] = 1;
        }
    }
  return found;
}

/* Large ones lie in a file, as those of a model do: a run that has copied or packed them can give their pages back. */
static GantryLiteral *
new_literal (const GantryType *type, guint8 **data)
{
  gsize size = (gsize) gantry_type_bytes (type);
  g_autoptr (GBytes) bytes = NULL;
  GantryLiteral *literal;

  *data = size >= LARGE ? gantry_pages_new_in_file (size) : NULL;
  if (*data == NULL)
    return gantry_literal_new_zeroed (type, data);
  bytes = g_bytes_new_with_free_func (*data, size, gantry_pages_free, *data);
  literal = gantry_literal_new (type, bytes, FALSE, NULL);
  literal->mapped = TRUE;
  return literal;
}

static GantryLiteral *
random_literal (const GantryType *type, const char *name, gint64 seed)
{
  gint64 n = gantry_type_elements (type);
  gsize size = gantry_element_size (type->element);
  double bound = type->rank > 1 ? sqrt (6.0 / ((double) n / (double) type->dims[0])) : 0;
  guint64 start = gantry_random_start (name, seed);
  guint8 *data;
  GantryLiteral *literal = new_literal (type, &data);

  for (gint64 i = 0; i < n; i++)
    {
      double u = gantry_random_at (start, (guint64) i);
      double value = type->rank > 1 ? (2 * u - 1) * bound : 0.25 + u / 2;

      gantry_element_write_double (type->element, data + (gsize) i * size, value);
    }
  gantry_literal_give_back (literal);
  return literal;
}

static gboolean
is_weight (const GantryModule *module, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (module, node);

  if ((node->op != GANTRY_OP_CONSTANT && strcmp (gantry_node_op_name (module, node), "onnx.ConstantOfShape") != 0) || gantry_node_is_set_input (module, node))
    return FALSE;
  return gantry_type_is_static (type) && gantry_element_is_float (type->element) && gantry_element_is_compiled (type->element)
         && gantry_type_elements (type) > 1;
}

static gboolean
visit (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, gpointer user_data, GError **error)
{
  g_autoptr (GantryLiteral) literal = NULL;
  const Weights *weights = user_data;
  GantryBuilder *builder = gantry_rewriter_builder (rewriter);

  if (!weights->computed_with[node->id] || !is_weight (module, node))
    {
      gantry_rewriter_keep (rewriter, node);
      return TRUE;
    }
  literal = random_literal (gantry_node_type (module, node), gantry_context_string (module->context, node->name), weights->seed);
  gantry_builder_set_origins (builder, NULL, 0);
  gantry_builder_set_name (builder, node->name);
  gantry_rewriter_replace (rewriter, node, gantry_builder_literal (builder, literal));
  return TRUE;
}

GantryModule *
gantry_randomize_weights (GantryModule *module, gint64 seed, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryRewriter) rewriter = gantry_rewriter_new (module);
  g_autofree guint8 *computed_with = find_computed_with (module);
  Weights weights = { seed, computed_with };

  if (!gantry_rewriter_run (rewriter, visit, &weights, progress, error))
    return NULL;
  return gantry_rewriter_finish (rewriter, error);
}
