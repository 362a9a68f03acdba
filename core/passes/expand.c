/* SPDX-License-Identifier: Apache-2.0 */
/* The engine under inline and unroll: walks the functions, and copies bodies where the pass says so. */
#include "core/passes/expand-private.h"
#include "core/eval/fold.h"
#include "core/graph/operation.h"
#include <string.h>

#define MAX_DEPTH 64

/* Functions */

static void
reach (GantryExpander *e, const GantryNode *node)
{
  const GantryAttrs *attrs = gantry_context_attrs (e->source->context, node->attrs);

  for (guint i = 0; i < attrs->n; i++)
    {
      guint f = attrs->items[i].kind == GANTRY_ATTR_FUNCTION ? _gantry_effects_function (e->effects, attrs->items[i].id) : G_MAXUINT32;

      if (f == G_MAXUINT32 || e->reached[f])
        continue;
      e->reached[f] = 1;
      g_array_append_val (e->queue, f);
    }
}

const GantryFunction *
_gantry_expand_function_of (GantryExpander *e, const GantryNode *node, const char *key, GError **error)
{
  const GantryAttr *attr = gantry_attrs_find (e->source->context, node->attrs, key);
  const GantryFunction *function = attr != NULL && attr->kind == GANTRY_ATTR_FUNCTION ? gantry_module_function (e->source, attr->id) : NULL;

  if (function == NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "%%%u: attribute %s names no function of this module", node->id, key);
  return function;
}

/* Places */

void
_gantry_expand_frame_init (GantryExpandFrame *frame, const GantryExpandFrame *outer, const GantryNode *node, const char *part)
{
  *frame = (GantryExpandFrame){ .outer = outer, .node = node, .part = part, .phase = (GantryPhase) node->phase };
  if (outer != NULL && frame->phase == GANTRY_PHASE_FORWARD)
    frame->phase = outer->phase;
}

void
_gantry_expand_frame_clear (GantryExpandFrame *frame)
{
  g_clear_pointer (&frame->scopes, g_hash_table_unref);
}

/* What follows @scope in @path, NULL when it is not below it. */
static const char *
below (const char *path, const char *scope)
{
  gsize n = strlen (scope);

  if (n == 0)
    return path;
  if (strncmp (path, scope, n) != 0 || (path[n] != '\0' && path[n] != '/'))
    return NULL;
  return path[n] == '/' ? path + n + 1 : path + n;
}

static char *
join (const char *a, const char *b)
{
  return g_strconcat (a, *a != '\0' && *b != '\0' ? "/" : "", b, NULL);
}

/* The scope of the block that became this iteration: by the table, or by what it says of the nearest scope above. */
static char *
block_scope (const GantryExpandFrame *frame, GantryContext *context, const char *path)
{
  gsize n = strlen (path);

  for (;;)
    {
      guint32 text = gantry_context_intern_len (context, path, n);
      const char *rest = path + n;

      if (_gantry_block_table_look_up (&frame->blocks->scopes, text, frame->iteration, &text))
        return join (gantry_context_string (context, text), *rest == '/' ? rest + 1 : rest);
      if (n == 0)
        return g_strdup (path);
      while (n > 0 && path[--n] != '/')
        ;
    }
}

/* The scope of a body's node in one copy, as the body's caller would write it. */
static char *
local_scope (const GantryExpandFrame *frame, GantryContext *context, guint32 scope)
{
  const char *path = gantry_context_scope_path (context, scope);
  const char *caller = gantry_context_scope_path (context, frame->node->scope);
  g_autofree char *place = NULL;
  const char *rest;

  if (frame->blocks != NULL)
    return block_scope (frame, context, path);
  rest = below (path, caller);
  place = join (caller, frame->part != NULL ? frame->part : "");
  return join (place, rest != NULL ? rest : path);
}

static guint32
map_scope (const GantryExpandFrame *frame, GantryContext *context, guint32 scope)
{
  for (; frame != NULL; frame = frame->outer)
    {
      guint32 known = frame->scopes != NULL ? GPOINTER_TO_UINT (g_hash_table_lookup (frame->scopes, GUINT_TO_POINTER (scope + 1))) : 0;
      g_autofree char *path = NULL;

      if (known == 0)
        {
          path = local_scope (frame, context, scope);
          known = gantry_context_scope (context, path) + 1;
          if (frame->scopes == NULL)
            ((GantryExpandFrame *) frame)->scopes = g_hash_table_new (NULL, NULL);
          g_hash_table_insert (frame->scopes, GUINT_TO_POINTER (scope + 1), GUINT_TO_POINTER (known));
        }
      scope = known - 1;
    }
  return scope;
}

guint32
_gantry_expand_scope_of (GantryExpander *e, const GantryExpandFrame *frame, const GantryNode *node)
{
  return map_scope (frame, e->source->context, node->scope);
}

static guint32
map_location (const GantryExpandFrame *frame, guint32 location)
{
  for (; frame != NULL; frame = frame->outer)
    if (frame->blocks != NULL)
      _gantry_block_table_look_up (&frame->blocks->locations, location, frame->iteration, &location);
  return location;
}

void
_gantry_expand_set_place_of (GantryExpander *e, const GantryExpandFrame *frame, const GantryNode *node)
{
  gantry_builder_set_place (e->b, map_scope (frame, e->source->context, node->scope), map_location (frame, node->location));
  gantry_builder_set_phase (e->b, frame != NULL && node->phase == GANTRY_PHASE_FORWARD ? frame->phase : (GantryPhase) node->phase);
  gantry_builder_set_origins (e->b, &node->id, 1);
}

void
_gantry_expand_set_place (GantryExpander *e, GantryExpandFrame *frame)
{
  gantry_builder_set_place (e->b, map_scope (frame, e->source->context, frame->node->scope), frame->node->location);
  gantry_builder_set_phase (e->b, frame->phase);
  gantry_builder_set_origins (e->b, &frame->node->id, 1);
}

void
_gantry_expand_set_fold (GantryExpander *e, gboolean fold)
{
  e->fold = fold;
  gantry_fold_set_limit (e->b, fold ? 1 : 0);
}

/* Copying */

static guint32
name_of (const GantryExpandFrame *frame, const GantryNode *node)
{
  guint32 name = node->name;

  if (frame->blocks != NULL && name != 0)
    _gantry_block_table_look_up (&frame->blocks->names, node->name, frame->iteration, &name);
  return name;
}

static gboolean
names_functions (GantryExpander *e, const GantryNode *node)
{
  const GantryAttrs *attrs = gantry_context_attrs (e->source->context, node->attrs);

  for (guint i = 0; i < attrs->n; i++)
    if (attrs->items[i].kind == GANTRY_ATTR_FUNCTION)
      return TRUE;
  return FALSE;
}

/* Most often operands are of the types that the body declares, and so is the value; where they say more than that it
 * is inferred. */
static GantryExpandValue
copy_node (GantryExpander *e, const GantryExpandFrame *frame, const GantryNode *node, const GantryExpandValue *operands)
{
  g_autofree guint32 *ids = g_new (guint32, node->n_operands + 1);
  gboolean same = TRUE;
  guint32 id;

  for (guint i = 0; i < node->n_operands; i++)
    {
      ids[i] = operands[i] != 0 ? _gantry_expand_id (e, operands[i]) : 0;
      same = same && (ids[i] == 0 || gantry_builder_type (e->b, ids[i]) == gantry_node_operand (e->source, node, i)->type);
    }
  _gantry_expand_set_place_of (e, frame, node);
  gantry_builder_set_name (e->b, name_of (frame, node));
  reach (e, node);
  if ((same && !e->fold) || node->op >= GANTRY_OP_FOREIGN || names_functions (e, node))
    id = gantry_builder_add_typed (e->b, node->op, ids, node->n_operands, node->attrs, node->type);
  else
    id = gantry_builder_add (e->b, node->op, ids, node->n_operands, node->attrs);
  gantry_builder_set_name (e->b, 0);
  return id;
}

static gboolean
copy_nodes (GantryExpander *e, const GantryFunction *function, const GantryExpandFrame *frame, GantryExpandValue *values, GError **error)
{
  const GantryModule *source = e->source;
  g_autoptr (GArray) operands = g_array_new (FALSE, FALSE, sizeof (GantryExpandValue));

  for (guint32 i = function->n_params; i < function->n_nodes; i++)
    {
      const GantryNode *node = &source->nodes[function->first_node + i];
      GantryExpandValue *x;

      if ((e->n_made++ & 1023) == 0 && gantry_progress_cancelled (e->progress, error))
        return FALSE;
      g_array_set_size (operands, node->n_operands);
      x = (GantryExpandValue *) (gpointer) operands->data;
      for (guint j = 0; j < node->n_operands; j++)
        {
          const GantryNode *operand = gantry_node_operand (source, node, j);

          x[j] = operand != NULL ? values[gantry_module_position (source, operand) - function->first_node] : 0;
        }
      if (e->wants (e, node))
        {
          if (!e->expand (e, node, x, frame, &values[i], error))
            return FALSE;
        }
      else if (node->op == GANTRY_OP_RESULT && _gantry_expand_n_members (e, x[0]) > 0)
        values[i] = _gantry_expand_member (e, x[0], (guint) gantry_attrs_int (source->context, node->attrs, "index", 0));
      else
        values[i] = copy_node (e, frame, node, x);
      if (!gantry_builder_check (e->b, error))
        {
          gantry_error_prefix (error, "%%%u: ", node->id);
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
may_copy (GantryExpander *e, const GantryFunction *function, const GantryExpandFrame *frame, GError **error)
{
  guint index = (guint) (function - e->source->functions);
  const char *name = gantry_context_string (e->source->context, function->name);
  g_autofree char *label = gantry_node_label (e->source, frame->node);
  g_autofree char *where = gantry_context_location_text (e->source->context, frame->node->location);

  if (e->active[index])
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "%s '%s' (%s): function @%s calls itself, which cannot be written out",
                 gantry_node_op_name (e->source, frame->node), label, where, name);
  else if (e->depth >= MAX_DEPTH)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE, "%s '%s' (%s): bodies nest deeper than %d", gantry_node_op_name (e->source, frame->node), label,
                 where, MAX_DEPTH);
  else if (e->n_made + function->n_nodes > e->max_nodes)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_TOO_LARGE,
                 "%s '%s' (%s): written out the program would have more than %u nodes; make the loop shorter, or its body"
                 " smaller",
                 gantry_node_op_name (e->source, frame->node), label, where, e->max_nodes);
  else
    return TRUE;
  return FALSE;
}

gboolean
_gantry_expand_body (GantryExpander *e, const GantryFunction *function, const GantryExpandValue *arguments, GantryExpandFrame *frame,
                     GantryExpandValue *results, GError **error)
{
  g_autofree GantryExpandValue *values = NULL;
  guint index = (guint) (function - e->source->functions);
  gboolean good;

  /* A copy counts as a node, so that empty bodies in long scans end as well. */
  if (!may_copy (e, function, frame, error) || ((e->n_made++ & 1023) == 0 && gantry_progress_cancelled (e->progress, error)))
    return FALSE;
  values = g_new0 (GantryExpandValue, (gsize) function->n_nodes + 1);
  memcpy (values, arguments, function->n_params * sizeof *values);
  e->active[index] = 1;
  e->depth++;
  good = copy_nodes (e, function, frame, values, error);
  e->depth--;
  e->active[index] = 0;
  for (guint i = 0; good && i < function->n_results; i++)
    {
      const GantryNode *node = gantry_module_node (e->source, gantry_function_result_id (e->source, function, i));

      results[i] = values[gantry_module_position (e->source, node) - function->first_node];
    }
  return good;
}

/* Walking */

static gboolean
is_function_result (GantryExpander *e, const GantryNode *node)
{
  guint32 position = gantry_module_position (e->source, node);

  for (guint32 i = e->uses->first[position]; i < e->uses->first[position + 1]; i++)
    if (e->uses->users[i] == G_MAXUINT32)
      return TRUE;
  return FALSE;
}

static void
put_value (GantryExpander *e, const GantryNode *node, GantryExpandValue value)
{
  if ((value & GANTRY_EXPAND_SPECIAL) != 0)
    {
      e->values[node->id] = value;
      if (!is_function_result (e, node))
        return;
      value = _gantry_expand_id (e, value);
    }
  gantry_builder_name_node (e->b, value, node->name);
  gantry_rewriter_replace (e->rewriter, node, value);
}

/* A node that stays: what it uses has to be nodes. */
static void
keep (GantryExpander *e, const GantryNode *node)
{
  for (guint i = 0; i < node->n_operands; i++)
    {
      const GantryNode *operand = gantry_node_operand (e->source, node, i);

      if (operand != NULL && e->values[operand->id] != 0)
        gantry_rewriter_replace (e->rewriter, operand, _gantry_expand_id (e, e->values[operand->id]));
    }
  reach (e, node);
  gantry_rewriter_keep (e->rewriter, node);
}

static gboolean
visit_wanted (GantryExpander *e, const GantryNode *node, GError **error)
{
  g_autofree GantryExpandValue *operands = g_new (GantryExpandValue, node->n_operands + 1);
  GantryExpandValue value = 0;

  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = _gantry_expand_value_of (e, gantry_node_operand_id (e->source, node, i));
  e->n_expanded++;
  if (!e->expand (e, node, operands, NULL, &value, error))
    return FALSE;
  put_value (e, node, value);
  return TRUE;
}

static gboolean
visit (GantryRewriter *rewriter, const GantryModule *source, const GantryNode *node, gpointer data, GError **error)
{
  GantryExpander *e = data;
  guint32 first = gantry_node_operand_id (source, node, 0);
  GantryExpandValue special = first != 0 ? e->values[first] : 0;
  GantryExpandValue cut;

  e->n_made++;
  if (e->wants (e, node))
    return visit_wanted (e, node, error);
  if (e->deferred != NULL && e->deferred[gantry_module_position (source, node)])
    e->values[node->id] = _gantry_expand_defer (e, node);
  else if (node->op == GANTRY_OP_RESULT && special != 0 && _gantry_expand_n_members (e, special) > 0)
    put_value (e, node, _gantry_expand_member (e, special, (guint) gantry_attrs_int (source->context, node->attrs, "index", 0)));
  else if (node->op == GANTRY_OP_SLICE && special != 0 && (cut = _gantry_expand_cut (e, node, special)) != 0)
    put_value (e, node, cut);
  else
    keep (e, node);
  return TRUE;
}

static gboolean
write_functions (GantryExpander *e, GError **error)
{
  const GantryModule *source = e->source;
  guint entry = 0;

  e->reached[0] = 1;
  g_array_append_val (e->queue, entry);
  for (guint i = 0; i < e->queue->len; i++)
    if (!gantry_rewriter_run_function (e->rewriter, &source->functions[g_array_index (e->queue, guint, i)], visit, e, e->progress, error))
      return FALSE;
  return TRUE;
}

static gboolean
anything_wanted (const GantryModule *module, const GantryExpander *e)
{
  for (guint32 i = 0; i < module->n_nodes; i++)
    if (e->wants (e, &module->nodes[i]))
      return TRUE;
  return FALSE;
}

GantryModule *
_gantry_expand (GantryModule *module, GantryExpander *e, const GantryProgress *progress, GError **error)
{
  g_autoptr (GantryRewriter) rewriter = NULL;
  GantryModule *next = NULL;

  e->source = module;
  if (!anything_wanted (module, e))
    return gantry_module_ref (module);
  rewriter = gantry_rewriter_new (module);
  if (e->max_nodes == 0)
    e->max_nodes = GANTRY_PASS_MOST_NODES;
  e->rewriter = rewriter;
  e->b = gantry_rewriter_builder (rewriter);
  e->progress = progress;
  e->active = g_new0 (guint8, module->n_functions + 1);
  e->reached = g_new0 (guint8, module->n_functions + 1);
  e->queue = g_array_new (FALSE, FALSE, sizeof (guint));
  e->uses = gantry_uses_new (module);
  e->effects = _gantry_effects_new (module);
  _gantry_expand_values_init (e);
  if (e->defers)
    _gantry_expand_mark_deferred (e);
  if (write_functions (e, error))
    next = gantry_rewriter_finish (rewriter, error);
  _gantry_expand_values_clear (e);
  _gantry_effects_free (e->effects);
  g_clear_pointer (&e->surveys, g_hash_table_unref);
  gantry_uses_free (e->uses);
  g_array_unref (e->queue);
  g_free (e->reached);
  g_free (e->active);
  return next;
}
