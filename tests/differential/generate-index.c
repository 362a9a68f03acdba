/* SPDX-License-Identifier: Apache-2.0 */
/* What addresses and orders: gathers, scatters, slices at places that are computed, sorts, random bits. */
#include "tests/differential/generate.h"

static gboolean
has_rows (const GantryType *type)
{
  return gantry_element_is_float (type->element) && type->rank > 0 && type->rank < 4 && type->dims[0] > 0;
}

/* Places in [0, n), some of them outside: an input or constants. */
static guint32
write_places (DiffMaker *m, guint rank, const GantryDim *dims, gint64 n)
{
  GantryElementType element = _diff_chance (m, 50) ? GANTRY_I64 : GANTRY_I32;
  const GantryType *type;
  g_autoptr (GantryLiteral) literal = NULL;
  guint8 *data;

  if (_diff_chance (m, 50))
    return _diff_leaf (m, DIFF_LEAF_INPUT, element, rank, dims);
  type = gantry_context_type (m->context, gantry_context_tensor (m->context, element, rank, dims));
  literal = gantry_literal_new_zeroed (type, &data);
  for (gint64 i = 0; i < gantry_type_elements (type); i++)
    gantry_element_write_int (element, data + i * gantry_element_size (element), _diff_upto (m, (gint) n + 2) - 1);
  return gantry_builder_literal (m->b, literal);
}

/* Rows of x. Returns: the attributes that gather and scatter share, with other names */
static GantryAttrList *
row_attrs (DiffMaker *m, const GantryType *type, gboolean gather)
{
  GantryAttrList *attrs = gantry_attr_list_new (m->context);
  gint64 window[GANTRY_MAX_RANK], zero = 0;

  for (guint i = 1; i < type->rank; i++)
    window[i - 1] = i;
  gantry_attr_list_set_ints (attrs, gather ? "offset_dims" : "update_window_dims", window, type->rank - 1);
  gantry_attr_list_set_ints (attrs, gather ? "collapsed_slice_dims" : "inserted_window_dims", &zero, 1);
  gantry_attr_list_set_ints (attrs, gather ? "start_index_map" : "scatter_dims_to_operand_dims", &zero, 1);
  gantry_attr_list_set_int (attrs, "index_vector_dim", 1);
  return attrs;
}

static guint32
write_gather (DiffMaker *m, guint32 x)
{
  const GantryType *type = _diff_type_of (m, x);
  GantryDim dims[2] = { 1 + _diff_upto (m, 6), 1 };
  GantryAttrList *attrs = row_attrs (m, type, TRUE);
  gint64 sizes[GANTRY_MAX_RANK];
  guint32 places = write_places (m, 2, dims, type->dims[0]);

  for (guint i = 0; i < type->rank; i++)
    sizes[i] = i == 0 ? 1 : type->dims[i];
  gantry_attr_list_set_ints (attrs, "slice_sizes", sizes, type->rank);
  return gantry_builder_add (m->b, GANTRY_OP_GATHER, (guint32[]){ x, places }, 2, gantry_attr_list_end (attrs));
}

static guint32
write_scatter (DiffMaker *m, guint32 x)
{
  static const char *const kinds[] = { "add", "add", "set", "max", "min", "mul" };
  const GantryType *type = _diff_type_of (m, x);
  const char *kind = kinds[_diff_upto (m, G_N_ELEMENTS (kinds))];
  GantryDim dims[2] = { 1 + _diff_upto (m, 5), 1 }, shape[GANTRY_MAX_RANK];
  GantryAttrList *attrs = row_attrs (m, type, FALSE);
  guint32 places, updates;

  for (guint i = 0; i < type->rank; i++)
    shape[i] = i == 0 ? dims[0] : type->dims[i];
  places = write_places (m, 2, dims, type->dims[0]);
  updates = _diff_leaf (m, DIFF_LEAF_INPUT, (GantryElementType) type->element, type->rank, shape);
  if (_diff_chance (m, 50))
    updates = _diff_unary (m, GANTRY_OP_TANH, updates);
  gantry_attr_list_set_string (attrs, "kind", kind);
  return gantry_builder_add (m->b, GANTRY_OP_SCATTER, (guint32[]){ x, places, updates }, 3, gantry_attr_list_end (attrs));
}

/* Starts of a slice: one scalar for each dimension. */
static guint
write_starts (DiffMaker *m, const GantryType *type, guint32 *starts)
{
  for (guint i = 0; i < type->rank; i++)
    starts[i] = _diff_chance (m, 50) ? gantry_builder_int_scalar (m->b, GANTRY_I32, _diff_upto (m, (gint) type->dims[i] + 1))
                                     : _diff_leaf (m, DIFF_LEAF_INPUT, GANTRY_I32, 0, NULL);
  return type->rank;
}

static guint32
write_dynamic (DiffMaker *m, guint32 x)
{
  const GantryType *type = _diff_type_of (m, x);
  gint64 sizes[GANTRY_MAX_RANK];
  guint32 operands[GANTRY_MAX_RANK + 2] = { x };
  GantryAttrList *attrs;
  guint n = 1;

  for (guint i = 0; i < type->rank; i++)
    sizes[i] = 1 + _diff_upto (m, (gint) type->dims[i]);
  if (_diff_chance (m, 50))
    {
      n += write_starts (m, type, operands + n);
      attrs = gantry_attr_list_new (m->context);
      gantry_attr_list_set_ints (attrs, "slice_sizes", sizes, type->rank);
      return gantry_builder_add (m->b, GANTRY_OP_DYNAMIC_SLICE, operands, n, gantry_attr_list_end (attrs));
    }
  operands[n++] = _diff_leaf (m, DIFF_LEAF_INPUT, (GantryElementType) type->element, type->rank, sizes);
  n += write_starts (m, type, operands + n);
  return gantry_builder_add (m->b, GANTRY_OP_DYNAMIC_UPDATE_SLICE, operands, n, 0);
}

/* Keys, sometimes with what follows them: their places. */
static guint32
write_sort (DiffMaker *m, guint32 x)
{
  const GantryType *type = _diff_type_of (m, x);
  gint64 dimension = _diff_upto (m, (gint) type->rank);
  gboolean places = _diff_chance (m, 50);
  GantryAttrList *attrs = gantry_attr_list_new (m->context);
  guint32 operands[2] = { x }, sorted;

  if (places)
    operands[1] = gantry_builder_iota (m->b, GANTRY_I32, type->rank, type->dims, dimension);
  gantry_attr_list_set_int (attrs, "dimension", dimension);
  gantry_attr_list_set_int (attrs, "descending", _diff_chance (m, 50));
  gantry_attr_list_set_int (attrs, "stable", _diff_chance (m, 50) || places);
  sorted = gantry_builder_add (m->b, GANTRY_OP_SORT, operands, 1 + places, gantry_attr_list_end (attrs));
  if (!places)
    return sorted;
  _diff_put (m, gantry_builder_result (m->b, sorted, 1));
  return gantry_builder_result (m->b, sorted, 0);
}

static guint32
write_random_bits (DiffMaker *m)
{
  const GantryDim two = 2;
  gint64 shape[2] = { 1 + _diff_upto (m, 5), 1 + _diff_upto (m, 9) };
  GantryAttrList *attrs = gantry_attr_list_new (m->context);
  guint32 state = _diff_leaf (m, DIFF_LEAF_INPUT, GANTRY_U64, 1, &two), pair;

  gantry_attr_list_set_ints (attrs, "shape", shape, 2);
  gantry_attr_list_set_type (attrs, "to", gantry_context_scalar (m->context, _diff_chance (m, 50) ? GANTRY_U32 : GANTRY_U64));
  pair = gantry_builder_add (m->b, GANTRY_OP_RNG_BIT_GENERATOR, &state, 1, gantry_attr_list_end (attrs));
  _diff_put (m, gantry_builder_result (m->b, pair, 0));
  return gantry_builder_result (m->b, pair, 1);
}

static guint32
write_bits (DiffMaker *m, guint32 x)
{
  GantryAttrList *attrs = gantry_attr_list_new (m->context);
  gsize size = gantry_element_size ((GantryElementType) _diff_type_of (m, x)->element);
  GantryElementType element = size == 2 ? GANTRY_I16 : size == 4 ? GANTRY_I32 : GANTRY_I64;

  gantry_attr_list_set_type (attrs, "to", gantry_context_scalar (m->context, element));
  return gantry_builder_add (m->b, GANTRY_OP_BITCAST_CONVERT, &x, 1, gantry_attr_list_end (attrs));
}

void
_diff_write_index (DiffMaker *m)
{
  guint32 x = _diff_pick (m, has_rows);

  if (x == 0)
    x = _diff_put (m, _diff_leaf (m, DIFF_LEAF_INPUT, m->element, 2, (const GantryDim[]){ 3 + _diff_upto (m, 8), _diff_channels (m) }));
  switch (_diff_upto (m, 10))
    {
    case 0: _diff_put (m, write_random_bits (m)); break;
    case 1: _diff_put (m, write_bits (m, x)); break;
    case 2:
    case 3: _diff_put (m, write_sort (m, x)); break;
    case 4:
    case 5: _diff_put (m, write_dynamic (m, x)); break;
    case 6:
    case 7: _diff_put (m, write_scatter (m, x)); break;
    default: _diff_put (m, write_gather (m, x)); break;
    }
}
