/* SPDX-License-Identifier: Apache-2.0 */
/* Modules of one random fusion: elementwise operations with movements and reductions among them. */
#include "tests/core/kernels/random-fusion.h"

/* Random bodies. Every value has the shape of the fusion; operands may be smaller and are broadcast first. */

typedef struct
{
  GantryBuilder *builder;
  GRand *rand;
  guint rank;
  GantryDim dims[4];
  GArray *values; /* guint32: f32 values of that shape */
  GRand *jitter;  /* (nullable): for random_fusion_module_with_jitter() */
} Body;

/* Each drawn into a variable of its own: compilers differ in which argument of a call they evaluate first, and all are to
 * draw the same graphs. */
static guint32
any_value (Body *body)
{
  return g_array_index (body->values, guint32, g_rand_int_range (body->rand, 0, (gint) body->values->len));
}

/* The argument of a function that jumps. Nothing is drawn of @rand for it. */
static guint32
jittered (Body *body, guint32 x)
{
  const GantryType *type = gantry_builder_get_type (body->builder, x);
  gint64 n = gantry_type_elements (type);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GantryLiteral) literal = NULL;
  float *noise;
  guint32 size;

  if (body->jitter == NULL)
    return x;
  noise = g_new (float, n + 1);
  for (gint64 i = 0; i < n; i++)
    noise[i] = g_rand_boolean (body->jitter) ? RANDOM_FUSION_JITTER : -RANDOM_FUSION_JITTER;
  bytes = g_bytes_new_take (noise, sizeof *noise * (gsize) n);
  literal = gantry_literal_new (type, bytes, FALSE, NULL);
  size = gantry_builder_binary_broadcast (body->builder, GANTRY_OP_ADD, gantry_builder_unary (body->builder, GANTRY_OP_ABS, x),
                                          gantry_builder_scalar (body->builder, GANTRY_F32, 1));
  return gantry_builder_binary (body->builder, GANTRY_OP_ADD, x,
                                gantry_builder_binary (body->builder, GANTRY_OP_MULTIPLY, size, gantry_builder_literal (body->builder, literal)));
}

static guint32
random_unary (Body *body)
{
  /* Bounded ones, so that nothing grows without end along a chain. */
  static const guint ops[] = { GANTRY_OP_ABS,    GANTRY_OP_NEGATE, GANTRY_OP_TANH,  GANTRY_OP_LOGISTIC, GANTRY_OP_SINE,
                               GANTRY_OP_COSINE, GANTRY_OP_ERF,    GANTRY_OP_FLOOR, GANTRY_OP_SIGN };
  guint32 x = any_value (body);
  guint op = ops[g_rand_int_range (body->rand, 0, G_N_ELEMENTS (ops))];

  return gantry_builder_unary (body->builder, op, op == GANTRY_OP_FLOOR || op == GANTRY_OP_SIGN ? jittered (body, x) : x);
}

static guint32
random_binary (Body *body)
{
  static const guint ops[] = { GANTRY_OP_ADD, GANTRY_OP_SUBTRACT, GANTRY_OP_MAXIMUM, GANTRY_OP_MINIMUM };
  guint32 x = any_value (body), y = any_value (body);

  if (g_rand_int_range (body->rand, 0, 4) == 0) /* a product of bounded values */
    return gantry_builder_binary (body->builder, GANTRY_OP_MULTIPLY, gantry_builder_unary (body->builder, GANTRY_OP_TANH, x),
                                  gantry_builder_unary (body->builder, GANTRY_OP_LOGISTIC, y));
  return gantry_builder_binary (body->builder, ops[g_rand_int_range (body->rand, 0, G_N_ELEMENTS (ops))], x, y);
}

static guint32
random_choice (Body *body)
{
  guint32 right = any_value (body), left = any_value (body);
  guint32 p = gantry_builder_compare (body->builder, g_rand_boolean (body->rand) ? "LT" : "GE", jittered (body, left), right);
  guint32 otherwise = any_value (body), chosen = any_value (body);

  return gantry_builder_select (body->builder, p, chosen, otherwise);
}

static guint32
random_conversion (Body *body)
{
  static const GantryElementType through[] = { GANTRY_F64, GANTRY_I32, GANTRY_I8, GANTRY_I64 };
  GantryElementType element = through[g_rand_int_range (body->rand, 0, G_N_ELEMENTS (through))];
  guint32 of = any_value (body), x;

  x = gantry_builder_convert (body->builder, element != GANTRY_F64 ? jittered (body, of) : of, element);

  return gantry_builder_convert (body->builder, x, GANTRY_F32);
}

/* Reversed, or shifted by a pad and cut again. */
static guint32
random_movement (Body *body)
{
  gint64 low[4] = { 0 }, high[4] = { 0 }, interior[4] = { 0 }, axis = g_rand_int_range (body->rand, 0, (gint) body->rank);
  gint64 by = g_rand_int_range (body->rand, -2, 3);
  GantryAttrList *list;
  guint32 x = any_value (body);

  if (g_rand_boolean (body->rand) || by >= body->dims[axis] || -by >= body->dims[axis])
    {
      list = gantry_attr_list_new (gantry_builder_context (body->builder));
      gantry_attr_list_set_ints (list, "dimensions", &axis, 1);
      return gantry_builder_add (body->builder, GANTRY_OP_REVERSE, &x, 1, gantry_attr_list_end (list));
    }
  low[axis] = by;
  high[axis] = -by;
  return gantry_builder_pad (body->builder, x, gantry_builder_scalar (body->builder, GANTRY_F32, 0.25), low, high, interior);
}

/* The sum or largest of an axis, broadcast again and halved. */
static guint32
random_reduction (Body *body)
{
  gint64 axis = g_rand_int_range (body->rand, 0, (gint) body->rank), map[4];
  guint32 of = any_value (body);
  guint32 x = gantry_builder_reduce (body->builder, g_rand_boolean (body->rand) ? "max" : "min", of, &axis, 1);
  guint n = 0;

  for (guint d = 0; d < body->rank; d++)
    if (d != axis)
      map[n++] = d;
  return gantry_builder_broadcast (body->builder, x, body->rank, body->dims, map);
}

static void
add_random (Body *body)
{
  guint32 id;

  switch (g_rand_int_range (body->rand, 0, 16))
    {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4: id = random_unary (body); break;
    case 5:
    case 6:
    case 7:
    case 8:
    case 9: id = random_binary (body); break;
    case 10:
    case 11: id = random_choice (body); break;
    case 12: id = random_conversion (body); break;
    case 13: id = random_reduction (body); break;
    default: id = random_movement (body); break;
    }
  g_array_append_val (body->values, id);
}

/* Operands of full shape, and of one or no dimension of it. */
static guint
add_operands (Body *body, GantryContext *context, guint32 *outer, guint32 *types)
{
  guint n = (guint) g_rand_int_range (body->rand, 1, 5);

  for (guint i = 0; i < n; i++)
    {
      guint d = (guint) g_rand_int_range (body->rand, 0, (gint) body->rank);

      types[i] = i == 0 || g_rand_boolean (body->rand) ? gantry_context_tensor (context, GANTRY_F32, body->rank, body->dims)
                 : g_rand_boolean (body->rand)         ? gantry_context_tensor (context, GANTRY_F32, 1, &body->dims[d])
                                                       : gantry_context_scalar (context, GANTRY_F32);
      outer[i] = gantry_builder_parameter (body->builder, types[i], NULL);
    }
  return n;
}

static void
begin_body (Body *body, const guint32 *types, guint n)
{
  guint32 ids[8];

  for (guint i = 0; i < n; i++)
    ids[i] = gantry_builder_parameter (body->builder, types[i], NULL);
  for (guint i = 0; i < n; i++)
    {
      guint32 id = ids[i];
      const GantryType *type = gantry_builder_get_type (body->builder, id);
      gint64 map[4] = { 0, 1, 2, 3 };

      if (type->rank == 1 && body->rank > 1)
        for (guint d = 0; d < body->rank; d++)
          if (body->dims[d] == type->dims[0])
            map[0] = d;
      id = gantry_builder_broadcast (body->builder, id, body->rank, body->dims, map);
      g_array_append_val (body->values, id);
    }
}

GantryModule *
random_fusion_module (GantryContext *context, GRand *rand)
{
  return random_fusion_module_with_jitter (context, rand, NULL);
}

GantryModule *
random_fusion_module_with_jitter (GantryContext *context, GRand *rand, GRand *jitter)
{
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "random");
  GantryModule *module;
  g_autoptr (GError) error = NULL;
  Body body = { .builder = builder, .rand = rand, .jitter = jitter, .rank = (guint) g_rand_int_range (rand, 1, 5) };
  GantryAttrList *list = gantry_attr_list_new (context);
  guint32 outer[8], types[8], n, fusion, results[2];
  guint n_results = (guint) g_rand_int_range (rand, 1, 3), steps = (guint) g_rand_int_range (rand, 2, 24);

  for (guint d = 0; d < body.rank; d++)
    body.dims[d] = g_rand_int_range (rand, 1, body.rank == 1 ? 3000 : body.rank == 2 ? 70 : 14);
  body.values = g_array_new (FALSE, FALSE, sizeof (guint32));
  gantry_builder_begin (builder, "main", 0);
  gantry_builder_set_place (builder, 0, gantry_context_location (context, &(GantryLocation){ .line = 1 }));
  n = add_operands (&body, context, outer, types);
  gantry_attr_list_set_function (list, "body", gantry_builder_begin (builder, "body", 0));
  begin_body (&body, types, n);
  for (guint i = 0; i < steps; i++)
    add_random (&body);
  for (guint i = 0; i < n_results; i++)
    results[i] = g_array_index (body.values, guint32, body.values->len - 1 - i);
  gantry_builder_end (builder, results, n_results);
  fusion = gantry_builder_add (builder, GANTRY_OP_FUSION, outer, n, gantry_attr_list_end (list));
  for (guint i = 0; i < n_results; i++)
    results[i] = n_results == 1 ? fusion : gantry_builder_result (builder, fusion, i);
  gantry_builder_end (builder, results, n_results);
  module = gantry_builder_finish (builder, &error);
  g_assert_no_error (error);
  g_array_unref (body.values);
  return module;
}
