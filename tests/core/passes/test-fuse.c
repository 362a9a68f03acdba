/* SPDX-License-Identifier: Apache-2.0 */
/* fuse, epilogue and legalize: where they must act and where they must not. */
#include "core/graph/dialect.h"
#include "core/graph/verifier.h"
#include "tests/core/passes/pass-test.h"
#include <string.h>

/* Fuse */

static void
test_fuse_acts (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_fuse, NULL,
                                          PROGRAM ("%1: f32[4,8], %2: f32[8]", "%6",
                                                   "%3 = broadcast_in_dim(%2) {shape = [4,8], broadcast_dimensions = [1]}: f32[4,8] "
                                                   "%4 = add(%1, %3): f32[4,8] %5 = tanh(%4): f32[4,8] "
                                                   "%6 = reduce(%5) {kind = \"add\", dimensions = [1]}: f32[4]"));
  const GantryNode *fusion = pass_result (c->after, 0);

  g_assert_cmpint (fusion->op, ==, GANTRY_OP_FUSION);
  g_assert_cmpuint (gantry_module_entry (c->after)->n_nodes, ==, 3);
  g_assert_cmpuint (fusion->n_operands, ==, 2);
  g_assert_cmpuint (fusion->n_origins, ==, 4);
  /* The nodes themselves now stand in the body, under their own ids. */
  g_assert_cmpuint (c->after->n_functions, ==, 2);
  g_assert_true (gantry_module_function_of (c->after, gantry_module_node (c->after, 6)) == &c->after->functions[1]);
}

/* The node of the entry that was made of node @id, NULL when there is none. */
static const GantryNode *
made_of (const GantryModule *module, guint32 id)
{
  const GantryFunction *entry = gantry_module_entry (module);

  for (guint32 i = 0; i < entry->n_nodes; i++)
    {
      const GantryNode *node = &module->nodes[entry->first_node + i];

      for (guint j = 0; j < node->n_origins; j++)
        if (module->origins[node->origins + j] == id)
          return node;
    }
  return NULL;
}

static const GantryPassOptions rows_options = { .fuse_rows = TRUE, .fold_bytes = 1 << 20 };

#define SOFTMAX(shape, rows) \
  "%2 = reduce(%1) {kind = \"max\", dimensions = [1]}: f32[" rows "] " \
  "%3 = broadcast_in_dim(%2) {shape = [" shape "], broadcast_dimensions = [0]}: f32[" shape "] " \
  "%4 = subtract(%1, %3): f32[" shape "] %5 = exponential(%4): f32[" shape "] " \
  "%6 = reduce(%5) {kind = \"add\", dimensions = [1]}: f32[" rows "] " \
  "%7 = broadcast_in_dim(%6) {shape = [" shape "], broadcast_dimensions = [0]}: f32[" shape "] " \
  "%8 = divide(%5, %7): f32[" shape "]"

/* A reduction whose value only its own row needs stands within the group. */
static void
test_fuse_rows (void)
{
  g_autoptr (PassCase) softmax = pass_case_new (&gantry_pass_fuse, &rows_options, PROGRAM ("%1: f32[64,16]", "%8", SOFTMAX ("64,16", "64")));
  /* With what keepdims makes of a reduction, and arithmetic on the rows' numbers. */
  g_autoptr (PassCase) norm = pass_case_new (&gantry_pass_fuse, &rows_options,
                                             PROGRAM ("%1: f32[8,8,16], %2: f32[16]", "%12",
                                                      "%3 = multiply(%1, %1): f32[8,8,16] %4 = reduce(%3) {kind = \"add\", dimensions = [2]}: f32[8,8] "
                                                      "%5 = reshape(%4) {shape = [8,8,1]}: f32[8,8,1] %6 = sqrt(%5): f32[8,8,1] %7 = negate(%6): f32[8,8,1] "
                                                      "%8 = broadcast_in_dim(%7) {shape = [8,8,16], broadcast_dimensions = [0,1,2]}: f32[8,8,16] "
                                                      "%9 = divide(%1, %8): f32[8,8,16] "
                                                      "%10 = broadcast_in_dim(%2) {shape = [8,8,16], broadcast_dimensions = [2]}: f32[8,8,16] "
                                                      "%12 = multiply(%9, %10): f32[8,8,16]"));

  g_autoptr (PassCase) unasked = pass_case_new (&gantry_pass_fuse, NULL, PROGRAM ("%1: f32[64,16]", "%8", SOFTMAX ("64,16", "64")));

  g_assert_cmpint (pass_result (unasked->after, 0)->n_operands, ==, 2);
  g_assert_cmpuint (gantry_module_entry (softmax->after)->n_nodes, ==, 2);
  g_assert_cmpint (pass_result (softmax->after, 0)->op, ==, GANTRY_OP_FUSION);
  g_assert_cmpuint (gantry_module_entry (norm->after)->n_nodes, ==, 3);
  g_assert_cmpint (pass_result (norm->after, 0)->op, ==, GANTRY_OP_FUSION);
}

/* Few rows, outer dimensions, a row's number that is a result: the reduction keeps its own kernel. */
static void
test_fuse_no_rows (void)
{
  g_autoptr (PassCase) few = pass_case_new (&gantry_pass_fuse, &rows_options, PROGRAM ("%1: f32[4,16]", "%8", SOFTMAX ("4,16", "4")));
  g_autoptr (PassCase) wanted = pass_case_new (&gantry_pass_fuse, &rows_options, PROGRAM ("%1: f32[64,16]", "%8, %2", SOFTMAX ("64,16", "64")));
  g_autoptr (PassCase) outer = pass_case_new (&gantry_pass_fuse, &rows_options,
                                              PROGRAM ("%1: f32[16,64]", "%4",
                                                       "%2 = reduce(%1) {kind = \"max\", dimensions = [0]}: f32[64] "
                                                       "%3 = broadcast_in_dim(%2) {shape = [16,64], broadcast_dimensions = [1]}: f32[16,64] "
                                                       "%4 = subtract(%1, %3): f32[16,64]"));

  g_assert_cmpuint (pass_count (few->after, GANTRY_OP_REDUCE), ==, pass_count (few->after, GANTRY_OP_FUSION));
  g_assert_cmpint (pass_result (wanted->after, 1)->op, ==, GANTRY_OP_REDUCE);
  g_assert_cmpint (gantry_module_entry (outer->after)->n_nodes, ==, 3);
}

/* A value with users in two groups (or outside of any) is still a value of the entry afterwards. */
static void
test_fuse_keeps_shared (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_fuse, NULL,
                                          PROGRAM ("%1: f32[4,4]", "%5, %7",
                                                   "%2 = tanh(%1): f32[4,4] %3 = negate(%2): f32[4,4] "
                                                   "%4 = dot_general(%3, %3) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[4,4] "
                                                   "%5 = add(%4, %3): f32[4,4] %6 = abs(%3): f32[4,4] %7 = sqrt(%6): f32[4,4]"));
  const GantryNode *value = made_of (c->after, 3);

  g_assert_nonnull (value);
  g_assert_true (value == made_of (c->after, 2));
  g_assert_true (value != made_of (c->after, 7));
  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_FUSION), ==, 2);
}

static const PassText not_fused[] = {
  { "one-operation", PROGRAM ("%1: f32[4]", "%2", "%2 = tanh(%1): f32[4]") },
  { "results", PROGRAM ("%1: f32[4]", "%2, %3", "%2 = tanh(%1): f32[4] %3 = negate(%2): f32[4]") },
  { "contraction", PROGRAM ("%1: f32[2,2]", "%3",
                            "%2 = tanh(%1): f32[2,2] %3 = dot_general(%2, %2) {lhs_contracting_dimensions = [1], "
                            "rhs_contracting_dimensions = [0]}: f32[2,2]") },
  { "around-a-contraction", PROGRAM ("%1: f32[2,2]", "%4",
                                     "%2 = tanh(%1): f32[2,2] %3 = dot_general(%2, %2) {lhs_contracting_dimensions = [1], "
                                     "rhs_contracting_dimensions = [0]}: f32[2,2] %4 = add(%2, %3): f32[2,2]") },
  { "barrier", PROGRAM ("%1: f32[4]", "%4",
                        "%2 = tanh(%1): f32[4] %3 = optimization_barrier(%2): f32[4] "
                        "%4 = negate(%3): f32[4]") },
};

/* A broadcast constant is copied into each group that reads it, and is no operand of either. */
static void
test_fuse_constants (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_fuse, NULL,
                                          PROGRAM ("%1: f32[4,4], %2: f32[4]", "%5, %7",
                                                   "%3 = constant() {value = splat<f32[]: 0.5>}: f32[] "
                                                   "%4 = broadcast_in_dim(%3) {shape = [4,4], broadcast_dimensions = ints[]}: f32[4,4] "
                                                   "%5 = multiply(%1, %4): f32[4,4] %6 = add(%1, %4): f32[4,4] %7 = tanh(%6): f32[4,4]"));

  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_FUSION), ==, 2);
  for (guint i = 0; i < 2; i++)
    g_assert_cmpuint (pass_result (c->after, i)->n_operands, ==, 1);
}

/* A constant of one number alike. Where something else reads it too, it stays as well. */
static void
test_fuse_splats (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_fuse, NULL,
                                          PROGRAM ("%1: f32[4,4], %2: f32[4]", "%4, %6, %7",
                                                   "%3 = constant() {value = splat<f32[4,4]: 0.5>}: f32[4,4] "
                                                   "%4 = multiply(%1, %3): f32[4,4] %5 = add(%1, %3): f32[4,4] %6 = tanh(%5): f32[4,4] "
                                                   "%7 = dot_general(%1, %3) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[4,4]"));

  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_FUSION), ==, 2);
  for (guint i = 0; i < 2; i++)
    g_assert_cmpuint (pass_result (c->after, i)->n_operands, ==, 1);
  g_assert_cmpint (gantry_node_operand (c->after, pass_result (c->after, 2), 1)->op, ==, GANTRY_OP_CONSTANT);
}

/* A chain that reads more values than one kernel takes becomes several, each within the bound; none of it is left alone. */
static void
test_fuse_many_inputs (void)
{
  g_autoptr (GString) parameters = g_string_new ("%1: f32[4]"), body = g_string_new ("%200 = add(%1, %2): f32[4] ");
  g_autofree char *text = NULL;
  g_autoptr (PassCase) c = NULL;

  for (guint i = 2; i <= 80; i++)
    g_string_append_printf (parameters, ", %%%u: f32[4]", i);
  for (guint i = 3; i <= 80; i++)
    g_string_append_printf (body, "%%%u = add(%%%u, %%%u): f32[4] ", 198 + i, 197 + i, i);
  text = g_strdup_printf ("module \"test\" { func @main #1 (%s) -> (%%278) { %s } }", parameters->str, body->str);
  c = pass_case_new (&gantry_pass_fuse, NULL, text);
  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_FUSION), >=, 4);
  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_FUSION), <=, 8);
  for (guint32 i = 0; i < gantry_module_entry (c->after)->n_nodes; i++)
    {
      const GantryNode *node = &c->after->nodes[gantry_module_entry (c->after)->first_node + i];

      g_assert_cmpint (node->op, !=, GANTRY_OP_ADD);
      g_assert_cmpuint (node->n_operands, <=, 24);
    }
}

/* So is the broadcast of a computed scalar; the scalar itself is an operand. */
static void
test_fuse_scalars (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_fuse, NULL,
                                          PROGRAM ("%1: f32[4,4], %2: f32[]", "%5, %6",
                                                   "%3 = sine(%2): f32[] "
                                                   "%4 = broadcast_in_dim(%3) {shape = [4,4], broadcast_dimensions = ints[]}: f32[4,4] "
                                                   "%5 = multiply(%1, %4): f32[4,4] "
                                                   "%6 = add(%1, %4): f32[4,4]"));

  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_FUSION), ==, 2);
  for (guint i = 0; i < 2; i++)
    {
      const GantryNode *result = pass_result (c->after, i);

      g_assert_cmpuint (result->n_operands, ==, 2);
      g_assert_cmpint (gantry_node_operand (c->after, result, 1)->op, ==, GANTRY_OP_SINE);
    }
}

#define SAVED(phase) \
  PROGRAM ("%1: f32[4,4], %2: f32[4,4]", "%5, %8", \
           "%3 = dot_general(%1, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[4,4] " \
           "%4 = sine(%3): f32[4,4] %5 = tanh(%4): f32[4,4] " \
           "%6 = multiply(%2, %4): f32[4,4] " phase " %7 = add(%6, %5): f32[4,4] " phase " %8 = multiply(%7, %3): f32[4,4] " phase)

/* What the backward phase can compute from what it reads anyway is not saved for it; one phase alone stays as it is. */
static void
test_fuse_copies (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_fuse, NULL, SAVED ("phase(backward)"));
  g_autoptr (PassCase) forward = pass_case_new (&gantry_pass_fuse, NULL, SAVED (""));

  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_FUSION), ==, 2);
  g_assert_cmpuint (pass_result (c->after, 0)->n_operands, ==, 1);
  g_assert_cmpuint (pass_result (c->after, 1)->n_operands, ==, 2);
  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_SINE), ==, 2);
  g_assert_cmpuint (pass_result (forward->after, 1)->n_operands, ==, 4);
  g_assert_cmpuint (pass_count (forward->after, GANTRY_OP_SINE), ==, 1);
}

/* x / 2 and tanh (x + b) both go back to x, which is kept instead of the two; b is hardly anything. */
static void
test_fuse_copies_from_base (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_fuse, NULL,
                                          PROGRAM ("%1: f32[16,16], %2: f32[16,16], %20: f32[16]", "%7, %10",
                                                   "%3 = dot_general(%1, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[16,16] "
                                                   "%21 = broadcast_in_dim(%20) {shape = [16,16], broadcast_dimensions = [1]}: f32[16,16] "
                                                   "%4 = add(%3, %21): f32[16,16] %5 = tanh(%4): f32[16,16] %6 = sine(%4): f32[16,16] "
                                                   "%7 = multiply(%5, %6): f32[16,16] "
                                                   "%8 = multiply(%2, %5): f32[16,16] phase(backward) %9 = add(%2, %6): f32[16,16] phase(backward) "
                                                   "%10 = multiply(%8, %9): f32[16,16] phase(backward)"));

  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_FUSION), ==, 2);
  for (guint i = 0; i < 2; i++)
    for (guint j = 0; j < pass_result (c->after, i)->n_operands; j++)
      g_assert_cmpint (gantry_node_operand (c->after, pass_result (c->after, i), j)->op, !=, GANTRY_OP_FUSION);
  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_TANH), ==, 2);
}

/* So where two groups of the backward phase read one of the two each. */
static void
test_fuse_copies_from_shared_base (void)
{
  g_autoptr (PassCase)
    c = pass_case_new (&gantry_pass_fuse, NULL,
                       PROGRAM ("%1: f32[16,16], %2: f32[16,16]", "%7, %11, %9",
                                "%3 = dot_general(%1, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[16,16] "
                                "%4 = negate(%3): f32[16,16] %5 = tanh(%4): f32[16,16] %6 = sine(%4): f32[16,16] "
                                "%7 = multiply(%5, %6): f32[16,16] "
                                "%8 = multiply(%2, %5): f32[16,16] phase(backward) %9 = reduce(%8) {kind = \"add\", dimensions = [1]}: f32[16] "
                                "phase(backward) %10 = add(%2, %6): f32[16,16] phase(backward) %11 = tanh(%10): f32[16,16] phase(backward)"));

  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_FUSION), ==, 3);
  for (guint i = 0; i < 3; i++)
    for (guint j = 0; j < pass_result (c->after, i)->n_operands; j++)
      g_assert_cmpint (gantry_node_operand (c->after, pass_result (c->after, i), j)->op, !=, GANTRY_OP_FUSION);
}

/* Normalized elements that backward groups alone read are computed there again from what lies between the phases for as long:
 * %3, which a later group reads, and numbers of rows. %7 stays where one of its readers is no group, or where %3 is not read as
 * late. */
static void
test_fuse_residuals (void)
{
#define NORMALIZED \
  "%20 = dot_general(%1, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[16,16] " \
  "%21 = dot_general(%2, %1) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[16,16] " \
  "%3 = add(%20, %21): f32[16,16] %4 = reduce(%3) {kind = \"add\", dimensions = [1]}: f32[16] " \
  "%5 = broadcast_in_dim(%4) {shape = [16,16], broadcast_dimensions = [0]}: f32[16,16] %7 = subtract(%3, %5): f32[16,16] " \
  "%8 = dot_general(%7, %2) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[16,16] "
#define FIRST \
  "%9 = multiply(%7, %2): f32[16,16] phase(backward) " \
  "%10 = reduce(%9) {kind = \"add\", dimensions = [1]}: f32[16] phase(backward) "
#define LAST \
  "%11 = multiply(%3, %2): f32[16,16] phase(backward) " \
  "%12 = reduce(%11) {kind = \"add\", dimensions = [0]}: f32[16] phase(backward) "
  static const struct
  {
    const char *text;
    gboolean read;
  } cases[] = {
    { PROGRAM ("%1: f32[16,16], %2: f32[16,16]", "%10, %12, %8", NORMALIZED FIRST LAST), FALSE },
    { PROGRAM ("%1: f32[16,16], %2: f32[16,16]", "%10, %12, %8", NORMALIZED LAST FIRST), TRUE },
    { PROGRAM ("%1: f32[16,16], %2: f32[16,16]", "%10, %12, %8, %13",
               NORMALIZED FIRST LAST "%13 = dot_general(%7, %7) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[16,16] "
                                     "phase(backward)"),
      TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (PassCase) c = pass_case_new (&gantry_pass_fuse, NULL, cases[i].text);
      const GantryNode *first = pass_result (c->after, 0), *product = pass_result (c->after, 2);
      gboolean read = FALSE;

      for (guint j = 0; j < first->n_operands; j++)
        read = read || gantry_node_operand (c->after, first, j) == gantry_node_operand (c->after, product, 0);
      if (read != cases[i].read)
        g_error ("case %u: read is %d", i, read);
    }
}

/* A broadcast that two groups read is kept in neither form: both read its operand. */
static void
test_fuse_broadcasts (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_fuse, NULL,
                                          PROGRAM ("%1: f32[16,16], %2: f32[16]", "%4, %6",
                                                   "%3 = broadcast_in_dim(%2) {shape = [16,16], broadcast_dimensions = [0]}: f32[16,16] "
                                                   "%4 = multiply(%1, %3): f32[16,16] %5 = sine(%4): f32[16,16] %6 = add(%5, %3): f32[16,16]"));

  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_FUSION), ==, 2);
  g_assert_cmpuint (pass_result (c->after, 1)->n_operands, ==, 2);
  for (guint j = 0; j < 2; j++)
    g_assert_cmpint (gantry_node_operand (c->after, pass_result (c->after, 1), j)->op, !=, GANTRY_OP_BROADCAST_IN_DIM);
}

/* Through a broadcast each element would be computed many times. */
static void
test_fuse_no_copies (void)
{
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_fuse, NULL,
                                          PROGRAM ("%1: f32[4], %2: f32[4,4]", "%4, %7",
                                                   "%3 = sine(%1): f32[4] %4 = tanh(%3): f32[4] "
                                                   "%5 = broadcast_in_dim(%3) {shape = [4,4], broadcast_dimensions = [0]}: f32[4,4] phase(backward) "
                                                   "%6 = broadcast_in_dim(%1) {shape = [4,4], broadcast_dimensions = [0]}: f32[4,4] phase(backward) "
                                                   "%8 = multiply(%5, %6): f32[4,4] phase(backward) %7 = add(%8, %2): f32[4,4] phase(backward)"));

  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_SINE), ==, 1);
  g_assert_cmpuint (pass_result (c->after, 1)->n_operands, ==, 3);
}

/* Epilogue */

#define CONVOLUTION \
  "%2 = constant() {value = splat<f32[3,2,1,1]: 0.25>}: f32[3,2,1,1] " \
  "%3 = convolution(%1, %2) {}: f32[1,3,4,4] "
#define CHANNELS(id, source, numbers) \
  "%" source " = constant() {value = dense<f32[3]: " numbers ">}: f32[3] " \
  "%" id " = broadcast_in_dim(%" source ") {shape = [1,3,4,4], broadcast_dimensions = [1]}: f32[1,3,4,4] "
#define ZERO(id, source) \
  "%" source " = constant() {value = splat<f32[]: 0.0>}: f32[] " \
  "%" id " = broadcast_in_dim(%" source ") {shape = [1,3,4,4], broadcast_dimensions = ints[]}: f32[1,3,4,4] "

/* Factor, addend and rectification: all of them end up in the convolution. */
static void
test_epilogue_acts (void)
{
  g_autoptr (PassCase)
    c = pass_case_new (&gantry_pass_epilogue, NULL,
                       PROGRAM ("%1: f32[1,2,4,4]", "%12",
                                CONVOLUTION CHANNELS ("5", "4", "2.0, 3.0, 4.0") "%6 = multiply(%3, %5): f32[1,3,4,4] " CHANNELS (
                                  "8", "7", "0.5, -0.5, 1.0") "%9 = add(%8, %6): f32[1,3,4,4] " ZERO ("11", "10") "%12 = maximum(%9, %11): f32[1,3,4,4]"));
  const GantryNode *result = pass_result (c->after, 0);

  g_assert_cmpint (result->op, ==, GANTRY_OP_CONVOLUTION);
  g_assert_cmpuint (result->n_operands, ==, 3);
  g_assert_nonnull (gantry_attrs_find (c->context, result->attrs, "post"));
  g_assert_cmpuint (gantry_module_successor (c->after, 9), ==, result->id);
  /* The convolution is the only one, and knows what it was made of. */
  g_assert_cmpuint (gantry_module_successor (c->after, 3), ==, result->id);
  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_CONVOLUTION), ==, 1);
  g_assert_cmpuint (result->n_origins, ==, 4);
}

/* Two convolutions meet in a sum: neither is taken into the other, both are there, in their order and once. */
static void
test_epilogue_sum (void)
{
  g_autoptr (PassCase) c = pass_case_new (
    &gantry_pass_epilogue, NULL,
    PROGRAM ("%1: f32[1,2,4,4]", "%14",
             CONVOLUTION CHANNELS ("5", "4", "2.0, 3.0, 4.0") "%6 = multiply(%3, %5): f32[1,3,4,4] "
                                                              "%7 = convolution(%1, %2) {}: f32[1,3,4,4] %12 = add(%6, %7): f32[1,3,4,4] " ZERO (
                                                                "11", "10") "%14 = maximum(%12, %11): f32[1,3,4,4]"));

  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_CONVOLUTION), ==, 2);
  g_assert_cmpuint (pass_count (c->after, GANTRY_OP_MULTIPLY), ==, 1); /* of the weights */
  g_assert_cmpint (pass_result (c->after, 0)->op, ==, GANTRY_OP_MAXIMUM);
}

static const PassText not_absorbed[] = {
  /* The value before has a second user. */
  { "two-users", PROGRAM ("%1: f32[1,2,4,4]", "%6, %3", CONVOLUTION CHANNELS ("5", "4", "2.0, 3.0, 4.0") "%6 = multiply(%3, %5): f32[1,3,4,4]") },
  { "same-value-twice", PROGRAM ("%1: f32[1,2,4,4]", "%4", CONVOLUTION "%4 = multiply(%3, %3): f32[1,3,4,4]") },
  /* Not channel by channel. */
  { "columns", PROGRAM ("%1: f32[1,2,4,4]", "%6",
                        CONVOLUTION "%4 = constant() {value = dense<f32[4]: 1.0, 2.0, 3.0, 4.0>}: "
                                    "f32[4] %5 = broadcast_in_dim(%4) {shape = [1,3,4,4], broadcast_dimensions = [3]}: f32[1,3,4,4] "
                                    "%6 = multiply(%3, %5): f32[1,3,4,4]") },
  { "not-constant", PROGRAM ("%1: f32[1,2,4,4], %4: f32[3]", "%6",
                             CONVOLUTION "%5 = broadcast_in_dim(%4) {shape = [1,3,4,4], broadcast_dimensions = [1]}: f32[1,3,4,4] "
                                         "%6 = multiply(%3, %5): f32[1,3,4,4]") },
  /* max (x, 1) is no rectification. */
  { "other-floor", PROGRAM ("%1: f32[1,2,4,4]", "%6",
                            CONVOLUTION "%4 = constant() {value = splat<f32[]: 1.0>}: f32[] "
                                        "%5 = broadcast_in_dim(%4) {shape = [1,3,4,4], broadcast_dimensions = ints[]}: f32[1,3,4,4] "
                                        "%6 = maximum(%3, %5): f32[1,3,4,4]") },
};

/* What follows a rectification stays outside: it is the convolution's last step. */
static void
test_epilogue_ends (void)
{
  g_autoptr (PassCase) c = pass_case_new (
    &gantry_pass_epilogue, NULL,
    PROGRAM ("%1: f32[1,2,4,4]", "%9",
             CONVOLUTION ZERO ("5", "4") "%6 = maximum(%3, %5): f32[1,3,4,4] " CHANNELS ("8", "7", "2.0, -3.0, 4.0") "%9 = multiply(%6, %8): f32[1,3,4,4]"));

  g_assert_cmpint (pass_result (c->after, 0)->op, ==, GANTRY_OP_MULTIPLY);
}

/* Legalize */

/* A program of core operations is handed on; a foreign operation without a meaning is refused by name and place; one
 * whose value nobody reads needs none. */
static void
test_legalize (void)
{
  const GantryPassOptions options = GANTRY_PASS_OPTIONS_INIT;
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (PassCase) core = pass_case_new (&gantry_pass_legalize, NULL, PROGRAM ("%1: f32[2]", "%2", "%2 = negate(%1): f32[2]"));
  g_autoptr (GantryModule)
    unknown = gantry_module_from_text (context, PROGRAM ("%1: f32[2]", "%2", "%2 = \"x.Frobnicate\"(%1): f32[2] loc(\"m.onnx\":7)"), -1, "t.gir", &error);
  g_autoptr (GantryModule)
    unread = gantry_module_from_text (context, PROGRAM ("%21: f32[2]", "%21", "%22 = \"x.Frobnicate\"(%21): f32[2]"), -1, "t.gir", &error);
  g_autoptr (GantryModule) after = NULL;

  pass_assert_unchanged (core);
  g_assert_no_error (error);
  g_assert_null (gantry_pass_legalize.run (unknown, &options, NULL, &error));
  g_assert_error (error, GANTRY_ERROR, GANTRY_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "x.Frobnicate"));
  g_assert_nonnull (strstr (error->message, "m.onnx"));
  g_clear_error (&error);
  after = gantry_pass_legalize.run (unread, &options, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (after->n_nodes, ==, 1);
}

static gboolean
lower_toy (GantryBuilder *builder, const GantryModule *source, const GantryNode *node, const guint32 *operands, guint32 *results, guint n_results,
           GError **error)
{
  results[0] = gantry_builder_unary (builder, GANTRY_OP_NEGATE, operands[0]);
  return TRUE;
}

static const GantryDialect toy = { .name = "toy", .lower = lower_toy };

/* Bodies that core nodes name come along, with the foreign operations in them lowered; others do not. */
static void
test_legalize_bodies (void)
{
  const GantryPassOptions options = GANTRY_PASS_OPTIONS_INIT;
  g_autoptr (GantryContext) context = gantry_context_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GantryModule)
    module = gantry_module_from_text (context,
                                      "module \"m\" { func @main #1 (%1: f32[2]) -> (%3) { %2 = \"toy.Neg\"(%1): f32[2]"
                                      " %3 = scan(%2) {body = #2, length = 2, n_carries = 1, n_xs = 0, axes = ints[], y_axes = ints[]}: f32[2] }"
                                      " func @outer #2 (%11: f32[2]) -> (%13) { %12 = \"toy.Neg\"(%11): f32[2] %13 = call(%12) {body = #3}: f32[2] }"
                                      " func @inner #3 (%21: f32[2]) -> (%22) { %22 = \"toy.Neg\"(%21): f32[2] }"
                                      " func @other #4 (%31: f32[2]) -> (%31) { } }",
                                      -1, "t.gir", &error);
  g_autoptr (GantryModule) after = NULL;

  g_assert_no_error (error);
  gantry_context_add_dialect (context, &toy);
  after = gantry_pass_legalize.run (module, &options, NULL, &error);
  g_assert_no_error (error);
  gantry_verify (after, module, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (after->n_functions, ==, 3);
  g_assert_cmpuint (pass_count (after, GANTRY_OP_NEGATE), ==, 3);
  g_assert_cmpuint (pass_count (after, GANTRY_OP_SCAN) + pass_count (after, GANTRY_OP_CALL), ==, 2);
}

/* Products: what follows one is its epilogue, and movements before it are part of its loads. */

static const GantryPassOptions product_options = { .fuse_rows = TRUE, .fuse_products = TRUE, .fold_bytes = 1 << 20 };

#define DOT(n, a, b) "%" #n " = dot_general(%" #a ", %" #b ") {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]}: f32[64,64] "
#define BIAS(n, of) "%" #n " = broadcast_in_dim(%" #of ") {shape = [64,64], broadcast_dimensions = [1]}: f32[64,64] "

static void
test_fuse_products (void)
{
  const char *text = PROGRAM ("%1: f32[64,64], %2: f32[64,64], %3: f32[64]", "%8",
                              "%4 = transpose(%2) {permutation = [1,0]}: f32[64,64] " DOT (5, 1, 4)
                                BIAS (6, 3) "%7 = add(%5, %6): f32[64,64] %8 = tanh(%7): f32[64,64]");
  g_autoptr (PassCase) c = pass_case_new (&gantry_pass_fuse, &product_options, text);
  g_autoptr (PassCase) without = pass_case_new (&gantry_pass_fuse, &rows_options, text);

  g_assert_cmpuint (gantry_module_entry (c->after)->n_nodes, ==, 4);
  g_assert_cmpuint (pass_result (c->after, 0)->n_origins, ==, 5);
  g_assert_cmpuint (pass_result (c->after, 0)->n_operands, ==, 3);
  /* For a processor the product stays the library's. */
  g_assert_cmpuint (pass_result (without->after, 0)->n_origins, ==, 3);
}

/* Programs of whose entry @n nodes are left, of which one is a product by itself (%5). */
static void
test_fuse_lone_products (void)
{
  static const struct
  {
    const char *text;
    guint n;
  } cases[] = {
    /* Elementwise work before a product would be done again for each reading. */
    { PROGRAM ("%1: f32[64,64], %2: f32[64,64]", "%5", "%3 = tanh(%1): f32[64,64] %4 = negate(%3): f32[64,64] " DOT (5, 4, 2)), 4 },
    /* Read by two groups. */
    { PROGRAM ("%1: f32[64,64], %2: f32[64,64]", "%7, %8",
               DOT (5, 1, 2) "%3 = tanh(%5): f32[64,64] %7 = negate(%3): f32[64,64] %4 = exponential(%5): f32[64,64] "
                             "%8 = negate(%4): f32[64,64]"),
      5 },
    /* A result itself. */
    { PROGRAM ("%1: f32[64,64], %2: f32[64,64]", "%5, %7", DOT (5, 1, 2) "%3 = tanh(%5): f32[64,64] %7 = negate(%3): f32[64,64]"), 4 },
    /* Repeated by a broadcast. */
    { PROGRAM ("%1: f32[64,64], %2: f32[64,64], %3: f32[8,64,64]", "%7",
               DOT (5, 1, 2) "%6 = broadcast_in_dim(%5) {shape = [8,64,64], broadcast_dimensions = [1,2]}: f32[8,64,64] "
                             "%7 = add(%6, %3): f32[8,64,64]"),
      5 },
    /* Summed. */
    { PROGRAM ("%1: f32[64,64], %2: f32[64,64]", "%7", DOT (5, 1, 2) "%6 = tanh(%5): f32[64,64] %7 = reduce(%6) {kind = \"add\", dimensions = [1]}: f32[64]"),
      4 },
    /* Stored the other way round. */
    { PROGRAM ("%1: f32[64,64], %2: f32[64,64]", "%7", DOT (5, 1, 2) "%6 = transpose(%5) {permutation = [1,0]}: f32[64,64] %7 = tanh(%6): f32[64,64]"), 4 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (PassCase) c = pass_case_new (&gantry_pass_fuse, &product_options, cases[i].text);
      const GantryNode *product = gantry_module_node (c->after, 5);

      g_assert_true (gantry_module_function_of (c->after, product) == gantry_module_entry (c->after));
      g_assert_cmpuint (gantry_module_entry (c->after)->n_nodes, ==, cases[i].n);
    }
}

/* One product of a sum of two is in the group, and a softmax after one stands by itself. */
static void
test_fuse_one_product (void)
{
  g_autoptr (PassCase) two = pass_case_new (&gantry_pass_fuse, &product_options,
                                            PROGRAM ("%1: f32[64,64], %2: f32[64,64]", "%5", DOT (3, 1, 2) DOT (4, 2, 1) "%5 = add(%3, %4): f32[64,64]"));
  g_autoptr (PassCase)
    rows = pass_case_new (&gantry_pass_fuse, &product_options, PROGRAM ("%9: f32[64,64], %10: f32[64,64]", "%8", DOT (1, 9, 10) SOFTMAX ("64,64", "64")));

  g_assert_cmpuint (pass_count (two->after, GANTRY_OP_DOT_GENERAL), ==, 2);
  g_assert_cmpuint (pass_result (two->after, 0)->n_origins, ==, 2);
  g_assert_true (gantry_module_function_of (rows->after, gantry_module_node (rows->after, 1)) == gantry_module_entry (rows->after));
  g_assert_cmpuint (pass_result (rows->after, 0)->n_origins, ==, 7);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/passes/fuse/acts", test_fuse_acts);
  g_test_add_func ("/passes/fuse/shared-value-survives", test_fuse_keeps_shared);
  g_test_add_func ("/passes/fuse/rows", test_fuse_rows);
  g_test_add_func ("/passes/fuse/products", test_fuse_products);
  g_test_add_func ("/passes/fuse/lone-products", test_fuse_lone_products);
  g_test_add_func ("/passes/fuse/one-product", test_fuse_one_product);
  g_test_add_func ("/passes/fuse/no-rows", test_fuse_no_rows);
  g_test_add_func ("/passes/fuse/constants", test_fuse_constants);
  g_test_add_func ("/passes/fuse/splats", test_fuse_splats);
  g_test_add_func ("/passes/fuse/many-inputs", test_fuse_many_inputs);
  g_test_add_func ("/passes/fuse/broadcasts", test_fuse_broadcasts);
  g_test_add_func ("/passes/fuse/copies-from-base", test_fuse_copies_from_base);
  g_test_add_func ("/passes/fuse/copies-from-shared-base", test_fuse_copies_from_shared_base);
  g_test_add_func ("/passes/fuse/residuals", test_fuse_residuals);
  g_test_add_func ("/passes/fuse/scalars", test_fuse_scalars);
  g_test_add_func ("/passes/fuse/copies", test_fuse_copies);
  g_test_add_func ("/passes/fuse/no-copies", test_fuse_no_copies);
  pass_add_unchanged ("/passes/fuse/leaves", &gantry_pass_fuse, not_fused, G_N_ELEMENTS (not_fused));
  g_test_add_func ("/passes/epilogue/acts", test_epilogue_acts);
  g_test_add_func ("/passes/epilogue/sum", test_epilogue_sum);
  g_test_add_func ("/passes/epilogue/ends-with-rectification", test_epilogue_ends);
  pass_add_unchanged ("/passes/epilogue/leaves", &gantry_pass_epilogue, not_absorbed, G_N_ELEMENTS (not_absorbed));
  g_test_add_func ("/passes/legalize", test_legalize);
  g_test_add_func ("/passes/legalize/bodies", test_legalize_bodies);
  return g_test_run ();
}
