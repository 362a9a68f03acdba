/* SPDX-License-Identifier: Apache-2.0 */
/* From a function of a module to boxes, edges and groups, and through the layout to a picture. Linear in nodes
 * and edges, apart from the layout. */
#include "drawing/graph-picture-private.h"
#include "core/base/error.h"
#include "core/graph/operation.h"
#include "drawing/graph-scopes.h"
#include <math.h>
#include <string.h>

#define NO_SCOPE G_MAXUINT32

/* What building needs besides the picture. */
typedef struct
{
  GantryGraphPicture *picture;
  const GantryModule *module;
  const GantryFunction *function;
  GantryScopeTree *scopes;
  guint8 *visible;       /* by position in the function */
  guint32 *scope_box;    /* by scope entry and phase: box + 1 of a folded one */
  guint32 *scope_group;  /* by scope entry: group of the layout, or NO_GROUP; G_MAXUINT32 - 1: not decided */
  GArray *group_parents; /* guint32 */
  GArray *box_groups;    /* guint32 */
} Build;

GantryGraphPicture *
gantry_graph_picture_ref (GantryGraphPicture *picture)
{
  g_atomic_ref_count_inc (&picture->ref_count);
  return picture;
}

void
gantry_graph_picture_unref (GantryGraphPicture *picture)
{
  if (picture == NULL || !g_atomic_ref_count_dec (&picture->ref_count))
    return;
  g_clear_pointer (&picture->layout, gantry_layout_unref);
  g_hash_table_unref (picture->folded);
  g_array_unref (picture->boxes);
  g_array_unref (picture->edges);
  g_array_unref (picture->more);
  g_array_unref (picture->group_scopes);
  g_array_unref (picture->group_titles);
  g_array_unref (picture->group_depths);
  g_string_free (picture->texts, TRUE);
  g_free (picture->box_of);
  g_free (picture->edges_in);
  g_free (picture->edges_out);
  g_free (picture->in_list);
  g_free (picture->out_list);
  gantry_module_unref (picture->module);
  g_free (picture);
}

/* Which nodes are seen */

/* A weight that is a broadcast of a constant is as much a constant to the reader as a stored one; after lowering so is
 * all that depends on constants alone: it is computed once, when the program is loaded. */
static gboolean
is_constant_like (const GantryModule *module, const GantryFunction *function, const GantryNode *node, const guint8 *constant)
{
  const GantryOpInfo *info = gantry_op_info (node->op);

  if (gantry_node_class (module, node) == GANTRY_CLASS_CONSTANT)
    return TRUE;
  if (node->n_operands == 0 || (info == NULL && strcmp (gantry_node_op_name (module, node), "onnx.ConstantOfShape") != 0))
    return FALSE;
  if (info != NULL && (info->flags & (GANTRY_OP_EXTERN | GANTRY_OP_RANDOM | GANTRY_OP_EFFECT)) != 0)
    return FALSE;
  for (guint i = 0; i < node->n_operands; i++)
    {
      const GantryNode *operand = gantry_node_operand (module, node, i);

      if (operand != NULL && !constant[gantry_module_position (module, operand) - function->first_node])
        return FALSE;
    }
  return TRUE;
}

guint8 *
_gantry_graph_find_visible (const GantryModule *module, const GantryFunction *function, gboolean show_constants)
{
  guint8 *visible = g_new0 (guint8, function->n_nodes + 1);
  g_autofree guint8 *constant = g_new0 (guint8, function->n_nodes + 1);

  for (guint32 i = 0; i < function->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[function->first_node + i];

      constant[i] = is_constant_like (module, function, node, constant);
      visible[i] = node->op != GANTRY_OP_RESULT && (show_constants || !constant[i]);
    }
  return visible;
}

/* The topmost folded scope around a node, as entry; NO_SCOPE when it is shown itself. */
static guint32
folded_around (const Build *build, const GantryNode *node)
{
  guint32 found = NO_SCOPE;

  for (guint32 i = gantry_scope_tree_find (build->scopes, node->scope); i != NO_SCOPE;)
    {
      const GantryScopeEntry *entry = &g_array_index (build->scopes->entries, GantryScopeEntry, i);

      if (g_hash_table_contains (build->picture->folded, GUINT_TO_POINTER (entry->scope)))
        found = i;
      i = entry->parent;
    }
  return found;
}

/* Groups */

#define UNDECIDED (G_MAXUINT32 - 1)

/* The group of the layout for a scope that is not folded; chains of scopes with one child are one group. */
static guint32
group_of_scope (Build *build, guint32 index)
{
  GantryGraphPicture *picture = build->picture;
  const GantryScopeEntry *entry;
  guint32 parent, group;

  if (index == NO_SCOPE || picture->mirrored)
    return GANTRY_LAYOUT_NO_GROUP;
  if (build->scope_group[index] != UNDECIDED)
    return build->scope_group[index];
  entry = &g_array_index (build->scopes->entries, GantryScopeEntry, index);
  parent = group_of_scope (build, entry->parent); /* as deep as the path, which is bounded */
  group = parent;
  if (entry->n_children > 1 && entry->n_nodes < build->scopes->entries->len + build->function->n_nodes
      && !(entry->parent == NO_SCOPE && entry->n_nodes + build->function->n_params + 2 >= picture->boxes->len))
    {
      guint32 depth = parent == GANTRY_LAYOUT_NO_GROUP ? 0 : g_array_index (picture->group_depths, guint32, parent) + 1;
      const char *path = gantry_context_scope_path (build->module->context, entry->scope);
      guint32 title;

      if (parent != GANTRY_LAYOUT_NO_GROUP)
        {
          guint32 around = g_array_index (picture->group_scopes, guint32, parent);
          gsize length = strlen (gantry_context_scope_path (build->module->context, around));

          path += MIN (length + 1, strlen (path));
        }
      title = _gantry_graph_picture_text (picture, path);
      group = picture->group_scopes->len;
      g_array_append_val (picture->group_scopes, entry->scope);
      g_array_append_val (picture->group_titles, title);
      g_array_append_val (picture->group_depths, depth);
      g_array_append_val (build->group_parents, parent);
    }
  build->scope_group[index] = group;
  return group;
}

/* Boxes */

static guint32
add_box (Build *build, const GantryGraphBox *box)
{
  g_array_append_val (build->picture->boxes, *box);
  return build->picture->boxes->len - 1;
}

static void
add_node_box (Build *build, guint32 position)
{
  GantryGraphPicture *picture = build->picture;
  const GantryNode *node = &build->module->nodes[position];
  guint32 folded = folded_around (build, node);
  guint32 box;

  if (folded == NO_SCOPE)
    {
      box = add_box (build, &(GantryGraphBox){ .kind = GANTRY_BOX_NODE,
                                               .node = node->id,
                                               .n_nodes = 1,
                                               .phase = (guint8) node->phase,
                                               .op_class = (guint8) gantry_node_class (build->module, node) });
    }
  else
    {
      const GantryScopeEntry *entry = &g_array_index (build->scopes->entries, GantryScopeEntry, folded);

      /* The backward part of a scope stands beside its forward part, not inside it. */
      guint32 *slot = &build->scope_box[(gsize) folded * GANTRY_N_PHASES + node->phase];

      if (*slot == 0)
        *slot = 1
                + add_box (
                  build, &(GantryGraphBox){ .kind = GANTRY_BOX_SCOPE, .phase = (guint8) node->phase, .op_class = GANTRY_CLASS_CONTROL, .scope = entry->scope });
      box = *slot - 1;
      GANTRY_BOX (picture, box)->n_nodes++;
    }
  picture->box_of[position] = box + 1;
}

static void
add_boxes (Build *build)
{
  GantryGraphPicture *picture = build->picture;
  const GantryFunction *function = build->function;

  for (guint32 i = 0; i < function->n_nodes; i++)
    if (build->visible[i])
      add_node_box (build, function->first_node + i);
  /* A member of a tuple is shown by the box of its tuple, which comes earlier. */
  for (guint32 i = 0; i < function->n_nodes; i++)
    {
      const GantryNode *node = &build->module->nodes[function->first_node + i];
      const GantryNode *tuple = node->op == GANTRY_OP_RESULT ? gantry_node_operand (build->module, node, 0) : NULL;

      if (tuple != NULL)
        picture->box_of[function->first_node + i] = picture->box_of[gantry_module_position (build->module, tuple)];
    }
}

static void
count_constant (Build *build, guint32 constant_position, guint32 box)
{
  GantryGraphPicture *picture = build->picture;

  if (GANTRY_BOX (picture, box)->n_constants < G_MAXUINT16)
    GANTRY_BOX (picture, box)->n_constants++;
  if (picture->box_of[constant_position] == 0) /* shown by its first user */
    picture->box_of[constant_position] = box + 1;
}

/* Edges */

/* TRUE for a new pair. @map: pair -> 1 + number of the edge */
static gboolean
remember (GHashTable *map, guint32 high, guint32 low, guint32 edge, guint32 *before)
{
  guint64 pair = (guint64) high << 32 | low, *key;
  gpointer found = g_hash_table_lookup (map, &pair);

  if (found != NULL)
    {
      *before = GPOINTER_TO_UINT (found) - 1;
      return FALSE;
    }
  key = g_new (guint64, 1);
  *key = pair;
  g_hash_table_insert (map, key, GUINT_TO_POINTER (edge + 1));
  return TRUE;
}

/* In a mirror all that goes from one folded scope to another is one line: a bundle, which says how many it holds. */
static gboolean
is_bundle (const GantryGraphPicture *picture, guint32 tail, guint32 head)
{
  return picture->mirrored && GANTRY_BOX (picture, tail)->kind == GANTRY_BOX_SCOPE && GANTRY_BOX (picture, head)->kind == GANTRY_BOX_SCOPE;
}

#define BUNDLES 0x80000000u /* above all values */

static void
add_edge (Build *build, GHashTable *seen, guint32 tail, guint32 head, guint32 value, guint32 type)
{
  GantryGraphPicture *picture = build->picture;
  g_autofree char *text = NULL;
  GantryGraphEdge edge = { .tail = tail, .head = head, .value = value, .n_values = 1, .more = GANTRY_NO_MORE };
  guint32 before;

  if (!remember (seen, value, head, picture->edges->len, &before))
    return;
  if (is_bundle (picture, tail, head) && !remember (seen, tail | BUNDLES, head, picture->edges->len, &before))
    {
      GantryGraphEdge *bundle = GANTRY_EDGE (picture, before);
      const GantryGraphMore more = { value, bundle->more };

      bundle->n_values++;
      bundle->more = picture->more->len;
      g_array_append_val (picture->more, more);
      return;
    }
  text = gantry_context_type_text (build->module->context, type);
  edge.label = _gantry_graph_picture_text (picture, text);
  edge.saved = GANTRY_BOX (picture, tail)->phase == GANTRY_PHASE_FORWARD && GANTRY_BOX (picture, head)->phase != GANTRY_PHASE_FORWARD;
  g_array_append_val (picture->edges, edge);
}

static void
label_bundles (GantryGraphPicture *picture)
{
  for (guint i = 0; i < picture->edges->len; i++)
    {
      GantryGraphEdge *edge = GANTRY_EDGE (picture, i);
      g_autofree char *text = g_strdup_printf ("%u values", edge->n_values);

      if (edge->n_values > 1)
        edge->label = _gantry_graph_picture_text (picture, text);
    }
}

static void
add_operand_edges (Build *build, GHashTable *seen, guint32 position, guint32 head)
{
  GantryGraphPicture *picture = build->picture;
  const GantryNode *node = &build->module->nodes[position];

  for (guint j = 0; j < node->n_operands; j++)
    {
      const GantryNode *operand = gantry_node_operand (build->module, node, j);
      guint32 from;

      if (operand == NULL)
        continue;
      from = gantry_module_position (build->module, operand);
      if (from < build->function->first_node)
        continue;
      if (!build->visible[from - build->function->first_node] && operand->op != GANTRY_OP_RESULT)
        count_constant (build, from, head);
      else if (picture->box_of[from] != 0 && picture->box_of[from] - 1 != head)
        add_edge (build, seen, picture->box_of[from] - 1, head, operand->id, operand->type);
    }
}

static void
add_edges (Build *build)
{
  GantryGraphPicture *picture = build->picture;
  const GantryFunction *function = build->function;
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  for (guint32 i = 0; i < function->n_nodes; i++)
    if (build->visible[i])
      add_operand_edges (build, seen, function->first_node + i, picture->box_of[function->first_node + i] - 1);
  for (guint i = 0; i < function->n_results; i++)
    {
      guint32 id = gantry_function_result_id (build->module, function, i);
      const GantryNode *node = gantry_module_node (build->module, id);
      guint32 from = node != NULL ? picture->box_of[gantry_module_position (build->module, node)] : 0;
      guint32 box;

      /* In a mirror the results of a folded scope, new parameters and states above all, are inside of it. */
      if (picture->mirrored && from != 0 && GANTRY_BOX (picture, from - 1)->kind == GANTRY_BOX_SCOPE)
        continue;
      box = add_box (build,
                     &(GantryGraphBox){
                       .kind = GANTRY_BOX_OUTPUT, .node = id, .n_nodes = 1, .phase = node != NULL ? (guint8) node->phase : 0, .op_class = GANTRY_CLASS_INPUT });

      if (from != 0)
        add_edge (build, seen, from - 1, box, id, node->type);
    }
}

/* The lists of edges by box, for walking. */
static void
index_edges (GantryGraphPicture *picture)
{
  guint32 n = picture->boxes->len;
  guint32 *in = picture->edges_in = g_new0 (guint32, n + 2);
  guint32 *out = picture->edges_out = g_new0 (guint32, n + 2);

  for (guint i = 0; i < picture->edges->len; i++)
    {
      in[GANTRY_EDGE (picture, i)->head + 2]++;
      out[GANTRY_EDGE (picture, i)->tail + 2]++;
    }
  for (guint32 i = 2; i < n + 2; i++)
    {
      in[i] += in[i - 1];
      out[i] += out[i - 1];
    }
  picture->in_list = g_new0 (guint32, picture->edges->len + 1);
  picture->out_list = g_new0 (guint32, picture->edges->len + 1);
  for (guint i = 0; i < picture->edges->len; i++)
    {
      picture->in_list[in[GANTRY_EDGE (picture, i)->head + 1]++] = i;
      picture->out_list[out[GANTRY_EDGE (picture, i)->tail + 1]++] = i;
    }
}

/* Layout */

static void
box_size (const GantryGraphPicture *picture, const GantryGraphBox *box, float *width, float *height)
{
  float title = gantry_theme_text_width (picture->texts->str + box->title, GANTRY_TEXT_NORMAL | GANTRY_TEXT_BOLD);
  float subtitle = gantry_theme_text_width (picture->texts->str + box->subtitle, GANTRY_TEXT_SMALL);

  if (box->n_constants > 0)
    subtitle += gantry_theme_text_width ("  +00", GANTRY_TEXT_SMALL);
  *width = ceilf (MAX (MAX (title, subtitle) + 20, 84));
  *height = 44;
}

/* Groups that the boxes ended up in, and what the old picture says of their places. */
static void
place_boxes (Build *build, const GantryGraphPicture *previous, guint32 *groups, float *previous_x)
{
  GantryGraphPicture *picture = build->picture;

  for (guint32 i = 0; i < picture->boxes->len; i++)
    {
      const GantryGraphBox *box = GANTRY_BOX (picture, i);
      const GantryNode *node = gantry_module_node (build->module, box->node);
      guint32 scope = NO_SCOPE, before = GANTRY_NO_BOX;

      if (box->kind == GANTRY_BOX_NODE)
        scope = gantry_scope_tree_find (build->scopes, node->scope);
      else if (box->kind == GANTRY_BOX_SCOPE)
        scope = g_array_index (build->scopes->entries, GantryScopeEntry, gantry_scope_tree_find (build->scopes, box->scope)).parent;
      groups[i] = group_of_scope (build, scope);
      GANTRY_BOX (picture, i)->group = groups[i];
      previous_x[i] = NAN;
      if (previous != NULL && box->kind == GANTRY_BOX_NODE)
        before = gantry_graph_picture_box_of (previous, box->node);
      if (before != GANTRY_NO_BOX)
        previous_x[i] = previous->layout->node[before].x;
    }
}

static gboolean
lay_out (Build *build, const GantryGraphPicture *previous, const GantryProgress *progress, GError **error)
{
  GantryGraphPicture *picture = build->picture;
  guint32 n = picture->boxes->len, n_edges = picture->edges->len;
  g_autofree float *width = g_new (float, n + 1), *height = g_new (float, n + 1), *previous_x = g_new (float, n + 1);
  g_autofree guint32 *groups = g_new (guint32, n + 1);
  g_autofree guint32 *tail = g_new (guint32, n_edges + 1), *head = g_new (guint32, n_edges + 1);
  g_autofree guint32 *value = g_new (guint32, n_edges + 1);
  g_autofree float *group_width = NULL;
  GantryLayoutInput input = {
    .n_nodes = n, .width = width, .height = height, .n_edges = n_edges, .tail = tail, .head = head, .edge_value = value, .group = groups
  };
  GantryLayoutParams params;

  for (guint32 i = 0; i < n; i++)
    box_size (picture, GANTRY_BOX (picture, i), &width[i], &height[i]);
  for (guint32 i = 0; i < n_edges; i++)
    {
      tail[i] = GANTRY_EDGE (picture, i)->tail;
      head[i] = GANTRY_EDGE (picture, i)->head;
      value[i] = GANTRY_EDGE (picture, i)->value;
    }
  place_boxes (build, previous, groups, previous_x);
  input.n_groups = picture->group_scopes->len;
  input.group_parent = (const guint32 *) (gpointer) build->group_parents->data;
  group_width = g_new (float, input.n_groups + 1);
  for (guint32 i = 0; i < input.n_groups; i++)
    group_width[i] = MIN (
      gantry_theme_text_width (picture->texts->str + g_array_index (picture->group_titles, guint32, i), GANTRY_TEXT_SMALL | GANTRY_TEXT_BOLD) + 36, 420);
  input.group_min_width = group_width;
  input.previous_x = previous != NULL ? previous_x : NULL;
  gantry_layout_params_init (&params);
  params.rank_gap = MAX (params.rank_gap, 30); /* room for the type beside the edge */
  picture->layout = gantry_layout_compute (&input, &params, progress != NULL ? progress->cancellable : NULL, error);
  return picture->layout != NULL;
}

static GantryGraphPicture *
picture_alloc (GantryModule *module, const GantryFunction *function, GHashTable *folded)
{
  GantryGraphPicture *picture = g_new0 (GantryGraphPicture, 1);

  g_atomic_ref_count_init (&picture->ref_count);
  picture->module = gantry_module_ref (module);
  picture->function = function->id;
  picture->folded = folded != NULL ? g_hash_table_ref (folded) : gantry_graph_default_folds (module, function->id);
  picture->boxes = g_array_new (FALSE, FALSE, sizeof (GantryGraphBox));
  picture->edges = g_array_new (FALSE, FALSE, sizeof (GantryGraphEdge));
  picture->more = g_array_new (FALSE, FALSE, sizeof (GantryGraphMore));
  picture->group_scopes = g_array_new (FALSE, FALSE, sizeof (guint32));
  picture->group_titles = g_array_new (FALSE, FALSE, sizeof (guint32));
  picture->group_depths = g_array_new (FALSE, FALSE, sizeof (guint32));
  picture->box_of = g_new0 (guint32, (gsize) module->n_nodes + 1);
  picture->texts = g_string_new (NULL);
  g_string_append_c (picture->texts, '\0');
  return picture;
}

GantryGraphPicture *
gantry_graph_picture_new (GantryModule *module, const GantryGraphOptions *options, const GantryProgress *progress, GError **error)
{
  static const GantryGraphOptions defaults = { 0 };
  const GantryFunction *function;
  g_autoptr (GantryGraphPicture) picture = NULL;
  Build build = { .module = module };
  gboolean ok;

  if (options == NULL)
    options = &defaults;
  function = options->function != 0 ? gantry_module_function (module, options->function) : gantry_module_entry (module);
  if (function == NULL)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the program has no function with id %u", options->function);
      return NULL;
    }
  picture = picture_alloc (module, function, options->folded);
  for (guint32 i = 0; i < function->n_nodes && !picture->mirrored; i++)
    picture->mirrored = module->nodes[function->first_node + i].phase != GANTRY_PHASE_FORWARD;
  build.picture = picture;
  build.function = function;
  build.visible = _gantry_graph_find_visible (module, function, options->show_constants);
  build.scopes = gantry_scope_tree_new (module, function, build.visible);
  build.scope_box = g_new0 (guint32, ((gsize) build.scopes->entries->len + 1) * GANTRY_N_PHASES);
  build.scope_group = g_new (guint32, build.scopes->entries->len + 1);
  for (guint i = 0; i < build.scopes->entries->len; i++)
    build.scope_group[i] = UNDECIDED;
  build.group_parents = g_array_new (FALSE, FALSE, sizeof (guint32));
  add_boxes (&build);
  add_edges (&build);
  label_bundles (picture);
  for (guint32 i = 0; i < picture->boxes->len; i++)
    _gantry_graph_label_box (picture, GANTRY_BOX (picture, i));
  index_edges (picture);
  gantry_progress_report (progress, -1, "Drawing the graph");
  ok = lay_out (&build, options->previous, progress, error);
  g_free (build.visible);
  g_free (build.scope_box);
  g_free (build.scope_group);
  gantry_scope_tree_free (build.scopes);
  g_array_unref (build.group_parents);
  return ok ? g_steal_pointer (&picture) : NULL;
}
