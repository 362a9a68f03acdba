/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow: branches, bounded loops, scans and calls, with bodies of a few pieces. */
#include "tests/differential/generate.h"
#include <string.h>

/* Begins a body with a parameter of each type; those of floats are its pool. Returns: (transfer full): the
 * pool before */
static GArray *
begin_body (DiffMaker *m, const char *name, const guint32 *types, guint n, guint32 *id, guint32 *parameters)
{
  GArray *outer = m->pool;

  m->pool = g_array_new (FALSE, FALSE, sizeof (guint32));
  m->depth++;
  *id = gantry_builder_begin (m->b, name, 0);
  for (guint i = 0; i < n; i++)
    {
      parameters[i] = gantry_builder_parameter (m->b, types[i], NULL);
      if (_diff_is_float (gantry_context_type (m->context, types[i])))
        g_array_append_val (m->pool, parameters[i]);
    }
  return outer;
}

static void
end_body (DiffMaker *m, GArray *outer, const guint32 *results, guint n)
{
  gantry_builder_end (m->b, results, n);
  g_array_unref (m->pool);
  m->pool = outer;
  m->depth--;
}

static void
fill_body (DiffMaker *m)
{
  if (_diff_chance (m, 15))
    _diff_write_control (m);
  for (gint n = 1 + _diff_upto (m, 2); n > 0; n--)
    switch (_diff_upto (m, 6))
      {
      case 0: _diff_write_movement (m); break;
      case 1: _diff_write_sum (m); break;
      case 2: _diff_write_product (m); break;
      default: _diff_write_elementwise (m); break;
      }
}

/* The last value of the body that has the type of its parameter, kept from growing. */
static guint32
next_of (DiffMaker *m, guint32 parameter)
{
  for (guint i = m->pool->len; i-- > 0;)
    {
      guint32 id = g_array_index (m->pool, guint32, i);

      if (gantry_builder_type (m->b, id) == gantry_builder_type (m->b, parameter) && id != parameter)
        return _diff_unary (m, GANTRY_OP_TANH, id);
    }
  return _diff_unary (m, GANTRY_OP_SINE, parameter);
}

static void
put_members (DiffMaker *m, guint32 id)
{
  const GantryType *type = _diff_type_of (m, id);

  if (type->kind != GANTRY_TYPE_TUPLE)
    _diff_put (m, id);
  for (guint i = 0; type->kind == GANTRY_TYPE_TUPLE && i < type->rank; i++)
    _diff_put (m, gantry_builder_result (m->b, id, i));
}

static guint
pick_operands (DiffMaker *m, guint n, guint32 *operands, guint32 *types)
{
  for (guint i = 0; i < n; i++)
    {
      operands[i] = _diff_pick_float (m);
      types[i] = gantry_builder_type (m->b, operands[i]);
    }
  return n;
}

static void
write_if (DiffMaker *m)
{
  guint32 operands[3], types[2], ids[2], parameters[2], results[2];
  GantryAttrList *attrs;

  pick_operands (m, 2, operands + 1, types);
  operands[0] = _diff_leaf (m, DIFF_LEAF_INPUT, GANTRY_BOOL, 0, NULL);
  for (guint k = 0; k < 2; k++)
    {
      GArray *outer = begin_body (m, k == 0 ? "then" : "else", types, 2, &ids[k], parameters);

      if (_diff_chance (m, 80))
        fill_body (m);
      results[0] = next_of (m, parameters[0]);
      results[1] = _diff_chance (m, 50) ? parameters[1] : next_of (m, parameters[1]);
      end_body (m, outer, results, 2);
    }
  attrs = gantry_attr_list_new (m->context);
  gantry_attr_list_set_function (attrs, "then", ids[0]);
  gantry_attr_list_set_function (attrs, "else", ids[1]);
  put_members (m, gantry_builder_add (m->b, GANTRY_OP_IF, operands, 3, gantry_attr_list_end (attrs)));
}

static void
write_call (DiffMaker *m)
{
  guint32 operands[2], types[2], id, parameters[2], results[2];
  GantryAttrList *attrs = gantry_attr_list_new (m->context);
  GArray *outer;

  pick_operands (m, 2, operands, types);
  outer = begin_body (m, "called", types, 2, &id, parameters);
  fill_body (m);
  results[0] = g_array_index (m->pool, guint32, m->pool->len - 1);
  results[1] = next_of (m, parameters[1]);
  end_body (m, outer, results, 2);
  gantry_attr_list_set_function (attrs, "body", id);
  put_members (m, gantry_builder_add (m->b, GANTRY_OP_CALL, operands, 2, gantry_attr_list_end (attrs)));
}

/* A counter below a constant or an input, with a bound. */
static void
write_while (DiffMaker *m)
{
  guint32 operands[3], types[3], parameters[3], results[3], cond, body;
  GantryAttrList *attrs = gantry_attr_list_new (m->context);
  gint trips = _diff_upto (m, 4);
  GArray *outer;

  operands[0] = _diff_chance (m, 50) ? gantry_builder_int_scalar (m->b, GANTRY_I32, 0) : _diff_leaf (m, DIFF_LEAF_INPUT, GANTRY_I32, 0, NULL);
  operands[0] = _diff_binary (m, GANTRY_OP_MAXIMUM, operands[0], gantry_builder_int_scalar (m->b, GANTRY_I32, 0));
  types[0] = gantry_builder_type (m->b, operands[0]);
  pick_operands (m, 2, operands + 1, types + 1);
  cond = gantry_builder_begin (m->b, "cond", 0);
  for (guint i = 0; i < 3; i++)
    parameters[i] = gantry_builder_parameter (m->b, types[i], NULL);
  results[0] = gantry_builder_compare (m->b, "LT", parameters[0], gantry_builder_int_scalar (m->b, GANTRY_I32, trips));
  gantry_builder_end (m->b, results, 1);
  outer = begin_body (m, "trip", types, 3, &body, parameters);
  fill_body (m);
  results[0] = _diff_binary (m, GANTRY_OP_ADD, parameters[0], gantry_builder_int_scalar (m->b, GANTRY_I32, 1));
  results[1] = next_of (m, parameters[1]);
  results[2] = _diff_chance (m, 40) ? parameters[2] : next_of (m, parameters[2]);
  end_body (m, outer, results, 3);
  gantry_attr_list_set_function (attrs, "cond", cond);
  gantry_attr_list_set_function (attrs, "body", body);
  if (_diff_chance (m, 50))
    gantry_attr_list_set_int (attrs, "most_trips", trips + _diff_upto (m, 2));
  put_members (m, gantry_builder_add (m->b, GANTRY_OP_WHILE, operands, 3, gantry_attr_list_end (attrs)));
}

static guint32
slice_type (DiffMaker *m, guint32 x, gint64 axis)
{
  const GantryType *type = _diff_type_of (m, x);
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = 0;

  for (guint i = 0; i < type->rank; i++)
    if (i != axis)
      dims[rank++] = type->dims[i];
  return gantry_context_tensor (m->context, (GantryElementType) type->element, rank, dims);
}

/* Walked along a dimension of at most 6. */
static gboolean
is_short (const GantryType *type)
{
  return gantry_element_is_float (type->element) && type->rank > 0 && type->dims[0] <= 6;
}

static void
write_scan (DiffMaker *m)
{
  gint64 zero = 0, y_axis;
  GantryScan scan = { .reverse = _diff_chance (m, 50), .axes = &zero, .y_axes = &y_axis, .n_carries = 1, .n_ys = 1 };
  guint32 operands[4], types[4], parameters[4], results[2], x = _diff_pick (m, is_short);
  GArray *outer;
  guint n = pick_operands (m, 1, operands, types);

  scan.length = x != 0 ? _diff_type_of (m, x)->dims[0] : 1 + _diff_upto (m, 4);
  scan.n_xs = x != 0;
  if (x != 0)
    {
      operands[n] = x;
      types[n++] = slice_type (m, x, 0);
    }
  scan.n_captures = (guint) _diff_upto (m, 2);
  n += pick_operands (m, scan.n_captures, operands + n, types + n);
  outer = begin_body (m, "iteration", types, n, &scan.body, parameters);
  fill_body (m);
  results[0] = next_of (m, parameters[0]);
  results[1] = g_array_index (m->pool, guint32, m->pool->len - 1);
  y_axis = _diff_upto (m, (gint) _diff_type_of (m, results[1])->rank + 1);
  end_body (m, outer, results, 2);
  put_members (m, gantry_builder_scan (m->b, &scan, operands));
}

void
_diff_write_control (DiffMaker *m)
{
  if (m->depth > 2)
    return;
  switch (_diff_upto (m, 6))
    {
    case 0: write_call (m); break;
    case 1:
    case 2: write_if (m); break;
    case 3: write_while (m); break;
    default: write_scan (m); break;
    }
}
