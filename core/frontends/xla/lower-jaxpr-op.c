/* SPDX-License-Identifier: Apache-2.0 */
/* Primitives of JAX that are no operation of StableHLO. */
#include "core/frontends/xla/lower-jaxpr-private.h"

#define MOST_POWER 64

/* "lt"; "lt_to" is by the total order of floats. */
void
gantry_jaxpr_compare (XlaLower *l)
{
  gboolean total = g_str_has_suffix (l->op, "_to");
  g_autofree char *name = g_strndup (l->op, strlen (l->op) - (total ? strlen ("_to") : 0));
  g_autofree char *direction = g_ascii_strup (name, -1);

  if (l->n_in != 2)
    return;
  total = total && gantry_element_is_float (gantry_xla_element (l, l->in[0]));
  l->out[0] = total ? gantry_xla_compare (l, direction, gantry_xla_total_order (l, l->in[0]), gantry_xla_total_order (l, l->in[1]))
                    : gantry_xla_compare (l, direction, l->in[0], l->in[1]);
}

/* The exponent may be a whole number. */
void
gantry_jaxpr_pow (XlaLower *l)
{
  if (l->n_in == 2)
    l->out[0] = gantry_xla_binary (l, GANTRY_OP_POWER, l->in[0], gantry_xla_convert (l, l->in[1], gantry_xla_element (l, l->in[0])));
}

void
gantry_jaxpr_exp2 (XlaLower *l)
{
  guint32 x = gantry_xla_in (l, 0);

  if (l->n_in == 1)
    l->out[0] = gantry_xla_binary (l, GANTRY_OP_POWER, gantry_xla_like (l, x, 2), x);
}

/* Parts of these sizes along an axis. */
void
gantry_jaxpr_split (XlaLower *l)
{
  const GantryType *type = gantry_builder_get_type (l->b, gantry_xla_in (l, 0));
  gint64 axis = gantry_xla_int (l, "axis", 0), at = 0;
  gsize n;
  const gint64 *sizes = gantry_jaxpr_ints (l, "sizes", &n);

  if (l->n_in != 1 || n != l->n_out || axis < 0 || axis >= type->rank)
    {
      gantry_xla_refuse (l, "%u parts along axis %" G_GINT64_FORMAT, l->n_out, axis);
      return;
    }
  for (gsize i = 0; i < n; at += sizes[i++])
    l->out[i] = gantry_builder_slice_axis (l->b, l->in[0], axis, at, at + sizes[i], 1);
}

/* Operands beside each other along an axis of their own. */
void
gantry_jaxpr_stack (XlaLower *l)
{
  gint64 axis = gantry_xla_int (l, "axis", 0);
  guint32 *parts = XLA_NEW (l, guint32, l->n_in);
  const GantryType *type = gantry_xla_declared (l, 0);
  GantryDim dims[GANTRY_MAX_RANK];

  if (l->n_in == 0 || type->kind != GANTRY_TYPE_TENSOR || axis < 0 || axis >= type->rank)
    {
      gantry_xla_refuse (l, "%u operands along axis %" G_GINT64_FORMAT, l->n_in, axis);
      return;
    }
  memcpy (dims, type->dims, sizeof *dims * type->rank);
  dims[axis] = 1;
  for (guint i = 0; i < l->n_in; i++)
    parts[i] = gantry_builder_reshape (l->b, l->in[i], type->rank, dims);
  l->out[0] = gantry_builder_concatenate (l->b, parts, l->n_in, axis);
}

void
gantry_jaxpr_cholesky (XlaLower *l)
{
  if (l->n_in == 1 && l->n_out == 1)
    l->out[0] = gantry_xla_cholesky (l, l->in[0], TRUE);
}

void
gantry_jaxpr_triangular_solve (XlaLower *l)
{
  XlaTriangular how = { .left = gantry_xla_int (l, "left_side", 0) != 0,
                        .lower = gantry_xla_int (l, "lower", 0) != 0,
                        .unit = gantry_xla_int (l, "unit_diagonal", 0) != 0,
                        .transposed = gantry_xla_int (l, "transpose_a", 0) != 0 };

  if (l->n_in == 2 && l->n_out == 1)
    l->out[0] = gantry_xla_solve_triangular (l, l->in[0], l->in[1], &how);
}

/* By squaring; a negative power is that of the reciprocal's divisor. */
void
gantry_jaxpr_integer_pow (XlaLower *l)
{
  guint32 x = gantry_xla_in (l, 0), power = x, product = 0;
  gint64 y = gantry_xla_int (l, "y", 1);

  if (l->n_in != 1 || y > MOST_POWER || y < -MOST_POWER)
    {
      gantry_xla_refuse (l, "a power of %" G_GINT64_FORMAT, y);
      return;
    }
  for (gint64 left = ABS (y); left > 0; left /= 2)
    {
      if (left % 2 != 0)
        product = product != 0 ? gantry_xla_binary (l, GANTRY_OP_MULTIPLY, product, power) : power;
      if (left > 1)
        power = gantry_xla_binary (l, GANTRY_OP_MULTIPLY, power, power);
    }
  if (product == 0)
    product = gantry_xla_like (l, x, 1);
  l->out[0] = y < 0 ? gantry_xla_binary (l, GANTRY_OP_DIVIDE, gantry_xla_like (l, x, 1), product) : product;
}

/* The case of that number; of a bool, false is the first. Outside of them the nearest. */
void
gantry_jaxpr_select_n (XlaLower *l)
{
  guint32 which = gantry_xla_in (l, 0), chosen;
  guint n = l->n_in - 1;

  if (l->n_in < 2)
    {
      gantry_xla_refuse (l, "no cases");
      return;
    }
  chosen = l->in[n];
  if (gantry_xla_element (l, which) == GANTRY_BOOL)
    chosen = n == 2 ? gantry_xla_select (l, which, l->in[2], l->in[1]) : l->in[1];
  else
    for (guint i = n - 1; i-- > 0;)
      chosen = gantry_xla_select (l, gantry_xla_compare (l, "LE", which, gantry_xla_like (l, which, i)), l->in[i + 1], chosen);
  l->out[0] = chosen;
}

void
gantry_jaxpr_checkpoint_name (XlaLower *l)
{
  GantryAttrList *attrs = gantry_xla_attrs (l);

  gantry_attr_list_set_string (attrs, "name", gantry_xla_string (l, "name", ""));
  l->out[0] = gantry_xla_add (l, GANTRY_OP_CHECKPOINT_NAME, attrs, 1, gantry_xla_in (l, 0));
}

/* "reduce_sum", "cumsum", "reduce_window_max" */
static const char *
kind_of (XlaLower *l)
{
  static const char *const kinds[][2] = { { "sum", "add" }, { "prod", "mul" }, { "max", "max" }, { "min", "min" }, { "and", "and" }, { "or", "or" } };
  gboolean bools = gantry_xla_element (l, gantry_xla_in (l, 0)) == GANTRY_BOOL;

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_has_suffix (l->op, kinds[i][0]))
      return !bools ? kinds[i][1] : i == 0 || i == 2 ? "or" : i == 1 || i == 3 ? "and" : kinds[i][1];
  return "add";
}

static const gint64 *
axes_of (XlaLower *l, gsize *n)
{
  const gint64 *axes = gantry_jaxpr_ints (l, "axes", n);
  guint rank = gantry_xla_type (l, gantry_xla_in (l, 0))->rank;

  for (gsize i = 0; i < *n; i++)
    if (axes[i] < 0 || axes[i] >= rank)
      gantry_xla_refuse (l, "axis %" G_GINT64_FORMAT " of a rank of %u", axes[i], rank);
  return axes;
}

void
gantry_jaxpr_reduce (XlaLower *l)
{
  gsize n;
  const gint64 *axes = axes_of (l, &n);
  const char *kind = kind_of (l);

  if (!l->failed && !gantry_element_is_float (gantry_xla_element (l, gantry_xla_in (l, 0))) && gantry_xla_element (l, gantry_xla_in (l, 0)) != GANTRY_BOOL
      && (strcmp (kind, "and") == 0 || strcmp (kind, "or") == 0))
    gantry_xla_refuse (l, "bits of integers together");
  if (!l->failed)
    l->out[0] = gantry_builder_reduce_axes (l->b, kind, gantry_xla_in (l, 0), axes, n, FALSE);
}

/* The first place of the extreme, or of a NaN where there is one. */
void
gantry_jaxpr_arg (XlaLower *l)
{
  guint32 x = gantry_xla_in (l, 0), extreme, place, is;
  const GantryType *type = gantry_xla_type (l, x);
  gsize n;
  const gint64 *axes = axes_of (l, &n);
  gint64 axis = n == 1 ? axes[0] : 0;

  if (l->failed || n != 1 || type->dims[axis] >= G_MAXINT32 || type->dims[axis] < 1)
    {
      gantry_xla_refuse (l, "over these axes");
      return;
    }
  if (type->element == GANTRY_BOOL)
    x = gantry_xla_convert (l, x, GANTRY_U8);
  type = gantry_xla_type (l, x);
  extreme = gantry_builder_reduce_axes (l->b, strcmp (l->op, "argmax") == 0 ? "max" : "min", x, axes, 1, TRUE);
  is = gantry_xla_compare (l, "EQ", x, gantry_builder_broadcast_to (l->b, extreme, type->rank, type->dims));
  if (gantry_element_is_float ((GantryElementType) type->element))
    is = gantry_xla_binary (l, GANTRY_OP_OR, is, gantry_xla_compare (l, "NE", x, x));
  place = gantry_builder_iota (l->b, GANTRY_I32, type->rank, type->dims, axis);
  place = gantry_xla_select (l, is, place, gantry_xla_like (l, place, (double) type->dims[axis]));
  l->out[0] = gantry_xla_convert (l, gantry_builder_reduce_axes (l->b, "min", place, axes, 1, FALSE), (GantryElementType) gantry_xla_declared (l, 0)->element);
}

static void
add_window (XlaLower *l, const gint64 *const lists[5])
{
  static const char *const names[] = { "window_dimensions", "window_strides", "base_dilations", "window_dilations", "padding" };
  guint rank = gantry_xla_type (l, gantry_xla_in (l, 0))->rank;
  GantryAttrList *attrs = gantry_xla_attrs (l);

  gantry_attr_list_set_string (attrs, "kind", kind_of (l));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    gantry_attr_list_set_ints (attrs, names[i], lists[i], i == 4 ? 2 * rank : rank);
  l->out[0] = gantry_xla_add (l, GANTRY_OP_REDUCE_WINDOW, attrs, 1, gantry_xla_in (l, 0));
}

static gint64 *
ones (XlaLower *l, guint n)
{
  gint64 *values = XLA_NEW (l, gint64, n);

  for (guint i = 0; i < n; i++)
    values[i] = 1;
  return values;
}

void
gantry_jaxpr_window (XlaLower *l)
{
  static const char *const keys[] = { "window_dimensions", "window_strides", "base_dilation", "window_dilation", "padding" };
  guint rank = gantry_xla_type (l, gantry_xla_in (l, 0))->rank;
  const gint64 *lists[5];

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      gsize n;

      lists[i] = gantry_jaxpr_ints (l, keys[i], &n);
      if (i > 0 && i < 4 && n == 0)
        lists[i] = ones (l, rank);
      else if (n != (i == 4 ? 2 * rank : rank) || rank == 0)
        {
          gantry_xla_refuse (l, "%s of a rank of %u", keys[i], rank);
          return;
        }
    }
  add_window (l, lists);
}

void
gantry_jaxpr_cumulate (XlaLower *l)
{
  const GantryType *type = gantry_xla_type (l, gantry_xla_in (l, 0));
  gint64 axis = gantry_xla_int (l, "axis", 0), *window = ones (l, type->rank), *padding = XLA_NEW (l, gint64, 2 * type->rank);
  const gint64 *lists[5] = { window, ones (l, type->rank), ones (l, type->rank), ones (l, type->rank), padding };

  if (axis < 0 || axis >= type->rank || type->dims[axis] < 1)
    {
      gantry_xla_refuse (l, "axis %" G_GINT64_FORMAT " of a rank of %u", axis, type->rank);
      return;
    }
  memset (padding, 0, sizeof *padding * 2 * type->rank);
  window[axis] = type->dims[axis];
  padding[2 * axis + (gantry_xla_int (l, "reverse", 0) != 0)] = type->dims[axis] - 1;
  add_window (l, lists);
}

void
gantry_jaxpr_scatter (XlaLower *l)
{
  const char *kind = strlen (l->op) > strlen ("scatter-") ? l->op + strlen ("scatter-") : "set";

  if (l->n_in != 3)
    gantry_xla_refuse (l, "it has %u operands, and takes 3", l->n_in);
  else
    l->out[0] = gantry_xla_scatter (l, kind, l->in[0], l->in[1], l->in[2]);
}

void
gantry_jaxpr_sort (XlaLower *l)
{
  guint32 *operands = XLA_NEW (l, guint32, l->n_in + 1), value;
  gint64 dimension = gantry_xla_int (l, "dimension", 0);
  GantryAttrList *attrs;

  if (gantry_xla_int (l, "num_keys", 1) != 1 || l->n_in == 0 || l->n_in != l->n_out)
    {
      gantry_xla_refuse (l, "by %" G_GINT64_FORMAT " keys", gantry_xla_int (l, "num_keys", 1));
      return;
    }
  operands[0] = l->in[0];
  memcpy (operands + 1, l->in, sizeof *operands * l->n_in);
  attrs = gantry_xla_attrs (l);
  gantry_attr_list_set_int (attrs, "dimension", dimension);
  gantry_attr_list_set_int (attrs, "descending", 0);
  gantry_attr_list_set_int (attrs, "stable", 1);
  value = gantry_builder_add (l->b, GANTRY_OP_SORT, operands, l->n_in + 1, gantry_attr_list_end (attrs));
  for (guint i = 0; i < l->n_out; i++)
    l->out[i] = value != 0 ? gantry_builder_result (l->b, value, i + 1) : 0;
}

void
gantry_jaxpr_closed_over (XlaLower *l)
{
  gantry_xla_refuse (l, "its value is not in the text; make it an argument, or open the program's StableHLO");
}
