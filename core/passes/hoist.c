/* SPDX-License-Identifier: Apache-2.0 */
/* hoist: a sum over trips of products is one product over all trips. The backward loop of a recurrent network adds, in each trip, the product
 * of what a cell read and of the gradient of what it made to the gradient of a weight that all trips share: of a weight of a megabyte a
 * megabyte is read and written each time, for the sake of a product of a few rows. Where what is multiplied is small, it is stacked
 * instead, and the product is made once behind the loop, with the trips as one more dimension that is summed over; so are sums of it, as of
 * biases. Written out it is one product as well, so that both have the same bits. */
#include "core/graph/region.h"
#include "core/graph/rewriter.h"
#include "core/passes/bodies-private.h"
#include "core/passes/passes.h"
#include <string.h>

/* What a trip stacks is written once and read once, where the sum was read and written in each trip, and needs memory for all trips: it is
 * worth it where it is smaller by this much, and no more than what the loop walks along anyway. */
#define LEAST_RATIO 4

/* A sum over trips. */
typedef struct
{
  guint carry;            /* of the scan, which is no carry any more */
  const GantryNode *made; /* what is added in each trip: a product, or a sum over dimensions */
} Sum;

typedef struct
{
  const GantryModule *module;
  const GantryNode *node; /* the scan */
  const GantryFunction *body;
  GantryScan scan;
  const GantryUses *uses;
  GArray *sums;    /* Sum */
  GArray *stacked; /* guint32: indices in the body of what is stacked besides */
  gint *sum_of;    /* by carry: index in sums, -1: it stays */
  guint32 new_id;  /* of the scan */
} Hoisted;

static void
hoisted_free (gpointer data)
{
  Hoisted *h = data;

  g_array_unref (h->sums);
  g_array_unref (h->stacked);
  g_free (h->sum_of);
  g_free (h);
}

static guint32
index_in_body (const Hoisted *h, const GantryNode *node)
{
  return gantry_module_position (h->module, node) - h->body->first_node;
}

/* Who alone reads @node. Returns: (nullable): nobody, or others, or a caller */
static const GantryNode *
only_user (const Hoisted *h, const GantryNode *node)
{
  guint32 user = _gantry_only_user (h->uses, gantry_module_position (h->module, node));

  return user != G_MAXUINT32 ? &h->module->nodes[user] : NULL;
}

/* Whether @node is result @k of the body and nothing else. */
static gboolean
is_result_alone (const Hoisted *h, const GantryNode *node, guint k)
{
  guint32 position = gantry_module_position (h->module, node), first = h->uses->first[position];

  return h->uses->first[position + 1] == first + 1 && h->uses->users[first] == G_MAXUINT32 && gantry_function_result_id (h->module, h->body, k) == node->id;
}

/* What each trip adds to carry @k, which nobody reads before the loop is over. Returns: (nullable): it is no such sum */
static const GantryNode *
find_added (const Hoisted *h, guint k)
{
  const GantryNode *carry = &h->module->nodes[h->body->first_node + k], *add = only_user (h, carry), *made;

  if (add == NULL || add->op != GANTRY_OP_ADD || !is_result_alone (h, add, k) || add->phase == GANTRY_PHASE_FORWARD
      || !gantry_element_is_float (gantry_node_type (h->module, add)->element))
    return NULL;
  made = gantry_node_operand (h->module, add, gantry_node_operand (h->module, add, 0) == carry);
  return made != carry && made->op != GANTRY_OP_PARAMETER && only_user (h, made) == add ? made : NULL;
}

/* Whether operand @i of the scan is there as a whole however things are placed: no loop has made it, or it is what the trips of one began
 * with. What is put together may be for loops alone, and then is nowhere. */
static gboolean
is_whole (const Hoisted *h, guint i)
{
  const GantryNode *node = gantry_node_operand (h->module, h->node, i);
  const GantryNode *scan = node->op == GANTRY_OP_RESULT ? gantry_node_operand (h->module, node, 0) : NULL;
  const GantryNode *source;
  GantryScan of;

  if (scan == NULL || scan->op != GANTRY_OP_SCAN)
    return node->op != GANTRY_OP_CONCATENATE;
  gantry_scan_of (h->module, scan, &of);
  source = gantry_scan_stack_source (h->module, scan, (guint) gantry_attrs_int (h->module->context, node->attrs, "index", 0));
  return source != NULL && source->op == GANTRY_OP_PARAMETER
         && gantry_module_position (h->module, source) - gantry_module_function (h->module, of.body)->first_node < of.n_carries;
}

/* The operand of the scan that body node @node is a slice of. Returns: -1: of none that is there as a whole */
static gint
walked_of (const Hoisted *h, const GantryNode *node)
{
  guint32 i = index_in_body (h, node);

  return i >= h->scan.n_carries && i < h->scan.n_carries + h->scan.n_xs && is_whole (h, i) ? (gint) i : -1;
}

static gint
stacked_at (const Hoisted *h, const GantryNode *node)
{
  for (guint k = 0; k < h->stacked->len; k++)
    if (g_array_index (h->stacked, guint32, k) == index_in_body (h, node))
      return (gint) k;
  return -1;
}

/* Whether @node can be had of all trips at once. @bytes: (inout): of what a trip has to put down for that */
static gboolean
can_stack (const Hoisted *h, const GantryNode *node, gint64 *bytes)
{
  const GantryType *type = gantry_node_type (h->module, node);

  if (walked_of (h, node) >= 0 || stacked_at (h, node) >= 0)
    return TRUE;
  if (node->op == GANTRY_OP_PARAMETER || node->op == GANTRY_OP_CONSTANT || node->phase == GANTRY_PHASE_FORWARD || type->rank >= GANTRY_MAX_RANK
      || type->memory != GANTRY_MEMORY_DEVICE || !gantry_type_is_static (type))
    return FALSE;
  *bytes += gantry_type_bytes (type);
  return TRUE;
}

static void
stack (Hoisted *h, const GantryNode *node)
{
  guint32 i = index_in_body (h, node);

  if (walked_of (h, node) < 0 && stacked_at (h, node) < 0)
    g_array_append_val (h->stacked, i);
}

static void
add_sum (Hoisted *h, guint k, const GantryNode *made)
{
  const Sum sum = { k, made };

  h->sum_of[k] = (gint) h->sums->len;
  g_array_append_val (h->sums, sum);
}

/* Bytes that a trip walks along. */
static gint64
walked_bytes (const Hoisted *h)
{
  gint64 bytes = 0;

  for (guint i = h->scan.n_carries; i < h->scan.n_carries + h->scan.n_xs; i++)
    bytes += gantry_type_bytes (gantry_node_type (h->module, &h->module->nodes[h->body->first_node + i]));
  return bytes;
}

/* Products first: what they need stacked their sums have for nothing. */
static void
find_sums (Hoisted *h)
{
  gint64 left = walked_bytes (h);

  for (guint k = 0; k < h->scan.n_carries; k++)
    {
      const GantryNode *made = find_added (h, k);
      gint64 bytes = 0;

      if (made == NULL || made->op != GANTRY_OP_DOT_GENERAL || !can_stack (h, gantry_node_operand (h->module, made, 0), &bytes)
          || !can_stack (h, gantry_node_operand (h->module, made, 1), &bytes) || bytes * LEAST_RATIO > gantry_type_bytes (gantry_node_type (h->module, made))
          || bytes > left)
        continue;
      left -= bytes;
      stack (h, gantry_node_operand (h->module, made, 0));
      stack (h, gantry_node_operand (h->module, made, 1));
      add_sum (h, k, made);
    }
  for (guint k = 0; k < h->scan.n_carries; k++)
    {
      const GantryNode *made = h->sum_of[k] < 0 ? find_added (h, k) : NULL;

      if (made != NULL && made->op == GANTRY_OP_REDUCE && made->n_operands == 1
          && strcmp (gantry_attrs_string (h->module->context, made->attrs, "kind", ""), "add") == 0
          && stacked_at (h, gantry_node_operand (h->module, made, 0)) >= 0)
        add_sum (h, k, made);
    }
}

/* Whether results of the scan are read one by one. Who reads all of them as one reads other ones when sums are gone from them. */
static gboolean
shows_results_alone (const Hoisted *h)
{
  guint32 position = gantry_module_position (h->module, h->node);

  for (guint32 u = h->uses->first[position]; u < h->uses->first[position + 1]; u++)
    if (h->uses->users[u] == G_MAXUINT32 || h->module->nodes[h->uses->users[u]].op != GANTRY_OP_RESULT)
      return FALSE;
  return TRUE;
}

/* Returns: (transfer full) (nullable): %NULL where there is nothing to hoist */
static Hoisted *
hoisted_new (const GantryModule *module, const GantryNode *node, const GantryUses *uses)
{
  Hoisted *h = g_new0 (Hoisted, 1);
  guint n_results;

  h->module = module;
  h->node = node;
  h->uses = uses;
  h->sums = g_array_new (FALSE, FALSE, sizeof (Sum));
  h->stacked = g_array_new (FALSE, FALSE, sizeof (guint32));
  gantry_scan_of (module, node, &h->scan);
  h->body = gantry_module_function (module, h->scan.body);
  h->sum_of = g_new (gint, h->scan.n_carries + 1);
  memset (h->sum_of, 0xff, h->scan.n_carries * sizeof *h->sum_of);
  if (gantry_node_type (module, node)->kind == GANTRY_TYPE_TUPLE && h->scan.length > 1 && shows_results_alone (h))
    find_sums (h);
  n_results = h->scan.n_carries + h->scan.n_ys - h->sums->len + h->stacked->len;
  if (h->sums->len > 0 && n_results > 1 && _gantry_body_is_named_once (module, h->scan.body))
    return h;
  hoisted_free (h);
  return NULL;
}

/* Writing */

static void
stand_at (GantryBuilder *b, const GantryNode *node)
{
  gantry_builder_set_place_of (b, node);
  gantry_builder_set_origins (b, &node->id, 1);
}

static gboolean
write_body (const Hoisted *h, GantryRewriter *rewriter, GError **error)
{
  GantryBuilder *b = gantry_rewriter_builder (rewriter);
  g_autofree guint32 *results = g_new (guint32, h->body->n_results + h->stacked->len + (gsize) 1);
  guint n = 0;

  gantry_builder_begin (b, gantry_context_string (h->module->context, h->body->name), h->body->id);
  for (guint32 i = 0; i < h->body->n_nodes; i++)
    {
      const GantryNode *node = &h->module->nodes[h->body->first_node + i];
      gboolean gone = i < h->scan.n_carries && h->sum_of[i] >= 0;

      for (guint k = 0; k < h->sums->len && !gone; k++)
        {
          const Sum *sum = &g_array_index (h->sums, Sum, k);

          gone = node == sum->made || gantry_function_result_id (h->module, h->body, sum->carry) == node->id;
        }
      stand_at (b, node);
      if (gone)
        gantry_rewriter_erase (rewriter, node);
      else
        gantry_rewriter_keep (rewriter, node);
    }
  for (guint k = 0; k < h->body->n_results; k++)
    if (k >= h->scan.n_carries || h->sum_of[k] < 0)
      results[n++] = gantry_rewriter_map (rewriter, gantry_function_result_id (h->module, h->body, k));
  for (guint k = 0; k < h->stacked->len; k++)
    results[n++] = gantry_rewriter_map (rewriter, h->module->nodes[h->body->first_node + g_array_index (h->stacked, guint32, k)].id);
  gantry_builder_end (b, results, n);
  return gantry_builder_check (b, error);
}

static guint32
type_of (const Hoisted *h)
{
  const GantryType *type = gantry_node_type (h->module, h->node);
  g_autofree guint32 *members = g_new (guint32, (gsize) type->rank + h->stacked->len + 1);
  guint n = 0;

  for (guint k = 0; k < type->rank; k++)
    if (k >= h->scan.n_carries || h->sum_of[k] < 0)
      members[n++] = (guint32) type->dims[k];
  for (guint k = 0; k < h->stacked->len; k++)
    members[n++] = _gantry_stack_type (h->module, gantry_node_type (h->module, &h->module->nodes[h->body->first_node + g_array_index (h->stacked, guint32, k)]),
                                       h->scan.length);
  return gantry_context_tuple (h->module->context, n, members);
}

static void
write_scan (Hoisted *h, GantryRewriter *rewriter)
{
  GantryAttrList *attrs = gantry_attr_list_new (h->module->context);
  GantryNode changed = *h->node;
  g_autofree guint32 *operands = g_new (guint32, h->node->n_operands + (gsize) 1);
  g_autofree gint64 *axes = g_new0 (gint64, h->scan.n_ys + h->stacked->len + (gsize) 1);
  guint n = 0;

  for (guint i = 0; i < h->node->n_operands; i++)
    if (i >= h->scan.n_carries || h->sum_of[i] < 0)
      operands[n++] = gantry_rewriter_map (rewriter, gantry_node_operand_id (h->module, h->node, i));
  if (h->scan.n_ys > 0)
    memcpy (axes, h->scan.y_axes, h->scan.n_ys * sizeof *axes);
  gantry_attr_list_set_all (attrs, h->node->attrs);
  gantry_attr_list_set_ints (attrs, "y_axes", axes, h->scan.n_ys + h->stacked->len);
  gantry_attr_list_set_int (attrs, "n_carries", h->scan.n_carries - h->sums->len);
  changed.attrs = gantry_attr_list_end (attrs);
  changed.type = type_of (h);
  changed.n_operands = n & GANTRY_MOST_OPERANDS;
  changed.n_origins = 0;
  stand_at (gantry_rewriter_builder (rewriter), h->node);
  h->new_id = gantry_builder_add_node (gantry_rewriter_builder (rewriter), &changed, operands, NULL);
  gantry_rewriter_replace (rewriter, h->node, h->new_id);
}

/* Which result of the new scan result @k is. */
static guint
new_index (const Hoisted *h, guint k)
{
  guint n = 0;

  for (guint i = 0; i < k; i++)
    n += i >= h->scan.n_carries || h->sum_of[i] < 0;
  return n;
}

/* @node, of the body, of all trips. */
static guint32
write_stack (const Hoisted *h, GantryRewriter *rewriter, const GantryNode *node)
{
  gint walked = walked_of (h, node);

  return walked >= 0 ? gantry_rewriter_map (rewriter, gantry_node_operand_id (h->module, h->node, (guint) walked))
                     : gantry_builder_result (gantry_rewriter_builder (rewriter), h->new_id,
                                              h->scan.n_carries + h->scan.n_ys - h->sums->len + (guint) stacked_at (h, node));
}

/* The dimension of write_stack() that has the trips. */
static gint64
trips_of (const Hoisted *h, const GantryNode *node)
{
  gint walked = walked_of (h, node);

  return walked >= 0 ? h->scan.axes[(guint) walked - h->scan.n_carries] : 0;
}

/* Dimensions @key of operand @i of what is multiplied, with the trips beside them; @summed: those are summed over before them. */
static void
shift (const Hoisted *h, GantryAttrList *attrs, const GantryNode *node, guint i, const char *key, gboolean summed)
{
  gint64 trips = trips_of (h, gantry_node_operand (h->module, node, i));
  gsize n;
  const gint64 *dims = gantry_attrs_ints (h->module->context, node->attrs, key, &n);
  g_autofree gint64 *shifted = g_new0 (gint64, n + 2);

  shifted[0] = trips;
  for (gsize k = 0; k < n; k++)
    shifted[k + summed] = dims[k] + (dims[k] >= trips);
  gantry_attr_list_set_ints (attrs, key, shifted, n + summed);
}

/* What all trips add. */
static guint32
write_sum (const Hoisted *h, GantryRewriter *rewriter, const GantryNode *made)
{
  GantryAttrList *attrs = gantry_attr_list_new (h->module->context);
  guint32 operands[2] = { 0 };

  gantry_attr_list_set_all (attrs, made->attrs);
  if (made->op == GANTRY_OP_REDUCE)
    shift (h, attrs, made, 0, "dimensions", TRUE);
  else
    {
      shift (h, attrs, made, 0, "lhs_contracting_dimensions", TRUE);
      shift (h, attrs, made, 1, "rhs_contracting_dimensions", TRUE);
      shift (h, attrs, made, 0, "lhs_batching_dimensions", FALSE);
      shift (h, attrs, made, 1, "rhs_batching_dimensions", FALSE);
    }
  for (guint i = 0; i < made->n_operands; i++)
    operands[i] = write_stack (h, rewriter, gantry_node_operand (h->module, made, i));
  return gantry_builder_add_typed (gantry_rewriter_builder (rewriter), made->op, operands, made->n_operands, gantry_attr_list_end (attrs), made->type);
}

/* A node that shows a result of the scan. */
static void
write_result (const Hoisted *h, GantryRewriter *rewriter, const GantryNode *node)
{
  GantryBuilder *b = gantry_rewriter_builder (rewriter);
  guint k = (guint) gantry_attrs_int (h->module->context, node->attrs, "index", 0);
  guint32 pair[2], value;

  stand_at (b, node);
  if (k >= h->scan.n_carries || h->sum_of[k] < 0)
    value = gantry_builder_result (b, h->new_id, new_index (h, k));
  else
    {
      pair[0] = gantry_rewriter_map (rewriter, gantry_node_operand_id (h->module, h->node, k));
      pair[1] = write_sum (h, rewriter, g_array_index (h->sums, Sum, h->sum_of[k]).made);
      value = gantry_builder_add (b, GANTRY_OP_ADD, pair, 2, 0);
    }
  gantry_builder_name_node (b, value, node->name);
  gantry_rewriter_replace (rewriter, node, value);
}

static gboolean
visit (GantryRewriter *rewriter, const GantryModule *module, const GantryNode *node, gpointer user_data, GError **error)
{
  GPtrArray *all = user_data;

  for (guint i = 0; i < all->len; i++)
    {
      Hoisted *h = g_ptr_array_index (all, i);

      if (node == h->node)
        {
          write_scan (h, rewriter);
          return TRUE;
        }
      if (node->op == GANTRY_OP_RESULT && gantry_node_operand (module, node, 0) == h->node)
        {
          write_result (h, rewriter, node);
          return TRUE;
        }
    }
  gantry_rewriter_keep (rewriter, node);
  return TRUE;
}

static GantryModule *
run (GantryModule *module, const GantryPassOptions *options, const GantryProgress *progress, GError **error)
{
  const GantryFunction *entry = gantry_module_entry (module);
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (hoisted_free);
  g_autoptr (GantryUses) uses = gantry_uses_new (module);
  g_autoptr (GantryRewriter) rewriter = NULL;

  for (guint32 i = 0; i < entry->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];
      Hoisted *h = node->op == GANTRY_OP_SCAN && node->phase != GANTRY_PHASE_FORWARD ? hoisted_new (module, node, uses) : NULL;

      if (h != NULL)
        g_ptr_array_add (all, h);
    }
  if (all->len == 0)
    return gantry_module_ref (module);
  rewriter = gantry_rewriter_new (module);
  for (guint i = 0; i < module->n_functions; i++)
    {
      const Hoisted *own = NULL;

      for (guint k = 0; k < all->len; k++)
        if (((Hoisted *) g_ptr_array_index (all, k))->body == &module->functions[i])
          own = g_ptr_array_index (all, k);
      if (!(own != NULL ? write_body (own, rewriter, error) : gantry_rewriter_run_function (rewriter, &module->functions[i], visit, all, progress, error)))
        return NULL;
    }
  return gantry_rewriter_finish (rewriter, error);
}

const GantryPass gantry_pass_hoist = {
  .name = "hoist",
  .title = "Sums of products over trips",
  .takes_memory = TRUE,
  .description = "What a loop of the backward phase adds up trip by trip, a product each, is one product behind the loop.",
  .needs = GANTRY_PROPERTY_CORE,
  .keeps = GANTRY_PROPERTY_CORE,
  .run = run,
};
