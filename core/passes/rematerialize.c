/* SPDX-License-Identifier: Apache-2.0 */
/* rematerialize: lets a loop that walks back over another one make again what that saved. A scan of the backward phase reads the stacks
 * that a scan of the forward phase made; its body gets a copy of the nodes that each slice was made by, from the carries, slices and
 * captures of the forward trip, and reads a slice through `rematerialize`, which is either what was saved or what was made again. A plan
 * decides that for each stack by itself, so nothing is computed twice unless a placement says so; carries that had not been saved become
 * further stacks, which exist where something is made again from them. The copies are the nodes of the forward body as they are, so that
 * they have its kernels and give its bits. */
#include "core/graph/operation.h"
#include "core/graph/region.h"
#include "core/graph/rewriter.h"
#include "core/passes/passes.h"
#include <string.h>

#define NOWHERE G_MAXUINT32

/* A parameter that the backward body gets: what the backward scan walks along, or is given as it is. */
typedef struct
{
  guint32 source;   /* parameter of the forward body */
  guint32 operand;  /* node, or 0: the forward scan's result `result` */
  guint result;
  gint64 axis;
} Added;

/* A loop and the one that walks back over it. */
typedef struct
{
  const GantryNode *forward, *backward;
  const GantryFunction *from, *to; /* their bodies */
  GantryScan scan, back;
  guint32 *slot;   /* by node of `from`: the parameter of `to` that is its slice, or NOWHERE */
  guint8 *again;   /* by node of `from`: it can be made again */
  guint8 *copied;  /* by node of `from`: it is made again, if the plan wants that */
  guint32 *value;  /* by node of `from`, while `to` is written: what stands for it there; 0: not yet */
  GArray *xs, *captures; /* Added */
} Pair;

typedef struct
{
  const GantryModule *module;
  GHashTable *pairs;     /* backward scan -> Pair */
  GHashTable *bodies;    /* function of a backward body -> Pair */
  GHashTable *saved;     /* forward scan -> GArray of guint32: carries that become stacks */
  GHashTable *n_named;   /* function id -> how many nodes name it */
} State;

static void
pair_free (gpointer data)
{
  Pair *pair = data;

  g_free (pair->slot);
  g_free (pair->again);
  g_free (pair->copied);
  g_free (pair->value);
  g_array_unref (pair->xs);
  g_array_unref (pair->captures);
  g_free (pair);
}

static void
array_free (gpointer data)
{
  g_array_unref (data);
}

static const GantryNode *
node_of (const GantryModule *module, const GantryFunction *function, guint32 i)
{
  return &module->nodes[function->first_node + i];
}

static guint32
index_of (const GantryModule *module, const GantryFunction *function, guint32 id)
{
  const GantryNode *node = gantry_module_node (module, id);

  return node != NULL ? gantry_module_position (module, node) - function->first_node : NOWHERE;
}

/* Finding */

static void
count_named (State *state)
{
  GantryContext *context = state->module->context;

  for (guint32 i = 0; i < state->module->n_nodes; i++)
    {
      const GantryAttrs *attrs = gantry_context_attrs (context, state->module->nodes[i].attrs);

      for (guint a = 0; a < attrs->n; a++)
        if (attrs->items[a].kind == GANTRY_ATTR_FUNCTION)
          {
            gpointer key = GUINT_TO_POINTER (attrs->items[a].id);
            guint n = GPOINTER_TO_UINT (g_hash_table_lookup (state->n_named, key));

            g_hash_table_insert (state->n_named, key, GUINT_TO_POINTER (n + 1));
          }
    }
}

/* The body of a scan, where it is nobody else's. Returns: (nullable) */
static const GantryFunction *
own_body (const State *state, const GantryScan *scan)
{
  return g_hash_table_lookup (state->n_named, GUINT_TO_POINTER (scan->body)) == GUINT_TO_POINTER (1)
           ? gantry_module_function (state->module, scan->body)
           : NULL;
}

/* The scan that made what operand @x of @node shows, with the number of that result. Returns: (nullable) */
static const GantryNode *
maker_of (const GantryModule *module, const GantryNode *node, guint x, guint *result)
{
  const GantryNode *operand = gantry_node_operand (module, node, x),
                   *maker = operand != NULL && operand->op == GANTRY_OP_RESULT ? gantry_node_operand (module, operand, 0) : NULL;

  if (maker == NULL || maker->op != GANTRY_OP_SCAN)
    return NULL;
  *result = (guint) gantry_attrs_int (module->context, operand->attrs, "index", 0);
  return maker;
}

/* The forward scan that @node walks back over. Returns: (nullable) */
static const GantryNode *
forward_of (const GantryModule *module, const GantryNode *node, const GantryScan *back)
{
  for (guint x = 0; x < back->n_xs; x++)
    {
      guint result;
      const GantryNode *maker = maker_of (module, node, back->n_carries + x, &result);
      GantryScan scan;

      if (maker == NULL || maker->phase != GANTRY_PHASE_FORWARD)
        continue;
      gantry_scan_of (module, maker, &scan);
      if (scan.length == back->length && result >= scan.n_carries)
        return maker;
    }
  return NULL;
}

static Pair *
pair_new (const State *state, const GantryNode *node)
{
  Pair pair = { .backward = node };

  gantry_scan_of (state->module, node, &pair.back);
  pair.forward = forward_of (state->module, node, &pair.back);
  if (pair.forward == NULL)
    return NULL;
  gantry_scan_of (state->module, pair.forward, &pair.scan);
  pair.from = own_body (state, &pair.scan);
  pair.to = own_body (state, &pair.back);
  if (pair.from == NULL || pair.to == NULL)
    return NULL;
  pair.slot = g_new (guint32, pair.from->n_nodes + (gsize) 1);
  memset (pair.slot, 0xff, pair.from->n_nodes * sizeof *pair.slot);
  pair.again = g_new0 (guint8, pair.from->n_nodes + (gsize) 1);
  pair.copied = g_new0 (guint8, pair.from->n_nodes + (gsize) 1);
  pair.value = g_new0 (guint32, pair.from->n_nodes + (gsize) 1);
  pair.xs = g_array_new (FALSE, FALSE, sizeof (Added));
  pair.captures = g_array_new (FALSE, FALSE, sizeof (Added));
  return g_memdup2 (&pair, sizeof pair);
}

/* The parameter that node @i of the forward body is under another name, else @i. */
static guint32
under_names (const State *state, const Pair *pair, guint32 i)
{
  for (;;)
    {
      const GantryNode *node = node_of (state->module, pair->from, i);

      if (node->op != GANTRY_OP_CHECKPOINT_NAME && node->op != GANTRY_OP_OPTIMIZATION_BARRIER)
        return i;
      i = index_of (state->module, pair->from, gantry_node_operand_id (state->module, node, 0));
    }
}

/* Which nodes of the forward body the backward one has slices of. */
static void
find_slots (const State *state, Pair *pair)
{
  for (guint x = 0; x < pair->back.n_xs; x++)
    {
      guint32 slot = pair->back.n_carries + x, i;
      guint result;

      if (maker_of (state->module, pair->backward, slot, &result) != pair->forward || result < pair->scan.n_carries
          || pair->scan.y_axes[result - pair->scan.n_carries] != pair->back.axes[x])
        continue;
      i = index_of (state->module, pair->from, gantry_function_result_id (state->module, pair->from, result));
      if (i == NOWHERE || pair->slot[i] != NOWHERE)
        continue;
      pair->slot[i] = slot;
      i = under_names (state, pair, i);
      if (i < pair->from->n_params && pair->slot[i] == NOWHERE)
        pair->slot[i] = slot;
    }
}

static gboolean
is_repeatable (const GantryModule *module, const GantryNode *node)
{
  const GantryOpInfo *info = gantry_op_info (node->op);

  return info != NULL && (info->flags & GANTRY_OP_EFFECT) == 0 && !gantry_node_is_control (node)
         && gantry_node_type (module, node)->kind != GANTRY_TYPE_TOKEN;
}

static void
find_again (const State *state, Pair *pair)
{
  const GantryModule *module = state->module;

  for (guint32 i = 0; i < pair->from->n_nodes; i++)
    {
      const GantryNode *node = node_of (module, pair->from, i);

      gboolean carried = pair->slot[i] != NOWHERE && under_names (state, pair, i) < pair->from->n_params;

      pair->again[i] = i < pair->from->n_params || (is_repeatable (module, node) && !carried);
      for (guint k = 0; pair->again[i] && i >= pair->from->n_params && k < node->n_operands; k++)
        {
          guint32 operand = index_of (module, pair->from, gantry_node_operand_id (module, node, k));

          pair->again[i] = pair->again[operand] || pair->slot[operand] != NOWHERE;
        }
    }
}

/* All that any slice is made by. Returns: whether there is such a slice */
static gboolean
find_copied (const State *state, Pair *pair)
{
  const GantryModule *module = state->module;
  gboolean any = FALSE;

  for (guint32 i = pair->from->n_nodes; i-- > 0;)
    {
      const GantryNode *node = node_of (module, pair->from, i);

      if (pair->slot[i] != NOWHERE && pair->again[i] && i >= pair->from->n_params)
        any = pair->copied[i] = TRUE;
      for (guint k = 0; pair->copied[i] && k < node->n_operands; k++)
        {
          guint32 operand = index_of (module, pair->from, gantry_node_operand_id (module, node, k));

          pair->copied[operand] |= pair->again[operand];
        }
    }
  return any;
}

/* The stack of carry @c: a result that the scan has, or one more. Returns: FALSE where there can be none */
static gboolean
add_carry (State *state, Pair *pair, guint32 c)
{
  const GantryModule *module = state->module;
  const GantryType *type = gantry_node_type (module, node_of (module, pair->from, c));
  GArray *saved = g_hash_table_lookup (state->saved, pair->forward);
  Added added = { .source = c };

  if (gantry_node_type (module, pair->forward)->kind != GANTRY_TYPE_TUPLE || type->kind != GANTRY_TYPE_TENSOR
      || type->rank >= GANTRY_MAX_RANK || type->memory != GANTRY_MEMORY_DEVICE)
    return FALSE;
  if (saved == NULL)
    g_hash_table_insert (state->saved, (gpointer) pair->forward, saved = g_array_new (FALSE, FALSE, sizeof (guint32)));
  while (added.result < saved->len && g_array_index (saved, guint32, added.result) != c)
    added.result++;
  if (added.result == saved->len)
    g_array_append_val (saved, c);
  added.result += pair->scan.n_carries + pair->scan.n_ys;
  g_array_append_val (pair->xs, added);
  return TRUE;
}

/* Where the backward scan has operand @id already, among its xs along @axis or its captures (-1). Returns: the parameter, or NOWHERE */
static guint32
find_operand (const State *state, const Pair *pair, guint32 id, gint64 axis)
{
  guint32 first = pair->back.n_carries + (axis < 0 ? pair->back.n_xs : 0),
          end = axis < 0 ? pair->backward->n_operands : first + pair->back.n_xs;

  for (guint32 i = first; i < end; i++)
    if (gantry_node_operand_id (state->module, pair->backward, i) == id && (axis < 0 || pair->back.axes[i - first] == axis))
      return i;
  return NOWHERE;
}

static gboolean
add_parameters (State *state, Pair *pair)
{
  for (guint32 i = 0; i < pair->from->n_params; i++)
    {
      gboolean is_x = i >= pair->scan.n_carries && i < pair->scan.n_carries + pair->scan.n_xs;
      Added added = { .source = i, .operand = gantry_node_operand_id (state->module, pair->forward, i), .axis = -1 };

      if (!pair->copied[i] || pair->slot[i] != NOWHERE)
        continue;
      if (i < pair->scan.n_carries)
        {
          if (!add_carry (state, pair, i))
            return FALSE;
          continue;
        }
      if (is_x)
        added.axis = pair->scan.axes[i - pair->scan.n_carries];
      pair->slot[i] = find_operand (state, pair, added.operand, added.axis);
      if (pair->slot[i] == NOWHERE)
        g_array_append_val (is_x ? pair->xs : pair->captures, added);
    }
  return pair->backward->n_operands + pair->xs->len + pair->captures->len <= GANTRY_MOST_OPERANDS;
}

static void
find_pair (State *state, const GantryNode *node)
{
  Pair *pair = pair_new (state, node);

  if (pair == NULL)
    return;
  find_slots (state, pair);
  find_again (state, pair);
  if (!find_copied (state, pair) || !add_parameters (state, pair))
    {
      pair_free (pair);
      return;
    }
  g_hash_table_insert (state->bodies, (gpointer) pair->to, pair);
  g_hash_table_insert (state->pairs, (gpointer) node, pair);
}

/* Writing */

static void
add_parameter (const State *state, Pair *pair, GantryBuilder *b, const Added *added)
{
  const GantryNode *source = node_of (state->module, pair->from, added->source);

  gantry_builder_set_origins (b, &source->id, 1);
  pair->value[added->source]
    = gantry_builder_parameter (b, source->type, source->name != 0 ? gantry_context_string (state->module->context, source->name) : NULL);
}

static void
write_parameters (const State *state, Pair *pair, GantryRewriter *rewriter)
{
  GantryBuilder *b = gantry_rewriter_builder (rewriter);
  guint32 n_walked = pair->back.n_carries + pair->back.n_xs;

  for (guint32 i = 0; i <= pair->to->n_params; i++)
    {
      for (guint k = 0; i == n_walked && k < pair->xs->len; k++)
        add_parameter (state, pair, b, &g_array_index (pair->xs, Added, k));
      if (i < pair->to->n_params)
        gantry_rewriter_keep (rewriter, node_of (state->module, pair->to, i));
    }
  for (guint k = 0; k < pair->captures->len; k++)
    add_parameter (state, pair, b, &g_array_index (pair->captures, Added, k));
  for (guint32 i = 0; i < pair->from->n_params; i++)
    if (pair->slot[i] != NOWHERE)
      pair->value[i] = node_of (state->module, pair->to, pair->slot[i])->id;
}

/* Node @i of the forward body, whose operands are there. Where it was saved: the choice between both. */
static void
copy_node (const State *state, Pair *pair, GantryBuilder *b, guint32 i)
{
  const GantryModule *module = state->module;
  const GantryNode *node = node_of (module, pair->from, i);
  g_autofree guint32 *operands = g_new (guint32, node->n_operands + 1u);

  for (guint k = 0; k < node->n_operands; k++)
    operands[k] = pair->value[index_of (module, pair->from, gantry_node_operand_id (module, node, k))];
  gantry_builder_set_place (b, node->scope, node->location);
  gantry_builder_set_phase (b, (GantryPhase) pair->backward->phase);
  gantry_builder_set_origins (b, &node->id, 1);
  gantry_builder_set_name (b, node->name);
  pair->value[i] = gantry_builder_add_typed (b, node->op, operands, node->n_operands, node->attrs, node->type);
  if (pair->slot[i] == NOWHERE)
    return;
  operands = g_renew (guint32, operands, 2);
  operands[0] = node_of (module, pair->to, pair->slot[i])->id;
  operands[1] = pair->value[i];
  pair->value[i] = gantry_builder_add_typed (b, GANTRY_OP_REMATERIALIZE, operands, 2, 0, node->type);
}

/* Node @i of the forward body, and before it all that it is made by and is not there yet. */
static void
copy_chain (const State *state, Pair *pair, GantryBuilder *b, guint32 i)
{
  const GantryModule *module = state->module;
  g_autofree guint8 *wanted = g_new0 (guint8, i + (gsize) 1);

  wanted[i] = TRUE;
  for (guint32 k = i + 1; k-- > 0;)
    {
      const GantryNode *node = node_of (module, pair->from, k);

      if (!wanted[k] || pair->value[k] != 0)
        continue;
      for (guint o = 0; pair->copied[k] && o < node->n_operands; o++)
        wanted[index_of (module, pair->from, gantry_node_operand_id (module, node, o))] = TRUE;
    }
  for (guint32 k = 0; k <= i; k++)
    if (wanted[k] && pair->value[k] == 0 && pair->copied[k])
      copy_node (state, pair, b, k);
    else if (wanted[k] && pair->value[k] == 0) /* cannot be made again: it is what was saved */
      pair->value[k] = node_of (module, pair->to, pair->slot[k])->id;
}

/* The values of the forward body that @node reads slices of. */
static void
write_operands (const State *state, Pair *pair, GantryRewriter *rewriter, const GantryNode *node)
{
  for (guint k = 0; k < node->n_operands; k++)
    {
      guint32 slot = index_of (state->module, pair->to, gantry_node_operand_id (state->module, node, k));

      for (guint32 i = pair->from->n_params; slot < pair->to->n_params && i < pair->from->n_nodes; i++)
        if (pair->slot[i] == slot && pair->copied[i] && pair->value[i] == 0)
          {
            copy_chain (state, pair, gantry_rewriter_builder (rewriter), i);
            break;
          }
    }
}

/* What the backward body reads instead of a slice is what was put in front of it last. */
static void
read_choices (const State *state, const Pair *pair, GantryRewriter *rewriter)
{
  for (guint32 i = pair->from->n_params; i < pair->from->n_nodes; i++)
    if (pair->slot[i] != NOWHERE && pair->copied[i] && pair->value[i] != 0)
      gantry_rewriter_replace (rewriter, node_of (state->module, pair->to, pair->slot[i]), pair->value[i]);
}

static guint32
with_ints (const GantryModule *module, GantryAttrList *list, const char *key, const gint64 *values, gsize n, const GArray *more)
{
  g_autofree gint64 *all = g_new0 (gint64, n + more->len + 1);

  if (n > 0)
    memcpy (all, values, n * sizeof *all);
  for (guint i = 0; i < more->len; i++)
    all[n + i] = g_array_get_element_size ((GArray *) more) == sizeof (Added) ? g_array_index (more, Added, i).axis : 0;
  gantry_attr_list_set_ints (list, key, all, n + more->len);
  return gantry_attr_list_end (list);
}

static void
write_changed (GantryRewriter *rewriter, const GantryNode *node, const GantryNode *changed, const GArray *operands)
{
  const guint32 *ids = (const guint32 *) (gpointer) operands->data;

  gantry_rewriter_replace (rewriter, node, gantry_builder_add_node (gantry_rewriter_builder (rewriter), changed, ids, NULL));
}

/* The forward scan with further stacks. */
static void
write_forward (const State *state, GantryRewriter *rewriter, const GantryNode *node, const GArray *saved)
{
  const GantryModule *module = state->module;
  GantryContext *context = module->context;
  const GantryType *type = gantry_node_type (module, node);
  g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (guint32)), operands = g_array_new (FALSE, FALSE, sizeof (guint32));
  GantryAttrList *attrs = gantry_attr_list_new (context);
  GantryNode changed = *node;
  const GantryFunction *body;
  GantryScan scan;

  gantry_scan_of (module, node, &scan);
  body = gantry_module_function (module, scan.body);
  for (guint i = 0; i < type->rank; i++)
    {
      guint32 member = (guint32) type->dims[i];

      g_array_append_val (members, member);
    }
  for (guint i = 0; i < saved->len; i++)
    {
      const GantryType *slice = gantry_node_type (module, node_of (module, body, g_array_index (saved, guint32, i)));
      GantryDim dims[GANTRY_MAX_RANK] = { scan.length };
      guint32 member;

      memcpy (dims + 1, slice->dims, slice->rank * sizeof *dims);
      member = gantry_context_tensor (context, slice->element, slice->rank + 1, dims);
      g_array_append_val (members, member);
    }
  for (guint i = 0; i < node->n_operands; i++)
    {
      guint32 operand = gantry_rewriter_map (rewriter, gantry_node_operand_id (module, node, i));

      g_array_append_val (operands, operand);
    }
  gantry_attr_list_set_all (attrs, node->attrs);
  changed.attrs = with_ints (module, attrs, "y_axes", scan.y_axes, scan.n_ys, saved);
  changed.type = gantry_context_tuple (context, members->len, (const guint32 *) (gpointer) members->data);
  changed.n_origins = 0;
  write_changed (rewriter, node, &changed, operands);
}

static void
append_added (const Pair *pair, GantryRewriter *rewriter, const GArray *list, GArray *operands)
{
  GantryBuilder *b = gantry_rewriter_builder (rewriter);

  for (guint i = 0; i < list->len; i++)
    {
      const Added *added = &g_array_index (list, Added, i);
      guint32 id = added->operand;

      if (added->source >= pair->scan.n_carries)
        id = gantry_rewriter_map (rewriter, id);
      else
        {
          gantry_builder_set_place_of (b, pair->forward);
          gantry_builder_set_origins (b, &pair->forward->id, 1);
          id = gantry_builder_result (b, gantry_rewriter_map (rewriter, pair->forward->id), added->result);
        }
      g_array_append_val (operands, id);
    }
}

/* The backward scan with what its body needs to make slices again. */
static void
write_backward (const State *state, const Pair *pair, GantryRewriter *rewriter)
{
  const GantryModule *module = state->module;
  const GantryNode *node = pair->backward;
  g_autoptr (GArray) operands = g_array_new (FALSE, FALSE, sizeof (guint32));
  GantryAttrList *attrs = gantry_attr_list_new (module->context);
  guint n_walked = pair->back.n_carries + pair->back.n_xs;
  GantryNode changed = *node;

  for (guint i = 0; i <= node->n_operands; i++)
    {
      guint32 id;

      if (i == n_walked)
        append_added (pair, rewriter, pair->xs, operands);
      if (i == node->n_operands)
        break;
      id = gantry_rewriter_map (rewriter, gantry_node_operand_id (module, node, i));
      g_array_append_val (operands, id);
    }
  append_added (pair, rewriter, pair->captures, operands);
  gantry_attr_list_set_all (attrs, node->attrs);
  gantry_attr_list_set_int (attrs, "n_xs", pair->back.n_xs + pair->xs->len);
  changed.attrs = with_ints (module, attrs, "axes", pair->back.axes, pair->back.n_xs, pair->xs);
  changed.n_operands = (guint16) operands->len;
  changed.n_origins = 0;
  write_changed (rewriter, node, &changed, operands);
}

static gboolean
visit (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, gpointer user_data, GError **error)
{
  const State *state = user_data;
  const Pair *pair = g_hash_table_lookup (state->pairs, node);
  const GArray *saved = g_hash_table_lookup (state->saved, node);

  if (pair != NULL)
    write_backward (state, pair, rewriter);
  else if (saved != NULL)
    write_forward (state, rewriter, node, saved);
  else
    gantry_rewriter_keep (rewriter, node);
  return TRUE;
}

static gboolean
write_body (const State *state, Pair *pair, GantryRewriter *rewriter, GError **error)
{
  const GantryModule *module = state->module;
  GantryBuilder *b = gantry_rewriter_builder (rewriter);
  g_autofree guint32 *results = g_new0 (guint32, pair->to->n_results + (gsize) 1);

  gantry_builder_begin (b, gantry_context_string (module->context, pair->to->name), pair->to->id);
  write_parameters (state, pair, rewriter);
  for (guint32 i = pair->to->n_params; i < pair->to->n_nodes; i++)
    {
      const GantryNode *node = node_of (module, pair->to, i);

      write_operands (state, pair, rewriter, node);
      read_choices (state, pair, rewriter);
      gantry_builder_set_place_of (b, node);
      gantry_builder_set_origins (b, &node->id, 1);
      visit (rewriter, module, node, (gpointer) state, NULL);
    }
  for (guint i = 0; i < pair->to->n_results; i++)
    results[i] = gantry_rewriter_map (rewriter, gantry_function_result_id (module, pair->to, i));
  gantry_builder_end (b, results, pair->to->n_results);
  return gantry_builder_check (b, error);
}

/* The body of a forward scan, which returns carries that it was given. */
static gboolean
write_saving (State *state, GantryRewriter *rewriter, const GantryFunction *function, const GArray *saved, GError **error)
{
  const GantryModule *module = state->module;
  GantryBuilder *b = gantry_rewriter_builder (rewriter);
  g_autofree guint32 *results = g_new0 (guint32, function->n_results + saved->len + (gsize) 1);

  gantry_builder_begin (b, gantry_context_string (module->context, function->name), function->id);
  for (guint32 i = 0; i < function->n_nodes; i++)
    {
      const GantryNode *node = node_of (module, function, i);

      gantry_builder_set_place_of (b, node);
      gantry_builder_set_origins (b, &node->id, 1);
      if (i < function->n_params)
        gantry_rewriter_keep (rewriter, node);
      else if (!visit (rewriter, module, node, state, error))
        return FALSE;
    }
  for (guint i = 0; i < function->n_results; i++)
    results[i] = gantry_rewriter_map (rewriter, gantry_function_result_id (module, function, i));
  for (guint i = 0; i < saved->len; i++)
    results[function->n_results + i] = gantry_rewriter_map (rewriter, node_of (module, function, g_array_index (saved, guint32, i))->id);
  gantry_builder_end (b, results, function->n_results + saved->len);
  return gantry_builder_check (b, error);
}

static const GArray *
saved_by (const State *state, const GantryFunction *function)
{
  GHashTableIter iter;
  gpointer node, saved;

  g_hash_table_iter_init (&iter, state->saved);
  while (g_hash_table_iter_next (&iter, &node, &saved))
    {
      GantryScan scan;

      gantry_scan_of (state->module, node, &scan);
      if (scan.body == function->id)
        return saved;
    }
  return NULL;
}

static GantryModule *
rewrite (State *state, const GantryProgress *progress, GError **error)
{
  const GantryModule *module = state->module;
  g_autoptr (GantryRewriter) rewriter = gantry_rewriter_new ((GantryModule *) module);

  for (guint i = 0; i < module->n_functions; i++)
    {
      const GantryFunction *function = &module->functions[i];
      Pair *pair = g_hash_table_lookup (state->bodies, function);
      const GArray *saved = pair == NULL ? saved_by (state, function) : NULL;

      if (!(pair != NULL    ? write_body (state, pair, rewriter, error)
            : saved != NULL ? write_saving (state, rewriter, function, saved, error)
                            : gantry_rewriter_run_function (rewriter, function, visit, state, progress, error)))
        return NULL;
    }
  return gantry_rewriter_finish (rewriter, error);
}

static GantryModule *
run (GantryModule *module, const GantryPassOptions *options, const GantryProgress *progress, GError **error)
{
  State state = { .module = module };
  GantryModule *next;

  state.pairs = g_hash_table_new (NULL, NULL);
  state.bodies = g_hash_table_new_full (NULL, NULL, NULL, pair_free);
  state.saved = g_hash_table_new_full (NULL, NULL, NULL, array_free);
  state.n_named = g_hash_table_new (NULL, NULL);
  count_named (&state);
  for (guint32 i = 0; i < module->n_nodes; i++)
    if (module->nodes[i].op == GANTRY_OP_SCAN && module->nodes[i].phase != GANTRY_PHASE_FORWARD)
      find_pair (&state, &module->nodes[i]);
  next = g_hash_table_size (state.pairs) == 0 ? gantry_module_ref (module) : rewrite (&state, progress, error);
  g_hash_table_unref (state.pairs);
  g_hash_table_unref (state.bodies);
  g_hash_table_unref (state.saved);
  g_hash_table_unref (state.n_named);
  return next;
}

const GantryPass gantry_pass_rematerialize = {
  .name = "rematerialize",
  .title = "Recomputation in loops",
  .description = "Lets loops make again what the loops before them saved, where a placement asks for it.",
  .needs = GANTRY_PROPERTY_CORE,
  .keeps = GANTRY_PROPERTY_CORE | GANTRY_PROPERTY_LIVE | GANTRY_PROPERTY_FUSED,
  .run = run,
};
