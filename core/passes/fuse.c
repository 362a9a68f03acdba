/* SPDX-License-Identifier: Apache-2.0 */
/* fuse: elementwise nodes and the movements between them become one `fusion` node, so that what lies
 * between them stays in registers. A node joins the group of its users when all of them are in one
 * group: then its value is needed nowhere else, and no path can leave the group and come back. A value
 * with users in two groups therefore survives as a value. A reduction may end a group.
 *
 * Broadcasts of scalars, constant or computed, are copied into every group that reads them: they cost nothing there
 * and a whole buffer outside. */
#include "core/ir/rewriter.h"
#include "core/passes/passes.h"

#define MOST_MEMBERS 96
#define MOST_INPUTS 24
#define NO_GROUP G_MAXUINT32

typedef struct
{
  const GantryModule *module;
  GantryUses *uses;
  guint32 *group;   /* by position: position of the root, or NO_GROUP */
  guint8 *repeated; /* by position: the group reads an element of it more than once */
  guint32 *size;    /* by position of a root */
  GArray **members; /* by position of a root: positions, in program order */
  guint8 *skip;     /* by function index: body of a fusion already */
  guint n_fused;
} State;

static gboolean
is_compiled (const GantryModule *module, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (module, node);

  return gantry_type_is_static (type) && gantry_element_is_compiled (type->element);
}

static gboolean
is_scalar_broadcast (const GantryModule *module, const GantryNode *node)
{
  const GantryNode *operand;

  if (node->op != GANTRY_OP_BROADCAST_IN_DIM)
    return FALSE;
  operand = gantry_node_operand (module, node, 0);
  return operand != NULL && gantry_type_is_tensor (gantry_node_type (module, operand)) &&
         gantry_node_type (module, operand)->rank == 0 && is_compiled (module, operand);
}

static gboolean
is_elementwise (const GantryNode *node)
{
  const GantryOpInfo *info = gantry_op_info (node->op);

  return info != NULL && (info->flags & GANTRY_OP_ELEMENTWISE) != 0 && (info->flags & GANTRY_OP_VIEW) == 0 &&
         node->op != GANTRY_OP_COPY;
}

static gboolean
is_joinable_movement (const GantryNode *node)
{
  return node->op == GANTRY_OP_BROADCAST_IN_DIM || node->op == GANTRY_OP_RESHAPE || node->op == GANTRY_OP_TRANSPOSE ||
         node->op == GANTRY_OP_SLICE || node->op == GANTRY_OP_REVERSE || node->op == GANTRY_OP_IOTA;
}

static gboolean
may_end_group (const GantryModule *module, const GantryNode *node)
{
  return is_compiled (module, node) && (is_elementwise (node) || node->op == GANTRY_OP_REDUCE);
}

/* Would the user read an element of @producer more than once? A broadcast that enlarges it does, and so does a movement
 * that ends in one. */
static gboolean
repeats (const State *state, const GantryNode *producer, guint32 user)
{
  const GantryNode *node = &state->module->nodes[user];

  if (node->op == GANTRY_OP_BROADCAST_IN_DIM && gantry_type_elements (gantry_node_type (state->module, node)) >
                                                  gantry_type_elements (gantry_node_type (state->module, producer)))
    return TRUE;
  return is_joinable_movement (node) && state->repeated[user];
}

/* The one group that all users of the node at @position are in, NO_GROUP when there is none. Movements are free of
 * arithmetic; anything else is kept out of a group that would compute it again for each reading. */
static guint32
common_group (State *state, guint32 position)
{
  const GantryNode *node = &state->module->nodes[position];
  guint32 group = NO_GROUP;

  for (guint32 i = state->uses->first[position]; i < state->uses->first[position + 1]; i++)
    {
      guint32 user = state->uses->users[i];

      if (user == G_MAXUINT32 || state->group[user] == NO_GROUP ||
          (group != NO_GROUP && state->group[user] != group))
        return NO_GROUP;
      group = state->group[user];
      state->repeated[position] |= repeats (state, node, user);
    }
  return state->repeated[position] && is_elementwise (node) ? NO_GROUP : group;
}

static void
assign (State *state, const GantryFunction *function)
{
  for (guint32 i = function->n_nodes; i-- > function->n_params;)
    {
      guint32 position = function->first_node + i;
      const GantryNode *node = &state->module->nodes[position];
      guint32 group = NO_GROUP;

      if (!is_compiled (state->module, node) || is_scalar_broadcast (state->module, node))
        continue;
      if (is_elementwise (node) || is_joinable_movement (node))
        group = common_group (state, position);
      if (group != NO_GROUP && state->size[group] < MOST_MEMBERS)
        state->group[position] = group;
      else if (may_end_group (state->module, node))
        state->group[position] = position;
      if (state->group[position] != NO_GROUP)
        state->size[state->group[position]]++;
    }
}

/* Groups of one node stay as they are, unless they read a broadcast scalar; so do groups with too many inputs. */
static void
collect (State *state, const GantryFunction *function)
{
  for (guint32 i = function->n_params; i < function->n_nodes; i++)
    {
      guint32 position = function->first_node + i;
      guint32 root = state->group[position];

      if (root == NO_GROUP)
        continue;
      if (state->members[root] == NULL)
        state->members[root] = g_array_new (FALSE, FALSE, sizeof (guint32));
      g_array_append_val (state->members[root], position);
    }
}

/* The operands of the group that come from outside, each once, in order of first use; NULL when the group is not
 * worth a fusion or has too many. */
static GArray *
inputs_of (const State *state, guint32 root)
{
  const GantryModule *module = state->module;
  GArray *inputs = g_array_new (FALSE, FALSE, sizeof (guint32));
  gboolean worth = state->members[root]->len > 1;

  for (guint m = 0; m < state->members[root]->len; m++)
    {
      const GantryNode *node = &module->nodes[g_array_index (state->members[root], guint32, m)];

      for (guint j = 0; j < node->n_operands; j++)
        {
          const GantryNode *operand = gantry_node_operand (module, node, j);
          gboolean seen = state->group[gantry_module_position (module, operand)] == root;

          if (is_scalar_broadcast (module, operand))
            {
              worth = TRUE;
              operand = gantry_node_operand (module, operand, 0);
              seen = operand->op == GANTRY_OP_CONSTANT; /* copied too */
            }
          for (guint k = 0; k < inputs->len && !seen; k++)
            seen = g_array_index (inputs, guint32, k) == operand->id;
          if (!seen)
            g_array_append_val (inputs, operand->id);
        }
    }
  if (!worth || inputs->len > MOST_INPUTS)
    g_clear_pointer (&inputs, g_array_unref);
  return inputs;
}

/* A broadcast scalar inside the body: the broadcast, copied, and the scalar, copied when it is constant. */
static guint32
copy_broadcast (GantryBuilder *builder, const GantryModule *module, const GantryNode *broadcast, GHashTable *inside)
{
  const GantryNode *scalar = gantry_node_operand (module, broadcast, 0);
  guint32 id = GPOINTER_TO_UINT (g_hash_table_lookup (inside, GUINT_TO_POINTER (scalar->id)));

  gantry_builder_set_place_of (builder, broadcast);
  gantry_builder_set_origins (builder, &scalar->id, 1);
  if (id == 0)
    id = gantry_builder_add_typed (builder, GANTRY_OP_CONSTANT, NULL, 0, scalar->attrs, scalar->type);
  gantry_builder_set_origins (builder, &broadcast->id, 1);
  return gantry_builder_add_typed (builder, GANTRY_OP_BROADCAST_IN_DIM, &id, 1, broadcast->attrs, broadcast->type);
}

static void
add_member (GantryBuilder *builder, const GantryModule *module, const GantryNode *node, GHashTable *inside)
{
  g_autofree guint32 *operands = g_new0 (guint32, node->n_operands + 1);
  GantryNode copy = *node;

  for (guint j = 0; j < node->n_operands; j++)
    {
      const GantryNode *operand = gantry_node_operand (module, node, j);
      guint32 id = GPOINTER_TO_UINT (g_hash_table_lookup (inside, GUINT_TO_POINTER (operand->id)));

      if (id == 0)
        {
          id = copy_broadcast (builder, module, operand, inside);
          g_hash_table_insert (inside, GUINT_TO_POINTER (operand->id), GUINT_TO_POINTER (id));
        }
      operands[j] = id;
    }
  copy.n_origins = 0; /* the same node, only in a body now */
  g_hash_table_insert (inside, GUINT_TO_POINTER (node->id),
                       GUINT_TO_POINTER (gantry_builder_add_node (builder, &copy, operands, NULL)));
}

static guint32
build_body (State *state, GantryBuilder *builder, guint32 root, const GArray *inputs)
{
  const GantryModule *module = state->module;
  const GantryNode *end = &module->nodes[root];
  g_autoptr (GHashTable) inside = g_hash_table_new (NULL, NULL);
  g_autofree char *name = g_strdup_printf ("fusion_%u", end->id);
  guint32 function = gantry_builder_begin (builder, name, 0);

  for (guint i = 0; i < inputs->len; i++)
    {
      const GantryNode *input = gantry_module_node (module, g_array_index (inputs, guint32, i));
      guint32 id;

      gantry_builder_set_place_of (builder, input);
      gantry_builder_set_origins (builder, &input->id, 1);
      id = gantry_builder_parameter (builder, input->type, gantry_context_string (module->context, input->name));
      g_hash_table_insert (inside, GUINT_TO_POINTER (input->id), GUINT_TO_POINTER (id));
    }
  for (guint m = 0; m < state->members[root]->len; m++)
    add_member (builder, module, &module->nodes[g_array_index (state->members[root], guint32, m)], inside);
  gantry_builder_end (builder, &end->id, 1);
  return function;
}

static void
add_fusion (State *state, GantryRewriter *rewriter, guint32 root, const GArray *inputs)
{
  const GantryModule *module = state->module;
  const GantryNode *end = &module->nodes[root];
  GantryBuilder *builder = gantry_rewriter_builder (rewriter);
  g_autofree guint32 *operands = g_new0 (guint32, inputs->len + 1);
  g_autofree guint32 *origins = g_new0 (guint32, state->members[root]->len);
  GantryAttrList *attrs = gantry_attr_list_new (module->context);

  for (guint i = 0; i < inputs->len; i++)
    operands[i] = gantry_rewriter_map (rewriter, g_array_index (inputs, guint32, i));
  for (guint m = 0; m < state->members[root]->len; m++)
    origins[m] = module->nodes[g_array_index (state->members[root], guint32, m)].id;
  gantry_attr_list_set_function (attrs, "body", build_body (state, builder, root, inputs));
  gantry_attr_list_set_string (attrs, "kind", end->op == GANTRY_OP_REDUCE ? "reduction" : "elementwise");
  gantry_builder_set_place_of (builder, end);
  gantry_builder_set_origins (builder, origins, state->members[root]->len);
  gantry_builder_set_name (builder, end->name);
  gantry_rewriter_replace (rewriter, end, gantry_builder_add_typed (builder, GANTRY_OP_FUSION, operands, inputs->len,
                                                                    gantry_attr_list_end (attrs), end->type));
  state->n_fused++;
}

static gboolean
visit (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, gpointer user_data,
       GError **error)
{
  State *state = user_data;
  guint32 position = gantry_module_position (module, node);
  guint32 root = state->group[position];
  g_autoptr (GArray) inputs = NULL;

  if (root == NO_GROUP)
    {
      gantry_rewriter_keep (rewriter, node);
      return TRUE;
    }
  if (root != position)
    {
      gantry_rewriter_erase (rewriter, node); /* it moves into the body when the walk reaches the root */
      return TRUE;
    }
  inputs = inputs_of (state, root);
  g_assert (inputs != NULL); /* dissolve() has seen to it */
  add_fusion (state, rewriter, root, inputs);
  return TRUE;
}

/* Takes back the groups that are not to be fused. */
static void
dissolve (State *state)
{
  for (guint32 root = 0; root < state->module->n_nodes; root++)
    {
      g_autoptr (GArray) inputs = NULL;

      if (state->members[root] == NULL)
        continue;
      inputs = inputs_of (state, root);
      for (guint m = 0; inputs == NULL && m < state->members[root]->len; m++)
        state->group[g_array_index (state->members[root], guint32, m)] = NO_GROUP;
    }
}

static void
find_bodies (State *state)
{
  const GantryModule *module = state->module;

  for (guint32 i = 0; i < module->n_nodes; i++)
    {
      const GantryAttr *body = module->nodes[i].op == GANTRY_OP_FUSION
                                 ? gantry_attrs_find (module->context, module->nodes[i].attrs, "body") : NULL;

      const GantryFunction *function = body != NULL ? gantry_module_function (module, body->id) : NULL;

      if (function != NULL)
        state->skip[function - module->functions] = 1;
    }
}

static GantryModule *
run (GantryModule *module, const GantryPassOptions *options, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryRewriter) rewriter = gantry_rewriter_new (module);
  State state = { .module = module, .uses = gantry_uses_new (module) };
  GantryModule *next = NULL;

  state.group = g_new (guint32, module->n_nodes + 1);
  for (guint32 i = 0; i < module->n_nodes; i++)
    state.group[i] = NO_GROUP;
  state.repeated = g_new0 (guint8, module->n_nodes + 1);
  state.size = g_new0 (guint32, module->n_nodes + 1);
  state.members = g_new0 (GArray *, module->n_nodes + 1);
  state.skip = g_new0 (guint8, module->n_functions + 1);
  find_bodies (&state);
  for (guint f = 0; f < module->n_functions; f++)
    if (!state.skip[f])
      {
        assign (&state, &module->functions[f]);
        collect (&state, &module->functions[f]);
      }
  dissolve (&state);
  if (gantry_rewriter_run (rewriter, visit, &state, progress, error))
    next = state.n_fused > 0 ? gantry_rewriter_finish (rewriter, error) : gantry_module_ref (module);
  for (guint32 i = 0; i < module->n_nodes; i++)
    g_clear_pointer (&state.members[i], g_array_unref);
  g_free (state.members);
  g_free (state.size);
  g_free (state.group);
  g_free (state.repeated);
  g_free (state.skip);
  gantry_uses_free (state.uses);
  return next;
}

const GantryPass gantry_pass_fuse = {
  .name = "fuse",
  .title = "Elementwise fusion",
  .description = "Computes chains of elementwise operations, and a reduction at their end, in one kernel.",
  .needs = GANTRY_PROPERTY_CORE,
  .gives = GANTRY_PROPERTY_FUSED,
  .keeps = GANTRY_PROPERTY_CORE,
  .run = run,
};
