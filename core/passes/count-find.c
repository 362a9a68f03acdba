/* SPDX-License-Identifier: Apache-2.0 */
/* Counting the trips of a loop: the whole numbers that its condition and its indices depend on are followed trip by trip,
 * as the loop would compute them. So any way of counting is understood that ends. */
#include "core/graph/literal.h"
#include "core/graph/operation.h"
#include "core/passes/count-private.h"
#include <string.h>

#define MOST_TRIPS 1000000
#define MOST_NUMBERS (1 << 24) /* trips times counters */

/* Whole numbers */

static gboolean
is_number (const GantryType *type)
{
  return type->kind == GANTRY_TYPE_TENSOR && gantry_type_elements (type) == 1
         && (type->element == GANTRY_BOOL
             || (gantry_element_is_compiled ((GantryElementType) type->element) && !gantry_element_is_float ((GantryElementType) type->element)));
}

static gint64
wrap (const GantryType *type, guint64 bits)
{
  guint size = 8 * (guint) gantry_element_size ((GantryElementType) type->element);

  if (type->element == GANTRY_BOOL)
    return bits != 0;
  if (size == 64)
    return (gint64) bits;
  bits &= (G_GUINT64_CONSTANT (1) << size) - 1;
  if (gantry_element_is_signed ((GantryElementType) type->element) && (bits >> (size - 1)) != 0)
    bits |= ~((G_GUINT64_CONSTANT (1) << size) - 1);
  return (gint64) bits;
}

static gint
order (const GantryType *type, gint64 x, gint64 y)
{
  if (type->element == GANTRY_BOOL || gantry_element_is_signed ((GantryElementType) type->element))
    return x < y ? -1 : x > y;
  return (guint64) x < (guint64) y ? -1 : (guint64) x > (guint64) y;
}

static gboolean
is_followed (const GantryNode *node)
{
  switch (node->op)
    {
    case GANTRY_OP_CONSTANT:
    case GANTRY_OP_ADD:
    case GANTRY_OP_SUBTRACT:
    case GANTRY_OP_MULTIPLY:
    case GANTRY_OP_NEGATE:
    case GANTRY_OP_MAXIMUM:
    case GANTRY_OP_MINIMUM:
    case GANTRY_OP_AND:
    case GANTRY_OP_OR:
    case GANTRY_OP_XOR:
    case GANTRY_OP_COMPARE:
    case GANTRY_OP_SELECT:
    case GANTRY_OP_CLAMP:
    case GANTRY_OP_CONVERT:
    case GANTRY_OP_COPY:
    case GANTRY_OP_RESHAPE:
    case GANTRY_OP_BROADCAST_IN_DIM:
    case GANTRY_OP_OPTIMIZATION_BARRIER: return TRUE;
    default: return FALSE;
    }
}

static gint64
compare (const GantryModule *module, const GantryNode *node, gint sign)
{
  const char *direction = gantry_attrs_string (module->context, node->attrs, "comparison_direction", "");

  return direction[0] == 'E'   ? sign == 0
         : direction[0] == 'N' ? sign != 0
         : direction[0] == 'L' ? sign < 0 || (direction[1] == 'E' && sign == 0)
                               : sign > 0 || (direction[1] == 'E' && sign == 0);
}

/* What a node gives for operands @x, @y, @z. */
static gint64
compute (const GantryModule *module, const GantryNode *node, gint64 x, gint64 y, gint64 z)
{
  const GantryType *type = gantry_node_type (module, node);
  const GantryType *of = node->n_operands > 0 ? gantry_node_type (module, gantry_node_operand (module, node, 0)) : type;

  switch (node->op)
    {
    case GANTRY_OP_ADD: return wrap (type, type->element == GANTRY_BOOL ? (guint64) (x | y) : (guint64) x + (guint64) y);
    case GANTRY_OP_SUBTRACT: return wrap (type, (guint64) x - (guint64) y);
    case GANTRY_OP_MULTIPLY: return wrap (type, (guint64) x * (guint64) y);
    case GANTRY_OP_NEGATE: return wrap (type, -(guint64) x);
    case GANTRY_OP_MAXIMUM: return order (type, x, y) > 0 ? x : y;
    case GANTRY_OP_MINIMUM: return order (type, x, y) < 0 ? x : y;
    case GANTRY_OP_AND: return x & y;
    case GANTRY_OP_OR: return x | y;
    case GANTRY_OP_XOR: return wrap (type, (guint64) (x ^ y));
    case GANTRY_OP_COMPARE: return compare (module, node, order (of, x, y));
    case GANTRY_OP_SELECT: return x != 0 ? y : z;
    case GANTRY_OP_CLAMP: return order (type, y, x) < 0 ? x : order (type, y, z) > 0 ? z : y;
    default: return wrap (type, (guint64) x);
    }
}

/* Following */

/* Marks what value @id of @function needs in @seen, by index. Returns: FALSE where
 * that is more than whole numbers */
static gboolean
gather (const GantryCount *count, const GantryFunction *function, guint32 id, guint8 *seen)
{
  const GantryModule *module = count->module;
  g_autoptr (GArray) work = g_array_new (FALSE, FALSE, sizeof (guint32));

  g_array_append_val (work, id);
  while (work->len > 0)
    {
      const GantryNode *node = gantry_module_node (module, g_array_index (work, guint32, work->len - 1));
      guint32 index = gantry_module_position (module, node) - function->first_node;

      g_array_set_size (work, work->len - 1);
      if (seen[index])
        continue;
      if (!is_number (gantry_node_type (module, node)))
        return FALSE;
      if (index < function->n_params ? count->kinds[index] != GANTRY_COUNT_COUNTER : !is_followed (node))
        return FALSE;
      seen[index] = 1;
      for (guint i = 0; i < node->n_operands; i++)
        {
          guint32 operand = gantry_node_operand_id (module, node, i);

          g_array_append_val (work, operand);
        }
    }
  return TRUE;
}

/* The nodes of @function in @seen behind its parameters. Constants are set at once. */
static GArray *
list_of (const GantryCount *count, const GantryFunction *function, const guint8 *seen, gint64 *scratch)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint32 i = function->n_params; i < function->n_nodes; i++)
    {
      const GantryNode *node = &count->module->nodes[function->first_node + i];
      const GantryAttr *value = node->op == GANTRY_OP_CONSTANT ? gantry_attrs_find (count->module->context, node->attrs, "value") : NULL;

      if (!seen[i])
        continue;
      if (value != NULL)
        scratch[i] = gantry_literal_get_int (gantry_context_literal (count->module->context, value->id), 0);
      else
        g_array_append_val (list, i);
    }
  return list;
}

static void
follow (const GantryCount *count, const GantryFunction *function, const GArray *list, gint64 *scratch)
{
  const GantryModule *module = count->module;

  for (guint i = 0; i < list->len; i++)
    {
      guint32 index = g_array_index (list, guint32, i);
      const GantryNode *node = &module->nodes[function->first_node + index];
      gint64 x[3] = { 0 };

      for (guint k = 0; k < MIN (node->n_operands, 3); k++)
        x[k] = scratch[gantry_module_position (module, gantry_node_operand (module, node, k)) - function->first_node];
      scratch[index] = compute (module, node, x[0], x[1], x[2]);
    }
}

static guint32
result_index (const GantryCount *count, const GantryFunction *function, guint i)
{
  const GantryNode *node = gantry_module_node (count->module, gantry_function_result_id (count->module, function, i));

  return gantry_module_position (count->module, node) - function->first_node;
}

static void
load (const GantryCount *count, gint64 trip)
{
  for (guint k = 0; k < count->n; k++)
    if (count->kinds[k] == GANTRY_COUNT_COUNTER)
      count->in_body[k] = count->table[trip * count->n_columns + count->column[k]];
}

/* Counters */

static gboolean
begins_known (const GantryCount *count, guint k, gint64 *value)
{
  const GantryNode *node = gantry_node_operand (count->module, count->node, k);
  const GantryAttr *attr = node->op == GANTRY_OP_CONSTANT ? gantry_attrs_find (count->module->context, node->attrs, "value") : NULL;

  if (attr == NULL || !is_number (gantry_node_type (count->module, node)))
    return FALSE;
  *value = gantry_literal_get_int (gantry_context_literal (count->module->context, attr->id), 0);
  return TRUE;
}

/* Of all that begins with a known number what depends on nothing else. @seen: gets what the counters need */
static void
find_counters (GantryCount *count, guint8 *seen)
{
  gboolean changed = TRUE;
  gint64 value;

  for (guint k = 0; k < count->n; k++)
    if (begins_known (count, k, &value))
      count->kinds[k] = GANTRY_COUNT_COUNTER;
  while (changed)
    {
      changed = FALSE;
      memset (seen, 0, count->body->n_nodes);
      for (guint k = 0; k < count->n; k++)
        if (count->kinds[k] == GANTRY_COUNT_COUNTER && !gather (count, count->body, gantry_function_result_id (count->module, count->body, k), seen))
          {
            count->kinds[k] = GANTRY_COUNT_CARRIED;
            changed = TRUE;
          }
    }
  for (guint k = 0; k < count->n; k++)
    if (count->kinds[k] == GANTRY_COUNT_COUNTER)
      count->column[k] = count->n_columns++;
}

static void
store (const GantryCount *count, GArray *table)
{
  for (guint k = 0; k < count->n; k++)
    if (count->kinds[k] == GANTRY_COUNT_COUNTER)
      g_array_append_val (table, count->last[k]);
}

/* Follows the counters until the condition is false. */
static gboolean
run_trips (GantryCount *count, const GArray *of_cond, const GArray *of_body, GArray *table)
{
  gint64 most = gantry_attrs_int (count->module->context, count->node->attrs, "most_trips", G_MAXINT64);

  for (guint k = 0; k < count->n; k++)
    begins_known (count, k, &count->last[k]);
  for (count->length = 0;; count->length++)
    {
      memcpy (count->in_cond, count->last, sizeof *count->last * count->n);
      follow (count, count->cond, of_cond, count->in_cond);
      if (count->in_cond[result_index (count, count->cond, 0)] == 0)
        return TRUE;
      if (count->length >= MIN (most, MOST_TRIPS) || table->len >= MOST_NUMBERS)
        return FALSE;
      store (count, table);
      memcpy (count->in_body, count->last, sizeof *count->last * count->n);
      follow (count, count->body, of_body, count->in_body);
      for (guint k = 0; k < count->n; k++)
        if (count->kinds[k] == GANTRY_COUNT_COUNTER)
          count->last[k] = count->in_body[result_index (count, count->body, k)];
    }
}

static gboolean
count_trips (GantryCount *count)
{
  g_autofree guint8 *in_cond = g_new0 (guint8, count->cond->n_nodes + 1);
  g_autofree guint8 *in_body = g_new0 (guint8, count->body->n_nodes + 1);
  g_autoptr (GArray) of_cond = NULL, of_body = NULL;
  GArray *table;
  gboolean counted;

  find_counters (count, in_body);
  if (!gather (count, count->cond, gantry_function_result_id (count->module, count->cond, 0), in_cond))
    return FALSE;
  table = g_array_new (FALSE, FALSE, sizeof (gint64));
  of_cond = list_of (count, count->cond, in_cond, count->in_cond);
  of_body = list_of (count, count->body, in_body, count->in_body);
  counted = run_trips (count, of_cond, of_body, table);
  count->table = (gint64 *) (gpointer) g_array_free (table, FALSE);
  return counted;
}

/* Walks */

/* Whether the start @id is @first + t or @first - t in trip t. */
static gboolean
steps_by_one (const GantryCount *count, guint32 id, gint64 *first, gint64 *step)
{
  const GantryFunction *body = count->body;
  g_autofree guint8 *seen = g_new0 (guint8, body->n_nodes + 1);
  g_autoptr (GArray) list = NULL;
  guint32 at = gantry_module_position (count->module, gantry_module_node (count->module, id)) - body->first_node;

  if (!gather (count, body, id, seen))
    return FALSE;
  list = list_of (count, body, seen, count->in_body);
  *step = 1;
  for (gint64 trip = 0; trip < count->length; trip++)
    {
      gint64 value;

      load (count, trip);
      follow (count, body, list, count->in_body);
      value = count->in_body[at];
      if (trip == 0)
        *first = value;
      else if (trip == 1)
        *step = value - *first;
      if ((*step != 1 && *step != -1) || value != *first + trip * *step)
        return FALSE;
    }
  return count->length > 0;
}

gboolean
_gantry_count_walks (const GantryCount *count, const GantryNode *node, guint array, GantryCountWalk *walk)
{
  const GantryModule *module = count->module;
  const GantryNode *parameter = &module->nodes[count->body->first_node + array];
  const GantryType *type = gantry_node_type (module, parameter), *part;
  guint first_start = node->op == GANTRY_OP_DYNAMIC_SLICE ? 1 : 2, n_axes = 0;
  gint64 first = 0, step = 0;

  if ((node->op != GANTRY_OP_DYNAMIC_SLICE && node->op != GANTRY_OP_DYNAMIC_UPDATE_SLICE) || gantry_node_operand_id (module, node, 0) != parameter->id
      || !gantry_type_is_static (type))
    return FALSE;
  part = gantry_node_type (module, first_start == 1 ? node : gantry_node_operand (module, node, 1));
  /* A start where the whole dimension is taken is 0, whatever it says. */
  for (guint d = 0; d < type->rank; d++)
    if (part->dims[d] != type->dims[d])
      {
        walk->axis = d;
        n_axes++;
      }
  if (n_axes != 1 || part->dims[walk->axis] != 1 || !steps_by_one (count, gantry_node_operand_id (module, node, first_start + walk->axis), &first, &step))
    return FALSE;
  walk->reverse = step < 0;
  walk->lowest = MIN (first, first + step * (count->length - 1));
  return walk->lowest >= 0 && walk->lowest + count->length <= type->dims[walk->axis];
}

static gboolean
same_walk (const GantryCountWalk *a, const GantryCountWalk *b)
{
  return a->axis == b->axis && a->lowest == b->lowest && a->reverse == b->reverse;
}

/* Whether value @k is written by a trip at one place, and read there before, and nowhere else. */
static gboolean
is_filled (const GantryCount *count, guint k, GantryCountWalk *walk)
{
  const GantryModule *module = count->module;
  const guint32 *first = count->uses->first;
  const GantryNode *update = gantry_module_node (module, gantry_function_result_id (module, count->body, k));
  guint32 at = gantry_module_position (module, update), parameter = count->body->first_node + k;

  if (update->op != GANTRY_OP_DYNAMIC_UPDATE_SLICE || first[at + 1] - first[at] != 1
      || gantry_node_operand_id (module, update, 1) == module->nodes[parameter].id || !_gantry_count_walks (count, update, k, walk))
    return FALSE;
  for (guint32 u = first[parameter]; u < first[parameter + 1]; u++)
    {
      const GantryNode *user = count->uses->users[u] != G_MAXUINT32 ? &module->nodes[count->uses->users[u]] : NULL;
      GantryCountWalk read;

      if (user == NULL || (user != update && (!_gantry_count_walks (count, user, k, &read) || !same_walk (walk, &read))))
        return FALSE;
    }
  return TRUE;
}

/* The first walk that is found says which way the scan goes. */
static void
find_walks (GantryCount *count)
{
  const GantryModule *module = count->module;
  gboolean found = FALSE;

  for (guint k = 0; k < count->n; k++)
    {
      const GantryNode *parameter = &module->nodes[count->body->first_node + k];
      GantryCountWalk walk;

      if (count->kinds[k] == GANTRY_COUNT_COUNTER)
        continue;
      if (gantry_function_result_id (module, count->body, k) == parameter->id)
        {
          count->kinds[k] = GANTRY_COUNT_STAYS;
          for (guint32 u = count->uses->first[count->body->first_node + k]; u < count->uses->first[count->body->first_node + k + 1] && !found; u++)
            if (count->uses->users[u] != G_MAXUINT32 && _gantry_count_walks (count, &module->nodes[count->uses->users[u]], k, &walk))
              {
                found = TRUE;
                count->reverse = walk.reverse;
              }
        }
      else if (is_filled (count, k, &walk) && (!found || walk.reverse == count->reverse))
        {
          found = TRUE;
          count->reverse = walk.reverse;
          count->kinds[k] = GANTRY_COUNT_FILLED;
          count->fills[k] = walk;
        }
    }
}

void
_gantry_count_free (GantryCount *count)
{
  if (count == NULL)
    return;
  g_free (count->kinds);
  g_free (count->fills);
  g_free (count->last);
  g_free (count->column);
  g_free (count->table);
  g_free (count->in_cond);
  g_free (count->in_body);
  g_free (count);
}

static const GantryFunction *
function_of (const GantryModule *module, const GantryNode *node, const char *key)
{
  const GantryAttr *attr = gantry_attrs_find (module->context, node->attrs, key);

  return attr != NULL && attr->kind == GANTRY_ATTR_FUNCTION ? gantry_module_function (module, attr->id) : NULL;
}

GantryCount *
_gantry_count_new (const GantryModule *module, const GantryUses *uses, const GantryNode *node)
{
  GantryCount *count = g_new0 (GantryCount, 1);

  count->module = module;
  count->uses = uses;
  count->node = node;
  count->n = node->n_operands;
  count->cond = function_of (module, node, "cond");
  count->body = function_of (module, node, "body");
  count->kinds = g_new0 (guint8, count->n + 1);
  count->fills = g_new0 (GantryCountWalk, count->n + 1);
  count->last = g_new0 (gint64, count->n + 1);
  count->column = g_new0 (guint32, count->n + 1);
  if (count->cond == NULL || count->body == NULL || count->cond->n_results != 1 || count->cond->n_params != count->n || count->body->n_params != count->n
      || count->body->n_results != count->n)
    {
      _gantry_count_free (count);
      return NULL;
    }
  count->in_cond = g_new0 (gint64, (gsize) count->cond->n_nodes + 1);
  count->in_body = g_new0 (gint64, (gsize) count->body->n_nodes + 1);
  if (!count_trips (count))
    {
      _gantry_count_free (count);
      return NULL;
    }
  find_walks (count);
  return count;
}
