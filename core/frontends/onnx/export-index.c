/* SPDX-License-Identifier: Apache-2.0 */
/* Writing ONNX: gather and scatter. Rows of a table, which is what nearly all of them are, become Gather and ScatterND of
 * rows; anything else is indexed element by element in the flattened operand. */
#include "core/frontends/onnx/export-private.h"
#include <string.h>

#define ELEMENT(value) ((GantryElementType) (value)->type->element)

/* A list of dimension numbers of the node that is being written. */
typedef struct
{
  const gint64 *values;
  gsize n;
} Dims;

static Dims
read_dims (GantryOnnxExport *e, const char *key)
{
  Dims dims;

  dims.values = gantry_attrs_ints (e->context, e->node->attrs, key, &dims.n);
  return dims;
}

static gssize
find (Dims dims, gint64 value)
{
  for (gsize i = 0; i < dims.n; i++)
    if (dims.values[i] == value)
      return (gssize) i;
  return -1;
}

/* Component @k of the index vectors, in the shape of what is left of the indices. */
static ExportValue *
component (GantryOnnxExport *e, ExportValue *indices, gsize k)
{
  gint64 vector = gantry_attrs_int (e->context, e->node->attrs, "index_vector_dim", 0);

  if (vector < indices->type->rank)
    indices = gantry_export_take (e, indices, gantry_export_integer (e, GANTRY_I64, (gint64) k), vector);
  return gantry_export_cast (e, indices, GANTRY_I64);
}

/* Shape of the indices without their vectors. */
static guint
batch_dims (GantryOnnxExport *e, const ExportValue *indices, gint64 *dims)
{
  gint64 vector = gantry_attrs_int (e->context, e->node->attrs, "index_vector_dim", 0);
  guint rank = 0;

  for (guint i = 0; i < indices->type->rank; i++)
    if (i != vector)
      dims[rank++] = indices->type->dims[i];
  return rank;
}

/* A value of the shape of the indices, with its dimensions where a result of @rank dimensions has its batch. */
static ExportValue *
spread (GantryOnnxExport *e, ExportValue *value, guint rank, Dims windows)
{
  gint64 dims[GANTRY_MAX_RANK];
  guint next = 0;

  for (guint i = 0; i < rank; i++)
    dims[i] = find (windows, i) >= 0 ? 1 : value->type->dims[next++];
  return gantry_export_reshape (e, value, rank, dims);
}

static void
strides_of (const GantryType *type, gint64 *strides)
{
  gint64 stride = 1;

  for (guint i = type->rank; i-- > 0; stride *= type->dims[i])
    strides[i] = stride;
}

static ExportValue *
add (GantryOnnxExport *e, ExportValue *x, ExportValue *y)
{
  return x != NULL ? gantry_export_binary (e, "Add", x, y) : y;
}

static ExportValue *
scale (GantryOnnxExport *e, ExportValue *x, gint64 factor)
{
  return factor != 1 ? gantry_export_binary (e, "Mul", x, gantry_export_integer (e, GANTRY_I64, factor)) : x;
}

/* Where in a result of @rank dimensions the dimension of the indices stands that goes along with a batching dimension. */
static guint
batch_axis (GantryOnnxExport *e, gint64 index_dim, guint rank, Dims windows)
{
  gint64 vector = gantry_attrs_int (e->context, e->node->attrs, "index_vector_dim", 0);
  gint64 wanted = index_dim - (index_dim > vector ? 1 : 0);

  for (guint i = 0; i < rank; i++)
    if (find (windows, i) < 0 && wanted-- == 0)
      return i;
  return 0;
}

/* Gather */

typedef struct
{
  Dims offset, collapsed, batching, index_batching, map;
  gint64 sizes[GANTRY_MAX_RANK];
} Gather;

static gboolean
is_rows (const Gather *g, const GantryType *x)
{
  if (g->map.n != 1 || g->collapsed.n != 1 || g->map.values[0] != g->collapsed.values[0] || g->batching.n != 0)
    return FALSE;
  for (guint i = 0; i < x->rank; i++)
    if (g->sizes[i] != (i == g->map.values[0] ? 1 : x->dims[i]))
      return FALSE;
  return TRUE;
}

static ExportValue *
gather_rows (GantryOnnxExport *e, const Gather *g, ExportValue *x, ExportValue *indices, const GantryType *type)
{
  gint64 axis = g->map.values[0], order[GANTRY_MAX_RANK];
  ExportValue *rows = gantry_export_bound (e, component (e, indices, 0), 0, x->type->dims[axis] - 1);
  gint64 batch = 0;

  for (guint i = 0; i < type->rank; i++)
    {
      gssize offset = find (g->offset, i);

      if (offset >= 0)
        order[i] = offset < axis ? offset : offset + rows->type->rank;
      else
        order[i] = axis + batch++;
    }
  x = gantry_export_take (e, x, rows, axis);
  return e->error == NULL ? gantry_export_transpose (e, x, order) : e->nobody;
}

/* The place of each element of the result in the flattened operand. */
static ExportValue *
gather_places (GantryOnnxExport *e, const Gather *g, ExportValue *x, ExportValue *indices, const GantryType *type)
{
  ExportValue *places = NULL;
  gint64 strides[GANTRY_MAX_RANK];
  gsize next = 0;

  strides_of (x->type, strides);
  for (gsize k = 0; k < g->map.n; k++)
    {
      gint64 d = g->map.values[k];
      ExportValue *start = gantry_export_bound (e, component (e, indices, k), 0, x->type->dims[d] - g->sizes[d]);

      places = add (e, places, scale (e, start, strides[d]));
    }
  if (e->error != NULL)
    return e->nobody;
  if (places != NULL)
    places = spread (e, places, type->rank, g->offset);
  for (gsize k = 0; k < g->batching.n; k++)
    {
      guint axis = batch_axis (e, g->index_batching.values[k], type->rank, g->offset);

      places = add (e, places, gantry_export_range (e, type->dims[axis], strides[g->batching.values[k]], type->rank, axis));
    }
  for (guint d = 0; d < x->type->rank; d++)
    if (find (g->collapsed, d) < 0 && find (g->batching, d) < 0)
      places = add (e, places, gantry_export_range (e, g->sizes[d], strides[d], type->rank, g->offset.values[next++]));
  if (places == NULL)
    places = gantry_export_integer (e, GANTRY_I64, 0);
  return gantry_export_expand (e, places, type->rank, type->dims);
}

ExportValue *
gantry_export_gather (GantryOnnxExport *e, ExportValue **in, G_GNUC_UNUSED guint n)
{
  const GantryType *type = gantry_node_type (e->module, e->node);
  gint64 elements = gantry_type_elements (in[0]->type);
  Gather g = { read_dims (e, "offset_dims"),           read_dims (e, "collapsed_slice_dims"),
               read_dims (e, "operand_batching_dims"), read_dims (e, "start_indices_batching_dims"),
               read_dims (e, "start_index_map"),       { 0 } };

  gantry_export_read (e, "slice_sizes", in[0]->type->rank, 1, g.sizes);
  if (is_rows (&g, in[0]->type))
    return gather_rows (e, &g, in[0], in[1], type);
  return gantry_export_take (e, gantry_export_reshape (e, in[0], 1, &elements), gather_places (e, &g, in[0], in[1], type), 0);
}

/* Scatter */

typedef struct
{
  Dims window, inserted, batching, index_batching, to;
} Scatter;

/* @n: of them; what is outside goes where nothing is. */
static ExportValue *
keep_inside (GantryOnnxExport *e, ExportValue *inside, ExportValue *places, gint64 n)
{
  return inside != NULL ? gantry_export_select (e, inside, places, gantry_export_integer (e, GANTRY_I64, n)) : places;
}

static ExportValue *
within (GantryOnnxExport *e, ExportValue *inside, ExportValue *place, gint64 dim)
{
  ExportValue *low = gantry_export_compare (e, "GreaterOrEqual", place, gantry_export_integer (e, GANTRY_I64, 0));
  ExportValue *here = gantry_export_binary (e, "And", low, gantry_export_compare (e, "Less", place, gantry_export_integer (e, GANTRY_I64, dim)));

  return inside != NULL ? gantry_export_binary (e, "And", inside, here) : here;
}

/* @x gets one more along dimension 0, which takes what is outside. */
static ExportValue *
scatter_node (GantryOnnxExport *e, ExportValue *x, ExportValue *places, ExportValue *updates)
{
  const char *kind = gantry_attrs_string (e->context, e->node->attrs, "kind", "set");
  guint rank = x->type->rank;
  gint64 dims[GANTRY_MAX_RANK], zeros[GANTRY_MAX_RANK] = { 0 }, high[GANTRY_MAX_RANK] = { 1 }, ones[GANTRY_MAX_RANK];
  ExportNode node;

  memcpy (dims, x->type->dims, sizeof *dims * rank);
  for (guint i = 0; i < rank; i++)
    ones[i] = 1;
  x = gantry_export_pad (e, x, gantry_export_scalar (e, ELEMENT (x), 0), zeros, high, NULL);
  gantry_export_begin (e, &node, "ScatterND");
  gantry_export_input (&node, x);
  gantry_export_input (&node, places);
  gantry_export_input (&node, updates);
  gantry_export_string (&node, "reduction", g_str_equal (kind, "set") ? "none" : kind);
  x = gantry_export_end (&node, x->type);
  return e->error == NULL ? gantry_export_slice (e, x, zeros, dims, ones) : e->nobody;
}

static gboolean
scatters_rows (const Scatter *s, const GantryType *x, const GantryType *updates)
{
  guint batch = updates->rank - (guint) s->window.n;

  if (s->to.n != 1 || s->to.values[0] != 0 || s->inserted.n != 1 || s->inserted.values[0] != 0 || s->batching.n != 0)
    return FALSE;
  for (gsize i = 0; i < s->window.n; i++)
    if (s->window.values[i] != batch + (gint64) i || updates->dims[batch + i] != x->dims[1 + i])
      return FALSE;
  return TRUE;
}

static ExportValue *
scatter_rows (GantryOnnxExport *e, ExportValue **in)
{
  gint64 dims[GANTRY_MAX_RANK + 1], dim = in[0]->type->dims[0];
  guint rank = batch_dims (e, in[1], dims);
  ExportValue *rows = component (e, in[1], 0);

  rows = keep_inside (e, within (e, NULL, rows, dim), rows, dim);
  if (e->error != NULL || rank == GANTRY_MAX_RANK)
    return e->nobody;
  dims[rank] = 1;
  return scatter_node (e, in[0], gantry_export_reshape (e, rows, rank + 1, dims), in[2]);
}

/* The place of each update in the flattened operand; one behind it where that is outside. */
static ExportValue *
scatter_places (GantryOnnxExport *e, const Scatter *s, ExportValue **in)
{
  const GantryType *x = in[0]->type, *updates = in[2]->type;
  ExportValue *places = NULL, *inside = NULL;
  gint64 strides[GANTRY_MAX_RANK];
  gsize window = 0;

  strides_of (x, strides);
  for (guint d = 0; d < x->rank; d++)
    {
      gssize k = find (s->to, d), b = find (s->batching, d);
      ExportValue *place = NULL;

      if (k >= 0)
        {
          place = component (e, in[1], (gsize) k);
          if (e->error != NULL)
            return e->nobody;
          place = spread (e, place, updates->rank, s->window);
        }
      if (b >= 0)
        {
          guint axis = batch_axis (e, s->index_batching.values[b], updates->rank, s->window);

          place = add (e, place, gantry_export_range (e, updates->dims[axis], 1, updates->rank, axis));
        }
      else if (find (s->inserted, d) < 0)
        {
          gint64 axis = s->window.values[window++];

          place = add (e, place, gantry_export_range (e, updates->dims[axis], 1, updates->rank, axis));
        }
      if (place == NULL)
        continue;
      inside = within (e, inside, place, x->dims[d]);
      places = add (e, places, scale (e, place, strides[d]));
    }
  if (places == NULL)
    return gantry_export_expand (e, gantry_export_integer (e, GANTRY_I64, 0), updates->rank, updates->dims);
  return gantry_export_expand (e, keep_inside (e, inside, places, gantry_type_elements (x)), updates->rank, updates->dims);
}

ExportValue *
gantry_export_scatter (GantryOnnxExport *e, ExportValue **in, G_GNUC_UNUSED guint n)
{
  const GantryType *type = gantry_node_type (e->module, e->node);
  Scatter s = { read_dims (e, "update_window_dims"), read_dims (e, "inserted_window_dims"), read_dims (e, "input_batching_dims"),
                read_dims (e, "scatter_indices_batching_dims"), read_dims (e, "scatter_dims_to_operand_dims") };
  gint64 elements = gantry_type_elements (type), updates = gantry_type_elements (in[2]->type);
  gint64 pair[2] = { updates, 1 };
  ExportValue *places;

  if (scatters_rows (&s, in[0]->type, in[2]->type))
    return scatter_rows (e, in);
  places = gantry_export_reshape (e, scatter_places (e, &s, in), 2, pair);
  places = scatter_node (e, gantry_export_reshape (e, in[0], 1, &elements), places, gantry_export_reshape (e, in[2], 1, &updates));
  return e->error == NULL ? gantry_export_reshape (e, places, type->rank, type->dims) : e->nobody;
}
