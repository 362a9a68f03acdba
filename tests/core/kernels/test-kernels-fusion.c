/* SPDX-License-Identifier: Apache-2.0 */
/* Fusions: random elementwise graphs with movements and reductions among them, several results at
 * once, and the shapes of well-known ones (softmax, normalization). */
#include "tests/core/kernels/kernel-test.h"
#include "tests/core/ir/ir-test.h"

/* Random bodies. Every value has the shape of the fusion; operands may be smaller and are broadcast first. */

typedef struct
{
  GantryBuilder *builder;
  GRand *rand;
  guint rank;
  GantryDim dims[4];
  GArray *values; /* guint32: f32 values of that shape */
} Body;

/* Each drawn into a variable of its own: compilers differ in which argument of a call they evaluate first, and all are to
 * draw the same graphs. */
static guint32
any_value (Body *body)
{
  return g_array_index (body->values, guint32, g_rand_int_range (body->rand, 0, (gint) body->values->len));
}

static guint32
random_unary (Body *body)
{
  /* Bounded ones, so that nothing grows without end along a chain. */
  static const guint ops[] = { GANTRY_OP_ABS, GANTRY_OP_NEGATE, GANTRY_OP_TANH, GANTRY_OP_LOGISTIC, GANTRY_OP_SINE,
                               GANTRY_OP_COSINE, GANTRY_OP_ERF, GANTRY_OP_FLOOR, GANTRY_OP_SIGN };
  guint32 x = any_value (body);

  return gantry_builder_unary (body->builder, ops[g_rand_int_range (body->rand, 0, G_N_ELEMENTS (ops))], x);
}

static guint32
random_binary (Body *body)
{
  static const guint ops[] = { GANTRY_OP_ADD, GANTRY_OP_SUBTRACT, GANTRY_OP_MAXIMUM, GANTRY_OP_MINIMUM };
  guint32 x = any_value (body), y = any_value (body);

  if (g_rand_int_range (body->rand, 0, 4) == 0) /* a product of bounded values */
    return gantry_builder_binary (body->builder, GANTRY_OP_MULTIPLY,
                                  gantry_builder_unary (body->builder, GANTRY_OP_TANH, x),
                                  gantry_builder_unary (body->builder, GANTRY_OP_LOGISTIC, y));
  return gantry_builder_binary (body->builder, ops[g_rand_int_range (body->rand, 0, G_N_ELEMENTS (ops))], x, y);
}

static guint32
random_choice (Body *body)
{
  guint32 right = any_value (body), left = any_value (body);
  guint32 p = gantry_builder_compare (body->builder, g_rand_boolean (body->rand) ? "LT" : "GE", left, right);
  guint32 otherwise = any_value (body), chosen = any_value (body);

  return gantry_builder_select (body->builder, p, chosen, otherwise);
}

static guint32
random_conversion (Body *body)
{
  static const GantryElementType through[] = { GANTRY_F64, GANTRY_I32, GANTRY_I8, GANTRY_I64 };
  GantryElementType element = through[g_rand_int_range (body->rand, 0, G_N_ELEMENTS (through))];
  guint32 x = gantry_builder_convert (body->builder, any_value (body), element);

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
    case 0: case 1: case 2: case 3: case 4: id = random_unary (body); break;
    case 5: case 6: case 7: case 8: case 9: id = random_binary (body); break;
    case 10: case 11: id = random_choice (body); break;
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

static void
random_fusion (GRand *rand)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "random");
  g_autoptr (GantryModule) module = NULL;
  g_autoptr (GError) error = NULL;
  Body body = { .builder = builder, .rand = rand, .rank = (guint) g_rand_int_range (rand, 1, 5) };
  GantryAttrList *list = gantry_attr_list_new (context);
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;
  /* A step as floor or a comparison may jump for one unit in the last place: those results are not compared finely, and
   * sine of a rounded argument is bounded anyway. */
  KernelTolerance tolerance = { .relative = 2e-5, .absolute = 2e-5 };
  guint32 outer[8], types[8], n, fusion, results[2];
  guint n_results = (guint) g_rand_int_range (rand, 1, 3), steps = (guint) g_rand_int_range (rand, 2, 24);

  for (guint d = 0; d < body.rank; d++)
    body.dims[d] = g_rand_int_range (rand, 1, body.rank == 1 ? 3000 : body.rank == 2 ? 70 : 14);
  body.values = g_array_new (FALSE, FALSE, sizeof (guint32));
  options.n_threads = 1;
  gantry_builder_begin (builder, "main", 0);
  gantry_builder_set_place (builder, 0, gantry_context_location (context, &(GantryLocation) { .line = 1 }));
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
  kernel_test_module (module, NULL, &options, &tolerance, rand);
  g_array_unref (body.values);
}

/* Always the same graphs, unless asked for others: where a floor or a comparison meets a difference in the last place,
 * results jump, which is no fault. */
static void
test_random (void)
{
  const char *asked = g_getenv ("GANTRY_TEST_SEED");
  guint32 seed = asked != NULL ? (guint32) g_ascii_strtoull (asked, NULL, 10) : 1;

  g_test_message ("seed %u", seed);
  for (guint i = 0; i < 500; i++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed + i);

      random_fusion (rand);
    }
}

/* Known ones, as text */

static void
test_text (gconstpointer data)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, data, -1, "case", &error);
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) g_test_rand_int ());
  KernelTolerance tolerance = { .relative = 1e-5, .absolute = 1e-5 };
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;

  g_assert_no_error (error);
  options.n_threads = 1;
  kernel_test_module (module, NULL, &options, &tolerance, rand);
}

static const char softmax[] =
  "module \"m\" {\n"
  "  func @main #1 (%1: f32[37,101]) -> (%2) {\n"
  "    %2 = fusion(%1) {body = @body #2}: f32[37,101]\n"
  "  }\n"
  "  func @body #2 (%3: f32[37,101]) -> (%9) {\n"
  "    %4 = reduce(%3) {kind = \"max\", dimensions = [1]}: f32[37]\n"
  "    %5 = broadcast_in_dim(%4) {shape = [37, 101], broadcast_dimensions = [0]}: f32[37,101]\n"
  "    %6 = subtract(%3, %5): f32[37,101]\n"
  "    %7 = exponential(%6): f32[37,101]\n"
  "    %8 = reduce(%7) {kind = \"add\", dimensions = [1]}: f32[37]\n"
  "    %10 = broadcast_in_dim(%8) {shape = [37, 101], broadcast_dimensions = [0]}: f32[37,101]\n"
  "    %9 = divide(%7, %10): f32[37,101]\n"
  "  }\n"
  "}\n";

/* Over the first axis: columns in vectors, rows in the loop. */
static const char columns[] =
  "module \"m\" {\n"
  "  func @main #1 (%1: f32[64,45], %11: f32[45]) -> (%2) {\n"
  "    %2 = fusion(%1, %11) {body = @body #2}: f32[64,45]\n"
  "  }\n"
  "  func @body #2 (%3: f32[64,45], %12: f32[45]) -> (%9) {\n"
  "    %4 = reduce(%3) {kind = \"add\", dimensions = [0]}: f32[45]\n"
  "    %5 = multiply(%4, %12): f32[45]\n"
  "    %6 = broadcast_in_dim(%5) {shape = [64, 45], broadcast_dimensions = [1]}: f32[64,45]\n"
  "    %9 = subtract(%3, %6): f32[64,45]\n"
  "  }\n"
  "}\n";

/* Results of different shapes from one body. */
static const char two_shapes[] =
  "module \"m\" {\n"
  "  func @main #1 (%1: f32[20,33]) -> (%10, %11) {\n"
  "    %2 = fusion(%1) {body = @body #2}: (f32[20,33], f32[20])\n"
  "    %10 = result(%2) {index = 0}: f32[20,33]\n"
  "    %11 = result(%2) {index = 1}: f32[20]\n"
  "  }\n"
  "  func @body #2 (%3: f32[20,33]) -> (%4, %5) {\n"
  "    %4 = tanh(%3): f32[20,33]\n"
  "    %5 = reduce(%4) {kind = \"add\", dimensions = [1]}: f32[20]\n"
  "  }\n"
  "}\n";

/* Heads split: reshape and transposition between elementwise operations. */
static const char heads[] =
  "module \"m\" {\n"
  "  func @main #1 (%1: f32[6,40]) -> (%2) {\n"
  "    %2 = fusion(%1) {body = @body #2}: f32[5,6,8]\n"
  "  }\n"
  "  func @body #2 (%3: f32[6,40]) -> (%6) {\n"
  "    %4 = reshape(%3) {shape = [6, 5, 8]}: f32[6,5,8]\n"
  "    %5 = transpose(%4) {permutation = [1, 0, 2]}: f32[5,6,8]\n"
  "    %6 = exponential(%5): f32[5,6,8]\n"
  "  }\n"
  "}\n";

/* A reshape that cuts across rows. */
static const char crooked[] =
  "module \"m\" {\n"
  "  func @main #1 (%1: f32[10,21], %8: f32[14]) -> (%2) {\n"
  "    %2 = fusion(%1, %8) {body = @body #2}: f32[15,14]\n"
  "  }\n"
  "  func @body #2 (%3: f32[10,21], %9: f32[14]) -> (%6) {\n"
  "    %4 = transpose(%3) {permutation = [1, 0]}: f32[21,10]\n"
  "    %5 = reshape(%4) {shape = [15, 14]}: f32[15,14]\n"
  "    %7 = broadcast_in_dim(%9) {shape = [15, 14], broadcast_dimensions = [1]}: f32[15,14]\n"
  "    %6 = add(%5, %7): f32[15,14]\n"
  "  }\n"
  "}\n";

/* A triangle: comparisons of one coordinate with another stay vectors of truth values. */
static const char triangle[] =
  "module \"m\" {\n"
  "  func @main #1 (%1: f32[33,41]) -> (%2) {\n"
  "    %2 = fusion(%1) {body = @body #2}: f32[33,41]\n"
  "  }\n"
  "  func @body #2 (%3: f32[33,41]) -> (%8) {\n"
  "    %4 = iota() {to = type i32[33,41], iota_dimension = 0}: i32[33,41]\n"
  "    %5 = iota() {to = type i32[33,41], iota_dimension = 1}: i32[33,41]\n"
  "    %6 = compare(%4, %5) {comparison_direction = \"GE\"}: bool[33,41]\n"
  "    %7 = negate(%3): f32[33,41]\n"
  "    %8 = select(%6, %3, %7): f32[33,41]\n"
  "  }\n"
  "}\n";

/* Layouts: a small network whose values between convolutions may be blocked. */
static const char network[] =
  "module \"m\" {\n"
  "  func @main #1 (%1: f32[2,3,30,30], %2: f32[16,3,3,3], %3: f32[16], %4: f32[24,16,3,3], %5: f32[16,24,1,1],"
  " %6: f32[16,1,3,3]) -> (%20, %21) {\n"
  "    %7 = convolution(%1, %2, %3) {window_strides = [2, 2], padding = [1, 1, 1, 1], post = \"relu\"}: f32[2,16,15,15]\n"
  "    %8 = reduce_window(%7) {kind = \"max\", window_dimensions = [1, 1, 3, 3], window_strides = [1, 1, 2, 2],"
  " padding = [0, 0, 0, 0, 1, 1, 1, 1]}: f32[2,16,8,8]\n"
  "    %9 = convolution(%8, %4) {padding = [1, 1, 1, 1]}: f32[2,24,8,8]\n"
  "    %10 = tanh(%9): f32[2,24,8,8]\n"
  "    %11 = convolution(%10, %5): f32[2,16,8,8]\n"
  "    %12 = add(%11, %8): f32[2,16,8,8]\n"
  "    %13 = convolution(%12, %6) {padding = [1, 1, 1, 1], feature_group_count = 16}: f32[2,16,8,8]\n"
  "    %14 = concatenate(%13, %10, %12) {dimension = 1}: f32[2,56,8,8]\n"
  "    %15 = transpose(%14) {permutation = [0, 2, 3, 1]}: f32[2,8,8,56]\n"
  "    %16 = reduce(%14) {kind = \"add\", dimensions = [2, 3]}: f32[2,56]\n"
  "    %20 = negate(%16): f32[2,56]\n"
  "    %21 = reshape(%15) {shape = [2, 3584]}: f32[2,3584]\n"
  "  }\n"
  "}\n";

static void
test_layouts (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule) module = gantry_module_from_text (context, network, -1, "case", &error);
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) g_test_rand_int ());
  KernelTolerance tolerance = { .relative = 1e-5, .absolute = 2e-3 };
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;

  g_assert_no_error (error);
  kernel_test_whole (module, &options, &tolerance, rand);
  options.free_layouts = FALSE;
  kernel_test_whole (module, &options, &tolerance, rand);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/kernels/fusion/softmax", softmax, test_text);
  g_test_add_data_func ("/kernels/fusion/columns", columns, test_text);
  g_test_add_data_func ("/kernels/fusion/two-shapes", two_shapes, test_text);
  g_test_add_data_func ("/kernels/fusion/heads", heads, test_text);
  g_test_add_data_func ("/kernels/fusion/crooked", crooked, test_text);
  g_test_add_data_func ("/kernels/fusion/triangle", triangle, test_text);
  g_test_add_func ("/kernels/fusion/random", test_random);
  g_test_add_func ("/kernels/layouts", test_layouts);
  return g_test_run ();
}
