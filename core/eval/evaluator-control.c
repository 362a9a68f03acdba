/* SPDX-License-Identifier: Apache-2.0 */
/* Control as the evaluator runs it: calls and fusions, branches, loops and scans. */
#include "core/base/error.h"
#include "core/eval/evaluator-private.h"
#include "core/graph/region.h"
#include <string.h>

static const GantryFunction *
function_of (const GantryModule *module, const GantryNode *node, const char *key, GError **error)
{
  const GantryAttr *attr = gantry_attrs_find (module->context, node->attrs, key);
  const GantryFunction *function = attr != NULL && attr->kind == GANTRY_ATTR_FUNCTION ? gantry_module_function (module, attr->id) : NULL;

  if (function == NULL)
    g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "attribute %s names no function of this module", key);
  return function;
}

/* What a function returns, as the value of the one node that called it. */
static GantryValue *
call (const GantryMachine *machine, const GantryFunction *function, GPtrArray *arguments, GError **error)
{
  g_autoptr (GPtrArray) results = NULL;
  GantryMachine inner = *machine;
  GantryValue *value;

  inner.depth++;
  results = _gantry_evaluate_function (&inner, function, arguments, error);
  if (results == NULL)
    return NULL;
  if (results->len == 1)
    return g_ptr_array_ref (_gantry_values_get (results, 0));
  value = _gantry_value_new ();
  for (guint i = 0; i < results->len; i++)
    for (guint j = 0; j < _gantry_values_get (results, i)->len; j++)
      g_ptr_array_add (value, gantry_literal_ref (g_ptr_array_index (_gantry_values_get (results, i), j)));
  return value;
}

static gboolean
predicate_of (const GantryValue *value, gboolean *taken, GError **error)
{
  const GantryLiteral *literal = value != NULL && value->len == 1 ? g_ptr_array_index (value, 0) : NULL;

  if (literal == NULL || literal->type->element != GANTRY_BOOL || gantry_type_elements (literal->type) != 1)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "a condition has to be one bool");
      return FALSE;
    }
  *taken = gantry_literal_get_int (literal, 0) != 0;
  return TRUE;
}

static GantryValue *
evaluate_if (const GantryMachine *machine, const GantryNode *node, GPtrArray *operands, GError **error)
{
  g_autoptr (GPtrArray) captures = _gantry_values_new ();
  const GantryFunction *function;
  gboolean taken;

  if (operands->len == 0 || !predicate_of (_gantry_values_get (operands, 0), &taken, error))
    return NULL;
  function = function_of (machine->module, node, taken ? "then" : "else", error);
  for (guint i = 1; i < operands->len; i++)
    g_ptr_array_add (captures, _gantry_values_get (operands, i) != NULL ? g_ptr_array_ref (_gantry_values_get (operands, i)) : NULL);
  return function != NULL ? call (machine, function, captures, error) : NULL;
}

static GantryValue *
evaluate_while (const GantryMachine *machine, const GantryNode *node, GPtrArray *operands, GError **error)
{
  const GantryFunction *condition = function_of (machine->module, node, "cond", error);
  const GantryFunction *body = condition != NULL ? function_of (machine->module, node, "body", error) : NULL;
  guint n_carries = (guint) gantry_attrs_int (machine->module->context, node->attrs, "n_carries", node->n_operands);
  gint64 exact = gantry_attrs_int (machine->module->context, node->attrs, "exact_trips", -1);
  g_autoptr (GPtrArray) state = g_ptr_array_ref (operands);
  GantryMachine inner = *machine;
  GantryValue *value;
  gboolean more;

  if (body == NULL)
    return NULL;
  inner.depth++;
  for (gint64 made = 0;; made++)
    {
      g_autoptr (GPtrArray) verdict = NULL;
      GPtrArray *next;

      if (gantry_progress_cancelled (machine->progress, error) || (verdict = _gantry_evaluate_function (&inner, condition, state, error)) == NULL
          || !predicate_of (verdict->len == 1 ? _gantry_values_get (verdict, 0) : NULL, &more, error) || !gantry_loop_check_trips (exact, made, more, error))
        return NULL;
      if (!more)
        break;
      next = _gantry_evaluate_function (&inner, body, state, error);
      if (next == NULL)
        return NULL;
      for (guint i = n_carries; i < operands->len; i++)
        g_ptr_array_add (next, _gantry_values_get (operands, i) != NULL ? g_ptr_array_ref (_gantry_values_get (operands, i)) : NULL);
      g_ptr_array_unref (state);
      state = next;
    }
  value = _gantry_value_new ();
  for (guint i = 0; i < MIN (state->len, n_carries); i++)
    for (guint j = 0; _gantry_values_get (state, i) != NULL && j < _gantry_values_get (state, i)->len; j++)
      g_ptr_array_add (value, gantry_literal_ref (g_ptr_array_index (_gantry_values_get (state, i), j)));
  return value;
}

/* Scan: slices of the xs go in, and what comes out is written to its place in the stacked ys. */

typedef struct
{
  GantryScan scan;
  const GantryMachine *machine;
  const GantryFunction *body;
  GPtrArray *operands;
  GPtrArray *carries; /* values */
  GPtrArray *stacks;  /* GantryLiteral, one per y */
  guint8 **stacked;   /* their bytes */
} ScanState;

/* Bytes of one run along the dimensions after @axis, how many runs there are, and how far apart they lie in the whole. */
static void
runs_along (const GantryType *type, gint64 axis, gsize *run, gsize *n_runs, gsize *step)
{
  *run = gantry_element_size (type->element);
  *n_runs = 1;
  for (guint d = 0; d < type->rank; d++)
    if (d > axis)
      *run *= (gsize) type->dims[d];
    else if (d < axis)
      *n_runs *= (gsize) type->dims[d];
  *step = *run * (gsize) type->dims[axis];
}

static GantryValue *
slice_of (const ScanState *state, guint x, gint64 i, GError **error)
{
  GantryContext *context = state->machine->module->context;
  const GantryValue *value = _gantry_values_get (state->operands, state->scan.n_carries + x);
  const GantryLiteral *whole = value != NULL && value->len == 1 ? g_ptr_array_index (value, 0) : NULL;
  gint64 axis = state->scan.axes[x];
  g_autoptr (GBytes) bytes = NULL;
  GantryDim dims[GANTRY_MAX_RANK];
  const GantryType *type;
  GantryLiteral *slice;
  GantryValue *result;
  gsize run, n_runs, step;
  guint rank = 0;
  guint8 *data;

  if (whole == NULL || axis < 0 || axis >= whole->type->rank || whole->type->dims[axis] != state->scan.length)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the value of x %u is not as long as the scan", x);
      return NULL;
    }
  for (guint d = 0; d < whole->type->rank; d++)
    if (d != axis)
      dims[rank++] = whole->type->dims[d];
  type = gantry_context_type (context, gantry_context_tensor (context, whole->type->element, rank, dims));
  runs_along (whole->type, axis, &run, &n_runs, &step);
  if (whole->splat)
    {
      bytes = g_bytes_new (whole->data, whole->size);
      slice = gantry_literal_new (type, bytes, TRUE, error);
    }
  else
    {
      slice = gantry_literal_new_zeroed (type, &data);
      for (gsize r = 0; run > 0 && r < n_runs; r++)
        memcpy (data + r * run, whole->data + r * step + (gsize) i * run, run);
    }
  if (slice == NULL)
    return NULL;
  result = _gantry_value_new ();
  g_ptr_array_add (result, slice);
  return result;
}

/* Writes @value into slot @i of y @y. */
static gboolean
stack (const ScanState *state, guint y, gint64 i, const GantryValue *value, GError **error)
{
  const GantryLiteral *whole = g_ptr_array_index (state->stacks, y);
  const GantryLiteral *part = value->len == 1 ? g_ptr_array_index (value, 0) : NULL;
  gsize run, n_runs, step;
  g_autofree guint8 *dense = NULL;

  runs_along (whole->type, state->scan.y_axes[y], &run, &n_runs, &step);
  if (part == NULL || part->type->element != whole->type->element || (gsize) gantry_type_bytes (part->type) != run * n_runs)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the value of y %u is not of its type", y);
      return FALSE;
    }
  dense = g_malloc (run * n_runs + 1);
  gantry_literal_copy_to (part, dense);
  for (gsize r = 0; run > 0 && r < n_runs; r++)
    memcpy (state->stacked[y] + r * step + (gsize) i * run, dense + r * run, run);
  return TRUE;
}

static gboolean
iterate (ScanState *state, gint64 i, GError **error)
{
  const GantryScan *scan = &state->scan;
  g_autoptr (GPtrArray) arguments = _gantry_values_new (), results = NULL;

  for (guint c = 0; c < scan->n_carries; c++)
    g_ptr_array_add (arguments, g_ptr_array_ref (_gantry_values_get (state->carries, c)));
  for (guint x = 0; x < scan->n_xs; x++)
    {
      GantryValue *slice = slice_of (state, x, i, error);

      if (slice == NULL)
        return FALSE;
      g_ptr_array_add (arguments, slice);
    }
  for (guint o = scan->n_carries + scan->n_xs; o < state->operands->len; o++)
    g_ptr_array_add (arguments, g_ptr_array_ref (_gantry_values_get (state->operands, o)));
  results = _gantry_evaluate_function (state->machine, state->body, arguments, error);
  if (results == NULL)
    return FALSE;
  for (guint y = 0; y < scan->n_ys; y++)
    if (!stack (state, y, i, _gantry_values_get (results, scan->n_carries + y), error))
      return FALSE;
  g_ptr_array_set_size (results, (gint) scan->n_carries);
  g_ptr_array_unref (state->carries);
  state->carries = g_steal_pointer (&results);
  return TRUE;
}

static gboolean
begin_stacks (ScanState *state, const GantryNode *node, GError **error)
{
  const GantryModule *module = state->machine->module;
  guint n = state->scan.n_carries + state->scan.n_ys;

  for (guint y = 0; y < state->scan.n_ys; y++)
    {
      guint32 id = n == 1 ? node->type : gantry_context_tuple_member (module->context, node->type, state->scan.n_carries + y);
      const GantryType *type = gantry_context_type (module->context, id);
      GantryLiteral *whole;

      if (!gantry_type_is_static (type) || gantry_type_bytes (type) < 0 || (whole = gantry_literal_new_zeroed (type, &state->stacked[y])) == NULL)
        {
          g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "the size of y %u is not known; bind its symbols", y);
          return FALSE;
        }
      g_ptr_array_add (state->stacks, whole);
    }
  return TRUE;
}

static gboolean
iterate_all (ScanState *state, const GantryNode *node, GError **error)
{
  const GantryScan *scan = &state->scan;

  if (state->body->n_results != scan->n_carries + scan->n_ys)
    {
      g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_INVALID, "the body gives %u values where %u are needed", state->body->n_results,
                   scan->n_carries + scan->n_ys);
      return FALSE;
    }
  if (!begin_stacks (state, node, error))
    return FALSE;
  for (guint i = 0; i < state->operands->len; i++)
    if (_gantry_values_get (state->operands, i) == NULL || _gantry_values_get (state->operands, i)->len != 1)
      {
        g_set_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED, "a tuple cannot be evaluated here");
        return FALSE;
      }
  for (guint c = 0; c < scan->n_carries; c++)
    g_ptr_array_add (state->carries, g_ptr_array_ref (_gantry_values_get (state->operands, c)));
  for (gint64 i = 0; i < scan->length; i++)
    if (gantry_progress_cancelled (state->machine->progress, error) || !iterate (state, scan->reverse ? scan->length - 1 - i : i, error))
      return FALSE;
  return TRUE;
}

static GantryValue *
evaluate_scan (const GantryMachine *machine, const GantryNode *node, GPtrArray *operands, GError **error)
{
  GantryMachine inner = *machine;
  ScanState state = { .machine = &inner, .operands = operands };
  GantryValue *value = NULL;

  state.body = function_of (machine->module, node, "body", error);
  if (state.body == NULL)
    return NULL;
  inner.depth++;
  gantry_scan_of (machine->module, node, &state.scan);
  state.carries = _gantry_values_new ();
  state.stacks = g_ptr_array_new_with_free_func ((GDestroyNotify) gantry_literal_unref);
  state.stacked = g_new0 (guint8 *, state.scan.n_ys + 1);
  if (iterate_all (&state, node, error))
    {
      value = _gantry_value_new ();
      for (guint c = 0; c < state.scan.n_carries; c++)
        g_ptr_array_add (value, gantry_literal_ref (g_ptr_array_index (_gantry_values_get (state.carries, c), 0)));
      for (guint y = 0; y < state.scan.n_ys; y++)
        g_ptr_array_add (value, gantry_literal_ref (g_ptr_array_index (state.stacks, y)));
    }
  g_ptr_array_unref (state.carries);
  g_ptr_array_unref (state.stacks);
  g_free (state.stacked);
  return value;
}

GantryValue *
_gantry_evaluate_control (const GantryMachine *machine, const GantryNode *node, GPtrArray *operands, GError **error)
{
  const GantryFunction *body;

  switch (node->op)
    {
    case GANTRY_OP_IF: return evaluate_if (machine, node, operands, error);
    case GANTRY_OP_WHILE: return evaluate_while (machine, node, operands, error);
    case GANTRY_OP_SCAN: return evaluate_scan (machine, node, operands, error);
    default: body = function_of (machine->module, node, "body", error); return body != NULL ? call (machine, body, operands, error) : NULL;
    }
}
