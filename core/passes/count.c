/* SPDX-License-Identifier: Apache-2.0 */
/* count: a loop whose trips can be counted becomes a scan. An array of which each trip reads one place is walked along (an x),
 * one of which each trip writes one place is stacked (a y); what no trip changes is captured, and counters that
 * nothing else needs are gone. */
#include "core/passes/count-private.h"
#include "core/graph/operation.h"
#include "core/graph/rewriter.h"
#include "core/passes/passes.h"
#include <string.h>

/* A value of a loop outside of it, as far as somebody asks for it. */
typedef struct
{
  GantryCountKind kind;
  guint32 id;  /* the scan, or the value itself of what stays */
  guint index; /* in the scan */
  GantryCountWalk fill;
  guint32 before; /* of a filled array that has more places than the loop has trips */
  gint64 last;
  guint32 type;
} Outcome;

typedef struct
{
  GantryRewriter *rewriter;
  GantryModule *module;
  GantryUses *uses;
  GantryEffects *effects;
  GHashTable *counts;   /* id of a while -> GantryCount */
  GHashTable *outcomes; /* id of a while that was written -> Outcome[] */
  GArray *bodies;       /* guint32: functions that are named and still to be written */
  GHashTable *named;
} Counting;

typedef struct
{
  guint array;
  GantryCountWalk walk;
  guint32 inside; /* the parameter */
} Slice;

/* A scan being written. */
typedef struct
{
  Counting *c;
  const GantryCount *count;
  guint8 *live;      /* by index in the body */
  guint32 *slice_of; /* by index in the body: 1 + the slice that it reads */
  GArray *slices;    /* Slice */
  GArray *operands;  /* guint32: of the scan */
  GArray *results;   /* guint32: of its body */
  guint n_carries, n_ys;
} Writing;

static gboolean visit (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, gpointer user_data, GError **error);

static const GantryNode *
node_at (const GantryCount *count, guint32 index)
{
  return &count->module->nodes[count->body->first_node + index];
}

static guint32
index_of (const GantryCount *count, guint32 id)
{
  return gantry_module_position (count->module, gantry_module_node (count->module, id)) - count->body->first_node;
}

/* What is needed */

static guint32
slice_for (Writing *w, const GantryNode *node)
{
  const GantryCount *count = w->count;
  guint32 array = index_of (count, gantry_node_operand_id (count->module, node, 0));
  Slice slice = { .array = array };

  if (node->op != GANTRY_OP_DYNAMIC_SLICE || array >= count->n || (count->kinds[array] != GANTRY_COUNT_STAYS && count->kinds[array] != GANTRY_COUNT_FILLED)
      || !_gantry_count_walks (count, node, array, &slice.walk) || (slice.walk.reverse != count->reverse && count->length > 1))
    return 0;
  for (guint i = 0; i < w->slices->len; i++)
    {
      const Slice *known = &g_array_index (w->slices, Slice, i);

      if (known->array == array && known->walk.axis == slice.walk.axis && known->walk.lowest == slice.walk.lowest)
        return i + 1;
    }
  g_array_append_val (w->slices, slice);
  return w->slices->len;
}

static void
need (Writing *w, GArray *work, guint32 id)
{
  guint32 index = index_of (w->count, id);

  if (!w->live[index])
    g_array_append_val (work, index);
  w->live[index] = TRUE;
}

/* Marks what the results of a trip need; of the places that are read or written one by one the indices are not. */
static void
find_live (Writing *w)
{
  const GantryCount *count = w->count;
  const GantryModule *module = count->module;
  g_autoptr (GArray) work = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint k = 0; k < count->n; k++)
    {
      guint32 id = gantry_function_result_id (module, count->body, k);

      if (count->kinds[k] == GANTRY_COUNT_CARRIED)
        need (w, work, id);
      else if (count->kinds[k] == GANTRY_COUNT_FILLED)
        need (w, work, gantry_node_operand_id (module, gantry_module_node (module, id), 1));
    }
  for (guint32 i = count->body->n_params; i < count->body->n_nodes; i++)
    if ((_gantry_effects_of (w->c->effects, node_at (count, i)) & GANTRY_OP_EFFECT) != 0)
      need (w, work, node_at (count, i)->id);
  while (work->len > 0)
    {
      guint32 index = g_array_index (work, guint32, work->len - 1);
      const GantryNode *node = node_at (count, index);

      g_array_set_size (work, work->len - 1);
      if (index < count->n && count->kinds[index] == GANTRY_COUNT_COUNTER)
        need (w, work, gantry_function_result_id (module, count->body, index));
      if (node->op == GANTRY_OP_DYNAMIC_SLICE)
        w->slice_of[index] = slice_for (w, node);
      for (guint i = 0; w->slice_of[index] == 0 && i < node->n_operands; i++)
        need (w, work, gantry_node_operand_id (module, node, i));
    }
}

/* The body */

static guint32
without_axis (GantryContext *context, const GantryType *type, guint axis)
{
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = 0;

  for (guint d = 0; d < type->rank; d++)
    if (d != axis)
      dims[rank++] = type->dims[d];
  return gantry_context_tensor_in (context, (GantryElementType) type->element, rank, dims, (GantryMemoryKind) type->memory);
}

/* A broadcast to dimensions of 1, in their order. */
static gboolean
adds_ones (GantryBuilder *b, guint32 id)
{
  const GantryNode *node = gantry_builder_node (b, id);
  const gint64 *where;
  gsize n;

  if (node == NULL || node->op != GANTRY_OP_BROADCAST_IN_DIM
      || gantry_type_elements (gantry_builder_get_type (b, id)) != gantry_type_elements (gantry_builder_get_type (b, gantry_builder_operand_of (b, id, 0))))
    return FALSE;
  where = gantry_attrs_ints (gantry_builder_context (b), node->attrs, "broadcast_dimensions", &n);
  for (gsize i = 1; i < n; i++)
    if (where[i - 1] >= where[i])
      return FALSE;
  return TRUE;
}

/* @x in the shape of @type; a reshape of a reshape is one. */
static guint32
reshaped (GantryBuilder *b, guint32 x, const GantryType *type)
{
  while (gantry_builder_node (b, x) != NULL && (gantry_builder_node (b, x)->op == GANTRY_OP_RESHAPE || adds_ones (b, x)))
    x = gantry_builder_operand_of (b, x, 0);
  if (gantry_builder_get_type (b, x)->rank == type->rank && memcmp (gantry_builder_get_type (b, x)->dims, type->dims, sizeof *type->dims * type->rank) == 0)
    return x;
  return gantry_builder_reshape (b, x, type->rank, type->dims);
}

/* Keeps the parameter of value @k, and gives the scan what it is outside. */
static void
pass_value (Writing *w, guint k)
{
  guint32 outside = gantry_rewriter_map (w->c->rewriter, gantry_node_operand_id (w->count->module, w->count->node, k));

  gantry_rewriter_keep (w->c->rewriter, node_at (w->count, k));
  g_array_append_val (w->operands, outside);
}

static gboolean
is_carried (const Writing *w, guint k)
{
  return w->count->kinds[k] == GANTRY_COUNT_CARRIED || (w->count->kinds[k] == GANTRY_COUNT_COUNTER && w->live[k]);
}

static void
write_parameters (Writing *w)
{
  const GantryCount *count = w->count;
  GantryBuilder *b = gantry_rewriter_builder (w->c->rewriter);

  for (guint k = 0; k < count->n; k++)
    if (is_carried (w, k))
      {
        pass_value (w, k);
        w->n_carries++;
      }
  for (guint i = 0; i < w->slices->len; i++)
    {
      Slice *slice = &g_array_index (w->slices, Slice, i);
      const GantryNode *array = node_at (count, slice->array);
      guint32 none = 0;

      gantry_builder_set_place_of (b, array);
      gantry_builder_set_origins (b, &array->id, 1);
      slice->inside = gantry_builder_parameter (b, without_axis (count->module->context, gantry_node_type (count->module, array), slice->walk.axis),
                                                array->name != 0 ? gantry_context_string (count->module->context, array->name) : NULL);
      g_array_append_val (w->operands, none); /* cut outside, once the body is written */
    }
  for (guint k = 0; k < count->n; k++)
    if (w->live[k] && (count->kinds[k] == GANTRY_COUNT_STAYS))
      pass_value (w, k);
}

static gboolean
write_node (Writing *w, guint32 index, GError **error)
{
  const GantryCount *count = w->count;
  GantryRewriter *rewriter = w->c->rewriter;
  GantryBuilder *b = gantry_rewriter_builder (rewriter);
  const GantryNode *node = node_at (count, index);

  gantry_builder_set_place_of (b, node);
  gantry_builder_set_origins (b, &node->id, 1);
  if (w->slice_of[index] != 0)
    gantry_rewriter_replace (rewriter, node,
                             reshaped (b, g_array_index (w->slices, Slice, w->slice_of[index] - 1).inside, gantry_node_type (count->module, node)));
  else if (node->op == GANTRY_OP_RESHAPE && gantry_type_is_static (gantry_node_type (count->module, node)))
    gantry_rewriter_replace (
      rewriter, node, reshaped (b, gantry_rewriter_map (rewriter, gantry_node_operand_id (count->module, node, 0)), gantry_node_type (count->module, node)));
  else
    return visit (rewriter, count->module, node, w->c, error);
  return gantry_builder_check (b, error);
}

static gboolean
write_body (Writing *w, GError **error)
{
  const GantryCount *count = w->count;
  const GantryModule *module = count->module;
  GantryRewriter *rewriter = w->c->rewriter;
  GantryBuilder *b = gantry_rewriter_builder (rewriter);

  gantry_builder_begin (b, gantry_context_string (module->context, count->body->name), count->body->id);
  write_parameters (w);
  for (guint32 i = count->body->n_params; i < count->body->n_nodes; i++)
    if (w->live[i] && !write_node (w, i, error))
      return FALSE;
  for (guint k = 0; k < count->n; k++)
    if (is_carried (w, k))
      {
        guint32 id = gantry_rewriter_map (rewriter, gantry_function_result_id (module, count->body, k));

        g_array_append_val (w->results, id);
      }
  for (guint k = 0; k < count->n; k++)
    if (count->kinds[k] == GANTRY_COUNT_FILLED)
      {
        const GantryNode *update = gantry_module_node (module, gantry_function_result_id (module, count->body, k));
        const GantryNode *part = gantry_node_operand (module, update, 1);
        guint32 id;

        gantry_builder_set_place_of (b, update);
        gantry_builder_set_origins (b, &update->id, 1);
        id = reshaped (b, gantry_rewriter_map (rewriter, part->id),
                       gantry_context_type (module->context, without_axis (module->context, gantry_node_type (module, part), count->fills[k].axis)));
        g_array_append_val (w->results, id);
        w->n_ys++;
      }
  gantry_builder_end (b, (const guint32 *) (gpointer) w->results->data, w->results->len);
  return gantry_builder_check (b, error);
}

/* Outside */

/* The places of an array that the loop walks along. */
static guint32
walked_part (Writing *w, const Slice *slice)
{
  const GantryCount *count = w->count;
  const GantryType *type = gantry_node_type (count->module, node_at (count, slice->array));
  guint32 whole = gantry_rewriter_map (w->c->rewriter, gantry_node_operand_id (count->module, count->node, slice->array));
  gint64 start[GANTRY_MAX_RANK], limit[GANTRY_MAX_RANK], stride[GANTRY_MAX_RANK];

  if (type->dims[slice->walk.axis] == count->length)
    return whole;
  for (guint d = 0; d < type->rank; d++)
    {
      start[d] = d == slice->walk.axis ? slice->walk.lowest : 0;
      limit[d] = d == slice->walk.axis ? slice->walk.lowest + count->length : type->dims[d];
      stride[d] = 1;
    }
  return gantry_builder_slice (gantry_rewriter_builder (w->c->rewriter), whole, start, limit, stride);
}

static guint32
write_scan (Writing *w)
{
  const GantryCount *count = w->count;
  GantryBuilder *b = gantry_rewriter_builder (w->c->rewriter);
  g_autofree gint64 *axes = g_new0 (gint64, w->slices->len + 1), *y_axes = g_new0 (gint64, w->n_ys + 1);
  GantryScan scan = { .body = count->body->id, .length = count->length, .reverse = count->reverse, .axes = axes, .y_axes = y_axes };

  gantry_builder_set_place_of (b, count->node);
  gantry_builder_set_origins (b, &count->node->id, 1);
  for (guint i = 0; i < w->slices->len; i++)
    {
      const Slice *slice = &g_array_index (w->slices, Slice, i);

      axes[i] = slice->walk.axis;
      g_array_index (w->operands, guint32, w->n_carries + i) = walked_part (w, slice);
    }
  for (guint k = 0, y = 0; k < count->n; k++)
    if (count->kinds[k] == GANTRY_COUNT_FILLED)
      y_axes[y++] = count->fills[k].axis;
  scan.n_carries = w->n_carries;
  scan.n_xs = w->slices->len;
  scan.n_ys = w->n_ys;
  scan.n_captures = w->operands->len - scan.n_carries - scan.n_xs;
  gantry_builder_set_name (b, count->node->name);
  return gantry_builder_scan (b, &scan, (const guint32 *) (gpointer) w->operands->data);
}

/* @scan: 0 where the loop computes nothing but counters */
static Outcome *
outcomes_of (Writing *w, guint32 scan)
{
  const GantryCount *count = w->count;
  Outcome *outcomes = g_new0 (Outcome, count->n + 1);
  guint carry = 0, y = w->n_carries;

  for (guint k = 0; k < count->n; k++)
    {
      Outcome *o = &outcomes[k];
      guint32 before = gantry_rewriter_map (w->c->rewriter, gantry_node_operand_id (count->module, count->node, k));

      o->kind = count->length > 0 ? (GantryCountKind) count->kinds[k] : GANTRY_COUNT_STAYS;
      o->type = node_at (count, k)->type;
      o->id = o->kind == GANTRY_COUNT_STAYS ? before : scan;
      o->last = count->last[k];
      if (o->kind == GANTRY_COUNT_FILLED)
        {
          o->fill = count->fills[k];
          o->index = y++;
          if (gantry_node_type (count->module, node_at (count, k))->dims[o->fill.axis] != count->length)
            o->before = before;
        }
      else if (is_carried (w, k))
        o->index = carry++;
    }
  return outcomes;
}

/* The value of a loop behind it, where the builder stands. */
static guint32
value_of (Counting *c, const Outcome *o)
{
  GantryBuilder *b = gantry_rewriter_builder (c->rewriter);
  const GantryType *type = gantry_context_type (c->module->context, o->type);
  guint32 operands[GANTRY_MAX_RANK + 2], id = o->id;

  if (o->kind == GANTRY_COUNT_STAYS)
    return o->id;
  if (o->kind == GANTRY_COUNT_COUNTER)
    return reshaped (b, gantry_builder_int_scalar (b, (GantryElementType) type->element, o->last), type);
  if (gantry_builder_get_type (b, o->id)->kind == GANTRY_TYPE_TUPLE)
    id = gantry_builder_result (b, o->id, o->index);
  if (o->before == 0)
    return id;
  operands[0] = o->before;
  operands[1] = id;
  for (guint d = 0; d < type->rank; d++)
    operands[2 + d] = gantry_builder_int_scalar (b, GANTRY_I64, d == o->fill.axis ? o->fill.lowest : 0);
  return gantry_builder_add (b, GANTRY_OP_DYNAMIC_UPDATE_SLICE, operands, type->rank + 2, 0);
}

static void
writing_clear (Writing *w)
{
  g_free (w->live);
  g_free (w->slice_of);
  g_array_unref (w->slices);
  g_array_unref (w->operands);
  g_array_unref (w->results);
}

static gboolean
write_loop (Counting *c, const GantryCount *count, GError **error)
{
  Writing w = { .c = c, .count = count };
  guint32 scan = 0;
  gboolean good = TRUE;
  Outcome *outcomes;

  w.live = g_new0 (guint8, count->body->n_nodes + 1);
  w.slice_of = g_new0 (guint32, count->body->n_nodes + 1);
  w.slices = g_array_new (FALSE, FALSE, sizeof (Slice));
  w.operands = g_array_new (FALSE, FALSE, sizeof (guint32));
  w.results = g_array_new (FALSE, FALSE, sizeof (guint32));
  if (count->length > 0)
    {
      gboolean gives = FALSE;

      find_live (&w);
      for (guint k = 0; k < count->n; k++)
        gives = gives || is_carried (&w, k) || count->kinds[k] == GANTRY_COUNT_FILLED;
      good = !gives || write_body (&w, error);
      scan = good && gives ? write_scan (&w) : 0;
    }
  good = good && gantry_builder_check (gantry_rewriter_builder (c->rewriter), error);
  if (good)
    {
      outcomes = outcomes_of (&w, scan);
      g_hash_table_insert (c->outcomes, GUINT_TO_POINTER (count->node->id), outcomes);
      if (count->n == 1)
        gantry_rewriter_replace (c->rewriter, count->node, value_of (c, outcomes));
      else if (scan != 0)
        gantry_rewriter_replace (c->rewriter, count->node, scan);
      else
        gantry_rewriter_erase (c->rewriter, count->node);
    }
  writing_clear (&w);
  return good;
}

/* The pass */

static gboolean
visit (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, gpointer user_data, GError **error)
{
  Counting *c = user_data;
  const GantryCount *count = g_hash_table_lookup (c->counts, GUINT_TO_POINTER (node->id));
  const GantryAttrs *attrs = gantry_context_attrs (module->context, node->attrs);
  const Outcome *outcomes = node->op == GANTRY_OP_RESULT ? g_hash_table_lookup (c->outcomes, GUINT_TO_POINTER (gantry_node_operand_id (module, node, 0)))
                                                         : NULL;

  if (count != NULL)
    return write_loop (c, count, error);
  if (outcomes != NULL)
    {
      guint32 id = value_of (c, &outcomes[gantry_attrs_int (module->context, node->attrs, "index", 0)]);

      gantry_builder_name_node (gantry_rewriter_builder (rewriter), id, node->name);
      gantry_rewriter_replace (rewriter, node, id);
      return TRUE;
    }
  for (guint i = 0; i < attrs->n; i++)
    if (attrs->items[i].kind == GANTRY_ATTR_FUNCTION && g_hash_table_add (c->named, GUINT_TO_POINTER (attrs->items[i].id)))
      g_array_append_val (c->bodies, attrs->items[i].id);
  gantry_rewriter_keep (rewriter, node);
  return TRUE;
}

/* Only its members are used, and its body by nobody else. */
static gboolean
stands_alone (const GantryModule *module, const GantryUses *uses, const GantryNode *node, GHashTable *names)
{
  const GantryAttr *body = gantry_attrs_find (module->context, node->attrs, "body");
  guint32 at = gantry_module_position (module, node);

  for (guint32 u = uses->first[at]; node->n_operands > 1 && u < uses->first[at + 1]; u++)
    if (uses->users[u] == G_MAXUINT32 || module->nodes[uses->users[u]].op != GANTRY_OP_RESULT)
      return FALSE;
  return body != NULL && body->kind == GANTRY_ATTR_FUNCTION && GPOINTER_TO_UINT (g_hash_table_lookup (names, GUINT_TO_POINTER (body->id))) == 1;
}

/* By function id: how many attributes name it. */
static GHashTable *
count_names (const GantryModule *module)
{
  GHashTable *names = g_hash_table_new (NULL, NULL);

  for (guint32 i = 0; i < module->n_nodes; i++)
    {
      const GantryAttrs *attrs = gantry_context_attrs (module->context, module->nodes[i].attrs);

      for (guint a = 0; a < attrs->n; a++)
        if (attrs->items[a].kind == GANTRY_ATTR_FUNCTION)
          {
            gpointer key = GUINT_TO_POINTER (attrs->items[a].id);

            g_hash_table_insert (names, key, GUINT_TO_POINTER (GPOINTER_TO_UINT (g_hash_table_lookup (names, key)) + 1));
          }
    }
  return names;
}

/* Does anything in the function stay a `while`? */
static gboolean
holds_while (const Counting *c, guint32 id)
{
  const GantryFunction *function = gantry_module_function (c->module, id);

  for (guint32 i = 0; function != NULL && i < function->n_nodes; i++)
    {
      const GantryNode *node = &c->module->nodes[function->first_node + i];
      const GantryAttrs *attrs = gantry_context_attrs (c->module->context, node->attrs);

      if (node->op == GANTRY_OP_WHILE && !g_hash_table_contains (c->counts, GUINT_TO_POINTER (node->id)))
        return TRUE;
      for (guint32 a = 0; a < attrs->n; a++)
        if (attrs->items[a].kind == GANTRY_ATTR_FUNCTION && holds_while (c, attrs->items[a].id))
          return TRUE;
    }
  return FALSE;
}

static gboolean
stays_written_out (gpointer key, gpointer value, gpointer user_data)
{
  const GantryCount *count = value;

  return holds_while (user_data, count->body->id);
}

static gboolean
find_loops (Counting *c, const GantryProgress *progress, GError **error)
{
  g_autoptr (GHashTable) names = NULL;

  for (guint32 i = 0; i < c->module->n_nodes; i++)
    {
      const GantryNode *node = &c->module->nodes[i];
      GantryCount *count;
      gint64 exact;

      if (node->op != GANTRY_OP_WHILE)
        continue;
      if (gantry_progress_cancelled (progress, error))
        return FALSE;
      if (names == NULL)
        names = count_names (c->module);
      count = stands_alone (c->module, c->uses, node, names) ? _gantry_count_new (c->module, c->uses, node) : NULL;
      exact = gantry_attrs_int (c->module->context, node->attrs, "exact_trips", -1);
      if (count != NULL && exact >= 0 && exact != count->length)
        g_clear_pointer (&count, _gantry_count_free); /* unroll refuses it, by name */
      if (count != NULL)
        g_hash_table_insert (c->counts, GUINT_TO_POINTER (node->id), count);
    }
  /* How often an inner loop runs may be a number only where the outer one is written out trip by trip. */
  while (g_hash_table_foreach_remove (c->counts, stays_written_out, c) > 0)
    ;
  return TRUE;
}

static gboolean
write_functions (Counting *c, const GantryProgress *progress, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (c->module);

  g_hash_table_add (c->named, GUINT_TO_POINTER (entry->id));
  if (!gantry_rewriter_run_function (c->rewriter, entry, visit, c, progress, error))
    return FALSE;
  for (guint i = 0; i < c->bodies->len; i++)
    {
      const GantryFunction *body = gantry_module_function (c->module, g_array_index (c->bodies, guint32, i));

      if (body != NULL && !gantry_rewriter_run_function (c->rewriter, body, visit, c, progress, error))
        return FALSE;
    }
  return TRUE;
}

static GantryModule *
run (GantryModule *module, const GantryPassOptions *options, const GantryProgress *progress, GError **error)
{
  Counting c = { .module = module };
  GantryModule *next = NULL;

  c.uses = gantry_uses_new (module);
  c.effects = _gantry_effects_new (module);
  c.rewriter = gantry_rewriter_new (module);
  c.counts = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) _gantry_count_free);
  c.outcomes = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  c.bodies = g_array_new (FALSE, FALSE, sizeof (guint32));
  c.named = g_hash_table_new (NULL, NULL);
  if (find_loops (&c, progress, error))
    {
      if (g_hash_table_size (c.counts) == 0)
        next = gantry_module_ref (module);
      else if (write_functions (&c, progress, error))
        next = gantry_rewriter_finish (c.rewriter, error);
    }
  g_hash_table_unref (c.named);
  g_array_unref (c.bodies);
  g_hash_table_unref (c.outcomes);
  g_hash_table_unref (c.counts);
  gantry_rewriter_free (c.rewriter);
  _gantry_effects_free (c.effects);
  gantry_uses_free (c.uses);
  return next;
}

const GantryPass gantry_pass_count = {
  .name = "count",
  .title = "Counted loops",
  .description = "Makes scans of loops that run a known number of times.",
  .needs = GANTRY_PROPERTY_CORE,
  .keeps = GANTRY_PROPERTY_CORE,
  .run = run,
};
