/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel of many elementary functions has each once and calls it: the bits are those of kernels that have one each, where it
 * stands in line. */
#include "core/graph/graph.h"
#include "core/kernels/kernels.h"
#include "core/plan/executable.h"
#include "tests/random-seed.h"
#include <math.h>
#include <string.h>

#define N 1003 /* whole vectors, and a rest */
#define LENGTH 20
#define FEW 4

typedef struct
{
  guint op;
  double lo, hi; /* of the first arguments */
  double step;   /* what is added to each result, so that the arguments stay where the function is interesting */
} Case;

static const Case cases[] = {
  { GANTRY_OP_EXPONENTIAL, -2, -0.1, -1 }, { GANTRY_OP_EXPONENTIAL_MINUS_ONE, -2, 0.5, -0.1 },
  { GANTRY_OP_LOG, 0.1, 100, 3 },          { GANTRY_OP_LOG_PLUS_ONE, -0.5, 100, 0.5 },
  { GANTRY_OP_TANH, -3, 3, 0.7 },          { GANTRY_OP_LOGISTIC, -9, 9, -0.3 },
  { GANTRY_OP_ERF, -3, 3, 0.4 },           { GANTRY_OP_SINE, -1e6, 1e6, 0.9 },
  { GANTRY_OP_COSINE, -1e6, 1e6, 200000 }, { GANTRY_OP_TAN, -9, 9, 0.3 },
  { GANTRY_OP_POWER, 0.1, 9, 0.5 },        { GANTRY_OP_ATAN, -9, 9, 0.5 },
};

static guint32
constant (GantryBuilder *builder, GantryContext *context, guint32 type, double value)
{
  float number = (float) value;
  g_autoptr (GBytes) bytes = g_bytes_new (&number, sizeof number);
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryLiteral) literal = gantry_literal_new (gantry_context_type (context, type), bytes, TRUE, &error);

  g_assert_no_error (error);
  return gantry_builder_literal (builder, literal);
}

/* op (x, y), plus the step, and so on @n times. */
static guint32
add_chain (GantryBuilder *builder, GantryContext *context, const Case *c, guint n, guint32 x, guint32 y)
{
  const GantryDim size = N;
  guint32 type = gantry_context_tensor (context, GANTRY_F32, 1, &size);

  for (guint i = 0; i < n; i++)
    {
      x = gantry_builder_add (builder, c->op, (guint32[]){ x, y }, c->op == GANTRY_OP_POWER ? 2 : 1, 0);
      x = gantry_builder_add (builder, GANTRY_OP_ADD, (guint32[]){ x, constant (builder, context, type, c->step) }, 2, 0);
    }
  return x;
}

/* The chain over two arguments, as one fusion or as nodes by themselves. */
static GantryModule *
chain_module (GantryContext *context, const Case *c, guint n, gboolean fused)
{
  g_autoptr (GantryBuilder) builder = gantry_builder_new (context, "chain");
  g_autoptr (GError) error = NULL;
  const GantryDim size = N;
  guint32 type = gantry_context_tensor (context, GANTRY_F32, 1, &size), ids[2], x, y, result;
  GantryModule *module;

  gantry_builder_begin (builder, "main", 0);
  gantry_builder_set_place (builder, 0, gantry_context_location (context, &(GantryLocation){ .line = 1 }));
  ids[0] = gantry_builder_parameter (builder, type, NULL);
  ids[1] = gantry_builder_parameter (builder, type, NULL);
  if (fused)
    {
      GantryAttrList *list = gantry_attr_list_new (context);

      gantry_attr_list_set_function (list, "body", gantry_builder_begin (builder, "body", 0));
      x = gantry_builder_parameter (builder, type, NULL);
      y = gantry_builder_parameter (builder, type, NULL);
      x = add_chain (builder, context, c, n, x, y);
      gantry_builder_end (builder, &x, 1);
      result = gantry_builder_add (builder, GANTRY_OP_FUSION, ids, 2, gantry_attr_list_end (list));
    }
  else
    result = add_chain (builder, context, c, n, ids[0], ids[1]);
  gantry_builder_end (builder, &result, 1);
  module = gantry_builder_finish (builder, &error);
  g_assert_no_error (error);
  return module;
}

static guint
count (const char *text, const char *what)
{
  guint n = 0;

  for (const char *at = strstr (text, what); at != NULL; at = strstr (at + 1, what))
    n++;
  return n;
}

/* Runs the kernels of @module, which follow each other in a chain. */
static void
run_module (GantryModule *module, const GantryKernelSet *set, const float *x, const float *y, float *result)
{
  g_autofree float *now = g_memdup2 (x, N * sizeof *x);

  for (guint32 i = 0; i < set->n_kernels; i++)
    {
      const GantryKernel *kernel = &set->kernels[i];
      const GantryNode *node = gantry_module_node (module, kernel->node);
      void *buffers[3] = { now, (void *) y, result };

      if (node->op == GANTRY_OP_ADD || node->n_operands == 1)
        buffers[node->n_operands] = result; /* the constant is part of the code */
      kernel->func (kernel->state, buffers, 0, kernel->n_tasks);
      memcpy (now, result, N * sizeof *now);
    }
}

static GantryKernelSet *
compile (GantryModule *module, gboolean keep_texts, GantryInstructionSet instructions)
{
  GantryKernelOptions options = GANTRY_KERNEL_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  GantryKernelSet *set;

  options.keep_texts = keep_texts;
  options.instructions = instructions;
  options.use_library = FALSE;
  set = gantry_kernels_compile (module, &options, NULL, &error);
  g_assert_no_error (error);
  return set;
}

static void
check (const Case *c, GantryInstructionSet instructions, const float *x, const float *y)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GantryModule) one = chain_module (context, c, LENGTH, TRUE), each = chain_module (context, c, LENGTH, FALSE);
  g_autoptr (GantryKernelSet) shared = compile (one, FALSE, instructions), inlined = compile (each, FALSE, instructions);
  g_autofree float *got = g_new (float, N);
  g_autofree float *want = g_new (float, N);

  g_assert_cmpuint (shared->n_kernels, ==, 1);
  g_assert_cmpuint (inlined->n_kernels, ==, 2 * LENGTH);
  run_module (one, shared, x, y, got);
  run_module (each, inlined, x, y, want);
  for (guint i = 0; i < N; i++)
    if (memcmp (&got[i], &want[i], sizeof *got) != 0 && !(isnan (got[i]) && isnan (want[i])))
      g_error ("%s of %.9g with %s: %.9g, alone %.9g", gantry_op_info (c->op)->name, (double) x[i], gantry_instruction_set_name (instructions), (double) got[i],
               (double) want[i]);
}

static void
test_same_bits (gconstpointer data)
{
  static const float special[] = { 0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-42f, 1e38f, -1e38f };
  const Case *c = data;
  g_autoptr (GRand) rand = test_rand (1);
  g_autofree float *x = g_new (float, N);
  g_autofree float *y = g_new (float, N);

  for (guint i = 0; i < N; i++)
    {
      /* Vectors with and without arguments that are rare. */
      x[i] = i < N / 2 && i % 7 == 0 ? special[i / 7 % G_N_ELEMENTS (special)] : (float) g_rand_double_range (rand, c->lo, c->hi);
      y[i] = (float) g_rand_double_range (rand, 0.2, 1.5);
    }
  for (GantryInstructionSet set = GANTRY_INSTRUCTIONS_NATIVE; set < GANTRY_N_INSTRUCTION_SETS; set++)
    if (gantry_instruction_set_available (set))
      check (c, set, x, y);
}

/* Few stand in line; of many there is one function for vectors, and one for the numbers that are left over. */
static void
test_texts (void)
{
  g_autoptr (GantryContext) context = gantry_context_new ();
  const Case *c = &cases[4];
  g_autoptr (GantryModule) few = chain_module (context, c, FEW, TRUE), many = chain_module (context, c, LENGTH, TRUE);
  g_autoptr (GantryKernelSet) in_line = compile (few, TRUE, GANTRY_INSTRUCTIONS_SSE4);
  g_autoptr (GantryKernelSet) shared = compile (many, TRUE, GANTRY_INSTRUCTIONS_SSE4);
  const char *ir = shared->kernels[0].llvm_ir;

  g_assert_cmpuint (count (in_line->kernels[0].llvm_ir, "gantry_shared"), ==, 0);
  g_assert_cmpuint (count (ir, "define internal <4 x float> @gantry_shared_tanh_4"), ==, 1);
  g_assert_cmpuint (count (ir, "define internal float @gantry_shared_tanh_1"), ==, 1);
  g_assert_cmpuint (count (ir, "call <4 x float> @gantry_shared_tanh_4"), >=, LENGTH);
  /* What is called lane by lane stands once too, however few there are. */
  {
    g_autoptr (GantryModule) atan = chain_module (context, &cases[G_N_ELEMENTS (cases) - 1], FEW, TRUE);
    g_autoptr (GantryKernelSet) set = compile (atan, TRUE, GANTRY_INSTRUCTIONS_SSE4);

    g_assert_cmpuint (count (set->kernels[0].llvm_ir, "define internal <4 x float> @gantry_shared_atanf_4"), ==, 1);
    g_assert_cmpuint (count (set->kernels[0].llvm_ir, "call <4 x float> @gantry_shared_atanf_4"), >=, FEW);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/kernels/shared/%s", gantry_op_info (cases[i].op)->name);

      g_test_add_data_func (path, &cases[i], test_same_bits);
    }
  g_test_add_func ("/kernels/shared/texts", test_texts);
  return g_test_run ();
}
