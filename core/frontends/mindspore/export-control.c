/* SPDX-License-Identifier: Apache-2.0 */
/* Writing MindIR: branches, loops, scans and calls. The arms of a branch, and the parts of a loop, are functions that get all that they use;
 * a loop is a function that decides last whether its body is called, which calls it again. */
#include "core/frontends/mindspore/export-private.h"
#include "core/graph/operation.h"
#include <string.h>

static const GantryFunction *
body_of (MindExport *e, const char *key)
{
  const GantryAttr *attr = gantry_attrs_find (e->context, e->node->attrs, key);

  return attr != NULL && attr->kind == GANTRY_ATTR_FUNCTION ? gantry_module_function (e->module, attr->id) : NULL;
}

/* The types of the results of e->node. @is_tuple: whether it has several */
static const GantryType **
result_types (MindExport *e, guint *n, gboolean *is_tuple)
{
  const GantryType *type = gantry_node_type (e->module, e->node), **types;

  *is_tuple = type->kind == GANTRY_TYPE_TUPLE;
  *n = *is_tuple ? type->rank : 1;
  types = g_new0 (const GantryType *, *n + 1);
  for (guint i = 0; i < *n; i++)
    types[i] = *is_tuple ? gantry_context_type (e->context, (guint32) type->dims[i]) : type;
  return types;
}

static char *
graph_name (MindExport *e, const char *what)
{
  return g_strdup_printf ("%s_%u", what, ++e->counter);
}

/* Opens a graph with an input for each of @values, and gives those. Returns: (transfer full) */
static ExportValue **
open_graph (MindExport *e, const char *name, ExportValue **values, guint n)
{
  ExportValue **inputs = g_new0 (ExportValue *, n + 1);

  gantry_mind_export_push (e, name);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *own = g_strdup_printf ("arg%u", i);

      inputs[i] = gantry_mind_export_input (e, own, values[i]->type);
    }
  return inputs;
}

/* Several results are a tuple; the same value may be two of them. */
static void
close_graph (MindExport *e, ExportValue **results, guint n, gboolean is_tuple)
{
  ExportValue *value = is_tuple ? gantry_mind_export_tuple (e, results, n) : results[0];

  gantry_mind_export_output (e, value);
  gantry_wire_put_message (e->functions, 8, gantry_mind_export_pop (e));
}

static void
write_function (MindExport *e, const char *name, const GantryFunction *function, ExportValue **values, guint n, gboolean is_tuple)
{
  g_autofree ExportValue **inputs = open_graph (e, name, values, n), **results = g_new0 (ExportValue *, function->n_results + 1);

  gantry_mind_export_function (e, function, inputs, results);
  close_graph (e, results, function->n_results, is_tuple);
}

/* A function with its arguments, as a value. */
static const char *
partial (MindExport *e, const char *function, ExportValue **values, guint n)
{
  g_autofree const char **inputs = g_new0 (const char *, n + 2);

  if (n == 0)
    return gantry_arena_strdup (e->arena, function);
  inputs[0] = function;
  for (guint i = 0; i < n; i++)
    inputs[i + 1] = gantry_mind_export_use (e, values[i]);
  return gantry_mind_export_closure (e, "Partial", inputs, n + 1, &function, 1);
}

/* Calls one of two functions with their arguments. */
static ExportValue *
call_choice (MindExport *e, ExportValue *condition, const char *const *functions, const char *const *closures, const GantryType *const *types, guint n,
             gboolean is_tuple)
{
  const char *inputs[3] = { gantry_mind_export_use (e, condition), closures[0], closures[1] };

  return gantry_mind_export_call (e, gantry_mind_export_closure (e, "Switch", inputs, 3, functions, 2), NULL, 0, types, n, is_tuple);
}

static ExportValue *
branch (MindExport *e, ExportValue **in, guint n)
{
  const GantryFunction *then = body_of (e, "then"), *otherwise = body_of (e, "else");
  g_autofree char *names[2] = { graph_name (e, "then"), graph_name (e, "else") }, *rest = names[1];
  gboolean is_tuple;
  guint n_types;
  g_autofree const GantryType **types = result_types (e, &n_types, &is_tuple);
  const char *functions[2] = { names[0], names[1] }, *closures[2];

  (void) rest;
  write_function (e, names[0], then, in + 1, n - 1, is_tuple);
  write_function (e, names[1], otherwise, in + 1, n - 1, is_tuple);
  for (guint i = 0; i < 2; i++)
    closures[i] = partial (e, functions[i], in + 1, n - 1);
  return call_choice (e, in[0], functions, closures, types, n_types, is_tuple);
}

/* Writes the part of a loop that goes on: its body, and the head again. */
static void
write_loop_body (MindExport *e, const char *name, const char *head, ExportValue **in, guint n, const GantryType *const *types, guint n_types, gboolean is_tuple)
{
  const GantryFunction *body = body_of (e, "body");
  g_autofree ExportValue **inputs = open_graph (e, name, in, n), **next = g_new0 (ExportValue *, n + body->n_results + 1);
  ExportValue *result;

  gantry_mind_export_function (e, body, inputs, next);
  for (guint i = body->n_results; i < n; i++)
    next[i] = inputs[i];
  result = gantry_mind_export_call (e, head, next, n, types, n_types, is_tuple);
  gantry_mind_export_output (e, result);
  gantry_wire_put_message (e->functions, 8, gantry_mind_export_pop (e));
}

static void
write_loop_head (MindExport *e, const char *name, const char *const *functions, ExportValue **in, guint n, const GantryType *const *types, guint n_types,
                 gboolean is_tuple)
{
  const GantryFunction *condition = body_of (e, "cond");
  g_autofree ExportValue **inputs = open_graph (e, name, in, n), **results = g_new0 (ExportValue *, condition->n_results + 1);
  const char *closures[2];

  gantry_mind_export_function (e, condition, inputs, results);
  closures[0] = partial (e, functions[0], inputs, n);
  closures[1] = partial (e, functions[1], inputs, n_types);
  gantry_mind_export_output (e, call_choice (e, results[0], functions, closures, types, n_types, is_tuple));
  gantry_wire_put_message (e->functions, 8, gantry_mind_export_pop (e));
}

static ExportValue *
loop (MindExport *e, ExportValue **in, guint n)
{
  g_autofree char *head = graph_name (e, "while"), *body = graph_name (e, "body"), *after = graph_name (e, "after");
  const char *functions[2] = { body, after };
  gboolean is_tuple;
  guint n_types;
  g_autofree const GantryType **types = result_types (e, &n_types, &is_tuple);
  g_autofree ExportValue **last = NULL;

  write_loop_head (e, head, functions, in, n, types, n_types, is_tuple);
  write_loop_body (e, body, head, in, n, types, n_types, is_tuple);
  last = open_graph (e, after, in, n_types);
  close_graph (e, last, n_types, is_tuple);
  return gantry_mind_export_call (e, head, in, n, types, n_types, is_tuple);
}

/* Element @i along @axis, whose dimension goes. */
static ExportValue *
row (MindExport *e, ExportValue *x, gint64 i, gint64 axis)
{
  gint64 starts[GANTRY_MAX_RANK] = { 0 }, limits[GANTRY_MAX_RANK], ones[GANTRY_MAX_RANK];
  GantryDim dims[GANTRY_MAX_RANK];
  guint n = 0;

  for (guint k = 0; k < x->type->rank; k++)
    {
      starts[k] = k == axis ? i : 0;
      limits[k] = k == axis ? i + 1 : x->type->dims[k];
      ones[k] = 1;
      if (k != axis)
        dims[n++] = x->type->dims[k];
    }
  return gantry_mind_export_reshape (e, gantry_mind_export_slice (e, x, starts, limits, ones), n, dims);
}

static ExportValue *
stacked (MindExport *e, ExportValue **rows, guint n, gint64 axis, const GantryType *type)
{
  GantryDim dims[GANTRY_MAX_RANK];

  memcpy (dims, type->dims, sizeof *dims * type->rank);
  dims[axis] = 1;
  for (guint i = 0; i < n; i++)
    rows[i] = gantry_mind_export_reshape (e, rows[i], type->rank, dims);
  return gantry_mind_export_concat (e, rows, n, axis, type);
}

/* MindSpore has no scan: it is written out. */
static ExportValue *
scan (MindExport *e, ExportValue **in, guint n)
{
  GantryScan how;
  const GantryFunction *body;
  gboolean is_tuple;
  guint n_types;
  g_autofree const GantryType **types = result_types (e, &n_types, &is_tuple);
  g_autofree ExportValue **arguments = NULL, **results = NULL, **rows = NULL, **last = NULL;

  gantry_scan_of (e->module, e->node, &how);
  body = gantry_module_function (e->module, how.body);
  e->unrolled += (guint) MIN ((guint64) how.length * body->n_nodes, G_MAXUINT / 2);
  if (how.length < 1 || e->unrolled > MIND_EXPORT_MOST_UNROLLED)
    {
      gantry_mind_export_fail (e, "a scan of %" G_GINT64_FORMAT " steps is written out, which makes more than %u nodes, or none", how.length,
                               MIND_EXPORT_MOST_UNROLLED);
      return e->nobody;
    }
  arguments = g_memdup2 (in, sizeof *in * (n + 1));
  results = g_new0 (ExportValue *, body->n_results + 1);
  rows = g_new0 (ExportValue *, (gsize) how.length * (how.n_ys + 1));
  last = g_new0 (ExportValue *, n_types + 1);
  for (gint64 i = 0; i < how.length && e->error == NULL; i++)
    {
      gint64 at = how.reverse ? how.length - 1 - i : i;

      for (guint k = 0; k < how.n_xs; k++)
        arguments[how.n_carries + k] = row (e, in[how.n_carries + k], at, how.axes[k]);
      gantry_mind_export_function (e, body, arguments, results);
      memcpy (arguments, results, sizeof *results * how.n_carries);
      for (guint k = 0; k < how.n_ys; k++)
        rows[(gsize) k * (gsize) how.length + (gsize) at] = results[how.n_carries + k];
    }
  for (guint k = 0; k < n_types && e->error == NULL; k++)
    last[k] = k < how.n_carries
                ? arguments[k]
                : stacked (e, rows + (gsize) (k - how.n_carries) * (gsize) how.length, (guint) how.length, how.y_axes[k - how.n_carries], types[k]);
  if (e->error != NULL)
    return e->nobody;
  return is_tuple ? gantry_mind_export_tuple (e, last, n_types) : last[0];
}

static ExportValue *
call (MindExport *e, ExportValue **in)
{
  const GantryFunction *body = body_of (e, "body");
  g_autofree ExportValue **results = g_new0 (ExportValue *, body->n_results + 1);

  gantry_mind_export_function (e, body, in, results);
  return gantry_node_type (e->module, e->node)->kind == GANTRY_TYPE_TUPLE ? gantry_mind_export_tuple (e, results, body->n_results) : results[0];
}

ExportValue *
gantry_mind_export_control (MindExport *e, ExportValue **in, guint n)
{
  for (guint i = 0; i < n; i++)
    gantry_mind_export_use (e, in[i]);
  switch ((GantryOp) e->node->op)
    {
    case GANTRY_OP_IF: return branch (e, in, n);
    case GANTRY_OP_WHILE: return loop (e, in, n);
    case GANTRY_OP_SCAN: return scan (e, in, n);
    default: return call (e, in);
    }
}
