/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions a program runs by themselves, and each of them as a module. */
#include "core/graph/region.h"
#include "core/base/error.h"
#include "core/graph/operation.h"
#include <string.h>

#define MOST_DEPTH 64

gboolean
gantry_node_is_control (const GantryNode *node)
{
  return node->op == GANTRY_OP_CALL || node->op == GANTRY_OP_IF || node->op == GANTRY_OP_WHILE || node->op == GANTRY_OP_SCAN;
}

static gboolean
add_region (const GantryModule *module, const GantryNode *node, const char *key, GantryControl *control)
{
  const GantryAttr *attr = gantry_attrs_find (module->context, node->attrs, key);

  if (attr == NULL || attr->kind != GANTRY_ATTR_FUNCTION || gantry_module_function (module, attr->id) == NULL)
    return FALSE;
  control->functions[control->n_regions++] = attr->id;
  return TRUE;
}

static gboolean
scan_of (const GantryModule *module, const GantryNode *node, GantryControl *control)
{
  GantryScan scan;

  gantry_scan_of (module, node, &scan);
  control->kind = GANTRY_CONTROL_SCAN;
  control->reverse = scan.reverse;
  control->n_carries = scan.n_carries;
  control->n_xs = scan.n_xs;
  control->n_ys = scan.n_ys;
  control->trips = scan.length;
  return add_region (module, node, "body", control);
}

gboolean
gantry_control_of (const GantryModule *module, const GantryNode *node, GantryControl *control)
{
  const GantryType *type = gantry_node_type (module, node);

  *control = (GantryControl){ .n_operands = node->n_operands, .trips = -1, .exact_trips = -1 };
  control->n_results = type->kind == GANTRY_TYPE_TUPLE ? type->rank : 1;
  switch (node->op)
    {
    case GANTRY_OP_CALL: control->kind = GANTRY_CONTROL_CALL; return add_region (module, node, "body", control);
    case GANTRY_OP_IF:
      control->kind = GANTRY_CONTROL_BRANCH;
      control->first = 1;
      return add_region (module, node, "then", control) && add_region (module, node, "else", control);
    case GANTRY_OP_WHILE:
      control->kind = GANTRY_CONTROL_WHILE;
      control->n_carries = (guint) gantry_attrs_int (module->context, node->attrs, "n_carries", node->n_operands);
      control->exact_trips = gantry_attrs_int (module->context, node->attrs, "exact_trips", -1);
      control->trips = gantry_attrs_int (module->context, node->attrs, "trip_count", control->exact_trips);
      return add_region (module, node, "body", control) && add_region (module, node, "cond", control);
    case GANTRY_OP_SCAN: return scan_of (module, node, control);
    default: return FALSE;
    }
}

guint
gantry_rematerialize_choice (const GantryModule *module, const GantryFunction *function, const GantryNode *node, const guint8 *absent)
{
  const GantryNode *saved = gantry_node_operand (module, node, 0);
  guint32 i = saved != NULL ? gantry_module_position (module, saved) - function->first_node : G_MAXUINT32;

  return absent != NULL && i < function->n_params && absent[i] ? 1 : 0;
}

static gboolean
has_effect (const GantryModule *module, const GantryNode *node)
{
  const GantryOpInfo *info = gantry_op_info (node->op);

  return (info != NULL && (info->flags & GANTRY_OP_EFFECT) != 0) || (gantry_node_is_control (node) && gantry_control_has_effect (module, node));
}

static void
need_operand (const GantryModule *module, const GantryFunction *function, const GantryNode *node, guint k, guint8 *needed)
{
  const GantryNode *operand = gantry_node_operand (module, node, k);

  if (operand != NULL)
    needed[gantry_module_position (module, operand) - function->first_node] = TRUE;
}

guint8 *
gantry_function_find_needed (const GantryModule *module, const GantryFunction *function, const guint8 *absent)
{
  guint8 *needed = g_new0 (guint8, function->n_nodes + (gsize) 1);

  for (guint i = 0; i < function->n_results; i++)
    {
      const GantryNode *node = gantry_module_node (module, gantry_function_result_id (module, function, i));

      if (node != NULL)
        needed[gantry_module_position (module, node) - function->first_node] = TRUE;
    }
  for (guint32 i = function->n_nodes; i-- > 0;)
    {
      const GantryNode *node = &module->nodes[function->first_node + i];

      needed[i] = needed[i] || (i >= function->n_params && has_effect (module, node));
      if (needed[i] && node->op == GANTRY_OP_REMATERIALIZE)
        need_operand (module, function, node, gantry_rematerialize_choice (module, function, node, absent), needed);
      else
        for (guint k = 0; needed[i] && k < node->n_operands; k++)
          need_operand (module, function, node, k, needed);
    }
  return needed;
}

guint8 *
gantry_scan_find_does_without (const GantryModule *module, const GantryNode *node)
{
  g_autofree guint8 *absent = g_new0 (guint8, node->n_operands + (gsize) 1), *needed = NULL;
  guint8 *without = g_new0 (guint8, node->n_operands + (gsize) 1);
  const GantryFunction *body;
  GantryScan scan;

  gantry_scan_of (module, node, &scan);
  body = gantry_module_function (module, scan.body);
  if (body == NULL)
    return without;
  /* Where all is made again that can be: what is read even then, others are made from. */
  memset (absent + scan.n_carries, TRUE, scan.n_xs);
  needed = gantry_function_find_needed (module, body, absent);
  for (guint i = scan.n_carries; i < scan.n_carries + scan.n_xs; i++)
    without[i] = !needed[i];
  return without;
}

const GantryNode *
gantry_scan_stack_source (const GantryModule *module, const GantryNode *node, guint result)
{
  const GantryFunction *body;
  GantryScan scan;

  gantry_scan_of (module, node, &scan);
  body = gantry_module_function (module, scan.body);
  return body != NULL && result >= scan.n_carries && result < body->n_results ? gantry_module_node (module, gantry_function_result_id (module, body, result))
                                                                              : NULL;
}

gboolean
gantry_loop_check_trips (gint64 exact, gint64 made, gboolean more, GError **error)
{
  if (exact < 0 || (more ? made < exact : made == exact))
    return TRUE;
  g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED,
               "it makes %s%" G_GINT64_FORMAT " trips where its scan outputs are declared with %" G_GINT64_FORMAT " rows", more ? "more than " : "", made,
               exact);
  return FALSE;
}

GantryModule *
gantry_module_region (GantryModule *module, guint32 function)
{
  GantryModule *whole = module->whole != NULL ? module->whole : module, *region = g_memdup2 (whole, sizeof *whole);
  const GantryFunction *entry = gantry_module_function (whole, function);
  guint32 n = whole->n_functions;

  g_return_val_if_fail (entry != NULL, NULL);
  g_atomic_ref_count_init (&region->ref_count);
  region->whole = gantry_module_ref (whole);
  /* In front of all functions, itself among them, which stay in the order of their nodes: gantry_module_function_of() searches it. */
  region->n_functions = n + 1;
  region->functions = g_new (GantryFunction, n + (gsize) 1);
  region->functions[0] = *entry;
  memcpy (region->functions + 1, whole->functions, n * sizeof *region->functions);
  if (whole->by_id != NULL)
    {
      region->by_id = g_new0 (guint32, n + (gsize) 1);
      for (guint32 i = 0; i < n; i++)
        region->by_id[i] = whole->by_id[i] + 1;
      region->by_id[n] = region->by_id[n - 1]; /* once more, so that there are as many as functions and in order */
    }
  return region;
}

static void
list_regions_of (const GantryModule *module, const GantryFunction *function, GHashTable *seen, GArray *list)
{
  for (guint32 i = 0; i < function->n_nodes; i++)
    {
      GantryControl control;

      if (!gantry_node_is_control (&module->nodes[function->first_node + i]) || !gantry_control_of (module, &module->nodes[function->first_node + i], &control))
        continue;
      for (guint r = 0; r < control.n_regions; r++)
        if (g_hash_table_add (seen, GUINT_TO_POINTER (control.functions[r])))
          g_array_append_val (list, control.functions[r]);
    }
}

static int
compare_functions (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const GantryModule *module = user_data;
  guint32 x = gantry_module_function (module, *(const guint32 *) a)->first_node;
  guint32 y = gantry_module_function (module, *(const guint32 *) b)->first_node;

  return x < y ? -1 : x > y;
}

GArray *
gantry_module_list_regions (const GantryModule *module)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  if (module->n_functions < 2)
    return list;
  list_regions_of (module, gantry_module_entry (module), seen, list);
  for (guint i = 0; i < list->len; i++)
    list_regions_of (module, gantry_module_function (module, g_array_index (list, guint32, i)), seen, list);
  g_array_sort_with_data (list, compare_functions, (gpointer) module);
  return list;
}

/* @seen: functions that were looked at: they have none, or that was the answer. Beyond the depth anything may be. */
static gboolean
function_has_effect (const GantryModule *module, guint32 id, GHashTable *seen, guint depth)
{
  const GantryFunction *function = gantry_module_function (module, id);

  if (depth >= MOST_DEPTH)
    return TRUE;
  if (!g_hash_table_add (seen, GUINT_TO_POINTER (id)))
    return FALSE;
  for (guint32 i = 0; i < function->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[function->first_node + i];
      const GantryOpInfo *info = gantry_op_info (node->op);
      GantryControl control;

      if (info == NULL || (info->flags & GANTRY_OP_EFFECT) != 0)
        return TRUE;
      if (gantry_loop_may_be_endless (module, node))
        return TRUE;
      if (!gantry_node_is_control (node) || !gantry_control_of (module, node, &control))
        continue;
      for (guint r = 0; r < control.n_regions; r++)
        if (function_has_effect (module, control.functions[r], seen, depth + 1))
          return TRUE;
    }
  return FALSE;
}

gboolean
gantry_control_has_effect (const GantryModule *module, const GantryNode *node)
{
  g_autoptr (GHashTable) seen = NULL;
  GantryControl control;

  if (gantry_loop_may_be_endless (module, node))
    return TRUE;
  if (!gantry_control_of (module, node, &control))
    return FALSE;
  seen = g_hash_table_new (NULL, NULL);
  for (guint r = 0; r < control.n_regions; r++)
    if (function_has_effect (module, control.functions[r], seen, 0))
      return TRUE;
  return FALSE;
}
