/* SPDX-License-Identifier: Apache-2.0 */
/* Writes random programs. Values stay small: what may grow goes through tanh. */
#include "tests/core/autodiff/random-gradient.h"
#include "core/graph/builder.h"
#include <string.h>

#define MOST_ELEMENTS 48

typedef struct
{
  GantryBuilder *b;
  GRand *rand;
  GArray *pool; /* guint32: values of f64 in the open function */
} Writer;

static gint
upto (Writer *w, gint n)
{
  return g_rand_int_range (w->rand, 0, n);
}

static guint32
pick (Writer *w)
{
  /* The later ones more often, so that programs are deep and not only wide. */
  guint a = (guint) upto (w, (gint) w->pool->len), b = (guint) upto (w, (gint) w->pool->len);

  return g_array_index (w->pool, guint32, MAX (a, b));
}

static const GantryType *
type_of (Writer *w, guint32 id)
{
  return gantry_builder_get_type (w->b, id);
}

static void
put (Writer *w, guint32 id)
{
  g_autoptr (GError) error = NULL;

  if (!gantry_builder_check (w->b, &error))
    g_error ("%s", error->message);
  if (gantry_type_elements (type_of (w, id)) <= MOST_ELEMENTS)
    g_array_append_val (w->pool, id);
}

/* A value of the type of @like, of the pool if there is another one. */
static guint32
pick_like (Writer *w, guint32 like)
{
  guint32 found = like;
  guint n = 1;

  for (guint i = 0; i < w->pool->len; i++)
    {
      guint32 id = g_array_index (w->pool, guint32, i);

      if (type_of (w, id) == type_of (w, like) && upto (w, (gint) ++n) == 0)
        found = id;
    }
  return found;
}

static guint32
splat_like (Writer *w, guint32 like, double value)
{
  return gantry_builder_splat (w->b, GANTRY_F64, value, type_of (w, like)->rank, type_of (w, like)->dims);
}

static guint32
tame (Writer *w, guint32 x)
{
  return gantry_builder_unary (w->b, GANTRY_OP_TANH, x);
}

static void
write_unary (Writer *w)
{
  static const guint16 plain[] = { GANTRY_OP_SINE, GANTRY_OP_COSINE, GANTRY_OP_TANH, GANTRY_OP_LOGISTIC, GANTRY_OP_NEGATE,
                                   GANTRY_OP_ATAN, GANTRY_OP_ERF,    GANTRY_OP_ABS,  GANTRY_OP_ASINH };
  static const guint16 tamed[] = { GANTRY_OP_EXPONENTIAL, GANTRY_OP_SINH, GANTRY_OP_COSH, GANTRY_OP_EXPONENTIAL_MINUS_ONE };
  static const guint16 positive[] = { GANTRY_OP_SQRT, GANTRY_OP_RSQRT, GANTRY_OP_LOG, GANTRY_OP_CBRT };
  guint32 x = pick (w);

  switch (upto (w, 3))
    {
    case 0: put (w, gantry_builder_unary (w->b, tamed[upto (w, G_N_ELEMENTS (tamed))], tame (w, x))); break;
    case 1:
      x = gantry_builder_binary (w->b, GANTRY_OP_ADD, tame (w, x), splat_like (w, x, 1.5));
      put (w, gantry_builder_unary (w->b, positive[upto (w, G_N_ELEMENTS (positive))], x));
      break;
    default: put (w, gantry_builder_unary (w->b, plain[upto (w, G_N_ELEMENTS (plain))], x)); break;
    }
}

static void
write_binary (Writer *w)
{
  static const guint16 ops[] = { GANTRY_OP_ADD, GANTRY_OP_SUBTRACT, GANTRY_OP_MULTIPLY, GANTRY_OP_MAXIMUM, GANTRY_OP_MINIMUM };
  guint32 x = pick (w), y = pick_like (w, x);

  switch (upto (w, 4))
    {
    case 0:
      y = gantry_builder_binary (w->b, GANTRY_OP_ADD, tame (w, y), splat_like (w, y, 2));
      put (w, gantry_builder_binary (w->b, GANTRY_OP_DIVIDE, x, y));
      break;
    case 1: put (w, gantry_builder_select (w->b, gantry_builder_compare (w->b, "LT", x, y), y, pick_like (w, x))); break;
    default: put (w, tame (w, gantry_builder_binary (w->b, ops[upto (w, G_N_ELEMENTS (ops))], x, y))); break;
    }
}

static void
write_movement (Writer *w)
{
  guint32 x = pick (w);
  const GantryType *type = type_of (w, x);
  gint64 a[GANTRY_MAX_RANK] = { 0 }, b[GANTRY_MAX_RANK] = { 0 }, c[GANTRY_MAX_RANK] = { 0 };
  gint64 n = gantry_type_elements (type);

  for (guint i = 0; i < type->rank; i++)
    {
      a[i] = upto (w, (gint) type->dims[i]);
      b[i] = a[i] + 1 + upto (w, (gint) (type->dims[i] - a[i]));
      c[i] = 1 + upto (w, 2);
    }
  switch (upto (w, 6))
    {
    case 0: put (w, gantry_builder_reshape (w->b, x, 1, &n)); break;
    case 1: put (w, gantry_builder_slice (w->b, x, a, b, c)); break;
    case 2:
      for (guint i = 0; i < type->rank; i++)
        {
          a[i] = upto (w, 3) - 1 + (type->dims[i] == 1);
          b[i] = upto (w, 2);
          c[i] = upto (w, 2);
        }
      put (w, gantry_builder_pad (w->b, x, gantry_builder_scalar (w->b, GANTRY_F64, 0.5), a, b, c));
      break;
    case 3:
      for (guint i = 0; i < type->rank; i++)
        a[i] = (i + 1) % type->rank;
      put (w, gantry_builder_transpose (w->b, x, a));
      break;
    case 4:
      if (type->rank > 0)
        put (w, gantry_builder_concatenate (w->b, (guint32[]){ x, pick_like (w, x) }, 2, upto (w, type->rank)));
      break;
    default:
      a[0] = 2;
      for (guint i = 0; i < type->rank; i++)
        {
          a[i + 1] = type->dims[i];
          b[i] = i + 1;
        }
      if (type->rank < 3)
        put (w, gantry_builder_broadcast (w->b, x, type->rank + 1, a, b));
      break;
    }
}

static void
write_reduction (Writer *w)
{
  static const char *const kinds[] = { "add", "max", "min", "mul" };
  guint32 x = pick (w);
  const GantryType *type = type_of (w, x);
  gint64 sizes[GANTRY_MAX_RANK], padding[2 * GANTRY_MAX_RANK], axis;
  GantryAttrList *attrs;

  if (type->rank == 0)
    return;
  axis = upto (w, type->rank);
  switch (upto (w, 3))
    {
    case 0:
      attrs = gantry_attr_list_new (gantry_builder_context (w->b));
      for (guint i = 0; i < type->rank; i++)
        {
          sizes[i] = 1 + upto (w, 2);
          padding[2 * i] = sizes[i] - 1;
          padding[2 * i + 1] = 0;
        }
      gantry_attr_list_set_ints (attrs, "window_dimensions", sizes, type->rank);
      gantry_attr_list_set_ints (attrs, "padding", padding, 2 * type->rank);
      gantry_attr_list_set_string (attrs, "kind", kinds[upto (w, 3)]);
      put (w, tame (w, gantry_builder_add (w->b, GANTRY_OP_REDUCE_WINDOW, &x, 1, gantry_attr_list_end (attrs))));
      break;
    case 1:
      attrs = gantry_attr_list_new (gantry_builder_context (w->b));
      gantry_attr_list_set_int (attrs, "dimension", axis);
      put (w, gantry_builder_add (w->b, GANTRY_OP_SORT, &x, 1, gantry_attr_list_end (attrs)));
      break;
    default: put (w, tame (w, gantry_builder_reduce (w->b, kinds[upto (w, 4)], x, &axis, 1))); break;
    }
}

/* Two values that agree in some dimension, over it. */
static void
write_product (Writer *w)
{
  guint32 x = pick (w), y = pick (w);
  const GantryType *a = type_of (w, x), *b = type_of (w, y);
  GantryAttrList *attrs;

  if (a->rank == 0 || b->rank == 0 || a->rank + b->rank > 5)
    return;
  for (guint tries = 0; tries < 6; tries++)
    {
      gint64 i = upto (w, a->rank), k = upto (w, b->rank);

      if (a->dims[i] != b->dims[k])
        continue;
      attrs = gantry_attr_list_new (gantry_builder_context (w->b));
      gantry_attr_list_set_ints (attrs, "lhs_contracting_dimensions", &i, 1);
      gantry_attr_list_set_ints (attrs, "rhs_contracting_dimensions", &k, 1);
      put (w, tame (w, gantry_builder_add (w->b, GANTRY_OP_DOT_GENERAL, (guint32[]){ x, y }, 2, gantry_attr_list_end (attrs))));
      return;
    }
}

/* Rows picked by constants, some of them outside. */
static void
write_gather (Writer *w)
{
  guint32 x = pick (w), y;
  const GantryType *type = type_of (w, x);
  gint64 sizes[GANTRY_MAX_RANK], window[GANTRY_MAX_RANK], rows[3], dims[2] = { 3, 1 }, zero = 0;
  GantryAttrList *attrs = gantry_attr_list_new (gantry_builder_context (w->b));
  guint32 indices;

  if (type->rank == 0)
    {
      gantry_attr_list_free (attrs);
      return;
    }
  for (guint i = 0; i < 3; i++)
    rows[i] = upto (w, (gint) type->dims[0] + 2) - 1;
  indices = gantry_builder_reshape (w->b, gantry_builder_ints (w->b, rows, 3), 2, dims);
  for (guint i = 0; i < type->rank; i++)
    {
      sizes[i] = i == 0 ? 1 : type->dims[i];
      window[i] = i + 1;
    }
  gantry_attr_list_set_ints (attrs, "offset_dims", window, type->rank - 1);
  gantry_attr_list_set_ints (attrs, "collapsed_slice_dims", &zero, 1);
  gantry_attr_list_set_ints (attrs, "start_index_map", &zero, 1);
  gantry_attr_list_set_int (attrs, "index_vector_dim", 1);
  gantry_attr_list_set_ints (attrs, "slice_sizes", sizes, type->rank);
  y = gantry_builder_add (w->b, GANTRY_OP_GATHER, (guint32[]){ x, indices }, 2, gantry_attr_list_end (attrs));
  if (upto (w, 2))
    {
      attrs = gantry_attr_list_new (gantry_builder_context (w->b));
      gantry_attr_list_set_ints (attrs, "update_window_dims", window, type->rank - 1);
      gantry_attr_list_set_ints (attrs, "inserted_window_dims", &zero, 1);
      gantry_attr_list_set_ints (attrs, "scatter_dims_to_operand_dims", &zero, 1);
      gantry_attr_list_set_int (attrs, "index_vector_dim", 1);
      gantry_attr_list_set_string (attrs, "kind", upto (w, 2) ? "set" : "add");
      y = gantry_builder_add (w->b, GANTRY_OP_SCATTER, (guint32[]){ x, indices, gantry_builder_unary (w->b, GANTRY_OP_SINE, y) }, 3,
                              gantry_attr_list_end (attrs));
    }
  put (w, y);
}

/* Bodies */

static void write_nodes (Writer *w, guint n, guint depth);

/* Begins a function of values like @like and makes them the pool. Returns: the pool of before */
static GArray *
begin_body (Writer *w, const char *name, const guint32 *types, guint n, guint32 *id)
{
  GArray *outer = w->pool;

  w->pool = g_array_new (FALSE, FALSE, sizeof (guint32));
  *id = gantry_builder_begin (w->b, name, 0);
  for (guint i = 0; i < n; i++)
    {
      guint32 parameter = gantry_builder_parameter (w->b, types[i], NULL);
      const GantryType *type = gantry_context_type (gantry_builder_context (w->b), types[i]);

      if (type->element == GANTRY_F64)
        g_array_append_val (w->pool, parameter);
    }
  return outer;
}

static void
end_body (Writer *w, GArray *outer, const guint32 *results, guint n)
{
  gantry_builder_end (w->b, results, n);
  g_array_unref (w->pool);
  w->pool = outer;
}

/* Takes the members of what a control operation gave. */
static void
put_members (Writer *w, guint32 id)
{
  const GantryType *type = type_of (w, id);

  if (type->kind != GANTRY_TYPE_TUPLE)
    {
      put (w, id);
      return;
    }
  for (guint i = 0; i < type->rank; i++)
    {
      guint32 member = gantry_builder_result (w->b, id, i);

      if (type_of (w, member)->element == GANTRY_F64)
        put (w, member);
    }
}

static void
write_branches (Writer *w, guint depth)
{
  guint32 operands[4], types[3], id[2], results[2];
  guint32 probe = pick (w);
  gint64 axes[] = { 0, 1, 2, 3 };
  GantryAttrList *attrs;

  probe = gantry_builder_reduce (w->b, "add", probe, axes, type_of (w, probe)->rank);
  operands[0] = gantry_builder_compare (w->b, upto (w, 2) ? "LT" : "GT", probe, gantry_builder_scalar (w->b, GANTRY_F64, 0.1));
  for (guint i = 0; i < 3; i++)
    {
      operands[i + 1] = pick (w);
      types[i] = gantry_builder_type (w->b, operands[i + 1]);
    }
  for (guint k = 0; k < 2; k++)
    {
      GArray *outer = begin_body (w, k == 0 ? "then" : "else", types, 3, &id[k]);

      write_nodes (w, (guint) upto (w, 4), depth - 1);
      for (guint i = 0; i < 2; i++)
        results[i] = pick_like (w, g_array_index (w->pool, guint32, i));
      end_body (w, outer, results, 2);
    }
  attrs = gantry_attr_list_new (gantry_builder_context (w->b));
  gantry_attr_list_set_function (attrs, "then", id[0]);
  gantry_attr_list_set_function (attrs, "else", id[1]);
  put_members (w, gantry_builder_add (w->b, GANTRY_OP_IF, operands, 4, gantry_attr_list_end (attrs)));
}

static void
write_call (Writer *w, guint depth)
{
  guint32 operands[2] = { pick (w), pick (w) }, types[2], id, results[2];
  GantryAttrList *attrs = gantry_attr_list_new (gantry_builder_context (w->b));
  GArray *outer;

  for (guint i = 0; i < 2; i++)
    types[i] = gantry_builder_type (w->b, operands[i]);
  outer = begin_body (w, "called", types, 2, &id);
  write_nodes (w, 3, depth - 1);
  results[0] = pick (w);
  results[1] = pick (w);
  end_body (w, outer, results, 2);
  gantry_attr_list_set_function (attrs, "body", id);
  put_members (w, gantry_builder_add (w->b, upto (w, 2) ? GANTRY_OP_CALL : GANTRY_OP_FUSION, operands, 2, gantry_attr_list_end (attrs)));
}

/* A slice of @x along @axis. */
static guint32
slice_type (Writer *w, guint32 x, gint64 axis)
{
  const GantryType *type = type_of (w, x);
  GantryDim dims[GANTRY_MAX_RANK];
  guint rank = 0;

  for (guint i = 0; i < type->rank; i++)
    if (i != axis)
      dims[rank++] = type->dims[i];
  return gantry_context_tensor (gantry_builder_context (w->b), GANTRY_F64, rank, dims);
}

static void
write_scan (Writer *w, guint depth)
{
  guint32 x = pick (w), operands[6], types[6], results[5];
  gint64 axes[1], y_axes[2];
  GantryScan scan = {
    .reverse = upto (w, 2), .axes = axes, .y_axes = y_axes, .n_ys = (guint) upto (w, 3), .n_carries = 1 + (guint) upto (w, 2), .n_captures = (guint) upto (w, 3)
  };
  gboolean counts = upto (w, 2);
  GArray *outer;
  guint n = 0, first = 0;

  if (counts)
    {
      operands[n++] = gantry_builder_int_scalar (w->b, GANTRY_I32, 0);
      first = 1;
    }
  for (guint i = 0; i < scan.n_carries; i++)
    operands[n++] = pick (w);
  scan.n_xs = type_of (w, x)->rank > 0;
  axes[0] = scan.n_xs ? upto (w, type_of (w, x)->rank) : 0;
  scan.length = scan.n_xs ? type_of (w, x)->dims[axes[0]] : 1 + upto (w, 3);
  if (scan.n_xs)
    operands[n++] = x;
  for (guint i = 0; i < scan.n_captures; i++)
    operands[n++] = pick (w);
  for (guint i = 0; i < n; i++)
    types[i] = gantry_builder_type (w->b, operands[i]);
  if (scan.n_xs)
    types[first + scan.n_carries] = slice_type (w, x, axes[0]);
  outer = begin_body (w, "body", types, n, &scan.body);
  write_nodes (w, 1 + (guint) upto (w, 4), depth - 1);
  n = 0;
  if (counts)
    results[n++] = gantry_builder_int_scalar (w->b, GANTRY_I32, 1);
  for (guint i = 0; i < scan.n_carries; i++)
    results[n++] = pick_like (w, g_array_index (w->pool, guint32, i));
  for (guint i = 0; i < scan.n_ys; i++)
    {
      results[n++] = pick (w);
      y_axes[i] = upto (w, (gint) type_of (w, results[n - 1])->rank + 1);
    }
  end_body (w, outer, results, n);
  scan.n_carries += counts;
  put_members (w, gantry_builder_scan (w->b, &scan, operands));
}

static void
write_loop (Writer *w, guint depth)
{
  guint32 operands[3], types[3], results[3], cond, body;
  GantryAttrList *attrs = gantry_attr_list_new (gantry_builder_context (w->b));
  gint trips = upto (w, 4);
  GArray *outer;

  operands[0] = gantry_builder_int_scalar (w->b, GANTRY_I32, 0);
  operands[1] = pick (w);
  operands[2] = pick (w);
  for (guint i = 0; i < 3; i++)
    types[i] = gantry_builder_type (w->b, operands[i]);
  cond = gantry_builder_begin (w->b, "cond", 0);
  for (guint i = 0; i < 3; i++)
    results[i] = gantry_builder_parameter (w->b, types[i], NULL);
  results[0] = gantry_builder_compare (w->b, "LT", results[0], gantry_builder_int_scalar (w->b, GANTRY_I32, trips));
  gantry_builder_end (w->b, results, 1);
  outer = begin_body (w, "trip", types, 3, &body);
  write_nodes (w, 2, depth - 1);
  /* The counter is the parameter before the first value of the pool. */
  results[0] = gantry_builder_binary (w->b, GANTRY_OP_ADD, g_array_index (w->pool, guint32, 0) - 1, gantry_builder_int_scalar (w->b, GANTRY_I32, 1));
  for (guint i = 0; i < 2; i++)
    results[1 + i] = pick_like (w, g_array_index (w->pool, guint32, i));
  end_body (w, outer, results, 3);
  gantry_attr_list_set_function (attrs, "cond", cond);
  gantry_attr_list_set_function (attrs, "body", body);
  gantry_attr_list_set_int (attrs, "most_trips", trips + upto (w, 2));
  put_members (w, gantry_builder_add (w->b, GANTRY_OP_WHILE, operands, 3, gantry_attr_list_end (attrs)));
}

static void
write_nodes (Writer *w, guint n, guint depth)
{
  for (guint i = 0; i < n; i++)
    switch (upto (w, depth > 0 ? 13 : 8))
      {
      case 0:
      case 1: write_unary (w); break;
      case 2:
      case 3: write_binary (w); break;
      case 4: write_movement (w); break;
      case 5: write_reduction (w); break;
      case 6: write_product (w); break;
      case 7: write_gather (w); break;
      case 8: write_branches (w, depth); break;
      case 9: write_call (w, depth); break;
      case 10: write_loop (w, depth); break;
      default: write_scan (w, depth); break;
      }
}

GantryModule *
random_gradient_module (GantryContext *context, guint32 seed)
{
  static const GantryDim dims[][2] = { { 0, 0 }, { 3, 0 }, { 2, 0 }, { 2, 3 }, { 3, 2 } };
  static const guint ranks[] = { 0, 1, 1, 2, 2 };
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "random");
  GantryLocation place = { .text = gantry_context_intern (context, "made at random") };
  Writer w = { .b = builder, .rand = g_rand_new_with_seed (seed), .pool = g_array_new (FALSE, FALSE, sizeof (guint32)) };
  g_autoptr (GError) error = NULL;
  guint32 results[3];
  GantryModule *module;

  gantry_builder_set_place (builder, 0, gantry_context_location (context, &place));
  gantry_builder_begin (builder, "main", 0);
  for (gint i = 0; i < 3; i++)
    {
      guint k = (guint) upto (&w, G_N_ELEMENTS (ranks));

      put (&w, gantry_builder_parameter (builder, gantry_context_tensor (context, GANTRY_F64, ranks[k], dims[k]), NULL));
    }
  write_nodes (&w, 6 + (guint) upto (&w, 8), 2);
  for (guint i = 0; i < 3; i++)
    results[i] = g_array_index (w.pool, guint32, w.pool->len - 1 - (i * (w.pool->len - 1)) / 4);
  gantry_builder_end (builder, results, 3);
  module = gantry_builder_finish (builder, &error);
  if (module == NULL)
    g_error ("%s", error->message);
  g_rand_free (w.rand);
  g_array_unref (w.pool);
  return module;
}
