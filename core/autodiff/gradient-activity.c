/* SPDX-License-Identifier: Apache-2.0 */
/* Which values a derivative flows through: those that depend on what is differentiated by and
 * that what is differentiated depends on. Bodies are looked into, and loops gone through until
 * nothing changes, so that a counter or a mask carried along costs nothing. */
#include "core/autodiff/gradient-private.h"
#include "core/graph/operation.h"
#include <string.h>

/* Beyond this many looks at nodes (bodies in bodies in loops) the answer "all that may be" must
 * do. */
#define MOST_WORK ((guint64) 1 << 26)

guint
_gantry_slot_count (const GantryModule *module, const GantryNode *node)
{
  const GantryType *type = gantry_node_type (module, node);

  return type->kind == GANTRY_TYPE_TUPLE ? type->rank : 1;
}

guint32
_gantry_slot_type (const GantryModule *module, const GantryNode *node, guint slot)
{
  const GantryType *type = gantry_node_type (module, node);

  return type->kind == GANTRY_TYPE_TUPLE ? gantry_context_tuple_member (module->context, node->type, slot) : node->type;
}

gboolean
_gantry_type_has_cotangent (const GantryDiffJob *job, const GantryType *type)
{
  return gantry_type_is_tensor (type) && (gantry_element_is_float (type->element) || (job->integers && gantry_element_is_integer (type->element)));
}

/* Operations whose rule holds for integers as it stands; what others give of integers is a step, or bits. */
static gboolean
carries_integers (guint op)
{
  switch (op)
    {
    case GANTRY_OP_TUPLE:
    case GANTRY_OP_RESULT:
    case GANTRY_OP_SORT:
    case GANTRY_OP_IF:
    case GANTRY_OP_SCAN:
    case GANTRY_OP_WHILE:
    case GANTRY_OP_CALL:
    case GANTRY_OP_FUSION:
    case GANTRY_OP_OPTIMIZATION_BARRIER:
    case GANTRY_OP_CHECKPOINT_NAME:
    case GANTRY_OP_COPY:
    case GANTRY_OP_CONVERT:
    case GANTRY_OP_NEGATE:
    case GANTRY_OP_ABS:
    case GANTRY_OP_ADD:
    case GANTRY_OP_SUBTRACT:
    case GANTRY_OP_MULTIPLY:
    case GANTRY_OP_POWER:
    case GANTRY_OP_REMAINDER:
    case GANTRY_OP_MAXIMUM:
    case GANTRY_OP_MINIMUM:
    case GANTRY_OP_SELECT:
    case GANTRY_OP_CLAMP:
    case GANTRY_OP_BROADCAST_IN_DIM:
    case GANTRY_OP_RESHAPE:
    case GANTRY_OP_TRANSPOSE:
    case GANTRY_OP_REVERSE:
    case GANTRY_OP_SLICE:
    case GANTRY_OP_PAD:
    case GANTRY_OP_CONCATENATE:
    case GANTRY_OP_GATHER:
    case GANTRY_OP_DYNAMIC_SLICE:
    case GANTRY_OP_DYNAMIC_UPDATE_SLICE:
    case GANTRY_OP_SCATTER:
    case GANTRY_OP_REDUCE:
    case GANTRY_OP_REDUCE_WINDOW:
    case GANTRY_OP_DOT_GENERAL:
    case GANTRY_OP_CONVOLUTION: return TRUE;
    default: return FALSE;
    }
}

guint
_gantry_result_slots (const GantryModule *module, const GantryFunction *function)
{
  guint n = 0;

  for (guint i = 0; i < function->n_results; i++)
    n += _gantry_slot_count (module, gantry_module_node (module, gantry_function_result_id (module, function, i)));
  return n;
}

const GantryFunction *
_gantry_body_of (const GantryModule *module, const GantryNode *node, const char *key)
{
  const GantryAttr *attr = gantry_attrs_find (module->context, node->attrs, key);

  return attr != NULL && attr->kind == GANTRY_ATTR_FUNCTION ? gantry_module_function (module, attr->id) : NULL;
}

static gboolean
slot_has_cotangent (const GantryDiffJob *job, const GantryActivity *a, const GantryNode *node, guint slot)
{
  const GantryType *type = gantry_context_type (a->module->context, _gantry_slot_type (a->module, node, slot));

  return _gantry_type_has_cotangent (job, type) && (gantry_element_is_float (type->element) || node->op == GANTRY_OP_PARAMETER || carries_integers (node->op));
}

static guint32
operand_slot (const GantryActivity *a, const GantryNode *node, guint i)
{
  return a->first[gantry_module_position (a->module, gantry_node_operand (a->module, node, i)) - a->function->first_node];
}

static guint
operand_slots (const GantryActivity *a, const GantryNode *node, guint i)
{
  return _gantry_slot_count (a->module, gantry_node_operand (a->module, node, i));
}

/* Reads @flags of operands @from.. into one list, a byte per slot. */
static GByteArray *
take_operands (const GantryActivity *a, const GantryNode *node, guint from, const guint8 *flags)
{
  GByteArray *list = g_byte_array_new ();

  for (guint i = from; i < node->n_operands; i++)
    g_byte_array_append (list, flags + operand_slot (a, node, i), operand_slots (a, node, i));
  return list;
}

static void
mark_operands (GantryActivity *a, const GantryNode *node, guint from, const guint8 *list)
{
  for (guint i = from; i < node->n_operands; i++)
    {
      guint32 slot = operand_slot (a, node, i);
      guint n = operand_slots (a, node, i);

      for (guint k = 0; k < n; k++)
        a->useful[slot + k] |= *list++ & a->varied[slot + k];
    }
}

/* The flags of a function's result slots, one after the other. */
static void
take_results (const GantryActivity *a, const guint8 *flags, guint8 *list)
{
  for (guint i = 0; i < a->function->n_results; i++)
    {
      const GantryNode *node = gantry_module_node (a->module, gantry_function_result_id (a->module, a->function, i));
      guint n = _gantry_slot_count (a->module, node);

      memcpy (list, flags + a->first[gantry_module_position (a->module, node) - a->function->first_node], n);
      list += n;
    }
}

/* Grows @out (by result slot) by what varies when @in (by parameter slot) does. */
static void
vary_results (GantryDiffJob *job, const GantryFunction *function, const guint8 *in, guint8 *out)
{
  g_autoptr (GantryActivity) a = NULL;
  g_autofree guint8 *list = NULL;
  guint n;

  if (function == NULL)
    return;
  n = _gantry_result_slots (job->module, function);
  a = _gantry_activity_new (job, function, in, NULL);
  list = g_new0 (guint8, n + 1);
  take_results (a, a->varied, list);
  for (guint i = 0; i < n; i++)
    out[i] |= list[i];
}

/* Grows @in by what is useful when @out is. */
static void
use_parameters (GantryDiffJob *job, const GantryFunction *function, const guint8 *varied, const guint8 *out, guint8 *in)
{
  g_autoptr (GantryActivity) a = NULL;

  if (function == NULL)
    return;
  a = _gantry_activity_new (job, function, varied, out);
  for (guint32 i = 0; i < a->first[function->n_params]; i++)
    in[i] |= a->useful[i];
}

void
_gantry_scan_settle (GantryDiffJob *job, const GantryFunction *body, guint n_carries, guint8 *varied, guint8 *useful)
{
  guint n = _gantry_result_slots (job->module, body);
  g_autofree guint8 *out = g_new0 (guint8, n + 1);
  g_autofree guint8 *in = NULL;
  gboolean grown;
  guint n_params = 0;

  for (guint i = 0; i < body->n_params; i++)
    n_params += _gantry_slot_count (job->module, &job->module->nodes[body->first_node + i]);
  in = g_new0 (guint8, n_params + 1);
  do
    {
      grown = FALSE;
      vary_results (job, body, varied, out);
      for (guint i = 0; i < n_carries; i++)
        if (out[i] && !varied[i])
          varied[i] = grown = TRUE;
    }
  while (grown);
  if (useful == NULL)
    return;
  do
    {
      grown = FALSE;
      use_parameters (job, body, varied, useful, in);
      for (guint i = 0; i < n_carries; i++)
        if (in[i] && !useful[i])
          useful[i] = grown = TRUE;
    }
  while (grown);
}

/* Forward: what varies */

static void
vary_loop (GantryDiffJob *job, GantryActivity *a, const GantryNode *node, guint32 slot)
{
  const GantryFunction *body = _gantry_body_of (a->module, node, "body");
  g_autoptr (GByteArray) in = take_operands (a, node, 0, a->varied);
  guint n_carries = node->op == GANTRY_OP_WHILE ? in->len : (guint) gantry_attrs_int (a->module->context, node->attrs, "n_carries", 0);

  if (body == NULL)
    return;
  _gantry_scan_settle (job, body, n_carries, in->data, NULL);
  memcpy (a->varied + slot, in->data, n_carries);
  vary_results (job, body, in->data, a->varied + slot);
}

static void
vary_control (GantryDiffJob *job, GantryActivity *a, const GantryNode *node, guint32 slot)
{
  g_autoptr (GByteArray) in = NULL;

  if (job->work > MOST_WORK)
    {
      memset (a->varied + slot, 1, _gantry_slot_count (a->module, node));
      return;
    }
  if (node->op == GANTRY_OP_IF)
    {
      in = take_operands (a, node, 1, a->varied);
      vary_results (job, _gantry_body_of (a->module, node, "then"), in->data, a->varied + slot);
      vary_results (job, _gantry_body_of (a->module, node, "else"), in->data, a->varied + slot);
    }
  else if (node->op == GANTRY_OP_SCAN || node->op == GANTRY_OP_WHILE)
    vary_loop (job, a, node, slot);
  else
    {
      in = take_operands (a, node, 0, a->varied);
      vary_results (job, _gantry_body_of (a->module, node, "body"), in->data, a->varied + slot);
    }
}

static gboolean
any_operand_varies (const GantryActivity *a, const GantryNode *node)
{
  for (guint i = 0; i < node->n_operands; i++)
    for (guint k = 0; k < operand_slots (a, node, i); k++)
      if (a->varied[operand_slot (a, node, i) + k])
        return TRUE;
  return FALSE;
}

static void
vary (GantryDiffJob *job, GantryActivity *a, const GantryNode *node, guint32 slot)
{
  const GantryGradient *gradient = _gantry_gradient_of (node->op);
  guint n = _gantry_slot_count (a->module, node);
  gboolean any;

  switch (node->op)
    {
    case GANTRY_OP_TUPLE:
    case GANTRY_OP_SORT:
      for (guint i = 0; i < n; i++)
        a->varied[slot + i] = operand_slots (a, node, i) == 1 && a->varied[operand_slot (a, node, i)];
      break;
    case GANTRY_OP_RESULT:
      a->varied[slot] = a->varied[operand_slot (a, node, 0) + (guint) gantry_attrs_int (a->module->context, node->attrs, "index", 0)];
      break;
    case GANTRY_OP_IF:
    case GANTRY_OP_SCAN:
    case GANTRY_OP_WHILE:
    case GANTRY_OP_CALL:
    case GANTRY_OP_FUSION: vary_control (job, a, node, slot); break;
    default:
      any = (gradient->rule != NULL || gradient->why != NULL) && any_operand_varies (a, node);
      for (guint i = 0; i < n; i++)
        a->varied[slot + i] = any;
      break;
    }
  for (guint i = 0; i < n; i++)
    a->varied[slot + i] = a->varied[slot + i] && slot_has_cotangent (job, a, node, i);
}

/* Backward: what is useful */

static void
use_control (GantryDiffJob *job, GantryActivity *a, const GantryNode *node, guint32 slot)
{
  guint first = node->op == GANTRY_OP_IF ? 1 : 0, n = _gantry_slot_count (a->module, node);
  g_autoptr (GByteArray) varied = take_operands (a, node, first, a->varied);
  g_autofree guint8 *in = g_new0 (guint8, varied->len + 1);
  g_autofree guint8 *useful = g_memdup2 (a->useful + slot, n + 1);
  guint n_carries;

  if (node->op == GANTRY_OP_IF)
    {
      use_parameters (job, _gantry_body_of (a->module, node, "then"), varied->data, useful, in);
      use_parameters (job, _gantry_body_of (a->module, node, "else"), varied->data, useful, in);
    }
  else if (node->op == GANTRY_OP_SCAN)
    {
      const GantryFunction *body = _gantry_body_of (a->module, node, "body");

      n_carries = (guint) gantry_attrs_int (a->module->context, node->attrs, "n_carries", 0);
      _gantry_scan_settle (job, body, n_carries, varied->data, useful);
      use_parameters (job, body, varied->data, useful, in);
      /* No iteration at all hands the carry through. */
      for (guint i = 0; i < n_carries; i++)
        in[i] |= useful[i];
    }
  else if (node->op == GANTRY_OP_WHILE)
    memset (in, 1, varied->len);
  else
    use_parameters (job, _gantry_body_of (a->module, node, "body"), varied->data, useful, in);
  mark_operands (a, node, first, in);
}

static void
use (GantryDiffJob *job, GantryActivity *a, const GantryNode *node, guint32 slot)
{
  guint n = _gantry_slot_count (a->module, node);
  guint any = 0;

  for (guint i = 0; i < n; i++)
    any |= a->useful[slot + i] &= a->varied[slot + i];
  if (!any)
    return;
  switch (node->op)
    {
    case GANTRY_OP_TUPLE:
    case GANTRY_OP_SORT:
      for (guint i = 0; i < n; i++)
        a->useful[operand_slot (a, node, i)] |= a->useful[slot + i];
      break;
    case GANTRY_OP_RESULT: a->useful[operand_slot (a, node, 0) + (guint) gantry_attrs_int (a->module->context, node->attrs, "index", 0)] = 1; break;
    case GANTRY_OP_IF:
    case GANTRY_OP_SCAN:
    case GANTRY_OP_WHILE:
    case GANTRY_OP_CALL:
    case GANTRY_OP_FUSION: use_control (job, a, node, slot); break;
    default:
      for (guint i = 0; i < node->n_operands; i++)
        for (guint k = 0; k < operand_slots (a, node, i); k++)
          a->useful[operand_slot (a, node, i) + k] |= a->varied[operand_slot (a, node, i) + k];
      break;
    }
}

static void
use_results (GantryActivity *a, const guint8 *useful)
{
  for (guint i = 0; i < a->function->n_results; i++)
    {
      const GantryNode *node = gantry_module_node (a->module, gantry_function_result_id (a->module, a->function, i));
      guint32 slot = a->first[gantry_module_position (a->module, node) - a->function->first_node];

      for (guint k = 0; k < _gantry_slot_count (a->module, node); k++)
        a->useful[slot + k] |= *useful++ & a->varied[slot + k];
    }
}

GantryActivity *
_gantry_activity_new (GantryDiffJob *job, const GantryFunction *function, const guint8 *varied, const guint8 *useful)
{
  GantryActivity *a = g_new0 (GantryActivity, 1);
  const GantryNode *nodes = &job->module->nodes[function->first_node];
  guint32 n = 0;

  a->module = job->module;
  a->function = function;
  a->first = g_new (guint32, function->n_nodes + 1);
  for (guint32 i = 0; i < function->n_nodes; i++)
    {
      a->first[i] = n;
      n += _gantry_slot_count (job->module, &nodes[i]);
    }
  a->first[function->n_nodes] = n;
  a->varied = g_new0 (guint8, n + 1);
  a->useful = g_new0 (guint8, n + 1);
  for (guint32 i = 0; i < function->n_nodes; i++)
    if (i >= function->n_params)
      vary (job, a, &nodes[i], a->first[i]);
    else
      for (guint32 k = a->first[i]; k < a->first[i + 1]; k++)
        a->varied[k] = varied[k] && slot_has_cotangent (job, a, &nodes[i], k - a->first[i]);
  job->work += function->n_nodes;
  if (useful == NULL)
    return a;
  if (job->work > MOST_WORK)
    {
      memcpy (a->useful, a->varied, n);
      return a;
    }
  use_results (a, useful);
  for (guint32 i = function->n_nodes; i-- > function->n_params;)
    use (job, a, &nodes[i], a->first[i]);
  return a;
}

void
_gantry_activity_free (GantryActivity *activity)
{
  if (activity == NULL)
    return;
  g_free (activity->first);
  g_free (activity->varied);
  g_free (activity->useful);
  g_free (activity);
}
