/* SPDX-License-Identifier: Apache-2.0 */
/* Writing ONNX: branches, loops and scans. Bodies become graphs that see the values around them, so captures need no
 * operands. */
#include "core/frontends/onnx/export-private.h"
#include <string.h>

static const GantryType *
result_type (GantryOnnxExport *e, const GantryFunction *body, guint i)
{
  return gantry_node_type (e->module, gantry_module_node (e->module, gantry_function_result_id (e->module, body, i)));
}

static ExportValue *
one_or_tuple (GantryOnnxExport *e, ExportValue **values, guint n)
{
  return n == 1 ? values[0] : gantry_export_tuple (e, values, n);
}

/* What a graph inside names has to keep that name. */
static void
fix_names (GantryOnnxExport *e, ExportValue **values, guint n)
{
  for (guint i = 0; i < n; i++)
    gantry_export_settle (e, values[i]);
}

static ExportValue *
in_place (GantryOnnxExport *e, ExportValue **in)
{
  const GantryFunction *body = gantry_export_body (e, "body");
  ExportValue **results;

  if (body == NULL)
    return e->nobody;
  results = gantry_arena_new0 (e->arena, ExportValue *, body->n_results + 1);
  gantry_export_function (e, body, in, results);
  return one_or_tuple (e, results, body->n_results);
}

static Onnx__GraphProto *
branch (GantryOnnxExport *e, const GantryFunction *body, ExportValue **captures)
{
  ExportValue **results = gantry_arena_new0 (e->arena, ExportValue *, body->n_results + 1);

  gantry_export_push (e);
  if (gantry_export_function (e, body, captures, results))
    gantry_export_outputs (e, results, body->n_results, NULL);
  return gantry_export_pop (e, gantry_context_string (e->context, body->name));
}

static ExportValue *
if_ (GantryOnnxExport *e, ExportValue **in, guint n)
{
  const GantryFunction *then_body = gantry_export_body (e, "then"), *else_body = gantry_export_body (e, "else");
  const GantryType **types;
  ExportNode node;

  if (e->error != NULL)
    return e->nobody;
  fix_names (e, in, n);
  types = gantry_arena_new0 (e->arena, const GantryType *, then_body->n_results + 1);
  for (guint i = 0; i < then_body->n_results; i++)
    types[i] = result_type (e, then_body, i);
  gantry_export_begin (e, &node, "If");
  gantry_export_input (&node, in[0]);
  gantry_export_graph (&node, "then_branch", branch (e, then_body, in + 1));
  gantry_export_graph (&node, "else_branch", branch (e, else_body, in + 1));
  return one_or_tuple (e, gantry_export_end_many (&node, types, then_body->n_results), then_body->n_results);
}

/* ONNX asks whether to go on at the end of a trip, we ask before one. What is behind the @n carries is read from the graph around. */
static Onnx__GraphProto *
loop_body (GantryOnnxExport *e, const GantryFunction *cond, const GantryFunction *body, ExportValue **in, guint n)
{
  ExportValue **values = gantry_arena_new0 (e->arena, ExportValue *, body->n_params + 1);

  for (guint i = n; i < body->n_params; i++)
    values[1 + i] = in[i];
  gantry_export_push (e);
  gantry_export_graph_input (e, "trip", gantry_export_type (e, GANTRY_I64, 0, NULL));
  gantry_export_graph_input (e, "go_on", gantry_export_type (e, GANTRY_BOOL, 0, NULL));
  for (guint i = 0; i < n; i++)
    values[1 + i] = gantry_export_graph_input (e, "carried", in[i]->type);
  if (gantry_export_function (e, body, values + 1, values + 1) && gantry_export_function (e, cond, values + 1, values))
    gantry_export_outputs (e, values, n + 1, NULL);
  return gantry_export_pop (e, gantry_context_string (e->context, body->name));
}

static ExportValue *
while_ (GantryOnnxExport *e, ExportValue **in, guint n_operands)
{
  const GantryFunction *cond = gantry_export_body (e, "cond"), *body = gantry_export_body (e, "body");
  guint n = (guint) gantry_attrs_int (e->context, e->node->attrs, "n_carries", n_operands);
  const GantryType **types = gantry_arena_new0 (e->arena, const GantryType *, n + 1);
  ExportValue *go_on = e->nobody;
  ExportNode node;

  if (cond == NULL || body == NULL || body->n_params != n_operands)
    return e->nobody;
  fix_names (e, in, n_operands);
  for (guint i = 0; i < n; i++)
    types[i] = in[i]->type;
  gantry_export_function (e, cond, in, &go_on);
  gantry_export_begin (e, &node, "Loop");
  gantry_export_input (&node, NULL);
  gantry_export_input (&node, go_on);
  for (guint i = 0; i < n; i++)
    gantry_export_input (&node, in[i]);
  gantry_export_graph (&node, "body", loop_body (e, cond, body, in, n));
  return one_or_tuple (e, gantry_export_end_many (&node, types, n), n);
}

/* Scan */

/* A scan that reads nothing counts over something. */
static const GantryType *
slice_type (GantryOnnxExport *e, const GantryType *type, gint64 axis)
{
  gint64 dims[GANTRY_MAX_RANK];
  guint rank = 0;

  for (guint i = 0; i < type->rank; i++)
    if (i != axis)
      dims[rank++] = type->dims[i];
  return gantry_export_type (e, (GantryElementType) type->element, rank, dims);
}

static Onnx__GraphProto *
scan_body (GantryOnnxExport *e, const GantryScan *scan, const GantryFunction *body, ExportValue **in)
{
  guint n = scan->n_carries + scan->n_xs + scan->n_captures;
  ExportValue **values = gantry_arena_new0 (e->arena, ExportValue *, n + 1);
  ExportValue **results = gantry_arena_new0 (e->arena, ExportValue *, body->n_results + 1);

  gantry_export_push (e);
  for (guint i = 0; i < n; i++)
    if (i < scan->n_carries)
      values[i] = gantry_export_graph_input (e, "carried", in[i]->type);
    else if (i < scan->n_carries + scan->n_xs)
      values[i] = gantry_export_graph_input (e, "slice", slice_type (e, in[i]->type, scan->axes[i - scan->n_carries]));
    else
      values[i] = in[i];
  if (scan->n_xs == 0)
    gantry_export_graph_input (e, "trip", gantry_export_type (e, GANTRY_I64, 0, NULL));
  if (gantry_export_function (e, body, values, results))
    gantry_export_outputs (e, results, body->n_results, NULL);
  return gantry_export_pop (e, gantry_context_string (e->context, body->name));
}

static void
repeat (ExportNode *node, const char *name, gint64 value, guint n)
{
  g_autofree gint64 *values = g_new (gint64, n + 1);

  for (guint i = 0; i < n; i++)
    values[i] = value;
  if (n > 0)
    gantry_export_ints (node, name, values, n);
}

/* Without a trip the carries are what they were, and the stacks are empty. */
static ExportValue *
no_trips (GantryOnnxExport *e, const GantryScan *scan, ExportValue **in, const GantryType *const *types)
{
  ExportValue **values = gantry_arena_new0 (e->arena, ExportValue *, scan->n_carries + scan->n_ys + 1);

  for (guint i = 0; i < scan->n_carries; i++)
    values[i] = in[i];
  for (guint i = 0; i < scan->n_ys; i++)
    {
      const GantryType *type = types[scan->n_carries + i];

      values[scan->n_carries + i] = gantry_export_expand (e, gantry_export_scalar (e, (GantryElementType) type->element, 0), type->rank, type->dims);
    }
  return one_or_tuple (e, values, scan->n_carries + scan->n_ys);
}

static ExportValue *
scan_node (GantryOnnxExport *e, const GantryScan *scan, const GantryFunction *body, ExportValue **in, const GantryType *const *types)
{
  guint n_xs = MAX (scan->n_xs, 1), n = scan->n_carries + scan->n_ys;
  ExportNode node;

  gantry_export_begin (e, &node, "Scan");
  for (guint i = 0; i < scan->n_carries + scan->n_xs; i++)
    gantry_export_input (&node, in[i]);
  if (scan->n_xs == 0)
    gantry_export_input (&node, gantry_export_range (e, scan->length, 1, 1, 0));
  gantry_export_graph (&node, "body", scan_body (e, scan, body, in));
  gantry_export_int (&node, "num_scan_inputs", n_xs);
  if (scan->n_xs > 0)
    gantry_export_ints (&node, "scan_input_axes", scan->axes, scan->n_xs);
  if (scan->n_ys > 0)
    gantry_export_ints (&node, "scan_output_axes", scan->y_axes, scan->n_ys);
  repeat (&node, "scan_input_directions", scan->reverse ? 1 : 0, n_xs);
  repeat (&node, "scan_output_directions", scan->reverse ? 1 : 0, scan->n_ys);
  return one_or_tuple (e, gantry_export_end_many (&node, types, n), n);
}

static ExportValue *
scan (GantryOnnxExport *e, ExportValue **in, guint n)
{
  const GantryFunction *body = gantry_export_body (e, "body");
  const GantryType *type = gantry_node_type (e->module, e->node), **types;
  GantryScan scan;

  if (body == NULL)
    return e->nobody;
  fix_names (e, in, n);
  gantry_scan_of (e->module, e->node, &scan);
  types = gantry_arena_new0 (e->arena, const GantryType *, scan.n_carries + scan.n_ys + 1);
  for (guint i = 0; i < scan.n_carries + scan.n_ys; i++)
    types[i] = type->kind == GANTRY_TYPE_TUPLE ? gantry_context_type (e->context, (guint32) type->dims[i]) : type;
  if (scan.length == 0)
    return no_trips (e, &scan, in, types);
  return scan_node (e, &scan, body, in, types);
}

ExportValue *
gantry_export_control (GantryOnnxExport *e, ExportValue **in, guint n)
{
  switch (e->node->op)
    {
    case GANTRY_OP_IF: return if_ (e, in, n);
    case GANTRY_OP_WHILE: return while_ (e, in, n);
    case GANTRY_OP_SCAN: return scan (e, in, n);
    default: return in_place (e, in);
    }
}
