/* SPDX-License-Identifier: Apache-2.0 */
/* Derivative of scan: the forward scan with the ys that its plan asks for, and a scan in the
 * other direction that carries the cotangents of the carries and the sums of those of the
 * captures, and gives those of the xs on the axes of the xs. Iteration i of both reads and writes
 * slot i, so no index is ever turned round. */
#include "core/autodiff/gradient-private.h"
#include "core/graph/operation.h"

#define B d->builder

typedef struct
{
  GArray *operands; /* guint32: of the backward scan */
  GArray *axes;     /* gint64: of its xs */
  GArray *y_axes;
  guint n_carries, n_captures;
} Operands;

static const GantryNode *
joint_node (const GantryScanPlan *plan, guint32 id)
{
  return gantry_module_node (plan->joint->module, id);
}

static guint32
joint_position (const GantryScanPlan *plan, guint32 id)
{
  return gantry_module_position (plan->joint->module, joint_node (plan, id));
}

/* A scan derived from @node: it keeps the attributes that the walk does not change, such as which
 * blocks it was rolled from. */
static guint32
write_scan (GantryDiff *d, const GantryNode *node, const GantryScan *scan, const guint32 *operands)
{
  GantryAttrList *attrs = gantry_attr_list_new (d->context);

  gantry_attr_list_set_all (attrs, node->attrs);
  gantry_attr_list_set_function (attrs, "body", scan->body);
  gantry_attr_list_set_int (attrs, "n_carries", scan->n_carries);
  gantry_attr_list_set_int (attrs, "n_xs", scan->n_xs);
  gantry_attr_list_set_ints (attrs, "axes", scan->axes, scan->n_xs);
  gantry_attr_list_set_ints (attrs, "y_axes", scan->y_axes, scan->n_ys);
  gantry_attr_list_set_int (attrs, "reverse", scan->reverse);
  return gantry_builder_add (B, GANTRY_OP_SCAN, operands, scan->n_carries + scan->n_xs + scan->n_captures, gantry_attr_list_end (attrs));
}

/* Forward */

/* The body with its residuals among the results. */
static guint32
write_saving_body (GantryDiff *d, const GantryScanPlan *plan)
{
  const GantryModule *module = plan->joint->module;
  const GantryFunction *function = gantry_module_entry (module);
  const GantryFunction *body = gantry_module_function (d->module, plan->scan.body);
  g_autofree char *name = g_strdup_printf ("%s.saving", gantry_context_string (d->context, body->name));
  g_autofree guint32 *map = g_new0 (guint32, module->n_nodes + 1);
  g_autoptr (GArray) results = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint32 id = gantry_builder_begin (B, name, 0);

  for (guint32 i = 0; i < function->n_nodes; i++)
    if (_gantry_scan_is_forward (plan, &module->nodes[i]))
      _gantry_joint_copy_node (plan->joint, B, &module->nodes[i], map, module->nodes[i].id);
  g_array_append_vals (results, plan->joint->results, plan->scan.n_carries + plan->scan.n_ys);
  for (guint i = 0; i < plan->residuals->len; i++)
    {
      const GantryResidual *residual = &g_array_index (plan->residuals, GantryResidual, i);

      if (residual->member >= plan->scan.n_carries + plan->scan.n_ys)
        g_array_append_val (results, residual->node);
    }
  gantry_builder_end (B, (const guint32 *) (gpointer) results->data, results->len);
  return id;
}

static guint32
write_saving_scan (GantryDiff *d, const GantryNode *node, GantryScanPlan *plan)
{
  GantryScan scan = plan->scan;
  g_autofree gint64 *y_axes = g_new0 (gint64, scan.n_ys + plan->n_saved + 1);
  g_autofree guint32 *operands = g_new (guint32, node->n_operands + 1);
  gboolean single = scan.n_carries + scan.n_ys == 1;

  scan.body = write_saving_body (d, plan);
  for (guint i = 0; i < scan.n_ys; i++)
    y_axes[i] = scan.y_axes[i];
  scan.n_ys += plan->n_saved;
  scan.y_axes = y_axes;
  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = _gantry_diff_operand (d, node, i);
  _gantry_diff_stand_at (d, node);
  gantry_builder_set_phase (B, d->again ? GANTRY_PHASE_BACKWARD : (GantryPhase) node->phase);
  if (!single)
    gantry_builder_set_name (B, node->name);
  plan->forward = write_scan (d, node, &scan, operands);
  if (!single)
    return plan->forward;
  gantry_builder_set_name (B, node->name);
  return gantry_builder_result (B, plan->forward, 0);
}

guint32
_gantry_scan_forward (GantryDiff *d, const GantryNode *node, GError **error)
{
  const GantryFunction *body = _gantry_body_of (d->module, node, "body");
  GantryScanPlan *plan;

  if (body == NULL || body->n_params != node->n_operands || _gantry_result_slots (d->module, body) != body->n_results)
    {
      _gantry_diff_refuse (d, node, "tuples go round or are captured; pass their members");
      return _gantry_diff_copy_node (d, node);
    }
  plan = _gantry_scan_plan_new (d, node, error);
  if (plan == NULL)
    return 0;
  g_hash_table_insert (d->plans, GUINT_TO_POINTER (node->id), plan);
  _gantry_joint_copy_functions (plan->joint, B);
  if (plan->n_saved > 0)
    return write_saving_scan (d, node, plan);
  return plan->forward = _gantry_diff_copy_node (d, node);
}

/* The backward body */

/* A parameter for the value of @like, a node of the joint function. */
static guint32
add_parameter (GantryDiff *d, const GantryScanPlan *plan, const GantryNode *like)
{
  const GantryModule *module = plan->joint->module;
  GantryNode node = { .op = GANTRY_OP_PARAMETER,
                      .type = like->type,
                      .scope = like->scope,
                      .location = like->location,
                      .name = like->name,
                      .phase = GANTRY_PHASE_BACKWARD,
                      .n_origins = like->n_origins };

  return gantry_builder_add_node (B, &node, NULL, module->origins + like->origins);
}

/* Parameters in the order that take_operands() gives the operands in; @sums: of the captures'
 * cotangents so far. */
static void
write_parameters (GantryDiff *d, const GantryScanPlan *plan, guint32 *map, guint32 *sums)
{
  const GantryJoint *joint = plan->joint;
  const GantryScan *scan = &plan->scan;
  guint first_capture = scan->n_carries + scan->n_xs;

  for (guint i = 0; i < scan->n_carries; i++)
    if (plan->active[i])
      map[joint_position (plan, joint->seeds[i])] = add_parameter (d, plan, joint_node (plan, joint->seeds[i]));
  for (guint i = first_capture; i < plan->n_params; i++)
    if (plan->active[i])
      sums[i] = add_parameter (d, plan, &joint->module->nodes[i]);
  for (guint i = scan->n_carries; i < scan->n_carries + scan->n_ys; i++)
    if (joint->seeds[i] != 0)
      map[joint_position (plan, joint->seeds[i])] = add_parameter (d, plan, joint_node (plan, joint->seeds[i]));
  for (guint i = scan->n_carries; i < first_capture; i++)
    if (plan->read[i])
      map[i] = add_parameter (d, plan, &joint->module->nodes[i]);
  for (guint i = 0; i < plan->residuals->len; i++)
    {
      guint32 id = g_array_index (plan->residuals, GantryResidual, i).node;

      map[joint_position (plan, id)] = add_parameter (d, plan, joint_node (plan, id));
    }
  for (guint i = first_capture; i < plan->n_params; i++)
    if (plan->read[i])
      map[i] = add_parameter (d, plan, &joint->module->nodes[i]);
}

static void
write_nodes (GantryDiff *d, const GantryScanPlan *plan, guint32 *map)
{
  const GantryModule *module = plan->joint->module;
  const GantryFunction *function = gantry_module_entry (module);

  for (guint32 i = function->n_params; i < function->n_nodes; i++)
    {
      GantryNode node = module->nodes[i];

      if (plan->again[i])
        {
          guint32 position = i;
          g_autofree guint32 *operands = g_new (guint32, node.n_operands + 1);

          for (guint k = 0; k < node.n_operands; k++)
            operands[k] = map[gantry_module_position (module, gantry_node_operand (module, &module->nodes[i], k))];
          node.id = 0;
          node.phase = GANTRY_PHASE_FORWARD; /* the pass fuse may copy it into each group that reads it */
          map[position] = gantry_builder_add_node (B, &node, operands, module->origins + node.origins);
        }
      else if (plan->live[i] && !_gantry_scan_is_forward (plan, &module->nodes[i]))
        _gantry_joint_copy_node (plan->joint, B, &module->nodes[i], map, node.id);
    }
}

/* Cotangent of parameter @i of the body, zero where the body gives none. */
static guint32
cotangent_of (GantryDiff *d, const GantryScanPlan *plan, const guint32 *map, guint i)
{
  guint32 id = plan->joint->cotangents[i];

  return id != 0 ? map[joint_position (plan, id)] : _gantry_diff_splat (d, gantry_node_type (plan->joint->module, &plan->joint->module->nodes[i]), 0);
}

static guint32
write_backward_body (GantryDiff *d, const GantryNode *node, const GantryScanPlan *plan)
{
  const GantryFunction *body = gantry_module_function (d->module, plan->scan.body);
  g_autofree char *name = g_strdup_printf ("%s.backward", gantry_context_string (d->context, body->name));
  g_autofree guint32 *map = g_new0 (guint32, plan->joint->module->n_nodes + 1);
  g_autofree guint32 *sums = g_new0 (guint32, plan->n_params + 1);
  g_autoptr (GArray) results = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint first_capture = plan->scan.n_carries + plan->scan.n_xs;
  guint32 id = gantry_builder_begin (B, name, 0), value;

  write_parameters (d, plan, map, sums);
  write_nodes (d, plan, map);
  _gantry_diff_stand_at (d, node);
  for (guint i = 0; i < plan->scan.n_carries; i++)
    if (plan->active[i])
      {
        value = cotangent_of (d, plan, map, i);
        g_array_append_val (results, value);
      }
  for (guint i = first_capture; i < plan->n_params; i++)
    if (plan->active[i])
      {
        value = plan->joint->cotangents[i] == 0 ? sums[i] : gantry_builder_binary (B, GANTRY_OP_ADD, sums[i], cotangent_of (d, plan, map, i));
        g_array_append_val (results, value);
      }
  for (guint i = plan->scan.n_carries; i < first_capture; i++)
    if (plan->active[i])
      {
        value = cotangent_of (d, plan, map, i);
        g_array_append_val (results, value);
      }
  gantry_builder_end (B, (const guint32 *) (gpointer) results->data, results->len);
  return id;
}

/* The backward scan */

static void
append (Operands *o, guint32 id, gint64 axis)
{
  g_array_append_val (o->operands, id);
  if (axis >= 0)
    g_array_append_val (o->axes, axis);
}

/* The cotangent of member @i of the scan, zeros where nobody gave one. */
static guint32
member_cotangent (GantryDiff *d, const GantryNode *node, guint i)
{
  guint32 id = _gantry_diff_cotangent (d, node, i);

  return id != 0 ? id : _gantry_diff_splat (d, gantry_context_type (d->context, _gantry_slot_type (d->module, node, i)), 0);
}

/* The stack of a residual: of the forward phase, though it is taken out here. */
static guint32
residual_stack (GantryDiff *d, const GantryNode *node, const GantryScanPlan *plan, const GantryResidual *residual)
{
  guint32 id = plan->forward;

  if (plan->scan.n_carries + plan->scan.n_ys + plan->n_saved > 1)
    {
      gantry_builder_set_phase (B, d->again ? GANTRY_PHASE_BACKWARD : (GantryPhase) node->phase);
      id = gantry_builder_result (B, id, residual->member);
      gantry_builder_set_phase (B, GANTRY_PHASE_BACKWARD);
    }
  return id;
}

static void
take_operands (GantryDiff *d, const GantryNode *node, const GantryScanPlan *plan, Operands *o)
{
  const GantryScan *scan = &plan->scan;
  guint first_capture = scan->n_carries + scan->n_xs;

  for (guint i = 0; i < scan->n_carries; i++)
    if (plan->active[i])
      append (o, member_cotangent (d, node, i), -1);
  for (guint i = first_capture; i < plan->n_params; i++)
    if (plan->active[i])
      append (o, _gantry_diff_splat (d, _gantry_diff_operand_type (d, node, i), 0), -1);
  o->n_carries = o->operands->len;
  for (guint i = 0; i < scan->n_ys; i++)
    if (plan->joint->seeds[scan->n_carries + i] != 0)
      append (o, member_cotangent (d, node, scan->n_carries + i), scan->y_axes[i]);
  for (guint i = 0; i < scan->n_xs; i++)
    if (plan->read[scan->n_carries + i])
      append (o, _gantry_diff_operand (d, node, scan->n_carries + i), scan->axes[i]);
  for (guint i = 0; i < plan->residuals->len; i++)
    {
      const GantryResidual *residual = &g_array_index (plan->residuals, GantryResidual, i);

      append (o, residual_stack (d, node, plan, residual), residual->axis);
    }
  for (guint i = first_capture; i < plan->n_params; i++)
    if (plan->read[i])
      {
        append (o, _gantry_diff_operand (d, node, i), -1);
        o->n_captures++;
      }
  for (guint i = 0; i < scan->n_xs; i++)
    if (plan->active[scan->n_carries + i])
      g_array_append_val (o->y_axes, scan->axes[i]);
}

static void
give_cotangents (GantryDiff *d, const GantryNode *node, const GantryScanPlan *plan, guint32 backward, guint n)
{
  guint first_capture = plan->scan.n_carries + plan->scan.n_xs, next = 0;

  /* carries, captures, xs: as the backward body returns them */
  for (guint pass = 0; pass < 3; pass++)
    {
      guint from = pass == 0 ? 0 : pass == 1 ? first_capture : plan->scan.n_carries;
      guint to = pass == 0 ? plan->scan.n_carries : pass == 1 ? plan->n_params : first_capture;

      for (guint i = from; i < to; i++)
        if (plan->active[i])
          {
            if (_gantry_diff_wants (d, node, i))
              _gantry_diff_give (d, node, i, n == 1 ? backward : gantry_builder_result (B, backward, next));
            next++;
          }
    }
}

void
_gantry_gradient_scan (GantryDiff *d, const GantryNode *node, guint32 g)
{
  GantryScanPlan *plan = g_hash_table_lookup (d->plans, GUINT_TO_POINTER (node->id));
  Operands o = { 0 };
  GantryScan scan;
  guint32 backward;

  if (plan == NULL)
    return; /* refused */
  o.operands = g_array_new (FALSE, FALSE, sizeof (guint32));
  o.axes = g_array_new (FALSE, FALSE, sizeof (gint64));
  o.y_axes = g_array_new (FALSE, FALSE, sizeof (gint64));
  take_operands (d, node, plan, &o);
  if (o.n_carries + o.y_axes->len > 0)
    {
      scan = (GantryScan){ .body = write_backward_body (d, node, plan),
                           .length = plan->scan.length,
                           .reverse = !plan->scan.reverse,
                           .n_carries = o.n_carries,
                           .n_xs = o.axes->len,
                           .n_captures = o.n_captures,
                           .n_ys = o.y_axes->len,
                           .axes = (const gint64 *) (gpointer) o.axes->data,
                           .y_axes = (const gint64 *) (gpointer) o.y_axes->data };
      backward = write_scan (d, node, &scan, (const guint32 *) (gpointer) o.operands->data);
      give_cotangents (d, node, plan, backward, o.n_carries + o.y_axes->len);
    }
  g_array_unref (o.operands);
  g_array_unref (o.axes);
  g_array_unref (o.y_axes);
}
