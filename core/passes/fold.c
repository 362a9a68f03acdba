/* SPDX-License-Identifier: Apache-2.0 */
/* fold: nodes whose operands are all constants are computed now. What would only make the program
 * bigger is left: a result may be larger than its operands together only up to a page, and a
 * scalar constant under a broadcast is never blown up; instead the broadcast is moved below the
 * operation (op (broadcast (c)) becomes broadcast (op (c))), so that constant folding goes on with
 * the scalar. */
#include "core/eval/evaluator.h"
#include "core/eval/fold.h"
#include "core/graph/rewriter.h"
#include "core/passes/passes.h"

#define GROWTH_BYTES 4096
#define MOST_FLOPS 50000000

typedef struct
{
  const GantryPassOptions *options;
  const GantryProgress *progress;
  guint n_changed;
} State;

static gboolean
pure (const GantryNode *node)
{
  const GantryOpInfo *info = gantry_op_info (node->op);

  /* A copy moves its value to a memory that a constant cannot be in. */
  return info != NULL && node->op != GANTRY_OP_FUSION && node->op != GANTRY_OP_CHECKPOINT_NAME && node->op != GANTRY_OP_OPTIMIZATION_BARRIER
         && node->op != GANTRY_OP_COPY && (info->flags & (GANTRY_OP_EXTERN | GANTRY_OP_STRUCTURE | GANTRY_OP_RANDOM | GANTRY_OP_EFFECT)) == 0;
}

/* The scalar constant that @id broadcasts, 0 when it is something else. */
static guint32
broadcast_scalar (GantryBuilder *builder, guint32 id)
{
  const GantryNode *node = gantry_builder_node (builder, id);
  guint32 operand;

  if (node == NULL || node->op != GANTRY_OP_BROADCAST_IN_DIM)
    return 0;
  operand = gantry_builder_operand_of (builder, id, 0);
  node = gantry_builder_node (builder, operand);
  return node != NULL && node->op == GANTRY_OP_CONSTANT && gantry_builder_get_type (builder, operand)->rank == 0 ? operand : 0;
}

/* Replaces @node by its value when that is cheap to make and does not grow the program. */
static gboolean
fold_value (State *state, GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node)
{
  GantryBuilder *builder = gantry_rewriter_builder (rewriter);
  g_autofree GantryLiteral **operands = g_new0 (GantryLiteral *, node->n_operands + 1);
  g_autoptr (GantryLiteral) value = NULL;
  gint64 bytes = gantry_type_bytes (gantry_node_type (module, node));
  gint64 most_flops = state->options->fold_flops > 0 ? state->options->fold_flops : MOST_FLOPS;
  gint64 read = 0;

  for (guint i = 0; i < node->n_operands; i++)
    {
      guint32 id = gantry_rewriter_map (rewriter, gantry_node_operand_id (module, node, i));
      const GantryNode *operand = gantry_builder_node (builder, id);

      if (operand == NULL || operand->op != GANTRY_OP_CONSTANT)
        return FALSE;
      operands[i] = gantry_builder_constant_of (builder, id);
      if (operands[i] == NULL)
        return FALSE;
      read += (gint64) operands[i]->size;
    }
  if (bytes < 0 || bytes > MAX (read, GROWTH_BYTES) || bytes > state->options->fold_bytes || gantry_node_flops (module, node) > most_flops
      || read > state->options->fold_bytes)
    return FALSE;
  if (node->op == GANTRY_OP_BROADCAST_IN_DIM && bytes > read) /* stays a broadcast, however small */
    return FALSE;
  /* One value may take most of a second, so we ask here as well; it is the rewriter that ends the walk. */
  if (gantry_progress_cancelled (state->progress, NULL) || !gantry_evaluate_node (module, node, operands, &value, 1, NULL))
    return FALSE;
  gantry_rewriter_replace (rewriter, node, gantry_builder_literal (builder, value));
  state->n_changed++;
  return TRUE;
}

/* All operands of an elementwise node are broadcasts of scalar constants: computes the scalar. */
static gboolean
sink_elementwise (State *state, GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node)
{
  GantryBuilder *builder = gantry_rewriter_builder (rewriter);
  const GantryType *type = gantry_node_type (module, node);
  g_autofree guint32 *scalars = g_new0 (guint32, node->n_operands + 1);
  guint32 result;

  if (node->n_operands == 0 || type->kind != GANTRY_TYPE_TENSOR || type->rank == 0)
    return FALSE;
  for (guint i = 0; i < node->n_operands; i++)
    {
      scalars[i] = broadcast_scalar (builder, gantry_rewriter_map (rewriter, gantry_node_operand_id (module, node, i)));
      if (scalars[i] == 0)
        return FALSE;
    }
  gantry_fold_set_limit (builder, 1);
  result = gantry_builder_add (builder, node->op, scalars, node->n_operands, node->attrs);
  gantry_fold_set_limit (builder, 0);
  gantry_rewriter_replace (rewriter, node, gantry_builder_broadcast (builder, result, type->rank, type->dims, NULL));
  state->n_changed++;
  return TRUE;
}

/* Moving the elements of a broadcast scalar about changes nothing but the shape. */
static gboolean
sink_movement (State *state, GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node)
{
  GantryBuilder *builder = gantry_rewriter_builder (rewriter);
  const GantryType *type = gantry_node_type (module, node);
  guint32 scalar;

  if (node->op != GANTRY_OP_RESHAPE && node->op != GANTRY_OP_TRANSPOSE && node->op != GANTRY_OP_SLICE && node->op != GANTRY_OP_REVERSE
      && node->op != GANTRY_OP_BROADCAST_IN_DIM)
    return FALSE;
  scalar = broadcast_scalar (builder, gantry_rewriter_map (rewriter, gantry_node_operand_id (module, node, 0)));
  if (scalar == 0)
    return FALSE;
  gantry_rewriter_replace (rewriter, node, type->rank == 0 ? scalar : gantry_builder_broadcast (builder, scalar, type->rank, type->dims, NULL));
  state->n_changed++;
  return TRUE;
}

static gboolean
visit (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, gpointer user_data, GError **error)
{
  State *state = user_data;
  const GantryOpInfo *info = gantry_op_info (node->op);
  gboolean done = FALSE;

  if (pure (node) && node->n_operands > 0 && gantry_type_is_static (gantry_node_type (module, node)))
    {
      if ((info->flags & GANTRY_OP_ELEMENTWISE) != 0)
        done = sink_elementwise (state, rewriter, module, node);
      else
        done = sink_movement (state, rewriter, module, node);
      if (!done)
        done = fold_value (state, rewriter, module, node);
      if (done)
        gantry_builder_name_node (gantry_rewriter_builder (rewriter), gantry_rewriter_map (rewriter, node->id), node->name);
    }
  if (!done)
    gantry_rewriter_keep (rewriter, node);
  return TRUE;
}

static GantryModule *
run (GantryModule *module, const GantryPassOptions *options, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryRewriter) rewriter = gantry_rewriter_new (module);
  State state = { .options = options, .progress = progress };

  if (!gantry_rewriter_run (rewriter, visit, &state, progress, error))
    return NULL;
  return state.n_changed > 0 ? gantry_rewriter_finish (rewriter, error) : gantry_module_ref (module);
}

const GantryPass gantry_pass_fold = {
  .name = "fold",
  .title = "Constant folding",
  .description = "Computes what depends on constants only, where that does not grow the program.",
  .needs = GANTRY_PROPERTY_CORE,
  .keeps = GANTRY_PROPERTY_CORE,
  .run = run,
};
