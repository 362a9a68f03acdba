/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of forward nodes in groups of the backward phase: what lies between the phases is less then. First what the group reads
 * is computed from other values that it reads; then several values that come of one are computed from that one, as x / 2 and
 * tanh (x) are from x; then what lies between the phases only for groups that can compute it from what lies there beside it for
 * as long, as normalized elements can be from those before: a small part of the minimum cut that recomputation wants, and one
 * that is never a loss. */
#include "core/passes/fuse-private.h"

#define MOST_COPIES 48
#define LIGHT_TIMES 8 /* elements of a broadcast for each of its operand */
#define NONE G_MAXUINT32

typedef struct
{
  const GantryFuse *fuse;
  guint32 root;
  guint32 input;             /* position of the value to be computed again */
  GHashTable *inputs;        /* positions of what the group reads */
  const guint32 *last_reads; /* (nullable): by position, as in choose_residuals(): those may be read too */
  gboolean from_base;        /* may be computed from one value more: */
  guint32 base;              /* its position, NONE: not met yet */
  GHashTable *copies;        /* positions of what it would have copies of */
  GHashTable *kept;          /* positions of what it would read then and does not now */
} Search;

/* A broadcast whose operand, a value of its own, is hardly anything beside it: that may be kept instead of it. */
static gboolean
is_light_broadcast (const GantryFuse *fuse, const GantryNode *node)
{
  const GantryModule *module = fuse->module;

  return node->op == GANTRY_OP_BROADCAST_IN_DIM && _gantry_fuse_is_compiled (module, node) && _gantry_fuse_enlarges (module, node, LIGHT_TIMES)
         && fuse->rows[gantry_module_position (module, gantry_node_operand (module, node, 0))] == 0;
}

/* A value that is there whatever is fused. */
static gboolean
may_be_base (const Search *search, guint32 position)
{
  const GantryNode *node = &search->fuse->module->nodes[position];

  return search->from_base && _gantry_fuse_is_compiled (search->fuse->module, node) && node->phase == GANTRY_PHASE_FORWARD
         && !_gantry_fuse_is_elementwise (node) && !_gantry_fuse_is_joinable_movement (node) && search->fuse->rows[position] == 0;
}

/* Another group of the backward phase reads the value, no earlier than this one. */
static gboolean
is_residual (const Search *search, guint32 position)
{
  return search->last_reads != NULL && position != search->input && search->last_reads[position] >= search->root
         && !g_hash_table_contains (search->inputs, GUINT_TO_POINTER (position));
}

/* TRUE when the value can be computed from inputs of the group, the base, residuals, and operands of light broadcasts, by elementwise nodes;
 * notes those. */
static gboolean
can_compute (Search *search, guint32 position)
{
  const GantryModule *module = search->fuse->module;
  const GantryNode *node = &module->nodes[position];

  if (is_residual (search, position))
    {
      g_hash_table_add (search->kept, GUINT_TO_POINTER (position));
      return TRUE;
    }
  if (g_hash_table_contains (search->copies, GUINT_TO_POINTER (position)) || position == search->base
      || (position != search->input && g_hash_table_contains (search->inputs, GUINT_TO_POINTER (position))) || _gantry_fuse_is_scalar_broadcast (module, node)
      || _gantry_fuse_is_splat_constant (module, node))
    return TRUE;
  if (is_light_broadcast (search->fuse, node))
    {
      guint32 operand = gantry_module_position (module, gantry_node_operand (module, node, 0));

      g_hash_table_add (search->copies, GUINT_TO_POINTER (position));
      g_hash_table_add (search->kept, GUINT_TO_POINTER (operand));
      return TRUE;
    }
  if (search->base == NONE && may_be_base (search, position))
    {
      search->base = position;
      g_hash_table_add (search->kept, GUINT_TO_POINTER (position));
      return TRUE;
    }
  if (!_gantry_fuse_is_elementwise (node) || !_gantry_fuse_is_compiled (module, node) || node->phase != GANTRY_PHASE_FORWARD
      || g_hash_table_size (search->copies) + search->fuse->size[search->root] >= MOST_COPIES)
    return FALSE;
  g_hash_table_add (search->copies, GUINT_TO_POINTER (position));
  for (guint j = 0; j < node->n_operands; j++)
    if (!can_compute (search, gantry_module_position (module, gantry_node_operand (module, node, j))))
      return FALSE;
  return TRUE;
}

/* An element that the group reads through a broadcast it would compute more than once. */
static gboolean
is_read_once (const GantryFuse *fuse, guint32 position, guint32 root)
{
  for (guint32 i = fuse->uses->first[position]; i < fuse->uses->first[position + 1]; i++)
    {
      guint32 user = fuse->uses->users[i];

      if (user != G_MAXUINT32 && (fuse->group[user] == root || fuse->copied[user]) && !_gantry_fuse_may_end_group (fuse->module, &fuse->module->nodes[user]))
        return FALSE;
    }
  return TRUE;
}

static gboolean
search_begin (Search *search, const GantryFuse *fuse, guint32 root, guint32 input, GHashTable *inputs, gboolean from_base, const guint32 *last_reads)
{
  search->fuse = fuse;
  search->root = root;
  search->input = input;
  search->inputs = inputs;
  search->from_base = from_base;
  search->last_reads = last_reads;
  search->base = NONE;
  search->copies = g_hash_table_new (NULL, NULL);
  search->kept = g_hash_table_new (NULL, NULL);
  return is_read_once (fuse, input, root) && _gantry_fuse_is_elementwise (&fuse->module->nodes[input]) && can_compute (search, input);
}

static void
search_end (Search *search)
{
  g_hash_table_unref (search->copies);
  g_hash_table_unref (search->kept);
}

/* Takes what the search has found, unless the group would become too large. */
static gboolean
take (GantryFuse *fuse, const Search *search)
{
  GHashTable *chosen = fuse->copies[search->root];
  GHashTableIter iter;
  gpointer key;

  if ((chosen != NULL ? g_hash_table_size (chosen) : 0) + g_hash_table_size (search->copies) + fuse->size[search->root] > GANTRY_FUSE_MOST_MEMBERS)
    return FALSE;
  if (chosen == NULL)
    chosen = fuse->copies[search->root] = g_hash_table_new (NULL, NULL);
  g_hash_table_iter_init (&iter, search->copies);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    g_hash_table_add (chosen, key);
  g_hash_table_iter_init (&iter, search->kept);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    fuse->kept[GPOINTER_TO_UINT (key)] = 1;
  return TRUE;
}

/* What the group of @root reads, by position. */
static GHashTable *
positions_of (const GantryFuse *fuse, const GArray *inputs)
{
  GHashTable *positions = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < inputs->len; i++)
    g_hash_table_add (positions,
                      GUINT_TO_POINTER (gantry_module_position (fuse->module, gantry_module_node (fuse->module, g_array_index (inputs, guint32, i)))));
  return positions;
}

/* From other inputs: the last ones come first, so that each is computed from earlier ones. */
static void
choose_from_inputs (GantryFuse *fuse, guint32 root, const GArray *inputs)
{
  g_autoptr (GHashTable) positions = positions_of (fuse, inputs);
  g_autoptr (GArray) sorted = g_array_new (FALSE, FALSE, sizeof (guint32));
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, positions);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      guint32 position = GPOINTER_TO_UINT (key);

      g_array_append_val (sorted, position);
    }
  g_array_sort (sorted, _gantry_fuse_compare_positions);
  for (guint i = sorted->len; i-- > 0;)
    {
      Search search;

      if (search_begin (&search, fuse, root, g_array_index (sorted, guint32, i), positions, FALSE, NULL))
        take (fuse, &search);
      search_end (&search);
    }
}

/* Do groups alone read the value in the backward phase? Else it is there in any case. */
static gboolean
is_read_by_groups (const GantryFuse *fuse, guint32 position)
{
  for (guint32 i = fuse->uses->first[position]; i < fuse->uses->first[position + 1]; i++)
    {
      guint32 user = fuse->uses->users[i];

      if (user == G_MAXUINT32 || (fuse->module->nodes[user].phase != GANTRY_PHASE_FORWARD && fuse->group[user] == GANTRY_FUSE_NO_GROUP))
        return FALSE;
    }
  return TRUE;
}

/* One value that the input comes of, and that is no larger. */
static gboolean
find_base (Search *search, const GantryFuse *fuse, guint32 root, guint32 input, GHashTable *positions)
{
  gboolean found = search_begin (search, fuse, root, input, positions, TRUE, NULL);

  return found && search->base != NONE && is_read_by_groups (fuse, input)
         && gantry_type_bytes (gantry_node_type (fuse->module, &fuse->module->nodes[search->base]))
              <= gantry_type_bytes (gantry_node_type (fuse->module, &fuse->module->nodes[input]));
}

/* What each group still reads and that comes of one value: counted by that (@sources), then taken where two or more do. */
static void
for_each_base (GantryFuse *fuse, GArray *const *inputs, GHashTable *sources, gboolean taking)
{
  for (guint32 root = 0; root < fuse->module->n_nodes; root++)
    {
      g_autoptr (GHashTable) positions = inputs[root] != NULL ? positions_of (fuse, inputs[root]) : NULL;

      for (guint i = 0; positions != NULL && i < inputs[root]->len; i++)
        {
          const GantryNode *node = gantry_module_node (fuse->module, g_array_index (inputs[root], guint32, i));
          guint32 input = gantry_module_position (fuse->module, node);
          GHashTable *of_base;
          Search search;

          if (fuse->copies[root] != NULL && g_hash_table_contains (fuse->copies[root], GUINT_TO_POINTER (input)))
            continue;
          if (find_base (&search, fuse, root, input, positions))
            {
              of_base = g_hash_table_lookup (sources, GUINT_TO_POINTER (search.base));
              if (taking && of_base != NULL && g_hash_table_size (of_base) > 1)
                take (fuse, &search);
              else if (!taking && of_base == NULL)
                g_hash_table_insert (sources, GUINT_TO_POINTER (search.base), of_base = g_hash_table_new (NULL, NULL));
              if (!taking)
                g_hash_table_add (of_base, GUINT_TO_POINTER (input));
            }
          search_end (&search);
        }
    }
}

void
_gantry_fuse_choose_copies (GantryFuse *fuse, GArray *const *inputs)
{
  g_autoptr (GHashTable) sources = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_hash_table_unref);

  for (guint32 root = 0; root < fuse->module->n_nodes; root++)
    if (inputs[root] != NULL)
      choose_from_inputs (fuse, root, inputs[root]);
  for_each_base (fuse, inputs, sources, FALSE);
  for_each_base (fuse, inputs, sources, TRUE);
}

/* By position: that of the last reader in the backward phase, 0: none. */
static guint32 *
find_last_reads (const GantryFuse *fuse, GHashTable *const *positions)
{
  guint32 *last = g_new0 (guint32, fuse->module->n_nodes + 1);

  for (guint32 i = 0; i < fuse->module->n_nodes; i++)
    for (guint32 k = fuse->uses->first[i]; k < fuse->uses->first[i + 1]; k++)
      {
        guint32 user = fuse->uses->users[k];

        if (user == G_MAXUINT32)
          last[i] = user;
        else if (fuse->module->nodes[user].phase != GANTRY_PHASE_FORWARD && (fuse->group[user] == GANTRY_FUSE_NO_GROUP || positions[fuse->group[user]] == NULL))
          last[i] = MAX (last[i], user);
      }
  for (guint32 root = 0; root < fuse->module->n_nodes; root++)
    if (positions[root] != NULL)
      {
        GHashTableIter iter;
        gpointer key;

        g_hash_table_iter_init (&iter, positions[root]);
        while (g_hash_table_iter_next (&iter, &key, NULL))
          last[GPOINTER_TO_UINT (key)] = MAX (last[GPOINTER_TO_UINT (key)], root);
      }
  return last;
}

/* Can each group that reads the value compute it? @taking: they do so from here on. */
static gboolean
can_all_compute (GantryFuse *fuse, guint32 position, GHashTable *const *positions, const guint32 *last_reads, gboolean taking)
{
  guint32 seen = GANTRY_FUSE_NO_GROUP;

  for (guint32 i = fuse->uses->first[position]; i < fuse->uses->first[position + 1]; i++)
    {
      guint32 user = fuse->uses->users[i], root = user == G_MAXUINT32 ? GANTRY_FUSE_NO_GROUP : fuse->group[user];
      Search search;
      gboolean can;

      if (user != G_MAXUINT32 && fuse->module->nodes[user].phase == GANTRY_PHASE_FORWARD)
        continue;
      if (root == GANTRY_FUSE_NO_GROUP || positions[root] == NULL)
        return FALSE;
      if (root == seen)
        continue;
      seen = root;
      can = search_begin (&search, fuse, root, position, positions[root], FALSE, last_reads);
      if (can && taking)
        take (fuse, &search);
      search_end (&search);
      if (!can)
        return FALSE;
    }
  return seen != GANTRY_FUSE_NO_GROUP;
}

void
_gantry_fuse_choose_residuals (GantryFuse *fuse, GArray *const *inputs)
{
  const guint32 n = fuse->module->n_nodes;
  g_autofree GHashTable **positions = g_new0 (GHashTable *, n + 1);
  g_autofree guint32 *last_reads = NULL;

  for (guint32 root = 0; root < n; root++)
    if (inputs[root] != NULL)
      positions[root] = positions_of (fuse, inputs[root]);
  last_reads = find_last_reads (fuse, positions);
  for (guint32 i = n; i-- > 0;)
    if (fuse->module->nodes[i].phase == GANTRY_PHASE_FORWARD && last_reads[i] != 0 && !fuse->kept[i] && fuse->rows[i] == 0
        && can_all_compute (fuse, i, positions, last_reads, FALSE))
      {
        can_all_compute (fuse, i, positions, last_reads, TRUE);
        last_reads[i] = 0;
      }
  for (guint32 root = 0; root < n; root++)
    g_clear_pointer (&positions[root], g_hash_table_unref);
}
