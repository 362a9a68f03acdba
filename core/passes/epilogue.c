/* SPDX-License-Identifier: Apache-2.0 */
/* epilogue: what follows a convolution channel by channel is taken into it: a factor goes into constant
 * weights (a batch normalization costs nothing then), an addend into the bias, and max (x, 0) into the
 * convolution's own last step. Only where the value before is needed by nobody else. */
#include "core/ir/rewriter.h"
#include "core/passes/passes.h"
#include <string.h>

typedef struct
{
  GantryUses *uses;
  GHashTable *constant; /* new ids of values that depend on constants only */
  guint n_changed;
} State;

typedef struct
{
  State *state;
  GantryBuilder *b;
  GantryContext *context;
} Match;

static gboolean
is_constant (const State *state, guint32 id)
{
  return g_hash_table_contains (state->constant, GUINT_TO_POINTER (id));
}

/* The values that a broadcast repeats along every dimension but the channel's (1), as a vector of @channels elements;
 * 0 when @id is something else. */
static guint32
per_channel (Match *m, guint32 id, gint64 channels)
{
  const GantryNode *node = gantry_builder_node (m->b, id);
  const GantryType *type;
  const gint64 *map;
  guint32 source;
  gsize n;

  if (node == NULL || node->op != GANTRY_OP_BROADCAST_IN_DIM)
    return 0;
  map = gantry_attrs_ints (m->context, node->attrs, "broadcast_dimensions", &n);
  source = gantry_builder_operand_of (m->b, id, 0);
  type = gantry_builder_get_type (m->b, source);
  if (gantry_type_elements (type) == 1)
    return gantry_builder_broadcast (m->b, gantry_builder_reshape (m->b, source, 0, NULL), 1, &channels, NULL);
  for (gsize i = 0; i < n; i++)
    if (type->dims[i] != 1 && (map[i] != 1 || type->dims[i] != channels))
      return 0;
  return gantry_builder_reshape (m->b, source, 1, &channels);
}

/* @id as a convolution that may still be changed: made by no one else's need. */
static const GantryNode *
open_convolution (Match *m, guint32 id)
{
  const GantryNode *node = gantry_builder_node (m->b, id);

  if (node == NULL || node->op != GANTRY_OP_CONVOLUTION || gantry_attrs_find (m->context, node->attrs, "post") != NULL ||
      !gantry_type_is_static (gantry_context_type (m->context, node->type)))
    return NULL;
  return node;
}

static guint32
rebuild (Match *m, guint32 x, guint32 weights, guint32 bias, guint32 attrs)
{
  guint32 operands[] = { x, weights, bias };

  return gantry_builder_add (m->b, GANTRY_OP_CONVOLUTION, operands, bias != 0 ? 3 : 2, attrs);
}

static guint32
scale (Match *m, guint32 convolution, guint32 factor)
{
  const GantryNode *node = open_convolution (m, convolution);
  guint32 attrs = node->attrs;
  gint64 channels = gantry_context_type (m->context, node->type)->dims[1];
  guint32 x = gantry_builder_operand_of (m->b, convolution, 0);
  guint32 weights = gantry_builder_operand_of (m->b, convolution, 1);
  guint32 bias = gantry_builder_operand_of (m->b, convolution, 2);
  const GantryType *type = gantry_builder_get_type (m->b, weights);
  gint64 first = 0;
  guint32 vector;

  if (!is_constant (m->state, weights) || !is_constant (m->state, factor) ||
      (bias != 0 && !is_constant (m->state, bias)))
    return 0;
  vector = per_channel (m, factor, channels);
  if (vector == 0)
    return 0;
  weights = gantry_builder_binary (m->b, GANTRY_OP_MULTIPLY, weights,
                                   gantry_builder_broadcast (m->b, vector, type->rank, type->dims, &first));
  g_hash_table_add (m->state->constant, GUINT_TO_POINTER (weights));
  if (bias != 0)
    {
      bias = gantry_builder_binary (m->b, GANTRY_OP_MULTIPLY, bias, vector);
      g_hash_table_add (m->state->constant, GUINT_TO_POINTER (bias));
    }
  return rebuild (m, x, weights, bias, attrs);
}

static guint32
shift (Match *m, guint32 convolution, guint32 addend)
{
  const GantryNode *node = open_convolution (m, convolution);
  guint32 attrs = node->attrs;
  gint64 channels = gantry_context_type (m->context, node->type)->dims[1];
  guint32 x = gantry_builder_operand_of (m->b, convolution, 0);
  guint32 weights = gantry_builder_operand_of (m->b, convolution, 1);
  guint32 bias = gantry_builder_operand_of (m->b, convolution, 2);
  gboolean constant;
  guint32 vector;

  if (!is_constant (m->state, addend))
    return 0;
  vector = per_channel (m, addend, channels);
  if (vector == 0)
    return 0;
  constant = bias == 0 || is_constant (m->state, bias);
  if (bias != 0)
    vector = gantry_builder_binary (m->b, GANTRY_OP_ADD, bias, vector);
  if (constant)
    g_hash_table_add (m->state->constant, GUINT_TO_POINTER (vector));
  return rebuild (m, x, weights, vector, attrs);
}

static guint32
rectify (Match *m, guint32 convolution, guint32 floor)
{
  const GantryNode *node = open_convolution (m, convolution);
  GantryLiteral *zero = gantry_builder_constant_of (m->b, floor);
  guint32 x = gantry_builder_operand_of (m->b, convolution, 0);
  guint32 weights = gantry_builder_operand_of (m->b, convolution, 1);
  guint32 bias = gantry_builder_operand_of (m->b, convolution, 2);
  GantryAttrList *attrs;

  if (zero == NULL || !zero->splat || gantry_literal_get_double (zero, 0) != 0)
    return 0;
  attrs = gantry_attr_list_new (m->context);
  gantry_attr_list_set_all (attrs, node->attrs);
  gantry_attr_list_set_string (attrs, "post", "relu");
  return rebuild (m, x, weights, bias, gantry_attr_list_end (attrs));
}

/* The new value of a node that follows a convolution, 0 when it stays. */
static guint32
absorb (Match *m, GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node)
{
  for (guint i = 0; i < 2; i++)
    {
      guint32 old = gantry_node_operand_id (module, node, i);
      guint32 position = gantry_module_position (module, gantry_module_node (module, old));
      guint32 convolution = gantry_rewriter_map (rewriter, old);
      guint32 other = gantry_rewriter_map (rewriter, gantry_node_operand_id (module, node, 1 - i));
      guint32 origins[] = { old, node->id };

      if (m->state->uses->first[position + 1] - m->state->uses->first[position] != 1 ||
          open_convolution (m, convolution) == NULL)
        continue;
      gantry_builder_set_origins (m->b, origins, 2);
      if (node->op == GANTRY_OP_MULTIPLY)
        return scale (m, convolution, other);
      if (node->op == GANTRY_OP_ADD)
        return shift (m, convolution, other);
      return rectify (m, convolution, other);
    }
  return 0;
}

static void
note_constant (State *state, GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node)
{
  const GantryOpInfo *info = gantry_op_info (node->op);
  gboolean constant = node->op == GANTRY_OP_CONSTANT;

  if (info != NULL && node->n_operands > 0 && (info->flags & (GANTRY_OP_RANDOM | GANTRY_OP_EFFECT)) == 0)
    {
      constant = TRUE;
      for (guint i = 0; i < node->n_operands && constant; i++)
        constant = is_constant (state, gantry_rewriter_map (rewriter, gantry_node_operand_id (module, node, i)));
    }
  if (constant)
    g_hash_table_add (state->constant, GUINT_TO_POINTER (gantry_rewriter_map (rewriter, node->id)));
}

static gboolean
visit (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, gpointer user_data,
       GError **error)
{
  State *state = user_data;
  Match match = { .state = state, .b = gantry_rewriter_builder (rewriter), .context = module->context };
  guint32 absorbed = 0;

  if (node->op == GANTRY_OP_MULTIPLY || node->op == GANTRY_OP_ADD || node->op == GANTRY_OP_MAXIMUM)
    absorbed = absorb (&match, rewriter, module, node);
  if (absorbed != 0)
    {
      gantry_builder_name_node (match.b, absorbed, node->name);
      gantry_rewriter_replace (rewriter, node, absorbed);
      state->n_changed++;
    }
  else
    gantry_rewriter_keep (rewriter, node);
  note_constant (state, rewriter, module, node);
  return TRUE;
}

static GantryModule *
run (GantryModule *module, const GantryPassOptions *options, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryRewriter) rewriter = gantry_rewriter_new (module);
  State state = { .uses = gantry_uses_new (module), .constant = g_hash_table_new (NULL, NULL) };
  GantryModule *next = NULL;

  if (gantry_rewriter_run (rewriter, visit, &state, progress, error))
    next = state.n_changed > 0 ? gantry_rewriter_finish (rewriter, error) : gantry_module_ref (module);
  g_hash_table_unref (state.constant);
  gantry_uses_free (state.uses);
  return next;
}

const GantryPass gantry_pass_epilogue = {
  .name = "epilogue",
  .title = "Convolution epilogues",
  .description = "Takes scaling, bias and rectification after a convolution into it.",
  .needs = GANTRY_PROPERTY_CORE,
  .keeps = GANTRY_PROPERTY_CORE,
  .run = run,
};
