/* SPDX-License-Identifier: Apache-2.0 */
/* fuse: elementwise nodes and the movements between them become one `fusion` node, so that what lies
 * between them stays in registers. A node joins the group of its users when all of them are in one
 * group: then its value is needed nowhere else, and no path can leave the group and come back. A value
 * with users in two groups therefore survives as a value. A reduction may end a group, or stand within one whose
 * elements lie in its rows, where the options want that (fuse-rows.c): a softmax is one group.
 *
 * Broadcasts of scalars, constant or computed, and constants with all elements alike are copied into every group that
 * reads them: they cost nothing there and a whole buffer outside. So are other broadcasts that enlarge, and numbers of
 * places (iota), where users in several groups read them: what is kept until the last of these is the small operand.
 *
 * A group of the backward phase that reads z and also tanh (z), both of the forward phase, computes tanh (z) itself: copies
 * of elementwise forward nodes replace inputs that the other inputs determine, with the operands of broadcasts that are
 * hardly anything beside these. So what is saved between the phases is z
 * alone, and the forward group that made tanh (z) keeps it in registers. Forward programs are not changed by this. */
#include "core/passes/fuse-private.h"
#include <string.h>

#define MOST_INPUTS 24

/* In GantryFuse.products. */
enum
{
  HOLDS_PRODUCT = 1,
  TAKES_NO_PRODUCT = 2
};

/* Would the user read an element of @producer more than once? A product does, and a broadcast that enlarges it, and so does a movement
 * that ends in one of them. */
static gboolean
repeats (const GantryFuse *state, const GantryNode *producer, guint32 user)
{
  const GantryNode *node = &state->module->nodes[user];

  if (node->op == GANTRY_OP_BROADCAST_IN_DIM
      && gantry_type_elements (gantry_node_type (state->module, node)) > gantry_type_elements (gantry_node_type (state->module, producer)))
    return TRUE;
  return _gantry_fuse_is_product (node) || (_gantry_fuse_is_joinable_movement (node) && state->repeated[user]);
}

static gboolean
has_copy (const GantryFuse *state, guint32 root, guint32 position)
{
  return state->copies[root] != NULL && g_hash_table_contains (state->copies[root], GUINT_TO_POINTER (position));
}

static gboolean
same_dims (const GantryType *a, const GantryType *b)
{
  return a->rank == b->rank && memcmp (a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

/* Does the group's end have the elements whose rows the node at @position is about, or put the same rows together? */
static gboolean
fits_rows (const GantryFuse *state, guint32 position, guint32 group)
{
  const GantryModule *module = state->module;
  const GantryNode *reduction = &module->nodes[state->rows[position] - 1], *end = &module->nodes[group];
  const GantryType *whole = gantry_node_operand_type (module, reduction, 0);

  if (end->op == GANTRY_OP_REDUCE)
    return end->attrs == reduction->attrs && same_dims (gantry_node_operand_type (module, end, 0), whole);
  return same_dims (gantry_node_type (module, end), whole);
}

/* The one group that all users of the node at @position are in, GANTRY_FUSE_NO_GROUP when there is none. Movements are free of
 * arithmetic; anything else is kept out of a group that would compute it again for each reading. What is
 * computed once for a row is not. */
static guint32
common_group (GantryFuse *state, guint32 position)
{
  const GantryNode *node = &state->module->nodes[position];
  guint32 group = GANTRY_FUSE_NO_GROUP;

  for (guint32 i = state->uses->first[position]; i < state->uses->first[position + 1]; i++)
    {
      guint32 user = state->uses->users[i];

      if (user != G_MAXUINT32 && state->group[user] != GANTRY_FUSE_NO_GROUP && has_copy (state, state->group[user], position))
        continue;
      if (user == G_MAXUINT32 || state->group[user] == GANTRY_FUSE_NO_GROUP || (group != GANTRY_FUSE_NO_GROUP && state->group[user] != group))
        return GANTRY_FUSE_NO_GROUP;
      group = state->group[user];
      state->repeated[position] |= repeats (state, node, user);
    }
  if (state->kept[position])
    return GANTRY_FUSE_NO_GROUP;
  if (group != GANTRY_FUSE_NO_GROUP && state->rows[position] != 0)
    return fits_rows (state, position, group) ? group : GANTRY_FUSE_NO_GROUP;
  return state->repeated[position] && _gantry_fuse_is_elementwise (node) ? GANTRY_FUSE_NO_GROUP : group;
}

/* The group of elementwise operations that may be the epilogue of the product at @position: it computes each element of it once, in
 * the order in which the product lies in memory, puts no rows together and holds no other product. */
static guint32
group_of_epilogue (GantryFuse *state, guint32 position)
{
  const GantryModule *module = state->module;
  guint32 group = common_group (state, position);
  const GantryNode *end = group != GANTRY_FUSE_NO_GROUP ? &module->nodes[group] : NULL;

  if (end == NULL || state->repeated[position] || state->products[group] != 0 || end->op == GANTRY_OP_REDUCE || end->phase != module->nodes[position].phase
      || gantry_type_elements (gantry_node_type (module, end)) != gantry_type_elements (gantry_node_type (module, &module->nodes[position])))
    return GANTRY_FUSE_NO_GROUP;
  return group;
}

/* The group that the node at @position joins; a product is one of a group that begins or ends with it. */
static guint32
group_of (GantryFuse *state, guint32 position)
{
  const GantryNode *node = &state->module->nodes[position];
  gboolean is_reduction = state->rows[position] == 1 + position;
  guint32 group = GANTRY_FUSE_NO_GROUP;

  if (state->products != NULL && _gantry_fuse_is_product (node))
    group = group_of_epilogue (state, position);
  else if (_gantry_fuse_is_elementwise (node) || _gantry_fuse_is_joinable_movement (node) || is_reduction)
    group = common_group (state, position);
  if (group == GANTRY_FUSE_NO_GROUP || state->size[group] >= state->most[group]
      || (state->products != NULL && is_reduction && state->products[group] == HOLDS_PRODUCT))
    return GANTRY_FUSE_NO_GROUP;
  return group;
}

/* What keeps products out of the group from now on. */
static void
note_member (GantryFuse *state, guint32 position)
{
  const GantryNode *node = &state->module->nodes[position];
  guint8 *products = state->products != NULL ? &state->products[state->group[position]] : NULL;

  if (products == NULL || *products != 0)
    return;
  if (_gantry_fuse_is_product (node))
    *products = HOLDS_PRODUCT;
  else if (state->rows[position] != 0 || node->op == GANTRY_OP_TRANSPOSE || node->op == GANTRY_OP_REVERSE)
    *products = TAKES_NO_PRODUCT;
}

static void
assign (GantryFuse *state, const GantryFunction *function)
{
  for (guint32 i = function->n_nodes; i-- > function->n_params;)
    {
      guint32 position = function->first_node + i, group;
      const GantryNode *node = &state->module->nodes[position];

      if (!_gantry_fuse_is_compiled (state->module, node))
        continue;
      if (_gantry_fuse_is_scalar_broadcast (state->module, node) || _gantry_fuse_is_splat_constant (state->module, node))
        {
          state->copied[position] = 1;
          continue;
        }
      group = group_of (state, position);
      if (group != GANTRY_FUSE_NO_GROUP)
        state->group[position] = group;
      else if (_gantry_fuse_may_end_group (state->module, node) || (state->products != NULL && _gantry_fuse_is_product (node)))
        state->group[position] = position;
      if (state->group[position] != GANTRY_FUSE_NO_GROUP)
        {
          state->size[state->group[position]]++;
          note_member (state, position);
        }
      else
        state->copied[position] = _gantry_fuse_enlarges (state->module, node, 2);
    }
}

int
_gantry_fuse_compare_positions (gconstpointer a, gconstpointer b)
{
  return *(const guint32 *) a < *(const guint32 *) b ? -1 : *(const guint32 *) a > *(const guint32 *) b;
}

/* Groups of one node stay as they are, unless they read a broadcast scalar; so do groups with too many inputs. */
static void
collect (GantryFuse *state, const GantryFunction *function)
{
  for (guint32 i = function->n_params; i < function->n_nodes; i++)
    {
      guint32 position = function->first_node + i;
      guint32 root = state->group[position];

      if (root == GANTRY_FUSE_NO_GROUP)
        continue;
      if (state->members[root] == NULL)
        state->members[root] = g_array_new (FALSE, FALSE, sizeof (guint32));
      g_array_append_val (state->members[root], position);
    }
  for (guint32 root = function->first_node; root < function->first_node + function->n_nodes; root++)
    if (state->copies[root] != NULL && state->members[root] != NULL)
      {
        GHashTableIter iter;
        gpointer key;

        g_hash_table_iter_init (&iter, state->copies[root]);
        while (g_hash_table_iter_next (&iter, &key, NULL))
          {
            guint32 position = GPOINTER_TO_UINT (key);

            if (state->group[position] != root)
              g_array_append_val (state->members[root], position);
          }
        g_array_sort (state->members[root], _gantry_fuse_compare_positions);
      }
}

static gboolean
is_constant_scalar (const GantryModule *module, const GantryNode *node)
{
  return node->op == GANTRY_OP_CONSTANT && gantry_node_type (module, node)->rank == 0;
}

/* The operands of the group that come from outside, each once, in order of first use; NULL when the group is not
 * worth a fusion. */
static GArray *
all_inputs_of (const GantryFuse *state, guint32 root)
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
          guint32 position = gantry_module_position (module, operand);
          gboolean seen = state->group[position] == root || has_copy (state, root, position);

          if (!seen && state->copied[position])
            {
              worth = TRUE;
              operand = gantry_node_operand (module, operand, 0);
              seen = operand == NULL || is_constant_scalar (module, operand) || has_copy (state, root, gantry_module_position (module, operand));
            }
          for (guint k = 0; k < inputs->len && !seen; k++)
            seen = g_array_index (inputs, guint32, k) == operand->id;
          if (!seen)
            g_array_append_val (inputs, operand->id);
        }
    }
  if (!worth)
    g_clear_pointer (&inputs, g_array_unref);
  return inputs;
}

/* The same; NULL also when there are more of them than a kernel takes. */
static GArray *
inputs_of (const GantryFuse *state, guint32 root)
{
  GArray *inputs = all_inputs_of (state, root);

  if (inputs != NULL && inputs->len > MOST_INPUTS)
    g_clear_pointer (&inputs, g_array_unref);
  return inputs;
}

/* A node of no group inside the body, copied, and its operand where that is a constant scalar; other operands are there. */
static guint32
add_copied (GantryBuilder *builder, const GantryModule *module, const GantryNode *node, GHashTable *inside)
{
  const GantryNode *operand = gantry_node_operand (module, node, 0);
  guint32 id = operand != NULL ? GPOINTER_TO_UINT (g_hash_table_lookup (inside, GUINT_TO_POINTER (operand->id))) : 0;

  gantry_builder_set_place_of (builder, node);
  if (operand != NULL && id == 0)
    {
      gantry_builder_set_origins (builder, &operand->id, 1);
      id = gantry_builder_add_typed (builder, GANTRY_OP_CONSTANT, NULL, 0, operand->attrs, operand->type);
    }
  gantry_builder_set_origins (builder, &node->id, 1);
  return gantry_builder_add_typed (builder, node->op, &id, operand != NULL, node->attrs, node->type);
}

static void
add_member (GantryBuilder *builder, const GantryModule *module, const GantryNode *node, gboolean is_copy, GHashTable *inside)
{
  g_autofree guint32 *operands = g_new0 (guint32, node->n_operands + 1);
  GantryNode copy = *node;

  for (guint j = 0; j < node->n_operands; j++)
    {
      const GantryNode *operand = gantry_node_operand (module, node, j);
      guint32 id = GPOINTER_TO_UINT (g_hash_table_lookup (inside, GUINT_TO_POINTER (operand->id)));

      if (id == 0)
        {
          id = add_copied (builder, module, operand, inside);
          g_hash_table_insert (inside, GUINT_TO_POINTER (operand->id), GUINT_TO_POINTER (id));
        }
      operands[j] = id;
    }
  copy.n_origins = is_copy; /* else the same node, only in a body now */
  if (is_copy)
    copy.id = 0;
  g_hash_table_insert (inside, GUINT_TO_POINTER (node->id), GUINT_TO_POINTER (gantry_builder_add_node (builder, &copy, operands, &node->id)));
}

static guint32
build_body (GantryFuse *state, GantryBuilder *builder, guint32 root, const GArray *inputs)
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
    {
      guint32 position = g_array_index (state->members[root], guint32, m);

      add_member (builder, module, &module->nodes[position], state->group[position] != root, inside);
    }
  gantry_builder_end (builder, &end->id, 1);
  return function;
}

static void
add_fusion (GantryFuse *state, GantryRewriter *rewriter, guint32 root, const GArray *inputs)
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
  gantry_rewriter_replace (rewriter, end, gantry_builder_add_typed (builder, GANTRY_OP_FUSION, operands, inputs->len, gantry_attr_list_end (attrs), end->type));
  state->n_fused++;
}

static gboolean
visit (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, gpointer user_data, GError **error)
{
  GantryFuse *state = user_data;
  guint32 position = gantry_module_position (module, node);
  guint32 root = state->group[position];
  g_autoptr (GArray) inputs = NULL;

  if (root == GANTRY_FUSE_NO_GROUP)
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
dissolve (GantryFuse *state)
{
  for (guint32 root = 0; root < state->module->n_nodes; root++)
    {
      g_autoptr (GArray) inputs = NULL;

      if (state->members[root] == NULL)
        continue;
      inputs = inputs_of (state, root);
      g_assert (inputs != NULL || state->copies[root] == NULL); /* copy_what_pays() has seen to it */
      for (guint m = 0; inputs == NULL && m < state->members[root]->len; m++)
        state->group[g_array_index (state->members[root], guint32, m)] = GANTRY_FUSE_NO_GROUP;
    }
}

static void
clear_groups (GantryFuse *state)
{
  for (guint32 i = 0; i < state->module->n_nodes; i++)
    {
      state->group[i] = GANTRY_FUSE_NO_GROUP;
      state->size[i] = 0;
      state->repeated[i] = 0;
      state->copied[i] = 0;
      if (state->products != NULL)
        state->products[i] = 0;
      g_clear_pointer (&state->members[i], g_array_unref);
    }
}

/* A group that reads more values than a kernel takes gets fewer members. Returns: whether there was one */
static gboolean
make_smaller (GantryFuse *state)
{
  gboolean any = FALSE;

  for (guint32 root = 0; root < state->module->n_nodes; root++)
    {
      g_autoptr (GArray) inputs = state->members[root] != NULL ? all_inputs_of (state, root) : NULL;

      if (inputs == NULL || inputs->len <= MOST_INPUTS || state->most[root] == 1)
        continue;
      state->most[root] = state->size[root] / 2;
      any = TRUE;
    }
  return any;
}

static void
find_groups (GantryFuse *state)
{
  clear_groups (state);
  for (guint f = 0; f < state->module->n_functions; f++)
    if (!state->skip[f])
      {
        assign (state, &state->module->functions[f]);
        collect (state, &state->module->functions[f]);
      }
}

/* What each group of the backward phase reads, by position of its root. */
static GArray **
backward_inputs (const GantryFuse *state)
{
  GArray **inputs = g_new0 (GArray *, state->module->n_nodes + 1);

  for (guint32 root = 0; root < state->module->n_nodes; root++)
    if (state->members[root] != NULL && state->module->nodes[root].phase != GANTRY_PHASE_FORWARD)
      inputs[root] = inputs_of (state, root);
  return inputs;
}

/* Finds the groups again without the uses that copies take over. Groups of the backward phase come out as they were, since they
 * are found from the end of the program; should one have become too large, it goes without. */
static void
find_groups_with_copies (GantryFuse *state)
{
  gboolean any = TRUE;

  while (any)
    {
      find_groups (state);
      any = FALSE;
      for (guint32 root = 0; root < state->module->n_nodes; root++)
        if (state->copies[root] != NULL)
          {
            g_autoptr (GArray) reads = state->members[root] != NULL ? inputs_of (state, root) : NULL;

            if (reads != NULL)
              continue;
            g_clear_pointer (&state->copies[root], g_hash_table_unref);
            any = TRUE;
          }
    }
}

static void
copy_what_pays (GantryFuse *state)
{
  void (*const choose[]) (GantryFuse *, GArray *const *) = { _gantry_fuse_choose_copies, _gantry_fuse_choose_residuals };

  for (guint c = 0; c < G_N_ELEMENTS (choose); c++)
    {
      g_autofree GArray **inputs = backward_inputs (state);

      choose[c](state, inputs);
      for (guint32 root = 0; root < state->module->n_nodes; root++)
        g_clear_pointer (&inputs[root], g_array_unref);
      find_groups_with_copies (state);
    }
}

static void
find_bodies (GantryFuse *state)
{
  const GantryModule *module = state->module;

  for (guint32 i = 0; i < module->n_nodes; i++)
    {
      const GantryFunction *function = gantry_node_fusion_body (module, &module->nodes[i]);

      if (function != NULL)
        state->skip[function - module->functions] = 1;
    }
}

static GantryModule *
run (GantryModule *module, const GantryPassOptions *options, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryRewriter) rewriter = gantry_rewriter_new (module);
  GantryFuse state = { .module = module, .uses = gantry_uses_new (module) };
  GantryModule *next = NULL;

  state.group = g_new (guint32, module->n_nodes + 1);
  state.repeated = g_new0 (guint8, module->n_nodes + 1);
  state.size = g_new0 (guint32, module->n_nodes + 1);
  state.most = g_new (guint8, module->n_nodes + 1);
  state.copied = g_new0 (guint8, module->n_nodes + 1);
  state.kept = g_new0 (guint8, module->n_nodes + 1);
  state.members = g_new0 (GArray *, module->n_nodes + 1);
  state.copies = g_new0 (GHashTable *, module->n_nodes + 1);
  state.skip = g_new0 (guint8, module->n_functions + 1);
  state.rows = options->fuse_rows ? _gantry_fuse_find_rows (module, state.uses) : g_new0 (guint32, module->n_nodes + 1);
  state.products = options->fuse_products ? g_new0 (guint8, module->n_nodes + 1) : NULL;
  find_bodies (&state);
  memset (state.most, GANTRY_FUSE_MOST_MEMBERS, module->n_nodes + 1);
  /* Each round halves what is too large, so there are few. */
  do
    find_groups (&state);
  while (make_smaller (&state));
  copy_what_pays (&state);
  dissolve (&state);
  if (gantry_rewriter_run (rewriter, visit, &state, progress, error))
    next = state.n_fused > 0 ? gantry_rewriter_finish (rewriter, error) : gantry_module_ref (module);
  for (guint32 i = 0; i < module->n_nodes; i++)
    {
      g_clear_pointer (&state.members[i], g_array_unref);
      g_clear_pointer (&state.copies[i], g_hash_table_unref);
    }
  g_free (state.products);
  g_free (state.members);
  g_free (state.copies);
  g_free (state.size);
  g_free (state.most);
  g_free (state.copied);
  g_free (state.kept);
  g_free (state.group);
  g_free (state.repeated);
  g_free (state.rows);
  g_free (state.skip);
  gantry_uses_free (state.uses);
  return next;
}

const GantryPass gantry_pass_fuse = {
  .name = "fuse",
  .title = "Elementwise fusion",
  .description = "Computes chains of elementwise operations, the reductions of their rows, and a reduction at their end, in one "
                 "kernel.",
  .needs = GANTRY_PROPERTY_CORE,
  .gives = GANTRY_PROPERTY_FUSED,
  .keeps = GANTRY_PROPERTY_CORE,
  .run = run,
};
