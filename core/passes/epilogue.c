/* SPDX-License-Identifier: Apache-2.0 */
/* epilogue: what follows a convolution channel by channel is taken into it: a factor goes into constant
 * weights (a batch normalization costs nothing then), an addend into the bias, and max (x, 0) into the
 * convolution's own last step. Only where the value before is needed by nobody else, and where no more is rounded
 * than before: what is computed ahead from constants of half precision (a scaled weight, the sum of two addends) is
 * rounded to half precision, whereas a convolution adds in single precision and rounds once. */
#include "core/graph/rewriter.h"
#include "core/passes/passes.h"
#include <string.h>

typedef struct
{
  GantryUses *uses;
  GHashTable *constant; /* new ids of values that depend on constants only */
  GHashTable *open;     /* old id of a convolution, or of what was taken into one -> Open */
  guint n_changed;
} State;

typedef struct
{
  State *state;
  GantryRewriter *rewriter;
  GantryBuilder *b;
  GantryContext *context;
} Match;

/* A convolution that is not written yet: its only user may still be taken into it. */
typedef struct
{
  const GantryNode *node;          /* the convolution of the source */
  const GantryNode *last;          /* what was taken in last, or the convolution */
  guint32 x, weights, bias, attrs; /* as they are to be */
  GArray *origins;                 /* guint32: the convolution and all that was taken in */
} Open;

static void
open_free (gpointer data)
{
  Open *open = data;

  g_array_unref (open->origins);
  g_free (open);
}

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

static gint64
channels_of (Match *m, const Open *open)
{
  return gantry_context_type (m->context, open->node->type)->dims[1];
}

/* Whether arithmetic on constants rounds to less than what a convolution of them adds in. */
static gboolean
constants_round (GantryElementType element)
{
  return element == GANTRY_F16 || element == GANTRY_BF16;
}

static gboolean
scale (Match *m, Open *open, guint32 factor)
{
  const GantryType *type = gantry_builder_get_type (m->b, open->weights);
  gint64 first = 0;
  guint32 vector;

  if (constants_round (type->element) || !is_constant (m->state, open->weights) || !is_constant (m->state, factor)
      || (open->bias != 0 && !is_constant (m->state, open->bias)))
    return FALSE;
  vector = per_channel (m, factor, channels_of (m, open));
  if (vector == 0)
    return FALSE;
  open->weights = gantry_builder_binary (m->b, GANTRY_OP_MULTIPLY, open->weights, gantry_builder_broadcast (m->b, vector, type->rank, type->dims, &first));
  g_hash_table_add (m->state->constant, GUINT_TO_POINTER (open->weights));
  if (open->bias != 0)
    {
      open->bias = gantry_builder_binary (m->b, GANTRY_OP_MULTIPLY, open->bias, vector);
      g_hash_table_add (m->state->constant, GUINT_TO_POINTER (open->bias));
    }
  return TRUE;
}

static gboolean
shift (Match *m, Open *open, guint32 addend)
{
  gboolean constant = open->bias == 0 || is_constant (m->state, open->bias);
  guint32 vector;

  if (!is_constant (m->state, addend) || (open->bias != 0 && constants_round (gantry_builder_get_type (m->b, open->bias)->element)))
    return FALSE;
  vector = per_channel (m, addend, channels_of (m, open));
  if (vector == 0)
    return FALSE;
  open->bias = open->bias != 0 ? gantry_builder_binary (m->b, GANTRY_OP_ADD, open->bias, vector) : vector;
  if (constant)
    g_hash_table_add (m->state->constant, GUINT_TO_POINTER (open->bias));
  return TRUE;
}

static gboolean
rectify (Match *m, Open *open, guint32 floor)
{
  GantryLiteral *zero = gantry_builder_constant_of (m->b, floor);
  GantryAttrList *attrs;

  if (zero == NULL || !zero->splat || gantry_literal_get_double (zero, 0) != 0)
    return FALSE;
  attrs = gantry_attr_list_new (m->context);
  gantry_attr_list_set_all (attrs, open->attrs);
  gantry_attr_list_set_string (attrs, "post", "relu");
  open->attrs = gantry_attr_list_end (attrs);
  return TRUE;
}

/* Its value is read once, by an operation that a convolution may take in. */
static gboolean
is_followed (const State *state, const GantryModule *module, const GantryNode *node)
{
  guint32 position = gantry_module_position (module, node), first = state->uses->first[position];
  guint op;

  if (state->uses->first[position + 1] - first != 1 || state->uses->users[first] == G_MAXUINT32)
    return FALSE;
  op = module->nodes[state->uses->users[first]].op;
  return op == GANTRY_OP_MULTIPLY || op == GANTRY_OP_ADD || op == GANTRY_OP_MAXIMUM;
}

/* Writes the convolution: as it was, when nothing was taken in, or in the place of what was taken in last. */
static void
close_convolution (Match *m, const GantryModule *module, const Open *open)
{
  guint32 operands[] = { open->x, open->weights, open->bias }, id;
  gboolean constant = is_constant (m->state, open->x) && is_constant (m->state, open->weights) && (open->bias == 0 || is_constant (m->state, open->bias));

  if (open->last == open->node)
    id = gantry_rewriter_keep (m->rewriter, open->node);
  else
    {
      gantry_builder_set_place_of (m->b, open->last);
      gantry_builder_set_origins (m->b, (const guint32 *) (gpointer) open->origins->data, open->origins->len);
      id = gantry_builder_add (m->b, GANTRY_OP_CONVOLUTION, operands, open->bias != 0 ? 3 : 2, open->attrs);
      gantry_builder_name_node (m->b, id, open->last->name);
      for (guint i = 0; i < open->origins->len; i++)
        gantry_rewriter_replace (m->rewriter, gantry_module_node (module, g_array_index (open->origins, guint32, i)), id);
    }
  if (constant)
    g_hash_table_add (m->state->constant, GUINT_TO_POINTER (id));
}

/* The new id of an operand of @user, written now if it was open. */
static guint32
map_closed (Match *m, const GantryModule *module, const GantryNode *user, guint32 old)
{
  Open *open = g_hash_table_lookup (m->state->open, GUINT_TO_POINTER (old));

  if (open == NULL)
    return gantry_rewriter_map (m->rewriter, old);
  close_convolution (m, module, open);
  g_hash_table_remove (m->state->open, GUINT_TO_POINTER (old));
  gantry_builder_set_place_of (m->b, user);
  gantry_builder_set_origins (m->b, &user->id, 1);
  return gantry_rewriter_map (m->rewriter, old);
}

/* Takes @node into the epilogue of the convolution that it follows, which is complete where nothing follows. Returns: FALSE where no operand
 * is such a convolution, or its epilogue cannot take this. */
static gboolean
absorb (Match *m, const GantryModule *module, const GantryNode *node)
{
  for (guint i = 0; i < 2; i++)
    {
      guint32 old = gantry_node_operand_id (module, node, i), other;
      Open *open = g_hash_table_lookup (m->state->open, GUINT_TO_POINTER (old));
      gboolean taken;

      if (open == NULL)
        continue;
      other = map_closed (m, module, node, gantry_node_operand_id (module, node, 1 - i));
      gantry_builder_set_origins (m->b, (const guint32[]){ old, node->id }, 2);
      if (node->op == GANTRY_OP_MULTIPLY)
        taken = scale (m, open, other);
      else if (node->op == GANTRY_OP_ADD)
        taken = shift (m, open, other);
      else
        taken = rectify (m, open, other);
      gantry_builder_set_origins (m->b, &node->id, 1);
      if (!taken)
        continue;
      open->last = node;
      g_array_append_val (open->origins, node->id);
      m->state->n_changed++;
      g_hash_table_steal (m->state->open, GUINT_TO_POINTER (old));
      g_hash_table_insert (m->state->open, GUINT_TO_POINTER (node->id), open);
      /* A rectification is its last step. */
      if (node->op == GANTRY_OP_MAXIMUM || !is_followed (m->state, module, node))
        map_closed (m, module, node, node->id);
      return TRUE;
    }
  return FALSE;
}

/* Notes the id that @node, which was kept, has in the next module where it is a constant, or made of those alone without chance and effect. */
static void
note_if_constant (State *state, GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node)
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

/* Leaves a convolution open for what follows it. */
static void
open_convolution (Match *m, const GantryModule *module, const GantryNode *node)
{
  Open *open = g_new0 (Open, 1);

  open->node = open->last = node;
  open->x = gantry_rewriter_map (m->rewriter, gantry_node_operand_id (module, node, 0));
  open->weights = gantry_rewriter_map (m->rewriter, gantry_node_operand_id (module, node, 1));
  open->bias = gantry_rewriter_map (m->rewriter, gantry_node_operand_id (module, node, 2));
  open->attrs = node->attrs;
  open->origins = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_array_append_val (open->origins, node->id);
  g_hash_table_insert (m->state->open, GUINT_TO_POINTER (node->id), open);
}

static gboolean
visit (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, gpointer user_data, GError **error)
{
  State *state = user_data;
  Match match = { .state = state, .rewriter = rewriter, .b = gantry_rewriter_builder (rewriter), .context = module->context };

  if ((node->op == GANTRY_OP_MULTIPLY || node->op == GANTRY_OP_ADD || node->op == GANTRY_OP_MAXIMUM) && absorb (&match, module, node))
    return TRUE;
  for (guint i = 0; i < node->n_operands; i++)
    map_closed (&match, module, node, gantry_node_operand_id (module, node, i));
  if (node->op == GANTRY_OP_CONVOLUTION && gantry_attrs_find (module->context, node->attrs, "post") == NULL
      && gantry_type_is_static (gantry_node_type (module, node)) && is_followed (state, module, node))
    {
      open_convolution (&match, module, node);
      return TRUE;
    }
  gantry_rewriter_keep (rewriter, node);
  note_if_constant (state, rewriter, module, node);
  return TRUE;
}

static GantryModule *
run (GantryModule *module, const GantryPassOptions *options, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryRewriter) rewriter = gantry_rewriter_new (module);
  State state = { .uses = gantry_uses_new (module), .constant = g_hash_table_new (NULL, NULL) };
  GantryModule *next = NULL;

  state.open = g_hash_table_new_full (NULL, NULL, NULL, open_free);
  if (gantry_rewriter_run (rewriter, visit, &state, progress, error))
    next = state.n_changed > 0 ? gantry_rewriter_finish (rewriter, error) : gantry_module_ref (module);
  g_hash_table_unref (state.constant);
  g_hash_table_unref (state.open);
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
