/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what the pass absorb has found: the bodies with what they take in, the scans with what that reads and gives, and the entry function
 * without it. */
#include "core/passes/absorb-private.h"
#include <string.h>

typedef struct
{
  GPtrArray *all; /* GantryAbsorbed */
  guint8 *done;   /* by index in the entry function: it stands before its place already */
} Write;

/* While a body is written: what stands for the nodes of the entry function in it; 0: nothing yet. */
typedef struct
{
  GantryAbsorbed *a;
  GantryRewriter *rewriter;
  GantryBuilder *b;
  guint32 *value;
} Body;

static guint32
slice_type (const GantryAbsorbed *a, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (a->module, node);

  return gantry_context_tensor (a->module->context, type->element, type->rank - 1, type->dims + 1);
}

static void
stand_at (GantryBuilder *b, const GantryNode *node)
{
  gantry_builder_set_place_of (b, node);
  gantry_builder_set_origins (b, &node->id, 1);
}

/* Where the scan walks along @index already. Returns: the operand, 0: nowhere */
static guint
find_walked (const GantryAbsorbed *a, guint32 index)
{
  for (guint i = a->scan.n_carries; i < a->scan.n_carries + a->scan.n_xs; i++)
    if (gantry_node_operand_id (a->module, a->node, i) == _gantry_absorb_node (a, index)->id && a->scan.axes[i - a->scan.n_carries] == 0)
      return i;
  return 0;
}

static void
write_parameters (const Body *body)
{
  const GantryAbsorbed *a = body->a;
  guint n_walked = a->scan.n_carries + a->scan.n_xs;

  for (guint32 i = 0; i <= a->body->n_params; i++)
    {
      for (guint k = 0; i == n_walked && k < a->xs->len; k++)
        {
          guint32 index = g_array_index (a->xs, guint32, k);
          const GantryNode *node = _gantry_absorb_node (a, index);

          if (find_walked (a, index) != 0)
            continue;
          stand_at (body->b, node);
          body->value[index] = gantry_builder_parameter (body->b, slice_type (a, node), NULL);
        }
      if (i < a->body->n_params)
        gantry_rewriter_keep (body->rewriter, &a->module->nodes[a->body->first_node + i]);
    }
  for (guint k = 0; k < a->captures->len; k++)
    {
      const GantryNode *node = _gantry_absorb_node (a, g_array_index (a->captures, guint32, k));

      stand_at (body->b, node);
      body->value[_gantry_absorb_index (a, node)] = gantry_builder_parameter (body->b, node->type, NULL);
    }
  for (guint k = 0; k < a->xs->len; k++)
    {
      guint32 index = g_array_index (a->xs, guint32, k);
      guint walked = find_walked (a, index);

      if (walked != 0)
        body->value[index] = a->module->nodes[a->body->first_node + walked].id;
    }
}

/* The part of a broadcast that a trip needs. */
static guint32
write_broadcast (const Body *body, const GantryNode *node)
{
  const GantryAbsorbed *a = body->a;
  const GantryNode *source = gantry_node_operand (a->module, node, 0);
  const GantryType *type = gantry_node_type (a->module, node);
  guint32 *value = &body->value[_gantry_absorb_index (a, source)];
  gint64 dims[GANTRY_MAX_RANK];
  gsize n;
  const gint64 *all = gantry_attrs_ints (a->module->context, node->attrs, "broadcast_dimensions", &n);

  for (gsize i = 0; i < n; i++)
    dims[i] = all[i] - 1;
  if (*value == 0)
    {
      stand_at (body->b, source);
      *value = gantry_builder_add_typed (body->b, source->op, NULL, 0, source->attrs, source->type);
    }
  stand_at (body->b, node);
  return type->rank == 1 ? *value : gantry_builder_broadcast (body->b, *value, type->rank - 1, type->dims + 1, dims);
}

/* What a trip has of operand @node of a node that is inside. */
static guint32
operand_in_body (const Body *body, const GantryNode *node)
{
  const GantryAbsorbed *a = body->a;
  gint stack = _gantry_absorb_stack_of (a, node);
  guint32 index = _gantry_absorb_index (a, node);

  if (stack >= 0)
    return gantry_rewriter_map (body->rewriter, gantry_function_result_id (a->module, a->body, (guint) stack));
  if (body->value[index] == 0)
    body->value[index] = write_broadcast (body, node);
  return body->value[index];
}

static void
write_inside (const Body *body)
{
  const GantryAbsorbed *a = body->a;

  for (guint32 i = a->entry->n_params; i < a->entry->n_nodes; i++)
    {
      const GantryNode *node = _gantry_absorb_node (a, i);
      g_autofree guint32 *operands = g_new (guint32, node->n_operands + (gsize) 1);

      if (!a->inside[i])
        continue;
      for (guint k = 0; k < node->n_operands; k++)
        operands[k] = operand_in_body (body, gantry_node_operand (a->module, node, k));
      stand_at (body->b, node);
      gantry_builder_set_name (body->b, node->name);
      body->value[i] = gantry_builder_add_typed (body->b, node->op, operands, node->n_operands, node->attrs, slice_type (a, node));
    }
}

/* Carries, what is read as before, and what is made besides. */
static guint32 *
list_results (const Body *body, guint *n)
{
  const GantryAbsorbed *a = body->a;
  guint32 *results = g_new (guint32, a->body->n_results + a->outputs->len + (gsize) 1);

  *n = 0;
  for (guint i = 0; i < a->body->n_results; i++)
    if (i < a->scan.n_carries || a->kept[i])
      results[(*n)++] = gantry_rewriter_map (body->rewriter, gantry_function_result_id (a->module, a->body, i));
  for (guint k = 0; k < a->outputs->len; k++)
    results[(*n)++] = body->value[g_array_index (a->outputs, guint32, k)];
  return results;
}

static gboolean
write_body (GantryAbsorbed *a, GantryRewriter *rewriter, GError **error)
{
  g_autofree guint32 *value = g_new0 (guint32, a->entry->n_nodes + (gsize) 1), *results = NULL;
  const Body body = { a, rewriter, gantry_rewriter_builder (rewriter), value };
  guint n;

  gantry_builder_begin (body.b, gantry_context_string (a->module->context, a->body->name), a->body->id);
  write_parameters (&body);
  for (guint32 i = a->body->n_params; i < a->body->n_nodes; i++)
    {
      const GantryNode *node = &a->module->nodes[a->body->first_node + i];

      stand_at (body.b, node);
      gantry_rewriter_keep (rewriter, node);
    }
  write_inside (&body);
  results = list_results (&body, &n);
  gantry_builder_end (body.b, results, n);
  return gantry_builder_check (body.b, error);
}

static void
with_zeros (GantryAttrList *list, const char *key, GArray *axes, guint more)
{
  const gint64 zero = 0;

  for (guint i = 0; i < more; i++)
    g_array_append_val (axes, zero);
  gantry_attr_list_set_ints (list, key, (const gint64 *) (gpointer) axes->data, axes->len);
}

/* Operands of the scan, and axes of what it walks along. */
static GArray *
list_operands (const GantryAbsorbed *a, GantryRewriter *rewriter, guint *n_more)
{
  GArray *operands = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint n_walked = a->scan.n_carries + a->scan.n_xs;

  *n_more = 0;
  for (guint i = 0; i <= a->node->n_operands; i++)
    {
      guint32 id;

      for (guint k = 0; i == n_walked && k < a->xs->len; k++)
        if (find_walked (a, g_array_index (a->xs, guint32, k)) == 0)
          {
            id = gantry_rewriter_map (rewriter, _gantry_absorb_node (a, g_array_index (a->xs, guint32, k))->id);
            g_array_append_val (operands, id);
            ++*n_more;
          }
      if (i == a->node->n_operands)
        break;
      id = gantry_rewriter_map (rewriter, gantry_node_operand_id (a->module, a->node, i));
      g_array_append_val (operands, id);
    }
  for (guint k = 0; k < a->captures->len; k++)
    {
      guint32 id = gantry_rewriter_map (rewriter, _gantry_absorb_node (a, g_array_index (a->captures, guint32, k))->id);

      g_array_append_val (operands, id);
    }
  return operands;
}

/* The type of the scan, and into @axes the dimensions that its stacks are walked along. */
static guint32
type_of (GantryAbsorbed *a, GArray *axes)
{
  GantryContext *context = a->module->context;
  const GantryType *type = gantry_node_type (a->module, a->node);
  g_autofree guint32 *members = g_new (guint32, (gsize) type->rank + a->outputs->len + 1);
  guint n = 0;

  for (guint i = 0; i < type->rank; i++)
    if (i < a->scan.n_carries || a->kept[i])
      {
        if (i >= a->scan.n_carries)
          g_array_append_val (axes, a->scan.y_axes[i - a->scan.n_carries]);
        members[n++] = (guint32) type->dims[i];
      }
  a->n_kept = n;
  for (guint k = 0; k < a->outputs->len; k++)
    members[n++] = _gantry_absorb_node (a, g_array_index (a->outputs, guint32, k))->type;
  return gantry_context_tuple (context, n, members);
}

static void
write_scan (GantryAbsorbed *a, GantryRewriter *rewriter)
{
  g_autoptr (GArray) axes = g_array_new (FALSE, FALSE, sizeof (gint64)), y_axes = g_array_new (FALSE, FALSE, sizeof (gint64)), operands = NULL;
  GantryAttrList *attrs = gantry_attr_list_new (a->module->context);
  GantryNode changed = *a->node;
  guint n_more;

  operands = list_operands (a, rewriter, &n_more);
  if (a->scan.n_xs > 0)
    g_array_append_vals (axes, a->scan.axes, a->scan.n_xs);
  changed.type = type_of (a, y_axes);
  gantry_attr_list_set_all (attrs, a->node->attrs);
  with_zeros (attrs, "axes", axes, n_more);
  with_zeros (attrs, "y_axes", y_axes, a->outputs->len);
  gantry_attr_list_set_int (attrs, "n_xs", axes->len);
  changed.attrs = gantry_attr_list_end (attrs);
  changed.n_operands = operands->len & GANTRY_MOST_OPERANDS;
  changed.n_origins = 0;
  a->new_id = gantry_builder_add_node (gantry_rewriter_builder (rewriter), &changed, (const guint32 *) (gpointer) operands->data, NULL);
  gantry_rewriter_replace (rewriter, a->node, a->new_id);
}

static void
hoist (Write *w, const GantryAbsorbed *a, GantryRewriter *rewriter)
{
  for (guint32 i = a->index + 1; i < a->entry->n_nodes; i++)
    if (a->hoisted[i] && !w->done[i])
      {
        gantry_rewriter_keep (rewriter, _gantry_absorb_node (a, i));
        w->done[i] = TRUE;
      }
}

/* Which of its results stands for what @node shows of the scan. */
static guint
new_index (const GantryAbsorbed *a, guint index)
{
  guint n = 0;

  for (guint i = 0; i < index; i++)
    n += i < a->scan.n_carries || a->kept[i];
  return n;
}

/* A node that belongs to @a. Returns: FALSE where it does not */
static gboolean
visit_own (Write *w, GantryAbsorbed *a, GantryRewriter *rewriter, const GantryNode *node)
{
  GantryBuilder *b = gantry_rewriter_builder (rewriter);
  guint32 index = _gantry_absorb_index (a, node);
  guint k = 0;

  if (node == a->node)
    {
      hoist (w, a, rewriter);
      stand_at (b, node);
      write_scan (a, rewriter);
      return TRUE;
    }
  if (node->op == GANTRY_OP_RESULT && gantry_node_operand (a->module, node, 0) == a->node)
    {
      guint i = (guint) gantry_attrs_int (a->module->context, node->attrs, "index", 0);

      if (i >= a->scan.n_carries && !a->kept[i])
        gantry_rewriter_erase (rewriter, node);
      else
        {
          gantry_builder_set_name (b, node->name);
          gantry_rewriter_replace (rewriter, node, gantry_builder_result (b, a->new_id, new_index (a, i)));
        }
      return TRUE;
    }
  if (!a->inside[index])
    return FALSE;
  while (k < a->outputs->len && g_array_index (a->outputs, guint32, k) != index)
    k++;
  if (k == a->outputs->len)
    {
      gantry_rewriter_erase (rewriter, node);
      return TRUE;
    }
  gantry_builder_set_name (b, node->name);
  gantry_rewriter_replace (rewriter, node, gantry_builder_result (b, a->new_id, a->n_kept + k));
  return TRUE;
}

static gboolean
visit (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, gpointer user_data, GError **error)
{
  Write *w = user_data;
  const GantryFunction *entry = gantry_module_entry (module);
  guint32 index = gantry_module_position (module, node) - entry->first_node;
  gboolean in_entry = index < entry->n_nodes;

  if (in_entry && w->done[index])
    return TRUE;
  for (guint i = 0; in_entry && i < w->all->len; i++)
    if (visit_own (w, g_ptr_array_index (w->all, i), rewriter, node))
      return TRUE;
  gantry_rewriter_keep (rewriter, node);
  return TRUE;
}

GantryModule *
_gantry_absorb_write (GantryModule *module, GPtrArray *all, const GantryProgress *progress, GError **error)
{
  g_autofree guint8 *done = g_new0 (guint8, gantry_module_entry (module)->n_nodes + (gsize) 1);
  g_autoptr (GantryRewriter) rewriter = gantry_rewriter_new (module);
  Write w = { all, done };

  for (guint i = 0; i < module->n_functions; i++)
    {
      GantryAbsorbed *own = NULL;

      for (guint k = 0; k < all->len; k++)
        if (((GantryAbsorbed *) g_ptr_array_index (all, k))->body == &module->functions[i])
          own = g_ptr_array_index (all, k);
      if (!(own != NULL ? write_body (own, rewriter, error) : gantry_rewriter_run_function (rewriter, &module->functions[i], visit, &w, progress, error)))
        return NULL;
    }
  return gantry_rewriter_finish (rewriter, error);
}
