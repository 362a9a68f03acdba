/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites the weights of an imported module; see the header for the formula. */
#include "core/compiler/random-weights.h"
#include "core/base/random.h"
#include "core/ir/rewriter.h"
#include <math.h>
#include <string.h>

static GantryLiteral *
random_literal (const GantryType *type, const char *name, gint64 seed)
{
  gint64 n = gantry_type_elements (type);
  gsize size = gantry_element_size (type->element);
  double bound = type->rank > 1 ? sqrt (6.0 / ((double) n / (double) type->dims[0])) : 0;
  guint64 start = gantry_random_start (name, seed);
  guint8 *data;
  GantryLiteral *literal = gantry_literal_new_zeroed (type, &data);

  for (gint64 i = 0; i < n; i++)
    {
      double u = gantry_random_at (start, (guint64) i);
      double value = type->rank > 1 ? (2 * u - 1) * bound : 0.25 + u / 2;

      gantry_element_write_double (type->element, data + (gsize) i * size, value);
    }
  return literal;
}

static gboolean
is_weight (const GantryModule *module, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (module, node);

  if (node->op != GANTRY_OP_CONSTANT && strcmp (gantry_node_op_name (module, node), "onnx.ConstantOfShape") != 0)
    return FALSE;
  return gantry_type_is_static (type) && gantry_element_is_float (type->element) &&
         gantry_element_is_compiled (type->element) && gantry_type_elements (type) > 1;
}

static gboolean
visit (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, gpointer user_data,
       GError **error)
{
  g_autoptr (GantryLiteral) literal = NULL;
  GantryBuilder *builder = gantry_rewriter_builder (rewriter);

  if (!is_weight (module, node))
    {
      gantry_rewriter_keep (rewriter, node);
      return TRUE;
    }
  literal = random_literal (gantry_node_type (module, node), gantry_context_string (module->context, node->name),
                            *(const gint64 *) user_data);
  gantry_builder_set_origins (builder, NULL, 0);
  gantry_builder_set_name (builder, node->name);
  gantry_rewriter_replace (rewriter, node, gantry_builder_literal (builder, literal));
  return TRUE;
}

GantryModule *
gantry_randomize_weights (GantryModule *module, gint64 seed, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryRewriter) rewriter = gantry_rewriter_new (module);

  if (!gantry_rewriter_run (rewriter, visit, &seed, progress, error))
    return NULL;
  return gantry_rewriter_finish (rewriter, error);
}
