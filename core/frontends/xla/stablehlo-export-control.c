/* SPDX-License-Identifier: Apache-2.0 */
/* Writing StableHLO: operations with bodies, sort, random bits. Regions see the values around them, so captures need no
 * operands. A scan becomes the counted loop that JAX writes for one. */
#include "core/frontends/xla/stablehlo-export-private.h"
#include <string.h>

#define ELEMENT(name) ((GantryElementType) (name)->type->element)

static const GantryType **
types_of (MlirExport *m, MlirName **values, guint n)
{
  const GantryType **types = gantry_arena_new0 (m->arena, const GantryType *, n + 1);

  for (guint i = 0; i < n; i++)
    types[i] = values[i]->type;
  return types;
}

static const GantryType **
result_types (MlirExport *m, guint *n)
{
  const GantryType *type = gantry_node_type (m->module, m->node);
  gboolean many = type->kind == GANTRY_TYPE_TUPLE;
  const GantryType **types;

  *n = many ? type->rank : 1;
  types = gantry_arena_new0 (m->arena, const GantryType *, *n + 1);
  types[0] = type;
  for (guint i = 0; many && i < *n; i++)
    types[i] = gantry_context_type (m->context, (guint32) type->dims[i]);
  return types;
}

static MlirName *
one_or_tuple (MlirExport *m, MlirName **values, guint n)
{
  MlirName *tuple;

  if (n == 1)
    return values[0];
  tuple = gantry_arena_new0 (m->arena, MlirName, 1);
  tuple->text = "%0";
  tuple->members = gantry_arena_copy (m->arena, values, sizeof *values * n);
  return tuple;
}

/* Tells whether a tuple of one member is asked for by its member. */
static MlirName *
as_result (MlirExport *m, MlirName *value)
{
  const GantryType *type = gantry_node_type (m->module, m->node);

  if (type->kind != GANTRY_TYPE_TUPLE || value->members != NULL)
    return value;
  value = gantry_arena_copy (m->arena, value, sizeof *value);
  value->members = gantry_arena_copy (m->arena, &(MlirName *){ value }, sizeof (MlirName *));
  value->members[0] = gantry_arena_copy (m->arena, value, sizeof *value);
  value->members[0]->members = NULL;
  return value;
}

static MlirName *
in_place (MlirExport *m, MlirName **in)
{
  const GantryFunction *body = gantry_stablehlo_export_body (m, "body");
  MlirName **results;

  if (body == NULL)
    return gantry_stablehlo_new_name (m, NULL);
  results = gantry_arena_new0 (m->arena, MlirName *, body->n_results + 1);
  gantry_stablehlo_export_function (m, body, in, results);
  return one_or_tuple (m, results, body->n_results);
}

/* The nodes of @function as what is left of a region. */
static void
region (MlirExport *m, const GantryFunction *function, MlirName **arguments)
{
  MlirName **results = gantry_arena_new0 (m->arena, MlirName *, function->n_results + 1);

  if (gantry_stablehlo_export_function (m, function, arguments, results))
    gantry_stablehlo_return (m, results, function->n_results);
}

static MlirName *
if_ (MlirExport *m, MlirName **in)
{
  const GantryFunction *then_body = gantry_stablehlo_export_body (m, "then"), *else_body = gantry_stablehlo_export_body (m, "else");
  guint n;
  const GantryType **types = result_types (m, &n);
  MlirName *value = gantry_stablehlo_new_name (m, NULL);

  if (then_body == NULL || else_body == NULL)
    return value;
  value = gantry_stablehlo_begin (m, "stablehlo.if", in, 1, types, n);
  gantry_stablehlo_open (m);
  region (m, then_body, in + 1);
  gantry_stablehlo_next (m);
  region (m, else_body, in + 1);
  gantry_stablehlo_close (m);
  gantry_stablehlo_end (m, in, 1, types, n);
  return as_result (m, value);
}

/* Regions read what is behind the carries where it stands. */
static MlirName *
while_ (MlirExport *m, MlirName **in, guint n_operands)
{
  const GantryFunction *cond = gantry_stablehlo_export_body (m, "cond"), *body = gantry_stablehlo_export_body (m, "body");
  guint n = (guint) gantry_attrs_int (m->context, m->node->attrs, "n_carries", n_operands);
  MlirName **values = gantry_arena_copy (m->arena, in, sizeof *values * (n_operands + (gsize) 1)), *value;
  const GantryType **types = types_of (m, in, n);

  if (cond == NULL || body == NULL)
    return gantry_stablehlo_new_name (m, NULL);
  value = gantry_stablehlo_begin (m, "stablehlo.while", in, n, types, n);
  gantry_stablehlo_open (m);
  gantry_stablehlo_block (m, types, n, values);
  region (m, cond, values);
  gantry_stablehlo_next (m);
  gantry_stablehlo_block (m, types, n, values);
  region (m, body, values);
  gantry_stablehlo_close (m);
  gantry_stablehlo_end (m, in, n, types, n);
  return as_result (m, value);
}

/* Scan: a loop that carries a counter, the carries, and the stacks that it fills. */

typedef struct
{
  GantryScan scan;
  const GantryFunction *body;
  MlirName **in;
  MlirName *index; /* of the iteration's slices */
  MlirName *zero;
} Scan;

static MlirName **
starts (MlirExport *m, const Scan *s, MlirName *x, guint rank, gint64 axis, guint first)
{
  MlirName **in = gantry_arena_new0 (m->arena, MlirName *, rank + first + 1);

  in[0] = x;
  for (guint i = 0; i < rank; i++)
    in[first + i] = i == axis ? s->index : s->zero;
  return in;
}

/* @type with a dimension of 1 at @axis; the same without that dimension is @slice. */
static const GantryType *
thin_type (MlirExport *m, const GantryType *type, gint64 axis, const GantryType **slice)
{
  gint64 dims[GANTRY_MAX_RANK], rest[GANTRY_MAX_RANK];
  guint n = 0;

  for (guint i = 0; i < type->rank; i++)
    {
      dims[i] = i == axis ? 1 : type->dims[i];
      if (i != axis)
        rest[n++] = type->dims[i];
    }
  *slice = gantry_stablehlo_tensor (m, (GantryElementType) type->element, n, rest);
  return gantry_stablehlo_tensor (m, (GantryElementType) type->element, type->rank, dims);
}

static MlirName *
read_slice (MlirExport *m, const Scan *s, MlirName *x, gint64 axis)
{
  const GantryType *slice, *thin = thin_type (m, x->type, axis, &slice);
  MlirName **in = starts (m, s, x, x->type->rank, axis, 1);
  MlirName *value = gantry_stablehlo_begin (m, "stablehlo.dynamic_slice", in, x->type->rank + 1, &thin, 1);
  g_autoptr (GString) sizes = g_string_new (NULL);

  for (guint i = 0; i < thin->rank; i++)
    g_string_append_printf (sizes, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : ": ", thin->dims[i]);
  gantry_stablehlo_attributes (m, "slice_sizes = array<i64%s>", sizes->str);
  gantry_stablehlo_end (m, in, x->type->rank + 1, &thin, 1);
  return gantry_stablehlo_op (m, "stablehlo.reshape", slice, 1, value);
}

static MlirName *
write_slice (MlirExport *m, const Scan *s, MlirName *stack, MlirName *y, gint64 axis)
{
  const GantryType *slice, *thin = thin_type (m, stack->type, axis, &slice);
  MlirName **in = starts (m, s, stack, stack->type->rank, axis, 2), *value;

  in[1] = gantry_stablehlo_op (m, "stablehlo.reshape", thin, 1, y);
  value = gantry_stablehlo_begin (m, "stablehlo.dynamic_update_slice", in, stack->type->rank + 2, &stack->type, 1);
  gantry_stablehlo_end (m, in, stack->type->rank + 2, &stack->type, 1);
  return value;
}

/* @values: counter, carries, stacks */
static void
scan_trip (MlirExport *m, Scan *s, MlirName **values)
{
  const GantryScan *scan = &s->scan;
  guint n = scan->n_carries + scan->n_xs + scan->n_captures;
  MlirName **arguments = gantry_arena_new0 (m->arena, MlirName *, n + 1);
  MlirName **results = gantry_arena_new0 (m->arena, MlirName *, s->body->n_results + 1);
  MlirName **next = gantry_arena_new0 (m->arena, MlirName *, 1 + s->body->n_results + 1);
  const GantryType *counter = values[0]->type;

  s->zero = gantry_stablehlo_integer (m, GANTRY_I64, 0);
  s->index = values[0];
  if (scan->reverse)
    s->index = gantry_stablehlo_op (m, "stablehlo.subtract", counter, 2, gantry_stablehlo_integer (m, GANTRY_I64, scan->length - 1), values[0]);
  for (guint i = 0; i < n; i++)
    if (i < scan->n_carries)
      arguments[i] = values[1 + i];
    else if (i < scan->n_carries + scan->n_xs)
      arguments[i] = read_slice (m, s, s->in[i], scan->axes[i - scan->n_carries]);
    else
      arguments[i] = s->in[i];
  if (!gantry_stablehlo_export_function (m, s->body, arguments, results))
    return;
  next[0] = gantry_stablehlo_op (m, "stablehlo.add", counter, 2, values[0], gantry_stablehlo_integer (m, GANTRY_I64, 1));
  for (guint i = 0; i < scan->n_carries; i++)
    next[1 + i] = results[i];
  for (guint i = 0; i < scan->n_ys; i++)
    {
      guint at = scan->n_carries + i;

      next[1 + at] = write_slice (m, s, values[1 + at], results[at], scan->y_axes[i]);
    }
  gantry_stablehlo_return (m, next, 1 + scan->n_carries + scan->n_ys);
}

static MlirName *
scan_loop (MlirExport *m, Scan *s, const GantryType **types, guint n)
{
  MlirName **initial = gantry_arena_new0 (m->arena, MlirName *, n + 1), **values = gantry_arena_new0 (m->arena, MlirName *, n + 1);
  MlirName *loop, *go_on, *pair[2];
  const GantryType *truth = gantry_stablehlo_tensor (m, GANTRY_BOOL, 0, NULL);

  initial[0] = gantry_stablehlo_integer (m, GANTRY_I64, 0);
  for (guint i = 1; i < n; i++)
    initial[i] = i <= s->scan.n_carries ? s->in[i - 1] : gantry_stablehlo_splat (m, types[i], 0);
  types[0] = initial[0]->type;
  loop = gantry_stablehlo_begin (m, "stablehlo.while", initial, n, types, n);
  gantry_stablehlo_open (m);
  gantry_stablehlo_block (m, types, n, values);
  pair[0] = values[0];
  pair[1] = gantry_stablehlo_integer (m, GANTRY_I64, s->scan.length);
  go_on = gantry_stablehlo_begin (m, "stablehlo.compare", pair, 2, &truth, 1);
  gantry_stablehlo_attributes (m, "comparison_direction = #stablehlo<comparison_direction LT>");
  gantry_stablehlo_end (m, pair, 2, &truth, 1);
  gantry_stablehlo_return (m, &go_on, 1);
  gantry_stablehlo_next (m);
  gantry_stablehlo_block (m, types, n, values);
  scan_trip (m, s, values);
  gantry_stablehlo_close (m);
  gantry_stablehlo_end (m, initial, n, types, n);
  return loop;
}

static MlirName *
scan (MlirExport *m, MlirName **in)
{
  Scan s = { .body = gantry_stablehlo_export_body (m, "body"), .in = in };
  guint n;
  const GantryType **results = result_types (m, &n), **types = gantry_arena_new0 (m->arena, const GantryType *, n + 2);
  MlirName *loop;

  if (s.body == NULL)
    return gantry_stablehlo_new_name (m, NULL);
  gantry_scan_of (m->module, m->node, &s.scan);
  memcpy (types + 1, results, sizeof *types * n);
  if (s.scan.n_carries + s.scan.n_ys == 0)
    return gantry_stablehlo_new_name (m, NULL);
  loop = scan_loop (m, &s, types, n + 1);
  return as_result (m, one_or_tuple (m, loop->members + 1, n));
}

/* Sorting and random bits */

static MlirName *
sort (MlirExport *m, MlirName **in, guint n)
{
  const GantryType **types = types_of (m, in, n), **pairs = gantry_arena_new0 (m->arena, const GantryType *, 2 * n + 1);
  MlirName **arguments = gantry_arena_new0 (m->arena, MlirName *, 2 * n + 1), *value, *before;
  const GantryType *truth = gantry_stablehlo_tensor (m, GANTRY_BOOL, 0, NULL);
  gboolean descending = gantry_attrs_int (m->context, m->node->attrs, "descending", 0) != 0;

  for (guint i = 0; i < 2 * n; i++)
    pairs[i] = gantry_stablehlo_tensor (m, (GantryElementType) types[i / 2]->element, 0, NULL);
  value = gantry_stablehlo_begin (m, "stablehlo.sort", in, n, types, n);
  gantry_stablehlo_attributes (m, "dimension = %" G_GINT64_FORMAT " : i64, is_stable = %s", gantry_attrs_int (m->context, m->node->attrs, "dimension", 0),
                               gantry_attrs_int (m->context, m->node->attrs, "stable", 0) != 0 ? "true" : "false");
  gantry_stablehlo_open (m);
  gantry_stablehlo_block (m, pairs, 2 * n, arguments);
  before = gantry_stablehlo_begin (m, "stablehlo.compare", arguments, 2, &truth, 1);
  gantry_stablehlo_attributes (m, "comparison_direction = #stablehlo<comparison_direction %s>", descending ? "GT" : "LT");
  gantry_stablehlo_end (m, arguments, 2, &truth, 1);
  gantry_stablehlo_return (m, &before, 1);
  gantry_stablehlo_close (m);
  gantry_stablehlo_end (m, in, n, types, n);
  return as_result (m, value);
}

static MlirName *
random_bits (MlirExport *m, MlirName **in)
{
  guint n;
  const GantryType **types = result_types (m, &n);
  MlirName *value = gantry_stablehlo_begin (m, "stablehlo.rng_bit_generator", in, 1, types, n);

  gantry_stablehlo_attributes (m, "rng_algorithm = #stablehlo<rng_algorithm DEFAULT>");
  gantry_stablehlo_end (m, in, 1, types, n);
  return value;
}

MlirName *
gantry_stablehlo_export_control (MlirExport *m, MlirName **in, guint n)
{
  switch (m->node->op)
    {
    case GANTRY_OP_IF: return if_ (m, in);
    case GANTRY_OP_WHILE: return while_ (m, in, n);
    case GANTRY_OP_SCAN: return scan (m, in);
    case GANTRY_OP_SORT: return sort (m, in, n);
    case GANTRY_OP_RNG_BIT_GENERATOR: return random_bits (m, in);
    default: return in_place (m, in);
    }
}
