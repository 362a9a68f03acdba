/* SPDX-License-Identifier: Apache-2.0 */
/* roll: equal layers become a scan, and unroll gives the program back. Programs are made by the builder: layers as those
 * of a small transformer, with one thing or another that has to be kept apart. */
#include "core/graph/verifier.h"
#include "tests/core/passes/pass-test.h"
#include "tests/random-seed.h"
#include <string.h>

#define WIDTH 4
#define ROWS 3

typedef enum
{
  EQUAL = 0,
  OTHER_ATTRIBUTE = 1 << 0, /* layer 2 of 6 has another activation constant axis */
  COLLECTED = 1 << 1,       /* the middle of every layer is read at the end */
  LAST_READ = 1 << 2,       /* the middle of the last layer is */
  SHARED_WEIGHTS = 1 << 3,  /* one matrix for all layers */
  CONSTANT_WEIGHTS = 1 << 4,
  SKIPPING = 1 << 5,  /* each layer reads the one before the last as well */
  NO_PLACES = 1 << 6, /* without scopes and names */
  LONG_TAIL = 1 << 7, /* what comes before and after looks like a part of a layer */
} Features;

typedef struct
{
  GantryBuilder *b;
  guint32 mask;
  guint32 weights[64][3];
  Features features;
} Net;

static void
place (Net *net, guint layer, const char *part, const char *name)
{
  GantryContext *context = gantry_builder_context (net->b);
  g_autofree char *scope = g_strdup_printf ("net/encoder/layer.%u/%s", layer, part);
  g_autofree char *label = g_strdup_printf ("/layer.%u/%s/%s", layer, part, name);

  GantryLocation call = { .file = 1, .line = 90, .function = gantry_context_intern (context, "main") };
  GantryLocation loop = { .file = 1, .line = 80, .parent = gantry_context_location (context, &call) };
  GantryLocation own = {
    .file = 1, .line = layer + 1, .function = gantry_context_intern (context, "layer"), .step = GANTRY_STEP_ITERATION, .number = layer + 1
  };

  if ((net->features & NO_PLACES) != 0)
    return;
  own.parent = gantry_context_location (context, &loop);
  gantry_builder_set_place (net->b, gantry_context_scope (context, scope), gantry_context_location (context, &own));
  gantry_builder_set_name (net->b, gantry_context_intern (context, label));
}

static guint32
dot (Net *net, guint32 x, guint32 y, gint64 axis)
{
  const gint64 one = 1;
  GantryAttrList *attrs = gantry_attr_list_new (gantry_builder_context (net->b));
  guint32 operands[2] = { x, y };

  gantry_attr_list_set_ints (attrs, "lhs_contracting_dimensions", &one, 1);
  gantry_attr_list_set_ints (attrs, "rhs_contracting_dimensions", &axis, 1);
  return gantry_builder_add (net->b, GANTRY_OP_DOT_GENERAL, operands, 2, gantry_attr_list_end (attrs));
}

static guint32
repeat (Net *net, guint32 x, gint64 axis)
{
  const GantryDim dims[2] = { ROWS, WIDTH };

  return gantry_builder_broadcast (net->b, x, 2, dims, &axis);
}

/* Two products with what stands between them, and a normalization; @middle: (out): the activation. */
static guint32
layer (Net *net, guint i, guint32 x, guint32 *middle)
{
  const GantryDim dims[2] = { ROWS, WIDTH };
  const gint64 axis = 1;
  guint32 y, mean;

  place (net, i, "mlp", "up");
  y = dot (net, x, net->weights[i][0], (net->features & OTHER_ATTRIBUTE) != 0 && i == 2 ? 1 : 0);
  place (net, i, "mlp", "bias");
  y = gantry_builder_binary (net->b, GANTRY_OP_ADD, y, repeat (net, net->weights[i][1], 1));
  y = gantry_builder_binary (net->b, GANTRY_OP_MULTIPLY, y, net->mask);
  place (net, i, "mlp", "activation");
  *middle = gantry_builder_unary (net->b, GANTRY_OP_TANH, y);
  place (net, i, "mlp", "down");
  y = dot (net, *middle, net->weights[i][2], 0);
  y = gantry_builder_binary (net->b, GANTRY_OP_ADD, y, x);
  place (net, i, "norm", "mean");
  mean = gantry_builder_reduce (net->b, "add", y, &axis, 1);
  mean = gantry_builder_binary (net->b, GANTRY_OP_MULTIPLY, mean, gantry_builder_splat (net->b, GANTRY_F32, 1.0 / WIDTH, 1, dims));
  place (net, i, "norm", "out");
  return gantry_builder_binary (net->b, GANTRY_OP_SUBTRACT, y, repeat (net, mean, 0));
}

static guint32
weight (Net *net, GRand *rand, guint rank)
{
  const GantryDim dims[2] = { WIDTH, WIDTH };
  GantryContext *context = gantry_builder_context (net->b);
  guint32 type = gantry_context_tensor (context, GANTRY_F32, rank, dims);
  g_autoptr (GantryLiteral) literal = NULL;
  guint8 *data;

  if ((net->features & CONSTANT_WEIGHTS) == 0)
    return gantry_builder_parameter (net->b, type, "w");
  literal = gantry_literal_new_zeroed (gantry_context_type (context, type), &data);
  for (gint64 i = 0; i < gantry_type_elements (literal->type); i++)
    gantry_element_write_double (GANTRY_F32, data + 4 * i, g_rand_double_range (rand, -1, 1));
  return gantry_builder_literal (net->b, literal);
}

static GantryModule *
make_net (GantryContext *context, guint n_layers, Features features)
{
  g_autoptr (GantryBuilder) b = gantry_builder_new (context, "net");
  g_autoptr (GRand) rand = test_rand (7);
  g_autoptr (GError) error = NULL;
  Net net = { .b = b, .features = features };
  const GantryDim dims[2] = { ROWS, WIDTH };
  guint32 x, before = 0, middle = 0, results[3], sum = 0;
  GantryModule *module;

  gantry_builder_set_place (b, 0, gantry_context_location (context, &(GantryLocation){ .file = 1, .line = 1 }));
  gantry_builder_begin (b, "main", 0);
  x = gantry_builder_parameter (b, gantry_context_tensor (context, GANTRY_F32, 2, dims), "x");
  net.mask = gantry_builder_parameter (b, gantry_context_tensor (context, GANTRY_F32, 2, dims), "mask");
  for (guint i = 0; i < n_layers; i++)
    for (guint k = 0; k < 3; k++)
      net.weights[i][k] = (features & SHARED_WEIGHTS) != 0 && i > 0 && k == 0 ? net.weights[0][0] : weight (&net, rand, k == 1 ? 1 : 2);
  net.mask = gantry_builder_unary (b, GANTRY_OP_LOGISTIC, net.mask);
  if ((features & LONG_TAIL) != 0)
    x = gantry_builder_binary (b, GANTRY_OP_SUBTRACT, x, repeat (&net, gantry_builder_reduce (b, "add", x, (const gint64[]){ 1 }, 1), 0));
  for (guint i = 0; i < n_layers; i++)
    {
      guint32 next = layer (&net, i, x, &middle);

      if ((features & SKIPPING) != 0 && i > 0)
        next = gantry_builder_binary (b, GANTRY_OP_MAXIMUM, next, before);
      before = x;
      x = next;
      if ((features & COLLECTED) != 0)
        sum = sum == 0 ? middle : sum;
      if ((features & COLLECTED) != 0)
        results[2] = middle;
    }
  results[0] = x;
  results[1] = (features & COLLECTED) != 0 ? gantry_builder_binary (b, GANTRY_OP_MULTIPLY, sum, results[2]) : x;
  if ((features & LAST_READ) != 0)
    results[1] = gantry_builder_unary (b, GANTRY_OP_NEGATE, middle);
  if ((features & LONG_TAIL) != 0)
    results[0] = dot (&net, x, net.weights[0][0], 0);
  gantry_builder_end (b, results, 2);
  module = gantry_builder_finish (b, &error);
  g_assert_no_error (error);
  gantry_verify (module, NULL, &error);
  g_assert_no_error (error);
  return module;
}

static GantryModule *
run (const GantryPass *pass, GantryModule *module)
{
  const GantryPassOptions options = GANTRY_PASS_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  GantryModule *next = pass->run (module, &options, NULL, &error);

  g_assert_no_error (error);
  gantry_verify (next, next != module ? module : NULL, &error);
  g_assert_no_error (error);
  return next;
}

/* simplify, cse, dce */
static GantryModule *
tidy (GantryModule *module)
{
  g_autoptr (GantryModule) simple = run (&gantry_pass_simplify, module);
  g_autoptr (GantryModule) unique = run (&gantry_pass_cse, simple);

  return run (&gantry_pass_dce, unique);
}

/* The same nodes in the same order, constants apart: operations, types, attributes, scopes, names, phases and wiring. */
static void
assert_same_graph (const GantryModule *a, const GantryModule *b)
{
  g_autoptr (GHashTable) map = g_hash_table_new (NULL, NULL);
  guint32 i = 0, j = 0;

  g_assert_cmpuint (a->n_nodes, ==, b->n_nodes);
  for (; i < a->n_nodes; i++, j++)
    {
      const GantryNode *x, *y;

      while (i < a->n_nodes && a->nodes[i].op == GANTRY_OP_CONSTANT)
        i++;
      while (j < b->n_nodes && b->nodes[j].op == GANTRY_OP_CONSTANT)
        j++;
      g_assert_cmpint (i == a->n_nodes, ==, j == b->n_nodes);
      if (i == a->n_nodes)
        break;
      x = &a->nodes[i];
      y = &b->nodes[j];
      g_assert_cmpstr (gantry_node_op_name (a, x), ==, gantry_node_op_name (b, y));
      g_assert_cmpuint (x->type, ==, y->type);
      g_assert_cmpuint (x->attrs, ==, y->attrs);
      g_assert_cmpuint (x->phase, ==, y->phase);
      g_assert_cmpuint (x->location, ==, y->location);
      g_assert_cmpstr (gantry_context_scope_path (a->context, x->scope), ==, gantry_context_scope_path (b->context, y->scope));
      g_assert_cmpstr (gantry_context_string (a->context, x->name), ==, gantry_context_string (b->context, y->name));
      for (guint k = 0; k < x->n_operands; k++)
        {
          const GantryNode *u = gantry_node_operand (a, x, k), *v = gantry_node_operand (b, y, k);

          if (u->op == GANTRY_OP_CONSTANT)
            g_assert_cmpuint (u->attrs, ==, v->attrs);
          else
            g_assert_true (g_hash_table_lookup (map, u) == v);
        }
      g_hash_table_insert (map, (gpointer) x, (gpointer) y);
    }
}

static const GantryNode *
only_scan (const GantryModule *module, GantryScan *scan)
{
  const GantryNode *found = NULL;

  for (guint32 i = 0; i < module->n_nodes; i++)
    if (module->nodes[i].op == GANTRY_OP_SCAN)
      {
        g_assert_null (found);
        found = &module->nodes[i];
      }
  g_assert_nonnull (found);
  gantry_scan_of (module, found, scan);
  return found;
}

/* Rolls, checks the value, unrolls, and holds the result to be the program itself. */
static void
check_there_and_back (GantryModule *module, GantryModule *rolled)
{
  g_autoptr (GantryModule) back = run (&gantry_pass_unroll, rolled);
  g_autoptr (GantryModule) wanted = tidy (module), got = tidy (back);

  pass_check_same (module, rolled, 1, 1e-5);
  pass_check_same (module, back, 1, 1e-5);
  assert_same_graph (wanted, got);
  /* Nothing but copies of constants is left to tidy up. */
  g_assert_cmpuint (pass_count (back, GANTRY_OP_CONCATENATE) + pass_count (back, GANTRY_OP_SLICE), ==, 0);
}

static const struct
{
  const char *name;
  guint n_layers;
  Features features;
  guint length, n_carries, n_xs, n_captures, n_ys;
} acts[] = {
  { "equal", 12, EQUAL, 12, 1, 3, 1, 0 },
  { "three", 3, EQUAL, 3, 1, 3, 1, 0 },
  { "constant-weights", 5, CONSTANT_WEIGHTS, 5, 1, 3, 1, 0 },
  { "shared-weights", 5, SHARED_WEIGHTS, 5, 1, 2, 2, 0 },
  { "collected", 6, COLLECTED, 6, 1, 3, 1, 1 },
  { "last-read", 6, LAST_READ, 6, 1, 3, 1, 1 },
  /* Of layers 0, 1, other, 3, 4, 5 the last three are left. */
  { "other-attribute", 6, OTHER_ATTRIBUTE, 3, 1, 3, 1, 0 },
  { "no-places", 4, NO_PLACES, 4, 1, 3, 1, 0 },
  { "like-a-part", 5, LONG_TAIL, 5, 1, 3, 1, 0 },
};

static void
test_acts (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_net (context, acts[i].n_layers, acts[i].features);
  g_autoptr (GantryModule) rolled = run (&gantry_pass_roll, module);
  GantryScan scan;
  const GantryNode *node = only_scan (rolled, &scan);

  g_assert_cmpint (scan.length, ==, acts[i].length);
  g_assert_cmpuint (scan.n_carries, ==, acts[i].n_carries);
  g_assert_cmpuint (scan.n_xs, ==, acts[i].n_xs);
  g_assert_cmpuint (scan.n_captures, ==, acts[i].n_captures);
  g_assert_cmpuint (scan.n_ys, ==, acts[i].n_ys);
  if (acts[i].features != NO_PLACES)
    g_assert_cmpstr (gantry_context_scope_path (context, node->scope), ==, "net/encoder");
  check_there_and_back (module, rolled);
}

/* The blocks are the layers: they begin and end where one value crosses. */
static void
test_boundaries (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_net (context, 5, LONG_TAIL);
  g_autoptr (GantryModule) rolled = run (&gantry_pass_roll, module);
  const GantryFunction *body = &rolled->functions[1];
  const GantryNode *first = NULL;

  for (guint32 i = 0; i < body->n_nodes && first == NULL; i++)
    if (rolled->nodes[body->first_node + i].op == GANTRY_OP_DOT_GENERAL)
      first = &rolled->nodes[body->first_node + i];
  g_assert_cmpstr (gantry_context_string (context, first->name), ==, "/layer.0/mlp/up");
  g_assert_cmpuint (first->n_origins, ==, 5);
}

static void
test_leaves (void)
{
  static const struct
  {
    guint n_layers;
    Features features;
  } cases[] = { { 2, EQUAL }, { 4, OTHER_ATTRIBUTE }, { 5, SKIPPING } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GantryModule) module = make_net (context, cases[i].n_layers, cases[i].features);
      g_autoptr (GantryModule) after = run (&gantry_pass_roll, module);

      g_assert_true (after == module);
    }
}

/* Other passes work on the rolled program, its names and scopes survive them. */
static void
test_between (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) module = make_net (context, 6, EQUAL);
  g_autoptr (GantryModule) rolled = run (&gantry_pass_roll, module), tidied = tidy (rolled);
  g_autoptr (GantryModule) back = run (&gantry_pass_unroll, tidied);
  g_autoptr (GantryModule) wanted = tidy (module), got = tidy (back);

  assert_same_graph (wanted, got);
}

/* Random runs of random layers between other things: whatever roll does, the program stays what it was. */
static void
test_random (void)
{
  guint n_rolled = 0;
  guint32 base = test_seed (0);

  for (guint32 seed = 1; seed <= 60; seed++)
    {
      g_autoptr (GantryContext) context = gantry_context_new ();
      g_autoptr (GRand) rand = g_rand_new_with_seed (base + seed);
      g_autoptr (GantryModule) module = make_net (context, (guint) g_rand_int_range (rand, 1, 9), (Features) g_rand_int_range (rand, 0, 256));
      g_autoptr (GantryModule) rolled = run (&gantry_pass_roll, module);

      if (rolled == module)
        continue;
      n_rolled++;
      check_there_and_back (module, rolled);
    }
  g_assert_cmpuint (n_rolled, >, 10);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (acts); i++)
    {
      g_autofree char *path = g_strconcat ("/passes/roll/acts/", acts[i].name, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_acts);
    }
  g_test_add_func ("/passes/roll/boundaries", test_boundaries);
  g_test_add_func ("/passes/roll/leaves", test_leaves);
  g_test_add_func ("/passes/roll/between", test_between);
  g_test_add_func ("/passes/roll/random", test_random);
  return g_test_run ();
}
