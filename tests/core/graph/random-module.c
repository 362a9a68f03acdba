/* SPDX-License-Identifier: Apache-2.0 */
/* Makes random modules through the builder. What does not fit (an operation that refuses the operands
 * drawn for it) is simply not added: the builder says so and goes on. */
#include "tests/core/graph/random-module.h"

typedef struct
{
  GantryContext *context;
  GantryBuilder *builder;
  GRand *rand;
  GArray *values; /* of the function being written */
  gboolean *used;
} Maker;

static gint
upto (Maker *m, gint n)
{
  return g_rand_int_range (m->rand, 0, n);
}

static const char *
word (Maker *m)
{
  static const char *const words[] = {
    "x", "conv1", "encoder/layer.3", "a \"quoted\" one", "über", "back\\slash", "new\nline", "\x01\xff", "", "batch", "%7", "loc(none)", "f32", "é日本"
  };

  return words[upto (m, G_N_ELEMENTS (words))];
}

GantryLiteral *
random_literal (GantryContext *context, GRand *rand, GantryElementType element, guint rank, const gint64 *dims)
{
  const GantryType *type = gantry_context_type (context, gantry_context_tensor (context, element, rank, dims));
  gboolean splat = gantry_type_elements (type) > 0 && g_rand_int_range (rand, 0, 4) == 0;
  gsize size = splat ? gantry_element_size (element) : (gsize) gantry_type_bytes (type);
  guint8 *data = g_malloc (size + 1);
  g_autoptr (GBytes) bytes = NULL;

  for (gsize i = 0; i < size; i++)
    data[i] = (guint8) (element == GANTRY_BOOL ? g_rand_boolean (rand) : g_rand_int_range (rand, 0, 256));
  bytes = g_bytes_new_take (data, size);
  return gantry_literal_new (type, bytes, splat, NULL);
}

static GantryElementType
compiled_element (Maker *m)
{
  return (GantryElementType) g_rand_int_range (m->rand, GANTRY_BOOL, GANTRY_F64 + 1);
}

static void
remember (Maker *m, guint32 id)
{
  GError *error = NULL;

  if (gantry_builder_check (m->builder, &error) && id != 0)
    {
      g_array_append_val (m->values, id);
      m->used[gantry_builder_node (m->builder, id)->op % GANTRY_OP_FOREIGN % GANTRY_N_OPS] = TRUE;
    }
  g_clear_error (&error);
}

static guint32
any_value (Maker *m)
{
  return g_array_index (m->values, guint32, upto (m, (gint) m->values->len));
}

/* A value of which @fits is true, or 0. */
static guint32
value_with (Maker *m, gboolean (*fits) (const GantryType *type))
{
  for (guint tries = 0; tries < 20; tries++)
    {
      guint32 id = any_value (m);

      if (fits (gantry_builder_get_type (m->builder, id)))
        return id;
    }
  return 0;
}

static void
set_place (Maker *m)
{
  GantryLocation location = { gantry_context_intern (m->context, word (m)), (guint32) upto (m, 3), (guint32) upto (m, 3),
                              gantry_context_intern (m->context, upto (m, 2) ? word (m) : NULL) };
  guint32 origins[3] = { 1 + (guint32) upto (m, 99), 1 + (guint32) upto (m, 99), 1 + (guint32) upto (m, 99) };

  for (guint n = (guint) upto (m, 4); n-- > 0;)
    {
      location.parent = gantry_context_location (m->context, &location);
      location.function = gantry_context_intern (m->context, upto (m, 2) ? word (m) : NULL);
      location.step = (guint32) upto (m, GANTRY_STEP_GRADIENT);
      location.number = (guint32) upto (m, 3);
      location.line++;
    }
  gantry_builder_set_place (m->builder, gantry_context_scope (m->context, word (m)), gantry_context_location (m->context, &location));
  gantry_builder_set_name (m->builder, gantry_context_intern (m->context, upto (m, 2) ? word (m) : NULL));
  gantry_builder_set_origins (m->builder, origins, (guint) upto (m, 4));
}

static guint32
add (Maker *m, guint op, const guint32 *operands, guint n, GantryAttrList *attrs)
{
  return gantry_builder_add (m->builder, op, operands, n, attrs != NULL ? gantry_attr_list_end (attrs) : 0);
}

static GantryAttrList *
attrs_new (Maker *m)
{
  return gantry_attr_list_new (m->context);
}

/* Values out of nothing */

static guint32
constant (Maker *m, GantryElementType element, guint rank, const gint64 *dims)
{
  g_autoptr (GantryLiteral) literal = random_literal (m->context, m->rand, element, rank, dims);

  return gantry_builder_literal (m->builder, literal);
}

static guint32
zeros (Maker *m, GantryElementType element, guint rank, const gint64 *dims)
{
  const GantryType *type = gantry_context_type (m->context, gantry_context_tensor (m->context, element, rank, dims));
  g_autoptr (GantryLiteral) literal = gantry_literal_new_zeroed (type, NULL);

  return gantry_builder_literal (m->builder, literal);
}

static guint32
any_constant (Maker *m)
{
  gint64 dims[3] = { upto (m, 5), 1 + upto (m, 9), 1 + upto (m, 5) };

  return constant (m, compiled_element (m), (guint) upto (m, 4), dims);
}

static guint32
any_type (Maker *m)
{
  GantryDim dims[3] = { upto (m, 4), GANTRY_DIM_UNKNOWN, GANTRY_DIM_SYMBOL (gantry_context_intern (m->context, word (m))) };
  guint32 members[2];

  switch (upto (m, 6))
    {
    case 0: return 0;
    case 1: return gantry_context_token (m->context);
    case 2:
      members[0] = any_type (m);
      members[1] = gantry_context_scalar (m->context, GANTRY_F32);
      return gantry_context_tuple (m->context, (guint) upto (m, 3), members);
    default:
      return gantry_context_tensor_in (m->context, (GantryElementType) g_rand_int_range (m->rand, GANTRY_BOOL, GANTRY_N_ELEMENT_TYPES), (guint) upto (m, 4),
                                       dims, (GantryMemoryKind) upto (m, GANTRY_N_MEMORY_KINDS));
    }
}

static void
foreign (Maker *m)
{
  static const char *const names[] = { "onnx.Conv", "onnx.Clip", "com.microsoft.Odd", "add", "weird op\"" };
  GantryAttrList *attrs = attrs_new (m);
  gint64 ints[3] = { G_MININT64, -1, 7 };
  double floats[4] = { 0.1, -G_MAXDOUBLE, 1e22, 3 };
  const char *strings[2] = { word (m), word (m) };
  guint32 operands[3] = { any_value (m), 0, any_value (m) };
  gint64 dims[1] = { upto (m, 200) };
  g_autoptr (GantryLiteral) literal = random_literal (m->context, m->rand, compiled_element (m), 1, dims);

  gantry_attr_list_set_int (attrs, word (m), g_rand_int (m->rand) - (gint64) G_MAXINT32);
  gantry_attr_list_set_float (attrs, "f", g_rand_double (m->rand) * (upto (m, 2) ? 1e300 : -1e-300));
  gantry_attr_list_set_string (attrs, "s", word (m));
  gantry_attr_list_set_ints (attrs, "is", ints, (gsize) upto (m, 4));
  gantry_attr_list_set_floats (attrs, "fs", floats, (gsize) upto (m, 5));
  gantry_attr_list_set_strings (attrs, "ss", strings, (gsize) upto (m, 3));
  gantry_attr_list_set_type (attrs, "t", any_type (m));
  gantry_attr_list_set_literal (attrs, "l", gantry_context_add_literal (m->context, literal));
  remember (m, gantry_builder_add_typed (m->builder, gantry_context_foreign_op (m->context, names[upto (m, 5)]), operands, (guint) upto (m, 4),
                                         gantry_attr_list_end (attrs), any_type (m)));
}

/* Elementwise */

static void
elementwise (Maker *m, guint op)
{
  guint32 x = any_value (m);
  GantryAttrList *attrs = attrs_new (m);
  static const char *const directions[] = { "EQ", "NE", "LT", "LE", "GT", "GE" };
  const GantryOpInfo *info = gantry_op_info (op);
  guint32 operands[3] = { x, x, x };

  if (op == GANTRY_OP_COMPARE)
    gantry_attr_list_set_string (attrs, "comparison_direction", directions[upto (m, 6)]);
  else if (op == GANTRY_OP_CONVERT || op == GANTRY_OP_BITCAST_CONVERT)
    gantry_attr_list_set_type (attrs, "to", gantry_context_scalar (m->context, compiled_element (m)));
  else if (op == GANTRY_OP_CHECKPOINT_NAME)
    gantry_attr_list_set_string (attrs, "name", "saved");
  else if (op == GANTRY_OP_SELECT)
    operands[0] = add (m, GANTRY_OP_IS_FINITE, &x, 1, NULL);
  remember (m, add (m, op, operands, (guint) info->min_operands, attrs));
}

/* Movement and sums of tensors with small static shapes made for the purpose */

static void
set_ints (GantryAttrList *attrs, const char *key, gint64 a, gint64 b)
{
  gantry_attr_list_set_ints (attrs, key, (const gint64[]){ a, b }, 2);
}

static void
movement (Maker *m, guint op)
{
  gint64 dims[2] = { 2 + upto (m, 3), 3 + upto (m, 3) };
  GantryElementType element = compiled_element (m);
  guint32 x = constant (m, element, 2, dims);
  guint32 scalar = zeros (m, element, 0, NULL);
  guint32 index = zeros (m, GANTRY_I64, 0, NULL);
  GantryAttrList *attrs = attrs_new (m);
  guint32 operands[4] = { x, x, index, index };
  guint n = 1;

  switch (op)
    {
    case GANTRY_OP_IOTA:
      gantry_attr_list_set_type (attrs, "to", gantry_context_tensor (m->context, GANTRY_I32, 2, dims));
      gantry_attr_list_set_int (attrs, "iota_dimension", upto (m, 2));
      n = 0;
      break;
    case GANTRY_OP_BROADCAST_IN_DIM:
      gantry_attr_list_set_ints (attrs, "shape", (const gint64[]){ dims[0], 3, dims[1] }, 3);
      set_ints (attrs, "broadcast_dimensions", 0, 2);
      break;
    case GANTRY_OP_RESHAPE: set_ints (attrs, "shape", dims[1], dims[0]); break;
    case GANTRY_OP_TRANSPOSE: set_ints (attrs, "permutation", 1, 0); break;
    case GANTRY_OP_REVERSE: set_ints (attrs, "dimensions", 0, 1); break;
    case GANTRY_OP_SLICE:
      set_ints (attrs, "start_indices", 0, 1);
      set_ints (attrs, "limit_indices", 2, dims[1]);
      set_ints (attrs, "strides", 1, 2);
      break;
    case GANTRY_OP_PAD:
      set_ints (attrs, "edge_padding_low", 1, -1);
      set_ints (attrs, "edge_padding_high", 0, 2);
      set_ints (attrs, "interior_padding", 0, 1);
      operands[1] = scalar;
      n = 2;
      break;
    case GANTRY_OP_CONCATENATE:
      gantry_attr_list_set_int (attrs, "dimension", upto (m, 2));
      n = 2;
      break;
    case GANTRY_OP_DYNAMIC_SLICE:
      set_ints (attrs, "slice_sizes", 1, 2);
      operands[1] = index;
      n = 3;
      break;
    default: n = 4; break; /* dynamic_update_slice */
    }
  remember (m, add (m, op, operands, n, attrs));
}

static void
indexed (Maker *m, guint op)
{
  guint32 x = constant (m, GANTRY_F32, 2, (const gint64[]){ 5, 3 });
  guint32 indices = zeros (m, GANTRY_I32, 2, (const gint64[]){ 4, 1 });
  guint32 updates = constant (m, GANTRY_F32, 2, (const gint64[]){ 4, 3 });
  static const char *const kinds[] = { "set", "add", "mul", "max", "min" };
  gboolean gather = op == GANTRY_OP_GATHER;
  GantryAttrList *attrs = attrs_new (m);
  const gint64 zero = 0, one = 1;

  gantry_attr_list_set_ints (attrs, gather ? "offset_dims" : "update_window_dims", &one, 1);
  gantry_attr_list_set_ints (attrs, gather ? "collapsed_slice_dims" : "inserted_window_dims", &zero, 1);
  gantry_attr_list_set_ints (attrs, gather ? "start_index_map" : "scatter_dims_to_operand_dims", &zero, 1);
  gantry_attr_list_set_int (attrs, "index_vector_dim", 1);
  if (gather)
    set_ints (attrs, "slice_sizes", 1, 3);
  else
    gantry_attr_list_set_string (attrs, "kind", kinds[upto (m, 5)]);
  remember (m, add (m, op, (const guint32[]){ x, indices, updates }, gather ? 2 : 3, attrs));
}

static void
sums (Maker *m, guint op)
{
  guint32 x = constant (m, GANTRY_F32, 2, (const gint64[]){ 4, 6 });
  guint32 y = constant (m, GANTRY_F32, 2, (const gint64[]){ 6, 3 });
  guint32 image = constant (m, GANTRY_F32, 3, (const gint64[]){ 1, 2, 8 });
  guint32 kernel = constant (m, GANTRY_F32, 3, (const gint64[]){ 4, 1, 3 });
  static const char *const kinds[] = { "add", "mul", "max", "min" };
  GantryAttrList *attrs = attrs_new (m);
  guint32 operands[2] = { x, y };
  const gint64 zero = 0, one = 1, two = 2;
  guint n = 2;

  if (op == GANTRY_OP_DOT_GENERAL)
    {
      gantry_attr_list_set_ints (attrs, "lhs_contracting_dimensions", &one, 1);
      gantry_attr_list_set_ints (attrs, "rhs_contracting_dimensions", &zero, 1);
    }
  else if (op == GANTRY_OP_CONVOLUTION)
    {
      gantry_attr_list_set_ints (attrs, "window_strides", &two, 1);
      set_ints (attrs, "padding", 1, upto (m, 3));
      gantry_attr_list_set_int (attrs, "feature_group_count", 2);
      operands[0] = image;
      operands[1] = kernel;
    }
  else
    {
      gantry_attr_list_set_string (attrs, "kind", kinds[upto (m, 4)]);
      n = 1;
      if (op == GANTRY_OP_REDUCE)
        gantry_attr_list_set_ints (attrs, "dimensions", &one, 1);
      else
        {
          set_ints (attrs, "window_dimensions", 2, 3);
          set_ints (attrs, "window_strides", 1, 2);
          set_ints (attrs, "base_dilations", 1, 1);
          set_ints (attrs, "window_dilations", 1, 1);
          gantry_attr_list_set_ints (attrs, "padding", (const gint64[]){ 0, 1, 1, 0 }, 4);
        }
    }
  remember (m, add (m, op, operands, n, attrs));
}

/* The rest */

static gboolean
is_tensor (const GantryType *type)
{
  return gantry_type_is_tensor (type) && type->rank > 0;
}

static void
tuples (Maker *m, guint op)
{
  guint32 members[2] = { any_value (m), any_value (m) };
  guint32 tuple = add (m, GANTRY_OP_TUPLE, members, 2, NULL);
  GantryAttrList *attrs = attrs_new (m);

  if (op == GANTRY_OP_TUPLE)
    remember (m, tuple);
  gantry_attr_list_set_int (attrs, "index", upto (m, 2));
  remember (m, add (m, GANTRY_OP_RESULT, &tuple, 1, attrs));
}

static void
others (Maker *m, guint op)
{
  GantryAttrList *attrs = attrs_new (m);
  guint32 operands[2] = { value_with (m, is_tensor), 0 };
  guint n = 1;

  if (op == GANTRY_OP_REMATERIALIZE)
    {
      operands[1] = operands[0];
      n = 2;
    }
  else if (op == GANTRY_OP_SORT)
    {
      gantry_attr_list_set_int (attrs, "dimension", 0);
      gantry_attr_list_set_int (attrs, "descending", upto (m, 2));
      operands[1] = operands[0];
      n = 1 + (guint) upto (m, 2);
    }
  else if (op == GANTRY_OP_RNG_BIT_GENERATOR)
    {
      operands[0] = constant (m, GANTRY_U64, 1, (const gint64[]){ 2 });
      set_ints (attrs, "shape", 2, 3);
      gantry_attr_list_set_type (attrs, "to", gantry_context_scalar (m->context, GANTRY_U32));
    }
  else if (op == GANTRY_OP_CUSTOM_CALL)
    {
      gantry_attr_list_set_string (attrs, "target", "print");
      gantry_attr_list_set_type (attrs, "to", gantry_context_scalar (m->context, GANTRY_F32));
    }
  remember (m, add (m, op, operands, n, attrs));
}

/* A function of one parameter of @type that gives back one of @result. */
static guint32
body_of (Maker *m, guint32 type, gboolean condition)
{
  guint32 function = gantry_builder_begin (m->builder, word (m), 0);
  guint32 value = gantry_builder_parameter (m->builder, type, word (m));

  value = condition ? constant (m, GANTRY_BOOL, 0, NULL) : gantry_builder_unary (m->builder, GANTRY_OP_NEGATE, value);
  gantry_builder_end (m->builder, &value, 1);
  return function;
}

static void
control (Maker *m, guint op)
{
  guint32 type = gantry_context_scalar (m->context, GANTRY_F32);
  guint32 x = constant (m, GANTRY_F32, 0, NULL);
  guint32 predicate = constant (m, GANTRY_BOOL, 0, NULL);
  GantryAttrList *attrs = attrs_new (m);
  guint32 operands[2] = { x, x };
  guint n = 1;

  if (op == GANTRY_OP_IF)
    {
      operands[0] = predicate;
      n = 2;
      gantry_attr_list_set_function (attrs, "then", body_of (m, type, FALSE));
      gantry_attr_list_set_function (attrs, "else", body_of (m, type, FALSE));
    }
  else
    {
      gantry_attr_list_set_function (attrs, "body", body_of (m, type, FALSE));
      if (op == GANTRY_OP_WHILE)
        gantry_attr_list_set_function (attrs, "cond", body_of (m, type, TRUE));
    }
  remember (m, add (m, op, operands, n, attrs));
}

/* A scan of up to four iterations with a carry, an x along any axis, a capture and a y put in anywhere. */
static void
scan (Maker *m)
{
  GantryDim dims[3] = { 2, 3, 4 };
  gint64 axis = upto (m, 3), y_axis = upto (m, 3);
  guint32 scalar = gantry_context_scalar (m->context, GANTRY_F32), rows, slice, x, carry;
  GantryDim rest[2] = { axis == 0 ? 3 : 2, axis == 2 ? 3 : 4 };
  GantryScan form = {
    .length = upto (m, 4), .reverse = upto (m, 2) == 1, .n_carries = 1, .n_xs = 1, .n_captures = 1, .n_ys = 1, .axes = &axis, .y_axes = &y_axis
  };
  guint32 operands[3], results[2];

  dims[axis] = form.length;
  slice = gantry_context_tensor (m->context, GANTRY_F32, 2, rest);
  operands[0] = constant (m, GANTRY_F32, 0, NULL);
  operands[1] = constant (m, GANTRY_F32, 3, dims);
  operands[2] = constant (m, GANTRY_F32, 2, rest);
  form.body = gantry_builder_begin (m->builder, word (m), 0);
  carry = gantry_builder_parameter (m->builder, scalar, word (m));
  x = gantry_builder_parameter (m->builder, slice, word (m));
  rows = gantry_builder_parameter (m->builder, slice, word (m));
  results[0] = gantry_builder_unary (m->builder, GANTRY_OP_NEGATE, carry);
  results[1] = gantry_builder_binary (m->builder, GANTRY_OP_ADD, x, rows);
  gantry_builder_end (m->builder, results, 2);
  remember (m, gantry_builder_scan (m->builder, &form, operands));
}

static void
any_node (Maker *m)
{
  guint op = (guint) g_rand_int_range (m->rand, GANTRY_OP_CONSTANT, GANTRY_N_OPS);
  const GantryOpInfo *info = gantry_op_info (op);

  set_place (m);
  if (upto (m, 8) == 0)
    foreign (m);
  else if (op == GANTRY_OP_CONSTANT)
    remember (m, any_constant (m));
  else if (op == GANTRY_OP_TUPLE || op == GANTRY_OP_RESULT)
    tuples (m, op);
  else if (op == GANTRY_OP_IF || op == GANTRY_OP_WHILE || op == GANTRY_OP_CALL || op == GANTRY_OP_FUSION)
    control (m, op);
  else if (op == GANTRY_OP_SCAN)
    scan (m);
  else if (info->flags & GANTRY_OP_ELEMENTWISE)
    elementwise (m, op);
  else if (op == GANTRY_OP_GATHER || op == GANTRY_OP_SCATTER)
    indexed (m, op);
  else if (info->op_class == GANTRY_CLASS_MOVEMENT)
    movement (m, op);
  else if (info->op_class == GANTRY_CLASS_REDUCTION || info->op_class == GANTRY_CLASS_CONTRACTION)
    sums (m, op);
  else
    others (m, op);
}

GantryModule *
random_module (GantryContext *context, GRand *rand, gboolean *used)
{
  gboolean none[GANTRY_N_OPS];
  Maker m = { .context = context, .rand = rand, .used = used != NULL ? used : none };
  GantryModule *module;
  guint32 results[2];
  GError *error = NULL;
  gint n = g_rand_int_range (rand, 1, 60);

  m.builder = gantry_builder_new (context, word (&m));
  m.values = g_array_new (FALSE, FALSE, sizeof (guint32));
  gantry_builder_begin (m.builder, "main", 0);
  for (gint i = upto (&m, 3); i >= 0; i--)
    {
      set_place (&m);
      remember (&m, gantry_builder_parameter (m.builder, any_type (&m), word (&m)));
    }
  for (gint i = 0; i < n; i++)
    any_node (&m);
  results[0] = any_value (&m);
  results[1] = any_value (&m);
  gantry_builder_end (m.builder, results, (guint) upto (&m, 3));
  module = gantry_builder_finish (m.builder, &error);
  g_assert_no_error (error);
  gantry_builder_free (m.builder);
  g_array_unref (m.values);
  return module;
}
